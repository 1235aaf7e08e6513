//! Scans a projects folder and prints the speed: `scan <prefilter|full|conversation> <folder>`.
//!
//! `full` parses every line into types; `conversation` also decodes the messages.

#![expect(clippy::print_stdout, reason = "an example reports on its standard output")]

use std::path::Path;
use std::time::Instant;

use transcript::scan::{self, Tally};
use transcript::{Conversation, Scope};

const BYTES_PER_GB: f64 = 1e9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder] = arguments.as_slice() else {
        return Err("usage: scan <prefilter|full|conversation> <dir>".into());
    };
    let folder = Path::new(folder);
    let mut tally = Tally::default();
    let mut steps = 0;
    let start = Instant::now();
    let report = match mode.as_str() {
        "prefilter" => scan::prefiltered(folder, Tally::NEEDLES, |_, record| tally.add(record))?,
        "full" => scan::full(folder, |_, record| tally.add(record))?,
        "conversation" => {
            let mut conversation = Conversation::new(Scope::Main);
            let report = scan::full(folder, |_, record| {
                tally.add(record);
                steps += conversation.steps(record).count();
            })?;
            println!("{steps} steps in {} turns", conversation.turn());
            report
        }
        other => return Err(format!("unknown mode {other}: prefilter, full or conversation").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let total = tally.usage.total();
    println!(
        "{mode}: {} files, {} bytes, {} records, {} bad lines, {} over-long lines",
        report.files, report.bytes, report.records, report.bad_lines, report.overlong_lines
    );
    println!(
        "{} tool errors, {} messages, {} context tokens summed",
        tally.tool_errors,
        tally.usage.messages(),
        total.context_tokens()
    );
    println!("{seconds:.3} s, {:.2} GB/s, {}", report.bytes as f64 / BYTES_PER_GB / seconds, peak_memory());
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
