//! What git's configuration says about a repository, and whose word it is: the user's, or that of a file in the repository.

use crate::repository::Error;
use crate::repository::git::Git;
use std::ffi::OsString;

/// The whole configuration as git resolves it for a repository, includes followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// In git's order.
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Section and last part in lower case.
    pub(crate) name: String,
    /// `None` for a name alone, which means yes.
    pub(crate) value: Option<String>,
    /// Whether it is in the repository's own configuration, or in a file that this includes: an unpacked archive brings that
    /// with it.
    pub(crate) is_own: bool,
}

/// A remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// What the user calls it.
    pub(crate) name: String,
    /// The addresses that a push goes to.
    pub(crate) destinations: Vec<String>,
}

impl Config {
    /// Reads the configuration.
    pub(crate) fn read(git: &Git) -> Result<Self, Error> {
        Self::read_with(git, &[])
    }

    /// Reads the configuration as git sees it with these variables.
    pub(crate) fn read_with(git: &Git, environment: &[(String, OsString)]) -> Result<Self, Error> {
        let output = git.local_in(environment, &["config", "--list", "--null", "--show-scope"])?;
        match output.is_success() {
            true => Ok(Self::parse(&String::from_utf8_lossy(&output.stdout))),
            false => Err(Error::Git { action: "read the git configuration", words: output.words() }),
        }
    }

    /// Parses pairs of a scope and a setting, each ended by a zero byte.
    fn parse(text: &str) -> Self {
        let mut parts = text.split('\0');
        let mut settings = Vec::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let (name, value) = match entry.split_once('\n') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (entry, None),
            };
            // What is not known to be the user's own is not: a later git may have more scopes.
            let is_own = !matches!(scope, "system" | "global" | "command");
            settings.push(Setting { name: name.to_owned(), value, is_own });
        }
        Self { settings }
    }

    /// Returns the settings of the repository's own configuration.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| setting.is_own)
    }

    /// Returns the settings of the user's own configuration, and of the system's.
    pub(crate) fn users(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(|setting| !setting.is_own)
    }

    /// Returns a value of either configuration; the last one wins.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|setting| setting.name == name)?.value.as_deref()
    }

    /// Returns a value of the user's own configuration; the last one wins.
    pub(crate) fn users_value(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev().filter(|setting| !setting.is_own);
        settings.find(|setting| setting.name == name)?.value.as_deref()
    }

    /// Returns whether objects may be missing until they are asked for.
    pub(crate) fn is_partial_clone(&self) -> bool {
        self.settings.iter().any(|Setting { name, .. }| {
            name == "extensions.partialclone" || (name.starts_with("remote.") && name.ends_with(".promisor"))
        })
    }

    /// Returns the branch's remote, else `origin`, else the only one.
    pub(crate) fn remote(&self, branch: Option<&str>) -> Option<Remote> {
        let of_branch = branch.and_then(|branch| self.value(&format!("branch.{branch}.remote")));
        of_branch.and_then(|name| self.remote_called(name)).or_else(|| self.remote_called("origin")).or_else(
            || {
                let mut names = self
                    .settings
                    .iter()
                    .filter_map(|setting| setting.name.strip_prefix("remote.")?.strip_suffix(".url"));
                let only = names.next()?;
                names.all(|name| name == only).then(|| self.remote_called(only))?
            },
        )
    }

    /// Returns what `branch` is called on `remote`.
    pub(crate) fn upstream(&self, branch: &str, remote: Option<&Remote>) -> String {
        let is_of_remote =
            remote.is_some_and(|remote| self.value(&format!("branch.{branch}.remote")) == Some(&remote.name));
        self.value(&format!("branch.{branch}.merge"))
            .filter(|_| is_of_remote)
            .and_then(|name| name.strip_prefix("refs/heads/"))
            .unwrap_or(branch)
            .to_owned()
    }

    fn remote_called(&self, name: &str) -> Option<Remote> {
        let addresses = |setting: &str| -> Vec<String> {
            let name = format!("remote.{name}.{setting}");
            let values = self.settings.iter().filter(|setting| setting.name == name);
            values.filter_map(|setting| setting.value.clone()).collect()
        };
        let (fetched, pushed) = (addresses("url"), addresses("pushurl"));
        let has_address = !fetched.is_empty();
        let destinations = if pushed.is_empty() { fetched } else { pushed };
        has_address.then(|| Remote { name: name.to_owned(), destinations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(config: &str, branch: Option<&str>, remote: Option<&str>, upstream: &str) {
        let config =
            config.split_terminator(';').map(|entry| format!("local\0{}\0", entry.replace('=', "\n")));
        let config = Config::parse(&config.collect::<String>());
        let found = config.remote(branch);
        assert_eq!(found.as_ref().map(|remote| &*remote.name), remote);
        assert_eq!(config.upstream("work", found.as_ref()), upstream);
    }

    #[test]
    fn the_branch_decides_then_origin_then_the_only_remote() {
        let two = "remote.origin.url=o;remote.my.fork.url=f;branch.work.merge=refs/heads/topic;";
        check(&format!("{two}branch.work.remote=my.fork;"), Some("work"), Some("my.fork"), "topic");
        check(two, Some("work"), Some("origin"), "work");
        check(&format!("{two}branch.work.remote=.;"), Some("work"), Some("origin"), "work");
        check(&format!("{two}branch.work.remote=gone;"), None, Some("origin"), "work");
        check("remote.up.url=o;remote.up.url=p;", None, Some("up"), "work");
        check("remote.a.url=o;remote.b.url=p;", None, None, "work");
        check("", None, None, "work");
    }
}
