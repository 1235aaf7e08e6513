//! Measures parse, diff, delta, merge and injection on memories of 5,000 entries.
//!
//! `cargo run --release -p wyren-memory --example memory-speed`. Exits with 1 when a budget is exceeded even in the best
//! round; the median says more on a quiet machine.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use memory::{Authors, Frame, INJECTION_UNITS, LIVE_UPDATE_BYTES, Memory, diff, inject, merge, section};
use text::sanitize::Fence;

const ENTRIES: usize = 5_000;
const ROUNDS: usize = 21;
const MERGE_BUDGET: Duration = Duration::from_millis(50);
const DELTA_BUDGET: Duration = Duration::from_millis(10);

#[expect(clippy::print_stdout, reason = "an example is a program")]
fn main() -> ExitCode {
    let base = text(|_| Some(""));
    // A typical pair: each side changed some entries and added some of its own.
    let ours =
        text(|n| (n % 50 != 1).then_some(if n % 40 == 2 { " and more" } else { "" })) + &additions("ours");
    let theirs =
        text(|n| (n % 50 != 3).then_some(if n % 40 == 4 { " or less" } else { "" })) + &additions("theirs");
    // The worst pair: two memories that share nothing but words.
    let rewritten = text(|_| Some(" rewritten from start to end by a model"));
    let parsed = |text: &str| Memory::parse(text);
    let (base_memory, ours_memory, theirs_memory) = (parsed(&base), parsed(&ours), parsed(&theirs));
    let rewritten_memory = parsed(&rewritten);
    println!("{ENTRIES} entries, {} KB; best and median of {ROUNDS} rounds", base.len() / 1_000);

    let (fence, authors) = (Fence::new("5ec4e75ec4e70000"), Authors::default());
    let frame = Frame { fence: &fence, authors: &authors, now: base::Timestamp::now() };
    let figures = [
        measure("parse", DELTA_BUDGET, || parsed(&ours)),
        measure("parse and render", DELTA_BUDGET, || parsed(&ours).render()),
        measure("diff, nothing changed", DELTA_BUDGET, || diff(&base_memory, &base_memory)),
        measure("diff", DELTA_BUDGET, || diff(&base_memory, &ours_memory)),
        measure("parse both, diff and live update", DELTA_BUDGET, || {
            diff(&parsed(&base), &parsed(&ours)).render(LIVE_UPDATE_BYTES, frame)
        }),
        measure("diff, all rewritten", MERGE_BUDGET, || diff(&base_memory, &rewritten_memory)),
        measure("merge", MERGE_BUDGET, || merge(&base_memory, &ours_memory, &theirs_memory)),
        measure("merge without a base", MERGE_BUDGET, || {
            merge(&Memory::default(), &ours_memory, &theirs_memory)
        }),
        measure("merge, all rewritten", MERGE_BUDGET, || {
            merge(&base_memory, &rewritten_memory, &theirs_memory)
        }),
        measure("parse three, merge, render", MERGE_BUDGET, || {
            merge(&parsed(&base), &parsed(&ours), &parsed(&theirs)).memory.render()
        }),
        measure("merge of one section of free text", MERGE_BUDGET, || {
            merge(&free_text(&base), &free_text(&ours), &free_text(&theirs))
        }),
        measure("injection", DELTA_BUDGET, || inject(&ours_memory, &[], INJECTION_UNITS, frame)),
    ];
    let mut within = true;
    for Figure { name, times, budget } in figures {
        let [best, median] = [times[0], times[ROUNDS / 2]].map(|time| time.as_secs_f64() * 1e3);
        println!("{name:<34} {best:>8.2} {median:>8.2} ms  (budget {} ms)", budget.as_millis());
        within &= times[0] < budget;
    }
    if within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a memory of `ENTRIES` entries; `ending` changes or drops one.
fn text(ending: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = String::from("# Wyren Memory\n");
    let sections = &section::ORDER[1..7];
    for (at, name) in sections.iter().enumerate() {
        text.push_str(&format!("\n## {name}\n\n"));
        for n in (0..ENTRIES).filter(|n| n * sections.len() / ENTRIES == at) {
            if let Some(ending) = ending(n) {
                let (a, b) = (n * 7_919 % 997, n * 104_729 % 1_009);
                text.push_str(&format!(
                    "- **Module{a}** talks to `service_{b}` over the queue because retry {n} was lossy{ending} \
                     [session ab12cd34, turn {}, by Ada, 2026-11-16]\n",
                    n % 300
                ));
            }
        }
    }
    text
}

/// Returns the same lines in an unknown section.
fn free_text(text: &str) -> Memory {
    let lines: String =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    Memory::parse(&format!("# Wyren Memory\n\n## Team notes\n{lines}"))
}

fn additions(side: &str) -> String {
    let entry = |n: usize| format!("- {side} asks whether {n} is the answer [session {side}, turn {n}]\n");
    (0..100).map(entry).collect()
}

/// How long something took, the shortest first.
struct Figure {
    name: &'static str,
    times: Vec<Duration>,
    budget: Duration,
}

fn measure<T>(name: &'static str, budget: Duration, work: impl Fn() -> T) -> Figure {
    let time = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(time).collect();
    times.sort_unstable();
    Figure { name, times, budget }
}
