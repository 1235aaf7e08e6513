//! Makes a lesson of a finding: one that could be put to work as it is, or none.

use crate::change;
use crate::detect::{Correction, Evidence, FILE_TOOLS, Finding, Fix, Found, HandsOff, Ran};
use crate::failure;
use crate::general::Particulars;
use crate::misuse::{self, Flaw, Misuse};
use crate::quiet;
use crate::step::Prepared;
use crate::style::Style;
use crate::tag::Tag;
use base::project::Project;
use lessons::trigger::Verdict;
use lessons::{Lesson, Trigger};
use lessons_admin::intake::{self, MAX_SUMMARY_CHARS, MIN_SOLUTION_CHARS};
use lessons_admin::{rehearsal, slug};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// How many examples of each kind a candidate has at least, and at most.
const MIN_EXAMPLES: usize = 2;
const MAX_EXAMPLES: usize = 4;
/// The longest example, in bytes.
const MAX_EXAMPLE: usize = 300;
/// The longest part of a fact, in characters.
const MAX_FACT_CHARS: usize = 240;
/// The longest quotation of the user's words, in characters.
const MAX_QUOTE_CHARS: usize = 200;
/// Why a report is no lesson about a call.
const NO_CALL: &str = "no call leads to it: it names no command, and none failed before it";
/// The priority that bonuses are added to.
const BASE_PRIORITY: i64 = 4;

/// How a mistake was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The model reported it.
    Reported,
    /// The user corrected a call.
    Corrected,
    /// A call failed and another form of it worked.
    Fixed,
}

impl Tier {
    /// Returns the tier's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Corrected => "corrected",
            Self::Fixed => "fixed",
        }
    }

    /// Returns what lessons-learned calls it, as a lesson's source.
    fn source(self) -> &'static str {
        if self == Self::Reported { "structured" } else { "heuristic" }
    }
}

/// What sightings add to a priority, as lessons-learned has it in `scoring`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoring {
    pub multi_session: i64,
    pub multi_project: i64,
    pub hang: i64,
    pub correction: i64,
    pub single: i64,
}

impl Default for Scoring {
    fn default() -> Self {
        Self { multi_session: 2, multi_project: 1, hang: 1, correction: 1, single: -1 }
    }
}

impl Scoring {
    /// Returns the priority of a lesson that was seen in so many sessions and projects.
    pub fn priority(&self, lesson: &Lesson, tier: Tier, sessions: usize, projects: usize) -> u8 {
        let has = |tag: &str| lesson.tags.iter().any(|other| other == tag);
        let mut priority = BASE_PRIORITY;
        priority += if sessions > 1 { self.multi_session } else { self.single };
        priority += if projects > 1 { self.multi_project } else { 0 };
        priority += if has("severity:hang") { self.hang } else { 0 };
        priority += if tier == Tier::Corrected || has("source:correction") { self.correction } else { 0 };
        u8::try_from(priority.clamp(1, 10)).unwrap_or(1)
    }
}

/// A lesson that was found, and where.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub lesson: Lesson,
    pub tier: Tier,
    pub session: String,
    /// The key of the project.
    pub project: String,
    /// In milliseconds since 1970.
    pub at: u64,
    /// The call that went wrong and what was done instead, without what is particular.
    pub failing: String,
    pub fix: String,
    /// Whether the lesson is about this project alone, by the model's or the user's word.
    pub is_of_project: bool,
}

/// Why nothing was made of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it would have been about.
    pub about: String,
    pub reason: String,
}

/// What a model reported about one project that no call leads to: for its team memory, at a person's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// One line.
    pub text: String,
    pub session: String,
    /// The key of the project.
    pub project: String,
    /// In milliseconds since 1970.
    pub at: u64,
}

/// What is made of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub candidates: Vec<Candidate>,
    pub facts: Vec<Fact>,
    pub held: Vec<Held>,
}

/// Makes candidates of everything that one conversation gave.
pub fn make(found: &Found, home: Option<&Path>) -> Made {
    let Made { mut candidates, mut facts, mut held } = Made::default();
    let programs = programs(&found.ran);
    for finding in &found.findings {
        match of(finding, &found.ran, &programs, home) {
            Some(Ok(candidate)) => candidates.push(candidate),
            Some(Err(reason)) => match fact(finding, &reason, &programs, home) {
                Some(fact) => facts.push(fact),
                None => held.push(reason),
            },
            None => {}
        }
    }
    // A report says better what the fix before it shows.
    let reported: Vec<Lesson> =
        candidates.iter().filter(|it| it.tier == Tier::Reported).map(|it| it.lesson.clone()).collect();
    candidates.retain(|it| {
        it.tier == Tier::Reported || !reported.iter().any(|lesson| is_same_call(lesson, &it.lesson))
    });
    Made { candidates, facts, held }
}

/// Returns the fact about one project that a report is, when it is no lesson about a call.
fn fact(finding: &Finding, held: &Held, programs: &BTreeSet<String>, home: Option<&Path>) -> Option<Fact> {
    let Evidence::Reported { tag, .. } = &finding.evidence else { return None };
    if !tag.is_of_project || held.reason != NO_CALL {
        return None;
    }
    let project = Project::of(Path::new(&finding.place.cwd));
    let here = particulars(&project, programs, home);
    let clean = |text: &str| {
        let text = here.generalise(&text::sanitize::sanitize(&text::privacy::strip_private(text)));
        text::sanitize::one_line(&text, MAX_FACT_CHARS).trim_end_matches(['.', ' ']).to_owned()
    };
    let text = format!("{}. {}", clean(&tag.problem), clean(&tag.solution));
    Some(Fact { text, session: finding.place.session.clone(), project: project.key, at: finding.at })
}

/// Says whether two lessons are about the same calls: each fires on an example of the other.
pub fn is_same_call(one: &Lesson, other: &Lesson) -> bool {
    let fires = |lesson: &Lesson, examples: &[String]| {
        examples
            .iter()
            .any(|example| matches!(rehearsal::judge(lesson, example), Ok(Verdict::Applies { .. })))
    };
    fires(one, &other.fires) && fires(other, &one.fires)
}

/// Returns the programs that a conversation ran.
fn programs(ran: &[Ran]) -> BTreeSet<String> {
    let lines = ran.iter().filter(|ran| !is_of_tool(&ran.command));
    let commands = lines.flat_map(|ran| shell::commands(&ran.command));
    commands.map(|command| command.program().to_owned()).collect()
}

fn particulars(project: &Project, programs: &BTreeSet<String>, home: Option<&Path>) -> Particulars {
    Particulars::new(&project.root, home).with_remote(&project.key).without_programs(programs)
}

fn of(
    finding: &Finding,
    ran: &[Ran],
    programs: &BTreeSet<String>,
    home: Option<&Path>,
) -> Option<Result<Candidate, Held>> {
    let project = Project::of(Path::new(&finding.place.cwd));
    let here = particulars(&project, programs, home);
    let maker = Maker { finding, ran, here, project: project.key };
    Some(match &finding.evidence {
        Evidence::Withdrawn(_) => return None,
        Evidence::Fixed(fix) => maker.fixed(fix),
        Evidence::Corrected(correction) => maker.corrected(correction),
        Evidence::Misused(misuse) => maker.misused(misuse),
        Evidence::HandsOff(hands_off) => maker.hands_off(hands_off),
        Evidence::Prepared(prepared) => maker.prepared(prepared),
        Evidence::Styled(style) => maker.styled(style),
        Evidence::Reported { tag, change, misuse } => match tag.tool.as_deref() {
            None | Some("Bash") => maker.reported(tag, change.as_deref()),
            Some(tool) => maker.reported_of(tag, misuse.as_deref().filter(|misuse| misuse.tool == tool)),
        },
    })
}

struct Maker<'f> {
    finding: &'f Finding,
    ran: &'f [Ran],
    here: Particulars,
    project: String,
}

impl Maker<'_> {
    /// Returns a text on one line without what is particular: it is cut last, since the beginning of a secret is not known as one.
    fn clean_line(&self, text: &str, max_chars: usize) -> String {
        let clean = self.here.generalise(&text::sanitize::sanitize(text));
        text::sanitize::one_line(&clean, max_chars)
    }

    /// Returns what the user said, to be quoted.
    fn quoted(&self, words: &str) -> String {
        self.clean_line(&text::privacy::strip_private(words), MAX_QUOTE_CHARS)
    }

    fn fixed(&self, fix: &Fix) -> Result<Candidate, Held> {
        let error = self.here.generalise(&failure::line(&fix.error));
        let (before, after) = (self.here.generalise(&fix.before), self.here.generalise(&fix.after));
        let wrapper = fix.change.wrapper.as_ref().map(|(wrapper, _)| wrapper.clone()).unwrap_or_default();
        let about = |trigger: &Trigger| trigger.commands.first().cloned().unwrap_or(wrapper.clone());
        let is_outside = |folder: &String| self.here.generalise(folder).starts_with(['/', '~']);
        if fix.change.folder.as_ref().is_some_and(is_outside) {
            return Err(Held { about: before, reason: "it works in a folder of this machine".to_owned() });
        }
        let triggers = fix.change.triggers(&fix.error);
        let mut reason = "no pattern tells the two forms apart".to_owned();
        for trigger in &triggers {
            let name = about(trigger);
            let mut lesson = Lesson {
                summary: summary(&[
                    self.here.generalise(&only_here(fix, trigger)),
                    format!("`{name}` fails: {error}"),
                    missing(&name, trigger),
                    format!("`{name}` fails"),
                    name.clone(),
                ]),
                problem: problem(
                    &before,
                    &error,
                    fix.announced.as_deref().map(|said| self.here.generalise(said)).as_deref(),
                ),
                solution: solution(
                    &after,
                    &self.here.generalise(&advice(fix)),
                    fix.corrected.as_deref().map(|said| self.here.generalise(said)).as_deref(),
                ),
                trigger: trigger.clone(),
                tags: tags(fix.change.before.program(), &fix.error, fix.corrected.is_some()),
                confidence: confidence(fix),
                source: Tier::Fixed.source().to_owned(),
                ..Lesson::default()
            };
            lesson.slug = slug::of(&lesson.summary);
            // What is so in this project has a say in it alone, and so has what others do all the time.
            let is_other = fix.change.program.is_some()
                || fix.change.subcommand.is_some()
                || fix.change.wrapper.is_some()
                || fix.change.conditions.iter().any(|it| it.starts_with('@'));
            let is_of_project = fix.change.is_of_project
                || (fix.is_alone && fix.change.subcommand.is_some())
                || ((is_other || fix.is_alone) && quiet::disturbed(&lesson).is_some());
            lesson.scope = is_of_project.then(|| self.project.clone());
            self.add_examples(&mut lesson, &fix.before, &fix.after);
            match check(&lesson) {
                Ok(()) => {
                    return Ok(self.candidate(lesson, Tier::Fixed, (before, after), is_of_project));
                }
                Err(flaw) => reason = flaw,
            }
        }
        Err(Held { about: triggers.first().map(about).unwrap_or(before), reason })
    }

    /// Makes a lesson of what has to be done before a command.
    fn prepared(&self, it: &Prepared) -> Result<Candidate, Held> {
        let error = self.here.generalise(&failure::line(&it.error));
        let (before, step) = (self.here.generalise(&it.command), self.here.generalise(&it.step));
        let (name, announced) = (it.name(), it.announced.as_deref().map(|said| self.here.generalise(said)));
        let whole = format!("{step} && {before}");
        let mut lesson = Lesson {
            summary: summary(&[
                format!("`{name}` fails here before `{step}`"),
                format!("`{name}` fails here: something has to be done first"),
            ]),
            problem: problem(&before, &error, announced.as_deref()),
            solution: format!(
                "Something has to be done before it in this project, unless that was done already:\n\n    {step}\n\nAfter that the same call worked."
            ),
            trigger: it.trigger(),
            tags: tags(name.split(' ').next().unwrap_or_default(), "", false),
            confidence: if it.is_named { 65 } else { 55 },
            source: Tier::Fixed.source().to_owned(),
            scope: Some(self.project.clone()),
            ..Lesson::default()
        };
        lesson.slug = slug::of(&lesson.summary);
        add_example(&mut lesson, &whole, false);
        add_example(&mut lesson, &step, false);
        self.add_examples(&mut lesson, &it.command, "");
        match check(&lesson) {
            Ok(()) => Ok(self.candidate(lesson, Tier::Fixed, (before, whole), true)),
            Err(reason) => Err(Held { about: name, reason }),
        }
    }

    /// Makes a lesson of how the user wants code to be written.
    fn styled(&self, it: &Style) -> Result<Candidate, Held> {
        let clean = |text: &str| self.clean_line(text, MAX_EXAMPLE / 2);
        let words = self.quoted(&it.words);
        let (path, before, after) = (clean(&it.path), clean(&it.before), clean(&it.after));
        let about = match &it.right {
            Some(right) => format!("`{}` is not what is wanted here: use `{right}`", it.wrong),
            None => format!("`{}` is not wanted here", it.wrong),
        };
        // A general name is the name of nothing.
        if clean(&it.wrong) != it.wrong {
            return Err(Held { about, reason: "it has a name of its own".to_owned() });
        }
        let instead = match &it.right {
            Some(right) => format!("Use `{right}` in its place, as in:\n\n    {after}"),
            None => "Say it without, and look at how the code around it does.".to_owned(),
        };
        let mut lesson = Lesson {
            summary: summary(&[about.clone(), format!("`{}` is not wanted here", it.wrong)]),
            problem: format!(
                "The user corrected this line of a .{} file in this project:\n\n    {before}\n\n> {words}",
                it.ending
            ),
            solution: format!("Do not write `{}` in .{} files. {instead}", it.wrong, it.ending),
            trigger: Trigger {
                tools: FILE_TOOLS.map(str::to_owned).to_vec(),
                paths: vec![format!("**/*.{}", it.ending)],
                content: vec![it.expression()],
                ..Trigger::default()
            },
            tags: vec!["tool:Edit".to_owned(), "source:correction".to_owned()],
            confidence: 60,
            source: Tier::Corrected.source().to_owned(),
            scope: Some(self.project.clone()),
            ..Lesson::default()
        };
        lesson.slug = slug::of(&lesson.summary);
        let call = |tool: &str, text: &str| {
            let field = if tool == "Edit" { "new_string" } else { "content" };
            serde_json::json!({"tool": tool, "file_path": path, field: text}).to_string()
        };
        for tool in ["Edit", "Write"] {
            add_example(&mut lesson, &call(tool, &before), true);
            add_example(&mut lesson, &call(tool, &after), false);
        }
        add_example(&mut lesson, &serde_json::json!({"tool": "Read", "file_path": path}).to_string(), false);
        match check(&lesson) {
            Ok(()) => {
                let calls = (call("Edit", &before), call("Edit", &after));
                Ok(self.candidate(lesson, Tier::Corrected, calls, true))
            }
            Err(reason) => Err(Held { about, reason }),
        }
    }

    fn misused(&self, misuse: &Misuse) -> Result<Candidate, Held> {
        let other = match &misuse.flaw {
            Flaw::Tool(other) | Flaw::Before(other) | Flaw::Large(other) => other,
            _ => &misuse.tool,
        };
        let call =
            |tool: &str, input: &Map<String, Value>| self.here.generalise(&misuse::written(tool, input));
        let (before, after) = (call(&misuse.tool, &misuse.before), call(other, &misuse.after));
        let error = self.here.generalise(&failure::line(&misuse.error));
        // What is given as an example is a value of this one call.
        let (about, advice) =
            (self.here.generalise(&misuse.summary()), self.here.generalise(&misuse.advice()));
        let is_named = matches!(&misuse.flaw, Flaw::Value(_, right) if misuse.error.contains(right));
        let mut lesson = Lesson {
            summary: summary(std::slice::from_ref(&about)),
            problem: format!("{} refuses this call:\n\n    {before}\n\nwith: {error}", misuse.tool),
            solution: format!("Call it in this form, which worked:\n\n    {after}\n\n{advice}"),
            trigger: misuse.trigger(),
            tags: vec![format!("tool:{}", misuse.tool)],
            confidence: if is_named { 70 } else { 60 },
            source: Tier::Fixed.source().to_owned(),
            ..Lesson::default()
        };
        lesson.slug = slug::of(&lesson.summary);
        // Other projects indent in their own way, and have other large files.
        let is_of_project = matches!(misuse.flaw, Flaw::Indent { .. } | Flaw::Large(_));
        lesson.scope = is_of_project.then(|| self.project.clone());
        self.add_calls(&mut lesson, misuse);
        match check(&lesson) {
            Ok(()) => Ok(self.candidate(lesson, Tier::Fixed, (before, after), is_of_project)),
            Err(reason) => Err(Held { about, reason }),
        }
    }

    /// Adds the calls of a misuse, and what else went well.
    fn add_calls(&self, lesson: &mut Lesson, misuse: &Misuse) {
        for (call, fires) in misuse.examples() {
            let so_far = if fires { lesson.fires.len() } else { lesson.quiet.len() };
            if so_far < MIN_EXAMPLES {
                add_example(lesson, &self.here.generalise(&call), fires);
            }
        }
        self.fill_quiet(lesson);
    }

    /// Makes a lesson of a report about another tool than the shell: of the call of it that was refused just before.
    fn reported_of(&self, tag: &Tag, misuse: Option<&Misuse>) -> Result<Candidate, Held> {
        let clean =
            |text: &str| self.here.generalise(&text::sanitize::sanitize(&text::privacy::strip_private(text)));
        let (told, remedy) = (clean(&tag.problem), clean(&tag.solution));
        let first = told.lines().next().unwrap_or_default().to_owned();
        let about = summary(&[tag.summary.as_deref().map(clean).unwrap_or_default(), first]);
        let Some(misuse) = misuse else {
            let tool = tag.tool.as_deref().unwrap_or_default();
            return Err(Held { about, reason: format!("no call of {tool} was refused before it") });
        };
        let mut lesson = Lesson {
            slug: slug::of(&about),
            summary: about.clone(),
            problem: told,
            solution: longer(&remedy, &misuse.tool),
            trigger: misuse.trigger(),
            tags: tag.tags.iter().map(|tag| clean(tag)).filter(|tag| !tag.contains(',')).collect(),
            confidence: if tag.tags.is_empty() { 70 } else { 80 },
            source: Tier::Reported.source().to_owned(),
            scope: tag.is_of_project.then(|| self.project.clone()),
            ..Lesson::default()
        };
        self.add_calls(&mut lesson, misuse);
        let calls = (self.here.generalise(&misuse::written(&misuse.tool, &misuse.before)), remedy);
        match check(&lesson) {
            Ok(()) => Ok(self.candidate(lesson, Tier::Reported, calls, tag.is_of_project)),
            Err(reason) => Err(Held { about, reason }),
        }
    }

    fn corrected(&self, correction: &Correction) -> Result<Candidate, Held> {
        let commands = shell::commands(&correction.before);
        let is_wrong = |word: &str| correction.wrong.iter().any(|wrong| wrong == &word.to_lowercase());
        let about = correction.wrong.join(" ");
        let mut reason = "the user's words name no part of the call".to_owned();
        let (before, after) =
            (self.here.generalise(&correction.before), self.here.generalise(&correction.after));
        let words = self.quoted(&correction.words);
        // What runs another command is there a second time, around that command.
        let first = |wrapper: &str| wrapper.split(' ').next().unwrap_or_default().to_owned();
        let is_wrapper =
            |name: &str| commands.iter().any(|other| other.wrappers.iter().any(|it| first(it) == name));
        for command in commands.iter().filter(|command| !is_wrapper(command.program())) {
            let (mut pattern, mut with) = (vec![command.program().to_owned()], Vec::new());
            let subcommand = change::subcommand(command);
            let flags: Vec<String> = command
                .words
                .iter()
                .map(|word| word.text.split('=').next().unwrap_or_default().to_owned())
                .filter(|flag| flag.starts_with('-') && is_wrong(flag))
                .collect();
            let wrapper = command.wrappers.iter().find(|wrapper| is_wrong(&first(wrapper)));
            let is_named = is_wrong(command.program());
            let is_added = correction.wrong.is_empty() && is_given(command, correction);
            if !is_added
                && !is_named
                && wrapper.is_none()
                && flags.is_empty()
                && !subcommand.iter().any(|word| is_wrong(word))
            {
                continue;
            }
            // Only where one takes the place of the other in everything is it about all of its calls.
            if !is_named || !is_replaced(command.program(), &correction.right) {
                // "Docker always without sudo": whatever it does.
                let said = correction.words.to_lowercase();
                let is_heard = |word: &str| change::has_word(&said, &word.to_lowercase());
                let is_of_program = wrapper.is_some()
                    && is_heard(command.program())
                    && !subcommand.iter().any(|word| is_heard(word));
                if !is_of_program {
                    pattern.extend(subcommand);
                }
                pattern.extend(flags);
                with.extend(wrapper.filter(|_| !is_named).map(|wrapper| format!("@{wrapper}")));
            }
            if is_named {
                pattern.extend(named_arguments(command, correction));
            }
            let pattern = pattern.join(" ");
            let said = |words: &[String]| self.here.generalise(&words.join(" "));
            let (wrong, right) = (said(&correction.wrong), said(&correction.right));
            let without = if is_added { correction.right.clone() } else { Vec::new() };
            let (about, advice) = if is_added {
                (
                    format!("`{pattern}` is not wanted without `{right}` here"),
                    format!("Always add `{right}`."),
                )
            } else if right.is_empty() && (pattern.contains("...") || pattern.contains('=')) {
                (format!("`{pattern}` is not wanted here"), "Do it as the user said.".to_owned())
            } else if right.is_empty() {
                let about = match with.is_empty() {
                    true => format!("`{pattern}` is not wanted here: leave out `{wrong}`"),
                    false => format!("`{pattern}` is not wanted with `{wrong}` here"),
                };
                (about, format!("Leave out `{wrong}`."))
            } else {
                let about = format!("`{pattern}` is not what is wanted here: use `{right}`");
                (about, format!("Use `{right}` in place of `{wrong}`."))
            };
            let mut lesson = Lesson {
                summary: summary(&[about, format!("`{pattern}` is not wanted here")]),
                problem: format!("The user corrected `{before}` in this project:\n\n> {words}"),
                solution: solution(&after, &advice, None),
                trigger: Trigger { commands: vec![pattern], with, without, ..Trigger::default() },
                tags: tags(command.program(), "", true),
                confidence: 65,
                source: Tier::Corrected.source().to_owned(),
                scope: Some(self.project.clone()),
                ..Lesson::default()
            };
            lesson.slug = slug::of(&lesson.summary);
            self.add_examples(&mut lesson, &correction.before, &correction.after);
            match check(&lesson) {
                Ok(()) => return Ok(self.candidate(lesson, Tier::Corrected, (before, after), true)),
                Err(flaw) => reason = flaw,
            }
        }
        Err(Held { about, reason })
    }

    fn hands_off(&self, it: &HandsOff) -> Result<Candidate, Held> {
        let (before, after) = (self.here.generalise(&it.before), self.here.generalise(&it.after));
        let part = self.here.generalise(&it.part);
        let words = self.quoted(&it.words);
        let about = match it.is_place {
            true => format!("New files do not belong into `{part}/` here"),
            false => format!("`{part}` is not to be edited here"),
        };
        // A general path is the path of no file.
        if part != it.part {
            return Err(Held { about, reason: "its path has a name or a number of its own".to_owned() });
        }
        // Other kinds of files may well belong there.
        let ending = Path::new(&before).extension().map(|ending| ending.to_string_lossy().into_owned());
        let ending = ending.filter(|ending| is_program(ending));
        let (tools, path) = match (it.is_place, &ending) {
            (true, Some(ending)) => (vec!["Write".to_owned()], format!("**/{part}/**/*.{ending}")),
            (true, None) => (vec!["Write".to_owned()], format!("**/{part}/**")),
            (false, _) => {
                let path = if it.is_folder { format!("**/{part}/**") } else { format!("**/{part}") };
                (FILE_TOOLS.map(str::to_owned).to_vec(), path)
            }
        };
        let mut lesson = Lesson {
            summary: summary(std::slice::from_ref(&about)),
            problem: match it.is_place {
                true => {
                    format!("The user had a new file moved in this project, from `{before}`:\n\n> {words}")
                }
                false => format!("The user corrected an edit of `{before}` in this project:\n\n> {words}"),
            },
            solution: match it.is_place {
                true => format!(
                    "Put such a file where the user wants it; last time that was `{after}`. Files that are there already may stay."
                ),
                false => format!(
                    "Do not edit `{part}`. Edit its source instead; last time that was `{after}`. If that is not possible, ask the user first."
                ),
            },
            trigger: Trigger { tools, paths: vec![path], ..Trigger::default() },
            tags: vec![
                format!("tool:{}", if it.is_place { "Write" } else { "Edit" }),
                "source:correction".to_owned(),
            ],
            confidence: 65,
            source: Tier::Corrected.source().to_owned(),
            scope: Some(self.project.clone()),
            ..Lesson::default()
        };
        lesson.slug = slug::of(&lesson.summary);
        let call = |tool: &str, path: &str| serde_json::json!({"tool": tool, "file_path": path}).to_string();
        // Another new file of the same kind.
        let other = ending.map(|ending| Path::new(&before).with_file_name(format!("other.{ending}")));
        let other = other.map(|other| other.to_string_lossy().into_owned()).unwrap_or_default();
        for (tool, path, fires) in [
            ("Edit", &before, true),
            ("Write", &before, true),
            ("Write", &other, it.is_place),
            ("Edit", &after, false),
            ("Write", &after, false),
            ("Read", &before, false),
        ] {
            add_example(&mut lesson, &call(tool, path), fires);
        }
        match check(&lesson) {
            Ok(()) => {
                let tool = if it.is_place { "Write" } else { "Edit" };
                let calls = (call(tool, &before), call(tool, &after));
                Ok(self.candidate(lesson, Tier::Corrected, calls, true))
            }
            Err(reason) => Err(Held { about, reason }),
        }
    }

    fn reported(&self, tag: &Tag, fix: Option<&Fix>) -> Result<Candidate, Held> {
        let clean =
            |text: &str| self.here.generalise(&text::sanitize::sanitize(&text::privacy::strip_private(text)));
        let (told, remedy) = (clean(&tag.problem), clean(&tag.solution));
        let first = told.lines().next().unwrap_or_default().to_owned();
        let held =
            |reason: &str| Held { about: summary(std::slice::from_ref(&first)), reason: reason.to_owned() };
        let mut triggers: Vec<(Trigger, Option<&Fix>)> = Vec::new();
        if let Some(trigger) = tag.trigger.as_deref() {
            triggers.extend(reported_triggers(trigger, &remedy).into_iter().map(|trigger| (trigger, None)));
        } else {
            // Without a call of its own it is about the one that it names.
            for named in backticked(&tag.problem) {
                triggers
                    .extend(reported_triggers(&named, &remedy).into_iter().map(|trigger| (trigger, None)));
            }
        }
        if let Some(fix) = fix {
            triggers.extend(fix.change.triggers(&fix.error).into_iter().map(|trigger| (trigger, Some(fix))));
        }
        let mut reason = NO_CALL.to_owned();
        // What others do all the time, and was wrong here, has a say here alone.
        let here = triggers.iter().map(|(trigger, fix)| (trigger, *fix, true));
        let everywhere = triggers.iter().map(|(trigger, fix)| (trigger, *fix, tag.is_of_project));
        for (trigger, fix, is_of_project) in everywhere.chain(here) {
            let pattern = trigger.commands.first().cloned().unwrap_or_default();
            let mut lesson = Lesson {
                summary: summary(&[
                    tag.summary.clone().map(|text| clean(&text)).unwrap_or_default(),
                    first.clone(),
                ]),
                problem: told.clone(),
                solution: longer(&remedy, &pattern),
                trigger: trigger.clone(),
                tags: tag.tags.iter().map(|tag| clean(tag)).filter(|tag| !tag.contains(',')).collect(),
                confidence: 60
                    + if tag.trigger.is_some() && tag.tool.is_some() { 10 } else { 0 }
                    + if tag.tags.is_empty() { 0 } else { 10 },
                source: Tier::Reported.source().to_owned(),
                scope: is_of_project.then(|| self.project.clone()),
                ..Lesson::default()
            };
            lesson.slug = slug::of(&lesson.summary);
            let call = tag.trigger.clone().unwrap_or_else(|| pattern.clone());
            let (before, after) =
                fix.map_or((call.as_str(), ""), |fix| (fix.before.as_str(), fix.after.as_str()));
            self.add_examples(&mut lesson, before, after);
            for named in backticked(&remedy).iter().chain([&remedy]) {
                add_example(&mut lesson, named, false);
            }
            self.fill_quiet(&mut lesson);
            match check(&lesson) {
                Ok(()) => {
                    let calls = (self.here.generalise(before), remedy.clone());
                    return Ok(self.candidate(lesson, Tier::Reported, calls, is_of_project));
                }
                Err(flaw) => reason = flaw,
            }
        }
        Err(held(&reason))
    }

    fn candidate(
        &self,
        lesson: Lesson,
        tier: Tier,
        (failing, fix): (String, String),
        is_of_project: bool,
    ) -> Candidate {
        Candidate {
            lesson,
            tier,
            session: self.finding.place.session.clone(),
            project: self.project.clone(),
            at: self.finding.at,
            failing,
            fix,
            is_of_project,
        }
    }

    /// Adds calls of the conversation that the lesson fires on, and some that it does not.
    fn add_examples(&self, lesson: &mut Lesson, before: &str, after: &str) {
        add_example(lesson, &self.here.generalise(before), true);
        add_example(lesson, &self.here.generalise(after), false);
        // Calls that worked are what the lesson must leave alone; those that failed are more of the same.
        for ran in self.ran {
            let command = self.here.generalise(&ran.command);
            if ran.has_failed {
                add_example(lesson, &command, true);
            }
        }
        // Of a mistake that was made once: the command without the line around it, then its pattern alone.
        for command in shell::commands(before) {
            add_example(lesson, &self.here.generalise(&command.text()), true);
        }
        let is_call = |pattern: &&String| !pattern.contains(['*', '=']) && !pattern.contains("...");
        for pattern in lesson.trigger.commands.clone().iter().filter(is_call) {
            add_example(lesson, pattern, true);
        }
        // It is as wrong in another folder, and with less of its output.
        if let [only] = &lesson.fires[..] {
            let only = only.clone();
            add_example(lesson, &format!("cd app && {only}"), true);
            if lesson.fires.len() < MIN_EXAMPLES {
                add_example(lesson, &format!("{only} 2>&1 | tail -20"), true);
            }
        }
        self.fill_quiet(lesson);
        // And the right form is as right: by itself, and in another folder.
        if lesson.quiet.len() < MIN_EXAMPLES && !is_of_tool(after) {
            let after = self.here.generalise(after);
            for command in shell::commands(&after) {
                add_example(lesson, &command.text(), false);
            }
            add_example(lesson, &format!("cd app && {after}"), false);
        }
    }

    fn fill_quiet(&self, lesson: &mut Lesson) {
        let program =
            lesson.trigger.commands.first().and_then(|pattern| pattern.split(' ').next().map(str::to_owned));
        let of_program = |ran: &&Ran| program.as_deref().is_some_and(|program| ran.command.contains(program));
        let (near, mut far): (Vec<&Ran>, Vec<&Ran>) =
            self.ran.iter().filter(|ran| !ran.has_failed).partition(of_program);
        // Calls of the same kind of tool say more.
        far.sort_by_key(|ran| is_of_tool(&ran.command) == program.is_some());
        for ran in near.into_iter().chain(far) {
            if lesson.quiet.len() < MIN_EXAMPLES {
                add_example(lesson, &self.here.generalise(&ran.command), false);
            }
        }
    }
}

/// Adds the examples of another lesson about the same calls, as far as they fit.
pub fn add_examples_of(lesson: &mut Lesson, other: &Lesson) {
    other.fires.iter().for_each(|call| add_example(lesson, call, true));
    other.quiet.iter().for_each(|call| add_example(lesson, call, false));
}

/// Adds a call to the examples if it does what they must do.
fn add_example(lesson: &mut Lesson, call: &str, fires: bool) {
    let call = call.trim();
    let is_full = if fires { lesson.fires.len() } else { lesson.quiet.len() } >= MAX_EXAMPLES;
    if call.is_empty()
        || call.len() > MAX_EXAMPLE
        || is_full
        || call.contains(|it: char| it.is_control() && it != '\n')
    {
        return;
    }
    // An example is a call, not a sentence.
    if !fires
        && !is_of_tool(call)
        && !shell::commands(call).first().is_some_and(|command| is_program(command.program()))
    {
        return;
    }
    let applies = matches!(rehearsal::judge(lesson, call), Ok(Verdict::Applies { .. }));
    let examples = if fires { &mut lesson.fires } else { &mut lesson.quiet };
    if applies == fires && !examples.iter().any(|example| example == call) {
        examples.push(call.to_owned());
    }
}

/// Says whether an example is the call of another tool than the shell.
fn is_of_tool(call: &str) -> bool {
    call.starts_with("{\"")
}

fn is_program(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 40
        && word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'.')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte))
}

/// Says what keeps a lesson from being a candidate.
fn check(lesson: &Lesson) -> Result<(), String> {
    let trigger = &lesson.trigger;
    let is_secretive = |text: &String| text::redact::redact(text) != text.as_str();
    let patterns = [&trigger.commands, &trigger.with, &trigger.without, &trigger.paths];
    let expressions = trigger.raw.iter().chain(&trigger.content);
    let expressions = expressions.chain(trigger.inputs.iter().map(|(_, expression)| expression));
    // A secret may have characters that are escaped there.
    let mut plain = expressions.flat_map(|it| [it.clone(), it.replace('\\', "")]);
    if patterns.into_iter().flatten().any(is_secretive) || plain.any(|text| is_secretive(&text)) {
        return Err("its pattern would hold a secret".to_owned());
    }
    let told = [&lesson.summary, &lesson.problem, &lesson.solution];
    if told.into_iter().chain(&lesson.fires).chain(&lesson.quiet).any(is_secretive) {
        return Err("its text would hold a secret".to_owned());
    }
    if let Some(problem) = intake::check(lesson).into_iter().find(|problem| problem.is_grave) {
        return Err(problem.to_string());
    }
    for (name, examples) in [("fires on", &lesson.fires), ("leaves alone", &lesson.quiet)] {
        if examples.len() < MIN_EXAMPLES {
            return Err(format!(
                "it {name} {} of the calls that were seen, and {MIN_EXAMPLES} are needed",
                examples.len()
            ));
        }
    }
    // One of a single project is silent elsewhere, by its scope.
    match quiet::disturbed(lesson).filter(|_| lesson.scope.is_none()) {
        Some(call) => Err(format!("it would fire on ordinary work: {call}")),
        None => Ok(()),
    }
}

/// Says what is wrong about a call in this project, which its error tells less well; empty where that is nothing.
fn only_here(fix: &Fix, trigger: &Trigger) -> String {
    let name = trigger.commands.first().map(String::as_str).unwrap_or_default();
    match &fix.change.value {
        Some(value) if fix.change.is_of_project => {
            let base = name.split(' ').next().unwrap_or_default();
            let given = |it: &str| format!("{} {it}", value.of).trim().to_owned();
            format!("`{base} {}` fails here: use `{}`", given(&value.old), given(&value.new))
        }
        None => match (&fix.change.folder, &fix.change.program) {
            _ if let Some(path) = &fix.change.path => format!("`{name}` fails here: run it as `{path}`"),
            (Some(folder), _) => {
                format!("`{name}` works in the folder `{}` here", folder.trim_end_matches('/'))
            }
            (None, Some((old, new))) if fix.change.is_kin => {
                format!("`{new}` is used here in place of `{old}`")
            }
            _ if fix.change.is_of_project => missing(name, trigger),
            _ => String::new(),
        },
        Some(_) => String::new(),
    }
}

/// Says what a call fails without; empty where that is nothing.
fn missing(name: &str, trigger: &Trigger) -> String {
    match trigger.without.first().map(String::as_str) {
        None => String::new(),
        Some("<") => format!("`{name}` fails without an input"),
        Some("&") => format!("`{name}` does not return: it belongs into the background"),
        Some(item) => match item.strip_prefix('@') {
            Some(wrapper) => format!("`{name}` fails outside `{wrapper}`"),
            None => format!("`{name}` fails without `{}`", item.trim_end_matches('=')),
        },
    }
}

/// Returns the first text that can be a summary, else the beginning of the last.
fn summary(texts: &[String]) -> String {
    let clean: Vec<String> = texts
        .iter()
        .map(|text| text.replace(['\n', '\r'], " ").trim().trim_end_matches(['.', '…', ':', ',']).to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    let fits = |text: &&String| text.chars().count() <= MAX_SUMMARY_CHARS;
    if let Some(text) = clean.iter().find(fits) {
        return text.clone();
    }
    let Some(text) = clean.first() else { return String::new() };
    let end = text.char_indices().nth(MAX_SUMMARY_CHARS).map_or(text.len(), |(at, _)| at);
    let cut =
        text[..end].rfind([',', ';', ':', '(']).filter(|at| *at > 20).or_else(|| text[..end].rfind(' '));
    text[..cut.unwrap_or(end)].trim_end_matches([',', ';', ':', ' ', '`']).to_owned()
}

fn problem(before: &str, error: &str, announced: Option<&str>) -> String {
    let mut text = format!("This call fails:\n\n    {}", before.replace('\n', "\n    "));
    if !error.is_empty() {
        text.push_str(&format!("\n\nwith: {error}"));
    }
    if let Some(announced) = announced {
        text.push_str(&format!("\n\n{}.", announced.trim_end_matches('.')));
    }
    text
}

fn solution(after: &str, advice: &str, corrected: Option<&str>) -> String {
    let mut text =
        format!("Run it in this form, which worked:\n\n    {}\n\n{advice}", after.replace('\n', "\n    "));
    if let Some(corrected) = corrected {
        text.push_str(&format!(
            "\n\nThe user said: {}",
            text::sanitize::one_line(corrected, MAX_QUOTE_CHARS)
        ));
    }
    text
}

/// Says whether one of these words is a program that takes the place of another in all of its calls.
fn is_replaced(program: &str, right: &[String]) -> bool {
    right.iter().any(|word| change::is_same_program(program, word))
}

/// Says whether the call that followed runs the same program with everything that the user named.
fn is_given(command: &shell::Command, correction: &Correction) -> bool {
    shell::commands(&correction.after).iter().any(|after| {
        let has = |flag: &String| after.words.iter().any(|word| word.text.to_lowercase() == *flag);
        after.program() == command.program() && correction.right.iter().all(has)
    })
}

/// Returns what a command works on that the user named and that the call which followed does not have, as parts of a pattern: `main`.
fn named_arguments<'c>(
    command: &'c shell::Command,
    correction: &'c Correction,
) -> impl Iterator<Item = String> + use<'c> {
    let said = correction.words.to_lowercase();
    let subcommand = change::subcommand(command).len();
    let words = command.words.iter().enumerate().skip(1 + subcommand);
    let words = words.map(|(at, word)| (command.words[at - 1].text.clone(), word.text.clone()));
    let named = words.filter(move |(_, word)| {
        is_program(word)
            && change::has_word(&said, &word.to_lowercase())
            && !correction.after.contains(word.as_str())
    });
    // `--context prod`.
    named.flat_map(|(flag, word)| {
        if flag.starts_with("--") && !flag.contains('=') {
            vec![format!("{flag}={word}")]
        } else {
            vec!["...".to_owned(), word]
        }
    })
}

/// Says what was changed.
fn advice(fix: &Fix) -> String {
    let change = &fix.change;
    let quoted =
        |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if let Some(folder) = &change.folder {
        parts.push(format!("Run it in the folder `{}`", folder.trim_end_matches('/')));
    }
    if let Some(path) = &change.path {
        parts.push(format!("Run the program as `{path}`"));
    }
    if let Some(argument) = &change.argument {
        parts.push(format!("Say what it is for, as `{argument}`"));
    }
    if let Some(flag) = &change.emptied {
        parts.push(format!("Give `{flag}` an empty value"));
    }
    if let Some((wrapper, _)) = &change.wrapper {
        parts.push(format!("Run it without `{wrapper}`"));
    }
    if let Some((flag, is_ahead)) = &change.order {
        let side = if *is_ahead { "before" } else { "behind" };
        parts.push(format!("Give `{flag}` {side} the subcommand"));
    }
    if let Some(quoting) = &change.quoting {
        parts.push(format!("Quote `{}` for the shell", quoting.word));
    }
    if let Some((_, around)) = change.program.as_ref().filter(|_| change.is_around) {
        parts.push(format!("Run it with `{around}`, as above"));
    } else if let Some((old, new)) = change.program.as_ref().or(change.subcommand.as_ref()) {
        parts.push(format!("Use `{new}` in place of `{old}`"));
    }
    match (&change.removed[..], &change.added[..]) {
        _ if change.program.is_some() => {}
        ([old], [new]) => parts.push(format!("Use `{new}` in place of `{old}`")),
        (removed, added) => {
            parts.extend((!removed.is_empty()).then(|| format!("Leave out {}", quoted(removed))));
            parts.extend((!added.is_empty()).then(|| format!("Add {}", quoted(added))));
        }
    }
    if let Some(value) = &change.value {
        let change::Value { of, old, new, is_variable } = value;
        let what = match (of.as_str(), is_variable) {
            ("", _) => format!("`{new}`"),
            (of, true) => format!("`{of}={new}`"),
            (of, false) => format!("`{of} {new}`"),
        };
        parts.push(format!("Use {what} in place of `{old}`"));
    }
    if change.is_separated {
        parts.push("Put the arguments of the program that it starts after `--`".to_owned());
    }
    for condition in &change.conditions {
        parts.push(match condition.as_str() {
            "<" => "Give it an input".to_owned(),
            "&" => "Run it in the background, with its output in a file".to_owned(),
            other if other.starts_with('@') => format!("Run it with `{}`", &other[1..]),
            other => match other.strip_suffix('=') {
                Some(name) => format!("Set `{name}` for it"),
                None => format!("Add `{other}`"),
            },
        });
    }
    format!("{}.", parts.join(". "))
}

fn tags(program: &str, error: &str, is_corrected: bool) -> Vec<String> {
    let mut tags = vec![format!("tool:{program}")];
    let lower = error.to_lowercase();
    if lower.contains("timed out") || lower.contains("timeout") || lower.contains("hang") {
        tags.push("severity:hang".to_owned());
    }
    tags.extend(is_corrected.then(|| "source:correction".to_owned()));
    tags
}

/// In percent.
fn confidence(fix: &Fix) -> u8 {
    let lower = fix.error.to_lowercase();
    let is_named =
        fix.change.removed.iter().chain(&fix.change.added).any(|flag| lower.contains(&flag.to_lowercase()));
    let points = [(is_named, 10), (fix.announced.is_some(), 5), (fix.corrected.is_some(), 15)];
    55 + points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum::<u8>()
}

/// Returns a remedy that is long enough to act on by itself.
fn longer(remedy: &str, pattern: &str) -> String {
    if remedy.chars().count() >= MIN_SOLUTION_CHARS {
        return remedy.to_owned();
    }
    let remedy = remedy.trim_end_matches('.');
    format!("When you are about to run `{pattern}`, do this instead: {remedy}.")
}

/// Returns triggers for a call that a model named, the one that says most first.
fn reported_triggers(call: &str, remedy: &str) -> Vec<Trigger> {
    let Some(command) = change::of_line(call) else { return Vec::new() };
    if !is_program(command.program()) {
        return Vec::new();
    }
    let mut base = vec![command.program().to_owned()];
    base.extend(change::subcommand(&command));
    let flags: Vec<String> = command
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.split('=').next().unwrap_or_default().to_owned())
        .filter(|word| {
            word.len() > 1
                && word.starts_with('-')
                && word.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
        })
        .collect();
    // What the remedy adds makes the call harmless.
    let without: Vec<String> = std::iter::once(remedy.to_owned())
        .chain(backticked(remedy))
        .flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .map(|word| {
            word.trim_matches(['`', '.', ',', ';', ')', '(', '\'', '"'])
                .split('=')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .filter(|word| {
            word.len() > 1
                && word.starts_with('-')
                && word.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
        })
        .filter(|word| !flags.contains(word))
        .fold(Vec::new(), |mut all, word| {
            if !all.contains(&word) {
                all.push(word);
            }
            all
        });
    let pattern = |flags: &[String], without: &[String]| {
        let words: Vec<&str> = base.iter().chain(flags).map(String::as_str).collect();
        Trigger { commands: vec![words.join(" ")], without: without.to_vec(), ..Trigger::default() }
    };
    if base.len() == 1 && flags.is_empty() && command.words.len() > 1 {
        // The program alone would be about all of its calls.
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let is_plain = words.iter().all(|word| is_program(word));
        return if is_plain {
            vec![Trigger { commands: vec![words.join(" ")], without, ..Trigger::default() }]
        } else {
            Vec::new()
        };
    }
    let mut triggers = vec![pattern(&flags, &[])];
    if !without.is_empty() {
        triggers.push(pattern(&flags, &without));
    }
    triggers
}

/// Returns what a text has between backticks.
fn backticked(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(|code| code.trim().to_owned())
        .filter(|code| !code.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_with_a_secret_in_any_of_its_texts_is_refused() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        for lesson in [
            Lesson { summary: key.clone(), ..Lesson::default() },
            Lesson { problem: key.clone(), ..Lesson::default() },
            Lesson { solution: key.clone(), ..Lesson::default() },
            Lesson { fires: vec![key.clone()], ..Lesson::default() },
            Lesson { quiet: vec![key.clone()], ..Lesson::default() },
        ] {
            assert_eq!(check(&lesson), Err("its text would hold a secret".to_owned()), "{lesson:?}");
        }
        let token = format!("eyJ{0}.eyJ{0}.{0}", "hbGciOiJIUzI1".repeat(2));
        let escaped = vec![crate::quoting::escaped(&token)];
        let list = vec![key.clone()];
        for trigger in [
            Trigger { commands: list.clone(), ..Trigger::default() },
            Trigger { with: list.clone(), ..Trigger::default() },
            Trigger { without: list.clone(), ..Trigger::default() },
            Trigger { paths: list.clone(), ..Trigger::default() },
            Trigger { raw: list.clone(), ..Trigger::default() },
            Trigger { content: list.clone(), ..Trigger::default() },
            Trigger { content: escaped, ..Trigger::default() },
            Trigger { inputs: vec![("id".to_owned(), key)], ..Trigger::default() },
        ] {
            let lesson = Lesson { trigger, ..Lesson::default() };
            assert_eq!(check(&lesson), Err("its pattern would hold a secret".to_owned()), "{lesson:?}");
        }
    }
}
