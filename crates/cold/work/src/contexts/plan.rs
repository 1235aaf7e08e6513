//! Recognises a plan in a prompt: the client pastes an accepted plan, sometimes with words around it.

pub use capture::plan::{digest, normalised};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The most headings that a plan is recognised by.
const MOST_ANCHORS: usize = 5;
/// The longest and the shortest of them, in characters.
const MAX_ANCHOR_CHARS: usize = 80;
const MIN_ANCHOR_CHARS: usize = 4;
/// A line before the first heading counts as one when it is longer.
const MIN_LINE_CHARS: usize = 21;
/// How many headings a prompt must have.
const LEAST_ANCHORS: usize = 2;
/// How many words one of them must have that are not in [`TEMPLATE`].
const LEAST_TELLING_WORDS: usize = 2;
/// The words of headings that any plan may have.
const TEMPLATE: &str = " a acceptance affected after all an and approach assumption assumptions background before change changes \
code context criteria critical current decision decisions deliverables design detail details edge cases existing feature file \
files fix fixes for future goal goals how implement implementation in key known list milestone milestones modified modify \
motivation new next non note notes objective objectives of on open order out overview part phase phases plan planned problem \
proposal proposed questions reference references requirement requirements result results review risk risks rollout root cause \
scope section solution stage stages state status step steps strategy success summary task tasks test tests testing the to todo \
update updated validation verification verify what why with work ";
/// How much of a plan's beginning is kept, and how far into a prompt it is looked for, in characters.
const SIGNATURE_CHARS: usize = 200;
const SIGNATURE_WITHIN: usize = 500;
/// A shorter plan is not recognised by its beginning: it could be any text.
const MIN_SIGNATURE_CHARS: usize = 20;
/// The comment that names a plan.
const ID_MARK: &str = "plan-id:";

/// What a plan is recognised by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// What the plan calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// See [`digest`].
    #[serde(default)]
    pub digest: String,
    /// Its headings.
    #[serde(default)]
    pub anchors: Vec<String>,
    /// Its beginning, normalised.
    #[serde(default)]
    pub signature: String,
}

/// How a prompt was found to carry a plan, surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Id,
    Digest,
    Anchors,
    Signature,
}

impl Marks {
    /// Returns what a plan is recognised by.
    pub fn of(plan: &str) -> Self {
        Self {
            id: id_in(plan),
            digest: digest(plan),
            anchors: anchors(plan),
            signature: normalised(plan).chars().take(SIGNATURE_CHARS).collect(),
        }
    }

    /// Returns how this prompt carries the plan, if it does.
    pub fn find_in(&self, prompt: &Prompt<'_>) -> Option<Tier> {
        if self.id.is_some() && self.id == prompt.id {
            return Some(Tier::Id);
        }
        if !prompt.normalised.is_empty() && self.digest == prompt.digest {
            return Some(Tier::Digest);
        }
        if self.has_anchors_in(prompt) {
            return Some(Tier::Anchors);
        }
        let is_long = self.signature.chars().count() >= MIN_SIGNATURE_CHARS;
        (is_long && prompt.start.contains(&self.signature)).then_some(Tier::Signature)
    }

    /// Says whether a prompt has the plan's title and enough of its other headings, each on a line of its own. Plans that are made
    /// after one template share all headings but the title.
    fn has_anchors_in(&self, prompt: &Prompt<'_>) -> bool {
        let found: Vec<&String> =
            self.anchors.iter().filter(|anchor| prompt.lines.contains(&***anchor)).collect();
        found.len() >= LEAST_ANCHORS
            && found.len() >= self.anchors.len() / 2
            && found.first() == self.anchors.first().as_ref()
            && found.iter().any(|anchor| telling_words(anchor) >= LEAST_TELLING_WORDS)
    }
}

/// Returns how many words of a heading say what a plan is about.
fn telling_words(anchor: &str) -> usize {
    let lower = anchor.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| {
        !word.is_empty()
            && !word.bytes().all(|byte| byte.is_ascii_digit())
            && !TEMPLATE.contains(&format!(" {word} "))
    });
    words.count()
}

/// A prompt that may carry a plan.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    /// Its lines, as anchors would be made of them.
    lines: BTreeSet<Cow<'a, str>>,
    id: Option<String>,
    digest: String,
    /// All of it, and its beginning, without tags and with single blanks.
    normalised: String,
    start: String,
}

impl<'a> Prompt<'a> {
    pub fn new(text: &'a str) -> Self {
        let normalised = normalised(text);
        let start = normalised.chars().take(SIGNATURE_WITHIN).collect();
        let lines = text.lines().map(|line| heading(line).unwrap_or(line.trim())).map(cut).collect();
        Self { lines, id: id_in(text), digest: digest(text), normalised, start }
    }

    /// Says whether all of a plan is in the prompt.
    pub fn has_all_of(&self, plan: &str) -> bool {
        self.normalised.contains(&normalised(plan))
    }
}

fn id_in(text: &str) -> Option<String> {
    text.match_indices("<!--").find_map(|(at, open)| {
        let inside = text[at + open.len()..].trim_start().strip_prefix(ID_MARK)?;
        let id: String = inside.trim_start().chars().take_while(char::is_ascii_hexdigit).collect();
        (!id.is_empty()).then(|| id.to_lowercase())
    })
}

fn anchors(plan: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut has_heading = false;
    for line in plan.lines().map(str::trim) {
        let anchor = match heading(line) {
            Some(heading) => {
                has_heading = true;
                cut(heading)
            }
            None if !has_heading && anchors.is_empty() && line.chars().count() >= MIN_LINE_CHARS => cut(line),
            None => continue,
        };
        if anchor.chars().count() >= MIN_ANCHOR_CHARS {
            anchors.push(anchor.into_owned());
        }
        if anchors.len() == MOST_ANCHORS {
            break;
        }
    }
    anchors
}

/// Returns the words of a heading.
fn heading(line: &str) -> Option<&str> {
    line.trim().strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim())
}

fn cut(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(MAX_ANCHOR_CHARS) {
        Some((end, _)) => line[..end].trim_end().into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str =
        "# Move the parser\n\nWe move it.\n\n## Steps\n\n1. cut\n2. paste\n\n## Verification\n\nRun it.\n";

    fn tier(plan: &str, prompt: &str) -> Option<Tier> {
        Marks::of(plan).find_in(&Prompt::new(prompt))
    }

    #[test]
    fn line_11_each_of_the_four_tiers_can_succeed() {
        let named = format!("<!-- plan-id: 3FA9 -->\n{PLAN}");
        assert_eq!(tier(&named, "Do this: <!-- plan-id: 3fa9 --> but differently"), Some(Tier::Id));
        assert_eq!(tier(PLAN, &PLAN.replace('\n', "\r\n  ")), Some(Tier::Digest));
        let edited = "Please:\n# Move the parser\n(now)\n## Steps\n1. copy";
        assert_eq!(tier(PLAN, edited), Some(Tier::Anchors));
        let plain = "first cut the parser out of the importer\nthen paste it into its own crate";
        assert_eq!(
            tier(plain, &format!("Implement the following plan: {plain}\n\nThanks!")),
            Some(Tier::Signature)
        );
    }

    #[test]
    fn another_text_carries_no_plan() {
        for prompt in ["", "fix the parser", "# Move the parser", "## Steps\nmine", "<!-- plan-id: 77 -->"] {
            assert_eq!(tier(PLAN, prompt), None, "{prompt}");
        }
        assert_eq!(tier("", "anything"), None);
        assert_eq!(tier("do it", "do it now"), None);
        assert_eq!(tier("<plan></plan>", "<notes></notes>"), None);
    }

    #[test]
    fn a_plan_of_the_same_template_is_another_plan() {
        let of = |title: &str| {
            format!(
                "# {title}\n\n## Context\n\nIt is slow.\n\n## Steps\n\n1. do it\n\n## Files to modify\n\n- a\n\n## Verification\n\nTry.\n"
            )
        };
        let plan = of("Cache the tax rates per region");
        for other in [
            of("Rename the login form"),
            of("Cache"),
            // Its headings are words like any others here.
            "Give me the Context first, list the Steps, and say how Verification of the Cache the tax rates per region works".to_owned(),
            "## Context\nours\n## Steps\nours\n## Verification\nours".to_owned(),
        ] {
            assert_eq!(tier(&plan, &other), None, "{other}");
        }
        for generic in ["Plan", "Implementation plan", "Context", "Phase 1"] {
            let mine = of(generic);
            assert_eq!(tier(&mine, &mine.replace("It is slow.", "It fails.")), None, "{generic}");
        }
        let edited = plan.replace("1. do it", "1. do it by hand").replace("It is slow.", "It fails.");
        assert_eq!(tier(&plan, &edited), Some(Tier::Anchors));
        let first = "We cache the rates of every region, since they hardly change.\n## Steps\n- do it\n";
        let edited = format!("Do this:\n{}", first.replace("- do it", "- do less"));
        assert_eq!(
            tier(first, &format!("{}{edited}", "So much before it. ".repeat(40))),
            Some(Tier::Anchors)
        );
    }
}
