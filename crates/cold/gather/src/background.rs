//! Commands that go on in the background: what the client says of them, in the results of calls and in notices.

use transcript::Record;
use transcript::record::Body;

/// The tools that look at them, under their names so far.
pub(crate) const LOOKS: [&str; 2] = ["TaskOutput", "BashOutput"];
/// The tools that end them.
pub(crate) const STOPS: [&str; 4] = ["TaskStop", "KillShell", "KillBash", "BashKill"];
/// The fields that name one.
pub(crate) const IDS: [&str; 3] = ["task_id", "bash_id", "shell_id"];

/// What the client writes before the id of one.
const BEGUN: [&str; 2] =
    ["Command running in background with ID: ", "Command was manually backgrounded by user with ID: "];
/// More than that takes at the end of the output, in bytes.
const END_BYTES: usize = 2_048;
/// How a notice is queued, and how it begins.
const QUEUED: &str = "task-notification";
const NOTICE: &str = "<task-notification>";

/// How one ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With what it printed, as far as that is known.
    Well(String),
    /// The same.
    Badly(String),
    Stopped,
}

/// Returns the id of a command, if the output of its call says that it goes on in the background.
pub(crate) fn begun(output: &str) -> Option<&str> {
    let output = &output[output.ceil_char_boundary(output.len().saturating_sub(END_BYTES))..];
    let (_, rest) = BEGUN.iter().find_map(|words| output.split_once(words))?;
    let id = rest.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).next()?;
    Some(id).filter(|id| !id.is_empty())
}

/// Returns the notices in a record: the client writes one when a command has ended.
pub(crate) fn notices(record: &Record<'_>) -> Vec<String> {
    if let Body::Queue(queue) = &record.body {
        let notice = queue.content.as_deref().filter(|content| is_notice(content));
        return notice.into_iter().map(str::to_owned).collect();
    }
    let content = match &record.body {
        Body::Attachment(attached) if attached.command_mode.as_deref() == Some(QUEUED) => &attached.prompt,
        Body::User(user) => &user.content,
        _ => return Vec::new(),
    };
    let texts = content.texts().map(|text| text.decode());
    texts.filter(|text| text.contains(NOTICE)).map(|text| text.into_owned()).collect()
}

/// Says whether a message is a notice.
pub(crate) fn is_notice(message: &str) -> bool {
    message.trim_start().starts_with(NOTICE)
}

/// Returns the id of the command that a notice is about.
pub(crate) fn task_of(notice: &str) -> Option<&str> {
    element(notice, "task-id").or_else(|| element(notice, "task_id"))
}

/// Returns how a command ended, by a look at it or a notice; `None` while it runs.
pub(crate) fn ended(said: &str) -> Option<End> {
    let printed = || {
        let parts = ["output", "stdout", "stderr", "error"].iter().filter_map(|name| element(said, name));
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let code = element(said, "exit_code");
    let is_zero = code.is_none_or(|code| code == "0");
    match element(said, "status")? {
        "completed" if is_zero => Some(End::Well(printed())),
        "completed" | "failed" => {
            let code = || code.map(|code| format!("Exit code {code}"));
            let printed = Some(printed()).filter(|printed| !printed.is_empty());
            let summary = || element(said, "summary").map(str::to_owned);
            Some(End::Badly(printed.or_else(summary).or_else(code).unwrap_or_else(|| said.to_owned())))
        }
        "killed" | "stopped" => Some(End::Stopped),
        _ => None,
    }
}

fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_the_background_is_known_by_its_id_and_by_how_it_ended() {
        let output = "Command running in background with ID: b7f3e2a. Output is being written to: /tmp/b7f3e2a.output.";
        assert_eq!(begun(output), Some("b7f3e2a"));
        assert_eq!(begun("Command running in background with ID: bash_1"), Some("bash_1"));
        assert_eq!(begun("done"), None);
        let look = |status: &str| {
            format!("<task_id>b7</task_id>\n\n<status>{status}</status>\n\n<output>\nerror: x\n</output>")
        };
        assert_eq!(ended(&look("running")), None);
        assert_eq!(ended(&look("killed")), Some(End::Stopped));
        assert_eq!(ended(&look("completed")), Some(End::Well("error: x".to_owned())));
        assert_eq!(ended(&look("failed")), Some(End::Badly("error: x".to_owned())));
        let shell = "<status>completed</status>\n\n<exit_code>2</exit_code>\n\n<stdout>\n1 of 2\n</stdout>\n\n<stderr>\nno space left\n</stderr>";
        assert_eq!(ended(shell), Some(End::Badly("1 of 2\nno space left".to_owned())));
        let code = "<status>completed</status><exit_code>3</exit_code><error>gone</error>";
        assert_eq!(ended(code), Some(End::Badly("gone".to_owned())));
        let notice = "<task-notification>\n<task-id>b7</task-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 2</summary>\n</task-notification>";
        assert_eq!(task_of(notice), Some("b7"));
        assert!(matches!(ended(notice), Some(End::Badly(summary)) if summary.ends_with("exit code 2")));
    }
}
