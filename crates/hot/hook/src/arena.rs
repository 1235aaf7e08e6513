//! An allocator for programs that live for less than a millisecond.
//!
//! A hook allocates a little, ends, and the system takes everything back. Handing out pieces of one region, which costs
//! no system call and touches no page before it is used, suits that better than an allocator made for long lives: with
//! musl's, half of a hook's system calls were for memory. What does not fit goes to the system's allocator.

#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the region: enough for all that is made of a long script. What is not used costs nothing.
const REGION_BYTES: usize = 2 * 1024 * 1024;

/// The largest piece of the region. What is larger tends to grow, which the system's allocator does without copying.
const PIECE_BYTES: usize = 128 * 1024;

/// Hands out pieces of one region and takes back only the last one.
///
/// ```no_run
/// #[global_allocator]
/// static ARENA: hook::Arena = hook::Arena::new();
/// ```
#[derive(Debug)]
pub struct Arena {
    region: Region,
    used: AtomicUsize,
}

#[derive(Debug)]
#[repr(align(16))]
struct Region(UnsafeCell<[u8; REGION_BYTES]>);

// SAFETY: pieces of the region are handed out once each, by an atomic step, so no two threads share one.
unsafe impl Sync for Arena {}

impl Arena {
    /// Returns an arena of which nothing is used.
    pub const fn new() -> Self {
        Self { region: Region(UnsafeCell::new([0; REGION_BYTES])), used: AtomicUsize::new(0) }
    }

    fn start(&self) -> usize {
        self.region.0.get() as usize
    }

    /// Returns where in the region a piece begins; `None` for a piece of the system's.
    fn place_of(&self, piece: *mut u8) -> Option<usize> {
        (piece as usize).checked_sub(self.start()).filter(|place| *place < REGION_BYTES)
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: a piece is aligned as asked for, lies within the region, and overlaps no other that is in use: the mark
// `used` only moves by compare-and-exchange, and moves back only over the piece that was handed out last.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > PIECE_BYTES {
            // SAFETY: the caller's promises about the layout are passed on.
            return unsafe { System.alloc(layout) };
        }
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let begin = (self.start() + used).next_multiple_of(layout.align()) - self.start();
            let end = begin.saturating_add(layout.size());
            if end > REGION_BYTES {
                // SAFETY: the caller's promises about the layout are passed on.
                return unsafe { System.alloc(layout) };
            }
            match self.used.compare_exchange_weak(used, end, Ordering::Acquire, Ordering::Relaxed) {
                // SAFETY: `begin` is within the region.
                Ok(_) => return unsafe { self.region.0.get().cast::<u8>().add(begin) },
                Err(other) => used = other,
            }
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match self.place_of(piece) {
            // The last piece is taken back; any other stays until the end, which is near. What this thread wrote there comes
            // before what the next one writes that gets it.
            Some(place) => {
                let end = place + layout.size();
                let _ = self.used.compare_exchange(end, place, Ordering::Release, Ordering::Relaxed);
            }
            // SAFETY: what is not ours came from the system's allocator, with this layout.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(place) = self.place_of(piece) else {
            // SAFETY: what is not ours came from the system's allocator, with this layout.
            return unsafe { System.realloc(piece, layout, size) };
        };
        let (end, new_end) = (place + layout.size(), place.saturating_add(size));
        let is_grown = new_end <= REGION_BYTES
            && self.used.compare_exchange(end, new_end, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if is_grown {
            return piece;
        }
        if size <= layout.size() {
            return piece;
        }
        // SAFETY: the new layout is valid where the old one was: the caller promises that the size does not overflow.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(piece, moved, layout.size());
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an arena that was never on the stack, which is smaller than its region.
    fn arena() -> &'static Arena {
        // SAFETY: an arena of zeros is one of which nothing is used.
        unsafe { Box::leak(Box::<Arena>::new_zeroed().assume_init()) }
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let arena = arena();
        let mut last_end = 0;
        for (size, align) in [(1, 1), (8, 8), (3, 2), (64, 64), (5, 1), (16, 16)] {
            // SAFETY: the layouts are valid and the pieces are not used.
            let piece = unsafe { arena.alloc(layout(size, align)) } as usize;
            assert_eq!(piece % align, 0);
            assert!(piece >= last_end);
            last_end = piece + size;
        }
    }

    #[test]
    fn the_last_piece_grows_in_place_and_is_taken_back() {
        let arena = arena();
        // SAFETY: every piece is used as its layout says.
        unsafe {
            let first = arena.alloc(layout(16, 8));
            let last = arena.alloc(layout(16, 8));
            assert_eq!(arena.realloc(last, layout(16, 8), 1_000), last);
            first.write_bytes(7, 16);
            let moved = arena.realloc(first, layout(16, 8), 32);
            assert_ne!(moved, first);
            assert_eq!(*moved.add(15), 7);
            arena.dealloc(moved, layout(32, 8));
            assert_eq!(arena.alloc(layout(32, 8)), moved);
        }
    }

    #[test]
    fn what_does_not_fit_is_the_systems() {
        let arena = arena();
        // SAFETY: every piece is freed with the layout that it was made with.
        unsafe {
            let large = arena.alloc(layout(REGION_BYTES + 1, 8));
            assert_eq!(arena.place_of(large), None);
            let larger = arena.realloc(large, layout(REGION_BYTES + 1, 8), REGION_BYTES + 100);
            arena.dealloc(larger, layout(REGION_BYTES + 100, 8));
        }
    }
}
