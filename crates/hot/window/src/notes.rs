//! What hooks and the status line leave for each other about a session: small files beside its claims.
//!
//! Each has one writer, so that none needs a lock. One that is missing or unreadable counts as absent.

use base::files;
use hook::event::Source;
use hook::{Claims, SessionStart};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What the client told the status line: size and model.
const SIZE: &str = "size";
/// What the client told at the session's start.
const START: &str = "start";
/// Present once more was in use than an ordinary window holds.
const LARGE: &str = "large";

/// One byte for each call of which the window's use is unknown.
const CALLS: &str = "calls";

/// The permission mode of the last hook that got one, and the prompt it belongs to.
const MODE: &str = "mode";

/// What `START` has for a session that was continued by a client that did not name its model.
const CONTINUED: &str = "-";

/// How much of a note is read, in bytes.
const CAP: usize = 512;

/// What the client told at a session's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing about the model.
    Unknown,
    /// Nothing, for a session that was continued: the client then takes the ordinary window of the model.
    Continued,
    /// The model's name.
    Model(String),
}

/// What the client told the status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// In tokens.
    pub size: u64,
    /// The model's name; empty where the client did not say.
    pub model: String,
}

/// The notes about one session.
#[derive(Debug)]
pub struct Notes {
    /// `None` without a session or a folder that can be trusted.
    folder: Option<PathBuf>,
}

impl Notes {
    /// Returns the notes beside a session's claims.
    pub fn beside(claims: &Claims) -> Self {
        Self { folder: claims.session_notes() }
    }

    /// Returns what the client told the status line.
    pub fn told(&self) -> Option<Told> {
        let text = self.read(SIZE)?;
        let (size, model) = text.split_once(' ')?;
        let size = size.parse().ok().filter(|size| *size > 0)?;
        Some(Told { size, model: model.to_owned() })
    }

    /// Notes what the client told the status line.
    pub fn tell(&self, told: &Told) -> io::Result<()> {
        self.write(SIZE, &format!("{} {}", told.size, told.model))
    }

    /// Returns what the client told at the session's start.
    pub fn start(&self) -> Start {
        match self.read(START) {
            None => Start::Unknown,
            Some(text) if text == CONTINUED => Start::Continued,
            Some(model) => Start::Model(model),
        }
    }

    /// Notes what the client tells at a session's start, in place of what was noted before.
    pub fn begin(&self, call: &SessionStart) -> io::Result<()> {
        let model = call.model.as_deref().filter(|model| !model.trim().is_empty());
        if call.source() != Source::Compact {
            // The client that goes on may have another window than the one before, and no status line.
            self.remove(SIZE)?;
            self.remove(LARGE)?;
            self.remove(CALLS)?;
        }
        match (call.source(), model) {
            (_, Some(model)) => self.write(START, model),
            (Source::Resume, None) => self.write(START, CONTINUED),
            (Source::Startup | Source::Clear, None) => self.remove(START),
            (Source::Compact, None) => Ok(()),
        }
    }

    /// Notes the permission mode under a prompt, for a status line: where there is none, nothing is noted.
    pub fn set_mode(&self, mode: Option<&str>, prompt: Option<&str>) -> io::Result<()> {
        let (Some(mode), Some(prompt)) = (mode, prompt) else { return Ok(()) };
        if !self.has(SIZE) {
            return Ok(());
        }
        self.write(MODE, &format!("{mode} {prompt}"))
    }

    /// Returns the permission mode under a prompt; `None` when the last one that is known is an earlier prompt's.
    pub fn mode(&self, prompt: &str) -> Option<String> {
        let text = self.read(MODE)?;
        let (mode, of) = text.split_once(' ')?;
        (of == prompt).then(|| mode.to_owned())
    }

    /// Counts a call of which the window's use is unknown; returns how many there were. 0 where nothing can be noted.
    pub fn count_call(&self) -> io::Result<u64> {
        let Some(file) = self.file(CALLS) else { return Ok(0) };
        let mut options = files::unlinked_options();
        options.append(true).create(true);
        let mut opened = open_in_folder(&options, &file)?;
        opened.write_all(b".")?;
        Ok(opened.metadata()?.len())
    }

    /// Says whether more was in use at some time than an ordinary window holds.
    pub fn was_large(&self) -> bool {
        self.has(LARGE)
    }

    /// Notes that more is in use than an ordinary window holds.
    pub fn set_large(&self) -> io::Result<()> {
        self.write(LARGE, "")
    }

    fn has(&self, name: &str) -> bool {
        self.file(name).is_some_and(|file| file.symlink_metadata().is_ok())
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(name))
    }

    fn read(&self, name: &str) -> Option<String> {
        let text = files::read_text_capped(&self.file(name)?, CAP).ok()?;
        text.strip_suffix('\n').map(str::to_owned)
    }

    /// Writes a note, unless it says that already; half of one has no end of line and counts as absent.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let Some(file) = self.file(name) else { return Ok(()) };
        let text = files::on_one_line(text);
        let text = &text[..text.floor_char_boundary(CAP - 1)];
        if self.read(name).as_deref() == Some(text) {
            return Ok(());
        }
        let mut options = files::unlinked_options();
        options.write(true).create(true).truncate(true);
        open_in_folder(&options, &file)?.write_all(format!("{text}\n").as_bytes())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match self.file(name).map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Opens a file; the first one makes their folder.
fn open_in_folder(options: &fs::OpenOptions, file: &Path) -> io::Result<fs::File> {
    match (options.open(file), file.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            files::create_private_folder(folder)?;
            options.open(file)
        }
        (opened, _) => opened,
    }
}
