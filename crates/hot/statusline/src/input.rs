//! What the client tells on standard input. Fields that are missing, or `null`, are absent.

use hook::event::Text;
use serde::Deserialize;

/// All of it that is shown.
#[derive(Debug, Deserialize)]
pub struct Input<'a> {
    #[serde(borrow)]
    pub session_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub prompt_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow)]
    pub model: Option<Model<'a>>,
    #[serde(borrow)]
    pub workspace: Option<Workspace<'a>>,
    pub context_window: Option<ContextWindow>,
}

#[derive(Debug, Deserialize)]
pub struct Model<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub display_name: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct Workspace<'a> {
    #[serde(borrow)]
    pub current_dir: Option<Text<'a>>,
    #[serde(borrow)]
    pub project_dir: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ContextWindow {
    /// In tokens.
    pub context_window_size: Option<u64>,
    pub remaining_percentage: Option<f64>,
    pub current_usage: Option<Usage>,
}

/// The tokens of the last request.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Usage {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
}

impl ContextWindow {
    /// Returns how much of the window is left, in percent: by the tokens in use, else as the client rounds it. A window that
    /// nothing is in yet is whole.
    pub fn left(&self) -> Option<u8> {
        let size = self.context_window_size.filter(|size| *size > 0);
        let used = self.current_usage.map(|usage| {
            let parts = [
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_creation_input_tokens,
                usage.cache_read_input_tokens,
            ];
            parts.into_iter().flatten().fold(0_u64, u64::saturating_add)
        });
        let percent = match (size, used, self.remaining_percentage) {
            (Some(size), Some(used), _) => size.saturating_sub(used) as f64 * 100.0 / size as f64,
            (_, _, Some(percent)) => percent,
            (Some(_), None, None) => 100.0,
            (None, ..) => return None,
        };
        Some(percent.clamp(0.0, 100.0) as u8)
    }
}
