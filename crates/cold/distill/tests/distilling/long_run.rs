//! A quarter of days: what leaves the memory leaves by the rules, and what was superseded can be found.

use crate::desk::{Desk, NOW, SESSION, add, answer};
use base::Timestamp;
use memory::history::History;
use serde_json::{Value, json};

const DAYS: u64 = 75;
const DAY_MILLIS: u64 = 86_400_000;

#[test]
fn months_of_days_take_two_old_entries_out_at_a_time_and_keep_every_superseded_decision_findable() {
    let areas =
        ["billing", "search", "login", "export", "mobile", "queue", "cache", "metrics", "docs", "build"];
    let mut script: Vec<Value> = Vec::new();
    for day in 0..DAYS {
        let turn = day * 2 + 1;
        let mut operations = vec![
            add(
                "Decisions",
                &format!("Release {day} of the planner ships with toolchain number {day}"),
                turn,
            ),
            add(
                "Live workarounds",
                &format!("{} day {day}: retries are switched off on purpose", areas[day as usize % 10]),
                turn,
            ),
            add(
                "Open questions",
                &format!("Who owns the {} dashboard of week {day}?", areas[day as usize % 10]),
                turn,
            ),
        ];
        if day > 0 {
            let before = day - 1;
            operations[0] = json!({
                "do": "replace", "section": "Decisions",
                "entry": format!("Release {before} of the planner ships with toolchain number {before}"),
                "text": format!("Release {day} of the planner ships with toolchain number {day}"),
                "why": "a new release", "confidence": 0.9, "turns": [turn],
            });
        }
        script.push(answer(&operations));
    }
    let desk = Desk::new(&script);
    let (mut known, mut made_room) = (0, 0);
    for day in 0..DAYS {
        desk.decide(&format!("toolchain {day} for release {day}"));
        desk.distill_at(SESSION, NOW + day * DAY_MILLIS).unwrap();
        let history = History::parse(&desk.history());
        let left = &history.removals[known..];
        known = history.removals.len();
        let unreplaced: Vec<_> = left.iter().filter(|removal| removal.replaced_by.is_none()).collect();
        assert!(unreplaced.len() <= 2, "day {day}: {unreplaced:?}");
        for removal in unreplaced {
            let since: Timestamp =
                format!("{}T00:00:00Z", &removal.provenance[removal.provenance.len() - 11..][..10])
                    .parse()
                    .unwrap();
            assert!(NOW + day * DAY_MILLIS - since.millis() > 30 * DAY_MILLIS, "day {day}: {removal:?}");
            made_room += 1;
        }
    }
    assert!(made_room > 10, "{made_room}");
    assert_eq!((desk.questions(), desk.message(SESSION)), (DAYS, DAYS * 2));
    assert_eq!(desk.memory().matches("of the planner ships with toolchain").count(), 1);

    let share = team_sync::Share::open(&desk.app(), &desk.env()).unwrap();
    let (history, memory, author) = (share.history().unwrap(), desk.memory(), desk.author());
    for day in 0..DAYS - 1 {
        let decision = format!("Release {day} of the planner ships with toolchain number {day}");
        let found = history.search(&decision);
        let next = format!("Release {} of the planner", day + 1);
        let removal = found.iter().find(|removal| removal.text == decision);
        let removal = removal.unwrap_or_else(|| panic!("{decision} is not in the history"));
        assert!(removal.replaced_by.as_deref().is_some_and(|by| by.starts_with(&next)), "{removal:?}");
        assert_eq!((&removal.by, &*removal.why), (&author, "superseded: a new release"));
        // Nothing that made room is lost either.
        let question = format!("Who owns the {} dashboard of week {day}?", areas[day as usize % 10]);
        assert!(memory.contains(&question) || !history.search(&question).is_empty(), "{question}");
    }
}
