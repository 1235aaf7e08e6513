//! A lesson as a text file: fields between two lines of `---`, then what goes wrong and what to do.
//!
//! ```text
//! ---
//! summary: git stash leaves untracked files behind
//! kind: pause
//! command: git stash push|save
//! command: git stash $
//! without: -u, --include-untracked, -a, --all
//! priority: 6
//! tags: tool:git, severity:data-loss
//! fires: git stash
//! quiet: git stash list
//! ---
//! Why and when it goes wrong.
//!
//! ## Solution
//! What to do instead.
//! ```
//!
//! A field is one line; a field that may have several values is repeated. The hook that finds its index out of date
//! reads these files itself, so the format needs no more than a few lines of parser.

use crate::lesson::{DEFAULT_CONFIDENCE, DEFAULT_PRIORITY, Kind, Lesson};
use std::fmt::Write as _;

/// The line that begins and ends the fields.
const FENCE: &str = "---";
/// The line between what goes wrong and what to do.
const SOLUTION: &str = "## Solution";

/// What is wrong with a lesson's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {field}: {reason}")]
pub struct Flaw {
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a lesson from the text of its file.
pub fn parse(slug: &str, text: &str) -> Result<Lesson, Flaw> {
    let mut lesson = Lesson { slug: slug.to_owned(), ..Lesson::default() };
    let mut lines = text.lines().enumerate();
    let flaw = |line: usize, field: &str, reason: &str| Flaw {
        line,
        field: field.to_owned(),
        reason: reason.to_owned(),
    };
    if !is_slug(slug) {
        return Err(flaw(0, "name", "a lesson's file is named by a-z, 0-9 and -, at most 100 of them"));
    }
    if lines.next().is_none_or(|(_, line)| line.trim_end() != FENCE) {
        return Err(flaw(1, "file", "does not begin with a line of ---"));
    }
    let mut is_closed = false;
    for (number, line) in lines.by_ref() {
        if line.trim_end() == FENCE {
            is_closed = true;
            break;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| flaw(number + 1, line.trim(), "expected `name: value`"))?;
        set(&mut lesson, name.trim(), value.trim())
            .map_err(|reason| flaw(number + 1, name.trim(), &reason))?;
    }
    if !is_closed {
        return Err(flaw(0, "file", "the fields do not end with a line of ---"));
    }
    let body: Vec<&str> = lines.map(|(_, line)| line).collect();
    let split = body.iter().position(|line| line.trim_end().eq_ignore_ascii_case(SOLUTION));
    let (problem, solution) = body.split_at(split.unwrap_or(body.len()));
    lesson.problem = join(problem, "## Problem");
    lesson.solution = join(solution, SOLUTION);
    Ok(lesson)
}

/// Says whether a name can be a lesson's: it is shown outside of any fence, so it must hold nothing but a name.
pub fn is_slug(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=100).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Says whether a name can be a pack's.
pub fn is_pack(name: &str) -> bool {
    (1..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

fn join(lines: &[&str], heading: &str) -> String {
    let lines = match lines.iter().position(|line| !line.trim().is_empty()) {
        Some(first) if lines[first].trim_end().eq_ignore_ascii_case(heading) => &lines[first + 1..],
        _ => lines,
    };
    lines.join("\n").trim().to_owned()
}

fn set(lesson: &mut Lesson, name: &str, value: &str) -> Result<(), String> {
    let value = value.to_owned();
    let trigger = &mut lesson.trigger;
    match name {
        "summary" => lesson.summary = value,
        "kind" => {
            lesson.kind = Kind::from_name(&value)
                .ok_or_else(|| format!("expected one of {}", Kind::ALL.map(Kind::name).join(", ")))?;
        }
        "tools" => trigger.tools.extend(list(&value)),
        "command" => trigger.commands.push(value),
        "without" => trigger.without.extend(list(&value)),
        "with" => trigger.with.extend(list(&value)),
        "writes" => trigger.writes.push(value),
        "sql" => trigger.sql.push(value),
        "piped_to" => trigger.piped_to.extend(list(&value)),
        "match" => trigger.matches.push(value),
        "raw" => trigger.raw.push(value),
        "path" => trigger.paths.push(value),
        "content" => trigger.content.push(value),
        "instead" => lesson.instead = Some(value),
        "priority" => {
            lesson.priority = value
                .parse()
                .ok()
                .filter(|number| (1..=10).contains(number))
                .ok_or("expected a whole number from 1 to 10")?;
        }
        "confidence" => lesson.confidence = percent(&value).ok_or("expected a number from 0 to 1")?,
        "scope" => lesson.scope = Some(value).filter(|scope| !scope.is_empty()),
        "tags" => lesson.tags.extend(list(&value)),
        "pack" if value.is_empty() => lesson.pack = None,
        "pack" if is_pack(&value) => lesson.pack = Some(value),
        "pack" => return Err("expected one word of a-z and -".to_owned()),
        "source" => lesson.source = value,
        "disabled" => lesson.is_disabled = value == "true",
        "fires" => lesson.fires.push(unescape(&value)),
        "quiet" => lesson.quiet.push(unescape(&value)),
        _ => match (name.strip_prefix("input."), name.strip_prefix("extra.")) {
            (Some(field), _) => trigger.inputs.push((field.to_owned(), value)),
            (_, Some(field)) => lesson.extra.push((field.to_owned(), value)),
            _ => return Err("no such field".to_owned()),
        },
    }
    Ok(())
}

fn list(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned)
}

fn percent(value: &str) -> Option<u8> {
    let number: f64 = value.parse().ok()?;
    // The range is checked, so the cast is exact enough for a percentage.
    (0.0..=1.0).contains(&number).then(|| (number * 100.0).round() as u8)
}

/// Reads `\n` and `\\` in an example, which must stand on one line.
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('n')) => {
                characters.next();
                text.push('\n');
            }
            ('\\', Some('\\')) => {
                characters.next();
                text.push('\\');
            }
            _ => text.push(character),
        }
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// Writes a lesson as the text of its file: what [`parse`] reads is the same lesson.
pub fn render(lesson: &Lesson) -> String {
    let mut text = format!("{FENCE}\n");
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "{name}: {}", value.replace(['\n', '\r'], " ").trim());
    };
    let trigger = &lesson.trigger;
    field("summary", &lesson.summary);
    field("kind", lesson.kind.name());
    let lists = [
        ("tools", &trigger.tools),
        ("without", &trigger.without),
        ("with", &trigger.with),
        ("piped_to", &trigger.piped_to),
        ("tags", &lesson.tags),
    ];
    for (name, values) in lists {
        if !values.is_empty() {
            field(name, &values.join(", "));
        }
    }
    let repeated = [
        ("command", &trigger.commands),
        ("writes", &trigger.writes),
        ("sql", &trigger.sql),
        ("match", &trigger.matches),
        ("raw", &trigger.raw),
        ("path", &trigger.paths),
        ("content", &trigger.content),
    ];
    for (name, values) in repeated {
        values.iter().for_each(|value| field(name, value));
    }
    for (name, value) in &trigger.inputs {
        field(&format!("input.{name}"), value);
    }
    if let Some(instead) = &lesson.instead {
        field("instead", instead);
    }
    if lesson.priority != DEFAULT_PRIORITY {
        field("priority", &lesson.priority.to_string());
    }
    if lesson.confidence != DEFAULT_CONFIDENCE {
        field("confidence", &format!("{:.2}", f64::from(lesson.confidence) / 100.0));
    }
    if let Some(scope) = &lesson.scope {
        field("scope", scope);
    }
    if let Some(pack) = &lesson.pack {
        field("pack", pack);
    }
    field("source", &lesson.source);
    if lesson.is_disabled {
        field("disabled", "true");
    }
    lesson.fires.iter().for_each(|example| field("fires", &escape(example)));
    lesson.quiet.iter().for_each(|example| field("quiet", &escape(example)));
    for (name, value) in &lesson.extra {
        field(&format!("extra.{name}"), value);
    }
    let _ = write!(text, "{FENCE}\n{}\n\n{SOLUTION}\n{}\n", lesson.problem.trim(), lesson.solution.trim());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Trigger;

    const STASH: &str = "\
---
summary: git stash leaves untracked files behind
kind: pause
command: git stash
command: git stash push|save
without: -u, --include-untracked
priority: 6
confidence: 0.9
tags: tool:git, severity:data-loss
fires: git stash
quiet: cat <<E\\nx\\nE
---
Why it goes wrong.

## Solution
Use -u.
";

    #[test]
    fn a_file_is_read_into_its_fields() {
        let lesson = parse("git-stash", STASH).unwrap();
        assert_eq!(lesson.slug, "git-stash");
        assert_eq!(lesson.kind, Kind::Pause);
        assert_eq!(lesson.trigger.commands, ["git stash", "git stash push|save"]);
        assert_eq!(lesson.trigger.without, ["-u", "--include-untracked"]);
        assert_eq!((lesson.priority, lesson.confidence), (6, 90));
        assert_eq!((&*lesson.problem, &*lesson.solution), ("Why it goes wrong.", "Use -u."));
        assert_eq!(lesson.quiet, ["cat <<E\nx\nE"]);
    }

    #[test]
    fn what_is_written_is_read_as_the_same_lesson() {
        let lesson = Lesson {
            slug: "all".into(),
            summary: "a: b".into(),
            problem: "p\n\n- one".into(),
            solution: "s".into(),
            kind: Kind::Guard,
            trigger: Trigger {
                tools: vec!["Bash".into(), "Write".into()],
                commands: vec!["a b".into()],
                without: vec!["-x".into()],
                with: vec!["@xargs".into(), "<".into(), "-X=DELETE|--method=DELETE".into()],
                writes: vec!["<disk>|/etc/*".into()],
                sql: vec!["^DROP TABLE".into()],
                piped_to: vec!["sh".into()],
                matches: vec![r"a\s+b: c".into()],
                raw: vec!["r".into()],
                paths: vec!["**/*.{py,pyi}".into()],
                content: vec!["c".into()],
                inputs: vec![("url".into(), "^http:".into())],
            },
            instead: Some("a c".into()),
            priority: 9,
            confidence: 75,
            scope: Some("git:github.com/acme/app".into()),
            tags: vec!["x:y".into()],
            pack: Some("git".into()),
            source: "imported".into(),
            is_disabled: true,
            fires: vec!["a b\n\\n".into()],
            quiet: vec!["{\"tool\":\"Read\"}".into()],
            extra: vec![("contentHash".into(), "sha256:1".into())],
        };
        assert_eq!(parse("all", &render(&lesson)).unwrap(), lesson);
    }

    #[track_caller]
    fn check_flaw(text: &str, expected: &str) {
        assert_eq!(parse("x", text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_flaw_names_the_line_the_field_and_the_reason() {
        check_flaw("summary: x", "line 1: file: does not begin with a line of ---");
        check_flaw("---\nsummary: x\n", "line 0: file: the fields do not end with a line of ---");
        check_flaw(
            "---\nkind: hnt\n---\n",
            "line 2: kind: expected one of hint, pause, guard, directive, protocol",
        );
        check_flaw("---\n\npriority: 11\n---\n", "line 3: priority: expected a whole number from 1 to 10");
        check_flaw("---\nsumary: x\n---\n", "line 2: sumary: no such field");
        check_flaw("---\npack: Git 2\n---\n", "line 2: pack: expected one word of a-z and -");
        check_flaw("---\nnonsense\n---\n", "line 2: nonsense: expected `name: value`");
    }
}
