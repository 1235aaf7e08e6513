//! The simple commands that a line of shell would run, at any depth.
//!
//! A lesson about `pytest` has to fire for `cd api && timeout 60 pytest`, for `bash -c "pytest"` and for
//! `x=$(pytest)`, and to stay quiet for `git add pytest.ini`, for a commit message that mentions pytest and for a
//! here-document written to a file. [`commands`] tells them apart:
//!
//! ```
//! let found = shell::commands("cd api && sudo -u ci pytest -x | tee log # not pytest --pdb");
//! let texts: Vec<String> = found.iter().map(shell::Command::text).collect();
//! assert_eq!(texts, ["cd api", "sudo -u ci pytest -x", "pytest -x", "tee log"]);
//! ```
//!
//! The way of a line through this crate: `parse` reads the grammar and finds the commands as they are written; `wrap`
//! knows which commands run other commands, and where in their words those are.
//!
//! This is not a shell. Nothing is expanded, run or looked up, aliases and functions are not followed, and a line
//! that no shell would accept still gives the commands that can be made out. Any input is read in linear time and
//! without a panic, since the crate is linked into a hook that must never be the reason why a tool call waits.

mod code;
mod parse;
mod windows;
mod wrap;

/// The nesting limit of parentheses, compound commands, substitutions and strings of shell. Deeper text is opaque,
/// together with the rest of the text around it.
pub const MAX_NESTING: usize = 32;

/// How many wrappers are taken off one command: `sudo env timeout 5 nice …`.
pub const MAX_WRAPPERS: usize = 8;

/// Returns the simple commands that a line of shell would run, including nested ones, in source order.
///
/// A command that runs another one is followed by it: `sudo reboot` gives `sudo reboot` and `reboot`. Mere prefixes
/// (`env`, `timeout`, `nice`, `nohup`, `time`, `command`, `exec` and their like) are no commands of their own: they
/// are named in [`Command::wrappers`] and nowhere else. A redirection without a simple command (`> file`, `{ … } > file`)
/// gives a command without words. Assignments without a command, `[[ … ]]` and `(( … ))` run nothing and give nothing
/// but the substitutions in them.
pub fn commands(script: &str) -> Vec<Command> {
    parse::commands(script)
}

/// The only word of the command that is given for a function which pipes itself into itself in the background and is
/// called.
pub const FORK_BOMB: &str = "fork-bomb";

/// How much of a command's input is kept, in bytes.
pub const MAX_INPUT: usize = 64 * 1024;

/// A simple command: a program and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; nothing for a redirection without a command. Options stay where they are, also
    /// those before a subcommand: `git -C dir push` has four words.
    pub words: Vec<Word>,
    /// The `NAME=value` prefixes of the command and of the wrappers around it.
    pub assignments: Vec<(String, String)>,
    /// What runs this command, outermost first: `sudo`, `timeout`, `uv run`, `python -m`, `bash`, `ssh`.
    pub wrappers: Vec<&'static str>,
    /// Where its input comes from and its output goes to.
    pub redirects: Vec<Redirect>,
    /// What the script itself says that the command reads on standard input: its here-document or here-string, or
    /// what `echo` and `printf` pipe into it. At most [`MAX_INPUT`] bytes.
    pub input: Option<String>,
    /// For a command in a substitution: the program that runs its output as code, by its base name (`bash` for
    /// `bash -c "$(…)"` and `bash <(…)`, `eval`, `python3`; `source` also for `. <(…)`).
    pub feeds: Option<String>,
    /// For a command in a substitution: the program that its output becomes an argument of, by its base name.
    pub substituted_into: Option<String>,
    /// Where the last `cd` or `pushd` before it in the same shell goes, as written; relative ones are joined.
    pub folder: Option<String>,
    /// The pipeline that it is part of; a number that no other pipeline of the script has.
    pub pipeline: usize,
    /// Its place in the pipeline, from 0.
    pub place: usize,
    /// Whether it is the last of its pipeline.
    pub is_last: bool,
    /// Whether its pipeline's exit status is inverted by `!`.
    pub is_negated: bool,
    /// Whether it runs in the background.
    pub is_background: bool,
    /// How it comes to be run.
    pub origin: Origin,
    /// How many substitutions, strings and wrapping commands surround it.
    pub depth: usize,
    /// Where it starts in the script, in bytes; for a command found in a string, where the command starts that the
    /// string is handed to.
    pub start: usize,
}

/// How a command comes to be run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the script itself.
    #[default]
    Direct,
    /// Its output is substituted: `$( … )`, backticks, `<( … )`, `>( … )`.
    Substitution,
    /// It is in an argument that is run as shell: `bash -c '…'`, `eval`, `ssh host '…'`, `echo '…' | sh`.
    ShellString,
    /// It is in a here-document or here-string that a shell reads.
    Heredoc,
    /// It is in the code of another language: `python -c 'os.system("…")'`. What code deletes shows as `rm`.
    Code,
    /// It is the argument of a command that runs commands: `sudo`, `xargs`, `find -exec`, `npx`, `docker exec`.
    Wrapped,
}

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes and escapes. Parameters stay as they are written (`$x`, `${x:-1}`); of a
    /// substitution only `$()` remains (`<()`, `>()`, `$(())`), since what is in it is a command of its own.
    pub text: String,
    /// Whether some part of it is quoted or escaped.
    pub is_quoted: bool,
    /// Whether it contains an expansion, so that its text is not what the program will see.
    pub is_dynamic: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redirect {
    /// The operator with its file descriptor: `>`, `2>>`, `2>&`, `&>`, `<`, `<<`, `<<<`.
    pub operator: String,
    /// The file, the descriptor, the here-string or the here-document's delimiter.
    pub target: Word,
}

impl Command {
    /// Returns the program's name without its directory, `.exe` and the version that `npx jest@29` asks for.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| program(&word.text))
    }

    /// Returns the command as a pattern sees it: the program's name and the arguments, separated by one space.
    ///
    /// An argument that contains white space is prose or data (a commit message, a body, a script) and shows as `""`,
    /// so that no pattern matches its contents; of `--message="two words"` the part up to the `=` stays. An
    /// empty argument shows as `""` too. The arguments as they are remain in [`Command::words`].
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text);
        text
    }

    /// Adds the command as [`Command::text`] returns it.
    pub fn write_text(&self, text: &mut String) {
        if self.words.is_empty() {
            return;
        }
        visible(self.program()).iter().for_each(|part| text.push_str(part));
        for word in self.words.iter().skip(1) {
            text.push(' ');
            visible(&word.text).iter().for_each(|part| text.push_str(part));
        }
    }

    /// Returns whether this command's output is piped into the other one.
    pub fn is_piped_into(&self, other: &Command) -> bool {
        self.pipeline == other.pipeline && self.place + 1 == other.place
    }
}

/// Returns a program's bare name.
fn program(path: &str) -> &str {
    // Most names are bare ones.
    if !path.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'@')) {
        return path;
    }
    // The slash of `${SHELL:-/bin/sh}` is not one of a path.
    let is_name = |name: &&str| !name.is_empty() && (!name.contains('}') || name.contains("${"));
    let name = path.rsplit('/').next().filter(is_name).unwrap_or(path);
    let name = name.strip_suffix(".exe").or(name.strip_suffix(".EXE")).unwrap_or(name);
    match name.find('@') {
        Some(version) if version > 0 && !name.starts_with('$') => &name[..version],
        _ => name,
    }
}

/// Returns what a pattern sees of a word: all of it, or a hole where white space shows that it is prose.
fn visible(text: &str) -> [&str; 2] {
    const HOLE: &str = "\"\"";
    match text.find(char::is_whitespace) {
        None if text.is_empty() => [HOLE, ""],
        None => [text, ""],
        Some(blank) => match text[..blank].split_once('=') {
            Some((name, _))
                if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) =>
            {
                [&text[..=name.len()], HOLE]
            }
            _ => [HOLE, ""],
        },
    }
}
