//! Adding, editing, switching off and putting away.

use std::fs;
use std::process::{Output, Stdio};

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};

use super::{
    SLUG, add, frobnicate, frobnicate_with, lessons, lessons_json, names_in, personal, refused, speaks,
    stderr, stdout, told,
};

#[test]
fn add_takes_flags_json_files_standard_input_and_answers() -> Result<()> {
    type Way = (&'static str, fn(&Sandbox) -> Result<Output>);
    let ways: [Way; 5] = [
        ("flags", |sandbox| {
            sandbox.wyren(&[
                "lessons", "add", "--summary", "frobnicate apply overwrites the local state", "--problem",
                "It takes whatever the server has and drops unsaved frobs without a word.", "--solution",
                "Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.",
                "--command", "frobnicate apply", "--without", "--dry-run", "--tag", "tool:frobnicate", "--fires",
                "frobnicate apply", "--priority", "8",
            ])
        }),
        ("json", |sandbox| sandbox.wyren(&["lessons", "add", "--from-json", &frobnicate().to_string()])),
        ("file", |sandbox| {
            let file = sandbox.folder().join("lesson.json");
            fs::write(&file, frobnicate().to_string())?;
            sandbox.wyren(&["lessons", "add", "--file", &file.to_string_lossy()])
        }),
        ("stdin", |sandbox| {
            feed(sandbox.command("wyren").args(["lessons", "add"]), frobnicate().to_string().as_bytes())
        }),
        ("interview", |sandbox| {
            let answers = "frobnicate apply overwrites the local state\n\
                It takes whatever the server has\nand drops unsaved frobs without a word.\n\n\
                Run `frobnicate diff` first, save what is missing with `frobnicate save`,\nand only then apply.\n\n\
                \nfrobnicate apply\n\n--dry-run\n\n\nfrobnicate apply\n\n\ntool:frobnicate\n\n";
            feed(sandbox.command("wyren").args(["lessons", "add", "--interactive"]), answers.as_bytes())
        }),
    ];
    for (way, add) in ways {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let output = add(&sandbox)?;
        assert_eq!(output.status.code(), Some(0), "{way}: {}", stderr(&output));
        assert!(
            stdout(&output).starts_with(&format!("Added hint {SLUG} (yours).")),
            "{way}: {}",
            stdout(&output)
        );
        assert_eq!(names_in(&personal(&sandbox)), [format!("{SLUG}.md")], "{way}");
        assert!(speaks(&sandbox, "s")?, "{way}");
    }
    Ok(())
}

#[test]
fn a_file_in_our_format_and_the_fields_of_lessons_learned_are_taken() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let file = sandbox.folder().join("other-name.md");
    fs::copy(personal(&sandbox).join(format!("{SLUG}.md")), &file)?;
    lessons(&sandbox, &["add", "--force", "--file", &file.to_string_lossy()])?;
    let old = json!({
        "summary": "gitx push hangs without a terminal", "problem": "It waits for a password that cannot be typed.",
        "solution": "Set GITX_ASKPASS=true before the push, so that it fails at once instead of waiting.",
        "type": "guard", "tool": "Bash", "trigger": "gitx push", "pathPatterns": [], "priority": 8, "confidence": 0.9,
    });
    add(&sandbox, &old)?;
    let lesson = lessons_json(&sandbox, &["show", "gitx-push-hangs-without-a-terminal", "--json"])?;
    assert_eq!((&lesson["kind"], &lesson["commands"]), (&json!("guard"), &json!(["gitx push"])));
    assert_eq!(told(&sandbox, "s", "gitx push")?["hookSpecificOutput"]["permissionDecision"], "deny");
    Ok(())
}

#[test]
fn bad_input_gets_the_field_and_the_reason_and_nothing_is_written() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let cases = [
        (json!({"solution": "Too short."}), "solution: has 10 characters, expected at least 60"),
        (json!({"summary": "x".repeat(90)}), "summary: has 90 characters, expected at most 80"),
        (
            json!({"problem": "<what_went_wrong> and then it broke badly"}),
            "problem: still holds the placeholder",
        ),
        (json!({"commands": ["-f x"]}), "commands: \"-f x\": the first word must be the program"),
        (json!({"matches": ["("]}), "matches: \"(\""),
        (json!({"commands": [], "without": [], "fires": []}), "trigger: a hint needs one"),
        (json!({"kind": "directive"}), "commands: a directive is shown at the start"),
        (json!({"fires": ["frobnicate diff"]}), "fires: \"frobnicate diff\" does not fire it"),
        (json!({"sumary": "x"}), "sumary: no such field"),
        (json!({"priority": 11}), "priority: expected a whole number from 1 to 10"),
        (json!({"slug": "../../evil"}), "slug: expected words of a-z"),
        (json!({"commands": [], "trigger": "Running the tests"}), "trigger: describes an activity"),
    ];
    for (changes, expected) in cases {
        let error = refused(&sandbox, &["add", "--from-json", &frobnicate_with(&changes).to_string()])?;
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert!(refused(&sandbox, &["add", "--from-json", "{"])?.contains("--from-json: expected a JSON object"));
    assert!(refused(&sandbox, &["add"])?.contains("no lesson given"));
    let list = json!([frobnicate(), frobnicate_with(&json!({"solution": "short"}))]).to_string();
    assert!(refused(&sandbox, &["add", "--from-json", &list])?.contains("solution: has 5"));
    assert_eq!(names_in(&personal(&sandbox)), [""; 0]);
    Ok(())
}

#[test]
fn a_near_duplicate_is_refused_unless_forced_in_any_script() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let again = frobnicate_with(&json!({
        "summary": "another summary of the same", "problem": "It takes whatever the server has, and drops UNSAVED frobs.",
    }));
    let error = refused(&sandbox, &["add", "--from-json", &again.to_string()])?;
    assert!(error.contains("problem: says") && error.contains(SLUG), "{error}");
    lessons(&sandbox, &["add", "--force", "--from-json", &again.to_string()])?;
    let chinese = json!({
        "summary": "测试运行器会一直等待终端输入", "problem": "测试运行器会打开标准输入并一直等待终端输入，所以永远不会结束，也没有任何提示信息。",
        "solution": "运行之前关闭标准输入：`frobtest < /dev/null`，并且用 `timeout 60 frobtest` 限制运行时间，这样它总会结束，而且失败时会给出明确的退出状态码。",
        "commands": ["frobtest"],
    });
    add(&sandbox, &chinese)?;
    let mut again = chinese;
    again["problem"] = "测试运行器会打开标准输入并一直等待终端输入，所以永远不会结束，也没有提示。".into();
    again["summary"] = "测试运行器不会结束，一直在等待".into();
    assert!(refused(&sandbox, &["add", "--from-json", &again.to_string()])?.contains("problem: says"));
    Ok(())
}

#[test]
fn a_common_program_alone_gets_a_warning() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let broad = frobnicate_with(&json!({"commands": ["git"], "without": [], "fires": [], "quiet": []}));
    let output = sandbox.wyren(&["lessons", "add", "--from-json", &broad.to_string()])?;
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("alone fits nearly every session"), "{}", stderr(&output));
    Ok(())
}

#[test]
fn line_17_adding_the_first_own_lesson_keeps_all_shipped_ones() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let shipped = || lessons_json(&sandbox, &["list", "--layer", "shipped", "--json"]);
    let before = shipped()?;
    add(&sandbox, &frobnicate())?;
    assert_eq!(shipped()?, before);
    assert!(before.as_array().is_some_and(|lessons| lessons.len() >= 100));
    let both = told(&sandbox, "s", "frobnicate apply; git push --force origin main")?;
    assert_eq!(both["hookSpecificOutput"]["permissionDecision"], "deny", "{both}");
    Ok(())
}

#[test]
fn line_16_switching_off_or_putting_away_stops_a_lesson_on_the_very_next_call() -> Result<()> {
    for layer in ["personal", "project"] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let arguments: &[&str] = if layer == "project" { &["add", "--project"] } else { &["add"] };
        lessons(&sandbox, &[arguments, &["--from-json", &frobnicate().to_string()]].concat())?;
        let mut session = 0;
        let mut is_heard = |sandbox: &Sandbox| {
            session += 1;
            speaks(sandbox, &format!("{layer}-{session}"))
        };
        assert!(is_heard(&sandbox)?, "{layer}");
        for (off, on, state) in [("disable", "enable", "disabled"), ("archive", "restore", "archived")] {
            lessons(&sandbox, &[off, SLUG])?;
            assert!(!is_heard(&sandbox)?, "{layer} {off}");
            let all = lessons(&sandbox, &["list", "--all", "--layer", layer])?;
            assert!(all.contains(state), "{all}");
            assert!(!lessons(&sandbox, &["list", "--layer", layer])?.contains(SLUG));
            assert!(
                refused(&sandbox, &[off, SLUG])?.contains(&format!("is already {state}")),
                "{layer} {off}"
            );
            lessons(&sandbox, &[on, SLUG])?;
            assert!(is_heard(&sandbox)?, "{layer} {on}");
        }
    }
    Ok(())
}

#[test]
fn a_pack_of_shipped_lessons_is_switched_off_and_on() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let packs = lessons_json(&sandbox, &["packs", "--json"])?;
    let Some(pack) = packs.as_array().into_iter().flatten().find(|pack| pack["refusing"] != 0) else {
        // Shipped lessons need not be in packs; then there is nothing to switch.
        assert!(refused(&sandbox, &["disable", "--pack", "git"])?.contains("no pack is called \"git\""));
        return Ok(());
    };
    let name = pack["name"].as_str().unwrap_or_default();
    assert_eq!(pack["enabled"], true);
    let in_pack = |state: &str| -> Result<usize> {
        let items = lessons_json(&sandbox, &["list", "--pack", name, "--all", "--json"])?;
        let items = items.as_array().cloned().unwrap_or_default();
        Ok(items.iter().filter(|item| item["state"] == state).count())
    };
    let count = in_pack("active")?;
    assert_eq!(json!(count), pack["lessons"]);
    lessons(&sandbox, &["disable", "--pack", name])?;
    assert_eq!(stdout(&sandbox.wyren(&["config", "get", "lessons.packs_off"])?).trim(), name);
    assert_eq!((in_pack("active")?, in_pack("disabled")?), (0, count));
    assert!(refused(&sandbox, &["disable", "--pack", name])?.contains("is already off"));
    lessons(&sandbox, &["enable", "--pack", name])?;
    assert_eq!(in_pack("active")?, count);
    Ok(())
}

#[test]
fn a_shipped_lesson_is_switched_off_for_the_user_alone() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let guards = lessons_json(&sandbox, &["list", "--layer", "shipped", "--kind", "guard", "--json"])?;
    let guard = guards.as_array().into_iter().flatten().find(|guard| guard["fires"][0].is_string());
    let Some(guard) = guard else { return Ok(()) };
    let (slug, command) =
        (guard["slug"].as_str().unwrap_or_default(), guard["fires"][0].as_str().unwrap_or_default());
    let is_denied = |session: &str| -> Result<bool> {
        Ok(told(&sandbox, session, command)?.to_string().contains("\"deny\""))
    };
    assert!(is_denied("1")?, "{slug}: {command}");
    for (off, on) in [("disable", "enable"), ("archive", "restore")] {
        lessons(&sandbox, &[off, slug])?;
        let setting = stdout(&sandbox.wyren(&["config", "get", "lessons.disabled"])?);
        assert_eq!(setting.trim(), format!("shipped:{slug}"));
        assert!(!is_denied(off)?, "{off}");
        lessons(&sandbox, &[on, slug])?;
        assert!(is_denied(on)?, "{on}");
    }
    Ok(())
}

#[test]
fn line_27_edit_takes_names_and_ids_and_recomputes_the_content_hash() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let extra = json!({"id": "01HZX4V9M0ABCDEFGHJKMNPQRS", "contentHash": "sha256:0", "updatedAt": "2020-01-01T00:00:00Z"});
    add(&sandbox, &frobnicate_with(&json!({"extra": extra})))?;
    lessons(&sandbox, &["edit", SLUG, "--patch", r#"{"priority": 9, "tags": null}"#])?;
    let lesson = lessons_json(&sandbox, &["show", SLUG, "--json"])?;
    assert_eq!((&lesson["priority"], &lesson["tags"]), (&json!(9), &Value::Null));
    let hash = lesson["extra"]["contentHash"].as_str().unwrap_or_default().to_owned();
    assert!(hash.len() == "sha256:".len() + 64, "{hash}");
    assert_ne!(lesson["extra"]["updatedAt"], "2020-01-01T00:00:00Z");
    lessons(
        &sandbox,
        &[
            "edit",
            "--id",
            "01HZX4V9M0ABCDEFGHJKMNPQRS",
            "--patch",
            r#"{"problem": "It drops all unsaved frobs, silently and at once."}"#,
        ],
    )?;
    let lesson = lessons_json(&sandbox, &["show", SLUG, "--json"])?;
    assert_ne!(lesson["extra"]["contentHash"], hash);
    assert!(speaks(&sandbox, "s")?);
    Ok(())
}

#[test]
fn a_bad_edit_leaves_the_lesson_as_it_is_and_keeps_the_draft() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let file = personal(&sandbox).join(format!("{SLUG}.md"));
    let before = fs::read_to_string(&file)?;
    for patch in [r#"{"solution": "short"}"#, r#"{"nonsense": 1}"#, r#"{"status": "archived"}"#, "[]"] {
        refused(&sandbox, &["edit", SLUG, "--patch", patch])?;
    }
    let editor = |script: &str| {
        let program = sandbox.folder().join("editor.sh");
        fs::write(&program, script)?;
        let editor = format!("sh {}", program.display());
        feed(sandbox.command("wyren").args(["lessons", "edit", SLUG]).env("EDITOR", editor), b"")
    };
    let output = editor("sed -i 's/^kind: hint/kind: hnt/' \"$1\"\n")?;
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("kind: expected one of hint") && error.contains("your draft is"), "{error}");
    assert_eq!(fs::read_to_string(&file)?, before);
    let draft = sandbox.data().join("cache/drafts").join(format!("{SLUG}.md"));
    assert!(fs::read_to_string(&draft)?.contains("kind: hnt"));

    let output = editor("sed -i 's/^kind: hint/kind: guard/' \"$1\"\n")?;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!draft.exists());
    assert!(told(&sandbox, "s", "frobnicate apply")?.to_string().contains("\"deny\""));
    assert!(stderr(&editor("true\n")?).contains("Nothing was changed."));
    Ok(())
}

#[test]
fn an_edited_shipped_lesson_becomes_the_users_own() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let hints = lessons_json(&sandbox, &["list", "--layer", "shipped", "--kind", "hint", "--json"])?;
    let hint = hints
        .as_array()
        .into_iter()
        .flatten()
        .find(|hint| hint["fires"][0].as_str().is_some_and(|example| !example.starts_with('{')));
    let Some(hint) = hint else { return Ok(()) };
    let (slug, command) =
        (hint["slug"].as_str().unwrap_or_default(), hint["fires"][0].as_str().unwrap_or_default());
    lessons(&sandbox, &["edit", slug, "--patch", r#"{"summary": "my own words about it", "priority": 10}"#])?;
    let said = told(&sandbox, "s", command)?.to_string();
    assert_eq!(said.matches(": my own words about it.").count(), 1, "{said}");
    let shipped = hint["summary"].as_str().unwrap_or_default();
    assert!(!said.contains(shipped), "{said}");
    Ok(())
}

#[test]
fn text_10_adding_and_editing_say_what_the_lesson_does_from_now_on() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for (kind, whose, expected) in [
        ("hint", "", "Added hint text-10 (yours). It speaks from the next call on.\n"),
        ("pause", "", "Added pause text-10 (yours). It pauses calls from the next one on.\n"),
        ("guard", "", "Added guard text-10 (yours). It refuses calls from the next one on.\n"),
        ("hint", "--project", "Added hint text-10 (of this project). It speaks from the next call on.\n"),
        (
            "guard",
            "--project",
            "Added guard text-10 (of this project). It is a hint until you run `wyren trust`.\n",
        ),
    ] {
        let lesson = frobnicate_with(&json!({"slug": "text-10", "kind": kind})).to_string();
        let mut arguments = vec!["add", "--from-json", &lesson];
        arguments.extend(Some(whose).filter(|flag| !flag.is_empty()));
        assert_eq!(lessons(&sandbox, &arguments)?, expected);
        assert_eq!(
            lessons(&sandbox, &["edit", "text-10", "--patch", r#"{"priority": 9}"#])?,
            "Changed text-10.\n"
        );
        for folder in [personal(&sandbox), sandbox.project().join(".wyren/lessons")] {
            let _ = fs::remove_file(folder.join("text-10.md"));
        }
    }
    let shipped = lessons(&sandbox, &["edit", "git-hooks-skipped", "--patch", r#"{"priority": 9}"#])?;
    assert_eq!(shipped, "Changed git-hooks-skipped: it is yours now, and the shipped one is disabled.\n");
    Ok(())
}

#[test]
fn c23_json_is_input_under_another_name_and_the_old_one_still_works() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let output = sandbox.wyren(&["lessons", "add", "--json", &frobnicate().to_string()])?;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("--json is called --from-json now"), "{}", stderr(&output));
    let help = lessons(&sandbox, &["add", "--help"])?;
    assert!(help.contains("--from-json <JSON>") && !help.contains(" --json"), "{help}");
    Ok(())
}

#[test]
fn a_lesson_in_its_own_format_comes_on_standard_input_and_its_name_from_the_summary() -> Result<()> {
    let text = "---\nsummary: frobnicate apply overwrites the local state\nkind: pause\ncommand: frobnicate apply\n\
                without: --dry-run\nfires: frobnicate apply\nquiet: frobnicate diff\n---\n\
                It takes whatever the server has and drops unsaved frobs.\n\n## Solution\n\
                Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.\n";
    for arguments in [&["--file", "-"][..], &["--file", "/dev/stdin"], &[]] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let output =
            feed(sandbox.command("wyren").args(["lessons", "add"]).args(arguments), text.as_bytes())?;
        assert_eq!(
            stdout(&output),
            format!("Added pause {SLUG} (yours). It pauses calls from the next one on.\n")
        );
        assert!(told(&sandbox, "s", "frobnicate apply")?.to_string().contains("\"deny\""));
        let bad = text.replace("kind: pause", "kind: paws");
        let output = feed(sandbox.command("wyren").args(["lessons", "add"]).args(arguments), bad.as_bytes())?;
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("kind: expected one of hint"), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn line_23_data_is_outside_the_plugin_and_a_kill_leaves_whole_files() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(()) };
    let before = names_in(&plugin.join("lessons"));
    let entries: serde_json::Map<String, Value> = (0..300)
        .map(|number| {
            let entry = json!({
                "slug": format!("many-{number:03}-abcd"), "type": "hint", "priority": 5, "toolNames": ["Bash"],
                "commandRegexSources": [{"source": format!("manyfrob{number}"), "flags": ""}],
                "summary": format!("many {number}"), "problem": "p ".repeat(500), "solution": "s ".repeat(500), "message": "m",
            });
            (format!("01HZX4V9M0ABCDEFGHJKMN{number:04}"), entry)
        })
        .collect();
    let manifest = sandbox.folder().join("manifest.json");
    fs::write(&manifest, json!({"lessons": entries}).to_string())?;
    let arguments = ["lessons", "import", &manifest.to_string_lossy()];
    for written in [1, 40, 120, 200] {
        let mut child = sandbox.command("wyren").args(arguments).stdout(Stdio::null()).spawn()?;
        // Killed in the middle: as soon as that many files are there, or when it is done.
        while child.try_wait()?.is_none() && names_in(&personal(&sandbox)).len() < written {}
        child.kill()?;
        child.wait()?;
        let whole = |name: &String| {
            name.ends_with(".tmp") || {
                let text = fs::read_to_string(personal(&sandbox).join(name)).unwrap_or_default();
                text.starts_with("---\n") && text.ends_with("s s\n")
            }
        };
        assert!(names_in(&personal(&sandbox)).iter().all(whole));
    }
    lessons(&sandbox, &arguments[1..])?;
    assert!(!names_in(&personal(&sandbox)).iter().any(|name| name.ends_with(".tmp")));
    assert_eq!(
        lessons_json(&sandbox, &["list", "--layer", "personal", "--json"])?.as_array().map(Vec::len),
        Some(300)
    );
    assert!(told(&sandbox, "s", "manyfrob17")?.to_string().contains("many 17"));
    assert_eq!(names_in(&plugin.join("lessons")), before);
    Ok(())
}

#[test]
fn many_changes_at_once_all_take_hold() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let shipped = lessons_json(&sandbox, &["list", "--layer", "shipped", "--json"])?;
    let slugs: Vec<&str> = shipped
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|lesson| lesson["slug"].as_str())
        .take(8)
        .collect();
    let mut children = Vec::new();
    for slug in &slugs {
        children
            .push(sandbox.command("wyren").args(["lessons", "disable", slug]).stdout(Stdio::null()).spawn()?);
    }
    for mut child in children {
        assert!(child.wait()?.success());
    }
    let setting = stdout(&sandbox.wyren(&["config", "get", "lessons.disabled"])?);
    for slug in slugs {
        assert!(setting.contains(slug), "{slug}: {setting}");
    }
    Ok(())
}
