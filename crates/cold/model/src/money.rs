//! Money in whole millionths of a dollar, and token prices for providers that report no cost.

use crate::provider::{Request, Usage};
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// How many millionths make a dollar.
const MICROS_PER_DOLLAR: u64 = 1_000_000;

/// An amount of money, in millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    pub const ZERO: Self = Self(0);

    /// Returns so many millionths of a dollar.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the amount that a setting says, as in `0.5`; `None` for anything finer than a millionth or no number.
    pub fn from_setting(value: &str) -> Option<Self> {
        let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || fraction.len() > 6 {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
        whole.checked_mul(MICROS_PER_DOLLAR)?.checked_add(fraction).map(Self)
    }

    /// Returns a sum of dollars, rounded up; `None` for what cannot be a price.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * MICROS_PER_DOLLAR as f64).ceil();
        // An answer that claims to have cost a million dollars is not to be believed either.
        (0.0..1e12).contains(&micros).then_some(Self(micros as u64))
    }

    /// Returns the millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the amount in dollars, for people and JSON; not for sums.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / MICROS_PER_DOLLAR as f64
    }

    /// Returns what is left after taking `other` away; nothing when it is more.
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    /// Writes `$0.0123`: at least cents, at most millionths.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.0 % MICROS_PER_DOLLAR);
        let shown = fraction.trim_end_matches('0').len().max(2);
        write!(formatter, "${}.{}", self.0 / MICROS_PER_DOLLAR, &fraction[..shown])
    }
}

/// What a model costs, in millionths of a dollar per thousand tokens (a tenth of a cent per million).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    input: u64,
    output: u64,
    cache_write: u64,
    cache_read: u64,
}

/// What a model on the user's own machine costs.
const FREE: Price = Price { input: 0, output: 0, cache_write: 0, cache_read: 0 };

/// List prices by a part of the model's name, the first that fits; they serve estimates and providers that state no
/// cost. The last one, which fits every name, is the dearest of all: a model that is not known must not be cheap.
const PRICES: &[(&str, Price)] = &[
    ("haiku", Price { input: 1_000, output: 5_000, cache_write: 2_000, cache_read: 100 }),
    ("sonnet", Price { input: 3_000, output: 15_000, cache_write: 6_000, cache_read: 300 }),
    ("", Price { input: 15_000, output: 75_000, cache_write: 30_000, cache_read: 1_500 }),
];

/// The fewest bytes per token: English has four, dense text hardly fewer than two.
const BYTES_PER_TOKEN: usize = 2;

/// Tokens that a provider adds of its own: its preamble, the tool that carries the answer.
const OVERHEAD_TOKENS: u64 = 1_500;

impl Price {
    /// Returns the list price of a model; the dearest for one that is not known.
    pub fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let known = PRICES.iter().find(|(part, _)| model.contains(part));
        known.map_or(FREE, |(_, price)| *price)
    }

    /// Returns the price of what runs on the user's own machine.
    pub const fn free() -> Self {
        FREE
    }

    /// Returns what so many tokens cost, rounded up.
    pub fn of_usage(self, usage: &Usage) -> Money {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_write, self.cache_write),
            (usage.cache_read, self.cache_read),
        ];
        let thousandths: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        Money(u64::try_from(thousandths.div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    /// Returns what a request may cost at most, as far as that can be told beforehand.
    ///
    /// `turns` is how often the provider may send the conversation to the model for one question.
    pub(crate) fn estimate(self, request: &Request, turns: u64) -> Money {
        let sent = request.system.len() + request.prompt.len() + request.schema.text().len();
        let input = (sent.div_ceil(BYTES_PER_TOKEN) as u64 + OVERHEAD_TOKENS) * turns;
        let output = u64::from(request.max_output) * turns;
        self.of_usage(&Usage { input, output, ..Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_in_cents_and_below() {
        for (micros, shown) in [(0, "$0.00"), (500_000, "$0.50"), (12_300, "$0.0123"), (1, "$0.000001")] {
            assert_eq!(Money::from_micros(micros).to_string(), shown);
        }
        assert_eq!(Money::from_micros(12_000_000).to_string(), "$12.00");
    }

    #[test]
    fn stated_costs_are_rounded_up_and_absurd_ones_refused() {
        assert_eq!(Money::from_dollars(0.000_000_4), Some(Money::from_micros(1)));
        assert_eq!(Money::from_dollars(0.0), Some(Money::ZERO));
        for absurd in [-0.01, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Money::from_dollars(absurd), None, "{absurd}");
        }
    }

    #[test]
    fn tokens_cost_the_list_price_and_an_unknown_model_the_dearest() {
        let million = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
        let cost = |model: &str| Price::of(model).of_usage(&million).to_string();
        assert_eq!(cost("claude-haiku-4-5"), "$6.00");
        assert_eq!(cost("Sonnet"), "$18.00");
        assert_eq!(cost("something-new"), "$90.00");
        let one = Usage { cache_read: 1, ..Usage::default() };
        assert_eq!(Price::of("haiku").of_usage(&one), Money::from_micros(1), "rounded up");
        assert_eq!(Price::free().of_usage(&million), Money::ZERO);
    }
}
