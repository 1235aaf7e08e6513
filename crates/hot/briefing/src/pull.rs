//! Fetches: starts `wyren sync` in the background and waits for it within the hook's budget.
//!
//! The result is in `.wyren/state/fetch.json`, and so is how long the last sync took. A hook waits only where that says that
//! the answer will come in time; else the sync goes on alone, and the news comes with a later tool call or prompt.

use base::{Paths, Timestamp, detached, digest, files};
use hook::Host;
use place::{FetchState, Folder, Place, SIDE_BRANCH};
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::Error;
use crate::snapshot::{age_millis, touch};

/// How long the beginning of a session waits for the remote at most.
pub const START_PATIENCE: Duration = Duration::from_millis(1_500);

/// How long to pause between two looks at a program that is still running.
const PAUSE: Duration = Duration::from_millis(2);

/// How often a clone that shows no sign of a team's memory is offered one.
const OFFER_MILLIS: u64 = 24 * 60 * 60 * 1_000;

const SYNC: [&str; 2] = ["sync", "--background"];
const DISCOVER: [&str; 2] = ["sync", "--discover"];

/// Starts `wyren` with some arguments in a folder; it outlives the caller.
pub type Launch<'a> = dyn Fn(&[&str], &Path) -> io::Result<Child> + 'a;

/// Starts the `wyren` in the folder of this program.
pub fn launch(paths: &Paths, arguments: &[&str], folder: &Path) -> io::Result<Child> {
    let program = detached::beside_us("wyren")?;
    detached::command(&program, paths)?.args(arguments).current_dir(folder).spawn()
}

/// Whether a hook waited for the remote's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pulled {
    /// The remote was not asked, or its answer is not waited for.
    NotAwaited,
    /// It was: what is on disk may have changed.
    Awaited,
}

/// Asks at the beginning of a session.
pub(crate) fn at_start(folder: &Folder, host: &Host, launch: &Launch<'_>) -> Result<Pulled, Error> {
    let Some(place) = askable(folder, host) else { return Ok(Pulled::NotAwaited) };
    let state = FetchState::read(&folder.wyren);
    if state.backing_off(host.started).is_some() || place.repository.remote().is_none() {
        return Ok(Pulled::NotAwaited);
    }
    // A remote that was never measured may be quick, and a session begins but once.
    let is_in_time = state.took_ms.is_none() || takes_less_than(START_PATIENCE, &state);
    ask(
        &SYNC,
        place,
        if state.is_answering() && is_in_time { START_PATIENCE } else { Duration::ZERO },
        launch,
    )
}

/// Asks at a prompt, when the last time is long enough ago.
pub(crate) fn at_prompt(
    folder: &Folder,
    state: &FetchState,
    host: &Host,
    launch: &Launch<'_>,
) -> Result<Pulled, Error> {
    let Some(place) = due(folder, state, host) else { return Ok(Pulled::NotAwaited) };
    let patience = Duration::from_millis(host.settings().number("memory.wait_ms"));
    ask(&SYNC, place, if takes_less_than(patience, state) { patience } else { Duration::ZERO }, launch)
}

/// Asks at the end of a turn, when the last time is long enough ago, so that the next prompt finds the answer.
pub fn at_stop(folder: &Folder, host: &Host) -> Result<(), Error> {
    at_stop_with(folder, host, &|arguments, folder| self::launch(&host.paths, arguments, folder))
}

/// Asks at the end of a turn; `launch` starts what asks the remote.
pub fn at_stop_with(folder: &Folder, host: &Host, launch: &Launch<'_>) -> Result<(), Error> {
    let Some(place) = due(folder, &FetchState::read(&folder.wyren), host) else { return Ok(()) };
    ask(&SYNC, place, Duration::ZERO, launch).map(drop).inspect_err(|error| error.note(&folder.wyren, ""))
}

/// Looks for a team's memory on the remote of a clone that has none, and returns it once it is here.
pub(crate) fn discover(cwd: &Path, host: &Host, launch: &Launch<'_>) -> Result<Option<Folder>, Error> {
    let settings = host.settings();
    if !settings.is_on("memory.discover") || !settings.is_on("memory.pull") {
        return Ok(None);
    }
    let Some(place) = Place::find(cwd).filter(Place::wants_discovery) else { return Ok(None) };
    let Some((remote, _)) = place.repository.remote() else { return Ok(None) };
    let common = &place.repository.common_folder;
    let mut patience = START_PATIENCE;
    if !has_sign(common, &remote) {
        let name = digest::short_hex(common.as_os_str().as_encoded_bytes());
        let offer = host.paths.cache().join("offers").join(name);
        let age = age_millis(&offer, host.started);
        if age.is_some_and(|age| age < OFFER_MILLIS) {
            return Ok(None);
        }
        // Only a clone that was never asked for waits, so that a teammate's first session knows what the team knows. Where
        // the remote had nothing before it will hardly have now: what it has after all, the next session gets.
        if age.is_some() {
            patience = Duration::ZERO;
        }
        // Noted first: a remote that hangs is not asked at the next start again.
        touch(&offer, host.started)?;
    }
    ask(&DISCOVER, &place, patience, launch)?;
    Ok(Folder::of_place(place))
}

/// Returns the repository when the user lets hooks ask its remote.
fn askable<'a>(folder: &'a Folder, host: &Host) -> Option<&'a Place> {
    folder.place.as_ref().filter(|_| host.settings().is_on("memory.pull"))
}

/// Returns the repository whose remote is to be asked now.
fn due<'a>(folder: &'a Folder, state: &FetchState, host: &Host) -> Option<&'a Place> {
    let pause = host.settings().number("memory.fetch_seconds").saturating_mul(1_000);
    let is_due = is_due(state, host.started, pause) && state.backing_off(host.started).is_none();
    askable(folder, host).filter(|place| is_due && place.repository.remote().is_some())
}

/// Returns whether a sync is known to end within `patience`, because the last one did.
fn takes_less_than(patience: Duration, state: &FetchState) -> bool {
    let took = state.took_ms.map(Duration::from_millis);
    state.is_answering() && took.is_some_and(|took| took < patience)
}

/// Returns whether the last look at the remote is `pause` milliseconds ago.
fn is_due(state: &FetchState, now: Timestamp, pause: u64) -> bool {
    let last = Timestamp::from_millis(state.tried_at.max(state.fetched_at));
    // A clock that was set back must not keep us from asking.
    last > now || now.millis_since(last) >= pause
}

fn ask(arguments: &[&str], place: &Place, patience: Duration, launch: &Launch<'_>) -> Result<Pulled, Error> {
    let started = launch(arguments, &place.repository.root);
    let child = started.map_err(|source| Error::Start { command: arguments.join(" "), source })?;
    if patience.is_zero() {
        return Ok(Pulled::NotAwaited);
    }
    wait(child, patience);
    Ok(Pulled::Awaited)
}

/// Waits for a program to end; one that takes longer than `patience` is left alone.
fn wait(mut child: Child, patience: Duration) {
    let deadline = Instant::now() + patience;
    while matches!(child.try_wait(), Ok(None)) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(PAUSE));
    }
}

/// Returns whether the user's own fetches have seen the branch of a team's memory.
fn has_sign(common: &Path, remote: &str) -> bool {
    let reference = format!("refs/remotes/{remote}/{SIDE_BRANCH}");
    if common.join(&reference).is_file() {
        return true;
    }
    let packed = common.join("packed-refs");
    let names = |line: &str| line.split_once(' ').is_some_and(|(_, name)| name == reference);
    files::read_followed(&packed, files::cap::PACKED_REFS)
        .is_ok_and(|text| String::from_utf8_lossy(&text).lines().any(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn state(tried_at: u64, fetched_at: u64, failures: u32) -> FetchState {
        FetchState { tried_at, fetched_at, failures, ..FetchState::default() }
    }

    #[test]
    fn a_look_is_due_when_the_last_one_is_old_or_lies_in_the_future() {
        let now = Timestamp::from_millis(100_000);
        assert!(is_due(&state(0, 0, 0), now, 5_000));
        assert!(!is_due(&state(96_000, 0, 0), now, 5_000));
        assert!(!is_due(&state(90_000, 96_000, 0), now, 5_000));
        assert!(is_due(&state(90_000, 95_000, 0), now, 5_000));
        assert!(is_due(&state(200_000, 0, 0), now, 5_000));
        assert!(is_due(&state(100_000, 100_000, 0), now, 0));
    }

    #[test]
    fn a_look_is_waited_for_when_the_last_one_was_answered_in_less_time() {
        let took = |took_ms, state: FetchState| FetchState { took_ms, ..state };
        let hundred = Duration::from_millis(100);
        assert!(takes_less_than(hundred, &took(Some(99), state(5, 6, 0))));
        assert!(!takes_less_than(hundred, &took(Some(100), state(5, 6, 0))));
        assert!(!takes_less_than(Duration::ZERO, &took(Some(0), state(5, 6, 0))));
        assert!(!takes_less_than(hundred, &took(None, state(5, 6, 0))), "never measured");
        assert!(!takes_less_than(hundred, &took(Some(40), state(7, 6, 0))), "under way, or cut");
        assert!(!takes_less_than(hundred, &took(Some(40), state(5, 6, 1))), "failed");
    }

    #[test]
    fn a_sign_is_a_loose_or_a_packed_reference_of_that_very_name() {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("packed-refs");
        assert!(!has_sign(folder.path(), "origin"));
        fs::write(&packed, "# pack-refs with: peeled\n01 refs/remotes/origin/wyren/memory-2\n").unwrap();
        assert!(!has_sign(folder.path(), "origin"));
        fs::write(&packed, "01 refs/heads/main\n02 refs/remotes/origin/wyren/memory\n").unwrap();
        assert!(has_sign(folder.path(), "origin") && !has_sign(folder.path(), "fork"));
        fs::create_dir_all(folder.path().join("refs/remotes/fork/wyren")).unwrap();
        fs::write(folder.path().join("refs/remotes/fork/wyren/memory"), "01\n").unwrap();
        assert!(has_sign(folder.path(), "fork"));
    }
}
