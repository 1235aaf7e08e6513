//! What tells one tool call from another.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The part of a tool's input that decides what the call does, where there is such a part.
#[derive(Deserialize)]
struct Main<'a> {
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow)]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timeout: Option<&'a RawValue>,
    #[serde(borrow)]
    run_in_background: Option<&'a RawValue>,
}

/// Returns a number that equal calls share: the same tool with the same input. Of a shell call the command
/// and how it runs count, and not its description, which the model words anew each time.
pub fn call_key(tool: &str, input: Option<&RawValue>) -> u64 {
    let input = input.map_or("", RawValue::get);
    let mut hasher = Xxh3::new();
    hasher.update(&xxh3_64(tool.as_bytes()).to_le_bytes());
    let shell = if tool == "Bash" { main(input) } else { None };
    match shell {
        Some(Main { command: Some(command), timeout, run_in_background, .. }) => {
            for option in [timeout, run_in_background] {
                hasher.update(option.map_or("", RawValue::get).as_bytes());
                hasher.update(&[0]);
            }
            hasher.update(command.as_bytes());
        }
        _ => hasher.update(input.as_bytes()),
    }
    hasher.digest()
}

/// Returns what a call would do, as a person reads it: its command, else its file, else its input as JSON.
pub fn shown_input(input: Option<&RawValue>) -> Cow<'_, str> {
    let input = input.map_or("", RawValue::get);
    main(input).and_then(|main| main.command.or(main.file_path)).unwrap_or(Cow::Borrowed(input))
}

fn main(input: &str) -> Option<Main<'_>> {
    serde_json::from_str(input).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(input: &str) -> Box<RawValue> {
        RawValue::from_string(input.to_owned()).unwrap()
    }

    #[test]
    fn the_description_of_a_command_does_not_make_another_call() {
        let key = |tool: &str, input: &str| call_key(tool, Some(&raw(input)));
        let make = key("Bash", r#"{"command":"make","description":"Build"}"#);
        assert_eq!(make, key("Bash", r#"{"description":"Build it","command":"m\u0061ke"}"#));
        assert_ne!(make, key("Bash", r#"{"command":"make","description":"Build","timeout":600000}"#));
        assert_ne!(make, key("Bash", r#"{"command":"make","run_in_background":true}"#));
        assert_ne!(make, key("Bash", r#"{"command":"make all"}"#));
        assert_ne!(make, key("mcp__sh__run", r#"{"command":"make","description":"Build"}"#));
        let write = r#"{"file_path":"a","content":"x"}"#;
        assert_ne!(key("Write", write), key("Write", &write.replace('x', "y")));
        assert_eq!(call_key("Bash", None), call_key("Bash", None));
    }

    #[test]
    fn a_call_is_shown_by_what_it_runs_or_touches() {
        for (input, shown) in [
            (r#"{"command":"make","description":"d"}"#, "make"),
            (r#"{"file_path":"a.rs","content":"x"}"#, "a.rs"),
            (r#"{"url":"u"}"#, r#"{"url":"u"}"#),
            (r#"{"command":["ls"]}"#, r#"{"command":["ls"]}"#),
        ] {
            assert_eq!(shown_input(Some(&raw(input))), shown);
        }
    }
}
