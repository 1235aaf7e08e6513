//! Looking for a byte, in a way that suits a program of a fraction of a millisecond.

/// From this size on it pays to ask the processor what it can do, which takes some 70 µs in a virtual machine.
const LARGE_BYTES: usize = 64 * 1024;

/// Returns the first position of `byte`.
pub fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() >= LARGE_BYTES {
        return memchr::memchr(byte, bytes);
    }
    bytes.iter().position(|other| *other == byte)
}

/// Returns the first position of either byte.
pub fn find_either(one: u8, two: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() >= LARGE_BYTES {
        return memchr::memchr2(one, two, bytes);
    }
    bytes.iter().position(|other| *other == one || *other == two)
}

/// Returns the first position of any of three bytes.
pub fn find_any([one, two, three]: [u8; 3], bytes: &[u8]) -> Option<usize> {
    if bytes.len() >= LARGE_BYTES {
        return memchr::memchr3(one, two, three, bytes);
    }
    bytes.iter().position(|other| *other == one || *other == two || *other == three)
}
