//! How many of the mistakes in conversations become candidates, and how many candidates are wrong.
//!
//! `tests/data/learning/*.txt` are conversations as `fixture::conversation` reads them, with `expect:` lines before them: a
//! call that a lesson found there must fire on. Those below `held-out/` were written last, and nothing was changed for them.
//! The transcripts of `tests/data/distiller` have no mistakes of this kind: whatever is found there is wrong.

use crate::bench::Table;
use crate::workspace;
use anyhow::{Context as _, Result, ensure};
use base::{Env, Paths};
use fixture::conversation::{self, Where};
use learning::candidate::Candidate;
use learning::quiet;
use learning::scan::{self, Options, Silent};
use lessons::Lesson;
use lessons::inject;
use lessons::trigger::Verdict;
use lessons_admin::catalogue::Places;
use lessons_admin::rehearsal;
use std::fs;
use std::path::{Path, PathBuf};

/// The least share of mistakes that are found, and the most of candidates that are wrong: of all, and of those written last.
const ALL: (f64, f64) = (0.80, 0.10);
const HELD_OUT: (f64, f64) = (0.60, 0.20);
/// The fewest conversations with a mistake, and the fewest that were written last.
const MIN_WITH_MISTAKES: usize = 40;
const MIN_HELD_OUT: usize = 10;
/// A folder that no conversation took place in.
const ELSEWHERE: &str = "/home/dev/app";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Show what was missed and what was wrong.
    #[arg(long, short)]
    verbose: bool,
    /// Evaluate the conversations in this folder alone, whatever the figures are: for those that were just written.
    #[arg(long, value_name = "FOLDER")]
    only: Option<PathBuf>,
}

#[derive(Default)]
struct Figures {
    conversations: usize,
    with_mistakes: usize,
    planted: usize,
    found: usize,
    candidates: usize,
    wrong: usize,
    /// Candidates that would speak up in ordinary work, once promoted.
    disturbing: usize,
    remarks: Vec<String>,
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.with_mistakes += other.with_mistakes;
        self.disturbing += other.disturbing;
        self.planted += other.planted;
        self.found += other.found;
        self.candidates += other.candidates;
        self.wrong += other.wrong;
    }

    fn found_share(&self) -> f64 {
        self.found as f64 / self.planted.max(1) as f64
    }

    fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.candidates.max(1) as f64
    }

    fn hold(&self, name: &str, (least, most): (f64, f64)) -> Result<()> {
        ensure!(self.found_share() >= least, "{name}: {:.0} % found", self.found_share() * 100.0);
        ensure!(self.wrong_share() <= most, "{name}: {:.0} % wrong", self.wrong_share() * 100.0);
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(folder) = &arguments.only {
        return show(&[("these", &evaluate(folder, "txt")?)], arguments);
    }
    let data = workspace::root().join("tests/data");
    let tuned = evaluate(&data.join("learning"), "txt")?;
    let held_out = evaluate(&data.join("learning/held-out"), "txt")?;
    let others = evaluate(&data.join("distiller"), "jsonl")?;
    let mut all = Figures::default();
    [&tuned, &held_out, &others].into_iter().for_each(|part| all.add(part));
    show(
        &[("tuned", &tuned), ("written last", &held_out), ("without mistakes", &others), ("= all", &all)],
        arguments,
    )?;
    ensure!(all.with_mistakes >= MIN_WITH_MISTAKES, "too few conversations with a mistake");
    ensure!(held_out.conversations >= MIN_HELD_OUT, "too few that were written last");
    ensure!(all.disturbing == 0, "{} candidates would speak up in ordinary work", all.disturbing);
    all.hold("all", ALL)?;
    held_out.hold("written last", HELD_OUT)
}

fn show(parts: &[(&str, &Figures)], arguments: &Arguments) -> Result<()> {
    let mut table = Table::new(
        1,
        [
            "conversations",
            "number",
            "with mistakes",
            "mistakes",
            "found",
            "candidates",
            "wrong",
            "disturbing",
        ],
    );
    for (name, part) in parts {
        table.row(vec![
            (*name).to_owned(),
            part.conversations.to_string(),
            part.with_mistakes.to_string(),
            part.planted.to_string(),
            format!("{} ({:.0} %)", part.found, part.found_share() * 100.0),
            part.candidates.to_string(),
            format!("{} ({:.0} %)", part.wrong, part.wrong_share() * 100.0),
            part.disturbing.to_string(),
        ]);
    }
    print!("{table}");
    if arguments.verbose {
        for (_, part) in parts {
            part.remarks.iter().for_each(|remark| println!("{remark}"));
        }
    }
    Ok(())
}

fn evaluate(folder: &Path, ending: &str) -> Result<Figures> {
    let mut figures = Figures::default();
    for file in files(folder, ending)? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
        let expected: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("expect:")).map(str::trim).collect();
        let transcript = match ending {
            "txt" => {
                let place = Where { session: &name, cwd: "/home/ada/shop", minute: 600 };
                conversation::transcript(&text, place)
            }
            _ => text.clone(),
        };
        let Scanned { candidates, held, kept } = scan(&name, &transcript)?;
        let fires = |it: &Candidate, call: &str| {
            matches!(rehearsal::judge(&it.lesson, call), Ok(Verdict::Applies { .. }))
        };
        figures.conversations += 1;
        figures.with_mistakes += usize::from(!expected.is_empty());
        for lesson in kept.iter().filter(|lesson| is_heard_elsewhere(lesson)) {
            if let Some(call) = quiet::disturbed(lesson) {
                figures.disturbing += 1;
                figures.remarks.push(format!("{name}: {} disturbs {call}", lesson.slug));
            }
        }
        figures.planted += expected.len();
        figures.candidates += candidates.len();
        for call in &expected {
            if candidates.iter().any(|it| fires(it, call)) {
                figures.found += 1;
            } else {
                figures.remarks.push(format!("{name}: missed: {call}: {held:?}"));
            }
        }
        for it in candidates.iter().filter(|it| !expected.iter().any(|call| fires(it, call))) {
            figures.wrong += 1;
            figures.remarks.push(format!("{name}: wrong: {:?}", it.lesson.trigger));
        }
    }
    Ok(figures)
}

/// Says whether a lesson has a say in other projects than its own, once it is promoted.
fn is_heard_elsewhere(lesson: &Lesson) -> bool {
    inject::is_in_scope(lesson.scope.as_deref().unwrap_or_default(), Path::new(ELSEWHERE))
}

/// What scans of one transcript gave.
struct Scanned {
    candidates: Vec<Candidate>,
    /// Why no lesson was made of the rest.
    held: Vec<String>,
    /// The candidates as their files have them.
    kept: Vec<Lesson>,
}

/// Scans one transcript twice at once, in a home of its own, and returns what there is then.
fn scan(name: &str, transcript: &str) -> Result<Scanned> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let env = Env::fixed([("WYREN_DATA_DIR", data.as_os_str()), ("HOME", "/home/ada".as_ref())]);
    let places = Places { paths: Paths::of(&env), cwd: folder.path().to_owned(), env };
    let projects = folder.path().join("projects");
    fs::create_dir_all(projects.join("p"))?;
    fs::write(projects.join(format!("p/{name}.jsonl")), transcript)?;
    let mut options = Options { folders: vec![projects], ..Options::of(&places.env, &places.paths) };
    options.is_trial = true;
    let mut store = store::open_store(&places.paths, &[])?;
    let trial = scan::run(&mut store, &places, &options, &mut Silent)?;
    drop(store);
    options.is_trial = false;
    // Two at once: what both find is there once.
    let once = || -> Result<()> {
        let mut store = store::open_store(&places.paths, &[])?;
        match scan::run(&mut store, &places, &options, &mut Silent) {
            Ok(_) | Err(learning::keep::Error::Busy) => Ok(()),
            Err(error) => Err(error.into()),
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..2).map(|_| scope.spawn(once)).collect();
        others
            .into_iter()
            .try_for_each(|other| other.join().unwrap_or_else(|_| anyhow::bail!("a scan panicked")))
    })?;
    let kept = files(&places.personal().join("candidates"), "md").unwrap_or_default();
    ensure!(
        kept.len() == trial.candidates.len(),
        "{name}: {} candidates, {} files",
        trial.candidates.len(),
        kept.len()
    );
    let lesson = |file: &PathBuf| -> Result<Lesson> {
        let slug = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(lessons::format::parse(&slug, &fs::read_to_string(file)?)?)
    };
    Ok(Scanned {
        candidates: trial.candidates,
        held: trial.held.into_iter().map(|held| held.reason).collect(),
        kept: kept.iter().map(lesson).collect::<Result<_>>()?,
    })
}

fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|other| other == ending));
    files.sort();
    Ok(files)
}
