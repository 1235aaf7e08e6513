//! Why something waits: the network, the server or the others.

use base::Timestamp;
use std::fmt;

/// Why a fetch or a publication did not happen now. What was to be published stays queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The repository has no remote, or several of which none is `origin`.
    NoRemote,
    /// Git cannot be used here; why.
    Unusable(String),
    /// HEAD is detached, so there is no branch to share.
    Detached,
    /// The branch is not on the remote; pushing it is the user's to do.
    NotOnRemote(String),
    /// The memory is to be on the branch that is checked out, and the user has not committed it yet.
    NotCommitted,
    /// The remote failed lately; it is left alone until then.
    BackingOff(Timestamp),
    /// Another process, of Wyren or of the Node version, syncs this repository.
    Busy,
    /// The remote's history was rewritten, and that is not accepted yet.
    Rewritten,
    /// The remote could not be reached; its words, or git's.
    Unreachable(String),
    /// The remote did not answer in time.
    TimedOut,
    /// The server refused; its words.
    Refused(String),
    /// Others kept pushing first until the time was up.
    Outrun,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRemote => write!(
                formatter,
                "there is no remote to share with (the branch's own, origin, or the only one)"
            ),
            Self::Unusable(words) => write!(formatter, "{words}"),
            Self::Detached => write!(formatter, "HEAD is detached: check out a branch to share its memory"),
            Self::NotOnRemote(branch) => {
                write!(formatter, "the branch {branch} is not on the remote: push it to share its memory")
            }
            Self::NotCommitted => {
                write!(formatter, ".wyren/memory.md is not committed yet: commit and push it to share it")
            }
            Self::BackingOff(until) => {
                write!(formatter, "the remote failed lately and is left alone until {until}")
            }
            Self::Busy => write!(formatter, "another sync of this repository is running"),
            Self::Rewritten => write!(formatter, "the shared memory was rewritten on the remote"),
            Self::Unreachable(words) => write!(formatter, "the remote could not be reached: {words}"),
            Self::TimedOut => write!(formatter, "the remote did not answer in time"),
            Self::Refused(words) => write!(formatter, "the remote refused: {words}"),
            Self::Outrun => write!(formatter, "others kept pushing first until the time was up"),
        }
    }
}
