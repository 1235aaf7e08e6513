//! A repository that sessions and their user write, with the truth about every line: made from a seed, so that every run is
//! the same.
//!
//! Code has few words and many brackets, as real code: the same line is at many places, by many hands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// 1 September 2026, in milliseconds since 1970.
const BEGIN: u64 = 1_788_220_800_000;
/// Between two steps.
const STEP: u64 = 20 * 60 * 1_000;

/// How much is kept of a long text, and when it is cut: as hooks do.
const CUT_OVER: usize = 16 * 1024;
const HEAD: usize = 10 * 1024;
const TAIL: usize = 4 * 1024;

/// The longest line before a formatter breaks it, in characters.
const WIDTH: usize = 60;

const WORDS: [&str; 48] = [
    "order",
    "price",
    "label",
    "parcel",
    "route",
    "token",
    "cache",
    "retry",
    "queue",
    "batch",
    "carrier",
    "customer",
    "address",
    "invoice",
    "refund",
    "stock",
    "import",
    "export",
    "signal",
    "status",
    "weight",
    "region",
    "depot",
    "driver",
    "account",
    "barcode",
    "contract",
    "delivery",
    "envelope",
    "freight",
    "gateway",
    "holiday",
    "index",
    "journey",
    "ledger",
    "manifest",
    "notice",
    "offer",
    "pallet",
    "quota",
    "receipt",
    "schedule",
    "tariff",
    "upload",
    "vehicle",
    "warehouse",
    "window",
    "zone",
];
const VERBS: [&str; 10] =
    ["load", "store", "check", "merge", "split", "count", "find", "send", "parse", "close"];

/// A line with the prompt that asked for it; `None` for the user's own.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) prompt: Option<String>,
}

/// A source of numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    fn verb(&mut self) -> &'static str {
        VERBS[self.below(VERBS.len())]
    }
}

/// How a session moves code to another file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    CutAndPaste,
    PasteAndCut,
    InTwoPrompts,
    SplitAndRemove,
    RenameAndEdit,
}

pub(super) struct World {
    root: PathBuf,
    dice: Dice,
    now: u64,
    files: BTreeMap<String, Vec<Line>>,
    spool: Vec<Value>,
    calls: u64,
    /// The session and prompt that is at work.
    session: (String, String),
    made: u32,
    /// Whether sessions move code from file to file.
    pub(super) moves_code: bool,
}

impl World {
    /// Makes an empty repository.
    pub(super) fn new(root: &Path, seed: u64) -> Self {
        let world = Self {
            root: root.to_owned(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            now: BEGIN,
            files: BTreeMap::new(),
            spool: Vec::new(),
            calls: 0,
            session: Default::default(),
            made: 0,
            moves_code: false,
        };
        world.git(&["init", "--quiet", "--initial-branch", "main"]);
        for (name, value) in
            [("user.name", "Ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")]
        {
            world.git(&["config", name, value]);
        }
        world
    }

    /// Returns the files as they are now.
    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &Vec<Line>)> {
        self.files.iter()
    }

    /// Returns a telling line of a session.
    pub(super) fn line_of_session(&self) -> Option<(&str, usize, &Line)> {
        self.lines().find(|(.., line)| line.prompt.is_some() && line.text.starts_with("fn "))
    }

    /// Returns a telling line of the user.
    pub(super) fn line_of_user(&self) -> Option<(&str, usize)> {
        let own = self.lines().find(|(.., line)| line.prompt.is_none() && line.text.starts_with("fn "));
        own.map(|(path, number, _)| (path, number))
    }

    fn lines(&self) -> impl Iterator<Item = (&str, usize, &Line)> {
        self.files.iter().flat_map(|(path, lines)| {
            lines.iter().enumerate().map(move |(number, line)| (path.as_str(), number, line))
        })
    }

    /// Returns the recorded observations.
    pub(super) fn spool(&self) -> String {
        self.spool.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Lets sessions work, with the user between them.
    pub(super) fn run(&mut self, sessions: usize) {
        for name in ["src/orders.rs", "src/routes.rs", "src/labels.rs"] {
            let mut lines = Vec::new();
            for _ in 0..4 {
                lines.extend(self.function());
            }
            self.files.insert(name.to_owned(), lines);
        }
        self.commit("Start");
        for number in 0..sessions {
            self.begin_session(number);
            for _ in 0..=self.dice.below(3) {
                self.session_step();
            }
            self.session = Default::default();
            if self.dice.below(2) == 0 {
                self.commit(&format!("Work of session {number}"));
            }
            for _ in 0..self.dice.below(3) {
                self.user_step();
            }
        }
        self.check_disk();
    }

    /// Lets sessions and the user write one file until it has this many lines.
    pub(super) fn grow(&mut self, path: &str, lines: usize) {
        let first = self.function();
        self.files.insert(path.to_owned(), first);
        let mut number = 0;
        while self.files[path].len() < lines {
            self.begin_session(number);
            self.add_function();
            self.change_lines();
            self.session = Default::default();
            self.commit(&format!("Work of session {number}"));
            if number % 5 == 0 {
                self.change_lines();
                self.add_function();
                self.commit("Own work");
            }
            number += 1;
        }
        self.check_disk();
    }

    /// Has a first session write a file, and a third move functions of it to another one, which a second wrote. Returns where
    /// they are, and the prompts of the first and the third.
    pub(super) fn write_and_move(&mut self, way: Way) -> (String, String, String) {
        let names = ["src/orders.rs", "src/routes.rs"];
        let mut prompts = Vec::new();
        for (number, name) in names.iter().enumerate() {
            self.begin_session(number);
            prompts.push(self.session.1.clone());
            let lines = (0..5).flat_map(|_| self.function()).collect();
            self.files.insert((*name).to_owned(), lines);
            self.record_write(name);
            self.commit(&format!("Write {name}"));
        }
        self.begin_session(2);
        let mover = self.session.1.clone();
        let [from, to] = names;
        let functions = self.functions(from);
        let (begin, end) = (functions[1].0, functions[2].1);
        let lines = self.files[from][begin..end].to_vec();
        let behind = self.functions(to)[2].0;
        let place = match way {
            Way::CutAndPaste => {
                self.put(from, begin, end, Vec::new());
                self.put(to, behind, behind, lines);
                to
            }
            Way::PasteAndCut => {
                self.put(to, behind, behind, lines);
                self.put(from, begin, end, Vec::new());
                to
            }
            Way::InTwoPrompts => {
                self.put(from, begin, end, Vec::new());
                self.observe(
                    "prompt",
                    json!({"text": "go on", "permission_mode": "default", "branch": "main"}),
                );
                self.put(to, behind, behind, lines);
                to
            }
            Way::SplitAndRemove => {
                self.files.insert("src/orders/rest.rs".to_owned(), lines);
                self.record_write("src/orders/rest.rs");
                self.files.remove(from);
                fs::remove_file(self.root.join(from)).unwrap();
                self.call("Bash", json!({"command": "git rm -q src/orders.rs"}), json!({"stdout": ""}));
                "src/orders/rest.rs"
            }
            Way::RenameAndEdit => {
                self.git(&["mv", from, "src/parcels.rs"]);
                let lines = self.files.remove(from).unwrap();
                self.files.insert("src/parcels.rs".to_owned(), lines);
                let command = format!("git mv {from} src/parcels.rs");
                self.call("Bash", json!({"command": command}), json!({"stdout": ""}));
                let new = self.statement(4);
                self.put("src/parcels.rs", begin + 1, begin + 2, new);
                "src/parcels.rs"
            }
        };
        self.session = Default::default();
        self.check_disk();
        let [writer, _] = <[String; 2]>::try_from(prompts).unwrap();
        (place.to_owned(), writer, mover)
    }

    fn begin_session(&mut self, number: usize) {
        let prompt = format!("Prompt {number}: please {} the {}", self.dice.verb(), self.dice.word());
        self.session = (format!("session-{number:04}"), prompt.clone());
        self.observe("prompt", json!({"text": prompt, "permission_mode": "default", "branch": "main"}));
    }

    fn observe(&mut self, kind: &str, data: Value) {
        self.now += STEP / 20;
        self.calls += 1;
        let id = if kind == "prompt" { format!("p:{}", self.calls) } else { format!("t:{}", self.calls) };
        self.spool.push(json!({
            "v": 2, "kind": kind, "id": id, "ts": self.now, "session": self.session.0, "platform": "claude-code",
            "cwd": self.root, "data": data,
        }));
    }

    fn call(&mut self, tool: &str, input: Value, output: Value) {
        self.observe("tool", json!({"tool": tool, "input": input, "output": output}));
    }

    fn session_step(&mut self) {
        match self.dice.below(if self.moves_code { 28 } else { 24 }) {
            0 => self.write_file(),
            1 => self.rename(true),
            2 => self.move_function(),
            3 => self.remove_function(),
            4 => self.indent_function(),
            24..=25 => self.move_to_other_file(),
            26 => self.split_file(),
            27 => {
                self.rename(true);
                self.change_lines();
            }
            5..=11 => self.add_function(),
            _ => self.change_lines(),
        }
    }

    fn user_step(&mut self) {
        self.now += STEP;
        match self.dice.below(16) {
            0 => self.rename(false),
            1 => self.move_function(),
            2 => self.remove_function(),
            3 => self.format(),
            4 => self.rebase(),
            5 => self.squash(),
            6 => self.move_to_other_file(),
            7..=10 => self.add_function(),
            _ => self.change_lines(),
        }
        if self.dice.below(3) > 0 {
            self.commit("Own work");
        }
    }

    // What is written.

    fn line(&self, text: impl Into<String>) -> Line {
        let prompt = (!self.session.1.is_empty()).then(|| self.session.1.clone());
        Line { text: text.into(), prompt }
    }

    /// Makes a statement; many are the same as others.
    fn statement(&mut self, indent: usize) -> Vec<Line> {
        let (one, two, verb) = (self.dice.word(), self.dice.word(), self.dice.verb());
        let room = " ".repeat(indent);
        let texts = match self.dice.below(9) {
            0 => vec![format!("{room}let {one} = {verb}_{two}({one});")],
            1 => vec![
                format!("{room}if {one}.is_empty() {{"),
                format!("{room}    return None;"),
                format!("{room}}}"),
            ],
            2 => vec![
                format!("{room}for item in &{one}s {{"),
                format!("{room}    total += item.{two}();"),
                format!("{room}}}"),
            ],
            3 => vec![format!("{room}log::info!(\"{verb} the {one} of {two}\");")],
            4 => vec![String::new(), format!("{room}// The {one} comes before the {two}, see the notes.")],
            5 => vec![
                format!("{room}match {one}.{verb}() {{"),
                format!("{room}    Ok({one}) => {one}.finish(),"),
                format!("{room}    Err(error) => return Err(error),"),
                format!("{room}}}"),
            ],
            6 => vec![format!(
                "{room}let answer = self.{verb}_{one}({two}, {one}.{verb}(), options.{two}_limit);"
            )],
            7 => vec![format!("{room}{one}.{verb}({two});")],
            _ => vec![format!("{room}return Err(error);")],
        };
        texts.into_iter().map(|text| self.line(text)).collect()
    }

    fn function(&mut self) -> Vec<Line> {
        self.made += 1;
        let (verb, one) = (self.dice.verb(), self.dice.word());
        // Some names are used again in other files.
        let name = match self.dice.below(4) {
            0 => format!("{verb}_{one}"),
            _ => format!("{verb}_{one}_{}", self.made),
        };
        let mut lines = vec![self.line(format!("fn {name}({one}: &str) -> Result<Option<u64>, Error> {{"))];
        for _ in 0..2 + self.dice.below(6) {
            lines.extend(self.statement(4));
        }
        let close = ["    Ok(None)", "}", ""].map(|text| self.line(text));
        lines.extend(close);
        lines
    }

    // Where it is written.

    fn some_file(&mut self) -> String {
        let at = self.dice.below(self.files.len());
        self.files.keys().nth(at).unwrap().clone()
    }

    /// Returns where functions begin and end in a file.
    fn functions(&self, path: &str) -> Vec<(usize, usize)> {
        let lines = &self.files[path];
        let begins = |at: &usize| lines[*at].text.starts_with("fn ");
        let mut found = Vec::new();
        for begin in (0..lines.len()).filter(begins) {
            if let Some(end) = (begin..lines.len()).find(|at| lines[*at].text == "}") {
                let blank = lines.get(end + 1).is_some_and(|line| line.text.is_empty());
                found.push((begin, end + 1 + usize::from(blank)));
            }
        }
        found
    }

    fn some_function(&mut self) -> Option<(String, usize, usize)> {
        let path = self.some_file();
        let functions = self.functions(&path);
        let (from, to) = *functions.get(self.dice.below(functions.len()))?;
        Some((path, from, to))
    }

    /// Puts lines in the place of others; a session's call is recorded.
    fn put(&mut self, path: &str, from: usize, to: usize, new: Vec<Line>) {
        let lines = self.files.get_mut(path).unwrap();
        let texts = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<String>>();
        let before = texts(&lines[from.saturating_sub(3)..from]);
        let after = texts(&lines[to..(to + 3).min(lines.len())]);
        let (old, added) = (texts(&lines[from..to]), texts(&new));
        lines.splice(from..to, new);
        self.save(path);
        if self.session.0.is_empty() {
            return;
        }
        let file = self.root.join(path);
        let around = |middle: &[String]| {
            let lines = before.last().into_iter().chain(middle).chain(after.first());
            lines.cloned().collect::<Vec<_>>().join("\n")
        };
        let input = json!({"file_path": file, "old_string": around(&old), "new_string": around(&added)});
        let output = match self.dice.below(4) {
            // Some agents tell no patch.
            0 => json!({"filePath": file}),
            _ => {
                let signed = |sign: &str, lines: &[String]| {
                    lines.iter().map(|line| format!("{sign}{line}")).collect::<Vec<String>>()
                };
                let lines =
                    [signed(" ", &before), signed("-", &old), signed("+", &added), signed(" ", &after)]
                        .concat();
                json!({"filePath": file, "structuredPatch": [{"oldStart": from + 1, "newStart": from + 1, "lines": lines}]})
            }
        };
        self.call("Edit", input, output);
    }

    fn save(&self, path: &str) {
        let text: String = self.files[path].iter().map(|line| format!("{}\n", line.text)).collect();
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    // What is done.

    fn add_function(&mut self) {
        let function = self.function();
        if let Some((path, from, _)) = self.some_function() {
            self.put(&path, from, from, function);
        }
    }

    fn remove_function(&mut self) {
        let Some((path, from, to)) = self.some_function() else { return };
        if self.functions(&path).len() > 3 {
            self.put(&path, from, to, Vec::new());
        }
    }

    fn change_lines(&mut self) {
        let Some((path, from, to)) = self.some_function() else { return };
        if to - from < 6 {
            return;
        }
        let at = from + 1 + self.dice.below(to - from - 5);
        let old = 1 + self.dice.below(2);
        let is_bracket = |line: &Line| line.text.trim_end().ends_with(['{', '}']) || line.text.is_empty();
        if self.files[&path][at..at + old].iter().any(is_bracket) {
            return;
        }
        let new = self.statement(4);
        self.put(&path, at, at + old, new);
    }

    /// Takes a function out and puts it elsewhere in the file: its lines stay with those who wrote them.
    fn move_function(&mut self) {
        let Some((path, from, to)) = self.some_function() else { return };
        let lines = self.files[&path][from..to].to_vec();
        self.put(&path, from, to, Vec::new());
        let functions = self.functions(&path);
        let Some((begin, _)) = functions.get(self.dice.below(functions.len())).copied() else {
            return self.put(&path, from, from, lines);
        };
        self.put(&path, begin, begin, lines);
    }

    /// Moves a function to another file.
    fn move_to_other_file(&mut self) {
        let Some((path, from, to)) = self.some_function() else { return };
        let Some((other, begin, _)) = self.some_function() else { return };
        if other == path || self.functions(&path).len() < 3 {
            return;
        }
        let lines = self.files[&path][from..to].to_vec();
        self.put(&path, from, to, Vec::new());
        self.put(&other, begin, begin, lines);
    }

    /// Writes the functions of a file into two new ones: the old one is removed, or keeps the first half.
    fn split_file(&mut self) {
        let path = self.some_file();
        let functions = self.functions(&path);
        let Some((middle, _)) = functions.get(functions.len() / 2).copied().filter(|_| functions.len() > 3)
        else {
            return;
        };
        let lines = self.files[&path].clone();
        let stays = self.dice.below(2) == 0;
        let first = (!stays).then_some((0, middle));
        for (from, to) in first.into_iter().chain([(middle, lines.len())]) {
            let new = format!("src/{}_{}_{}.rs", self.dice.word(), self.calls, from);
            self.files.insert(new.clone(), lines[from..to].to_vec());
            self.record_write(&new);
        }
        if stays {
            return self.put(&path, middle, lines.len(), Vec::new());
        }
        self.files.remove(&path);
        fs::remove_file(self.root.join(&path)).unwrap();
        self.call("Bash", json!({"command": format!("rm {path}")}), json!({"stdout": ""}));
    }

    /// Puts a condition around the body of a function: the lines in it are only indented.
    fn indent_function(&mut self) {
        let Some((path, from, to)) = self.some_function() else { return };
        if to - from < 6 {
            return;
        }
        let word = self.dice.word();
        let body = self.files[&path][from + 1..to - 3].to_vec();
        let indented = |line: Line| match line.text.is_empty() {
            true => line,
            false => Line { text: format!("    {}", line.text), ..line },
        };
        let mut new = vec![self.line(format!("    if self.is_{word}_ready() {{"))];
        new.extend(body.into_iter().map(indented));
        new.push(self.line("    }"));
        self.put(&path, from + 1, to - 3, new);
    }

    /// A session writes a whole file; a long one is not recorded whole.
    fn write_file(&mut self) {
        let path = format!("src/{}_{}.rs", self.dice.word(), self.calls);
        let mut lines = Vec::new();
        let count = if self.dice.below(12) == 0 { 70 } else { 4 };
        for _ in 0..count {
            lines.extend(self.function());
        }
        self.files.insert(path.clone(), lines);
        self.record_write(&path);
    }

    /// Records that a session wrote a whole file.
    fn record_write(&mut self, path: &str) {
        self.save(path);
        let content = fs::read_to_string(self.root.join(path)).unwrap();
        let recorded = match content.len() > CUT_OVER {
            true => format!(
                "{} …[cut: {} bytes, xxh3 0123456789abcdef]… {}",
                &content[..HEAD],
                content.len(),
                &content[content.len() - TAIL..]
            ),
            false => content,
        };
        let file = self.root.join(path);
        let input = json!({"file_path": file, "content": recorded});
        self.call("Write", input, json!({"type": "create", "filePath": file, "structuredPatch": []}));
    }

    fn rename(&mut self, is_session: bool) {
        // What git does not know yet it cannot rename.
        self.commit("Before a rename");
        let old = self.some_file();
        let mut new = format!("src/{}_{}.rs", self.dice.word(), self.calls);
        while self.files.contains_key(&new) {
            new = new.replace(".rs", "_again.rs");
        }
        self.git(&["mv", &old, &new]);
        let lines = self.files.remove(&old).unwrap();
        self.files.insert(new.clone(), lines);
        if is_session {
            let command = format!("git mv {old} {new} && cargo check");
            self.call("Bash", json!({"command": command}), json!({"stdout": ""}));
        }
        if self.dice.below(2) == 0 {
            self.commit("Rename a file");
        }
    }

    /// Breaks long lines at their arguments and indents by two or four spaces, in one file.
    fn format(&mut self) {
        let path = self.some_file();
        let mut formatted = Vec::new();
        for line in self.files[&path].clone() {
            let room = line.text.len() - line.text.trim_start().len();
            let call =
                line.text.split_once('(').filter(|_| line.text.len() > WIDTH && line.text.ends_with(");"));
            let Some((head, rest)) = call else {
                formatted.push(line);
                continue;
            };
            let room = " ".repeat(room);
            let mut push = |text: String| formatted.push(Line { text, prompt: line.prompt.clone() });
            push(format!("{head}("));
            for argument in rest.trim_end_matches(");").split(", ") {
                push(format!("{room}    {argument},"));
            }
            push(format!("{room});"));
        }
        let is_narrow =
            formatted.iter().any(|line| line.text.starts_with("  ") && !line.text.starts_with("    "));
        for line in &mut formatted {
            let room = line.text.len() - line.text.trim_start().len();
            let new = if is_narrow { room * 2 } else { room / 2 };
            line.text = format!("{}{}", " ".repeat(new), line.text.trim_start());
        }
        self.files.insert(path.clone(), formatted);
        self.save(&path);
        self.commit("Format");
    }

    // What git does.

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let date = format!("{} +0000", self.now / 1_000);
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.root)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {text}");
        text
    }

    fn commit(&mut self, message: &str) {
        self.now += STEP / 20;
        let paths: Vec<String> = self.files.keys().cloned().collect();
        paths.iter().for_each(|path| self.save(path));
        self.git(&["add", "--all"]);
        if !self.git(&["status", "--porcelain"]).is_empty() {
            self.git(&["commit", "--quiet", "--message", message]);
        }
    }

    /// Gives the last commits other ids: they are put on top of a commit that was not there.
    fn rebase(&mut self) {
        self.commit("Before a rebase");
        let count: usize = self.git(&["rev-list", "--count", "HEAD"]).trim().parse().unwrap();
        let back = format!("HEAD~{}", count.saturating_sub(1).min(6));
        self.git(&["checkout", "--quiet", "-b", "side", &back]);
        fs::write(self.root.join("NOTES.md"), format!("{}\n", self.now)).unwrap();
        self.git(&["add", "NOTES.md"]);
        let is_changed = !self.git(&["status", "--porcelain"]).is_empty();
        if is_changed {
            self.git(&["commit", "--quiet", "--message", "Notes"]);
        }
        self.now += STEP;
        self.git(&["rebase", "--quiet", "-X", "theirs", "side", "main"]);
        self.git(&["branch", "--quiet", "-D", "side"]);
    }

    /// Makes one commit of the last ones.
    fn squash(&mut self) {
        self.commit("Before a squash");
        let count: usize = self.git(&["rev-list", "--count", "HEAD"]).trim().parse().unwrap();
        self.git(&["reset", "--quiet", "--soft", &format!("HEAD~{}", count.saturating_sub(1).min(5))]);
        self.now += STEP;
        self.git(&["commit", "--quiet", "--message", "Several things"]);
    }

    /// The files on disk are what the truth is about.
    fn check_disk(&self) {
        for (path, lines) in &self.files {
            let text = fs::read_to_string(self.root.join(path)).unwrap();
            assert!(text.lines().eq(lines.iter().map(|line| line.text.as_str())), "{path}");
        }
    }
}
