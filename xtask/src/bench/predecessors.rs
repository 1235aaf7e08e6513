//! What the hooks of the old systems cost, as measured before Wyren was designed.
//!
//! Each was measured in a run of its own, so that its milliseconds cannot stand beside ours. `/bin/true` ran beside
//! them and runs beside us: it is the bridge.

use super::table::Table;
use serde::Serialize;

/// A hook of an old system.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Predecessor {
    system: &'static str,
    hook: &'static str,
    /// The median, from spawn to exit.
    milliseconds: f64,
    /// The median in `/bin/true`s of the same measurement.
    true_ratio: f64,
}

const LESSONS_LEARNED: &str = "lessons-learned";
const CLAUDE_MEM: &str = "claude-mem";
const WYREN_NODE: &str = "Wyren (Node)";

/// From `lessons-learned.md` section 10, `claude-mem.md` section 9.2 and `wyren.md` section 7 of the references.
const MEASURED: [Predecessor; 19] = [
    old(LESSONS_LEARNED, "PreToolUse, no match, 143 lessons", 48.3, 44.0),
    old(LESSONS_LEARNED, "PreToolUse, 3 matches, 143 lessons", 51.1, 46.0),
    old(LESSONS_LEARNED, "PreToolUse, no match, 10,000 lessons", 411.0, 373.0),
    old(LESSONS_LEARNED, "PostToolUse, not firing", 40.6, 37.0),
    old(LESSONS_LEARNED, "SessionStart, protocol", 49.5, 45.0),
    old(LESSONS_LEARNED, "SessionStart, reset", 39.5, 36.0),
    old(LESSONS_LEARNED, "SessionStart, scan, nothing to do", 38.9, 35.0),
    old(LESSONS_LEARNED, "SubagentStart", 51.9, 47.0),
    old(CLAUDE_MEM, "PreToolUse, Read", 495.0, 630.0),
    old(CLAUDE_MEM, "PostToolUse", 480.0, 611.0),
    old(CLAUDE_MEM, "UserPromptSubmit", 509.0, 648.0),
    old(CLAUDE_MEM, "SessionStart, context", 533.0, 679.0),
    old(CLAUDE_MEM, "Stop", 519.0, 660.0),
    old(WYREN_NODE, "SessionStart, no pull", 45.0, 54.0),
    old(WYREN_NODE, "SessionStart, pull", 68.6, 82.0),
    old(WYREN_NODE, "UserPromptSubmit, repo without memory", 44.4, 53.0),
    old(WYREN_NODE, "UserPromptSubmit, no change, pull", 83.4, 100.0),
    old(WYREN_NODE, "Stop, below the threshold", 39.1, 47.0),
    old(WYREN_NODE, "Stop, starts the distiller", 47.8, 57.0),
];

const fn old(system: &'static str, hook: &'static str, milliseconds: f64, true_ratio: f64) -> Predecessor {
    Predecessor { system, hook, milliseconds, true_ratio }
}

/// An old hook beside this run's yardsticks.
#[derive(Serialize)]
pub(crate) struct Compared {
    #[serde(flatten)]
    predecessor: Predecessor,
    /// What it would take here, in empty static programs.
    static_ratio: f64,
}

/// Sets the old systems beside a run in which `/bin/true` took `true_in_statics` empty static programs.
pub(crate) fn compare(true_in_statics: f64) -> Vec<Compared> {
    let compare = |predecessor: Predecessor| Compared {
        predecessor,
        static_ratio: predecessor.true_ratio * true_in_statics,
    };
    MEASURED.map(compare).into()
}

/// Lays out the old systems' figures.
pub(crate) fn table(compared: &[Compared]) -> Table {
    let mut table = Table::new(2, ["old system", "hook", "ms then", "× /bin/true", "× static"]);
    for Compared { predecessor, static_ratio } in compared {
        table.row(vec![
            predecessor.system.to_owned(),
            predecessor.hook.to_owned(),
            format!("{:.1}", predecessor.milliseconds),
            format!("{:.0}", predecessor.true_ratio),
            format!("{static_ratio:.0}"),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_hook_is_brought_here_by_its_multiple_of_true() {
        let compared = compare(5.0);
        assert_eq!(compared[0].predecessor.true_ratio, 44.0);
        assert_eq!(compared[0].static_ratio, 220.0);
    }
}
