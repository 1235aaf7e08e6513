//! How many instructions a program executes, counted by callgrind: a figure that no noise touches.

use super::program::Program;
use crate::workspace::is_installed;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Says whether the counter is there.
pub(crate) fn are_countable() -> bool {
    is_installed("valgrind")
}

/// Runs a program once under callgrind, which writes to a file in `folder`.
pub(crate) fn count(program: &Program, folder: &Path) -> Result<u64> {
    let profile = folder.join("callgrind.out");
    let plain = program.command()?;
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(fs::File::open(&program.stdin)?);
    let output = command.output().context("could not start valgrind")?;
    let text = fs::read_to_string(&profile);
    let Some(count) = text.ok().as_deref().and_then(total) else {
        bail!("callgrind could not count {program}:\n{}", String::from_utf8_lossy(&output.stderr));
    };
    Ok(count)
}

/// Returns the sum that a profile ends with.
fn total(profile: &str) -> Option<u64> {
    let find = |key| profile.lines().find_map(|line| line.strip_prefix(key));
    find("totals:").or_else(|| find("summary:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_profile_is_its_last_line() {
        assert_eq!(
            total("# callgrind format\nevents: Ir\nsummary: 8211\n\nfn=(1)\n0 3\ntotals: 8212\n"),
            Some(8212)
        );
        assert_eq!(total("events: Ir\nsummary: 8211\n"), Some(8211));
        assert_eq!(total("events: Ir\n"), None);
    }
}
