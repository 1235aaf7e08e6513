//! The filters of a search, as they are typed.

use crate::finder::Finder;
use crate::projects;
use crate::when;
use answers::notes::relative;
use anyhow::Result;
use base::project::Project;
use base::{Paths, Timestamp};
use capture::Spool;
use clap::Args;
use search::sources::{self, SHIPPED, kind_named};
use search::{Filter, Kind};
use std::path::{Component, Path};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Another project: its name, its key or a folder in it [default: the project of this folder].
    #[arg(long, value_name = "NAME|KEY|PATH", conflicts_with = "all_projects")]
    project: Option<String>,
    /// Every project.
    #[arg(long)]
    all_projects: bool,
    /// Only this type: entry, summary, prompt, memory, removed, lesson (those that ship with Wyren, too), handoff, plan, or a type of these such as fix or decision; may be repeated.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Only what is about this file or folder: a path or the end of one.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only what was done on this branch.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Only what this person did: a part of the name.
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Only this session: its id or the beginning of it.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only from this time on: yesterday, 2h, 2026-11-16, "2026-11-16 14:30" or 2026-11-16T14:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Timestamp>,
    /// Only before this time.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    until: Option<Timestamp>,
}

/// Returns a path as what is recorded has it: below the top of the project.
fn in_project(file: &str, cwd: &Path) -> String {
    let path = Path::new(file);
    let is_above = || path.components().any(|part| part == Component::ParentDir);
    if !path.is_absolute() && !is_above() && path != Path::new(".") {
        return file.replace('\\', "/");
    }
    let root = Project::of(cwd).root;
    relative(path, cwd, &root).replace('\\', "/")
}

/// What takes a condition out of a filter.
type Change = fn(&mut Filter);

impl Filters {
    pub(crate) fn filter(&self, finder: &Finder, paths: &Paths) -> Result<Filter> {
        let types: Vec<String> = self.types.iter().map(|name| name.trim().to_lowercase()).collect();
        let mut projects = match &self.project {
            _ if self.all_projects => sources::every_project(&finder.store)?,
            Some(named) => {
                vec![projects::find(named, &finder.store, &Spool::new(paths.spool()), "nothing is shown")?]
            }
            None => vec![Project::of(&finder.cwd).key],
        };
        if types.iter().any(|name| kind_named(name) == Some(Kind::Lesson)) {
            projects.push(SHIPPED.to_owned());
        }
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let file = self.file.as_deref().map(|file| in_project(file, &finder.cwd)).unwrap_or_default();
        Ok(Filter {
            projects,
            kinds: types.iter().filter_map(|name| kind_named(name)).collect(),
            classes: types.iter().filter(|name| kind_named(name).is_none()).cloned().collect(),
            file,
            branch: text(&self.branch),
            author: text(&self.author),
            session: text(&self.session),
            since: self.since.map(Timestamp::millis),
            until: self.until.map(Timestamp::millis),
        })
    }

    /// Returns whether documents of several projects are wanted.
    pub(crate) fn is_of_all_projects(&self) -> bool {
        self.all_projects
    }

    /// Returns each filter that is set, as it was typed, with what the question is without it.
    pub(crate) fn dropped(&self, filter: &Filter) -> Vec<(String, Filter)> {
        let mut dropped = Vec::new();
        let mut without = |name: String, change: Change| {
            let mut filter = filter.clone();
            change(&mut filter);
            dropped.push((name, filter));
        };
        if !self.types.is_empty() {
            without(format!("--type {}", self.types.join(",")), |filter| {
                filter.kinds.clear();
                filter.classes.clear();
            });
        }
        let texts: [(&str, &Option<String>, Change); 4] = [
            ("--file", &self.file, |filter| filter.file.clear()),
            ("--branch", &self.branch, |filter| filter.branch.clear()),
            ("--author", &self.author, |filter| filter.author.clear()),
            ("--session", &self.session, |filter| filter.session.clear()),
        ];
        for (name, value, change) in texts {
            if let Some(value) = value {
                without(format!("{name} {value}"), change);
            }
        }
        if self.since.is_some() {
            without("--since".to_owned(), |filter| filter.since = None);
        }
        if self.until.is_some() {
            without("--until".to_owned(), |filter| filter.until = None);
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_of_the_project_however_it_is_typed() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        std::fs::create_dir_all(root.join(".git"))?;
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        let below = root.join("src/api");
        std::fs::create_dir_all(&below)?;
        let absolute = below.join("token.rs").to_string_lossy().into_owned();
        for (typed, expected) in [
            ("token.rs", "token.rs"),
            ("src/api", "src/api"),
            ("src\\api", "src/api"),
            (&absolute, "src/api/token.rs"),
            ("../main.rs", "src/main.rs"),
            (".", "src/api"),
        ] {
            assert_eq!(in_project(typed, &below), expected, "{typed}");
        }
        Ok(())
    }
}
