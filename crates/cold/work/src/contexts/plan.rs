//! Recognises a plan in a prompt: the client pastes an accepted plan, sometimes with words around it.

pub use capture::plan::{digest, normalised};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The most headings that a plan is recognised by.
const MOST_ANCHORS: usize = 5;
/// The longest and the shortest of them, in characters.
const MAX_ANCHOR_CHARS: usize = 80;
const MIN_ANCHOR_CHARS: usize = 4;
/// A line before the first heading counts as one when it is longer.
const MIN_LINE_CHARS: usize = 21;
/// How many headings a prompt must have.
const LEAST_ANCHORS: usize = 2;
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
        if !self.digest.is_empty() && self.digest == prompt.digest {
            return Some(Tier::Digest);
        }
        let found = self.anchors.iter().filter(|anchor| prompt.text.contains(&***anchor)).count();
        if found >= LEAST_ANCHORS && found >= self.anchors.len() / 2 {
            return Some(Tier::Anchors);
        }
        let is_long = self.signature.chars().count() >= MIN_SIGNATURE_CHARS;
        (is_long && prompt.start.contains(&self.signature)).then_some(Tier::Signature)
    }
}

/// A prompt that may carry a plan.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    text: &'a str,
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
        Self { text, id: id_in(text), digest: digest(text), normalised, start }
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
        let heading = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
        let anchor: Cow<'_, str> = match heading {
            Some(heading) => {
                has_heading = true;
                heading.chars().take(MAX_ANCHOR_CHARS).collect::<String>().trim_end().to_owned().into()
            }
            None if !has_heading && anchors.is_empty() && line.chars().count() >= MIN_LINE_CHARS => {
                line.chars().take(MAX_ANCHOR_CHARS).collect::<String>().into()
            }
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
    }
}
