//! Who answers: one trait, and what goes in and comes out of it.

pub(crate) mod api;
pub(crate) mod cli;
pub(crate) mod http;
pub(crate) mod openai;
pub(crate) mod scripted;

use crate::money::{Money, Price};
use crate::schema::Schema;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest answer that is looked at, in bytes.
pub(crate) const MAX_ANSWER: usize = 512 * 1024;

/// The most that is read of what a provider sends: the answer, perhaps twice and escaped, and what is around it.
pub(crate) const MAX_RESPONSE: usize = 2 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Request {
    /// The purpose, as the ledger shows it: `distill`, `summarise`.
    pub job: String,
    /// The key of the project that it is asked for; empty for none.
    pub project: String,
    /// The system prompt. Written by us: secrets are removed, tags are not.
    pub system: String,
    /// What the model is given. Private tags and their content are taken out, those around context of ours as well, so
    /// data is better quoted in another way.
    pub prompt: String,
    /// What the answer has to look like.
    pub schema: Schema,
    /// The model; `None` for the one in the settings.
    pub model: Option<String>,
    /// The most tokens that the answer may have.
    pub max_output: u32,
}

/// How far a provider may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// When the answer has to be there; nothing that was started lives longer.
    pub deadline: Instant,
    /// What the question may cost.
    pub allowance: Money,
}

impl Limits {
    /// Returns how much time is left.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

#[derive(Clone, Debug)]
pub struct Reply {
    /// The answer, not yet validated.
    pub answer: Answer,
    pub usage: Usage,
    /// What it cost, when the provider says so.
    pub cost: Option<Money>,
}

/// An answer that may be anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The provider took it apart already.
    Value(Value),
    /// Text that should be JSON.
    Text(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, those from and into the cache not counted.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens put into the cache.
    pub cache_write: u64,
}

impl Usage {
    /// Reads what the Messages API and the client call `usage`.
    fn of_messages(usage: &Value) -> Self {
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        Self {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write: count("cache_creation_input_tokens"),
        }
    }
}

/// What a failed question cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bill {
    /// Nothing: it never reached a model.
    Nothing,
    /// Unknown: the reserved amount counts.
    Unknown,
    /// So much.
    Known {
        usage: Usage,
        /// What it cost, when the provider says so.
        cost: Option<Money>,
    },
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not there.
    #[error("could not find claude{}", place.as_ref().map(|path| format!(" at {}", path.display())).unwrap_or_default())]
    NoProgram {
        /// Where it should be, when the user said so.
        place: Option<PathBuf>,
    },
    /// The provider lacks a setting.
    #[error("{0}")]
    NotSetUp(&'static str),
    /// The request is more than the provider takes.
    #[error("the {0} is too long to be sent")]
    TooLong(&'static str),
    /// It could not be started.
    #[error("could not start {}: {cause}", program.display())]
    Start {
        /// The program, or the folder it was to work in.
        program: PathBuf,
        /// Part of the message, therefore not a `source`.
        cause: io::Error,
    },
    /// The server could not be reached.
    #[error("could not reach {address}: {reason}")]
    Unreachable { address: String, reason: String },
    /// There is something in the folder where the child should find nothing.
    #[error("{} is not empty", folder.display())]
    NotEmpty { folder: PathBuf },
    #[error("time limit exceeded")]
    TimedOut,
    /// It ended without an answer.
    #[error("it ended early: {0}")]
    Crashed(String),
    #[error("refused: {reason}")]
    Refused {
        reason: String,
        /// What it cost nevertheless.
        bill: Bill,
    },
    /// The provider itself asked again and got nothing that fits the schema.
    #[error("no answer matched the schema")]
    NeverFitted { bill: Bill },
    /// What came back is more than is read.
    #[error("the answer is too long")]
    Oversized,
    /// What came back is not of the provider's form.
    #[error("unreadable answer: {0}")]
    Unreadable(String),
}

impl Error {
    /// Returns what the failure cost.
    pub fn bill(&self) -> Bill {
        match self {
            Self::NoProgram { .. }
            | Self::NotSetUp(_)
            | Self::TooLong(_)
            | Self::Start { .. }
            | Self::NotEmpty { .. }
            | Self::Unreachable { .. } => Bill::Nothing,
            Self::TimedOut | Self::Crashed(_) | Self::Oversized | Self::Unreadable(_) => Bill::Unknown,
            Self::Refused { bill, .. } | Self::NeverFitted { bill } => *bill,
        }
    }

    /// Says whether an answer came that the model could do better.
    pub(crate) fn is_bad_answer(&self) -> bool {
        matches!(self, Self::Oversized | Self::Unreadable(_))
    }
}

/// Someone who answers questions.
pub trait Provider: Send {
    /// Returns the name that the ledger shows.
    fn name(&self) -> &'static str;

    /// Returns the model that is asked when the request names none.
    fn model(&self) -> &str;

    /// Returns what a model costs here.
    fn price(&self, model: &str) -> Price {
        Price::of(model)
    }

    /// Returns how often the conversation may be sent to the model for one question.
    fn turns(&self) -> u64 {
        1
    }

    /// Asks, and waits for the answer until the deadline.
    fn ask(&self, request: &Request, limits: Limits) -> Result<Reply, Error>;
}
