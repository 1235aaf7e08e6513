//! Git connects from a repository of ours: with the user's own settings, and none that the repository brings.

use crate::support::{Clone, TeamClone, TeamWorld, World, data_of, env_of, git, given, soon};
use base::Paths;
use base::trust::{Identity, Item, Trust};
use place::Reason;
use std::fs;
use std::path::{Path, PathBuf};
use team_sync::repository::{Fetched, Published, Team, own_settings};

/// Puts a program into the world that leaves a mark when it runs; returns the program and the mark.
fn program(world: &World) -> (String, PathBuf) {
    let (program, mark) = (world.path().join("program"), world.path().join("program-ran"));
    world.script(&program, &format!("echo \"$*\" >> {}; exit 1", mark.display()));
    (program.display().to_string(), mark)
}

#[track_caller]
fn fetch_error(clone: &Clone) -> String {
    match clone.team().insistent().fetch(soon()).unwrap() {
        Fetched::Failed(Reason::Unreachable(words)) => words,
        other => panic!("{other:?}"),
    }
}

/// Trusts what the repository's own configuration says about connecting, as `wyren trust` does.
fn trust(clone: &Clone) -> Vec<Item> {
    let items: Vec<Item> =
        own_settings(&clone.root, &env_of(&clone.root)).unwrap().into_iter().map(|own| own.item).collect();
    let root = clone.root.canonicalize().unwrap();
    let trust = Trust { identity: Identity::of(&root), project: root, items: items.clone(), lapse: None };
    trust.write(&Paths::of(&env_of(&clone.root))).unwrap();
    items
}

#[test]
fn a_repositorys_own_ssh_command_runs_once_the_user_trusts_it_and_not_after_it_changes() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let (program, mark) = program(&world);
    clone.git(&["remote", "set-url", "origin", "ssh://nowhere.invalid/x.git"]);
    clone.git(&["config", "core.sshCommand", &program]);
    let words = fetch_error(&clone);
    assert!(words.contains("core.sshcommand") && words.contains("wyren trust"), "{words}");
    assert!(!mark.exists());

    assert_eq!(trust(&clone).len(), 1);
    let words = fetch_error(&clone);
    assert!(!words.contains("wyren trust") && mark.exists(), "{words}");

    fs::remove_file(&mark).unwrap();
    clone.git(&["config", "core.sshCommand", &format!("{program} --changed")]);
    assert!(fetch_error(&clone).contains("wyren trust") && !mark.exists());
}

#[test]
fn settings_that_decide_how_git_connects_are_listed_with_their_values_and_others_are_not() {
    let world = World::new(&[]);
    let clone = world.clone_called("a");
    for (name, value) in [
        ("remote.origin.uploadpack", "/x"),
        ("remote.other.uploadpack", "/y"),
        ("remote.origin.prune", "true"),
        ("url.ext::x.insteadOf", "https://"),
        ("credential.https://host.helper", "!x"),
        ("http.proxy", "http://127.0.0.1:1"),
        ("user.name", "Ada"),
        ("core.editor", "vi"),
    ] {
        clone.git(&["config", name, value]);
    }
    let own = own_settings(&clone.root, &env_of(&clone.root)).unwrap();
    let own: Vec<String> = own.into_iter().map(|own| format!("{}={}", own.item.name, own.value)).collect();
    assert_eq!(
        own,
        [
            "remote.origin.uploadpack=/x",
            "url.ext::x.insteadof=https://",
            "credential.https://host.helper=!x",
            "http.proxy=http://127.0.0.1:1"
        ]
    );
}

#[test]
fn the_users_own_settings_hold_also_when_they_depend_on_the_folder() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    clone.write(".wyren/memory.md", "- one\n");
    clone.git(&["remote", "set-url", "origin", "team:remote.git"]);
    let included = world.path().join("for-a");
    let base = format!("file://{}/", world.path().display());
    fs::write(&included, format!("[url \"{base}\"]\n\tinsteadOf = team:\n")).unwrap();
    let global = world.path().join("global");
    let condition = format!("gitdir:{}/", clone.root.canonicalize().unwrap().display());
    fs::write(
        &global,
        format!("[user]\n\tname = Ada\n[includeIf \"{condition}\"]\n\tpath = {}\n", included.display()),
    )
    .unwrap();
    let sync = |clone: &Clone| {
        given(&clone.team()).unwrap();
        let mut command = crate::repository::race::sync_once(clone, "", "10000");
        command.env("GIT_CONFIG_GLOBAL", &global).status().unwrap().code()
    };
    assert_eq!(sync(&clone), Some(0));
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one"));
    // Elsewhere the condition does not hold.
    let other = world.side_clone("b");
    other.git(&["remote", "set-url", "origin", "team:remote.git"]);
    assert_eq!(sync(&other), Some(3));
}

#[test]
fn only_protocols_that_start_no_program_of_a_repositorys_choice_are_used_unless_the_user_allows_others() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let (program, mark) = program(&world);
    clone.git(&["remote", "set-url", "origin", &format!("ext::{program} x")]);
    clone.git(&["config", "protocol.ext.allow", "always"]);
    let words = fetch_error(&clone);
    assert!(words.contains("not allowed") && !mark.exists(), "{words}");
    given(&clone.team()).unwrap();
    let global = world.path().join("global");
    fs::write(&global, "[protocol \"ext\"]\n\tallow = always\n").unwrap();
    let mut command = crate::repository::race::sync_once(&clone, "x", "10000");
    assert_eq!(command.env("GIT_CONFIG_GLOBAL", &global).status().unwrap().code(), Some(3));
    let _ = fs::remove_file(clone.root.join(".wyren/state/fetch.json"));
    let mut command = crate::repository::race::sync_once(&clone, "x", "10000");
    command.env("GIT_CONFIG_GLOBAL", &global).status().unwrap();
    assert!(mark.exists());
}

#[test]
fn the_relay_is_small_whatever_the_clone_is_and_is_made_again() {
    let world = World::new(&[("big", &"all of it is different\n".repeat(50_000))]);
    let clone = world.side_clone("a");
    clone.land(&[("memory.md", Some("- one\n"))]);
    let relays = data_of(&clone.root).join("cache/git");
    let relay = fs::read_dir(&relays).unwrap().next().unwrap().unwrap().path();
    assert!(size_of(&relay) < 10_000, "{}", size_of(&relay));
    assert_eq!(git(&relay, &["config", "--file", "config", "--list"]).lines().count(), 3);
    // Whatever is there does not decide: a damaged one is mended, a missing one is made.
    fs::write(relay.join("config"), "[core]\n\tsshCommand = false\n").unwrap();
    clone.land(&[("memory.md", Some("- two\n"))]);
    fs::remove_dir_all(&relays).unwrap();
    clone.land(&[("memory.md", Some("- three\n"))]);
    assert_eq!(clone.git(&["for-each-ref", "refs/have"]), "", "nothing of it is in the user's repository");
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => size_of(&entry.path()),
            false => entry.metadata().unwrap().len(),
        })
        .sum()
}

#[test]
fn a_branch_that_the_user_has_pulled_is_not_fetched_again() {
    let world = World::with_memory(&["one"]);
    let clone = world.clone_called("a");
    let first = Clone { root: world.path().join("first") };
    first.write("more", &"more and more\n".repeat(1_000));
    first.commit("more");
    first.git(&["push", "--quiet"]);
    clone.git(&["pull", "--quiet", "--ff-only"]);
    let objects = || clone.git(&["count-objects", "-v"]);
    let before = objects();
    assert!(matches!(clone.team().fetch(soon()).unwrap(), Fetched::Done { .. }));
    assert_eq!(objects(), before);
    assert!(Team::open(&clone.root, &env_of(&clone.root)).unwrap().remote_tip().unwrap().is_some());
}

#[test]
fn a_remote_inside_the_clone_gets_nothing_and_runs_no_hook() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let inner = clone.root.join(".git/evil.git");
    git(world.path(), &["clone", "--quiet", "--bare", "remote.git", inner.to_str().unwrap()]);
    let mark = world.path().join("hook-ran");
    world.script(&inner.join("hooks/pre-receive"), &format!("touch {}", mark.display()));
    for address in
        [inner.display().to_string(), ".git/evil.git".to_owned(), format!("file://{}", inner.display())]
    {
        clone.git(&["remote", "set-url", "origin", &address]);
        let published = clone.publish(&[("memory.md", Some("- one\n"))]);
        assert!(matches!(published, Published::Queued(Reason::Unusable(_))), "{address}: {published:?}");
        assert!(!mark.exists(), "{address}");
    }
}

#[test]
fn odd_names_arrive_also_where_the_user_has_git_check_objects() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.land(&[("memory.md", Some("- one\n"))]);
    let raw = fixture::Raw::new(&world.remote());
    let blob = raw.blob(b"x");
    raw.put("wyren/memory", &[&b".wyren"[..], b"broadcast", b"git~1"], "100644", &blob);
    let global = world.path().join("global");
    fs::write(&global, "[transfer]\n\tfsckObjects = true\n[fetch]\n\tfsckObjects = true\n").unwrap();
    given(&b.team()).unwrap();
    let mut command = crate::repository::race::sync_once(&b, "", "10000");
    assert_eq!(command.env("GIT_CONFIG_GLOBAL", &global).status().unwrap().code(), Some(0));
    assert!(b.read(".wyren/memory.md").contains("- one"));
}
