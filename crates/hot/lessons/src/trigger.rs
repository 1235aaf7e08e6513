//! Whether a lesson applies to a call: the last word, after the index has said which lessons are worth asking.

use crate::allowance::Allowance;
use crate::call::Call;
use crate::condition::{self, Item, Subject, Targets};
use crate::index::{self, Entry};
use crate::limits;
use crate::path_class::Place;
use crate::path_glob;
use crate::pattern::{self, Argument, Arguments, CommandPattern};
use crate::sql;
use memchr::memmem;
use regex_lite::Regex;
use std::cell::OnceCell;

/// A simple command, as patterns see it. What only few commands need is made when it is first asked for.
#[derive(Debug)]
pub struct Simple<'a> {
    /// The program's base name; empty for a redirection without a command.
    pub program: &'a str,
    command: &'a shell::Command,
    /// Apart, so that a script of thousands of commands takes few pages.
    seen: OnceCell<Box<Seen<'a>>>,
}

/// What is made of a command when it is looked at closely.
#[derive(Debug, Default)]
struct Seen<'a> {
    arguments: OnceCell<Arguments<'a>>,
    text: OnceCell<String>,
    statements: OnceCell<Vec<String>>,
}

impl<'a> Simple<'a> {
    /// Returns the simple commands of what a shell would run.
    pub fn all(commands: &'a [shell::Command]) -> Vec<Self> {
        // What follows an image may be its command or an argument to its own: the line does not tell.
        let is_known = |command: &&shell::Command| {
            !command.wrappers.iter().any(|wrapper| {
                wrapper.ends_with(" run") && IMAGES.iter().any(|program| wrapper.starts_with(program))
            })
        };
        commands.iter().filter(is_known).map(Self::of).collect()
    }

    fn of(command: &'a shell::Command) -> Self {
        Self { program: command.program(), command, seen: OnceCell::new() }
    }

    fn seen(&self) -> &Seen<'a> {
        self.seen.get_or_init(Box::default)
    }

    /// Returns what follows the program.
    fn all_arguments(&self) -> impl Iterator<Item = Argument<'a>> {
        // `xargs` and the like: the arguments cannot be seen here.
        let is_unseen = |wrapper: &&str| ["xargs", "parallel", "fd", "fdfind"].contains(wrapper);
        let unseen = Argument { text: "{}", is_prose: false, is_quoted: false, is_dynamic: false };
        let unseen = self.command.wrappers.iter().any(is_unseen).then_some(unseen);
        self.command.words.iter().skip(1).map(Argument::of).chain(unseen)
    }

    pub(crate) fn arguments(&self) -> &Arguments<'a> {
        self.seen().arguments.get_or_init(|| Arguments::new(self.program, self.all_arguments().collect()))
    }

    /// Returns the first word that is no flag.
    pub(crate) fn first_word(&self) -> Option<&'a str> {
        pattern::first_word(self.program, self.all_arguments())
    }

    /// Returns all of it as one text, prose masked.
    pub fn text(&self) -> &str {
        self.seen().text.get_or_init(|| self.command.text())
    }

    /// Adds the same text to another.
    pub(crate) fn write_text(&self, text: &mut String) {
        self.command.write_text(text);
    }

    /// Returns the SQL statements that it hands to a database client.
    pub(crate) fn statements(&self) -> &[String] {
        self.seen().statements.get_or_init(|| {
            let all: Vec<Argument<'_>> = self.all_arguments().collect();
            sql::statements(self.command, &all, self.arguments().words())
        })
    }

    /// Returns the files that its output is redirected to.
    pub(crate) fn written_files(&self) -> impl Iterator<Item = Argument<'a>> + use<'a> {
        condition::written_files(self.command)
    }

    /// Returns where it runs.
    pub(crate) fn place<'p>(&'p self, call: &'p Call<'_>) -> Place<'p> {
        Place { folders: &call.folders, moved_to: self.command.folder.as_deref() }
    }

    /// Says whether its output goes to one of these programs: by a pipe, as code that an interpreter runs, or as an
    /// argument of what is no interpreter.
    fn is_handed_to(&self, programs: &[&str], commands: &[Simple<'_>]) -> bool {
        let is_meant = |program: &str| programs.iter().any(|pattern| pattern::fits_word(pattern, program));
        let is_argument = |program: &String| is_meant(program) && interpreter(program).is_none();
        if self.command.feeds.as_deref().is_some_and(is_meant)
            || self.command.substituted_into.as_ref().is_some_and(is_argument)
        {
            return true;
        }
        // Most commands are: looking at all others for each of them would make a long script slow.
        if self.command.is_last {
            return false;
        }
        commands.iter().any(|other| {
            other.command.pipeline == self.command.pipeline
                && other.command.place > self.command.place
                && is_meant(other.program)
                && other.reads_its_input()
        })
    }
}

/// Programs whose `run` takes an image.
const IMAGES: [&str; 2] = ["docker", "podman"];

/// What runs programs that it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interpreter {
    Shell,
    Language,
}

fn interpreter(program: &str) -> Option<Interpreter> {
    let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    match name {
        "bash" | "dash" | "ksh" | "sh" | "zsh" | "ash" | "fish" => Some(Interpreter::Shell),
        "python" | "pypy" | "node" | "nodejs" | "perl" | "ruby" | "php" | "lua" | "deno" | "bun" => {
            Some(Interpreter::Language)
        }
        _ => None,
    }
}

impl Simple<'_> {
    /// Says whether the command works on what is piped into it: an interpreter that is given a script or a string does
    /// not.
    fn reads_its_input(&self) -> bool {
        let Some(interpreter) = interpreter(self.program) else { return true };
        let mut words = self.command.words.iter().skip(1).map(|word| word.text.as_str());
        let is_input = |word: &str| matches!(word, "-" | "/dev/stdin" | "-s");
        let is_script = |word: &str| match word.strip_prefix('-') {
            None => true,
            Some(letters) if interpreter == Interpreter::Shell => letters == "c",
            // `-c`, `-e`, `-pe`, `-ne`, `-r`, `-m`, `--eval`.
            Some(letters) => {
                let is_bundle = letters.len() <= 4 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
                letters.starts_with("-eval")
                    || letters.starts_with("-print")
                    || (is_bundle && letters.contains(['c', 'e', 'E', 'r', 'm', 'n', 'p']))
            }
        };
        words.clone().any(is_input) || !words.any(is_script)
    }
}

/// Whether a lesson applies, and why or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It applies.
    Applies {
        /// The pattern that decided.
        by: String,
    },
    /// It is about something like this call, but not this one.
    Nearly {
        /// What kept it from applying.
        because: String,
    },
    /// It is about something else.
    Unrelated,
}

impl Entry<'_> {
    /// Judges a call.
    pub fn judge(&self, call: &Call<'_>, commands: &[Simple<'_>]) -> Verdict {
        self.judge_within(call, commands, &Allowance::unlimited())
    }

    /// Judges a call within the time that is left; when that is up, the lesson is about something else.
    pub fn judge_within(&self, call: &Call<'_>, commands: &[Simple<'_>], time: &Allowance) -> Verdict {
        if !self.is_for_tool(&call.tool) {
            return Verdict::Unrelated;
        }
        if call.is_shell() && self.is_about_shell() {
            return self.judge_shell(call, first_of(commands, time), time);
        }
        if !(self.paths.is_empty() && self.content.is_empty() && self.inputs.is_empty()) {
            return self.judge_fields(call, time);
        }
        if !self.is_about_shell() && !self.tools.is_empty() {
            return Verdict::Applies { by: format!("the tool {}", call.tool) };
        }
        Verdict::Unrelated
    }

    fn is_about_shell(&self) -> bool {
        !self.raw.is_empty() || self.is_about_commands()
    }

    fn is_about_commands(&self) -> bool {
        let fields = [&self.commands, &self.matches, &self.writes, &self.sql];
        fields.iter().any(|field| !field.is_empty())
    }

    fn is_for_tool(&self, tool: &str) -> bool {
        let fits = |wanted: &&str| match wanted.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None => *wanted == tool || (*wanted == "Task" && tool == "Agent"),
        };
        if self.tools.is_empty() {
            return !self.is_about_shell()
                || tool == "Bash"
                || !self.paths.is_empty()
                || !self.content.is_empty();
        }
        self.tools.iter().any(fits)
    }

    fn judge_shell(&self, call: &Call<'_>, commands: &[Simple<'_>], time: &Allowance) -> Verdict {
        let raw = call.command.as_deref().unwrap_or_default();
        let lower = OnceCell::new();
        let find_raw = || {
            let lower = || &**lower.get_or_init(|| raw.to_ascii_lowercase());
            let mut expressions = self.raw.iter().enumerate();
            let found = |(place, expression): &(usize, &&str)| {
                is_in(expression, self.needed_by(*place), raw, lower, time)
            };
            expressions.find(found).map(|(_, expression)| expression)
        };
        if !self.is_about_commands() {
            return match find_raw() {
                Some(expression) => Verdict::Applies { by: (*expression).to_owned() },
                None => Verdict::Unrelated,
            };
        }
        // Patterns are quick, expressions over a whole line are not.
        let by_raw = OnceCell::new();
        let fits_raw = || self.raw.is_empty() || by_raw.get_or_init(find_raw).is_some();
        // Reading a pattern takes memory, and most of a lesson's are about programs that are not there.
        let programs = Initials::of_programs(commands);
        let patterns: Vec<(&str, CommandPattern)> = self
            .commands
            .iter()
            .filter(|pattern| {
                pattern::initials(pattern).is_none_or(|mut bytes| bytes.any(|byte| programs.has(byte)))
            })
            .filter_map(|pattern| Some((*pattern, CommandPattern::parse(pattern).ok()?)))
            .collect();
        if patterns.is_empty() && !self.commands.is_empty() {
            return Verdict::Unrelated;
        }
        let writes: Vec<Targets> =
            self.writes.iter().filter_map(|targets| Targets::parse(targets).ok()).collect();
        let (matches, sql, conditions) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        // Words are put together at the end: a long script has very many commands that a lesson is nearly about.
        let mut kept_by = None;
        let initials = Initials::of(&patterns);
        for simple in commands {
            if time.is_spent_by_a_step() {
                break;
            }
            if !initials.have(simple.program) {
                continue;
            }
            let place = simple.place(call);
            let mut by = None;
            if !self.commands.is_empty() {
                let fits = |(_, pattern): &&(&str, CommandPattern)| {
                    pattern.is_for(simple.program)
                        && !time.is_spent_by_a_step()
                        && pattern.fits(simple.arguments(), place)
                };
                let Some(pattern) = patterns.iter().find(fits) else { continue };
                by = Some(Decision::Pattern(pattern));
            }
            // Conditions are quicker than expressions, which decide only whether the call is worth a word then.
            let is_cheap = self.matches.is_empty() && self.raw.is_empty();
            if !is_cheap && !self.commands.is_empty() {
                let conditions = conditions.get_or_init(|| Conditions::of(self));
                if self.what_keeps_from(simple, commands, call, conditions).is_some() {
                    continue;
                }
            }
            if !self.matches.is_empty() {
                let matches = matches.get_or_init(|| compile(&self.matches, time));
                let found = matches.iter().find(|(source, expression)| {
                    let is_asked = !time.is_spent() && !simple.program.is_empty();
                    is_asked && expression.is_match(within(simple.text(), source, time))
                });
                let Some((expression, _)) = found else { continue };
                by = by.or(Some(Decision::Expression(expression)));
            }
            // From here on it is about something like this command: what fails now is worth a word.
            if !self.writes.is_empty() {
                let fits = |file: &Argument<'_>| writes.iter().any(|targets| targets.fit(file, place));
                match simple.written_files().find(|file| fits(file)) {
                    Some(file) => by = by.or(Some(Decision::Output(file.text))),
                    None => {
                        kept_by = by.map(|_| KeptBy::Output).or(kept_by);
                        continue;
                    }
                }
            }
            if !self.sql.is_empty() {
                let statements = simple.statements();
                let sql = sql.get_or_init(|| compile(&self.sql, time));
                let is_in = |source: &str, expression: &Regex| {
                    let is_match = |text: &String| expression.is_match(within(text, source, time));
                    statements.iter().any(|text| !time.is_spent() && is_match(text))
                };
                match sql.iter().find(|(source, expression)| is_in(source, expression)) {
                    Some((expression, _)) => by = by.or(Some(Decision::Sql(expression))),
                    None if !statements.is_empty() => {
                        kept_by = Some(KeptBy::Statements);
                        continue;
                    }
                    None => {
                        kept_by = by.map(|_| KeptBy::NoSql).or(kept_by);
                        continue;
                    }
                }
            }
            let conditions = conditions.get_or_init(|| Conditions::of(self));
            match self.what_keeps_from(simple, commands, call, conditions) {
                // What is about the whole line fails for every command of it.
                None if !fits_raw() => return Verdict::Unrelated,
                None => {
                    let by = by.map_or_else(String::new, |by| by.text(simple, place));
                    return Verdict::Applies { by };
                }
                Some(kept) if is_cheap => kept_by = Some(kept),
                Some(_) => {}
            }
        }
        match kept_by {
            Some(kept_by) => Verdict::Nearly { because: kept_by.text(self) },
            None => Verdict::Unrelated,
        }
    }

    fn what_keeps_from<'e>(
        &self,
        simple: &Simple<'_>,
        commands: &[Simple<'_>],
        call: &Call<'_>,
        conditions: &Conditions<'e>,
    ) -> Option<KeptBy<'e>> {
        let subject = Subject {
            command: simple.command,
            arguments: simple.arguments(),
            place: simple.place(call),
            is_background: simple.command.is_background || call.is_background(),
        };
        if let Some((text, _)) = conditions.without.iter().find(|(_, item)| item.holds(subject)) {
            return Some(KeptBy::Without(text));
        }
        if !self.with.is_empty() && !conditions.with.iter().any(|item| item.holds(subject)) {
            return Some(KeptBy::With);
        }
        if !self.piped_to.is_empty() && !simple.is_handed_to(&self.piped_to, commands) {
            return Some(KeptBy::PipedTo);
        }
        None
    }

    fn judge_fields(&self, call: &Call<'_>, time: &Allowance) -> Verdict {
        let mut by = String::new();
        if !self.paths.is_empty() {
            let is_short = |path: &str| !time.is_limited() || path.len() <= SHARED_BYTES;
            let fits = |glob: &&&str| {
                let mut paths = call.paths.iter().filter(|path| is_short(path));
                paths.any(|path| !time.is_spent() && path_glob::fits(glob, path))
            };
            match self.paths.iter().find(fits) {
                Some(glob) => by = (*glob).to_owned(),
                None => return Verdict::Unrelated,
            }
        }
        if !self.content.is_empty() {
            let found = |(number, expression): &(usize, &&str)| {
                let needed = self.needed_by(self.raw.len() + number);
                let mut contents = call.contents.iter().enumerate();
                contents.any(|(place, content)| {
                    is_in(expression, needed, content.whole(), || &call.lower_contents()[place], time)
                })
            };
            match self.content.iter().enumerate().find(found) {
                Some((_, expression)) => by = (*expression).to_owned(),
                None if self.paths.is_empty() => return Verdict::Unrelated,
                None => return Verdict::Nearly { because: "nothing in what is written matches".to_owned() },
            }
        }
        for pair in self.inputs.chunks_exact(2) {
            let text = call.fields.get(pair[0]).map(|text| &**text).unwrap_or_default();
            match first_match(&pair[1..], text, time) {
                Some(expression) => by = expression,
                None => return Verdict::Unrelated,
            }
        }
        Verdict::Applies { by }
    }
}

/// The bytes that the programs of a lesson begin with: nearly all commands of a long script are sorted out by them.
#[derive(Default)]
struct Initials([u64; 4]);

impl Initials {
    /// Returns those of patterns; all when there are none, or when some can begin with any.
    fn of(patterns: &[(&str, CommandPattern)]) -> Self {
        let mut all = Self::default();
        for (text, _) in patterns {
            let Some(initials) = pattern::initials(text) else { return Self([u64::MAX; 4]) };
            initials.for_each(|byte| all.add(byte));
        }
        if patterns.is_empty() { Self([u64::MAX; 4]) } else { all }
    }

    fn of_programs(commands: &[Simple<'_>]) -> Self {
        let mut all = Self::default();
        commands.iter().filter_map(|simple| simple.program.bytes().next()).for_each(|byte| all.add(byte));
        all
    }

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn have(&self, program: &str) -> bool {
        program.bytes().next().map_or(self.0 == [u64::MAX; 4], |byte| self.has(byte))
    }
}

/// What made a lesson apply to a command.
enum Decision<'e> {
    Pattern(&'e (&'e str, CommandPattern)),
    Expression(&'e str),
    Output(&'e str),
    Sql(&'e str),
}

impl Decision<'_> {
    fn text(&self, simple: &Simple<'_>, place: Place<'_>) -> String {
        match self {
            Self::Pattern((text, pattern)) => match pattern.explained(simple.arguments(), place) {
                Some(reason) => format!("{text} ({reason})"),
                None => (*text).to_owned(),
            },
            Self::Expression(expression) => (*expression).to_owned(),
            Self::Output(file) => format!("output to {file}"),
            Self::Sql(expression) => format!("SQL like {expression}"),
        }
    }
}

/// What kept a lesson from applying to a command that it is nearly about.
#[derive(Clone, Copy)]
enum KeptBy<'e> {
    Output,
    NoSql,
    Statements,
    Without(&'e str),
    With,
    PipedTo,
}

impl KeptBy<'_> {
    fn text(self, entry: &Entry<'_>) -> String {
        match self {
            Self::Output => format!("its output goes to no {}", entry.writes.join("|")),
            Self::NoSql => "it hands no SQL to a database client".to_owned(),
            Self::Statements => "no SQL statement in it fits".to_owned(),
            Self::Without(item) => condition::description(item),
            Self::With => format!("none of these holds: {}", entry.with.join(", ")),
            Self::PipedTo => format!("its output does not go to {}", entry.piped_to.join(", ")),
        }
    }
}

/// The conditions of a lesson, read. An item that cannot be read holds for nothing.
struct Conditions<'e> {
    without: Vec<(&'e str, Item)>,
    with: Vec<Item>,
}

impl<'e> Conditions<'e> {
    fn of(entry: &Entry<'e>) -> Self {
        let read = |item: &&'e str| Some((*item, Item::parse(item).ok()?));
        Self {
            without: entry.without.iter().filter_map(read).collect(),
            with: entry.with.iter().filter_map(read).map(|(_, item)| item).collect(),
        }
    }
}

/// A text up to this size is searched whole.
const WHOLE_BYTES: usize = 16 * 1024;
/// The most that others' lessons see of a text in one search, which cannot be interrupted.
const SHARED_BYTES: usize = 2 * 1024;
/// The most steps of such a search, each of which takes one state of the expression past one byte: some milliseconds.
const SHARED_STEPS: usize = 400_000;
/// How much of a call's commands others' lessons see.
const SHARED_COMMAND_BYTES: usize = 16 * 1024;
/// How far around a text that it needs an expression sees in a larger one, to the next line end.
const AROUND_BYTES: usize = 512;
/// How many such places are looked at.
const MAX_PLACES: usize = 16;

/// Says whether an expression matches in a text. In a large one only the surroundings of what the expression
/// cannot do without are searched: a small engine needs milliseconds for what looking for a word needs microseconds.
/// `needed` is what it cannot do without; `lower` returns the text in lower case, which only a large one needs.
fn is_in<'a>(
    expression: &str,
    needed: &[&str],
    content: &str,
    lower: impl FnOnce() -> &'a str,
    time: &Allowance,
) -> bool {
    let Some(compiled) = time.compile(expression) else { return false };
    let whole_bytes = if time.is_limited() { searched_bytes(expression) } else { WHOLE_BYTES };
    let around_bytes = AROUND_BYTES.min(whole_bytes / 2);
    if content.len() <= whole_bytes {
        return compiled.is_match(content);
    }
    if needed.is_empty() {
        return compiled.is_match(&content[..content.floor_char_boundary(whole_bytes)]);
    }
    let searched_text = if index::tells_cases_apart(expression) { content } else { lower() };
    let finders: Vec<memmem::Finder<'_>> = needed.iter().map(memmem::Finder::new).collect();
    let mut searched = 0;
    for _ in 0..MAX_PLACES {
        if time.is_spent() {
            return false;
        }
        let next =
            finders.iter().filter_map(|finder| finder.find(&searched_text.as_bytes()[searched..])).min();
        let Some(at) = next.map(|at| searched + at) else { return false };
        let (start, end) = surroundings(content, at, around_bytes);
        if compiled.is_match(&content[start..end]) {
            return true;
        }
        searched = end.max(at + 1);
    }
    false
}

/// Returns the lines around a place, as far as they are near.
fn surroundings(content: &str, at: usize, around_bytes: usize) -> (usize, usize) {
    let start = content.floor_char_boundary(at.saturating_sub(around_bytes));
    let end = content.ceil_char_boundary((at + around_bytes).min(content.len()));
    let start = content[start..at].find('\n').map_or(start, |line_end| start + line_end + 1);
    let end = content[at..end].rfind('\n').map_or(end, |line_end| at + line_end);
    (start, end)
}

/// Returns what an expression sees of a text in one search.
fn within<'a>(text: &'a str, expression: &str, time: &Allowance) -> &'a str {
    if time.is_limited() { &text[..text.floor_char_boundary(searched_bytes(expression))] } else { text }
}

/// Returns how much of a text an expression of others' lessons sees in one search, in bytes.
fn searched_bytes(expression: &str) -> usize {
    SHARED_BYTES.min(SHARED_STEPS / limits::states(expression).max(1))
}

/// Returns the commands that a lesson sees: others' lessons see the first of a long line.
fn first_of<'a, 'b>(commands: &'a [Simple<'b>], time: &Allowance) -> &'a [Simple<'b>] {
    if !time.is_limited() {
        return commands;
    }
    let mut bytes = 0;
    let is_beyond = |command: &Simple<'_>| {
        bytes += command.command.words.iter().map(|word| word.text.len() + 1).sum::<usize>();
        bytes > SHARED_COMMAND_BYTES
    };
    let count = commands.iter().position(is_beyond).unwrap_or(commands.len());
    &commands[..count]
}

/// Compiles expressions; one that cannot be read never matches.
fn compile<'a>(expressions: &[&'a str], time: &Allowance) -> Vec<(&'a str, Regex)> {
    expressions.iter().filter_map(|expression| Some((*expression, time.compile(expression)?))).collect()
}

/// Returns the first expression that matches the text; the empty text when there are no expressions.
fn first_match(expressions: &[&str], text: &str, time: &Allowance) -> Option<String> {
    if expressions.is_empty() {
        return Some(String::new());
    }
    let matches = |(source, expression): &&(&str, Regex)| expression.is_match(within(text, source, time));
    compile(expressions, time).iter().find(matches).map(|(text, _)| (*text).to_owned())
}
