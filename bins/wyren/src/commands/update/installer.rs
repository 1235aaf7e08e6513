//! The installer of the newest version, from the place of releases: it downloads, checks and installs.

use super::Unpacked;
use crate::bounded;
use anyhow::{Context as _, Result, bail, ensure};
use base::{Env, Paths, files};
use std::io;
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
            "{} is no address to update from: it must begin with https:// and have no user name",
            sanitize::one_line(base, MAX_CHARS)
        );
        let address = format!("{}/{}", base.trim_end_matches('/'), SCRIPT.0);
        let mut problem = "neither curl nor wget is on the PATH".to_owned();
        for mut command in downloads(base) {
            match bounded::run(command.arg(&address), PATIENCE) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => problem = error.to_string(),
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
        bail!("could not download {address}: {problem}")
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
        let folder = Unpacked::new(paths)?;
        let file = folder.path().join(SCRIPT.0);
        files::write_atomic(&file, self.script.as_bytes())
            .with_context(|| format!("could not write {}", file.display()))?;
        let (program, arguments) = SCRIPT.1.split_first().context("no program runs the script")?;
        let ended = Command::new(program).args(arguments).arg(&file).stdin(Stdio::null()).status();
        let ended = ended.with_context(|| format!("could not start {program}. Nothing was changed"))?;
        ensure!(ended.success(), "the installer failed, for the reason above");
        Ok(())
    }
}

/// Returns the commands that download an address below `base`, which follows: the first that is there is to be used. None of them
/// goes where a redirection leads that is not https.
fn downloads(base: &str) -> [Command; 2] {
    let (mut curl, mut wget) = (Command::new("curl"), Command::new("wget"));
    let protocols = if is_of_this_machine(base) { "=http,https" } else { "=https" };
    curl.args(["-fsSL", "--proto", protocols, "--proto-redir", "=https", "--"]);
    wget.args(["-q", "-O", "-", "--"]);
    if !is_of_this_machine(base) {
        // It has no such option. A proxy that does not answer is where it goes for anything but https.
        for name in ["http_proxy", "HTTP_PROXY"] {
            wget.env(name, "http://127.0.0.1:9");
        }
    }
    [curl, wget]
}

/// Returns whether what comes from an address can be trusted to come from there.
fn is_safe(base: &str) -> bool {
    let is_plain = |rest: &str| !authority(rest).is_empty() && !authority(rest).contains(['@', '\\']);
    is_of_this_machine(base) || base.strip_prefix("https://").is_some_and(is_plain)
}

fn is_of_this_machine(base: &str) -> bool {
    let host = base.strip_prefix("http://").map(authority).unwrap_or_default();
    let (host, port) = host.split_once(':').unwrap_or((host, "80"));
    matches!(host, "127.0.0.1" | "localhost") && port.parse::<u16>().is_ok()
}

/// Returns the part of an address that names the server.
fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or_default()
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
            ("http://localhost:80@example.com/wyren", false),
            ("http://localhost@example.com", false),
            ("http://localhost:80\\@example.com", false),
            ("https://example.com:443@example.org/", false),
            ("https://", false),
            ("file:///tmp", false),
            ("-o/etc/passwd", false),
        ] {
            assert_eq!(is_safe(base), expected, "{base}");
        }
    }

    #[test]
    fn a_redirection_to_an_address_without_a_certificate_is_not_followed() {
        let arguments = |command: &Command| -> Vec<String> {
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        let [curl, wget] = downloads("https://example.com");
        assert!(arguments(&curl).join(" ").contains("--proto =https --proto-redir =https"));
        assert!(wget.get_envs().any(|(name, value)| name == "http_proxy" && value.is_some()));
        let [curl, wget] = downloads("http://127.0.0.1:8080");
        assert!(arguments(&curl).join(" ").contains("--proto =http,https --proto-redir =https"));
        assert_eq!(wget.get_envs().count(), 0);
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
