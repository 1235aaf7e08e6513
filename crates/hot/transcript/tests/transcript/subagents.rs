//! Finding the transcripts of subagents.

use std::fs;
use std::path::Path;

use transcript::subagent::{self, Meta};

use crate::sample;

const ID: &str = "ab683a49f51cae704";

/// Lays out a session with one subagent as the client does.
fn session_with_a_subagent(project: &Path) -> std::path::PathBuf {
    let session = project.join("fc0f9dd4-710d-401f-912b-4707a24e96a6.jsonl");
    fs::copy(sample("tools_subagent_hookctx.jsonl"), &session).unwrap();
    let folder = subagent::folder(&session);
    fs::create_dir_all(&folder).unwrap();
    fs::copy(sample("tools_subagent_hookctx.subagent.jsonl"), folder.join(format!("agent-{ID}.jsonl")))
        .unwrap();
    fs::copy(sample(&format!("agent-{ID}.meta.json")), folder.join(format!("agent-{ID}.meta.json"))).unwrap();
    session
}

#[test]
fn a_subagent_is_found_with_its_meta() {
    let project = tempfile::tempdir().unwrap();
    let session = session_with_a_subagent(project.path());
    let [found] = subagent::of_session(&session).unwrap().try_into().unwrap();
    assert_eq!(found.id, ID);
    assert_eq!(Some(&found.transcript), subagent::transcript_path(&session, ID).as_ref());
    assert_eq!(
        found.meta,
        Meta {
            agent_type: Some("general-purpose".to_owned()),
            description: Some("sub task".to_owned()),
            tool_use_id: Some("toolu_mock_083db93dd01c47f7".to_owned()),
            spawn_depth: Some(1),
        }
    );
}

#[test]
fn a_subagent_without_readable_meta_is_still_found() {
    let project = tempfile::tempdir().unwrap();
    let session = session_with_a_subagent(project.path());
    fs::write(subagent::folder(&session).join(format!("agent-{ID}.meta.json")), "{").unwrap();
    fs::write(subagent::folder(&session).join("agent-b.jsonl"), "").unwrap();
    fs::write(subagent::folder(&session).join("notes.jsonl"), "").unwrap();
    let found = subagent::of_session(&session).unwrap();
    assert_eq!(found.iter().map(|subagent| subagent.id.as_str()).collect::<Vec<_>>(), [ID, "b"]);
    assert!(found.iter().all(|subagent| subagent.meta == Meta::default()));
}

#[test]
fn a_session_without_subagents_has_none() {
    let project = tempfile::tempdir().unwrap();
    assert_eq!(subagent::of_session(&project.path().join("s.jsonl")).unwrap(), []);
}

#[test]
fn an_id_cannot_lead_out_of_the_folder() {
    for id in ["../../secret", "a/b", "", "a.b", "a\\b"] {
        assert_eq!(subagent::transcript_path(Path::new("/home/dev/s.jsonl"), id), None, "{id}");
    }
}
