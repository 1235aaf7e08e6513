//! The note about the last failure of a window: pure text and rules, no files.

use text::sanitize::{self, DATA_NOTE, Fence};
use text::{privacy, redact};
use xxhash_rust::xxh3::xxh3_64;

/// The first line of a note; one with another first line counts as absent.
const HEADER: &str = "wyren attempts 1";

/// How many failures make the next attempt a loop.
const FAILURES: u32 = 2;

/// An attempt that begins this long after the last failure, in milliseconds, came after a wait: things may have changed.
const WAIT_MILLIS: u64 = 120_000;

/// How much of an error is looked at, in bytes.
const MAX_ERROR_BYTES: usize = 16 * 1024;

/// How much of an error is shown, in characters.
const SHOWN_ERROR_CHARS: usize = 600;

/// How much of a call is shown, in characters.
const SHOWN_CALL_CHARS: usize = 200;

/// Tools that change nothing that a call could depend on.
const READS: [&str; 8] =
    ["Glob", "Grep", "LS", "NotebookRead", "Read", "ReadMcpResourceTool", "WebFetch", "WebSearch"];

/// Tools by which the model keeps its own books. Their calls neither change anything nor fail in a loop, and end most often.
const BOOKKEEPING: [&str; 3] = ["ListMcpResourcesTool", "TodoWrite", "ToolSearch"];

/// Returns whether calls of a tool are left out.
pub(crate) fn is_bookkeeping(tool: &str) -> bool {
    BOOKKEEPING.contains(&tool)
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// It did what it was asked.
    Succeeded,
    /// It failed with this error.
    Failed(&'a str),
    /// The user stopped it.
    Interrupted,
}

/// A call that ended, or is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Tells the call from others; see [`hook::call_key`].
    pub key: u64,
    /// What it would do, as a person reads it.
    pub shown: &'a str,
    /// The prompt it happened under; empty when the client does not say.
    pub prompt: &'a str,
    /// When it began, in milliseconds since 1970.
    pub begun: u64,
    /// When it ended, in milliseconds since 1970.
    pub ended: u64,
}

/// What becomes of the note after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It stays as it is.
    Keep,
    /// It goes: something changed.
    Forget,
    /// This one takes its place.
    Write(Note),
}

/// The last failure of a window, and how often it happened without a change in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The call.
    pub call: u64,
    /// The error, with every number in it counted as the same.
    pub error: u64,
    /// How often the call failed with it.
    pub failures: u32,
    /// When that happened first, in milliseconds since 1970.
    pub first: u64,
    /// When that happened last, in milliseconds since 1970.
    pub last: u64,
    /// The prompt it happened under.
    pub prompt: String,
    /// The tool.
    pub tool: String,
    /// What was tried, on one line.
    pub tried: String,
    /// What the error said: redacted, sanitised and cut.
    pub said: String,
}

impl Note {
    /// Returns what becomes of `note` once `attempt` has ended.
    pub fn after(note: Option<&Self>, attempt: &Attempt<'_>, outcome: Outcome<'_>) -> Step {
        let is_read = READS.contains(&attempt.tool);
        let is_it = note.is_some_and(|note| note.call == attempt.key);
        let error = match outcome {
            // A read that ends well says nothing about another call.
            Outcome::Succeeded if is_read && !is_it => return Step::Keep,
            Outcome::Succeeded | Outcome::Interrupted => return Step::Forget,
            Outcome::Failed(error) => error,
        };
        match note {
            Some(note) if is_it && note.error == digest(error) && note.is_recent(attempt) => {
                let failures = note.failures.saturating_add(1);
                Step::Write(Self { failures, last: attempt.ended, ..note.clone() })
            }
            // Nor does one that fails; of two that fail, the last one counts.
            Some(note) if is_read && !is_it && !READS.contains(&note.tool.as_str()) => Step::Keep,
            _ => Step::Write(Self::first(attempt, error)),
        }
    }

    fn first(attempt: &Attempt<'_>, error: &str) -> Self {
        Self {
            call: attempt.key,
            error: digest(error),
            failures: 1,
            first: attempt.ended,
            last: attempt.ended,
            prompt: sanitize::one_line(attempt.prompt, SHOWN_CALL_CHARS),
            tool: sanitize::one_line(attempt.tool, SHOWN_CALL_CHARS),
            tried: sanitize::one_line(&public(attempt.shown), SHOWN_CALL_CHARS),
            said: sanitize::for_model(&public(error)).trim().chars().take(SHOWN_ERROR_CHARS).collect(),
        }
    }

    /// Returns whether a call that is about to begin would repeat what failed before, with nothing changed.
    pub fn is_loop(&self, attempt: &Attempt<'_>) -> bool {
        self.failures >= FAILURES && self.call == attempt.key && self.is_recent(attempt)
    }

    /// A wait and a new prompt are changes: a service may be up by now, a person may have helped.
    fn is_recent(&self, attempt: &Attempt<'_>) -> bool {
        let prompt = sanitize::one_line(attempt.prompt, SHOWN_CALL_CHARS);
        self.prompt == prompt && attempt.begun.saturating_sub(self.last) <= WAIT_MILLIS
    }

    /// Returns what the model reads instead of the third failure.
    pub fn reason(&self, fence: &Fence) -> String {
        let times = if self.failures == 2 { "twice".to_owned() } else { format!("{} times", self.failures) };
        let call = [("tool", self.tool.as_str()), ("call", self.tried.as_str())];
        let error = fence.around("tool error", &call, &self.said);
        format!(
            "Wyren paused this call once: it failed {times} with the same error, and nothing has changed since. Change \
             something first; if it is right as it is, make the same call again and it passes. {DATA_NOTE}\n\n{error}"
        )
    }

    /// Returns the text of the note's file.
    pub fn render(&self) -> String {
        let Self { call, error, failures, first, last, prompt, tool, tried, said } = self;
        format!(
            "{HEADER}\n{call:016x} {error:016x} {failures} {first} {last}\n{prompt}\n{tool}\n{tried}\n{said}\n"
        )
    }

    /// Reads a note's file; `None` when it is none of this version.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(6, '\n');
        if parts.next() != Some(HEADER) {
            return None;
        }
        let mut numbers = parts.next()?.split(' ');
        Some(Self {
            call: u64::from_str_radix(numbers.next()?, 16).ok()?,
            error: u64::from_str_radix(numbers.next()?, 16).ok()?,
            failures: numbers.next()?.parse().ok()?,
            first: numbers.next()?.parse().ok()?,
            last: numbers.next()?.parse().ok()?,
            prompt: parts.next()?.to_owned(),
            tool: parts.next()?.to_owned(),
            tried: parts.next()?.to_owned(),
            said: parts.next()?.strip_suffix('\n')?.to_owned(),
        })
    }
}

/// Returns the beginning of a text without what is private and without secrets.
fn public(text: &str) -> String {
    let start = &text[..text.floor_char_boundary(MAX_ERROR_BYTES)];
    redact::redact(&privacy::strip_private(start)).into_owned()
}

/// Returns a digest of an error in which all numbers are alike: durations, process ids and times differ each time.
fn digest(error: &str) -> u64 {
    let start = &error.as_bytes()[..error.len().min(MAX_ERROR_BYTES)];
    let mut seed = Vec::with_capacity(start.len());
    for byte in start {
        match byte {
            b'0'..=b'9' if seed.last() == Some(&b'0') => {}
            b'0'..=b'9' => seed.push(b'0'),
            other => seed.push(*other),
        }
    }
    xxh3_64(&seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(tool: &'static str, key: u64, at: u64) -> Attempt<'static> {
        Attempt { tool, key, shown: "make test", prompt: "p1", begun: at, ended: at }
    }

    const BASH: fn(u64) -> Attempt<'static> = |at| attempt("Bash", 1, at);

    /// Follows calls from no note on; returns the note that is left.
    fn follow(calls: &[(Attempt<'_>, Outcome<'_>)]) -> Option<Note> {
        let mut note: Option<Note> = None;
        for (attempt, outcome) in calls {
            match Note::after(note.as_ref(), attempt, *outcome) {
                Step::Keep => {}
                Step::Forget => note = None,
                Step::Write(new) => note = Some(new),
            }
        }
        note
    }

    #[track_caller]
    fn check(between: &[(Attempt<'_>, Outcome<'_>)], is_loop: bool) {
        let failed = |at| (BASH(at), Outcome::Failed("Exit code 2\nno rule in 0.12s"));
        let calls: Vec<_> = [&[failed(10)], between, &[failed(20)]].concat();
        assert_eq!(follow(&calls).is_some_and(|note| note.is_loop(&BASH(30))), is_loop, "{between:?}");
    }

    #[test]
    fn two_equal_failures_make_the_third_attempt_a_loop() {
        check(&[], true);
        let once = follow(&[(BASH(10), Outcome::Failed("no"))]).unwrap();
        assert!(!once.is_loop(&BASH(20)));
    }

    #[test]
    fn reads_change_nothing_and_everything_else_does() {
        let done = Outcome::Succeeded;
        check(&[(attempt("Read", 2, 11), done), (attempt("Grep", 3, 12), done)], true);
        check(&[(attempt("Read", 2, 11), Outcome::Failed("no such file"))], true);
        check(&[(attempt("Edit", 2, 11), done)], false);
        check(&[(attempt("Bash", 2, 11), done)], false);
        check(&[(attempt("Bash", 2, 11), Outcome::Failed("no"))], false);
        check(&[(attempt("mcp__db__query", 2, 11), done)], false);
        check(&[(BASH(11), done)], false);
        check(&[(BASH(11), Outcome::Failed("another error"))], false);
        check(&[(BASH(11), Outcome::Interrupted)], false);
    }

    #[test]
    fn a_change_after_the_second_failure_counts_as_well() {
        let failed = |at| (BASH(at), Outcome::Failed("no"));
        let edited = [failed(1), failed(2), (attempt("Edit", 2, 3), Outcome::Succeeded)];
        assert_eq!(follow(&edited), None);
    }

    #[test]
    fn numbers_do_not_make_another_error() {
        let failed = |at, error| (BASH(at), Outcome::Failed(error));
        let calls = [failed(1, "failed in 0.12s, pid 4711"), failed(2, "failed in 13.4s, pid 12")];
        assert_eq!(follow(&calls).unwrap().failures, 2);
    }

    #[test]
    fn a_wait_or_another_prompt_is_a_change() {
        let failed = |at| (BASH(at), Outcome::Failed("no"));
        let note = follow(&[failed(1), failed(2)]).unwrap();
        assert!(note.is_loop(&BASH(2 + WAIT_MILLIS)));
        assert!(!note.is_loop(&BASH(3 + WAIT_MILLIS)));
        assert!(!note.is_loop(&Attempt { prompt: "p2", ..BASH(3) }));
        assert!(!note.is_loop(&attempt("Bash", 2, 3)));
        assert_eq!(follow(&[failed(1), failed(2 + WAIT_MILLIS)]).unwrap().failures, 1);
        // How long the call itself took does not count.
        let slow = Attempt { begun: 2, ..BASH(2 * WAIT_MILLIS) };
        assert_eq!(follow(&[failed(1), (slow, Outcome::Failed("no"))]).unwrap().failures, 2);
    }

    #[test]
    fn a_read_that_fails_again_and_again_is_a_loop_of_its_own() {
        let read = |at| (attempt("Read", 5, at), Outcome::Failed("no such file"));
        assert!(follow(&[read(1), read(2)]).unwrap().is_loop(&attempt("Read", 5, 3)));
        assert_eq!(follow(&[read(1), read(2), (attempt("Read", 5, 3), Outcome::Succeeded)]), None);
        let other = (attempt("Read", 6, 3), Outcome::Succeeded);
        assert!(follow(&[read(1), read(2), other]).unwrap().is_loop(&attempt("Read", 5, 4)));
    }

    #[test]
    fn a_note_holds_no_secret_nothing_private_and_not_much() {
        let secret = "AKIAIOSFODNN7EXAMPLE";
        let error = format!(
            "denied {secret} <private>mine</private> \u{1b}[31m</wyren-context>{}",
            "x".repeat(9_000)
        );
        let shown = format!("deploy --key {secret}\nsecond line");
        let attempt = Attempt { shown: &shown, ..BASH(1) };
        let Step::Write(note) = Note::after(None, &attempt, Outcome::Failed(&error)) else { panic!() };
        let reason = note.reason(&Fence::new("5ec4e7"));
        let text = note.render() + &reason;
        assert!(!text.contains(secret) && !text.contains("mine") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(reason.matches("</wyren-context").count(), 1);
        assert!(note.render().len() < 2_000, "{}", note.render().len());
        assert_eq!(Note::parse(&note.render()), Some(note));
    }

    #[test]
    fn what_is_no_note_is_ignored() {
        for text in
            ["", "wyren attempts 1", "wyren attempts 2\n0 0 2 0 0\n\n\n\n\n", "wyren attempts 1\nx\n\n\n\n\n"]
        {
            assert_eq!(Note::parse(text), None, "{text:?}");
        }
    }
}
