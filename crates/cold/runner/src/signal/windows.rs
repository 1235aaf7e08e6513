use super::ASKED;
use std::sync::atomic::Ordering;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::core::BOOL;

/// Listens for Ctrl-C and Ctrl-Break from now on. A closed console or the end of the user's session ends the process at once,
/// as a kill does; `wyren worker stop` asks by a file.
#[expect(unsafe_code, reason = "the console's events are not in the standard library")]
pub(crate) fn listen() {
    unsafe extern "system" fn remember(event: u32) -> BOOL {
        let is_question = matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT);
        if is_question {
            ASKED.store(true, Ordering::Relaxed);
        }
        is_question.into()
    }
    // SAFETY: the handler runs in a thread of its own and only stores to an atomic.
    unsafe { SetConsoleCtrlHandler(Some(remember), 1) };
}
