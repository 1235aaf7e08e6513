//! Why there is no answer.

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is called what was asked for; the text names what there is.
    #[error("{0}")]
    Unknown(String),
    /// More than one thing is meant, or none could be; the text says what to write.
    #[error("{0}")]
    Unclear(String),
    /// The rules of what is recorded forbid it.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Sources(#[from] search::sources::Error),
    #[error(transparent)]
    Index(#[from] search::index::Error),
    #[error(transparent)]
    Capture(#[from] capture::Error),
    #[error("could not read {0}: {1}")]
    File(String, std::io::Error),
}
