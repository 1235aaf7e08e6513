//! `wyren init`: starts a team memory, or joins the existing one.

use crate::exit::Ending;
use crate::person::{self, Publishing};
use crate::terminal::{self, DIM, STRONG, Styled, WARNING, counted};
use anyhow::Result;
use base::project::{Repository, remote_key};
use base::{Env, Paths};
use clap::Args;
use config::Config;
use place::{Mode, SIDE_BRANCH};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use team_sync::repository::Visibility;
use team_sync::{Setup, Share, Wish};
use text::sanitize;

/// How long to wait for the remote when looking for an existing memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most authors that are named.
const MAX_AUTHORS: usize = 3;

/// In characters.
const MAX_CHARS: usize = 60;

const EXAMPLES: &str = "\
Examples:
  wyren init                     share on the branch wyren/memory, outside code review
  wyren init --branch            share on the checked-out branch, as the Node version does
  wyren init --seed-claude-md    begin with the text of CLAUDE.md
  wyren init --public            publish the memory of a public repository without asking
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
    /// Begin with the text of CLAUDE.md. Later changes of that file are not copied.
    #[arg(long)]
    seed_claude_md: bool,
    /// Publish although the repository is public.
    #[arg(long)]
    public: bool,
    /// Also let every clone of this owner publish without asking, as in github.com/acme; may be repeated. Outside a
    /// repository nothing else is done.
    #[arg(long, value_name = "HOST/OWNER")]
    always_for: Vec<String>,
    /// Switch between --side and --branch without asking.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What was done.
struct Done {
    setup: Setup,
    is_seeded: bool,
    publishing: Publishing,
    /// The name of the remote.
    remote: Option<String>,
    /// How many entries there are, and who wrote them.
    entries: usize,
    authors: Vec<String>,
    /// Whether the clone may publish.
    may_publish: bool,
    /// Whether it does so in the background.
    publishes_by_itself: bool,
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
    if !arguments.yes && !agrees_to_switch(wish, &cwd, env)? {
        writeln!(terminal::errors(), "Nothing was changed.")?;
        return Ok(());
    }
    let spinner = terminal::spinner("looking for a team memory on the remote");
    let setup = team_sync::init(&cwd, env, wish, Instant::now() + PATIENCE);
    spinner.finish_and_clear();
    let setup = setup?;
    let is_seeded = arguments.seed_claude_md && team_sync::seed_from_claude_md(&setup)?;
    if arguments.seed_claude_md && !is_seeded {
        let why = match setup.is_old || setup.is_joined {
            true => "there is a memory already",
            false => "there is none here, or it is empty",
        };
        writeln!(terminal::errors(), "{WARNING}CLAUDE.md was not copied{WARNING:#}: {why}.")?;
    }
    let share = Share::open(&cwd, env)?;
    let publishing = person::let_publish(&share, env, "wyren init", arguments.public)?;
    let memory = share.memory()?;
    let mut authors: Vec<String> = memory.entries().filter_map(|(_, entry)| entry.note().author).collect();
    authors.sort();
    authors.dedup();
    let done = Done {
        is_seeded,
        remote: share.team().and_then(|team| team.remote()).map(str::to_owned),
        entries: memory.entries().count(),
        authors,
        may_publish: share.leave()?.is_some(),
        publishes_by_itself: person::publishes_by_itself(env),
        publishing,
        setup,
    };
    if arguments.json {
        return Ok(writeln!(terminal::output(), "{:#}", done.to_json())?);
    }
    done.show(env)
}

/// Asks before the way of sharing changes in a clone that shares already.
fn agrees_to_switch(wish: Wish, cwd: &Path, env: &Env) -> Result<bool> {
    let current = team_sync::current_mode(cwd, env)?;
    let (now, becomes, changes) = match (wish, current) {
        (Wish::Branch, Some(Mode::Side)) => (
            "on the branch wyren/memory",
            "the checked-out branch",
            [
                ".wyren/ is no longer hidden from git: you commit it with your code",
                ".gitignore gets the lines .wyren/state/ and .wyren/log",
                "teammates who stay on wyren/memory and you no longer see each other's entries",
            ],
        ),
        (Wish::Side, Some(Mode::Branch)) => (
            "on the checked-out branch",
            "the branch wyren/memory",
            [
                ".wyren/ is hidden from git (.git/info/exclude) and published by Wyren alone",
                "the lines that --branch added to .gitignore are removed, unless they are committed",
                "teammates who stay on the checked-out branch and you no longer see each other's entries",
            ],
        ),
        _ => return Ok(true),
    };
    let mut errors = terminal::errors();
    writeln!(errors, "This clone shares its memory {now}. Sharing it on {becomes} instead means:")?;
    for change in changes {
        writeln!(errors, "  - {change}")?;
    }
    match terminal::confirm("Switch?")? {
        Some(answer) => Ok(answer),
        None => Err(Ending::failed("wyren: nothing was changed. To switch: add --yes").into()),
    }
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
            "Clones of {STRONG}{owner}{STRONG:#} publish without asking from now on. {DIM}To see all: {}{DIM:#}",
            person::in_terminal(env, "config get memory.publish_for")
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

impl Done {
    fn to_json(&self) -> Value {
        let setup = &self.setup;
        let is_public = match &self.publishing {
            Publishing::Begins { visibility: Visibility::Public, .. } | Publishing::Declined { .. } => {
                Some(true)
            }
            Publishing::Begins { visibility: Visibility::NotPublic, .. } => Some(false),
            _ => None,
        };
        json!({
            "mode": setup.mode, "folder": setup.folder, "already": setup.is_old, "joined": setup.is_joined,
            "seeded": self.is_seeded, "problem": setup.problem, "remote": self.remote,
            "publishes": self.remote.is_some() && self.may_publish, "public": is_public,
        })
    }

    fn show(&self, env: &Env) -> Result<()> {
        let mut output = terminal::output();
        let setup = &self.setup;
        if setup.is_old {
            writeln!(output, "Wyren already initialized.")?;
            if self.may_publish {
                person::describe(&self.publishing, env)?;
            }
            return self.warn_unless_published(env);
        }
        writeln!(output, "{}", self.headline())?;
        writeln!(output, "{}", self.what_happens(env))?;
        if let Publishing::Begins { visibility, .. } = &self.publishing
            && let Some(warning) = person::who_can_read(*visibility)
        {
            writeln!(output, "{WARNING}{warning}{WARNING:#}")?;
        }
        if self.is_seeded {
            writeln!(
                output,
                "It begins with the text of CLAUDE.md. Later changes of that file are not copied."
            )?;
        }
        if setup.has_new_attributes {
            writeln!(
                output,
                ".wyren/.gitattributes is new: git keeps both sides where merges of memory.md conflict."
            )?;
        }
        if let Some(problem) = &setup.problem {
            let mut errors = terminal::errors();
            writeln!(errors, "Could not look for an existing memory on the remote: {problem}")?;
            writeln!(errors, "If there is one, the next `wyren sync` merges both.")?;
        }
        if setup.mode == Some(Mode::Branch) {
            writeln!(output, "\nTo share it:")?;
            writeln!(output, "  git add .wyren .gitignore")?;
            writeln!(output, "  git commit -m \"Start the team memory\"")?;
            writeln!(output, "  git push")?;
        }
        writeln!(output)?;
        let commands = self.next_commands(env);
        let widest = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
        for (command, what) in commands {
            writeln!(output, "  {command:widest$}  {what}")?;
        }
        self.warn_unless_published(env)
    }

    /// Returns what the user may want to type next, and what it does.
    fn next_commands(&self, env: &Env) -> Vec<(String, &'static str)> {
        let typed = |arguments: &str| person::command_for(env, arguments, arguments);
        let mut commands =
            vec![(typed("memory"), "show it"), (typed("memory add TEXT"), "add to it, for the whole team")];
        // A prompt has no editor.
        if !person::is_in_prompt(env) {
            commands.push((typed("memory edit"), "change it"));
        }
        commands
            .push((person::in_terminal(env, "config set distill.enabled false"), "stop adding decisions"));
        if self.remote.is_some() && self.may_publish && self.publishes_by_itself {
            commands.push((person::in_terminal(env, "config set memory.publish false"), "stop publishing"));
        }
        commands
    }

    fn headline(&self) -> Styled<String> {
        let branch = match self.setup.mode {
            Some(Mode::Side) => format!("branch {SIDE_BRANCH}, outside code review"),
            Some(Mode::Branch) => "on the checked-out branch, in code review".to_owned(),
            None => "this folder is not in a git repository".to_owned(),
        };
        if !self.setup.is_joined {
            return Styled(format!("{STRONG}Team memory started{STRONG:#} in .wyren/ ({branch})."));
        }
        let entries = counted(self.entries, "entry", "entries");
        let from = match &*self.authors {
            [] => String::new(),
            authors => format!(" from {}", listed(authors)),
        };
        Styled(format!("{STRONG}Joined the team memory{STRONG:#}: {entries}{from}, in .wyren/ ({branch})."))
    }

    fn what_happens(&self, env: &Env) -> String {
        let decided = "From now on, decisions made in sessions here are added to it";
        let sync = person::in_terminal(env, "sync");
        let Some(remote) = &self.remote else {
            let how = match self.setup.mode {
                Some(_) => format!("Once there is one: {sync}"),
                None => "Sharing needs a git repository with a remote.".to_owned(),
            };
            return format!("{decided}. There is no remote yet, so it stays on this machine. {how}");
        };
        let remote = sanitize::one_line(remote, MAX_CHARS);
        match (self.may_publish, self.publishes_by_itself) {
            (false, _) => format!("{decided}. It stays on this machine."),
            (true, true) => format!("{decided} and pushed to {remote}."),
            (true, false) => {
                format!("{decided}, and pushed to {remote} when you run {sync} (memory.publish is off).")
            }
        }
    }

    /// Says how a clone that keeps everything here begins to publish.
    fn warn_unless_published(&self, env: &Env) -> Result<()> {
        if self.remote.is_none() || self.may_publish {
            return Ok(());
        }
        let mut errors = terminal::errors();
        let reason = match &self.publishing {
            Publishing::Declined { where_to } => {
                let publish = person::command_for(env, "init --public", "init --public");
                format!(
                    "{where_to} is public, and anyone could read the memory there. To publish it: {publish}"
                )
            }
            _ => "To allow it, run `wyren sync` here in a terminal.".to_owned(),
        };
        Ok(writeln!(errors, "{WARNING}This clone does not publish yet.{WARNING:#} {reason}")?)
    }
}

/// Returns names as a person lists them: `Ada, Grace and 3 more`.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_AUTHORS).map(|name| sanitize::one_line(name, MAX_CHARS)).collect();
    match names.len().saturating_sub(MAX_AUTHORS) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
