//! Whether a lesson applies to a call: the last word, after the index has said which lessons are worth asking.

use crate::allowance::Allowance;
use crate::call::Call;
use crate::index::{self, Entry};
use crate::limits;
use crate::path_glob;
use crate::pattern::{self, Argument, CommandPattern};
use memchr::memmem;
use regex_lite::Regex;
use std::cell::OnceCell;

/// A simple command, as patterns see it.
#[derive(Debug)]
pub struct Simple<'a> {
    /// The program's base name.
    pub program: &'a str,
    /// What follows it.
    pub arguments: Vec<Argument<'a>>,
    /// All of it as one text, prose masked.
    pub text: String,
    assignments: Vec<&'a str>,
    command: &'a shell::Command,
}

impl<'a> Simple<'a> {
    /// Returns the simple commands of what a shell would run.
    pub fn all(commands: &'a [shell::Command]) -> Vec<Self> {
        // What follows an image may be its command or an argument to its own: the line does not tell.
        let is_known = |command: &&shell::Command| {
            !command.words.is_empty()
                && !command.wrappers.iter().any(|wrapper| {
                    wrapper.ends_with(" run") && IMAGES.iter().any(|program| wrapper.starts_with(program))
                })
        };
        commands.iter().filter(is_known).map(Self::of).collect()
    }

    fn of(command: &'a shell::Command) -> Self {
        let argument = |word: &'a shell::Word| Argument {
            text: &word.text,
            is_prose: word.is_quoted && word.text.contains(char::is_whitespace),
        };
        let mut arguments: Vec<Argument<'a>> = command.words.iter().skip(1).map(argument).collect();
        // `xargs` and the like: the arguments cannot be seen here.
        if command.wrappers.iter().any(|wrapper| ["xargs", "parallel", "fd", "fdfind"].contains(wrapper)) {
            arguments.push(Argument { text: "{}", is_prose: false });
        }
        Self {
            program: command.program(),
            arguments,
            text: command.text(),
            assignments: command.assignments.iter().map(|(name, _)| name.as_str()).collect(),
            command,
        }
    }
}

/// Programs whose `run` takes an image.
const IMAGES: [&str; 2] = ["docker", "podman"];
/// Programs that run what they read, unless an argument says what to run.
const SHELLS: [&str; 5] = ["bash", "dash", "ksh", "sh", "zsh"];

impl Simple<'_> {
    /// Says whether the command works on what is piped into it: a shell that is given a script or a string does not.
    fn reads_its_input(&self) -> bool {
        let is_script = |argument: &Argument<'_>| !argument.text.starts_with('-') || argument.text == "-c";
        let reads_script =
            self.arguments.iter().any(|argument| argument.text == "-s" || argument.text == "-");
        !SHELLS.contains(&self.program) || reads_script || !self.arguments.iter().any(is_script)
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
        if call.is_shell() && !(self.commands.is_empty() && self.matches.is_empty() && self.raw.is_empty()) {
            return self.judge_shell(call, first_of(commands, time), time);
        }
        if !(self.paths.is_empty() && self.content.is_empty() && self.inputs.is_empty()) {
            return self.judge_fields(call, time);
        }
        let is_tool_only = self.commands.is_empty() && self.matches.is_empty() && self.raw.is_empty();
        if is_tool_only && !self.tools.is_empty() {
            return Verdict::Applies { by: format!("the tool {}", call.tool) };
        }
        Verdict::Unrelated
    }

    fn is_for_tool(&self, tool: &str) -> bool {
        let fits = |wanted: &&str| match wanted.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None => *wanted == tool || (*wanted == "Task" && tool == "Agent"),
        };
        if self.tools.is_empty() {
            let is_about_shell =
                !(self.commands.is_empty() && self.matches.is_empty() && self.raw.is_empty());
            return !is_about_shell || tool == "Bash" || !self.paths.is_empty() || !self.content.is_empty();
        }
        self.tools.iter().any(fits)
    }

    fn judge_shell(&self, call: &Call<'_>, commands: &[Simple<'_>], time: &Allowance) -> Verdict {
        let raw = call.command.as_deref().unwrap_or_default();
        let lower = OnceCell::new();
        let by_raw = self.raw.iter().find(|expression| {
            is_in(expression, raw, || lower.get_or_init(|| raw.to_ascii_lowercase()), time)
        });
        if by_raw.is_none() && !self.raw.is_empty() {
            return Verdict::Unrelated;
        }
        if self.commands.is_empty() && self.matches.is_empty() {
            return Verdict::Applies {
                by: by_raw.map_or_else(String::new, |expression| (*expression).to_owned()),
            };
        }
        let patterns: Vec<(&str, CommandPattern)> = self
            .commands
            .iter()
            .filter_map(|pattern| Some((*pattern, CommandPattern::parse(pattern).ok()?)))
            .collect();
        let expressions: Vec<(&str, Regex)> = compile(&self.matches, time);
        let mut verdict = Verdict::Unrelated;
        for simple in commands {
            let fits = |pattern: &CommandPattern| {
                !time.is_spent_by_a_step() && pattern.fits(simple.program, &simple.arguments)
            };
            let pattern = patterns.iter().find(|(_, pattern)| fits(pattern));
            let expression = expressions.iter().find(|(source, expression)| {
                !time.is_spent() && expression.is_match(within(&simple.text, source, time))
            });
            if (pattern.is_none() && !self.commands.is_empty())
                || (expression.is_none() && !self.matches.is_empty())
            {
                continue;
            }
            let decided =
                pattern.map(|(text, _)| *text).or(expression.map(|(text, _)| *text)).unwrap_or_default();
            match self.what_keeps_from(simple, commands) {
                None => return Verdict::Applies { by: decided.to_owned() },
                Some(because) => verdict = Verdict::Nearly { because },
            }
        }
        verdict
    }

    fn what_keeps_from(&self, simple: &Simple<'_>, commands: &[Simple<'_>]) -> Option<String> {
        let has = |item: &&&str| pattern::has(item, simple.program, &simple.arguments, &simple.assignments);
        if let Some(item) = self.without.iter().find(has) {
            return Some(format!("the command has {item}"));
        }
        let is_target = |other: &Simple<'_>| {
            self.piped_to.contains(&other.program)
                && other.reads_its_input()
                && other.command.pipeline == simple.command.pipeline
                && other.command.place > simple.command.place
        };
        if !self.piped_to.is_empty() && !commands.iter().any(is_target) {
            return Some(format!("its output does not go to {}", self.piped_to.join(", ")));
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
            let found = |expression: &&&str| {
                let mut contents = call.contents.iter().enumerate();
                contents.any(|(place, content)| {
                    is_in(expression, content.whole(), || &call.lower_contents()[place], time)
                })
            };
            match self.content.iter().find(found).map(|expression| (*expression).to_owned()) {
                Some(expression) => by = expression,
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
/// `lower` returns the text in lower case, which only a large one needs.
fn is_in<'a>(expression: &str, content: &str, lower: impl FnOnce() -> &'a str, time: &Allowance) -> bool {
    let Some(compiled) = time.compile(expression) else { return false };
    let whole_bytes = if time.is_limited() { searched_bytes(expression) } else { WHOLE_BYTES };
    let around_bytes = AROUND_BYTES.min(whole_bytes / 2);
    if content.len() <= whole_bytes {
        return compiled.is_match(content);
    }
    let tells_cases_apart = !expression.contains("(?");
    let literals = if tells_cases_apart {
        index::required_literals_as_written(expression)
    } else {
        index::required_literals(expression)
    };
    let Some(literals) = literals else {
        return compiled.is_match(&content[..content.floor_char_boundary(whole_bytes)]);
    };
    let searched_text = if tells_cases_apart { content } else { lower() };
    let finders: Vec<memmem::Finder<'_>> = literals.iter().map(memmem::Finder::new).collect();
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
        bytes += command.text.len();
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
