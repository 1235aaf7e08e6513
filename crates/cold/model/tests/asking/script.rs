//! The asker's own rules, shown with the scripted model.

use super::*;
use model::Scripted;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const BLUE: &str = r#"{"do":"answer","answer":{"colour":"blue"},"input":100,"output":5,"cost_usd":0.001}"#;

fn script(user: &User, lines: &[&str]) -> Scripted {
    let path = user.folder.path().join("script.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    Scripted::new(path)
}

/// Returns the program of `examples/ask.rs`, which cargo builds with the tests.
pub(crate) fn ask_program() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let program = deps.parent().and_then(Path::parent).unwrap().join("examples/ask");
    program.with_extension(std::env::consts::EXE_EXTENSION)
}

#[test]
fn an_answer_is_validated_and_charged_at_its_cost() {
    let user = User::new();
    let mut asker = user.asker(script(&user, &[BLUE]));
    assert_eq!(answer(asker.ask(request("the sky"))), json!({"colour": "blue"}));
    assert_eq!(user.spent(), (1, Money::from_micros(1_000)));
}

#[test]
fn a_bad_answer_gets_one_second_try() {
    let user = User::new();
    let lie = r#"{"do":"lie","text":"It is blue.","cost_usd":0.002}"#;
    let mut asker = user.asker(script(&user, &[lie, BLUE, lie, lie, BLUE]));
    assert_eq!(answer(asker.ask(request("the sky"))), json!({"colour": "blue"}));
    assert_eq!(user.spent(), (2, Money::from_micros(3_000)));
    assert!(matches!(reason(asker.ask(request("the sky"))), Reason::BadAnswer(_)));
    assert_eq!(user.spent(), (4, Money::from_micros(7_000)));
}

#[test]
fn who_asks_once_takes_the_first_answer() {
    let user = User::new();
    let lie = r#"{"do":"lie","text":"It is blue.","cost_usd":0.002}"#;
    let mut asker = user.asker(script(&user, &[lie, BLUE])).once();
    assert!(matches!(reason(asker.ask(request("the sky"))), Reason::BadAnswer(_)));
    assert_eq!(user.spent(), (1, Money::from_micros(2_000)));
}

#[test]
fn whatever_is_no_answer_is_bad_after_one_retry() {
    let long =
        json!({"do": "lie", "text": format!("{{\"colour\":\"{}\"}}", "b".repeat(1_100_000))}).to_string();
    let deep = json!({"do": "lie", "text": "[".repeat(100_000)}).to_string();
    for (line, fault) in [
        (r#"{"do":"lie","text":"It is blue."}"#, "it is not JSON"),
        (r#"{"do":"lie","text":"```json\n{\"colour\":\"blue\"}\n```"}"#, "it is not JSON"),
        (r#"{"do":"lie","text":" \n"}"#, "it is empty"),
        (r#"{"do":"lie","text":"{\"colour\":\"blue\""}"#, "it is not JSON"),
        (r#"{"do":"lie","text":"{\"colour\":1}"}"#, "$.colour should be string"),
        (r#"{"do":"answer","answer":{"color":"blue"}}"#, "should have \"colour\""),
        (r#"{"do":"answer","answer":null}"#, "should be object"),
        (&long, "it is too long"),
        (&deep, "it is not JSON"),
    ] {
        let user = User::new();
        let reason = reason(user.asker(script(&user, &[line])).ask(request("the sky")));
        assert!(matches!(&reason, Reason::BadAnswer(found) if found.contains(fault)), "{fault}: {reason}");
        assert_eq!(user.spent().0, 2, "{fault}");
        assert!(!reason.may_pass());
    }
}

#[test]
fn a_crash_or_a_hang_is_not_tried_again_and_counts_what_was_reserved() {
    for line in [r#"{"do":"crash"}"#, r#"{"do":"hang"}"#] {
        let mut user = User::new();
        user.timeout = Duration::from_millis(50);
        let reason = reason(user.asker(script(&user, &[line])).ask(request("the sky")));
        assert!(matches!(reason, Reason::Failed(_)) && reason.may_pass(), "{reason}");
        let (calls, spent) = user.spent();
        assert!(calls == 1 && spent > Money::ZERO, "{calls} {spent}");
    }
}

#[test]
fn what_was_refused_unasked_costs_nothing() {
    let user = User::new();
    let refuse = r#"{"do":"refuse","reason":"overloaded"}"#;
    let reason = reason(user.asker(script(&user, &[refuse])).ask(request("the sky")));
    assert_eq!(reason.to_string(), "no answer from the model: refused: overloaded");
    assert_eq!(user.spent(), (1, Money::ZERO));
}

#[test]
fn a_budget_of_nothing_calls_no_model() {
    let dollar = Money::from_micros(1_000_000);
    for budget in
        [Budget { daily: Money::ZERO, project: dollar }, Budget { daily: dollar, project: Money::ZERO }]
    {
        let mut user = User::new();
        user.budget = budget;
        let reason = reason(user.asker(script(&user, &[BLUE])).ask(request("the sky")));
        assert!(matches!(reason, Reason::Off));
        assert!(!user.folder.path().join("script.jsonl.position").exists(), "no model was called");
    }
}

#[test]
fn the_budget_is_checked_before_the_call() {
    let mut user = User::new();
    user.budget.daily = Money::from_micros(100);
    let reason = reason(user.asker(script(&user, &[BLUE])).ask(request("the sky")));
    assert!(matches!(reason, Reason::NoBudget(_)) && reason.may_pass(), "{reason}");
    assert!(!user.folder.path().join("script.jsonl.position").exists(), "no model was called");
    assert_eq!(user.spent().0, 0);
}

#[test]
fn no_second_try_without_budget_or_time() {
    let mut user = User::new();
    // Enough for one estimate, not for two.
    user.budget.daily = Money::from_micros(6_000);
    let dear = r#"{"do":"lie","text":"no","cost_usd":0.005}"#;
    let found = reason(user.asker(script(&user, &[dear, BLUE])).ask(request("the sky")));
    assert!(matches!(found, Reason::BadAnswer(_)), "{found}");
    assert_eq!(user.spent(), (1, Money::from_micros(5_000)));

    let mut user = User::new();
    user.timeout = Duration::from_millis(500);
    let found = reason(user.asker(script(&user, &[dear, BLUE])).ask(request("the sky")));
    assert!(matches!(found, Reason::BadAnswer(_)), "{found}");
    assert_eq!(user.spent().0, 1);
}

#[test]
fn a_wholly_private_prompt_is_not_asked() {
    let user = User::new();
    let reason = reason(user.asker(script(&user, &[BLUE])).ask(request("<private>the sky</private>")));
    assert!(matches!(reason, Reason::Private));
    assert!(!user.folder.path().join("script.jsonl.position").exists());
}

#[test]
fn without_a_ledger_nothing_is_asked() {
    let user = User::new();
    fs::write(user.database(), "no database ".repeat(1_000)).unwrap();
    let reason = reason(user.asker(script(&user, &[BLUE])).ask(request("the sky")));
    assert!(matches!(reason, Reason::NoLedger(_)), "{reason}");
    assert!(!user.folder.path().join("script.jsonl.position").exists());
}

/// Runs `ask` in a process of its own, with nothing but what the test gives it.
fn ask_command(user: &User, script: &Path) -> Command {
    let mut command = Command::new(ask_program());
    command
        .args(["distill", "the sky"])
        .env_clear()
        .env("WYREN_DATA_DIR", user.folder.path())
        .env("WYREN_MODEL_SCRIPT", script)
        .stdout(Stdio::piped());
    command
}

#[test]
fn processes_at_once_stay_within_the_budget_together() {
    let user = User::new();
    let line = r#"{"do":"answer","answer":{"colour":"blue"},"cost_usd":0.004,"after_ms":100}"#;
    script(&user, &[line]);
    let script = user.folder.path().join("script.jsonl");
    let children: Vec<_> = (0..8)
        .map(|_| ask_command(&user, &script).env("WYREN_DAILY_BUDGET_USD", "0.02").spawn().unwrap())
        .collect();
    let outputs: Vec<String> = children
        .into_iter()
        .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    let answered = outputs.iter().filter(|output| output.contains("\"answer\"")).count();
    assert!((1..8).contains(&answered), "{outputs:?}");
    assert!(
        outputs.iter().all(|output| output.contains("answer") || output.contains("budget")),
        "{outputs:?}"
    );
    let spent = Ledger::open(&user.database()).unwrap().spent(Timestamp::now(), None).unwrap();
    assert!(spent > Money::ZERO && spent <= Money::from_micros(20_000), "{spent}");
}

#[test]
fn a_caller_that_is_killed_leaves_its_reservation_counted() {
    let user = User::new();
    script(&user, &[r#"{"do":"hang"}"#]);
    let mut child = ask_command(&user, &user.folder.path().join("script.jsonl")).spawn().unwrap();
    let position = user.folder.path().join("script.jsonl.position");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !position.exists() {
        assert!(Instant::now() < deadline, "the model was never asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let totals = Ledger::open(&user.database()).unwrap().totals(Timestamp::now(), 1).unwrap();
    assert_eq!((totals[0].calls, totals[0].unsettled), (1, 1));
    assert!(totals[0].reserved > Money::ZERO && totals[0].spent == totals[0].reserved);
}

#[test]
fn a_model_child_asks_no_model() {
    let user = User::new();
    script(&user, &[BLUE]);
    let script = user.folder.path().join("script.jsonl");
    let output = ask_command(&user, &script).env("WYREN_INTERNAL", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("a model child may not call a model"));
    let mut command = ask_command(&user, &script);
    let output =
        command.env_remove("WYREN_MODEL_SCRIPT").env("WYREN_MODEL_PROVIDER", "off").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("model calls are off"));
}

#[test]
fn the_users_own_login_and_key_are_not_used_before_the_user_has_read_so() {
    let user = User::new();
    let paths = base::Paths::of(&Env::fixed([("WYREN_DATA_DIR", user.folder.path())]));
    let ask = |provider: &str, env: &Env, is_unannounced: bool| {
        let options = Options {
            is_unannounced,
            provider: provider.to_owned(),
            command: "/nonexistent/claude".to_owned(),
            name: String::new(),
            endpoint: String::new(),
            budget: user.budget,
            timeout: user.timeout,
        };
        match Asker::new(env, &paths, options).ask(request("the sky")) {
            Outcome::Answered(_) => String::new(),
            Outcome::Unavailable { reason } => reason.to_string(),
        }
    };
    for provider in ["cli", "api"] {
        let words = ask(provider, &no_env(), true);
        assert_eq!(words, "no session has told you yet that a model is asked with your login", "{provider}");
        assert_ne!(ask(provider, &no_env(), false), words, "{provider}");
    }
    assert_eq!(user.spent().0, 0, "nothing was reserved");
    assert!(!ask("openai", &no_env(), true).contains("login"), "an endpoint that the user runs");
    assert_eq!(ask("off", &no_env(), true), "model calls are off");
}
