//! Where a row of claude-mem's belongs: its projects are the bare names of folders.

use super::row::Row;
use crate::open::Error;
use base::project::Project;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What the key of a project begins with that is only known by its name.
pub const NAME_KEY: &str = "name:";

/// Where a row belongs.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) platform: String,
    pub(super) session: String,
    pub(super) project: Project,
    /// The project's folder; empty where only its name is known.
    pub(super) cwd: String,
    /// The project's name, as claude-mem gives it.
    pub(super) name: String,
    /// When the session began, if it was recorded.
    pub(super) started_at: Option<u64>,
}

/// What is known about projects and sessions.
pub(super) struct Places<'a> {
    /// The folders that the user named.
    named: &'a BTreeMap<String, PathBuf>,
    /// Projects by their names and by the names of their folders; `None` where several have one.
    known: HashMap<String, Option<Project>>,
}

impl<'a> Places<'a> {
    pub(super) fn of(connection: &Connection, named: &'a BTreeMap<String, PathBuf>) -> Result<Self, Error> {
        let mut by_name: HashMap<String, BTreeMap<String, Project>> = HashMap::new();
        let mut select = connection.prepare(
            "SELECT DISTINCT key, name, root, coalesce(cwd, '') FROM projects LEFT JOIN sessions ON sessions.project = projects.row
             WHERE key NOT LIKE 'name:%'",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let project = Project {
                key: row.get(0)?,
                name: row.get(1)?,
                root: PathBuf::from(row.get::<_, String>(2)?),
            };
            let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
            let names: BTreeSet<String> =
                [Some(project.name.clone()), last(&project.root), last(Path::new(&row.get::<_, String>(3)?))]
                    .into_iter()
                    .flatten()
                    .collect();
            for name in names {
                by_name.entry(name).or_default().insert(project.key.clone(), project.clone());
            }
        }
        let only = |projects: BTreeMap<String, Project>| {
            let mut projects = projects.into_values();
            projects.next().filter(|_| projects.next().is_none())
        };
        let known = by_name.into_iter().map(|(name, projects)| (name, only(projects))).collect();
        Ok(Self { named, known })
    }

    /// Returns where a row belongs. A session that was recorded says where its own project is.
    pub(super) fn of_row(&self, connection: &Connection, row: &Row) -> Result<Place, Error> {
        let name = row.project();
        let recorded = recorded(connection, &row.platform, &row.session)?;
        let is_sessions = name.is_empty() || row.session_project.is_empty() || name == row.session_project;
        let sessions = |is_by_name: bool| {
            let recorded = recorded.as_ref().filter(|_| is_sessions)?;
            (recorded.project.key.starts_with(NAME_KEY) == is_by_name)
                .then(|| (recorded.project.clone(), recorded.cwd.clone()))
        };
        let found = self.by_user(name).or_else(|| sessions(false));
        let found = found.or_else(|| self.find(name)).or_else(|| sessions(true));
        let is_found = found.is_some();
        let (project, cwd) = found.unwrap_or_else(|| {
            let name = Some(parent_of(name)).filter(|name| !name.is_empty()).unwrap_or(NAMELESS);
            (
                Project { key: format!("{NAME_KEY}{name}"), name: name.to_owned(), root: PathBuf::new() },
                String::new(),
            )
        });
        // A session is filed under one project: what another, unknown one has goes into a session of its own.
        let session = match is_found || is_sessions {
            true => row.session.clone(),
            false => format!("{} ({name})", row.session),
        };
        let started_at = recorded.map(|recorded| recorded.started_at).filter(|_| session == row.session);
        Ok(Place { platform: row.platform.clone(), session, project, cwd, name: name.to_owned(), started_at })
    }

    /// Returns the project that the user says a name means, and its folder.
    fn by_user(&self, name: &str) -> Option<(Project, String)> {
        let folder = [name, parent_of(name)].iter().find_map(|name| self.named.get(*name))?;
        Some((Project::of(folder), folder.to_string_lossy().into_owned()))
    }

    /// Returns the only project of a name, and its folder.
    fn find(&self, name: &str) -> Option<(Project, String)> {
        let project =
            [name, parent_of(name)].iter().find_map(|name| self.known.get(*name).cloned().flatten())?;
        let cwd = project.root.to_string_lossy().into_owned();
        Some((project, cwd))
    }
}

/// What a project is called that claude-mem has no name for.
const NAMELESS: &str = "unknown";

/// Returns the name of a project without that of a work tree: `<parent>/<work tree>`.
fn parent_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(parent, _)| parent).trim()
}

/// A session that is in the database.
struct Recorded {
    project: Project,
    cwd: String,
    started_at: u64,
}

fn recorded(connection: &Connection, platform: &str, session: &str) -> Result<Option<Recorded>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT key, name, root, cwd, started_at FROM sessions JOIN projects ON projects.row = project
         WHERE platform = ?1 AND sessions.id = ?2",
    )?;
    let recorded = select.query_row(params![platform, session], |row| {
        Ok(Recorded {
            project: Project {
                key: row.get(0)?,
                name: row.get(1)?,
                root: PathBuf::from(row.get::<_, String>(2)?),
            },
            cwd: row.get(3)?,
            started_at: row.get(4)?,
        })
    });
    Ok(recorded.optional()?)
}
