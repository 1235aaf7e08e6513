//! What a sentence sounds like: phrases that go with a kind of fact, and how much each counts.
//!
//! A phrase that hardly occurs elsewhere counts for itself; a word that is only frequent in such sentences needs company.
//! Two tables, because a person who says "only" decides and a model that says "only" describes.

use std::sync::LazyLock;

use crate::score::{Category, by_category};
use language::lexicon::{self, LANGUAGES, MODELS, PEOPLE};
use language::{Phrases, folded};

/// A phrase of another language counts for itself.
const FOREIGN_WEIGHT: f64 = 0.7;

/// A normative word of another language needs company.
const NORMATIVE_WEIGHT: f64 = 0.3;

/// So much of a decision beside a rejection makes a decision of both.
const SETTLING: f64 = 0.4;

/// What counts so much names its kind outright.
pub(super) const OUTRIGHT: f64 = 0.7;

/// The kinds of facts, the most specific first: "we have not decided yet" is no decision.
pub(super) const KINDS: [Category; 6] = [
    Category::Open,
    Category::Broken,
    Category::Scope,
    Category::Hack,
    Category::Rejection,
    Category::Decision,
];

/// What a sentence sounds like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sound {
    pub(super) category: Category,
    pub(super) weight: f64,
}

/// What people say.
static OF_PEOPLE: LazyLock<Phrases<(Category, f64)>> = LazyLock::new(|| {
    let foreign = by_category(LANGUAGES).map(|(phrase, category)| (phrase, (category, FOREIGN_WEIGHT)));
    let normative =
        lexicon::list(LANGUAGES, "normative").map(|phrase| (phrase, (Category::Decision, NORMATIVE_WEIGHT)));
    Phrases::new(weighed(PEOPLE).chain(foreign).chain(normative))
});

/// Returns what a person's sentence sounds like.
pub(super) fn of_person(sentence: &str) -> Option<Sound> {
    loudest(&OF_PEOPLE, sentence)
}

/// Returns whether a phrase of a person's sentence says outright what kind of fact it is.
pub(super) fn is_outright(sentence: &str) -> bool {
    OF_PEOPLE.find(&folded(sentence)).iter().any(|hit| hit.label.1 >= OUTRIGHT)
}

/// Returns what a model's sentence sounds like.
pub(super) fn of_model(sentence: &str) -> Option<Sound> {
    static TABLE: LazyLock<Phrases<(Category, f64)>> = LazyLock::new(|| Phrases::new(weighed(MODELS)));
    loudest(&TABLE, sentence)
}

/// Returns the phrases of a file whose headings are a category and a weight: `[decision 0.7]`.
fn weighed(file: &'static str) -> impl Iterator<Item = (&'static str, (Category, f64))> {
    lexicon::weighed(file)
        .filter_map(|(name, phrase, weight)| Some((phrase, (Category::named(name)?, weight))))
}

fn loudest(table: &Phrases<(Category, f64)>, sentence: &str) -> Option<Sound> {
    let hits = table.find(&folded(sentence));
    let sounds = KINDS.map(|category| {
        let (mut weight, mut covered, mut start) = (0.0, 0, usize::MAX);
        for hit in hits.iter().filter(|hit| hit.label.0 == category) {
            // A phrase inside another one has been heard already.
            if hit.start >= covered {
                weight += hit.label.1;
                covered = hit.end;
            }
            if hit.label.1 >= OUTRIGHT {
                start = start.min(hit.start);
            }
        }
        (start, Sound { category, weight })
    });
    let is_specific = |sound: &Sound| !matches!(sound.category, Category::Rejection | Category::Decision);
    // The first explicit cue is what the sentence is about: "we keep it until …" decides, "open is whether we keep
    // it" does not.
    let outright = sounds.iter().filter(|(start, _)| *start < usize::MAX).min_by_key(|(start, _)| *start);
    if let Some((_, sound)) = outright.filter(|(_, sound)| is_specific(sound)) {
        return Some(*sound);
    }
    let [.., (_, rejection), (_, decision)] = sounds;
    let loudest = sounds
        .into_iter()
        .map(|(_, sound)| sound)
        .reduce(|one, two| if two.weight > one.weight { two } else { one })?;
    let settles = loudest.category == Category::Rejection && decision.weight >= SETTLING;
    // A decision that names what it rejects is a decision.
    let sound = if settles { Sound { weight: rejection.weight, ..decision } } else { loudest };
    (sound.weight > 0.0).then_some(sound)
}
