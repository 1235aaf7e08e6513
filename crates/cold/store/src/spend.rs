//! The table of what model calls cost; the ledger that reads and writes it is `model`'s.

use crate::Tables;

/// The tables of the ledger. Money is in millionths of a dollar; a call without `cost_micros` is not settled.
pub const TABLES: Tables = Tables {
    owner: "spend",
    migrations: &["CREATE TABLE spend (
        id INTEGER PRIMARY KEY,
        day TEXT NOT NULL,
        ts INTEGER NOT NULL,
        job TEXT NOT NULL,
        project TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0,
        tokens_cache_read INTEGER NOT NULL DEFAULT 0,
        tokens_cache_write INTEGER NOT NULL DEFAULT 0,
        reserved_micros INTEGER NOT NULL,
        cost_micros INTEGER,
        outcome TEXT NOT NULL DEFAULT 'reserved'
    ) STRICT;
    CREATE INDEX spend_by_day ON spend (day, project);"],
};
