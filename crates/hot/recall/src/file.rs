//! A Read: shows what was done and learned in the file before, once per file and window. The body of `file-recall`.
//!
//! A subagent has a window of its own, which holds nothing of what its parent's was shown, and its claims are its own
//! anyway: it gets the same lines, fewer of them, since it often reads many files for one answer.

use crate::{layout, place, wording};
use capture::Rules;
use hook::{Answer, Event as _, Host, Keep, PreToolUse};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The tool whose calls are answered.
const TOOL: &str = "Read";
/// How long the lines about a file are, in characters: with what goes around them some 1,500.
const MAX_CHARS: usize = 900;
/// The same for a subagent.
const MAX_AGENT_CHARS: usize = 450;

/// The part of a Read's input that matters here.
#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    file_path: Option<Cow<'a, str>>,
}

/// Answers a Read with the lines about its file; silent when there are none, or when they were shown in this window.
pub fn answer(call: &PreToolUse, host: &Host) -> Answer<PreToolUse> {
    find(call, host).unwrap_or_else(Answer::silent)
}

fn find(call: &PreToolUse, host: &Host) -> Option<Answer<PreToolUse>> {
    if call.tool_name.as_deref() != Some(TOOL) {
        return None;
    }
    let input: Input<'_> = serde_json::from_str(call.tool_input.map_or("", RawValue::get)).ok()?;
    let cwd = host.cwd(call);
    let root = place::root_of(&cwd);
    let cache = place::open(&host.paths, root)?;
    let file = cwd.join(&*input.file_path?);
    let path = journal_path(&file, root)?;
    let mut lines = wording::lines(&cache, &cache.about_file(&path));
    if let Some(session) = call.session_id().filter(|_| call.agent_id().is_none()) {
        // What this session did itself is in its window.
        let own = layout::session_tag(session);
        lines.retain(|line| line.session != own);
    }
    if lines.is_empty() || is_left_alone(call.session_id(), &cwd, host) {
        return None;
    }
    let claim = host.claims(call).take(&format!("file-recall {}", file.display()), Keep::UntilCompaction)?;
    let most = if call.agent_id().is_some() { MAX_AGENT_CHARS } else { MAX_CHARS };
    let text = wording::about_file(&path, &lines, most, &host.fence(call));
    Some(Answer::context(text).claiming([claim]))
}

/// Returns whether nothing is to be shown here: under a private prompt, and in a folder that the user excluded or paused. With
/// capture off, what is known is shown all the same: this only reads.
pub(crate) fn is_left_alone(session: Option<&str>, cwd: &Path, host: &Host) -> bool {
    session.is_some_and(|session| host.paths.is_private(session))
        || Rules::of(host.settings(), &host.env).excludes(cwd)
}

/// Returns a path as the journal writes it: relative to the root with `/`, absolute outside of it.
pub(crate) fn journal_path(file: &Path, root: &Path) -> Option<String> {
    let file: PathBuf = file.components().collect();
    let path = file.strip_prefix(root).unwrap_or(&file).to_str()?;
    Some(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
}
