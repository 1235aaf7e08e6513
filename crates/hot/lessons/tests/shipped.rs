//! The lessons that ship: each is whole, fires on its own examples, and everyday work stays quiet.

use hook::Platform;
use lessons::call::Call;
use lessons::index::{self, Fingerprint, Index, Unindexed};
use lessons::layers;
use lessons::limits::Limits;
use lessons::pattern::CommandPattern;
use lessons::trigger::{Simple, Verdict};
use lessons::{Kind, Lesson, OLD_PROTOCOL, Trigger, format, start};
use regex_lite::Regex;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MIN_LESSONS: usize = 100;
const MIN_PAUSES: usize = 10;
const MIN_GUARDS: usize = 10;
const MIN_EXAMPLES: usize = 2;
const MAX_SLUG_CHARS: usize = 60;
const MAX_SUMMARY_CHARS: usize = 80;
const MIN_SOLUTION_CHARS: usize = 60;
const MAX_PROBLEM_LINES: usize = 4;
/// What one lesson may take of the 4,096 bytes that a call may show.
const MAX_MESSAGE_BYTES: usize = 900;
const MIN_QUIET_CALLS: usize = 2_000;
/// Of the quiet calls, one in this many may get a hint.
const QUIET_CALLS_PER_HINT: usize = 100;
/// How many of the reminders must fit into a start in lessons-learned's form, the most important first.
const MIN_REMINDERS_SAID: usize = 10;

/// Lessons that are verified with every call of their tool, and why that is no loss.
const UNINDEXED: [(&str, &str); 3] = [
    ("agent-brief-too-short", "it is about the length of a prompt; calls of Agent are few"),
    ("plan-with-open-points", "TBD has three bytes; a session has few plans"),
    ("grep-across-lines-without-multiline", "its pattern has two bytes; one expression per call of Grep"),
];

/// The severities that a lesson may name.
const SEVERITIES: [&str; 6] = ["data-loss", "hang", "silent-failure", "security", "waste", "confusion"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = repository().join(folder);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("could not read {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|other| other == ending));
    files.sort();
    files
}

fn shipped() -> Vec<Lesson> {
    let read = |file: &PathBuf| {
        let slug = file.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(file).unwrap();
        format::parse(slug, &text).unwrap_or_else(|flaw| panic!("{}: {flaw}", file.display()))
    };
    files("lessons", "md").iter().map(read).collect()
}

/// The shipped lessons behind their index.
struct Shelf {
    lessons: Vec<Lesson>,
    index: Index<Vec<u8>>,
    unindexed: Vec<Unindexed>,
}

impl Shelf {
    fn open() -> Self {
        let lessons = shipped();
        let (bytes, unindexed) = index::build(&lessons, Fingerprint(1));
        Self { lessons, index: Index::new(bytes).unwrap(), unindexed }
    }

    /// Returns the lessons that apply to a call, each with the pattern that decided.
    fn applying(&self, example: &str) -> Vec<(&str, Kind, String)> {
        let (tool, input) = call(example);
        let project = Path::new("/home/dev/app");
        let call = Call::read(&tool, Some(&input), Platform::ClaudeCode, project)
            .at(project, Some(Path::new("/home/dev")));
        let commands =
            shell::commands(call.command.as_deref().filter(|_| call.is_shell()).unwrap_or_default());
        let simples = Simple::all(&commands);
        let numbers = self.index.candidates(&call, &simples).unwrap();
        let entries = numbers.into_iter().map(|number| self.index.entry(number).unwrap());
        let judge = |entry: index::Entry<'_>| match entry.judge(&call, &simples) {
            Verdict::Applies { by } => {
                let lesson = self.lessons.iter().find(|lesson| lesson.slug == entry.slug).unwrap();
                Some((lesson.slug.as_str(), lesson.kind, by))
            }
            _ => None,
        };
        entries.filter_map(judge).collect()
    }
}

#[test]
fn review_1_a_call_that_hides_the_model_to_change_the_memory_is_refused() {
    let shelf = Shelf::open();
    for hidden in ["env -i HOME=/home/ada PATH=/bin", "sudo -u ada", "runuser -u ada --"] {
        for action in ["add x", "remove 1", "restore 1", "edit", "handoff x"] {
            let command = format!("{hidden} wyren memory {action}");
            let is_refused = |(slug, kind, _): &(&str, Kind, String)| {
                *slug == "wyren-asked-in-a-persons-name" && *kind == Kind::Guard
            };
            assert!(shelf.applying(&command).iter().any(is_refused), "{command}");
        }
    }
}

/// Reads an example: a command, or a call of any tool as JSON.
fn call(example: &str) -> (String, Box<RawValue>) {
    let (tool, input) = if example.starts_with("{\"tool\"") {
        let mut input: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        let tool = input.remove("tool").and_then(|tool| tool.as_str().map(str::to_owned)).expect("a tool");
        (tool, serde_json::Value::Object(input))
    } else {
        ("Bash".to_owned(), serde_json::json!({"command": example}))
    };
    (tool, RawValue::from_string(input.to_string()).unwrap())
}

/// Fails with everything that was found, not with the first of it.
#[track_caller]
fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}

#[test]
fn there_are_enough_of_each_kind() {
    let lessons = shipped();
    let count = |kind: Kind| lessons.iter().filter(|lesson| lesson.kind == kind).count();
    assert!(lessons.len() >= MIN_LESSONS, "{}", lessons.len());
    assert!(count(Kind::Pause) >= MIN_PAUSES, "{}", count(Kind::Pause));
    assert!(count(Kind::Guard) >= MIN_GUARDS, "{}", count(Kind::Guard));
    assert!(count(Kind::Directive) > 0 && count(Kind::Protocol) > 0);
    // A file system that does not tell case apart must not merge two lessons.
    let slugs: BTreeSet<String> = lessons.iter().map(|lesson| lesson.slug.to_lowercase()).collect();
    assert_eq!(slugs.len(), lessons.len());
    let summaries: BTreeSet<&str> = lessons.iter().map(|lesson| &*lesson.summary).collect();
    assert_eq!(summaries.len(), lessons.len());
}

#[test]
fn every_lesson_is_whole() {
    let mut flaws = Vec::new();
    for lesson in shipped() {
        let mut flaw = |text: String| flaws.push(format!("{}: {text}", lesson.slug));
        let is_kebab = lesson.slug.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        });
        if !is_kebab || lesson.slug.len() > MAX_SLUG_CHARS {
            flaw("the slug is not short kebab-case".to_owned());
        }
        if lesson.summary.is_empty() || lesson.summary.chars().count() > MAX_SUMMARY_CHARS {
            flaw(format!("the summary has {} characters", lesson.summary.chars().count()));
        }
        if lesson.problem.is_empty() || lesson.problem.lines().count() > MAX_PROBLEM_LINES {
            flaw(format!("the problem has {} lines", lesson.problem.lines().count()));
        }
        if lesson.solution.chars().count() < MIN_SOLUTION_CHARS {
            flaw(format!("the solution has {} characters", lesson.solution.chars().count()));
        }
        if lesson.source != "shipped" {
            flaw(format!("the source is {}", lesson.source));
        }
        let severities: Vec<&str> =
            lesson.tags.iter().filter_map(|tag| tag.strip_prefix("severity:")).collect();
        if severities.len() != 1 || !SEVERITIES.contains(&severities[0]) {
            flaw(format!("its severities are {severities:?}"));
        }
        if let Some(tag) = lesson.tags.iter().find(|tag| !tag.contains(':')) {
            flaw(format!("the tag {tag} is not category:value"));
        }
        let instead = lesson.instead.as_deref().unwrap_or_default();
        let message = [&*lesson.summary, &lesson.problem, &lesson.solution, instead]
            .map(str::len)
            .iter()
            .sum::<usize>();
        if message > MAX_MESSAGE_BYTES {
            flaw(format!("its texts have {message} bytes"));
        }
        if lesson.is_disabled || lesson.scope.is_some() {
            flaw("it does not hold for everyone".to_owned());
        }
        if lesson.kind.is_about_calls() {
            if lesson.fires.len() < MIN_EXAMPLES || lesson.quiet.len() < MIN_EXAMPLES {
                flaw(format!("{} firing and {} quiet examples", lesson.fires.len(), lesson.quiet.len()));
            }
        } else {
            let of_project = Trigger { paths: lesson.trigger.paths.clone(), ..Trigger::default() };
            if !lesson.fires.is_empty() || !lesson.quiet.is_empty() || lesson.trigger != of_project {
                flaw("it is shown at the start, and has patterns or examples of calls".to_owned());
            }
        }
        if format::parse(&lesson.slug, &format::render(&lesson)) != Ok(lesson.clone()) {
            flaw("it is another lesson when it is written and read again".to_owned());
        }
    }
    assert_none(flaws);
}

/// A team that copies every shipped lesson into its repository is within the limits of a project.
#[test]
fn all_of_them_together_are_within_the_limits_of_a_project() {
    let (lessons, flaws) = layers::read_folder(&repository().join("lessons"), &Limits::PROJECT);
    assert!(lessons.len() >= MIN_LESSONS);
    assert_none(flaws.iter().map(|(file, flaw)| format!("{}: {flaw}", file.display())).collect());
}

#[test]
fn every_pattern_can_be_read() {
    let mut flaws = Vec::new();
    for lesson in shipped() {
        let trigger = &lesson.trigger;
        for pattern in &trigger.commands {
            if let Err(reason) = CommandPattern::parse(pattern) {
                flaws.push(format!("{}: {pattern}: {reason}", lesson.slug));
            }
        }
        let inputs = trigger.inputs.iter().map(|(_, expression)| expression);
        for expression in trigger.matches.iter().chain(&trigger.raw).chain(&trigger.content).chain(inputs) {
            if let Err(error) = Regex::new(expression) {
                flaws.push(format!("{}: {expression}: {error}", lesson.slug));
            }
        }
    }
    assert_none(flaws);
}

#[test]
fn what_cannot_be_looked_up_has_a_reason() {
    let found: BTreeMap<String, String> =
        Shelf::open().unindexed.into_iter().map(|unindexed| (unindexed.slug, unindexed.pattern)).collect();
    let expected: BTreeSet<&str> = UNINDEXED.iter().map(|(slug, _)| *slug).collect();
    let slugs: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(slugs, expected, "{found:?}");
}

#[test]
fn every_example_fires_or_stays_quiet() {
    let shelf = Shelf::open();
    let mut wrong = Vec::new();
    for lesson in &shelf.lessons {
        for (examples, expected) in [(&lesson.fires, true), (&lesson.quiet, false)] {
            for example in examples {
                let applying = shelf.applying(example);
                if applying.iter().any(|(slug, _, _)| *slug == lesson.slug) != expected {
                    let word = if expected { "does not fire" } else { "fires" };
                    wrong.push(format!("{} {word}: {example}", lesson.slug));
                }
            }
        }
    }
    assert_none(wrong);
}

/// What one lesson calls harmless no guard of another refuses, and what it recommends instead no pause either.
#[test]
fn no_lesson_refuses_what_another_recommends() {
    let shelf = Shelf::open();
    let mut wrong = Vec::new();
    for lesson in &shelf.lessons {
        let mut check = |example: &str, refusing: &[Kind]| {
            for (slug, kind, by) in shelf.applying(example) {
                if slug != lesson.slug && refusing.contains(&kind) {
                    wrong.push(format!("{slug} ({by}) refuses {example}, of {}", lesson.slug));
                }
            }
        };
        lesson.quiet.iter().for_each(|example| check(example, &[Kind::Guard]));
        lesson.instead.iter().for_each(|example| check(example, &[Kind::Guard, Kind::Pause]));
    }
    assert_none(wrong);
}

#[test]
fn everyday_work_stays_quiet() {
    let shelf = Shelf::open();
    let (mut denials, mut hints) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let mut duplicates = Vec::new();
    for file in files("tests/data/quiet", "jsonl") {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let place = format!("{}:{}", file.file_name().unwrap().to_string_lossy(), number + 1);
            if !seen.insert(line.to_owned()) {
                duplicates.push(place.clone());
            }
            let applying = shelf.applying(line);
            for (slug, kind, by) in &applying {
                let found = format!("{place}: {slug} ({by}): {line}");
                if *kind == Kind::Hint { hints.push(found) } else { denials.push(found) }
            }
        }
    }
    assert!(seen.len() >= MIN_QUIET_CALLS, "{} calls", seen.len());
    assert_none(duplicates);
    assert_none(denials);
    let most = seen.len() / QUIET_CALLS_PER_HINT;
    assert!(hints.len() < most, "{} hints in {} calls:\n{}", hints.len(), seen.len(), hints.join("\n"));
}

#[test]
fn the_most_important_reminders_fit_into_a_start() {
    let mut reminders: Vec<Lesson> = shipped()
        .into_iter()
        .filter(|lesson| matches!(lesson.kind, Kind::Directive | Kind::Protocol))
        .collect();
    reminders.sort_by(|one, other| other.priority.cmp(&one.priority).then_with(|| one.slug.cmp(&other.slug)));
    let line = |lesson: &Lesson| format!("- **{}** {}\n", lesson.summary, lesson.solution).len();
    let said: usize = reminders.iter().take(MIN_REMINDERS_SAID).map(line).sum();
    assert!(reminders.len() >= MIN_REMINDERS_SAID, "{}", reminders.len());
    // The heading and the line that says there is more.
    const FRAME: usize = 128;
    let total = OLD_PROTOCOL.len() + FRAME + said;
    assert!(total <= start::MAX_BYTES, "{total} bytes");
}
