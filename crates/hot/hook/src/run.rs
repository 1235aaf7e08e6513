//! The run loop of every hook: read once, think, answer once, never get in the way.

use crate::answer::{Afterwards, Answer};
use crate::claims::Claim;
use crate::deadline::{self, ANSWERED};
use crate::dialect;
use crate::event::Event;
use crate::host::Host;
use crate::input;
use crate::platform::Platform;
use crate::wiring::{Start, Turn};
use base::error::with_causes;
use base::log::{Level, Line};
use base::{Env, Timestamp, digest, files, limits};
use std::error::Error;
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// With one of these set, the session belongs to a program's own model call, and no hook does anything.
const GUARDS: [&str; 4] = ["WYREN_INTERNAL", "_CC_INTERNAL", "AIWCLI_INTERNAL_CALL", "CLAUDE_MEM_INTERNAL"];

/// The exit code by which PreCompact, and no other event, refuses.
const STOPS_COMPACTION: u8 = 2;

/// What a hook answers when it has nothing to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing at all.
    Empty,
    /// `{}`.
    EmptyObject,
    /// `{"continue":true,"suppressOutput":true}`.
    Continue,
}

impl Silence {
    const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Empty => b"",
            Self::EmptyObject => b"{}\n",
            Self::Continue => b"{\"continue\":true,\"suppressOutput\":true}\n",
        }
    }

    /// Returns what an agent takes for silence: Codex fails a hook that asks to suppress its output, Cursor reads JSON only.
    const fn for_agent(self, agent: Option<Platform>) -> Self {
        match agent {
            None => self,
            Some(Platform::Cursor) => Self::EmptyObject,
            Some(_) => Self::Empty,
        }
    }
}

/// What a hook's body returns: its answer, or an error that becomes a line in the log.
pub type Outcome<E> = Result<Answer<E>, Box<dyn Error>>;

/// What a hook writes before it ends.
#[derive(Debug)]
pub struct Response {
    /// What goes to standard output: the protocol.
    pub stdout: Vec<u8>,
    /// What goes to standard error: for the user, where the event has no other way.
    pub stderr: Option<String>,
    /// What is confirmed once standard output is written.
    pub claims: Vec<Claim>,
    /// What is done after that.
    pub afterwards: Vec<Afterwards>,
    /// Whether a compaction is stopped by this, which the client learns from the exit code.
    pub stops_compaction: bool,
    /// The start of a session that is answered by this, for the run of another wiring to see.
    start: Option<Start>,
}

impl From<Silence> for Response {
    fn from(silence: Silence) -> Self {
        let stdout = silence.bytes().to_vec();
        Self {
            stdout,
            stderr: None,
            claims: Vec::new(),
            afterwards: Vec::new(),
            stops_compaction: false,
            start: None,
        }
    }
}

/// Runs a hook: reads the event from standard input, lets `body` answer it, and writes the answer.
///
/// The exit code is 0: a refusal is part of the answer. The one exception is [`Answer::stop_compaction`].
pub fn run<E: Event>(
    hook: &'static str,
    silence: Silence,
    body: impl FnOnce(E, &Host) -> Outcome<E>,
) -> ExitCode {
    limits::survive_file_size_limit();
    let env = Env::process();
    if GUARDS.iter().any(|guard| env.is_on(guard)) {
        return ExitCode::SUCCESS;
    }
    let agent = Platform::of_arguments(std::env::args_os());
    let mut host = Host::new(hook, env);
    host.agent = agent;
    let silence = silence.for_agent(agent);
    host.event.set(E::NAME);
    guard_against_panics(&host, silence);
    deadline::arm(E::DEADLINE, silence.bytes(), host.log.file(), deadline_line::<E>(&host));

    let response = match input::read() {
        // The input lives as long as the process, so the event may borrow from it.
        Ok(input) => respond(input.leak(), &host, silence, body),
        Err(error) => {
            host.log(Level::Warn, &format!("could not read the input: {error}"));
            silence.into()
        }
    };
    let stderr = response.stderr.clone();
    let exit = if response.stops_compaction { STOPS_COMPACTION } else { 0 };
    if !ANSWERED.swap(true, Ordering::SeqCst) {
        deliver(response, &mut io::stdout().lock(), &host);
    }
    if let Some(message) = stderr {
        let _ = writeln!(io::stderr(), "{message}");
    }
    ExitCode::from(exit)
}

/// Writes the answer and runs its follow-up. If writing fails, its claims are free again.
fn deliver(response: Response, stdout: &mut dyn Write, host: &Host) {
    match write_answer(&response.stdout, stdout) {
        Ok(()) => {
            response.claims.into_iter().for_each(Claim::confirm);
            response.afterwards.into_iter().for_each(|task| finish(task, host));
            if let Some(start) = response.start {
                start.answered(Timestamp::now());
            }
        }
        // A client that is gone is no reason to fail.
        Err(error) => host.log(Level::Warn, &format!("could not write the answer: {error}")),
    }
}

/// Returns what a hook answers to `input`: the run loop without a process around it.
pub fn respond<E: Event>(
    input: &'static [u8],
    host: &Host,
    silence: Silence,
    body: impl FnOnce(E, &Host) -> Outcome<E>,
) -> Response {
    host.event.set(E::NAME);
    if host.is_disabled() {
        host.log(Level::Debug, "HOOK_DISABLED");
        return silence.into();
    }
    let silence = silence.for_agent(host.agent());
    let input = host.agent().and_then(|agent| dialect::translated::<E>(agent, input)).unwrap_or(input);
    let event = match parse::<E>(input) {
        Ok(event) => event,
        Err(reason) => {
            host.log(Level::Warn, &format!("bad input: {reason}"));
            return silence.into();
        }
    };
    host.session.replace(event.session_id().map(str::to_owned));
    if let Some(name) = E::NAMES.iter().find(|name| event.event_name() == Some(name)) {
        host.event.set(name);
    }
    let Turn::Ours(start) = host.turn(&event) else {
        host.log(Level::Debug, "HOOK_WIRED_TWICE");
        return silence.into();
    };
    let mut answer = match body(event, host) {
        Ok(answer) => answer,
        Err(error) => {
            host.log(Level::Error, &with_causes(&*error));
            Answer::silent()
        }
    };
    for message in host.told.take() {
        answer.tell_user(format!("Wyren: {message}"));
    }

    let rendered = answer.render(|| host.platform(), host.event.get(), |text| keep_whole(host, text));
    for emitted in &rendered.emitted {
        host.log(Level::Info, &emitted.message());
    }
    if rendered.is_unblockable {
        host.log(Level::Warn, &format!("{} cannot block", E::NAME));
    }
    if rendered.stdout.is_empty() {
        if rendered.emitted.is_empty() {
            host.log(Level::Debug, "HOOK_SILENT");
        }
        return Response {
            stderr: rendered.stderr,
            afterwards: rendered.afterwards,
            stops_compaction: rendered.stops_compaction,
            start,
            ..silence.into()
        };
    }
    let stdout = (rendered.stdout + "\n").into_bytes();
    let (claims, afterwards) = (rendered.claims, rendered.afterwards);
    let stops_compaction = rendered.stops_compaction;
    Response { stdout, stderr: rendered.stderr, claims, afterwards, stops_compaction, start }
}

/// Does what was to be done once the answer is written.
pub fn finish(task: Afterwards, host: &Host) {
    if let Err(error) = task.happen() {
        host.log(Level::Error, &with_causes(&*error));
    }
}

fn parse<E: Event>(input: &'static [u8]) -> Result<E, String> {
    if input.trim_ascii().is_empty() {
        return Err("empty".to_owned());
    }
    let event: E = serde_json::from_slice(input).map_err(|error| without_quotes(&error.to_string()))?;
    match event.event_name() {
        Some(name) if !E::NAMES.contains(&name) => Err(format!("the event is {name:?}, not {:?}", E::NAME)),
        _ => Ok(event),
    }
}

/// Takes quoted values out of a parser's message: the input may be private, the log is not.
fn without_quotes(message: &str) -> String {
    message.split('"').step_by(2).collect::<Vec<_>>().join("…")
}

/// Keeps a text that is too long for the client in a file and returns its path.
fn keep_whole(host: &Host, text: &str) -> Option<String> {
    if host.session.borrow().as_deref().is_some_and(|session| host.paths.is_private(session)) {
        return None;
    }
    let name = format!("{}-{}.txt", host.hook, digest::short_hex(text.as_bytes()));
    let path = host.paths.cache().join("long-answers").join(name);
    files::write_atomic(&path, text.as_bytes()).ok()?;
    Some(path.display().to_string())
}

fn write_answer(answer: &[u8], stdout: &mut dyn Write) -> io::Result<()> {
    if answer.is_empty() {
        return Ok(());
    }
    // One line with its end goes out in one write.
    stdout.write_all(answer)?;
    stdout.flush()
}

/// Returns the line that the log gets when the deadline passes; nothing can be put together then any more.
fn deadline_line<E: Event>(host: &Host) -> String {
    Line {
        at: host.started,
        level: Level::Error,
        hook: host.hook,
        event: E::NAME,
        session: None,
        millis: E::DEADLINE.as_secs_f64() * 1_000.0,
        message: "HOOK_DEADLINE passed; the hook stayed silent",
    }
    .to_json()
}

/// Makes a panic end as every failure does. The plugin aborts on panic, so nothing after the hook would run.
fn guard_against_panics(host: &Host, silence: Silence) {
    struct Place {
        hook: &'static str,
        event: &'static str,
        silence: Silence,
        env: Env,
    }
    static PLACE: OnceLock<Place> = OnceLock::new();

    fn on_panic(panic: &PanicHookInfo<'_>) {
        if let Some(place) = PLACE.get() {
            let host = Host::new(place.hook, place.env.clone());
            host.event.set(place.event);
            let location =
                panic.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
            let message = panic.payload_as_str().unwrap_or("without a message");
            host.log(Level::Error, &format!("HOOK_PANIC at {location}: {message}"));
            if !ANSWERED.swap(true, Ordering::SeqCst) {
                let _ = write_answer(place.silence.bytes(), &mut io::stdout().lock());
            }
        }
        #[expect(clippy::exit, reason = "a hook fails open")]
        std::process::exit(0);
    }

    let place = Place { hook: host.hook, event: host.event.get(), silence, env: host.env.clone() };
    if PLACE.set(place).is_ok() {
        std::panic::set_hook(Box::new(on_panic));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Claims, Keep};
    use crate::event::UserPromptSubmit;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn guards_and_silent_answers_are_those_of_the_table() {
        use tables::hooks::Silence as Documented;
        assert_eq!(GUARDS, tables::GUARDS);
        let silences = [
            (Silence::Empty, Documented::Empty),
            (Silence::EmptyObject, Documented::EmptyObject),
            (Silence::Continue, Documented::Continue),
        ];
        for (silence, documented) in silences {
            assert_eq!(silence.bytes().trim_ascii_end(), documented.text().as_bytes());
        }
    }

    #[test]
    fn a_compaction_is_stopped_also_without_a_text_for_scripts() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new("test", Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        for stdout in ["", "the handoff"] {
            let body = |_: crate::PreCompact, _: &Host| Ok(Answer::stop_compaction(stdout, "why"));
            let response = respond(br#"{"session_id":"s"}"#, &host, Silence::Empty, body);
            assert!(response.stops_compaction && response.stderr.as_deref() == Some("why"), "{response:?}");
        }
    }

    /// Standard output whose reader is gone.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_answer_that_could_not_be_written_is_neither_claimed_nor_followed_up() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new("test", Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        let followed_up = Rc::new(Cell::new(0));
        let claims = Claims::new(&[&folder.path().join("claims")], Some("s"), None);
        let claim = || claims.take("said", Keep::UntilClear);
        let deliver_to = |stdout: &mut dyn Write| {
            let count = Rc::clone(&followed_up);
            let claim = claim().unwrap();
            let body = |_: UserPromptSubmit, _: &Host| {
                let follow_up = move || {
                    count.set(count.get() + 1);
                    Ok(())
                };
                Ok(Answer::context("said").claiming([claim]).afterwards(follow_up))
            };
            let response = respond(br#"{"session_id":"s"}"#, &host, Silence::Empty, body);
            deliver(response, stdout, &host);
        };
        deliver_to(&mut Gone);
        assert_eq!(followed_up.get(), 0);
        let mut heard = Vec::new();
        deliver_to(&mut heard);
        assert_eq!(followed_up.get(), 1);
        assert!(heard.ends_with(b"\n") && claim().is_none());
    }
}
