//! Prints the commands that Wyren sees in a line of shell: `cargo run --example commands -- 'cd a && pytest | tee b'`,
//! or with the line on standard input.

use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut script = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    if script.is_empty() {
        io::stdin().read_to_string(&mut script)?;
    }
    let mut out = io::stdout().lock();
    for command in shell::commands(&script) {
        write!(out, "{:indent$}{}", "", command.text(), indent = command.depth * 2)?;
        let mut facts = vec![format!("{:?}", command.origin).to_lowercase()];
        if !command.wrappers.is_empty() {
            facts.push(format!("through {}", command.wrappers.join(", ")));
        }
        for (name, value) in &command.assignments {
            facts.push(format!("{name}={value}"));
        }
        for redirect in &command.redirects {
            facts.push(format!("{} {}", redirect.operator, redirect.target.text));
        }
        if command.place > 0 || !command.is_last {
            facts.push(format!("place {} of pipeline {}", command.place, command.pipeline));
        }
        if command.is_background {
            facts.push(String::from("in the background"));
        }
        if command.is_negated {
            facts.push(String::from("negated"));
        }
        writeln!(out, "    # {}", facts.join("; "))?;
    }
    Ok(())
}
