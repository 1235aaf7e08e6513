//! The stage: what is measured, ready to be run as often as needed.

use super::against::Against;
use super::cases::{self, Case, Surroundings};
use super::occasions::{self, Occasion};
use super::program::{self, Origin, Program};
use super::report::{Machine, Measured, Ratios, Report};
use super::statistics::Summary;
use super::transcripts::Bench;
use super::yardstick::{self, Yardstick};
use super::{Arguments, check, instructions, journal, memory, predecessors, rounds};
use crate::plugin;
use anyhow::{Context as _, Result, bail, ensure};
use base::{Env, Paths, files};
use serde_json::{Value, json};
use statusline::cache::Status;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where the yardsticks stand among the programs.
const STATIC_EMPTY: usize = 0;
const DYNAMIC_EMPTY: usize = 1;
const SYSTEM_TRUE: usize = 2;

/// All that is needed to measure once more.
pub(crate) struct Stage {
    rounds: usize,
    plugin: PathBuf,
    programs: Vec<Program>,
    transcripts: Option<Bench>,
    count_instructions: bool,
    static_musl: bool,
    /// Whether the runs that are prepared one by one belong to it.
    has_occasions: bool,
    /// Where the programs write; gone with the stage.
    folder: TempDir,
}

impl Stage {
    /// Builds what is missing, and runs every program once to see that it does what is to be measured.
    pub(crate) fn set(arguments: &Arguments) -> Result<Self> {
        let plugin = built_plugin(arguments.json_alone())?;
        let yardsticks = yardstick::build()?;
        let transcripts = arguments.transcript.then(Bench::prepare).transpose()?;
        let folder = tempfile::tempdir().context("could not create a temporary folder")?;

        let mut cast = Cast { folder: folder.path(), plugin: &plugin, programs: Vec::new() };
        cast.add_yardstick(yardsticks.static_empty)?;
        cast.add_yardstick(yardsticks.dynamic_empty)?;
        yardsticks.system_true.into_iter().try_for_each(|yardstick| cast.add_yardstick(yardstick))?;
        cast.add_plugin(arguments.only.as_deref())?;
        for against in &arguments.against {
            cast.add_against(against, arguments.stdin.as_deref())?;
        }
        let programs = cast.programs;
        programs.iter().try_for_each(Program::probe)?;

        let count_instructions = arguments.instructions && instructions::are_countable();
        if arguments.instructions && !count_instructions {
            eprintln!("valgrind is not installed: instructions are not counted");
        }
        let static_musl = plugin::Kind::of_this_machine().triple().is_some();
        if !static_musl {
            eprintln!(
                "musl is not there: the yardstick is linked as the host links (see `cargo xtask plugin`)"
            );
        }
        Ok(Self {
            rounds: arguments.rounds,
            plugin,
            programs,
            transcripts,
            count_instructions,
            static_musl,
            has_occasions: arguments.only.is_none(),
            folder,
        })
    }

    /// Measures everything once.
    pub(crate) fn measure(&self) -> Result<Report> {
        let timings = rounds::measure(&self.programs, self.rounds)?;
        let summaries: Vec<Summary> =
            timings.iter().map(|timings| Summary::of(&timings.microseconds)).collect();
        let has_true =
            self.programs.get(SYSTEM_TRUE).is_some_and(|program| program.origin == Origin::Yardstick);
        let ratio = |summary: &Summary, yardstick: usize| summary.median / summaries[yardstick].median;

        let mut programs = Vec::new();
        for (index, program) in self.programs.iter().enumerate() {
            let summary = summaries[index];
            let ratios = Ratios {
                static_empty: ratio(&summary, STATIC_EMPTY),
                dynamic_empty: ratio(&summary, DYNAMIC_EMPTY),
                system_true: has_true.then(|| ratio(&summary, SYSTEM_TRUE)),
            };
            let failures = timings[index].failures;
            if failures > 0 && program.origin != Origin::Against {
                bail!("{program} failed in {failures} of {} rounds", self.rounds);
            }
            let mut measured = Measured::new(program, program.size()?, summary, ratios, failures);
            let peak = memory::peak_kib(&mut program.command()?);
            measured.peak_memory_kib = peak.with_context(|| format!("could not measure {program}"))?;
            if self.count_instructions {
                measured.instructions = Some(instructions::count(program, self.folder.path())?);
            }
            programs.push(measured);
        }
        // `/bin/true` is the bridge to the old systems: without it they cannot be compared.
        let old_systems = if has_true {
            predecessors::compare(programs[SYSTEM_TRUE].ratios.static_empty)
        } else {
            Vec::new()
        };
        let occasions = if has_true && self.has_occasions { self.measure_occasions()? } else { Vec::new() };
        let transcripts = self.transcripts.as_ref().map(Bench::measure).transpose()?;
        let machine = Machine::this(self.static_musl);
        Ok(Report { rounds: self.rounds, machine, programs, occasions, old_systems, transcripts })
    }

    fn measure_occasions(&self) -> Result<Vec<Occasion>> {
        let folder =
            tempfile::tempdir_in(self.folder.path()).context("could not create a temporary folder")?;
        occasions::measure(&self.plugin, folder.path())
    }

    /// Holds a run to the budgets; when one is over, measures again, because a busy machine is no defect.
    pub(crate) fn check(&self, first: &Report) -> Result<Vec<check::Judgement>> {
        let mut runs = vec![check::judge(first)];
        if check::is_over(&runs[0]) {
            let repeats = check::REPEATS;
            eprintln!("A budget is over: measuring {repeats} times more, the median of all runs counts");
            for _ in 0..repeats {
                runs.push(check::judge(&self.measure()?));
            }
        }
        Ok(check::combine(&runs))
    }
}

/// The programs while they are put together.
struct Cast<'a> {
    folder: &'a Path,
    plugin: &'a Path,
    programs: Vec<Program>,
}

impl Cast<'_> {
    fn add_yardstick(&mut self, yardstick: Yardstick) -> Result<()> {
        let case = Case::plain("", cases::DEFAULT_PAYLOAD);
        self.add(Origin::Yardstick, yardstick.name, yardstick.program, &case)
    }

    /// Adds every program in the plugin's `bin/`, or only the one that is named.
    fn add_plugin(&mut self, only: Option<&str>) -> Result<()> {
        let folder = self.plugin.join("bin");
        let entries =
            fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let Some(name) = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned) else {
                continue;
            };
            if only.is_some_and(|only| only != name) {
                continue;
            }
            let cases = cases::of(&name);
            if cases.is_empty() {
                eprintln!("{name} is not measured: it is no hook and has no row in xtask/src/bench/cases.rs");
            }
            for case in cases {
                self.add(Origin::Plugin, &name, path.clone(), &case)?;
            }
        }
        let is_there = self.programs.iter().any(|program| program.origin == Origin::Plugin);
        ensure!(is_there, "{} has no such program", folder.display());
        Ok(())
    }

    fn add_against(&mut self, against: &Against, stdin: Option<&Path>) -> Result<()> {
        let case = Case::plain("", cases::DEFAULT_PAYLOAD);
        self.add(Origin::Against, &against.label, against.program.clone(), &case)?;
        if let Some(program) = self.programs.last_mut() {
            program.arguments.clone_from(&against.arguments);
            program.stdin = stdin.map_or_else(|| program.stdin.clone(), Path::to_owned);
        }
        Ok(())
    }

    /// Gives a program a world of its own, so that it finds no traces of another.
    fn add(&mut self, origin: Origin, name: &str, path: PathBuf, case: &Case) -> Result<()> {
        let world = self.folder.join(self.programs.len().to_string());
        let mut environment = program::world(&world, self.plugin)?;
        if let Surroundings::Lessons(count) = case.surroundings {
            let manifest = world.join("lesson-manifest.json");
            fs::write(&manifest, cases::manifest(count))?;
            environment.push(("LESSONS_MANIFEST_PATH", manifest.into()));
        }
        let mut payload = case.payload.text();
        if matches!(case.surroundings, Surroundings::Team | Surroundings::TeamWithoutPull) {
            payload = in_a_team(&world, &payload)?;
            environment.push(("WYREN_FETCH_SECONDS", "86400".into()));
            environment.push(("WYREN_TURNS_THRESHOLD", "10000".into()));
            environment.push(("WYREN_IDLE_MS", "86400000".into()));
        }
        if let Surroundings::Transcript(bytes) = case.surroundings {
            payload = after_a_transcript(&world, &payload, bytes, 0)?;
        }
        if let Surroundings::LongLine(bytes) = case.surroundings {
            payload = after_a_transcript(&world, &payload, 0, bytes)?;
        }
        if let Surroundings::FileCache(files) = case.surroundings {
            payload = with_file_cache(&world, &environment, files, &payload)?;
        }
        if let Surroundings::Index(entries) = case.surroundings {
            payload = journal::fill(&world, &payload, entries)?;
            journal::index(&path, &environment)?;
        }
        if let Surroundings::GitIndex(files) = case.surroundings {
            payload = with_git_index(&world, files, &payload)?;
        }
        if case.surroundings == Surroundings::KnownProject {
            payload = in_a_known_project(&world, &environment, &payload)?;
        }
        if let Surroundings::Journal(entries) = case.surroundings {
            payload = journal::fill(&world, &payload, entries)?;
            // What it shows is recorded, and each run would have more to take in than the one before.
            environment.push(("WYREN_CAPTURE", "false".into()));
        }
        if case.surroundings == Surroundings::Context {
            bind(&environment, &payload)?;
        }
        if case.surroundings == Surroundings::Scanned {
            let stamp = schedule::scanned_file(&base::Paths::of(&base::Env::fixed(environment.clone())));
            fs::create_dir_all(stamp.parent().unwrap_or(&world))?;
            fs::write(stamp, "")?;
        }
        if case.surroundings == Surroundings::TeamWithoutPull {
            environment.push(("WYREN_SKIP_PULL", "1".into()));
        }
        let stdin = world.join("stdin");
        fs::write(&stdin, payload).with_context(|| format!("could not write {}", stdin.display()))?;
        self.programs.push(Program {
            origin,
            name: name.to_owned(),
            case: case.name.to_owned(),
            path,
            arguments: case.arguments.iter().map(Into::into).collect(),
            stdin,
            environment,
            answer: case.answer,
            only_parses: case.only_parses,
            claims: case.is_first.then(|| world.join("runtime")),
        });
        Ok(())
    }
}

/// Makes a repository with a team memory of sixty entries, whose remote was looked at just now; returns the payload of a
/// session in it.
fn in_a_team(world: &Path, payload: &str) -> Result<String> {
    let project = world.join("project");
    let write = |name: &str, text: &str| -> Result<()> {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&project))?;
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
    };
    write(".git/HEAD", "ref: refs/heads/main\n")?;
    write(".git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /nowhere/remote.git\n")?;
    write(".git/info/exclude", "/.wyren/\n")?;
    let entry = |number| format!("- Decision {number} is about part {number} of the whole thing\n");
    let entries: String = (0..60).map(entry).collect();
    write(".wyren/memory.md", &format!("# Wyren Memory\n\n## Decisions\n{entries}"))?;
    let now = std::time::UNIX_EPOCH.elapsed()?.as_millis();
    let state = json!({
        "v": 1, "mode": "side", "remote": "origin", "branch": "wyren/memory", "fetched_at": now, "tried_at": now,
    });
    write(".wyren/state/fetch.json", &state.to_string())?;
    let mut event: Value = serde_json::from_str(payload)?;
    event["cwd"] = json!(project);
    Ok(event.to_string())
}

/// Makes a transcript of many turns, whose last line may be a long result; returns the payload of a client that leaves the last
/// message to be found in it.
fn after_a_transcript(world: &Path, payload: &str, bytes: usize, last_line: usize) -> Result<String> {
    let path = world.join("transcript.jsonl");
    let turn = [
        json!({"type": "user", "uuid": "1", "message": {"role": "user", "content": "Go on."}}),
        json!({"type": "assistant", "uuid": "2", "message": {"content": [
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cargo test"}},
        ]}}),
        json!({"type": "user", "uuid": "3", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "test result: ok\n".repeat(200)},
        ]}}),
        json!({"type": "assistant", "uuid": "4", "message": {"content": [
            {"type": "text", "text": "All tests pass now. ".repeat(20)},
        ], "usage": {"input_tokens": 12, "cache_read_input_tokens": 90_000, "output_tokens": 400}}}),
    ];
    let turn: String = turn.iter().map(|record| format!("{record}\n")).collect();
    let mut lines = turn.repeat(bytes.div_ceil(turn.len()).max(1));
    if last_line > 0 {
        let output =
            json!([{"type": "tool_result", "tool_use_id": "toolu_2", "content": "x".repeat(last_line)}]);
        lines += &format!("{}\n", json!({"type": "user", "uuid": "5", "message": {"content": output}}));
    }
    let written = fs::write(&path, lines);
    written.with_context(|| format!("could not write {}", path.display()))?;
    let mut event: Value = serde_json::from_str(payload)?;
    event["transcript_path"] = json!(path);
    event["last_assistant_message"] = Value::Null;
    Ok(event.to_string())
}

/// Makes a repository with a cache of what the journal tells about its files; returns the payload of a session in it.
fn with_file_cache(
    world: &Path,
    environment: &[(&'static str, OsString)],
    files: usize,
    payload: &str,
) -> Result<String> {
    let project = world.join("project");
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let paths = Paths::of(&Env::fixed(environment.iter().cloned()));
    files::write_atomic(&recall::cache_file(&paths, &project), &cases::journal(files).build(1))?;
    let mut event: Value = serde_json::from_str(payload)?;
    event["cwd"] = json!(project);
    Ok(event.to_string())
}

/// Binds the session of a payload to a context.
fn bind(environment: &[(&'static str, OsString)], payload: &str) -> Result<()> {
    let paths = Paths::of(&Env::fixed(environment.iter().cloned()));
    let event: Value = serde_json::from_str(payload)?;
    let session = event["session_id"].as_str().context("the payload has no session")?;
    Ok(files::write_atomic(&paths.binding_file(session), b"261118-0905-move-parser")?)
}

/// Makes a repository with many files in git's index, of which those that are asked for are there; returns what the client tells
/// there.
fn with_git_index(world: &Path, files: usize, payload: &str) -> Result<String> {
    let project = world.join("project");
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let mut input: Value = serde_json::from_str(payload)?;
    let wanted = input["query"].as_str().unwrap_or_default().trim_start_matches("file-").to_owned();
    let mut index = b"DIRC\0\0\0\x02".to_vec();
    index.extend(u32::try_from(files)?.to_be_bytes());
    for number in 0..files {
        let name = format!("src/part-{:04}/deeper/file-{number}.rs", number / 100);
        // Times and the like, the object, the length of the name.
        index.extend([0; 60]);
        index.extend(u16::try_from(name.len())?.to_be_bytes());
        index.extend(name.as_bytes());
        index.resize(index.len() + 8 - (62 + name.len()) % 8, 0);
        if number.to_string().contains(&wanted) {
            let file = project.join(name);
            fs::create_dir_all(file.parent().context("a file in a folder")?)?;
            fs::write(file, "")?;
        }
    }
    fs::write(project.join(".git/index"), index)?;
    input["cwd"] = json!(project);
    Ok(input.to_string())
}

/// Makes a repository that the status line has in its cache, and will not look at again; returns what the client tells there.
fn in_a_known_project(
    world: &Path,
    environment: &[(&'static str, OsString)],
    payload: &str,
) -> Result<String> {
    let project = world.join("project");
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let paths = Paths::of(&Env::fixed(environment.iter().cloned()));
    let mut status = Status::default();
    let facts = json!({"at": u64::MAX, "branch": "main", "ahead": 1, "dirty": 3, "news": 2, "lessons": 5});
    status.set_project(&project, serde_json::from_value(facts)?);
    status.write(&paths)?;
    let mut input: Value = serde_json::from_str(payload)?;
    input["workspace"]["current_dir"] = json!(project);
    Ok(input.to_string())
}

/// Returns the plugin, which is built first when it is not there.
fn built_plugin(quietly: bool) -> Result<PathBuf> {
    let plugin = plugin::folder();
    if plugin.join("bin").is_dir() {
        eprintln!("Measuring {}; `cargo xtask plugin` builds it anew", plugin.join("bin").display());
        return Ok(plugin);
    }
    if quietly {
        bail!("there is no plugin in {} yet: run `cargo xtask plugin`", plugin.display());
    }
    plugin::assemble()
}
