//! What works with which agent, and how that was shown: the table of `docs/guides/other-agents.md`.

use super::AGENTS;
use std::fmt::Write as _;

/// How something was shown to work, or why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// With the agent's own program and a scripted model: `cargo xtask agents`.
    Run,
    /// With input and answers from its documentation.
    Documented,
    /// In a weaker form, shown with its own program.
    Partly(&'static str),
    /// In a weaker form, shown with input and answers from its documentation.
    PartlyDocumented(&'static str),
    /// It does not work.
    Not(&'static str),
}

/// Something that Wyren does, with how it was shown for each agent in the order of [`AGENTS`].
#[derive(Debug)]
pub struct Capability {
    pub what: &'static str,
    pub shown: [Shown; AGENTS.len()],
}

use Shown::{Documented, Not, Partly, PartlyDocumented, Run};

const NO_EXIT_CODE: Shown = Not("a hook does not learn that a command failed");
const OTHER_TRANSCRIPT: Shown = Not("its transcripts have another form");
const NOT_YET: Shown = Not("not yet");

/// Everything that was looked at.
pub const CAPABILITIES: [Capability; 12] = [
    Capability { what: "the team's memory at the start of a session", shown: [Run, Run, Documented, Run] },
    Capability {
        what: "the team's news with a prompt",
        shown: [
            Documented,
            Documented,
            Not("a prompt takes no context; they come with a tool call"),
            Documented,
        ],
    },
    Capability { what: "a guard or pause refuses a tool call", shown: [Run, Run, Documented, Run] },
    Capability {
        what: "hints for a tool call",
        shown: [
            Run,
            Partly("with the result"),
            PartlyDocumented("with the result"),
            Partly("with the result"),
        ],
    },
    Capability { what: "prompts are recorded, private ones are not", shown: [Run, Run, Documented, Run] },
    Capability { what: "tool calls are recorded", shown: [Run, Run, Documented, Run] },
    Capability { what: "a loop of failures is paused", shown: [NO_EXIT_CODE, Run, Documented, Run] },
    Capability {
        what: "`/wyren:status` and the others, typed as a prompt",
        shown: [Run, Run, Documented, Not("a module cannot answer a prompt")],
    },
    Capability {
        what: "subagents get memory and directives",
        shown: [Documented, Not("no event"), Not("the event takes no context"), Documented],
    },
    Capability { what: "handoff", shown: [Run, Run, Documented, Run] },
    Capability {
        what: "sessions are distilled into the memory",
        shown: [OTHER_TRANSCRIPT, OTHER_TRANSCRIPT, OTHER_TRANSCRIPT, OTHER_TRANSCRIPT],
    },
    Capability { what: "MCP server", shown: [NOT_YET, NOT_YET, NOT_YET, NOT_YET] },
];

/// Returns the table as the guide has it.
pub fn guide_table() -> String {
    let titles = AGENTS.iter().map(|agent| agent.title).collect::<Vec<_>>().join(" | ");
    let mut table = format!("| | {titles} |\n|---|---|---|---|---|\n");
    for Capability { what, shown } in &CAPABILITIES {
        let cells = shown.iter().map(|shown| match shown {
            Run => "run".to_owned(),
            Documented => "documented".to_owned(),
            Partly(how) => format!("run, {how}"),
            PartlyDocumented(how) => format!("documented, {how}"),
            Not(why) => format!("no: {why}"),
        });
        let _ = writeln!(table, "| {what} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    table
}
