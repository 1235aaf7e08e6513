//! A bare remote with clones, and what must stay as it was in them.

use base::Env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use sync::{ByLine, FetchState, Files, Published, Team};

/// Runs git and returns what it printed.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let (is_success, text) = try_git(folder, arguments);
    assert!(is_success, "git {arguments:?}: {text}");
    text
}

/// Runs git and returns whether it succeeded, and what it printed.
pub(crate) fn try_git(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .args(["--no-optional-locks", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).trim_end().to_owned())
}

fn append(path: &Path, text: &str) {
    let mut all = fs::read_to_string(path).unwrap();
    all.push_str(text);
    fs::write(path, all).unwrap();
}

/// Ten seconds from now.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// A bare remote, with a first commit on main.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// Makes a remote whose main has `files` besides a README.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        git(world.path(), &["init", "--quiet", "--bare", "--initial-branch=main", "remote.git"]);
        append(&world.remote().join("config"), "[gc]\nauto = 0\n[receive]\nautogc = false\n");
        let first = world.clone_called("first");
        first.write("README", "read me\n");
        for (path, text) in files {
            first.write(path, text);
        }
        first.commit("begin");
        first.git(&["push", "--quiet", "origin", "main"]);
        world
    }

    /// The folder that everything is in.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The bare repository.
    pub(crate) fn remote(&self) -> PathBuf {
        self.path().join("remote.git")
    }

    /// Makes a clone.
    pub(crate) fn clone_called(&self, name: &str) -> Clone {
        self.clone_with(name, &[])
    }

    /// Makes a clone with further options.
    pub(crate) fn clone_with(&self, name: &str, options: &[&str]) -> Clone {
        let address = format!("file://{}", self.remote().display());
        let mut arguments = vec!["clone", "--quiet"];
        arguments.extend(options);
        arguments.extend([&*address, name]);
        git(self.path(), &arguments);
        Clone::at(self.path().join(name))
    }

    /// Makes a clone in side mode.
    pub(crate) fn side_clone(&self, name: &str) -> Clone {
        let clone = self.clone_called(name);
        clone.init_side();
        clone
    }

    /// Makes an executable script.
    pub(crate) fn script(&self, path: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns a shared file on a branch of the remote.
    pub(crate) fn shared(&self, branch: &str, path: &str) -> Option<String> {
        let name = format!("{branch}:.wyren/{path}");
        let (is_there, text) = try_git(&self.remote(), &["cat-file", "blob", &name]);
        is_there.then_some(text)
    }

    /// Removes what a killed server has left locked. The remote's end of a connection runs on this machine here and may be
    /// killed together with ours, which no server is.
    pub(crate) fn release_locks(&self) {
        let folder = self.remote().display().to_string();
        Command::new("find").args([&*folder, "-name", "*.lock", "-delete"]).status().unwrap();
    }

    /// Returns the branches of the remote.
    pub(crate) fn branches(&self) -> Vec<String> {
        let text = git(&self.remote(), &["for-each-ref", "--format=%(refname)"]);
        text.lines().map(str::to_owned).collect()
    }
}

/// A clone of the remote.
pub(crate) struct Clone {
    pub(crate) root: PathBuf,
}

impl Clone {
    /// Takes the repository at `root` for a clone.
    pub(crate) fn at(root: PathBuf) -> Self {
        let clone = Self { root };
        let config = clone.root.join(clone.git(&["rev-parse", "--git-path", "config"]));
        append(&config, "[user]\n\tname = Ada\n\temail = ada@example.org\n");
        clone
    }

    /// Runs git in it.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    /// Sets it up for side mode.
    #[track_caller]
    pub(crate) fn init_side(&self) {
        sync::Place::find(&self.root).unwrap().init_side(&Env::process()).unwrap();
    }

    /// Opens its team memory.
    #[track_caller]
    pub(crate) fn team(&self) -> Team {
        Team::open(&self.root, &Env::process()).unwrap()
    }

    /// What its last fetch saw.
    pub(crate) fn state(&self) -> FetchState {
        FetchState::read(&self.root.join(".wyren"))
    }

    /// Writes a file of the work tree.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file of the work tree.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Commits everything.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Publishes shared files, and checks that nothing of the user's changed.
    #[track_caller]
    pub(crate) fn publish(&self, files: &[(&str, Option<&str>)]) -> Published {
        let files: Files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.map(|text| text.as_bytes().to_vec())))
            .collect();
        self.untouched(|| self.team().publish(&files, Some("0123456789"), &ByLine, soon()).unwrap())
    }

    /// Publishes shared files, which must land.
    #[track_caller]
    pub(crate) fn land(&self, files: &[(&str, Option<&str>)]) {
        let published = self.publish(files);
        assert!(matches!(published, Published::Landed(_)), "{published:?}");
    }

    /// Syncs, and checks that nothing of the user's changed.
    #[track_caller]
    pub(crate) fn sync(&self) -> Published {
        self.untouched(|| self.team().sync(None, &ByLine, soon()).unwrap().0)
    }

    /// Does something, and checks that HEAD, the index, branches, remote branches, tags, the stash, FETCH_HEAD, the
    /// configuration and the status are what they were.
    #[track_caller]
    pub(crate) fn untouched<T>(&self, action: impl FnOnce() -> T) -> T {
        let before = self.footprint();
        let result = action();
        assert_eq!(self.footprint(), before);
        result
    }

    fn footprint(&self) -> Vec<(&'static str, String)> {
        let files = ["HEAD", "index", "FETCH_HEAD", "ORIG_HEAD", "config", "info/exclude"];
        let mut arguments = vec!["rev-parse"];
        arguments.extend(files.iter().flat_map(|file| ["--git-path", file]));
        let paths = self.git(&arguments);
        let contents = paths.lines().map(|path| format!("{:?}", fs::read(self.root.join(path)).ok()));
        let mut footprint: Vec<_> = files.into_iter().zip(contents).collect();
        assert_eq!(footprint.len(), files.len());
        let refs = ["for-each-ref", "refs/heads", "refs/remotes", "refs/tags", "refs/stash"];
        footprint.push(("refs", self.git(&refs)));
        footprint.push(("status", self.git(&["status", "--porcelain", "--untracked-files=normal"])));
        footprint
    }
}

/// The contents of a shared file as text.
pub(crate) fn text(contents: Option<Vec<u8>>) -> Option<String> {
    contents.map(|contents| String::from_utf8(contents).unwrap())
}
