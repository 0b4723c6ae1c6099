//! A disk that is full or nearly so, and the log.

use super::Job;
use crate::contract::{Crawl, items, page, pages, spec};
use crate::sqlite::Backed;
use crate::sqlite::desk::Desk;
use crate::sqlite::schema::{LOG_PAGES, PAGE_BYTES};
use crate::sqlite::trouble::Trouble;
use crate::{JobDir, JobSnapshot, Store, StoreError};
use nephila_model::{CommitLimits, DatasetName, Effects, Group};
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test]
async fn a_full_disk_rolls_the_group_back_and_the_store_goes_on() {
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    let most = async |count: i64| {
        let set =
            move |desk: &mut Desk| Ok(desk.connection.pragma_update_and_check(None, "max_page_count", count, |_| Ok(()))?);
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
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    crawl.accept(vec![page("1"), page("2")]).await;
    let log = job.path().join("nephila.db-wal");
    let log_size = move || std::fs::metadata(&log).expect("a log").len();
    assert!(log_size() > 0);
    let full_for = async |failures: u16| {
        let log_size = log_size.clone();
        let work = move |desk: &mut Desk| {
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
        let set = move |desk: &mut Desk| {
            desk.set_reserve(reserve);
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
async fn who_looks_at_a_job_is_not_waited_for_when_it_is_closed() {
    static WAITED: AtomicBool = AtomicBool::new(false);
    let wait = |_| {
        WAITED.store(true, Ordering::Relaxed);
        false
    };
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let request = crawl.accept_one("1").await;
    crawl.apply(crawl.handled(&request, items(&["a"]))).await;
    let moment = JobSnapshot::open(&JobDir::existing(job.path()).expect("a job"), None).expect("a moment");
    let watch = move |desk: &mut Desk| Ok(desk.connection.busy_handler(Some(wait))?);
    store.rows().writer().call("watch", watch).await.expect("watched");
    store.close().await.expect("closed");
    assert!(!WAITED.load(Ordering::Relaxed));
    // All of it is in the file.
    let copy = Job::new();
    std::fs::create_dir(copy.path()).expect("a folder");
    std::fs::copy(job.database(), copy.database()).expect("copied");
    let copied = JobSnapshot::open(&JobDir::existing(copy.path()).expect("a job"), None).expect("a moment");
    assert_eq!(copied.items(&DatasetName::Default, 0, 9, usize::MAX).expect("items").rows.len(), 1);
    assert_eq!(moment.items(&DatasetName::Default, 0, 9, usize::MAX).expect("items").rows.len(), 1);
}

#[tokio::test]
async fn the_log_stays_small() {
    const ITEM: i64 = 500_000;
    // Of a page in the log: its place and its checksum.
    const FRAME: i64 = 24;
    let job = Job::new();
    let crawl = job.crawl().await;
    let large = "x".repeat(usize::try_from(ITEM).expect("a size"));
    // Three times what the log may hold.
    for at in 0..3 * LOG_PAGES * PAGE_BYTES / ITEM {
        let request = crawl.accept_one(&at.to_string()).await;
        crawl.apply(crawl.handled(&request, items(&[&large]))).await;
    }
    // It is folded when the commit that filled it is done.
    let most = (LOG_PAGES + 2 * ITEM / PAGE_BYTES) * (PAGE_BYTES + FRAME);
    let bytes = std::fs::metadata(job.path().join("nephila.db-wal")).expect("a log").len();
    assert!(bytes <= most.unsigned_abs(), "{bytes} of {most}");
}
