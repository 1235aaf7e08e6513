//! Requests for distillations, written down in the watermark.

use crate::watermark::{Hold, Session};
use base::project::Project;
use base::{Paths, Timestamp, digest};
use place::Folder;
use queue::{Request, Start};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

/// The kind of the worker's jobs that distill.
pub const KIND: &str = "distill";

/// The payload of such a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// The session's id.
    pub session: String,
    /// Its transcript.
    pub transcript: String,
    /// The folder that it works in.
    pub cwd: String,
    /// The `.wyren/` that its turns were counted in; missing in a request of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wyren: Option<String>,
    /// Whether the watermark alone says so, and not the client: see [`ask`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hearsay: bool,
}

/// Asks for the distillation of sessions that are named by their keys, and sees to it that a worker does it.
///
/// The flag is written before a worker can have seen the request, and the hold keeps it from being cleared before the
/// process is noted. Should the request fail, the watermark is as it was.
///
/// What the client has just said about its session, `own`, is so. What the watermark says of others need not be: a
/// repository may come with a watermark of its making, that names a transcript of another project or a folder of one.
pub(crate) fn ask(
    hold: &mut Hold,
    folder: &Folder,
    paths: &Paths,
    own: Option<&str>,
    keys: &[String],
    now: Timestamp,
) -> io::Result<()> {
    let before = hold.watermark.clone();
    let known = |key: &String| Some((before.sessions.get(key)?.clone(), own != Some(key.as_str())));
    let wanted: Vec<(Session, bool)> = keys.iter().filter_map(known).collect();
    for key in keys {
        if let Some(session) = hold.watermark.sessions.get_mut(key) {
            (session.turns, session.requested_at) = (0, now.millis());
        }
    }
    // The Node version counts the turns of all sessions together, and begins anew with each distillation.
    hold.watermark.turns_since_distill = 0;
    let is_running = before.is_running(now);
    if !is_running {
        hold.watermark.set_running(Some(std::process::id()));
    }
    hold.write(now)?;
    let project = project_of(folder);
    let mut requests = wanted.iter();
    if let Err(error) = requests
        .try_for_each(|(session, is_hearsay)| request(paths, folder, &project, session, *is_hearsay, now))
    {
        hold.watermark = before;
        hold.write(now)?;
        return Err(error);
    }
    let started = queue::start_worker_for_work(paths, now);
    if !is_running {
        let process = match started {
            Ok(Start::Started(process)) => Some(process),
            Ok(Start::Running | Start::TooSoon) => queue::last_started(paths),
            Ok(Start::NoWork) | Err(_) => None,
        };
        if process.is_some() || matches!(started, Ok(Start::Running)) {
            hold.watermark.set_running(process);
        } else {
            // The request stays, but no process works on it: the Node version would wait for ever for one without an id.
            hold.watermark.clear_running();
        }
        hold.write(now)?;
    }
    started.map(|_| ())
}

/// Returns the key of the project that a memory belongs to. All work trees of a repository are one.
fn project_of(folder: &Folder) -> String {
    match &folder.place {
        Some(place) => place.repository.clone().project().key,
        None => Project::of(folder.wyren.parent().unwrap_or(&folder.wyren)).key,
    }
}

fn request(
    paths: &Paths,
    folder: &Folder,
    project: &str,
    session: &Session,
    is_hearsay: bool,
    now: Timestamp,
) -> io::Result<()> {
    let name = |folder: &Path| folder.to_string_lossy().into_owned();
    // Whatever it says, it is about the clone that it is in.
    let root = folder.wyren.parent().map(name);
    let cwd = if is_hearsay { root } else { session.cwd.clone() };
    let payload = Payload {
        session: session.id.clone(),
        transcript: session.transcript.clone().unwrap_or_default(),
        cwd: cwd.unwrap_or_default(),
        wyren: Some(name(&folder.wyren)),
        is_hearsay,
    };
    let raw = RawValue::from_string(serde_json::to_string(&payload)?)?;
    let place = digest::short_hex(folder.state().as_os_str().as_encoded_bytes());
    let wanted = Request {
        project: Some(project.into()),
        // A session that wandered from one repository to another is work for both.
        key: Some(format!("{}@{place}", payload.session).into()),
        payload: Some(&raw),
        ..Request::new(KIND)
    };
    queue::request(paths, &wanted, now)
}
