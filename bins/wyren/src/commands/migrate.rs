//! `wyren migrate`: moves from an earlier system, and back.

mod show;

use super::install::{self as installation, Client, Scope, say};
use super::serve;
use crate::exit::{self, Ending};
use crate::person;
use crate::terminal::{self, DIM, SUCCESS, WARNING, counted};
use crate::wired::{self, Wiring};
use anyhow::Result;
use base::paths::with_tilde;
use base::{Env, Paths};
use clap::Args;
use clap::builder::PossibleValuesParser;
use migrate::{Around, Choice, Done, Edit, Journal, Link, Plan, SYSTEMS, Undone};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  wyren migrate                          show what is here and what would change, then ask
  wyren migrate --dry-run                show it, and change nothing
  wyren migrate --only lessons-learned   move from this one alone
  wyren migrate --disable claude-mem     switch its hooks off as well; its records stay
  wyren migrate --unlink                 take the Node version's wyren from the PATH as well
  wyren migrate --link                   make a claude-mem for scripts: `wyren serve start|stop|status`
  wyren migrate --undo                   take all of it back";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Move from this system alone; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = names(), conflicts_with = "undo")]
    only: Vec<String>,
    /// Switch the hooks of this system off although Wyren does not replace it yet; may be
    /// repeated.
    #[arg(long, value_name = "NAME", value_parser = names(), conflicts_with = "undo")]
    disable: Vec<String>,
    /// Take the Node version's `wyren` from the PATH.
    #[arg(long, conflicts_with = "undo")]
    unlink: bool,
    /// Make ~/.local/bin/claude-mem, which starts and stops `wyren serve`, for scripts that call it.
    #[arg(long, conflicts_with = "undo")]
    link: bool,
    /// Take back what was migrated.
    #[arg(long)]
    undo: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do it without asking.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SYSTEMS.iter().map(|system| system.name))
}

/// Returns where to look for earlier systems.
pub(super) fn around(env: &Env, paths: &Paths) -> Result<Around> {
    let client = Client::of(env, paths)?;
    let project = client.folder(Scope::Project);
    let project = project.parent().unwrap_or(project).to_owned();
    Ok(Around { env: env.clone(), paths: paths.clone(), project })
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let around = around(env, paths)?;
    if !arguments.dry_run {
        person::must_be_here(env)?;
        if arguments.json && !arguments.yes {
            return Err(Ending::misused("wyren: --json requires --yes or --dry-run").into());
        }
    }
    if arguments.undo {
        return undo(arguments, &around, env, paths);
    }
    let mut choice = Choice {
        only: arguments.only.clone(),
        disable: arguments.disable.clone(),
        unlink: arguments.unlink,
        link: link(arguments.link, env),
    };
    let lock = if arguments.dry_run { None } else { Some(installation::lock(paths)?) };
    let mut plan = look(&around, &choice);
    if !arguments.json {
        show::plan(&plan, env)?;
        if !plan.parts.is_empty() {
            warn_if_not_wired(&plan, env, paths)?;
        }
    }
    let is_due = !plan.is_nothing() && !arguments.dry_run;
    if is_due && !arguments.yes && !terminal::must_confirm("Do this?")? {
        return say("Nothing was changed.");
    }
    let programs: Vec<String> =
        plan.parts.iter().flat_map(|part| &part.found.programs).map(|path| with_tilde(path, env)).collect();
    let question = format!("Take the Node version's {} from the PATH as well?", programs.join(" and "));
    let may_ask = !arguments.dry_run && !arguments.yes && !choice.unlink && !programs.is_empty();
    if may_ask && terminal::confirm(&question)?.unwrap_or(false) {
        choice.unlink = true;
        plan = look(&around, &choice);
    }
    let offered = plan.parts.iter().filter_map(|part| part.link.as_ref()).find(|link| !link.is_due);
    if let Some(offered) = offered.filter(|_| !arguments.dry_run && !arguments.yes) {
        let place = with_tilde(&offered.place, env);
        let question = format!("Make {place} as well, for scripts that call `claude-mem start|stop|status`?");
        if terminal::confirm(&question)?.unwrap_or(false) {
            choice.link = link(true, env);
            plan = look(&around, &choice);
        }
    }
    let mut problems = plan.problems.clone();
    if !plan.is_nothing() && !arguments.dry_run {
        problems.extend(carry_out(&plan, &around, arguments.json, env)?);
    }
    drop(lock);
    if arguments.json {
        let mut facts = show::as_json(&plan, &problems);
        facts["changed"] = (!plan.is_nothing() && !arguments.dry_run).into();
        writeln!(terminal::output(), "{facts:#}")?;
    } else if !plan.is_nothing() && !arguments.dry_run {
        let wyren = person::wyren(env);
        say(format_args!(
            "The changes apply from the next session on. To take it back: {wyren} migrate --undo"
        ))?;
    }
    exit::with_problems(&problems)
}

/// Returns the link for scripts that call claude-mem, which is made if `is_due`, and offered else.
fn link(is_due: bool, env: &Env) -> Option<Link> {
    let home = base::system::home(env)?;
    let program = std::env::current_exe().ok()?;
    Some(Link { place: serve::link_place(&home), program, is_due })
}

fn look(around: &Around, choice: &Choice) -> Plan {
    let spinner = terminal::spinner("looking for earlier systems");
    let plan = Plan::of(around, choice);
    spinner.finish_and_clear();
    plan
}

fn carry_out(plan: &Plan, around: &Around, is_json: bool, env: &Env) -> Result<Vec<String>> {
    let mut journal = Journal::read(around)?;
    let mut report = |done: Done<'_>| if is_json { Ok(()) } else { write_done(&done, env) };
    Ok(migrate::act(plan, around, &mut journal, &mut report)?)
}

fn write_done(done: &Done<'_>, env: &Env) -> io::Result<()> {
    let mut output = terminal::output();
    match done {
        Done::Recorded => Ok(()),
        Done::Imported { what, source, look, .. } => {
            let (records, from) =
                (counted(look.new as u64, what.trim_end_matches('s'), what), with_tilde(source, env));
            writeln!(output, "{SUCCESS}Imported{SUCCESS:#} {records} from {from}")
        }
        Done::Disabled { edit, backup } => {
            let (what, path) = (what_is_switched(edit), with_tilde(&edit.path, env));
            writeln!(output, "{SUCCESS}Switched off{SUCCESS:#} {what} in {path}")?;
            match backup {
                Some(backup) => {
                    writeln!(output, "{DIM}The file as it was: {}{DIM:#}", with_tilde(backup, env))
                }
                None => Ok(()),
            }
        }
        Done::Unlinked(path) => {
            writeln!(output, "{SUCCESS}Removed{SUCCESS:#} {} from the PATH", with_tilde(path, env))
        }
        Done::Linked(path) => {
            let path = with_tilde(path, env);
            writeln!(output, "{SUCCESS}Made{SUCCESS:#} {path}: it starts and stops `wyren serve`")
        }
    }
}

/// Returns what an edit switches off, as in `2 hooks and the plugin claude-mem@thedotmack`.
pub(super) fn what_is_switched(edit: &Edit) -> String {
    let mut parts = Vec::new();
    if !edit.hooks.is_empty() {
        parts.push(counted(edit.hooks.len() as u64, "hook", "hooks"));
    }
    parts.extend(edit.members.keys().cloned());
    parts.extend(edit.plugins.keys().map(|id| format!("the plugin {id}")));
    parts.join(" and ")
}

/// Says that the client does not run Wyren, so that hooks which go off have no successor.
fn warn_if_not_wired(plan: &Plan, env: &Env, paths: &Paths) -> Result<()> {
    let wiring = Wiring::read(env, paths, &std::env::current_dir()?);
    if !wiring.plugins.is_empty() || !wiring.by_hand.is_empty() {
        return Ok(());
    }
    let what_to_do = match plan.edits.is_empty() {
        true => ". To have it take over:",
        false => ", so nothing replaces these hooks until you run:",
    };
    let wyren = person::wyren(env);
    say(format_args!("{WARNING}Claude Code does not run Wyren yet{WARNING:#}{what_to_do} {wyren} install"))
}

fn undo(arguments: &Arguments, around: &Around, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.dry_run {
        let journal = Journal::read(around)?;
        if arguments.json {
            let steps: Vec<Value> = journal.steps().iter().map(show::step_as_json).collect();
            return Ok(writeln!(terminal::output(), "{:#}", json!({"steps": steps}))?);
        }
        if journal.is_empty() {
            return say("Nothing was migrated, so there is nothing to take back.");
        }
        return journal.steps().iter().rev().try_for_each(|step| say(show::step(step, env)));
    }
    let _lock = installation::lock(paths)?;
    let mut journal = Journal::read(around)?;
    if journal.is_empty() && !arguments.json {
        return say("Nothing was migrated, so there is nothing to take back.");
    }
    let mut undone = Vec::new();
    let problems = migrate::undo(around, &mut journal, &mut |one| {
        if !arguments.json {
            write_undone(&one, env)?;
        }
        undone.push(one);
        Ok(())
    })?;
    if arguments.json {
        let undone: Vec<Value> = undone.iter().map(show::undone_as_json).collect();
        writeln!(terminal::output(), "{:#}", json!({"undone": undone, "problems": problems}))?;
    }
    exit::with_problems(&problems)
}

fn write_undone(undone: &Undone, env: &Env) -> io::Result<()> {
    let path = |path: &Path| with_tilde(path, env);
    let mut output = terminal::output();
    match undone {
        Undone::Nothing => Ok(()),
        Undone::Restored(file) => {
            writeln!(output, "{SUCCESS}Restored{SUCCESS:#} {}, as it was", path(file))
        }
        Undone::TakenBack(file) => writeln!(
            output,
            "{SUCCESS}Took back{SUCCESS:#} what was migrated in {}. {WARNING}It changed since{WARNING:#}, so the rest of it \
             stays as it is now",
            path(file)
        ),
        Undone::Lessons { removed, changed } => {
            let lessons = counted(*removed as u64, "imported lesson", "imported lessons");
            writeln!(output, "{SUCCESS}Removed{SUCCESS:#} {lessons}")?;
            for file in changed {
                writeln!(output, "{WARNING}Left alone{WARNING:#}: {} changed since", path(file))?;
            }
            Ok(())
        }
        Undone::Records { removed } => {
            let records = counted(*removed, "imported record", "imported records");
            writeln!(output, "{SUCCESS}Removed{SUCCESS:#} {records}")
        }
        Undone::Unlinked(file) => writeln!(output, "{SUCCESS}Removed{SUCCESS:#} {}", path(file)),
        Undone::Left(file) => {
            writeln!(output, "{WARNING}Left alone{WARNING:#}: {} is another file by now", path(file))
        }
    }
}

/// Says in `wyren uninstall` that earlier systems stay off, and how to switch them on.
pub(super) fn remind(env: &Env, paths: &Paths, is_purge: bool) -> Result<()> {
    let cwd = std::env::current_dir().unwrap_or_default();
    let around = Around { env: env.clone(), paths: paths.clone(), project: wired::project(&cwd) };
    if Journal::read(&around).is_ok_and(|journal| journal.is_empty()) {
        return Ok(());
    }
    let wyren = person::wyren(env);
    let what_to_do = match is_purge {
        true => {
            format!("and a purge deletes what could switch them on again. Before it: {wyren} migrate --undo")
        }
        false => format!(
            "until you run: {wyren} migrate --undo. That needs Wyren: run it before you uninstall, or install Wyren again"
        ),
    };
    say(format_args!("{WARNING}Hooks that `wyren migrate` switched off stay off{WARNING:#}, {what_to_do}"))
}
