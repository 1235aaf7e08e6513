//! How a command ended: of which commands of a line the exit status is, and what an output says.
//!
//! A pipe, `;`, `|| true`, `if` and `&` hide the exit status of what is before them. [`endings`] says of each command what
//! must have become of it, given the exit status of the whole line; where that says nothing, [`Output`] has the verdict that
//! the program itself printed:
//!
//! ```
//! use outcome::{Ending, Output, endings};
//!
//! let (line, printed) = ("cargo test 2>&1 | tail -3; git status", "test result: FAILED. 3 passed; 1 failed");
//! let commands = shell::commands(line);
//! let found = endings(line, &commands, printed, Some(true));
//! assert_eq!(found[0].ending, Ending::Unknown);
//! assert!(outcome::hides_failure(line, printed));
//! assert_eq!(Output::read(printed).report(&outcome::families(&commands[0])).failed, 1);
//! ```

mod chain;
mod family;
mod output;
mod repository;
mod syntax;

pub use chain::{Ending, Found, endings};
pub use family::{Family, families, shows_others, subcommands};
pub use output::{Output, Report};
pub use repository::{git_verb, repository_says};

/// Returns whether a command of a line that ended well failed by the words of its own program.
pub fn hides_failure(script: &str, printed: &str) -> bool {
    let commands = shell::commands(script);
    let found = endings(script, &commands, printed, Some(true));
    let output = Output::read(printed);
    commands.iter().zip(&found).any(|(command, found)| {
        let families = families(command);
        matches!(found.ending, Ending::Unknown | Ending::Perhaps)
            && !families.is_empty()
            && output.report(&families).has_failed
    })
}
