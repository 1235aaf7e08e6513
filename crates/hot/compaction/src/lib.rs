//! What happens before a window is compacted: `wyren handoff precompact` saves a handoff of it. The compaction goes on, unless
//! the user's environment has it stopped as lessons-learned did.

mod ask;
mod wish;

use base::log::Level;
use base::notice::{self, About, Compacted, Key};
use capture::Rules;
use hook::{Answer, Event as _, Host, Keep, Outcome, PreCompact};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use transcript::{Scope, tail};
use window::size::{Around, Window};
use window::{Notes, Size};
use wish::Wish;

/// What `wyren handoff precompact` is asked, as JSON on its standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked<'a> {
    pub session: Cow<'a, str>,
    pub transcript: Cow<'a, str>,
    pub cwd: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<Cow<'a, str>>,
    /// The size of the window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Whether a model is asked as well.
    #[serde(default)]
    pub asks_model: bool,
    /// Whether another session shall go on from it, because this one is stopped.
    #[serde(default)]
    pub is_for_another: bool,
}

/// What `wyren handoff precompact` answers, as JSON on its standard output; nothing where there is nothing to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// What `wyren handoff show` finds it by.
    pub name: String,
    pub folder: String,
    /// The handoff as lessons-learned printed it.
    pub text: String,
}

/// Says whether this is the first compaction since the prompt. The client asks again before every request for as long as an
/// automatic one is stopped.
pub fn is_first(call: &PreCompact, host: &Host) -> bool {
    let name = format!("handoff-{}", call.prompt_id().unwrap_or_default());
    is_manual(call) || host.claims(call).take_for_good(&name, Keep::UntilCompaction)
}

/// Has a handoff saved, if this `is_first`, and stops the compaction where the user wants that.
pub fn answer(call: &PreCompact, host: &Host, is_first: bool) -> Outcome<PreCompact> {
    let transcript = call.transcript_path.as_deref().filter(|path| !path.is_empty());
    // Transcripts of other agents have other forms; a subagent's window is its own affair.
    let (Some(session), Some(transcript), None, None) =
        (call.session_id(), transcript, call.agent_id(), host.agent())
    else {
        return Ok(Answer::silent());
    };
    let rules = Rules::of(host.settings(), &host.env);
    let cwd = host.cwd(call);
    // The client may keep no transcript.
    if !rules.sees_prompts() || !rules.records_in(&cwd) || !Path::new(transcript).is_file() {
        return Ok(Answer::silent());
    }
    let wish = Wish::of(&host.env, is_manual(call));
    if !is_first {
        // What an earlier prompt left is no handoff of this one.
        let is_stopped = wish.stops() && host.claims(call).is_taken(&saved_name(call));
        return Ok(if is_stopped { wish::stop_again() } else { Answer::silent() });
    }
    let asked = Asked {
        session: session.into(),
        transcript: transcript.into(),
        cwd: cwd.to_string_lossy(),
        prompt_id: call.prompt_id().filter(|id| !id.is_empty()).map(Cow::from),
        window: window_of(call, Path::new(transcript), host),
        asks_model: wish.asks_model(),
        is_for_another: wish.stops(),
    };
    let saved = match ask::ask(&asked, host) {
        Ok(Some(saved)) => saved,
        Ok(None) => return Ok(Answer::silent()),
        Err(error) => {
            host.log(Level::Warn, &format!("could not save a handoff: {error}"));
            match wish.stops() {
                true => tell(session, Compacted::Unsaved, host),
                // One that waits to be shown is of an earlier compaction.
                false => notice::withdraw(&host.paths, About::Everything, Key::Saved),
            }
            return Ok(Answer::silent());
        }
    };
    // The context's name has words of a prompt, which no log has.
    let id = saved.name.rsplit('/').next().unwrap_or_default();
    host.log(Level::Info, &format!("saved the handoff {id}"));
    host.claims(call).take_for_good(&saved_name(call), Keep::UntilCompaction);
    // The client shows nothing of an automatic compaction that is stopped, and nothing of one that goes on.
    match (wish.stops(), is_manual(call)) {
        (false, _) => tell(session, Compacted::Saved(&saved.name), host),
        (true, false) => tell(session, Compacted::Stopped(&saved.name), host),
        (true, true) => {}
    }
    Ok(wish.answer(saved))
}

/// Has the next prompt say what happened.
fn tell(session: &str, what: Compacted<'_>, host: &Host) {
    notice::compacted(&host.paths, session, what).unwrap_or_else(|error| {
        host.log(Level::Warn, &format!("could not leave a notice: {error}"));
    });
}

/// The claim of a handoff that was saved since the prompt.
fn saved_name(call: &PreCompact) -> String {
    format!("handoff-saved-{}", call.prompt_id().unwrap_or_default())
}

fn is_manual(call: &PreCompact) -> bool {
    call.trigger.as_deref() == Some("manual")
}

fn window_of(call: &PreCompact, transcript: &Path, host: &Host) -> Option<u64> {
    let last = tail::last_usage(transcript, Scope::Main).ok().flatten()?;
    let window =
        Window { used: last.usage.context_tokens(), is_subagent: false, model: last.model.as_deref() };
    let project = host.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| host.cwd(call), PathBuf::from);
    let around = Around { env: &host.env, paths: &host.paths, project };
    Some(Size::of(window, &Notes::beside(&host.claims(call)), &around).tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    fn call(trigger: &str, prompt: &str) -> PreCompact {
        // Any file will do: nothing reads it.
        let event = serde_json::json!({"hook_event_name": "PreCompact", "session_id": "s", "trigger": trigger,
            "transcript_path": concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "cwd": "/nowhere/p", "prompt_id": prompt});
        serde_json::from_str(event.to_string().leak()).unwrap()
    }

    fn host(folder: &Path, more: &[(&str, &str)]) -> Host {
        let data = folder.to_string_lossy().into_owned();
        // Claims are in the folder for run-time files.
        let mut variables = vec![("WYREN_DATA_DIR", data.as_str()), ("XDG_RUNTIME_DIR", data.as_str())];
        variables.extend(more);
        Host::new("precompact-handoff", Env::fixed(variables))
    }

    #[test]
    fn an_automatic_compaction_is_first_once_for_a_prompt_and_a_manual_one_always() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), &[]);
        let first = |trigger: &str, prompt: &str| is_first(&call(trigger, prompt), &host);
        assert!(first("auto", "p1") && !first("auto", "p1") && first("auto", "p2"));
        assert!(first("manual", "p1") && first("manual", "p1"));
    }

    #[test]
    fn a_handoff_that_cannot_be_saved_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let variables = [("LESSONS_PRECOMPACT_HANDOFF", "all")];
        let host = host(folder.path(), &variables);
        // There is no `wyren` beside a test.
        assert!(answer(&call("manual", "p"), &host, true).unwrap().texts().is_empty());
        let log = std::fs::read_dir(folder.path().join("logs")).unwrap().count();
        assert_eq!(log, 1);
    }

    #[test]
    fn without_a_handoff_of_this_prompt_no_compaction_is_stopped_and_the_user_hears_why() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), &[("LESSONS_PRECOMPACT_HANDOFF", "all")]);
        notice::compacted(&host.paths, "s", Compacted::Stopped("an-earlier-one")).unwrap();
        for _ in 0..3 {
            let call = call("auto", "p");
            let is_first = is_first(&call, &host);
            assert!(answer(&call, &host, is_first).unwrap().texts().is_empty());
        }
        let notices = std::fs::read_dir(host.paths.notices()).unwrap();
        let notices: String =
            notices.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert!(
            notices.contains("no handoff could be saved") && !notices.contains("an-earlier-one"),
            "{notices}"
        );
    }

    #[test]
    fn where_nothing_is_recorded_nothing_is_saved_and_nothing_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        for rule in [("WYREN_CAPTURE", "off"), ("WYREN_HOOKS_DISABLED", "prompt-record")] {
            let host = host(folder.path(), &[rule, ("LESSONS_PRECOMPACT_HANDOFF", "all")]);
            assert!(answer(&call("manual", "p"), &host, true).unwrap().texts().is_empty());
            assert!(answer(&call("auto", "p"), &host, false).unwrap().texts().is_empty());
        }
        assert!(!folder.path().join("logs").exists(), "nothing was started");
    }
}
