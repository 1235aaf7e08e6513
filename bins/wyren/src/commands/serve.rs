//! `wyren serve`: what is remembered, over HTTP, for programs that know claude-mem's worker.
//!
//! `start`, `stop`, `restart` and `status` answer with one JSON line, as claude-mem's do.

use crate::exit::Ending;
use crate::terminal::{self, DIM, STRONG};
use anyhow::{Context as _, Result};
use base::paths::with_tilde;
use base::{Env, Paths, detached};
use clap::{Args, Subcommand};
use install::link::{self, Link};
use serde_json::{Value, json};
use serve::local::{self, Found, Running};
use serve::{DEFAULT_PORT, Limits, PORT_VARIABLE, token};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long `start` waits for the server.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);
/// The name of the link for programs that call claude-mem.
const LINK: &str = "claude-mem";

const EXAMPLES: &str = "\
Examples:
  wyren serve                  serve on 127.0.0.1:37777 until Ctrl-C
  wyren serve start            the same in the background
  wyren serve status           whether it runs, as one JSON line
  wyren serve stop             end it
  wyren serve link             make ~/.local/bin/claude-mem, for scripts that call it

Programs send the text of the file `serve/token` in the data folder; see docs/guides/http.md.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The port; without one that of CLAUDE_MEM_WORKER_PORT, else 37777.
    #[arg(long, value_name = "NUMBER", global = true)]
    port: Option<u16>,
    /// Started by `wyren serve start`: prints nothing.
    #[arg(long, hide = true)]
    background: bool,
}

#[derive(Clone, Copy, Subcommand)]
enum Action {
    /// Start a server in the background.
    Start,
    /// End the server.
    Stop,
    /// End the server and start it again.
    Restart,
    /// Say whether a server runs.
    Status,
    /// Make a link named claude-mem, for scripts that call `claude-mem start|stop|status`.
    Link,
}

impl Arguments {
    /// Returns whether a person may read what it prints.
    pub(crate) fn is_for_a_person(&self) -> bool {
        self.action.is_none() && !self.background
    }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let port = port(arguments.port, env)?;
    match arguments.action {
        None => serve(arguments.background, port, env, paths),
        Some(Action::Start) => start(port, paths),
        Some(Action::Stop) => end(port, paths),
        Some(Action::Restart) => {
            stop(port, paths)?;
            start(port, paths)
        }
        Some(Action::Status) => status(port, paths),
        Some(Action::Link) => make_link(env),
    }
}

fn port(flag: Option<u16>, env: &Env) -> Result<u16> {
    let named = env.text(PORT_VARIABLE).filter(|text| !text.trim().is_empty());
    match (flag, named) {
        (Some(port), _) => Ok(port),
        (None, None) => Ok(DEFAULT_PORT),
        (None, Some(text)) => text.trim().parse().map_err(|_| {
            let text = text::sanitize::one_line(&text, 40);
            Ending::misused(format!("wyren: {PORT_VARIABLE} is {text:?}, which is no port")).into()
        }),
    }
}

/// Returns the port of the server that runs: it may have been started with another one.
fn running_port(port: u16, paths: &Paths) -> u16 {
    match local::noted(paths) {
        Some(Running { port, .. }) if local::is_running(paths).unwrap_or_default() => port,
        _ => port,
    }
}

fn serve(is_background: bool, port: u16, env: &Env, paths: &Paths) -> Result<()> {
    if is_background {
        detached::leave_session();
        if paths.data().is_absolute() {
            let _ = std::env::set_current_dir(paths.data());
        }
    }
    let ready = |running: &Running| {
        if !is_background {
            let mut output = terminal::output();
            let token = with_tilde(&token::file(paths), env);
            let address = format!("http://127.0.0.1:{}", running.port);
            let _ = writeln!(output, "Listening on {STRONG}{address}{STRONG:#}; the token is in {token}.");
            let _ = writeln!(
                output,
                "{DIM}{address}/openapi.json lists the routes. Ctrl-C ends the server.{DIM:#}"
            );
        }
    };
    let served = serve::local::serve(
        env.clone(),
        paths.clone(),
        port,
        env!("CARGO_PKG_VERSION"),
        Limits::default(),
        ready,
        std::future::pending(),
    );
    match served {
        Err(serve::Error::Running) => {
            let port = running_port(port, paths);
            Err(Ending::locked(format!("wyren: a server is running already, on port {port}")).into())
        }
        Err(serve::Error::Listen { source, .. }) if source.kind() == std::io::ErrorKind::AddrInUse => {
            Err(Ending::failed(format!("wyren: {}", in_use(port, paths))).into())
        }
        served => Ok(served?),
    }
}

/// Says who has a port, and what helps.
fn in_use(port: u16, paths: &Paths) -> String {
    let who = match (local::look(paths, port), local::listener_of(port)) {
        (Found::OtherWyren, _) => "a server of another data folder or user".to_owned(),
        (_, Some((name, process))) => format!("another program ({name}, process {process})"),
        _ => "another program".to_owned(),
    };
    format!("port {port} is in use by {who}, which was left alone; choose another one with --port")
}

/// Prints claude-mem's line.
fn line(status: &str, more: Value) -> Result<()> {
    let mut line = json!({"continue": true, "suppressOutput": true, "status": status});
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
    Ok(writeln!(terminal::output(), "{line}")?)
}

fn failed(message: String) -> Result<()> {
    line("error", json!({"message": message}))?;
    Err(Ending::failed(format!("wyren: {message}")).into())
}

fn start(port: u16, paths: &Paths) -> Result<()> {
    let is_ours = |port: u16| local::look(paths, port) == Found::Ours;
    let running = running_port(port, paths);
    if is_ours(running) {
        return line("ready", json!({"port": running, "started": false}));
    }
    if port != 0 && local::look(paths, port) != Found::Nothing {
        return failed(in_use(port, paths));
    }
    let program = std::env::current_exe().context("could not find this program")?;
    let number = port.to_string();
    let arguments = ["serve", "--background", "--port", &number].map(OsStr::new);
    let mut child = detached::command(&program, paths)?.args(arguments).spawn()?;
    let until = Instant::now() + PATIENCE;
    loop {
        let port = running_port(port, paths);
        if port != 0 && is_ours(port) {
            return line("ready", json!({"port": port, "started": true}));
        }
        let has_ended = child.try_wait()?.is_some();
        // One that was started at the same moment may have been quicker.
        if has_ended && !local::is_running(paths)? {
            return failed(in_use_or_not(port, paths));
        }
        if Instant::now() >= until {
            return failed("the server did not start in time; `wyren serve` says why".to_owned());
        }
        std::thread::sleep(PAUSE);
    }
}

fn in_use_or_not(port: u16, paths: &Paths) -> String {
    match local::look(paths, port) {
        Found::Nothing => "the server ended at once; `wyren serve` says why".to_owned(),
        _ => in_use(port, paths),
    }
}

/// Ends the server of this data folder; returns its port, or what is there in its place.
pub(super) fn stop(port: u16, paths: &Paths) -> Result<Option<u16>> {
    let port = running_port(port, paths);
    let is_stopped = local::stop(paths, port).context("could not end the server")?;
    Ok(is_stopped.then_some(port))
}

/// Ends the server of this data folder, whatever its port.
pub(super) fn stop_any(paths: &Paths) -> Result<()> {
    if local::is_running(paths)? {
        stop(DEFAULT_PORT, paths)?;
    }
    Ok(())
}

fn end(port: u16, paths: &Paths) -> Result<()> {
    if let Some(port) = stop(port, paths)? {
        return line("stopped", json!({"port": port}));
    }
    match local::look(paths, port) {
        Found::Nothing | Found::Ours => line("stopped", json!({"message": "no server was running"})),
        _ => line(
            "stopped",
            json!({"message": format!("no server of ours was running; {}", in_use(port, paths))}),
        ),
    }
}

fn status(port: u16, paths: &Paths) -> Result<()> {
    let port = running_port(port, paths);
    match local::look(paths, port) {
        Found::Ours => {
            let note = local::noted(paths);
            let (pid, version) =
                (note.as_ref().map(|note| note.pid), note.as_ref().map(|note| &*note.version));
            line("running", json!({"port": port, "pid": pid, "version": version}))
        }
        Found::Nothing => line("stopped", json!({"port": port})),
        _ => line("stopped", json!({"port": port, "message": in_use(port, paths)})),
    }
}

/// Returns the place of the link.
pub(super) fn link_place(home: &Path) -> PathBuf {
    let name = if cfg!(windows) { format!("{LINK}.cmd") } else { LINK.to_owned() };
    home.join(link::FOLDER).join(name)
}

fn make_link(env: &Env) -> Result<()> {
    let home = base::system::home(env).context("there is no home folder")?;
    let program = std::env::current_exe().context("could not find this program")?;
    let at = link_place(&home);
    let shown = with_tilde(&at, env);
    let mut output = terminal::output();
    match link::look(&at, &program) {
        Link::Ours => Ok(writeln!(output, "{shown} is there already.")?),
        Link::Missing | Link::Older => {
            link::link(&at, &program).with_context(|| format!("could not make {shown}"))?;
            Ok(writeln!(output, "Made {shown}: `claude-mem start|stop|restart|status` is `wyren serve`.")?)
        }
        Link::Theirs => {
            let message = format!("wyren: {shown} is another program, and was left alone");
            Err(Ending::failed(message).into())
        }
    }
}

/// Returns whether the program was started by the name of the link.
pub(crate) fn is_called_by_link(program: Option<&OsStr>) -> bool {
    program.map(Path::new).and_then(Path::file_stem).is_some_and(|name| name == LINK)
}
