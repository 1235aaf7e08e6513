//! Compares runs with the budgets.

use super::budgets::{self, Yard};
use super::occasions::Occasion;
use super::report::{Measured, Report};
use super::statistics::median;
use super::table::Table;
use anyhow::{Result, bail};
use serde::Serialize;
use tables::hooks::{self, Weight};

/// How often a run in which a budget was over is repeated: an odd number of runs in all has a median.
pub(crate) const REPEATS: usize = 2;

/// What a figure is held to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
}

impl Limit {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::Below(limit) => figure < limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }

    fn describe(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::Below(limit) => format!("< {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// A budget and the figure that is held to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// Whose budget it is.
    subject: String,
    /// What is counted.
    measure: &'static str,
    limit: Limit,
    figure: f64,
    /// How many runs the figure is the median of.
    runs: usize,
    ok: bool,
}

impl Judgement {
    fn new(subject: impl Into<String>, measure: &'static str, limit: Limit, figure: f64) -> Self {
        Self { subject: subject.into(), measure, limit, figure, runs: 1, ok: limit.holds(figure) }
    }
}

/// Holds one run to every budget that applies to it.
pub(crate) fn judge(report: &Report) -> Vec<Judgement> {
    let mut judgements: Vec<Judgement> = report.programs.iter().flat_map(judge_program).collect();
    judgements.extend(budgets::RUNS.iter().map(|budget| judge_run(report, *budget)));
    for (name, millis, ratio) in budgets::OCCASIONS {
        let occasion = report.occasions.iter().find(|occasion| occasion.name == *name);
        let figure = |of: fn(&Occasion) -> f64| occasion.map_or(f64::INFINITY, of);
        let limits = [
            millis.map(|most| ("ms", most, figure(|occasion| occasion.milliseconds))),
            ratio.map(|most| ("× /bin/true", most, figure(|occasion| occasion.system_true))),
        ];
        for (measure, most, figure) in limits.into_iter().flatten() {
            judgements.push(Judgement::new(*name, measure, Limit::AtMost(most), figure));
        }
    }
    if let Some(scans) = &report.transcripts {
        for (subject, scan, speed) in [
            ("prefiltered scan", &scans.prefilter, budgets::PREFILTER_RATIO),
            ("full scan", &scans.full, budgets::FULL_PARSE_RATIO),
            ("import of transcripts", &scans.import, budgets::IMPORT_RATIO),
            ("scan for lessons", &scans.learn, budgets::LEARN_RATIO),
        ] {
            judgements.push(Judgement::new(
                subject,
                "speed, × wc -l",
                Limit::AtLeast(speed),
                scan.speed_ratio,
            ));
            let memory = Limit::Below(budgets::TRANSCRIPT_MEMORY_MIB);
            let peak = scan.peak_memory_kib.map(|kib| kib as f64 / 1024.0);
            judgements.extend(peak.map(|mib| Judgement::new(subject, "VmHWM, MiB", memory, mib)));
        }
    }
    judgements
}

fn judge_program(measured: &Measured) -> Vec<Judgement> {
    let label = measured.label();
    let mut judgements = Vec::new();
    if measured.only_parses {
        let time = Limit::AtMost(budgets::SILENT_HOOK_RATIO);
        judgements.push(Judgement::new(&label, "× empty static", time, measured.ratios.static_empty));
        let memory = Limit::Below(budgets::SILENT_HOOK_HWM_KIB);
        let peak = measured.peak_memory_kib.map(|kib| kib as f64);
        judgements.extend(peak.map(|kib| Judgement::new(&label, "VmHWM, KiB", memory, kib)));
    }
    let hook = hooks::find(&measured.name);
    let is_hot = hook.is_some_and(|hook| hook.weight == Weight::Hot);
    let is_large = budgets::LARGE_RUNS.contains(&label.as_str());
    if hook.is_some() && !is_large {
        let time = Limit::Below(budgets::HOOK_MEDIAN_MILLIS);
        judgements.push(Judgement::new(&label, "ms", time, measured.microseconds.median / 1_000.0));
    }
    if is_hot && !is_large {
        let time = Limit::Below(budgets::HOT_HOOK_TRUE_RATIO);
        let ratio = measured.ratios.system_true;
        judgements.extend(ratio.map(|ratio| Judgement::new(&label, "× /bin/true", time, ratio)));
    }
    judgements
}

/// Holds a single run to its budget. A run that was not measured is over it: a budget must not vanish with a name.
fn judge_run(report: &Report, (label, yard, most): (&'static str, Yard, f64)) -> Judgement {
    let (measure, figure) = figure_of(report, label, yard).unwrap_or(("not measured", f64::INFINITY));
    Judgement::new(label, measure, Limit::AtMost(most), figure)
}

fn figure_of(report: &Report, label: &str, yard: Yard) -> Option<(&'static str, f64)> {
    let find = |label: &str| report.programs.iter().find(|measured| measured.label() == label);
    let measured = find(label)?;
    Some(match yard {
        Yard::Static => ("× empty static", measured.ratios.static_empty),
        Yard::Dynamic => ("× empty dynamic", measured.ratios.dynamic_empty),
        Yard::True => ("× /bin/true", measured.ratios.system_true?),
        Yard::Run(other) => (other, measured.microseconds.median / find(other)?.microseconds.median),
        Yard::MillisOverStatic => {
            let floor = measured.microseconds.median / measured.ratios.static_empty;
            ("ms over empty static", (measured.microseconds.median - floor) / 1_000.0)
        }
    })
}

/// Says whether any budget is over.
pub(crate) fn is_over(judgements: &[Judgement]) -> bool {
    judgements.iter().any(|judgement| !judgement.ok)
}

/// Judges several runs by the median of each figure.
///
/// A figure is a ratio of two medians of one run, so that a run on a busy machine counts like any other.
pub(crate) fn combine(runs: &[Vec<Judgement>]) -> Vec<Judgement> {
    let Some((first, _)) = runs.split_first() else { return Vec::new() };
    let combine = |(index, judgement): (usize, &Judgement)| {
        let figures: Vec<f64> = runs.iter().map(|run| run[index].figure).collect();
        let combined =
            Judgement::new(&judgement.subject, judgement.measure, judgement.limit, median(&figures));
        Judgement { runs: runs.len(), ..combined }
    };
    first.iter().enumerate().map(combine).collect()
}

/// Lays out the budgets.
pub(crate) fn table(judgements: &[Judgement]) -> Table {
    let mut table = Table::new(2, ["budget of", "measure", "limit", "figure", "runs", "verdict"]);
    for judgement in judgements {
        table.row(vec![
            judgement.subject.clone(),
            judgement.measure.to_owned(),
            judgement.limit.describe(),
            format_figure(judgement.figure),
            judgement.runs.to_string(),
            if judgement.ok { "ok" } else { "OVER" }.to_owned(),
        ]);
    }
    table
}

/// Formats a figure as exactly as it is worth reading.
fn format_figure(figure: f64) -> String {
    if figure < 100.0 { format!("{figure:.2}") } else { format!("{figure:.0}") }
}

/// Fails when a budget is over, or when there was nothing to hold to one.
pub(crate) fn verdict(judgements: &[Judgement]) -> Result<()> {
    if judgements.is_empty() {
        bail!("no program of the plugin has a budget: nothing was checked");
    }
    let over = judgements.iter().filter(|judgement| !judgement.ok).count();
    if over > 0 {
        bail!("{over} of {} budgets are over (xtask/src/bench/budgets.rs)", judgements.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::program::Origin;
    use super::super::report::{Machine, Ratios};
    use super::super::statistics::Summary;
    use super::super::transcripts::{Scan, Scans};
    use super::*;

    fn measured(name: &str, only_parses: bool, static_empty: f64, system_true: f64, kib: u64) -> Measured {
        Measured {
            origin: Origin::Plugin,
            name: name.to_owned(),
            case: String::new(),
            only_parses,
            size_bytes: 0,
            microseconds: Summary { median: 0.0, p95: 0.0, p99: 0.0 },
            ratios: Ratios { static_empty, dynamic_empty: 0.0, system_true: Some(system_true) },
            peak_memory_kib: Some(kib),
            instructions: None,
            failures: 0,
        }
    }

    fn verdicts(measured: Measured) -> Vec<(&'static str, bool)> {
        judge_program(&measured).iter().map(|judgement| (judgement.measure, judgement.ok)).collect()
    }

    fn judgement(figure: f64) -> Vec<Judgement> {
        vec![Judgement::new("hook", "× empty static", Limit::AtMost(1.6), figure)]
    }

    #[test]
    fn a_silent_hook_is_held_to_time_and_memory() {
        let time_and_memory = |time, memory| vec![("× empty static", time), ("VmHWM, KiB", memory)];
        assert_eq!(verdicts(measured("quiet", true, 1.6, 9.0, 2047)), time_and_memory(true, true));
        assert_eq!(verdicts(measured("quiet", true, 1.61, 0.1, 2048)), time_and_memory(false, false));
    }

    #[test]
    fn a_hot_hook_is_held_to_true() {
        assert_eq!(
            verdicts(measured("tool-record", false, 9.0, 0.99, 9999)),
            [("ms", true), ("× /bin/true", true)]
        );
        assert_eq!(
            verdicts(measured("tool-record", false, 1.0, 1.0, 0)),
            [("ms", true), ("× /bin/true", false)]
        );
    }

    #[test]
    fn other_programs_have_no_budget() {
        assert!(verdicts(measured("wyren", false, 99.0, 99.0, 99_999)).is_empty());
    }

    #[test]
    fn a_scan_is_held_to_speed_and_memory() {
        let scan = |speed_ratio, mib: u64| Scan {
            best_seconds: 1.0,
            median_seconds: 1.0,
            speed_ratio,
            peak_memory_kib: Some(mib * 1024),
        };
        let scans = Scans {
            bytes: 1,
            files: 1,
            wc: scan(1.0, 1),
            prefilter: scan(0.4, 63),
            full: scan(0.14, 64),
            import: scan(0.03, 63),
            learn: scan(0.25, 63),
        };
        let report = Report {
            rounds: 1,
            machine: Machine::this(true),
            programs: Vec::new(),
            occasions: Vec::new(),
            old_systems: Vec::new(),
            transcripts: Some(scans),
        };
        let judgements = judge(&report);
        let scans = judgements.iter().filter(|judgement| judgement.subject.ends_with("scan"));
        let ok: Vec<bool> = scans.map(|judgement| judgement.ok).collect();
        assert_eq!(ok, [true, true, false, false]);
    }

    #[test]
    fn one_bad_run_of_three_does_not_count() {
        assert!(is_over(&judgement(1.7)));
        assert!(!is_over(&combine(&[judgement(1.7), judgement(1.5), judgement(1.4)])));
        assert!(is_over(&combine(&[judgement(1.7), judgement(1.5), judgement(1.8)])));
    }

    #[test]
    fn the_table_says_what_is_over_and_by_how_many_runs() {
        let table = table(&combine(&[judgement(1.7), judgement(1.5), judgement(1.8)])).to_string();
        let expected = "budget of  measure         limit  figure  runs  verdict\n\
                        hook       × empty static  ≤ 1.6    1.70     3     OVER\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn a_check_that_checked_nothing_fails() {
        assert!(verdict(&[]).is_err());
        assert!(verdict(&judgement(1.0)).is_ok());
        assert!(verdict(&judgement(2.0)).unwrap_err().to_string().starts_with("1 of 1 budgets are over"));
    }
}
