//! `wyren statusline`: the setting to paste; and what the status line itself has done in the background.

use super::{install, status};
use crate::terminal;
use ::install::settings::shown::Member;
use ::statusline::cache::{FRESH_MILLIS, Project, Status};
use anyhow::{Context as _, Result};
use base::lock::Lock;
use base::project::Repository;
use base::{Env, Paths, Timestamp, detached};
use clap::Args;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;
use team_sync::WorkTree;

/// How long a refresh may take before it ends itself.
const CAP: Duration = Duration::from_secs(30);

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
        return refresh(&cwd, env, paths);
    }
    let text = Member::StatusLine.to_paste(&install::plugin_folder()?)?;
    Ok(terminal::exact_output().write_all(text.as_bytes())?)
}

/// Finds out what the status line shows of the project of a folder, unless another process does or just did.
fn refresh(cwd: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let Some(_lock) = Lock::exclusive(&paths.status_lock(), Duration::ZERO)? else { return Ok(()) };
    let now = Timestamp::now();
    let repository = Repository::above(cwd);
    let root = repository.map_or_else(|| cwd.to_owned(), |repository| repository.root);
    let mut status = Status::read(paths);
    let before = status.project(&root).cloned().unwrap_or_default();
    if now.millis().abs_diff(before.at) <= FRESH_MILLIS / 2 {
        return Ok(());
    }
    update(&mut status, &root, before, env, paths, now);
    Ok(status.write(paths)?)
}

fn update(status: &mut Status, root: &Path, before: Project, env: &Env, paths: &Paths, now: Timestamp) {
    let tree = WorkTree::of(root, env).unwrap_or_default();
    let brief = status::brief(root, env, paths, now);
    status.day = now.to_string().chars().take_while(|letter| *letter != 'T').collect();
    status.spent_micros = brief.spent_micros;
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
    status.set_project(root, project);
}
