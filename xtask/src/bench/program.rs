//! A program as it is measured: always in the same, almost empty world.

use super::cases::Answer;
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    Yardstick,
    Plugin,
    Against,
}

/// A program and all that its run depends on.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) case: String,
    /// Absolute: a name that had to be looked up in the path would be started by another, slower way.
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) stdin: PathBuf,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    pub(crate) answer: Answer,
    pub(crate) only_parses: bool,
    /// The folder of claims that are given back before each run.
    pub(crate) claims: Option<PathBuf>,
}

impl Program {
    /// Returns a command that runs the program once, its output going nowhere.
    ///
    /// There is no `current_dir` and no `pre_exec`, and the path is absolute: so the standard library takes
    /// `posix_spawn`, whose cost does not depend on the size of this process.
    pub(crate) fn command(&self) -> Result<Command> {
        self.claims.as_deref().map_or(Ok(()), give_back).context("could not give claims back")?;
        let stdin =
            File::open(&self.stdin).with_context(|| format!("could not open {}", self.stdin.display()))?;
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(nowhere()?)
            .stderr(nowhere()?);
        Ok(command)
    }

    /// Runs the program once and sees that it does what is to be measured.
    pub(crate) fn probe(&self) -> Result<()> {
        let output = self.command()?.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let output = output.with_context(|| format!("could not start {}", self.path.display()))?;
        if !output.status.success() && self.origin != Origin::Against {
            bail!("{self} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        if !self.answer.allows(&printed) {
            bail!("{self} must answer {:?}, but printed {printed:?}", self.answer);
        }
        Ok(())
    }

    /// Returns the size of the program's file.
    pub(crate) fn size(&self) -> Result<u64> {
        let metadata = fs::metadata(&self.path);
        Ok(metadata.with_context(|| format!("could not read {}", self.path.display()))?.len())
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(format!("{} {}", self.name, self.case).trim_end())
    }
}

/// Makes the folders that a program may write to, and returns the variables that point there.
pub(crate) fn world(folder: &Path, plugin: &Path) -> Result<Vec<(&'static str, OsString)>> {
    let mut variables =
        vec![("PATH", std::env::var_os("PATH").unwrap_or_default()), ("CLAUDE_PLUGIN_ROOT", plugin.into())];
    for (variable, name) in
        [("HOME", "home"), ("TMPDIR", "tmp"), ("WYREN_DATA_DIR", "data"), ("XDG_RUNTIME_DIR", "runtime")]
    {
        let path = folder.join(name);
        fs::create_dir_all(&path).with_context(|| format!("could not create {}", path.display()))?;
        make_private(&path)?;
        variables.push((variable, path.into()));
    }
    Ok(variables)
}

/// Removes the files below a folder. Its folders stay, as between two calls of a window.
fn give_back(folder: &Path) -> std::io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() { give_back(&entry.path())? } else { fs::remove_file(entry.path())? }
    }
    Ok(())
}

/// Closes a folder to other users, as a real runtime folder is.
#[cfg(unix)]
fn make_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .with_context(|| format!("could not close {} to others", folder.display()))
}

/// Leaves a folder as it is: a user's folders are closed to others anyway.
#[cfg(not(unix))]
fn make_private(_folder: &Path) -> Result<()> {
    Ok(())
}

/// Returns the null device, opened before the clock starts.
fn nowhere() -> Result<File> {
    let device = if cfg!(windows) { "NUL" } else { "/dev/null" };
    File::options().write(true).open(device).with_context(|| format!("could not open {device}"))
}
