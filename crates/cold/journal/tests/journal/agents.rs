//! Sessions of other agents, imported from their transcripts: they leave the same lines as Claude Code's.

use crate::bench::Bench;
use base::{Env, settings::Settings};
use capture::Rules;
use std::path::Path;
use store::transcripts::{Agent, Import};

fn imported(agent: Agent, folder: &str) -> Bench {
    let mut bench = Bench::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/transcripts").join(folder);
    let env = Env::fixed::<&str, &str>([]);
    let rules = Rules::of(&Settings::read(&env, Path::new("/nowhere")), &env);
    let import = Import::of_agent(agent, &folder, &bench.spool, &rules).unwrap();
    import.run(&mut bench.store, |_| ()).unwrap();
    bench
}

#[track_caller]
fn has(lines: &[String], parts: &[&str]) {
    let is_there = lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(is_there, "{parts:?} in\n{}", lines.join("\n"));
}

#[test]
fn codex_sessions_leave_lines_about_what_was_changed_run_and_refused() {
    let lines = imported(Agent::Codex, "codex").plain_lines();
    for parts in [
        &["src/auth.rs", "`verify_token`"][..],
        &["never looked at `exp`"],
        &["cargo test failed", "an_expired_token_is_refused"],
        &["user refused", "git push"],
        &["npm run build failed", "TS2304"],
        &["without source maps"],
        &["src/greet.rs", "`greet`"],
        &["src/lib.rs"],
        &["old.rs"],
        &["the turn failed: stream disconnected"],
    ] {
        has(&lines, parts);
    }
    let text = lines.join("\n");
    for injected in ["environment_context", "AGENTS.md", "Use tabs", "be kind", "Open tabs"] {
        assert!(!text.contains(injected), "{injected} in\n{text}");
    }
}

#[test]
fn cursor_sessions_leave_lines_without_outcomes_that_their_transcripts_do_not_have() {
    let lines = imported(Agent::Cursor, "cursor").plain_lines();
    for parts in [
        &["src/label.ts", "`width`", "40", "48"][..],
        &["src/footer.tsx", "`Footer`"],
        &["src/page.tsx"],
        &["npm test was run"],
        &["src/old.tsx"],
    ] {
        has(&lines, parts);
    }
    let text = lines.join("\n");
    assert!(!text.contains("passed") && !text.contains("plan mode"), "{text}");
}
