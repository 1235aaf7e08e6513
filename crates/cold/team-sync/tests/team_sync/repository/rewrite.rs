use crate::support::{TeamClone, TeamWorld, World, git, soon, text};
use place::{Reason, Verdict};
use team_sync::repository::{ByLine, Error, Published, Rewrite};

#[test]
fn a_rewritten_memory_stops_everything_until_it_is_accepted_and_nothing_is_lost_here() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.write(".wyren/memory.md", "- one\n- two\n");
    clone.sync();
    let before = clone.state().tip.unwrap();

    let hand = world.clone_with("hand", &["--branch=wyren/memory"]);
    hand.write(".wyren/memory.md", "- one\n");
    hand.git(&["commit", "--quiet", "--all", "--amend", "--message", "rewritten"]);
    hand.git(&["push", "--quiet", "--force"]);
    let after = hand.git(&["rev-parse", "HEAD"]);

    clone.write(".wyren/memory.md", "- one\n- two\n- three\n");
    let team = clone.team();
    team.fetch(soon()).unwrap();
    assert_eq!(clone.sync(), Published::Queued(Reason::Rewritten));
    assert_eq!(clone.state().rewritten_from.as_ref(), Some(&before));
    assert!(matches!(team.checkout(&ByLine, soon()), Err(Error::Rewritten)));
    assert_eq!(clone.read(".wyren/memory.md"), "- one\n- two\n- three\n");
    let rewrite = team.rewrite().unwrap().unwrap();
    assert_eq!(rewrite, Rewrite { before, after: Some(after.clone()) });
    assert_eq!(text(team.file_at(&rewrite.before, "memory.md").unwrap()).as_deref(), Some("- one\n- two\n"));
    assert_eq!(text(team.file_at(&after, "memory.md").unwrap()).as_deref(), Some("- one\n"));

    team.accept_rewrite(soon()).unwrap();
    assert_eq!((team.rewrite().unwrap(), clone.state().rewritten_from), (None, None));
    clone.sync();
    assert_eq!(clone.read(".wyren/memory.md"), "- one\n- three\n");
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one\n- three"));
}

#[test]
fn a_deleted_branch_is_made_anew_only_when_that_is_accepted() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.write(".wyren/memory.md", "- one\n");
    clone.sync();
    git(&world.remote(), &["update-ref", "-d", "refs/heads/wyren/memory"]);
    let team = clone.team();
    clone.untouched(|| team.fetch(soon()).unwrap());
    assert_eq!(clone.state().verdict, Some(Verdict::Gone));
    clone.write(".wyren/memory.md", "- one\n- two\n");
    assert_eq!(clone.sync(), Published::Queued(Reason::Rewritten));
    assert_eq!(clone.sync(), Published::Queued(Reason::Rewritten));
    assert_eq!(world.branches(), ["refs/heads/main"]);
    assert_eq!(team.rewrite().unwrap().unwrap().after, None);
    team.accept_rewrite(soon()).unwrap();
    clone.sync();
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one\n- two"));
    assert_eq!(clone.read(".wyren/memory.md"), "- one\n- two\n");
}

#[test]
fn a_rebased_branch_whose_memory_is_the_same_needs_no_decision() {
    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let clone = world.clone_called("a");
    clone.sync();
    let hand = world.clone_called("hand");
    hand.git(&["commit", "--quiet", "--amend", "--message", "reworded"]);
    hand.git(&["push", "--quiet", "--force"]);
    let team = clone.team();
    clone.untouched(|| team.fetch(soon()).unwrap());
    assert_eq!(clone.state().verdict, Some(Verdict::Rewritten));
    assert_eq!(team.rewrite().unwrap(), None);
    clone.land(&[("memory.md", Some("- one\n- two\n"))]);
}
