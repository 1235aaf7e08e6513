//! What names the forgotten outside of the database and the spool: logs, requests for jobs, answers that were too long for
//! the client, damaged databases.

use crate::database;
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp, files};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use store::Store;
use store::observations::Selection;
use work::contexts;

/// How often the logs are gone through: one that a hook renames meanwhile is found the next time.
const MAX_ROUNDS: u32 = 3;
/// The folder in the cache where hooks keep answers that are too long for the client.
const LONG_ANSWERS: &str = "long-answers";
/// The setting that has transcripts copied.
const KEEPS_TRANSCRIPTS: &str = "capture.keep_transcripts";
/// How the name of a damaged database that was put aside begins.
const DAMAGED: &str = "wyren.db.damaged-";

/// Overwrites every line of the logs that mentions what is forgotten; returns how many.
pub(super) fn blank_log_lines(paths: &Paths, selection: &Selection) -> Result<u64, files::Error> {
    let mut blanked = 0;
    for _ in 0..MAX_ROUNDS {
        let mut found = 0;
        for file in files::files_in(&paths.logs()) {
            found += blank_lines(&file, |line| is_meant(line, selection)).map_err(files::Error::at(&file))?;
        }
        blanked += found;
        if found == 0 {
            break;
        }
    }
    Ok(blanked)
}

fn is_meant(line: &[u8], selection: &Selection) -> bool {
    selection.mentions(line) && time_of(line).is_none_or(|at| selection.covers(at))
}

fn time_of(line: &[u8]) -> Option<Timestamp> {
    serde_json::from_slice::<Value>(line).ok()?["ts"].as_str()?.parse().ok()
}

/// Overwrites the lines that `is_meant` picks with blanks, in their place: hooks append to the same file meanwhile, and what
/// was there is not left in a deleted one. A process killed meanwhile leaves the rest to the next.
fn blank_lines(path: &Path, is_meant: impl Fn(&[u8]) -> bool) -> io::Result<u64> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut reader = BufReader::new(&file);
    let (mut line, mut at, mut meant) = (Vec::new(), 0, Vec::new());
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if is_meant(text) {
            meant.push((at, text.len()));
        }
        at += length as u64;
    }
    for (at, length) in &meant {
        file.seek(SeekFrom::Start(*at))?;
        file.write_all(&vec![b' '; *length])?;
    }
    Ok(meant.len() as u64)
}

/// Deletes requests for jobs that mention what is forgotten, also those that were put aside; returns how many.
pub(super) fn delete_requests(paths: &Paths, selection: &Selection) -> Result<u64, files::Error> {
    let mut deleted = 0;
    for file in files::files_in(&paths.data().join("jobs")) {
        let request = files::read_if_there(&file).map_err(files::Error::at(&file))?;
        if request.is_some_and(|request| selection.mentions(&request)) {
            deleted += u64::from(files::remove_if_there(&file).map_err(files::Error::at(&file))?);
        }
    }
    Ok(deleted)
}

/// Deletes candidates for lessons that were seen nowhere else, and those that mention what is forgotten.
pub(super) fn delete_candidates(
    paths: &Paths,
    lessons: &[String],
    selection: &Selection,
) -> Result<(), files::Error> {
    for file in files::files_in(&paths.data().join("lessons/candidates")) {
        let slug = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = files::read_if_there(&file).map_err(files::Error::at(&file))?.unwrap_or_default();
        if lessons.iter().any(|lesson| *lesson == slug) || selection.mentions(&text) {
            files::remove_if_there(&file).map_err(files::Error::at(&file))?;
        }
    }
    Ok(())
}

/// Deletes drafts of an editor that mention what is forgotten: one is kept when the editor or a check fails.
pub(super) fn delete_drafts(paths: &Paths, selection: &Selection) -> Result<(), files::Error> {
    // What a review took back could bring forgotten evidence with it.
    let review = paths.cache().join("drafts/review.json");
    files::remove_if_there(&review).map_err(files::Error::at(&review))?;
    delete_mentions(&paths.cache().join("drafts"), selection)
}

/// Deletes drafts of entries that are no more; their names have the ids.
pub(super) fn delete_drafts_of_entries(
    paths: &Paths,
    is_entry: impl Fn(&str) -> bool,
) -> Result<(), files::Error> {
    for file in files::files_in(&paths.cache().join("drafts")) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let id = name.strip_prefix("entry-").and_then(|name| name.strip_suffix(".md"));
        if id.is_some_and(|id| !is_entry(id)) {
            files::remove_if_there(&file).map_err(files::Error::at(&file))?;
        }
    }
    Ok(())
}

/// Empties the copies of transcripts that have something of what is forgotten: an empty one is not made again. `sessions` lost
/// something: one that goes on gets no copy, either, since the client's transcript has more of it than was recorded.
pub(super) fn empty_transcripts(
    env: &Env,
    paths: &Paths,
    selection: &Selection,
    sessions: &[String],
) -> Result<(), files::Error> {
    let empty = |file: &Path| files::write_atomic(file, b"").map_err(files::Error::at(file));
    let losing: Vec<PathBuf> = sessions.iter().map(|session| paths.transcript(session)).collect();
    for file in files::files_in(&paths.transcripts()) {
        let copy = files::open_regular(&file).map_err(files::Error::at(&file))?;
        if copy.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            continue;
        }
        // That of a session which lost something is made anew when it ends again, and may not have it yet. What cannot be read may
        // have it.
        let is_losing = losing.contains(&file);
        if is_losing || has_line(BufReader::new(GzDecoder::new(copy)), selection).unwrap_or(true) {
            empty(&file)?;
        }
    }
    if Settings::read(env, &paths.hook_settings()).is_on(KEEPS_TRANSCRIPTS) {
        losing.iter().filter(|file| !file.exists()).try_for_each(|file| empty(file))?;
    }
    Ok(())
}

fn has_line(mut copy: impl io::BufRead, selection: &Selection) -> io::Result<bool> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if copy.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if is_line_meant(&line, selection) {
            return Ok(true);
        }
    }
}

/// Says whether a line of a transcript is meant: by every text, session, project and time that is given, and by one of the ids.
fn is_line_meant(line: &[u8], selection: &Selection) -> bool {
    let record: Value = serde_json::from_slice(line).unwrap_or_default();
    // An observation's id is the client's, with what says its kind before it.
    let bare = |id: &str| id.split_once(':').map_or(id, |(_, id)| id).to_owned();
    let exact = selection.exact.iter().map(|(_, id)| id);
    let named = Selection {
        ids: selection.ids.iter().chain(exact).map(|id| bare(id)).collect(),
        query: selection.query.clone(),
        session: selection.session.clone(),
        ..Selection::default()
    };
    let has_names = !named.ids.is_empty() || named.query.is_some() || named.session.is_some();
    let cwd = record["cwd"].as_str().unwrap_or_default();
    let is_of = |key: &String| Project::of(Path::new(cwd)).key == *key;
    let is_placed = selection.project.as_ref().is_none_or(is_of);
    let at: Option<Timestamp> = record["timestamp"].as_str().and_then(|at| at.parse().ok());
    (!has_names || named.mentions(line)) && is_placed && at.is_none_or(|at| selection.covers(at))
}

/// Deletes notices that wait for a session and mention what is forgotten.
pub(super) fn delete_notices(paths: &Paths, selection: &Selection) -> Result<(), files::Error> {
    delete_mentions(&paths.notices(), selection)
}

fn delete_mentions(folder: &Path, selection: &Selection) -> Result<(), files::Error> {
    for file in files::files_in(folder) {
        let text = files::read_if_there(&file).map_err(files::Error::at(&file))?;
        if text.is_some_and(|text| selection.mentions(&text)) {
            files::remove_if_there(&file).map_err(files::Error::at(&file))?;
        }
    }
    Ok(())
}

/// Deletes the texts of answers that were too long for the client: their files do not say which session they are of.
pub(super) fn delete_long_answers(paths: &Paths) -> Result<(), files::Error> {
    let folder = paths.cache().join(LONG_ANSWERS);
    match fs::remove_dir_all(&folder) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(files::Error::at(&folder)(error))
        }
        _ => Ok(()),
    }
}

/// Deletes the folders of contexts that are no more, and the files that bind sessions to them. Their names have words of what
/// was forgotten.
pub(super) fn delete_contexts(
    paths: &Paths,
    store: &mut Store,
    before: Vec<String>,
) -> Result<(), files::Error> {
    if before.is_empty() {
        return Ok(());
    }
    // A context may be in the spool alone.
    database::drain_now(store, paths);
    let at = |error: store::Error| files::Error::at(&paths.database())(io::Error::other(error));
    let left = contexts::read::ids(store).map_err(at)?;
    let gone: Vec<String> = before.into_iter().filter(|id| !left.contains(id)).collect();
    work::bind::sweep(paths, &gone).map_err(files::Error::at(&paths.work()))
}

/// Deletes the folders of handoffs that are no more.
pub(super) fn delete_handoffs(
    paths: &Paths,
    store: &Store,
    before: &[(String, String)],
) -> Result<(), files::Error> {
    if before.is_empty() {
        return Ok(());
    }
    let at = |error: store::Error| files::Error::at(&paths.database())(io::Error::other(error));
    let left = handoff::all(store).map_err(at)?;
    handoff::sweep(paths, before, &left).map_err(files::Error::at(&paths.work()))
}

/// Returns the damaged databases that were put aside, with what lies beside them.
pub(super) fn damaged_databases(paths: &Paths) -> Vec<PathBuf> {
    let mut files = files::files_in(paths.data());
    files.retain(|file| {
        file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(DAMAGED))
    });
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &tempfile::TempDir) -> Paths {
        Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]))
    }

    fn query(text: &str) -> Selection {
        Selection { query: Some(text.into()), ..Selection::default() }
    }

    #[test]
    fn lines_are_overwritten_in_their_place_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        fs::create_dir(paths.logs()).unwrap();
        let log = paths.hook_log();
        fs::write(&log, "{\"msg\":\"one\"}\n{\"msg\":\"the MERGER\"}\n\n{\"msg\":\"two\"}\nmerger").unwrap();
        let length = fs::metadata(&log).unwrap().len();
        assert_eq!(blank_log_lines(&paths, &query("merger")).unwrap(), 2);
        let left = fs::read_to_string(&log).unwrap();
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), ["{\"msg\":\"one\"}", "{\"msg\":\"two\"}"]);
        assert_eq!(left.len() as u64, length);
    }

    #[test]
    fn a_line_from_another_time_stays() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        fs::create_dir(paths.logs()).unwrap();
        let line =
            |day: u32| format!("{{\"ts\":\"2026-11-{day}T00:00:00.000Z\",\"msg\":\"merger {day}\"}}\n");
        fs::write(paths.hook_log(), line(15) + &line(17)).unwrap();
        let before = "2026-11-16T00:00:00Z".parse().ok();
        assert_eq!(blank_log_lines(&paths, &Selection { before, ..query("merger") }).unwrap(), 1);
        assert_eq!(fs::read_to_string(paths.hook_log()).unwrap().trim(), line(17).trim());
    }

    #[test]
    fn texts_of_long_answers_are_deleted_and_need_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        delete_long_answers(&paths).unwrap();
        let answer = paths.cache().join("long-answers/session-start-memory-0123.txt");
        let other = paths.cache().join("other");
        fs::create_dir_all(answer.parent().unwrap()).unwrap();
        fs::write(&answer, "about the merger").unwrap();
        fs::write(&other, "").unwrap();
        delete_long_answers(&paths).unwrap();
        assert!(!answer.exists() && other.exists());
    }
}
