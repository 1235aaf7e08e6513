//! Which context a prompt belongs to, as far as a hook decides it: a session that is bound costs one `stat`, and everything
//! else is asked of `wyren work bind`, which knows the contexts.

mod ask;

use base::log::Level;
use capture::Rules;
use hook::caret::Caret;
use hook::{Answer, Event as _, Host, Outcome, UserPromptSubmit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use text::privacy;

/// What `wyren work bind` is asked, as JSON on its standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked<'a> {
    pub session: Cow<'a, str>,
    /// `None` for Claude Code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Cow<'a, str>>,
    pub cwd: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// Without what is private.
    pub prompt: Cow<'a, str>,
    /// Whether no person reads along.
    #[serde(default)]
    pub is_headless: bool,
}

/// What `wyren work bind` answers, as JSON on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Shown in the place of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// For the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// For the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Binds the session of a prompt to a context, or answers a prompt that begins with `^`.
pub fn answer(call: &UserPromptSubmit, host: &Host) -> Outcome<UserPromptSubmit> {
    let (Some(prompt), Some(session), None) = (call.prompt.as_deref(), call.session_id(), call.agent_id())
    else {
        return Ok(Answer::silent());
    };
    let is_caret = Caret::of(prompt).is_some();
    if !is_caret && host.paths.binding_file(session).symlink_metadata().is_ok() {
        return Ok(Answer::silent());
    }
    let public = privacy::strip(prompt);
    let rules = Rules::of(host.settings(), &host.env);
    let cwd = host.cwd(call);
    if public.wholly_private || !rules.records_prompt(prompt) {
        return Ok(Answer::silent());
    }
    if !rules.sees_prompts() || !rules.records_in(&cwd) {
        let why = "Wyren records nothing here, so there are no contexts. `wyren capture status` says why.";
        return Ok(if is_caret { Answer::instead_of_prompt(why) } else { Answer::silent() });
    }
    let asked = Asked {
        session: session.into(),
        platform: host.agent().map(|agent| agent.name().into()),
        cwd: cwd.to_string_lossy(),
        prompt_id: call.prompt_id.as_deref().filter(|id| !id.is_empty()).map(Cow::from),
        permission_mode: call.permission_mode.as_deref().map(Cow::from),
        prompt: public.text,
        is_headless: host.is_headless(),
    };
    match ask::ask(&asked, is_caret, host) {
        Ok(bound) => Ok(bound.into_answer()),
        // A command must not reach the model as if it were a prompt.
        Err(error) if is_caret => {
            Ok(Answer::instead_of_prompt(format!("Wyren could not run `wyren work bind`: {error}.")))
        }
        Err(error) => {
            host.log(Level::Warn, &format!("could not bind the session to a context: {error}"));
            Ok(Answer::silent())
        }
    }
}

impl Bound {
    fn into_answer(self) -> Answer<UserPromptSubmit> {
        let mut answer = match self.block {
            Some(text) => Answer::instead_of_prompt(text).rest_at("`wyren work`"),
            None => self.context.map_or_else(Answer::silent, Answer::context),
        };
        if let Some(message) = self.message {
            answer = answer.telling_user(message);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;
    use std::fs;

    fn call(prompt: &str) -> UserPromptSubmit {
        let event = serde_json::json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt,
            "cwd": "/nowhere/p"});
        serde_json::from_str(event.to_string().leak()).unwrap()
    }

    fn host(folder: &std::path::Path, more: &[(&str, &str)]) -> Host {
        let data = folder.to_string_lossy().into_owned();
        let mut variables = vec![("WYREN_DATA_DIR", data.as_str())];
        variables.extend(more);
        Host::new("prompt-bind", Env::fixed(variables))
    }

    #[test]
    fn a_bound_session_is_left_alone_and_so_is_a_private_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), &[]);
        let silent = |prompt: &str| answer(&call(prompt), &host).unwrap().texts().is_empty();
        assert!(silent("<private>the merger</private>"));
        let file = host.paths.binding_file("s");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "261118-0905-x").unwrap();
        assert!(silent("go on"));
        assert!(!folder.path().join("logs").exists(), "nothing was started");
    }

    #[test]
    fn where_nothing_is_recorded_a_caret_is_refused_and_not_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), &[("WYREN_CAPTURE", "off")]);
        let answered = answer(&call("^"), &host).unwrap();
        assert!(answered.texts()[0].1.contains("records nothing here"));
        assert!(answer(&call("hello"), &host).unwrap().texts().is_empty());
    }

    #[test]
    fn a_caret_that_cannot_be_answered_is_not_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), &[]);
        // There is no `wyren` beside a test.
        let answered = answer(&call("^2"), &host).unwrap();
        assert!(answered.texts()[0].1.contains("could not run"));
        assert!(answer(&call("hello"), &host).unwrap().texts().is_empty(), "fails open");
    }
}
