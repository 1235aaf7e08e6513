//! `install`, beside the plugin in an archive: starts `wyren install` of that plugin.
#![allow(clippy::print_stderr, reason = "a program for people at a terminal")]

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let started =
        program().and_then(|wyren| Command::new(wyren).arg("install").args(env::args_os().skip(1)).status());
    match started {
        // Ended by a signal: no code.
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into(),
        Err(error) => {
            eprintln!(
                "install: could not start {}: {error}. Unpack the whole archive and try again",
                wyren()
            );
            ExitCode::FAILURE
        }
    }
}

/// Returns `wyren` in the plugin beside this program.
fn program() -> io::Result<PathBuf> {
    let here = env::current_exe()?.canonicalize()?;
    Ok(here.with_file_name(wyren()))
}

/// Returns where `wyren` is in an archive.
fn wyren() -> String {
    format!("plugin/bin/wyren{}", env::consts::EXE_SUFFIX)
}
