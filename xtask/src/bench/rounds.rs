//! The clock: every program once per round, so that whatever else the machine does hits all of them alike.

use super::program::Program;
use anyhow::{Context as _, Result};
use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

/// Rounds that do not count: they bring the files into the page cache and create what a first run creates.
const WARM_UP: usize = 5;

/// The timings of one program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// From spawn to exit, in microseconds, one per round.
    pub(crate) microseconds: Vec<f64>,
    /// How many of the runs ended with another exit code than 0.
    pub(crate) failures: usize,
}

/// Runs every program once per round.
pub(crate) fn measure(programs: &[Program], rounds: usize) -> Result<Vec<Timings>> {
    let mut timings = vec![Timings::default(); programs.len()];
    let progress = Progress::of(rounds);
    for round in 0..WARM_UP + rounds {
        let counted = round.checked_sub(WARM_UP);
        counted.into_iter().for_each(|round| progress.show(round));
        for index in order(round, programs.len()) {
            let (microseconds, success) = once(&programs[index])?;
            if counted.is_some() {
                timings[index].microseconds.push(microseconds);
                timings[index].failures += usize::from(!success);
            }
        }
    }
    progress.clear();
    Ok(timings)
}

/// Runs a program; returns how long it took and whether it succeeded.
fn once(program: &Program) -> Result<(f64, bool)> {
    let mut command = program.command()?;
    let start = Instant::now();
    let status = command.spawn().and_then(|mut child| child.wait());
    let elapsed = start.elapsed();
    let status = status.with_context(|| format!("could not run {program}"))?;
    Ok((elapsed.as_secs_f64() * 1e6, status.success()))
}

/// Returns the order of a round: each starts with another program, and every second one runs backwards, so that no
/// program always follows the same one.
fn order(round: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| {
        let place = (round / 2 + step) % count;
        if round.is_multiple_of(2) { place } else { count - 1 - place }
    })
}

/// How far the rounds are, for a person who waits.
struct Progress {
    rounds: usize,
    visible: bool,
}

impl Progress {
    fn of(rounds: usize) -> Self {
        Self { rounds, visible: std::io::stderr().is_terminal() }
    }

    fn show(&self, round: usize) {
        if self.visible && round.is_multiple_of(10) {
            eprint!("\rround {round} of {}", self.rounds);
            let _ = std::io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.visible {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn orders(count: usize) -> Vec<Vec<usize>> {
        (0..2 * count).map(|round| order(round, count).collect()).collect()
    }

    #[test]
    fn every_round_runs_every_program_once() {
        for order in orders(5) {
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 5, "{order:?}");
        }
    }

    #[test]
    fn every_program_comes_first_as_often_as_any_other() {
        let mut first: Vec<usize> = orders(5).iter().map(|order| order[0]).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn no_program_always_follows_the_same_one() {
        let before_the_third = |order: &Vec<usize>| {
            let place = order.iter().position(|&index| index == 2);
            place.and_then(|place| place.checked_sub(1)).map(|place| order[place])
        };
        let predecessors: BTreeSet<usize> = orders(5).iter().filter_map(before_the_third).collect();
        assert_eq!(predecessors, BTreeSet::from([1, 3]));
    }
}
