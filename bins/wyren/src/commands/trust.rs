//! `wyren trust` and `wyren untrust`: what of a project may refuse calls, and what the model may follow.

use crate::person;
use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING};
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::trust::{Item, Lapse};
use base::{Env, Paths};
use clap::Args;
use lessons::Kind;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::trust::{self, Known, News, Review, Shown};
use place::Folder;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use text::sanitize;

/// How much of a name or path is shown, in characters.
const SHOWN_CHARS: usize = 200;

/// How much of a skill the terminal shows, in characters. Lessons and JSON are shown whole.
const SKILL_CHARS: usize = 4000;

const EXAMPLES: &str = "\
Examples:
  wyren trust                     show what is new or changed, and ask
  wyren trust --json              the same as JSON, without a question
  wyren trust ~/src/api --yes     trust it without a question
  wyren trust --show              list trusted projects
  wyren untrust                   stop trusting this project";

/// The longest review that a prompt shows whole: the client takes about as many characters.
const MAX_PROMPT_BYTES: usize = 9_000;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A folder in the project [default: the current folder].
    path: Option<PathBuf>,
    /// List trusted projects.
    #[arg(long, conflicts_with_all = ["path", "yes"])]
    show: bool,
    /// Trust without asking.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON; without --yes nothing is changed.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Untrust {
    /// A folder in the project [default: the current folder].
    path: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let is_in_prompt = person::is_in_prompt(env);
    if let Some(path) = arguments.path.as_ref().filter(|_| is_in_prompt) {
        // A prompt is about the project of its session.
        bail!("expected yes or no, not {}", shown(&path.to_string_lossy()));
    }
    let places = places(arguments.path.clone(), env, paths)?;
    if arguments.show {
        return show(&places, env, arguments.json);
    }
    if arguments.yes || !arguments.json {
        person::must_be_here(env)?;
    }
    let review = Review::of(&places, &Catalogue::read(&places));
    let root = shown(&review.root().to_string_lossy());
    if review.shown.is_empty() && review.former.is_none() && !arguments.json {
        bail!(
            "{root} has no guards, pauses, directives, protocols, team skills or git settings: nothing to trust"
        );
    }
    // Between two prompts the project may change: the second one accepts what the first one showed.
    let is_unseen = is_in_prompt && !review.was_shown(&places);
    let accepts = arguments.yes && !is_unseen;
    if arguments.json {
        if accepts {
            review.accept(&places)?;
        }
        let is_trusted = !review.shown.is_empty() && (accepts || review.is_current());
        writeln!(terminal::output(), "{:#}", as_json(&review, is_trusted))?;
        return Ok(());
    }
    if review.is_current() {
        writeln!(terminal::output(), "{STRONG}{root}{STRONG:#} is trusted; nothing has changed.")?;
        return Ok(());
    }
    // A prompt that accepts follows one that showed all of it.
    if !(is_in_prompt && accepts) {
        if is_in_prompt {
            let mut described = Vec::new();
            describe(&root, &review, &mut described)?;
            if described.len() > MAX_PROMPT_BYTES {
                bail!(
                    "nothing was changed: what {root} asks you to trust is too long to show in a session; run `wyren trust` \
                     in a terminal"
                );
            }
        }
        describe(&root, &review, &mut terminal::output())?;
    }
    if is_in_prompt {
        review.note_shown(&places)?;
    }
    let agreed = if arguments.yes { Some(true) } else { terminal::confirm("Trust this project?")? };
    match agreed {
        Some(true) if is_unseen => {
            bail!("nothing was changed: you had not seen this yet; to trust this project: /wyren:trust yes")
        }
        Some(true) => {}
        Some(false) => {
            writeln!(terminal::errors(), "Nothing was changed.")?;
            return Ok(());
        }
        None => bail!(
            "nothing was changed; to trust this project: {}",
            person::command_for(env, "trust yes", "trust --yes")
        ),
    }
    review.accept(&places)?;
    let stop = person::command_for(env, "trust no", "untrust");
    writeln!(terminal::output(), "{STRONG}{root}{STRONG:#} is trusted. To stop trusting it: {stop}")?;
    Ok(())
}

pub(crate) fn untrust(arguments: &Untrust, env: &Env, paths: &Paths) -> Result<()> {
    person::must_be_here(env)?;
    let places = places(arguments.path.clone(), env, paths)?;
    let root = shown(&trust::root(&places).to_string_lossy());
    let mut output = terminal::output();
    if trust::untrust(&places)? {
        writeln!(
            output,
            "{STRONG}{root}{STRONG:#} is no longer trusted. Its guards and pauses now act as hints. Claude no \
             longer sees its directives and protocols, and reads its skills as information, not as instructions."
        )?;
    } else {
        writeln!(output, "{STRONG}{root}{STRONG:#} was not trusted.")?;
    }
    Ok(())
}

fn places(path: Option<PathBuf>, env: &Env, paths: &Paths) -> Result<Places> {
    let cwd = match path {
        Some(path) => {
            base::system::canonical(&path).with_context(|| format!("could not find {}", path.display()))?
        }
        None => std::env::current_dir()?,
    };
    // All work trees of a repository that shares its memory on a branch of its own are one project.
    let root = Folder::find(&cwd).and_then(|folder| folder.wyren.parent().map(Path::to_owned));
    let cwd = root.unwrap_or(cwd);
    Ok(Places { paths: paths.clone(), cwd, env: env.clone() })
}

fn show(places: &Places, env: &Env, json: bool) -> Result<()> {
    let (trusted, lapsed): (Vec<Known>, Vec<Known>) =
        trust::list(places).into_iter().partition(|known| known.trust.lapse.is_none());
    let mut output = terminal::output();
    if json {
        let folders = |projects: &[Known]| -> Vec<PathBuf> {
            projects.iter().map(|known| known.trust.project.clone()).collect()
        };
        let differing = trusted.iter().filter(|known| known.differs()).map(|known| {
            let Known { trust, new, changed, gone } = known;
            json!({"project": trust.project, "new": new, "changed": changed, "gone": gone})
        });
        let differing: Vec<Value> = differing.collect();
        let listed =
            json!({"trusted": folders(&trusted), "differing": differing, "lapsed": folders(&lapsed)});
        writeln!(output, "{listed:#}")?;
        return Ok(());
    }
    if trusted.is_empty() {
        writeln!(terminal::errors(), "No trusted projects.")?;
    }
    let review = person::command_for(env, "trust", "trust");
    for known in &trusted {
        let folder = shown(&known.trust.project.to_string_lossy());
        if known.differs() {
            let difference = difference(known);
            writeln!(output, "{folder} {WARNING}({difference}: run `{review}` there){WARNING:#}")?;
        } else {
            writeln!(output, "{folder}")?;
        }
    }
    for known in &lapsed {
        let folder = shown(&known.trust.project.to_string_lossy());
        let reason = known.trust.lapse.map_or("", Lapse::name);
        if known.trust.project.is_dir() {
            writeln!(output, "{folder} {WARNING}lapsed ({reason}){WARNING:#}: run `{review}` there again")?;
        } else {
            writeln!(output, "{folder} {WARNING}lapsed{WARNING:#}: the folder is missing")?;
        }
    }
    Ok(())
}

/// Returns what differs from what is trusted: `1 changed, 2 gone`.
fn difference(known: &Known) -> String {
    let counts = [(known.new, "new"), (known.changed, "changed"), (known.gone, "gone")];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    parts.join(", ")
}

fn as_json(review: &Review, is_trusted: bool) -> Value {
    let named = |item: &Item| json!({"kind": item.kind, "name": item.name});
    let with = |news: News| review.shown.iter().filter(move |shown| shown.news == news);
    let whole = |shown: &Shown| {
        json!({
            "kind": shown.item.kind,
            "name": shown.item.name,
            "file": shown.file,
            "text": sanitize::spelled_out(&shown.text),
        })
    };
    let skills: Vec<&str> = review
        .shown
        .iter()
        .filter(|shown| shown.item.kind == "skill")
        .map(|shown| shown.item.name.strip_prefix("skills/").unwrap_or(&shown.item.name))
        .collect();
    let lapse = review.former.as_ref().and_then(|former| former.lapse).map(Lapse::name);
    json!({
        "project": review.root(),
        "trusted": is_trusted,
        "lapsed": lapse,
        "new": with(News::New).map(whole).collect::<Vec<_>>(),
        "changed": with(News::Changed).map(whole).collect::<Vec<_>>(),
        "unchanged": with(News::Same).map(|shown| named(&shown.item)).collect::<Vec<_>>(),
        "gone": review.gone.iter().map(named).collect::<Vec<_>>(),
        "refusing": trust::names(&review.shown, &[Kind::Guard, Kind::Pause]),
        "skills": skills,
    })
}

/// Shows what differs from what is trusted. The words are those of the repository's authors.
fn describe(root: &str, review: &Review, output: &mut impl Write) -> Result<()> {
    match review.former.as_ref().and_then(|former| former.lapse) {
        Some(Lapse::OtherVersion) => writeln!(
            output,
            "An earlier version of Wyren trusted {root} whatever it contains; that trust has lapsed."
        )?,
        Some(Lapse::OtherRepository) => {
            writeln!(output, "{root} is another repository than the one you trusted at this path.")?;
        }
        None => {}
    }
    let (same, news): (Vec<&Shown>, Vec<&Shown>) =
        review.shown.iter().partition(|shown| shown.news == News::Same);
    if news.is_empty() {
        writeln!(output, "{STRONG}{root}{STRONG:#}: nothing new to trust")?;
    } else {
        writeln!(output, "{STRONG}{root}{STRONG:#} asks you to trust:")?;
    }
    for item in news {
        write_whole(output, item)?;
    }
    let mut rows: Vec<Vec<Cell>> = review
        .gone
        .iter()
        .map(|item| {
            vec![("  gone".to_owned(), DIM), (shown(&item.name), STRONG), (shown(&item.kind), Style::new())]
        })
        .collect();
    rows.extend(same.iter().map(|same| -> Vec<Cell> {
        let (effect, _) = effect(&same.item);
        vec![
            (format!("  {}", same.news.name()), DIM),
            (shown(&same.item.name), STRONG),
            (effect.to_owned(), DIM),
        ]
    }));
    terminal::write_table(output, &rows)?;
    writeln!(output, "{DIM}Anything added or changed later needs your trust again.{DIM:#}")?;
    Ok(())
}

/// Writes all of an item that trust covers. Each line of the repository's has a mark before it, so that none can pass
/// for one of ours.
fn write_whole(output: &mut impl io::Write, item: &Shown) -> Result<()> {
    let (effect, style) = effect(&item.item);
    let (news, name, file) = (item.news.name(), shown(&item.item.name), item.file.to_string_lossy());
    // The path whole: it is where the rest of a long skill is.
    let file = sanitize::one_line(&file, usize::MAX);
    writeln!(
        output,
        "\n  {DIM}{news}{DIM:#}  {STRONG}{name}{STRONG:#}  {style}{effect}{style:#}  {DIM}{file}{DIM:#}"
    )?;
    // Not sanitised: what is not seen would be trusted as well.
    let text = sanitize::spelled_out(&item.text);
    let most = if item.item.kind == "skill" { SKILL_CHARS } else { usize::MAX };
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let mut was_blank = false;
    for line in text[..end].trim().lines().map(str::trim_end) {
        // Many empty lines would push what follows out of sight.
        if !(was_blank && line.is_empty()) {
            writeln!(output, "{}", format!("  | {line}").trim_end())?;
        }
        was_blank = line.is_empty();
    }
    let rest = text[end..].trim().chars().count();
    if rest > 0 {
        writeln!(output, "  {WARNING}{rest} more characters: read the file before you trust it{WARNING:#}")?;
    }
    Ok(())
}

fn effect(item: &Item) -> (&'static str, Style) {
    match item.kind.as_str() {
        "guard" => ("guard: refuses every time", FAILURE),
        "pause" => ("pause: refuses once per call", WARNING),
        "skill" => ("skill: the model follows it", WARNING),
        "setting" => ("git setting: used when Wyren connects to the remote", FAILURE),
        "directive" => ("directive: for every session and subagent", WARNING),
        _ => ("protocol: for every session", WARNING),
    }
}

fn shown(text: &str) -> String {
    sanitize::one_line(text, SHOWN_CHARS)
}
