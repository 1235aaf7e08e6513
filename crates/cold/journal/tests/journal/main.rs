//! Tests of the journal as a whole: from the spool to the lines.

mod bench;
mod facts;
mod lines;
mod needed;
mod order;
mod recall;
mod replacing;
