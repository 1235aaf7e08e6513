//! What is shown: from the client, the notes of hooks, the repository's HEAD and the cache.

use crate::cache::{FRESH_MILLIS, Status};
use crate::input::Input;
use base::project::Repository;
use base::{Env, Paths, Timestamp, files};
use hook::Claims;
use std::path::PathBuf;
use text::sanitize::one_line;
use window::Notes;
use window::notes::Told;

/// The permission mode of a session that plans.
const PLAN: &str = "plan";

/// The longest name that is looked at, in characters; drawing cuts more.
const MAX_CHARS: usize = 80;

/// More than the id of a context has.
const MAX_ID_BYTES: usize = 256;

/// All that can be shown. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub model: Option<String>,
    /// How much of the window is left, in percent.
    pub left: Option<u8>,
    pub project: String,
    pub branch: Option<String>,
    pub ahead: u64,
    pub behind: u64,
    pub dirty: u64,
    pub is_planning: bool,
    pub context: Option<String>,
    pub task: Option<String>,
    pub news: u64,
    pub lessons: u64,
    /// What Wyren's model calls cost today, in millionths of a dollar.
    pub spent_micros: u64,
    /// The project's root folder.
    pub root: PathBuf,
    /// Whether the cache has nothing about the project or the session's task, or nothing new enough.
    pub is_stale: bool,
}

impl Facts {
    /// Gathers what there is, and leaves the window's size for the hooks.
    pub fn gather(input: &Input<'_>, env: &Env, paths: &Paths, now: Timestamp) -> Self {
        let workspace = input.workspace.as_ref();
        let folder =
            workspace.and_then(|workspace| workspace.current_dir.as_deref()).or(input.cwd.as_deref());
        let folder = folder.map(PathBuf::from).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let repository = Repository::above(&folder);
        let root = repository.as_ref().map_or(folder, |repository| repository.root.clone());
        let notes = notes(input, paths);
        note_size(input, &notes);
        let mode = input.prompt_id.as_deref().and_then(|prompt| notes.mode(prompt));
        let branch = repository.and_then(|repository| repository.branch());
        let status = Status::read(paths);
        let known = status.project(&root);
        let is_old = |at: u64| now.millis().abs_diff(at) > FRESH_MILLIS;
        // Another session in the project may have it looked at all the time, and never this one's task.
        let is_stale = known.is_none_or(|known| is_old(known.at))
            || session(input).is_some_and(|session| status.task_at(session).is_none_or(is_old));
        let known = known.cloned().unwrap_or_default();
        let is_of_branch = known.branch == branch;
        let spent_today = now.to_string().starts_with(&status.day) && !status.day.is_empty();
        let model = input.model.as_ref();
        let model = model.and_then(|model| model.display_name.as_deref().or(model.id.as_deref()));
        let on_one_line = |text: &str| one_line(text, MAX_CHARS);
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        Self {
            model: model.map(on_one_line),
            left: input.context_window.as_ref().and_then(crate::input::ContextWindow::left),
            project: on_one_line(&name.unwrap_or_else(|| root.display().to_string())),
            branch: branch.as_deref().map(on_one_line),
            ahead: if is_of_branch { known.ahead } else { 0 },
            behind: if is_of_branch { known.behind } else { 0 },
            dirty: if is_of_branch { known.dirty } else { 0 },
            is_planning: mode.as_deref() == Some(PLAN),
            context: context(input, paths).or(known.context).as_deref().map(on_one_line),
            task: session(input).and_then(|session| status.task(session)).map(on_one_line),
            news: known.news.unwrap_or_default(),
            lessons: known.lessons,
            spent_micros: if spent_today { status.spent_micros } else { 0 },
            is_stale: is_stale && !env.is_on("WYREN_INTERNAL"),
            root,
        }
    }
}

/// Returns the name of the context that the session works on: its id without the time, as the session's own file says.
fn context(input: &Input<'_>, paths: &Paths) -> Option<String> {
    let id = files::read_text_capped(&paths.binding_file(session(input)?), MAX_ID_BYTES).ok()?;
    Some(id.splitn(3, '-').nth(2).unwrap_or(&id).trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the session's id.
pub(crate) fn session<'i>(input: &'i Input<'_>) -> Option<&'i str> {
    input.session_id.as_deref().filter(|session| !session.is_empty())
}

fn notes(input: &Input<'_>, paths: &Paths) -> Notes {
    Notes::beside(&Claims::new(&[paths.claims(), &paths.fallback_claims()], session(input), None))
}

/// Notes the window's size for hooks, which do not get it. What cannot be noted comes again with the next message.
fn note_size(input: &Input<'_>, notes: &Notes) {
    let Some(size) = input.context_window.as_ref().and_then(|window| window.context_window_size) else {
        return;
    };
    let model = input.model.as_ref().and_then(|model| model.id.as_deref()).unwrap_or_default();
    let _ = notes.tell(&Told { size, model: model.to_owned() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Project;

    #[test]
    fn a_session_is_stale_where_only_another_ones_task_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::fixed([("WYREN_DATA_DIR", folder.path().to_str().unwrap())]);
        let (paths, now) = (Paths::of(&env), Timestamp::now());
        let mut status = Status::default();
        status.set_project(folder.path(), Project { at: now.millis(), ..Project::default() });
        status.set_task("none", None, now.millis());
        status.set_task("old", Some("Draw".to_owned()), now.millis() - FRESH_MILLIS - 1);
        status.write(&paths).unwrap();
        for (session, expected) in [("none", false), ("old", true), ("new", true), ("", false)] {
            let told = serde_json::json!({"session_id": session, "cwd": folder.path()}).to_string();
            let input: Input<'_> = serde_json::from_str(&told).unwrap();
            assert_eq!(Facts::gather(&input, &env, &paths, now).is_stale, expected, "{session}");
        }
    }
}
