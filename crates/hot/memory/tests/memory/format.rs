//! `memory.md` as the Node version writes it, and as people do.

use memory::{Block, Memory, section};

use crate::entries;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let memory = Memory::parse(text);
    assert_eq!(entries(&memory), expected);
    assert_eq!(memory.render(), text);
}

#[test]
fn a_fresh_memory_is_that_of_the_node_version() {
    assert_eq!(
        Memory::fresh(None).render(),
        "# Wyren Memory\n<!-- Populated by distiller. Edit manually to seed context. -->\n"
    );
    assert_eq!(Memory::fresh(Some(" \n")).render(), Memory::fresh(None).render());
    assert!(Memory::fresh(None).is_blank());
    assert_eq!(
        Memory::fresh(Some("\n# Project\n\nBe kind.\n")).render(),
        "# Wyren Memory\n<!-- Populated by distiller. Edit manually to seed context. -->\n\n\
         ## Seeded from CLAUDE.md\n\n<!-- One-time import on wyren init. Not kept in sync. -->\n\n\
         # Project\n\nBe kind.\n"
    );
}

#[test]
fn a_long_seed_is_cut_at_eight_thousand_utf16_units() {
    let text = Memory::fresh(Some(&"🦀".repeat(5_000))).render();
    assert!(text.ends_with("🦀\n<!-- truncated -->\n"));
    assert_eq!(text.matches('🦀').count(), 4_000);
}

#[test]
fn the_sections_are_those_of_the_node_version_in_its_order() {
    assert_eq!(
        section::ORDER[1..7],
        [
            "Decisions",
            "Rejected paths",
            "Live workarounds",
            "Known broken state",
            "Scope changes",
            "Open questions"
        ]
    );
}

#[test]
fn a_memory_of_the_node_version_is_read_entry_by_entry() {
    check(
        "# Wyren Memory\n\n## Handoff notes\n- [2026-11-16T02:26:41.123Z] (session handoff — no note)\n\n\
         ## Decisions\n- Use Postgres [session ab12cd34, turn 7]\n\n## Rejected paths\n- Redis: lossy [session ab12cd34, turn 9]\n",
        &[
            "Handoff notes: [2026-11-16T02:26:41.123Z] (session handoff — no note)",
            "Decisions: Use Postgres",
            "Rejected paths: Redis: lossy",
        ],
    );
}

#[test]
fn odd_files_are_read_and_kept_to_the_byte() {
    check("", &[]);
    check("## Decisions", &[]);
    check("## Decisions\r\n- a\r\n\r\n\r\n-   b  \r\n- c", &["Decisions: a", "Decisions: b", "Decisions: c"]);
    check("##Decisions\n### Decisions\n## \n- above the first section\n", &[]);
    check("## A\n* star\n+ plus\n-no bullet\n-\n", &["A: star", "A: plus\n-no bullet\n-"]);
    check("\u{feff}## A\n- no section\n", &[]);
    check("## A\n- x\r- y\n", &["A: x\r- y"]);
}

#[test]
fn continued_lines_belong_to_their_entry() {
    check(
        "## A\n- one\n  two\n  - nested\n\n  after a gap\n- three\n",
        &["A: one\n  two\n  - nested\n\n  after a gap", "A: three"],
    );
    check("## A\n- wrapped by\nhand\n\nprose\n", &["A: wrapped by\nhand"]);
    check("## A\n- one [session ab12cd34, turn 1]\n  two\n", &["A: one\n  two"]);
    for other in ["### Sub", "<!-- c -->", "> quote", "1. one", "---", "| a |", "```"] {
        check(&format!("## A\n- one\n{other}\n"), &["A: one"]);
    }
}

#[test]
fn code_hides_what_looks_like_sections_but_never_a_known_one() {
    check("## A\n```\n## B\n- x\n```\n- y\n", &["A: y"]);
    check("## A\n```\n- x\n", &["A: x"]);
    check("## A\n```\n## Decisions\n- x\n```\n", &["Decisions: x"]);
    let memory = Memory::parse("## A\n~~~~\n- x\n~~~\n~~~~\nend\n");
    assert_eq!(memory.sections()[0].blocks()[0], Block::Prose("~~~~\n- x\n~~~\n~~~~\n".to_owned()));
}

#[test]
fn provenance_says_who_when_and_where() {
    let memory = Memory::parse(
        "## Decisions\n- x [session ab12cd34, turn 7, by Ada, 2026-11-16]\n## Handoff notes\n- [2026-11-16T01:00:00Z] y\n",
    );
    let provenance: Vec<_> = memory.entries().map(|(_, entry)| entry.provenance()).collect();
    assert_eq!(provenance[0].author.as_deref(), Some("Ada"));
    assert_eq!((provenance[0].session.as_deref(), provenance[0].turn), (Some("ab12cd34"), Some(7)));
    assert_eq!(provenance[1].date.as_deref(), Some("2026-11-16T01:00:00Z"));
}
