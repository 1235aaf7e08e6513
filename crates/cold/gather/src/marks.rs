//! Ids by which things are found again: commits, pull requests, issues, subagents.

use crate::budget::{ANSWER_CHARS, ID_LINE_CHARS, IDS};
use distiller::clean_cut;
use text::sanitize;

/// How short a commit's name may be, in digits.
const SHORT_COMMIT: usize = 7;
const WHOLE_COMMIT: usize = 64;
/// What the client writes before the id of a subagent.
const AGENT: &str = "agentId: ";

/// Programs whose output names what they made.
const MAKERS: &[&str] = &["git commit", "git push", "git merge", "git tag", "gh ", "glab ", "bd ", "jira "];

/// Ids with the line that each was first in.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<(String, String)>);

impl Marks {
    /// Takes the ids from what a command printed, if it is one that makes things which have ids.
    pub(crate) fn of_command(&mut self, command: &str, output: &str) {
        if MAKERS.iter().any(|maker| command.contains(maker)) {
            // Half a secret has no shape to know it by, and lines are cut.
            let output = clean_cut(output, output.len());
            for line in output.lines().filter(|line| line.len() < 10 * ID_LINE_CHARS) {
                for word in line.split(|c: char| c.is_whitespace() || "[](){}<>,;\"'`".contains(c)) {
                    let word = word.trim_end_matches(['.', ':']);
                    if is_commit(word) || is_address(word) || is_issue(word) {
                        self.add(word, line);
                    }
                }
            }
        }
    }

    /// Takes the commits from what a command printed that failed after them.
    pub(crate) fn of_failure(&mut self, command: &str, output: &str) {
        if command.contains("git commit") {
            let output = clean_cut(output, output.len());
            let commits = output.lines().filter(|line| line.starts_with('[') && line.contains("] "));
            for line in commits.filter(|line| line.len() < 10 * ID_LINE_CHARS) {
                let head = line.trim_start_matches('[').split("] ").next().unwrap_or_default();
                head.split(' ')
                    .next_back()
                    .filter(|word| is_commit(word))
                    .into_iter()
                    .for_each(|word| self.add(word, line));
            }
        }
    }

    /// Takes the id of a subagent from what it returned, with the beginning of its answer.
    pub(crate) fn of_agent(&mut self, description: &str, output: &str) {
        let is_id = |line: &&str| line.trim().starts_with(AGENT);
        let answer: Vec<&str> =
            output.lines().filter(|line| !is_id(line)).flat_map(str::split_whitespace).collect();
        let answer = answer.join(" ");
        for line in output.lines().filter(is_id) {
            if let Some(id) = line.trim().trim_start_matches(AGENT).split_whitespace().next() {
                self.add_long(id, &format!("subagent \"{description}\": {answer}"), ANSWER_CHARS);
            }
        }
    }

    fn add(&mut self, id: &str, line: &str) {
        self.add_long(id, line, ID_LINE_CHARS);
    }

    fn add_long(&mut self, id: &str, line: &str, most_chars: usize) {
        if !self.0.iter().any(|(known, _)| known == id) {
            self.0.push((id.to_owned(), sanitize::one_line(line.trim(), most_chars)));
        }
    }

    /// Returns the last ids, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let from = self.0.len().saturating_sub(IDS);
        self.0[from..].iter().map(|(id, line)| format!("- {id}: {line}")).collect()
    }
}

fn is_commit(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let has = |range: std::ops::RangeInclusive<u8>| word.bytes().any(|byte| range.contains(&byte));
    (SHORT_COMMIT..=WHOLE_COMMIT).contains(&word.len()) && is_hex && has(b'0'..=b'9') && has(b'a'..=b'f')
}

fn is_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Says whether a word is like `#12`, `PARCEL-12` or `bd-a1b2`.
fn is_issue(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return is_number(number);
    }
    word.split_once('-').is_some_and(|(name, number)| {
        let is_name = name.len() >= 2 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        (is_name && is_number(number))
            || (name == "bd" && number.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_taken_from_programs_that_make_them() {
        let mut marks = Marks::default();
        marks.of_command("git commit -m x", "[main 4be19a2] Refuse tokens\n 3 files changed");
        marks.of_command("gh pr create", "https://git.example/p/pull/12\nsee PARCEL-7 and #9.");
        marks.of_command("cat log", "4be19a3");
        marks.of_agent("look", "done\nagentId: ab683a49f51cae704 (use SendMessage)");
        assert_eq!(
            marks.lines(),
            [
                "- 4be19a2: [main 4be19a2] Refuse tokens",
                "- https://git.example/p/pull/12: https://git.example/p/pull/12",
                "- PARCEL-7: see PARCEL-7 and #9.",
                "- #9: see PARCEL-7 and #9.",
                "- ab683a49f51cae704: subagent \"look\": done",
            ]
        );
    }
}
