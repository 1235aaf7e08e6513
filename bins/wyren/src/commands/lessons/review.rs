//! `wyren lessons review`, `promote`, `merge`, `purge` and `onboard`: what is decided about candidates.

use super::{layer, shown};
use crate::database::{self, Look};
use crate::editor;
use crate::key::{self, Key};
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, SUCCESS, Styled, WARNING, counted};
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::project::Project;
use base::{Timestamp, files};
use clap::Args;
use lessons::format;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Item, Places};
use lessons_admin::change::Change;
use lessons_admin::json;
use lessons_admin::review::{self, Candidate};
use place::Folder;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use store::sightings::{self, Sighting};
use text::sanitize;

const EXAMPLES: &str = "\
Examples:
  wyren lessons review           look at one candidate after the other
  wyren lessons review --undo    take the last decision back
  wyren lessons review --json    list them with their evidence, for a script";

/// How many facts are shown at once.
const MAX_FACTS: usize = 5;
/// How much of a line is shown, and how many lines of a text.
const TEXT_CHARS: usize = 600;
const TEXT_LINES: usize = 12;
/// What the questions offer.
const KEYS: &str = "[p]romote, [e]dit, [m]erge, [a]rchive, [s]kip, [u]ndo, [q]uit";
const GROUP_KEYS: &str = "[p]romote all that can be, [a]rchive all, [o]ne by one, [s]kip, [u]ndo, [q]uit";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Review {
    /// Take the last decision back, and ask nothing.
    #[arg(long, conflicts_with = "json")]
    undo: bool,
    /// Print the candidates as JSON, and ask nothing.
    #[arg(long)]
    json: bool,
}

impl Review {
    /// Says whether it only looks.
    pub(super) fn is_a_look(&self) -> bool {
        self.json
    }
}

#[derive(Args)]
pub(crate) struct Promote {
    /// The candidates, as `wyren lessons review --json` lists them.
    #[arg(required = true)]
    slugs: Vec<String>,
    /// Which one, when layers share the name.
    #[arg(long, value_parser = layer)]
    layer: Option<Layer>,
    /// Also where another lesson says nearly the same.
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub(crate) struct Merge {
    /// The candidate.
    slug: String,
    /// The lesson in use that gets its patterns, examples and tags.
    into: String,
}

#[derive(Args)]
pub(crate) struct Purge {
    /// Archive the candidates below this confidence, from 0 to 1.
    #[arg(long, value_name = "NUMBER", value_parser = share)]
    below_confidence: u8,
    /// Show what would be archived, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Onboard {
    /// Promote the candidates from this confidence on, and ask nothing about them.
    #[arg(long, value_name = "NUMBER", value_parser = share)]
    promote_from: Option<u8>,
    /// Archive the candidates below this confidence, and ask nothing about them.
    #[arg(long, value_name = "NUMBER", value_parser = share)]
    archive_below: Option<u8>,
    /// List the groups, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Reads a number from 0 to 1 as percent.
fn share(text: &str) -> Result<u8, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if !(0.0..=1.0).contains(&number) {
        return Err("expected a number from 0 to 1".to_owned());
    }
    Ok((number * 100.0).round() as u8)
}

pub(super) fn review(arguments: &Review, places: &Places) -> Result<()> {
    if arguments.undo {
        return undo(places);
    }
    let candidates = candidates(places);
    if arguments.json {
        let list: Vec<Value> = candidates.iter().map(as_json).collect();
        writeln!(terminal::output(), "{:#}", json!({ "candidates": list, "facts": facts(places) }))?;
        return Ok(());
    }
    show_facts(&mut terminal::output(), &facts(places))?;
    if candidates.is_empty() {
        writeln!(terminal::errors(), "No candidates.")?;
        return Ok(());
    }
    let names: Vec<String> = candidates.iter().map(|candidate| candidate.item.lesson.slug.clone()).collect();
    one_by_one(places, &names).map(drop)
}

/// Returns the candidates, each with where its mistake was seen.
fn candidates(places: &Places) -> Vec<Candidate> {
    let mut candidates = review::candidates(places, &Catalogue::read(places));
    if candidates.is_empty() {
        return candidates;
    }
    // Without a database they are shown without it.
    let Ok(store) = database::open_drained(&places.env, &places.paths, Look::Quick) else {
        return candidates;
    };
    for candidate in &mut candidates {
        let seen = sightings::of(store.connection(), &candidate.item.lesson.slug).unwrap_or_default();
        candidate.evidence.extend(seen_as_evidence(&seen));
    }
    candidates
}

/// Returns what models reported about this project that its team memory does not have; nothing where there is no team memory.
fn facts(places: &Places) -> Vec<String> {
    let Some(folder) = Folder::find(&places.cwd) else { return Vec::new() };
    let memory = files::read_text_capped(&folder.memory(), files::cap::LARGEST).unwrap_or_default();
    let Ok(store) = database::open_drained(&places.env, &places.paths, Look::Quick) else {
        return Vec::new();
    };
    let facts = sightings::facts(store.connection(), &Project::of(&places.cwd).key).unwrap_or_default();
    let is_new = |text: &String| !memory.contains(text.as_str());
    facts.into_iter().map(|fact| fact.failing).filter(is_new).take(MAX_FACTS).collect()
}

fn show_facts(output: &mut impl Write, facts: &[String]) -> Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(output, "{STRONG}For the team memory of this project{STRONG:#}, as models reported it:")?;
    for fact in facts {
        let quoted = shlex::try_quote(fact).unwrap_or_default();
        writeln!(output, "  wyren memory add {}", sanitize::one_line(&quoted, TEXT_CHARS))?;
    }
    Ok(output.flush()?)
}

/// Returns the day of a moment in milliseconds since 1970, in UTC.
fn day(at: u64) -> String {
    Timestamp::from_millis(at).to_string().chars().take(10).collect()
}

/// Returns the last sighting, and how often and where there was one.
fn seen_as_evidence(seen: &[Sighting]) -> Vec<(String, String)> {
    let Some(last) = seen.first() else { return Vec::new() };
    let projects: BTreeSet<&str> = seen.iter().map(|sighting| sighting.project.as_str()).collect();
    let how = match last.tier.as_str() {
        "reported" => "reported by the model",
        "corrected" => "corrected by the user",
        _ => "failed, then worked in another form",
    };
    let often = format!(
        "{} in {}, last on {}",
        counted(seen.len() as u64, "session", "sessions"),
        counted(projects.len() as u64, "project", "projects"),
        day(last.at)
    );
    [
        ("failed", last.failing.clone()),
        ("fixed", last.fix.clone()),
        ("found", how.to_owned()),
        ("seen", often),
        ("where", projects.into_iter().collect::<Vec<_>>().join(", ")),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

fn as_json(candidate: &Candidate) -> Value {
    let mut facts = json::item(&candidate.item);
    let evidence: Vec<Value> =
        candidate.evidence.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let problems: Vec<String> = candidate.problems.iter().map(ToString::to_string).collect();
    facts["evidence"] = evidence.into();
    facts["problems"] = problems.into();
    facts["like"] =
        candidate.like.as_ref().map(|(slug, percent)| json!({"slug": slug, "percent": percent})).into();
    facts["skipped"] = candidate.is_skipped.into();
    facts
}

/// What is done after a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Forward,
    Again,
    Back,
    End,
}

/// Asks about each candidate; says whether the person wants to go on.
fn one_by_one(places: &Places, names: &[String]) -> Result<bool> {
    let mut place = 0;
    while let Some(name) = names.get(place) {
        let candidates = candidates(places);
        let Some(candidate) = candidates.iter().find(|candidate| candidate.item.lesson.slug == *name) else {
            place += 1;
            continue;
        };
        show(&mut terminal::output(), candidate, place + 1, names.len())?;
        let next = match decide(places, candidate) {
            Ok(next) => next,
            Err(error) => {
                writeln!(
                    terminal::errors(),
                    "{WARNING}{}{WARNING:#}",
                    sanitize::sanitize(&format!("{error:#}"))
                )?;
                Next::Again
            }
        };
        match next {
            Next::Forward => place += 1,
            Next::Again => {}
            Next::Back => place = 0,
            Next::End => return Ok(false),
        }
    }
    Ok(true)
}

fn decide(places: &Places, candidate: &Candidate) -> Result<Next> {
    let (slug, layer) = (&candidate.item.lesson.slug, Some(candidate.item.layer));
    let Some(answer) = ask_for_key(KEYS)? else { return Ok(Next::End) };
    let mut output = terminal::output();
    match answer.as_str() {
        "p" => {
            Change::begin(places)?.promote(slug, layer, false)?;
            writeln!(output, "{SUCCESS}Promoted{SUCCESS:#} {}.", shown(slug))?;
        }
        "e" => {
            edit(places, &candidate.item)?;
            return Ok(Next::Again);
        }
        "m" => {
            let like = candidate.like.as_ref().map(|(slug, _)| slug.as_str());
            let question = like.map_or("Into".to_owned(), |like| format!("Into [{}]", shown(like)));
            let Some(into) = ask(&question)? else { return Ok(Next::End) };
            let into = if into.is_empty() { like.unwrap_or_default().to_owned() } else { into };
            let other = Change::begin(places)?.merge(slug, layer, &into)?;
            writeln!(output, "{SUCCESS}Merged{SUCCESS:#} into {}.", shown(&other.lesson.slug))?;
        }
        "a" => {
            let Some(reason) = ask("Reason")? else { return Ok(Next::End) };
            Change::begin(places)?.dismiss(
                slug,
                layer,
                Some(&reason).filter(|reason| !reason.is_empty()).map(String::as_str),
            )?;
            writeln!(output, "Archived {}.", shown(slug))?;
        }
        "s" | "" => Change::begin(places)?.skip(slug, layer)?,
        "u" => {
            undo(places)?;
            return Ok(Next::Back);
        }
        "q" => return Ok(Next::End),
        _ => {
            writeln!(terminal::errors(), "{KEYS}")?;
            return Ok(Next::Again);
        }
    }
    Ok(Next::Forward)
}

/// Asks for one key; on a terminal without Enter. `None` at the end of the input.
fn ask_for_key(question: &str) -> Result<Option<String>> {
    let mut errors = terminal::errors();
    write!(errors, "{DIM}{question}{DIM:#}> ")?;
    errors.flush()?;
    let answer = match key::wait()? {
        None => return read_line(),
        Some(Key::Letter(letter)) => Some(letter.to_string()),
        Some(Key::Enter) => Some(String::new()),
        Some(Key::Other) => Some("?".to_owned()),
        Some(Key::End) => None,
    };
    writeln!(errors, "{}", answer.as_deref().unwrap_or("q"))?;
    Ok(answer)
}

/// Asks on standard error; `None` at the end of the input.
fn ask(question: &str) -> Result<Option<String>> {
    write!(terminal::errors(), "{DIM}{question}{DIM:#}> ")?;
    io::stderr().flush()?;
    read_line()
}

fn read_line() -> Result<Option<String>> {
    let mut line = String::new();
    let is_end = io::stdin().read_line(&mut line)? == 0;
    Ok((!is_end).then(|| line.trim().to_owned()))
}

fn undo(places: &Places) -> Result<()> {
    match Change::begin(places)?.undo()? {
        Some(decision) => {
            writeln!(terminal::output(), "Took back: {} {}.", decision.did, shown(&decision.slug))?;
        }
        None => writeln!(terminal::errors(), "Nothing to take back.")?,
    }
    Ok(())
}

fn edit(places: &Places, item: &Item) -> Result<()> {
    let Some(editor) = editor::of(&places.env) else { bail!("no editor: set $EDITOR") };
    let draft = places.paths.cache().join("drafts").join(format!("{}.md", item.lesson.slug));
    files::write_atomic(&draft, format::render(&item.lesson).as_bytes())
        .with_context(|| format!("could not write {}", draft.display()))?;
    editor::open(&editor, &draft)?;
    let text = files::read_text_followed(&draft, files::cap::LESSON)
        .with_context(|| format!("could not read {}", draft.display()))?;
    let lesson = format::parse(&item.lesson.slug, &text)
        .with_context(|| format!("the candidate is as it was; your draft is {}", draft.display()))?;
    Change::begin(places)?.reword(item, lesson)?;
    let _ = fs::remove_file(&draft);
    Ok(())
}

fn show(output: &mut impl Write, candidate: &Candidate, number: usize, count: usize) -> Result<()> {
    let lesson = &candidate.item.lesson;
    let text = |text: &str| sanitize::one_line(text, TEXT_CHARS);
    writeln!(
        output,
        "\n{DIM}{number} of {count}{DIM:#}  {STRONG}{}{STRONG:#}  {}, confidence {} %{}",
        shown(&lesson.slug),
        lesson.kind,
        lesson.confidence,
        if candidate.is_skipped { ", skipped before" } else { "" }
    )?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: &str, value: &str, style: Style| {
        rows.push(vec![(format!("  {name}"), DIM), (text(value), style)]);
    };
    row("what goes wrong", &lesson.summary, STRONG);
    // A call stays on a line of its own: run together with the sentences around it, it cannot be read.
    for (name, words) in [("problem", &lesson.problem), ("solution", &lesson.solution)] {
        let lines = words.lines().filter(|line| !line.trim().is_empty()).take(TEXT_LINES);
        for (place, line) in lines.enumerate() {
            let is_call = line.starts_with("    ");
            let style = if is_call { STRONG } else { Style::new() };
            row(if place == 0 { name } else { "" }, line, style);
        }
    }
    let trigger = &lesson.trigger;
    if !trigger.tools.is_empty() {
        let fields = trigger.inputs.iter().map(|(field, expression)| match expression.as_str() {
            "^$" => format!("without {field}"),
            "." => format!("with {field}"),
            expression => {
                format!("with {field} = {}", expression.trim_start_matches('^').trim_end_matches('$'))
            }
        });
        let call = std::iter::once(trigger.tools.join(", ")).chain(fields).collect::<Vec<_>>().join(" ");
        row("applies to", &call, Style::new());
    }
    let patterns = [&trigger.commands, &trigger.matches, &trigger.raw, &trigger.paths, &trigger.content];
    patterns.into_iter().flatten().for_each(|pattern| row("applies to", pattern, Style::new()));
    for (name, items) in [("only with", &trigger.with), ("but not with", &trigger.without)] {
        if !items.is_empty() {
            row(name, &items.join(", "), Style::new());
        }
    }
    row("holds in", lesson.scope.as_deref().unwrap_or("every project"), Style::new());
    lesson.fires.iter().for_each(|example| row("fires on", example, Style::new()));
    lesson.quiet.iter().for_each(|example| row("quiet on", example, Style::new()));
    candidate.evidence.iter().for_each(|(name, value)| row(&shown(name), value, SUCCESS));
    candidate.problems.iter().for_each(|problem| row("not yet", &problem.to_string(), FAILURE));
    if let Some((slug, percent)) = &candidate.like {
        row("like", &format!("{slug}, {percent} %"), WARNING);
    }
    terminal::write_table(output, &rows)?;
    Ok(output.flush()?)
}

pub(super) fn promote(arguments: &Promote, places: &Places) -> Result<()> {
    let mut change = Change::begin(places)?;
    let mut output = terminal::output();
    for slug in &arguments.slugs {
        let item = change.promote(slug, arguments.layer, arguments.force)?;
        let slug = shown(&item.lesson.slug);
        writeln!(
            output,
            "{}",
            Styled(format!("Promoted {STRONG}{slug}{STRONG:#}: it counts from the next call on."))
        )?;
    }
    Ok(())
}

pub(super) fn merge(arguments: &Merge, places: &Places) -> Result<()> {
    let other = Change::begin(places)?.merge(&arguments.slug, None, &arguments.into)?;
    writeln!(terminal::output(), "Merged into {STRONG}{}{STRONG:#}.", shown(&other.lesson.slug))?;
    Ok(())
}

pub(super) fn purge(arguments: &Purge, places: &Places) -> Result<()> {
    let candidates = candidates(places);
    let is_low = |candidate: &&Candidate| candidate.item.lesson.confidence < arguments.below_confidence;
    let low: Vec<&Item> = candidates.iter().filter(is_low).map(|candidate| &candidate.item).collect();
    if !arguments.dry_run {
        let mut change = Change::begin(places)?;
        let reason = format!("confidence below {}", f64::from(arguments.below_confidence) / 100.0);
        for item in &low {
            change.dismiss(&item.lesson.slug, Some(item.layer), Some(&reason))?;
        }
    }
    let mut output = terminal::output();
    let names: Vec<&str> = low.iter().map(|item| item.lesson.slug.as_str()).collect();
    if arguments.json {
        writeln!(output, "{:#}", json!({"archived": names, "dry_run": arguments.dry_run}))?;
        return Ok(());
    }
    let verb = if arguments.dry_run { "Would archive" } else { "Archived" };
    writeln!(output, "{verb} {}.", counted(names.len() as u64, "candidate", "candidates"))?;
    for name in names {
        writeln!(output, "  {}", shown(name))?;
    }
    Ok(())
}

pub(super) fn onboard(arguments: &Onboard, places: &Places) -> Result<()> {
    let groups = groups(&candidates(places));
    if groups.is_empty() {
        writeln!(terminal::errors(), "No candidates.")?;
        return Ok(());
    }
    let mut output = terminal::output();
    if arguments.dry_run {
        for (name, group) in &groups {
            writeln!(output, "{STRONG}{}{STRONG:#}", shown(name))?;
            list(&mut output, group)?;
        }
        return Ok(());
    }
    for (name, group) in groups {
        let (mut rest, mut promoted, mut archived) = (Vec::new(), Vec::new(), Vec::new());
        for candidate in group {
            let confidence = candidate.item.lesson.confidence;
            let is_fit = candidate.problems.is_empty() && candidate.like.is_none();
            if arguments.archive_below.is_some_and(|least| confidence < least) {
                archived.push(candidate);
            } else if is_fit && arguments.promote_from.is_some_and(|least| confidence >= least) {
                promoted.push(candidate);
            } else {
                rest.push(candidate);
            }
        }
        promote_all(places, &promoted)?;
        archive_all(places, &archived, "onboarding: low confidence")?;
        if !rest.is_empty() && !ask_about(places, &name, &rest)? {
            break;
        }
    }
    Ok(())
}

/// Returns the candidates by their first tag, else by the program that they are about.
fn groups(candidates: &[Candidate]) -> BTreeMap<String, Vec<Candidate>> {
    let mut groups: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        let lesson = &candidate.item.lesson;
        let program =
            || Some(format!("tool:{}", lesson.trigger.commands.first()?.split_whitespace().next()?));
        let name = lesson.tags.first().cloned().or_else(program).unwrap_or_else(|| "other".to_owned());
        groups.entry(name).or_default().push(candidate.clone());
    }
    groups
}

/// Asks about a group; says whether the person wants to go on.
fn ask_about(places: &Places, name: &str, group: &[Candidate]) -> Result<bool> {
    let mut done = BTreeSet::new();
    loop {
        let mut output = terminal::output();
        writeln!(output, "\n{STRONG}{}{STRONG:#}", shown(name))?;
        list(&mut output, group)?;
        output.flush()?;
        drop(output);
        let Some(answer) = ask_for_key(GROUP_KEYS)? else { return Ok(false) };
        match answer.as_str() {
            "p" => {
                let fit = |candidate: &&Candidate| candidate.problems.is_empty() && candidate.like.is_none();
                let fit: Vec<Candidate> = group.iter().filter(fit).cloned().collect();
                done.extend(promote_all(places, &fit)?);
                let left: Vec<String> = group.iter().map(|it| it.item.lesson.slug.clone()).collect();
                let left: Vec<String> = left.into_iter().filter(|slug| !done.contains(slug)).collect();
                return one_by_one(places, &left);
            }
            "a" => {
                archive_all(places, group, "onboarding")?;
                return Ok(true);
            }
            "o" => {
                let names: Vec<String> = group.iter().map(|it| it.item.lesson.slug.clone()).collect();
                return one_by_one(places, &names);
            }
            "s" | "" => return Ok(true),
            "u" => undo(places)?,
            "q" => return Ok(false),
            _ => writeln!(terminal::errors(), "{GROUP_KEYS}")?,
        }
    }
}

fn list(output: &mut impl Write, group: &[Candidate]) -> Result<()> {
    let row = |candidate: &Candidate| -> Vec<Cell> {
        let lesson = &candidate.item.lesson;
        let state = match (&candidate.problems[..], &candidate.like) {
            ([], None) => String::new(),
            ([], Some((slug, percent))) => format!("like {slug}, {percent} %"),
            (problems, _) => counted(problems.len() as u64, "problem", "problems"),
        };
        vec![
            (format!("  {}", shown(&lesson.slug)), Style::new()),
            (format!("{} %", lesson.confidence), DIM),
            (shown(&lesson.summary), Style::new()),
            (shown(&state), WARNING),
        ]
    };
    terminal::write_table(output, &group.iter().map(row).collect::<Vec<_>>())?;
    Ok(())
}

/// Promotes each; returns the names.
fn promote_all(places: &Places, group: &[Candidate]) -> Result<Vec<String>> {
    let mut promoted = Vec::new();
    if group.is_empty() {
        return Ok(promoted);
    }
    let mut change = Change::begin(places)?;
    for candidate in group {
        let slug = &candidate.item.lesson.slug;
        // Two of a group may say the same: the second is asked about.
        match change.promote(slug, Some(candidate.item.layer), false) {
            Ok(_) => promoted.push(slug.clone()),
            Err(error) => writeln!(
                terminal::errors(),
                "{WARNING}{}{WARNING:#}: {}",
                shown(slug),
                shown(&error.to_string())
            )?,
        }
    }
    writeln!(terminal::output(), "Promoted {}.", counted(promoted.len() as u64, "candidate", "candidates"))?;
    Ok(promoted)
}

fn archive_all(places: &Places, group: &[Candidate], reason: &str) -> Result<()> {
    if group.is_empty() {
        return Ok(());
    }
    let mut change = Change::begin(places)?;
    for candidate in group {
        change.dismiss(&candidate.item.lesson.slug, Some(candidate.item.layer), Some(reason))?;
    }
    writeln!(terminal::output(), "Archived {}.", counted(group.len() as u64, "candidate", "candidates"))?;
    Ok(())
}
