//! What is new to a session: the changes of the memory, then those of the broadcast and the lessons, on one page.
//!
//! Changes that do not fit wait for the next page: the snapshot holds what the session has seen, not what is on disk.

use base::trust::{Item, Trust};
use memory::{BroadcastFile, Frame, LIVE_UPDATE_BYTES, Memory, diff, live_update_opening, without_comments};
use std::collections::BTreeMap;
use text::{redact, sanitize};

use crate::lessons::Lesson;
use crate::snapshot::Snapshot;
use crate::view::{Broadcast, View};

/// Separates two parts of the page.
const GAP: &str = "\n\n";

/// The room that is kept for the line about what waits.
const FOOTER_BYTES: usize = 96;

/// The least room in which the beginning of a file is worth showing; with less it waits for a page of its own.
const MIN_CUT_BYTES: usize = 1_500;

/// The longest line about a lesson or a file, in characters.
const MAX_LINE_CHARS: usize = 300;

/// The end of a file of which the update shows the beginning.
const CUT_IN_UPDATE: &str = "\n[wyren: truncated; the whole file is in .wyren/, below broadcast/]";

/// The longest text beside a tool's result, in bytes: the model is in the middle of something.
const DURING_BYTES: usize = 2_000;

/// How much one text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// With a prompt or at a start.
    Full,
    /// During a turn. A file is shown whole or waits for the next prompt, and so does a skill that the user has to be asked
    /// about.
    Short,
}

impl Length {
    const fn bytes(self) -> usize {
        match self {
            Self::Full => LIVE_UPDATE_BYTES,
            Self::Short => DURING_BYTES,
        }
    }
}

/// Whom the news is for.
pub(crate) struct Audience<'a> {
    /// The session, whose own entries are no news to it.
    pub(crate) session: Option<&'a str>,
    /// Shown before everything else.
    pub(crate) warning: &'a str,
    /// What the user trusts of the project; `None` for nothing.
    pub(crate) trust: Option<&'a Trust>,
    pub(crate) frame: Frame<'a>,
    pub(crate) length: Length,
}

/// The text to show, and what the session has then seen.
#[derive(Debug)]
pub(crate) struct News {
    /// What goes to the model; empty when there is nothing to say.
    pub(crate) text: String,
    /// What counts as told.
    pub(crate) told: Snapshot,
    /// The skills that the user does not trust as they are.
    pub(crate) untrusted: Vec<Item>,
}

/// Returns whether the user trusts a file as it is; a skill that is not trusted is added to `untrusted`.
pub(crate) fn is_trusted(file: &Broadcast, trust: Option<&Trust>, untrusted: &mut Vec<Item>) -> bool {
    let Some(skill) = &file.skill else { return false };
    let is_trusted = trust.is_some_and(|trust| trust.covers(&skill.digest));
    if !is_trusted {
        untrusted.push(skill.clone());
    }
    is_trusted
}

/// Returns a snapshot of all that is there.
pub(crate) fn everything(view: &View, memory: Option<&str>, broadcast: &[Broadcast]) -> Snapshot {
    Snapshot {
        stamps: view.stamps.clone(),
        broadcast: broadcast.iter().map(|file| (file.path.clone(), file.digest.clone())).collect(),
        lessons: view.lessons().into_iter().map(|lesson| (lesson.slug, lesson.digest)).collect(),
        rewrite: None,
        memory: memory.unwrap_or_default().to_owned(),
    }
}

/// Returns what changed since `known`.
pub(crate) fn since(known: Snapshot, view: &View, memory: Option<&str>, audience: &Audience<'_>) -> News {
    let before = known.stamps.clone();
    let mut told = Snapshot { stamps: view.stamps.clone(), ..known };
    let text = audience.warning.to_owned();
    let mut page = Page { text, is_titled: false, frame: audience.frame, length: audience.length };
    // A memory that is gone for a moment is no removal of all that it said.
    if let Some(memory) = memory.filter(|memory| *memory != told.memory) {
        let is_whole = tell_memory(&mut page, &mut told, memory, audience.session);
        told.stamps.memory = told.stamps.memory.filter(|_| is_whole);
    }
    let (mut waiting, mut untrusted) = (0, Vec::new());
    if before.broadcast.is_none() || before.broadcast != told.stamps.broadcast {
        let is_trusted = |file: &Broadcast| is_trusted(file, audience.trust, &mut untrusted);
        let left =
            tell_broadcast(&mut page, &mut told.broadcast, &view.broadcast(audience.trust), is_trusted);
        told.stamps.broadcast = told.stamps.broadcast.filter(|_| left == 0);
        waiting += left;
    }
    if before.lessons.is_none() || before.lessons != told.stamps.lessons {
        let left = tell_lessons(&mut page, &mut told.lessons, &view.lessons(), audience.trust);
        told.stamps.lessons = told.stamps.lessons.filter(|_| left == 0);
        waiting += left;
    }
    page.end(waiting);
    News { text: page.text, told, untrusted }
}

/// Tells what changed in the memory; returns whether all of it fitted.
fn tell_memory(page: &mut Page<'_>, told: &mut Snapshot, memory: &str, session: Option<&str>) -> bool {
    let new = Memory::parse(&without_comments(memory));
    let mut delta = diff(&Memory::parse(&without_comments(&told.memory)), &new);
    if let Some(session) = session {
        delta.forget_session(session);
    }
    let update = delta.render(page.left(), page.frame);
    page.append(&update.text);
    page.is_titled = !update.text.is_empty();
    told.memory = if update.rest.is_empty() { memory.to_owned() } else { update.rest.undo(&new).render() };
    update.rest.is_empty()
}

/// Tells which files came, changed or went; returns how many have to wait.
fn tell_broadcast(
    page: &mut Page<'_>,
    known: &mut BTreeMap<String, String>,
    files: &[Broadcast],
    mut is_trusted: impl FnMut(&Broadcast) -> bool,
) -> usize {
    let mut waiting = 0;
    for file in files {
        let word = match known.get(&file.path) {
            Some(digest) if *digest == file.digest => continue,
            Some(_) => "changed",
            // It says nothing yet.
            None if file.body.trim().is_empty() => continue,
            None => "new",
        };
        let is_trusted = is_trusted(file);
        let shown = BroadcastFile { path: &file.path, body: &file.body, is_trusted };
        let may_come = page.length == Length::Full || is_trusted || file.skill.is_none();
        if may_come && page.push_file(&shown, word) {
            known.insert(file.path.clone(), file.digest.clone());
        } else {
            waiting += 1;
        }
    }
    let is_gone = |path: &&String| !files.iter().any(|file| file.path == **path);
    let gone: Vec<String> = known.keys().filter(is_gone).cloned().collect();
    let lines: Vec<String> = gone.iter().map(|path| format!("withdrawn: {path}")).collect();
    let shown = page.push_lines("team broadcast", &lines);
    gone[..shown].iter().for_each(|path| drop(known.remove(path)));
    waiting + gone.len() - shown
}

/// Tells which lessons came, changed or went; returns how many have to wait.
fn tell_lessons(
    page: &mut Page<'_>,
    known: &mut BTreeMap<String, String>,
    lessons: &[Lesson],
    trust: Option<&Trust>,
) -> usize {
    let mut changes: Vec<(&str, Option<&Lesson>)> = Vec::new();
    let mut lines = Vec::new();
    for lesson in lessons {
        let is_new = match known.get(&lesson.slug) {
            Some(digest) if *digest == lesson.digest => continue,
            known => known.is_none(),
        };
        changes.push((&lesson.slug, Some(lesson)));
        lines.push(lesson.announcement(is_new, trust));
    }
    let gone: Vec<String> =
        known.keys().filter(|slug| !lessons.iter().any(|lesson| lesson.slug == **slug)).cloned().collect();
    for slug in &gone {
        changes.push((slug, None));
        lines.push(format!("withdrawn lesson: {slug}"));
    }
    let shown = page.push_lines("team lessons", &lines);
    for (slug, lesson) in &changes[..shown] {
        match lesson {
            Some(lesson) => drop(known.insert((*slug).to_owned(), lesson.digest.clone())),
            None => drop(known.remove(*slug)),
        }
    }
    changes.len() - shown
}

/// The text while it grows.
struct Page<'a> {
    text: String,
    is_titled: bool,
    frame: Frame<'a>,
    length: Length,
}

impl Page<'_> {
    /// Returns how many bytes are left.
    fn left(&self) -> usize {
        self.length.bytes().saturating_sub(self.text.len() + GAP.len())
    }

    /// Returns how many bytes a further part may have.
    fn room(&self) -> usize {
        let title = if self.is_titled { 0 } else { GAP.len() + live_update_opening().len() };
        self.left().saturating_sub(title + FOOTER_BYTES)
    }

    fn append(&mut self, part: &str) {
        if !self.text.is_empty() && !part.is_empty() {
            self.text.push_str(GAP);
        }
        self.text.push_str(part);
    }

    fn push(&mut self, part: &str) {
        if !self.is_titled {
            self.append(&live_update_opening());
            self.is_titled = true;
        }
        self.append(part);
    }

    /// Shows a file, or the beginning of one that no page can hold; returns whether it did.
    fn push_file(&mut self, file: &BroadcastFile<'_>, word: &str) -> bool {
        let fence = self.frame.fence;
        let frame = |body: &str| format!("## broadcast ({word})\n\n{}", file.fenced(body, fence));
        let body = redact::redact(file.body.trim());
        let body = sanitize::for_model(&body);
        let whole = frame(&body);
        if whole.len() <= self.room() {
            self.push(&whole);
            return true;
        }
        let empty_page = Self { text: String::new(), is_titled: false, ..*self };
        if self.length == Length::Short || whole.len() <= empty_page.room() || self.room() < MIN_CUT_BYTES {
            return false;
        }
        let room = self.room() - frame(CUT_IN_UPDATE).len();
        let start = &body[..body.floor_char_boundary(room)];
        let start = start.rsplit_once('\n').map_or(start, |(lines, _)| lines);
        self.push(&frame(&format!("{}{CUT_IN_UPDATE}", start.trim_end())));
        true
    }

    /// Shows the lines that fit, in order, between tags; returns how many.
    fn push_lines(&mut self, source: &str, lines: &[String]) -> usize {
        let frame = self.frame.fence.around(source, &[], "").len();
        let mut body = String::new();
        let mut shown = 0;
        for line in lines {
            let line = format!("- {}\n", sanitize::model_line(&redact::redact(line), MAX_LINE_CHARS));
            if frame + body.len() + line.len() > self.room() {
                break;
            }
            body.push_str(&line);
            shown += 1;
        }
        if shown > 0 {
            self.push(&self.frame.fence.around(source, &[], &body));
        }
        shown
    }

    /// Says how much waits.
    fn end(&mut self, waiting: usize) {
        let footer =
            format!("_{waiting} more changes of broadcast and lessons follow with the next prompt._");
        if waiting > 0 && !self.text.is_empty() && footer.len() <= self.left() {
            self.append(&footer);
        }
    }
}
