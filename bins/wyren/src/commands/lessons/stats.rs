//! `wyren lessons stats`: whether lessons help, and how that is known.

use super::shown;
use crate::database::{self, Look};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, SUCCESS, WARNING, counted};
use crate::when;
use anstyle::Style;
use anyhow::{Result, bail};
use base::Timestamp;
use clap::Args;
use effect::judge::{Evidence, Judged};
use effect::recorded::How;
use effect::{Effect, Verdict};
use lessons_admin::catalogue::Places;
use serde_json::{Value, json};
use std::io::Write;
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren lessons stats                        every lesson that was shown, and what followed
  wyren lessons stats rm-of-the-git-folder   each time one was shown, with the calls that decided
  wyren lessons stats --json                 the same, for a script";

/// How many showings of one lesson are listed.
const LISTED: usize = 20;
/// How much of a call is shown.
const CALL_CHARS: usize = 120;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only this lesson, with the evidence of each verdict.
    slug: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let store = database::open_drained(&places.env, &places.paths, Look::Quick)?;
    let now = Timestamp::now();
    let mut effects = effect::refresh(&store, &places.env, &places.paths, now)?;
    effects.sort_by(|one, other| (other.tally.shown, &one.name).cmp(&(one.tally.shown, &other.name)));
    if let Some(slug) = &arguments.slug {
        effects.retain(|effect| effect.name == *slug || effect.name == format!("project:{slug}"));
        if effects.is_empty() {
            lessons_admin::catalogue::Catalogue::read(places).find(slug, None)?;
            bail!("{} was never shown", shown(slug));
        }
    }
    let mut output = terminal::output();
    if arguments.json {
        let lessons: Vec<Value> =
            effects.iter().map(|effect| as_json(effect, arguments.slug.is_some())).collect();
        writeln!(output, "{:#}", json!({ "lessons": lessons }))?;
    } else if arguments.slug.is_some() {
        effects.iter().try_for_each(|effect| show_one(&mut output, effect, now))?;
    } else {
        show_all(&mut output, &effects)?;
    }
    Ok(output.flush()?)
}

fn as_json(effect: &Effect, with_evidence: bool) -> Value {
    let tally = &effect.tally;
    let mut facts = json!({
        "lesson": effect.name,
        "layer": effect.layer.map(lessons::layers::Layer::name),
        "kind": effect.kind.map(lessons::Kind::name),
        "shown": tally.shown,
        "heeded": tally.heeded,
        "overruled": tally.overruled,
        "failed": tally.failed,
        "confidence": { "given": share(effect.given), "measured": share(effect.confidence()) },
        "proposed_for_archiving": effect.is_annoying(),
        "weeks": tally.weeks,
        "last": Timestamp::from_millis(tally.last_at).to_string(),
    });
    if effect.layer == Some(lessons::layers::Layer::Project) {
        let team = &effect.team;
        facts["team"] = json!({
            "shown": team.shown, "heeded": team.heeded, "overruled": team.overruled, "failed": team.failed,
        });
    }
    if with_evidence {
        facts["showings"] = effect.judged.iter().map(showing_json).collect();
    }
    facts
}

fn showing_json(judged: &Judged) -> Value {
    let call = |call: &Evidence| {
        json!({
            "ts": Timestamp::from_millis(call.at).to_string(),
            "tool": call.tool,
            "call": call.text,
            "result": call.fate.name(),
            "applies": call.applies,
        })
    };
    json!({
        "ts": Timestamp::from_millis(judged.at).to_string(),
        "session": judged.session,
        "as": how(judged.how),
        "verdict": judged.verdict.name(),
        "reason": judged.reason,
        "call": judged.call.as_ref().map(call),
        "following": judged.following.iter().map(call).collect::<Vec<_>>(),
    })
}

fn share(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

fn how(how: How) -> &'static str {
    match how {
        How::Hint => "hint",
        How::Pause => "pause",
        How::Guard => "guard",
    }
}

fn show_all(output: &mut impl Write, effects: &[Effect]) -> Result<()> {
    if effects.is_empty() {
        writeln!(terminal::errors(), "No lesson was shown yet.")?;
        return Ok(());
    }
    let titles = ["lesson", "shown", "heeded", "overruled", "failed anyway", "confidence", "last 12 weeks"];
    let mut rows: Vec<Vec<Cell>> = vec![titles.map(|title| (title.to_owned(), DIM)).into()];
    rows.extend(effects.iter().map(row));
    terminal::write_table(output, &rows)?;
    for effect in effects.iter().filter(|effect| effect.is_annoying()) {
        let (name, tally) = (shown(&effect.name), &effect.tally);
        let is_against = |judged: &&Judged| matches!(judged.verdict, Verdict::Overruled | Verdict::Failed);
        let against = effect.judged.iter().filter(is_against).count();
        let slug = name.strip_prefix("project:").unwrap_or(&name);
        writeln!(
            output,
            "{WARNING}{name}{WARNING:#} did not help {against} of {}. To archive it: wyren lessons archive {slug}",
            counted(tally.shown, "time", "times")
        )?;
    }
    Ok(())
}

fn row(effect: &Effect) -> Vec<Cell> {
    let tally = &effect.tally;
    let number = |count: u64, style: Style| match count {
        0 => ("–".to_owned(), DIM),
        count => (count.to_string(), style),
    };
    let style = if effect.is_annoying() { WARNING } else { STRONG };
    vec![
        (shown(&effect.name), if effect.layer.is_some() { style } else { DIM }),
        number(tally.shown, Style::new()),
        number(tally.heeded, SUCCESS),
        number(tally.overruled, WARNING),
        number(tally.failed, FAILURE),
        (confidence(effect), Style::new()),
        (tally.sparkline(), DIM),
    ]
}

fn confidence(effect: &Effect) -> String {
    match (effect.given, effect.confidence()) {
        _ if effect.layer.is_none() => "gone".to_owned(),
        (given, measured) if given == measured => format!("{given} %"),
        (given, measured) => format!("{given} → {measured} %"),
    }
}

fn show_one(output: &mut impl Write, effect: &Effect, now: Timestamp) -> Result<()> {
    let tally = &effect.tally;
    let layer = effect.layer.map_or("gone", |layer| layer.name());
    writeln!(output, "{STRONG}{}{STRONG:#} {DIM}({layer}){DIM:#}", shown(&effect.name))?;
    writeln!(
        output,
        "shown {}, heeded {}, overruled {}, failed anyway {}; confidence {}",
        tally.shown,
        tally.heeded,
        tally.overruled,
        tally.failed,
        confidence(effect)
    )?;
    let team = &effect.team;
    if team.shown > 0 {
        let (shown, heeded, overruled, failed) = (team.shown, team.heeded, team.overruled, team.failed);
        writeln!(
            output,
            "in teammates' clones: shown {shown}, heeded {heeded}, overruled {overruled}, failed anyway {failed}"
        )?;
    }
    let skipped = effect.judged.len().saturating_sub(LISTED);
    if skipped > 0 {
        writeln!(output, "{DIM}{skipped} earlier ones: --json lists all{DIM:#}")?;
    }
    for judged in &effect.judged[skipped..] {
        let style = match judged.verdict {
            Verdict::Heeded => SUCCESS,
            Verdict::Overruled => WARNING,
            Verdict::Failed | Verdict::Ignored => FAILURE,
            Verdict::Open => DIM,
        };
        let at = when::with_age(Timestamp::from_millis(judged.at), now);
        writeln!(
            output,
            "\n{at}  {} {style}{}{style:#}: {}",
            how(judged.how),
            judged.verdict.name(),
            judged.reason
        )?;
        let mut rows: Vec<Vec<Cell>> = judged.call.iter().map(|call| evidence("shown for", call)).collect();
        rows.extend(judged.following.iter().map(|call| evidence("then", call)));
        terminal::write_table(output, &rows)?;
    }
    Ok(())
}

fn evidence(label: &str, call: &Evidence) -> Vec<Cell> {
    let applies = if call.applies { "applies" } else { "does not apply" };
    vec![
        (format!("  {label}"), DIM),
        (format!("{}: {}", shown(&call.tool), sanitize::one_line(&call.text, CALL_CHARS)), Style::new()),
        (call.fate.name().to_owned(), DIM),
        (applies.to_owned(), DIM),
    ]
}
