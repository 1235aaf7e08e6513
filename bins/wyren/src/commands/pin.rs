//! `wyren pin` and `wyren unpin`: entries that stay in the index at a session's start, and that retention keeps.

use crate::database::{self, Look};
use crate::exit;
use crate::items;
use crate::terminal::{self, STRONG};
use answers::notes;
use anyhow::Result;
use base::{Env, Paths};
use clap::Args;
use serde_json::json;
use std::io::Write as _;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren pin 3f9k2m1x              keep an entry in the index, whatever its age
  wyren unpin 3f9 7qz             undo that, by the beginning of the ids";

/// In characters.
const MAX_TITLE: usize = 160;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The id of an entry, or its beginning where no other id begins alike.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, is_pinned: bool, env: &Env, paths: &Paths) -> Result<()> {
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let entries =
        notes::pin(&mut store, paths, &items::here(), &arguments.ids, is_pinned).map_err(exit::of)?;
    let mut output = terminal::output();
    if arguments.json {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| {
                json!({"id": entry.id, "title": entry.title, "pinned": is_pinned, "changed": entry.is_pinned != is_pinned})
            })
            .collect();
        return Ok(writeln!(output, "{:#}", json!({"entries": entries}))?);
    }
    for entry in &entries {
        let what = match (is_pinned, entry.is_pinned) {
            (true, false) => "Pinned",
            (false, true) => "Unpinned",
            (true, true) => "Pinned before",
            (false, false) => "Not pinned",
        };
        let title = sanitize::one_line(&entry.title, MAX_TITLE);
        writeln!(output, "{what} {STRONG}{}{STRONG:#}: {title}", entry.id)?;
    }
    Ok(())
}
