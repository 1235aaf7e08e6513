//! What a person or a model has remembered, and entries that stay in sight: written by the way that hooks write.

use crate::{Error, similar};
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{CLAUDE_CODE, Rule, Rules, Spool};
use journal::find::{self, Item};
use journal::write::{self, Amendment, Note, Place, Unfit, Words};
use journal::{Entry, Kind};
use std::path::{Component, Path, PathBuf};
use store::Store;
use store::observations::Drain;
use text::sanitize;

/// The type of what is remembered without one, as in claude-mem.
pub const DEFAULT_KIND: &str = Kind::DISCOVERY;

/// What a command that has recorded something drains besides: a prompt may wait for it.
const MOST_LINES: usize = 5_000;

/// Something to be remembered, as it was given.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    pub text: &'a str,
    pub kind: &'a str,
    pub files: &'a [PathBuf],
    pub is_pinned: bool,
    pub is_by_model: bool,
    /// The client's session, where it is known which one it is.
    pub session: Option<&'a str>,
}

/// What was kept.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub id: String,
    pub words: Words,
    pub files: Vec<String>,
    pub project: Project,
}

/// Why nothing was kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    #[error("all of the text is marked as private, so nothing was kept")]
    Private,
    #[error("no text to remember")]
    Empty,
    #[error("nothing was kept: the prompt of this turn is marked as private")]
    PrivateTurn,
    /// What is not recorded here, by which rule.
    #[error("nothing was kept: {0}")]
    Rule(String),
    #[error("nothing was kept: {0}")]
    Failed(#[from] capture::Error),
}

/// Keeps a text as an entry of the journal. `reason` says in words why a rule forbids it.
pub fn remember(
    given: &Given<'_>,
    folder: &Path,
    env: &Env,
    paths: &Paths,
    reason: impl FnOnce(Rule<'_>) -> String,
) -> Result<Remembered, NotKept> {
    let project = Project::of(folder);
    let words = Words::of(given.text).map_err(|unfit| match unfit {
        Unfit::Private => NotKept::Private,
        Unfit::Empty => NotKept::Empty,
    })?;
    let rules = Rules::of(&Settings::read(env, &paths.hook_settings()), env);
    if let Some(rule) = rules.against(folder) {
        return Err(NotKept::Rule(reason(rule)));
    }
    let spool = Spool::new(paths.spool());
    let session = given.session.filter(|session| is_known(session, &spool, paths));
    if given.is_by_model && session.is_some_and(|session| spool.is_private(session)) {
        return Err(NotKept::PrivateTurn);
    }
    let place = match session {
        Some(session) => Place::in_session(session, folder),
        None => Place::by_hand(&project.key, folder),
    };
    let files: Vec<String> = given.files.iter().map(|file| relative(file, folder, &project.root)).collect();
    let note = Note {
        kind: given.kind,
        words,
        files: &files,
        is_pinned: given.is_pinned,
        is_by_model: given.is_by_model,
    };
    let id = write::remember(&spool, &place, &note, Timestamp::now())?;
    let words = note.words;
    // So that it can be shown and pinned at once.
    if let Ok(mut store) = journal::open_store(paths) {
        drain_now(&mut store, paths);
    }
    Ok(Remembered { id, words, files, project })
}

/// Returns a type of entries, or says which there are.
pub fn kind(name: &str) -> Result<String, String> {
    let names = Kind::ALL.map(|(name, _)| name);
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    let meant = match &*similar::nearest(name, names, 1) {
        [] => String::new(),
        near => format!(" (did you mean {:?}?)", near[0]),
    };
    Err(format!("{:?} is no type{meant}; the types are {}", sanitize::one_line(name, 40), names.join(", ")))
}

/// Pins or unpins entries, all of them or none; returns them as they were before.
pub fn pin(
    store: &mut Store,
    paths: &Paths,
    cwd: &Path,
    ids: &[String],
    is_pinned: bool,
) -> Result<Vec<Entry>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    for id in ids {
        match crate::ids::find(store, cwd, id, "; nothing was changed")? {
            Item::Entry(entry) => entries.push(entry),
            Item::Summary(summary) => {
                return Err(Error::Unknown(format!("{} is a summary; those are always kept", summary.id)));
            }
        }
    }
    let change = Amendment { pinned: Some(is_pinned), ..Amendment::default() };
    for entry in entries.iter().filter(|entry| entry.is_pinned != is_pinned) {
        amend(store, paths, entry, &change)?;
    }
    drain_now(store, paths);
    Ok(entries)
}

/// Writes down a change of an entry, in the project that the entry is of.
pub fn amend(store: &Store, paths: &Paths, entry: &Entry, change: &Amendment) -> Result<(), Error> {
    let origin = find::origin(store, &Item::Entry(entry.clone()))?;
    let place = Place::by_hand(&origin.project, Path::new(&origin.root));
    Ok(write::amend(&Spool::new(paths.spool()), &place, &entry.id, change, Timestamp::now())?)
}

/// Drains what was just recorded. What fails here is in the spool, and the next drain stores it.
pub fn drain_now(store: &mut Store, paths: &Paths) {
    let _ = Drain::unbounded(&Spool::new(paths.spool())).at_most(MOST_LINES).run(store, Timestamp::now());
}

/// Returns whether something of a session of Claude Code was recorded. What belongs to none would be a session of its own.
fn is_known(session: &str, spool: &Spool, paths: &Paths) -> bool {
    let is_in_spool = || paths.session_spool(session).is_dir() && spool.folder().is_dir();
    let is_stored = || {
        let store = Store::open_for_hook(&paths.database(), store::TABLES).ok().flatten()?;
        let mut select =
            store.connection().prepare("SELECT 1 FROM sessions WHERE platform = ?1 AND id = ?2").ok()?;
        select.exists([CLAUDE_CODE, session]).ok()
    };
    is_in_spool() || is_stored().unwrap_or_default()
}

/// Returns a file as entries name it: relative to the project's root, with `/`; absolute outside of it.
pub fn relative(file: &Path, folder: &Path, root: &Path) -> String {
    let mut absolute = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                absolute.pop();
            }
            part => absolute.push(part),
        }
    }
    let path = absolute.strip_prefix(root).unwrap_or(&absolute);
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_named_from_the_root_of_its_project() {
        for (file, expected) in [
            ("a.rs", "src/a.rs"),
            ("./a.rs", "src/a.rs"),
            ("../b.rs", "b.rs"),
            ("/p/src/c.rs", "src/c.rs"),
            ("/etc/hosts", "/etc/hosts"),
        ] {
            assert_eq!(relative(Path::new(file), Path::new("/p/src"), Path::new("/p")), expected, "{file}");
        }
    }

    #[test]
    fn a_type_that_is_not_known_is_refused_with_the_nearest() {
        assert_eq!(kind("decision").as_deref(), Ok("decision"));
        assert!(kind("decison").unwrap_err().contains("did you mean \"decision\"?"));
    }
}
