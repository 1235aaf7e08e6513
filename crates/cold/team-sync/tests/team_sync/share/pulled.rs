//! What the user's own git brought, in branch mode: it is the team's, and no edit of theirs.

use crate::support::{Clone, ShareClone, TeamWorld, World, data_of, decisions, env_of, git, soon, try_git};
use memory::history::Removal;
use place::Reason;
use std::fs;
use team_sync::Share;
use team_sync::repository::Published;

/// Something that the user does with their git, such as getting what the remote has.
type Pull = (&'static str, fn(&Clone));

const PULLS: [Pull; 8] = [
    ("fast-forward", |clone| drop(clone.git(&["pull", "--quiet", "--ff-only"]))),
    ("merge", |clone| {
        work(clone);
        clone.git(&["pull", "--quiet", "--no-rebase", "--no-edit"]);
    }),
    ("rebase", |clone| {
        work(clone);
        clone.git(&["pull", "--quiet", "--rebase"]);
    }),
    ("fetch and merge", |clone| {
        clone.git(&["fetch", "--quiet"]);
        clone.git(&["merge", "--quiet", "origin/main"]);
    }),
    ("fetch alone", |clone| drop(clone.git(&["fetch", "--quiet"]))),
    ("reset", |clone| {
        clone.git(&["fetch", "--quiet"]);
        clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
    }),
    ("checkout of a branch that moved", |clone| {
        clone.git(&["switch", "--quiet", "--create", "elsewhere"]);
        clone.git(&["fetch", "--quiet", "origin", "main:main"]);
        clone.git(&["checkout", "--quiet", "main"]);
    }),
    ("pull from an address", |clone| {
        let address = clone.git(&["remote", "get-url", "origin"]);
        clone.git(&["pull", "--quiet", "--ff-only", &address, "main"]);
    }),
];

/// Makes a commit that is not pushed and has nothing to do with the memory.
fn work(clone: &Clone) {
    let before = fs::read_to_string(clone.root.join("work")).unwrap_or_default();
    clone.write("work", &format!("{before}unpushed\n"));
    clone.commit("unpushed");
}

/// Makes a clone whose user has a name of their own.
fn member(world: &World, name: &str) -> Clone {
    let clone = world.clone_called(name);
    clone.git(&["config", "user.name", name]);
    clone
}

/// Makes the clones of three members. Two of them have synced; the first pushes by plain git, as the Node version does.
fn team(world: &World) -> [Clone; 3] {
    let members = ["ada", "bob", "cyd"].map(|name| member(world, name));
    members[1].sync();
    members[2].sync();
    members
}

/// Commits a memory by plain git, and pushes it.
#[track_caller]
fn push(clone: &Clone, entries: &[&str]) {
    clone.git(&["pull", "--quiet", "--ff-only"]);
    clone.write(".wyren/memory.md", &decisions(entries));
    clone.commit("[wyren] memory update (session a0000001)");
    clone.git(&["push", "--quiet"]);
}

/// Returns the decisions on a branch of the remote, in alphabetical order.
#[track_caller]
fn published(world: &World) -> Vec<String> {
    let text = world.shared("main", "memory.md").unwrap();
    let mut entries: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
    entries.sort();
    entries
}

/// Returns who committed to the remote's branch, the newest first.
fn authors(world: &World) -> String {
    git(&world.remote(), &["log", "--format=%an", "main"])
}

/// Makes the remote unreachable while something is done.
fn offline<T>(world: &World, action: impl FnOnce() -> T) -> T {
    let away = world.path().join("away");
    fs::rename(world.remote(), &away).unwrap();
    let result = action();
    fs::rename(&away, world.remote()).unwrap();
    result
}

#[track_caller]
fn removal(clone: &Clone, words: &str) -> Removal {
    let history = clone.share().history().unwrap();
    let found = history.search(words);
    assert_eq!(found.len(), 1, "{history:?}");
    found[0].clone()
}

#[test]
fn d1_an_entry_that_a_pull_brought_and_a_teammate_removed_since_stays_removed() {
    for (way, pull) in PULLS {
        let world = World::with_memory(&["One", "Three", "Two"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One", "Three", "Two", "Four"]);
        pull(&bob);
        cyd.sync();
        cyd.take_back("Four");
        cyd.land();
        let before = authors(&world);
        assert_eq!(bob.sync().published, Published::Nothing, "{way}");
        assert_eq!(published(&world), ["One", "Three", "Two"], "{way}");
        assert_eq!(bob.sorted_decisions(), ["One", "Three", "Two"], "{way}");
        assert_eq!(authors(&world), before, "{way}");
        assert_eq!(removal(&bob, "Four").by, "cyd", "{way}");
    }
}

#[test]
fn d1_an_entry_that_two_reworded_one_after_the_other_has_the_last_wording() {
    for (way, pull) in PULLS {
        let world = World::with_memory(&["One", "Cache for an hour"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One", "Cache for a day"]);
        pull(&bob);
        cyd.sync();
        cyd.take_back("Cache for a day");
        cyd.decide("Cache for a week");
        cyd.land();
        assert_eq!(bob.sync().published, Published::Nothing, "{way}");
        assert_eq!(published(&world), ["Cache for a week", "One"], "{way}");
        assert_eq!(bob.sorted_decisions(), ["Cache for a week", "One"], "{way}");
    }
}

#[test]
fn d1_an_entry_that_a_pull_took_away_and_a_teammate_restored_since_stays() {
    for (way, pull) in PULLS {
        let world = World::with_memory(&["One", "Two"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One"]);
        pull(&bob);
        cyd.sync();
        cyd.decide("Two");
        cyd.land();
        assert_eq!(bob.sync().published, Published::Nothing, "{way}");
        assert_eq!(published(&world), ["One", "Two"], "{way}");
        assert_eq!(bob.sorted_decisions(), ["One", "Two"], "{way}");
    }
}

#[test]
fn d1_the_history_names_who_removed_an_entry_that_a_pull_took_away_and_when() {
    for (way, pull) in PULLS {
        let world = World::with_memory(&["One", "Two"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One"]);
        let when = git(&world.remote(), &["log", "-1", "--format=%aI", "main"]);
        let when: base::Timestamp = when.parse().unwrap();
        // The newest commit is another one's.
        push(&cyd, &["One", "Three"]);
        pull(&bob);
        bob.sync();
        let removal = removal(&bob, "Two");
        assert_eq!((&*removal.by, &*removal.when), ("ada", &*when.to_string()), "{way}");
        let noted = fs::read_to_string(bob.root.join(".wyren/state/history.jsonl")).unwrap();
        assert!(noted.contains(r#""by":"ada""#) && noted.contains(&when.to_string()), "{way}: {noted}");
        assert!(!authors(&world).contains("bob"), "{way}");
    }
}

#[test]
fn d1_what_a_pull_brought_is_the_teams_without_a_network_too() {
    // An address leaves no trace in the clone, so it takes the remote to tell whose commits those are.
    for (way, pull) in &PULLS[..PULLS.len() - 1] {
        let world = World::with_memory(&["One", "Two"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One", "Four"]);
        pull(&bob);
        let synced = offline(&world, || bob.sync());
        assert!(matches!(synced.published, Published::Queued(_)), "{way}: {synced:?}");
        assert_eq!(bob.sorted_decisions(), ["Four", "One"], "{way}");
        assert_eq!(removal(&bob, "Two").by, "ada", "{way}");
        assert!(!bob.share().has_unpublished(), "{way}");
        cyd.sync();
        cyd.take_back("Four");
        cyd.decide("Two");
        cyd.land();
        assert_eq!(bob.sync().published, Published::Nothing, "{way}");
        assert_eq!(
            (published(&world), bob.sorted_decisions()),
            (vec!["One".to_owned(), "Two".to_owned()], vec!["One".to_owned(), "Two".to_owned()]),
            "{way}"
        );
    }
}

#[test]
fn d1_a_command_that_asks_no_remote_shows_what_a_pull_brought() {
    let world = World::with_memory(&["One", "Two"]);
    let [ada, bob, _] = team(&world);
    push(&ada, &["One", "Four"]);
    bob.git(&["pull", "--quiet", "--ff-only"]);
    offline(&world, || bob.share().fold(soon()).unwrap());
    assert_eq!(bob.sorted_decisions(), ["Four", "One"]);
    let difference = bob.share().difference().unwrap().unwrap();
    assert_eq!(difference, team_sync::Difference::default());
    assert_eq!(removal(&bob, "Two").by, "ada");
}

#[test]
fn d1_a_pull_in_a_linked_work_tree_is_no_edit_of_the_users() {
    for (way, pull) in PULLS {
        let world = World::with_memory(&["One", "Two"]);
        let [ada, bob, cyd] = team(&world);
        bob.git(&["switch", "--quiet", "--detach"]);
        bob.git(&["worktree", "add", "--quiet", "../tree", "main"]);
        let tree = Clone { root: world.path().join("tree") };
        tree.sync();
        push(&ada, &["One", "Four"]);
        pull(&tree);
        // The main work tree fetches, which moves the reference that both share.
        bob.sync();
        cyd.sync();
        cyd.take_back("Four");
        cyd.decide("Two");
        cyd.land();
        assert_eq!(tree.sync().published, Published::Nothing, "{way}");
        assert_eq!(published(&world), ["One", "Two"], "{way}");
        assert_eq!(tree.sorted_decisions(), ["One", "Two"], "{way}");
    }
}

/// The user's own commits stay theirs, however often they are moved: they are published as an edit, without the commit.
#[test]
fn d1_own_commits_that_a_pull_rebased_or_merged_are_still_an_edit() {
    for arguments in [&["--rebase"][..], &["--no-rebase", "--no-edit"]] {
        let world = World::with_memory(&["One", "Two", "Three", "Five", "Six"]);
        let [ada, bob, cyd] = team(&world);
        push(&ada, &["One", "Two", "Three", "Five", "Six", "Four"]);
        bob.write(".wyren/memory.md", &decisions(&["Mine", "One", "Three", "Five", "Six"]));
        bob.commit("by hand");
        bob.git(&[&["pull", "--quiet"], arguments].concat());
        cyd.sync();
        cyd.take_back("Four");
        cyd.land();
        bob.land();
        assert_eq!(published(&world), ["Five", "Mine", "One", "Six", "Three"], "{arguments:?}");
        assert_eq!(bob.sorted_decisions(), ["Five", "Mine", "One", "Six", "Three"], "{arguments:?}");
        let log = git(&world.remote(), &["log", "--format=%s", "main"]);
        assert!(!log.contains("by hand"), "{log}");
        let removal = removal(&bob, "Two");
        assert_eq!((&*removal.by, &*removal.why), ("bob", "edited by hand"));
        // Taken out by a teammate, it does not come back with the next pull.
        cyd.sync();
        cyd.take_back("Mine");
        cyd.land();
        bob.sync();
        assert_eq!(published(&world), ["Five", "One", "Six", "Three"], "{arguments:?}");
        assert_eq!(bob.sorted_decisions(), ["Five", "One", "Six", "Three"], "{arguments:?}");
    }
}

#[test]
fn d1_own_commits_are_an_edit_without_a_network_too() {
    let world = World::with_memory(&["One", "Two", "Three", "Five", "Six"]);
    let [ada, bob, cyd] = team(&world);
    push(&ada, &["One", "Two", "Three", "Five", "Six", "Four"]);
    bob.write(".wyren/memory.md", &decisions(&["Mine", "One", "Three", "Five", "Six"]));
    bob.commit("by hand");
    bob.git(&["pull", "--quiet", "--rebase"]);
    offline(&world, || bob.sync());
    assert_eq!(bob.sorted_decisions(), ["Five", "Four", "Mine", "One", "Six", "Three"]);
    let difference = bob.share().difference().unwrap().unwrap();
    assert_eq!(difference.ours.len(), 2, "{difference:?}");
    cyd.sync();
    cyd.take_back("Four");
    cyd.land();
    bob.land();
    assert_eq!(published(&world), ["Five", "Mine", "One", "Six", "Three"]);
}

/// An edit is taken in once: what a teammate made of it since holds when the same edit is committed or pulled over.
#[test]
fn d1_an_entry_that_was_removed_by_hand_and_restored_by_a_teammate_is_not_removed_again() {
    let then: [Pull; 2] = [
        ("commit", |clone| clone.commit("by hand")),
        ("autostash", |clone| drop(clone.git(&["pull", "--quiet", "--rebase", "--autostash"]))),
    ];
    for (way, then) in then {
        let world = World::with_memory(&["Two", "One", "Three", "Five", "Six", "Seven"]);
        let [ada, bob, cyd] = team(&world);
        bob.write(".wyren/memory.md", &decisions(&["One", "Three", "Five", "Six", "Seven"]));
        bob.land();
        cyd.sync();
        cyd.decide("Two");
        cyd.land();
        bob.sync();
        push(&ada, &["Two", "One", "Three", "Five", "Six", "Seven", "Eight"]);
        then(&bob);
        bob.sync();
        assert_eq!(published(&world), ["Eight", "Five", "One", "Seven", "Six", "Three", "Two"], "{way}");
        assert!(bob.decisions().contains(&"Two".to_owned()), "{way}");
    }
}

/// A reference that is older than what Wyren has fetched moves nothing back.
#[test]
fn d1_a_tracking_branch_that_is_behind_changes_nothing() {
    let world = World::with_memory(&["One"]);
    let [_, bob, cyd] = team(&world);
    let known = bob.git(&["rev-parse", "refs/remotes/origin/main"]);
    cyd.decide("Two");
    cyd.land();
    bob.sync();
    let tip = bob.git(&["rev-parse", "refs/wyren/remote/main"]);
    assert_eq!(bob.git(&["rev-parse", "refs/remotes/origin/main"]), known);
    bob.git(&["switch", "--quiet", "--create", "aside"]);
    bob.git(&["switch", "--quiet", "main"]);
    offline(&world, || bob.sync());
    assert_eq!(bob.git(&["rev-parse", "refs/wyren/remote/main"]), tip);
    assert_eq!(bob.decisions(), ["One", "Two"]);
}

/// Replaces the remote's branch by one that forked before its last commit.
fn force_push(world: &World, entries: &[&str]) {
    let rewriter = member(world, "rewriter");
    rewriter.git(&["reset", "--quiet", "--hard", "HEAD^"]);
    rewriter.write(".wyren/memory.md", &decisions(entries));
    rewriter.commit("rewritten");
    rewriter.git(&["push", "--quiet", "--force"]);
}

/// Whether Wyren or the user's git sees a force-push first, it takes a decision to lose an entry.
#[test]
fn d1_a_forced_push_that_the_users_git_saw_first_waits_for_a_decision() {
    for is_offline_first in [false, true] {
        let world = World::with_memory(&["One"]);
        let [ada, bob, _] = team(&world);
        push(&ada, &["One", "Two"]);
        // Known through the user's git alone, or through Wyren as well.
        bob.git(&["pull", "--quiet", "--ff-only"]);
        offline(&world, || bob.sync());
        force_push(&world, &["One", "Three"]);
        bob.git(&["fetch", "--quiet"]);
        bob.git(&["reset", "--quiet", "--hard", "origin/main"]);
        if is_offline_first {
            offline(&world, || bob.sync());
            assert_eq!(bob.decisions(), ["One", "Two"]);
        }
        let synced = bob.sync();
        assert_eq!(synced.published, Published::Queued(Reason::Rewritten));
        let vanished = synced.rewritten.unwrap().vanished;
        assert_eq!(vanished, [("Decisions".to_owned(), "Two".to_owned())]);
        assert_eq!(bob.decisions(), ["One", "Two"]);
        bob.share().restore(None, soon()).unwrap();
        assert_eq!(published(&world), ["One", "Three", "Two"]);
        assert_eq!(bob.sorted_decisions(), ["One", "Three", "Two"]);
    }
}

/// What Wyren took from the user's git counts as what the remote had: a force-push that drops it waits for a decision.
#[test]
fn d1_a_forced_push_over_what_only_the_users_git_had_fetched_waits_for_a_decision() {
    let world = World::with_memory(&["One"]);
    let [ada, bob, _] = team(&world);
    push(&ada, &["One", "Two"]);
    bob.git(&["pull", "--quiet", "--ff-only"]);
    offline(&world, || bob.sync());
    force_push(&world, &["One", "Three"]);
    let synced = bob.sync();
    assert_eq!(synced.rewritten.map(|it| it.vanished.len()), Some(1));
    assert_eq!(bob.decisions(), ["One", "Two"]);
    let accepted = bob.share().accept(None, soon()).unwrap();
    assert_eq!(accepted.published, Published::Nothing);
    assert_eq!(bob.sorted_decisions(), ["One", "Three"]);
    assert_eq!(published(&world), ["One", "Three"]);
}

/// What another work tree of the branch has fetched is merged without asking the remote, and counts like a fetch.
#[test]
fn d1_a_forced_push_over_what_another_work_tree_had_fetched_waits_for_a_decision() {
    let world = World::with_memory(&["One"]);
    let [ada, bob, _] = team(&world);
    bob.git(&["worktree", "add", "--quiet", "--track", "-b", "topic", "../tree", "origin/main"]);
    let tree = Clone { root: world.path().join("tree") };
    tree.sync();
    push(&ada, &["One", "Two"]);
    bob.sync();
    offline(&world, || tree.sync());
    assert_eq!(tree.decisions(), ["One", "Two"]);
    force_push(&world, &["One", "Three"]);
    assert_eq!(tree.sync().rewritten.map(|it| it.vanished.len()), Some(1));
    assert_eq!(tree.decisions(), ["One", "Two"]);
}

/// Merges in both directions leave several places where HEAD and the remote parted. What either has is published.
#[test]
fn d1_what_was_merged_in_both_directions_is_no_edit() {
    let world = World::with_memory(&["One", "a", "b", "c", "d", "e", "Two"]);
    let [ada, bob, _] = team(&world);
    // Both have a commit of their own, and each merges the other's.
    bob.write(".wyren/memory.md", &decisions(&["Bob", "One", "a", "b", "c", "d", "e", "Two"]));
    bob.commit("of bob");
    bob.git(&["push", "--quiet", "origin", "main:refs/heads/bobs"]);
    let forked = ada.git(&["rev-parse", "HEAD"]);
    push(&ada, &["One", "a", "b", "c", "d", "e", "Two", "Ada"]);
    let of_ada = ada.git(&["rev-parse", "HEAD"]);
    assert_ne!(forked, of_ada);
    bob.git(&["pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main"]);
    ada.git(&["pull", "--quiet", "--no-rebase", "--no-edit", "origin", "bobs"]);
    ada.git(&["commit", "--quiet", "--allow-empty", "--message", "more"]);
    ada.git(&["push", "--quiet"]);
    bob.git(&["fetch", "--quiet"]);
    assert_eq!(bob.git(&["merge-base", "--all", "HEAD", "origin/main"]).lines().count(), 2);
    assert_eq!(bob.sync().published, Published::Nothing);
    let expected = ["Ada", "Bob", "One", "Two", "a", "b", "c", "d", "e"];
    assert_eq!(
        (published(&world), bob.sorted_decisions()),
        (expected.map(str::to_owned).to_vec(), expected.map(str::to_owned).to_vec())
    );
    assert_eq!(authors(&world).lines().next(), Some("ada"));
}

/// A forced push that Wyren has seen and accepted, and the user's git has not: the old commits at HEAD are no edit.
#[test]
fn d1_a_tracking_branch_beside_the_known_tip_brings_nothing_back() {
    let world = World::with_memory(&["One"]);
    let [ada, bob, _] = team(&world);
    push(&ada, &["One", "Two"]);
    bob.git(&["pull", "--quiet", "--ff-only"]);
    bob.sync();
    force_push(&world, &["One", "Three"]);
    bob.sync();
    bob.share().accept(None, soon()).unwrap();
    for _ in 0..2 {
        assert_eq!(bob.sync().published, Published::Nothing);
        assert_eq!(bob.sorted_decisions(), ["One", "Three"]);
        work(&bob);
    }
    assert_eq!(published(&world), ["One", "Three"]);
}

/// An archive brings whatever references it likes. They give no leave, publish nothing and lose nothing.
#[test]
fn d1_a_made_up_tracking_branch_loses_nothing_and_publishes_nothing() {
    let forgeries: [Pull; 5] = [
        ("an object that is not there", |clone| {
            let path = clone.root.join(".git/refs/remotes/origin/main");
            fs::write(path, "0123456789012345678901234567890123456789\n").unwrap();
        }),
        ("no reference at all", |clone| {
            fs::write(clone.root.join(".git/refs/remotes/origin/main"), "x\n").unwrap();
        }),
        ("a file", |clone| {
            let blob = clone.git(&["hash-object", "-w", "README"]);
            fs::write(clone.root.join(".git/refs/remotes/origin/main"), format!("{blob}\n")).unwrap();
        }),
        ("another history", |clone| {
            let tree = clone.git(&["rev-parse", "HEAD^{tree}"]);
            let commit = clone.git(&["commit-tree", &tree, "-m", "forged"]);
            clone.git(&["update-ref", "refs/remotes/origin/main", &commit]);
        }),
        ("a commit that was never pushed and takes entries out", |clone| {
            clone.git(&["switch", "--quiet", "--create", "forged"]);
            clone.write(".wyren/memory.md", &decisions(&["One", "Forged"]));
            clone.commit("forged");
            clone.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
            clone.git(&["switch", "--quiet", "main"]);
        }),
    ];
    for (what, forge) in forgeries {
        for is_offline_first in [false, true] {
            let world = World::with_memory(&["One", "Two"]);
            let bob = member(&world, "bob");
            let cyd = member(&world, "cyd");
            bob.sync();
            cyd.decide("Three");
            cyd.land();
            forge(&bob);
            let tip = git(&world.remote(), &["rev-parse", "main"]);
            if is_offline_first {
                offline(&world, || bob.share().sync(None, soon()).unwrap());
            }
            bob.share().sync(None, soon()).unwrap();
            assert_eq!(git(&world.remote(), &["rev-parse", "main"]), tip, "{what}");
            bob.decide("Mine");
            let synced = bob.share().sync(None, soon()).unwrap();
            if is_offline_first && what.contains("never pushed") {
                // Nothing tells it from a commit that a force-push has dropped since.
                assert_eq!(synced.published, Published::Queued(Reason::Rewritten), "{what}");
                assert_eq!(bob.share().accept(None, soon()).unwrap().rewritten, None);
            }
            assert_eq!(published(&world), ["Mine", "One", "Three", "Two"], "{what}");
            assert_eq!(bob.sorted_decisions(), ["Mine", "One", "Three", "Two"], "{what}");
            let log = git(&world.remote(), &["log", "--format=%s", "--all"]);
            assert!(!log.contains("forged"), "{what}: {log}");
        }
    }
}

#[test]
fn d1_a_tracking_branch_gives_no_leave() {
    let world = World::with_memory(&["One"]);
    let [ada, bob, _] = team(&world);
    fs::remove_dir_all(data_of(&bob.root)).unwrap();
    push(&ada, &["One", "Two"]);
    bob.git(&["pull", "--quiet", "--ff-only"]);
    bob.write(".wyren/memory.md", &decisions(&["One", "Two", "Mine"]));
    bob.commit("by hand");
    bob.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let share = Share::open(&bob.root, &env_of(&bob.root)).unwrap();
    share.sync(None, soon()).unwrap();
    assert_eq!(share.leave().unwrap(), None);
    assert_eq!(published(&world), ["One", "Two"]);
}

/// 5: before the first sync the user's own tracking branch says what the remote has.
#[test]
fn d5_before_the_first_fetch_a_clone_differs_from_nothing() {
    let world = World::with_memory(&["One", "Two"]);
    let bob = member(&world, "bob");
    offline(&world, || {
        let share = bob.share();
        assert_eq!(share.difference().unwrap(), Some(team_sync::Difference::default()));
        assert!(!share.has_unpublished());
        assert_eq!(share.count_unpublished(), 0);
        let commits = share.team().unwrap().commits("memory.md", 1).unwrap();
        assert_eq!(commits[0].author, "Ada");
    });
    assert!(
        !try_git(&bob.root, &["rev-parse", "--verify", "refs/wyren/remote/main"]).0,
        "reading writes nothing"
    );
}

#[test]
fn d5_before_the_first_fetch_edits_and_news_are_not_mixed_up() {
    let world = World::with_memory(&["One", "Two"]);
    let (ada, bob) = (member(&world, "ada"), member(&world, "bob"));
    push(&ada, &["One", "Two", "Three"]);
    bob.git(&["fetch", "--quiet"]);
    bob.write(".wyren/memory.md", &decisions(&["Two", "Mine"]));
    bob.commit("by hand");
    let difference = bob.share().difference().unwrap().unwrap();
    let told = |delta: &memory::Delta| -> Vec<String> {
        let sections = delta.sections.iter();
        let changes = sections.flat_map(|section| {
            let added = section.added.iter().map(|entry| format!("+{}", entry.text()));
            added.chain(section.removed.iter().map(|entry| format!("-{}", entry.text())))
        });
        changes.collect()
    };
    assert_eq!(told(&difference.ours), ["+Mine", "-One"]);
    assert_eq!(told(&difference.theirs), ["+Three"]);
}
