//! What a list of timings comes down to.

use serde::Serialize;

/// The figures of one program's timings, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
}

impl Summary {
    /// Sums up timings, of which there must be at least one.
    pub(crate) fn of(timings: &[f64]) -> Self {
        let sorted = sorted(timings);
        Self { median: median(timings), p95: percentile(&sorted, 95), p99: percentile(&sorted, 99) }
    }
}

/// Returns the middle value; of an even number of values, the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[upper] } else { f64::midpoint(sorted[upper - 1], sorted[upper]) }
}

/// Returns the smallest value that at least `percent` of a hundred values do not exceed (nearest rank).
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.saturating_sub(1)]
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(last: u32) -> Vec<f64> {
        (1..=last).rev().map(f64::from).collect()
    }

    #[test]
    fn the_order_of_timings_does_not_matter() {
        assert_eq!(Summary::of(&up_to(100)), Summary { median: 50.5, p95: 95.0, p99: 99.0 });
    }

    #[test]
    fn a_median_is_a_value_in_the_middle() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), 3.0);
    }

    #[test]
    fn few_timings_have_the_slowest_as_their_percentiles() {
        assert_eq!(Summary::of(&up_to(10)), Summary { median: 5.5, p95: 10.0, p99: 10.0 });
        assert_eq!(Summary::of(&[7.0]), Summary { median: 7.0, p95: 7.0, p99: 7.0 });
    }
}
