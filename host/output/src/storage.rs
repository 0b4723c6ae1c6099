//! A whole job as a storage folder of Crawlee's: its datasets, key-value stores and request queue.
//!
//! Decision: everything is of one moment of the job and is passed on piece by piece, however large the job is; the items come
//! last, since they need no transaction for that ([`JobItems`]). The records that a crawl shows now and then (state, statistics,
//! sessions, auto-saved values) are made anew, so that they say what that moment has. What cannot be expressed there, a key that
//! is too long for a file, is left out and told of. Where it is written is [`Place`]'s to say.

use crate::names::Names;
use crate::place::Place;
use crate::{Existing, Halt, Renamed, StorageError};
use nephila_crawlee::{
    CrawlerStatistics, DatasetWriter, KeyValueWriter, ListedRequest, MediaType, QueueState, RecordKey, RequestQueueWriter,
    StoreName, write_state,
};
use nephila_model::{AutoSaved, DatasetName, KvStoreName, KvValue, PoolPlace, Timestamp};
use nephila_session::PoolSettings;
use nephila_session::crawlee::write_pool;
use nephila_store::{JobItems, JobSnapshot, Pull, RequestPart, StoreError, StoredRequest};
use serde::Deserialize;
use std::cell::RefCell;
use std::path::Path;

/// Items that are read at a time, at most so many and so many bytes.
const ITEMS: usize = 1_000;
const ITEM_BYTES: usize = 4 << 20;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// Items, over all datasets.
    pub items: u64,
    /// Records, over all key-value stores.
    pub records: u64,
    /// Requests of the queue.
    pub requests: u64,
    /// Records that were left out, since their keys cannot name a file.
    pub left_out: u64,
    /// Datasets, and then key-value stores, that had to get another name than theirs with hyphens.
    pub renamed: Vec<Renamed>,
}

/// Writes a job as a storage folder of Crawlee's (what `CRAWLEE_STORAGE_DIR` names). Blocks while it does.
///
/// # Errors
/// A refusal, and then nothing has changed; [`StorageError::Stopped`]; or what the store or the disk says. In any case what was
/// there is there still.
pub fn export_storage(
    job: JobSnapshot,
    folder: &Path,
    existing: Existing,
    statistics: &CrawlerStatistics,
    halt: &Halt,
) -> Result<Exported, StorageError> {
    let place = Place::take(folder, existing, job.folder())?;
    let written = Export { storage: place.beside(), halt, done: Exported::default() }.run(job, statistics);
    // One that was stopped may have failed for that, in words that say less.
    match written.and_then(|done| halt.check().map(|()| done)) {
        Ok(done) => place.put().map(|()| done),
        Err(error) => {
            place.clear();
            halt.check()?;
            Err(error)
        }
    }
}

/// An export on its way.
struct Export<'a> {
    storage: &'a Path,
    halt: &'a Halt,
    done: Exported,
}

impl Export<'_> {
    fn run(mut self, job: JobSnapshot, statistics: &CrawlerStatistics) -> Result<Exported, StorageError> {
        let (datasets, items) = (job.datasets()?, job.all_items()?);
        let mut stores = self.key_values(&job)?;
        self.shown(&job, statistics, &mut stores)?;
        self.queue(&job, &stores.default)?;
        // From here on a crawl may start in the job, and empty its log.
        drop(job);
        self.datasets(&datasets, &items)?;
        self.done.renamed.extend(stores.names.into_renamed());
        Ok(self.done)
    }

    fn datasets(&mut self, datasets: &[DatasetName], items: &JobItems) -> Result<(), StorageError> {
        let named = || datasets.iter().filter(|name| **name != DatasetName::Default);
        let mut names = Names::of(named().filter_map(|dataset| match dataset {
            DatasetName::Default => None,
            DatasetName::Named(name) => Some(name.as_str()),
        }));
        // Crawlee's users look for it also where nothing is in it.
        for dataset in std::iter::once(&DatasetName::Default).chain(named()) {
            let name = match dataset {
                DatasetName::Default => StoreName::DEFAULT,
                DatasetName::Named(name) => names.theirs(name),
            };
            let mut writer = DatasetWriter::create(self.storage, &name)?;
            let mut after = 0;
            loop {
                let slice = items.slice(dataset, after, ITEMS, ITEM_BYTES)?;
                for row in &slice.rows {
                    self.halt.check()?;
                    writer.push(&row.json)?;
                    after = row.sequence;
                }
                if !slice.more {
                    break;
                }
            }
            self.done.items += writer.finish()?;
        }
        self.done.renamed.extend(names.into_renamed());
        Ok(())
    }

    fn key_values(&mut self, job: &JobSnapshot) -> Result<Stores, StorageError> {
        let all = job.key_value_stores()?;
        let mut stores = Stores::of(self.storage, &all)?;
        for name in &all {
            let writer = stores.writer(self.storage, name)?;
            let (done, halt) = (&mut self.done, self.halt);
            let write = |records: Pull<'_, (String, KvValue)>| {
                for record in records {
                    halt.check()?;
                    let (key, KvValue { content_type, value }) = record?;
                    let Ok(key) = RecordKey::new(key) else {
                        done.left_out += 1;
                        continue;
                    };
                    let media_type = MediaType::new(&content_type).unwrap_or_else(|_| MediaType::bytes());
                    writer.put(&key, &media_type, &value)?;
                    done.records += 1;
                }
                Ok::<(), StorageError>(())
            };
            job.key_values(name, write)??;
        }
        Ok(stores)
    }

    // As of this moment, over what the crawl showed last.
    fn shown(&mut self, job: &JobSnapshot, statistics: &CrawlerStatistics, stores: &mut Stores) -> Result<(), StorageError> {
        // First, so that one which has the name of one of the crawl's own records does not hide it.
        let (storage, halt, left_out) = (self.storage, self.halt, &mut self.done.left_out);
        let auto_saved = |values: Pull<'_, (AutoSaved, String)>| {
            for value in values {
                halt.check()?;
                let (AutoSaved { store, key }, text) = value?;
                match RecordKey::new(key) {
                    Ok(key) => stores.writer(storage, &store)?.put(&key, &MediaType::json(), text.as_bytes())?,
                    Err(_) => *left_out += 1,
                }
            }
            Ok::<(), StorageError>(())
        };
        job.auto_saved(auto_saved)??;
        let id = &job.crawl().crawler_id;
        stores.default.put_json(&RecordKey::statistics(id), &statistics.record(id))?;
        let state = |pairs: Pull<'_, (String, String)>| {
            let mut failed = None;
            let sound = pairs.map_while(|pair| pair.map_err(|error| failed = Some(error)).ok());
            let written = stores.default.put_stream(&RecordKey::state(id), &MediaType::json(), |out| write_state(out, sound));
            failed.map_or_else(|| written.map_err(StorageError::from), |error| Err(error.into()))
        };
        job.state(state)??;
        for (place, sessions) in job.session_pools()? {
            halt.check()?;
            let most = shown_size(job, &place)?.max(sessions.len());
            let mut text = Vec::new();
            write_pool(&mut text, most, sessions, Timestamp::now())?;
            match RecordKey::new(place.key) {
                Ok(key) => stores.writer(storage, &place.store)?.put(&key, &MediaType::json(), &text)?,
                Err(_) => self.done.left_out += 1,
            }
        }
        Ok(())
    }

    fn queue(&mut self, job: &JobSnapshot, store: &KeyValueWriter) -> Result<(), StorageError> {
        let id = &job.crawl().crawler_id;
        let queue = RefCell::new(RequestQueueWriter::create(self.storage, id)?);
        let done_at = Timestamp::now();
        // A request's file is written when its key is asked for: one pass, and no list of keys.
        let add = |found: Result<StoredRequest, StoreError>| -> Result<String, StorageError> {
            self.halt.check()?;
            let StoredRequest { request, state, final_url } = found?;
            let listed = ListedRequest { request: &request, state, final_url: final_url.as_deref(), done_at };
            Ok(queue.borrow_mut().add(listed)?)
        };
        let nobody = std::iter::empty::<Result<String, StorageError>>;
        let write = |pending: Pull<'_, StoredRequest>| {
            job.requests(RequestPart::Ended, |ended| {
                let regular = pending.map(add);
                let state = QueueState { forefront: nobody(), regular, in_progress: nobody(), handled: ended.map(add) };
                store.put_stream(&RecordKey::queue_state(id), &MediaType::json(), |out| state.write(out).map(drop))
            })
        };
        job.requests(RequestPart::Pending, write)???;
        self.done.requests = queue.into_inner().finish()?;
        Ok(())
    }
}

/// How many sessions a pool may have: the setting is kept nowhere but in the record that the crawl shows, of which this reads no
/// more.
fn shown_size(job: &JobSnapshot, place: &PoolPlace) -> Result<usize, StorageError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown {
        max_pool_size: usize,
    }
    let shown = job.key_value(&place.store, &place.key)?.and_then(|record| serde_json::from_slice::<Shown>(&record.value).ok());
    Ok(shown.map_or_else(|| PoolSettings::default().max_pool_size, |shown| shown.max_pool_size))
}

/// The key-value stores that are being written: one is open beside the crawl's own, since there may be thousands.
struct Stores {
    default: KeyValueWriter,
    named: Option<(String, KeyValueWriter)>,
    names: Names,
}

impl Stores {
    fn of(storage: &Path, all: &[KvStoreName]) -> Result<Self, StorageError> {
        let names = Names::of(all.iter().filter_map(|name| match name {
            KvStoreName::Default => None,
            KvStoreName::Named(name) => Some(name.as_str()),
        }));
        Ok(Self { default: KeyValueWriter::open(storage, &StoreName::DEFAULT)?, named: None, names })
    }

    fn writer(&mut self, storage: &Path, name: &KvStoreName) -> Result<&KeyValueWriter, StorageError> {
        let KvStoreName::Named(ours) = name else { return Ok(&self.default) };
        let open = match self.named.take() {
            Some((name, writer)) if name == *ours => writer,
            _ => KeyValueWriter::open(storage, &self.names.theirs(ours))?,
        };
        Ok(&self.named.insert((ours.clone(), open)).1)
    }
}
