//! Tier 0: is a slice worth a model call? Local and free.
//!
//! The first table is that of the Node version with its weights and caps. It is applied to what people and the model said,
//! not to code and output, which have "todo" and "mock" in them on any day. On top comes what it misses: decisions and
//! corrections as people speak them, other languages, tool use, and what extraction by rules finds. Work alone never
//! passes: edits, tests and length add less than the default threshold.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use memory::hygiene;

use crate::extract::{extract, statements};
use crate::slice::{ASKING_TOOLS, Message, Part, Role, Slice};
use language::lexicon::{self, LANGUAGES, TIER0};
use language::{Phrases, folded};

/// The minimum score for a model call, as in the Node version.
pub const DEFAULT_THRESHOLD: u32 = 3;

/// A signal counts at most so many times.
const MAX_COUNTED: u32 = 3;

/// What a person's statement counts that may be a fact: two of them pass.
const STATEMENT_WEIGHT: u32 = 2;

/// How many signs of work count, a point each: fewer than the default threshold has points.
const MAX_WORK: usize = 2;

/// So many edits are a sign of work …
const MANY_EDITS: usize = 5;
/// … so many messages …
const MANY_MESSAGES: usize = 20;
/// … and prompts of so many characters in the mean.
const LONG_PROMPT_CHARS: usize = 200;

/// Between "tried" and "but" lie at most so many bytes.
const TRIED_GAP: usize = 30;

/// Between "leaving" and "broken" lie at most so many bytes.
const LEAVING_GAP: usize = 15;

/// What a signal is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Category {
    Decision,
    Rejection,
    Hack,
    Broken,
    Scope,
    Open,
    Maintenance,
    Weak,
}

impl Category {
    const ALL: [Self; 8] = [
        Self::Decision,
        Self::Rejection,
        Self::Hack,
        Self::Broken,
        Self::Scope,
        Self::Open,
        Self::Maintenance,
        Self::Weak,
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    const fn weight(self) -> u32 {
        match self {
            Self::Decision | Self::Rejection | Self::Hack | Self::Broken => 3,
            Self::Scope | Self::Open | Self::Maintenance => 2,
            Self::Weak => 1,
        }
    }

    /// Returns the weight by who says it: a person who cuts something or leaves it open has settled that.
    const fn weight_said_by(self, role: Role) -> u32 {
        match (self, role) {
            (Self::Scope | Self::Open, Role::User) => Self::Decision.weight(),
            _ => self.weight(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Rejection => "rejection",
            Self::Hack => "hack",
            Self::Broken => "broken",
            Self::Scope => "scope",
            Self::Open => "open",
            Self::Maintenance => "maintenance",
            Self::Weak => "weak",
        }
    }

    /// Returns the name of the signal when it was found in another language.
    const fn foreign_name(self) -> &'static str {
        match self {
            Self::Decision => "decision, other language",
            Self::Rejection => "rejection, other language",
            Self::Hack => "hack, other language",
            Self::Broken => "broken, other language",
            Self::Scope => "scope, other language",
            Self::Open => "open, other language",
            Self::Maintenance => "maintenance, other language",
            Self::Weak => "weak, other language",
        }
    }
}

/// Why a slice has its score: one signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it is a sign of.
    pub category: &'static str,
    /// How often it was found.
    pub count: u32,
    /// What it adds to the score.
    pub points: u32,
    /// The number of the first message it was found in; `None` for what concerns the whole slice.
    pub message: Option<u64>,
}

/// How much a slice promises.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Score {
    pub points: u32,
    /// What it is made of, the weightiest first.
    pub signals: Vec<Signal>,
}

impl Score {
    /// Returns whether the slice is worth a model.
    pub fn passes(&self, threshold: u32) -> bool {
        self.points >= threshold
    }
}

impl fmt::Display for Score {
    /// Writes `7 (decision 2× +6 turn 4, weak 1× +1 turn 9)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.points)?;
        let signals: Vec<String> = self
            .signals
            .iter()
            .map(|signal| {
                let first = signal.message.map(|message| format!(" turn {message}")).unwrap_or_default();
                format!("{} {}× +{}{first}", signal.category, signal.count, signal.points)
            })
            .collect();
        if signals.is_empty() { Ok(()) } else { write!(formatter, " ({})", signals.join(", ")) }
    }
}

/// Returns how much the slice promises, and why.
pub fn score(slice: &Slice) -> Score {
    let mut tally = Tally::default();
    let answered = answered(slice);
    for message in &slice.messages {
        tally.words(message, &answered);
        tally.speech(message);
    }
    tally.structure(slice);
    for message in statements(slice) {
        tally.add("statement", STATEMENT_WEIGHT, message);
    }
    for operation in extract(slice) {
        let message = operation.turns.first().copied().unwrap_or_default();
        tally.add("found by rules", Category::Decision.weight(), message);
    }
    tally.work(slice);
    tally.score()
}

/// The signals so far: how often each was found, its weight, and where first.
#[derive(Default)]
struct Tally {
    counted: BTreeMap<&'static str, (u32, u32, u64)>,
    /// How many tests failed first and passed then.
    green: usize,
    work: Vec<Signal>,
}

impl Tally {
    fn add(&mut self, category: &'static str, weight: u32, message: u64) {
        self.counted.entry(category).or_insert((0, weight, message)).0 += 1;
    }

    /// Counts the words of the Node version in what people and the model said.
    fn words(&mut self, message: &Message, answered: &HashSet<&str>) {
        static PHRASES: LazyLock<Phrases<Category>> = LazyLock::new(|| Phrases::new(by_category(TIER0)));
        let is_of_a_person = message.role == Role::User;
        let spoken = message.parts.iter().filter_map(|part| match part {
            Part::Said(text) | Part::Command(text) | Part::Refused { comment: text, .. } => Some(text),
            Part::Result { id, output, .. } if answered.contains(id.as_str()) => Some(output),
            _ => None,
        });
        let spoken: Vec<_> = spoken.map(|text| hygiene::without_code(text)).collect();
        let text = folded(&spoken.join("\n"));
        for hit in PHRASES.find(&text) {
            // A model says "instead" and "later" in every other reply; a person who does corrects it.
            if hit.label != Category::Weak || is_of_a_person {
                self.add(hit.label.name(), hit.label.weight_said_by(message.role), message.number);
            }
        }
        let follows = |first: &str, gap: usize, second: &[&str]| {
            text.match_indices(first)
                .filter(|(at, _)| {
                    let after = &text.as_bytes()[at + first.len()..];
                    let window = String::from_utf8_lossy(&after[..after.len().min(gap + 8)]).into_owned();
                    second.iter().any(|word| window.contains(word))
                })
                .count()
        };
        for _ in 0..follows("tried ", TRIED_GAP, &[" but ", " and it "]) {
            self.add(Category::Rejection.name(), Category::Rejection.weight(), message.number);
        }
        for _ in 0..follows("leaving ", LEAVING_GAP, &["broken"]) {
            self.add(Category::Broken.name(), Category::Broken.weight(), message.number);
        }
    }

    /// Counts what people say when they decide, in English as it is spoken and in other languages.
    fn speech(&mut self, message: &Message) {
        static SPEECH: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(TIER0, "spoken"));
        static CORRECTIONS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(TIER0, "correction"));
        static FOREIGN: LazyLock<Phrases<Category>> = LazyLock::new(|| Phrases::new(by_category(LANGUAGES)));
        if message.role != Role::User {
            return;
        }
        for text in message.said().map(folded) {
            let mut heard = 0;
            for hit in SPEECH.find(&text) {
                // "go with" in "let's go with" is heard once.
                if hit.start >= heard {
                    self.add("decision, spoken", Category::Decision.weight(), message.number);
                    heard = hit.end;
                }
            }
            for _ in CORRECTIONS.find(&text) {
                self.add("correction", Category::Rejection.weight(), message.number);
            }
            for hit in FOREIGN.find(&text) {
                self.add(hit.label.foreign_name(), hit.label.weight_said_by(Role::User), message.number);
            }
        }
    }

    /// Counts signs of work. Together they are less than the default threshold.
    fn work(&mut self, slice: &Slice) {
        let is_edit = |part: &&Part| matches!(part, Part::Call { name, .. } if matches!(&**name, "Edit" | "Write" | "MultiEdit"));
        let edits = slice.messages.iter().flat_map(|message| &message.parts).filter(is_edit).count();
        let prompts = slice.messages.iter().filter(|message| message.is_of_a_person());
        let lengths: Vec<usize> =
            prompts.map(|message| message.said().map(|text| text.chars().count()).sum()).collect();
        let is_wordy =
            !lengths.is_empty() && lengths.iter().sum::<usize>() / lengths.len() > LONG_PROMPT_CHARS;
        let signs = [
            ("test turned green", self.green, self.green > 0),
            ("edits", edits, edits >= MANY_EDITS),
            ("length", slice.messages.len(), slice.messages.len() >= MANY_MESSAGES),
            ("long prompts", lengths.len(), is_wordy),
        ];
        for (category, count, _) in signs.into_iter().filter(|(.., is_seen)| *is_seen).take(MAX_WORK) {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            self.work.push(Signal { category, count, points: 1, message: None });
        }
    }

    /// Counts what the tools show: a plan accepted, an approach taken back, a test that came right. Refused calls show nothing.
    fn structure(&mut self, slice: &Slice) {
        let mut calls: HashMap<&str, (&str, &str)> = HashMap::new();
        let mut red_since: Option<u64> = None;
        for message in &slice.messages {
            for part in &message.parts {
                match part {
                    Part::Call { id, name, input } => {
                        if is_taking_back(name, input) {
                            self.add("approach reverted", Category::Rejection.weight(), message.number);
                        }
                        calls.insert(id, (name, input));
                    }
                    Part::Result { id, is_error, output } => {
                        let Some((name, input)) = calls.get(id.as_str()) else { continue };
                        if *name == "ExitPlanMode" && !is_error {
                            self.add("plan accepted", Category::Decision.weight(), message.number);
                        }
                        if is_test(name, input) {
                            match (has_failed(*is_error, output), red_since) {
                                (true, _) => red_since = Some(message.number),
                                (false, Some(_)) => {
                                    self.green += 1;
                                    red_since = None;
                                }
                                (false, None) => {}
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn score(self) -> Score {
        let counted = self.counted.into_iter().map(|(category, (count, weight, message))| Signal {
            category,
            count,
            points: count.min(MAX_COUNTED) * weight,
            message: Some(message),
        });
        let mut signals: Vec<Signal> = counted.chain(self.work).collect();
        signals.sort_by(|one, two| two.points.cmp(&one.points).then(one.category.cmp(two.category)));
        Score { points: signals.iter().map(|signal| signal.points).sum(), signals }
    }
}

/// Returns the calls by whose results a person speaks.
fn answered(slice: &Slice) -> HashSet<&str> {
    let parts = slice.messages.iter().flat_map(|message| &message.parts);
    let calls = parts.filter_map(|part| match part {
        Part::Call { id, name, .. } if ASKING_TOOLS.contains(&name.as_str()) => Some(id.as_str()),
        _ => None,
    });
    calls.collect()
}

/// Returns the phrases of a file that stand under the name of a category.
pub(crate) fn by_category(file: &'static str) -> impl Iterator<Item = (&'static str, Category)> {
    lexicon::phrases(file).filter_map(|(heading, phrase)| Some((phrase, Category::named(heading)?)))
}

fn is_taking_back(name: &str, input: &str) -> bool {
    const TAKING_BACK: &[&str] = &["git revert", "git checkout -- ", "git restore ", "git reset --hard"];
    name == "Bash" && TAKING_BACK.iter().any(|command| input.contains(command))
}

fn is_test(name: &str, input: &str) -> bool {
    const TESTS: &[&str] = &[
        "cargo test",
        "cargo nextest",
        "npm test",
        "npm run test",
        "pnpm test",
        "yarn test",
        "jest",
        "vitest",
        "pytest",
        "go test",
        "mvn test",
        "gradle test",
        "rspec",
        "phpunit",
        "dotnet test",
        "ctest",
        "make test",
        "dbt test",
        "mix test",
        "swift test",
    ];
    name == "Bash" && TESTS.iter().any(|command| input.contains(command))
}

fn has_failed(is_error: bool, output: &str) -> bool {
    let output = output.to_lowercase();
    let says_so = ["failed", "failures:", "error:"].iter().any(|word| output.contains(word));
    is_error || says_so && !output.contains(" 0 failed")
}
