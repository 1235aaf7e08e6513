//! The plugin in the client's registry, by the client's own program.

use super::{Client, Scope, say, show_change};
use crate::bounded;
use crate::claude::program;
use crate::person;
use crate::terminal::{self, DIM, SUCCESS, WARNING, counted};
use crate::wired::{self, Wiring};
use anyhow::{Context as _, Result, bail};
use base::paths::with_tilde;
use base::{Env, Paths, Timestamp, files};
use install::jsonc;
use install::settings::file;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use text::sanitize;

/// The marketplace in the plugin's folder.
const MARKETPLACE: &str = "wyren";

/// The plugin in that marketplace.
const PLUGIN: &str = "wyren@wyren";

/// How much of the client's words is shown, in characters.
const SHOWN_CHARS: usize = 400;

/// How long one run of `claude plugin` may take: it may fetch a marketplace and packages.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Runs `claude plugin`; fails with the client's words.
fn run(program: &Path, paths: &Paths, arguments: &[&OsStr]) -> Result<()> {
    run_in(None, program, paths, arguments, PATIENCE)
}

/// Runs `claude plugin` in a folder, for a while at most.
fn run_in(
    folder: Option<&Path>,
    program: &Path,
    paths: &Paths,
    arguments: &[&OsStr],
    patience: Duration,
) -> Result<()> {
    let spinner = terminal::spinner("waiting for Claude Code");
    let mut command = Command::new(program);
    // Only for another folder: with its own named, the client looks for its state elsewhere.
    if let Some(folder) = paths.named_client() {
        command.env("CLAUDE_CONFIG_DIR", folder);
    }
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = bounded::run(command.arg("plugin").args(arguments), patience);
    spinner.finish_and_clear();
    let shown = arguments.join(OsStr::new(" "));
    let shown = shown.to_string_lossy();
    let Some(output) = output.with_context(|| format!("could not start {}", program.display()))? else {
        let limit = match patience.as_secs() {
            seconds @ 0..60 => counted(seconds, "second", "seconds"),
            seconds => counted(seconds / 60, "minute", "minutes"),
        };
        bail!(
            "`claude plugin {shown}` did not end within {limit} and was stopped. Run it yourself to see why"
        )
    };
    if output.status.success() {
        return Ok(());
    }
    let words = [output.stderr, output.stdout].concat();
    let words = sanitize::one_line(String::from_utf8_lossy(&words).trim(), SHOWN_CHARS);
    bail!("`claude plugin {shown}` failed: {words}")
}

/// Shows what [`register`] would do; returns whether that is anything.
pub(in crate::commands) fn show_registration(
    client: &Client,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<bool> {
    if is_enabled(plugin, env, paths) {
        return Ok(false);
    }
    if program(env, paths).is_none() {
        return say_no_client(env).map(|()| false);
    }
    say(format_args!("run claude plugin marketplace add '{}'", plugin.display()))?;
    say(format_args!("run claude plugin install {PLUGIN}"))?;
    show_change(&file::registration(&client.settings(Scope::User), plugin)?)?;
    Ok(true)
}

fn say_no_client(env: &Env) -> Result<()> {
    let wyren = person::wyren(env);
    say(format_args!(
        "{WARNING}Claude Code does not run Wyren yet{WARNING:#}: there is no `claude` on the PATH."
    ))?;
    say(format_args!(
        "Next: install Claude Code and run `{wyren} install` again. With an editor's extension alone: {wyren} install \
         --settings"
    ))
}

fn is_enabled(plugin: &Path, env: &Env, paths: &Paths) -> bool {
    let wiring = std::env::current_dir().map(|cwd| Wiring::read(env, paths, &cwd)).unwrap_or_default();
    wiring.plugins.get(PLUGIN).is_some_and(|folder| folder == plugin)
}

/// Fails where the client could not be told about the plugin: it neither reads nor changes settings with comments.
pub(in crate::commands) fn check(plugin: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let Some(settings) = paths.client().map(|client| client.join("settings.json")) else { return Ok(()) };
    let line = file::text(&settings)?.as_deref().and_then(jsonc::line_beyond_json);
    match line.filter(|_| program(env, paths).is_some() && !is_enabled(plugin, env, paths)) {
        None => Ok(()),
        Some(line) => bail!(
            "nothing was installed: {} has a comment, a trailing comma or a mistake in line {line}, and Claude Code does not \
             read such a file. Correct it, and try again",
            settings.display()
        ),
    }
}

/// Has the client run the plugin in a folder; returns whether it does. Without the client, says what to type once it is there.
pub(in crate::commands) fn register(
    client: &Client,
    plugin: &Path,
    env: &Env,
    paths: &Paths,
) -> Result<bool> {
    if is_enabled(plugin, env, paths) {
        say(format_args!("Claude Code has the plugin {PLUGIN} already."))?;
        return Ok(true);
    }
    let Some(program) = program(env, paths) else {
        return say_no_client(env).map(|()| false);
    };
    // What a new version of the client changes in the settings at its first start is not about us.
    run(&program, paths, &["list".as_ref()])?;
    let settings = client.settings(Scope::User);
    let before = file::text(&settings)?;
    let (now, mode) = (Timestamp::now(), Scope::User.mode());
    // The client writes the file anew, and may fail or be ended after that.
    let backup = before.as_deref().map(|text| file::back_up(&settings, text, now, mode)).transpose()?;
    let registered = run_registration(&program, plugin, env, paths);
    if registered.is_ok() {
        say(format_args!("{SUCCESS}Installed{SUCCESS:#} the plugin {PLUGIN} in Claude Code"))?;
    }
    let laid_out = lay_out(&settings, before, backup, plugin, env);
    registered?;
    laid_out?;
    Ok(true)
}

fn run_registration(program: &Path, plugin: &Path, env: &Env, paths: &Paths) -> Result<()> {
    run(program, paths, &["marketplace".as_ref(), "add".as_ref(), plugin.as_os_str()])?;
    run(program, paths, &["install".as_ref(), PLUGIN.as_ref()])?;
    if !is_enabled(plugin, env, paths) {
        // It was installed before, and disabled.
        run(program, paths, &["enable".as_ref(), PLUGIN.as_ref()])?;
    }
    Ok(())
}

/// Gives the settings their layout back, and names the backup unless nothing changed.
fn lay_out(
    settings: &Path,
    before: Option<String>,
    backup: Option<PathBuf>,
    plugin: &Path,
    env: &Env,
) -> Result<()> {
    if let Some(change) = file::registered(settings, before.clone(), plugin)? {
        file::apply(&change, Timestamp::now(), Scope::User.mode())?;
    }
    let (Some(before), Some(backup)) = (before, backup) else { return Ok(()) };
    if !file::drop_needless(&backup, settings, &before)? {
        let [settings, backup] = [settings, &backup].map(|path| with_tilde(path, env));
        say(format_args!("{DIM}{settings} as it was: {backup}{DIM:#}"))?;
    }
    Ok(())
}

/// Has the client fetch a marketplace anew, and update a plugin from it.
pub(in crate::commands) fn update(id: &str, marketplace: &str, env: &Env, paths: &Paths) -> Result<()> {
    let Some(program) = program(env, paths) else {
        bail!("Claude Code was not found. Nothing was changed. Run: claude plugin update {id}")
    };
    run(&program, paths, &["marketplace".as_ref(), "update".as_ref(), marketplace.as_ref()])?;
    run(&program, paths, &["update".as_ref(), id.as_ref()])
}

/// Returns whether the client knows the plugin or its marketplace.
pub(in crate::commands) fn is_known(client: &Path, paths: &Paths) -> bool {
    !Removal::of(client, paths).is_nothing()
}

/// One run of `claude plugin` that takes something out.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// The folder to run it in: the client looks for a project's settings from there.
    folder: PathBuf,
    arguments: Vec<String>,
}

/// What there is to take out of the client.
#[derive(Debug, Default, PartialEq, Eq)]
struct Removal {
    steps: Vec<Step>,
    /// Settings that a project shares, which switch a plugin of ours on, with the id.
    shared: Vec<(PathBuf, String)>,
    /// The ids of the plugins that go.
    ids: Vec<String>,
}

impl Removal {
    fn of(client: &Path, paths: &Paths) -> Self {
        let registry = |name| wired::json(&client.join("plugins").join(name)).unwrap_or_default();
        let [installed, known] = ["installed_plugins.json", "known_marketplaces.json"].map(registry);
        let mut removal = Self { ids: wired::installed(client), ..Self::default() };
        let step = |folder: &Path, arguments: &[&str]| Step {
            folder: folder.to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        };
        for id in &removal.ids {
            let entries = &installed["plugins"][id];
            for entry in entries.as_array().map_or(std::slice::from_ref(entries), Vec::as_slice) {
                let project = entry["projectPath"].as_str().map(Path::new);
                match (entry["scope"].as_str(), project) {
                    (Some("project"), Some(project)) => {
                        removal.shared.push((project.join(".claude/settings.json"), id.clone()));
                    }
                    // Without the folder there are no settings of it.
                    (Some("local"), Some(project)) if !project.is_dir() => {}
                    (Some("local"), Some(project)) => {
                        removal.steps.push(step(project, &["uninstall", id, "--scope", "local"]));
                    }
                    _ => removal.steps.push(step(client, &["uninstall", id])),
                }
            }
        }
        let ids = installed["plugins"].as_object().into_iter().flatten().map(|(id, _)| id);
        let mut others = ids.filter(|id| !removal.ids.contains(id));
        let is_used = others.any(|id| id.split_once('@').is_some_and(|(_, market)| market == MARKETPLACE));
        if !is_used && is_our_marketplace(&known[MARKETPLACE], &removal.ids, paths) {
            removal.steps.push(step(client, &["marketplace", "remove", MARKETPLACE]));
        }
        removal.shared.retain(|(settings, _)| settings.is_file());
        removal
    }

    fn is_nothing(&self) -> bool {
        self.steps.is_empty() && self.shared.is_empty()
    }
}

/// Returns whether a marketplace of our name is ours: the plugin's folder, or one that offers nothing but Wyren. A folder that
/// is gone tells no more; then it is ours if our plugin came from it.
fn is_our_marketplace(known: &Value, ids: &[String], paths: &Paths) -> bool {
    if !known.is_object() {
        return false;
    }
    let place = known["source"]["path"].as_str().or_else(|| known["installLocation"].as_str());
    let Some(place) = place.map(Path::new) else { return false };
    if place == paths.installed_plugin() {
        return true;
    }
    let Some(listed) = wired::json(&place.join(".claude-plugin/marketplace.json")) else {
        return !place.exists() && ids.iter().any(|id| id == PLUGIN);
    };
    let mut plugins = listed["plugins"].as_array().into_iter().flatten().peekable();
    plugins.peek().is_some() && plugins.all(|plugin| plugin["name"] == "wyren")
}

impl Step {
    fn shown(&self) -> String {
        let words = format!("claude plugin {}", self.arguments.join(" "));
        let is_of_project = self.arguments.iter().any(|word| word == "--scope");
        if is_of_project { format!("{words} (in {})", self.folder.display()) } else { words }
    }
}

/// Names settings that a project shares, which are not ours to change.
fn show_shared(shared: &[(PathBuf, String)]) -> Result<()> {
    for (settings, id) in shared {
        let project = settings.parent().and_then(Path::parent).unwrap_or(settings);
        say(format_args!(
            "{WARNING}Left alone{WARNING:#}: {} switches {id} on for everyone in the project. To take it out there, remove \
             that line, or run in {}: claude plugin uninstall {id} --scope project",
            settings.display(),
            project.display()
        ))?;
    }
    Ok(())
}

/// Shows the commands that [`unregister`] would run.
pub(in crate::commands) fn show_removal(client: &Path, paths: &Paths) -> Result<()> {
    let removal = Removal::of(client, paths);
    for step in &removal.steps {
        say(format_args!("run {}", step.shown()))?;
    }
    show_shared(&removal.shared)
}

/// Takes the plugin out of the client; returns what could not be done.
pub(in crate::commands) fn unregister(client: &Path, env: &Env, paths: &Paths) -> Result<Vec<String>> {
    let removal = Removal::of(client, paths);
    if removal.is_nothing() {
        return Ok(Vec::new());
    }
    show_shared(&removal.shared)?;
    let by_hand = |steps: &[Step]| steps.iter().map(Step::shown).collect::<Vec<_>>().join("; ");
    let Some(program) = program(env, paths).filter(|_| !removal.steps.is_empty()) else {
        let commands = by_hand(&removal.steps);
        return Ok(match commands.is_empty() {
            true => Vec::new(),
            false => vec![format!("Claude Code was not found, and has the plugin still. Run: {commands}")],
        });
    };
    for (at, step) in removal.steps.iter().enumerate() {
        let arguments: Vec<&OsStr> = step.arguments.iter().map(AsRef::as_ref).collect();
        // Without its marketplace, a plugin that is still installed could not be taken out any more.
        if let Err(error) = run_in(Some(&step.folder), &program, paths, &arguments, PATIENCE) {
            let rest = by_hand(&removal.steps[at..]);
            return Ok(vec![format!("{error:#}. Claude Code has the plugin still. To take it out: {rest}")]);
        }
        let (what, name) = match &*step.arguments {
            [marketplace, _, name] if marketplace == "marketplace" => ("marketplace", name.as_str()),
            arguments => ("plugin", arguments.get(1).map_or("", String::as_str)),
        };
        say(format_args!("{SUCCESS}Removed{SUCCESS:#} the {what} {name} from Claude Code"))?;
    }
    clear(&client.join("plugins"), &removal.ids);
    Ok(Vec::new())
}

/// Removes what the client leaves behind: its copies of the plugins, and registries and folders that have nothing in them.
fn clear(plugins: &Path, ids: &[String]) {
    for marketplace in ids.iter().filter_map(|id| id.split_once('@')).map(|(_, marketplace)| marketplace) {
        let folder = plugins.join("cache").join(marketplace);
        // Marked as unused; the client would remove it some day.
        let _ = std::fs::remove_dir_all(folder.join("wyren"));
        // Only one that is empty goes.
        let _ = std::fs::remove_dir(folder);
    }
    // What the copies were made from.
    let _ = install::npm::remove(&plugins.join("npm-cache"));
    for (name, nothing) in [
        ("known_marketplaces.json", json!({})),
        ("installed_plugins.json", json!({"version": 2, "plugins": {}})),
    ] {
        let path = plugins.join(name);
        let text = files::read_capped(&path, files::cap::SHARED).unwrap_or_default();
        if serde_json::from_slice::<Value>(&text).is_ok_and(|registry| registry == nothing) {
            let _ = std::fs::remove_file(path);
        }
    }
    for folder in ["cache", "data", "marketplaces", ""] {
        // Only one that is empty goes.
        let _ = std::fs::remove_dir(plugins.join(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["client/plugins", "project/.claude", "market/.claude-plugin", "data"] {
                fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            let place = Self { folder };
            place.know("market", &["wyren"]);
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn paths(&self) -> Paths {
            Paths::of(&Env::fixed([
                ("CLAUDE_CONFIG_DIR", self.path("client")),
                ("WYREN_DATA_DIR", self.path("data")),
                ("HOME", self.path("")),
            ]))
        }

        /// Lets the client know a marketplace called `wyren` in a folder, with these plugins.
        fn know(&self, folder: &str, plugins: &[&str]) {
            let place = self.path(folder);
            let known = json!({"wyren": {"source": {"source": "directory", "path": place}, "installLocation": place}});
            fs::write(self.path("client/plugins/known_marketplaces.json"), known.to_string()).unwrap();
            let plugins: Vec<Value> = plugins.iter().map(|name| json!({"name": name})).collect();
            let listed = json!({"name": "wyren", "plugins": plugins}).to_string();
            fs::write(self.path("market/.claude-plugin/marketplace.json"), listed).unwrap();
        }

        fn install(&self, plugins: Value) {
            let installed = json!({"version": 2, "plugins": plugins});
            fs::write(self.path("client/plugins/installed_plugins.json"), installed.to_string()).unwrap();
        }

        fn commands(&self) -> Vec<String> {
            let removal = Removal::of(&self.path("client"), &self.paths());
            removal.steps.iter().map(|step| step.arguments.join(" ")).collect()
        }
    }

    #[test]
    fn the_plugin_goes_with_its_marketplace() {
        let place = Place::new();
        place.install(json!({"wyren@wyren": [{"scope": "user"}], "other@elsewhere": [{"scope": "user"}]}));
        assert_eq!(place.commands(), ["uninstall wyren@wyren", "marketplace remove wyren"]);
        place.know("data/plugin", &[]);
        assert_eq!(place.commands(), ["uninstall wyren@wyren", "marketplace remove wyren"]);
        place.know("gone", &[]);
        assert_eq!(place.commands(), ["uninstall wyren@wyren", "marketplace remove wyren"]);
    }

    #[test]
    fn a_marketplace_of_another_that_is_called_like_ours_stays() {
        let place = Place::new();
        place.install(json!({"other@wyren": [{"scope": "user"}]}));
        assert_eq!(place.commands(), Vec::<String>::new());
        place.install(json!({}));
        place.know("market", &["other"]);
        assert_eq!(place.commands(), Vec::<String>::new());
        place.know("gone", &[]);
        assert_eq!(place.commands(), Vec::<String>::new());
    }

    #[test]
    fn what_was_installed_from_our_marketplace_besides_the_plugin_keeps_it() {
        let place = Place::new();
        place.install(json!({"wyren@wyren": [{"scope": "user"}], "other@wyren": [{"scope": "user"}]}));
        assert_eq!(place.commands(), ["uninstall wyren@wyren"]);
    }

    #[test]
    fn settings_of_one_project_are_changed_from_there_and_shared_ones_are_only_named() {
        let place = Place::new();
        let (project, gone) = (place.path("project"), place.path("gone"));
        let shared = project.join(".claude/settings.json");
        fs::write(&shared, "{}").unwrap();
        place.install(json!({"wyren@wyren": [
            {"scope": "project", "projectPath": project},
            {"scope": "project", "projectPath": gone},
            {"scope": "local", "projectPath": project},
            {"scope": "local", "projectPath": gone},
        ]}));
        let removal = Removal::of(&place.path("client"), &place.paths());
        assert_eq!(place.commands(), ["uninstall wyren@wyren --scope local", "marketplace remove wyren"]);
        // The client changes the settings of the project that it is started in.
        assert_eq!([&removal.steps[0].folder, &removal.steps[1].folder], [&project, &place.path("client")]);
        assert_eq!(removal.shared, [(shared, "wyren@wyren".to_owned())]);
    }

    #[test]
    fn the_clients_copies_of_other_plugins_stay() {
        let place = Place::new();
        let cache = place.path("client/plugins/cache");
        for plugin in ["wyren/wyren/1", "wyren/other/1", "elsewhere/wyren/1"] {
            fs::create_dir_all(cache.join(plugin)).unwrap();
        }
        clear(&place.path("client/plugins"), &["wyren@wyren".to_owned(), "wyren@elsewhere".to_owned()]);
        assert!(cache.join("wyren/other/1").is_dir());
        assert!(!cache.join("wyren/wyren").exists() && !cache.join("elsewhere").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_client_that_does_not_end_is_stopped_and_the_command_is_named() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = Place::new();
        let program = place.path("claude");
        fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let patience = Duration::from_millis(50);
        let error = run_in(None, &program, &place.paths(), &["list".as_ref()], patience).unwrap_err();
        assert!(error.to_string().starts_with("`claude plugin list` did not end within "), "{error}");
    }
}
