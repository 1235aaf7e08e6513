//! `wyren install --statusline` and `--file-suggest`: commands of ours whose output the client shows.

use super::{Client, Scope, bring, lasting, lock, record_folder, say, show_change, show_copy};
use crate::terminal::{DIM, SUCCESS, WARNING};
use anyhow::Result;
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp};
use install::jsonc;
use install::settings::file;
use install::settings::shown::Member;
use std::path::Path;

/// Writes the commands into the settings, or shows what would change.
pub(super) fn run(
    members: &[(Member, Scope)],
    client: &Client,
    plugin: &Path,
    is_dry: bool,
    env: &Env,
    paths: &Paths,
) -> Result<()> {
    if is_dry {
        let stays = lasting(plugin, paths);
        show_copy(plugin, &stays)?;
        for (member, scope) in members {
            show_change(&file::show(&client.settings(*scope), &stays, *member)?)?;
        }
        return Ok(());
    }
    let _lock = lock(paths)?;
    let plugin = bring(plugin, env, paths)?;
    for (member, scope) in members {
        record_folder(None, client.folder(*scope), env, paths)?;
        write(*member, *scope, client, &plugin, env)?;
    }
    Ok(())
}

fn write(member: Member, scope: Scope, client: &Client, plugin: &Path, env: &Env) -> Result<()> {
    let change = file::show(&client.settings(scope), plugin, member)?;
    let (path, key) = (with_tilde(&change.path, env), member.key());
    if change.is_nothing() {
        say(format_args!("{path} has the {key} already."))?;
    } else {
        let backup = file::apply(&change, Timestamp::now(), scope.mode())?;
        say(format_args!("{SUCCESS}Wrote{SUCCESS:#} {key} to {path}"))?;
        if let Some(backup) = backup {
            say(format_args!("{DIM}The file as it was: {}{DIM:#}", with_tilde(&backup, env)))?;
        }
    }
    if let Some(line) = change.after.as_deref().and_then(jsonc::line_beyond_json) {
        say(format_args!(
            "{WARNING}Not shown yet{WARNING:#}: Claude Code does not read a settings file with comments or trailing commas, as in \
             line {line}. Remove them from {path}"
        ))?;
    }
    say("Sessions show it from their next start on. wyren uninstall takes it out again.")
}
