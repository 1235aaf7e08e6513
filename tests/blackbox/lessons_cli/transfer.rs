//! From lessons-learned and back, and copies.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;
use serde_json::{Value, json};
use wyren_tests::sandbox::{self, Sandbox, feed};

use super::{
    SLUG, add, frobnicate, frobnicate_with, lessons, lessons_json, names_in, personal, refused, stdout, told,
};

fn write_manifest(file: &Path) -> Result<()> {
    let manifest = json!({
        "$schema": "x", "type": "lessons-learned-manifest", "version": 1, "generatedAt": "2026-01-01T00:00:00Z",
        "config": {"injectionBudgetBytes": 4096},
        "lessons": {
            "01HZX4V9M0ABCDEFGHJKMNPQR1": {
                "slug": "frob-hangs-1a2b", "type": "guard", "priority": 9, "toolNames": ["Bash"],
                "commandRegexSources": [{"source": "\\bfrobtest\\b(?!.*--timeout)", "flags": ""}], "commandMatchTarget": "executable",
                "pathRegexSources": [], "modelRegexSources": [], "tags": ["tool:frob"], "scope": null,
                "message": "## Lesson: frob hangs\nIt waits.\n**Fix**: Close its input.",
                "summary": "frob hangs", "problem": "It waits.", "solution": "Close its input.", "futureField": {"a": 1},
            },
            "01HZX4V9M0ABCDEFGHJKMNPQR2": {
                "slug": "python-files-3c4d", "type": "hint", "priority": 5, "toolNames": ["Edit"],
                "commandRegexSources": [{"source": "frobval", "flags": "i"}],
                "pathRegexSources": [{"source": ".*/[^/]*\\.py", "flags": "i"}],
                "message": "m", "summary": "python files", "problem": "p", "solution": "s", "disabled": true,
            },
            "01HZX4V9M0ABCDEFGHJKMNPQR3": {
                "slug": "at-the-start-5e6f", "type": "hint", "priority": 5, "toolNames": [], "triggers": {"sessionStart": true},
                "message": "m", "summary": "at the start", "problem": "p", "solution": "Say frobstart first.",
            },
            "01HZX4V9M0ABCDEFGHJKMNPQR4": {
                "slug": "../../evil", "type": "hint", "priority": 5, "toolNames": ["Bash"],
                "commandRegexSources": [{"source": "(?<=y)x", "flags": ""}],
                "message": "m", "summary": "evil name", "problem": "p\n## Solution\nq", "solution": "s",
            },
        },
    });
    Ok(fs::write(file, manifest.to_string())?)
}

#[test]
fn a_manifest_is_imported_with_every_field_and_only_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("lesson-manifest.json");
    write_manifest(&file)?;
    let file = file.to_string_lossy();
    let imported = lessons_json(&sandbox, &["import", &file, "--json"])?;
    let outcomes = |imported: &Value| -> Vec<String> {
        let rows = imported["lessons"].as_array().into_iter().flatten();
        rows.map(|row| row["outcome"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(outcomes(&imported), ["added"; 4], "{imported:#}");
    let remarks = imported["lessons"][3]["remarks"].to_string();
    assert!(remarks.contains("looking ahead"), "{remarks}");
    assert_eq!(names_in(&personal(&sandbox)).len(), 4);
    assert!(!sandbox.folder().join("evil.md").exists());

    let guard = lessons_json(&sandbox, &["show", "frob-hangs-1a2b", "--json"])?;
    assert_eq!((&guard["commands"], &guard["without"]), (&json!(["frobtest"]), &json!(["--timeout"])));
    assert_eq!(guard["extra"]["id"], "01HZX4V9M0ABCDEFGHJKMNPQR1");
    assert_eq!(guard["extra"]["futureField"], "{\"a\":1}");
    assert_eq!(guard["extra"]["commandMatchTarget"], "executable");
    assert!(told(&sandbox, "1", "frobtest -x")?.to_string().contains("\"deny\""));
    assert!(!told(&sandbox, "2", "frobtest --timeout 5")?.to_string().contains("\"deny\""));
    let python = lessons_json(&sandbox, &["show", "python-files-3c4d", "--json"])?;
    assert_eq!((&python["state"], &python["paths"]), (&json!("disabled"), &json!(["**/*.py"])));
    assert_eq!(lessons_json(&sandbox, &["show", "at-the-start-5e6f", "--json"])?["kind"], "directive");
    let evil = lessons_json(&sandbox, &["show", "01HZX4V9M0ABCDEFGHJKMNPQR4", "--json"])?;
    assert!(evil["problem"].as_str().is_some_and(|problem| problem.ends_with('q')), "{evil}");
    assert_eq!(evil["solution"], "s");

    assert_eq!(outcomes(&lessons_json(&sandbox, &["import", &file, "--json"])?), ["known"; 4]);
    lessons(
        &sandbox,
        &[
            "edit",
            "frob-hangs-1a2b",
            "--patch",
            r#"{"problem": "It waits for a terminal, for ever.", "solution": "Close its input with `< /dev/null`, and give it a `timeout 60` so that it ends."}"#,
        ],
    )?;
    lessons(&sandbox, &["archive", "at-the-start-5e6f"])?;
    assert_eq!(
        outcomes(&lessons_json(&sandbox, &["import", &file, "--json"])?),
        ["kept yours", "known", "known", "known"]
    );
    assert!(lessons(&sandbox, &["show", "frob-hangs-1a2b"])?.contains("for ever"));
    assert_eq!(outcomes(&lessons_json(&sandbox, &["import", &file, "--force", "--json"])?)[0], "replaced");
    assert!(lessons(&sandbox, &["import", &file])?.contains("0 added, 4 were here already"));
    Ok(())
}

/// A manifest with the shapes of expressions that lessons-learned's own guards have.
const GUARDS: &str = "lessons-learned/guards.json";

#[test]
fn item_9_imported_guards_that_look_ahead_or_span_commands_refuse() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let manifest = sandbox::data_folder().join(GUARDS);
    let imported = lessons_json(&sandbox, &["import", &manifest.to_string_lossy(), "--json"])?;
    let remarks: Vec<(&str, &Value)> = imported["lessons"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|row| row["remarks"] != json!([]))
        .filter_map(|row| Some((row["slug"].as_str()?, &row["remarks"])))
        .collect();
    // What cannot be said is named by its lesson, and nothing else is.
    assert_eq!(remarks.len(), 1, "{remarks:#?}");
    assert_eq!(remarks[0].0, "environment-of-the-system-e7f8");
    assert!(remarks[0].1.to_string().contains("looking ahead"), "{remarks:#?}");
    for command in
        ["pytest tests/", "npx vitest", "terraform apply", "git commit -m x", "git log 2>/dev/null"]
    {
        assert!(told(&sandbox, command, command)?.to_string().contains("\"deny\""), "{command}");
    }
    for command in
        ["pytest --no-header", "vitest run", "terraform apply plan.out", "echo 'git log 2>/dev/null'"]
    {
        assert!(!told(&sandbox, command, command)?.to_string().contains("\"deny\""), "{command}");
    }
    let hint = told(&sandbox, "count", "grep -c x log || echo 0")?;
    assert!(hint.to_string().contains("count is printed twice"), "{hint}");
    Ok(())
}

#[test]
fn item_9_what_a_manifest_says_in_vain_is_named_by_list_and_doctor() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let manifest = sandbox::data_folder().join(GUARDS);
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command("wyren");
        feed(command.args(arguments).env("LESSONS_MANIFEST_PATH", &manifest), b"")
    };
    let listed = run(&["lessons", "list", "--layer", "manifest", "--json"])?;
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&listed.stdout)?.len(), 9);
    let named = "1 lesson of the manifest left out in whole or in part: environment-of-the-system-e7f8: see `wyren lessons doctor`";
    assert!(super::stderr(&listed).contains(named), "{}", super::stderr(&listed));
    let doctor = run(&["lessons", "doctor", "--layer", "manifest", "--json"])?;
    assert_eq!(doctor.status.code(), Some(1));
    let doctor: Value = serde_json::from_slice(&doctor.stdout)?;
    let bad = |lesson: &&Value| lesson["issues"].to_string().contains("\"bad\"");
    let sick: Vec<&Value> = doctor["lessons"].as_array().into_iter().flatten().filter(bad).collect();
    assert_eq!(sick.len(), 1, "{doctor:#}");
    assert_eq!(sick[0]["slug"], "environment-of-the-system-e7f8");
    assert_eq!(sick[0]["file"], manifest.to_string_lossy().as_ref());
    assert!(sick[0].to_string().contains("looks ahead or behind"), "{doctor:#}");
    let whole = stdout(&run(&["doctor"])?);
    assert!(whole.contains("left out: environment-of-the-system-e7f8 (manifest)"), "{whole}");
    Ok(())
}

#[test]
fn item_20_a_candidate_is_put_to_work_by_enable() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("lessons.db");
    let database = Connection::open(&file)?;
    database.execute_batch(SCHEMA)?;
    for status in ["candidate", "reviewed"] {
        database.execute(
            "INSERT INTO lessons (id, slug, status, type, summary, problem, solution, toolNames, commandPatterns, contentHash)
             VALUES (?1, ?2, ?1, 'guard', ?2, 'It waits.', 'Close its input.', '[\"Bash\"]', '[\"\\\\bfrobnew\\\\b(?!.*--ci)\"]', 'x')",
            (status, format!("frob-{status}-1a2b")),
        )?;
    }
    drop(database);
    lessons(&sandbox, &["import", &file.to_string_lossy()])?;
    assert!(!told(&sandbox, "1", "frobnew")?.to_string().contains("\"deny\""));
    let enabled = lessons(&sandbox, &["enable", "frob-candidate-1a2b"])?;
    assert!(enabled.contains("Enabled frob-candidate-1a2b, which was a candidate."), "{enabled}");
    assert!(told(&sandbox, "2", "frobnew")?.to_string().contains("\"deny\""));
    assert!(!told(&sandbox, "3", "frobnew --ci")?.to_string().contains("\"deny\""));
    assert_eq!(lessons_json(&sandbox, &["show", "frob-candidate-1a2b", "--json"])?["state"], "active");
    assert_eq!(names_in(&personal(&sandbox).join("candidates")), ["frob-reviewed-1a2b.md"]);
    // By its id in lessons-learned as well; and it is one verb, not a toggle.
    lessons(&sandbox, &["enable", "reviewed"])?;
    assert!(refused(&sandbox, &["enable", "frob-candidate-1a2b"])?.contains("already active"));
    Ok(())
}

#[test]
fn item_20_requires_and_duplicated_by_have_their_effect() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let client = sandbox.folder().join("client");
    fs::create_dir_all(client.join("plugins"))?;
    let run = |program: &str, arguments: &[&str], input: &[u8]| {
        let mut command = sandbox.command(program);
        feed(command.args(arguments).env("CLAUDE_CONFIG_DIR", &client), input)
    };
    let denies = |session: &str, command: &str| -> Result<bool> {
        let call = json!({"session_id": session, "tool_name": "Bash", "tool_input": {"command": command}});
        let output = run("lesson-inject", &[], call.to_string().as_bytes())?;
        Ok(stdout(&output).contains("\"deny\""))
    };
    let lesson = |slug: &str, command: &str, field: &str, artifact: Value| {
        let mut lesson = frobnicate_with(&json!({
            "slug": slug, "kind": "guard", "commands": [command], "without": [], "fires": [], "quiet": [],
            "summary": format!("{slug} is about this"), "problem": format!("The {slug} of it goes wrong in {command}."),
        }));
        lesson[field] = artifact;
        lesson.to_string()
    };
    let plugin = json!({"type": "plugin", "name": "frob"});
    let skill = json!([{"type": "skill", "name": "frob:apply"}, {"type": "mcp-server", "name": "none"}]);
    for lesson in [
        lesson("needs-plugin", "frobone", "requires", plugin.clone()),
        lesson("needs-skill", "frobtwo", "requires", skill),
        lesson("until-plugin", "frobthree", "duplicatedBy", plugin),
    ] {
        let output = run("wyren", &["lessons", "add", "--force", "--from-json", &lesson], b"")?;
        assert_eq!(output.status.code(), Some(0), "{}", super::stderr(&output));
    }
    let all = |session: &str| -> Result<[bool; 3]> {
        Ok([denies(session, "frobone")?, denies(session, "frobtwo")?, denies(session, "frobthree")?])
    };
    let state = |slug: &str| -> Result<Value> {
        let output = run("wyren", &["lessons", "show", slug, "--json"], b"")?;
        Ok(serde_json::from_slice::<Value>(&output.stdout)?["state"].clone())
    };
    assert_eq!(all("before")?, [false, false, true]);
    assert_eq!((state("needs-plugin")?, state("until-plugin")?), (json!("disabled"), json!("active")));
    let output = run("wyren", &["lessons", "enable", "needs-plugin"], b"")?;
    let reason = "it requires the plugin frob, which is not installed";
    assert!(super::stderr(&output).contains(reason), "{}", super::stderr(&output));
    let doctor = stdout(&run("wyren", &["lessons", "doctor", "--layer", "personal"], b"")?);
    assert!(doctor.contains(&format!("the lesson has no effect: {reason}")), "{doctor}");
    let test = stdout(&run("wyren", &["lessons", "test", "frobone"], b"")?);
    assert!(test.contains(reason), "{test}");

    fs::create_dir_all(sandbox.folder().join("frob/skills/apply"))?;
    let installed = json!({"plugins": {"frob@market": [{"installPath": sandbox.folder().join("frob")}]}});
    let file = client.join("plugins/installed_plugins.json");
    fs::write(&file, installed.to_string())?;
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    fs::File::options().write(true).open(&file)?.set_modified(later)?;
    // The next session finds it.
    run("session-start-lessons", &[], br#"{"session_id":"after","source":"startup"}"#)?;
    assert_eq!(all("after")?, [true, true, false]);
    assert_eq!((state("needs-plugin")?, state("until-plugin")?), (json!("active"), json!("disabled")));
    Ok(())
}

#[test]
fn item_20_nested_triggers_are_added() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let nested = json!({
        "summary": "frobci takes what it finds in pipelines",
        "mistake": "Using frobci in a pipeline can change what was locked before without a word.",
        "remediation": "Run `frobci --locked` in every pipeline, and commit the lock file beside its manifest.",
        "triggers": {"toolNames": ["Bash"], "commandPatterns": ["\\bfrobci\\b(?!.*--locked)"]},
        "priority": 6, "tags": ["tool:frobci"],
    });
    add(&sandbox, &nested)?;
    assert!(told(&sandbox, "1", "frobci")?.to_string().contains("frobci takes what it finds"));
    assert_eq!(told(&sandbox, "2", "frobci --locked")?, json!({}));
    Ok(())
}

/// The table as lessons-learned 0.1.0 makes it.
const SCHEMA: &str = "
    CREATE TABLE lessons (id TEXT PRIMARY KEY, slug TEXT UNIQUE NOT NULL, status TEXT DEFAULT 'candidate',
      type TEXT DEFAULT 'hint', summary TEXT NOT NULL, problem TEXT NOT NULL, solution TEXT NOT NULL,
      toolNames TEXT DEFAULT '[]', commandPatterns TEXT DEFAULT '[]', pathPatterns TEXT DEFAULT '[]',
      modelPatterns TEXT DEFAULT '[]', tags TEXT DEFAULT '[]', sourceSessionIds TEXT DEFAULT '[]',
      priority INTEGER DEFAULT 5, confidence REAL DEFAULT 0.8, source TEXT DEFAULT 'heuristic',
      occurrenceCount INTEGER DEFAULT 0, sessionCount INTEGER DEFAULT 0, projectCount INTEGER DEFAULT 0,
      contentHash TEXT NOT NULL, createdAt TEXT, updatedAt TEXT, reviewedAt TEXT, archivedAt TEXT, archiveReason TEXT,
      duplicatedBy TEXT, requires TEXT, commandMatchTarget TEXT, scope TEXT, embedding BLOB);
    CREATE TABLE review_sessions (id TEXT, createdAt TEXT, promoted TEXT, archived TEXT, patches TEXT);
    INSERT INTO review_sessions VALUES ('r', 'now', '[]', '[]', '{}');";

#[test]
fn a_database_is_imported_with_every_field_and_state() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("lessons.db");
    let database = Connection::open(&file)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.execute_batch(SCHEMA)?;
    for (number, status) in ["active", "disabled", "archived", "candidate", "reviewed"].iter().enumerate() {
        database.execute(
            "INSERT INTO lessons (id, slug, status, type, summary, problem, solution, toolNames, commandPatterns,
               pathPatterns, tags, sourceSessionIds, priority, confidence, source, occurrenceCount, contentHash, createdAt,
               updatedAt, archiveReason, requires, scope, embedding)
             VALUES (?1, ?2, ?3, 'hint', ?4, 'It waits.', 'Close its input.', '[\"Bash\",\"Edit\"]', '[\"\\\\bfrobdb\\\\b\"]',
               '[\"**/*.py\"]', '[\"tool:frob\"]', '[\"s1\",\"s2\"]', 8, 0.65, 'structured', 3, 'sha256:1',
               '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', 'two\nlines', '{\"type\":\"github-issue\",\"status\":\"fixed\"}', NULL, x'00')",
            (format!("01HZX4V9M0ABCDEFGHJKMNPQ{number:02}"), format!("db-{status}-1a2b"), status, format!("db {status}")),
        )?;
    }
    // Nothing has been written back to the main file yet: all of it is in the log beside it.
    assert!(sandbox.folder().join("lessons.db-wal").exists());
    let before = fs::read(&file)?;
    let imported = lessons_json(&sandbox, &["import", &file.to_string_lossy(), "--json"])?;
    assert_eq!(imported["lessons"].as_array().map(Vec::len), Some(5), "{imported:#}");
    assert!(imported["remarks"].to_string().contains("1 rows of review_sessions"), "{imported:#}");
    assert_eq!(fs::read(&file)?, before, "the database was touched");

    assert_eq!(
        names_in(&personal(&sandbox)),
        ["archive", "candidates", "db-active-1a2b.md", "db-disabled-1a2b.md"]
    );
    assert_eq!(names_in(&personal(&sandbox).join("archive")), ["db-archived-1a2b.md"]);
    assert_eq!(
        names_in(&personal(&sandbox).join("candidates")),
        ["db-candidate-1a2b.md", "db-reviewed-1a2b.md"]
    );
    let lesson = lessons_json(&sandbox, &["show", "db-active-1a2b", "--json"])?;
    for (field, expected) in [
        ("kind", json!("hint")),
        ("priority", json!(8)),
        ("confidence", json!(0.65)),
        ("tags", json!(["tool:frob"])),
        ("tools", json!(["Bash", "Edit"])),
        ("commands", json!(["frobdb"])),
        ("paths", json!(["**/*.py"])),
        ("problem", json!("It waits.")),
        ("solution", json!("Close its input.")),
        ("source", json!("lessons-learned")),
    ] {
        assert_eq!(lesson[field], expected, "{field}");
    }
    for (field, expected) in [
        ("id", "01HZX4V9M0ABCDEFGHJKMNPQ00"),
        ("source", "structured"),
        ("occurrenceCount", "3"),
        ("sessionCount", "0"),
        ("sourceSessionIds", "[\"s1\",\"s2\"]"),
        ("contentHash", "sha256:1"),
        ("createdAt", "2026-01-01T00:00:00Z"),
        ("updatedAt", "2026-02-01T00:00:00Z"),
        ("archiveReason", "\"two\\nlines\""),
        ("requires", "{\"status\":\"fixed\",\"type\":\"github-issue\"}"),
        ("commandPatterns", "[\"\\\\bfrobdb\\\\b\"]"),
    ] {
        assert_eq!(lesson["extra"][field], expected, "{field}");
    }
    assert!(told(&sandbox, "1", "frobdb")?.to_string().contains("db active"));
    let again = lessons_json(&sandbox, &["import", &file.to_string_lossy(), "--json"])?;
    assert!(!again.to_string().contains("added"), "{again:#}");
    assert!(names_in(&sandbox.data().join("cache")).iter().all(|name| !name.starts_with("import-")));
    Ok(())
}

#[test]
fn a_database_of_an_older_version_is_imported() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.folder().join("old");
    fs::create_dir(&folder)?;
    let database = Connection::open(folder.join("lessons.db"))?;
    database.execute_batch(
        "CREATE TABLE lessons (id TEXT PRIMARY KEY, slug TEXT, summary TEXT, mistake TEXT, remediation TEXT, injection TEXT,
           toolNames TEXT, commandPatterns TEXT, block INTEGER, blockReason TEXT, injectOn TEXT, needsReview INTEGER);
         INSERT INTO lessons VALUES ('01A', 'old-guard-1a2b', 'old guard', 'It waits.', 'Close its input.', NULL,
           '[\"Bash\"]', '[\"frobold\"]', 1, 'because', NULL, 0);
         INSERT INTO lessons VALUES ('01B', 'old-start-1a2b', 'old start', NULL, NULL, '## Lesson: old start
It starts.
**Fix**: Say so.', '[]', 'not json', 0, NULL, '[\"SessionStart\"]', 0);
         INSERT INTO lessons VALUES ('01C', 'old-new-1a2b', 'old new', 'p', 's', NULL, '[\"Bash\"]', '[\"x\"]', 0, NULL, NULL, 1);",
    )?;
    drop(database);
    // Without a file, the variables of lessons-learned say where it is.
    let mut command = sandbox.command("wyren");
    let output = feed(command.args(["lessons", "import"]).env("LESSONS_DATA_DIR", &folder), b"")?;
    assert_eq!(output.status.code(), Some(0), "{}", super::stderr(&output));
    assert!(stdout(&output).contains("3 added"), "{}", stdout(&output));
    let guard = lessons_json(&sandbox, &["show", "old-guard-1a2b", "--json"])?;
    assert_eq!((&guard["kind"], &guard["extra"]["blockReason"]), (&json!("guard"), &json!("because")));
    let start = lessons_json(&sandbox, &["show", "old-start-1a2b", "--json"])?;
    assert_eq!(start["kind"], "directive");
    assert_eq!((&start["problem"], &start["solution"]), (&json!("It starts."), &json!("Say so.")));
    assert_eq!(lessons_json(&sandbox, &["show", "old-new-1a2b", "--json"])?["state"], "candidate");
    Ok(())
}

#[test]
fn what_is_no_export_is_refused_and_nothing_is_written() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.folder().join("x");
    for text in [
        "nonsense",
        "{}",
        "[{\"sumary\": 1}]",
        "SQLite format 3\0 but not really",
        "{\"lessons\": {\"1\": 2}}",
    ] {
        fs::write(&file, text)?;
        assert!(
            refused(&sandbox, &["import", &file.to_string_lossy()])?.contains("could not read"),
            "{text}"
        );
    }
    assert!(refused(&sandbox, &["import", "/nonexistent"])?.contains("/nonexistent"));
    assert!(refused(&sandbox, &["import"])?.contains("nothing to import"));
    assert_eq!(names_in(&personal(&sandbox)), [""; 0]);
    Ok(())
}

#[test]
fn what_is_exported_is_imported_as_the_same() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let pause = frobnicate_with(&json!({
        "slug": "second", "kind": "pause", "summary": "second lesson of them all", "instead": "secondfrob --safe",
        "problem": "Something else entirely goes wrong in another place.", "commands": ["secondfrob ... x|y $"], "without": [],
        "paths": [], "fires": ["secondfrob a x"], "quiet": [], "confidence": 0.7, "scope": "git:example.org/a/b",
    }));
    add(&sandbox, &pause)?;
    lessons(&sandbox, &["disable", "second"])?;
    let all = |sandbox: &Sandbox| -> Result<Vec<Value>> {
        let listed = lessons_json(sandbox, &["list", "--all", "--layer", "personal", "--json"])?;
        let without_file = |lesson: &Value| {
            let mut lesson = lesson.clone();
            lesson["file"] = Value::Null;
            lesson
        };
        Ok(listed.as_array().into_iter().flatten().map(without_file).collect())
    };
    let expected = all(&sandbox)?;
    assert_eq!(expected.len(), 2);
    let (manifest, folder) = (sandbox.folder().join("m.json"), sandbox.folder().join("files"));
    lessons(&sandbox, &["export", "--manifest", &manifest.to_string_lossy()])?;
    lessons(&sandbox, &["export", "--folder", &folder.to_string_lossy()])?;
    let json = sandbox.folder().join("e.json");
    fs::write(&json, lessons(&sandbox, &["export", "--json"])?)?;
    for export in [&manifest, &folder, &json] {
        let Some(other) = Sandbox::new()? else { return Ok(()) };
        lessons(&other, &["import", &export.to_string_lossy()])?;
        assert_eq!(all(&other)?, expected, "{}", export.display());
    }
    // Lessons-learned reads it as its own.
    let manifest: Value = serde_json::from_slice(&fs::read(&manifest)?)?;
    assert_eq!((&manifest["type"], &manifest["version"]), (&json!("lessons-learned-manifest"), &json!(1)));
    let entries = manifest["lessons"].as_object().into_iter().flatten();
    for (id, entry) in entries {
        assert_eq!(id.len(), 26);
        for field in ["slug", "type", "priority", "toolNames", "message", "summary"] {
            assert!(!entry[field].is_null(), "{field}");
        }
        assert!(
            ["hint", "guard", "directive", "protocol"].contains(&entry["type"].as_str().unwrap_or_default())
        );
    }
    Ok(())
}

#[test]
fn an_exported_manifest_works_as_an_old_manifest() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let manifest = sandbox.folder().join("m.json");
    lessons(&sandbox, &["export", "--manifest", &manifest.to_string_lossy()])?;
    let Some(other) = Sandbox::new()? else { return Ok(()) };
    let list = |layer: &str| {
        let mut command = other.command("wyren");
        command.args(["lessons", "list", "--json", "--layer", layer]).env("LESSONS_MANIFEST_PATH", &manifest);
        feed(&mut command, b"")
    };
    let listed: Value = serde_json::from_slice(&list("manifest")?.stdout)?;
    assert!(listed[0]["slug"].as_str().is_some_and(|slug| slug.starts_with(SLUG)), "{listed}");
    assert_eq!(listed[0]["layer"], "manifest");
    Ok(())
}

#[test]
fn backups_are_whole_and_the_newest_fourteen_are_kept() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert!(refused(&sandbox, &["backup"])?.contains("there are no lessons of your own to back up"));
    add(&sandbox, &frobnicate())?;
    lessons(&sandbox, &["archive", SLUG])?;
    let mut newest = String::new();
    for _ in 0..16 {
        newest =
            lessons_json(&sandbox, &["backup", "--json"])?["backup"].as_str().unwrap_or_default().to_owned();
    }
    let listed = lessons_json(&sandbox, &["backup", "--list", "--json"])?;
    assert_eq!(listed["backups"].as_array().map(Vec::len), Some(14));
    assert_eq!(listed["backups"][0], newest.as_str());
    assert_eq!(names_in(&sandbox.data().join("backups")).len(), 14);
    assert_eq!(names_in(&Path::new(&newest).join("archive")), [format!("{SLUG}.md")]);

    fs::remove_dir_all(personal(&sandbox))?;
    lessons(&sandbox, &["import", &newest])?;
    assert_eq!(lessons_json(&sandbox, &["show", SLUG, "--json"])?["state"], "archived");
    Ok(())
}

#[test]
fn line_11_the_variables_of_backups_have_an_effect() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    add(&sandbox, &frobnicate())?;
    let folder = sandbox.folder().join("elsewhere");
    for _ in 0..3 {
        let mut command = sandbox.command("wyren");
        command
            .args(["lessons", "backup"])
            .env("LESSONS_BACKUP_DIR", &folder)
            .env("LESSONS_BACKUP_KEEP", "2");
        assert_eq!(feed(&mut command, b"")?.status.code(), Some(0));
    }
    assert_eq!(names_in(&folder).len(), 2);
    assert!(!sandbox.data().join("backups").exists());
    Ok(())
}
