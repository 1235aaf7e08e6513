//! Claims: which process shows a text. A claim is a file; the process that locks it while it is unmarked has the claim,
//! and marks it with a byte once the text was shown.
//!
//! ```text
//! <claims>/<session>/<window>/clear/<name>        kept until the session starts anew or is cleared
//! <claims>/<session>/<window>/compaction/<name>   kept until the window is compacted
//! ```
//!
//! The window is `main` or a subagent. Forgetting is one rename of the folder in question: a claim is taken either
//! before it, and goes with it, or after it, in a new folder. Nothing in between can be seen.

use base::{Timestamp, digest, files, system};
use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Claims of sessions that have not started for this long are removed.
const KEEP_MILLIS: u64 = 14 * 24 * 3_600_000;
/// How many folders one clean-up looks at.
const CLEANUP_ENTRIES: usize = 512;
/// How often a claim is tried again when its folder is renamed away under it.
const ATTEMPTS: usize = 8;
/// How the names of folders begin whose claims are forgotten but not yet removed.
const FORGOTTEN: &str = ".forgotten-";

/// How the name of the folder ends that has the notes about a session.
const NOTES: &str = "notes";

/// How long a claim is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until the session starts anew or is cleared.
    UntilClear,
    /// Until the window is compacted: then the text may be shown again.
    UntilCompaction,
}

impl Keep {
    fn folder(self) -> &'static str {
        match self {
            Self::UntilClear => "clear",
            Self::UntilCompaction => "compaction",
        }
    }
}

/// The contents of a claim's file before and after its text was shown.
const PENDING: &[u8] = b"0";
const SAID: &[u8] = b"1";

/// A claim that was won, and is not confirmed yet.
#[derive(Debug)]
#[must_use = "a claim that is not confirmed is free again"]
pub struct Claim {
    /// The claim's file, locked; `None` where there was nowhere to keep it.
    file: Option<File>,
}

impl Claim {
    /// Takes the claim of a file: the process that holds its lock while it is unmarked has it.
    fn of(mut file: File) -> Option<Self> {
        let mut mark = Vec::new();
        let is_free = system::try_lock(&file).is_ok() && file.read_to_end(&mut mark).is_ok() && mark != SAID;
        // Marked as pending at once: on a full disk the mark would fail later, when it is too late to do otherwise.
        let is_kept = is_free && file.rewind().and_then(|()| file.write_all(PENDING)).is_ok();
        is_free.then_some(Self { file: is_kept.then_some(file) })
    }

    /// Returns whether the claim is stored: if not, no other process can see that it was taken.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Confirms that what was claimed has been said.
    pub fn confirm(self) {
        if let Some(mut file) = self.file {
            let _ = file.rewind().and_then(|()| file.write_all(SAID));
        }
    }
}

/// Opens the file of a claim, creating it where there is none.
fn open_claim(path: &Path) -> io::Result<File> {
    match files::private_options().read(true).write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().read(true).write(true).open(path)
        }
        opened => opened,
    }
}

/// The claims of one window of one session.
#[derive(Debug)]
pub struct Claims {
    /// `None` without a session id or a folder that can be trusted.
    place: Option<Place>,
    window: String,
}

#[derive(Debug)]
struct Place {
    root: PathBuf,
    session: PathBuf,
}

impl Claims {
    /// Returns the claims of a window below the first of `roots` that belongs to this user alone.
    ///
    /// Without a session id, or without such a folder, every claim is won: calls never suppress each other by
    /// accident, and an unwritable folder does not disable a hook.
    pub fn new(roots: &[&Path], session_id: Option<&str>, agent_id: Option<&str>) -> Self {
        let root = session_id.and_then(|_| roots.iter().find(|root| is_private(root)));
        match root {
            Some(root) => Self::unchecked(root, session_id, agent_id),
            None => Self { place: None, window: String::new() },
        }
    }

    /// As [`Self::new`], below `root`, whichever user owns it.
    pub(crate) fn unchecked(root: &Path, session_id: Option<&str>, agent_id: Option<&str>) -> Self {
        let place = session_id.map(|id| Place {
            session: root.join(digest::short_hex(id.as_bytes())),
            root: root.to_path_buf(),
        });
        let window = agent_id.map_or_else(|| "main".to_owned(), |id| digest::short_hex(id.as_bytes()));
        Self { place, window }
    }

    /// Takes the claim called `name`; `None` when someone else has it.
    ///
    /// The claim is pending until it is confirmed. Should its holder die before that, it is free again: better said
    /// twice than never.
    pub fn take(&self, name: &str, keep: Keep) -> Option<Claim> {
        let Some(folder) = self.folder(keep) else { return Some(Claim { file: None }) };
        let path = folder.join(&*safe_name(name));
        for _ in 0..ATTEMPTS {
            match open_claim(&path) {
                Ok(file) => return Claim::of(file),
                // The first claim of a window makes its folder; a reset may take it away again at once.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if files::create_private_folder(&folder).is_err() {
                        break;
                    }
                }
                Err(_) => break,
            }
        }
        // It cannot be stored: show the text anyway.
        Some(Claim { file: None })
    }

    /// Takes and confirms the claim called `name` at once; `false` when someone else has it.
    pub fn take_for_good(&self, name: &str, keep: Keep) -> bool {
        self.take(name, keep).map(Claim::confirm).is_some()
    }

    /// Says whether the claim called `name` was taken and confirmed.
    pub fn is_taken(&self, name: &str) -> bool {
        let is_in = |keep| {
            let claim = self.folder(keep).map(|folder| folder.join(&*safe_name(name)));
            claim.is_some_and(|claim| fs::read(claim).is_ok_and(|mark| mark == SAID))
        };
        is_in(Keep::UntilClear) || is_in(Keep::UntilCompaction)
    }

    /// Returns the file of a note about this window, which is kept until the window is compacted; `None` without a session
    /// id or a folder that can be trusted. Names of notes begin with a dot, which no claim's does.
    pub fn note_file(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder(Keep::UntilCompaction)?.join(name))
    }

    /// Returns the folder of notes about the session, whichever window asks. It is removed as claims are, but not forgotten with
    /// them: who writes a note says when it ends. `None` as for [`Self::note_file`].
    pub fn session_notes(&self) -> Option<PathBuf> {
        Some(self.place.as_ref()?.session.with_extension(NOTES))
    }

    /// Forgets every claim of the session, its subagents' too.
    pub fn forget_all(&self) -> io::Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| forget(&place.root, &place.session))
    }

    /// Forgets the claims of this window that end with a compaction.
    pub fn forget_compacted(&self) -> io::Result<()> {
        match (&self.place, self.folder(Keep::UntilCompaction)) {
            (Some(place), Some(folder)) => forget(&place.root, &folder),
            _ => Ok(()),
        }
    }

    /// Removes what sessions of long ago left behind, and marks this one as alive.
    pub fn clean_up(&self, now: Timestamp) {
        let Some(Place { root, session }) = &self.place else { return };
        let _ = File::open(session).and_then(|folder| folder.set_modified(SystemTime::now()));
        let Ok(entries) = fs::read_dir(root) else { return };
        for entry in entries.flatten().take(CLEANUP_ENTRIES) {
            let path = entry.path();
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = modified.is_ok_and(|time| now.millis_since(time.into()) > KEEP_MILLIS);
            if entry.file_name().to_string_lossy().starts_with(FORGOTTEN) {
                let _ = fs::remove_dir_all(path);
            } else if is_old && path != *session {
                let _ = forget(root, &path);
            }
        }
    }

    fn folder(&self, keep: Keep) -> Option<PathBuf> {
        Some(self.place.as_ref()?.session.join(&self.window).join(keep.folder()))
    }
}

/// Renames a folder of claims out of the way, then removes it; what a kill leaves, the next clean-up removes.
fn forget(root: &Path, folder: &Path) -> io::Result<()> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let now = Timestamp::now().millis();
    let forgotten = root.join(format!("{FORGOTTEN}{}-{now}-{number}", std::process::id()));
    // Another hook may have a file in it open for a moment, which Windows takes for a reason not to rename it.
    match system::rename(folder, &forgotten) {
        // Forgotten is forgotten. A claim that was being taken may still be put into the folder while it is removed;
        // then it stays for the next clean-up.
        Ok(()) => {
            let _ = fs::remove_dir_all(&forgotten);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns a file name for a claim: the name itself where it is a plain word, else its digest.
fn safe_name(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=100).contains(&name.len()) && name.bytes().all(is_plain) {
        return name.into();
    }
    format!("_{}", digest::short_hex(name.as_bytes())).into()
}

/// Makes sure that a folder exists and is this user's alone: in a shared temp folder, anyone could have made it.
pub(crate) fn is_private(root: &Path) -> bool {
    // Not through a link, which could lead anywhere.
    let inspect = || fs::symlink_metadata(root);
    let metadata = inspect().or_else(|_| {
        files::create_private(root).or_else(|_| files::create_private_folder(root))?;
        inspect()
    });
    metadata.is_ok_and(|metadata| system::claim_folder(root, &metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(root: &Path, session: &str, agent: Option<&str>) -> Claims {
        Claims::new(&[root], Some(session), agent)
    }

    #[test]
    fn a_claim_is_won_once_per_session_and_window() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        assert!(claims(&root, "one", None).take_for_good("lesson", Keep::UntilClear));
        assert!(!claims(&root, "one", None).take_for_good("lesson", Keep::UntilClear));
        assert!(claims(&root, "one", None).is_taken("lesson"));
        assert!(claims(&root, "one", Some("agent")).take_for_good("lesson", Keep::UntilClear));
        assert!(claims(&root, "two", None).take_for_good("lesson", Keep::UntilClear));
        assert!(claims(&root, "one", None).take_for_good("another", Keep::UntilClear));
    }

    #[test]
    fn a_pending_claim_is_exclusive_and_free_again_when_its_holder_dies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        let claims = claims(&root, "s", None);
        let pending = claims.take("lesson", Keep::UntilClear).unwrap();
        assert!(claims.take("lesson", Keep::UntilClear).is_none());
        assert!(!claims.is_taken("lesson"));
        drop(pending);
        claims.take("lesson", Keep::UntilClear).unwrap().confirm();
        assert!(claims.take("lesson", Keep::UntilClear).is_none());
        assert!(claims.is_taken("lesson"));
    }

    #[test]
    fn calls_without_a_session_never_suppress_each_other() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let claims = Claims::new(&[folder.path()], None, None);
            assert!(claims.take_for_good("lesson", Keep::UntilClear));
            assert!(!claims.is_taken("lesson"));
        }
    }

    #[test]
    fn compaction_forgets_only_what_may_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        let (main, agent) = (claims(&root, "s", None), claims(&root, "s", Some("a")));
        for claims in [&main, &agent] {
            assert!(claims.take_for_good("mild", Keep::UntilClear));
            assert!(claims.take_for_good("urgent", Keep::UntilCompaction));
        }
        main.forget_compacted().unwrap();
        assert!(!main.take_for_good("mild", Keep::UntilClear));
        assert!(main.take_for_good("urgent", Keep::UntilCompaction));
        assert!(agent.is_taken("urgent"));
        main.forget_all().unwrap();
        assert!(main.take_for_good("mild", Keep::UntilClear));
        assert!(agent.take_for_good("mild", Keep::UntilClear));
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        for name in ["../../evil", "a/b", "", ".", "..", "UPPER", &"x".repeat(300), "nul\0byte", "ünï"] {
            let claims = claims(&root, "../session", Some("../agent"));
            assert!(claims.take_for_good(name, Keep::UntilClear), "{name}");
            assert!(!claims.take_for_good(name, Keep::UntilClear), "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_or_someone_elses_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let fallback = folder.path().join("fallback");
        let claims = Claims::new(&[&link, &fallback], Some("s"), None);
        assert!(claims.take_for_good("lesson", Keep::UntilClear));
        assert!(!claims.take_for_good("lesson", Keep::UntilClear));
        assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&fallback).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_closed_to_others() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(claims(folder.path(), "s", None).take_for_good("lesson", Keep::UntilClear));
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn an_unusable_folder_does_not_disable_hooks() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let claims = Claims::new(&[&file, &file.join("below")], Some("s"), None);
        assert!(claims.take_for_good("lesson", Keep::UntilClear));
        assert!(claims.take_for_good("lesson", Keep::UntilClear));
        claims.forget_all().unwrap();
    }

    #[test]
    fn a_reset_does_not_race_with_claims_being_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        let resets = 200;
        let won = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let claims = claims(&root, "s", None);
                    for _ in 0..2_000 {
                        won.fetch_add(
                            u32::from(claims.take_for_good("lesson", Keep::UntilCompaction)),
                            Ordering::Relaxed,
                        );
                    }
                });
            }
            scope.spawn(|| {
                let claims = claims(&root, "s", None);
                (0..resets).for_each(|_| claims.forget_compacted().unwrap());
            });
        });
        let won = won.into_inner();
        assert!((1..=resets + 1).contains(&won), "one win per generation, not {won}");
    }

    #[test]
    fn old_sessions_and_leftovers_are_cleaned_up() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("claims");
        let (current, other) = (claims(&root, "current", None), claims(&root, "other", None));
        assert!(
            current.take_for_good("lesson", Keep::UntilClear)
                && other.take_for_good("lesson", Keep::UntilClear)
        );
        fs::create_dir(root.join(".forgotten-1-2-3")).unwrap();
        current.clean_up(Timestamp::now());
        assert!(other.is_taken("lesson"));
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
        let later = Timestamp::from_millis(Timestamp::now().millis() + KEEP_MILLIS + 60_000);
        current.clean_up(later);
        assert!(!other.is_taken("lesson") && current.is_taken("lesson"));
    }
}
