//! Commands that run other commands, beyond the usual ones.

use shell::commands;

use crate::{check, last};

/// Checks that a script runs `rm -rf /`, with this wrapper around it.
#[track_caller]
fn check_rm(script: &str, wrapper: &str) {
    let is_rm = |command: &&shell::Command| command.text() == "rm -rf /";
    let found = commands(script);
    let Some(command) = found.iter().find(is_rm) else {
        panic!("no rm in {script:?}: {:?}", found.iter().map(shell::Command::text).collect::<Vec<_>>())
    };
    assert!(command.wrappers.contains(&wrapper), "in {script:?}: {:?}", command.wrappers);
}

#[test]
fn item_15_wrappers_of_all_kinds_are_known() {
    for (script, wrapper) in [
        ("busybox rm -rf /", "busybox"),
        ("busybox sh -c 'rm -rf /'", "sh"),
        ("toybox rm -rf /", "toybox"),
        ("env - rm -rf /", "env"),
        ("env - A=1 rm -rf /", "env"),
        ("pkexec rm -rf /", "pkexec"),
        ("pkexec --user root rm -rf /", "pkexec"),
        ("run0 rm -rf /", "run0"),
        ("run0 -u root --chdir=/ rm -rf /", "run0"),
        ("fakeroot rm -rf /", "fakeroot"),
        ("fakeroot -- rm -rf /", "fakeroot"),
        ("prlimit --nproc=9 rm -rf /", "prlimit"),
        ("gosu postgres rm -rf /", "gosu"),
        ("su-exec root:root rm -rf /", "su-exec"),
        ("setpriv --reuid 0 --clear-groups rm -rf /", "setpriv"),
        ("capsh --drop=all -- -c 'rm -rf /'", "capsh"),
        ("runuser -l postgres -c 'rm -rf /'", "runuser"),
        ("runuser -u postgres -- rm -rf /", "runuser"),
        ("tmux new-session -d 'rm -rf /'", "tmux new-session"),
        ("tmux -L x new -d -s name rm -rf /", "tmux new"),
        ("tmux new-window -n w 'rm -rf /'", "tmux new-window"),
        ("tmux send-keys -t 0 'rm -rf /' Enter", "tmux send-keys"),
        ("tmux send -t 0 rm Space -rf Space / C-m", "tmux send"),
        ("tmux new -d \\; send-keys 'rm -rf /' C-m", "tmux send-keys"),
        ("screen -dm rm -rf /", "screen"),
        ("screen -dmS name bash -c 'rm -rf /'", "screen"),
        ("screen -S x -p 0 -X stuff 'rm -rf /\\n'", "screen"),
        ("echo 'rm -rf /' | at now", "at"),
        ("echo 'rm -rf /' | sudo batch", "batch"),
        ("at now + 1 minute <<E\nrm -rf /\nE\n", "at"),
        ("parallel rm -rf ::: /", "parallel"),
        ("parallel -j2 rm -rf {} ::: a /", "parallel"),
        ("sem -j 4 rm -rf /", "sem"),
        ("echo / | xargs rm -rf", "xargs"),
        ("echo / | xargs -I{} rm -rf {}", "xargs"),
        ("echo / | xargs -I % sh -c 'rm -rf %'", "xargs"),
        ("printf 'a\\n/\\n' | xargs -I{} sudo rm -rf {}", "xargs"),
        ("xargs rm -rf <<< /", "xargs"),
        ("cmd /c rm -rf /", "cmd"),
        ("cmd.exe /s /c 'rm -rf /'", "cmd"),
        ("pwsh -c 'rm -rf /'", "pwsh"),
        ("pwsh -NoProfile -Command rm -rf /", "pwsh"),
        ("powershell.exe -ExecutionPolicy Bypass -command \"rm -rf /\"", "powershell"),
        ("powershell 'rm -rf /'", "powershell"),
        ("git -c alias.x='!rm -rf /' x", "git -c"),
        ("git filter-branch --tree-filter 'rm -rf /' HEAD", "git filter-branch"),
        ("nix-shell -p x --run 'rm -rf /'", "nix-shell"),
        ("direnv exec . rm -rf /", "direnv exec"),
        ("op run --env-file=x -- rm -rf /", "op run"),
        ("doppler run -- rm -rf /", "doppler run"),
        ("doppler run --command 'rm -rf /'", "doppler run"),
        ("dotenv -- rm -rf /", "dotenv"),
        ("dotenv -e .env -- rm -rf /", "dotenv"),
        ("aws-vault exec prod -- rm -rf /", "aws-vault exec"),
        ("aws-vault exec prod rm -rf /", "aws-vault exec"),
        ("mise exec node@20 -- rm -rf /", "mise exec"),
        ("poetry run rm -rf /", "poetry run"),
        ("kubectl -n x exec pod -- rm -rf /", "kubectl exec"),
        ("kubectl run x --image y -- rm -rf /", "kubectl run"),
        ("docker container exec -it c rm -rf /", "docker container exec"),
        ("ip netns exec x rm -rf /", "ip netns exec"),
        ("lxc exec c -- rm -rf /", "lxc exec"),
        ("vagrant ssh -c 'rm -rf /'", "vagrant ssh"),
        ("sshpass -p x ssh host rm -rf /", "sshpass"),
        ("ansible all -m shell -a 'rm -rf /'", "ansible"),
        ("gdb --args rm -rf /", "gdb"),
        ("cross-env A=1 rm -rf /", "cross-env"),
        ("concurrently -n a,b 'ls -l' 'rm -rf /'", "concurrently"),
        ("chamber exec x -- rm -rf /", "chamber exec"),
        ("sg wheel -c 'rm -rf /'", "sg"),
        ("wsl -d x -e rm -rf /", "wsl"),
        ("wsl rm -rf /", "wsl"),
        ("systemd-inhibit --what=idle rm -rf /", "systemd-inhibit"),
        ("$SUDO rm -rf /", "sudo"),
        ("${SUDO} nice rm -rf /", "nice"),
    ] {
        check_rm(script, wrapper);
    }
    check(
        "git --config-env a.b=C rebase -x 'a b' m",
        &["git --config-env a.b=C rebase -x \"\" m", "string: a b"],
    );
    check(
        "git -c alias.x='reset --hard' x HEAD",
        &["git -c alias.x=\"\" x HEAD", "string: git reset --hard HEAD"],
    );
    check("ls | xargs rm -rf", &["ls", "xargs rm -rf", "wrapped: rm -rf"]);
    check("echo a 'b c' | xargs rm", &["echo a \"\"", "xargs rm", "wrapped: rm a b c"]);
    assert_eq!(last("echo a | xargs rm").words.len(), 2);
}

/// The table is a text: what separates its parts may be in a name as well.
#[test]
fn a_name_with_what_separates_the_table_is_no_wrapper() {
    for name in ["sudo:", "'git bisect'", "'git bisect run'", "'sudo: values'", "'docker compose'", "git:"] {
        assert_eq!(commands(&format!("{name} run x y")).len(), 1, "{name}");
    }
}

#[test]
fn wrappers_that_are_only_asked_run_nothing() {
    for script in [
        "at -l",
        "tmux ls",
        "tmux attach -t rm",
        "screen -ls",
        "screen -r rm",
        "busybox --list",
        "prlimit --pid 3 --nproc=9",
        "pwsh -File rm.ps1",
        "pwsh rm.ps1",
        "powershell -EncodedCommand cgBtAA",
        "cmd",
        "git -c user.name=x status",
        "git -c alias.x=!rm status",
        "git config alias.x !rm",
        "dotenv list",
        "kubectl exec pod",
        "op item get rm",
        "nodemon rm.js",
        "$SUDO",
    ] {
        check(script, &[script]);
    }
}

#[test]
fn commands_of_windows_are_found_in_whatever_letters_and_blocks_they_stand() {
    let found = |line: &str, expected: &str| {
        let texts: Vec<String> = commands(line).iter().map(shell::Command::text).collect();
        assert!(
            texts.iter().any(|text| text.split_whitespace().eq(expected.split_whitespace())),
            "in {line:?}: {texts:?}"
        );
    };
    found("CMD.EXE /C RD /S /Q C:\\Users\\bob", "rd /s /q C:\\Users\\bob");
    found("start /b cmd /c rd /s /q build", "rd /s /q build");
    found("winrs -r:web1 \"rd /s /q C:\\x\"", "rd /s /q C:\\x");
    found("forfiles /p D:\\b /c \"cmd /c del @path\"", "del D:\\b");
    found("remove-item x -rec -fo", "Remove-Item x -Recurse -Force");
    found("Start-Job { ri D:\\x -Recurse }", "Remove-Item D:\\x -Recurse");
    found("gci ~ | ForEach-Object { ri $_ -r }; Get-ChildItem ~ | % { ri $_ -r }", "Remove-Item $_ -Recurse");
    found("[IO.Directory]::Delete('/srv/x', $true)", "Remove-Item -Recurse -Force /srv/x $true");
    found("cd /a; (cd /; ls); rm x", "rm x");
}
