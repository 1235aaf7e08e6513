//! What is a command and what is not, one table per part of the grammar.

use shell::{Command, Origin, commands};

use crate::{check, last, only};

#[test]
fn a_name_that_is_not_run_is_not_a_program() {
    check("git add pytest.ini", &["git add pytest.ini"]);
    check("echo \"pytest\"", &["echo pytest"]);
    check("echo \"pytest rocks\"", &["echo \"\""]);
    check("echo it's pytest && echo don't", &["echo \"\""]);
    check("alias t=pytest", &["alias t=pytest"]);
    check("alias t='pytest -x'", &["alias t=\"\""]);
    check("x=\"pytest\"", &[]);
    check("x=pytest y=pytest", &[]);
    check("# pytest", &[]);
    check("pytest # comment", &["pytest"]);
    check("echo \\# pytest", &["echo # pytest"]);
    check("echo a#b; pytest", &["echo a#b", "pytest"]);
    check("ls # don't\npytest", &["ls", "pytest"]);
    check("", &[]);
    check(" \t\n\r\n", &[]);
    check("> pytest", &["> pytest"]);
}

#[test]
fn prose_is_masked_in_the_text_and_kept_in_the_words() {
    check("git commit -m 'run pytest first'", &["git commit -m \"\""]);
    check("git commit --message='run pytest'", &["git commit --message=\"\""]);
    check("git commit -m '(pytest)=bad idea'", &["git commit -m \"\""]);
    check("git commit -m fix\\ pytest", &["git commit -m \"\""]);
    check("git commit -m ''", &["git commit -m \"\""]);
    check("gh pr create --title \"x y\" --body $'a\\nb'", &["gh pr create --title \"\" --body \"\""]);
    let command = only("git commit -m 'run pytest first'");
    assert_eq!(command.words[3].text, "run pytest first");
    assert!(command.words[3].is_quoted);
    assert!(!command.words[3].is_dynamic);
}

#[test]
fn operators_separate_commands() {
    check("a; b", &["a", "b"]);
    check("a;b;", &["a", "b"]);
    check("a && b || c", &["a", "b", "c"]);
    check("a &&\n  b ||\n  c", &["a", "b", "c"]);
    check("a | b |& c", &["a", "b", "c"]);
    check("a |\nb", &["a", "b"]);
    check("a & b", &["a", "b"]);
    check("a&b&&c|d", &["a", "b", "c", "d"]);
    check("a\nb\r\nc", &["a", "b", "c"]);
    check("a \\\n  --flag \\\n  b", &["a --flag b"]);
    check("py\\\ntest -x", &["pytest -x"]);
    check("! pytest", &["pytest"]);
    check("cd api && pytest", &["cd api", "pytest"]);
}

#[test]
fn compound_commands_count_with_their_conditions() {
    check("(a; b)", &["a", "b"]);
    check("(cd x && pytest)", &["cd x", "pytest"]);
    check("((a); b)", &["a", "b"]);
    check("( (a) ; (b) )", &["a", "b"]);
    check("{ a; b; }", &["a", "b"]);
    check("if pytest; then :; fi", &["pytest", ":"]);
    check("if a; then b; elif c; then d; else e; fi; f", &["a", "b", "c", "d", "e", "f"]);
    check("if ! a\nthen\n  b\nfi", &["a", "b"]);
    check("while read x; do pytest $x; done < list", &["read x", "pytest $x"]);
    check("until curl -s x; do sleep 1; done", &["curl -s x", "sleep 1"]);
    check("for f in *.py; do pytest \"$f\"; done", &["pytest *.py"]);
    check("for f in a b # don't\ndo pytest; done", &["pytest"]);
    check("for f in $(pytest --co); do a; done", &["substituted: pytest --co", "a"]);
    check("for f; do a; done", &["a"]);
    check("for f\ndo a; done", &["a"]);
    check("for ((i=0; i<3; i++)); do a; done; b", &["a", "b"]);
    check("select x in pytest; do a; done", &["a"]);
    check("while :; do a; done | b", &[":", "a", "b"]);
    check("time { a; b; }", &["a", "b"]);
    check("time (a)", &["a"]);
    check("coproc pytest; coproc { a; }", &["pytest", "a"]);
}

#[test]
fn case_patterns_are_not_commands() {
    check("case x in pytest) echo;; esac", &["echo"]);
    check("case $1 in\n  a|b) x ;;\n  (c) y ;& \n *) z\nesac; w", &["x", "y", "z", "w"]);
    check("case \"$(a)\" in x) ;; esac", &["substituted: a"]);
    check("y=$(case x in a) b;; *) c; esac); d", &["substituted: b", "substituted: c", "d"]);
    check("case x in # don't\n a) b;; # don't\n c) d;; esac", &["b", "d"]);
}

#[test]
fn a_function_s_body_counts() {
    check("f() { pytest; }", &["pytest"]);
    check("f ()\n{\n  pytest\n}\nf", &["pytest", "f"]);
    check("function f { pytest; }; f", &["pytest", "f"]);
    check("function f() { pytest; }", &["pytest"]);
    check("f() (pytest)", &["pytest"]);
}

#[test]
fn tests_and_arithmetic_run_only_their_substitutions() {
    check("[[ -f pytest.ini ]] && a", &["a"]);
    check("[[ $x =~ ^(a|b)$ && ! -d pytest ]] || a", &["a"]);
    check("[[ $(pytest) == ok ]]", &["substituted: pytest"]);
    check("[[ a < b ]]; c", &["c"]);
    check("[ -f pytest.ini ] && a", &["[ -f pytest.ini ]", "a"]);
    check("(( x = pytest > 3 )); a", &["a"]);
    check("((x++)); a", &["a"]);
    check("echo $((1 + (2 << 3))) b", &["echo $(()) b"]);
    check("echo $(( $(pytest) + 1 ))", &["echo $(())", "substituted: pytest"]);
    check("echo $((a); b)", &["echo $()", "substituted: a", "substituted: b"]);
}

#[test]
fn assignments_and_arrays_are_not_commands() {
    check("FOO=1 pytest", &["pytest"]);
    check("a=$(pytest)", &["substituted: pytest"]);
    check("a=(pytest 'x y' $(b)) c", &["c", "substituted: b"]);
    check("a=(\n  pytest # don't\n  b\n)\nc", &["c"]);
    check("a+=(pytest); a[0]=pytest; b", &["b"]);
    check("declare -a a=(pytest x); b", &["declare -a a=\"\"", "b"]);
    check("export A=\"pytest x\"", &["export A=\"\""]);
    let command = only("A=1 B='two words' C=$x pytest");
    let expected = [("A", "1"), ("B", "two words"), ("C", "$x")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(command.assignments, expected);
}

#[test]
fn quotes_are_removed_and_escapes_resolved() {
    check("'pytest' \"-x\" a\"b\"'c'\\d", &["pytest -x abcd"]);
    check("p'y't\"est\"", &["pytest"]);
    check("\\rm -rf x", &["rm -rf x"]);
    check("echo \"a\\\"b\\$c\\d\"", &["echo a\"b$c\\d"]);
    check("echo 'a\\'b", &["echo a\\b"]);
    check("echo $'it\\'s' $'\\x41\\u00e9\\101\\t'", &["echo it's \"\""]);
    check("echo $\"pytest\"", &["echo pytest"]);
    check("echo \"a;b|c&d\" ; e", &["echo a;b|c&d", "e"]);
    check("echo é\\é\"ü\"", &["echo ééü"]);
    check("echo $ $% a$", &["echo $ $% a$"]);
    check("ls !(*.txt|pytest) @(a|b)", &["ls !(*.txt|pytest) @(a|b)"]);
    check("echo {a,b} }", &["echo {a,b} }"]);
    assert!(only("a $x").words[1].is_dynamic);
    assert!(only("a \"${x}\"").words[1].is_dynamic);
    assert!(!only("a '$x' \\$x").words[1].is_dynamic);
    assert!(!only("a '$x' \\$x").words[2].is_dynamic);
    assert!(last("a \"$(b)\"").origin == Origin::Substitution);
}

#[test]
fn substitutions_run_wherever_they_stand() {
    check("echo $(pytest)", &["echo $()", "substituted: pytest"]);
    check("echo \"a $(pytest -x) b\"", &["echo \"\"", "substituted: pytest -x"]);
    check("echo '$(pytest)'", &["echo $(pytest)"]);
    check("echo \\$(pytest)", &["echo $", "pytest"]);
    check("echo `pytest`", &["echo $()", "substituted: pytest"]);
    check("echo \"`pytest \\\"a b\\\"`\"", &["echo $()", "substituted: pytest \"\""]);
    check("echo `a \\`b\\``", &["echo $()", "substituted: a $()", "substituted: b"]);
    check("diff <(a) <(b | c)", &["diff <() <()", "substituted: a", "substituted: b", "substituted: c"]);
    check("a > >(tee log)", &["a", "substituted: tee log"]);
    check("a --file=<(b)", &["a --file=<()", "substituted: b"]);
    check("a > $(b) 2>\"`c`\"", &["a", "substituted: b", "substituted: c"]);
    check(
        "echo ${x:-$(pytest)} \"${y:=`b`}\"",
        &["echo ${x:-$()} ${y:=$()}", "substituted: pytest", "substituted: b"],
    );
    check("echo ${x#pytest} ${#x} ${x//a/b}; c", &["echo ${x#pytest} ${#x} ${x//a/b}", "c"]);
    check("echo \"${x:-it's}\"; c", &["echo ${x:-it's}", "c"]);
    check("$(which pytest) -x", &["$() -x", "substituted: which pytest"]);
    check("a $(b $(c \"$(d)\"))", &["a $()", "substituted: b $()", "substituted: c $()", "substituted: d"]);
    check("a \"$(b \")\" ')' # )\n)\" c", &["a $() c", "substituted: b ) )"]);
    check("a $(if b; then c) d", &["a $() d", "substituted: b", "substituted: c"]);
}

#[test]
fn redirections_are_not_words() {
    check("a > pytest 2>&1 b", &["a b"]);
    check("a >pytest b", &["a b"]);
    check("a &> pytest", &["a"]);
    check("a <pytest >>b 2>>c <>d >|e {fd}>f", &["a"]);
    check("a2>b", &["a2"]);
    check("> out a", &["a"]);
    check("a <<< pytest", &["a"]);
    check("(a) > pytest; { b; } 2> pytest | c", &["a", "> pytest", "b", "2> pytest", "c"]);
    let redirects: Vec<(String, String)> = only("a > x 2>&1 &>> y < z <<< 'q r'")
        .redirects
        .into_iter()
        .map(|redirect| (redirect.operator, redirect.target.text))
        .collect();
    let expected = [(">", "x"), ("2>&", "1"), ("&>>", "y"), ("<", "z"), ("<<<", "q r")];
    assert_eq!(redirects, expected.map(|(operator, target)| (operator.to_owned(), target.to_owned())));
}

#[test]
fn a_heredoc_is_data() {
    check("cat > n.md <<EOF\nrun pytest\npytest\nEOF", &["cat"]);
    check("cat <<'EOF' > n.md && a\n$(pytest)\nEOF\nb", &["cat", "a", "b"]);
    check("cat <<EOF\n$(pytest) `b` \\$(c)\nEOF\nd", &["cat", "substituted: pytest", "substituted: b", "d"]);
    check("cat <<-EOF\n\tpytest\n\tEOF\nb", &["cat", "b"]);
    check("cat <<A; cat <<B\npytest\nA\npytest\nB\nc", &["cat", "cat", "c"]);
    check("cat <<A <<\\B\npytest\nA\npytest\nB\nc", &["cat", "c"]);
    check("cat << \"E F\"\npytest\nE F\nc", &["cat", "c"]);
    check("cat <<EOF | grep x\npytest\nEOF", &["cat", "grep x"]);
    check("cat <<EOF\nit's \"pytest\nEOF\nb", &["cat", "b"]);
    check("python3 <<EOF\npytest\nEOF", &["python3"]);
    check("while read x; do a; done <<EOF\npytest\nEOF\nb", &["read x", "a", "b"]);
    check("cat <<EOF\r\npytest\r\nEOF\r\nb", &["cat", "b"]);
    check("cat 3<<EOF\npytest\nEOF\nb", &["cat", "b"]);
    check("sudo tee x <<EOF\npytest\nEOF", &["sudo tee x", "wrapped: tee x"]);
}

#[test]
fn the_classic_commit_of_an_agent_is_a_commit() {
    check(
        "git add -A && git commit -m \"$(cat <<'EOF'\nFix: don't run pytest (yet)\n\n$(pytest)\nEOF\n)\" && git push",
        &["git add -A", "git commit -m $()", "substituted: cat", "git push"],
    );
    check(
        "git commit -m \"$(cat <<EOF\nIt's pytest\nEOF)\"; a",
        &["git commit -m $()", "substituted: cat", "a"],
    );
}

#[test]
fn a_heredoc_that_a_shell_reads_counts() {
    check("bash <<EOF\npytest\nEOF", &["bash", "heredoc: pytest"]);
    check("sh -s <<'X' arg\npytest -x\nX\na", &["sh -s arg", "heredoc: pytest -x", "a"]);
    check(
        "bash <<EOF\necho \\$(pytest) $(a)\nEOF",
        &["bash", "heredoc: echo $() $()", "substituted: pytest", "substituted: a"],
    );
    check("ssh host bash <<EOF\npytest\nEOF", &["ssh host bash", "string: bash", "heredoc: pytest"]);
    check("ssh host <<EOF\npytest\nEOF", &["ssh host", "heredoc: pytest"]);
    check("cat <<EOF | bash\npytest\nEOF", &["cat", "bash", "heredoc: pytest"]);
    check("cat <<EOF |\npytest\nEOF\nbash", &["cat", "heredoc: pytest", "bash"]);
    check(
        "cat <<EOF | sed s/a/b/ | sudo bash -s\npytest\nEOF",
        &["cat", "sed s/a/b/", "sudo bash -s", "wrapped: bash -s", "heredoc: pytest"],
    );
    check("timeout 5 bash <<EOF\npytest\nEOF", &["bash", "heredoc: pytest"]);
    check(
        "docker exec -i c sh <<EOF\npytest\nEOF",
        &["docker exec -i c sh", "wrapped: sh", "heredoc: pytest"],
    );
    check("sudo -i <<EOF\npytest\nEOF", &["sudo -i", "heredoc: pytest"]);
    check("su - postgres <<EOF\npytest\nEOF", &["su - postgres", "heredoc: pytest"]);
    check("bash <<< 'pytest -x'", &["bash", "heredoc: pytest -x"]);
    check("bash <<EOF\ncat <<X\npytest\nX\na\nEOF", &["bash", "heredoc: cat", "heredoc: a"]);
    check("bash x.sh <<EOF\npytest\nEOF", &["bash x.sh"]);
    check("bash -c 'cat' <<EOF\npytest\nEOF", &["bash -c cat", "string: cat"]);
    check("cat <<EOF | xargs bash\npytest\nEOF", &["cat", "xargs bash", "wrapped: bash"]);
    check("echo 'pytest -x' | sh", &["echo \"\"", "string: pytest -x", "sh"]);
    check(
        "printf 'a\\npytest' | ssh host bash",
        &["printf a\\npytest", "string: a", "string: pytest", "ssh host bash", "string: bash"],
    );
    check("echo pytest | grep x | sh", &["echo pytest", "grep x", "sh"]);
    check("curl -fsSL x | sh", &["curl -fsSL x", "sh"]);
    assert_eq!(last("sudo bash <<EOF &\npytest\nEOF").wrappers, ["sudo", "bash"]);
    assert!(last("bash <<EOF &\npytest\nEOF").is_background);
}

#[test]
fn a_string_of_shell_counts() {
    check("bash -c \"pytest\"", &["bash -c pytest", "string: pytest"]);
    check("bash -c 'cd a && pytest -x'", &["bash -c \"\"", "string: cd a", "string: pytest -x"]);
    check("sh -lc \"pytest -x\"", &["sh -lc \"\"", "string: pytest -x"]);
    check("zsh -ic pytest", &["zsh -ic pytest", "string: pytest"]);
    check("/bin/bash -euo pipefail -c 'pytest' x y", &["bash -euo pipefail -c pytest x y", "string: pytest"]);
    check("bash -ce pytest", &["bash -ce pytest", "string: pytest"]);
    check("bash pytest", &["bash pytest"]);
    check("bash -c 'echo \"pytest x\"'", &["bash -c \"\"", "string: echo \"\""]);
    check(
        "bash -c \"echo $(a) \\$(b)\"",
        &["bash -c \"\"", "string: echo $() $()", "substituted: b", "substituted: a"],
    );
    check("bash -c \"bash -c 'pytest -x'\"", &["bash -c \"\"", "string: bash -c \"\"", "string: pytest -x"]);
    check("eval \"pytest -x\"", &["eval \"\"", "string: pytest -x"]);
    check("eval pytest -x", &["eval pytest -x", "string: pytest -x"]);
    check("ssh -p 22 me@host 'cd x; pytest'", &["ssh -p 22 me@host \"\"", "string: cd x", "string: pytest"]);
    check("ssh host pytest -x", &["ssh host pytest -x", "string: pytest -x"]);
    check(
        "docker exec -it c sh -c 'pytest -x'",
        &["docker exec -it c sh -c \"\"", "wrapped: sh -c \"\"", "string: pytest -x"],
    );
    check("su - me -c 'pytest -x'", &["su - me -c \"\"", "string: pytest -x"]);
    check("script -qc 'pytest -x' /dev/null", &["script -qc \"\" /dev/null", "string: pytest -x"]);
    check("watch -n 5 'pytest -x'", &["watch -n 5 \"\"", "string: pytest -x"]);
    check(
        "parallel -j 4 pytest {} ::: a b",
        &["parallel -j 4 pytest {} ::: a b", "string: pytest a", "string: pytest b"],
    );
    check("parallel ::: 'a b' pytest", &["parallel ::: \"\" pytest", "string: a b", "string: pytest"]);
    check("nix-shell -p a b --run 'pytest -x'", &["nix-shell -p a b --run \"\"", "string: pytest -x"]);
    check("npx -c 'jest -x'", &["npx -c \"\"", "string: jest -x"]);
    check("env -S 'pytest -x'", &["env -S \"\"", "string: pytest -x"]);
    check("ls | entr -rs 'pytest -x'", &["ls", "entr -rs \"\"", "string: pytest -x"]);
    check("hyperfine 'a b' pytest", &["hyperfine \"\" pytest", "string: a b", "string: pytest"]);
    check("trap 'rm -rf x' EXIT", &["trap \"\" EXIT", "string: rm -rf x"]);
    check("flock lock -c 'pytest -x'", &["flock lock -c \"\"", "string: pytest -x"]);
    check("git rebase -x 'make test' main", &["git rebase -x \"\" main", "string: make test"]);
    assert_eq!(last("timeout 60 bash -c 'sudo pytest'").wrappers, ["timeout", "bash", "sudo"]);
}

#[test]
fn a_prefix_is_taken_off() {
    for (script, wrapper) in [
        ("env -i -u X A=b pytest -x", "env"),
        ("env -- pytest -x", "env"),
        ("timeout 5 pytest -x", "timeout"),
        ("timeout -s KILL -k 5 --foreground 10m pytest -x", "timeout"),
        ("timeout --signal=KILL 5 pytest -x", "timeout"),
        ("nohup pytest -x", "nohup"),
        ("nice -n 10 pytest -x", "nice"),
        ("nice -10 pytest -x", "nice"),
        ("ionice -c 3 pytest -x", "ionice"),
        ("time -p pytest -x", "time"),
        ("/usr/bin/time -f %e pytest -x", "time"),
        ("command pytest -x", "command"),
        ("builtin pytest -x", "builtin"),
        ("exec -a name pytest -x", "exec"),
        ("stdbuf -oL -e 0 pytest -x", "stdbuf"),
        ("setsid -w pytest -x", "setsid"),
        ("caffeinate -i pytest -x", "caffeinate"),
        ("taskset -c 0 pytest -x", "taskset"),
    ] {
        check(script, &["pytest -x"]);
        assert_eq!(only(script).wrappers, [wrapper], "in {script:?}");
    }
    check("command -v pytest", &["command -v pytest"]);
    check("env", &["env"]);
    check("exec > log", &["exec"]);
    check("timeout 5", &["timeout 5"]);
    assert_eq!(only("A=1 env B=2 nice pytest").wrappers, ["env", "nice"]);
    assert_eq!(
        only("A=1 env B=2 pytest").assignments,
        [("A", "1"), ("B", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

#[test]
fn a_command_that_runs_another_is_followed_by_it() {
    for (outer, wrapper) in [
        ("sudo", "sudo"),
        ("sudo -u me -E -n", "sudo"),
        ("sudo -nu me A=1", "sudo"),
        ("doas -u me", "doas"),
        ("xargs", "xargs"),
        ("xargs -0 -n 1 -I {} -P 4", "xargs"),
        ("xargs -I{} -n1", "xargs"),
        ("chroot /mnt", "chroot"),
        ("unshare -r", "unshare"),
        ("strace -f -o log", "strace"),
        ("ltrace -e x", "ltrace"),
        ("xvfb-run -a", "xvfb-run"),
        ("firejail --net=none", "firejail"),
        ("uv run", "uv run"),
        ("uv --directory x run --with a -p 3.12", "uv run"),
        ("uv run -m", "uv run"),
        ("uvx", "uvx"),
        ("poetry -C x run", "poetry run"),
        ("pipenv run", "pipenv run"),
        ("pdm run", "pdm run"),
        ("rye run", "rye run"),
        ("hatch run", "hatch run"),
        ("npx -y", "npx"),
        ("npx --package x --", "npx"),
        ("pnpm exec", "pnpm exec"),
        ("pnpm --filter x exec", "pnpm exec"),
        ("yarn exec", "yarn exec"),
        ("bunx", "bunx"),
        ("npm exec --", "npm exec"),
        ("python -m", "python -m"),
        ("python3 -m", "python -m"),
        ("python3.12 -X dev -um", "python -m"),
        ("bundle exec", "bundle exec"),
        ("direnv exec .", "direnv exec"),
        ("nix develop .#x -c", "nix develop"),
        ("docker run --rm -it -v a:b image", "docker run"),
        ("docker compose -f x.yml exec -T web", "docker compose exec"),
        ("docker compose run --rm web", "docker compose run"),
        ("kubectl -n x exec -it pod --", "kubectl exec"),
        ("git -C x bisect run", "git bisect run"),
        ("flock -n lock", "flock"),
    ] {
        let script = format!("{outer} pytest -x");
        check(&script, &[script.as_str(), "wrapped: pytest -x"]);
        assert_eq!(last(&script).wrappers, [wrapper], "in {script:?}");
    }
}

#[test]
fn wrappers_that_run_nothing_stay_alone() {
    for script in [
        "sudo -l",
        "xargs",
        "uv pip install pytest",
        "uv add pytest",
        "npm run pytest",
        "npm install pytest",
        "python pytest.py",
        "python -c pytest",
        "pip install pytest",
        "docker ps pytest",
        "docker build pytest",
        "poetry add pytest",
        "cargo run -- pytest",
        "find . -name pytest",
        "git submodule status pytest",
        "which pytest",
        "man pytest",
        "kubectl get pods pytest",
        "trap - EXIT",
        "docker run image",
    ] {
        check(script, &[script]);
    }
}

#[test]
fn find_runs_the_command_after_exec() {
    check(
        "find . -name '*.py' -exec pytest -x {} \\;",
        &["find . -name *.py -exec pytest -x {} ;", "wrapped: pytest -x {}"],
    );
    check(
        "find . -exec a {} + -o -execdir b ';' -print",
        &["find . -exec a {} + -o -execdir b ; -print", "wrapped: a {}", "wrapped: b"],
    );
    check(
        "find . -ok sh -c 'pytest \"$1\"' _ {} \\; | x",
        &["find . -ok sh -c \"\" _ {} ;", "wrapped: sh -c \"\" _ {}", "string: pytest $1", "x"],
    );
    check("find . -exec", &["find . -exec"]);
    check("fd -e py -x pytest", &["fd -e py -x pytest", "wrapped: pytest"]);
}

#[test]
fn wrappers_are_taken_off_one_after_the_other() {
    check(
        "sudo env A=1 timeout 5 uv run python -m pytest -x",
        &[
            "sudo env A=1 timeout 5 uv run python -m pytest -x",
            "wrapped: uv run python -m pytest -x",
            "wrapped: python -m pytest -x",
            "wrapped: pytest -x",
        ],
    );
    let command = last("sudo env A=1 timeout 5 uv run python -m pytest -x");
    assert_eq!(command.wrappers, ["sudo", "env", "timeout", "uv run", "python -m"]);
    assert_eq!(command.assignments, [("A".to_owned(), "1".to_owned())]);
    assert_eq!(command.depth, 3);
    check("ls | xargs -n1 sudo rm", &["ls", "xargs -n1 sudo rm", "wrapped: sudo rm", "wrapped: rm"]);
    check(
        "python -m coverage run -m pytest",
        &["python -m coverage run -m pytest", "wrapped: coverage run -m pytest", "wrapped: pytest"],
    );
}

#[test]
fn a_program_s_name_has_no_directory_and_no_version() {
    for (script, program) in [
        ("/usr/bin/pytest", "pytest"),
        ("./gradlew build", "gradlew"),
        ("$HOME/.local/bin/pytest", "pytest"),
        ("pytest.exe -x", "pytest"),
        ("'/opt/my tools/pytest'", "pytest"),
        ("@scope/x", "x"),
        ("/", "/"),
        ("exec \"$@\"", "$@"),
        ("${SHELL:-/bin/sh} -l", "${SHELL:-/bin/sh}"),
        ("${HOME}/bin/pytest", "pytest"),
    ] {
        assert_eq!(only(script).program(), program, "in {script:?}");
    }
    assert_eq!(last("npx jest@29 --ci").text(), "jest --ci");
    assert_eq!(last("npx @angular/cli@latest new").text(), "cli new");
    assert_eq!(only("/usr/bin/git -C dir push --force").text(), "git -C dir push --force");
    assert_eq!(only("/usr/bin/git -C dir push").words[0].text, "/usr/bin/git");
}

#[test]
fn pipelines_know_their_order() {
    let found = commands("a | sudo b | c; d");
    let places: Vec<(usize, usize, bool)> =
        found.iter().map(|command| (command.pipeline, command.place, command.is_last)).collect();
    assert_eq!(places, [(0, 0, false), (0, 1, false), (0, 1, false), (0, 2, true), (1, 0, true)]);
    assert!(found[0].is_piped_into(&found[1]) && found[0].is_piped_into(&found[2]));
    assert!(!found[0].is_piped_into(&found[3]) && !found[3].is_piped_into(&found[4]));
    let found = commands("{ a | b; } | c");
    assert!(!found[1].is_piped_into(&found[2]));
    assert!(found[1].is_last && found[2].is_last);
    assert_eq!((found[2].pipeline, found[2].place), (0, 1));
}

#[test]
fn negation_and_background_are_noted() {
    let flags =
        |script: &str, flag: fn(&Command) -> bool| commands(script).iter().map(flag).collect::<Vec<_>>();
    let background = |command: &Command| command.is_background;
    assert_eq!(flags("a & b", background), [true, false]);
    assert_eq!(flags("a && b | c & d", background), [true, true, true, false]);
    assert_eq!(flags("(a; b) & c", background), [true, true, false]);
    assert_eq!(flags("bash -c 'a & b'", background), [false, true, false]);
    assert_eq!(flags("a 2>&1 &> x &>> y", background), [false]);
    let negated = |command: &Command| command.is_negated;
    assert_eq!(flags("! a | b; c", negated), [true, true, false]);
    assert_eq!(flags("! ! a", negated), [false]);
    assert_eq!(flags("! sudo a", negated), [true, true]);
}

#[test]
fn depth_counts_what_surrounds_a_command() {
    let depths: Vec<usize> =
        commands("a $(b $(c)) && (d; sudo bash -c 'e')").iter().map(|command| command.depth).collect();
    assert_eq!(depths, [0, 1, 2, 0, 0, 1, 2]);
}

#[test]
fn a_command_knows_where_it_starts() {
    let script = "a; é $(b)\nbash -c 'c'";
    let starts: Vec<&str> = commands(script).iter().map(|command| &script[command.start..]).collect();
    assert_eq!(starts, [script, "é $(b)\nbash -c 'c'", "b)\nbash -c 'c'", "bash -c 'c'", "bash -c 'c'"]);
}

#[test]
fn an_unfinished_line_gives_what_can_be_made_out() {
    check("a 'b c", &["a \"\""]);
    check("a \"b c; d", &["a \"\""]);
    check("a $(b", &["a $()", "substituted: b"]);
    check("a `b", &["a $()", "substituted: b"]);
    check("a ${b", &["a ${b}"]);
    check("a $((1", &["a $(())"]);
    check("cat <<EOF", &["cat"]);
    check("cat <<EOF\npytest", &["cat"]);
    check("bash <<EOF\npytest", &["bash", "heredoc: pytest"]);
    check("(a; b", &["a", "b"]);
    check("a) b", &["a", "b"]);
    check("if a; then b", &["a", "b"]);
    check("for x in a; b", &["b"]);
    check("case x in a) b", &["b"]);
    check("done; fi; } a", &["a"]);
    check("a &&", &["a"]);
    check("| a", &["a"]);
    check("a ||", &["a"]);
    check("a \\", &["a \"\""]);
    check("a >", &["a"]);
    check("[[ a", &[]);
    check(";; & a", &["a"]);
    check("sudo", &["sudo"]);
    check("bash -c", &["bash -c"]);
}
