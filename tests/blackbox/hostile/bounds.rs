//! A hostile teammate pushes names that systems refuse, and trees that unpack to gigabytes: the team goes on, the commands
//! say what is left out, and `wyren unbroadcast` takes it away.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fixture::{FILE, FOLDER, Raw};
use serde_json::Value;

use crate::team::{Member, Mode, Remote, git};

/// The promise is 5 seconds for the programs that ship; these are not optimised, and the machine may be busy.
const MAX_TIME: Duration = Duration::from_secs(60);

/// The most memory of our process, in KB.
const MAX_MEMORY: u64 = 64 * 1024;

/// The most that `.wyren/` may hold, in bytes.
const MAX_DISK: u64 = 20 * 1024 * 1024;

const BRANCH: &str = "wyren/memory";

/// Pushes an entry at a path below `.wyren/`.
fn push(remote: &Remote, path: &[&[u8]], mode: &str, id: &str) {
    Raw::new(&remote.path()).put(BRANCH, &[&[&b".wyren"[..]], path].concat(), mode, id);
}

/// Returns a member who shares a memory with one decision.
fn first_member(remote: &Remote) -> Result<Option<Member>> {
    let Some(ada) = Member::set_up(remote, "ada", Mode::Side)? else { return Ok(None) };
    ada.decide("Use Postgres")?;
    ada.wyren(&["sync"])?;
    Ok(Some(ada))
}

/// Returns a tree with a hundred entries in each of so many levels, the lowest as given.
fn nested(raw: &Raw, mode: &str, id: &str, levels: u32) -> String {
    let names: Vec<String> = (0..100).map(|at| format!("{at:02}")).collect();
    let (mut mode, mut id) = (mode, id.to_owned());
    for _ in 0..levels {
        let entries: Vec<_> = names.iter().map(|name| (mode, name, &*id)).collect();
        id = raw.tree(&entries);
        mode = FOLDER;
    }
    id
}

fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        size += if entry.file_type()?.is_dir() { size_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(size)
}

/// Runs the sync that hooks start; returns its time and the most memory that the process had, in KB.
fn sync_in_background(member: &Member) -> Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut command = member.command("wyren");
    command.env("WYREN_SYNC_SECONDS", "50");
    let mut child =
        command.args(["sync", "--background"]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0));
        if begun.elapsed() > 2 * MAX_TIME {
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(2));
    };
    ensure!(code.success(), "{code:?}");
    Ok((begun.elapsed(), most))
}

/// Pushes a bomb together with an honest skill, and checks that the skill arrives in time without gigabytes.
#[expect(clippy::print_stderr, reason = "the figures are for the documents")]
fn check_bomb(name: &str, path: &[&[u8]], make: impl Fn(&Raw) -> (&'static str, String)) -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = first_member(&remote)? else { return Ok(()) };
    let raw = Raw::new(&remote.path());
    let (mode, id) = make(&raw);
    push(&remote, path, mode, &id);
    push(&remote, &[b"broadcast", b"skills", b"honest.md"], FILE, &raw.blob(b"arrives\n"));
    // A server has its objects packed; ours runs on this machine, and takes its time for it before we begin.
    git(&remote.path(), &["-c", "core.bigFileThreshold=8m", "repack", "-a", "-d", "-q"])?;
    let (time, memory) = sync_in_background(&ada)?;
    let wyren = ada.clone_folder().join(".wyren");
    let disk = size_of(&wyren)?;
    eprintln!("{name}: {} ms, {memory} KB, {disk} bytes on disk", time.as_millis());
    assert_eq!(fs::read_to_string(wyren.join("broadcast/skills/honest.md"))?, "arrives\n", "{name}");
    assert!(time < MAX_TIME, "{name}: {time:?}");
    assert!(disk < MAX_DISK, "{name}: {disk} bytes");
    if cfg!(target_os = "linux") {
        assert!(memory > 0 && memory < MAX_MEMORY, "{name}: {memory} KB");
    }
    let log = fs::read_to_string(wyren.join("log"))?;
    assert!(log.contains("sync: left out "), "{name}: {log}");
    ada.decide("Use Redis")?;
    let (code, memory) = (ada.try_wyren(&["sync"])?.status.code(), remote.memory(Mode::Side));
    match path {
        [b"memory.md"] => assert!(code == Some(3), "{name}: {code:?}"),
        _ => assert!(code == Some(0) && memory.contains("Use Redis"), "{name}: {code:?}"),
    }
    Ok(())
}

#[test]
fn a_million_files_are_left_out_in_time() -> Result<()> {
    check_bomb("a million files", &[b"broadcast", b"bomb"], |raw| {
        (FOLDER, nested(raw, FILE, &raw.blob(b"x"), 3))
    })
}

#[test]
fn a_hundred_million_folders_are_left_out_in_time() -> Result<()> {
    check_bomb("a hundred million folders", &[b"broadcast", b"bomb"], |raw| {
        (FOLDER, nested(raw, FOLDER, &raw.tree::<&str>(&[]), 4))
    })
}

#[test]
fn thirty_large_files_from_one_blob_are_left_out_in_time() -> Result<()> {
    check_bomb("30 files of 8 MiB", &[b"broadcast", b"bomb"], |raw| {
        let blob = raw.blob(&vec![b'x'; 8 * 1024 * 1024]);
        let names: Vec<String> = (0..30).map(|at| format!("{at:02}")).collect();
        (FOLDER, raw.tree(&names.iter().map(|name| (FILE, name, &*blob)).collect::<Vec<_>>()))
    })
}

#[test]
fn as_many_files_as_are_shared_arrive_in_time() -> Result<()> {
    check_bomb("2,100 files and 16 MiB", &[b"lessons"], |raw| {
        let (large, small) = (raw.blob(&vec![b'x'; 1024 * 1024]), raw.blob(b"x\n"));
        let names: Vec<String> = (0..2_100).map(|at| format!("{at:04}")).collect();
        let entries = names.iter().enumerate();
        (
            FOLDER,
            raw.tree(
                &entries
                    .map(|(at, name)| (FILE, name, if at < 16 { &*large } else { &*small }))
                    .collect::<Vec<_>>(),
            ),
        )
    })
}

#[test]
fn a_memory_of_60_mb_is_left_out_in_time() -> Result<()> {
    check_bomb("memory.md of 60 MB", &[b"memory.md"], |raw| {
        (FILE, raw.blob("- one entry of very many\n".repeat(2_400_000).as_bytes()))
    })
}

#[test]
fn a_memory_of_250_mb_in_one_line_is_left_out_in_time() -> Result<()> {
    check_bomb("memory.md of 250 MB", &[b"memory.md"], |raw| (FILE, raw.blob(&vec![b'<'; 250_000_000])))
}

fn check(member: &Member) -> Result<(String, String)> {
    let output = member.try_wyren(&["doctor", "--json"])?;
    let facts: Value = serde_json::from_slice(&output.stdout)?;
    let checks = facts["checks"].as_array().context("no checks")?;
    let check = checks.iter().find(|check| check["name"] == "team memory").context("no such check")?;
    Ok((
        check["state"].as_str().unwrap_or_default().to_owned(),
        check["message"].as_str().unwrap_or_default().to_owned(),
    ))
}

#[test]
fn an_odd_path_stops_no_sync_is_named_and_taken_away() -> Result<()> {
    let deep = vec![&b"dddddddd"[..]; 600];
    let long = "n".repeat(250);
    let paths: [(&str, Vec<&[u8]>); 4] = [
        ("a name of 250 bytes", vec![b"broadcast", long.as_bytes()]),
        ("git~1", vec![b"broadcast", b"skills", b"git~1"]),
        (".git. ", vec![b"broadcast", b".git. "]),
        ("600 folders", [&[&b"broadcast"[..]], &*deep, &[b"x.md"]].concat()),
    ];
    for (name, path) in paths {
        let remote = Remote::new(Mode::Side)?;
        let Some(ada) = first_member(&remote)? else { return Ok(()) };
        push(&remote, &path, FILE, &Raw::new(&remote.path()).blob(b"odd\n"));
        let first = ada.try_wyren(&["sync", "--json"])?;
        assert_eq!(first.status.code(), Some(0), "{name}: {first:?}");
        let facts: Value = serde_json::from_slice(&first.stdout)?;
        let left_out = facts["left_out"][0]["path"].as_str().context("nothing was left out")?.to_owned();
        let errors = String::from_utf8_lossy(&first.stderr).into_owned();
        assert!(errors.contains("Left out") && errors.contains("wyren unbroadcast"), "{name}: {errors}");
        ada.wyren(&["memory", "handoff", "over to you"])?;
        assert!(remote.memory(Mode::Side).contains("over to you"), "{name}");

        let Some(bob) = Member::set_up(&remote, "bob", Mode::Side)? else { return Ok(()) };
        bob.wyren(&["sync", "--background"])?;
        assert!(bob.memory()?.contains("over to you"), "{name}");
        assert!(bob.start("s1")?.contains("over to you"), "{name}");
        let (state, message) = check(&bob)?;
        assert!(state == "warn" && message.contains("left out"), "{name}: {state} {message}");
        let status = bob.wyren(&["status"])?;
        assert!(status.contains("\nLeft out: "), "{name}: {status}");
        let log = fs::read_to_string(bob.clone_folder().join(".wyren/log"))?;
        assert_eq!(log.matches("sync: left out ").count(), 1, "{name}: {log}");

        let tree = |remote: &Remote| git(&remote.path(), &["ls-tree", "-r", "-t", "--name-only", BRANCH]);
        let before = tree(&remote)?;
        bob.wyren(&["unbroadcast", &left_out])?;
        assert!(tree(&remote)?.len() < before.len(), "{name}");
        assert_eq!(check(&bob)?.0, "ok", "{name}");
        assert!(!bob.wyren(&["status"])?.contains("Left out"), "{name}");
        assert_eq!(ada.try_wyren(&["sync"])?.stderr, b"", "{name}");
    }
    Ok(())
}

#[test]
fn doctor_and_status_say_what_stopped_the_last_sync() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = first_member(&remote)? else { return Ok(()) };
    let path = ada.clone_folder().join(".wyren/broadcast");
    let aside = ada.sandbox.folder().join("aside");
    if path.exists() {
        fs::rename(&path, &aside)?;
    }
    // The shared folder is a link, which Wyren does not follow.
    push(&remote, &[b"broadcast", b"x.md"], FILE, &Raw::new(&remote.path()).blob(b"x\n"));
    fs::create_dir_all(&aside)?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(&aside, &path)?;
    ada.wyren(&["sync", "--background"])?;
    let (state, message) = check(&ada)?;
    assert!(state == "bad" && message.contains("the last sync failed"), "{state} {message}");
    let status = ada.wyren(&["status"])?;
    assert!(status.contains("\nSync error: "), "{status}");
    fs::remove_file(&path)?;
    ada.wyren(&["sync", "--background"])?;
    assert_eq!(check(&ada)?.0, "ok");
    Ok(())
}

#[test]
fn a_memory_that_is_too_large_is_replaced_by_a_persons_word() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = first_member(&remote)? else { return Ok(()) };
    let raw = Raw::new(&remote.path());
    push(&remote, &[b"memory.md"], FILE, &raw.blob(&vec![b'-'; 10_000_000]));
    ada.decide("Use Redis")?;
    let output = ada.try_wyren(&["sync"])?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("wyren sync --restore"), "{errors}");
    let (state, message) = check(&ada)?;
    assert!(state == "warn" && message.contains("memory.md"), "{state} {message}");
    ada.wyren(&["sync", "--restore"])?;
    let memory = remote.memory(Mode::Side);
    assert!(memory.contains("Use Postgres") && memory.contains("Use Redis"), "{memory}");
    assert_eq!(check(&ada)?.0, "ok");
    Ok(())
}
