//! Counts of what became of a lesson, and the confidence that follows.

use crate::judge::{Judged, Verdict};

/// The age at which a verdict counts half, in days.
pub const HALF_LIFE_DAYS: f64 = 90.0;
/// How many verdicts the confidence in a lesson's file is worth.
const PRIOR_VERDICTS: f64 = 4.0;
/// The least weight of verdicts against a lesson before it may be proposed for archiving.
const LEAST_AGAINST: f64 = 3.0;
/// A lesson below this confidence, in percent, annoys.
const ANNOYING_BELOW: u8 = 40;
/// How many weeks the sparkline shows.
pub const WEEKS: usize = 12;

const MILLIS_PER_DAY: u64 = 86_400_000;

/// What became of a lesson's showings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How often it was shown.
    pub shown: u64,
    /// How often it was heeded, and that helped.
    pub heeded: u64,
    /// How often the call was made all the same, and succeeded.
    pub overruled: u64,
    /// How often what was run failed anyway, heeded or not.
    pub failed: u64,
    /// Showings in each of the last weeks, the oldest first.
    pub weeks: [u64; WEEKS],
    /// When it was shown last, in milliseconds since 1970.
    pub last_at: u64,
    /// Verdicts for the lesson, each counting less the older it is.
    pub weight_for: f64,
    /// The same against it.
    pub weight_against: f64,
}

impl Tally {
    /// Counts verdicts, in whichever order they come.
    pub fn of<'j>(judged: impl Iterator<Item = &'j Judged>, now: u64) -> Self {
        let mut all: Vec<(u64, Verdict)> = judged.map(|judged| (judged.at, judged.verdict)).collect();
        // Sums of fractions depend on their order.
        all.sort_unstable();
        let mut tally = Self::default();
        for (at, verdict) in all {
            tally.count(at, verdict, 1, now);
        }
        tally
    }

    /// Counts the same verdict so many times.
    pub fn count(&mut self, at: u64, verdict: Verdict, times: u64, now: u64) {
        self.shown += times;
        self.last_at = self.last_at.max(at);
        let days = now.saturating_sub(at) / MILLIS_PER_DAY;
        if let Some(week) = WEEKS.checked_sub(1 + days as usize / 7) {
            self.weeks[week] += times;
        }
        let weight = times as f64 * 0.5_f64.powf(days as f64 / HALF_LIFE_DAYS);
        match verdict {
            Verdict::Heeded => {
                (self.heeded, self.weight_for) = (self.heeded + times, self.weight_for + weight)
            }
            Verdict::Overruled => {
                (self.overruled, self.weight_against) =
                    (self.overruled + times, self.weight_against + weight);
            }
            Verdict::Failed => {
                (self.failed, self.weight_against) = (self.failed + times, self.weight_against + weight);
            }
            // What the lesson warned of did happen: that is nothing against it.
            Verdict::Ignored => self.failed += times,
            Verdict::Open => {}
        }
    }

    /// Returns the confidence in percent, `given` being that of the lesson's file. Without verdicts it is that.
    pub fn confidence(&self, given: u8) -> u8 {
        let weight = self.weight_for + self.weight_against;
        let share = (f64::from(given) / 100.0 * PRIOR_VERDICTS + self.weight_for) / (PRIOR_VERDICTS + weight);
        (share * 100.0).round() as u8
    }

    /// Returns whether a lesson only annoys.
    pub fn is_annoying(&self, given: u8) -> bool {
        self.weight_against >= LEAST_AGAINST
            && self.confidence(given) < ANNOYING_BELOW
            && self.weight_for < self.weight_against / 2.0
    }

    /// Returns a line of bars, one for each week.
    pub fn sparkline(&self) -> String {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self.weeks.iter().copied().max().unwrap_or(0).max(1);
        let bar = |count: &u64| match count {
            0 => ' ',
            count => BARS[((count * BARS.len() as u64).div_ceil(most) as usize).saturating_sub(1)],
        };
        self.weeks.iter().map(bar).collect()
    }
}
