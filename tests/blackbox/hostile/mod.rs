//! What a hostile repository, teammate or user of the machine tries.

mod bounds;
