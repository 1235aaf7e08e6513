//! The hooks: have run, without errors.

use super::{Check, Subject};
use crate::commands::log;
use crate::when;
use base::Timestamp;
use base::settings::Settings;
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "hooks";
const DAY_MILLIS: u64 = 86_400_000;

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let settings = Settings::read(subject.env, &subject.paths.hook_settings());
    if !settings.is_on("log.enabled") {
        return Check::odd(
            NAME,
            "the hook log is off, so this cannot be checked",
            "wyren config set log.enabled true",
        );
    }
    let file = subject.paths.hook_log();
    let mut lines = log::read_lines(&base::log::rotated(&file)).unwrap_or_default();
    lines.extend(log::read_lines(&file).unwrap_or_default());
    let lines: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();

    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    // Timestamps of one format sort as text.
    let yesterday = Timestamp::from_millis(subject.now.millis().saturating_sub(DAY_MILLIS)).to_string();
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    for line in &lines {
        last.insert(text(line, "hook"), text(line, "ts"));
        if matches!(line["level"].as_str(), Some("error" | "alert")) && text(line, "ts") >= yesterday {
            *errors.entry(text(line, "hook")).or_default() += 1;
        }
    }
    let Some(newest) = last.values().max() else {
        let message = "no hook has run yet; with the plugin installed, the next session runs them";
        return Check::odd(NAME, message, "claude plugin list");
    };
    if !errors.is_empty() {
        let failed: Vec<String> = errors.iter().map(|(hook, count)| format!("{hook} {count}×")).collect();
        let message = format!("errors in the last 24 hours: {}", failed.join(", "));
        return Check::odd(NAME, message, "wyren log --hooks --level error");
    }
    let newest = newest.parse().map_or_else(|_| newest.clone(), when::local);
    let hooks = if last.len() == 1 { "hook has" } else { "hooks have" };
    Check::good(NAME, format!("{} {hooks} run, most recently at {newest}", last.len()))
}
