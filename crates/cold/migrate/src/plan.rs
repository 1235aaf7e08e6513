//! What a migration would do.

use crate::find::{self, Found, is_its_hook};
use crate::importers::{Importer, Look};
use crate::systems::System;
use crate::{Around, Result};
use install::link;
use install::settings::file;
use install::settings::others::{self, Entry};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The systems that are moved from; all of them when empty.
    pub only: Vec<String>,
    /// Systems whose hooks are switched off although Wyren does not replace them.
    pub disable: Vec<String>,
    /// Whether the Node version's `wyren` leaves the PATH.
    pub unlink: bool,
    /// Where a program named `claude-mem` could be, and what it would lead to.
    pub link: Option<Link>,
}

/// A program of an earlier system that Wyren can take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub place: PathBuf,
    /// `wyren`, which answers by the name that it is called by.
    pub program: PathBuf,
    /// Whether it is made; else it is only offered.
    pub is_due: bool,
}

/// What would be done.
#[derive(Debug, Default)]
pub struct Plan {
    pub parts: Vec<Part>,
    /// The settings files that would change.
    pub edits: Vec<Edit>,
    /// What could not be read, and is left alone.
    pub problems: Vec<String>,
}

/// What would be done about one system.
#[derive(Debug)]
pub struct Part {
    pub found: Found,
    pub imports: Vec<Import>,
    /// Whether its hooks are switched off.
    pub disables: bool,
    /// Programs that leave the PATH.
    pub unlinks: Vec<PathBuf>,
    /// A program of its name, where there is none yet.
    pub link: Option<Link>,
    /// Other projects whose settings have its hooks.
    pub elsewhere: Vec<PathBuf>,
}

/// Records that would be imported.
#[derive(Debug)]
pub struct Import {
    pub importer: &'static Importer,
    pub source: PathBuf,
    pub look: Look,
}

/// A settings file with hooks of earlier systems switched off.
#[derive(Debug)]
pub struct Edit {
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: String,
    pub hooks: Vec<Entry>,
    pub members: BTreeMap<String, Value>,
    /// Plugins, with the word about each before.
    pub plugins: BTreeMap<String, Option<Value>>,
    /// Whether the file is a project's, for everyone who works on it.
    pub is_shared: bool,
}

impl Plan {
    /// Looks at everything and changes nothing.
    pub fn of(around: &Around, choice: &Choice) -> Self {
        let mut plan = Self::default();
        let is_wanted = |found: &Found| {
            choice.only.is_empty() || choice.only.iter().any(|name| name == found.system.name)
        };
        let others = find::other_projects(around);
        for found in find::look(around).into_iter().filter(is_wanted) {
            let system = found.system;
            let elsewhere: Vec<PathBuf> =
                others.iter().filter_map(|other| other.with(system, around)).collect();
            if !found.is_something() && elsewhere.is_empty() {
                continue;
            }
            let disables = system.is_replaced() || choice.disable.iter().any(|name| name == system.name);
            let unlinks = if choice.unlink { found.programs.clone() } else { Vec::new() };
            let imports = plan.imports(around, system);
            let is_free = |link: &Link| {
                matches!(link::look(&link.place, &link.program), link::Link::Missing | link::Link::Older)
            };
            let link = choice.link.clone().filter(|link| system.has_program_of_its_name && is_free(link));
            plan.parts.push(Part { found, imports, disables, unlinks, link, elsewhere });
        }
        let switched: Vec<&Found> =
            plan.parts.iter().filter(|part| part.disables).map(|part| &part.found).collect();
        let (mut edits, mut problems) = (Vec::new(), Vec::new());
        for settings in around.settings() {
            match edit(around, &settings.path, settings.is_shared, &switched) {
                Ok(edit) => edits.extend(edit),
                Err(error) => problems.push(error.to_string()),
            }
        }
        plan.edits = edits;
        plan.problems.extend(problems);
        plan
    }

    fn imports(&mut self, around: &Around, system: &'static System) -> Vec<Import> {
        let mut imports = Vec::new();
        for importer in system.importers {
            for source in (importer.sources)(around) {
                match (importer.look)(around, &source) {
                    Ok(look) => imports.push(Import { importer, source, look }),
                    Err(error) => {
                        self.problems.push(format!("could not import {}: {error}", source.display()))
                    }
                }
            }
        }
        imports
    }

    /// Returns whether there is nothing to do.
    pub fn is_nothing(&self) -> bool {
        let is_idle = |part: &Part| {
            part.unlinks.is_empty()
                && part.link.as_ref().is_none_or(|link| !link.is_due)
                && part.imports.iter().all(|import| import.look.new == 0)
        };
        self.edits.is_empty() && self.parts.iter().all(is_idle)
    }
}

/// Returns the change to a settings file, if there is one to make.
fn edit(around: &Around, path: &Path, is_shared: bool, switched: &[&Found]) -> Result<Option<Edit>> {
    let before = file::read(path)?;
    let text = before.clone().unwrap_or_default();
    let refused = |error| file::Error::Refused(path.to_owned(), error);
    let is_theirs = |hook: &Value| switched.iter().any(|found| is_its_hook(found.system, hook, around));
    let hooks = others::entries(&text, is_theirs).map_err(refused)?;
    let mut after = others::without_entries(&text, is_theirs).map_err(refused)?;
    let mut members = BTreeMap::new();
    let keys: BTreeSet<&str> = switched.iter().flat_map(|found| found.system.members).copied().collect();
    for key in keys {
        if let Some(value) = others::member(&after, key).map_err(refused)?.filter(is_theirs) {
            after = others::without_member(&after, key).map_err(refused)?;
            members.insert(key.to_owned(), value);
        }
    }
    let mut plugins = BTreeMap::new();
    let words = others::plugins(&after).map_err(refused)?;
    for plugin in switched.iter().flat_map(|found| &found.plugins).filter(|plugin| plugin.is_on) {
        let word = words.get(&plugin.id);
        // A project's shared file stays as it is; the user's own for that project has the last word.
        let is_due = match word {
            Some(word) => !is_shared && find::is_on(word),
            None => path == around.local_settings() && is_on_for_the_project(around, &plugin.id),
        };
        if is_due {
            after = others::with_plugin(&after, &plugin.id, Some(&json!(false))).map_err(refused)?;
            plugins.insert(plugin.id.clone(), word.cloned());
        }
    }
    if hooks.is_empty() && members.is_empty() && plugins.is_empty() {
        return Ok(None);
    }
    Ok(Some(Edit { path: path.to_owned(), before, after, hooks, members, plugins, is_shared }))
}

fn is_on_for_the_project(around: &Around, id: &str) -> bool {
    let shared = around.settings().into_iter().filter(|settings| settings.is_shared);
    let mut texts = shared.filter_map(|settings| file::read(&settings.path).ok().flatten());
    texts.any(|text| others::plugins(&text).unwrap_or_default().get(id).is_some_and(find::is_on))
}
