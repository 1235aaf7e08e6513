//! `wyren init`: starts a team memory, or joins the existing one.

use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, DIM, STRONG, WARNING};
use anyhow::Result;
use base::project::{Repository, remote_key};
use base::{Env, Paths};
use clap::Args;
use config::Config;
use place::{Mode, SIDE_BRANCH};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::{Setup, Share, Wish};

/// How long to wait for the remote when looking for an existing memory.
const PATIENCE: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  wyren init              share on the branch wyren/memory, outside code review
  wyren init --branch     share on the checked-out branch, as the Node version does
  wyren init --json       print the result as JSON
  wyren init --always-for github.com/acme
                          let every clone of this owner publish without asking";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Share on a separate branch (the default unless memory.md is tracked).
    #[arg(long, conflicts_with = "branch")]
    side: bool,
    /// Share on the checked-out branch.
    #[arg(long)]
    branch: bool,
    /// Also let every clone of this owner publish without asking, as in github.com/acme; may be repeated. Outside a
    /// repository nothing else is done.
    #[arg(long, value_name = "HOST/OWNER")]
    always_for: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let cwd = std::env::current_dir()?;
    if !arguments.always_for.is_empty() {
        person::must_be_here(env)?;
        always_for(&arguments.always_for, env, paths)?;
        if Repository::above(&cwd).is_none() {
            return Ok(());
        }
    }
    let wish = match (arguments.side, arguments.branch) {
        (true, _) => Wish::Side,
        (_, true) => Wish::Branch,
        _ => Wish::Any,
    };
    let spinner = terminal::spinner("looking for a team memory on the remote");
    let setup = team_sync::init(&cwd, env, wish, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let setup = setup?;
    if arguments.json { show_json(&setup) } else { show(&setup) }?;
    if setup.mode.is_none() {
        return Ok(());
    }
    let share = Share::open(&cwd, env)?;
    person::allow_publishing(&share, env, "wyren init")?;
    if share.leave()?.is_none() {
        writeln!(
            terminal::errors(),
            "{WARNING}This clone does not publish yet.{WARNING:#} To allow it, run `wyren sync` here in a terminal."
        )?;
    }
    Ok(())
}

/// Lets every clone of the owners publish.
fn always_for(named: &[String], env: &Env, paths: &Paths) -> Result<()> {
    let known = Config::load(env, paths).get("memory.publish_for")?.value.clone();
    let mut owners: Vec<String> = base::settings::list(&known).map(str::to_owned).collect();
    for named in named {
        let owner = remote_key(named, Path::new("/")).filter(|_| !named.contains(','));
        let owner = owner.map(|owner| named_owner(&owner, named));
        let Some(owner) = owner.filter(|owner| owner.trim_start_matches('/').contains('/')) else {
            let message = format!(
                "wyren: {named:?} names no owner; expected a host and an owner, as in github.com/acme"
            );
            return Err(Ending::misused(message).into());
        };
        if !owners.contains(&owner) {
            owners.push(owner.clone());
        }
        writeln!(
            terminal::errors(),
            "Clones of {STRONG}{owner}{STRONG:#} publish without asking from now on. {DIM}To see all: wyren config get memory.publish_for{DIM:#}"
        )?;
    }
    Ok(config::set(paths, "memory.publish_for", Some(&owners.join(",")))?)
}

/// Returns the owner as keys of remotes have it. `github.com/acme`, as people write it, looks like a path of this machine.
fn named_owner(key: &str, named: &str) -> String {
    match key.strip_prefix('/').filter(|_| !named.starts_with('/')) {
        Some(plain) => match plain.split_once('/') {
            Some((host, owner)) => format!("{}/{owner}", host.to_ascii_lowercase()),
            None => plain.to_owned(),
        },
        None => key.to_owned(),
    }
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
    if setup.has_new_attributes {
        writeln!(
            output,
            "  → Wrote .wyren/.gitattributes: git keeps both sides where merges of memory.md conflict"
        )?;
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
