//! What is found in a line of shell, and that no line does harm.

mod code;
mod commands;
mod properties;
mod surroundings;
mod variables;
mod wrappers;

use shell::{Command, Origin};

/// Checks the commands of a script: the text of each, with `substituted:`, `string:`, `heredoc:`, `code:` or `wrapped:`
/// before those that do not stand in the script itself. A command without words shows as its redirections.
#[track_caller]
fn check(script: &str, expected: &[&str]) {
    let found: Vec<String> = shell::commands(script).iter().map(described).collect();
    assert_eq!(found, expected, "in {script:?}");
}

fn described(command: &Command) -> String {
    let origin = match command.origin {
        Origin::Direct => "",
        Origin::Substitution => "substituted: ",
        Origin::ShellString => "string: ",
        Origin::Heredoc => "heredoc: ",
        Origin::Code => "code: ",
        Origin::Wrapped => "wrapped: ",
    };
    if command.words.is_empty() {
        let redirects: Vec<String> = command
            .redirects
            .iter()
            .map(|redirect| format!("{} {}", redirect.operator, redirect.target.text))
            .collect();
        return format!("{origin}{}", redirects.join(" "));
    }
    format!("{origin}{}", command.text())
}

/// Returns the only command of a script.
#[track_caller]
fn only(script: &str) -> Command {
    let mut found = shell::commands(script);
    assert_eq!(found.len(), 1, "in {script:?}: {found:#?}");
    found.remove(0)
}

/// Returns the last command of a script.
#[track_caller]
fn last(script: &str) -> Command {
    shell::commands(script).pop().unwrap_or_else(|| panic!("no command in {script:?}"))
}
