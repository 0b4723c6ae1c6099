//! What the contract cannot ask of every store: plans, what a kill leaves, what others do to the files while a crawl runs.

mod disk;
mod files;
mod formats;
mod keys;
mod looking;
mod snapshot;

use super::{Durability, SqliteStore, read_status, requests, schema, sites};
use crate::contract::{Crawl, ending, items, page, pages, spec};
use crate::{JobDir, JobLock, SiteOrder, StoreError};
use nephila_model::{CommitLimits, Counter, DatasetName, Effects, Group, Rejection};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// A place for a job.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("job")
    }

    fn lock(&self) -> (JobDir, JobLock) {
        JobDir::open_or_create(self.path()).expect("a job")
    }

    fn open(&self) -> Result<Arc<SqliteStore>, StoreError> {
        let (dir, lock) = self.lock();
        SqliteStore::open(dir, lock, Durability::Kill).map(Arc::new)
    }

    fn database(&self) -> PathBuf {
        self.path().join("nephila.db")
    }

    /// A job with a request and an item in it, whose process was killed.
    async fn killed() -> Self {
        let job = Self::new();
        drop(job.worked().await);
        job
    }

    /// The same, closed.
    async fn closed() -> Self {
        let job = Self::new();
        let crawl = job.worked().await;
        crawl.store.close_crawl(crawl.id, &ending("ABORTED")).await.expect("closed");
        crawl.store.close().await.expect("closed");
        job
    }

    async fn worked(&self) -> Crawl {
        let crawl = self.crawl().await;
        let request = crawl.accept_one("1").await;
        crawl.accept_one("2").await;
        crawl.apply(crawl.handled(&request, items(&["a"]))).await;
        crawl
    }

    /// Every file with its bytes; of the index of the log, which belongs to whoever looks, only the name.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(self.path()).expect("entries") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name");
            let bytes = if name.ends_with("-shm") { Vec::new() } else { std::fs::read(entry.path()).expect("bytes") };
            files.insert(name, bytes);
        }
        files
    }

    fn edit(&self, sql: &str) {
        let connection = Connection::open(self.database()).expect("a connection");
        connection.execute_batch(sql).expect("edited");
    }

    /// Makes the first page of a table or an index unreadable.
    fn spoil(&self, part: &str) {
        let connection = Connection::open(self.database()).expect("a connection");
        let page: i64 =
            connection.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [part], |row| row.get(0)).expect("a page");
        drop(connection);
        let mut bytes = std::fs::read(self.database()).expect("bytes");
        let at = usize::try_from((page - 1) * schema::PAGE_BYTES).expect("a place");
        bytes[at..at + 4_096].fill(0xff);
        std::fs::write(self.database(), bytes).expect("written");
    }

    async fn crawl(&self) -> Crawl {
        Crawl::open(self.open().expect("a store"), spec("main")).await
    }
}

fn plan(connection: &Connection, query: &str, parameters: usize) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).expect("a query");
    let values = vec![0_i64; parameters];
    let lines = statement.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).expect("a plan");
    lines.collect::<Result<Vec<_>, _>>().expect("lines").join("; ")
}

#[test]
fn claims_and_wakings_seek_in_the_indexes_made_for_them() {
    let connection = schema::open_in_memory().expect("a connection");
    for (query, parameters, index) in [
        (requests::WINDOW, 3, "requests_ready"),
        (requests::NEXT_DUE, 1, "requests_undue"),
        (requests::DUE, 3, "requests_undue"),
        (requests::ENDED_THERE, 3, "requests_by_final"),
        (requests::BEGAN_AND_ENDED_THERE, 3, "requests_by_key"),
        (sites::HEAD, 1, "requests_ready"),
        (sites::READY_BY_HEAD, 2, "sites_by_head"),
        (sites::READY_BY_TURN, 2, "sites_by_turn"),
        (super::datasets::SLICE, 3, "items_by_dataset"),
        (super::failed_requests::SLICE, 4, "PRIMARY KEY"),
        (super::events::WAITING, 3, "events_by_crawl"),
        (super::session_endings::AGED, 3, "sessions_by_age"),
        (super::sessions::OVER, 3, "sessions_over"),
        (&format!("SELECT s.name FROM sessions s {}", super::sessions::USABLE_NEXT), 4, "sessions_by_age"),
    ] {
        let plan = plan(&connection, query, parameters);
        assert!(plan.starts_with("SEARCH") && plan.contains(index), "{query}: {plan}");
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{query}: {plan}");
    }
}

#[tokio::test]
async fn a_job_that_was_removed_or_replaced_is_noticed_and_what_replaced_it_is_left_alone() {
    let gone = |error: &StoreError| matches!(error, StoreError::Damaged { cause, .. } if cause.contains("removed or replaced"));
    for replaced in [false, true] {
        let job = Job::new();
        let crawl = job.worked().await;
        std::fs::rename(job.path(), job.folder.path().join("away")).expect("moved");
        if replaced {
            std::fs::create_dir(job.path()).expect("a folder");
            for name in ["lock", "nephila.db", "nephila.db-wal", "nephila.db-shm"] {
                std::fs::write(job.path().join(name), "another's").expect("written");
            }
        }
        let before = replaced.then(|| job.files());
        let request = crawl.queue("a.example").await.remove(0);
        // A commit looks once a second.
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
        let outcomes = vec![crawl.handled(&request, items(&["b"]))];
        let group = Group { outcomes, limits: CommitLimits::default() };
        for _ in 0..2 {
            let error = crawl.store.commit(crawl.id, group.clone()).await.expect_err("gone");
            assert!(gone(&error), "{error}");
        }
        assert!(gone(&crawl.store.close_crawl(crawl.id, &ending("FINISHED")).await.expect_err("gone")));
        assert!(gone(&crawl.store.close().await.expect_err("gone")));
        drop(crawl);
        assert_eq!(replaced.then(|| job.files()), before);
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_make_a_crawl_wait() {
    let job = Job::closed().await;
    let now = nephila_model::Timestamp::now().as_millis();
    let (soon, late) = (now + 3_600_000, now + 10 * 365 * 86_400_000);
    for (time, kept) in [(soon, true), (late, false)] {
        job.edit(&format!("UPDATE sites SET next_allowed = {time}; UPDATE requests SET not_before = {time} WHERE state = 0"));
        let crawl = job.crawl().await;
        let due = crawl.store.wake_due(crawl.id, nephila_model::Timestamp::EPOCH, 0).await.expect("an answer").next_due;
        let due = due.expect("one waits").as_millis();
        let woken = crawl.store.wake_due(crawl.id, nephila_model::Timestamp::now(), 9).await.expect("an answer");
        if kept {
            assert!(due == soon && woken.sites.is_empty());
        } else {
            assert!((now..soon).contains(&due), "{due}");
            assert!((now..soon).contains(&woken.sites[0].next_allowed.as_millis()));
        }
        crawl.store.close_crawl(crawl.id, &ending("ABORTED")).await.expect("closed");
        crawl.store.close().await.expect("closed");
    }
}

#[tokio::test]
async fn a_value_that_the_engine_refuses_fails_its_outcome_alone() {
    let job = Job::closed().await;
    job.edit(
        "CREATE TRIGGER no BEFORE INSERT ON items WHEN new.json LIKE '%poison%' BEGIN SELECT raise(ABORT, 'no poison'); END",
    );
    let crawl = job.crawl().await;
    let accepted = crawl.accept(vec![page("3"), page("4"), page("5")]).await;
    let with_site = |mark: &str| Effects { requests: pages(&["http://new.example/"]).requests, ..items(&["before", mark]) };
    let results = crawl
        .commit(vec![
            crawl.handled(&accepted[0], items(&["good"])),
            crawl.handled(&accepted[1], with_site("poison")),
            crawl.handled(&accepted[2], with_site("fine")),
        ])
        .await;
    assert!(results[0].is_ok() && results[2].is_ok());
    assert_eq!(results[1], Err(Rejection::Engine("no poison".into())));
    assert_eq!(crawl.items(&DatasetName::Default).await.len(), 4);
    assert_eq!(crawl.paths("a.example").await, ["2", "4"]);
    assert_eq!(crawl.queue("new.example").await.len(), 1);
    assert_eq!(crawl.count(Counter::Requests).await, 6);
}

/// Every outcome of the crawl below: handled page N has N % 3 items, one request to N + 100, and adds 1 to `n`.
async fn assert_only_whole_outcomes(job: &Job) -> u64 {
    let crawl = job.crawl().await;
    let (mut handled, mut written) = (0, 0);
    for at in 0..100_usize {
        let keys = [page(&at.to_string()).unique_key, page(&(at + 100).to_string()).unique_key];
        let found = crawl.store.lookup(crawl.id, &keys).await.expect("answers");
        let Some(status) = &found[0] else { continue };
        let is_handled = status.state == nephila_model::RequestState::Handled;
        assert_eq!(is_handled, found[1].is_some(), "page {at}");
        handled += u64::from(is_handled);
        written += if is_handled { at % 3 } else { 0 };
    }
    assert_eq!(crawl.items(&DatasetName::Default).await.len(), written);
    assert_eq!(crawl.state("n").await.unwrap_or_else(|| "0".into()), handled.to_string());
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!(counts.handled, handled);
    assert_eq!(counts.pending, u64::try_from(crawl.queue("a.example").await.len()).expect("a number"));
    handled
}

#[tokio::test]
async fn a_copy_taken_at_any_moment_has_whole_outcomes_alone() {
    let job = Job::new();
    let crawl = job.crawl().await;
    let accepted = crawl.accept((0..100).map(|path| page(&path.to_string())).collect()).await;
    for group in accepted.chunks(7) {
        let outcome = |request: &nephila_model::QueuedRequest| {
            let at: usize = request.url.path()[1..].parse().expect("a number");
            let mut effects = items(&["a", "b"][..at % 3]);
            effects.requests = vec![page(&(at + 100).to_string())];
            effects.state_ops = vec![nephila_model::StateOp::Increment { key: "n".into(), by: 1 }];
            crawl.handled(request, effects)
        };
        assert!(crawl.commit(group.iter().map(outcome).collect()).await.iter().all(Result::is_ok));
    }
    // The process is alive; its files are copied, and the log is cut as if the disk had got so far.
    let (database, log) = (std::fs::read(job.database()).expect("bytes"), job.path().join("nephila.db-wal"));
    let log = std::fs::read(log).expect("bytes");
    let mut seen = Vec::new();
    for part in 0..=24 {
        let copy = Job::new();
        drop(copy.lock());
        std::fs::write(copy.database(), &database).expect("written");
        std::fs::write(copy.path().join("nephila.db-wal"), &log[..log.len() * part / 24]).expect("written");
        seen.push(assert_only_whole_outcomes(&copy).await);
    }
    assert!(seen.is_sorted() && seen[0] == 0 && seen[24] == 100, "{seen:?}");
    assert!(seen.iter().filter(|handled| (1..100).contains(*handled)).count() > 5, "{seen:?}");
}

#[tokio::test]
async fn the_status_of_a_job_is_read_while_it_runs_when_it_rests_and_when_it_died() {
    let at_rest = Job::closed().await;
    let before = at_rest.files();
    let status = read_status(&JobDir::existing(at_rest.path()).expect("a job")).expect("a status");
    assert_eq!(at_rest.files(), before);
    assert!(!status.in_use);
    assert_eq!((status.counts.pending, status.counts.handled), (1, 1));
    assert_eq!(status.crawl.ending, Some(ending("ABORTED")));
    assert_eq!(status.statistics.get(&Counter::Items), 1);

    let crawl = at_rest.crawl().await;
    let dir = JobDir::existing(at_rest.path()).expect("a job");
    crawl.accept_one("3").await;
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.outcome(&request, crate::contract::failed(), Effects::default())).await;
    let status = read_status(&dir).expect("a status");
    assert!(status.in_use && status.crawl.ending.is_none());
    assert_eq!((status.counts.pending, status.counts.failed, status.errors.len()), (1, 1, 1));
    // It took nothing away.
    crawl.accept_one("4").await;
    assert!(matches!(JobDir::open_or_create(at_rest.path()), Err(StoreError::InUse { .. })));

    let dead = Job::killed().await;
    let before = dead.files();
    let status = read_status(&JobDir::existing(dead.path()).expect("a job")).expect("a status");
    assert_eq!(dead.files(), before);
    assert!(!status.in_use && status.crawl.ending.is_none());
    assert_eq!((status.counts.pending, status.counts.handled), (1, 1));
}

#[tokio::test]
async fn more_sites_than_are_remembered_are_told_apart() {
    let job = Job::new();
    let crawl = job.crawl().await;
    for round in 0..2 {
        let requests = (0..5_000).map(|site| page(&format!("http://s{site}.example/{round}")));
        assert_eq!(crawl.accept(requests.collect()).await.len(), 5_000);
    }
    assert_eq!(crawl.store.ready_sites(crawl.id, SiteOrder::ByTurn, 9_999).await.expect("sites").len(), 5_000);
    assert_eq!(crawl.queue("s7.example").await.len(), 2);
}
