//! What holds for every line: no panic, no surprise, no line that takes longer than its length allows.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use shell::{MAX_NESTING, MAX_WRAPPERS, Origin, commands};

/// Quotes a word as an agent's library would.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Pieces of shell that are likely to meet in unlikely ways.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$(",
        ")",
        "(",
        "((",
        "))",
        "$((",
        "`",
        "\\`",
        "\\",
        "'",
        "\"",
        "$'",
        "${",
        "}",
        "{ ",
        " ",
        "\n",
        ";",
        ";;",
        "&",
        "&&",
        "||",
        "|",
        "!",
        " # ",
        "<<EOF",
        "<<-'E'",
        "\nEOF\n",
        "\nE\n",
        "<<<",
        "<(",
        ">",
        "2>&1",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        "a) ",
        "[[ ",
        " ]]",
        "f() ",
        "function ",
        "a=",
        "a=(",
        "bash -c ",
        "sudo ",
        "env A=1 ",
        "xargs ",
        "find . -exec ",
        "\\;",
        "echo ",
        "| sh",
        "eval ",
        "-c ",
        "-m ",
        "python ",
        "ssh h ",
        "time ",
        "coproc ",
        "parallel ::: ",
        "a[",
        "é",
        "\u{1F980}",
        "\r",
        "\0",
        "pytest",
        "D=/ ",
        "D+=",
        "$D",
        "\"$D\"",
        "${D:-",
        "${D%/}",
        "export D=",
        "a=(x y)",
        "${a[@]}",
        "for d in a $D; do ",
        "$d",
        "done; ",
        "cd /x && ",
        "xargs -I{} ",
        "parallel x ::: ",
        "python -c ",
        "os.system(",
        "node -e ",
        "perl -e ",
        "awk ",
        "{system(",
        "tmux new ",
        "sudo: ",
        "git:",
        "'git bisect' ",
        "git -c alias.x=",
        ":(){ :|:& };:",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read_without_a_panic(script in ".{0,200}") {
        commands(&script);
    }

    #[test]
    fn any_shell_is_read_without_a_panic(script in pieces()) {
        for command in commands(&script) {
            prop_assert!(!command.words.is_empty() || !command.redirects.is_empty());
            prop_assert!(command.wrappers.len() <= MAX_WRAPPERS);
            prop_assert!(script.is_char_boundary(command.start), "{script:?}: {command:?}");
            prop_assert!(command.depth <= MAX_NESTING + MAX_WRAPPERS);
            prop_assert!(!command.text().contains('\n'));
        }
    }

    #[test]
    fn commands_stand_in_order(script in pieces()) {
        let starts: Vec<usize> = commands(&script).iter().map(|command| command.start).collect();
        prop_assert!(starts.is_sorted(), "{script:?}: {starts:?}");
    }

    #[test]
    fn plain_words_occur_in_order(script in "[a-z0-9 ;&|\n()]{0,80}") {
        let mut rest = script.as_str();
        // What a wrapper runs has words that the wrapper has as well.
        for command in commands(&script).into_iter().filter(|command| command.origin == Origin::Direct) {
            for word in command.words {
                let at = rest.find(&word.text);
                prop_assert!(at.is_some(), "{script:?}: {word:?}");
                rest = &rest[at.unwrap_or(0) + word.text.len()..];
            }
        }
    }

    #[test]
    fn quoted_words_come_back(words in prop::collection::vec("\\PC{0,12}|[ \n\t'\"$`\\\\;&|<>()]{0,8}", 0..6)) {
        let script = format!("program {}", words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "));
        let found = commands(&script);
        prop_assert_eq!(found.len(), 1);
        let texts: Vec<&str> = found[0].words[1..].iter().map(|word| word.text.as_str()).collect();
        prop_assert_eq!(texts, words);
    }

    #[test]
    fn a_script_in_quotes_gives_the_same_commands(script in "[a-z\"' ;&|$()]{0,40}") {
        let direct: Vec<String> = commands(&script).iter().map(|command| command.text()).collect();
        let quoted = commands(&format!("bash -c {}", quote(&script)));
        let inside: Vec<String> = quoted[1..].iter().map(|command| command.text()).collect();
        prop_assert_eq!(inside, direct);
    }
}

/// What four times the text may take: a quadratic reader takes sixteen times as long.
const MOST_GROWTH: u32 = 8;

/// What a measurement may be off by on a busy machine.
const NOISE: Duration = Duration::from_millis(50);

fn time_to_read(piece: &str, length: usize) -> Duration {
    let script = piece.repeat(length / piece.len());
    let start = Instant::now();
    commands(&script);
    start.elapsed()
}

#[test]
fn a_megabyte_of_data_is_one_command() {
    let body = "pytest \"it's $x\" \\\n".repeat(50_000);
    assert_eq!(commands(&format!("cat > n.md <<EOF\n{body}EOF\n")).len(), 1);
    assert_eq!(commands(&format!("cat > n.md <<'EOF'\n{body}EOF\n")).len(), 1);
    assert_eq!(commands(&format!("echo {}", quote(&body))).len(), 1);
}

#[test]
fn hostile_repeats_are_read_in_linear_time() {
    for piece in [
        "$(",
        "((",
        "$((",
        "(",
        "{ ",
        "`",
        "\\`",
        "\"",
        "'",
        "${x:-",
        "${x:-\"",
        "<(",
        "if a; then ",
        "case x in a) ",
        "[[ ",
        "a=(",
        "cat <<EOF\n",
        "cat <<A <<B; ",
        "cat <<E\nx\nE\n",
        "bash <<E\nx\nE\n",
        "cat <<E | { :; }\nE\n",
        "cat <<E | cat | bash\nE\n",
        "((a) b)",
        "$((a) b)",
        "((#)\n",
        "sudo ",
        "env ",
        "eval ",
        "ssh h ",
        "xargs ",
        "bash -c ",
        "find . -exec a ",
        "-exec ",
        "a | ",
        "a & ",
        "a && ",
        "! ",
        "a[;",
        "f() ",
        "time ",
        "coproc ",
        "x=$(a) ",
        "\"$(",
        "echo a | sh; ",
        "bash <<< a; ",
        "\\\n",
        "#\n",
        "@(",
        "é",
        "A=1 ",
        "a <<<b ",
        ") ",
        "} ",
        "`a` ",
        "$'\\x41'",
        "python -m ",
        "for x in ",
        "function ",
        "cat <<E $(cat <<F\n",
        "D=$D$D; ",
        "D=aaaaaaaa; $D ",
        "$D ",
        "${D:-",
        "D=(a a a a); ${D[@]} ",
        "export D=a; ",
        "for d in a b c; do $d; done; ",
        "for d in a b c d e f g h; do $d ",
        "for d in a b; do $($d ",
        "A='eval \"$A\"; eval \"$A\"'; eval \"$A\"; ",
        "parallel 'parallel x ::: 1 2 3' ::: 1 2 3; ",
        "echo a | xargs -I{} {} ",
        "echo a b c | xargs x; ",
        "x=$(a); eval \"$x\"; ",
        "cd a; b; ",
        "tmux x \\; ",
        "git -c alias.x=!git x; ",
        "psql <<E | cat\nx\nE\n",
        "f() { ",
        "f() { f | f & }; f; ",
        "python -c 'os.system(\"a\")'; ",
        "python3 <<E\nos.system('a')\nE\n",
    ] {
        let is_linear = || time_to_read(piece, 200_000) < time_to_read(piece, 50_000) * MOST_GROWTH + NOISE;
        assert!((0..3).any(|_| is_linear()), "{piece:?}");
    }
}

/// A shell that assigns in its first part what the parts behind it use.
#[test]
fn thousands_of_variables_are_followed_in_linear_time() {
    let script = |count: usize| -> String {
        let assigned = (0..count).map(|at| format!("v{at}=value{at}\n"));
        assigned.chain((0..count).map(|at| format!("rm \"$v{at}\"\n"))).collect()
    };
    let found = commands(&script(3_000));
    assert!(found.iter().all(|command| command.words[1].text.starts_with("value")));
    let time = |count: usize| {
        let script = script(count);
        let start = Instant::now();
        commands(&script);
        start.elapsed()
    };
    assert!((0..3).any(|_| time(20_000) < time(5_000) * MOST_GROWTH + NOISE));
}

/// What grows with each level would take longer than any machine has, and what is left of the text is still read.
#[test]
fn values_that_grow_are_given_up() {
    let doubling: String = (0..64).map(|at| format!("v{}=$v{at}$v{at};", at + 1)).collect();
    let script = format!("v0=aaaaaaaa;{doubling} rm $v64; eval \"$v64\"; pytest");
    assert_eq!(commands(&script).last().map(|command| command.text()), Some("pytest".to_owned()));
    let mut nested = String::from("rm x");
    for _ in 0..MAX_WRAPPERS {
        nested = format!("parallel {} ::: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", quote(&nested));
    }
    assert!(commands(&nested).len() < 10_000);
    let endless = "A='eval \"$A\"; eval \"$A\"'; eval \"$A\"; pytest";
    assert_eq!(commands(endless).last().map(|command| command.text()), Some("pytest".to_owned()));
}

#[test]
fn megabytes_of_code_are_read_in_linear_time() {
    for piece in [
        "os.system(",
        "os.system(\"a\")\n",
        "run(x)\n",
        "remove(x)\n",
        "subprocess.run([",
        "f\"{",
        "f\"{x}\" ",
        "Path(\"x\").",
        "\"\"\"",
        "#",
        "x = ",
        "recursive=   ",
        "os.system(a, (b, [",
        "a.b.c.d.",
        "a(b(",
        "{\"a\": [",
        "é",
        "`${",
        "qx{",
        "%w[",
        "system ",
        "/*",
        "\\",
        "| getline ",
    ] {
        for program in ["python -c", "node -e", "perl -e", "ruby -e", "php -r", "awk", "osascript -e"] {
            let time = |length: usize| {
                let script = format!("{program} {}", quote(&piece.repeat(length / piece.len())));
                let start = Instant::now();
                commands(&script);
                start.elapsed()
            };
            let is_linear = || time(400_000) < time(100_000) * MOST_GROWTH + NOISE;
            assert!((0..3).any(|_| is_linear()), "{program} {piece:?}");
        }
    }
    let code = "print(\"os.system('rm -rf /')\")\n".repeat(100_000);
    assert_eq!(commands(&format!("python -c {}", quote(&code))).len(), 1);
}

#[test]
fn text_nested_too_deep_is_opaque() {
    let deep = |depth: usize| format!("{}pytest{}; a", "$(".repeat(depth), ")".repeat(depth));
    let programs = |script: &str| {
        commands(script).iter().map(|command| command.program().to_owned()).collect::<Vec<_>>()
    };
    assert!(programs(&deep(MAX_NESTING)).contains(&String::from("pytest")));
    assert!(programs(&deep(MAX_NESTING)).contains(&String::from("a")));
    assert!(!programs(&deep(MAX_NESTING + 1)).contains(&String::from("pytest")));
}
