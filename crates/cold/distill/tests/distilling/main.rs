//! Distillations without a worker's process around them.

mod answers;
mod desk;
mod distilling;
mod interrupted;
mod long_run;
mod removed;
