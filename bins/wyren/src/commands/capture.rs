//! `wyren capture`: stops and resumes recording in one project. It changes the setting `capture.paused_projects`, by which every
//! hook goes.

use crate::exit::Ending;
use crate::person;
use crate::projects;
use crate::terminal::{self, STRONG};
use anyhow::Result;
use base::project::{Project, Repository};
use base::settings::{self, Settings};
use base::{Env, Paths, files};
use capture::{Rule, Rules};
use clap::{Args, Subcommand};
use config::Config;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren capture status                     is this project recorded, and why not
  wyren capture pause                      record nothing in this project, its work trees and subfolders
  wyren capture resume --project ~/app     record it again";

const PAUSED: &str = "capture.paused_projects";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// A folder in the project [default: this one].
    #[arg(long, global = true, value_name = "PATH")]
    project: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Clone, Copy, Subcommand)]
enum Action {
    /// Show whether the project is recorded (the default).
    Status,
    /// Record nothing in the project until you resume it.
    Pause,
    /// Record the project again.
    Resume,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let folder = match &arguments.project {
        Some(folder) if !folder.is_dir() => {
            let folder = sanitize::one_line(&folder.to_string_lossy(), 200);
            return Err(
                Ending::misused(format!("wyren: {folder:?} is no folder; nothing was changed")).into()
            );
        }
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let action = arguments.action.unwrap_or(Action::Status);
    if !matches!(action, Action::Status) {
        // What is recorded is the user's to decide, as with the setting itself.
        person::must_be_here(env)?;
        change(&folder, matches!(action, Action::Pause), env, paths)?;
    }
    show(&folder, arguments.json, env, paths)?;
    match (action, rules(env, paths).against(&folder)) {
        (Action::Resume, Some(rule)) => {
            let reason = reason(rule, env);
            Err(Ending::failed(format!("wyren: this project is still not recorded: {reason}")).into())
        }
        _ => Ok(()),
    }
}

fn rules(env: &Env, paths: &Paths) -> Rules {
    Rules::of(&Settings::read(env, &paths.hook_settings()), env)
}

/// Adds the folders of a project to the setting, or takes them out.
fn change(folder: &Path, is_to_pause: bool, env: &Env, paths: &Paths) -> Result<()> {
    let roots = roots(folder);
    let present = Config::load(env, paths).get(PAUSED)?.value.clone();
    let mut paused: Vec<&str> = settings::list(&present).collect();
    if is_to_pause {
        if let Some(odd) = roots.iter().find(|root| root.contains([',', '\n'])) {
            let odd = sanitize::one_line(odd, 200);
            let message = format!(
                "wyren: {odd:?} has a comma, which separates folders in {PAUSED}; nothing was changed. Exclude it by a pattern: \
                 wyren config set capture.excluded_projects"
            );
            return Err(Ending::failed(message).into());
        }
        let new = roots.iter().map(String::as_str).filter(|root| !paused.contains(root)).collect::<Vec<_>>();
        paused.extend(new);
    } else {
        // Also what was paused within it.
        paused.retain(|paused| !roots.iter().any(|root| Path::new(paused).starts_with(root)));
    }
    let value = paused.join(",");
    if value != settings::list(&present).collect::<Vec<_>>().join(",") {
        config::set(paths, PAUSED, Some(&value).filter(|value| !value.is_empty()).map(String::as_str))?;
    }
    Ok(())
}

/// Returns the tops of a project's work trees, the one with this folder first, as a session may name them. One that is made
/// later, outside of these, has to be paused itself.
fn roots(folder: &Path) -> Vec<String> {
    let mut roots = vec![Project::of(folder).root];
    if let Some(repository) = Repository::above(folder) {
        roots.extend(repository.main_root());
        let trees =
            std::fs::read_dir(repository.common_folder.join("worktrees")).into_iter().flatten().flatten();
        let pointers = trees.filter_map(|tree| {
            let pointer = files::read_text_capped(&tree.path().join("gitdir"), files::cap::POINTER).ok()?;
            Some(Path::new(pointer.trim()).parent()?.to_owned())
        });
        roots.extend(pointers.filter(|root| root.is_dir()));
    }
    let real: Vec<PathBuf> = roots.iter().map(|root| files::canonical(root)).collect();
    let mut named: Vec<String> = Vec::new();
    for root in roots.into_iter().chain(real) {
        let root = root.to_string_lossy().into_owned();
        if !named.contains(&root) {
            named.push(root);
        }
    }
    named
}

fn show(folder: &Path, json: bool, env: &Env, paths: &Paths) -> Result<()> {
    let project = Project::of(folder);
    let rules = rules(env, paths);
    let rule = rules.against(folder);
    let paused = settings::list(&Settings::read(env, &paths.hook_settings()).get(PAUSED))
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let mut output = terminal::output();
    if json {
        let state = match rule {
            None => "recorded",
            Some(Rule::Off) => "off",
            Some(Rule::Excluded(_)) => "excluded",
            Some(Rule::Paused(_)) => "paused",
        };
        let by = match rule {
            Some(Rule::Excluded(by) | Rule::Paused(by)) => Some(by),
            _ => None,
        };
        let facts = json!({"project": project.key, "root": project.root, "state": state, "by": by, "paused_projects": paused});
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let name = projects::name(&project.key);
    match rule {
        None => writeln!(output, "{STRONG}{name}{STRONG:#} is recorded.")?,
        Some(rule) => writeln!(output, "{STRONG}{name}{STRONG:#} is not recorded: {}", reason(rule, env))?,
    }
    Ok(())
}

/// Returns why nothing is recorded in a folder, and what changes that.
pub(super) fn reason(rule: Rule<'_>, env: &Env) -> String {
    let typed = |arguments: &str| person::in_terminal(env, arguments);
    match rule {
        Rule::Off => {
            format!("capture.enabled is off. To record again: {}", typed("config set capture.enabled true"))
        }
        Rule::Excluded(pattern) => {
            let pattern = sanitize::one_line(pattern, 200);
            format!(
                "capture.excluded_projects has {pattern:?}. To change that: {}",
                typed("config set capture.excluded_projects")
            )
        }
        Rule::Paused(folder) => {
            let folder = sanitize::one_line(folder, 200);
            format!("recording is paused in {folder}. To resume: {}", typed("capture resume"))
        }
    }
}
