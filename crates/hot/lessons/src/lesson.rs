//! What a lesson is.

use std::fmt;

/// What a lesson does when it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Is shown beside the call, once per window.
    Hint,
    /// Refuses a call that it applies to once: the same call again passes. After three pauses in a window it is a hint.
    Pause,
    /// Refuses every call that it applies to.
    Guard,
    /// Is shown when a session or a subagent starts.
    Directive,
    /// Is shown when a session starts.
    Protocol,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Hint, Self::Pause, Self::Guard, Self::Directive, Self::Protocol];

    /// Returns the kind's name, as in a lesson's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Pause => "pause",
            Self::Guard => "guard",
            Self::Directive => "directive",
            Self::Protocol => "protocol",
        }
    }

    /// Returns the kind called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether a project's lesson of this kind acts only when the user trusts it: all but a hint.
    pub fn needs_trust(self) -> bool {
        self != Self::Hint
    }

    /// Returns whether lessons of this kind are about calls of tools.
    pub fn is_about_calls(self) -> bool {
        matches!(self, Self::Hint | Self::Pause | Self::Guard)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// When a lesson applies to a call. Within a field any pattern will do; the fields that are given must all agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// The tools; empty means the shell when there are command patterns, else every tool.
    pub tools: Vec<String>,
    /// Patterns of simple commands: `git push --force|-f`.
    pub commands: Vec<String>,
    /// What makes the command harmless: flags, words, assignments, and how it is run. See [`crate::condition`].
    pub without: Vec<String>,
    /// Of these, which are written as those in `without`, at least one must hold.
    pub with: Vec<String>,
    /// Words and classes of paths, one of which the command's output must be redirected to.
    pub writes: Vec<String>,
    /// Regular expressions over one SQL statement that the command hands to a database client.
    pub sql: Vec<String>,
    /// Programs that a later command of the same pipeline must be.
    pub piped_to: Vec<String>,
    /// Regular expressions over one simple command, quoted prose masked.
    pub matches: Vec<String>,
    /// Regular expressions over the whole text of the command, heredocs and quotes included.
    pub raw: Vec<String>,
    /// Globs over the file's path, relative to the project.
    pub paths: Vec<String>,
    /// Regular expressions over the text that is written.
    pub content: Vec<String>,
    /// Regular expressions over other fields of the tool's input, by the field's name.
    pub inputs: Vec<(String, String)>,
}

impl Trigger {
    /// Says whether nothing but the tool decides.
    pub fn is_tool_only(&self) -> bool {
        !self.is_about_shell() && self.paths.is_empty() && self.content.is_empty() && self.inputs.is_empty()
    }

    /// Says whether it is about what a shell runs.
    pub fn is_about_shell(&self) -> bool {
        !self.raw.is_empty() || self.is_about_commands()
    }

    /// Says whether it is about simple commands, which `without`, `with` and `piped_to` narrow.
    pub fn is_about_commands(&self) -> bool {
        let fields = [&self.commands, &self.matches, &self.writes, &self.sql];
        fields.iter().any(|field| !field.is_empty())
    }
}

/// A lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Its name: the file's name without its ending.
    pub slug: String,
    /// What goes wrong, in one line.
    pub summary: String,
    /// Why, and when.
    pub problem: String,
    /// What to do instead.
    pub solution: String,
    /// What it does when it applies.
    pub kind: Kind,
    /// When it applies.
    pub trigger: Trigger,
    /// The command to run instead, where there is one.
    pub instead: Option<String>,
    /// How much it matters: 1 to 10.
    pub priority: u8,
    /// How sure it is: 0 to 100 percent.
    pub confidence: u8,
    /// The project that it holds for; `None` for all.
    pub scope: Option<String>,
    /// What it is about: `tool:git`, `severity:hang`.
    pub tags: Vec<String>,
    /// The pack that it belongs to: `git`, `files`.
    pub pack: Option<String>,
    /// Where it came from.
    pub source: String,
    /// Whether it is switched off.
    pub is_disabled: bool,
    /// Calls that must fire it.
    pub fires: Vec<String>,
    /// Calls that must not.
    pub quiet: Vec<String>,
    /// What an older system knew beyond all this, kept as it was.
    pub extra: Vec<(String, String)>,
}

/// The priority of a lesson that does not say.
pub const DEFAULT_PRIORITY: u8 = 5;
/// The confidence of a lesson that does not say, in percent.
pub const DEFAULT_CONFIDENCE: u8 = 80;

impl Lesson {
    /// Returns what the user has to trust before this lesson of a project may act.
    pub fn trust_item(&self) -> base::trust::Item {
        crate::index::trust_item(self)
    }
}

impl Default for Lesson {
    fn default() -> Self {
        Self {
            slug: String::new(),
            summary: String::new(),
            problem: String::new(),
            solution: String::new(),
            kind: Kind::Hint,
            trigger: Trigger::default(),
            instead: None,
            priority: DEFAULT_PRIORITY,
            confidence: DEFAULT_CONFIDENCE,
            scope: None,
            tags: Vec::new(),
            pack: None,
            source: "manual".to_owned(),
            is_disabled: false,
            fires: Vec::new(),
            quiet: Vec::new(),
            extra: Vec::new(),
        }
    }
}
