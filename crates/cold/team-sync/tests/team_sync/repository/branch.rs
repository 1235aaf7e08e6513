use crate::support::{Clone, TeamClone, World, env_of, git, remote_file, soon, text, try_git};
use place::{Mode, Reason};
use team_sync::repository::{ByLine, Error, Published, Team};

const IGNORED: (&str, &str) = (".gitignore", ".wyren/state/\n.wyren/log\n");

fn world() -> World {
    World::new(&[(".wyren/memory.md", "- one\n"), IGNORED])
}

/// Adds an entry to the local copy and syncs.
#[track_caller]
fn add(clone: &Clone, entry: &str) {
    let team = clone.team();
    assert_eq!(team.mode(), Mode::Branch);
    let copy = std::fs::read_to_string(team.copy_folder().join("memory.md"));
    let copy = copy.unwrap_or_else(|_| clone.read(".wyren/memory.md"));
    clone.write(".wyren/state/memory.md", &format!("{copy}- {entry}\n"));
    let published = clone.sync();
    assert!(matches!(published, Published::Landed(_)), "{published:?}");
}

#[test]
fn entries_of_both_clones_land_on_the_branch_and_no_tracked_file_changes() {
    let world = world();
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    add(&a, "from a");
    add(&b, "from b");
    a.sync();
    for clone in [&a, &b] {
        assert_eq!(clone.read(".wyren/state/memory.md"), "- one\n- from a\n- from b\n");
        assert_eq!(clone.read(".wyren/memory.md"), "- one\n");
    }
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one\n- from a\n- from b"));
    assert_eq!(world.branches(), ["refs/heads/main"]);
    assert_eq!(git(&world.remote(), &["show", "main:README"]), "read me");
}

#[test]
fn the_users_pull_and_push_work_after_a_sync() {
    let world = world();
    let (a, b, c) = (world.clone_called("a"), world.clone_called("b"), world.clone_called("c"));
    // B has a commit that was not pushed, C has uncommitted edits and something staged.
    b.write("work", "unpushed\n");
    b.commit("unpushed");
    c.write("README", "edited\n");
    c.write("staged", "staged\n");
    c.git(&["add", "staged"]);
    for clone in [&a, &b, &c] {
        add(clone, &format!("from {}", clone.root.file_name().unwrap().to_str().unwrap()));
    }
    let (has_work, _) = try_git(&world.remote(), &["cat-file", "-e", "main:work"]);
    assert!(!has_work, "an unpushed commit was published");

    a.git(&["pull", "--quiet", "--ff-only"]);
    assert!(a.read(".wyren/memory.md").contains("- from c\n"));
    b.git(&["pull", "--quiet", "--rebase"]);
    b.git(&["push", "--quiet"]);
    c.git(&["pull", "--quiet", "--ff-only"]);
    assert_eq!(c.git(&["status", "--porcelain"]), " M README\nA  staged");
    for clone in [&a, &b, &c] {
        clone.sync();
        clone.git(&["pull", "--quiet", "--rebase", "--autostash"]);
        assert_eq!(clone.read(".wyren/memory.md"), clone.read(".wyren/state/memory.md"));
    }
    assert_eq!(world.shared("main", "memory.md").unwrap().lines().count(), 4);
}

#[test]
fn a_race_with_unrelated_commits_shows_no_change_that_the_user_did_not_make() {
    let world = world();
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    let team = a.team();
    team.fetch(soon()).unwrap();
    b.write("code.rs", "fn main() {}\n");
    b.commit("code");
    b.git(&["push", "--quiet"]);
    // The fetch is fresh, so the push comes first, and is rejected.
    add(&a, "from a");
    assert_eq!(a.git(&["status", "--porcelain"]), "");
    assert_eq!(git(&world.remote(), &["log", "--format=%s", "-2", "main"]).lines().last(), Some("code"));
    a.git(&["pull", "--quiet", "--ff-only"]);
    assert_eq!(a.read("code.rs"), "fn main() {}\n");
}

#[test]
fn entries_removed_before_the_first_sync_do_not_come_back() {
    let world = World::new(&[(".wyren/memory.md", "- one\n- two\n"), (".wyren/broadcast/x", "x\n"), IGNORED]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    b.write(".wyren/memory.md", "- two\n");
    b.commit("remove one");
    b.git(&["push", "--quiet"]);
    add(&a, "three");
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- two\n- three"));
    assert_eq!(world.shared("main", "broadcast/x").as_deref(), Some("x"), "it was not removed");
}

#[test]
fn a_branch_that_is_not_on_the_remote_is_not_made_there() {
    let world = world();
    let clone = world.clone_called("a");
    clone.git(&["switch", "--quiet", "--create", "topic"]);
    let published = clone.publish(&[("memory.md", Some("- one\n- two\n"))]);
    assert_eq!(published, Published::Queued(Reason::NotOnRemote("topic".to_owned())));
    assert_eq!(world.branches(), ["refs/heads/main"]);
    clone.git(&["push", "--quiet", "--set-upstream", "origin", "topic:their-topic"]);
    assert_eq!(clone.team().branch(), Some("their-topic"));
    clone.land(&[("memory.md", Some("- one\n- two\n"))]);
    assert_eq!(world.shared("their-topic", "memory.md").as_deref(), Some("- one\n- two"));
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one"));
}

#[test]
fn head_and_base_and_remote_are_distinguished() {
    let world = world();
    let clone = world.clone_called("a");
    clone.write(".wyren/memory.md", "- one\n- committed\n");
    clone.commit("not pushed");
    add(&clone, "two");
    let team = clone.team();
    assert_eq!(text(team.head_file("memory.md").unwrap()).as_deref(), Some("- one\n- committed\n"));
    let all = Some("- one\n- committed\n- two\n");
    assert_eq!(text(remote_file(&team, "memory.md").unwrap()).as_deref(), all);
    assert_eq!(text(team.last_file("memory.md").unwrap()).as_deref(), all);
    assert!(team.checkout(&ByLine, soon()).unwrap().changes.is_empty());
}

#[test]
fn a_tracked_broadcast_folder_is_not_needed() {
    let world = world();
    let clone = world.clone_called("a");
    clone.sync();
    assert_eq!(clone.read(".wyren/state/memory.md"), "- one\n");
    assert!(!clone.root.join(".wyren/state/broadcast").exists());
}

#[test]
fn a_local_copy_that_a_teammate_tracks_is_not_published_as_the_users() {
    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let clone = world.clone_called("a");
    clone.sync();
    let first = Clone { root: world.path().join("first") };
    first.git(&["pull", "--quiet", "--ff-only"]);
    first.write(".wyren/state/memory.md", "- one\n- obey\n");
    first.git(&["add", "--force", ".wyren/state/memory.md"]);
    first.commit("state");
    first.git(&["push", "--quiet"]);
    std::fs::remove_file(clone.root.join(".wyren/state/memory.md")).unwrap();
    clone.git(&["pull", "--quiet", "--ff-only"]);
    let opened = Team::open(&clone.root, &env_of(&clone.root));
    assert!(matches!(opened, Err(Error::TrackedState)));
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one"));
}
