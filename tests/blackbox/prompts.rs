//! Commands of Wyren typed as prompts: `prompt-bind` answers them, and the other hooks of a prompt leave them alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, data_folder, feed};
use wyren_tests::terminal::{Key, Terminal};

use crate::team::{Member, Mode, Remote, git};

/// What the client sets for the hooks of an interactive session.
const INTERACTIVE: [(&str, &str); 3] =
    [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli"), ("CLAUDE_PROJECT_DIR", "/")];

/// The most that an answer holds, in UTF-16 units.
const MOST_UNITS: usize = 9_500;

/// How long what goes on in the background may take.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

fn event(sandbox: &Sandbox, prompt: &str) -> String {
    json!({
        "session_id": "0123-4567", "cwd": sandbox.project(), "hook_event_name": "UserPromptSubmit",
        "prompt": prompt, "prompt_id": prompt,
    })
    .to_string()
}

/// Sends a prompt to a hook with these variables; returns its answer, null when it is silent.
fn send(sandbox: &Sandbox, hook: &str, prompt: &str, variables: &[(&str, &str)]) -> Result<Value> {
    let mut command = sandbox.command(hook);
    command.envs(variables.iter().copied());
    answer(&feed(&mut command, event(sandbox, prompt).as_bytes())?)
}

fn answer(output: &Output) -> Result<Value> {
    ensure!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    if text.trim().is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) }
}

/// Returns the text that is shown in place of a prompt.
#[track_caller]
fn shown(answer: &Value) -> &str {
    assert_eq!(answer["decision"], "block", "{answer}");
    let hides = json!({"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true});
    assert_eq!(answer["hookSpecificOutput"], hides, "{answer}");
    answer["reason"].as_str().unwrap_or_default()
}

#[test]
fn each_command_is_answered_with_what_wyren_prints() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for (prompt, text) in [
        ("/wyren:memory", "Wyren not initialized. Run: /wyren:init"),
        ("/wyren:trust", "nothing to trust"),
        ("/wyren:doctor", "data folder"),
        ("/wyren:log", "No"),
        ("/wyren:remember", "no text to remember. Use: /wyren:remember TEXT"),
        ("/wyren:remember <private>x</private>", "marked as private"),
        ("/wyren:remember --pin use\n--force", "Remembered and pinned as "),
        ("/wyren:search", "nothing to search for. Use: /wyren:search WORDS"),
        ("/wyren:search forc", "discovery"),
        ("/wyren:search forec", "Spelled alike: force"),
        ("/wyren:search $(touch x) --no-such", "unexpected argument"),
        ("/wyren:init", ".wyren"),
        ("/wyren:memory", "To add one: /wyren:memory add We store prices in cents"),
        ("/wyren:memory add Prices are {\"cents\"}; don't $(touch x)", "Added to Decisions: Prices are"),
        ("/wyren:memory", "Prices are {\"cents\"}; don't $(touch x)"),
        (
            "/wyren:memory add decision: Cents are integers",
            "Added to Decisions: Cents are integers. It stays here",
        ),
        ("/wyren:memory remove cents", "To remove one: /wyren:memory remove NUMBER"),
        ("/wyren:memory remove {\"cents\"}", "To bring it back: /wyren:memory restore 1."),
        ("/wyren:memory history", "To bring one back: /wyren:memory restore NUMBER"),
        ("/wyren:memory add scope creep killed v1", "Added to Decisions: scope creep killed v1."),
        ("/wyren:memory add handoff: x", "use: /wyren:wyren-handoff NOTE"),
        ("/wyren:wyren-handoff --now do checkout", "no remote"),
    ] {
        let answer = send(&sandbox, "prompt-bind", prompt, &INTERACTIVE)?;
        assert!(shown(&answer).contains(text), "{prompt}: {answer}");
    }
    let status = send(&sandbox, "prompt-bind", "/wyren:status", &INTERACTIVE)?;
    assert!(!shown(&status).is_empty() && !shown(&status).contains("unexpected argument"), "{status}");
    assert!(!sandbox.project().join("x").exists());
    for prompt in
        ["hello", "/wyren:lessons-add x", "/wyren:wyren-handoff", "<private>/wyren:status</private>"]
    {
        assert_eq!(send(&sandbox, "prompt-bind", prompt, &INTERACTIVE)?, Value::Null, "{prompt}");
    }
    Ok(())
}

#[test]
fn review_15_texts_in_a_prompt_name_what_can_be_typed_there() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let headless = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_PROJECT_DIR", "/")];
    for (prompt, expected) in [
        ("/wyren:status", &["To start one: /wyren:init\n", "what sessions got: /wyren:log"][..]),
        ("/wyren:init", &["  /wyren:memory add TEXT", "distill.enabled false, in a terminal"]),
        (
            "/wyren:status",
            &["To add one: /wyren:memory add TEXT\n", "does not publish yet: wyren sync, in a terminal\n"],
        ),
        ("/wyren:memory restore 7", &["see: /wyren:memory history"]),
        ("/wyren:memory handoff", &["For example: /wyren:wyren-handoff "]),
    ] {
        let answer = send(&ada.sandbox, "prompt-bind", prompt, &headless)?;
        for text in expected {
            assert!(shown(&answer).contains(text), "{prompt}: {}", shown(&answer));
        }
        let alone = ["wyren init", "wyren memory", "wyren log"];
        assert!(!alone.iter().any(|command| shown(&answer).contains(command)), "{}", shown(&answer));
    }
    Ok(())
}

#[test]
fn a_command_works_where_nothing_is_recorded_and_in_a_private_session() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let private = "<private>a secret plan</private>";
    send(&sandbox, "prompt-record", private, &[])?;
    for variables in [&[][..], &[("WYREN_CAPTURE_ENABLED", "false")]] {
        let answer = send(&sandbox, "prompt-bind", "/wyren:memory", variables)?;
        assert!(shown(&answer).contains("/wyren:init"), "{answer}");
    }
    assert!(!sandbox.project().join(".wyren").exists());
    let cache = sandbox.data().join("cache");
    let left: Vec<_> = fs::read_dir(&cache)?.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("prompt-")), "{left:?}");
    Ok(())
}

#[test]
fn a_command_is_not_recorded_unless_its_hook_is_off() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let exported = |sandbox: &Sandbox| -> Result<String> {
        Ok(String::from_utf8_lossy(&sandbox.wyren(&["export"])?.stdout).into_owned())
    };
    for hook in ["prompt-record", "prompt-bind", "prompt-sync"] {
        send(&sandbox, hook, "/wyren:memory SEARCHED", &[])?;
    }
    assert!(!exported(&sandbox)?.contains("SEARCHED"));
    let off = [("WYREN_HOOKS_DISABLED", "prompt-bind")];
    assert_eq!(send(&sandbox, "prompt-bind", "/wyren:memory SEARCHED", &off)?, Value::Null);
    send(&sandbox, "prompt-record", "/wyren:memory SEARCHED", &off)?;
    assert!(exported(&sandbox)?.contains("SEARCHED"));
    Ok(())
}

#[test]
fn a_command_leaves_the_teams_news_for_the_next_prompt() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    let Some(grace) = Member::set_up(&remote, "grace", Mode::Side)? else { return Ok(()) };
    grace.start("s-1")?;
    grace.prompt("s-1")?;
    ada.wyren(&["memory", "add", "Prices are integer cents"])?;
    grace.wyren(&["sync"])?;
    let told = grace.hook("prompt-sync", "s-1", &json!({"prompt": "/wyren:memory"}))?;
    assert_eq!(told, "");
    let told = grace.prompt("s-1")?;
    assert_eq!(told.matches("Prices are integer cents").count(), 1, "{told}");
    Ok(())
}

const GUARD: &str = "---\nsummary: frobnicate drops what was not saved\nkind: guard\ncommand: frobnicate\n---\n\
    It takes whatever the server has and drops unsaved frobs without a word.\n\n## Solution\n\
    Run `frobnicate diff` first, save what is missing with `frobnicate save`, and only then apply.\n";

/// Returns whether the project is trusted as it is.
fn is_trusted(sandbox: &Sandbox) -> Result<bool> {
    let review: Value = serde_json::from_slice(&sandbox.wyren(&["trust", "--json"])?.stdout)?;
    Ok(review["trusted"] == true)
}

#[test]
fn review_5_a_prompt_trusts_what_the_prompt_before_it_showed_and_nothing_else() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let file = sandbox.project().join(".wyren/lessons/frob-guard.md");
    fs::create_dir_all(file.parent().context("no folder")?)?;
    fs::write(&file, GUARD)?;
    let say = |prompt: &str| -> Result<String> {
        Ok(shown(&send(&sandbox, "prompt-bind", prompt, &INTERACTIVE)?).to_owned())
    };
    let refuses = |text: &str| text.ends_with("to trust this project: /wyren:trust yes");
    // Nothing was shown before.
    let unseen = say("/wyren:trust yes")?;
    assert!(unseen.contains("| It takes whatever") && refuses(&unseen), "{unseen}");
    assert!(unseen.contains("you had not seen this yet") && !is_trusted(&sandbox)?, "{unseen}");
    // Changed since.
    fs::write(&file, GUARD.replace("It takes", "It destroys"))?;
    for prompt in ["/wyren:trust --json --yes", "/wyren:trust yes"] {
        let changed = say(prompt)?;
        assert!(changed.contains("It destroys whatever") && !is_trusted(&sandbox)?, "{prompt}: {changed}");
    }
    assert!(say("/wyren:trust yes")?.contains("is trusted."));
    assert!(is_trusted(&sandbox)?);
    // What was shown once is not accepted after another decision.
    say("/wyren:trust no")?;
    assert!(refuses(&say("/wyren:trust yes")?) && !is_trusted(&sandbox)?);
    // In a terminal, `--yes` is for scripts.
    sandbox.wyren(&["trust", "--yes"])?;
    assert!(is_trusted(&sandbox)?);
    Ok(())
}

#[test]
fn what_a_prompt_cannot_show_whole_is_not_trusted_by_one() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let folder = sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&folder)?;
    for number in 0..40 {
        let text = GUARD.replace("It takes", &format!("{number} {}. It takes", "long ".repeat(60)));
        fs::write(folder.join(format!("frob-guard-{number}.md")), text)?;
    }
    for prompt in ["/wyren:trust", "/wyren:trust yes", "/wyren:trust yes"] {
        let said = send(&sandbox, "prompt-bind", prompt, &INTERACTIVE)?;
        assert!(shown(&said).ends_with("run `wyren trust` in a terminal"), "{said}");
        assert!(!is_trusted(&sandbox)?);
    }
    Ok(())
}

#[test]
fn review_20_an_answer_that_trust_does_not_know_is_refused() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for answer in ["maybe", "yes please", "."] {
        let said = send(&sandbox, "prompt-bind", &format!("/wyren:trust {answer}"), &INTERACTIVE)?;
        assert_eq!(shown(&said), format!("wyren: expected yes or no, not {answer}"));
    }
    Ok(())
}

#[test]
fn review_15_what_was_refused_is_listed_with_the_prompt_that_lifts_it() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let call = json!({
        "session_id": "0123-4567", "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": "git push --force origin main"},
    });
    sandbox.run("lesson-inject", call.to_string().as_bytes())?;
    let listed = send(&sandbox, "prompt-bind", "/wyren:allow", &INTERACTIVE)?;
    assert!(shown(&listed).ends_with("To let such a call pass once: /wyren:allow NAME"), "{listed}");
    let in_terminal = sandbox.wyren(&["lessons", "allow"])?;
    let in_terminal = String::from_utf8_lossy(&in_terminal.stdout).into_owned();
    assert!(
        in_terminal.ends_with("To let such a call pass once: wyren lessons allow NAME\n"),
        "{in_terminal}"
    );
    let lessons = sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&lessons)?;
    fs::write(lessons.join("frob-guard.md"), GUARD)?;
    let untrusted = send(&sandbox, "prompt-bind", "/wyren:allow frob-guard", &INTERACTIVE)?;
    assert!(shown(&untrusted).ends_with("refuses nothing until you run `/wyren:trust`"), "{untrusted}");
    Ok(())
}

#[test]
fn only_a_person_in_an_interactive_session_trusts_by_a_prompt() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let lessons = sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&lessons)?;
    fs::write(lessons.join("frob-guard.md"), GUARD)?;
    let headless = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_PROJECT_DIR", "/")];
    for variables in [&headless[..], &INTERACTIVE[..2]] {
        for prompt in ["/wyren:trust", "/wyren:trust yes", "/wyren:trust no"] {
            let answer = send(&sandbox, "prompt-bind", prompt, variables)?;
            assert!(shown(&answer).contains("only a person may do this"), "{prompt}: {answer}");
        }
    }
    assert!(!sandbox.data().join("trust").exists());
    let asked = send(&sandbox, "prompt-bind", "/wyren:trust", &INTERACTIVE)?;
    let text = shown(&asked);
    assert!(text.contains("frob-guard") && text.contains("| It takes whatever"), "{text}");
    assert!(text.ends_with("to trust this project: /wyren:trust yes"), "{text}");
    assert!(!is_trusted(&sandbox)?);
    let trusted = send(&sandbox, "prompt-bind", "/wyren:trust yes", &INTERACTIVE)?;
    assert!(shown(&trusted).ends_with(" is trusted. To stop trusting it: /wyren:trust no"), "{trusted}");
    assert!(is_trusted(&sandbox)?);
    let taken_back = send(&sandbox, "prompt-bind", "/wyren:trust no", &INTERACTIVE)?;
    assert!(shown(&taken_back).contains("is no longer trusted"), "{taken_back}");
    Ok(())
}

#[test]
fn a_person_lets_a_clone_publish_by_a_prompt_and_a_script_does_not() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::new(&remote, "ada")? else { return Ok(()) };
    let headless = [("CLAUDECODE", "1"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), ("CLAUDE_PROJECT_DIR", "/")];
    let init = send(&ada.sandbox, "prompt-bind", "/wyren:init", &headless)?;
    assert!(shown(&init).contains("This clone does not publish yet"), "{init}");
    let added = send(&ada.sandbox, "prompt-bind", "/wyren:memory add Use tabs", &headless)?;
    assert!(
        shown(&added).contains("Added to Decisions: Use tabs.") && shown(&added).contains("kept locally"),
        "{added}"
    );
    assert!(!remote.memory(Mode::Side).contains("Use tabs"));
    let added = send(&ada.sandbox, "prompt-bind", "/wyren:memory add rejected: Use spaces", &INTERACTIVE)?;
    assert!(shown(&added).contains("Added to Rejected paths: Use spaces. Pushed to origin."), "{added}");
    let published = remote.memory(Mode::Side);
    assert!(published.contains("Use tabs") && published.contains("Use spaces"), "{published}");
    Ok(())
}

/// Makes a sandbox with `prompt-bind` and a script in the place of `wyren`.
fn with_script(script: &str) -> Result<Option<(tempfile::TempDir, Sandbox)>> {
    let Some(plugin) = plugin::folder() else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    fs::copy(plugin.join("bin/prompt-bind"), folder.path().join("prompt-bind"))?;
    let source = folder.path().join("script");
    fs::write(&source, script)?;
    // By another process: a file that this one has open for writing cannot be run.
    let wyren = folder.path().join("wyren");
    let mut install = Command::new("install");
    ensure!(install.args(["-m", "755"]).arg(&source).arg(&wyren).status()?.success());
    let sandbox = Sandbox::of(folder.path(), &data_folder())?;
    Ok(Some((folder, sandbox)))
}

#[cfg(unix)]
#[test]
fn a_command_that_hangs_is_ended_and_one_that_changes_something_goes_on() -> Result<()> {
    let script =
        "#!/bin/sh\necho $$ > pid\necho begun\nwhile [ ! -e go ]; do sleep 0.05; done\necho done > result\n";
    let Some((_folder, sandbox)) = with_script(script)? else { return Ok(()) };
    let project = sandbox.project();
    let ended = send(&sandbox, "prompt-bind", "/wyren:doctor", &INTERACTIVE)?;
    assert_eq!(
        shown(&ended),
        "begun\n`wyren doctor` took longer than 2 s and was ended. Try it in a terminal."
    );
    assert!(!runs(&project)?, "it is gone");

    let goes_on = send(&sandbox, "prompt-bind", "/wyren:init", &INTERACTIVE)?;
    let text = shown(&goes_on);
    assert!(
        text.starts_with("begun\n`wyren init` is still running and goes on in the background."),
        "{text}"
    );
    assert!(runs(&project)?, "it goes on");
    fs::write(project.join("go"), "")?;
    let deadline = Instant::now() + PATIENCE;
    while !project.join("result").exists() {
        ensure!(Instant::now() < deadline, "it did not end by itself");
        thread::sleep(POLL);
    }
    Ok(())
}

/// Returns whether the script that wrote its process id still runs.
fn runs(project: &Path) -> Result<bool> {
    let pid = fs::read_to_string(project.join("pid")).context("the script did not begin")?;
    Ok(Command::new("kill").args(["-0", pid.trim()]).output()?.status.success())
}

#[cfg(unix)]
#[test]
fn a_long_output_is_cut_and_says_where_the_rest_is() -> Result<()> {
    let script =
        "#!/bin/sh\ni=0\nwhile [ $i -lt 3000 ]; do echo \"line $i of a long output\"; i=$((i+1)); done\n";
    let Some((_folder, sandbox)) = with_script(script)? else { return Ok(()) };
    let answer = send(&sandbox, "prompt-bind", "/wyren:memory", &INTERACTIVE)?;
    let text = shown(&answer);
    assert!(text.encode_utf16().count() <= MOST_UNITS, "{}", text.len());
    assert!(text.starts_with("line 0 ") && text.ends_with("[cut; the rest: `wyren memory list`]"), "{text}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_command_gets_the_width_no_input_no_colour_and_the_sessions_folder() -> Result<()> {
    let script = "#!/bin/sh\necho \"$COLUMNS $NO_COLOR ${CLAUDECODE-none} $(pwd)\"\nread line || echo nothing to read\n\
        [ -t 0 ] || echo no terminal\nprintf 'bad \\033[31m\\007text\\n' >&2\nexit 7\n";
    let Some((_folder, sandbox)) = with_script(script)? else { return Ok(()) };
    let answer = send(&sandbox, "prompt-bind", "/wyren:status", &INTERACTIVE)?;
    let project = sandbox.project().canonicalize()?;
    let expected = format!("100 1 none {}\nnothing to read\nno terminal\nbad text", project.display());
    assert_eq!(shown(&answer), expected);
    let by_model = send(&sandbox, "prompt-bind", "/wyren:status", &INTERACTIVE[..2])?;
    assert!(shown(&by_model).starts_with("100 1 1 "), "{by_model}");
    Ok(())
}

#[test]
fn without_wyren_a_command_says_what_happened() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    fs::copy(plugin.join("bin/prompt-bind"), folder.path().join("prompt-bind"))?;
    let sandbox = Sandbox::of(folder.path(), &data_folder())?;
    let answer = send(&sandbox, "prompt-bind", "/wyren:status", &INTERACTIVE)?;
    let text = shown(&answer);
    assert!(text.starts_with("Wyren could not run `wyren status`: "), "{text}");
    Ok(())
}

#[test]
fn doctor_names_another_wyren_that_comes_first_on_the_path() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    // As npm installs it: a link to the script of the package.
    let (node, package) =
        (sandbox.folder().join("npm"), sandbox.folder().join("node_modules/@ssm-08/wyren/bin"));
    fs::create_dir(&node)?;
    fs::create_dir_all(&package)?;
    fs::write(sandbox.folder().join("script"), "#!/usr/bin/env node\n")?;
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(sandbox.folder().join("script")).arg(package.join("wyren.mjs"));
    ensure!(install.status()?.success());
    std::os::unix::fs::symlink(package.join("wyren.mjs"), node.join("wyren"))?;
    let path = format!("{}:{}", node.display(), std::env::var("PATH").unwrap_or_default());
    let checked = |arguments: &[&str]| -> Result<Value> {
        let output = feed(sandbox.command("wyren").args(arguments).env("PATH", &path), b"")?;
        let facts: Value = serde_json::from_slice(&output.stdout)?;
        let checks = facts["checks"].as_array().context("no checks")?;
        checks.iter().find(|check| check["name"] == "command").cloned().context("not checked")
    };
    for arguments in [&["doctor", "--json"][..], &["doctor", "--offline", "--json"]] {
        let check = checked(arguments)?;
        assert_eq!(check["state"], "warn", "{check}");
        let message = check["message"].as_str().unwrap_or_default();
        assert!(message.contains("the Node version") && message.contains("npm/wyren"), "{check}");
        assert!(
            check["fix"].as_str().is_some_and(|fix| fix.contains("npm uninstall -g @ssm-08/wyren")),
            "{check}"
        );
    }
    Ok(())
}

/// The front matter of a command or skill: the value of a key.
fn front<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let head = text.strip_prefix("---\n")?.split("\n---\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

#[test]
fn what_the_model_always_sees_of_commands_and_skills_is_short() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    let mut listed = 0;
    for entry in fs::read_dir(plugin.join("commands"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let about = path.display();
        let description = front(&text, "description").with_context(|| format!("{about}: no description"))?;
        assert!(description.len() <= 80, "{about}: {description}");
        if front(&text, "disable-model-invocation") != Some("true") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            listed += format!("- wyren:{name}: {description}\n").chars().count();
        }
    }
    for entry in fs::read_dir(plugin.join("skills"))? {
        let folder = entry?.path();
        let skill = fs::read_to_string(folder.join("SKILL.md"))?;
        let description = front(&skill, "description").context("no description")?;
        if front(&skill, "disable-model-invocation") != Some("true") {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            listed += format!("- wyren:{name}: {description}\n").chars().count();
        }
    }
    assert!((100..=500).contains(&listed), "{listed}");
    Ok(())
}

#[test]
fn text_12_trust_and_broadcast_say_what_they_do() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let help = String::from_utf8_lossy(&sandbox.wyren(&["--help"])?.stdout).into_owned();
    for line in ["Stop trusting a project", "Share a skill with every session of the team"] {
        assert!(help.contains(line), "{help}");
    }
    let lessons = sandbox.project().join(".wyren/lessons");
    fs::create_dir_all(&lessons)?;
    fs::write(lessons.join("frob-guard.md"), GUARD)?;
    for (said, expected) in [("n", false), ("y", true)] {
        let mut asked = Terminal::of(sandbox.command("wyren").arg("trust"), 120)?;
        asked.wait_for("Trust this project? [y/N]")?;
        asked.type_text(said)?;
        asked.press(Key::Enter)?;
        assert_eq!(asked.end()?, 0);
        assert_eq!(is_trusted(&sandbox)?, expected, "{said}");
    }
    Ok(())
}

#[test]
fn text_15_the_plugin_says_what_it_does() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    let text = "Team memory over git, and lessons that speak up (or refuse) before a known mistake. Native hooks, no daemon.";
    let manifest: Value = serde_json::from_slice(&fs::read(plugin.join(".claude-plugin/plugin.json"))?)?;
    let marketplace: Value =
        serde_json::from_slice(&fs::read(plugin.join(".claude-plugin/marketplace.json"))?)?;
    assert_eq!(
        (&manifest["description"], &marketplace["plugins"][0]["description"]),
        (&json!(text), &json!(text))
    );
    Ok(())
}

#[test]
fn text_17_the_handoff_command_is_in_plain_words() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    let text = fs::read_to_string(plugin.join("commands/wyren-handoff.md"))?;
    assert!(text.contains("If no note is given") && text.contains("the user"), "{text}");
    for out in ["mend", "the person"] {
        assert!(!text.contains(out), "{out}");
    }
    Ok(())
}

/// What the rules of a command file must allow, whatever the plugin's folder ends with.
#[test]
fn every_wyren_that_a_command_file_shows_is_allowed_in_each_spelling() -> Result<()> {
    let Some(plugin) = plugin::folder() else { return Ok(()) };
    for entry in fs::read_dir(plugin.join("commands"))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let Some(tools) = front(&text, "allowed-tools") else { continue };
        let body = text.splitn(3, "---\n").nth(2).unwrap_or_default();
        let shown = body.split("\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\" ").skip(1);
        let calls = shown.map(|rest| {
            let whole = rest.split('`').next().unwrap_or_default();
            (whole, whole.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        });
        let mut count = 0;
        for (whole, verbs) in
            calls.filter(|(_, verbs)| verbs.chars().all(|c| c.is_ascii_lowercase() || " -".contains(c)))
        {
            for program in [
                "\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\"",
                "${CLAUDE_PLUGIN_ROOT}/bin/wyren",
                "${CLAUDE_PLUGIN_ROOT}//bin/wyren",
                "${CLAUDE_PLUGIN_ROOT}bin/wyren",
            ] {
                let allows = |rule: &str| tools.contains(&format!("Bash({program} {rule})"));
                assert!(allows(&format!("{verbs}:*")) || allows(whole), "{}: {whole}", path.display());
            }
            count += 1;
        }
        assert!(count > 0, "{}: shows no command", path.display());
        assert!(!body.contains("`${CLAUDE_PLUGIN_ROOT}"), "{}: an unquoted path", path.display());
    }
    Ok(())
}

#[test]
fn init_from_a_prompt_asks_nothing() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    git(&sandbox.project(), &["init", "--quiet"])?;
    let answer = send(&sandbox, "prompt-bind", "/wyren:init", &INTERACTIVE)?;
    assert!(sandbox.project().join(".wyren/memory.md").exists(), "{answer}");
    let again = send(&sandbox, "prompt-bind", "/wyren:init", &INTERACTIVE)?;
    assert!(shown(&again).contains("already"), "{again}");
    Ok(())
}
