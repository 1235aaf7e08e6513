//! What must have become of each command of a line, given the exit status of the line.

use crate::syntax::{Node, Statement, Tree};
use shell::{Command, Origin};
use std::collections::HashMap;

/// How a command of a line ended, as far as the exit status of the line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Succeeded,
    Failed,
    /// It was run, and its exit status is not seen.
    Unknown,
    /// It may not have been run.
    Perhaps,
    /// It was not run.
    Skipped,
}

/// What is known of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub ending: Ending,
    /// Whether a failure of the line may be due to it.
    pub is_suspect: bool,
    /// Whether it may have failed, or has.
    pub may_have_failed: bool,
}

impl Found {
    const UNKNOWN: Self = Self { ending: Ending::Unknown, is_suspect: false, may_have_failed: true };
}

/// Returns what is known of each of a line's commands, which are those of `shell::commands`. `printed` is the output, in which
/// `echo "exit: $?"` may have told more; `succeeded` is the exit status of the line, if that is known.
pub fn endings(script: &str, commands: &[Command], printed: &str, succeeded: Option<bool>) -> Vec<Found> {
    judged(script, commands, printed, succeeded, 0)
}

/// How many lines of an output are looked at for what a line of shell printed about itself.
const MOST_LINES: usize = 4_000;
/// How often strings of shell in strings of shell are looked into.
const MOST_DEPTH: usize = 4;

fn judged(
    script: &str,
    commands: &[Command],
    printed: &str,
    succeeded: Option<bool>,
    depth: usize,
) -> Vec<Found> {
    let line = Tree::read(script).and_then(|tree| Line::new(script, tree, commands, printed, succeeded));
    let Some(line) = line else { return by_place(commands, succeeded) };
    let possible = line.possible();
    let suspects = line.suspects(&possible);
    let mut found = vec![Found::UNKNOWN; commands.len()];
    for (leaf, range) in line.leaves.iter().enumerate() {
        let first = commands.partition_point(|command| command.start < range.start);
        let end = commands.partition_point(|command| command.start < range.end);
        let of_leaf = Found {
            ending: ending(possible[leaf]),
            is_suspect: suspects.contains(&leaf),
            may_have_failed: possible[leaf] & FAIL != 0,
        };
        spread(&commands[first..end], of_leaf, printed, depth, &mut found[first..end]);
    }
    found
}

/// Says what a simple command's ending means for what it runs.
fn spread(commands: &[Command], of_leaf: Found, printed: &str, depth: usize, found: &mut [Found]) {
    // Commands whose output is an argument lose their status, unless nothing else is run: `out=$(cargo test)`.
    let is_run = |command: &Command| command.origin != Origin::Substitution;
    let is_only_substituted = !commands.iter().any(is_run);
    let inner = commands
        .iter()
        .position(|command| command.origin == Origin::ShellString || command.origin == Origin::Heredoc);
    let inside = inner.filter(|_| depth < MOST_DEPTH).and_then(|at| {
        let succeeded = match of_leaf.ending {
            Ending::Succeeded => Some(true),
            Ending::Failed => Some(false),
            _ => None,
        };
        inside(&commands[..at], &commands[at..], printed, succeeded, depth)
    });
    // It ends well whatever its commands do.
    let is_of_find = commands.iter().any(|command| command.program() == "find");
    for (at, (command, found)) in commands.iter().zip(found.iter_mut()).enumerate() {
        let nested = inner.filter(|first| at >= *first).and_then(|first| inside.as_ref()?.get(at - first));
        *found = match (command.origin, nested) {
            _ if matches!(of_leaf.ending, Ending::Perhaps | Ending::Skipped) => of_leaf,
            (_, Some(nested)) => Found { is_suspect: nested.is_suspect && of_leaf.is_suspect, ..*nested },
            (Origin::Substitution, _) if is_only_substituted && command.is_last => of_leaf,
            (Origin::Substitution | Origin::Code, _) => Found::UNKNOWN,
            (Origin::Wrapped, _) if is_of_find => Found::UNKNOWN,
            (Origin::ShellString | Origin::Heredoc, None) => {
                let is_end =
                    command.is_last && commands[at..].iter().all(|other| other.pipeline == command.pipeline);
                if is_end { of_leaf } else { Found::UNKNOWN }
            }
            _ => of_leaf,
        };
    }
}

/// Returns what is known of commands in a string, where one word or input of the commands around them is that string.
fn inside(
    around: &[Command],
    inner: &[Command],
    printed: &str,
    succeeded: Option<bool>,
    depth: usize,
) -> Option<Vec<Found>> {
    let words = around.iter().flat_map(|command| {
        let words = command.words.iter().map(|word| word.text.as_str());
        words.chain(command.input.as_deref())
    });
    let is_it = |commands: &[Command]| {
        commands.len() == inner.len()
            && commands.iter().zip(inner).all(|(one, other)| one.words.first() == other.words.first())
    };
    words.filter(|word| word.contains([' ', '\n', ';', '|', '&'])).find_map(|word| {
        let commands = shell::commands(word);
        is_it(&commands).then(|| judged(word, &commands, printed, succeeded, depth + 1))
    })
}

/// Returns what is known where the line could not be read: of the last pipeline's last command alone.
fn by_place(commands: &[Command], succeeded: Option<bool>) -> Vec<Found> {
    let last =
        commands.iter().rfind(|command| command.origin == Origin::Direct).map(|command| command.pipeline);
    let of_line = match succeeded {
        Some(true) => Found { ending: Ending::Succeeded, is_suspect: false, may_have_failed: false },
        Some(false) => Found { is_suspect: true, ..Found::UNKNOWN },
        None => Found::UNKNOWN,
    };
    let is_it = |command: &Command| {
        Some(command.pipeline) == last && command.is_last && !command.is_background && !command.is_negated
    };
    commands.iter().map(|command| if is_it(command) { of_line } else { Found::UNKNOWN }).collect()
}

const OK: u8 = 1;
const FAIL: u8 = 2;
const SKIP: u8 = 4;

fn ending(possible: u8) -> Ending {
    match possible {
        OK => Ending::Succeeded,
        FAIL => Ending::Failed,
        SKIP => Ending::Skipped,
        possible if possible & SKIP != 0 => Ending::Perhaps,
        _ => Ending::Unknown,
    }
}

/// What may have become of each leaf; 0 for those that are elsewhere.
type Possible = Vec<u8>;

/// What may have become of the leaves of a part of a line, by how the part ended.
#[derive(Clone, Debug, Default)]
struct Ends {
    ok: Option<Possible>,
    fail: Option<Possible>,
    /// The shell ended in it.
    quit_ok: Option<Possible>,
    quit_fail: Option<Possible>,
}

impl Ends {
    fn any(&self) -> Option<Possible> {
        either(self.ok.clone(), self.fail.clone())
    }
}

/// Returns what may have become of leaves when one or the other happened.
fn either(one: Option<Possible>, other: Option<Possible>) -> Option<Possible> {
    match (one, other) {
        (Some(one), Some(other)) => Some(merged(one, &other)),
        (one, other) => one.or(other),
    }
}

/// Returns what may have become of leaves when one and then the other happened.
fn both(one: Option<&Possible>, other: Option<&Possible>) -> Option<Possible> {
    Some(merged(one?.clone(), other?))
}

fn merged(mut one: Possible, other: &Possible) -> Possible {
    one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
    one
}

/// What a leaf is for the flow of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its exit status depends on what it does.
    Any,
    Always,
    Never,
    Exit(Option<bool>),
    /// It prints a text that is in the output, or not in it.
    Printed(bool),
}

/// Programs that end well whenever they are run, as far as a line's flow goes.
const ALWAYS: &[&str] = &[
    "true", ":", "sleep", "date", "export", "unset", "set", "shopt", "alias", "local", "declare", "trap",
    "clear", "pwd", "echo", "printf", "history", "ulimit", "umask",
];

/// Programs that say so when they fail: `cd: api: No such file or directory`.
const TALKING: &[&str] = &[
    "cd", "pushd", "popd", "mkdir", "cp", "mv", "rm", "touch", "chmod", "ln", "ls", "cat", "source", ".",
    "rmdir", "tar", "unzip", "head", "tail", "tee", "sort", "wc", "sed",
];

/// What they say when all is well.
const TALK: &[&str] = &["tar: Removing leading", "mkdir: created directory"];

/// Programs at the end of a pipeline that end well unless something before them fails in a shell with `pipefail`.
const PASSIVE: &[&str] = &[
    "tail",
    "head",
    "tee",
    "cat",
    "sort",
    "uniq",
    "wc",
    "tr",
    "cut",
    "column",
    "sed",
    "awk",
    "gawk",
    "less",
    "more",
    "nl",
    "fold",
    "fmt",
    "strings",
    "ts",
    "rev",
    "xcbeautify",
    "xcpretty",
    "tap-spec",
    "pino-pretty",
    "bunyan",
    "tac",
    "pv",
];

/// A line of which each leaf is known.
struct Line<'l> {
    root: Node,
    leaves: Vec<std::ops::Range<usize>>,
    texts: Vec<&'l str>,
    kinds: Vec<Kind>,
    /// The program of each leaf.
    programs: Vec<&'l str>,
    commands: Vec<Option<&'l Command>>,
    printed: &'l str,
    succeeded: Option<bool>,
    /// Leaves whose status the line shows itself: `echo "exit: $?"`.
    shown: HashMap<usize, bool>,
}

/// How a shell takes failures.
#[derive(Clone, Copy, Debug, Default)]
struct Mode {
    /// `set -e`.
    quits: bool,
    /// `set -o pipefail`.
    pipes: bool,
    /// The status is looked at by `if`, `&&` or the like, where `set -e` does not count.
    is_tested: bool,
}

impl<'l> Line<'l> {
    fn new(
        script: &'l str,
        tree: Tree,
        commands: &'l [Command],
        printed: &'l str,
        succeeded: Option<bool>,
    ) -> Option<Self> {
        let texts: Vec<&str> =
            tree.leaves.iter().map(|range| script.get(range.clone())).collect::<Option<_>>()?;
        let mut own = Vec::new();
        for range in &tree.leaves {
            let is_in =
                |command: &&Command| range.contains(&command.start) && command.origin == Origin::Direct;
            own.push(commands.iter().find(is_in));
        }
        // The commands of another shell than that of the tree are all at its beginning.
        let mut direct =
            commands.iter().filter(|command| command.origin == Origin::Direct && !command.words.is_empty());
        let is_placed = |command: &Command| tree.leaves.iter().any(|leaf| leaf.contains(&command.start));
        let is_of_another =
            tree.leaves.len() > 1 && commands.len() > 1 && commands.iter().all(|command| command.start == 0);
        // Where a simple command has several in it, quotes were taken for open that are not.
        let is_torn = tree.leaves.iter().any(|leaf| {
            let mut starts = commands
                .iter()
                .filter(|command| command.origin == Origin::Direct && !command.words.is_empty())
                .map(|command| command.start)
                .filter(|start| leaf.contains(start));
            starts.next().is_some_and(|first| starts.any(|start| start != first))
        });
        if is_torn || is_of_another || !direct.all(is_placed) {
            return None;
        }
        let programs = own.iter().map(|command| command.map_or("", |command| command.program())).collect();
        let mut line = Self {
            root: tree.root,
            leaves: tree.leaves,
            kinds: vec![Kind::Any; texts.len()],
            texts,
            programs,
            commands: own,
            printed,
            succeeded,
            shown: HashMap::new(),
        };
        line.kinds = (0..line.texts.len()).map(|leaf| line.kind(leaf)).collect();
        // What a group prints may be filtered, or go into a file.
        let goes_on = |command: &Command| {
            command.origin == Origin::Direct
                && command.words.is_empty()
                && command.redirects.iter().any(|redirect| redirect.operator.contains('>'))
        };
        if line.root.pipes_group() || commands.iter().any(goes_on) {
            for kind in line.kinds.iter_mut().filter(|kind| **kind == Kind::Printed(false)) {
                *kind = Kind::Always;
            }
        }
        line.note_shown();
        Some(line)
    }

    fn words(&self, leaf: usize) -> impl Iterator<Item = &'l str> + use<'l> {
        self.commands[leaf]
            .into_iter()
            .flat_map(|command| &command.words[1.min(command.words.len())..])
            .map(|word| word.text.as_str())
    }

    fn kind(&self, leaf: usize) -> Kind {
        let program = self.programs[leaf];
        let Some(command) = self.commands[leaf] else {
            // An assignment, unless what it assigns is run.
            let text = self.texts[leaf];
            let is_tested = text.starts_with("[[") || text.starts_with("((");
            return if is_tested || text.contains("$(") || text.contains('`') {
                Kind::Any
            } else {
                Kind::Always
            };
        };
        match program {
            "false" => Kind::Never,
            "exit" | "return" => {
                let first = self.words(leaf).next();
                let code = match first {
                    Some(word) if word.starts_with('$') => None,
                    Some(word) => word.parse::<u8>().ok().map(|code| code == 0),
                    None => None,
                };
                Kind::Exit(code)
            }
            "echo" => {
                let is_shown = command.redirects.iter().all(|redirect| redirect.operator.starts_with('2'))
                    && command.is_last
                    && command.place == 0;
                let words: Vec<&shell::Word> = command.words.iter().skip(1).collect();
                let text: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                let text = text.join(" ");
                let is_plain = words.iter().all(|word| !word.is_dynamic)
                    && !text.starts_with('-')
                    && !text.contains(['\\', '\n', '*'])
                    && !text.trim().is_empty();
                if is_shown && !self.is_cut() && text.contains("$?") {
                    return Kind::Printed(!self.numbers(&text, "$?").is_empty());
                }
                // An output that was cut may lack it.
                match is_shown && is_plain && !self.is_cut() {
                    true => match self.printed.lines().filter(|line| line.trim() == text.trim()).count() {
                        0 => Kind::Printed(false),
                        // One of several that print the same; which, is not known.
                        lines if lines < self.same_echoes(leaf).len() => Kind::Always,
                        _ => Kind::Printed(true),
                    },
                    false => Kind::Always,
                }
            }
            program if ALWAYS.contains(&program) => Kind::Always,
            program if TALKING.contains(&program) => {
                let is_quiet =
                    command.redirects.iter().any(|redirect| redirect.operator.starts_with(['2', '&']));
                let says = |line: &str| {
                    line.find(program).is_some_and(|at| {
                        line[at + program.len()..].starts_with(": ")
                            && (at == 0 || line[..at].ends_with(": ") || line[..at].ends_with('/'))
                            && !TALK.iter().any(|talk| line[at..].starts_with(talk))
                    })
                };
                let is_named = || self.printed.contains(&format!("{program}: "));
                match !is_quiet && is_named() && self.printed.lines().take(MOST_LINES).any(says) {
                    _ if is_quiet => Kind::Any,
                    true => Kind::Never,
                    false => Kind::Always,
                }
            }
            _ => Kind::Any,
        }
    }

    /// Returns whether the output may lack what the line printed.
    fn is_cut(&self) -> bool {
        let marks = ["truncated", "…", "<persisted-output>"];
        self.printed.trim().is_empty() || marks.iter().any(|mark| self.printed.contains(mark))
    }

    /// Returns the statuses that lines of the output have in the place of `mark` in this text.
    fn numbers(&self, text: &str, mark: &str) -> Vec<u32> {
        let Some((before, behind)) = text.split_once(mark) else { return Vec::new() };
        let (before, behind) = (before.trim_start(), behind.trim_end());
        let of_line = |line: &str| {
            let rest = line.trim().strip_prefix(before)?;
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let is_it = rest[end..] == *behind || behind.contains('$');
            rest[..end].parse().ok().filter(|_| is_it)
        };
        self.printed.lines().filter_map(of_line).collect()
    }

    /// Returns the leaves that print the same as this one.
    fn same_echoes(&self, leaf: usize) -> Vec<usize> {
        let is_same =
            |other: &usize| self.programs[*other] == "echo" && self.words(*other).eq(self.words(leaf));
        (0..self.texts.len()).filter(is_same).collect()
    }

    /// Notes what the line itself shows of the statuses in its lists: `a; echo $?`, `a | b; exit ${PIPESTATUS[0]}`.
    fn note_shown(&mut self) {
        let mut shown = Vec::new();
        self.look_into(&self.root, &mut shown);
        self.shown.extend(shown);
    }

    fn look_into(&self, node: &Node, shown: &mut Vec<(usize, bool)>) {
        match node {
            Node::Leaf(_) | Node::Pipe(_) => {}
            Node::Not(node) | Node::Subshell(node) | Node::Function(node) => self.look_into(node, shown),
            Node::And(one, other) | Node::Or(one, other) => {
                self.look_into(one, shown);
                self.look_into(other, shown);
            }
            Node::List(statements) => {
                for pair in statements.windows(2) {
                    self.look_into(&pair[0].node, shown);
                    let mut next = None;
                    pair[1].node.each(&mut |leaf| next = next.or(Some(leaf)));
                    let Some(next) = next else { continue };
                    for (mark, is_first) in STATUSES {
                        let Some(succeeded) = self.status_at(next, mark) else { continue };
                        shown.extend(status_of(&pair[0].node, *is_first).map(|leaf| (leaf, succeeded)));
                    }
                }
                statements.last().into_iter().for_each(|last| self.look_into(&last.node, shown));
            }
            Node::If(branches, otherwise) => {
                for (condition, body) in branches {
                    self.look_into(condition, shown);
                    self.look_into(body, shown);
                }
                otherwise.iter().for_each(|node| self.look_into(node, shown));
            }
            Node::Case(nodes) => nodes.iter().for_each(|node| self.look_into(node, shown)),
            // What runs several times shows the last of its statuses.
            Node::Loop(..) => {}
        }
    }

    /// Returns the status that a leaf shows, keeps or ends with.
    fn status_at(&self, leaf: usize, mark: &str) -> Option<bool> {
        let text = self.texts[leaf];
        if !text.contains(mark) {
            return None;
        }
        let printed = |leaf: usize, mark: &str| {
            if self.programs[leaf] != "echo" {
                return None;
            }
            let numbers = self.numbers(&self.words(leaf).collect::<Vec<_>>().join(" "), mark);
            let same = self.same_echoes(leaf);
            match same.len() {
                1 => numbers.last().copied(),
                // Each has a line of its own, or it is not known whose they are.
                count if count == numbers.len() => {
                    numbers.get(same.iter().position(|other| *other == leaf)?).copied()
                }
                _ => None,
            }
        };
        match self.programs[leaf] {
            "exit" => self.succeeded,
            "" => {
                let name = text.split_once('=')?.0.trim();
                let (plain, braced) = (format!("${name}"), format!("${{{name}}}"));
                (leaf + 1..self.texts.len()).find_map(|later| {
                    let mark = [&braced, &plain]
                        .into_iter()
                        .find(|mark| self.texts[later].contains(mark.as_str()))?;
                    match self.programs[later] {
                        "exit" => self.succeeded,
                        _ => printed(later, mark).map(|code| code == 0),
                    }
                })
            }
            _ => printed(leaf, mark).map(|code| code == 0),
        }
    }

    fn with(&self, leaf: usize, bit: u8) -> Option<Possible> {
        let mut possible = self.nothing();
        possible[leaf] = bit;
        Some(possible)
    }

    fn nothing(&self) -> Possible {
        vec![0; self.leaves.len()]
    }

    /// Returns what may have become of leaves when all of this happened.
    fn joined(&self, parts: impl Iterator<Item = Option<Possible>>) -> Option<Possible> {
        let mut all = self.nothing();
        for part in parts {
            all = merged(all, &part?);
        }
        Some(all)
    }

    /// Returns what becomes of leaves that are not run; none where the output shows that one was.
    fn skipped(&self, node: &Node) -> Option<Possible> {
        let mut possible = Some(self.nothing());
        node.each(&mut |leaf| match &mut possible {
            _ if self.kinds[leaf] == Kind::Printed(true) => possible = None,
            Some(possible) => possible[leaf] = SKIP,
            None => {}
        });
        possible
    }

    /// Returns what may have become of each leaf.
    fn possible(&self) -> Possible {
        let ends = self.ends(&self.root, &mut Mode::default());
        let (ok, fail) = (either(ends.ok, ends.quit_ok), either(ends.fail, ends.quit_fail));
        let possible = match self.succeeded {
            Some(true) => ok,
            Some(false) => fail,
            None => either(ok, fail),
        };
        // What contradicts itself was not understood.
        possible.unwrap_or_else(|| vec![OK | FAIL; self.leaves.len()])
    }

    fn ends(&self, node: &Node, mode: &mut Mode) -> Ends {
        match node {
            Node::Leaf(leaf) => self.ends_of_leaf(*leaf, mode),
            Node::Not(node) => {
                let ends = self.ends(node, &mut mode.tested());
                Ends { ok: ends.fail, fail: ends.ok, ..ends }
            }
            Node::Pipe(nodes) => self.ends_of_pipe(nodes, mode),
            Node::And(one, other) => {
                let (one, skipped) = (self.ends(one, &mut mode.tested()), self.skipped(other));
                let other = self.ends(other, mode);
                Ends {
                    ok: both(one.ok.as_ref(), other.ok.as_ref()),
                    fail: either(
                        both(one.fail.as_ref(), skipped.as_ref()),
                        both(one.ok.as_ref(), other.fail.as_ref()),
                    ),
                    quit_ok: either(
                        both(one.quit_ok.as_ref(), skipped.as_ref()),
                        both(one.ok.as_ref(), other.quit_ok.as_ref()),
                    ),
                    quit_fail: either(
                        both(one.quit_fail.as_ref(), skipped.as_ref()),
                        both(one.ok.as_ref(), other.quit_fail.as_ref()),
                    ),
                }
            }
            Node::Or(one, other) => {
                let (one, skipped) = (self.ends(one, &mut mode.tested()), self.skipped(other));
                let other = self.ends(other, mode);
                Ends {
                    ok: either(
                        both(one.ok.as_ref(), skipped.as_ref()),
                        both(one.fail.as_ref(), other.ok.as_ref()),
                    ),
                    fail: both(one.fail.as_ref(), other.fail.as_ref()),
                    quit_ok: either(
                        both(one.quit_ok.as_ref(), skipped.as_ref()),
                        both(one.fail.as_ref(), other.quit_ok.as_ref()),
                    ),
                    quit_fail: either(
                        both(one.quit_fail.as_ref(), skipped.as_ref()),
                        both(one.fail.as_ref(), other.quit_fail.as_ref()),
                    ),
                }
            }
            Node::List(statements) => self.ends_of_list(statements, mode),
            Node::Subshell(node) => {
                let ends = self.ends(node, &mut Mode { ..*mode });
                let ends = Ends {
                    ok: either(ends.ok, ends.quit_ok),
                    fail: either(ends.fail, ends.quit_fail),
                    ..Ends::default()
                };
                mode.quit(ends)
            }
            Node::If(branches, otherwise) => self.ends_of_if(branches, otherwise.as_deref(), mode),
            Node::Loop(condition, body) => {
                let condition = condition.as_ref().map(|node| self.ends(node, &mut mode.tested()));
                let ends = self.ends(body, mode);
                // What went wrong once may have gone well another time.
                let mut any = ends.any();
                let is_mixed = ends.fail.is_some();
                let is_sure = condition.is_none();
                any = either(any, self.skipped(body).filter(|_| !is_sure));
                let before = condition.as_ref().map_or_else(|| Some(self.nothing()), Ends::any);
                any = both(before.as_ref(), any.as_ref());
                for state in any.iter_mut().flatten().filter(|state| **state != 0 && is_mixed) {
                    *state |= if *state & (OK | FAIL) != 0 { OK | FAIL } else { 0 };
                }
                Ends {
                    ok: any.clone(),
                    fail: any.filter(|_| is_mixed),
                    quit_ok: both(before.as_ref(), ends.quit_ok.as_ref()),
                    quit_fail: both(before.as_ref(), ends.quit_fail.as_ref()),
                }
            }
            Node::Case(arms) => {
                let none = arms.iter().map(|arm| self.skipped(arm));
                let none = self.joined(none);
                let mut ends = Ends { ok: none, ..Ends::default() };
                for (at, arm) in arms.iter().enumerate() {
                    let others = arms.iter().enumerate().filter(|(other, _)| *other != at);
                    let others = others.map(|(_, arm)| self.skipped(arm));
                    let others = self.joined(others);
                    let own = self.ends(arm, &mut Mode { ..*mode });
                    ends.add(own, others.as_ref());
                }
                ends
            }
            Node::Function(body) => {
                let mut possible = self.nothing();
                body.each(&mut |leaf| possible[leaf] = OK | FAIL | SKIP);
                Ends { ok: Some(possible), ..Ends::default() }
            }
        }
    }

    fn ends_of_leaf(&self, leaf: usize, mode: &mut Mode) -> Ends {
        let mut ends = match self.kinds[leaf] {
            Kind::Any => Ends { ok: self.with(leaf, OK), fail: self.with(leaf, FAIL), ..Ends::default() },
            Kind::Always | Kind::Printed(true) => Ends { ok: self.with(leaf, OK), ..Ends::default() },
            Kind::Printed(false) => Ends::default(),
            Kind::Never => Ends { fail: self.with(leaf, FAIL), ..Ends::default() },
            Kind::Exit(code) => Ends {
                quit_ok: self.with(leaf, OK).filter(|_| code != Some(false)),
                quit_fail: self.with(leaf, FAIL).filter(|_| code != Some(true)),
                ..Ends::default()
            },
        };
        match self.shown.get(&leaf) {
            Some(true) => ends.fail = None,
            Some(false) => ends.ok = None,
            None => {}
        }
        if self.programs[leaf] == "set" {
            mode.set(self.words(leaf));
        }
        mode.quit(ends)
    }

    fn ends_of_pipe(&self, nodes: &[Node], mode: &mut Mode) -> Ends {
        let own = nodes.iter().map(|node| {
            let ends = self.ends(node, &mut mode.tested());
            Ends {
                ok: either(ends.ok, ends.quit_ok),
                fail: either(ends.fail, ends.quit_fail),
                ..Ends::default()
            }
        });
        let own: Vec<Ends> = own.collect();
        let last = own.len() - 1;
        let joined = |pick: &dyn Fn(usize, &Ends) -> Option<Possible>| {
            let picked = own.iter().enumerate().map(|(at, ends)| pick(at, ends));
            self.joined(picked)
        };
        let is_passive = matches!(&nodes[last], Node::Leaf(leaf) if PASSIVE.contains(&self.programs[*leaf]));
        let (ok, mut fail) = if mode.pipes {
            (joined(&|_, ends| ends.ok.clone()), None)
        } else {
            (
                joined(&|at, ends| if at == last { ends.ok.clone() } else { ends.any() }),
                joined(&|at, ends| if at == last { ends.fail.clone() } else { ends.any() })
                    .filter(|_| !is_passive),
            )
        };
        if mode.pipes || is_passive {
            for culprit in 0..own.len() - usize::from(is_passive) {
                let failed = joined(&|at, ends| match at {
                    at if at == culprit => ends.fail.clone(),
                    at if at == last && is_passive => ends.ok.clone(),
                    _ => ends.any(),
                });
                fail = either(fail, failed);
            }
        }
        mode.quit(Ends { ok, fail, ..Ends::default() })
    }

    fn ends_of_list(&self, statements: &[Statement], mode: &mut Mode) -> Ends {
        let mut ends = Ends { ok: Some(self.nothing()), ..Ends::default() };
        for (at, statement) in statements.iter().enumerate() {
            let mut own = self.ends(&statement.node, mode);
            if statement.is_background {
                let any = either(own.any(), either(own.quit_ok, own.quit_fail));
                own = Ends { ok: any, ..Ends::default() };
            }
            let before = ends.any();
            let rest = statements[at + 1..].iter().map(|statement| self.skipped(&statement.node));
            let rest = self.joined(rest);
            let quit =
                |own: &Option<Possible>| both(both(before.as_ref(), own.as_ref()).as_ref(), rest.as_ref());
            ends = Ends {
                quit_ok: either(ends.quit_ok, quit(&own.quit_ok)),
                quit_fail: either(ends.quit_fail, quit(&own.quit_fail)),
                ok: both(before.as_ref(), own.ok.as_ref()),
                fail: both(before.as_ref(), own.fail.as_ref()),
            };
        }
        ends
    }

    fn ends_of_if(&self, branches: &[(Node, Node)], otherwise: Option<&Node>, mode: &mut Mode) -> Ends {
        let Some(((condition, body), others)) = branches.split_first() else {
            return match otherwise {
                Some(node) => self.ends(node, &mut Mode { ..*mode }),
                None => Ends { ok: Some(self.nothing()), ..Ends::default() },
            };
        };
        let tested = self.ends(condition, &mut mode.tested());
        let mut rest = Some(self.nothing());
        for (condition, body) in others {
            rest = both(rest.as_ref(), self.skipped(condition).as_ref());
            rest = both(rest.as_ref(), self.skipped(body).as_ref());
        }
        if let Some(node) = otherwise {
            rest = both(rest.as_ref(), self.skipped(node).as_ref());
        }
        let unused = both(self.skipped(body).as_ref(), rest.as_ref());
        let mut ends = Ends {
            quit_ok: both(tested.quit_ok.as_ref(), unused.as_ref()),
            quit_fail: both(tested.quit_fail.as_ref(), unused.as_ref()),
            ..Ends::default()
        };
        let taken = self.ends(body, &mut Mode { ..*mode });
        ends.add(taken, both(tested.ok.as_ref(), rest.as_ref()).as_ref());
        let other = self.ends_of_if(others, otherwise, mode);
        ends.add(other, both(tested.fail.as_ref(), self.skipped(body).as_ref()).as_ref());
        ends
    }

    /// Returns the leaves of which a failure may be that of the line.
    fn suspects(&self, possible: &Possible) -> Vec<usize> {
        let mut suspects = Vec::new();
        let quits = self.programs.iter().enumerate().any(|(leaf, program)| {
            let mut mode = Mode::default();
            mode.set(self.words(leaf).filter(|_| *program == "set"));
            mode.quits
        });
        if self.succeeded == Some(false) {
            self.blame(&self.root, quits, &mut suspects);
            suspects.retain(|leaf| possible[*leaf] & FAIL != 0);
        }
        suspects
    }

    fn blame(&self, node: &Node, quits: bool, suspects: &mut Vec<usize>) {
        let ends_the_shell = |node: &Node| {
            let mut ends = false;
            node.each(&mut |leaf| ends |= matches!(self.kinds[leaf], Kind::Exit(code) if code != Some(true)));
            ends
        };
        match node {
            Node::Leaf(leaf) => suspects.push(*leaf),
            Node::Not(_) | Node::Function(_) => {}
            Node::Pipe(nodes) => nodes.iter().for_each(|node| self.blame(node, quits, suspects)),
            Node::And(one, other) => {
                self.blame(one, quits, suspects);
                self.blame(other, quits, suspects);
            }
            Node::Or(one, other) => {
                if ends_the_shell(other) {
                    self.blame(one, quits, suspects);
                }
                self.blame(other, quits, suspects);
            }
            Node::List(statements) => {
                for (at, statement) in statements.iter().enumerate() {
                    let is_last = at + 1 == statements.len();
                    if is_last || quits || ends_the_shell(&statement.node) {
                        self.blame(&statement.node, quits, suspects);
                    }
                }
            }
            Node::Subshell(node) | Node::Loop(_, node) => self.blame(node, quits, suspects),
            Node::If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| self.blame(body, quits, suspects));
                otherwise.iter().for_each(|node| self.blame(node, quits, suspects));
            }
            Node::Case(arms) => arms.iter().for_each(|arm| self.blame(arm, quits, suspects)),
        }
    }
}

/// How a script asks for the status of what it just ran; whether that is of a pipeline's first command.
const STATUSES: &[(&str, bool)] =
    &[("$?", false), ("${PIPESTATUS[0]}", true), ("${pipestatus[1]}", true), ("$PIPESTATUS", true)];

/// Returns the leaf whose status `$?` is behind a part of a line, or `${PIPESTATUS[0]}`.
fn status_of(node: &Node, is_first: bool) -> Option<usize> {
    match node {
        Node::Leaf(leaf) => Some(*leaf),
        Node::Pipe(nodes) => status_of(if is_first { nodes.first()? } else { nodes.last()? }, is_first),
        Node::Subshell(node) => status_of(node, is_first),
        Node::List(statements) => status_of(&statements.last()?.node, is_first),
        _ => None,
    }
}

impl Ends {
    /// Adds another way in which a part may have ended, with what became of leaves before it.
    fn add(&mut self, own: Self, before: Option<&Possible>) {
        self.ok = either(self.ok.take(), both(before, own.ok.as_ref()));
        self.fail = either(self.fail.take(), both(before, own.fail.as_ref()));
        self.quit_ok = either(self.quit_ok.take(), both(before, own.quit_ok.as_ref()));
        self.quit_fail = either(self.quit_fail.take(), both(before, own.quit_fail.as_ref()));
    }
}

impl Mode {
    fn tested(self) -> Self {
        Self { is_tested: true, ..self }
    }

    /// Takes in the options of `set`.
    fn set<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            let is_on = word.starts_with('-');
            match word {
                "pipefail" => self.pipes = true,
                "errexit" => self.quits = true,
                _ if is_on || word.starts_with('+') => {
                    self.quits = if word.contains('e') { is_on } else { self.quits };
                }
                _ => {}
            }
        }
    }

    /// Ends the shell where a failure does.
    fn quit(self, ends: Ends) -> Ends {
        if !self.quits || self.is_tested {
            return ends;
        }
        Ends { quit_fail: either(ends.quit_fail, ends.fail), fail: None, ..ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what became of the commands `a`, `b`, `c`: `+` succeeded, `-` failed, `?` unknown, `~` perhaps, `0` not run.
    #[track_caller]
    fn check(cases: &[(&str, &str, Option<bool>, &str)]) {
        for (script, printed, succeeded, expected) in cases {
            let commands = shell::commands(script);
            let found = endings(script, &commands, printed, *succeeded);
            let shown = commands.iter().zip(found).filter(|(command, _)| command.program().len() == 1);
            let shown = shown.filter(|(command, _)| command.program().starts_with(char::is_alphabetic));
            let shown = shown.map(|(command, found)| {
                let mark = match found.ending {
                    Ending::Succeeded => '+',
                    Ending::Failed => '-',
                    Ending::Unknown => '?',
                    Ending::Perhaps => '~',
                    Ending::Skipped => '0',
                };
                format!("{}{mark}", command.program())
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), *expected, "{script} ({succeeded:?}) {printed}");
        }
    }

    #[test]
    fn a_line_that_ended_well_says_nothing_of_what_it_hides() {
        let well = Some(true);
        check(&[
            ("a", "", well, "a+"),
            ("cd x && a && b", "", well, "a+ b+"),
            ("a | tail -5", "", well, "a?"),
            ("a 2>&1 | grep -v warning | head", "", well, "a?"),
            ("a; b", "", well, "a? b+"),
            ("a\nb", "", well, "a? b+"),
            ("a || true", "", well, "a?"),
            ("a || b", "", well, "a? b~"),
            ("a &", "", well, "a?"),
            ("a & b", "", well, "a? b+"),
            ("set +e; a; b", "", well, "a? b+"),
            ("a; echo done", "done", well, "a?"),
            ("if a; then b; fi", "", well, "a? b~"),
            ("! a", "", well, "a-"),
            ("while ! a; do sleep 1; done", "", well, "a?"),
            ("for x in 1 2; do a $x; done", "", well, "a? a?"),
            ("echo \"$(a)\"", "", well, "a?"),
            ("(a; b) && c", "", well, "a? b+ c+"),
            ("bash -c 'a | tail; b'", "", well, "a? b+"),
            ("a && b | tee log", "", well, "a+ b?"),
            ("case $x in 1) a;; *) b;; esac", "", well, "a~ b~"),
        ]);
    }

    #[test]
    fn what_the_output_cannot_show_is_not_known() {
        let well = Some(true);
        check(&[
            ("a -m \"$(cat <<'EOF'\nDon't retry\nEOF\n)\" 2>&1 | tail -3", "", well, "a?"),
            ("a -m \"$(cat <<'EOF'\nDon't retry\nEOF\n)\"; b 2>&1 | tail -3", "", well, "a? b?"),
            ("a; echo \"exit=$?\"; b; echo \"exit=$?\"", "exit=2\nexit=0", well, "a- b+"),
            ("a; echo \"exit=$?\"; b; echo \"exit=$?\"", "exit=0\nexit=1", well, "a+ b-"),
            ("a; echo \"exit=$?\"; b; echo \"exit=$?\"", "exit=0", well, "a? b?"),
            ("a 2>&1 || echo BROKEN", "<persisted-output>\nOutput too large", well, "a?"),
            ("(a || echo BROKEN) 2>&1 | grep error | head", "error: x", well, "a?"),
            ("(a || echo BROKEN) > log 2>&1; wc -l log", "3 log", well, "a?"),
            ("a || echo BROKEN; b || echo BROKEN", "x\nBROKEN", well, "a? b?"),
            ("a || echo BROKEN; b || echo BROKEN", "BROKEN\nBROKEN", well, "a- b-"),
            ("a || echo BROKEN; b || echo BROKEN", "x", well, "a+ b+"),
            ("tar czf a.tgz /srv && a; b", "tar: Removing leading `/' from member names", well, "a? b+"),
        ]);
        let long = format!("{}failed: 2", "x\n".repeat(5_000));
        check(&[("a || echo \"failed: $?\"", &long, well, "a-")]);
    }

    #[test]
    fn a_line_that_says_more_is_understood() {
        let well = Some(true);
        check(&[
            ("set -e; a; b", "", well, "a+ b+"),
            ("set -euo pipefail\na | tail -5\nb", "", well, "a+ b+"),
            ("set -o pipefail; a | tee log", "", well, "a+"),
            ("a || exit 1; b", "", well, "a+ b+"),
            ("a | tail; echo \"exit: ${PIPESTATUS[0]}\"", "x\nexit: 101", well, "a-"),
            ("a > log 2>&1; echo exit=$?; tail log", "exit=0\nok", well, "a+"),
            ("a; rc=$?; b; exit $rc", "", well, "a+ b?"),
            ("a | tee l; exit ${PIPESTATUS[0]}", "", well, "a+"),
            ("a && echo PASS || echo FAIL", "x\nFAIL", well, "a-"),
            ("a && echo PASS || echo FAIL", "PASS", well, "a+"),
            ("if a; then echo good; else echo bad; fi", "bad", well, "a-"),
            ("if ! a; then echo broken; exit 1; fi; b", "fine", well, "a+ b+"),
            ("out=$(a)", "", well, "a+"),
            ("out=$(a) && b \"$out\"", "", well, "a+ b+"),
            ("bash -ec 'a; b'", "", well, "a? b+"),
        ]);
    }

    #[test]
    fn of_a_line_that_failed_what_may_have_is_known() {
        let badly = Some(false);
        check(&[
            ("a", "", badly, "a-"),
            ("a; b", "", badly, "a? b-"),
            ("a && b", "", badly, "a? b~"),
            ("cd x && a", "", badly, "a-"),
            ("cd x && a", "bash: line 1: cd: x: No such file or directory", badly, "a0"),
            ("a || b", "", badly, "a- b-"),
            ("a | tail -5", "", badly, "a-"),
            ("a | grep -c x", "", badly, "a?"),
            ("set -e; a; b", "", badly, "a? b~"),
            ("a || { echo broken; exit 1; }; b", "broken", badly, "a- b0"),
        ]);
        check(&[("a; b", "", None, "a? b?"), ("a && b", "", None, "a? b~")]);
        let commands = shell::commands("a; b && c");
        let suspects: Vec<bool> =
            endings("a; b && c", &commands, "", badly).iter().map(|found| found.is_suspect).collect();
        assert_eq!(suspects, [false, true, true]);
    }

    #[test]
    fn what_was_run_only_where_another_failed_cannot_have_failed_unseen() {
        for (script, expected) in [
            ("test -f x || a", [false]),
            ("[ -d x ] || { cd y; a; }", [false]),
            ("if [ -f x ]; then a; fi", [false]),
            ("if [ -f x ]; then a; fi | tail", [true]),
            ("while read x; do a $x; done", [true]),
            ("a || true", [true]),
            ("a && b", [false]),
        ] {
            let commands = shell::commands(script);
            let found = endings(script, &commands, "", Some(true));
            let mut of_a = commands.iter().zip(found).filter(|(command, _)| command.program() == "a");
            assert_eq!(of_a.next().map(|(_, found)| [found.may_have_failed]), Some(expected), "{script}");
        }
    }
}
