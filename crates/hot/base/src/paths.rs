//! Where Wyren's personal files live.
//!
//! Everything personal is below one data folder: `$WYREN_DATA_DIR`, else `wyren` in the platform's data
//! folder. Not in the plugin's folder (replaced on update) and not in the client's plugin data folder
//! (deleted on uninstall).

use crate::{Env, digest, files, system};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// The file whose presence says that a session's last prompt was wholly private.
pub const PRIVATE_MARKER: &str = "private";

/// The folders and files of one user.
#[derive(Clone, Debug)]
pub struct Paths {
    data: PathBuf,
    claims: PathBuf,
    plugin: Option<PathBuf>,
    client: Option<PathBuf>,
    env: Env,
}

impl Paths {
    /// Finds the folders of the user that `env` describes.
    pub fn of(env: &Env) -> Self {
        let data = env.get("WYREN_DATA_DIR").map_or_else(|| platform_data(env).join("wyren"), PathBuf::from);
        let claims = claims_folder(env, &data);
        let plugin = env.get("CLAUDE_PLUGIN_ROOT").map(PathBuf::from).filter(|path| path.is_absolute());
        Self { data, claims, plugin, client: None, env: env.clone() }
    }

    /// Takes a folder for the client's own, whatever the environment says.
    #[must_use]
    pub fn with_client(self, folder: PathBuf) -> Self {
        Self { client: Some(folder), ..self }
    }

    /// Returns the client's folder, if [`Self::with_client`] named it.
    pub fn named_client(&self) -> Option<&Path> {
        self.client.as_deref()
    }

    /// Returns the client's own folder: the one that was named, else `$CLAUDE_CONFIG_DIR`, else `.claude` in the home.
    pub fn client(&self) -> Option<PathBuf> {
        if let Some(named) = &self.client {
            return Some(named.clone());
        }
        let named = self.env.get("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        named.or_else(|| system::home(&self.env).map(|home| home.join(".claude")))
    }

    /// Returns the folder of everything personal.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the folder of the logs.
    pub fn logs(&self) -> PathBuf {
        self.data.join("logs")
    }

    /// Returns the log that every hook writes to.
    pub fn hook_log(&self) -> PathBuf {
        self.data.join("logs/hooks.jsonl")
    }

    /// Returns the folder of what can be made again at any time.
    pub fn cache(&self) -> PathBuf {
        self.data.join("cache")
    }

    /// Returns the folder of the transcripts that are kept.
    pub fn transcripts(&self) -> PathBuf {
        self.data().join("transcripts")
    }

    /// Returns the copy of a session's transcript. An empty one says that something of it was forgotten, and stays so.
    pub fn transcript(&self, session: &str) -> PathBuf {
        self.transcripts().join(format!("{}.jsonl.gz", digest::short_hex(session.as_bytes())))
    }

    /// Returns the folder of events that are not in the database yet.
    pub fn spool(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// Returns the folder of a session's events.
    pub fn session_spool(&self, session: &str) -> PathBuf {
        self.spool().join(digest::short_hex(session.as_bytes()))
    }

    /// Says whether the last prompt of a session was wholly private: nothing that is done under it leaves a trace.
    pub fn is_private(&self, session: &str) -> bool {
        self.session_spool(session).join(PRIVATE_MARKER).exists()
    }

    /// Returns the file of what the user trusts of the project at `root`; see [`crate::trust`].
    pub fn trust_file(&self, root: &Path) -> PathBuf {
        self.data.join("trust").join(name_of(root))
    }

    /// Returns the file that says what of the project at `root` a prompt showed the user for review. Guards keep the model out
    /// of the folder of trust.
    pub fn reviewed_file(&self, root: &Path) -> PathBuf {
        self.data.join("trust/reviewed").join(name_of(root))
    }

    /// Returns the file of the user's leave to publish from a clone, by the git folder that its work trees share.
    pub fn leave_file(&self, common_folder: &Path) -> PathBuf {
        self.data.join("publish").join(name_of(common_folder))
    }

    /// Returns the file that lists where the user worked before publishing needed leave; see [`crate::leave`].
    pub fn known_clones(&self) -> PathBuf {
        self.data.join("publish/known")
    }

    /// Returns the file of who brought which entry of the memory in a `.wyren/` folder. It is not in that folder, where a
    /// teammate could track one.
    pub fn authors_file(&self, wyren: &Path) -> PathBuf {
        self.data.join("cache/authors").join(name_of(wyren))
    }

    /// Returns the file that says how much of a clone's memory waits for leave; see [`crate::leave`].
    pub fn kept_file(&self, common_folder: &Path) -> PathBuf {
        self.data.join("cache/kept").join(name_of(common_folder))
    }

    /// Returns the file that says how many entries distillations took out of the memory in a `.wyren/` folder; see
    /// [`crate::left`].
    pub fn left_file(&self, wyren: &Path) -> PathBuf {
        self.data.join("cache/left").join(name_of(wyren))
    }

    /// Returns the file of what the status line shows besides what the client tells it.
    pub fn status_cache(&self) -> PathBuf {
        self.data.join("cache/status.json")
    }

    /// Returns the lock of who writes [`Self::status_cache`].
    pub fn status_lock(&self) -> PathBuf {
        self.data.join("cache/status.lock")
    }

    /// Returns the folder of notes for sessions that a sync brought news during their turn, one file per session.
    pub fn news(&self) -> PathBuf {
        self.data.join("cache/news")
    }

    /// Returns the folder of the calls that lessons refused; see [`crate::allowed`].
    pub fn refused(&self) -> PathBuf {
        self.data.join("cache/refused")
    }

    /// Returns the folder of such calls in the project at `root`.
    pub fn refused_folder(&self, root: &Path) -> PathBuf {
        self.refused().join(name_of(root))
    }

    /// Returns the folder of the user's leave for lessons to let calls pass; see [`crate::allowed`].
    pub fn allowed(&self) -> PathBuf {
        self.data.join("allowed")
    }

    /// Returns the folder of such leave for one session.
    pub fn allowed_folder(&self, session: &str) -> PathBuf {
        self.allowed().join(digest::short_hex(session.as_bytes()))
    }

    /// Returns the folder of contexts, each in a folder of its name.
    pub fn work(&self) -> PathBuf {
        self.data.join("work")
    }

    /// Returns the folder of the files that bind sessions to contexts. No context has this name.
    pub fn bindings(&self) -> PathBuf {
        self.data.join("work/.sessions")
    }

    /// Returns the file that binds a session to a context, if it is bound.
    pub fn binding_file(&self, session: &str) -> PathBuf {
        self.bindings().join(digest::short_hex(session.as_bytes()))
    }

    /// Returns the folder of what the user is to read in a session; see [`crate::notice`].
    pub fn notices(&self) -> PathBuf {
        self.data.join("cache/notices")
    }

    /// Returns the folder of what remembers that the user has read something for good; see [`crate::notice`].
    pub fn told(&self) -> PathBuf {
        self.data.join("told")
    }

    /// Returns the file of this installation's secret; see [`crate::secret`].
    pub fn secret(&self) -> PathBuf {
        self.data.join("secret")
    }

    /// Returns the folder that `wyren install` copies the plugin to.
    pub fn installed_plugin(&self) -> PathBuf {
        self.data.join("plugin")
    }

    /// Returns the lock of `wyren install` and `wyren uninstall`, which change the client's files.
    pub fn install_lock(&self) -> PathBuf {
        self.data.join("install.lock")
    }

    /// Returns the record of the projects that `wyren install` wrote hooks into, for `wyren uninstall`.
    pub fn wired_folders(&self) -> PathBuf {
        self.data.join("wired.json")
    }

    /// Returns the journal of `wyren migrate`: what it changed, for `wyren migrate --undo`.
    pub fn migration_journal(&self) -> PathBuf {
        self.data.join("migrate.json")
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("wyren.db")
    }

    /// Returns the user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.data.join("config.toml")
    }

    /// Returns the settings that hot hooks read, flattened from the configuration.
    pub fn hook_settings(&self) -> PathBuf {
        self.data.join("cache/hooks.conf")
    }

    /// Returns the preferred folder of claims; [`Self::fallback_claims`] replaces it when it cannot be trusted.
    pub fn claims(&self) -> &Path {
        &self.claims
    }

    /// Returns the folder of claims that no other user can reach.
    pub fn fallback_claims(&self) -> PathBuf {
        self.data.join("claims")
    }

    /// Returns the plugin's folder: what the client said, else the one this program was started from.
    pub fn plugin(&self) -> Option<PathBuf> {
        self.plugin.clone().or_else(|| {
            let program = std::env::current_exe().ok()?;
            Some(plugin_of(&program)?.to_owned())
        })
    }
}

/// Returns the plugin's folder that a program is in: above `bin/`, or above npm's folder where the plugin's own cannot be
/// written and its launchers start the programs from there.
fn plugin_of(program: &Path) -> Option<&Path> {
    let folder = program.parent()?.parent()?;
    let scope = folder.parent()?;
    if scope.ends_with("node_modules/@wyren") { scope.parent()?.parent() } else { Some(folder) }
}

/// Returns a path as a person writes it: with `~` for the home folder.
pub fn with_tilde(path: &Path, env: &Env) -> String {
    let home = system::home(env);
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~{MAIN_SEPARATOR}{}", below.display()),
        None => path.display().to_string(),
    }
}

/// Returns the name of what is about a folder, such as a file in a cache.
pub fn name_of(folder: &Path) -> String {
    let folder = files::canonical(folder);
    digest::short_hex(folder.as_os_str().as_encoded_bytes())
}

/// Returns the folder for short-lived state: the runtime folder, else a per-user one in the temp folder.
fn claims_folder(env: &Env, data: &Path) -> PathBuf {
    if let Some(runtime) = env.get("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute()) {
        return runtime.join("wyren");
    }
    match system::user_id() {
        Some(user) => system::temp_folder(env).join(format!("wyren-{user}")),
        None => data.join("claims"),
    }
}

/// Returns the platform's folder of data that stays on this machine. A user without a home gets one in the temp folder; an environment that was
/// passed in names a home of its own.
fn platform_data(env: &Env) -> PathBuf {
    let in_home = |home: PathBuf| system::data_in_home(&home);
    let platform = if env.is_process() { dirs::data_local_dir() } else { system::home(env).map(in_home) };
    platform.unwrap_or_else(|| {
        let user = system::user_id().unwrap_or_default();
        in_home(system::temp_folder(env).join(format!("wyren-home-{user}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_found_from_its_programs_wherever_npm_put_them() {
        for program in ["/p/wyren 1/bin/wyren", "/p/wyren 1/node_modules/@wyren/linux-x64/bin/wyren"] {
            assert_eq!(plugin_of(Path::new(program)), Some(Path::new("/p/wyren 1")), "{program}");
        }
        assert_eq!(
            plugin_of(Path::new("/node_modules/@other/x/bin/wyren")),
            Some(Path::new("/node_modules/@other/x"))
        );
    }

    #[test]
    fn the_data_folder_follows_the_variable() {
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", "/data/w"), ("HOME", "/home/ada")]));
        assert_eq!(paths.data(), Path::new("/data/w"));
        assert_eq!(paths.hook_log(), Path::new("/data/w/logs/hooks.jsonl"));
    }

    #[test]
    fn without_the_variable_the_home_has_it_and_without_a_home_the_temp_folder() {
        let home = Paths::of(&Env::fixed([("HOME", "/home/ada")]));
        assert_eq!(home.data(), Path::new("/home/ada/.local/share/wyren"));
        let none = Paths::of(&Env::fixed([("TMPDIR", "/var/tmp"), ("TEMP", "/var/tmp")]));
        assert!(none.data().starts_with("/var/tmp"), "{none:?}");
    }

    #[cfg(unix)]
    #[test]
    fn review_25_a_path_is_shown_from_the_home_of_every_system() {
        let shown =
            |variable: &str, path: &str| with_tilde(Path::new(path), &Env::fixed([(variable, "/home/ada")]));
        for variable in ["HOME", "USERPROFILE"] {
            assert_eq!(shown(variable, "/home/ada/.local/share/wyren"), "~/.local/share/wyren");
            assert_eq!(shown(variable, "/srv/wyren"), "/srv/wyren");
        }
    }

    #[test]
    fn claims_prefer_the_runtime_folder() {
        let runtime = Paths::of(&Env::fixed([("HOME", "/home/ada"), ("XDG_RUNTIME_DIR", "/run/user/1000")]));
        assert_eq!(runtime.claims(), Path::new("/run/user/1000/wyren"));
        let temp = Paths::of(&Env::fixed([("HOME", "/home/ada"), ("TMPDIR", "/var/tmp")]));
        assert!(temp.claims().to_str().is_some_and(|path| path.starts_with("/var/tmp/wyren-")));
    }
}
