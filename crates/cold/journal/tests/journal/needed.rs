//! What later sessions need of earlier ones (`tests/data/journal/follow-up`) is neither noise nor replaced.

use crate::bench::Bench;
use crate::facts::sessions;
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct FollowUp {
    history: Vec<String>,
    needed: Vec<Needed>,
}

#[derive(Deserialize)]
struct Needed {
    session: String,
    all: Vec<String>,
}

#[test]
fn what_later_sessions_need_is_not_hidden() {
    let folders = sessions();
    let data = folders[0].parent().unwrap();
    let mut hidden = Vec::new();
    let (mut needed, mut files) = (0, 0);
    for file in fs::read_dir(data.join("follow-up")).unwrap() {
        let path = file.unwrap().path();
        let follow_up: FollowUp = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let mut bench = Bench::new();
        for session in &follow_up.history {
            let text = fs::read_to_string(data.join(session).join("session.jsonl")).unwrap();
            text.lines().for_each(|line| bench.line_of_hook(line));
        }
        files += 1;
        needed += follow_up.needed.len();
        let entries = bench.entries();
        for wanted in &follow_up.needed {
            let is_shown = entries
                .iter()
                .filter(|entry| entry.replaced_by.is_none() && !entry.is_noise)
                .flat_map(|entry| [vec![entry.title.clone()], entry.detail.facts.clone()].concat())
                .any(|line| {
                    wanted.all.iter().all(|phrase| line.to_lowercase().contains(&phrase.to_lowercase()))
                });
            if !is_shown {
                hidden.push(format!("{}: {} {:?}", path.display(), wanted.session, wanted.all));
            }
        }
    }
    assert!(files >= 20);
    assert!(hidden.is_empty(), "{} of {needed}: {hidden:#?}", hidden.len());
}
