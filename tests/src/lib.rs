//! What the black-box tests share: the built plugin, the real client, other agents, a mock of the APIs
//! that they speak.

pub mod agent;
pub mod client;
pub mod mock;
pub mod plugin;
pub mod prerequisite;
pub mod process;
pub mod sandbox;
pub mod shape;
pub mod terminal;
pub mod tree;

mod home;
