//! What a distillation does when nothing gets in its way.

use crate::desk::{Desk, NOW, SESSION, add, answer};
use base::Timestamp;
use base::lock::Lock;
use distill::{Error, Outcome, Way, session_of};
use memory::Memory;
use schedule::Hold;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

const DECISIONS: &str = "Decisions";

/// A word of which many make a long message about nothing.
const LONG: &str = "word ";

#[test]
fn what_a_session_decided_is_in_the_memory_afterwards() {
    let desk = Desk::new(&[answer(&[add(DECISIONS, "Postgres is the database", 1)])]);
    desk.decide("Postgres");
    let report = desk.distill().unwrap();
    assert!(matches!(report.outcome, Outcome::Distilled(Way::Model(_))), "{report:?}");
    let memory = desk.memory();
    let tag = format!("[session 720ff4aa, turn 1, by {}, 2026-11-16]", desk.author());
    assert!(memory.contains(&format!("- Postgres is the database {tag}")), "{memory}");

    let watermark = desk.watermark();
    assert!(!watermark.distiller_running && watermark.distiller_pid.is_none());
    assert_eq!(watermark.last_distilled_at, Some(NOW));
    assert_eq!(watermark.last_transcript.as_deref(), desk.transcript(SESSION).to_str());
    assert_eq!(watermark.last_uuid.as_deref(), Some("00000000-0000-4000-8000-000000000002"));
    let session = watermark.session(SESSION).unwrap();
    let length = fs::metadata(desk.transcript(SESSION)).unwrap().len();
    assert_eq!((session.message, session.offset, session.turns), (2, Some(length), 0));
    assert_eq!((desk.intents(), desk.questions()), (0, 1));
    let log = desk.log();
    for line in [
        "[wyren] tier0 score=",
        " threshold=3 passes=true",
        "slice_chars=",
        "distiller: wrote ",
        "last_uuid=",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

// What Wyren must do better, line 20: provenance carries the true turn number of the transcript and the author.
#[test]
fn message_numbers_are_true_in_later_slices() {
    let desk = Desk::new(&[
        answer(&[add(DECISIONS, "Postgres is the database", 1)]),
        answer(&[add(DECISIONS, "Sessions live in Redis", 3)]),
    ]);
    desk.decide("Postgres");
    desk.distill().unwrap();
    desk.decide("Redis for sessions");
    desk.distill().unwrap();
    let entry = format!("- Sessions live in Redis [session 720ff4aa, turn 3, by {},", desk.author());
    assert!(desk.memory().contains(&entry), "{}", desk.memory());
    assert_eq!(desk.message(SESSION), 4);
}

// What Wyren must do better, line 9: each session has its own watermark.
#[test]
fn sessions_of_one_clone_are_distilled_each_from_its_own_mark() {
    let other = "aaaaaaaa-0000-4000-8000-000000000000";
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    desk.say_in(other, "We decided to use Redis. Agreed, that is settled on.");
    desk.distill().unwrap();
    desk.distill_at(other, NOW).unwrap();
    assert_eq!((desk.message(SESSION), desk.message(other)), (2, 1));
    desk.decide("Kafka");
    desk.distill().unwrap();
    assert_eq!((desk.message(SESSION), desk.message(other)), (4, 1));
    assert!(desk.lines.borrow().iter().all(|line| !line.contains("empty transcript slice")));
    assert_eq!(desk.distill_at(other, NOW).unwrap().outcome, Outcome::Empty);
    assert_eq!(desk.questions(), 3);
}

// What Wyren must do better, line 11: the session that produced a distillation does not get its own bullets echoed.
#[test]
fn what_a_session_distilled_is_no_news_to_itself() {
    let desk = Desk::new(&[answer(&[add(DECISIONS, "Postgres is the database", 1)])]);
    let before = Memory::parse(&desk.memory());
    desk.decide("Postgres");
    desk.distill().unwrap();
    let mut delta = memory::diff(&before, &Memory::parse(&desk.memory()));
    assert!(!delta.is_empty());
    delta.forget_session(SESSION);
    assert!(delta.is_empty(), "{delta:?}");
}

#[test]
fn chatter_costs_no_question_and_is_not_looked_at_again() {
    let desk = Desk::new(&[answer(&[])]);
    desk.say("What time is it?");
    desk.reply("I cannot tell.");
    assert_eq!(desk.distill().unwrap().outcome, Outcome::LowSignal);
    assert_eq!((desk.questions(), desk.message(SESSION)), (0, 2));
    let log = desk.log();
    assert!(log.contains("[wyren] tier0 score=0 threshold=3 passes=false"), "{log}");
    assert!(log.contains("[wyren] tier0 reasons: "), "{log}");
    assert!(log.contains("distiller: low-signal session; skipping distillation"), "{log}");
    assert!(!desk.watermark().distiller_running);
    assert_eq!(desk.distill().unwrap().outcome, Outcome::Empty);
    assert!(desk.log().contains("empty transcript slice; nothing to distill"));
}

#[test]
fn without_a_model_clear_decisions_are_kept_all_the_same() {
    let desk = Desk::new(&[json!({"do": "crash"})]);
    desk.say(
        "Let's go with dark mode as the default theme for the dashboard. We decided that, it is agreed.",
    );
    let report = desk.distill().unwrap();
    assert!(matches!(report.outcome, Outcome::Distilled(Way::Extraction(_))), "{report:?}");
    assert!(desk.memory().to_lowercase().contains("dark mode"), "{}", desk.memory());
    assert!(desk.log().contains("model=none (no answer from the model"), "{}", desk.log());
}

#[test]
fn one_distillation_at_a_time() {
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    let lock = Lock::exclusive(&desk.state().join("distill.lock"), Duration::ZERO).unwrap();
    assert!(matches!(desk.distill(), Err(Error::Busy)));
    assert!(!desk.state().join("watermark.json").exists());
    drop(lock);
    desk.distill().unwrap();
}

#[cfg(unix)]
#[test]
fn a_running_distiller_of_the_node_version_is_waited_for_and_a_dead_one_is_not() {
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let node = json!({"distiller_running": true, "distiller_pid": child.id()});
    fs::write(desk.state().join("watermark.json"), node.to_string()).unwrap();
    assert!(matches!(desk.distill(), Err(Error::Busy)));
    assert_eq!(desk.watermark().distiller_pid, Some(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    desk.distill().unwrap();
    assert!(!desk.watermark().distiller_running);
}

#[test]
fn a_transcript_that_is_gone_leaves_nothing_to_wait_for() {
    let desk = Desk::new(&[answer(&[])]);
    let mut hold = Hold::take(&desk.state(), Duration::ZERO).unwrap().unwrap();
    let transcript = desk.transcript(SESSION).to_str().unwrap().to_owned();
    hold.watermark.session_mut(SESSION, Some(&transcript)).turns = 2;
    hold.watermark.set_running(None);
    hold.write(Timestamp::from_millis(NOW)).unwrap();
    drop(hold);
    assert!(matches!(desk.distill(), Err(Error::NoTranscript(_))));
    let watermark = desk.watermark();
    assert!(!watermark.distiller_running);
    assert_eq!(watermark.session(SESSION).unwrap().turns, 0);
    assert!(desk.log().contains("distiller error: there is no transcript at"), "{}", desk.log());
}

#[test]
fn turns_that_end_while_it_runs_still_count() {
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    let set = |turns: u64| {
        let mut hold = Hold::take(&desk.state(), Duration::from_secs(5)).unwrap().unwrap();
        hold.watermark.session_mut(SESSION, None).turns += turns;
        hold.watermark.turns_since_distill += turns;
        hold.write(Timestamp::from_millis(NOW)).unwrap();
    };
    set(2);
    desk.distill_through(&|_| {
        if desk.watermark().session(SESSION).unwrap().turns == 2 {
            set(1);
        }
    })
    .unwrap();
    assert_eq!(
        (desk.watermark().session(SESSION).unwrap().turns, desk.watermark().turns_since_distill),
        (1, 1)
    );
}

#[test]
fn what_is_too_long_for_one_slice_is_distilled_slice_by_slice() {
    let desk = Desk::new(&[
        answer(&[add(DECISIONS, "Postgres is the database", 1)]),
        answer(&[add(DECISIONS, "Sessions live in Redis", 31)]),
    ]);
    desk.decide("Postgres");
    for _ in 0..14 {
        desk.say(&LONG.repeat(1_600));
        desk.reply(&LONG.repeat(1_600));
    }
    desk.decide("Redis for sessions");
    let report = desk.distill().unwrap();
    assert!(matches!(report.outcome, Outcome::Distilled(Way::Model(_))), "{report:?}");
    let memory = desk.memory();
    assert!(
        memory.contains("Postgres is the database") && memory.contains("Sessions live in Redis"),
        "{memory}"
    );
    assert_eq!((desk.questions(), desk.message(SESSION), report.applied.len()), (2, 32, 2));
    assert!(!desk.watermark().distiller_running && desk.log().contains("too long for one slice"));
}

#[test]
fn what_is_too_long_for_one_distillation_waits_for_the_next() {
    const MESSAGES: u64 = 66;
    let desk = Desk::new(&[answer(&[])]);
    for _ in 0..MESSAGES {
        desk.say(&format!("We decided this: {}", LONG.repeat(1_580)));
    }
    desk.distill().unwrap();
    let watermark = desk.watermark();
    let session = watermark.session(SESSION).unwrap();
    assert!(session.message < MESSAGES && session.turns == 1 && !watermark.distiller_running, "{session:?}");
    assert_eq!(desk.questions(), 4);
    desk.distill().unwrap();
    assert_eq!((desk.message(SESSION), desk.watermark().session(SESSION).unwrap().turns), (MESSAGES, 0));
}

#[test]
fn a_worker_that_is_asked_to_stop_ends_between_two_slices() {
    const MESSAGES: u64 = 40;
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    for _ in 2..MESSAGES {
        desk.say(&LONG.repeat(1_600));
    }
    let report = desk.distill_stopping().unwrap();
    let watermark = desk.watermark();
    let session = watermark.session(SESSION).unwrap();
    assert!(report.has_more && session.message < MESSAGES && session.turns == 1, "{session:?}");
    assert_eq!((desk.questions(), watermark.distiller_running), (1, false));
    assert!(!desk.distill().unwrap().has_more);
    assert_eq!(desk.message(SESSION), MESSAGES);
}

#[test]
fn where_nothing_is_found_no_memory_is_made() {
    let desk = Desk::new(&[answer(&[])]);
    fs::remove_file(desk.memory_file()).unwrap();
    desk.decide("Postgres");
    assert!(matches!(desk.distill().unwrap().outcome, Outcome::Distilled(_)));
    assert!(!desk.memory_file().exists());
}

#[cfg(unix)]
#[test]
fn a_folder_of_state_or_of_intents_that_is_a_link_is_not_written_in() {
    for name in [".wyren/state", ".wyren/state/intents"] {
        let desk = Desk::new(&[answer(&[add(DECISIONS, "Postgres is the database", 1)])]);
        desk.decide("Postgres");
        let (link, elsewhere) = (desk.app().join(name), desk.app().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        let _ = fs::remove_dir(&link);
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        assert!(desk.distill().is_err(), "{name}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_distillation_begins_at_the_record_that_the_node_version_noted() {
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    let node = json!({
        "turns_since_distill": 0, "last_uuid": "00000000-0000-4000-8000-000000000002",
        "last_transcript": desk.transcript(SESSION),
    });
    fs::write(desk.state().join("watermark.json"), node.to_string()).unwrap();
    assert_eq!(desk.distill().unwrap().outcome, Outcome::Empty);
    desk.decide("Redis");
    desk.distill().unwrap();
    assert_eq!((desk.message(SESSION), desk.questions()), (4, 1));
}

// A power cut may empty the watermark, which is not synced to the disk.
#[test]
fn a_lost_watermark_does_not_bring_old_messages_back() {
    let desk = Desk::new(&[answer(&[])]);
    desk.decide("Postgres");
    desk.distill().unwrap();
    fs::write(desk.state().join("watermark.json"), "").unwrap();
    assert_eq!(desk.distill().unwrap().outcome, Outcome::Empty);
    assert_eq!(desk.questions(), 1);
}

#[test]
fn the_flag_stays_for_a_moment_however_quick_the_distillation_is() {
    let desk = Desk::new(&[answer(&[])]);
    desk.say("What time is it?");
    let (asked, now) = (Instant::now(), Timestamp::now());
    let mut hold = Hold::take(&desk.state(), Duration::ZERO).unwrap().unwrap();
    hold.watermark.session_mut(SESSION, None).requested_at = now.millis();
    hold.write(now).unwrap();
    drop(hold);
    desk.distill_at(SESSION, now.millis()).unwrap();
    assert!(asked.elapsed() >= Duration::from_millis(290), "{:?}", asked.elapsed());
    assert!(!desk.watermark().distiller_running);
}

#[test]
fn a_private_prompt_and_what_is_done_under_it_reach_neither_the_model_nor_the_memory() {
    let desk = Desk::new(&[json!({"do": "crash"})]);
    desk.say("<private>We decided to use Hunter for the merger. Agreed, settled on.</private>");
    assert_eq!(desk.distill().unwrap().outcome, Outcome::Empty);
    // The reply comes after the slice that ended with the prompt.
    desk.reply("We decided to go with Hunter for the merger, that is settled on.");
    assert_eq!(desk.distill().unwrap().outcome, Outcome::Empty);
    desk.say(
        "Let's go with dark mode as the default theme for the dashboard. We decided that, it is agreed.",
    );
    desk.distill().unwrap();
    let memory = desk.memory();
    assert!(memory.contains("turn 3,") && memory.to_lowercase().contains("dark mode"), "{memory}");
    assert!(!memory.contains("Hunter") && !desk.log().contains("Hunter"), "{memory}");
    assert_eq!(desk.message(SESSION), 3);
}

#[test]
fn a_transcript_names_its_session_in_its_records_or_by_its_name() {
    let desk = Desk::new(&[]);
    desk.say("hello");
    fs::rename(desk.transcript(SESSION), desk.transcript("other-name")).unwrap();
    assert_eq!(session_of(&desk.transcript("other-name")).as_deref(), Some(SESSION));
    fs::write(desk.transcript("bare"), "{\"type\":\"summary\"}\nnonsense\n").unwrap();
    assert_eq!(session_of(&desk.transcript("bare")).as_deref(), Some("bare"));
    assert_eq!(session_of(&desk.transcript("missing")), None);
}
