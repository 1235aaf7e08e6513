//! Recall, precision and contradictions of the distiller on the annotated transcripts.

use crate::bench::Table;
use crate::workspace;
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths};
use config::Config;
use distiller::budget::ANSWER_TOKENS;
use distiller::evaluation::{self, Case, Figures, Gate, MIN_PRECISION, MIN_RECALL, Outcome};
use distiller::{parse_value, question};
use model::{Asker, Options, Request, Schema};
use serde_json::json;

#[derive(clap::Args)]
#[command(after_help = "\
Without a flag nothing is asked: extraction by rules, which has to reach the bars of crates/cold/distiller/src/evaluation.rs.
`--scripted` is a model that knows the annotations: whatever it loses is lost by the code that applies its answer.
`--model` asks the model of the settings, one question per transcript, within the daily budget.")]
pub(crate) struct Arguments {
    /// Ask the configured model.
    #[arg(long, conflicts_with = "scripted")]
    model: bool,
    /// Take the answers of a perfect model from the annotations.
    #[arg(long)]
    scripted: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Show what was missed and what is wrong.
    #[arg(long, short)]
    verbose: bool,
    /// Only the cases whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Evaluates, prints and fails below the bars.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = workspace::root().join("tests/data/distiller");
    let mut cases =
        evaluation::cases(&folder).with_context(|| format!("could not read {}", folder.display()))?;
    if let Some(only) = &arguments.only {
        cases.retain(|case| case.name.contains(only));
    }
    let mut asker = arguments.model.then(asker);
    let mut results = Vec::new();
    for case in cases {
        let outcome = match &mut asker {
            Some(asker) => ask(asker, &case)?,
            None if arguments.scripted => case.scripted()?,
            None => case.extracted()?,
        };
        results.push((case, outcome));
    }
    let figures = |wanted: fn(&Case) -> bool| {
        Figures::of(results.iter().filter(|(case, _)| wanted(case)).map(|(_, outcome)| outcome))
    };
    let all = figures(|_| true);
    let groups = [
        ("tuned", figures(|case| !case.annotation.held_out)),
        ("held out", figures(|case| case.annotation.held_out)),
        ("all", all),
    ];
    let mut gate = Gate::default();
    for (case, _) in &results {
        gate = gate.and(case.gate()?);
    }
    if arguments.json {
        print_json(&results, &groups, gate)?;
    } else {
        print_table(&results, &groups, arguments.verbose);
        println!(
            "slices of five turns that pass the score: {} of {} with facts, {} of {} without",
            gate.telling_passed, gate.telling, gate.plain_passed, gate.plain
        );
    }
    let (recall, precision) = if arguments.scripted { (1.0, 1.0) } else { (MIN_RECALL, MIN_PRECISION) };
    // A model's figures are for people to judge: they differ from run to run.
    if !arguments.model && (all.recall < recall || all.precision < precision) {
        bail!(
            "recall {:.2} and precision {:.2} are below {recall:.2} and {precision:.2}",
            all.recall,
            all.precision
        );
    }
    Ok(())
}

fn asker() -> Asker {
    let env = Env::process();
    let paths = Paths::of(&env);
    let options = Options::of(&Config::load(&env, &paths));
    // As the worker's job asks: what it would not get at once does not count here either.
    Asker::new(&env, &paths, options).once()
}

fn ask(asker: &mut Asker, case: &Case) -> Result<Outcome> {
    let slice = case.slice()?;
    let question = question(&case.memory(), &slice);
    let request = Request {
        job: "eval distiller".to_owned(),
        project: String::new(),
        system: question.system,
        prompt: question.prompt,
        schema: Schema::new(question.schema)?,
        model: None,
        max_output: ANSWER_TOKENS,
    };
    let operations = match asker.ask(request) {
        model::Outcome::Answered(answer) => parse_value(answer)?,
        model::Outcome::Unavailable { reason } => bail!("could not ask about {}: {reason}", case.name),
    };
    Ok(case.judge(&slice, &operations))
}

fn print_json(results: &[(Case, Outcome)], groups: &[(&str, Figures)], gate: Gate) -> Result<()> {
    let cases: serde_json::Map<_, _> = results
        .iter()
        .map(|(case, outcome)| {
            let figures = Figures::of([outcome]);
            (
                case.name.clone(),
                json!({"held_out": case.annotation.held_out, "figures": figures, "outcome": outcome}),
            )
        })
        .collect();
    let groups: serde_json::Map<_, _> =
        groups.iter().map(|(name, figures)| ((*name).to_owned(), json!(figures))).collect();
    println!("{}", serde_json::to_string_pretty(&json!({"cases": cases, "figures": groups, "gate": gate}))?);
    Ok(())
}

fn print_table(results: &[(Case, Outcome)], groups: &[(&str, Figures)], is_verbose: bool) {
    let mut table =
        Table::new(2, ["transcript", "", "facts", "recall", "entries", "precision", "contradictions"]);
    let mut row = |name: &str, held_out: bool, figures: &Figures| {
        table.row(vec![
            name.to_owned(),
            if held_out { "held out" } else { "" }.to_owned(),
            figures.facts.to_string(),
            format!("{:.2}", figures.recall),
            figures.entries.to_string(),
            format!("{:.2}", figures.precision),
            figures.contradictions.to_string(),
        ]);
    };
    for (case, outcome) in results {
        row(&case.name, case.annotation.held_out, &Figures::of([outcome]));
    }
    for (name, figures) in groups {
        row(&format!("= {name}"), false, figures);
    }
    print!("{table}");
    if is_verbose {
        for (case, outcome) in results {
            outcome.missed.iter().for_each(|text| println!("{}: missed {text}", case.name));
            outcome.wrong.iter().for_each(|text| println!("{}: wrong {text}", case.name));
        }
    }
}
