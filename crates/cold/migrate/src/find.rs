//! Looks for the earlier systems: in the client's settings and plugins, on the PATH, and where each keeps its records.

use crate::command::Command;
use crate::systems::{Record, SYSTEMS, System};
use crate::{Around, Settings};
use base::{Env, files};
use install::jsonc;
use install::settings::others;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many other projects of the client's list are looked at.
const MAX_PROJECTS: usize = 500;

/// How much of a program is read to find out what it is, in bytes.
const BEGINNING: usize = 4096;

/// The script of the Node version.
const SCRIPT: &str = "wyren.mjs";

/// The folders of its npm package.
const PACKAGE: [&str; 3] = ["node_modules", "@ssm-08", "wyren"];

/// A system that is here.
#[derive(Debug)]
pub struct Found {
    pub system: &'static System,
    /// Its plugins that the client knows.
    pub plugins: Vec<Plugin>,
    /// Settings files with hooks of its own.
    pub hooks: Vec<Hooks>,
    /// Its programs on the PATH.
    pub programs: Vec<PathBuf>,
    /// Its records.
    pub records: Vec<Record>,
}

/// A plugin of an earlier system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// As in `claude-mem@thedotmack`.
    pub id: String,
    /// The folder that the client runs it from.
    pub folder: Option<PathBuf>,
    /// Whether the client runs it here.
    pub is_on: bool,
}

/// Hooks of an earlier system in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    pub file: PathBuf,
    pub count: usize,
    /// Other members of the settings that run something of it, such as `statusLine`.
    pub members: Vec<&'static str>,
}

impl Found {
    /// Returns whether the client runs anything of it.
    pub fn is_on(&self) -> bool {
        !self.hooks.is_empty() || self.plugins.iter().any(|plugin| plugin.is_on)
    }

    /// Returns whether anything of it is here.
    pub(crate) fn is_something(&self) -> bool {
        !self.plugins.is_empty()
            || !self.hooks.is_empty()
            || !self.programs.is_empty()
            // The team memory is Wyren's own as well, and says nothing by itself.
            || self.records.iter().any(|record| !record.path.ends_with(files::PROJECT_FOLDER))
    }
}

/// Returns the systems that are here, in the order of the table. Files that cannot be read count as empty.
pub fn found(around: &Around) -> Vec<Found> {
    look(around).into_iter().filter(Found::is_something).collect()
}

/// Returns every system of the table with what is here of it.
pub(crate) fn look(around: &Around) -> Vec<Found> {
    let known = Registry::read(around);
    let files = around.settings();
    let texts: Vec<(PathBuf, String)> =
        files.iter().filter_map(|file| Some((file.path.clone(), text_of(file)?))).collect();
    let look = |system: &'static System| Found {
        system,
        plugins: known.plugins_of(system, &texts),
        hooks: texts.iter().filter_map(|(file, text)| hooks_in(system, file, text, around)).collect(),
        programs: if system.name == "wyren-node" { node_programs(&around.env) } else { Vec::new() },
        records: (system.records)(around)
            .into_iter()
            .filter(|record| record.path.symlink_metadata().is_ok())
            .collect(),
    };
    SYSTEMS.iter().map(look).collect()
}

fn text_of(file: &Settings) -> Option<String> {
    files::read_text_followed(&file.path, files::cap::SHARED).ok()
}

/// Returns whether a hook is a system's.
pub(crate) fn is_its_hook(system: &System, hook: &Value, around: &Around) -> bool {
    Command::of(hook, around.home().as_deref()).is_some_and(|command| (system.is_hook)(&command))
}

fn hooks_in(system: &System, file: &Path, text: &str, around: &Around) -> Option<Hooks> {
    let count = others::entries(text, |hook| is_its_hook(system, hook, around)).ok()?.len();
    let members = system.members.iter().copied().filter(|key| {
        let value = others::member(text, key).ok().flatten();
        value.is_some_and(|value| is_its_hook(system, &value, around))
    });
    let hooks = Hooks { file: file.to_owned(), count, members: members.collect() };
    (hooks.count > 0 || !hooks.members.is_empty()).then_some(hooks)
}

/// Another project, with the texts of its settings.
pub(crate) struct Other {
    folder: PathBuf,
    texts: Vec<String>,
}

impl Other {
    /// Returns the project if its settings have hooks of a system.
    pub(crate) fn with(&self, system: &System, around: &Around) -> Option<PathBuf> {
        let has = |text: &String| hooks_in(system, &self.folder, text, around).is_some();
        self.texts.iter().any(has).then(|| self.folder.clone())
    }
}

/// Returns the other projects of the client's list that have settings.
pub(crate) fn other_projects(around: &Around) -> Vec<Other> {
    let home = around.home().unwrap_or_default();
    let lists = [around.client().join(".claude.json"), home.join(".claude.json")];
    let mut folders: Vec<PathBuf> = lists
        .iter()
        .filter_map(|file| json(file))
        .filter_map(|list| Some(list["projects"].as_object()?.keys().map(PathBuf::from).collect::<Vec<_>>()))
        .flatten()
        .filter(|folder| folder.is_absolute() && *folder != around.project && *folder != home)
        .take(MAX_PROJECTS)
        .collect();
    folders.sort();
    folders.dedup();
    let other = |folder: PathBuf| {
        let files = ["settings.json", "settings.local.json"].map(|name| folder.join(".claude").join(name));
        let texts = files.iter().filter_map(|file| files::read_text_followed(file, files::cap::SHARED).ok());
        Other { texts: texts.collect(), folder }
    };
    folders.into_iter().map(other).filter(|other| !other.texts.is_empty()).collect()
}

/// What the client knows about plugins.
struct Registry {
    installed: Value,
    marketplaces: Value,
    client: PathBuf,
}

impl Registry {
    fn read(around: &Around) -> Self {
        let client = around.client();
        let read = |name: &str| json(&client.join("plugins").join(name)).unwrap_or_default();
        Self {
            installed: read("installed_plugins.json")["plugins"].take(),
            marketplaces: read("known_marketplaces.json"),
            client: client.clone(),
        }
    }

    fn plugins_of(&self, system: &System, texts: &[(PathBuf, String)]) -> Vec<Plugin> {
        let is_its = |id: &str| id.split_once('@').is_some_and(|(name, _)| name == system.plugin);
        let mut words: BTreeMap<String, bool> = BTreeMap::new();
        for (id, _) in self.installed.as_object().into_iter().flatten().filter(|(id, _)| is_its(id)) {
            words.insert(id.clone(), false);
        }
        // A file nearer to the project has the last word.
        for (_, text) in texts {
            let plugins = others::plugins(text).unwrap_or_default();
            words.extend(
                plugins.into_iter().filter(|(id, _)| is_its(id)).map(|(id, word)| (id, is_on(&word))),
            );
        }
        let plugins = words.into_iter().map(|(id, is_on)| {
            let folder = self.folder(&id);
            Plugin { id, folder, is_on }
        });
        plugins.filter(|plugin| (system.is_plugin)(plugin.folder.as_deref())).collect()
    }

    /// Returns the folder that the client runs a plugin from: that of a marketplace that is a folder, else its copy.
    fn folder(&self, id: &str) -> Option<PathBuf> {
        let (name, market) = id.split_once('@')?;
        let market = &self.marketplaces[market];
        let installed = &self.installed[id];
        let entry = installed.as_array().map_or(Some(installed), |entries| entries.last());
        let copy = entry.and_then(|entry| entry["installPath"].as_str()).map(PathBuf::from);
        if market["source"]["source"] != "directory" {
            return copy;
        }
        let place = market["source"]["path"].as_str().or_else(|| market["installLocation"].as_str());
        let Some(place) = place.map(PathBuf::from) else { return copy };
        let list = json(&place.join(".claude-plugin/marketplace.json")).unwrap_or_default();
        let row = list["plugins"].as_array().into_iter().flatten().find(|plugin| plugin["name"] == name);
        let source = row.and_then(|row| row["source"].as_str()).unwrap_or(".");
        Some(place.join(source.trim_start_matches("./")))
    }

    /// Returns every folder in which the client keeps, or kept, a version of a plugin.
    fn versions(&self, name: &str) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let is_its = |id: &&String| id.split_once('@').is_some_and(|(plugin, _)| plugin == name);
        let ids = self.installed.as_object().into_iter().flatten().map(|(id, _)| id).filter(is_its);
        folders.extend(ids.filter_map(|id| self.folder(id)));
        let plugins = self.client.join("plugins");
        folders.push(plugins.join(name));
        for market in folders_in(&plugins.join("cache")) {
            folders.extend(folders_in(&market.join(name)));
        }
        for market in folders_in(&plugins.join("marketplaces")) {
            folders.extend([market.join(name), market.join("plugins").join(name)]);
            if market.file_name().is_some_and(|market| market == name) {
                folders.push(market);
            }
        }
        folders
    }
}

/// Returns whether a word of the settings about a plugin has it on.
pub(crate) fn is_on(word: &Value) -> bool {
    !matches!(word, Value::Bool(false) | Value::Null)
}

/// Returns every folder in which the client keeps, or kept, a version of a plugin.
pub(crate) fn plugin_folders(around: &Around, name: &str) -> Vec<PathBuf> {
    Registry::read(around).versions(name)
}

/// Returns the folders that the scripts of a system's hooks are in.
pub(crate) fn hook_folders(system: &System, around: &Around) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for text in around.settings().iter().filter_map(text_of) {
        for entry in others::entries(&text, |hook| is_its_hook(system, hook, around)).unwrap_or_default() {
            let Some(command) = Command::of(&entry.hook, around.home().as_deref()) else { continue };
            let scripts = command.scripts(&["mjs", "js"]).map(|path| command.on_disk(path));
            folders.extend(scripts.filter_map(|path| path.parent().map(Path::to_owned)));
        }
    }
    folders.dedup();
    folders
}

/// Returns every `wyren` of the Node version on the PATH, in its order.
pub fn node_programs(env: &Env) -> Vec<PathBuf> {
    let names: &[&str] = if cfg!(windows) { &["wyren.cmd", "wyren.ps1", "wyren"] } else { &["wyren"] };
    let path = env.get("PATH").unwrap_or_default();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    // A folder may be on the PATH twice, also by another name.
    folders.retain(|folder| {
        let folder = files::canonical(folder);
        let is_new = !seen.contains(&folder);
        seen.push(folder);
        is_new
    });
    let programs = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    programs.filter(|program| program.is_absolute() && is_of_node(program)).collect()
}

/// Returns whether a program is the Node version's: its script, a file of its package, or what npm writes to start it.
/// A script for Node that a user wrote may have the same name.
pub fn is_of_node(program: &Path) -> bool {
    let file = files::canonical(program);
    if !file.is_file() {
        return false;
    }
    let names = file.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>();
    if names.last().is_some_and(|name| name == SCRIPT)
        || names.windows(PACKAGE.len()).any(|part| part == PACKAGE)
    {
        return true;
    }
    let mut beginning = Vec::new();
    let read = files::read_start(&file, BEGINNING, &mut beginning);
    let text = String::from_utf8_lossy(&beginning);
    // Where npm and its like make no links, they write a script that finds the program from its own folder.
    let is_written_by_npm = ["basedir", "%~dp0"].iter().any(|mark| text.contains(mark));
    read.is_ok() && is_written_by_npm && text.contains(SCRIPT)
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

pub(crate) fn json(file: &Path) -> Option<Value> {
    jsonc::value(&files::read_text_followed(file, files::cap::SHARED).ok()?)
}
