//! Makes a new hook: a program that answers nothing yet, wired, tested, measured and documented.

use crate::document::Mode;
use crate::hooks::{self, Event, HOOKS, Hook, Silence, Weight};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a hook does before its thinking is written.
pub const NO_JOB_YET: &str = "answers nothing yet";

/// The name of the golden case that a new hook starts with.
const CASE: &str = "recorded";

/// Makes the hook `name` for `event` in the checkout at `root`; returns the files that were made or changed.
///
/// Everything that can be refused is refused before the first file is written.
pub fn make(root: &Path, name: &str, event: &str, job: &str) -> io::Result<Vec<PathBuf>> {
    let event = hooks::event(event).ok_or_else(|| no_such_event(event))?;
    check_name(root, name)?;
    let weight = if event.is_frequent { Weight::Hot } else { Weight::Light };
    let events = [event.name];
    let hook =
        Hook { name, events: &events, matcher: None, timeout: 5, weight, silence: Silence::Empty, job };
    let payload = fs::read_to_string(root.join(format!("tests/data/payloads/{}.json", event.payload)))?;
    let module = name.replace('-', "_");

    let changed = [
        edit(root, "crates/tables/src/hooks.rs", |text| {
            let (before, rest) = text.split_once("pub const HOOKS: &[Hook] = &[\n")?;
            let (rows, after) = rest.split_once("];\n")?;
            Some(format!("{before}pub const HOOKS: &[Hook] = &[\n{rows}{}];\n{after}", hook.source()))
        })?,
        edit(root, "xtask/src/bench/cases.rs", |text| {
            let case = format!(
                "    ({name:?}, Case::plain({:?}, payload!({:?})).silent()),\n",
                event.name, event.payload
            );
            insert_before(text, "    (\"wyren\", Case::plain(", &case)
        })?,
        edit(root, "tests/blackbox/client/mod.rs", |text| {
            insert_before(text, "\nuse ", &format!("mod {module};\n"))
        })?,
        edit(root, "docs/status.md", |text| with_promise(text, name, &module))?,
        edit(root, "CHANGELOG.md", |text| {
            with_change(text, &format!("- `{name}` ({}): {job}.\n", event.name))
        })?,
    ];
    let made = [
        (format!("bins/{name}/Cargo.toml"), manifest(name)),
        (format!("bins/{name}/src/main.rs"), program(name, event, job)),
        (format!("tests/data/{name}/{CASE}.in.json"), payload),
        (format!("tests/data/{name}/{CASE}.out.json"), hook.silence.text().to_owned()),
        (format!("tests/blackbox/client/{module}.rs"), client_test(name, event)),
    ];

    let mut files = Vec::new();
    for (file, contents) in
        made.into_iter().map(|(file, contents)| (root.join(file), contents)).chain(changed)
    {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, contents)?;
        files.push(file);
    }
    format(root, &files)?;
    hooks::settle(Mode::Write, root, &[HOOKS, &[hook]].concat())?;
    let generated = [
        "hooks/hooks.json",
        "hooks/extra.json",
        "hooks/later.json",
        "README.md",
        "ARCHITECTURE.md",
        "docs/cli.md",
        "docs/guides/wiring.md",
    ];
    files.extend(generated.map(|file| root.join(file)));
    Ok(files)
}

fn no_such_event(name: &str) -> io::Error {
    let known = hooks::EVENTS.map(|event| event.name).join(", ");
    io::Error::other(format!(
        "no event {name}; there are {known}. For another one, add its type in crates/hot/hook/src/event.rs and its row in crates/tables/src/hooks.rs"
    ))
}

fn check_name(root: &Path, name: &str) -> io::Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase());
    if !name.split('-').all(is_word) || !name.contains('-') {
        return Err(io::Error::other(format!(
            "{name}: a hook's name is two or more lower-case words with `-` between them, as in `stop-distill`"
        )));
    }
    if name.starts_with("wyren") {
        return Err(io::Error::other(format!("{name}: names that begin with `wyren` are those of programs")));
    }
    if hooks::find(name).is_some() || root.join("bins").join(name).exists() {
        return Err(io::Error::other(format!("{name}: there is such a hook already")));
    }
    Ok(())
}

/// Returns a file and its changed contents.
fn edit(
    root: &Path,
    file: &str,
    change: impl FnOnce(&str) -> Option<String>,
) -> io::Result<(PathBuf, String)> {
    let path = root.join(file);
    let text = fs::read_to_string(&path)?;
    let changed = change(&text);
    let changed =
        changed.ok_or_else(|| io::Error::other(format!("{file}: the place for the hook is gone")))?;
    Ok((path, changed))
}

fn insert_before(text: &str, place: &str, lines: &str) -> Option<String> {
    let at = text.find(place)?;
    Some(format!("{}{lines}{}", &text[..at], &text[at..]))
}

/// The section of docs/status.md for hooks that were made and have no section of their own yet.
const SECTION: &str = "## New hooks\n\n| promise | shown by |\n|---|---|\n";

fn with_promise(text: &str, name: &str, module: &str) -> Option<String> {
    let line = format!(
        "| `{name}` keeps the contract of every hook, and the client runs it | `tests/blackbox/contract.rs`, `client::{module}` |\n"
    );
    match text.split_once(SECTION) {
        Some((before, after)) => Some(format!("{before}{SECTION}{line}{after}")),
        None => insert_before(text, "## Known, and open\n", &format!("{SECTION}{line}\n")),
    }
}

/// Adds a line at the end of the first list "Added".
fn with_change(text: &str, line: &str) -> Option<String> {
    let start = text.find("\n### Added\n\n")? + "\n### Added\n\n".len();
    let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
    Some(format!("{}{line}{}", &text[..end], &text[end..]))
}

fn manifest(name: &str) -> String {
    format!(
        r#"[package]
name = "{name}"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[lints]
workspace = true

[dependencies]
hook = {{ workspace = true }}
"#
    )
}

fn program(name: &str, event: &Event, job: &str) -> String {
    let event = event.name;
    let mut names = ["Answer", "Arena", "Silence", event];
    names.sort_unstable();
    let names = names.join(", ");
    format!(
        r#"//! {event}: {job}.

use hook::{{{names}}};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {{
    hook::run("{name}", Silence::Empty, |_call: {event}, _host| Ok(Answer::silent()))
}}
"#
    )
}

fn client_test(name: &str, event: &Event) -> String {
    let event = event.name;
    // A tool that is allowed raises no question.
    let is_question = ["Notification", "PermissionRequest"].contains(&event);
    let allowed =
        if is_question { "" } else { "    let client = client.allow_tools(&[\"Bash\", \"Agent\"]);\n" };
    format!(
        r#"//! `{name}` in the real client.

use anyhow::Result;

use super::{{check_processes, check_ran, client_with_plugin, provoke}};

#[test]
fn the_client_runs_it() -> Result<()> {{
    let Some(client) = client_with_plugin()? else {{ return Ok(()) }};
{allowed}
    provoke(&client, "{event}")?;

    check_ran(&client, "{name}", "{event}")?;
    check_processes(&client)
}}
"#
    )
}

/// Formats what is Rust: a long name or job breaks lines.
fn format(root: &Path, files: &[PathBuf]) -> io::Result<()> {
    let sources = files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(root).args(sources);
    if !rustfmt.status()?.success() {
        return Err(io::Error::other("rustfmt failed; run `cargo fmt`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, event: &str) -> String {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        make(root, name, event, NO_JOB_YET).unwrap_err().to_string()
    }

    #[test]
    fn a_name_that_cannot_be_a_hooks_is_refused() {
        for name in ["", "stop", "Stop-x", "stop--x", "../stop-x", "stop-x2", "wyren-x", "stop-distill"] {
            assert!(refusal(name, "Stop").starts_with(name), "{name}");
        }
    }

    #[test]
    fn an_event_without_a_type_is_refused_with_what_to_do() {
        let refusal = refusal("compact-after", "PostCompact");
        assert!(refusal.contains("crates/hot/hook/src/event.rs"), "{refusal}");
    }

    #[test]
    fn a_change_goes_to_the_end_of_the_list() {
        let log = "# C\n\n## [Unreleased]\n\n### Added\n\n- a\n  b\n\n### Changed\n\n- c\n";
        assert_eq!(with_change(log, "- new\n").unwrap(), log.replace("  b\n", "  b\n- new\n"));
        assert_eq!(with_change("\n### Added\n\n- a\n", "- new\n").unwrap(), "\n### Added\n\n- a\n- new\n");
    }

    #[test]
    fn promises_share_one_section() {
        let status = "# S\n\n## Known, and open\n\n- x\n";
        let one = with_promise(status, "stop-a", "stop_a").unwrap();
        let two = with_promise(&one, "stop-b", "stop_b").unwrap();
        assert_eq!(two.matches("## New hooks").count(), 1);
        assert!(two.contains("`stop-a`") && two.contains("`client::stop_b`") && two.ends_with("- x\n"));
    }
}
