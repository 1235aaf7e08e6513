//! What the hook would do with a call, and why, without doing it.

use super::catalogue::{Catalogue, Item, Places, State};
use hook::Platform;
use lessons::artifact::Installed;
use lessons::call::Call;
use lessons::index::{self, Fingerprint, Index};
use lessons::inject;
use lessons::layers::{self, Layer};
use lessons::trigger::{Simple, Verdict};
use lessons::{Kind, Lesson};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A call in writing: a command, or a JSON object with the tool and its input.
#[derive(Debug)]
pub struct Written {
    tool: String,
    input: Box<RawValue>,
}

impl Written {
    /// Reads a call: `{"tool": "Write", "file_path": …}`, `{"tool_name": …, "tool_input": {…}}`, or what a shell would
    /// run.
    pub fn read(text: &str) -> Result<Self, String> {
        if !text.trim_start().starts_with("{\"") {
            return Ok(Self::new(
                "Bash",
                &Value::from(Map::from_iter([("command".to_owned(), text.into())])),
            ));
        }
        let mut fields: Map<String, Value> =
            serde_json::from_str(text).map_err(|_| "is no JSON object".to_owned())?;
        let tool = fields.remove("tool").or_else(|| fields.remove("tool_name"));
        let Some(tool) = tool.as_ref().and_then(Value::as_str) else {
            return Err("has no tool: expected {\"tool\": \"Write\", …}".to_owned());
        };
        match fields.remove("tool_input") {
            Some(input @ Value::Object(_)) => Ok(Self::new(tool, &input)),
            Some(_) => Err("has a tool_input that is no object".to_owned()),
            None => Ok(Self::new(tool, &Value::from(fields))),
        }
    }

    fn new(tool: &str, input: &Value) -> Self {
        // What was JSON before is JSON again.
        let input = RawValue::from_string(input.to_string()).unwrap_or_default();
        Self { tool: tool.to_owned(), input }
    }

    fn call<'a>(&'a self, platform: Platform, project: &'a Path) -> Call<'a> {
        Call::read(&self.tool, Some(&self.input), platform, project)
    }
}

fn script<'a>(call: &'a Call<'_>) -> &'a str {
    call.command.as_deref().filter(|_| call.is_shell()).unwrap_or_default()
}

/// Says whether a lesson, by itself, applies to an example.
pub fn judge(lesson: &Lesson, example: &str) -> Result<Verdict, String> {
    let written = Written::read(example)?;
    // A folder like those that people work in: an example must not be about the root, or about a home.
    let call = written
        .call(Platform::ClaudeCode, Path::new("/home/dev/app"))
        .at(Path::new("/home/dev/app"), Some(Path::new("/home/dev")));
    let commands = shell::commands(script(&call));
    let lesson = Lesson { is_disabled: false, ..lesson.clone() };
    let (bytes, _) = index::build(&[lesson], Fingerprint::default());
    let index = Index::new(&bytes[..]).map_err(|damaged| damaged.to_string())?;
    let entry = index.entry(0).map_err(|damaged| damaged.to_string())?;
    Ok(entry.judge(&call, &Simple::all(&commands)))
}

/// A lesson that a call is about, or nearly.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its name.
    pub slug: String,
    /// What it does.
    pub kind: Kind,
    /// Who it comes from.
    pub layer: Layer,
    /// How much it matters.
    pub priority: u8,
    /// What goes wrong, in one line.
    pub summary: String,
    /// The pattern that decided, or what kept it from applying.
    pub reason: String,
    /// Why it would not do all that its kind can, although it applies.
    pub kept_back: Option<String>,
    /// What it would do; `None` for nothing.
    pub acts_as: Option<Kind>,
    confidence: u8,
}

/// The lessons that would answer a call in a new window.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    /// The lessons that apply, in the order in which they count.
    pub applying: Vec<Finding>,
    /// The lessons that nearly do.
    pub nearly: Vec<Finding>,
    /// The most hints that are shown with one call.
    pub most_hints: usize,
}

/// What the agent would meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call is refused, by this guard.
    Refused(String),
    /// The call is refused once, by these pauses.
    Paused(Vec<String>),
    /// The call goes through, with these hints.
    Told(Vec<String>),
    /// Nothing.
    Silent,
}

impl Rehearsal {
    /// Returns what the agent would meet.
    pub fn outcome(&self) -> Outcome {
        let acting = |kind: Kind| {
            let is_acting = move |finding: &&Finding| finding.acts_as == Some(kind);
            self.applying.iter().filter(is_acting).map(|finding| finding.slug.clone())
        };
        let pauses: Vec<String> = acting(Kind::Pause).collect();
        let hints: Vec<String> = acting(Kind::Hint).take(self.most_hints).collect();
        match acting(Kind::Guard).next() {
            Some(guard) => Outcome::Refused(guard),
            None if !pauses.is_empty() => Outcome::Paused(pauses),
            None if !hints.is_empty() => Outcome::Told(hints),
            None => Outcome::Silent,
        }
    }
}

/// Asks every lesson about a call.
pub fn rehearse(places: &Places, catalogue: &Catalogue, written: &Written) -> Rehearsal {
    let platform = Platform::from_name(places.env.text("LESSONS_AGENT_PLATFORM").as_deref());
    let project = places.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| places.cwd.clone(), PathBuf::from);
    let home = base::system::home(&places.env);
    let mut call = written.call(platform, &project).at(&places.cwd, home.as_deref());
    call.name_data_folder(&places.paths);
    let commands = shell::commands(script(&call));
    let simples = Simple::all(&commands);
    let items: Vec<&Item> = catalogue.in_use().filter(|item| item.lesson.kind.is_about_calls()).collect();
    // An index leaves out what is switched off; here that is wanted, with the reason.
    let lessons: Vec<Lesson> =
        items.iter().map(|item| Lesson { is_disabled: false, ..item.lesson.clone() }).collect();
    let (bytes, _) = index::build(&lessons, Fingerprint::default());
    let bounds = inject::bounds(&places.settings());
    let installed = Installed::of(&places.paths);
    let packs_off = places.settings().get("lessons.packs_off");
    let mut rehearsal = Rehearsal { most_hints: bounds.lessons, ..Rehearsal::default() };
    let Ok(index) = Index::new(&bytes[..]) else { return rehearsal };
    let looked_up = index.candidates(&call, &simples).unwrap_or_default();
    for (number, item) in (0_u32..).zip(&items) {
        let Ok(entry) = index.entry(number) else { continue };
        let is_alike = !entry.commands.is_empty() && looked_up.contains(&number);
        let (reason, applies) = match entry.judge(&call, &simples) {
            Verdict::Applies { by } => (by, true),
            Verdict::Nearly { because } => (because, false),
            Verdict::Unrelated if is_alike => ("no pattern fits all of the command".to_owned(), false),
            Verdict::Unrelated => continue,
        };
        let lesson = &item.lesson;
        let pack = lesson.pack.as_deref().unwrap_or_default();
        let silenced = if layers::is_pack_off(&packs_off, item.layer, pack) {
            Some(format!("its pack {pack} is off"))
        } else if let Some(reason) = installed.what_keeps(item.layer, lesson) {
            Some(reason)
        } else if item.state == State::Disabled {
            Some("it is disabled".to_owned())
        } else if lesson.confidence < bounds.least_confidence {
            Some("its confidence is below lessons.min_confidence".to_owned())
        } else if lesson.priority < bounds.least_priority {
            Some("its priority is below lessons.min_priority".to_owned())
        } else if !inject::is_in_scope(lesson.scope.as_deref().unwrap_or_default(), &places.cwd) {
            Some(format!("it is for another project: {}", lesson.scope.as_deref().unwrap_or_default()))
        } else {
            None
        };
        let acts_as = match &silenced {
            Some(_) => None,
            None if item.is_trusted => Some(lesson.kind),
            None => Some(Kind::Hint),
        };
        let untrusted = || "it is a hint until you run `wyren trust`".to_owned();
        let kept_back = silenced.or_else(|| (!item.is_trusted).then(untrusted));
        let finding = Finding {
            slug: lesson.slug.clone(),
            kind: lesson.kind,
            layer: item.layer,
            priority: lesson.priority,
            summary: lesson.summary.clone(),
            reason,
            kept_back,
            acts_as,
            confidence: lesson.confidence,
        };
        if applies { rehearsal.applying.push(finding) } else { rehearsal.nearly.push(finding) }
    }
    for findings in [&mut rehearsal.applying, &mut rehearsal.nearly] {
        findings.sort_by(|one, other| {
            let rank =
                |finding: &Finding| (finding.layer != Layer::Project, finding.priority, finding.confidence);
            rank(other).cmp(&rank(one)).then_with(|| one.slug.cmp(&other.slug))
        });
    }
    rehearsal
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessons::Trigger;

    fn judged(trigger: Trigger, example: &str) -> Verdict {
        judge(&Lesson { trigger, ..Lesson::default() }, example).unwrap()
    }

    #[test]
    fn an_example_is_a_command_or_a_call() {
        let pytest = || Trigger { commands: vec!["pytest".into()], ..Trigger::default() };
        assert!(matches!(judged(pytest(), "cd a && pytest -x"), Verdict::Applies { .. }));
        assert_eq!(judged(pytest(), "git add pytest.ini"), Verdict::Unrelated);
        // A brace group is shell, not JSON.
        assert!(matches!(judged(pytest(), "{ pytest; }"), Verdict::Applies { .. }));
        let python = Trigger { paths: vec!["**/*.py".into()], ..Trigger::default() };
        for call in [
            r#"{"tool":"Write","file_path":"a/b.py","content":"x"}"#,
            r#"{"tool_name":"Write","tool_input":{"file_path":"a/b.py"}}"#,
        ] {
            assert!(matches!(judged(python.clone(), call), Verdict::Applies { .. }), "{call}");
        }
        assert!(Written::read(r#"{"file_path":"x"}"#).is_err());
    }

    #[test]
    fn what_keeps_a_lesson_from_applying_is_shown_plainly() {
        let because = |fields: &str, example: &str| {
            let lesson = lessons::format::parse("it", &format!("---\n{fields}\n---\n")).unwrap();
            match judged(lesson.trigger, example) {
                Verdict::Nearly { because } => because,
                other => panic!("{fields} on {example}: {other:?}"),
            }
        };
        let psql = "command: psql\nwithout: <, @timeout|@xargs, -c, PGDATABASE=test";
        assert_eq!(because(psql, "psql < x"), "its input comes from a file, a here-document or a pipe");
        assert_eq!(because(psql, "timeout 5 psql"), "it runs below timeout or xargs");
        assert_eq!(because(psql, "psql -c x"), "the command has -c");
        assert_eq!(because(psql, "PGDATABASE=test psql"), "the command has PGDATABASE=test");
        assert_eq!(because("command: top\nwithout: >, &", "top > x"), "its output goes to a file or a pipe");
        assert_eq!(because("command: top\nwithout: >, &", "top &"), "it runs in the background");
        assert_eq!(
            because("command: git push\nwith: --force, @xargs", "git push"),
            "none of these holds: --force, @xargs"
        );
        assert_eq!(because("command: cat\nwrites: <disk>", "cat x > y"), "its output goes to no <disk>");
        assert_eq!(because("sql: ^DROP", "psql -c 'select 1'"), "no SQL statement in it fits");
        assert_eq!(because("command: psql\nsql: ^DROP", "psql"), "it hands no SQL to a database client");
        let rm = Trigger { commands: vec!["rm -r ... <root>".into()], ..Trigger::default() };
        assert_eq!(
            judged(rm, "rm -r x /tmp/.."),
            Verdict::Applies { by: "rm -r ... <root> (/tmp/.. is <root>)".into() }
        );
    }
}
