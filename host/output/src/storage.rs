//! A whole job as a storage folder of Crawlee's: its datasets, key-value stores and request queue.
//!
//! Decision: it is written beside its place and moved there when it is whole, so that a folder of that name is complete or is not there; what it
//! replaces goes only then. Everything is of one moment of the job and is passed on piece by piece, however large the job is. The records that a crawl
//! shows now and then (state, statistics, sessions, auto-saved values) are made anew, so that they say what that moment has. What cannot be
//! expressed there, a key that is too long for a file, is left out and told of.

use crate::{Existing, StorageError};
use nephila_crawlee::{
    CrawlerStatistics, DatasetWriter, KeyValueWriter, ListedRequest, MediaType, QueueState, RecordKey, RequestQueueWriter,
    StoreName, is_storage, write_state,
};
use nephila_model::{AutoSaved, DatasetName, KvStoreName, KvValue, Timestamp};
use nephila_session::PoolSettings;
use nephila_session::crawlee::write_pool;
use nephila_store::{JobSnapshot, Pull, RequestPart, StoreError, StoredRequest};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Items that are read at a time, at most so many and so many bytes.
const ITEMS: usize = 1_000;
const ITEM_BYTES: usize = 4 << 20;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// Items, over all datasets.
    pub items: u64,
    /// Records, over all key-value stores.
    pub records: u64,
    /// Requests of the queue.
    pub requests: u64,
    /// Records that were left out, since their keys cannot name a file.
    pub left_out: u64,
}

/// Writes a job as a storage folder of Crawlee's (what `CRAWLEE_STORAGE_DIR` names). Blocks while it does.
///
/// # Errors
/// A refusal, and then nothing has changed; or what the store or the disk says, and then what was there is there still.
pub fn export_storage(
    job: &JobSnapshot,
    folder: &Path,
    existing: Existing,
    statistics: &CrawlerStatistics,
) -> Result<Exported, StorageError> {
    let place = Place::check(folder, existing)?;
    match (Export { job, storage: &place.beside, done: Exported::default() }).run(statistics) {
        Ok(done) => place.put().map(|()| done),
        Err(error) => {
            place.clear();
            Err(error)
        }
    }
}

/// Where the folder is to be, and where it is written.
struct Place {
    folder: PathBuf,
    beside: PathBuf,
    replaces: Replaces,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Nothing,
    AStorage,
}

impl Place {
    fn check(given: &Path, existing: Existing) -> Result<Self, StorageError> {
        let failed = |action| move |cause| StorageError::Io { path: given.to_owned(), action, cause };
        // A link stands for the folder that it leads to.
        let folder = match fs::canonicalize(given) {
            Ok(folder) => folder,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => given.to_owned(),
            Err(cause) => return Err(failed("reach")(cause)),
        };
        let Some(name) = folder.file_name() else { return Err(StorageError::NoName { path: given.to_owned() }) };
        let replaces = match fs::metadata(&folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Replaces::Nothing,
            Err(cause) => return Err(failed("look at")(cause)),
            Ok(found) if !found.is_dir() => return Err(StorageError::NotAFolder { path: folder }),
            Ok(_) if fs::read_dir(&folder).map_err(failed("list"))?.next().is_none() => Replaces::Nothing,
            Ok(_) if !is_storage(&folder)? => return Err(StorageError::NotAStorage { path: folder }),
            Ok(_) => match existing {
                Existing::Overwrite => Replaces::AStorage,
                Existing::Refuse => return Err(StorageError::Exists { path: folder }),
                Existing::Append => return Err(StorageError::Append { path: folder }),
            },
        };
        let beside = folder.with_file_name(format!(".{}.nephila-export-{}", name.to_string_lossy(), std::process::id()));
        // It holds pages and cookies.
        match DirBuilder::new().mode(0o700).create(&beside) {
            Ok(()) => Ok(Self { folder, beside, replaces }),
            Err(cause) => Err(StorageError::Io { path: beside, action: "make the folder", cause }),
        }
    }

    fn put(self) -> Result<(), StorageError> {
        let moved = match self.replaces {
            Replaces::Nothing => fs::rename(&self.beside, &self.folder),
            Replaces::AStorage => {
                renameat_with(CWD, &self.beside, CWD, &self.folder, RenameFlags::EXCHANGE).map_err(io::Error::from)
            }
        };
        let result = moved.map_err(|cause| StorageError::Io { path: self.folder.clone(), action: "put in its place", cause });
        // What it has replaced, or what could not be put there.
        if self.replaces == Replaces::AStorage || result.is_err() {
            self.clear();
        }
        result
    }

    fn clear(&self) {
        if let Err(cause) = fs::remove_dir_all(&self.beside) {
            tracing::warn!(folder = %self.beside.display(), %cause, "a folder stays behind; remove it");
        }
    }
}

/// An export on its way.
struct Export<'a> {
    job: &'a JobSnapshot,
    storage: &'a Path,
    done: Exported,
}

impl Export<'_> {
    fn run(mut self, statistics: &CrawlerStatistics) -> Result<Exported, StorageError> {
        self.datasets()?;
        let mut stores = self.key_values()?;
        self.shown(statistics, &mut stores)?;
        self.queue(&stores.default)?;
        Ok(self.done)
    }

    fn datasets(&mut self) -> Result<(), StorageError> {
        let mut names = Names::default();
        // Crawlee's users look for it also where nothing is in it.
        let own = DatasetName::Default;
        let named = self.job.datasets()?.into_iter().filter(|name| *name != DatasetName::Default);
        for dataset in std::iter::once(own).chain(named) {
            let name = match &dataset {
                DatasetName::Default => StoreName::DEFAULT,
                DatasetName::Named(name) => names.nearest(name)?,
            };
            let mut writer = DatasetWriter::create(self.storage, &name)?;
            let mut after = 0;
            loop {
                let slice = self.job.items(&dataset, after, ITEMS, ITEM_BYTES)?;
                for row in &slice.rows {
                    writer.push(&row.json)?;
                    after = row.sequence;
                }
                if !slice.more {
                    break;
                }
            }
            self.done.items += writer.finish()?;
        }
        Ok(())
    }

    fn key_values(&mut self) -> Result<Stores, StorageError> {
        let mut stores = Stores {
            default: KeyValueWriter::open(self.storage, &StoreName::DEFAULT)?,
            named: BTreeMap::new(),
            names: Names::default(),
        };
        for name in self.job.key_value_stores()? {
            let writer = stores.of(self.storage, &name)?;
            let done = &mut self.done;
            let write = |records: Pull<'_, (String, KvValue)>| {
                for record in records {
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
            self.job.key_values(&name, write)??;
        }
        Ok(stores)
    }

    // As of this moment, over what the crawl showed last.
    fn shown(&mut self, statistics: &CrawlerStatistics, stores: &mut Stores) -> Result<(), StorageError> {
        // First, so that one which has the name of one of the crawl's own records does not hide it.
        let (storage, left_out) = (self.storage, &mut self.done.left_out);
        let auto_saved = |values: Pull<'_, (AutoSaved, String)>| {
            for value in values {
                let (AutoSaved { store, key }, text) = value?;
                match RecordKey::new(key) {
                    Ok(key) => stores.of(storage, &store)?.put(&key, &MediaType::json(), text.as_bytes())?,
                    Err(_) => *left_out += 1,
                }
            }
            Ok::<(), StorageError>(())
        };
        self.job.auto_saved(auto_saved)??;
        let id = &self.job.crawl().crawler_id;
        stores.default.put_json(&RecordKey::statistics(id), &statistics.record(id))?;
        let state = |pairs: Pull<'_, (String, String)>| {
            let mut failed = None;
            let sound = pairs.map_while(|pair| pair.map_err(|error| failed = Some(error)).ok());
            let written = stores.default.put_stream(&RecordKey::state(id), &MediaType::json(), |out| write_state(out, sound));
            failed.map_or_else(|| written.map_err(StorageError::from), |error| Err(error.into()))
        };
        self.job.state(state)??;
        for (place, sessions) in self.job.session_pools()? {
            let most = PoolSettings::default().max_pool_size.max(sessions.len());
            let mut text = Vec::new();
            write_pool(&mut text, most, sessions, Timestamp::now())?;
            match RecordKey::new(place.key) {
                Ok(key) => stores.of(self.storage, &place.store)?.put(&key, &MediaType::json(), &text)?,
                Err(_) => self.done.left_out += 1,
            }
        }
        Ok(())
    }

    fn queue(&mut self, store: &KeyValueWriter) -> Result<(), StorageError> {
        let id = &self.job.crawl().crawler_id;
        let queue = RefCell::new(RequestQueueWriter::create(self.storage, id)?);
        let done_at = Timestamp::now();
        // A request's file is written when its key is asked for: one pass, and no list of keys.
        let add = |found: Result<StoredRequest, StoreError>| -> Result<String, StorageError> {
            let StoredRequest { request, state, final_url } = found?;
            let listed = ListedRequest { request: &request, state, final_url: final_url.as_deref(), done_at };
            Ok(queue.borrow_mut().add(listed)?)
        };
        let nobody = std::iter::empty::<Result<String, StorageError>>;
        let write = |pending: Pull<'_, StoredRequest>| {
            self.job.requests(RequestPart::Ended, |ended| {
                let regular = pending.map(add);
                let state = QueueState { forefront: nobody(), regular, in_progress: nobody(), handled: ended.map(add) };
                store.put_stream(&RecordKey::queue_state(id), &MediaType::json(), |out| state.write(out).map(drop))
            })
        };
        self.job.requests(RequestPart::Pending, write)???;
        self.done.requests = queue.into_inner().finish()?;
        Ok(())
    }
}

/// The key-value stores that are being written.
struct Stores {
    default: KeyValueWriter,
    named: BTreeMap<String, KeyValueWriter>,
    names: Names,
}

impl Stores {
    fn of(&mut self, storage: &Path, name: &KvStoreName) -> Result<&KeyValueWriter, StorageError> {
        let KvStoreName::Named(ours) = name else { return Ok(&self.default) };
        if !self.named.contains_key(ours) {
            let writer = KeyValueWriter::open(storage, &self.names.nearest(ours)?)?;
            self.named.insert(ours.clone(), writer);
        }
        Ok(self.named.get(ours).unwrap_or(&self.default))
    }
}

/// Names there, and whose they are. Two of ours may come to the same.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn nearest(&mut self, ours: &str) -> Result<StoreName, StorageError> {
        let name = StoreName::nearest(ours)?;
        let theirs = name.name().unwrap_or_default().to_owned();
        match self.0.insert(theirs.clone(), ours.to_owned()) {
            Some(first) => Err(StorageError::SameName { name: ours.to_owned(), first, theirs }),
            None => Ok(name),
        }
    }
}
