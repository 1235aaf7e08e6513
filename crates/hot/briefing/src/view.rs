//! The merged shared files: a look that reads no file, and the files themselves.
//!
//! A look costs one `stat` for the memory, one for each broadcast file and one for the folder of lessons, whose files we
//! and git replace and never change in place. A lesson edited in place is announced together with the next one that is
//! added or removed.

use base::trust::{Item, SKILL_BYTES, Trust};
use base::{digest, files, system};
use place::Folder;
use place::node::LONG_FILE_END;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use text::{privacy, redact};

use crate::lessons::Lesson;
use crate::snapshot::Stamps;

/// The most that is read of one broadcast file, as in the Node version.
const MAX_FILE_BYTES: usize = SKILL_BYTES;

/// How the paths of skills begin.
const SKILLS: &str = "skills/";

/// The room that is made for reading: most files need no more.
const BUFFER_BYTES: usize = 8 * 1024;

/// How many broadcast files are looked at; further ones, in the order of their paths, are as if they were not there.
const MAX_FILES: usize = 200;

/// How deep the folders of the broadcast are looked into.
const MAX_DEPTH: usize = 8;

/// How many lessons are looked at.
const MAX_LESSONS: usize = 2_000;

/// The longest line of the memory that is looked at, in bytes. An entry is shown in 1,200 characters at most, and looking
/// for secrets and tags in a line of megabytes would take all of a hook's time.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// How old a change must be for the next one to show in the time of the file: clocks of file systems are coarse.
const SETTLED_NANOS: u64 = 50_000_000;

/// What tells a file that was changed from one that was not, without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When it was changed, in nanoseconds since 1970.
    pub mtime_ns: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its number in the file system; 0 where there is none.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of a missing file.
    pub const ABSENT: Self = Self { mtime_ns: 0, size: 0, inode: 0 };

    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        Self { mtime_ns: nanos(modified), size: metadata.len(), inode: system::file_number(metadata) }
    }

    /// Returns the stamp when a change after `now` cannot fail to change it.
    fn settled(self, now: SystemTime) -> Option<Self> {
        (nanos(now).abs_diff(self.mtime_ns) >= SETTLED_NANOS).then_some(self)
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A look at the shared files.
#[derive(Debug)]
pub(crate) struct View {
    folder: Folder,
    /// What the files looked like.
    pub(crate) stamps: Stamps,
    memory_modified: Option<SystemTime>,
    broadcast: Vec<Listed>,
}

/// A broadcast file that was seen.
#[derive(Debug)]
struct Listed {
    path: String,
    file: PathBuf,
}

/// A broadcast file that was read.
#[derive(Debug)]
pub(crate) struct Broadcast {
    /// The path below `broadcast/`, with `/`.
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) digest: String,
    /// What the user has to trust before the model may follow it; `None` for what is no skill, and where nothing is
    /// trusted.
    pub(crate) skill: Option<Item>,
}

impl View {
    /// Looks at the shared files of `folder`.
    pub(crate) fn look(folder: &Folder) -> Self {
        let now = SystemTime::now();
        // A link would lead out of what the team shares.
        let memory = fs::symlink_metadata(folder.memory()).ok().filter(Metadata::is_file);
        let lessons = fs::symlink_metadata(folder.lessons()).ok().filter(Metadata::is_dir);
        let stamp = |metadata: &Option<Metadata>| match metadata {
            Some(metadata) => Stamp::of(metadata).settled(now),
            None => Some(Stamp::ABSENT),
        };
        let mut walk = Walk { now, found: Vec::new() };
        walk.folder(&folder.broadcast(), "", 0);
        let stamps = Stamps { memory: stamp(&memory), broadcast: walk.stamp(), lessons: stamp(&lessons) };
        let broadcast = walk.found.into_iter().map(|(listed, _)| listed).collect();
        let memory_modified = memory.and_then(|metadata| metadata.modified().ok());
        Self { folder: folder.clone(), stamps, memory_modified, broadcast }
    }

    /// Reads the memory as it may be told; `None` when there is no such file, or none that can be read.
    pub(crate) fn memory(&mut self) -> Option<String> {
        self.memory_modified?;
        let memory = read_memory(&self.folder);
        if memory.is_none() {
            // Nothing in its looks would tell when it can be read again.
            self.stamps.memory = None;
        }
        memory
    }

    /// Returns when the memory was changed, in milliseconds with their fraction, as in the Node version.
    pub(crate) fn memory_millis(&self) -> Option<f64> {
        let since = self.memory_modified?.duration_since(UNIX_EPOCH).ok()?;
        #[expect(clippy::cast_precision_loss, reason = "the Node version loses the same digits")]
        let seconds = since.as_secs() as f64;
        Some(seconds * 1_000.0 + f64::from(since.subsec_nanos()) / 1_000_000.0)
    }

    /// Returns whether the team broadcasts skills.
    pub(crate) fn has_skills(&self) -> bool {
        self.broadcast.iter().any(|listed| listed.path.starts_with(SKILLS))
    }

    /// Returns the paths of the team's skills, in their order.
    pub(crate) fn skills(&self) -> Vec<&str> {
        self.broadcast
            .iter()
            .map(|listed| listed.path.as_str())
            .filter(|path| path.starts_with(SKILLS))
            .collect()
    }

    /// Returns whether the team has a folder of lessons.
    pub(crate) fn has_lessons(&self) -> bool {
        self.stamps.lessons != Some(Stamp::ABSENT)
    }

    /// Reads the broadcast files, in the order of their paths. Skills get a digest only where something is trusted.
    pub(crate) fn broadcast(&self, trust: Option<&Trust>) -> Vec<Broadcast> {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let read = |listed: &Listed| {
            let body = read_start(&listed.file, &mut buffer)?;
            let digest = digest::short_hex(body.as_bytes());
            let skill = (trust.is_some() && listed.path.starts_with(SKILLS))
                .then(|| Item::skill(&listed.path, &buffer));
            Some(Broadcast { path: listed.path.clone(), body, digest, skill })
        };
        self.broadcast.iter().filter_map(read).collect()
    }

    /// Reads the lessons, in the order of their names.
    pub(crate) fn lessons(&self) -> Vec<Lesson> {
        if !self.has_lessons() {
            return Vec::new();
        }
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let files = files::files_in(&self.folder.lessons());
        files.iter().filter_map(|file| Lesson::read(file, &mut buffer)).take(MAX_LESSONS).collect()
    }
}

/// Reads the memory of a folder as it may be told; `None` when there is none that can be read.
pub(crate) fn read_memory(folder: &Folder) -> Option<String> {
    let bytes = files::read_capped(&folder.memory(), files::cap::SHARED).ok()?;
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Some(tellable_memory(text))
}

/// A walk through the folders of the broadcast.
struct Walk {
    now: SystemTime,
    found: Vec<(Listed, Option<Stamp>)>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, above: &str, depth: usize) {
        let is_folder = || fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
        // What is below was asked by its entry; only the top may be a link.
        if depth > MAX_DEPTH || depth == 0 && !is_folder() {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = format!("{above}{name}");
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.folder(&entry.path(), &format!("{path}/"), depth + 1);
            } else if kind.is_file() && is_broadcast(&name) && self.found.len() < MAX_FILES {
                let stamp = entry.metadata().ok().and_then(|metadata| Stamp::of(&metadata).settled(self.now));
                self.found.push((Listed { path, file: entry.path() }, stamp));
            }
        }
    }

    /// Returns one stamp for all files; `None` when one of them was changed just now.
    fn stamp(&self) -> Option<String> {
        let mut seed = String::new();
        for (listed, stamp) in &self.found {
            let Stamp { mtime_ns, size, inode } = (*stamp)?;
            seed.push_str(&format!("{}\0{mtime_ns} {size} {inode}\n", listed.path));
        }
        Some(digest::short_hex(seed.as_bytes()))
    }
}

/// Returns whether a file of that name says something: it is no placeholder, and not just being written.
fn is_broadcast(name: &str) -> bool {
    name != ".gitkeep" && !files::is_temporary(name)
}

/// Reads a broadcast file; one that is too long ends with a word about it.
fn read_start(file: &Path, buffer: &mut Vec<u8>) -> Option<String> {
    read_up_to(file, MAX_FILE_BYTES + 1, buffer)?;
    if buffer.len() <= MAX_FILE_BYTES {
        return Some(public(String::from_utf8_lossy(buffer).into_owned()));
    }
    // A byte that continues a character is no place to cut.
    let end = (0..=MAX_FILE_BYTES).rev().find(|&at| buffer[at] & 0b1100_0000 != 0b1000_0000)?;
    Some(public(String::from_utf8_lossy(&buffer[..end]).into_owned()) + LONG_FILE_END)
}

/// Returns a text without what its author keeps private, and without secrets. It is the whole text that is looked at: both
/// may begin in one entry and end in another.
pub(crate) fn tellable(text: String) -> String {
    secretless(public(text))
}

/// Returns a memory as [`tellable`] does, with lines of bounded length. A private part that is never closed ends with its
/// entry, as for the remote.
pub(crate) fn tellable_memory(text: String) -> String {
    let public = match privacy::strip_memory(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(public) => public,
    };
    secretless(cut_lines(public))
}

/// Returns a text with the end of every line cut off that is too long. What is private is gone by then: the end of such a
/// line may close it.
fn cut_lines(text: String) -> String {
    let is_long = |line: &str| line.len() > MAX_LINE_BYTES;
    if !text.split_inclusive('\n').any(is_long) {
        return text;
    }
    let cut = |line: &str| match line.strip_suffix('\n') {
        _ if !is_long(line) => line.to_owned(),
        Some(_) => format!("{}…\n", &line[..line.floor_char_boundary(MAX_LINE_BYTES)]),
        None => format!("{}…", &line[..line.floor_char_boundary(MAX_LINE_BYTES)]),
    };
    text.split_inclusive('\n').map(cut).collect()
}

fn secretless(text: String) -> String {
    match redact::redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    }
}

/// Returns a text without what its author keeps private: a session does not get it either. Secrets of a file that is shown
/// as a whole are redacted where it is shown.
fn public(text: String) -> String {
    match privacy::strip_private(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(public) => public,
    }
}

/// Puts the first `most` bytes of a file into `buffer`, in place of what was there.
pub(crate) fn read_up_to(file: &Path, most: usize, buffer: &mut Vec<u8>) -> Option<()> {
    files::read_start(file, most, buffer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn look(folder: &Path) -> View {
        let wyren = folder.to_owned();
        View::look(&Folder { view: wyren.clone(), wyren, place: None, mode: None })
    }

    #[test]
    fn a_change_of_a_moment_ago_is_not_relied_on() {
        let now = SystemTime::now();
        let at = |nanos_ago: u64| Stamp { mtime_ns: nanos(now) - nanos_ago, size: 1, inode: 1 };
        assert_eq!(at(SETTLED_NANOS / 2).settled(now), None);
        assert_eq!(at(SETTLED_NANOS * 2).settled(now), Some(at(SETTLED_NANOS * 2)));
    }

    #[test]
    fn a_long_file_is_cut_between_characters_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.md");
        fs::write(&file, format!("x{}", "é".repeat(MAX_FILE_BYTES))).unwrap();
        let body = read_start(&file, &mut Vec::new()).unwrap();
        assert!(body.starts_with("xéé") && body.ends_with(&format!("é{LONG_FILE_END}")));
        assert_eq!(body.len(), MAX_FILE_BYTES - 1 + LONG_FILE_END.len());
    }

    #[test]
    fn a_memory_that_went_away_after_the_look_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let memory = folder.path().join("memory.md");
        let file = File::create(&memory).unwrap();
        file.set_modified(SystemTime::now() - std::time::Duration::from_secs(1)).unwrap();
        let mut view = look(folder.path());
        assert!(view.stamps.memory.is_some());
        fs::remove_file(&memory).unwrap();
        assert_eq!((view.memory(), view.stamps.memory), (None, None));
    }

    #[test]
    fn what_is_private_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("broadcast")).unwrap();
        fs::write(folder.path().join("memory.md"), "- a <private>b\n- c</private> d\n").unwrap();
        fs::write(folder.path().join("broadcast/e.md"), "e <private>f</private>").unwrap();
        let mut view = look(folder.path());
        assert_eq!(view.memory().as_deref(), Some("- a  d\n"));
        assert_eq!(view.broadcast(None)[0].body, "e ");
    }

    #[test]
    fn a_private_part_that_is_never_closed_ends_with_its_entry() {
        let before = tellable_memory("## Decisions\n\n- a\n- b c\n- d\n".to_owned());
        let after = tellable_memory("## Decisions\n\n- a\n- b <private>c\n- d\n".to_owned());
        assert_eq!(after, "## Decisions\n\n- a\n- b \n- d\n");
        let delta = memory::diff(&memory::Memory::parse(&before), &memory::Memory::parse(&after));
        assert!(delta.sections.iter().all(|section| section.removed.is_empty()), "{delta:?}");
    }

    #[test]
    fn a_line_of_megabytes_is_cut_before_it_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("- {}<private>x</private>y", "<".repeat(900_000));
        fs::write(folder.path().join("memory.md"), format!("- a\n{long}\n- b\n{}", "é".repeat(20_000)))
            .unwrap();
        let told = look(folder.path()).memory().unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!((lines[0], lines[2], lines.len()), ("- a", "- b", 4));
        for line in [lines[1], lines[3]] {
            assert!(line.len() <= MAX_LINE_BYTES + 3 && line.ends_with('…'), "{}", line.len());
        }
        assert_eq!(look(folder.path()).memory(), Some(told), "the same every time");
    }

    #[test]
    fn a_key_that_goes_through_several_entries_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let key = "- -----BEGIN PRIVATE KEY-----\n- MIIEvQIBADANBgkq\n- -----END PRIVATE KEY-----\n";
        fs::write(folder.path().join("memory.md"), format!("- a\n{key}- b\n")).unwrap();
        let told = look(folder.path()).memory();
        assert_eq!(told.as_deref(), Some("- a\n- [redacted:private-key]\n- b\n"));
    }

    #[cfg(unix)]
    #[test]
    fn links_placeholders_and_temporary_files_are_not_broadcast() {
        let folder = tempfile::tempdir().unwrap();
        let broadcast = folder.path().join("broadcast");
        fs::create_dir_all(broadcast.join("skills/deep")).unwrap();
        for file in
            [".gitkeep", "b.md", ".b.md.4711.0.tmp", "skills/.gitkeep", "skills/d.md.tmp", "skills/deep/c.md"]
        {
            fs::write(broadcast.join(file), file).unwrap();
        }
        std::os::unix::fs::symlink("/etc", broadcast.join("skills/away")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", broadcast.join("a.md")).unwrap();
        let paths = |folder: &Path| -> Vec<String> {
            look(folder).broadcast(None).into_iter().map(|file| file.path).collect()
        };
        assert_eq!(paths(folder.path()), ["b.md", "skills/deep/c.md"]);
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&broadcast, other.path().join("broadcast")).unwrap();
        assert_eq!(paths(other.path()), Vec::<String>::new());
    }
}
