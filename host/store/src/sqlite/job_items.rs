//! The items of a job as one moment has them, for a reader that may be slow.
//!
//! Decision: items are only ever added, in the order of one sequence, so that the last number of a moment is all that has to be
//! remembered of it. Each slice is a look of its own: between two of them nothing of the job is held, neither its lock, which
//! would refuse a start, nor a moment of its log, which would grow until the disk is full. What that costs: the job is opened for
//! each slice (a fifth of a millisecond), but for one whose process died, where the connection is kept, since the engine would
//! read the whole log each time.

use super::crawls;
use super::datasets::{self, Cut};
use super::look::{Footing, look};
use super::trouble::{Done, Trouble};
use crate::{CrawlRecord, DatasetSlice, JobDir, StoreError};
use nephila_model::DatasetName;
use rusqlite::Connection;
use std::sync::{Mutex, PoisonError};

/// All items that a crawl had at a moment, and those of the datasets that it shares.
pub struct JobItems {
    dir: JobDir,
    crawl: CrawlRecord,
    /// The last sequence of the moment.
    until: i64,
    /// Never inside a transaction.
    kept: Mutex<Option<Connection>>,
}

impl JobItems {
    /// The items of the moment that `connection` is in.
    pub(super) fn of(dir: &JobDir, crawl: &CrawlRecord, connection: &Connection) -> Done<Self> {
        let last = connection.query_row("SELECT ifnull(max(sequence), 0) FROM items", [], |row| row.get(0))?;
        Ok(Self { dir: dir.clone(), crawl: crawl.clone(), until: last, kept: Mutex::new(None) })
    }

    /// Items of a dataset after a cursor: as [`crate::Store::dataset_slice`], to the end of the moment. Blocks.
    ///
    /// # Errors
    /// If the job cannot be read, or another one is in its place by now.
    pub fn slice(&self, dataset: &DatasetName, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        let cut = Cut { rows: limit, bytes: max_bytes };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let slice = match &*kept {
            Some(connection) => datasets::slice(connection, self.crawl.id, dataset, after, cut),
            None => {
                let look = look(&self.dir)?.ok_or_else(|| StoreError::NoJob { dir: self.dir.path().to_owned() })?;
                let slice = self
                    .check(&look.connection)
                    .and_then(|()| datasets::slice(&look.connection, self.crawl.id, dataset, after, cut));
                if slice.is_ok() && matches!(look.footing, Footing::Died) {
                    *kept = Some(look.connection);
                }
                slice
            }
        };
        let mut slice =
            slice.map_err(|trouble| trouble.into_error("read the job", &self.dir.database().display().to_string()))?;
        let in_time = slice.rows.partition_point(|row| row.sequence <= self.until);
        if in_time < slice.rows.len() {
            slice.rows.truncate(in_time);
            slice.more = false;
        }
        Ok(slice)
    }

    fn check(&self, connection: &Connection) -> Done<()> {
        let found = crawls::of_crawler(connection, &self.crawl.crawler_id)?;
        match found {
            Some(found) if (found.id, found.created_at) == (self.crawl.id, self.crawl.created_at) => Ok(()),
            _ => Err(Trouble::Damaged("another job has taken its place while it was read".to_owned())),
        }
    }
}
