//! `wyren trust` and `wyren untrust`: whether a project's guards and pauses may refuse calls, and its skills be followed.

use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING};
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths, files};
use clap::Args;
use lessons::Kind;
use lessons_admin::catalogue::{Catalogue, Item, Places};
use lessons_admin::trust;
use place::Folder;
use serde_json::json;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use text::sanitize;

/// How much of a text is shown before somebody decides.
const SHOWN_CHARS: usize = 200;

const EXAMPLES: &str = "\
Examples:
  wyren trust             shows what this project would refuse, and asks
  wyren trust ~/src/api --yes
  wyren trust --show      the projects that are trusted
  wyren untrust           their guards and pauses are silent again";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A folder in the project; this one when left out.
    path: Option<PathBuf>,
    /// List the projects that are trusted.
    #[arg(long, conflicts_with_all = ["path", "yes"])]
    show: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Untrust {
    /// A folder in the project; this one when left out.
    path: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let places = places(arguments.path.clone(), env, paths)?;
    if arguments.show {
        return show(&places, arguments.json);
    }
    let (root, catalogue) = (trust::root(&places), Catalogue::read(&places));
    let shown_root = sanitize::one_line(&root.to_string_lossy(), SHOWN_CHARS);
    let skills = skills(&root);
    if !places.project().is_dir() && skills.is_empty() {
        bail!("{shown_root} has neither .wyren/lessons nor team skills, so there is nothing to trust");
    }
    let refusing = trust::refusing(&catalogue);
    if !arguments.json {
        describe(&shown_root, &refusing, &skills)?;
    }
    if !arguments.yes && !is_confirmed()? {
        writeln!(terminal::errors(), "Nothing was changed.")?;
        return Ok(());
    }
    trust::trust(&places)?;
    if arguments.json {
        let slugs: Vec<&str> = refusing.iter().map(|item| item.lesson.slug.as_str()).collect();
        let report = json!({"project": root, "trusted": true, "refusing": slugs, "skills": skills});
        writeln!(terminal::output(), "{report:#}")?;
    } else {
        writeln!(
            terminal::output(),
            "{STRONG}{shown_root}{STRONG:#} is trusted; `wyren untrust` takes it back."
        )?;
    }
    Ok(())
}

pub(crate) fn untrust(arguments: &Untrust, env: &Env, paths: &Paths) -> Result<()> {
    let places = places(arguments.path.clone(), env, paths)?;
    let root = sanitize::one_line(&trust::root(&places).to_string_lossy(), SHOWN_CHARS);
    let mut output = terminal::output();
    if trust::untrust(&places)? {
        writeln!(
            output,
            "{STRONG}{root}{STRONG:#} is not trusted any more: its guards and pauses are silent, its skills are only shown."
        )?;
    } else {
        writeln!(output, "{STRONG}{root}{STRONG:#} was not trusted.")?;
    }
    Ok(())
}

fn places(path: Option<PathBuf>, env: &Env, paths: &Paths) -> Result<Places> {
    let cwd = match path {
        Some(path) => path.canonicalize().with_context(|| format!("could not find {}", path.display()))?,
        None => std::env::current_dir()?,
    };
    // All work trees of a repository that shares its memory on a branch of its own are one project.
    let root = Folder::find(&cwd).and_then(|folder| folder.wyren.parent().map(Path::to_owned));
    let cwd = root.unwrap_or(cwd);
    Ok(Places { paths: paths.clone(), cwd, env: env.clone() })
}

fn show(places: &Places, json: bool) -> Result<()> {
    let projects = trust::list(places);
    let mut output = terminal::output();
    if json {
        writeln!(output, "{:#}", json!({"trusted": projects}))?;
    } else if projects.is_empty() {
        writeln!(terminal::errors(), "No project is trusted.")?;
    } else {
        for project in projects {
            writeln!(output, "{}", sanitize::one_line(&project.to_string_lossy(), SHOWN_CHARS))?;
        }
    }
    Ok(())
}

/// Returns the names of the team skills of a project.
fn skills(root: &Path) -> Vec<String> {
    let broadcast =
        Folder::find(root).map_or_else(|| root.join(".wyren/broadcast"), |folder| folder.broadcast());
    let names = files::files_in(&broadcast.join("skills")).into_iter().filter_map(|file| {
        let name = file.file_name()?.to_string_lossy().into_owned();
        let is_skill = name != ".gitkeep" && !files::is_temporary(&name);
        is_skill.then(|| sanitize::one_line(&name, SHOWN_CHARS))
    });
    names.collect()
}

/// Shows what the project would refuse, and what it would have the model follow. The words are those of whoever wrote the
/// repository.
fn describe(root: &str, refusing: &[&Item], skills: &[String]) -> Result<()> {
    let mut output = terminal::output();
    if !skills.is_empty() {
        writeln!(
            output,
            "{STRONG}{root}{STRONG:#} has skills that the model would follow: {}.",
            skills.join(", ")
        )?;
    }
    if refusing.is_empty() {
        writeln!(output, "{STRONG}{root}{STRONG:#} has no guards and no pauses now.")?;
    } else {
        writeln!(output, "{STRONG}{root}{STRONG:#} would refuse:")?;
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for item in refusing {
            let (word, style) = match item.lesson.kind {
                Kind::Guard => ("every time", FAILURE),
                _ => ("once", WARNING),
            };
            let trigger = &item.lesson.trigger;
            let patterns: Vec<&String> = [
                &trigger.commands,
                &trigger.matches,
                &trigger.raw,
                &trigger.paths,
                &trigger.content,
                &trigger.tools,
            ]
            .into_iter()
            .flatten()
            .collect();
            let patterns = patterns.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>().join(", ");
            rows.push(vec![
                (format!("  {}", sanitize::one_line(&item.lesson.slug, SHOWN_CHARS)), STRONG),
                (word.to_owned(), style),
                (sanitize::one_line(&patterns, SHOWN_CHARS), Style::new()),
                (sanitize::one_line(&item.lesson.summary, SHOWN_CHARS), DIM),
            ]);
        }
        terminal::write_table(&mut output, &rows)?;
    }
    writeln!(output, "{DIM}What the repository adds later acts as well.{DIM:#}")?;
    Ok(())
}

fn is_confirmed() -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("nobody is here to be asked; say --yes to trust the project");
    }
    write!(terminal::errors(), "Let it? [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
