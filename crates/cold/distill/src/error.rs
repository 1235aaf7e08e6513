//! What ends a distillation early.

use std::io;
use std::path::PathBuf;

/// Why a distillation did not finish. The memory is unchanged, or the next distillation continues from the intent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another one of the same clone is running.
    #[error("another distillation of this repository is running")]
    Busy,
    /// The project was removed meanwhile: nothing is left to do.
    #[error("the project is gone: there is no {} any more", .0.display())]
    Gone(PathBuf),
    /// There is no transcript.
    #[error("there is no transcript at {}", .0.display())]
    NoTranscript(PathBuf),
    /// The transcript could not be read.
    #[error("could not read the transcript")]
    Transcript(#[from] transcript::Error),
    /// The watermark, the marks or an intent could not be read or written.
    #[error("could not keep the state of the distillation")]
    State(#[from] io::Error),
    /// A summary could not be kept.
    #[error("could not keep the summary")]
    Summary(#[from] capture::Error),
    /// The memory could not be changed.
    #[error(transparent)]
    Share(#[from] team_sync::Error),
}
