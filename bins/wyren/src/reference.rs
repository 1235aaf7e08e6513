//! The tables of the documents that are generated from the command line's own lists, and their comparison.
//! `cargo xtask tables` runs these tests with leave to write.

use crate::{commands, exit};
use base::settings::{KEYS, Key, Kind, Variable};
use clap::{Arg, Command};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tables::document::{Mode, table};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[track_caller]
fn settle(file: &str, block: &str, lines: &str) {
    Mode::of_environment().block(&root().join(file), block, lines).unwrap();
}

#[test]
fn the_reference_of_exit_codes_is_that_of_the_program() {
    let rows = exit::CODES.map(|code| vec![code.number.to_string(), code.meaning.to_owned()]);
    settle("docs/cli.md", "exit codes", &table(&["exit code", "meaning"], rows));
}

#[test]
fn the_reference_of_settings_is_that_of_the_program() {
    let rows = KEYS.iter().map(|key| {
        let name = format!("`{}`", key.name);
        let default = if key.default.is_empty() { "–".to_owned() } else { format!("`{}`", key.default) };
        vec![name, default, values(key), environment(key), key.help.replace('*', "\\*")]
    });
    let head = ["setting", "default", "values", "environment", "what it does"];
    settle("docs/cli.md", "settings", &table(&head, rows));
}

fn values(key: &Key) -> String {
    match key.kind {
        Kind::Switch => "`true`, `false`".to_owned(),
        Kind::Number { least, most } => format!("{least} to {most}"),
        Kind::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::List => "words, separated by commas".to_owned(),
        Kind::Share => "0 to 1".to_owned(),
        Kind::Amount { most } => format!("0 to {most}"),
        Kind::Text => "text".to_owned(),
    }
}

fn environment(key: &Key) -> String {
    let variables = key.variables.iter().map(|variable| match variable {
        Variable::Value(name) => format!("`{name}`"),
        Variable::Off(name) => format!("`{name}` (switches it off)"),
    });
    let variables: Vec<String> = variables.collect();
    if variables.is_empty() { "–".to_owned() } else { variables.join(", ") }
}

#[test]
fn the_reference_of_job_kinds_is_that_of_the_worker() {
    let rows = runner::kinds::KINDS
        .iter()
        .map(|kind| vec![format!("`{}`", kind.name), kind.job.to_owned(), kind.payload.to_owned()]);
    settle("docs/formats.md", "job kinds", &table(&["kind", "what it does", "payload"], rows));
}

#[test]
fn the_reference_of_commands_is_their_help() {
    let mut wyren = program();
    let mut lines = String::new();
    describe(&mut wyren, &[], &mut lines);
    settle("docs/cli.md", "commands", &lines);
}

/// Returns a text as the formatter of manual pages takes it.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = escaped.lines().map(|line| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Adds the help of every command below this one, as a part of the manual page.
fn manual(command: &mut Command, page: &mut String) {
    for below in command.get_subcommands_mut().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        let usage = below.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().to_owned();
        let about = below.get_about().map(ToString::to_string).unwrap_or_default();
        *page += &format!(".SS \"{}\"\n{}\n", roff(&usage), roff(&with_period(&about)));
        for argument in below.get_arguments().filter(|it| !it.is_hide_set() && it.get_id() != "help") {
            let line = line(argument).replace("\\*", "*");
            let (names, help) = line.trim_start_matches("- `").split_once("`: ").unwrap_or_default();
            *page += &format!(".TP\n.B {}\n{}\n", roff(names), roff(help));
        }
        let examples = below.get_after_help().map(ToString::to_string).unwrap_or_default();
        if let Some(examples) = examples.strip_prefix("Examples:\n") {
            *page += &format!(".P\nExamples:\n.nf\n{}\n.fi\n", roff(examples));
        }
        manual(below, page);
    }
}

/// The page ships with the plugin, and costs no program a byte.
#[test]
fn the_manual_page_is_the_help() {
    let mut wyren = program();
    let about = wyren.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!(
        ".TH WYREN 1\n.SH NAME\nwyren \\- {}\n.SH SYNOPSIS\n.B wyren\n<command> [options]\n.SH DESCRIPTION\n",
        roff(about.trim_end_matches('.'))
    );
    page += "Wyren keeps what a team decides with Claude Code, and lessons that speak up before a known mistake. It works by \
             hooks of\nClaude Code; these commands show, change and check what it has.\n";
    page += ".SH COMMANDS\n";
    manual(&mut wyren, &mut page);
    page += ".SH EXIT STATUS\n";
    for code in exit::CODES {
        page += &format!(".TP\n.B {}\n{}\n", code.number, roff(&code.meaning.replace('`', "")));
    }
    page += ".SH FILES\n.TP\n.B ~/.local/share/wyren\nYour data; WYREN_DATA_DIR names another folder.\n.TP\n.B .wyren\n\
             The team memory of a repository.\n";
    Mode::of_environment().file(&root().join("share/man/man1/wyren.1"), &page).unwrap();
}

#[test]
fn every_help_fits_into_100_columns() {
    fn check(command: &mut Command) {
        let help = command.render_long_help().to_string();
        let wide = help.lines().filter(|line| crate::terminal::columns_of(line) > 100);
        assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", command.get_name());
        command.get_subcommands_mut().for_each(check);
    }
    check(&mut program().term_width(100));
}

/// Commands that take `--json` with others of their family, and print none.
const WITHOUT_JSON: [&str; 1] = ["memory edit"];

/// Adds the names of the commands below this one that print JSON.
fn printing_json(command: &Command, above: &str, names: &mut BTreeSet<String>) {
    for below in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
        let name = format!("{above} {}", below.get_name()).trim().to_owned();
        let is_it = |one: &Arg| one.get_long() == Some("json") && !one.get_action().takes_values();
        if below.get_arguments().any(is_it) && !WITHOUT_JSON.contains(&&*name) {
            names.insert(name.clone());
        }
        printing_json(below, &name, names);
    }
}

/// What is on the page is compared with what the commands print by `tests/blackbox/json.rs`.
#[test]
fn the_json_of_every_command_is_documented() {
    let mut of_program = BTreeSet::new();
    printing_json(&program(), "", &mut of_program);
    let page = fs::read_to_string(root().join("docs/json.md")).unwrap();
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let calls = headings.flat_map(|heading| heading.split('`').skip(1).step_by(2));
    let words = |call: &str| {
        let words = call.split_whitespace().skip(1).take_while(|word| !word.starts_with('-'));
        words.collect::<Vec<_>>().join(" ")
    };
    // claude-mem's line, which needs no flag.
    let of_page: BTreeSet<String> = calls.map(words).filter(|name| name != "serve start").collect();
    assert_eq!(of_page, of_program);
}

fn program() -> Command {
    let mut program = commands::program();
    program.build();
    program
}

/// Adds the help of every command below this one; `inherited` is shown with a command above already.
fn describe(command: &mut Command, inherited: &[String], lines: &mut String) {
    for below in
        command.get_subcommands_mut().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        let usage = below.render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default().to_owned();
        let about = below.get_about().map(ToString::to_string).unwrap_or_default();
        *lines += &format!(
            "**`{usage}`**: {}

",
            with_period(&about)
        );
        let own = below.get_arguments().filter(|one| !one.is_hide_set() && one.get_id() != "help");
        let own: Vec<String> = own.map(line).filter(|line| !inherited.contains(line)).collect();
        if !own.is_empty() {
            *lines += &format!(
                "{}

",
                own.join(
                    "
"
                )
            );
        }
        let inherited = below.get_arguments().filter(|one| one.is_global_set()).map(line).collect::<Vec<_>>();
        describe(below, &inherited, lines);
    }
}

fn line(argument: &Arg) -> String {
    let names = [
        argument.get_short().map(|short| format!("-{short}")),
        argument.get_long().map(|long| format!("--{long}")),
    ];
    let mut shown = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if argument.is_positional() || argument.get_action().takes_values() {
        let value = argument.get_value_names().unwrap_or_default().first();
        let value = value.map_or_else(|| argument.get_id().to_string().to_uppercase(), ToString::to_string);
        shown = format!("{shown} {value}").trim().to_owned();
    }
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default = argument.get_default_values().first().filter(|_| argument.get_action().takes_values());
    let default = default.map(|value| format!(" Default: `{}`.", value.to_string_lossy()));
    format!("- `{shown}`: {}{}", with_period(&help), default.unwrap_or_default())
}

fn with_period(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.is_empty() || text.ends_with('.') { text } else { text + "." }
}

/// Returns the code in a document: spans between backquotes, and lines of fenced blocks.
fn code(document: &str) -> Vec<String> {
    let mut code = Vec::new();
    for (index, part) in document.split("```").enumerate() {
        if index % 2 == 1 {
            code.extend(part.lines().map(|line| line.trim().to_owned()));
        } else {
            code.extend(part.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")));
        }
    }
    code
}

/// Returns what is wrong with a call that a document shows: a command or flag that does not exist.
fn problem(wyren: &Command, call: &str) -> Option<String> {
    let words = call.split_whitespace().skip(1).map(|word| word.trim_matches(['[', ']', ',', ';']));
    let (mut command, mut flags) = (wyren, Vec::new());
    for (index, word) in words.enumerate() {
        match command.get_subcommands().find(|below| below.get_name() == word) {
            Some(below) if flags.is_empty() => command = below,
            _ if word.starts_with('#') => break,
            _ if word.starts_with('-') => flags.extend(word.split("\\|").flat_map(|word| word.split('|'))),
            _ if index == 0 && word.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
                return Some(format!("`{call}`: no command {word}"));
            }
            _ => {}
        }
    }
    let is_known = |flag: &str| {
        let flag = flag.trim_matches(['[', ']', ',']).split('=').next().unwrap_or_default();
        command.get_arguments().any(|one| {
            let long = one.get_long_and_visible_aliases().unwrap_or_default();
            long.iter().any(|long| format!("--{long}") == flag)
                || one
                    .get_short_and_visible_aliases()
                    .unwrap_or_default()
                    .iter()
                    .any(|short| format!("-{short}") == flag)
        })
    };
    let flag = flags.iter().find(|flag| flag.starts_with('-') && flag.len() > 1 && !is_known(flag))?;
    Some(format!("`{call}`: `{}` has no {flag}", command.get_name()))
}

#[test]
fn every_call_that_a_document_shows_exists() {
    let wyren = program();
    let mut documents: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(|file| root().join(file))
        .into();
    for folder in [
        "docs",
        "docs/guides",
        "commands",
        "skills/searching-memory",
        "skills/stand-up",
        "skills/weekly-digest",
        "skills/writing-lessons",
    ] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    let (mut calls, mut problems) = (0, Vec::new());
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        // `wyren hooks 1` and the like are the first lines of files.
        let is_call =
            |code: &&String| code.starts_with("wyren ") && !code.ends_with(|end: char| end.is_ascii_digit());
        for call in code(&text).iter().filter(is_call) {
            calls += 1;
            problems
                .extend(problem(&wyren, call).map(|problem| format!("{}: {problem}", document.display())));
        }
    }
    assert!(calls > 100, "{calls} calls were found");
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn a_call_that_does_not_exist_is_found() {
    let wyren = program();
    for good in
        ["wyren sync [--accept\\|--restore] [--json]", "wyren memory [show] --json", "wyren <command>"]
    {
        assert_eq!(problem(&wyren, good), None);
    }
    for bad in ["wyren synch", "wyren sync --hard", "wyren memory diff --accept", "wyren log -z"] {
        assert!(problem(&wyren, bad).is_some(), "{bad}");
    }
}
