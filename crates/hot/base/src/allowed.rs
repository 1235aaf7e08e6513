//! Calls that lessons refused, and the user's leave for a lesson to let calls of one session pass.
//!
//! `cache/refused/<project>/<digest>` is about the last call that a lesson refused in a project:
//!
//! ```text
//! wyren refused 1
//! 1794796001123
//! 720ff4aa-05f9-4e05-aad8-0d889a82ec5a
//! git-force-push-to-the-main-branch
//! git push --force origin main
//! ```
//!
//! `allowed/<session>/<digest>` is the leave that a person gave for a lesson in a session:
//!
//! ```text
//! wyren allowed 1
//! once 1794796001123
//! 720ff4aa-05f9-4e05-aad8-0d889a82ec5a
//! git-force-push-to-the-main-branch
//! git push --force origin main
//! 5f2a9c0d1b3e4f60
//! ```
//!
//! Its last line is the project that it was given in: the name of the folder of that project's refusals.
//!
//! Only a refusal looks for leave, so that a call that no lesson refuses pays nothing.

use crate::{Paths, Timestamp, digest, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How long a refusal can be lifted, and how long leave counts, in milliseconds.
pub const MAX_AGE_MILLIS: u64 = 24 * 3_600_000;

/// The first lines of the two kinds of files. One with another first line counts as absent.
const REFUSED: &str = "wyren refused 1";
const ALLOWED: &str = "wyren allowed 1";

/// How the names of a repository's lessons begin, so that leave for one lifts no lesson of the user's.
const PROJECT: &str = "project:";

/// The name of a lesson among those of all layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The lesson's own name.
    pub slug: String,
    /// Whether it came with the repository.
    pub is_shared: bool,
}

impl Name {
    /// Returns the name of a lesson.
    pub fn new(slug: &str, is_shared: bool) -> Self {
        Self { slug: slug.to_owned(), is_shared }
    }

    fn parse(text: &str) -> Self {
        match text.strip_prefix(PROJECT) {
            Some(slug) => Self::new(slug, true),
            None => Self::new(text, false),
        }
    }

    fn text(&self) -> String {
        let prefix = if self.is_shared { PROJECT } else { "" };
        format!("{prefix}{}", files::on_one_line(&self.slug))
    }

    fn file_name(&self) -> String {
        digest::short_hex(self.text().as_bytes())
    }
}

/// A call that a lesson refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The lesson.
    pub name: Name,
    /// The session of the call.
    pub session: String,
    /// When it was refused.
    pub at: Timestamp,
    /// What the call would have done, redacted and on one line; empty where nothing of it may be kept.
    pub call: String,
}

impl Refusal {
    /// Notes the refusal for the project at `root`, in the place of that lesson's last one. What lapsed is removed.
    pub fn note(&self, paths: &Paths, root: &Path) -> io::Result<()> {
        let (session, call) = (files::on_one_line(&self.session), files::on_one_line(&self.call));
        let text = format!("{REFUSED}\n{}\n{session}\n{}\n{call}\n", self.at.millis(), self.name.text());
        files::write_atomic(&paths.refused_folder(root).join(self.name.file_name()), text.as_bytes())?;
        Self::remove_lapsed(paths, self.at);
        Ok(())
    }

    /// Returns the last refusal of each lesson in the project at `root`, the newest first. What lapsed, in this project or
    /// another, is removed.
    pub fn all(paths: &Paths, root: &Path, now: Timestamp) -> Vec<Self> {
        Self::remove_lapsed(paths, now);
        let files = files::files_in(&paths.refused_folder(root));
        let mut all: Vec<Self> = files.iter().filter_map(|file| Self::read(file)).collect();
        all.sort_by_key(|refusal| std::cmp::Reverse(refusal.at));
        all
    }

    fn remove_lapsed(paths: &Paths, now: Timestamp) {
        let counts = |refusal: &Self| now.millis_since(refusal.at) <= MAX_AGE_MILLIS;
        remove_unless(&paths.refused(), |file| Self::read(file).filter(counts).is_some());
    }

    fn read(file: &Path) -> Option<Self> {
        let text = files::read_text_capped(file, files::cap::POINTER).ok()?;
        let [REFUSED, at, session, name, call] = text.lines().collect::<Vec<_>>()[..] else { return None };
        let at = Timestamp::from_millis(at.parse().ok()?);
        Some(Self { name: Name::parse(name), session: session.to_owned(), at, call: call.to_owned() })
    }
}

/// How much leave lifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The next call that the lesson would refuse.
    Once,
    /// Every call until the session ends.
    Session,
}

impl Extent {
    /// Returns its name, as in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
        }
    }
}

/// A person's leave for a lesson to let calls of a session pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The lesson.
    pub name: Name,
    /// The session.
    pub session: String,
    /// How much it lifts.
    pub extent: Extent,
    /// When it was given.
    pub at: Timestamp,
    /// The call that was refused before, for people.
    pub call: String,
    /// The project that it was given in, as [`project_of`] names it.
    pub project: String,
}

impl Allowed {
    /// Gives leave, in the place of earlier leave for the same lesson and session.
    pub fn write(&self, paths: &Paths) -> io::Result<()> {
        let (session, call) = (files::on_one_line(&self.session), files::on_one_line(&self.call));
        let (extent, at) = (self.extent.name(), self.at.millis());
        let (name, project) = (self.name.text(), files::on_one_line(&self.project));
        let text = format!("{ALLOWED}\n{extent} {at}\n{session}\n{name}\n{call}\n{project}\n");
        files::write_atomic(&self.file(paths), text.as_bytes())
    }

    /// Returns the leave for a lesson in a session.
    pub fn find(paths: &Paths, session: &str, name: &Name, now: Timestamp) -> Option<Self> {
        let file = paths.allowed_folder(session).join(name.file_name());
        Self::read(&file)
            .filter(|allowed| allowed.session == session && allowed.name == *name && allowed.counts(now))
    }

    /// Returns all leave that counts, the newest first; what does not any more is removed.
    pub fn all(paths: &Paths, now: Timestamp) -> Vec<Self> {
        let mut all = Vec::new();
        remove_unless(&paths.allowed(), |file| {
            let allowed = Self::read(file).filter(|allowed| allowed.counts(now));
            let counts = allowed.is_some();
            all.extend(allowed);
            counts
        });
        all.sort_by_key(|allowed| std::cmp::Reverse(allowed.at));
        all
    }

    /// Uses the leave for a call; `false` when it was for one call and another call has used it. Leave that cannot be removed
    /// must not lift anything: it would lift every call.
    pub fn use_up(&self, paths: &Paths) -> io::Result<bool> {
        // Of two processes that remove a file, one succeeds.
        match self.extent {
            Extent::Session => Ok(true),
            Extent::Once => files::remove_if_there(&self.file(paths)),
        }
    }

    /// Returns whether the leave has not been used meanwhile.
    pub fn is_unused(&self, paths: &Paths) -> bool {
        self.extent == Extent::Session || self.file(paths).exists()
    }

    fn counts(&self, now: Timestamp) -> bool {
        now.millis_since(self.at) <= MAX_AGE_MILLIS
    }

    fn file(&self, paths: &Paths) -> PathBuf {
        paths.allowed_folder(&self.session).join(self.name.file_name())
    }

    fn read(file: &Path) -> Option<Self> {
        let text = files::read_text_capped(file, files::cap::POINTER).ok()?;
        let [ALLOWED, what, session, name, call, project] = text.lines().collect::<Vec<_>>()[..] else {
            return None;
        };
        let (extent, at) = what.split_once(' ')?;
        let extent = [Extent::Once, Extent::Session].into_iter().find(|known| known.name() == extent)?;
        let at = Timestamp::from_millis(at.parse().ok()?);
        let [session, call, project] = [session, call, project].map(str::to_owned);
        Some(Self { name: Name::parse(name), session, extent, at, call, project })
    }
}

/// Returns the name that leave has for the project at `root`.
pub fn project_of(paths: &Paths, root: &Path) -> String {
    let folder = paths.refused_folder(root);
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes the files that do not count from the folders below `above`, and the folders that are then empty.
fn remove_unless(above: &Path, mut counts: impl FnMut(&Path) -> bool) {
    for folder in fs::read_dir(above).into_iter().flatten().flatten() {
        for file in files::files_in(&folder.path()) {
            if !counts(&file) {
                let _ = fs::remove_file(file);
            }
        }
        // One that holds a file stays.
        let _ = fs::remove_dir(folder.path());
    }
}

/// Takes back all leave for a session: it ended.
pub fn end(paths: &Paths, session: &str) -> io::Result<()> {
    if_there(fs::remove_dir_all(paths.allowed_folder(session)))
}

/// Removes the notes about refused calls, and the calls from leave that counts.
pub fn forget_calls(paths: &Paths, now: Timestamp) -> io::Result<()> {
    for allowed in Allowed::all(paths, now) {
        Allowed { call: String::new(), ..allowed }.write(paths)?;
    }
    if_there(fs::remove_dir_all(paths.refused()))
}

fn if_there(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;

    fn desk() -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        (folder, paths)
    }

    const NOW: Timestamp = Timestamp::from_millis(1_794_796_001_123);

    fn later(millis: u64) -> Timestamp {
        Timestamp::from_millis(NOW.millis() + millis)
    }

    fn allowed(session: &str, name: Name, extent: Extent) -> Allowed {
        let [session, call, project] = [session, "make", "p"].map(str::to_owned);
        Allowed { name, session, extent, at: NOW, call, project }
    }

    #[test]
    fn the_last_refusal_of_each_lesson_is_known_per_project_for_a_day() {
        let (folder, paths) = desk();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let refusal = |slug: &str, at| Refusal {
            name: Name::new(slug, false),
            session: "s".into(),
            at,
            call: "make\nall".into(),
        };
        for (slug, at) in [("a", NOW), ("b", later(1)), ("a", later(2))] {
            refusal(slug, at).note(&paths, &one).unwrap();
        }
        let known = Refusal::all(&paths, &one, later(3));
        assert_eq!(
            known.iter().map(|known| (known.name.slug.as_str(), known.at)).collect::<Vec<_>>(),
            [("a", later(2)), ("b", later(1))]
        );
        assert_eq!(known[0].call, "make\u{fffd}all");
        assert_eq!(Refusal::all(&paths, &other, NOW), []);
        assert_eq!(Refusal::all(&paths, &one, later(MAX_AGE_MILLIS + 2)).len(), 1);
        forget_calls(&paths, NOW).unwrap();
        assert_eq!(Refusal::all(&paths, &one, NOW), []);
    }

    #[test]
    fn review_10_refused_calls_are_removed_when_they_lapse() {
        let (folder, paths) = desk();
        let [here, elsewhere] = ["here", "elsewhere"].map(|name| folder.path().join(name));
        let refusal =
            |at| Refusal { name: Name::new("a", false), session: "s".into(), at, call: "make".into() };
        let is_kept = |root: &Path| paths.refused_folder(root).exists();
        for root in [&here, &elsewhere] {
            refusal(NOW).note(&paths, root).unwrap();
        }
        Refusal::all(&paths, &here, later(MAX_AGE_MILLIS));
        assert!(is_kept(&here) && is_kept(&elsewhere));
        // A refusal here removes what lapsed elsewhere.
        refusal(later(MAX_AGE_MILLIS + 1)).note(&paths, &here).unwrap();
        assert!(is_kept(&here) && !is_kept(&elsewhere));
        Refusal::all(&paths, &elsewhere, later(2 * MAX_AGE_MILLIS + 2));
        assert!(!is_kept(&here));
    }

    #[test]
    fn leave_for_one_call_is_used_by_one_of_many() {
        let (_folder, paths) = desk();
        let name = Name::new("a", false);
        allowed("s", name.clone(), Extent::Once).write(&paths).unwrap();
        let found = Allowed::find(&paths, "s", &name, NOW).unwrap();
        let uses = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| found.use_up(&paths).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|is_used| *is_used).count()
        });
        assert_eq!(uses, 1);
        assert_eq!(Allowed::find(&paths, "s", &name, NOW), None);
    }

    #[test]
    fn leave_is_about_one_lesson_of_one_layer_in_one_session_for_a_day() {
        let (_folder, paths) = desk();
        let (own, shared) = (Name::new("a", false), Name::new("a", true));
        allowed("s", shared.clone(), Extent::Session).write(&paths).unwrap();
        assert!(Allowed::find(&paths, "s", &shared, NOW).is_some_and(|leave| leave.use_up(&paths).unwrap()));
        assert!(Allowed::find(&paths, "s", &shared, later(MAX_AGE_MILLIS)).is_some());
        assert_eq!(Allowed::find(&paths, "s", &own, NOW), None);
        assert_eq!(Allowed::find(&paths, "t", &shared, NOW), None);
        assert_eq!(Allowed::find(&paths, "s", &shared, later(MAX_AGE_MILLIS + 1)), None);
        end(&paths, "s").unwrap();
        assert_eq!(Allowed::find(&paths, "s", &shared, NOW), None);
        end(&paths, "s").unwrap();
    }

    #[test]
    fn open_leave_is_listed_and_what_lapsed_is_removed() {
        let (_folder, paths) = desk();
        assert_eq!(Allowed::all(&paths, NOW), []);
        let one = allowed("s", Name::new("a", false), Extent::Once);
        let two = Allowed { at: later(9), ..allowed("t", Name::new("b", true), Extent::Session) };
        one.write(&paths).unwrap();
        two.write(&paths).unwrap();
        assert_eq!(Allowed::all(&paths, later(9)), [two.clone(), one]);
        assert_eq!(Allowed::all(&paths, later(MAX_AGE_MILLIS + 5)), std::slice::from_ref(&two));
        assert!(!paths.allowed_folder("s").exists());
        forget_calls(&paths, NOW).unwrap();
        assert_eq!(Allowed::all(&paths, NOW), [Allowed { call: String::new(), ..two }]);
    }

    #[test]
    fn a_file_of_another_version_lifts_nothing() {
        let (_folder, paths) = desk();
        let name = Name::new("a", false);
        let leave = allowed("s", name.clone(), Extent::Once);
        leave.write(&paths).unwrap();
        let text = fs::read_to_string(leave.file(&paths)).unwrap();
        for damaged in [text.replace("allowed 1", "allowed 2"), text.replace("once", "ever"), String::new()] {
            fs::write(leave.file(&paths), damaged).unwrap();
            assert_eq!(Allowed::find(&paths, "s", &name, NOW), None);
        }
    }
}
