//! What comes in from programs: prompts, tool calls, ends of turns and of sessions.

use crate::ask::{self, Asked, Wrong};
use crate::number;
use crate::server::{Failed, Known, Server};
use base::{Timestamp, digest};
use capture::sent::{self, Recorded, Scene, Skipped};
use capture::{CLAUDE_CODE, Rules};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::rusqlite::{OptionalExtension as _, params};
use text::{privacy, redact};

/// A prompt that comes again within this time is the same one, as in claude-mem.
const SAME_PROMPT: Duration = Duration::from_secs(10);
/// In bytes.
const MAX_SESSION: usize = 512;
const MAX_NAME: usize = 128;
/// Where projects are of which only the name is known, in the data folder.
const BY_NAME: &str = "serve/by-name";
/// The spellings of the session's id, the newest first.
const SESSION: [&str; 4] = ["contentSessionId", "claudeSessionId", "content_session_id", "session_id"];

/// Who sends something.
struct Sender {
    session: String,
    platform: String,
    cwd: PathBuf,
    /// What may be recorded of it.
    rules: Rules,
}

impl Sender {
    fn scene<'a>(
        &'a self,
        server: &Server,
        agent: Option<&'a str>,
        agent_type: Option<&'a str>,
    ) -> Scene<'a> {
        let now = Timestamp::now();
        Scene {
            session: &self.session,
            cwd: self.cwd.clone(),
            at: now,
            platform: (self.platform != CLAUDE_CODE).then(|| Cow::from(&*self.platform)),
            prompt_id: None,
            agent,
            agent_type,
            permission_mode: None,
            unique_id: server.unique_id(now),
        }
    }

    fn key(&self) -> (String, String) {
        (self.platform.clone(), self.session.clone())
    }
}

pub(crate) fn init(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let sender = sender(server, &body)?;
    let prompt = ask::text(&body, "prompt")?.unwrap_or_default();
    let session_number = number::of_name(&format!("{}\n{}", sender.platform, sender.session));
    let mut answer = json!({
        "sessionDbId": session_number, "promptNumber": 0, "skipped": false, "contextInjected": false, "status": "initialized",
    });
    let known = known(server, &sender);
    let fresh = known.prompts == 0;
    let words = digest::short_hex(prompt.trim().as_bytes());
    let is_again =
        known.last_prompt.as_ref().is_some_and(|(last, at)| *last == words && at.elapsed() < SAME_PROMPT);
    if is_again {
        return Ok(skipped(answer, known.prompts, "duplicate"));
    }
    let recorded = sent::prompt(prompt, &sender.scene(server, None, None), &sender.rules, server.spool())?;
    match recorded {
        Recorded::NoRoom => Err(Failed::NoRoom),
        Recorded::Skipped(why) => {
            let prompts = known.prompts;
            // The prompt before it comes again as a new one: it may end what was private.
            server.sessions().insert(sender.key(), Known { last_prompt: None, ..known });
            Ok(skipped(answer, prompts, reason(why)))
        }
        Recorded::Appended => {
            let prompts = known.prompts + 1;
            let known = Known { prompts, last_prompt: Some((words, Instant::now())), ..known };
            server.sessions().insert(sender.key(), known);
            answer["promptNumber"] = prompts.into();
            if fresh {
                tell(server, "session_started", &sender, json!({"sessionDbId": session_number}));
            }
            let facts = json!({"sessionDbId": session_number, "promptNumber": prompts});
            tell(server, "new_prompt", &sender, facts);
            server.came();
            Ok(answer)
        }
    }
}

fn skipped(mut answer: Value, prompts: u64, why: &str) -> Value {
    answer["promptNumber"] = prompts.into();
    answer["skipped"] = true.into();
    answer["reason"] = why.into();
    answer["status"] = "skipped".into();
    answer
}

pub(crate) fn observation(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let fields = asked.fields()?;
    let body = small(&fields)?;
    let sender = sender(server, &body)?;
    let tool = ask::text(&body, "tool_name")?.filter(|tool| !tool.is_empty());
    let tool = tool.ok_or_else(|| "tool_name is missing".to_owned())?;
    let (agent, agent_type) = (agent(&body, "agentId")?, agent(&body, "agentType")?);
    // `null` is the absence of a value.
    let value = |name: &str| fields.get(name).copied().filter(|value| value.get() != "null");
    let sent = sent::Tool {
        tool,
        tool_use_id: match ask::text(&body, "tool_use_id")? {
            None => ask::text(&body, "toolUseId")?,
            id => id,
        },
        input: value("tool_input"),
        output: value("tool_response"),
        error: ask::text(&body, "error")?,
        ..sent::Tool::default()
    };
    let scene = sender.scene(server, agent, agent_type);
    let recorded = sent::tool(&sent, &scene, &sender.rules, server.spool())?;
    let answer = status(recorded)?;
    if recorded == Recorded::Appended {
        tell(server, "observation_queued", &sender, json!({"tool": tool}));
        server.came();
    }
    Ok(answer)
}

pub(crate) fn summarize(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let sender = sender(server, &body)?;
    if agent(&body, "agentId")?.is_some() {
        return Ok(json!({"status": "skipped", "reason": "subagent_context"}));
    }
    let sent =
        sent::TurnEnd { text: ask::text(&body, "last_assistant_message")?, ..sent::TurnEnd::default() };
    let scene = sender.scene(server, None, None);
    let recorded = sent::turn_end(&sent, &scene, &sender.rules, server.spool())?;
    let answer = status(recorded)?;
    if recorded == Recorded::Appended {
        server.came();
    }
    Ok(answer)
}

pub(crate) fn complete(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let body = asked.object()?;
    let sender = sender(server, &body)?;
    // A hook's reason is one of a few words; a program may write anything.
    let reason = ask::text(&body, "reason")?.map(|reason| {
        let public = privacy::strip(reason).text;
        redact::redact(&public).trim().to_owned()
    });
    let reason = reason.filter(|reason| !reason.is_empty());
    let sent = sent::End { reason: Some(reason.as_deref().unwrap_or("completed")), transcript: None };
    let scene = sender.scene(server, None, None);
    let recorded = sent::end(&sent, &scene, &sender.rules, server.spool())?;
    let mut answer = status(recorded)?;
    if recorded == Recorded::Appended {
        tell(server, "session_completed", &sender, json!({}));
        server.came();
        answer["status"] = "completed".into();
    }
    Ok(answer)
}

fn status(recorded: Recorded) -> Result<Value, Failed> {
    match recorded {
        Recorded::Appended => Ok(json!({"status": "queued"})),
        Recorded::Skipped(why) => Ok(json!({"status": "skipped", "reason": reason(why)})),
        Recorded::NoRoom => Err(Failed::NoRoom),
    }
}

/// Returns the reason as claude-mem names it.
fn reason(why: Skipped) -> &'static str {
    match why {
        Skipped::Off => "capture_off",
        Skipped::Project => "project_excluded",
        Skipped::Tool => "tool_excluded",
        Skipped::ClientNotes => "session_memory_meta",
        Skipped::ClientPrompt => "internal_protocol",
        Skipped::Private => "private",
    }
}

/// Tells those who listen; never what a prompt or a call says, only that it came.
fn tell(server: &Server, kind: &str, sender: &Sender, facts: Value) {
    let name = sender.cwd.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut data = json!({
        "type": kind, "contentSessionId": sender.session, "project": name, "platformSource": platform_source(&sender.platform),
    });
    if let (Some(data), Value::Object(facts)) = (data.as_object_mut(), facts) {
        data.extend(facts);
    }
    server.feed.tell(data, Timestamp::now().millis());
}

/// Returns the fields of a body but for the large ones, which stay as they were sent.
fn small(fields: &HashMap<String, &RawValue>) -> Result<Map<String, Value>, Wrong> {
    fields
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "tool_input" | "tool_response"))
        .map(|(name, value)| {
            let value = serde_json::from_str(value.get()).map_err(|_| format!("{name} is no JSON"))?;
            Ok((name.clone(), value))
        })
        .collect()
}

/// Returns an id or type of a subagent; longer ones are left out, as in claude-mem.
fn agent<'b>(body: &'b Map<String, Value>, name: &str) -> Result<Option<&'b str>, Wrong> {
    Ok(ask::text(body, name)?.filter(|text| (1..=MAX_NAME).contains(&text.len())))
}

fn sender(server: &Server, body: &Map<String, Value>) -> Result<Sender, Failed> {
    let mut session = None;
    for name in SESSION {
        session = session.or(ask::text(body, name)?.filter(|id| !id.is_empty()));
    }
    let Some(session) = session.filter(|id| id.len() <= MAX_SESSION) else {
        return Err(format!("contentSessionId is missing, or has more than {MAX_SESSION} bytes").into());
    };
    let platform = platform(ask::text(body, "platformSource")?.unwrap_or("claude"));
    let folder = ask::text(body, "cwd")?.map(Path::new).filter(|cwd| cwd.is_absolute());
    let project = ask::text(body, "project")?;
    let mut sender =
        Sender { session: session.to_owned(), platform, cwd: PathBuf::new(), rules: server.rules() };
    match folder {
        Some(folder) => sender.cwd = folder.to_owned(),
        None => {
            let name = project.map(|name| name.split('/').next().unwrap_or_default().trim());
            let name = name.unwrap_or_default();
            let known = folder_of(server, &sender, name)?;
            sender.cwd = known.unwrap_or_else(|| folder_by_name(server, name));
            if is_excluded_by_name(server, &sender.rules, &sender.cwd) {
                sender.rules = sender.rules.excluding_all();
            }
        }
    }
    if folder.is_some()
        && let Some(known) = server.sessions().get_mut(&sender.key())
    {
        known.cwd = Some(sender.cwd.clone());
    }
    Ok(sender)
}

/// Returns the folder of a session that is sent without one: the one it was in before, else that of the project with this name.
fn folder_of(server: &Server, sender: &Sender, name: &str) -> Result<Option<PathBuf>, Failed> {
    if let Some(cwd) = server.sessions().get(&sender.key()).and_then(|known| known.cwd.clone()) {
        return Ok(Some(cwd));
    }
    let of_session = server.read(|store| {
        let of_session: Option<String> = store
            .connection()
            .query_row(
                "SELECT cwd FROM sessions WHERE platform = ?1 AND id = ?2 AND cwd <> ''",
                params![sender.platform, sender.session],
                |row| row.get(0),
            )
            .optional()?;
        Ok(of_session)
    })?;
    let Some(cwd) = of_session.map(PathBuf::from) else { return folder_named(server, name) };
    if let Some(known) = server.sessions().get_mut(&sender.key()) {
        known.cwd = Some(cwd.clone());
    }
    Ok(Some(cwd))
}

/// Returns the folder of the one project with this name, if one is known.
pub(crate) fn folder_named(server: &Server, name: &str) -> Result<Option<PathBuf>, Failed> {
    let mut roots = server.read(|store| {
        let mut select =
            store.connection().prepare("SELECT root FROM projects WHERE name = ?1 AND root <> ''")?;
        let roots = select.query_map([name], |row| row.get::<_, String>(0))?;
        Ok(roots.collect::<Result<Vec<_>, _>>()?)
    })?;
    roots.retain(|root| !is_by_name(server, Path::new(root)));
    Ok(<[String; 1]>::try_from(roots).ok().map(|[root]| PathBuf::from(root)))
}

/// Returns the folder of a project that is only known by its name; it is not made.
pub(crate) fn folder_by_name(server: &Server, name: &str) -> PathBuf {
    server.paths.data().join(BY_NAME).join(safe(name))
}

/// Returns whether a folder is for a name alone, and the user may have excluded that name: what is excluded was never recorded, so
/// its folder cannot be known by its name.
pub(crate) fn is_excluded_by_name(server: &Server, rules: &Rules, folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    is_by_name(server, folder) && rules.may_exclude_name(&name)
}

/// Returns whether a folder is for a name alone.
pub(crate) fn is_by_name(server: &Server, folder: &Path) -> bool {
    folder.starts_with(server.paths.data().join(BY_NAME))
}

/// Returns a name that is one part of a path.
fn safe(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|letter| if letter.is_alphanumeric() || "._- ".contains(letter) { letter } else { '-' })
        .take(MAX_NAME)
        .collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() { "unknown".to_owned() } else { name.to_owned() }
}

/// Returns what is known about a session: since the server runs, else in the database.
fn known(server: &Server, sender: &Sender) -> Known {
    if let Some(known) = server.sessions().get(&sender.key()) {
        return known.clone();
    }
    let prompts = server.read(|store| {
        let mut select = store.connection().prepare(
            "SELECT count(*) FROM prompts JOIN sessions ON sessions.row = prompts.session
             WHERE sessions.platform = ?1 AND sessions.id = ?2",
        )?;
        Ok(select.query_row(params![sender.platform, sender.session], |row| row.get::<_, u64>(0))?)
    });
    // A database that cannot be read now numbers no prompts, and loses none either.
    let known =
        Known { prompts: prompts.unwrap_or_default(), cwd: Some(sender.cwd.clone()), last_prompt: None };
    server.sessions().insert(sender.key(), known.clone());
    known
}

/// Returns the platform as observations name it, from claude-mem's name for it.
pub(crate) fn platform(source: &str) -> String {
    let source = source.trim().to_lowercase();
    let has = |part: &str| source.contains(part);
    if has("codex") || has("transcript") {
        return "codex".to_owned();
    }
    if has("cursor") {
        return "cursor".to_owned();
    }
    if source.is_empty() || has("claude") {
        return CLAUDE_CODE.to_owned();
    }
    let kebab: String = source
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .take(40)
        .collect();
    let kebab = kebab.trim_matches('-');
    if kebab.is_empty() { CLAUDE_CODE.to_owned() } else { kebab.to_owned() }
}

/// Returns claude-mem's name for a platform.
pub(crate) fn platform_source(platform: &str) -> &str {
    if platform == CLAUDE_CODE { "claude" } else { platform }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_named_as_claude_mem_normalises_them() {
        for (source, expected) in [
            ("claude", "claude-code"),
            ("Claude Code", "claude-code"),
            ("", "claude-code"),
            ("codex-cli", "codex"),
            ("transcript", "codex"),
            ("Cursor", "cursor"),
            ("Wind Surf!", "wind-surf"),
            ("…", "claude-code"),
        ] {
            assert_eq!(platform(source), expected, "{source}");
        }
    }

    #[test]
    fn a_name_is_never_a_way_out_of_its_folder() {
        for (name, expected) in
            [("web", "web"), ("..", "unknown"), ("", "unknown"), ("a\\b", "a-b"), ("../x", "-x")]
        {
            assert_eq!(safe(name), expected, "{name}");
        }
    }
}
