//! The store that is nowhere but in memory: for tests, trials and crawls that need no resuming.
//!
//! Decision: it is the SQLite store over a database in memory, with one connection for reading and writing. A second
//! implementation over maps would be a second commit with the same dozen rules, and each rule a chance that a crawl which was tried in
//! memory behaves otherwise in a job. What it costs: rows are bytes in a page cache, some microseconds each, and the memory grows with
//! them (the invariants S5 and S9 are the file's). An independent model of the queue, in maps, exists as the oracle of the
//! contract's random walk.

use crate::StoreError;
use crate::sqlite::{Backed, Rows};

/// A store in memory. It ends with its value.
pub struct MemoryStore {
    rows: Rows,
}

impl MemoryStore {
    /// An empty store.
    ///
    /// # Errors
    /// [`StoreError::Engine`] if the system gives no thread.
    pub fn new() -> Result<Self, StoreError> {
        Ok(Self { rows: Rows::in_memory()? })
    }
}

impl Backed for MemoryStore {
    fn rows(&self) -> &Rows {
        &self.rows
    }
}
