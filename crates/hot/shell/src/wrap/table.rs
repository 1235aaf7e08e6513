//! The table of commands that run other commands.
//!
//! It is one text, read where a program is looked up: a table of structures full of pointers would have to be
//! relocated whenever a hook starts, whether or not the call is about any of them.

use std::ops::Range;

use super::{Inside, Run, WrapperWords, is_word_of, joined, keys, parallel};
use crate::Word;
use crate::parse::assigned_name;

/// One line per wrapper, in the order of the programs' first letters.
///
/// Before the colon stand the program and its subcommands, which is also what the wrapper is called. The words behind
/// its options are what it runs, unless the line says otherwise:
///
/// | word | meaning |
/// |---|---|
/// | `prefix` | it only changes how the words are run, and is no command of its own |
/// | `values(…)` | options whose value is the next word; `@name` is a list below |
/// | `operands(n)` | so many words, or `any` number, are between the options and the command |
/// | `assignments` | `NAME=value` may be in front of the command |
/// | `scripts(…)` | options whose value is a line of shell |
/// | `commands(…)` | options that the command follows |
/// | `idle(…)` | options with which nothing is run |
/// | `dash` | a lone `-` is an option |
/// | `dashes` | only the words after `--` are a command |
/// | `script` | the words are a line of shell together |
/// | `scripts-each` | each word is a line of shell |
/// | `script-first` | the first of several words is a line of shell |
/// | `parallel` | a line of shell with `:::` and arguments |
/// | `keys` | the words are keys that are typed into a shell |
/// | `nothing` | only options say what is run |
const WRAPPERS: &str = "\
ansible: values(-i -m -u -f -e -l -t -B -P --inventory --module-name --user --limit) scripts(-a --args) operands(any) nothing
apptainer exec: values(-B --bind -H --home --pwd --env) operands(1)
arch: prefix values(-arch -e)
asdf exec:
autossh: values(-M @ssh) operands(1) script
aws-okta exec: operands(1)
aws-vault exec: values(-d --duration --backend --region -t --mfa-token --prompt) operands(1)
berglas exec: dashes
builtin: prefix
bun x: values(@npm)
bundle exec: values(--gemfile)
bunx: values(@npm)
busybox: idle(--list --help --install)
bwrap: dashes
cabal exec: dashes
caffeinate: prefix values(-t -w)
cargo watch: values(-w -i -d -x -p --watch --ignore --delay --exec) scripts(-s --shell) dashes
catchsegv: prefix
cgexec: values(-g) prefix
chamber exec: dashes
chpst: values(-u -U -b -e -n -l -L -m -d -o -p -f -c -r -t) prefix
chronic: prefix
chroot: values(--userspec --groups) operands(1)
chrt: prefix operands(1) idle(-p --pid)
chruby-exec: dashes
command: prefix idle(-v -V)
concurrently: values(-n -c -l -p -s -i --names --prefix-colors --prefix --success --max-processes -m) scripts-each
conda run: values(-n -p --name --prefix --cwd)
coverage run: values(--source --omit --include --rcfile --data-file --concurrency --context) commands(-m --module) nothing
crictl exec: values(-r --runtime-endpoint) operands(1)
cross-env: prefix assignments
cross-env-shell: assignments script
daemonize: values(-a -c -e -o -p -l -u -E)
dbus-run-session:
devbox run: values(-c --config -e --env) script
devenv shell:
direnv exec: operands(1)
distrobox enter: values(-n --name) dashes
distrobox-enter: values(-n --name) dashes
doas: values(-u -C) idle(-L)
docker compose exec: values(@compose) operands(1)
docker compose run: values(@compose) operands(1)
docker container exec: values(@docker) operands(1)
docker container run: values(@docker) operands(1)
docker exec: values(@docker) operands(1)
docker run: values(@docker) operands(1)
docker-compose exec: values(@compose) operands(1)
docker-compose run: values(@compose) operands(1)
dockerize: values(-wait -timeout -template -stdout -stderr)
doppler run: scripts(--command) values(-p -c --project --config --token) dashes
dotenv: values(-e -f -c -v -p --file) idle(get set unset list)
dotenvx run: dashes
dumb-init: values(-r --rewrite) prefix
dtach: values(-r -e) operands(2)
eatmydata: prefix
entr: scripts(-s)
env: prefix dash values(-u -C --unset --chdir -P -L -U) scripts(-S --split-string) assignments
env-cmd: values(-f -r -e --file --rc-file --environments)
envchain: operands(1)
envdir: prefix operands(1)
eval: script
exec: prefix values(-a)
faketime: values(-f -p --pid) prefix operands(1)
fakechroot:
fakeroot: values(-l -f -s -i -b --lib --faked)
firejail:
flatpak run: values(--command --branch --arch --env --filesystem) operands(1)
flatpak-spawn: prefix
flock: values(-w -E --wait --timeout --conflict-exit-code) scripts(-c --command) operands(1)
flox activate: values(-d -r --dir --remote) scripts(-c --command) dashes
fly ssh console: values(-a --app) scripts(-C --command) operands(any) nothing
flyctl ssh console: values(-a --app) scripts(-C --command) operands(any) nothing
fnm exec: values(--using)
gcloud compute ssh: values(--zone --project) scripts(--command) operands(any) nothing
gdb: commands(--args -args) operands(any) nothing
git bisect run: values(@git)
git difftool: values(@git) scripts(-x --extcmd) operands(any) nothing
git filter-branch: values(@git) scripts(--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter) operands(any) nothing
git rebase: values(@git --onto -s --strategy -X --strategy-option) scripts(-x --exec) operands(any) nothing
git submodule foreach: values(@git) script
gnome-terminal: scripts(-e --command) dashes
gosu: operands(1)
gsudo: values(-u --user)
gtimeout: prefix values(-s -k --signal --kill-after) operands(1)
guix shell: dashes
hatch run: values(-e --env)
heaptrack: values(-o --output)
heroku run: values(-a --app -r --remote -s --size) script
hyperfine: values(-w -r -m -M -p -c -n -s --warmup --runs --prepare --cleanup --export-markdown) scripts-each
i386: prefix
incus exec: values(--cwd --env --user --group) operands(1)
infisical run: scripts(--command) values(--env --path --projectId) dashes
ionice: prefix values(-c -n --class --classdata) idle(-p -P -u --pid --pgid --uid)
ip netns exec: values(-n -netns) operands(1)
ip vrf exec: operands(1)
jenv exec:
konsole: commands(-e) operands(any) nothing
kubectl debug: values(@kubectl) dashes
kubectl exec: values(@kubectl) dashes
kubectl run: values(@kubectl) dashes
kubie exec: operands(2)
ld-linux-x86-64.so.2: prefix values(--library-path --preload --argv0)
linux32: prefix
linux64: prefix
ltrace: values(-a -A -e -l -n -o -p -s -u -x -X)
lxc exec: values(--cwd --env --user --group) operands(1)
lxc-attach: values(-n -P --name --lxcpath) dashes
machinectl shell: values(-E -M --setenv --machine --uid) operands(1)
mamba run: values(-n -p --name --prefix --cwd)
micromamba run: values(-n -p --name --prefix --cwd)
mise exec: scripts(-c --command) dashes
mise x: scripts(-c --command) dashes
mosh: values(-p --port --ssh --server) operands(1)
mpiexec: values(-n -np -H -hostfile --host --hostfile)
mpirun: values(-n -np -H -hostfile --host --hostfile)
multipass exec: operands(1)
nerdctl exec: values(@docker) operands(1)
nerdctl run: values(@docker) operands(1)
nice: prefix values(-n --adjustment)
nix develop: commands(-c --command) operands(any) nothing
nix shell: commands(-c --command) operands(any) nothing
nix-shell: scripts(--run --command) operands(any) nothing
nocorrect: prefix
nodemon: values(-w -e -i -d --watch --ext --ignore --delay) scripts(-x --exec) operands(any) nothing
noglob: prefix
nohup: prefix
npm exec: values(@npm) scripts(-c --call)
npm x: values(@npm) scripts(-c --call)
npx: values(@npm) scripts(-c --call)
nq: prefix
nsenter: values(-t -S -G --target --setuid --setgid)
numactl: prefix values(-C -N -m -i -p -l --cpunodebind --membind --physcpubind --interleave)
nvm exec: operands(1)
oc exec: values(@kubectl) dashes
oc rsh: values(@kubectl) operands(1)
oc run: values(@kubectl) dashes
op run: values(--env-file --account) dashes
opam exec: dashes
orb: values(-m -u -w)
parallel: values(-j -N -n -L -S -I -a -C --jobs --max-procs --arg-file --colsep --delay --retries --timeout --joblog) parallel
pdm run: values(-p --project -s --site-packages)
pdsh: values(-w -x -g -u -t -l -R -f) script
perf record: values(-e -o -F -p -C --event --output --freq)
perf stat: values(-e -o -r -I -p -C --event --output --repeat)
pipenv run:
pipx run: values(--spec --python --pip-args --index-url)
pixi run: values(-e --environment --manifest-path)
pkexec: values(--user)
pnpm dlx: values(@npm)
pnpm exec: values(@npm)
podman container exec: values(@docker) operands(1)
podman container run: values(@docker) operands(1)
podman exec: values(@docker) operands(1)
podman run: values(@docker) operands(1)
podman-compose exec: values(@compose) operands(1)
podman-compose run: values(@compose) operands(1)
poetry run: values(-C -P --directory --project)
prlimit: values(-o --output) idle(-p --pid)
proot: values(-r -b -q -w -k -S -R)
proot-distro login: dashes
proxychains: prefix values(-f)
proxychains4: prefix values(-f)
pyenv exec:
python: values(-X -W) idle(-c) commands(-m) nothing
rbenv exec:
retry: prefix values(-t -m -d --times --max --delay --tries)
rlwrap: prefix values(-a -b -C -f -H -l -m -O -p -q -s -S -t -w)
rr record:
run0: values(-u -g -D --user --group --unit --property --description --slice --chdir --setenv --background)
runcon: prefix values(-t -u -r -l) operands(1)
runuser: scripts(-c --command) values(@su) operands(any) nothing
runuser: values(-u -g -G -s -w --user --shell --group)
rustup run: operands(1)
rye run:
s6-setuidgid: operands(1)
salt: operands(2) script
sandbox-exec: values(-f -n -p -D)
schroot: values(-c -u -d --chroot --user --directory) dashes
script: scripts(-c --command) values(-E -I -O -B -m -o -T -F -t) operands(1)
sem: values(-j --jobs --id) parallel
setarch: prefix operands(1)
setpriv: values(--reuid --regid --groups --inh-caps --bounding-set --ambient-caps --securebits)
setsid: prefix
setuidgid: operands(1)
sg: scripts(-c) operands(1) script
singularity exec: values(-B --bind -H --home --pwd --env) operands(1)
softlimit: prefix values(-m -d -s -l -a -f -c -n -o -p -r -t)
sops exec-env: operands(1) script
srun: values(-n -N -c -p -t -w -J -A -o -e --ntasks --nodes --partition --time)
ssh: values(@ssh) operands(1) script
sshpass: values(-f -d -p)
stack exec: dashes
start-stop-daemon: values(-n -p -u -c -g -d -N --name --pidfile --user --chuid --chdir) commands(-x -a --exec --startas) nothing
stdbuf: prefix values(-i -o -e --input --output --error)
strace: values(-a -b -e -E -I -o -O -p -P -s -S -u -U -X)
su: scripts(-c --command --session-command) values(@su) operands(any) nothing
su-exec: operands(1)
sudo: values(@sudo) idle(-e -l -v -K -V --edit --list --validate --remove-timestamp --version) assignments
summon: values(-p -f -e -D --provider --environment)
systemd-inhibit: prefix values(--what --who --why --mode)
systemd-nspawn: values(-D -M -u -i --directory --machine --user --image --bind) dashes
systemd-run: values(-p -u -E -M -H --property --unit --setenv --slice --uid --gid --description --working-directory)
taskset: prefix operands(1) idle(-p --pid)
teller run: dashes
time: prefix values(-f -o --format --output)
timeout: prefix values(-s -k --signal --kill-after) operands(1)
tini: prefix values(-p -e)
tmux display-popup: values(@tmux -d -w -h -T -S -b) script
tmux if-shell: values(@tmux) script-first
tmux new: values(@tmux) script
tmux new-session: values(@tmux) script
tmux new-window: values(@tmux) script
tmux neww: values(@tmux) script
tmux popup: values(@tmux -d -w -h -T -S -b) script
tmux respawn-pane: values(@tmux) script
tmux respawn-window: values(@tmux) script
tmux run: values(@tmux -d) script
tmux run-shell: values(@tmux -d) script
tmux send: values(@tmux -N) keys
tmux send-keys: values(@tmux -N) keys
tmux split-window: values(@tmux -l) script
tmux splitw: values(@tmux -l) script
toolbox run: values(-c --container -d --distro -r --release)
torify: prefix
torsocks: prefix values(-u -p -a -P)
toybox:
trap: idle(-l -p) script-first
tsocks: prefix
tsp: prefix values(-L -N -D -E -S -i)
unbuffer: prefix
unshare: values(-S -G -R -w --setuid --setgid --root --wd)
uv run: values(@uv) commands(-m --module)
uv tool run: values(@uv)
uvx: values(@uv)
vagrant ssh: scripts(-c --command) operands(any) nothing
valgrind:
volta run: values(--node --npm --yarn)
wait-for-it: values(-t -h -p --timeout) dashes
wait-for-it.sh: values(-t -h -p --timeout) dashes
watch: values(-n -q --interval --equexit) script
watchexec: values(-w -e -i -f -d -s -p --watch --exts --ignore --filter --debounce --signal) script
winpty: prefix
wsl: values(-d -u --distribution --user --cd) commands(-e --exec)
xargs: values(-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars --process-slot-var)
xterm: commands(-e) operands(any) nothing
xvfb-run: values(-e -f -n -p -s -w --error-file --auth-file --server-num --server-args --wait)
yarn dlx: values(@npm)
yarn exec: values(@npm)
";

/// Returns a list of options that several wrappers share.
fn shared(name: &str) -> &'static str {
    match name {
        "@compose" => {
            "-f --file --project-name --profile --project-directory --env-file -e --env -u --user -w --workdir -v \
             --volume -p --publish --name --entrypoint --index -l --label --progress --ansi"
        }
        "@docker" => {
            "-H --host --context -c --config -e --env --env-file -u --user -w --workdir -v --volume --mount -p \
             --publish --name --network --net --entrypoint --platform -m --memory --cpus -h --hostname --add-host -l \
             --label --gpus --restart --pull --link --device --cap-add --cap-drop --security-opt --shm-size --tmpfs \
             --ulimit --ipc --pid --log-driver --log-opt --dns --volumes-from --detach-keys --cidfile --expose --ip \
             --runtime --stop-signal --userns"
        }
        "@git" => {
            "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source"
        }
        "@kubectl" => {
            "-n -c --namespace --container --context --cluster --user --kubeconfig -s --server -l -f --image --as"
        }
        "@npm" => "-p --package -w --workspace --prefix -C --dir --filter -F --cwd",
        "@ssh" => "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w",
        "@su" => "-s -g -G -w --shell --group",
        "@sudo" => {
            "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --close-from --chdir --chroot --role \
             --type --command-timeout --other-user"
        }
        "@tmux" => "-L -S -f -c -e -F -n -s -t -x -y",
        "@uv" => {
            "-p -C --python --with --from --extra --group --only-group --no-group --directory --project --env-file \
             --package --index --default-index --index-url --extra-index-url --with-editable --with-requirements \
             --config-file --cache-dir --refresh-package --upgrade-package"
        }
        _ => "",
    }
}

const LINES: usize = {
    let mut lines = 0;
    let mut at = 0;
    while at < WRAPPERS.len() {
        lines += (WRAPPERS.as_bytes()[at] == b'\n') as usize;
        at += 1;
    }
    lines
};

/// Where the lines of the table start, and its end.
static STARTS: [u16; LINES + 1] = starts();

/// The first line of each letter.
static LETTERS: [u16; 27] = letters();

const fn starts() -> [u16; LINES + 1] {
    assert!(WRAPPERS.len() <= u16::MAX as usize);
    let mut starts = [0; LINES + 1];
    let (mut line, mut at) = (0, 0);
    while at < WRAPPERS.len() {
        if WRAPPERS.as_bytes()[at] == b'\n' {
            line += 1;
            starts[line] = (at + 1) as u16;
        }
        at += 1;
    }
    starts
}

const fn letters() -> [u16; 27] {
    let starts = starts();
    let mut letters = [0; 27];
    let (mut letter, mut line) = (0, 0);
    while line < LINES {
        let first = (WRAPPERS.as_bytes()[starts[line] as usize] - b'a') as usize;
        assert!(first + 1 >= letter, "a line of the table is out of order");
        while letter <= first {
            letters[letter] = line as u16;
            letter += 1;
        }
        line += 1;
    }
    while letter < letters.len() {
        letters[letter] = LINES as u16;
        letter += 1;
    }
    letters
}

/// The lengths that the programs of each letter have, a bit each.
static LENGTHS: [u32; 26] = {
    let starts = starts();
    let mut lengths = [0; 26];
    let mut line = 0;
    while line < LINES {
        let table = WRAPPERS.as_bytes();
        let mut end = starts[line] as usize;
        let letter = (table[end] - b'a') as usize;
        while table[end] != b':' && table[end] != b' ' {
            end += 1;
        }
        lengths[letter] |= 1 << (end - starts[line] as usize);
        line += 1;
    }
    lengths
};

/// Returns what the words of a program run, if the program is in the table.
pub(super) fn run(name: &str, words: &[Word]) -> Option<Run> {
    let letter = usize::from(name.as_bytes().first()?.wrapping_sub(b'a'));
    let lengths = *LENGTHS.get(letter)?;
    if lengths.checked_shr(u32::try_from(name.len()).ok()?).unwrap_or_default() & 1 == 0 {
        return None;
    }
    let end = usize::from(LETTERS[letter + 1]);
    for line in usize::from(LETTERS[letter])..end {
        let start = usize::from(STARTS[line]);
        // Most lines of the letter are about others, which the byte behind the name tells already.
        let behind = WRAPPERS.as_bytes().get(start + name.len());
        if matches!(behind, Some(b':' | b' ')) && WRAPPERS[start..].starts_with(name) {
            // `sudo:` is no name of the table, though the table has these bytes.
            if name.contains([':', ' ']) {
                return None;
            }
            let line = &WRAPPERS[start..usize::from(STARTS[line + 1]) - 1];
            if let Some(run) = run_by_line(line, name.len(), words) {
                return Some(run);
            }
        }
    }
    None
}

fn run_by_line(line: &'static str, name: usize, words: &[Word]) -> Option<Run> {
    let path = &line[..line.find(':')?];
    let mut subcommands = path[name..].split_ascii_whitespace();
    if !subcommands.all(|subcommand| words.iter().skip(1).any(|word| word.text == subcommand)) {
        return None;
    }
    Wrapper::read(path, &line[path.len() + 1..]).run(name, words)
}

/// A line of the table.
struct Wrapper {
    path: &'static str,
    operands: usize,
    values: &'static str,
    scripts: &'static str,
    commands: &'static str,
    idle: &'static str,
    rest: Rest,
    is_prefix: bool,
    takes_assignments: bool,
    takes_dash: bool,
}

/// What the words behind options and operands are.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Words,
    Script,
    ScriptsEach,
    ScriptFirst,
    WordsBehindDashes,
    Parallel,
    Keys,
    Nothing,
}

impl Wrapper {
    fn read(path: &'static str, line: &'static str) -> Self {
        let mut wrapper = Wrapper {
            path,
            operands: 0,
            values: "",
            scripts: "",
            commands: "",
            idle: "",
            rest: Rest::Words,
            is_prefix: false,
            takes_assignments: false,
            takes_dash: false,
        };
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            let end = rest.find([' ', '(']).unwrap_or(rest.len());
            let word = &rest[..end];
            rest = &rest[end..];
            let mut list = "";
            if let Some(inside) = rest.strip_prefix('(') {
                let end = inside.find(')').unwrap_or(inside.len());
                list = &inside[..end];
                rest = &inside[(end + 1).min(inside.len())..];
            }
            rest = rest.trim_start();
            match word {
                "prefix" => wrapper.is_prefix = true,
                "values" => wrapper.values = list,
                "operands" => wrapper.operands = list.parse().unwrap_or(usize::MAX),
                "assignments" => wrapper.takes_assignments = true,
                "scripts" => wrapper.scripts = list,
                "commands" => wrapper.commands = list,
                "idle" => wrapper.idle = list,
                "dash" => wrapper.takes_dash = true,
                "dashes" => wrapper.rest = Rest::WordsBehindDashes,
                "script" => wrapper.rest = Rest::Script,
                "scripts-each" => wrapper.rest = Rest::ScriptsEach,
                "script-first" => wrapper.rest = Rest::ScriptFirst,
                "parallel" => wrapper.rest = Rest::Parallel,
                "keys" => wrapper.rest = Rest::Keys,
                _ => wrapper.rest = Rest::Nothing,
            }
        }
        wrapper
    }

    /// Returns what these words run. The program has `name` bytes of the path.
    fn run(&self, name: usize, words: &[Word]) -> Option<Run> {
        let mut subcommands = self.path[name..].split_ascii_whitespace();
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
            } else if self.takes_dash && text == "-" && !is_behind_dashes {
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
        let all = index..words.len();
        match self.rest {
            Rest::Words if is_word_of(self.idle, &rest[0].text) => None,
            Rest::Words | Rest::WordsBehindDashes => Some(self.result(Inside::Words(all), assignments)),
            Rest::Script => script(joined(rest, " "), all),
            Rest::ScriptsEach => script(joined(rest, "\n"), all),
            Rest::Parallel => script(parallel(rest), all),
            Rest::Keys => script(keys(rest), all),
            Rest::ScriptFirst if rest.len() > 1 && rest[0].text != "-" => {
                script(rest[0].text.clone(), index..index + 1)
            }
            Rest::ScriptFirst | Rest::Nothing => None,
        }
    }

    fn result(&self, inside: Inside, assignments: WrapperWords) -> Run {
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
        // `-args` and the like: one option that is written with one dash.
        if text.len() > 2 {
            match self.kind(text) {
                OptionKind::Flag => {}
                kind => return kind,
            }
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
        if is_word_of(self.values, name) || self.values.split(' ').any(|list| is_word_of(shared(list), name))
        {
            OptionKind::Value
        } else if is_word_of(self.scripts, name) {
            OptionKind::Script(None)
        } else if is_word_of(self.commands, name) {
            OptionKind::Command
        } else if is_word_of(self.idle, name) {
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
