use crate::support::{ShareClone, TeamWorld, World, soon};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn changes_of_many_threads_and_syncs_lose_nothing() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    b.decide("from b");
    b.land();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let a = &a;
                scope.spawn(move || (0..10).for_each(|round| a.decide(&format!("entry {round} of {writer}"))))
            })
            .collect();
        let syncing = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                a.share().sync(None, soon()).unwrap();
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_done.store(true, Ordering::Relaxed);
        syncing.join().unwrap();
    });
    a.sync();
    assert_eq!(a.decisions().len(), 41);
    b.sync();
    assert_eq!(b.decisions().len(), 41);
}

#[test]
fn changes_of_many_processes_lose_nothing() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    let program = decide_program();
    let children: Vec<_> = (0..6)
        .map(|number| Command::new(&program).arg(&a.root).arg(format!("{number}")).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(a.decisions().len(), 1 + 6 * 5);
    assert!(!a.read(".wyren/memory.md").contains("process"), "the tracked file is the user's");
}

/// Returns the program `decide` of `examples/`, which cargo builds with the tests.
fn decide_program() -> std::path::PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("examples").join("decide")
}

#[test]
fn a_change_that_changes_nothing_writes_nothing_and_a_link_is_refused() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.decide("one");
    let path = a.root.join(".wyren/memory.md");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert!(a.share().change("Ada", "nothing", Clone::clone).unwrap().is_empty());
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    let outside = world.path().join("outside.md");
    std::fs::write(&outside, "## Decisions\n\n- outside\n").unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    let refused = a.share().change("Ada", "x", |_| memory::Memory::parse("## Decisions\n\n- x\n"));
    assert!(refused.is_err());
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "## Decisions\n\n- outside\n");
}

#[test]
fn a_memory_that_is_no_text_is_not_written_over() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    std::fs::write(a.root.join(".wyren/memory.md"), b"\xff\xfe").unwrap();
    let refused = a.share().change("Ada", "x", |_| memory::Memory::parse("- x\n"));
    assert!(matches!(refused, Err(team_sync::Error::NotText(_))), "{refused:?}");
    assert_eq!(std::fs::read(a.root.join(".wyren/memory.md")).unwrap(), b"\xff\xfe");
}

#[test]
fn several_syncs_at_once_in_one_clone_remove_nothing() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    a.share().sync(None, soon()).unwrap();
                }
            });
        }
        for round in 0..8 {
            b.decide(&format!("b {round}"));
            b.share().sync(None, soon()).unwrap();
            a.decide(&format!("a {round}"));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    a.sync();
    b.sync();
    assert_eq!((a.decisions().len(), b.decisions().len()), (16, 16));
    assert!(a.share().history().unwrap().removals.is_empty());
}
