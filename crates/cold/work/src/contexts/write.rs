//! What a person or a prompt wants of contexts, as observations: each goes through the spool, without private parts and
//! secrets, and is safe once it is appended.

use super::{Action, KIND, Work, id};
use base::{Paths, Timestamp, digest, files};
use capture::{CLAUDE_CODE, Data, Kept, Observation, Spool, shrink};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use text::{privacy, sanitize};

/// The platform of what was done outside of any session.
pub const BY_HAND: &str = "by-hand";
/// The longest summary, in characters.
pub const MAX_SUMMARY_CHARS: usize = 2_000;
/// The longest tag, in characters, and the most of them.
const MAX_TAG_CHARS: usize = 40;
const MOST_TAGS: usize = 20;

/// Why something could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not record it")]
    Spool(#[from] capture::Error),
    #[error("could not write it as JSON")]
    Json(#[from] serde_json::Error),
    #[error("could not make the folder of the context")]
    Folder(#[source] io::Error),
}

/// Where an observation belongs.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// `None` for Claude Code.
    pub platform: Option<&'a str>,
    pub session: Cow<'a, str>,
    pub cwd: &'a Path,
    pub prompt_id: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// A session of the client.
    pub fn in_session(session: &'a str, cwd: &'a Path) -> Self {
        Self { platform: None, session: session.into(), cwd, prompt_id: None }
    }

    /// Outside of any session: what is done there has one for each project.
    pub fn by_hand(project: &str, cwd: &'a Path) -> Self {
        let session = format!("{BY_HAND}-{}", digest::short_hex(project.as_bytes()));
        Self { platform: Some(BY_HAND), session: session.into(), cwd, prompt_id: None }
    }
}

/// Appends observations about contexts.
#[derive(Clone, Debug)]
pub struct Writer<'a> {
    spool: Spool,
    folder: PathBuf,
    pub place: Place<'a>,
    pub now: Timestamp,
}

impl<'a> Writer<'a> {
    pub fn new(paths: &Paths, place: Place<'a>, now: Timestamp) -> Self {
        Self { spool: Spool::new(paths.spool()), folder: paths.work(), place, now }
    }

    /// Makes a context of a text; returns its id.
    pub fn make(&self, text: &str, make: impl FnOnce(String) -> Action) -> Result<String, Error> {
        let summary = summary(text);
        let context = id::take(&self.folder, &summary, self.now.millis()).map_err(Error::Folder)?;
        self.act(&context, make(summary)).inspect_err(|_| id::give_back(&self.folder, &context))?;
        Ok(context)
    }

    /// Has something happen to a context.
    pub fn act(&self, context: &str, action: Action) -> Result<(), Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // No other process has it at this moment, and this one only once.
        let id = format!("w:{}-{}-{number}", self.now.millis(), std::process::id());
        self.act_as(&id, context, action)
    }

    /// As [`Self::act`], under an id: what has it already is stored once.
    pub fn act_as(&self, id: &str, context: &str, action: Action) -> Result<(), Error> {
        let git = super::fold::git_of(self.place.cwd).filter(|_| !matches!(action, Action::Import(_)));
        let work = Work { context: context.to_owned(), action, git };
        let data = serde_json::value::to_raw_value(&work)?;
        let data = Data::Kept(Kept { kind: KIND.into(), data: Cow::Owned(data) });
        let observation = Observation {
            platform: Some(self.place.platform.unwrap_or(CLAUDE_CODE).into()),
            cwd: self.place.cwd.to_string_lossy(),
            prompt_id: self.place.prompt_id.map(Cow::from),
            ..Observation::new(&self.place.session, id, self.now.millis(), data)
        };
        Ok(self.spool.append(&observation)?)
    }
}

/// Returns a text as a summary: without what is private and secret, on one line.
pub fn summary(text: &str) -> String {
    sanitize::one_line(&kept(text), MAX_SUMMARY_CHARS)
}

/// Returns a text without what is private and secret.
pub fn kept(text: &str) -> String {
    let public = privacy::strip(text).text;
    shrink::text(public.trim()).trim().to_owned()
}

/// Returns tags as they are kept: each once, in lower case, without what no tag has.
pub fn tags<'t>(given: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in given.into_iter().flat_map(|tags| tags.split(',')) {
        let tag = sanitize::one_line(&kept(tag), MAX_TAG_CHARS).to_lowercase().replace(' ', "-");
        if !tag.is_empty() && !tags.contains(&tag) && tags.len() < MOST_TAGS {
            tags.push(tag);
        }
    }
    tags
}

/// Binds a session to a context for the hooks: the presence of the file is what a bound session costs.
pub fn write_binding(paths: &Paths, session: &str, context: &str) -> io::Result<()> {
    files::write_atomic(&paths.binding_file(session), context.as_bytes())
}

/// Returns the context that a session is bound to, as its file says.
pub fn read_binding(paths: &Paths, session: &str) -> Option<String> {
    let bytes = files::read_capped(&paths.binding_file(session), id::MAX_CHARS * 4).ok()?;
    let context = String::from_utf8(bytes).ok()?;
    id::check(&context).ok().map(|()| context)
}

/// Has the next prompt of a session look for a context again.
pub fn remove_binding(paths: &Paths, session: &str) -> io::Result<bool> {
    files::remove_if_there(&paths.binding_file(session))
}
