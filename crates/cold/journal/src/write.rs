//! What a person adds to the journal: entries of their own, and changes of entries. Both are observations, and go through the
//! spool as what hooks record does: cut, without private parts and secrets, and safe once it is appended.

use crate::id::entry_id;
use crate::why::patch::CUT_BEGIN;
use base::project::Repository;
use base::{Timestamp, digest};
use capture::{CLAUDE_CODE, Data, Kept, Observation, Spool, shrink};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use text::{privacy, sanitize};

/// The platform of what was added outside of any session.
pub const BY_HAND: &str = "by-hand";
/// The longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 160;
/// How every mark in the place of a secret begins.
const MARK: &str = "[redacted:";

/// Where an observation of a person's belongs.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    platform: &'a str,
    session: Cow<'a, str>,
    cwd: &'a Path,
}

impl<'a> Place<'a> {
    /// A session of the client.
    pub fn in_session(session: &'a str, cwd: &'a Path) -> Self {
        Self { platform: CLAUDE_CODE, session: session.into(), cwd }
    }

    /// Outside of any session: what is added there has one for each project.
    pub fn by_hand(project: &str, cwd: &'a Path) -> Self {
        let session = format!("{BY_HAND}-{}", digest::short_hex(project.as_bytes()));
        Self { platform: BY_HAND, session: session.into(), cwd }
    }

    /// Appends an observation; returns its id.
    fn append(
        &self,
        spool: &Spool,
        kind: &'static str,
        prefix: char,
        data: &impl Serialize,
        now: Timestamp,
    ) -> Result<String, capture::Error> {
        let data = serde_json::value::to_raw_value(data)?;
        let id = unique_id(prefix, now);
        let data = Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(data) });
        let observation = Observation {
            platform: Some(self.platform.into()),
            cwd: self.cwd.to_string_lossy(),
            ..Observation::new(&self.session, &*id, now.millis(), data)
        };
        spool.append(&observation)?;
        Ok(id)
    }
}

/// Returns an id that no other process has at this moment, and this one only once.
fn unique_id(prefix: char, now: Timestamp) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}:{}-{}-{number}", now.millis(), std::process::id())
}

/// Why a text cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// All of it is marked as private.
    Private,
    /// There is none.
    Empty,
}

/// A text as an entry holds it: without what is private and secret, its first line as the title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub title: String,
    pub narrative: String,
    /// How many secrets were taken out.
    pub secrets: usize,
    /// Whether a private part was left out.
    pub has_private: bool,
    /// Whether it was too long, so that a part in its middle was left out.
    pub is_shortened: bool,
}

impl Words {
    pub fn of(text: &str) -> Result<Self, Unfit> {
        let public = privacy::strip(text);
        if public.wholly_private {
            return Err(Unfit::Private);
        }
        let kept = shrink::text(text);
        let kept = kept.trim();
        if sanitize::one_line(kept, 1).is_empty() {
            return Err(Unfit::Empty);
        }
        let marks = |text: &str| text.matches(MARK).count();
        let (first, rest) = kept.split_once('\n').unwrap_or((kept, ""));
        let title = sanitize::one_line(first, MAX_TITLE_CHARS);
        // What does not fit into the title is in the text, from its beginning.
        let is_cut = first.trim().chars().count() > MAX_TITLE_CHARS;
        Ok(Self {
            title,
            narrative: if is_cut { kept } else { rest.trim() }.to_owned(),
            secrets: marks(kept).saturating_sub(marks(&public.text)),
            has_private: privacy::strip_private(text).len() != text.len(),
            is_shortened: kept.contains(CUT_BEGIN) && !text.contains(CUT_BEGIN),
        })
    }
}

/// Something to be remembered.
#[derive(Clone, Debug, Default)]
pub struct Note<'a> {
    pub kind: &'a str,
    pub words: Words,
    /// Relative to the project's root, with `/`.
    pub files: &'a [String],
    pub is_pinned: bool,
    /// Whether a model had it remembered.
    pub is_by_model: bool,
}

/// Has something remembered; returns the id of the entry that becomes of it.
pub fn remember(
    spool: &Spool,
    place: &Place<'_>,
    note: &Note<'_>,
    now: Timestamp,
) -> Result<String, capture::Error> {
    #[derive(Serialize)]
    struct Given<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
        title: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        narrative: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files_read: Vec<Cow<'a, str>>,
        source: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pinned: bool,
    }
    let given = Given {
        kind: note.kind,
        title: &note.words.title,
        narrative: &note.words.narrative,
        files_read: note.files.iter().map(|file| shrink::text(file)).collect(),
        source: BY_HAND,
        by: note.is_by_model.then_some("model"),
        branch: Repository::above(place.cwd).and_then(|repository| repository.branch()),
        pinned: note.is_pinned,
    };
    let id = place.append(spool, "entry", 'n', &given, now)?;
    Ok(entry_id(place.platform, &place.session, "entry", &id))
}

/// What changes about an entry; `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amendment {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Changes an entry. What is given is kept without what is private and secret.
pub fn amend(
    spool: &Spool,
    place: &Place<'_>,
    entry: &str,
    change: &Amendment,
    now: Timestamp,
) -> Result<(), capture::Error> {
    #[derive(Serialize)]
    struct Amend<'a> {
        entry: &'a str,
        #[serde(flatten)]
        change: Amendment,
    }
    let kept = |text: &Option<String>| text.as_deref().map(|text| shrink::text(text).into_owned());
    let change = Amendment {
        pinned: change.pinned,
        title: kept(&change.title),
        kind: kept(&change.kind),
        text: kept(&change.text),
    };
    place.append(spool, "amend", 'a', &Amend { entry, change }, now).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_title_and_no_word_is_lost() {
        let words = Words::of("\n Prices are cents \n\nSince the invoice bug.\n").unwrap();
        assert_eq!((&*words.title, &*words.narrative), ("Prices are cents", "Since the invoice bug."));
        let long = "word ".repeat(60);
        let words = Words::of(&long).unwrap();
        assert_eq!(words.title.chars().count(), MAX_TITLE_CHARS);
        assert_eq!(words.narrative, long.trim());
    }

    #[test]
    fn what_is_private_or_secret_is_left_out_and_counted() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let words = Words::of(&format!("use {token}\n<private>not this</private>but this")).unwrap();
        assert_eq!((&*words.title, &*words.narrative), ("use [redacted:github]", "but this"));
        assert_eq!((words.secrets, words.has_private), (1, true));
        assert_eq!(Words::of("<private>all of it</private>"), Err(Unfit::Private));
        for nothing in ["", " \n\t", "\u{200b}"] {
            assert_eq!(Words::of(nothing), Err(Unfit::Empty), "{nothing:?}");
        }
    }
}
