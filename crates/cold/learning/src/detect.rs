//! Follows one conversation and finds what could become a lesson: a reported one, a command that failed and the form of it
//! that worked, another tool that was called the wrong way, a correction by the user.

use crate::change::{self, Change};
use crate::failure::{self, Cause};
use crate::happening::{Call, Happening, Outcome, Place};
use crate::misuse::Misuse;
use crate::tag::{self, Report, Tag};
use language::{Phrases, folded, lexicon};
use std::collections::VecDeque;

/// How many failures wait for their fix at once, and for how many further calls.
const MAX_OPEN: usize = 6;
const MAX_CALLS_TO_FIX: usize = 10;
/// For how many calls a correction waits for what follows from it.
const MAX_CALLS_TO_FOLLOW: usize = 6;
/// How many calls before a correction it may be about.
const CALLS_BEFORE: usize = 4;
/// A longer prompt is a new task, not a correction. In characters.
const MAX_CORRECTION: usize = 400;
/// How many calls are kept as examples.
const MAX_CALLS: usize = 200;
/// The longest command that is looked at: a longer one is a program of its own. In bytes.
const MAX_COMMAND: usize = 2_000;
/// The most programs of a script that may be a fix.
const MAX_PROGRAMS: usize = 16;
/// How many replies are kept for a failure, and how much of each. In bytes.
const MAX_SAID: usize = 4;
const MAX_REPLY: usize = 4_000;
/// The most characters of a sentence that is quoted.
const MAX_SENTENCE: usize = 240;

/// What could become a lesson.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Where it was found.
    pub place: Place,
    /// When, in milliseconds since 1970.
    pub at: u64,
    pub evidence: Evidence,
}

/// What shows it.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// The model reported it; the change and the misuse are what went wrong just before, if that is known.
    Reported { tag: Tag, change: Option<Box<Fix>>, misuse: Option<Box<Misuse>> },
    /// The model withdrew what begins so.
    Withdrawn(String),
    /// A command failed and another form of it worked.
    Fixed(Box<Fix>),
    /// A tool other than the shell refused a call and took another one.
    Misused(Box<Misuse>),
    /// The user said what to do instead, and it was done.
    Corrected(Correction),
}

/// A command that failed and the form of it that worked.
#[derive(Clone, Debug)]
pub struct Fix {
    pub before: String,
    pub after: String,
    pub error: String,
    pub change: Change,
    /// What the model said was the cause.
    pub announced: Option<String>,
    /// What the user said about it.
    pub corrected: Option<String>,
}

/// A call that the user corrected, and what was done then.
#[derive(Clone, Debug)]
pub struct Correction {
    pub before: String,
    pub after: String,
    /// The user's words.
    pub words: String,
    /// What was wrong and what was right about the call: words of both the user and the calls.
    pub wrong: Vec<String>,
    pub right: Vec<String>,
}

/// A command that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub command: String,
    pub has_failed: bool,
}

/// Everything that one conversation gave.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub findings: Vec<Finding>,
    /// What was run in it, for examples.
    pub ran: Vec<Ran>,
}

struct Open {
    command: String,
    error: String,
    /// What the model said since, which is looked through once the fix is known.
    said: Vec<String>,
    corrected: Option<String>,
    is_edited: bool,
    calls: usize,
    /// The programs that it ran.
    programs: Vec<String>,
    cause: Cause,
}

/// A call of another tool than the shell that failed.
struct Refused {
    tool: String,
    input: String,
    error: String,
    calls: usize,
}

struct Waiting {
    words: String,
    before: Vec<String>,
    calls: usize,
}

/// Follows one conversation.
pub struct Detector<'p> {
    phrases: &'p Spoken,
    place: Place,
    open: VecDeque<Open>,
    refused: VecDeque<Refused>,
    waiting: Option<Waiting>,
    recent: VecDeque<String>,
    /// What was fixed last, for a report that follows.
    last_fix: Option<Box<Fix>>,
    last_misuse: Option<Box<Misuse>>,
    found: Found,
    at: u64,
}

/// What people and models say, of ten languages.
pub struct Spoken {
    corrections: Phrases<()>,
    announcements: Phrases<()>,
}

impl Default for Spoken {
    fn default() -> Self {
        let corrections = [
            (lexicon::TIER0, "correction"),
            (lexicon::CONVERSATION, "change"),
            (lexicon::LEARNING, "correction"),
        ];
        let list = |(file, heading)| lexicon::list(file, heading).map(|phrase| (phrase, ()));
        Self {
            corrections: Phrases::new(corrections.into_iter().flat_map(list)),
            announcements: Phrases::new(
                [(lexicon::JOURNAL, "found"), (lexicon::LEARNING, "announcement")].into_iter().flat_map(list),
            ),
        }
    }
}

impl Spoken {
    /// Says whether a prompt corrects what was done.
    pub fn is_correction(&self, prompt: &str) -> bool {
        prompt.chars().count() <= MAX_CORRECTION && self.corrections.occur(&folded(prompt))
    }

    /// Returns the sentence of a reply that says what was wrong.
    fn announcement(&self, reply: &str) -> Option<String> {
        let is_it = |sentence: &String| {
            (20..=MAX_SENTENCE).contains(&sentence.chars().count())
                && self.announcements.occur(&folded(sentence))
        };
        language::sentences(reply)
            .into_iter()
            .filter(|sentence| !sentence.is_question)
            .map(|sentence| sentence.text)
            .find(is_it)
    }
}

impl<'p> Detector<'p> {
    pub fn new(phrases: &'p Spoken, place: Place) -> Self {
        Self {
            phrases,
            place,
            open: VecDeque::new(),
            refused: VecDeque::new(),
            waiting: None,
            recent: VecDeque::new(),
            last_fix: None,
            last_misuse: None,
            found: Found::default(),
            at: 0,
        }
    }

    /// Says whose conversation it is.
    pub fn set_place(&mut self, session: &str, cwd: &str) {
        self.place = Place { session: session.to_owned(), cwd: cwd.to_owned() };
    }

    /// Sets the folder that the session works in from now on.
    pub fn set_folder(&mut self, cwd: &str) {
        if self.place.cwd != cwd {
            cwd.clone_into(&mut self.place.cwd);
        }
    }

    /// Takes what happened next.
    pub fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Prompt(text) => self.prompt(&text),
            Happening::Reply(text) => self.reply(&text),
            Happening::Call(call) => self.call(call),
            Happening::Gap => {
                self.open.clear();
                self.refused.clear();
                self.waiting = None;
                self.recent.clear();
                self.last_fix = None;
                self.last_misuse = None;
            }
        }
    }

    /// Returns everything that was found.
    pub fn finish(self) -> Found {
        self.found
    }

    fn find(&mut self, evidence: Evidence) {
        self.found.findings.push(Finding { place: self.place.clone(), at: self.at, evidence });
    }

    fn prompt(&mut self, text: &str) {
        self.waiting = None;
        if !self.phrases.is_correction(text) {
            return;
        }
        let words = text.trim().to_owned();
        if let Some(open) = self.open.back_mut() {
            open.corrected = Some(words.clone());
        }
        if !self.recent.is_empty() {
            let before = self.recent.iter().rev().take(CALLS_BEFORE).cloned().collect();
            self.waiting = Some(Waiting { words, before, calls: 0 });
        }
    }

    fn reply(&mut self, text: &str) {
        if let Some(open) = self.open.back_mut().filter(|open| open.said.len() < MAX_SAID) {
            let end = text.floor_char_boundary(MAX_REPLY);
            open.said.push(text[..end].to_owned());
        }
        if !text.contains(tag::NEEDLE) {
            return;
        }
        for report in tag::read(text) {
            match report {
                Report::Lesson(tag) => {
                    let (change, misuse) = (self.last_fix.clone(), self.last_misuse.clone());
                    self.find(Evidence::Reported { tag, change, misuse });
                }
                Report::Cancel(beginning) => {
                    let is_withdrawn = |finding: &Finding| matches!(&finding.evidence, Evidence::Reported { tag, .. } if tag.problem.to_lowercase().starts_with(&beginning));
                    self.found.findings.retain(|finding| !is_withdrawn(finding));
                    self.find(Evidence::Withdrawn(beginning));
                }
            }
        }
    }

    fn call(&mut self, call: Call) {
        self.at = call.at;
        let Some(command) = call.command.filter(|command| command.len() <= MAX_COMMAND) else {
            if matches!(call.tool.as_str(), "Edit" | "Write" | "MultiEdit" | "NotebookEdit") {
                self.open.iter_mut().for_each(|open| open.is_edited = true);
            }
            if let Some(input) = call.input {
                self.other(call.tool, input, call.outcome);
            }
            return;
        };
        match call.outcome {
            Outcome::Refused => {}
            Outcome::Failed(error) => {
                self.ran(&command, true);
                self.age();
                if self.open.len() >= MAX_OPEN {
                    self.open.pop_front();
                }
                self.open.push_back(Open {
                    programs: programs(&command),
                    cause: failure::cause(&error),
                    command: command.clone(),
                    error,
                    said: Vec::new(),
                    corrected: None,
                    is_edited: false,
                    calls: 0,
                });
            }
            Outcome::Succeeded => {
                self.ran(&command, false);
                self.succeeded(&command);
                self.age();
            }
        }
        self.recent.push_back(command);
        if self.recent.len() > CALLS_BEFORE {
            self.recent.pop_front();
        }
    }

    /// Follows a call of another tool than the shell.
    fn other(&mut self, tool: String, input: String, outcome: Outcome) {
        self.refused.iter_mut().for_each(|refused| refused.calls += 1);
        self.refused.retain(|refused| refused.calls <= MAX_CALLS_TO_FIX);
        match outcome {
            Outcome::Refused => {}
            Outcome::Failed(error) => {
                if self.refused.len() >= MAX_OPEN {
                    self.refused.pop_front();
                }
                self.refused.push_back(Refused { tool, input, error, calls: 0 });
            }
            Outcome::Succeeded => {
                let same = self.refused.iter().rev().filter(|refused| refused.tool == tool);
                let misuse = same
                    .filter_map(|it| Misuse::between(&tool, &it.input, &input, &it.error))
                    .map(Box::new)
                    .next();
                if let Some(misuse) = misuse {
                    self.refused.retain(|refused| refused.tool != tool);
                    self.last_misuse = Some(misuse.clone());
                    self.find(Evidence::Misused(misuse));
                }
            }
        }
    }

    fn ran(&mut self, command: &str, has_failed: bool) {
        if self.found.ran.len() < MAX_CALLS {
            self.found.ran.push(Ran { command: command.to_owned(), has_failed });
        }
    }

    fn age(&mut self) {
        self.open.iter_mut().for_each(|open| open.calls += 1);
        self.open.retain(|open| open.calls <= MAX_CALLS_TO_FIX);
        if let Some(waiting) = &mut self.waiting {
            waiting.calls += 1;
            if waiting.calls > MAX_CALLS_TO_FOLLOW {
                self.waiting = None;
            }
        }
    }

    fn succeeded(&mut self, command: &str) {
        let followed = self.waiting.as_ref().and_then(|waiting| followed(waiting, command));
        if let Some(correction) = followed {
            self.waiting = None;
            // What the user corrected needs no other explanation.
            self.open.retain(|open| open.command != correction.before);
            self.find(Evidence::Corrected(correction));
            return;
        }
        let mut fixed = None;
        if self.open.is_empty() {
            return;
        }
        let programs = programs(command);
        if programs.len() > MAX_PROGRAMS {
            return;
        }
        for at in (0..self.open.len()).rev() {
            let open = &self.open[at];
            if open.command == command {
                // It works now: whatever was wrong, it was not the command.
                self.open.remove(at);
                return;
            }
            // Another program took its place only where the error says that it is not there.
            let may_be =
                open.programs.iter().any(|program| programs.contains(program)) || open.cause == Cause::Usage;
            if !may_be {
                continue;
            }
            let Some(change) = Change::between(&open.command, command, &open.error) else { continue };
            let announced = open.said.iter().rev().find_map(|said| self.phrases.announcement(said));
            // What was edited meanwhile may be what helped.
            let may_be_edit = open.is_edited && open.cause != Cause::Usage;
            let said = [announced.as_deref(), open.corrected.as_deref()];
            let answers = change.answers(&open.error) || mentions(&said, &change);
            if answers && !may_be_edit {
                fixed = Some((at, change, announced));
            }
            break;
        }
        let Some((at, change, announced)) = fixed else { return };
        let Some(open) = self.open.remove(at) else { return };
        // Attempts before it that failed for the same reason are answered as well.
        let program = change.before.program().to_owned();
        self.open.retain(|other| !other.programs.contains(&program));
        let fix = Box::new(Fix {
            before: open.command,
            after: command.to_owned(),
            error: open.error,
            change,
            announced,
            corrected: open.corrected,
        });
        self.last_fix = Some(fix.clone());
        self.find(Evidence::Fixed(fix));
    }
}

/// Returns the programs that a script runs.
fn programs(script: &str) -> Vec<String> {
    shell::commands(script).iter().map(|command| command.program().to_owned()).collect()
}

/// Says whether the model or the user named what was changed.
fn mentions(said: &[Option<&str>], change: &Change) -> bool {
    let said: String = said.iter().copied().flatten().collect::<Vec<_>>().join(" ").to_lowercase();
    let words =
        change.removed.iter().chain(&change.added).map(|flag| flag.trim_start_matches('-').to_lowercase());
    let conditions = change.conditions.iter().map(|it| it.trim_matches(['@', '=']).to_lowercase());
    words.chain(conditions).any(|word| word.len() > 1 && said.contains(&word))
}

/// Returns the correction that a command follows: the user named something of an earlier call that is gone, and something that
/// is there now.
fn followed(waiting: &Waiting, command: &str) -> Option<Correction> {
    let said = tokens(&waiting.words);
    let after = call_tokens(command);
    for before in &waiting.before {
        let old = call_tokens(before);
        let wrong: Vec<String> =
            old.iter().filter(|word| said.contains(word) && !after.contains(word)).cloned().collect();
        let right: Vec<String> =
            after.iter().filter(|word| said.contains(word) && !old.contains(word)).cloned().collect();
        if !wrong.is_empty() && !right.is_empty() {
            let words = waiting.words.clone();
            return Some(Correction {
                before: before.clone(),
                after: command.to_owned(),
                words,
                wrong,
                right,
            });
        }
    }
    None
}

/// Returns the words of a prompt that may name a program, a subcommand or a flag.
fn tokens(text: &str) -> Vec<String> {
    let is_inside = |character: char| character.is_ascii_alphanumeric() || "-_.+".contains(character);
    text.split(|character| !is_inside(character))
        .map(|word| word.trim_matches(['.', '_']).to_lowercase())
        .filter(|word| word.len() > 1)
        .collect()
}

/// Returns what can be named of a call: programs, subcommands and flags.
fn call_tokens(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in shell::commands(command) {
        found.push(command.program().to_lowercase());
        found.extend(change::subcommand(&command));
        let flags = command.words.iter().skip(1).filter(|word| word.text.starts_with('-'));
        found.extend(flags.map(|word| word.text.split('=').next().unwrap_or_default().to_lowercase()));
    }
    found.retain(|word| word.len() > 1);
    found
}
