//! Migrations: numbered steps that only go forward.

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};

/// The tables of one owner: the steps that made them what they are. A step that was ever released is never changed.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Who owns them.
    pub owner: &'static str,
    /// The steps, in order; the first has number 1.
    pub migrations: &'static [&'static str],
}

impl Tables {
    /// Returns the number of the last step.
    pub(crate) fn newest(self) -> u32 {
        u32::try_from(self.migrations.len()).unwrap_or(u32::MAX)
    }
}

/// How a database compares with the program that opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Every step that the program knows was taken.
    Current,
    /// Steps are missing.
    Behind,
    /// A later program took steps that this one does not know.
    Ahead {
        /// Whose tables they are.
        owner: &'static str,
    },
}

/// Compares a database with what the program knows.
pub(crate) fn standing(connection: &Connection, all: &[Tables]) -> rusqlite::Result<Standing> {
    let taken = taken(connection)?;
    let mut standing = Standing::Current;
    for tables in all {
        match number_of(&taken, *tables) {
            number if number > tables.newest() => return Ok(Standing::Ahead { owner: tables.owner }),
            number if number < tables.newest() => standing = Standing::Behind,
            _ => {}
        }
    }
    Ok(standing)
}

/// Takes the steps that are missing, all or none.
pub(crate) fn migrate(connection: &mut Connection, all: &[Tables]) -> rusqlite::Result<()> {
    // Immediate: two programs that start at once take the steps one after the other, and the second finds them taken.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (owner TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT",
    )?;
    let taken = taken(&transaction)?;
    for tables in all {
        migrate_owner(&transaction, *tables, number_of(&taken, *tables))?;
    }
    transaction.commit()
}

fn migrate_owner(transaction: &Transaction<'_>, tables: Tables, taken: u32) -> rusqlite::Result<()> {
    for migration in tables.migrations.iter().skip(taken as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.execute(
        "INSERT INTO migrations VALUES (?1, ?2) ON CONFLICT (owner) DO UPDATE SET number = max(number, ?2)",
        params![tables.owner, tables.newest()],
    )?;
    Ok(())
}

/// Returns the number of the last step that was taken for these tables; 0 for none.
fn number_of(taken: &[(String, u32)], tables: Tables) -> u32 {
    taken.iter().find(|(owner, _)| owner == tables.owner).map_or(0, |(_, number)| *number)
}

/// Returns the last step of every owner, in one query: this is most of what opening costs.
pub(crate) fn taken(connection: &Connection) -> rusqlite::Result<Vec<(String, u32)>> {
    let mut select = match connection.prepare("SELECT owner, number FROM migrations") {
        Ok(select) => select,
        // Locked or damaged, it would only be so again.
        Err(error) if error.sqlite_error_code() != Some(ErrorCode::Unknown) => return Err(error),
        Err(_) if is_new(connection)? => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Says whether no step was ever taken.
fn is_new(connection: &Connection) -> rusqlite::Result<bool> {
    let count: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'migrations'",
        [],
        |row| row.get(0),
    )?;
    Ok(count == 0)
}
