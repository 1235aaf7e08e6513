//! Retention: what the database may let go once it is old, or once there is too much. Payloads of calls first, entries later;
//! summaries, pinned entries and what a person had remembered never. Off unless a setting says otherwise.

use crate::derive::{self, Key};
use crate::kept::{self, Kept};
use crate::write::BY_HAND;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::{Data, Observation};
use serde_json::value::to_raw_value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use store::observations::retain;
use store::rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use store::{Error, Store};

const MILLIS_PER_DAY: u64 = 86_400_000;
const BYTES_PER_MB: u64 = 1_000_000;
/// How many turns one transaction is about: over before anyone has to wait.
const TURNS_AT_ONCE: usize = 50;
/// What is younger than this many days stays even where the database is too large.
const YOUNG_PAYLOADS_DAYS: u64 = 1;
const YOUNG_ENTRIES_DAYS: u64 = 30;
/// A turn with something besides its prompt, its summaries, what was pinned or given by hand, and an answer that something pinned
/// of the next turn is about.
const HAS_ENTRIES: &str = "o.kind IN ('tool', 'refused', 'said')
    OR (o.kind = 'turn-end' AND NOT EXISTS (SELECT 1 FROM entries JOIN observations AS next ON next.row = anchor
        WHERE entries.session = o.session AND next.prompt = o.prompt + 1 AND is_pinned = 1))
    OR (o.kind = 'made' AND coalesce(o.data, '') || coalesce((SELECT data FROM payloads WHERE observation = o.row), '')
        LIKE '%\"is_pinned\":false%')
    OR (o.kind = 'entry' AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END IS NOT 'by-hand'
        AND o.row NOT IN (SELECT anchor FROM entries WHERE is_pinned = 1))";

/// What may stay, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    payload_days: Option<u64>,
    entry_days: Option<u64>,
    max_bytes: Option<u64>,
}

impl Limits {
    /// Returns what the settings say; 0 is no limit.
    pub fn of(env: &Env, paths: &Paths) -> Self {
        let settings = Settings::read(env, &paths.hook_settings());
        let number = |name: &str| Some(settings.number(name)).filter(|number| *number > 0);
        Self {
            payload_days: number("journal.keep_payloads_days"),
            entry_days: number("journal.keep_entries_days"),
            max_bytes: number("journal.max_mb").map(|megabytes| megabytes * BYTES_PER_MB),
        }
    }

    /// Returns whether there is any.
    pub fn is_on(&self) -> bool {
        *self != Self::default()
    }

    /// Returns whether the database is larger than it may be.
    fn is_exceeded(&self, store: &Store) -> Result<bool, Error> {
        Ok(self.max_bytes.is_some() && retain::used_bytes(store)? > self.max_bytes.unwrap_or(u64::MAX))
    }

    /// Returns the steps of retention in their order: whose turns, how old, and whether only while there is too much.
    fn steps(&self, now: Timestamp) -> Vec<Step> {
        let before = |days: u64| now.millis().saturating_sub(days.saturating_mul(MILLIS_PER_DAY));
        let aged = |takes: Takes, days: Option<u64>| {
            days.map(|days| Step { takes, before: before(days), is_for_room: false })
        };
        let sized = |takes: Takes, days: u64| {
            self.max_bytes.map(|_| Step { takes, before: before(days), is_for_room: true })
        };
        [
            aged(Takes::Payloads, self.payload_days),
            aged(Takes::Entries, self.entry_days),
            sized(Takes::Payloads, YOUNG_PAYLOADS_DAYS),
            sized(Takes::Entries, YOUNG_ENTRIES_DAYS),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Payloads,
    Entries,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    takes: Takes,
    /// In milliseconds since 1970.
    before: u64,
    is_for_room: bool,
}

impl Step {
    fn turns(&self, connection: &Connection, after: i64, most: usize) -> Result<Vec<(Key, i64)>, Error> {
        let condition = match self.takes {
            Takes::Payloads => retain::HAS_PAYLOAD,
            Takes::Entries => HAS_ENTRIES,
        };
        retain::old_turns(connection, condition, self.before, after, most)
    }
}

/// What a piece of retention did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Turns whose payloads went.
    pub payloads: u64,
    /// Turns whose entries went.
    pub entries: u64,
    /// Whether nothing is left to do.
    pub is_complete: bool,
}

/// Lets go of what the limits say, for about `most_time`.
pub fn release(
    store: &mut Store,
    limits: &Limits,
    now: Timestamp,
    most_time: Duration,
) -> Result<Released, Error> {
    let began = Instant::now();
    let mut released = Released::default();
    // Which entries are pinned is in the tables.
    if !is_caught_up(store)? {
        return Ok(released);
    }
    for step in limits.steps(now) {
        let mut after = 0;
        loop {
            if step.is_for_room && !limits.is_exceeded(store)? {
                break;
            }
            if began.elapsed() >= most_time {
                retain::give_back(store)?;
                return Ok(released);
            }
            let turns = step.turns(store.connection(), after, TURNS_AT_ONCE)?;
            let Some((_, last)) = turns.last() else { break };
            after = *last;
            let derived = store.derived();
            store.write(|transaction| {
                turns.iter().try_for_each(|(turn, _)| match step.takes {
                    Takes::Payloads => release_payloads(transaction, *turn),
                    Takes::Entries => release_entries(transaction, derived, *turn),
                })
            })?;
            match step.takes {
                Takes::Payloads => released.payloads += turns.len() as u64,
                Takes::Entries => released.entries += turns.len() as u64,
            }
        }
    }
    if released.payloads + released.entries > 0 {
        retain::give_back(store)?;
    }
    Ok(Released { is_complete: true, ..released })
}

/// What retention would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// The size of the database, in bytes.
    pub bytes: u64,
    /// Turns whose payloads, and turns whose entries, are older than they may get.
    pub payloads: u64,
    pub entries: u64,
    /// Whether the database is larger than it may be.
    pub is_too_large: bool,
}

/// Returns what retention would do now.
pub fn outlook(store: &Store, limits: &Limits, now: Timestamp) -> Result<Outlook, Error> {
    let mut outlook = Outlook {
        bytes: retain::used_bytes(store)?,
        is_too_large: limits.is_exceeded(store)?,
        ..Outlook::default()
    };
    // Without the tables it is not known what is pinned.
    let steps = if is_caught_up(store)? { limits.steps(now) } else { Vec::new() };
    for step in steps.iter().filter(|step| !step.is_for_room) {
        let turns = step.turns(store.connection(), 0, usize::MAX >> 1)?.len() as u64;
        match step.takes {
            Takes::Payloads => outlook.payloads = turns,
            Takes::Entries => outlook.entries = turns,
        }
    }
    Ok(outlook)
}

fn is_caught_up(store: &Store) -> Result<bool, Error> {
    let mut select = store.connection().prepare_cached(
        "SELECT watermark >= coalesce((SELECT max(row) FROM observations), 0) FROM derived
         WHERE name = 'journal' AND version = ?1",
    )?;
    let is_caught_up = select.query_row([crate::schema::VERSION], |row| row.get(0)).optional()?;
    Ok(is_caught_up.unwrap_or_default())
}

fn release_payloads(transaction: &Transaction<'_>, turn: Key) -> Result<(), Error> {
    keep(transaction, turn)?;
    retain::let_go(transaction, turn).map(drop)
}

/// Deletes what entries were made of, and those that came whole. What was made of the turn stays as far as it is pinned.
fn release_entries(
    transaction: &Transaction<'_>,
    derived: &[&dyn store::Derived],
    turn: Key,
) -> Result<(), Error> {
    // The next prompt may be told with what this turn ended with: `yes, take the second`.
    let leaves_end = !pinned(transaction, (turn.0, turn.1 + 1))?.is_empty();
    let pinned = pinned(transaction, turn)?;
    let before = kept_row(transaction, turn)?;
    let kept = derive::load(transaction, turn)?.map(|turn| kept::keep(&turn)).unwrap_or_default();
    let gone_ids: Vec<String> =
        kept.entries.iter().map(|of| of.made.id.clone()).filter(|id| !pinned.contains(id)).collect();
    let mut gone: Vec<i64> = before.into_iter().collect();
    let mut select = transaction.prepare_cached(
        "SELECT o.row FROM observations AS o
         WHERE o.session = ?1 AND o.prompt = ?2 AND (o.kind IN ('tool', 'refused', 'said') OR (o.kind = 'turn-end' AND NOT ?4)
             OR (o.kind = 'entry'
             AND CASE WHEN json_valid(o.data) THEN o.data ->> '$.source' END IS NOT ?3
             AND o.row NOT IN (SELECT anchor FROM entries WHERE session = ?1 AND is_pinned = 1)))",
    )?;
    for row in select.query_map(params![turn.0, turn.1, BY_HAND, leaves_end], |row| row.get(0))? {
        gone.push(row?);
    }
    let mut select = transaction.prepare_cached(
        "SELECT observation FROM amends WHERE entry IN (SELECT value FROM json_each(?1))
             OR entry IN (SELECT id FROM entries WHERE anchor IN (SELECT value FROM json_each(?2)) AND is_pinned = 0)",
    )?;
    let lists = (serde_json::to_string(&gone_ids)?, serde_json::to_string(&gone)?);
    for row in select.query_map([&lists.0, &lists.1], |row| row.get(0))? {
        gone.push(row?);
    }
    let mut rest = Kept { entries: kept.entries, summaries: kept.summaries };
    rest.entries.retain(|of| pinned.contains(&of.made.id));
    // So that the turn is not looked at again.
    rest.entries.iter_mut().for_each(|of| of.made.is_pinned = true);
    let place = place(transaction, turn)?;
    retain::delete(transaction, derived, &gone)?;
    // Of the answer that stays nothing is made again.
    if leaves_end || !rest.is_empty() { put(transaction, place, &rest) } else { Ok(()) }
}

/// Keeps what was made of a turn, unless that is kept already.
fn keep(transaction: &Transaction<'_>, turn: Key) -> Result<(), Error> {
    if kept_row(transaction, turn)?.is_some() {
        return Ok(());
    }
    let Some(loaded) = derive::load(transaction, turn)? else { return Ok(()) };
    let kept = kept::keep(&loaded);
    if kept.is_empty() {
        return Ok(());
    }
    let place = place(transaction, turn)?;
    put(transaction, place, &kept)
}

fn kept_row(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<Option<i64>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT row FROM observations WHERE session = ?1 AND prompt = ?2 AND kind = ?3 LIMIT 1",
    )?;
    Ok(select.query_row(params![session, prompt, kept::KIND], |row| row.get(0)).optional()?)
}

fn pinned(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<HashSet<String>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT entries.id FROM entries JOIN observations AS o ON o.row = anchor
         WHERE entries.session = ?1 AND o.prompt = ?2 AND is_pinned = 1",
    )?;
    let ids = select.query_map(params![session, prompt], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Where the observation of what was made of a turn belongs.
struct Place {
    platform: String,
    session: String,
    cwd: String,
    /// When the turn ended, in milliseconds since 1970.
    at: u64,
    prompt_id: Option<String>,
    id: String,
}

fn place(transaction: &Transaction<'_>, (session, prompt): Key) -> Result<Option<Place>, Error> {
    let mut select = transaction.prepare_cached(
        "SELECT platform, sessions.id, o.cwd, max(o.at), asked.id FROM observations AS o
         JOIN sessions ON sessions.row = o.session
         LEFT JOIN observations AS asked ON asked.session = o.session AND asked.kind = 'prompt' AND asked.prompt = o.prompt
         WHERE o.session = ?1 AND o.prompt = ?2",
    )?;
    let place = select.query_row(params![session, prompt], |row| {
        let asked: Option<String> = row.get(4)?;
        let (platform, session): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Place {
            platform,
            session,
            cwd: row.get(2)?,
            at: row.get(3)?,
            prompt_id: asked.as_deref().and_then(|id| id.strip_prefix("p:")).map(str::to_owned),
            id: format!("k:{}", asked.unwrap_or_else(|| "start".to_owned())),
        })
    });
    Ok(place.optional()?)
}

fn put(transaction: &Transaction<'_>, place: Option<Place>, kept: &Kept) -> Result<(), Error> {
    let Some(place) = place else { return Ok(()) };
    let data = Data::Kept(capture::Kept { kind: kept::KIND.into(), data: Cow::Owned(to_raw_value(kept)?) });
    let observation = Observation {
        platform: Some(place.platform.into()),
        cwd: place.cwd.into(),
        prompt_id: place.prompt_id.map(Cow::from),
        ..Observation::new(&place.session, &*place.id, place.at, data)
    };
    retain::put(transaction, &observation).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DERIVED, find, read};
    use capture::{Prompt, Spool, ToolCall};
    use serde_json::{Value, json};
    use store::observations::{Drain, Selection};

    const DAY: u64 = MILLIS_PER_DAY;
    const NOW: u64 = 1_000 * DAY;

    struct Bench {
        folder: tempfile::TempDir,
        spool: Spool,
        store: Store,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path().join("spool"));
            let store =
                Store::open(&folder.path().join("wyren.db"), store::TABLES).unwrap().deriving(DERIVED);
            Self { folder, spool, store }
        }

        fn put(&self, id: &str, at: u64, data: Data<'_>) {
            let observation =
                Observation { cwd: "/nowhere/p".into(), ..Observation::new("s", id.to_owned(), at, data) };
            self.spool.append(&observation).unwrap();
        }

        fn kept(&self, kind: &'static str, id: &str, at: u64, data: &Value) {
            let data = Cow::Owned(to_raw_value(data).unwrap());
            self.put(id, at, Data::Kept(capture::Kept { kind: kind.into(), data }));
        }

        /// Records a turn that began so many days ago: a prompt, two edits and a test run, and what was given whole.
        fn turn(&self, name: &str, days: u64) {
            let at = NOW - days * DAY;
            self.put(
                &format!("p:{name}"),
                at,
                Data::Prompt(Prompt { text: format!("do {name}").into(), ..Prompt::default() }),
            );
            for number in 0..2_u64 {
                let input = to_raw_value(&json!({
                    "file_path": format!("/nowhere/p/{name}-{number}.rs"), "old_string": "a", "new_string": "PAYLOAD ".repeat(300),
                }))
                .unwrap();
                let call = ToolCall { tool: "Edit".into(), input: Some(&input), ..ToolCall::default() };
                self.put(&format!("t:{name}-{number}"), at + 1 + number, Data::Tool(call));
            }
            let given = json!({"type": "fix", "title": format!("imported {name}"), "source": "claude-mem"});
            self.kept("entry", &format!("m:{name}"), at + 10, &given);
            let summary = json!({"request": format!("summary of {name}"), "source": "claude-mem"});
            self.kept("summary", &format!("m:{name}"), at + 11, &summary);
        }

        /// Drains to the end: one run derives for a few seconds at most, which a busy machine may spend otherwise.
        fn drain(&mut self) {
            loop {
                Drain::unbounded(&self.spool).run(&mut self.store, Timestamp::now()).unwrap();
                if is_caught_up(&self.store).unwrap() {
                    break;
                }
            }
        }

        /// Drops the tables and makes them anew.
        fn make_anew(&mut self) {
            let forget = "UPDATE derived SET version = 0";
            self.store.write(|transaction| Ok::<_, Error>(transaction.execute(forget, [])?)).unwrap();
            self.drain();
        }

        fn made(&self) -> Vec<Value> {
            let entries = read::entries_where(&self.store, "1 ORDER BY e.id", []).unwrap();
            let summaries = read::summaries_where(&self.store, "1 ORDER BY s.id", []).unwrap();
            let items = entries.into_iter().map(find::Item::Entry);
            items
                .chain(summaries.into_iter().map(find::Item::Summary))
                .map(|item| find::to_json(&item))
                .collect()
        }

        fn titles(&self) -> Vec<String> {
            let title = |item: Value| {
                item["title"].as_str().or(item["request"].as_str()).unwrap_or_default().to_owned()
            };
            let mut titles: Vec<String> = self.made().into_iter().map(title).collect();
            titles.sort();
            titles
        }

        fn release(&mut self, limits: Limits) -> Released {
            let now = Timestamp::from_millis(NOW);
            let released = release(&mut self.store, &limits, now, Duration::from_secs(60)).unwrap();
            self.drain();
            released
        }

        fn payloads(&self) -> i64 {
            let count = "SELECT count(*) FROM payloads WHERE data LIKE '%PAYLOAD%'";
            self.store.connection().query_row(count, [], |row| row.get(0)).unwrap()
        }
    }

    #[test]
    fn what_was_made_of_calls_outlives_their_payloads() {
        let mut bench = Bench::new();
        bench.turn("old", 100);
        bench.turn("new", 1);
        bench.drain();
        let before = bench.made();
        assert_eq!(bench.payloads(), 4);
        let limits = Limits { payload_days: Some(90), ..Limits::default() };
        let expected = Outlook {
            payloads: 1,
            ..outlook(&bench.store, &Limits::default(), Timestamp::from_millis(NOW)).unwrap()
        };
        assert_eq!(outlook(&bench.store, &limits, Timestamp::from_millis(NOW)).unwrap(), expected);
        assert_eq!(bench.release(limits), Released { payloads: 1, entries: 0, is_complete: true });
        assert_eq!((bench.payloads(), bench.made()), (2, before.clone()));
        bench.make_anew();
        assert_eq!(bench.made(), before);
        assert_eq!(
            bench.release(limits),
            Released { is_complete: true, ..Released::default() },
            "once is enough"
        );
    }

    #[test]
    fn what_was_kept_has_its_ids_and_goes_with_anything_of_its_turn() {
        let mut bench = Bench::new();
        bench.turn("old", 100);
        let anchors = [("tool", "t:old-0"), ("tool", "t:gone")];
        let of = |anchor: (&str, &str), id: &str| json!({"anchor": anchor, "made": {"id": id, "title": id, "source": "rules"}});
        let made = json!({"entries": [of(anchors[0], "aaaaaaaa"), of(anchors[1], "bbbbbbbb")]});
        bench.kept(kept::KIND, "k:p:old", NOW - 100 * DAY + 20, &made);
        bench.kept("amend", "a:1", NOW, &json!({"entry": "aaaaaaaa", "title": "amended", "pinned": true}));
        let index =
            json!({"hook": "session-start-recall", "form": "context", "text": "bbbbbbbb  what was done"});
        bench.kept("told", "n:1", NOW, &index);
        bench.drain();
        assert_eq!(bench.titles(), ["amended", "bbbbbbbb", "imported old", "summary of old"]);
        let found = find::by_prefix(&bench.store, "aaaa").unwrap();
        assert!(matches!(&*found, [find::Item::Entry(entry)] if entry.is_pinned), "{found:?}");
        let parts = find::made_of(&bench.store, &found[0]).unwrap();
        let ids: Vec<&str> = parts.of.iter().map(|(_, id)| &**id).collect();
        assert_eq!((&*ids, parts.is_turn), (&["p:old", "t:old-0", "t:old-1", "k:p:old"][..], true));

        let selection = Selection { ids: vec!["old-1".into()], ..Selection::default() };
        let notes = bench.folder.path().join("forgotten");
        let forgotten =
            selection.forget(&mut bench.store, &bench.spool, &notes, Timestamp::from_millis(NOW)).unwrap();
        let kinds: Vec<(&str, u64)> = forgotten.kinds.iter().map(|(kind, count)| (&**kind, *count)).collect();
        assert_eq!(kinds, [("amend", 1), ("made", 1), ("told", 1)]);
        assert!(!bench.titles().contains(&"amended".to_owned()));
    }

    #[test]
    fn entries_go_later_and_summaries_pins_and_what_a_person_gave_never() {
        let mut bench = Bench::new();
        bench.turn("old", 400);
        bench.turn("pinned", 390);
        let at = NOW - 395 * DAY;
        bench.kept("entry", "n:1", at, &json!({"type": "decision", "title": "by hand", "source": "by-hand"}));
        bench.turn("new", 1);
        bench.drain();
        let id = crate::entry_id("claude-code", "s", "entry", "m:pinned");
        bench.kept(
            "amend",
            "a:1",
            NOW,
            &json!({"entry": id, "pinned": true, "title": "imported and pinned"}),
        );
        bench.kept(
            "amend",
            "a:2",
            NOW,
            &json!({"entry": crate::entry_id("claude-code", "s", "entry", "m:old"), "title": "gone, too"}),
        );
        bench.drain();
        let limits = Limits { entry_days: Some(365), ..Limits::default() };
        assert_eq!(bench.release(limits).entries, 2);
        let titles: Vec<String> = bench.titles().into_iter().filter(|title| !title.contains("new")).collect();
        let expected = ["by hand", "imported and pinned", "summary of old", "summary of pinned"];
        assert!(expected.iter().all(|title| titles.iter().any(|found| found == title)), "{titles:?}");
        assert!(!titles.iter().any(|title| title == "imported old" || title == "gone, too"), "{titles:?}");
        let before = bench.made();
        bench.make_anew();
        assert_eq!(bench.made(), before);
        let left = "SELECT count(*) FROM observations WHERE kind = 'tool' OR id IN ('m:old', 'a:2') AND kind <> 'summary'";
        let left: i64 = bench.store.connection().query_row(left, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 2, "the calls of the new turn");
        assert_eq!(bench.release(limits).entries, 0, "once is enough");
    }

    #[test]
    fn a_database_that_is_too_large_loses_the_oldest_payloads_until_it_is_not() {
        let mut bench = Bench::new();
        for number in 0..400 {
            bench.turn(&format!("turn{number}"), 500 - number);
        }
        bench.drain();
        let before = bench.made();
        let bytes = retain::used_bytes(&bench.store).unwrap();
        let limits = Limits { max_bytes: Some(bytes * 3 / 4), ..Limits::default() };
        let released = bench.release(limits);
        assert!(released.is_complete && released.payloads > 50 && released.entries == 0, "{released:?}");
        assert_eq!(bench.made(), before);
        let youngest = "SELECT count(*) FROM payloads JOIN observations AS o ON o.row = observation WHERE o.id = 't:turn399-0'";
        let youngest: i64 = bench.store.connection().query_row(youngest, [], |row| row.get(0)).unwrap();
        assert_eq!(youngest, 1);
        assert!(bench.folder.path().join("wyren.db").exists());
    }

    /// Records a turn of a prompt, an edit and an answer.
    fn says(bench: &Bench, name: &str, at: u64, prompt: &str, answer: &str) {
        let asked = Prompt { text: prompt.to_owned().into(), ..Prompt::default() };
        bench.put(&format!("p:{name}"), at, Data::Prompt(asked));
        let input = to_raw_value(&json!({
            "file_path": format!("/nowhere/p/{name}.rs"), "old_string": "a", "new_string": "PAYLOAD ".repeat(300),
        }))
        .unwrap();
        let call = ToolCall { tool: "Edit".into(), input: Some(&input), ..ToolCall::default() };
        bench.put(&format!("t:{name}"), at + 1, Data::Tool(call));
        bench.kept("turn-end", &format!("e:{name}"), at + 2, &json!({"outcome": "done", "text": answer}));
    }

    const OFFER: &str = "The sessions are slow. I'd suggest using Redis for the tokens of ACME, since it expires keys by itself.";

    fn everything(bench: &Bench) -> String {
        let texts = "SELECT group_concat(coalesce(o.data, '') || coalesce(p.data, ''), char(10)) FROM observations AS o
             LEFT JOIN payloads AS p ON p.observation = o.row";
        let made = "SELECT group_concat(title || detail, char(10)) FROM entries";
        let summaries = "SELECT group_concat(request, char(10)) FROM summaries";
        let all = [texts, made, summaries].map(|sql| {
            let text: Option<String> = bench.store.connection().query_row(sql, [], |row| row.get(0)).unwrap();
            text.unwrap_or_default()
        });
        all.join("\n")
    }

    #[test]
    fn what_is_forgotten_is_not_quoted_by_what_was_kept_or_shown_of_the_next_turn() {
        let long = format!("Keep Postgres. {}", "The reasons are in the notes of the last week. ".repeat(20));
        // Whether payloads were let go, the next prompt, and whether what was kept of its turn stays.
        for (is_old, next, is_left) in
            [(true, "no, keep Postgres", false), (false, "no, keep Postgres", false), (true, &*long, true)]
        {
            let mut bench = Bench::new();
            let at = NOW - 100 * DAY;
            says(&bench, "offer", at, "why are the sessions slow?", OFFER);
            says(
                &bench,
                "next",
                at + 1_000,
                next,
                "We decided: Postgres keeps the tokens, as it did before.",
            );
            says(&bench, "third", at + 2_000, "write it down", "It is written down.");
            bench.drain();
            if is_old {
                bench.release(Limits { payload_days: Some(90), ..Limits::default() });
                assert_eq!(bench.payloads(), 0);
            }
            let quoting = "SELECT count(*) FROM entries JOIN observations AS o ON o.row = turn
                 WHERE o.id = 'p:next' AND title || detail LIKE '%ACME%'";
            let quoting: i64 = bench.store.connection().query_row(quoting, [], |row| row.get(0)).unwrap();
            assert_eq!(quoting > 0, !is_left, "{next}");
            let shown =
                read::entries_where(&bench.store, "e.title LIKE '%Postgres%' ORDER BY e.at, e.id", [])
                    .unwrap();
            let pinned = shown.iter().find(|entry| entry.title.contains("as it did")).unwrap().id.clone();
            let index = json!({"hook": "session-start-recall", "form": "context", "text": format!("{}  {}", shown[0].id, shown[0].title)});
            bench.kept("told", "n:1", NOW, &index);
            bench.kept("amend", "a:1", NOW, &json!({"entry": pinned, "pinned": true}));
            bench.drain();
            let selection = Selection {
                ids: ["p:offer", "t:offer", "e:offer"].map(str::to_owned).to_vec(),
                ..Selection::default()
            };
            let notes = bench.folder.path().join("forgotten");
            selection.forget(&mut bench.store, &bench.spool, &notes, Timestamp::from_millis(NOW)).unwrap();
            bench.drain();
            let left = everything(&bench);
            assert!(!left.contains("ACME"), "{next}: {left}");
            let found = read::entries_where(&bench.store, "e.is_pinned = 1", []).unwrap();
            assert_eq!(found.len(), 1, "what the turn itself decided stays pinned");
            let kept = |id: &str| {
                let count = "SELECT count(*) FROM observations WHERE kind = 'made' AND id = ?1";
                bench.store.connection().query_row(count, [id], |row| row.get::<_, i64>(0)).unwrap() > 0
            };
            assert_eq!((kept("k:p:next"), kept("k:p:third")), (is_left, is_old), "{next}");
        }
    }

    #[test]
    fn what_is_pinned_outlives_the_answer_that_it_is_about() {
        let mut bench = Bench::new();
        let at = NOW - 400 * DAY;
        says(&bench, "offer", at, "why are the sessions slow?", OFFER);
        let asked = Prompt { text: "no, keep Postgres".into(), ..Prompt::default() };
        bench.put("p:next", at + 1_000, Data::Prompt(asked));
        bench.kept("turn-end", "e:next", at + 1_001, &json!({"outcome": "done", "text": "Postgres stays."}));
        bench.drain();
        let decided = read::entries_where(&bench.store, "e.title LIKE '%→ no, keep Postgres'", []).unwrap();
        assert_eq!(decided.len(), 1, "{:?}", bench.titles());
        let asked = Prompt { text: "pin that".into(), ..Prompt::default() };
        bench.put("p:last", NOW - 1, Data::Prompt(asked));
        bench.kept("amend", "a:1", NOW, &json!({"entry": decided[0].id, "pinned": true}));
        bench.drain();
        let limits = Limits { entry_days: Some(365), ..Limits::default() };
        assert_eq!(bench.release(limits).entries, 2);
        bench.make_anew();
        let left = read::entries_where(&bench.store, "e.title NOT LIKE '%pin that%'", []).unwrap();
        let left: Vec<(&str, &str)> = left.iter().map(|entry| (&*entry.id, &*entry.title)).collect();
        assert_eq!(left, [(&*decided[0].id, &*decided[0].title)]);
        assert_eq!(bench.release(limits).entries, 0, "once is enough");
    }
}
