//! `wyren trust` and `wyren untrust`: what of a project may refuse calls, and what the model may follow.

use crate::terminal::{self, Cell, DIM, FAILURE, STRONG, WARNING};
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::trust::{Item, Lapse};
use base::{Env, Paths};
use clap::Args;
use lessons::Kind;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::trust::{self, News, Review, Shown};
use place::Folder;
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use text::sanitize;

/// How much of a text is shown, in characters.
const SHOWN_CHARS: usize = 200;

const EXAMPLES: &str = "\
Examples:
  wyren trust                     show what is new or changed, and ask
  wyren trust --json              the same as JSON, without a question
  wyren trust ~/src/api --yes     trust it without a question
  wyren trust --show              list trusted projects
  wyren untrust                   stop trusting this project";

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
    let places = places(arguments.path.clone(), env, paths)?;
    if arguments.show {
        return show(&places, arguments.json);
    }
    let review = Review::of(&places, &Catalogue::read(&places));
    let root = shown(&review.root().to_string_lossy());
    if review.shown.is_empty() && review.former.is_none() {
        bail!("{root} has no guards, pauses, directives, protocols or team skills: nothing to trust");
    }
    if arguments.json {
        if arguments.yes {
            review.accept(&places)?;
        }
        let is_trusted = arguments.yes || review.is_current();
        writeln!(terminal::output(), "{:#}", as_json(&review, is_trusted))?;
        return Ok(());
    }
    if review.is_current() {
        writeln!(terminal::output(), "{STRONG}{root}{STRONG:#} is trusted; nothing has changed.")?;
        return Ok(());
    }
    describe(&root, &review)?;
    if !arguments.yes && !is_confirmed()? {
        writeln!(terminal::errors(), "Nothing was changed.")?;
        return Ok(());
    }
    review.accept(&places)?;
    writeln!(
        terminal::output(),
        "{STRONG}{root}{STRONG:#} is trusted. Run `wyren untrust` to stop trusting it."
    )?;
    Ok(())
}

pub(crate) fn untrust(arguments: &Untrust, env: &Env, paths: &Paths) -> Result<()> {
    let places = places(arguments.path.clone(), env, paths)?;
    let root = shown(&trust::root(&places).to_string_lossy());
    let mut output = terminal::output();
    if trust::untrust(&places)? {
        writeln!(
            output,
            "{STRONG}{root}{STRONG:#} is no longer trusted. Its guards and pauses act as hints, its skills and \
             directives are shown as the team's words."
        )?;
    } else {
        writeln!(output, "{STRONG}{root}{STRONG:#} was not trusted.")?;
    }
    Ok(())
}

fn places(path: Option<PathBuf>, env: &Env, paths: &Paths) -> Result<Places> {
    let cwd = match path {
        Some(path) => path.canonicalize().with_context(|| format!("could not find {}", path.display()))?,
        None => std::env::current_dir()?,
    };
    // All work trees of a repository that shares its memory on a branch of its own are one project.
    let root = Folder::find(&cwd).and_then(|folder| folder.wyren.parent().map(Path::to_owned));
    let cwd = root.unwrap_or(cwd);
    Ok(Places { paths: paths.clone(), cwd, env: env.clone() })
}

fn show(places: &Places, json: bool) -> Result<()> {
    let (trusted, lapsed): (Vec<_>, Vec<_>) =
        trust::list(places).into_iter().partition(|trust| trust.lapse.is_none());
    let mut output = terminal::output();
    if json {
        let folders = |projects: &[base::trust::Trust]| -> Vec<PathBuf> {
            projects.iter().map(|trust| trust.project.clone()).collect()
        };
        writeln!(output, "{:#}", json!({"trusted": folders(&trusted), "lapsed": folders(&lapsed)}))?;
        return Ok(());
    }
    if trusted.is_empty() {
        writeln!(terminal::errors(), "No trusted projects.")?;
    }
    for project in &trusted {
        writeln!(output, "{}", shown(&project.project.to_string_lossy()))?;
    }
    for project in &lapsed {
        let folder = shown(&project.project.to_string_lossy());
        writeln!(output, "{folder} {WARNING}lapsed{WARNING:#}: run `wyren trust` there again")?;
    }
    Ok(())
}

fn as_json(review: &Review, is_trusted: bool) -> Value {
    let named = |item: &Item| json!({"kind": item.kind, "name": item.name});
    let with = |news: News| -> Vec<Value> {
        let fit = review.shown.iter().filter(|shown| shown.news == news);
        fit.map(|shown| named(&shown.item)).collect()
    };
    let skills: Vec<&str> = review
        .shown
        .iter()
        .filter(|shown| shown.item.kind == "skill")
        .map(|shown| shown.item.name.strip_prefix("skills/").unwrap_or(&shown.item.name))
        .collect();
    let lapse = review.former.as_ref().and_then(|former| former.lapse).map(|lapse| match lapse {
        Lapse::OtherVersion => "other version",
        Lapse::OtherRepository => "other repository",
    });
    json!({
        "project": review.root(),
        "trusted": is_trusted,
        "lapsed": lapse,
        "new": with(News::New),
        "changed": with(News::Changed),
        "unchanged": with(News::Same),
        "gone": review.gone.iter().map(named).collect::<Vec<_>>(),
        "refusing": trust::names(&review.shown, &[Kind::Guard, Kind::Pause]),
        "skills": skills,
    })
}

/// Shows what differs from what is trusted. The words are those of the repository's authors.
fn describe(root: &str, review: &Review) -> Result<()> {
    let mut output = terminal::output();
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
    let mut rows: Vec<Vec<Cell>> = news.iter().map(|shown| row(shown)).collect();
    rows.extend(review.gone.iter().map(|item| -> Vec<Cell> {
        vec![("  gone".to_owned(), DIM), (shown(&item.name), STRONG), (shown(&item.kind), Style::new())]
    }));
    terminal::write_table(&mut output, &rows)?;
    if !same.is_empty() {
        writeln!(output, "{DIM}{} trusted before, unchanged{DIM:#}", same.len())?;
    }
    writeln!(output, "{DIM}Anything added or changed later needs your trust again.{DIM:#}")?;
    Ok(())
}

fn row(item: &Shown) -> Vec<Cell> {
    let (effect, style) = match item.item.kind.as_str() {
        "guard" => ("guard: refuses every time", FAILURE),
        "pause" => ("pause: refuses once per call", WARNING),
        "skill" => ("skill: the model follows it", WARNING),
        "directive" => ("directive: for every session and subagent", WARNING),
        _ => ("protocol: for every session", WARNING),
    };
    let about = if item.patterns.is_empty() { item.file.to_string_lossy() } else { (&item.patterns).into() };
    vec![
        (format!("  {}", item.news.name()), DIM),
        (shown(&item.item.name), STRONG),
        (effect.to_owned(), style),
        (shown(&about), Style::new()),
        (shown(&item.summary), DIM),
    ]
}

fn is_confirmed() -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("not a terminal: pass --yes to confirm");
    }
    write!(terminal::errors(), "Trust it? [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn shown(text: &str) -> String {
    sanitize::one_line(text, SHOWN_CHARS)
}
