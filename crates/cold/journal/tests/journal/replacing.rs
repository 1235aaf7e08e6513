//! Entries that repeat or replace one another, and those that must not.

use crate::bench::Bench;
use journal::Entry;
use serde_json::json;

fn titled<'e>(entries: &'e [Entry], words: &str) -> &'e Entry {
    entries
        .iter()
        .find(|entry| entry.title.contains(words))
        .unwrap_or_else(|| panic!("no {words}: {entries:#?}"))
}

#[test]
fn line_19_near_duplicates_merge_across_sessions_and_the_newer_one_says_how_often() {
    let mut bench = Bench::new();
    for session in ["monday", "tuesday", "wednesday"] {
        bench.session(session);
        bench.prompt("deploy to staging").bash("./scripts/deploy.sh staging", "").done("Deployed.");
    }
    let entries = bench.entries();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[0].replaced_by.as_deref(), Some(entries[1].id.as_str()));
    assert_eq!(entries[1].replaced_by.as_deref(), Some(entries[2].id.as_str()));
    assert_eq!((entries[2].replaced_by.as_ref(), entries[2].times), (None, 3));
    assert!(entries[2].line().ends_with("(3 times)"), "{}", entries[2].line());
}

#[test]
fn line_19_a_decision_that_takes_another_ones_place_replaces_it() {
    let mut bench = Bench::new();
    bench
        .prompt("We'll use Redis for the session cache because it is fast.")
        .done("Noted, that is the plan.");
    bench.prompt("We'll use Postgres for exports because it is there.").done("Noted, that is the plan.");
    bench
        .prompt("We decided: Postgres holds the session cache instead of Redis, one service less to run.")
        .done("Noted, that is the plan.");
    let entries = bench.entries();
    let last = titled(&entries, "instead of Redis");
    assert_eq!(titled(&entries, "use Redis").replaced_by.as_deref(), Some(last.id.as_str()));
    assert_eq!(titled(&entries, "Postgres for exports").replaced_by, None);
    assert_eq!(last.replaced_by, None);
}

#[test]
fn line_19_the_same_function_changed_again_replaces_the_earlier_change() {
    let mut bench = Bench::new();
    let body = |old: &'static str, new: &'static str| [" fn total(cart: &Cart) -> u32 {", old, new, " }"];
    bench.prompt("Round the total up").edit("src/cart.rs", &body("-    1", "+    2")).done("It rounds up.");
    bench.prompt("Write the readme").edit("README.md", &[" # Shop", "+A shop."]).done("It is written.");
    bench
        .prompt("Round to cents instead")
        .edit("src/cart.rs", &body("-    2", "+    3"))
        .done("It rounds to cents.");
    let entries = bench.entries();
    assert_eq!(entries[0].replaced_by.as_deref(), Some(entries[2].id.as_str()), "{entries:#?}");
    assert_eq!(entries[1].replaced_by, None);
    assert_eq!(entries[2].times, 1, "a later change is no repetition");
}

#[test]
fn the_users_answers_to_questions_are_decisions() {
    let mut bench = Bench::new();
    let long = "Which of the three ways that the design names for the storage of proof photos should be taken, given that the database \
                grows by two gigabytes a day and ops has no object store in the second region yet?";
    bench
        .prompt("Store the proof photos")
        .answered(long, "Object store in the first region")
        .answered("Which fields may be searched?", json!(["Name", "Street"]))
        .put(
            "tool",
            json!({
                "tool": "AskUserQuestion", "input": {"questions": []},
                "output": {
                    "answers": {"Keep EXIF?": "No"}, "annotations": {"Keep EXIF?": {"notes": "it is personal data"}},
                },
            }),
        )
        .put("refused", json!({"tool": "AskUserQuestion", "by": "user", "input": {"questions": [{"question": "Deploy now?"}]}}))
        .done("They are stored.");
    let entries = bench.entries();
    let decided: Vec<&Entry> = entries.iter().filter(|entry| entry.kind == "decision").collect();
    for (title, answer) in [
        ("asked the user: Which of the three ways", "→ answered Object store in the first region"),
        ("asked the user: Which fields may be searched?", "→ answered Name, Street"),
        ("asked the user: Keep EXIF?", "→ answered No (it is personal data)"),
    ] {
        let entry = decided
            .iter()
            .find(|entry| entry.title.starts_with(title))
            .unwrap_or_else(|| panic!("{title}: {decided:#?}"));
        assert!(entry.title.ends_with(answer) && entry.title.chars().count() <= 160, "{}", entry.title);
    }
    let all = format!("{entries:?}");
    assert!(all.contains("the user did not answer \\\"Deploy now?\\\""), "{all}");
}

#[test]
fn what_a_person_wrote_or_pinned_is_not_replaced() {
    let mut bench = Bench::new();
    let entry = json!({"type": "decision", "title": "Prices are kept as integer cents", "source": "by-hand"});
    bench.put("entry", entry.clone()).put("entry", entry);
    assert!(bench.entries().iter().all(|entry| entry.replaced_by.is_none()));
}

#[test]
fn an_entry_that_goes_gives_its_place_back() {
    let mut bench = Bench::new();
    for session in ["one", "two"] {
        bench.session(session);
        bench.prompt("deploy to staging").bash("./scripts/deploy.sh staging", "").done("Deployed.");
    }
    let entries = bench.entries();
    assert!(entries[0].replaced_by.is_some());
    bench.put("amend", json!({"entry": entries[1].id, "deleted": true}));
    let entries = bench.entries();
    assert_eq!((entries.len(), entries[0].replaced_by.as_ref()), (1, None));
}

#[test]
fn line_16_repositories_of_one_name_never_share_and_worktrees_of_one_do() {
    let folder = tempfile::tempdir().unwrap();
    let repository = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.join(".git/refs")).unwrap();
        std::fs::create_dir_all(path.join(".git/objects")).unwrap();
        std::fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        path
    };
    let (one, other) = (repository("a/shop"), repository("b/shop"));
    let worktree = folder.path().join("shop-fix");
    let inside = one.join(".git/worktrees/shop-fix");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&worktree).unwrap();
    std::fs::write(inside.join("HEAD"), "ref: refs/heads/fix\n").unwrap();
    std::fs::write(inside.join("commondir"), "../..\n").unwrap();
    std::fs::write(inside.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
    std::fs::write(worktree.join(".git"), format!("gitdir: {}\n", inside.display())).unwrap();

    let mut bench = Bench::new();
    for (session, cwd) in [("one", &one), ("other", &other), ("tree", &worktree)] {
        bench.session(session).in_folder(cwd.to_str().unwrap());
        bench.prompt("deploy to staging").bash("./scripts/deploy.sh staging", "").done("Deployed.");
    }
    let entries = bench.entries();
    let projects: Vec<i64> = {
        let mut select = bench.store.connection().prepare("SELECT project FROM entries ORDER BY at").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_ne!(projects[0], projects[1], "one basename, two repositories");
    assert_eq!(projects[0], projects[2], "a worktree is its repository");
    assert_eq!(entries[0].replaced_by.as_deref(), Some(entries[2].id.as_str()), "merged with the worktree's");
    assert_eq!(entries[1].replaced_by, None, "never with another repository's");
}

#[test]
fn files_are_named_by_the_work_tree_that_they_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let clone = |name: &str| {
        let root = folder.path().join(name);
        std::fs::create_dir_all(root.join(".git/refs")).unwrap();
        std::fs::create_dir_all(root.join(".git/objects")).unwrap();
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[remote \"origin\"]\n\turl = https://github.com/acme/shop.git\n";
        std::fs::write(root.join(".git/config"), config).unwrap();
        root
    };
    let roots = [clone("first"), clone("second"), clone("third")];
    let mut bench = Bench::new();
    for (number, root) in roots.iter().enumerate() {
        let file = root.join(format!("src/f{number}.rs"));
        bench.session(&number.to_string()).in_folder(root.to_str().unwrap());
        bench.prompt("Round the total of the cart").put(
            "tool",
            json!({"tool": "Edit", "input": {"file_path": file, "old_string": "a", "new_string": "round(a)"}}),
        );
        bench.drain();
    }
    // A work tree that was removed: something of its session comes once more.
    std::fs::remove_dir_all(&roots[2]).unwrap();
    bench.done("Rounded.");
    // One that the client made and removed.
    let own = roots[0].join(".claude/worktrees/calm-otter");
    bench
        .session("own")
        .in_folder(roots[0].to_str().unwrap())
        .prompt("Round the tax")
        .in_folder(own.to_str().unwrap());
    let input = json!({"file_path": own.join("src/f3.rs"), "old_string": "a", "new_string": "round(a)"});
    bench.put("tool", json!({"tool": "Edit", "input": input}));
    let entries = bench.entries();
    let named: Vec<&str> =
        entries.iter().flat_map(|entry| &entry.files).map(|file| file.path.as_str()).collect();
    assert_eq!(named, ["src/f0.rs", "src/f1.rs", "src/f2.rs", "src/f3.rs"], "{entries:#?}");
    assert!(
        entries.iter().all(|entry| !entry.title.contains('/') || entry.title.starts_with("src/")),
        "{entries:#?}"
    );
}

#[test]
fn line_07_every_turn_has_a_record_without_a_model() {
    let mut bench = Bench::new();
    bench
        .prompt("What does the cart do?")
        .done("It sums up the prices.")
        .prompt("Fix the rounding")
        .edit("src/cart.rs", &[" fn total() {", "+    round();", " }"])
        .prompt("and again")
        .put("turn-end", json!({"outcome": "failed", "error": "overloaded"}))
        .prompt("Run the tests")
        .bash_fails("make test", "make: *** [test] Error 2");
    let (entries, summaries) = (bench.entries(), bench.summaries());
    let turns: i64 = bench
        .store
        .connection()
        .query_row("SELECT count(DISTINCT turn) FROM entries WHERE is_noise = 0", [], |row| row.get(0))
        .unwrap();
    assert_eq!(turns, 4, "{entries:#?}");
    assert_eq!(summaries.len(), 4, "{summaries:#?}");
    assert!(summaries.iter().all(|summary| !summary.request.is_empty()));
}
