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

/// What a turn does.
type Turn = fn(&mut Bench);

/// Makes two turns in two sessions, and returns whether the second one's work or decision replaces the first one's.
fn is_replaced(first: Turn, second: Turn) -> bool {
    let mut bench = Bench::new();
    bench.session("monday");
    first(&mut bench);
    let before: Vec<String> = bench.entries().into_iter().map(|entry| entry.id).collect();
    bench.session("tuesday");
    second(&mut bench);
    bench.entries().iter().any(|entry| before.contains(&entry.id) && entry.replaced_by.is_some())
}

/// Another piece of work is not the same because it is in the same file, the same function or told in the same words.
const UNRELATED: [(&str, Turn, Turn); 13] = [
    (
        "two flags of one function",
        |bench| {
            bench
                .prompt("Add a --verbose flag")
                .edit("src/main.rs", &[" fn main() {", "+    let verbose = args.has(\"--verbose\");", " }"])
                .done("There is a flag.");
        },
        |bench| {
            bench
                .prompt("Add a --json flag")
                .edit("src/main.rs", &[" fn main() {", "+    let json = args.has(\"--json\");", " }"])
                .done("There is a flag.");
        },
    ),
    (
        "a second bug in the same function",
        |bench| {
            bench
                .prompt("Fix the rounding of the total")
                .edit(
                    "src/cart.rs",
                    &[" fn total(cart: &Cart) -> u32 {", "-    sum", "+    sum.round_up()", " }"],
                )
                .bash("cargo test", "test result: ok. 12 passed; 0 failed")
                .done("Fixed the rounding.");
        },
        |bench| {
            bench
                .prompt("Fix the tax of the total")
                .edit(
                    "src/cart.rs",
                    &[
                        " fn total(cart: &Cart) -> u32 {",
                        "-    let tax = 0;",
                        "+    let tax = rate(cart);",
                        " }",
                    ],
                )
                .bash("cargo test", "test result: ok. 14 passed; 0 failed")
                .done("Fixed the tax.");
        },
    ),
    (
        "an edit that keeps most of what was put in",
        |bench| {
            bench
                .prompt("Write the importer")
                .edit(
                    "src/import.rs",
                    &[
                        "+fn import(file: &File) {",
                        "+    let rows = read(file);",
                        "+    let kept = check(rows);",
                        "+    store(kept);",
                        "+    report(kept.len());",
                        "+}",
                    ],
                )
                .done("The importer is there.");
        },
        |bench| {
            bench
                .prompt("Report failures of the import")
                .edit(
                    "src/import.rs",
                    &[
                        " fn import(file: &File) {",
                        "-    report(kept.len());",
                        "+    report(kept.len(), failed.len());",
                        " }",
                    ],
                )
                .done("It reports failures.");
        },
    ),
    (
        "two issues by number",
        |bench| {
            bench
                .prompt("Close issue 318 on the board please")
                .put(
                    "tool",
                    json!({"tool": "mcp__linear__update_issue", "input": {"id": "COU-318"}, "output": {}}),
                )
                .done("Closed.");
        },
        |bench| {
            bench
                .prompt("Close issue 319 on the board please")
                .put(
                    "tool",
                    json!({"tool": "mcp__linear__update_issue", "input": {"id": "COU-319"}, "output": {}}),
                )
                .done("Closed.");
        },
    ),
    (
        "two services deployed in the same way",
        |bench| {
            bench
                .prompt("Deploy the gateway service to staging with the script")
                .bash("./scripts/deploy.sh gateway", "")
                .done("Deployed.");
        },
        |bench| {
            bench
                .prompt("Deploy the courier service to staging with the script")
                .bash("./scripts/deploy.sh courier", "")
                .done("Deployed.");
        },
    ),
    (
        "a decision about another cache",
        |bench| {
            bench
                .prompt("We'll use Redis for the session cache because it is fast.")
                .done("Noted, that is the plan.");
        },
        |bench| {
            bench
                .prompt("We decided: the page cache lives in memory instead of Redis, it is small.")
                .done("Noted, that is the plan.");
        },
    ),
    (
        "decisions that share words",
        |bench| {
            bench
                .prompt("We decided: retries of the payment queue wait ten seconds, the bank asks for it.")
                .done("Noted, that is the plan.");
        },
        |bench| {
            bench
                .prompt("We decided: retries of the mail queue wait ten seconds, the provider asks for it.")
                .done("Noted, that is the plan.");
        },
    ),
    (
        "answers to two questions",
        |bench| {
            bench
                .prompt("Build the export")
                .answered("Which format should the export have?", "CSV")
                .done("It is built.");
        },
        |bench| {
            bench
                .prompt("Build the import")
                .answered("Which format should the import take?", "CSV")
                .done("It is built.");
        },
    ),
    (
        "long answers to long questions that differ in their last word",
        |bench| {
            bench
                .prompt("Build the export")
                .answered(
                    "Which format should the export in the admin area have for dates?",
                    "The one that the accounting program of the head office reads today without a converter",
                )
                .done("It is built.");
        },
        |bench| {
            bench
                .prompt("Build the import")
                .answered(
                    "Which format should the export in the admin area have for amounts?",
                    "Whole cents and no separators, since the bank's import takes nothing else at the moment",
                )
                .done("It is built.");
        },
    ),
    (
        "the same long answer to long questions that differ in their last word",
        |bench| {
            bench
                .prompt("Build the export")
                .answered(
                    "Which format should the export in the admin area have for dates?",
                    "The one that the accounting program of the head office reads today without a converter",
                )
                .done("It is built.");
        },
        |bench| {
            bench
                .prompt("Build the import")
                .answered(
                    "Which format should the export in the admin area have for amounts?",
                    "The one that the accounting program of the head office reads today without a converter",
                )
                .done("It is built.");
        },
    ),
    (
        "answers to questions that differ behind what is kept of them",
        |bench| {
            let reasons =
                "the archive is read by three programs of which no one knows the source any more ".repeat(5);
            let question = format!("Since {reasons}, which format should have the dates?");
            bench
                .prompt("Build the export")
                .answered(&question, "The old one, as today")
                .done("It is built.");
        },
        |bench| {
            let reasons =
                "the archive is read by three programs of which no one knows the source any more ".repeat(5);
            let question = format!("Since {reasons}, which format should have the amounts?");
            bench
                .prompt("Build the import")
                .answered(&question, "The old one, as today")
                .done("It is built.");
        },
    ),
    (
        "answers to a question that says nothing",
        |bench| {
            bench
                .prompt("Build the export")
                .answered("How should I proceed?", "Write the test first")
                .done("It is built.");
        },
        |bench| {
            bench
                .prompt("Build the import")
                .answered("How should I proceed?", "Skip the docs")
                .done("It is built.");
        },
    ),
    (
        "two commits of one subject",
        |bench| {
            bench
                .prompt("commit the parser")
                .bash("git commit -m WIP", "[main 1a2b3c4] WIP\n 1 file changed")
                .done("Committed.");
        },
        |bench| {
            bench
                .prompt("commit the lexer")
                .bash("git commit -m WIP", "[main 2b3c4d5] WIP\n 1 file changed")
                .done("Committed.");
        },
    ),
];

/// The same done again, or undone.
const REPLACED: [(&str, Turn, Turn); 9] = [
    (
        "the same command",
        |bench| {
            bench.prompt("deploy to staging").bash("./scripts/deploy.sh staging", "").done("Deployed.");
        },
        |bench| {
            bench
                .prompt("deploy to staging again")
                .bash("./scripts/deploy.sh staging", "")
                .done("Deployed once more, 12 s.");
        },
    ),
    (
        "a value set anew",
        |bench| {
            bench
                .prompt("Raise the timeout")
                .edit("config/app.toml", &[" [http]", "-timeout = 5", "+timeout = 10"])
                .done("It is 10.");
        },
        |bench| {
            bench
                .prompt("That was too much, take 7")
                .edit("config/app.toml", &[" [http]", "-timeout = 10", "+timeout = 7"])
                .done("It is 7.");
        },
    ),
    (
        "what was put in is taken out",
        |bench| {
            bench
                .prompt("Cache the rates")
                .edit(
                    "src/rates.rs",
                    &[
                        " fn rates() {",
                        "+    if let Some(rates) = CACHE.get() {",
                        "+        return rates.clone();",
                        "+    }",
                        "     let rates = fetch();",
                    ],
                )
                .done("Cached.");
        },
        |bench| {
            bench
                .prompt("The cache is stale, drop it")
                .edit(
                    "src/rates.rs",
                    &[
                        " fn rates() {",
                        "-    if let Some(rates) = CACHE.get() {",
                        "-        return rates.clone();",
                        "-    }",
                        "     let rates = fetch();",
                    ],
                )
                .done("Dropped.");
        },
    ),
    (
        "a function written anew",
        |bench| {
            bench
                .prompt("Parse the date")
                .edit(
                    "src/date.py",
                    &[
                        "+def parse(text):",
                        "+    day, month, year = text.split(\".\")",
                        "+    return date(int(year), int(month), int(day))",
                    ],
                )
                .done("It parses.");
        },
        |bench| {
            bench
                .prompt("Use the library for dates")
                .edit(
                    "src/date.py",
                    &[
                        " def parse(text):",
                        "-    day, month, year = text.split(\".\")",
                        "-    return date(int(year), int(month), int(day))",
                        "+    return isoparse(text)",
                        "-def parse(text):",
                        "+def parse(text: str) -> date:",
                    ],
                )
                .done("It uses the library.");
        },
    ),
    (
        "a commit that is reverted",
        |bench| {
            bench
                .prompt("Retry twice")
                .edit("src/http.rs", &[" fn get() {", "+    retry(2);", " }"])
                .bash("git commit -am 'Retry twice'", "[main 1a2b3c4] Retry twice\n 1 file changed")
                .done("It retries.");
        },
        |bench| {
            bench
                .prompt("Take the retry back")
                .bash(
                    "git revert --no-edit 1a2b3c4",
                    "[main 2b3c4d5] Revert \"Retry twice\"\n 1 file changed",
                )
                .done("Reverted.");
        },
    ),
    (
        "a decision that is taken back",
        |bench| {
            bench
                .prompt("We'll use Redis for the session cache because it is fast.")
                .done("Noted, that is the plan.");
        },
        |bench| {
            bench
                .prompt(
                    "We decided: Postgres holds the session cache instead of Redis, one service less to run.",
                )
                .done("Noted, that is the plan.");
        },
    ),
    (
        "another answer to the same question",
        |bench| {
            bench
                .prompt("Store the orders")
                .answered("Which database should hold the orders?", "SQLite")
                .done("They are stored.");
        },
        |bench| {
            bench
                .prompt("Three workers now")
                .answered("Which database should hold the orders?", "Postgres")
                .done("They are stored.");
        },
    ),
    (
        "another long answer to the same long question",
        |bench| {
            bench
                .prompt("Build the export")
                .answered(
                    "Which format should the export in the admin area have for dates?",
                    "The one that the accounting program of the head office reads today without a converter",
                )
                .done("It is built.");
        },
        |bench| {
            bench
                .prompt("Three workers now")
                .answered(
                    "Which format should the export in the admin area have for dates?",
                    "Years first and with dashes, since the bank's import takes nothing else at the moment",
                )
                .done("It is built.");
        },
    ),
    (
        "the same answer again",
        |bench| {
            bench
                .prompt("Store the orders")
                .answered("Which database should hold the orders?", "Postgres")
                .done("They are stored.");
        },
        |bench| {
            bench
                .prompt("Store the parcels")
                .answered("Which database should hold the orders?", "Postgres")
                .done("They are stored.");
        },
    ),
];

#[test]
fn work_replaces_what_it_does_again_or_undoes_and_nothing_else() {
    let wrong: Vec<&str> = UNRELATED
        .iter()
        .filter(|(_, first, second)| is_replaced(*first, *second))
        .map(|(name, ..)| *name)
        .collect();
    let missed: Vec<&str> = REPLACED
        .iter()
        .filter(|(_, first, second)| !is_replaced(*first, *second))
        .map(|(name, ..)| *name)
        .collect();
    assert_eq!((wrong, missed), (Vec::<&str>::new(), Vec::<&str>::new()), "wrong and missed links");
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
    let named: Vec<&str> = decided.iter().map(|entry| entry.id.as_str()).collect();
    let expected = [
        ("tool:2", format!("decision {long} → Object store in the first region")),
        ("tool:3", "decision Which fields may be searched? → Name, Street".to_owned()),
    ];
    for (call, kind) in expected {
        let id = journal::entry_id("claude-code", "s", &kind, call);
        assert!(named.contains(&id.as_str()), "people know {kind} by {id}: {named:?}");
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

#[test]
fn an_answer_that_comes_late_or_is_forgotten_changes_what_the_next_prompt_has_with_it() {
    let told = |bench: &mut Bench| {
        let is_decision = |line: &String| line.starts_with("decision");
        bench.lines().into_iter().filter(is_decision).collect::<Vec<_>>()
    };
    let mut bench = Bench::new();
    bench.prompt("Where should the sessions of the shop go?");
    bench.done("I'd suggest using Redis for the sessions of the shop.");
    bench.prompt("sounds good").done("Then they go there.");
    let decision = "decision: I'd suggest using Redis for the sessions of the shop → sounds good";
    assert_eq!(told(&mut bench), [decision]);
    let store = &mut bench.store;
    let query = "SELECT row FROM observations WHERE kind = 'turn-end' ORDER BY at LIMIT 1";
    let row: i64 = store.connection().query_row(query, [], |row| row.get(0)).unwrap();
    store
        .write(|transaction| {
            journal::DERIVED.iter().try_for_each(|derived| derived.forget(transaction, &[row]))
        })
        .unwrap();
    assert_eq!(told(&mut bench), Vec::<String>::new(), "what was forgotten is in no other turn");
}
