//! Leave to publish: the user's word that what they decide in a clone may go to its remote.
//!
//! [`Team::publish`] takes a [`Leave`], and only this module makes one: from the user's word ([`Team::give_leave`]), from a
//! standing one for the owner of the remote (`memory.publish_for`), or for a clone that was published from before leave
//! was needed. Without it a clone fetches, merges and keeps everything here.
//!
//! A word is about one clone and the addresses that it pushes to. It is in the user's data folder, together with the name
//! of `refs/wyren/clone`, a random object of this clone: another clone at the same path does not have it.
//!
//! ```text
//! wyren publish 1
//! git /home/ada/app/.git
//! clone 3f1c…
//! remote github.com/acme/app
//! given 2026-11-16T02:26:41.123Z wyren sync
//! ```

use crate::repository::{Error, Team};
use base::leave::{self, HEADER, Known};
use base::lock::Lock;
use base::project::{Project, Repository, remote_key};
use base::settings::{self, Settings};
use base::{Env, Paths, Timestamp, digest, files};
use place::state_folder;
use serde_json::Value;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The reference to the random object of a clone.
const CLONE: &str = "refs/wyren/clone";

/// How long to wait for another process that takes the user's word.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of a transcript or watermark is read, in bytes.
const MAX_READ: usize = 256 * 1024;

/// Proof that the user lets a clone publish to certain addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    common_folder: PathBuf,
    /// As [`Team::destinations`].
    destinations: Vec<String>,
}

impl Leave {
    /// Returns whether it is about this clone and all that it pushes to.
    pub(crate) fn covers(&self, team: &Team) -> bool {
        self.common_folder == team.common_folder() && self.destinations == team.destinations()
    }
}

/// What the file of a clone says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Word {
    git: String,
    clone: String,
    /// Empty when it was given before there was a remote.
    remotes: Vec<String>,
    /// When and by which command.
    given: String,
}

impl Word {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let mut word = Self::default();
        for (name, value) in lines.filter_map(|line| line.split_once(' ')) {
            match name {
                "git" => value.clone_into(&mut word.git),
                "clone" => value.clone_into(&mut word.clone),
                "remote" => word.remotes.push(value.to_owned()),
                "given" => value.clone_into(&mut word.given),
                _ => {}
            }
        }
        Some(word)
    }

    fn render(&self) -> String {
        let mut text = format!("{HEADER}\ngit {}\nclone {}\n", self.git, self.clone);
        for remote in &self.remotes {
            text.push_str(&format!("remote {remote}\n"));
        }
        text.push_str(&format!("given {}\n", self.given));
        text
    }

    fn write(&self, file: &Path) -> Result<(), Error> {
        files::write_atomic(file, self.render().as_bytes()).map_err(Error::file(file))
    }
}

impl Team {
    /// Returns the user's leave to publish from this clone; `None` until the user gives it. Without a remote nothing can
    /// leave the clone, and none is needed.
    pub fn leave(&self, env: &Env) -> Result<Option<Leave>, Error> {
        let paths = Paths::of(env);
        let leave = Leave { common_folder: self.common_folder(), destinations: self.destinations() };
        if leave.destinations.is_empty() {
            return Ok(Some(leave));
        }
        let file = paths.leave_file(&leave.common_folder);
        // A word about something else that was here shows that the clone is not one of earlier, too.
        let is_given = match self.word(&file)? {
            Some(word) => word,
            None if self.was_published_from(env, &paths) => {
                self.take_word(&file, "published before").map(|_| true)?
            }
            None => false,
        };
        Ok((is_given || is_standing(&paths, &leave.destinations)).then_some(leave))
    }

    /// Takes the user's word that this clone may publish, given by `command`. Returns whether it is news.
    pub fn give_leave(&self, command: &str, env: &Env) -> Result<bool, Error> {
        let paths = Paths::of(env);
        let file = paths.leave_file(&self.common_folder());
        let is_news = self.take_word(&file, command)?;
        // A notice that comes once more is no harm.
        let _ = leave::forget_kept(&paths, &self.common_folder());
        Ok(is_news)
    }

    /// Returns where a push goes, as `host/path` each.
    pub fn destinations(&self) -> Vec<String> {
        let Some(remote) = &self.remote else { return Vec::new() };
        let root = &self.place.repository.root;
        let key = |address: &str| {
            let key = remote_key(address, root).filter(|key| !key.chars().any(char::is_control));
            key.unwrap_or_else(|| format!("address:{}", digest::sha256_hex(address.as_bytes())))
        };
        let mut destinations: Vec<String> = remote.destinations.iter().map(|address| key(address)).collect();
        destinations.sort_unstable();
        destinations.dedup();
        destinations
    }

    /// Returns whether the user's word in `file` is about this clone and its remote; `None` when there is no file.
    fn word(&self, file: &Path) -> Result<Option<bool>, Error> {
        let Some(text) = files::read_if_there(file).map_err(Error::file(file))? else { return Ok(None) };
        let Some(word) = Word::parse(&String::from_utf8_lossy(&text)) else { return Ok(Some(false)) };
        let is_here =
            word.git == on_one_line(&self.common_folder()) && Some(&word.clone) == self.mark()?.as_ref();
        let destinations = self.destinations();
        if is_here && word.remotes.is_empty() && !destinations.is_empty() {
            // Given before there was a remote: from now on it is about this one.
            Word { remotes: destinations, ..word }.write(file)?;
            return Ok(Some(true));
        }
        Ok(Some(is_here && word.remotes == destinations))
    }

    /// Writes the user's word, unless it is there. Returns whether it was not.
    fn take_word(&self, file: &Path, by: &str) -> Result<bool, Error> {
        // Two at a time would each make a mark, and the file of the one would name that of the other.
        let lock = file.with_file_name("lock");
        let _lock = Lock::exclusive(&lock, PATIENCE).map_err(Error::file(&lock))?.ok_or(Error::Busy)?;
        if self.word(file)? == Some(true) {
            return Ok(false);
        }
        let word = Word {
            git: on_one_line(&self.common_folder()),
            clone: self.new_mark()?,
            remotes: self.destinations(),
            given: format!("{} {by}", Timestamp::now()),
        };
        word.write(file).map(|()| true)
    }

    /// Returns the name of the random object of this clone.
    fn mark(&self) -> Result<Option<String>, Error> {
        let output = self.git.local(&["rev-parse", "--quiet", "--verify", CLONE])?;
        match output.code {
            Some(0) if !output.line().is_empty() => Ok(Some(output.line())),
            Some(1) => Ok(None),
            _ => Err(Error::Git { action: "read refs/wyren", words: output.words() }),
        }
    }

    /// Makes a new one: one that came with an archive is known to others.
    fn new_mark(&self) -> Result<String, Error> {
        let random = [RandomState::new(), RandomState::new()].map(|state| state.hash_one(0));
        let name = self.objects.write(format!("{:016x}{:016x}\n", random[0], random[1]).as_bytes())?;
        let name = name.to_string();
        let output = self.git.local(&["update-ref", CLONE, &name])?;
        if !output.is_success() {
            return Err(Error::Git { action: "update refs/wyren", words: output.words() });
        }
        Ok(name)
    }

    fn common_folder(&self) -> PathBuf {
        files::canonical(&self.place.repository.common_folder)
    }

    /// Returns whether this user's Wyren, or the Node version, published from this clone before leave was needed. What an
    /// archive or a clone can bring by itself shows nothing; the user's database and the client's transcripts do.
    fn was_published_from(&self, env: &Env, paths: &Paths) -> bool {
        let Some(known) = Known::read(paths) else { return false };
        (self.was_synced() && self.is_known(&known)) || self.was_distilled(&known, env)
    }

    /// Returns whether the local copy and the remote were ever merged.
    fn was_synced(&self) -> bool {
        let arguments = [
            "for-each-ref",
            "--count=1",
            "--format=%(refname)",
            "refs/wyren/local",
            "refs/worktree/wyren/local",
        ];
        self.git.local(&arguments).is_ok_and(|output| output.is_success() && !output.line().is_empty())
    }

    /// Returns whether the user worked here before, when the clone had the remote that it has now.
    fn is_known(&self, known: &Known) -> bool {
        let key = Project::of(&self.place.repository.root).key;
        known.worked.iter().any(|(worked_on, folder)| *worked_on == key && self.contains(folder))
    }

    /// Returns whether a session was distilled here before: the watermark names a transcript by an id that only the client
    /// knew, and the transcript is the user's, of before, and about this clone.
    fn was_distilled(&self, known: &Known, env: &Env) -> bool {
        let path = state_folder(&self.folder).join("watermark.json");
        let Some(text) = beginning(&path) else { return false };
        let watermark: Value = serde_json::from_slice(&text).unwrap_or_default();
        let distilled = watermark["last_distilled_at"].as_f64().map(|at| at as u64);
        let transcript = watermark["last_transcript"].as_str().map(PathBuf::from);
        let (Some(distilled), Some(transcript)) = (distilled, transcript) else { return false };
        distilled < known.since.millis()
            && is_transcript_of_user(&transcript, env)
            && self.happened_here(&transcript, known.since)
    }

    /// Returns whether a transcript begins before `since`, and in this clone.
    fn happened_here(&self, transcript: &Path, since: Timestamp) -> bool {
        let text = beginning(transcript).unwrap_or_default();
        let records =
            || text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let moment = records().find_map(|record: Value| record["timestamp"].as_str()?.parse().ok());
        let folder = records().find_map(|record: Value| record["cwd"].as_str().map(PathBuf::from));
        moment.is_some_and(|moment: Timestamp| moment < since)
            && folder.is_some_and(|folder| self.contains(&folder))
    }

    fn contains(&self, folder: &Path) -> bool {
        let repository = Repository::above(folder);
        repository
            .is_some_and(|repository| files::canonical(&repository.common_folder) == self.common_folder())
    }
}

/// Returns whether the user gave leave for every clone of these owners. The environment has no say: a repository may
/// bring variables for sessions.
fn is_standing(paths: &Paths, destinations: &[String]) -> bool {
    let nothing = Env::fixed::<String, String>([]);
    let owners = Settings::read(&nothing, &paths.hook_settings()).get("memory.publish_for");
    let is_covered = |destination: &String| settings::list(&owners).any(|owner| is_below(destination, owner));
    destinations.iter().all(is_covered)
}

/// Returns whether a destination belongs to an owner: `github.com/acme/app` to `github.com/acme`, and to no `github.com`.
fn is_below(destination: &str, owner: &str) -> bool {
    let owner = owner.trim_end_matches('/');
    owner.trim_start_matches('/').contains('/')
        && destination.strip_prefix(owner).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}

/// Returns whether a path is that of a session's transcript in the client's folder of this user.
fn is_transcript_of_user(path: &Path, env: &Env) -> bool {
    let home = || base::system::home(env).map(|home| home.join(".claude"));
    let Some(client) = env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home) else { return false };
    let is_id = |name: &str| {
        let is_digit = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        name.len() == 36 && name.bytes().enumerate().all(is_digit)
    };
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"));
    path.is_absolute()
        && name.is_some_and(is_id)
        && base::system::canonical(path)
            .is_ok_and(|path| path.starts_with(files::canonical(&client.join("projects"))))
}

/// Returns the first bytes of a regular file.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    files::read_start(path, MAX_READ, &mut text).ok()?;
    Some(text)
}

fn on_one_line(path: &Path) -> String {
    files::on_one_line(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_word_reads_as_it_was_written_and_another_version_gives_none() {
        let word = Word {
            git: "/home/ada/my app/.git".to_owned(),
            clone: "3f1c".to_owned(),
            remotes: vec!["host/a".to_owned(), "/srv/my git/a".to_owned()],
            given: "2026-11-16T02:26:41.123Z wyren sync".to_owned(),
        };
        assert_eq!(Word::parse(&word.render()), Some(word));
        assert_eq!(Word::parse("wyren publish 2\ngit /a\n"), None);
        assert_eq!(Word::parse(""), None);
    }

    #[test]
    fn an_owner_is_compared_part_by_part() {
        for (destination, owner) in [
            ("github.com/acme/app", "github.com/acme"),
            ("github.com/acme/app", "github.com/acme/"),
            ("host:2222/group/sub/app", "host:2222/group"),
            ("/srv/git/acme/app", "/srv/git"),
        ] {
            assert!(is_below(destination, owner), "{destination} {owner}");
        }
        for (destination, owner) in [
            ("github.com/acme-evil/app", "github.com/acme"),
            ("github.com/acme", "github.com/acme"),
            ("github.com/acme/app", "github.com"),
            ("github.com/acme/app", "github.com/"),
            ("evil.com/github.com/acme/app", "github.com/acme"),
            ("github.com/acme/app", ""),
            ("/srv/git/app", "/"),
            ("/srv/git/app", "/srv"),
        ] {
            assert!(!is_below(destination, owner), "{destination} {owner}");
        }
    }

    #[test]
    fn a_transcript_is_named_by_the_client_and_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::fixed([("HOME", folder.path())]);
        let projects = folder.path().join(".claude/projects/-home-ada-app");
        fs::create_dir_all(&projects).unwrap();
        let make = |path: PathBuf| {
            fs::write(&path, "").unwrap();
            path
        };
        let id = "720ff4aa-05f9-4e05-aad8-0d889a82ec5a.jsonl";
        assert!(is_transcript_of_user(&make(projects.join(id)), &env));
        assert!(!is_transcript_of_user(&make(projects.join("agent-1.jsonl")), &env));
        assert!(!is_transcript_of_user(&make(folder.path().join(id)), &env));
        assert!(!is_transcript_of_user(&projects.join(id.replace('7', "8")), &env), "not there");
        assert!(!is_transcript_of_user(&make(projects.join("../../").join(id)), &env));
    }
}
