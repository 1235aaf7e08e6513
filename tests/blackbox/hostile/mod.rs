//! What a hostile repository, teammate, other user of the machine or misled model tries, through the built programs.

pub(crate) mod git;
mod leave;
