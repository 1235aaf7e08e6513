//! The context for the start of a session or a subagent: the reporting protocol and the reminders, within a budget.

use crate::index::Index;
use crate::inject;
use crate::layers::{self, Layer, Source};
use crate::lesson::Kind;
use crate::protocol::PROTOCOL;
use base::log::Level;
use hook::{Answer, Host, SessionStart};
use memmap2::Mmap;
use std::path::Path;
use text::sanitize;

/// The most bytes of the context for a start.
pub const MAX_BYTES: usize = 4_096;

/// What a reminder of a project says when the user trusts it.
const TRUSTED: &str = "by the user: follow it where it applies";

/// Answers the start of a session: the protocol, then directives and protocols. What the project changed since the user
/// trusted it is reported to the user.
pub fn for_session(host: &Host, cwd: &Path) -> Answer<SessionStart> {
    let sources = inject::sources(host, cwd);
    // An editor that saves in place leaves the folder as it was, so each file is looked at once per session.
    for source in &sources {
        if let Err(error) = source.refresh() {
            host.log(Level::Warn, &format!("could not refresh {}: {error}", source.place.display()));
        }
    }
    let indexes = inject::open_all(host, sources);
    let kinds = [Kind::Directive, Kind::Protocol];
    let reminders = reminders(host, cwd, &indexes, &kinds, MAX_BYTES - PROTOCOL.len());
    let disabled = host.settings().get("lessons.disabled");
    let notice = indexes.iter().find_map(|(source, index)| {
        let trust = source.trust()?;
        let entries = (0..).map_while(|number| index.entry(number).ok());
        let entries = entries.filter(|entry| !layers::is_disabled(&disabled, source.layer, entry.slug));
        let untrusted: Vec<_> = entries.filter_map(|entry| source.untrusted(&entry)).collect();
        trust.notice(&host.paths, &untrusted)
    });
    inject::telling(Answer::context(format!("{PROTOCOL}{reminders}")), notice)
}

/// Returns the text for a subagent: directives alone; empty when there are none.
pub fn for_subagent(host: &Host, cwd: &Path) -> String {
    let indexes = inject::open(host, cwd);
    reminders(host, cwd, &indexes, &[Kind::Directive], MAX_BYTES).trim_start().to_owned()
}

struct Reminder {
    priority: u8,
    slug: String,
    text: String,
}

fn reminders(
    host: &Host,
    cwd: &Path,
    indexes: &[(Source, Index<Mmap>)],
    kinds: &[Kind],
    most: usize,
) -> String {
    const HEADING: &str = "\n## Reasoning Reminders\n";
    let disabled = host.settings().get("lessons.disabled");
    let mut all = Vec::new();
    for (source, index) in indexes {
        let numbers = kinds.iter().filter_map(|kind| index.said_at_start(*kind).ok()).flatten();
        for entry in numbers.filter_map(|number| index.entry(number).ok()) {
            let is_off = layers::is_disabled(&disabled, source.layer, entry.slug);
            if is_off || !inject::is_in_scope(entry.scope, cwd) {
                continue;
            }
            let said = format!("- **{}** {}", entry.summary, entry.solution.replace('\n', " "));
            let text = if source.layer == Layer::Project {
                let trusted = source.untrusted(&entry).is_none().then_some(("trusted", TRUSTED));
                let attribution: Vec<_> = [("name", entry.slug)].into_iter().chain(trusted).collect();
                sanitize::fence("project lesson", &attribution, &said)
            } else {
                said
            };
            all.push(Reminder { priority: entry.priority, slug: entry.slug.to_owned(), text });
        }
    }
    // By priority; the name breaks ties, so that the text is the same every time.
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
