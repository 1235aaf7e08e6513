//! Reads standard input, once and to its end.

use std::io::{self, Read as _};

/// The most input that is read; what is larger is treated as bad input.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// What a pipe holds unless told otherwise: most inputs are smaller.
const PIPE_BYTES: u64 = 64 * 1024;

/// The room that is made for an input larger than a pipe.
const LARGE_INPUT_BYTES: usize = 4 * 1024 * 1024;

/// Returns all of standard input.
pub(crate) fn read() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::with_capacity(16 * 1024);
    stdin.by_ref().take(PIPE_BYTES).read_to_end(&mut input)?;
    if input.len() as u64 == PIPE_BYTES {
        base::system::widen_input();
        // Asked for at once, a page costs only when it is used; growing step by step copies what is there each time.
        input.reserve(LARGE_INPUT_BYTES);
        stdin.take(MAX_BYTES + 1 - PIPE_BYTES).read_to_end(&mut input)?;
    }
    if input.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more than 256 MiB"));
    }
    Ok(input)
}
