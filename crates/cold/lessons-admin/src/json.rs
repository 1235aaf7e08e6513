//! A lesson as JSON: what `--json` prints, and what `add` and `edit --patch` take, with the names of lessons-learned as
//! well.

use super::catalogue::Item;
use super::intake::Problem;
use super::old;
use lessons::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson};
use serde_json::{Map, Value, json};

/// Returns a lesson as JSON, with where it is.
pub fn item(item: &Item) -> Value {
    let mut fields = lesson(&item.lesson);
    fields.insert("layer".to_owned(), item.layer.name().into());
    fields.insert("state".to_owned(), item.state.name().into());
    fields.insert("file".to_owned(), item.file.to_string_lossy().into());
    fields.insert("trusted".to_owned(), item.is_trusted.into());
    fields.into()
}

/// Returns a lesson as JSON; what it does not have is left out.
pub fn lesson(lesson: &Lesson) -> Map<String, Value> {
    let trigger = &lesson.trigger;
    let fields = json!({
        "slug": lesson.slug,
        "kind": lesson.kind.name(),
        "summary": lesson.summary,
        "problem": lesson.problem,
        "solution": lesson.solution,
        "instead": lesson.instead,
        "priority": lesson.priority,
        "confidence": f64::from(lesson.confidence) / 100.0,
        "tools": trigger.tools,
        "commands": trigger.commands,
        "without": trigger.without,
        "with": trigger.with,
        "writes": trigger.writes,
        "sql": trigger.sql,
        "piped_to": trigger.piped_to,
        "matches": trigger.matches,
        "raw": trigger.raw,
        "paths": trigger.paths,
        "content": trigger.content,
        "inputs": named(&trigger.inputs),
        "scope": lesson.scope,
        "tags": lesson.tags,
        "pack": lesson.pack,
        "source": lesson.source,
        "disabled": lesson.is_disabled.then_some(true),
        "fires": lesson.fires,
        "quiet": lesson.quiet,
        "extra": named(&lesson.extra),
    });
    let is_there = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let Value::Object(mut fields) = fields else { return Map::new() };
    fields.retain(|_, value| is_there(value));
    fields
}

/// Writes named values as an object; a name that occurs twice gets a list.
fn named(pairs: &[(String, String)]) -> Value {
    let mut fields = Map::new();
    for (name, value) in pairs {
        match fields.get_mut(name) {
            None => {
                fields.insert(name.clone(), value.clone().into());
            }
            Some(Value::Array(values)) => values.push(value.clone().into()),
            Some(first) => *first = json!([first.clone(), value]),
        }
    }
    fields.into()
}

/// Reads a new lesson.
pub fn read(fields: &Map<String, Value>) -> Result<Lesson, Vec<Problem>> {
    patch(&Lesson::default(), fields)
}

/// Returns a lesson with some of its fields changed; `null` takes one out.
pub fn patch(lesson: &Lesson, changes: &Map<String, Value>) -> Result<Lesson, Vec<Problem>> {
    let mut draft = Draft { lesson: lesson.clone(), old: old::Patterns::default() };
    let mut problems = Vec::new();
    for (name, value) in changes {
        if let Err(reason) = draft.set(name, value) {
            problems.push(Problem::grave(name, reason));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    draft.old.apply(&mut draft.lesson).map_err(|problem| vec![problem])?;
    Ok(draft.lesson)
}

struct Draft {
    lesson: Lesson,
    old: old::Patterns,
}

impl Draft {
    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let lesson = &mut self.lesson;
        let trigger = &mut lesson.trigger;
        match name {
            "slug" => lesson.slug = text(value)?,
            "summary" => lesson.summary = text(value)?.split_whitespace().collect::<Vec<_>>().join(" "),
            "problem" | "mistake" => lesson.problem = text(value)?,
            "solution" | "remediation" => lesson.solution = text(value)?,
            "kind" | "type" => {
                lesson.kind = match value {
                    Value::Null => Kind::Hint,
                    _ => Kind::from_name(&text(value)?)
                        .ok_or_else(|| format!("expected one of {}", Kind::ALL.map(Kind::name).join(", ")))?,
                };
            }
            "tools" | "tool" | "toolNames" => trigger.tools = list(value)?,
            "without" => trigger.without = list(value)?,
            "with" => trigger.with = list(value)?,
            "writes" => trigger.writes = texts(value)?,
            "sql" => trigger.sql = texts(value)?,
            "pack" => {
                lesson.pack = Some(text(value)?).filter(|pack| !pack.is_empty());
                if lesson.pack.as_deref().is_some_and(|pack| !lessons::format::is_pack(pack)) {
                    return Err("expected one word of a-z and -".to_owned());
                }
            }
            "piped_to" => trigger.piped_to = list(value)?,
            "tags" => lesson.tags = list(value)?,
            "commands" | "command" => trigger.commands = texts(value)?,
            "matches" | "match" => trigger.matches = texts(value)?,
            "raw" => trigger.raw = texts(value)?,
            "paths" | "path" => trigger.paths = texts(value)?,
            "content" => trigger.content = texts(value)?,
            "inputs" | "input" => trigger.inputs = pairs(value)?,
            "instead" => lesson.instead = Some(text(value)?).filter(|text| !text.is_empty()),
            "scope" => lesson.scope = Some(text(value)?).filter(|text| !text.is_empty()),
            "source" => lesson.source = text(value)?,
            "priority" => lesson.priority = priority(value)?,
            "confidence" => lesson.confidence = confidence(value)?,
            "disabled" => {
                lesson.is_disabled = match value {
                    Value::Null => false,
                    _ => value.as_bool().ok_or("expected true or false")?,
                };
            }
            "fires" => lesson.fires = examples(value)?,
            "quiet" => lesson.quiet = examples(value)?,
            "extra" => lesson.extra = pairs(value)?,
            "trigger" => self.old.phrase = Some(text(value)?).filter(|text| !text.is_empty()),
            "commandPatterns" => self.old.commands = Some(texts(value)?),
            "pathPatterns" => self.old.paths = Some(texts(value)?),
            "modelPatterns" => self.old.models = texts(value)?,
            "commandMatchTarget" => self.old.target = Some(text(value)?),
            "sourceSessionIds" | "occurrenceCount" | "sessionCount" | "projectCount" | "requires"
            | "duplicatedBy" => {
                lesson.extra.retain(|(other, _)| other != name);
                lesson.extra.extend(old::kept(name, value));
            }
            "status" | "state" => {
                return Err("is changed with `wyren lessons` disable, enable, archive and restore".to_owned());
            }
            _ => return Err("no such field".to_owned()),
        }
        Ok(())
    }
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.trim().to_owned()),
        _ => Err("expected a text".to_owned()),
    }
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(text).collect(),
        _ => text(value).map(|text| vec![text]).map_err(|_| "expected a text or a list of texts".to_owned()),
    }
}

fn list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(text) => Ok(base::settings::list(text).map(str::to_owned).collect()),
        _ => texts(value),
    }
}

/// Reads examples: texts, or calls as objects.
fn examples(value: &Value) -> Result<Vec<String>, String> {
    let example = |value: &Value| if value.is_object() { Ok(value.to_string()) } else { text(value) };
    match value {
        Value::Array(items) => items.iter().map(example).collect(),
        Value::Null => Ok(Vec::new()),
        _ => example(value).map(|example| vec![example]),
    }
}

fn pairs(value: &Value) -> Result<Vec<(String, String)>, String> {
    let fields = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(fields) => fields,
        _ => return Err("expected an object of names and texts".to_owned()),
    };
    let mut pairs = Vec::new();
    for (name, value) in fields {
        pairs.extend(texts(value)?.into_iter().map(|text| (name.clone(), text)));
    }
    Ok(pairs)
}

fn priority(value: &Value) -> Result<u8, String> {
    if value.is_null() {
        return Ok(DEFAULT_PRIORITY);
    }
    let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
    number
        .filter(|number| (1..=10).contains(number))
        .ok_or_else(|| "expected a whole number from 1 to 10".to_owned())
}

fn confidence(value: &Value) -> Result<u8, String> {
    if value.is_null() {
        return Ok(DEFAULT_CONFIDENCE);
    }
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    // The range is checked, so the cast is exact enough for a percentage.
    share.map(|share| (share * 100.0).round() as u8).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::intake::tests::good;
    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        let Value::Object(fields) = value else { panic!("an object") };
        fields
    }

    #[test]
    fn what_is_printed_is_read_as_the_same_lesson() {
        let mut whole = good();
        whole.kind = Kind::Pause;
        whole.instead = Some("git stash push -u".into());
        whole.trigger.inputs = vec![("url".into(), "a".into()), ("url".into(), "b".into())];
        whole.extra =
            vec![("id".into(), "01H".into()), ("model".into(), "x".into()), ("model".into(), "y".into())];
        whole.fires.push("{\"tool\":\"Read\"}".into());
        whole.is_disabled = true;
        whole.trigger.with = vec!["@xargs".into(), "--force".into()];
        whole.trigger.writes = vec!["<disk>".into()];
        whole.trigger.sql = vec!["^DROP TABLE, x".into()];
        whole.pack = Some("git".into());
        assert_eq!(read(&lesson(&whole)).unwrap(), whole);
    }

    #[test]
    fn the_names_of_lessons_learned_are_understood() {
        let old = json!({
            "summary": "pytest waits for a terminal",
            "mistake": "It waits.",
            "remediation": "Close its input.",
            "type": "guard",
            "tool": "Bash, Edit",
            "commandPatterns": [r"\bpytest\b"],
            "pathPatterns": ["**/*.py"],
            "tags": ["tool:pytest"],
            "priority": 8,
            "confidence": 0.9,
            "occurrenceCount": 3,
        });
        let lesson = read(&fields(old)).unwrap();
        assert_eq!((lesson.kind, lesson.priority, lesson.confidence), (Kind::Guard, 8, 90));
        assert_eq!((&*lesson.problem, &*lesson.solution), ("It waits.", "Close its input."));
        assert_eq!(lesson.trigger.tools, ["Bash", "Edit"]);
        assert_eq!(lesson.trigger.commands, ["pytest"]);
        assert_eq!(lesson.trigger.paths, ["**/*.py"]);
        assert_eq!(lesson.extra, [("occurrenceCount".to_owned(), "3".to_owned())]);
    }

    #[test]
    fn bad_fields_are_named_all_at_once() {
        let bad = json!({"sumary": "x", "priority": 11, "kind": "hnt", "tools": 3, "status": "archived"});
        let problems = read(&fields(bad)).unwrap_err();
        let texts: Vec<String> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(
            texts,
            [
                "kind: expected one of hint, pause, guard, directive, protocol",
                "priority: expected a whole number from 1 to 10",
                "status: is changed with `wyren lessons` disable, enable, archive and restore",
                "sumary: no such field",
                "tools: expected a text or a list of texts",
            ]
        );
    }

    #[test]
    fn a_patch_changes_what_it_names_and_null_takes_out() {
        let lesson = Lesson { instead: Some("x".into()), priority: 9, ..good() };
        let changed =
            patch(&lesson, &fields(json!({"priority": null, "instead": null, "tags": ["a:b"]}))).unwrap();
        let tags = vec!["a:b".into()];
        assert_eq!(changed, Lesson { instead: None, priority: DEFAULT_PRIORITY, tags, ..lesson });
    }
}
