//! What the user wants to happen before a compaction, by the variables of lessons-learned.

use crate::Saved;
use base::Env;
use hook::{Answer, PreCompact};

/// Any true value asks a model for the handoff and stops manual compactions; [`ALL`] stops automatic ones as well.
const STOP: &str = "LESSONS_PRECOMPACT_HANDOFF";
const ALL: &str = "all";
/// Asks a model for the handoff, gives it to the summariser, and stops nothing.
const ONLY: &str = "LESSONS_HANDOFF_ONLY";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A handoff by rules; the compaction goes on.
    Save,
    /// One with a model's help; the compaction goes on.
    Ask,
    /// The same, and the summariser gets it, as lessons-learned printed it.
    Print,
    /// The same as [`Self::Ask`], and the compaction is stopped.
    Stop,
}

impl Wish {
    pub(crate) fn of(env: &Env, is_manual: bool) -> Self {
        let all = env.text(STOP).is_some_and(|value| value.eq_ignore_ascii_case(ALL));
        match () {
            () if env.is_on(ONLY) => Self::Print,
            () if env.is_on(STOP) && (is_manual || all) => Self::Stop,
            () if env.is_on(STOP) => Self::Ask,
            () => Self::Save,
        }
    }

    pub(crate) fn asks_model(self) -> bool {
        self != Self::Save
    }

    pub(crate) fn stops(self) -> bool {
        self == Self::Stop
    }

    pub(crate) fn answer(self, saved: Saved) -> Answer<PreCompact> {
        let Saved { name, folder, text } = saved;
        match self {
            Self::Save | Self::Ask => Answer::silent(),
            Self::Print => Answer::instructions(text).rest_at(folder),
            Self::Stop => Answer::stop_compaction(
                text,
                format!(
                    "Wyren saved a handoff and stopped the compaction.\nThe handoff: {folder}\nTo go on in a new session, type \
                     /clear and paste: /wyren:handoff-resume {name}\nTo compact all the same, start claude without {STOP}."
                ),
            ),
        }
    }
}

/// Returns the answer to an automatic compaction that was stopped before, of which the client shows nothing.
pub(crate) fn stop_again() -> Answer<PreCompact> {
    let what = "type /clear, and then /wyren:handoff-resume";
    Answer::stop_compaction("", format!("Wyren stopped the compaction ({STOP}={ALL}). To go on, {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_lessons_learned_decide() {
        let of = |variables: &[(&str, &str)], is_manual| Wish::of(&Env::fixed(variables.to_vec()), is_manual);
        assert_eq!(of(&[], true), Wish::Save);
        assert_eq!(of(&[(STOP, "0")], true), Wish::Save);
        assert_eq!(of(&[(STOP, "1")], true), Wish::Stop);
        assert_eq!(of(&[(STOP, "1")], false), Wish::Ask);
        assert_eq!(of(&[(STOP, "all")], false), Wish::Stop);
        assert_eq!(of(&[(ONLY, "1")], true), Wish::Print);
        assert_eq!(of(&[(STOP, "all"), (ONLY, "1")], false), Wish::Print);
    }
}
