//! What `wyren status` knows besides the lines of the Node version, for the screen and for JSON.

use super::Status;
use crate::commands::doctor;
use crate::person;
use crate::projects;
use crate::terminal::counted;
use crate::when;
use base::allowed::{self, Allowed, Extent};
use base::paths::with_tilde;
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Rules, Spool};
use chrono::{Days, NaiveDate};
use config::Config;
use lessons_admin::catalogue::{Catalogue, Places};
use lessons_admin::trust::{News, Review};
use memory::{Entry, Memory, section};
use model::{Ledger, Money, Options};
use place::Mode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use store::jobs::{self, State};
use store::{Store, observations};
use team_sync::Share;
use text::{redact, sanitize};
use work::contexts::read::{self as contexts, Which};

/// In characters.
const MAX_CHARS: usize = 300;

/// How many characters of a session's id an entry names.
const SESSION_CHARS: usize = 8;

/// The days of a week before today.
const WEEK: Days = Days::new(6);

/// What there is to know.
pub(super) struct Facts {
    /// The project's short name.
    pub(super) project: String,
    pub(super) memory: TeamMemory,
    pub(super) journal: Journal,
    pub(super) work: Work,
    pub(super) lessons: Lessons,
    pub(super) spend: Spend,
    pub(super) waiting: Vec<Waiting>,
    /// The worst problem; `None` when all is well.
    pub(super) problem: Option<Problem>,
    /// The data folder, as a person writes it.
    pub(super) data: String,
    /// Says how the user types a command where they read this.
    pub(super) env: Env,
}

pub(super) enum TeamMemory {
    /// None in this folder.
    Absent,
    /// There is one that cannot be read.
    Unreadable(String),
    There(There),
}

#[derive(Default)]
pub(super) struct There {
    /// How it is shared.
    pub(super) shared: String,
    /// Sections that have entries, with their number; without handoff notes.
    pub(super) sections: Vec<(String, usize)>,
    pub(super) newest: Option<Note>,
    /// How many entries of teammates came since yesterday, by author.
    pub(super) news: Vec<(String, usize)>,
    /// Newest first.
    pub(super) handoffs: Vec<Note>,
    pub(super) learned_today: usize,
    pub(super) learned_this_week: usize,
}

/// An entry, and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) author: Option<String>,
    /// As people speak of it.
    pub(super) when: Option<String>,
}

/// What was done in the project, as far as the database has it.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) today: u64,
    pub(super) this_week: u64,
    /// Whether what is done here is recorded.
    pub(super) is_recorded: bool,
}

/// The pieces of work of the project.
#[derive(Default)]
pub(super) struct Work {
    pub(super) open: usize,
    /// Of these, the ones with a plan or a handoff that waits for a session.
    pub(super) waiting: usize,
}

#[derive(Default)]
pub(super) struct Lessons {
    pub(super) in_use: usize,
    pub(super) shown_today: usize,
    pub(super) refused_today: usize,
    /// The lessons that refused, most often first.
    pub(super) refused: Vec<String>,
    /// The lessons that let calls in this project pass, the newest leave first.
    pub(super) lifted: Vec<(String, Extent)>,
}

pub(super) struct Spend {
    pub(super) today: Money,
    pub(super) budget: Money,
    /// Whether no model is ever asked.
    pub(super) is_off: bool,
}

/// Something that waits for the user.
pub(super) struct Waiting {
    pub(super) what: String,
    /// As the user types it where they read this.
    pub(super) command: String,
}

pub(super) struct Problem {
    /// Whether something does not work at all.
    pub(super) is_bad: bool,
    pub(super) name: &'static str,
    pub(super) message: String,
    pub(super) fix: Option<String>,
}

impl Facts {
    /// Gathers everything. `status` and `share` are of the memory here; else why there is none.
    pub(super) fn of(
        found: Result<(&Share, &Status), &team_sync::Error>,
        cwd: &Path,
        env: &Env,
        paths: &Paths,
        now: Timestamp,
    ) -> Self {
        let store = paths.database().exists().then(|| journal::open_store(paths).ok()).flatten();
        let today = when::day(now);
        let project = Project::of(cwd);
        let memory = match found {
            Ok((share, status)) => match share.memory() {
                Ok(memory) => {
                    let since = when::start_of(today.checked_sub_days(WEEK).unwrap_or(today));
                    let sessions =
                        store.as_ref().and_then(|store| observations::sessions_since(store, since).ok());
                    let mut there = There::of(&memory, &share.author(), &sessions.unwrap_or_default(), today);
                    there.shared = shared(share, status);
                    TeamMemory::There(there)
                }
                Err(error) => TeamMemory::Unreadable(error.to_string()),
            },
            Err(team_sync::Error::NotSetUp(_)) => TeamMemory::Absent,
            Err(error) => TeamMemory::Unreadable(error.to_string()),
        };
        let places = Places { paths: paths.clone(), cwd: cwd.to_owned(), env: env.clone() };
        let catalogue = Catalogue::read(&places);
        let mut waiting = Vec::new();
        waiting.extend(untrusted(&Review::of(&places, &catalogue), env));
        if let Ok((_, status)) = found {
            waiting.extend(unshared(status, env));
        }
        waiting.extend(unfinished(store.as_ref(), paths, env));
        let mut lessons = Lessons::today(store.as_ref(), paths, today);
        lessons.in_use = catalogue.in_use().count();
        lessons.lifted = lifted(paths, &project.root, now);
        let mut journal = Journal::of(store.as_ref(), &project.key, today).unwrap_or_default();
        let rules = Rules::of(&Settings::read(env, &paths.hook_settings()), env);
        journal.is_recorded = rules.against(cwd).is_none();
        let worst = doctor::worst(env, paths, now).filter(|worst| worst.state != "ok");
        Self {
            project: projects::name(&project.key),
            memory,
            journal,
            work: Work::of(store.as_ref(), &project.key).unwrap_or_default(),
            lessons,
            spend: Spend::of(env, paths, now),
            waiting,
            problem: worst.map(|worst| Problem {
                is_bad: worst.state == "bad",
                name: worst.name,
                message: sanitize::one_line(&worst.message, MAX_CHARS),
                fix: worst.fix.map(|fix| fix_for(env, &sanitize::one_line(&fix, MAX_CHARS))),
            }),
            data: sanitize::one_line(&with_tilde(paths.data(), env), MAX_CHARS),
            env: env.clone(),
        }
    }

    /// Adds what is known to an object.
    pub(super) fn add_to(&self, facts: &mut Value) {
        if let TeamMemory::There(there) = &self.memory {
            let note = |note: &Note| json!({"text": note.text, "author": note.author, "when": note.when});
            let sections: BTreeMap<&str, usize> =
                there.sections.iter().map(|(name, count)| (&**name, *count)).collect();
            let news: BTreeMap<&str, usize> =
                there.news.iter().map(|(author, count)| (&**author, *count)).collect();
            facts["entries"] = json!(sections);
            facts["newest"] = json!(there.newest.as_ref().map(note));
            facts["news_since_yesterday"] = json!(news);
            facts["handoff_notes"] = json!(there.handoffs.iter().map(note).collect::<Vec<_>>());
            facts["learned"] = json!({"today": there.learned_today, "this_week": there.learned_this_week});
        }
        facts["project"] = json!(self.project);
        let Journal { today, this_week, is_recorded } = self.journal;
        facts["journal"] = json!({"today": today, "this_week": this_week, "recorded": is_recorded});
        facts["work"] = json!({"open": self.work.open, "waiting": self.work.waiting});
        let lifted = self.lessons.lifted.iter();
        let lifted = lifted.map(|(slug, extent)| json!({"slug": slug, "extent": extent.name()}));
        facts["lessons"] = json!({
            "in_use": self.lessons.in_use,
            "shown_today": self.lessons.shown_today,
            "refused_today": self.lessons.refused_today,
            "refused": self.lessons.refused,
            "lifted": lifted.collect::<Vec<_>>(),
        });
        facts["spend"] = json!({
            "today_usd": self.spend.today.dollars(),
            "budget_usd": self.spend.budget.dollars(),
            "off": self.spend.is_off,
        });
        let waiting = self.waiting.iter().map(|it| json!({"what": it.what, "command": it.command}));
        facts["waiting"] = json!(waiting.collect::<Vec<_>>());
        facts["health"] = match &self.problem {
            None => json!({"state": "ok"}),
            Some(Problem { is_bad, name, message, fix }) => {
                let state = if *is_bad { "bad" } else { "warn" };
                json!({"state": state, "name": name, "message": message, "fix": fix})
            }
        };
        facts["data"] = json!(self.data);
    }
}

/// Returns how many entries of teammates came since yesterday.
pub(super) fn news(share: &Share, now: Timestamp) -> Option<u64> {
    let there = There::of(&share.memory().ok()?, &share.author(), &[], when::day(now));
    Some(there.news.iter().map(|(_, count)| *count as u64).sum())
}

/// Returns how many lessons were shown today.
pub(super) fn lessons_today(store: Option<&Store>, paths: &Paths, now: Timestamp) -> u64 {
    Lessons::today(store, paths, when::day(now)).shown_today as u64
}

/// Returns what model calls cost today.
pub(super) fn spent_today(env: &Env, paths: &Paths, now: Timestamp) -> Money {
    Spend::of(env, paths, now).today
}

impl There {
    /// `sessions` are the ids of this machine's sessions of the last week.
    fn of(memory: &Memory, me: &str, sessions: &[String], today: NaiveDate) -> Self {
        let mut there = Self::default();
        let yesterday = today.pred_opt().unwrap_or(today);
        let week = today.checked_sub_days(WEEK).unwrap_or(today);
        let mut news: BTreeMap<String, usize> = BTreeMap::new();
        let mut newest: Option<(NaiveDate, &Entry)> = None;
        for part in memory.sections() {
            let is_handoff = part.name().eq_ignore_ascii_case(section::HANDOFF);
            let count = part.entries().count();
            if is_handoff {
                there.handoffs = part.entries().map(|entry| handoff(entry, today)).collect();
                continue;
            }
            if count > 0 {
                there.sections.push((sanitize::one_line(part.name(), MAX_CHARS), count));
            }
            for entry in part.entries() {
                let provenance = entry.provenance();
                let Some(day) = provenance.date.as_deref().and_then(when::day_in) else { continue };
                // Of one day the last in the file is the newest.
                if newest.is_none_or(|(newest, _)| day >= newest) {
                    newest = Some((day, entry));
                }
                if day >= yesterday
                    && let Some(author) = provenance.author.as_ref().filter(|author| *author != me)
                {
                    *news.entry(sanitize::one_line(author, MAX_CHARS)).or_default() += 1;
                }
                let is_mine = match &provenance.session {
                    None => false,
                    // Where nothing is recorded no session is known.
                    Some(_) if sessions.is_empty() => provenance.author.as_deref() == Some(me),
                    Some(session) => {
                        sessions.iter().any(|id| id.get(..SESSION_CHARS).unwrap_or(id) == session)
                    }
                };
                if is_mine && day >= week {
                    there.learned_this_week += 1;
                    there.learned_today += usize::from(day >= today);
                }
            }
        }
        there.news = news.into_iter().collect();
        there.news.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        there.newest = newest.map(|(day, entry)| Note {
            text: shown(&entry.text()),
            author: entry.provenance().author.map(|author| shown(&author)),
            when: Some(when::spoken(day, today)),
        });
        there
    }
}

/// Returns a handoff note without the moment in front of its text.
fn handoff(entry: &Entry, today: NaiveDate) -> Note {
    let note = entry.note();
    let moment = note.stamp.as_deref().and_then(|stamp| stamp.parse().ok());
    Note {
        text: shown(&note.text),
        author: note.author.map(|author| shown(&author)),
        when: moment.map(|moment| when::spoken_moment(moment, today)),
    }
}

impl Journal {
    fn of(store: Option<&Store>, project: &str, today: NaiveDate) -> Option<Self> {
        let store = store?;
        let project = journal::read::project_row(store, project).ok()??;
        let since = |day| journal::read::count_since(store, project, when::start_of(day)).ok();
        let week = today.checked_sub_days(WEEK).unwrap_or(today);
        Some(Self { today: since(today)?, this_week: since(week)?, is_recorded: true })
    }
}

impl Work {
    fn of(store: Option<&Store>, project: &str) -> Option<Self> {
        let store = store.filter(|store| contexts::is_made(store))?;
        let project = contexts::project_row(store, project).ok()??;
        let open = contexts::list(store, Some(project), Which::Open).ok()?;
        let waiting = open.iter().filter(|context| context.mode.is_staged()).count();
        Some(Self { open: open.len(), waiting })
    }
}

impl Lessons {
    fn today(store: Option<&Store>, paths: &Paths, today: NaiveDate) -> Self {
        let spool = Spool::new(paths.spool());
        let spoken = observations::spoken_since(store, &spool, when::start_of(today)).unwrap_or_default();
        let names = |list: &Option<String>| -> Vec<String> {
            let names = list.iter().flat_map(|list| list.split(','));
            names.map(|name| shown(name.trim())).filter(|name| !name.is_empty()).collect()
        };
        let mut lessons = Self::default();
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for spoke in &spoken {
            if spoke.refused {
                lessons.refused_today += 1;
                for name in names(&spoke.lesson) {
                    *refused.entry(name).or_default() += 1;
                }
            } else {
                lessons.shown_today += names(&spoke.lesson).len();
            }
        }
        let mut refused: Vec<(String, usize)> = refused.into_iter().collect();
        refused.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        lessons.refused = refused.into_iter().map(|(name, _)| name).collect();
        lessons
    }
}

impl Spend {
    fn of(env: &Env, paths: &Paths, now: Timestamp) -> Self {
        let options = Options::of(&Config::load(env, paths));
        // Looking must not create a database.
        let ledger = paths.database().exists().then(|| Ledger::open(&paths.database()).ok()).flatten();
        let today = ledger.and_then(|ledger| ledger.spent(now, None).ok()).unwrap_or(Money::ZERO);
        let is_off = options.provider == "off" || options.budget.daily == Money::ZERO;
        Self { today, budget: options.budget.daily, is_off }
    }
}

fn shared(share: &Share, status: &Status) -> String {
    let Some(team) = share.team() else { return "on this machine only".to_owned() };
    let Some(remote) = team.remote() else { return "on this machine only: no remote".to_owned() };
    let branch = match team.mode() {
        Mode::Side => place::SIDE_BRANCH.to_owned(),
        Mode::Branch => team.branch().unwrap_or("(detached)").to_owned(),
    };
    let note = if status.kept.is_some() { ", read only" } else { "" };
    format!("branch {} of {}{note}", shown(&branch), shown(remote))
}

/// Returns what of the project has no effect until the user trusts it.
fn untrusted(review: &Review, env: &Env) -> Option<Waiting> {
    if review.shown.is_empty() || review.is_current() {
        return None;
    }
    let new = review.shown.iter().filter(|shown| shown.news != News::Same).count().max(1);
    let what = counted(new, "guard, pause or skill is", "guards, pauses or skills are");
    let command = person::command_for(env, "trust", "trust");
    Some(Waiting { what: format!("{what} not trusted yet"), command })
}

/// Returns what of the memory did not reach the team.
fn unshared(status: &Status, env: &Env) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    let mut add = |what: String, command: &str| {
        waiting.push(Waiting { what, command: person::in_terminal(env, command) });
    };
    match status.kept {
        Some(0) => add("this clone does not publish yet".to_owned(), "sync"),
        Some(kept) => {
            let kept = counted(kept, "change stays", "changes stay");
            add(format!("{kept} on this machine: you have not let this clone publish"), "sync");
        }
        None if status.is_queued => add("local changes are not pushed yet".to_owned(), "sync"),
        None => {}
    }
    if let Some(vanished) = status.vanished {
        let vanished = counted(vanished, "entry is", "entries are");
        add(format!("{vanished} missing on the remote"), "sync --restore, or --accept");
    }
    if status.held_back > 0 {
        let held = counted(status.held_back, "private or secret part is", "private or secret parts are");
        add(format!("{held} held back"), "sync");
    }
    waiting
}

/// Returns what the worker has not done.
fn unfinished(store: Option<&Store>, paths: &Paths, env: &Env) -> Vec<Waiting> {
    let jobs = store.and_then(|store| jobs::list(store).ok()).unwrap_or_default();
    let count = |wanted: &[State]| jobs.iter().filter(|job| wanted.contains(&job.state)).count();
    let failed = count(&[State::Dead]);
    let queued = count(&[State::Queued, State::Leased]) + queue::pending(paths).len();
    let mut waiting = Vec::new();
    if failed > 0 {
        let what = counted(failed, "background job has failed", "background jobs have failed");
        waiting.push(Waiting { what, command: person::in_terminal(env, "jobs") });
    }
    if queued > 0 {
        let what = counted(queued, "background job is queued", "background jobs are queued");
        waiting.push(Waiting { what, command: person::in_terminal(env, "jobs") });
    }
    waiting
}

/// Returns which lessons let calls in the project at `root` pass that they would refuse.
fn lifted(paths: &Paths, root: &Path, now: Timestamp) -> Vec<(String, Extent)> {
    let here = allowed::project_of(paths, root);
    let open = Allowed::all(paths, now).into_iter().filter(|leave| leave.project == here);
    open.map(|leave| (shown(&leave.name.slug), leave.extent)).collect()
}

/// Returns what `wyren doctor` advises, with the place to type it.
fn fix_for(env: &Env, fix: &str) -> String {
    match fix.strip_prefix("wyren ") {
        Some(command) => person::in_terminal(env, command),
        None => fix.to_owned(),
    }
}

fn shown(text: &str) -> String {
    sanitize::one_line(&redact::redact(text), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "# Wyren Memory

## Handoff notes
- [2026-11-16T09:11:32.758Z] Cart is in cents; checkout.js is next [by Grace, 2026-11-16T09:11:32.758Z]

## Decisions
- Prices are integer cents [session aaaaaaaa, turn 3, by Ada, 2026-11-16]
- Node 24 [session bbbbbbbb, turn 1, by Grace, 2026-11-15]
- Postgres [session cccccccc, turn 1, by Ada, 2026-11-10]

## Rejected paths
- decimal.js: 40 KB for no gain [session aaaaaaaa, turn 4, by Ada, 2026-11-16]
- Redis [by Linus, 2026-11-16]
- An entry of the Node version [session dddddddd, turn 1]
";

    fn there(me: &str, sessions: &[&str]) -> There {
        let sessions: Vec<String> = sessions.iter().map(|id| (*id).to_owned()).collect();
        let today = when::day_in("2026-11-16").unwrap();
        There::of(&Memory::parse(MEMORY), me, &sessions, today)
    }

    #[test]
    fn entries_are_counted_by_section_and_news_by_teammate() {
        let there = there("Ada", &["aaaaaaaa-1", "cccccccc-1"]);
        assert_eq!(there.sections, [("Decisions".to_owned(), 3), ("Rejected paths".to_owned(), 3)]);
        assert_eq!(there.news, [("Grace".to_owned(), 1), ("Linus".to_owned(), 1)]);
        let newest = there.newest.unwrap();
        assert_eq!((&*newest.text, newest.author.as_deref()), ("Redis", Some("Linus")));
        assert_eq!(newest.when.as_deref(), Some("today"));
        assert_eq!(there.handoffs.len(), 1);
        assert_eq!(there.handoffs[0].text, "Cart is in cents; checkout.js is next");
        assert_eq!(there.handoffs[0].author.as_deref(), Some("Grace"));
    }

    #[test]
    fn what_was_learned_is_from_sessions_of_this_machine_in_the_last_week() {
        let of = |there: There| (there.learned_today, there.learned_this_week);
        assert_eq!(of(there("Ada", &["aaaaaaaa-1", "cccccccc-1"])), (2, 3));
        assert_eq!(of(there("Ada", &["aaaaaaaa-1", "bbbbbbbb-1"])), (2, 3));
        assert_eq!(of(there("Grace", &[])), (0, 1), "without recorded sessions by author");
    }

    #[test]
    fn review_22_leave_is_listed_in_the_project_that_it_was_given_in() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        let [here, elsewhere] = ["here", "elsewhere"].map(|name| folder.path().join(name));
        let now = Timestamp::now();
        let leave = Allowed {
            name: allowed::Name::new("git-push", false),
            session: "s".to_owned(),
            extent: Extent::Once,
            at: now,
            call: "git push".to_owned(),
            project: allowed::project_of(&paths, &here),
        };
        leave.write(&paths).unwrap();
        assert_eq!(lifted(&paths, &here, now), [("git-push".to_owned(), Extent::Once)]);
        assert_eq!(lifted(&paths, &elsewhere, now), []);
    }
}
