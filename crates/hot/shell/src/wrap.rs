//! Commands that run other commands, and where in their words those are.
//!
//! To teach Wyren a new wrapper, add a line to the table in `table`.

mod table;

use std::borrow::Cow;
use std::ops::Range;

use crate::code::{self, Code, Language};
use crate::parse::Place;
use crate::windows::{self, Dialect};
use crate::{Command, MAX_WRAPPERS, Word, program};

/// Something that a command runs.
pub(crate) struct Run {
    /// The name of what runs it.
    pub(crate) wrapper: &'static str,
    /// Whether the wrapper is no command of its own.
    pub(crate) is_prefix: bool,
    /// The `NAME=value` words in front of it.
    pub(crate) assignments: WrapperWords,
    pub(crate) inside: Inside,
}

/// The `NAME=value` words of a wrapper.
type WrapperWords = Vec<(String, String)>;

/// How a command is handed what it runs.
pub(crate) enum Inside {
    Words(Range<usize>),
    /// As a line of shell, in these words.
    Script {
        script: String,
        words: Range<usize>,
    },
    /// As code of another language.
    Code(Code),
}

/// What runs the input of a command: a shell, unless a language is named.
#[derive(Clone)]
pub(crate) struct Reader {
    /// What has to be taken off the command to get to it, and itself.
    pub(crate) wrappers: Vec<&'static str>,
    pub(crate) language: Option<Language>,
}

/// The program that gets a substitution's output.
pub(crate) struct Receiver<'word> {
    /// Its base name.
    pub(crate) program: &'word str,
    /// Whether it runs the output as code.
    pub(crate) runs_it: bool,
}

/// Returns the name of a shell. A list of names would have to be relocated whenever a hook starts.
fn shell(name: &str) -> Option<&'static str> {
    if !name.ends_with('h') {
        return None;
    }
    Some(match name {
        "bash" => "bash",
        "sh" => "sh",
        "zsh" => "zsh",
        "dash" => "dash",
        "ksh" => "ksh",
        "mksh" => "mksh",
        "ash" => "ash",
        "fish" => "fish",
        "rbash" => "rbash",
        _ => return None,
    })
}

/// Returns what a command runs: nothing, one command, or several in the case of `find`.
pub(crate) fn runs(words: &[Word]) -> Vec<Run> {
    let Some(name) = words.first().map(|word| program(&word.text)) else { return Vec::new() };
    if let Some(shell) = shell(name) {
        return match shell_input(words) {
            ShellInput::Script(at) => vec![run(shell, script_in(words, at))],
            ShellInput::File(_) | ShellInput::Standard => Vec::new(),
        };
    }
    let only = match name {
        "find" | "gfind" => return exec_runs("find", words, &["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => return exec_runs("fd", words, &["-x", "-X", "--exec", "--exec-batch"]),
        "tmux" => return tmux(words),
        "screen" => screen(words),
        "cmd" | "CMD" => windows_shell(words),
        "powershell" | "pwsh" | "PowerShell" | "POWERSHELL" => power_shell(name, words),
        "start" => start(words),
        "winrs" => winrs(words),
        "forfiles" => forfiles(words),
        "Start-Process" => start_process(words),
        "Invoke-Expression" => behind("Invoke-Expression", Dialect::PowerShell, words, 1),
        "capsh" => capsh(words),
        "git" => git_alias(words).or_else(|| table::run(name, words)),
        "$SUDO" | "$sudo" | "${SUDO}" | "${sudo}" | "${SUDO:-}" if words.len() > 1 => {
            Some(run("sudo", Inside::Words(1..words.len())))
        }
        _ => {
            let name = canonical(name);
            match code::find(name, words) {
                Some(code) => Some(run(code.wrapper, Inside::Code(code))),
                None => table::run(name, words),
            }
        }
    };
    only.into_iter().collect()
}

/// Returns what `tmux` runs; several of its commands are separated by `;`.
fn tmux(words: &[Word]) -> Vec<Run> {
    let mut runs = Vec::new();
    for (part, command) in words.split(|word| word.text == ";").enumerate().take(MAX_WRAPPERS) {
        let command = if part == 0 { Cow::Borrowed(command) } else { [&words[..1], command].concat().into() };
        runs.extend(table::run("tmux", &command));
    }
    runs
}

fn screen(words: &[Word]) -> Option<Run> {
    let option =
        |word: &Word| word.text.starts_with('-') && word.text.ends_with(['S', 't', 'c', 's', 'p', 'h', 'e']);
    let mut index = 1;
    while let Some(word) = words.get(index).filter(|word| word.text.starts_with('-')) {
        match word.text.as_str() {
            "-X" if words.get(index + 1).is_some_and(|word| word.text == "stuff") => {
                let typed = words.get(index + 2)?.text.replace("\\n", "\n").replace("^M", "\n");
                return Some(run("screen", Inside::Script { script: typed, words: index + 2..index + 3 }));
            }
            "-X" | "-r" | "-R" | "-x" | "-ls" | "-list" | "-wipe" => return None,
            _ => index += 1 + usize::from(option(word)),
        }
    }
    (index < words.len()).then(|| run("screen", Inside::Words(index..words.len())))
}

/// Returns what `cmd /c` runs.
fn windows_shell(words: &[Word]) -> Option<Run> {
    let is_switch = |word: &Word| matches!(word.text.as_str(), "/c" | "/C" | "/k" | "/K" | "//c" | "//C");
    let start = words.iter().position(is_switch)? + 1;
    behind("cmd", Dialect::Prompt, words, start)
}

/// Returns what `start /b program` runs; a quoted title may be in front of it.
fn start(words: &[Word]) -> Option<Run> {
    let is_own = |word: &Word| word.text.starts_with('/') || (word.is_quoted && word.text.is_empty());
    let start = 1 + words.get(1..)?.iter().take_while(|word| is_own(word)).count();
    (start < words.len()).then(|| run("start", Inside::Words(start..words.len())))
}

/// Returns what `winrs -r:host "…"` runs on the host.
fn winrs(words: &[Word]) -> Option<Run> {
    let start = 1 + words.get(1..)?.iter().take_while(|word| word.text.starts_with(['-', '/'])).count();
    behind("winrs", Dialect::Prompt, words, start)
}

/// Returns what `forfiles /p folder /c "…"` runs for the files of the folder.
fn forfiles(words: &[Word]) -> Option<Run> {
    let value = |name: &str| {
        let at = words.iter().position(|word| word.text.eq_ignore_ascii_case(name))? + 1;
        words.get(at).map(|word| (at, word.text.as_str()))
    };
    let (at, command) = value("/c")?;
    let folder = value("/p").map_or(".", |(_, folder)| folder);
    if folder.len() > MAX_LINE || command.len() > MAX_REPEATED {
        return None;
    }
    let mut command = command.replacen("@path", folder, 4).replacen("@file", folder, 4);
    if value("/s").is_some() {
        command.push_str(" /s");
    }
    let script = windows::as_shell(Dialect::Prompt, &command);
    Some(run("forfiles", Inside::Script { script, words: at..at + 1 }))
}

/// Returns what `Start-Process program -ArgumentList …` runs.
fn start_process(words: &[Word]) -> Option<Run> {
    let mut line = String::new();
    let mut rest = words.get(1..)?.iter();
    while let Some(word) = rest.next() {
        match word.text.to_ascii_lowercase().as_str() {
            "-argumentlist" | "-args" | "-filepath" => {}
            "-verb" | "-windowstyle" | "-workingdirectory" | "-credential" => drop(rest.next()),
            "-wait" | "-nonewwindow" | "-passthru" => {}
            _ => {
                line.push_str(&word.text);
                line.push(' ');
            }
        }
    }
    let script = windows::as_shell(Dialect::PowerShell, &line);
    Some(run("Start-Process", Inside::Script { script, words: 1..words.len() }))
}

/// Returns what PowerShell is to run, as if it were a line of shell: its simple commands look the same.
fn power_shell(name: &str, words: &[Word]) -> Option<Run> {
    let wrapper = if name == "pwsh" { "pwsh" } else { "powershell" };
    let mut index = 1;
    while let Some(option) = words.get(index).and_then(|word| word.text.strip_prefix(['-', '/'])) {
        let option = option.to_ascii_lowercase();
        index += 1;
        match option.as_str() {
            "c" => return behind(wrapper, Dialect::PowerShell, words, index),
            _ if option.len() > 1 && "command".starts_with(&option) => {
                return behind(wrapper, Dialect::PowerShell, words, index);
            }
            _ if "file".starts_with(&option) || option.starts_with('e') && option != "executionpolicy" => {
                return None;
            }
            "executionpolicy" | "ex" | "ep" | "version" | "outputformat" | "inputformat" | "windowstyle"
            | "w" | "workingdirectory" | "wd" | "configurationname" => index += 1,
            _ => {}
        }
    }
    // The older one takes words without an option for a command, the newer one for a file.
    (wrapper == "powershell").then(|| behind(wrapper, Dialect::PowerShell, words, index)).flatten()
}

/// Returns the line of Windows that the words from `start` on are.
fn behind(wrapper: &'static str, dialect: Dialect, words: &[Word], start: usize) -> Option<Run> {
    let script = windows::as_shell(dialect, &joined(words.get(start..)?, " "));
    (start < words.len()).then(|| run(wrapper, Inside::Script { script, words: start..words.len() }))
}

/// Returns what `capsh … -- -c '…'` runs: what follows the dashes are a shell's arguments.
fn capsh(words: &[Word]) -> Option<Run> {
    let dashes = words.iter().position(|word| matches!(word.text.as_str(), "--" | "=="))?;
    match shell_input(&words[dashes..]) {
        ShellInput::Script(at) => Some(run("capsh", script_in(words, dashes + at))),
        ShellInput::File(_) | ShellInput::Standard => None,
    }
}

/// Returns what `git -c alias.x='!…' x` runs.
fn git_alias(words: &[Word]) -> Option<Run> {
    let alias = |word: &Word| word.text.starts_with("alias.");
    let at = words.iter().position(alias).filter(|at| words[at - 1].text == "-c")?;
    let (name, value) = words[at].text["alias.".len()..].split_once('=')?;
    let called = words[at..].iter().position(|word| word.text == name)? + at;
    let arguments = joined(&words[called + 1..], " ");
    let script = match value.strip_prefix('!') {
        Some(script) => format!("{script} {arguments}"),
        None => format!("git {value} {arguments}"),
    };
    Some(run("git -c", Inside::Script { script, words: at..words.len() }))
}

/// Returns what runs a command's standard input as shell or code: `bash`, `sudo sh -s`, `ssh host`,
/// `docker exec -i name bash`, `python -`.
pub(crate) fn reader(words: &[Word]) -> Option<Reader> {
    let mut reader = Reader { wrappers: Vec::new(), language: None };
    reach_reader(words, &mut reader).then_some(reader)
}

fn reach_reader(words: &[Word], reader: &mut Reader) -> bool {
    let Some(name) = words.first().map(|word| program(&word.text)) else { return false };
    if let Some(shell) = shell(name) {
        reader.wrappers.push(shell);
        return matches!(shell_input(words), ShellInput::Standard);
    }
    // What these run gets another input than they do.
    if matches!(name, "xargs" | "parallel" | "sem" | "find" | "fd" | "entr" | "eval" | "trap")
        || reader.wrappers.len() == MAX_WRAPPERS
    {
        return false;
    }
    if let Some((language, wrapper)) = code::is_read_from_input(canonical(name), words) {
        reader.wrappers.push(wrapper);
        reader.language = Some(language);
        return true;
    }
    let Some(run) = runs(words).pop() else {
        let login = login_shell(name, words);
        reader.wrappers.extend(login);
        return login.is_some();
    };
    reader.wrappers.push(run.wrapper);
    match run.inside {
        Inside::Words(range) => reach_reader(&words[range], reader),
        Inside::Script { script, .. } => {
            let words =
                script.split_whitespace().map(|text| Word { text: text.to_owned(), ..Word::default() });
            reach_reader(&words.collect::<Vec<_>>(), reader)
        }
        Inside::Code(_) => false,
    }
}

/// Returns the name of a program that starts a shell when it is given no command.
fn login_shell(name: &str, words: &[Word]) -> Option<&'static str> {
    match name {
        "su" => Some("su"),
        "ssh" if words.len() > 1 => Some("ssh"),
        // What they read is run later.
        "at" => {
            let is_other =
                |word: &Word| matches!(word.text.as_str(), "-f" | "-l" | "-r" | "-d" | "-c" | "-V" | "-b");
            (!words.iter().any(is_other)).then_some("at")
        }
        "batch" => Some("batch"),
        "sudo" => words.iter().any(|word| matches!(word.text.as_str(), "-i" | "-s")).then_some("sudo"),
        _ => None,
    }
}

/// Returns the commands that `xargs` makes of its input: the words with what it reads behind them or, with `-I`, in the
/// place of a marker. `options` are its own words.
pub(crate) fn xargs(options: &[Word], words: &[Word], input: &str) -> Vec<Vec<Word>> {
    let argument = |text: &str| Word { text: text.to_owned(), is_quoted: true, is_dynamic: false };
    if words.iter().map(|word| word.text.len()).sum::<usize>() > MAX_REPEATED {
        return vec![words.to_vec()];
    }
    let Some(marker) = xargs_marker(options) else {
        let items = input.split(|char: char| char.is_whitespace() || char == '\0');
        let items = items.map(|item| item.trim_matches(['"', '\''])).filter(|item| !item.is_empty());
        return vec![words.iter().cloned().chain(items.take(MAX_ITEMS).map(argument)).collect()];
    };
    let replaced = |line: &str| {
        let word = |word: &Word| Word { text: word.text.replacen(marker, line, MAX_REPEATS), ..word.clone() };
        words.iter().map(word).collect()
    };
    let lines = input.lines().map(str::trim).filter(|line| !line.is_empty() && line.len() <= MAX_LINE);
    lines.take(MAX_REPEATS).map(replaced).collect()
}

/// How many words of its input `xargs` puts behind a command.
const MAX_ITEMS: usize = 64;

/// The longest argument, in bytes, that `parallel` and `xargs -I` put into a command.
const MAX_LINE: usize = 256;

/// The longest command, in bytes, that they put it into.
const MAX_REPEATED: usize = 4 * 1024;

fn xargs_marker(options: &[Word]) -> Option<&str> {
    let mut words = options.iter().skip(1).map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        match word {
            "-I" => return words.next().filter(|marker| !marker.is_empty()),
            "-i" | "--replace" => return Some("{}"),
            _ => {
                let attached = word.strip_prefix("-I").or(word.strip_prefix("--replace="));
                if let Some(marker) = attached.filter(|marker| !marker.is_empty()) {
                    return Some(marker);
                }
            }
        }
    }
    None
}

/// Returns which program gets the output of a substitution in a command.
pub(crate) fn receiver(words: &[Word], place: Place) -> Option<Receiver<'_>> {
    let Place::Word(mut at) = place else {
        let program = words.first().map(|word| program(&word.text)).filter(|_| place == Place::Input)?;
        let reader = reader(words);
        let shell = reader
            .as_ref()
            .filter(|reader| reader.language.is_none())
            .and_then(|reader| reader.wrappers.last());
        return Some(Receiver { program: shell.copied().unwrap_or(program), runs_it: reader.is_some() });
    };
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        let name = words.first().filter(|_| at > 0).map(|word| program(&word.text))?;
        let word = words.get(at)?;
        let is_file = word.text.contains("<()");
        let runs_it = if shell(name).is_some() {
            match shell_input(words) {
                ShellInput::Script(script) => at == script,
                ShellInput::File(file) => at == file && is_file,
                ShellInput::Standard => false,
            }
        } else if matches!(name, "." | "source") {
            return Some(Receiver { program: "source", runs_it: at == 1 && is_file });
        } else if is_file && code::is_read_from_input(canonical(name), &words[..1]).is_some() {
            words.iter().skip(1).position(|word| !word.text.starts_with('-')) == Some(at - 1)
        } else {
            false
        };
        if runs_it {
            return Some(Receiver { program: name, runs_it });
        }
        let is_inside = |run: &Run| match &run.inside {
            Inside::Words(range) | Inside::Script { words: range, .. } => range.contains(&at),
            Inside::Code(code) => code.words.contains(&at),
        };
        match runs(words).into_iter().find(is_inside).map(|run| run.inside) {
            None => return Some(Receiver { program: name, runs_it: false }),
            Some(Inside::Script { .. } | Inside::Code(_)) => {
                return Some(Receiver { program: name, runs_it: true });
            }
            Some(Inside::Words(range)) => {
                at -= range.start;
                words = &words[range];
            }
        }
    }
    None
}

/// Returns whether a command copies its input to its output.
pub(crate) fn copies_input(words: &[Word]) -> bool {
    match words.first().map(|word| program(&word.text)) {
        Some("cat") => words[1..].iter().all(|word| word.text.starts_with('-')),
        Some("tee") => true,
        _ => false,
    }
}

/// Returns whether a command may be one that reads its input; those that only set up a shell are not.
pub(crate) fn may_read(program: &str) -> bool {
    !matches!(
        program,
        "" | "cd" | "pushd" | "popd" | "export" | "set" | "echo" | "printf" | "true" | "false" | ":"
    )
}

/// Returns whether what a wrapper runs has another input than the wrapper.
pub(crate) fn replaces_input(wrapper: &str) -> bool {
    matches!(wrapper, "xargs" | "parallel" | "sem" | "find" | "fd" | "entr" | "trap")
}

/// Returns whether what a wrapper runs is on another machine, where the folders are others.
pub(crate) fn is_elsewhere(wrapper: &str) -> bool {
    let program = wrapper.split(' ').next().unwrap_or(wrapper);
    matches!(
        program,
        "ssh"
            | "autossh"
            | "mosh"
            | "docker"
            | "docker-compose"
            | "podman"
            | "podman-compose"
            | "nerdctl"
            | "crictl"
            | "kubectl"
            | "oc"
            | "chroot"
            | "lxc"
            | "incus"
            | "lxc-attach"
            | "vagrant"
            | "heroku"
            | "fly"
            | "flyctl"
            | "gcloud"
            | "multipass"
            | "machinectl"
            | "systemd-nspawn"
            | "schroot"
            | "ansible"
            | "salt"
            | "pdsh"
    )
}

/// Returns whether a program's output is, more or less, its input.
pub(crate) fn passes_input_on(program: &str) -> bool {
    matches!(program, "cat" | "tee" | "sed" | "envsubst")
}

/// Returns what a command prints, if its words say so.
pub(crate) fn echoed(command: &Command) -> Option<String> {
    matches!(command.program(), "echo" | "printf").then(|| {
        let is_option = |word: &&Word| matches!(word.text.as_str(), "-n" | "-e" | "-ne" | "--");
        let options = command.words[1..].iter().take_while(is_option).count();
        // Where `printf` or `echo -e` starts a new line, so does the script.
        joined(&command.words[1 + options..], " ").replace("\\n", "\n")
    })
}

enum ShellInput {
    /// The line of shell behind `-c`, which is this word.
    Script(usize),
    /// A file of shell, which is this word.
    File(usize),
    Standard,
}

fn shell_input(words: &[Word]) -> ShellInput {
    let mut has_script = false;
    let mut reads_input = false;
    let mut rest = words.iter().enumerate().skip(1);
    while let Some((at, word)) = rest.next() {
        let text = word.text.as_str();
        match text.strip_prefix(['-', '+']) {
            None | Some("") if has_script => return ShellInput::Script(at),
            None if reads_input => return ShellInput::Standard,
            None => return ShellInput::File(at),
            Some("" | "-") => {}
            Some("-rcfile" | "-init-file") => drop(rest.next()),
            Some(long) if long.starts_with('-') => {}
            Some(letters) => {
                has_script |= text.starts_with('-') && letters.contains('c');
                reads_input |= text.starts_with('-') && letters.contains('s');
                if letters.ends_with(['o', 'O']) {
                    rest.next();
                }
            }
        }
    }
    ShellInput::Standard
}

/// Returns the line of shell that is a word.
fn script_in(words: &[Word], at: usize) -> Inside {
    Inside::Script { script: words[at].text.clone(), words: at..at + 1 }
}

fn run(wrapper: &'static str, inside: Inside) -> Run {
    Run { wrapper, is_prefix: false, assignments: Vec::new(), inside }
}

/// Returns the commands behind the `-exec`s of `find` and `fd`.
fn exec_runs(wrapper: &'static str, words: &[Word], options: &[&str]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut index = 1;
    while index < words.len() {
        let is_option = options.contains(&words[index].text.as_str());
        index += 1;
        if !is_option {
            continue;
        }
        let ends = |index: &usize| match words[*index].text.as_str() {
            ";" => true,
            "+" => words[*index - 1].text == "{}",
            _ => false,
        };
        let end = (index..words.len()).find(ends).unwrap_or(words.len());
        if index < end {
            runs.push(run(wrapper, Inside::Words(index..end)));
        }
        index = end;
    }
    runs
}

/// Returns the name under which a program is listed: `python3.12` is `python`.
fn canonical(name: &str) -> &str {
    match name.strip_prefix("python").or(name.strip_prefix("pypy")) {
        Some(version) if version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => "python",
        _ => {
            if name == "py" {
                "python"
            } else {
                name
            }
        }
    }
}

/// How many commands one list of arguments makes: those of `parallel`, or the lines that `xargs -I` reads.
pub(crate) const MAX_REPEATS: usize = 16;

/// Returns what `parallel` runs: the words in front of `:::` for each of the words behind it, or these themselves when
/// nothing is in front of it.
fn parallel(words: &[Word]) -> String {
    let Some(end) = words.iter().position(|word| word.text.starts_with(":::")) else {
        return joined(words, " ");
    };
    let arguments = words[end + 1..]
        .iter()
        .take_while(|word| !word.text.starts_with(":::"))
        .filter(|word| word.text.len() <= MAX_LINE);
    if end == 0 {
        return joined(&words[1..], "\n");
    }
    let command = joined(&words[..end], " ");
    if words[end].text != ":::" || end + 1 == words.len() || command.len() > MAX_REPEATED {
        return command;
    }
    let mut script = String::new();
    for argument in arguments.take(MAX_REPEATS) {
        let argument = quoted(&argument.text);
        if command.contains("{}") || command.contains("{1}") {
            script.push_str(&command.replacen("{}", &argument, MAX_REPEATS).replacen(
                "{1}",
                &argument,
                MAX_REPEATS,
            ));
        } else {
            script.push_str(&command);
            script.push(' ');
            script.push_str(&argument);
        }
        script.push('\n');
    }
    script
}

/// Quotes a word for a line of shell where it needs that.
fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,*?~[]".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''")).into()
}

/// Returns the line that the keys of `tmux send-keys` type.
fn keys(words: &[Word]) -> String {
    let key = |word: &Word| match word.text.as_str() {
        "Enter" | "C-m" | "C-j" | "KPEnter" | "C-c" | "C-u" | "C-d" => "\n".to_owned(),
        "Space" => " ".to_owned(),
        text => text.to_owned(),
    };
    words.iter().map(key).collect()
}

/// Returns whether a list of words that are separated by blanks has this one.
fn is_word_of(list: &str, name: &str) -> bool {
    !list.is_empty() && list.split(' ').any(|word| word == name)
}

fn joined(words: &[Word], separator: &str) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(separator)
}
