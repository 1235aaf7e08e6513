//! What a hostile repository, teammate, other user of the machine, misled model or bad day tries, through the built programs.

mod bounds;
mod faults;
mod files;
mod forget;
pub(crate) mod git;
mod leave;
mod sources;
mod text;
