//! What the detector is given: the same few things, whether they come from observations or from a transcript.

/// One thing that happened in a conversation, in its order. Nothing of a private prompt, and no call under one, is ever one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A person wrote something, at the start of a turn or during it.
    Prompt(String),
    /// The model said something.
    Reply(String),
    /// The model called a tool and got an answer, or was refused.
    Call(Call),
    /// Something was left out here: what comes next does not answer what came before.
    Gap,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// What a shell was to run; `None` for other tools.
    pub command: Option<String>,
    /// What another tool was given, as JSON; `None` where that is a long text.
    pub input: Option<String>,
    /// Its result.
    pub outcome: Outcome,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Succeeded,
    /// It ran and failed, with this text.
    Failed(String),
    /// The user, a rule or a lesson kept it from running, or it was interrupted: no failure.
    Refused,
}

/// Whose conversation it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The session's id.
    pub session: String,
    /// The folder that it works in.
    pub cwd: String,
}
