//! Where a job stands, for people who look from outside: also while it runs, and after it died.
//!
//! Decision: looking takes nothing away and leaves nothing behind. While a process works, or after one died, the log is read as SQLite
//! reads it; a job at rest is read as a file that does not change.
//!
//! Which crawls of a store a process works on is nowhere written: those that it opened and has not closed. So a crawl that has
//! not ended runs if it was opened since that process began, or last of all. The price: where the clock was set back meanwhile, one
//! that died before may be said to run.

use super::schema::{self, Found};
use super::trouble::{Done, Trouble};
use super::{counters, crawls, errors, state};
use crate::{Activity, CrawlRecord, CrawlSummary, ErrorsOf, ExcerptSize, JobDir, JobStatus, StoreError};
use nephila_model::{Counter, CrawlId, CrawlerId, Timestamp};
use rusqlite::Connection;

/// Kinds of errors that are shown: as many as a crawl's own report has.
const SAMPLES: usize = 20;

/// Crawls of a store that are listed at most; those that were opened last.
const CRAWLS: i64 = 1_000;

/// Reads where the job stands, without its lock. Of several crawls in it, the one that was opened last.
///
/// # Errors
/// [`StoreError::NoJob`] if there is none, and what says that a file is damaged or of a newer format.
pub fn read_status(dir: &JobDir) -> Result<JobStatus, StoreError> {
    read_status_of(dir, None)
}

/// The same, of the crawl of this crawler if one is named.
///
/// # Errors
/// The same, and [`StoreError::NoCrawler`] if the job has no crawl of that crawler.
pub fn read_status_of(dir: &JobDir, crawler: Option<&CrawlerId>) -> Result<JobStatus, StoreError> {
    look(dir, |moment, used_since| {
        let crawl = crawls::chosen(moment, dir, crawler)?;
        let last = crawls::last_opened(moment)?.map(|crawl| crawl.id);
        let activity = activity(&crawl, used_since, last);
        let counts = counters::counts(moment, crawl.id)?;
        let statistics = counters::statistics(moment, crawl.id)?;
        let samples = |of| errors::most_frequent(moment, crawl.id, of, SAMPLES);
        let (errors, retry_errors) = (samples(ErrorsOf::FailedRequests)?, samples(ErrorsOf::RetriedAttempts)?);
        let state = state::excerpt(moment, &crawl.crawler_id, ExcerptSize::default())?;
        let in_use = used_since.is_some();
        Ok(JobStatus { crawl, in_use, activity, counts, statistics, errors, retry_errors, state })
    })
}

/// The crawls of a job, those that were opened last first; a thousand at most.
///
/// # Errors
/// As [`read_status`].
pub fn list_crawls(dir: &JobDir) -> Result<Vec<CrawlSummary>, StoreError> {
    look(dir, |moment, used_since| {
        let mut statement = moment.prepare("SELECT id FROM crawls ORDER BY opened_at DESC, id DESC LIMIT ?1")?;
        let ids = statement.query_map([CRAWLS], |row| row.get(0).map(CrawlId))?.collect::<Result<Vec<_>, _>>()?;
        let last = ids.first().copied();
        let summary = |id: CrawlId| {
            let crawl = crawls::record(moment, id)?;
            let activity = activity(&crawl, used_since, last);
            let items = counters::get(moment, id, &Counter::Items)?;
            Ok(CrawlSummary { crawl, activity, counts: counters::counts(moment, id)?, items })
        };
        ids.into_iter().map(summary).collect()
    })
}

fn activity(crawl: &CrawlRecord, used_since: Option<Timestamp>, last_opened: Option<CrawlId>) -> Activity {
    match used_since {
        Some(since) if crawl.ending.is_none() && (crawl.opened_at >= since || last_opened == Some(crawl.id)) => Activity::Running,
        _ => Activity::AtRest,
    }
}

// `read` is told since when a process has the job open, if one has.
fn look<T>(dir: &JobDir, read: impl FnOnce(&Connection, Option<Timestamp>) -> Done<T>) -> Result<T, StoreError> {
    let used_since = dir.used_since();
    let look = match schema::inspect(dir)? {
        // No crawl was ever opened in it.
        Found::Nothing | Found::Begun => return Err(StoreError::NoJob { dir: dir.path().to_owned() }),
        Found::AtRest if used_since.is_none() => schema::look_at_rest,
        Found::AtRest | Found::WithLog => schema::look_at_log,
    };
    let all = || {
        let connection = look(dir)?;
        // One transaction: all numbers are of the same moment.
        let moment = connection.unchecked_transaction()?;
        read(&moment, used_since)
    };
    all().map_err(|trouble: Trouble| trouble.into_error("read the job", &dir.database().display().to_string()))
}
