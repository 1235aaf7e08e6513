//! `wired.json` in the data folder: where hooks were written besides the user's own files, so that `wyren uninstall` finds them
//! from any folder.

use base::files;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// The version of the file.
const VERSION: u64 = 1;

/// A folder of an agent with something of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wired {
    /// The agent; `None` for Claude Code.
    pub agent: Option<String>,
    /// Its folder, as in `~/engine/.claude`.
    pub folder: PathBuf,
}

/// Reads the record; one that is not there is empty.
pub fn read(file: &Path) -> io::Result<Vec<Wired>> {
    let Some(bytes) = files::read_capped_if_there(file, files::cap::NAMED)? else { return Ok(Vec::new()) };
    let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    let record: Value = serde_json::from_slice(&bytes).map_err(io::Error::from)?;
    match record["v"].as_u64() {
        Some(VERSION) => {}
        Some(later) if later > VERSION => return Err(invalid("a later version of Wyren wrote it")),
        _ => return Err(invalid("it has no version")),
    }
    let wired = |row: &Value| {
        let folder = row["folder"].as_str().map(PathBuf::from).filter(|folder| folder.is_absolute())?;
        Some(Wired { agent: row["agent"].as_str().map(str::to_owned), folder })
    };
    Ok(record["folders"].as_array().into_iter().flatten().filter_map(wired).collect())
}

/// Adds a folder, before anything is written there. The caller holds the lock of the client's files.
pub fn add(file: &Path, wired: Wired) -> io::Result<()> {
    let mut all = read(file)?;
    if all.contains(&wired) {
        return Ok(());
    }
    all.push(wired);
    write(file, &all)
}

/// Takes folders out that hold nothing of ours any more, and the file with the last one.
pub fn take_out(file: &Path, is_out: impl Fn(&Wired) -> bool) -> io::Result<()> {
    let all = read(file)?;
    let left: Vec<Wired> = all.iter().filter(|wired| !is_out(wired)).cloned().collect();
    if left.len() == all.len() { Ok(()) } else { write(file, &left) }
}

fn write(file: &Path, all: &[Wired]) -> io::Result<()> {
    if all.is_empty() {
        return files::remove_if_there(file).map(drop);
    }
    // JSON has no place for a name that is not UTF-8.
    let row = |wired: &Wired| Some(json!({"agent": wired.agent, "folder": wired.folder.to_str()?}));
    let rows: Vec<Value> = all.iter().filter_map(row).collect();
    files::write_atomic(file, format!("{:#}\n", json!({"v": VERSION, "folders": rows})).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn wired(agent: Option<&str>, folder: &Path) -> Wired {
        Wired { agent: agent.map(str::to_owned), folder: folder.to_owned() }
    }

    #[test]
    fn folders_are_recorded_once_and_the_file_goes_with_the_last() {
        let data = tempfile::tempdir().unwrap();
        let (file, project) = (data.path().join("wired.json"), data.path().join("engine"));
        assert_eq!(read(&file).unwrap(), []);
        let all = [wired(None, &project.join(".claude")), wired(Some("codex"), &project.join(".codex"))];
        for one in all.iter().chain(&all) {
            add(&file, one.clone()).unwrap();
        }
        assert_eq!(read(&file).unwrap(), all);
        take_out(&file, |one| one.agent.is_none()).unwrap();
        assert_eq!(read(&file).unwrap(), all[1..]);
        take_out(&file, |_| true).unwrap();
        assert!(!file.exists());
        take_out(&file, |_| true).unwrap();
    }

    #[test]
    fn a_record_of_a_later_version_is_left_as_it_is() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("wired.json");
        for text in ["{\"v\": 2, \"places\": []}", "{}", "["] {
            fs::write(&file, text).unwrap();
            assert!(add(&file, wired(None, data.path())).is_err() && take_out(&file, |_| true).is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
