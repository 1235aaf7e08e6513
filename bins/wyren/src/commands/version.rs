//! `wyren version`: this version, what it was built from and for, and where everything is.

use crate::claude;
use crate::terminal::{self, Cell, DIM};
use anstyle::Style;
use anyhow::Result;
use base::{Env, Paths};
use clap::Args;
use serde_json::{Map, Value, json};
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  wyren version            show the version, the plugin's folder and the data folder
  wyren version --json     for scripts and bug reports";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that this program was built from, where the build names it.
const COMMIT: Option<&str> = option_env!("WYREN_COMMIT");

/// The version of what `--json` prints, see docs/json.md: it grows when a field goes or gets another meaning.
const JSON: u32 = 1;

/// Returns what this program was built for, as Rust calls it.
fn target() -> String {
    let processor = std::env::consts::ARCH;
    let system = match std::env::consts::OS {
        "linux" if cfg!(target_env = "musl") => "unknown-linux-musl",
        "linux" => "unknown-linux-gnu",
        "macos" => "apple-darwin",
        "windows" if cfg!(target_env = "gnu") => "pc-windows-gnu",
        "windows" => "pc-windows-msvc",
        other => other,
    };
    format!("{processor}-{system}")
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let plugin = paths.plugin().filter(|folder| install::plugin::is_ours(folder));
    let known: Map<String, Value> =
        store::formats().into_iter().map(|(owner, number)| (owner.to_owned(), number.into())).collect();
    let found = store::formats_of(paths);
    let client = claude::program(env, paths).map(|program| (claude::version(&program), program));
    let mut output = terminal::output();
    if arguments.json {
        let taken = found.as_ref().ok().map(|formats| {
            let formats = formats.iter().map(|(owner, number)| (owner.clone(), (*number).into()));
            formats.collect::<Map<String, Value>>()
        });
        let client = client.map(|(version, program)| {
            json!({"program": program, "version": version.ok().map(|version| version.to_string())})
        });
        let facts = json!({
            "version": VERSION,
            "json": JSON,
            "commit": COMMIT,
            "target": target(),
            "plugin": plugin,
            "data": paths.data(),
            "formats": known,
            "database": {"path": paths.database(), "formats": taken},
            "client": client,
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let commit =
        COMMIT.map(|commit| format!(" ({})", commit.get(..12).unwrap_or(commit))).unwrap_or_default();
    writeln!(output, "wyren {VERSION}{commit}, {}", target())?;
    let plugin = plugin.map_or_else(
        || "none: this program is in no plugin folder".to_owned(),
        |plugin| plugin.display().to_string(),
    );
    let formats = match found {
        Ok(formats) if formats.is_empty() => "not there yet".to_owned(),
        Ok(formats) => {
            formats.iter().map(|(owner, number)| format!("{owner} {number}")).collect::<Vec<_>>().join(", ")
        }
        Err(error) => error.to_string(),
    };
    let client = match client {
        Some((Ok(version), program)) => format!("{version}, {}", program.display()),
        Some((Err(problem), program)) => format!("{} {problem}", program.display()),
        None => "not found on the PATH".to_owned(),
    };
    let rows = [
        ("plugin", plugin),
        ("data", paths.data().display().to_string()),
        ("database", formats),
        ("Claude Code", client),
    ];
    let rows: Vec<Vec<Cell>> =
        rows.map(|(name, value)| vec![(format!("  {name}"), DIM), (value, Style::new())]).into();
    Ok(terminal::write_table(&mut output, &rows)?)
}
