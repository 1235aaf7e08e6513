//! Which project a folder belongs to, found by reading files: no git process, no git library.
//!
//! Two clones and all worktrees of one repository are one project; two repositories of one name are two. The
//! key is the address of the remote (without scheme, user or password), else the repository's folder, else the
//! folder itself. The name is for people only.

mod pointer;

pub use pointer::{Refusal, refuse_foreign, refuse_foreign_at};

use crate::files::{self, cap};
use crate::git_config::Variable;
use crate::system::{self, is_same_folder};
use pointer::{core_setting, is_linked_from, is_work_tree_of, linked_folder, setting, variables};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A project: what its records are filed under, and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The identity: `git:<host>/<path>`, `repo:<folder>` or `path:<folder>`.
    pub key: String,
    /// The display name.
    pub name: String,
    /// The top of the work tree, or the folder itself outside a repository.
    pub root: PathBuf,
}

impl Project {
    /// Finds the project that `folder` belongs to.
    pub fn of(folder: &Path) -> Self {
        let folder = absolute(folder);
        match Repository::above(&folder) {
            Some(repository) => repository.project(),
            None => {
                Self { key: format!("path:{}", folder.display()), name: last_name(&folder), root: folder }
            }
        }
    }
}

/// A repository on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree.
    pub root: PathBuf,
    /// The folder of this work tree: HEAD, index.
    pub git_folder: PathBuf,
    /// The folder that all work trees share: config, refs, objects.
    pub common_folder: PathBuf,
}

impl Repository {
    /// Finds the repository whose work tree contains `folder`; `None` when there is none, or none that counts.
    pub fn above(folder: &Path) -> Option<Self> {
        Self::find(folder).ok().flatten()
    }

    /// Finds the repository whose work tree contains `folder`, or the reason why the nearest one does not count.
    pub fn find(folder: &Path) -> Result<Option<Self>, Refusal> {
        for root in folder.ancestors() {
            if let Some(repository) = Self::at(root)? {
                return Ok(Some(repository));
            }
        }
        Ok(None)
    }

    /// Returns the repository whose work tree has its top at `root`.
    fn at(root: &Path) -> Result<Option<Self>, Refusal> {
        let marker = root.join(".git");
        let Ok(kind) = fs::symlink_metadata(&marker) else { return Ok(None) };
        if !kind.is_dir() && !kind.is_file() {
            let kind = if kind.is_symlink() { "a link" } else { "no regular file" };
            return Err(Refusal::Kind { path: marker, kind });
        }
        let git_folder = match kind.is_dir() {
            true => marker.clone(),
            // What leads nowhere is no repository, and brings nothing that a folder without it does not.
            false => match linked_folder(root, &marker) {
                Some(folder) => folder,
                None => return Ok(None),
            },
        };
        // An empty `.git` folder is not a repository; git goes on upwards as well.
        let head = git_folder.join("HEAD");
        match fs::symlink_metadata(&head) {
            Err(_) => return Ok(None),
            // Git would wait for a pipe.
            Ok(head) if !head.is_file() && !head.is_symlink() => {
                return Err(Refusal::Kind { path: git_folder.join("HEAD"), kind: "no regular file" });
            }
            Ok(_) => {}
        }
        refuse_foreign(&kind, &marker, root)?;
        refuse_foreign_at(root, root)?;
        let elsewhere = || Refusal::Elsewhere {
            marker: marker.clone(),
            target: git_folder.clone(),
            root: root.to_owned(),
        };
        let common_folder = match files::read_text_capped(&git_folder.join("commondir"), cap::POINTER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if kind.is_file() && !is_work_tree_of(root, &git_folder) {
                    return Err(elsewhere());
                }
                git_folder.clone()
            }
            Ok(common) if kind.is_file() => {
                let common = tidy(&git_folder.join(common.trim()));
                if !is_linked_from(root, &git_folder, &common) {
                    return Err(elsewhere());
                }
                common
            }
            Ok(common) if is_same_folder(&git_folder, &git_folder.join(common.trim())) => git_folder.clone(),
            _ => return Err(Refusal::Borrowed(git_folder)),
        };
        if kind.is_file() {
            refuse_foreign_at(&git_folder, root)?;
            refuse_foreign_at(&common_folder, root)?;
        }
        Ok(Some(Self { root: root.to_owned(), git_folder, common_folder }))
    }

    /// Returns the top of the work tree that the repository was made with; `None` when it is bare, or when that work tree
    /// does not lead to this repository, or is another user's.
    pub fn main_root(&self) -> Option<PathBuf> {
        let common = &self.common_folder;
        if *common == self.git_folder {
            return Some(self.root.clone());
        }
        if core_setting(common, "bare").as_deref() == Some("true") {
            return None;
        }
        // A submodule's folder is elsewhere, and names its work tree.
        let root = match core_setting(common, "worktree") {
            Some(path) => system::canonical(&common.join(path)).ok()?,
            None => common.parent().filter(|_| common.ends_with(".git"))?.to_owned(),
        };
        let main = Self::at(&root).ok().flatten()?;
        is_same_folder(&main.common_folder, common).then_some(root)
    }

    /// Returns the branch that HEAD names; `None` when it is detached.
    pub fn branch(&self) -> Option<String> {
        let head = files::read_text_capped(&self.git_folder.join("HEAD"), cap::POINTER).ok()?;
        Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    }

    /// Returns the name and address of the branch's remote, else of `origin`, else of the only remote.
    pub fn remote(&self) -> Option<(String, String)> {
        choose_remote(&variables(&self.common_folder.join("config")), self.branch().as_deref())
    }

    /// Returns a value of the repository's own configuration, such as `wyren.discover`.
    pub fn setting(&self, section: &str, name: &str) -> Option<String> {
        let variables = variables(&self.common_folder.join("config"));
        setting(&variables, section, name)
    }

    /// Returns the project that the repository is.
    pub fn project(self) -> Project {
        match self.remote().and_then(|(_, address)| remote_key(&address, &self.root)) {
            Some(key) => {
                let name = key.rsplit('/').next().unwrap_or(&key).to_owned();
                Project { key: format!("git:{key}"), name, root: self.root }
            }
            None => {
                // The work tree beside the shared folder names the repository, whichever work tree we are in.
                let main = self.common_folder.parent().filter(|_| self.common_folder.ends_with(".git"));
                Project {
                    key: format!("repo:{}", self.common_folder.display()),
                    name: last_name(main.unwrap_or(&self.common_folder)),
                    root: self.root,
                }
            }
        }
    }
}

fn choose_remote(config: &[Variable], branch: Option<&str>) -> Option<(String, String)> {
    // The last value wins, as in git.
    let value = |section: &str, subsection: &str, name: &str| {
        config
            .iter()
            .rev()
            .find(|variable| {
                variable.section == section && variable.subsection == subsection && variable.name == name
            })
            .map(|variable| variable.value.clone())
    };
    let address = |remote: &str| Some((remote.to_owned(), value("remote", remote, "url")?));
    let of_branch =
        branch.and_then(|branch| value("branch", branch, "remote")).and_then(|name| address(&name));
    of_branch.or_else(|| address("origin")).or_else(|| {
        let mut names = config
            .iter()
            .filter(|variable| variable.section == "remote" && variable.name == "url")
            .map(|variable| &variable.subsection);
        let only = names.next()?;
        names.all(|name| name == only).then(|| address(only))?
    })
}

/// Turns a remote's address into `host/path`, the same for every way to write it; `None` for an empty one. A path of
/// this machine may be relative to `root`.
pub fn remote_key(address: &str, root: &Path) -> Option<String> {
    let address = address.trim();
    if address.is_empty() {
        return None;
    }
    let (host, path) = if let Some((scheme, rest)) = address.split_once("://") {
        if scheme.eq_ignore_ascii_case("file") {
            return local_key(Path::new(rest), root);
        }
        let (host, path) = rest.split_once('/')?;
        // What comes before the first of these is the server, whatever an `@` behind them makes it look like.
        if host.contains(['?', '#', '\\']) {
            return None;
        }
        let host = host.rsplit('@').next()?;
        (without_default_port(scheme, host), path)
    } else {
        match address.split_once(':') {
            // `host:path`, unless a slash before the colon, or a lone drive letter, makes it a local path.
            Some((host, path)) if !host.contains('/') && host.len() > 1 => (host.rsplit('@').next()?, path),
            _ => return local_key(Path::new(address), root),
        }
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    // A server takes `acme/../evil` for `evil`, and leaves out what a `?` or `#` begins: such an address has no key that could
    // be compared with another's.
    let is_plain = |part: &str| {
        let part = part.to_ascii_lowercase();
        !matches!(&*part, "" | "." | "..")
            && !part.contains(['?', '#', '\\'])
            && !["%2e", "%2f", "%5c"].iter().any(|code| part.contains(code))
    };
    if !path.split('/').all(is_plain) || path.chars().any(char::is_control) {
        return None;
    }
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_ascii_lowercase()))
}

/// Returns the key of a remote that is a folder of this machine.
fn local_key(path: &Path, root: &Path) -> Option<String> {
    let path = tidy(&root.join(path));
    let text = path.to_str()?;
    let text = text.strip_suffix("/.git").or_else(|| text.strip_suffix(".git")).unwrap_or(text);
    (text.len() > 1).then(|| text.to_owned())
}

fn without_default_port<'a>(scheme: &str, host: &'a str) -> &'a str {
    let default = match scheme.to_ascii_lowercase().as_str() {
        "https" => ":443",
        "http" => ":80",
        "ssh" | "git+ssh" => ":22",
        "git" => ":9418",
        _ => return host,
    };
    host.strip_suffix(default).unwrap_or(host)
}

fn absolute(path: &Path) -> PathBuf {
    tidy(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Resolves `.` and `..` by name, without asking the file system.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            _ => tidy.push(component),
        }
    }
    tidy
}

fn last_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_key(address: &str, expected: Option<&str>) {
        assert_eq!(remote_key(address, Path::new("/home/ada/w")).as_deref(), expected, "{address}");
    }

    #[test]
    fn one_repository_has_one_key_however_its_remote_is_written() {
        for address in [
            "https://github.com/acme/app.git",
            "https://github.com/acme/app",
            "https://ada:secret@GitHub.com:443/acme/app.git/",
            "git@github.com:acme/app.git",
            "ssh://git@github.com:22/acme/app",
            "git://github.com/acme/app.git",
        ] {
            check_key(address, Some("github.com/acme/app"));
        }
    }

    #[test]
    fn addresses_that_differ_stay_apart() {
        check_key("https://github.com/acme/App", Some("github.com/acme/App"));
        check_key("ssh://git@host:2222/a/b", Some("host:2222/a/b"));
        check_key("/srv/git/app.git", Some("/srv/git/app"));
        check_key("file:///srv/git/app.git", Some("/srv/git/app"));
        check_key("../app", Some("/home/ada/app"));
        check_key("", None);
        check_key("https://host", None);
        check_key("https://host/org/My%20Project/_git/app", Some("host/org/My%20Project/_git/app"));
    }

    #[test]
    fn an_address_that_leads_elsewhere_than_it_looks_has_no_key() {
        for address in [
            "http://evil.example?@github.com/acme/app",
            "http://evil.example#@github.com/acme/app",
            "http://evil.example\\@github.com/acme/app",
            "https://github.com/acme/../evil/app.git",
            "https://github.com/acme/%2e%2e/evil/app",
            "https://github.com/./acme/app",
            "https://github.com//acme/app?x=/acme/app",
            "git@github.com:acme/../evil/app.git",
        ] {
            check_key(address, None);
        }
    }

    fn repository(folder: &Path, config: &str) {
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/work\n").unwrap();
        fs::write(folder.join(".git/config"), config).unwrap();
    }

    #[test]
    fn the_branch_decides_then_origin_then_the_only_remote() {
        let check = |config: &str, expected: Option<&str>| {
            let chosen = choose_remote(&crate::git_config::parse(config), Some("work"));
            assert_eq!(chosen.map(|(name, _)| name).as_deref(), expected);
        };
        let fork = "[remote \"origin\"]\nurl = u:o\n[remote \"fork\"]\nurl = u:f\n";
        check(&format!("{fork}[branch \"work\"]\nremote = fork\n"), Some("fork"));
        check(fork, Some("origin"));
        check("[remote \"up\"]\nurl = u:o\n", Some("up"));
        check("[remote \"a\"]\nurl = u:a\n[remote \"b\"]\nurl = u:b\n", None);
        check("[branch \"work\"]\nremote = gone\n[remote \"origin\"]\nurl = u:o\n", Some("origin"));
        check("", None);
    }

    #[test]
    fn a_folder_without_a_repository_is_its_own_project() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("notes");
        fs::create_dir_all(plain.join(".git")).unwrap();
        let project = Project::of(&plain);
        assert_eq!(project.key, format!("path:{}", plain.display()));
        assert_eq!(project.name, "notes");
    }

    #[test]
    fn two_clones_of_one_remote_are_one_project() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        repository(&first, "[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n");
        repository(&second, "[remote \"origin\"]\n\turl = https://ada:secret@github.com/acme/app\n");
        assert_eq!(Project::of(&first).key, "git:github.com/acme/app");
        assert_eq!(Project::of(&second).key, Project::of(&first).key);
        assert_eq!(Project::of(&second).name, "app");
    }
}
