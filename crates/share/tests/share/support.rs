//! A bare remote with clones, and what must stay as it was in them.

use base::Env;
use share::{Share, Synced};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use sync::Published;

/// What branch mode ignores.
pub(crate) const IGNORED: (&str, &str) = (".gitignore", ".wyren/state/\n.wyren/log\n");

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

/// Twenty seconds from now: machines that build meanwhile are slow.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Returns a memory with decisions.
pub(crate) fn decisions(entries: &[&str]) -> String {
    let mut text = "# Wyren Memory\n\n## Decisions\n\n".to_owned();
    for entry in entries {
        text.push_str(&format!("- {entry}\n"));
    }
    text
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
        let first = world.clone_called("first");
        first.write("README", "read me\n");
        for (path, text) in files {
            first.write(path, text);
        }
        first.commit("begin");
        first.git(&["push", "--quiet", "origin", "main"]);
        world
    }

    /// Makes a remote whose main tracks a memory with decisions.
    pub(crate) fn with_memory(entries: &[&str]) -> Self {
        Self::new(&[(".wyren/memory.md", &decisions(entries)), IGNORED])
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
        let clone = Clone { root: self.path().join(name) };
        clone.git(&["config", "user.name", "Ada"]);
        clone.git(&["config", "user.email", "ada@example.org"]);
        clone
    }

    /// Makes a clone in side mode.
    pub(crate) fn side_clone(&self, name: &str) -> Clone {
        let clone = self.clone_called(name);
        sync::Place::find(&clone.root).unwrap().init_side(&Env::process()).unwrap();
        clone
    }

    /// Makes the remote refuse pushes to main.
    pub(crate) fn protect_main(&self) {
        use std::os::unix::fs::PermissionsExt as _;
        let hook = self.remote().join("hooks/update");
        fs::write(&hook, "#!/bin/sh\n[ \"$1\" != refs/heads/main ]\n").unwrap();
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns a shared file on a branch of the remote.
    pub(crate) fn shared(&self, branch: &str, path: &str) -> Option<String> {
        let name = format!("{branch}:.wyren/{path}");
        let (is_there, text) = try_git(&self.remote(), &["cat-file", "blob", &name]);
        is_there.then_some(text)
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
    /// Runs git in it.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    /// Opens its team memory.
    #[track_caller]
    pub(crate) fn share(&self) -> Share {
        Share::open(&self.root, &Env::process()).unwrap().insistent()
    }

    /// Returns the memory that its readers see.
    #[track_caller]
    pub(crate) fn memory(&self) -> String {
        self.share().memory().unwrap().render()
    }

    /// Returns the decisions that its readers see.
    #[track_caller]
    pub(crate) fn decisions(&self) -> Vec<String> {
        let memory = self.share().memory().unwrap();
        memory.entries().map(|(_, entry)| entry.text().into_owned()).collect()
    }

    /// Adds a decision, without publishing it.
    #[track_caller]
    pub(crate) fn decide(&self, text: &str) {
        let add = |memory: &memory::Memory| {
            let mut memory = memory.clone();
            memory.add_distinct("Decisions", text, &memory::Provenance::default());
            memory
        };
        assert_eq!(self.share().change("Ada", "decided", add).unwrap().len(), 1);
    }

    /// Takes a decision back, without publishing that.
    #[track_caller]
    pub(crate) fn take_back(&self, text: &str) {
        let remove = |memory: &memory::Memory| {
            let mut memory = memory.clone();
            memory.remove("Decisions", text).unwrap();
            memory
        };
        self.share().change("Ada", "taken back", remove).unwrap();
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

    /// Syncs, and checks that nothing of the user's changed.
    #[track_caller]
    pub(crate) fn sync(&self) -> Synced {
        self.untouched(|| self.share().sync(Some("0123456789"), soon()).unwrap())
    }

    /// Syncs; what was changed must land.
    #[track_caller]
    pub(crate) fn land(&self) -> Synced {
        let synced = self.sync();
        assert!(matches!(synced.published, Published::Landed(_)), "{synced:?}");
        synced
    }

    /// Does something, and checks that HEAD, the index, branches, remote branches, tags, the stash, FETCH_HEAD, the
    /// configuration, the status and tracked files are what they were.
    #[track_caller]
    pub(crate) fn untouched<T>(&self, action: impl FnOnce() -> T) -> T {
        let before = self.footprint();
        let result = action();
        assert_eq!(self.footprint(), before);
        result
    }

    fn footprint(&self) -> Vec<(String, String)> {
        let files = ["HEAD", "index", "FETCH_HEAD", "ORIG_HEAD", "config", "info/exclude"];
        let mut arguments = vec!["rev-parse"];
        arguments.extend(files.iter().flat_map(|file| ["--git-path", file]));
        let mut paths: Vec<String> = self.git(&arguments).lines().map(str::to_owned).collect();
        assert_eq!(paths.len(), files.len());
        paths.extend(self.git(&["ls-files"]).lines().map(str::to_owned));
        let contents = |path: &String| format!("{:?}", fs::read(self.root.join(path)).ok());
        let mut footprint: Vec<_> = paths.iter().map(|path| (path.clone(), contents(path))).collect();
        let refs = ["for-each-ref", "refs/heads", "refs/remotes", "refs/tags", "refs/stash"];
        footprint.push(("refs".to_owned(), self.git(&refs)));
        let status = self.git(&["status", "--porcelain", "--untracked-files=normal"]);
        footprint.push(("status".to_owned(), status));
        footprint
    }
}
