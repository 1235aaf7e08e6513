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
    /// Returns how much of the window is left, in percent: by the tokens in use, else as the client rounds it. `None` while the
    /// client does not know: what a session that goes on brings along is in no usage before its first answer.
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
        let percent = match (size, used.filter(|used| *used > 0), self.remaining_percentage) {
            (Some(size), Some(used), _) => size.saturating_sub(used) as f64 * 100.0 / size as f64,
            // Every request has instructions in it.
            (_, _, percent) => percent.filter(|percent| *percent < 100.0)?,
        };
        Some(percent.clamp(0.0, 100.0) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(expected: Option<u8>, told: Value) {
        let window: ContextWindow = serde_json::from_str(&told.to_string()).unwrap();
        assert_eq!(window.left(), expected, "{told}");
    }

    #[test]
    fn a_window_of_which_no_use_is_known_has_no_figure() {
        let none = [json!(null), json!({}), json!({"input_tokens": 0, "cache_read_input_tokens": null})];
        for usage in none {
            for rest in [json!(null), json!(100), json!(100.0)] {
                check(
                    None,
                    json!({"context_window_size": 200_000, "current_usage": usage, "remaining_percentage": rest}),
                );
            }
        }
        for told in
            [json!({}), json!({"context_window_size": 1_000_000}), json!({"remaining_percentage": 100})]
        {
            check(None, told);
        }
    }

    #[test]
    fn what_is_in_use_counts_else_what_the_client_says() {
        let usage = |tokens: u64| json!({"input_tokens": 10, "cache_read_input_tokens": tokens});
        check(Some(69), json!({"context_window_size": 200_000, "current_usage": usage(60_000)}));
        check(Some(99), json!({"context_window_size": 1_000_000, "current_usage": usage(10)}));
        check(Some(0), json!({"context_window_size": 200_000, "current_usage": usage(300_000)}));
        check(Some(40), json!({"current_usage": usage(60_000), "remaining_percentage": 40}));
        check(
            Some(40),
            json!({"context_window_size": 200_000, "current_usage": null, "remaining_percentage": 40.9}),
        );
    }
}
