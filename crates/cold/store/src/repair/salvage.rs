//! Reads what a damaged database still gives.

use crate::observations;
use crate::open::{Error, Store};
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction, params_from_iter};
use std::path::Path;

/// Tables that are not taken over: offsets are read again from the beginning, and migrations are those of the new one.
const LEFT_OUT: [&str; 2] = ["spool_files", "migrations"];

/// Copies every row that can be read; returns how many. A file that is no database at all gives none.
pub(super) fn copy(damaged: &Path, store: &mut Store) -> Result<u64, Error> {
    let Ok(old) = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_WRITE) else {
        return Ok(0);
    };
    // The damaged file is evidence: what was not yet moved into it stays beside it.
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let Ok(names) = table_names(&old) else { return Ok(0) };
    // Rows come table by table, and not all of them come: what points to nothing is taken out at the end.
    store.connection().pragma_update(None, "foreign_keys", false)?;
    let copied = store.write(|transaction| {
        take_over_unknown_tables(&old, transaction)?;
        let mut copied = 0;
        for name in names.iter().filter(|name| !LEFT_OUT.contains(&name.as_str())) {
            copied += copy_table(&old, transaction, name)?;
        }
        drop_orphans(transaction)?;
        observations::refresh_sessions(transaction)?;
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
fn take_over_unknown_tables(old: &Connection, transaction: &Transaction<'_>) -> Result<(), Error> {
    let Ok(mut select) = old.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    else {
        return Ok(());
    };
    let statements: Vec<String> =
        select.query_map([], |row| row.get(0)).map(|rows| rows.flatten().collect()).unwrap_or_default();
    for statement in statements {
        // What is there already is refused, and that is what is wanted.
        let _ = transaction.execute_batch(&statement);
    }
    let Ok(mut select) = old.prepare("SELECT owner, number FROM migrations") else { return Ok(()) };
    let owners: Vec<(String, i64)> = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .map(|rows| rows.flatten().collect())
        .unwrap_or_default();
    for (owner, number) in owners {
        transaction
            .execute("INSERT INTO migrations VALUES (?1, ?2) ON CONFLICT DO NOTHING", (owner, number))?;
    }
    Ok(())
}

/// Copies the rows of one table from its beginning up to the damage, and from its end back to it.
fn copy_table(old: &Connection, transaction: &Transaction<'_>, name: &str) -> Result<u64, Error> {
    let (Ok(before), Ok(after)) = (columns(old, name), columns(transaction, name)) else { return Ok(0) };
    let common: Vec<String> =
        before.into_iter().filter(|column| after.contains(column)).map(|column| quoted(&column)).collect();
    if common.is_empty() {
        return Ok(0);
    }
    let (columns, name) = (common.join(", "), quoted(name));
    let marks = vec!["?"; common.len()].join(", ");
    let mut insert =
        transaction.prepare(&format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({marks})"))?;
    let mut copied = 0;
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
            if let Ok(values) = values {
                copied += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
            }
        }
        if is_whole {
            break;
        }
    }
    Ok(copied)
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
