//! The slash commands and the skill.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wyren_tests::client::Client;
use wyren_tests::plugin;
use wyren_tests::sandbox::{Sandbox, feed};

use super::{add, frobnicate, stderr};

const COMMANDS: [&str; 10] = [
    "lessons-add",
    "lessons-backup",
    "lessons-cancel",
    "lessons-config",
    "lessons-doctor",
    "lessons-help",
    "lessons-manage",
    "lessons-onboard",
    "lessons-review",
    "lessons-scope",
];

#[test]
fn line_18_what_a_slash_command_runs_by_itself_ends_well_from_any_folder() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(()) };
    for name in COMMANDS {
        let text = fs::read_to_string(plugin.join("commands").join(format!("{name}.md")))?;
        assert!(text.contains("\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\" lessons"), "{name}");
        for line in text.lines().filter_map(|line| line.strip_prefix("!`")?.strip_suffix('`')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], "\"${CLAUDE_PLUGIN_ROOT}/bin/wyren\"", "{line}");
            let output = feed(sandbox.command("wyren").args(&words[1..]).current_dir(Path::new("/")), b"")?;
            assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        }
    }
    Ok(())
}

#[test]
fn every_subcommand_that_the_texts_name_exists() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(()) };
    let help = String::from_utf8(sandbox.wyren(&["lessons", "--help"])?.stdout)?;
    let mut texts = vec![fs::read_to_string(plugin.join("skills/writing-lessons/SKILL.md"))?];
    for name in COMMANDS {
        texts.push(fs::read_to_string(plugin.join("commands").join(format!("{name}.md")))?);
    }
    for text in texts {
        for rest in text.replace('"', "").split("wyren lessons ").skip(1) {
            let word: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
            assert!(word.is_empty() || help.contains(&format!("\n  {word} ")), "{word}");
        }
    }
    Ok(())
}

#[test]
fn every_lesson_that_the_texts_show_as_an_example_is_accepted() -> Result<()> {
    let (Some(sandbox), Some(plugin)) = (Sandbox::new()?, plugin::folder()) else { return Ok(()) };
    for name in ["commands/lessons-add.md", "skills/writing-lessons/SKILL.md"] {
        let text = fs::read_to_string(plugin.join(name))?;
        // From the head of a lesson's file to the end of the block that it is in.
        let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("summary: "));
        let example: Vec<&str> = lines.take_while(|line| !["LESSON", "```"].contains(line)).collect();
        let example = format!("---\n{}\n", example.join("\n"));
        let output =
            feed(sandbox.command("wyren").args(["lessons", "add", "--file", "-"]), example.as_bytes())?;
        assert_eq!(output.status.code(), Some(0), "{name}: {}\n{example}", stderr(&output));
    }
    Ok(())
}

#[test]
fn line_18_every_slash_command_reaches_the_model_in_the_real_client() -> Result<()> {
    for (command, expected) in [
        ("lessons-add", "bin/wyren\" lessons add"),
        ("lessons-manage", "frobnicate-apply-overwrites-the-local-state"),
        ("lessons-doctor", "bin/wyren\" lessons doctor --json"),
        ("lessons-review", "\"candidates\": []"),
        ("lessons-onboard", "\"candidates\": []"),
        ("lessons-cancel", "frobnicate-apply-overwrites-the-local-state"),
        ("lessons-scope", "bin/wyren\" lessons show SLUG --json"),
        ("lessons-config", "lessons.max_per_call"),
        ("lessons-backup", "bin/wyren\" lessons backup"),
        ("lessons-help", "wyren lessons review"),
    ] {
        let (Some(client), Some(plugin), Some(sandbox)) = (Client::new()?, plugin::folder(), Sandbox::new()?)
        else {
            return Ok(());
        };
        add(&sandbox, &frobnicate())?;
        let client = client.plugin_dir(&plugin);
        fs::create_dir_all(client.data().join("lessons"))?;
        for entry in fs::read_dir(sandbox.data().join("lessons"))? {
            let entry = entry?;
            fs::copy(entry.path(), client.data().join("lessons").join(entry.file_name()))?;
        }
        let turn = client.prompt(&format!("/wyren:{command} please"))?;
        assert!(turn.succeeded(), "{command}: {:#?}", turn.output);
        let request = turn.main_request(0).with_context(|| command.to_owned())?;
        assert!(request.texts().contains(expected), "{command}: {}", request.texts());
        assert!(!request.texts().contains("${CLAUDE_PLUGIN_ROOT}"), "{command}");
    }
    Ok(())
}
