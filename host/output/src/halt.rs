//! How an export is told from outside that it is not wanted any more.
//!
//! Decision: a flag that is looked at before each file. The export clears away what it has written, which only it can know; a
//! process that just ended would leave it. What it costs: a single value is written to its end first.

use crate::StorageError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends an export early. A clone is the same one.
#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// From now on the export comes to its end with [`StorageError::Stopped`].
    pub fn call(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<(), StorageError> {
        if self.0.load(Ordering::Relaxed) { Err(StorageError::Stopped) } else { Ok(()) }
    }
}
