//! Three-way merges, case by case.

use memory::{Memory, merge};

use crate::{decisions, entries, memory};

#[track_caller]
fn check(base: &[&str], ours: &[&str], theirs: &[&str], expected: &[&str]) {
    let merged = merge(&decisions(base), &decisions(ours), &decisions(theirs)).memory;
    assert_eq!(merged.render(), decisions(expected).render());
}

#[test]
fn both_sides_additions_survive() {
    check(&["- a"], &["- a", "- b"], &["- a", "- c"], &["- a", "- b", "- c"]);
    check(&["- a"], &["- b", "- a"], &["- a", "- c"], &["- b", "- a", "- c"]);
    check(&[], &["- b"], &["- c"], &["- b", "- c"]);
}

#[test]
fn a_removal_wins_over_an_unchanged_entry() {
    check(&["- a", "- b", "- c"], &["- a", "- c"], &["- a", "- b", "- c", "- d"], &["- a", "- c", "- d"]);
    check(&["- a", "- b", "- c"], &["- b", "- c"], &["- a", "- b"], &["- b"]);
}

#[test]
fn an_edit_wins_over_a_removal() {
    check(&["- use X daily", "- b"], &["- use X weekly", "- b"], &["- b"], &["- use X weekly", "- b"]);
}

#[test]
fn an_edit_takes_the_place_of_the_entry() {
    check(
        &["- a", "- use X daily", "- b"],
        &["- a", "- use X daily", "- b", "- c"],
        &["- a", "- use X weekly", "- b"],
        &["- a", "- use X weekly", "- b", "- c"],
    );
}

#[test]
fn two_edits_of_one_entry_are_both_kept_the_later_one_after() {
    let base = decisions(&["- use X daily", "- b"]);
    let early = decisions(&["- use X weekly [session aaaaaaaa, turn 1, by Ada, 2026-11-15]", "- b"]);
    let late = decisions(&["- use X hourly [session bbbbbbbb, turn 1, by Bob, 2026-11-16]", "- b"]);
    for (ours, theirs) in [(&early, &late), (&late, &early)] {
        let merged = merge(&base, ours, theirs);
        assert_eq!(
            entries(&merged.memory),
            ["Decisions: use X weekly", "Decisions: use X hourly", "Decisions: b"]
        );
        let [both] = &merged.both_kept[..] else { panic!("{:?}", merged.both_kept) };
        assert_eq!(both.base.text(), "use X daily");
    }
}

#[test]
fn duplicates_collapse_and_one_provenance_is_kept() {
    let named = "- Use X [session aaaaaaaa, turn 1, by Ada, 2026-11-15]";
    let plain = "- **use** x. [session bbbbbbbb, turn 2]";
    check(&[], &[named], &[plain], &[named]);
    check(&[], &[plain], &[named], &[named]);
    check(&["- z"], &[named, plain, "- z"], &["- z", "- y"], &[named, "- z", "- y"]);
}

#[test]
fn a_new_tag_is_taken_from_the_side_that_wrote_it() {
    let tagged = "- a [session aaaaaaaa, turn 1]";
    check(&["- a"], &["- a", "- b"], &[tagged], &[tagged, "- b"]);
    check(&["- a"], &[tagged], &["- a", "- b"], &[tagged, "- b"]);
}

#[test]
fn without_a_base_nothing_is_removed() {
    let merged = merge(&Memory::default(), &decisions(&["- a", "- b"]), &decisions(&["- b", "- c"])).memory;
    assert_eq!(entries(&merged), ["Decisions: a", "Decisions: b", "Decisions: c"]);
}

#[test]
fn a_moved_entry_is_not_doubled() {
    check(
        &["- a", "- b", "- c"],
        &["- c", "- a", "- b"],
        &["- a", "- b", "- c", "- d"],
        &["- c", "- d", "- a", "- b"],
    );
}

#[test]
fn new_sections_come_in_the_order_of_the_file() {
    let ours = memory(&[("Decisions", &["- a"]), ("Open questions", &["- q"])]);
    let theirs =
        memory(&[("Handoff notes", &["- n"]), ("Rejected paths", &["- r"]), ("Ours alone", &["text"])]);
    let merged = merge(&Memory::default(), &ours, &theirs).memory;
    let names: Vec<&str> = merged.sections().iter().map(|section| section.name()).collect();
    assert_eq!(names, ["Handoff notes", "Decisions", "Rejected paths", "Ours alone", "Open questions"]);
}

#[test]
fn an_emptied_section_goes() {
    let base = memory(&[("Decisions", &["- a"]), ("Open questions", &["- q"])]);
    let ours = memory(&[("Decisions", &["- a"])]);
    let theirs = memory(&[("Decisions", &["- a", "- b"]), ("Open questions", &["- q"])]);
    assert_eq!(merge(&base, &ours, &theirs).memory.render(), decisions(&["- a", "- b"]).render());
}

#[test]
fn handoff_notes_stay_newest_first() {
    let notes = |days: &[u8]| {
        let lines: Vec<String> =
            days.iter().map(|day| format!("- [2026-11-{day:02}T00:00:00Z] note")).collect();
        memory(&[("Handoff notes", &lines.iter().map(String::as_str).collect::<Vec<_>>())])
    };
    for (ours, theirs) in [([12, 1], [14, 1]), ([14, 1], [12, 1])] {
        let merged = merge(&notes(&[1]), &notes(&ours), &notes(&theirs)).memory;
        assert_eq!(merged.render(), notes(&[14, 12, 1]).render());
    }
}

#[test]
fn prose_and_unknown_sections_are_merged_by_line() {
    let text = |lines: &[&str]| memory(&[("Team notes", lines)]);
    let merged = merge(
        &text(&["one", "two", "three", "", "four"]),
        &text(&["ONE", "two", "three", "", "four"]),
        &text(&["one", "two", "three", "", "FOUR", "five"]),
    );
    assert_eq!(merged.memory.render(), text(&["ONE", "two", "three", "", "FOUR", "five"]).render());
    let merged = merge(&text(&["one", "two"]), &text(&["ONE", "two"]), &text(&["uno", "two"]));
    assert_eq!(merged.memory.render(), text(&["ONE", "uno", "two"]).render());
}

#[test]
fn prose_between_entries_stays_where_it_was() {
    check(
        &["Kept short.", "", "- a"],
        &["Kept short.", "", "- a", "- b"],
        &["Kept short.", "", "- a", "", "Since May:", "", "- c"],
        &["Kept short.", "", "- a", "- b", "", "Since May:", "", "- c"],
    );
}

#[test]
fn a_preamble_and_its_comments_are_kept() {
    let fresh = Memory::fresh(None);
    let ours = Memory::parse(&format!("{}\n## Decisions\n\n- a\n", fresh.render()));
    let theirs = Memory::parse(&format!("{}Our seed.\n\n## Decisions\n\n- b\n", fresh.render()));
    assert_eq!(
        merge(&fresh, &ours, &theirs).memory.render(),
        format!("{}Our seed.\n\n## Decisions\n\n- a\n- b\n", fresh.render())
    );
}

#[test]
fn line_breaks_are_those_of_both_or_plain() {
    let crlf = |lines: &[&str]| Memory::parse(&decisions(lines).render().replace('\n', "\r\n"));
    let merged = merge(&crlf(&[]), &crlf(&["- a"]), &crlf(&["- b"])).memory.render();
    assert_eq!(merged, crlf(&["- a", "- b"]).render());
    let merged = merge(&decisions(&[]), &crlf(&["- a"]), &decisions(&["- b"])).memory.render();
    assert_eq!(merged, decisions(&["- a", "- b"]).render());
}

#[test]
fn a_merge_never_culls() {
    let many = |side: &str| -> Vec<String> { (0..500).map(|n| format!("- {side} {n}")).collect() };
    let of = |lines: &[String]| decisions(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let merged = merge(&Memory::default(), &of(&many("ours")), &of(&many("theirs"))).memory;
    assert_eq!(merged.entries().count(), 1_000);
}

#[test]
fn one_section_in_two_places_is_one_section() {
    let split = Memory::parse("# Wyren Memory\n\n## Decisions\n\n- a\n\n## decisions\n\n- b\n- a\n");
    let merged = merge(&Memory::default(), &split, &decisions(&["- c"])).memory;
    assert_eq!(merged.render(), decisions(&["- a", "- b", "- c"]).render());
}
