//! Imports into a database that it makes, and prints how long that takes: `import-speed transcripts <folder>`, `codex` or `cursor`
//! in the place of `transcripts`, or `import-speed claude-mem <observations>` for a database that it makes as well.

#![expect(clippy::print_stdout, reason = "an example reports on its standard output")]

use base::settings::Settings;
use base::{Env, Timestamp};
use capture::{Rules, Spool};
use std::path::Path;
use std::time::Instant;
use store::transcripts::{Agent, Import};
use store::{Store, TABLES};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, what] = arguments.as_slice() else {
        return Err("usage: import-speed <transcripts|codex|cursor|claude-mem> <folder|observations>".into());
    };
    let folder = tempfile::tempdir()?;
    let env = Env::fixed::<String, String>([]);
    let rules = Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env);
    let spool = Spool::new(folder.path().join("spool"));
    let mut store = Store::open(&folder.path().join("wyren.db"), TABLES)?;
    match mode.as_str() {
        "transcripts" | "codex" | "cursor" => {
            let agent = match mode.as_str() {
                "codex" => Agent::Codex,
                "cursor" => Agent::Cursor,
                _ => Agent::ClaudeCode,
            };
            let began = Instant::now();
            let import = Import::of_agent(agent, Path::new(what), &spool, &rules)?;
            let imported = import.run(&mut store, |_| ())?;
            let seconds = began.elapsed().as_secs_f64();
            let speed = import.bytes() as f64 / 1e6 / seconds;
            println!(
                "{} observations of {} sessions in {seconds:.3} s, {speed:.0} MB/s",
                imported.stored, imported.sessions
            );
        }
        "claude-mem" => {
            let file = folder.path().join("claude-mem.db");
            let start = Timestamp::from_millis(1_794_796_000_000).millis();
            fixture::ClaudeMem::new(&file, fixture::Shape::Current)
                .fill(what.parse()?, i64::try_from(start)?);
            let began = Instant::now();
            let imported = store::claude_mem::Import::open(&file, &spool, &rules)?.run(&mut store, |_| ())?;
            println!("{} rows in {:.3} s", imported.stored(), began.elapsed().as_secs_f64());
        }
        other => return Err(format!("unknown mode {other}: transcripts, codex, cursor or claude-mem").into()),
    }
    println!("{}", peak_memory());
    Ok(())
}

/// Returns the most memory that this process had resident, where the system tells.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.map_or_else(
        || "VmHWM unknown".to_owned(),
        |line| line.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}
