//! Prints how long redaction takes per kilobyte of typical text: `cargo run --release -p wyren-text --example redact_speed`.

#![expect(clippy::print_stdout, reason = "the output is what the program is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often a text is read; the least time counts.
const ROUNDS: usize = 200;

fn main() {
    let prose = include_str!("../../../../ARCHITECTURE.md");
    let program = include_str!("../src/privacy.rs");
    let lock = include_str!("../../../../Cargo.lock");
    let call = serde_json::json!({"command": "cargo test", "stdout": program, "stderr": &prose[..2_000]})
        .to_string();
    for (name, text) in [("prose", prose), ("program", program), ("lock file", lock), ("JSON", &call)] {
        for bytes in [1_000, 100_000] {
            let sample: String = text.chars().cycle().take(bytes).collect();
            let mut least = Duration::MAX;
            for _ in 0..ROUNDS {
                let started = Instant::now();
                black_box(text::redact::redact(black_box(&sample)));
                least = least.min(started.elapsed());
            }
            println!("{name}, {} KB: {} ns/KB", bytes / 1_000, least.as_nanos() as usize * 1_000 / bytes);
        }
    }
}
