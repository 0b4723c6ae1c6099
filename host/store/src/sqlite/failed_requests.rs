//! The requests of a crawl that have failed for good, for a reader that may be slow: a person who turns pages.
//!
//! Decision: they are read slice by slice, and nothing of the job is held between two of them ([`Revisited`]). There is no index
//! of them: all requests are looked through, so many in a slice that one takes milliseconds. The price: they are not of one
//! moment; one that fails while they are read is among them if the reading has not passed it.

use super::revisit::Revisited;
use super::trouble::Done;
use crate::{FailedRequest, JobDir, JobSnapshot, StoreError};
use nephila_model::{CrawlId, CrawlerId};
use rusqlite::{Connection, Row, params};
use std::vec;

/// Requests that one slice looks through, and those that it brings, at most.
const LOOKED_THROUGH: i64 = 10_000;
const BROUGHT: usize = 1_000;

pub(crate) const SLICE: &str = "SELECT id, url, original_url, label, retry_count, status, reason, message FROM requests
    WHERE id > ?1 AND id <= ?2 AND crawl = ?3 AND state = 2 ORDER BY id LIMIT ?4";

/// The requests that have failed, in the order in which they were accepted: those that a crawl had accepted when this was opened.
/// Blocks.
pub struct FailedRequests {
    job: Revisited,
    /// All up to this one are looked through.
    after: i64,
    /// The last request of the moment in which it was opened.
    until: i64,
    found: vec::IntoIter<FailedRequest>,
}

impl FailedRequests {
    /// Those of this crawler's crawl, or else of the one that was opened last.
    ///
    /// # Errors
    /// As [`JobSnapshot::open`].
    pub fn open(dir: &JobDir, crawler: Option<&CrawlerId>) -> Result<Self, StoreError> {
        let job = Revisited::of(dir, JobSnapshot::open(dir, crawler)?.crawl());
        let until = job.read(|rows| Ok(rows.query_row("SELECT ifnull(max(id), 0) FROM requests", [], |row| row.get(0))?))?;
        Ok(Self { job, after: 0, until, found: Vec::new().into_iter() })
    }
}

impl Iterator for FailedRequests {
    type Item = Result<FailedRequest, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.found.next() {
                return Some(Ok(found));
            }
            if self.after >= self.until {
                return None;
            }
            let crawl = self.job.crawl().id;
            match self.job.read(|rows| slice(rows, crawl, self.after, self.until)) {
                Ok((found, through)) => (self.found, self.after) = (found.into_iter(), through),
                Err(error) => {
                    self.after = self.until;
                    return Some(Err(error));
                }
            }
        }
    }
}

// With the last request that was looked through.
fn slice(connection: &Connection, crawl: CrawlId, after: i64, until: i64) -> Done<(Vec<FailedRequest>, i64)> {
    let mut through = after.saturating_add(LOOKED_THROUGH).min(until);
    let mut statement = connection.prepare_cached(SLICE)?;
    let mut rows = statement.query(params![after, through, crawl.0, super::sql_limit(BROUGHT)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(failed(row)?);
        if found.len() == BROUGHT {
            through = row.get(0)?;
        }
    }
    Ok((found, through))
}

fn failed(row: &Row<'_>) -> Done<FailedRequest> {
    let retries: u32 = row.get(4)?;
    let [code, message] = [6, 7].map(|column| row.get::<_, Option<String>>(column));
    Ok(FailedRequest {
        url: row.get(1)?,
        original_url: row.get(2)?,
        label: row.get(3)?,
        attempts: u64::from(retries) + 1,
        status: row.get(5)?,
        code: code?.unwrap_or_default(),
        message: message?.unwrap_or_default(),
    })
}
