//! Whether the remote answers and takes what this clone would push, without sending anything.

use crate::repository::error::Error;
use crate::repository::git::Failure;
use crate::repository::publish::{Pushed, verdict_of};
use crate::repository::team::Team;
use place::Reason;
use std::time::Instant;

/// What a remote lets this clone do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It can be read, and takes a push.
    Writable,
    /// It can be read; whether it takes a push was not asked.
    Readable,
    /// It can be read, and takes no push, with git's words.
    ReadOnly(String),
    /// It cannot be read.
    Failed(Reason),
}

/// A name that no remote has: where the branch has the tip already, git does not ask whether it may push.
const NEW: &str = "refs/wyren/doctor";

impl Team {
    /// Asks the remote for the shared branch, and with `is_to_push` whether it would take a push of the tip that it has, which
    /// sends nothing and makes nothing there. A hook of the remote, or a rule for its branches, may still refuse what is pushed later.
    pub fn reach(&self, is_to_push: bool, deadline: Instant) -> Result<Reach, Error> {
        let (Some(remote), Some(branch)) = (&self.remote, &self.branch) else {
            return Ok(Reach::Failed(Reason::NoRemote));
        };
        let relay = self.relay()?;
        let reference = format!("refs/heads/{branch}");
        let read =
            relay.network(&["ls-remote", "--quiet", "--", &remote.name, &reference], Vec::new(), deadline);
        match read {
            Err(Failure::Start(error)) => return Err(error),
            Err(Failure::TimedOut) => return Ok(Reach::Failed(Reason::TimedOut)),
            Ok(output) if !output.is_success() => {
                return Ok(Reach::Failed(Reason::Unreachable(relay.explained(output.words()))));
            }
            Ok(_) => {}
        }
        let tip = self.refs()?.tip.filter(|_| is_to_push);
        let Some(tip) = tip else { return Ok(Reach::Readable) };
        let refspec = format!("{tip}:{NEW}");
        let push = ["push", "--dry-run", "--porcelain", "--no-verify", "--", &remote.name, &refspec];
        match relay.network(&push, Vec::new(), deadline) {
            Err(Failure::Start(error)) => Err(error),
            Err(Failure::TimedOut) => Ok(Reach::Failed(Reason::TimedOut)),
            Ok(output) if output.is_success() => Ok(Reach::Writable),
            Ok(output) => Ok(match verdict_of(&output) {
                // Who is behind others was let in.
                Pushed::Landed | Pushed::Outrun => Reach::Writable,
                Pushed::Refused(words) | Pushed::Failed(Reason::Unreachable(words)) => {
                    Reach::ReadOnly(relay.explained(words))
                }
                Pushed::Failed(reason) => Reach::Failed(reason),
            }),
        }
    }
}
