//! One line of a transcript, typed and borrowed.
//!
//! Only fields that have a reader are typed; everything else is skipped. Unknown record types and blocks keep their
//! name, so that a newer client's transcript still reads. What a record *means* for the conversation is decided in
//! [`crate::conversation`], not here.

use std::borrow::Cow;

pub use crate::json::Text;
use crate::json::{Cursor, Malformed};
use crate::usage::Usage;

/// How deep blocks may lie in each other; the client nests two deep (text in a tool's result).
const MAX_BLOCK_DEPTH: usize = 4;

/// A line that is not a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("parse transcript line beyond byte {at}")]
pub struct BadLine {
    /// How many bytes of the line made sense.
    pub at: usize,
}

/// One line of a transcript.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// The record's own id; absent on bookkeeping records.
    pub uuid: Option<Cow<'a, str>>,
    /// The record that this one follows; absent at the start and at a compaction boundary.
    pub parent_uuid: Option<Cow<'a, str>>,
    /// When it was written, RFC 3339 as the client wrote it.
    pub timestamp: Option<Cow<'a, str>>,
    /// The session that wrote it.
    pub session_id: Option<Cow<'a, str>>,
    /// The prompt under which it was written.
    pub prompt_id: Option<Cow<'a, str>>,
    /// The working directory at that moment.
    pub cwd: Option<Cow<'a, str>>,
    /// The git branch at that moment.
    pub git_branch: Option<Cow<'a, str>>,
    pub version: Option<Cow<'a, str>>,
    /// The subagent that wrote it.
    pub agent_id: Option<Cow<'a, str>>,
    /// Whether it belongs to a subagent rather than to the main conversation.
    pub is_sidechain: bool,
    /// Whether the client inserted it; not typed by a person.
    pub is_meta: bool,
    pub body: Body<'a>,
}

#[derive(Debug, Clone)]
pub enum Body<'a> {
    /// A message in the user's role: a prompt, a tool's result or something that the client injected.
    User(User<'a>),
    /// One block of the model's message.
    Assistant(Assistant<'a>),
    /// A note by the client.
    System(System<'a>),
    /// Something that was attached to the conversation: hook output, listings, queued prompts.
    Attachment(Attachment<'a>),
    /// A change of what waits for the model: what was typed, or has ended in the background, while it works.
    Queue(Queue<'a>),
    /// A record type without a reader.
    Other {
        /// The record's `type`; empty when it has none.
        kind: Cow<'a, str>,
    },
}

/// A message in the user's role.
#[derive(Debug, Clone)]
pub struct User<'a> {
    pub content: Content<'a>,
    /// Whether it is the summary that a compaction left.
    pub is_compact_summary: bool,
    /// Where a prompt came from (`typed`, `sdk` …).
    pub prompt_source: Option<Cow<'a, str>>,
    /// The mode in which a prompt was sent (`default`, `plan` …).
    pub permission_mode: Option<Cow<'a, str>>,
    /// The tool's structured result, as JSON.
    pub tool_use_result: Option<&'a str>,
}

/// One block of the model's message. The client writes a record per content block and repeats id and usage on each.
#[derive(Debug, Clone)]
pub struct Assistant<'a> {
    /// The message that this block is a part of.
    pub message_id: Option<Cow<'a, str>>,
    /// The request that produced the message.
    pub request_id: Option<Cow<'a, str>>,
    /// The model, or [`SYNTHETIC_MODEL`].
    pub model: Option<Cow<'a, str>>,
    pub stop_reason: Option<Cow<'a, str>>,
    /// The block, as a list of one.
    pub content: Content<'a>,
    /// The tokens of the whole message so far.
    pub usage: Option<Usage>,
}

/// The model name of messages that the client made up itself, such as API errors.
pub const SYNTHETIC_MODEL: &str = "<synthetic>";

impl Assistant<'_> {
    /// Returns whether the client made the message up; no model said it and its usage is zero.
    pub fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some(SYNTHETIC_MODEL)
    }
}

/// A note by the client.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// What kind of note it is.
    pub subtype: Cow<'a, str>,
    /// The text of the note.
    pub content: Option<Cow<'a, str>>,
    /// The compaction that happened here, when the note is a compaction boundary.
    pub compaction: Option<Compaction<'a>>,
}

/// A compaction: what came before is now only known to the model by its summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compaction<'a> {
    /// What asked for it: `manual` or `auto`.
    pub trigger: Option<Cow<'a, str>>,
    /// The context's size before.
    pub pre_tokens: Option<u64>,
    /// The context's size after.
    pub post_tokens: Option<u64>,
    pub duration_ms: Option<u64>,
    /// What all compactions of the session have dropped together.
    pub cumulative_dropped_tokens: Option<u64>,
    /// The records that were kept word for word.
    pub preserved_segment: Option<PreservedSegment<'a>>,
    /// The last record before the boundary; the boundary itself has no parent.
    pub logical_parent_uuid: Option<Cow<'a, str>>,
}

/// The records that a compaction kept word for word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreservedSegment<'a> {
    /// The first record kept.
    pub head_uuid: Option<Cow<'a, str>>,
    /// The summary that they now follow.
    pub anchor_uuid: Option<Cow<'a, str>>,
    /// The last record kept.
    pub tail_uuid: Option<Cow<'a, str>>,
}

/// Something that was attached to the conversation.
#[derive(Debug, Clone, Default)]
pub struct Attachment<'a> {
    /// What was attached (`hook_success`, `skill_listing`, `queued_command` …).
    pub kind: Option<Cow<'a, str>>,
    /// The event of the hook that attached it.
    pub hook_event: Option<Cow<'a, str>>,
    pub hook_name: Option<Cow<'a, str>>,
    /// The tool call that it belongs to.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The attachment's content in whatever form its kind has, as JSON.
    pub content: Option<&'a str>,
    /// What was typed while the model was busy.
    pub prompt: Content<'a>,
    /// How the queued command is to be taken: `prompt` is a person's, `task-notification` is not.
    pub command_mode: Option<Cow<'a, str>>,
    /// Who queued it: `human`, or the name of a mechanism.
    pub origin: Option<Cow<'a, str>>,
}

/// A change of what waits for the model.
#[derive(Debug, Clone)]
pub struct Queue<'a> {
    /// What is done: `enqueue`, `dequeue`, `remove`, `popAll`.
    pub operation: Cow<'a, str>,
    /// What it is done with; mostly only said of `enqueue`.
    pub content: Option<Cow<'a, str>>,
}

/// What a message or a tool's result says: a plain string or a list of blocks.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A plain string.
    Text(Text<'a>),
    /// A list of blocks; empty when the content is missing or of another type.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'a> Content<'a> {
    /// Returns the text: the string, or the text blocks with a newline between them.
    pub fn text(&self) -> Cow<'a, str> {
        self.texts().map(Text::decode).reduce(|before, text| before + "\n" + text).unwrap_or_default()
    }

    /// Returns the string, or the text blocks one by one.
    pub fn texts(&self) -> impl Iterator<Item = Text<'a>> {
        let (string, blocks) = match self {
            Self::Text(text) => (Some(*text), &[][..]),
            Self::Blocks(blocks) => (None, &blocks[..]),
        };
        let in_blocks = blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(*text),
            _ => None,
        });
        string.into_iter().chain(in_blocks)
    }

    /// Returns the blocks; a plain string has none.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

/// One block of a message.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    Text(Text<'a>),
    /// What the model thought before it spoke.
    Thinking(Text<'a>),
    ToolUse(ToolUse<'a>),
    ToolResult(ToolResult<'a>),
    Image,
    /// A block type without a reader.
    Other {
        /// The block's `type`; empty when it has none.
        kind: Cow<'a, str>,
    },
}

#[derive(Debug, Clone)]
pub struct ToolUse<'a> {
    /// The id that the result refers to.
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    /// The tool's input, as JSON.
    pub input: Option<&'a str>,
}

#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// The call that it answers.
    pub tool_use_id: Cow<'a, str>,
    pub is_error: bool,
    pub content: Content<'a>,
}

impl<'a> Record<'a> {
    /// Parses one line. White space around the object, so a carriage return too, is accepted.
    pub fn parse(line: &'a [u8]) -> Result<Self, BadLine> {
        let text = std::str::from_utf8(line).map_err(|error| BadLine { at: error.valid_up_to() })?;
        let mut cursor = Cursor::new(text);
        let parsed = Line::read(&mut cursor).and_then(|line| cursor.end().map(|()| line));
        match parsed {
            Ok(Some(line)) => Ok(line.into()),
            Ok(None) => Err(BadLine { at: 0 }),
            Err(Malformed { at }) => Err(BadLine { at }),
        }
    }
}

/// A record as it lies in the file: one flat object for all types, because the type may come after the rest.
#[derive(Default)]
struct Line<'a> {
    kind: Option<Cow<'a, str>>,
    uuid: Option<Cow<'a, str>>,
    parent_uuid: Option<Cow<'a, str>>,
    logical_parent_uuid: Option<Cow<'a, str>>,
    timestamp: Option<Cow<'a, str>>,
    session_id: Option<Cow<'a, str>>,
    prompt_id: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    git_branch: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    agent_id: Option<Cow<'a, str>>,
    request_id: Option<Cow<'a, str>>,
    prompt_source: Option<Cow<'a, str>>,
    permission_mode: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    operation: Option<Cow<'a, str>>,
    content: Option<Cow<'a, str>>,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    message: Message<'a>,
    attachment: Attachment<'a>,
    compaction: Compaction<'a>,
    tool_use_result: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Option<Self>, Malformed> {
        let mut line = Self::default();
        let is_object = cursor.object(|field, cursor| {
            match field {
                "type" => line.kind = cursor.word()?,
                "uuid" => line.uuid = cursor.word()?,
                "parentUuid" => line.parent_uuid = cursor.word()?,
                "logicalParentUuid" => line.logical_parent_uuid = cursor.word()?,
                "timestamp" => line.timestamp = cursor.word()?,
                "sessionId" => line.session_id = cursor.word()?,
                "promptId" => line.prompt_id = cursor.word()?,
                "cwd" => line.cwd = cursor.word()?,
                "gitBranch" => line.git_branch = cursor.word()?,
                "version" => line.version = cursor.word()?,
                "agentId" => line.agent_id = cursor.word()?,
                "requestId" => line.request_id = cursor.word()?,
                "promptSource" => line.prompt_source = cursor.word()?,
                "permissionMode" => line.permission_mode = cursor.word()?,
                "subtype" => line.subtype = cursor.word()?,
                "operation" => line.operation = cursor.word()?,
                "content" => line.content = cursor.word()?,
                "isSidechain" => line.is_sidechain = cursor.flag()?,
                "isMeta" => line.is_meta = cursor.flag()?,
                "isCompactSummary" => line.is_compact_summary = cursor.flag()?,
                "message" => line.message = Message::read(cursor)?,
                "attachment" => line.attachment = Attachment::read(cursor)?,
                "compactMetadata" => line.compaction = Compaction::read(cursor)?,
                "toolUseResult" => line.tool_use_result = cursor.raw()?,
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        Ok(is_object.then_some(line))
    }
}

#[derive(Default)]
struct Message<'a> {
    id: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    stop_reason: Option<Cow<'a, str>>,
    content: Content<'a>,
    usage: Option<Usage>,
}

impl<'a> Message<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut message = Self::default();
        cursor.object(|field, cursor| {
            match field {
                "id" => message.id = cursor.word()?,
                "model" => message.model = cursor.word()?,
                "stop_reason" => message.stop_reason = cursor.word()?,
                "content" => message.content = Content::read(cursor, MAX_BLOCK_DEPTH)?,
                "usage" => message.usage = Usage::read(cursor)?,
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl<'a> Compaction<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut compaction = Self::default();
        cursor.object(|field, cursor| {
            match field {
                "trigger" => compaction.trigger = cursor.word()?,
                "preTokens" => compaction.pre_tokens = cursor.count()?,
                "postTokens" => compaction.post_tokens = cursor.count()?,
                "durationMs" => compaction.duration_ms = cursor.count()?,
                "cumulativeDroppedTokens" => compaction.cumulative_dropped_tokens = cursor.count()?,
                "preservedSegment" => compaction.preserved_segment = PreservedSegment::read(cursor)?,
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        Ok(compaction)
    }
}

impl<'a> PreservedSegment<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Option<Self>, Malformed> {
        let mut segment = Self::default();
        let is_object = cursor.object(|field, cursor| {
            match field {
                "headUuid" => segment.head_uuid = cursor.word()?,
                "anchorUuid" => segment.anchor_uuid = cursor.word()?,
                "tailUuid" => segment.tail_uuid = cursor.word()?,
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        Ok(is_object.then_some(segment))
    }
}

impl<'a> Attachment<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut attachment = Self::default();
        cursor.object(|field, cursor| {
            match field {
                "type" => attachment.kind = cursor.word()?,
                "hookEvent" => attachment.hook_event = cursor.word()?,
                "hookName" => attachment.hook_name = cursor.word()?,
                "toolUseID" => attachment.tool_use_id = cursor.word()?,
                "content" => attachment.content = cursor.raw()?,
                "prompt" => attachment.prompt = Content::read(cursor, MAX_BLOCK_DEPTH)?,
                "commandMode" => attachment.command_mode = cursor.word()?,
                "origin" => {
                    cursor.object(|field, cursor| {
                        match field {
                            "kind" => attachment.origin = cursor.word()?,
                            _ => drop(cursor.pass()?),
                        }
                        Ok(())
                    })?;
                }
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        Ok(attachment)
    }
}

impl<'a> Content<'a> {
    fn read(cursor: &mut Cursor<'a>, depth: usize) -> Result<Self, Malformed> {
        if cursor.is_text() {
            return Ok(cursor.text()?.map_or_else(Self::default, Self::Text));
        }
        let Some(depth) = depth.checked_sub(1) else {
            cursor.pass()?;
            return Ok(Self::default());
        };
        let mut blocks = Vec::new();
        cursor.list(|cursor| {
            blocks.push(Block::read(cursor, depth)?);
            Ok(())
        })?;
        Ok(Self::Blocks(blocks))
    }
}

impl<'a> Block<'a> {
    fn read(cursor: &mut Cursor<'a>, depth: usize) -> Result<Self, Malformed> {
        let (mut kind, mut text, mut thinking) = (None, None, None);
        let (mut id, mut name, mut input) = (None, None, None);
        let (mut tool_use_id, mut is_error, mut content) = (None, false, Content::default());
        cursor.object(|field, cursor| {
            match field {
                "type" => kind = cursor.word()?,
                "text" => text = cursor.text()?,
                "thinking" => thinking = cursor.text()?,
                "id" => id = cursor.word()?,
                "name" => name = cursor.word()?,
                "input" => input = cursor.raw()?,
                "tool_use_id" => tool_use_id = cursor.word()?,
                "is_error" => is_error = cursor.flag()?,
                "content" => content = Content::read(cursor, depth)?,
                _ => drop(cursor.pass()?),
            }
            Ok(())
        })?;
        let kind = kind.unwrap_or_default();
        Ok(match &*kind {
            "text" => Self::Text(text.unwrap_or_default()),
            "thinking" => Self::Thinking(thinking.unwrap_or_default()),
            "tool_use" => {
                Self::ToolUse(ToolUse { id: id.unwrap_or_default(), name: name.unwrap_or_default(), input })
            }
            "tool_result" => Self::ToolResult(ToolResult {
                tool_use_id: tool_use_id.unwrap_or_default(),
                is_error,
                content,
            }),
            "image" => Self::Image,
            _ => Self::Other { kind },
        })
    }
}

impl<'a> From<Line<'a>> for Record<'a> {
    fn from(line: Line<'a>) -> Self {
        let kind = line.kind.unwrap_or_default();
        let body = match &*kind {
            "user" => Body::User(User {
                content: line.message.content,
                is_compact_summary: line.is_compact_summary,
                prompt_source: line.prompt_source,
                permission_mode: line.permission_mode,
                tool_use_result: line.tool_use_result,
            }),
            "assistant" => {
                let message = line.message;
                Body::Assistant(Assistant {
                    message_id: message.id,
                    request_id: line.request_id,
                    model: message.model,
                    stop_reason: message.stop_reason,
                    content: message.content,
                    usage: message.usage,
                })
            }
            "system" => {
                let subtype = line.subtype.unwrap_or_default();
                let compaction = (subtype == "compact_boundary").then_some(Compaction {
                    logical_parent_uuid: line.logical_parent_uuid,
                    ..line.compaction
                });
                Body::System(System { subtype, content: line.content, compaction })
            }
            "attachment" => Body::Attachment(line.attachment),
            "queue-operation" => {
                Body::Queue(Queue { operation: line.operation.unwrap_or_default(), content: line.content })
            }
            _ => Body::Other { kind },
        };
        Self {
            uuid: line.uuid,
            parent_uuid: line.parent_uuid,
            timestamp: line.timestamp,
            session_id: line.session_id,
            prompt_id: line.prompt_id,
            cwd: line.cwd,
            git_branch: line.git_branch,
            version: line.version,
            agent_id: line.agent_id,
            is_sidechain: line.is_sidechain,
            is_meta: line.is_meta,
            body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Record<'_> {
        Record::parse(line.as_bytes()).unwrap()
    }

    fn user(record: Record<'_>) -> User<'_> {
        match record.body {
            Body::User(user) => user,
            other => panic!("not a user record: {other:?}"),
        }
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        let record = parse(r#"{"type":"user","uuid":"u1","message":{"content":"plain"}}"#);
        assert!(matches!(record.uuid, Some(Cow::Borrowed("u1"))));
        assert!(matches!(user(record).content.text(), Cow::Borrowed("plain")));
    }

    #[test]
    fn a_tool_result_gives_its_text_whether_string_or_blocks() {
        let string = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"line\nline"}]}}"#;
        let blocks = r#"{"type":"user","message":{"content":[{"content":[{"type":"text","text":"line"},{"type":"image"},{"type":"text","text":"line"}],"is_error":true,"tool_use_id":"t1","type":"tool_result"}]}}"#;
        for line in [string, blocks] {
            let user = user(parse(line));
            let [Block::ToolResult(result)] = user.content.blocks() else { panic!("{:?}", user.content) };
            assert_eq!(result.tool_use_id, "t1");
            assert!(result.is_error);
            assert_eq!(result.content.text(), "line\nline");
        }
    }

    #[test]
    fn a_field_of_an_unexpected_type_costs_the_field_and_not_the_record() {
        let record = parse(
            r#"{"type":"user","uuid":7,"cwd":null,"isMeta":"yes","timestamp":{"a":[1]},"sessionId":"s","message":{"content":{"x":1}}}"#,
        );
        assert_eq!(record.uuid, None);
        assert_eq!(record.session_id.as_deref(), Some("s"));
        assert!(!record.is_meta);
        assert_eq!(user(record).content.text(), "");
        let record = parse(r#"{"type":"assistant","message":"gone","isSidechain":true}"#);
        assert!(record.is_sidechain);
        let record = parse(
            r#"{"type":"assistant","message":{"usage":{"input_tokens":-1,"output_tokens":2.5,"cache_read_input_tokens":3},"content":[5,null,{"type":"text","text":"t"}]}}"#,
        );
        let Body::Assistant(assistant) = record.body else { panic!() };
        assert_eq!(assistant.usage, Some(Usage { cache_read_input_tokens: 3, ..Usage::default() }));
        assert_eq!(assistant.content.text(), "t");
    }

    #[test]
    fn unknown_records_and_blocks_keep_their_name() {
        assert!(
            matches!(parse(r#"{"type":"hologram","content":[1]}"#).body, Body::Other { kind } if kind == "hologram")
        );
        assert!(matches!(parse("{}").body, Body::Other { kind } if kind.is_empty()));
        let user = user(parse(r#"{"type":"user","message":{"content":[{"type":"scent","text":"x"}]}}"#));
        assert!(matches!(user.content.blocks(), [Block::Other { kind }] if kind == "scent"));
    }

    #[test]
    fn a_line_that_is_not_an_object_is_bad() {
        for line in ["", "nonsense", "[1]", "\"text\"", "null", r#"{"type":"user""#, "{} {}"] {
            assert!(Record::parse(line.as_bytes()).is_err(), "{line}");
        }
        assert!(Record::parse(b"{\"type\":\"\xff\"}").is_err());
        let nested = format!(
            r#"{{"message":{{"content":{}"#,
            "[{\"type\":\"tool_result\",\"content\":".repeat(10_000)
        );
        assert!(Record::parse(nested.as_bytes()).is_err());
    }

    #[test]
    fn half_a_surrogate_pair_does_not_cost_the_record() {
        let record = parse(r#"{"type":"user","message":{"content":"cut \ud83d"}}"#);
        assert_eq!(user(record).content.text(), "cut \u{fffd}");
    }

    #[test]
    fn a_compaction_boundary_carries_its_figures() {
        let record = parse(
            r#"{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"p","compactMetadata":{"trigger":"auto","preTokens":116054,"postTokens":622,"preservedSegment":{"headUuid":"h"}}}"#,
        );
        let Body::System(System { compaction: Some(compaction), .. }) = record.body else { panic!() };
        assert_eq!(compaction.trigger.as_deref(), Some("auto"));
        assert_eq!((compaction.pre_tokens, compaction.post_tokens), (Some(116_054), Some(622)));
        assert_eq!(compaction.logical_parent_uuid.as_deref(), Some("p"));
        assert_eq!(compaction.preserved_segment.unwrap().head_uuid.as_deref(), Some("h"));
        let bare = parse(r#"{"type":"system","subtype":"compact_boundary"}"#);
        assert!(matches!(bare.body, Body::System(System { compaction: Some(_), .. })));
    }
}
