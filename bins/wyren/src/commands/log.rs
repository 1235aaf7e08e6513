//! `wyren log`: the log of the team memory; `wyren log --hooks`: the log of the hooks.

use crate::database::{self, Look};
use crate::exit::Ending;
use crate::terminal::{self, Cell, DIM, FAILURE, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::{Context as _, Result};
use base::project::Project;
use base::settings::LOG_LEVELS;
use base::{Env, Paths, Timestamp, files};
use clap::Args;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write};
use std::path::Path;
use std::time::Duration;
use store::observations;
use text::sanitize;

/// How often a followed log is read.
const FOLLOW_PAUSE: Duration = Duration::from_millis(200);

/// Default number of lines.
const LINES: usize = 20;

/// Default number of lines of `.wyren/log`, as in the Node version.
const TEAM_LINES: usize = 50;

/// Longer lines of `.wyren/log` are cut, in characters.
const MAX_CHARS: usize = 4_000;

/// How much of a session's id is shown.
const SESSION_CHARS: usize = 36;

const EXAMPLES: &str = "\
Examples:
  wyren log                               the last 50 lines about the team memory
  wyren log --lines 200
  wyren log --hooks                       the last 20 lines of the hooks
  wyren log --hooks --follow              keep printing new lines
  wyren log --hooks --level warn          only warnings and errors
  wyren log --hooks --hook session-start-lessons --json
  wyren log --told                        the texts that this project's last session got: the model and you
  wyren log --told --all                  the last 20 texts of all sessions
  wyren log --told --hook lesson-inject --lines 5";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Show the log of the hooks instead of the team memory.
    #[arg(long)]
    hooks: bool,
    /// Show the texts that hooks gave the model or you: those of this project's last session, oldest first.
    #[arg(long, conflicts_with_all = ["hooks", "follow", "level"])]
    told: bool,
    /// With --told: of all sessions and projects.
    #[arg(long, requires = "told", conflicts_with = "session")]
    all: bool,
    /// Only this hook.
    #[arg(long)]
    hook: Option<String>,
    /// Only this session.
    #[arg(long)]
    session: Option<String>,
    /// How many lines or texts to print [default: 50 lines about the team memory, all texts of a session, else 20].
    #[arg(long, short = 'n', allow_negative_numbers = true)]
    lines: Option<i64>,
    #[command(flatten)]
    view: View,
}

#[derive(Args)]
pub(crate) struct View {
    /// Keep printing new lines.
    #[arg(long, short)]
    follow: bool,
    /// Only this level and above.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(LOG_LEVELS))]
    level: Option<String>,
    /// Print the stored JSON lines.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.told {
        return show_told(arguments, env, paths);
    }
    if !arguments.hooks {
        return show_team(arguments);
    }
    let is = |line: &Value, field: &str, wanted: &Option<String>| {
        wanted.as_deref().is_none_or(|wanted| line[field].as_str() == Some(wanted))
    };
    let wants = |line: &Value| is(line, "hook", &arguments.hook) && is(line, "session", &arguments.session);
    arguments.view.show(&paths.hook_log(), "hook", arguments.lines, wants)
}

impl View {
    /// Prints the last matching lines of `file`, 20 or `lines`; `writer` names what writes it.
    pub(crate) fn show(
        &self,
        file: &Path,
        writer: &str,
        lines: Option<i64>,
        wants: impl Fn(&Value) -> bool,
    ) -> Result<()> {
        let mut output = terminal::output();
        let mut reader = Reader::default();
        let wants = |line: &&String| {
            serde_json::from_str(line).is_ok_and(|line: Value| self.is_loud_enough(&line) && wants(&line))
        };
        let mut recent = read_lines(&base::log::rotated(file))?;
        recent.extend(reader.new_lines(file)?);
        let chosen: Vec<&String> = recent.iter().filter(wants).collect();
        if chosen.is_empty() && !self.follow {
            let mut errors = terminal::errors();
            match recent.is_empty() {
                true => writeln!(errors, "No {writer} has written to {} yet.", file.display())?,
                false => writeln!(errors, "No matching lines.")?,
            }
        }
        let lines = lines.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(LINES);
        let begin = chosen.len().saturating_sub(lines);
        self.write(&mut output, chosen[begin..].iter().copied())?;
        if !self.follow {
            return Ok(());
        }
        loop {
            output.flush()?;
            std::thread::sleep(FOLLOW_PAUSE);
            let lines = reader.new_lines(file)?;
            self.write(&mut output, lines.iter().filter(wants))?;
        }
    }

    fn is_loud_enough(&self, line: &Value) -> bool {
        let rank = |level: &str| LOG_LEVELS.iter().position(|known| *known == level);
        self.level.as_deref().is_none_or(|least| rank(text(line, "level")) >= rank(least))
    }

    fn write<'a>(&self, output: &mut impl Write, lines: impl Iterator<Item = &'a String>) -> Result<()> {
        if self.json {
            for line in lines {
                writeln!(output, "{line}")?;
            }
            return Ok(());
        }
        let rows: Vec<Vec<Cell>> =
            lines.filter_map(|line| Some(row(&serde_json::from_str(line).ok()?))).collect();
        terminal::write_table(output, &rows)?;
        Ok(())
    }
}

/// Shows the texts that hooks gave the model or the person, oldest first.
fn show_told(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let store = database::open_drained(env, paths, Look::Quick)?;
    let mut session = arguments.session.clone();
    if session.is_none() && arguments.hook.is_none() && !arguments.all {
        session = observations::last_told_session(&store, &Project::of(&std::env::current_dir()?).key)?;
    }
    let most = if session.is_some() { usize::MAX } else { LINES };
    let most = arguments.lines.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(most);
    let texts = observations::told(&store, arguments.hook.as_deref(), session.as_deref(), most)?;
    let mut output = terminal::output();
    if arguments.view.json {
        for told in &texts {
            let line = json!({
                "ts": told.at.to_string(), "session": told.session, "hook": told.hook, "form": told.form,
                "lesson": told.lesson, "text": told.text,
            });
            writeln!(output, "{line}")?;
        }
        return Ok(());
    }
    if texts.is_empty() {
        let is_filtered = arguments.hook.is_some() || arguments.session.is_some();
        let is_any = is_filtered && !observations::told(&store, None, None, 1)?.is_empty();
        let message = if is_any { "No matching texts." } else { "No texts recorded." };
        writeln!(terminal::errors(), "{message}")?;
    }
    for told in &texts {
        let name = |text: &str| sanitize::one_line(text, 60);
        let time = when::local(told.at);
        let lesson = told.lesson.as_deref().map(|lesson| format!(" [{}]", name(lesson))).unwrap_or_default();
        // The model reads everything but this form.
        let reader = if told.form == "systemMessage" { "you" } else { "model" };
        writeln!(
            output,
            "{DIM}{}{DIM:#} {} {DIM}{}, for {reader}, session {}{lesson}{DIM:#}",
            time,
            name(&told.hook),
            name(&told.form),
            sanitize::one_line(&told.session, SESSION_CHARS)
        )?;
        for line in sanitize::sanitize(&told.text).lines() {
            writeln!(output, "    {line}")?;
        }
    }
    Ok(())
}

/// Prints `.wyren/log`; messages are those of the Node version.
fn show_team(arguments: &Arguments) -> Result<()> {
    let View { follow, level, json } = &arguments.view;
    if *follow || level.is_some() {
        return Err(Ending::misused("wyren: --follow and --level require --hooks").into());
    }
    if *json || arguments.hook.is_some() || arguments.session.is_some() {
        return Err(Ending::misused("wyren: --json, --hook and --session require --hooks or --told").into());
    }
    let cwd = std::env::current_dir()?;
    if let Some(refusal) = place::Folder::refusal(&cwd) {
        return Err(Ending::failed(format!("wyren: {refusal}")).into());
    }
    let folder = place::Folder::find(&cwd);
    let mut output = terminal::output();
    let wanted = match arguments.lines {
        Some(lines @ ..=0) => {
            writeln!(terminal::errors(), "wyren: --lines {lines} shows nothing; showing {TEAM_LINES} lines")?;
            TEAM_LINES
        }
        Some(lines) => usize::try_from(lines).unwrap_or(usize::MAX),
        None => TEAM_LINES,
    };
    let wyren = folder.map(|folder| folder.wyren).unwrap_or_default();
    let Some(text) =
        files::read_end(&place::log::file(&wyren), files::cap::LOG).ok().filter(|_| wyren.is_absolute())
    else {
        return Ok(writeln!(output, "No log yet — distiller has not run in this repo.")?);
    };
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.trim_end().lines().collect();
    if all.is_empty() {
        return Ok(writeln!(output, "Log is empty.")?);
    }
    let begin = all.len().saturating_sub(wanted);
    if begin > 0 {
        let earlier = counted(begin, "earlier line", "earlier lines");
        writeln!(output, "... ({earlier} omitted — use --lines to show more)\n")?;
    }
    if let Some(injection) = last_injection(&wyren) {
        writeln!(output, "Last injected: {}\n", injection.describe(Timestamp::now()))?;
    }
    for line in &all[begin..] {
        writeln!(output, "{}", sanitize::one_line(&at_local_time(line), MAX_CHARS))?;
    }
    Ok(())
}

/// Returns a line of `.wyren/log` with its stamp in local time; lines without one stay as they are.
fn at_local_time(line: &str) -> Cow<'_, str> {
    let stamped = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    let local = stamped.and_then(|(stamp, rest)| Some((when::local(stamp.parse().ok()?), rest)));
    local.map_or(Cow::Borrowed(line), |(time, rest)| Cow::Owned(format!("[{time}]{rest}")))
}

/// The last text from the memory given to a session.
pub(super) struct Injection {
    pub(super) when: Timestamp,
    pub(super) event: String,
}

impl Injection {
    pub(super) fn describe(&self, now: Timestamp) -> String {
        format!("{} ({} via {})", when::local(self.when), when::ago(self.when, now), self.event)
    }
}

/// Finds the last injection in the log or the rotated log.
pub(super) fn last_injection(wyren: &Path) -> Option<Injection> {
    let files = [place::log::file(wyren), place::log::rotated(wyren)];
    files.iter().find_map(|file| {
        let text = files::read_end(file, files::cap::LOG).ok()?;
        String::from_utf8_lossy(&text).lines().rev().find_map(injection_in)
    })
}

/// Parses `[<time>] injection: <event>`, with or without a tag such as `[ups]`.
fn injection_in(line: &str) -> Option<Injection> {
    let (stamp, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let rest =
        rest.strip_prefix('[').and_then(|tagged| tagged.split_once("] ")).map_or(rest, |(_, rest)| rest);
    let event = rest.strip_prefix("injection: ")?.split_whitespace().next()?;
    Some(Injection { when: stamp.parse().ok()?, event: sanitize::one_line(event, 40) })
}

fn row(line: &Value) -> Vec<Cell> {
    let level = text(line, "level");
    let style = match level {
        "error" | "alert" => FAILURE,
        "warn" => WARNING,
        "debug" => DIM,
        _ => Style::new(),
    };
    let stamp = text(line, "ts");
    // Milliseconds matter when hooks run in parallel.
    let time = stamp.parse().map_or_else(|_| sanitize::one_line(stamp, 40), when::local_millis);
    vec![
        (time, DIM),
        (level.to_owned(), style),
        (sanitize::one_line(text(line, "hook"), 40), Style::new()),
        (sanitize::one_line(text(line, "event"), 40), DIM),
        (format!("{:.2} ms", line["ms"].as_f64().unwrap_or_default()), DIM),
        (sanitize::one_line(text(line, "msg"), 200), style),
    ]
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

pub(crate) fn read_lines(file: &Path) -> Result<Vec<String>> {
    Reader::default().new_lines(file)
}

/// Reads a growing log; starts over after a rotation.
#[derive(Default)]
struct Reader {
    offset: u64,
}

impl Reader {
    fn new_lines(&mut self, file: &Path) -> Result<Vec<String>> {
        let mut open = match files::open_followed(file) {
            Ok(open) => open,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("could not read {}", file.display())),
        };
        if open.metadata()?.len() < self.offset {
            self.offset = 0;
        }
        open.seek(io::SeekFrom::Start(self.offset))?;
        let mut lines = Vec::new();
        let mut reader = BufReader::new(open);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            // A line without its end is still being written: read it next time.
            if line.last() != Some(&b'\n') {
                break;
            }
            self.offset += line.len() as u64;
            lines.push(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
            line.clear();
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injections_are_recognised_with_and_without_a_tag() {
        let event = |line: &str| injection_in(line).map(|injection| injection.event);
        let stamp = "2026-11-16T02:26:41.123Z";
        assert_eq!(event(&format!("[{stamp}] injection: session-start")).as_deref(), Some("session-start"));
        let tagged = format!("[{stamp}] [ups] injection: user-prompt-submit");
        assert_eq!(event(&tagged).as_deref(), Some("user-prompt-submit"));
        for other in ["injection: session-start", "[yesterday] injection: x", "[wyren] tier0 score=3"] {
            assert_eq!(event(other), None, "{other}");
        }
    }

    #[test]
    fn a_half_written_line_comes_with_the_next_look_and_rotation_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.jsonl");
        let mut reader = Reader::default();
        std::fs::write(&file, "one\ntw").unwrap();
        assert_eq!(reader.new_lines(&file).unwrap(), ["one"]);
        std::fs::write(&file, "one\ntwo\n").unwrap();
        assert_eq!(reader.new_lines(&file).unwrap(), ["two"]);
        std::fs::write(&file, "new\n").unwrap();
        assert_eq!(reader.new_lines(&file).unwrap(), ["new"]);
        std::fs::remove_file(&file).unwrap();
        assert!(reader.new_lines(&file).unwrap().is_empty());
    }
}
