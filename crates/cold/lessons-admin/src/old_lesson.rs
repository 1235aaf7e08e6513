//! A lesson of lessons-learned, from its manifest or its database, of whatever age, as one of ours.

use super::catalogue::State;
use super::import::Incoming;
use super::intake::MAX_SUMMARY_CHARS;
use super::{export, old};
use lessons::format;
use lessons::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson};
use serde_json::{Map, Value, json};

/// Reads an entry of a manifest.
pub(super) fn of_manifest(id: &str, entry: &Value) -> std::result::Result<Incoming, String> {
    let mut fields = entry.as_object().cloned().ok_or_else(|| format!("lesson {id} is no object"))?;
    // What we exported brings its own file along, which says more than a manifest can.
    if let Some(own) = fields.get("wyren").and_then(Value::as_object) {
        let text = |name: &str| own.get(name).and_then(Value::as_str);
        if let (Some(slug), Some(file)) = (text("slug"), text("file"))
            && let Ok(lesson) = format::parse(slug, file)
        {
            let is_off = fields.get("disabled").is_some_and(is_on);
            let state = if is_off { State::Disabled } else { State::Active };
            return Ok(Incoming { lesson, state, remarks: Vec::new() });
        }
    }
    fields.insert("id".to_owned(), id.into());
    for (compiled, plain) in [
        ("commandRegexSources", "commandPatterns"),
        ("pathRegexSources", "pathPatterns"),
        ("modelRegexSources", "modelPatterns"),
    ] {
        if let Some(Value::Array(sources)) = fields.remove(compiled) {
            let is_path = plain == "pathPatterns";
            let patterns: Vec<String> = sources.iter().map(|source| expression(source, is_path)).collect();
            fields.insert(plain.to_owned(), json!(patterns));
        }
    }
    fields.entry("status").or_insert_with(|| "active".into());
    Ok(of_fields(&fields))
}

fn expression(source: &Value, is_path: bool) -> String {
    let text = source["source"].as_str().or_else(|| source.as_str()).unwrap_or_default();
    if is_path {
        // Paths were compared without regard to case, whatever the flags.
        return old::glob_of(text).unwrap_or_else(|| text.to_owned());
    }
    let ignores_case = source["flags"].as_str().is_some_and(|flags| flags.contains('i'));
    if ignores_case { format!("(?i){text}") } else { text.to_owned() }
}

/// The fields of lessons-learned that a lesson of ours has as well.
const UNDERSTOOD: [&str; 18] = [
    "slug",
    "status",
    "type",
    "summary",
    "problem",
    "solution",
    "mistake",
    "remediation",
    "toolNames",
    "tags",
    "priority",
    "confidence",
    "scope",
    "message",
    "injection",
    "disabled",
    "$schema",
    "wyren",
];

/// Reads a lesson of lessons-learned from its fields, of whatever age.
pub(super) fn of_fields(fields: &Map<String, Value>) -> Incoming {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let first_of = |names: &[&str]| {
        names.iter().map(|name| text(name)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let (problem, solution) =
        texts(&first_of(&["problem", "mistake"]), &first_of(&["solution", "remediation"]), || {
            first_of(&["message", "injection"])
        });
    let summary = match first_of(&["summary"]) {
        summary if summary.is_empty() => {
            problem.lines().next().unwrap_or_default().chars().take(MAX_SUMMARY_CHARS).collect()
        }
        summary => summary.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let kind = kind(fields);
    let confidence = fields.get("confidence").and_then(Value::as_f64);
    let priority = fields.get("priority").and_then(Value::as_f64);
    let mut lesson = Lesson {
        slug: text("slug"),
        summary,
        problem,
        solution,
        kind,
        // Both are clamped, so the casts are exact enough.
        priority: priority.map_or(DEFAULT_PRIORITY, |number| number.clamp(1.0, 10.0).round() as u8),
        confidence: confidence
            .map_or(DEFAULT_CONFIDENCE, |share| (share.clamp(0.0, 1.0) * 100.0).round() as u8),
        scope: Some(text("scope")).filter(|scope| !scope.is_empty()),
        tags: strings(fields.get("tags")),
        source: "lessons-learned".to_owned(),
        ..Lesson::default()
    };
    let mut remarks = Vec::new();
    let is_kept = |name: &&String| !UNDERSTOOD.contains(&name.as_str());
    let mut names: Vec<&String> = fields.keys().filter(is_kept).collect();
    // The id first: a person who looks into the file finds it.
    names.sort_by_key(|name| (*name != "id", *name));
    lesson.extra = names.into_iter().filter_map(|name| old::kept(name, &fields[name])).collect();
    if kind.is_about_calls() {
        lesson.trigger.tools = strings(fields.get("toolNames"));
        let patterns = old::Patterns {
            phrase: None,
            commands: Some(strings(fields.get("commandPatterns"))).filter(|patterns| !patterns.is_empty()),
            paths: Some(strings(fields.get("pathPatterns"))).filter(|patterns| !patterns.is_empty()),
            models: strings(fields.get("modelPatterns")),
            target: Some(text("commandMatchTarget")).filter(|target| !target.is_empty()),
        };
        let kept = lesson.extra.len();
        // Only a phrase can be refused, and there is none.
        let untold = patterns.apply(&mut lesson).unwrap_or_default();
        let remark =
            |(expression, reason)| format!("commandPatterns: {expression:?} {reason}; the others hold");
        remarks.extend(untold.into_iter().map(remark));
        lesson.extra.truncate(kept);
    } else {
        lesson.extra.extend(fields.get("toolNames").and_then(|tools| old::kept("toolNames", tools)));
    }
    if !["", lesson.kind.name()].contains(&text("type").as_str()) {
        lesson.extra.extend(old::kept("type", &fields["type"]));
    }
    let standard = export::message(&lesson);
    let message = first_of(&["message", "injection"]);
    if message != standard && message != lesson.problem {
        lesson.extra.extend(old::kept("message", &message.into()));
    }
    Incoming { lesson, state: state(fields), remarks }
}

/// Returns problem and solution; where a lesson has only its message, they are found in it.
fn texts(problem: &str, solution: &str, message: impl FnOnce() -> String) -> (String, String) {
    // A heading of ours within the problem would end it.
    let tame = |text: &str| {
        let line = |line: &str| {
            if line.trim_end().eq_ignore_ascii_case("## solution") {
                format!(" {line}")
            } else {
                line.to_owned()
            }
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    if !problem.is_empty() {
        return (tame(problem), solution.to_owned());
    }
    let message = message();
    let body = match message.split_once('\n') {
        Some((heading, body)) if heading.starts_with("## Lesson:") => body,
        _ => &message,
    };
    match body.split_once("**Fix**: ") {
        Some((problem, fix)) if solution.is_empty() => (tame(problem.trim()), fix.trim().to_owned()),
        _ => (tame(body.trim()), solution.to_owned()),
    }
}

fn kind(fields: &Map<String, Value>) -> Kind {
    let is_about_start = fields.get("triggers").is_some_and(|triggers| is_on(&triggers["sessionStart"]))
        || strings(fields.get("injectOn"))
            .iter()
            .any(|event| event.replace(['_', '-'], "").eq_ignore_ascii_case("sessionstart"));
    let named = fields.get("type").and_then(Value::as_str).and_then(Kind::from_name);
    match named {
        _ if is_about_start && named != Some(Kind::Protocol) => Kind::Directive,
        Some(kind) => kind,
        None if fields.get("block").is_some_and(is_on) => Kind::Guard,
        None => Kind::Hint,
    }
}

fn state(fields: &Map<String, Value>) -> State {
    match fields.get("status").and_then(Value::as_str) {
        Some("archived") => State::Archived,
        Some("disabled") => State::Disabled,
        Some("candidate" | "reviewed") => State::Candidate,
        _ if fields.get("disabled").is_some_and(is_on) => State::Disabled,
        _ if fields.get("needsReview").is_some_and(is_on) => State::Candidate,
        _ => State::Active,
    }
}

fn is_on(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_i64().is_some_and(|number| number != 0))
}

/// Returns the texts of a list, of a list in JSON, or of a list with commas.
fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) => serde_json::from_str(text)
            .unwrap_or_else(|_| base::settings::list(text).map(str::to_owned).collect()),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: Value) -> Incoming {
        of_fields(fields.as_object().unwrap())
    }

    #[test]
    fn the_oldest_names_are_understood() {
        let incoming = read(json!({
            "slug": "pytest-hangs-1a2b", "status": "active", "summary": "pytest hangs",
            "mistake": "It waits for input.", "remediation": "Close its input.", "block": 1, "blockReason": "why",
            "toolNames": "[\"Bash\"]", "commandPatterns": ["\\bpytest\\b"], "priority": 9,
        }));
        let lesson = incoming.lesson;
        assert_eq!((lesson.kind, incoming.state), (Kind::Guard, State::Active));
        assert_eq!((&*lesson.problem, &*lesson.solution), ("It waits for input.", "Close its input."));
        assert_eq!(lesson.trigger.commands, ["pytest"]);
        let kept: Vec<&str> = lesson.extra.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(kept, ["block", "blockReason", "commandPatterns"]);
    }

    #[test]
    fn what_only_has_a_message_is_taken_apart() {
        let lesson =
            read(json!({"summary": "s", "injection": "## Lesson: s\nIt breaks.\n**Fix**: Do this."})).lesson;
        assert_eq!((&*lesson.problem, &*lesson.solution), ("It breaks.", "Do this."));
    }

    #[test]
    fn a_session_start_trigger_becomes_a_directive() {
        let entry = json!({"slug": "x", "type": "hint", "toolNames": ["Bash"], "triggers": {"sessionStart": true},
            "summary": "s", "problem": "p", "solution": "q"});
        let lesson = of_manifest("01H", &entry).unwrap().lesson;
        assert_eq!(lesson.kind, Kind::Directive);
        assert!(lesson.trigger.tools.is_empty());
        assert!(lesson.extra.contains(&("toolNames".to_owned(), "[\"Bash\"]".to_owned())));
    }

    #[test]
    fn states_are_those_of_the_status() {
        for (status, expected) in [
            ("active", State::Active),
            ("disabled", State::Disabled),
            ("archived", State::Archived),
            ("candidate", State::Candidate),
            ("reviewed", State::Candidate),
        ] {
            assert_eq!(read(json!({"status": status})).state, expected, "{status}");
        }
    }
}
