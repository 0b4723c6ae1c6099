//! Everything that a job has, as one moment has it, for who writes it somewhere else.
//!
//! Decision: one transaction that reads, from the first look to the last, so that a job can be exported while a crawl works in
//! it. It takes nothing of the crawl's, but the log cannot be emptied and grows for as long as it lasts, and a job at rest is
//! held against a start ([`super::look`]). So it is for who writes to a disk as fast as that goes, and no longer than needed;
//! items, and the requests that have failed, which may be read as slowly as somebody likes, have ways of their own that hold
//! nothing ([`JobItems`], [`super::FailedRequests`]). Lists come as iterators over a statement, so that ten million requests need
//! no more memory than one (S9); what has to be sorted is sorted in a file.

use super::job_items::JobItems;
use super::look::{Look, look};
use super::trouble::{Done, Trouble};
use super::{counters, crawls, datasets, errors, key_values, requests, sessions};
use crate::{CrawlRecord, DatasetSlice, ErrorSample, ErrorsOf, JobDir, StoreError, StoredRequest};
use nephila_model::{
    AutoSaved, CrawlerId, DatasetName, KvStoreName, KvValue, PoolPlace, RequestState, SessionRecord, Statistics,
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use std::collections::BTreeSet;

/// Which requests of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// Those that wait, in the order in which they would be taken if all were of one site.
    Pending,
    /// Those that were handled, have failed or were skipped, in the order in which they were accepted.
    Ended,
}

/// A job at one moment.
pub struct JobSnapshot {
    look: Look,
    crawl: CrawlRecord,
    dir: JobDir,
}

impl JobSnapshot {
    /// Takes the moment. Of several crawls in the job the one of this crawler, or else the one that was opened last.
    ///
    /// # Errors
    /// [`StoreError::NoJob`] if there is none, [`StoreError::NoCrawler`] if it has no crawl of that crawler, and what says that a file is
    /// damaged or of another format.
    pub fn open(dir: &JobDir, crawler: Option<&CrawlerId>) -> Result<Self, StoreError> {
        let no_job = || StoreError::NoJob { dir: dir.path().to_owned() };
        let look = look(dir)?.ok_or_else(no_job)?;
        let open = || -> Done<CrawlRecord> {
            let connection = &look.connection;
            connection.pragma_update(None, "temp_store", "FILE")?;
            connection.execute_batch("BEGIN")?;
            crawls::chosen(connection, dir, crawler)
        };
        let crawl = open().map_err(|trouble| trouble.into_error("read the job", &dir.database().display().to_string()))?;
        Ok(Self { look, crawl, dir: dir.clone() })
    }

    /// The job's folder.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// The items of this moment, to be read also when the snapshot is dropped.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn all_items(&self) -> Result<JobItems, StoreError> {
        self.read(|rows| JobItems::of(&self.dir, &self.crawl, rows))
    }

    /// The crawl.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlRecord {
        &self.crawl
    }

    /// Its counters.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn statistics(&self) -> Result<Statistics, StoreError> {
        self.read(|rows| counters::statistics(rows, self.crawl.id))
    }

    /// Its errors, the most frequent first, with a sample each.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn errors(&self, of: ErrorsOf, limit: usize) -> Result<Vec<ErrorSample>, StoreError> {
        self.read(|rows| errors::most_frequent(rows, self.crawl.id, of, limit))
    }

    /// The session pools, each with its sessions: the crawl's own, and those in named stores, which all crawls of the store
    /// share.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn session_pools(&self) -> Result<Vec<(PoolPlace, Vec<SessionRecord>)>, StoreError> {
        // A job of an older format has none.
        self.read(|rows| if self.has_table("session_pools")? { sessions::pools(rows, self.crawl.id) } else { Ok(Vec::new()) })
    }

    /// The state, key by key, without auto-saved values.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn state<T>(&self, take: impl FnOnce(Pull<'_, (String, String)>) -> T) -> Result<T, StoreError> {
        let query = "SELECT key, value FROM state WHERE crawler_id = ?1 AND key >= ?2 ORDER BY key";
        let own = params![self.crawl.crawler_id.as_str(), AutoSaved::STATE_KEYS.end];
        self.pull(query, own, |row| Ok((row.get(0)?, row.get(1)?)), take)
    }

    /// The auto-saved values of key-value stores: JSON.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn auto_saved<T>(&self, take: impl FnOnce(Pull<'_, (AutoSaved, String)>) -> T) -> Result<T, StoreError> {
        let query = "SELECT key, value FROM state WHERE crawler_id = ?1 AND key >= ?2 AND key < ?3 ORDER BY key";
        let range = AutoSaved::STATE_KEYS;
        let read = |row: &Row<'_>| {
            let key: String = row.get(0)?;
            let value = AutoSaved::of_state_key(&key).ok_or_else(|| Trouble::Damaged(format!("a state key {key:?}")))?;
            Ok((value, row.get(1)?))
        };
        self.pull(query, params![self.crawl.crawler_id.as_str(), range.start, range.end], read, take)
    }

    /// The key-value stores that have records, auto-saved values or session pools: the crawl's own, and those with a name, which
    /// all crawls of the store share.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn key_value_stores(&self) -> Result<Vec<KvStoreName>, StoreError> {
        let named = |name: String| if name.is_empty() { KvStoreName::Default } else { KvStoreName::Named(name) };
        let mut stores: BTreeSet<String> =
            self.names("SELECT DISTINCT store FROM key_values WHERE scope IN (0, ?1)")?.into_iter().collect();
        if self.read(|_| self.has_table("session_pools"))? {
            stores.extend(self.names("SELECT DISTINCT store FROM session_pools WHERE scope IN (0, ?1)")?);
        }
        self.auto_saved(|values| {
            for value in values {
                if let (AutoSaved { store: KvStoreName::Named(name), .. }, _) = value? {
                    stores.insert(name);
                }
            }
            Ok::<(), StoreError>(())
        })??;
        Ok(stores.into_iter().map(named).collect())
    }

    /// A record of a key-value store; `None` if there is none.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn key_value(&self, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, StoreError> {
        self.read(|rows| key_values::get(rows, self.crawl.id, store, key))
    }

    /// The records of a key-value store, in the order of their keys.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn key_values<T>(
        &self,
        store: &KvStoreName,
        take: impl FnOnce(Pull<'_, (String, KvValue)>) -> T,
    ) -> Result<T, StoreError> {
        let (scope, name) = key_values::place(self.crawl.id, store);
        let query = "SELECT key, content_type, value FROM key_values WHERE scope = ?1 AND store = ?2 ORDER BY key";
        let read = |row: &Row<'_>| {
            let value = row.get::<_, Vec<u8>>(2)?.into();
            Ok((row.get(0)?, KvValue { content_type: row.get(1)?, value }))
        };
        self.pull(query, params![scope, name], read, take)
    }

    /// The datasets: the crawl's own, and those with a name, which all crawls of the store share.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn datasets(&self) -> Result<Vec<DatasetName>, StoreError> {
        let named = |name: String| if name.is_empty() { DatasetName::Default } else { DatasetName::Named(name) };
        let query = "SELECT name FROM datasets WHERE scope IN (0, ?1) ORDER BY name";
        self.names(query).map(|names| names.into_iter().map(named).collect())
    }

    /// Items of a dataset after a cursor: as [`crate::Store::dataset_slice`].
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn items(&self, dataset: &DatasetName, after: i64, limit: usize, max_bytes: usize) -> Result<DatasetSlice, StoreError> {
        let cut = datasets::Cut { rows: limit, bytes: max_bytes };
        self.read(|rows| datasets::slice(rows, self.crawl.id, dataset, after, cut))
    }

    /// Requests of the crawl.
    ///
    /// # Errors
    /// If the job cannot be read.
    pub fn requests<T>(&self, part: RequestPart, take: impl FnOnce(Pull<'_, StoredRequest>) -> T) -> Result<T, StoreError> {
        let which = match part {
            RequestPart::Pending => "state = 0 ORDER BY priority DESC, rank",
            RequestPart::Ended => "state > 0 ORDER BY id",
        };
        self.pull(&requests::select(which), params![self.crawl.id.0], stored, take)
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Done<T>) -> Result<T, StoreError> {
        read(&self.look.connection).map_err(|trouble| self.trouble(trouble))
    }

    fn trouble(&self, trouble: Trouble) -> StoreError {
        trouble.into_error("read the job", &self.dir.database().display().to_string())
    }

    fn has_table(&self, name: &str) -> Done<bool> {
        let found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        Ok(self.look.connection.query_row(found, [name], |_| Ok(())).optional()?.is_some())
    }

    fn names(&self, query: &str) -> Result<Vec<String>, StoreError> {
        self.read(|rows| {
            let mut statement = rows.prepare(query)?;
            let names = statement.query_map([self.crawl.id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(names)
        })
    }

    fn pull<T, U>(
        &self,
        query: &str,
        which: impl Params,
        read: impl Fn(&Row<'_>) -> Done<T>,
        take: impl FnOnce(Pull<'_, T>) -> U,
    ) -> Result<U, StoreError> {
        let failed = |error: rusqlite::Error| self.trouble(error.into());
        let mut statement = self.look.connection.prepare(query).map_err(failed)?;
        let mut rows = statement.query(which).map_err(failed)?;
        let mut next = || match rows.next() {
            Ok(Some(row)) => Some(read(row).map_err(|trouble| self.trouble(trouble))),
            Ok(None) => None,
            Err(error) => Some(Err(failed(error))),
        };
        Ok(take(&mut std::iter::from_fn(&mut next)))
    }
}

/// Things one after another, each read when it is asked for.
pub type Pull<'a, T> = &'a mut dyn Iterator<Item = Result<T, StoreError>>;

fn stored(row: &Row<'_>) -> Done<StoredRequest> {
    Ok(StoredRequest {
        request: requests::queued(row)?,
        state: match row.get::<_, i64>(13)? {
            0 => RequestState::Pending,
            1 => RequestState::Handled,
            2 => RequestState::Failed,
            3 => RequestState::Skipped,
            other => return Err(Trouble::Damaged(format!("a request has the state {other}"))),
        },
        final_url: row.get(14)?,
    })
}
