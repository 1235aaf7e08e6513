//! Lessons for elsewhere: as a manifest that lessons-learned reads, or as files.

use super::catalogue::{ARCHIVE, CANDIDATES, Item, Places, State, file_of};
use super::old_expression;
use super::{Error, Result, slug};
use base::{Timestamp, digest, files};
use lessons::format;
use lessons::{Kind, Lesson};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Returns what lessons-learned would say for a lesson.
pub(super) fn message(lesson: &Lesson) -> String {
    format!("## Lesson: {}\n{}\n**Fix**: {}", lesson.summary, lesson.problem, lesson.solution)
}

/// Returns a manifest of the lessons that are at work or switched off.
///
/// Each entry brings its whole file along, under a name that lessons-learned passes over: an import of ours loses
/// nothing.
pub fn manifest(places: &Places, items: &[&Item], now: Timestamp) -> Value {
    let settings = places.settings();
    let number = |name| settings.number(name);
    let share: f64 = settings.get("lessons.min_confidence").parse().unwrap_or_default();
    let chosen = items.iter().filter(|item| matches!(item.state, State::Active | State::Disabled));
    let entries: Map<String, Value> = chosen.map(|item| (id(&item.lesson), entry(item))).collect();
    json!({
        "type": "lessons-learned-manifest",
        "version": 1,
        "generatedAt": now.to_string(),
        "config": {
            "injectionBudgetBytes": number("lessons.max_bytes"),
            "maxLessonsPerInjection": number("lessons.max_per_call"),
            "minConfidence": share,
            "minPriority": number("lessons.min_priority"),
            "compactionReinjectionThreshold": number("lessons.returning_priority"),
        },
        "lessons": entries,
    })
}

/// Writes a manifest, whole or not at all.
pub fn write_manifest(file: &Path, manifest: &Value) -> Result<()> {
    files::write_atomic(file, format!("{manifest:#}\n").as_bytes()).map_err(Error::io(file))
}

/// Writes lessons as files, those that were put away and candidates in folders of their own; returns the files.
pub fn write_folder(folder: &Path, items: &[&Item]) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for item in items {
        let folder = match item.state {
            State::Active | State::Disabled => folder.to_owned(),
            State::Archived => folder.join(ARCHIVE),
            State::Candidate => folder.join(CANDIDATES),
        };
        let file = file_of(&folder, &item.lesson.slug);
        let lesson = Lesson { is_disabled: item.state == State::Disabled, ..item.lesson.clone() };
        files::write_atomic(&file, format::render(&lesson).as_bytes()).map_err(Error::io(&file))?;
        written.push(file);
    }
    Ok(written)
}

fn entry(item: &Item) -> Value {
    let lesson = &item.lesson;
    let trigger = &lesson.trigger;
    // A pause is the nearest to a hint there: a guard would refuse for good.
    let kind = if lesson.kind == Kind::Pause { Kind::Hint } else { lesson.kind };
    let is_start = !kind.is_about_calls();
    let mut commands = old_expression::of_commands(trigger);
    commands.extend(trigger.content.iter().map(|expression| old_expression::plain(expression)));
    let tools = match (&trigger.tools[..], is_start) {
        (_, true) => Vec::new(),
        ([], _) if !trigger.is_about_shell() => ["Read", "Edit", "Write"].map(str::to_owned).to_vec(),
        ([], _) => vec!["Bash".to_owned()],
        (tools, _) => tools.to_vec(),
    };
    let paths = trigger
        .paths
        .iter()
        .flat_map(|glob| lessons::path_glob::expand(glob))
        .map(|glob| path_expression(&glob));
    let path_inputs = trigger.inputs.iter().filter(|(name, _)| name == "file_path");
    let paths = paths.chain(path_inputs.map(|(_, expression)| old_expression::plain(expression)));
    let sources = |expressions: Vec<String>, flags: &str| -> Vec<Value> {
        expressions.into_iter().map(|source| json!({"source": source, "flags": flags})).collect()
    };
    let own = Lesson { is_disabled: false, ..lesson.clone() };
    let mut entry = json!({
        "slug": old_slug(&lesson.slug),
        "type": kind.name(),
        "priority": lesson.priority,
        "toolNames": tools,
        "commandRegexSources": sources(commands, ""),
        "commandMatchTarget": if kind == Kind::Guard { "executable" } else { "full" },
        "pathRegexSources": sources(paths.collect(), "i"),
        "modelRegexSources": [],
        "tags": lesson.tags,
        "scope": lesson.scope,
        "message": message(lesson),
        "summary": lesson.summary,
        "problem": lesson.problem,
        "solution": lesson.solution,
        "wyren": {"slug": lesson.slug, "file": format::render(&own)},
    });
    if item.state == State::Disabled {
        entry["disabled"] = true.into();
    }
    entry
}

/// Returns an expression over a whole path that fits what a glob without braces fits.
fn path_expression(glob: &str) -> String {
    let marked = glob.replace("**/", "\0").replace("**", "\x01").replace('*', "\x02").replace('?', "\x03");
    let body = old_expression::escape(&marked)
        .replace('\0', "(?:.*/)?")
        .replace('\x01', ".*")
        .replace('\x02', "[^/]*")
        .replace('\x03', "[^/]");
    format!("(?:^|/){body}$")
}

/// Returns a name as lessons-learned wants it: with four characters of their own at its end.
fn old_slug(name: &str) -> String {
    let has_ending = name.rsplit_once('-').is_some_and(|(_, ending)| ending.len() == 4);
    if has_ending { name.to_owned() } else { format!("{name}-{}", &digest::short_hex(name.as_bytes())[..4]) }
}

/// Returns the id that a lesson came with, else one that is the same every time.
fn id(lesson: &Lesson) -> String {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const CHARS: usize = 26;
    let known = lesson.extra.iter().find(|(name, _)| name == "id").map(|(_, id)| id.clone());
    known.filter(|id| id.len() == CHARS && !slug::is_valid(id)).unwrap_or_else(|| {
        let digest = digest::sha256_hex(lesson.slug.as_bytes());
        let letter = |pair: &[u8]| {
            let number = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
            char::from(LETTERS[usize::from(number.unwrap_or_default() % 32)])
        };
        // The first letter is the top of a time, which stays small.
        std::iter::once('0').chain(digest.as_bytes().chunks(2).map(letter)).take(CHARS).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::intake::tests::good;
    use super::*;
    use lessons::layers::Layer;

    fn item(lesson: Lesson, state: State) -> Item {
        Item { lesson, layer: Layer::Personal, state, file: PathBuf::new(), is_trusted: true }
    }

    #[test]
    fn an_entry_has_what_the_schema_of_lessons_learned_requires() {
        let entry = entry(&item(Lesson { kind: Kind::Pause, ..good() }, State::Disabled));
        assert_eq!(entry["type"], "hint");
        assert_eq!(entry["toolNames"], json!(["Bash"]));
        assert_eq!(entry["disabled"], true);
        assert_eq!(entry["commandRegexSources"].as_array().map(Vec::len), Some(2));
        let slug = entry["slug"].as_str().unwrap();
        assert!(
            slug.starts_with("git-stash-untracked-") && slug.len() == "git-stash-untracked-".len() + 4,
            "{slug}"
        );
        assert!(entry["message"].as_str().unwrap().starts_with("## Lesson: git stash leaves"));
    }

    #[test]
    fn paths_stay_whole() {
        let fits =
            |glob: &str, path: &str| regex_lite::Regex::new(&path_expression(glob)).unwrap().is_match(path);
        assert!(fits("**/*.py", "foo.py") && fits("**/*.py", "a/b.py") && !fits("**/*.py", "a/b.pyc"));
        assert!(fits("src/**", "src/a/b") && !fits("*.rs", "a.rsx"));
    }

    #[test]
    fn ids_are_kept_or_made_the_same_every_time() {
        let known = Lesson { extra: vec![("id".into(), "01HZX4V9M0ABCDEFGHJKMNPQRS".into())], ..good() };
        assert_eq!(id(&known), "01HZX4V9M0ABCDEFGHJKMNPQRS");
        assert_eq!(id(&good()), id(&good()));
        assert_eq!(id(&good()).len(), 26);
    }
}
