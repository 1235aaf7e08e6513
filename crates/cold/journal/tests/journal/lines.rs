//! The lines that are made of turns.

use crate::bench::Bench;
use serde_json::json;

#[test]
fn a_fix_is_one_line_with_the_function_and_how_the_tests_went() {
    let mut bench = Bench::new();
    bench
        .prompt("Expired tokens are accepted, fix that")
        .read("src/auth.rs", "fn verify_token() {}\n")
        .edit(
            "src/auth.rs",
            &[" fn verify_token(token: &str) -> bool {", "-    true", "+    !token.is_expired()", "+", " }"],
        )
        .bash_fails("cargo test", "test auth::expired ... FAILED\ntest result: FAILED. 3 passed; 1 failed;")
        .bash_fails(
            "cargo test -p auth",
            "test auth::expired ... FAILED\ntest result: FAILED. 3 passed; 1 failed;",
        )
        .edit("Cargo.lock", &["-a", "+b"])
        .bash("git status && ls", "")
        .bash("cargo test 2>&1 | tail -3", "test result: ok. 4 passed; 0 failed;")
        .bash("git commit -am 'Reject expired tokens'", "[main 1a2b3c4] Reject expired tokens")
        .done("`verify_token` now checks the expiry. All tests pass.");
    assert_eq!(
        bench.lines(),
        [
            "fix: src/auth.rs: `verify_token`, with `token.is_expired` (+2 −1); cargo test failed twice (expired), then passed (4 passed)",
            "  committed 1a2b3c4 \"Reject expired tokens\"; asked: Expired tokens are accepted, fix that; result: `verify_token` now checks the expiry.",
        ]
    );
    let entry = &bench.entries()[0];
    assert_eq!(entry.detail.outcome, "passed");
    assert_eq!(entry.branch.as_deref(), Some("main"));
    assert!(entry.files.iter().any(|file| file.path == "src/auth.rs" && file.is_changed));
}

#[test]
fn a_question_says_what_was_asked_how_much_was_read_and_the_answer() {
    let mut bench = Bench::new();
    bench
        .prompt("Where are the shipping labels stored?")
        .read("src/a.rs", "")
        .read("src/b.rs", "")
        .done("Labels are stored in S3 under `labels/<order>.pdf`. The key is in the table `shipments`.");
    assert_eq!(
        bench.lines(),
        [
            "discovery: asked: Where are the shipping labels stored?; read 2 files; no change; answer: Labels are stored in S3 under `labels/<order>.pdf`",
            "  answer: Labels are stored in S3 under `labels/<order>.pdf`. The key is in the table `shipments`.",
        ]
    );
}

#[test]
fn a_title_without_room_for_an_answer_has_none() {
    let mut bench = Bench::new();
    bench.prompt("Where in the shipping service are the labels of a parcel stored before they are printed?");
    let pattern = "fn (store|keep|put|save|write)_(label|labels|parcel|print)s?";
    bench.put("tool", json!({"tool": "Grep", "input": {"pattern": pattern}, "output": {}}));
    bench.done("Labels are stored in S3 under `labels/<order>.pdf`.");
    let lines = bench.lines();
    assert!(lines[0].ends_with("; no change"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("Labels are stored in S3")), "{lines:#?}");
}

#[test]
fn decisions_and_discoveries_are_entries_of_their_own() {
    let mut bench = Bench::new();
    bench
        .prompt("The report is slow. We'll use a materialized view because the live query blocks writers.")
        .edit("db/report.sql", &["+CREATE MATERIALIZED VIEW sales_report AS", "+SELECT 1;"])
        .done("Added the view. The root cause was a sequential scan on orders. The report went from 9 s to 120 ms.");
    let lines = bench.lines();
    assert!(
        lines.contains(
            &"decision: We'll use a materialized view because the live query blocks writers".to_owned()
        ),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"discovery: The root cause was a sequential scan on orders".to_owned()),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.contains("9 s to 120 ms")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("new `sales_report`")), "{lines:#?}");
}

#[test]
fn failed_turns_refusals_and_messages_in_between_are_in_the_lines() {
    let mut bench = Bench::new();
    bench
        .prompt("Publish the package")
        .put("refused", json!({"tool": "Bash", "input": {"command": "npm publish --force"}, "by": "user", "reason": "not from main"}))
        .put("said", json!({"text": "use the beta tag"}))
        .put("turn-end", json!({"outcome": "failed", "error": "API Error: 529 overloaded"}));
    let lines = bench.lines();
    assert_eq!(
        lines,
        [
            "failure: asked: Publish the package; no change; the turn failed: API Error: 529 overloaded; the user refused `npm publish --force`: not from main",
            "  said while it worked: use the beta tag",
        ]
    );
}

#[test]
fn continuing_prompts_say_what_was_done() {
    let mut bench = Bench::new();
    bench
        .prompt("continue")
        .edit(
            "web/cart.ts",
            &[" export function total(cart: Cart) {", "-  return 0;", "+  return sum(cart);", " }"],
        )
        .done("Done.");
    assert_eq!(bench.lines(), ["change: web/cart.ts: `total` (+1 −1)"]);
    bench.prompt("thanks!").done("You're welcome.");
    assert_eq!(bench.lines().len(), 1);
    assert_eq!(bench.entries().len(), 2, "kept, out of recall");
}

#[test]
fn what_was_run_for_a_question_is_its_answer() {
    let mut bench = Bench::new();
    bench
        .prompt("Do the tests of billing pass on main?")
        .bash_fails(
            "cargo test -p billing",
            "test invoice::rounding ... FAILED\ntest result: FAILED. 3 passed; 1 failed;",
        )
        .done("No: `invoice::rounding` fails on main since the rounding change.");
    let lines = bench.lines();
    assert_eq!(
        lines[0],
        "discovery: asked: Do the tests of billing pass on main?; answer: No: `invoice::rounding` fails on main since the rounding change; cargo test failed (rounding)"
    );
    let mut bench = Bench::new();
    bench
        .prompt("Run the tests of billing")
        .bash("cargo test -p billing", "test result: ok. 4 passed; 0 failed;")
        .done("All pass.");
    assert!(bench.lines()[0].starts_with("change: cargo test passed (4 passed)"), "{:?}", bench.lines());
}

#[test]
fn an_answer_to_an_offer_is_a_decision_with_what_was_offered() {
    let mut bench = Bench::new();
    bench
        .prompt("Where should the sessions of the shop go?")
        .done("Both would work. I'd suggest using Redis for the sessions, since it expires keys by itself.");
    assert!(bench.lines().iter().all(|line| !line.starts_with("decision")), "{:#?}", bench.lines());
    bench.prompt("no, keep Postgres").done("Fine, they stay there.");
    let decision = "decision: I'd suggest using Redis for the sessions, since it expires keys by itself → no, keep Postgres";
    assert!(bench.lines().contains(&decision.to_owned()), "{:#?}", bench.lines());
}

#[test]
fn an_answer_after_a_private_prompt_is_about_nothing_that_was_recorded() {
    for (data, is_decided) in [
        (json!({"text": "no, keep Postgres", "after_private": true}), false),
        (json!({"text": "no, keep Postgres", "after_private": false}), true),
    ] {
        let mut bench = Bench::new();
        bench.prompt("Where should the sessions of the shop go?").done(
            "Both would work. I'd suggest using Redis for the sessions, since it expires keys by itself.",
        );
        bench.put("prompt", data).done("Fine, they stay there.");
        let lines = bench.lines();
        assert_eq!(
            lines.iter().any(|line| line.contains("Redis") && line.contains("Postgres")),
            is_decided,
            "{lines:#?}"
        );
    }
}

#[test]
fn a_prompt_that_names_nothing_has_with_it_the_one_before() {
    let mut bench = Bench::new();
    bench
        .prompt("Why does the login page of the shop show the wrong name?")
        .done("`Header` keeps the name of the last session in a cache that nothing empties.");
    bench
        .prompt("fix it")
        .edit(
            "web/header.ts",
            &[" export function name() {", "-  return cache.name;", "+  return session.name;", " }"],
        )
        .done("The header reads the name from the session.");
    let lines = bench.lines().join("\n");
    let asked = "asked: fix it (after: Why does the login page of the shop show the wrong name?)";
    assert!(lines.contains(asked), "{lines}");
}

#[test]
fn reverted_work_says_so_and_renames_and_deletions_are_named() {
    let mut bench = Bench::new();
    bench
        .prompt("try a cache")
        .edit("src/cache.rs", &[" fn get() {", "-    a", "+    b", " }"])
        .bash("git checkout -- src/cache.rs", "")
        .bash("git mv src/old.rs src/new.rs && rm src/gone.rs", "")
        .done("It did not help, so I put it back.");
    let lines = bench.lines();
    assert!(lines[0].contains("src/cache.rs: `get`: changed, then reverted"), "{lines:#?}");
    assert!(lines[0].contains("renamed src/old.rs to src/new.rs; deleted src/gone.rs"), "{lines:#?}");
}

#[test]
fn a_summary_by_a_model_takes_the_place_of_the_one_by_rules() {
    let mut bench = Bench::new();
    bench
        .prompt("Add a retry")
        .edit("src/q.rs", &[" fn send() {", "+    retry();", " }"])
        .done("Added. Next step: a metric for it.");
    let summaries = bench.summaries();
    assert_eq!(summaries[0].request, "Add a retry");
    assert_eq!(summaries[0].completed, "src/q.rs: `send` (+1)");
    assert!(summaries[0].next_steps.contains("metric"), "{summaries:?}");
    let id = bench.entries()[0].id.clone();
    bench.put(
        "summary",
        json!({"request": "Retry sends", "source": "model", "entries": {id: "Sends are retried"}}),
    );
    let summaries = bench.summaries();
    assert_eq!((summaries.len(), summaries[0].request.as_str()), (1, "Retry sends"));
    assert_eq!(bench.entries()[0].title, "Sends are retried");
}

#[test]
fn an_edit_that_failed_has_its_words_unless_it_was_made_after_all() {
    let fails = |bench: &mut Bench, path: &str| {
        bench.put("tool", json!({
            "tool": "Edit", "input": {"file_path": format!("/home/dev/shop/{path}"), "old_string": "a", "new_string": "b"},
            "error": "<tool_use_error>String to replace not found in file.\nString: a</tool_use_error>",
        }));
    };
    let mut bench = Bench::new();
    bench.prompt("Set the width of labels and of receipts");
    fails(&mut bench, "src/label.rs");
    fails(&mut bench, "src/receipt.rs");
    bench.edit("src/label.rs", &["-const WIDTH: u32 = 40;", "+const WIDTH: u32 = 48;"]);
    bench.done("The labels are wider; I could not find the width of receipts.");
    let text = bench.lines().join("\n");
    assert!(text.contains("src/label.rs: `WIDTH` 40 → 48"), "{text}");
    assert!(
        text.contains("an edit of src/receipt.rs failed: String to replace not found in file."),
        "{text}"
    );
    assert!(!text.contains("an edit of src/label.rs failed"), "{text}");
}

#[test]
fn a_failed_command_without_a_name_has_its_words_where_nothing_else_was_done() {
    let fails = |bench: &mut Bench, command: &str, error: &str| {
        bench.put("tool", json!({"tool": "Bash", "input": {"command": command}, "error": error}));
    };
    let mut bench = Bench::new();
    bench.prompt("Is the volume mounted on the build server?");
    fails(&mut bench, "ls /mnt/artifacts", "Exit code 2\nls: cannot access '/mnt/artifacts'");
    // No match is an answer, and what was done again and went well has not failed.
    fails(&mut bench, "grep artifacts /etc/fstab", "Exit code 1");
    fails(&mut bench, "df /mnt", "Exit code 126");
    bench.bash("df /mnt", "tmpfs");
    bench.done("Not mounted.");
    let text = bench.lines().join("\n");
    assert!(text.contains("`ls /mnt/artifacts` failed (ls: cannot access '/mnt/artifacts')"), "{text}");
    assert!(!text.contains("grep") && !text.contains("`df /mnt` failed"), "{text}");
    assert!(text.contains("answer: Not mounted."), "{text}");
}

#[test]
fn files_that_git_put_back_are_reverted_with_and_without_dashes() {
    for (command, output) in
        [("git checkout -- src/a.rs", ""), ("git checkout src/a.rs", "Updated 1 path from the index")]
    {
        let mut bench = Bench::new();
        bench.prompt("Try the other parser");
        bench.edit("src/a.rs", &[" fn parse() {", "-    old()", "+    new()", " }"]).bash(command, output);
        bench.done("It is slower, so I put it back.");
        assert!(bench.lines()[0].contains("reverted"), "{command}: {:?}", bench.lines());
    }
    let mut bench = Bench::new();
    bench.prompt("Go on on the other branch");
    bench.edit("src/a.rs", &[" fn parse() {", "-    old()", "+    new()", " }"]);
    bench.bash("git checkout main", "Switched to branch 'main'").done("I am on main now, with the change.");
    assert!(!bench.lines()[0].contains("reverted"), "{:?}", bench.lines());
}

#[test]
fn a_cell_of_a_notebook_is_named_by_what_is_new_in_it() {
    let mut bench = Bench::new();
    let path = "/home/dev/shop/eta.ipynb";
    bench.prompt("The split leaks").put(
        "tool",
        json!({"tool": "Read", "input": {"file_path": path}, "output": {"type": "notebook", "file": {"cells": [
            {"cellType": "code", "cell_id": "a", "source": "train, test = train_test_split(rows)"}]}}}),
    );
    bench.put(
        "tool",
        json!({
            "tool": "NotebookEdit", "output": {},
            "input": {"notebook_path": path, "cell_id": "a", "edit_mode": "replace",
                      "new_source": "split = GroupShuffleSplit(rows)\ntrain, test = split"},
        }),
    );
    bench.done("Split by route.");
    assert!(bench.lines()[0].contains("eta.ipynb: "), "{:?}", bench.lines());
    assert!(bench.lines()[0].contains("with `GroupShuffleSplit` (+2 −1)"), "{:?}", bench.lines());
}

#[test]
fn what_a_server_was_had_to_write_is_work_and_what_it_was_asked_is_none() {
    let mut bench = Bench::new();
    bench.prompt("File an issue for that").put(
        "tool",
        json!({"tool": "mcp__linear__list_teams", "input": {}, "output": [{"type": "text", "text": "[]"}]}),
    );
    bench.put(
        "tool",
        json!({"tool": "mcp__linear__createIssue", "input": {"title": "Empty label"}, "output": []}),
    );
    bench.done("Filed as PLA-77.");
    let lines = bench.lines();
    assert_eq!(
        lines[0],
        "change: linear createIssue \"Empty label\"; asked: File an issue for that; result: Filed as PLA-77."
    );
    let mut bench = Bench::new();
    bench.prompt("Which teams are there?").put(
        "tool",
        json!({"tool": "mcp__linear__list_teams", "input": {}, "output": [{"type": "text", "text": "[]"}]}),
    );
    bench.done("There is only the platform team so far.");
    assert!(bench.lines()[0].starts_with("discovery: asked: Which teams are there?"), "{:?}", bench.lines());
}

#[test]
fn a_look_that_failed_is_kept_with_the_entry() {
    let mut bench = Bench::new();
    bench.prompt("Rename the label");
    for (tool, input, error) in [
        ("Bash", json!({"command": "cat notes"}), "Exit code 1\ncat: notes: No such file or directory"),
        ("Bash", json!({"command": "grep -r label docs"}), "Exit code 1"),
        ("Read", json!({"file_path": "/home/dev/shop/gone.rs"}), "File does not exist."),
    ] {
        bench.put("tool", json!({"tool": tool, "input": input, "error": error}));
    }
    bench
        .edit("src/label.rs", &["-const NAME: &str = \"a\";", "+const NAME: &str = \"b\";"])
        .done("Renamed.");
    assert!(!bench.lines().join("\n").contains("notes"), "{:?}", bench.lines());
    assert_eq!(
        bench.entries()[0].detail.failed,
        [
            "`cat notes` failed: cat: notes: No such file or directory",
            "`Read gone.rs` failed: File does not exist."
        ]
    );
}

/// Goes through a turn: `~ path name` edits a function, `+ path name` writes a new file, `$ command ⏎ output` runs a command, and
/// `! command` one that fails. Returns the lines.
fn told(steps: &[&str]) -> String {
    let mut bench = Bench::new();
    bench.prompt("Try it");
    for step in steps {
        let (kind, rest) = step.split_once(' ').unwrap();
        match kind {
            "~" => {
                let (path, name) = rest.split_once(' ').unwrap();
                let lines = [
                    format!(" fn {name}() {{"),
                    format!("-    old_{name}();"),
                    format!("+    new_{name}();"),
                    " }".into(),
                ];
                bench.edit(path, &lines.each_ref().map(String::as_str));
            }
            "+" => {
                let (path, name) = rest.split_once(' ').unwrap();
                bench.put(
                    "tool",
                    json!({
                        "tool": "Write", "output": {"type": "create", "structuredPatch": []},
                        "input": {"file_path": format!("/home/dev/shop/{path}"), "content": format!("fn {name}() {{\n    go();\n}}\n")},
                    }),
                );
            }
            "!" => {
                bench.bash_fails(rest, "");
            }
            _ => {
                let (command, output) = rest.split_once(" ⏎ ").unwrap_or((rest, ""));
                bench.bash(command, output);
            }
        }
    }
    bench.done("That is it for now, as far as I can see.");
    bench.lines().join("\n")
}

/// Checks turns: what their lines say and what they do not.
#[track_caller]
fn check_told(cases: &[(&[&str], &[&str], &[&str])]) {
    let mut wrong = String::new();
    for (steps, says, says_not) in cases {
        let told = told(steps);
        let is_right =
            says.iter().all(|part| told.contains(part)) && !says_not.iter().any(|part| told.contains(part));
        if !is_right {
            wrong.push_str(&format!("{steps:?}\n  must say {says:?}, not {says_not:?}\n{told}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn changes_that_were_taken_back_do_not_stand() {
    const GONE: &[&str] = &["`parse`", ": changed, then reverted"];
    const STAYS: &[&str] = &["`parse`"];
    const BACK: &[&str] = &["reverted", "stashed", "put back"];
    let edit = "~ src/a.rs parse";
    check_told(&[
        (&[edit, "$ git checkout ."], GONE, &[]),
        (
            &[edit, "~ web/b.rs draw", "$ git checkout -- src/"],
            &["`parse`", ": changed, then reverted; web/b.rs: `draw`, with `new_draw` (+1 −1)"],
            &[],
        ),
        (&[edit, "$ git stash"], &["`parse`", ": changed, then stashed"], &[]),
        (
            &[edit, "$ git stash -u && cargo check ⏎ x", "$ git stash pop"],
            STAYS,
            &["reverted", "then stashed"],
        ),
        (&[edit, "$ git commit -am Parse ⏎ [main 1a2b3c4] Parse", "$ git reset --hard"], STAYS, BACK),
        (&[edit, "$ git commit -am Parse ⏎ [main 1a2b3c4] Parse", "$ git reset --hard HEAD~1"], GONE, &[]),
        (&["+ src/n.rs parse", "$ git clean -fd"], GONE, &[]),
        (&["+ src/n.rs parse", "$ git checkout ."], STAYS, BACK),
        (&[edit, "$ git restore --staged src/a.rs"], STAYS, BACK),
        (&[edit, "$ git restore -s HEAD~1 src/a.rs"], GONE, &["HEAD"]),
        (&[edit, "$ cp /tmp/x.rs src/a.rs"], &["src/a.rs"], &["`parse`"]),
        (&["$ cp src/a.rs src/a.rs.bak", edit, "$ mv src/a.rs.bak src/a.rs"], GONE, &["bak"]),
        (&[edit, "$ cd src && git checkout a.rs"], GONE, &[]),
        (&[edit, "! git checkout HEAD -- src/a.rs; cargo test"], GONE, &[]),
        (&[edit, "$ git diff; git checkout main ⏎ Switched to branch 'main'"], STAYS, BACK),
        (&[edit, "$ git checkout -q src/a.rs"], GONE, &[]),
        (&[edit, "$ git checkout .", "~ src/a.rs print"], &["`print`"], &["`parse`", "reverted"]),
        (&[edit, "$ git checkout HEAD~1 -- src/a.rs"], GONE, &[]),
        (&[edit, "$ git stash push -m wip src/a.rs"], &["`parse`", ": changed, then stashed"], &[]),
        (&[edit, "$ git stash", "$ git stash drop"], GONE, &[]),
        (
            &[edit, "$ git add -A && git commit -qm Parse", "~ src/a.rs print", "$ git restore ."],
            STAYS,
            &["`print`", "reverted"],
        ),
        (&[edit, "$ cat > src/a.rs <<'E'\nfn other() {}\nE"], &["src/a.rs"], &["`parse`"]),
        (&[edit, "$ git clean -n"], STAYS, BACK),
        (&[edit, "$ git checkout -b topic"], STAYS, BACK),
        (&[edit, "$ git reset --soft HEAD~1"], STAYS, BACK),
        (&["+ src/n.rs parse", "$ git add src/n.rs", "$ git reset --hard"], GONE, &[]),
        (&[edit, "$ git -C src checkout -- a.rs"], GONE, &[]),
        (&[edit, "$ git restore 'src/*.rs'"], GONE, &[]),
        (&[edit, "$ sed -i s/a/b/ src/a.rs"], STAYS, BACK),
        (&[edit, "! git stash pop"], STAYS, BACK),
        (&[edit, "$ git checkout --force main ⏎ Switched to branch 'main'"], GONE, &[]),
        (
            &[
                edit,
                "$ git checkout src/a.rs && git checkout main ⏎ Updated 1 path from the index\nSwitched to branch 'main'",
            ],
            GONE,
            &["branch src"],
        ),
    ]);
}

#[test]
fn a_commit_of_the_turn_that_is_reverted_leaves_its_changes_out_and_no_others() {
    const GONE: &[&str] = &["`parse`", ": changed, then reverted"];
    const STAYS: &[&str] = &["`parse`"];
    const NOT: &[&str] = &["then reverted"];
    let (edit, other) = ("~ src/a.rs parse", "~ web/b.rs draw");
    let commit = "$ git commit -am Parse ⏎ [main 1a2b3c4] Parse";
    let second = "$ git add web && git commit -m Draw ⏎ [main 2b3c4d5] Draw";
    let revert = "$ git revert --no-edit HEAD ⏎ [main 3c4d5e6] Revert \"Parse\"";
    check_told(&[
        (&[edit, commit, revert], GONE, &[]),
        (&[edit, commit, "$ git revert --no-commit @"], GONE, &[]),
        (&[edit, "$ git add -A && git commit -m Parse && git revert -m 1 HEAD"], GONE, &[]),
        (
            &["+ src/n.rs parse", "$ git add -A && git commit -qm Parse", "$ git revert --no-edit HEAD"],
            GONE,
            &[],
        ),
        (
            &[edit, commit, other, second, "$ git revert --no-edit HEAD"],
            &["`parse`", "web/b.rs", "`new_draw`: changed, then reverted"],
            &["`new_parse`: changed"],
        ),
        (
            &[edit, commit, other, "$ git commit -am Draw", "$ git revert --no-edit HEAD"],
            &["`new_draw`: changed, then reverted"],
            &["`new_parse`: changed"],
        ),
        // The first commit still has it.
        (
            &[edit, commit, "~ src/a.rs print", "$ git commit -am Print", "$ git revert --no-edit HEAD"],
            STAYS,
            NOT,
        ),
        // What is not committed is in no commit that could be reverted.
        (&[edit, "$ git revert --no-edit HEAD"], STAYS, NOT),
        (&[edit, commit, revert, "~ src/a.rs print"], &["`print`"], NOT),
    ]);
}

#[test]
fn below_the_root_a_reset_puts_back_all_files_and_a_dot_those_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for path in [".git/refs", ".git/objects", "web", "shared"] {
        std::fs::create_dir_all(root.join(path)).unwrap();
    }
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for (command, is_put_back) in [
        ("git reset --hard", true),
        ("git reset --hard HEAD", true),
        ("git checkout -f", true),
        ("git switch --discard-changes main", true),
        ("git checkout -- :/", true),
        ("git checkout .", false),
        ("git restore .", false),
    ] {
        let mut bench = Bench::new();
        bench.in_folder(root.join("web").to_str().unwrap()).prompt("Try the other parser");
        let input = json!({"file_path": root.join("shared/a.ts"), "old_string": "a", "new_string": "b"});
        let patch =
            json!([{"oldStart": 10, "lines": [" function parse() {", "-  old();", "+  fresh();", " }"]}]);
        bench.put("tool", json!({"tool": "Edit", "input": input, "output": {"structuredPatch": patch}}));
        bench.bash(command, "").done("It is slower.");
        let lines = bench.lines().join("\n");
        assert!(lines.contains("shared/a.ts: `parse`"), "{command}: {lines}");
        assert_eq!(lines.contains("then reverted"), is_put_back, "{command}: {lines}");
    }
}
