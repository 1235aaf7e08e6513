//! Adds five decisions to the memory of a clone, one by one: what the tests start in processes of their own.
//!
//! Usage: `decide <clone> <name>`.

use base::Env;
use memory::Provenance;
use std::error::Error;
use std::path::Path;
use team_sync::Share;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [clone, name] = &arguments[..] else { return Err("two arguments are needed".into()) };
    let share = Share::open(Path::new(clone), &Env::process())?;
    for number in 0..5 {
        share.change("Ada", "decided", |memory| {
            let mut memory = memory.clone();
            let text = format!("decision {number} of process {name}");
            memory.add_distinct("Decisions", &text, &Provenance::default());
            memory
        })?;
    }
    Ok(())
}
