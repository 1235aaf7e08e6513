//! Scans and an import of a large tree of transcripts against `wc -l` on the same files, in one run.

use super::memory;
use super::statistics::median;
use super::table::{NONE, Table};
use crate::workspace::{self, cargo, run};
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// How large the tree is.
const BYTES: u64 = 1 << 30;

/// How often each program runs; they take turns.
const ROUNDS: usize = 3;

/// The figures of all programs that read the tree.
#[derive(Serialize)]
pub(crate) struct Scans {
    pub(crate) bytes: u64,
    pub(crate) files: usize,
    pub(crate) wc: Scan,
    pub(crate) prefilter: Scan,
    pub(crate) full: Scan,
    /// Into a database.
    pub(crate) import: Scan,
    /// For lessons.
    pub(crate) learn: Scan,
}

/// The figures of one program.
#[derive(Serialize)]
pub(crate) struct Scan {
    pub(crate) best_seconds: f64,
    pub(crate) median_seconds: f64,
    /// Its speed in that of `wc -l`, by the medians.
    pub(crate) speed_ratio: f64,
    pub(crate) peak_memory_kib: Option<u64>,
}

/// A tree to read and the programs that read it.
pub(crate) struct Bench {
    bytes: u64,
    files: usize,
    programs: [Reader; 5],
}

struct Reader {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Bench {
    /// Builds the examples of `crates/hot/transcript`, `crates/cold/store` and `crates/cold/learning`, and has them make the tree, unless an earlier run did.
    pub(crate) fn prepare() -> Result<Self> {
        run(cargo().args(["build", "--quiet", "--release", "--package", "wyren-transcript", "--examples"]))?;
        let import = ["--package", "wyren-store", "--example", "import-speed"];
        run(cargo().args(["build", "--quiet", "--release"]).args(import))?;
        let learn = ["--package", "wyren-learning", "--example", "scan-speed"];
        run(cargo().args(["build", "--quiet", "--release"]).args(learn))?;
        let examples = workspace::target().join("release/examples");
        let example = |name| examples.join(name).with_extension(std::env::consts::EXE_EXTENSION);
        let tree = tree(&example("generate"))?;
        let mut files = Vec::new();
        let bytes = collect(&tree, &mut files)?;
        // The shell's own order and one process, as `wc -l $(find …)` would have.
        files.sort();
        let count = files.len();
        let Some(wc) = workspace::find("wc") else {
            bail!("wc is not installed: there is nothing to compare with")
        };
        let lines = std::iter::once("-l".into()).chain(files.into_iter().map(PathBuf::into_os_string));
        let scan = |mode: &str| Reader {
            program: example("scan"),
            arguments: vec![mode.into(), tree.clone().into()],
        };
        let wc = Reader { program: wc, arguments: lines.collect() };
        let import = Reader {
            program: example("import-speed"),
            arguments: vec!["transcripts".into(), tree.clone().into()],
        };
        let learn = Reader { program: example("scan-speed"), arguments: vec![tree.clone().into()] };
        Ok(Self { bytes, files: count, programs: [wc, scan("prefilter"), scan("full"), import, learn] })
    }

    /// Lets the programs read the tree in turns.
    pub(crate) fn measure(&self) -> Result<Scans> {
        // The first turn brings the tree into the page cache, and tells the memory.
        let mut peaks = Vec::new();
        for reader in &self.programs {
            peaks.push(memory::peak_kib(&mut reader.command())?);
        }
        let mut seconds: [Vec<f64>; 5] = Default::default();
        for round in 0..ROUNDS {
            for step in 0..self.programs.len() {
                let index = (round + step) % self.programs.len();
                seconds[index].push(self.programs[index].time()?);
            }
        }
        let wc_seconds = median(&seconds[0]);
        let scan = |index: usize| {
            let median_seconds = median(&seconds[index]);
            Scan {
                best_seconds: seconds[index].iter().copied().fold(f64::INFINITY, f64::min),
                median_seconds,
                speed_ratio: wc_seconds / median_seconds,
                peak_memory_kib: peaks[index],
            }
        };
        Ok(Scans {
            bytes: self.bytes,
            files: self.files,
            wc: scan(0),
            prefilter: scan(1),
            full: scan(2),
            import: scan(3),
            learn: scan(4),
        })
    }
}

impl Reader {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        command
    }

    fn time(&self) -> Result<f64> {
        let start = Instant::now();
        run(&mut self.command())?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Returns the tree, which is made first when it is not there.
fn tree(generate: &Path) -> Result<PathBuf> {
    let folder = workspace::target().join("bench");
    let (tree, unfinished) = (folder.join("sessions"), folder.join("sessions.new"));
    if tree.is_dir() {
        eprintln!("Reading {}, made by an earlier run; remove it to have it made again", tree.display());
        return Ok(tree);
    }
    eprintln!("Making transcripts of {} MiB in {}", BYTES >> 20, tree.display());
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)
            .with_context(|| format!("could not remove {}", unfinished.display()))?;
    }
    fs::create_dir_all(&unfinished)?;
    run(Command::new(generate).arg(&unfinished).arg(BYTES.to_string()).stdout(Stdio::null()))?;
    // Only a whole tree gets the name.
    fs::rename(&unfinished, &tree).with_context(|| format!("could not move {}", unfinished.display()))?;
    Ok(tree)
}

/// Collects the files below a folder; returns their size.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            bytes += collect(&entry.path(), files)?;
        } else {
            bytes += entry.metadata()?.len();
            files.push(entry.path());
        }
    }
    Ok(bytes)
}

impl fmt::Display for Scans {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = ["transcripts", "best s", "median s", "GB/s", "speed, × wc -l", "VmHWM MiB"];
        let mut table = Table::new(1, headings);
        for (name, scan) in [
            ("wc -l", &self.wc),
            ("scan prefilter", &self.prefilter),
            ("scan full", &self.full),
            ("import", &self.import),
            ("scan for lessons", &self.learn),
        ] {
            table.row(vec![
                name.to_owned(),
                format!("{:.3}", scan.best_seconds),
                format!("{:.3}", scan.median_seconds),
                format!("{:.2}", self.bytes as f64 / 1e9 / scan.median_seconds),
                format!("{:.2}", scan.speed_ratio),
                scan.peak_memory_kib
                    .map_or_else(|| NONE.to_owned(), |kib| format!("{:.1}", kib as f64 / 1024.0)),
            ]);
        }
        writeln!(
            formatter,
            "{} files, {} MiB, page cache warm, {ROUNDS} interleaved rounds",
            self.files,
            self.bytes >> 20
        )?;
        write!(formatter, "{table}")
    }
}
