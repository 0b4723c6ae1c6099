//! Who looks at a job from outside, as slowly as somebody likes: nothing is held meanwhile, and it is said what runs.

use super::Job;
use crate::contract::{Crawl, ending, failed as fails, items, page, reason, retry_at, spec};
use crate::sqlite::desk::Desk;
use crate::sqlite::{Backed, SqliteStore, list_crawls, read_status_of};
use crate::{Activity, Company, CrawlSpec, FailedRequest, FailedRequests, JobDir, JobItems, JobSnapshot, Store, StoreError};
use nephila_model::{CrawlerId, DatasetName, Effects, FailureReason, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn snapshot(job: &Job) -> JobSnapshot {
    JobSnapshot::open(&JobDir::existing(job.path()).expect("a job"), None).expect("a moment")
}

fn failed(job: &Job) -> FailedRequests {
    FailedRequests::open(&JobDir::existing(job.path()).expect("a job"), None).expect("a list")
}

fn slices(items: &JobItems) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let slice = items.slice(&DatasetName::Default, after, 1, usize::MAX).expect("a slice");
        for row in slice.rows {
            after = row.sequence;
            found.push(row.json);
        }
        if !slice.more {
            return found;
        }
    }
}

/// Whether nobody keeps the log from being emptied.
async fn log_can_be_emptied(job: &Arc<SqliteStore>) -> bool {
    let empty = |desk: &mut Desk| {
        desk.connection.busy_timeout(Duration::ZERO)?;
        Ok(desk.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))? == 0)
    };
    job.rows().writer().call("empty the log", empty).await.expect("an answer")
}

#[tokio::test]
async fn items_that_are_read_slowly_hold_nothing_and_are_those_of_their_moment() {
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let add = async |path: &str| {
        let request = crawl.accept_one(path).await;
        crawl.apply(crawl.handled(&request, items(&["a", "b"]))).await;
    };
    add("1").await;
    let moment = snapshot(&job);
    let all = moment.all_items().expect("items");
    assert!(!log_can_be_emptied(&store).await, "a snapshot is inside a transaction");
    drop(moment);
    let first = all.slice(&DatasetName::Default, 0, 1, usize::MAX).expect("a slice");
    assert!(first.more && log_can_be_emptied(&store).await);
    add("2").await;
    assert_eq!(slices(&all).len(), 2);
    assert_eq!(slices(&snapshot(&job).all_items().expect("items")).len(), 4);
}

#[tokio::test]
async fn a_job_whose_items_are_read_is_started_meanwhile() {
    for job in [Job::closed().await, Job::killed().await] {
        let all = snapshot(&job).all_items().expect("items");
        assert_eq!(slices(&all).len(), 1);
        let crawl = job.crawl().await;
        let request = crawl.accept_one("3").await;
        crawl.apply(crawl.handled(&request, items(&["c"]))).await;
        assert_eq!(slices(&all).len(), 1);
        crawl.store.close_crawl(crawl.id, &ending("SUCCEEDED")).await.expect("closed");
        crawl.store.close().await.expect("closed");
        assert_eq!(slices(&all).len(), 1);
    }
}

#[tokio::test]
async fn items_of_a_job_that_another_has_taken_the_place_of_are_refused() {
    let job = Job::closed().await;
    let all = snapshot(&job).all_items().expect("items");
    job.edit("UPDATE crawls SET created_at = created_at + 1");
    let refused = all.slice(&DatasetName::Default, 0, 1, usize::MAX).expect_err("another job");
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
    std::fs::remove_dir_all(job.path()).expect("removed");
    let refused = all.slice(&DatasetName::Default, 0, 1, usize::MAX).expect_err("no job");
    assert!(matches!(refused, StoreError::NoJob { .. }), "{refused}");
}

#[tokio::test]
async fn a_start_gets_in_between_the_slices_of_who_reads_all_the_time() {
    let job = Job::closed().await;
    let all = snapshot(&job).all_items().expect("items");
    let (is_enough, read) = (AtomicBool::new(false), AtomicUsize::new(0));
    let started = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_enough.load(Ordering::Relaxed) {
                assert_eq!(slices(&all).len(), 1);
                read.fetch_add(1, Ordering::Relaxed);
            }
        });
        while read.load(Ordering::Relaxed) == 0 && !reader.is_finished() {
            std::thread::yield_now();
        }
        let started = job.open();
        is_enough.store(true, Ordering::Relaxed);
        started
    });
    assert!(started.is_ok(), "{:?}", started.err());
}

#[tokio::test]
async fn failed_requests_are_listed_in_their_order_with_what_is_known_of_them() {
    let job = Job::new();
    let crawl = job.worked().await;
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.outcome(&request, retry_at(0), Effects::default())).await;
    let reason = FailureReason { status: Some(503), ..reason("status") };
    let gone = Verdict::Failed { reason, final_url: None };
    crawl.apply(crawl.outcome(&request, gone, Effects::default())).await;
    let all = failed(&job).collect::<Result<Vec<_>, _>>().expect("rows");
    let expected = FailedRequest {
        url: "http://a.example/2".into(),
        original_url: None,
        label: None,
        attempts: 2,
        status: Some(503),
        code: "status".into(),
        message: "status happened".into(),
    };
    assert_eq!(all, [expected]);
}

#[tokio::test]
async fn failed_requests_are_listed_all_however_many_there_are_and_wherever() {
    let job = Job::new();
    let crawl = job.crawl().await;
    let accepted = crawl.accept((0..2_300).map(|path| page(&path.to_string())).collect()).await;
    let outcomes = accepted.iter().map(|request| crawl.outcome(request, fails(), Effects::default()));
    assert!(crawl.commit(outcomes.collect()).await.iter().all(Result::is_ok));
    crawl.store.close_crawl(crawl.id, &ending("SUCCEEDED")).await.expect("closed");
    crawl.store.close().await.expect("closed");
    // Between them as many others as are looked through at once, several times.
    job.edit("UPDATE requests SET id = id + 50000 WHERE id > 1100");
    let urls = failed(&job).map(|found| found.expect("a row").url).collect::<Vec<_>>();
    assert!(urls.iter().eq(accepted.iter().map(|request| request.url.as_str())), "{}", urls.len());
}

#[tokio::test]
async fn a_list_of_failed_requests_that_is_read_slowly_holds_nothing() {
    let job = Job::new();
    let store = job.open().expect("a store");
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let fail = async |path: &str| {
        let request = crawl.accept_one(path).await;
        crawl.apply(crawl.outcome(&request, fails(), Effects::default())).await;
    };
    fail("1").await;
    let mut list = failed(&job);
    assert!(log_can_be_emptied(&store).await);
    fail("2").await;
    assert_eq!(list.next().expect("one").expect("a row").url, "http://a.example/1");
    assert!(log_can_be_emptied(&store).await);
    assert!(list.next().is_none(), "it was accepted later");
    crawl.store.close_crawl(crawl.id, &ending("SUCCEEDED")).await.expect("closed");
    crawl.store.close().await.expect("closed");
    drop((crawl, store));
    let mut list = failed(&job);
    let crawl = job.crawl().await;
    assert_eq!(list.next().expect("one").expect("a row").url, "http://a.example/1");
    crawl.accept_one("3").await;
    assert_eq!(list.count(), 1);
}

#[tokio::test]
async fn of_several_crawls_each_can_be_looked_at_and_an_unknown_one_names_those_there_are() {
    let job = Job::new();
    let store = job.open().expect("a store");
    for id in ["first", "second"] {
        let spec = CrawlSpec { company: Company::Shared, ..spec(id) };
        let crawl = Crawl::open(Arc::clone(&store) as Arc<dyn Store>, spec).await;
        let request = crawl.accept_one(id).await;
        if id == "first" {
            crawl.apply(crawl.handled(&request, items(&["a"]))).await;
            crawl.store.close_crawl(crawl.id, &ending("SUCCEEDED")).await.expect("closed");
        }
    }
    let dir = JobDir::existing(job.path()).expect("a job");
    let crawls = list_crawls(&dir).expect("crawls");
    let mut seen: Vec<_> = crawls.iter().map(|one| (one.crawl.crawler_id.as_str(), one.items, one.counts.pending)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [("first", 1, 0), ("second", 0, 1)]);
    let of = |id: &str| read_status_of(&dir, Some(&CrawlerId::new(id).expect("an id")));
    assert_eq!(of("first").expect("a status").counts.handled, 1);
    assert_eq!(of("second").expect("a status").counts.pending, 1);
    let refused = of("third").expect_err("there is none").to_string();
    assert!(refused.contains("`third`") && refused.contains("`first`") && refused.contains("`second`"), "{refused}");
}

#[tokio::test]
async fn of_several_crawls_those_run_that_the_process_in_the_store_works_on() {
    let job = Job::new();
    let open = async |store: &Arc<SqliteStore>, id: &str| {
        Crawl::open(Arc::clone(store) as Arc<dyn Store>, CrawlSpec { company: Company::Shared, ..spec(id) }).await
    };
    drop(open(&job.open().expect("a store"), "died").await);
    // Longer ago than a clock can tell.
    job.edit("UPDATE crawls SET opened_at = opened_at - 1000");
    let dir = JobDir::existing(job.path()).expect("a job");
    let activities = || {
        let listed = list_crawls(&dir).expect("crawls").into_iter().map(|one| (one.crawl.crawler_id.to_string(), one.activity));
        let listed = listed.collect::<BTreeMap<_, _>>();
        for (id, activity) in &listed {
            let status = read_status_of(&dir, Some(&CrawlerId::new(id).expect("an id"))).expect("a status");
            assert_eq!(status.activity, *activity, "{id}");
        }
        let running = listed.into_iter().filter(|(_, activity)| *activity == Activity::Running);
        running.map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert!(activities().is_empty());
    let store = job.open().expect("a store");
    let (one, other) = (open(&store, "one").await, open(&store, "two").await);
    let done = open(&store, "done").await;
    store.close_crawl(done.id, &ending("SUCCEEDED")).await.expect("closed");
    assert_eq!(activities(), ["one", "two"]);
    store.close_crawl(one.id, &ending("SUCCEEDED")).await.expect("closed");
    assert_eq!(activities(), ["two"]);
    // The one that died is gone on with.
    let again = open(&store, "died").await;
    assert_eq!(activities(), ["died", "two"]);
    drop((store, one, other, done, again));
    assert!(activities().is_empty());
}
