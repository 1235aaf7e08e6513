//! Which recorded calls changed or renamed which file: what `wyren why` begins with.
//!
//! Only places are kept here, no text: a call's data says what it did to the file, and is read when a person asks.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use store::observations::Projects;
use store::rusqlite::{Row, Transaction, params};
use store::{Derived, Error};

/// The tools that change a file, by the names that the agents give them.
pub(crate) const EDITORS: &str = "'Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'apply_patch', 'edit', 'write', 'multiedit', 'write_file', 'replace'";

/// Files that calls changed or renamed, as derived tables.
#[derive(Debug)]
pub struct Edits;

/// Paths are relative to the project's root, with `/`; absolute outside of it.
const SCHEMA: &str = "
CREATE TABLE edits (
    project INTEGER NOT NULL,
    path TEXT NOT NULL,
    observation INTEGER NOT NULL,
    PRIMARY KEY (project, path, observation)
) STRICT, WITHOUT ROWID;
CREATE INDEX edits_of_observation ON edits (observation);

CREATE TABLE moves (
    project INTEGER NOT NULL,
    new TEXT NOT NULL,
    old TEXT NOT NULL,
    observation INTEGER NOT NULL,
    PRIMARY KEY (project, new, old, observation)
) STRICT, WITHOUT ROWID;
CREATE INDEX moves_of_observation ON moves (observation);
";

impl Derived for Edits {
    fn name(&self) -> &'static str {
        "edits"
    }

    fn version(&self) -> u32 {
        1
    }

    fn tables(&self) -> &'static [&'static str] {
        &["edits", "moves"]
    }

    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn projects(&self) -> Option<&'static str> {
        Some("SELECT project FROM edits UNION SELECT project FROM moves")
    }

    fn derive(&self, transaction: &Transaction<'_>, after: i64, last: i64) -> Result<(), Error> {
        let mut select = transaction.prepare_cached(&format!(
            "SELECT o.row, o.cwd, o.tool = 'Bash', s.project, projects.root, o.data, p.data
             FROM observations AS o JOIN sessions AS s ON s.row = o.session JOIN projects ON projects.row = s.project
             LEFT JOIN payloads AS p ON p.observation = o.row AND o.tool <> 'Bash'
             WHERE o.row > ?1 AND o.row <= ?2 AND o.kind = 'tool' AND o.failed = 0
                 AND (o.tool IN ({EDITORS}) OR o.tool = 'Bash' AND instr(o.data, 'mv ') > 0)"
        ))?;
        let mut places = Places { transaction, projects: Projects::default() };
        let mut rows = select.query([after, last])?;
        while let Some(row) = rows.next()? {
            let call = Call::read(row)?;
            if row.get(2)? { places.note_moves(&call)? } else { places.note_edits(&call)? }
        }
        Ok(())
    }

    fn forget(&self, transaction: &Transaction<'_>, rows: &[i64]) -> Result<(), Error> {
        for table in ["edits", "moves"] {
            let mut delete =
                transaction.prepare_cached(&format!("DELETE FROM {table} WHERE observation = ?1"))?;
            for row in rows {
                delete.execute([row])?;
            }
        }
        Ok(())
    }
}

/// A recorded call, as far as it says which files it is about.
struct Call {
    row: i64,
    cwd: PathBuf,
    /// The project of its session and that project's root.
    project: (i64, PathBuf),
    input: Box<RawValue>,
}

#[derive(Deserialize)]
struct Data {
    input: Option<Box<RawValue>>,
}

/// What the agents call a file, and what else names one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Input<'a> {
    #[serde(borrow, alias = "filePath", alias = "notebook_path", alias = "path")]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "patch", alias = "patchText", alias = "input")]
    command: Option<&'a RawValue>,
}

impl Call {
    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let part = |column: usize| -> Result<Option<Box<RawValue>>, Error> {
            let text = row.get_ref(column)?;
            let text = text.as_str_or_null().ok().flatten().unwrap_or("{}");
            Ok(serde_json::from_str::<Data>(text).ok().and_then(|data| data.input))
        };
        let input = match part(5)? {
            Some(input) => Some(input),
            None => part(6)?,
        };
        Ok(Self {
            row: row.get(0)?,
            cwd: PathBuf::from(row.get::<_, String>(1)?),
            project: (row.get(3)?, PathBuf::from(row.get::<_, String>(4)?)),
            input: input.unwrap_or_default(),
        })
    }

    fn input(&self) -> Input<'_> {
        serde_json::from_str(self.input.get()).unwrap_or_default()
    }

    /// Returns the files that it changed, as it names them.
    fn files(&self) -> Vec<String> {
        let input = self.input();
        if let Some(path) = input.file_path {
            return vec![path.into_owned()];
        }
        patch_text(input.command).map(|patch| super::why::patched_files(&patch)).unwrap_or_default()
    }

    /// Returns the pairs of a new and an old name.
    fn moves(&self) -> Vec<(PathBuf, PathBuf)> {
        let input = self.input();
        let script: Option<String> = input.command.and_then(|raw| serde_json::from_str(raw.get()).ok());
        script.map(|script| moves_in(&script, &self.cwd)).unwrap_or_default()
    }
}

/// Returns the patch in an input: a text, or the last word of a command.
fn patch_text(command: Option<&RawValue>) -> Option<String> {
    let command: serde_json::Value = serde_json::from_str(command?.get()).ok()?;
    super::why::patch_text(&command).map(str::to_owned)
}

/// Returns the pairs of a new and an old name that `mv` and `git mv` in a line of shell make.
fn moves_in(script: &str, cwd: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut folder = cwd.to_owned();
    let mut moves = Vec::new();
    for command in shell::commands(script) {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let arguments = match words.as_slice() {
            ["cd", to] => {
                folder = tidied(&folder.join(to));
                continue;
            }
            ["mv", arguments @ ..] | ["git", "mv", arguments @ ..] => arguments,
            ["git", "-C", _, "mv", arguments @ ..] => arguments,
            _ => continue,
        };
        let base = match words.as_slice() {
            ["git", "-C", to, ..] => folder.join(to),
            _ => folder.clone(),
        };
        let names: Vec<&&str> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
        let Some((to, from)) = names.split_last().filter(|(_, from)| !from.is_empty()) else { continue };
        let target = tidied(&base.join(to));
        let is_into = from.len() > 1 || to.ends_with('/') || target.is_dir() && !base.join(from[0]).is_dir();
        for old in from {
            let old = tidied(&base.join(old));
            let name = old.file_name().map(|name| target.join(name));
            let new = name.filter(|_| is_into).unwrap_or_else(|| target.clone());
            moves.push((new, old));
        }
    }
    moves
}

/// Finds what files are called in their projects.
struct Places<'t> {
    transaction: &'t Transaction<'t>,
    projects: Projects,
}

impl Places<'_> {
    fn note_edits(&mut self, call: &Call) -> Result<(), Error> {
        for file in call.files() {
            let (project, path) = self.place(&call.cwd.join(file), &call.project)?;
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO edits VALUES (?1, ?2, ?3)")?
                .execute(params![project, path, call.row])?;
        }
        Ok(())
    }

    fn note_moves(&mut self, call: &Call) -> Result<(), Error> {
        for (new, old) in call.moves() {
            let (project, new) = self.place(&new, &call.project)?;
            let (_, old) = self.place(&old, &call.project)?;
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO moves VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![project, new, old, call.row])?;
        }
        Ok(())
    }

    /// Returns the project of a file and what the file is called in it. The repository that the file is in counts, wherever
    /// the session ran; else the session's own project.
    fn place(&mut self, file: &Path, session: &(i64, PathBuf)) -> Result<(i64, String), Error> {
        let file = tidied(file);
        // The folder may be gone since; what is above it still is in the same repository.
        let folder = file.ancestors().skip(1).find(|folder| folder.is_dir());
        if let Some(folder) = folder.and_then(Path::to_str)
            && base::project::Repository::above(Path::new(folder)).is_some()
        {
            let (project, root) = self.projects.row(self.transaction, folder)?;
            let removed = own_work_tree(&file).filter(|top| !top.is_dir());
            return Ok((project, relative(&file, removed.unwrap_or(&root))));
        }
        Ok((session.0, relative(&file, &session.1)))
    }
}

/// Returns the top of a work tree that the client made for one session, and removes behind it: `.claude/worktrees/<name>` in the
/// project's own.
pub(crate) fn own_work_tree(path: &Path) -> Option<&Path> {
    path.ancestors().find(|top| top.parent().is_some_and(|parent| parent.ends_with(".claude/worktrees")))
}

/// Returns a path without `.` and `..`, by its text alone.
pub(crate) fn tidied(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidied.pop()),
            part => tidied.push(part),
        }
    }
    tidied
}

/// Returns a path as the tables have it.
pub(crate) fn relative(file: &Path, root: &Path) -> String {
    let inside = match file.strip_prefix(root) {
        Ok(inside) => Some(inside.to_owned()),
        // A link on the way: the client may report another name of the same folder.
        Err(_) => {
            base::files::canonical(file).strip_prefix(base::files::canonical(root)).ok().map(Path::to_owned)
        }
    };
    let text = inside.unwrap_or_else(|| file.to_owned()).to_string_lossy().into_owned();
    if cfg!(windows) { text.replace('\\', "/") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, expected: &[(&str, &str)]) {
        let moves = moves_in(script, Path::new("/nowhere/p"));
        let moves: Vec<(String, String)> =
            moves.iter().map(|(new, old)| (new.display().to_string(), old.display().to_string())).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(new, old)| ((*new).to_owned(), (*old).to_owned())).collect();
        assert_eq!(moves, expected, "{script}");
    }

    #[cfg(unix)]
    #[test]
    fn renames_are_found_in_lines_of_shell() {
        check("git mv src/a.rs src/b.rs", &[("/nowhere/p/src/b.rs", "/nowhere/p/src/a.rs")]);
        check("cd src && mv -f a.rs ../b.rs", &[("/nowhere/p/b.rs", "/nowhere/p/src/a.rs")]);
        check("git -C src mv a.rs b.rs && cargo test", &[("/nowhere/p/src/b.rs", "/nowhere/p/src/a.rs")]);
        let both = [("/nowhere/p/lib/a.rs", "/nowhere/p/a.rs"), ("/nowhere/p/lib/b.rs", "/nowhere/p/b.rs")];
        check("mv a.rs b.rs lib/", &both);
        check("echo 'git mv a b' | grep mv ", &[]);
        check("mv", &[]);
    }
}
