//! What is found in a conversation, and what is not.

use capture::Rules;
use fixture::conversation::{self, Where};
use learning::candidate::{self, Candidate, Tier};
use learning::detect::Spoken;
use learning::source::transcripts::{Transcripts, Whose};
use lessons::trigger::Verdict;
use lessons_admin::{intake, rehearsal};
use std::fs;
use std::path::Path;
use store::transcripts::Forgotten;

pub(crate) const HERE: Where<'static> = Where { session: "5e55-1", cwd: "/home/ada/engine", minute: 600 };

/// Returns what is made of a conversation.
pub(crate) fn found(text: &str) -> Vec<Candidate> {
    found_in(&conversation::transcript(text, HERE))
}

fn found_in(transcript: &str) -> Vec<Candidate> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("5e55-1.jsonl");
    fs::write(&file, transcript).unwrap();
    let (rules, spoken, forgotten) = (Rules::default(), Spoken::default(), Forgotten::default());
    let read = Transcripts::new(&rules, &spoken, &forgotten).read(&file, 0, Whose::Session).unwrap();
    candidate::make(&read.found, Some(Path::new("/home/ada"))).candidates
}

fn patterns(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|it| it.lesson.trigger.commands[0].as_str()).collect()
}

const JOBS: &str = "\
> build the engine
$ git status
$ cargo build --jobs-max 4
! error: unexpected argument '--jobs-max' found
< The flag is called --jobs.
$ cargo build --jobs 4
= Finished
$ cargo test
= ok
";

#[test]
fn a_failing_command_and_the_form_that_worked_make_a_lesson() {
    let candidates = found(JOBS);
    assert_eq!(patterns(&candidates), ["cargo build --jobs-max"]);
    let it = &candidates[0];
    assert_eq!((it.tier, it.session.as_str()), (Tier::Fixed, "5e55-1"));
    let lesson = &it.lesson;
    assert_eq!(intake::check(lesson), []);
    assert!(lesson.fires.len() >= 2 && lesson.quiet.len() >= 2, "{lesson:?}");
    assert!(lesson.problem.contains("unexpected argument '--jobs-max'"), "{}", lesson.problem);
    assert!(lesson.solution.contains("cargo build --jobs 4"), "{}", lesson.solution);
    for (examples, fires) in [(&lesson.fires, true), (&lesson.quiet, false)] {
        for example in examples {
            let verdict = rehearsal::judge(lesson, example).unwrap();
            assert_eq!(matches!(verdict, Verdict::Applies { .. }), fires, "{example}");
        }
    }
}

#[test]
fn refused_and_interrupted_calls_are_no_failures() {
    let refused = JOBS.replace("! error: unexpected argument '--jobs-max' found\n", "^\n");
    assert_eq!(found(&refused).len(), 0);
    let by_hook =
        conversation::transcript(JOBS, HERE).replace("Exit code 1\\n", "Wyren refused this call (guard x): ");
    assert_eq!(found_in(&by_hook).len(), 0);
}

#[test]
fn nothing_under_a_private_prompt_is_evidence() {
    let private = JOBS.replace("> build the engine", "> <private>build the engine</private>");
    assert_eq!(found(&private).len(), 0);
    let later = format!(
        "{JOBS}> <private>push it</private>\n$ git push --all-of-it\n! error: unknown option `all-of-it'\n$ git push --all\n"
    );
    assert_eq!(patterns(&found(&later)), ["cargo build --jobs-max"]);
}

#[test]
fn what_is_typed_during_a_private_turn_lifts_no_privacy_for_the_next_pass() {
    let begun = conversation::transcript("> <private>build the engine</private>\n$ git status\n", HERE);
    let command = "<command-message>go</command-message><command-name>/go</command-name>";
    let typed = r#"{"type":"attachment","isSidechain":false,"attachment":{"type":"queued_command","prompt":"be quick","commandMode":"prompt","origin":{"kind":"human"}},"uuid":"q1","timestamp":"2026-11-16T10:00:09.000Z","sessionId":"5e55-1","cwd":"/home/ada/engine"}"#;
    let rest = conversation::transcript(JOBS, HERE);
    let rest = rest.split_once('\n').unwrap().1;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("5e55-1.jsonl");
    let (rules, spoken, forgotten) = (Rules::default(), Spoken::default(), Forgotten::default());
    let mut transcripts = Transcripts::new(&rules, &spoken, &forgotten);
    for typed in [typed.to_owned(), typed.replace("be quick", command)] {
        let begun = format!("{begun}{typed}\n");
        fs::write(&file, &begun).unwrap();
        let first = transcripts.read(&file, 0, Whose::Session).unwrap();
        fs::write(&file, format!("{begun}{rest}")).unwrap();
        for from in [0, first.resume] {
            let read = transcripts.read(&file, from, Whose::Session).unwrap();
            assert_eq!(candidate::make(&read.found, None).candidates.len(), 0, "from {from}: {typed}");
        }
    }
}

#[test]
fn a_private_prompt_with_a_picture_or_a_document_before_its_words_is_private() {
    let transcript = conversation::transcript(JOBS, HERE);
    for kind in ["image", "document"] {
        let before = format!(
            r#"[{{"type":"{kind}","source":{{"type":"base64","data":""}}}},{{"type":"text","text":"<private>build the engine</private>"}}]"#
        );
        let transcript = transcript.replacen("\"build the engine\"", &before, 1);
        assert!(transcript.contains(&before));
        assert_eq!(found_in(&transcript).len(), 0, "{kind}");
    }
}

#[test]
fn a_subagent_of_a_private_turn_is_no_evidence_when_it_outlasts_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (session, aside) = (folder.path().join("5e55-1.jsonl"), folder.path().join("agent-1.jsonl"));
    let sidechain =
        conversation::transcript(JOBS, HERE).replace("\"isSidechain\":false", "\"isSidechain\":true");
    fs::write(&aside, &sidechain).unwrap();
    let (rules, spoken, forgotten) = (Rules::default(), Spoken::default(), Forgotten::default());
    let mut transcripts = Transcripts::new(&rules, &spoken, &forgotten);
    let mut found = |first: &str| {
        // The subagent began between the two prompts, and did nearly all of it after the second.
        let asked = |at: &str, text: &str| {
            format!(
                r#"{{"type":"user","isSidechain":false,"uuid":"{at}","timestamp":"{at}","sessionId":"5e55-1","cwd":"/home/ada/engine","message":{{"role":"user","content":"{text}"}}}}"#
            ) + "\n"
        };
        let (began, after) = ("2026-11-16T10:00:01.000Z", "2026-11-16T10:00:01.500Z");
        assert!(sidechain.contains(began));
        fs::write(&session, asked(began, first) + &asked(after, "go on")).unwrap();
        let prompts = transcripts.prompts(&session).unwrap();
        assert_eq!(prompts.len(), 2);
        let read = transcripts.read(&aside, 0, Whose::Subagent(&prompts)).unwrap();
        candidate::make(&read.found, None).candidates.len()
    };
    assert_eq!((found("build"), found("<private>build</private>")), (1, 0));
}

#[test]
fn what_is_edited_or_flaky_is_no_lesson_about_a_command() {
    for text in [
        "> test\n$ cargo test -p core\n! test a ... FAILED\n~ src/lib.rs\n$ cargo test -p core --lib\n= ok",
        "> test\n$ npm run e2e\n! Error: connect ETIMEDOUT\n$ npm run e2e\n= ok",
        "> look\n$ cat src/man.rs\n! cat: src/man.rs: No such file or directory\n$ cat src/main.rs\n= fn main",
        "> test\n$ pytest tests/a.py\n! 1 failed\n$ pytest tests/a.py -x\n= 1 passed",
    ] {
        assert_eq!(patterns(&found(text)), [""; 0], "{text}");
    }
}

#[test]
fn line_10_a_correction_in_a_plain_prompt_counts() {
    let candidates = found(
        "> install left-pad\n$ npm install left-pad\n= added 1 package\n> no, we use pnpm here, never npm\n$ pnpm add left-pad\n= done\n$ git status\n= clean",
    );
    assert_eq!(patterns(&candidates), ["npm"]);
    let lesson = &candidates[0].lesson;
    assert_eq!(candidates[0].tier, Tier::Corrected);
    assert_eq!(lesson.scope.as_deref(), Some(candidates[0].project.as_str()));
    assert!(lesson.problem.contains("we use pnpm here") && lesson.solution.contains("pnpm add left-pad"));
}

#[test]
fn a_correction_that_names_only_what_is_right_counts() {
    for (ran, said, then, pattern) in [
        (
            "npm install zod",
            "No! This repo uses pnpm. How often do I have to say that?",
            "$ pnpm add zod",
            "npm",
        ),
        ("npm test", "in this repo we run tests through `make check`", "$ make check", "npm test"),
        ("pip install flask", "wie oft noch: bei uns uv", "$ uv add flask", "pip"),
        (
            "git commit --no-verify -m a",
            "stop using --no-verify",
            "$ git commit --amend -m b",
            "git commit --no-verify",
        ),
        (
            "docker-compose up -d",
            "combien de fois : `docker compose` sans tiret",
            "$ docker compose up -d",
            "docker-compose up",
        ),
        ("cat src/a.ts", "stop using cat, use the Read tool", "@ Read {\"file_path\": \"src/a.ts\"}", "cat"),
        (
            "kubectl --context prod get pods",
            "never touch prod",
            "$ kubectl --context dev get pods",
            "kubectl --context=prod",
        ),
        ("sudo docker ps", "docker always without sudo here", "$ docker ps", "docker"),
    ] {
        let text = format!("> go on\n$ {ran}\n= ok\n> {said}\n{then}\n= ok\n$ git status\n= ok\n");
        assert_eq!(patterns(&found(&text)), [pattern], "{said}");
    }
    for (ran, said, then) in [
        ("npm install zod", "no, take valibot", "$ npm install valibot"),
        ("npm test", "in this repo the tests are slow", "$ npm run lint"),
        ("cat src/a.ts", "stop, first read the issue", "@ Read {\"file_path\": \"issue.md\"}"),
        ("npm ci", "how often does that fail?", "$ pnpm --version"),
    ] {
        let text = format!("> go on\n$ {ran}\n= ok\n> {said}\n{then}\n= ok\n$ git status\n= ok\n");
        assert_eq!(patterns(&found(&text)), [""; 0], "{said}");
    }
}

#[test]
fn a_correction_is_understood_in_other_languages() {
    for words in [
        "nein, nimm pnpm statt npm",
        "usa pnpm en vez de npm",
        "utilise pnpm au lieu de npm",
        "不要用 npm, 用 pnpm",
        "используй pnpm вместо npm",
        "npm ではなく pnpm を使って",
        "use o pnpm em vez de npm",
        "npm 대신 pnpm 사용해",
        "npm के बजाय pnpm",
    ] {
        let text = format!(
            "> install left-pad\n$ npm install left-pad\n= added\n> {words}\n$ pnpm add left-pad\n= done\n$ git status\n= clean"
        );
        assert_eq!(patterns(&found(&text)), ["npm"], "{words}");
    }
}

#[test]
fn a_correction_may_leave_something_out_or_name_what_the_call_works_on() {
    let about = |text: &str| -> Vec<(String, String)> {
        let candidates = found(&format!("> go\n$ git fetch\n= ok\n{text}\n= ok\n$ git status\n= clean"));
        let of = |it: &Candidate| (it.lesson.trigger.commands[0].clone(), it.lesson.trigger.with.join(" "));
        candidates.iter().map(of).collect()
    };
    let pair = |pattern: &str, with: &str| vec![(pattern.to_owned(), with.to_owned())];
    let left_out = about("$ sudo docker compose up -d\n= ok\n> bitte nicht mit sudo\n$ docker compose up -d");
    assert_eq!(left_out, pair("docker compose up", "@sudo"));
    let narrow = about(
        "$ git push origin main\n= ok\n> don't git push to main, use gh pr create\n$ gh pr create --fill",
    );
    assert_eq!(narrow, pair("git push ... main", ""));
    // Only some of what npm does is done by make.
    assert_eq!(about("$ npm test\n= ok\n> not with npm, use make\n$ make test"), pair("npm test", ""));
    assert_eq!(
        about("$ cargo test\n= ok\n> please always pass --lib here\n$ cargo test --lib"),
        pair("cargo test", "")
    );
    assert_eq!(about("$ cargo test\n= ok\n> not so fast, run it with --lib\n$ cargo test --lib"), []);
    // The last call was right, and this is the next one.
    let next = "$ npm run test\n= ok\n> good, now the same with npm run lint instead of npm run test\n$ npm run lint";
    assert_eq!(about(next), []);
    assert_eq!(about("$ ls -la src\n= ok\n> not src, look at docs without hidden files\n$ ls docs"), []);
}

#[test]
fn a_file_that_is_not_to_be_edited_is_a_lesson_in_its_project() {
    let talk = |words: &str, next: &str| {
        found(&format!(
            "> rename the field\n~ /home/ada/engine/src/gen/api.ts\n> {words}\n~ /home/ada/engine/{next}\n$ git status\n= clean"
        ))
    };
    for words in
        ["src/gen is generated, change the schema", "nein, src/gen nicht anfassen", "src/gen は編集しないで"]
    {
        let candidates = talk(words, "schema/api.proto");
        let [it] = &candidates[..] else { panic!("{words}: {candidates:?}") };
        assert_eq!(it.lesson.trigger.paths, ["**/src/gen/**"]);
        assert_eq!(it.lesson.scope.as_deref(), Some(it.project.as_str()));
        assert_eq!(intake::check(&it.lesson), []);
        for (call, fires) in [
            (r#"{"tool": "Write", "file_path": "src/gen/other.ts"}"#, true),
            (r#"{"tool": "Read", "file_path": "src/gen/api.ts"}"#, false),
            (r#"{"tool": "Edit", "file_path": "src/api.ts"}"#, false),
        ] {
            let applies = matches!(rehearsal::judge(&it.lesson, call), Ok(Verdict::Applies { .. }));
            assert_eq!(applies, fires, "{call}");
        }
    }
    assert_eq!(
        talk("put the field into src/order.ts instead", "src/order.ts").len(),
        0,
        "another place, this once"
    );
    assert_eq!(
        talk("src/gen is generated, run the generator", "src/gen/b.ts").len(),
        0,
        "it was edited again"
    );
}

#[test]
fn a_folder_that_is_named_as_the_project_is_no_lesson_that_fires_nowhere() {
    for (folder, count) in [("service", 1), ("engine", 0)] {
        let candidates = found(&format!(
            "> rename the field\n~ /home/ada/engine/{folder}/api.py\n> {folder}/api.py is generated, change the schema\n~ /home/ada/engine/schema/api.proto\n$ git status\n= clean"
        ));
        assert_eq!(candidates.len(), count, "{folder}: {candidates:?}");
    }
}

#[test]
fn a_report_of_the_model_is_a_lesson_in_its_own_words() {
    let candidates = found(
        "> save my work\n$ git stash --everything\n! error: unknown option `everything'\n$ git stash push --all\n= saved\n< Done.\n  #lesson\n  tool: Bash\n  trigger: git stash --everything\n  problem: git stash has no option --everything,\n    so nothing is saved and the next checkout loses the files.\n  solution: Run `git stash push --all`, which takes ignored and untracked files as well.\n  tags: tool:git, severity:data-loss\n  #/lesson\n$ git status\n= clean",
    );
    assert_eq!(patterns(&candidates), ["git stash --everything"]);
    assert_eq!(candidates[0].tier, Tier::Reported, "the fix is kept once, in the better words");
    assert!(candidates[0].lesson.problem.contains("loses the files"));
    assert_eq!(candidates[0].lesson.tags, ["tool:git", "severity:data-loss"]);
}

#[test]
fn what_is_withdrawn_is_not_found() {
    let text = "> go\n$ frob --widgets\n! unknown option\n$ frob --gadgets\n= ok\n< #lesson\n  tool: Bash\n  trigger: frob --widgets\n  problem: frob knows no --widgets any more, it is an error.\n  solution: Use frob --gadgets in its place, which takes the same values as before.\n  #/lesson\n< I was wrong.\n  #lesson:cancel\n  problem: frob knows\n  #/lesson:cancel\n";
    assert!(found(text).iter().all(|it| it.tier != Tier::Reported));
}

#[test]
fn folders_names_and_secrets_do_not_reach_a_candidate() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!(
        "> deploy\n$ GH_TOKEN={key} enginectl deploy --fast-mode /home/ada/engine/build/3f2a9c1d8e\n! error: unknown flag: --fast-mode in /home/ada/engine/build for ada@corp.example\n$ GH_TOKEN={key} enginectl deploy --mode fast /home/ada/engine/build/3f2a9c1d8e\n= ok\n$ git status\n= clean"
    );
    let candidates = found(&text);
    assert_eq!(candidates.len(), 1);
    let file = lessons::format::render(&candidates[0].lesson);
    for particular in [key.as_str(), "/home/ada", "ada@corp", "3f2a9c1d8e"] {
        assert!(!file.contains(particular), "{particular} in {file}");
    }
}

#[test]
fn the_value_that_worked_is_as_little_of_a_lesson_as_the_call_around_it() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for value in [key.as_str(), "/home/ada/engine-keys"] {
        let candidates = found(&format!(
            "> sync\n$ API_TOKEN=test shopctl sync\n! invalid token: test\n$ API_TOKEN={value} shopctl sync\n= ok\n$ git status\n= clean"
        ));
        let [it] = &candidates[..] else { panic!("{value}: {candidates:?}") };
        assert!(it.lesson.solution.contains("in place of `test`"), "{it:?}");
        assert!(!format!("{it:?}").contains(value), "{it:?}");
    }
}

#[test]
fn a_secret_does_not_become_a_pattern() {
    let key = concat!("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc");
    let text = format!(
        "> sync\n$ STRIPE_API_KEY={key} shopctl sync\n! invalid API key: {key}\n$ STRIPE_API_KEY=none shopctl sync\n= ok\n$ shopctl login --token {key}\n! unknown token {key}, did you mean anonymous\n$ shopctl login --token anonymous\n= ok\n$ git status\n= clean"
    );
    for candidate in found(&text) {
        let file = lessons::format::render(&candidate.lesson);
        assert!(!file.contains(key) && !format!("{candidate:?}").contains(key), "{file}");
    }
}

#[test]
fn line_21_a_half_written_last_line_is_found_by_the_next_pass_and_offsets_stay_exact() {
    let whole = conversation::transcript(JOBS, HERE);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("5e55-1.jsonl");
    let (rules, spoken, forgotten) = (Rules::default(), Spoken::default(), Forgotten::default());
    let make = |found: &_| candidate::make(found, None).candidates.len();
    for ending in ["\n", "\r\n"] {
        let text = whole.replace('\n', ending);
        let cut = text.find("Finished").unwrap();
        fs::write(&file, &text[..cut]).unwrap();
        let mut transcripts = Transcripts::new(&rules, &spoken, &forgotten);
        let first = transcripts.read(&file, 0, Whose::Session).unwrap();
        assert_eq!(make(&first.found), 0);
        assert!(text.as_bytes()[..first.end as usize].ends_with(b"\n"));
        fs::write(&file, text.trim_end()).unwrap();
        let second = transcripts.read(&file, first.resume, Whose::Session).unwrap();
        assert_eq!(make(&second.found), 1, "{ending:?}");
        let third = transcripts.read(&file, second.resume, Whose::Session).unwrap();
        assert_eq!((third.resume, third.end), (second.resume, second.end));
    }
}

#[test]
fn a_tool_other_than_the_shell_that_refused_a_call_makes_a_lesson_about_its_input() {
    let candidates = found(
        "> review it\n@ Agent {\"description\": \"Review\", \"subagent_type\": \"reviewer\", \"prompt\": \"Look.\"}\n! Agent type 'reviewer' not found. Available agents: code-reviewer\n@ Agent {\"description\": \"Review\", \"subagent_type\": \"code-reviewer\", \"prompt\": \"Look.\"}\n= ok\n",
    );
    let [it] = &candidates[..] else { panic!("{candidates:?}") };
    assert_eq!(it.lesson.trigger.tools, ["Agent"]);
    assert_eq!(it.lesson.trigger.inputs, [("subagent_type".to_owned(), "^reviewer$".to_owned())]);
    assert!(it.lesson.solution.contains("Use `code-reviewer` as `subagent_type` in place of `reviewer`."));
    assert!((it.lesson.fires.len(), it.lesson.quiet.len()) == (2, 2), "{:?}", it.lesson);
    for (call, fires) in [
        (r#"{"tool": "Agent", "subagent_type": "reviewer", "prompt": "Something else"}"#, true),
        (r#"{"tool": "Agent", "subagent_type": "Explore", "prompt": "reviewer"}"#, false),
    ] {
        let applies = matches!(rehearsal::judge(&it.lesson, call), Ok(Verdict::Applies { .. }));
        assert_eq!(applies, fires, "{call}");
    }
}

#[test]
fn a_report_about_another_tool_is_a_lesson_about_the_call_that_it_refused() {
    let talk = |refusal: &str| {
        format!(
            "> export\n@ mcp__figma__export {{\"node\": \"logo\", \"format\": \"jpeg\"}}\n{refusal}\n@ mcp__figma__export {{\"node\": \"logo\", \"format\": \"jpg\"}}\n= ok\n< #lesson\n  tool: mcp__figma__export\n  problem: The export knows the format as jpg; jpeg is refused.\n  solution: Pass `jpg` as the format of the export, or png where parts are transparent.\n  #/lesson\n"
        )
    };
    let candidates = found(&talk("! format must be one of: png, jpg"));
    let [it] = &candidates[..] else { panic!("{candidates:?}") };
    assert_eq!((it.tier, it.lesson.trigger.tools[0].as_str()), (Tier::Reported, "mcp__figma__export"));
    assert!(it.lesson.problem.starts_with("The export knows"));
    assert_eq!(found(&talk("= ok")).len(), 0, "no call says what it is about");
}

#[test]
fn what_is_private_in_a_report_does_not_reach_a_candidate() {
    let candidates = found(
        "> stash\n$ git stash save --everything\n! error: unknown option `everything'\n$ git stash push --all\n= Saved\n< #lesson\n  trigger: git stash save --everything\n  problem: git stash has no option --everything <private>since the acme merger</private>, so nothing is saved.\n  solution: Run `git stash push --all`, then check with `git stash list` that an entry is there.\n  #/lesson\n$ git stash list\n= stash@{0}\n",
    );
    let [it] = &candidates[..] else { panic!("{candidates:?}") };
    assert!(
        it.lesson.problem.contains("nothing is saved") && !format!("{it:?}").contains("merger"),
        "{it:?}"
    );
}

#[test]
fn a_refusal_that_a_pipe_hides_is_a_failure() {
    let hidden = "\
> check it
$ cargo clippy --all-target 2>&1 | tail -20
= error: unexpected argument '--all-target' found
$ cargo clippy --all-targets 2>&1 | tail -20
= Finished
$ git status
= clean
> the failing one as well
$ ls --nothing
! ls: unrecognized option '--nothing'
";
    assert_eq!(patterns(&found(hidden)), ["cargo clippy --all-target"]);
    // What is only looked at may have any words.
    for command in ["cat usage.txt | head -3", "docker logs web | tail -20", "rg unknown | head"] {
        let shown = hidden.replace("cargo clippy --all-target 2>&1 | tail -20", command);
        assert_eq!(patterns(&found(&shown)), [""; 0], "{command}");
    }
}

#[test]
fn a_call_that_only_came_to_an_end_in_the_background_is_a_lesson() {
    let hung = "\
> start it
$ npm run dev
! Command timed out after 2m 0.0s
@ Bash {\"command\": \"npm run dev\", \"run_in_background\": true}
= Command running in background
$ curl -s localhost:3000
= ok
";
    let candidates = found(hung);
    assert_eq!(patterns(&candidates), ["npm run dev"]);
    let lesson = &candidates[0].lesson;
    assert_eq!(lesson.trigger.without, ["&"]);
    assert!(lesson.solution.contains("in the background"), "{}", lesson.solution);
    assert!(lesson.tags.contains(&"severity:hang".to_owned()), "{:?}", lesson.tags);
}

#[test]
fn what_alone_was_changed_is_what_helped() {
    let logs = "\
> why does it crash?
$ bq query 'select 1'
! BigQuery error in query operation: Not authorized for project
$ cat README.md
= x
$ bq query --project_id shop-prod 'select 1'
= 1
$ bq ls --project_id shop-prod
= carts
";
    assert_eq!(patterns(&found(logs)), ["bq query"]);
    // Something else was done in between, and may be what helped.
    for between in ["$ gcloud auth login", "~ .bigqueryrc", "@ mcp__cloud__login {\"user\": \"ada\"}"] {
        let disturbed = logs.replace("$ cat README.md\n= x", between);
        assert_eq!(patterns(&found(&disturbed)), [""; 0], "{between}");
    }
    // It judged what it was given, or did less afterwards.
    let judged = logs.replace("Not authorized for project", "1 of 3 assertions failed: FAILED");
    assert_eq!(patterns(&found(&judged)), [""; 0]);
}

#[test]
fn what_puts_a_check_aside_is_a_lesson_only_at_the_users_word() {
    let forced = "\
> clean up
$ git worktree remove wt
! fatal: 'wt' contains modified or untracked files, use --force to delete it
$ git worktree remove --force wt
= done
$ git worktree list
= main
$ git status
= clean
";
    assert_eq!(patterns(&found(forced)), [""; 0]);
    let told = forced.replace(
        "$ git worktree remove --force",
        "> always use --force there\n$ git worktree remove --force",
    );
    assert_eq!(patterns(&found(&told)).len(), 1);
}

#[test]
fn where_new_files_belong_is_a_lesson_of_its_project() {
    let moved = "\
> write a test
@ Write {\"file_path\": \"/home/ada/engine/tests/lexer_test.py\", \"content\": \"x\"}
> don't put tests into tests/, they live next to the code: src/lexer/lexer_test.py
@ Write {\"file_path\": \"/home/ada/engine/src/lexer/lexer_test.py\", \"content\": \"x\"}
";
    let candidates = found(moved);
    let [it] = &candidates[..] else { panic!("{candidates:?}") };
    assert_eq!((it.tier, it.lesson.trigger.paths[0].as_str()), (Tier::Corrected, "**/tests/**/*.py"));
    assert!(it.is_of_project && it.lesson.scope.is_some());
    for (call, fires) in [
        (r#"{"tool":"Write","file_path":"tests/parser_test.py","content":"x"}"#, true),
        (r#"{"tool":"Write","file_path":"tests/data/a.json","content":"x"}"#, false),
        (r#"{"tool":"Edit","file_path":"tests/old_test.py","new_string":"x"}"#, false),
        (r#"{"tool":"Write","file_path":"src/lexer/a_test.py","content":"x"}"#, false),
    ] {
        let verdict = rehearsal::judge(&it.lesson, call).unwrap();
        assert_eq!(matches!(verdict, Verdict::Applies { .. }), fires, "{call}");
    }
    // One file that was meant instead of another says nothing about folders.
    let other = moved.replace(
        "don't put tests into tests/, they live next to the code: src/lexer/lexer_test.py",
        "no, call it parser_test.py",
    );
    assert_eq!(found(&other).len(), 0);
}

#[test]
fn what_works_later_as_it_was_had_failed_for_another_reason() {
    let flaky = "> run them\n$ npx playwright test\n! Timeout 30000ms exceeded.\n$ npx playwright test --workers 1\n= ok\n";
    assert_eq!(patterns(&found(flaky)), ["playwright test"]);
    assert_eq!(found(&format!("{flaky}$ npx playwright test\n= ok\n")).len(), 0);
    // What was advised was meant to come before it.
    let target = "> build it\n$ cargo build --target wasm32-unknown-unknown\n! error[E0463]: can't find crate for `core`\n  = help: consider downloading the target with `rustup target add wasm32-unknown-unknown`\n$ rustup target add wasm32-unknown-unknown\n= ok\n$ cargo build --target wasm32-unknown-unknown\n= Finished\n";
    let candidates = found(target);
    assert_eq!(patterns(&candidates), ["cargo build"]);
    assert!(candidates[0].lesson.summary.contains("before `rustup target add"), "{:?}", candidates[0].lesson);
}

#[test]
fn a_correction_is_not_taken_back_by_what_is_added_to_it() {
    let text = "> start it\n$ docker-compose up -d\n> no, we use podman-compose here, not docker-compose\n> quickly please\n$ podman-compose up -d\n= ok\n$ git status\n";
    assert_eq!(patterns(&found(text)), ["docker-compose"]);
}

#[test]
fn what_has_to_run_first_is_a_lesson_of_its_project() {
    let refused = "! dial tcp 127.0.0.1:5432: connect: connection refused\n";
    let text = format!(
        "> run the tests\n$ go test ./store\n{refused}$ docker compose up -d db\n$ go test ./store\n= ok\n"
    );
    let candidates = found(&text);
    assert_eq!(patterns(&candidates), ["go test"]);
    let lesson = &candidates[0].lesson;
    assert_eq!(intake::check(lesson), []);
    assert_eq!(lesson.scope.as_deref(), Some(candidates[0].project.as_str()));
    assert!(lesson.solution.contains("docker compose up -d db"), "{}", lesson.solution);
    assert!(lesson.quiet.contains(&"docker compose up -d db && go test ./store".to_owned()), "{lesson:?}");
    // Something else may have helped: an edit, or the time that passed.
    for other in ["~ store/open.go\n$ docker compose up -d db\n", "", "$ sleep 5\n", "$ kill 4411\n"] {
        let text = text.replace("$ docker compose up -d db\n", other);
        assert_eq!(patterns(&found(&text)), [""; 0], "{other}");
    }
}

#[test]
fn what_an_error_asks_for_is_found_although_the_command_fails_in_another_way_then() {
    let text = "> run them\n$ npx playwright test\n! Executable doesn't exist. Please run: npx playwright install\n$ npx playwright install\n$ npx playwright test\n! 1 failed\n~ a.ts\n";
    assert_eq!(patterns(&found(text)), ["playwright test"]);
}

#[test]
fn what_the_user_refuses_a_call_with_is_a_correction() {
    let text = "> push it\n$ git push --force origin cart\n^\n$ git push --force-with-lease origin cart\n";
    let said = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\\nnever --force, only --force-with-lease";
    let silent = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let transcript = conversation::transcript(text, HERE);
    assert!(transcript.contains(silent));
    assert_eq!(found_in(&transcript).len(), 0);
    assert_eq!(patterns(&found_in(&transcript.replace(silent, said))), ["git push --force"]);
    let private = said.replace("never --force", "<private>never --force</private>").replace("only --", "");
    assert_eq!(found_in(&transcript.replace(silent, &private)).len(), 0);
}

#[test]
fn how_code_is_written_here_is_a_lesson_about_the_text_of_an_edit() {
    let edit = |old: &str, text: &str| {
        let input = serde_json::json!({"file_path": "/home/ada/engine/src/pay.ts", "old_string": old, "new_string": text});
        format!("@ Edit {input}\n= updated\n")
    };
    let log = "console.log('failed')";
    let (wrong, right) = (edit("a", log), edit(log, "logger.warn('failed')"));
    let candidates =
        found(&format!("> log it\n{wrong}> we don't use console.log here, use logger.warn\n{right}"));
    assert_eq!(candidates.len(), 1);
    let lesson = &candidates[0].lesson;
    assert_eq!(intake::check(lesson), []);
    assert_eq!(
        (&lesson.trigger.content[..], &lesson.trigger.paths[..]),
        (&[r"\bconsole\.log\b".to_owned()][..], &["**/*.ts".to_owned()][..])
    );
    assert!(candidates[0].is_of_project && lesson.fires.len() >= 2 && lesson.quiet.len() >= 2, "{lesson:?}");
    // A wish for this one text.
    assert_eq!(found(&format!("> log it\n{wrong}> hm, log it with logger.warn instead\n{right}")).len(), 0);
}

#[test]
fn a_secret_at_the_end_of_what_is_quoted_is_no_part_of_a_lesson() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let edit = |old: &str, text: &str| {
        let input = serde_json::json!({"file_path": "/home/ada/engine/src/pay.ts", "old_string": old, "new_string": text});
        format!("@ Edit {input}\n= updated\n")
    };
    let line = |call: &str| format!("{call}('{}', '{key}')", "x".repeat(110));
    let (wrong, right) = (edit("a", &line("console.log")), edit(&line("console.log"), &line("logger.warn")));
    let words =
        format!("we don't use console.log here, use logger.warn, {}{key}", "and see to it ".repeat(10));
    let candidates = found(&format!("> log it\n{wrong}> {words}\n{right}"));
    assert_eq!(candidates.len(), 1);
    assert!(!format!("{:?}", candidates[0]).contains("a1B2"), "{:?}", candidates[0].lesson);
}

#[test]
fn the_value_that_a_form_is_shown_with_is_not_the_users() {
    let call = |who: &str| format!("@ mcp__jira__assign {{\"issue\": \"12\", \"assignee\": \"{who}\"}}\n");
    let (wrong, right) = (call("ann"), call("ann@corp.com"));
    let text = format!("> assign it\n{wrong}! invalid assignee: must be an email address\n{right}= ok\n");
    let candidates = found(&text);
    let lesson = &candidates[0].lesson;
    assert!(lesson.summary.contains("dev@example.com"), "{}", lesson.summary);
    assert!(!format!("{lesson:?}").contains("ann@corp.com"), "{lesson:?}");
}

#[test]
fn the_same_command_in_another_folder_is_a_lesson_about_where_it_works() {
    let missing = "! npm error Missing script: \"typecheck\"\n";
    for (line, folder) in [
        ("$ cd web && npm run typecheck\n", "web"),
        ("$ cd web\n$ npm run typecheck\n", "web"),
        ("$ cd packages\n$ cd web\n$ npm run typecheck\n", "packages/web"),
        ("$ cd packages/\n$ cd ./web\n$ npm run typecheck\n", "packages/web"),
        ("$ cd packages\n$ cd ../web\n$ npm run typecheck\n", "web"),
    ] {
        let candidates =
            found(&format!("> check it\n$ npm run typecheck\n{missing}{line}= ok\n$ git status\n"));
        assert_eq!(patterns(&candidates), ["npm run typecheck"], "{line}");
        let lesson = &candidates[0].lesson;
        assert_eq!(lesson.summary, format!("`npm run typecheck` works in the folder `{folder}` here"));
        assert!(lesson.quiet.contains(&format!("cd {folder} && npm run typecheck")), "{lesson:?}");
    }
    for back in
        ["$ cd packages\n$ cd ..\n", "$ cd packages\n$ cd -\n", "$ cd ..\n$ cd web\n", "$ cd ~\n$ cd ..\n"]
    {
        let same =
            found(&format!("> check it\n$ npm run typecheck\n{missing}{back}$ npm run typecheck\n= ok\n"));
        assert_eq!(same.len(), 0, "{back}");
    }
    let outside = found(&format!(
        "> check it\n$ npm run typecheck\n{missing}$ cd /srv/web && npm run typecheck\n= ok\n"
    ));
    assert_eq!(outside.len(), 0);
}
