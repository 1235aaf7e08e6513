//! A manifest of lessons-learned, of whatever age, read as lessons of ours.

use crate::format::{self, Flaw};
use crate::lesson::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson, Trigger};
use crate::limits::Limits;
use crate::old_expression::{self, Target};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Manifest {
    lessons: BTreeMap<String, Entry>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    slug: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<u8>,
    confidence: Option<f64>,
    tool_names: Vec<String>,
    command_regex_sources: Vec<Expression>,
    command_match_target: Option<String>,
    path_regex_sources: Vec<Expression>,
    model_regex_sources: Vec<Expression>,
    tags: Vec<String>,
    scope: Option<String>,
    message: String,
    summary: String,
    problem: String,
    solution: String,
    disabled: bool,
    triggers: Triggers,
    requires: Value,
    duplicated_by: Value,
    // As the first versions wrote it.
    injection: Option<String>,
    block: Option<bool>,
    block_reason: Option<String>,
    session_start: Option<bool>,
    /// What `wyren lessons export` adds.
    wyren: Option<Own>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Triggers {
    session_start: bool,
}

#[derive(Deserialize)]
struct Own {
    slug: String,
    file: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Expression {
    source: String,
    flags: String,
}

impl Expression {
    fn text(&self) -> String {
        if self.flags.contains('i') { format!("(?i){}", self.source) } else { self.source.clone() }
    }
}

/// What a manifest holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lessons {
    /// The lessons, each as far as it can be said in our fields.
    pub lessons: Vec<Lesson>,
    /// What cannot be said, by the name of the lesson.
    pub flaws: Vec<(String, Flaw)>,
}

/// Reads the lessons of a manifest.
pub fn read(file: &Path, limits: &Limits) -> Result<Lessons, Flaw> {
    let flaw = |reason: String| Flaw { line: 0, field: "manifest".to_owned(), reason };
    let length = std::fs::metadata(file).map_err(|error| flaw(error.to_string()))?.len();
    if let Some(flaw) = Limits::too_large(length, limits.file_bytes) {
        return Err(flaw);
    }
    let text = base::files::read_text_followed(file, base::files::cap::TEXTS)
        .map_err(|error| flaw(error.to_string()))?;
    parse(&text).map_err(|error| flaw(error.to_string()))
}

/// Reads the lessons of a manifest's text.
pub fn parse(text: &str) -> Result<Lessons, serde_json::Error> {
    let manifest: Manifest = serde_json::from_str(text)?;
    let mut found = Lessons::default();
    for (id, entry) in manifest.lessons {
        let slug = entry.slug.clone();
        let (lesson, untold) = entry.into_lesson(&id);
        let flaw = |(field, reason): (&str, String)| Flaw { line: 0, field: field.to_owned(), reason };
        found.flaws.extend(untold.into_iter().map(|untold| (slug.clone(), flaw(untold))));
        found.lessons.extend(lesson);
    }
    Ok(found)
}

/// The tools whose text is compared with the expressions for commands.
pub const WRITERS: [&str; 3] = ["Edit", "Write", "MultiEdit"];

/// What kept parts of a lesson from being said: the field, and the reason.
type Untold = Vec<(&'static str, String)>;

impl Entry {
    /// Returns the lesson, unless nothing is left of what it applies to, and what could not be said.
    fn into_lesson(mut self, id: &str) -> (Option<Lesson>, Untold) {
        let own = self.wyren.take().and_then(|own| format::parse(&own.slug, &own.file).ok());
        if let Some(lesson) = own {
            // What we exported says more than a manifest can.
            return (Some(Lesson { slug: self.slug, is_disabled: self.disabled, ..lesson }), Vec::new());
        }
        let kind = self.kind();
        let (trigger, mut extra, untold) = match kind.is_about_calls() {
            true => self.trigger(kind),
            false => (
                Some(Trigger { tools: self.tool_names.clone(), ..Trigger::default() }),
                Vec::new(),
                Vec::new(),
            ),
        };
        let Some(trigger) = trigger else { return (None, untold) };
        extra.insert(0, ("id".to_owned(), id.to_owned()));
        for (name, value) in [("requires", &self.requires), ("duplicatedBy", &self.duplicated_by)] {
            extra.extend((!value.is_null()).then(|| (name.to_owned(), value.to_string())));
        }
        let (problem, solution) = self.texts();
        let lesson = Lesson {
            slug: self.slug,
            summary: self.summary,
            problem,
            solution,
            kind,
            trigger,
            priority: self.priority.unwrap_or(DEFAULT_PRIORITY).clamp(1, 10),
            confidence: self
                .confidence
                .map_or(DEFAULT_CONFIDENCE, |share| (share.clamp(0.0, 1.0) * 100.0).round() as u8),
            scope: self.scope.filter(|scope| !scope.is_empty()),
            tags: self.tags,
            source: "lessons-learned".to_owned(),
            is_disabled: self.disabled,
            extra,
            ..Lesson::default()
        };
        (Some(lesson), untold)
    }

    fn kind(&self) -> Kind {
        let named = self.kind.as_deref().and_then(Kind::from_name);
        let is_about_start = self.triggers.session_start || self.session_start == Some(true);
        match named {
            _ if is_about_start && named != Some(Kind::Protocol) => Kind::Directive,
            Some(kind) => kind,
            None if self.block == Some(true) => Kind::Guard,
            None => Kind::Hint,
        }
    }

    /// Returns problem and solution; where a lesson has only its message, they are found in it.
    fn texts(&mut self) -> (String, String) {
        let take = std::mem::take::<String>;
        if !self.problem.is_empty() {
            return (take(&mut self.problem), take(&mut self.solution));
        }
        let old = self.block_reason.take().or(self.injection.take()).unwrap_or_default();
        let message = if self.message.is_empty() { old } else { take(&mut self.message) };
        let body = match message.split_once('\n') {
            Some((heading, body)) if heading.starts_with("## ") => body,
            _ => &message,
        };
        match body.split_once("**Fix**: ") {
            Some((problem, solution)) => (problem.trim().to_owned(), solution.trim().to_owned()),
            None => (String::new(), body.trim().to_owned()),
        }
    }

    /// Returns what the lesson applies to, `None` when nothing of that can be said; fields to keep; and what is left out.
    fn trigger(&self, kind: Kind) -> (Option<Trigger>, Vec<(String, String)>, Untold) {
        let mut untold = Untold::new();
        let target = match self.command_match_target.as_deref() {
            Some("executable") => Target::Executable,
            None if kind == Kind::Guard => Target::Executable,
            _ => Target::Full,
        };
        let is_for = |tool: &str| self.tool_names.iter().any(|name| name == tool);
        let expressions: Vec<String> = self.command_regex_sources.iter().map(Expression::text).collect();
        let mut trigger = Trigger { tools: self.tool_names.clone(), ..Trigger::default() };
        if is_for("Bash") && !expressions.is_empty() {
            let translation = old_expression::translate(&expressions, target);
            let reason = |(expression, reason): (String, String)| {
                ("commandRegexSources", format!("{expression:?} {reason}"))
            };
            untold.extend(translation.untold.into_iter().map(reason));
            let found = translation.trigger;
            let is_left = !(found.commands.is_empty() && found.matches.is_empty() && found.raw.is_empty());
            trigger = Trigger { tools: trigger.tools, ..found };
            if !is_left {
                trigger.tools.retain(|tool| tool != "Bash");
            }
        }
        if WRITERS.iter().any(|tool| is_for(tool)) && !expressions.is_empty() {
            trigger.content = self.checked("commandRegexSources", &expressions, &mut untold);
            if trigger.content.is_empty() {
                trigger.tools.retain(|tool| !WRITERS.contains(&tool.as_str()));
            }
        }
        // Old path patterns are expressions over the whole path, not globs.
        let paths: Vec<String> = self.path_regex_sources.iter().map(Expression::text).collect();
        let checked = self.checked("pathRegexSources", &paths, &mut untold);
        if !checked.is_empty() {
            trigger.inputs.push(("file_path".to_owned(), format!("(?:{})", checked.join("|"))));
        } else if !paths.is_empty() {
            trigger.tools.retain(|tool| tool == "Bash");
        }
        untold.sort();
        untold.dedup();
        let models: Vec<String> = self.model_regex_sources.iter().map(Expression::text).collect();
        let mut extra = Vec::new();
        // One of the models must fit beside the others, which for a command the whole text can say.
        if trigger.raw.is_empty() && !(trigger.commands.is_empty() && trigger.matches.is_empty()) {
            trigger.raw = self.checked("modelRegexSources", &models, &mut untold);
        } else {
            extra.extend(models.into_iter().map(|model| ("model".to_owned(), model)));
        }
        let is_lost = trigger.tools.is_empty() && !self.tool_names.is_empty();
        ((!is_lost).then_some(trigger), extra, untold)
    }

    /// Returns the expressions that our engine takes, and names the others.
    fn checked(&self, field: &'static str, expressions: &[String], untold: &mut Untold) -> Vec<String> {
        let check = |expression: &String| match old_expression::checked(expression.clone()) {
            Ok(expression) => Some(expression),
            Err(reason) => {
                untold.push((field, format!("{expression:?} {reason}")));
                None
            }
        };
        expressions.iter().filter_map(check).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(entry: Value) -> (Vec<Lesson>, Vec<String>) {
        let mut whole = json!({"slug": "x", "summary": "s", "message": "m", "toolNames": ["Bash"]});
        entry.as_object().unwrap().iter().for_each(|(name, value)| whole[name] = value.clone());
        let found = parse(&json!({"lessons": {"1": whole}}).to_string()).unwrap();
        (found.lessons, found.flaws.iter().map(|(slug, flaw)| format!("{slug}: {}", flaw.reason)).collect())
    }

    fn sources(sources: &[&str]) -> Value {
        sources.iter().map(|source| json!({"source": source, "flags": ""})).collect()
    }

    #[test]
    fn a_session_start_trigger_makes_a_directive() {
        let (lessons, _) = one(json!({"type": "hint", "triggers": {"sessionStart": true}}));
        assert_eq!((lessons[0].kind, &*lessons[0].solution), (Kind::Directive, "m"));
        let (lessons, _) = one(
            json!({"sessionStart": true, "injection": "## Lesson: s\nWhy.\n**Fix**: So.", "message": ""}),
        );
        assert_eq!(lessons[0].kind, Kind::Directive);
        assert_eq!((&*lessons[0].problem, &*lessons[0].solution), ("Why.", "So."));
    }

    #[test]
    fn the_first_versions_blocked_instead_of_guarding() {
        let (lessons, _) = one(json!({
            "block": true, "blockReason": "Not {command}.", "message": "", "injection": "i",
            "commandRegexSources": sources(&[r"\bmake\b"]),
        }));
        assert_eq!((lessons[0].kind, &*lessons[0].solution), (Kind::Guard, "Not {command}."));
    }

    #[test]
    fn item_9_what_cannot_be_said_is_named_and_never_widens_a_lesson() {
        let dead = sources(&["(?<!x)y"]);
        let (lessons, flaws) = one(json!({"type": "guard", "commandRegexSources": dead.clone()}));
        assert_eq!(lessons, []);
        assert!(flaws[0].starts_with(r#"x: "(?<!x)y" looks ahead or behind"#), "{flaws:?}");
        // Of what is written and of a path nothing is left either, and the other tools stay.
        let (lessons, flaws) = one(json!({
            "toolNames": ["Bash", "Edit"], "commandRegexSources": sources(&[r"\bpytest\b(?!.*--ci)"]),
            "pathRegexSources": sources(&[r"test.*\.py$"]),
        }));
        assert_eq!((lessons[0].trigger.tools.join(","), flaws.len()), ("Bash".to_owned(), 1), "{flaws:?}");
        assert_eq!(lessons[0].trigger.without, ["--ci"]);
        let (lessons, flaws) = one(
            json!({"toolNames": ["Edit"], "commandRegexSources": dead, "pathRegexSources": sources(&["a"])}),
        );
        assert_eq!((lessons.len(), flaws.len()), (0, 1), "{flaws:?}");
        let (lessons, flaws) =
            one(json!({"toolNames": ["Edit"], "pathRegexSources": sources(&["(?!x)y", "z"])}));
        assert_eq!(lessons[0].trigger.inputs, [("file_path".to_owned(), "(?:z)".to_owned())]);
        assert_eq!(flaws.len(), 1);
        let (lessons, flaws) = one(json!({"toolNames": ["Edit"], "pathRegexSources": sources(&["(?!x)y"])}));
        assert_eq!((lessons.len(), flaws.len()), (0, 1));
    }

    #[test]
    fn one_of_the_models_must_fit_as_well() {
        let (lessons, _) = one(
            json!({"commandRegexSources": sources(&[r"\bclaude\b"]), "modelRegexSources": sources(&["opus"])}),
        );
        assert_eq!(
            (&lessons[0].trigger.commands[..], &lessons[0].trigger.raw[..]),
            (&["claude".to_owned()][..], &["opus".to_owned()][..])
        );
    }

    #[test]
    fn what_we_exported_is_read_from_its_own_file() {
        let own = Lesson {
            slug: "mine".into(),
            kind: Kind::Pause,
            trigger: Trigger { commands: vec!["make $".into()], ..Trigger::default() },
            ..Lesson::default()
        };
        let (lessons, _) =
            one(json!({"slug": "mine-1a2b", "wyren": {"slug": "mine", "file": format::render(&own)}}));
        assert_eq!(lessons, [Lesson { slug: "mine-1a2b".into(), ..own }]);
    }
}
