//! claude-mem: its records, and those of its settings that have a counterpart here.

use super::settings::{self, Pair};
use super::{Importer, Look};
use crate::act::{Done, Report};
use crate::journal::{Journal, Step};
use crate::{Around, Error, Result, find};
use base::settings::{KEYS, Settings, Variable};
use capture::{Rules, Spool};
use serde_json::Value;
use std::path::{Path, PathBuf};
use store::claude_mem::{self, Import};

const DATABASE: &str = "claude-mem.db";
const SETTINGS: &str = "settings.json";
/// What the names of its settings begin with.
const PREFIX: &str = "CLAUDE_MEM_";

/// Before its records: what was kept out of them stays out.
pub(crate) const OF_SETTINGS: Importer = Importer {
    what: "settings",
    sources: |around| file(around, SETTINGS),
    look: |around, source| Ok(look_at_settings(around, source)),
    import: |around, source, journal, report| {
        settings::import(around, &wanted(around, source), journal, report)?;
        Ok(look_at_settings(around, source))
    },
};

pub(crate) const OF_RECORDS: Importer =
    Importer { what: "records", sources: |around| file(around, DATABASE), look, import };

/// Returns the folder of claude-mem's records.
pub(crate) fn folder(around: &Around) -> Option<PathBuf> {
    let named = around.folder_in("CLAUDE_MEM_DATA_DIR");
    let folder = named.or_else(|| around.home().map(|home| home.join(".claude-mem")))?;
    [DATABASE, SETTINGS].iter().any(|name| folder.join(name).is_file()).then_some(folder)
}

/// Returns a file of it that has something in it.
fn file(around: &Around, name: &str) -> Vec<PathBuf> {
    let file = folder(around).map(|folder| folder.join(name));
    let is_filled = |file: &PathBuf| file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0);
    file.into_iter().filter(is_filled).collect()
}

/// Its settings with their defaults. It writes all of them into its file, so that only another value is the user's.
const DEFAULTS: [(&str, &str); 49] = [
    ("CLAUDE_MEM_MODEL", "claude-haiku-4-5-20251001"),
    ("CLAUDE_MEM_PROVIDER", "claude"),
    ("CLAUDE_MEM_CLAUDE_AUTH_METHOD", "subscription"),
    ("CLAUDE_CODE_PATH", ""),
    ("CLAUDE_MEM_MODE", "code"),
    ("CLAUDE_MEM_SKIP_TOOLS", "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion"),
    ("CLAUDE_MEM_EXCLUDED_PROJECTS", ""),
    ("CLAUDE_MEM_MAX_CONCURRENT_AGENTS", "2"),
    ("CLAUDE_MEM_HOOK_FAIL_LOUD_THRESHOLD", "3"),
    ("CLAUDE_MEM_WORKER_HOST", "127.0.0.1"),
    ("CLAUDE_MEM_API_TIMEOUT_MS", "30000"),
    ("CLAUDE_MEM_LOG_LEVEL", "INFO"),
    ("CLAUDE_MEM_PYTHON_VERSION", "3.13"),
    ("CLAUDE_MEM_RUNTIME", "worker"),
    ("CLAUDE_MEM_QUEUE_ENGINE", "sqlite"),
    ("CLAUDE_MEM_AUTH_MODE", "api-key"),
    ("CLAUDE_MEM_GEMINI_MODEL", "gemini-flash-latest"),
    ("CLAUDE_MEM_GEMINI_RATE_LIMITING_ENABLED", "true"),
    ("CLAUDE_MEM_OPENROUTER_MODEL", "xiaomi/mimo-v2-flash:free"),
    ("CLAUDE_MEM_CONTEXT_OBSERVATIONS", "50"),
    ("CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS", "false"),
    ("CLAUDE_MEM_CONTEXT_SHOW_WORK_TOKENS", "false"),
    ("CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT", "false"),
    ("CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_PERCENT", "true"),
    ("CLAUDE_MEM_CONTEXT_FULL_COUNT", "0"),
    ("CLAUDE_MEM_CONTEXT_FULL_FIELD", "narrative"),
    ("CLAUDE_MEM_CONTEXT_SESSION_COUNT", "10"),
    ("CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY", "true"),
    ("CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE", "false"),
    ("CLAUDE_MEM_CONTEXT_SHOW_TERMINAL_OUTPUT", "true"),
    ("CLAUDE_MEM_WELCOME_HINT_ENABLED", "true"),
    ("CLAUDE_MEM_SEMANTIC_INJECT", "false"),
    ("CLAUDE_MEM_SEMANTIC_INJECT_LIMIT", "5"),
    ("CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED", "false"),
    ("CLAUDE_MEM_FOLDER_USE_LOCAL_MD", "false"),
    ("CLAUDE_MEM_FOLDER_MD_EXCLUDE", "[]"),
    ("CLAUDE_MEM_FOLDER_MD_SKELETON_DENYLIST", "[]"),
    ("CLAUDE_MEM_TRANSCRIPTS_ENABLED", "true"),
    ("CLAUDE_MEM_CODEX_TRANSCRIPT_INGESTION", "false"),
    ("CLAUDE_MEM_TIER_ROUTING_ENABLED", "true"),
    ("CLAUDE_MEM_TIER_SIMPLE_MODEL", "haiku"),
    ("CLAUDE_MEM_TIER_FAST_MODEL", "haiku"),
    ("CLAUDE_MEM_TIER_SMART_MODEL", "sonnet"),
    ("CLAUDE_MEM_CHROMA_ENABLED", "true"),
    ("CLAUDE_MEM_CHROMA_MODE", "local"),
    ("CLAUDE_MEM_CHROMA_PORT", "8000"),
    ("CLAUDE_MEM_CHROMA_PREWARM_TIMEOUT_MS", "120000"),
    ("CLAUDE_MEM_CHROMA_MAX_PENDING_MUTATIONS", "5000"),
    ("CLAUDE_MEM_TELEGRAM_ENABLED", "true"),
];

/// Settings that say where claude-mem itself is, or are different on every machine: no user set them.
const ITS_OWN: [&str; 5] =
    ["DATA_DIR", "WORKER_PORT", "TRANSCRIPTS_CONFIG_PATH", "CLOUD_SYNC_DEVICE_ID", "CLOUD_SYNC_DEVICE_NAME"];

/// Returns its settings that the user changed, with their values.
fn changed(source: &Path) -> Vec<(String, String)> {
    let Some(Value::Object(values)) = find::json(source) else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    let is_its_own = |name: &str| name.strip_prefix(PREFIX).is_some_and(|name| ITS_OWN.contains(&name));
    let is_default = |name: &str, value: &str| {
        let default = DEFAULTS.iter().find(|(known, _)| *known == name);
        value == default.map_or("", |(_, default)| *default)
    };
    let changed = values.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?)));
    changed.filter(|(name, value)| !is_its_own(name) && !is_default(name, value)).collect()
}

/// Returns the names of settings that have one here: every setting says which variables it takes its value from.
fn pairs() -> Vec<Pair> {
    let of_key = |key: &'static base::settings::Key| {
        key.variables.iter().filter_map(|variable| match variable {
            Variable::Value(theirs) if theirs.starts_with(PREFIX) => Some((*theirs, key.name)),
            _ => None,
        })
    };
    KEYS.iter().flat_map(of_key).collect()
}

fn wanted(around: &Around, source: &Path) -> Vec<(&'static str, String)> {
    let changed = changed(source);
    let is_changed = |(theirs, _): &Pair| changed.iter().any(|(name, _)| name == theirs);
    let pairs: Vec<Pair> = pairs().into_iter().filter(is_changed).collect();
    settings::wanted(around, source, &pairs)
}

/// Names what is left out, without its value: it may be a key.
fn look_at_settings(around: &Around, source: &Path) -> Look {
    let mut look = settings::look(&wanted(around, source));
    let pairs = pairs();
    let left: Vec<String> = changed(source)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !pairs.iter().any(|(theirs, _)| theirs == name))
        .collect();
    if !left.is_empty() {
        look.remarks.push(format!("left out: {}", left.join(", ")));
    }
    look
}

fn rules(around: &Around) -> Rules {
    Rules::of(&Settings::read(&around.env, &around.paths.hook_settings()), &around.env)
}

fn look(around: &Around, source: &Path) -> Result<Look> {
    let (spool, rules) = (Spool::new(around.paths.spool()), rules(around));
    let import = Import::open(source, &spool, &rules)?;
    let all = import.rows()? as usize;
    if !around.paths.database().exists() {
        return Ok(Look { new: all, all, remarks: Vec::new() });
    }
    let mut store = journal::open_store(&around.paths)?;
    let imported = import.trial().run(&mut store, |_| ())?;
    Ok(Look { new: imported.stored() as usize, all, remarks: remarks(&imported) })
}

fn remarks(imported: &claude_mem::Imported) -> Vec<String> {
    let names: Vec<&str> = imported.unmatched().collect();
    let unmatched = (!names.is_empty()).then(|| {
        format!(
            "no folder is known for {}; to say which: wyren import --claude-mem --project NAME=PATH",
            names.join(", ")
        )
    });
    unmatched.into_iter().collect()
}

fn import(around: &Around, source: &Path, journal: &mut Journal, report: &mut Report<'_>) -> Result<Look> {
    let (spool, rules) = (Spool::new(around.paths.spool()), rules(around));
    let import = Import::open(source, &spool, &rules)?;
    let all = import.rows()? as usize;
    let mut store = journal::open_store(&around.paths)?;
    journal.record(Step::Records { source: source.to_owned(), after: claude_mem::last_row(&store)? })?;
    report(Done::Recorded).map_err(Error::Stopped)?;
    let imported = import.run(&mut store, |_| ())?;
    Ok(Look { new: imported.stored() as usize, all, remarks: remarks(&imported) })
}

/// Takes back what was imported after this row.
pub(crate) fn take_back(around: &Around, after: i64) -> Result<u64> {
    if !around.paths.database().exists() {
        return Ok(0);
    }
    let mut store = journal::open_store(&around.paths)?;
    Ok(claude_mem::take_back(&mut store, &Spool::new(around.paths.spool()), after)?)
}
