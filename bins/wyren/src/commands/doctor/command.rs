//! The command `wyren` of a terminal: this program, and not another of the same name.

use super::{Check, Repair, Subject};
use crate::commands::install::program;
use base::files;
use install::link::{self, Link};
use migrate::is_of_node;
use std::path::{Path, PathBuf};

const NAME: &str = "command";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let Ok(ours) = std::env::current_exe() else {
        return Check::good(NAME, "this program has no path; nothing to check");
    };
    let check = check_among(&ours, &programs(subject));
    let plugin = subject.paths.installed_plugin();
    match program::place_of_missing_link(subject.env, &plugin).filter(|_| check.health == super::Health::Good)
    {
        Some(at) => {
            let shown = at.display().to_string();
            let message = format!(
                "the link {shown} is missing or leads elsewhere, so `wyren` in a terminal may not be this one"
            );
            let env = subject.env.clone();
            let repair = Repair::new(format!("link {shown}"), move || program::make_link(&env, &plugin));
            Check::odd(NAME, message, "wyren doctor --fix").with(repair.of_a_person())
        }
        None => check,
    }
}

/// Returns every `wyren` on the PATH, in its order.
pub(super) fn programs(subject: &Subject<'_>) -> Vec<PathBuf> {
    let path = subject.env.get("PATH").unwrap_or_default();
    let names = names(std::env::consts::EXE_SUFFIX);
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let programs = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    programs.filter(|program| super::plugin::is_program(program)).collect()
}

/// Returns what `wyren` may be called where programs end like this: on Windows npm and `wyren install` write scripts.
fn names(suffix: &str) -> Vec<String> {
    let script = (!suffix.is_empty()).then(|| "wyren.cmd".to_owned());
    std::iter::once(format!("wyren{suffix}")).chain(script).collect()
}

fn check_among(ours: &Path, programs: &[PathBuf]) -> Check {
    let (shown, real) = (ours.display(), files::canonical(ours));
    let Some(first) = programs.first() else {
        return Check::good(
            NAME,
            format!("`wyren` is not on the PATH; in a session use /wyren:status, in a terminal {shown}"),
        );
    };
    if files::canonical(first) == real || link::look(first, ours) == Link::Ours {
        return Check::good(NAME, format!("`wyren` is {}", first.display()));
    }
    let kind = if is_of_node(first) { "the Node version" } else { "another program" };
    let message = format!("`wyren` in a terminal runs {kind}, {}, not this one, {shown}", first.display());
    let folder = ours.parent().unwrap_or(ours).display();
    let fix = match is_of_node(first) {
        true => format!("{shown} migrate --unlink, or: npm uninstall -g @ssm-08/wyren"),
        false => format!("put {folder} first on the PATH, or remove {}", first.display()),
    };
    Check::odd(NAME, message, fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;
    use std::fs;

    #[test]
    fn the_scripts_of_windows_are_looked_for_as_well() {
        assert_eq!(
            (names(""), names(".exe")),
            (vec!["wyren".into()], vec!["wyren.exe".into(), "wyren.cmd".into()])
        );
    }

    #[test]
    fn another_wyren_that_comes_first_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, node, other] = ["ours", "wyren.mjs", "other"].map(|name| folder.path().join(name));
        fs::write(&ours, "\u{7f}ELF").unwrap();
        fs::write(&node, "#!/usr/bin/env node\nrequire('x')\n").unwrap();
        fs::write(&other, "#!/bin/sh\nnode x\n").unwrap();
        let check = |programs: &[&PathBuf]| {
            let programs: Vec<PathBuf> = programs.iter().map(|program| (*program).clone()).collect();
            check_among(&ours, &programs)
        };
        assert_eq!(check(&[]).health, Health::Good);
        assert_eq!(check(&[&ours, &node]).health, Health::Good);
        let found = check(&[&node, &ours]);
        assert_eq!(found.health, Health::Odd);
        assert!(found.message.contains(&format!("the Node version, {}", node.display())), "{found:?}");
        let fix = format!("{} migrate --unlink, or: npm uninstall -g @ssm-08/wyren", ours.display());
        assert_eq!(found.fix, Some(fix));
        let found = check(&[&other]);
        assert!(found.message.contains("another program, "), "{found:?}");
    }
}
