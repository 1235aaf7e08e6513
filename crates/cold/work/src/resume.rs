//! Whether a prompt asks to go on with what waits. Work is adopted only when it does: an unrelated prompt adopts nothing.

use crate::contexts::Context;
use crate::contexts::id;

/// A longer prompt says what is to be done, and does not only ask to go on.
const MOST_WORDS: usize = 14;

/// What a prompt may begin with before it says what it wants.
const POLITE: &str = " please ok okay so now hi hello hey let's lets can could would you we i want to and then just bitte jetzt \
peux tu por favor ";

/// How a wish to go on begins, in the languages of the journal.
const WISHES: &str = "resume,continue,carry on,go on,keep going,keep on,proceed,pick up,pick it up,pick this up,weiter,\
mach weiter,weitermachen,setze fort,fahre fort,fortsetzen,continuer,continuez,reprends,reprendre,reprenons,continúa,continua,\
continuar,sigue,retoma,retomar,riprendi,riprendiamo,ga verder,doorgaan,продолжай,продолжи,продолжить,続けて,続き,再開,继续,繼續,계속";

/// What a wish to go on may be about without naming the work.
const GENERIC: &str = " with the my our your this that it last previous earlier old work working task tasks plan planned handoff \
session implementation implementing context where we i you left off stopped from on here there now please next step steps what was \
were doing yesterday today again go ahead and finish staged a an of for to in at by all rest remaining then mit der dem den die das arbeit aufgabe sitzung wo wir aufgehört haben le \
la travail el trabajo il lavoro bitte execute implement ";

/// Says whether a prompt asks to go on with something.
pub(crate) fn is_wish(prompt: &str) -> bool {
    about(prompt).is_some()
}

/// Returns the context that a prompt asks to go on with; those that wait are given with the latest first.
pub(crate) fn asked_for<'c>(prompt: &str, staged: &'c [Context]) -> Option<&'c Context> {
    let about = about(prompt)?;
    if about.is_empty() {
        return staged.first();
    }
    let named = |context: &&Context| {
        let slug = id::slug(&context.summary);
        let known: Vec<&str> = context.id.split('-').chain(slug.split('-')).collect();
        about.iter().all(|word| known.contains(&id::to_ascii(word).as_str()))
    };
    staged.iter().find(named)
}

/// Returns the words that name what a prompt asks to go on with; `None` where it does not ask.
fn about(prompt: &str) -> Option<Vec<String>> {
    let lower = prompt.to_lowercase().replace('’', "'");
    let mut words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    if words.len() > MOST_WORDS {
        return None;
    }
    while words.first().is_some_and(|word| is_in(POLITE, word)) {
        words.remove(0);
    }
    let spoken = words.join(" ");
    let wish = WISHES.split(',').filter(|wish| begins(&spoken, wish)).max_by_key(|wish| wish.len())?;
    let about = spoken[wish.len()..].split_whitespace().filter(|word| !is_in(GENERIC, word));
    Some(about.map(str::to_owned).collect())
}

/// Says whether a word is in a list.
fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Says whether a text begins with these words; scripts without blanks have no end of a word.
fn begins(spoken: &str, wish: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ') || !wish.is_ascii();
    spoken.strip_prefix(wish).is_some_and(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged() -> Vec<Context> {
        [
            ("261118-0906-fix-beta-upload", "fix the beta upload"),
            ("261118-0905-move-parser", "move the parser"),
        ]
        .map(|(id, summary)| Context { id: id.to_owned(), summary: summary.to_owned(), ..Context::default() })
        .to_vec()
    }

    fn found(prompt: &str) -> Option<String> {
        asked_for(prompt, &staged()).map(|context| context.id[12..].to_owned())
    }

    #[test]
    fn line_8_only_a_prompt_that_asks_for_it_adopts_what_waits() {
        for prompt in [
            "continue",
            "continue to the next step of the plan",
            "Please continue.",
            "ok, let's resume where we left off",
            "can you pick up where we stopped?",
            "go on with the plan",
            "Mach weiter, bitte",
            "continúa",
            "继续",
        ] {
            assert_eq!(found(prompt).as_deref(), Some("fix-beta-upload"), "{prompt}");
        }
        for prompt in
            ["continue with the parser", "continue 261118-0905-move-parser", "let’s go on with the parser"]
        {
            assert_eq!(found(prompt).as_deref(), Some("move-parser"), "{prompt}");
        }
        let word = Context { summary: "die Prüfung der Größe".to_owned(), ..Context::default() };
        assert!(asked_for("mach weiter mit der Prüfung", &[word]).is_some());
        for prompt in [
            "fix the login form",
            "resume the download when the connection drops",
            "continue statements in the loop skip the last row",
            "add a button to continue",
            "why does the worker not resume?",
            "weiterleitung reparieren",
            "",
        ] {
            assert_eq!(found(prompt), None, "{prompt}");
        }
        let long = format!("continue {}", "with the plan ".repeat(10));
        assert_eq!(found(&long), None);
    }
}
