//! What the user reads in a session: short sentences, each once, on one line that begins with `Wyren:`.
//!
//! A notice is computed when it is due, or it waits in `cache/notices/` because the program that had it cannot speak: the
//! worker, a sync in the background, a hook at another event. One file per [`Key`] and memory, replaced by a newer notice of
//! the same key. `session-start-memory` and `prompt-sync` show what waits; they remove a file once their answer is written, so
//! that a notice is shown again when they are killed before, and never lost.
//!
//! `told/<name>` in the data folder remembers what the user has read and shall not read again.

use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use text::sanitize;

use crate::{Paths, Timestamp, digest, files};

/// The size at which the list of what was reported starts anew.
const MAX_REPORTED_BYTES: u64 = 64 * 1024;

/// The version of a waiting notice.
const VERSION: u64 = 1;

/// The longest sentence, in characters.
pub const MAX_CHARS: usize = 160;

/// The longest line, in characters. Only a memory that was found is put on a line that is full already.
pub const MAX_LINE_CHARS: usize = 300;

/// How long a notice waits.
const KEPT_MILLIS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// How many waiting notices are looked at.
const MAX_WAITING: usize = 256;

/// What a notice says where the session is named.
const SESSION: &str = "{session}";

/// The notice's part of a file name when it is about no project.
const EVERYTHING: &str = "all";

/// What a notice is about. The order is that of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// What is on, where data goes and how to turn it off: once, before a model is asked.
    First,
    /// A team memory was found on the remote.
    Found,
    /// The disk is full.
    Disk,
    /// Something of the project waits for trust.
    Trust,
    /// Skills of the team are shown and not followed.
    Skills,
    /// Changes wait for leave to publish.
    Kept,
    /// The remote fails.
    Remote,
    /// Background jobs were given up.
    Jobs,
    /// Entries left the memory.
    Left,
    /// A teammate's note for the next session.
    Handoff,
    /// A teammate's entries.
    Entries,
    /// Entries that a distillation added.
    Learned,
    /// A handoff that was saved before a compaction.
    Saved,
    /// The day's budget is used up.
    Budget,
    /// Lessons that do not help, at a session's start alone.
    Lessons,
}

impl Key {
    /// Every key, in the order of the line.
    pub const ALL: [Self; 15] = [
        Self::First,
        Self::Found,
        Self::Disk,
        Self::Trust,
        Self::Skills,
        Self::Kept,
        Self::Remote,
        Self::Jobs,
        Self::Left,
        Self::Handoff,
        Self::Entries,
        Self::Learned,
        Self::Saved,
        Self::Budget,
        Self::Lessons,
    ];

    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Found => "found",
            Self::Disk => "disk",
            Self::Trust => "trust",
            Self::Skills => "skills",
            Self::Kept => "kept",
            Self::Remote => "remote",
            Self::Jobs => "jobs",
            Self::Left => "left",
            Self::Handoff => "handoff",
            Self::Entries => "entries",
            Self::Learned => "learned",
            Self::Saved => "saved",
            Self::Budget => "budget",
            Self::Lessons => "lessons",
        }
    }

    /// Returns whether it needs the user, so that `ui.messages = important` shows it.
    pub const fn is_important(self) -> bool {
        !matches!(
            self,
            Self::Handoff | Self::Entries | Self::Learned | Self::Saved | Self::Budget | Self::Lessons
        )
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }
}

/// Where a notice is shown.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// In any session.
    Everything,
    /// In sessions with the memory in this `.wyren/` folder.
    Memory(&'a Path),
}

impl About<'_> {
    fn name(self, key: Key) -> String {
        match self {
            Self::Everything => format!("{EVERYTHING}-{}", key.name()),
            Self::Memory(wyren) => format!("{}-{}", of_memory(wyren), key.name()),
        }
    }
}

fn of_memory(wyren: &Path) -> String {
    digest::short_hex(files::canonical(wyren).as_os_str().as_encoded_bytes())
}

/// Something that the user reads once.
#[derive(Clone, Debug)]
pub struct Notice {
    pub key: Key,
    /// One short sentence, without a period at its end.
    pub text: String,
    /// How many things it counts, for the next notice of its key.
    count: u64,
    /// The session that it is about, as a digest; empty for several.
    session: Option<String>,
    /// A notice with the same word is not shown again.
    once: Option<String>,
    mark: Option<Mark>,
    waits: Option<Waits>,
}

/// What remembers that the user has read a notice.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Lines of the file, beside those of earlier notices.
    Lines(PathBuf, Vec<String>),
    /// The file's whole text.
    Text(PathBuf, String),
}

/// The file that a notice waits in.
#[derive(Clone, Debug)]
struct Waits {
    file: PathBuf,
    contents: Vec<u8>,
    told: PathBuf,
}

impl Notice {
    pub fn new(key: Key, text: impl Into<String>) -> Self {
        Self { key, text: text.into(), count: 1, session: None, once: None, mark: None, waits: None }
    }

    pub(crate) fn marked(key: Key, text: impl Into<String>, mark: Mark) -> Self {
        Self { mark: Some(mark), ..Self::new(key, text) }
    }

    /// Counts `count` things.
    #[must_use]
    pub fn counting(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Is not shown again once it was shown with the same word.
    #[must_use]
    pub fn once(self, word: impl Into<String>) -> Self {
        Self { once: Some(word.into()), ..self }
    }

    /// Remembers that the user has read it.
    pub fn remember(&self) -> io::Result<()> {
        match &self.mark {
            Some(Mark::Text(file, text)) => files::write_atomic(file, format!("{text}\n").as_bytes())?,
            Some(Mark::Lines(file, lines)) => {
                if fs::metadata(file).is_ok_and(|metadata| metadata.len() > MAX_REPORTED_BYTES) {
                    fs::remove_file(file)?;
                }
                let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
                files::open_append(file)?.write_all(lines.as_bytes())?;
            }
            None => {}
        }
        let Some(Waits { told, .. }) = &self.waits else { return Ok(()) };
        if self.key == Key::Disk {
            // Without room an empty file is all that can be made.
            files::open_append(told)?;
        } else if let Some(word) = &self.once {
            files::write_atomic(told, format!("{word}\n").as_bytes())?;
        }
        self.discard()
    }

    /// Removes the file that it waits in. Not remembered as read, it comes again if its cause does.
    fn discard(&self) -> io::Result<()> {
        let Some(Waits { file, contents, .. }) = &self.waits else { return Ok(()) };
        // What came in between was not read.
        if files::read_capped(file, files::cap::STATE).is_ok_and(|now| now == *contents) {
            files::remove_if_there(file)?;
            // The usual case, that nothing waits, is then one failed system call.
            let _ = file.parent().map(fs::remove_dir);
        }
        Ok(())
    }

    /// Has it wait for the next session or prompt, in the place of an earlier one of its key.
    pub fn leave(&self, paths: &Paths, about: About<'_>) -> io::Result<()> {
        if self.waits.is_some() {
            return Ok(());
        }
        let name = about.name(self.key);
        if let Some(word) = &self.once
            && files::read_text_capped(&paths.told().join(&name), files::cap::POINTER)
                .is_ok_and(|told| told.trim() == word)
        {
            return Ok(());
        }
        let mark = self.mark.as_ref().map(|mark| {
            let (Mark::Lines(file, _) | Mark::Text(file, _)) = mark;
            let file = file.strip_prefix(paths.cache()).unwrap_or(file).to_string_lossy();
            match mark {
                Mark::Lines(_, lines) => json!({"file": file, "lines": lines}),
                Mark::Text(_, text) => json!({"file": file, "text": text}),
            }
        });
        let facts = json!({
            "v": VERSION, "text": self.text, "count": self.count, "session": self.session, "once": self.once,
            "mark": mark,
        });
        let file = paths.notices().join(name);
        let write = || files::write_atomic(&file, format!("{facts}\n").as_bytes());
        // A hook removes the folder with the last notice in it.
        write().or_else(|error| if error.kind() == io::ErrorKind::NotFound { write() } else { Err(error) })
    }

    fn read(paths: &Paths, name: &str) -> Option<Self> {
        let (file, told) = (paths.notices().join(name), paths.told().join(name));
        let key = Key::of_name(name.split_once('-')?.1)?;
        let contents = files::read_capped(&file, files::cap::STATE).ok()?;
        let waits = Some(Waits { file, contents, told });
        if key == Key::Disk {
            return Some(Self { waits, ..disk_full() });
        }
        let facts: Value = serde_json::from_slice(&waits.as_ref()?.contents).ok()?;
        if facts["v"] != VERSION {
            return None;
        }
        let owned = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            key,
            text: owned(&facts["text"])?,
            count: facts["count"].as_u64().unwrap_or(1),
            session: owned(&facts["session"]),
            once: owned(&facts["once"]),
            mark: Mark::read(paths, &facts["mark"]),
            waits,
        })
    }
}

impl Mark {
    fn read(paths: &Paths, facts: &Value) -> Option<Self> {
        let file = Path::new(facts["file"].as_str()?);
        if !file.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let file = paths.cache().join(file);
        if let Some(text) = facts["text"].as_str() {
            return Some(Self::Text(file, text.to_owned()));
        }
        let lines = facts["lines"].as_array()?.iter().filter_map(Value::as_str);
        Some(Self::Lines(file, lines.map(str::to_owned).collect()))
    }
}

/// Returns the notices that wait for a session of `session` with the memory in `wyren`, and removes old ones. Costs one
/// failed system call when there are none.
pub fn waiting(paths: &Paths, wyren: Option<&Path>, session: Option<&str>, now: Timestamp) -> Vec<Notice> {
    let Ok(entries) = fs::read_dir(paths.notices()) else { return Vec::new() };
    let memory = wyren.map(of_memory);
    let mut notices = Vec::new();
    for entry in entries.flatten().take(MAX_WAITING) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
        if modified.is_some_and(|modified| now.millis_since(modified.into()) > KEPT_MILLIS) {
            let _ = files::remove_if_there(&entry.path());
            continue;
        }
        let about = name.split_once('-').map(|(about, _)| about);
        if about.is_none_or(|about| about != EVERYTHING && Some(about) != memory.as_deref()) {
            continue;
        }
        if let Some(mut notice) = Notice::read(paths, name) {
            if notice.text.contains(SESSION) {
                let digest = session.map(|session| digest::short_hex(session.as_bytes()));
                let words = match notice.session.as_deref() {
                    Some("") => "your last sessions",
                    one if one == digest.as_deref() => "this session",
                    _ => "an earlier session",
                };
                notice.text = notice.text.replace(SESSION, words);
            }
            notices.push(notice);
        }
    }
    notices
}

/// Returns how many things the waiting notice of a key counts; 0 when none waits.
pub fn count_waiting(paths: &Paths, about: About<'_>, key: Key) -> u64 {
    Notice::read(paths, &about.name(key)).map_or(0, |notice| notice.count)
}

/// Returns the word of the last notice of a key that the user has read; empty for none.
pub fn told(paths: &Paths, about: About<'_>, key: Key) -> String {
    let file = paths.told().join(about.name(key));
    files::read_text_capped(&file, files::cap::POINTER).unwrap_or_default().trim().to_owned()
}

/// Takes back a notice whose cause is gone, read or not: when the cause comes again, it is shown again.
pub fn withdraw(paths: &Paths, about: About<'_>, key: Key) {
    let name = about.name(key);
    for file in [paths.notices().join(&name), paths.told().join(&name)] {
        let _ = files::remove_if_there(&file);
    }
}

/// Leaves a notice that a distillation of `session` added `count` entries; `whereto` says where they are.
pub fn learned(paths: &Paths, wyren: &Path, session: &str, count: u64, whereto: &str) -> io::Result<()> {
    let about = About::Memory(wyren);
    let earlier = Notice::read(paths, &about.name(Key::Learned));
    let count = earlier.as_ref().map_or(0, |earlier| earlier.count).saturating_add(count);
    let entries = if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
    let text = format!("learned {entries} from {SESSION}, {whereto}");
    let mut session = Some(digest::short_hex(session.as_bytes()));
    if earlier.is_some_and(|earlier| earlier.session != session) {
        session = Some(String::new());
    }
    Notice { session, ..Notice::new(Key::Learned, text).counting(count) }.leave(paths, about)
}

/// What happened at a compaction of which the client shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compacted<'a> {
    /// The handoff of this name was saved, and the compaction goes on.
    Saved(&'a str),
    /// The handoff of this name was saved, and the compaction was stopped.
    Stopped(&'a str),
    /// It would have been stopped, and goes on because no handoff could be saved.
    Unsaved,
}

/// Leaves a notice of what happened before the window of `session` was compacted, in place of an earlier one.
pub fn compacted(paths: &Paths, session: &str, what: Compacted<'_>) -> io::Result<()> {
    let text = match what {
        Compacted::Saved(name) => {
            format!("saved a handoff of {SESSION} before its compaction: wyren handoff show {name}")
        }
        Compacted::Stopped(name) => {
            format!("stopped compacting {SESSION}: /clear, then /wyren:handoff-resume {name}")
        }
        Compacted::Unsaved => {
            format!("did not stop the compaction of {SESSION}: no handoff could be saved; run wyren doctor")
        }
    };
    let session = Some(digest::short_hex(session.as_bytes()));
    Notice { session, ..Notice::new(Key::Saved, text) }.leave(paths, About::Everything)
}

fn disk_full() -> Notice {
    Notice::new(Key::Disk, "the disk is full; nothing is recorded until there is room")
}

/// Leaves the notice that the disk is full, unless the user knows. Makes an empty file: there may be room for no more.
pub fn leave_disk_full(paths: &Paths) -> io::Result<()> {
    let name = About::Everything.name(Key::Disk);
    if fs::symlink_metadata(paths.told().join(&name)).is_ok() {
        return Ok(());
    }
    files::open_append(&paths.notices().join(name)).map(drop)
}

/// Returns whether the user has read what is on and that a model is asked.
pub fn is_introduced(paths: &Paths) -> bool {
    fs::symlink_metadata(introduction(paths)).is_ok()
}

/// Notes that the user knows what is on, without a session having said it.
pub fn introduce(paths: &Paths) -> io::Result<()> {
    files::write_atomic(&introduction(paths), format!("{VERSION}\n").as_bytes())
}

/// Returns the notice of the first session, with `text`.
pub fn first(paths: &Paths, text: String) -> Notice {
    Notice::marked(Key::First, text, Mark::Text(introduction(paths), VERSION.to_string()))
}

fn introduction(paths: &Paths) -> PathBuf {
    paths.told().join(About::Everything.name(Key::First))
}

/// One line for the user, and what is done once it is written.
#[derive(Debug, Default)]
pub struct Line {
    /// Empty when there is nothing to say.
    pub text: String,
    told: Vec<Notice>,
    rest: Vec<Notice>,
    unwanted: Vec<Notice>,
}

impl Line {
    /// Puts the notices on one line, the most important first, as far as there is room. `messages` is the setting
    /// `ui.messages`.
    pub fn of(mut notices: Vec<Notice>, messages: &str) -> Self {
        if messages == "off" {
            // The first line is owed as long as no one has read it.
            notices.retain(|notice| notice.key != Key::First);
            return Self { unwanted: notices, ..Self::default() };
        }
        notices.sort_by_key(|notice| notice.key);
        let mut line = Self::default();
        let mut sentences: Vec<String> = Vec::new();
        let mut length = PREFIX.len();
        for notice in notices {
            if messages == "important" && !notice.key.is_important() {
                // Not wanted now, and old by the time it may be.
                line.told.push(notice);
                continue;
            }
            let sentence = sentence(&notice);
            // Lessons and skills may say the same of one project's trust.
            if sentences.contains(&sentence) {
                line.told.push(notice);
                continue;
            }
            let chars = sentence.chars().count() + 3;
            let has_room = line.rest.is_empty() && length + chars + MORE_CHARS <= MAX_LINE_CHARS;
            // What the model reads from others is shown at once, in the first session as well.
            if sentences.is_empty() || has_room || notice.key == Key::Found {
                length += chars;
                sentences.push(sentence);
                line.told.push(notice);
            } else {
                line.rest.push(notice);
            }
        }
        if !sentences.is_empty() {
            let more = match line.rest.len() {
                0 => String::new(),
                count => format!(" ({count} more with your next prompt)"),
            };
            let text = sentences.join(" · ");
            let end = if text.ends_with(['?', '!', '…']) { "" } else { "." };
            line.text = format!("{PREFIX}{text}{end}{more}");
        }
        line
    }

    /// Remembers what was read, has the rest wait, and removes what is not wanted.
    pub fn remember(&self, paths: &Paths, about: About<'_>) -> io::Result<()> {
        let told = self.told.iter().map(Notice::remember);
        let rest = self.rest.iter().map(|notice| notice.leave(paths, about));
        let unwanted = self.unwanted.iter().map(Notice::discard);
        // One that fails must not keep the others from being remembered.
        let results: Vec<io::Result<()>> = told.chain(rest).chain(unwanted).collect();
        results.into_iter().collect()
    }
}

const PREFIX: &str = "Wyren: ";

/// The room that is kept for how many more there are.
const MORE_CHARS: usize = 32;

/// Returns the notice as it may be shown: on one line, without anything that commands a terminal.
fn sentence(notice: &Notice) -> String {
    let most = if notice.key == Key::First { MAX_LINE_CHARS - PREFIX.len() - MORE_CHARS } else { MAX_CHARS };
    sanitize::one_line(&notice.text, most).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;
    use std::time::{Duration, SystemTime};

    struct Desk {
        folder: tempfile::TempDir,
        paths: Paths,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
            Self { folder, paths }
        }

        fn wyren(&self, name: &str) -> PathBuf {
            self.folder.path().join(name).join(".wyren")
        }

        fn leave(&self, key: Key, text: &str) {
            Notice::new(key, text).leave(&self.paths, About::Everything).unwrap();
        }

        /// Shows a line as a hook does, and remembers it when the answer is written.
        fn speak(&self, wyren: Option<&Path>, is_written: bool) -> String {
            let line = Line::of(waiting(&self.paths, wyren, Some("s"), Timestamp::now()), "all");
            if is_written {
                let about = wyren.map_or(About::Everything, About::Memory);
                line.remember(&self.paths, about).unwrap();
            }
            line.text
        }
    }

    #[test]
    fn a_notice_waits_until_the_answer_is_written_and_is_then_gone_with_its_folder() {
        let desk = Desk::new();
        assert_eq!(desk.speak(None, true), "");
        desk.leave(Key::Jobs, "gave up 1 background job; see wyren jobs");
        for _ in 0..2 {
            assert_eq!(desk.speak(None, false), "Wyren: gave up 1 background job; see wyren jobs.");
        }
        assert_eq!(desk.speak(None, true), "Wyren: gave up 1 background job; see wyren jobs.");
        assert_eq!(desk.speak(None, true), "");
        assert!(!desk.paths.notices().exists());
    }

    #[test]
    fn a_newer_notice_of_a_key_takes_the_place_of_the_one_that_waits() {
        let desk = Desk::new();
        let app = desk.wyren("app");
        learned(&desk.paths, &app, "s", 2, "pushed to origin").unwrap();
        learned(&desk.paths, &app, "s", 1, "pushed to origin").unwrap();
        assert_eq!(desk.speak(Some(&desk.wyren("other")), true), "", "of another project");
        assert_eq!(desk.speak(None, true), "");
        let shown = desk.speak(Some(&app), true);
        assert_eq!(shown, "Wyren: learned 3 entries from this session, pushed to origin.");
        learned(&desk.paths, &app, "t", 1, "kept here").unwrap();
        assert_eq!(
            desk.speak(Some(&app), false),
            "Wyren: learned 1 entry from an earlier session, kept here."
        );
        learned(&desk.paths, &app, "s", 1, "kept here").unwrap();
        assert!(desk.speak(Some(&app), true).contains("2 entries from your last sessions"));
    }

    #[test]
    fn a_handoff_before_a_compaction_comes_with_the_next_prompt() {
        let desk = Desk::new();
        compacted(&desk.paths, "s", Compacted::Saved("2026-11-18-1412")).unwrap();
        let expected = "Wyren: saved a handoff of this session before its compaction: wyren handoff show 2026-11-18-1412.";
        assert_eq!(desk.speak(None, true), expected);
        assert_eq!(desk.speak(None, true), "");
        // The last one counts.
        let name = format!("261118-0905-{}/2026-11-18-1412-2", "x".repeat(52));
        compacted(&desk.paths, "s", Compacted::Unsaved).unwrap();
        compacted(&desk.paths, "s", Compacted::Stopped(&name)).unwrap();
        let expected =
            format!("Wyren: stopped compacting this session: /clear, then /wyren:handoff-resume {name}.");
        assert_eq!(desk.speak(None, true), expected);
    }

    #[test]
    fn a_question_ends_without_a_full_stop() {
        let desk = Desk::new();
        desk.leave(Key::Entries, "Bob noted: who owns the checkout?");
        assert_eq!(desk.speak(None, true), "Wyren: Bob noted: who owns the checkout?");
    }

    #[test]
    fn what_came_while_a_line_was_written_is_shown_next() {
        let desk = Desk::new();
        desk.leave(Key::Jobs, "one");
        let line = Line::of(waiting(&desk.paths, None, None, Timestamp::now()), "all");
        desk.leave(Key::Jobs, "two");
        line.remember(&desk.paths, About::Everything).unwrap();
        assert_eq!(desk.speak(None, true), "Wyren: two.");
    }

    #[test]
    fn a_line_has_the_most_important_first_and_the_rest_with_the_next_prompt() {
        let desk = Desk::new();
        for key in Key::ALL.into_iter().rev().filter(|key| *key != Key::Disk) {
            desk.leave(key, &format!("{} {}", key.name(), "word ".repeat(20)));
        }
        let mut shown = Vec::new();
        loop {
            let line = desk.speak(None, true);
            if line.is_empty() {
                break;
            }
            assert!(line.chars().count() <= MAX_LINE_CHARS && line.lines().count() == 1, "{line}");
            shown.extend(Key::ALL.into_iter().filter(|key| line.contains(&format!("{} word", key.name()))));
            let is_last = shown.len() == Key::ALL.len() - 1;
            assert_ne!(line.contains("more with your next prompt)"), is_last, "{line}");
        }
        let expected: Vec<Key> = Key::ALL.into_iter().filter(|key| *key != Key::Disk).collect();
        assert_eq!(shown, expected, "each once, in order");
    }

    #[test]
    fn a_computed_notice_that_does_not_fit_waits_with_its_mark() {
        let desk = Desk::new();
        let app = desk.wyren("app");
        let mark = desk.paths.cache().join("left/x");
        let long = |word: &str| format!("{word} ").repeat(30);
        let notices = vec![
            Notice::new(Key::Jobs, long("jobs")),
            Notice::new(Key::Remote, long("away")),
            Notice::marked(Key::Left, long("left"), Mark::Text(mark.clone(), "told".to_owned())),
        ];
        let line = Line::of(notices, "all");
        assert!(line.text.ends_with("(2 more with your next prompt)"), "{}", line.text);
        line.remember(&desk.paths, About::Memory(&app)).unwrap();
        assert!(!mark.exists());
        for _ in 0..2 {
            desk.speak(Some(&app), true);
        }
        assert_eq!(fs::read_to_string(mark).unwrap(), "told\n");
    }

    #[test]
    fn the_same_sentence_is_on_the_line_once_and_remembered_twice() {
        let desk = Desk::new();
        let marks = ["a", "b"].map(|name| desk.paths.cache().join(name));
        let notices =
            marks.clone().map(|file| Notice::marked(Key::Trust, "lapsed", Mark::Text(file, "x".into())));
        let line = Line::of(notices.into(), "all");
        assert_eq!(line.text, "Wyren: lapsed.");
        line.remember(&desk.paths, About::Everything).unwrap();
        assert!(marks.iter().all(|mark| mark.exists()));
    }

    #[test]
    fn important_shows_what_needs_the_user_and_drops_the_rest() {
        let desk = Desk::new();
        let look = || waiting(&desk.paths, None, None, Timestamp::now());
        desk.leave(Key::Entries, "Grace decided: cents");
        desk.leave(Key::Jobs, "jobs");
        let line = Line::of(look(), "important");
        assert_eq!(line.text, "Wyren: jobs.");
        line.remember(&desk.paths, About::Everything).unwrap();
        assert!(look().is_empty());
    }

    #[test]
    fn review_13_off_drops_what_waits_and_what_is_still_so_comes_again() {
        let desk = Desk::new();
        let mark = desk.paths.cache().join("x");
        let lapsed = || Notice::marked(Key::Trust, "lapsed", Mark::Text(mark.clone(), "told".into()));
        let look = || waiting(&desk.paths, None, None, Timestamp::now());
        for _ in 0..2 {
            desk.leave(Key::Entries, "Grace decided: cents");
            lapsed().leave(&desk.paths, About::Everything).unwrap();
            let first = first(&desk.paths, "what is on".to_owned());
            let line = Line::of(look().into_iter().chain([first]).collect(), "off");
            assert_eq!((line.text.as_str(), look().len()), ("", 2), "until the answer is written");
            line.remember(&desk.paths, About::Everything).unwrap();
            assert!(!desk.paths.notices().exists());
        }
        assert!(!is_introduced(&desk.paths), "the first line is still owed");
        assert!(!mark.exists(), "not read");
        lapsed().leave(&desk.paths, About::Everything).unwrap();
        assert_eq!(desk.speak(None, true), "Wyren: lapsed.");
    }

    #[test]
    fn review_8_a_memory_that_was_found_is_on_the_line_of_the_first_session() {
        let desk = Desk::new();
        let found = format!("found {}", "x".repeat(MAX_CHARS));
        desk.leave(Key::Found, &found);
        desk.leave(Key::Jobs, "jobs");
        let first = first(&desk.paths, format!("first {}", "y".repeat(MAX_LINE_CHARS)));
        let notices = waiting(&desk.paths, None, None, Timestamp::now());
        let line = Line::of(notices.into_iter().chain([first]).collect(), "all");
        assert!(line.text.starts_with("Wyren: first y") && line.text.contains(" · found x"), "{}", line.text);
        assert!(line.text.ends_with("(1 more with your next prompt)"), "{}", line.text);
    }

    #[test]
    fn text_of_others_stays_on_its_line_and_is_bounded() {
        let desk = Desk::new();
        desk.leave(Key::Entries, &format!("Grace\n\u{1b}[2Jdecided: {}", "x".repeat(400)));
        let line = desk.speak(None, true);
        assert!(!line.chars().any(char::is_control) && line.chars().count() < MAX_CHARS + 12, "{line}");
    }

    #[test]
    fn a_notice_with_the_same_word_is_shown_once_and_withdrawn_with_its_cause() {
        let desk = Desk::new();
        let leave = |day: &str| {
            Notice::new(Key::Budget, day).once(day).leave(&desk.paths, About::Everything).unwrap();
        };
        leave("2026-11-16");
        leave("2026-11-16");
        assert_eq!(desk.speak(None, true), "Wyren: 2026-11-16.");
        leave("2026-11-16");
        assert_eq!(desk.speak(None, true), "");
        leave("2026-11-17");
        withdraw(&desk.paths, About::Everything, Key::Budget);
        assert_eq!(desk.speak(None, true), "");
        leave("2026-11-16");
        assert_ne!(desk.speak(None, true), "");
    }

    #[test]
    fn a_full_disk_is_shown_once_until_there_was_room() {
        let desk = Desk::new();
        for _ in 0..2 {
            leave_disk_full(&desk.paths).unwrap();
        }
        assert!(desk.speak(None, true).starts_with("Wyren: the disk is full"));
        leave_disk_full(&desk.paths).unwrap();
        assert_eq!(desk.speak(None, true), "");
        withdraw(&desk.paths, About::Everything, Key::Disk);
        leave_disk_full(&desk.paths).unwrap();
        assert_ne!(desk.speak(None, true), "");
    }

    #[test]
    fn nonsense_is_passed_over_and_what_is_old_goes() {
        let desk = Desk::new();
        let folder = desk.paths.notices();
        fs::create_dir_all(folder.join("all-left")).unwrap();
        let evil = r#"{"v":1,"text":"t","mark":{"file":"../../x","text":"told"}}"#;
        for (name, text) in
            [("all-jobs", "{"), ("all-kept", "{\"v\":2,\"text\":\"x\"}"), ("all-what", evil), ("x", "")]
        {
            fs::write(folder.join(name), text).unwrap();
        }
        assert_eq!(desk.speak(None, true), "");
        fs::write(folder.join("all-trust"), evil).unwrap();
        assert_eq!(desk.speak(None, true), "Wyren: t.");
        assert!(!desk.folder.path().join("x").exists());
        let old = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
        fs::File::options().append(true).open(folder.join("all-what")).unwrap().set_modified(old).unwrap();
        assert_eq!(desk.speak(None, true), "");
        assert!(!folder.join("all-what").exists() && folder.join("all-jobs").exists());
    }
}
