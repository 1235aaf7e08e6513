//! `wyren remember`: an entry in the journal of this machine, in the user's own words.

use super::memory::{SESSION_VARIABLE, without};
use crate::exit::Ending;
use crate::person;
use crate::projects;
use crate::terminal::{self, STRONG};
use answers::notes::{self, DEFAULT_KIND, Given, NotKept, Remembered};
use anyhow::{Context as _, Result};
use base::{Env, Paths};
use capture::Rule;
use clap::Args;
use serde_json::json;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren remember 'Prices are integer cents'
  wyren remember --type decision --pin 'Prices are integer cents'
  wyren remember --file src/price.rs 'Rounding happens here and nowhere else'
  wyren remember - <<'NOTE'       the first line is the title, the rest the text
  wyren remember -- --force is gone
                                  a text that begins with a dash

It stays on this machine. To tell the team: wyren memory add";

/// In bytes.
const MAX_TEXT: u64 = 64 * 1024;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The text; `-` reads it from standard input.
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// What it is: change, fix, feature, refactor, discovery, decision, failure, security_note …
    #[arg(long = "type", value_name = "TYPE", default_value = DEFAULT_KIND, value_parser = notes::kind)]
    kind: String,
    /// A file that it is about; may be repeated.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Keep it in the index at a session's start, whatever its age.
    #[arg(long)]
    pin: bool,
    /// A folder in the project that it is about [default: this one].
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,
    /// The client's session.
    #[arg(long, value_name = "ID", hide = true)]
    session_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let folder = match &arguments.project {
        Some(folder) if !folder.is_dir() => {
            let folder = sanitize::one_line(&folder.to_string_lossy(), 200);
            return Err(Ending::misused(format!("wyren: {folder:?} is no folder; nothing was kept")).into());
        }
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let text = text(&arguments.words)?;
    let session = arguments.session_id.clone().or_else(|| env.text(SESSION_VARIABLE));
    let given = Given {
        text: &text,
        kind: &arguments.kind,
        files: &arguments.files,
        is_pinned: arguments.pin,
        // A prompt such as `/wyren:remember` is not the model's, though no person may have typed it.
        is_by_model: !person::is_here(env) && !person::is_in_prompt(env),
        session: session.as_deref(),
    };
    let reason = |rule: Rule<'_>| super::capture::reason(rule, env);
    let remembered =
        notes::remember(&given, &folder, env, paths, reason).map_err(|refusal| match refusal {
            NotKept::Empty => {
                let remember = person::command_for(env, "remember TEXT", "remember TEXT");
                Ending::misused(format!("wyren: no text to remember. Use: {remember}"))
            }
            refusal => Ending::failed(format!("wyren: {refusal}")),
        })?;
    show(&remembered, &given, arguments.json, env)
}

fn show(remembered: &Remembered, given: &Given<'_>, json: bool, env: &Env) -> Result<()> {
    let Remembered { id, words, files, project } = remembered;
    let mut output = terminal::output();
    if json {
        let facts = json!({
            "id": id, "type": given.kind, "title": words.title, "text": words.narrative, "files": files, "pinned": given.is_pinned,
            "project": project.key, "secrets": words.secrets,
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let pinned = if given.is_pinned { " and pinned" } else { "" };
    let taken_out = without(words.secrets, words.has_private);
    writeln!(output, "Remembered{pinned} as {STRONG}{id}{STRONG:#}: {}", words.title)?;
    let name = projects::name(&project.key);
    let team = person::command_for(env, "memory add TEXT", "memory add TEXT");
    Ok(writeln!(output, "Kept on this machine, for {name}.{taken_out} To tell the team: {team}")?)
}

/// Returns the text that was given.
fn text(words: &[String]) -> Result<String> {
    if !matches!(words, [word] if word == "-") {
        return Ok(words.join(" "));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_TEXT).read_to_end(&mut bytes).context("could not read standard input")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
