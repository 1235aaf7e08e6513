//! One key of the person's, without Enter where the terminal can do that.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix::read;

use std::io;

/// What a key press was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Enter,
    /// Ctrl-C, Ctrl-D, or the end of the input.
    End,
    Other,
}

/// Waits for a key. `None` where standard input is no terminal that gives single keys: then a line is read instead.
pub(crate) fn wait() -> io::Result<Option<Key>> {
    Ok(read()?.map(of))
}

#[cfg(not(unix))]
fn read() -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

/// Returns what the bytes of a key press mean. Of several keys at once the first counts: nothing is decided about what was not
/// shown yet.
fn of(bytes: Vec<u8>) -> Key {
    match bytes.first() {
        None | Some(3 | 4) => Key::End,
        Some(b'\r' | b'\n') => Key::Enter,
        Some(byte) if byte.is_ascii_graphic() => Key::Letter(char::from(*byte)),
        Some(_) => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_counts() {
        for (bytes, key) in [
            (&b"p"[..], Key::Letter('p')),
            (b"pa", Key::Letter('p')),
            (b"\r", Key::Enter),
            (b"\x1b[A", Key::Other),
            (b"\x03", Key::End),
            (b"", Key::End),
        ] {
            assert_eq!(of(bytes.to_vec()), key, "{bytes:?}");
        }
    }
}
