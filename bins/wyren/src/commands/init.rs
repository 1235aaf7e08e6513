//! `wyren init`: starts a team memory, or joins the existing one.

use crate::terminal::{self, DIM, STRONG};
use anyhow::Result;
use base::Env;
use clap::Args;
use place::{Mode, SIDE_BRANCH};
use serde_json::json;
use std::io::Write as _;
use std::time::{Duration, Instant};
use team_sync::{Setup, Wish};

/// How long to wait for the remote when looking for an existing memory.
const PATIENCE: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  wyren init              share on the branch wyren/memory, outside code review
  wyren init --branch     share on the checked-out branch, as the Node version does
  wyren init --json       print the result as JSON";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Share on a separate branch (the default unless memory.md is tracked).
    #[arg(long, conflicts_with = "branch")]
    side: bool,
    /// Share on the checked-out branch.
    #[arg(long)]
    branch: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env) -> Result<()> {
    let wish = match (arguments.side, arguments.branch) {
        (true, _) => Wish::Side,
        (_, true) => Wish::Branch,
        _ => Wish::Any,
    };
    let spinner = terminal::spinner("looking for a team memory on the remote");
    let setup = team_sync::init(&std::env::current_dir()?, env, wish, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let setup = setup?;
    if arguments.json { show_json(&setup) } else { show(&setup) }
}

fn show_json(setup: &Setup) -> Result<()> {
    let facts = json!({
        "mode": setup.mode, "folder": setup.folder, "already": setup.is_old, "joined": setup.is_joined,
        "seeded": setup.is_seeded, "problem": setup.problem,
    });
    Ok(writeln!(terminal::output(), "{facts:#}")?)
}

fn show(setup: &Setup) -> Result<()> {
    let mut output = terminal::output();
    if setup.is_old {
        return Ok(writeln!(output, "Wyren already initialized.")?);
    }
    let folder = setup.folder.display();
    writeln!(output, "{STRONG}Wyren initialized{STRONG:#} {DIM}{folder}{DIM:#}")?;
    if setup.is_seeded {
        writeln!(output, "  → Seeded memory.md from existing CLAUDE.md")?;
    }
    if setup.is_joined {
        writeln!(output, "  → Fetched the existing team memory. To read it: wyren memory")?;
    }
    if let Some(problem) = &setup.problem {
        let mut errors = terminal::errors();
        writeln!(errors, "Could not look for an existing memory on the remote: {problem}")?;
        writeln!(errors, "If there is one, the next `wyren sync` merges both.")?;
    }
    writeln!(output, "\nNext steps:")?;
    match setup.mode {
        Some(Mode::Side) => {
            writeln!(
                output,
                "  wyren sync              publish on the branch {SIDE_BRANCH} (sessions do this automatically)"
            )?;
            writeln!(output, "  wyren memory edit       add the team's decisions")?;
        }
        Some(Mode::Branch) => {
            writeln!(output, "  git add .wyren .gitignore")?;
            writeln!(output, "  git commit -m \"Start the team memory\"")?;
            writeln!(output, "  git push                from then on sessions publish automatically")?;
        }
        None => {
            writeln!(output, "  wyren memory edit       add your decisions")?;
            writeln!(output, "  git init                sharing needs a git repository with a remote")?;
        }
    }
    Ok(())
}
