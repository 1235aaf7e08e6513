//! `wyren statusline`: the setting to paste; and what the status line itself has done in the background.

use super::{install, status};
use crate::terminal;
use ::install::settings::shown::Member;
use ::statusline::cache::{FRESH_MILLIS, Project, Status};
use anyhow::{Context as _, Result};
use base::lock::Lock;
use base::project::Repository;
use base::{Env, Paths, Timestamp, detached};
use capture::{CLAUDE_CODE, Spool};
use clap::Args;
use journal::file_cache::Caches;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;
use store::Store;
use store::observations::Drain;
use team_sync::WorkTree;
use work::{line, tasks};

/// How long a refresh may take before it ends itself.
const CAP: Duration = Duration::from_secs(30);

/// How long to wait for another process that writes caches.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most lines that are taken in for the task in progress.
const MOST_LINES: usize = 5_000;

/// The longest subject of a task, in characters.
const SUBJECT_CHARS: usize = 80;

const EXAMPLES: &str = "\
Examples:
  wyren statusline --print             print the setting, to paste it into ~/.claude/settings.json
  wyren install --statusline           write it there
  wyren install --statusline local     write it into .claude/settings.local.json of this project";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print the setting as a settings file has it (the default).
    #[arg(long)]
    print: bool,
    /// Started by the status line: finds out what it shows of the project here. Prints nothing.
    #[arg(long, hide = true, conflicts_with = "print")]
    refresh: bool,
    /// The session whose task in progress it shows.
    #[arg(long, hide = true, requires = "refresh", value_name = "ID")]
    session: Option<String>,
}

impl Arguments {
    /// Returns whether the status line started it.
    pub(super) fn is_of_the_line(&self) -> bool {
        self.refresh
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.refresh {
        detached::leave_session();
        detached::end_after(CAP, || ());
        let cwd = std::env::current_dir().context("could not find the current folder")?;
        return refresh(&cwd, arguments.session.as_deref(), env, paths);
    }
    let plugin = install::plugin_folder()?;
    let text = Member::StatusLine.to_paste(&plugin)?;
    terminal::exact_output().write_all(text.as_bytes())?;
    if install::lasting(&plugin, paths) != plugin {
        // Until the next version of the plugin is there.
        writeln!(
            terminal::errors(),
            "wyren: this folder of the plugin may be deleted with its next version. `wyren install --statusline` copies the plugin \
             to where it stays, and writes the setting."
        )?;
    }
    Ok(())
}

/// Finds out what the status line shows of the project of a folder and of a session, unless another process does or just did.
fn refresh(cwd: &Path, session: Option<&str>, env: &Env, paths: &Paths) -> Result<()> {
    let Some(_lock) = Lock::exclusive(&paths.status_lock(), Duration::ZERO)? else { return Ok(()) };
    let now = Timestamp::now();
    let repository = Repository::above(cwd);
    let root = repository.map_or_else(|| cwd.to_owned(), |repository| repository.root);
    let before = Status::read(paths);
    let is_fresh = |at: u64| now.millis().abs_diff(at) <= FRESH_MILLIS / 2;
    let project = before.project(&root).cloned().unwrap_or_default();
    let is_known = is_fresh(project.at);
    if is_known && session.is_none_or(|session| before.task_at(session).is_some_and(is_fresh)) {
        return Ok(());
    }
    let looked = (!is_known).then(|| look(&root, project, env, paths, now));
    let store = session.and_then(|_| drained(paths));
    // `wyren forget` removes the file under this lock: no task that is read and written here is older.
    let Some(_caches) = Caches::lock(paths, PATIENCE)? else { return Ok(()) };
    let mut status = Status::read(paths);
    if let Some((project, spent_micros)) = looked {
        status.day = now.to_string().chars().take_while(|letter| *letter != 'T').collect();
        status.spent_micros = spent_micros;
        status.set_project(&root, project);
    }
    if let Some(session) = session {
        status.set_task(session, store.and_then(|store| task(session, &store)), now.millis());
    }
    Ok(status.write(paths)?)
}

/// Returns the database, if there is one, with what hooks have recorded.
fn drained(paths: &Paths) -> Option<Store> {
    let mut store = paths.database().exists().then(|| journal::open_store(paths).ok()).flatten()?;
    // Before anything is drained: afterwards this session would count as one from before publishing needed leave.
    let _ = store::known::note(paths);
    let _ =
        Drain::unbounded(&Spool::new(paths.spool())).at_most(MOST_LINES).run(&mut store, Timestamp::now());
    Some(store)
}

/// Returns the task of a session that was made last and is in progress.
fn task(session: &str, store: &Store) -> Option<String> {
    let row = line::row_of(store.connection(), CLAUDE_CODE, session).ok()??;
    let tasks = tasks::of_line(store.connection(), row).ok()?;
    let is_begun =
        |task: &tasks::Task| task.status == tasks::IN_PROGRESS && !task.is_deleted && task.agent.is_none();
    let task = tasks.into_iter().rfind(is_begun)?;
    Some(text::sanitize::one_line(&task.subject, SUBJECT_CHARS)).filter(|subject| !subject.is_empty())
}

/// Returns what is known of a project now, and what model calls cost today.
fn look(root: &Path, before: Project, env: &Env, paths: &Paths, now: Timestamp) -> (Project, u64) {
    let tree = WorkTree::of(root, env).unwrap_or_default();
    let brief = status::brief(root, env, paths, now);
    let project = Project {
        at: now.millis(),
        branch: tree.branch,
        ahead: tree.ahead,
        behind: tree.behind,
        dirty: tree.dirty,
        news: brief.news,
        lessons: brief.lessons,
        // What other commands leave.
        ..before
    };
    (project, brief.spent_micros)
}
