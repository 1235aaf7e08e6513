//! What a lesson must be before it is written: every problem names the field and the reason.

use super::rehearsal;
use super::similar::{self, SAME_WORDS};
use super::slug;
use lessons::condition::{self, Targets};
use lessons::pattern::CommandPattern;
use lessons::trigger::Verdict;
use lessons::{Kind, Lesson};
use regex_lite::Regex;
use std::fmt;

/// The most characters of a summary.
pub const MAX_SUMMARY_CHARS: usize = 80;
/// The fewest characters of a summary.
pub const MIN_SUMMARY_CHARS: usize = 10;
/// The fewest characters of a problem.
pub const MIN_PROBLEM_CHARS: usize = 20;
/// The fewest characters of a solution: less is no instruction.
pub const MIN_SOLUTION_CHARS: usize = 60;
/// The most bytes of problem and solution together: more does not fit beside a call.
pub const MAX_TEXT_BYTES: usize = 3_500;

/// What is left of a template that was not filled in.
const PLACEHOLDERS: [&str; 7] = [
    "<what_went_wrong>",
    "<the_correction>",
    "<tool_name>",
    "<command_or_action>",
    "<category_value_tags>",
    "lorem ipsum",
    "todo: write",
];

/// Tools that are called so often that a lesson about every call of one is noise.
const COMMON_TOOLS: [&str; 9] =
    ["Bash", "Read", "Edit", "Write", "MultiEdit", "Glob", "Grep", "Agent", "Task"];

/// Programs that are run so often that a lesson about every call of one is noise.
const COMMON_PROGRAMS: [&str; 40] = [
    "awk", "bash", "cargo", "cat", "cd", "chmod", "cp", "curl", "docker", "echo", "find", "gh", "git", "go",
    "grep", "head", "java", "jq", "kubectl", "ls", "make", "mkdir", "mv", "node", "npm", "npx", "pip",
    "pnpm", "printf", "python", "python3", "rg", "rm", "sed", "sh", "sudo", "tail", "test", "uv", "yarn",
];

/// What is wrong with a field of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
    /// The one value of the field that is wrong, where it is not the field as a whole. Such a problem keeps the lesson
    /// from working; the others are about how it is written.
    pub value: Option<String>,
    /// Whether the lesson cannot stay like this; else it is only worth a look.
    pub is_grave: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.reason)
    }
}

impl Problem {
    pub(super) fn grave(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into(), value: None, is_grave: true }
    }

    pub(super) fn mild(field: &str, reason: impl Into<String>) -> Self {
        Self { field: field.to_owned(), reason: reason.into(), value: None, is_grave: false }
    }

    fn about(self, value: &str) -> Self {
        Self { value: Some(value.to_owned()), ..self }
    }
}

/// Returns everything that is wrong with a lesson, or worth a look.
pub fn check(lesson: &Lesson) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !slug::is_valid(&lesson.slug) {
        let reason =
            format!("expected words of a-z and 0-9 with dashes between them, at most {}", slug::MAX_CHARS);
        problems.push(Problem::grave("slug", reason));
    }
    check_texts(lesson, &mut problems);
    check_lines(lesson, &mut problems);
    check_patterns(lesson, &mut problems);
    check_trigger(lesson, &mut problems);
    // Whether examples fire says nothing while patterns cannot be read.
    if !problems.iter().any(|problem| problem.is_grave) {
        check_examples(lesson, &mut problems);
    }
    problems
}

fn check_texts(lesson: &Lesson, problems: &mut Vec<Problem>) {
    let texts = [
        ("summary", &lesson.summary, MIN_SUMMARY_CHARS),
        ("problem", &lesson.problem, MIN_PROBLEM_CHARS),
        ("solution", &lesson.solution, MIN_SOLUTION_CHARS),
    ];
    for (field, text, least) in texts {
        let length = text.chars().count();
        if length == 0 {
            problems.push(Problem::grave(field, "is missing"));
        } else if length < least {
            let reason = format!("has {length} characters, expected at least {least}");
            problems.push(Problem::grave(field, reason));
        }
        let lower = text.to_lowercase();
        if let Some(placeholder) = PLACEHOLDERS.iter().find(|placeholder| lower.contains(**placeholder)) {
            problems.push(Problem::grave(field, format!("still holds the placeholder {placeholder}")));
        }
        let is_odd = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
        if text.contains(is_odd) {
            problems.push(Problem::grave(field, "holds control characters"));
        }
    }
    let length = lesson.summary.chars().count();
    if length > MAX_SUMMARY_CHARS {
        let reason = format!("has {length} characters, expected at most {MAX_SUMMARY_CHARS}");
        problems.push(Problem::grave("summary", reason));
    }
    if lesson.summary.ends_with("...") || lesson.summary.ends_with('…') {
        problems.push(Problem::grave("summary", "is cut off: say it whole"));
    }
    if lesson.problem.lines().any(|line| line.trim_end().eq_ignore_ascii_case("## solution")) {
        problems.push(Problem::grave("problem", "must not hold the heading ## Solution"));
    }
    let bytes = lesson.problem.len() + lesson.solution.len();
    if bytes > MAX_TEXT_BYTES {
        let reason =
            format!("problem and solution have {bytes} bytes, at most {MAX_TEXT_BYTES} fit beside a call");
        problems.push(Problem::grave("solution", reason));
    }
    if similar::jaccard(&similar::words(&lesson.problem), &similar::words(&lesson.solution)) >= SAME_WORDS {
        problems.push(Problem::grave("solution", "repeats the problem: say what to do instead"));
    }
}

/// Every value is on one line of the file, and lists are separated by commas.
fn check_lines(lesson: &Lesson, problems: &mut Vec<Problem>) {
    let trigger = &lesson.trigger;
    let lists = [
        ("tools", &trigger.tools),
        ("without", &trigger.without),
        ("with", &trigger.with),
        ("piped_to", &trigger.piped_to),
        ("tags", &lesson.tags),
    ];
    for (field, values) in lists {
        for value in values.iter().filter(|value| value.contains(',')) {
            problems.push(Problem::grave(field, format!("{value:?} must not hold a comma")).about(value));
        }
    }
    let mut values: Vec<(&str, &str)> = vec![("source", lesson.source.as_str())];
    values.extend(lesson.instead.as_deref().map(|text| ("instead", text)));
    values.extend(lesson.scope.as_deref().map(|text| ("scope", text)));
    values
        .extend(lists.iter().flat_map(|(field, values)| values.iter().map(|value| (*field, value.as_str()))));
    values.extend(patterns(lesson));
    for (field, value) in values {
        if value.contains(char::is_control) {
            problems.push(Problem::grave(field, format!("{value:?} must be on one line")).about(value));
        }
        if value.trim().is_empty() {
            problems.push(Problem::grave(field, "is empty"));
        }
    }
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let names = trigger.inputs.iter().map(|(name, _)| ("inputs", name));
    for (field, name) in names.chain(lesson.extra.iter().map(|(name, _)| ("extra", name))) {
        if !is_name(name) {
            problems.push(Problem::grave(field, format!("{name:?} is not a valid field name")).about(name));
        }
    }
}

fn patterns(lesson: &Lesson) -> impl Iterator<Item = (&'static str, &str)> {
    let trigger = &lesson.trigger;
    let fields = [
        ("commands", &trigger.commands),
        ("writes", &trigger.writes),
        ("sql", &trigger.sql),
        ("matches", &trigger.matches),
        ("raw", &trigger.raw),
        ("paths", &trigger.paths),
        ("content", &trigger.content),
    ];
    let plain = fields
        .into_iter()
        .flat_map(|(field, values)| values.iter().map(move |value| (field, value.as_str())));
    plain.chain(trigger.inputs.iter().map(|(_, value)| ("inputs", value.as_str())))
}

fn check_patterns(lesson: &Lesson, problems: &mut Vec<Problem>) {
    for (field, pattern) in patterns(lesson) {
        let flaw = match field {
            "commands" => CommandPattern::parse(pattern).err(),
            "writes" => Targets::parse(pattern).err(),
            "sql" => sql_flaw(pattern),
            "paths" => glob_flaw(pattern),
            _ => expression_flaw(pattern),
        };
        problems
            .extend(flaw.map(|flaw| Problem::grave(field, format!("{pattern:?}: {flaw}")).about(pattern)));
    }
    let trigger = &lesson.trigger;
    for (field, items) in [("without", &trigger.without), ("with", &trigger.with)] {
        for item in items {
            let flaw = condition::Item::parse(item).err();
            problems.extend(flaw.map(|flaw| Problem::grave(field, format!("{item:?}: {flaw}")).about(item)));
        }
    }
    let is_stars = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte == b'*');
    let words = |pattern: &String| pattern.split([' ', '|']).any(is_stars);
    for pattern in trigger.commands.iter().filter(|pattern| words(pattern)) {
        let reason = format!("{pattern:?}: ** is the same as *, any one word; ... is any number of words");
        problems.push(Problem::mild("commands", reason).about(pattern));
    }
}

/// Returns what is wrong with an expression over statements, which are in upper case.
fn sql_flaw(expression: &str) -> Option<String> {
    let is_any_case = expression.contains("(?i");
    let mut is_escaped = false;
    let has_lower = expression.chars().any(|character| {
        let is_letter = character.is_ascii_lowercase() && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_letter
    });
    if has_lower && !is_any_case && expression_flaw(expression).is_none() {
        return Some("statements are in upper case, so this never fits".to_owned());
    }
    expression_flaw(expression)
}

/// Texts that have nothing in common.
const EVERYTHING: [&str; 3] = ["", "z", "ls -la | wc > 'a b' && \"$X\"; # 1"];

/// Returns what is wrong with a regular expression.
pub(super) fn expression_flaw(expression: &str) -> Option<String> {
    if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| expression.contains(look)) {
        return Some("looking ahead or behind is not possible; say it with `without`".to_owned());
    }
    match Regex::new(expression) {
        Err(error) => Some(error.to_string()),
        Ok(expression) if EVERYTHING.iter().all(|text| expression.is_match(text)) => {
            Some("fits everything".to_owned())
        }
        Ok(_) => None,
    }
}

fn glob_flaw(glob: &str) -> Option<String> {
    let is_expression = glob.contains(['\\', '^', '$']) || glob.contains(".*");
    is_expression.then(|| "is an expression, expected a glob such as **/*.py".to_owned())
}

fn check_trigger(lesson: &Lesson, problems: &mut Vec<Problem>) {
    let trigger = &lesson.trigger;
    if !lesson.kind.is_about_calls() {
        let reason = format!("a {} is shown at the start, so it must not have any", lesson.kind);
        if !trigger.tools.is_empty() {
            problems.push(Problem::grave("tools", reason.clone()));
        }
        // Names at the top of a project, which say what kind of project it is about.
        let is_of_project = |field: &str| field == "paths";
        if let Some((field, _)) = patterns(lesson).find(|(field, _)| !is_of_project(field)) {
            problems.push(Problem::grave(field, reason));
        }
        return;
    }
    let is_about_shell = trigger.is_about_shell();
    if trigger.is_tool_only() {
        if trigger.tools.is_empty() {
            let reason = format!(
                "a {} needs one: commands, writes, sql, paths, content, inputs or tools",
                lesson.kind
            );
            problems.push(Problem::grave("trigger", reason));
        } else if let Some(tool) = trigger.tools.iter().find(|tool| COMMON_TOOLS.contains(&tool.as_str())) {
            let reason = format!("would apply to every call of {tool}: add commands, paths or content");
            problems.push(Problem::grave("tools", reason));
        }
    }
    if !trigger.is_about_commands() {
        let fields =
            [("without", &trigger.without), ("with", &trigger.with), ("piped_to", &trigger.piped_to)];
        for (field, values) in fields {
            if !values.is_empty() {
                problems
                    .push(Problem::grave(field, "needs commands, matches, writes or sql that it narrows"));
            }
        }
    }
    if is_about_shell && !trigger.tools.is_empty() && !trigger.tools.iter().any(|tool| tool == "Bash") {
        problems.push(Problem::grave("tools", "commands are run by Bash, which is not among the tools"));
    }
    for pattern in &trigger.commands {
        let words: Vec<&str> = pattern.split_whitespace().collect();
        if let [program] = words[..]
            && program.split('|').any(|program| COMMON_PROGRAMS.contains(&program))
            && trigger.matches.is_empty()
            && trigger.raw.is_empty()
            && [&trigger.piped_to, &trigger.with, &trigger.writes, &trigger.sql]
                .iter()
                .all(|field| field.is_empty())
        {
            let reason = format!("{program:?} alone fits nearly every session: add a subcommand or a flag");
            problems.push(Problem::mild("commands", reason).about(program));
        }
    }
    for expression in trigger.matches.iter().chain(&trigger.raw) {
        let word = expression.replace(r"\b", "");
        if COMMON_PROGRAMS.contains(&word.as_str()) {
            let reason = format!("{expression:?} alone fits nearly every session: say more of the command");
            problems.push(Problem::mild("matches", reason).about(expression));
        }
    }
    let writes = trigger.tools.iter().any(|tool| matches!(tool.as_str(), "Edit" | "Write" | "MultiEdit"));
    if lesson.kind == Kind::Guard && writes && trigger.content.is_empty() && trigger.inputs.is_empty() {
        problems.push(Problem::mild("content", "without it every edit of these files is refused"));
    }
}

fn check_examples(lesson: &Lesson, problems: &mut Vec<Problem>) {
    if !lesson.kind.is_about_calls() {
        return;
    }
    for (field, examples, fires) in [("fires", &lesson.fires, true), ("quiet", &lesson.quiet, false)] {
        for example in examples {
            let reason = match rehearsal::judge(lesson, example) {
                Err(reason) => reason,
                Ok(Verdict::Applies { by }) if !fires => format!("fires it, by {by}"),
                Ok(Verdict::Nearly { because }) if fires => format!("does not fire it: {because}"),
                Ok(Verdict::Unrelated) if fires => "does not fire it".to_owned(),
                Ok(_) => continue,
            };
            problems.push(Problem::grave(field, format!("{example:?} {reason}")).about(example));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use lessons::Trigger;

    /// Returns a lesson that nothing is wrong with.
    pub(crate) fn good() -> Lesson {
        Lesson {
            slug: "git-stash-untracked".into(),
            summary: "git stash leaves untracked files behind".into(),
            problem: "A plain stash takes tracked changes only, so new files stay in the work tree.".into(),
            solution:
                "Run `git stash push --include-untracked` and check with `git status` that nothing stays."
                    .into(),
            trigger: Trigger {
                commands: vec!["git stash push|save".into(), "git stash $".into()],
                without: vec!["-u|--include-untracked".into()],
                ..Trigger::default()
            },
            fires: vec!["git stash".into()],
            quiet: vec!["git stash list".into(), "git stash push -u".into()],
            ..Lesson::default()
        }
    }

    #[track_caller]
    fn check_problems(change: impl FnOnce(&mut Lesson), expected: &[&str]) {
        let mut lesson = good();
        change(&mut lesson);
        let problems: Vec<String> = check(&lesson).iter().map(Problem::to_string).collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn a_good_lesson_gets_no_problem() {
        check_problems(|_| {}, &[]);
    }

    #[test]
    fn texts_have_bounds() {
        check_problems(
            |lesson| lesson.solution = "Use -u.".into(),
            &["solution: has 7 characters, expected at least 60"],
        );
        check_problems(|lesson| lesson.problem.clear(), &["problem: is missing"]);
        check_problems(
            |lesson| lesson.summary = "x".repeat(81),
            &["summary: has 81 characters, expected at most 80"],
        );
        check_problems(
            |lesson| lesson.summary = "git stash leaves...".into(),
            &["summary: is cut off: say it whole"],
        );
        check_problems(
            |lesson| lesson.problem = format!("<What_Went_Wrong> {}", lesson.problem),
            &["problem: still holds the placeholder <what_went_wrong>"],
        );
        check_problems(
            |lesson| lesson.solution = lesson.problem.clone(),
            &["solution: repeats the problem: say what to do instead"],
        );
    }

    #[test]
    fn patterns_must_be_readable() {
        check_problems(
            |lesson| lesson.trigger.commands = vec!["-f x".into()],
            &["commands: \"-f x\": the first word must be the program"],
        );
        check_problems(
            |lesson| lesson.trigger.matches = vec!["git push(?!.*--dry)".into()],
            &[
                "matches: \"git push(?!.*--dry)\": looking ahead or behind is not possible; say it with `without`",
            ],
        );
        check_problems(|lesson| lesson.trigger.raw = vec![".*".into()], &["raw: \".*\": fits everything"]);
        check_problems(
            |lesson| lesson.trigger.paths = vec![r".*\.py$".into()],
            &["paths: \".*\\\\.py$\": is an expression, expected a glob such as **/*.py"],
        );
    }

    #[test]
    fn conditions_classes_and_statements_must_be_readable() {
        let no_class = "is no class of paths; expected one of <root>, <system>, <home>, <precious>, <here>, <outside>, \
                        <disk>, <variable>";
        check_problems(
            |lesson| lesson.trigger.without.push("<nowhere>".into()),
            &[&format!("without: \"<nowhere>\": <nowhere> {no_class}")],
        );
        check_problems(
            |lesson| lesson.trigger.with.push("@".into()),
            &["with: \"@\": @ needs the name of a wrapper behind it, such as @timeout"],
        );
        check_problems(
            |lesson| lesson.trigger.writes.push("a|<nowhere>".into()),
            &[&format!("writes: \"a|<nowhere>\": <nowhere> {no_class}")],
        );
        check_problems(
            |lesson| lesson.trigger.sql.push("drop table".into()),
            &["sql: \"drop table\": statements are in upper case, so this never fits"],
        );
        check_problems(
            |lesson| lesson.trigger.without.push("a,b".into()),
            &["without: \"a,b\" must not hold a comma"],
        );
        check_problems(
            |lesson| {
                lesson.trigger =
                    Trigger { raw: vec!["abcd".into()], with: vec!["-f".into()], ..Trigger::default() };
            },
            &["with: needs commands, matches, writes or sql that it narrows"],
        );
        let only = |trigger: Trigger, fires: &str| {
            check_problems(
                |lesson| {
                    lesson.trigger = trigger;
                    lesson.fires = vec![fires.into()];
                },
                &[],
            );
        };
        only(Trigger { writes: vec!["<disk>".into()], ..Trigger::default() }, "> /dev/sda");
        let sql = vec![r"(?i)^drop\s+table|^\w+ X".into()];
        only(Trigger { sql, ..Trigger::default() }, "psql -c 'drop table x'");
    }

    #[test]
    fn item_25_two_stars_are_worth_a_look() {
        let mut lesson = good();
        lesson.trigger.commands.push("ssh ** $".into());
        let problems = check(&lesson);
        assert!(!problems[0].is_grave && problems[0].reason.contains("** is the same as *"), "{problems:?}");
    }

    #[test]
    fn a_kind_needs_its_trigger() {
        check_problems(
            |lesson| lesson.trigger = Trigger::default(),
            &["trigger: a hint needs one: commands, writes, sql, paths, content, inputs or tools"],
        );
        check_problems(
            |lesson| lesson.kind = Kind::Directive,
            &["commands: a directive is shown at the start, so it must not have any"],
        );
        check_problems(
            |lesson| {
                lesson.kind = Kind::Protocol;
                lesson.trigger = Trigger { tools: vec!["Bash".into()], ..Trigger::default() };
            },
            &["tools: a protocol is shown at the start, so it must not have any"],
        );
        check_problems(
            |lesson| {
                lesson.kind = Kind::Directive;
                lesson.trigger = Trigger { paths: vec!["Cargo.toml".into()], ..Trigger::default() };
                lesson.fires.clear();
                lesson.quiet.clear();
            },
            &[],
        );
        check_problems(
            |lesson| lesson.trigger = Trigger { tools: vec!["Read".into()], ..Trigger::default() },
            &["tools: would apply to every call of Read: add commands, paths or content"],
        );
    }

    #[test]
    fn a_common_program_alone_is_worth_a_look() {
        let mut lesson = good();
        lesson.trigger.commands = vec!["git".into()];
        lesson.quiet.clear();
        let problems = check(&lesson);
        assert_eq!(problems.len(), 1);
        assert!(!problems[0].is_grave && problems[0].reason.contains("nearly every session"), "{problems:?}");
    }

    #[test]
    fn examples_must_do_what_they_say() {
        check_problems(
            |lesson| lesson.fires.push("git stash push -u".into()),
            &["fires: \"git stash push -u\" does not fire it: the command has -u|--include-untracked"],
        );
        check_problems(
            |lesson| lesson.quiet.push("cd x && git stash".into()),
            &["quiet: \"cd x && git stash\" fires it, by git stash $"],
        );
        check_problems(
            |lesson| lesson.fires.push("{\"tool\":".into()),
            &["fires: \"{\\\"tool\\\":\" is no JSON object"],
        );
    }

    #[test]
    fn values_stay_on_their_line() {
        check_problems(|lesson| lesson.tags = vec!["a,b".into()], &["tags: \"a,b\" must not hold a comma"]);
        check_problems(
            |lesson| lesson.instead = Some("a\nb".into()),
            &["instead: \"a\\nb\" must be on one line"],
        );
        check_problems(
            |lesson| lesson.slug = "../x".into(),
            &["slug: expected words of a-z and 0-9 with dashes between them, at most 100"],
        );
    }
}
