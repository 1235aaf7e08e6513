//! `wyren lessons import`, `export` and `backup`.

use super::{layer, shown};
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, counted};
use anstyle::Style;
use anyhow::{Result, bail};
use base::Timestamp;
use clap::Args;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Item, Places};
use lessons_admin::import::{Imported, Outcome};
use lessons_admin::{backup as copies, export as outgoing, import as incoming, json};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

const IMPORT_EXAMPLES: &str = "\
Examples:
  wyren lessons import ~/.claude/plugins/lessons-learned/data/lessons.db
  wyren lessons import lesson-manifest.json
  wyren lessons import ~/.local/share/wyren/backups/lessons-2026-11-16T02-26-41-123Z";

#[derive(Args)]
#[command(after_help = IMPORT_EXAMPLES)]
pub(crate) struct Import {
    /// A manifest or a database of lessons-learned, an export, or a folder of lessons. Left out:
    /// $LESSONS_DB_PATH, else lessons.db in $LESSONS_DATA_DIR.
    file: Option<PathBuf>,
    /// Replace lessons of yours that differ.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Export {
    /// Print JSON; this is the default.
    #[arg(long, conflicts_with_all = ["manifest", "folder"])]
    json: bool,
    /// Write a manifest that lessons-learned reads.
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    manifest: Option<PathBuf>,
    /// Write one file per lesson into this folder.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The lessons of this layer instead of your own: shipped, project, manifest.
    #[arg(long, value_parser = layer, conflicts_with = "all")]
    layer: Option<Layer>,
    /// The lessons of every layer.
    #[arg(long)]
    all: bool,
}

#[derive(Args)]
pub(crate) struct Backup {
    /// List backups.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Import {
    /// Returns whether lessons that are here may be replaced.
    pub(super) fn replaces(&self) -> bool {
        self.force
    }
}

pub(super) fn import(arguments: &Import, places: &Places) -> Result<()> {
    let named = || {
        let database = places.env.get("LESSONS_DB_PATH").map(PathBuf::from);
        database.or_else(|| {
            places.env.get("LESSONS_DATA_DIR").map(|folder| PathBuf::from(folder).join("lessons.db"))
        })
    };
    let Some(file) = arguments.file.clone().or_else(named) else {
        bail!("nothing to import: name a manifest, a database, an export or a folder");
    };
    let imported = incoming::import(places, &file, arguments.force)?;
    if arguments.json {
        writeln!(terminal::output(), "{:#}", imported_as_json(&imported))?;
        return Ok(());
    }
    let mut output = terminal::output();
    let rows: Vec<Vec<Cell>> = imported
        .rows
        .iter()
        .map(|row| {
            let style = if row.outcome == Outcome::Known { DIM } else { Style::new() };
            vec![
                (shown(&row.slug), style),
                (row.outcome.name().to_owned(), style),
                (row.state.name().to_owned(), DIM),
                (shown(&row.remarks.join("; ")), WARNING),
            ]
        })
        .collect();
    terminal::write_table(&mut output, &rows)?;
    let count = |outcome| imported.rows.iter().filter(|row| row.outcome == outcome).count();
    writeln!(
        output,
        "{STRONG}{} added{STRONG:#}, {} were here already, {} of yours differ and were {}",
        count(Outcome::Added),
        count(Outcome::Known),
        count(Outcome::Kept) + count(Outcome::Replaced),
        if arguments.force { "replaced" } else { "kept" },
    )?;
    for remark in &imported.remarks {
        writeln!(output, "{DIM}{}{DIM:#}", shown(remark))?;
    }
    Ok(())
}

fn imported_as_json(imported: &Imported) -> Value {
    let rows: Vec<Value> = imported
        .rows
        .iter()
        .map(|row| {
            json!({
                "slug": row.slug, "outcome": row.outcome.name(), "state": row.state.name(), "remarks": row.remarks,
            })
        })
        .collect();
    json!({"lessons": rows, "remarks": imported.remarks})
}

pub(super) fn export(arguments: &Export, places: &Places) -> Result<()> {
    let catalogue = Catalogue::read(places);
    let layer = arguments.layer.unwrap_or(Layer::Personal);
    let is_wanted = |item: &&Item| arguments.all || item.layer == layer;
    let items: Vec<&Item> = catalogue.items.iter().filter(is_wanted).collect();
    let mut errors = terminal::errors();
    if let Some(file) = &arguments.manifest {
        let manifest = outgoing::manifest(places, &items, Timestamp::now());
        outgoing::write_manifest(file, &manifest)?;
        let count = manifest["lessons"].as_object().map_or(0, serde_json::Map::len);
        writeln!(errors, "{DIM}{} in {}{DIM:#}", counted(count, "lesson", "lessons"), file.display())?;
    } else if let Some(folder) = &arguments.folder {
        let written = outgoing::write_folder(folder, &items)?;
        let lessons = counted(written.len(), "lesson", "lessons");
        writeln!(errors, "{DIM}{lessons} in {}{DIM:#}", folder.display())?;
    } else {
        let items: Vec<Value> = items.iter().map(|item| json::item(item)).collect();
        writeln!(terminal::output(), "{:#}", Value::from(items))?;
    }
    Ok(())
}

pub(super) fn backup(arguments: &Backup, places: &Places) -> Result<()> {
    let mut output = terminal::output();
    if arguments.list {
        let copies = copies::list(places);
        if arguments.json {
            writeln!(output, "{:#}", json!({"backups": copies}))?;
        } else if copies.is_empty() {
            writeln!(terminal::errors(), "No backups.")?;
        } else {
            for copy in copies {
                writeln!(output, "{}", copy.display())?;
            }
        }
        return Ok(());
    }
    if !places.personal().is_dir() {
        bail!("there are no lessons of your own to back up");
    }
    let (copy, files) = copies::make(places, Timestamp::now())?;
    if arguments.json {
        writeln!(output, "{:#}", json!({"backup": copy, "files": files}))?;
    } else {
        let files = counted(files, "file", "files");
        writeln!(output, "{files} in {STRONG}{}{STRONG:#}", copy.display())?;
        writeln!(terminal::errors(), "{DIM}Run `wyren lessons import FOLDER` to restore them.{DIM:#}")?;
    }
    Ok(())
}
