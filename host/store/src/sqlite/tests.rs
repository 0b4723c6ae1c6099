//! What the contract cannot ask of every store: files, plans, a full disk, what a kill leaves.

use super::{Backed, Durability, SqliteStore, read_status, requests, schema, sites};
use crate::contract::{Crawl, ending, items, page, pages, spec};
use crate::{Company, CrawlSpec, JobDir, JobLock, SiteOrder, Store, StoreError};
use nephila_model::{CommitLimits, Counter, DatasetName, Effects, Group, Rejection};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
        (requests::FINAL_TAKEN, 3, "requests_by_final"),
        (sites::READY_BY_HEAD, 2, "sites_by_head"),
        (sites::READY_BY_TURN, 2, "sites_by_turn"),
        (super::datasets::SLICE, 3, "items_by_dataset"),
    ] {
        let plan = plan(&connection, query, parameters);
        assert!(plan.starts_with("SEARCH") && plan.contains(index), "{query}: {plan}");
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{query}: {plan}");
    }
    let settle = plan(&connection, sites::SETTLE, 4);
    assert!(settle.contains("INDEX requests_ready") && !settle.contains("SCAN") && !settle.contains("TEMP"), "{settle}");
}

#[tokio::test]
async fn refused_files_stay_as_they_are_to_the_byte() {
    type Edit = Box<dyn Fn(&Path)>;
    type Refused = fn(&StoreError) -> bool;
    let header = |at: usize, value: u8| {
        move |path: &Path| {
            let mut bytes = std::fs::read(path).expect("bytes");
            bytes[at] = value;
            std::fs::write(path, bytes).expect("written");
        }
    };
    let cases: [(Edit, Refused); 5] = [
        (Box::new(header(63, 99)), |error| matches!(error, StoreError::NewerFormat { found: 99, known: 1 })),
        (Box::new(header(70, 7)), |error| matches!(error, StoreError::NotAJob { .. })),
        (Box::new(header(0, b'?')), |error| matches!(error, StoreError::Damaged { .. })),
        (Box::new(|path| std::fs::write(path, "a note").expect("written")), |error| matches!(error, StoreError::Damaged { .. })),
        (
            Box::new(|path| {
                let bytes = std::fs::read(path).expect("bytes");
                std::fs::write(path, &bytes[..bytes.len() - 4_096]).expect("written");
            }),
            |error| matches!(error, StoreError::Damaged { .. }),
        ),
    ];
    for (edit, expected) in cases {
        let job = Job::closed().await;
        edit(&job.database());
        std::fs::write(job.path().join("lock"), "4711\n").expect("written");
        let before = job.files();
        let error = job.open().err().expect("refused");
        assert!(expected(&error), "{error}");
        let dir = JobDir::existing(job.path()).expect("a job");
        assert!(expected(&read_status(&dir).expect_err("refused")));
        assert_eq!(job.files(), before);
    }
}

#[tokio::test]
async fn a_refused_crawl_leaves_every_file_as_it_is() {
    for (job, has_log) in [(Job::closed().await, false), (Job::killed().await, true)] {
        std::fs::write(job.path().join("lock"), "4711\n").expect("written");
        let before = job.files();
        assert_eq!(before.contains_key("nephila.db-wal"), has_log);
        let store = job.open().expect("a store");
        let other = CrawlSpec { plugin_name: "news".into(), company: Company::Alone, ..spec("main") };
        assert!(matches!(store.find_crawl(&other).await, Err(StoreError::OtherPlugin { .. })));
        assert!(matches!(store.open_crawl(&other).await, Err(StoreError::OtherPlugin { .. })));
        drop(store);
        assert_eq!(job.files(), before);
        // Nor does looking for it, when it is there and when it is not.
        let store = job.open().expect("a store");
        assert!(store.find_crawl(&spec("main")).await.expect("an answer").is_some());
        assert_eq!(store.find_crawl(&spec("side")).await.expect("an answer"), None);
        drop(store);
        assert_eq!(job.files(), before);
    }
    let job = Job::closed().await;
    job.edit("UPDATE meta SET value = 2 WHERE name = 'normaliser'");
    let before = job.files();
    let store = job.open().expect("a store");
    let error = store.open_crawl(&spec("main")).await.expect_err("refused");
    assert!(matches!(error, StoreError::OtherNormaliser { found: 2, known: 1 }));
    drop(store);
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn a_clean_close_leaves_one_file() {
    let job = Job::closed().await;
    assert_eq!(job.files().into_keys().collect::<Vec<_>>(), ["lock", "nephila.db"]);
    assert_eq!(std::fs::read(job.path().join("lock")).expect("bytes"), b"");
}

#[tokio::test]
async fn a_file_whose_maker_died_is_made() {
    let job = Job::new();
    let (_, lock) = job.lock();
    drop(lock);
    std::fs::write(job.database(), b"").expect("written");
    assert!(matches!(read_status(&JobDir::existing(job.path()).expect("a job")), Err(StoreError::NoJob { .. })));
    job.crawl().await.accept_one("1").await;
}

#[tokio::test]
async fn an_empty_file_beside_a_log_is_damaged_and_the_log_stays() {
    let job = Job::killed().await;
    std::fs::write(job.database(), b"").expect("written");
    let before = job.files();
    assert!(!before["nephila.db-wal"].is_empty());
    assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }));
    assert!(matches!(read_status(&JobDir::existing(job.path()).expect("a job")), Err(StoreError::Damaged { .. })));
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn a_log_that_is_no_file_is_damaged() {
    for name in ["nephila.db-wal", "nephila.db-shm", "nephila.db-journal"] {
        let job = Job::closed().await;
        std::os::unix::fs::symlink("lock", job.path().join(name)).expect("a link");
        let before = job.files();
        assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }), "{name}");
        assert_eq!(job.files(), before);
    }
}

#[tokio::test]
async fn a_file_whose_maker_died_inside_its_first_transaction_is_made_again() {
    let (dying, job) = (Job::new(), Job::new());
    drop((dying.lock(), job.lock()));
    let look = || read_status(&JobDir::existing(job.path())?);
    assert!(matches!(look(), Err(StoreError::NoJob { .. })));
    let maker = Connection::open(dying.database()).expect("a connection");
    maker.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE a (b); CREATE TABLE c (d);").expect("begun");
    for _ in 0..100 {
        maker.execute("INSERT INTO a VALUES (randomblob(2000))", []).expect("written");
    }
    for name in ["nephila.db", "nephila.db-journal"] {
        let bytes = std::fs::read(dying.path().join(name)).expect("bytes");
        assert!(!bytes.is_empty(), "{name}");
        std::fs::write(job.path().join(name), bytes).expect("written");
    }
    let before = job.files();
    assert!(matches!(look(), Err(StoreError::NoJob { .. })));
    assert_eq!(job.files(), before);
    job.crawl().await.accept_one("1").await;
    assert_eq!(look().expect("a status").counts.pending, 1);
}

#[tokio::test]
async fn a_job_in_which_no_crawl_was_opened_is_none_yet() {
    let job = Job::new();
    let store = job.open().expect("a store");
    for _ in 0..2 {
        let dir = JobDir::existing(job.path()).expect("a database");
        assert!(matches!(read_status(&dir), Err(StoreError::NoJob { .. })));
        store.close().await.expect("closed");
    }
    job.crawl().await.accept_one("1").await;
}

#[tokio::test]
async fn a_missing_index_is_found_at_opening_and_a_bad_page_when_it_is_read() {
    let job = Job::closed().await;
    job.edit("DROP INDEX requests_ready");
    assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }));

    let job = Job::closed().await;
    let connection = Connection::open(job.database()).expect("a connection");
    let page: i64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'requests_ready'", [], |row| row.get(0))
        .expect("a page");
    drop(connection);
    let mut bytes = std::fs::read(job.database()).expect("bytes");
    let at = usize::try_from((page - 1) * 4_096).expect("a place");
    bytes[at..at + 4_096].fill(0xff);
    std::fs::write(job.database(), bytes).expect("written");
    let store = job.open().expect("it looks whole");
    let opened = store.open_crawl(&spec("main")).await.expect("opened");
    let site = store.ready_sites(opened.record.id, SiteOrder::ByHead, 1).await.expect("a site")[0].id;
    let error = store.site_window(opened.record.id, site, 1).await.expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[tokio::test]
async fn a_full_disk_rolls_the_group_back_and_the_store_goes_on() {
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    let most = async |count: i64| {
        let set = move |desk: &mut super::worker::Desk| {
            Ok(desk.connection.pragma_update_and_check(None, "max_page_count", count, |_| Ok(()))?)
        };
        store.rows().writer().call("limit the file", set).await.expect("set");
    };
    most(1).await;
    let large = "x".repeat(300_000);
    let group = Group {
        outcomes: vec![
            crawl.handled(&accepted[0], Effects { requests: pages(&["http://new.example/"]).requests, ..items(&["small"]) }),
            crawl.handled(&accepted[1], items(&[&large])),
        ],
        limits: CommitLimits::default(),
    };
    for _ in 0..2 {
        let error = crawl.store.commit(crawl.id, group.clone()).await.expect_err("full");
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
        assert!(crawl.items(&DatasetName::Default).await.is_empty());
        assert_eq!(crawl.paths("a.example").await, ["1", "2"]);
    }
    most(1_000_000).await;
    assert!(crawl.commit(group.outcomes).await.iter().all(Result::is_ok));
    assert_eq!(crawl.queue("new.example").await.len(), 1);
}

#[tokio::test]
async fn a_full_disk_is_tried_again_with_the_log_folded_and_once_only() {
    use super::trouble::Trouble;
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    crawl.accept(vec![page("1"), page("2")]).await;
    let log = job.path().join("nephila.db-wal");
    let log_size = move || std::fs::metadata(&log).expect("a log").len();
    assert!(log_size() > 0);
    let full_for = async |failures: u16| {
        let log_size = log_size.clone();
        let work = move |desk: &mut super::worker::Desk| {
            let mut sizes = Vec::new();
            let done = desk.write(|rows, _| {
                sizes.push(log_size());
                rows.execute("INSERT INTO meta VALUES ('test' || ?1, 1)", [failures])?;
                let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
                if sizes.len() <= usize::from(failures) {
                    Err(Trouble::Sql(rusqlite::Error::SqliteFailure(full, None)))
                } else {
                    Ok(())
                }
            });
            Ok((done.map_err(|trouble| trouble.into_error("test", "it")), sizes))
        };
        store.rows().writer().call("test", work).await.expect("an answer")
    };
    let (done, sizes) = full_for(1).await;
    assert!(done.is_ok() && sizes.len() == 2 && sizes[0] > 0 && sizes[1] == 0, "{done:?} {sizes:?}");
    let (done, sizes) = full_for(2).await;
    assert!(matches!(done, Err(StoreError::DiskFull { .. })) && sizes.len() == 2, "{done:?} {sizes:?}");
    assert_eq!(crawl.paths("a.example").await, ["1", "2"]);
}

#[tokio::test]
async fn on_a_disk_that_is_nearly_full_the_log_holds_the_last_commit_alone() {
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let size = || std::fs::metadata(job.database()).expect("a file").len();
    let large = "x".repeat(300_000);
    let mut grown = Vec::new();
    for reserve in [0, u64::MAX] {
        let before = size();
        let set = move |desk: &mut super::worker::Desk| {
            desk.reserve = reserve;
            Ok(())
        };
        store.rows().writer().call("set the reserve", set).await.expect("set");
        let request = crawl.accept_one(&reserve.to_string()).await;
        crawl.apply(crawl.handled(&request, items(&[&large]))).await;
        grown.push(size() - before);
    }
    assert!(grown[0] == 0 && grown[1] > 500_000, "{grown:?}");
}

#[tokio::test]
async fn a_log_that_was_left_is_folded_when_its_crawl_is_opened() {
    let job = Job::killed().await;
    let log = job.path().join("nephila.db-wal");
    assert!(log.metadata().expect("a log").len() > 0);
    let crawl = job.crawl().await;
    assert_eq!(log.metadata().expect("a log").len(), 0);
    assert_eq!(crawl.paths("a.example").await, ["2"]);
}

#[tokio::test]
async fn the_log_stays_small() {
    let job = Job::new();
    let crawl = job.crawl().await;
    let large = "x".repeat(500_000);
    for at in 0..60 {
        let request = crawl.accept_one(&at.to_string()).await;
        crawl.apply(crawl.handled(&request, items(&[&large]))).await;
    }
    let bytes = std::fs::metadata(job.path().join("nephila.db-wal")).expect("a log").len();
    assert!(bytes < 12_000_000, "{bytes}");
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
