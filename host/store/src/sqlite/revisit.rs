//! A job that is looked at again and again, for a reader that may be slow.
//!
//! Decision: each look is one of its own: between two of them nothing of the job is held, neither its lock, which would refuse a
//! start, nor a moment of its log, which would grow until the disk is full. What that costs: the job is opened for each look (a
//! fifth of a millisecond), but for one whose process died, where the connection is kept, since the engine would read the whole
//! log each time.

use super::crawls;
use super::look::{Footing, look};
use super::trouble::{Done, Trouble};
use crate::{CrawlRecord, JobDir, StoreError};
use rusqlite::Connection;
use std::sync::{Mutex, PoisonError};

/// A crawl of a job, looked at piece by piece.
pub(super) struct Revisited {
    dir: JobDir,
    crawl: CrawlRecord,
    /// Never inside a transaction.
    kept: Mutex<Option<Connection>>,
}

impl Revisited {
    pub(super) fn of(dir: &JobDir, crawl: &CrawlRecord) -> Self {
        Self { dir: dir.clone(), crawl: crawl.clone(), kept: Mutex::new(None) }
    }

    pub(super) const fn crawl(&self) -> &CrawlRecord {
        &self.crawl
    }

    /// One look. Blocks.
    ///
    /// # Errors
    /// If the job cannot be read, or another one is in its place by now.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Connection) -> Done<T>) -> Result<T, StoreError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match &*kept {
            Some(connection) => read(connection),
            None => {
                let look = look(&self.dir)?.ok_or_else(|| StoreError::NoJob { dir: self.dir.path().to_owned() })?;
                let found = self.check(&look.connection).and_then(|()| read(&look.connection));
                if found.is_ok() && matches!(look.footing, Footing::Died) {
                    *kept = Some(look.connection);
                }
                found
            }
        };
        found.map_err(|trouble| trouble.into_error("read the job", &self.dir.database().display().to_string()))
    }

    fn check(&self, connection: &Connection) -> Done<()> {
        let found = crawls::of_crawler(connection, &self.crawl.crawler_id)?;
        match found {
            Some(found) if (found.id, found.created_at) == (self.crawl.id, self.crawl.created_at) => Ok(()),
            _ => Err(Trouble::Damaged("another job has taken its place while it was read".to_owned())),
        }
    }
}
