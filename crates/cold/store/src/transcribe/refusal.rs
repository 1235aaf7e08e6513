//! What the client writes as the result of a call that never ran, or was stopped.

/// How a result begins when the user refused the call, or pressed Escape while it ran: the client writes the same for both.
const BY_USER: &str = "The user doesn't want to proceed with this tool use";
/// The structured result of such a call, as JSON.
const REJECTED: &str = "\"User rejected tool use\"";
/// What comes before the words that the user refused it with.
const USER_SAID: &str = "the user said:\n";
/// What the results of calls have that a rule of the client refused: a beginning, and something after it.
const BY_RULE: [(&str, &str); 4] = [
    ("Permission to use ", "has been denied"),
    ("Permission for this action was denied by the Claude Code auto mode classifier", ""),
    ("Permission for this action has been denied", ""),
    ("", "was blocked. For security, Claude Code may only"),
];
/// The beginning of a result is enough to tell.
const BEGINNING: usize = 1_000;

/// A call that was refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal<'o> {
    /// `user`, `interrupt` or `rule`.
    pub by: &'static str,
    /// Why, in the words of the user or of the rule.
    pub reason: Option<&'o str>,
}

impl<'o> Refusal<'o> {
    /// Returns the refusal that a result tells of. `structured` is the structured result, as JSON.
    pub fn of(is_error: bool, structured: Option<&str>, output: &'o str) -> Option<Self> {
        if !is_error {
            return None;
        }
        if output.starts_with(BY_USER) || structured == Some(REJECTED) {
            let reason = output.split_once(USER_SAID).map(|(_, reason)| reason.trim());
            let reason = reason.filter(|reason| !reason.is_empty());
            return Some(Self { by: if reason.is_some() { "user" } else { "interrupt" }, reason });
        }
        let beginning = &output[..output.floor_char_boundary(BEGINNING)];
        let is_by_rule =
            |(start, part): &(&str, &str)| beginning.starts_with(start) && beginning.contains(part);
        BY_RULE.iter().any(is_by_rule).then_some(Self { by: "rule", reason: Some(output) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_words_tell_who_refused_a_call() {
        let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)";
        let with_words =
            format!("{refused}. To tell you how to proceed, the user said:\nuse the other file\n");
        let by = |is_error, structured, output| {
            Refusal::of(is_error, structured, output).map(|refusal| refusal.by)
        };
        for (is_error, structured, output, expected) in [
            (true, Some(REJECTED), refused, Some("interrupt")),
            (true, None, refused, Some("interrupt")),
            (true, None, with_words.as_str(), Some("user")),
            (true, None, "Permission to use Bash with command rm -rf x has been denied.", Some("rule")),
            (
                true,
                None,
                "Permission for this action was denied by the Claude Code auto mode classifier. Reason: no",
                Some("rule"),
            ),
            (
                true,
                None,
                "touch in '/x/zzz' was blocked. For security, Claude Code may only create or modify files in …",
                Some("rule"),
            ),
            (true, None, "Exit code 3", None),
            (true, None, "cp: Permission to use it has not been given", None),
            (false, None, refused, None),
        ] {
            assert_eq!(by(is_error, structured, output), expected, "{output}");
        }
        assert_eq!(Refusal::of(true, None, &with_words).unwrap().reason, Some("use the other file"));
    }
}
