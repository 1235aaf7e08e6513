//! What Codex says of a call that has ended: what was printed, the exit code, and who refused it.

use crate::transcribe::refusal::Refusal;
use capture::Fields;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a result has when the user did not let the call run, or stopped it.
const REJECTED: &str = "rejected by user";
const ABORTED: [&str; 2] = ["aborted by user", "aborted"];
/// How a result begins when a hook refused the call.
const BLOCKED: [&str; 2] = ["Command blocked by PreToolUse hook: ", "Tool call blocked by PreToolUse hook: "];
/// The lines above the output of a command, and the one that it begins below.
const EXIT_CODE: [&str; 2] = ["Exit code: ", "Process exited with code "];
const GOES_ON: &str = "Process running with session ID ";
const BEGINS: &str = "Output:";
const ABOVE: [&str; 5] =
    ["Chunk ID: ", "Wall time", "Original token count: ", "Total output lines: ", "Sandbox"];
/// A refusal is short; a program's output may have the same words in it.
const MAX_REFUSAL_BYTES: usize = 400;

/// How a call ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Refused(Refused),
    /// With what the model read.
    Failed(String),
    /// With the output, as JSON.
    Done(String),
}

/// Who refused a call, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    by: &'static str,
    reason: Option<String>,
}

impl Refused {
    pub(super) fn borrowed(&self) -> Refusal<'_> {
        Refusal { by: self.by, reason: self.reason.as_deref() }
    }
}

impl End {
    /// A program that goes on when the turn ends.
    pub(super) fn in_background(process: &str, printed: &str) -> Self {
        Self::Done(json!({"stdout": printed, "backgroundTaskId": process}).to_string())
    }

    /// Puts all that a program printed in the place of its last piece.
    pub(super) fn with_printed(self, printed: &str) -> Self {
        match self {
            Self::Failed(error) => {
                let head = error.lines().next().filter(|line| line.starts_with("Exit code "));
                Self::Failed(head.map_or(error.clone(), |head| format!("{head}\n{}", printed.trim())))
            }
            Self::Done(_) => Self::Done(json!({"stdout": printed}).to_string()),
            refused @ Self::Refused(_) => refused,
        }
    }

    fn of_command(printed: &str, code: Option<i64>) -> Self {
        match code.filter(|code| *code != 0) {
            Some(code) => Self::Failed(format!("Exit code {code}\n{}", printed.trim()).trim_end().to_owned()),
            None => Self::Done(json!({"stdout": printed}).to_string()),
        }
    }
}

/// What a result says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) end: End,
    /// What the command printed so far.
    pub(super) printed: String,
    /// The number of the program, when it goes on.
    pub(super) process: Option<String>,
}

impl Output {
    /// Reads the result of a call of a tool, by Claude Code's name.
    pub(super) fn of(tool: &str, output: Option<&RawValue>) -> Self {
        let whole = output.map(RawValue::get).and_then(Fields::read);
        let success =
            whole.as_ref().and_then(|fields| fields.get("success")).map(|success| success.get() == "true");
        let text = content(output);
        if let Some(refused) = refused(&text) {
            return Self { end: End::Refused(refused), printed: String::new(), process: None };
        }
        let is_command = matches!(tool, "Bash" | "Edit");
        let Some(read) = is_command.then(|| Read::of(&text)) else {
            let end = match success {
                Some(false) => End::Failed(text),
                _ => End::Done(json!(text).to_string()),
            };
            return Self { end, printed: String::new(), process: None };
        };
        let code = read.code.or((success == Some(false) || read.is_error).then_some(1));
        let end = match (tool, code.filter(|code| *code != 0)) {
            // A patch has no exit code that says anything.
            ("Edit", Some(_)) => End::Failed(read.printed.trim().to_owned()),
            ("Edit", None) => End::Done(json!(read.printed).to_string()),
            (_, code) => End::of_command(&read.printed, code),
        };
        Self { end, printed: read.printed.into_owned(), process: read.process }
    }

    /// Reads a record that tells of a command as a whole.
    pub(super) fn of_command(record: &Fields<'_>) -> End {
        let named = ["aggregated_output", "formatted_output", "stdout", "stderr"];
        let texts = named.map(|name| record.text(name).unwrap_or_default());
        let [aggregated, formatted, stdout, stderr] = &texts;
        let printed = match (aggregated.is_empty(), formatted.is_empty()) {
            (false, _) => aggregated.to_string(),
            (true, false) => formatted.to_string(),
            _ => format!("{stdout}{stderr}"),
        };
        match record.text("status").as_deref() {
            Some("declined") => End::Refused(Refused { by: "user", reason: None }),
            status => {
                let code = record.get("exit_code").and_then(|code| code.get().parse().ok());
                End::of_command(&printed, code.or((status == Some("failed")).then_some(1)))
            }
        }
    }

    /// Reads a record that tells of changed files as a whole.
    pub(super) fn of_change(record: &Fields<'_>) -> End {
        let is_failed = record.get("success").is_some_and(|success| success.get() == "false")
            || record.text("status").as_deref() == Some("failed");
        let said = |name: &str| record.text(name).unwrap_or_default().trim().to_owned();
        match record.text("status").as_deref() {
            Some("declined") => End::Refused(Refused { by: "user", reason: None }),
            _ if is_failed => End::Failed([said("stderr"), said("stdout")].join("\n").trim().to_owned()),
            _ => End::Done(json!(said("stdout")).to_string()),
        }
    }
}

/// The lines above and below `Output:`, or the same from the JSON that earlier generations wrote.
struct Read<'t> {
    printed: Cow<'t, str>,
    code: Option<i64>,
    process: Option<String>,
    is_error: bool,
}

impl<'t> Read<'t> {
    fn of(text: &'t str) -> Self {
        if let Some(fields) = Fields::read(text)
            && let Some(printed) = fields.text("output")
        {
            let metadata = fields.get("metadata").and_then(|metadata| Fields::read(metadata.get()));
            let code = metadata.and_then(|metadata| metadata.get("exit_code")?.get().parse().ok());
            return Self { printed, code, process: None, is_error: false };
        }
        let (mut code, mut process, mut is_head) = (None, None, false);
        let mut rest = text;
        while let Some((line, below)) = rest.split_once('\n').or((!rest.is_empty()).then_some((rest, ""))) {
            let value = |heads: &[&str]| heads.iter().find_map(|head| line.strip_prefix(head));
            if let Some(value) = value(&EXIT_CODE) {
                code = value.trim().parse().ok();
            } else if let Some(value) = value(&[GOES_ON]) {
                process = Some(value.trim().to_owned());
            } else if line == BEGINS {
                return Self { printed: below.into(), code, process, is_error: false };
            } else if value(&ABOVE).is_none() && !(is_head && line.is_empty()) {
                break;
            }
            is_head = true;
            rest = below;
        }
        let is_error = !is_head && is_error(text);
        Self { printed: if is_head { rest } else { text }.into(), code, process, is_error }
    }
}

/// Says whether Codex reports that a call could not be made.
fn is_error(text: &str) -> bool {
    [
        "failed in sandbox",
        "execution error",
        "failed to parse function arguments",
        "apply_patch verification failed",
        "exec_command failed",
        "unsupported call",
        "failed for command",
        "error: ",
    ]
    .iter()
    .any(|beginning| text.starts_with(beginning))
}

fn refused(text: &str) -> Option<Refused> {
    let text = text.trim();
    if let Some(reason) = BLOCKED.iter().find_map(|head| text.strip_prefix(head)) {
        return Some(Refused { by: "rule", reason: Some(reason.to_owned()) });
    }
    if text.len() > MAX_REFUSAL_BYTES {
        return None;
    }
    let last = text.lines().last().unwrap_or_default();
    let is_aborted = last == ABORTED[1] || last.starts_with(ABORTED[0]);
    let by = if is_aborted { "interrupt" } else { "user" };
    let is_above = |line: &str| ABOVE.iter().any(|head| line.starts_with(head));
    let is_short = text.lines().filter(|line| !is_above(line)).count() == 1;
    (is_short && (is_aborted || text.contains(REJECTED))).then_some(Refused { by, reason: None })
}

/// Returns the texts of a value: itself, or the strings in a list.
pub(super) fn strings(value: &RawValue) -> Vec<String> {
    let one = serde_json::from_str::<String>(value.get()).map(|text| vec![text]);
    one.or_else(|_| serde_json::from_str(value.get())).unwrap_or_default()
}

/// Returns the blocks of a message's content that are objects.
pub(super) fn blocks(content: Option<&RawValue>) -> Vec<Fields<'_>> {
    let blocks = content.and_then(|content| serde_json::from_str::<Vec<&RawValue>>(content.get()).ok());
    blocks.into_iter().flatten().filter_map(|block| Fields::read(block.get())).collect()
}

/// Returns the text of a message, or of a call's output: a text, blocks of it, or an object around either.
pub(super) fn content(content: Option<&RawValue>) -> String {
    let Some(raw) = content else { return String::new() };
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return text;
    }
    if let Some(fields) = Fields::read(raw.get()) {
        let inner = ["content", "body", "content_items"].iter().find_map(|name| fields.get(name));
        return inner.map_or_else(String::new, |inner| self::content(Some(inner)));
    }
    let texts = blocks(content).into_iter().filter_map(|block| block.text("text").map(Cow::into_owned));
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(tool: &str, text: &str) -> Output {
        let raw = RawValue::from_string(json!(text).to_string()).unwrap();
        Output::of(tool, Some(&raw))
    }

    fn done(printed: &str) -> End {
        End::Done(json!({"stdout": printed}).to_string())
    }

    fn by(by: &'static str) -> End {
        End::Refused(Refused { by, reason: None })
    }

    #[test]
    fn every_form_of_a_commands_output_is_read() {
        for (text, end) in [
            (r#"{"output":"ok\n","metadata":{"exit_code":0,"duration_seconds":0.1}}"#, done("ok\n")),
            (r#"{"output":"no\n","metadata":{"exit_code":2}}"#, End::Failed("Exit code 2\nno".into())),
            ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok\n", done("ok\n")),
            (
                "Exit code: 101\nWall time: 3 seconds\nTotal output lines: 9\nOutput:\n\ntest result: FAILED",
                End::Failed("Exit code 101\ntest result: FAILED".into()),
            ),
            (
                "Chunk ID: a1\nWall time: 0.05 seconds\nProcess exited with code 0\nOriginal token count: 6\nOutput:\nok",
                done("ok"),
            ),
            ("Process exited with code 3", End::Failed("Exit code 3".into())),
            ("just text\nOutput:\nmore", done("just text\nOutput:\nmore")),
            ("exec command rejected by user", by("user")),
            ("Wall time: 1.2 seconds\naborted by user", by("interrupt")),
            ("aborted by user after 3.1s", by("interrupt")),
            (
                "the merge was rejected by user ada\nand then by bob",
                done("the merge was rejected by user ada\nand then by bob"),
            ),
            (
                "failed in sandbox MacosSeatbelt with execution error",
                End::Failed("Exit code 1\nfailed in sandbox MacosSeatbelt with execution error".into()),
            ),
        ] {
            assert_eq!(output("Bash", text).end, end, "{text}");
        }
        let running =
            output("Bash", "Wall time: 1 seconds\nProcess running with session ID 42\nOutput:\nhalf");
        assert_eq!((running.process.as_deref(), running.printed.as_str()), (Some("42"), "half"));
        let blocked = output("Bash", "Command blocked by PreToolUse hook: not here. Command: rm");
        assert!(matches!(blocked.end, End::Refused(Refused { by: "rule", reason: Some(_) })));
        let patch = output("Edit", "apply_patch verification failed: no such line");
        assert_eq!(patch.end, End::Failed("apply_patch verification failed: no such line".into()));
    }
}
