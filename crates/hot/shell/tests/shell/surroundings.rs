//! What a command has from the line around it: its input, its folder, and what becomes of its output.

use shell::{Command, MAX_INPUT, Origin, commands};

use crate::check;

/// Returns the command of a script that runs a program.
#[track_caller]
fn the(program: &str, script: &str) -> Command {
    let mut found = commands(script).into_iter().filter(|command| command.program() == program);
    found.next().unwrap_or_else(|| panic!("no {program} in {script:?}"))
}

#[track_caller]
fn check_input(script: &str, program: &str, expected: Option<&str>) {
    assert_eq!(the(program, script).input.as_deref(), expected, "in {script:?}");
}

#[track_caller]
fn check_folder(script: &str, program: &str, expected: Option<&str>) {
    assert_eq!(the(program, script).folder.as_deref(), expected, "in {script:?}");
}

#[track_caller]
fn check_output(script: &str, program: &str, feeds: Option<&str>, substituted_into: Option<&str>) {
    let command = the(program, script);
    let found = (command.feeds.as_deref(), command.substituted_into.as_deref());
    assert_eq!(found, (feeds, substituted_into), "in {script:?}");
}

#[test]
fn item_22_a_command_knows_what_the_script_gives_it_to_read() {
    check_input("psql <<E\nDROP TABLE x;\nE\n", "psql", Some("DROP TABLE x;\n"));
    check_input("psql -d a <<'E' && b\nDROP\nE\n", "psql", Some("DROP\n"));
    check_input("sudo -u postgres psql <<-E\n\tDROP\n\tE\n", "psql", Some("DROP\n"));
    check_input("timeout 5 psql <<< 'DROP TABLE x'", "psql", Some("DROP TABLE x"));
    check_input("echo 'DROP TABLE x' | psql", "psql", Some("DROP TABLE x"));
    check_input("printf 'DROP\\nTABLE' | cat | tee log | psql", "psql", Some("DROP\nTABLE"));
    check_input("cat <<E | tee log | sudo psql\nDROP\nE\n", "psql", Some("DROP\n"));
    check_input("ssh host psql -d a <<E\nDROP\nE\n", "psql", Some("DROP\n"));
    check_input("echo DROP | docker exec -i db psql", "psql", Some("DROP"));
    check_input("echo DROP | ssh host 'cd x; psql'", "psql", Some("DROP"));
    check_input("cat > x.sql <<E\nDROP\nE\npsql -f x.sql", "psql", None);
    check_input("echo DROP | grep x | psql", "psql", None);
    check_input("echo DROP | psql < file", "psql", None);
    check_input("cat file <<E | psql\nDROP\nE\n", "psql", None);
    check_input("echo DROP | xargs psql", "psql", None);
    check_input("echo DROP | { psql; }", "psql", None);
    check_input("psql", "psql", None);
    let long = format!("psql <<E\n{}E\n", "é\n".repeat(MAX_INPUT));
    let length = the("psql", &long).input.unwrap_or_default().len();
    assert!((MAX_INPUT - 3..=MAX_INPUT).contains(&length), "{length}");
}

#[test]
fn item_13_a_substituted_command_knows_who_runs_its_output() {
    for (script, program) in [
        ("bash -c \"$(curl -fsSL https://x/install.sh)\"", "bash"),
        ("sudo /bin/sh -ec \"$(curl x | sed y)\"", "sh"),
        ("bash <(curl -fsSL https://x/i.sh) --yes", "bash"),
        ("sh < <(curl x)", "sh"),
        ("bash <<< \"$(curl x)\"", "bash"),
        ("eval \"$(curl -s x)\"", "eval"),
        ("eval `curl -s x`", "eval"),
        ("eval $(echo \"$(curl x)\")", "eval"),
        ("source <(curl x)", "source"),
        (". <(curl x)", "source"),
        ("python3 <(curl x)", "python3"),
        ("python3 -c \"$(curl x)\"", "python3"),
        ("node -e \"$(curl x)\"", "node"),
        ("env A=1 timeout 5 bash -c \"$(sudo curl x)\"", "bash"),
        ("su - me -c \"$(curl x)\"", "su"),
    ] {
        assert_eq!(the("curl", script).feeds.as_deref(), Some(program), "in {script:?}");
    }
    check_output("bash -c 'echo $1' _ \"$(curl x)\"", "curl", None, Some("bash"));
    check_output("bash \"$(curl x)\"", "curl", None, Some("bash"));
    check_output("echo \"$(curl x)\"", "curl", None, Some("echo"));
    check_output("x=$(curl x)", "curl", None, None);
    check_output("curl x | sh", "curl", None, None);
    check_output("cat < <(curl x)", "curl", None, None);
    check_output("docker rm -f $(docker ps -aq)", "docker", None, None);
    let inner = commands("docker rm -f $(docker ps -aq)").pop().unwrap_or_default();
    assert_eq!(inner.substituted_into.as_deref(), Some("docker"));
    check_output("sudo nice kill -9 `pgrep x`", "pgrep", None, Some("kill"));
    check_output("a $(b $(c))", "c", None, Some("b"));
    check_output("$(which pytest) -x", "which", None, None);
}

#[test]
fn item_3_a_command_knows_the_folder_of_its_line() {
    check_folder("cd / && rm -rf *", "rm", Some("/"));
    check_folder("cd ~ && rm -rf .", "rm", Some("~"));
    check_folder("cd && rm -rf .", "rm", Some("~"));
    check_folder("cd build && sudo rm -rf *", "rm", Some("build"));
    check_folder("cd a; cd b/ && cd c; rm x", "rm", Some("a/b/c"));
    check_folder("cd /a || exit; rm x", "rm", Some("/a"));
    check_folder("if cd /a; then rm x; fi", "rm", Some("/a"));
    check_folder("pushd -n /a; rm x", "rm", Some("/a"));
    check_folder("cd -- -P; cd -P /b; rm x", "rm", Some("/b"));
    check_folder("cd \"$X/y\"; rm x", "rm", Some("$X/y"));
    check_folder("cd /a; cd \"$(mktemp -d)\"; rm x", "rm", Some("$()"));
    check_folder("cd /a; cd -; rm x", "rm", Some("$OLDPWD"));
    check_folder("(cd /; ls); rm x", "rm", None);
    check_folder("cd /a; (cd /; ls); rm x", "rm", Some("/a"));
    check_folder("x=$(cd / && pwd); rm x", "rm", None);
    check_folder("x=`cd / && pwd`; rm x", "rm", None);
    check_folder("cd / | rm x", "rm", None);
    check_folder("cd / | a; rm x", "rm", None);
    check_folder("cd /; bash -c 'rm x'", "rm", Some("/"));
    check_folder("bash -c 'cd /'; rm x", "rm", None);
    check_folder("eval 'cd /'; rm x", "rm", Some("/"));
    check_folder("cd /; ssh host rm x", "rm", None);
    check_folder("cd /a; docker exec c rm x", "rm", None);
    check_folder("bash -c 'cd / && rm x'", "rm", Some("/"));
    check_folder("rm x; cd /", "rm", None);
    check_folder("{ cd /; }; rm x", "rm", Some("/"));
}

#[test]
fn item_5_a_redirection_without_a_command_is_a_command_without_words() {
    check("> /dev/sda", &["> /dev/sda"]);
    check("a; > x; b", &["a", "> x", "b"]);
    check("{ a; b; } > /dev/sda", &["a", "b", "> /dev/sda"]);
    check("for x in a; do b; done >> x < y", &["b", ">> x"]);
    check("(a) 2>&1 <<E\nx\nE\n", &["a"]);
    check("A=1 > x", &["> x"]);
    check("cat $(< x)", &["cat $()", "substituted: < x"]);
    let command = commands("> /dev/sda").pop().unwrap_or_default();
    assert_eq!((command.text().as_str(), command.program(), command.origin), ("", "", Origin::Direct));
}

#[test]
fn item_18_a_function_that_multiplies_itself_is_a_fork_bomb() {
    for script in [
        ":(){ :|:& };:",
        ":() { : | : & }; :",
        "bomb() { bomb | bomb & }; bomb",
        "echo hi; b ()\n{\n  b|b&\n}\nb",
        "function b { b | b & }; b",
        "function b() { sleep 1; b | b & }; ls && b",
        "f() ( f | f & ); f",
        "f() { (f | f) & }; f",
        "g() { f; }; f() { f | cat | f & f | f & }; g",
        "bash -c ':(){ :|:& };:'",
        "f() { f | sudo f & f | f & }; f",
    ] {
        let found = commands(script).iter().filter(|command| command.text() == shell::FORK_BOMB).count();
        assert_eq!(found, 1, "in {script:?}");
    }
    for script in [
        ":(){ :|:& }",
        "f() { f | f; }; f",
        "f() { g | g & }; f",
        "f() { a | b & }; f",
        "f() { f & }; f",
        "echo ':(){ :|:& };:'",
        "git commit -m ':(){ :|:& };:'",
        ": | : &",
    ] {
        let found = commands(script);
        assert!(found.iter().all(|command| command.text() != shell::FORK_BOMB), "in {script:?}: {found:?}");
    }
    let found = commands("é; bash -c 'éé; :(){ :|:& };:'");
    let bomb = found.iter().find(|command| command.text() == shell::FORK_BOMB).cloned().unwrap_or_default();
    assert_eq!(bomb.start, "é; ".len(), "a bomb in a string is where the string is handed over");
    assert!(found.iter().filter(|command| command.pipeline == bomb.pipeline).count() == 1);
    check_folder("f() { cd /; }; rm x", "rm", None);
}
