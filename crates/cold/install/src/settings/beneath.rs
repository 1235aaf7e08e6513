//! A settings file beneath what Wyren has in it: an earlier text of the file, with the same entries of ours.

use super::file;
use super::registered::{with_plugin, without_plugin};
use super::{plugin_of, with_hooks, without_hooks};
use crate::jsonc;
use crate::ours::Surroundings;
use base::files;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A text to go back to.
#[derive(Debug, PartialEq, Eq)]
pub struct Beneath {
    /// The earlier text with our entries.
    pub text: String,
    /// The backup of the text that is given up, if there is one.
    pub backup: Option<PathBuf>,
}

/// Returns the text that a file had before an edit, with the entries of ours that it has now. `None` where more than those came
/// since the edit; `is_edited` knows the text that the edit left.
pub fn beneath(
    path: &Path,
    now: &str,
    before: &str,
    is_edited: impl Fn(&str) -> bool,
    around: &Surroundings,
) -> Option<Beneath> {
    let bare = without_plugin(&without_hooks(now, around).ok()?).ok()?;
    if bare == now {
        return None;
    }
    let backups = file::backups(path).into_iter().rev().filter_map(|backup| {
        let text = files::read_text_followed(&backup, files::cap::SHARED).ok()?;
        is_edited(&text).then_some((backup, text))
    });
    let backup = backups.into_iter().next();
    let edited = match &backup {
        Some((_, text)) => text,
        None => Some(&bare).filter(|bare| is_edited(bare))?,
    };
    let is_all_of_us = jsonc::value(&with_ours(edited, now, around)?) == jsonc::value(now);
    let text = with_ours(before, now, around).filter(|_| is_all_of_us)?;
    Some(Beneath { text, backup: backup.map(|(backup, _)| backup) })
}

/// Returns a text with the entries of ours that another one has.
fn with_ours(text: &str, other: &str, around: &Surroundings) -> Option<String> {
    let value = jsonc::value(other)?;
    let marketplace = &value["extraKnownMarketplaces"]["wyren"]["source"]["path"];
    let mut text = text.to_owned();
    if let Value::String(folder) = marketplace {
        text = with_plugin(&text, Path::new(folder)).ok()?;
    }
    match plugin_of(other, around) {
        Some(plugin) => with_hooks(&text, &plugin, around).ok(),
        None => Some(text),
    }
}
