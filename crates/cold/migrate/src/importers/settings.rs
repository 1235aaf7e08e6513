//! Settings of an earlier system that have a counterpart here, where they are not at their defaults.

use super::{Importer, Look, lessons};
use crate::act::{Done, Report};
use crate::journal::{Journal, Step};
use crate::{Around, Error, Result, find};
use base::digest;
use base::settings::key;
use config::{Config, Source};
use serde_json::Value;
use std::path::Path;

/// Its name, and ours.
pub(super) type Pair = (&'static str, &'static str);

const OF_LESSONS_LEARNED: [Pair; 13] = [
    ("injectionBudgetBytes", "lessons.max_bytes"),
    ("maxLessonsPerInjection", "lessons.max_per_call"),
    ("minConfidence", "lessons.min_confidence"),
    ("minPriority", "lessons.min_priority"),
    ("compactionReinjectionThreshold", "lessons.returning_priority"),
    ("autoScanIntervalHours", "lessons.scan_interval_hours"),
    ("scanPaths", "lessons.scan_paths"),
    ("maxCandidatesPerScan", "lessons.max_candidates"),
    ("scoring/multiSessionBonus", "lessons.score_sessions"),
    ("scoring/multiProjectBonus", "lessons.score_projects"),
    ("scoring/hangTimeoutBonus", "lessons.score_hang"),
    ("scoring/userCorrectionBonus", "lessons.score_correction"),
    ("scoring/singleOccurrencePenalty", "lessons.score_single"),
];

/// The default of `scanPaths`: what we scan without being told.
const OLD_SCAN_PATH: &str = "~/.claude/projects/";

pub(crate) const LESSONS_LEARNED: Importer = Importer {
    what: "settings",
    sources: |around| {
        let named = around.folder_in("LESSONS_CONFIG_PATH");
        let folders = lessons::data_folders(around);
        let files = named.into_iter().chain(folders.iter().map(|folder| folder.join("config.json")));
        files.filter(|file| file.is_file()).take(1).collect()
    },
    look: |around, source| Ok(look(&wanted(around, source, &OF_LESSONS_LEARNED))),
    import: |around, source, journal, report| {
        import(around, &wanted(around, source, &OF_LESSONS_LEARNED), journal, report)
    },
};

/// Returns the values that differ from the defaults, where the user has none of their own yet.
pub(super) fn wanted(around: &Around, source: &Path, pairs: &[Pair]) -> Vec<(&'static str, String)> {
    let values = find::json(source).unwrap_or_default();
    // The environment names values for one shell; what counts is the file.
    let present = Config::load(&base::Env::fixed::<String, String>([]), &around.paths);
    let mut wanted = Vec::new();
    for (theirs, ours) in pairs {
        let value = match values.pointer(&format!("/{theirs}")) {
            Some(Value::String(text)) => text.trim().to_owned(),
            // What is taken off is a negative number there.
            Some(Value::Number(number)) if theirs.ends_with("Penalty") => {
                number.to_string().trim_start_matches('-').to_owned()
            }
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Array(list)) => {
                let parts = list.iter().filter_map(Value::as_str).filter(|part| *part != OLD_SCAN_PATH);
                parts.collect::<Vec<_>>().join(",")
            }
            _ => continue,
        };
        let is_unset = present.get(ours).is_ok_and(|setting| setting.source == Source::Default);
        let checked = key(ours).and_then(|key| key.check(&value).ok().filter(|value| value != key.default));
        if let Some(value) = checked.filter(|value| is_unset && !value.is_empty()) {
            wanted.push((*ours, value));
        }
    }
    wanted
}

pub(super) fn look(wanted: &[(&'static str, String)]) -> Look {
    let remarks = wanted.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    Look { new: wanted.len(), all: wanted.len(), remarks }
}

pub(super) fn import(
    around: &Around,
    wanted: &[(&'static str, String)],
    journal: &mut Journal,
    report: &mut Report<'_>,
) -> Result<Look> {
    if !wanted.is_empty() {
        let path = around.paths.config_file();
        let before = install::settings::file::read(&path)?;
        let values: Vec<(&str, Option<&str>)> =
            wanted.iter().map(|(name, value)| (*name, Some(value.as_str()))).collect();
        let after = config::text_with(&around.paths, &values)?;
        let digest = digest::sha256_hex(after.as_bytes());
        let values = wanted.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        journal.record(Step::Config { before, after: digest, values })?;
        report(Done::Recorded).map_err(Error::Stopped)?;
        config::replace(&around.paths, Some(&after))?;
    }
    Ok(look(wanted))
}
