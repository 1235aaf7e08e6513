//! The plugin in the client's registry, by the client's own program.

use super::say;
use crate::claude::program;
use crate::terminal::{self, SUCCESS, WARNING};
use crate::wired::{self, Wiring};
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use text::sanitize;

/// The marketplace in the plugin's folder.
const MARKETPLACE: &str = "wyren";

/// The plugin in that marketplace.
const PLUGIN: &str = "wyren@wyren";

/// How much of the client's words is shown, in characters.
const SHOWN_CHARS: usize = 400;

/// Runs `claude plugin`; fails with the client's words.
fn run(program: &Path, arguments: &[&OsStr]) -> Result<()> {
    let spinner = terminal::spinner("waiting for Claude Code");
    let mut command = Command::new(program);
    let output = command.arg("plugin").args(arguments).stdin(Stdio::null()).output();
    spinner.finish_and_clear();
    let output = output.with_context(|| format!("could not start {}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let words = [output.stderr, output.stdout].concat();
    let words = sanitize::one_line(String::from_utf8_lossy(&words).trim(), SHOWN_CHARS);
    let arguments = arguments.join(OsStr::new(" "));
    bail!("`claude plugin {}` failed: {words}", arguments.to_string_lossy())
}

/// Shows the commands that [`register`] would run.
pub(in crate::commands) fn show_registration(plugin: &Path) -> Result<()> {
    say(format_args!("run claude plugin marketplace add '{}'", plugin.display()))?;
    say(format_args!("run claude plugin install {PLUGIN}"))
}

/// Has the client run the plugin in a folder. Without the client, says what to type once it is there.
pub(in crate::commands) fn register(plugin: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let is_enabled = || {
        let wiring = std::env::current_dir().map(|cwd| Wiring::read(env, paths, &cwd)).unwrap_or_default();
        wiring.plugins.get(PLUGIN).is_some_and(|folder| folder == plugin)
    };
    if is_enabled() {
        return say(format_args!("Claude Code has the plugin {PLUGIN} already."));
    }
    let Some(program) = program(env, paths) else {
        say(format_args!(
            "{WARNING}Claude Code was not found{WARNING:#}. Once it is there, run `wyren install` again, or:"
        ))?;
        say(format_args!("  claude plugin marketplace add '{}'", plugin.display()))?;
        return say(format_args!("  claude plugin install {PLUGIN}"));
    };
    run(&program, &["marketplace".as_ref(), "add".as_ref(), plugin.as_os_str()])?;
    run(&program, &["install".as_ref(), PLUGIN.as_ref()])?;
    if !is_enabled() {
        // It was installed before, and disabled.
        run(&program, &["enable".as_ref(), PLUGIN.as_ref()])?;
    }
    say(format_args!("{SUCCESS}Installed{SUCCESS:#} the plugin {PLUGIN} in Claude Code"))
}

/// Has the client fetch a marketplace anew, and update a plugin from it.
pub(in crate::commands) fn update(id: &str, marketplace: &str, env: &Env, paths: &Paths) -> Result<()> {
    let Some(program) = program(env, paths) else {
        bail!("Claude Code was not found. Nothing was changed. Run: claude plugin update {id}")
    };
    run(&program, &["marketplace".as_ref(), "update".as_ref(), marketplace.as_ref()])?;
    run(&program, &["update".as_ref(), id.as_ref()])
}

/// Returns whether the client knows the plugin or its marketplace.
pub(in crate::commands) fn is_known(client: &Path) -> bool {
    !removal(client).is_empty()
}

/// Returns the commands that take the plugin out of the client.
fn removal(client: &Path) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let mut commands: Vec<Vec<String>> =
        wired::installed(client).iter().map(|id| words(&["uninstall", id])).collect();
    if wired::has_marketplace(client, MARKETPLACE) {
        commands.push(words(&["marketplace", "remove", MARKETPLACE]));
    }
    commands
}

/// Shows the commands that [`unregister`] would run.
pub(in crate::commands) fn show_removal(client: &Path) -> Result<()> {
    for command in removal(client) {
        say(format_args!("run claude plugin {}", command.join(" ")))?;
    }
    Ok(())
}

/// Takes the plugin out of the client; returns what could not be done.
pub(in crate::commands) fn unregister(client: &Path, env: &Env, paths: &Paths) -> Result<Vec<String>> {
    let (mut problems, commands) = (Vec::new(), removal(client));
    if commands.is_empty() {
        return Ok(problems);
    }
    let Some(program) = program(env, paths) else {
        let commands = commands.iter().map(|command| format!("claude plugin {}", command.join(" ")));
        let commands = commands.collect::<Vec<_>>().join("; ");
        return Ok(vec![format!("Claude Code was not found, and has the plugin still. Run: {commands}")]);
    };
    for command in commands {
        let arguments: Vec<&OsStr> = command.iter().map(AsRef::as_ref).collect();
        match run(&program, &arguments) {
            Ok(()) => say(format_args!(
                "{SUCCESS}Removed{SUCCESS:#} {} from Claude Code",
                command.last().map_or("", |name| name)
            ))?,
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    if problems.is_empty() {
        // The client leaves its copy there, marked as unused, and the packages that the copy was made from.
        let _ = std::fs::remove_dir_all(client.join("plugins/cache").join(MARKETPLACE));
        let _ = install::npm::remove(&client.join("plugins/npm-cache"));
    }
    Ok(problems)
}
