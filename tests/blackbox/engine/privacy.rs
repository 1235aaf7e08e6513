//! What is private or secret leaves no trace: not in the data, not in the temp folder, not at home, not in the log.

use anyhow::Result;
use wyren_tests::sandbox::Sandbox;

use super::{export, files_with, prompt, shell};

const COMMIT: &str = "9fceb02d0ae598e95dc970b74767f19372d61af8";

/// Keys of the usual kinds, put together here so that no scanner takes this file for a leak.
fn keys() -> [String; 4] {
    [
        ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat(),
        ["AKIA", "IOSFODNN7EXAMPLQ"].concat(),
        ["sk-ant-api03-", "R2D2c3po_R2D2c3po_R2D2c3po_R2D2c3po_R2D2c3po_AA"].concat(),
        ["xoxb-", "2048516093-4096-AbCdEfGhIjKlMnOpQrStUvWx"].concat(),
    ]
}

#[test]
fn a_wholly_private_prompt_and_the_calls_under_it_and_planted_keys_are_nowhere_on_disk() -> Result<()> {
    let Some(sandbox) = Sandbox::new()? else { return Ok(()) };
    for folder in ["home", "tmp"] {
        std::fs::create_dir(sandbox.folder().join(folder))?;
    }
    prompt(&sandbox, "s", "1", "<private>about PRIVATE-PROMPT-WORD</private>")?;
    shell(&sandbox, "s", "toolu_1", "echo PRIVATE-CALL-WORD", "PRIVATE-OUTPUT-WORD")?;
    prompt(&sandbox, "s", "2", "now openly <private>but PRIVATE-PART-WORD</private> please")?;
    let planted = keys().join(" then ");
    shell(&sandbox, "s", "toolu_2", "git log -1", &format!("commit {COMMIT} uses {planted} here"))?;
    let long = format!("{} {planted} {}", "some words ".repeat(20_000), "more words ".repeat(20_000));
    shell(&sandbox, "s", "toolu_3", "cat long", &long)?;

    let mut hidden = ["PRIVATE-PROMPT-WORD", "PRIVATE-CALL-WORD", "PRIVATE-OUTPUT-WORD", "PRIVATE-PART-WORD"]
        .map(String::from)
        .to_vec();
    hidden.extend(keys());
    let check = |when: &str| -> Result<()> {
        for text in &hidden {
            assert_eq!(
                files_with(sandbox.folder(), text)?,
                Vec::<std::path::PathBuf>::new(),
                "{text} {when}"
            );
        }
        assert!(!files_with(&sandbox.data(), COMMIT)?.is_empty(), "{when}");
        Ok(())
    };
    check("before the drain")?;
    let lines = export(&sandbox, &[])?;
    check("after the drain")?;

    let events: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
    assert_eq!(events, ["p:2", "t:toolu_2", "t:toolu_3"]);
    assert_eq!(lines[1]["text"], "now openly  please");
    assert!(lines[2]["output"]["stdout"].as_str().is_some_and(|text| text.contains(COMMIT)), "{}", lines[2]);
    Ok(())
}
