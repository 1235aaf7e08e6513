//! The list of commands as a person looks for them: by what they are about.

use super::Arguments;
use crate::terminal;
use clap::{Command, CommandFactory as _};
use std::fmt::Write as _;

/// Every command that the list shows, in the order in which a newcomer needs them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Look things up", &["status", "search", "show", "timeline", "why", "recap", "log"]),
    ("Go on with work", &["work", "handoff"]),
    ("Keep something", &["remember", "pin", "unpin", "edit", "forget", "capture", "export", "import"]),
    (
        "Share with the team",
        &["init", "memory", "sync", "distill", "trust", "untrust", "broadcast-skill", "unbroadcast"],
    ),
    ("Stop known mistakes", &["lessons"]),
    (
        "Set up and look after Wyren",
        &[
            "install",
            "migrate",
            "update",
            "uninstall",
            "config",
            "doctor",
            "repair",
            "version",
            "spend",
            "jobs",
            "worker",
            "serve",
            "statusline",
            "file-suggest",
            "completions",
        ],
    ),
];

/// The widest help, as clap has it.
const MAX_COLUMNS: usize = 100;

/// Returns the program with its commands in groups.
pub(crate) fn program() -> Command {
    let program = Arguments::command();
    let list = list(&program, terminal::width().unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS));
    let header = *program.get_styles().get_header();
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

fn list(program: &Command, width: usize) -> String {
    let styles = program.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let column = names.map(|name| name.len()).max().unwrap_or_default() + 4;
    let mut list = String::new();
    for (about, names) in GROUPS {
        let _ = writeln!(list, "{header}{about}:{header:#}");
        for name in names {
            let Some(command) = program.find_subcommand(name) else { continue };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let lines = terminal::wrap(&about, width.saturating_sub(column).max(20));
            let room = column - 2 - name.len();
            let _ = write!(list, "  {literal}{name}{literal:#}{:room$}", "");
            let _ = writeln!(list, "{}", lines.join(&format!("\n{:column$}", "")));
        }
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Arguments::command();
        let mut shown: Vec<_> =
            program.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn the_list_keeps_to_the_width_of_a_terminal() {
        let list = list(&Arguments::command(), 80);
        let plain = anstream::adapter::strip_str(&list).to_string();
        assert!(plain.lines().all(|line| terminal::columns_of(line) <= 80), "{plain}");
        assert!(plain.starts_with("Look things up:\n  status "), "{plain}");
    }
}
