//! The installer of the newest version, from the place of releases: it downloads, checks and installs.

use crate::bounded;
use anyhow::{Context as _, Result, bail, ensure};
use base::{Env, Paths, files};
use std::process::{Command, Stdio};
use std::time::Duration;
use text::sanitize;

/// The folder of the newest release, where the build names it.
const BASE: Option<&str> = option_env!("WYREN_RELEASES");

/// The variable that names a mirror, which the installer honours as well.
const VARIABLE: &str = "WYREN_DOWNLOAD_BASE";

/// How long the download of the script may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The name of the script, and what runs it.
const SCRIPT: (&str, &[&str]) = if cfg!(windows) {
    ("install.ps1", &["powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File"])
} else {
    ("install.sh", &["sh"])
};

/// In characters.
const MAX_CHARS: usize = 200;

/// Returns the address of the folder with the newest release, if there is one.
pub(super) fn base(env: &Env) -> Option<String> {
    let named = env.text(VARIABLE).map(|base| base.to_string());
    named.or_else(|| BASE.map(str::to_owned)).filter(|base| !base.is_empty())
}

/// The script of one version.
#[derive(Debug)]
pub(super) struct Installer {
    script: String,
}

impl Installer {
    /// Downloads the script, by a program that knows the user's proxies and certificates.
    pub(super) fn fetch(base: &str) -> Result<Self> {
        ensure!(
            is_safe(base),
            "{} is no address to update from: it must begin with https://. Nothing was changed",
            sanitize::one_line(base, MAX_CHARS)
        );
        let address = format!("{}/{}", base.trim_end_matches('/'), SCRIPT.0);
        let mut problem = "neither curl nor wget is on the PATH".to_owned();
        for (program, arguments) in [("curl", &["-fsSL", "--"][..]), ("wget", &["-q", "-O", "-", "--"])] {
            match bounded::run(Command::new(program).args(arguments).arg(&address), PATIENCE) {
                Err(_) => continue,
                Ok(None) => problem = format!("no answer within {} s", PATIENCE.as_secs()),
                Ok(Some(finished)) if finished.status.success() && !finished.stdout.is_empty() => {
                    let script = String::from_utf8(finished.stdout);
                    return Ok(Self {
                        script: script.with_context(|| format!("{address} is not a script"))?,
                    });
                }
                Ok(Some(finished)) => {
                    problem = sanitize::one_line(String::from_utf8_lossy(&finished.stderr).trim(), MAX_CHARS)
                }
            }
            break;
        }
        bail!("could not download {address}: {problem}. Nothing was changed")
    }

    /// Returns the version that the script installs.
    pub(super) fn version(&self) -> Option<String> {
        let value = self.script.lines().find_map(|line| {
            let (name, value) = line.trim().trim_start_matches('$').split_once('=')?;
            (name.trim().eq_ignore_ascii_case("version")).then(|| value.trim().trim_matches(['\'', '"']))
        });
        value.filter(|version| version.starts_with(|digit: char| digit.is_ascii_digit())).map(str::to_owned)
    }

    /// Runs the script, whose words the user reads.
    pub(super) fn run(&self, paths: &Paths) -> Result<()> {
        let folder = paths.data().join("plugin.unpacked");
        let file = folder.join(SCRIPT.0);
        files::write_atomic(&file, self.script.as_bytes())
            .with_context(|| format!("could not write {}", file.display()))?;
        let (program, arguments) = SCRIPT.1.split_first().context("no program runs the script")?;
        let ended = Command::new(program).args(arguments).arg(&file).stdin(Stdio::null()).status();
        let _ = std::fs::remove_dir_all(&folder);
        let ended = ended.with_context(|| format!("could not start {program}. Nothing was changed"))?;
        ensure!(ended.success(), "the installer failed, for the reason above");
        Ok(())
    }
}

/// Returns whether what comes from an address can be trusted to come from there.
fn is_safe(base: &str) -> bool {
    let is_of_this_machine = |base: &str| {
        let host = base.split(['/', ':']).next().unwrap_or_default();
        matches!(host, "127.0.0.1" | "localhost")
    };
    base.starts_with("https://") || base.strip_prefix("http://").is_some_and(is_of_this_machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_prove_who_they_are_count() {
        for (base, expected) in [
            ("https://example.com/wyren", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost/x", true),
            ("http://example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("file:///tmp", false),
            ("-o/etc/passwd", false),
        ] {
            assert_eq!(is_safe(base), expected, "{base}");
        }
    }

    #[test]
    fn the_version_is_that_of_the_script() {
        let version = |script: &str| Installer { script: script.to_owned() }.version();
        assert_eq!(version("#!/bin/sh\nset -eu\nversion='0.2.0'\nbase=''\n").as_deref(), Some("0.2.0"));
        assert_eq!(version("$Version = \"0.2.0\"\r\n").as_deref(), Some("0.2.0"));
        assert_eq!(version("version='@VERSION@'\n"), None);
        assert_eq!(version("<html>"), None);
    }
}
