//! PreCompact: has a handoff saved of what the window holds, and the session distilled; stops the compaction where the user
//! wants that.

use hook::{Arena, PreCompact, Silence};
use std::process::ExitCode;

#[global_allocator]
static ARENA: Arena = Arena::new();

fn main() -> ExitCode {
    hook::run("precompact-handoff", Silence::Empty, |call: PreCompact, host| {
        let is_first = compaction::is_first(&call, host);
        let queued = if is_first { schedule::compaction(&call, host) } else { Ok(false) };
        Ok(compaction::answer(&call, host, is_first)?.afterwards(|| queued.map(drop)))
    })
}
