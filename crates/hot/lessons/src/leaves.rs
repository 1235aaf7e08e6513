//! The leave that the user gave for lessons to let calls of this session pass. Looked up only when a lesson would refuse.

use base::allowed::{Allowed, Extent, Name};
use base::{Paths, Timestamp};
use std::cell::RefCell;
use std::io;

/// Why the leave that a call needs does not count.
#[derive(Debug)]
pub(crate) enum Unused {
    /// Another call was quicker.
    Taken,
    /// It cannot be removed, and would lift every call.
    Stuck(io::Error),
}

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

    /// Returns leave that lifts nothing.
    pub(crate) fn none(paths: &'a Paths) -> Self {
        Self::new(paths, None, Timestamp::from_millis(0))
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

    /// Uses the leave that the call needs, all of it or none. Returns the lessons that were lifted for this call alone.
    pub(crate) fn use_up(&self) -> Result<Vec<String>, Unused> {
        let found = self.found.take();
        if !found.iter().all(|leave| leave.is_unused(self.paths)) {
            return Err(Unused::Taken);
        }
        for (number, leave) in found.iter().enumerate() {
            let unused = match leave.use_up(self.paths) {
                Ok(true) => continue,
                Ok(false) => Unused::Taken,
                Err(error) => Unused::Stuck(error),
            };
            // The call is refused: what it took before is for another.
            for taken in found.iter().take(number).filter(|leave| leave.extent == Extent::Once) {
                let _ = taken.write(self.paths);
            }
            return Err(unused);
        }
        let once = found.into_iter().filter(|leave| leave.extent == Extent::Once);
        Ok(once.map(|leave| leave.name.slug).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    #[test]
    fn review_11_a_call_that_lacks_one_leave_uses_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]));
        let now = Timestamp::now();
        let names = ["a", "b"].map(|slug| Name::new(slug, false));
        let allowed = names.clone().map(|name| Allowed {
            name,
            session: "s".to_owned(),
            extent: Extent::Once,
            at: now,
            call: String::new(),
            project: String::new(),
        });
        for gone in [0, 1] {
            for leave in &allowed {
                leave.write(&paths).unwrap();
            }
            let leaves = Leaves::new(&paths, Some("s"), now);
            assert!(names.iter().all(|name| leaves.lift(name)));
            // Another call is quicker.
            assert!(allowed[gone].use_up(&paths).unwrap());
            assert!(matches!(leaves.use_up(), Err(Unused::Taken)));
            let other = &names[1 - gone];
            assert!(Allowed::find(&paths, "s", other, now).is_some(), "{gone}");
        }
    }
}
