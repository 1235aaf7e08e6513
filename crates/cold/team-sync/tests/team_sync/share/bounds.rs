//! What arrives is bounded before it is written: what is over is left out and named, and the rest syncs.

use crate::support::{Clone, ShareClone, TeamWorld, World, decisions, git, soon};
use fixture::{FILE, FOLDER, Raw};
use place::Reason;
use team_sync::Synced;
use team_sync::repository::Published;

const BRANCH: &str = "wyren/memory";

/// A team of two, and what a third pushes.
struct Attacked {
    world: World,
    raw: Raw,
    a: Clone,
    b: Clone,
}

impl Attacked {
    fn new() -> Self {
        let world = World::new(&[]);
        let (a, b) = (world.side_clone("a"), world.side_clone("b"));
        a.decide("one");
        a.share().broadcast_skill("review.md", b"look twice\n").unwrap();
        a.land();
        b.sync();
        let raw = Raw::new(&world.remote());
        Self { world, raw, a, b }
    }

    /// Pushes a file below `.wyren/`.
    #[track_caller]
    fn push(&self, path: &[&[u8]]) {
        let blob = self.raw.blob(b"odd\n");
        self.raw.put(BRANCH, &[&[&b".wyren"[..]], path].concat(), FILE, &blob);
    }

    /// Pushes a folder of the broadcast with a hundred entries in each of so many levels, the lowest as given.
    #[track_caller]
    fn push_nested(&self, name: &str, mode: &str, id: &str, levels: u32) {
        let names: Vec<String> = (0..100).map(|at| format!("{at:02}")).collect();
        let (mut mode, mut id) = (mode, id.to_owned());
        for _ in 0..levels {
            let entries: Vec<_> = names.iter().map(|name| (mode, name, &*id)).collect();
            id = self.raw.tree(&entries);
            mode = FOLDER;
        }
        self.raw.put(BRANCH, &[b".wyren", &b"broadcast"[..], name.as_bytes()], FOLDER, &id);
    }

    /// Checks that both members still share what they decide, the skill is here, and the remote has what was pushed.
    #[track_caller]
    fn check_team_goes_on(&self) -> Synced {
        self.a.decide("from a");
        let synced = self.a.land();
        let second = self.b.sync();
        assert_eq!(second.left_out, synced.left_out);
        assert_eq!(self.b.sorted_decisions(), ["from a", "one"]);
        self.b.decide("from b");
        self.b.land();
        self.a.sync();
        assert_eq!(self.a.sorted_decisions(), ["from a", "from b", "one"]);
        for clone in [&self.a, &self.b] {
            assert_eq!(clone.read(".wyren/broadcast/skills/review.md"), "look twice\n");
            assert!(clone.share().last_sync().error.is_none());
            assert_eq!(clone.share().last_sync().left_out, synced.left_out);
        }
        synced
    }

    /// Checks that `wyren unbroadcast` takes something away for the team.
    #[track_caller]
    fn check_removed(&self, name: &str) {
        let before = self.tree();
        let removed = self.b.untouched(|| self.b.share().unbroadcast(name, None, soon()).unwrap());
        let removed = removed.unwrap_or_else(|| panic!("no broadcast is called {name:?}"));
        assert!(matches!(removed.synced.published, Published::Landed(_)), "{removed:?}");
        assert!(removed.synced.left_out.is_empty(), "{removed:?}");
        assert_ne!(self.tree(), before);
        assert!(self.a.sync().left_out.is_empty());
        assert!(self.a.share().last_sync().left_out.is_empty());
        assert_eq!(self.a.sorted_decisions(), ["from a", "from b", "one"]);
        assert_eq!(self.a.read(".wyren/broadcast/skills/review.md"), "look twice\n");
    }

    fn tree(&self) -> String {
        crate::support::git(&self.world.remote(), &["rev-parse", &format!("{BRANCH}:.wyren")])
    }

    #[track_caller]
    fn check_path(&self, path: &[&[u8]], name: &str) {
        self.push(path);
        let synced = self.check_team_goes_on();
        assert_eq!(synced.left_out.len(), 1, "{synced:?}");
        assert!(synced.left_out[0].path.ends_with(name), "{synced:?}");
        self.check_removed(name);
    }
}

/// Names that some system refuses, or takes for another.
const NAMES: [&str; 17] = [
    "git~1",
    "GIT~2",
    ".git. ",
    ".git.",
    ".GIT ",
    ".g\u{200c}it",
    ".git::$INDEX_ALLOCATION",
    "..",
    ".",
    "a\\b",
    "c:d",
    "con",
    "NUL.md",
    "lpt9.txt",
    "dot.",
    "space ",
    "tab\tname",
];

#[test]
fn each_name_that_a_system_refuses_is_left_out_and_can_be_taken_back() {
    let attacked = Attacked::new();
    for name in NAMES {
        attacked.push(&[b"broadcast", name.as_bytes()]);
        let synced = attacked.a.sync();
        assert_eq!(synced.left_out.len(), 1, "{name:?}: {synced:?}");
        let name = &synced.left_out[0].path;
        let removed = attacked.a.share().unbroadcast(name, None, soon()).unwrap().unwrap();
        assert!(removed.synced.left_out.is_empty(), "{removed:?}");
    }
}

#[test]
fn names_that_a_system_refuses_stop_no_sync() {
    for folder in [&[&b"broadcast"[..], b"skills"][..], &[b"lessons", b"deep", b"er"]] {
        let attacked = Attacked::new();
        for name in NAMES {
            attacked.push(&[folder, &[name.as_bytes()]].concat());
        }
        let synced = attacked.check_team_goes_on();
        assert_eq!(synced.left_out.len(), NAMES.len(), "{synced:?}");
        assert_eq!(attacked.world.shared(BRANCH, "lessons/deep/er/con").is_some(), folder.len() == 3);
    }
}

#[test]
fn a_name_that_is_no_text_is_left_out_and_can_be_taken_back() {
    let attacked = Attacked::new();
    attacked.check_path(&[b"broadcast", b"\xff\xfe\x1b[31m.md"], "\\xff\\xfe\\x1b[31m.md");
}

#[test]
fn a_name_with_a_slash_in_it_is_left_out_and_can_be_taken_back() {
    let attacked = Attacked::new();
    attacked.check_path(&[b"broadcast", b"../../x"], "broadcast/../../x");
}

#[test]
fn a_long_name_is_left_out_and_can_be_taken_back() {
    for length in [201, 250, 300, 70_000] {
        let attacked = Attacked::new();
        attacked.push(&[b"broadcast", "n".repeat(length).as_bytes()]);
        let synced = attacked.check_team_goes_on();
        assert_eq!(synced.left_out.len(), 1, "{synced:?}");
        attacked.check_removed(&synced.left_out[0].path);
    }
    let attacked = Attacked::new();
    attacked.push(&[b"broadcast", "n".repeat(200).as_bytes()]);
    assert!(attacked.check_team_goes_on().left_out.is_empty());
}

#[test]
fn an_odd_name_in_the_root_of_the_branch_stops_no_sync() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(b"odd\n");
    for name in ["n".repeat(70_000), "git~1".to_owned(), "..".to_owned()] {
        attacked.raw.put(BRANCH, &[name.as_bytes()], FILE, &blob);
    }
    assert!(attacked.check_team_goes_on().left_out.is_empty());
}

#[test]
fn a_deep_folder_is_left_out_and_can_be_taken_back() {
    for depth in [9, 600] {
        let attacked = Attacked::new();
        let folder = vec![&b"dddddddd"[..]; depth];
        attacked.push(&[&[&b"broadcast"[..]], &*folder, &[b"x.md"]].concat());
        let synced = attacked.check_team_goes_on();
        assert_eq!(synced.left_out.len(), 1, "{synced:?}");
        attacked.check_removed(&synced.left_out[0].path);
    }
}

#[test]
fn a_commit_without_a_readable_author_stops_no_sync() {
    let attacked = Attacked::new();
    let parent = crate::support::git(&attacked.world.remote(), &["rev-parse", BRANCH]);
    let tree = crate::support::git(&attacked.world.remote(), &["rev-parse", &format!("{BRANCH}^{{tree}}")]);
    let text = format!("tree {tree}\nparent {parent}\nauthor unknown\ncommitter <> 12 x\nodd\n\nx\n");
    let commit = attacked.raw.object("commit", text.as_bytes());
    crate::support::git(&attacked.world.remote(), &["update-ref", &format!("refs/heads/{BRANCH}"), &commit]);
    attacked.check_team_goes_on();
}

#[test]
fn a_file_and_a_folder_of_one_name_in_a_tree_leave_one_of_them() {
    let attacked = Attacked::new();
    attacked.push(&[b"broadcast", b"a", b"b.md"]);
    attacked.push(&[b"broadcast", b"a"]);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 1, "{synced:?}");
    attacked.check_removed(&synced.left_out[0].path);
}

#[test]
fn a_large_file_is_left_out_and_what_was_there_before_stays() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(&vec![b'x'; 8 * 1024 * 1024]);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"lessons", b"large.md"], FILE, &blob);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 1, "{synced:?}");
    attacked.check_removed("lessons/large.md");
}

#[test]
fn many_files_are_left_out_as_one_folder_and_taken_back_as_one() {
    let attacked = Attacked::new();
    attacked.push_nested("bomb", FILE, &attacked.raw.blob(b"x"), 3);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 1, "{synced:?}");
    assert!(!attacked.a.root.join(".wyren/broadcast/bomb").exists());
    attacked.check_removed("bomb");
}

#[test]
fn folders_without_end_are_left_out_as_one_folder_and_taken_back_as_one() {
    let attacked = Attacked::new();
    attacked.push_nested("bomb", FOLDER, &attacked.raw.tree::<&str>(&[]), 4);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 1, "{synced:?}");
    attacked.check_removed("bomb");
}

#[test]
fn a_flat_folder_of_a_million_files_is_left_out_and_those_known_before_stay() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(b"x");
    let names: Vec<String> = (0..1_000_000).map(|at| format!("{at:06}")).collect();
    let entries: Vec<_> = names.iter().map(|name| (FILE, name, &*blob)).collect();
    let tree = attacked.raw.tree(&entries);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"broadcast", b"skills"], FOLDER, &tree);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 1, "{synced:?}");
    attacked.check_removed("broadcast/skills");
    assert_eq!(attacked.world.shared(BRANCH, "broadcast/skills/review.md").as_deref(), Some("look twice"));
}

#[test]
fn new_files_keep_no_old_one_from_being_updated() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(b"x");
    let skill = attacked.raw.blob(b"look three times\n");
    let names: Vec<String> = (0..5_000).map(|at| format!("a{at:04}")).collect();
    let mut entries: Vec<_> = names.iter().map(|name| (FILE, &**name, &*blob)).collect();
    entries.push((FILE, "review.md", &skill));
    let tree = attacked.raw.tree(&entries);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"broadcast", b"skills"], FOLDER, &tree);
    let synced = attacked.a.sync();
    assert_eq!(attacked.a.read(".wyren/broadcast/skills/review.md"), "look three times\n");
    let count = std::fs::read_dir(attacked.a.root.join(".wyren/broadcast/skills")).unwrap().count();
    assert_eq!((count, synced.left_out.len()), (1_999, 100), "a memory and 1,999 others");
    attacked.a.decide("from a");
    attacked.a.land();
    assert!(attacked.world.shared(BRANCH, "broadcast/skills/a4999").is_some());
}

#[test]
fn many_large_files_from_one_blob_are_left_out() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(&vec![b'x'; 8 * 1024 * 1024]);
    let small = attacked.raw.blob(&vec![b'x'; 1024 * 1024]);
    let names: Vec<String> = (0..60).map(|at| format!("{at:02}")).collect();
    let entries: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (FILE, name, if at < 30 { &*blob } else { &*small }))
        .collect();
    let tree = attacked.raw.tree(&entries);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"broadcast", b"bomb"], FOLDER, &tree);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 49, "30 too large, and 12 MiB in all with the skill: {synced:?}");
}

#[test]
fn a_partial_clone_asks_for_no_more_than_is_within_the_bounds() {
    let attacked = Attacked::new();
    crate::support::git(&attacked.world.remote(), &["config", "uploadpack.allowFilter", "true"]);
    crate::support::git(&attacked.world.remote(), &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    attacked.push_nested("bomb", FOLDER, &attacked.raw.tree::<&str>(&[]), 4);
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let clone = attacked.world.clone_with(&filter.replace([':', '-', '='], ""), &[filter]);
        crate::support::TeamClone::init_side(&clone);
        let synced = clone.sync();
        assert_eq!(synced.left_out.len(), 1, "{filter}: {synced:?}");
        assert_eq!(clone.decisions(), ["one"], "{filter}");
        assert_eq!(clone.read(".wyren/broadcast/skills/review.md"), "look twice\n");
    }
}

#[test]
fn a_memory_that_is_too_large_stays_out_and_ours_waits_until_it_replaces_it() {
    let attacked = Attacked::new();
    let (a, b) = (&attacked.a, &attacked.b);
    let blob = attacked.raw.blob("- one entry of very many\n".repeat(2_500_000).as_bytes());
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"memory.md"], FILE, &blob);
    a.decide("from a");
    a.share().broadcast_skill("new.md", b"new\n").unwrap();
    a.land();
    b.decide("from b");
    let synced = b.sync();
    assert!(matches!(synced.published, Published::Queued(Reason::LeftOut(_))), "{synced:?}");
    assert_eq!(synced.left_out[0].path, "memory.md");
    assert_eq!(b.read(".wyren/broadcast/skills/new.md"), "new\n");
    assert_eq!(b.sorted_decisions(), ["from b", "one"]);
    let size = |name: &str| crate::support::git(&attacked.world.remote(), &["cat-file", "-s", name]);
    assert_eq!(size("wyren/memory:.wyren/memory.md"), "62500000");
    assert!(b.share().has_unpublished());

    let synced = b.untouched(|| b.share().restore(None, soon()).unwrap());
    assert!(matches!(synced.published, Published::Landed(_)), "{synced:?}");
    assert!(synced.left_out.is_empty(), "{synced:?}");
    a.sync();
    b.sync();
    for clone in [a, b] {
        assert_eq!(clone.sorted_decisions(), ["from a", "from b", "one"]);
    }
}

#[test]
fn a_memory_here_that_is_too_large_is_reported_and_neither_published_nor_replaced() {
    let attacked = Attacked::new();
    let (a, b) = (&attacked.a, &attacked.b);
    let large = a.read(".wyren/memory.md") + &"- one entry of very many\n".repeat(200_000);
    a.write(".wyren/memory.md", &large);
    let synced = a.sync();
    assert_eq!((&*synced.left_out[0].path, synced.left_out[0].here), ("memory.md", true), "{synced:?}");
    b.decide("from b");
    b.land();
    a.sync();
    assert_eq!(a.read(".wyren/memory.md").len(), large.len());
    assert!(attacked.world.shared(BRANCH, "memory.md").unwrap().contains("from b"));
    a.write(".wyren/memory.md", &decisions(&["one", "shorter"]));
    assert!(a.land().left_out.is_empty());
    assert_eq!(a.sorted_decisions(), ["from b", "one", "shorter"]);
}

#[test]
fn a_memory_grows_to_its_bound_and_not_beyond_it() {
    let attacked = Attacked::new();
    let (a, b) = (&attacked.a, &attacked.b);
    let filled = |word: &str| decisions(&["one", &format!("{word} {}", "x".repeat(2_500_000))]);
    a.write(".wyren/memory.md", &filled("first"));
    a.land();
    b.write(".wyren/memory.md", &filled("second"));
    let synced = b.sync();
    assert!(matches!(synced.published, Published::Queued(Reason::LeftOut(_))), "{:?}", synced.published);
    a.decide("from a");
    a.land();
    assert!(attacked.world.shared(BRANCH, "memory.md").unwrap().len() < 3_000_000);
}

#[test]
fn a_long_name_of_an_honest_teammate_stays_here_and_is_named() {
    let attacked = Attacked::new();
    attacked.a.write(&format!(".wyren/broadcast/{}", "n".repeat(251)), "honest\n");
    attacked.a.decide("from a");
    let synced = attacked.a.land();
    assert_eq!((synced.left_out.len(), synced.left_out[0].here), (1, true), "{synced:?}");
    assert!(attacked.b.sync().left_out.is_empty());
    assert_eq!(attacked.b.sorted_decisions(), ["from a", "one"]);
}

#[test]
fn a_file_for_one_and_a_folder_for_another_are_both_kept() {
    for (first, second, renamed) in
        [("deploy", "deploy/run.md", "deploy-2/run.md"), ("deploy.md/x", "deploy.md", "deploy-2.md")]
    {
        let attacked = Attacked::new();
        let (a, b) = (&attacked.a, &attacked.b);
        let path = |name: &str| format!(".wyren/broadcast/skills/{name}");
        a.write(&path(first), "of a\n");
        a.decide("from a");
        a.land();
        b.write(&path(second), "of b\n");
        b.decide("from b");
        let synced = b.land();
        assert_eq!(synced.renamed.len(), 1, "{synced:?}");
        a.sync();
        for clone in [a, b] {
            assert_eq!(
                (clone.read(&path(first)), clone.read(&path(renamed))),
                ("of a\n".into(), "of b\n".into())
            );
            assert!(!clone.root.join(path(second)).is_file());
            assert_eq!(clone.sorted_decisions(), ["from a", "from b", "one"]);
            assert!(ShareClone::sync(clone).renamed.is_empty());
        }
    }
}

#[test]
fn a_folder_may_take_the_place_of_a_file_and_a_file_that_of_a_folder() {
    let attacked = Attacked::new();
    let (a, b) = (&attacked.a, &attacked.b);
    let folder = a.root.join(".wyren/broadcast/skills/deploy");
    a.write(".wyren/broadcast/skills/deploy", "file\n");
    a.land();
    b.sync();
    std::fs::remove_file(&folder).unwrap();
    a.write(".wyren/broadcast/skills/deploy/run.md", "in a folder\n");
    a.land();
    b.sync();
    assert_eq!(b.read(".wyren/broadcast/skills/deploy/run.md"), "in a folder\n");
    std::fs::remove_dir_all(&folder).unwrap();
    a.write(".wyren/broadcast/skills/deploy", "file again\n");
    a.land();
    b.sync();
    assert_eq!(b.read(".wyren/broadcast/skills/deploy"), "file again\n");
}

#[test]
fn what_holds_everything_cannot_be_made_something_else() {
    let parts: [(&[&[u8]], &str); 3] = [
        (&[b"memory.md", b"x"], "memory.md"),
        (&[b"broadcast"], "broadcast"),
        (&[b"broadcast", b"skills"], "broadcast/skills"),
    ];
    for (path, name) in parts {
        let attacked = Attacked::new();
        // The rest of what is on the branch goes, and only this is left.
        let remote = attacked.world.remote();
        let (blob, parent) =
            (attacked.raw.blob(b"odd\n"), crate::support::git(&remote, &["rev-parse", BRANCH]));
        let mut entry = (FILE, blob);
        for part in path.iter().rev() {
            entry = (FOLDER, attacked.raw.tree(&[(entry.0, part, &entry.1)]));
        }
        let root = attacked.raw.tree(&[(FOLDER, ".wyren", &*entry.1)]);
        let text =
            format!("tree {root}\nparent {parent}\nauthor M <m@x> 1 +0000\ncommitter M <m@x> 1 +0000\n\nx\n");
        let commit = attacked.raw.object("commit", text.as_bytes());
        crate::support::git(&remote, &["update-ref", &format!("refs/heads/{BRANCH}"), &commit]);
        let (a, b) = (&attacked.a, &attacked.b);
        a.decide("from a");
        let synced = ShareClone::sync(a);
        assert!(synced.left_out.iter().any(|it| it.path == name), "{synced:?}");
        assert!(synced.renamed.is_empty(), "{synced:?}");
        assert_eq!(a.sorted_decisions(), ["from a", "one"], "{name}");
        if name != "memory.md" {
            assert_eq!(a.read(".wyren/broadcast/skills/review.md"), "look twice\n", "{name}");
        }
        let synced = a.untouched(|| a.share().restore(None, soon()).unwrap());
        assert!(matches!(synced.published, Published::Landed(_)), "{name}: {synced:?}");
        assert!(synced.left_out.is_empty(), "{name}: {synced:?}");
        b.sync();
        assert_eq!(b.sorted_decisions(), ["from a", "one"], "{name}");
    }
}

#[test]
fn a_file_that_becomes_too_large_keeps_its_place_against_a_folder_of_its_name() {
    let attacked = Attacked::new();
    let blob = attacked.raw.blob(&vec![b'x'; 2 * 1024 * 1024]);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"broadcast", b"skills", b"review.md"], FILE, &blob);
    attacked.push(&[b"broadcast", b"skills", b"review.md", b"x.md"]);
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out.len(), 2, "{synced:?}");
}

#[test]
fn taking_a_flood_away_keeps_what_the_team_had_in_the_same_folder() {
    let attacked = Attacked::new();
    let (a, b) = (&attacked.a, &attacked.b);
    a.share().broadcast_skill("review.md", b"review\n").unwrap();
    a.land();
    b.sync();
    let remote = attacked.world.remote();
    let skills = crate::support::git(&remote, &["rev-parse", "wyren/memory:.wyren/broadcast/skills"]);
    let link = attacked.raw.blob(b"elsewhere");
    let mut entries: Vec<(&str, String, &str)> =
        (0..20_100).map(|number| ("120000", format!("l{number:05}"), &*link)).collect();
    entries.push(("40000", "skills".to_owned(), &skills));
    let flood = attacked.raw.tree(&entries);
    attacked.raw.put(BRANCH, &[&b".wyren"[..], b"broadcast"], "40000", &flood);
    let synced = b.sync();
    assert!(synced.left_out.iter().any(|it| it.path == "broadcast"), "{synced:?}");
    let removed = b.share().unbroadcast("broadcast", None, soon()).unwrap().unwrap();
    assert!(removed.is_left_out && matches!(removed.synced.published, Published::Landed(_)), "{removed:?}");
    assert_eq!(attacked.world.shared(BRANCH, "broadcast/skills/review.md").as_deref(), Some("review"));
    assert_eq!(b.read(".wyren/broadcast/skills/review.md"), "review\n");
    let left = crate::support::git(&remote, &["ls-tree", "--name-only", "wyren/memory:.wyren/broadcast"]);
    assert_eq!(left, "skills");
}

#[test]
fn taking_back_what_is_left_out_waits_for_the_remote() {
    let attacked = Attacked::new();
    let world = &attacked.world;
    attacked.push(&[b"broadcast", &[b'n'; 250]]);
    attacked.a.sync();
    let name = "n".repeat(250);
    let away = world.path().join("away");
    std::fs::rename(world.remote(), &away).unwrap();
    let removed = attacked.a.share().unbroadcast(&name, None, soon()).unwrap().unwrap();
    assert!(removed.is_left_out && matches!(removed.synced.published, Published::Queued(_)), "{removed:?}");
    attacked.a.sync();
    std::fs::rename(&away, world.remote()).unwrap();
    let listed = || git(&world.remote(), &["ls-tree", "-r", "--name-only", BRANCH]);
    assert!(listed().contains(&name));
    let synced = attacked.a.land();
    assert_eq!(synced.left_out, []);
    assert!(!listed().contains(&name));
    // Once: the next one of that name is another matter.
    attacked.push(&[b"broadcast", &[b'n'; 250]]);
    assert_eq!(attacked.a.sync().left_out.len(), 1);
    assert!(listed().contains(&name));
}

/// A commit with a message of 17 MiB, and a top folder of 17 MiB: git tells what is in them, and the next commit is small again.
#[test]
fn a_commit_or_top_folder_that_is_too_large_stops_no_sync() {
    const LARGE: usize = 17 * 1024 * 1024;
    let attacked = Attacked::new();
    let (raw, world) = (&attacked.raw, &attacked.world);
    let reference = format!("refs/heads/{BRANCH}");
    let tip = || git(&world.remote(), &["rev-parse", &reference]);
    let push = |tree: &str, message: &str| {
        let by = "Mallory <mallory@localhost> 1794796001 +0000";
        let text = format!("tree {tree}\nparent {}\nauthor {by}\ncommitter {by}\n\n{message}\n", tip());
        let commit = raw.object("commit", text.as_bytes());
        git(&world.remote(), &["update-ref", &reference, &commit]);
    };
    let tree = git(&world.remote(), &["rev-parse", &format!("{reference}^{{tree}}")]);
    push(&tree, &"m".repeat(LARGE));
    attacked.a.sync();

    let wyren = git(&world.remote(), &["rev-parse", &format!("{reference}:.wyren")]);
    let blob = raw.blob(b"odd\n");
    let names: Vec<String> = (0..LARGE / 200).map(|at| format!("x{at:0199}")).collect();
    let mut entries = vec![(FOLDER, ".wyren", &*wyren)];
    entries.extend(names.iter().map(|name| (FILE, &**name, &*blob)));
    push(&raw.tree(&entries), "odd");
    let synced = attacked.check_team_goes_on();
    assert_eq!(synced.left_out, []);
    assert_eq!(git(&world.remote(), &["ls-tree", "--name-only", &reference]), ".wyren");
}
