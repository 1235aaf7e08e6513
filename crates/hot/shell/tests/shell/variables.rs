//! Variables that a line assigns and uses.

use shell::commands;

use crate::check;

/// Checks the words of the commands that a script runs, those of `rm` only.
#[track_caller]
fn check_rm(script: &str, expected: &[&str]) {
    let found = commands(script);
    let texts = found.iter().filter(|command| command.program() == "rm").map(shell::Command::text);
    assert_eq!(texts.collect::<Vec<_>>(), expected, "in {script:?}");
}

#[test]
fn item_23_a_literal_value_is_followed() {
    check_rm("D=/; rm -rf \"$D\"", &["rm -rf /"]);
    check_rm("D=/; rm -rf ${D}", &["rm -rf /"]);
    check_rm("D='/etc'\nrm -rf \"$D/x\" ${D}.bak", &["rm -rf /etc/x /etc.bak"]);
    check_rm("X=rm; $X -rf /", &["rm -rf /"]);
    check_rm("X='rm -rf'; $X /", &["rm -rf /"]);
    check_rm("X=' rm  -rf / '; sudo $X", &["rm -rf /"]);
    check_rm("cmd=\"rm -rf /\"; eval \"$cmd\"", &["rm -rf /"]);
    check_rm("cmd=\"rm -rf /\"; bash -c \"$cmd\"", &["rm -rf /"]);
    check_rm("cmd=\"rm -rf /\"; echo \"$cmd\" | sh", &["rm -rf /"]);
    check_rm("A=/ B=$A; rm $B", &["rm /"]);
    check_rm("A=/; B=\"${A}etc\"; rm \"$B\"", &["rm /etc"]);
    check_rm("export D=/; rm $D", &["rm /"]);
    check_rm("f() { local D=/; rm $D; }; f", &["rm /"]);
    check_rm("declare -r D=/; rm $D", &["rm /"]);
    check_rm("readonly D=/; rm $D", &["rm /"]);
    check_rm("D=/; D+=etc; rm $D", &["rm /etc"]);
    check_rm("D=/; rm ${D:-x} ${D:?unset} ${D-x} ${D:=x} ${D:+y} ${D%/}a", &["rm / / / / y a"]);
    check_rm("D=; rm ${D:-x} \"${D:+y}\" \"$D\"", &["rm x \"\" \"\""]);
    check_rm("D=/a/; rm ${D%/} ${D%%/} ${D#/} ${D%/*}", &["rm /a /a a/ ${D%/*}"]);
    check_rm("SUDO=; $SUDO rm -rf /", &["rm -rf /"]);
    check_rm("SUDO=sudo; $SUDO rm -rf /", &["rm -rf /"]);
    check_rm("if x; then D=/; fi; rm -rf \"$D\"", &["rm -rf /"]);
    check_rm("D=/; D=/tmp/x; rm -rf \"$D\"", &["rm -rf /tmp/x"]);
    check_rm("D=/; (rm $D); x=$(rm $D) y=`rm $D`", &["rm /", "rm /", "rm /"]);
    check_rm("D=/; cat <<E | bash\nrm -rf $D\nE\nD=x", &["rm -rf /"]);
    check_rm("D=/; bash <<E\nrm -rf \"$D\"\nE\n", &["rm -rf /"]);
    check_rm("D=$HOME; rm -rf \"$D\" \"${D}/x\"", &["rm -rf $HOME $HOME/x"]);
    check_rm("a=(rm -rf '/ x'); \"${a[@]}\"", &["rm -rf \"\""]);
    check_rm("a=(/ /etc); rm -rf ${a[@]} \"${a[*]}\" $a", &["rm -rf / /etc / /etc /"]);
    check_rm("cd=/; cd $cd && rm -rf *", &["rm -rf *"]);
    assert_eq!(commands("D=/; cd $D && rm -rf *").pop().unwrap_or_default().folder.as_deref(), Some("/"));
    let word = commands("D=/; rm \"$D\"").pop().unwrap_or_default().words.pop().unwrap_or_default();
    assert!(word.is_quoted && !word.is_dynamic);
}

#[test]
fn item_23_a_loop_gives_a_command_per_value() {
    check_rm("for d in / /etc; do rm -rf \"$d\"; done", &["rm -rf /", "rm -rf /etc"]);
    check_rm("for d in a b\ndo\n  [ -d \"$d\" ] && sudo rm \"$d/x\"\ndone", &["rm a/x", "rm b/x"]);
    check_rm("D='/ /etc'; for d in $D; do rm -rf $d; done", &["rm -rf /", "rm -rf /etc"]);
    check_rm("for d in / /etc; do T=$d/x; rm -rf $T; done", &["rm -rf //x", "rm -rf /etc/x"]);
    check_rm("for d in \"$X\" /; do rm -rf $d; done", &["rm -rf $d", "rm -rf /"]);
    check_rm("for d in a b; do x $(rm $d); done", &["rm a", "rm b"]);
    check_rm("for d in a b; do if y; then rm $d; fi; done; rm $d", &["rm a", "rm b", "rm b"]);
    check_rm("for h in a b; do bash -c \"rm $h\"; done", &["rm a", "rm b"]);
    check_rm("for h in a b; do ssh $h <<E\nrm x\nE\ndone; rm y", &["rm x", "rm y"]);
    check_rm("for d in a b; do rm c; done", &["rm c"]);
    check_rm("for a in 1 2; do for b in x y; do rm $b; done; done", &["rm x", "rm y"]);
    check("for u in a b; do curl $u | sh; done", &["curl a", "curl b", "sh", "sh"]);
    let piped = commands("for u in a b; do curl $u | sh; done");
    assert!(piped[0].is_piped_into(&piped[2]) && piped[1].is_piped_into(&piped[3]));
    let many: String = (0..40).map(|at| format!(" {at}")).collect();
    assert_eq!(commands(&format!("for d in{many}; do rm $d; done")).len(), 16);
}

#[test]
fn item_23_nothing_is_made_up() {
    check_rm("D=$(mktemp -d); rm -rf \"$D\"", &["rm -rf $D"]);
    check_rm("D=/; D=$(mktemp -d); rm -rf \"$D\"", &["rm -rf $D"]);
    check_rm("D=/; D=`mktemp -d`; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; D=$X; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; D+=$X; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; read D; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; read -r D < x; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; unset D; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; printf -v D %s x; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/ cmd; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/ rm -rf $D", &["rm -rf $D"]);
    check_rm("D=a; D=/ rm -rf $D", &["rm -rf a"]);
    check_rm("(D=/); rm -rf $D", &["rm -rf $D"]);
    check_rm("x=$(D=/); rm -rf $D", &["rm -rf $D"]);
    check_rm("x=`D=/`; rm -rf $D", &["rm -rf $D"]);
    check_rm("bash -c 'D=/'; rm -rf $D", &["rm -rf $D"]);
    check_rm("D=/; bash -c 'rm -rf $D'", &["rm -rf $D"]);
    check_rm("export D=/; bash -c 'rm -rf $D'", &["rm -rf /"]);
    check_rm("D=/; export D; bash -c 'rm -rf $D'", &["rm -rf /"]);
    check_rm("export D=/; ssh host 'rm -rf $D'", &["rm -rf $D"]);
    check_rm("D=/ bash -c 'rm -rf $D'", &["rm -rf /"]);
    check_rm("D=/; eval 'rm -rf $D'", &["rm -rf /"]);
    check_rm("eval D=/; rm -rf $D", &["rm -rf /"]);
    check_rm("D=/; rm -rf '$D' \\$D", &["rm -rf $D $D"]);
    check_rm("D=/; bash <<'E'\nrm -rf $D\nE\n", &["rm -rf $D"]);
    check_rm("for d; do rm $d; done", &["rm $d"]);
    check_rm("for d in \"$@\"; do rm $d; done", &["rm $d"]);
    check_rm("a=(/ $x); rm \"${a[@]}\"", &["rm ${a[@]}"]);
    check_rm("a=(/); a[1]=x; rm \"${a[@]}\"", &["rm ${a[@]}"]);
    check_rm("D=/; rm ${#D} ${!D} ${D/a/b} ${D:0:1}", &["rm ${#D} ${!D} ${D/a/b} ${D:0:1}"]);
    check_rm("rm -rf $D; D=/", &["rm -rf $D"]);
    check_rm("M='rm -rf /'; git commit -m \"$M\"; echo \"$M\" > notes.txt", &[]);
}

#[test]
fn item_13_a_variable_passes_a_substitution_on() {
    for script in [
        "S=$(curl x); bash -c \"$S\"",
        "S=\"$(curl x)\"; eval \"$S\"",
        "S=`curl x`\neval $S",
        "S=$(curl x); bash <<< \"$S\"",
    ] {
        let found = commands(script);
        let curl = found.iter().find(|command| command.program() == "curl");
        assert!(curl.is_some_and(|curl| curl.feeds.is_some()), "in {script:?}: {found:?}");
    }
    let found = commands("S=$(curl x); S=y; eval \"$S\"");
    assert_eq!(found[0].feeds, None);
}
