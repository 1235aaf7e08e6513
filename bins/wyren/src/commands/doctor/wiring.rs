//! The wiring: the client runs each hook once, from programs that exist.

use super::Health;
use super::{Check, Repair, Subject};
use crate::commands::install::{self as installation, Client, Scope};
use crate::commands::log;
use crate::terminal::counted;
use crate::wired::{self, Unread, Wiring};
use base::Timestamp;
use install::settings::file;
use serde_json::Value;
use std::path::{Path, PathBuf};

const NAME: &str = "wiring";
const DAY_MILLIS: u64 = 86_400_000;

/// What a hook logs that left its answer to the other wiring.
const TWICE: &str = "HOOK_WIRED_TWICE";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let cwd = std::env::current_dir().unwrap_or_default();
    if let Some(file) = wired::switched_off(subject.paths, &cwd) {
        let message = format!("{} has disableAllHooks, so Claude Code runs no hook at all", file.display());
        return Check::bad(NAME, message, format!("take disableAllHooks out of {}", file.display()));
    }
    let wiring = Wiring::read(subject.env, subject.paths, &cwd);
    let check = judge(&wiring, || has_logged(subject, Some(TWICE)));
    if check.health == Health::Bad {
        return rewire(check, subject);
    }
    if let Some(check) = judge_unread(&wiring.unread) {
        return check;
    }
    let is_wired = !wiring.plugins.is_empty() || !wiring.by_hand.is_empty();
    if is_wired { check } else { judge_unwired(subject) }
}

/// Looks at the settings files that the client passes over; one with something of ours is the worst.
fn judge_unread(unread: &[Unread]) -> Option<Check> {
    let Unread { file, line, is_of_us } =
        unread.iter().find(|unread| unread.is_of_us).or_else(|| unread.first())?;
    let file = file.display();
    let message = format!(
        "{file} has a comment, a trailing comma or a mistake in line {line}, so Claude Code reads nothing of it"
    );
    let fix = format!("remove it from {file}");
    Some(match is_of_us {
        true => Check::bad(NAME, message + " and runs no hook of it", fix),
        false => Check::odd(NAME, message, fix),
    })
}

/// Says why the client runs no hooks, or how it does without being told in a file.
fn judge_unwired(subject: &Subject<'_>) -> Check {
    let agents = super::agents::titles(subject.env);
    if !agents.is_empty() {
        return Check::good(NAME, format!("not in Claude Code, but in {}", agents.join(" and ")));
    }
    if has_logged(subject, None) {
        let message = "registered nowhere, though hooks have run: by a session with --plugin-dir, or before it was removed";
        return Check::good(NAME, message);
    }
    Check::odd(NAME, "Claude Code has neither the plugin nor hooks of Wyren", "wyren install")
}

/// Adds the repair where settings name programs that are gone and there is a plugin that has them.
fn rewire(check: Check, subject: &Subject<'_>) -> Check {
    let (Ok(client), Some(plugin)) = (Client::of(subject.env, subject.paths), plugin_to_wire(subject)) else {
        return check;
    };
    let is_lost = |scope: &Scope| {
        let programs = client.wired(*scope);
        programs.iter().any(|program| !super::plugin::exists(program))
    };
    let lost: Vec<Scope> = Scope::ALL.into_iter().filter(is_lost).collect();
    if lost.is_empty() {
        return check;
    }
    let files = lost.iter().map(|scope| client.settings(*scope).display().to_string()).collect::<Vec<_>>();
    let what = format!("write the hooks of {} into {}", plugin.display(), files.join(" and "));
    let paths = subject.paths.clone();
    let repair = Repair::new(what, move || {
        let _lock = installation::lock(&paths)?;
        for scope in lost {
            let change = file::install(&client.settings(scope), &plugin, &client.around)?;
            file::apply(&change, Timestamp::now(), scope.mode())?;
        }
        Ok(())
    });
    check.with(repair.of_a_person())
}

/// Returns a plugin that is there: the installed one, else the one of this program.
fn plugin_to_wire(subject: &Subject<'_>) -> Option<PathBuf> {
    let installed = subject.paths.installed_plugin();
    let is_whole =
        |folder: &PathBuf| install::plugin::is_ours(folder) && folder.join("hooks/hooks.json").is_file();
    Some(installed).filter(is_whole).or_else(|| installation::plugin_folder().ok())
}

fn judge(wiring: &Wiring, has_run_twice: impl FnOnce() -> bool) -> Check {
    if let Some((id, folder)) = wiring.gone().next() {
        return Check::bad(NAME, wired::gone(id, &folder.display().to_string()), wired::what_to_do(id));
    }
    for (file, programs) in &wiring.by_hand {
        let missing: Vec<&PathBuf> =
            programs.iter().filter(|program| !super::plugin::exists(program)).collect();
        if let Some(first) = missing.first() {
            let names = counted(missing.len(), "program that does not exist", "programs that do not exist");
            let message = format!("{} names {names}, such as {}", file.display(), first.display());
            return Check::bad(
                NAME,
                message,
                format!("wyren install --settings, or remove the hooks of Wyren from {}", file.display()),
            );
        }
    }
    if let [(first, _), (second, _), ..] = wiring.plugins.iter().collect::<Vec<_>>()[..] {
        let message =
            format!("registered twice, as {first} and {second}: every hook runs twice, and one run answers");
        return Check::odd(NAME, message, format!("claude plugin uninstall {second}"));
    }
    let by_hand: Vec<String> = wiring.by_hand.keys().map(|file| file.display().to_string()).collect();
    let files = by_hand.join(" and ");
    let plugin = wiring.plugins.iter().next();
    if !by_hand.is_empty() && (plugin.is_some() || has_run_twice()) {
        let message =
            format!("wired twice, by the plugin and in {files}: every hook runs twice, and one run answers");
        let fix = match plugin {
            Some((id, _)) => installation::how_to_keep_one(id, "wyren"),
            None => format!("start sessions without --plugin-dir, or remove the hooks of Wyren from {files}"),
        };
        return Check::odd(NAME, message, fix);
    }
    let folders = wiring.by_hand.values().flatten().filter_map(|program| program.parent());
    let folders: std::collections::BTreeSet<&Path> = folders.collect();
    if folders.len() > 1 {
        let message = format!("wired twice, in {files}: the hooks come from {} folders", folders.len());
        return Check::odd(NAME, message, "keep the hooks of one folder");
    }
    match plugin {
        Some((id, folder)) => Check::good(NAME, format!("by the plugin {id} in {}", folder.display())),
        None => Check::good(NAME, format!("{} in {files}", counted(wiring.hooks, "hook", "hooks"))),
    }
}

/// Returns whether a hook logged something within a day: anything, or this message. Plugins that sessions load from a folder are in
/// no file.
fn has_logged(subject: &Subject<'_>, message: Option<&str>) -> bool {
    let yesterday = Timestamp::from_millis(subject.now.millis().saturating_sub(DAY_MILLIS)).to_string();
    let lines = log::read_lines(&subject.paths.hook_log()).unwrap_or_default();
    let lines = lines.iter().filter(|line| message.is_none_or(|message| line.contains(message)));
    let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_meant = |line: &Value| message.is_none_or(|message| line["msg"] == message);
    lines.any(|line| is_meant(&line) && line["ts"].as_str().is_some_and(|at| *at >= *yesterday))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn check(plugin: Option<&Path>, by_hand: &[&Path], has_run_twice: bool) -> Check {
        let plugins =
            plugin.map(|folder| ("wyren@wyren".to_owned(), folder.to_owned())).into_iter().collect();
        let by_hand: BTreeMap<PathBuf, BTreeSet<PathBuf>> = by_hand
            .iter()
            .enumerate()
            .map(|(at, program)| {
                (format!("/p{at}/settings.json").into(), BTreeSet::from([(*program).to_owned()]))
            })
            .collect();
        judge(&Wiring { plugins, by_hand, hooks: 13, unread: Vec::new() }, || has_run_twice)
    }

    #[test]
    fn what_is_wired_twice_lost_or_gone_is_named_with_the_fix() {
        let folder = tempfile::tempdir().unwrap();
        let (plugin, gone) = (folder.path(), folder.path().join("gone"));
        let (program, lost) = (plugin.join("stop-distill"), gone.join("stop-distill"));
        std::fs::write(&program, "").unwrap();
        for (plugin, by_hand, has_run_twice, health, words) in [
            (Some(plugin), &[][..], false, Health::Good, "by the plugin wyren@wyren"),
            (None, &[&*program], false, Health::Good, "13 hooks in /p0/settings.json"),
            (
                Some(plugin),
                &[&*program],
                false,
                Health::Odd,
                "wired twice, by the plugin and in /p0/settings.json",
            ),
            (None, &[&*program], true, Health::Odd, "wired twice, by the plugin and in /p0/settings.json"),
            (None, &[&*lost], false, Health::Bad, "1 program that does not exist"),
            (Some(&*gone), &[], false, Health::Bad, "is gone"),
        ] {
            let check = check(plugin, by_hand, has_run_twice);
            assert_eq!(check.health, health, "{check:?}");
            assert!(check.message.contains(words), "{check:?}");
            assert_eq!(check.fix.is_some(), health != Health::Good, "{check:?}");
        }
    }

    #[test]
    fn a_comment_where_our_hooks_are_is_a_failure_and_elsewhere_a_warning() {
        let unread = |file: &str, line, is_of_us| Unread { file: file.into(), line, is_of_us };
        assert!(judge_unread(&[]).is_none());
        let other = judge_unread(&[unread("/p0/settings.json", 2, false)]).unwrap();
        assert_eq!(other.health, Health::Odd, "{other:?}");
        let ours =
            judge_unread(&[unread("/p0/settings.json", 2, false), unread("/p1/settings.json", 3, true)])
                .unwrap();
        assert_eq!(ours.health, Health::Bad, "{ours:?}");
        assert!(ours.message.contains("/p1/settings.json") && ours.message.contains("line 3"), "{ours:?}");
        assert_eq!(ours.fix.as_deref(), Some("remove it from /p1/settings.json"));
    }

    #[test]
    fn two_plugins_of_ours_are_registered_twice() {
        let folder = tempfile::tempdir().unwrap();
        let plugins = ["wyren@acme", "wyren@wyren"].map(|id| (id.to_owned(), folder.path().to_owned()));
        let check = judge(&Wiring { plugins: plugins.into(), ..Wiring::default() }, || false);
        assert_eq!(check.health, Health::Odd, "{check:?}");
        assert!(check.message.starts_with("registered twice, as wyren@acme and wyren@wyren"), "{check:?}");
        assert_eq!(check.fix.as_deref(), Some("claude plugin uninstall wyren@wyren"));
    }

    #[test]
    fn hooks_of_two_folders_are_wired_twice() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let programs = [one.path().join("stop-distill"), two.path().join("stop-distill")];
        programs.iter().for_each(|program| std::fs::write(program, "").unwrap());
        let check = check(None, &[&programs[0], &programs[1]], false);
        assert_eq!(check.health, Health::Odd, "{check:?}");
    }
}
