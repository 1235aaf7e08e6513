//! A manifest of lessons-learned, read as lessons of ours.

use crate::format::Flaw;
use crate::lesson::{DEFAULT_PRIORITY, Kind, Lesson, Trigger};
use crate::limits::Limits;
use serde::Deserialize;
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
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Triggers {
    session_start: bool,
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

/// Reads the lessons of a manifest.
pub fn read(file: &Path, limits: &Limits) -> Result<Vec<Lesson>, Flaw> {
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
pub fn parse(text: &str) -> Result<Vec<Lesson>, serde_json::Error> {
    let manifest: Manifest = serde_json::from_str(text)?;
    Ok(manifest.lessons.into_iter().map(|(id, entry)| entry.into_lesson(&id)).collect())
}

impl Entry {
    fn into_lesson(self, id: &str) -> Lesson {
        let kind = self.kind.as_deref().and_then(Kind::from_name).unwrap_or(Kind::Hint);
        let kind = if self.triggers.session_start { Kind::Directive } else { kind };
        let is_for = |tool: &str| self.tool_names.iter().any(|name| name == tool);
        let commands: Vec<String> = self.command_regex_sources.iter().map(Expression::text).collect();
        let mut trigger = Trigger { tools: self.tool_names.clone(), ..Trigger::default() };
        if is_for("Bash") {
            let patterns: Option<Vec<String>> = commands.iter().map(|source| as_pattern(source)).collect();
            let is_whole = self.command_match_target.as_deref() == Some("full")
                && commands.iter().any(|source| spans(source));
            match patterns {
                // Plain words name a program: as a pattern they are not found in a file's name.
                Some(patterns) => trigger.commands = patterns,
                None if is_whole => trigger.raw = commands.clone(),
                None => trigger.matches = commands.clone(),
            }
        }
        if ["Edit", "Write", "MultiEdit"].iter().any(|tool| is_for(tool)) {
            trigger.content = commands;
        }
        // Old path patterns are expressions over the whole path, not globs.
        let paths = self.path_regex_sources.iter().map(Expression::text).collect::<Vec<_>>().join("|");
        if !paths.is_empty() {
            trigger.inputs.push(("file_path".to_owned(), format!("(?:{paths})")));
        }
        let mut extra = vec![("id".to_owned(), id.to_owned())];
        extra.extend(self.model_regex_sources.iter().map(|source| ("model".to_owned(), source.text())));
        let (problem, solution) = if self.problem.is_empty() {
            (self.message, String::new())
        } else {
            (self.problem, self.solution)
        };
        Lesson {
            slug: self.slug,
            summary: self.summary,
            problem,
            solution,
            kind,
            trigger,
            priority: self.priority.unwrap_or(DEFAULT_PRIORITY).clamp(1, 10),
            confidence: self.confidence.map_or(crate::lesson::DEFAULT_CONFIDENCE, |share| {
                (share.clamp(0.0, 1.0) * 100.0).round() as u8
            }),
            scope: self.scope.filter(|scope| !scope.is_empty()),
            tags: self.tags,
            source: "lessons-learned".to_owned(),
            is_disabled: self.disabled,
            extra,
            ..Lesson::default()
        }
    }
}

/// Returns the pattern of commands that an expression of plain words means: `\bgit\s+push\b` is `git push`.
fn as_pattern(expression: &str) -> Option<String> {
    let words = expression.replace(r"\b", "").replace(r"\s+", " ").replace(r"\s*", " ");
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | ' ');
    let starts_with_name = words.starts_with(|character: char| character.is_ascii_alphanumeric());
    (starts_with_name && words.chars().all(is_plain)).then(|| words.trim().to_owned())
}

/// Says whether an expression is about more than one simple command, or about quotes: only the whole text shows that.
fn spans(expression: &str) -> bool {
    expression.contains([';', '&', '"', '\'', '<', '>']) || expression.contains(r"\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_become_patterns_of_commands() {
        assert_eq!(as_pattern(r"\bpytest\b").as_deref(), Some("pytest"));
        assert_eq!(as_pattern(r"\bgit\s+push\b").as_deref(), Some("git push"));
        assert_eq!(as_pattern("npm install").as_deref(), Some("npm install"));
        assert_eq!(as_pattern(r"git push (?!--dry)"), None);
        assert_eq!(as_pattern(r"--force"), None);
    }

    #[test]
    fn a_session_start_trigger_makes_a_directive() {
        let text = r#"{"lessons":{"1":{"slug":"x","type":"hint","triggers":{"sessionStart":true},"message":"m","summary":"s"}}}"#;
        let lessons = parse(text).unwrap();
        assert_eq!((lessons[0].kind, &*lessons[0].problem), (Kind::Directive, "m"));
    }
}
