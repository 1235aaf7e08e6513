//! Code of other languages in a line of shell.

use shell::{Origin, commands};

use crate::check;

/// Checks what the code in a script runs.
#[track_caller]
fn check_code(script: &str, expected: &[&str]) {
    let found = commands(script);
    let texts = found.iter().filter(|command| command.origin == Origin::Code).map(shell::Command::text);
    assert_eq!(texts.collect::<Vec<_>>(), expected, "in {script:?}");
}

#[test]
fn item_24_shell_in_code_is_found() {
    for script in [
        "python3 -c 'import os; os.system(\"rm -rf /\")'",
        "python -c \"import os; os.system('rm -rf /')\"",
        "python3 -c '__import__(\"os\").system(\"rm -rf /\")'",
        "sudo python3.12 -uc 'from os import system\nsystem(\"rm -rf /\")'",
        "python3 -c 'import subprocess as s; s.check_call([\"rm\", \"-rf\", \"/\"])'",
        "python3 -c 'import subprocess; subprocess.run([\"rm\",\"-rf\",\"/\"], check=True)'",
        "python3 -c 'import subprocess; subprocess.run(\"rm -rf /\", shell=True)'",
        "python3 -c 'import subprocess; subprocess.run(\"rm -rf /\".split())'",
        "python3 -c 'import subprocess, shlex; subprocess.Popen(shlex.split(\"rm -rf /\"))'",
        "python3 -c 'from subprocess import run; run((\"rm\", \"-rf\", \"/\"))'",
        "python3 -c 'import os; os.execvp(\"rm\", [\"rm\", \"-rf\", \"/\"])'",
        "python3 -c 'import os; os.popen(r\"\"\"rm -rf /\"\"\").read()'",
        "python3 - <<E\nimport os\nos.system('rm -rf /')\nE\n",
        "python3 <<'E'\nimport os\nos.system('rm -rf /')\nE\n",
        "python3 <<< 'import os; os.system(\"rm -rf /\")'",
        "echo 'import os; os.system(\"rm -rf /\")' | python3",
        "cat <<E | python3 -\nimport shutil; shutil.rmtree('/')\nE\n",
        "node -e 'require(\"child_process\").execSync(\"rm -rf /\")'",
        "node --eval='const {exec} = require(\"child_process\"); exec(\"rm -rf /\")'",
        "node -p 'require(\"child_process\").spawnSync(\"rm\", [\"-rf\", \"/\"], {stdio: \"inherit\"})'",
        "bun -e 'await Bun.$`rm -rf /`'",
        "deno eval 'new Deno.Command(\"rm\", {args: [\"-rf\", \"/\"]}).spawn()'",
        "perl -e 'system(\"rm -rf /\")'",
        "perl -e 'system \"rm\", \"-rf\", \"/\";'",
        "perl -MFile::Path=rmtree -we 'rmtree(\"/\")'",
        "perl -e '`rm -rf /`'",
        "perl -e 'qx{rm -rf /}'",
        "perl -ne 'exec qw(rm -rf /)'",
        "perl -E 'system(q(rm -rf /))'",
        "ruby -e 'system \"rm -rf /\"'",
        "ruby -e '`rm -rf /`'",
        "ruby -e '%x{rm -rf /}'",
        "ruby -e 'system(*%w[rm -rf /])'",
        "ruby -rfileutils -e 'FileUtils.rm_rf(\"/\")'",
        "ruby -e 'require \"fileutils\"; FileUtils.rm_rf %w(/)'",
        "php -r 'shell_exec(\"rm -rf /\");'",
        "php -r 'echo `rm -rf /`;'",
        "awk 'BEGIN { system(\"rm -rf /\") }'",
        "awk -F: -v x=1 '{ print $1 | \"rm -rf /\" }' file",
        "gawk 'BEGIN { \"rm -rf /\" | getline }'",
        "osascript -e 'do shell script \"rm -rf /\" with administrator privileges'",
        "lua -e 'os.execute(\"rm -rf /\")'",
        "lua -e 'os.execute \"rm -rf /\"'",
        "Rscript -e 'system2(\"rm\", c(\"-rf\", \"/\"))'",
        "bash -c \"python3 -c 'import os; os.system(\\\"rm -rf /\\\")'\"",
    ] {
        check_code(script, &["rm -rf /"]);
    }
    let found =
        commands("sudo python3 -c 'import os; os.system(\"sudo rm -rf /\")'").pop().unwrap_or_default();
    assert_eq!(found.wrappers, ["sudo", "python -c", "sudo"]);
    assert_eq!(commands("python3 - <<< 'os.system(\"a\")'").pop().unwrap_or_default().wrappers, ["python -"]);
}

#[test]
fn item_24_deletions_in_code_are_rm() {
    for (script, expected) in [
        ("python3 -c 'import shutil; shutil.rmtree(\"/etc\")'", "rm -rf /etc"),
        ("python3 -c 'import shutil; shutil.rmtree(\"/etc\", ignore_errors=True)'", "rm -rf /etc"),
        ("python3 -c 'import shutil, os; shutil.rmtree(os.path.expanduser(\"~\"))'", "rm -rf $HOME"),
        ("python3 -c 'import shutil; from pathlib import Path; shutil.rmtree(Path.home())'", "rm -rf $HOME"),
        ("python3 -c 'import shutil, os; shutil.rmtree(os.path.join(\"a\", \"b\"))'", "rm -rf a/b"),
        ("python3 -c 'import shutil,sys; shutil.rmtree(sys.argv[1])' x", "rm -rf $()"),
        ("python3 -c 'import shutil; shutil.rmtree(f\"{home}/x\")'", "rm -rf $()/x"),
        ("python3 -c 'import os; os.remove(\"/etc/passwd\")'", "rm /etc/passwd"),
        ("python3 -c 'import os; os.unlink(\"/etc/passwd\")'", "rm /etc/passwd"),
        ("python3 -c 'from pathlib import Path; Path(\"/etc/passwd\").unlink()'", "rm /etc/passwd"),
        ("python3 -c 'from pathlib import Path; Path(\"/etc\", \"x\").unlink(missing_ok=True)'", "rm /etc/x"),
        ("node -e 'fs.rmSync(\"/x\", {recursive: true, force: true})'", "rm -rf /x"),
        ("node -e 'require(\"fs\").rmSync(\"/x\", { recursive: true })'", "rm -rf /x"),
        ("node -e 'fs.rmSync(\"/x\")'", "rm /x"),
        ("node -e 'fs.rmSync(\"/x\", {recursive: false})'", "rm /x"),
        ("node -e 'fs.rmSync(dir, {recursive: true})'", "rm -rf $()"),
        ("node -e 'fs.rmSync(`${dir}/x`, {recursive: true})'", "rm -rf $()/x"),
        ("node -e 'require(\"fs\").promises.rm(\"/x\", {recursive: true})'", "rm -rf /x"),
        ("node -e 'fs.rmdirSync(\"/x\", {recursive: true})'", "rm -rf /x"),
        ("node -e 'fs.unlinkSync(\"/x\")'", "rm /x"),
        ("node -e 'require(\"rimraf\").sync(\"/x\")'", "rm -rf /x"),
        ("node -e 'rimraf(\"/x\")'", "rm -rf /x"),
        ("perl -e 'unlink \"x\"'", "rm x"),
        ("perl -e 'unlink $x'", "rm $()"),
        ("perl -MFile::Path -e 'File::Path::remove_tree(\"x\")'", "rm -rf x"),
        ("ruby -e 'File.delete(\"x\")'", "rm x"),
        ("ruby -e 'Dir.rmdir(\"x\")'", "rm x"),
        ("ruby -e 'FileUtils.rm_rf(\"#{x}/y\")'", "rm -rf $()/y"),
        ("php -r 'unlink(\"x\");'", "rm x"),
        ("Rscript -e 'unlink(\"x\", recursive=TRUE)'", "rm -rf x"),
        ("lua -e 'os.remove(\"x\")'", "rm x"),
    ] {
        check_code(script, &[expected]);
    }
    let is_dynamic = |script: &str| commands(script).pop().and_then(|mut command| command.words.pop());
    assert!(is_dynamic("python3 -c 'shutil.rmtree(x)'").is_some_and(|word| word.is_dynamic));
    assert!(is_dynamic("python3 -c 'shutil.rmtree(\"x\")'").is_some_and(|word| !word.is_dynamic));
}

#[test]
fn item_24_strings_that_are_not_run_are_text() {
    for script in [
        "python -c 'print(\"rm -rf /\")'",
        "python -c 'print(\"os.system(1)\", \"rm -rf /\")'",
        "python -c 'x = \"os.system(\\\"rm -rf /\\\")\"'",
        "python -c '# os.system(\"rm -rf /\")'",
        "python -c 'a = [\"rm\"]; a.remove(\"rm\"); print(a)'",
        "python -c 'import re; re.compile(\"rm\").run(\"rm -rf /\")'",
        "python -c 'def system(x): pass'",
        "python -c 'import os; os.system'",
        "python script.py 'os.system(\"rm -rf /\")'",
        "python -m json.tool 'os.system(\"rm -rf /\")'",
        "python script.py <<E\nos.system('rm -rf /')\nE\n",
        "node -e 'console.log(\"rm -rf /\", `execSync(\"rm\")`)'",
        "node -e '// execSync(\"rm -rf /\")\n/* execSync(\"rm -rf /\") */'",
        "node -e '/a/.exec(\"rm -rf /\")'",
        "node -e 'x = {exec: \"rm -rf /\"}'",
        "perl -ne 'print if /rm -rf/'",
        "perl -pe 's/a/b/' system",
        "perl -e 'print \"rm -rf /\\n\"'",
        "ruby -e 'puts \"system rm -rf /\"'",
        "php -r 'echo \"rm -rf /\";'",
        "awk '{ print \"rm -rf /\" }'",
        "awk '$1 == \"system\" || /rm/ { print $2 }' log",
        "awk -f prog.awk 'system(\"rm\")'",
        "osascript -e 'display dialog \"do shell script\"'",
        "lua -e 'print(\"rm -rf /\")'",
        "cat > x.py <<E\nos.system('rm -rf /')\nE\n",
        "git commit -m 'os.system(\"rm -rf /\")'",
        "echo 'os.system(\"rm -rf /\")' > notes.txt",
        "grep -rn 'shutil.rmtree(\"/\")' .",
    ] {
        let found = commands(script);
        assert!(
            !found.iter().any(|command| command.program() == "rm" || command.origin == Origin::Code),
            "in {script:?}: {found:?}"
        );
    }
    check("cat <<E > x.sh\nrm -rf /\nE\n", &["cat"]);
    check("echo 'rm -rf /' > notes.txt", &["echo \"\""]);
}
