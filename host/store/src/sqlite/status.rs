//! Where a job stands, for people who look from outside: also while it runs, and after it died.
//!
//! Decision: looking takes nothing away and leaves nothing behind. While a process works, or after one died, the log is read as SQLite
//! reads it; a job at rest is read as a file that does not change.

use super::schema::{self, Found};
use super::{counters, crawls, errors, state};
use crate::{ErrorsOf, ExcerptSize, JobDir, JobStatus, StoreError};

/// Errors that are shown.
const SAMPLES: usize = 10;

/// Reads where the job stands, without its lock. Of several crawls in it, the one that was opened last.
///
/// # Errors
/// [`StoreError::NoJob`] if there is none, and what says that a file is damaged or of a newer format.
pub fn read_status(dir: &JobDir) -> Result<JobStatus, StoreError> {
    let in_use = dir.in_use();
    let no_job = || StoreError::NoJob { dir: dir.path().to_owned() };
    let look = match schema::inspect(dir)? {
        // No crawl was ever opened in it.
        Found::Nothing | Found::Begun => return Err(no_job()),
        Found::AtRest if !in_use => schema::look_at_rest,
        Found::AtRest | Found::WithLog => schema::look_at_log,
    };
    let read = || {
        let connection = look(dir)?;
        // One transaction: all numbers are of the same moment.
        let moment = connection.unchecked_transaction()?;
        let crawl = crawls::last_opened(&moment)?.ok_or_else(no_job)?;
        let counts = counters::counts(&moment, crawl.id)?;
        let statistics = counters::statistics(&moment, crawl.id)?;
        let samples = |of| errors::most_frequent(&moment, crawl.id, of, SAMPLES);
        let (errors, retry_errors) = (samples(ErrorsOf::FailedRequests)?, samples(ErrorsOf::RetriedAttempts)?);
        let state = state::excerpt(&moment, &crawl.crawler_id, ExcerptSize::default())?;
        Ok(JobStatus { crawl, in_use, counts, statistics, errors, retry_errors, state })
    };
    read().map_err(|trouble: super::trouble::Trouble| trouble.into_error("read the job", &dir.database().display().to_string()))
}
