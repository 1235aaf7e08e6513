//! Hand edits of the tracked file in branch mode.

use crate::support::{Clone, ShareClone, TeamWorld, World, decisions};

/// Writes the tracked file.
fn write(clone: &Clone, entries: &[&str]) {
    clone.write(".wyren/memory.md", &decisions(entries));
}

/// 3: uncommitted edits survive any number of syncs, and reach the others.
#[test]
fn an_uncommitted_edit_is_published_and_survives() {
    let world = World::with_memory(&["one", "two"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    write(&a, &["one", "by hand"]);
    a.land();
    b.sync();
    assert_eq!(b.decisions(), ["one", "by hand"]);
    for round in 0..3 {
        b.decide(&format!("round {round}"));
        b.land();
        a.sync();
        assert_eq!(a.read(".wyren/memory.md"), decisions(&["one", "by hand"]));
    }
    assert_eq!(a.decisions().len(), 5);
    let history = a.share().history().unwrap();
    assert_eq!(history.search("two").len(), 1, "{history:?}");
    assert_eq!(history.search("two")[0].why, "edited by hand");
}

/// 3: what is committed and not pushed counts as an edit, and the commit itself stays here.
#[test]
fn a_committed_edit_is_published_without_its_commit() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    write(&a, &["one", "committed"]);
    a.write("secret-plan", "x\n");
    a.commit("not pushed");
    a.land();
    let shared = world.shared("main", "memory.md").unwrap();
    assert!(shared.contains("- committed"), "{shared}");
    let log = crate::support::git(&world.remote(), &["log", "--format=%s", "main"]);
    assert!(!log.contains("not pushed"), "{log}");
}

#[test]
fn taking_an_edit_in_twice_changes_nothing() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    write(&a, &["one", "by hand"]);
    let share = a.share();
    assert_eq!(share.fold(crate::support::soon()).unwrap(), ["memory.md"]);
    assert!(share.fold(crate::support::soon()).unwrap().is_empty());
    a.land();
    assert!(share.fold(crate::support::soon()).unwrap().is_empty());
    assert_eq!(a.sync().published, team_sync::repository::Published::Nothing);
}

#[test]
fn what_a_teammate_removed_does_not_come_back_by_hand() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    write(&a, &["one", "by hand"]);
    a.land();
    b.sync();
    b.take_back("by hand");
    b.land();
    // Uncommitted, committed, and behind a commit of something else: it stays removed.
    a.sync();
    assert_eq!(a.decisions(), ["one"]);
    a.sync();
    a.commit("with the entry");
    a.sync();
    a.write("code", "x\n");
    a.commit("code");
    a.sync();
    assert_eq!(a.decisions(), ["one"]);
    assert!(!world.shared("main", "memory.md").unwrap().contains("by hand"));
}

#[test]
fn an_entry_that_was_added_and_removed_by_hand_is_gone() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    write(&a, &["one", "good", "bad"]);
    a.land();
    write(&a, &["one", "good"]);
    a.land();
    assert_eq!(a.decisions(), ["one", "good"]);
    assert!(!world.shared("main", "memory.md").unwrap().contains("bad"));
}

#[test]
fn switching_branches_and_putting_edits_away_remove_nothing() {
    let world = World::with_memory(&["one", "two"]);
    let a = world.clone_called("a");
    write(&a, &["one", "two", "by hand"]);
    a.land();
    a.git(&["stash", "--quiet"]);
    a.sync();
    assert_eq!(a.decisions(), ["one", "two", "by hand"]);
    a.git(&["stash", "pop", "--quiet"]);
    a.git(&["switch", "--quiet", "--create", "topic"]);
    a.commit("on topic");
    a.git(&["push", "--quiet", "--set-upstream", "origin", "topic"]);
    a.sync();
    a.git(&["switch", "--quiet", "main"]);
    a.sync();
    // A branch that never had most of it.
    a.git(&["switch", "--quiet", "--create", "old"]);
    write(&a, &["one"]);
    a.git(&["commit", "--quiet", "--all", "--message", "shorter"]);
    a.git(&["switch", "--quiet", "main"]);
    a.sync();
    assert_eq!(a.decisions(), ["one", "two", "by hand"]);
    write(&a, &["one", "two", "another"]);
    a.git(&["switch", "--quiet", "topic", "--force"]);
    a.sync();
    assert!(a.decisions().contains(&"by hand".to_owned()));
}

#[test]
fn other_shared_files_are_taken_in_once_they_are_tracked() {
    let world = World::new(&[
        (".wyren/memory.md", &decisions(&["one"])),
        (".wyren/broadcast/rules.md", "old\n"),
        crate::support::IGNORED,
    ]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.write(".wyren/broadcast/rules.md", "new\n");
    a.write(".wyren/broadcast/untracked.md", "untracked\n");
    a.land();
    assert_eq!(world.shared("main", "broadcast/rules.md").as_deref(), Some("new"));
    assert_eq!(world.shared("main", "broadcast/untracked.md"), None);
    b.sync();
    assert_eq!(b.read(".wyren/state/broadcast/rules.md"), "new\n");
    std::fs::remove_file(a.root.join(".wyren/broadcast/rules.md")).unwrap();
    a.sync();
    assert_eq!(world.shared("main", "broadcast/rules.md").as_deref(), Some("new"), "missing is not removed");
}

#[test]
fn conflict_marks_other_line_breaks_and_an_emptied_file_are_no_edits() {
    let world = World::with_memory(&["one", "two"]);
    let a = world.clone_called("a");
    a.sync();
    let tip = || crate::support::git(&world.remote(), &["rev-parse", "main"]);
    let before = tip();
    a.write(".wyren/memory.md", "<<<<<<< HEAD\n- mine\n=======\n- theirs\n>>>>>>> other\n");
    a.sync();
    a.write(".wyren/memory.md", &decisions(&["one", "two"]).replace('\n', "\r\n"));
    a.sync();
    a.write(".wyren/memory.md", "");
    a.sync();
    std::fs::remove_file(a.root.join(".wyren/memory.md")).unwrap();
    a.sync();
    assert_eq!(tip(), before);
    assert_eq!(a.decisions(), ["one", "two"]);
}

#[test]
fn a_pull_after_the_edit_landed_in_a_commit_works() {
    let world = World::with_memory(&["one"]);
    let a = world.clone_called("a");
    write(&a, &["one", "by hand"]);
    a.commit("by hand");
    a.land();
    a.git(&["pull", "--quiet", "--rebase"]);
    a.git(&["push", "--quiet"]);
    assert_eq!(a.sync().published, team_sync::repository::Published::Nothing);
    assert_eq!(a.decisions(), ["one", "by hand"]);
}
