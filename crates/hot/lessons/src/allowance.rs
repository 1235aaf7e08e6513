//! How long lessons may take to judge one call.

use regex_lite::{Regex, RegexBuilder};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long the lessons of a repository or manifest may take for one call. Enough for an honest one on a busy machine,
/// and far below the deadline of the hook.
pub const OTHERS_TIME: Duration = Duration::from_millis(200);

/// The most bytes that an expression of another's lesson compiles to; a state takes 32, and 8 for each range of a class.
pub(crate) const COMPILED_BYTES: usize = 256 * 1024;

/// How many small steps are taken between two looks at the clock.
const STEPS: u32 = 512;

/// What is left of the time for judging a call. Shipped and personal lessons have no limit, and read no clock.
#[derive(Debug)]
pub struct Allowance {
    until: Option<Instant>,
    steps: Cell<u32>,
    is_spent: Cell<bool>,
}

impl Allowance {
    /// For lessons of the user's own.
    pub const fn unlimited() -> Self {
        Self { until: None, steps: Cell::new(0), is_spent: Cell::new(false) }
    }

    /// For lessons of others: starts the clock.
    pub fn of(time: Duration) -> Self {
        Self { until: Some(Instant::now() + time), ..Self::unlimited() }
    }

    /// Returns whether others wrote what is judged.
    pub(crate) fn is_limited(&self) -> bool {
        self.until.is_some()
    }

    /// Returns whether the time is up.
    pub fn is_spent(&self) -> bool {
        let Some(until) = self.until else { return false };
        if !self.is_spent.get() && Instant::now() >= until {
            self.is_spent.set(true);
        }
        self.is_spent.get()
    }

    /// Returns whether the time is up, for steps so small that the clock is read only after many of them.
    pub(crate) fn is_spent_by_a_step(&self) -> bool {
        if self.until.is_none() {
            return false;
        }
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() >= STEPS {
            self.steps.set(0);
            return self.is_spent();
        }
        self.is_spent.get()
    }

    /// Compiles an expression; `None` when it cannot be read, is too large, or the time is up.
    pub(crate) fn compile(&self, expression: &str) -> Option<Regex> {
        if !self.is_limited() {
            return Regex::new(expression).ok();
        }
        if self.is_spent() {
            return None;
        }
        RegexBuilder::new(expression).size_limit(COMPILED_BYTES).build().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_others_lessons_run_out_of_time() {
        let spent = Allowance::of(Duration::ZERO);
        assert!(spent.is_spent() && spent.compile("a").is_none());
        assert!((0..=STEPS).any(|_| Allowance::is_spent_by_a_step(&spent)));
        assert!(!Allowance::unlimited().is_spent() && Allowance::unlimited().compile("a{2000}").is_some());
        let ample = Allowance::of(Duration::from_secs(3600));
        assert!(ample.compile("a{200}").is_some() && ample.compile("(a{1000}){1000}").is_none());
    }
}
