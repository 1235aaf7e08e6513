//! Opens the database and reads one session by its id: what every hook that reads pays before it begins.
//! `read-one <database> <session>`. Prints the session's title.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use store::{Store, observations};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(database), Some(session)) = (arguments.next(), arguments.next()) else {
        return Err("usage: read-one <database> <session>".into());
    };
    let Some(store) = Store::open_for_hook(Path::new(&database), &[observations::TABLES])? else {
        return Err("there is no database of this version".into());
    };
    let title: Option<String> =
        store
            .connection()
            .query_row("SELECT title FROM sessions WHERE id = ?1", [session], |row| row.get(0))?;
    writeln!(std::io::stdout(), "{}", title.unwrap_or_default())?;
    Ok(())
}
