//! Why a fetch or a publication waits: the network, the server or other processes.

use base::Timestamp;
use std::fmt;

/// Why a fetch or a publication did not happen now. Unpublished changes stay queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The repository has no remote, or several of which none is `origin`.
    NoRemote,
    /// Git cannot be used here, with the cause.
    Unusable(String),
    /// HEAD is detached, so there is no branch to share.
    Detached,
    /// The branch is not on the remote; only the user pushes it.
    NotOnRemote(String),
    /// The user has not said yet that this clone may publish.
    NotAllowed,
    /// In branch mode, the user has not committed the memory yet.
    NotCommitted,
    /// The remote has failed; the next attempt is at this time.
    BackingOff(Timestamp),
    /// Another process, of ours or of the Node version, is syncing.
    Busy,
    /// The remote's history was rewritten and needs a decision.
    Rewritten,
    /// Something here is left out on the remote, with its path and why.
    LeftOut(String),
    /// With the message of the remote or of git.
    Unreachable(String),
    TimedOut,
    /// With the server's message.
    Refused(String),
    /// Others kept pushing first until the deadline.
    Outrun,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRemote => {
                write!(formatter, "no remote to share with (the branch's own, origin, or the only one)")
            }
            Self::Unusable(words) => write!(formatter, "{words}"),
            Self::Detached => write!(formatter, "HEAD is detached: check out a branch to share its memory"),
            Self::NotOnRemote(branch) => {
                write!(formatter, "the branch {branch} is not on the remote: push it to share its memory")
            }
            Self::NotAllowed => {
                write!(
                    formatter,
                    "you have not allowed this clone to publish: run `wyren sync` here in a terminal"
                )
            }
            Self::NotCommitted => {
                write!(formatter, ".wyren/memory.md is not committed yet: commit and push it to share it")
            }
            Self::BackingOff(until) => {
                write!(formatter, "the remote failed recently; next try at {until}")
            }
            Self::Busy => write!(formatter, "another sync of this repository is running"),
            Self::Rewritten => write!(formatter, "the shared memory was rewritten on the remote"),
            Self::LeftOut(what) => write!(formatter, "the remote's version is left out, or would be: {what}"),
            Self::Unreachable(words) => write!(formatter, "the remote could not be reached: {words}"),
            Self::TimedOut => write!(formatter, "the remote did not answer in time"),
            Self::Refused(words) => write!(formatter, "the remote refused: {words}"),
            Self::Outrun => write!(formatter, "others kept pushing first until the time limit"),
        }
    }
}
