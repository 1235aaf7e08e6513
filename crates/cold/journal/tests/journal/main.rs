//! Tests of the journal as a whole: from the spool to the lines.

mod agents;
mod bench;
mod facts;
mod filed;
mod lines;
mod needed;
mod order;
mod recall;
mod replacing;
