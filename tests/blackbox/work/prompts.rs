//! Contexts by prompt: `prompt-bind` binds sessions, and answers `^`.

use super::cli::{ids, work, work_json};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use wyren_tests::sandbox::{Sandbox, feed};

/// One session.
pub(super) struct Session<'s> {
    pub(super) sandbox: &'s Sandbox,
    pub(super) id: String,
    mode: &'static str,
    variables: Vec<(&'static str, &'static str)>,
}

impl<'s> Session<'s> {
    pub(super) fn new(sandbox: &'s Sandbox, id: impl Into<String>) -> Self {
        Self { sandbox, id: id.into(), mode: "default", variables: Vec::new() }
    }

    fn in_mode(self, mode: &'static str) -> Self {
        Self { mode, ..self }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Has a hook run with this event; returns its answer, null when it is silent.
    fn run(&self, hook: &str, event: &str, mut data: Value) -> Result<Value> {
        data["session_id"] = self.id.clone().into();
        data["cwd"] = self.sandbox.project().to_string_lossy().into();
        data["hook_event_name"] = event.into();
        data["permission_mode"] = self.mode.into();
        let mut command = self.sandbox.command(hook);
        command.envs(self.variables.iter().copied());
        let output = feed(&mut command, data.to_string().as_bytes())?;
        ensure!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        if text.trim().is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) }
    }

    /// Sends a prompt to every hook of it; returns the answer of `prompt-bind`.
    pub(super) fn prompt(&self, text: &str) -> Result<Value> {
        let id = format!("{}-{}", self.id, text.len());
        let data = json!({"prompt": text, "prompt_id": id});
        self.run("prompt-record", "UserPromptSubmit", data.clone())?;
        self.run("prompt-bind", "UserPromptSubmit", data)
    }

    fn shows_plan(&self, plan: &str) -> Result<()> {
        // As `plan-archive` records it, which comes with plans.
        let spooled = json!({"v": 2, "kind": "plan", "id": format!("t:{}", plan.len()), "session": self.id, "cwd": self.sandbox.project(),
            "prompt_id": "q-plan", "ts": now()?, "data": {"text": plan}});
        let folder = spool_of(self.sandbox, &self.id)?;
        let file = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).find(|path| path.is_file());
        let file = file.context("nothing was recorded")?;
        let text = fs::read_to_string(&file)?;
        Ok(fs::write(file, format!("{text}\n{spooled}\n"))?)
    }

    pub(super) fn ends(&self, reason: &str, prompt: &str) -> Result<()> {
        // People take more than a millisecond to end a session, hooks do not.
        std::thread::sleep(std::time::Duration::from_millis(2));
        self.run("session-end", "SessionEnd", json!({"reason": reason, "prompt_id": prompt})).map(drop)
    }

    pub(super) fn starts(&self, source: &str, prompt: &str) -> Result<()> {
        self.run("session-start-memory", "SessionStart", json!({"source": source, "prompt_id": prompt}))
            .map(drop)
    }

    /// Returns what `session-start-recall` tells at such a start.
    pub(super) fn recalls(&self, source: &str, prompt: &str) -> Result<String> {
        let data = json!({"source": source, "prompt_id": prompt});
        let answer = self.run("session-start-recall", "SessionStart", data)?;
        Ok(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
    }
}

fn now() -> Result<u64> {
    Ok(u64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis())?)
}

/// Returns the folder of a session's observations.
fn spool_of(sandbox: &Sandbox, session: &str) -> Result<std::path::PathBuf> {
    let mut folders = fs::read_dir(sandbox.data().join("spool"))?.flatten().map(|entry| entry.path());
    let has = |folder: &std::path::PathBuf| {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .any(|text| text.contains(&format!("{session:?}")))
    };
    folders.find(has).context("no spool")
}

/// Returns the text that is shown in the place of a prompt.
#[track_caller]
fn shown(answer: &Value) -> &str {
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap_or_default()
}

/// Returns the text for the model.
#[track_caller]
fn told(answer: &Value) -> &str {
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

#[test]
fn the_first_prompt_names_a_context_and_the_next_are_silent() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    assert_eq!(session.prompt("Please move the parser into a crate")?, Value::Null);
    assert_eq!(session.prompt("and test it")?, Value::Null);
    let all = ids(&sandbox)?;
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].ends_with("-move-parser-crate"), "{all:?}");
    let context = work_json(&sandbox, &["show", &all[0]])?;
    assert_eq!(
        (&context["mode"], &context["method"]),
        (&"active".into(), &"auto-created".into()),
        "{context:#}"
    );
    // A plan mode that never ends activates nothing.
    Session::new(&sandbox, "s-2").in_mode("plan").prompt("Draft the new importer layout")?;
    let context = work_json(&sandbox, &["show", "importer"])?;
    assert_eq!(context["mode"], "idle", "{context:#}");
    Ok(())
}

#[test]
fn a_private_first_prompt_names_no_context() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    assert_eq!(session.prompt("<private>sell the company to acme</private>")?, Value::Null);
    assert!(ids(&sandbox)?.is_empty());
    assert!(!sandbox.data().join("work").exists(), "not even a folder");
    session.prompt("fix the login form <private>before acme comes</private>")?;
    let all = ids(&sandbox)?;
    assert!(all.len() == 1 && all[0].ends_with("-fix-login-form"), "{all:?}");
    let mut text = work(&sandbox, &["show", &all[0]])?.1;
    text.push_str(&work_json(&sandbox, &["list"])?.to_string());
    assert!(!text.contains("acme"), "{text}");
    Ok(())
}

#[test]
fn a_command_to_wyren_names_no_context_and_the_prompt_after_it_does() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    for command in ["/wyren:handoff", "/wyren:handoff-resume 261118-0905-x", "/wyren:lessons-add npm install"]
    {
        session.prompt(command)?;
    }
    assert!(ids(&sandbox)?.is_empty());
    session.prompt("fix the login form")?;
    let all = ids(&sandbox)?;
    assert!(all.len() == 1 && all[0].ends_with("-fix-login-form"), "{all:?}");
    Ok(())
}

#[test]
fn nothing_is_bound_in_a_subagent_or_where_nothing_is_recorded() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1").with("WYREN_CAPTURE", "off");
    session.prompt("move the parser into a crate")?;
    assert!(shown(&session.prompt("^")?).contains("records nothing here"));
    let inside = json!({"prompt": "move the parser", "agent_id": "a1"});
    Session::new(&sandbox, "s-1").run("prompt-bind", "UserPromptSubmit", inside)?;
    assert!(ids(&sandbox)?.is_empty());
    Ok(())
}

#[test]
fn a_session_of_another_agent_is_bound_and_its_carets_are_answered() -> Result<()> {
    for (agent, event) in [("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let prompt = |text: &str| -> Result<String> {
            let data = json!({"session_id": "s-1", "cwd": sandbox.project(), "hook_event_name": event, "prompt": text});
            let mut answer = String::new();
            for hook in ["prompt-record", "prompt-bind"] {
                let output =
                    feed(sandbox.command(hook).args(["--agent", agent]), data.to_string().as_bytes())?;
                ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
                answer = String::from_utf8(output.stdout)?;
            }
            Ok(answer)
        };
        prompt("move the parser into a crate")?;
        prompt("and test it")?;
        let all = ids(&sandbox)?;
        assert!(all.len() == 1 && all[0].ends_with("-move-parser-crate"), "{agent}: {all:?}");
        let context = work_json(&sandbox, &["show", "parser"])?;
        assert_eq!(context["sessions"][0]["platform"], agent, "{context:#}");
        assert!(prompt("^")?.contains(&all[0]), "{agent}");
        // The same id in Claude Code is another session.
        Session::new(&sandbox, "s-1").prompt("^S:parser")?;
        let context = work_json(&sandbox, &["show", "parser"])?;
        assert_eq!(context["sessions"].as_array().map(Vec::len), Some(2), "{context:#}");
    }
    Ok(())
}

#[test]
fn line_20_in_a_model_child_of_any_tool_nothing_is_bound_or_answered() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for guard in ["AIWCLI_INTERNAL_CALL", "_CC_INTERNAL", "WYREN_INTERNAL"] {
        let child = Session::new(&sandbox, "s-2").with(guard, "true");
        assert_eq!(child.prompt("^")?, Value::Null, "{guard}");
        assert_eq!(child.prompt("move the parser")?, Value::Null, "{guard}");
    }
    assert!(ids(&sandbox)?.is_empty());
    Ok(())
}

#[test]
fn line_27_carets_work_in_a_bound_session_too_and_are_never_passed_on() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    assert!(shown(&session.prompt("^")?).starts_with("No open contexts in "));
    session.prompt("move the parser into a crate")?;
    Session::new(&sandbox, "s-2").prompt("fix the beta upload widget")?;
    let picker = session.prompt("^")?;
    assert!(
        shown(&picker).contains("  1  ") && shown(&picker).contains("-fix-beta-upload-widget"),
        "{picker}"
    );
    for bad in ["^nonsense", "^9", "^S:gamma", "^E", "^0 short"] {
        assert!(shown(&session.prompt(bad)?).contains("^0 TEXT"), "{bad}");
    }
    let selected = session.prompt("^S:beta and test it")?;
    let message = selected["systemMessage"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("Wyren: this session works on ") && message.contains("-fix-beta"),
        "{selected}"
    );
    assert!(told(&selected).contains("-fix-beta-upload-widget` (the user typed `^S:beta`"), "{selected}");
    let beta = work_json(&sandbox, &["show", "beta"])?;
    assert_eq!(beta["sessions"].as_array().map(Vec::len), Some(2), "{beta:#}");
    let parser = work_json(&sandbox, &["show", "parser"])?;
    assert_eq!(parser["sessions"][0]["current"], false, "{parser:#}");
    let begun = session.prompt("^0 write the manual of it")?;
    assert!(told(&begun).contains("-write-manual"), "{begun}");
    // By number, in the order of the list.
    let number = shown(&session.prompt("^")?)
        .lines()
        .find(|line| line.contains("-move-parser"))
        .map(|line| line.trim()[..1].to_owned());
    let number = number.context("not listed")?;
    assert!(told(&session.prompt(&format!("^{number}"))?).contains("-move-parser"));
    let ended = session.prompt("^E:manual")?;
    assert!(shown(&ended).starts_with("Ended ") && !shown(&ended).contains("  3  "), "{ended}");
    assert!(!shown(&ended).contains("Not sent:"), "{ended}");
    session.prompt("^0 draw the cover of it")?;
    let ended = session.prompt("^E:cover and print\nthe manual")?;
    assert!(shown(&ended).contains(".\nNot sent: and print the manual\n\nContexts in "), "{ended}");
    let rest = session.prompt("^E*")?;
    assert!(shown(&rest).contains("No open contexts"), "{rest}");
    // What ended is let go of: the next prompt begins anew.
    session.prompt("something else altogether now")?;
    let open = work_json(&sandbox, &["list"])?;
    assert_eq!(open["contexts"].as_array().map(Vec::len), Some(1), "{open:#}");
    Ok(())
}

#[test]
fn an_answered_caret_is_no_prompt_for_the_other_hooks() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    for answered in ["^", "^nonsense", "^E1"] {
        session.prompt(answered)?;
    }
    let exported = sandbox.wyren(&["export"])?;
    assert!(!String::from_utf8_lossy(&exported.stdout).contains("nonsense"), "{exported:?}");
    Ok(())
}

const PLAN: &str =
    "# Move the parser\n\nWe move it.\n\n## Steps\n\n1. cut\n2. paste\n\n## Verification\n\nRun the tests.\n";

/// Leaves an accepted plan in a context.
fn stage_plan(sandbox: &Sandbox) -> Result<String> {
    let session = Session::new(sandbox, "planner").in_mode("plan");
    session.prompt("move the parser into a crate")?;
    session.shows_plan(PLAN)?;
    session.ends("clear", "q-plan")?;
    let context = work_json(sandbox, &["show", "parser"])?;
    ensure!(context["mode"] == "has_plan", "{context:#}");
    Ok(context["id"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn line_8_an_unrelated_prompt_adopts_nothing_and_what_waits_is_offered_once() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let id = stage_plan(&sandbox)?;
    let headless = Session::new(&sandbox, "s-0").with("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    assert_eq!(headless.prompt("summarise the readme")?, Value::Null, "no person reads along");
    let offered = Session::new(&sandbox, "s-1").prompt("fix the login form")?;
    assert!(offered["systemMessage"].as_str().is_some_and(|text| text.contains(&id)), "{offered}");
    assert_eq!(offered["hookSpecificOutput"], Value::Null, "the model gets nothing: {offered}");
    sandbox.wyren(&["work"])?;
    assert_eq!(Session::new(&sandbox, "s-2").prompt("colour the buttons")?, Value::Null);
    let context = work_json(&sandbox, &["show", &id])?;
    assert_eq!(
        (&context["mode"], context["sessions"].as_array().map(Vec::len)),
        (&"has_plan".into(), Some(1))
    );
    // Asked for, it is adopted, and not again after that.
    let resumed = Session::new(&sandbox, "s-3").prompt("please continue where we left off")?;
    assert!(told(&resumed).contains(&id), "{resumed}");
    let context = work_json(&sandbox, &["show", &id])?;
    assert_eq!(context["mode"], "active", "{context:#}");
    assert_eq!(Session::new(&sandbox, "s-4").prompt("continue")?, Value::Null);
    Ok(())
}

/// Has a session accept a plan, list two tasks for it, finish the first, and end.
fn leave_a_plan_and_tasks(sandbox: &Sandbox) -> Result<()> {
    let session = Session::new(sandbox, "planner");
    session.prompt("move the parser into a crate")?;
    let input = json!({"plan": PLAN, "planFilePath": "/home/user/.claude/plans/p.md"});
    let accepted = json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_p", "tool_input": input, "tool_response": input});
    session.run("plan-archive", "PostToolUse", accepted)?;
    for (number, subject) in [("1", "Cut it out"), ("2", "Paste it in")] {
        let call = json!({"tool_name": "TaskCreate", "tool_use_id": format!("toolu_{number}"), "tool_input": {"subject": subject},
            "tool_response": {"task": {"id": number, "subject": subject}}});
        session.run("task-record", "PostToolUse", call)?;
    }
    let done = json!({"tool_name": "TaskUpdate", "tool_use_id": "toolu_3", "tool_input": {"taskId": "1", "status": "completed"},
        "tool_response": {"success": true}});
    session.run("task-record", "PostToolUse", done)?;
    session.ends("prompt_input_exit", "q-end")
}

#[test]
fn a_session_that_takes_up_a_context_gets_its_plan_and_its_open_tasks() -> Result<()> {
    let carried = format!("Implement the following plan:\n\n{PLAN}");
    for prompt in ["^S:parser go on", "continue", &carried] {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        leave_a_plan_and_tasks(&sandbox)?;
        // Without a look by any program in between, but for the one that knows the plans.
        if prompt == carried {
            work_json(&sandbox, &["list"])?;
        }
        let next = Session::new(&sandbox, "s-2");
        let answer = next.prompt(prompt)?;
        let text = told(&answer);
        assert!(text.contains("-move-parser-crate`"), "{prompt}: {text}");
        assert!(text.contains("Progress: 1 of 2 tasks completed."), "{prompt}: {text}");
        assert!(text.contains("[pending] Paste it in") && !text.contains("Cut it out"), "{prompt}: {text}");
        assert!(text.contains("\"persistent_id\"") && text.len() < 9_000, "{prompt}: {text}");
        // The window has the plan once.
        assert_eq!(
            text.matches("1. cut\n2. paste").count(),
            usize::from(prompt != carried),
            "{prompt}: {text}"
        );
        // A compaction takes the text away: it comes back.
        let again = next.recalls("compact", "q-compact")?;
        assert!(
            again.contains("1. cut\n2. paste") && again.contains("[pending] Paste it in"),
            "{prompt}: {again}"
        );
        // And nothing of it where the user wants none.
        let silent = Session::new(&sandbox, "s-3").with("WYREN_RECALL_WORK_BYTES", "0");
        assert!(!told(&silent.prompt("^S:parser")?).contains("Paste it in"));
    }
    Ok(())
}

#[test]
fn what_a_context_left_does_not_come_back_once_it_is_ended() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    leave_a_plan_and_tasks(&sandbox)?;
    let session = Session::new(&sandbox, "s-2");
    session.prompt("^S:parser")?;
    assert!(session.recalls("compact", "q-compact")?.contains("Paste it in"));
    assert!(shown(&session.prompt("^E:parser")?).starts_with("Ended "));
    let listed = |arguments: &[&str]| -> Result<String> {
        let mut command = sandbox.command("wyren");
        command.args(["work", "tasks"]).args(arguments).env("CLAUDE_CODE_SESSION_ID", "planner");
        Ok(String::from_utf8_lossy(&command.current_dir(sandbox.project()).output()?.stdout).into_owned())
    };
    assert_eq!(listed(&[])?, "No tasks.\n");
    assert!(listed(&["--all"])?.contains("Paste it in"));
    for (id, source) in [("s-2", "compact"), ("s-3", "clear"), ("s-4", "startup")] {
        if source == "clear" {
            session.ends("clear", "q-clear")?;
        }
        let told = Session::new(&sandbox, id).recalls(source, "q-clear")?;
        assert!(!told.contains("Paste it in") && !told.contains("Accepted plan"), "{source}: {told}");
    }
    Ok(())
}

#[test]
fn a_session_that_resume_goes_back_to_takes_up_no_work_of_the_session_before() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let earlier = Session::new(&sandbox, "s-1");
    earlier.prompt("fix the old importer")?;
    earlier.prompt("^E:importer")?;
    earlier.ends("prompt_input_exit", "q-1")?;
    let session = Session::new(&sandbox, "s-2");
    session.prompt("move the parser into a crate")?;
    session.ends("resume", "q-2")?;
    earlier.starts("resume", "q-2")?;
    earlier.prompt("what is left of the importer?")?;
    let parser = work_json(&sandbox, &["show", "parser"])?;
    assert_eq!(parser["sessions"].as_array().map(Vec::len), Some(1), "{parser:#}");
    assert_eq!(ids(&sandbox)?.len(), 3);
    Ok(())
}

#[test]
fn a_session_that_left_its_folder_has_the_contexts_of_its_project() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    session.prompt("move the parser into a crate")?;
    let elsewhere = sandbox.folder().join("elsewhere");
    fs::create_dir_all(&elsewhere)?;
    let event =
        json!({"session_id": "s-1", "cwd": elsewhere, "hook_event_name": "UserPromptSubmit", "prompt": "^"});
    let output = feed(&mut sandbox.command("prompt-bind"), event.to_string().as_bytes())?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    assert!(shown(&answer).starts_with("Contexts in project") && shown(&answer).contains("1* "), "{answer}");
    Ok(())
}

#[test]
fn an_image_alone_names_no_context_and_the_prompt_after_it_does() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    session.prompt("")?;
    assert!(ids(&sandbox)?.is_empty());
    session.prompt("fix the login form")?;
    assert!(ids(&sandbox)?[0].ends_with("-fix-login-form"));
    Ok(())
}

#[test]
fn tasks_of_a_context_that_is_done_are_open_no_more() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    leave_a_plan_and_tasks(&sandbox)?;
    let (_, shown, _) = work(&sandbox, &["show", "parser"])?;
    assert!(shown.contains("the last accepted: Move the parser") && shown.contains("1 open of 2"), "{shown}");
    assert!(work(&sandbox, &["tasks"])?.1.contains("Paste it in"));
    work_json(&sandbox, &["done", "parser", "parser"])?;
    assert_eq!(work(&sandbox, &["tasks"])?.1, "No tasks.\n");
    assert!(work(&sandbox, &["tasks", "--all"])?.1.contains("Paste it in"));
    assert!(work(&sandbox, &["tasks", "parser"])?.1.contains("Paste it in"));
    let (code, _, errors) = work(&sandbox, &["edit", "parser"])?;
    assert!(code == Some(2) && errors.contains("give --summary, --tag or --untag"), "{errors}");
    Ok(())
}

#[test]
fn a_prompt_that_carries_the_plan_takes_it_up() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let id = stage_plan(&sandbox)?;
    let carried =
        Session::new(&sandbox, "s-1").prompt(&format!("Implement the following plan:\n\n{PLAN}"))?;
    assert!(told(&carried).contains(&id), "{carried}");
    let context = work_json(&sandbox, &["show", &id])?;
    assert_eq!(context["artifact"]["is_consumed"], true, "{context:#}");
    Session::new(&sandbox, "s-1").ends("other", "q")?;
    assert_eq!(work_json(&sandbox, &["show", &id])?["mode"], "active", "line 9");
    Ok(())
}

#[test]
fn clear_and_branch_go_on_in_a_new_session_by_the_prompt_they_share() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "s-1").prompt("move the parser into a crate")?;
    for (from, to, reason) in [("s-1", "s-2", "clear"), ("s-2", "s-3", "resume")] {
        Session::new(&sandbox, from).ends(reason, &format!("q-{from}"))?;
        let next = Session::new(&sandbox, to);
        next.starts(reason, &format!("q-{from}"))?;
        assert_eq!(next.prompt("go on with the tests of it")?, Value::Null);
    }
    Session::new(&sandbox, "s-4").starts("startup", "q-other")?;
    Session::new(&sandbox, "s-4").prompt("fix the login form")?;
    let all = ids(&sandbox)?;
    assert_eq!(all.len(), 2, "{all:?}");
    let context = work_json(&sandbox, &["show", "parser"])?;
    assert_eq!(context["sessions"].as_array().map(Vec::len), Some(3), "{context:#}");
    Ok(())
}

#[test]
fn line_23_a_lost_file_or_cache_hides_no_context() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let session = Session::new(&sandbox, "s-1");
    session.prompt("move the parser into a crate")?;
    let before = ids(&sandbox)?;
    fs::remove_dir_all(sandbox.data().join("work"))?;
    session.prompt("and test it")?;
    assert_eq!(ids(&sandbox)?, before, "the session is bound to the same context again");
    sandbox.wyren(&["repair"])?;
    assert_eq!(ids(&sandbox)?, before);
    Ok(())
}

#[test]
fn what_is_forgotten_leaves_no_context_no_folder_and_no_binding() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "s-1").prompt("prepare the acme merger papers")?;
    Session::new(&sandbox, "s-2").prompt("fix the login form")?;
    let output = sandbox.wyren(&["forget", "--session", "s-1", "--yes"])?;
    ensure!(output.status.success(), "{output:?}");
    let all = ids(&sandbox)?;
    assert!(all.len() == 1 && all[0].ends_with("-fix-login-form"), "{all:?}");
    let names = fs::read_dir(sandbox.data().join("work"))?.flatten();
    let names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("merger")), "{names:?}");
    let bindings = fs::read_dir(sandbox.data().join("work/.sessions"))?.flatten();
    assert_eq!(bindings.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count(), 1);
    Ok(())
}

#[test]
fn line_19_a_bound_session_starts_no_process() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "s-1").prompt("move the parser into a crate")?;
    let before = fs::read_to_string(sandbox.data().join("logs/hooks.jsonl"))?;
    // Without `wyren` beside it the hook could not start one.
    let bare = sandbox.folder().join("bare");
    fs::create_dir_all(&bare)?;
    let name = format!("prompt-bind{}", std::env::consts::EXE_SUFFIX);
    let plugin = wyren_tests::plugin::folder().context("no plugin")?;
    fs::copy(plugin.join("bin").join(&name), bare.join(&name))?;
    let event = json!({"session_id": "s-1", "cwd": sandbox.project(), "hook_event_name": "UserPromptSubmit", "prompt": "and test it"});
    let output = feed(&mut sandbox.command_for(&bare.join(&name)), event.to_string().as_bytes())?;
    ensure!(output.status.success() && output.stdout.trim_ascii().is_empty(), "{output:?}");
    let after = fs::read_to_string(sandbox.data().join("logs/hooks.jsonl"))?;
    let added = after.strip_prefix(&before).unwrap_or_default();
    assert!(added.contains("HOOK_SILENT") && !added.contains("could not"), "{added}");
    Ok(())
}

#[test]
fn a_purge_leaves_nothing_of_contexts() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    Session::new(&sandbox, "s-1").prompt("move the parser into a crate")?;
    assert!(sandbox.data().join("work").is_dir());
    let output = sandbox.wyren(&["uninstall", "--purge", "--yes"])?;
    ensure!(output.status.success(), "{output:?}");
    assert!(!sandbox.data().join("work").exists(), "{output:?}");
    Ok(())
}

#[test]
fn contexts_go_along_with_an_export() -> Result<()> {
    let (Some(from), Some(to)) = (Sandbox::new()?, Sandbox::new()?) else { return Ok(()) };
    Session::new(&from, "s-1").prompt("move the parser into a crate")?;
    let id = ids(&from)?.remove(0);
    work(&from, &["note", &id, "half done"])?;
    let exported = from.wyren(&["export"])?;
    let file = to.folder().join("export.jsonl");
    fs::write(&file, &exported.stdout)?;
    for _ in 0..2 {
        let output = to.wyren(&["import", &file.to_string_lossy()])?;
        ensure!(output.status.success(), "{output:?}");
    }
    let context = work_json(&to, &["show", &id])?;
    assert_eq!(
        (&context["notes"][0]["text"], context["sessions"].as_array().map(Vec::len)),
        (&"half done".into(), Some(1))
    );
    Ok(())
}

#[test]
fn a_session_that_hooks_take_in_gives_no_leave_to_publish() -> Result<()> {
    let start = json!({"source": "clear", "prompt_id": "q-1"});
    // An ordinary prompt takes nothing in, and the worker that the end started may not have done so yet.
    let prompt = json!({"prompt": "^", "prompt_id": "p-2"});
    for (hook, event, data) in
        [("prompt-bind", "UserPromptSubmit", prompt), ("session-start-recall", "SessionStart", start)]
    {
        let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
        let session = Session::new(&sandbox, "s-1");
        session.run("prompt-record", "UserPromptSubmit", json!({"prompt": "begin", "prompt_id": "p-1"}))?;
        session.ends("clear", "q-1")?;
        session.run(hook, event, data)?;
        assert!(sandbox.data().join("wyren.db").exists(), "it took in what was recorded");
        sandbox.wyren(&["sync"])?;
        let known = fs::read_to_string(sandbox.data().join("publish/known"))?;
        assert!(known.ends_with("end\n") && !known.contains("worked "), "{known}");
    }
    Ok(())
}
