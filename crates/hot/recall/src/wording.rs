//! The texts that the model reads.

use crate::cache::{Cache, Line};
use std::ops::Deref;
use text::sanitize::{DATA_NOTE, Fence};

/// What the lines about a file begin with. The path is in the fence: a repository chose it.
const ABOUT_FILE: &str = "Wyren: what earlier sessions did in this file, newest first. The result of this Read is complete and \
     current; a line below may be out of date. `wyren show ID` prints an entry whole.";
/// What the lines at a prompt begin with.
const ABOUT_PROMPT: &str = "Wyren: what earlier sessions did about something that this prompt names; it may be out of date. \
     `wyren show ID` prints an entry whole.";

/// Returns the text about a file.
pub(crate) fn about_file(path: &str, lines: &[Line<'_>], most_chars: usize, fence: &Fence) -> String {
    let body = body(lines, most_chars);
    format!("{ABOUT_FILE} {DATA_NOTE}\n{}", fence.around("journal", &[("file", path)], &body))
}

/// Returns the text for a prompt.
pub(crate) fn about_prompt(lines: &[Line<'_>], most_chars: usize, fence: &Fence) -> String {
    format!("{ABOUT_PROMPT} {DATA_NOTE}\n{}", fence.around("journal", &[], &body(lines, most_chars)))
}

/// Returns as many lines as there is room for, the first in any case, and how many there are more.
fn body(lines: &[Line<'_>], most_chars: usize) -> String {
    let (mut body, mut chars, mut shown) = (String::new(), 0, 0);
    for line in lines {
        let line = format!("{} ({})\n", line.text, line.id);
        chars += line.chars().count();
        if shown > 0 && chars > most_chars {
            break;
        }
        body.push_str(&line);
        shown += 1;
    }
    match lines.len() - shown {
        0 => {}
        more => body.push_str(&format!("and {more} earlier\n")),
    }
    body
}

/// Returns the lines of entries.
pub(crate) fn lines<'c, B: Deref<Target = [u8]>>(cache: &'c Cache<B>, numbers: &[u32]) -> Vec<Line<'c>> {
    numbers.iter().filter_map(|number| cache.line(*number)).collect()
}
