//! How large a session's window is. The client tells no hook; of the places that know something about it, the first that does counts.

use crate::notes::Start;
use crate::{LARGE, Notes, ORDINARY};
use base::paths::with_tilde;
use base::{Env, Paths, files};
use hook::event::Text;
use std::path::{Path, PathBuf};
use text::sanitize;

/// Turns large windows off, for the client.
const NO_LARGE: &str = "CLAUDE_CODE_DISABLE_1M_CONTEXT";
/// Names the model, for the client.
const MODEL: &str = "ANTHROPIC_MODEL";
/// The window that the client compacts in, in tokens, if that is smaller.
const COMPACTED_IN: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";

/// How much of the client's settings is read, in bytes.
const SETTINGS_CAP: usize = 256 * 1024;

/// How much of a model's name is shown, in characters.
const SHOWN_MODEL_CHARS: usize = 60;

/// The size of a window, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// In tokens.
    pub tokens: u64,
    pub origin: Origin,
}

/// How the size of a window is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The client told the status line.
    StatusLine,
    /// The session started with this model.
    Start(String),
    /// The session was continued, which takes the ordinary window of its model.
    Continued,
    /// This variable says so.
    Environment(&'static str),
    /// `model` in this settings file of the client says so.
    Settings(String),
    /// More is or was in use than an ordinary window holds.
    Use,
    /// The model is another one than that whose window is known: a subagent's own, or the one that the user changed to.
    OtherModel(String),
    /// Nothing is known.
    Assumed,
}

impl Origin {
    /// Returns how the size is known, in words that follow the size.
    pub fn words(&self) -> String {
        match self {
            Self::StatusLine => "told by the client to the status line".to_owned(),
            Self::Start(model) => format!("by the model of the session's start, {}", shown(model)),
            Self::Continued => "assumed, as for every continued session".to_owned(),
            Self::Environment(variable) => format!("by {variable}"),
            Self::Settings(file) => format!("by `model` in {file}"),
            Self::Use => "because more than 200k were in use".to_owned(),
            Self::OtherModel(model) => format!("assumed for {}", shown(model)),
            Self::Assumed => "assumed; with `wyren install --statusline` it is known".to_owned(),
        }
    }
}

fn shown(model: &str) -> String {
    sanitize::model_line(model, SHOWN_MODEL_CHARS)
}

/// The window in question.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// How many tokens are in use.
    pub used: u64,
    /// Whether it is a subagent's.
    pub is_subagent: bool,
    /// The model that wrote its last message, without `[1m]`.
    pub model: Option<&'a str>,
}

/// What besides the notes may know a window's size.
#[derive(Debug)]
pub struct Around<'a> {
    pub env: &'a Env,
    pub paths: &'a Paths,
    /// The folder with the project's settings of the client.
    pub project: PathBuf,
}

impl Size {
    /// Returns the size of a window.
    pub fn of(window: Window<'_>, notes: &Notes, around: &Around<'_>) -> Self {
        let mut size = Self::known(window, notes, around);
        let in_use = || !window.is_subagent && notes.was_large();
        // What is in use fits into the window, whatever anything else says.
        if size.tokens <= ORDINARY
            && size.origin != Origin::StatusLine
            && (window.used > ORDINARY || in_use())
        {
            size = Self { tokens: LARGE, origin: Origin::Use };
        }
        let compacted_in = around.env.text(COMPACTED_IN).and_then(|tokens| tokens.parse().ok());
        match compacted_in.filter(|tokens| (1..size.tokens).contains(tokens)) {
            Some(tokens) => Self { tokens, origin: Origin::Environment(COMPACTED_IN) },
            None => size,
        }
    }

    /// Says whether the window may be smaller than an ordinary one.
    pub fn may_be_small(notes: &Notes, env: &Env) -> bool {
        notes.told().is_some_and(|told| told.size < ORDINARY) || env.is_set(COMPACTED_IN)
    }

    fn known(window: Window<'_>, notes: &Notes, around: &Around<'_>) -> Self {
        let told = notes.told();
        let start = notes.start();
        let main_model = match (&told, &start) {
            (Some(told), _) => Some(&*told.model),
            (None, Start::Model(model)) => Some(model.as_str()),
            (None, _) => None,
        };
        // A subagent has the window of its parent's model, or an ordinary one of its own.
        if let (true, Some(model), Some(main)) = (window.is_subagent, window.model, main_model)
            && !main.is_empty()
            && !is_same(model, main)
        {
            return Self { tokens: ORDINARY, origin: Origin::OtherModel(model.to_owned()) };
        }
        if let Some(told) = told {
            return Self { tokens: told.size, origin: Origin::StatusLine };
        }
        match (start, window.model) {
            // After `/model`, which the client writes into the user's settings.
            (Start::Model(model), Some(now)) if names_a_model(&model) && !is_same(now, &model) => {
                let other = || Self { tokens: ORDINARY, origin: Origin::OtherModel(now.to_owned()) };
                around.user_settings().and_then(|file| around.in_settings(&file)).unwrap_or_else(other)
            }
            (Start::Model(model), _) => Self { tokens: of_model(&model), origin: Origin::Start(model) },
            (Start::Continued, _) => Self { tokens: ORDINARY, origin: Origin::Continued },
            (Start::Unknown, _) => {
                around.known().unwrap_or(Self { tokens: ORDINARY, origin: Origin::Assumed })
            }
        }
    }
}

impl Around<'_> {
    fn known(&self) -> Option<Size> {
        if self.env.is_on(NO_LARGE) {
            return Some(Size { tokens: ORDINARY, origin: Origin::Environment(NO_LARGE) });
        }
        if let Some(model) = self.env.text(MODEL) {
            return Some(Size { tokens: of_model(&model), origin: Origin::Environment(MODEL) });
        }
        let of_project = |name: &str| self.project.join(".claude").join(name);
        // In the client's order.
        let files = [
            Some(of_project("settings.local.json")),
            Some(of_project("settings.json")),
            self.user_settings(),
        ];
        files.into_iter().flatten().find_map(|file| self.in_settings(&file))
    }

    fn user_settings(&self) -> Option<PathBuf> {
        self.paths.client().map(|folder| folder.join("settings.json"))
    }

    fn in_settings(&self, file: &Path) -> Option<Size> {
        let tokens = of_model(&model_in(file)?);
        Some(Size { tokens, origin: Origin::Settings(with_tilde(file, self.env)) })
    }
}

/// Returns the model that the client's settings in a file name.
fn model_in(file: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Settings<'a> {
        #[serde(borrow)]
        model: Option<Text<'a>>,
    }

    // The user may keep settings elsewhere and link to them.
    let bytes = files::read_followed(file, SETTINGS_CAP).ok()?;
    let settings: Settings<'_> = serde_json::from_slice(&bytes).ok()?;
    settings.model.map(|model| String::from(&*model)).filter(|model| !model.is_empty())
}

/// Returns the size of the window of a model, by its name.
fn of_model(model: &str) -> u64 {
    if without_size(model).len() < model.len() { LARGE } else { ORDINARY }
}

/// Returns a model's name without the size of its window.
fn without_size(model: &str) -> &str {
    const SUFFIX: &str = "[1m]";
    let start = model.len().saturating_sub(SUFFIX.len());
    match model.get(start..) {
        Some(end) if end.eq_ignore_ascii_case(SUFFIX) => &model[..start],
        _ => model,
    }
}

/// Says whether a name tells which model it means: that of a profile in a cloud may not.
fn names_a_model(name: &str) -> bool {
    ["claude", "opus", "sonnet", "haiku"].iter().any(|family| name.contains(family))
}

/// Says whether two names mean one model: a name may be a part of another one, as `opus` of `claude-opus-4-8`, and that of what a
/// cloud calls it.
fn is_same(model: &str, other: &str) -> bool {
    let (model, other) = (without_size(model), without_size(other));
    model.contains(other) || other.contains(model)
}
