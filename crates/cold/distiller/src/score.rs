//! Tier 0: is a slice worth a model call? Local and free.
//!
//! The first table is that of the Node version with its weights and caps, applied to the rendered slice, so that an old
//! threshold keeps its meaning. On top comes what it misses: decisions as people speak them, other languages, tool use.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::LazyLock;

use crate::lexicon::{self, LANGUAGES, TIER0};
use crate::phrases::{Phrases, folded};
use crate::slice::{Message, Part, Role, Slice};

/// The minimum score for a model call, as in the Node version.
pub const DEFAULT_THRESHOLD: u32 = 3;

/// A signal counts at most so many times.
const MAX_COUNTED: u32 = 3;

/// What one edit of a file counts, and all of them at most.
const EDIT_POINTS: u32 = 4;
const MAX_EDIT_POINTS: u32 = 16;

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
    for message in &slice.messages {
        tally.words(message);
        tally.speech(message);
    }
    tally.volume(slice);
    tally.structure(slice);
    tally.score()
}

/// The signals so far: how often each was found, its weight, and where first.
#[derive(Default)]
struct Tally {
    counted: BTreeMap<&'static str, (u32, u32, u64)>,
    fixed: Vec<Signal>,
}

impl Tally {
    fn add(&mut self, category: &'static str, weight: u32, message: u64) {
        self.counted.entry(category).or_insert((0, weight, message)).0 += 1;
    }

    /// Counts the words of the Node version in the rendered slice.
    fn words(&mut self, message: &Message) {
        static PHRASES: LazyLock<Phrases<Category>> = LazyLock::new(|| Phrases::new(by_category(TIER0)));
        let Some(text) = message.render().map(|text| folded(&text)) else { return };
        for hit in PHRASES.find(&text) {
            self.add(hit.label.name(), hit.label.weight(), message.number);
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
            for hit in FOREIGN.find(&text) {
                self.add(hit.label.foreign_name(), hit.label.weight(), message.number);
            }
        }
    }

    fn fix(&mut self, category: &'static str, count: usize, points: u32, message: Option<u64>) {
        if points > 0 {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            self.fixed.push(Signal { category, count, points, message });
        }
    }

    /// Counts the edits and the size of the slice, as the Node version does.
    fn volume(&mut self, slice: &Slice) {
        let is_edit = |part: &Part| matches!(part, Part::Call { name, .. } if matches!(&**name, "Edit" | "Write" | "MultiEdit"));
        let edits: usize = slice
            .messages
            .iter()
            .map(|message| message.parts.iter().filter(|part| is_edit(part)).count())
            .sum();
        let points =
            u32::try_from(edits).unwrap_or(u32::MAX).saturating_mul(EDIT_POINTS).min(MAX_EDIT_POINTS);
        self.fix("edits", edits, points, None);

        let volume = &slice.volume;
        let length = 2 * u32::from(volume.records >= 10) + 2 * u32::from(volume.records >= 20);
        self.fix("length", volume.records, length, None);
        let is_wordy = volume.user_records > 0 && volume.user_chars / volume.user_records > 200;
        self.fix("long prompts", volume.user_records, 2 * u32::from(is_wordy), None);
        let edits = volume.edit_records;
        let points = 2 * u32::from(edits >= 2) + 3 * u32::from(edits >= 5) + 3 * u32::from(edits >= 10);
        self.fix("editing", edits, points, None);
    }

    /// Counts what the tools show: a plan accepted, an approach taken back, a test that came right.
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
                                    self.add("test turned green", Category::Scope.weight(), message.number);
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
        let mut signals: Vec<Signal> = counted.chain(self.fixed).collect();
        signals.sort_by(|one, two| two.points.cmp(&one.points).then(one.category.cmp(two.category)));
        Score { points: signals.iter().map(|signal| signal.points).sum(), signals }
    }
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
