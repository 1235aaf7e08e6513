//! Lessons that a model reports itself: `#lesson … #/lesson`, in one line or as a block, and what it withdraws.
//!
//! The tags are those of the reporting protocol (`lessons::PROTOCOL`) and of lessons-learned.

use lessons::{OLD_PROTOCOL, PROTOCOL};

/// What a line of JSON must contain for a reply in it to have a tag.
pub const NEEDLE: &str = "#lesson";

const OPENING: &str = "#lesson";
const CLOSING: &str = "#/lesson";
const CANCEL: &str = "#lesson:cancel";
const CANCEL_END: &str = "#/lesson:cancel";
/// The fields of a block. A line that begins with another word and a colon continues the field before it.
const FIELDS: [&str; 8] = ["tool", "trigger", "problem", "solution", "tags", "scope", "type", "summary"];

/// What a reply reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Lesson(Tag),
    /// What begins so is withdrawn; everything that the reply's session reported, where it is empty.
    Cancel(String),
}

/// A lesson as a model reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    pub tool: Option<String>,
    /// The call that leads to it, as a person would type it.
    pub trigger: Option<String>,
    pub summary: Option<String>,
    pub problem: String,
    pub solution: String,
    pub tags: Vec<String>,
    /// Whether it holds in this project alone.
    pub is_of_project: bool,
}

/// Returns what a reply reports, in order. A tag within a code block counts, as models fence what they are asked for; one
/// that explains the protocol itself does not.
pub fn read(reply: &str) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut lines = reply.lines().map(undecorated).peekable();
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix(OPENING) else { continue };
        if let Some(rest) = line.strip_prefix(CANCEL) {
            let mut body = vec![rest.trim_start_matches(':').trim()];
            while lines.peek().is_some_and(|line| is_field(line)) {
                body.extend(lines.next());
            }
            if lines.peek() == Some(&CANCEL_END) {
                lines.next();
            }
            reports.push(Report::Cancel(cancelled(&body)));
        } else if let Some((problem, solution)) = arrow(rest) {
            let tag = Tag { problem: problem.to_owned(), solution: solution.to_owned(), ..Tag::default() };
            reports.push(Report::Lesson(tag));
        } else if rest.is_empty() {
            let mut body = Vec::new();
            let mut is_closed = false;
            for line in lines.by_ref() {
                if line.starts_with(CLOSING) {
                    is_closed = true;
                    break;
                }
                body.push(line);
            }
            reports.extend(block(&body).filter(|_| is_closed).map(Report::Lesson));
        }
    }
    reports.retain(|report| !matches!(report, Report::Lesson(tag) if is_of_protocol(tag)));
    reports
}

/// Returns a line without the mark of a list or a heading before a tag, and without the stars of bold print around one. A quoted
/// tag is someone else's, or an example.
fn undecorated(line: &str) -> &str {
    let line = line.trim();
    let item = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let item = item.strip_prefix(['.', ')']).filter(|rest| item != line && rest.starts_with(' '));
    let heading = line.trim_start_matches('#');
    let marked = line.strip_prefix(['-', '*', '+']).or(Some(heading)).filter(|rest| rest.starts_with(' '));
    let bare = item.or(marked).unwrap_or(line).trim().trim_start_matches("**");
    let is_tag = bare.starts_with(OPENING) || bare.starts_with(CLOSING);
    if is_tag { bare.trim_end_matches("**").trim_end() } else { line }
}

/// Splits `what went wrong -> what to do`.
fn arrow(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix([' ', ':'])?;
    let (problem, solution) = rest.split_once("->").or_else(|| rest.split_once('→'))?;
    let (problem, solution) = (problem.trim(), solution.trim());
    (!problem.is_empty() && !solution.is_empty()).then_some((problem, solution))
}

fn is_field(line: &str) -> bool {
    field(line).is_some()
}

/// Splits the beginning of a field: its name and its first line.
fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim().trim_matches('*').to_ascii_lowercase();
    FIELDS.contains(&name.as_str()).then(|| (name, value.trim_start_matches('*').trim()))
}

fn block(lines: &[&str]) -> Option<Tag> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        match (field(line), fields.last_mut()) {
            (Some((name, value)), _) => fields.push((name, value.to_owned())),
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(line);
            }
            (None, None) => {}
        }
    }
    let last = |name: &str| {
        let found = fields.iter().rev().find(|(field, _)| field == name);
        found.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    let one_line = |value: String| value.lines().next().unwrap_or_default().trim_matches('`').to_owned();
    Some(Tag {
        tool: last("tool").map(one_line),
        trigger: last("trigger").map(one_line),
        summary: last("summary").map(one_line),
        problem: last("problem")?,
        solution: last("solution")?,
        tags: last("tags").map(|tags| list(&tags)).unwrap_or_default(),
        is_of_project: last("scope").is_some_and(|scope| scope.to_lowercase().starts_with("project")),
    })
}

fn list(value: &str) -> Vec<String> {
    value.split([',', '\n']).map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

fn cancelled(lines: &[&str]) -> String {
    let named = lines.iter().find_map(|line| field(line).filter(|(name, _)| name == "problem"));
    match (named, lines.first()) {
        (Some((_, problem)), _) => problem.to_lowercase(),
        (None, Some(rest)) => rest.to_lowercase(),
        (None, None) => String::new(),
    }
}

/// Says whether a tag is the example of a protocol, or still has a template's placeholders.
fn is_of_protocol(tag: &Tag) -> bool {
    let is_placeholder = |text: &str| text.starts_with('<') && text.ends_with('>');
    is_placeholder(&tag.problem)
        || [PROTOCOL, OLD_PROTOCOL].iter().any(|text| {
            text.contains(&format!("problem: {}\nsolution: {}\n", tag.problem, tag.solution))
                || text.contains(&format!("{OPENING} {} -> {}\n", tag.problem, tag.solution))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(reply: &str) -> Tag {
        match &read(reply)[..] {
            [Report::Lesson(tag)] => tag.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn line_9_a_field_of_several_lines_is_kept_whole() {
        let tag = only(
            "Done.\n```\n#lesson\ntool: Bash\ntrigger: `pytest -n auto`\nproblem: Workers share one database:\n- the first drops the tables\n- note: the second fails\nsolution: Give each worker its own\ndatabase by its id.\ntags: tool:pytest, severity:flaky\n#/lesson\n```",
        );
        assert_eq!(
            tag.problem,
            "Workers share one database:\n- the first drops the tables\n- note: the second fails"
        );
        assert_eq!(tag.solution, "Give each worker its own\ndatabase by its id.");
        assert_eq!(tag.trigger.as_deref(), Some("pytest -n auto"));
        assert_eq!(tag.tags, ["tool:pytest", "severity:flaky"]);
        assert!(!tag.is_of_project);
    }

    #[test]
    fn a_line_is_a_lesson_too() {
        let tag = only("#lesson `npm ci` deletes node_modules -> run `npm install` to keep it");
        assert_eq!(
            (&*tag.problem, &*tag.solution),
            ("`npm ci` deletes node_modules", "run `npm install` to keep it")
        );
        assert!(only("#lesson\nproblem: a\nsolution: b\nscope: project\n#/lesson").is_of_project);
    }

    #[test]
    fn a_tag_in_a_list_or_in_bold_print_counts_and_a_quoted_one_does_not() {
        for (opening, closing) in [
            ("- #lesson", "  #/lesson"),
            ("**#lesson**", "**#/lesson**"),
            ("2. **#lesson**", "   **#/lesson**"),
            ("## #lesson", "## #/lesson"),
        ] {
            let tag = only(&format!(
                "Notes:\n{opening}\n**problem:** a fails\n**solution:** b works\n{closing}\nDone."
            ));
            assert_eq!((&*tag.problem, &*tag.solution), ("a fails", "b works"), "{opening}");
        }
        assert_eq!(only("* #lesson `a` fails -> run `b`").solution, "run `b`");
        assert_eq!(read("> #lesson `a` fails -> run `b`\n\n`#lesson a -> b`"), []);
    }

    #[test]
    fn a_lesson_is_withdrawn_by_the_beginning_of_its_problem() {
        let reply = "#lesson\nproblem: One thing\nsolution: other\n#/lesson\n#lesson:cancel\nproblem: One th\n#/lesson:cancel\n#lesson two -> three";
        let reports = read(reply);
        assert_eq!(reports.len(), 3);
        assert_eq!(reports[1], Report::Cancel("one th".into()));
        assert_eq!(read("#lesson:cancel"), [Report::Cancel(String::new())]);
    }

    #[test]
    fn what_is_no_report_is_left_out() {
        for text in [
            PROTOCOL,
            OLD_PROTOCOL,
            "#lesson\nproblem: <what_went_wrong>\nsolution: <the_correction>\n#/lesson",
            "#lesson\nproblem: never closed\nsolution: x",
            "#lessons learned -> none",
            "Use #lesson tags -> they help",
            "#lesson\nsolution: no problem given\n#/lesson",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
