//! The place on a timeline that a person or a model asks about.

use crate::{Error, Finder, ids};
use base::{Paths, Timestamp};
use search::highlight::Words;
use search::sources::{self, Loaded};
use search::{Filter, Query};
use text::sanitize;

/// How many hits are looked at for one that has a time.
const LOOKED_AT: usize = 50;
/// In characters.
const MAX_SHOWN: usize = 60;

/// Finds what a timeline is around: by its id, else by its words in these projects; in all without one. A single word may be
/// either; one with a digit is an id first.
pub fn anchor(
    finder: &Finder,
    paths: &Paths,
    words: &[String],
    projects: Vec<String>,
) -> Result<(Loaded, Words), Error> {
    let by_id = |typed: &str| ids::find_any_in(&projects, &finder.store, paths, &finder.cwd, typed);
    let found = 'found: {
        if let [typed] = words
            && typed.bytes().any(|byte| byte.is_ascii_digit())
            && let Ok(loaded) = by_id(typed)
        {
            break 'found (loaded, Words::default());
        }
        let text = words.join(" ");
        let filter = Filter { projects: projects.clone(), ..Filter::default() };
        let query = Query { text, filter, limit: LOOKED_AT, skip: 0, now: Timestamp::now().millis() };
        let found = finder.index.search(&query);
        // What has no time is no place on a timeline.
        let first = found.hits.iter().find(|hit| hit.at > 0).or(found.hits.first());
        let keys: Vec<String> = first.map(|hit| hit.key.clone()).into_iter().collect();
        match (sources::load(&finder.store, paths, &keys)?.pop(), words) {
            (Some(loaded), _) => (loaded, Words::of(found.terms.iter().map(|(word, _)| word.as_str()))),
            // Says which ids there are.
            (None, [typed]) => (by_id(typed)?, Words::default()),
            (None, _) => {
                let text = sanitize::one_line(&query.text, MAX_SHOWN);
                return Err(Error::Unknown(format!("nothing found for {text:?}; a search for it says why")));
            }
        }
    };
    if found.0.document.at == 0 {
        let title = sanitize::one_line(&found.0.document.title, MAX_SHOWN);
        // What is below the first line is shown as data.
        return Err(Error::Unknown(format!("nothing says when this was written:\n  {title}")));
    }
    Ok(found)
}
