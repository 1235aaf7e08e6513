//! `wyren lessons packs`: the packs of shipped lessons, and switching them.

use super::shown;
use crate::terminal::{self, Cell, DIM, STRONG, counted};
use anstyle::Style;
use anyhow::Result;
use clap::Args;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::change::Change;
use serde_json::{Value, json};
use std::io::Write as _;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let packs = Catalogue::read(places).packs(places);
    let mut output = terminal::output();
    if arguments.json {
        let packs: Vec<Value> = packs
            .iter()
            .map(|pack| {
                let (lessons, refusing) = (pack.lessons, pack.refusing);
                json!({"name": pack.name, "lessons": lessons, "refusing": refusing, "enabled": !pack.is_off})
            })
            .collect();
        writeln!(output, "{:#}", Value::from(packs))?;
        return Ok(());
    }
    if packs.is_empty() {
        writeln!(terminal::errors(), "No packs.")?;
        return Ok(());
    }
    let titles = ["pack", "lessons", "guards and pauses", "state"];
    let mut rows: Vec<Vec<Cell>> = vec![titles.map(|title| (title.to_owned(), DIM)).to_vec()];
    for pack in &packs {
        let style = if pack.is_off { DIM } else { Style::new() };
        rows.push(vec![
            (shown(&pack.name), if pack.is_off { DIM } else { STRONG }),
            (pack.lessons.to_string(), style),
            (pack.refusing.to_string(), style),
            (if pack.is_off { "off" } else { "on" }.to_owned(), style),
        ]);
    }
    terminal::write_table(&mut output, &rows)?;
    Ok(())
}

/// Switches packs off or on.
pub(super) fn switch(names: &[String], is_off: bool, places: &Places) -> Result<()> {
    let mut change = Change::begin(places)?;
    let done = if is_off { "Disabled" } else { "Enabled" };
    for name in names {
        let pack = change.switch_pack(name, is_off)?;
        let lessons = counted(pack.lessons, "lesson", "lessons");
        writeln!(terminal::output(), "{done} the pack {STRONG}{}{STRONG:#}: {lessons}.", shown(&pack.name))?;
    }
    Ok(())
}
