//! The figures of one run, as a table and as JSON.

use super::occasions::{self, Occasion};
use super::predecessors::{self, Compared};
use super::program::{Origin, Program};
use super::statistics::Summary;
use super::table::{NONE, Table};
use super::transcripts::Scans;
use serde::Serialize;

/// All that one run found out.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) rounds: usize,
    pub(crate) machine: Machine,
    pub(crate) programs: Vec<Measured>,
    pub(crate) occasions: Vec<Occasion>,
    pub(crate) old_systems: Vec<Compared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transcripts: Option<Scans>,
}

/// Where the run took place.
#[derive(Serialize)]
pub(crate) struct Machine {
    os: &'static str,
    architecture: &'static str,
    cores: usize,
    /// Whether the plugin's programs and the first yardstick are static.
    static_musl: bool,
}

impl Machine {
    /// Describes this machine.
    pub(crate) fn this(static_musl: bool) -> Self {
        Self {
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            static_musl,
        }
    }
}

/// The figures of one program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) case: String,
    pub(crate) only_parses: bool,
    pub(crate) size_bytes: u64,
    pub(crate) microseconds: Summary,
    pub(crate) ratios: Ratios,
    pub(crate) peak_memory_kib: Option<u64>,
    pub(crate) instructions: Option<u64>,
    /// How many of the rounds ended with another exit code than 0.
    pub(crate) failures: usize,
}

/// A median in medians of the yardsticks of the same run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ratios {
    pub(crate) static_empty: f64,
    pub(crate) dynamic_empty: f64,
    pub(crate) system_true: Option<f64>,
}

impl Measured {
    /// Returns the program's name and case.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.case).trim_end().to_owned()
    }

    /// Puts the figures of one program together.
    pub(crate) fn new(
        program: &Program,
        size_bytes: u64,
        microseconds: Summary,
        ratios: Ratios,
        failures: usize,
    ) -> Self {
        Self {
            origin: program.origin,
            name: program.name.clone(),
            case: program.case.clone(),
            only_parses: program.only_parses,
            size_bytes,
            microseconds,
            ratios,
            peak_memory_kib: None,
            instructions: None,
            failures,
        }
    }
}

impl Report {
    /// Prints the tables for a person.
    pub(crate) fn print(&self) {
        let Machine { os, architecture, cores, .. } = self.machine;
        println!(
            "{} interleaved rounds on {os} {architecture}, {cores} cores; µs from spawn to exit\n",
            self.rounds
        );
        println!("{}", table(&self.programs));
        for measured in self.programs.iter().filter(|measured| measured.failures > 0) {
            println!("{} failed in {} of {} rounds\n", measured.label(), measured.failures, self.rounds);
        }
        println!("{}", occasions::table(&self.occasions));
        if let Some(scans) = &self.transcripts {
            println!("{scans}");
        }
        if !self.old_systems.is_empty() {
            println!("{}", predecessors::table(&self.old_systems));
            println!(
                "Old systems: measured earlier, not in this run; × static is their × /bin/true times ours."
            );
        }
    }
}

fn table(programs: &[Measured]) -> Table {
    let mut table = Table::new(
        2,
        [
            "program",
            "case",
            "KiB",
            "median",
            "p95",
            "p99",
            "× static",
            "× dynamic",
            "× true",
            "VmHWM KiB",
            "instructions",
        ],
    );
    for measured in programs {
        let Summary { median, p95, p99 } = measured.microseconds;
        let Ratios { static_empty, dynamic_empty, system_true } = measured.ratios;
        table.row(vec![
            measured.name.clone(),
            measured.case.clone(),
            measured.size_bytes.div_ceil(1024).to_string(),
            format!("{median:.0}"),
            format!("{p95:.0}"),
            format!("{p99:.0}"),
            format!("{static_empty:.2}"),
            format!("{dynamic_empty:.2}"),
            or_none(system_true.map(|ratio| format!("{ratio:.2}"))),
            or_none(measured.peak_memory_kib),
            or_none(measured.instructions.map(with_commas)),
        ]);
    }
    table
}

fn or_none(figure: Option<impl ToString>) -> String {
    figure.map_or_else(|| NONE.to_owned(), |figure| figure.to_string())
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(with_commas(7), "7");
        assert_eq!(with_commas(123_456), "123,456");
        assert_eq!(with_commas(1_000_012), "1,000,012");
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        let measured = Measured {
            origin: Origin::Plugin,
            name: "tool-record".to_owned(),
            case: "PostToolUse".to_owned(),
            only_parses: false,
            size_bytes: 1025,
            microseconds: Summary { median: 201.4, p95: 300.0, p99: 410.6 },
            ratios: Ratios { static_empty: 1.345, dynamic_empty: 0.2, system_true: None },
            peak_memory_kib: None,
            instructions: Some(16_211),
            failures: 0,
        };
        let table = table(&[measured]).to_string();
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(
            row,
            ["tool-record", "PostToolUse", "2", "201", "300", "411", "1.34", "0.20", "–", "–", "16,211"]
        );
    }
}
