//! Where a plugin's memory comes from.
//!
//! Decision: first from a fixed piece of the memory that a sandbox begins with, taken from its front to its end; what does not fit comes
//! from the standard allocator, which asks the host for more. A page's call seldom needs more than the piece, and then the host has
//! nothing to map, to fault in and to take back, which would cost it more than everything that a small handler does. Only the last
//! allocation of the piece is given back or grows in place: enough for text that is built up, and what is lost by it is no more than
//! the piece.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;

/// Bytes of the piece. With a stack of 128 KiB and up to 8 KiB of data they make three pages of WebAssembly, with up to 72 KiB four. The
/// host clears these between two calls, so that every page costs every call about a microsecond.
const PIECE: usize = 56 << 10;

/// The allocator of a plugin.
pub(crate) struct Heap(UnsafeCell<Piece>);

#[repr(C, align(16))]
struct Piece {
    bytes: [u8; PIECE],
    /// How many of them are taken.
    taken: usize,
}

// SAFETY: it is the allocator of components for `wasm32-unknown-unknown` only, and a sandbox has one thread.
unsafe impl Sync for Heap {}

impl Heap {
    pub(crate) const fn new() -> Self {
        Heap(UnsafeCell::new(Piece { bytes: [0; PIECE], taken: 0 }))
    }

    /// The first byte of the piece.
    fn start(&self) -> *mut u8 {
        self.0.get().cast()
    }

    fn taken(&self) -> usize {
        // SAFETY: no reference into the piece is ever made but by those who allocated from it, and `taken` is not theirs.
        unsafe { (*self.0.get()).taken }
    }

    fn take_to(&self, end: usize) {
        // SAFETY: as above.
        unsafe { (*self.0.get()).taken = end }
    }

    /// Memory of the piece; `None` if there is not enough left.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        // The piece itself may be aligned to less than what is asked for.
        let start = self.start().addr();
        let place = (start + self.taken()).next_multiple_of(layout.align()) - start;
        let end = place.checked_add(layout.size()).filter(|end| *end <= PIECE)?;
        self.take_to(end);
        // SAFETY: it is within the piece.
        Some(unsafe { self.start().add(place) })
    }

    /// Where in the piece an allocation begins; `None` if it is not of the piece.
    fn place(&self, allocation: *mut u8) -> Option<usize> {
        allocation.addr().checked_sub(self.start().addr()).filter(|place| *place < PIECE)
    }
}

// SAFETY: what the piece gives is aligned, within it, and not given again before it was given back, which only the last allocation
// is; everything else is the standard allocator's.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        self.take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(allocation) => {
                // SAFETY: it was just given, with this size; who had it before may have written to it.
                unsafe { allocation.write_bytes(0, layout.size()) };
                allocation
            }
            // What is fresh from the host is zero already, and the standard allocator knows what is.
            // SAFETY: the caller's promises are passed on.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, allocation: *mut u8, layout: Layout) {
        match self.place(allocation) {
            Some(place) if place + layout.size() == self.taken() => self.take_to(place),
            Some(_) => {}
            // SAFETY: it did not come from the piece, so it came from there.
            None => unsafe { System.dealloc(allocation, layout) },
        }
    }

    unsafe fn realloc(&self, allocation: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(place) = self.place(allocation) else {
            // SAFETY: it did not come from the piece, so it came from there.
            return unsafe { System.realloc(allocation, layout, size) };
        };
        if place + layout.size() == self.taken() && place.checked_add(size).is_some_and(|end| end <= PIECE) {
            self.take_to(place + size);
            return allocation;
        }
        // What it no longer needs is lost, which is less than a copy of it.
        if size <= layout.size() {
            return allocation;
        }
        // SAFETY: the new size is the caller's, who promises that it makes a layout; the two do not overlap.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(allocation, layout.size().min(size));
                self.dealloc(allocation, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn the_last_allocation_grows_in_place_and_is_given_back() {
        let heap = Box::new(Heap::new());
        // SAFETY: what is allocated is given back with its layout, and nothing is touched after.
        unsafe {
            let first = heap.alloc(layout(10, 1));
            first.write_bytes(7, 10);
            assert_eq!(heap.realloc(first, layout(10, 1), 100), first);
            let second = heap.alloc(layout(8, 8));
            assert_eq!((second.addr() % 8, heap.taken()), (0, second.addr() - first.addr() + 8));
            assert_eq!(heap.realloc(first, layout(100, 1), 90), first, "less needs no other place");
            let moved = heap.realloc(first, layout(90, 1), 200);
            assert!(moved > second && *moved.add(9) == 7, "it was not the last");
            heap.dealloc(moved, layout(200, 1));
            heap.dealloc(second, layout(8, 8));
            let clean = heap.alloc_zeroed(layout(300, 1));
            assert!((0..300).all(|at| *clean.add(at) == 0), "where others have written");
            heap.dealloc(clean, layout(300, 1));
            assert_eq!(heap.taken(), second.addr() - first.addr());
        }
    }

    #[test]
    fn what_does_not_fit_comes_from_the_standard_allocator() {
        let heap = Box::new(Heap::new());
        // SAFETY: as above.
        unsafe {
            let most = heap.alloc(layout(PIECE - 1, 1));
            let more = heap.alloc(layout(16, 1));
            assert!(heap.place(most) == Some(0) && heap.place(more).is_none());
            let grown = heap.realloc(most, layout(PIECE - 1, 1), PIECE + 1);
            assert!(heap.place(grown).is_none() && heap.taken() == 0);
            let aligned = heap.alloc(layout(64, 4_096));
            assert_eq!(aligned.addr() % 4_096, 0);
            heap.dealloc(more, layout(16, 1));
            heap.dealloc(grown, layout(PIECE + 1, 1));
            if heap.place(aligned).is_none() {
                heap.dealloc(aligned, layout(64, 4_096));
            }
        }
    }
}
