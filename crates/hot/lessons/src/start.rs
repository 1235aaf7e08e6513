//! The context for the start of a session or a subagent: the reporting protocol and the reminders, within a budget.
//!
//! A repository's directives and protocols are shown only when the user trusts them, below a heading of its own.

use crate::index::Index;
use crate::inject;
use crate::layers::{self, Layer, Source};
use crate::lesson::Kind;
use crate::protocol::PROTOCOL;
use base::log::Level;
use base::trust::{self, Item};
use hook::{Answer, Event, Host, SessionStart};
use memmap2::Mmap;
use std::path::Path;
use text::sanitize::{DATA_NOTE, Fence, TRUSTED};

/// The most bytes of the context for a start.
pub const MAX_BYTES: usize = 4_096;

/// The longest name of a repository, in characters.
const MAX_NAME_CHARS: usize = 60;

/// The heading of the reminders that are ours and the user's.
const OWN: &str = "\n## Reasoning Reminders\n";

/// Ends the reminders when some did not fit.
const MORE: &str = "- … more: wyren lessons list --kind directive\n";

/// Answers the start of a session: the protocol, then directives and protocols. What the project changed since the user
/// trusted it is reported to the user, and so is, once, what waits for that.
pub fn for_session(host: &Host, call: &SessionStart) -> Answer<SessionStart> {
    let cwd = host.cwd(call);
    let sources = inject::sources(host, &cwd);
    // An editor that saves in place leaves the folder as it was, so each file is looked at once per session.
    for source in &sources {
        if let Err(error) = source.refresh() {
            host.log(Level::Warn, &format!("could not refresh {}: {error}", source.place.display()));
        }
    }
    let indexes = inject::open_all(host, sources);
    let kinds = [Kind::Directive, Kind::Protocol];
    let reminders = Reminders::read(host, &cwd, &indexes, &kinds);
    let text = reminders.text(host, call, MAX_BYTES - PROTOCOL.len());
    let disabled = host.settings().get("lessons.disabled");
    let notice = indexes.iter().find_map(|(source, index)| {
        let Some(trust) = source.trust() else {
            let root = place::project_root(&source.place);
            return (source.layer == Layer::Project)
                .then(|| trust::waiting(&host.paths, root, &reminders.waiting))
                .flatten();
        };
        let entries = (0..).map_while(|number| index.entry(number).ok());
        let entries = entries.filter(|entry| !layers::is_disabled(&disabled, source.layer, entry.slug));
        let untrusted: Vec<_> = entries.filter_map(|entry| source.untrusted(&entry)).collect();
        trust.notice(&host.paths, &untrusted)
    });
    Answer::context(format!("{PROTOCOL}{text}")).noticing(notice)
}

/// Returns the text for a subagent: directives alone; empty when there are none.
pub fn for_subagent(host: &Host, call: &impl Event) -> String {
    let cwd = host.cwd(call);
    let indexes = inject::open(host, &cwd);
    let reminders = Reminders::read(host, &cwd, &indexes, &[Kind::Directive]);
    reminders.text(host, call, MAX_BYTES).trim_start().to_owned()
}

/// The reminders for a start.
#[derive(Default)]
struct Reminders {
    /// By priority.
    shown: Vec<Reminder>,
    /// Those of the repository that are not shown before the user trusts them.
    waiting: Vec<Item>,
    /// What the repository is called.
    repository: String,
}

struct Reminder {
    priority: u8,
    slug: String,
    text: String,
    /// Whether it came with the repository. The user trusts it then.
    is_shared: bool,
}

impl Reminders {
    fn read(host: &Host, cwd: &Path, indexes: &[(Source, Index<Mmap>)], kinds: &[Kind]) -> Self {
        let disabled = host.settings().get("lessons.disabled");
        let packs_off = host.settings().get("lessons.packs_off");
        let mut all = Self::default();
        for (source, index) in indexes {
            let numbers = kinds.iter().filter_map(|kind| index.said_at_start(*kind).ok()).flatten();
            for entry in numbers.filter_map(|number| index.entry(number).ok()) {
                let is_off = layers::is_disabled(&disabled, source.layer, entry.slug)
                    || layers::is_pack_off(&packs_off, source.layer, entry.pack);
                if is_off || !inject::is_in_scope(entry.scope, cwd) {
                    continue;
                }
                if let Some(item) = source.untrusted(&entry) {
                    all.waiting.push(item);
                    continue;
                }
                let is_shared = source.layer == Layer::Project;
                if is_shared {
                    all.repository = name(place::project_root(&source.place));
                }
                let text = format!("- **{}** {}", entry.summary, entry.solution.replace('\n', " "));
                let (priority, slug) = (entry.priority, entry.slug.to_owned());
                all.shown.push(Reminder { priority, slug, text, is_shared });
            }
        }
        // The name breaks ties, so that the text is the same every time.
        all.shown
            .sort_by(|one, other| other.priority.cmp(&one.priority).then_with(|| one.slug.cmp(&other.slug)));
        all
    }

    /// Returns the reminders that fit into `most` bytes, by priority: ours first, then those of the repository.
    fn text(&self, host: &Host, call: &impl Event, most: usize) -> String {
        let has_shared = self.shown.iter().any(|reminder| reminder.is_shared);
        let fence = if has_shared { host.fence(call) } else { Fence::default() };
        let shared = format!("\n## Reminders of the repository {}\n{DATA_NOTE}\n", self.repository);
        let mut parts = [(OWN, String::new()), (shared.as_str(), String::new())];
        let mut room = most.saturating_sub(MORE.len());
        let mut has_more = false;
        for reminder in &self.shown {
            let (heading, part) = &mut parts[usize::from(reminder.is_shared)];
            let attribution = [("name", reminder.slug.as_str()), ("trusted", TRUSTED)];
            let text = if reminder.is_shared {
                fence.around("project lesson", &attribution, &reminder.text)
            } else {
                reminder.text.clone()
            };
            let heading = if part.is_empty() { heading } else { "" };
            let cost = heading.len() + text.len() + 1;
            if cost > room {
                has_more = true;
                continue;
            }
            room -= cost;
            part.extend([heading, &text, "\n"]);
        }
        let mut text = parts.map(|(_, part)| part).concat();
        if has_more && !text.is_empty() {
            text.push_str(MORE);
        }
        text
    }
}

/// Returns what a repository is called, in plain characters: it may have been unpacked under a name of others' choosing.
fn name(root: &Path) -> String {
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.chars().take(MAX_NAME_CHARS).map(|c| if is_plain(&c) { c } else { '-' });
    format!("`{}`", plain.collect::<String>())
}
