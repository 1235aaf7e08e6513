//! What is wrong with the lessons, one by one and all together.

use super::catalogue::{Catalogue, Item, Places, State};
use super::intake::{self, Problem};
use super::similar;
use base::settings;
use lessons::artifact::{self, DUPLICATED_BY, Installed, REQUIRES};
use lessons::choose::Bounds;
use lessons::format::Flaw;
use lessons::index::{self, Fingerprint};
use lessons::inject;
use lessons::layers::{self, Layer};
use lessons::{Kind, Lesson};
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is wrong with one lesson.
#[derive(Clone, Debug)]
pub struct Patient {
    /// Its name.
    pub slug: String,
    /// Who it comes from.
    pub layer: Layer,
    /// Its file.
    pub file: PathBuf,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// What is wrong with everything.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// How many lessons were looked at.
    pub examined: usize,
    /// The lessons with something wrong.
    pub lessons: Vec<Patient>,
    /// What is wrong with all of them together.
    pub store: Vec<Problem>,
}

impl Diagnosis {
    /// Says whether something has to be done.
    pub fn is_grave(&self) -> bool {
        let problems = self.lessons.iter().flat_map(|patient| &patient.problems);
        problems.chain(&self.store).any(|problem| problem.is_grave)
    }
}

/// What is known of the user's work, besides the lessons.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The keys and folders of projects in which something was recorded; `None` where that is not known.
    pub projects: Option<BTreeSet<String>>,
    /// Programs and tools that fail often: the name, how often, and of how many calls.
    pub failing: Vec<(String, u64, u64)>,
}

/// From this share on one priority says nothing any more.
const MOST_OF_ONE_PRIORITY: f64 = 0.8;
/// From this share on lessons without tags are hard to find.
const MOST_WITHOUT_TAGS: f64 = 0.3;
/// Fewer lessons than this show no tendency.
const FEWEST_FOR_TENDENCY: usize = 5;

/// Words that tie a lesson to the place and the day it was written.
const CONTEXT: [&str; 12] = [
    "this repo",
    "this project",
    "this codebase",
    "this branch",
    "last session",
    "last time",
    "yesterday",
    "the pr ",
    "i ran ",
    "i tried ",
    "i found ",
    "we ran ",
];
/// Words that will be wrong one day.
const TEMPORAL: [&str; 7] =
    ["deprecated", "removed in", "formerly", "was renamed", "no longer supported", "as of 20", "currently"];

/// Looks at every lesson that is in use, of one layer or of all. What is only worth a look in a shipped lesson is left out
/// unless that layer is asked for: the user cannot change it.
pub fn examine(places: &Places, catalogue: &Catalogue, layer: Option<Layer>, facts: &Facts) -> Diagnosis {
    let is_wanted = |other: Layer| layer.is_none_or(|layer| layer == other);
    let items: Vec<&Item> = catalogue.in_use().filter(|item| is_wanted(item.layer)).collect();
    let bounds = inject::bounds(&places.settings());
    let installed = Installed::of(&places.paths);
    let mut problems: Vec<Vec<Problem>> =
        items.iter().map(|item| of_lesson(item, &bounds, &installed, facts)).collect();
    note_unindexed(&items, &mut problems);
    note_duplicates(&items, &mut problems);
    if layer.is_none() {
        let shipped = items.iter().zip(&mut problems).filter(|(item, _)| item.layer == Layer::Shipped);
        shipped.for_each(|(_, problems)| problems.retain(|problem| problem.is_grave));
    }
    let patients = items.iter().zip(problems).map(|(item, problems)| Patient {
        slug: item.lesson.slug.clone(),
        layer: item.layer,
        file: item.file.clone(),
        problems,
    });
    let mut lessons: Vec<Patient> = patients.filter(|patient| !patient.problems.is_empty()).collect();
    lessons.extend(catalogue.flaws.iter().filter(|(layer, ..)| is_wanted(*layer)).map(
        |(layer, file, flaw)| Patient {
            slug: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            layer: *layer,
            file: if *layer == Layer::Manifest {
                places.manifest().unwrap_or_default()
            } else {
                file.clone()
            },
            problems: vec![Problem::grave(&flaw.field, described(flaw))],
        },
    ));
    lessons.sort_by(|one, other| one.slug.cmp(&other.slug));
    Diagnosis {
        examined: items.len() + catalogue.flaws.len(),
        lessons,
        store: [of_store(places, catalogue, &items), note_failing(&items, facts)].concat(),
    }
}

/// Returns what is wrong, with the line where it is about one.
fn described(flaw: &Flaw) -> String {
    match flaw.line {
        0 => flaw.reason.clone(),
        line => format!("line {line}: {}", flaw.reason),
    }
}

fn of_lesson(item: &Item, bounds: &Bounds, installed: &Installed, facts: &Facts) -> Vec<Problem> {
    let lesson = &item.lesson;
    let mut problems = intake::check(lesson);
    if item.layer == Layer::Manifest {
        // Lessons-learned has other rules for texts: only what keeps a lesson from working counts.
        problems.retain(|problem| problem.value.is_some());
    }
    for (name, text) in &lesson.extra {
        if [REQUIRES, DUPLICATED_BY].contains(&name.as_str())
            && let Err(reason) = artifact::parse(text)
        {
            problems.push(Problem::grave(name, reason));
        }
    }
    if let Some(reason) = installed.what_keeps(item.layer, lesson) {
        problems.push(Problem::mild("state", format!("the lesson has no effect: {reason}")));
    }
    if lesson.confidence < bounds.least_confidence {
        problems
            .push(Problem::mild("confidence", "is below lessons.min_confidence: the lesson is never shown"));
    }
    if lesson.priority < bounds.least_priority {
        problems.push(Problem::mild("priority", "is below lessons.min_priority: the lesson is never shown"));
    }
    if lesson.kind == Kind::Guard && is_on_path_alone(lesson) {
        let reason =
            "a guard on a path alone refuses every change of these files: add content, or make it a pause";
        problems.push(Problem::mild("path", reason));
    }
    if item.layer == Layer::Personal {
        if let Some(scope) = lesson.scope.as_deref().filter(|scope| !is_known(scope, facts)) {
            let reason = format!("no project is known as {scope:?}: the lesson is never shown");
            problems.push(Problem::mild("scope", reason));
        }
        for (field, text) in
            [("summary", &lesson.summary), ("problem", &lesson.problem), ("solution", &lesson.solution)]
        {
            problems.extend(dated(text).map(|reason| Problem::mild(field, reason)));
        }
        let text = format!("{} {} {}", lesson.summary, lesson.problem, lesson.solution).to_lowercase();
        let found = |words: &[&'static str]| words.iter().find(|word| text.contains(**word)).copied();
        if let Some(word) = found(&CONTEXT).filter(|_| lesson.scope.is_none()) {
            let reason = format!(
                "{:?} means nothing elsewhere: say what it is, or give the lesson a scope",
                word.trim()
            );
            problems.push(Problem::mild("problem", reason));
        }
        if let Some(word) = found(&TEMPORAL) {
            problems.push(Problem::mild(
                "problem",
                format!("{word:?} will be wrong one day: say what holds now"),
            ));
        }
    }
    problems
}

/// Returns what is wrong with a text that names a version or a date; `None` when it names neither.
fn dated(text: &str) -> Option<String> {
    // Addresses and sections of documents have more than three numbers, or a letter before them.
    const VERSION: &str = r"(?:^|[^0-9A-Za-z./:-])(v?[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,4})?)(?:$|[^0-9A-Za-z./:%-]|\.(?:$|[^0-9]))";
    const DATE: &str =
        r"(?i)\b((?:19|20)[0-9]{2}-[01][0-9](?:-[0-3][0-9])?|(?:in|since|as of) (?:19|20)[0-9]{2})\b";
    let found = |expression: &str| {
        let found = Regex::new(expression).ok()?.captures(text)?.get(1)?.as_str().to_owned();
        Some(found)
    };
    if let Some(date) = found(DATE) {
        return Some(format!("{date:?} is a date: say what holds whenever it is read"));
    }
    let version = found(VERSION)?;
    Some(format!(
        "{version:?} looks like a version, which will be old: say how to find out, or what holds in each"
    ))
}

/// Says whether nothing but the path of a file decides.
fn is_on_path_alone(lesson: &Lesson) -> bool {
    let trigger = &lesson.trigger;
    !trigger.paths.is_empty()
        && trigger.content.is_empty()
        && trigger.inputs.is_empty()
        && !trigger.is_about_shell()
}

/// Says whether a scope names a project that there is, or whether that cannot be found out.
fn is_known(scope: &str, facts: &Facts) -> bool {
    let Some(projects) = &facts.projects else { return true };
    let plain = |name: &str| name.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    // Lessons-learned writes a folder with dashes.
    let is_it = |project: &String| {
        project == scope || plain(project).trim_start_matches('-') == plain(scope).trim_start_matches('-')
    };
    Path::new(scope).is_dir() || projects.iter().any(is_it)
}

/// Names programs and tools that fail often and that no lesson is about.
fn note_failing(items: &[&Item], facts: &Facts) -> Vec<Problem> {
    let is_about = |lesson: &Lesson, name: &str| {
        let is_word = |pattern: &String| {
            pattern.split_whitespace().next().is_some_and(|word| word.split('|').any(|word| word == name))
        };
        lesson.trigger.commands.iter().any(is_word)
            || lesson.trigger.tools.iter().any(|tool| tool == name)
            || lesson.trigger.matches.iter().chain(&lesson.trigger.raw).any(|pattern| pattern.contains(name))
    };
    let is_bare = |(name, ..): &&(String, u64, u64)| {
        items.iter().filter(|item| item.state == State::Active).all(|item| !is_about(&item.lesson, name))
    };
    let problem = |(name, failed, calls): &(String, u64, u64)| {
        Problem::mild(
            "coverage",
            format!("{name} failed {failed} of {calls} times in 90 days, and no lesson is about it"),
        )
    };
    facts.failing.iter().filter(is_bare).map(problem).collect()
}

fn note_unindexed(items: &[&Item], problems: &mut [Vec<Problem>]) {
    // The place in the list is used as the name, which lessons of several layers may share.
    let numbered = |(place, item): (usize, &&Item)| Lesson {
        slug: place.to_string(),
        is_disabled: false,
        ..item.lesson.clone()
    };
    let lessons: Vec<Lesson> = items.iter().enumerate().map(numbered).collect();
    let (_, unindexed) = index::build(&lessons, Fingerprint::default());
    for unindexed in unindexed {
        let reason = format!(
            "{:?} cannot be looked up, so it is tried with every call of its tool: give it a fixed word of four letters",
            unindexed.pattern
        );
        let place = unindexed.slug.parse().ok().and_then(|place: usize| problems.get_mut(place));
        place.into_iter().for_each(|problems| problems.push(Problem::mild("pattern", reason.clone())));
    }
}

fn note_duplicates(items: &[&Item], problems: &mut [Vec<Problem>]) {
    let lessons: Vec<&Lesson> = items.iter().map(|item| &item.lesson).collect();
    for pair in similar::near_duplicates(&lessons) {
        let (one, other) = (items[pair.one], items[pair.other]);
        // A personal lesson that replaces a shipped one repeats it on purpose.
        let is_replaced = one.lesson.slug == other.lesson.slug && one.state != other.state;
        if !is_replaced {
            let percent = (pair.share * 100.0).round();
            let reason = |other: &Item| {
                format!("says {percent} % of what {} ({}) says", other.lesson.slug, other.layer.name())
            };
            // Of a shipped lesson and one of the user's, the user's can be changed.
            if other.layer == Layer::Shipped && one.layer != Layer::Shipped {
                problems[pair.one].push(Problem::mild("problem", reason(other)));
            } else {
                problems[pair.other].push(Problem::mild("problem", reason(one)));
            }
        }
    }
}

fn of_store(places: &Places, catalogue: &Catalogue, items: &[&Item]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let setting = places.settings().get("lessons.disabled");
    for entry in settings::list(&setting) {
        let is_it = |item: &Item| layers::is_disabled(entry, item.layer, &item.lesson.slug);
        // A project's lessons are only there while one works in it.
        if !entry.starts_with("project:") && !catalogue.items.iter().any(is_it) {
            problems.push(Problem::mild("lessons.disabled", format!("no lesson is called {entry:?}")));
        }
    }
    let setting = places.settings().get("lessons.packs_off");
    let packs = catalogue.packs(places);
    for entry in settings::list(&setting).filter(|entry| packs.iter().all(|pack| pack.name != *entry)) {
        problems.push(Problem::mild("lessons.packs_off", format!("no pack is called {entry:?}")));
    }
    let own: Vec<&&Item> =
        items.iter().filter(|item| item.layer == Layer::Personal && item.state == State::Active).collect();
    if own.len() < FEWEST_FOR_TENDENCY {
        return problems;
    }
    let share = |count: usize| count as f64 / own.len() as f64;
    let mut priorities: BTreeMap<u8, usize> = BTreeMap::new();
    own.iter().for_each(|item| *priorities.entry(item.lesson.priority).or_default() += 1);
    for (priority, count) in priorities {
        if share(count) >= MOST_OF_ONE_PRIORITY {
            let reason =
                format!("{count} of {} lessons have {priority}: which one comes first is chance", own.len());
            problems.push(Problem::mild("priority", reason));
        }
    }
    let untagged = own.iter().filter(|item| item.lesson.tags.is_empty()).count();
    if share(untagged) > MOST_WITHOUT_TAGS {
        let reason =
            format!("{untagged} of {} lessons have none, such as tool:git or severity:hang", own.len());
        problems.push(Problem::mild("tags", reason));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessons::Trigger;

    #[test]
    fn versions_and_dates_in_texts_are_found_and_other_numbers_are_not() {
        for text in [
            "Since v2.1 it hangs",
            "needs 18.04.1 or later",
            "broken in 3.12.",
            "As of 2024 it works",
            "On 2025-03-04 it broke",
            "since 2023 they differ",
        ] {
            assert!(dated(text).is_some(), "{text}");
        }
        for text in [
            "listens on 127.0.0.1:8080",
            "takes 1.5x as long",
            "wait 30 seconds",
            "port 2024 is taken",
            "section/1.2",
            "use 0.5% of it",
            "see #2023",
            "exit code 137",
        ] {
            assert_eq!(dated(text), None, "{text}");
        }
    }

    fn lesson(kind: Kind, trigger: Trigger) -> Lesson {
        Lesson { kind, trigger, ..Lesson::default() }
    }

    #[test]
    fn a_guard_on_a_path_alone_is_found() {
        let paths = vec!["**/*.lock".to_owned()];
        assert!(is_on_path_alone(&lesson(
            Kind::Guard,
            Trigger { paths: paths.clone(), ..Trigger::default() }
        )));
        let content = vec!["version".to_owned()];
        assert!(!is_on_path_alone(&lesson(Kind::Guard, Trigger { paths, content, ..Trigger::default() })));
    }

    #[test]
    fn a_scope_is_known_by_key_folder_or_the_old_name_of_one() {
        let projects = ["git:example.org/ada/engine", "/home/ada/engine"].map(str::to_owned);
        let facts = Facts { projects: Some(projects.into()), ..Facts::default() };
        for scope in ["git:example.org/ada/engine", "/home/ada/engine", "-home-ada-engine", "home-ada-engine"]
        {
            assert!(is_known(scope, &facts), "{scope}");
        }
        assert!(!is_known("/home/ada/nowhere", &facts));
        // Without a record nothing can be said.
        assert!(is_known("/home/ada/nowhere", &Facts::default()));
    }

    #[test]
    fn what_fails_often_is_named_until_a_lesson_is_about_it() {
        let facts = Facts { failing: vec![("frobnicate".into(), 12, 20)], ..Facts::default() };
        let item = |commands: &[&str]| Item {
            lesson: lesson(
                Kind::Hint,
                Trigger {
                    commands: commands.iter().map(ToString::to_string).collect(),
                    ..Trigger::default()
                },
            ),
            layer: Layer::Personal,
            state: State::Active,
            file: PathBuf::new(),
            is_trusted: true,
        };
        let other = item(&["git push"]);
        assert_eq!(
            note_failing(&[&other], &facts)[0].reason,
            "frobnicate failed 12 of 20 times in 90 days, and no lesson is about it"
        );
        assert!(note_failing(&[&item(&["frobnicate|frob apply"])], &facts).is_empty());
    }
}
