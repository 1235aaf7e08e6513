use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, IsTerminal as _, Read as _};

/// The most bytes of one key press.
const MAX_KEY: usize = 16;

/// Gives the terminal back as it was.
struct Restore(Termios);

impl Drop for Restore {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Returns the bytes of one key press; none at the end of the input.
pub(super) fn read() -> io::Result<Option<Vec<u8>>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let Ok(before) = tcgetattr(io::stdin()) else { return Ok(None) };
    let mut single = before.clone();
    // Ctrl-C is a key, too: a signal would leave the terminal without an echo.
    single.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    let _restore = Restore(before);
    if tcsetattr(io::stdin(), OptionalActions::Now, &single).is_err() {
        return Ok(None);
    }
    let mut bytes = [0; MAX_KEY];
    let count = io::stdin().lock().read(&mut bytes)?;
    Ok(Some(bytes[..count].to_vec()))
}
