//! What both stores are: two workers over one database, and each call of [`Store`] as a task for one of them.
//!
//! Decision: calls that only read go to the connection that reads, so that claims do not wait for a commit. They see every commit
//! that was answered before they began. A database in memory has one connection for both.

use super::commit::Guard;
use super::datasets::Cut;
use super::desk::{Desk, Log, Readers};
use super::known::{Fact, KnownKeys, Recall};
use super::learning::Learning;
use super::notes::Notes;
use super::sites::Touched;
use super::trouble::{Done, Trouble};
use super::worker::Worker;
use super::{
    Durability, commit, counters, crawls, datasets, errors, events, key_values, requests, schema, sessions, sinks, sites, state,
};
use crate::{
    Counts, CrawlEnding, CrawlRecord, CrawlSpec, DatasetSlice, ErrorSample, ErrorsOf, ExcerptSize, JobDir, JobLock, OpenedCrawl,
    OpenedPool, PoolUser, SessionCreated, SinkRecord, SiteHead, SiteOrder, SiteWindow, StateExcerpt, StateRow, Store, StoreError,
    StoredEvent, Woken,
};
use async_trait::async_trait;
use nephila_model::{
    AutoSaved, CommitResult, CrawlId, CrawlerId, DatasetName, EventId, Group, KeyStanding, KvStoreName, KvValue, Lease, PoolId,
    PoolPlace, RequestId, RequestStatus, SessionId, SessionRecord, SiteId, StateVersion, Statistics, Timestamp, UniqueKey,
    UseRange,
};
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A database with its workers.
pub struct Rows {
    // Dropped in this order: the writer is the last to leave the file, and the lock outlives both.
    reader: Arc<Worker>,
    writer: Arc<Worker>,
    lock: Mutex<Option<JobLock>>,
    known: Arc<KnownKeys>,
    // Whether the keys on the disk are being taken in.
    learns: AtomicBool,
}

impl Rows {
    /// In a job's file.
    pub(crate) fn in_file(dir: &JobDir, lock: JobLock, durability: Durability, known: KnownKeys) -> Result<Self, StoreError> {
        let path = dir.database();
        let what: Arc<str> = path.display().to_string().into();
        let known = Arc::new(known);
        let notes = || Notes::new(known.clone());
        let told = |trouble: Trouble| trouble.into_error("open the job", &what);
        let found = schema::inspect(dir)?;
        let log = if found == schema::Found::AtRest { Log::New } else { Log::Kept };
        let writer = schema::open_writer(dir, found, durability)
            .and_then(|connection| Desk::new(connection, log, notes()))
            .map_err(told)?;
        let writer = writer.at(&path).map_err(|cause| StoreError::Folder { dir: dir.path().to_owned(), cause })?;
        let writer = Worker::start("writer", what.clone(), writer)?;
        let reader =
            schema::open_reader(&path).and_then(|connection| Desk::new(connection, Log::Foreign, notes())).map_err(told)?;
        let reader = Worker::start("reader", what.clone(), reader)?;
        Ok(Self {
            reader: Arc::new(reader),
            writer: Arc::new(writer),
            lock: Mutex::new(Some(lock)),
            known,
            learns: AtomicBool::new(false),
        })
    }

    /// In memory.
    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        let what: Arc<str> = "the store in memory".into();
        let known = Arc::new(KnownKeys::new());
        let desk = schema::open_in_memory().and_then(|connection| Desk::new(connection, Log::Kept, Notes::new(known.clone())));
        let desk = desk.map_err(|trouble| trouble.into_error("start", &what))?;
        let worker = Arc::new(Worker::start("memory", what, desk)?);
        Ok(Self { reader: worker.clone(), writer: worker, lock: Mutex::new(None), known, learns: AtomicBool::new(false) })
    }

    async fn read<T: Send + 'static>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Done<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.reader.call(action, |desk| work(&desk.connection)).await
    }

    async fn write<T: Send + 'static>(
        &self,
        action: &'static str,
        work: impl Fn(&Connection) -> Done<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.call(action, move |desk| desk.write(|rows, _| work(rows))).await
    }

    // The first piece at once, so that a small job's keys are all known when its crawl is opened, and the rest while nobody asks
    // the reading side for anything. No read that fails in it is an error: the crawl is open by now.
    async fn learn_keys(&self) -> Result<(), StoreError> {
        let mut learning = Learning::new(self.known.clone());
        let begin = move |desk: &mut Desk| {
            desk.set_chore(Box::new(move |rows| learning.piece(rows)));
            desk.do_chore();
            Ok(())
        };
        self.reader.call("read the keys", begin).await
    }

    /// Which of these keys are on the disk.
    async fn look_up(&self, crawl: CrawlId, keys: Vec<UniqueKey>) -> Result<Vec<bool>, StoreError> {
        let known = self.known.clone();
        let look = move |rows: &Connection| {
            let found = requests::known(rows, crawl, &keys)?;
            let there = keys.into_iter().zip(&found).filter(|(_, there)| **there);
            // This connection sees nothing that is not committed.
            known.learn(there.map(|(key, _)| Fact { crawl, key, depth: None }));
            Ok(found)
        };
        self.read("look keys up", look).await
    }

    /// The side that writes; for tests that arrange what the trait cannot.
    pub(crate) fn writer(&self) -> &Worker {
        &self.writer
    }
}

/// What a key is to a page at this depth, by what is remembered of it and, where that is nothing sure, by whether it was found on
/// the disk.
const fn answer(recalled: Recall, found: bool, depth: u32) -> KeyStanding {
    match recalled {
        Recall::Known(Some(least)) if least <= depth => KeyStanding::Settled,
        Recall::Known(_) => KeyStanding::MayBeDeeper,
        Recall::Never => KeyStanding::New,
        Recall::Unsure if found => KeyStanding::MayBeDeeper,
        Recall::Unsure => KeyStanding::New,
    }
}

/// What is a [`Store`] because it has [`Rows`].
pub trait Backed: Send + Sync + 'static {
    /// Its rows.
    fn rows(&self) -> &Rows;
}

#[async_trait]
impl<T: Backed> Store for T {
    async fn open_crawl(&self, spec: &CrawlSpec) -> Result<OpenedCrawl, StoreError> {
        let (spec, now) = (spec.clone(), Timestamp::now());
        let open = move |desk: &mut Desk| {
            let opened = desk.write(|rows, _| crawls::open(rows, &spec, now))?;
            // What a process that died left in the log. Not before this: a refused start leaves the files as they are (S8).
            desk.fold(Readers::LeftAlone);
            Ok(opened)
        };
        let opened = self.rows().writer().call("open the crawl", open).await?;
        // Nothing can be refused any more.
        if !self.rows().learns.swap(true, Ordering::Relaxed) {
            self.rows().learn_keys().await?;
        }
        if let Some(lock) = self.rows().lock.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            lock.say_who(now);
        }
        Ok(opened)
    }

    async fn find_crawl(&self, spec: &CrawlSpec) -> Result<Option<CrawlId>, StoreError> {
        let spec = spec.clone();
        let find = move |rows: &Connection| Ok(crawls::find(rows, &spec)?.map(|record| record.id));
        self.rows().read("look for the crawl", find).await
    }

    async fn close_crawl(&self, crawl: CrawlId, ending: &CrawlEnding) -> Result<(), StoreError> {
        let ending = ending.clone();
        let close = move |desk: &mut Desk| {
            desk.check_place_now()?;
            desk.write(|rows, _| crawls::close(rows, crawl, &ending))
        };
        self.rows().writer().call("close the crawl", close).await
    }

    async fn ready_sites(&self, crawl: CrawlId, order: SiteOrder, limit: usize) -> Result<Vec<SiteHead>, StoreError> {
        self.rows().read("find ready sites", move |rows| sites::ready(rows, crawl, order, limit)).await
    }

    async fn site_window(&self, crawl: CrawlId, site: SiteId, limit: usize) -> Result<SiteWindow, StoreError> {
        self.rows().read("read a site's queue", move |rows| requests::window(rows, crawl, site, limit)).await
    }

    async fn wake_due(&self, crawl: CrawlId, now: Timestamp, limit: usize) -> Result<Woken, StoreError> {
        let next_due = self.rows().read("find due requests", move |rows| requests::next_due(rows, crawl)).await?;
        if limit == 0 || next_due.is_none_or(|due| due > now) {
            return Ok(Woken { sites: Vec::new(), next_due });
        }
        let wake = move |rows: &Connection| {
            let mut touched = Touched::default();
            for site in requests::wake(rows, crawl, now, limit)? {
                touched.changed(site);
            }
            touched.settle(rows)?;
            let sites = touched.sites().map(|site| sites::head_of(rows, site)).collect::<Done<_>>()?;
            Ok(Woken { sites, next_due: requests::next_due(rows, crawl)? })
        };
        self.rows().writer().call("wake due requests", move |desk| desk.write(|rows, _| wake(rows))).await
    }

    async fn commit(&self, crawl: CrawlId, group: Group) -> Result<Vec<CommitResult>, StoreError> {
        let work = move |desk: &mut Desk| {
            desk.check_place()?;
            let mut attempt = |guard| desk.write(|rows, notes| commit::group(rows, notes, crawl, &group, guard));
            match attempt(Guard::None) {
                // Once more, so that it fails alone.
                Err(trouble) if trouble.refused_value().is_some() => attempt(Guard::EachOutcome),
                done => done,
            }
        };
        self.rows().writer().call("commit", work).await
    }

    async fn mark_suspect(&self, crawl: CrawlId, request: RequestId, lease: Lease) -> Result<(), StoreError> {
        let mark = move |desk: &mut Desk| desk.write(|rows, _| crawls::mark_suspect(rows, crawl, request, lease));
        self.rows().writer().call("mark a suspect", mark).await
    }

    async fn mark_suspect_event(&self, crawl: CrawlId, event: EventId, lease: Lease) -> Result<(), StoreError> {
        let mark = move |desk: &mut Desk| desk.write(|rows, _| crawls::mark_suspect_event(rows, crawl, event, lease));
        self.rows().writer().call("mark a suspect", mark).await
    }

    async fn clear_suspect_event(&self, crawl: CrawlId, event: EventId, lease: Lease) -> Result<(), StoreError> {
        let clear = move |desk: &mut Desk| desk.write(|rows, _| crawls::clear_suspect_event(rows, crawl, event, lease));
        self.rows().writer().call("clear a suspect", clear).await
    }

    async fn counts(&self, crawl: CrawlId) -> Result<Counts, StoreError> {
        self.rows().read("count requests", move |rows| counters::counts(rows, crawl)).await
    }

    async fn statistics(&self, crawl: CrawlId) -> Result<Statistics, StoreError> {
        self.rows().read("read statistics", move |rows| counters::statistics(rows, crawl)).await
    }

    async fn crawl(&self, crawl: CrawlId) -> Result<CrawlRecord, StoreError> {
        self.rows().read("read the crawl", move |rows| crawls::record(rows, crawl)).await
    }

    async fn errors(&self, crawl: CrawlId, of: ErrorsOf, limit: usize) -> Result<Vec<ErrorSample>, StoreError> {
        self.rows().read("read errors", move |rows| errors::most_frequent(rows, crawl, of, limit)).await
    }

    async fn standing(&self, crawl: CrawlId, keys: &[UniqueKey], depth: u32) -> Result<Vec<KeyStanding>, StoreError> {
        let rows = self.rows();
        if rows.reader.is_closed() {
            return Err(StoreError::Closed);
        }
        let recalled = rows.known.recall(crawl, keys);
        let unsure = keys.iter().zip(&recalled).filter(|(_, recalled)| **recalled == Recall::Unsure);
        let asked: Vec<UniqueKey> = unsure.map(|(key, _)| *key).collect();
        let found = if asked.is_empty() { Vec::new() } else { rows.look_up(crawl, asked).await? };
        let mut found = found.into_iter();
        let answers = recalled.into_iter().map(|recalled| {
            let is_there = recalled == Recall::Unsure && found.next().unwrap_or(false);
            answer(recalled, is_there, depth)
        });
        Ok(answers.collect())
    }

    async fn lookup(&self, crawl: CrawlId, keys: &[UniqueKey]) -> Result<Vec<Option<RequestStatus>>, StoreError> {
        let keys = keys.to_vec();
        self.rows().read("look requests up", move |rows| requests::lookup(rows, crawl, &keys)).await
    }

    async fn final_taken(&self, crawl: CrawlId, label: Option<&str>, key: UniqueKey) -> Result<bool, StoreError> {
        let label = label.map(str::to_owned);
        self.rows().read("look a page up", move |rows| requests::final_taken(rows, crawl, label.as_deref(), &key)).await
    }

    async fn state_get(&self, crawler: &CrawlerId, key: &str) -> Result<StateRow, StoreError> {
        let (crawler, key) = (crawler.clone(), key.to_owned());
        self.rows().read("read state", move |rows| state::get(rows, crawler.as_str(), &key)).await
    }

    async fn state_keys(&self, crawler: &CrawlerId) -> Result<(Vec<String>, StateVersion), StoreError> {
        let crawler = crawler.clone();
        self.rows().read("list state", move |rows| state::keys(rows, &crawler)).await
    }

    async fn state_excerpt(&self, crawler: &CrawlerId, size: ExcerptSize) -> Result<StateExcerpt, StoreError> {
        let crawler = crawler.clone();
        self.rows().read("read state", move |rows| state::excerpt(&*rows.unchecked_transaction()?, &crawler, size)).await
    }

    async fn kv_get(&self, crawl: CrawlId, store: &KvStoreName, key: &str) -> Result<Option<KvValue>, StoreError> {
        let (store, key) = (store.clone(), key.to_owned());
        self.rows().read("read a key-value store", move |rows| key_values::get(rows, crawl, &store, &key)).await
    }

    async fn dataset_slice(
        &self,
        crawl: CrawlId,
        dataset: &DatasetName,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Result<DatasetSlice, StoreError> {
        let dataset = dataset.clone();
        let read = move |rows: &Connection| datasets::slice(rows, crawl, &dataset, after, Cut { rows: limit, bytes: max_bytes });
        self.rows().read("read a dataset", read).await
    }

    async fn sink(&self, crawl: CrawlId, target: &str) -> Result<Option<SinkRecord>, StoreError> {
        let target = target.to_owned();
        self.rows().read("read a sink's place", move |rows| sinks::get(rows, crawl, &target)).await
    }

    async fn put_sink(&self, crawl: CrawlId, record: &SinkRecord) -> Result<(), StoreError> {
        let record = record.clone();
        self.rows().writer().call("note a sink's place", move |desk| desk.write(|rows, _| sinks::put(rows, crawl, &record))).await
    }

    async fn open_pool(
        &self,
        crawl: CrawlId,
        lease: Lease,
        place: &PoolPlace,
        now: Timestamp,
        limit: usize,
    ) -> Result<OpenedPool, StoreError> {
        let place = place.clone();
        self.rows().write("open a session pool", move |rows| sessions::open(rows, (crawl, lease), &place, now, limit)).await
    }

    async fn usable_sessions(&self, pool: PoolId, most: usize) -> Result<usize, StoreError> {
        self.rows().read("count sessions", move |rows| sessions::usable(rows, pool, most)).await
    }

    async fn create_session(&self, user: PoolUser, session: &SessionRecord, uses: u32) -> Result<SessionCreated, StoreError> {
        let session = session.clone();
        self.rows().write("write a session", move |rows| sessions::create(rows, user, &session, uses)).await
    }

    async fn reserve_uses(&self, user: PoolUser, session: &SessionId, uses: u32) -> Result<Option<UseRange>, StoreError> {
        let session = session.clone();
        self.rows().write("reserve uses of a session", move |rows| sessions::reserve(rows, user, &session, uses)).await
    }

    async fn return_uses(&self, user: PoolUser, unused: &[(SessionId, UseRange)]) -> Result<(), StoreError> {
        let unused = unused.to_vec();
        self.rows().write("take uses of sessions back", move |rows| sessions::take_back(rows, user, &unused)).await
    }

    async fn session(&self, pool: PoolId, session: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        let session = session.clone();
        self.rows().read("read a session", move |rows| sessions::get(rows, pool, &session)).await
    }

    async fn sessions(&self, pool: PoolId) -> Result<Vec<SessionRecord>, StoreError> {
        self.rows().read("read sessions", move |rows| sessions::all(rows, pool)).await
    }

    async fn end_aged_sessions(&self, user: PoolUser, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.rows().write("end sessions that are too old", move |rows| sessions::end_aged(rows, user, now, limit)).await
    }

    async fn purge_sessions(&self, user: PoolUser, now: Timestamp, keep: usize, limit: usize) -> Result<usize, StoreError> {
        self.rows().write("take sessions away", move |rows| sessions::purge(rows, user, now, keep, limit)).await
    }

    async fn state_all(&self, crawler: &CrawlerId, max_bytes: usize) -> Result<Option<Vec<(String, String)>>, StoreError> {
        let crawler = crawler.clone();
        self.rows().read("read the state", move |rows| state::all(rows, &crawler, max_bytes)).await
    }

    async fn auto_saved(&self, crawler: &CrawlerId, max_bytes: usize) -> Result<Option<Vec<(AutoSaved, String)>>, StoreError> {
        let crawler = crawler.clone();
        self.rows().read("read auto-saved values", move |rows| state::auto_saved(rows, &crawler, max_bytes)).await
    }

    async fn events(&self, crawl: CrawlId, after: EventId, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.rows().read("read events", move |rows| events::waiting(rows, crawl, after, limit)).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.rows().reader.close().await?;
        let closed = self.rows().writer.close().await;
        // The next process may come.
        drop(self.rows().lock.lock().unwrap_or_else(PoisonError::into_inner).take());
        closed
    }
}
