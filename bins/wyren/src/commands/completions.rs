//! `wyren completions`: a script that completes commands and flags in a shell.

use crate::commands;
use crate::terminal;
use anyhow::Result;
use clap::Args;
use clap_complete::Shell;
use std::io::Write as _;

const EXAMPLES: &str = "\
Examples:
  wyren completions bash > ~/.local/share/bash-completion/completions/wyren
  wyren completions zsh > ~/.zfunc/_wyren            with fpath+=~/.zfunc before compinit
  wyren completions fish > ~/.config/fish/completions/wyren.fish
  source <(wyren completions bash)                   this shell only";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    Ok(terminal::exact_output().write_all(&script(arguments.shell))?)
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut commands::program(), "wyren", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;
    use std::process::Command;

    #[test]
    fn c25_every_shell_gets_a_script_that_knows_the_commands() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).unwrap();
            for word in ["status", "completions", "dry-run"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn c25_bash_completes_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wyren.bash");
        std::fs::write(&file, script(Shell::Bash)).unwrap();
        let typed = "source \"$1\"; COMP_WORDS=(wyren stat); COMP_CWORD=1; _wyren wyren stat wyren; echo \"${COMPREPLY[@]}\"";
        let output = Command::new("bash").args(["-ec", typed, "bash"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "status statusline\n");
    }
}
