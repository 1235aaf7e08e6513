//! `wyren remember`: an entry in the journal of this machine, in the user's own words.

use super::memory::{SESSION_VARIABLE, without};
use crate::database;
use crate::exit::Ending;
use crate::person;
use crate::projects;
use crate::similar;
use crate::terminal::{self, STRONG};
use anyhow::{Context as _, Result};
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{CLAUDE_CODE, Rules, Spool};
use clap::Args;
use journal::Kind;
use journal::write::{self, Note, Place, Unfit, Words};
use serde_json::json;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use store::Store;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren remember 'Prices are integer cents'
  wyren remember --type decision --pin 'Prices are integer cents'
  wyren remember --file src/price.rs 'Rounding happens here and nowhere else'
  wyren remember - <<'NOTE'       the first line is the title, the rest the text
  wyren remember -- --force is gone
                                  a text that begins with a dash

It stays on this machine. To tell the team: wyren memory add";

/// The type of what is remembered without one, as in claude-mem.
const DEFAULT_KIND: &str = Kind::DISCOVERY;

/// In bytes.
const MAX_TEXT: u64 = 64 * 1024;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The text; `-` reads it from standard input.
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// What it is: change, fix, feature, refactor, discovery, decision, failure, security_note …
    #[arg(long = "type", value_name = "TYPE", default_value = DEFAULT_KIND, value_parser = kind)]
    kind: String,
    /// A file that it is about; may be repeated.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Keep it in the index at a session's start, whatever its age.
    #[arg(long)]
    pin: bool,
    /// A folder in the project that it is about [default: this one].
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,
    /// The client's session.
    #[arg(long, value_name = "ID", hide = true)]
    session_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Returns a type of entries, or says which there are.
pub(super) fn kind(name: &str) -> Result<String, String> {
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

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let folder = match &arguments.project {
        Some(folder) if !folder.is_dir() => {
            let folder = sanitize::one_line(&folder.to_string_lossy(), 200);
            return Err(Ending::misused(format!("wyren: {folder:?} is no folder; nothing was kept")).into());
        }
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let project = Project::of(&folder);
    let words = match Words::of(&text(&arguments.words)?) {
        Ok(words) => words,
        Err(Unfit::Private) => {
            let message = "wyren: all of the text is marked as private, so nothing was kept";
            return Err(Ending::failed(message).into());
        }
        Err(Unfit::Empty) => {
            let remember = person::command_for(env, "remember TEXT", "remember TEXT");
            return Err(Ending::misused(format!("wyren: no text to remember. Use: {remember}")).into());
        }
    };
    let rules = Rules::of(&Settings::read(env, &paths.hook_settings()), env);
    if let Some(rule) = rules.against(&folder) {
        return Err(Ending::failed(format!(
            "wyren: nothing was kept: {}",
            super::capture::reason(rule, env)
        ))
        .into());
    }
    let spool = Spool::new(paths.spool());
    let session = arguments.session_id.clone().or_else(|| env.text(SESSION_VARIABLE));
    let session = session.filter(|session| is_known(session, &spool, paths));
    // A prompt such as `/wyren:remember` is not the model's, though no person may have typed it.
    let is_by_model = !person::is_here(env) && !person::is_in_prompt(env);
    if is_by_model && session.as_deref().is_some_and(|session| spool.is_private(session)) {
        let message = "wyren: nothing was kept: the prompt of this turn is marked as private";
        return Err(Ending::failed(message).into());
    }
    let place = match &session {
        Some(session) => Place::in_session(session, &folder),
        None => Place::by_hand(&project.key, &folder),
    };
    let files: Vec<String> =
        arguments.files.iter().map(|file| relative(file, &folder, &project.root)).collect();
    let note = Note { kind: &arguments.kind, words, files: &files, is_pinned: arguments.pin, is_by_model };
    let id = write::remember(&spool, &place, &note, Timestamp::now()).context("nothing was kept")?;
    // So that it can be shown and pinned at once.
    if let Ok(mut store) = journal::open_store(paths) {
        database::drain_now(&mut store, paths);
    }
    show(&id, &note, &project, arguments.json, env)
}

fn show(id: &str, note: &Note<'_>, project: &Project, json: bool, env: &Env) -> Result<()> {
    let words = &note.words;
    let mut output = terminal::output();
    if json {
        let facts = json!({
            "id": id, "type": note.kind, "title": words.title, "text": words.narrative, "files": note.files, "pinned": note.is_pinned,
            "project": project.key, "secrets": words.secrets,
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let pinned = if note.is_pinned { " and pinned" } else { "" };
    let taken_out = without(words.secrets, words.has_private);
    writeln!(output, "Remembered{pinned} as {STRONG}{id}{STRONG:#}: {}", words.title)?;
    let name = projects::name(&project.key);
    let team = person::command_for(env, "memory add TEXT", "memory add TEXT");
    Ok(writeln!(output, "Kept on this machine, for {name}.{taken_out} To tell the team: {team}")?)
}

/// Returns the text that was given.
fn text(words: &[String]) -> Result<String> {
    if !matches!(words, [word] if word == "-") {
        return Ok(words.join(" "));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_TEXT).read_to_end(&mut bytes).context("could not read standard input")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
fn relative(file: &Path, folder: &Path, root: &Path) -> String {
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
