//! A job that someone asked for, as a file of its own.

use base::{Paths, Timestamp, files};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The version of the format.
pub const VERSION: u32 = 1;
/// A temporary file this old was left behind.
const ABANDONED_AFTER: Duration = Duration::from_secs(3_600);

/// A job that is asked for. It stays on disk in clear: ids and paths belong into it, not texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request<'a> {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// What is to be done.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// The project that it is for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Cow<'a, str>>,
    /// What makes two requests of a kind the same work: one of them is done.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// What the job needs to know.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<&'a RawValue>,
    /// The earliest moment to do it, in milliseconds since 1970; absent, it is due at once. A program from before this
    /// field does the job at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<u64>,
}

impl<'a> Request<'a> {
    /// Returns a request for a job of a kind, without a project, a key or a payload.
    pub fn new(kind: impl Into<Cow<'a, str>>) -> Self {
        Self {
            version: VERSION,
            kind: kind.into(),
            project: None,
            key: None,
            payload: None,
            not_before: None,
        }
    }
}

/// Asks for a job. When this returns `Ok`, the request survives the death of any process.
pub fn request(paths: &Paths, request: &Request<'_>, now: Timestamp) -> io::Result<()> {
    // Containers that share the folder may share process ids as well, so the name is random. The time comes first:
    // names sort by age.
    let random = RandomState::new().build_hasher().finish();
    let file = folder(paths).join(format!("{:013}-{random:016x}.json", now.millis()));
    files::write_atomic(&file, &serde_json::to_vec(request)?)
}

/// A request that is not in the database yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    path: PathBuf,
}

/// What is wrong with a request.
#[derive(Debug)]
pub enum Problem {
    /// Someone else took it in meanwhile.
    Gone,
    /// The file cannot be read now.
    Unreadable(io::Error),
    /// It is not a request, or one of a later version.
    Foreign(String),
}

impl Pending {
    /// Returns the request's name, which no other request has.
    pub fn id(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads the request and hands it to `take`.
    pub fn read<T>(&self, take: impl FnOnce(&Request<'_>) -> T) -> Result<T, Problem> {
        let text = files::read_capped(&self.path, files::cap::STATE).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Problem::Gone,
            _ => Problem::Unreadable(error),
        })?;
        let request: Request<'_> =
            serde_json::from_slice(&text).map_err(|error| Problem::Foreign(error.to_string()))?;
        if request.version != VERSION {
            return Err(Problem::Foreign(format!("its version is {}", request.version)));
        }
        Ok(take(&request))
    }

    /// Removes the request: it is in the database now.
    pub fn remove(&self) -> io::Result<()> {
        files::remove_if_there(&self.path).map(|_| ())
    }

    /// Puts a request aside that cannot be understood, under a name that is not looked at again.
    pub fn put_aside(&self) -> io::Result<PathBuf> {
        let aside = self.path.with_extension("bad");
        fs::rename(&self.path, &aside)?;
        Ok(aside)
    }
}

/// Returns the requests that are not in the database yet, oldest first.
pub fn pending(paths: &Paths) -> Vec<Pending> {
    let files = files::files_in(&folder(paths)).into_iter();
    files
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') {
                remove_if_abandoned(path);
                return false;
            }
            name.ends_with(".json")
        })
        .map(|path| Pending { path })
        .collect()
}

/// Removes what a writer left that was killed before its file got its name.
fn remove_if_abandoned(path: &std::path::Path) {
    let age = fs::metadata(path).and_then(|metadata| metadata.modified()).map(|modified| modified.elapsed());
    if matches!(age, Ok(Ok(age)) if age > ABANDONED_AFTER) {
        let _ = fs::remove_file(path);
    }
}

fn folder(paths: &Paths) -> PathBuf {
    paths.data().join("jobs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    fn paths(folder: &tempfile::TempDir) -> Paths {
        Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]))
    }

    #[test]
    fn requests_come_back_oldest_first_as_they_were_made() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let payload = RawValue::from_string(r#"{"session":"s"}"#.to_owned()).unwrap();
        let wanted = Request { key: Some("s".into()), payload: Some(&payload), ..Request::new("summarise") };
        request(&paths, &wanted, Timestamp::from_millis(2_000)).unwrap();
        request(&paths, &Request::new("drain"), Timestamp::from_millis(1_000)).unwrap();
        let all = pending(&paths);
        let kinds = |pending: &Pending| pending.read(|request| request.kind.to_string()).unwrap();
        assert_eq!(all.iter().map(kinds).collect::<Vec<_>>(), ["drain", "summarise"]);
        let text = all[1].read(|request| request.payload.map(|payload| payload.get().to_owned())).unwrap();
        assert_eq!(text.as_deref(), Some(r#"{"session":"s"}"#));
        all.iter().for_each(|pending| pending.remove().unwrap());
        assert!(pending(&paths).is_empty() && matches!(all[0].read(|_| ()), Err(Problem::Gone)));
    }

    #[test]
    fn a_request_keeps_its_earliest_moment_and_one_from_before_the_field_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let later = Request { not_before: Some(5_000), ..Request::new("drain") };
        request(&paths, &later, Timestamp::from_millis(1)).unwrap();
        fs::write(folder.path().join("jobs/0000000000002-a.json"), r#"{"v":1,"kind":"drain"}"#).unwrap();
        let read: Vec<Option<u64>> =
            pending(&paths).iter().map(|pending| pending.read(|it| it.not_before).unwrap()).collect();
        assert_eq!(read, [Some(5_000), None]);
    }

    #[test]
    fn requests_of_one_moment_do_not_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        for _ in 0..100 {
            request(&paths, &Request::new("drain"), Timestamp::from_millis(1)).unwrap();
        }
        assert_eq!(pending(&paths).len(), 100);
    }

    #[test]
    fn a_file_that_is_no_request_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        fs::create_dir(folder.path().join("jobs")).unwrap();
        for (name, text) in [("1-a.json", "{\"v\":1,"), ("2-b.json", r#"{"v":2,"kind":"drain"}"#)] {
            fs::write(folder.path().join("jobs").join(name), text).unwrap();
        }
        for pending in pending(&paths) {
            assert!(matches!(pending.read(|_| ()), Err(Problem::Foreign(_))));
            assert!(pending.put_aside().unwrap().exists());
        }
        assert!(pending(&paths).is_empty());
    }

    #[test]
    fn a_half_written_request_is_not_seen_and_goes_away_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let [fresh, old] =
            [".1.json.1.0.tmp", ".2.json.1.0.tmp"].map(|name| folder.path().join("jobs").join(name));
        for file in [&fresh, &old] {
            files::write_atomic(file, b"{").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
        fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        assert!(pending(&paths).is_empty());
        assert!(fresh.exists() && !old.exists());
    }
}
