//! The leave that the user gave for lessons to let calls of this session pass. Looked up only when a lesson would refuse.

use base::allowed::{Allowed, Extent, Name};
use base::{Paths, Timestamp};
use std::cell::RefCell;

/// The leave of a session, as far as this call needs it.
#[derive(Debug)]
pub(crate) struct Leaves<'a> {
    paths: &'a Paths,
    session: Option<&'a str>,
    now: Timestamp,
    found: RefCell<Vec<Allowed>>,
}

impl<'a> Leaves<'a> {
    pub(crate) fn new(paths: &'a Paths, session: Option<&'a str>, now: Timestamp) -> Self {
        Self { paths, session, now, found: RefCell::default() }
    }

    /// Returns whether the user lifted a lesson for this call, and notes that the call needs it.
    pub(crate) fn lift(&self, name: &Name) -> bool {
        let mut found = self.found.borrow_mut();
        if found.iter().any(|leave| leave.name == *name) {
            return true;
        }
        let leave = self.session.and_then(|session| Allowed::find(self.paths, session, name, self.now));
        found.extend(leave);
        found.last().is_some_and(|leave| leave.name == *name)
    }

    /// Uses the leave that the call needs. Returns the lessons that were lifted for this call alone; `None` when another call
    /// was quicker, and this one is refused.
    pub(crate) fn use_up(&self) -> Option<Vec<String>> {
        let found = self.found.take();
        let mut lifted = Vec::new();
        for leave in found {
            if !leave.use_up(self.paths) {
                return None;
            }
            if leave.extent == Extent::Once {
                lifted.push(leave.name.slug);
            }
        }
        Some(lifted)
    }
}
