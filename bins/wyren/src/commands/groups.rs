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

/// A description of an example that would have less room than this goes below the command.
const LEAST_DESCRIPTION: usize = 24;
/// How far it is indented then.
const INDENT: usize = 6;

/// Returns the program with its commands in groups.
pub(crate) fn program() -> Command {
    let program = Arguments::command();
    let list = list(&program, width());
    let header = *program.get_styles().get_header();
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

/// Returns the program with examples that fit the terminal, too.
pub(crate) fn program_to_show() -> Command {
    with_fitting_examples(program(), width())
}

/// Returns how many columns a help may have.
fn width() -> usize {
    terminal::width().unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS)
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

/// Returns a command whose examples, and those of its commands, fit the width.
fn with_fitting_examples(command: Command, width: usize) -> Command {
    let examples = command.get_after_help().map(|examples| fitting(&examples.to_string(), width));
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    command.mut_subcommands(|command| with_fitting_examples(command, width))
}

/// Breaks the lines that are too wide, so that a description goes on below its beginning.
fn fitting(examples: &str, width: usize) -> String {
    examples.lines().map(|line| fitting_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn fitting_line(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    // What is far to the right goes on with the description above it.
    let is_description = indent > INDENT;
    let gap = line[indent..].find("  ").map(|at| indent + at).filter(|_| !is_description);
    if terminal::columns_of(line) <= width || (gap.is_none() && indent > 0 && !is_description) {
        return line.to_owned();
    }
    let (command, description) = line.split_at(gap.unwrap_or_default());
    let column = line.len() - description.trim_start().len();
    let description = description.trim_start();
    let is_beside = column == 0 || width >= column + LEAST_DESCRIPTION;
    let column = if is_beside { column } else { INDENT };
    let lines = terminal::wrap(description, width.saturating_sub(column).max(1));
    let lines = lines.join(&format!("\n{:column$}", ""));
    if is_beside {
        let room = column.saturating_sub(terminal::columns_of(command));
        format!("{command}{:room$}{lines}", "")
    } else if command.is_empty() {
        format!("{:column$}{lines}", "")
    } else {
        format!("{command}\n{:column$}{lines}", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_is_too_wide_goes_on_below_its_beginning() {
        for (line, width, expected) in [
            ("  wyren sync    publish and fetch", 40, "  wyren sync    publish and fetch"),
            (
                "  wyren sync    publish what is new and fetch",
                40,
                "  wyren sync    publish what is new and\n                fetch",
            ),
            (
                "  wyren lessons disable --pack cloud   silence all of them",
                44,
                "  wyren lessons disable --pack cloud\n      silence all of them",
            ),
            (
                "                one that goes on with it, and on",
                40,
                "                one that goes on with\n                it, and on",
            ),
            ("In a session, the prompt ^ lists them", 20, "In a session, the\nprompt ^ lists them"),
            (
                "  wyren lessons test '{\"tool\":\"Write\"}'",
                30,
                "  wyren lessons test '{\"tool\":\"Write\"}'",
            ),
        ] {
            assert_eq!(fitting(line, width), expected);
        }
    }

    #[test]
    fn no_description_of_an_example_is_broken_by_the_terminal() {
        fn check(command: &Command) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wide = examples.lines().filter(|line| terminal::columns_of(line) > 80);
            // A command is copied whole.
            let wide: Vec<&str> =
                wide.filter(|line| line.trim().contains("  ") || !line.starts_with(' ')).collect();
            assert!(wide.is_empty(), "{}: {wide:?}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&with_fitting_examples(program(), 80));
    }

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
