//! How many of the commands that should be answered the shipped lessons answer, and how many others they disturb.
//!
//! `tests/data/commands/answered/<domain>.txt` has commands that a careful engineer wants to be asked about, `quiet/`
//! commands of ordinary work, one per line. Those below `held-out/` were written last and no lesson was changed for
//! them: they show how well the lessons serve commands that they were not made for.

use crate::bench::Table;
use crate::workspace;
use ::lessons::call::Call;
use ::lessons::index::{self, Fingerprint, Index};
use ::lessons::trigger::{Simple, Verdict};
use ::lessons::{Kind, format};
use anyhow::{Context as _, Result, bail, ensure};
use hook::Platform;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The least share of commands that are answered, over all domains and in each.
const MIN_ANSWERED: f64 = 0.85;
const MIN_ANSWERED_OF_DOMAIN: f64 = 0.75;
/// The most that ordinary work is disturbed.
const MAX_DISTURBED: f64 = 0.01;
/// The least size of the corpus, and the least share of it that was written last.
const MIN_COMMANDS: usize = 400;
const MIN_QUIET: usize = 3_000;
const MIN_HELD_OUT: f64 = 1.0 / 3.0;

/// Where the commands are run.
const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/app";

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask eval lessons                       the table, and whether the bars hold
  cargo xtask eval lessons --verbose --only git  also what was missed and disturbed, of some domains
  cargo xtask eval lessons --from FOLDER         another corpus of the same form

The bars are in xtask/src/eval/lessons.rs. The corpus is tests/data/commands.")]
pub(crate) struct Arguments {
    /// Show the commands that were missed, and the quiet ones that were answered.
    #[arg(long, short)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Only the domains whose name contains this; the bars are not held then.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Another corpus; the bars are not held then.
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

/// A part of the corpus, as it was answered.
#[derive(Clone, Default, Serialize)]
struct Figures {
    commands: usize,
    /// By how each was answered: the strongest kind counts.
    guards: usize,
    pauses: usize,
    hints: usize,
    #[serde(skip)]
    silent: Vec<String>,
    #[serde(skip)]
    answered: Vec<String>,
}

impl Figures {
    fn answered(&self) -> usize {
        self.guards + self.pauses + self.hints
    }

    fn share(&self) -> f64 {
        if self.commands == 0 { 0.0 } else { self.answered() as f64 / self.commands as f64 }
    }

    fn add(&mut self, other: &Self) {
        self.commands += other.commands;
        self.guards += other.guards;
        self.pauses += other.pauses;
        self.hints += other.hints;
    }
}

/// The two shelves of a domain, or of all of them.
#[derive(Clone, Default, Serialize)]
struct Domain {
    tuned: Figures,
    held_out: Figures,
}

impl Domain {
    fn all(&self) -> Figures {
        let mut all = self.tuned.clone();
        all.add(&self.held_out);
        all
    }
}

type Domains = BTreeMap<String, Domain>;

/// Evaluates, prints and fails below the bars.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shelf = Shelf::open()?;
    let folder = arguments.from.clone().unwrap_or_else(|| workspace::root().join("tests/data/commands"));
    let is_wanted = |domain: &str| arguments.only.as_deref().is_none_or(|only| domain.contains(only));
    let answered = shelf.evaluate(&folder, "answered", is_wanted)?;
    let quiet = shelf.evaluate(&folder, "quiet", is_wanted)?;
    let totals = (total(&answered), total(&quiet));
    if arguments.json {
        let figures = json!({
            "answered": {"domains": answered, "all": totals.0}, "quiet": {"domains": quiet, "all": totals.1},
        });
        println!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        print_answered(&answered, &totals.0);
        println!();
        print_quiet(&quiet, &totals.1);
    }
    if arguments.verbose {
        for (domain, name, figures) in parts(&answered) {
            figures.silent.iter().for_each(|command| println!("{domain}, {name}: missed: {command}"));
        }
        for (domain, name, figures) in parts(&quiet) {
            figures.answered.iter().for_each(|line| println!("{domain}, {name}: disturbed by {line}"));
        }
    }
    if arguments.only.is_some() || arguments.from.is_some() {
        return Ok(());
    }
    hold_bars(&answered, &totals.0, &totals.1)
}

fn hold_bars(answered: &Domains, all: &Domain, quiet: &Domain) -> Result<()> {
    for (name, domain, least) in [("answered", all, MIN_COMMANDS), ("quiet", quiet, MIN_QUIET)] {
        let (commands, held_out) = (domain.all().commands, domain.held_out.commands);
        ensure!(commands >= least, "{name}: {commands} commands, fewer than {least}");
        ensure!(
            held_out as f64 >= commands as f64 * MIN_HELD_OUT,
            "{name}: {held_out} of {commands} commands were written last, less than a third"
        );
    }
    let mut below: Vec<String> = answered
        .iter()
        .map(|(name, domain)| (name, domain.all().share()))
        .filter(|(_, share)| *share < MIN_ANSWERED_OF_DOMAIN)
        .map(|(name, share)| format!("{name}: {} answered", percent(share)))
        .collect();
    if all.all().share() < MIN_ANSWERED {
        below.push(format!("all: {} answered", percent(all.all().share())));
    }
    if quiet.all().share() > MAX_DISTURBED {
        below.push(format!("quiet: {} answered", percent(quiet.all().share())));
    }
    if quiet.all().guards > 0 {
        below.push(format!("quiet: {} refused by a guard", quiet.all().guards));
    }
    if !below.is_empty() {
        bail!("over the bars: {}", below.join("; "));
    }
    Ok(())
}

fn total(domains: &Domains) -> Domain {
    let mut all = Domain::default();
    for domain in domains.values() {
        all.tuned.add(&domain.tuned);
        all.held_out.add(&domain.held_out);
    }
    all
}

fn parts(domains: &Domains) -> impl Iterator<Item = (&str, &'static str, &Figures)> {
    domains.iter().flat_map(|(name, domain)| {
        [(name.as_str(), "tuned", &domain.tuned), (name.as_str(), "held out", &domain.held_out)]
    })
}

fn print_answered(domains: &Domains, all: &Domain) {
    let headings =
        ["should be answered", "commands", "denied", "paused", "hinted", "answered", "held out", "answered"];
    let mut table = Table::new(1, headings);
    for (name, domain) in domains.iter().map(|(name, domain)| (name.as_str(), domain)).chain([("= all", all)])
    {
        let whole = domain.all();
        table.row(vec![
            name.to_owned(),
            whole.commands.to_string(),
            whole.guards.to_string(),
            whole.pauses.to_string(),
            whole.hints.to_string(),
            percent(whole.share()),
            domain.held_out.commands.to_string(),
            percent(domain.held_out.share()),
        ]);
    }
    print!("{table}");
}

fn print_quiet(domains: &Domains, all: &Domain) {
    let mut table = Table::new(
        1,
        ["should stay quiet", "commands", "denied", "answered", "held out", "denied", "answered"],
    );
    for (name, domain) in domains.iter().map(|(name, domain)| (name.as_str(), domain)).chain([("= all", all)])
    {
        let whole = domain.all();
        table.row(vec![
            name.to_owned(),
            whole.commands.to_string(),
            whole.guards.to_string(),
            percent(whole.share()),
            domain.held_out.commands.to_string(),
            domain.held_out.guards.to_string(),
            percent(domain.held_out.share()),
        ]);
    }
    print!("{table}");
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The shipped lessons behind their index.
struct Shelf(Index<Vec<u8>>);

impl Shelf {
    fn open() -> Result<Self> {
        let mut lessons = Vec::new();
        for file in files(&workspace::root().join("lessons"), "md")? {
            let slug = stem(&file);
            let text =
                fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
            lessons.push(format::parse(&slug, &text).with_context(|| format!("could not read {slug}"))?);
        }
        let (bytes, _) = index::build(&lessons, Fingerprint(1));
        Ok(Self(Index::new(bytes).context("could not read the index")?))
    }

    fn evaluate(&self, corpus: &Path, shelf: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Domains> {
        let mut domains = Domains::new();
        for (folder, is_held_out) in
            [(corpus.join(shelf), false), (corpus.join("held-out").join(shelf), true)]
        {
            for file in files(&folder, "txt")? {
                let name = stem(&file);
                if !is_wanted(&name) {
                    continue;
                }
                let text = fs::read_to_string(&file)
                    .with_context(|| format!("could not read {}", file.display()))?;
                let domain = domains.entry(name).or_default();
                let part = if is_held_out { &mut domain.held_out } else { &mut domain.tuned };
                text.lines()
                    .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
                    .try_for_each(|line| self.answer(line, part))?;
            }
        }
        Ok(domains)
    }

    /// Adds how a command is answered.
    fn answer(&self, line: &str, figures: &mut Figures) -> Result<()> {
        let command = format::unescape(line);
        let input = RawValue::from_string(json!({"command": command}).to_string())?;
        let call = Call::read("Bash", Some(&input), Platform::ClaudeCode, Path::new(PROJECT))
            .at(Path::new(PROJECT), Some(Path::new(HOME)));
        let commands = shell::commands(&command);
        let simples = Simple::all(&commands);
        let mut strongest: Option<(Kind, String)> = None;
        for number in self.0.candidates(&call, &simples)? {
            let entry = self.0.entry(number)?;
            if let Verdict::Applies { by } = entry.judge(&call, &simples)
                && strongest.as_ref().is_none_or(|(kind, _)| strength(entry.kind) > strength(*kind))
            {
                strongest = Some((entry.kind, format!("{} ({by})", entry.slug)));
            }
        }
        figures.commands += 1;
        match strongest {
            None => figures.silent.push(line.to_owned()),
            Some((kind, lesson)) => {
                match kind {
                    Kind::Guard => figures.guards += 1,
                    Kind::Pause => figures.pauses += 1,
                    _ => figures.hints += 1,
                }
                figures.answered.push(format!("{}, {lesson}: {line}", kind.name()));
            }
        }
        Ok(())
    }
}

fn strength(kind: Kind) -> u8 {
    match kind {
        Kind::Guard => 2,
        Kind::Pause => 1,
        _ => 0,
    }
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the files of a folder with an ending, sorted; none where there is no such folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|other| other == ending));
    files.sort();
    Ok(files)
}
