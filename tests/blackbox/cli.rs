//! `wyren` as a person at a terminal, or a script, meets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::Result;
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_has_examples_and_ends_well() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for arguments in [&["--help"][..], &["config", "--help"], &["log", "--help"]] {
        let output = sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(stdout(&output).contains("Examples:"), "{arguments:?}");
    }
    Ok(())
}

#[test]
fn a_wrong_call_ends_with_2_and_a_failure_with_1() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(sandbox.wyren(&["config", "no-such-action"])?.status.code(), Some(2));
    assert_eq!(sandbox.wyren(&["log", "--no-such-flag"])?.status.code(), Some(2));
    for (arguments, message) in [
        (&["config", "get", "log.lvl"][..], "wyren: no setting is named \"log.lvl\""),
        (&["config", "set", "log.level", "loud"], "wyren: log.level cannot be \"loud\""),
        (&["config", "unset", "log.lvl"], "wyren: no setting is named \"log.lvl\""),
        (&["jobs", "add", "drain", "notjson"], "wyren: the payload is not JSON"),
        (&["log", "--hook", "x"], "wyren: --json, --hook and --session require --hooks or --told"),
        (&["log", "--level", "warn"], "wyren: --follow and --level require --hooks"),
    ] {
        let output = sandbox.wyren(arguments)?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).starts_with(message), "{}", stderr(&output));
    }
    let unknown = sandbox.wyren(&["jobs", "add", "nonsense"])?;
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains(
            "[possible values: distill, drain, embed, keep-transcript, probe, retain, scan, summarise]"
        ),
        "{}",
        stderr(&unknown)
    );
    assert!(!sandbox.data().join("jobs").exists(), "nothing is queued");
    assert_eq!(sandbox.wyren(&["jobs", "drop", "99"])?.status.code(), Some(1));
    Ok(())
}

#[test]
fn config_tells_the_value_and_where_it_came_from() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let set = sandbox.wyren(&["config", "set", "log.level", "warn"])?;
    assert_eq!((set.status.code(), &*stdout(&set)), (Some(0), "warn\n"));
    let get = sandbox.wyren(&["config", "get", "log.level", "--json"])?;
    let value: Value = serde_json::from_str(&stdout(&get))?;
    assert_eq!(value["value"], "warn");
    assert!(value["from"].as_str().is_some_and(|from| from.ends_with("config.toml")));
    let listed = stdout(&sandbox.wyren(&["config"])?);
    assert!(listed.lines().any(|line| line.starts_with("log.level") && line.contains("warn")), "{listed}");
    assert!(!listed.contains('\u{1b}'), "colour only on a terminal");
    Ok(())
}

#[test]
fn config_reports_what_has_no_effect() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    std::fs::create_dir_all(sandbox.data())?;
    std::fs::write(sandbox.data().join("config.toml"), "[log]\nlevle = \"warn\"\n")?;
    let output = sandbox.wyren(&["config", "list"])?;
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("ignored log.levle"), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&sandbox.wyren(&["config", "--json"])?))?;
    assert_eq!(json["ignored"][0]["name"], "log.levle");
    Ok(())
}

#[test]
fn log_shows_what_the_hooks_did() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert!(stderr(&sandbox.wyren(&["log", "--hooks"])?).contains("No hook has written"));
    sandbox.run("session-start-lessons", br#"{"session_id":"s","source":"startup"}"#)?;
    sandbox.run("session-start-reset", b"nonsense")?;
    let shown = stdout(&sandbox.wyren(&["log", "--hooks"])?);
    assert!(shown.contains("session-start-lessons") && shown.contains("HOOK_OUTPUT [context]"), "{shown}");
    let loud = stdout(&sandbox.wyren(&["log", "--hooks", "--level", "warn"])?);
    assert_eq!(loud.lines().count(), 1, "{loud}");
    assert!(loud.contains("session-start-reset") && loud.contains("bad input"), "{loud}");
    let json = stdout(&sandbox.wyren(&["log", "--hooks", "--json", "--hook", "session-start-lessons"])?);
    let line: Value = serde_json::from_str(json.trim_end())?;
    assert_eq!(line["session"], "s");
    assert_eq!(stderr(&sandbox.wyren(&["log", "--hooks", "--hook", "nosuch"])?), "No matching lines.\n");
    assert_eq!(stderr(&sandbox.wyren(&["log", "--told", "--hook", "nosuch"])?), "No matching texts.\n");
    Ok(())
}

#[test]
fn forget_deletes_the_texts_of_long_answers() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.data().join("cache/long-answers");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("session-start-memory-0123.txt"), "about the merger")?;
    let shown = stdout(&sandbox.wyren(&["forget", "--query", "merger", "--dry-run"])?);
    assert!(folder.exists() && shown.contains("0 prompts and 0 tool calls would be deleted"), "{shown}");
    let output = sandbox.wyren(&["forget", "--query", "merger", "--yes"])?;
    assert_eq!((output.status.code(), folder.exists()), (Some(0), false), "{}", stderr(&output));
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn the_data_folder_is_the_platforms_unless_the_variable_names_one() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let home = sandbox.folder().join("home");
    let data = |xdg: Option<&std::path::Path>| -> Result<String> {
        let mut command = sandbox.command("wyren");
        command.env_remove("WYREN_DATA_DIR").args(["doctor", "--json"]);
        command.envs(xdg.map(|xdg| ("XDG_DATA_HOME", xdg)));
        let report: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        Ok(report["checks"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    let begins = |folder: std::path::PathBuf| format!("{} does not exist yet", folder.display());
    assert!(data(None)?.starts_with(&begins(home.join(".local/share/wyren"))));
    let xdg = sandbox.folder().join("xdg");
    assert!(data(Some(&xdg))?.starts_with(&begins(xdg.join("wyren"))));
    // A relative folder would be another one for each hook.
    assert!(data(Some("xdg".as_ref()))?.starts_with(&begins(home.join(".local/share/wyren"))));
    Ok(())
}

#[test]
fn c8_a_log_without_a_matching_line_is_not_called_empty() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    sandbox.run("session-start-reset", br#"{"session_id":"s","source":"startup"}"#)?;
    for filter in [["--hook", "nosuch"], ["--level", "error"]] {
        let output = sandbox.wyren(&["log", "--hooks", filter[0], filter[1]])?;
        assert_eq!(
            (output.status.code(), &*stderr(&output)),
            (Some(0), "No matching lines.\n"),
            "{filter:?}"
        );
    }
    Ok(())
}

#[test]
fn c9_a_hook_that_does_not_exist_cannot_be_disabled() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let refused = sandbox.wyren(&["config", "set", "hooks.disabled", "nosuchhook"])?;
    assert_eq!(refused.status.code(), Some(2));
    let text = stderr(&refused);
    assert!(text.starts_with("wyren: no hook is named \"nosuchhook\""), "{text}");
    for hook in sandbox.hooks()? {
        assert!(text.contains(&hook), "{hook}: {text}");
        assert_eq!(
            sandbox.wyren(&["config", "set", "hooks.disabled", &hook])?.status.code(),
            Some(0),
            "{hook}"
        );
    }
    Ok(())
}

#[test]
fn c11_tables_fit_the_width_and_break_between_words() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for (arguments, word) in [(&["config"][..], "default"), (&["lessons", "list"], "guard")] {
        let whole = stdout(&sandbox.wyren(arguments)?);
        for width in ["80", "100"] {
            let text = stdout(&feed(sandbox.command("wyren").args(arguments).env("COLUMNS", width), b"")?);
            let columns: usize = width.parse()?;
            let wide = text.lines().filter(|line| line.chars().count() > columns);
            assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{arguments:?}");
            let count = |text: &str| text.split_whitespace().filter(|part| *part == word).count();
            assert_eq!(count(&text), count(&whole), "{arguments:?} at {width}: {text}");
        }
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn c17_without_a_variable_the_editor_of_git_is_used() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(sandbox.wyren(&["init"])?.status.code(), Some(0));
    let refused = sandbox.wyren(&["memory", "edit"])?;
    assert_eq!(refused.status.code(), Some(1), "no terminal, no vi: {refused:?}");
    let home = sandbox.folder().join("home");
    fs::create_dir_all(&home)?;
    let script = sandbox.folder().join("editor");
    fs::write(&script, "printf '\\n## Decisions\\n- From the editor of git\\n' >> \"$1\"\n")?;
    fs::write(home.join(".gitconfig"), format!("[core]\n\teditor = sh {}\n", script.display()))?;
    let edited = sandbox.wyren(&["memory", "edit"])?;
    assert_eq!(edited.status.code(), Some(0), "{edited:?}");
    assert!(stdout(&sandbox.wyren(&["memory"])?).contains("From the editor of git"));
    Ok(())
}

#[test]
fn c18_a_job_of_an_unknown_kind_is_not_retried() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    assert_eq!(sandbox.wyren(&["jobs", "add", "drain"])?.status.code(), Some(0));
    sandbox.wyren(&["worker", "run", "--until-idle"])?;
    let database = rusqlite::Connection::open(sandbox.data().join("wyren.db"))?;
    database.execute("UPDATE jobs SET kind = 'foo', state = 'dead', reason = 'unknown'", [])?;
    let id: i64 = database.query_row("SELECT id FROM jobs", [], |row| row.get(0))?;
    drop(database);
    for which in [id.to_string(), "--all".to_owned()] {
        let refused = sandbox.wyren(&["jobs", "retry", &which])?;
        assert_eq!(refused.status.code(), Some(1), "{which}");
        let text = stderr(&refused);
        assert!(text.contains(&format!("To delete it: wyren jobs drop {id}")), "{text}");
    }
    assert_eq!(sandbox.wyren(&["jobs", "retry", "99"])?.status.code(), Some(1));
    assert_eq!(sandbox.wyren(&["jobs", "drop", &id.to_string()])?.status.code(), Some(0));
    assert_eq!(stdout(&sandbox.wyren(&["jobs", "retry", "--all"])?), "No failed jobs.\n");
    Ok(())
}

#[cfg(unix)]
#[test]
fn c21_the_home_folder_and_the_root_get_no_memory() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let (home, link) = (sandbox.folder().join("home"), sandbox.folder().join("link"));
    fs::create_dir_all(&home)?;
    std::os::unix::fs::symlink(&home, &link)?;
    for folder in [home.as_path(), &link, Path::new("/")] {
        let refused = feed(sandbox.command("wyren").arg("init").current_dir(folder), b"")?;
        assert_eq!(refused.status.code(), Some(1), "{}", folder.display());
        assert!(stderr(&refused).contains("nothing was changed"), "{refused:?}");
    }
    assert_eq!(fs::read_dir(&home)?.count(), 0);
    Ok(())
}

#[cfg(unix)]
#[test]
fn c25_a_shell_takes_the_script_that_completes_commands() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = sandbox.wyren(&["completions", shell])?;
        assert!(output.status.success() && stdout(&output).contains("completions"), "{shell}");
    }
    let script = sandbox.wyren(&["completions", "bash"])?;
    let sourced =
        feed(Command::new("bash").args(["-c", "source /dev/stdin && complete -p wyren"]), &script.stdout)?;
    assert!(sourced.status.success() && stdout(&sourced).contains("_wyren"), "{sourced:?}");
    Ok(())
}

/// Returns what is recorded of a project whose name is all that others could know.
fn export(sandbox: &Sandbox) -> Result<String> {
    Ok(stdout(&sandbox.wyren(&["export"])?))
}

#[test]
fn c1_a_project_that_does_not_exist_selects_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let repository = sandbox.project();
    fixture::git(&repository, &["init", "--quiet"]);
    fixture::git(&repository, &["remote", "add", "origin", "git@github.com:acme/app.git"]);
    let record = |session: &str, cwd: &Path| {
        let prompt = json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": "Keep this",
        });
        sandbox.run("prompt-record", prompt.to_string().as_bytes())
    };
    let other = sandbox.folder().join("other");
    fs::create_dir_all(&other)?;
    record("s-1", &repository)?;
    record("s-2", &other)?;
    for drained in [false, true] {
        if drained {
            assert_eq!(
                export(&sandbox)?.matches("Keep this").count(),
                4,
                "two prompts, and the titles of two sessions"
            );
        }
        for named in ["some-other-client", "git:github.com/acme/nothing", "./gone", "gone/deeper", ""] {
            for arguments in [
                &["forget", "--project", named, "--yes"][..],
                &["forget", "--project", named, "--dry-run"],
                &["forget", "--project", named, "--query", "Keep", "--yes"],
                &["export", "--project", named],
            ] {
                let refused = sandbox.wyren(arguments)?;
                assert_eq!((refused.status.code(), &*stdout(&refused)), (Some(2), ""), "{arguments:?}");
                let undone = if arguments[0] == "export" { "exported" } else { "changed" };
                let undone = format!("; nothing was {undone}.");
                assert!(stderr(&refused).contains(&undone), "review 23: {refused:?}");
            }
        }
    }
    assert_eq!(export(&sandbox)?.matches("Keep this").count(), 4, "nothing is lost");
    let nearest = stderr(&sandbox.wyren(&["export", "--project", "acme/ap"])?);
    assert!(nearest.contains("Did you mean:\n  git:github.com/acme/app\n"), "{nearest}");
    // The name that lists show, the key and a folder are all the same project.
    for named in ["acme/app", "app", "github.com/acme/app", "git:github.com/acme/app", "."] {
        let output = sandbox.wyren(&["export", "--project", named])?;
        let text = stdout(&output);
        assert!(text.contains("s-1") && !text.contains("s-2"), "{named}: {output:?}");
    }
    assert_eq!(sandbox.wyren(&["forget", "--project", "acme/app", "--yes"])?.status.code(), Some(0));
    let left = export(&sandbox)?;
    assert!(!left.contains("s-1") && left.contains("s-2"), "{left}");
    Ok(())
}
