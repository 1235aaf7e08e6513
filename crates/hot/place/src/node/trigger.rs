//! `.wyren/state/distill-trigger.lock`: lets one of several stops start a distillation.
//!
//! Our hooks need no such file, the watermark's lock is enough for them; a hook of the Node version in the same clone does.

use base::{Timestamp, files};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A lock this old was left behind.
const STALE_MILLIS: u64 = 60_000;

/// The right to start a distillation; dropping it gives the right back.
#[derive(Debug)]
pub struct Trigger {
    path: PathBuf,
}

impl Trigger {
    /// Claims the right; `None` when someone else has it.
    pub fn claim(state: &Path, now: Timestamp) -> io::Result<Option<Self>> {
        let path = state.join("distill-trigger.lock");
        if let Some(trigger) = Self::create(&path, now)? {
            return Ok(Some(trigger));
        }
        let Ok(modified) = fs::metadata(&path).and_then(|metadata| metadata.modified()) else {
            return Ok(None);
        };
        if now.millis_since(modified.into()) < STALE_MILLIS {
            return Ok(None);
        }
        // Another process that removes it as well finds that the new one is not stale.
        let _ = fs::remove_file(&path);
        Self::create(&path, now)
    }

    fn create(path: &Path, now: Timestamp) -> io::Result<Option<Self>> {
        match files::private_options().write(true).create_new(true).open(path) {
            Ok(mut file) => {
                let trigger = Self { path: path.to_owned() };
                let text = format!(r#"{{"pid":{},"created_at":{}}}"#, std::process::id(), now.millis());
                file.write_all(text.as_bytes())?;
                Ok(Some(trigger))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_claim_is_refused_until_the_first_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let first = Trigger::claim(folder.path(), now).unwrap();
        assert!(first.is_some() && Trigger::claim(folder.path(), now).unwrap().is_none());
        let text = fs::read_to_string(folder.path().join("distill-trigger.lock")).unwrap();
        let content: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&content["pid"], &content["created_at"]),
            (&std::process::id().into(), &now.millis().into())
        );
        drop(first);
        assert!(Trigger::claim(folder.path(), now).unwrap().is_some());
        assert_eq!(files::files_in(folder.path()), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_stale_claim_is_stolen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("distill-trigger.lock");
        fs::write(&path, "whatever").unwrap();
        let written = Timestamp::from(fs::metadata(&path).unwrap().modified().unwrap());
        let later = |millis: u64| Timestamp::from_millis(written.millis() + millis);
        assert!(Trigger::claim(folder.path(), later(STALE_MILLIS - 1)).unwrap().is_none());
        assert!(Trigger::claim(folder.path(), later(STALE_MILLIS)).unwrap().is_some());
    }
}
