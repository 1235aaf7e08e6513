//! What a handoff must have, by the lists that were written by hand: `tests/data/handoffs`.

use capture::Rules;
use gather::{Around, Bounds, Thread};
use handoff::{Draft, Name};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines, in percent, that have nothing of the list.
const MOST_OTHER_LINES: usize = 20;

#[derive(Deserialize)]
struct Golden {
    goals: Vec<String>,
    commands: Vec<String>,
    paths: Vec<String>,
    ids: Vec<String>,
    decisions: Vec<Vec<String>>,
    dead_ends: Vec<Vec<String>>,
    pending: Vec<String>,
    /// What must not be in it: it would be noise, or wrong.
    #[serde(default)]
    absent: Vec<String>,
}

impl Golden {
    fn facts(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let single = [&self.goals, &self.commands, &self.paths, &self.ids, &self.pending];
        let single = single.into_iter().flatten().map(|phrase| vec![phrase.to_lowercase()]);
        let several = self.decisions.iter().chain(&self.dead_ends);
        single.chain(several.map(|phrases| phrases.iter().map(|phrase| phrase.to_lowercase()).collect()))
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data")
}

/// Writes the transcript that a client would have written of a session which is kept as observations.
fn transcript_of(session: &Path) -> String {
    let mut lines = Vec::new();
    let mut branch = String::new();
    let text = fs::read_to_string(session).unwrap();
    for line in text.lines() {
        let observation: Value = serde_json::from_str(line).unwrap();
        let data = &observation["data"];
        if let Some(named) = data["branch"].as_str() {
            branch = named.to_owned();
        }
        let mut write = |kind: &str, content: Value| {
            lines.push(json!({
                "type": kind, "message": {"role": kind, "content": content}, "cwd": observation["cwd"],
                "gitBranch": branch, "sessionId": observation["session"], "isSidechain": false,
            }));
        };
        match observation["kind"].as_str().unwrap() {
            "prompt" => write("user", data["text"].clone()),
            "turn-end" => write("assistant", json!([{"type": "text", "text": data["text"]}])),
            "tool" | "refused" => {
                let id = &data["tool_use_id"];
                let call =
                    json!([{"type": "tool_use", "id": id, "name": data["tool"], "input": data["input"]}]);
                write("assistant", call);
                let refused = data["reason"].as_str().map(|reason| {
                    format!("The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{reason}")
                });
                let error = data["error"].as_str().map(str::to_owned).or(refused);
                let printed = data["output"]["stdout"].as_str().unwrap_or("done").to_owned();
                write(
                    "user",
                    json!([{
                        "type": "tool_result", "tool_use_id": id, "is_error": error.is_some(),
                        "content": error.unwrap_or(printed),
                    }]),
                );
            }
            _ => {}
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Gathers what is recorded by these rules, without what was forgotten.
fn draft_by(rules: &Rules, forgotten: &[&str], path: &Path, around: &Around) -> Draft {
    let is_forgotten = |id: &str| forgotten.contains(&id);
    let bounds = Bounds { rules, is_forgotten: &is_forgotten };
    gather::draft(&Thread::read(path, bounds).unwrap(), around, bounds)
}

fn draft(path: &Path, around: &Around) -> Draft {
    draft_by(&Rules::default(), &[], path, around)
}

fn gathered(name: &str) -> Draft {
    let folder = data().join("journal").join(name);
    let written_by_hand = data().join("handoffs").join(format!("{name}.jsonl"));
    let found = [folder.join("transcript.jsonl"), written_by_hand].into_iter().find(|path| path.exists());
    let written = tempfile::NamedTempFile::new().unwrap();
    let path = if let Some(found) = found {
        found
    } else {
        fs::write(written.path(), transcript_of(&folder.join("session.jsonl"))).unwrap();
        written.path().to_owned()
    };
    let around = Around { session: "s".to_owned(), window: Some(200_000), ..Around::default() };
    draft(&path, &around)
}

#[test]
fn every_fact_of_a_session_is_in_its_handoff_and_little_else() {
    let mut problems = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(data().join("handoffs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        count += 1;
        let name = path.file_stem().unwrap().to_str().unwrap();
        let golden: Golden = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let draft = gathered(name);
        let text: Vec<&str> = draft.sections.iter().map(|section| section.text.as_str()).collect();
        let text = text.join("\n");
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let lines: Vec<String> = text.lines().filter(is_content).map(str::to_lowercase).collect();
        for fact in golden.facts() {
            if !lines.iter().any(|line| fact.iter().all(|phrase| line.contains(phrase))) {
                problems.push(format!("{name}: lacks {fact:?}"));
            }
        }
        for phrase in golden.absent.iter().map(|phrase| phrase.to_lowercase()) {
            problems.extend(
                lines
                    .iter()
                    .filter(|line| line.contains(&phrase))
                    .map(|line| format!("{name}: has {phrase:?}: {line}")),
            );
        }
        let phrases: Vec<String> = golden.facts().flatten().collect();
        let is_other = |line: &&String| !phrases.iter().any(|phrase| line.contains(phrase));
        let other: Vec<&String> = lines.iter().filter(is_other).collect();
        if other.len() * 100 > lines.len() * MOST_OTHER_LINES {
            problems.push(format!(
                "{name}: {} of {} lines are none of these: {other:#?}",
                other.len(),
                lines.len()
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(count, 17);
}

fn write(lines: &[Value]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    file
}

fn said(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn ran(id: &str, command: &str, output: &str) -> [Value; 2] {
    [
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}}),
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": output}]}}),
    ]
}

fn compacted() -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
        "compactMetadata": {"trigger": "auto", "preTokens": 1}})
}

fn whole(file: &tempfile::NamedTempFile) -> String {
    let around = Around { session: "s".to_owned(), with_thread: true, ..Around::default() };
    let draft = draft(file.path(), &around);
    format!("{draft:?}")
}

#[test]
fn a_private_prompt_and_what_is_under_it_are_left_out_also_across_a_compaction() {
    let mut lines = vec![said("fix the cart")];
    lines.extend(ran("a", "make cart", "ok"));
    lines.push(said("<private>the merger</private>"));
    lines.extend(ran("b", "grep merger-plan", "ok"));
    lines.push(compacted());
    lines.extend(ran("c", "cat merger-costs", "ok"));
    let text = whole(&write(&lines));
    assert!(text.contains("fix the cart") && text.contains("make cart"), "{text}");
    assert!(!text.contains("merger"), "{text}");
    // As much lies between as is looked back for turns.
    let filler = "x".repeat(gather::budget::BACK_BYTES as usize + 1);
    lines.push(json!({"type": "system", "subtype": "note", "content": filler}));
    lines.extend(ran("d", "cat merger-names", "ok"));
    let text = whole(&write(&lines));
    assert!(!text.contains("merger"), "{text}");
    lines.push(said("go on with the cart"));
    lines.extend(ran("e", "make all", "ok"));
    let text = whole(&write(&lines));
    assert!(text.contains("fix the cart") && text.contains("make all") && !text.contains("merger"), "{text}");
}

#[test]
fn what_is_typed_during_a_private_turn_lifts_no_privacy() {
    let command = "<command-message>go</command-message><command-name>/go</command-name>";
    for typed in ["go on", command] {
        let queued = json!({"type": "queued_command", "prompt": typed, "commandMode": "prompt", "origin": {"kind": "human"}});
        let mut lines = vec![said("fix the cart"), said("<private>the merger</private>")];
        lines.push(json!({"type": "attachment", "attachment": queued}));
        lines.extend(ran("a", "grep merger-plan", "ok"));
        let text = whole(&write(&lines));
        assert!(text.contains("fix the cart") && !text.contains("merger"), "{text}");
        lines.push(said("go on with the cart"));
        lines.extend(ran("b", "make cart", "ok"));
        let text = whole(&write(&lines));
        assert!(text.contains("make cart") && !text.contains("merger"), "{text}");
    }
}

#[test]
fn of_a_huge_transcript_the_end_is_read() {
    let mut lines = vec![said("fix the cart")];
    lines.extend(ran("a", "make old", "ok"));
    let filler = "x".repeat(1024 * 1024);
    let note = json!({"type": "system", "subtype": "note", "content": filler});
    lines.extend(std::iter::repeat_n(note, gather::budget::MOST_BYTES as usize / filler.len() + 1));
    lines.push(said("go on with the cart"));
    lines.extend(ran("b", "make new", "ok"));
    let text = whole(&write(&lines));
    assert!(
        text.contains("fix the cart") && text.contains("make new") && !text.contains("make old"),
        "{text}"
    );
}

#[test]
fn secrets_and_calls_of_wyren_are_left_out() {
    let key = format!("sk-ant-api03-{}", "Ab9".repeat(31));
    let mut lines = vec![said(&format!("use {key}"))];
    lines.extend(ran("a", &format!("curl -H 'x-api-key: {key}' https://api.example"), &key));
    lines.extend(ran("b", "wyren memory", "the team's memory"));
    let text = whole(&write(&lines));
    assert!(text.contains("curl") && !text.contains("Ab9Ab9"), "{text}");
    assert!(!text.contains("the team's memory") && !text.contains("wyren memory"), "{text}");
}

fn sections(file: &tempfile::NamedTempFile) -> Draft {
    draft(file.path(), &Around { session: "s".to_owned(), ..Around::default() })
}

#[test]
fn a_command_in_the_background_has_passed_or_failed_when_the_client_says_so() {
    let begun = "Command running in background with ID: b12. Output is being written to: /tmp/b12.output.";
    let mut lines = vec![said("import the orders")];
    lines.extend(ran("a", "make import", begun));
    let text = sections(&write(&lines));
    assert!(text.text(Name::Pending).contains("`make import` It had not ended."), "{text:?}");
    assert!(text.text(Name::Context).contains("- b12: in the background: make import"), "{text:?}");

    let notice = "<task-notification>\n<task-id>b12</task-id>\n<status>failed</status>\n<summary>Background command failed with exit code 2</summary>\n</task-notification>";
    let attached = json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": notice, "commandMode": "task-notification"}});
    for told in [attached, said(notice)] {
        let mut lines = lines.clone();
        lines.push(told);
        let text = sections(&write(&lines));
        let failed = "- `make import` failed: Background command failed with exit code 2";
        assert!(text.text(Name::DeadEnds).contains(failed), "{text:?}");
        assert!(text.text(Name::Pending).contains("`make import` It failed."), "{text:?}");
    }
    let done = notice.replace("failed", "completed");
    lines.push(said(&done));
    let text = sections(&write(&lines));
    assert!(text.text(Name::Pending).contains("`make import` It passed."), "{text:?}");
    assert!(text.text(Name::DeadEnds).is_empty() && text.text(Name::Summary).matches("Asked").count() == 1);
}

#[test]
fn a_refusal_without_a_word_has_the_next_prompt_as_its_reason() {
    let call = |id: &str, name: &str, input: Value, output: &str, is_error: bool| {
        [
            json!({"type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": name, "input": input}]}}),
            json!({"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}]}}),
        ]
    };
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.";
    let mut lines = vec![said("make room")];
    lines.extend(call("a", "Bash", json!({"command": "rm -r cache"}), refused, true));
    lines.push(said("[Request interrupted by user for tool use]"));
    lines.push(said("that is the only copy"));
    lines.extend(call("b", "mcp__tickets__get", json!({"id": "T-9"}), "error: no such ticket", true));
    lines.extend(call("c", "mcp__plugin_wyren_wyren__search", json!({"query": "room"}), "nothing", false));
    let text = sections(&write(&lines));
    let dead_ends = text.text(Name::DeadEnds);
    assert!(dead_ends.contains("- `rm -r cache` was refused: that is the only copy"), "{dead_ends}");
    assert!(
        dead_ends.contains("- `mcp__tickets__get {\"id\":\"T-9\"}` failed: error: no such ticket"),
        "{dead_ends}"
    );
    assert!(!format!("{text:?}").contains("mcp__plugin_wyren"), "{text:?}");
}

#[test]
fn a_prompt_after_the_next_one_is_no_reason_of_a_refusal() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.";
    let ours = "<command-message>wyren:lessons</command-message><command-name>/wyren:lessons</command-name>";
    for next in ["<private>the merger</private>", ours] {
        let mut lines = vec![said("make room")];
        lines.extend(ran("a", "rm -r cache", refused));
        lines[2]["message"]["content"][0]["is_error"] = json!(true);
        lines.extend([said(next), said("now the tests")]);
        let text = sections(&write(&lines));
        let dead_ends = text.text(Name::DeadEnds);
        assert!(dead_ends.contains("`rm -r cache` was refused"), "{dead_ends}");
        assert!(!dead_ends.contains("now the tests"), "{dead_ends}");
    }
}

#[test]
fn nothing_is_gathered_from_nothing() {
    let around = Around::default();
    let empty = write(&[]);
    assert!(draft(empty.path(), &around).sections.is_empty());
    let private = write(&[said("<private>x</private>")]);
    assert!(draft(private.path(), &around).sections.is_empty());
}

#[test]
fn what_was_forgotten_is_not_gathered_again() {
    let of = |prompt: &str, mut line: Value| {
        line["promptId"] = json!(prompt);
        line
    };
    let mut lines = vec![of("p1", said("fix the cart"))];
    lines.extend(ran("a", "make cart", "ok"));
    lines.extend(ran("b", "grep merger-plan", "ok"));
    lines.push(of("p2", said("what about the merger?")));
    lines.extend(ran("c", "cat merger-costs", "ok"));
    lines.push(of("p3", said("go on with the checkout")));
    lines.extend(ran("d", "make checkout", "ok"));
    let gathered = |lines: &[Value]| {
        let around = Around { session: "s".to_owned(), with_thread: true, ..Around::default() };
        format!("{:?}", draft_by(&Rules::default(), &["t:b", "p:p2"], write(lines).path(), &around))
    };
    let text = gathered(&lines);
    assert!(
        text.contains("make cart") && text.contains("make checkout") && !text.contains("merger"),
        "{text}"
    );
    // Nor as the first prompt, or as that under which the end was written.
    lines[0] = of("p2", said("what about the merger?"));
    lines.truncate(1);
    lines.extend(ran("c", "cat merger-costs", "ok"));
    lines.push(compacted());
    let filler = "x".repeat(gather::budget::BACK_BYTES as usize + 1);
    lines.push(json!({"type": "system", "subtype": "note", "content": filler}));
    lines.extend(ran("e", "cat merger-names", "ok"));
    lines.push(of("p3", said("go on with the checkout")));
    let text = gathered(&lines);
    assert!(text.contains("go on with the checkout") && !text.contains("merger"), "{text}");
}

#[test]
fn skipped_tools_and_folders_that_are_not_recorded_are_left_out() {
    let settings = |rules: &[(&str, &str)]| {
        let env = base::Env::fixed(rules.to_vec());
        Rules::of(&base::settings::Settings::read(&env, Path::new("/nowhere")), &env)
    };
    let at = |cwd: &str, mut line: Value| {
        line["cwd"] = json!(cwd);
        line["gitBranch"] = json!(cwd.trim_start_matches('/'));
        line
    };
    let mut lines = vec![at("/shop", said("fix the cart"))];
    lines.extend(ran("a", "make cart", "ok").map(|line| at("/shop", line)));
    lines.extend(ran("b", "ls merger-plan", "ok").map(|line| at("/secret/merger", line)));
    lines.push(at("/secret/merger", said("what about the merger?")));
    lines.extend(ran("c", "make costs", "ok").map(|line| at("/shop", line)));
    lines.push(at(
        "/secret/merger",
        json!({"type": "assistant", "message": {"role": "assistant", "content": "The merger is off."}}),
    ));
    let around = Around { session: "s".to_owned(), with_thread: true, ..Around::default() };
    let gathered = |rules: &Rules| format!("{:?}", draft_by(rules, &[], write(&lines).path(), &around));
    let all = gathered(&Rules::default());
    assert!(all.contains("The merger is off.") && all.contains("make costs"), "{all}");
    let text = gathered(&settings(&[("CLAUDE_MEM_EXCLUDED_PROJECTS", "/secret/*")]));
    assert!(text.contains("make cart") && text.contains("in /shop on shop"), "{text}");
    assert!(!text.contains("merger") && !text.contains("make costs"), "{text}");
    let text = gathered(&settings(&[("CLAUDE_MEM_SKIP_TOOLS", "Bash")]));
    assert!(text.contains("fix the cart") && !text.contains("make cart"), "{text}");
}

#[test]
fn the_first_and_the_last_prompt_are_there_word_for_word() {
    let long = |about: &str| {
        format!("{about}\n\n    make {about}\n{}\nend of {about}", "so that it works ".repeat(150))
    };
    let lines: Vec<Value> = ["cart", "checkout", "orders"].map(|about| said(&long(about))).into();
    let text = sections(&write(&lines));
    let summary = text.text(Name::Summary);
    for about in ["cart", "orders"] {
        assert!(summary.contains(&format!("- Asked: {about}\n\n      make {about}\n")), "{summary}");
        assert!(summary.contains(&format!("\n  end of {about}")), "{summary}");
    }
    assert!(
        summary.contains("- Asked: checkout make checkout") && !summary.contains("end of checkout"),
        "{summary}"
    );
    assert!(text.text(Name::Pending).lines().all(|line| line.chars().count() < 1_000), "{text:?}");
}

#[test]
fn a_decision_between_two_calls_is_kept() {
    let mut lines = vec![said("Move the cart to integers.")];
    let decision = "I went with integer cents instead of floats, because 0.1 + 0.2 is not 0.3.";
    lines.push(json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": decision}]}}));
    lines.extend(ran("a", "make cart", "ok"));
    lines.push(json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Now the checkout."}]}}));
    lines.extend(ran("b", "make checkout", "ok"));
    let text = sections(&write(&lines));
    assert!(text.text(Name::Decisions).contains("integer cents instead of floats, because 0.1"), "{text:?}");
    assert!(text.text(Name::Pending).contains("Not finished: Move the cart"), "{text:?}");
}

fn queued(operation: &str, content: Option<&str>) -> Value {
    json!({"type": "queue-operation", "operation": operation, "content": content, "sessionId": "s"})
}

#[test]
fn a_message_that_waits_for_the_model_is_kept_and_a_private_one_is_not() {
    let mut lines =
        vec![queued("enqueue", Some("fix the cart")), queued("dequeue", None), said("fix the cart")];
    lines.extend(ran("a", "make cart", "ok"));
    lines.push(queued("enqueue", Some("<private>the merger</private>")));
    lines.push(queued("enqueue", Some("/wyren:status")));
    lines.push(queued("enqueue", Some("then the checkout")));
    let text = sections(&write(&lines));
    assert!(
        text.text(Name::Summary).contains("- Asked while the model worked: then the checkout"),
        "{text:?}"
    );
    assert!(text.text(Name::Pending).contains("- Not begun: then the checkout"), "{text:?}");
    assert_eq!(text.text(Name::Summary).matches("fix the cart").count(), 1, "{text:?}");
    assert!(
        !format!("{text:?}").contains("merger") && !format!("{text:?}").contains("wyren:status"),
        "{text:?}"
    );
    // What was read, or taken back, waits no longer.
    for operation in
        [queued("remove", Some("then the checkout")), queued("popAll", None), said("then the checkout")]
    {
        let mut lines = lines.clone();
        lines.push(operation);
        assert!(!whole(&write(&lines)).contains("Not begun"), "{lines:?}");
    }
    // Nor is anything kept that was typed under a prompt which hides what is done under it.
    let mut lines = vec![said("fix the cart"), said("<private>the merger</private>")];
    lines.push(queued("enqueue", Some("and ask the other side")));
    let text = whole(&write(&lines));
    assert!(text.contains("fix the cart") && !text.contains("other side"), "{text}");
}

#[test]
fn nothing_that_was_typed_in_a_folder_that_is_not_recorded_waits() {
    let env = base::Env::fixed(vec![("CLAUDE_MEM_EXCLUDED_PROJECTS", "/secret/*")]);
    let rules = Rules::of(&base::settings::Settings::read(&env, Path::new("/nowhere")), &env);
    let at = |cwd: &str, mut line: Value| {
        line["cwd"] = json!(cwd);
        line
    };
    let mut lines = vec![at("/shop", said("fix the cart"))];
    lines.extend(ran("a", "make cart", "ok").map(|line| at("/shop", line)));
    lines.extend(ran("b", "ls", "ok").map(|line| at("/secret/merger", line)));
    lines.push(queued("enqueue", Some("and ask the other side")));
    let around = Around { session: "s".to_owned(), ..Around::default() };
    let text = format!("{:?}", draft_by(&rules, &[], write(&lines).path(), &around));
    assert!(text.contains("make cart") && !text.contains("other side"), "{text}");
}

#[test]
fn what_a_person_answers_is_a_decision_unless_the_tool_is_skipped() {
    let rules = |variables: Vec<(&'static str, &'static str)>| {
        let env = base::Env::fixed(variables);
        Rules::of(&base::settings::Settings::read(&env, Path::new("/nowhere")), &env)
    };
    let asked = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": {"questions": [{"question": "Which db?"}]}}]}});
    let answered = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "q", "content": "User has answered your questions: \"Which db?\"=\"postgres\". You can now continue."}]}});
    let around = Around { session: "s".to_owned(), ..Around::default() };
    let by = |rules: &Rules, lines: &[Value]| draft_by(rules, &[], write(lines).path(), &around);
    let gathered = |lines: &[Value]| by(&rules(Vec::new()), lines);
    let text = gathered(&[said("store the carts"), asked.clone(), answered.clone()]);
    assert!(text.text(Name::Decisions).contains("- Which db? → postgres"), "{text:?}");
    let text =
        gathered(&[said("store the carts"), said("<private>x</private>"), asked.clone(), answered.clone()]);
    assert!(!format!("{text:?}").contains("postgres"), "{text:?}");
    let skipping = rules(vec![("CLAUDE_MEM_SKIP_TOOLS", "Skill,AskUserQuestion")]);
    let text = by(&skipping, &[said("store the carts"), asked, answered]);
    assert!(text.text(Name::Summary).contains("store the carts"), "{text:?}");
    let text = format!("{text:?}");
    assert!(!text.contains("postgres") && !text.contains("Which db"), "{text}");
}

#[test]
fn another_matter_is_no_reason_of_a_refusal_and_no_failed_work() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.";
    let mut lines = vec![said("make room")];
    lines.extend(ran("a", "make room", "ok"));
    lines.extend(ran("b", "rm -r cache", refused));
    lines.push(said("What does the nightly report count?"));
    lines.extend(ran("c", "grep -rn nightly .", "Exit code 1"));
    for line in [4, 7] {
        lines[line]["message"]["content"][0]["is_error"] = json!(true);
    }
    let text = sections(&write(&lines));
    assert_eq!(text.text(Name::DeadEnds), "- `rm -r cache` was refused", "{text:?}");
    let pending = text.text(Name::Pending);
    assert!(pending.contains("- Last command: `make room` It passed."), "{pending}");
    assert!(
        !pending.contains("rm -r cache") && !pending.contains("grep") && !pending.contains("Did not pass"),
        "{pending}"
    );
}

#[test]
fn a_command_whose_exit_status_is_hidden_has_not_passed() {
    let last = |command: &str, output: &str| {
        let mut lines = vec![said("import the orders")];
        lines.extend(ran("a", command, output));
        sections(&write(&lines)).text(Name::Pending).to_owned()
    };
    let pending = last("./import.sh orders.csv | tail -2", "row 200\nrow 201");
    assert!(
        pending.contains("`./import.sh orders.csv | tail -2` It was run, and printed last: row 201"),
        "{pending}"
    );
    let pending = last("make import || true", "make: *** [import] Error 2");
    assert!(pending.contains("`make import || true` It failed."), "{pending}");
    let pending = last("make import", "row 201");
    assert!(pending.contains("`make import` It passed."), "{pending}");
}

#[test]
fn a_command_in_the_background_that_was_stopped_or_runs_is_shown_as_such() {
    let call = |id: &str, name: &str, input: Value, output: &str| {
        [
            json!({"type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": name, "input": input}]}}),
            json!({"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output}]}}),
        ]
    };
    let mut lines = vec![said("start the shop")];
    lines.extend(ran("a", "make serve", "Command running in background with ID: bash_1"));
    lines.extend(ran("b", "make cart", "ok"));
    let text = sections(&write(&lines));
    assert!(text.text(Name::Pending).contains("- Runs in the background: `make serve` (bash_1)"), "{text:?}");
    lines.extend(call("c", "KillShell", json!({"shell_id": "bash_1"}), "Successfully killed shell: bash_1"));
    let text = sections(&write(&lines));
    assert!(!text.text(Name::Pending).contains("make serve"), "{text:?}");
    assert!(
        text.text(Name::Context).contains("- bash_1: in the background, stopped: make serve"),
        "{text:?}"
    );
}
