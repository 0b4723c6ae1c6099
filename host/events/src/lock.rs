//! Locks that a panic does not poison.
//!
//! Decision: nothing under these locks calls foreign code (listeners, subscribers of the log), so that a panic of theirs never
//! leaves half a change behind, and what is guarded can be used on. The one exception is the sampler, whose lock guards nothing
//! but itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guarded value.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
