//! Prompts that begin with `^`, against the contexts that there are: what they change, and what is answered.

use crate::contexts::Context;
use crate::find::{self, Unfound};
use crate::words::{self, Viewer};
use hook::caret::{Caret, LEAST_CHARS, Step, Which};
use std::collections::BTreeSet;

/// What a prompt asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish<'c, 'p> {
    /// Only an answer in the place of the prompt.
    Answer(String),
    /// A new context of this text.
    Begin(&'p str),
    Change {
        /// These end.
        ended: Vec<&'c Context>,
        /// The session works on this one from now on.
        selected: Option<&'c Context>,
        /// What follows the commands.
        rest: &'p str,
    },
}

/// Returns what a prompt asks for, given the open contexts of the project as they are listed.
pub fn wish<'c, 'p>(caret: &Caret<'p>, contexts: &'c [Context], viewer: &Viewer<'_>) -> Wish<'c, 'p> {
    let picker = || words::picker(contexts, viewer);
    let refused = |reason: &str| Wish::Answer(format!("{reason}\n\n{}", picker()));
    match caret {
        Caret::List => Wish::Answer(picker()),
        Caret::Unknown(typed) => {
            let typed = text::sanitize::one_line(typed, 40);
            let typed = if typed.is_empty() { " with a blank after it" } else { &typed };
            refused(&format!(
                "^{typed} is no command. To send a prompt that begins with ^, put a blank before it."
            ))
        }
        Caret::New(given) if given.chars().count() < LEAST_CHARS => {
            refused(&format!("^0 needs a text of at least {LEAST_CHARS} characters: what is to be done?"))
        }
        Caret::New(given) => Wish::Begin(given),
        Caret::Chain { steps, rest } => {
            chain(steps, rest, contexts).unwrap_or_else(|reason| refused(&reason))
        }
    }
}

fn chain<'c, 'p>(steps: &[Step<'p>], rest: &'p str, contexts: &'c [Context]) -> Result<Wish<'c, 'p>, String> {
    let mut ended = BTreeSet::new();
    let mut selected = None;
    for step in steps {
        match step {
            Step::Select(which) => {
                let place = places(*which, contexts)?.into_iter().next();
                // The first counts.
                selected = selected.or(place);
            }
            Step::End(which) => ended.extend(places(*which, contexts)?),
        }
    }
    if let Some(both) = selected.filter(|place| ended.contains(place)) {
        return Err(format!("{} cannot be ended and selected at once.", contexts[both].id));
    }
    let ended = ended.into_iter().map(|place| &contexts[place]).collect();
    Ok(Wish::Change { ended, selected: selected.map(|place| &contexts[place]), rest })
}

/// Returns where the contexts that are meant are in the list.
fn places(which: Which<'_>, contexts: &[Context]) -> Result<Vec<usize>, String> {
    let number = |number: usize| match contexts.len() {
        0 => Err("There are no open contexts.".to_owned()),
        most if number > most => Err(format!("There is no context {number}; the last is {most}.")),
        _ => Ok(number - 1),
    };
    match which {
        Which::Number(place) => number(place).map(|place| vec![place]),
        Which::From(first) => number(first).map(|first| (first..contexts.len()).collect()),
        Which::All => number(1).map(|first| (first..contexts.len()).collect()),
        Which::Query(query) => match find::find(query, contexts) {
            Ok(found) => Ok(contexts.iter().position(|context| context.id == found.id).into_iter().collect()),
            Err(unfound) => Err(unfound_words(query, &unfound, contexts)),
        },
    }
}

fn unfound_words(query: &str, unfound: &Unfound, contexts: &[Context]) -> String {
    let shown = text::sanitize::one_line(query, 60);
    match unfound {
        Unfound::Several(ids) => {
            let candidates = ids.iter().map(|id| {
                let place = contexts.iter().position(|context| context.id == *id).unwrap_or_default() + 1;
                format!("\n  {place}  {id}")
            });
            format!("{} contexts have {shown:?} in their ids:{}", ids.len(), candidates.collect::<String>())
        }
        Unfound::None => format!("No open context has {shown:?} in its id."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts() -> Vec<Context> {
        ["261118-0907-session-store", "261118-0906-fix-beta", "261118-0905-fix-parser"]
            .map(|id| Context { id: id.to_owned(), summary: format!("about {id}"), ..Context::default() })
            .to_vec()
    }

    fn viewer() -> Viewer<'static> {
        let context = Some("261118-0905-fix-parser");
        Viewer { project: "acme/app", context, now: base::Timestamp::from_millis(0) }
    }

    /// Returns what ends, what is selected and what follows, or the first line of the answer.
    fn check(prompt: &str) -> Result<(Vec<String>, Option<String>, String), String> {
        let contexts = contexts();
        match wish(&Caret::of(prompt).unwrap(), &contexts, &viewer()) {
            Wish::Answer(text) => Err(text.lines().next().unwrap_or_default().to_owned()),
            Wish::Begin(text) => Ok((Vec::new(), None, text.to_owned())),
            Wish::Change { ended, selected, rest } => Ok((
                ended.iter().map(|context| context.id[12..].to_owned()).collect(),
                selected.map(|context| context.id[12..].to_owned()),
                rest.to_owned(),
            )),
        }
    }

    fn change(
        ended: &[&str],
        selected: Option<&str>,
        rest: &str,
    ) -> Result<(Vec<String>, Option<String>, String), String> {
        Ok((ended.iter().map(ToString::to_string).collect(), selected.map(str::to_owned), rest.to_owned()))
    }

    #[test]
    fn contexts_are_selected_and_ended_by_number_range_and_query() {
        assert_eq!(check("^2 test it"), change(&[], Some("fix-beta"), "test it"));
        assert_eq!(check("^S:beta"), change(&[], Some("fix-beta"), ""), "line 3");
        assert_eq!(check("^E:session"), change(&["session-store"], None, ""), "line 3");
        assert_eq!(check("^E2+"), change(&["fix-beta", "fix-parser"], None, ""));
        assert_eq!(check("^E*"), change(&["session-store", "fix-beta", "fix-parser"], None, ""));
        assert_eq!(check("^E1S2"), change(&["session-store"], Some("fix-beta"), ""));
        assert_eq!(check("^S1S2"), change(&[], Some("session-store"), ""), "the first counts");
        assert_eq!(check("^0 write the manual"), change(&[], None, "write the manual"));
    }

    #[test]
    fn line_27_what_cannot_be_done_is_refused_with_the_list() {
        for (prompt, reason) in [
            ("^7", "There is no context 7; the last is 3."),
            ("^S:fix", "2 contexts have \"fix\" in their ids:"),
            ("^S:gamma", "No open context has \"gamma\" in its id."),
            ("^E2S2", "261118-0906-fix-beta cannot be ended and selected at once."),
            ("^E*S:beta", "261118-0906-fix-beta cannot be ended and selected at once."),
            (
                "^nonsense",
                "^nonsense is no command. To send a prompt that begins with ^, put a blank before it.",
            ),
            (
                "^ 2",
                "^ with a blank after it is no command. To send a prompt that begins with ^, put a blank before it.",
            ),
            ("^0 short", "^0 needs a text of at least 10 characters: what is to be done?"),
        ] {
            assert_eq!(check(prompt), Err(reason.to_owned()), "{prompt}");
        }
        let contexts = contexts();
        let Wish::Answer(text) = wish(&Caret::of("^S:fix").unwrap(), &contexts, &viewer()) else { panic!() };
        assert!(
            text.contains("  1  261118-0907-session-store") && text.contains("  3* 261118-0905"),
            "{text}"
        );
        assert!(text.contains("2  261118-0906-fix-beta") && text.contains("^E1"), "{text}");
    }
}
