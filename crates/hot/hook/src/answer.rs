//! What a hook answers: typed per event, so that the client accepts whatever compiles.

use crate::cap;
use crate::claims::Claim;
use crate::event::{
    Block, Event, PermissionRequest, PostToolUse, PreCompact, PreToolUse, TakesContext, UserPromptSubmit,
};
use crate::platform::{AFTER_TOOL, Platform};
use base::Paths;
use base::notice::{About, Line};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

/// The answer of a hook to the event `E`.
#[derive(Debug)]
pub struct Answer<E> {
    parts: Parts,
    event: PhantomData<fn(E)>,
}

#[derive(Debug, Default)]
struct Parts {
    context: Option<String>,
    rest: Option<String>,
    system_message: Option<String>,
    block: Option<String>,
    /// Whether the client leaves the prompt out of what it shows of a block.
    hides_prompt: bool,
    permission: Option<(&'static str, Option<String>)>,
    decision: Option<PermissionDecision>,
    updated_input: Option<Value>,
    updated_tool_output: Option<Value>,
    updated_mcp_tool_output: Option<Value>,
    plain: Option<String>,
    stopped: Option<Stopped>,
    seen: Option<String>,
    /// The lessons that a refusal is from.
    lessons: Option<String>,
    refuser: Option<Refuser>,
    claims: Vec<Claim>,
    afterwards: Vec<Afterwards>,
}

/// A compaction that does not happen.
#[derive(Debug)]
struct Stopped {
    /// For scripts around the client, which itself drops it.
    stdout: String,
    /// What the client shows.
    stderr: String,
}

/// What of ours refuses a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// A guard.
    Guard,
    /// One pause or more.
    Pause,
    /// The end of a loop: the call has failed before.
    Loop,
}

impl Refuser {
    /// Returns the name that observations have.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Pause => "pause",
            Self::Loop => "loop",
        }
    }
}

/// Something to do once the answer is written.
pub struct Afterwards(Box<dyn FnOnce() -> Result<(), Box<dyn Error>>>);

impl Afterwards {
    /// Does it.
    pub(crate) fn happen(self) -> Result<(), Box<dyn Error>> {
        (self.0)()
    }
}

impl fmt::Debug for Afterwards {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Afterwards")
    }
}

/// The answer to a permission request.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum PermissionDecision {
    /// The tool may run.
    Allow {
        /// What it runs with instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
        /// What the client shall remember.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<Value>,
    },
    /// The tool may not run.
    Deny {
        /// Why, for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether the turn ends.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
    },
}

impl<E: Event> Answer<E> {
    /// Says nothing.
    pub fn silent() -> Self {
        Self::of(Parts::default())
    }

    /// Refuses, by the mechanism that the event has; where it has none, the run loop logs the reason instead.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::of(Parts { block: Some(reason.into()), ..Parts::default() })
    }

    /// Also shows `message` to the user; the model does not see it.
    pub fn telling_user(mut self, message: impl Into<String>) -> Self {
        self.tell_user(message.into());
        self
    }

    /// Also shows the user a line of notices, and remembers them when the answer is written; what did not fit waits for the
    /// next prompt with the memory in `wyren`.
    pub fn noticing(self, line: Line, paths: &Paths, wyren: Option<&Path>) -> Self {
        let (paths, wyren) = (paths.clone(), wyren.map(Path::to_owned));
        let said = if line.text.is_empty() { self } else { self.telling_user(line.text.clone()) };
        said.afterwards(move || {
            let about = wyren.as_deref().map_or(About::Everything, About::Memory);
            line.remember(&paths, about).map_err(Into::into)
        })
    }

    /// Confirms claims once the answer is written: what dies before that may be said again.
    pub fn claiming(mut self, claims: impl IntoIterator<Item = Claim>) -> Self {
        self.parts.claims.extend(claims);
        self
    }

    /// Does something once the answer is written, or once there is nothing to say: what dies before that may be said
    /// again. An error becomes a line in the log.
    pub fn afterwards(mut self, task: impl FnOnce() -> Result<(), Box<dyn Error>> + 'static) -> Self {
        self.parts.afterwards.push(Afterwards(Box::new(task)));
        self
    }

    /// Says where the rest is when the context is too long to send: a command or a file.
    pub fn rest_at(mut self, place: impl Into<String>) -> Self {
        self.parts.rest = Some(place.into());
        self
    }

    /// Returns the texts that the answer gives the model or the person, each with its form: `context`, `block`, …
    pub fn texts(&self) -> Vec<(&'static str, &str)> {
        let Parts { context, block, permission, system_message, plain, stopped, .. } = &self.parts;
        let (decision, reason) =
            permission.as_ref().map_or(("", None), |(form, reason)| (*form, reason.as_deref()));
        let texts = [
            ("context", context.as_deref()),
            ("block", block.as_deref()),
            (decision, reason),
            ("instructions", plain.as_deref()),
            ("stop", stopped.as_ref().map(|stopped| stopped.stderr.as_str())),
            ("systemMessage", system_message.as_deref()),
        ];
        texts.into_iter().filter_map(|(form, text)| Some((form, text?))).collect()
    }

    /// Notes which lessons a refusal is from, separated by commas. The client does not get them.
    pub fn from_lessons(mut self, slugs: impl Into<String>) -> Self {
        self.parts.lessons = Some(slugs.into());
        self
    }

    /// Returns the lessons that the answer shows or is from, separated by commas.
    pub fn lessons(&self) -> Option<&str> {
        self.parts.lessons.as_deref().or(self.parts.seen.as_deref())
    }

    pub(crate) fn tell_user(&mut self, message: String) {
        let told = &mut self.parts.system_message;
        *told = Some(told.take().map_or_else(|| message.clone(), |earlier| format!("{earlier}\n{message}")));
    }

    fn of(parts: Parts) -> Self {
        Self { parts, event: PhantomData }
    }
}

impl<E: TakesContext> Answer<E> {
    /// Gives the model `text` as context.
    pub fn context(text: impl Into<String>) -> Self {
        Self::silent().with_context(text)
    }

    /// Also gives the model `text` as context; an empty text says nothing.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.parts.context = Some(text.into()).filter(|text| !text.is_empty());
        self
    }

    /// Also gives the model `text` as context, after what it gets already.
    pub fn adding_context(mut self, text: &str) -> Self {
        let before = self.parts.context.take();
        self.with_context(before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}")))
    }
}

impl Answer<UserPromptSubmit> {
    /// Shows the user `text` in place of their prompt, which neither reaches the model nor stays in the conversation.
    pub fn instead_of_prompt(text: impl Into<String>) -> Self {
        Self::of(Parts { block: Some(text.into()), hides_prompt: true, ..Parts::default() })
    }
}

impl Answer<PreToolUse> {
    /// Lets the tool run without asking the user.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::decided("allow", reason.into())
    }

    /// Refuses the call; the model gets `reason` as its result.
    pub fn deny(refuser: Refuser, reason: impl Into<String>) -> Self {
        Self::of(Parts { block: Some(reason.into()), refuser: Some(refuser), ..Parts::default() })
    }

    /// Returns what refuses the call, and why; `None` where nothing does.
    pub fn refusal(&self) -> Option<(Refuser, &str)> {
        Some((self.parts.refuser?, self.parts.block.as_deref()?))
    }

    /// Has the user decide.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::decided("ask", reason.into())
    }

    /// Also replaces the tool's input.
    pub fn updated_input(mut self, input: Value) -> Self {
        self.parts.updated_input = Some(input);
        self
    }

    /// Also lists the lessons that were shown, at the top level as lessons-learned did. The client ignores it; scripts
    /// around other agents hand it back as `LESSONS_SEEN`.
    pub fn with_lessons_seen(mut self, slugs: impl Into<String>) -> Self {
        self.parts.seen = Some(slugs.into()).filter(|slugs| !slugs.is_empty());
        self
    }

    fn decided(decision: &'static str, reason: String) -> Self {
        let reason = Some(reason).filter(|reason| !reason.is_empty());
        Self::of(Parts { permission: Some((decision, reason)), ..Parts::default() })
    }
}

impl Answer<PostToolUse> {
    /// Also replaces what the model sees of the output; the value must have the shape of the tool's own response.
    pub fn updated_tool_output(mut self, output: Value) -> Self {
        self.parts.updated_tool_output = Some(output);
        self
    }

    /// Also replaces what the model sees of an MCP tool's output.
    pub fn updated_mcp_tool_output(mut self, output: Value) -> Self {
        self.parts.updated_mcp_tool_output = Some(output);
        self
    }
}

impl Answer<PermissionRequest> {
    /// Answers in the user's place.
    pub fn decide(decision: PermissionDecision) -> Self {
        Self::of(Parts { decision: Some(decision), ..Parts::default() })
    }
}

impl Answer<PreCompact> {
    /// Gives the summariser `text` as instructions: this event's plain output goes to it word for word.
    pub fn instructions(text: impl Into<String>) -> Self {
        Self::of(Parts { plain: Some(text.into()), ..Parts::default() })
    }

    /// Stops the compaction in the way of lessons-learned: exit code 2, which no other answer of any event has. The client
    /// shows `stderr` and drops `stdout`, which is for scripts around it.
    pub fn stop_compaction(stdout: impl Into<String>, stderr: impl Into<String>) -> Self {
        let stopped = Stopped { stdout: stdout.into(), stderr: stderr.into() };
        Self::of(Parts { stopped: Some(stopped), ..Parts::default() })
    }
}

/// An answer as the client takes it.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    /// The bytes for standard output; empty when there is nothing to say.
    pub(crate) stdout: String,
    /// What the log shows.
    pub(crate) emitted: Vec<Emitted>,
    /// What the client has no way to show, for standard error.
    pub(crate) stderr: Option<String>,
    /// Whether it blocks and the event has no mechanism for that.
    pub(crate) is_unblockable: bool,
    /// Whether it stops a compaction, by the exit code.
    pub(crate) stops_compaction: bool,
    /// What is confirmed once the answer is written.
    pub(crate) claims: Vec<Claim>,
    /// What is done once the answer is written.
    pub(crate) afterwards: Vec<Afterwards>,
}

/// One text that went out.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// `context`, `block`, `systemMessage`, …
    pub(crate) kind: &'static str,
    /// How long it was.
    pub(crate) chars: usize,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<Seen<'a>>,
}

/// The carrier of state of lessons-learned.
#[derive(Serialize)]
struct Seen<'a> {
    #[serde(rename = "LESSONS_SEEN")]
    slugs: &'a str,
}

impl<'a> Output<'a> {
    /// Says the same in the way of an agent.
    fn adapt(&mut self, platform: Platform, event: &'a str) {
        match (platform, &mut self.hook_specific_output) {
            // One unknown field, or one decision that it does not support, makes it drop the whole answer.
            (Platform::Codex, specific) => {
                self.env = None;
                if let Some(specific) = specific {
                    specific.suppress_original_prompt = None;
                    specific.updated_tool_output = None;
                    let is_refusal = specific.permission_decision == Some("deny");
                    if !is_refusal && specific.updated_input.is_none() {
                        specific.permission_decision = None;
                        specific.permission_decision_reason = None;
                    }
                    let is_empty =
                        |reason: Option<&str>| reason.is_none_or(|reason| reason.trim().is_empty());
                    if is_refusal && is_empty(specific.permission_decision_reason) {
                        specific.permission_decision_reason = Some("refused");
                    }
                }
                if self.hook_specific_output.as_ref().is_some_and(|specific| !specific.says_something()) {
                    self.hook_specific_output = None;
                }
            }
            // It decides by what is at the top level, and passes over what it does not know.
            (Platform::Gemini, Some(specific)) => {
                specific.hook_event_name = event;
                self.decision = self.decision.or(specific.permission_decision);
                self.reason = self.reason.or(specific.permission_decision_reason);
            }
            _ => {}
        }
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a PermissionDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppress_original_prompt: Option<bool>,
}

impl Specific<'_> {
    /// Says whether there is more in it than the event's name.
    fn says_something(&self) -> bool {
        self.permission_decision.is_some()
            || self.decision.is_some()
            || self.updated_input.is_some()
            || self.additional_context.is_some()
            || self.updated_tool_output.is_some()
            || self.updated_mcp_tool_output.is_some()
            || self.suppress_original_prompt.is_some()
    }
}

/// What Cursor takes: one object without levels. Which of its fields count depends on the event.
#[derive(Serialize, Default)]
struct ForCursor<'a> {
    /// Whether the prompt goes to the model.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<Cow<'a, str>>,
}

impl<'a> ForCursor<'a> {
    fn of(output: &Output<'a>, event: &str) -> Self {
        let specific = output.hook_specific_output.as_ref();
        let permission = specific.and_then(|specific| specific.permission_decision);
        let reason = specific.and_then(|specific| specific.permission_decision_reason).or(output.reason);
        let is_refusal = permission == Some("deny") || output.decision.is_some();
        let mut context = specific.and_then(|specific| specific.additional_context).map(Cow::Borrowed);
        // It shows the user a message with a refusal only. What takes context takes the message as well, for the model to
        // pass on.
        if let Some(message) = output.system_message
            && CURSOR_CONTEXT.contains(&event)
        {
            let message = format!("Tell the user: {message}");
            context =
                Some(context.map_or(message.clone(), |context| format!("{context}\n\n{message}")).into());
        }
        Self {
            goes_on: output.decision.map(|_| false),
            permission,
            agent_message: reason.filter(|_| permission.is_some()),
            user_message: reason.filter(|_| is_refusal).or(output.system_message),
            updated_input: specific.and_then(|specific| specific.updated_input),
            additional_context: context,
        }
    }
}

/// The events, by Wyren's names, whose context Cursor gives the model.
const CURSOR_CONTEXT: [&str; 3] = ["SessionStart", "PostToolUse", AFTER_TOOL];

impl<E: Event> Answer<E> {
    /// Turns the answer into what goes to standard output, in the way of the agent that sent the event called `event`.
    /// `spill` keeps a text that is too long and returns where.
    pub(crate) fn render(
        self,
        platform: impl FnOnce() -> Platform,
        event: &str,
        spill: impl Fn(&str) -> Option<String>,
    ) -> Rendered {
        let Parts { mut context, rest, mut system_message, mut block, mut permission, .. } = self.parts;
        let mut decision = self.parts.decision;
        let mut rendered =
            Rendered { claims: self.parts.claims, afterwards: self.parts.afterwards, ..Rendered::default() };

        let note = |full: &str| {
            let place = rest.clone().or_else(|| spill(full));
            place.map_or_else(|| "[cut: too long]".to_owned(), |place| format!("[cut; the rest: {place}]"))
        };
        for text in [&mut context, &mut system_message, &mut block].into_iter().flatten() {
            *text = cap::fit(std::mem::take(text), note);
        }
        if let Some((_, Some(reason))) = &mut permission {
            *reason = cap::fit(std::mem::take(reason), note);
        }

        let mut emit = |kind, text: &str| {
            rendered.emitted.push(Emitted { kind, chars: text.chars().count() });
        };
        if let Some(text) = &context {
            emit("context", text);
        }
        if let Some(reason) = &block
            && E::BLOCK != Block::None
        {
            emit("block", reason);
        }
        if let Some((decision, reason)) = &permission {
            emit(decision, reason.as_deref().unwrap_or_default());
        }
        if let Some(decision) = &decision {
            emit("permission", &serde_json::to_string(decision).unwrap_or_default());
        }
        if let Some(text) = &self.parts.plain {
            emit("instructions", text);
        }
        if let Some(stopped) = &self.parts.stopped {
            emit("stop", &stopped.stderr);
        }
        if let Some(message) = &system_message {
            emit("systemMessage", message);
        }
        if let Some(Stopped { stdout, stderr }) = self.parts.stopped {
            let stderr = cap::fit(stderr, note);
            return Rendered { stdout, stderr: Some(stderr), stops_compaction: true, ..rendered };
        }

        let mut output = Output::default();
        match (E::BLOCK, &block) {
            (_, None) => {}
            (Block::Deny, Some(reason)) => permission = Some(("deny", Some(reason.clone()))),
            (Block::DenyPermission, Some(reason)) => {
                decision = Some(PermissionDecision::Deny { message: Some(reason.clone()), interrupt: false });
            }
            (Block::TopLevel, Some(reason)) => {
                output.decision = Some("block");
                output.reason = Some(reason);
            }
            (Block::None, Some(_)) => rendered.is_unblockable = true,
        }
        if E::TELLS_USER {
            output.system_message = system_message.as_deref();
        } else {
            rendered.stderr.clone_from(&system_message);
        }

        let specific = Specific {
            hook_event_name: E::NAME,
            permission_decision: permission.as_ref().map(|(decision, _)| *decision),
            permission_decision_reason: permission.as_ref().and_then(|(_, reason)| reason.as_deref()),
            decision: decision.as_ref(),
            updated_input: self.parts.updated_input.as_ref(),
            additional_context: context.as_deref(),
            updated_tool_output: self.parts.updated_tool_output.as_ref(),
            updated_mcp_tool_output: self.parts.updated_mcp_tool_output.as_ref(),
            suppress_original_prompt: self.parts.hides_prompt.then_some(true),
        };
        if specific.says_something() {
            output.hook_specific_output = Some(specific);
            output.env = self.parts.seen.as_deref().map(|slugs| Seen { slugs });
        }

        if let Some(text) = self.parts.plain
            && output.decision.is_none()
        {
            rendered.stdout = cap::fit(text, note);
        } else if output.decision.is_some()
            || output.system_message.is_some()
            || output.hook_specific_output.is_some()
        {
            let platform = platform();
            output.adapt(platform, event);
            rendered.stdout = match platform {
                Platform::Cursor => serde_json::to_string(&ForCursor::of(&output, event)),
                _ => serde_json::to_string(&output),
            }
            .unwrap_or_default();
        }
        rendered
    }
}

impl Emitted {
    /// Returns the log's message about this text: `HOOK_OUTPUT [context] 842 chars`. The text itself is an observation.
    pub(crate) fn message(&self) -> String {
        format!("HOOK_OUTPUT [{}] {} chars", self.kind, self.chars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{
        Notification, PostToolUseFailure, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop,
        UserPromptSubmit,
    };
    use serde_json::json;

    #[track_caller]
    fn check<E: Event>(answer: Answer<E>, expected: Value) {
        check_for(Platform::ClaudeCode, answer, expected);
    }

    #[track_caller]
    fn check_for<E: Event>(platform: Platform, answer: Answer<E>, expected: Value) {
        let stdout = answer.render(|| platform, E::NAME, |_| None).stdout;
        assert_eq!(serde_json::from_str::<Value>(&stdout).expect(&stdout), expected);
    }

    #[test]
    fn context_carries_the_name_of_its_event() {
        fn check_event<E: TakesContext>(name: &str) {
            check(
                Answer::<E>::context("x"),
                json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": "x"}}),
            );
        }
        check_event::<SessionStart>("SessionStart");
        check_event::<UserPromptSubmit>("UserPromptSubmit");
        check_event::<PreToolUse>("PreToolUse");
        check_event::<PostToolUse>("PostToolUse");
        check_event::<PostToolUseFailure>("PostToolUseFailure");
        check_event::<Stop>("Stop");
        check_event::<SubagentStart>("SubagentStart");
        check_event::<SubagentStop>("SubagentStop");
        check_event::<Notification>("Notification");
    }

    #[test]
    fn a_stopped_compaction_has_both_texts_and_no_json() {
        let rendered = Answer::stop_compaction("the handoff", "where it is").render(
            || Platform::ClaudeCode,
            "",
            |_| None,
        );
        assert!(rendered.stops_compaction && rendered.stdout == "the handoff");
        assert_eq!(rendered.stderr.as_deref(), Some("where it is"));
        assert!(
            !Answer::<PreCompact>::block("no").render(|| Platform::ClaudeCode, "", |_| None).stops_compaction
        );
    }

    #[test]
    fn a_block_uses_the_mechanism_of_its_event() {
        let deny = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
        }});
        check(Answer::<PreToolUse>::block("no"), deny);
        let top_level = json!({"decision": "block", "reason": "no"});
        check(Answer::<UserPromptSubmit>::block("no"), top_level.clone());
        check(Answer::<PostToolUse>::block("no"), top_level.clone());
        check(Answer::<Stop>::block("no"), top_level.clone());
        check(Answer::<PreCompact>::block("no"), top_level);
        let permission = json!({"hookSpecificOutput": {
            "hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no"},
        }});
        check(Answer::<PermissionRequest>::block("no"), permission);
    }

    #[test]
    fn a_block_without_a_mechanism_says_nothing_and_is_reported() {
        let rendered = Answer::<SessionEnd>::block("no").render(|| Platform::ClaudeCode, "", |_| None);
        assert_eq!(rendered.stdout, "");
        assert!(rendered.is_unblockable);
        assert!(rendered.emitted.is_empty());
    }

    #[test]
    fn tool_calls_can_be_allowed_asked_about_and_changed() {
        check(
            Answer::allow("safe").updated_input(json!({"command": "ls"})).with_context("c"),
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "safe",
                "updatedInput": {"command": "ls"}, "additionalContext": "c",
            }}),
        );
        check(
            Answer::<PreToolUse>::ask(""),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}),
        );
        check(
            Answer::<PostToolUse>::silent().updated_tool_output(json!({"stdout": "x"})),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"stdout": "x"}}}),
        );
        check(
            Answer::<PostToolUse>::silent().updated_mcp_tool_output(json!("x")),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "x"}}),
        );
    }

    #[test]
    fn other_agents_are_answered_in_their_own_way() {
        let specific = |event: &str| json!({"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": "no"});
        let deny = || Answer::<PreToolUse>::deny(Refuser::Guard, "no").with_lessons_seen("a");
        check_for(Platform::Codex, deny(), json!({"hookSpecificOutput": specific("PreToolUse")}));
        check_for(
            Platform::Gemini,
            deny(),
            json!({
                "decision": "deny", "reason": "no", "hookSpecificOutput": specific("PreToolUse"),
                "env": {"LESSONS_SEEN": "a"},
            }),
        );
        let stdout = deny().render(|| Platform::Gemini, "BeforeTool", |_| None).stdout;
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["hookSpecificOutput"], specific("BeforeTool"));
        let hint = || Answer::<PreToolUse>::context("c").with_lessons_seen("a").telling_user("u");
        let context = json!({"hookEventName": "PreToolUse", "additionalContext": "c"});
        check_for(Platform::Codex, hint(), json!({"systemMessage": "u", "hookSpecificOutput": context}));
        check_for(
            Platform::Gemini,
            hint(),
            json!({"systemMessage": "u", "hookSpecificOutput": context, "env": {"LESSONS_SEEN": "a"}}),
        );
    }

    #[test]
    fn codex_gets_no_decision_that_it_does_not_support() {
        let kept = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c"}});
        check_for(Platform::Codex, Answer::<PreToolUse>::ask("why").with_context("c"), kept.clone());
        check_for(Platform::Codex, Answer::<PreToolUse>::allow("safe").with_context("c"), kept);
        let changed = Answer::<PreToolUse>::allow("safe").updated_input(json!({"command": "ls"}));
        check_for(
            Platform::Codex,
            changed,
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "safe",
                "updatedInput": {"command": "ls"},
            }}),
        );
        let reason = |answer: Answer<PreToolUse>| {
            let stdout = answer.render(|| Platform::Codex, "PreToolUse", |_| None).stdout;
            let answer: Value = serde_json::from_str(&stdout).unwrap();
            answer["hookSpecificOutput"]["permissionDecisionReason"].clone()
        };
        assert_eq!(reason(Answer::deny(Refuser::Guard, " ")), "refused");
    }

    #[test]
    fn codex_gets_no_field_that_it_does_not_know() {
        check_for(
            Platform::Codex,
            Answer::instead_of_prompt("All is well."),
            json!({"decision": "block", "reason": "All is well."}),
        );
    }

    #[test]
    fn cursor_gets_answers_without_levels() {
        let cursor = |stdout: String| -> Value { serde_json::from_str(&stdout).unwrap() };
        let render = |answer: Answer<PreToolUse>, event| {
            cursor(answer.render(|| Platform::Cursor, event, |_| None).stdout)
        };
        assert_eq!(
            render(Answer::deny(Refuser::Guard, "no").with_lessons_seen("a"), "BeforeTool"),
            json!({"permission": "deny", "agent_message": "no", "user_message": "no"})
        );
        assert_eq!(render(Answer::context("c"), "AfterTool"), json!({"additional_context": "c"}));
        check_for(
            Platform::Cursor,
            Answer::instead_of_prompt("All is well."),
            json!({"continue": false, "user_message": "All is well."}),
        );
        let start = Answer::<SessionStart>::context("c").telling_user("low");
        let start = cursor(start.render(|| Platform::Cursor, "SessionStart", |_| None).stdout);
        assert_eq!(start["additional_context"], "c\n\nTell the user: low");
    }

    #[test]
    fn the_lessons_seen_stand_at_the_top_level() {
        check(
            Answer::<PreToolUse>::context("c").with_lessons_seen("a,b"),
            json!({
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c"},
                "env": {"LESSONS_SEEN": "a,b"},
            }),
        );
    }

    #[test]
    fn a_permission_is_decided_inside_the_specific_output() {
        check(
            Answer::decide(PermissionDecision::Allow { updated_input: None, updated_permissions: None }),
            json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": {"behavior": "allow"},
            }}),
        );
        check(
            Answer::decide(PermissionDecision::Deny { message: Some("no".into()), interrupt: true }),
            json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": "no", "interrupt": true},
            }}),
        );
    }

    #[test]
    fn an_answer_in_place_of_the_prompt_hides_the_prompt() {
        check(
            Answer::instead_of_prompt("All is well."),
            json!({
                "decision": "block", "reason": "All is well.",
                "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true},
            }),
        );
    }

    #[test]
    fn the_user_sees_a_message_through_the_client_or_else_on_standard_error() {
        check(Answer::<Stop>::silent().telling_user("low"), json!({"systemMessage": "low"}));
        let rendered = Answer::<SessionEnd>::silent().telling_user("one").telling_user("two").render(
            || Platform::ClaudeCode,
            "",
            |_| None,
        );
        assert_eq!(rendered.stdout, "");
        assert_eq!(rendered.stderr.as_deref(), Some("one\ntwo"));
    }

    #[test]
    fn instructions_for_the_summariser_are_plain_text() {
        assert_eq!(
            Answer::instructions("keep the plan").render(|| Platform::ClaudeCode, "", |_| None).stdout,
            "keep the plan"
        );
        assert_eq!(Answer::<PreCompact>::silent().render(|| Platform::ClaudeCode, "", |_| None).stdout, "");
    }

    #[test]
    fn an_over_long_context_says_where_the_rest_is() {
        let answer = Answer::<SessionStart>::context("line\n".repeat(10_000)).rest_at("wyren memory show");
        let text: Value =
            serde_json::from_str(&answer.render(|| Platform::ClaudeCode, "", |_| None).stdout).unwrap();
        let text = text["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.ends_with("[cut; the rest: wyren memory show]"), "{}", &text[text.len() - 60..]);
    }
}
