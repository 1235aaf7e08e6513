//! How Claude Code runs the hooks of Wyren: by the plugin, or by a `settings.json` that a person wrote.
//!
//! Reads the client's own files and changes none. What they do not say is not guessed: a session that was started with
//! `--plugin-dir` is registered nowhere.

use crate::terminal;
use anyhow::Result;
use base::{Env, Paths, Timestamp, files};
use install::jsonc;
use install::ours::Surroundings;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What plugins of this name are called in the client's files: `wyren@<marketplace>`.
const PLUGIN: &str = "wyren@";

/// How often a plugin folder that is gone is named.
const REMIND_MILLIS: u64 = 24 * 3_600_000;

/// The wiring of one user in one folder.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    /// The plugins of ours that are enabled, by id, with the folder that the client runs each from.
    pub(crate) plugins: BTreeMap<String, PathBuf>,
    /// The programs of ours that settings files name, by file.
    pub(crate) by_hand: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// How many hooks of ours settings files have.
    pub(crate) hooks: usize,
    /// The settings files that only people and editors take for JSON, which the client passes over.
    pub(crate) unread: Vec<Unread>,
}

/// A settings file that the client does not read.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) file: PathBuf,
    /// The first line that it does not read.
    pub(crate) line: usize,
    /// Whether the file has hooks of ours, or the plugin enabled.
    pub(crate) is_of_us: bool,
}

impl Wiring {
    /// Reads the client's files for a session in `cwd`.
    pub(crate) fn read(env: &Env, paths: &Paths, cwd: &Path) -> Self {
        let Some(client) = paths.client() else { return Self::default() };
        let project = project(cwd);
        let mut places = vec![client.join("settings.json")];
        places
            .extend(["settings.json", "settings.local.json"].map(|name| project.join(".claude").join(name)));
        let (mut enabled, mut by_hand) = (BTreeMap::new(), BTreeMap::new());
        let (mut hooks, mut unread) = (0, Vec::new());
        for file in places {
            let Ok(text) = files::read_text_followed(&file, files::cap::SHARED) else { continue };
            let settings = jsonc::value(&text).unwrap_or_default();
            let around = surroundings(env, &project);
            let programs = around.programs(&settings);
            if let Some(line) = jsonc::line_beyond_json(&text) {
                let has_plugin = settings["enabledPlugins"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .any(|(id, _)| id.starts_with(PLUGIN));
                unread.push(Unread {
                    file: file.clone(),
                    line,
                    is_of_us: has_plugin || !programs.is_empty(),
                });
            }
            // A file nearer to the project has the last word.
            for (id, is_on) in settings["enabledPlugins"].as_object().into_iter().flatten() {
                if id.starts_with(PLUGIN) {
                    enabled.insert(id.clone(), *is_on == Value::Bool(true));
                }
            }
            if !programs.is_empty() {
                hooks += install::settings::count(&text, &around);
                by_hand.insert(file, programs);
            }
        }
        let on = enabled.into_iter().filter(|(_, is_on)| *is_on).map(|(id, _)| id);
        let plugins = on.filter_map(|id| Some((id.clone(), plugin_folder(&client, &id)?)));
        let plugins = plugins.filter(|(_, folder)| !is_of_the_node_version(folder)).collect();
        Self { plugins, by_hand, hooks, unread }
    }

    /// Returns the plugins whose folder is gone.
    pub(crate) fn gone(&self) -> impl Iterator<Item = (&str, &Path)> {
        let plugins = self.plugins.iter().map(|(id, folder)| (id.as_str(), folder.as_path()));
        plugins.filter(|(_, folder)| !folder.is_dir())
    }
}

/// Returns the settings file that switches all hooks off for a session in `cwd`.
pub(crate) fn switched_off(paths: &Paths, cwd: &Path) -> Option<PathBuf> {
    let project = project(cwd).join(".claude");
    let files = [project.join("settings.local.json"), project.join("settings.json")];
    // The file nearest to the project that says something about it has the last word.
    let files = files.into_iter().chain(paths.client().map(|client| client.join("settings.json")));
    let said = files.filter_map(|file| Some((json(&file)?["disableAllHooks"].as_bool()?, file)));
    said.into_iter().next().and_then(|(is_off, file)| is_off.then_some(file))
}

/// Returns the plugins of ours that the client has installed, enabled or not.
pub(crate) fn installed(client: &Path) -> Vec<String> {
    let installed = json(&client.join("plugins/installed_plugins.json")).unwrap_or_default();
    let ids = installed["plugins"].as_object().into_iter().flatten().map(|(id, _)| id);
    let is_ours = |id: &&String| {
        let folder = plugin_folder(client, id);
        id.starts_with(PLUGIN) && !folder.is_some_and(|folder| is_of_the_node_version(&folder))
    };
    ids.filter(is_ours).cloned().collect()
}

/// Returns whether a plugin called like ours is the earlier one, which `wyren migrate` knows.
fn is_of_the_node_version(folder: &Path) -> bool {
    folder.join("hooks/run-hook.cmd").is_file()
}

/// Returns the version of a plugin that the client's copy of its marketplace lists.
pub(crate) fn offered_version(client: &Path, id: &str, marketplace: &str) -> Option<String> {
    let known = json(&client.join("plugins/known_marketplaces.json"))?;
    let place = PathBuf::from(known[marketplace]["installLocation"].as_str()?);
    let listed = json(&place.join(".claude-plugin/marketplace.json"))?;
    let name = id.split('@').next()?;
    let plugin = listed["plugins"].as_array()?.iter().find(|plugin| plugin["name"] == name)?;
    plugin["version"].as_str().map(str::to_owned)
}

/// Says on standard error that the plugin's folder is gone, once a day at most.
pub(crate) fn warn_of_gone_plugin(env: &Env, paths: &Paths) -> Result<()> {
    let wiring = Wiring::read(env, paths, &std::env::current_dir()?);
    let Some((id, folder)) = wiring.gone().next() else { return Ok(()) };
    let mark = paths.cache().join("plugin-gone");
    let (now, folder) = (Timestamp::now(), folder.display().to_string());
    let last = files::read_if_there(&mark).ok().flatten().and_then(|mark| String::from_utf8(mark).ok());
    let is_known = last.as_deref().and_then(|last| last.split_once(' ')).is_some_and(|(at, named)| {
        let at = at.parse().map(Timestamp::from_millis);
        named == folder && at.is_ok_and(|at| now.millis_since(at) < REMIND_MILLIS)
    });
    if is_known {
        return Ok(());
    }
    writeln!(terminal::errors(), "wyren: {}. {}", gone(id, &folder), what_to_do(id))?;
    if paths.data().is_dir() {
        files::write_atomic(&mark, format!("{} {folder}", now.millis()).as_bytes())?;
    }
    Ok(())
}

/// Returns what is wrong when a plugin's folder is gone.
pub(crate) fn gone(id: &str, folder: &str) -> String {
    let folder = text::sanitize::one_line(folder, 400);
    format!("the folder of the plugin {id} is gone ({folder}), so Claude Code runs without Wyren")
}

/// Returns what helps when a plugin's folder is gone.
pub(crate) fn what_to_do(id: &str) -> String {
    format!(
        "Bring the folder back, install the plugin from another one (claude plugin marketplace add FOLDER), or remove it: claude plugin uninstall {id}"
    )
}

/// Returns the folder that a session in `cwd` takes its settings from: the nearest one with `.claude/` in the repository.
pub(crate) fn project(cwd: &Path) -> PathBuf {
    for folder in cwd.ancestors() {
        if folder.join(".claude").is_dir() || folder.join(".git").exists() {
            return folder.to_owned();
        }
    }
    cwd.to_owned()
}

/// Returns the folder that the client runs a plugin from: the one that a marketplace in a folder names, else the client's copy.
fn plugin_folder(client: &Path, id: &str) -> Option<PathBuf> {
    if let Some(folder) = folder_in_place(client, id) {
        return Some(folder);
    }
    let installed = json(&client.join("plugins/installed_plugins.json"))?;
    let installed = &installed["plugins"][id];
    let entry = installed.as_array().map_or(Some(installed), |entries| entries.last())?;
    entry["installPath"].as_str().map(PathBuf::from)
}

/// Returns the folder that the client runs a plugin from in place: that of a marketplace that is a folder and has the plugin in
/// itself. A checkout of Wyren is such a marketplace too, but its plugin is on npm.
pub(crate) fn folder_in_place(client: &Path, id: &str) -> Option<PathBuf> {
    let (name, market) = id.split_once('@')?;
    let known = json(&client.join("plugins/known_marketplaces.json"))?;
    let market = &known[market];
    if market["source"]["source"] != "directory" {
        return None;
    }
    let place = market["source"]["path"].as_str().or_else(|| market["installLocation"].as_str())?;
    let list = json(&Path::new(place).join(".claude-plugin/marketplace.json")).unwrap_or_default();
    let row = list["plugins"].as_array().into_iter().flatten().find(|plugin| plugin["name"] == name);
    let source = match row.map(|row| &row["source"]) {
        Some(Value::Object(_)) => return None,
        Some(Value::String(source)) => source,
        _ => "",
    };
    // Collected anew, so that nothing of `./` is left.
    Some(Path::new(place).join(source).components().filter(|part| part.as_os_str() != ".").collect())
}

/// Returns what a command in the settings of a project may begin with.
pub(crate) fn surroundings(env: &Env, project: &Path) -> Surroundings {
    let home = base::system::home(env);
    Surroundings { home, project: project.to_owned(), agent: None }
}

pub(crate) fn json(file: &Path) -> Option<Value> {
    jsonc::value(&files::read_text_followed(file, files::cap::SHARED).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["client/plugins", "project/.claude", "wyren/bin", "wyren/hooks"] {
                fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            fs::write(folder.path().join("wyren/hooks/hooks.json"), "{}").unwrap();
            for program in ["wyren", "stop-distill", "session-end"] {
                fs::write(folder.path().join("wyren/bin").join(program), "").unwrap();
            }
            Self { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, contents: &Value) {
            fs::write(self.path(name), contents.to_string()).unwrap();
        }

        fn wiring(&self) -> Wiring {
            let env = Env::fixed([
                ("CLAUDE_CONFIG_DIR", self.path("client")),
                ("WYREN_DATA_DIR", self.path("data")),
                ("HOME", self.path("")),
            ]);
            Wiring::read(&env, &Paths::of(&env), &self.path("project"))
        }

        fn enable(&self, source: &Value, install_path: &Path) {
            self.write(
                "client/settings.json",
                &json!({"enabledPlugins": {"wyren@wyren": true, "other@x": true}}),
            );
            self.write("client/plugins/known_marketplaces.json", &json!({"wyren": {"source": source}}));
            let installed =
                json!({"version": 2, "plugins": {"wyren@wyren": [{"installPath": install_path}]}});
            self.write("client/plugins/installed_plugins.json", &installed);
        }
    }

    fn hook(command: &str) -> Value {
        json!([{"hooks": [{"type": "command", "command": command}]}])
    }

    #[test]
    fn a_marketplace_that_is_a_folder_is_run_in_place_and_others_from_the_cache() {
        let place = Place::new();
        let (folder, cache) = (place.path("wyren"), place.path("client/plugins/cache/wyren"));
        place.enable(&json!({"source": "directory", "path": folder}), &cache);
        assert_eq!(place.wiring().plugins, BTreeMap::from([("wyren@wyren".to_owned(), folder.clone())]));
        assert_eq!(place.wiring().gone().count(), 0);
        place.enable(&json!({"source": "github", "repo": "a/b"}), &cache);
        assert_eq!(place.wiring().gone().collect::<Vec<_>>(), [("wyren@wyren", cache.as_path())]);
    }

    #[test]
    fn a_folder_of_a_marketplace_whose_plugin_is_elsewhere_is_not_the_plugin() {
        let place = Place::new();
        let (folder, cache) = (place.path("wyren"), place.path("client/plugins/cache/wyren"));
        place.enable(&json!({"source": "directory", "path": folder}), &cache);
        fs::create_dir_all(folder.join(".claude-plugin")).unwrap();
        for (source, expected) in [
            (json!({"source": "npm", "package": "@wyren/plugin"}), cache.clone()),
            (json!("./plugins/wyren"), folder.join("plugins/wyren")),
            (json!("./"), folder.clone()),
        ] {
            let list =
                json!({"plugins": [{"name": "other", "source": "./x"}, {"name": "wyren", "source": source}]});
            place.write("wyren/.claude-plugin/marketplace.json", &list);
            let wiring = place.wiring();
            assert_eq!(wiring.plugins["wyren@wyren"].as_os_str(), expected.as_os_str(), "{source}");
        }
    }

    #[test]
    fn a_plugin_that_the_project_disables_is_not_wired() {
        let place = Place::new();
        place.enable(&json!({"source": "directory", "path": "/nowhere"}), Path::new("/nowhere"));
        assert_eq!(place.wiring().gone().count(), 1);
        let off = json!({"enabledPlugins": {"wyren@wyren": false}});
        place.write("project/.claude/settings.local.json", &off);
        assert!(place.wiring().plugins.is_empty());
    }

    #[test]
    fn hooks_of_ours_are_found_in_a_settings_file_and_those_of_others_are_not() {
        let place = Place::new();
        let stop = place.path("wyren/bin/stop-distill");
        let quoted = format!("\"{}\"", place.path("wyren/bin/session-end").display());
        let lost = place.path("old/bin/tool-record");
        fs::create_dir_all(place.path("scripts")).unwrap();
        fs::write(place.path("scripts/prompt-sync"), "").unwrap();
        place.write(
            "project/.claude/settings.json",
            &json!({"hooks": {
                "Stop": hook(&stop.to_string_lossy()),
                "SessionEnd": hook(&quoted),
                "PostToolUse": hook(&lost.to_string_lossy()),
                "UserPromptSubmit": hook(&place.path("scripts/prompt-sync").to_string_lossy()),
                "SessionStart": hook("echo stop-distill"),
                "PreCompact": hook("~/wyren/bin/stop-distill"),
            }}),
        );
        let expected = BTreeSet::from([stop, place.path("wyren/bin/session-end"), lost]);
        assert_eq!(
            place.wiring().by_hand,
            BTreeMap::from([(place.path("project/.claude/settings.json"), expected)])
        );
    }

    #[test]
    fn a_settings_file_that_the_client_does_not_read_is_named_by_its_line() {
        let place = Place::new();
        let stop = place.path("wyren/bin/stop-distill").to_string_lossy().into_owned();
        let hooks = json!({"hooks": {"Stop": hook(&stop), "SessionEnd": hook(&stop)}}).to_string();
        place.write("client/settings.json", &json!({}));
        fs::write(place.path("project/.claude/settings.json"), format!("// mine\n{hooks}")).unwrap();
        fs::write(place.path("project/.claude/settings.local.json"), "{\n\"model\": \"opus\",\n}").unwrap();
        let wiring = place.wiring();
        let unread: Vec<_> = wiring.unread.iter().map(|unread| (unread.line, unread.is_of_us)).collect();
        assert_eq!((unread, wiring.hooks), (vec![(1, true), (3, false)], 2));
    }

    #[test]
    fn files_that_are_no_settings_wire_nothing() {
        let place = Place::new();
        assert!(place.wiring().plugins.is_empty() && place.wiring().by_hand.is_empty());
        fs::write(place.path("client/settings.json"), "{").unwrap();
        place.write("project/.claude/settings.json", &json!({"hooks": [1], "enabledPlugins": 3}));
        assert!(place.wiring().plugins.is_empty() && place.wiring().by_hand.is_empty());
    }
}
