//! Other agents: each that is wired runs programs that exist.

use super::{Check, Subject};
use crate::commands::install::Scope;
use crate::commands::install::agent::{self, Wired};
use base::Env;
use install::agents::Agent;
use install::ours;

const NAME: &str = "agents";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    judge(&wired(subject.env))
}

/// Returns the agents that are wired, as people call them.
pub(super) fn titles(env: &Env) -> Vec<&'static str> {
    let mut titles: Vec<&str> = wired(env).iter().map(|(agent, _)| agent.title).collect();
    titles.dedup();
    titles
}

fn wired(env: &Env) -> Vec<(&'static Agent, Wired)> {
    agent::named(None)
        .flat_map(|agent| agent::wired(agent, env).into_iter().map(move |wired| (agent, wired)))
        .collect()
}

fn judge(all: &[(&'static Agent, Wired)]) -> Check {
    for (agent, Wired { scope, file, plugin }) in all {
        let mut programs = ours::hook_names().iter().map(|name| plugin.join("bin").join(name));
        if let Some(missing) = programs.find(|program| !super::plugin::exists(program)) {
            let message = format!(
                "{} names {}, which does not exist: {} runs without Wyren",
                file.display(),
                missing.display(),
                agent.title
            );
            let project = if *scope == Scope::Project { " --project" } else { "" };
            return Check::bad(NAME, message, format!("wyren install --agent {}{project}", agent.name));
        }
    }
    let shown = all.iter().map(|(agent, wired)| format!("{} in {}", agent.title, wired.file.display()));
    match shown.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => Check::good(NAME, "no other agent runs Wyren"),
        shown => Check::good(NAME, shown),
    }
}
