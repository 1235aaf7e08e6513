//! What is asked, and what is found.

use crate::document::Kind;

/// What documents must be; an empty list, text or `None` lets everything pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Keys of projects. Documents of every project (an empty key) pass, too.
    pub projects: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Compared with [`crate::Document::class`].
    pub classes: Vec<String>,
    /// A path, its end after a `/`, or a folder of it.
    pub file: String,
    pub branch: String,
    /// A part of the name, in any case.
    pub author: String,
    /// The beginning of the session's id.
    pub session: String,
    /// In milliseconds since 1970; the first is included, the second is not.
    pub since: Option<u64>,
    pub until: Option<u64>,
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pub text: String,
    pub filter: Filter,
    /// The most that is found.
    pub limit: usize,
    /// How many of the best are left out, for paging.
    pub skip: usize,
    /// The clock, in milliseconds since 1970: what is new ranks a little higher.
    pub now: u64,
}

/// What was found, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// How many documents have at least one of the words and pass the filter; `None` where not all were looked at.
    pub total: Option<usize>,
    /// Words of the question as they were looked up, each with how many documents have it.
    pub terms: Vec<(String, usize)>,
}

/// One document that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hit {
    pub key: String,
    pub kind: Option<Kind>,
    pub project: String,
    pub at: u64,
    pub score: f64,
    /// What the score consists of: the parts add up to it.
    pub parts: Vec<(String, f64)>,
}
