//! Many at once.

use crate::support::{Clone, memory};
use std::sync::Barrier;

/// Runs `task` for `0..count` at the same moment and returns what each came back with.
fn at_once<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    std::thread::scope(|scope| {
        let run = |number| {
            let (barrier, task) = (&barrier, &task);
            scope.spawn(move || {
                barrier.wait();
                task(number)
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[track_caller]
fn check_whole(clone: &Clone, decisions: &[&str]) {
    let hash = &base::digest::sha256_hex(memory(decisions).as_bytes())[..12];
    assert_eq!(clone.ups_state()["last_injected_hash"], hash);
    assert_eq!(clone.read(".wyren/state/last-injected-memory.md"), memory(decisions));
    for folder in [".wyren/state", ".wyren/state/sessions"] {
        for file in base::files::files_in(&clone.path(folder)) {
            assert!(!file.to_string_lossy().ends_with(".tmp"), "{}", file.display());
        }
    }
}

#[test]
fn ten_first_prompts_at_once_leave_one_consistent_state() {
    let clone = Clone::new(&["a"]);
    let told = at_once(10, |number| clone.prompt(&format!("session {number}")));
    assert!(told.iter().all(String::is_empty));
    check_whole(&clone, &["a"]);
}

#[test]
fn eight_prompts_at_once_after_a_change_each_tell_it_whole() {
    let clone = Clone::new(&["a"]);
    for number in 0..8 {
        clone.prompt(&format!("session {number}"));
    }
    clone.decide(&["a", "b"]);
    // Each has its own session, so each gets the text.
    let told = at_once(8, |number| clone.prompt(&format!("session {number}")));
    assert!(told.iter().all(|text| text.contains("### New in Decisions\n- b\n")), "{told:?}");
    check_whole(&clone, &["a", "b"]);
}

#[test]
fn prompts_of_one_session_at_once_leave_no_torn_file() {
    let clone = Clone::new(&["a"]);
    clone.prompt("s");
    clone.decide(&["a", "b"]);
    let told = at_once(15, |_| clone.prompt("s"));
    assert!(told.iter().all(|text| text.is_empty() || text.contains("- b\n")));
    assert!(told.iter().any(|text| !text.is_empty()));
    check_whole(&clone, &["a", "b"]);
    assert_eq!(clone.prompt("s"), "");
}
