//! The cost of model calls and their budgets: one row per call, written before the call.
//!
//! A call reserves its highest possible cost and settles the real one, each in one transaction. A reservation counts as
//! spent, so callers in any number of processes stay within the budget together. A caller that dies in between leaves its
//! reservation behind, which keeps counting because the real cost is unknown.

use crate::money::Money;
use crate::provider::{Request, Usage};
use base::Timestamp;
use std::path::Path;
use store::Store;
use store::rusqlite::{self, Connection, Row, params};

const MILLIS_PER_DAY: u64 = 86_400_000;

/// What may be spent in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// By everything together.
    pub daily: Money,
    /// By each project.
    pub project: Money,
}

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything of a day.
    Day,
    Project,
}

/// Why a call may not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("today's budget{} has {left} left, and the call may cost {needed}", match scope { Scope::Day => "", Scope::Project => " of this project" })]
pub struct Exhausted {
    /// Whose budget does not suffice.
    pub scope: Scope,
    pub left: Money,
    /// What the call may cost.
    pub needed: Money,
}

/// A call that may be made; it has to be settled.
#[derive(Debug)]
#[must_use = "what is reserved counts as spent until it is settled"]
pub struct Reservation {
    id: i64,
    pub amount: Money,
}

/// Who is to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub provider: &'a str,
    pub model: &'a str,
}

/// The sum of the calls of one day, job and project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// The day, UTC: `2026-11-16`.
    pub day: String,
    pub job: String,
    /// The key of the project; empty for none.
    pub project: String,
    pub calls: u64,
    /// How many of them did not bring a valid answer.
    pub failed: u64,
    /// How many of them were not settled.
    pub unsettled: u64,
    pub usage: Usage,
    /// What counts as spent.
    pub spent: Money,
    /// The part of it that is only reserved.
    pub reserved: Money,
}

#[derive(Debug)]
pub struct Ledger {
    store: Store,
}

impl Ledger {
    /// Opens the ledger in the database at `path`.
    pub fn open(path: &Path) -> Result<Self, store::Error> {
        Store::open(path, &[store::spend::TABLES]).map(|store| Self { store })
    }

    /// Reserves `amount` for a call, unless a budget would not suffice for it.
    pub fn reserve(
        &mut self,
        request: &Request,
        target: Target<'_>,
        amount: Money,
        budget: Budget,
        now: Timestamp,
    ) -> Result<Result<Reservation, Exhausted>, store::Error> {
        let day = day_of(now);
        self.store.write(|transaction| {
            for (scope, limit, project) in
                [(Scope::Day, budget.daily, None), (Scope::Project, budget.project, Some(&*request.project))]
            {
                let left = limit.less(spent(transaction, &day, project)?);
                if amount > left {
                    return Ok(Err(Exhausted { scope, left, needed: amount }));
                }
            }
            transaction.execute(
                "INSERT INTO spend (day, ts, job, project, provider, model, reserved_micros)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    day,
                    stored(now.millis()),
                    request.job,
                    request.project,
                    target.provider,
                    target.model,
                    stored(amount.micros()),
                ],
            )?;
            Ok(Ok(Reservation { id: transaction.last_insert_rowid(), amount }))
        })
    }

    /// Puts what a call did cost in the place of what was reserved for it.
    pub fn settle(
        &mut self,
        reservation: &Reservation,
        usage: &Usage,
        cost: Money,
        outcome: &str,
    ) -> Result<(), store::Error> {
        self.store.write(|transaction| {
            transaction.execute(
                "UPDATE spend SET tokens_in = ?2, tokens_out = ?3, tokens_cache_read = ?4, tokens_cache_write = ?5,
                 cost_micros = ?6, outcome = ?7 WHERE id = ?1",
                params![
                    reservation.id,
                    stored(usage.input),
                    stored(usage.output),
                    stored(usage.cache_read),
                    stored(usage.cache_write),
                    stored(cost.micros()),
                    outcome,
                ],
            )?;
            Ok(())
        })
    }

    /// Returns what counts as spent on the day of `now`, by everything or by one project.
    pub fn spent(&self, now: Timestamp, project: Option<&str>) -> Result<Money, store::Error> {
        Ok(spent(self.store.connection(), &day_of(now), project)?)
    }

    /// Returns the sums of the last `days` days up to `now`, newest day first, the dearest of a day first.
    pub fn totals(&self, now: Timestamp, days: u64) -> Result<Vec<Total>, store::Error> {
        let mut statement = self.store.connection().prepare(
            "SELECT day, job, project, count(*), sum(outcome NOT IN ('answered', 'reserved')), sum(cost_micros IS NULL),
                    sum(tokens_in), sum(tokens_out), sum(tokens_cache_read), sum(tokens_cache_write),
                    sum(coalesce(cost_micros, reserved_micros)) AS spent,
                    sum(iif(cost_micros IS NULL, reserved_micros, 0))
             FROM spend WHERE day BETWEEN ?1 AND ?2
             GROUP BY day, job, project ORDER BY day DESC, spent DESC, job, project",
        )?;
        let first = day_of(days_before(now, days.saturating_sub(1)));
        let rows = statement.query_map([first, day_of(now)], total)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the day of a moment, UTC: `2026-11-16`.
pub fn day_of(moment: Timestamp) -> String {
    let mut day = moment.to_string();
    day.truncate("2026-11-16".len());
    day
}

/// Returns the moment `days` days before another.
pub fn days_before(moment: Timestamp, days: u64) -> Timestamp {
    Timestamp::from_millis(moment.millis().saturating_sub(days.saturating_mul(MILLIS_PER_DAY)))
}

fn spent(connection: &Connection, day: &str, project: Option<&str>) -> rusqlite::Result<Money> {
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(sum(coalesce(cost_micros, reserved_micros)), 0) FROM spend
         WHERE day = ?1 AND (?2 IS NULL OR project = ?2)",
    )?;
    statement.query_row(params![day, project], |row| Ok(Money::from_micros(count(row, 0)?)))
}

fn total(row: &Row<'_>) -> rusqlite::Result<Total> {
    Ok(Total {
        day: row.get(0)?,
        job: row.get(1)?,
        project: row.get(2)?,
        calls: count(row, 3)?,
        failed: count(row, 4)?,
        unsettled: count(row, 5)?,
        usage: Usage {
            input: count(row, 6)?,
            output: count(row, 7)?,
            cache_read: count(row, 8)?,
            cache_write: count(row, 9)?,
        },
        spent: Money::from_micros(count(row, 10)?),
        reserved: Money::from_micros(count(row, 11)?),
    })
}

/// Returns a number as the database keeps it, which knows no unsigned ones.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use serde_json::json;

    const NOON: Timestamp = Timestamp::from_millis(1_794_830_400_000);
    const TARGET: Target<'_> = Target { provider: "test", model: "m" };

    fn request(project: &str) -> Request {
        Request {
            job: "distill".to_owned(),
            project: project.to_owned(),
            system: String::new(),
            prompt: String::new(),
            schema: Schema::new(json!({})).unwrap(),
            model: None,
            max_output: 100,
        }
    }

    fn budget(daily: u64, project: u64) -> Budget {
        Budget { daily: Money::from_micros(daily), project: Money::from_micros(project) }
    }

    fn reserve(
        ledger: &mut Ledger,
        project: &str,
        micros: u64,
        budget: Budget,
    ) -> Result<Reservation, Exhausted> {
        ledger.reserve(&request(project), TARGET, Money::from_micros(micros), budget, NOON).unwrap()
    }

    #[test]
    fn what_is_reserved_counts_until_the_real_cost_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("wyren.db")).unwrap();
        let first = reserve(&mut ledger, "a", 60, budget(100, 100)).unwrap();
        let refused = reserve(&mut ledger, "a", 41, budget(100, 100)).unwrap_err();
        assert_eq!((refused.scope, refused.left.micros()), (Scope::Day, 40));
        ledger.settle(&first, &Usage::default(), Money::from_micros(10), "answered").unwrap();
        let _ = reserve(&mut ledger, "a", 90, budget(100, 100)).unwrap();
        assert_eq!(ledger.spent(NOON, None).unwrap().micros(), 100);
        assert!(reserve(&mut ledger, "a", 1, budget(100, 100)).is_err());
        assert!(reserve(&mut ledger, "a", 0, budget(100, 100)).is_ok(), "what is free is always affordable");
    }

    #[test]
    fn a_project_has_a_budget_of_its_own_and_a_day_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("wyren.db")).unwrap();
        let _ = reserve(&mut ledger, "a", 50, budget(100, 50)).unwrap();
        assert_eq!(reserve(&mut ledger, "a", 1, budget(100, 50)).unwrap_err().scope, Scope::Project);
        let _ = reserve(&mut ledger, "b", 50, budget(100, 50)).unwrap();
        assert_eq!(reserve(&mut ledger, "c", 1, budget(100, 50)).unwrap_err().scope, Scope::Day);
        let tomorrow = Timestamp::from_millis(NOON.millis() + MILLIS_PER_DAY);
        let amount = Money::from_micros(50);
        assert!(ledger.reserve(&request("a"), TARGET, amount, budget(100, 50), tomorrow).unwrap().is_ok());
    }

    #[test]
    fn callers_at_once_stay_within_the_budget_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wyren.db");
        let granted = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut ledger = Ledger::open(&path).unwrap();
                    for _ in 0..30 {
                        if reserve(&mut ledger, "a", 7, budget(1_000, 1_000)).is_ok() {
                            granted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(granted.into_inner(), 1_000 / 7);
        assert_eq!(Ledger::open(&path).unwrap().spent(NOON, None).unwrap().micros(), 1_000 / 7 * 7);
    }

    #[test]
    fn totals_tell_the_settled_from_the_reserved() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("wyren.db")).unwrap();
        let settled = reserve(&mut ledger, "a", 60, budget(1_000, 1_000)).unwrap();
        let usage = Usage { input: 5, output: 6, cache_read: 7, cache_write: 8 };
        ledger.settle(&settled, &usage, Money::from_micros(20), "answered").unwrap();
        let _lost = reserve(&mut ledger, "a", 30, budget(1_000, 1_000)).unwrap();
        let totals = ledger.totals(NOON, 1).unwrap();
        let expected = Total {
            day: "2026-11-16".to_owned(),
            job: "distill".to_owned(),
            project: "a".to_owned(),
            calls: 2,
            failed: 0,
            unsettled: 1,
            usage,
            spent: Money::from_micros(50),
            reserved: Money::from_micros(30),
        };
        assert_eq!(totals, [expected]);
        let tomorrow = Timestamp::from_millis(NOON.millis() + MILLIS_PER_DAY);
        assert!(ledger.totals(tomorrow, 1).unwrap().is_empty());
        assert_eq!(ledger.totals(tomorrow, 2).unwrap(), totals);
    }
}
