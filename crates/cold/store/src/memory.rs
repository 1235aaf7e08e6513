//! SQLite's memory in a program that soon ends: from the program's own allocator.
//!
//! A hook has an allocator that asks the system for nothing (`hook::Arena`). SQLite would use that of the C library beside it,
//! which asks for a page at a time. Since the hook's allocator does not reuse what it gave out, pieces that SQLite gives back
//! are kept here for its next ones: each page that is touched costs as much as hundreds of instructions.

#![expect(unsafe_code, reason = "SQLite is handed raw memory")]

use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// What is before each piece: its size. Also what pieces are aligned to; SQLite expects 8.
const HEADER_BYTES: usize = 16;
/// The largest piece that is kept, with its header, as a power of two.
const MOST_BITS: usize = 17;
/// Sizes in each power of two.
const STEPS: usize = 4;

/// The pieces that SQLite gave back, by their size: the address of the last one, in which that of the one before is, or 0.
static KEPT: Mutex<[usize; (MOST_BITS + 1) * STEPS]> = Mutex::new([0; (MOST_BITS + 1) * STEPS]);

/// Has SQLite use the program's allocator. To be called at the beginning of `main`, while there is one thread; later it has no
/// effect.
pub fn use_allocator_of_program() {
    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(give),
        xFree: Some(take_back),
        xRealloc: Some(resize),
        xSize: Some(size),
        xRoundup: Some(rounded),
        xInit: Some(begin),
        xShutdown: Some(end),
        pAppData: ptr::null_mut(),
    };
    // SAFETY: SQLite copies the table. It refuses both once it has begun, and no other thread can begin it meanwhile.
    // Without statistics it takes no lock of its own for each piece. What it would ask for at once for many pages and small pieces,
    // it would go through, and touch, to the end; each of them is quickly got here.
    unsafe {
        let _ = ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods);
        let _ = ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0 as c_int);
        let nothing = ptr::null_mut::<c_void>();
        let _ = ffi::sqlite3_config(ffi::SQLITE_CONFIG_PAGECACHE, nothing, 0 as c_int, 0 as c_int);
        let _ = ffi::sqlite3_config(ffi::SQLITE_CONFIG_LOOKASIDE, 0 as c_int, 0 as c_int);
    }
}

/// How large a piece is with its header, and where such pieces are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    bytes: usize,
    place: Option<usize>,
}

impl Class {
    /// Returns the class of a piece of at least so many bytes; `None` for one that no memory has.
    fn of(bytes: c_int) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?.max(1).checked_add(HEADER_BYTES)?;
        // The least power of two that it fits into; at least 5, because of the header.
        let bits = bytes.next_power_of_two().trailing_zeros() as usize;
        if bits > MOST_BITS {
            return Some(Self { bytes, place: None });
        }
        let step = (1 << bits) / (2 * STEPS);
        let bytes = bytes.next_multiple_of(step.max(HEADER_BYTES));
        Some(Self { bytes, place: Some(bits * STEPS + bytes / step - STEPS - 1) })
    }

    /// Returns the size without the header.
    fn usable(self) -> c_int {
        c_int::try_from(self.bytes - HEADER_BYTES).unwrap_or(c_int::MAX)
    }

    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.bytes, HEADER_BYTES).ok()
    }
}

unsafe extern "C" fn give(bytes: c_int) -> *mut c_void {
    let Some((class, layout)) = Class::of(bytes).and_then(|class| Some((class, class.layout()?))) else {
        return ptr::null_mut();
    };
    if let Some(place) = class.place {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = kept[place] as *mut c_void;
        if !piece.is_null() {
            // SAFETY: a piece that is kept is in no other use and begins with the address of the one before it.
            kept[place] = unsafe { piece.cast::<usize>().read() };
            return piece;
        }
    }
    // SAFETY: the layout has room for the header, whose alignment it has.
    unsafe {
        let begin = alloc(layout);
        if begin.is_null() {
            return ptr::null_mut();
        }
        begin.cast::<c_int>().write(class.usable());
        begin.add(HEADER_BYTES).cast()
    }
}

unsafe extern "C" fn take_back(piece: *mut c_void) {
    // SAFETY: SQLite gives back null or what `give` returned, whose size leads to its class.
    let class = unsafe { Class::of(size(piece)) };
    match class {
        Some(Class { place: Some(place), .. }) if !piece.is_null() => {
            let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: every piece has room for an address and is aligned for it; SQLite uses this one no more.
            unsafe { piece.cast::<usize>().write(kept[place]) };
            kept[place] = piece as usize;
        }
        Some(class) if !piece.is_null() => {
            let Some(layout) = class.layout() else { return };
            // SAFETY: it was allocated with its header and this layout.
            unsafe { dealloc(piece.cast::<u8>().sub(HEADER_BYTES), layout) }
        }
        _ => {}
    }
}

unsafe extern "C" fn resize(piece: *mut c_void, bytes: c_int) -> *mut c_void {
    // SAFETY: SQLite passes what `give` returned, and uses the old piece no more where it gets another.
    unsafe {
        let has = size(piece);
        if bytes <= has {
            return piece;
        }
        let new = give(bytes);
        if !new.is_null() {
            ptr::copy_nonoverlapping(
                piece.cast::<u8>(),
                new.cast(),
                usize::try_from(has).unwrap_or_default(),
            );
            take_back(piece);
        }
        new
    }
}

unsafe extern "C" fn size(piece: *mut c_void) -> c_int {
    if piece.is_null() {
        return 0;
    }
    // SAFETY: each piece has a header before it, which says its size.
    unsafe { piece.cast::<u8>().sub(HEADER_BYTES).cast::<c_int>().read() }
}

unsafe extern "C" fn rounded(bytes: c_int) -> c_int {
    Class::of(bytes).map_or(bytes, Class::usable)
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_class_that_holds_it_and_is_its_own() {
        let mut last = Class { bytes: 0, place: None };
        let mut places = std::collections::BTreeMap::new();
        for bytes in (1..300_000).chain([c_int::MAX]) {
            let class = Class::of(bytes).unwrap();
            assert!(class.usable() >= bytes && class.bytes >= last.bytes, "{bytes}: {class:?}");
            assert_eq!(Class::of(class.usable()), Some(class), "what is given back goes where it came from");
            assert!(class.bytes <= bytes as usize * 5 / 4 + 2 * HEADER_BYTES, "{bytes}: {class:?}");
            if let Some(place) = class.place {
                assert_eq!(*places.entry(place).or_insert(class.bytes), class.bytes, "{bytes}");
                assert!(place < (MOST_BITS + 1) * STEPS && class.bytes.is_multiple_of(HEADER_BYTES));
            }
            last = class;
        }
        assert_eq!(Class::of(-1), None);
    }

    #[test]
    fn a_piece_keeps_its_bytes_when_it_grows_and_is_used_again_when_it_is_free() {
        // SAFETY: pieces are used as SQLite uses them: within their size, and not after they were given back.
        unsafe {
            for bytes in [1, 40, 4_000, 1 << 20] {
                let piece = give(bytes);
                assert!(
                    !piece.is_null() && size(piece) >= bytes && piece.cast::<u8>().addr().is_multiple_of(16)
                );
                piece.cast::<u8>().write_bytes(7, bytes as usize);
                let grown = resize(piece, bytes * 3);
                let kept = std::slice::from_raw_parts(grown.cast::<u8>(), bytes as usize);
                assert!(kept.iter().all(|byte| *byte == 7) && size(grown) >= bytes * 3);
                take_back(grown);
            }
            let large = give(65_000);
            take_back(large);
            assert_eq!(give(64_990), large);
            take_back(large);
            take_back(ptr::null_mut());
            assert!(give(-1).is_null());
        }
    }
}
