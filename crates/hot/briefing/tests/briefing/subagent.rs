//! The beginning of a subagent.

use crate::support::{Clone, OPENING, wordless};
use briefing::subagent::MAX_UNITS;
use std::fs;

#[test]
fn a_subagent_gets_the_memory_and_the_reminders_below_it() {
    let clone = Clone::new(&["a [session aaaaaaaa, turn 1, by Ada, 2025-11-16]"]);
    clone.write(".wyren/broadcast/skills/review.md", "Be kind.\n");
    let memory = format!(
        "{OPENING}\n\n<wyren-context source=\"team memory\">\n## Decisions\n- a (signed Ada, 16 Nov 2025)\n</wyren-context>"
    );
    assert_eq!(wordless(&clone.subagent("")), memory);
    assert_eq!(wordless(&clone.subagent("- Be brief.")), format!("{memory}\n\n- Be brief."));
}

#[test]
fn without_a_memory_a_subagent_gets_its_reminders_alone() {
    let clone = Clone::empty().with_remote();
    assert_eq!(
        (clone.subagent(""), clone.subagent("- Be brief.")),
        (String::new(), "- Be brief.".to_owned())
    );
    assert!(!clone.path(".wyren").exists());
    clone.write(".wyren/memory.md", "# Wyren Memory\n<!-- Populated by distiller. -->\n");
    assert_eq!(clone.subagent(""), "");
}

#[test]
fn a_large_memory_is_chosen_from_as_at_a_start_within_what_a_subagent_gets() {
    let facts: Vec<String> = (0..300).map(|n| format!("🦀 fact number {n} of three hundred")).collect();
    let clone = Clone::new(&facts.iter().map(String::as_str).collect::<Vec<_>>());
    let reminders = "- Be brief.\n".repeat(40);
    for reminders in ["", reminders.trim_end()] {
        let text = clone.subagent(reminders);
        let units = text.encode_utf16().count();
        assert!(units <= MAX_UNITS && units > MAX_UNITS - 120, "{units}");
        assert!(text.contains("fact number 299") && !text.contains("fact number 0 "), "{text}");
        assert!(text.contains(" of 300 entries, chosen by weight and age. The rest: `wyren memory show`."));
        assert!(text.ends_with(reminders));
    }
}

#[test]
fn a_subagent_starts_no_fetch_and_leaves_no_state() {
    let clone = Clone::new(&["a"]).with_remote();
    clone.subagent("");
    assert!(!clone.path(".wyren/state").exists() && !clone.path(".wyren/log").exists());
    let names: Vec<_> =
        fs::read_dir(clone.path(".wyren")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["memory.md"]);
}
