//! Handoffs as observations have them.

use crate::draft::text_of;
use crate::{Name, folder};
use base::{Paths, Timestamp};
use std::path::PathBuf;
use store::{Error, Store};
use work::contexts::read::{self, Handed};
use work::contexts::{Context, Handoff, Mode, Origin, id, is_stale};

/// A handoff that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The id of its context.
    pub context: String,
    pub at: Timestamp,
    /// The session that it was saved in; `None` outside of any.
    pub session: Option<String>,
    pub handoff: Handoff,
}

impl Kept {
    fn of(handed: Handed) -> Self {
        let Handed { context, at, session, handoff } = handed;
        Self { context, at: Timestamp::from_millis(u64::try_from(at).unwrap_or_default()), session, handoff }
    }

    /// Returns what a person types to name it: unique among all handoffs.
    pub fn name(&self) -> String {
        format!("{}/{}", self.context, self.handoff.id)
    }

    /// Returns the text of a section; empty where there is none.
    pub fn text(&self, name: Name) -> &str {
        text_of(&self.handoff.sections, name)
    }

    /// Returns the folder that people read.
    pub fn folder(&self, paths: &Paths) -> PathBuf {
        folder::folder_of(paths, &self.context, &self.handoff.id)
    }
}

/// What became of a handoff that waits for a session, and of one whose own session may still run.
pub const WAITS: &str = "waits";
const SAVED: &str = "saved";

/// Returns what became of a handoff, in words.
pub fn state(kept: &Kept, contexts: &[Context]) -> &'static str {
    let context = contexts.iter().find(|context| context.id == kept.context);
    let artifact = context.and_then(|context| context.artifact.as_ref());
    let artifact = artifact.filter(|artifact| artifact.digest == kept.handoff.digest);
    match (artifact, kept.handoff.origin) {
        (Some(artifact), _) if artifact.is_consumed => "taken up",
        (Some(_), _) if context.is_some_and(|context| context.mode == Mode::HasHandoff) => WAITS,
        (Some(_), _) => SAVED,
        (None, Origin::Compaction | Origin::Stopped) => "of a compaction",
        (None, Origin::Import) => "imported",
        (None, Origin::Asked) => "earlier",
    }
}

/// Returns the handoff to go on from, of these, the latest first: the one that waits, else the latest. Before one that was saved by
/// itself comes the last that a person left, until a session has gone on from it. What is old beside the latest does not count.
pub fn next<'k>(kept: &[&'k Kept], contexts: &[Context]) -> Option<&'k Kept> {
    let latest = *kept.first()?;
    let millis = |kept: &Kept| i64::try_from(kept.at.millis()).unwrap_or(i64::MAX);
    let recent = || kept.iter().copied().filter(move |kept| !is_stale(millis(kept), millis(latest)));
    let asked = || {
        let asked = || recent().filter(|kept| !kept.handoff.origin.is_automatic());
        let last = [asked().find(|kept| kept.context == latest.context), asked().next()];
        let mut last = last.into_iter().flatten().filter(|_| latest.handoff.origin.is_automatic());
        last.find(|kept| state(kept, contexts) == SAVED)
    };
    recent().find(|kept| state(kept, contexts) == WAITS).or_else(asked).or(Some(latest))
}

/// Returns the handoffs of a context, the latest first.
pub fn of_context(store: &Store, context: &str) -> Result<Vec<Kept>, Error> {
    of_contexts(store, &[context])
}

/// Returns the handoffs of these contexts, the latest first.
pub fn of_contexts(store: &Store, contexts: &[&str]) -> Result<Vec<Kept>, Error> {
    let handed = read::handoffs(store.connection(), contexts)?;
    // Without an id there is no folder: an earlier program noted only that there was one.
    Ok(handed.into_iter().map(Kept::of).filter(|kept| id::check(&kept.handoff.id).is_ok()).collect())
}

/// Returns every handoff, the latest first.
pub fn all(store: &Store) -> Result<Vec<Kept>, Error> {
    let contexts = read::ids(store)?;
    of_contexts(store, &contexts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Why no handoff is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfound {
    /// What was typed names none, and why.
    Unfit(String),
    None,
    /// The names of those that fit.
    Several(Vec<String>),
}

/// Returns the handoff that was typed: its id or the beginning of it, or that after a part of its context's id and a `/`.
pub fn find<'k>(typed: &str, kept: &'k [Kept]) -> Result<&'k Kept, Unfound> {
    let (context, name) = typed.rsplit_once('/').unwrap_or(("", typed));
    for part in [context, name].into_iter().filter(|part| !part.is_empty() || typed.is_empty()) {
        id::check(part).map_err(|unfit| Unfound::Unfit(unfit.to_string()))?;
    }
    let fits = |kept: &&Kept| kept.context.contains(context);
    let ways: [&dyn Fn(&str) -> bool; 2] = [&|id| id == name, &|id| id.starts_with(name)];
    for way in ways {
        let found: Vec<&Kept> = kept.iter().filter(fits).filter(|kept| way(&kept.handoff.id)).collect();
        let exact = found.iter().find(|kept| kept.context == context);
        match (&*found, exact) {
            ([], _) => {}
            ([only], _) => return Ok(only),
            (_, Some(exact)) if !name.is_empty() && exact.handoff.id == name => return Ok(exact),
            _ => return Err(Unfound::Several(found.into_iter().map(Kept::name).collect())),
        }
    }
    Err(Unfound::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use work::contexts::{Artifact, ArtifactKind};

    fn kept(context: &str, id: &str) -> Kept {
        let handoff = Handoff { id: id.to_owned(), ..Handoff::default() };
        Kept { context: context.to_owned(), at: Timestamp::from_millis(0), session: None, handoff }
    }

    #[test]
    fn what_a_person_left_comes_first_until_it_is_taken_up_or_old() {
        let day = 24 * 60 * 60 * 1000;
        let of = |context: &str, at: u64, origin: Origin| {
            let handoff = Handoff {
                id: format!("{at}"),
                digest: format!("{context}{at}"),
                origin,
                ..Handoff::default()
            };
            Kept { at: Timestamp::from_millis(at), handoff, ..kept(context, "") }
        };
        let holds = |context: &str, at: u64, mode: Mode, is_consumed: bool| {
            let digest = format!("{context}{at}");
            let artifact = Artifact {
                kind: ArtifactKind::Handoff,
                at: at as i64,
                digest,
                marks: None,
                path: None,
                is_consumed,
            };
            Context { id: context.to_owned(), mode, artifact: Some(artifact), ..Context::default() }
        };
        let found = |kept: &[Kept], contexts: &[Context]| {
            next(&kept.iter().collect::<Vec<_>>(), contexts).map(|kept| kept.handoff.id.clone())
        };
        let (asked, automatic) = (of("c", day, Origin::Asked), |at| of("c", at, Origin::Compaction));
        let is = |id: u64| Some(id.to_string());
        assert_eq!(found(&[], &[]), None);
        for (mode, is_consumed, later, expected) in [
            // Its session goes on, or has ended.
            (Mode::Active, false, 2 * day, day),
            (Mode::HasHandoff, false, 2 * day, day),
            (Mode::HasHandoff, false, 8 * day, day),
            (Mode::Active, true, 2 * day, 2 * day),
            (Mode::HasHandoff, false, 9 * day, 9 * day),
        ] {
            let kept = [automatic(later), automatic(day + 1), asked.clone()];
            let contexts = [holds("c", day, mode, is_consumed)];
            assert_eq!(found(&kept, &contexts), is(expected), "{mode:?} {is_consumed} {later}");
        }
        // The one that waits comes before one whose session may still run.
        let kept = [of("d", 3 * day, Origin::Asked), automatic(2 * day), asked];
        let contexts = [holds("d", 3 * day, Mode::Active, false), holds("c", day, Mode::HasHandoff, false)];
        assert_eq!(found(&kept, &contexts), is(day));
        assert_eq!(found(&kept, &contexts[..1]), is(3 * day));
        // One that was taken up is still the latest, and one that was left before it in another context is not.
        let kept = [of("d", 3 * day, Origin::Asked), of("c", day, Origin::Asked)];
        let contexts = [holds("d", 3 * day, Mode::Active, true), holds("c", day, Mode::Active, false)];
        assert_eq!(found(&kept, &contexts), is(3 * day));
        // That of the same context comes before any other.
        let kept = [automatic(4 * day), of("d", 3 * day, Origin::Asked), of("c", day, Origin::Asked)];
        assert_eq!(found(&kept, &contexts), is(day));
    }

    #[test]
    fn a_handoff_is_found_by_its_id_or_with_its_context_and_paths_are_refused() {
        let all = [
            kept("261118-0905-fix-cart", "2026-11-18-1010"),
            kept("261118-0905-fix-cart", "2026-11-18-1010-2"),
            kept("261118-0906-parser", "2026-11-18-1010"),
            kept("261118-0906-parser", "2026-11-19-1111"),
        ];
        let found = |typed: &str| find(typed, &all).map(Kept::name);
        assert_eq!(found("2026-11-19-1111").unwrap(), "261118-0906-parser/2026-11-19-1111");
        assert_eq!(found("2026-11-19").unwrap(), "261118-0906-parser/2026-11-19-1111");
        assert_eq!(found("cart/2026-11-18-1010").unwrap(), "261118-0905-fix-cart/2026-11-18-1010");
        assert_eq!(
            found("261118-0906-parser/2026-11-18-1010").unwrap(),
            "261118-0906-parser/2026-11-18-1010"
        );
        assert!(matches!(found("2026-11-18-1010"), Err(Unfound::Several(names)) if names.len() == 2));
        assert_eq!(found("2025"), Err(Unfound::None));
        for odd in ["../etc", "a/../b", "%2e%2e/x", "x\\y", ""] {
            assert!(matches!(found(odd), Err(Unfound::Unfit(_))), "{odd}");
        }
    }
}
