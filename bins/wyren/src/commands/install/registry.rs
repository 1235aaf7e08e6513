//! The plugin in the client's registry, by the client's own program.

use super::{Client, Scope, say, show_change};
use crate::claude::program;
use crate::person;
use crate::terminal::{self, DIM, SUCCESS, WARNING};
use crate::wired::{self, Wiring};
use anyhow::{Context as _, Result, bail};
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp, files};
use install::jsonc;
use install::settings::file;
use serde_json::{Value, json};
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
fn run(program: &Path, paths: &Paths, arguments: &[&OsStr]) -> Result<()> {
    let spinner = terminal::spinner("waiting for Claude Code");
    let mut command = Command::new(program);
    // Only for another folder: with its own named, the client looks for its state elsewhere.
    if let Some(folder) = paths.named_client() {
        command.env("CLAUDE_CONFIG_DIR", folder);
    }
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

/// Shows what [`register`] would do; returns whether that is anything.
pub(in crate::commands) fn show_registration(
    client: &Client,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<bool> {
    if is_enabled(plugin, env, paths) {
        return Ok(false);
    }
    if program(env, paths).is_none() {
        return say_no_client(env).map(|()| false);
    }
    say(format_args!("run claude plugin marketplace add '{}'", plugin.display()))?;
    say(format_args!("run claude plugin install {PLUGIN}"))?;
    show_change(&file::registration(&client.settings(Scope::User), plugin)?)?;
    Ok(true)
}

fn say_no_client(env: &Env) -> Result<()> {
    let wyren = person::wyren(env);
    say(format_args!(
        "{WARNING}Claude Code does not run Wyren yet{WARNING:#}: there is no `claude` on the PATH."
    ))?;
    say(format_args!(
        "Next: install Claude Code and run `{wyren} install` again. With an editor's extension alone: {wyren} install \
         --settings"
    ))
}

fn is_enabled(plugin: &Path, env: &Env, paths: &Paths) -> bool {
    let wiring = std::env::current_dir().map(|cwd| Wiring::read(env, paths, &cwd)).unwrap_or_default();
    wiring.plugins.get(PLUGIN).is_some_and(|folder| folder == plugin)
}

/// Fails where the client could not be told about the plugin: it neither reads nor changes settings with comments.
pub(in crate::commands) fn check(plugin: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let Some(settings) = paths.client().map(|client| client.join("settings.json")) else { return Ok(()) };
    let line = file::text(&settings)?.as_deref().and_then(jsonc::line_beyond_json);
    match line.filter(|_| program(env, paths).is_some() && !is_enabled(plugin, env, paths)) {
        None => Ok(()),
        Some(line) => bail!(
            "nothing was installed: {} has a comment, a trailing comma or a mistake in line {line}, and Claude Code does not \
             read such a file. Correct it, and try again",
            settings.display()
        ),
    }
}

/// Has the client run the plugin in a folder; returns whether it does. Without the client, says what to type once it is there.
pub(in crate::commands) fn register(
    client: &Client,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<bool> {
    if is_enabled(plugin, env, paths) {
        say(format_args!("Claude Code has the plugin {PLUGIN} already."))?;
        return Ok(true);
    }
    let Some(program) = program(env, paths) else {
        return say_no_client(env).map(|()| false);
    };
    // What a new version of the client changes in the settings at its first start is not about us.
    run(&program, paths, &["list".as_ref()])?;
    let settings = client.settings(Scope::User);
    let before = file::text(&settings)?;
    run(&program, paths, &["marketplace".as_ref(), "add".as_ref(), plugin.as_os_str()])?;
    run(&program, paths, &["install".as_ref(), PLUGIN.as_ref()])?;
    if !is_enabled(plugin, env, paths) {
        // It was installed before, and disabled.
        run(&program, paths, &["enable".as_ref(), PLUGIN.as_ref()])?;
    }
    say(format_args!("{SUCCESS}Installed{SUCCESS:#} the plugin {PLUGIN} in Claude Code"))?;
    if let Some(change) = file::registered(&settings, before, plugin)?
        && let Some(backup) = file::apply(&change, Timestamp::now(), Scope::User.mode())?
    {
        let [settings, backup] = [&settings, &backup].map(|path| with_tilde(path, env));
        say(format_args!("{DIM}{settings} as it was: {backup}{DIM:#}"))?;
    }
    Ok(true)
}

/// Has the client fetch a marketplace anew, and update a plugin from it.
pub(in crate::commands) fn update(id: &str, marketplace: &str, env: &Env, paths: &Paths) -> Result<()> {
    let Some(program) = program(env, paths) else {
        bail!("Claude Code was not found. Nothing was changed. Run: claude plugin update {id}")
    };
    run(&program, paths, &["marketplace".as_ref(), "update".as_ref(), marketplace.as_ref()])?;
    run(&program, paths, &["update".as_ref(), id.as_ref()])
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
        match run(&program, paths, &arguments) {
            Ok(()) => {
                let (what, name) = match &*command {
                    [marketplace, _, name] => (marketplace.as_str(), name.as_str()),
                    _ => ("plugin", command.last().map_or("", String::as_str)),
                };
                say(format_args!("{SUCCESS}Removed{SUCCESS:#} the {what} {name} from Claude Code"))?;
            }
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    if problems.is_empty() {
        clear(&client.join("plugins"));
    }
    Ok(problems)
}

/// Removes what the client leaves behind: its copy of the plugin, and registries and folders that have nothing in them.
fn clear(plugins: &Path) {
    // Marked as unused; the client would remove it some day.
    let _ = std::fs::remove_dir_all(plugins.join("cache").join(MARKETPLACE));
    // What that copy was made from.
    let _ = install::npm::remove(&plugins.join("npm-cache"));
    for (name, nothing) in [
        ("known_marketplaces.json", json!({})),
        ("installed_plugins.json", json!({"version": 2, "plugins": {}})),
    ] {
        let path = plugins.join(name);
        let text = files::read_capped(&path, files::cap::SHARED).unwrap_or_default();
        if serde_json::from_slice::<Value>(&text).is_ok_and(|registry| registry == nothing) {
            let _ = std::fs::remove_file(path);
        }
    }
    for folder in ["cache", "data", "marketplaces", ""] {
        // Only one that is empty goes.
        let _ = std::fs::remove_dir(plugins.join(folder));
    }
}
