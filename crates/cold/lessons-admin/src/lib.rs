//! Managing lessons: what `wyren lessons` and `wyren trust` do, without their output.
//!
//! Lessons are files, so all of this reads files and replaces them whole: [`catalogue`] reads what is there, [`intake`]
//! says what is wrong with a lesson, [`change`] writes, [`rehearsal`] and [`doctor`] ask what the hooks would do.
//! [`import`] and [`export`] speak to lessons-learned. None of it is linked into a hook.

pub mod backup;
pub mod catalogue;
pub mod change;
mod database;
pub mod doctor;
pub mod export;
pub mod import;
pub mod intake;
pub mod json;
mod old;
mod old_expression;
mod old_lesson;
pub mod rehearsal;
pub mod review;
pub mod similar;
pub mod slug;
pub mod trust;

use intake::Problem;
use std::io;
use std::path::{Path, PathBuf};

/// Why something about lessons could not be done. Nothing was changed then, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No lesson has this name.
    #[error("no lesson is called {name:?}{}", nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The lesson with the most similar name.
        nearest: Option<String>,
    },
    /// No pack has this name.
    #[error("no pack is called {name:?}; there are {packs}")]
    UnknownPack {
        /// The name that was asked for.
        name: String,
        /// The packs that there are.
        packs: String,
    },
    /// A lesson is not good enough.
    #[error("{}", lines(.0))]
    Refused(Vec<Problem>),
    /// The project's `.git` or `.wyren` does not count.
    #[error(transparent)]
    Place(#[from] base::project::Refusal),
    /// A lesson is not where it would have to be for this.
    #[error("{slug}: {reason}")]
    Unfit {
        /// The lesson.
        slug: String,
        /// Why not, and what to do instead.
        reason: String,
    },
    /// A file is not what it should be.
    #[error("could not read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] base::files::Error),
    /// Another program is changing lessons.
    #[error("another wyren process is changing lessons; try again when it has finished")]
    Busy,
    /// The setting `lessons.disabled` could not be changed.
    #[error(transparent)]
    Settings(#[from] config::Error),
}

/// A result of managing lessons.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::File(base::files::Error::at(path)(error))
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
