//! What git and the programs of forges say about how they ended.

use shell::Command;

/// Returns whether `git` or a forge's program did what it was asked to, where it says so.
pub fn repository_says(command: &Command, printed: &str) -> Option<bool> {
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let has = |marks: &[&str]| printed.lines().any(|line| marks.iter().any(|mark| line.contains(mark)));
    let begins = |marks: &[&str]| {
        printed.lines().any(|line| marks.iter().any(|mark| line.trim_start().starts_with(mark)))
    };
    if command.program() != "git" {
        let is_refused =
            begins(&["X ", "GraphQL:", "HTTP 4", "failed to ", "error", "! Pull request", "gh: "])
                || has(&["already exists", "failed:", " failed to "]);
        let is_done = begins(&["https://", "✓ ", "! Merged pull request", "Merging pull request"]);
        return if is_refused { Some(false) } else { is_done.then_some(true) };
    }
    let (verb, _) = git_verb(&words)?;
    let is_refused = begins(&["fatal: ", "error: "]);
    if is_refused && (verb != "commit" || !printed.lines().any(is_commit)) {
        return Some(false);
    }
    match verb {
        "commit" => {
            let is_refused = begins(&[
                "nothing to commit",
                "no changes added to commit",
                "Aborting commit",
                "- hook id: ",
            ]) || has(&[
                "nothing to commit",
                "nothing added to commit",
                "hook exited with",
                "hook failed",
                "script failed (code",
            ]);
            let is_done = printed.lines().any(is_commit) || begins(&["create mode 100", "delete mode 100"]);
            if is_done { Some(true) } else { is_refused.then_some(false) }
        }
        "push" => {
            let is_refused =
                has(&["[rejected]", "[remote rejected]", "Permission denied", "Could not read from remote"]);
            let is_ref = |line: &str| {
                line.contains(" -> ")
                    && (line.contains("..") || line.contains("[new ") || line.contains("[deleted]"))
            };
            let is_done = printed.lines().any(is_ref) || has(&["Everything up-to-date", "set up to track"]);
            if is_refused { Some(false) } else { is_done.then_some(true) }
        }
        "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "am" => {
            let is_done = begins(&[
                "Fast-forward",
                "Merge made by",
                "Already up to date",
                "Successfully rebased",
                "Current branch ",
            ]) || verb != "pull" && printed.lines().any(is_commit);
            if has(&["CONFLICT (", "Automatic merge failed"]) { Some(false) } else { is_done.then_some(true) }
        }
        _ => None,
    }
}

/// Returns the verb of a `git` command, and what follows it.
pub fn git_verb<'w>(words: &'w [&'w str]) -> Option<(&'w str, &'w [&'w str])> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match *word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => at += 2,
            word if word.starts_with('-') => at += 1,
            _ => return Some((word, &words[at + 1..])),
        }
    }
    None
}

/// Returns whether a line is what git prints of a commit: `[main 1a2b3c4] Check expiry`.
fn is_commit(line: &str) -> bool {
    let head = line.trim().strip_prefix('[').and_then(|line| line.split_once("] "));
    head.and_then(|(head, _)| head.split_whitespace().last()).is_some_and(is_hash)
}

fn is_hash(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_says_how_it_ended() {
        for (line, printed, expected) in [
            ("git push", "   77ab310..91d00ce  main -> main", Some(true)),
            (
                "git push",
                " ! [rejected]  main -> main (fetch first)\nerror: failed to push some refs",
                Some(false),
            ),
            ("git -C api commit -m x", "[main 1a2b3c4] x", Some(true)),
            ("git commit -m x", "[INFO] lint\n[main 1a2b3c4] x\n 1 file changed", Some(true)),
            ("git commit -m x", "nothing to commit, working tree clean", Some(false)),
            ("git pull", "CONFLICT (content): Merge conflict in a.rs", Some(false)),
            ("git merge x", "Fast-forward", Some(true)),
            ("git log", "4be19a2 Explain BUILD FAILED", None),
            ("gh pr create", "https://example.org/pull/3", Some(true)),
        ] {
            assert_eq!(repository_says(&shell::commands(line)[0], printed), expected, "{line}: {printed}");
        }
    }
}
