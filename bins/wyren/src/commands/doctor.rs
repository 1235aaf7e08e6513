//! `wyren doctor`: checks the installation and suggests fixes.
//!
//! A check is one function from a [`Subject`] to a [`Check`], and one line in [`CHECKS`]. Checks repair nothing.

mod command;
mod data;
mod database;
mod hooks;
mod lessons;
mod memory;
mod model;
mod plugin;
mod settings;
mod spool;
mod wiring;
mod worker;

pub(super) use command::is_of_node;

use crate::terminal::{self, Cell, DIM, FAILURE, SUCCESS, WARNING};
use anstyle::Style;
use anyhow::{Result, bail};
use base::error::with_causes as describe;
use base::{Env, Paths, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;

/// Every check in report order: prerequisites first.
const CHECKS: [fn(&Subject<'_>) -> Check; 12] = [
    data::check,
    database::check,
    spool::check,
    worker::check,
    model::check,
    hooks::check,
    memory::check,
    lessons::check,
    settings::check,
    plugin::check,
    command::check,
    wiring::check,
];

const EXAMPLES: &str = "\
Examples:
  wyren doctor                       run every check and suggest fixes
  wyren doctor --offline             without the network and without long reads, as /wyren:doctor does
  wyren doctor --json                JSON output; exit code 1 when a check fails";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Use no network, and leave out what takes long.
    #[arg(long)]
    offline: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

struct Subject<'a> {
    /// Whether a prompt waits for the result.
    is_hurried: bool,
    env: &'a Env,
    paths: &'a Paths,
    now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// Works, but needs attention.
    Odd,
    Bad,
}

impl Health {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Odd => "warn",
            Self::Bad => "bad",
        }
    }

    fn glyph(self) -> Cell {
        let (glyph, style) = match self {
            Self::Good => ("✓", SUCCESS),
            Self::Odd => ("!", WARNING),
            Self::Bad => ("✗", FAILURE),
        };
        (glyph.to_owned(), style)
    }
}

#[derive(Debug)]
struct Check {
    name: &'static str,
    health: Health,
    message: String,
    /// The command that fixes it.
    fix: Option<String>,
}

impl Check {
    fn good(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, health: Health::Good, message: message.into(), fix: None }
    }

    fn odd(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: Health::Odd, message: message.into(), fix: Some(fix.into()) }
    }

    fn bad(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { health: Health::Bad, ..Self::odd(name, message, fix) }
    }

    fn to_json(&self) -> Value {
        json!({"name": self.name, "state": self.health.name(), "message": self.message, "fix": self.fix})
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let subject = Subject { is_hurried: arguments.offline, env, paths, now: Timestamp::now() };
    let checks: Vec<Check> = CHECKS.iter().map(|check| check(&subject)).collect();
    let bad = checks.iter().filter(|check| check.health == Health::Bad).count();
    let mut output = terminal::output();
    if arguments.json {
        let all: Vec<Value> = checks.iter().map(Check::to_json).collect();
        writeln!(output, "{:#}", json!({"ok": bad == 0, "checks": all}))?;
    } else {
        let rows: Vec<Vec<Cell>> = checks.iter().flat_map(rows).collect();
        terminal::write_table(&mut output, &rows)?;
    }
    match bad {
        0 => Ok(()),
        1 => bail!("1 check failed"),
        bad => bail!("{bad} checks failed"),
    }
}

/// What the worst check says, for a line of `wyren status`.
pub(super) struct Worst {
    /// `ok`, `warn` or `bad`.
    pub(super) state: &'static str,
    pub(super) name: &'static str,
    pub(super) message: String,
    pub(super) fix: Option<String>,
}

/// Returns the first of the worst checks.
pub(super) fn worst(env: &Env, paths: &Paths, now: Timestamp) -> Option<Worst> {
    let subject = Subject { is_hurried: true, env, paths, now };
    let mut checks: Vec<Check> = CHECKS.iter().map(|check| check(&subject)).collect();
    checks.sort_by_key(|check| match check.health {
        Health::Bad => 0,
        Health::Odd => 1,
        Health::Good => 2,
    });
    let Check { name, health, message, fix } = checks.into_iter().next()?;
    Some(Worst { state: health.name(), name, message, fix })
}

fn rows(check: &Check) -> Vec<Vec<Cell>> {
    let found = vec![
        check.health.glyph(),
        (check.name.to_owned(), Style::new()),
        (check.message.clone(), Style::new()),
    ];
    let blank = (String::new(), Style::new());
    let fix = check.fix.iter().map(|fix| vec![blank.clone(), blank.clone(), (format!("→ {fix}"), DIM)]);
    std::iter::once(found).chain(fix).collect()
}

/// Formats a number of bytes in the largest fitting unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        10_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}
