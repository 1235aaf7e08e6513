//! Follows one conversation and finds what could become a lesson: a reported one, a command that failed and the form of it
//! that worked, another tool that was called the wrong way, a correction by the user.

use crate::change::{self, Change};
use crate::failure::{self, Cause};
use crate::happening::{Call, Happening, Outcome, Place};
use crate::misuse::{self, Misuse};
use crate::step::{self, Prepared};
use crate::style::{self, Style};
use crate::tag::{self, Report, Tag};
use language::{Phrases, folded, lexicon};
use std::collections::{BTreeSet, VecDeque};

/// How many failures wait for their fix at once, and for how many further calls.
const MAX_OPEN: usize = 6;
const MAX_CALLS_TO_FIX: usize = 10;
/// For how many calls a correction waits for what follows from it.
const MAX_CALLS_TO_FOLLOW: usize = 6;
/// How many calls before a correction it may be about.
const CALLS_BEFORE: usize = 4;
/// A longer prompt is a new task, not a correction. In characters.
const MAX_CORRECTION: usize = 400;
/// A prompt that only adds to the one before it. In characters.
const MAX_ADDITION: usize = 80;
/// How many calls are kept as examples.
const MAX_CALLS: usize = 200;
/// The longest command that is looked at: a longer one is a program of its own. In bytes.
const MAX_COMMAND: usize = 2_000;
/// The most programs of a script that may be a fix.
const MAX_PROGRAMS: usize = 16;
/// How many replies are kept for a failure, and how much of each. In bytes.
const MAX_SAID: usize = 4;
const MAX_REPLY: usize = 4_000;
/// The tools that edit a file.
pub const FILE_TOOLS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// Tools that change nothing.
const LOOKING: [&str; 9] =
    ["BashOutput", "Glob", "Grep", "LS", "NotebookRead", "Read", "TodoWrite", "WebFetch", "WebSearch"];
/// Tools of the client that do what a program of the shell may do.
const OWN_TOOLS: [&str; 7] = ["Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write"];
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
    /// A command failed, and worked once something else was done.
    Prepared(Box<Prepared>),
    /// A tool other than the shell refused a call and took another one.
    Misused(Box<Misuse>),
    /// The user said what to do instead, and it was done.
    Corrected(Correction),
    /// The user said that a file is not to be edited, and another one was.
    HandsOff(HandsOff),
    /// The user said how code is written here, and it was written so.
    Styled(Style),
}

/// A command that failed and the form of it that worked.
#[derive(Clone, Debug)]
pub struct Fix {
    pub before: String,
    pub after: String,
    pub error: String,
    pub change: Change,
    /// Whether nothing tells that the change helped but that nothing else was done.
    pub is_alone: bool,
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

/// An edit that the user did not want, and the one that was made then.
#[derive(Clone, Debug)]
pub struct HandsOff {
    /// The files.
    pub before: String,
    pub after: String,
    /// The user's words.
    pub words: String,
    /// The folder or the file that they name, as they wrote it.
    pub part: String,
    pub is_folder: bool,
    /// Whether it is about new files alone, which belong elsewhere.
    pub is_place: bool,
}

/// A command that was run, or the call of another tool as examples have it.
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
    /// Whether anything else was done since that may be what helped: only looking at things is not.
    is_disturbed: bool,
    /// Whether anything was done by another tool than the shell.
    is_touched: bool,
    /// What was done by the shell since, and where the shell was moved to.
    steps: Vec<String>,
    folder: Option<String>,
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
    is_next_task: bool,
    /// Whether it is to hold from now on.
    is_for_good: bool,
    /// Whether it is how things are done here.
    is_custom: bool,
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
    /// Files that were edited, and what the user said about them.
    edited: VecDeque<String>,
    hands_off: Option<Waiting>,
    /// Files that were written whole, and what the user said about where.
    written: VecDeque<String>,
    misplaced: Option<Waiting>,
    /// Texts that were written, and what the user said about how.
    texts: VecDeque<style::Text>,
    styled: Option<style::Asked>,
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
    next_tasks: Phrases<()>,
    for_good: Phrases<()>,
    hands_off: Phrases<()>,
    generated: Phrases<()>,
    customs: Phrases<()>,
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
            next_tasks: Phrases::of(lexicon::LEARNING, "next task"),
            for_good: Phrases::of(lexicon::LEARNING, "for good"),
            hands_off: Phrases::of(lexicon::LEARNING, "hands off"),
            generated: Phrases::of(lexicon::LEARNING, "generated"),
            customs: Phrases::of(lexicon::LEARNING, "custom"),
        }
    }
}

impl Spoken {
    /// Says whether a prompt corrects what was done.
    pub fn is_correction(&self, prompt: &str) -> bool {
        let is_it =
            |text: &str| self.corrections.occur(text) || self.for_good.occur(text) || self.is_hands_off(text);
        prompt.chars().count() <= MAX_CORRECTION && is_it(&folded(prompt))
    }

    /// Says whether a prompt, folded, is about files that are not to be edited.
    fn is_hands_off(&self, prompt: &str) -> bool {
        self.hands_off.occur(prompt) || self.generated.occur(prompt)
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
            edited: VecDeque::new(),
            hands_off: None,
            written: VecDeque::new(),
            misplaced: None,
            texts: VecDeque::new(),
            styled: None,
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
                self.edited.clear();
                self.hands_off = None;
                self.written.clear();
                self.misplaced = None;
                self.texts.clear();
                self.styled = None;
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
        // What is added before anything was done takes nothing back.
        let is_addition = text.chars().count() <= MAX_ADDITION;
        let waiting = self.waiting.take().filter(|waiting| waiting.calls == 0 && is_addition);
        self.hands_off = None;
        self.misplaced = None;
        self.styled = None;
        if !self.phrases.is_correction(text) {
            self.waiting = waiting;
            return;
        }
        let words = text.trim().to_owned();
        if !self.texts.is_empty() && self.phrases.customs.occur(&folded(text)) {
            let before = self.texts.iter().rev().cloned().collect();
            self.styled = Some(style::Asked { words: words.clone(), before });
        }
        let about = |files: &VecDeque<String>| Waiting {
            words: words.clone(),
            before: files.iter().rev().cloned().collect(),
            is_next_task: false,
            is_for_good: false,
            is_custom: false,
            calls: 0,
        };
        if !self.edited.is_empty() && self.phrases.is_hands_off(&folded(text)) {
            self.hands_off = Some(about(&self.edited));
        } else if !self.written.is_empty() {
            self.misplaced = Some(about(&self.written));
        }
        if let Some(open) = self.open.back_mut() {
            open.corrected = Some(words.clone());
        }
        if !self.recent.is_empty() {
            let before = self.recent.iter().rev().take(CALLS_BEFORE).cloned().collect();
            let folded = folded(&words);
            let is_next_task = self.phrases.next_tasks.occur(&folded);
            let is_for_good = self.phrases.for_good.occur(&folded);
            let is_custom = is_for_good || self.phrases.customs.occur(&folded);
            self.waiting = Some(Waiting { words, before, is_next_task, is_for_good, is_custom, calls: 0 });
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
            if !is_looking(&call.tool) {
                self.open.iter_mut().for_each(|open| {
                    open.is_disturbed = true;
                    open.is_touched = true;
                });
            }
            if FILE_TOOLS.contains(&call.tool.as_str()) {
                self.open.iter_mut().for_each(|open| open.is_edited = true);
                if call.outcome == Outcome::Succeeded {
                    self.edited(call.input.as_deref(), call.tool == "Write");
                }
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
                self.fails_otherwise(&command, &error);
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
                    is_disturbed: false,
                    is_touched: false,
                    steps: Vec::new(),
                    folder: None,
                    calls: 0,
                });
            }
            Outcome::Succeeded => {
                self.ran(&command, false);
                self.succeeded(&command);
                if !self.open.is_empty() {
                    let (is_look, folder) = (change::is_look(&command), moved_to(&command));
                    let is_step = !is_look || step::is_setting_up(&command);
                    for open in &mut self.open {
                        if let Some(folder) = &folder {
                            open.folder = joined(open.folder.as_deref().unwrap_or_default(), folder);
                        }
                        open.is_disturbed |= !is_look;
                        if is_step {
                            open.steps.push(command.clone());
                        }
                    }
                }
                self.age();
            }
        }
        self.recent.push_back(command);
        if self.recent.len() > CALLS_BEFORE {
            self.recent.pop_front();
        }
    }

    /// Follows the edit of a file.
    fn edited(&mut self, input: Option<&str>, is_written: bool) {
        let path = |input: &str| {
            let input: serde_json::Value = serde_json::from_str(input).ok()?;
            let path = input["file_path"].as_str().or_else(|| input["notebook_path"].as_str())?;
            Some(path.to_owned())
        };
        let Some(path) = input.and_then(path) else { return };
        if let Some(text) = input.and_then(|input| style::Text::of(&path, input)) {
            if let Some(found) = self.styled.as_ref().and_then(|asked| asked.followed(&text)) {
                self.styled = None;
                self.find(Evidence::Styled(found));
            }
            self.texts.push_back(text);
            if self.texts.len() > CALLS_BEFORE {
                self.texts.pop_front();
            }
        }
        if let Some(waiting) = &mut self.hands_off {
            waiting.calls += 1;
            let is_over = waiting.calls > MAX_CALLS_TO_FOLLOW;
            let is_generated = self.phrases.generated.occur(&folded(&waiting.words));
            let found = named_part(waiting, &path, is_generated);
            if is_over || found.is_some() {
                self.hands_off = None;
            }
            found.into_iter().for_each(|found| self.find(Evidence::HandsOff(found)));
        }
        if is_written {
            if let Some(found) = self.misplaced.take().and_then(|waiting| moved(&waiting, &path)) {
                self.find(Evidence::HandsOff(found));
            }
            self.written.push_back(path.clone());
            if self.written.len() > CALLS_BEFORE {
                self.written.pop_front();
            }
        }
        self.edited.push_back(path);
        if self.edited.len() > CALLS_BEFORE {
            self.edited.pop_front();
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
                let taken = self.waiting.as_ref().and_then(|waiting| taken_by(waiting, &tool, &input));
                if let Some(correction) = taken {
                    self.waiting = None;
                    self.find(Evidence::Corrected(correction));
                }
                // Most calls only look: what the shell ran is of more use.
                if self.found.ran.len() < MAX_CALLS / 2
                    && let Ok(input) = serde_json::from_str(&input)
                {
                    self.ran(&misuse::written(&tool, &input), false);
                }
                let same = self.refused.iter().rev().filter(|refused| refused.tool == tool);
                let by_call =
                    same.filter_map(|it| Misuse::between(&tool, &it.input, &input, &it.error)).next();
                let misuse = by_call.or_else(|| {
                    let others = self.refused.iter().rev().filter(|refused| refused.tool != tool);
                    others
                        .filter_map(|it| Misuse::of_tools(&it.tool, &tool, &it.input, &input, &it.error))
                        .next()
                });
                if let Some(misuse) = misuse.map(Box::new) {
                    self.refused.retain(|refused| refused.tool != misuse.tool);
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
        self.refute(command);
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
                // It works now: whatever was wrong, it was not the command, but something may have been missing.
                let Some(open) = self.open.remove(at) else { return };
                self.works_now(open);
                return;
            }
            let shares = open.programs.iter().any(|program| programs.contains(program));
            let said = open.said.iter().map(String::as_str).chain(open.corrected.as_deref());
            let said = said.collect::<Vec<_>>().join("\n");
            let is_longer = shares && programs.len() > open.programs.len();
            if is_longer
                && !open.is_touched
                && let Some(prepared) = Prepared::in_line(&open.command, command, &open.error, &said)
            {
                let Some(open) = self.open.remove(at) else { return };
                self.prepared(prepared, &open.said);
                return;
            }
            // Another program took its place only where the error says that it is not there.
            let is_next = !open.is_disturbed;
            if !shares && open.cause != Cause::Usage && open.said.is_empty() && !is_next {
                continue;
            }
            let Some(change) = Change::between(&open.command, command, &open.error, &said) else { continue };
            let announced = open.said.iter().rev().find_map(|said| self.phrases.announcement(said));
            // What was edited meanwhile may be what helped.
            let may_be_edit = open.is_edited && open.cause != Cause::Usage;
            let said = [announced.as_deref(), open.corrected.as_deref()];
            // Flags that put a check aside, or have it repaired, are a lesson only at the user's word.
            if change.is_no_correction(&open.error) && !mentions(&[open.corrected.as_deref()], &change) {
                break;
            }
            let is_alone = !open.is_disturbed && change.is_all_that_changed(&open.error);
            let answers = change.answers(&open.error) || mentions(&said, &change) || is_alone;
            if answers && !may_be_edit {
                fixed = Some((at, change, announced, is_alone && open.cause != Cause::Usage));
            }
            break;
        }
        let Some((mut at, mut change, announced, is_alone)) = fixed else { return };
        // Of several attempts the first is the mistake that will be made again.
        if self.open[at].cause == Cause::Usage {
            let first = (0..at).find_map(|other| {
                let open = &self.open[other];
                let is_of_it = open.cause == Cause::Usage && !open.is_edited;
                let change = is_of_it.then(|| Change::between(&open.command, command, &open.error, ""))??;
                let is_answer = change.answers(&open.error) && !change.is_no_correction(&open.error);
                is_answer.then_some((other, change))
            });
            if let Some(first) = first {
                (at, change) = first;
            }
        }
        let Some(open) = self.open.remove(at) else { return };
        // Attempts before it that failed for the same reason are answered as well.
        let program = change.before.program().to_owned();
        self.open.retain(|other| !other.programs.contains(&program));
        let fix = Box::new(Fix {
            before: open.command,
            after: command.to_owned(),
            error: open.error,
            change,
            is_alone,
            announced,
            corrected: open.corrected,
        });
        self.last_fix = Some(fix.clone());
        self.find(Evidence::Fixed(fix));
    }

    /// Takes back what was found about a command that works as it was: it had failed for another reason. What another program did
    /// in between was done before it, and not in its place.
    fn refute(&mut self, command: &str) {
        let is_refuted = |evidence: &Evidence| matches!(evidence, Evidence::Fixed(fix) if fix.before == command && fix.change.folder.is_none());
        let Some(at) = self.found.findings.iter().rposition(|finding| is_refuted(&finding.evidence)) else {
            return;
        };
        let finding = self.found.findings.remove(at);
        let Evidence::Fixed(fix) = finding.evidence else { return };
        let steps = [fix.after];
        let is_other = fix.change.program.is_some() || fix.change.subcommand.is_some();
        if let Some(prepared) = Prepared::between(&fix.before, &steps, &fix.error, "").filter(|_| is_other) {
            self.prepared(prepared, &[]);
        }
    }

    /// Looks for what a command waited for that fails in another way now: what its error asked for was done.
    fn fails_otherwise(&mut self, command: &str, error: &str) {
        let at = self.open.iter().rposition(|open| open.command == command && !open.is_touched);
        let Some(open) = at.and_then(|at| self.open.get(at)) else { return };
        if failure::line(&open.error) == failure::line(error) {
            return;
        }
        let prepared = Prepared::between(&open.command, &open.steps, &open.error, "");
        if let Some(prepared) = prepared.filter(|it| it.is_named) {
            let said = open.said.clone();
            self.prepared(prepared, &said);
        }
    }

    /// Looks for what a command waited for that failed and works now, as it was.
    fn works_now(&mut self, open: Open) {
        if open.is_touched {
            return;
        }
        let said = open.said.iter().map(String::as_str).chain(open.corrected.as_deref());
        let said = said.collect::<Vec<_>>().join("\n");
        if let Some(folder) = open.folder.filter(|_| open.steps.is_empty()) {
            let after = format!("cd {folder} && {}", open.command);
            let Some(change) = Change::between(&open.command, &after, &open.error, &said) else { return };
            let announced = open.said.iter().rev().find_map(|said| self.phrases.announcement(said));
            let (before, error, corrected) = (open.command, open.error, open.corrected);
            let fix = Box::new(Fix { before, after, error, change, is_alone: false, announced, corrected });
            self.find(Evidence::Fixed(fix));
            return;
        }
        if let Some(prepared) = Prepared::between(&open.command, &open.steps, &open.error, &said) {
            self.prepared(prepared, &open.said);
        }
    }

    fn prepared(&mut self, prepared: Prepared, said: &[String]) {
        let announced = said.iter().rev().find_map(|said| self.phrases.announcement(said));
        // Attempts before it waited for the same.
        let program = change::of_line(&prepared.command).map(|command| command.program().to_owned());
        self.open.retain(|other| !program.iter().any(|program| other.programs.contains(program)));
        self.find(Evidence::Prepared(Box::new(Prepared { announced, ..prepared })));
    }
}

/// Says whether a tool changes nothing, as far as its name tells.
fn is_looking(tool: &str) -> bool {
    const VERBS: [&str; 7] = ["describe", "fetch", "find", "get", "list", "read", "search"];
    let verb = tool.rsplit("__").next().unwrap_or_default().split(['_', '-']).next().unwrap_or_default();
    LOOKING.contains(&tool) || (tool.starts_with("mcp__") && VERBS.contains(&verb))
}

/// Returns the folder that a line moves the shell to, where it does nothing else.
fn moved_to(line: &str) -> Option<String> {
    match &shell::commands(line)[..] {
        [only] if only.program() == "cd" && only.words.len() == 2 => Some(only.words[1].text.clone()),
        _ => None,
    }
}

/// Returns the folder that the shell is in after `cd next` in the folder `before`, both from where it started; `None` where it is
/// back there.
fn joined(before: &str, next: &str) -> Option<String> {
    if next == "-" {
        return None;
    }
    if next.starts_with(['/', '~']) {
        return Some(next.to_owned());
    }
    let mut parts: Vec<&str> = before.split('/').filter(|part| !part.is_empty()).collect();
    for part in next.split('/').filter(|part| !["", "."].contains(part)) {
        let is_inside = parts.last().is_some_and(|last| !["..", "~"].contains(last));
        if part == ".." && is_inside {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let start = if before.starts_with('/') { "/" } else { "" };
    Some(format!("{start}{}", parts.join("/"))).filter(|folder| !folder.is_empty())
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
/// is there now, or nothing else changed.
fn followed(waiting: &Waiting, command: &str) -> Option<Correction> {
    let said = tokens(&waiting.words);
    let after = call_tokens(command);
    for before in &waiting.before {
        let old = call_tokens(before);
        let wrong: Vec<String> =
            old.iter().filter(|word| said.contains(word) && !after.contains(word)).cloned().collect();
        let right: Vec<String> =
            after.iter().filter(|word| said.contains(word) && !old.contains(word)).cloned().collect();
        let is_left_out = || {
            let all = |line: &str| -> BTreeSet<String> {
                let words = shell::commands(line).into_iter().flat_map(|command| command.words);
                words.map(|word| word.text.to_lowercase()).collect()
            };
            let mut left = all(before);
            left.retain(|word| !wrong.contains(word));
            left == all(command)
        };
        // "Always with `--lib`": nothing was wrong but that it was not there.
        let is_added = || {
            let is_flag = |word: &String| word.starts_with("--");
            waiting.is_for_good && !right.is_empty() && right.iter().all(is_flag) && {
                let left: Vec<&String> = after.iter().filter(|word| !right.contains(word)).collect();
                left.into_iter().eq(old.iter())
            }
        };
        // "Stop using `--no-verify`": whatever else is different.
        let is_flag_gone = || {
            old.first() == after.first() && wrong.iter().any(|word| word.len() > 3 && word.starts_with("--"))
        };
        if (wrong.is_empty() && !is_added()) || (right.is_empty() && !is_flag_gone() && !is_left_out()) {
            let told = || replaced(waiting, before, command);
            if let Some((wrong, right)) = told().or_else(|| custom(waiting, before, command, &said)) {
                let (before, words) = (before.clone(), waiting.words.clone());
                return Some(Correction { before, after: command.to_owned(), words, wrong, right });
            }
            continue;
        }
        // "Now the same with `lint`" is about the same program, and the last call of it was right.
        let is_same_program = old.first() == after.first() && !wrong.iter().any(|word| word.starts_with('-'));
        if waiting.is_next_task && is_same_program {
            continue;
        }
        let words = waiting.words.clone();
        return Some(Correction { before: before.clone(), after: command.to_owned(), words, wrong, right });
    }
    None
}

/// Returns the correction that the call of one of the client's own tools follows: "use the Read tool and not `cat`".
fn taken_by(waiting: &Waiting, tool: &str, input: &str) -> Option<Correction> {
    let is_heard = waiting.words.split(|it: char| !it.is_alphanumeric()).any(|word| word == tool);
    let is_next = waiting.calls == 0 && OWN_TOOLS.contains(&tool);
    let input = serde_json::from_str(input).ok().filter(|_| is_next && is_heard)?;
    let said = waiting.words.to_lowercase();
    waiting.before.iter().find_map(|before| {
        let wrong = change::of_line(before)?.program().to_lowercase();
        change::has_word(&said, &wrong).then(|| Correction {
            before: before.clone(),
            after: misuse::written(tool, &input),
            words: waiting.words.clone(),
            wrong: vec![wrong],
            right: vec![tool.to_owned()],
        })
    })
}

/// Returns the program that was wrong and the one that was right, where the user named only the latter, and it does the same work
/// on the same things: "this repo uses pnpm".
fn replaced(waiting: &Waiting, before: &str, after: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (old, new) = (change::of_line(before)?, change::of_line(after)?);
    let words = waiting.words.to_lowercase();
    let (old_program, new_program) = (old.program().to_lowercase(), new.program().to_lowercase());
    if waiting.is_next_task || old_program == new_program {
        return None;
    }
    let first = change::words(&new).into_iter().next().unwrap_or_default();
    if old_program == format!("{new_program}-{first}") {
        let is_named = change::has_word(&words, &format!("{new_program} {first}"));
        return is_named.then(|| (vec![old_program], vec![new_program, first]));
    }
    let is_kin = change::is_same_program(&old_program, &new_program) && change::is_for_same(&old, &new);
    (is_kin && change::has_word(&words, &new_program)).then(|| (vec![old_program], vec![new_program]))
}

/// Returns what is wrong and what is right about a call, where the user said how that is done here: they named the call that
/// follows and not the last one, or only what that one worked on.
fn custom(
    waiting: &Waiting,
    before: &str,
    after: &str,
    said: &[String],
) -> Option<(Vec<String>, Vec<String>)> {
    if !waiting.is_custom || waiting.is_next_task || change::is_look(before) || change::is_look(after) {
        return None;
    }
    let (old, new) = (change::of_line(before)?, change::of_line(after)?);
    let name = |command: &shell::Command| -> Vec<String> {
        let mut name = vec![command.program().to_lowercase()];
        name.extend(change::subcommand(command));
        name
    };
    let (old_name, new_name) = (name(&old), name(&new));
    if old_name == new_name {
        // "Never push to main."
        let all = |command: &shell::Command| -> Vec<String> {
            command.words.iter().skip(old_name.len()).map(|word| word.text.to_lowercase()).collect()
        };
        let (was, is) = (all(&old), all(&new));
        let is_wrong = |word: &&String| !word.starts_with('-') && said.contains(word) && !is.contains(word);
        return was.iter().find(is_wrong).map(|_| (vec![old_name[0].clone()], Vec::new()));
    }
    let words = waiting.words.to_lowercase();
    let is_last = waiting.before.first().is_some_and(|last| last == before);
    let is_whole = new_name.len() > 1 || new_name[0].contains(['.', '-', '_']);
    let is_first = change::has_word(&words, "first") || change::has_word(&words, "before");
    let is_named = is_last && is_whole && !is_first && change::has_word(&words, &new_name.join(" "));
    is_named.then(|| match old_name[0] == new_name[0] {
        true => (old_name[1..].to_vec(), new_name[1..].to_vec()),
        false => (vec![old_name[0].clone()], new_name.clone()),
    })
}

/// Says whether a path is, or is in, what a person wrote of it.
fn holds(path: &str, part: &str) -> (bool, bool) {
    let path = format!("/{}", path.trim_start_matches('/'));
    (path.ends_with(&format!("/{part}")), path.contains(&format!("/{part}/")))
}

/// Returns the folder of a new file that the user named as the wrong one, where the next new file is in a place that they named
/// as well. A folder is what is written with a slash.
fn moved(waiting: &Waiting, after: &str) -> Option<HandsOff> {
    let is_inside = |character: char| character.is_alphanumeric() || "-_./".contains(character);
    let words = waiting.words.split(|character| !is_inside(character)).filter(|word| word.contains('/'));
    let parts: Vec<&str> =
        words.map(|word| word.trim_matches(['/', '.'])).filter(|part| part.len() > 1).collect();
    let is_at = |path: &str, part: &str| holds(path, part) != (false, false);
    waiting.before.iter().find_map(|before| {
        let wrong = parts.iter().find(|part| holds(before, part).1 && !is_at(after, part))?;
        let is_named = parts.iter().any(|part| is_at(after, part) && !is_at(before, part));
        is_named.then(|| HandsOff {
            before: before.clone(),
            after: after.to_owned(),
            words: waiting.words.clone(),
            part: (*wrong).to_owned(),
            is_folder: true,
            is_place: true,
        })
    })
}

/// Returns the folder or the file that the user named of an earlier edit and that another edit leaves alone. A plain word is
/// the name of one only where the user wrote that a program makes it.
fn named_part(waiting: &Waiting, after: &str, is_generated: bool) -> Option<HandsOff> {
    let is_inside = |character: char| character.is_alphanumeric() || "-_./".contains(character);
    let named =
        waiting.words.split(|character| !is_inside(character)).map(|word| word.trim_matches(['/', '.']));
    let named = named.filter(|word| word.len() > 2 && (is_generated || word.contains(['/', '.', '_', '-'])));
    let mut parts: Vec<&str> = named.collect();
    // What says most comes first.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    for part in parts {
        for before in &waiting.before {
            let (is_file, is_folder) = holds(before, part);
            if (is_file || is_folder) && holds(after, part) == (false, false) {
                let (words, part) = (waiting.words.clone(), part.to_owned());
                let (before, after) = (before.clone(), after.to_owned());
                let is_folder = is_folder && !is_file;
                return Some(HandsOff { before, after, words, part, is_folder, is_place: false });
            }
        }
    }
    None
}

/// Returns the words of a prompt that may name a program, a subcommand or a flag.
fn tokens(text: &str) -> Vec<String> {
    let is_inside = |character: char| character.is_ascii_alphanumeric() || "-_.+:".contains(character);
    text.split(|character| !is_inside(character))
        .map(|word| word.trim_matches(['.', '_', ':']).to_lowercase())
        .filter(|word| word.len() > 1)
        .collect()
}

/// Returns what can be named of a call: programs, subcommands and flags.
fn call_tokens(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in shell::commands(command) {
        found.push(command.program().to_lowercase());
        found.extend(change::subcommand(&command));
        found.extend(command.assignments.iter().map(|(name, _)| name.to_lowercase()));
        let flags = command.words.iter().skip(1).filter(|word| word.text.starts_with('-'));
        found.extend(flags.map(|word| word.text.split('=').next().unwrap_or_default().to_lowercase()));
    }
    found.retain(|word| word.len() > 1);
    found
}
