//! How well search finds what people judged to be relevant, on a collection of documents in BEIR's layout.
//!
//! Documents go through the same tokeniser, index and ranking as everything that `wyren search` finds, with the same settings.

use crate::bench::Table;
use anyhow::{Context as _, Result, bail, ensure};
use search::index::{Change, Writer};
use search::{Document, Query};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many results of each query count.
const DEPTH: usize = 10;
/// How many are looked at for the first relevant one.
const DEPTH_OF_FIRST: usize = 100;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask eval retrieval --data FOLDER          a table
  cargo xtask eval retrieval --data FOLDER --json   the last line is one object

The folder has corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels.tsv or qrels/test.tsv
(query, document, score), as the BEIR collections do. A line of a text counts as a passage.")]
pub(crate) struct Arguments {
    /// The folder with the collection.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Show the queries that found nothing relevant.
    #[arg(long, short)]
    verbose: bool,
}

/// A line of corpus.jsonl or queries.jsonl.
#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id")]
    id: Value,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

impl Record {
    fn id(&self) -> String {
        self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

/// The mean of each measure over all queries.
#[derive(Default)]
struct Means {
    first: f64,
    recall: f64,
    gain: f64,
    reciprocal: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let data = &arguments.data;
    let relevant = relevant(data)?;
    let queries: Vec<Record> = records(&data.join("queries.jsonl"))?.collect::<Result<_>>()?;
    let folder = tempfile::tempdir()?;
    let began = Instant::now();
    let writer = index(folder.path(), &data.join("corpus.jsonl"))?;
    let built = began.elapsed();
    let (mut means, mut asked, mut slowest) = (Means::default(), 0_usize, Duration::ZERO);
    let began = Instant::now();
    for query in &queries {
        let Some(relevant) = relevant.get(&query.id()).filter(|relevant| !relevant.is_empty()) else {
            continue;
        };
        let text = query.text.clone().unwrap_or_default();
        let began = Instant::now();
        let found =
            writer.index().search(&Query { text: text.clone(), limit: DEPTH_OF_FIRST, ..Query::default() });
        slowest = slowest.max(began.elapsed());
        let ranked: Vec<&str> = found.hits.iter().map(|hit| &*hit.key).collect();
        let is_found = means.add(&ranked, relevant);
        if arguments.verbose && !is_found {
            println!("nothing relevant among the first {DEPTH}: {text}");
        }
        asked += 1;
    }
    let answered = began.elapsed();
    ensure!(asked > 0, "no query of {} has a document that is relevant to it", data.display());
    let mean = |sum: f64| sum / asked as f64;
    let rows = [
        ("hit@1", mean(means.first)),
        ("recall@10", mean(means.recall)),
        ("ndcg@10", mean(means.gain)),
        ("mrr", mean(means.reciprocal)),
    ];
    if arguments.json {
        let mut object = json!({ "documents": writer.index().len(), "queries": asked });
        for (name, value) in rows {
            object[name] = json!((value * 10_000.0).round() / 10_000.0);
        }
        println!("{object}");
        return Ok(());
    }
    let mut table = Table::new(1, ["measure", "mean"]);
    rows.iter().for_each(|(name, value)| table.row(vec![(*name).to_owned(), format!("{value:.3}")]));
    print!("{table}");
    println!(
        "{} documents indexed in {:.1} s, {asked} queries answered in {:.2} s, the slowest in {:.1} ms",
        writer.index().len(),
        built.as_secs_f64(),
        answered.as_secs_f64(),
        slowest.as_secs_f64() * 1_000.0
    );
    Ok(())
}

impl Means {
    /// Adds one query; says whether anything relevant was found.
    fn add(&mut self, ranked: &[&str], relevant: &HashMap<String, f64>) -> bool {
        let gain_of = |id: &&str| relevant.get(*id).copied().unwrap_or(0.0);
        let discounted = |gains: &[f64]| -> f64 {
            gains.iter().zip(2_u32..).map(|(gain, place)| gain / f64::from(place).log2()).sum()
        };
        let gains: Vec<f64> = ranked.iter().take(DEPTH).map(gain_of).collect();
        let mut ideal: Vec<f64> = relevant.values().copied().collect();
        ideal.sort_by(|one, other| other.total_cmp(one));
        ideal.truncate(DEPTH);
        let found = gains.iter().filter(|gain| **gain > 0.0).count();
        self.first += f64::from(u8::from(gains.first().is_some_and(|gain| *gain > 0.0)));
        self.recall += found as f64 / relevant.len() as f64;
        self.gain += discounted(&gains) / discounted(&ideal);
        let first = ranked.iter().position(|id| gain_of(id) > 0.0);
        self.reciprocal += first.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        found > 0
    }
}

/// Makes an index of the collection.
fn index(folder: &Path, corpus: &Path) -> Result<Writer> {
    let mut writer = Writer::open(&folder.join("search"), Duration::ZERO)?;
    let mut failed = None;
    let documents = records(corpus)?.map_while(|record| match record {
        Ok(record) => Some(Change::Put(Document {
            key: record.id(),
            title: record.title.unwrap_or_default(),
            body: record.text.unwrap_or_default(),
            ..Document::default()
        })),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    writer.apply(documents, "collection")?;
    if let Some(error) = failed {
        return Err(error);
    }
    while !writer.tidy(Duration::from_secs(60))? {}
    Ok(writer)
}

/// Reads the judgements: the documents that are relevant to each query, with how relevant they are.
fn relevant(data: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let places = ["qrels.tsv", "qrels/test.tsv"].map(|name| data.join(name));
    let Some(path) = places.iter().find(|path| path.is_file()) else {
        bail!("{} has neither qrels.tsv nor qrels/test.tsv", data.display());
    };
    let text = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [query, document, score] = cells[..] else {
            ensure!(line.trim().is_empty(), "{}:{}: not three columns", path.display(), number + 1);
            continue;
        };
        match score.parse::<f64>() {
            Ok(score) if score > 0.0 => {
                relevant.entry(query.to_owned()).or_default().insert(document.to_owned(), score);
            }
            Ok(_) => {}
            // The first line may name the columns.
            Err(_) => ensure!(number == 0, "{}:{}: {score:?} is no number", path.display(), number + 1),
        }
    }
    Ok(relevant)
}

fn records(path: &Path) -> Result<impl Iterator<Item = Result<Record>> + '_> {
    let file = File::open(path).with_context(|| format!("could not read {}", path.display()))?;
    let lines = BufReader::new(file).lines().enumerate();
    let lines = lines.filter(|(_, line)| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
    Ok(lines.map(move |(number, line)| {
        serde_json::from_str(&line?)
            .with_context(|| format!("{}:{}: not a record", path.display(), number + 1))
    }))
}
