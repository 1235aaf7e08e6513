//! What the black-box tests share: the built plugin, the real client, a mock of the Messages API.

pub mod client;
pub mod mock;
pub mod plugin;
pub mod prerequisite;
pub mod process;
pub mod sandbox;
pub mod terminal;
pub mod tree;

mod home;
