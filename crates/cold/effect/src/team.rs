//! What became of a repository's lessons in each clone: counts alone, no texts, one file per clone under a random name.
//!
//! Each clone writes its own file and no other, so that merging only brings files together, and the counts of a team are their
//! sum. A teammate wrote the others: they move the confidence of that repository's lessons, and propose nothing.

use crate::judge::Verdict;
use crate::measure::Effect;
use crate::tally::Tally;
use base::{Timestamp, files, system};
use lessons::format::is_slug;
use lessons::layers::Layer;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the counts, within that of the lessons.
pub const FOLDER: &str = "counts";
/// The file with this clone's name, in `.wyren/state/`.
const NAME: &str = "counts-name";
const HEAD: &str = "wyren counts 1";
const ENDING: &str = "txt";
/// How many files are read, how much of each, and how much one line may count: a teammate could write anything.
const MAX_FILES: usize = 200;
const MAX_BYTES: usize = 64 * 1024;
const MAX_COUNT: u64 = 1_000;
const MILLIS_PER_DAY: u64 = 86_400_000;
/// Counts are kept by periods of this many days since 1970: enough for the half-life, too little to tell a working day.
const PERIOD_DAYS: u64 = 30;

const VERDICTS: [Verdict; 5] =
    [Verdict::Heeded, Verdict::Overruled, Verdict::Failed, Verdict::Ignored, Verdict::Open];

/// Counts by lesson and period, one for each of `VERDICTS`.
type Counts = BTreeMap<(String, u64), [u64; VERDICTS.len()]>;

/// Writes the counts of this clone into the lessons' folder of its repository, if they changed. `state` is its `.wyren/state`.
pub fn write(lessons: &Path, state: &Path, effects: &[Effect]) -> io::Result<bool> {
    let mut counts = Counts::new();
    let is_of_it = |effect: &&Effect| effect.layer == Some(Layer::Project) && effect.place == lessons;
    for effect in effects.iter().filter(is_of_it) {
        let slug = effect.name.strip_prefix(crate::known::SHARED).unwrap_or(&effect.name);
        for judged in &effect.judged {
            let place = VERDICTS.iter().position(|verdict| *verdict == judged.verdict);
            let period = judged.at / MILLIS_PER_DAY / PERIOD_DAYS;
            let row = counts.entry((slug.to_owned(), period)).or_default();
            place.into_iter().for_each(|place| row[place] += 1);
        }
    }
    let file = lessons.join(FOLDER).join(name(state)?).with_extension(ENDING);
    let text = render(&counts);
    let present = files::read_text_capped(&file, MAX_BYTES).ok();
    if present.as_deref() == Some(&*text) || (present.is_none() && counts.is_empty()) {
        return Ok(false);
    }
    files::write_atomic(&file, text.as_bytes())?;
    Ok(true)
}

/// Returns what became of a repository's lessons in the other clones, by name.
pub fn others(lessons: &Path, state: &Path, now: Timestamp) -> BTreeMap<String, Tally> {
    let own = files::read_text_capped(&state.join(NAME), files::cap::POINTER).unwrap_or_default();
    let is_others = |file: &PathBuf| {
        file.extension().is_some_and(|ending| ending == ENDING)
            && file.file_stem().is_some_and(|stem| stem.to_string_lossy() != own.trim())
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in files::files_in(&lessons.join(FOLDER)).into_iter().filter(is_others).take(MAX_FILES) {
        let Ok(text) = files::read_text_capped(&file, MAX_BYTES) else { continue };
        for ((slug, period), counts) in parse(&text) {
            let middle = period.saturating_mul(PERIOD_DAYS).saturating_add(PERIOD_DAYS / 2);
            let at = middle.saturating_mul(MILLIS_PER_DAY).min(now.millis());
            let tally = tallies.entry(slug).or_default();
            for (verdict, count) in VERDICTS.into_iter().zip(counts).filter(|(_, count)| *count > 0) {
                tally.count(at, verdict, count, now.millis());
            }
        }
    }
    tallies
}

/// Returns the name of this clone's file, which is made once and says nothing about the clone.
fn name(state: &Path) -> io::Result<String> {
    let file = state.join(NAME);
    let known = files::read_text_capped(&file, files::cap::POINTER).unwrap_or_default();
    let is_name = |name: &str| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_name(known.trim()) {
        return Ok(known.trim().to_owned());
    }
    let mut bytes = [0; 8];
    system::random(&mut bytes)?;
    let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    files::write_atomic(&file, format!("{name}\n").as_bytes())?;
    Ok(name)
}

fn render(counts: &Counts) -> String {
    counts.iter().fold(format!("{HEAD}\n"), |text, ((slug, period), row)| {
        let row: Vec<String> = row.iter().map(ToString::to_string).collect();
        text + &format!("{slug} {period} {}\n", row.join(" "))
    })
}

/// Reads the counts of a file; a line that is no such line counts nothing.
fn parse(text: &str) -> Counts {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Counts::new();
    }
    let line = |line: &str| {
        let mut words = line.split(' ');
        let slug = words.next().filter(|slug| is_slug(slug))?.to_owned();
        let period = words.next()?.parse().ok()?;
        let mut row = [0; VERDICTS.len()];
        for count in &mut row {
            *count = words.next()?.parse::<u64>().ok()?.min(MAX_COUNT);
        }
        words.next().is_none().then_some(((slug, period), row))
    };
    lines.filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 20_000 * MILLIS_PER_DAY;

    fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (lessons, state) = (folder.path().join("lessons"), folder.path().join("state"));
        std::fs::create_dir_all(&lessons).unwrap();
        std::fs::create_dir_all(&state).unwrap();
        (folder, lessons, state)
    }

    fn effect(lessons: &Path, verdicts: &[Verdict]) -> Effect {
        let judged = |verdict: &Verdict| crate::Judged {
            verdict: *verdict,
            how: crate::recorded::How::Hint,
            at: NOW,
            session: "a-session-id".to_owned(),
            reason: "x",
            call: None,
            following: Vec::new(),
        };
        let judged: Vec<_> = verdicts.iter().map(judged).collect();
        Effect {
            name: "project:ours".to_owned(),
            layer: Some(Layer::Project),
            place: lessons.to_owned(),
            kind: None,
            given: 80,
            tally: Tally::of(judged.iter(), NOW),
            team: Tally::default(),
            judged,
        }
    }

    #[test]
    fn two_clones_have_a_file_each_and_their_counts_add_up() {
        let (_folder, lessons, state) = folder();
        let other_state = state.with_file_name("other-state");
        let here = [effect(&lessons, &[Verdict::Heeded, Verdict::Overruled])];
        let there = [effect(&lessons, &[Verdict::Heeded, Verdict::Heeded, Verdict::Ignored])];
        assert!(write(&lessons, &state, &here).unwrap());
        assert!(!write(&lessons, &state, &here).unwrap(), "nothing changed");
        assert!(write(&lessons, &other_state, &there).unwrap());
        let files = files::files_in(&lessons.join(FOLDER));
        assert_eq!(files.len(), 2, "{files:?}");
        let now = Timestamp::from_millis(NOW);
        let seen = |state: &Path| {
            let tally = &others(&lessons, state, now)["ours"];
            (tally.shown, tally.heeded, tally.overruled, tally.failed)
        };
        // Each sees the other's; one without a file of its own sees all.
        assert_eq!((seen(&state), seen(&other_state)), ((3, 2, 0, 1), (2, 1, 1, 0)));
        assert_eq!(seen(&state.with_file_name("third")), (5, 3, 1, 1));
    }

    #[test]
    fn a_file_has_names_and_numbers_and_nothing_else() {
        let (_folder, lessons, state) = folder();
        write(&lessons, &state, &[effect(&lessons, &[Verdict::Heeded])]).unwrap();
        let file = files::files_in(&lessons.join(FOLDER)).remove(0);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "wyren counts 1\nours 666 1 0 0 0 0\n");
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }

    #[test]
    fn what_a_teammate_writes_counts_within_bounds_or_not_at_all() {
        assert!(parse("wyren counts 2\nours 1 1 0 0 0 0\n").is_empty());
        for line in [
            "../x 1 1 0 0 0 0",
            "ours 1 1 0 0 0",
            "ours 1 1 0 0 0 0 7",
            "ours x 1 0 0 0 0",
            "ours 1 -1 0 0 0 0",
        ] {
            assert!(parse(&format!("{HEAD}\n{line}\n")).is_empty(), "{line}");
        }
        let counts = parse(&format!("{HEAD}\nours 1 99999999 0 0 0 0\n"));
        assert_eq!(counts[&("ours".to_owned(), 1)][0], MAX_COUNT);
        // A period after the end of time is now.
        let (_folder, lessons, state) = folder();
        let file = lessons.join(FOLDER).join("0123456789abcdef").with_extension(ENDING);
        files::write_atomic(&file, format!("{HEAD}\nours {} 1 0 0 0 0\n", u64::MAX).as_bytes()).unwrap();
        assert_eq!(others(&lessons, &state, Timestamp::from_millis(NOW))["ours"].last_at, NOW);
    }
}
