//! Which session a transcript is of, and which clone it belongs to.

use crate::session::Session;
use place::Folder;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use transcript::Reader;

/// How many lines of a transcript are searched for the session's id.
const MAX_LINES_TO_ID: usize = 200;

/// Returns the id of the session that a transcript is of, as its records say; else its file name.
pub fn session_of(transcript: &Path) -> Option<String> {
    let lines = BufReader::new(fs::File::open(transcript).ok()?).lines().map_while(Result::ok);
    let id = lines.take(MAX_LINES_TO_ID).find_map(|line| {
        let record: serde_json::Value = serde_json::from_str(&line).ok()?;
        record["sessionId"].as_str().filter(|id| !id.is_empty()).map(str::to_owned)
    });
    id.or_else(|| Some(transcript.file_stem()?.to_str()?.to_owned()))
}

impl Session<'_> {
    /// Returns whether some of the transcript happened in this clone. A watermark alone does not show that: it may have come
    /// with the repository and name a transcript of another project.
    pub fn happened_here(&self) -> bool {
        let Some(clone) = Folder::find(self.cwd) else { return false };
        let (mut is_here, mut looked_at) = (false, String::new());
        // A transcript that cannot be read belongs to no clone.
        let _ = Reader::new().read(self.transcript, 0, |_, record| {
            let place = record.cwd.as_deref().filter(|place| !is_here && *place != looked_at);
            if let Some(place) = place {
                is_here = Folder::find(Path::new(place)).is_some_and(|folder| folder.wyren == clone.wyren);
                place.clone_into(&mut looked_at);
            }
        });
        is_here
    }
}
