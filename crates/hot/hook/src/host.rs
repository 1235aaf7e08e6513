//! What a hook's body may use besides its input.

use crate::claims::Claims;
use crate::event::{Event, SessionStart};
use crate::platform::Platform;
use crate::wiring::{self, Turn, Way};
use base::log::{Level, Line, Log};
use base::settings::{self, Settings};
use base::{Env, Paths, Timestamp, secret};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::Instant;
use text::sanitize::Fence;

/// Set by the client to what started it.
pub(crate) const STARTED_BY: &str = "CLAUDE_CODE_ENTRYPOINT";

/// Returns whether the client was started by a program and no person: `sdk-cli`, `sdk-ts`, `sdk-py`.
pub(crate) fn is_program(started_by: &str) -> bool {
    started_by.starts_with("sdk")
}

/// The surroundings of one hook run: environment, folders, clock, log.
#[derive(Debug)]
pub struct Host {
    /// The environment.
    pub env: Env,
    /// The user's folders.
    pub paths: Paths,
    /// When the hook began.
    pub started: Timestamp,
    pub(crate) hook: &'static str,
    pub(crate) log: Log,
    pub(crate) told: RefCell<Vec<String>>,
    pub(crate) event: Cell<&'static str>,
    pub(crate) session: RefCell<Option<String>>,
    clock: Instant,
    settings: Settings,
    pub(crate) agent: Option<Platform>,
}

impl Host {
    /// Returns the surroundings of the hook called `hook` in `env`.
    pub fn new(hook: &'static str, env: Env) -> Self {
        let clock = Instant::now();
        let paths = Paths::of(&env);
        let settings = Settings::read(&env, &paths.hook_settings());
        let log = Log::new(paths.hook_log(), &settings);
        Self {
            started: Timestamp::now(),
            hook,
            log,
            told: RefCell::default(),
            event: Cell::new(""),
            session: RefCell::default(),
            clock,
            settings,
            agent: None,
            paths,
            env,
        }
    }

    /// Returns the agent that the wiring names; `None` for Claude Code.
    pub fn agent(&self) -> Option<Platform> {
        self.agent
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the agent that runs the hook: the one that the wiring or else `LESSONS_AGENT_PLATFORM` names, else the one
    /// whose event it is.
    pub fn platform(&self) -> Platform {
        if let Some(agent) = self.agent {
            return agent;
        }
        match self.env.text("LESSONS_AGENT_PLATFORM") {
            Some(name) => Platform::from_name(Some(&name)),
            None => Platform::of_event(self.event.get()),
        }
    }

    /// Returns whether no person reads along: in `claude -p`, and where a program runs the client. The client names what
    /// started it, such as `cli` or `claude-vscode`; another agent, which does not, counts as one that a person uses.
    pub fn is_headless(&self) -> bool {
        self.env.text(STARTED_BY).is_some_and(|started_by| is_program(&started_by))
    }

    /// Returns the claims of the window that `call` happened in.
    pub fn claims(&self, call: &impl Event) -> Claims {
        let roots = [self.paths.claims(), &self.paths.fallback_claims()];
        Claims::new(&roots, call.session_id(), call.agent_id())
    }

    /// Returns the tags for text of others, with a word that no text in the session of `call` can know. Reads a file, so only
    /// a hook that shows such text asks for it.
    pub fn fence(&self, call: &impl Event) -> Fence {
        Fence::new(secret::word(&self.paths, call.session_id().unwrap_or_default()))
    }

    /// Returns whether there is a note about the window of `call` in the preferred folder of claims: one `stat`. Whether the
    /// folder can be trusted is left to [`Claims::note_file`].
    pub fn has_note(&self, call: &impl Event, name: &str) -> bool {
        let claims = Claims::unchecked(self.paths.claims(), call.session_id(), call.agent_id());
        claims.note_file(name).is_some_and(|file| file.symlink_metadata().is_ok())
    }

    /// Returns the folder that the session works in: the input's, else `CLAUDE_PROJECT_DIR`, else the process's.
    pub fn cwd(&self, call: &impl Event) -> PathBuf {
        let named = call.cwd().map(PathBuf::from);
        named
            .or_else(|| self.env.get("CLAUDE_PROJECT_DIR").map(PathBuf::from))
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_default()
    }

    /// Writes a line to the hook log; an alert is also told to the user.
    pub fn log(&self, level: Level, message: &str) {
        self.write(level, message);
        if level == Level::Alert {
            self.told.borrow_mut().push(message.to_owned());
        }
    }

    /// Returns the hook's name.
    pub fn hook(&self) -> &'static str {
        self.hook
    }

    fn write(&self, level: Level, message: &str) {
        if !self.log.takes(level) {
            return;
        }
        self.log.write(&Line {
            at: Timestamp::now(),
            level,
            hook: self.hook,
            event: self.event.get(),
            session: self.session.borrow().as_deref(),
            millis: self.clock.elapsed().as_secs_f64() * 1_000.0,
            message,
        });
    }

    /// Returns whether this run answers the event, or that of another wiring does: see [`wiring`].
    pub(crate) fn turn<E: Event>(&self, call: &E) -> Turn {
        // Only Claude Code has plugins and settings at the same time.
        let Some(session) = call.session_id().filter(|_| self.agent.is_none()) else {
            return Turn::Ours(None);
        };
        let way = match self.env.get("CLAUDE_PLUGIN_ROOT") {
            Some(_) => Way::Plugin,
            None => Way::Manual,
        };
        let is_start = E::NAME == SessionStart::NAME;
        if way == Way::Plugin && !is_start {
            return Turn::Ours(None);
        }
        let roots = [self.paths.claims(), &self.paths.fallback_claims()];
        match is_start {
            true => wiring::meet(&roots, session, self.hook, way, self.started),
            false if wiring::is_of_plugin(&roots, session) => Turn::Theirs,
            false => Turn::Ours(None),
        }
    }

    /// Says whether the user switched this hook off.
    pub(crate) fn is_disabled(&self) -> bool {
        self.has_disabled(self.hook)
    }

    /// Says whether the user switched a hook off.
    pub(crate) fn has_disabled(&self, hook: &str) -> bool {
        settings::list(&self.settings.get("hooks.disabled")).any(|name| name == hook)
    }
}
