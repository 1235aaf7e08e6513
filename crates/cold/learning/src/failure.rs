//! What the text of a failure says: whether the command itself was wrong, and the line that says so.

use text::sanitize;

/// What programs print when they were called the wrong way, in lower case, and in the languages that they are translated into.
const USAGE: [&str; 65] = [
    "unexpected args",
    "arg(s), received",
    "could not find an option",
    "unknown option",
    "unknown flag",
    "unknown shorthand flag",
    "unknown argument",
    "unknown command",
    "unknown subcommand",
    "unknown switch",
    "unknown parameter",
    "unrecognized",
    "unrecognised",
    "unexpected argument",
    "unexpected option",
    "invalid option",
    "invalid flag",
    "invalid argument",
    "invalid choice",
    "invalid subcommand",
    "illegal option",
    "bad option",
    "flag provided but not defined",
    "no such option",
    "no such command",
    "no such subcommand",
    "is not a git command",
    "not a valid",
    "takes no argument",
    "too many arguments",
    "too few arguments",
    "missing operand",
    "missing argument",
    "requires an argument",
    "needs an argument",
    "cannot be used with",
    "can't be used with",
    "mutually exclusive",
    "command not found",
    "not recognized as",
    "usage:",
    "try '",
    "did you mean",
    "is deprecated",
    "has been deprecated",
    "has been removed",
    "was removed",
    "no longer support",
    "is not supported",
    "not supported",
    "missing required",
    "required argument",
    "must be specified",
    "unbekannte option",
    "ungültige option",
    "option inconnue",
    "option non reconnue",
    "option invalide",
    "opción desconocida",
    "opción no reconocida",
    "opção desconhecida",
    "неизвестный параметр",
    "неверный ключ",
    "未知选项",
    "不明なオプション",
];

/// What they print when they could not run where they were run, in lower case.
const SURROUNDINGS: [&str; 31] = [
    "unknown file extension",
    "not properly specified",
    "externally-managed-environment",
    "eresolve",
    "permission denied",
    "eacces",
    "not a tty",
    "not a terminal",
    "no tty",
    "the input device is not a tty",
    "timed out",
    "timeout",
    "requires",
    "need to specify",
    "you must",
    "please run",
    "please use",
    "try running",
    "set-upstream",
    "refusing to",
    "divergent branches",
    "unrelated histories",
    "non-interactive",
    "interactive",
    "[y/n]",
    "(y/n)",
    "[yes/no]",
    "(yes/no)",
    "are you sure",
    "do you want to continue",
    "press enter",
];

/// What they print when the network, or the other end, did not work just then: no form of the command is to blame.
const NETWORK: [&str; 22] = [
    "econnreset",
    "econnrefused",
    "etimedout",
    "enotfound",
    "eai_again",
    "connection reset",
    "connection refused",
    "connection timed out",
    "broken pipe",
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure",
    "no route to host",
    "network is unreachable",
    "network aborted",
    "tls handshake",
    "i/o timeout",
    "read timed out",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
    "too many requests",
];

/// What they print that look for the file which says that a folder is a project, in lower case.
const ELSEWHERE: [&str; 14] = [
    "no rule to make target",
    "missing script",
    "no package.json",
    "does not contain a package.json",
    "could not find `cargo.toml`",
    "no such file or directory, open '",
    "could not read package.json",
    "go.mod file not found",
    "no makefile found",
    "not a git repository",
    "pyproject.toml",
    "no rakefile found",
    "no configuration file",
    "no such workspace",
];

/// What they print that judge what they were given, or tell the state that it is in: another form of the command that succeeds
/// has not corrected the first one, it has done something else. In lower case.
const JUDGED: [&str; 31] = [
    "already exists",
    "already in use",
    "already running",
    "address in use",
    "assert",
    "build failed",
    "compilation",
    "conflict",
    "could not compile",
    "error ts",
    "error[",
    "expected",
    "failing",
    "failures",
    " lock",
    "mismatch",
    "modified",
    "not fully merged",
    "panicked",
    "problems (",
    "referenceerror",
    "rejected",
    "syntax error",
    "syntaxerror",
    "test failed",
    "tests failed",
    "traceback",
    "typeerror",
    "uncommitted",
    "unstaged",
    "would be overwritten",
];

/// What they print that do not know a name which they were given, in lower case.
const UNKNOWN_NAMES: [&str; 20] = [
    "404",
    "cannot find",
    "can't find",
    "could not find",
    "couldn't find",
    "did not match",
    "didn't match",
    "does not exist",
    "does not match any",
    "doesn't exist",
    "missing script",
    "no matching",
    "no module named",
    "no rule to make target",
    "no such",
    "not exist",
    "not found",
    "unable to find",
    "unable to locate",
    "unknown",
];

/// How a line begins that refuses a call, in lower case. A line of anything else is what was asked for.
const REFUSING: [&str; 14] = [
    "error",
    "fatal",
    "usage",
    "unknown",
    "unrecognized",
    "unrecognised",
    "invalid",
    "illegal",
    "unexpected",
    "bash:",
    "sh:",
    "zsh:",
    "/bin/",
    "(eval)",
];

/// The most of an output that is a refusal and nothing else, in bytes.
const MAX_REFUSAL: usize = 1_500;

/// What marks the line that tells most.
const TELLING: [&str; 12] = [
    "error",
    "fatal",
    "unknown",
    "unexpected",
    "unrecognized",
    "invalid",
    "illegal",
    "not found",
    "denied",
    "cannot",
    "failed",
    "timed out",
];

/// The most characters of a line that is quoted.
const MAX_LINE_CHARS: usize = 200;

/// Why a command failed, as far as its text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was called the wrong way.
    Usage,
    /// It could not run as it was called, here.
    Surroundings,
    /// It ran, and what it ran on is wrong: a test, a file, a compiler's complaint, a network.
    Matter,
}

/// Returns why a command failed.
pub fn cause(error: &str) -> Cause {
    let lower = error.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if has(&USAGE) {
        Cause::Usage
    } else if has_network(&lower) {
        Cause::Matter
    } else if has(&SURROUNDINGS) {
        Cause::Surroundings
    } else {
        Cause::Matter
    }
}

/// Says whether a command was given something, or met a state, that was not right: nothing about the call itself.
pub fn is_judgement(error: &str) -> bool {
    let lower = error.to_lowercase();
    // Of a test runner's lines; in small letters, without a number, it is in every other error.
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_count =
        |pair: &[&str]| pair[0].bytes().all(|byte| byte.is_ascii_digit()) && pair[1].starts_with("fail");
    let is_of_tests = || {
        words.windows(2).any(is_count)
            || error.split(|it: char| !it.is_alphanumeric() && it != '_').any(|word| word.starts_with("FAIL"))
            || ['✗', '✕', '✖'].iter().any(|mark| error.contains(*mark))
    };
    // What a loader says of a file that another program loads is about the program.
    let is_of_loader = lower.contains("unknown file extension");
    is_of_tests() || has_network(&lower) || (!is_of_loader && JUDGED.iter().any(|it| lower.contains(it)))
}

/// Says whether a text, in lower case, tells of the network. `ModuleNotFoundError` is not `ENOTFOUND`.
fn has_network(lower: &str) -> bool {
    let is_start = |at: usize| !lower[..at].ends_with(|it: char| it.is_ascii_alphanumeric());
    NETWORK.iter().any(|phrase| lower.match_indices(phrase).any(|(at, _)| is_start(at)))
}

/// Says whether an error, in lower case, asks for what a command is to work on.
pub fn asks_for_argument(error: &str) -> bool {
    ["specify", "more than one", "multiple", "ambiguous", "which", "requires", "missing", "no default"]
        .iter()
        .any(|phrase| error.contains(phrase))
}

/// Says whether a program is not there.
pub fn is_not_there(error: &str, program: &str) -> bool {
    let (lower, program) = (error.to_lowercase(), program.to_lowercase());
    [
        format!("{program}: command not found"),
        format!("command not found: {program}"),
        format!("{program}: not found"),
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Says whether a command did not know a name that it was given.
pub fn is_about_name(error: &str) -> bool {
    let lower = error.to_lowercase();
    UNKNOWN_NAMES.iter().any(|phrase| lower.contains(phrase))
}

/// Says whether a command did not come to an end.
pub fn is_hang(error: &str) -> bool {
    error.to_lowercase().contains("timed out after")
}

/// Says whether an output is that of a program which refused its call, although the line that it was in succeeded: of
/// `cargo test --nocapture | tail` only `tail` did.
pub fn is_refusal<'p>(output: &str, mut programs: impl Iterator<Item = &'p str>) -> bool {
    let output = output.trim_start();
    if output.is_empty() || output.len() > MAX_REFUSAL {
        return false;
    }
    let first = output.lines().next().unwrap_or_default().to_lowercase();
    let is_by = |program: &str| {
        let rest = first.strip_prefix(&program.to_lowercase());
        rest.is_some_and(|rest| rest.trim_start_matches(".exe").starts_with(':'))
    };
    let begins = REFUSING.iter().any(|beginning| first.starts_with(beginning)) || programs.any(is_by);
    begins && cause(&first) == Cause::Usage
}

/// Says whether a command was run in a folder that is not the one it works on.
pub fn is_elsewhere(error: &str) -> bool {
    let lower = error.to_lowercase();
    ELSEWHERE.iter().any(|phrase| lower.contains(phrase))
}

/// Says whether the network, or the other end, did not work just then.
pub fn is_of_network(error: &str) -> bool {
    has_network(&error.to_lowercase())
}

/// Says whether nothing answered where a command tried to connect to.
pub fn is_unanswered(error: &str) -> bool {
    let lower = error.to_lowercase();
    lower.contains("refused") || lower.contains("econnrefused")
}

/// Says whether a command wanted a terminal that is not there.
pub fn is_about_terminal(error: &str) -> bool {
    let lower = error.to_lowercase();
    ["tty", "terminal", "interactive"].iter().any(|word| lower.contains(word))
}

/// Says whether a command refused a value that it was given.
pub fn is_about_value(error: &str) -> bool {
    let lower = error.to_lowercase();
    let phrases = [
        "invalid",
        "not a valid",
        "unknown",
        "unsupported",
        "not supported",
        "must be one of",
        "expected one of",
        "possible values",
        "choose from",
        "did you mean",
        "not allowed",
    ];
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Returns the line of an error that tells most; empty where it has none.
pub fn line(error: &str) -> String {
    // A line is cut, and the beginning of a secret is not known as one.
    let error = text::redact::redact(error);
    let lines: Vec<String> = error
        .lines()
        .map(|line| sanitize::one_line(line, MAX_LINE_CHARS))
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with("Exit code") && line != "Error:")
        .collect();
    let lower: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    let by =
        |phrases: &[&str]| lower.iter().position(|line| phrases.iter().any(|phrase| line.contains(phrase)));
    // A line of usage only lists what there is.
    let is_list = |at: &usize| !lower[*at].starts_with("usage:") && !lower[*at].starts_with("try '");
    let at =
        by(&USAGE).filter(is_list).or_else(|| by(&TELLING).filter(is_list)).or_else(|| by(&SURROUNDINGS));
    at.or((!lines.is_empty()).then_some(0)).map(|at| lines[at].clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_call_differs_from_a_wrong_world() {
        assert_eq!(cause("Exit code 2\nerror: unexpected argument '--nocapture' found"), Cause::Usage);
        assert_eq!(cause("Exit code 127\nbash: docker-compose: command not found"), Cause::Usage);
        assert_eq!(cause("error: externally-managed-environment"), Cause::Surroundings);
        assert_eq!(cause("test result: FAILED. 1 passed; 2 failed"), Cause::Matter);
        assert_eq!(cause("git: Fehler: unbekannte Option `foo'"), Cause::Usage);
        assert_eq!(cause("Do you want to continue? [Y/n] Abort."), Cause::Surroundings);
        assert_eq!(cause("net/http: TLS handshake timeout"), Cause::Matter);
        assert!(is_of_network("fatal: Could not resolve host: github.com"));
        assert!(!is_of_network("Could not resolve dependencies for project com.acme:web"));
        assert!(!is_of_network("ModuleNotFoundError: No module named 'shop'"));
    }

    #[test]
    fn a_refusal_differs_from_what_was_asked_for() {
        let is_refusal = |output: &str| is_refusal(output, ["cargo", "tail"].into_iter());
        assert!(is_refusal("error: unexpected argument '--nocapture' found\n\nUsage: cargo test [OPTIONS]"));
        assert!(is_refusal("cargo: unrecognized option '--x'"));
        assert!(is_refusal("bash: pnpx: command not found"));
        for output in [
            "",
            "test result: ok",
            "12 tests passed; 'unknown option' is one of them",
            "error: could not compile `shop`",
            "commit abc1234\n    Handle the unknown option",
        ] {
            assert!(!is_refusal(output), "{output}");
        }
        assert!(!is_refusal(&format!("error: unknown option\n{}", "x\n".repeat(1_000))));
    }

    #[test]
    fn what_is_judged_differs_from_a_call_that_cannot_be() {
        for error in [
            "test result: FAILED. 1 passed",
            "CONFLICT (content): Merge conflict in a",
            "error TS2304: x",
            "✖ 3 problems",
        ] {
            assert!(is_judgement(error), "{error}");
        }
        for error in ["a container name must be specified", "JavaScript heap out of memory", "AccessDenied"] {
            assert!(!is_judgement(error), "{error}");
        }
    }

    #[test]
    fn the_line_that_tells_most_is_quoted() {
        let error =
            "Exit code 2\nerror: unexpected argument '--nocapture' found\n\nUsage: cargo test [OPTIONS]";
        assert_eq!(line(error), "error: unexpected argument '--nocapture' found");
        assert_eq!(line("Exit code 1\nsomething odd"), "something odd");
        assert_eq!(line("Exit code 1"), "");
    }
}
