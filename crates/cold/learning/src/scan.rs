//! Searches everything that happened since the last time: observations of the store, then transcripts, each from where the
//! last search ended.

use crate::candidate::{self, Candidate, Fact, Held, Made, Scoring};
use crate::detect::{Evidence, Found, Spoken};
use crate::keep::{Error, Keeper, Kept};
use crate::source::observations;
use crate::source::transcripts::{Transcripts, Whose};
use base::lock::Lock;
use base::settings::Settings;
use base::{Env, Paths, files};
use capture::{Rules, Spool};
use lessons_admin::catalogue::Places;
use lessons_admin::change::Change;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::Store;
use store::sightings::{self, Progress, Searched};
use store::transcripts::Forgotten;
use transcript::tree;

/// How long to wait for another scan.
const PATIENCE: Duration = Duration::from_millis(200);
/// How many conversations are kept at once.
const AT_ONCE: usize = 64;
/// The most of lessons-learned's `scan-state.json` that is read.
const MAX_STATE_BYTES: usize = 32 * 1024 * 1024;

/// What to search, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Search everything again, also what was searched before.
    pub is_full: bool,
    /// Change nothing.
    pub is_trial: bool,
    /// Search the transcripts below these folders.
    pub folders: Vec<PathBuf>,
    /// Search for this long at most; what is left waits for the next time.
    pub most_time: Option<Duration>,
    /// How many new candidates are kept at most.
    pub most_candidates: usize,
    pub scoring: Scoring,
    /// Whether what a model reported and a second session showed is put to work at once.
    pub is_promoting: bool,
}

impl Options {
    /// Returns what the user's settings and environment say.
    pub fn of(env: &Env, paths: &Paths) -> Self {
        let settings = Settings::read(env, &paths.hook_settings());
        let number = |name: &str| i64::try_from(settings.number(name)).unwrap_or(i64::MAX);
        Self {
            folders: folders(env, paths, &settings),
            most_candidates: usize::try_from(settings.number("lessons.max_candidates")).unwrap_or(usize::MAX),
            scoring: Scoring {
                multi_session: number("lessons.score_sessions"),
                multi_project: number("lessons.score_projects"),
                hang: number("lessons.score_hang"),
                correction: number("lessons.score_correction"),
                single: -number("lessons.score_single"),
            },
            is_promoting: settings.is_on("lessons.promote_reported"),
            ..Self::default()
        }
    }
}

/// Returns the folders that transcripts are in. lessons-learned separates several by colons.
fn folders(env: &Env, paths: &Paths, settings: &Settings) -> Vec<PathBuf> {
    let home = base::system::home(env);
    let whole = |text: &str| match (text.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    if let Some(list) = env.text("LESSONS_SCAN_PATHS") {
        let separator = if cfg!(windows) { ';' } else { ':' };
        return list.split(separator).map(str::trim).filter(|text| !text.is_empty()).map(whole).collect();
    }
    let named = settings.get("lessons.scan_paths");
    let named: Vec<PathBuf> = base::settings::list(&named).map(whole).collect();
    if named.is_empty() {
        paths.client().map(|client| client.join("projects")).into_iter().collect()
    } else {
        named
    }
}

/// Gets the progress of a scan.
pub trait Observer {
    /// So many bytes of transcripts are to be read.
    fn begin(&mut self, _bytes: u64) {}
    /// So many more were.
    fn passed(&mut self, _bytes: u64) {}
    /// Says whether to end between two transcripts.
    fn is_stopping(&self) -> bool {
        false
    }
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {}

/// What a scan did.
#[derive(Debug, Default)]
pub struct Report {
    /// Recorded sessions that had something new.
    pub sessions: usize,
    /// Transcripts that there are, and those that had something new.
    pub files: usize,
    pub read: usize,
    pub bytes: u64,
    /// Transcripts that could not be read.
    pub unreadable: usize,
    pub kept: Kept,
    /// What was found, of a trial.
    pub candidates: Vec<Candidate>,
    pub facts: Vec<Fact>,
    /// What no lesson could be made of, and why.
    pub held: Vec<Held>,
    /// Whether it ended before all transcripts were searched: the next goes on.
    pub is_cut: bool,
}

/// Searches. One process at a time does.
pub fn run(
    store: &mut Store,
    places: &Places,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Report, Error> {
    let lock = places.paths.cache().join("lessons/scan.lock");
    let held = Lock::exclusive(&lock, PATIENCE).map_err(files::Error::at(&lock))?;
    let _held = held.ok_or(Error::Busy)?;
    let spool = Spool::new(places.paths.spool());
    let rules = Rules::of(&places.settings(), &places.env).knowing(&spool);
    let spoken = Spoken::default();
    let forgotten = Forgotten::of(store);
    let mut scan = Scan {
        places,
        options,
        began: Instant::now(),
        keeper: Keeper {
            places,
            scoring: options.scoring,
            is_promoting: options.is_promoting,
            left: options.most_candidates,
            kept: Kept::default(),
        },
        report: Report::default(),
        waiting: Vec::new(),
        is_row_left: false,
    };
    scan.observations(store, &spoken, observer)?;
    let transcripts = Transcripts::new(&rules, &spoken, &forgotten);
    scan.transcripts(store, transcripts, observer)?;
    if !options.is_trial && !scan.report.is_cut {
        let stamp = schedule::scanned_file(&places.paths);
        files::write_atomic(&stamp, b"").map_err(files::Error::at(&stamp))?;
    }
    scan.report.kept = scan.keeper.kept;
    Ok(scan.report)
}

struct Scan<'a> {
    places: &'a Places,
    options: &'a Options,
    began: Instant,
    keeper: Keeper<'a>,
    report: Report,
    waiting: Vec<Unkept>,
    /// Whether some session's candidates were over the bound: what comes after it is searched again as well.
    is_row_left: bool,
}

/// What was made of a conversation and is not kept yet.
struct Unkept {
    candidates: Vec<Candidate>,
    facts: Vec<Fact>,
    /// What was withdrawn in which session.
    withdrawn: Vec<(String, String)>,
    searching: Searching,
}

/// What has been searched once that is kept.
enum Searching {
    /// Observations up to this row.
    Rows(i64),
    File(PathBuf, Searched),
}

/// A transcript that has something new.
struct Waiting {
    path: PathBuf,
    from: u64,
    size: u64,
}

impl Scan<'_> {
    fn is_over(&self, observer: &dyn Observer) -> bool {
        observer.is_stopping() || self.options.most_time.is_some_and(|most| self.began.elapsed() >= most)
    }

    fn observations(
        &mut self,
        store: &mut Store,
        spoken: &Spoken,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let after = if self.options.is_full { 0 } else { sightings::last_row(store.connection())? };
        for (session, last) in observations::sessions_since(store.connection(), after)? {
            if self.is_over(observer) {
                self.report.is_cut = true;
                break;
            }
            let found = observations::read(store, session, spoken)?;
            self.report.sessions += 1;
            // They come by their last rows: a scan that ends here has searched everything up to this one.
            self.take(store, &found, Searching::Rows(last))?;
        }
        self.keep(store)
    }

    fn transcripts(
        &mut self,
        store: &mut Store,
        mut transcripts: Transcripts<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let mut progress = Progress::read(store.connection())?;
        if progress.is_empty() && !self.options.is_trial {
            import_state(store, &self.places.env)?;
            progress = Progress::read(store.connection())?;
        }
        let mut waiting = Vec::new();
        for folder in &self.options.folders {
            // A folder that is not there has no transcripts.
            let Ok(tree) = tree::walk(folder) else { continue };
            self.report.files += tree.transcripts.len();
            for path in tree.transcripts {
                let Ok(size) = std::fs::symlink_metadata(&path).map(|metadata| metadata.len()) else {
                    continue;
                };
                let known = progress.of(&path);
                if size == known.size && !self.options.is_full {
                    continue;
                }
                // One that became shorter is another one.
                let from = if self.options.is_full || size < known.size { 0 } else { known.resume };
                waiting.push(Waiting { path, from, size });
            }
        }
        observer.begin(waiting.iter().map(|it| it.size - it.from).sum());
        for it in &waiting {
            if self.is_over(observer) {
                self.report.is_cut = true;
                break;
            }
            self.transcript(store, &mut transcripts, it)?;
            observer.passed(it.size - it.from);
        }
        self.keep(store)
    }

    fn transcript(
        &mut self,
        store: &mut Store,
        transcripts: &mut Transcripts<'_>,
        it: &Waiting,
    ) -> Result<(), Error> {
        let asked;
        let whose = if is_of_subagent(&it.path) {
            // Without the session's own transcript it cannot be said what is private.
            let prompts = session_of(&it.path).and_then(|path| transcripts.prompts(&path).ok());
            let Some(prompts) = prompts else {
                self.report.unreadable += 1;
                return Ok(());
            };
            asked = prompts;
            Whose::Subagent(&asked)
        } else {
            Whose::Session
        };
        let Ok(read) = transcripts.read(&it.path, it.from, whose) else {
            self.report.unreadable += 1;
            return Ok(());
        };
        self.report.read += 1;
        self.report.bytes += read.end.saturating_sub(it.from);
        // What was appended meanwhile is new.
        let is_whole = read.end >= it.size;
        let searched = Searched { resume: read.resume, size: if is_whole { read.end } else { it.size } };
        self.take(store, &[read.found], Searching::File(it.path.clone(), searched))
    }

    /// Makes candidates of what was found, which are kept soon.
    fn take(&mut self, store: &mut Store, found: &[Found], searching: Searching) -> Result<(), Error> {
        let home = base::system::home(&self.places.env);
        let mut waiting =
            Unkept { candidates: Vec::new(), facts: Vec::new(), withdrawn: Vec::new(), searching };
        for found in found.iter().filter(|found| !found.findings.is_empty()) {
            let Made { candidates, facts, held } = candidate::make(found, home.as_deref());
            self.report.held.extend(held);
            waiting.candidates.extend(candidates);
            waiting.facts.extend(facts);
            waiting.withdrawn.extend(found.findings.iter().filter_map(|finding| match &finding.evidence {
                Evidence::Withdrawn(beginning) => Some((finding.place.session.clone(), beginning.clone())),
                _ => None,
            }));
        }
        if self.options.is_trial {
            self.report.candidates.extend(waiting.candidates);
            self.report.facts.extend(waiting.facts);
            return Ok(());
        }
        self.waiting.push(waiting);
        if self.waiting.len() >= AT_ONCE { self.keep(store) } else { Ok(()) }
    }

    /// Keeps what waits, in its order, then notes what was searched: lessons are read once for all of it. A process that is
    /// killed in between searches it again, and finds it kept.
    fn keep(&mut self, store: &mut Store) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let mut change = None;
        let mut done = Vec::new();
        for it in waiting {
            self.keeper.keep_facts(store, it.facts)?;
            if !(it.candidates.is_empty() && it.withdrawn.is_empty()) {
                let change = match &mut change {
                    Some(change) => change,
                    none => none.insert(Change::begin(self.places)?),
                };
                // What is over the bound of new candidates is searched again.
                if !self.keeper.keep(store, change, it.candidates, &it.withdrawn)? {
                    self.is_row_left |= matches!(it.searching, Searching::Rows(_));
                    continue;
                }
            }
            done.push(it.searching);
        }
        let is_row_left = self.is_row_left;
        store.write(|transaction| {
            for searching in &done {
                match searching {
                    Searching::Rows(last) if !is_row_left => sightings::set_last_row(transaction, *last)?,
                    Searching::Rows(_) => {}
                    Searching::File(path, searched) => {
                        sightings::set_searched(transaction, path, *searched)?;
                    }
                }
            }
            Ok::<_, store::Error>(())
        })?;
        Ok(())
    }
}

fn is_of_subagent(path: &Path) -> bool {
    path.parent().and_then(Path::file_name) == Some(OsStr::new("subagents"))
}

/// Returns the transcript of the session that a subagent belongs to.
fn session_of(path: &Path) -> Option<PathBuf> {
    let session = path.parent()?.parent()?;
    let mut name = session.file_name()?.to_owned();
    name.push(".jsonl");
    Some(session.with_file_name(name))
}

/// Takes over how far lessons-learned came: transcripts that it read to their ends and that have not grown.
fn import_state(store: &mut Store, env: &Env) -> Result<(), Error> {
    let Some(folder) = env.get("LESSONS_DATA_DIR").map(PathBuf::from) else { return Ok(()) };
    let Ok(text) = files::read_capped(&folder.join("scan-state.json"), MAX_STATE_BYTES) else {
        return Ok(());
    };
    let Ok(state) = serde_json::from_slice::<Value>(&text) else { return Ok(()) };
    let Some(known) = state["files"].as_object() else { return Ok(()) };
    store.write(|transaction| {
        for (path, file) in known {
            let path = Path::new(path);
            let (Some(offset), Some(size)) = (file["offset"].as_u64(), file["fileSize"].as_u64()) else {
                continue;
            };
            let is_same = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.len() == size);
            if is_same && offset >= size {
                // Where a turn begins is not known: should it grow, it is read from its start.
                sightings::set_searched(transaction, path, Searched { resume: 0, size })?;
            }
        }
        Ok::<_, store::Error>(())
    })?;
    Ok(())
}
