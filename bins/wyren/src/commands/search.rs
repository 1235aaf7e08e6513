//! `wyren search`: everything that is remembered, found by its words. Models read its output as often as people do.

mod asked;
mod nothing;
mod transcripts;

use crate::exit::Ending;
use crate::finder::{self, Finder};
use crate::hits::{self, Layout};
use crate::person;
use crate::terminal::{self, DIM, counted};
use anyhow::Result;
use base::{Env, Paths, Timestamp};
use clap::Args;
use search::Query;
use search::highlight::Words;
use search::query::{Found, Hit};
use search::sources::{self, Loaded};
use serde_json::{Value, json};
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  wyren search rounding of prices         any of the words, in this project; best first
  wyren search verifyTok                  the last word may be unfinished
  wyren search migration --type decision --since 1w
  wyren search timeout --file src/api --all-projects
  wyren search flaky test --transcripts   also the transcripts, word for word";

/// How many are shown.
const DEFAULT_LIMIT: usize = 10;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to search for; any of the words counts.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    #[command(flatten)]
    filter: asked::Filters,
    /// The most hits to show; with --transcripts, up to half of them are lines of transcripts, more where there are fewer others.
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = DEFAULT_LIMIT, value_parser = limit)]
    limit: usize,
    /// Also search Claude Code's transcripts, word for word; that takes seconds.
    #[arg(long)]
    transcripts: bool,
    /// Show what each score consists of.
    #[arg(long)]
    explain: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The largest limit.
const MAX_LIMIT: usize = 1_000;

fn limit(text: &str) -> Result<usize, String> {
    let number: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    if (1..=MAX_LIMIT).contains(&number) { Ok(number) } else { Err(format!("from 1 to {MAX_LIMIT}")) }
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    if arguments.words.iter().all(|word| word.trim().is_empty()) {
        let search = person::command_for(env, "search WORDS", "search WORDS");
        return Err(Ending::misused(format!("wyren: nothing to search for. Use: {search}")).into());
    }
    let finder = finder::open(env, paths)?;
    let filter = arguments.filter.filter(&finder, paths)?;
    let query = Query {
        text: arguments.words.join(" "),
        filter,
        limit: arguments.limit,
        skip: 0,
        now: Timestamp::now().millis(),
    };
    let found = finder::search(&finder, &query, env, paths);
    let keys: Vec<String> = found.hits.iter().map(|hit| hit.key.clone()).collect();
    let answer = Answer {
        loaded: sources::load(&finder.store, paths, &keys)?,
        words: Words::of(found.terms.iter().map(|(word, _)| word.as_str())),
        query,
        found,
        said: Vec::new(),
    };
    answer.with_transcripts(arguments, env, paths)?.show(arguments, &finder, paths)?;
    finder.leave();
    Ok(())
}

/// What was found.
struct Answer {
    query: Query,
    found: Found,
    loaded: Vec<Loaded>,
    words: Words,
    /// What was found in transcripts.
    said: Vec<::search::transcripts::Said>,
}

impl Answer {
    fn with_transcripts(mut self, arguments: &Arguments, env: &Env, paths: &Paths) -> Result<Self> {
        if arguments.transcripts {
            self.said = transcripts::search(&self.query, &mut self.words, env, paths)?;
            let limit = self.query.limit;
            self.said.truncate((limit / 2).max(limit - self.loaded.len().min(limit)));
            self.loaded.truncate(limit - self.said.len());
        }
        Ok(self)
    }

    fn show(mut self, arguments: &Arguments, finder: &Finder, paths: &Paths) -> Result<()> {
        if arguments.json {
            let facts = self.json(arguments, finder, paths);
            return Ok(writeln!(terminal::output(), "{facts:#}")?);
        }
        if self.loaded.is_empty() && self.said.is_empty() {
            let reasons = self.reasons(arguments, finder, paths);
            let mut output = terminal::output();
            return reasons.lines().iter().try_for_each(|line| Ok(writeln!(output, "{line}")?));
        }
        let width = terminal::width();
        terminal::page(|output| self.write(output, width, arguments))
    }

    fn reasons(&self, arguments: &Arguments, finder: &Finder, paths: &Paths) -> nothing::Reasons {
        nothing::reasons(&self.query, &self.found, &arguments.filter, finder, paths)
    }

    fn write(&mut self, output: &mut dyn Write, width: Option<usize>, arguments: &Arguments) -> Result<()> {
        let layout = Layout::of(&self.loaded, width, arguments.filter.is_of_all_projects());
        for loaded in &self.loaded {
            let hit = self.found.hits.iter().find(|hit| hit.key == loaded.document.key);
            let more: Vec<String> = hit.filter(|_| arguments.explain).map(explained).into_iter().collect();
            layout.write(output, loaded, &mut self.words, &more)?;
        }
        transcripts::write(output, &self.said, &mut self.words, width)?;
        let shown = self.loaded.len() + self.said.len();
        if let Some((more, limit)) = self.more() {
            // Half of them may be lines of transcripts.
            let limit = if self.said.is_empty() { limit } else { limit.saturating_mul(2).min(MAX_LIMIT) };
            let advice = if limit > shown { format!(": --limit {limit}") } else { ".".to_owned() };
            writeln!(output, "{DIM}{more} some of these words{advice}{DIM:#}")?;
        }
        Ok(())
    }

    /// Returns how many more there are, and the limit that shows them; `None` where this is all.
    fn more(&self) -> Option<(String, usize)> {
        let shown = self.loaded.len();
        match self.found.total {
            Some(total) if total > shown => {
                let more = counted((total - shown) as u64, "more has", "more have");
                Some((more, total.min(MAX_LIMIT)))
            }
            Some(_) => None,
            // Not all were looked at, since they cannot be better.
            None => Some(("Many more have".to_owned(), (shown * 10).clamp(1, MAX_LIMIT))),
        }
    }

    fn json(&mut self, arguments: &Arguments, finder: &Finder, paths: &Paths) -> Value {
        let mut hits = Vec::new();
        for loaded in &self.loaded {
            let mut facts = hits::to_json(loaded, &mut self.words);
            if let Some(hit) = self.found.hits.iter().find(|hit| hit.key == loaded.document.key) {
                facts["score"] = json!(hit.score);
                if arguments.explain {
                    let parts = hit.parts.iter().map(|(name, gained)| json!({"part": name, "score": gained}));
                    facts["explain"] = parts.collect();
                }
            }
            hits.push(facts);
        }
        let words =
            self.found.terms.iter().map(|(word, documents)| json!({"word": word, "documents": documents}));
        let mut facts = json!({
            "query": self.query.text,
            "hits": hits,
            "total": self.found.total,
            "words": words.collect::<Value>(),
            "is_complete": finder.is_complete,
        });
        if arguments.transcripts {
            let words = &mut self.words;
            facts["transcripts"] = self.said.iter().map(|said| transcripts::to_json(said, words)).collect();
        }
        if self.loaded.is_empty() {
            facts["nothing"] = self.reasons(arguments, finder, paths).to_json();
        }
        facts
    }
}

/// Returns what a score consists of. What is shown adds up as it is shown: the largest part takes what rounding leaves.
fn explained(hit: &Hit) -> String {
    let hundredths = |number: f64| (number * 100.0).round() as i64;
    let score = hundredths(hit.score);
    let mut gained: Vec<i64> = hit.parts.iter().map(|(_, gained)| hundredths(*gained)).collect();
    let left = score - gained.iter().sum::<i64>();
    if let Some(largest) = gained.iter_mut().max() {
        *largest += left;
    }
    let shown = |number: i64| format!("{}.{:02}", number / 100, number % 100);
    let parts = hit.parts.iter().zip(gained);
    let parts: Vec<String> = parts.map(|((name, _), gained)| format!("{} {name}", shown(gained))).collect();
    format!("score {} = {}", shown(score), parts.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_adds_up_as_it_is_shown() {
        let shown = |parts: &[f64]| {
            let parts: Vec<(String, f64)> = parts.iter().map(|gained| ("x".to_owned(), *gained)).collect();
            explained(&Hit { score: parts.iter().map(|(_, gained)| gained).sum(), parts, ..Hit::default() })
        };
        assert_eq!(shown(&[1.234, 0.5, 0.1]), "score 1.83 = 1.23 x + 0.50 x + 0.10 x");
        assert_eq!(shown(&[0.335, 0.335, 0.335]), "score 1.01 = 0.34 x + 0.34 x + 0.33 x");
        assert_eq!(shown(&[2.004, 0.004, 0.004]), "score 2.01 = 2.01 x + 0.00 x + 0.00 x");
        assert_eq!(shown(&[]), "score 0.00 = ");
    }
}
