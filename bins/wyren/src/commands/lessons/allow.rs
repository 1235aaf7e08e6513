//! `wyren lessons allow`: a person lets calls of a session pass that a guard or pause refuses.

use super::{layer, shown};
use crate::person;
use crate::terminal::{self, Cell, DIM, STRONG, Styled};
use crate::when;
use anstyle::Style;
use anyhow::{Context as _, Result, bail};
use base::allowed::{self, Allowed, Extent, MAX_AGE_MILLIS, Name, Refusal};
use base::project::Project;
use base::{Env, Timestamp};
use clap::Args;
use lessons::Kind;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Item, Places, State};
use serde_json::{Value, json};
use std::io::Write as _;

/// How much of a session's id is shown, in characters.
const SHORT_ID: usize = 8;

const EXAMPLES: &str = "\
Examples:
  wyren lessons allow                                 list what was refused here
  wyren lessons allow rm-of-the-git-folder            let the next such call pass
  wyren lessons allow rm-of-the-git-folder --session  until that session ends
  wyren lessons disable rm-of-the-git-folder          switch it off for good";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The guard or pause, as its refusal names it. Left out: list what was refused here, and what is allowed.
    slug: Option<String>,
    /// Let the next call pass that it would refuse; this is the default.
    #[arg(long, conflicts_with_all = ["session", "list"])]
    once: bool,
    /// Let its calls pass until the session ends, for 24 hours at most.
    #[arg(long, conflicts_with = "list")]
    session: bool,
    /// The session, instead of the one in this project that it refused last.
    #[arg(long, value_name = "ID", requires = "slug")]
    session_id: Option<String>,
    /// Which lesson, when layers share the name.
    #[arg(long, value_parser = layer, requires = "slug")]
    layer: Option<Layer>,
    /// List what was refused here, and what is allowed.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Returns whether it lifts a refusal, rather than listing.
    pub(super) fn lifts(&self) -> bool {
        self.slug.is_some() && !self.list
    }
}

pub(super) fn run(arguments: &Arguments, places: &Places) -> Result<()> {
    let now = Timestamp::now();
    let root = Project::of(&places.cwd).root;
    let refusals = Refusal::all(&places.paths, &root, now);
    let Some(slug) = arguments.slug.as_ref().filter(|_| !arguments.list) else {
        let allowed = Allowed::all(&places.paths, now);
        return list(&refusals, &allowed, &places.env, arguments.json, now);
    };
    let catalogue = Catalogue::read(places);
    // By its own name, if lessons-learned's id was given.
    let slug = &catalogue.find(slug, arguments.layer)?.lesson.slug;
    let refusal = refusals.iter().find(|refusal| {
        let is_in = |layer: Layer| refusal.name.is_shared == (layer == Layer::Project);
        refusal.name.slug == *slug && arguments.layer.is_none_or(is_in)
    });
    // Of two lessons of one name, the one that refused.
    let refusing = refusal.filter(|refusal| refusal.name.is_shared).map(|_| Layer::Project);
    let item = catalogue.find(slug, arguments.layer.or(refusing))?;
    must_refuse(item, &places.env)?;
    let name = Name::new(&item.lesson.slug, item.layer == Layer::Project);
    let refusal = refusal.filter(|refusal| refusal.name == name);
    let session = match (&arguments.session_id, refusal) {
        (Some(id), _) => session_of(id, &refusals),
        (None, Some(refusal)) => refusal.session.clone(),
        (None, None) => bail!("{}", nothing_refused(slug, &refusals)),
    };
    let refusal = refusal.filter(|refusal| refusal.session == session);
    let extent = if arguments.session { Extent::Session } else { Extent::Once };
    let call = refusal.map(|refusal| refusal.call.clone()).unwrap_or_default();
    let project = allowed::project_of(&places.paths, &root);
    let allowed = Allowed { name, session, extent, at: now, call, project };
    allowed
        .write(&places.paths)
        .with_context(|| format!("could not write below {}", places.paths.allowed().display()))?;
    if arguments.json {
        return Ok(writeln!(terminal::output(), "{:#}", as_json(&allowed))?);
    }
    tell(&allowed, item.lesson.kind, refusal, now)
}

/// Fails for a lesson that refuses nothing.
fn must_refuse(item: &Item, env: &Env) -> Result<()> {
    let slug = shown(&item.lesson.slug);
    match item.lesson.kind {
        Kind::Guard | Kind::Pause => {}
        kind => bail!("{slug} is a {kind}: it refuses nothing"),
    }
    if item.state != State::Active {
        bail!("{slug} is {}: it refuses nothing", item.state.name());
    }
    if !item.is_trusted {
        let review = person::command_for(env, "trust", "trust");
        bail!("{slug} refuses nothing until you run `{review}`");
    }
    Ok(())
}

/// Returns the session that an id or the beginning of one names; one that is not known counts as it is.
fn session_of(id: &str, refusals: &[Refusal]) -> String {
    let known = refusals.iter().find(|refusal| refusal.session.starts_with(id));
    known.map_or_else(|| id.to_owned(), |refusal| refusal.session.clone())
}

fn nothing_refused(slug: &str, refusals: &[Refusal]) -> String {
    let slug = shown(slug);
    let others: Vec<String> = refusals.iter().map(|refusal| shown(&refusal.name.slug)).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({} did)", others.join(", ")) };
    format!(
        "{slug} refused no call in this project in the last 24 hours{others}; run this in the project of the session, or \
         name the session with --session-id"
    )
}

fn short(session: &str) -> String {
    shown(&session.chars().take(SHORT_ID).collect::<String>())
}

fn tell(allowed: &Allowed, kind: Kind, refusal: Option<&Refusal>, now: Timestamp) -> Result<()> {
    let (slug, session) = (shown(&allowed.name.slug), short(&allowed.session));
    let mut output = terminal::output();
    let text = match allowed.extent {
        Extent::Once => format!(
            "The next call that {STRONG}{slug}{STRONG:#} would refuse in session {session} passes; after that the {kind} \
             holds again."
        ),
        Extent::Session => format!(
            "{STRONG}{slug}{STRONG:#} lets every call in session {session} pass until the session ends, for 24 hours at \
             most."
        ),
    };
    writeln!(output, "{}", Styled(text))?;
    if let Some(refusal) = refusal {
        let call = if refusal.call.is_empty() { "not recorded" } else { &refusal.call };
        writeln!(output, "{DIM}It refused this call {}: {}{DIM:#}", when::ago(refusal.at, now), shown(call))?;
    }
    Ok(())
}

fn as_json(allowed: &Allowed) -> Value {
    let until = Timestamp::from_millis(allowed.at.millis() + MAX_AGE_MILLIS);
    json!({
        "slug": allowed.name.slug, "project": allowed.name.is_shared, "session": allowed.session,
        "extent": allowed.extent.name(), "at": allowed.at.to_string(), "until": until.to_string(), "call": allowed.call,
    })
}

fn list(refusals: &[Refusal], allowed: &[Allowed], env: &Env, json: bool, now: Timestamp) -> Result<()> {
    let mut output = terminal::output();
    if json {
        let refused: Vec<Value> = refusals
            .iter()
            .map(|refusal| {
                json!({
                    "slug": refusal.name.slug, "project": refusal.name.is_shared, "session": refusal.session,
                    "at": refusal.at.to_string(), "call": refusal.call,
                })
            })
            .collect();
        let allowed: Vec<Value> = allowed.iter().map(as_json).collect();
        return Ok(writeln!(output, "{:#}", json!({"refused": refused, "allowed": allowed}))?);
    }
    if refusals.is_empty() {
        writeln!(output, "No lesson refused a call in this project in the last 24 hours.")?;
    } else {
        writeln!(output, "{STRONG}Refused here{STRONG:#}")?;
        let row = |refusal: &Refusal| -> Vec<Cell> {
            vec![
                (format!("  {}", shown(&refusal.name.slug)), Style::new()),
                (format!("session {}", short(&refusal.session)), DIM),
                (when::ago(refusal.at, now), DIM),
                (shown(&refusal.call), Style::new()),
            ]
        };
        terminal::write_table(&mut output, &refusals.iter().map(row).collect::<Vec<_>>())?;
        let command = person::command_for(env, "allow NAME", "lessons allow NAME");
        writeln!(output, "{DIM}To let such a call pass once: {command}{DIM:#}")?;
    }
    if !allowed.is_empty() {
        writeln!(output, "\n{STRONG}Allowed{STRONG:#}")?;
        let row = |allowed: &Allowed| -> Vec<Cell> {
            vec![
                (format!("  {}", shown(&allowed.name.slug)), Style::new()),
                (format!("session {}", short(&allowed.session)), DIM),
                (allowed.extent.name().to_owned(), DIM),
                (format!("given {}", when::ago(allowed.at, now)), DIM),
            ]
        };
        terminal::write_table(&mut output, &allowed.iter().map(row).collect::<Vec<_>>())?;
    }
    Ok(())
}
