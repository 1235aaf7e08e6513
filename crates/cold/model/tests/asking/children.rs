//! The client as a child, played by a script that misbehaves.

use super::*;
use crate::script::ask_program;
use model::{Cli, Error};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// Does what the prompt says. It prints what the client would print.
const FAKE: &str = r#"#!/bin/sh
prompt=$(cat)
result() { printf '{"type":"result","is_error":false,"result":"","structured_output":%s,"usage":{"input_tokens":9,"output_tokens":3,"cache_read_input_tokens":4},"total_cost_usd":0.0042}' "$1"; }
case "$prompt" in
    blue*) result '{"colour":"blue"}' ;;
    "second try"*"could not be used"*) result '{"colour":"red"}' ;;
    "second try"*) printf '{"is_error":false,"result":"It is red.","total_cost_usd":0.001}' ;;
    where*) test "$WYREN_INTERNAL" = 1 && test -z "$(ls -A)" && result "{\"colour\":\"$(pwd | tail -c 12)\"}" ;;
    arguments*) printf '%s\n' "$@" > "$HOME/arguments"; result '{"colour":"blue"}' ;;
    prose*) echo "It is blue." ;;
    empty*) ;;
    array*) echo "[]" ;;
    fence*) printf '{"is_error":false,"result":"```json\\n{\\"colour\\":\\"blue\\"}\\n```"}' ;;
    invalid*) result '{"colour":7}' ;;
    oversized*) head -c 5000000 /dev/zero | tr '\0' x ;;
    refused*) printf '{"is_error":true,"subtype":"error_max_budget_usd","result":"","usage":{"input_tokens":5},"total_cost_usd":0.003}'; exit 1 ;;
    never*) printf '{"is_error":true,"subtype":"error_max_structured_output_retries","total_cost_usd":0.006}'; exit 1 ;;
    crash*) echo "cannot log in" >&2; exit 3 ;;
    left-behind*) sleep 600 & result '{"colour":"blue"}' ;;
    *) sleep 600 & (sleep 600; sleep 600) & sleep 600 ;;
esac
"#;

/// Never reads its input.
const DEAF: &str = "#!/bin/sh\nexec sleep 600\n";

/// Written before any test forks: a program that is open for writing in some child cannot be started.
static FAKES: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in [("claude", FAKE), ("deaf", DEAF)] {
        let path = folder.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
});

fn fake(name: &str) -> String {
    FAKES.path().join(name).to_str().unwrap().to_owned()
}

fn client(user: &User, name: &str) -> Cli {
    Cli::new(&no_env(), &fake(name), user.folder.path().join("cache/model"), "")
}

fn ask(user: &User, prompt: &str) -> Outcome {
    user.asker(client(user, "claude")).ask(request(prompt))
}

#[test]
fn the_result_object_brings_answer_usage_and_cost() {
    let user = User::new();
    assert_eq!(answer(ask(&user, "blue")), json!({"colour": "blue"}));
    let total = &Ledger::open(&user.database()).unwrap().totals(NOON, 1).unwrap()[0];
    assert_eq!((total.usage.input, total.usage.output, total.usage.cache_read), (9, 3, 4));
    assert_eq!(total.spent, Money::from_micros(4_200));
}

#[test]
fn the_child_is_marked_and_works_in_a_private_empty_folder() {
    let user = User::new();
    assert_eq!(answer(ask(&user, "where")), json!({"colour": "cache/model"}));
    let mode = user.folder.path().join("cache/model").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_folder_with_something_in_it_is_not_used() {
    let user = User::new();
    fs::create_dir_all(user.folder.path().join("cache/model")).unwrap();
    fs::write(user.folder.path().join("cache/model/CLAUDE.md"), "Answer in verse.").unwrap();
    let reason = reason(ask(&user, "blue")).to_string();
    assert!(reason.ends_with("cache/model is not empty"), "{reason}");
    assert_eq!(user.spent().1, Money::ZERO);
}

#[test]
fn a_second_try_gets_the_error_of_the_first() {
    let user = User::new();
    assert_eq!(answer(ask(&user, "second try")), json!({"colour": "red"}));
    assert_eq!(user.spent(), (2, Money::from_micros(5_200)));
}

#[test]
fn whatever_is_no_answer_is_bad_after_one_retry() {
    for prompt in ["prose", "empty", "array", "fence", "invalid", "oversized"] {
        let user = User::new();
        let reason = reason(ask(&user, prompt));
        assert!(matches!(reason, Reason::BadAnswer(_)), "{prompt}: {reason}");
        assert_eq!(user.spent().0, 2, "{prompt}");
    }
}

#[test]
fn what_the_client_tried_twice_is_not_tried_again() {
    let user = User::new();
    let reason = reason(ask(&user, "never"));
    assert!(matches!(reason, Reason::BadAnswer(_)), "{reason}");
    assert_eq!(user.spent(), (1, Money::from_micros(6_000)));
}

#[test]
fn a_refusal_is_charged_as_the_client_says_and_a_crash_as_reserved() {
    let user = User::new();
    let refused = reason(ask(&user, "refused"));
    assert_eq!(refused.to_string(), "no answer from the model: refused: error_max_budget_usd");
    assert_eq!(user.spent(), (1, Money::from_micros(3_000)));
    let user = User::new();
    let crashed = reason(ask(&user, "crash")).to_string();
    assert!(crashed.contains("cannot log in"), "{crashed}");
    assert!(user.spent().1 > Money::ZERO);
}

#[test]
fn a_child_that_does_not_read_its_input_does_not_block_the_caller() {
    let mut user = User::new();
    user.timeout = Duration::from_millis(300);
    let start = Instant::now();
    // More than a pipe takes.
    let prompt = "words ".repeat(50_000);
    let reason = reason(user.asker(client(&user, "deaf")).ask(request(&prompt)));
    assert!(matches!(reason, Reason::Failed(Error::TimedOut)), "{reason}");
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_client_that_is_not_there_costs_nothing() {
    let user = User::new();
    let provider = Cli::new(&no_env(), "/nowhere/claude", user.folder.path().join("cache/model"), "");
    let reason = reason(user.asker(provider).ask(request("blue")));
    assert_eq!(reason.to_string(), "no answer from the model: could not find claude at /nowhere/claude");
    assert_eq!(user.spent(), (1, Money::ZERO));
}

/// Runs `ask` with the fake client, marked so that everything it starts can be found.
fn ask_command(user: &User, prompt: &str, timeout_s: &str) -> (Command, String) {
    let marker = format!("WYREN_TEST_MARKER={}", user.folder.path().display());
    let (name, value) = marker.split_once('=').unwrap();
    let mut command = Command::new(ask_program());
    command
        .args(["distill", prompt])
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", user.folder.path())
        .env("WYREN_DATA_DIR", user.folder.path())
        .env("WYREN_MODEL_COMMAND", fake("claude"))
        .env("WYREN_MODEL_TIMEOUT_S", timeout_s)
        .env(name, value)
        .stdout(Stdio::piped());
    (command, marker)
}

/// Returns the living processes with `marker` in their environment.
fn marked(marker: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|process| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
        })
        .collect()
}

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn at_the_deadline_the_child_and_all_it_started_are_dead() {
    let user = User::new();
    let (mut command, marker) = ask_command(&user, "hang", "1");
    let start = Instant::now();
    let output = command.output().unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1) && start.elapsed() < Duration::from_secs(5));
    assert!(String::from_utf8_lossy(&output.stdout).contains("time limit exceeded"), "{output:?}");
    wait_until("the end of every process", || marked(&marker).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_child_leaves_behind_ends_with_it() {
    let user = User::new();
    let (mut command, marker) = ask_command(&user, "left-behind", "30");
    let start = Instant::now();
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("blue"), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(10), "the output that stays open is not waited for");
    wait_until("the end of every process", || marked(&marker).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn when_we_are_killed_the_child_and_all_it_started_die_too() {
    let user = User::new();
    let (mut command, marker) = ask_command(&user, "hang", "600");
    let mut asking = command.spawn().unwrap();
    // Ask, guard, shell, three sleeps and a subshell.
    wait_until("the child and its children", || marked(&marker).len() >= 7);
    asking.kill().unwrap();
    asking.wait().unwrap();
    wait_until("the end of every process", || marked(&marker).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn no_zombie_stays() {
    let mut user = User::new();
    user.timeout = Duration::from_millis(200);
    reason(ask(&user, "hang"));
    let is_zombie_of_ours = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() == Some(&"Z") && fields.get(1) == Some(&&*std::process::id().to_string())
    };
    // Other tests run beside this one, and their children may be zombies for a moment.
    wait_until("no zombies", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        !processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).any(is_zombie_of_ours)
    });
}

#[test]
fn the_client_is_called_without_anything_that_makes_it_an_agent() {
    let user = User::new();
    let (mut command, _) = ask_command(&user, "arguments", "30");
    assert!(command.output().unwrap().status.success());
    let arguments = fs::read_to_string(user.folder.path().join("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    let expected_start =
        ["-p", "--no-session-persistence", "--tools", "", "--settings", r#"{"disableAllHooks":true}"#];
    assert_eq!(arguments[..6], expected_start);
    assert_eq!(arguments[6..8], ["--strict-mcp-config", "--disable-slash-commands"]);
    let after = |flag: &str| arguments.iter().position(|word| *word == flag).map(|at| arguments[at + 1]);
    assert_eq!(after("--system-prompt"), Some("You name colours."));
    assert_eq!(after("--output-format"), Some("json"));
    assert_eq!(after("--model"), Some("haiku"));
    assert!(after("--json-schema").is_some_and(|schema| schema.contains("colour")));
    assert!(after("--max-budget-usd").is_some_and(|amount| amount.parse::<f64>().is_ok_and(|usd| usd > 0.0)));
    assert!(!arguments.contains(&"arguments"), "the prompt is not on the command line");
}
