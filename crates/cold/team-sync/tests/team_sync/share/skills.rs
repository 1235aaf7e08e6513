//! 18: a broadcast reaches the others, and can be taken back.

use crate::support::{ShareClone, TeamWorld, World, git, soon};
use team_sync::repository::Published;

#[test]
fn a_skill_reaches_the_others_and_is_removed_for_everybody() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    let path = a.share().broadcast_skill("review.md", b"look twice\n").unwrap();
    assert_eq!(path, "broadcast/skills/review.md");
    a.land();
    b.sync();
    assert_eq!(b.read(".wyren/broadcast/skills/review.md"), "look twice\n");
    let removed = b.untouched(|| b.share().unbroadcast("review", None, soon()).unwrap().unwrap());
    assert!(matches!(removed.synced.published, Published::Landed(_)), "{removed:?}");
    a.sync();
    for clone in [&a, &b] {
        assert!(!clone.root.join(".wyren/broadcast/skills/review.md").exists());
    }
    assert_eq!(b.share().unbroadcast("review", None, soon()).unwrap(), None);
}

#[test]
fn a_removal_that_is_queued_offline_does_not_come_back() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    a.share().broadcast_skill("review.md", b"look twice\n").unwrap();
    a.decide("one");
    a.land();
    let away = world.path().join("away");
    std::fs::rename(world.remote(), &away).unwrap();
    let removed = a.share().unbroadcast("review.md", None, soon()).unwrap().unwrap();
    assert!(matches!(removed.synced.published, Published::Queued(_)), "{removed:?}");
    a.sync();
    assert!(!a.root.join(".wyren/broadcast/skills/review.md").exists());
    std::fs::rename(away, world.remote()).unwrap();
    a.land();
    assert_eq!(world.shared("wyren/memory", "broadcast/skills/review.md"), None);
    a.share().broadcast_skill("review.md", b"again\n").unwrap();
    a.land();
    assert_eq!(world.shared("wyren/memory", "broadcast/skills/review.md").as_deref(), Some("again"));
}

#[test]
fn in_branch_mode_a_skill_stays_out_of_the_work_tree_until_it_is_pulled() {
    let world = World::with_memory(&["one"]);
    let (a, b) = (world.clone_called("a"), world.clone_called("b"));
    a.share().broadcast_skill("review.md", b"look twice\n").unwrap();
    a.land();
    a.git(&["pull", "--quiet", "--ff-only"]);
    assert_eq!(a.read(".wyren/broadcast/skills/review.md"), "look twice\n");
    b.sync();
    b.share().unbroadcast("review", None, soon()).unwrap().unwrap();
    a.sync();
    assert!(!a.root.join(".wyren/state/broadcast/skills/review.md").exists());
    a.git(&["pull", "--quiet", "--ff-only"]);
    assert!(!a.root.join(".wyren/broadcast/skills/review.md").exists());
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let world = World::new(&[]);
    let a = world.side_clone("a");
    for name in ["", "../x", "a/b", ".git", "a\nb"] {
        assert!(
            matches!(a.share().broadcast_skill(name, b"x"), Err(team_sync::Error::BadName(_))),
            "{name:?}"
        );
    }
}

#[test]
fn a_lesson_that_was_put_away_leaves_everybody_and_stays_here_alone() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/lessons/slow.md", "# slow\n");
    a.land();
    b.sync();
    std::fs::create_dir(a.root.join(".wyren/lessons/archive")).unwrap();
    std::fs::rename(a.root.join(".wyren/lessons/slow.md"), a.root.join(".wyren/lessons/archive/slow.md"))
        .unwrap();
    a.share().sync_without(&["lessons/slow.md".to_owned()], None, soon()).unwrap();
    a.sync();
    b.sync();
    assert_eq!(a.read(".wyren/lessons/archive/slow.md"), "# slow\n");
    for clone in [&a, &b] {
        assert!(!clone.root.join(".wyren/lessons/slow.md").exists());
    }
    let shared = git(&world.remote(), &["ls-tree", "-r", "--name-only", "wyren/memory"]);
    assert!(!shared.contains("slow"), "{shared}");
}
