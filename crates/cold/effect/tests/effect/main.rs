//! Whether lessons help.

mod desk;
mod failing;
mod judging;
mod month;
