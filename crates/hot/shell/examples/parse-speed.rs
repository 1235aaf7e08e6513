//! Measures how long reading takes: `cargo run --release -p wyren-shell --example parse-speed -- script.sh [times]`.
//!
//! Without a script it reads one short command, once: what `valgrind --tool=callgrind` counts then is the price of a
//! call that no lesson is about.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        black_box(shell::commands(black_box("git status --short && cargo test -p shell 2>&1 | tail -5")));
        return Ok(());
    };
    let script = std::fs::read_to_string(path)?;
    let times: u32 = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let mut best = None;
    let mut found = 0;
    for _ in 0..times {
        let start = Instant::now();
        found = black_box(shell::commands(black_box(&script))).len();
        let elapsed = start.elapsed();
        best = Some(best.map_or(elapsed, |best| elapsed.min(best)));
    }
    let best = best.unwrap_or_default();
    writeln!(io::stdout(), "{found} commands in {} bytes: {best:?} at best of {times}", script.len())
}
