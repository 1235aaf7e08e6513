//! What the model offered at the end of a turn, and what the user's next prompt answers to it. An answer such as "yes, take the
//! second" decides something that only the offer names.

use super::{lines::MOST_TITLE, mood, prose};
use crate::turn::Before;
use language::lexicon::{self, JOURNAL};
use language::{Phrases, content_words, sentences, words};
use std::sync::LazyLock;

/// A longer prompt says itself what it is about.
const MOST_PROMPT: usize = 400;
/// How much of an answer is shown, in characters.
const MOST_SAID: usize = 90;
/// A longer sentence is more than an answer.
const MOST_WORDS: usize = 14;
/// A question of fewer words is about the sentence before it: `Shall I?`
const FEWEST_CONTENT_WORDS: usize = 2;

macro_rules! phrases {
    ($($name:ident, $heading:literal;)*) => {
        $(static $name: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(JOURNAL, $heading));)*
    };
}
phrases! {
    RECOMMENDS, "recommends";
    CHOICE, "choice";
    AGREES, "agrees";
    ACKNOWLEDGES, "acknowledges";
    DECLINES, "declines";
    PREFERS, "prefers";
    IT_IS, "it is";
    FIX, "fix";
}

/// Words that choose one of several things, with its place.
static ORDINALS: LazyLock<Phrases<usize>> = LazyLock::new(|| {
    let headings = ["1st", "2nd", "3rd", "4th"].into_iter().enumerate();
    Phrases::new(
        headings
            .flat_map(|(place, heading)| lexicon::list(JOURNAL, heading).map(move |phrase| (phrase, place))),
    )
});

/// What a model put up for the user to answer.
#[derive(Debug, Default)]
struct Offer {
    /// The question or recommendation; empty where there are only options.
    text: String,
    options: Vec<String>,
    /// Whether an answer decides more than whether work is done.
    is_choice: bool,
    /// Whether it is what the message ends with.
    is_last: bool,
}

/// What a prompt answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    /// What was offered and what was answered: `I suggest Redis for the sessions → no, keep Postgres`.
    pub(super) text: String,
    /// What was offered.
    pub(super) about: String,
    /// The words of the prompt in it.
    pub(super) said: String,
    pub(super) is_decision: bool,
}

/// Returns what a prompt answers to the turn before; nothing where it is about something else.
pub(super) fn answered(prompt: &str, before: &Before) -> Option<Answered> {
    if prompt.chars().count() > MOST_PROMPT || before.answer.is_empty() {
        return None;
    }
    let said: Vec<_> = sentences(prompt).into_iter().take(2).collect();
    if said.first()?.is_question {
        return None;
    }
    let offer = Offer::of(&before.answer)?;
    let told = said.iter().enumerate().filter(|(_, sentence)| !sentence.is_question);
    let told: Vec<(usize, &str)> = told.map(|(at, sentence)| (at, sentence.text.as_str())).collect();
    let (at, (about, is_decision)) = told
        .iter()
        .find_map(|(at, sentence)| Some((*at, offer.chosen(sentence)?)))
        .or_else(|| Some((0, offer.agreed(said[0].text.as_str(), prompt)?)))?;
    let said = said[..=at].iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(". ");
    let said = prose::gist(&said, MOST_SAID);
    let room = MOST_TITLE.saturating_sub(said.chars().count() + " → ".chars().count());
    let about = prose::gist(about.trim_end_matches(['.', '。', ';', ':']), room);
    (!about.is_empty()).then(|| Answered { text: format!("{about} → {said}"), about, said, is_decision })
}

impl Offer {
    /// Returns what a message offers.
    fn of(message: &str) -> Option<Self> {
        let pieces = prose::pieces(message);
        let options = options(message);
        let last = pieces.len().checked_sub(1)?;
        let is_question = pieces[last].ends_with(['?', '？']);
        let recommends =
            |piece: &String| RECOMMENDS.occur(&mood::heard(piece)) && !piece.ends_with(['?', '？']);
        let offer = match pieces.iter().rposition(recommends) {
            _ if is_question => {
                let is_bare = content_words(&pieces[last]).len() < FEWEST_CONTENT_WORDS;
                let about = last.checked_sub(1).filter(|_| is_bare).map(|at| &pieces[at]);
                let heard = mood::heard(&pieces[last]);
                Self {
                    text: about
                        .into_iter()
                        .chain([&pieces[last]])
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .join(" "),
                    is_choice: CHOICE.occur(&heard)
                        || RECOMMENDS.occur(&heard)
                        || about.is_some_and(recommends),
                    is_last: true,
                    options,
                }
            }
            Some(at) => Self { text: pieces[at].clone(), options, is_choice: true, is_last: at == last },
            None => Self { options, ..Self::default() },
        };
        (!offer.text.is_empty() || !offer.options.is_empty()).then_some(offer)
    }

    /// Returns what a sentence chooses or refuses, and whether that is a decision.
    fn chosen(&self, sentence: &str) -> Option<(String, bool)> {
        const STEPS: [&str; 9] =
            ["step", "schritt", "étape", "paso", "passo", "шаг", "item", "point", "punkt"];
        let heard = mood::heard(sentence);
        if words(sentence).len() > MOST_WORDS || mood::asks(&heard) {
            return None;
        }
        if let Some(option) = picked(&heard).and_then(|place| self.options.get(place)) {
            return Some((option.clone(), !STEPS.iter().any(|step| heard.contains(step))));
        }
        let is_about = !self.text.is_empty() && !FIX.occur(&heard);
        if is_about && declines(&heard) {
            return Some((self.text.clone(), true));
        }
        let rest = heard
            .split_once(", ")
            .filter(|(first, _)| words(first).len() <= 2)
            .map_or(&*heard, |(_, rest)| rest);
        let prefers = PREFERS.begin(&heard) || PREFERS.begin(rest);
        let is_it =
            IT_IS.find(&heard).last().is_some_and(|hit| hit.end == heard.trim_end().len() && hit.start > 0);
        if (prefers || is_it) && (self.is_choice || !self.options.is_empty()) {
            let about = self.option_about(sentence).unwrap_or_else(|| match self.text.is_empty() {
                true => self.options.join("; "),
                false => self.text.clone(),
            });
            return Some((about, true));
        }
        None
    }

    /// Returns what a prompt agrees to, and whether that is a decision.
    fn agreed(&self, sentence: &str, prompt: &str) -> Option<(String, bool)> {
        let heard = mood::heard(sentence);
        let is_nothing = prose::is_nothing(prompt);
        let acknowledges = is_nothing && self.is_last && (ACKNOWLEDGES.begin(&heard) || heard.trim() == "go");
        let agrees = AGREES.begin(&heard) && words(sentence).len() <= MOST_WORDS;
        ((agrees || acknowledges) && !self.text.is_empty()).then(|| (self.text.clone(), self.is_choice))
    }

    /// Returns the only option that shares most words with a sentence.
    fn option_about(&self, sentence: &str) -> Option<String> {
        let about = content_words(sentence);
        let shared = |option: &String| content_words(option).intersection(&about).count();
        let most = self.options.iter().map(shared).max().filter(|most| *most > 0)?;
        let mut best = self.options.iter().filter(|option| shared(option) == most);
        best.next().filter(|_| best.next().is_none()).cloned()
    }
}

/// Returns the place of what a sentence chooses out of a list: `take the second`, `B`, `2.`.
fn picked(heard: &str) -> Option<usize> {
    let bare = heard.trim_matches(|c: char| !c.is_alphanumeric());
    let mut characters = bare.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return match only {
            '1'..='9' => Some(only as usize - '1' as usize),
            'a'..='h' => Some(only as usize - 'a' as usize),
            _ => None,
        };
    }
    let hits = ORDINALS.find(heard);
    let first = hits.first()?.label;
    // Two of them are no choice of one.
    hits.iter().all(|hit| hit.label == first).then_some(first)
}

/// Returns whether a sentence refuses, and does not only begin with such a word: `no, keep it`, but not `no tests fail`.
fn declines(heard: &str) -> bool {
    let Some(hit) = DECLINES.find(heard).into_iter().next() else { return false };
    let is_first = !heard[..hit.start].contains(char::is_alphanumeric);
    let behind = &heard[hit.end..];
    let behind_word = behind.trim_start();
    let is_apart =
        behind_word.is_empty() || behind_word.starts_with([',', '.', ':', '–', '—', '-', '，', '、']);
    is_first
        && (is_apart || PREFERS.begin(behind_word) || !heard.is_ascii() && behind.len() == behind_word.len())
}

/// Returns the items of the last list of a message that has numbers or letters.
fn options(message: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for line in language::without_code(message).lines() {
        let line = language::without_bullet(line).replace("**", "");
        let Some((place, text)) = numbered(&line) else { continue };
        if place == 0 {
            list.clear();
        }
        if place == list.len() {
            list.push(prose::gist(text, MOST_TITLE));
        }
    }
    if list.len() > 1 { list } else { Vec::new() }
}

/// Returns the place that an item of a list gives itself, and its text: `1. …`, `B) …`, `Option A: …`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    const NAMES: [&str; 10] = [
        "Option ",
        "Variant ",
        "Variante ",
        "Opción ",
        "Opção ",
        "Plan ",
        "Вариант ",
        "Step ",
        "方案",
        "Approach ",
    ];
    let named = NAMES.iter().find_map(|name| line.strip_prefix(name));
    let line = named.unwrap_or(line);
    let mark = line.chars().next()?;
    let place = match mark.to_ascii_lowercase() {
        '1'..='9' => mark as usize - '1' as usize,
        letter @ 'a'..='h' => letter as usize - 'a' as usize,
        '一' => 0,
        '二' => 1,
        '三' => 2,
        _ => return None,
    };
    let behind = &line[mark.len_utf8()..];
    let marks: &[&str] =
        if named.is_some() { &[":", "：", " –", " —", " -", ".", ")", " ("] } else { &[". ", ") "] };
    let text = marks.iter().find_map(|mark| behind.strip_prefix(mark))?.trim();
    (!text.is_empty()).then_some((place, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, prompt: &str, expected: Option<(&str, bool)>) {
        let before = Before { prompt: "Where do the sessions go?".to_owned(), answer: answer.to_owned() };
        let found = answered(prompt, &before);
        let found = found.as_ref().map(|answered| (answered.text.as_str(), answered.is_decision));
        assert_eq!(found, expected, "{prompt}");
    }

    #[test]
    fn an_answer_has_with_it_what_was_offered() {
        let two = "Two ways out:\n\n1. Store the transaction id with each row.\n2. **Take an advisory lock** in the trigger.\n\nI would take the first.";
        check(
            two,
            "yes, take the second",
            Some(("Take an advisory lock in the trigger → yes, take the second", true)),
        );
        check(two, "2", Some(("Take an advisory lock in the trigger → 2", true)));
        check(
            two,
            "let's go with the advisory lock",
            Some(("Take an advisory lock in the trigger → let's go with the advisory lock", true)),
        );
        check(two, "sounds good", Some(("I would take the first → sounds good", true)));
        let lettered = "Option A: keep the cron job.\nOption B: move to a queue.\n\nWhich one?";
        check(lettered, "go with B", Some(("move to a queue → go with B", true)));
        check(lettered, "B please, and add a test", None);
        let redis = "The sessions fill the disk. I'd suggest using Redis for them.";
        check(
            redis,
            "no, keep Postgres",
            Some(("I'd suggest using Redis for them → no, keep Postgres", true)),
        );
        check(redis, "lieber SQLite", Some(("I'd suggest using Redis for them → lieber SQLite", true)));
        check(
            redis,
            "Great. Postgres it is.",
            Some(("I'd suggest using Redis for them → Great. Postgres it is", true)),
        );
        check(
            "Ich würde die Tabelle aufteilen. Soll ich?",
            "ja",
            Some(("Ich würde die Tabelle aufteilen. Soll ich? → ja", true)),
        );
        check(
            "Je propose de passer à SQLite.",
            "non, on garde Postgres",
            Some(("Je propose de passer à SQLite → non, on garde Postgres", true)),
        );
        check(
            "¿Uso Redis o Postgres para las sesiones?",
            "mejor Postgres",
            Some(("¿Uso Redis o Postgres para las sesiones? → mejor Postgres", true)),
        );
    }

    #[test]
    fn answers_in_other_words_have_with_them_what_was_offered() {
        let list = "There are three ways:\n\n1) Lock the row.\n2) Use an optimistic version column.\n3) Serialise in the queue.\n\nWhich one do you prefer?";
        let version = "Use an optimistic version column";
        for prompt in [
            "the second one please",
            "2)",
            "nimm die zweite",
            "la deuxième",
            "la segunda",
            "вторую",
            "第二个",
            "二つ目で",
            "option 2 sounds right",
        ] {
            let before = Before { prompt: String::new(), answer: list.to_owned() };
            let found = answered(prompt, &before).filter(|answered| answered.is_decision);
            assert!(found.as_ref().is_some_and(|answered| answered.about == version), "{prompt}: {found:?}");
        }
        let advice =
            "The import is slow. My recommendation: write in batches of 500 instead of one row at a time.";
        let told = "My recommendation: write in batches of 500 instead of one row at a time";
        for prompt in [
            "yes please",
            "ok, do it",
            "agreed, in batches",
            "ja, so machen wir das",
            "d'accord",
            "de acuerdo",
            "да, давай",
            "好的，就这样",
            "はい、お願いします",
            "nope",
            "nein, lieber einzeln",
            "no, keep one row at a time",
        ] {
            let before = Before { prompt: String::new(), answer: advice.to_owned() };
            let found = answered(prompt, &before).filter(|answered| answered.is_decision);
            assert!(found.as_ref().is_some_and(|answered| answered.about == told), "{prompt}: {found:?}");
        }
        for prompt in [
            "ok",
            "hm, why 500?",
            "no idea what you mean, explain",
            "great, and now the export",
            "continue",
            "what does that change for the nightly job",
        ] {
            let before = Before { prompt: String::new(), answer: format!("{advice} The export is fine.") };
            assert_eq!(answered(prompt, &before), None, "{prompt}");
        }
    }

    #[test]
    fn agreeing_to_work_decides_nothing_and_what_is_about_something_else_answers_nothing() {
        check(
            "All pass. Shall I open a pull request?",
            "go",
            Some(("Shall I open a pull request? → go", false)),
        );
        check(
            "All pass. Shall I open a pull request?",
            "no",
            Some(("Shall I open a pull request? → no", true)),
        );
        let redis = "I'd suggest using Redis for the sessions.";
        for prompt in [
            "ok, now fix the header",
            "what would that cost?",
            "no tests are there for it",
            "no, it still fails",
            "Add a test for the login",
            "thanks",
            "fix the login page",
        ] {
            check(redis, prompt, None);
        }
        check("Done, all tests pass.", "yes", None);
        let steps = "The plan:\n1. Add the column.\n2. Fill it.\n3. Drop the old one.";
        check(steps, "do step 3", Some(("Drop the old one → do step 3", false)));
        check(steps, "now step 2", Some(("Fill it → now step 2", false)));
    }
}
