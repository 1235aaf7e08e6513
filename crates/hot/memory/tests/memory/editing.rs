//! Adding, replacing and removing entries.

use memory::{Added, Memory, Provenance};

use crate::decisions;

fn ada() -> Provenance {
    Provenance::new("ab12cd34-5678", 7, "Ada", "2026-11-16")
}

#[test]
fn an_entry_is_added_at_the_end_of_its_section_with_its_tag() {
    let mut memory = Memory::parse("# Wyren Memory\n\n## Decisions\n- a\n\n## Open questions\n- q\n");
    assert_eq!(memory.add("decisions", "Use  Postgres", &ada()), Added::New);
    assert_eq!(
        memory.render(),
        "# Wyren Memory\n\n## Decisions\n- a\n- Use Postgres [session ab12cd34, turn 7, by Ada, 2026-11-16]\n\n## Open questions\n- q\n"
    );
}

#[test]
fn a_new_section_takes_its_place() {
    let mut memory = Memory::parse("# Wyren Memory\n\n## Decisions\n- a\n\n## Open questions\n- q");
    memory.add("Rejected paths", "r", &Provenance::default());
    memory.add("Team notes", "n", &Provenance::default());
    assert_eq!(
        memory.render(),
        "# Wyren Memory\n\n## Decisions\n- a\n\n## Rejected paths\n\n- r\n\n## Open questions\n- q\n\n## Team notes\n\n- n\n"
    );
    let mut memory = Memory::default();
    memory.add("Decisions", "a", &Provenance::default());
    assert_eq!(memory.render(), "# Wyren Memory\n\n## Decisions\n\n- a\n");
}

#[test]
fn duplicates_and_near_duplicates_are_not_added() {
    let mut memory =
        decisions(&["- Die Prüfung läuft über **Postgres** und nicht über Redis, weil Redis Daten verliert"]);
    let before = memory.render();
    let same = "die prüfung läuft über postgres und nicht über redis, weil Redis Daten verliert.";
    assert_eq!(memory.add("Decisions", same, &ada()), Added::Duplicate);
    let near = "Die Prüfung läuft jetzt über Postgres und nicht über Redis, weil Redis Daten verliert";
    assert!(matches!(memory.add("Decisions", near, &ada()), Added::Similar(_)));
    assert_eq!(memory.add("Decisions", " \n", &ada()), Added::Blank);
    assert_eq!(memory.render(), before);
    assert_eq!(memory.add_distinct("Decisions", near, &ada()), Added::New);
}

#[test]
fn an_entry_is_replaced_in_its_place_and_removed_by_what_it_says() {
    let mut memory = decisions(&["- a", "- b [session aaaaaaaa, turn 1]", "- c"]);
    let before = memory.replace("Decisions", "B.", "new b", &ada()).map(|entry| entry.raw().to_owned());
    assert_eq!(before.as_deref(), Some("- b [session aaaaaaaa, turn 1]\n"));
    assert!(memory.remove("Decisions", "a").is_some() && memory.remove("Decisions", "a").is_none());
    assert_eq!(
        memory.render(),
        decisions(&["- new b [session ab12cd34, turn 7, by Ada, 2026-11-16]", "- c"]).render()
    );
    assert!(memory.remove("Decisions", "c").is_some() && memory.remove("Decisions", "new b").is_some());
    assert_eq!(memory.sections().len(), 0);
}

#[test]
fn the_newest_handoff_note_is_on_top() {
    let mut memory =
        Memory::parse("# Wyren Memory\n\n## Seeded from CLAUDE.md\n\ntext\n\n## Decisions\n- a\n");
    memory.add_handoff_note("first", "2026-11-15T00:00:00Z", None);
    memory.add_handoff_note("second\nline", "2026-11-16T00:00:00Z", Some("Ada"));
    memory.add_handoff_note("", "2026-11-17T00:00:00Z", None);
    assert_eq!(
        memory.render(),
        "# Wyren Memory\n\n## Handoff notes\n\n\
         - [2026-11-17T00:00:00Z] (session handoff — no note)\n\
         - [2026-11-16T00:00:00Z] second\n  line [by Ada, 2026-11-16T00:00:00Z]\n\
         - [2026-11-15T00:00:00Z] first\n\n\
         ## Seeded from CLAUDE.md\n\ntext\n\n## Decisions\n- a\n"
    );
}

#[test]
fn review_18_paragraphs_and_lists_stay_in_their_entry() {
    let text = "First  part.\r\n\n\n- a\n  - b\n## Decisions\n```\nx\n```";
    let kept = "First part.\n\n  - a\n    - b\n  ## Decisions\n  ```\n  x\n  ```";
    let mut memory = Memory::default();
    memory.add_handoff_note(text, "2026-11-16T00:00:00Z", Some("Ada"));
    assert_eq!(memory.add("Decisions", text, &ada()), Added::New);
    let tag = "\n  [session ab12cd34, turn 7, by Ada, 2026-11-16]\n";
    let expected = format!(
        "# Wyren Memory\n\n## Handoff notes\n\n- [2026-11-16T00:00:00Z] {kept}\n  [by Ada, 2026-11-16T00:00:00Z]\n\n\
         ## Decisions\n\n- {kept}{tag}"
    );
    assert_eq!(memory.render(), expected);
    let again = Memory::parse(&expected);
    assert_eq!(again.entries().count(), 2);
    let (_, entry) = again.entries().last().unwrap();
    assert_eq!((&*entry.text(), entry.provenance()), (kept, ada()));
    // Put back, it is as it was, and not added twice.
    let mut restored = Memory::parse("# Wyren Memory\r\n");
    assert_eq!(restored.add_anyway("Decisions", &entry.text(), &ada()), Added::New);
    assert_eq!(restored.add("Decisions", text, &ada()), Added::Duplicate);
    assert!(restored.render().replace("\r\n", "\n").ends_with(&format!("- {kept}{tag}")), "{restored:?}");
    // A distillation writes single lines.
    memory.add_distinct("Open questions", "a\nb", &Provenance::default());
    assert!(memory.render().ends_with("- a b\n"), "{memory:?}");
}

#[test]
fn every_other_byte_stays() {
    let text = "# Wyren Memory\r\n\r\n\r\n## Decisions\r\n\r\n-  a  \r\nprose\r\n";
    let mut memory = Memory::parse(text);
    memory.add("Decisions", "b", &Provenance::default());
    assert_eq!(memory.render(), format!("{text}- b\r\n"));
}

#[test]
fn what_is_private_is_not_stored() {
    let mut memory = Memory::default();
    memory.add_handoff_note("shown <private>kept\nhere</private> too", "2026-11-16T00:00:00Z", None);
    memory.add_handoff_note("<private>kept", "2026-11-17T00:00:00Z", None);
    assert_eq!(memory.add("Decisions", "a <Private>kept</Private>b", &Provenance::default()), Added::New);
    assert_eq!(memory.add("Decisions", "<private>kept</private>", &Provenance::default()), Added::Blank);
    memory.replace("Decisions", "a b", "c <private>kept", &Provenance::default()).unwrap();
    assert_eq!(
        memory.render(),
        "# Wyren Memory\n\n## Handoff notes\n\n- [2026-11-17T00:00:00Z] (session handoff — no note)\n\
         - [2026-11-16T00:00:00Z] shown too\n\n## Decisions\n\n- c\n"
    );
}

#[test]
fn a_secret_is_redacted_before_it_is_stored() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut memory = Memory::default();
    memory.add("Decisions", &format!("the token is {token}"), &Provenance::default());
    memory.add_handoff_note(&token, "2026-11-16T00:00:00Z", None);
    assert!(!memory.render().contains(&token));
}
