//! `wyren memory list`, `add`, `remove` and `handoff`: single entries, and what the user reads about them.

use anyhow::Result;
use serde_json::Value;
use wyren_tests::sandbox::{Sandbox, feed};

use crate::team::{Member, Mode, Remote};

/// Runs `wyren memory`; returns its exit code and what it printed.
fn memory(member: &Member, arguments: &[&str]) -> Result<(Option<i32>, String, String)> {
    let output = member.try_wyren(&[&["memory"], arguments].concat())?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((output.status.code(), stdout, stderr))
}

#[test]
fn c24_an_entry_is_added_listed_removed_and_restored_for_the_whole_team() -> Result<()> {
    for mode in [Mode::Side, Mode::Branch] {
        let remote = Remote::new(mode)?;
        let Some(ada) = Member::set_up(&remote, "ada", mode)? else { return Ok(()) };
        if mode == Mode::Branch {
            ada.git(&["pull", "--quiet"])?;
        }
        let (code, said, errors) = memory(&ada, &["add", "Prices", "are", "integer cents"])?;
        assert_eq!(
            (code, &*said),
            (Some(0), "Added to Decisions: Prices are integer cents. Pushed to origin.\n"),
            "{mode:?}: {errors}"
        );
        let (_, said, _) = memory(&ada, &["add", "rejected", "decimal.js: 40 KB for no gain"])?;
        let expected = "Added to Rejected paths: decimal.js: 40 KB for no gain. Pushed to origin.\n";
        assert_eq!(said, expected, "{mode:?}");
        let published = remote.memory(mode);
        let entry = published.lines().find(|line| line.contains("integer cents")).unwrap_or_default();
        assert!(entry.starts_with("- Prices are integer cents [by ada, 20"), "{mode:?}: {published}");

        let (_, listed, _) = memory(&ada, &["list", "DECIMAL"])?;
        let row = listed.lines().nth(1).unwrap_or_default();
        assert!(listed.starts_with("Rejected paths\n"), "{listed}");
        assert!(row.contains("decimal.js: 40 KB for no gain (ada, "), "{listed}");
        let number = row.split_whitespace().next().unwrap_or_default();
        let (code, said, errors) = memory(&ada, &["remove", number])?;
        assert_eq!(code, Some(0), "{errors}");
        let expected = "Removed from Rejected paths: decimal.js: 40 KB for no gain. Pushed to origin. \
            To bring it back: wyren memory restore 1.\n";
        assert_eq!(said, expected, "{mode:?}");
        assert!(!remote.memory(mode).contains("decimal.js"), "{mode:?}");
        let (_, history, _) = memory(&ada, &["history", "decimal.js"])?;
        assert!(history.contains("removed"), "{history}");
        ada.wyren(&["memory", "restore", "1"])?;
        ada.wyren(&["sync"])?;
        assert!(remote.memory(mode).contains("decimal.js"), "{mode:?}");
    }
    Ok(())
}

#[test]
fn an_entry_that_is_there_already_is_named_and_nothing_changes() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    memory(&ada, &["add", "The checkout totals are computed in integer cents"])?;
    let before = remote.memory(Mode::Side);
    let (code, said, _) = memory(&ada, &["add", "the checkout totals are computed in integer cents."])?;
    assert_eq!((code, &*said), (Some(0), "Decisions has this entry already; nothing changed.\n"));
    let similar = "The checkout totals are all computed in integer cents";
    let (code, _, errors) = memory(&ada, &["add", similar])?;
    assert_eq!(code, Some(1));
    assert!(errors.contains("says nearly the same; nothing changed: The checkout totals"), "{errors}");
    assert_eq!(remote.memory(Mode::Side), before);
    let (code, ..) = memory(&ada, &["add", "--force", similar])?;
    assert_eq!(code, Some(0));
    assert!(remote.memory(Mode::Side).contains(similar));
    Ok(())
}

#[test]
fn a_removal_that_names_no_single_entry_lists_what_it_could_be() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    for entry in ["Use tabs", "Use tabs in Makefiles too"] {
        memory(&ada, &["add", entry])?;
    }
    let before = remote.memory(Mode::Side);
    let (code, _, errors) = memory(&ada, &["remove", "tabs"])?;
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("  1  Use tabs (ada") && errors.contains("  2  Use tabs in Makefiles"),
        "{errors}"
    );
    assert!(
        errors.contains(
            "2 entries have these words; nothing changed. To remove one: wyren memory remove NUMBER"
        ),
        "{errors}"
    );
    for unknown in ["spaces", "7"] {
        let (code, _, errors) = memory(&ada, &["remove", unknown])?;
        assert!(code == Some(1) && errors.contains("wyren memory list"), "{errors}");
    }
    assert_eq!(remote.memory(Mode::Side), before);
    let (code, said, _) = memory(&ada, &["remove", "use", "tabs"])?;
    assert!(code == Some(0) && said.starts_with("Removed from Decisions: Use tabs. Pushed"), "{said}");
    assert!(remote.memory(Mode::Side).contains("Use tabs in Makefiles too"));
    let (code, said, errors) = memory(&ada, &["remove", "makefiles"])?;
    assert_eq!(code, Some(0), "review 21: {errors}");
    assert!(said.starts_with("Removed from Decisions: Use tabs in Makefiles too. Pushed"), "{said}");
    assert!(said.contains("To bring it back: wyren memory restore 1."), "{said}");
    Ok(())
}

#[test]
fn review_2_what_is_published_is_what_was_typed() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    for (words, section, text) in [
        (&["decisions", "are", "made", "on", "Fridays"][..], "Decisions", "decisions are made on Fridays"),
        (&["scope creep killed v1"], "Decisions", "scope creep killed v1"),
        (&["scope:", "no", "refunds"], "Scope changes", "no refunds"),
        (&["question: who pays?"], "Open questions", "who pays?"),
        (&["broken", "the build on Windows"], "Known broken state", "the build on Windows"),
    ] {
        let (code, said, errors) = memory(&ada, &[&["add"], words].concat())?;
        let end = if text.ends_with('?') { "" } else { "." };
        let expected = format!("Added to {section}: {text}{end} Pushed to origin.\n");
        assert_eq!((code, said), (Some(0), expected), "{errors}");
        let published = remote.memory(Mode::Side);
        let of_section = published.split(&format!("## {section}\n")).nth(1).unwrap_or_default();
        let of_section = of_section.split("\n## ").next().unwrap_or_default();
        assert!(of_section.contains(&format!("- {text} [by ada")), "{published}");
    }
    Ok(())
}

#[test]
fn review_18_a_text_with_paragraphs_keeps_them_on_the_remote_and_for_the_model() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let Some(grace) = Member::set_up(&remote, "grace", Mode::Side)? else { return Ok(()) };
    let prompt = serde_json::json!({"prompt": "/wyren:wyren-handoff First.\n\nSecond:\n- one\n- two"});
    feed(&mut ada.command("prompt-bind"), ada.event("prompt-sync", "s-1", &prompt).as_bytes())?;
    ada.wyren(&["sync"])?;
    let published = remote.memory(Mode::Side);
    assert!(published.contains("Z] First.\n\n  Second:\n  - one\n  - two [by ada]"), "{published}");
    grace.wyren(&["sync"])?;
    let told = grace.start("s-2")?;
    assert!(told.contains("First.\n\n  Second:\n  - one\n  - two (ada, "), "review 17: {told}");
    Ok(())
}

#[test]
fn what_the_model_adds_stays_here_until_a_person_lets_the_clone_publish() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let by_model = |arguments: &[&str]| {
        let mut command = ada.command("wyren");
        feed(
            command.args(arguments).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "abcdef01-2345"),
            b"",
        )
    };
    by_model(&["init"])?;
    let output = by_model(&["memory", "add", "Use tabs"])?;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Added to Decisions: Use tabs.\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("kept locally"), "{output:?}");
    assert!(!remote.memory(Mode::Side).contains("Use tabs"));
    assert!(ada.memory()?.contains("- Use tabs [session abcdef01, by ada"), "{}", ada.memory()?);
    let (code, said, errors) = memory(&ada, &["add", "Use LF"])?;
    assert_eq!((code, &*said), (Some(0), "Added to Decisions: Use LF. Pushed to origin.\n"), "{errors}");
    assert!(errors.contains("From now on Wyren publishes"), "{errors}");
    assert!(remote.memory(Mode::Side).contains("Use tabs"));
    Ok(())
}

#[test]
fn what_the_user_adds_in_a_session_is_news_to_it() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.start("s-1")?;
    let mut command = ada.command("wyren");
    feed(command.args(["memory", "add", "Use tabs"]).env("CLAUDE_CODE_SESSION_ID", "s-1"), b"")?;
    let told = ada.prompt("s-1")?;
    assert_eq!(told.matches("Use tabs").count(), 1, "{told}");
    Ok(())
}

#[test]
fn entries_are_facts_in_json() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let json = |arguments: &[&str]| -> Result<Value> {
        Ok(serde_json::from_str(&ada.wyren(&[&["memory"], arguments, &["--json"]].concat())?)?)
    };
    let added = json(&["add", "scope", "no refunds in version 1"])?;
    assert_eq!((&added["result"], &added["section"]), (&"added".into(), &"Scope changes".into()), "{added}");
    assert_eq!(added["sync"]["published"], "landed", "{added}");
    let listed = json(&["list"])?;
    assert_eq!(listed["entries"][0]["number"], 1, "{listed}");
    assert_eq!(listed["entries"][0]["text"], "no refunds in version 1", "{listed}");
    let removed = json(&["remove", "1"])?;
    assert_eq!(removed["removed"]["section"], "Scope changes", "{removed}");
    Ok(())
}

#[test]
fn c3_a_handoff_without_a_note_publishes_nothing() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let before = (ada.memory()?, remote.memory(Mode::Side));
    for note in [&[][..], &["-"], &["  "], &["<private>x</private>"]] {
        let (code, said, errors) = memory(&ada, &[&["handoff"], note].concat())?;
        assert_eq!((code, &*said), (Some(2), ""), "{note:?}: {errors}");
        assert!(errors.starts_with("wyren: a handoff needs a note; nothing was saved."), "{errors}");
    }
    assert_eq!((ada.memory()?, remote.memory(Mode::Side)), before);
    Ok(())
}

#[test]
fn c4_the_answer_counts_the_secrets_that_were_taken_out() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let note = format!("the token is {token}");
    let (_, said, _) = memory(&ada, &["handoff", &note])?;
    assert_eq!(said, "Handoff note published. 1 secret was taken out.\n");
    let (_, said, _) = memory(&ada, &["add", &note])?;
    let expected =
        "Added to Decisions: the token is [redacted:github]. Pushed to origin. 1 secret was taken out.\n";
    assert_eq!(said, expected);
    let published = remote.memory(Mode::Side);
    assert!(
        !published.contains(&token) && published.contains("the token is [redacted:github]"),
        "{published}"
    );
    Ok(())
}

#[test]
fn an_empty_memory_says_how_to_begin() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    sandbox.wyren(&["init"])?;
    let output = sandbox.wyren(&["memory", "list"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("The memory has no entries yet. To add one: wyren memory add "), "{said}");
    for arguments in [&["memory", "add"][..], &["memory", "add", " "], &["memory", "add", "handoff: x"]] {
        assert_eq!(sandbox.wyren(arguments)?.status.code(), Some(2), "{arguments:?}");
    }
    Ok(())
}
