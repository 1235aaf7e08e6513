//! What is recorded at all, as the user has set it: one set of rules for the hooks and for the repair of a database.

use crate::{Spool, Unrecorded, Why};
use base::settings::{self, Settings};
use base::{Env, glob};
use std::fmt;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// A prompt that consists of one of these is the client's own, not the user's.
const CLIENT_PROMPT: (&str, &str) = ("<task-notification>", "</task-notification>");
/// The hook that sees prompts, and so knows which are private.
const PROMPT_HOOK: &str = "prompt-record";
/// The client's own notes about a session, which it edits with ordinary tools.
const CLIENT_NOTES: &str = "session-memory";

/// What the names of our own MCP tools begin with: what the memory answers is not recorded again.
const OWN_TOOLS: &str = "mcp__plugin_wyren_";

/// What is recorded and what is not.
#[derive(Clone, Default)]
pub struct Rules {
    is_off: bool,
    sees_prompts: bool,
    skipped_tools: Vec<String>,
    excluded: Vec<String>,
    paused: Vec<String>,
    home: Option<PathBuf>,
    /// What hooks left out so far: for those who read transcripts.
    unrecorded: Unrecorded,
}

/// Without what was left out: the text tells one set of rules from another, and that grows with each prompt.
impl fmt::Debug for Rules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_off, sees_prompts, skipped_tools, excluded, paused, home, unrecorded: _ } = self;
        formatter
            .debug_struct("Rules")
            .field("is_off", is_off)
            .field("sees_prompts", sees_prompts)
            .field("skipped_tools", skipped_tools)
            .field("excluded", excluded)
            .field("paused", paused)
            .field("home", home)
            .finish()
    }
}

/// A rule by which nothing is recorded in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule<'r> {
    /// `capture.enabled` is off.
    Off,
    /// A pattern of `capture.excluded_projects` fits.
    Excluded(&'r str),
    /// A folder of `capture.paused_projects` is this one, or one above it.
    Paused(&'r str),
}

impl Rules {
    /// Reads the rules from the settings.
    pub fn of(settings: &Settings, env: &Env) -> Self {
        let list = |name: &str| settings::list(&settings.get(name)).map(str::to_owned).collect();
        Self {
            is_off: !settings.is_on("capture.enabled"),
            sees_prompts: !settings::list(&settings.get("hooks.disabled")).any(|hook| hook == PROMPT_HOOK),
            skipped_tools: list("capture.skip_tools"),
            excluded: list("capture.excluded_projects"),
            paused: list("capture.paused_projects"),
            home: base::system::home(env),
            unrecorded: Unrecorded::default(),
        }
    }

    /// Returns the rules for who reads transcripts: with what hooks left out so far, whatever rule held then.
    #[must_use]
    pub fn knowing(self, spool: &Spool) -> Self {
        Self { unrecorded: spool.unrecorded(), ..self }
    }

    /// Says whether hooks left out the prompt with this id, and with it what was done under it.
    pub fn left_out(&self, prompt_id: Option<&str>) -> bool {
        self.unrecorded.why(prompt_id).is_some()
    }

    /// Says whether nothing of the prompt with this id may reach a team: it was private, or in a project that was excluded or
    /// paused. With recording off, a team's memory goes on.
    pub fn keeps_from_team(&self, prompt_id: Option<&str>) -> bool {
        matches!(self.unrecorded.why(prompt_id), Some(Why::Private | Why::Project))
    }

    /// Says whether sessions in this folder are recorded.
    pub fn records_in(&self, cwd: &Path) -> bool {
        self.against(cwd).is_none()
    }

    /// Says whether the user excluded this folder, or paused recording in it.
    pub fn excludes(&self, cwd: &Path) -> bool {
        self.shut(cwd).is_some()
    }

    /// Returns the rule that keeps sessions in this folder from being recorded.
    pub fn against(&self, cwd: &Path) -> Option<Rule<'_>> {
        if self.is_off { Some(Rule::Off) } else { self.shut(cwd) }
    }

    fn shut(&self, cwd: &Path) -> Option<Rule<'_>> {
        let fits = |pattern: &&String| glob::fits_folder(pattern, cwd, self.home.as_deref());
        let excluded = self.excluded.iter().find(fits).map(|pattern| Rule::Excluded(pattern));
        let paused = || self.paused.iter().find(|folder| cwd.starts_with(folder));
        excluded.or_else(|| paused().map(|folder| Rule::Paused(folder)))
    }

    /// Says whether a folder with this name may be excluded or paused: for a sender that names no folder. The name of a pattern is
    /// its last part, `clients` in `~/clients/**`.
    pub fn may_exclude_name(&self, name: &str) -> bool {
        let is_of_names = |part: &&str| !part.is_empty() && !part.bytes().all(|byte| byte == b'*');
        let fits = |path: &String| {
            let last = path.rsplit(['/', MAIN_SEPARATOR]).find(is_of_names);
            last.is_some_and(|last| glob::fits_folder(last, Path::new(name), None))
        };
        !name.is_empty() && self.excluded.iter().chain(&self.paused).any(fits)
    }

    /// Returns rules by which nothing is recorded anywhere, because the user excluded it.
    #[must_use]
    pub fn excluding_all(self) -> Self {
        Self { excluded: vec!["**".to_owned()], ..self }
    }

    /// Returns whether hooks see prompts: without them, what belongs to a private one would be recorded.
    pub fn sees_prompts(&self) -> bool {
        self.sees_prompts
    }

    /// Says whether calls of this tool are recorded.
    pub fn records_tool(&self, tool: &str) -> bool {
        !tool.starts_with(OWN_TOOLS) && !self.skipped_tools.iter().any(|skipped| skipped == tool)
    }

    /// Says whether a call with this input, as JSON, is recorded: the client's notes to itself are not.
    pub fn records_call(&self, tool: &str, input: Option<&str>) -> bool {
        let is_file_tool = matches!(tool, "Edit" | "Write" | "Read" | "NotebookEdit");
        // The name is rare, and looking for it is quicker than parsing a large file's contents.
        let names_notes = |input: &str| {
            input.contains(CLIENT_NOTES) && file_path(input).is_some_and(|path| path.contains(CLIENT_NOTES))
        };
        self.records_tool(tool) && !(is_file_tool && input.is_some_and(names_notes))
    }

    /// Says whether a prompt is recorded: what the client tells itself is not.
    pub fn records_prompt(&self, prompt: &str) -> bool {
        let prompt = prompt.trim();
        !(prompt.starts_with(CLIENT_PROMPT.0) && prompt.ends_with(CLIENT_PROMPT.1))
    }
}

/// Returns the tool's path without keeping the contents beside it.
fn file_path(input: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Input {
        file_path: Option<String>,
    }
    serde_json::from_str::<Input>(input).ok()?.file_path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_held_against_the_last_part_of_each_pattern() {
        let rules = Rules {
            excluded: vec!["~/clients/secret".into(), "**/nda-*/**".into(), "*".into()],
            paused: vec!["/home/ada/work/app".into()],
            ..Rules::default()
        };
        for (name, expected) in
            [("secret", true), ("nda-x", true), ("app", true), ("work", false), ("shop", false), ("", false)]
        {
            assert_eq!(rules.may_exclude_name(name), expected, "{name}");
        }
        assert!(rules.excluding_all().excludes(Path::new("/anywhere/at/all")));
    }
}
