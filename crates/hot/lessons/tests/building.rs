//! How much work an index is to make: in steps that are counted, since time depends on the machine.

use lessons::index::{self, Fingerprint};
use lessons::manifest;
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is allocated: making an index is reading, compiling and copying, each of which allocates.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns a manifest of `count` lessons: most about commands, a third of those looking ahead, and a fourth about paths.
fn manifest_of(count: usize) -> String {
    let entry = |number: usize| {
        let (tool, commands, paths) = match number % 4 {
            0 => ("Edit", vec![], vec![format!(r"src/part{number}/[^/]*\.rs$")]),
            1 => ("Bash", vec![format!(r"\btool{number}\b(?!.*--safe)")], vec![]),
            _ => ("Bash", vec![format!(r"\btool{number}\s+(apply|push)\b.*--all")], vec![]),
        };
        let sources =
            |texts: Vec<String>| -> Value { texts.into_iter().map(|text| json!({"source": text})).collect() };
        json!({
            "slug": format!("lesson-{number}"), "type": "hint", "toolNames": [tool], "summary": "It goes wrong",
            "problem": "why ".repeat(60), "solution": "what to do ".repeat(20), "message": "m",
            "commandRegexSources": sources(commands), "pathRegexSources": sources(paths),
        })
    };
    let lessons: serde_json::Map<String, Value> =
        (0..count).map(|number| (format!("{number:026}"), entry(number))).collect();
    json!({"lessons": lessons}).to_string()
}

/// Returns how many times memory was asked for, how many bytes, and how large the index is.
fn work(count: usize) -> [usize; 3] {
    let text = manifest_of(count);
    let before = [CALLS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed)];
    let found = manifest::parse(&text).unwrap();
    let (file, unindexed) = index::build(&found.lessons, Fingerprint::default());
    let after = [CALLS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed)];
    assert_eq!((found.lessons.len(), found.flaws.len(), unindexed.len()), (count, 0, 0));
    [after[0] - before[0], after[1] - before[1], file.len()]
}

#[test]
fn the_work_of_making_an_index_grows_with_the_lessons_and_not_faster() {
    // The first run also pays for what is made once.
    work(50);
    let (small, large) = (work(500), work(5_000));
    for (name, (small, large)) in ["allocations", "bytes", "index"].iter().zip(small.into_iter().zip(large)) {
        // Tables double, so a little more than ten times is linear, too.
        assert!(large < small * 13, "{name}: {small} for 500 lessons, {large} for 5,000");
    }
    assert!(large[0] < 5_000 * 400, "{} allocations for 5,000 lessons", large[0]);
}
