//! `wyren doctor`: checks the installation and suggests fixes.
//!
//! A check is one function from a [`Subject`] to a [`Check`], and one line in [`CHECKS`]. Checks change nothing; a problem that
//! can be solved without a decision of the user's comes with a [`Repair`], which `--fix` makes.

mod agents;
mod client;
mod clock;
mod command;
mod data;
mod database;
mod earlier;
mod fix;
mod hooks;
mod leftovers;
mod lessons;
mod memory;
mod model;
mod plugin;
mod remote;
mod settings;
mod speed;
mod spool;
pub(super) mod versions;
mod wiring;
mod worker;

use crate::terminal::{self, Cell, DIM, FAILURE, SUCCESS, WARNING};
use anstyle::Style;
use anyhow::{Result, bail};
use base::error::with_causes as describe;
use base::{Env, Paths, Timestamp};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;

/// Every check in report order: prerequisites first.
const CHECKS: &[fn(&Subject<'_>) -> Check] = &[
    data::check,
    clock::check,
    database::check,
    spool::check,
    worker::check,
    leftovers::check,
    model::check,
    client::check,
    wiring::check,
    agents::check,
    hooks::check,
    memory::check,
    remote::check,
    lessons::check,
    settings::check,
    plugin::check,
    speed::check,
    versions::check,
    command::check,
    earlier::check,
];

const EXAMPLES: &str = "\
Examples:
  wyren doctor                       run every check and suggest fixes
  wyren doctor --offline             without the network and without long reads, as /wyren:doctor does
  wyren doctor --fix                 do what is safe to do, and say what it was
  wyren doctor --fix --dry-run       show what that would be
  wyren doctor --model               also ask the model one small question, which costs a little
  wyren doctor --json                JSON output; exit code 1 when a check fails";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Use no network, and leave out what takes long.
    #[arg(long)]
    offline: bool,
    /// Solve the problems that need no decision of yours.
    #[arg(long)]
    fix: bool,
    /// With --fix: show what would be done, and change nothing.
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// Ask the model one small question, within the budget.
    #[arg(long, conflicts_with = "offline")]
    model: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Returns whether it changes something.
    pub(crate) fn is_to_fix(&self) -> bool {
        self.fix && !self.dry_run
    }
}

struct Subject<'a> {
    /// Whether a prompt waits for the result.
    is_hurried: bool,
    /// Whether the model is asked a question.
    is_to_ask: bool,
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
    /// What `--fix` does about it.
    repair: Option<Repair>,
}

/// What solves a problem without a decision of the user's.
struct Repair {
    /// What it does, as a command to a person would say it: `remove 3 files`.
    what: String,
    /// Whether only a person may have it done: it changes how the client runs Wyren.
    is_of_a_person: bool,
    act: Box<dyn FnOnce() -> Result<()>>,
}

impl Repair {
    fn new(what: impl Into<String>, act: impl FnOnce() -> Result<()> + 'static) -> Self {
        Self { what: what.into(), is_of_a_person: false, act: Box::new(act) }
    }

    fn of_a_person(self) -> Self {
        Self { is_of_a_person: true, ..self }
    }
}

impl std::fmt::Debug for Repair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl Check {
    fn good(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, health: Health::Good, message: message.into(), fix: None, repair: None }
    }

    fn odd(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, health: Health::Odd, message: message.into(), fix: Some(fix.into()), repair: None }
    }

    fn bad(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { health: Health::Bad, ..Self::odd(name, message, fix) }
    }

    fn with(self, repair: Repair) -> Self {
        Self { repair: Some(repair), ..self }
    }

    fn to_json(&self) -> Value {
        json!({"name": self.name, "state": self.health.name(), "message": self.message, "fix": self.fix})
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let is_to_ask = arguments.model;
    let subject = Subject { is_hurried: arguments.offline, is_to_ask, env, paths, now: Timestamp::now() };
    let spinner = terminal::spinner("checking");
    let (checks, fixed) = match arguments.fix {
        true => fix::all(&subject, arguments.dry_run),
        false => (CHECKS.iter().map(|check| check(&subject)).collect(), Vec::new()),
    };
    spinner.finish_and_clear();
    let bad = checks.iter().filter(|check| check.health == Health::Bad).count();
    let mut output = terminal::output();
    if arguments.json {
        let all: Vec<Value> = checks.iter().map(Check::to_json).collect();
        let mut report = json!({"ok": bad == 0, "checks": all});
        if arguments.fix {
            report["fixed"] = fixed.iter().map(fix::Fixed::to_json).collect();
        }
        writeln!(output, "{report:#}")?;
    } else {
        if arguments.fix {
            fix::show(&mut output, &fixed)?;
        }
        let rows: Vec<Vec<Cell>> = checks.iter().flat_map(|check| rows(check, env)).collect();
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
    let subject = Subject { is_hurried: true, is_to_ask: false, env, paths, now };
    let mut checks: Vec<Check> = CHECKS.iter().map(|check| check(&subject)).collect();
    checks.sort_by_key(|check| match check.health {
        Health::Bad => 0,
        Health::Odd => 1,
        Health::Good => 2,
    });
    let Check { name, health, message, fix, .. } = checks.into_iter().next()?;
    Some(Worst { state: health.name(), name, message, fix })
}

fn rows(check: &Check, env: &Env) -> Vec<Vec<Cell>> {
    let found = vec![
        check.health.glyph(),
        (check.name.to_owned(), Style::new()),
        (with_tildes(&check.message, env), Style::new()),
    ];
    let blank = (String::new(), Style::new());
    let fix = check.fix.iter().map(|fix| vec![blank.clone(), blank.clone(), (format!("→ {fix}"), DIM)]);
    std::iter::once(found).chain(fix).collect()
}

/// Returns a text with `~` for the home folder in its paths.
fn with_tildes(text: &str, env: &Env) -> String {
    let home = base::system::home(env).map(|home| home.display().to_string());
    let Some(home) = home.filter(|home| home.len() > 1) else { return text.to_owned() };
    let separator = std::path::MAIN_SEPARATOR;
    let begins = format!("{home}{separator}");
    let shorter = |word: &str| match word.strip_prefix('(') {
        Some(word) if word.starts_with(&begins) => format!("(~{}", &word[home.len()..]),
        None if word.starts_with(&begins) => format!("~{}", &word[home.len()..]),
        _ => word.to_owned(),
    };
    text.split(' ').map(shorter).collect::<Vec<_>>().join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_home_are_shown_with_a_tilde() {
        let env = Env::fixed([("HOME", "/home/ada"), ("USERPROFILE", "/home/ada")]);
        let text = "in /home/ada/x (/home/ada/y), /home/adam/z and /mnt/home/ada/w";
        let expected = "in ~/x (~/y), /home/adam/z and /mnt/home/ada/w";
        if cfg!(unix) {
            assert_eq!(with_tildes(text, &env), expected);
        }
        assert_eq!(with_tildes(text, &Env::fixed([("A", "b")])), text);
    }
}
