//! A project that was removed stays removed: whatever runs for it ends without making its folder again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::{Sandbox, feed};

use crate::team::{Member, Mode, Remote, git};
use crate::worker::wait_for;

const SESSION: &str = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a";

/// An answer that takes longer than a removal.
const SLOW_ANSWER: &str = r#"{"do":"answer","after_ms":700,"answer":{"operations":[{"do":"add","section":"Decisions","text":"Postgres is the database","confidence":0.9,"turns":[1]}]}}"#;

/// A model that is not answered by the deadline, which is a second away.
const NO_ANSWER: &str = r#"{"do":"hang"}"#;

/// A repository with a linked work tree that has a memory of its own.
struct Place {
    sandbox: Sandbox,
}

impl Place {
    fn new(script: Option<&str>) -> Result<Option<Self>> {
        let Some(sandbox) = Sandbox::new()? else { return Ok(None) };
        let place = Self { sandbox };
        for folder in ["home", "tmp"] {
            fs::create_dir_all(place.sandbox.folder().join(folder))?;
        }
        fs::write(
            place.sandbox.folder().join("home/.gitconfig"),
            "[user]\n\tname = B\n\temail = b@localhost\n",
        )?;
        let project = place.sandbox.project();
        git(&project, &["init", "--quiet", "--initial-branch=main"])?;
        fs::create_dir(project.join(".wyren"))?;
        fs::write(project.join(".wyren/memory.md"), "# Wyren Memory\n\n## Decisions\n\n- We begin\n")?;
        fs::write(project.join(".gitignore"), ".wyren/state/\n.wyren/log\n/inside/\n")?;
        git(&project, &["add", "--all"])?;
        git(&project, &["-c", "user.name=B", "-c", "user.email=b@localhost", "commit", "-qm", "begin"])?;
        if let Some(script) = script {
            fs::write(place.script(), script)?;
        }
        let record = |number: usize, text: &str| {
            let content = json!({"role": "user", "content": text});
            let uuid = format!("u{number}");
            json!({"uuid": uuid, "type": "user", "sessionId": SESSION, "message": content}).to_string()
        };
        let text = "We decided to use Postgres because SQLite locks. Agreed, that is settled on.";
        let records: Vec<String> = (1..=6).map(|number| record(number, text)).collect();
        fs::write(place.transcript(), records.join("\n") + "\n")?;
        Ok(Some(place))
    }

    fn script(&self) -> PathBuf {
        self.sandbox.folder().join("script.jsonl")
    }

    fn transcript(&self) -> PathBuf {
        self.sandbox.folder().join(format!("{SESSION}.jsonl"))
    }

    /// Adds a linked work tree beside the clone, or in it.
    fn work_tree(&self, path: &str) -> Result<PathBuf> {
        let tree = self.sandbox.folder().join(path);
        let name = tree.display().to_string();
        git(&self.sandbox.project(), &["worktree", "add", "--quiet", "-b", "topic", &name])?;
        Ok(tree)
    }

    fn command(&self, program: &str, cwd: &Path) -> Command {
        let mut command = self.sandbox.command(program);
        command
            .current_dir(cwd)
            .env("WYREN_WORKER_IDLE_SECONDS", "0")
            .env("WYREN_WORKER_RETRY_SECONDS", "0")
            .env("WYREN_MODEL_TIMEOUT_S", "1")
            .env("WYREN_TURNS_THRESHOLD", "1");
        match self.script().exists() {
            true => command.env("WYREN_MODEL_SCRIPT", self.script()),
            false => command.env("WYREN_MODEL_PROVIDER", "off"),
        };
        command
    }

    /// Ends a turn in a folder, and asks for its distillation.
    fn stop(&self, cwd: &Path) -> Result<()> {
        let input = json!({"session_id": SESSION, "cwd": cwd, "hook_event_name": "Stop", "transcript_path": self.transcript()});
        let output = feed(&mut self.command("stop-distill", cwd), input.to_string().as_bytes())?;
        ensure!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        Ok(())
    }

    /// Waits until the model was asked.
    fn wait_for_question(&self) -> Result<()> {
        let asked = self.sandbox.folder().join("script.jsonl.position");
        wait_for("a question", || Ok(fs::metadata(&asked).is_ok_and(|asked| asked.len() > 0)))
    }

    fn wait_for_silence(&self) -> Result<()> {
        wait_for("no process", || Ok(self.sandbox.processes().is_empty()))
    }

    /// Checks that the only job ended as done, with or without a reason, at its first attempt.
    fn check_job(&self, has_reason: bool) -> Result<()> {
        self.wait_for_silence()?;
        let output = self.sandbox.wyren(&["jobs", "--all", "--json"])?;
        let listed: Value = serde_json::from_slice(&output.stdout)?;
        let job = &listed["jobs"][0];
        assert_eq!((&job["state"], &job["attempts"]), (&json!("done"), &json!(1)), "{listed:#}");
        let reason = job["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("gone"), has_reason, "{listed:#}");
        Ok(())
    }

    /// Checks that git can have the work tree's folder again.
    fn add_again(&self, tree: &Path) -> Result<()> {
        assert!(!tree.exists(), "{} is back: {:?}", tree.display(), contents(tree));
        git(&self.sandbox.project(), &["worktree", "prune"])?;
        git(&self.sandbox.project(), &["worktree", "add", "--quiet", &tree.display().to_string(), "topic"])?;
        Ok(())
    }

    fn remove_work_tree(&self, tree: &Path) -> Result<()> {
        let name = tree.display().to_string();
        git(&self.sandbox.project(), &["worktree", "remove", "--force", &name]).map(|_| ())
    }
}

/// Returns the paths of everything in a folder.
fn contents(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| [vec![entry.path()], contents(&entry.path())].concat()).collect()
}

/// Keeps workers from running until it is dropped.
fn keep_workers_out(sandbox: &Sandbox) -> Result<File> {
    fs::create_dir_all(sandbox.data())?;
    let lock = File::create(sandbox.data().join("worker.lock"))?;
    lock.lock()?;
    Ok(lock)
}

#[test]
fn d3_a_work_tree_that_goes_before_its_job_begins_stays_gone() -> Result<()> {
    let Some(place) = Place::new(None)? else { return Ok(()) };
    let tree = place.work_tree("tree")?;
    let lock = keep_workers_out(&place.sandbox)?;
    place.stop(&tree)?;
    place.remove_work_tree(&tree)?;
    drop(lock);
    assert!(place.command("wyren-worker", &place.sandbox.project()).status()?.success());
    place.check_job(true)?;
    place.add_again(&tree)
}

#[test]
fn d3_a_work_tree_in_its_repository_is_not_distilled_into_that_once_it_is_gone() -> Result<()> {
    let Some(place) = Place::new(None)? else { return Ok(()) };
    let tree = place.work_tree("project/inside")?;
    let lock = keep_workers_out(&place.sandbox)?;
    place.stop(&tree)?;
    place.remove_work_tree(&tree)?;
    drop(lock);
    assert!(place.command("wyren-worker", &place.sandbox.project()).status()?.success());
    place.check_job(true)?;
    assert!(!place.sandbox.project().join(".wyren/state").exists());
    assert!(!place.sandbox.project().join(".wyren/log").exists());
    place.add_again(&tree)
}

#[test]
fn d3_a_work_tree_that_goes_while_its_session_is_distilled_stays_gone() -> Result<()> {
    for (name, script) in
        [("answered", Some(SLOW_ANSWER)), ("not answered", Some(NO_ANSWER)), ("no model", None)]
    {
        let Some(place) = Place::new(script)? else { return Ok(()) };
        let tree = place.work_tree("tree")?;
        place.stop(&tree)?;
        match script {
            Some(_) => place.wait_for_question()?,
            // What is written into the memory is marked a moment later.
            None => wait_for("an entry", || {
                Ok(fs::read_to_string(tree.join(".wyren/memory.md"))?.contains("Postgres"))
            })?,
        }
        place.remove_work_tree(&tree).context(name)?;
        place.wait_for_silence()?;
        place.add_again(&tree).context(name)?;
    }
    Ok(())
}

#[test]
fn d3_a_memory_that_is_removed_alone_stays_removed() -> Result<()> {
    for script in [SLOW_ANSWER, NO_ANSWER] {
        let Some(place) = Place::new(Some(script))? else { return Ok(()) };
        let project = place.sandbox.project();
        place.stop(&project)?;
        place.wait_for_question()?;
        fs::remove_dir_all(project.join(".wyren"))?;
        place.check_job(true)?;
        assert!(!project.join(".wyren").exists(), "{:?}", contents(&project.join(".wyren")));
    }
    Ok(())
}

#[test]
fn d3_a_job_that_waits_for_the_watermark_of_a_removed_project_writes_nothing() -> Result<()> {
    let Some(place) = Place::new(None)? else { return Ok(()) };
    let project = place.sandbox.project();
    let lock = keep_workers_out(&place.sandbox)?;
    place.stop(&project)?;
    drop(lock);
    let state = project.join(".wyren/state");
    let watermark = File::options().append(true).create(true).open(state.join("watermark.lock"))?;
    watermark.lock()?;
    let mut worker = place.command("wyren-worker", &project).stderr(Stdio::null()).spawn()?;
    // Taken right before the watermark.
    wait_for("a distillation", || Ok(state.join("distill.lock").exists()))?;
    fs::remove_dir_all(project.join(".wyren"))?;
    drop(watermark);
    assert!(worker.wait()?.success());
    place.check_job(true)?;
    assert!(!project.join(".wyren").exists(), "{:?}", contents(&project.join(".wyren")));
    Ok(())
}

#[cfg(unix)]
#[test]
fn d3_a_clone_that_goes_during_a_background_sync_stays_gone() -> Result<()> {
    let remote = Remote::new(Mode::Branch)?;
    for removes_memory_alone in [false, true] {
        let Some(member) = Member::set_up(&remote, "b", Mode::Branch)? else { return Ok(()) };
        let (clone, folder) = (member.clone_folder(), member.sandbox.folder());
        // Tells that it was asked, waits until the test goes on, then answers as the remote would.
        let (asked, go, ssh) = (folder.join("asked"), folder.join("go"), folder.join("ssh"));
        let script = format!(
            "#!/bin/sh\n: > '{}'\nwhile [ ! -e '{}' ]; do sleep 0.01; done\nshift\nexec sh -c \"$*\"\n",
            asked.display(),
            go.display()
        );
        fs::write(&ssh, script)?;
        fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let address = format!("ssh://nowhere.invalid{}", remote.path().display());
        git(&clone, &["remote", "set-url", "origin", &address])?;
        let mut command = member.command("wyren");
        command.env("GIT_SSH_COMMAND", format!("'{}'", ssh.display())).env("GIT_SSH_VARIANT", "simple");
        let mut sync = command.args(["sync", "--background"]).stderr(Stdio::null()).spawn()?;
        wait_for("a question to the remote", || Ok(asked.exists()))?;
        let removed = if removes_memory_alone { clone.join(".wyren") } else { clone.clone() };
        fs::remove_dir_all(&removed)?;
        fs::write(&go, "")?;
        sync.wait()?;
        assert!(!removed.exists(), "{:?}", contents(&removed));
    }
    Ok(())
}

#[test]
fn d3_hooks_make_no_folder_for_a_project_that_is_gone() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let gone = sandbox.folder().join("gone");
    for hook in sandbox.hooks()? {
        let input = json!({"session_id": "s", "cwd": gone, "prompt": "go on", "source": "startup", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_response": {}, "transcript_path": gone.join("t.jsonl")});
        let output = sandbox.run(&hook, input.to_string().as_bytes())?;
        assert!(output.status.success(), "{hook}: {output:?}");
        assert!(!gone.exists(), "{hook}: {:?}", contents(&gone));
    }
    Ok(())
}

#[test]
fn a_data_folder_that_is_called_as_a_project_s_is_made_all_the_same() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    let data = sandbox.folder().join("home/.wyren");
    let mut command = sandbox.command("session-start-reset");
    let output = feed(command.env("WYREN_DATA_DIR", &data), br#"{"session_id":"s","source":"startup"}"#)?;
    assert!(output.status.success(), "{output:?}");
    assert!(data.join("logs/hooks.jsonl").is_file(), "{:?}", contents(&data));
    Ok(())
}
