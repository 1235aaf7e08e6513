//! Prints how long everything before the model takes on a transcript of 50 MB, since its last ten prompts, and fails when
//! that is over budget.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use distiller::{Mark, Slice, extract, question, score};
use memory::Memory;
use transcript::{Scope, synthetic, tail};

const BYTES: u64 = 50 * 1_024 * 1_024;
const PROMPTS: usize = 10;
const ROUNDS: usize = 9;

/// What all of it may take.
const BUDGET: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("session.jsonl");
    synthetic::write_transcript(&path, BYTES, 7)?;

    // The mark after distilling all but the last prompts and their replies.
    let end = tail::offset_of_last_turns(&path, PROMPTS, Scope::Main)?;
    let mark = mark_at(&path, usize::try_from(end)?)?;
    let turn = mark.message;
    let cases = [
        ("uuid, turn and offset", Some(mark.clone())),
        ("uuid alone, turn counted", mark.uuid.as_deref().map(Mark::at)),
        (
            "unknown uuid, since the turn",
            Some(Mark { uuid: Some("unknown".to_owned()), message: turn, offset: None }),
        ),
        ("no mark: the first slice of the file", None),
    ];
    let mut is_over = false;
    for (name, since) in cases {
        let mut times = Vec::new();
        let mut turns = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let slice = Slice::read(&path, since.as_ref())?;
            let _ = (score(&slice), extract(&slice), question(&Memory::default(), &slice));
            times.push(start.elapsed());
            turns = slice.messages.len();
        }
        times.sort_unstable();
        let median = times[ROUNDS / 2];
        let verdict = match since {
            None => "no budget".to_owned(),
            Some(_) if median <= BUDGET => format!("within {BUDGET:?}"),
            Some(_) => {
                is_over = true;
                format!("over {BUDGET:?}")
            }
        };
        println!("{name:40} {turns:5} messages  {median:>10.1?}  {verdict}");
    }
    if is_over { Err(format!("over the budget of {BUDGET:?}").into()) } else { Ok(()) }
}

/// Returns the mark of a distillation made when the file ended at `end`.
fn mark_at(path: &Path, end: usize) -> Result<Mark, Box<dyn Error>> {
    let part = path.with_extension("part");
    std::fs::write(&part, &std::fs::read(path)?[..end])?;
    let mut slice = Slice::read(&part, None)?;
    while slice.has_more {
        slice = Slice::read(&part, Some(&slice.next))?;
    }
    Ok(slice.next)
}
