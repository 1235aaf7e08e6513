//! A session as far as it was recorded: calls, what lessons said about them, and where its windows end.

use hook::Platform;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// A session, its steps in the order in which they happened.
#[derive(Clone, Debug)]
pub struct Session {
    /// The agent.
    pub platform: Platform,
    /// The id that the agent gave it.
    pub id: String,
    /// The top of its project.
    pub root: PathBuf,
    /// What happened.
    pub steps: Vec<Step>,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Step {
    /// The id of its observation.
    pub id: String,
    /// In milliseconds since 1970.
    pub at: u64,
    /// The subagent that it happened in.
    pub agent: Option<String>,
    /// What it was.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum What {
    /// A call of a tool ended, or was refused.
    Call(Call),
    /// Hints were shown with a call.
    Hints {
        /// Their names; a repository's with `project:` before it.
        lessons: Vec<String>,
        /// The client's id of the call.
        call: Option<String>,
    },
    /// The main window began anew: `/clear` or a compaction.
    NewWindow,
    /// The session ended.
    End,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// The client's id of it.
    pub tool_use_id: Option<String>,
    /// The tool's name, as the agent calls it.
    pub tool: String,
    /// As recorded; `None` where it was let go.
    pub input: Option<Box<RawValue>>,
    /// The folder that it was made in.
    pub cwd: PathBuf,
    /// When it began, in milliseconds since 1970, as far as that is known.
    pub began: u64,
    /// How it ended.
    pub fate: Fate,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran.
    Succeeded,
    /// It ran and failed.
    Failed,
    /// The user interrupted it.
    Interrupted,
    /// It did not run.
    Refused {
        /// `guard`, `pause`, `loop`, `user`, …
        by: String,
        /// The lessons that refused it, named as in [`What::Hints`].
        lessons: Vec<String>,
    },
}

impl Fate {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Refused { .. } => "refused",
        }
    }
}

/// How a lesson spoke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Beside the call, which ran.
    Hint,
    /// It refused the call once.
    Pause,
    /// It refused the call.
    Guard,
}

/// A lesson that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Showing {
    /// Its name, as recorded.
    pub lesson: String,
    /// How it spoke up.
    pub how: How,
    /// The step of the session.
    pub step: usize,
}

impl Session {
    /// Puts the steps in their order, whichever they came in.
    pub fn sort(&mut self) {
        self.steps.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
    }

    /// Returns every showing of a lesson.
    pub fn showings(&self) -> Vec<Showing> {
        let mut showings = Vec::new();
        for (step, it) in self.steps.iter().enumerate() {
            let (how, lessons) = match &it.what {
                What::Hints { lessons, .. } => (How::Hint, lessons),
                What::Call(Call { fate: Fate::Refused { by, lessons }, .. }) if by == "pause" => {
                    (How::Pause, lessons)
                }
                What::Call(Call { fate: Fate::Refused { by, lessons }, .. }) if by == "guard" => {
                    (How::Guard, lessons)
                }
                _ => continue,
            };
            showings.extend(lessons.iter().map(|lesson| Showing { lesson: lesson.clone(), how, step }));
        }
        showings
    }
}
