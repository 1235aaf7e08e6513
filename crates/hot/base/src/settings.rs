//! The settings that hooks read: the environment, then `cache/hooks.conf`, which the CLI generates from the
//! configuration files so that no hook parses TOML.
//!
//! [`KEYS`] is the only list of settings: the CLI, the documentation and the hooks use it.

use crate::Env;
use std::path::Path;

/// The first line of `cache/hooks.conf`; a file with another one is ignored.
pub const HOOK_SETTINGS_HEADER: &str = "wyren hooks 1";

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number between two bounds.
    Number {
        least: u64,
        most: u64,
    },
    Choice(&'static [&'static str]),
    /// A comma-separated list.
    List,
    /// A number from 0 to 1.
    Share,
    /// An amount of dollars with at most six decimals.
    Amount {
        /// In whole dollars.
        most: u64,
    },
    /// Any text on one line.
    Text,
}

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// `section.name`.
    pub name: &'static str,
    pub kind: Kind,
    pub default: &'static str,
    /// Environment variables that override it; the first one that is set wins.
    pub variables: &'static [Variable],
    /// One line, as `wyren config` prints it.
    pub help: &'static str,
}

/// An environment variable that overrides a setting.
#[derive(Debug)]
pub enum Variable {
    /// Its value is the setting's value.
    Value(&'static str),
    /// A true value turns the setting off, as in earlier tools.
    Off(&'static str),
}

/// Log levels, least severe first.
pub const LOG_LEVELS: &[&str] = &["debug", "info", "warn", "error", "alert"];

pub const MODEL_PROVIDERS: &[&str] = &["cli", "api", "openai", "off"];

/// How lessons are worded for the model.
pub const LESSON_FORMATS: &[&str] = &["wyren", "lessons-learned"];

/// What an entry of the journal is shown with.
pub const RECALL_FIELDS: &[&str] = &["narrative", "facts"];

/// Which notices the user gets.
pub const MESSAGES: &[&str] = &["all", "important", "off"];

pub const KEYS: &[Key] = &[
    Key {
        name: "capture.enabled",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_CAPTURE")],
        help: "record prompts and tool calls",
    },
    Key {
        name: "capture.excluded_projects",
        kind: Kind::List,
        default: "",
        variables: &[Variable::Value("CLAUDE_MEM_EXCLUDED_PROJECTS")],
        help: "folders never recorded, as globs: ~/clients/**, *secret*",
    },
    Key {
        name: "capture.keep_transcripts",
        kind: Kind::Switch,
        default: "false",
        variables: &[Variable::Value("WYREN_CAPTURE_KEEP_TRANSCRIPTS")],
        help: "keep a compressed copy of each session's transcript when it ends, without private prompts and known secrets",
    },
    Key {
        name: "capture.paused_projects",
        kind: Kind::List,
        default: "",
        variables: &[],
        help: "folders, with their subfolders, where recording is paused",
    },
    Key {
        name: "capture.skip_tools",
        kind: Kind::List,
        default: "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite",
        variables: &[Variable::Value("CLAUDE_MEM_SKIP_TOOLS")],
        help: "tools whose calls are not recorded",
    },
    Key {
        name: "distill.enabled",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_DISTILL")],
        help: "distill sessions into the team memory in the background",
    },
    Key {
        name: "distill.idle_ms",
        kind: Kind::Number { least: 0, most: 86_400_000 },
        default: "120000",
        variables: &[Variable::Value("WYREN_IDLE_MS")],
        help: "idle time in milliseconds after which the next turn triggers a distillation",
    },
    Key {
        name: "distill.min_score",
        kind: Kind::Number { least: 0, most: 1_000 },
        default: "3",
        variables: &[Variable::Value("WYREN_TIER0_THRESHOLD")],
        help: "minimum score for a distillation; `wyren distill --dry-run` shows the score",
    },
    Key {
        name: "distill.turns",
        kind: Kind::Number { least: 1, most: 10_000 },
        default: "5",
        variables: &[Variable::Value("WYREN_TURNS_THRESHOLD")],
        help: "number of turns that triggers a distillation, or a summary (`journal.model`)",
    },
    Key {
        name: "handoff.thread",
        kind: Kind::Switch,
        default: "false",
        variables: &[],
        help: "keep the whole conversation beside the handoff that is saved before a compaction",
    },
    Key {
        name: "hooks.disabled",
        kind: Kind::List,
        default: "",
        variables: &[Variable::Value("WYREN_HOOKS_DISABLED")],
        help: "hooks that do nothing, by program name",
    },
    Key {
        name: "journal.keep_entries_days",
        kind: Kind::Number { least: 0, most: 36_500 },
        default: "0",
        // A repository may bring variables for sessions, so none deletes anything.
        variables: &[],
        help: "days after which entries go, but for pinned ones and your own; summaries stay. 0: never",
    },
    Key {
        name: "journal.keep_payloads_days",
        kind: Kind::Number { least: 0, most: 36_500 },
        default: "0",
        variables: &[],
        help: "days after which inputs and outputs of tool calls go; what was made of them stays. 0: never",
    },
    Key {
        name: "journal.max_mb",
        kind: Kind::Number { least: 0, most: 1_000_000 },
        default: "0",
        variables: &[],
        help: "size of the database in MB above which the oldest inputs and outputs go, then the oldest entries. 0: no limit",
    },
    Key {
        name: "journal.model",
        kind: Kind::Choice(&["off", "on"]),
        default: "off",
        variables: &[],
        help: "have a model summarise what is not distilled, for the journal; what is has its summary from the same call",
    },
    Key {
        name: "lessons.again_after_calls",
        kind: Kind::Number { least: 0, most: 10_000 },
        default: "20",
        variables: &[Variable::Value("LESSONS_REINJECT_TOOL_COUNT")],
        help: "after how many tool calls reminders come again where it is unknown how full the window is; 0: never",
    },
    Key {
        name: "lessons.again_at",
        kind: Kind::List,
        default: "30,52,70",
        variables: &[Variable::Value("LESSONS_REINJECT_THRESHOLDS")],
        help: "how full the window is, in percent, when reminders come again; empty: never",
    },
    Key {
        name: "lessons.disabled",
        kind: Kind::List,
        default: "",
        variables: &[],
        help: "disabled lessons, as slug or layer:slug; set by `wyren lessons disable`",
    },
    Key {
        name: "lessons.format",
        kind: Kind::Choice(LESSON_FORMATS),
        default: "wyren",
        variables: &[Variable::Value("WYREN_LESSON_FORMAT")],
        help: "how lessons are worded for the model: wyren, or lessons-learned for scripts that read its form",
    },
    Key {
        name: "lessons.loops",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_LOOPS")],
        help: "pause a call once that failed twice with the same error while nothing changed",
    },
    Key {
        name: "lessons.max_bytes",
        kind: Kind::Number { least: 256, most: 1_000_000 },
        default: "4096",
        variables: &[Variable::Value("LESSONS_INJECTION_BUDGET_BYTES")],
        help: "maximum size of the lessons shown for one call, in bytes; above 4096 also of a session's start. The client takes 9000",
    },
    Key {
        name: "lessons.max_candidates",
        kind: Kind::Number { least: 1, most: 1_000 },
        default: "50",
        variables: &[Variable::Value("LESSONS_MAX_CANDIDATES_PER_SCAN")],
        help: "the most new candidates of one scan; the next goes on",
    },
    Key {
        name: "lessons.max_per_call",
        kind: Kind::Number { least: 1, most: 10 },
        default: "3",
        variables: &[Variable::Value("LESSONS_MAX_LESSONS_PER_INJECTION")],
        help: "maximum number of lessons shown for one call",
    },
    Key {
        name: "lessons.min_confidence",
        kind: Kind::Share,
        default: "0.5",
        variables: &[Variable::Value("LESSONS_MIN_CONFIDENCE")],
        help: "minimum confidence of a lesson to be shown",
    },
    Key {
        name: "lessons.min_priority",
        kind: Kind::Number { least: 1, most: 10 },
        default: "1",
        variables: &[Variable::Value("LESSONS_MIN_PRIORITY")],
        help: "minimum priority of a lesson to be shown",
    },
    Key {
        name: "lessons.model",
        kind: Kind::Choice(&["off", "on"]),
        default: "off",
        variables: &[],
        help: "have a model word the three surest candidates of a scan, within its budget; in your own file alone",
    },
    Key {
        name: "lessons.model_name",
        kind: Kind::Text,
        default: "",
        variables: &[Variable::Value("DEEP_SCAN_MODEL")],
        help: "the model for these words; empty: that of model.name",
    },
    Key {
        name: "lessons.packs_off",
        kind: Kind::List,
        default: "",
        variables: &[],
        help: "packs of shipped lessons that are off; set by `wyren lessons disable --pack`",
    },
    Key {
        name: "lessons.promote_reported",
        kind: Kind::Switch,
        default: "false",
        variables: &[],
        help: "promote a lesson that a model reported by itself once a second session has shown its mistake",
    },
    Key {
        name: "lessons.returning_priority",
        kind: Kind::Number { least: 1, most: 10 },
        default: "7",
        variables: &[Variable::Value("LESSONS_COMPACTION_REINJECTION_THRESHOLD")],
        help: "minimum priority of a lesson to be shown again after a compaction",
    },
    Key {
        name: "lessons.scan_interval_hours",
        kind: Kind::Number { least: 1, most: 8_760 },
        default: "24",
        variables: &[Variable::Value("LESSONS_AUTO_SCAN_INTERVAL_HOURS")],
        help: "the least hours between two scans that sessions start by themselves",
    },
    Key {
        name: "lessons.scan_paths",
        kind: Kind::List,
        default: "",
        variables: &[Variable::Value("LESSONS_SCAN_PATH")],
        help: "folders with transcripts to scan; empty: the client's own. LESSONS_SCAN_PATHS separates them by colons",
    },
    Key {
        name: "lessons.score_correction",
        kind: Kind::Number { least: 0, most: 9 },
        default: "1",
        variables: &[],
        help: "what a candidate's priority gains when the user corrected the call",
    },
    Key {
        name: "lessons.score_hang",
        kind: Kind::Number { least: 0, most: 9 },
        default: "1",
        variables: &[],
        help: "what it gains when the call hung",
    },
    Key {
        name: "lessons.score_projects",
        kind: Kind::Number { least: 0, most: 9 },
        default: "1",
        variables: &[],
        help: "what it gains when it was seen in several projects",
    },
    Key {
        name: "lessons.score_sessions",
        kind: Kind::Number { least: 0, most: 9 },
        default: "2",
        variables: &[],
        help: "what it gains when it was seen in several sessions",
    },
    Key {
        name: "lessons.score_single",
        kind: Kind::Number { least: 0, most: 9 },
        default: "1",
        variables: &[],
        help: "what it loses when it was seen once",
    },
    Key {
        name: "log.enabled",
        kind: Kind::Switch,
        default: "true",
        variables: &[
            Variable::Value("WYREN_LOG"),
            Variable::Off("HOOK_LOG_DISABLE"),
            Variable::Off("HOOK_ERROR_LOG_DISABLE"),
        ],
        help: "write logs/hooks.jsonl",
    },
    Key {
        name: "log.level",
        kind: Kind::Choice(LOG_LEVELS),
        default: "debug",
        variables: &[Variable::Value("HOOK_LOG_LEVEL")],
        help: "minimum level of a line in the hook log",
    },
    Key {
        name: "log.max_bytes",
        kind: Kind::Number { least: 16_384, most: 1_073_741_824 },
        default: "4194304",
        variables: &[],
        help: "size in bytes at which logs/hooks.jsonl is rotated to hooks.1.jsonl",
    },
    Key {
        name: "memory.discover",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_DISCOVER")],
        help: "in a clone without .wyren/, look for a team memory on the remote once a day",
    },
    Key {
        name: "memory.fetch_seconds",
        kind: Kind::Number { least: 0, most: 86_400 },
        default: "5",
        variables: &[Variable::Value("WYREN_FETCH_SECONDS")],
        help: "minimum time between two fetches started by prompts, in seconds",
    },
    Key {
        name: "memory.publish",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_PUBLISH")],
        help: "publish memory changes in the background; `wyren sync` always publishes",
    },
    Key {
        name: "memory.publish_for",
        kind: Kind::List,
        default: "",
        // A repository may bring variables for sessions, so none gives leave.
        variables: &[],
        help: "owners whose clones publish without asking, as github.com/acme; set by `wyren init --always-for`",
    },
    Key {
        name: "memory.pull",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_PULL"), Variable::Off("WYREN_SKIP_PULL")],
        help: "let hooks fetch from the remote",
    },
    Key {
        name: "memory.sync_seconds",
        kind: Kind::Number { least: 1, most: 600 },
        default: "20",
        variables: &[Variable::Value("WYREN_SYNC_SECONDS")],
        help: "time limit of a background sync, in seconds",
    },
    Key {
        name: "memory.wait_ms",
        kind: Kind::Number { least: 0, most: 1_500 },
        default: "100",
        variables: &[Variable::Value("WYREN_WAIT_MS")],
        help: "maximum time a prompt waits for a fetch, in milliseconds; it waits only if the last fetch took less",
    },
    Key {
        name: "model.command",
        kind: Kind::Text,
        default: "",
        variables: &[Variable::Value("WYREN_MODEL_COMMAND")],
        help: "path of the claude program; empty: search PATH and the usual places",
    },
    Key {
        name: "model.daily_budget_usd",
        kind: Kind::Amount { most: 10_000 },
        default: "0.5",
        variables: &[Variable::Value("WYREN_DAILY_BUDGET_USD")],
        help: "daily budget for model calls in dollars (UTC days); 0: never call a model",
    },
    Key {
        name: "model.endpoint",
        kind: Kind::Text,
        default: "",
        variables: &[Variable::Value("WYREN_MODEL_ENDPOINT")],
        help: "URL of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1",
    },
    Key {
        name: "model.name",
        kind: Kind::Text,
        default: "",
        variables: &[Variable::Value("WYREN_MODEL_NAME")],
        help: "model to call; empty: a small model of the provider",
    },
    Key {
        name: "model.project_budget_usd",
        kind: Kind::Amount { most: 10_000 },
        default: "0.5",
        variables: &[Variable::Value("WYREN_PROJECT_BUDGET_USD")],
        help: "daily budget for model calls of one project in dollars; 0: never call a model",
    },
    Key {
        name: "model.provider",
        kind: Kind::Choice(MODEL_PROVIDERS),
        default: "cli",
        variables: &[Variable::Value("WYREN_MODEL_PROVIDER")],
        help: "provider: cli (claude), api (Messages API with your key), openai (model.endpoint), off",
    },
    Key {
        name: "model.timeout_s",
        kind: Kind::Number { least: 1, most: 3_600 },
        default: "120",
        variables: &[Variable::Value("WYREN_MODEL_TIMEOUT_S")],
        help: "time limit of a model call including its retry, in seconds",
    },
    Key {
        name: "recall.enabled",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_RECALL")],
        help: "show an index of earlier work when a session starts",
    },
    Key {
        name: "recall.entries",
        kind: Kind::Number { least: 1, most: 200 },
        default: "50",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_OBSERVATIONS")],
        help: "maximum number of entries in the index; recall.max_bytes bounds it, too",
    },
    Key {
        name: "recall.full",
        kind: Kind::Number { least: 0, most: 20 },
        default: "0",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_FULL_COUNT")],
        help: "number of entries, newest first, shown with recall.full_field below their line",
    },
    Key {
        name: "recall.full_field",
        kind: Kind::Choice(RECALL_FIELDS),
        default: "narrative",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_FULL_FIELD")],
        help: "what recall.full shows: narrative, facts",
    },
    Key {
        name: "recall.last_message",
        kind: Kind::Switch,
        default: "false",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_SHOW_LAST_MESSAGE")],
        help: "show the last words of the model in the session before",
    },
    Key {
        name: "recall.last_summary",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY")],
        help: "show of the last turn what was completed and what comes next, not the request alone",
    },
    Key {
        name: "recall.max_bytes",
        kind: Kind::Number { least: 512, most: 9_000 },
        default: "2048",
        variables: &[Variable::Value("WYREN_RECALL_MAX_BYTES")],
        help: "maximum size of the index, in bytes",
    },
    Key {
        name: "recall.prompt_entries",
        kind: Kind::Number { least: 1, most: 20 },
        default: "5",
        variables: &[Variable::Value("CLAUDE_MEM_SEMANTIC_INJECT_LIMIT")],
        help: "maximum number of journal entries shown at a prompt",
    },
    Key {
        name: "recall.prompts",
        kind: Kind::Switch,
        default: "false",
        variables: &[Variable::Value("WYREN_RECALL_PROMPTS"), Variable::Value("CLAUDE_MEM_SEMANTIC_INJECT")],
        help: "show journal entries at a prompt that names a file, a name from code or two rare words of theirs",
    },
    Key {
        name: "recall.show_tokens",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS")],
        help: "show how many tokens it costs to fetch an entry",
    },
    Key {
        name: "recall.summaries",
        kind: Kind::Number { least: 0, most: 50 },
        default: "3",
        variables: &[Variable::Value("CLAUDE_MEM_CONTEXT_SESSION_COUNT")],
        help: "number of turns, newest first, whose summary is shown",
    },
    Key {
        name: "recall.work_bytes",
        kind: Kind::Number { least: 0, most: 8_000 },
        default: "6000",
        variables: &[Variable::Value("WYREN_RECALL_WORK_BYTES")],
        help: "maximum size of the plan and the open tasks that come back after /clear and compaction, and with a context, in bytes; 0: none",
    },
    Key {
        name: "search.embeddings_daily",
        kind: Kind::Number { least: 0, most: 1_000_000 },
        default: "20000",
        variables: &[],
        help: "most texts a day that are sent to the embeddings endpoint in the background",
    },
    Key {
        name: "search.embeddings_endpoint",
        kind: Kind::Text,
        default: "",
        variables: &[],
        help: "OpenAI-compatible embeddings server on this machine, as http://127.0.0.1:11434/v1; empty: search by words alone",
    },
    Key {
        name: "search.embeddings_model",
        kind: Kind::Text,
        default: "",
        variables: &[],
        help: "name of the model at search.embeddings_endpoint",
    },
    Key {
        name: "ui.messages",
        kind: Kind::Choice(MESSAGES),
        default: "all",
        // A repository may bring variables for sessions, so none hides from the user what waits for trust or was found.
        variables: &[],
        help: "lines for you in a session: all, important (what needs you), off",
    },
    Key {
        name: "window.warn",
        kind: Kind::Switch,
        default: "true",
        variables: &[Variable::Value("WYREN_WINDOW_WARN")],
        help: "tell the model when 30, 20 and 10 % of the context window are left",
    },
    Key {
        name: "worker.idle_seconds",
        kind: Kind::Number { least: 0, most: 86_400 },
        default: "60",
        variables: &[Variable::Value("WYREN_WORKER_IDLE_SECONDS")],
        help: "idle time after which the worker exits, in seconds",
    },
    Key {
        name: "worker.retry_seconds",
        kind: Kind::Number { least: 0, most: 3_600 },
        default: "30",
        variables: &[Variable::Value("WYREN_WORKER_RETRY_SECONDS")],
        help: "delay before a failed job is retried, in seconds; doubles with each failure",
    },
];

pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

impl Key {
    /// Returns the value in its normal form, or why it is invalid.
    pub fn check(&self, value: &str) -> Result<String, String> {
        let value = value.trim();
        match self.kind {
            Kind::Switch => match value.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Ok("true".into()),
                "false" | "0" | "no" | "off" => Ok("false".into()),
                _ => Err("expected true or false".into()),
            },
            Kind::Number { least, most } => match value.parse::<u64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(number.to_string()),
                _ => Err(format!("expected a whole number from {least} to {most}")),
            },
            Kind::Choice(words) => {
                let word = value.to_ascii_lowercase();
                if words.contains(&word.as_str()) {
                    Ok(word)
                } else {
                    Err(format!("expected one of {}", words.join(", ")))
                }
            }
            Kind::Share => {
                // Some write `.5`.
                let zero = if value.starts_with('.') { "0" } else { "" };
                let share = decimal(&format!("{zero}{value}"), 1);
                share.ok_or_else(|| "expected a number from 0 to 1, as in 0.5".into())
            }
            Kind::List => {
                let items: Vec<&str> = list(value).collect();
                if value.contains(['\n', '\r']) {
                    return Err("expected a comma-separated list on one line".into());
                }
                Ok(items.join(","))
            }
            Kind::Amount { most } => {
                decimal(value, most).ok_or_else(|| format!("expected dollars from 0 to {most}, as in 0.5"))
            }
            Kind::Text => {
                let is_plain = !value.chars().any(char::is_control);
                if is_plain { Ok(value.to_owned()) } else { Err("expected text on one line".into()) }
            }
        }
    }

    /// Returns the value that the environment gives this setting, and the variable it came from.
    pub fn from_env(&self, env: &Env) -> Option<(String, &'static str)> {
        self.variables.iter().find_map(|variable| match variable {
            // An invalid value counts as unset.
            Variable::Value(name) => Some((self.check(&env.text(name)?).ok()?, *name)),
            Variable::Off(name) => env.is_on(name).then(|| ("false".to_owned(), *name)),
        })
    }
}

/// Returns the trimmed, non-empty items of a comma-separated list.
pub fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Returns a decimal number up to `most`, with six places at most, in its shortest form. What reads floating-point numbers
/// would take 16 KB in every hook.
fn decimal(value: &str, most: u64) -> Option<String> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction = fraction.trim_end_matches('0');
    let is_within = whole < most || (whole == most && fraction.is_empty());
    let point = if fraction.is_empty() { "" } else { "." };
    is_within.then(|| format!("{whole}{point}{fraction}"))
}

/// The settings of one hook run.
#[derive(Debug)]
pub struct Settings {
    env: Env,
    flattened: String,
}

impl Settings {
    /// Reads the generated settings; a missing file or one of another version means the defaults.
    pub fn read(env: &Env, file: &Path) -> Self {
        let flattened = crate::files::read_text_followed(file, crate::files::cap::CONFIG).unwrap_or_default();
        let known = flattened.lines().next() == Some(HOOK_SETTINGS_HEADER);
        let env = env.clone();
        Self { env, flattened: if known { flattened } else { String::new() } }
    }

    /// # Panics
    /// When no setting has this name, which is a defect of the caller.
    pub fn get(&self, name: &str) -> String {
        let key = key(name).unwrap_or_else(|| panic!("no setting is called {name}"));
        if let Some((value, _)) = key.from_env(&self.env) {
            return value;
        }
        let line = self.flattened.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.and_then(|value| key.check(value).ok()).unwrap_or_else(|| key.default.to_owned())
    }

    pub fn is_on(&self, name: &str) -> bool {
        self.get(name) == "true"
    }

    pub fn number(&self, name: &str) -> u64 {
        self.get(name).parse().unwrap_or_default()
    }

    /// Returns a share in percent.
    pub fn percent(&self, name: &str) -> u8 {
        let share = self.get(name);
        let (whole, fraction) = share.split_once('.').unwrap_or((&share, ""));
        let whole: u8 = whole.parse().unwrap_or_default();
        let digit = |place: usize| fraction.as_bytes().get(place).map_or(0, |digit| digit - b'0');
        whole * 100 + digit(0) * 10 + digit(1) + u8::from(digit(2) >= 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_valid_value_and_names_are_sorted() {
        for key in KEYS {
            assert_eq!(key.check(key.default).as_deref(), Ok(key.default), "{}", key.name);
        }
        assert!(KEYS.is_sorted_by_key(|key| key.name));
    }

    #[test]
    fn a_share_is_a_decimal_number_and_read_in_percent() {
        let key = key("lessons.min_confidence").unwrap();
        for (value, checked, percent) in [
            ("0.5", "0.5", 50),
            (".5", "0.5", 50),
            ("1", "1", 100),
            ("1.00", "1", 100),
            ("0.855", "0.855", 86),
            ("0", "0", 0),
        ] {
            assert_eq!(key.check(value).as_deref(), Ok(checked));
            let env = Env::fixed([("LESSONS_MIN_CONFIDENCE", value)]);
            assert_eq!(Settings::read(&env, Path::new("/nonexistent")).percent(key.name), percent, "{value}");
        }
        for value in ["1.01", "-0.5", "1e-1", "half", "", "."] {
            assert!(key.check(value).is_err(), "{value}");
        }
    }

    #[test]
    fn amounts_are_exact_to_the_millionth_and_have_one_normal_form() {
        let check = |value: &str| Kind::Amount { most: 10 }.check_for_test(value);
        for (value, normal) in [("0", "0"), ("0.50", "0.5"), ("10.0", "10"), (" 1.000001 ", "1.000001")] {
            assert_eq!(check(value).as_deref(), Ok(normal), "{value}");
        }
        for value in
            ["", ".5", "1.", "-1", "+1", "1e2", "10.000001", "0.0000001", "1,5", "99999999999999999999"]
        {
            assert_eq!(check(value), Err("expected dollars from 0 to 10, as in 0.5".into()), "{value}");
        }
    }

    #[test]
    fn text_stays_on_one_line() {
        assert_eq!(Kind::Text.check_for_test(" a, b=c "), Ok("a, b=c".into()));
        assert!(Kind::Text.check_for_test("a\nb").is_err());
    }

    impl Kind {
        fn check_for_test(self, value: &str) -> Result<String, String> {
            let key = Key { name: "a.b", kind: self, default: "", variables: &[], help: "" };
            key.check(value)
        }
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.conf");
        std::fs::write(&file, "wyren hooks 1\nlog.level=warn\nlog.max_bytes=nonsense\n").unwrap();
        let env = Env::fixed([("HOOK_LOG_LEVEL", "error")]);
        assert_eq!(Settings::read(&env, &file).get("log.level"), "error");
        let env = Env::fixed([("HOOK_LOG_LEVEL", "loud")]);
        assert_eq!(Settings::read(&env, &file).get("log.level"), "warn");
        assert_eq!(Settings::read(&env, &file).number("log.max_bytes"), 4_194_304);
    }

    #[test]
    fn a_foreign_file_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.conf");
        std::fs::write(&file, "wyren hooks 2\nlog.level=warn\n").unwrap();
        assert_eq!(Settings::read(&Env::fixed([("A", "b")]), &file).get("log.level"), "debug");
    }

    #[test]
    fn the_old_off_switches_turn_the_log_off() {
        let none = Path::new("/nonexistent");
        for name in ["HOOK_LOG_DISABLE", "HOOK_ERROR_LOG_DISABLE"] {
            assert!(!Settings::read(&Env::fixed([(name, "1")]), none).is_on("log.enabled"));
            assert!(Settings::read(&Env::fixed([(name, "0")]), none).is_on("log.enabled"));
        }
    }
}
