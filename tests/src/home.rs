//! A user who has just installed the client: fresh folders and an environment with nothing of ours in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;

use crate::mock::Mock;
use crate::process;

/// Approved in `.claude.json` by its last 20 characters; the mock takes any key.
const DUMMY_KEY: &str = "sk-ant-api03-dummy-key-for-the-mock-0123456789abcdef";
const APPROVED_CHARACTERS: usize = 20;

/// What the client may see of the environment of the tests. Nothing that starts with CLAUDE or ANTHROPIC.
const INHERITED: [&str; 5] = ["PATH", "LANG", "LC_ALL", "SystemRoot", "COMSPEC"];

/// The folders of one user and one project. Dropping it ends what still runs in them and deletes them.
pub(crate) struct Home {
    root: PathBuf,
    _folder: TempDir,
}

impl Home {
    /// Creates the folders, with first-run questions answered and the project trusted.
    pub(crate) fn new() -> Result<Home> {
        let folder = tempfile::Builder::new().prefix("wyren-test-").tempdir()?;
        let home = Home {
            // Resolved, because the client looks its project up by the resolved path.
            root: folder.path().canonicalize()?,
            _folder: folder,
        };
        for name in ["home", "config", "project", "data", "runtime", "tmp"] {
            fs::create_dir(home.root.join(name))?;
        }
        // A user who has read what the first session says.
        fs::create_dir(home.root.join("data/told"))?;
        fs::write(home.root.join("data/told/all-first"), "1\n")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(home.root.join("runtime"), fs::Permissions::from_mode(0o700))?;
        }
        let answers = json!({
            "hasCompletedOnboarding": true,
            "lastOnboardingVersion": "2.1.197",
            "theme": "dark",
            "customApiKeyResponses": {
                "approved": [&DUMMY_KEY[DUMMY_KEY.len() - APPROVED_CHARACTERS..]],
                "rejected": [],
            },
            "projects": {
                home.project().to_string_lossy(): {
                    "hasTrustDialogAccepted": true,
                    "hasCompletedProjectOnboarding": true,
                },
            },
        });
        fs::write(home.root.join("config/.claude.json"), answers.to_string())?;
        Ok(home)
    }

    /// Returns the folder that the client works in.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the folder that `WYREN_DATA_DIR` names.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// Returns the folder that `CLAUDE_CONFIG_DIR` names.
    pub(crate) fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    /// Returns the whole environment of the client.
    pub(crate) fn environment(&self, mock: &Mock) -> Vec<(OsString, OsString)> {
        let inherited = INHERITED.iter().filter_map(|name| Some(((*name).into(), env::var_os(name)?)));
        let folders = [
            ("HOME", "home"),
            ("USERPROFILE", "home"),
            ("CLAUDE_CONFIG_DIR", "config"),
            ("WYREN_DATA_DIR", "data"),
            ("XDG_RUNTIME_DIR", "runtime"),
            ("TMPDIR", "tmp"),
            ("TEMP", "tmp"),
            ("TMP", "tmp"),
        ];
        let folders = folders.map(|(name, folder)| (name.into(), self.root.join(folder).into()));
        let settings = [
            ("ANTHROPIC_API_KEY", DUMMY_KEY),
            ("ANTHROPIC_BASE_URL", &mock.base_url()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("TERM", "xterm-256color"),
            // A worker that a hook started does not wait for more work: tests see that no process remains.
            ("WYREN_WORKER_IDLE_SECONDS", "0"),
        ];
        let settings = settings.map(|(name, value)| (name.into(), value.into()));
        inherited.chain(folders).chain(settings).collect()
    }

    /// Returns the processes that were started in this home and still run.
    pub(crate) fn processes(&self) -> Vec<u32> {
        process::started_with(&format!("WYREN_DATA_DIR={}", self.data().display()))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        process::kill_all(|| self.processes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_sees_no_variable_that_would_change_its_ways() {
        let home = Home::new().unwrap();
        let mock = Mock::start().unwrap();
        let names: Vec<String> = (home.environment(&mock).into_iter())
            .map(|(name, _)| name.into_string().unwrap())
            .filter(|name| name.starts_with("CLAUDE") || name.starts_with("ANTHROPIC"))
            .collect();
        let expected = [
            "CLAUDE_CONFIG_DIR",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ];
        assert_eq!(names, expected);
    }
}
