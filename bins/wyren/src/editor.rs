//! The user's editor.

use anyhow::{Context as _, Result, bail, ensure};
use base::Env;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::Command;

/// The editor that every system has.
const LAST_RESORT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Returns the editor of the user: `$VISUAL`, else `$EDITOR`, else the one that git is set up with, else `vi`. Without a
/// terminal there is no last resort: a full-screen editor would wait there for good.
pub(crate) fn of(env: &Env) -> Option<String> {
    of_user(env, io::stdin().is_terminal(), of_git)
}

fn of_user(env: &Env, has_terminal: bool, of_git: impl FnOnce() -> Option<String>) -> Option<String> {
    let named = env.text("VISUAL").or_else(|| env.text("EDITOR"));
    named.or_else(of_git).or_else(|| has_terminal.then(|| LAST_RESORT.to_owned()))
}

/// Returns `GIT_EDITOR` or `core.editor`.
fn of_git() -> Option<String> {
    // On a dumb terminal git names only an editor that it is set up with, and no last resort of its own.
    let output = Command::new("git").args(["var", "GIT_EDITOR"]).env("TERM", "dumb").output().ok()?;
    let named = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !named.is_empty()).then_some(named)
}

/// Opens a file in an editor and waits for it. The editor is split into words as a shell does, so a path with spaces
/// may be quoted and arguments may follow.
pub(crate) fn open(editor: &str, file: &Path) -> Result<()> {
    let words = words(editor)?;
    let Some((program, arguments)) = words.split_first() else { bail!("$EDITOR holds no command") };
    let status = Command::new(program).args(arguments).arg(file).status();
    let status = status.with_context(|| format!("could not start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}

fn words(editor: &str) -> Result<Vec<String>> {
    // A backslash is part of a path on Windows, and escapes what follows elsewhere.
    let quoted = if cfg!(windows) { editor.replace('\\', r"\\") } else { editor.to_owned() };
    shlex::split(&quoted).with_context(|| format!("$EDITOR has an unclosed quote: {editor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c17_without_a_variable_it_is_the_editor_of_git_and_then_vi_on_a_terminal() {
        let of = |variables: &[(&str, &str)], has_terminal: bool, git: Option<&str>| {
            of_user(&Env::fixed(variables.iter().copied()), has_terminal, || git.map(str::to_owned))
        };
        let both = [("VISUAL", "code --wait"), ("EDITOR", "nano")];
        assert_eq!(of(&both, true, Some("emacs")).as_deref(), Some("code --wait"));
        assert_eq!(of(&both[1..], true, Some("emacs")).as_deref(), Some("nano"));
        assert_eq!(of(&[], false, Some("emacs")).as_deref(), Some("emacs"));
        assert_eq!(of(&[], true, None).as_deref(), Some(LAST_RESORT));
        assert_eq!(of(&[], false, None), None);
    }

    #[test]
    fn an_editor_may_be_quoted_and_have_arguments() {
        assert_eq!(words("code --wait").unwrap(), ["code", "--wait"]);
        assert_eq!(words("'/opt/my editor/ed' -n").unwrap(), ["/opt/my editor/ed", "-n"]);
        #[cfg(unix)]
        assert_eq!(words(r"/opt/my\ editor/ed").unwrap(), ["/opt/my editor/ed"]);
        assert!(words("'open").unwrap_err().to_string().contains("unclosed quote"));
        assert!(open(" ", Path::new("x")).is_err());
    }
}
