//! The repository through which git reaches the remote: an empty one of ours, in the cache folder.
//!
//! A repository's own configuration can name programs that git runs when it connects: an ssh command, a credential helper, a
//! proxy, a helper for another protocol. An unpacked archive brings such a configuration with it, so git never connects from
//! within the user's repository. In the relay it finds
//!
//! - the user's own configuration, global and system, as git resolves it for the user's repository,
//! - of the repository's configuration only where the remote is, and what the user trusts (`wyren trust`),
//! - the objects of the user's repository, to read and to add to.
//!
//! ```text
//! cache/git/<digest of the .wyren folder>/
//!   HEAD, config    what makes it a repository
//!   shallow         that of the user's repository, when it is shallow
//!   refs/have/      commits that are here, so that a fetch asks only for what is new
//!   FETCH_HEAD      what the last fetch found
//! ```

use crate::repository::Error;
use crate::repository::config::{Config, Remote, Setting};
use crate::repository::git::{Failure, Git, NO_PROTOCOL, Output};
use crate::repository::team::checked_out;
use base::trust::{Identity, Item, Trust};
use base::{Env, Paths, digest, files};
use git2::Oid;
use place::Place;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What git needs to take a folder for a repository, with its contents.
const SKELETON: [(&str, &str); 2] = [
    ("HEAD", "ref: refs/heads/main\n"),
    ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogAllRefUpdates = false\n"),
];

/// From this size on, git writes a blob as it comes instead of holding it in memory: more than any that is shared.
const STREAMED: &str = "core.bigFileThreshold=8m";

/// The folder of the references to commits that are here.
const HAVE: &str = "refs/have";

/// The protocols that need no word of the user's.
const PROTOCOLS: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Settings of a remote that say where it is, or what a clone of it lacks: they start no program.
const ABOUT_REMOTE: [&str; 4] = ["url", "pushurl", "promisor", "partialclonefilter"];

/// Settings of a remote that decide how git connects.
const OF_REMOTE: [&str; 6] = ["uploadpack", "receivepack", "proxy", "proxyauthmethod", "vcs", "serveroption"];

/// Sections that decide how git connects, and to where.
const CONNECTING_SECTIONS: [&str; 6] = ["credential.", "http.", "protocol.", "ssh.", "url.", "gitcvs."];

/// Settings that decide how git connects.
const CONNECTING: [&str; 3] = ["core.sshcommand", "core.gitproxy", "core.askpass"];

/// A connection to one remote.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    git: Git,
    folder: PathBuf,
    objects: PathBuf,
    shallow: PathBuf,
    /// Settings that the relay gets besides the user's own, in git's order.
    settings: Vec<Setting>,
    /// `GIT_ALLOW_PROTOCOL`; `None` when the user's environment or configuration decides.
    protocols: Option<String>,
    /// The repository's own settings about connecting that are not used, by name.
    left_out: Vec<String>,
}

impl Relay {
    /// Returns the relay for `remote` of the repository at `place`. `wyren` is the folder of its memory, whether that is
    /// there or not.
    pub(crate) fn new(
        place: &Place,
        wyren: &Path,
        git: &Git,
        config: &Config,
        remote: &Remote,
        env: &Env,
    ) -> Result<Self, Error> {
        let paths = Paths::of(env);
        let name = digest::short_hex(wyren.as_os_str().as_encoded_bytes());
        let common = &place.repository.common_folder;
        let mut relay = Self {
            git: git.clone(),
            folder: paths.cache().join("git").join(name),
            objects: common.join("objects"),
            shallow: common.join("shallow"),
            settings: Vec::new(),
            protocols: protocols(config, env),
            left_out: Vec::new(),
        };
        let own = connecting(config, remote);
        if !own.is_empty() {
            let root = wyren.parent().unwrap_or(wyren);
            let trust = Trust::read(&paths, root, Identity::of);
            let (used, left_out): (Vec<&Setting>, Vec<&Setting>) = own
                .into_iter()
                .partition(|setting| trust.as_ref().is_some_and(|trust| trust.covers(&item(setting).digest)));
            relay.settings.extend(used.into_iter().cloned());
            relay.left_out = left_out.into_iter().map(|setting| setting.name.clone()).collect();
            relay.left_out.dedup();
        }
        if relay.settings.iter().any(|setting| setting.name == "core.sshcommand")
            || config.users_value("core.sshcommand").is_some()
        {
            relay.git.heed_configured_ssh();
        }
        relay.settings.extend(relay.conditional_settings(config)?);
        relay.settings.extend(config.own().filter(|setting| is_about(setting, remote)).cloned());
        Ok(relay)
    }

    /// Runs a command that uses the network. All that it started is dead afterwards; should this process be killed
    /// meanwhile, that dies as well.
    pub(crate) fn network(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
        deadline: Instant,
    ) -> Result<Output, Failure> {
        self.prepare().map_err(|error| Failure::Start(Error::file(&self.folder)(error)))?;
        let mut environment = self.environment();
        environment.extend(self.protocols.iter().map(|list| ("GIT_ALLOW_PROTOCOL".to_owned(), list.into())));
        self.git.network(&environment, arguments, input, deadline)
    }

    /// Fetches a branch, and returns its tip when that succeeded. `have` are commits that are here with all that they lead to.
    pub(crate) fn fetch(
        &self,
        remote: &str,
        branch: &str,
        have: &[Oid],
        deadline: Instant,
    ) -> Result<(Output, Option<Oid>), Failure> {
        let unwritten = |error| Failure::Start(Error::file(&self.folder)(error));
        self.note_have(have).map_err(unwritten)?;
        let reference = format!("refs/heads/{branch}");
        let arguments = [
            "-c",
            STREAMED,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-recurse-submodules",
            "--refmap=",
            "--",
            remote,
            &reference,
        ];
        let output = self.network(&arguments, Vec::new(), deadline)?;
        let found = if output.is_success() { self.fetch_head() } else { None };
        Ok((output, found))
    }

    /// Adds to git's words which settings of the repository were not used: they may be why it failed.
    pub(crate) fn explained(&self, words: String) -> String {
        if self.left_out.is_empty() {
            return words;
        }
        let names = self.left_out.join(", ");
        format!("this clone's own git settings are not used until you run `wyren trust` ({names}); {words}")
    }

    /// Makes the folder what it has to be, whatever it was.
    fn prepare(&self) -> io::Result<()> {
        files::create_private_folder(&self.folder.join(HAVE))?;
        for (name, contents) in SKELETON {
            keep(&self.folder.join(name), Some(contents.as_bytes()))?;
        }
        let shallow = files::read_capped_if_there(&self.shallow, files::cap::PACKED_REFS)?;
        keep(&self.folder.join("shallow"), shallow.as_deref())
    }

    fn note_have(&self, have: &[Oid]) -> io::Result<()> {
        for (number, place) in ["first", "second"].into_iter().enumerate() {
            let line = have.get(number).map(|id| format!("{id}\n"));
            keep(&self.folder.join(HAVE).join(place), line.as_deref().map(str::as_bytes))?;
        }
        Ok(())
    }

    fn fetch_head(&self) -> Option<Oid> {
        let text = files::read_text_capped(&self.folder.join("FETCH_HEAD"), files::cap::POINTER).ok()?;
        Oid::from_str(text.split_whitespace().next()?).ok()
    }

    /// Returns the variables that make git work in the relay, with the relay's settings.
    fn environment(&self) -> Vec<(String, std::ffi::OsString)> {
        let mut environment = vec![
            ("GIT_DIR".to_owned(), self.folder.clone().into()),
            ("GIT_OBJECT_DIRECTORY".to_owned(), self.objects.clone().into()),
        ];
        // Not as arguments, which every user of the machine can read: an address may have a password in it.
        let given = self.git.given_settings();
        for (number, setting) in (given..).zip(&self.settings) {
            environment.push((format!("GIT_CONFIG_KEY_{number}"), setting.name.clone().into()));
            // A name without a value means yes.
            let value = setting.value.clone().unwrap_or_else(|| "true".to_owned());
            environment.push((format!("GIT_CONFIG_VALUE_{number}"), value.into()));
        }
        environment.push(("GIT_CONFIG_COUNT".to_owned(), (given + self.settings.len()).to_string().into()));
        environment
    }

    /// Returns the user's own settings that hold for the repository and not for the relay, which is elsewhere: `includeIf`
    /// makes such.
    fn conditional_settings(&self, config: &Config) -> Result<Vec<Setting>, Error> {
        if !config.users().any(|setting| setting.name.starts_with("includeif.")) {
            return Ok(Vec::new());
        }
        self.prepare().map_err(Error::file(&self.folder))?;
        let mut elsewhere: Vec<Setting> =
            Config::read_with(&self.git, &[("GIT_DIR".to_owned(), self.folder.clone().into())])?
                .users()
                .cloned()
                .collect();
        let mut conditional = Vec::new();
        for setting in config.users().filter(|setting| !setting.name.starts_with("include")) {
            match elsewhere.iter().position(|other| other == setting) {
                Some(position) => drop(elsewhere.remove(position)),
                None => conditional.push(setting.clone()),
            }
        }
        Ok(conditional)
    }
}

/// A setting of a repository's own git configuration that decides how git connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSetting {
    /// What the user can trust.
    pub item: Item,
    /// Its value, as the repository has it: not sanitised.
    pub value: String,
}

/// Returns what the own configuration of the repository around `folder` says about connecting to its remote: git uses it only
/// when the user trusts it.
pub fn own_settings(folder: &Path, env: &Env) -> Result<Vec<OwnSetting>, Error> {
    let Some(place) = Place::look(folder)? else { return Ok(Vec::new()) };
    place.check_git_files()?;
    let git = Git::new(&place.repository.root, env);
    let config = Config::read(&git)?;
    let Some(remote) = config.remote(checked_out(&git)?.as_deref()) else { return Ok(Vec::new()) };
    let shown = |setting: &Setting| OwnSetting {
        item: item(setting),
        value: setting.value.clone().unwrap_or_else(|| "true".to_owned()),
    };
    Ok(connecting(&config, &remote).into_iter().map(shown).collect())
}

fn connecting<'a>(config: &'a Config, remote: &Remote) -> Vec<&'a Setting> {
    let prefix = format!("remote.{}.", remote.name);
    let is_connecting = |setting: &&Setting| {
        let of_remote = setting.name.strip_prefix(&prefix).is_some_and(|name| OF_REMOTE.contains(&name));
        of_remote
            || CONNECTING.contains(&&*setting.name)
            || CONNECTING_SECTIONS.iter().any(|section| setting.name.starts_with(section))
    };
    config.own().filter(is_connecting).collect()
}

/// Returns the setting as what the user can trust.
fn item(setting: &Setting) -> Item {
    Item::setting(&setting.name, setting.value.as_deref().unwrap_or("true"))
}

/// Returns whether a setting of the repository says where `remote` is, or how objects are stored.
fn is_about(setting: &Setting, remote: &Remote) -> bool {
    let of_remote = setting.name.strip_prefix("remote.").and_then(|name| name.strip_prefix(&*remote.name));
    let of_remote = of_remote.and_then(|name| name.strip_prefix('.'));
    of_remote.is_some_and(|name| ABOUT_REMOTE.contains(&name)) || setting.name == "core.sharedrepository"
}

/// Returns the protocols that git may use: the usual ones, as changed by the user's own configuration.
fn protocols(config: &Config, env: &Env) -> Option<String> {
    if env.get("GIT_ALLOW_PROTOCOL").is_some() {
        return None;
    }
    let mut allowed: Vec<&str> = match config.users_value("protocol.allow") {
        Some("always") => return None,
        Some("never") => Vec::new(),
        _ => PROTOCOLS.to_vec(),
    };
    for setting in config.users() {
        let protocol = setting.name.strip_prefix("protocol.").and_then(|name| name.strip_suffix(".allow"));
        let Some(protocol) = protocol else { continue };
        allowed.retain(|other| *other != protocol);
        if matches!(setting.value.as_deref(), Some("always" | "user")) {
            allowed.push(protocol);
        }
    }
    Some(if allowed.is_empty() { NO_PROTOCOL.to_owned() } else { allowed.join(":") })
}

/// Gives a file these contents, or removes it, unless it is so already.
fn keep(path: &Path, contents: Option<&[u8]>) -> io::Result<()> {
    match contents {
        Some(contents) if is_already(path, contents) => Ok(()),
        Some(contents) => files::write_atomic(path, contents),
        None => files::remove_if_there(path).map(|_| ()),
    }
}

fn is_already(path: &Path, contents: &[u8]) -> bool {
    files::read_capped(path, files::cap::PACKED_REFS).is_ok_and(|found| found == contents)
}
