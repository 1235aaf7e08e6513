//! Commands of remote systems: what destroys is answered, everyday work goes through without a word.

use hook::Platform;
use lessons::call::Call;
use lessons::index::{self, Fingerprint, Index};
use lessons::trigger::{Simple, Verdict};
use lessons::{Kind, Lesson, format};
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};

const DOMAINS: [&str; 10] = [
    "backup",
    "cloud",
    "containers",
    "forge",
    "infrastructure",
    "kubernetes",
    "registries",
    "secrets",
    "services",
    "transfer",
];
/// The least part of the commands of a domain that a lesson must answer, in percent.
const MIN_ANSWERED: usize = 85;
/// Of the ordinary commands of a domain, one in this many may get a hint.
const QUIET_PER_HINT: usize = 50;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

struct Shelf {
    lessons: Vec<Lesson>,
    index: Index<Vec<u8>>,
}

impl Shelf {
    fn open() -> Self {
        let mut lessons = Vec::new();
        for entry in fs::read_dir(repository().join("lessons")).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|ending| ending == "md") {
                let slug = file.file_stem().unwrap().to_str().unwrap();
                lessons.push(format::parse(slug, &fs::read_to_string(&file).unwrap()).unwrap());
            }
        }
        let (bytes, _) = index::build(&lessons, Fingerprint(1));
        Self { lessons, index: Index::new(bytes).unwrap() }
    }

    /// Returns the lessons that apply to a command.
    fn applying(&self, command: &str) -> Vec<&Lesson> {
        let input = RawValue::from_string(serde_json::json!({ "command": command }).to_string()).unwrap();
        let call = Call::read("Bash", Some(&input), Platform::ClaudeCode, Path::new("/home/dev/app"));
        let commands = shell::commands(command);
        let simples = Simple::all(&commands);
        let numbers = self.index.candidates(&call, &simples).unwrap();
        let entries = numbers.into_iter().map(|number| self.index.entry(number).unwrap());
        let applies =
            |entry: &index::Entry<'_>| matches!(entry.judge(&call, &simples), Verdict::Applies { .. });
        let lesson = |entry: index::Entry<'_>| self.lessons.iter().find(|lesson| lesson.slug == entry.slug);
        entries.filter(applies).filter_map(lesson).collect()
    }
}

/// Reads the commands of a domain: one per line, `\n` is a line end, `\\` a backslash.
fn commands(folder: &str, domain: &str) -> Vec<String> {
    let file = repository().join(format!("tests/data/commands/{folder}/{domain}.txt"));
    let text = fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("could not read {}: {error}", file.display()));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\")).collect()
}

#[test]
fn what_destroys_something_remote_is_answered() {
    let shelf = Shelf::open();
    let mut flaws = Vec::new();
    for domain in DOMAINS {
        let all = commands("answered", domain);
        let silent: Vec<&String> = all.iter().filter(|command| shelf.applying(command).is_empty()).collect();
        let answered = all.len() - silent.len();
        if answered * 100 < all.len() * MIN_ANSWERED {
            flaws.push(format!("{domain}: {answered} of {} answered, not {silent:#?}", all.len()));
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn everyday_work_with_remote_systems_stays_quiet() {
    let shelf = Shelf::open();
    let (mut denials, mut flaws) = (Vec::new(), Vec::new());
    for domain in DOMAINS {
        let all = commands("quiet", domain);
        let mut hints = 0;
        for command in &all {
            for lesson in shelf.applying(command) {
                let found = format!("{domain}: {}: {command}", lesson.slug);
                if lesson.kind == Kind::Hint { hints += 1 } else { denials.push(found) }
            }
        }
        if hints * QUIET_PER_HINT > all.len() {
            flaws.push(format!("{domain}: {hints} hints in {} commands", all.len()));
        }
    }
    assert!(denials.is_empty(), "{}", denials.join("\n"));
    assert!(flaws.is_empty(), "{flaws:?}");
}
