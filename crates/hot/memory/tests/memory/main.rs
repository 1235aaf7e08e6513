//! The memory from outside: the format, changes, merges, and the texts for a session.

mod editing;
mod format;
mod history;
mod injecting;
mod merging;
mod properties;
mod telling;

use memory::Memory;

/// Returns the memory with a title and the given sections, each a name and the lines below it.
fn memory(sections: &[(&str, &[&str])]) -> Memory {
    let mut text = String::from("# Wyren Memory\n");
    for (name, lines) in sections {
        text.push_str(&format!("\n## {name}\n\n"));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    Memory::parse(&text)
}

/// Returns a memory of decisions.
fn decisions(lines: &[&str]) -> Memory {
    memory(&[("Decisions", lines)])
}

/// Returns every entry as `Section: text`.
fn entries(memory: &Memory) -> Vec<String> {
    memory.entries().map(|(section, entry)| format!("{section}: {}", entry.text())).collect()
}
