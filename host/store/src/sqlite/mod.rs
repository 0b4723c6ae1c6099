//! The store in a SQLite file: rows, indexes, and one transaction per group.
//!
//! Decision: SQLite in WAL mode, one connection that writes and one that reads, each on a thread of its own. With groups of commits it
//! writes more rows a second than a polite crawl of one machine ever makes, it is by far the best tested engine there is, and a job can be
//! looked at with `sqlite3`. What it costs: one writer, and one machine. The same code over a database in memory is
//! [`crate::MemoryStore`].

mod check;
mod commit;
mod counters;
mod crawls;
mod datasets;
mod desk;
mod effects;
mod errors;
mod events;
mod failed_requests;
mod job_items;
mod key_values;
mod known;
mod learning;
mod look;
mod notes;
mod requests;
mod revisit;
mod rows;
mod schema;
mod session_cookies;
mod session_endings;
mod sessions;
mod sinks;
mod sites;
mod snapshot;
mod state;
mod status;
mod tables;
#[cfg(test)]
mod tests;
mod trouble;
mod worker;

pub use failed_requests::FailedRequests;
pub use job_items::JobItems;
pub(crate) use rows::{Backed, Rows};
pub use snapshot::{JobSnapshot, Pull, RequestPart};
pub use status::{list_crawls, read_status, read_status_of};

use crate::{JobDir, JobLock, StoreError};
use known::KnownKeys;

/// What a commit that was acknowledged survives (S5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The death of the process. The default: the disk is synchronised when the log is folded into the file.
    #[default]
    Kill,
    /// Loss of power too: the disk is synchronised at each commit.
    PowerLoss,
}

/// A store in a job's folder.
pub struct SqliteStore {
    rows: Rows,
}

impl SqliteStore {
    /// Opens the job in `dir`, or makes it. Blocks while it does.
    ///
    /// # Errors
    /// S8: [`StoreError::NewerFormat`], [`StoreError::NotAJob`], [`StoreError::Damaged`], and then nothing has changed.
    pub fn open(dir: JobDir, lock: JobLock, durability: Durability) -> Result<Self, StoreError> {
        Ok(Self { rows: Rows::in_file(&dir, lock, durability, KnownKeys::new())? })
    }
}

impl Backed for SqliteStore {
    fn rows(&self) -> &Rows {
        &self.rows
    }
}

/// A limit as SQL takes it.
fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
