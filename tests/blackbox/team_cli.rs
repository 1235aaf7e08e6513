//! The commands of team memory, as a person at a terminal or a script meets them. Messages and exit codes of the Node
//! version are compared literally.

use std::fs;
use std::process::Output;

use anyhow::{Context as _, Result};
use fixture::{Door, Web};
use serde_json::{Value, json};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};
use wyren_tests::terminal::{Key, Terminal};

use crate::team::{Member, Mode, Remote, git};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `wyren`; returns its exit code and what it printed.
fn wyren(member: &Member, arguments: &[&str]) -> Result<(Option<i32>, String, String)> {
    let output = member.try_wyren(arguments)?;
    Ok((output.status.code(), stdout(&output), stderr(&output)))
}

fn json(member: &Member, arguments: &[&str]) -> Result<Value> {
    Ok(serde_json::from_str(&member.wyren(arguments)?)?)
}

#[test]
fn without_a_command_there_is_help_and_an_unknown_one_ends_with_2() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let output = sandbox.wyren(&[])?;
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("Usage: wyren <command>"), "{}", stdout(&output));
    let output = sandbox.wyren(&["frobnicate", "--hard"])?;
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""));
    assert_eq!(
        stderr(&output),
        "wyren: unknown command 'frobnicate'; `wyren --help` lists all commands\n",
        "c10: no help where one line says it"
    );
    let output = sandbox.wyren(&["statsu"])?;
    assert_eq!(
        (output.status.code(), &*stderr(&output)),
        (Some(2), "wyren: unknown command 'statsu'; did you mean 'status'?\n")
    );
    for flag in ["-v", "--version", "-V"] {
        let output = sandbox.wyren(&[flag])?;
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(0), "wyren 0.1.0\n"), "{flag}");
    }
    Ok(())
}

#[test]
fn every_command_of_team_memory_has_help_with_examples() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for command in ["init", "status", "log", "sync", "memory", "broadcast-skill", "unbroadcast"] {
        let output = sandbox.wyren(&[command, "--help"])?;
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(stdout(&output).contains("Examples:"), "{command}");
    }
    Ok(())
}

#[test]
fn without_a_memory_every_command_says_how_to_start_one() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let status = wyren(&ada, &["status"])?;
    assert_eq!(
        status,
        (Some(0), "Wyren not initialized in this repo. Run: wyren init\n".to_owned(), String::new())
    );
    let log = wyren(&ada, &["log"])?;
    assert_eq!((log.0, &*log.1), (Some(0), "No log yet — distiller has not run in this repo.\n"));
    for arguments in [&["sync"][..], &["memory"], &["memory", "handoff", "x"], &["broadcast-skill", "README"]]
    {
        let (code, _, errors) = wyren(&ada, arguments)?;
        assert_eq!((code, &*errors), (Some(1), "Wyren not initialized. Run: wyren init\n"), "{arguments:?}");
    }
    for arguments in [&["sync", "--background"][..], &["sync", "--discover"]] {
        assert_eq!(wyren(&ada, arguments)?, (Some(0), String::new(), String::new()), "{arguments:?}");
    }
    assert!(!ada.clone_folder().join(".wyren").exists());
    Ok(())
}

#[test]
fn init_is_done_once_and_leaves_git_as_it_was() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let before = ada.footprint()?;
    fs::write(ada.clone_folder().join("CLAUDE.md"), "Be brief.\n")?;
    let shown = ada.wyren(&["init"])?;
    let expected = "Team memory started in .wyren/ (branch wyren/memory, outside code review).\n\
                    From now on, decisions made in sessions here are added to it and pushed to origin.\n\n";
    assert!(shown.starts_with(expected), "text 14: {shown}");
    assert!(shown.contains("\n  wyren config set distill.enabled false  stop adding decisions\n"), "{shown}");
    assert!(!ada.memory()?.contains("Be brief"), "c2: the client loads CLAUDE.md by itself");
    assert_eq!(ada.wyren(&["init"])?, "Wyren already initialized.\n");
    fs::remove_file(ada.clone_folder().join("CLAUDE.md"))?;
    assert_eq!(ada.footprint()?, before);
    assert_eq!(json(&ada, &["init", "--json"])?["mode"], "side");
    Ok(())
}

#[test]
fn init_works_from_a_subfolder_and_outside_git() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let deep = ada.clone_folder().join("a/b");
    fs::create_dir_all(&deep)?;
    let output = feed(ada.command("wyren").arg("init").current_dir(&deep), b"")?;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(ada.clone_folder().join(".wyren/memory.md").is_file() && !deep.join(".wyren").exists());

    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let output = sandbox.wyren(&["init"])?;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let root = sandbox.project();
    assert!(stdout(&output).contains("it stays on this machine"), "{output:?}");
    assert!(!root.join(".gitignore").exists(), "c21");
    assert!(root.join(".wyren/broadcast/skills/.gitkeep").is_file());
    assert_eq!(stdout(&sandbox.wyren(&["init"])?), "Wyren already initialized.\n");
    let status = stdout(&sandbox.wyren(&["status"])?);
    assert!(status.contains("Remote:     (none configured)\nPeer pushed: (no remote)\n"), "{status}");
    Ok(())
}

#[test]
fn c2_claude_md_is_copied_when_asked_for_and_not_kept_in_sync() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    fs::write(ada.clone_folder().join("CLAUDE.md"), "Be brief.\n")?;
    let shown = ada.wyren(&["init", "--seed-claude-md"])?;
    assert!(shown.contains("Later changes of that file are not copied."), "{shown}");
    assert!(ada.memory()?.contains("Be brief."));
    let (code, _, errors) = wyren(&ada, &["init", "--seed-claude-md"])?;
    assert_eq!(code, Some(0));
    assert!(errors.contains("CLAUDE.md was not copied: there is a memory already."), "{errors}");
    Ok(())
}

#[test]
fn c5_another_way_of_sharing_needs_a_yes() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let before = ada.footprint()?;
    let (code, shown, errors) = wyren(&ada, &["init", "--branch"])?;
    assert_eq!((code, &*shown), (Some(1), ""), "{errors}");
    for text in ["on the branch wyren/memory", "you commit it with your code", ".gitignore gets", "add --yes"]
    {
        assert!(errors.contains(text), "{text}: {errors}");
    }
    assert_eq!(
        (ada.footprint()?, json(&ada, &["status", "--json"])?["mode"].as_str()),
        (before, Some("side"))
    );
    let mut asked = Terminal::of(ada.command("wyren").args(["init", "--branch"]), 100)?;
    asked.wait_for("Switch? [y/N]")?;
    asked.type_text("n")?;
    asked.press(Key::Enter)?;
    assert_eq!(asked.end()?, 0);
    assert_eq!(json(&ada, &["status", "--json"])?["mode"], "side");

    ada.wyren(&["init", "--branch", "--yes"])?;
    assert_eq!(json(&ada, &["status", "--json"])?["mode"], "branch");
    assert!(ada.clone_folder().join(".gitignore").exists());
    ada.wyren(&["init", "--side", "--yes"])?;
    assert!(!ada.clone_folder().join(".gitignore").exists());
    assert_eq!(json(&ada, &["status", "--json"])?["mode"], "side");
    // What is as it was needs no yes.
    assert_eq!(ada.wyren(&["init", "--side"])?, "Wyren already initialized.\n");
    Ok(())
}

#[test]
fn c22_without_a_remote_init_says_that_the_memory_stays_here() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    ada.git(&["remote", "remove", "origin"])?;
    let shown = ada.wyren(&["init"])?;
    let expected = "There is no remote yet, so it stays on this machine. Once there is one: wyren sync\n";
    assert!(shown.contains(expected) && !shown.contains("pushed"), "{shown}");
    // A remote that comes later may be public: nothing goes there before a word.
    let address = format!("file://{}", remote.path().display());
    ada.git(&["remote", "add", "origin", &address])?;
    ada.wyren(&["sync", "--background"])?;
    assert_eq!(remote.memory(Mode::Side), "");
    ada.wyren(&["sync"])?;
    assert_ne!(remote.memory(Mode::Side), "");
    Ok(())
}

#[test]
fn a_public_repository_is_published_only_after_a_yes() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    fixture::git(&remote.path(), &["update-server-info"]);
    let folder = remote.path().parent().context("no folder")?.to_owned();
    let name = remote.path().file_name().context("no name")?.to_string_lossy().into_owned();
    let publishes =
        |member: &Member| Ok::<_, anyhow::Error>(json(member, &["status", "--json"])?["publishing"] == true);
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let web = Web::new(Door::Open(folder.clone()));
    ada.git(&["remote", "set-url", "origin", &web.address(&name)])?;

    // Without a terminal the flag is the yes.
    let (code, shown, errors) = wyren(&ada, &["init"])?;
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.contains("It stays on this machine."), "{shown}");
    assert!(errors.contains("is public, and anyone could read the memory there"), "{errors}");
    assert!(errors.contains("To publish it: wyren init --public"), "{errors}");
    assert!(!publishes(&ada)?);
    let file = ada.clone_folder().join(".wyren/memory.md");
    fs::write(&file, fs::read_to_string(&file)? + "\n## Decisions\n- Use Postgres\n")?;
    let (code, _, errors) = wyren(&ada, &["sync"])?;
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("To publish it: wyren sync --public"), "{errors}");
    assert!(!publishes(&ada)?);

    // On a terminal there is a question, and no is the default.
    for (answer, expected) in [("", false), ("y", true)] {
        let mut asked = Terminal::of(ada.command("wyren").arg("init"), 120)?;
        asked.wait_for("This repository is public: anyone can read its memory. Publish it? [y/N]")?;
        asked.type_text(answer)?;
        asked.press(Key::Enter)?;
        asked.end()?;
        assert_eq!(publishes(&ada)?, expected, "{answer:?}");
    }
    // It is asked once: the leave is about this address.
    let (_, _, errors) = wyren(&ada, &["sync"])?;
    assert!(!errors.contains("public"), "{errors}");

    let Some(grace) = Member::new(&remote, "grace")? else { return Ok(()) };
    grace.git(&["remote", "set-url", "origin", &web.address(&name)])?;
    let facts = json(&grace, &["init", "--public", "--json"])?;
    assert_eq!((&facts["public"], &facts["publishes"]), (&true.into(), &true.into()), "{facts}");
    Ok(())
}

#[test]
fn a_remote_that_wants_an_account_is_not_public_and_one_that_fails_is_unknown() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    for (status, public, text) in [
        (401, Value::Bool(false), None),
        (500, Value::Null, Some("Wyren could not find out whether the repository is public.")),
    ] {
        let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
        let web = Web::new(Door::Answers(status));
        ada.git(&["remote", "set-url", "origin", &web.address("app.git")])?;
        let facts = json(&ada, &["init", "--json"])?;
        assert_eq!((&facts["public"], &facts["publishes"]), (&public, &true.into()), "{status}: {facts}");
        let Some(grace) = Member::new(&remote, "grace")? else { return Ok(()) };
        grace.git(&["remote", "set-url", "origin", &web.address("app.git")])?;
        let shown = grace.wyren(&["init"])?;
        assert_eq!(text.is_some_and(|text| shown.contains(text)), text.is_some(), "{status}: {shown}");
        assert!(!shown.contains("is public:"), "{shown}");
    }
    Ok(())
}

#[test]
fn c19_status_is_one_screen_on_a_terminal_and_the_old_lines_in_a_pipe() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use Postgres")?;
    ada.wyren(&["memory", "handoff", "Cart is next"])?;
    ada.wyren(&["remember", "float sums drift"])?;
    ada.wyren(&["work", "new", "Move the cart to cents"])?;
    let event = |command: &str| {
        json!({
            "session_id": "s-1", "cwd": ada.clone_folder(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": command,
        })
        .to_string()
    };
    feed(&mut ada.command("lesson-inject"), event("git push --force origin main").as_bytes())?;
    for width in ["80", "100"] {
        let output = feed(ada.command("wyren").args(["status", "--screen"]).env("COLUMNS", width), b"")?;
        let text = stdout(&output);
        assert!(output.status.success() && !text.contains('\u{1b}'), "{output:?}");
        let columns: usize = width.parse()?;
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        for expected in [
            "Team memory  1 entry: Decisions 1\n",
            "  news       none from teammates since yesterday\n",
            "  handoff    ada, today ",
            ": Cart is next\n",
            "Journal      1 entry today, 1 this week: wyren recap\n",
            "Work         1 open: wyren work\n",
            "today 0 shown, 1 call refused",
            "Spend        no model is asked",
            "Waiting      nothing\n",
            "Data         ",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
    let screen = Terminal::of(ada.command("wyren").arg("status"), 80)?;
    screen.wait_for("Data ")?;
    assert!(screen.contents().starts_with("Wyren 0.1.0 in "), "{}", screen.contents());
    assert_eq!(screen.end()?, 0);
    assert!(
        ada.wyren(&["status"])?.starts_with("Memory:     .wyren/memory.md  ("),
        "in a pipe nothing changed"
    );
    let facts = json(&ada, &["status", "--json"])?;
    assert_eq!(facts["lessons"]["refused_today"], 1);
    assert_eq!(facts["journal"], json!({"today": 1, "this_week": 1, "recorded": true}));
    assert_eq!(facts["work"], json!({"open": 1, "waiting": 0}));
    assert_eq!(facts["entries"]["Decisions"], 1);
    assert_eq!(facts["handoff_notes"][0]["text"], "Cart is next");
    Ok(())
}

#[test]
fn c19_without_a_memory_status_shows_the_rest_and_how_to_start_one() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let text = stdout(&sandbox.wyren(&["status", "--screen"])?);
    for expected in [
        "Team memory  none here. To start one: wyren init\n",
        "Journal      no entries this week\n",
        "Work         nothing open\n",
        "Lessons      ",
        "Spend        ",
        "Health       ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!sandbox.data().join("wyren.db").exists(), "looking makes no database");
    let facts: Value = serde_json::from_slice(&sandbox.wyren(&["status", "--json"])?.stdout)?;
    assert_eq!((&facts["initialized"], &facts["spend"]["off"]), (&false.into(), &false.into()));
    Ok(())
}

#[test]
fn branch_mode_asks_the_user_to_commit_and_pull_goes_on_working() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let shown = ada.wyren(&["init", "--branch"])?;
    assert!(shown.contains("git add .wyren .gitignore"), "{shown}");
    assert!(shown.contains(".wyren/.gitattributes"), "{shown}");
    ada.decide("Use Postgres")?;
    let (code, _, errors) = wyren(&ada, &["sync"])?;
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("not committed yet"), "{errors}");
    ada.git(&["pull", "--quiet", "--ff-only"])?;
    ada.git(&["add", "--all"])?;
    ada.git(&["commit", "--quiet", "--message", "memory"])?;
    ada.git(&["push", "--quiet"])?;
    ada.wyren(&["sync"])?;
    assert!(remote.memory(Mode::Branch).contains("- Use Postgres"));
    ada.git(&["pull", "--quiet", "--ff-only"])?;
    Ok(())
}

#[test]
fn status_has_the_lines_of_the_node_version_and_knows_injections_at_prompts() -> Result<()> {
    let remote = Remote::new(Mode::Branch)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Branch)? else { return Ok(()) };
    let wyren_folder = ada.clone_folder().join(".wyren");
    ada.wyren(&["sync"])?;
    let fresh = ada.wyren(&["status"])?;
    assert!(
        fresh.starts_with("Memory:     .wyren/memory.md  (0.0 KB, 5 lines)\nProgress:   (no state yet"),
        "{fresh}"
    );
    let state = r#"{"turns_since_distill":2,"last_uuid":"u-1","last_distilled_at":1794796001123.5,"last_transcript":"/t.jsonl"}"#;
    fs::write(wyren_folder.join("state/watermark.json"), state)?;
    fs::write(wyren_folder.join("state/.lock"), "2026-11-16T02:26:41.123Z")?;
    let log = "[2026-11-16T02:00:00.000Z] injection: session-start\n\
               [2026-11-16T02:26:41.123Z] [ups] injection: user-prompt-submit\nraw distiller line\n";
    fs::write(wyren_folder.join("log"), log)?;
    let status = ada.wyren(&["status"])?;
    let lines: Vec<&str> = status.lines().collect();
    let begins = [
        "Memory:     .wyren/memory.md  (0.0 KB, 5 lines)",
        "Distilled:  2026-11-16 02:26:41 (",
        "Last UUID:  u-1",
        "Progress:   2 / 5 turns until next distill",
        "Transcript: /t.jsonl",
        "Injected:   2026-11-16 02:26:41 (",
        "Remote:     origin → file://",
        "Peer pushed: ",
        "Lock:       held (",
        "Mode:       branch, main",
    ];
    for (at, begin) in begins.iter().enumerate() {
        assert!(lines[at].starts_with(begin), "{begin}: {status}");
    }
    assert!(lines[5].ends_with(" ago via user-prompt-submit)"), "{status}");
    assert!(lines[7].contains("(First, "), "{status}");
    fs::write(
        wyren_folder.join("state/watermark.json"),
        state.replacen('{', r#"{"distiller_running":true,"#, 1),
    )?;
    assert!(ada.wyren(&["status"])?.contains("Progress:   2 turns (distilling now...)\n"));
    let facts = json(&ada, &["status", "--json"])?;
    assert_eq!(
        (&facts["mode"], &facts["injected"]["event"]),
        (&"branch".into(), &"user-prompt-submit".into())
    );
    Ok(())
}

#[test]
fn log_shows_the_tail_with_the_messages_of_the_node_version() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let log = ada.clone_folder().join(".wyren/log");
    fs::write(&log, "\n")?;
    assert_eq!(ada.wyren(&["log"])?, "Log is empty.\n");
    let lines: String = (1..=60).map(|number| format!("line {number}\n")).collect();
    fs::write(&log, &lines)?;
    let shown = ada.wyren(&["log"])?;
    assert!(
        shown.starts_with("... (10 earlier lines omitted — use --lines to show more)\n\nline 11\n"),
        "{shown}"
    );
    let (code, shown, errors) = wyren(&ada, &["log", "--lines", "-3"])?;
    assert_eq!(code, Some(0));
    assert!(!errors.is_empty() && shown.ends_with("line 60\n") && shown.contains("(10 earlier"), "{shown}");
    fs::write(&log, format!("[2026-11-16T02:26:41.123Z] [ups] injection: user-prompt-submit\n{lines}"))?;
    let shown = ada.wyren(&["log", "-n", "2"])?;
    let parts: Vec<&str> = shown.split("\n\n").collect();
    assert_eq!(parts.len(), 3, "{shown}");
    assert!(parts[1].starts_with("Last injected: 2026-11-16 02:26:41 ("), "{shown}");
    assert_eq!(parts[2], "line 59\nline 60\n");
    Ok(())
}

#[test]
fn sync_tells_landed_from_queued_by_its_exit_code() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(grace)) =
        (Member::set_up(&remote, "ada", Mode::Side)?, Member::set_up(&remote, "grace", Mode::Side)?)
    else {
        return Ok(());
    };
    ada.decide("Use Postgres")?;
    assert_eq!(json(&ada, &["sync", "--json"])?["published"], "landed");
    assert_eq!(json(&ada, &["sync", "--json"])?["published"], "nothing");
    assert!(grace.wyren(&["sync"])?.contains("Updated locally: memory.md"));
    assert!(grace.memory()?.contains("- Use Postgres"));
    let away = remote.path().with_extension("away");
    fs::rename(remote.path(), &away)?;
    ada.decide("Use Redis")?;
    let (code, _, errors) = wyren(&ada, &["sync"])?;
    assert_eq!(code, Some(3));
    assert!(
        errors.starts_with("wyren: kept locally until the next sync: the remote could not be reached"),
        "{errors}"
    );
    assert!(ada.wyren(&["status"])?.contains("\nQueue:      local changes are not pushed yet"));
    fs::rename(&away, remote.path())?;
    // A person who waits is not told to come back later.
    ada.wyren(&["sync"])?;
    assert!(remote.memory(Mode::Side).contains("- Use Redis"));
    Ok(())
}

#[test]
fn a_secret_is_named_and_never_pushed() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let token = format!("ghp_{}", "a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3");
    ada.decide(&format!("Deploy with {token}"))?;
    for _ in 0..2 {
        let (code, _, errors) = wyren(&ada, &["sync"])?;
        assert_eq!(code, Some(0));
        assert!(errors.contains("Held back (github): .wyren/memory.md:"), "{errors}");
        assert!(!errors.contains(&token), "{errors}");
    }
    assert!(ada.memory()?.contains(&token));
    assert!(remote.memory(Mode::Side).contains("- Deploy with [redacted:github]"));
    assert!(ada.wyren(&["status"])?.contains("Held back:  1 "));
    Ok(())
}

#[test]
fn memory_shows_compares_and_remembers() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use MongoDB")?;
    assert!(ada.wyren(&["memory", "diff"])?.contains("+ Use MongoDB"));
    ada.wyren(&["sync"])?;
    assert!(ada.wyren(&["memory", "diff"])?.starts_with("Up to date with the remote"));
    let mut editing = ada.command("wyren");
    editing.args(["memory", "edit"]).env("EDITOR", "sed -i s/MongoDB/Postgres/");
    let output = feed(&mut editing, b"")?;
    assert_eq!(stdout(&output), "1 change. The next prompt publishes it; to publish now: wyren sync\n");
    let facts = json(&ada, &["memory", "diff", "--json"])?;
    assert_eq!(facts["not_published"][0]["text"], "Use Postgres");
    let found = json(&ada, &["memory", "history", "mongodb", "--json"])?;
    assert_eq!(found["removals"][0]["replaced_by"], "Use Postgres");
    assert_eq!(found["removals"][0]["by"], "ada");
    assert!(ada.wyren(&["memory", "history", "MongoDB"])?.contains("→ Use Postgres"));
    let shown = json(&ada, &["memory", "show", "--json"])?;
    assert_eq!(shown["sections"][0]["entries"][0]["text"], "Use Postgres");
    Ok(())
}

#[test]
fn an_edit_keeps_what_others_wrote_meanwhile_and_a_failing_editor_keeps_the_draft() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("One")?;
    ada.decide("Two")?;
    let memory = ada.clone_folder().join(".wyren/memory.md");
    let script = ada.sandbox.folder().join("tmp/editor.sh");
    let meanwhile =
        format!("#!/bin/sh\necho '- Meanwhile' >> '{}'\nsed -i '/^- One$/d' \"$1\"\n", memory.display());
    fs::write(&script, meanwhile)?;
    let mut editing = ada.command("wyren");
    let output =
        feed(editing.args(["memory", "edit"]).env("EDITOR", format!("sh {}", script.display())), b"")?;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = ada.memory()?;
    assert!(text.contains("- Meanwhile") && text.contains("- Two") && !text.contains("- One"), "{text}");
    let mut failing = ada.command("wyren");
    let output = feed(failing.args(["memory", "edit"]).env("EDITOR", "false"), b"")?;
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("your draft is "), "{}", stderr(&output));
    let mut emptying = ada.command("wyren");
    let output = feed(emptying.args(["memory", "edit"]).env("EDITOR", "truncate -s 0"), b"")?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(ada.memory()?, text);
    Ok(())
}

#[test]
fn a_handoff_note_is_on_top_word_for_word_and_says_whether_it_arrived() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let shown = ada.wyren(&["memory", "handoff", "--session", "0123456789ab", "first", "note"])?;
    assert_eq!(shown, "Handoff note published.\n");
    let note = "Don't touch `x`: $(touch pwned)\n- \"half\" done";
    let output = feed(ada.command("wyren").args(["memory", "handoff", "-"]), note.as_bytes())?;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let memory = remote.memory(Mode::Side);
    let notes: Vec<&str> = memory.lines().filter(|line| line.starts_with("- [20")).collect();
    assert_eq!(notes.len(), 2, "{memory}");
    assert!(memory.contains("] Don't touch `x`: $(touch pwned)\n  - \"half\" done [by ada]\n"), "{memory}");
    assert!(notes[1].contains("] first note [session 01234567, by ada]"), "{memory}");
    assert!(!ada.clone_folder().join("pwned").exists());
    fs::rename(remote.path(), remote.path().with_extension("away"))?;
    let (code, _, errors) = wyren(&ada, &["memory", "handoff", "later"])?;
    assert_eq!(code, Some(3));
    assert!(errors.starts_with("Handoff note saved locally; not published yet: "), "{errors}");
    Ok(())
}

#[test]
fn d10_a_handoff_note_has_no_options_in_it() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.wyren(&["memory", "handoff", "note one", "--session", "0123456789ab"])?;
    ada.wyren(&["memory", "handoff", "note", "--session=abcdef0123", "two"])?;
    ada.wyren(&["memory", "handoff", "--session", "cafecafe99", "--", "--force", "is gone"])?;
    let memory = remote.memory(Mode::Side);
    let notes: Vec<&str> = memory.lines().filter(|line| line.starts_with("- [")).collect();
    let [three, two, one] = notes[..] else { panic!("{memory}") };
    for (note, text, session) in
        [(one, "note one", "01234567"), (two, "note two", "abcdef01"), (three, "--force is gone", "cafecafe")]
    {
        assert!(note.contains(&format!("] {text} [session {session}")), "{note}");
        assert!(!note.contains("--session"), "{note}");
    }
    for unknown in [&["note", "--sesion", "x"][..], &["--force", "note"], &["note", "-x"]] {
        let arguments = [&["memory", "handoff"], unknown].concat();
        let (code, _, errors) = wyren(&ada, &arguments)?;
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("unexpected argument"), "{errors}");
    }
    assert_eq!(remote.memory(Mode::Side), memory);
    Ok(())
}

#[test]
fn d10_an_edit_that_repeats_a_section_is_no_edit_of_nothing() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Use tabs")?;
    ada.wyren(&["sync"])?;
    let edit = |line: &str| -> Result<(String, String)> {
        let script = ada.sandbox.folder().join("tmp/repeat.sh");
        fs::write(&script, format!("{line}\n"))?;
        let mut editing = ada.command("wyren");
        editing.args(["memory", "edit"]).env("EDITOR", format!("sh {}", script.display()));
        let output = feed(&mut editing, b"")?;
        assert!(output.status.success(), "{output:?}");
        Ok((stdout(&output), stderr(&output)))
    };
    let (shown, errors) = edit("printf '\\n## Decisions\\n- Use tabs\\n' >> \"$1\"")?;
    assert!(
        shown.starts_with("The text changed, but no entry.") && !errors.contains("No changes"),
        "{shown}"
    );
    ada.wyren(&["sync"])?;
    assert_eq!(remote.memory(Mode::Side).matches("## Decisions").count(), 2);
    let (shown, _) = edit("printf '\\n## Decisions\\n- Use spaces\\n' >> \"$1\"")?;
    assert!(shown.starts_with("1 change."), "{shown}");
    let (shown, errors) = edit("true")?;
    assert_eq!((&*shown, errors.trim()), ("", "No changes."));
    Ok(())
}

#[test]
fn d7_every_commit_that_publishes_has_the_node_versions_subject() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(ada) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        let subject = || git(&remote.path(), &["log", "-1", "--format=%s", mode.branch()]);
        let of = |session: &str| format!("[wyren] memory update (session {session})");
        ada.decide("Use tabs")?;
        ada.wyren(&["sync"])?;
        assert_eq!(subject()?, of("manual"));
        ada.decide("Use spaces")?;
        ada.wyren(&["sync", "--background"])?;
        assert_eq!(subject()?, of("manual"));
        ada.wyren(&["memory", "handoff", "--session", "0123456789ab", "note"])?;
        assert_eq!(subject()?, of("01234567"));
        fs::write(ada.sandbox.folder().join("tmp/skill.md"), "x\n")?;
        ada.wyren(&["broadcast-skill", &ada.sandbox.folder().join("tmp/skill.md").display().to_string()])?;
        assert_eq!(subject()?, of("broadcas"));
        ada.wyren(&["unbroadcast", "skill"])?;
        assert_eq!(subject()?, of("broadcas"));
        let subjects = git(&remote.path(), &["log", "--format=%s", mode.branch()])?;
        let is_ours = |subject: &&str| subject.starts_with("[wyren]");
        for subject in subjects.lines().filter(is_ours) {
            assert!(
                subject.starts_with("[wyren] memory update (session ") && subject.ends_with(')'),
                "{subject}"
            );
        }
    }
    Ok(())
}

#[test]
fn d5_before_the_first_fetch_a_clone_of_a_node_team_knows_what_its_git_does() -> Result<()> {
    let remote = Remote::new(Mode::Branch)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let away = remote.path().with_extension("away");
    fs::rename(remote.path(), &away)?;
    let status = ada.wyren(&["status"])?;
    let peer = status.lines().find(|line| line.starts_with("Peer pushed:")).unwrap_or_default();
    assert!(peer.contains("(First, "), "{status}");
    assert!(!status.contains("Queue:") && !status.contains("changes stay"), "{status}");
    let facts = json(&ada, &["status", "--json"])?;
    assert_eq!((&facts["queued"], &facts["peer_pushed"]["author"]), (&Value::Bool(false), &"First".into()));
    let shown = ada.wyren(&["memory", "diff"])?;
    assert!(shown.starts_with("Up to date with the remote."), "{shown}");
    fs::rename(&away, remote.path())?;
    Ok(())
}

#[test]
fn the_handoff_command_gives_the_note_to_no_shell() -> Result<()> {
    let (Some(plugin), Some(sandbox)) = (plugin::folder(), Sandbox::new()?) else { return Ok(()) };
    let text = fs::read_to_string(plugin.join("commands/wyren-handoff.md"))?;
    assert!(!text.contains("!`"), "nothing runs before the model has seen it");
    let block = text.split("```").nth(1).unwrap_or_default();
    // What the block becomes for a note that would do harm, run by a real shell.
    let note = "a \"b\" 'c' `touch one` $(touch two) ; touch three\n\\ $HOME";
    let script = block
        .replace("\nNOTE\n", &format!("\n{note}\n"))
        .replace("\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\" memory handoff -", "cat");
    let output = sandbox.command_for("sh".as_ref()).args(["-c", &script]).output()?;
    assert_eq!(stdout(&output), format!("{note}\n"), "{output:?}");
    assert_eq!(fs::read_dir(sandbox.project())?.count(), 0);
    Ok(())
}

#[test]
fn a_skill_is_broadcast_and_taken_back() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(ada) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        let folder = ada.clone_folder();
        assert_eq!(wyren(&ada, &["broadcast-skill"])?.2, "Usage: wyren broadcast-skill <file>\n");
        assert_eq!(
            wyren(&ada, &["broadcast-skill", "nope"])?,
            (Some(1), String::new(), "File not found: nope\n".into())
        );
        assert_eq!(
            wyren(&ada, &["broadcast-skill", "."])?,
            (Some(1), String::new(), "Not a file: .\n".into())
        );
        let skill = ada.sandbox.folder().join("review.md");
        fs::write(&skill, "look twice\r\n")?;
        let arguments = ["broadcast-skill", &skill.to_string_lossy()];
        let (code, shown, errors) = wyren(&ada, &arguments)?;
        assert_eq!((code, &*errors), (Some(0), ""), "{mode:?}");
        assert_eq!(shown, "Broadcast: .wyren/broadcast/skills/review.md\nPushed to remote.\n");
        let again = ada.wyren(&arguments)?;
        assert!(again.ends_with("No broadcast changes to push (no_changes).\n"), "{again}");
        ada.git(&["pull", "--quiet", "--ff-only"])?;
        let shown = ada.wyren(&["unbroadcast", "review"])?;
        assert_eq!(shown, "Removed for the whole team: .wyren/broadcast/skills/review.md\n");
        assert_eq!(wyren(&ada, &["unbroadcast", "review"])?.0, Some(1));
        ada.git(&["pull", "--quiet", "--ff-only"])?;
        assert!(!folder.join(".wyren/broadcast/skills/review.md").exists(), "{mode:?}");
        fs::write(ada.sandbox.folder().join("tool.sh"), "x\n")?;
        let odd = ada.sandbox.folder().join("tool.sh");
        let (code, _, errors) = wyren(&ada, &["broadcast-skill", &odd.to_string_lossy()])?;
        assert_eq!(code, Some(0));
        assert!(errors.starts_with("Warning: "), "{errors}");
    }
    Ok(())
}

#[test]
fn a_rewritten_memory_is_listed_and_waits_for_a_decision() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.wyren(&["sync"])?;
    let before = ada.git(&["rev-parse", "refs/wyren/remote/wyren%2Fmemory"])?;
    ada.decide("Use Postgres")?;
    ada.wyren(&["sync"])?;
    crate::team::git(&remote.path(), &["update-ref", "refs/heads/wyren/memory", &before])?;
    let (code, _, errors) = wyren(&ada, &["sync"])?;
    assert_eq!(code, Some(3));
    assert!(errors.contains("was force-pushed") && errors.contains("- Decisions: Use Postgres"), "{errors}");
    assert!(errors.contains("wyren sync --restore") && errors.contains("wyren sync --accept"), "{errors}");
    assert!(ada.memory()?.contains("- Use Postgres"));
    assert!(ada.wyren(&["status"])?.contains("\nRewritten:  1 entry is missing on the remote"));
    let checks = json(&ada, &["doctor", "--json"])?;
    let checks = checks["checks"].as_array().cloned().unwrap_or_default();
    let check = checks.iter().find(|check| check["name"] == "team memory").cloned().unwrap_or_default();
    assert_eq!(check["state"], "warn", "{check}");
    ada.wyren(&["sync", "--restore"])?;
    assert!(remote.memory(Mode::Side).contains("- Use Postgres"));
    Ok(())
}

#[test]
fn the_background_says_nothing_and_logs_what_changed() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let (Some(ada), Some(grace)) =
        (Member::set_up(&remote, "ada", Mode::Side)?, Member::new(&remote, "grace")?)
    else {
        return Ok(());
    };
    ada.decide("Use Postgres")?;
    assert_eq!(wyren(&ada, &["sync", "--background"])?, (Some(0), String::new(), String::new()));
    assert!(remote.memory(Mode::Side).contains("- Use Postgres"));
    assert!(ada.wyren(&["log"])?.contains("sync: published "));
    assert_eq!(wyren(&grace, &["sync", "--discover"])?, (Some(0), String::new(), String::new()));
    assert!(grace.memory()?.contains("- Use Postgres"));
    // Without leave to publish it only looks.
    grace.decide("Use Redis")?;
    let output = feed(grace.command("wyren").args(["sync", "--background"]).env("WYREN_PUBLISH", "0"), b"")?;
    assert_eq!(output.status.code(), Some(0));
    assert!(!remote.memory(Mode::Side).contains("Redis"));
    // A second one at the same time leaves it to the first.
    let lock = fs::File::create(grace.clone_folder().join(".wyren/state/background.lock"))?;
    lock.lock()?;
    assert_eq!(wyren(&grace, &["sync", "--background"])?.0, Some(0));
    assert!(!remote.memory(Mode::Side).contains("Redis"));
    drop(lock);
    assert_eq!(wyren(&grace, &["sync", "--background"])?.0, Some(0));
    assert!(remote.memory(Mode::Side).contains("- Use Redis"));
    Ok(())
}
