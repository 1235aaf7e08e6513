//! What hooks left out does not come back by the client's transcript, which has it all the same: not into a handoff, a copy of the
//! transcript, the journal, a candidate for a lesson or a search.

use crate::engine::{export, files_with, prompt, wyren};
use crate::plans::{SHOWN, end, plan, start};
use crate::worker::wait_for;
use anyhow::{Result, ensure};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use wyren_tests::sandbox::{Sandbox, feed};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const KEEP: (&str, &str) = ("WYREN_CAPTURE_KEEP_TRANSCRIPTS", "true");

/// A session with the transcript that a client would have written of it.
struct Desk {
    sandbox: Sandbox,
    lines: Vec<String>,
}

impl Desk {
    fn new() -> Result<Option<Self>> {
        Ok(Sandbox::new()?.map(|sandbox| Self { sandbox, lines: Vec::new() }))
    }

    fn put(&mut self, kind: &str, content: Value, more: Value) {
        let number = self.lines.len();
        let mut line = json!({
            "type": kind, "uuid": format!("00000000-0000-4000-8000-{number:012}"), "sessionId": SESSION,
            "cwd": self.sandbox.project(), "isSidechain": false,
            "timestamp": format!("2026-11-18T10:{:02}:{:02}.000Z", number / 60, number % 60),
        });
        let more = more.as_object().cloned().unwrap_or_default();
        line.as_object_mut().into_iter().for_each(|line| line.extend(more.clone()));
        // The client writes a role before its content, and that is what a scan looks for.
        let message = format!(r#"{{"role":"{kind}","content":{content}}}"#);
        self.lines.push(line.to_string().replacen('{', &format!(r#"{{"message":{message},"#), 1));
    }

    /// A turn about a word: a call that fails, one that puts it right, and a reply.
    fn turn(&mut self, prompt_id: &str, word: &str, more: Value) {
        let mut head = json!({"promptId": prompt_id});
        let more = more.as_object().cloned().unwrap_or_default();
        head.as_object_mut().into_iter().for_each(|head| head.extend(more.clone()));
        self.put("user", json!(format!("We decided on {word}. Agreed, that is settled.")), head);
        let tries = [
            ("git status".to_owned(), None),
            (
                format!("cargo build --{word}-max 4"),
                Some(format!("error: unexpected argument '--{word}-max' found")),
            ),
            (format!("cargo build --{word} 4"), None),
            ("cargo test".to_owned(), None),
        ];
        for (command, error) in tries {
            let id = format!("toolu_{}", self.lines.len());
            let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
            self.put("assistant", call, json!({}));
            let result = json!([{"type": "tool_result", "tool_use_id": id, "is_error": error.is_some(),
                "content": error.map_or_else(|| "ok".to_owned(), |error| format!("Exit code 1\n{error}"))}]);
            self.put("user", result, json!({"promptId": prompt_id}));
        }
        self.put("assistant", json!([{"type": "text", "text": format!("The {word} is done.")}]), json!({}));
    }

    /// Has everything read the transcript that ever does.
    fn finish(&self) -> Result<()> {
        let folder = self.sandbox.folder().join("home/.claude/projects/p");
        fs::create_dir_all(&folder)?;
        let transcript = folder.join(format!("{SESSION}.jsonl"));
        fs::write(&transcript, self.lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        let event = |name: &str, more: Value| {
            let mut event = json!({"session_id": SESSION, "cwd": self.sandbox.project(), "prompt_id": "9",
                "transcript_path": transcript, "hook_event_name": name});
            let more = more.as_object().cloned().unwrap_or_default();
            event.as_object_mut().into_iter().for_each(|event| event.extend(more.clone()));
            event.to_string()
        };
        let hooks = [
            ("stop-summary", event("Stop", json!({"last_assistant_message": "done"}))),
            ("precompact-handoff", event("PreCompact", json!({"trigger": "manual"}))),
            ("session-end", event("SessionEnd", json!({"reason": "other"}))),
        ];
        for (hook, input) in hooks {
            let mut command = self.sandbox.command(hook);
            command
                .env(KEEP.0, KEEP.1)
                .env("WYREN_WORKER_IDLE_SECONDS", "0")
                .env("WYREN_MODEL_PROVIDER", "off");
            let output = feed(&mut command, input.as_bytes())?;
            ensure!(output.status.success() && output.stderr.is_empty(), "{hook}: {output:?}");
        }
        // The one that a hook started may still be at it.
        wait_for("a worker of our own", || {
            let mut command = self.sandbox.command("wyren");
            let output = feed(command.env(KEEP.0, KEEP.1).args(["worker", "run", "--until-idle"]), b"")?;
            Ok(output.status.success())
        })?;
        wyren(&self.sandbox, &["import", "--transcripts"])?;
        wyren(&self.sandbox, &["lessons", "scan"])?;
        export(&self.sandbox, &[]).map(drop)
    }

    /// Returns everything in the data folder that has a word, also in what is compressed.
    fn places_of(&self, word: &str) -> Result<Vec<PathBuf>> {
        let mut places = files_with(&self.sandbox.data(), word)?;
        for copy in fs::read_dir(self.sandbox.data().join("transcripts"))? {
            let path = copy?.path();
            let mut text = String::new();
            GzDecoder::new(fs::File::open(&path)?).read_to_string(&mut text)?;
            places.extend(text.contains(word).then_some(path));
        }
        Ok(places)
    }

    /// Checks that the open turn about `wren` is everywhere, and the one about `heron` nowhere.
    fn check(&self) -> Result<()> {
        let open: Vec<String> =
            self.places_of("wren-max")?.iter().map(|path| path.display().to_string()).collect();
        for place in ["wyren.db", "/handoffs/", "/transcripts/", "/lessons/candidates/"] {
            assert!(open.iter().any(|path| path.contains(place)), "{place}: {open:#?}");
        }
        assert_eq!(self.places_of("heron")?, Vec::<PathBuf>::new());
        // The name of a context has words of its prompt.
        assert_eq!(files_with(&self.sandbox.data().join("logs"), "wren-")?, Vec::<PathBuf>::new());
        Ok(())
    }

    fn found(&self, word: &str) -> Result<bool> {
        Ok(wyren(&self.sandbox, &["search", "--transcripts", "--json", word])?.contains(&format!("--{word}")))
    }
}

#[test]
fn what_a_private_plan_went_on_with_in_a_new_window() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    prompt(&desk.sandbox, "a", "1", "<private>plan it</private>")?;
    plan(&desk.sandbox, SHOWN, "a", "toolu_1", "# Plan")?;
    end(&desk.sandbox, "a", "1", "clear")?;
    start(&desk.sandbox, &[], "clear", SESSION, "1")?;
    // The client's own words, with the id of the prompt that the plan was made under.
    desk.turn("1", "heron", json!({"origin": {"kind": "auto-continuation"}, "planContent": "# Plan heron"}));
    prompt(&desk.sandbox, SESSION, "2", "now openly")?;
    desk.turn("2", "wren", json!({}));
    desk.finish()?;
    desk.check()?;
    assert!(desk.found("wren-max")? && !desk.found("heron-max")?);
    Ok(())
}

#[test]
fn what_was_done_while_recording_was_paused() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    wyren(&desk.sandbox, &["capture", "pause"])?;
    prompt(&desk.sandbox, SESSION, "1", "about the heron")?;
    desk.turn("1", "heron", json!({}));
    wyren(&desk.sandbox, &["capture", "resume"])?;
    prompt(&desk.sandbox, SESSION, "2", "now on")?;
    desk.turn("2", "wren", json!({}));
    desk.finish()?;
    desk.check()?;
    assert!(desk.found("wren-max")? && !desk.found("heron-max")?);
    Ok(())
}

#[test]
fn what_was_done_with_recording_off() -> Result<()> {
    let Some(mut desk) = Desk::new()? else { return Ok(()) };
    let input = json!({"session_id": SESSION, "cwd": desk.sandbox.project(), "prompt_id": "1",
        "prompt": "about the heron", "hook_event_name": "UserPromptSubmit"});
    let mut command = desk.sandbox.command("prompt-record");
    let output = feed(command.env("WYREN_CAPTURE", "false"), input.to_string().as_bytes())?;
    ensure!(output.status.success(), "{output:?}");
    desk.turn("1", "heron", json!({}));
    prompt(&desk.sandbox, SESSION, "2", "now on")?;
    desk.turn("2", "wren", json!({}));
    desk.finish()?;
    desk.check()
}
