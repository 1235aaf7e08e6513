//! Reads what a damaged database still gives.

use crate::open::{Error, Store};
use crate::schema::Tables;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Row, Statement, Transaction, params_from_iter,
};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::path::Path;

/// Tables that are not taken over: offsets are read again from the beginning, migrations are those of the new one, and
/// derived tables are made anew.
const LEFT_OUT: [&str; 5] = ["spool_files", "migrations", "derived", "transcripts", "scanned"];
/// Columns that hold JSON or nothing, by table; those of `tool_calls` are of the first version.
const JSON: [(&str, &[&str]); 3] =
    [("observations", &["data"]), ("payloads", &["data"]), ("tool_calls", &["input", "output"])];

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    pub(super) rows: u64,
    /// Rows that could be read, but whose JSON is none any more; they are left out.
    pub(super) damaged: u64,
}

/// Returns the tables of each owner as they were in the damaged database, as far as it still says.
pub(super) fn tables_of(damaged: &Path, tables: &[Tables]) -> Vec<Tables> {
    let old = open(damaged);
    let taken = old.as_ref().map(owners).unwrap_or_default();
    let is_there = |table: &str| {
        old.as_ref()
            .and_then(|old| table_names(old).ok())
            .is_some_and(|names| names.iter().any(|name| name == table))
    };
    let as_it_was = |tables: &Tables| {
        let number = taken.iter().find(|(owner, _)| owner == tables.owner).map(|(_, number)| *number);
        let number = number.or_else(|| is_there("tool_calls").then_some(1));
        let most = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX);
        let most = most.clamp(1, tables.migrations.len());
        Tables { owner: tables.owner, migrations: &tables.migrations[..most] }
    };
    tables.iter().map(as_it_was).collect()
}

fn open(damaged: &Path) -> Option<Connection> {
    let old = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    // The damaged file is evidence: what was not yet moved into it stays beside it.
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok()?;
    Some(old)
}

/// Returns how far each owner had come.
fn owners(old: &Connection) -> Vec<(String, i64)> {
    let Ok(mut select) = old.prepare("SELECT owner, number FROM migrations") else { return Vec::new() };
    let owners = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    owners.map(|rows| rows.flatten().collect()).unwrap_or_default()
}

/// Returns the tables that are made anew instead of being copied: virtual ones with their shadows, and derived ones, also
/// those of a later version of Wyren.
fn remade(old: &Connection) -> HashSet<String> {
    let names = |sql: &str| -> Vec<String> {
        let Ok(mut select) = old.prepare(sql) else { return Vec::new() };
        let names = select.query_map([], |row| row.get(0));
        names.map(|rows| rows.flatten().collect()).unwrap_or_default()
    };
    let mut remade: HashSet<String> =
        names("SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow')").into_iter().collect();
    remade.extend(names("SELECT value FROM derived, json_each(derived.tables)"));
    remade
}

/// Copies every row that can be read. A file that is no database at all gives none.
pub(super) fn copy(damaged: &Path, store: &mut Store) -> Result<Copied, Error> {
    let Some(old) = open(damaged) else { return Ok(Copied::default()) };
    let remade = remade(&old);
    let is_copied = |name: &str| !LEFT_OUT.contains(&name) && !remade.contains(name);
    let Ok(names) = table_names(&old) else { return Ok(Copied::default()) };
    // Rows come table by table, and not all of them come: what points to nothing is taken out at the end.
    store.connection().pragma_update(None, "foreign_keys", false)?;
    let copied = store.write(|transaction| {
        take_over_unknown_tables(&old, transaction, is_copied)?;
        let mut copied = Copied::default();
        for name in names.iter().filter(|name| is_copied(name)) {
            copy_table(&old, transaction, name, &mut copied)?;
        }
        drop_orphans(transaction)?;
        Ok::<_, Error>(copied)
    });
    store.connection().pragma_update(None, "foreign_keys", true)?;
    copied
}

/// Returns how many rows can be read.
pub(super) fn count(database: &Path) -> u64 {
    // SQLite would delete the log of an empty one.
    if std::fs::metadata(database).is_ok_and(|metadata| metadata.len() == 0) {
        return 0;
    }
    let Some(old) = open(database) else { return 0 };
    let mut count = 0;
    for name in table_names(&old).unwrap_or_default() {
        let sql = format!("SELECT * FROM {}", quoted(&name));
        let Ok(mut select) = old.prepare(&sql) else { continue };
        let Ok(mut rows) = select.query([]) else { continue };
        while let Ok(Some(_)) = rows.next() {
            count += 1;
        }
    }
    count
}

fn table_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Makes the tables of owners that this program does not know, and notes how far their owners had come.
fn take_over_unknown_tables(
    old: &Connection,
    transaction: &Transaction<'_>,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let Ok(mut select) =
        old.prepare("SELECT sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    else {
        return Ok(());
    };
    let statements: Vec<(String, String)> = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .map(|rows| rows.flatten().collect())
        .unwrap_or_default();
    for (statement, _) in statements.iter().filter(|(_, table)| is_wanted(table)) {
        // What is there already is refused, and that is what is wanted.
        let _ = transaction.execute_batch(statement);
    }
    for (owner, number) in owners(old) {
        transaction
            .execute("INSERT INTO migrations VALUES (?1, ?2) ON CONFLICT DO NOTHING", (owner, number))?;
    }
    Ok(())
}

/// Copies the rows of one table that can be read.
fn copy_table(
    old: &Connection,
    transaction: &Transaction<'_>,
    name: &str,
    copied: &mut Copied,
) -> Result<(), Error> {
    let (Ok(before), Ok(after)) = (columns(old, name), columns(transaction, name)) else { return Ok(()) };
    let common: Vec<String> = before.into_iter().filter(|column| after.contains(column)).collect();
    if common.is_empty() {
        return Ok(());
    }
    let json = JSON.iter().find(|(table, _)| *table == name).map_or(&[][..], |(_, columns)| *columns);
    let is_json: Vec<bool> = common.iter().map(|column| json.contains(&column.as_str())).collect();
    let common: Vec<String> = common.iter().map(|column| quoted(column)).collect();
    let (columns, name) = (common.join(", "), quoted(name));
    let marks = vec!["?"; common.len()].join(", ");
    let insert =
        transaction.prepare(&format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({marks})"))?;
    let mut table = Table { old, name, columns, is_json, insert, copied };
    if table.has_rowid() {
        table.copy_around_damage();
    } else {
        table.copy_from("SELECT 0, {columns} FROM {name} WHERE ?1 < ?2", i64::MIN, i64::MAX);
    }
    Ok(())
}

/// A table that is copied.
struct Table<'a> {
    old: &'a Connection,
    name: String,
    columns: String,
    is_json: Vec<bool>,
    insert: Statement<'a>,
    copied: &'a mut Copied,
}

/// How far rows could be copied.
struct Reached {
    /// The last row that was read.
    last: Option<i64>,
    is_end: bool,
}

impl Table<'_> {
    fn has_rowid(&self) -> bool {
        self.old.prepare(&format!("SELECT rowid FROM {}", self.name)).is_ok()
    }

    /// Copies from the beginning to the damage, from behind it on, and from there back to it, until the end is reached; then
    /// from the end back, where the damage hides what comes next.
    fn copy_around_damage(&mut self) {
        let (mut after, end) = (i64::MIN, i64::MAX);
        loop {
            let reached = self.copy_from(FORWARD, after, end);
            if reached.is_end {
                return;
            }
            // A row of which nothing can be read is passed over, so that each round gets further.
            let damage = reached.last.unwrap_or(after.saturating_add(1)).max(0);
            let Some(next) = self.next_readable(damage) else { break };
            self.copy_from(BACKWARD, damage, next);
            after = next - 1;
        }
        self.copy_from(BACKWARD, i64::MIN, end);
    }

    /// Returns the first row that can be found beyond the damage behind `row`; `None` when there is none.
    fn next_readable(&self, row: i64) -> Option<i64> {
        let sql = format!("SELECT rowid FROM {} WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", self.name);
        let mut select = self.old.prepare(&sql).ok()?;
        let mut distance: i64 = 1;
        // Small steps first: the rows of one damaged page are few. Then larger ones, so that this ends.
        for step in 0..MAX_STEPS {
            let found = select.query_row([row.checked_add(distance)?], |row| row.get(0)).optional();
            if let Ok(found) = found {
                return found;
            }
            distance = if step < SMALL_STEPS { distance + STEP_ROWS } else { distance.checked_mul(2)? };
        }
        None
    }

    /// Copies the rows between two others, as far as they can be read.
    fn copy_from(&mut self, sql: &str, after: i64, before: i64) -> Reached {
        let mut reached = Reached { last: None, is_end: false };
        let sql = sql.replace("{columns}", &self.columns).replace("{name}", &self.name);
        let Ok(mut select) = self.old.prepare_cached(&sql) else { return reached };
        let Ok(mut rows) = select.query([after, before]) else { return reached };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    reached.last = row.get(0).ok().or(reached.last);
                    self.insert(row);
                }
                Ok(None) => {
                    reached.is_end = true;
                    return reached;
                }
                Err(_) => return reached,
            }
        }
    }

    fn insert(&mut self, row: &Row<'_>) {
        let values: Result<Vec<Value>, _> =
            (1..=self.is_json.len()).map(|column| row.get::<_, Value>(column)).collect();
        // A row of which a part is gone, or that breaks a rule of the table, is none.
        let Ok(values) = values else { return };
        if values.iter().zip(&self.is_json).any(|(value, is_json)| *is_json && is_broken(value)) {
            self.copied.damaged += 1;
        } else {
            self.copied.rows += self.insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
        }
    }
}

/// The rows between two others, up and down.
const FORWARD: &str = "SELECT rowid, {columns} FROM {name} WHERE rowid > ?1 AND rowid < ?2 ORDER BY rowid";
const BACKWARD: &str =
    "SELECT rowid, {columns} FROM {name} WHERE rowid > ?1 AND rowid < ?2 ORDER BY rowid DESC";
/// How the end of damage is looked for: by so many rows at a time, so often; then twice as far each time.
const STEP_ROWS: i64 = 4;
const SMALL_STEPS: u32 = 4_096;
const MAX_STEPS: u32 = SMALL_STEPS + 64;

/// Says whether a value is text that is not JSON. SQLite would also refuse JSON that is nested deeply.
fn is_broken(value: &Value) -> bool {
    matches!(value, Value::Text(text) if serde_json::from_str::<&RawValue>(text).is_err())
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT name FROM pragma_table_info(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// Takes out rows that point to rows which could not be read.
fn drop_orphans(transaction: &Transaction<'_>) -> Result<(), Error> {
    loop {
        let orphans: Vec<(String, Option<i64>)> = transaction
            .prepare("PRAGMA foreign_key_check")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        if orphans.iter().all(|(_, row)| row.is_none()) {
            return Ok(());
        }
        for (table, row) in orphans {
            transaction.execute(&format!("DELETE FROM {} WHERE rowid = ?1", quoted(&table)), [row])?;
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
