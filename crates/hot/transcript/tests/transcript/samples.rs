//! What the client's own transcripts say.

use transcript::record::Body;
use transcript::{Act, Conversation, Reader, Scope, Usage, UsageTotals};

use crate::sample;

/// Renders a transcript's conversation, one step per line, long texts cut.
fn conversation(name: &str, scope: Scope) -> String {
    const SHOWN: usize = 40;
    let cut = |text: &str| text.chars().take(SHOWN).collect::<String>();
    let mut conversation = Conversation::new(scope);
    let mut rendered = String::new();
    let progress = Reader::new()
        .read(&sample(name), 0, |_, record| {
            for step in conversation.steps(record) {
                let act = match step.act {
                    Act::Prompt { text, .. } => format!("prompt {:?}", cut(&text)),
                    Act::Command { name, arguments, .. } => format!("command {name} {arguments:?}"),
                    Act::Reply(text) => format!("reply {:?}", cut(&text)),
                    Act::ToolUse { name, .. } => format!("tool {name}"),
                    Act::ToolResult { is_error: true, output, .. } => format!("error {:?}", cut(&output)),
                    Act::ToolResult { output, .. } => format!("result {:?}", cut(&output)),
                    Act::Compaction(compaction) => {
                        format!("compaction {}", compaction.trigger.as_deref().unwrap())
                    }
                    Act::Summary(text) => format!("summary {:?}", cut(&text)),
                    other => format!("{other:?}"),
                };
                rendered.push_str(&format!("{} {act}\n", step.turn));
            }
        })
        .unwrap();
    assert_eq!((progress.bad_lines, progress.overlong_lines), (0, 0));
    assert_eq!(progress.offset, std::fs::metadata(sample(name)).unwrap().len());
    rendered
}

#[test]
fn hook_output_is_not_conversation() {
    assert_eq!(
        conversation("tools_subagent_hookctx.jsonl", Scope::Main),
        r#"1 prompt "please do PROMPT-ONE\n"
1 reply "I will look."
1 tool Bash
1 result "hi\n/home/dev/project"
1 tool Write
1 error "<tool_use_error>File has not been read y"
1 tool Read
1 result "1\tONE\n2\ttwo\n3\t"
1 tool Edit
1 error "<tool_use_error>String to replace not fo"
1 tool Glob
1 tool Grep
1 result "Found 1 file\na.txt"
1 result "a.txt"
1 tool Bash
1 error "Exit code 3"
1 tool Agent
1 result "Sub finished.\nagentId: ab683a49f51cae704"
1 reply "All done."
"#
    );
}

#[test]
fn compactions_and_local_commands_do_not_start_turns() {
    assert_eq!(
        conversation("interactive_manual_compact.jsonl", Scope::Main),
        r#"1 prompt "hello interactive RUN-BASH"
1 tool Bash
1 result "interactive"
1 reply "Mock reply."
2 prompt "second prompt"
2 reply "Mock reply."
2 compaction manual
2 summary "This session is being continued from a p"
2 command /compact "focus on X"
3 prompt "third prompt after compact"
3 reply "Mock reply."
3 command /compact ""
3 command /compact ""
3 compaction manual
3 summary "This session is being continued from a p"
3 command /compact ""
4 prompt "fourth prompt"
4 reply "Mock reply."
4 compaction manual
4 summary "This session is being continued from a p"
4 command /compact ""
4 command /probe:hello "Bob"
5 command /probe:probe-skill "argX"
5 reply "Mock reply."
"#
    );
}

#[test]
fn an_automatic_compaction_keeps_the_turn() {
    let rendered = conversation("auto_compact.jsonl", Scope::Main);
    let end: Vec<&str> = rendered.lines().skip_while(|line| !line.contains("compaction")).collect();
    assert_eq!(
        end,
        [
            "1 compaction auto",
            "1 summary \"This session is being continued from a p\"",
            "1 reply \"Done auto.\""
        ]
    );
}

#[test]
fn a_subagents_transcript_is_a_conversation_of_its_own() {
    let name = "tools_subagent_hookctx.subagent.jsonl";
    assert_eq!(
        conversation(name, Scope::Subagent),
        "1 prompt \"SUBAGENT-PROMPT do it\"\n1 tool Bash\n1 result \"from-sub\"\n1 reply \"Sub finished.\"\n"
    );
    assert_eq!(conversation(name, Scope::Main), "");
}

#[test]
fn chained_records_carry_the_common_fields() {
    let mut chained = 0;
    Reader::new()
        .read(&sample("tools_subagent_hookctx.subagent.jsonl"), 0, |_, record| {
            chained += 1;
            assert!(record.uuid.is_some());
            assert_eq!(record.parent_uuid.is_none(), chained == 1);
            assert!(record.is_sidechain);
            assert_eq!(record.agent_id.as_deref(), Some("ab683a49f51cae704"));
            assert_eq!(record.session_id.as_deref(), Some("fc0f9dd4-710d-401f-912b-4707a24e96a6"));
            assert_eq!(record.cwd.as_deref(), Some("/home/dev/project"));
            assert_eq!(record.git_branch.as_deref(), Some("master"));
            assert_eq!(record.version.as_deref(), Some("2.1.197"));
            assert!(record.timestamp.as_deref().unwrap().starts_with("2026-11-16T00:56:2"));
        })
        .unwrap();
    assert_eq!(chained, 6);
}

#[test]
fn hook_attachments_say_where_they_come_from() {
    let mut hooks = Vec::new();
    Reader::new()
        .read(&sample("auto_compact.jsonl"), 0, |_, record| {
            if let Body::Attachment(attachment) = &record.body
                && let Some(event) = &attachment.hook_event
            {
                hooks.push(format!("{} {event}", attachment.kind.as_deref().unwrap()));
            }
        })
        .unwrap();
    assert_eq!(hooks, ["hook_success SessionStart", "hook_additional_context SessionStart"]);
}

#[test]
fn usage_is_counted_once_per_message() {
    let mut totals = UsageTotals::default();
    let mut records_with_usage = 0;
    Reader::new()
        .read(&sample("auto_compact.jsonl"), 0, |_, record| {
            totals.add(record);
            records_with_usage +=
                u32::from(matches!(&record.body, Body::Assistant(message) if message.usage.is_some()));
        })
        .unwrap();
    assert_eq!((records_with_usage, totals.messages()), (9, 5));
    // Four messages before the compaction and one after it.
    let Usage { input_tokens, output_tokens, .. } = totals.total();
    assert_eq!(input_tokens, 20_000 + 30_000 + 30_000 + 116_000 + 19_674);
    assert_eq!(output_tokens, 43 + 43 + 42 + 42 + 10);
}
