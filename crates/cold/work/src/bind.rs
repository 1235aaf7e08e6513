//! Binds sessions to contexts: which file says so, and which context a prompt belongs to.
//!
//! The observation is appended first and the session's file written second. A process that is killed in between leaves a
//! session without its file: the next prompt finds the observation and writes the file.

use crate::caret::{Wish, wish};
use crate::contexts::read::{self, Filed, Which};
use crate::contexts::write::{self, Place, Writer};
use crate::contexts::{Action, Context, KIND, Work, id, plan};
use crate::restore::{self, Start};
use crate::resume;
use crate::words::{self, Viewer};
use base::lock::Lock;
use base::project::Project;
use base::{Paths, Timestamp, files, secret};
use binding::{Asked, Bound};
use capture::{CLAUDE_CODE, Observation, Spool};
use hook::caret::Caret;
use std::io;
use std::path::Path;
use std::time::Duration;
use store::Store;
use text::privacy;
use text::sanitize::Fence;

/// How long to wait for others that bind: each takes some milliseconds.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How much of a session's spool is looked through, in lines and bytes: a session that is not bound has sent no prompt yet.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 256 * 1024;
/// The most contexts that are offered at once.
const MOST_OFFERED: usize = 3;
/// The most bytes of the whole text for the model: the client takes no more than 10,000 UTF-16 units from all of it.
const MAX_BYTES: usize = 9_000;
/// The slash command that goes on from a handoff.
const RESUME: &str = "/wyren:handoff-resume";
/// How the slash commands of Wyren begin that the model carries out.
const COMMANDS: [&str; 2] = ["/wyren:", "/wyren-"];
/// How a context came about that a prompt made.
const AUTO_CREATED: &str = "auto-created";

/// Why a session could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("another process binds sessions and does not finish")]
    Busy,
    #[error("could not write to the folder of contexts")]
    Io(#[from] io::Error),
    #[error("could not record it")]
    Write(#[from] write::Error),
    #[error("could not read the contexts")]
    Store(#[from] store::Error),
}

/// What a session that takes up a context may get of it.
#[derive(Clone, Debug, Default)]
pub struct Taste {
    /// The most bytes of its handoff, plan and open tasks.
    pub most_bytes: usize,
    /// The list of tasks that several sessions share, as the client's variable names it.
    pub shared_list: Option<String>,
}

/// What binding needs of the database, which not every session has.
pub trait Desk {
    /// Returns the contexts as they were when something was last taken in; `None` where there are none.
    fn store(&mut self) -> Option<&Store>;
    /// Takes in what was recorded since.
    fn catch_up(&mut self);
}

/// Keeps other processes from making contexts and binding sessions.
pub fn lock(paths: &Paths) -> Result<Lock, Error> {
    files::create_private_folder(&paths.bindings())?;
    Lock::exclusive(&paths.bindings().join(".lock"), PATIENCE)?.ok_or(Error::Busy)
}

/// Returns the ids that folders and files of sessions name, whether or not there are such contexts.
pub fn named(paths: &Paths) -> Result<Vec<String>, Error> {
    if !paths.work().is_dir() {
        return Ok(Vec::new());
    }
    // What is being made now has its folder before its observation.
    let _lock = lock(paths)?;
    let folders = std::fs::read_dir(paths.work())?.flatten();
    let mut ids: Vec<String> =
        folders.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    for file in files::files_in(&paths.bindings()) {
        ids.push(String::from_utf8_lossy(&files::read_capped(&file, MOST_BYTES)?).into_owned());
    }
    ids.retain(|id| id::check(id).is_ok());
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// Frees the sessions of a context: the next prompt of each looks for a context again.
pub fn release(paths: &Paths, context: &Context) -> io::Result<()> {
    for binding in &context.sessions {
        let session = &binding.session.id;
        if write::read_binding(paths, session).as_deref() == Some(&*context.id) {
            write::remove_binding(paths, session)?;
        }
    }
    Ok(())
}

/// Removes what is left of contexts that are no more: their folders, and the files of sessions that were bound to them.
pub fn sweep(paths: &Paths, gone: &[String]) -> io::Result<()> {
    for file in files::files_in(&paths.bindings()) {
        let context = files::read_capped(&file, MOST_BYTES)?;
        if gone.iter().any(|id| id.as_bytes() == context) {
            files::remove_if_there(&file)?;
        }
    }
    for id in gone.iter().filter(|id| id::check(id).is_ok()) {
        match std::fs::remove_dir_all(paths.work().join(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Finds the context that a prompt belongs to, and binds its session to it.
pub fn bind(
    asked: &Asked<'_>,
    taste: &Taste,
    paths: &Paths,
    desk: &mut dyn Desk,
    now: Timestamp,
) -> Result<Bound, Error> {
    // The command that goes on from a handoff binds the session itself, to the handoff's context.
    let is_resuming = asked.prompt.trim_start().starts_with(RESUME);
    if is_resuming || privacy::strip(&asked.prompt).wholly_private {
        return Ok(Bound::default());
    }
    let _lock = lock(paths)?;
    let cwd = Path::new(&*asked.cwd);
    let place = Place {
        platform: asked.platform.as_deref(),
        session: asked.session.as_ref().into(),
        cwd,
        prompt_id: asked.prompt_id.as_deref(),
    };
    let (project, writer) = (Project::of(cwd), Writer::new(paths, place, now));
    let binder = Binder { asked, taste, paths, project, writer };
    match Caret::of(&asked.prompt) {
        Some(caret) => binder.obey(&caret, desk),
        None => binder.find(desk),
    }
}

struct Binder<'a> {
    asked: &'a Asked<'a>,
    taste: &'a Taste,
    paths: &'a Paths,
    project: Project,
    writer: Writer<'a>,
}

impl Binder<'_> {
    fn obey(&self, caret: &Caret<'_>, desk: &mut dyn Desk) -> Result<Bound, Error> {
        desk.catch_up();
        // A call may have left the folder of the session since.
        let filed = self.filed(desk)?;
        let contexts =
            self.of_project(filed.as_ref(), desk, |store, row| read::list(store, Some(row), Which::Open))?;
        let bound = write::read_binding(self.paths, &self.asked.session);
        let viewer = Viewer {
            project: filed.as_ref().map_or(&self.project.name, |filed| &filed.name),
            context: bound.as_deref(),
            now: self.writer.now,
        };
        let (ended, selected, rest) = match wish(caret, &contexts, &viewer) {
            Wish::Answer(text) => return Ok(Bound { block: Some(text), ..Bound::default() }),
            Wish::Begin(text) => {
                let id = self.begin(text)?;
                return Ok(Bound { context: Some(words::begun(&id)), ..Bound::default() });
            }
            Wish::Change { ended, selected, rest } => (ended, selected, rest),
        };
        for context in &ended {
            self.writer.act(&context.id, Action::Done)?;
            release(self.paths, context)?;
        }
        let told = words::ended(&ended);
        let Some(selected) = selected else {
            let left: Vec<Context> =
                contexts.iter().filter(|context| !ended.contains(context)).cloned().collect();
            let unsent = words::unsent(rest);
            let text = format!("{told}{unsent}\n{}", words::picker(&left, &viewer));
            return Ok(Bound { block: Some(text), ..Bound::default() });
        };
        self.bind_to(&selected.id, "caret")?;
        let typed = self.asked.prompt.trim_end();
        let typed = typed.strip_suffix(rest).unwrap_or(typed).trim();
        Ok(Bound {
            context: Some(self.taken_up(selected, Some(typed), desk)?),
            message: Some(format!("{told}{}", words::works_on(selected))),
            block: None,
        })
    }

    fn find(&self, desk: &mut dyn Desk) -> Result<Bound, Error> {
        if write::read_binding(self.paths, &self.asked.session).is_some() {
            // Another prompt of this session came first.
            return Ok(Bound::default());
        }
        if let Some(context) = self.bound_before(desk)? {
            write::write_binding(self.paths, &self.asked.session, &context)?;
            return Ok(Bound::default());
        }
        // They do not say what the work is, nor does an image alone. The next prompt does, or the title of the handoff that is saved.
        let prompt = self.asked.prompt.trim_start();
        if prompt.is_empty() || COMMANDS.iter().any(|command| prompt.starts_with(command)) {
            return Ok(Bound::default());
        }
        if resume::is_wish(prompt) {
            // The session that left it may have ended a moment ago.
            desk.catch_up();
        }
        let staged = self.of_project(None, desk, read::staged)?;
        for (found, via) in [
            (carried(&self.asked.prompt, &staged), "plan"),
            (resume::asked_for(&self.asked.prompt, &staged), "resume"),
        ] {
            if let Some(context) = found {
                // It may take long, and a session that is bound already gets nothing with its next prompt.
                desk.catch_up();
                self.bind_to(&context.id, via)?;
                let text = self.taken_up(context, None, desk)?;
                let message = (!self.asked.is_headless).then(|| words::works_on(context));
                return Ok(Bound { context: Some(text), message, block: None });
            }
        }
        let mut bound = Bound::default();
        let mut offered: Vec<Context> = staged.into_iter().filter(|context| !context.is_offered).collect();
        offered.truncate(MOST_OFFERED);
        // With no person to read it, it is not offered.
        if !offered.is_empty() && !self.asked.is_headless {
            for context in &offered {
                self.writer.act(&context.id, Action::Offered)?;
            }
            bound.message = Some(words::offer(&offered));
        }
        self.begin(&self.asked.prompt)?;
        Ok(bound)
    }

    /// Returns what the model reads when its session goes on with a context: what it is, and what is left to do in it.
    fn taken_up(&self, context: &Context, typed: Option<&str>, desk: &mut dyn Desk) -> Result<String, Error> {
        let fence = Fence::new(secret::word(self.paths, &self.asked.session));
        let mut text = words::selected(context, typed, &fence);
        desk.catch_up();
        let Some(store) = desk.store() else { return Ok(text) };
        let start = Start {
            platform: self.asked.platform.as_deref().unwrap_or(CLAUDE_CODE),
            session: &self.asked.session,
            shared_list: self.taste.shared_list.as_deref(),
            ..Start::default()
        };
        // The session is bound by now: without the rest of the text, too.
        let mut parts = restore::of_context(store.connection(), context, &start).unwrap_or_default();
        let has_plan =
            |found: &crate::plans::Plan| plan::Prompt::new(&self.asked.prompt).has_all_of(&found.text);
        parts.is_plan_in_window = parts.plan.as_ref().is_some_and(has_plan);
        let room = self.taste.most_bytes.min(MAX_BYTES.saturating_sub(text.len() + 1));
        let left = parts.text(room, &fence).text;
        if !left.is_empty() {
            text.push('\n');
            text.push_str(&left);
        }
        Ok(text)
    }

    /// Returns the context that this session works on, as observations say: its file was lost, or another session went on here.
    fn bound_before(&self, desk: &mut dyn Desk) -> Result<Option<String>, Error> {
        let stored = |desk: &mut dyn Desk| -> Result<Option<String>, Error> {
            let Some(store) = desk.store().filter(|store| read::is_made(store)) else { return Ok(None) };
            Ok(read::of_session(store, self.asked.platform.as_deref(), &self.asked.session)?)
        };
        let spooled = Spooled::read(&Spool::new(self.paths.spool()), &self.asked.session);
        if spooled.context.is_some() {
            // What ended since is not in the spool of this session.
            desk.catch_up();
            return stored(desk);
        }
        if let Some(context) = stored(desk)? {
            return Ok(Some(context));
        }
        if !spooled.goes_on {
            return Ok(None);
        }
        desk.catch_up();
        stored(desk)
    }

    /// Returns contexts of the project that the session is filed under, else of that of its folder.
    fn of_project(
        &self,
        filed: Option<&Filed>,
        desk: &mut dyn Desk,
        look: impl Fn(&Store, i64) -> Result<Vec<Context>, store::Error>,
    ) -> Result<Vec<Context>, Error> {
        let Some(store) = desk.store().filter(|store| read::is_made(store)) else { return Ok(Vec::new()) };
        let row = match filed {
            Some(filed) => Some(filed.row),
            None => read::project_row(store, &self.project.key)?,
        };
        Ok(row.map_or(Ok(Vec::new()), |row| look(store, row))?)
    }

    fn filed(&self, desk: &mut dyn Desk) -> Result<Option<Filed>, Error> {
        let Some(store) = desk.store() else { return Ok(None) };
        Ok(read::filed(store, self.asked.platform.as_deref(), &self.asked.session)?)
    }

    fn begin(&self, text: &str) -> Result<String, Error> {
        let permission_mode = self.asked.permission_mode.as_deref().map(str::to_owned);
        let id = self.writer.make(text, |summary| Action::New {
            summary,
            tags: Vec::new(),
            method: AUTO_CREATED.to_owned(),
            bind: true,
            permission_mode,
        })?;
        write::write_binding(self.paths, &self.asked.session, &id)?;
        Ok(id)
    }

    fn bind_to(&self, id: &str, via: &str) -> Result<(), Error> {
        let permission_mode = self.asked.permission_mode.as_deref().map(str::to_owned);
        self.writer.act(id, Action::Bind { via: via.to_owned(), permission_mode })?;
        Ok(write::write_binding(self.paths, &self.asked.session, id)?)
    }
}

/// Returns the context whose plan a prompt carries: the surest match, and of equal ones the latest.
fn carried<'c>(prompt: &str, staged: &'c [Context]) -> Option<&'c Context> {
    let plans = staged.iter().filter_map(|context| {
        let marks = context.artifact.as_ref().and_then(|artifact| artifact.marks.as_ref())?;
        Some((context, marks))
    });
    let plans: Vec<_> = plans.collect();
    if plans.is_empty() {
        return None;
    }
    let prompt = plan::Prompt::new(prompt);
    let found = plans.into_iter().filter_map(|(context, marks)| Some((marks.find_in(&prompt)?, context)));
    // Of equal ones, the first is the latest.
    found.min_by_key(|(tier, _)| *tier).map(|(_, context)| context)
}

/// What the spool has of a session.
#[derive(Debug, Default)]
struct Spooled {
    /// The context that it was bound to.
    context: Option<String>,
    /// Whether it began with a prompt that another session may have ended with.
    goes_on: bool,
}

impl Spooled {
    fn read(spool: &Spool, session: &str) -> Self {
        let mut found = Self::default();
        for file in spool.files_of_session(session).unwrap_or_default() {
            let Ok(batch) = file.read(0, MOST_LINES, MOST_BYTES) else { continue };
            for line in &batch.lines {
                let Some(observation) = Observation::read(line) else { continue };
                found.take(&observation);
            }
        }
        found
    }

    fn take(&mut self, observation: &Observation<'_>) {
        match observation.data.kind() {
            "session-start" => self.goes_on |= observation.prompt_id.is_some(),
            KIND => {
                let Ok(data) = observation.data.json() else { return };
                let Ok(work) = serde_json::from_str::<Work>(data.get()) else { return };
                let binds = matches!(
                    work.action,
                    Action::Bind { .. } | Action::Resumed { .. } | Action::New { bind: true, .. }
                );
                if binds {
                    self.context = Some(work.context);
                }
            }
            _ => {}
        }
    }
}
