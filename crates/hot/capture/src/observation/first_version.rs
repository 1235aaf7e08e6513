//! Lines of version 1: two kinds, all their values beside the head. Hooks of Wyren 0.1 wrote them.

use super::{Data, Observation, Prompt, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    ts: u64,
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(borrow, default)]
    cwd: Cow<'a, str>,
    agent: Option<Cow<'a, str>>,
    agent_type: Option<Cow<'a, str>>,
    prompt: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    error: Option<Cow<'a, str>>,
    duration_ms: Option<f64>,
}

/// Reads a line of version 1; `None` for a kind that it did not have.
pub(super) fn read(line: &[u8]) -> Option<Observation<'_>> {
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    let data = match &*line.kind {
        "prompt" => Data::Prompt(Prompt {
            text: line.prompt.unwrap_or_default(),
            permission_mode: None,
            branch: None,
            after_private: false,
        }),
        "tool" => Data::Tool(ToolCall {
            tool: line.tool.unwrap_or_default(),
            tool_use_id: line.tool_use_id,
            input: line.input,
            output: line.output,
            error: line.error,
            interrupted: false,
            duration_ms: line.duration_ms,
            permission_mode: None,
        }),
        _ => return None,
    };
    Some(Observation {
        id: line.id,
        at: line.ts,
        session: line.session,
        platform: None,
        cwd: line.cwd,
        prompt_id: None,
        agent: line.agent,
        agent_type: line.agent_type,
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_first_version_keeps_every_value() {
        let prompt = r#"{"v":1,"kind":"prompt","id":"p:1","ts":1794796001123,"session":"s","cwd":"/p","prompt":"hello"}"#;
        let tool = concat!(
            r#"{"v":1,"kind":"tool","id":"t:1","ts":7,"session":"s","cwd":"/p","agent":"a","agent_type":"Explore","#,
            r#""tool":"Bash","tool_use_id":"1","input":{"command": "ls"},"output":[1],"error":"Exit code 1","duration_ms":1.5}"#
        );
        let now =
            |line: &'static str| serde_json::to_string(&Observation::read(line.as_bytes()).unwrap()).unwrap();
        assert_eq!(
            now(prompt),
            r#"{"v":2,"kind":"prompt","id":"p:1","ts":1794796001123,"session":"s","cwd":"/p","data":{"text":"hello"}}"#
        );
        assert_eq!(
            now(tool),
            concat!(
                r#"{"v":2,"kind":"tool","id":"t:1","ts":7,"session":"s","cwd":"/p","agent":"a","agent_type":"Explore","#,
                r#""data":{"tool":"Bash","tool_use_id":"1","input":{"command": "ls"},"output":[1],"error":"Exit code 1","duration_ms":1.5}}"#
            )
        );
        assert!(Observation::read(br#"{"v":1,"kind":"dream","id":"d","ts":7,"session":"s"}"#).is_none());
    }
}
