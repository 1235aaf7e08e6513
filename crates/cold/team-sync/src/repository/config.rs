//! What the user's git configuration says about remotes and branches.

use crate::repository::Error;
use crate::repository::git::Git;

/// The settings that matter here, as git resolves them: with includes and the user's own files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// Names (section and last part in lower case) and values, in git's order.
    settings: Vec<(String, String)>,
}

/// A remote and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// What the user calls it.
    pub(crate) name: String,
    /// The last parts of its settings' names, and their values.
    pub(crate) settings: Vec<(String, String)>,
}

impl Config {
    /// Reads the configuration.
    pub(crate) fn read(git: &Git) -> Result<Self, Error> {
        let wanted = r"^(remote\.|branch\.|extensions\.|core\.sshcommand$)";
        let output = git.local(&["config", "--null", "--get-regexp", wanted])?;
        match output.code {
            Some(0) => Ok(Self::parse(&String::from_utf8_lossy(&output.stdout))),
            // Nothing is configured.
            Some(1) => Ok(Self::default()),
            _ => Err(Error::Git { action: "read the git configuration", words: output.words() }),
        }
    }

    fn parse(text: &str) -> Self {
        let settings = text
            .split('\0')
            .filter(|entry| !entry.is_empty())
            .map(|entry| entry.split_once('\n').unwrap_or((entry, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Self { settings }
    }

    /// Returns a value; the last one wins.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(found, _)| found == name).map(|(_, value)| &**value)
    }

    /// Returns whether objects may be missing until they are asked for.
    pub(crate) fn is_partial_clone(&self) -> bool {
        self.settings.iter().any(|(name, _)| {
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
                    .filter_map(|(name, _)| name.strip_prefix("remote.")?.strip_suffix(".url"));
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
        let prefix = format!("remote.{name}.");
        let settings: Vec<(String, String)> = self
            .settings
            .iter()
            .filter_map(|(found, value)| Some((found.strip_prefix(&prefix)?.to_owned(), value.clone())))
            // A dot is left when the remote's name is but the beginning of another's.
            .filter(|(setting, _)| !setting.contains('.'))
            .collect();
        let has_address = settings.iter().any(|(setting, _)| setting == "url");
        has_address.then(|| Remote { name: name.to_owned(), settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(config: &str, branch: Option<&str>, remote: Option<&str>, upstream: &str) {
        let config = Config::parse(&config.replace(';', "\0").replace('=', "\n"));
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
