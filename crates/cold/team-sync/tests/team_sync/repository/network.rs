use crate::repository::race::sync_once;
use crate::support::{TeamClone, TeamWorld, World, data_of, given, publish_files, soon};
use base::{Env, Timestamp};
use fixture::{Door, Web};
use place::Reason;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::repository::{Fetched, Published, Team, Visibility};

/// Returns the command lines of running processes that mention `marker`.
fn processes(marker: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}

#[track_caller]
fn wait_until(what: &str, is_done: impl Fn() -> bool) {
    let deadline = soon();
    while !is_done() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes a clone whose remote is reached by an ssh that hangs, and returns the environment for it.
fn hanging(world: &World) -> (crate::support::Clone, Env, String) {
    let clone = world.side_clone("a");
    let script = world.path().join("hanging-ssh");
    // It shrugs off a polite request to end, as does what it started.
    world.script(&script, "trap '' TERM\nsh -c \"trap '' TERM; sleep 600\" \"$0\" &\nsleep 600\nsleep 600");
    clone.git(&["remote", "set-url", "origin", "ssh://nowhere.invalid/x.git"]);
    let data = data_of(&clone.root);
    let env = Env::fixed([("GIT_SSH_COMMAND", script.as_os_str()), ("WYREN_DATA_DIR", data.as_os_str())]);
    (clone, env, script.display().to_string())
}

#[test]
fn a_hanging_remote_is_killed_whole_at_the_cap_and_then_left_alone() {
    let world = World::new(&[]);
    let (clone, env, marker) = hanging(&world);
    let team = Team::open(&clone.root, &env).unwrap();
    let begun = Instant::now();
    let fetched = clone.untouched(|| team.fetch(begun + Duration::from_millis(700)).unwrap());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(fetched, Fetched::Failed(Reason::TimedOut));
    wait_until("all of it is gone", || processes(&marker).is_empty());

    let state = clone.state();
    assert_eq!(state.failures, 1);
    let begun = Instant::now();
    assert!(matches!(team.fetch(soon()).unwrap(), Fetched::Failed(Reason::BackingOff(_))));
    let published = publish_files(&team, &[("memory.md", Some("- one\n"))], soon()).unwrap();
    assert!(matches!(published, Published::Queued(Reason::BackingOff(_))), "{published:?}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let until = Timestamp::from_millis(state.retry_at);
    assert!((50_000..=60_000).contains(&until.millis_since(Timestamp::now())));
}

#[test]
fn a_killed_process_takes_its_hanging_git_along() {
    let world = World::new(&[]);
    let (clone, _, marker) = hanging(&world);
    given(&clone.team()).unwrap();
    let mut child = sync_once(&clone, "entry", "60000").env("GIT_SSH_COMMAND", &marker).spawn().unwrap();
    wait_until("ssh runs", || processes(&marker).len() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all of it is gone", || processes(&marker).is_empty());
}

#[test]
fn ssh_may_not_ask_unless_the_user_chose_the_command() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    let folder = world.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let said = world.path().join("said");
    let script = format!("echo \"$0 $* prompt=$GIT_TERMINAL_PROMPT\" >> {}; exit 1", said.display());
    world.script(&folder.join("ssh"), &script);
    world.script(&folder.join("their-ssh"), &script);
    clone.git(&["remote", "set-url", "origin", "ssh://nowhere.invalid/x.git"]);
    given(&clone.team()).unwrap();
    let run = |variables: &[(&str, &Path)]| {
        let path = std::env::join_paths(
            [folder.clone()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let status = sync_once(&clone, "", "5000")
            .env_remove("GIT_SSH_COMMAND")
            .env("PATH", path.unwrap())
            .envs(variables.iter().copied())
            .status();
        assert_eq!(status.unwrap().code(), Some(3));
        let _ = fs::remove_file(clone.root.join(".wyren/state/fetch.json"));
        let text = fs::read_to_string(&said).unwrap();
        fs::remove_file(&said).unwrap();
        text
    };
    let ours = run(&[]);
    assert!(ours.contains("-oBatchMode=yes") && ours.contains("prompt=0"), "{ours}");
    let theirs = folder.join("their-ssh");
    let said = run(&[("GIT_SSH_COMMAND", &theirs)]);
    assert!(said.contains("their-ssh") && !said.contains("BatchMode"), "{said}");
    let global = world.path().join("global");
    fs::write(&global, format!("[core]\n\tsshCommand = {}\n", theirs.display())).unwrap();
    let said = run(&[("GIT_CONFIG_GLOBAL", &global)]);
    assert!(said.contains("their-ssh") && !said.contains("BatchMode"), "{said}");
    // An unpacked archive brings such a setting with it.
    clone.git(&["config", "core.sshCommand", theirs.to_str().unwrap()]);
    let said = run(&[]);
    assert!(!said.contains("their-ssh") && said.contains("BatchMode"), "{said}");
}

#[test]
fn a_server_that_refuses_is_quoted_and_the_entry_stays_queued() {
    let world = World::new(&[(".wyren/memory.md", "- one\n"), (".gitignore", ".wyren/state/\n")]);
    let hook = world.remote().join("hooks/update");
    world.script(
        &hook,
        "[ \"$1\" != refs/heads/main ] || { printf 'main is \\033[31mprotected\\n' >&2; exit 1; }",
    );
    let clone = world.clone_called("a");
    let published = clone.publish(&[("memory.md", Some("- one\n- two\n"))]);
    let Published::Queued(Reason::Refused(words)) = published else { panic!("{published:?}") };
    assert!(words.contains("hook declined") && words.contains("main is protected"), "{words:?}");
    assert!(!words.contains('\u{1b}'));
    assert!(clone.team().has_queued().unwrap());
    assert_eq!(clone.state().failures, 0, "the remote works");
    fs::remove_file(hook).unwrap();
    clone.land(&[]);
    assert_eq!(world.shared("main", "memory.md").as_deref(), Some("- one\n- two"));
}

#[test]
fn a_remote_that_refuses_pushes_to_main_syncs_in_side_mode() {
    let world = World::new(&[]);
    world.protect_main();
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.write(".wyren/memory.md", "- one\n");
    a.sync();
    b.sync();
    assert_eq!(b.read(".wyren/memory.md"), "- one\n");
}

#[test]
fn a_push_that_landed_unheard_is_recognised() {
    let world = World::new(&[]);
    let (a, b) = (world.side_clone("a"), world.side_clone("b"));
    a.land(&[("memory.md", Some("- one\n"))]);
    // The server takes the commit, and hangs before it says so.
    let hook = world.remote().join("hooks/post-receive");
    world.script(&hook, "sleep 5");
    let files = [("memory.md", Some("- one\n- two\n"))];
    let deadline = Instant::now() + Duration::from_millis(700);
    let published = a.untouched(|| publish_files(&a.team(), &files, deadline).unwrap());
    assert_eq!(published, Published::Queued(Reason::TimedOut));
    fs::remove_file(hook).unwrap();
    // Someone sees the entry and removes it; it must not come back.
    b.sync();
    assert_eq!(b.read(".wyren/memory.md"), "- one\n- two\n");
    b.land(&[("memory.md", Some("- one\n"))]);
    let team = a.team().insistent();
    a.untouched(|| publish_files(&team, &files, soon()).unwrap());
    assert_eq!(world.shared("wyren/memory", "memory.md").as_deref(), Some("- one"));
    assert!(!team.has_queued().unwrap());
}

#[test]
fn the_users_hooks_do_not_run_and_follow_tags_pushes_none() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    for hook in ["pre-push", "reference-transaction", "post-checkout"] {
        world.script(&clone.root.join(".git/hooks").join(hook), "touch \"$PWD/hook-ran\"; exit 1");
    }
    clone.git(&["config", "push.followTags", "true"]);
    clone.git(&["config", "remote.origin.tagOpt", "--tags"]);
    clone.git(&["config", "remote.origin.mirror", "true"]);
    clone.git(&["config", "fetch.prune", "true"]);
    clone.land(&[("memory.md", Some("- one\n"))]);
    assert!(!clone.root.join("hook-ran").exists());
    assert_eq!(world.branches(), ["refs/heads/main", "refs/heads/wyren/memory"]);
}

#[test]
fn a_remote_is_public_when_a_stranger_can_read_it() {
    let world = World::new(&[]);
    let clone = world.side_clone("a");
    fixture::git(&world.remote(), &["update-server-info"]);
    let folder = world.remote().parent().unwrap().to_owned();
    let name = world.remote().file_name().unwrap().to_string_lossy().into_owned();
    let check = |door: Door, expected: Visibility| {
        let web = Web::new(door.clone());
        clone.git(&["remote", "set-url", "origin", &web.address(&name)]);
        // A way in that the user has, and a stranger has not.
        clone.git(&["config", "credential.helper", "!echo username=ada; echo password=secret"]);
        let patience =
            if matches!(door, Door::Silent) { Duration::from_millis(300) } else { Duration::from_secs(20) };
        let begun = Instant::now();
        let seen = clone.team().visibility(begun + patience);
        assert_eq!(seen, expected, "{door:?}");
        assert!(begun.elapsed() < patience + Duration::from_secs(3), "{door:?}: {:?}", begun.elapsed());
    };
    check(Door::Open(folder), Visibility::Public);
    check(Door::Answers(401), Visibility::NotPublic);
    check(Door::Answers(403), Visibility::NotPublic);
    check(Door::Answers(404), Visibility::NotPublic);
    check(Door::Answers(500), Visibility::Unknown);
    check(Door::Silent, Visibility::Unknown);
    clone.git(&["remote", "remove", "origin"]);
    assert_eq!(clone.team().visibility(Instant::now()), Visibility::NotPublic);
}
