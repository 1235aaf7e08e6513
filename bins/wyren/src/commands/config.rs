//! `wyren config`: every setting, its value and its source.

use crate::exit::Ending;
use crate::person;
use crate::similar;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING};
use anstyle::Style;
use anyhow::Result;
use base::{Env, Paths, settings};
use clap::{Args, Subcommand};
use config::{self, Config, Setting, Source};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use text::sanitize;

const HOOKS_DISABLED: &str = "hooks.disabled";

const EXAMPLES: &str = "\
Examples:
  wyren config                                      list every setting
  wyren config get log.level                        print one value
  wyren config set log.level warn                   change it
  wyren config set hooks.disabled lesson-inject     turn a hook off
  wyren config unset hooks.disabled                 restore the default";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// List every setting (the default).
    List,
    /// Print the value of one setting.
    Get {
        /// Name of the setting, as listed.
        name: String,
    },
    /// Change a setting in your config.toml.
    Set {
        /// Name of the setting, as listed.
        name: String,
        /// New value.
        value: String,
    },
    /// Remove a setting from your config.toml: its default applies again.
    Unset {
        /// Name of the setting, as listed.
        name: String,
    },
}

pub(crate) fn run(arguments: Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let load = || Config::load(env, paths);
    match arguments.action.unwrap_or(Action::List) {
        Action::List => list(&load(), arguments.json),
        Action::Get { name } => get(load().get(&name).map_err(failure)?, arguments.json),
        Action::Set { name, value } => {
            person::must_be_here_to_set(env, &name)?;
            if name == HOOKS_DISABLED {
                refuse_unknown_hooks(&value)?;
            }
            config::set(paths, &name, Some(&value)).map_err(failure)?;
            get(load().get(&name)?, arguments.json)
        }
        Action::Unset { name } => {
            person::must_be_here_to_set(env, &name)?;
            config::set(paths, &name, None).map_err(failure)?;
            get(load().get(&name)?, arguments.json)
        }
    }
}

/// Fails when a list of hooks names one that does not exist: it would have no effect.
fn refuse_unknown_hooks(value: &str) -> Result<(), Ending> {
    let hooks = hooks();
    let Some(unknown) = settings::list(value).find(|name| !hooks.contains(name)) else { return Ok(()) };
    let unknown = sanitize::one_line(unknown, 60);
    let meant = match &*similar::nearest(&unknown, hooks.iter().copied(), 1) {
        [] => String::new(),
        near => format!(" (did you mean {:?}?)", near[0]),
    };
    let all = hooks.into_iter().collect::<Vec<_>>().join(", ");
    Err(Ending::misused(format!(
        "wyren: no hook is named {unknown:?}{meant}. Nothing was changed. The hooks are: {all}"
    )))
}

/// Returns the names of all hooks, from the files that wire them.
fn hooks() -> BTreeSet<&'static str> {
    const WIRED: &str = "${CLAUDE_PLUGIN_ROOT}/bin/";
    let files = [include_str!("../../../../hooks/hooks.json"), include_str!("../../../../hooks/extra.json")];
    let behind = files.into_iter().flat_map(|file| file.split(WIRED).skip(1));
    behind.filter_map(|rest| rest.split('"').next()).collect()
}

/// Tells a wrong name or value from a file that cannot be used.
fn failure(error: config::Error) -> anyhow::Error {
    match error {
        config::Error::UnknownKey { .. } | config::Error::BadValue { .. } => {
            Ending::misused(format!("wyren: {error}")).into()
        }
        config::Error::Syntax { .. } | config::Error::File(_) => error.into(),
    }
}

fn list(config: &Config, json: bool) -> Result<()> {
    let mut output = terminal::output();
    if json {
        let settings: Vec<Value> = config.settings().iter().map(to_json).collect();
        let ignored = config.complaints().iter().map(
            |complaint| json!({"file": complaint.file, "name": complaint.name, "reason": complaint.reason}),
        );
        let all = json!({"settings": settings, "ignored": ignored.collect::<Vec<_>>()});
        writeln!(output, "{all:#}")?;
        return Ok(());
    }
    let header = ["setting", "value", "from", "what it does"].map(|title| (title.to_owned(), DIM));
    let mut rows: Vec<Vec<Cell>> = vec![header.to_vec()];
    rows.extend(config.settings().iter().map(|setting| {
        let is_default = setting.source == Source::Default;
        vec![
            (setting.key.name.to_owned(), Style::new()),
            (shown(&setting.value).to_owned(), if is_default { DIM } else { STRONG }),
            (setting.source.to_string(), DIM),
            (setting.key.help.to_owned(), Style::new()),
        ]
    }));
    terminal::write_table(&mut output, &rows)?;
    let mut errors = terminal::errors();
    if let Ok(Err(unknown)) = config.get(HOOKS_DISABLED).map(|setting| refuse_unknown_hooks(&setting.value)) {
        writeln!(errors, "{WARNING}no effect{WARNING:#} {HOOKS_DISABLED}: {unknown}")?;
    }
    for complaint in config.complaints() {
        let (file, name) = (complaint.file.display(), &complaint.name);
        writeln!(errors, "{WARNING}ignored{WARNING:#} {name} in {file}: {}", complaint.reason)?;
    }
    Ok(())
}

fn get(setting: &Setting, json: bool) -> Result<()> {
    let mut output = terminal::output();
    if json {
        writeln!(output, "{:#}", to_json(setting))?;
    } else {
        writeln!(output, "{}", setting.value)?;
        // Only the value goes to standard output, for scripts.
        writeln!(terminal::errors(), "{DIM}{} from {}{DIM:#}", setting.key.name, setting.source)?;
    }
    Ok(())
}

fn to_json(setting: &Setting) -> Value {
    json!({
        "name": setting.key.name,
        "value": setting.value,
        "default": setting.key.default,
        "from": setting.source.to_string(),
        "help": setting.key.help,
    })
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "–" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c9_the_hooks_are_those_of_the_table() {
        let table: BTreeSet<&str> = tables::hooks::HOOKS.iter().map(|hook| hook.name).collect();
        assert_eq!(hooks(), table);
    }

    #[test]
    fn c9_a_hook_that_does_not_exist_cannot_be_disabled() {
        for value in ["", "lesson-inject", "tool-record, stop-distill"] {
            assert!(refuse_unknown_hooks(value).is_ok(), "{value}");
        }
        let refused = refuse_unknown_hooks("tool-record,lesson-injct").unwrap_err().to_string();
        assert!(
            refused.contains(r#"no hook is named "lesson-injct" (did you mean "lesson-inject"?)"#),
            "{refused}"
        );
        assert!(refused.contains("session-start-scan, stop-distill"), "{refused}");
    }
}
