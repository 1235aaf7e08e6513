//! Drains a spool: `spool-drainer <data folder>`.
//!
//! Without more it goes on for ever in small steps and says after each how many observations it stored: a victim for tests
//! that kill it. With `--once` it drains all there is, and prints what the database then holds.

use base::Timestamp;
use capture::Spool;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use store::Store;
use store::observations::{self, Drain, Drained};

/// How much one step stores: little, so that there is always something left to be killed over.
const LINES_PER_STEP: usize = 300;
/// How long to wait when there is nothing to store.
const PAUSE: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let data = PathBuf::from(arguments.next().ok_or("usage: spool-drainer <data folder> [--once]")?);
    let spool = Spool::new(data.join("spool"));
    let mut store = Store::open(&data.join("wyren.db"), &[observations::TABLES])?;
    if arguments.next().is_some() {
        return drain_once(&mut store, &spool);
    }
    let mut output = std::io::stdout();
    loop {
        match Drain::bounded(&spool).at_most(LINES_PER_STEP).run(&mut store, Timestamp::now())? {
            Drained::Done(progress) if progress.stored > 0 => writeln!(output, "{}", progress.stored)?,
            _ => std::thread::sleep(PAUSE),
        }
    }
}

fn drain_once(store: &mut Store, spool: &Spool) -> Result<(), Box<dyn Error>> {
    Drain::unbounded(spool).run(store, Timestamp::now())?;
    let connection = store.connection();
    let count = |table: &str| -> Result<u64, store::Error> {
        Ok(connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
    };
    let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    let facts = serde_json::json!({
        "prompts": count("prompts")?,
        "tool_calls": count("tool_calls")?,
        "sessions": count("sessions")?,
        "unread_lines": count("unread_lines")?,
        "integrity": integrity,
    });
    writeln!(std::io::stdout(), "{facts}")?;
    Ok(())
}
