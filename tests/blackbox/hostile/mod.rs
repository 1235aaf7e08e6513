//! What a hostile repository, teammate or other user of the machine tries, through the built programs.

mod files;
mod sources;
