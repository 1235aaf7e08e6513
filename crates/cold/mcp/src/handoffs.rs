//! What earlier sessions left for the next: handoffs with named sections on this machine, and handoff notes of the team memory.

use crate::arguments::Arguments;
use crate::desk::{Desk, minute, said, told};
use crate::sheet::{self, Beyond, Sheet, weight};
use base::Timestamp;
use base::project::Project;
use handoff::{Kept, Resume, Unfound, state};
use journal::read;
use search::highlight::Words;
use search::sources::{self, Loaded};
use search::{Filter, Kind};
use text::sanitize::one_line;
use work::contexts::Context;
use work::contexts::read::{Which, is_made, list};
use work::find as context;

/// In characters.
const MAX_TITLE: usize = 160;
const MAX_NAME: usize = 120;
const SESSION_CHARS: usize = 8;
const COMMIT_CHARS: usize = 10;
/// Which share of an answer others have beside the handoff that is shown whole.
const SHARE_OF_OTHERS: usize = 3;
/// How many are named where none was found.
const MOST_NAMED: usize = 5;

/// The handoffs of a project, the latest first, with their contexts.
struct Left {
    kept: Vec<Kept>,
    contexts: Vec<Context>,
}

impl Left {
    fn of(store: &store::Store, key: &str) -> Result<Self, store::Error> {
        let project = if is_made(store) { read::project_row(store, key)? } else { None };
        let contexts = match project {
            Some(project) => list(store, Some(project), Which::All)?,
            None => Vec::new(),
        };
        let ids: Vec<&str> = contexts.iter().map(|context| context.id.as_str()).collect();
        Ok(Self { kept: handoff::of_contexts(store, &ids)?, contexts })
    }

    fn state(&self, kept: &Kept) -> &'static str {
        state(kept, &self.contexts)
    }

    /// Returns the one to go on from.
    fn next(&self) -> Option<&Kept> {
        handoff::next(&self.kept.iter().collect::<Vec<_>>(), &self.contexts)
    }

    /// Returns the one that was named: by its id, else the one to go on from of a context that has this in its id.
    fn named(&self, typed: &str) -> Result<&Kept, String> {
        let shown = one_line(typed, MAX_NAME);
        let listed = |names: &[String]| names.iter().map(|name| format!("\n  {name}")).collect::<String>();
        match handoff::find(typed, &self.kept) {
            Ok(kept) => return Ok(kept),
            Err(Unfound::Several(names)) => {
                return Err(format!(
                    "{} handoffs begin with {shown:?}. Type more of its id:{}",
                    names.len(),
                    listed(&names)
                ));
            }
            Err(Unfound::Unfit(_) | Unfound::None) => {}
        }
        let context = context::find(typed, &self.contexts).ok();
        let of_context = context.and_then(|context| {
            let kept: Vec<&Kept> = self.kept.iter().filter(|kept| kept.context == context.id).collect();
            handoff::next(&kept, &self.contexts)
        });
        of_context.ok_or_else(|| match &*self.kept {
            [] => format!("there is no handoff {shown:?}: none was saved in this project"),
            kept => {
                let names: Vec<String> = kept.iter().take(MOST_NAMED).map(Kept::name).collect();
                format!("there is no handoff {shown:?}. The latest are:{}", listed(&names))
            }
        })
    }

    /// Returns the handoff that a search found; `None` for a note of the team memory.
    fn found(&self, loaded: &Loaded) -> Option<&Kept> {
        let document = &loaded.document;
        self.kept.iter().find(|kept| kept.at.millis() == document.at && kept.handoff.title == document.title)
    }
}

impl Desk {
    pub(crate) fn handoff(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let limit = Self::limit(arguments)?;
        let finder = self.finder()?;
        let key = Project::of(&self.cwd).key;
        let left = Left::of(&finder.store, &key).map_err(|error| said(error.into()))?;
        let (mut shown, mut others, mut beyond) = (None, Vec::new(), Beyond::Counted(0));
        if let Some(typed) = arguments.text(&["id", "ids", "name"]) {
            // Lists and searches give it another id.
            let found = answers::ids::find_any(&finder.store, &self.paths, &self.cwd, &typed).ok();
            shown = match found.and_then(|loaded| left.found(&loaded)) {
                Some(kept) => Some(kept),
                None => Some(left.named(&typed)?),
            };
        } else if let Some(text) = arguments.text(&["query", "about"]) {
            let filter = Filter { projects: vec![key], kinds: vec![Kind::Handoff], ..Filter::default() };
            let (loaded, mut words, more) = self.found(&finder, text, filter, (limit, 0))?;
            for loaded in &loaded {
                match left.found(loaded) {
                    Some(kept) if shown.is_none() => shown = Some(kept),
                    Some(kept) => others.push(listed(kept, left.state(kept))),
                    None => others.push(told(loaded, &mut words)),
                }
            }
            beyond = more;
        }
        // A question in other words than those of the handoff is about the latest.
        if shown.is_none() && others.is_empty() {
            shown = left.next();
            let rest = left.kept.iter().filter(|kept| shown.is_none_or(|shown| shown.name() != kept.name()));
            let rest = rest.map(|kept| (kept.at.millis(), listed(kept, left.state(kept))));
            let mut rest: Vec<(u64, String)> = rest.chain(self.notes()).collect();
            rest.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            beyond = Beyond::Counted(rest.len().saturating_sub(limit));
            others = rest.into_iter().take(limit).map(|(_, row)| row).collect();
        }
        if shown.is_none() && others.is_empty() {
            return Ok(
                "No handoff was left in this project. `search` finds what earlier sessions did.".to_owned()
            );
        }
        let mut sheet = self.sheet(arguments)?;
        let mut next = String::new();
        if let Some(kept) = shown {
            let of_others: usize = others.iter().map(|row| weight(row) + 1).sum();
            let room = sheet.room() - of_others.min(sheet.room() / SHARE_OF_OTHERS);
            let missing = self.push_whole(&mut sheet, kept, left.state(kept), room);
            if !missing.is_empty() {
                next = format!(
                    "`handoff` with id {} and a larger budget for the rest of it: {}. ",
                    kept.name(),
                    missing.join(", ")
                );
            }
            next.push_str(&format!(
                "To go on from it in this session, run `wyren handoff resume {}` in the shell.",
                kept.name()
            ));
        }
        for row in others {
            sheet.push(row);
        }
        let rest = "Call again with a query, or with a larger limit or budget.";
        Ok(sheet.finish(&self.fence(), "handoff", beyond, rest, &next))
    }

    /// Adds a handoff, what not to try again and what is open first; returns the sections that have no room, or not all of it.
    fn push_whole(&self, sheet: &mut Sheet, kept: &Kept, state: &str, room: usize) -> Vec<String> {
        let handoff = &kept.handoff;
        let since = handoff.tree.as_ref().and_then(|then| handoff::since(&self.cwd, &self.env, then));
        let text = Resume { kept, since: since.as_ref(), now: self.now() }.to_read();
        let mut parts = text.split("\n## ");
        // The title is in a row of its own, the time as well.
        let head = parts.next().unwrap_or_default();
        let stale = head.lines().find(|line| line.starts_with("STALE")).map(|line| format!("\n  {line}"));
        let mut shown = format!("{}{}{}", listed(kept, state), from(kept), stale.unwrap_or_default());
        let mut missing = Vec::new();
        for part in parts {
            let (name, body) = part.split_once('\n').unwrap_or((part, ""));
            let (length, used) = (weight(body), weight(&shown) + weight(name) + 8);
            if !missing.is_empty() || used >= room {
                missing.push(name.to_owned());
            } else if used + length <= room {
                shown.push_str(&format!("\n\n## {name}\n{}", body.trim_end()));
            } else {
                let cut = sheet::beginning(body, room - used);
                shown.push_str(&format!("\n\n## {name}\n{cut}…"));
                missing.push(format!("{name} (cut)"));
            }
        }
        sheet.push(format!("{shown}\n"));
        missing
    }

    /// Returns the handoff notes of the team memory, each with its moment.
    fn notes(&self) -> Vec<(u64, String)> {
        let key = Project::of(&self.cwd).key;
        let file = place::Folder::find(&self.cwd).map(|folder| folder.memory());
        let entries = file.map(|file| sources::of_team_memory(&file, &key)).unwrap_or_default();
        let notes = entries.iter().filter(|loaded| loaded.document.kind == Some(Kind::Handoff));
        notes.map(|loaded| (loaded.document.at, told(loaded, &mut Words::default()))).collect()
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

/// Returns the line of a handoff.
fn listed(kept: &Kept, state: &str) -> String {
    let title = one_line(&kept.handoff.title, MAX_TITLE);
    format!("{}  {}  handoff, {state}  {title}", kept.name(), minute(kept.at.millis()))
}

/// Returns where a handoff comes from, as a line of its own.
fn from(kept: &Kept) -> String {
    let mut facts: Vec<String> = kept
        .session
        .iter()
        .map(|session| format!("session {}", session.chars().take(SESSION_CHARS).collect::<String>()))
        .collect();
    if let Some(tree) = &kept.handoff.tree {
        facts.extend(tree.branch.iter().map(|branch| format!("branch {branch}")));
        let short =
            |commit: &String| format!("commit {}", commit.chars().take(COMMIT_CHARS).collect::<String>());
        facts.extend(tree.commit.as_ref().map(short));
    }
    if facts.is_empty() {
        String::new()
    } else {
        format!("\n  from: {}", one_line(&facts.join(" · "), MAX_NAME))
    }
}
