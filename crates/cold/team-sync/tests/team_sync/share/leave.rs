//! Leave to publish: what gives it, what it is about, and what happens without.

use crate::support::{Clone, ShareClone, TeamWorld, World, data_of, env_of, soon};
use base::leave::{Known, kept_notice};
use base::{Env, Paths, Timestamp, files};
use place::Reason;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use team_sync::Share;
use team_sync::repository::Published;

const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// Opens the memory of a clone whose user has said nothing.
fn silent(clone: &Clone) -> Share {
    Share::open(&clone.root, &env_of(&clone.root)).unwrap().insistent()
}

fn paths(clone: &Clone) -> Paths {
    Paths::of(&env_of(&clone.root))
}

/// Adds a decision without a word about publishing.
fn decide(clone: &Clone, text: &str) {
    let add = |memory: &memory::Memory| {
        let mut memory = memory.clone();
        memory.add_distinct("Decisions", text, &memory::Provenance::default());
        memory
    };
    silent(clone).change("Ada", "decided", add).unwrap();
}

/// Syncs as the background does.
#[track_caller]
fn sync(clone: &Clone) -> Published {
    clone.untouched(|| silent(clone).sync(None, soon()).unwrap().published)
}

const KEPT: Published = Published::Queued(Reason::NotAllowed);

#[track_caller]
fn assert_landed(published: &Published) {
    assert!(matches!(published, Published::Landed(_)), "{published:?}");
}

/// Returns a world with a memory on its side branch, and a fresh clone of it.
fn side() -> (World, Clone) {
    let world = World::new(&[]);
    let host = world.side_clone("host");
    host.decide("one");
    host.land();
    let clone = world.side_clone("a");
    (world, clone)
}

#[test]
fn without_leave_a_clone_reads_along_keeps_what_is_decided_and_loses_nothing() {
    let branch = World::with_memory(&["one"]);
    let fresh = branch.clone_called("a");
    for ((world, clone), name) in [(side(), "wyren/memory"), ((branch, fresh), "main")] {
        let before = world.shared(name, "memory.md").unwrap();
        assert_eq!(sync(&clone), Published::Nothing, "{name}");
        decide(&clone, "mine");
        assert_eq!(sync(&clone), KEPT, "{name}");
        let host = world.clone_called("another");
        if name == "wyren/memory" {
            crate::support::TeamClone::init_side(&host);
        }
        host.sync();
        host.decide("two");
        host.land();
        assert_eq!(sync(&clone), KEPT, "{name}");
        let read = silent(&clone).memory().unwrap().render();
        assert!(read.contains("- two") && read.contains("- mine"), "{name}: {read}");
        assert!(!world.shared(name, "memory.md").unwrap().contains("- mine"), "{name}");
        assert_ne!(world.shared(name, "memory.md").unwrap(), before);

        assert!(silent(&clone).give_leave("wyren sync").unwrap(), "news the first time");
        assert!(!silent(&clone).give_leave("wyren sync").unwrap());
        assert_landed(&sync(&clone));
        let shared = world.shared(name, "memory.md").unwrap();
        for entry in ["- one", "- two", "- mine"] {
            assert_eq!(shared.matches(entry).count(), 1, "{name}: {shared}");
        }
    }
}

#[test]
fn a_notice_is_due_once_until_leave_is_given() {
    let (_world, clone) = side();
    sync(&clone);
    let notice = || kept_notice(&paths(&clone), &clone.root.join(".git"));
    assert!(notice().is_none(), "nothing stays here yet");
    decide(&clone, "mine");
    decide(&clone, "mine, too");
    sync(&clone);
    let told = notice().unwrap();
    assert!(told.text.starts_with("2 changes"), "{}", told.text);
    told.remember().unwrap();
    sync(&clone);
    assert!(notice().is_none());
    silent(&clone).give_leave("wyren sync").unwrap();
    assert!(!paths(&clone).kept_file(&clone.root.join(".git")).exists());
}

#[test]
fn leave_is_about_one_remote() {
    let (_world, clone) = side();
    silent(&clone).give_leave("wyren init").unwrap();
    decide(&clone, "mine");
    assert_landed(&sync(&clone));
    let other = World::new(&[]);
    let address = format!("file://{}", other.remote().display());
    // Where a push goes counts, not where a fetch comes from.
    clone.git(&["remote", "set-url", "--push", "origin", &address]);
    decide(&clone, "not for them");
    assert_eq!(sync(&clone), KEPT);
    clone.git(&["config", "--unset", "remote.origin.pushurl"]);
    assert!(silent(&clone).leave().unwrap().is_some());
    clone.git(&["remote", "set-url", "origin", &address]);
    assert!(matches!(sync(&clone), Published::Queued(_)));
    assert!(silent(&clone).leave().unwrap().is_none());
    assert_eq!(other.branches(), ["refs/heads/main"]);
}

#[test]
fn another_clone_at_the_same_path_has_no_leave() {
    let (world, clone) = side();
    silent(&clone).give_leave("wyren init").unwrap();
    let data = world.path().join("data");
    fs::rename(data_of(&clone.root), &data).unwrap();
    fs::remove_dir_all(&clone.root).unwrap();
    let again = world.side_clone("a");
    fs::rename(&data, data_of(&again.root)).unwrap();
    assert!(paths(&again).leave_file(&again.root.join(".git")).is_file());
    // An archive may bring a mark, and cannot know ours.
    let blob = again.git(&["hash-object", "-w", "--stdin"]);
    again.git(&["update-ref", "refs/wyren/clone", &blob]);
    decide(&again, "mine");
    assert_eq!(sync(&again), KEPT);
    silent(&again).give_leave("wyren sync").unwrap();
    assert_landed(&sync(&again));
}

#[test]
fn leave_that_was_given_before_there_was_a_remote_is_about_the_first_one() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let address = clone.git(&["remote", "get-url", "origin"]);
    clone.git(&["remote", "remove", "origin"]);
    silent(&clone).give_leave("wyren init").unwrap();
    decide(&clone, "mine");
    clone.git(&["remote", "add", "origin", &address]);
    assert_landed(&sync(&clone));
    clone.git(&["remote", "set-url", "origin", "/srv/elsewhere.git"]);
    assert!(silent(&clone).leave().unwrap().is_none());
}

#[test]
fn an_owner_that_always_may_covers_its_clones_and_no_others() {
    let (world, clone) = side();
    let settings = |owners: &str| {
        let text = format!("{}\nmemory.publish_for={owners}\n", base::settings::HOOK_SETTINGS_HEADER);
        files::write_atomic(&paths(&clone).hook_settings(), text.as_bytes()).unwrap();
    };
    decide(&clone, "mine");
    for owners in ["/srv/git,github.com/acme", &format!("{}-2", world.path().display()), "github.com", ""] {
        settings(owners);
        assert_eq!(sync(&clone), KEPT, "{owners}");
    }
    settings(&format!("github.com/acme,{}", world.path().display()));
    assert_landed(&sync(&clone));
    assert!(!paths(&clone).leave_file(&clone.root.join(".git")).exists(), "it is no word about this clone");
}

#[test]
fn the_environment_gives_no_leave() {
    let (_world, clone) = side();
    decide(&clone, "mine");
    let owner = clone.root.parent().unwrap().to_owned();
    let mut variables = vec![("WYREN_DATA_DIR", data_of(&clone.root))];
    for name in ["WYREN_PUBLISH_FOR", "WYREN_MEMORY_PUBLISH_FOR"] {
        variables.push((name, owner.clone()));
    }
    let share = Share::open(&clone.root, &Env::fixed(variables)).unwrap();
    assert!(share.leave().unwrap().is_none());
}

/// What the user's data folder and the client's know of a clone when the update comes.
struct Before<'a> {
    clone: &'a Clone,
}

impl Before<'_> {
    fn since() -> Timestamp {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    /// The database has sessions in a folder, of a project with that key.
    fn worked(&self, key: &str, folder: &Path) {
        let worked = vec![(key.to_owned(), folder.to_owned())];
        Known { since: Self::since(), worked, is_whole: true }.write(&paths(self.clone)).unwrap();
    }

    fn transcript(&self, name: &str, cwd: &Path, when: &str) -> PathBuf {
        let path = data_of(&self.clone.root).join("home/.claude/projects/-a").join(name);
        let record = json!({"type": "user", "cwd": cwd, "timestamp": when, "sessionId": SESSION});
        files::write_atomic(&path, format!("{{\"type\":\"summary\"}}\n{record}\n").as_bytes()).unwrap();
        path
    }

    /// The clone's watermark names a transcript, as the Node version's does.
    fn distilled(&self, transcript: &Path, when: &str) {
        let when: Timestamp = when.parse().unwrap();
        let mark = json!({"turns_since_distill": 0, "last_distilled_at": when.millis(), "last_transcript": transcript});
        let path = self.clone.root.join(".wyren/state/watermark.json");
        files::write_atomic(&path, mark.to_string().as_bytes()).unwrap();
    }

    fn counts(&self) -> bool {
        let _ = fs::remove_file(paths(self.clone).leave_file(&self.clone.root.join(".git")));
        silent(self.clone).leave().unwrap().is_some()
    }
}

#[test]
fn a_clone_that_the_user_worked_in_and_synced_before_the_update_goes_on_publishing() {
    let (_world, clone) = side();
    let before = Before { clone: &clone };
    let key = base::project::Project::of(&clone.root).key;
    before.worked(&key, &clone.root.join("src"));
    assert!(!before.counts(), "it was never synced");
    sync(&clone);
    assert!(before.counts(), "in a folder of it that is gone by now");
    before.worked(&key, &clone.root.parent().unwrap().join("elsewhere"));
    assert!(!before.counts(), "it was another clone");
    before.worked("git:github.com/acme/app", &clone.root);
    assert!(!before.counts(), "it had another remote");
    fs::remove_file(paths(&clone).known_clones()).unwrap();
    assert!(!before.counts(), "references alone, as in an archive, show nothing");
}

#[test]
fn a_clone_that_the_node_version_distilled_in_goes_on_publishing() {
    let (_world, clone) = side();
    let before = Before { clone: &clone };
    before.worked("git:github.com/acme/app", Path::new("/elsewhere"));
    let (early, late) = ("2026-11-16T11:00:00Z", "2026-11-16T13:00:00Z");
    let name = format!("{SESSION}.jsonl");
    let transcript = before.transcript(&name, &clone.root, early);
    before.distilled(&transcript, early);
    assert!(before.counts());
    before.distilled(&transcript, late);
    assert!(!before.counts(), "what was distilled since stayed here");
    before.distilled(&before.transcript(&name, &clone.root, late), early);
    assert!(!before.counts(), "a session of after the update");
    before.distilled(&before.transcript(&name, Path::new("/elsewhere"), early), early);
    assert!(!before.counts(), "a session in another folder");
    before.distilled(&data_of(&clone.root).join("home/.claude/projects/-a/none.jsonl"), early);
    assert!(!before.counts(), "a name that an archive can guess, and no such file");
    let inside = clone.root.join(&name);
    fs::copy(before.transcript(&name, &clone.root, early), &inside).unwrap();
    before.distilled(&inside, early);
    assert!(!before.counts(), "a transcript that came with the repository");
}

#[test]
fn a_damaged_word_or_one_of_another_version_gives_no_leave_and_can_be_given_again() {
    let (_world, clone) = side();
    silent(&clone).give_leave("wyren init").unwrap();
    let file = paths(&clone).leave_file(&clone.root.join(".git"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("wyren publish 1\ngit ") && text.ends_with(" wyren init\n"), "{text}");
    for damaged in ["", "wyren publish 2\n", &text[..text.len() / 2], &text.replace("publish 1", "publish 9")]
    {
        fs::write(&file, damaged).unwrap();
        assert!(silent(&clone).leave().unwrap().is_none(), "{damaged}");
    }
    assert!(silent(&clone).give_leave("wyren sync").unwrap());
    assert!(silent(&clone).leave().unwrap().is_some());
}

#[test]
fn many_words_at_once_leave_one_that_counts() {
    let (_world, clone) = side();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| silent(&clone).give_leave("wyren sync").unwrap());
        }
    });
    assert!(silent(&clone).leave().unwrap().is_some());
}

#[test]
fn nothing_is_removed_for_the_team_without_leave() {
    let world = World::with_memory(&["one"]);
    let host = world.clone_called("host");
    host.share().broadcast_skill("review.md", b"Review\n").unwrap();
    host.land();
    let clone = world.clone_called("a");
    sync(&clone);
    let removed = silent(&clone).unbroadcast("review", None, soon()).unwrap().unwrap();
    assert_eq!(removed.synced.published, KEPT);
    assert!(world.shared("main", "broadcast/skills/review.md").is_some());
    assert!(silent(&clone).broadcasts().unwrap().contains(&"broadcast/skills/review.md".to_owned()));
}
