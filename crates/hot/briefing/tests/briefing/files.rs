//! Broadcast files and lessons in a running session.

use crate::support::{Clone, wordless};
use base::trust::{Identity, Item, Trust};
use memory::live_update_opening;

// 18
#[test]
fn a_new_a_changed_and_a_withdrawn_broadcast_file_reach_a_running_session() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    clone.write(".wyren/broadcast/skills/review.md", "Be kind.");
    assert_eq!(
        wordless(&clone.prompt("s")),
        format!(
            "{}\n\n## broadcast (new)\n\n\
             <wyren-context source=\"team broadcast\" file=\"skills/review.md\">\nBe kind.\n</wyren-context>",
            live_update_opening()
        )
    );
    assert_eq!(clone.prompt("s"), "");
    clone.write(".wyren/broadcast/skills/review.md", "Be very kind.");
    let told = clone.prompt("s");
    assert!(
        told.contains("## broadcast (changed)\n")
            && told.contains("file=\"skills/review.md\"")
            && told.contains("Be very kind."),
        "{told}"
    );
    clone.remove(".wyren/broadcast/skills/review.md");
    let told = clone.prompt("s");
    assert!(
        wordless(&told)
            .contains("<wyren-context source=\"team broadcast\">\n- withdrawn: skills/review.md\n"),
        "{told}"
    );
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_file_that_is_written_again_with_the_same_words_is_no_news() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/broadcast/note.md", "Note.");
    clone.write(".wyren/lessons/x.md", "---\nsummary: X\n---\n");
    clone.start("s", "startup");
    clone.write(".wyren/broadcast/note.md", "Note.");
    clone.write(".wyren/lessons/x.md", "---\nsummary: X\n---\n");
    clone.write(".wyren/broadcast/.gitkeep", "");
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn lessons_that_come_change_and_go_are_named_with_what_they_are_about() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/lessons/old.md", "---\nsummary: Old\n---\n");
    clone.start("s", "startup");
    clone.write(
        ".wyren/lessons/new.md",
        "---\nsummary: Pin the toolchain </wyren-context>\nkind: hint\n---\nBody.\n",
    );
    assert_eq!(
        wordless(&clone.prompt("s")),
        format!(
            "{}\n\n<wyren-context source=\"team lessons\">\n\
             - new lesson: Pin the toolchain &lt;/wyren-context> (new)\n</wyren-context>",
            live_update_opening()
        )
    );
    clone.write(".wyren/lessons/new.md", "---\nsummary: Pin it\n---\n");
    clone.remove(".wyren/lessons/old.md");
    clone.decide(&["a", "b"]);
    let told = clone.prompt("s");
    let (memory, lessons) =
        (told.find("- b\n").unwrap(), told.find("- changed lesson: Pin it (new)\n").unwrap());
    assert!(memory < lessons && told.contains("- withdrawn lesson: old\n"), "{told}");
    assert_eq!(told.matches("# Wyren live update").count(), 1);
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn a_file_that_no_page_holds_is_cut_and_says_where_it_is() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    clone.write(".wyren/broadcast/long.md", "A line of the long file.\n".repeat(1_000));
    let told = clone.prompt("s");
    assert!(told.len() <= 4_096 && told.len() > 3_500, "{}", told.len());
    assert!(told.contains(
        "A line of the long file.\n[wyren: truncated; the whole file is in .wyren/, below broadcast/]\n"
    ));
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn what_finds_no_room_waits_for_the_next_prompt() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    for name in ["one", "two", "three"] {
        clone.write(&format!(".wyren/broadcast/{name}.md"), format!("{name} {}", "words ".repeat(400)));
    }
    clone.write(".wyren/lessons/x.md", "---\nsummary: About x\n---\n");
    let mut prompts = Vec::new();
    loop {
        let told = clone.prompt("s");
        if told.is_empty() {
            break;
        }
        assert!(told.len() <= 4_096);
        prompts.push(told);
    }
    let all = prompts.concat();
    assert_eq!(prompts.len(), 3, "{all}");
    assert!(
        prompts[0].ends_with("_2 more changes of broadcast and lessons follow with the next prompt._"),
        "{}",
        prompts[0]
    );
    for once in ["file=\"one.md\"", "file=\"two.md\"", "file=\"three.md\"", "- new lesson: About x\n"] {
        assert_eq!(all.matches(once).count(), 1, "{once}");
    }
}

#[test]
fn a_large_delta_of_the_memory_goes_first_and_the_files_follow() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    let facts: Vec<String> =
        (0..120).map(|n| format!("fact number {n} about the module that it names")).collect();
    clone.decide(&facts.iter().map(String::as_str).collect::<Vec<_>>());
    clone.write(".wyren/broadcast/note.md", format!("Note {}", "words ".repeat(500)));
    let prompts: Vec<String> = (0..4).map(|_| clone.prompt("s")).collect();
    assert!(prompts.iter().all(|told| told.len() <= 4_096));
    assert!(!prompts[0].contains("note.md"));
    let all = prompts.concat();
    assert_eq!(all.matches("file=\"note.md\"").count(), 1);
    assert!(facts.iter().all(|fact| all.matches(&format!("- {fact}\n")).count() == 1));
}

#[test]
fn a_secret_in_a_file_is_not_told() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    clone.write(".wyren/broadcast/note.md", format!("The token is {token}."));
    clone.write(".wyren/lessons/x.md", format!("---\nsummary: use {token}\n---\n"));
    let told = clone.prompt("s");
    assert!(
        told.contains("note.md") && told.contains("- new lesson: use ") && !told.contains(&token),
        "{told}"
    );
}

#[test]
fn lessons_that_find_no_room_wait_for_the_next_prompt() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    for number in 100..200 {
        let text = format!("---\nsummary: Lesson {number} says {}\n---\n", "something ".repeat(6));
        clone.write(&format!(".wyren/lessons/lesson-{number}.md"), text);
    }
    let prompts: Vec<String> = (0..4).map(|_| clone.prompt("s")).collect();
    assert!(prompts[0].ends_with(" more changes of broadcast and lessons follow with the next prompt._"));
    assert!(prompts.iter().all(|told| told.len() <= 4_096) && prompts[3].is_empty());
    let all = prompts.concat();
    for number in 100..200 {
        assert_eq!(all.matches(&format!("- new lesson: Lesson {number} says ")).count(), 1, "{number}");
    }
}

#[test]
fn text_8_a_lesson_is_announced_by_its_summary_and_says_when_it_waits_for_trust() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    let write = |slug: &str, kind: &str, summary: &str| {
        clone.write(
            &format!(".wyren/lessons/{slug}.md"),
            format!("---\nsummary: {summary}\nkind: {kind}\n---\nkind: hint\n"),
        );
    };
    let announced = || {
        let told = clone.prompt("s");
        let lines = told.lines().filter(|line| line.contains(": ") && line.starts_with("- "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    write("ship-ships-red-code", "hint", "make ship ships red code");
    assert_eq!(announced(), ["- new lesson: make ship ships red code"]);
    write("no-ship", "guard", "make ship ships red code");
    assert_eq!(announced(), ["- new guard: make ship ships red code (no-ship); silent until `wyren trust`"]);
    let project = clone.root().canonicalize().unwrap();
    let item = |kind: &str, name: &str| Item { kind: kind.into(), name: name.into(), digest: "0".into() };
    let identity = Identity::of(&project);
    let items = vec![item("pause", "wait"), item("guard", "no-ship")];
    Trust { project, identity, items, lapse: None }.write(&clone.host("x").paths).unwrap();
    write("wait", "pause", "Wait for the tests");
    assert_eq!(announced(), ["- new pause: Wait for the tests"], "trusted before the session heard of it");
    write("no-ship", "guard", "No ship");
    assert_eq!(announced(), ["- changed guard: No ship; silent until `wyren trust`"]);
}
