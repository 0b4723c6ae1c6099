//! The items of a job as one moment has them, for a reader that may be slow.
//!
//! Decision: items are only ever added, in the order of one sequence, so that the last number of a moment is all that has to be
//! remembered of it. Between two slices nothing of the job is held ([`Revisited`]).

use super::datasets::{self, Cut};
use super::revisit::Revisited;
use super::trouble::Done;
use crate::{CrawlRecord, DatasetSlice, JobDir, StoreError};
use nephila_model::DatasetName;
use rusqlite::Connection;

/// All items that a crawl had at a moment, and those of the datasets that it shares.
pub struct JobItems {
    job: Revisited,
    /// The last sequence of the moment.
    until: i64,
}

impl JobItems {
    /// The items of the moment that `connection` is in.
    pub(super) fn of(dir: &JobDir, crawl: &CrawlRecord, connection: &Connection) -> Done<Self> {
        let last = connection.query_row("SELECT ifnull(max(sequence), 0) FROM items", [], |row| row.get(0))?;
        Ok(Self { job: Revisited::of(dir, crawl), until: last })
    }

    /// Items of a dataset after a cursor: as [`crate::Store::dataset_slice`], to the end of the moment. Blocks.
    ///
    /// # Errors
    /// If the job cannot be read, or another one is in its place by now.
    pub fn slice(&self, dataset: &DatasetName, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        let cut = Cut { rows: limit, bytes: max_bytes };
        let mut slice = self.job.read(|rows| datasets::slice(rows, self.job.crawl().id, dataset, after, cut))?;
        let in_time = slice.rows.partition_point(|row| row.sequence <= self.until);
        if in_time < slice.rows.len() {
            slice.rows.truncate(in_time);
            slice.more = false;
        }
        Ok(slice)
    }
}
