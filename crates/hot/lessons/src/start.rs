//! The context for the start of a session or a subagent: the reminders and the reporting protocol, within a budget.
//!
//! Reminders are the user's own directives and protocols, then, below a heading of its own, those of a repository that the
//! user trusts, then those that ship and are about this kind of project. Where no person reads along there is neither: what
//! a script prints is its result, and no lesson is to be in it.

use crate::index::Index;
use crate::inject;
use crate::layers::{self, Layer, Source};
use crate::lesson::Kind;
use crate::protocol::{OLD_PROTOCOL, PROTOCOL};
use crate::top_folder::TopFolder;
use crate::wording::Form;
use base::log::Level;
use base::trust;
use hook::{Answer, Event, Host, SessionStart};
use memmap2::Mmap;
use std::path::Path;
use text::sanitize::{DATA_NOTE, Fence, TRUSTED};

/// The most bytes of the context for a start, unless the setting `lessons.max_bytes` allows more.
pub const MAX_BYTES: usize = 4_096;

/// How long a start may become by reminders that ship, in UTF-16 units. The user's own may take more.
pub const MAX_SHIPPED_UNITS: usize = 900;

/// How many reminders a start has. More would be read like none.
pub const MAX_REMINDERS: usize = 5;

/// The most that reminders take of a subagent's start, in UTF-16 units: the team's memory has the rest.
pub const MAX_SUBAGENT_UNITS: usize = 1_000;

/// The longest name of a repository, in characters.
const MAX_NAME_CHARS: usize = 60;

/// How many bytes the line takes that ends the reminders when some did not fit.
const MORE_BYTES: usize = 80;

impl Form {
    fn protocol(self) -> &'static str {
        match self {
            Self::Wyren => PROTOCOL,
            Self::LessonsLearned => OLD_PROTOCOL,
        }
    }

    /// Returns the heading of the reminders that are ours and the user's.
    fn heading(self) -> &'static str {
        match self {
            Self::Wyren => "\n## Wyren reminders\n",
            Self::LessonsLearned => "\n## Reasoning Reminders\n",
        }
    }

    fn max_reminders(self) -> usize {
        match self {
            Self::Wyren => MAX_REMINDERS,
            Self::LessonsLearned => usize::MAX,
        }
    }
}

/// Answers the start of a session: directives and protocols, then how to report lessons. What of the project
/// waits for trust becomes a notice for the user.
pub fn for_session(host: &Host, call: &SessionStart) -> Answer<SessionStart> {
    let cwd = host.cwd(call);
    let sources = inject::sources(host, &cwd);
    // An editor that saves in place leaves the folder as it was, so each file is looked at once per session.
    for source in &sources {
        if let Err(error) = source.refresh() {
            host.log(Level::Warn, &format!("could not refresh {}: {error}", source.place.display()));
        }
    }
    if host.is_headless() {
        return Answer::silent();
    }
    let indexes = inject::open_all(host, sources, layers::compile);
    let kinds = [Kind::Directive, Kind::Protocol];
    let form = Form::of(host.settings());
    let mut reminders = Reminders::read(host, &cwd, &indexes, &kinds);
    // The model has acted by them before, and the summary of the conversation needs the room.
    if call.source() == hook::event::Source::Compact && form == Form::Wyren {
        reminders.shown.iter_mut().for_each(Reminder::shorten);
    }
    // Reports are read out of transcripts, whose form other agents do not share.
    let protocol = if host.agent().is_none() { form.protocol() } else { "" };
    let text = reminders.text(host, call, Room::after(protocol, host), form);
    for (source, index) in indexes.iter().filter(|(source, _)| source.layer == Layer::Project) {
        leave_trust_notice(host, source, index);
    }
    let text = match form {
        Form::Wyren if text.is_empty() => protocol.to_owned(),
        Form::Wyren if protocol.is_empty() => text.trim_start().to_owned(),
        Form::Wyren => format!("{}\n{protocol}", text.trim_start()),
        Form::LessonsLearned => format!("{protocol}{text}"),
    };
    Answer::context(text)
}

/// Leaves a notice about what of a project waits for trust, or has changed since. `session-start-memory` runs beside this hook
/// and shows it, or else `prompt-sync`.
fn leave_trust_notice(host: &Host, source: &Source, index: &Index<Mmap>) {
    let disabled = host.settings().get("lessons.disabled");
    let entries = (0..).map_while(|number| index.entry(number).ok());
    let entries = entries.filter(|entry| !layers::is_disabled(&disabled, source.layer, entry.slug));
    let untrusted: Vec<_> = entries.filter_map(|entry| source.untrusted(&entry)).collect();
    let root = place::project_root(&source.place);
    let notice = match source.trust() {
        Some(trust) => trust.notice(&host.paths, &untrusted),
        None => trust::waiting(&host.paths, root, &untrusted),
    };
    inject::leave(notice, source, host);
}

/// Returns the text for a subagent: the user's own directives and those of a repository that the user trusts; empty when there
/// are none.
pub fn for_subagent(host: &Host, call: &impl Event) -> String {
    let cwd = host.cwd(call);
    let mut indexes = inject::open(host, &cwd, layers::compile);
    indexes.retain(|(source, _)| source.layer != Layer::Shipped);
    let reminders = Reminders::read(host, &cwd, &indexes, &[Kind::Directive]);
    let room = Room { units: MAX_SUBAGENT_UNITS - MORE_BYTES, ..Room::after("", host) };
    reminders.text(host, call, room, Form::Wyren).trim().to_owned()
}

/// Returns the reminders of a start again, for a window that has moved on; empty when there are none.
pub fn again(host: &Host, call: &impl Event) -> String {
    let cwd = host.cwd(call);
    let indexes = inject::open(host, &cwd, layers::compile_beside);
    let reminders = Reminders::read(host, &cwd, &indexes, &[Kind::Directive, Kind::Protocol]);
    reminders.text(host, call, Room::after("", host), Form::of(host.settings())).trim().to_owned()
}

/// What is left of a start's budget.
struct Room {
    bytes: usize,
    /// Of UTF-16, which is what the client counts: it shows the beginning alone of a text that is longer.
    units: usize,
}

impl Room {
    fn after(text: &str, host: &Host) -> Self {
        let allowed = usize::try_from(host.settings().number("lessons.max_bytes")).unwrap_or(MAX_BYTES);
        let mut room = Self { bytes: allowed.max(MAX_BYTES), units: hook::MAX_TEXT_UNITS };
        room.take(text.len() + MORE_BYTES, units(text) + MORE_BYTES);
        room
    }

    /// Returns whether a text of as many UTF-16 units keeps the start as short as one with shipped reminders is.
    fn takes_shipped(&self, units: usize) -> bool {
        let taken = hook::MAX_TEXT_UNITS - MORE_BYTES - self.units;
        taken + units <= MAX_SHIPPED_UNITS
    }

    /// Takes a part of the room, if there is as much.
    fn take(&mut self, bytes: usize, units: usize) -> bool {
        let fits = bytes <= self.bytes && units <= self.units;
        if fits {
            self.bytes -= bytes;
            self.units -= units;
        }
        fits
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The reminders for a start.
#[derive(Default)]
struct Reminders {
    /// The user's, a trusted repository's and a manifest's before those that ship; each by priority.
    shown: Vec<Reminder>,
    /// What the repository is called.
    repository: String,
    /// The kinds, as `wyren lessons list` takes them.
    kinds: String,
}

struct Reminder {
    is_shipped: bool,
    /// Whether it is about no kind of project in particular.
    is_general: bool,
    priority: u8,
    slug: String,
    text: String,
    /// Whether it came with the repository. The user trusts it then.
    is_shared: bool,
}

impl Reminder {
    /// Leaves what it is about and the first sentence of what to do.
    fn shorten(&mut self) {
        let about = self.text.find("** ").map_or(0, |at| at + 3);
        let end = self.text[about..].find(". ").map(|at| about + at + 1);
        self.text.truncate(end.unwrap_or(self.text.len()));
    }
}

impl Reminders {
    fn read(host: &Host, cwd: &Path, indexes: &[(Source, Index<Mmap>)], kinds: &[Kind]) -> Self {
        let disabled = host.settings().get("lessons.disabled");
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let mut all = Self { kinds: names.join(","), ..Self::default() };
        let packs_off = host.settings().get("lessons.packs_off");
        let top = TopFolder::around(cwd);
        for (source, index) in indexes {
            let numbers = kinds.iter().filter_map(|kind| index.said_at_start(*kind).ok()).flatten();
            for entry in numbers.filter_map(|number| index.entry(number).ok()) {
                let is_off = layers::is_disabled(&disabled, source.layer, entry.slug)
                    || layers::is_pack_off(&packs_off, source.layer, entry.pack);
                if is_off || !inject::is_in_scope(entry.scope, cwd) || !top.fits(&entry.paths) {
                    continue;
                }
                if source.untrusted(&entry).is_some() {
                    continue;
                }
                let is_shared = source.layer == Layer::Project;
                if is_shared {
                    all.repository = name(place::project_root(&source.place));
                }
                let text = format!("- **{}** {}", entry.summary, entry.solution.replace('\n', " "));
                let (priority, slug) = (entry.priority, entry.slug.to_owned());
                let is_shipped = source.layer == Layer::Shipped;
                let is_general = entry.paths.is_empty();
                all.shown.push(Reminder { is_shipped, is_general, priority, slug, text, is_shared });
            }
        }
        // The name breaks ties, so that the text is the same every time.
        all.shown.sort_by(|one, other| {
            let rank = |reminder: &Reminder| (reminder.is_shipped, u8::MAX - reminder.priority);
            rank(one).cmp(&rank(other)).then_with(|| one.slug.cmp(&other.slug))
        });
        all
    }

    /// Returns the reminders that fit, in their order: ours and the user's first, then those of the repository. Ends with how
    /// many did not fit.
    fn text(&self, host: &Host, call: &impl Event, mut room: Room, form: Form) -> String {
        let has_shared = self.shown.iter().any(|reminder| reminder.is_shared);
        let fence = if has_shared { host.fence(call) } else { Fence::default() };
        let shared = format!("\n## Reminders of the repository {}\n{DATA_NOTE}\n", self.repository);
        let mut parts = [(form.heading(), String::new()), (shared.as_str(), String::new())];
        let (mut said, mut more) = (0, 0);
        for reminder in &self.shown {
            // Advice about everything is in the model already.
            let is_ours = reminder.is_shipped && form == Form::Wyren;
            if is_ours && reminder.is_general {
                continue;
            }
            let (heading, part) = &mut parts[usize::from(reminder.is_shared)];
            let attribution = [("name", reminder.slug.as_str()), ("trusted", TRUSTED)];
            let text = if reminder.is_shared {
                fence.around("project lesson", &attribution, &reminder.text)
            } else {
                reminder.text.clone()
            };
            let heading = if part.is_empty() { heading } else { "" };
            let length = units(heading) + units(&text) + 1;
            let fits = said < form.max_reminders()
                && (!is_ours || room.takes_shipped(length))
                && room.take(heading.len() + text.len() + 1, length);
            if fits {
                said += 1;
                part.extend([heading, &text, "\n"]);
            } else if !is_ours {
                more += 1;
            }
        }
        let mut text = parts.map(|(_, part)| part).concat();
        if more > 0 && !text.is_empty() {
            text.push_str(&format!("- … {more} more: wyren lessons list --kind {}\n", self.kinds));
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
