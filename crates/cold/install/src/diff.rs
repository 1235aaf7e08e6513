//! What an edit would change, as `diff -u` shows it.

use std::fmt::Write as _;

/// How many lines are shown around a change.
const CONTEXT: usize = 3;

/// The most pairs of lines that are compared; beyond that, everything between the first and the last change is shown.
const MAX_PAIRS: usize = 4_000_000;

type Line<'a> = (char, &'a str);

/// Returns the unified diff of two texts; empty where they are equal.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let lines = compare(&lines_of(before), &lines_of(after));
    let mut diff = String::new();
    let (mut old, mut new, mut at) = (1, 1, 0);
    while let Some(change) = lines[at..].iter().position(|(sign, _)| *sign != ' ').map(|next| at + next) {
        let start = change.saturating_sub(CONTEXT).max(at);
        old += start - at;
        new += start - at;
        let mut end = change + 1;
        while let Some(next) = lines[end..].iter().take(2 * CONTEXT + 1).position(|(sign, _)| *sign != ' ') {
            end += next + 1;
        }
        end = (end + CONTEXT).min(lines.len());
        if diff.is_empty() {
            let _ = writeln!(diff, "--- {name}\n+++ {name}");
        }
        let hunk = &lines[start..end];
        let [olds, news] = ['+', '-'].map(|other| hunk.iter().filter(|(sign, _)| *sign != other).count());
        let begin = |line: usize, count: usize| if count == 0 { line - 1 } else { line };
        let _ = writeln!(diff, "@@ -{},{olds} +{},{news} @@", begin(old, olds), begin(new, news));
        for (sign, line) in hunk {
            let _ = writeln!(diff, "{sign}{}", line.trim_end_matches(['\r', '\n']));
            if !line.ends_with('\n') {
                diff += "\\ No newline at end of file\n";
            }
        }
        old += olds;
        new += news;
        at = end;
    }
    diff
}

fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let start = before.iter().zip(after).take_while(same).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let unchanged = |lines: &[&'a str]| lines.iter().map(|line| (' ', *line)).collect::<Vec<_>>();
    let mut lines = unchanged(&before[..start]);
    lines.extend(between(old, new));
    lines.extend(unchanged(&before[before.len() - end..]));
    lines
}

/// Compares by the longest common subsequence.
fn between<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let is_long = old.len().saturating_mul(new.len()) > MAX_PAIRS;
    let mut common = vec![0_u32; if is_long { 0 } else { (old.len() + 1) * width }];
    if !is_long {
        for (row, line) in old.iter().enumerate().rev() {
            for (column, other) in new.iter().enumerate().rev() {
                let at = row * width + column;
                common[at] = match line == other {
                    true => common[at + width + 1] + 1,
                    false => common[at + width].max(common[at + 1]),
                };
            }
        }
    }
    let (mut lines, mut row, mut column) = (Vec::new(), 0, 0);
    while row < old.len() || column < new.len() {
        let at = row * width + column;
        let is_both = row < old.len() && column < new.len();
        if is_both && !is_long && old[row] == new[column] {
            lines.push((' ', old[row]));
            (row, column) = (row + 1, column + 1);
        } else if row < old.len() && (is_long || !is_both || common[at + width] >= common[at + 1]) {
            lines.push(('-', old[row]));
            row += 1;
        } else {
            lines.push(('+', new[column]));
            column += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_three_lines_around_them() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n18\n", "\n").trim_end().to_owned();
        let diff = unified("x", &before, &after);
        let expected = "--- x\n+++ x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n-20\n+20\n\\ No newline at end of file\n";
        assert_eq!(diff, expected);
        assert_eq!(unified("x", "a\n", "a\n"), "");
        assert_eq!(unified("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n");
    }
}
