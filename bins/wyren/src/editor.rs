//! The user's editor.

use anyhow::{Context as _, Result, bail, ensure};
use base::Env;
use std::path::Path;
use std::process::Command;

/// Returns the editor of the user: `$VISUAL`, else `$EDITOR`.
pub(crate) fn of(env: &Env) -> Option<String> {
    env.text("VISUAL").or_else(|| env.text("EDITOR"))
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
    fn an_editor_may_be_quoted_and_have_arguments() {
        assert_eq!(words("code --wait").unwrap(), ["code", "--wait"]);
        assert_eq!(words("'/opt/my editor/ed' -n").unwrap(), ["/opt/my editor/ed", "-n"]);
        #[cfg(unix)]
        assert_eq!(words(r"/opt/my\ editor/ed").unwrap(), ["/opt/my editor/ed"]);
        assert!(words("'open").unwrap_err().to_string().contains("unclosed quote"));
        assert!(open(" ", Path::new("x")).is_err());
    }
}
