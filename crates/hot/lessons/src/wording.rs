//! How lessons are worded for the model: one paragraph each, which names Wyren and the lesson.
//!
//! A hint has the summary and the solution. A refusal also says why, in the first sentence of the problem, and how the call
//! can pass. The setting `lessons.format` chooses the form of lessons-learned instead, for scripts that read it.

mod lessons_learned;

use crate::choose::{Applying, Subject};
use crate::index::Entry;
use base::settings::Settings;
use std::borrow::Cow;
use text::sanitize::{DATA_NOTE, TRUSTED};

/// How much of a command a text repeats.
const COMMAND_CHARS: usize = 120;
/// The placeholder of the command in a lesson's texts.
const COMMAND: &str = "{command}";
/// The most characters of a sentence about the problem: a longer one is no reason, but an essay.
const MAX_REASON_CHARS: usize = 240;

/// The form of the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Wyren's own.
    #[default]
    Wyren,
    /// That of lessons-learned.
    LessonsLearned,
}

/// What is shown with a call.
#[derive(Debug, Default)]
pub(crate) struct Shown<'a> {
    /// The texts, those of the user's own lessons first.
    pub(crate) texts: Vec<String>,
    /// How many of them came with the repository.
    pub(crate) shared: usize,
    /// The user's own lessons among them. Outside of their tags, others' lessons are not named.
    pub(crate) own: Vec<&'a str>,
    /// Lessons that did not fit.
    pub(crate) dropped: Vec<&'a str>,
}

impl Form {
    /// Returns the form that the settings choose.
    pub fn of(settings: &Settings) -> Self {
        if settings.get("lessons.format") == "lessons-learned" { Self::LessonsLearned } else { Self::Wyren }
    }

    /// Returns what a hint says, without tags.
    pub(crate) fn hint(self, lesson: &Applying<'_>, call: Subject<'_>) -> String {
        match self {
            Self::Wyren => named(lesson, advice(words(lesson), false, call.command)),
            Self::LessonsLearned => lessons_learned::full_text(lesson, call.command),
        }
    }

    /// Returns the short form of a hint that does not fit whole.
    pub(crate) fn citation(self, lesson: &Applying<'_>) -> String {
        match self {
            Self::Wyren => {
                let summary = sentence(lesson.entry.summary);
                named(lesson, format!("{summary} (All of it: `wyren lessons show {}`)", lesson.entry.slug))
            }
            Self::LessonsLearned => lessons_learned::citation(lesson),
        }
    }

    /// Returns all that is shown with a call.
    pub(crate) fn context(self, shown: &Shown<'_>, target: impl FnOnce() -> String) -> String {
        match self {
            Self::Wyren => {
                let (own, shared) = shown.texts.split_at(shown.texts.len() - shown.shared);
                let note = (shown.shared > 0).then(|| DATA_NOTE.to_owned());
                own.iter().cloned().chain(note).chain(shared.iter().cloned()).collect::<Vec<_>>().join("\n\n")
            }
            Self::LessonsLearned => lessons_learned::context(shown, &target()),
        }
    }

    /// Returns why a guard refuses a call.
    pub(crate) fn guard(self, guard: &Applying<'_>, call: Subject<'_>) -> String {
        if self == Self::LessonsLearned {
            return lessons_learned::guard(guard, call);
        }
        let slug = guard.entry.slug;
        let advice = advice(words(guard), true, call.command);
        let there = format!("`wyren lessons allow {slug} --once` in a terminal");
        let way =
            if call.has_slash_commands { format!("`/wyren:allow {slug}` here, or {there}") } else { there };
        let way = format!("If the user insists, only they can lift it: {way}.");
        if guard.is_shared {
            let fenced = fenced(guard, call, &advice);
            format!(
                "Wyren refused this call (guard {slug} of this project). {DATA_NOTE}\n\n{fenced}\n\n{way}"
            )
        } else {
            format!("Wyren refused this call (guard {slug}): {}{way}", followed(advice))
        }
    }

    /// Returns why pauses refuse a call.
    pub(crate) fn pauses(self, pauses: &[&Applying<'_>], call: Subject<'_>) -> String {
        if self == Self::LessonsLearned {
            return lessons_learned::pauses(pauses, call);
        }
        let again =
            if call.command.is_empty() { "make the same call again" } else { "run the same command again" };
        let again = format!("If it is right, {again} and it passes.");
        let advice = |lesson: &Applying<'_>| advice(words(lesson), true, call.command);
        if let [pause] = pauses
            && !pause.is_shared
        {
            let slug = pause.entry.slug;
            return format!(
                "Wyren paused this call once (lesson {slug}): {}{again}",
                followed(advice(pause))
            );
        }
        let slugs: Vec<&str> = pauses.iter().map(|pause| pause.entry.slug).collect();
        let plural = if slugs.len() == 1 { "" } else { "s" };
        let mut parts = vec![format!("Wyren paused this call once (lesson{plural} {}).", slugs.join(", "))];
        let (shared, own): (Vec<&Applying<'_>>, Vec<&Applying<'_>>) =
            pauses.iter().partition(|pause| pause.is_shared);
        parts.extend(own.iter().map(|pause| format!("{}: {}", pause.entry.slug, advice(pause))));
        parts.extend((!shared.is_empty()).then(|| DATA_NOTE.to_owned()));
        parts.extend(shared.iter().map(|pause| fenced(pause, call, &advice(pause))));
        parts.push(again);
        parts.join("\n\n")
    }
}

/// Returns what the model reads beside a call that passes because the user lifted these lessons for it.
pub(crate) fn lifted(slugs: &[String]) -> String {
    format!("Wyren let this one call pass: the user lifted {} for it.", slugs.join(", "))
}

/// Puts the lesson's name before a text; the tags around a repository's lesson name it.
fn named(lesson: &Applying<'_>, text: String) -> String {
    if lesson.is_shared { text } else { format!("Wyren lesson {}: {text}", lesson.entry.slug) }
}

fn fenced(lesson: &Applying<'_>, call: Subject<'_>, text: &str) -> String {
    call.fence.around("project lesson", &[("name", lesson.entry.slug), ("trusted", TRUSTED)], text)
}

/// Returns the summary, problem, solution, and the command to run instead.
fn words<'a>(lesson: &Applying<'a>) -> [&'a str; 4] {
    let Entry { summary, problem, solution, instead, .. } = &lesson.entry;
    [summary, problem, solution, instead]
}

/// Returns what goes wrong, in a refusal also why, and what to do. `{command}` becomes the beginning of the command.
fn advice([summary, problem, solution, instead]: [&str; 4], with_reason: bool, command: &str) -> String {
    let reason = first_sentence(problem);
    let mut parts = vec![sentence(summary)];
    let is_worth_it =
        summary.trim().is_empty() || (with_reason && reason.chars().count() <= MAX_REASON_CHARS);
    if is_worth_it {
        parts.push(sentence(&reason));
    }
    let solution = paragraph(solution);
    let is_news = !instead.is_empty() && !solution.contains(instead);
    parts.push(solution);
    parts.extend(is_news.then(|| format!("Instead: `{instead}`")));
    parts.retain(|part| !part.is_empty());
    let mut text = String::new();
    for part in parts {
        // A list or a block of code begins on a line of its own.
        let gap = if text.is_empty() {
            ""
        } else if text.contains('\n') || part.contains('\n') {
            "\n"
        } else {
            " "
        };
        text.extend([gap, part.as_str()]);
    }
    with_command(text, command)
}

fn with_command(text: String, command: &str) -> String {
    if !text.contains(COMMAND) {
        return text;
    }
    let shown: String = command.chars().take(COMMAND_CHARS).collect();
    // Replaced as text, wherever it is: a command may hold anything.
    text.replace(COMMAND, &shown)
}

/// Returns a text that another sentence can follow.
fn followed(text: String) -> String {
    if text.contains('\n') { format!("{text}\n") } else { format!("{} ", sentence(&text)) }
}

/// Returns a text as a sentence: with a full stop, unless something else ends it.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let is_open =
        text.ends_with(|character: char| character.is_alphanumeric() || "`'\")]}>/*".contains(character));
    if is_open { format!("{text}.") } else { text.to_owned() }
}

/// Returns a text on one line, unless its lines mean something: a list, a block of code, several paragraphs.
fn paragraph(text: &str) -> String {
    let text = text.trim();
    let has_form = |line: &str| {
        let is_numbered = line.split_once(['.', ')']).is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        line.trim().is_empty()
            || line.starts_with([' ', '\t', '-', '*', '>', '|', '#'])
            || line.starts_with("```")
            || is_numbered
    };
    if text.lines().any(has_form) { text.to_owned() } else { joined(text).into_owned() }
}

fn joined(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the first sentence of a text's first paragraph.
fn first_sentence(text: &str) -> String {
    let text = text.trim().split("\n\n").next().unwrap_or_default();
    let text = joined(text);
    let mut is_quoted = false;
    for (at, character) in text.char_indices() {
        is_quoted ^= character == '`';
        let rest = &text[at + character.len_utf8()..];
        let mut next = rest.chars();
        // After an abbreviation a sentence goes on in lower case.
        let is_end = ".!?".contains(character)
            && next.next() == Some(' ')
            && next.next().is_some_and(|begin| !begin.is_lowercase());
        if is_end && !is_quoted {
            return text[..=at].to_owned();
        }
    }
    text.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{self, Fingerprint, Index};
    use crate::{Kind, Lesson, format};
    use std::path::{Path, PathBuf};
    use text::sanitize::Fence;

    #[test]
    fn a_reason_is_the_first_sentence() {
        for (text, expected) in [
            ("It hangs. It waits.", "It hangs."),
            ("It hangs, e.g. in CI. It waits.", "It hangs, e.g. in CI."),
            ("`a. B` hangs\nfor good! Really", "`a. B` hangs for good!"),
            ("One sentence", "One sentence"),
            ("First paragraph\n\nSecond.", "First paragraph"),
            ("日本語。 次。", "日本語。 次。"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected, "{text:?}");
        }
    }

    #[test]
    fn prose_is_joined_and_what_has_a_form_keeps_its_lines() {
        assert_eq!(paragraph("One line\nand another."), "One line and another.");
        for text in ["First:\n- one\n- two", "Do:\n```\nmake\n```", "1. a\n2. b", "One.\n\nTwo."] {
            assert_eq!(paragraph(text), text);
        }
        assert_eq!(sentence("Run `make`"), "Run `make`.");
        assert_eq!(sentence("Run it!"), "Run it!");
        assert_eq!(sentence("要約。"), "要約。");
    }

    #[test]
    fn the_command_to_run_instead_is_shown_unless_the_solution_has_it() {
        let with = |solution| advice(["It hangs", "Why.", solution, "make -j2"], false, "make");
        assert_eq!(with("Run `make -j2` or wait."), "It hangs. Run `make -j2` or wait.");
        assert_eq!(with("Take two cores."), "It hangs. Take two cores. Instead: `make -j2`");
        assert_eq!(with("Take:\n- two cores"), "It hangs.\nTake:\n- two cores\nInstead: `make -j2`");
    }

    #[test]
    fn a_refusal_says_why_in_one_sentence_and_a_long_one_is_left_out() {
        let with = |problem: &str| advice(["It hangs", problem, "Wait.", ""], true, "make all");
        assert_eq!(
            with("`{command}` needs a terminal. There is none."),
            "It hangs. `make all` needs a terminal. Wait."
        );
        assert_eq!(with(&"long ".repeat(60)), "It hangs. Wait.");
        assert_eq!(advice(["", "It waits. Why?", "Wait.", ""], false, ""), "It waits. Wait.");
    }

    /// Returns the sizes of what is shown of each shipped lesson of a kind, in characters: in the old form and in ours.
    fn sizes(kind: Kind) -> Vec<(usize, usize)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../lessons");
        let files = base::files::files_in(Path::new(folder));
        let read = |file: &PathBuf| {
            let slug = file.file_stem()?.to_str()?;
            format::parse(slug, &std::fs::read_to_string(file).ok()?).ok()
        };
        let lessons: Vec<Lesson> =
            files.iter().filter_map(read).filter(|lesson| lesson.kind == kind).collect();
        let (bytes, _) = index::build(&lessons, Fingerprint::default());
        let index = Index::new(&bytes[..]).unwrap();
        let fence = Fence::default();
        (0..u32::try_from(lessons.len()).unwrap())
            .map(|number| {
                let lesson =
                    Applying { entry: index.entry(number).unwrap(), is_shared: false, confidence: 80 };
                let example = lessons[number as usize].fires.first().map_or("", String::as_str);
                let size = |form: Form| {
                    let call =
                        Subject { form, has_slash_commands: true, command: example, key: 0, fence: &fence };
                    let text = match kind {
                        Kind::Guard => form.guard(&lesson, call),
                        Kind::Pause => form.pauses(&[&lesson], call),
                        _ => {
                            let own = vec![lesson.entry.slug];
                            let texts = vec![form.hint(&lesson, call)];
                            let shown = Shown { texts, own, ..Shown::default() };
                            form.context(&shown, || {
                                format!("`{}`", example.chars().take(80).collect::<String>())
                            })
                        }
                    };
                    text.chars().count()
                };
                (size(Form::LessonsLearned), size(Form::Wyren))
            })
            .collect()
    }

    #[test]
    fn text_4_a_hint_has_at_most_60_percent_of_its_old_size_and_a_refusal_stays_short() {
        // A refusal also says who refuses and how the call can pass.
        for (kind, most, longest) in [(Kind::Hint, 60, 600), (Kind::Pause, 105, 800), (Kind::Guard, 150, 900)]
        {
            let sizes = sizes(kind);
            assert!(sizes.len() > 20, "{kind}: {}", sizes.len());
            let median = |mut numbers: Vec<usize>| {
                numbers.sort_unstable();
                numbers[numbers.len() / 2]
            };
            let share = median(sizes.iter().map(|(old, new)| new * 100 / old).collect());
            let old = median(sizes.iter().map(|(old, _)| *old).collect());
            let new = median(sizes.iter().map(|(_, new)| *new).collect());
            let figures = format!("{kind}: {old} to {new} characters, {share} % in the median");
            assert!(share <= most, "{figures}");
            let max = sizes.iter().map(|(_, new)| *new).max();
            assert!(max.is_some_and(|max| max <= longest), "{kind}: {max:?}");
        }
    }
}
