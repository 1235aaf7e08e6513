//! Eight clones write at once while processes are killed.

use crate::support::{Clone, TeamClone, TeamWorld, World, data_of, git, given};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use team_sync::repository::{ByLine, Outgoing};

const CLONES: usize = 8;
const ENTRIES: usize = 25;

/// Returns a command that adds entries to a clone and syncs it once: an example, which cargo builds with the tests.
pub(crate) fn sync_once(clone: &Clone, entries: &str, milliseconds: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/sync-once");
    let mut command = Command::new(program);
    command.arg(&clone.root).args([entries, milliseconds]);
    command.env("WYREN_DATA_DIR", data_of(&clone.root));
    command
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn start(clone: &Clone, entries: &str) -> Child {
    // What is killed complains.
    sync_once(clone, entries, "4000").stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a process, or the processes that it started: git and its guard.
fn kill(child: &mut Child, only_children: bool) {
    if !only_children {
        let _ = child.kill();
        return;
    }
    let path = format!("/proc/{0}/task/{0}/children", child.id());
    let children = std::fs::read_to_string(path).unwrap_or_default();
    for process in children.split_whitespace() {
        let _ = Command::new("kill").args(["-9", process]).stderr(Stdio::null()).status();
    }
}

/// Adds the entries of one clone, a few per process. Some processes are killed, and started again.
fn write_entries(clone: &Clone, name: usize) {
    let mut dice = Dice(name as u64 + 1);
    let mut entries = (0..ENTRIES).map(|entry| format!("entry {entry} of clone {name}")).peekable();
    while entries.peek().is_some() {
        let count = 1 + dice.roll(4) as usize;
        let some: Vec<String> = entries.by_ref().take(count).collect();
        let mut is_to_be_killed = dice.roll(3) == 0;
        loop {
            let mut child = start(clone, &some.join("\n"));
            if is_to_be_killed {
                std::thread::sleep(Duration::from_millis(dice.roll(150)));
                kill(&mut child, dice.roll(3) == 0);
                is_to_be_killed = false;
            }
            // What is queued goes with the next entries. What was killed may not have written its own.
            if matches!(child.wait().unwrap().code(), Some(0 | 3)) {
                break;
            }
        }
    }
}

fn check(world: &World, clones: &[Clone], branch: &str) {
    for clone in clones {
        given(&clone.team()).unwrap();
    }
    std::thread::scope(|scope| {
        for (name, clone) in clones.iter().enumerate() {
            scope.spawn(move || clone.untouched(|| write_entries(clone, name)));
        }
    });
    world.release_locks();
    for _ in 0..2 {
        for clone in clones {
            let published = clone.untouched(|| {
                let deadline = Instant::now() + Duration::from_secs(10);
                let team = clone.team().insistent();
                let leave = given(&team).unwrap();
                team.exchange(Some(&Outgoing::with(&leave)), &ByLine, deadline).unwrap().published
            });
            assert!(!matches!(published, team_sync::repository::Published::Queued(_)), "{published:?}");
        }
    }
    let expected: BTreeMap<String, usize> = (0..CLONES)
        .flat_map(|clone| (0..ENTRIES).map(move |entry| (format!("- entry {entry} of clone {clone}"), 1)))
        .collect();
    let count = |text: &str| {
        let mut counts = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with("- entry")) {
            *counts.entry(line.to_owned()).or_insert(0_usize) += 1;
        }
        counts
    };
    assert_eq!(count(&world.shared(branch, "memory.md").unwrap()), expected);
    for clone in clones {
        let copy = clone.team().copy_folder().join("memory.md");
        assert_eq!(count(&std::fs::read_to_string(copy).unwrap()), expected);
    }
    assert_eq!(git(&world.remote(), &["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn eight_clones_in_side_mode_lose_nothing_when_processes_are_killed() {
    let world = World::new(&[]);
    let clones: Vec<Clone> = (0..CLONES).map(|name| world.side_clone(&name.to_string())).collect();
    check(&world, &clones, "wyren/memory");
    assert_eq!(world.branches(), ["refs/heads/main", "refs/heads/wyren/memory"]);
}

#[test]
fn eight_clones_in_branch_mode_lose_nothing_when_processes_are_killed() {
    let world = World::new(&[(".wyren/memory.md", "# Memory\n"), (".gitignore", ".wyren/state/\n")]);
    let clones: Vec<Clone> = (0..CLONES).map(|name| world.clone_called(&name.to_string())).collect();
    for clone in &clones[4..] {
        clone.write("work", "not pushed\n");
        clone.commit("not pushed");
    }
    check(&world, &clones, "main");
    assert_eq!(world.branches(), ["refs/heads/main"]);
    let subjects = git(&world.remote(), &["log", "--format=%s", "main"]);
    assert!(!subjects.contains("not pushed"));
    for clone in &clones[..4] {
        clone.git(&["pull", "--quiet", "--ff-only"]);
    }
    for clone in &clones[4..] {
        clone.git(&["pull", "--quiet", "--rebase"]);
        clone.git(&["push", "--quiet"]);
    }
}

#[test]
fn a_git_that_was_killed_says_nothing_about_the_history() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.land(&[("memory.md", Some("- one\n"))]);
    b.sync();
    a.land(&[("memory.md", Some("- one\n- two\n"))]);
    let folder = world.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let real = std::env::var("PATH").unwrap();
    let lines = format!("case \"$*\" in *--is-ancestor*) kill -9 $$;; esac\nPATH='{real}' exec git \"$@\"");
    world.script(&folder.join("git"), &lines);
    let path = format!("{}:{real}", folder.display());
    let status = sync_once(&b, "", "10000").env("PATH", path).status();
    assert_eq!(status.unwrap().code(), Some(1));
    assert_eq!(b.team().rewrite().unwrap(), None);
    b.sync();
    assert_eq!(b.read(".wyren/memory.md"), "- one\n- two\n");
}

#[test]
fn a_reference_that_was_moved_back_removes_nothing() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.write(".wyren/memory.md", "- one\n");
    a.sync();
    let old = a.state().tip.unwrap();
    a.write(".wyren/memory.md", "- one\n- two\n");
    a.sync();
    // What a git process does that outlived its parent.
    a.git(&["update-ref", "refs/wyren/remote/wyren%2Fmemory", &old]);
    assert!(a.team().checkout(&ByLine, crate::support::soon()).unwrap().changes.is_empty());
    assert_eq!(a.read(".wyren/memory.md"), "- one\n- two\n");
    a.sync();
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one\n- two"));
}
