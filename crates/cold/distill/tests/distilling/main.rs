//! Distillations without a worker's process around them.

mod answers;
mod desk;
mod distilling;
mod interrupted;
mod leaving;
mod long_run;
mod rehearsing;
mod removed;
mod summaries;
