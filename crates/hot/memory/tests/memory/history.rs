//! What left the memory stays findable.

use base::Timestamp;
use memory::diff;
use memory::history::{self, History};

use crate::decisions;

fn removed(old: &[&str], new: &[&str], millis: u64) -> String {
    let delta = diff(&decisions(old), &decisions(new));
    history::to_lines(&history::removals(&delta, Timestamp::from_millis(millis), "Ada", "distilled"))
}

#[test]
fn a_removal_says_when_by_whom_why_and_what_replaced_it() {
    let lines = removed(
        &["- use X daily [session aaaaaaaa, turn 1]", "- zeta"],
        &["- use X weekly"],
        1_794_796_001_123,
    );
    assert_eq!(
        lines,
        "{\"v\":1,\"when\":\"2026-11-16T02:26:41.123Z\",\"by\":\"Ada\",\"why\":\"distilled\",\"section\":\"Decisions\",\"text\":\"zeta\"}\n\
         {\"v\":1,\"when\":\"2026-11-16T02:26:41.123Z\",\"by\":\"Ada\",\"why\":\"distilled\",\"section\":\"Decisions\",\"text\":\"use X daily\",\
         \"provenance\":\"[session aaaaaaaa, turn 1]\",\"replaced_by\":\"use X weekly\"}\n"
    );
    let history = History::parse(&lines);
    assert_eq!(history.render(), lines);
    assert_eq!(
        history::render_for_people(&history.search("daily")),
        "2026-11-16T02:26:41.123Z by Ada (distilled)\n  Decisions: use X daily [session aaaaaaaa, turn 1]\n  → use X weekly\n"
    );
}

#[test]
fn search_finds_by_all_words_newest_first() {
    let lines =
        removed(&["- Prüfung mit Postgres"], &[], 1_000) + &removed(&["- Prüfung mit Redis"], &[], 2_000);
    let history = History::parse(&lines);
    let found =
        |query: &str| history.search(query).iter().map(|removal| removal.text.as_str()).collect::<Vec<_>>();
    assert_eq!(found("PRÜFUNG"), ["Prüfung mit Redis", "Prüfung mit Postgres"]);
    assert_eq!(found("postgres prüfung ada"), ["Prüfung mit Postgres"]);
    assert_eq!(found("prüfung mysql"), [""; 0]);
    assert_eq!(found(" ").len(), 2);
}

#[test]
fn histories_of_two_clones_become_one_set() {
    let (one, two, three) =
        (removed(&["- a"], &[], 3_000), removed(&["- b"], &[], 1_000), removed(&["- c"], &[], 2_000));
    let ours = History::parse(&(one.clone() + &two));
    let theirs = History::parse(&(two.clone() + &three));
    let merged = ours.clone().merge(theirs.clone());
    assert_eq!(merged.render(), two + &three + &one);
    assert_eq!(theirs.merge(ours), merged);
    assert_eq!(merged.clone().merge(merged.clone()), merged);
}

#[test]
fn what_a_later_version_wrote_or_a_crash_tore_is_kept() {
    let later = "{\"v\":2,\"when\":\"2026-11-16T00:00:00Z\",\"by\":\"Bob\",\"why\":\"\",\"section\":\"Decisions\",\"text\":\"x\",\"seen\":[1]}\n";
    let history = History::parse(&format!("{later}{{\"v\":1,\"when\"\n\n"));
    assert_eq!((history.removals.len(), history.unreadable.len()), (1, 1));
    assert_eq!(history.clone().merge(History::default()).render(), format!("{later}{{\"v\":1,\"when\"\n"));
}

#[test]
fn a_secret_does_not_go_into_the_history() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    assert!(!removed(&[&format!("- token {token}")], &[], 0).contains(&token));
}
