//! The patterns of lessons-learned, said in ours.

use super::intake::Problem;
use super::old_expression;
use lessons::manifest::WRITERS;
use lessons::old_expression::{Target, translate};
use lessons::pattern::CommandPattern;
use lessons::{Kind, Lesson, Trigger};
use serde_json::{Value, json};

/// Verbs that begin a description of an activity, which is no command.
const GERUNDS: [&str; 19] = [
    "explaining",
    "implementing",
    "registering",
    "seeing",
    "fixing",
    "doing",
    "using",
    "running",
    "working",
    "writing",
    "checking",
    "adding",
    "removing",
    "creating",
    "updating",
    "building",
    "testing",
    "debugging",
    "reviewing",
];

/// The patterns of one lesson; what is `None` was not given.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// A phrase of the command, word for word.
    pub(super) phrase: Option<String>,
    /// Expressions over the command, or over what is written.
    pub(super) commands: Option<Vec<String>>,
    /// Globs, or expressions over the whole path.
    pub(super) paths: Option<Vec<String>>,
    /// Expressions of which one must fit as well.
    pub(super) models: Vec<String>,
    /// `full` or `executable`.
    pub(super) target: Option<String>,
}

impl Patterns {
    /// Puts the patterns into a lesson's trigger; what they cannot say there is kept beside it. Returns the expressions that
    /// had to be left out although others are there, and why.
    pub(super) fn apply(&self, lesson: &mut Lesson) -> Result<Vec<(String, String)>, Problem> {
        let mut expressions = self.commands.clone();
        let mut untold = Vec::new();
        if let (Some(phrase), None) = (&self.phrase, &self.commands) {
            let first = phrase.split_whitespace().next().unwrap_or_default().to_lowercase();
            if GERUNDS.contains(&first.as_str()) {
                let reason = "describes an activity; expected words of a command, such as git push";
                return Err(Problem::grave("trigger", reason));
            }
            if let Some(pattern) = as_command(phrase).filter(|_| is_for_shell(&lesson.trigger.tools)) {
                lesson.trigger.commands = vec![pattern];
            } else {
                expressions = Some(vec![literal(phrase)]);
            }
        }
        if let Some(expressions) = expressions {
            let target = match self.target.as_deref() {
                Some("executable") => Target::Executable,
                None if lesson.kind == Kind::Guard => Target::Executable,
                _ => Target::Full,
            };
            let (found, left) = trigger(&lesson.trigger.tools, &expressions, target);
            untold = left;
            let trigger = &mut lesson.trigger;
            (trigger.commands, trigger.matches, trigger.raw) = (found.commands, found.matches, found.raw);
            trigger.content = found.content;
            trigger.without.extend(found.without);
        }
        if let Some(paths) = &self.paths {
            let trigger = &mut lesson.trigger;
            trigger.inputs.retain(|(name, _)| name != "file_path");
            trigger.paths.clear();
            if paths.iter().all(|path| is_glob(path)) {
                trigger.paths = paths.iter().map(|glob| anchored(glob)).collect();
            } else if !paths.is_empty() {
                let all = paths.iter().map(|path| as_expression(path)).collect::<Vec<_>>().join("|");
                trigger.inputs.push(("file_path".to_owned(), format!("(?i)(?:{all})")));
            }
        }
        let trigger = &mut lesson.trigger;
        // One of the models must fit beside the others, which for a command the whole text can say.
        if trigger.raw.is_empty() && !(trigger.commands.is_empty() && trigger.matches.is_empty()) {
            trigger.raw.clone_from(&self.models);
        }
        let models = json!(self.models);
        lesson.extra.extend(kept("modelPatterns", &models).filter(|_| lesson.trigger.raw != self.models));
        Ok(untold)
    }
}

fn is_for_shell(tools: &[String]) -> bool {
    tools.is_empty() || tools.iter().any(|tool| tool == "Bash")
}

/// Returns the trigger that expressions over commands make with these tools, and those that cannot be said.
fn trigger(tools: &[String], expressions: &[String], target: Target) -> (Trigger, Vec<(String, String)>) {
    let is_for = |tool: &str| tools.iter().any(|name| name == tool);
    let (mut trigger, mut untold) = (Trigger::default(), Vec::new());
    if is_for_shell(tools) {
        let translation = translate(expressions, target);
        trigger = translation.trigger;
        untold = translation.untold;
        if trigger == Trigger::default() {
            // Named by every check, and never fires: without patterns it would fire with every call of its tools.
            trigger.matches = expressions.to_vec();
            untold.clear();
        }
    }
    if WRITERS.iter().any(|tool| is_for(tool)) {
        trigger.content = expressions.to_vec();
    }
    if trigger.is_tool_only() {
        // Lessons-learned never fires such a lesson either.
        trigger.raw = expressions.to_vec();
    }
    (trigger, untold)
}

/// Returns the pattern of commands that a phrase is, when it begins with a program.
fn as_command(phrase: &str) -> Option<String> {
    let is_program = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    let program = phrase.split_whitespace().next()?;
    let is_plain =
        program.bytes().all(is_program) && !phrase.contains(['|', '*', '$', '&', ';', '>', '<', '"', '\'']);
    (is_plain && CommandPattern::parse(phrase).is_ok()).then(|| phrase.to_owned())
}

/// Returns an expression that fits a text literally, as a whole word where it begins or ends with one.
fn literal(text: &str) -> String {
    let is_word = |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric());
    let edge = |is_word: bool| if is_word { r"\b" } else { "" };
    let (first, last) = (is_word(text.chars().next()), is_word(text.chars().next_back()));
    format!("{}{}{}", edge(first), old_expression::escape(text), edge(last))
}

/// Says whether a pattern of paths is a glob; lessons-learned took everything else for an expression.
fn is_glob(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '|', '+', '(', ')'])
}

/// Returns a glob that fits at any depth, as the old ones did.
fn anchored(glob: &str) -> String {
    let inside = if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() };
    let is_free = !inside.contains('/') || inside.starts_with("**/") || inside.starts_with('/');
    if is_free { inside } else { format!("**/{inside}") }
}

/// Returns the expression that lessons-learned made from a pattern of paths.
fn as_expression(pattern: &str) -> String {
    if !is_glob(pattern) {
        return pattern.to_owned();
    }
    let marked = pattern.replace("**", "\0").replace('*', "\x01").replace('?', "\x02");
    old_expression::escape(&marked).replace('\0', ".*").replace('\x01', "[^/]*").replace('\x02', ".")
}

/// Returns the glob that lessons-learned made an expression from; `None` when it was none.
pub(super) fn glob_of(expression: &str) -> Option<String> {
    let marked = expression.replace("[^/]*", "\x01").replace(".*", "\0").replace(r"\.", "\x02");
    if marked.contains('.') || !is_glob(&marked) || marked.contains(['[', ']', '{', '}', '*', '?']) {
        return None;
    }
    Some(marked.replace('\0', "**").replace('\x01', "*").replace('\x02', "."))
}

/// Returns a field that means nothing here, as it is kept; nothing when it is empty.
pub(super) fn kept(name: &str, value: &Value) -> Option<(String, String)> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::Array(items) if items.is_empty() => return None,
        Value::Object(fields) if fields.is_empty() => return None,
        // A field is one line of the file, so what would not survive that is kept as JSON.
        Value::String(text) if !text.contains(char::is_control) && text.trim() == text => text.clone(),
        other => other.to_string(),
    };
    Some((name.to_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(patterns: &Patterns, tools: &[&str]) -> Trigger {
        let mut lesson = Lesson::default();
        lesson.trigger.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        patterns.apply(&mut lesson).unwrap();
        lesson.trigger
    }

    fn phrase(text: &str) -> Patterns {
        Patterns { phrase: Some(text.to_owned()), ..Patterns::default() }
    }

    #[test]
    fn a_phrase_becomes_a_pattern_or_an_expression() {
        assert_eq!(applied(&phrase("git stash"), &["Bash"]).commands, ["git stash"]);
        assert_eq!(applied(&phrase("--no-verify"), &[]).matches, [r"--no-verify\b"]);
        assert_eq!(applied(&phrase("eval("), &["Edit"]).content, [r"\beval\("]);
        let mut lesson = Lesson::default();
        let error = phrase("Running the tests").apply(&mut lesson).unwrap_err();
        assert_eq!(error.field, "trigger");
    }

    #[test]
    fn line_19_old_path_patterns_become_real_globs() {
        let paths = |paths: &[&str]| {
            let paths = Some(paths.iter().map(|path| (*path).to_owned()).collect());
            applied(&Patterns { paths, ..Patterns::default() }, &["Edit"])
        };
        assert_eq!(
            paths(&["**/*.py", "migrations/", "src/a.ts", ".env"]).paths,
            ["**/*.py", "**/migrations/**", "**/src/a.ts", ".env",]
        );
        let mixed = paths(&["**/*.py", r"\.(ts|js)$"]);
        assert!(mixed.paths.is_empty());
        assert_eq!(mixed.inputs, [("file_path".to_owned(), r"(?i)(?:.*/[^/]*\.py|\.(ts|js)$)".to_owned())]);
    }

    #[test]
    fn globs_are_found_again_in_what_was_made_from_them() {
        for glob in ["**/*.py", "*.test.ts", "src/**/index.js", ".env"] {
            assert_eq!(glob_of(&as_expression(glob)).as_deref(), Some(glob), "{glob}");
        }
        for expression in [r"\.(ts|js)$", "a?.b", r"^src/"] {
            assert_eq!(glob_of(expression), None, "{expression}");
        }
    }

    #[test]
    fn models_narrow_a_command_and_are_kept_elsewhere() {
        let patterns = Patterns {
            commands: Some(vec!["claude -p".into()]),
            models: vec!["opus".into()],
            ..Patterns::default()
        };
        let bash = applied(&patterns, &["Bash"]);
        assert_eq!((bash.commands, bash.raw), (vec!["claude -p".to_owned()], vec!["opus".to_owned()]));
        let mut lesson = Lesson::default();
        lesson.trigger.tools = vec!["Write".into()];
        patterns.apply(&mut lesson).unwrap();
        assert_eq!(lesson.extra, [("modelPatterns".to_owned(), r#"["opus"]"#.to_owned())]);
    }

    #[test]
    fn a_lesson_that_could_never_fire_does_not_fire_always() {
        let patterns = Patterns { commands: Some(vec!["x".into()]), ..Patterns::default() };
        assert!(!applied(&patterns, &["WebFetch"]).is_tool_only());
    }
}
