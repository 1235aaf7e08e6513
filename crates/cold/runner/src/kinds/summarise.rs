//! `summarise`: a model's summary of a session that has no team memory, once the user has switched that on. With a team memory
//! the summary comes with the distillation's one question.

use super::distill::Named;
use crate::handler::{Context, Handler, Progress};
use base::error::with_causes;
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp};
use capture::Rules;
use distill::Error;
use place::Folder;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use store::Store;
use store::jobs::{self, Failure, NewJob};
use store::rusqlite::params;
use transcript::Mark;

const KIND: &str = "summarise";

/// How long such a job may take beside the model's answer.
const LIMIT_WITHOUT_ANSWER: Duration = Duration::from_secs(120);

/// Only sessions that something happened in within this time are looked at: two days.
const RECENT_MILLIS: u64 = 2 * 86_400_000;

/// What the job is about.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    session: String,
    transcript: String,
    cwd: String,
    /// Where the last summary ended; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Mark>,
}

/// Does jobs of this kind.
pub(super) struct SummariseSession;

impl Handler for SummariseSession {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn limit(&self, settings: &Settings) -> Duration {
        LIMIT_WITHOUT_ANSWER + Duration::from_secs(settings.number("model.timeout_s"))
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let payload: Payload = context.payload()?;
        if !distill::wants_summaries(&context.paths) {
            return Ok(Progress::Needless { reason: "journal.model is off".to_owned() });
        }
        let session = Named { session: &payload.session, transcript: &payload.transcript, cwd: &payload.cwd }
            .open(context, &());
        match session.summarise(payload.since.as_ref()) {
            // A missing transcript does not come back.
            Ok(_) | Err(Error::NoTranscript(_)) => Ok(Progress::Done),
            Err(error) => Err(Failure::Again(with_causes(&error))),
        }
    }
}

/// Queues a job for every session without a team memory that had enough turns since its last summary, or ended.
pub(crate) fn request_due(
    store: &mut Store,
    env: &Env,
    paths: &Paths,
    now: Timestamp,
) -> Result<(), store::Error> {
    if !distill::wants_summaries(paths) {
        return Ok(());
    }
    let settings = Settings::read(env, &paths.hook_settings());
    let rules = Rules::of(&settings, env);
    for due in due(store, settings.number("distill.turns"), now)? {
        let cwd = Path::new(&due.cwd);
        // With a team memory the distillation brings the summary; where recording was switched off since, it would be lost.
        if Folder::find(cwd).is_some() || !rules.records_in(cwd) {
            continue;
        }
        let payload = serde_json::to_string(&due)?;
        let project = Project::of(cwd).key;
        let job = NewJob {
            project: Some(&project),
            dedup_key: Some(&due.session),
            max_attempts: 2,
            ..NewJob::new(KIND, &payload)
        };
        jobs::enqueue(store, &job, now)?;
    }
    Ok(())
}

fn due(store: &Store, turns: u64, now: Timestamp) -> Result<Vec<Payload>, store::Error> {
    let mut select = store.connection().prepare_cached(
        "WITH looked AS (
             SELECT s.row, s.id, s.cwd, s.ended_at, (
                 SELECT o.row FROM observations AS o
                 WHERE o.session = s.row AND o.kind IN ('summary', 'summary-mark') AND json_valid(o.data)
                     AND o.data ->> '$.mark' IS NOT NULL
                 ORDER BY o.at DESC, o.row DESC LIMIT 1) AS last
             FROM sessions AS s WHERE s.last_at >= ?1 AND s.platform = 'claude-code'
         ), ends AS (
             SELECT looked.*, last.data ->> '$.mark' AS mark,
                 coalesce(last.data ->> '$.looked_at', last.at, 0) AS since, count(*) AS turns,
                 max(o.at), o.data ->> '$.transcript' AS transcript
             FROM looked LEFT JOIN observations AS last ON last.row = looked.last
             JOIN observations AS o ON o.session = looked.row AND o.kind = 'turn-end' AND json_valid(o.data)
                 AND o.at > coalesce(last.data ->> '$.looked_at', last.at, 0)
             GROUP BY looked.row
         )
         SELECT id, transcript, cwd, mark FROM ends
         WHERE transcript IS NOT NULL AND (turns >= ?2 OR ended_at > since)",
    )?;
    let since = i64::try_from(now.millis().saturating_sub(RECENT_MILLIS)).unwrap_or(i64::MAX);
    let rows = select.query_map(params![since, turns], |row| {
        let mark: Option<String> = row.get(3)?;
        Ok(Payload {
            session: row.get(0)?,
            transcript: row.get(1)?,
            cwd: row.get(2)?,
            since: mark.and_then(|mark| serde_json::from_str(&mark).ok()),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{Data, Kept, Observation, Spool};
    use serde_json::{Value, json};
    use std::borrow::Cow;
    use store::observations::Drain;

    struct Bench {
        folder: tempfile::TempDir,
        paths: Paths,
        store: Store,
    }

    impl Bench {
        fn new(config: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
            std::fs::create_dir_all(paths.config_file().parent().unwrap()).unwrap();
            std::fs::write(paths.config_file(), config).unwrap();
            let store = journal::open_store(&paths).unwrap();
            Self { folder, paths, store }
        }

        fn put(&self, kind: &str, at: u64, data: &Value) {
            let data = serde_json::value::to_raw_value(data).unwrap();
            let data = Data::Kept(Kept { kind: kind.into(), data: Cow::Owned(data) });
            let mut observation = Observation::new("s", format!("x:{at}"), at, data);
            observation.cwd = self.folder.path().to_string_lossy().into_owned().into();
            Spool::new(self.paths.spool()).append(&observation).unwrap();
        }

        fn jobs(&mut self) -> Vec<Payload> {
            let now = Timestamp::from_millis(10_000);
            let spool = Spool::new(self.paths.spool());
            Drain::unbounded(&spool).run(&mut self.store, now).unwrap();
            request_due(&mut self.store, &Env::fixed::<String, String>([]), &self.paths, now).unwrap();
            let jobs = jobs::list(&self.store).unwrap();
            jobs.iter()
                .filter(|job| job.kind == KIND)
                .map(|job| serde_json::from_str(&job.payload).unwrap())
                .collect()
        }
    }

    const ON: &str = "[journal]\nmodel = \"on\"\n[distill]\nturns = 2\n";

    #[test]
    fn a_session_is_summarised_after_enough_turns_and_from_where_the_last_summary_ended() {
        let mut bench = Bench::new(ON);
        config::flatten_for_hooks(&bench.paths).unwrap();
        let end = json!({"outcome": "done", "text": "x".repeat(5_000), "transcript": "/t/s.jsonl"});
        bench.put("turn-end", 1_000, &end);
        assert_eq!(bench.jobs().len(), 0);
        bench.put("turn-end", 2_000, &end);
        let jobs = bench.jobs();
        assert_eq!(jobs.len(), 1);
        assert_eq!((jobs[0].transcript.as_str(), &jobs[0].since), ("/t/s.jsonl", &None));
        bench.put("summary", 2_500, &json!({"request": "r", "mark": {"uuid": "u", "turn": 4, "offset": 9}}));
        let before = jobs::list(&bench.store).unwrap()[0].id;
        jobs::drop(&mut bench.store, before).unwrap();
        assert_eq!(bench.jobs().len(), 0);
        bench.put("session-end", 3_000, &json!({"reason": "other"}));
        bench.put("turn-end", 2_900, &end);
        let jobs = bench.jobs();
        assert_eq!(jobs.len(), 1, "what an ended session has left is summarised, too");
        assert_eq!(jobs[0].since.as_ref().unwrap().uuid.as_deref(), Some("u"));
    }

    #[test]
    fn a_turn_that_ended_after_its_last_message_and_before_it_was_looked_at_is_not_due_again() {
        let mut bench = Bench::new(ON);
        let end = json!({"outcome": "done", "text": "x", "transcript": "/t/s.jsonl"});
        // What was summarised was written before the turn ended.
        let looked =
            json!({"request": "r", "mark": {"uuid": "u", "turn": 4, "offset": 9}, "looked_at": 2_500});
        bench.put("summary", 1_990, &looked);
        bench.put("turn-end", 1_000, &end);
        bench.put("turn-end", 2_000, &end);
        bench.put("session-end", 3_000, &json!({"reason": "other"}));
        assert_eq!(bench.jobs().len(), 0);
        bench.put("turn-end", 2_600, &end);
        assert_eq!(bench.jobs().len(), 1);
    }

    #[test]
    fn without_the_users_word_with_a_team_memory_and_where_nothing_is_recorded_there_is_no_job() {
        let end = json!({"outcome": "done", "text": "x", "transcript": "/t/s.jsonl"});
        let mut off = Bench::new("[distill]\nturns = 1\n");
        off.put("turn-end", 1_000, &end);
        assert_eq!(off.jobs().len(), 0);

        let mut shared = Bench::new(ON);
        std::fs::create_dir_all(shared.folder.path().join(".wyren")).unwrap();
        std::fs::create_dir_all(shared.folder.path().join(".git")).unwrap();
        std::fs::write(shared.folder.path().join(".wyren/memory.md"), "# Wyren Memory\n").unwrap();
        shared.put("turn-end", 1_000, &end);
        shared.put("turn-end", 2_000, &end);
        assert_eq!(shared.jobs().len(), 0);

        let mut paused = Bench::new(&format!("{ON}[capture]\nenabled = false\n"));
        config::flatten_for_hooks(&paused.paths).unwrap();
        paused.put("turn-end", 1_000, &end);
        paused.put("turn-end", 2_000, &end);
        assert_eq!(paused.jobs().len(), 0);
    }
}
