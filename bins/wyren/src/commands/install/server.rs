//! The MCP server in the client's files. The plugin brings it along; beside hooks in settings, the client's own command adds it.
//!
//! Wyren names that command and runs it not: servers are in `.claude.json`, the client's state, which every session that runs writes
//! as a whole. What another program writes there is lost, or undoes what the client wrote.

use super::{Client, Scope, say};
use crate::terminal::WARNING;
use crate::wired;
use anyhow::Result;
use base::Env;
use serde_json::Value;
use std::path::{Path, PathBuf};
use text::sanitize;

/// What the plugin calls the server.
const NAME: &str = "memory";
/// The file that holds the client's state.
const STATE: &str = ".claude.json";
/// In characters.
const MAX_NAME: usize = 60;

/// A server of ours that the client starts.
#[derive(Debug, PartialEq, Eq)]
struct Added {
    scope: &'static str,
    name: String,
    program: PathBuf,
}

impl Added {
    /// Returns those that a session in a project gets.
    fn all(client: &Client, env: &Env) -> Vec<Self> {
        let home = base::system::home(env);
        let states = [Some(client.folder(Scope::User).to_owned()), home].into_iter().flatten();
        let project = client.folder(Scope::Project).parent().unwrap_or(Path::new("/")).to_owned();
        let mut added = Vec::new();
        for state in states.filter_map(|folder| wired::json(&folder.join(STATE))) {
            added.extend(of("user", &state["mcpServers"]));
            added.extend(of("local", &state["projects"][&*project.to_string_lossy()]["mcpServers"]));
        }
        let shared = wired::json(&project.join(".mcp.json")).unwrap_or_default();
        added.extend(of("project", &shared["mcpServers"]));
        added
    }
}

fn of(scope: &'static str, servers: &Value) -> Vec<Added> {
    let servers = servers.as_object().into_iter().flatten();
    let ours = servers.filter_map(|(name, server)| {
        let program = Path::new(server["command"].as_str()?);
        let is_ours = program.is_absolute() && program.file_stem().is_some_and(|name| name == "wyren-mcp");
        is_ours.then(|| Added { scope, name: name.clone(), program: program.to_owned() })
    });
    ours.collect()
}

/// Says how to add the server beside hooks in settings, unless a session has it.
pub(super) fn advise(client: &Client, scope: Scope, plugin: &Path, env: &Env) -> Result<()> {
    let program = plugin.join("bin").join(format!("wyren-mcp{}", std::env::consts::EXE_SUFFIX));
    let added = Added::all(client, env);
    if added.iter().any(|added| added.program == program) {
        return Ok(());
    }
    let scope = match scope {
        Scope::User => "user",
        Scope::Project => "project",
        Scope::Local => "local",
    };
    let shown = sanitize::sanitize(&program.to_string_lossy()).into_owned();
    let quoted = shlex::try_quote(&shown).map_or_else(|_| shown.clone(), std::borrow::Cow::into_owned);
    say(format_args!(
        "settings.json cannot hold the MCP server with which the model searches its memory. To add it: claude mcp add \
         --scope {scope} {NAME} -- {quoted}"
    ))
}

/// Names servers of ours that the client will still start.
pub(in crate::commands) fn warn_of_rest(client: &Client, env: &Env) -> Result<()> {
    Added::all(client, env).iter().try_for_each(|Added { scope, name, .. }| {
        let name = sanitize::one_line(name, MAX_NAME);
        let name = shlex::try_quote(&name).map_or_else(|_| name.clone(), std::borrow::Cow::into_owned);
        say(format_args!(
            "{WARNING}Claude Code still has the MCP server {name}{WARNING:#}, from `claude mcp add`. To take it out: claude mcp remove \
             --scope {scope} {name}"
        ))
    })
}
