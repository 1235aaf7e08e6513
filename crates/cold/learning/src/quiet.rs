//! Ordinary work: calls that no candidate may fire on.

use lessons::Lesson;
use lessons::trigger::Verdict;
use lessons_admin::rehearsal;

/// Calls of ordinary work, a JSON object in each line: the corpus that the shipped lessons are held to.
const CORPUS: [&str; 15] = [
    include_str!("../../../../tests/data/quiet/cloud.jsonl"),
    include_str!("../../../../tests/data/quiet/containers.jsonl"),
    include_str!("../../../../tests/data/quiet/databases.jsonl"),
    include_str!("../../../../tests/data/quiet/edits.jsonl"),
    include_str!("../../../../tests/data/quiet/files.jsonl"),
    include_str!("../../../../tests/data/quiet/git-messages.jsonl"),
    include_str!("../../../../tests/data/quiet/git.jsonl"),
    include_str!("../../../../tests/data/quiet/github.jsonl"),
    include_str!("../../../../tests/data/quiet/near-misses.jsonl"),
    include_str!("../../../../tests/data/quiet/packages.jsonl"),
    include_str!("../../../../tests/data/quiet/reading.jsonl"),
    include_str!("../../../../tests/data/quiet/sessions.jsonl"),
    include_str!("../../../../tests/data/quiet/shell.jsonl"),
    include_str!("../../../../tests/data/quiet/tests.jsonl"),
    include_str!("../../../../tests/data/quiet/web-and-agents.jsonl"),
];

/// Returns a call of ordinary work that a lesson would fire on.
pub fn disturbed(lesson: &Lesson) -> Option<&'static str> {
    // Most lines have none of the words of a pattern: reading a call costs a thousand times more than looking for a word.
    let words: Vec<Vec<&str>> = lesson
        .trigger
        .commands
        .iter()
        .map(|pattern| pattern.split_whitespace().filter(|word| is_literal(word)).collect())
        .collect();
    let tools = &lesson.trigger.tools;
    let may_fit = |line: &str| {
        if words.is_empty() && !tools.is_empty() {
            return tools.iter().any(|tool| line.contains(tool.trim_end_matches('*')));
        }
        words.is_empty() || words.iter().any(|words| words.iter().all(|word| line.contains(word)))
    };
    let lines = CORPUS.iter().flat_map(|text| text.lines());
    let fires = |line: &&str| matches!(rehearsal::judge(lesson, line), Ok(Verdict::Applies { .. }));
    lines.filter(|line| may_fit(line)).find(fires)
}

/// Says whether a word of a pattern is literal. A short flag may be in a bundle.
fn is_literal(word: &str) -> bool {
    let is_short_flag = word.starts_with('-') && !word.starts_with("--");
    !is_short_flag && !word.contains(['|', '*', '<', '$', '.', '=', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessons::Trigger;

    fn lesson(pattern: &str) -> Lesson {
        Lesson {
            slug: "it".into(),
            trigger: Trigger { commands: vec![pattern.into()], ..Trigger::default() },
            ..Lesson::default()
        }
    }

    #[test]
    fn ordinary_work_is_disturbed_by_a_broad_pattern_and_not_by_a_narrow_one() {
        assert!(disturbed(&lesson("git status")).is_some());
        assert!(disturbed(&lesson("npm install|i")).is_some());
        assert!(disturbed(&lesson("cargo build --jobs-max")).is_none());
    }

    #[test]
    fn the_corpus_is_whole() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/quiet");
        let size: u64 =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        assert_eq!(CORPUS.iter().map(|text| text.len() as u64).sum::<u64>(), size);
    }
}
