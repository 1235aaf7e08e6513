//! The budgets: what `cargo xtask bench --check` and `--deps` hold Wyren to. All of them stand here, none elsewhere.

/// The most time of a hook that only parses its input and stays silent, in empty static programs.
pub(crate) const SILENT_HOOK_RATIO: f64 = 1.6;

/// The memory that a hook that only parses its input and stays silent must stay below.
pub(crate) const SILENT_HOOK_HWM_KIB: f64 = 2048.0;

/// A hot hook ([`tables::hooks::Weight::Hot`]) finishes before a dynamic `/bin/true` does.
pub(crate) const HOT_HOOK_TRUE_RATIO: f64 = 1.0;

/// The milliseconds that the median of every hook stays below, on a machine with two cores.
pub(crate) const HOOK_MEDIAN_MILLIS: f64 = 5.0;

/// What a program's median is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Yard {
    /// The empty static program.
    Static,
    /// The empty dynamic program.
    Dynamic,
    /// The system's `true`.
    True,
    /// Another run, by its label.
    Run(&'static str),
    /// The empty static program, by the difference in milliseconds.
    MillisOverStatic,
}

/// What single runs are held to: label, yardstick, the most of it.
pub(crate) const RUNS: &[(&str, Yard, f64)] = &[
    ("lesson-inject miss, 10000", Yard::Run("lesson-inject miss, 100"), 1.3),
    ("lesson-inject miss, 10000", Yard::Static, 2.5),
    ("lesson-inject 2 hits, 10000", Yard::Run("lesson-inject miss, 10000"), 2.0),
    ("lesson-inject 2 hits, recorded", Yard::Static, 3.2),
    ("lesson-inject 55 KB script", Yard::MillisOverStatic, 5.0),
    ("lesson-inject 1 MB Write", Yard::MillisOverStatic, 5.0),
    ("file-recall miss, 10000", Yard::True, 1.0),
    ("file-recall miss, 10000", Yard::Static, 2.5),
    ("file-recall miss, 10000", Yard::Run("file-recall no journal"), 1.3),
    ("file-recall hit, 10000", Yard::True, 2.0),
    ("tool-record 1 KB", Yard::Static, 2.5),
    ("tool-record 1 KB", Yard::Dynamic, 0.5),
    ("tool-record skipped", Yard::Static, SILENT_HOOK_RATIO),
    ("prompt-record prompt", Yard::Static, 2.5),
    ("prompt-record prompt", Yard::Dynamic, 0.5),
    ("prompt-sync nothing new", Yard::True, 2.0),
    // It looks whether the hook of another wiring answers the start, which costs a lock and a file.
    ("session-start-lessons resume", Yard::True, 1.0),
    ("session-start-memory no pull", Yard::True, 2.0),
    ("session-start-recall 100000", Yard::True, 4.0),
    ("session-start-recall 100000", Yard::Run("session-start-recall 1000"), 1.3),
    ("plan-archive shown", Yard::Static, 2.0),
    ("plan-archive accepted", Yard::Static, 2.0),
    ("task-record update", Yard::Static, 2.0),
    ("task-record TodoWrite", Yard::Static, 2.0),
    ("session-end nothing to do", Yard::True, 1.0),
    ("session-start-scan not due", Yard::True, 0.7),
    ("stop-distill counting", Yard::True, 0.8),
    ("stop-summary 1 KB", Yard::Static, 2.0),
    ("context-monitor 200 KB transcript", Yard::True, 0.8),
    ("context-monitor 200 MB transcript", Yard::True, 0.8),
    ("context-monitor 10 MB last line", Yard::True, 0.8),
    ("context-monitor 200 MB transcript", Yard::Run("context-monitor 200 KB transcript"), 1.2),
    ("context-monitor 10 MB last line", Yard::Run("context-monitor 200 KB transcript"), 1.2),
    ("wyren file-suggest, 100000", Yard::MillisOverStatic, 30.0),
    ("wyren-mcp initialize", Yard::True, 3.0),
    // Hooks start it: what is linked into it must not be felt. It was 3.3 with the MCP and HTTP servers in it.
    ("wyren --version", Yard::True, 4.0),
    ("wyren-statusline known project", Yard::True, 1.5),
    ("stop-summary 52 MB transcript", Yard::Run("stop-summary 200 KB transcript"), 1.2),
    ("wyren search, 100000", Yard::True, 6.0),
];

/// What the runs that are prepared one by one are held to: name, the most milliseconds, the most of `/bin/true`.
pub(crate) const OCCASIONS: &[(&str, Option<f64>, Option<f64>)] = &[
    ("session-start-memory, remote answers", Some(500.0), None),
    ("session-start-memory, remote hangs", Some(2_000.0), None),
    ("prompt-sync, remote hangs", None, Some(2.0)),
    ("prompt-sync, quick remote hangs", Some(150.0), None),
    ("prompt-sync, remote needs 700 ms", None, Some(2.0)),
    ("prompt-sync, remote is left alone", None, Some(2.0)),
    ("prompt-bind, 1000 contexts", None, Some(5.0)),
    ("precompact-handoff, 2 MB of 50 MB", Some(100.0), None),
    ("precompact-handoff, 50 MB", Some(300.0), None),
    ("stop-distill, worker started", None, Some(1.6)),
    ("stop-distill, fetch begun", None, Some(1.6)),
];

/// Runs that [`HOT_HOOK_TRUE_RATIO`] and [`HOOK_MEDIAN_MILLIS`] are not meant for: their input alone takes longer.
pub(crate) const LARGE_RUNS: [&str; 2] = ["lesson-inject 55 KB script", "lesson-inject 1 MB Write"];

/// The least speed of a prefiltered scan of transcripts, in `wc -l` on the same files.
pub(crate) const PREFILTER_RATIO: f64 = 0.4;

/// The least speed of a scan that parses every line into types, in `wc -l` on the same files.
pub(crate) const FULL_PARSE_RATIO: f64 = 0.15;

/// The least speed of an import of transcripts into a database, in `wc -l` on the same files.
pub(crate) const IMPORT_RATIO: f64 = 0.03;

/// The least speed of a scan for lessons, in `wc -l` on the same files.
pub(crate) const LEARN_RATIO: f64 = 0.25;

/// The memory that a scan of transcripts must stay below, whatever their size.
pub(crate) const TRANSCRIPT_MEMORY_MIB: f64 = 64.0;

/// What no hook may depend on unless it is heavy ([`tables::hooks::Weight::Heavy`]): each costs time at every start, or invites work that does.
pub(crate) const HEAVY_DEPENDENCIES: [&str; 13] = [
    "chrono",
    "clap",
    "git2",
    "jiff",
    "libgit2-sys",
    "libsqlite3-sys",
    "regex",
    "regex-automata",
    "rusqlite",
    "time",
    "tokio",
    "toml",
    "toml_edit",
];

/// Lines of the list of what Wyren must do better than claude-mem, as far as they are figures.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;
    use tables::hooks::HOOKS;

    /// Returns the budget of a run against a yardstick that `fits`. Checks that such a run is measured.
    fn budget(label: &str, fits: impl Fn(Yard) -> bool) -> Option<f64> {
        let (binary, name) = label.split_once(' ').unwrap();
        assert!(cases::of(binary).iter().any(|case| case.name == name), "{label} is not measured");
        RUNS.iter().find(|(run, yard, _)| *run == label && fits(*yard)).map(|(_, _, most)| *most)
    }

    #[test]
    fn line_24_a_skipped_tool_costs_what_a_hook_that_only_parses_may() {
        let most = budget("tool-record skipped", |yard| matches!(yard, Yard::Static));
        assert_eq!(most, Some(SILENT_HOOK_RATIO));
    }

    #[test]
    fn line_29_every_hook_is_measured_and_its_median_stays_below_5_ms() {
        const { assert!(HOOK_MEDIAN_MILLIS <= 5.0) };
        for hook in HOOKS {
            assert!(!cases::of(hook.name).is_empty(), "{} is not measured", hook.name);
        }
    }

    #[test]
    fn line_30_stop_takes_no_longer_with_a_transcript_of_52_mb() {
        let small = |yard| matches!(yard, Yard::Run("stop-summary 200 KB transcript"));
        assert!(budget("stop-summary 52 MB transcript", small).is_some_and(|most| most <= 1.2));
    }
}
