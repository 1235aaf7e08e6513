//! `wyren init`: starts a team memory, or joins the one that the team has.

use crate::terminal::{self, DIM, STRONG};
use anyhow::Result;
use base::Env;
use clap::Args;
use place::{Mode, SIDE_BRANCH};
use serde_json::json;
use std::io::Write as _;
use std::time::{Duration, Instant};
use team_sync::{Setup, Wish};

/// How long the remote is asked for a memory that is there already.
const PATIENCE: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  wyren init              on a branch of its own, wyren/memory, that no code review sees
  wyren init --branch     on the branch that is checked out, as the Node system does
  wyren init --json       what was found and made, for a script";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Share on a branch of its own; what happens anyway unless memory.md is tracked.
    #[arg(long, conflicts_with = "branch")]
    side: bool,
    /// Share on the branch that is checked out.
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
    let spinner = terminal::spinner("asking the remote for a team memory");
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
        writeln!(output, "  → The team's memory is here: `wyren memory show`")?;
    }
    if let Some(problem) = &setup.problem {
        let mut errors = terminal::errors();
        writeln!(errors, "The remote could not be asked for a memory that is there already: {problem}")?;
        writeln!(errors, "If there is one, the next `wyren sync` brings both together.")?;
    }
    writeln!(output, "\nNext steps:")?;
    match setup.mode {
        Some(Mode::Side) => {
            writeln!(
                output,
                "  wyren sync              share it on the branch {SIDE_BRANCH}; sessions do that by themselves"
            )?;
            writeln!(output, "  wyren memory edit       write down what the team has decided")?;
        }
        Some(Mode::Branch) => {
            writeln!(output, "  git add .wyren .gitignore")?;
            writeln!(output, "  git commit -m \"Start the team memory\"")?;
            writeln!(output, "  git push                from then on sessions share it by themselves")?;
        }
        None => {
            writeln!(output, "  wyren memory edit       write down what was decided")?;
            writeln!(output, "  git init                a repository with a remote shares it")?;
        }
    }
    Ok(())
}
