//! What a session and a subagent are told at their start: the reporting protocol and the reminders, within a budget.

use crate::inject;
use crate::layers::{self, Layer};
use crate::lesson::Kind;
use crate::protocol::PROTOCOL;
use base::log::Level;
use hook::Host;
use std::path::Path;
use text::sanitize;

/// The most bytes that a start is told.
pub const MAX_BYTES: usize = 4_096;

/// Returns the text for a session: the protocol, then directives and protocols.
pub fn for_session(host: &Host, cwd: &Path) -> String {
    // An editor that saves in place leaves the folder as it was: once per session each file is looked at.
    for source in inject::sources(host, cwd) {
        if let Err(error) = source.refresh() {
            host.log(Level::Warn, &format!("could not refresh {}: {error}", source.place.display()));
        }
    }
    let reminders = reminders(host, cwd, &[Kind::Directive, Kind::Protocol], MAX_BYTES - PROTOCOL.len());
    format!("{PROTOCOL}{reminders}")
}

/// Returns the text for a subagent: directives alone; empty when there are none.
pub fn for_subagent(host: &Host, cwd: &Path) -> String {
    reminders(host, cwd, &[Kind::Directive], MAX_BYTES).trim_start().to_owned()
}

/// A lesson that is said at a start, and how much it matters.
struct Reminder {
    priority: u8,
    slug: String,
    text: String,
}

fn reminders(host: &Host, cwd: &Path, kinds: &[Kind], most: usize) -> String {
    const HEADING: &str = "\n## Reasoning Reminders\n";
    let disabled = host.settings().get("lessons.disabled");
    let mut all = Vec::new();
    for (source, index) in inject::open(host, cwd) {
        let numbers = kinds.iter().filter_map(|kind| index.said_at_start(*kind).ok()).flatten();
        for entry in numbers.filter_map(|number| index.entry(number).ok()) {
            let is_off = layers::is_disabled(&disabled, source.layer, entry.slug);
            if is_off || !inject::is_in_scope(entry.scope, cwd) {
                continue;
            }
            let said = format!("- **{}** {}", entry.summary, entry.solution.replace('\n', " "));
            let text = if source.layer == Layer::Project {
                sanitize::fence("project lesson", &[("name", entry.slug)], &said)
            } else {
                said
            };
            all.push(Reminder { priority: entry.priority, slug: entry.slug.to_owned(), text });
        }
    }
    // The most load-bearing first; the name breaks ties, so that the text is the same every time.
    all.sort_by(|one, other| other.priority.cmp(&one.priority).then_with(|| one.slug.cmp(&other.slug)));
    let mut text = String::new();
    let mut left_out = 0;
    for reminder in &all {
        let rest = "\n- … more: wyren lessons list --kind directive\n".len();
        if HEADING.len() + text.len() + reminder.text.len() + 1 + rest > most {
            left_out += 1;
            continue;
        }
        text.push_str(&reminder.text);
        text.push('\n');
    }
    if text.is_empty() {
        return text;
    }
    if left_out > 0 {
        text.push_str("- … more: wyren lessons list --kind directive\n");
    }
    format!("{HEADING}{text}")
}
