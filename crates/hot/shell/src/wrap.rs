//! Commands that run other commands, and where in their words those are.
//!
//! To teach Wyren a new wrapper, add a line to [`WRAPPERS`].

use std::ops::Range;

use crate::parse::{Place, assigned_name};
use crate::{Command, MAX_WRAPPERS, Word, program};

/// Something that a command runs.
pub(crate) struct Run {
    /// The name of what runs it.
    pub(crate) wrapper: &'static str,
    /// Whether the wrapper is no command of its own.
    pub(crate) is_prefix: bool,
    /// The `NAME=value` words in front of it.
    pub(crate) assignments: Vec<(String, String)>,
    pub(crate) inside: Inside,
}

/// How a command is handed what it runs.
pub(crate) enum Inside {
    Words(Range<usize>),
    /// As a line of shell, in these words.
    Script {
        script: String,
        words: Range<usize>,
    },
}

/// The program that gets a substitution's output.
pub(crate) struct Receiver<'word> {
    /// Its base name.
    pub(crate) program: &'word str,
    /// Whether it runs the output as code.
    pub(crate) runs_it: bool,
}

/// A command that runs another one.
struct Wrapper {
    /// The program and its subcommands, which is also what the wrapper is called.
    path: &'static str,
    /// What comes between the options and the command.
    operands: usize,
    /// Options whose value is the next word.
    values: &'static str,
    /// Options whose value is a line of shell.
    scripts: &'static str,
    /// Options that the command follows.
    commands: &'static str,
    /// Options with which nothing is run.
    idle: &'static str,
    rest: Rest,
    is_prefix: bool,
    takes_assignments: bool,
}

/// What the words behind options and operands are.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Words,
    /// A line of shell.
    Script,
    /// A line of shell each.
    Scripts,
    /// Only the words after `--` are a command.
    WordsBehindDashes,
    /// The first of several is a line of shell.
    ScriptFirst,
    Nothing,
}

const ANY: usize = usize::MAX;

/// A command that runs the words behind its options, and that a lesson may be about itself.
const fn runner(path: &'static str) -> Wrapper {
    Wrapper {
        path,
        operands: 0,
        values: "",
        scripts: "",
        commands: "",
        idle: "",
        rest: Rest::Words,
        is_prefix: false,
        takes_assignments: false,
    }
}

/// A command that only changes how the words behind its options are run.
const fn prefix(path: &'static str) -> Wrapper {
    Wrapper { is_prefix: true, ..runner(path) }
}

impl Wrapper {
    const fn operands(self, operands: usize) -> Self {
        Wrapper { operands, ..self }
    }

    const fn values(self, values: &'static str) -> Self {
        Wrapper { values, ..self }
    }

    const fn scripts(self, scripts: &'static str) -> Self {
        Wrapper { scripts, ..self }
    }

    const fn commands(self, commands: &'static str) -> Self {
        Wrapper { commands, ..self }
    }

    const fn idle(self, idle: &'static str) -> Self {
        Wrapper { idle, ..self }
    }

    const fn rest(self, rest: Rest) -> Self {
        Wrapper { rest, ..self }
    }

    const fn assignments(self) -> Self {
        Wrapper { takes_assignments: true, ..self }
    }
}

const UV: &str = "-p -C --python --with --from --extra --group --only-group --no-group --directory --project \
    --env-file --package --index --default-index --index-url --extra-index-url --with-editable \
    --with-requirements --config-file --cache-dir --refresh-package --upgrade-package";
const NPM: &str = "-p --package -w --workspace --prefix -C --dir --filter -F --cwd";
const DOCKER: &str = "-H --host --context -c --config -e --env --env-file -u --user -w --workdir -v --volume \
    --mount -p --publish --name --network --net --entrypoint --platform -m --memory --cpus -h --hostname \
    --add-host -l --label --gpus --restart --pull --link --device --cap-add --cap-drop --security-opt \
    --shm-size --tmpfs --ulimit --ipc --pid --log-driver --log-opt --dns --volumes-from --detach-keys \
    --cidfile --expose --ip --runtime --stop-signal --userns";
const COMPOSE: &str = "-f --file --project-name --profile --project-directory --env-file -e --env -u --user -w \
    --workdir -v --volume -p --publish --name --entrypoint --index -l --label --progress --ansi";
const GIT: &str =
    "-C -c --git-dir --work-tree --namespace --exec-path --onto -s --strategy -X --strategy-option";

static WRAPPERS: &[Wrapper] = &[
    // Prefixes.
    prefix("env").values("-u -C --unset --chdir").scripts("-S --split-string").assignments(),
    prefix("timeout").values("-s -k --signal --kill-after").operands(1),
    prefix("gtimeout").values("-s -k --signal --kill-after").operands(1),
    prefix("nohup"),
    prefix("nice").values("-n --adjustment"),
    prefix("ionice").values("-c -n --class --classdata").idle("-p --pid"),
    prefix("chrt").operands(1).idle("-p --pid"),
    prefix("taskset").operands(1).idle("-p --pid"),
    prefix("time").values("-f -o --format --output"),
    prefix("command").idle("-v -V"),
    prefix("builtin"),
    prefix("exec").values("-a"),
    prefix("noglob"),
    prefix("nocorrect"),
    prefix("stdbuf").values("-i -o -e --input --output --error"),
    prefix("unbuffer"),
    prefix("setsid"),
    prefix("setarch").operands(1),
    prefix("caffeinate").values("-t -w"),
    prefix("chronic"),
    // Another user, root or set of limits.
    runner("sudo")
        .values(
            "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --close-from --chdir --chroot --role \
             --type --command-timeout --other-user",
        )
        .idle("-e -l -v -K -V --edit --list --validate --remove-timestamp --version")
        .assignments(),
    runner("doas").values("-u -C").idle("-L"),
    runner("su").scripts("-c --command").values("-s -g -G -w --shell --group").operands(ANY).rest(Rest::Nothing),
    runner("runuser").scripts("-c --command").values("-u -g -G -s -w --user --shell --group"),
    runner("chroot").operands(1),
    runner("unshare").values("-S -G -R -w --setuid --setgid --root --wd"),
    runner("nsenter").values("-t -S -G --target --setuid --setgid"),
    runner("firejail"),
    runner("bwrap").rest(Rest::WordsBehindDashes),
    runner("systemd-run").values("-p -u -E -M -H --property --unit --setenv --slice --uid --gid --description"),
    // Watching.
    runner("strace").values("-a -b -e -E -I -o -O -p -P -s -S -u -U -X"),
    runner("ltrace").values("-a -A -e -l -n -o -p -s -u -x -X"),
    runner("valgrind"),
    runner("script").scripts("-c --command").values("-E -I -O -B -m -o -T -F -t").operands(1),
    runner("watch").values("-n -q --interval --equexit").rest(Rest::Script),
    runner("entr").scripts("-s"),
    runner("hyperfine").values("-w -r -m -M -p -c -n -s --warmup --runs --prepare --cleanup --export-markdown")
        .rest(Rest::Scripts),
    runner("xvfb-run").values("-e -f -n -p -s -w --error-file --auth-file --server-num --server-args --wait"),
    runner("flock").values("-w -E --wait --timeout --conflict-exit-code").scripts("-c --command").operands(1),
    runner("dbus-run-session"),
    // Repeating.
    runner("xargs").values(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars \
         --process-slot-var",
    ),
    runner("parallel")
        .values("-j -N -n -L -S -I -a -C --jobs --max-procs --arg-file --colsep --delay --retries --timeout --joblog")
        .rest(Rest::Script),
    runner("git bisect run").values(GIT),
    runner("git submodule foreach").values(GIT).rest(Rest::Script),
    runner("git rebase").values(GIT).scripts("-x --exec").operands(ANY).rest(Rest::Nothing),
    // Strings.
    runner("eval").rest(Rest::Script),
    runner("trap").idle("-l -p").rest(Rest::ScriptFirst),
    // Other machines and containers.
    runner("ssh")
        .values("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w")
        .operands(1)
        .rest(Rest::Script),
    runner("docker run").values(DOCKER).operands(1),
    runner("docker exec").values(DOCKER).operands(1),
    runner("docker compose run").values(COMPOSE).operands(1),
    runner("docker compose exec").values(COMPOSE).operands(1),
    runner("docker-compose run").values(COMPOSE).operands(1),
    runner("docker-compose exec").values(COMPOSE).operands(1),
    runner("podman run").values(DOCKER).operands(1),
    runner("podman exec").values(DOCKER).operands(1),
    runner("kubectl exec").values("-n -c --namespace --container --context").rest(Rest::WordsBehindDashes),
    runner("oc exec").values("-n -c --namespace --container --context").rest(Rest::WordsBehindDashes),
    // Environments.
    runner("python").values("-X -W").idle("-c").commands("-m").rest(Rest::Nothing),
    runner("coverage run").values("--source --omit --include --rcfile --data-file --concurrency --context")
        .commands("-m --module")
        .rest(Rest::Nothing),
    runner("uv run").values(UV).commands("-m --module"),
    runner("uv tool run").values(UV),
    runner("uvx").values(UV),
    runner("pipx run").values("--spec --python --pip-args --index-url"),
    runner("poetry run").values("-C -P --directory --project"),
    runner("pipenv run"),
    runner("pdm run").values("-p --project -s --site-packages"),
    runner("rye run"),
    runner("hatch run").values("-e --env"),
    runner("conda run").values("-n -p --name --prefix --cwd"),
    runner("mamba run").values("-n -p --name --prefix --cwd"),
    runner("micromamba run").values("-n -p --name --prefix --cwd"),
    runner("npx").values(NPM).scripts("-c --call"),
    runner("bunx").values(NPM),
    runner("bun x").values(NPM),
    runner("npm exec").values(NPM).scripts("-c --call"),
    runner("npm x").values(NPM).scripts("-c --call"),
    runner("pnpm exec").values(NPM),
    runner("pnpm dlx").values(NPM),
    runner("yarn exec").values(NPM),
    runner("yarn dlx").values(NPM),
    runner("bundle exec"),
    runner("rbenv exec"),
    runner("pyenv exec"),
    runner("asdf exec"),
    runner("mise exec").rest(Rest::WordsBehindDashes),
    runner("mise x").rest(Rest::WordsBehindDashes),
    runner("direnv exec").operands(1),
    runner("dotenv").values("-e -f --file").operands(0),
    runner("dotenvx run").rest(Rest::WordsBehindDashes),
    runner("doppler run").rest(Rest::WordsBehindDashes),
    runner("op run").rest(Rest::WordsBehindDashes),
    runner("aws-vault exec").rest(Rest::WordsBehindDashes),
    runner("nix-shell").scripts("--run --command").operands(ANY).rest(Rest::Nothing),
    runner("nix develop").commands("-c --command").operands(ANY).rest(Rest::Nothing),
    runner("nix shell").commands("-c --command").operands(ANY).rest(Rest::Nothing),
];

static SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"];

/// Returns what a command runs: nothing, one command, or several in the case of `find`.
pub(crate) fn runs(words: &[Word]) -> Vec<Run> {
    let Some(name) = words.first().map(|word| program(&word.text)) else { return Vec::new() };
    if let Some(shell) = SHELLS.iter().find(|shell| **shell == name) {
        return match shell_input(words) {
            ShellInput::Script(at) => vec![run(shell, script_in(words, at))],
            ShellInput::File(_) | ShellInput::Standard => Vec::new(),
        };
    }
    match name {
        "find" | "gfind" => exec_runs("find", words, &["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => exec_runs("fd", words, &["-x", "-X", "--exec", "--exec-batch"]),
        _ => {
            let name = canonical(name);
            WRAPPERS.iter().find_map(|wrapper| wrapper.run(name, words)).into_iter().collect()
        }
    }
}

/// Returns the wrappers and the shell of a command that runs its standard input as shell: `bash`, `sudo sh -s`,
/// `ssh host`, `docker exec -i name bash`.
pub(crate) fn shell_reading_input(words: &[Word]) -> Option<Vec<&'static str>> {
    let mut wrappers = Vec::new();
    reach_shell(words, &mut wrappers).then_some(wrappers)
}

fn reach_shell(words: &[Word], wrappers: &mut Vec<&'static str>) -> bool {
    let Some(name) = words.first().map(|word| program(&word.text)) else { return false };
    if let Some(shell) = SHELLS.iter().find(|shell| **shell == name) {
        wrappers.push(shell);
        return matches!(shell_input(words), ShellInput::Standard);
    }
    // What these run gets another input than they do.
    if matches!(name, "xargs" | "parallel" | "find" | "fd" | "entr" | "eval" | "trap")
        || wrappers.len() == MAX_WRAPPERS
    {
        return false;
    }
    let Some(run) = runs(words).pop() else {
        let login = login_shell(name, words);
        wrappers.extend(login);
        return login.is_some();
    };
    wrappers.push(run.wrapper);
    match run.inside {
        Inside::Words(range) => reach_shell(&words[range], wrappers),
        Inside::Script { script, .. } => {
            let words =
                script.split_whitespace().map(|text| Word { text: text.to_owned(), ..Word::default() });
            reach_shell(&words.collect::<Vec<_>>(), wrappers)
        }
    }
}

/// Returns the name of a program that starts a shell when it is given no command.
fn login_shell(name: &str, words: &[Word]) -> Option<&'static str> {
    match name {
        "su" => Some("su"),
        "ssh" if words.len() > 1 => Some("ssh"),
        "sudo" => words.iter().any(|word| matches!(word.text.as_str(), "-i" | "-s")).then_some("sudo"),
        _ => None,
    }
}

/// Returns which program gets the output of a substitution in a command.
pub(crate) fn receiver(words: &[Word], place: Place) -> Option<Receiver<'_>> {
    let Place::Word(mut at) = place else {
        let program = words.first().map(|word| program(&word.text)).filter(|_| place == Place::Input)?;
        let shell = shell_reading_input(words).and_then(|wrappers| wrappers.last().copied());
        return Some(Receiver { program: shell.unwrap_or(program), runs_it: shell.is_some() });
    };
    let mut words = words;
    for _ in 0..MAX_WRAPPERS {
        let name = words.first().filter(|_| at > 0).map(|word| program(&word.text))?;
        let word = words.get(at)?;
        let is_file = word.text.contains("<()");
        let runs_it = if SHELLS.contains(&name) {
            match shell_input(words) {
                ShellInput::Script(script) => at == script,
                ShellInput::File(file) => at == file && is_file,
                ShellInput::Standard => false,
            }
        } else if matches!(name, "." | "source") {
            return Some(Receiver { program: "source", runs_it: at == 1 && is_file });
        } else if let Some(code) = code_option(canonical(name)) {
            let first =
                words.iter().skip(1).position(|word| !word.text.starts_with('-')).map(|first| first + 1);
            let is_option = |word: &Word| code.split(' ').any(|option| option == word.text);
            is_option(&words[at - 1]) || (first == Some(at) && is_file)
        } else {
            false
        };
        if runs_it {
            return Some(Receiver { program: name, runs_it });
        }
        let is_inside = |run: &Run| match &run.inside {
            Inside::Words(range) | Inside::Script { words: range, .. } => range.contains(&at),
        };
        match runs(words).into_iter().find(is_inside).map(|run| run.inside) {
            None => return Some(Receiver { program: name, runs_it: false }),
            Some(Inside::Script { .. }) => return Some(Receiver { program: name, runs_it: true }),
            Some(Inside::Words(range)) => {
                at -= range.start;
                words = &words[range];
            }
        }
    }
    None
}

/// Returns the options of an interpreter behind which code stands.
fn code_option(program: &str) -> Option<&'static str> {
    match program {
        "python" => Some("-c"),
        "node" | "bun" | "deno" | "ts-node" | "tsx" => Some("-e --eval -p --print eval"),
        "perl" | "ruby" | "lua" => Some("-e -E"),
        "php" => Some("-r"),
        "osascript" => Some("-e"),
        _ => None,
    }
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
    matches!(wrapper, "xargs" | "parallel" | "find" | "fd" | "entr" | "trap")
}

/// Returns whether what a wrapper runs is on another machine, where the folders are others.
pub(crate) fn is_elsewhere(wrapper: &str) -> bool {
    let program = wrapper.split(' ').next().unwrap_or(wrapper);
    matches!(program, "ssh" | "docker" | "docker-compose" | "podman" | "kubectl" | "oc" | "chroot")
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

impl Wrapper {
    /// Returns what these words run, if they are this wrapper's.
    fn run(&self, name: &str, words: &[Word]) -> Option<Run> {
        let subcommands = self.path.strip_prefix(name)?;
        if !(subcommands.is_empty() || subcommands.starts_with(' ')) {
            return None;
        }
        let mut subcommands = subcommands.split_ascii_whitespace();
        let mut subcommand = subcommands.next();
        let mut operands = self.operands;
        let mut assignments = Vec::new();
        let mut is_behind_dashes = false;
        let mut index = 1;
        let script = |script: String, words: Range<usize>| {
            Some(self.result(Inside::Script { script, words }, Vec::new()))
        };
        while let Some(word) = words.get(index) {
            let text = word.text.as_str();
            let is_option = !is_behind_dashes && text.len() > 1 && text.starts_with('-');
            if is_option && text != "--" {
                match self.option(text) {
                    // Behind the operands stand the options of the command, but for `flock file -c '…'`.
                    OptionKind::Flag | OptionKind::Value if operands == 0 && self.operands > 0 => break,
                    OptionKind::Flag => index += 1,
                    OptionKind::Value => index += 2,
                    OptionKind::Idle => return None,
                    OptionKind::Script(Some(value)) => return script(value.to_owned(), index..index + 1),
                    OptionKind::Script(None) => {
                        return script(words.get(index + 1)?.text.clone(), index + 1..index + 2);
                    }
                    OptionKind::Command => {
                        let range = index + 1..words.len();
                        return (!range.is_empty()).then(|| self.result(Inside::Words(range), assignments));
                    }
                }
            } else if let Some(expected) = subcommand {
                if text != expected {
                    return None;
                }
                subcommand = subcommands.next();
                index += 1;
            } else if is_option {
                is_behind_dashes = true;
                index += 1;
            } else if self.takes_assignments
                && let Some(name) = assigned_name(text)
            {
                let value = &text[name.len() + 1..];
                assignments.push((name.to_owned(), value.to_owned()));
                index += 1;
            } else if self.rest == Rest::WordsBehindDashes && !is_behind_dashes {
                index += 1;
            } else if operands > 0 {
                operands -= 1;
                index += 1;
            } else {
                break;
            }
        }
        if subcommand.is_some() || index >= words.len() {
            return None;
        }
        let rest = &words[index..];
        match self.rest {
            Rest::Words | Rest::WordsBehindDashes => {
                Some(self.result(Inside::Words(index..words.len()), assignments))
            }
            Rest::Script => script(script_of(rest), index..words.len()),
            Rest::Scripts => script(joined(rest, "\n"), index..words.len()),
            Rest::ScriptFirst if rest.len() > 1 && rest[0].text != "-" => {
                script(rest[0].text.clone(), index..index + 1)
            }
            Rest::ScriptFirst | Rest::Nothing => None,
        }
    }

    fn result(&self, inside: Inside, assignments: Vec<(String, String)>) -> Run {
        let wrapper = if self.path == "python" { "python -m" } else { self.path };
        Run { wrapper, is_prefix: self.is_prefix, assignments, inside }
    }

    fn option<'word>(&self, text: &'word str) -> OptionKind<'word> {
        if text.starts_with("--") {
            let (name, value) =
                text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            return match self.kind(name) {
                OptionKind::Script(_) => OptionKind::Script(value),
                OptionKind::Value if value.is_some() => OptionKind::Flag,
                kind => kind,
            };
        }
        // `-nu root`: letters in one word; what follows a letter with a value is that value.
        for (at, letter) in text.char_indices().skip(1) {
            let mut name = [b'-'; 5];
            let length = 1 + letter.encode_utf8(&mut name[1..]).len();
            let attached = Some(&text[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
            match std::str::from_utf8(&name[..length]).map_or(OptionKind::Flag, |name| self.kind(name)) {
                OptionKind::Flag => {}
                OptionKind::Script(_) => return OptionKind::Script(attached),
                OptionKind::Value if attached.is_some() => return OptionKind::Flag,
                kind => return kind,
            }
        }
        OptionKind::Flag
    }

    fn kind(&self, name: &str) -> OptionKind<'static> {
        let is_in = |list: &str| list.split(' ').any(|option| option == name);
        if is_in(self.values) {
            OptionKind::Value
        } else if is_in(self.scripts) {
            OptionKind::Script(None)
        } else if is_in(self.commands) {
            OptionKind::Command
        } else if is_in(self.idle) {
            OptionKind::Idle
        } else {
            OptionKind::Flag
        }
    }
}

enum OptionKind<'word> {
    Flag,
    Value,
    Script(Option<&'word str>),
    Command,
    Idle,
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

/// Returns the line of shell that words make when they are joined. `parallel` takes its command's arguments behind
/// `:::`, or whole commands when nothing precedes that.
fn script_of(words: &[Word]) -> String {
    match words.iter().position(|word| word.text.starts_with(":::")) {
        Some(0) => joined(&words[1..], "\n"),
        Some(end) => joined(&words[..end], " "),
        None => joined(words, " "),
    }
}

fn joined(words: &[Word], separator: &str) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(separator)
}
