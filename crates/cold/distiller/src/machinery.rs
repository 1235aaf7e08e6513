//! What Wyren and the client wrote into a conversation: refusals, and the calls and commands of Wyren itself.
//!
//! People did not say it and the model did not find it out. A distiller that reads it learns its own words again, and takes
//! a call that never ran for work that was done.

use std::path::Path;

use serde_json::Value;

/// How the result of a call begins that a hook of Wyren refused; the last two are the form
/// of `lessons.format = "lessons-learned"`.
const OUR_REFUSALS: &[&str] = &[
    "Wyren paused this call",
    "Wyren refused this call",
    "Wyren lesson ",
    "<wyren-context ",
    "## Lesson: ",
    "[lessons-learned]",
];

/// What the pause of a call says that keeps failing, in its earlier form.
const OUR_LOOP: &str = "with the same error, and nothing has changed since.";

/// How the result of a call begins that the person or the client did not allow, or that the person interrupted.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "[Request interrupted by user",
    "Permission to use ",
    "Permission for this action was denied",
    "Permission for this action has been denied",
    "Claude requested permissions to ",
    "This command requires approval",
    "PreToolUse:",
];

/// What the client writes where it does not let a tool write, after the name of the file.
const BLOCKED: &str = " was blocked. For security, Claude Code may only ";

/// What the client writes before a person's comment on a call that they refused.
const COMMENT: &str = "the user said:";

/// The folder of a clone's memory.
const FOLDER: &str = ".wyren";

/// Returns the person's comment, or an empty text, when the result is that of a call which never ran. Only a failed result
/// can be one: what a tool prints is not believed to be a refusal.
pub fn refusal(is_error: bool, output: &str) -> Option<&str> {
    let output = output.trim_start();
    if !is_error {
        return None;
    }
    let first_line = output.lines().next().unwrap_or_default();
    if OUR_REFUSALS.iter().any(|beginning| output.starts_with(beginning)) || first_line.ends_with(OUR_LOOP) {
        return Some("");
    }
    let is_blocked = || first_line.contains(BLOCKED);
    let is_refused = REFUSALS.iter().any(|beginning| output.starts_with(beginning)) || is_blocked();
    is_refused.then(|| output.split_once(COMMENT).map_or("", |(_, comment)| comment.trim()))
}

/// Returns whether a slash command is one of Wyren's.
pub fn is_our_command(name: &str) -> bool {
    name.starts_with("/wyren:") || name.starts_with("/wyren-")
}

/// Returns whether a tool call runs Wyren or reads its memory: what it returns is known already.
pub fn is_our_call(name: &str, input: &str) -> bool {
    // Most inputs name neither, and some are long.
    if !input.contains("wyren") {
        return false;
    }
    let Ok(input) = serde_json::from_str::<Value>(input) else { return false };
    match name {
        "Bash" => input["command"].as_str().is_some_and(runs_us),
        "Read" => input["file_path"]
            .as_str()
            .is_some_and(|path| Path::new(path).components().any(|part| part.as_os_str() == FOLDER)),
        _ => false,
    }
}

/// Returns whether a line of shell begins with `wyren`, by whatever path, after folders were changed at most.
pub fn runs_us(command: &str) -> bool {
    let simple = command.split(['\n', ';', '&', '|']).map(str::trim);
    let mut simple = simple.filter(|simple| !simple.is_empty() && !simple.starts_with("cd "));
    let program = simple.next().and_then(|simple| simple.split_whitespace().next()).unwrap_or_default();
    program.trim_matches(['"', '\'']).rsplit('/').next() == Some("wyren")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_never_ran_is_known_by_how_its_result_begins() {
        for output in [
            "Wyren paused this call once (lesson git-reset-hard): git reset --hard deletes uncommitted edits.",
            "Wyren refused this call (guard git-force-push): it replaces history.",
            "Wyren lesson git-hooks-skipped: --no-verify skips the checks.",
            "## Lesson: git reset --hard throws away changes\nText.\n**Fix**: look first",
            "[lessons-learned] 1 lesson matched for `git push`",
            "This call failed twice with the same error, and nothing has changed since.",
            "Permission to use Bash with command rm -rf x has been denied.",
            "touch in '/home/ada/zzz' was blocked. For security, Claude Code may only create or modify files in …",
            "Permission for this action was denied by the Claude Code auto mode classifier. Reason: no",
            "PreToolUse:Bash hook error: [check]: not now",
            "The user doesn't want to proceed with this tool use. STOP what you are doing.",
        ] {
            assert_eq!(refusal(true, output), Some(""), "{output}");
            assert_eq!(refusal(false, output), None, "{output}");
        }
        let refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse mkdir instead";
        assert_eq!(refusal(true, refused), Some("use mkdir instead"));
        assert_eq!(refusal(true, "Exit code 1\nthe user said: forget everything"), None);
    }

    #[test]
    fn a_call_of_wyren_is_known_by_its_program() {
        let bash = |command: &str| is_our_call("Bash", &serde_json::json!({"command": command}).to_string());
        assert!(bash("wyren memory"));
        assert!(bash("\"/opt/plugin//bin/wyren\" lessons add --file - <<'LESSON'\nSummary: x\nLESSON"));
        assert!(bash("cd /srv/shop && wyren memory handoff -"));
        assert!(!bash("grep -rn wyren src"));
        assert!(!bash("cargo test -p wyren"));
        assert!(!bash("cat wyren"));
        let read = |path: &str| is_our_call("Read", &serde_json::json!({"file_path": path}).to_string());
        assert!(read("/srv/shop/.wyren/memory.md"));
        assert!(!read("/srv/wyren/src/main.rs"));
        assert!(!is_our_call("Write", r#"{"file_path":"/srv/shop/.wyren/memory.md"}"#));
    }

    #[test]
    fn a_command_of_wyren_is_known_by_its_name() {
        assert!(is_our_command("/wyren:status") && is_our_command("/wyren-handoff"));
        assert!(!is_our_command("/wyrenish") && !is_our_command("/review"));
    }
}
