//! `wyren why`: from a line of code to the edit that put it there, the prompt that asked for it, and the commit.

mod show;

use crate::database::{self, Look};
use crate::exit;
use crate::terminal;
use answers::why::{Answer, Target, read_lines};
use anyhow::Result;
use base::{Env, Paths};
use clap::Args;
use std::io::Write as _;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  wyren why src/auth.rs:42       the prompt, the edit, the session and the commit behind line 42
  wyren why src/auth.rs:42-60    the same for every block of lines 42 to 60
  wyren why src/auth.rs          every block of the file, one row each
  wyren why src/auth.rs --json   print JSON";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A file, with the number of a line or a range of lines behind it.
    #[arg(value_name = "FILE[:LINE[-LINE]]")]
    target: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let target = Target::parse(&arguments.target, Path::is_file).map_err(exit::of)?;
    let file = std::path::absolute(&target.file)?;
    let lines = read_lines(&file, &target.file).map_err(exit::of)?;
    let range = target.range(lines.len()).map_err(exit::of)?;
    let mut failed = None;
    let open = || match database::open_drained(env, paths, Look::Quick) {
        Ok(store) => Ok(store),
        Err(error) => {
            failed = Some(error);
            Err(answers::Error::Unknown(String::new()))
        }
    };
    let answer = match Answer::of(&file, lines, range.clone(), env, open) {
        Ok(answer) => answer,
        Err(error) => return Err(failed.unwrap_or_else(|| exit::of(error))),
    };
    let mut output = terminal::output();
    match (arguments.json, &range) {
        // In one piece: every write goes through the net.
        (true, _) => {
            output.write_all(format!("{:#}\n", answer.to_json(&target.file, range.as_ref())).as_bytes())?
        }
        (false, Some(range)) => show::write_lines(&answer, &mut output, &target.file, range)?,
        (false, None) => show::write_table(&answer, &mut output)?,
    }
    Ok(())
}
