//! State that is missing, old, foreign or damaged.

use crate::support::{Clone, memory, no_launch};
use serde_json::json;
use std::fs;

const STATE: &str = ".wyren/state/ups-state.json";
const INJECTED: &str = ".wyren/state/last-injected-memory.md";

#[test]
fn the_first_prompt_of_a_clone_seeds_without_a_word() {
    let clone = Clone::new(&["a"]);
    assert_eq!(clone.prompt("s"), "");
    let state = clone.ups_state();
    let hash = &base::digest::sha256_hex(memory(&["a"]).as_bytes())[..12];
    assert_eq!(state["last_injected_hash"], hash);
    let modified = fs::metadata(clone.path(".wyren/memory.md")).unwrap().modified().unwrap();
    let nanos = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let millis = state["last_injected_mtime"].as_f64().unwrap();
    assert!((millis - nanos as f64 / 1e6).abs() < 0.01, "{millis}");
    assert_eq!(clone.read(INJECTED), memory(&["a"]));
}

#[test]
fn a_memory_rewritten_just_after_seeding_is_shown_at_the_next_prompt() {
    let clone = Clone::new(&["a"]);
    clone.prompt("s");
    // Written without a moment's pause, in place, and of the same size.
    fs::write(clone.path(".wyren/memory.md"), memory(&["b"])).unwrap();
    assert!(clone.prompt("s").contains("\n- b\n"));
    fs::write(clone.path(".wyren/memory.md"), memory(&["c"])).unwrap();
    assert!(clone.prompt("s").contains("\n- c\n"));
}

#[test]
fn a_session_continues_from_the_state_of_the_node_version() {
    let clone = Clone::new(&["a", "b"]);
    clone.write(INJECTED, memory(&["a"]));
    let state = json!({
        "last_injected_mtime": 1794790500341.682, "last_injected_hash": "0123456789ab",
        "last_remote_memory_commit": "f".repeat(40), "future": {"kept": true},
    });
    clone.write(STATE, state.to_string());
    let told = clone.prompt("s");
    assert!(told.starts_with("# Wyren live update\n") && told.contains("### New in Decisions\n- b\n"));
    assert!(!told.contains("- a\n"));
    let state = clone.ups_state();
    assert_eq!(
        (&state["last_remote_memory_commit"], &state["future"]),
        (&json!("f".repeat(40)), &json!({"kept": true}))
    );
    assert_eq!(clone.read(INJECTED), memory(&["a", "b"]));
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.prompt("another"), "");
}

#[test]
fn what_the_node_version_showed_before_is_no_news_for_being_private() {
    let clone = Clone::new(&["a <private>b</private>", "c"]);
    clone.write(INJECTED, memory(&["a <private>b</private>", "c"]));
    let hash = &base::digest::sha256_hex(memory(&["a <private>b</private>", "c"]).as_bytes())[..12];
    clone.write(STATE, json!({"last_injected_mtime": 1.0, "last_injected_hash": hash}).to_string());
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.read(INJECTED), memory(&["a ", "c"]));
}

#[test]
fn a_state_that_makes_no_sense_is_seeded_anew() {
    let garbage = "x".repeat(1024 * 1024);
    let null = r#"{"last_injected_mtime":null,"last_injected_hash":""}"#;
    for nonsense in ["", "{", "[]", "null", r#"{"last_injected_hash":7}"#, null, &garbage] {
        let clone = Clone::new(&["a"]);
        clone.write(STATE, nonsense);
        clone.write(INJECTED, "");
        assert_eq!(clone.prompt("s"), "", "{}", &nonsense[..nonsense.len().min(60)]);
        assert_eq!(clone.ups_state()["last_injected_hash"].as_str().map(str::len), Some(12));
        clone.decide(&["a", "b"]);
        assert!(clone.prompt("t").contains("- b\n"));
    }
}

#[test]
fn d4_a_memory_as_old_as_the_one_that_the_node_version_showed_is_no_news() {
    let clone = Clone::new(&["a", "b"]);
    let modified = fs::metadata(clone.path(".wyren/memory.md")).unwrap().modified().unwrap();
    let nanos = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    // As JavaScript computes and prints it.
    let millis = (nanos / 1_000_000_000) as f64 * 1_000.0 + (nanos % 1_000_000_000) as f64 / 1e6;
    let state = json!({"last_injected_mtime": millis, "last_injected_hash": "0123456789ab"});
    clone.write(STATE, state.to_string());
    clone.write(INJECTED, memory(&["a"]));
    assert_eq!(clone.prompt("s"), "");
    let hash = &base::digest::sha256_hex(memory(&["a", "b"]).as_bytes())[..12];
    assert_eq!(
        (clone.ups_state()["last_injected_hash"].as_str(), clone.read(INJECTED)),
        (Some(hash), memory(&["a", "b"]))
    );
    clone.decide(&["a", "b", "c"]);
    assert!(clone.prompt("t").contains("- c\n"));

    // A millisecond earlier or later is another file.
    for apart in [-1.0, 1.0] {
        let clone = Clone::new(&["a", "b"]);
        let modified = fs::metadata(clone.path(".wyren/memory.md")).unwrap().modified().unwrap();
        let millis = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64() * 1e3 + apart;
        let state = json!({"last_injected_mtime": millis, "last_injected_hash": "0123456789ab"});
        clone.write(STATE, state.to_string());
        clone.write(INJECTED, memory(&["a"]));
        assert!(clone.prompt("s").contains("- b\n"));
    }
}

#[test]
fn a_null_time_does_not_count_as_unchanged() {
    let clone = Clone::new(&["a", "b"]);
    clone.write(INJECTED, memory(&["a"]));
    clone.write(STATE, r#"{"last_injected_mtime":null,"last_injected_hash":"0123456789ab"}"#);
    assert!(clone.prompt("s").contains("- b\n"));
}

#[test]
fn a_last_injected_memory_that_cannot_be_read_is_an_empty_one() {
    for is_folder in [true, false] {
        let clone = Clone::new(&["a", "b"]);
        clone.write(STATE, r#"{"last_injected_mtime":1,"last_injected_hash":"0123456789ab"}"#);
        if is_folder {
            fs::create_dir(clone.path(INJECTED)).unwrap();
        } else {
            clone.write(INJECTED, [0xff, 0xfe, 0x00]);
        }
        let told = clone.prompt("s");
        assert!(told.contains("- a\n- b\n"), "{told}");
        assert_eq!(clone.prompt("s"), "");
    }
}

#[test]
fn a_large_snapshot_and_a_small_memory_make_a_right_delta() {
    let clone = Clone::new(&["kept", "new"]);
    let many: Vec<String> =
        (0..2_000).map(|n| format!("old fact number {n} of two thousand, kept for its size")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["kept"]).collect();
    assert!(memory(&many).len() > 100_000);
    clone.write(INJECTED, memory(&many));
    clone.write(STATE, r#"{"last_injected_mtime":1,"last_injected_hash":"0123456789ab"}"#);
    let told = clone.prompt("s");
    assert!(told.contains("### New in Decisions\n- new\n") && told.contains("### Removed from Decisions\n"));
    assert!(!told.contains("- kept\n") && told.len() <= 4_096);
}

#[test]
fn a_memory_that_is_a_folder_is_no_memory() {
    let clone = Clone::empty();
    fs::create_dir_all(clone.path(".wyren/memory.md")).unwrap();
    assert_eq!(clone.start("s", "startup"), "");
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.prompt("t"), "");
    assert!(!clone.path(STATE).exists());
}

#[test]
fn an_empty_memory_is_seeded_and_says_nothing() {
    let clone = Clone::empty();
    clone.write(".wyren/memory.md", "");
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.ups_state()["last_injected_hash"], "e3b0c44298fc");
    clone.decide(&["first"]);
    assert!(clone.prompt("s").contains("- first\n"));
}

#[test]
fn a_memory_that_is_gone_for_a_moment_is_no_removal() {
    let clone = Clone::new(&["a"]);
    clone.start("s", "startup");
    clone.remove(".wyren/memory.md");
    assert_eq!(clone.prompt("s"), "");
    clone.decide(&["a", "b"]);
    let told = clone.prompt("s");
    assert!(told.contains("- b\n") && !told.contains("- a\n"), "{told}");
}

#[test]
fn a_damaged_snapshot_is_as_none() {
    let garbage = "x".repeat(1024 * 1024);
    for nonsense in ["", "{}", "{\"v\":99}\ntext", &garbage] {
        let clone = Clone::new(&["a"]);
        clone.start("s", "startup");
        let name = format!(".wyren/state/sessions/{}", base::digest::short_hex(b"s"));
        assert!(clone.path(&name).is_file());
        clone.write(&name, nonsense);
        assert_eq!(clone.prompt("s"), "");
        clone.decide(&["a", "b"]);
        assert!(clone.prompt("s").contains("- b\n"));
        assert_eq!(clone.prompt("s"), "");
    }
}

#[test]
fn state_that_cannot_be_written_is_logged_and_the_text_still_comes() {
    let clone = Clone::new(&["a"]);
    // Nothing can be written below a file, not even by a user who may write everywhere.
    clone.write(".wyren/state", "in the way");
    assert!(clone.start("s", "startup").contains("- a\n"));
    assert_eq!(clone.prompt("s"), "");
    assert_eq!(clone.read(".wyren/state"), "in the way");
    let log = clone.read(".wyren/log");
    assert!(
        log.contains("] error: could not write ") && log.contains("] [ups] error: could not write "),
        "{log}"
    );
    let hook_log = fs::read_to_string(clone.data().join("logs/hooks.jsonl")).unwrap();
    assert!(hook_log.contains("could not write"));
}

#[test]
fn a_single_file_that_cannot_be_replaced_does_not_stop_the_others() {
    let clone = Clone::new(&["a"]);
    clone.prompt("s");
    fs::remove_file(clone.path(STATE)).unwrap();
    fs::create_dir_all(clone.path(STATE).join("in the way")).unwrap();
    clone.decide(&["a", "b"]);
    assert!(clone.prompt("s").contains("- b\n"));
    assert_eq!(clone.prompt("s"), "");
}

#[test]
fn twenty_prompts_without_a_change_leave_the_state_untouched() {
    let clone = Clone::new(&["a"]);
    clone.write(".wyren/broadcast/skills/x.md", "X");
    clone.start("s", "startup");
    clone.prompt("s");
    clone.prompt("t");
    let state = || {
        let mut files = base::files::files_in(&clone.path(".wyren/state"));
        files.extend(base::files::files_in(&clone.path(".wyren/state/sessions")));
        let stamp =
            |file: &std::path::PathBuf| (file.clone(), fs::metadata(file).unwrap().modified().unwrap());
        files.iter().map(stamp).collect::<Vec<_>>()
    };
    let before = state();
    assert_eq!(before.len(), 4, "{before:?}");
    for _ in 0..20 {
        assert_eq!(clone.prompt("s") + &clone.prompt("t"), "");
    }
    assert_eq!(state(), before);
}

#[test]
fn a_prompt_without_a_session_works_on_the_clones_state_alone() {
    let clone = Clone::new(&["a"]);
    let call = json!({"cwd": clone.root()});
    assert_eq!(clone.prompt_with(call.clone(), &no_launch), "");
    clone.decide(&["a", "b"]);
    assert!(clone.prompt_with(call.clone(), &no_launch).contains("- b\n"));
    assert_eq!(clone.prompt_with(call, &no_launch), "");
    assert!(!clone.path(".wyren/state/sessions").exists());
}

#[test]
fn the_keys_of_the_end_of_a_turn_are_not_touched() {
    let clone = Clone::new(&["a"]);
    let watermark = "{\n  \"turns_since_distill\": 3\n}";
    clone.write(".wyren/state/watermark.json", watermark);
    clone.start("s", "startup");
    clone.decide(&["a", "b"]);
    clone.prompt("s");
    assert_eq!(clone.read(".wyren/state/watermark.json"), watermark);
    assert!(clone.ups_state().get("turns_since_distill").is_none());
}

#[cfg(unix)]
#[test]
fn a_change_too_recent_to_be_relied_on_is_noted_once_and_not_at_every_prompt() {
    use std::os::unix::fs::MetadataExt as _;
    let clone = Clone::new(&["a"]);
    fs::write(clone.path(".wyren/memory.md"), memory(&["a", "b"])).unwrap();
    clone.start("s", "startup");
    let file = clone.path(&format!(".wyren/state/sessions/{}", base::digest::short_hex(b"s")));
    let mut replaced = 0;
    let mut inode = fs::metadata(&file).unwrap().ino();
    for _ in 0..20 {
        assert_eq!(clone.prompt("s"), "");
        let now = fs::metadata(&file).unwrap().ino();
        replaced += usize::from(now != inode);
        inode = now;
    }
    assert!(replaced <= 1, "{replaced}");
}
