//! `wyren handoff precompact`: saves a handoff of a session whose window is about to be compacted, for the hook `precompact-handoff`.
//! Reads and writes JSON.

use anyhow::{Context as _, Result};
use base::project::{Project, Repository};
use base::settings::Settings;
use base::{Env, Paths, Timestamp, notice, project};
use capture::{CLAUDE_CODE, Rules, Spool};
use child::{Group, Orphans};
use compaction::{Asked, Saved};
use gather::{Around, Bounds, Thread};
use handoff::{Draft, Name, OpenTask, Origin};
use model::{Asker, Options, Outcome, Request, Schema};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use store::Store;
use store::observations::Drain;
use store::transcripts::Forgotten;
use work::contexts::write::{self, Place};
use work::{line, tasks};

/// More than a question has, in bytes.
const MAX_INPUT: u64 = 1024 * 1024;
/// The most lines that are taken in while a compaction waits.
const MOST_LINES: usize = 5_000;
/// How many commits are listed, and how many issues.
const COMMITS: usize = 10;
const ISSUES: usize = 20;
/// How long the tracker of issues may take, and how often it is looked at.
const PATIENCE: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(5);
/// The longest line of an issue, in characters.
const MAX_ISSUE: usize = 160;
/// How long a model may take, a second try included, and how long its answer may be, in tokens.
const MODEL_LIMIT: Duration = Duration::from_secs(45);
const ANSWER_TOKENS: u32 = 4_000;
/// What the ledger calls such a question.
const JOB: &str = "handoff";
/// The program that lessons-learned asked.
const PROGRAM: &str = "LESSONS_CLAUDE_BIN";
/// The folder of the tracker `bd` in a repository.
const TRACKER: &str = ".beads";
/// Has the whole conversation kept beside the handoff.
const SETTING: &str = "handoff.thread";

pub(super) fn run(env: &Env, paths: &Paths) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input)?;
    let asked: Asked<'_> =
        serde_json::from_slice(&input).context("standard input is no question of precompact-handoff")?;
    if let Some(saved) = save(&asked, env, paths)? {
        crate::terminal::exact_output().write_all(&serde_json::to_vec(&saved)?)?;
    }
    Ok(())
}

fn save(asked: &Asked<'_>, env: &Env, paths: &Paths) -> Result<Option<Saved>> {
    let cwd = Path::new(&*asked.cwd);
    let settings = Settings::read(env, &paths.hook_settings());
    // The transcript also has what hooks left out, such as what was done while recording was paused.
    let rules = Rules::of(&settings, env).knowing(&Spool::new(paths.spool()));
    let forgotten = Forgotten::beside(&paths.database());
    let is_forgotten = |id: &str| forgotten.has(&asked.session, id);
    let bounds = Bounds { rules: &rules, is_forgotten: &is_forgotten };
    let thread =
        Thread::read(Path::new(&*asked.transcript), bounds).context("could not read the transcript")?;
    let around = Around {
        session: asked.session.clone().into_owned(),
        window: asked.window,
        tasks: open_tasks(asked, paths).unwrap_or_default(),
        commits: Repository::above(cwd)
            .map(|repository| team_sync::last_commits(&repository.root, env, COMMITS))
            .unwrap_or_default(),
        issues: issues(cwd, &["list", "--status=in_progress"]),
        ready: issues(cwd, &["ready"]),
        with_thread: settings.is_on(SETTING),
    };
    let mut draft = gather::draft(&thread, &around, bounds);
    if draft.sections.is_empty() {
        return Ok(None);
    }
    if asked.asks_model {
        let spoken = gather::spoken(&thread, bounds).join("\n");
        ask_model(&mut draft, &spoken, cwd, env, paths);
    }
    if asked.is_for_another {
        draft.origin = Origin::Stopped;
    }
    let context = write::read_binding(paths, &asked.session);
    let place = Place { prompt_id: asked.prompt_id.as_deref(), ..Place::in_session(&asked.session, cwd) };
    let into = handoff::Into { paths, env, place, context: context.as_deref(), now: Timestamp::now() };
    let saved = match handoff::save(&draft, &into) {
        Ok(saved) => saved,
        // There is nothing that may be kept.
        Err(handoff::Error::Empty | handoff::Error::Private) => return Ok(None),
        Err(error) => return Err(error).context("could not save the handoff"),
    };
    let text = printed(&saved, gather::window(&thread, &around).as_deref());
    let folder = saved.folder.display().to_string();
    Ok(Some(Saved { name: saved.kept.name(), folder, text }))
}

/// Returns a handoff as lessons-learned printed it.
fn printed(saved: &handoff::Saved, window: Option<&str>) -> String {
    let mut text = "# [lessons-learned] Pre-Compact Handoff\n\n".to_owned();
    if let Some(window) = window {
        text.push_str(&format!("{window}\n\n"));
    }
    text.push_str("Copy this prompt to continue in a new session:\n\n");
    let sections = &saved.kept.handoff.sections;
    let sections = sections.iter().filter(|section| section.name != Name::Thread.label());
    let body: Vec<String> =
        sections.map(|section| format!("## {}\n\n{}", section.name, section.text)).collect();
    let body = body.join("\n\n");
    let longest = body.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    text.push_str(&format!("{fence}\n{body}\n{fence}\n"));
    text
}

/// Returns the tasks of the session that are open.
fn open_tasks(asked: &Asked<'_>, paths: &Paths) -> Option<Vec<OpenTask>> {
    let mut store: Store = journal::open_store(paths).ok()?;
    // Before anything is drained: afterwards this session would count as one from before publishing needed leave.
    let _ = store::known::note(paths);
    let _ =
        Drain::unbounded(&Spool::new(paths.spool())).at_most(MOST_LINES).run(&mut store, Timestamp::now());
    let session = line::row_of(store.connection(), CLAUDE_CODE, &asked.session).ok()??;
    let tasks = tasks::of_line(store.connection(), session).ok()?;
    let open = tasks.into_iter().filter(|task| task.is_open() && task.agent.is_none());
    let open = open.map(|task| OpenTask {
        id: task.id,
        subject: task.subject,
        description: task.description,
        status: task.status,
    });
    Some(open.collect())
}

/// Asks the tracker `bd`, where the project has one of the user's own: a folder above it may be another user's.
fn issues(cwd: &Path, arguments: &[&str]) -> Vec<String> {
    let root = Project::of(cwd).root;
    let is_users = |folder: &Path| {
        let tracker = folder.join(TRACKER);
        let metadata = std::fs::symlink_metadata(&tracker).ok().filter(std::fs::Metadata::is_dir);
        metadata.is_some_and(|metadata| project::refuse_foreign(&metadata, &tracker, folder).is_ok())
    };
    if !cwd.ancestors().take_while(|folder| folder.starts_with(&root)).any(is_users) {
        return Vec::new();
    }
    let output = listed(cwd, arguments).unwrap_or_default();
    let lines = output.lines().map(|line| text::sanitize::one_line(line, MAX_ISSUE));
    lines.filter(|line| line.chars().any(char::is_alphanumeric)).take(ISSUES).collect()
}

fn listed(cwd: &Path, arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new("bd");
    command
        .args(arguments)
        .current_dir(cwd)
        // It lists and no more: no server of its own in the background, and no git that reaches a remote of the repository's.
        .env("BEADS_NO_DAEMON", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .envs([
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_0", "false"),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut group = Group::start(&mut command, Orphans::EndAfter(Duration::ZERO))?;
    let mut stdout = group.take_stdout();
    // What is more than a pipe holds is more than is wanted: the program then waits, and is ended.
    let deadline = Instant::now() + PATIENCE;
    while !group.has_ended() && Instant::now() < deadline {
        thread::sleep(PAUSE);
    }
    let is_late = !group.has_ended();
    group.kill_all();
    let mut output = Vec::new();
    if let (Some(stdout), false) = (&mut stdout, is_late) {
        stdout.take(MAX_INPUT).read_to_end(&mut output)?;
    }
    let status = group.wait()?;
    Ok(if status.success() { String::from_utf8_lossy(&output).into_owned() } else { String::new() })
}

/// Has a model write the handoff, within the budget. Without an answer, what was gathered remains.
fn ask_model(draft: &mut Draft, spoken: &str, cwd: &Path, env: &Env, paths: &Paths) {
    let deadline = Instant::now() + MODEL_LIMIT;
    let mut options = Options::of(&config::Config::load(env, paths));
    options.timeout = options.timeout.min(MODEL_LIMIT);
    options.is_unannounced = !notice::is_introduced(paths);
    if let Some(program) = env.text(PROGRAM) {
        options.command = program;
    }
    let Ok(schema) = Schema::new(gather::schema()) else { return };
    let request = Request {
        job: JOB.to_owned(),
        project: Project::of(cwd).key,
        system: gather::SYSTEM.to_owned(),
        prompt: gather::prompt(draft, spoken),
        schema,
        model: None,
        max_output: ANSWER_TOKENS,
    };
    if let Outcome::Answered(answer) = Asker::new(env, paths, options).once().ask_until(request, deadline) {
        gather::answered(draft, &answer);
    }
}
