//! What fires and what stays quiet; and that the index finds exactly what asking every lesson finds.

use hook::Platform;
use lessons::call::Call;
use lessons::index::{self, Fingerprint, Index};
use lessons::trigger::{Simple, Verdict};
use lessons::{Kind, Lesson, Trigger};
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::path::Path;

fn lesson(slug: &str, trigger: Trigger) -> Lesson {
    Lesson {
        slug: slug.to_owned(),
        summary: slug.to_owned(),
        kind: Kind::Guard,
        trigger,
        ..Lesson::default()
    }
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn command(pattern: &str) -> Trigger {
    Trigger { commands: words(&[pattern]), ..Trigger::default() }
}

/// Returns the lessons that apply to a call: those that the index finds, which must be all there are.
fn applying(lessons: &[Lesson], tool: &str, input: &str) -> Vec<String> {
    let (bytes, _) = index::build(lessons, Fingerprint(1));
    let index = Index::new(&bytes[..]).unwrap();
    let input = RawValue::from_string(input.to_owned()).unwrap();
    let call = Call::read(tool, Some(&input), Platform::ClaudeCode, Path::new("/p"))
        .at(Path::new("/p"), Some(Path::new("/home/dev")));
    let commands = shell::commands(call.command.as_deref().filter(|_| call.is_shell()).unwrap_or_default());
    let simples = Simple::all(&commands);
    let candidates = index.candidates(&call, &simples).unwrap();
    let applies = |number: u32| {
        let entry = index.entry(number).unwrap();
        matches!(entry.judge(&call, &simples), Verdict::Applies { .. }).then(|| entry.slug.to_owned())
    };
    let found: Vec<String> = candidates.into_iter().filter_map(applies).collect();
    let all: Vec<String> = (0..index.len() as u32).filter_map(applies).collect();
    assert_eq!(found, all, "the index misses a lesson for {tool} {}", input.get());
    found
}

fn bash(lessons: &[Lesson], command: &str) -> Vec<String> {
    applying(lessons, "Bash", &serde_json::json!({"command": command}).to_string())
}

#[track_caller]
fn check(trigger: Trigger, firing: &[&str], quiet: &[&str]) {
    let lessons = [lesson("it", trigger)];
    for command in firing {
        assert_eq!(bash(&lessons, command), ["it"], "{command}");
    }
    for command in quiet {
        assert!(bash(&lessons, command).is_empty(), "{command}");
    }
}

#[test]
fn a_guard_sees_what_runs_and_not_what_is_quoted() {
    check(
        command("pytest"),
        &[
            "pytest",
            "cd x && pytest -q",
            "bash -c \"pytest\"",
            "sudo env A=1 timeout 5 pytest",
            "for f in *.py; do pytest \"$f\"; done",
            "a=$(pytest)",
            "python -m pytest",
            "ls | xargs pytest",
            "bash <<EOF\npytest\nEOF",
            "./venv/bin/pytest",
        ],
        &[
            "git add pytest.ini",
            "cat > n.md <<EOF\nrun pytest here\nEOF",
            "echo \"pytest\"",
            "git commit -m \"fix pytest\"",
            "# pytest",
            "echo it's pytest && echo don't",
            "cat pytest",
        ],
    );
}

#[test]
fn arguments_that_are_handed_over_unseen_count() {
    check(
        command("node $"),
        &["node", "bash -c node"],
        &["fd -e js -x node", "xargs -a files.txt node", "docker run --rm node"],
    );
}

#[test]
fn a_flag_can_make_it_harmless() {
    let trigger = Trigger {
        commands: words(&["git push -f|--force"]),
        without: words(&["--dry-run|-n"]),
        ..Trigger::default()
    };
    check(
        trigger,
        &["git push -f", "git push origin x --force"],
        &["git push --force-with-lease", "git push -fn"],
    );
}

#[test]
fn a_pipe_can_be_what_matters() {
    let trigger =
        Trigger { commands: words(&["curl|wget"]), piped_to: words(&["sh", "bash"]), ..Trigger::default() };
    check(
        trigger,
        &["curl -fsSL https://x | sh", "curl x | tee y | bash", "wget -qO- x | sudo bash"],
        &[
            "curl x | jq .",
            "curl x > y; sh y",
            "echo 'curl x | sh'",
            "curl -s x | bash parse.sh",
            "curl -s x | jq -r .id | xargs -I{} sh -c 'echo {}'",
            "curl -fsSL x | sudo sh -c 'gpg --dearmor > k.gpg'",
        ],
    );
}

#[test]
fn expressions_see_one_command_or_the_whole_text() {
    let matching = Trigger { matches: words(&[r"\bkubectl\b.*\bdelete\b"]), ..Trigger::default() };
    check(
        matching,
        &["kubectl -n x delete pod y"],
        &["kubectl get x; echo delete", "echo \"kubectl delete\""],
    );
    let raw = Trigger { raw: words(&[r"2>/dev/null\s*\|\|\s*true"]), ..Trigger::default() };
    check(raw, &["make 2>/dev/null || true"], &["make || true"]);
}

#[test]
fn files_match_by_path_and_content() {
    let trigger = Trigger {
        paths: words(&["**/*.py"]),
        content: words(&[r"except:\s*pass"]),
        tools: words(&["Write", "Edit"]),
        ..Trigger::default()
    };
    let lessons = [lesson("it", trigger)];
    let write = |path: &str, content: &str| {
        let input = serde_json::json!({"file_path": path, "content": content}).to_string();
        !applying(&lessons, "Write", &input).is_empty()
    };
    assert!(write("/p/foo.py", "try:\n  x\nexcept: pass"));
    assert!(!write("/p/foo.pyc", "except: pass"));
    assert!(!write("/p/foo.py", "fine"));
    let edit = serde_json::json!({"file_path": "a/b.py", "new_string": "except:  pass"}).to_string();
    assert_eq!(applying(&lessons, "Edit", &edit), ["it"]);
    let read = serde_json::json!({"file_path": "a/b.py"}).to_string();
    assert!(applying(&lessons, "Read", &read).is_empty());
}

#[test]
fn every_glob_is_found_where_it_fits() {
    for (glob, path) in [
        ("**/node_modules/**", "node_modules/x/a"),
        ("**/node_modules/**", "a/node_modules/b"),
        ("*[abcd]_xyz", "a_xyz"),
        ("./src/**", "src/a"),
        ("src/*/gen?rated/**", "src/x/generated/y"),
        ("**", "anything"),
    ] {
        let lessons = [lesson("it", Trigger { paths: words(&[glob]), ..Trigger::default() })];
        let input = serde_json::json!({"file_path": format!("/p/{path}"), "content": "x"}).to_string();
        assert_eq!(applying(&lessons, "Write", &input), ["it"], "{glob} on {path}");
    }
}

#[test]
fn a_large_file_is_searched_where_it_matters() {
    let trigger = Trigger {
        tools: words(&["Write"]),
        content: words(&[r"(?i)except:\s*\n\s+PASS"]),
        ..Trigger::default()
    };
    let lessons = [lesson("it", trigger)];
    let filler = "x = compute(value)  # pass it on\n".repeat(20_000);
    let write = |content: String| {
        let input = serde_json::json!({"file_path": "/p/foo.py", "content": content}).to_string();
        !applying(&lessons, "Write", &input).is_empty()
    };
    assert!(write(format!("{filler}try:\n  y\nEXCEPT:\n  pass\n{filler}")));
    assert!(write(format!("except:\n  pass\n{filler}")));
    assert!(!write(filler.clone()));
    // What JSON escapes, and what it writes as a number, is found all the same, at any place.
    for expression in [r#"say\("hello"\)"#, r"\\begin\{doc", "caf\u{e9}s:", "----", "\tx/bin/y\n"] {
        let content =
            Trigger { tools: words(&["Write"]), content: words(&[expression]), ..Trigger::default() };
        let lessons = [lesson("it", content)];
        let text = ["say(\"hello\")", "\\begin{doc", "caf\u{e9}s:", "----", "\tx/bin/y\n"].concat();
        for padding in ["", "x", "xx", "\u{1}", "\n"] {
            let content = format!("{filler}{padding}{text}{filler}");
            let input = serde_json::json!({"file_path": "/p/foo.py", "content": content}).to_string();
            assert_eq!(applying(&lessons, "Write", &input), ["it"], "{expression} behind {padding:?}");
        }
    }
}

#[test]
fn any_tool_can_be_named() {
    let url = Trigger {
        tools: words(&["WebFetch"]),
        inputs: vec![("url".into(), "^http://".into())],
        ..Trigger::default()
    };
    let lessons = [
        lesson("url", url),
        lesson("grep", Trigger { tools: words(&["Grep"]), ..Trigger::default() }),
        lesson("agent", Trigger { tools: words(&["Agent"]), ..Trigger::default() }),
        lesson("plan", Trigger { tools: words(&["ExitPlanMode"]), ..Trigger::default() }),
        lesson("mcp", Trigger { tools: words(&["mcp__db__*"]), ..Trigger::default() }),
        lesson(
            "multi",
            Trigger { tools: words(&["MultiEdit"]), paths: words(&["*.sql"]), ..Trigger::default() },
        ),
    ];
    assert_eq!(applying(&lessons, "WebFetch", r#"{"url":"http://x"}"#), ["url"]);
    assert!(applying(&lessons, "WebFetch", r#"{"url":"https://x"}"#).is_empty());
    assert_eq!(applying(&lessons, "Grep", r#"{"pattern":"x"}"#), ["grep"]);
    assert_eq!(applying(&lessons, "Task", "{}"), ["agent"]);
    assert_eq!(applying(&lessons, "ExitPlanMode", "{}"), ["plan"]);
    assert_eq!(applying(&lessons, "mcp__db__query", r#"{"sql":"x"}"#), ["mcp"]);
    assert_eq!(applying(&lessons, "MultiEdit", r#"{"file_path":"a.sql","edits":[]}"#), ["multi"]);
}

#[test]
fn odd_commands_are_tolerated() {
    let lessons = [lesson("it", command("pytest"))];
    assert!(applying(&lessons, "Bash", r#"{"command":42}"#).is_empty());
    assert_eq!(applying(&lessons, "Bash", r#"{"command":["bash","-lc","pytest"]}"#), ["it"]);
}

#[test]
fn a_cut_index_is_refused_and_a_damaged_one_is_read_without_a_panic() {
    let lessons: Vec<Lesson> =
        (0..50).map(|number| lesson(&format!("l{number}"), command(&format!("tool{number}")))).collect();
    let (bytes, _) = index::build(&lessons, Fingerprint(7));
    for length in [0, 10, 63, 64, 100, bytes.len() - 1] {
        assert!(Index::new(&bytes[..length]).is_err(), "{length}");
    }
    let commands = shell::commands("tool7 x; tool8 y");
    let simples = Simple::all(&commands);
    let input = RawValue::from_string(r#"{"command":"tool7 x; tool8 y"}"#.to_owned()).unwrap();
    let call = Call::read("Bash", Some(&input), Platform::ClaudeCode, Path::new("/"));
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let Ok(index) = Index::new(&damaged[..]) else { continue };
        // Whatever is read, nothing panics and nothing is read out of bounds.
        for number in index.candidates(&call, &simples).unwrap_or_default() {
            let _ = index.entry(number).map(|entry| entry.judge(&call, &simples));
        }
    }
}

#[test]
fn items_15_23_and_24_what_the_parser_follows_is_judged() {
    check(
        fields("command: rm -r ... <root>"),
        &[
            "busybox rm -rf /",
            "env - rm -rf /",
            "echo / | xargs rm -rf",
            "parallel rm -rf ::: /",
            "D=/; rm -rf \"$D\"",
            "cmd=\"rm -rf /\"; eval \"$cmd\"",
            "X=rm; $X -rf /",
            "python3 -c 'import os; os.system(\"rm -rf /\")'",
            "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
        ],
        &["D=build; rm -rf \"$D\"", "python3 -c 'print(\"rm -rf /\")'"],
    );
    check(
        fields("command: fork-bomb"),
        &[":() { : | : & }; :", "ls; bomb() { bomb | bomb & }; bomb"],
        &["echo ':(){ :|:& };:'", "f() { g | h & }; f"],
    );
}

/// Reads a trigger from the fields of a lesson's file.
fn fields(text: &str) -> Trigger {
    lessons::format::parse("it", &format!("---\n{text}\n---\n")).unwrap().trigger
}

#[test]
fn item_1_a_value_decides_what_is_harmless() {
    check(
        fields("command: rails|rake db:drop\nwithout: RAILS_ENV=test|RAILS_ENV=development, --env=test"),
        &[
            "rails db:drop",
            "RAILS_ENV=production rails db:drop",
            "rails db:drop --env=production",
            "RAILS_ENV=test true; rake db:drop",
        ],
        &["RAILS_ENV=test rails db:drop", "rake db:drop RAILS_ENV=development", "rails db:drop --env test"],
    );
}

#[test]
fn item_2_global_options_are_no_flags_of_the_subcommand() {
    check(
        fields("command: git checkout|restore .\nwithout: -c, -C"),
        &["git -C dir checkout .", "git -c core.pager=cat restore .", "git checkout ."],
        &["git checkout -c x .", "git checkout x"],
    );
    check(
        fields("command: git commit $\nwithout: -m, -C, -F"),
        &["git -C dir commit", "git commit -a", "git -c a=b commit"],
        &["git commit -C HEAD", "git commit -m x", "git -C dir commit -am x"],
    );
}

#[test]
fn item_3_where_the_line_went_decides_what_a_star_is() {
    check(
        fields("command: rm -r ... <root>|<home>|<system>"),
        &[
            "cd / && rm -rf *",
            "cd ~ && rm -rf .",
            "cd /etc; rm -rf nginx",
            "cd && cd / && rm -rf *",
            "cd /usr && cd local && rm -rf ./*",
        ],
        &["cd build && rm -rf *", "(cd /; ls); rm -rf build", "cd /tmp && rm -rf *", "rm -rf *"],
    );
    check(
        fields("command: rm -r ... <here>"),
        &["rm -rf *", "make 2>&1; rm -rf *", "cd .. && rm -rf *", "(cd build); rm -rf .", "x & rm -rf ./*"],
        &["cd build && rm -rf *", "cd build; rm -rf .", "cd /tmp/x && rm -rf *", "rm -rf build"],
    );
}

#[test]
fn item_4_paths_are_normalised() {
    check(
        fields("command: rm -r|-R|--recursive ... <root>|<system>|<home>|<precious>"),
        &[
            "rm -rf /",
            "rm -rf //",
            "rm -rf /./",
            "rm -rf /tmp/../etc",
            "rm -rf /etc/*",
            "rm -rf /usr/local",
            "rm -rf /root",
            "rm -rf /home/dev",
            "rm -rf ~/.",
            "rm -rf ~/.ssh",
            "rm -rf \"$HOME\"",
            "rm -rf \"$HOME/\"*",
            "rm -rf build /",
            "sudo rm -rf \"/usr\"",
            "rm -rf -- /",
            "rm -rf ../../..",
        ],
        &[
            "rm -rf build",
            "rm -rf ./build/*",
            "rm -rf /tmp/x",
            "rm -rf '~'",
            "rm /",
            "rm -rf $X/y",
            "rm -rf /p/target",
            "rm -rf '$HOME'",
            "echo rm -rf /",
        ],
    );
}

#[test]
fn item_5_a_disk_is_what_the_command_writes_to() {
    check(
        fields("writes: <disk>"),
        &[
            "> /dev/sda",
            "{ echo; ls; } > /dev/sda",
            "cd /dev && echo x > sda",
            "echo \"x\" > /dev/sda",
            "cat < img > /dev/sda",
            "x 2>&1 >> /dev/nvme0n1",
            "sudo sh -c 'x > /dev/sdb1'",
            "x &> /dev/sda",
        ],
        &["echo x > /dev/null", "echo '> /dev/sda'", "x 2>&1", "x > y", "cat /dev/sda > img", "x < /dev/sda"],
    );
    check(
        fields("command: tee <disk>\ncommand: dd ... of=<disk>"),
        &["cat img | sudo tee /dev/sda", "dd if=img of=/dev/sda bs=4M"],
        &["dd if=/dev/sda of=img", "echo x | tee /dev/null"],
    );
    check(
        fields("command: echo|cat\nwrites: <system>|*.env|Makefile"),
        &["echo x > /etc/hosts", "cat a >> .env", "echo x > Makefile"],
        &["ls > .env", "echo .env", "echo x > ./y"],
    );
}

#[test]
fn item_14_statements_are_judged_one_by_one() {
    let drop = "sql: ^(DROP TABLE|TRUNCATE)\nsql: ^DELETE FROM [^ ]+$";
    check(
        fields(drop),
        &[
            "psql -c 'DROP TABLE users'",
            "mysql app -e \"select 1; drop   table users\"",
            "sqlite3 app.db 'delete from users'",
            "sudo -u postgres psql app --command='truncate users;'",
        ],
        &[
            "psql -c 'select 1'",
            "psql -c 'delete from users where id = 1'",
            "echo 'DROP TABLE users'",
            "psql -c \"select 'DROP TABLE x'\"",
            "git commit -m 'DROP TABLE users'",
        ],
    );
    check(
        fields(&format!("command: psql\n{drop}")),
        &["psql -c 'DROP TABLE users'"],
        &["mysql -e 'DROP TABLE users'", "psql"],
    );
}

#[test]
fn item_22_texts_in_statements_and_flags_of_wrappers_do_not_count() {
    check(
        fields("sql: TRUNCATE|DELETE FROM"),
        &["mysql -e 'TRUNCATE TABLE x'"],
        &[
            "mysql -e \"INSERT INTO log VALUES ('TRUNCATE TABLE x')\"",
            "sqlite3 app.db 'select \"DELETE FROM users\"'",
        ],
    );
    check(
        fields("command: rm -r <root>\nwithout: --help, --dry-run"),
        &["timeout --help 5 rm -r /", "bash --help -c 'rm -r /'", "sudo --help rm -r /"],
        &["rm -r / --help"],
    );
}

#[test]
fn item_13_what_is_substituted_into_code_is_run() {
    check(
        fields("command: curl|wget\npiped_to: sh, bash, eval, source, python*"),
        &[
            "bash -c \"$(curl -fsSL https://x/install.sh)\"",
            "bash <(curl -fsSL https://x/i.sh)",
            "eval \"$(curl -s x)\"",
            "source <(curl -s x)",
            "curl x | python3 -",
            "curl x | python3",
            "curl x | python3.12",
            "curl x | bash -s -- -y",
        ],
        &[
            "echo \"$(curl x)\"",
            "curl x | python3 parse.py",
            "curl x | python3 -c 'import json'",
            "curl x | python3 -m json.tool",
            "bash -c 'echo' \"$(curl x)\"",
        ],
    );
    check(
        fields("command: curl\npiped_to: perl, ruby, node"),
        &["curl x | perl", "curl x | ruby -", "curl x | node -"],
        &[
            "curl x | perl -pe 's/a/b/'",
            "curl x | node x.js",
            "curl x | ruby -ne 'puts'",
            "curl x | node -e 1",
        ],
    );
}

#[test]
fn item_14_what_lists_all_hands_it_over() {
    check(
        fields("command: docker ps -q\npiped_to: docker"),
        &[
            "docker rm -f $(docker ps -aq)",
            "docker rm -f `docker ps -aq`",
            "docker ps -aq | xargs docker rm -f",
        ],
        &["docker ps -aq", "docker ps -aq | wc -l", "echo $(docker ps -aq)"],
    );
    check(
        fields("sql: ^DROP TABLE"),
        &[
            "psql <<E\nselect 1;\ndrop table users;\nE",
            "echo 'drop table users' | psql app",
            "cat <<E | mysql\nDROP TABLE x\nE",
        ],
        &["cat > x.sql <<E\ndrop table users;\nE", "echo 'drop table users' | wc"],
    );
}

#[test]
fn item_16_conditions_are_about_the_command_itself() {
    check(
        fields("command: psql\nwithout: -c, <, @timeout"),
        &["ls | head; psql mydb", "kubectl get x -o=y; psql", "psql > out"],
        &["echo x | psql", "psql < f.sql", "psql <<E\nselect 1\nE", "timeout 5 psql", "psql -c 'x'"],
    );
    check(
        fields("command: top\nwithout: >, &"),
        &["top", "ls | wc; top", "ls & top"],
        &["top | head", "top > x", "top &"],
    );
}

#[test]
fn item_17_values_of_options_are_no_words() {
    check(
        fields("command: mysqladmin drop"),
        &["mysqladmin -u root drop app"],
        &["mysqladmin -u drop status"],
    );
    check(
        fields("command: aws s3 rm --recursive"),
        &["aws s3 --profile p rm s3://b --recursive", "aws --region x s3 rm --recursive s3://b"],
        &["aws s3 ls --profile rm --recursive"],
    );
    check(
        fields("command: gh repo edit --visibility=public\ncommand: gh api -X=DELETE|--method=DELETE"),
        &[
            "gh repo edit --visibility=public",
            "gh repo edit a/b --visibility public",
            "gh api -X DELETE repos/a/b",
            "gh api repos/a/b --method=DELETE",
        ],
        &["gh repo edit --visibility private", "gh api repos/a/b", "gh api -X GET repos/DELETE"],
    );
}

#[test]
fn at_least_one_item_of_with_must_hold() {
    check(
        fields("command: docker rm -f\nwith: @xargs, *$()*"),
        &[
            "docker ps -aq | xargs docker rm -f",
            "docker rm -f $(docker ps -aq)",
            "docker rm -f `docker ps -aq`",
        ],
        &["docker rm -f web"],
    );
    check(
        fields("command: git push\nwith: -f|--force\nwithout: --dry-run"),
        &["git push -f", "git push --force-with-lease --force origin main"],
        &["git push", "git push -f --dry-run"],
    );
}

#[test]
fn a_new_field_that_cannot_be_read_never_fits() {
    check(fields("command: rm <nowhere>"), &[], &["rm /", "rm x"]);
    check(fields("writes: <nowhere>"), &[], &["x > /", "x > y"]);
    check(fields("sql: ("), &[], &["psql -c 'x'"]);
    check(fields("command: rm\nwithout: <nowhere>"), &["rm /"], &[]);
    check(fields("command: rm\nwith: <nowhere>"), &[], &["rm /"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_index_finds_what_asking_every_lesson_finds(
        patterns in prop::collection::vec(
            (prop_oneof![
                "(git|npm|docker|make|rm)( (push|run|build|install))?( -[a-z])?",
                "[a-z]{2,6}\\*? [a-z]{2,5}\\|[a-z]{2,5}",
            ], prop_oneof![
                Just(None),
                "[a-z]{3,8}".prop_map(Some),
                "(push|install)[ ]\\+-[a-z]".prop_map(|text| Some(text.replace('+', "s*"))),
                "(foo|bar[a-z]{2})[0-9]\\+".prop_map(|text| Some(text.replace('+', ""))),
            ]), 1..40),
        command in "((git|npm|docker|make|rm|[a-z]{2,6})( (push|run|build|install|[a-z]{2,5}|-[a-z]{1,3})){0,4}( && |; | \\| )?){1,3}",
    ) {
        let lessons: Vec<Lesson> = patterns.iter().enumerate().map(|(number, (pattern, expression))| {
            let trigger = match expression {
                Some(expression) => Trigger { matches: vec![expression.clone()], ..Trigger::default() },
                None => command_trigger(pattern),
            };
            lesson(&format!("l{number}"), trigger)
        }).collect();
        bash(&lessons, &command);
    }
}

fn command_trigger(pattern: &str) -> Trigger {
    command(&pattern.replace('\\', ""))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_index_finds_what_classes_redirections_and_statements_fit(
        triggers in prop::collection::vec(prop_oneof![
            "(rm|cat|psql) (-r )?(\\.\\.\\. )?(<root>|<system>|<here>|<disk>|<home>\\|x|build)".prop_map(|it| format!("command: {it}")),
            "(<root>|<system>|<disk>|<outside>|log|\\*\\.txt|/etc/hosts\\|<home>)".prop_map(|it| format!("writes: {it}")),
            "(\\^DROP|TABLE [A-Z]+|DELETE FROM|X|\\^(SELECT|DROP TABLE)|A\\*)".prop_map(|it| format!("sql: {it}")),
            "(DROP|DELETE) [A-Z]".prop_map(|it| format!("command: psql|mysql\nsql: {it}")),
        ], 1..20),
        line in "((cd (/|build|~|\\.\\.) && )?(rm -r|cat|psql -c|mysql -e|echo) (/|\\*|\\.|~|build|/etc/nginx|/dev/sda|'drop table x'|'delete from y; select 1')( (>|>>|2>) (/dev/sda|log|a\\.txt|/etc/hosts|~|/srv/x|/dev/null))?(; | && | \\| )?){1,3}",
    ) {
        let lessons: Vec<Lesson> =
            triggers.iter().enumerate().map(|(number, it)| lesson(&format!("l{number}"), fields(it))).collect();
        bash(&lessons, &line);
    }
}

#[test]
fn a_call_that_the_client_runs_in_the_background_is_in_the_background() {
    let lessons = [lesson("it", Trigger { without: words(&["&"]), ..command("npm run dev") })];
    for (input, expected) in [
        (r#"{"command":"npm run dev"}"#, &["it"][..]),
        (r#"{"command":"npm run dev","run_in_background":false}"#, &["it"]),
        (r#"{"command":"npm run dev","run_in_background":true}"#, &[]),
        (r#"{"command":"cd web && npm run dev","run_in_background":true}"#, &[]),
        (r#"{"command":"npm run dev &"}"#, &[]),
    ] {
        assert_eq!(applying(&lessons, "Bash", input), expected, "{input}");
    }
}
