//! Whether a process lives, for the process id in the Node version's running flag.

/// Returns whether there is a process with this id, as far as the system tells. The id may have been given to another
/// process since: callers also bound the age of what they know.
#[cfg(unix)]
pub fn is_alive(process: u32) -> bool {
    let Some(process) = libc::pid_t::try_from(process).ok().filter(|process| *process > 0) else {
        return false;
    };
    #[expect(unsafe_code, reason = "the standard library does not ask for a process")]
    // SAFETY: signal 0 is never delivered; the call only looks whether it could be.
    let found = unsafe { libc::kill(process, 0) } == 0;
    let is_there = found || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH);
    is_there && !is_zombie(process)
}

/// Returns whether a process has ended without being waited for: in a container, no process may do so.
#[cfg(target_os = "linux")]
fn is_zombie(process: libc::pid_t) -> bool {
    // Behind the name in brackets, which may hold anything: the state.
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let name_end = stat.iter().rposition(|byte| *byte == b')').unwrap_or(stat.len());
    matches!(stat.get(name_end + 2), Some(b'Z' | b'X'))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_zombie(_process: libc::pid_t) -> bool {
    false
}

/// Returns true: other systems do not tell, and a distillation that takes too long stops counting by itself.
#[cfg(not(unix))]
pub fn is_alive(_process: u32) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_living_process_is_distinguished_from_a_dead_one() {
        assert!(is_alive(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = child.id();
        // It ends without being waited for, and is no more alive then than afterwards.
        #[cfg(target_os = "linux")]
        while is_alive(process) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_alive(process));
        assert!(!is_alive(0) && !is_alive(u32::MAX));
    }
}
