//! Reads what a damaged database still gives.

use crate::open::{Error, Store};
use crate::schema::Tables;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction, params_from_iter};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::path::Path;

/// Tables that are not taken over: offsets are read again from the beginning, migrations are those of the new one, and
/// derived tables are made anew.
const LEFT_OUT: [&str; 3] = ["spool_files", "migrations", "derived"];
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

/// Copies the rows of one table from its beginning up to the damage, and from its end back to it.
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
    let mut insert =
        transaction.prepare(&format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({marks})"))?;
    for order in ["", "ORDER BY rowid DESC"] {
        let Ok(mut select) = old.prepare(&format!("SELECT {columns} FROM {name} {order}")) else { continue };
        let Ok(mut rows) = select.query([]) else { continue };
        let mut is_whole = true;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(_) => {
                    is_whole = false;
                    break;
                }
            };
            let values: Result<Vec<Value>, _> = (0..common.len()).map(|column| row.get(column)).collect();
            // A row of which a part is gone, or that breaks a rule of the table, is none.
            let Ok(values) = values else { continue };
            if values.iter().zip(&is_json).any(|(value, is_json)| *is_json && is_broken(value)) {
                copied.damaged += 1;
            } else {
                copied.rows += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
            }
        }
        if is_whole {
            break;
        }
    }
    Ok(())
}

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
