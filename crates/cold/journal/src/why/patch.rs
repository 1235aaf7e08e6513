//! What a recorded call did to a file, as pieces of the file's new text.

use super::diff;
use super::line::Key;
use serde_json::Value;

/// A call that changed the file.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// Its row in `observations`.
    pub row: i64,
    /// In milliseconds since 1970.
    pub at: u64,
    /// The session's row and the number of the prompt.
    pub turn: (i64, u64),
    /// The other file that it changed, of those that lines were moved from; `None` for the file itself.
    pub source: Option<usize>,
    /// What the file was called then, as the database has it.
    pub path: String,
    pub hunks: Vec<Hunk>,
}

/// Lines that are beside each other in the file after the edit, with those that were taken out between them.
pub type Hunk = Vec<Part>;

/// A line of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Kept(String),
    Added(String),
    Removed(String),
    /// Lines that were added and not recorded: the text was too long.
    Gap,
}

/// What is in the place of the middle of a text that was too long to be kept.
pub(crate) const CUT_BEGIN: &str = " …[cut: ";
const CUT_END: &str = "]… ";

/// Returns what a call did to the file that it calls `path`, or whose name ends so.
pub fn hunks(data: &Value, path: &str) -> Vec<Hunk> {
    let input = data.get("input").unwrap_or(&Value::Null);
    let patches = data.pointer("/output/structuredPatch").and_then(Value::as_array);
    if let Some(patches) = patches.filter(|patches| !patches.is_empty()) {
        return patches.iter().map(structured).collect();
    }
    if let Some(content) = text(input, &["content"]) {
        return vec![all(content, Part::Added)];
    }
    if let Some(source) = text(input, &["new_source"]) {
        return vec![all(source, Part::Added)];
    }
    if let Some(edits) = input.get("edits").and_then(Value::as_array) {
        return edits.iter().filter_map(replaced).collect();
    }
    if let Some(hunk) = replaced(input) {
        return vec![hunk];
    }
    let patch =
        ["command", "patch", "patchText", "input"].iter().find_map(|name| patch_text(input.get(*name)?));
    patch.map(|patch| of_patch(patch, path)).unwrap_or_default()
}

/// Returns the lines of some parts of a hunk that say where they are from, in order.
pub(super) fn telling(hunk: &[Part], is_wanted: impl Fn(&Part) -> bool) -> Vec<Key> {
    let keys = hunk.iter().filter(|part| is_wanted(part)).filter_map(|part| match part {
        Part::Kept(text) | Part::Added(text) | Part::Removed(text) => Some(Key::of(text)),
        Part::Gap => None,
    });
    keys.filter(|key| key.is_telling()).collect()
}

fn text<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(*name)?.as_str())
}

/// Reads a piece of `structuredPatch`: lines as in a diff.
fn structured(patch: &Value) -> Hunk {
    let lines = patch.get("lines").and_then(Value::as_array);
    lines.into_iter().flatten().filter_map(Value::as_str).filter_map(diff_line).flatten().collect()
}

fn diff_line(line: &str) -> Option<Vec<Part>> {
    let (sign, text) = line.split_at_checked(1).unwrap_or(("", line));
    Some(match sign {
        "+" => all(text, Part::Added),
        "-" => all(text, Part::Removed),
        " " | "" => all(text, Part::Kept),
        // `\ No newline at end of file`
        _ => return None,
    })
}

/// Returns what replaces one text by another; both have lines in common.
fn replaced(input: &Value) -> Option<Hunk> {
    let old = text(input, &["old_string", "oldString"]).unwrap_or_default();
    let new = text(input, &["new_string", "newString"])?;
    let is_cut = |text: &str| text.contains(CUT_BEGIN);
    if is_cut(old) || is_cut(new) {
        let removed = all(old, Part::Removed).into_iter().filter(|part| *part != Part::Gap);
        return Some(removed.chain(all(new, Part::Added)).collect());
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let exact = |lines: &[&str]| lines.iter().map(|line| Key::exact(line)).collect::<Vec<u64>>();
    let mut hunk = Hunk::new();
    let (mut one, mut other) = (0, 0);
    let shared = diff::common(&exact(&old), &exact(&new));
    for (to_one, to_other) in shared.into_iter().chain([(old.len(), new.len())]) {
        hunk.extend(old[one..to_one].iter().map(|line| Part::Removed((*line).to_owned())));
        hunk.extend(new[other..to_other].iter().map(|line| Part::Added((*line).to_owned())));
        hunk.extend(new.get(to_other).map(|line| Part::Kept((*line).to_owned())));
        (one, other) = (to_one + 1, to_other + 1);
    }
    Some(hunk)
}

/// Returns the lines of a text; what was cut out of it is a gap, with the halves of lines beside it.
fn all(text: &str, part: impl Fn(String) -> Part) -> Hunk {
    let lines = |text: &str| text.lines().map(|line| part(line.to_owned())).collect::<Hunk>();
    let Some((head, rest)) = text.split_once(CUT_BEGIN) else {
        return if text.is_empty() { vec![part(String::new())] } else { lines(text) };
    };
    let mut parts = lines(head);
    parts.pop();
    parts.push(Part::Gap);
    let tail = rest.split_once(CUT_END).map_or("", |(_, tail)| tail);
    parts.extend(lines(tail.split_once('\n').map_or("", |(_, tail)| tail)));
    parts
}

/// Returns the patch in a command: the text itself, or the last word.
pub(crate) fn patch_text(command: &Value) -> Option<&str> {
    let text = command.as_str().or_else(|| command.as_array()?.last()?.as_str())?;
    text.contains("*** Begin Patch").then_some(text)
}

const FILES: [&str; 2] = ["*** Update File: ", "*** Add File: "];

/// Returns the files that a patch in the form of Codex adds or changes.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let name =
        |line: &str| FILES.iter().find_map(|mark| line.strip_prefix(mark)).map(|name| name.trim().to_owned());
    patch.lines().filter_map(name).collect()
}

/// Reads what such a patch does to one file.
fn of_patch(patch: &str, path: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut is_ours = false;
    for line in patch.lines() {
        if line.starts_with("*** ") {
            let name = FILES.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim);
            is_ours = name.is_some_and(|name| is_same_file(name, path));
            hunks.push(Hunk::new());
        } else if line.starts_with("@@") {
            hunks.push(Hunk::new());
        } else if is_ours && let (Some(hunk), Some(parts)) = (hunks.last_mut(), diff_line(line)) {
            hunk.extend(parts);
        }
    }
    hunks.retain(|hunk| !hunk.is_empty());
    hunks
}

fn is_same_file(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() > other.len() { (one, other) } else { (other, one) };
    let front = long.strip_suffix(short.trim_start_matches("./"));
    front.is_some_and(|front| front.is_empty() || front.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Writes parts as a diff does.
    fn shown(hunks: &[Hunk]) -> String {
        let line = |part: &Part| match part {
            Part::Kept(text) => format!(" {text}\n"),
            Part::Added(text) => format!("+{text}\n"),
            Part::Removed(text) => format!("-{text}\n"),
            Part::Gap => "…\n".to_owned(),
        };
        let hunks: Vec<String> = hunks.iter().map(|hunk| hunk.iter().map(line).collect()).collect();
        hunks.join("@\n")
    }

    fn check(data: &Value, expected: &str) {
        assert_eq!(shown(&hunks(data, "src/a.rs")), expected, "{data}");
    }

    #[test]
    fn every_form_of_an_edit_is_read() {
        let lines = json!([" a", "-b", "+c", "+", "\\ No newline at end of file"]);
        check(
            &json!({"output": {"structuredPatch": [{"lines": lines}, {"lines": ["+z"]}]}}),
            " a\n-b\n+c\n+\n@\n+z\n",
        );
        check(&json!({"input": {"content": "a\n\nb\n"}, "output": {"structuredPatch": []}}), "+a\n+\n+b\n");
        let one = json!({"old_string": "a\nb\nc", "new_string": "a\nx\ny\nc"});
        check(&json!({"input": one}), " a\n-b\n+x\n+y\n c\n");
        let other = json!({"old_string": "d", "new_string": "d\ne"});
        check(&json!({"input": {"edits": [one, other]}}), " a\n-b\n+x\n+y\n c\n@\n d\n+e\n");
        check(&json!({"input": {"new_source": "import os"}}), "+import os\n");
        let patch = "*** Begin Patch\n*** Update File: b.rs\n+no\n*** Update File: src/a.rs\n@@ fn x\n a\n-b\n+c\n@@\n+d\n*** End Patch";
        check(&json!({"input": {"command": ["apply_patch", patch]}}), " a\n-b\n+c\n@\n+d\n");
        assert_eq!(patched_files(patch), ["b.rs", "src/a.rs"]);
        check(&json!({"input": {"command": "ls"}}), "");
        check(&json!(null), "");
    }

    #[test]
    fn what_was_cut_out_of_a_long_text_is_a_gap() {
        let content = "first\nsecond\nthi …[cut: 20000 bytes, xxh3 0123456789abcdef]… rd\nlast\n";
        check(&json!({"input": {"content": content}}), "+first\n+second\n…\n+last\n");
        let edit = json!({"old_string": "old", "new_string": content});
        check(&json!({"input": edit}), "-old\n+first\n+second\n…\n+last\n");
    }
}
