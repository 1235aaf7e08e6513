//! `wyren handoff list` and `show`.

use super::of_contexts;
use crate::commands::work::Contexts;
use crate::exit::Ending;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, counted};
use crate::{projects, when};
use anstyle::Style;
use anyhow::Result;
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp};
use clap::Args;
use handoff::{Name, Resume, WAITS, state};
use serde_json::{Value, json};
use std::io::Write as _;
use text::sanitize;
use work::contexts::read::{self, Which};

/// In characters.
const MAX_TITLE: usize = 120;
const MAX_NAME: usize = 100;

#[derive(Args)]
pub(super) struct List {
    /// List those of every project.
    #[arg(long)]
    everywhere: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Show {
    /// The id, its beginning, or CONTEXT/ID; a part of a context's id for its latest.
    #[arg(value_name = "ID")]
    id: String,
    /// Print only this section.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    section: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn list(list: &List, env: &Env, paths: &Paths) -> Result<()> {
    let contexts = Contexts::open(env, paths)?;
    let all = match list.everywhere {
        true => read::list(&contexts.store, None, Which::All)?,
        false => contexts.contexts.clone(),
    };
    let kept = of_contexts(&contexts, &all)?;
    let mut output = terminal::output();
    if list.json {
        let handoffs: Vec<Value> = kept
            .iter()
            .map(|kept| {
                let mut one = super::to_json(kept, paths);
                one["state"] = state(kept, &all).into();
                one
            })
            .collect();
        return Ok(writeln!(output, "{:#}", json!({"handoffs": handoffs}))?);
    }
    if kept.is_empty() {
        let name = projects::name(&contexts.project.key);
        let place = if list.everywhere { String::new() } else { format!(" in {name}") };
        return Ok(writeln!(output, "No handoffs{place}.")?);
    }
    let now = Timestamp::now();
    let header = ["handoff", "context", "state", "saved", "title"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    for one in &kept {
        let state = state(one, &all);
        let style = if state == WAITS { WARNING } else { Style::new() };
        rows.push(vec![
            (one.handoff.id.clone(), STRONG),
            (sanitize::one_line(&one.context, MAX_NAME), Style::new()),
            (state.to_owned(), style),
            (when::ago(one.at, now), Style::new()),
            (sanitize::one_line(&one.handoff.title, MAX_TITLE), Style::new()),
        ]);
    }
    Ok(terminal::write_table(&mut output, &rows)?)
}

pub(super) fn show(show: &Show, env: &Env, paths: &Paths) -> Result<()> {
    let contexts = Contexts::open(env, paths)?;
    let kept = super::named(&show.id, &contexts, env)?;
    // The folder is for people, and may be lost or never have come along.
    let _ = handoff::write_missing(paths, std::slice::from_ref(&kept));
    let mut output = terminal::output();
    if show.json {
        return Ok(writeln!(output, "{:#}", super::to_json(&kept, paths))?);
    }
    if let Some(name) = &show.section {
        let label = Name::of(name).map_or(name.as_str(), |name| name.label());
        let section = kept.handoff.sections.iter().find(|section| section.name.eq_ignore_ascii_case(label));
        let Some(section) = section else {
            let names: Vec<&str> =
                kept.handoff.sections.iter().map(|section| section.name.as_str()).collect();
            let shown = sanitize::one_line(name, MAX_NAME);
            let message =
                format!("wyren: {} has no section {shown:?}; it has: {}", kept.name(), names.join(", "));
            return Err(Ending::failed(sanitize::sanitize(&message)).into());
        };
        return Ok(writeln!(output, "{}", sanitize::sanitize(&section.text))?);
    }
    let handoff = &kept.handoff;
    let title = sanitize::one_line(&handoff.title, MAX_TITLE);
    writeln!(output, "{STRONG}{}{STRONG:#}: {title}\n", kept.name())?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: &str, text: String| rows.push(vec![(name.to_owned(), DIM), (text, Style::new())]);
    row("saved", when::with_age(kept.at, Timestamp::now()));
    row("state", state(&kept, &contexts.contexts).to_owned());
    row("folder", with_tilde(&kept.folder(paths), env));
    if let Some(tree) = &handoff.tree {
        let changed = (!tree.changed.is_empty())
            .then(|| counted(tree.changed.len() as u64, "file not committed", "files not committed"));
        let commit = tree.commit.as_deref().map(|commit| commit.chars().take(10).collect());
        let parts: Vec<String> = [tree.branch.clone(), commit, changed].into_iter().flatten().collect();
        row("git", sanitize::one_line(&parts.join(", "), MAX_TITLE));
    }
    terminal::write_table(&mut output, &rows)?;
    let text = Resume { kept: &kept, since: None, now: Timestamp::now() }.sections();
    Ok(write!(output, "{}", sanitize::sanitize(&text))?)
}
