//! A job of an older format: looked at as it is, and upgraded when its crawl is opened.

use super::Job;
use crate::contract::{Crawl, ending, items, reason, retry_at, spec};
use crate::sqlite::read_status;
use crate::{Company, CrawlSpec, ErrorsOf, JobDir, Store, StoreError};
use nephila_model::{Counter, Effects, PoolPlace, Timestamp, Verdict};

/// What format 2 had not.
const BACK_TO_2: &str = "DROP TABLE session_pools; DROP TABLE sessions; DROP TABLE session_cookies; DROP TABLE events;
    DROP TABLE retry_errors;
    PRAGMA user_version = 2;";

pub(super) async fn of_format_2() -> Job {
    let job = Job::closed().await;
    job.edit(BACK_TO_2);
    assert_eq!(format_in_header(&job), 2);
    job
}

fn format_in_header(job: &Job) -> u8 {
    std::fs::read(job.database()).expect("bytes")[63]
}

async fn goes_on(crawl: &Crawl) {
    assert_eq!(crawl.paths("a.example").await, ["2"]);
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.handled(&request, items(&["b"]))).await;
    let pool = crawl
        .store
        .open_pool(crawl.id, crawl.leases.of(nephila_model::Shard::CRAWL), &PoolPlace::default(), Timestamp::now(), 9)
        .await
        .expect("a pool");
    assert!(pool.sessions.is_empty());
}

#[tokio::test]
async fn a_job_of_format_2_is_upgraded_when_its_crawl_is_opened() {
    let job = of_format_2().await;
    let crawl = job.crawl().await;
    // At once in the file itself, so that an older version refuses it before it opens it.
    assert_eq!(format_in_header(&job), 3);
    goes_on(&crawl).await;
    crawl.store.close_crawl(crawl.id, &ending("SUCCEEDED")).await.expect("closed");
    crawl.store.close().await.expect("closed");
    let status = read_status(&JobDir::existing(job.path()).expect("a job")).expect("a status");
    assert_eq!((status.counts.handled, status.counts.pending), (2, 0));
}

#[tokio::test]
async fn a_job_of_format_2_whose_process_was_killed_is_upgraded_too() {
    let job = Job::killed().await;
    job.edit(BACK_TO_2);
    goes_on(&job.crawl().await).await;
}

#[tokio::test]
async fn a_job_of_format_2_is_looked_at_and_refused_as_it_is() {
    let job = of_format_2().await;
    std::fs::write(job.path().join("lock"), "4711\n").expect("written");
    let before = job.files();
    let status = read_status(&JobDir::existing(job.path()).expect("a job")).expect("a status");
    assert_eq!((status.counts.handled, status.counts.pending), (1, 1));
    let store = job.open().expect("a store");
    let other = CrawlSpec { plugin_name: "news".into(), company: Company::Alone, ..spec("main") };
    assert!(matches!(store.open_crawl(&other).await, Err(StoreError::OtherPlugin { .. })));
    assert!(store.find_crawl(&spec("main")).await.expect("an answer").is_some());
    drop(store);
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn an_upgrade_that_did_not_come_to_its_end_did_not_happen() {
    let job = of_format_2().await;
    // The opening fails behind the upgrade, in the same transaction.
    job.edit("CREATE TRIGGER no BEFORE UPDATE ON crawls BEGIN SELECT raise(ABORT, 'not today'); END");
    let store = job.open().expect("a store");
    assert!(store.open_crawl(&spec("main")).await.is_err());
    store.close().await.expect("closed");
    assert_eq!(format_in_header(&job), 2);
    job.edit("DROP TRIGGER no");
    goes_on(&job.crawl().await).await;
}

#[tokio::test]
async fn a_job_of_format_3_without_its_session_tables_is_damaged() {
    let job = Job::closed().await;
    job.edit("DROP INDEX sessions_by_name");
    assert!(matches!(job.open().err().expect("refused"), StoreError::Damaged { .. }));
}

#[tokio::test]
async fn a_job_of_an_earlier_version_of_format_3_is_looked_at_and_goes_on() {
    let job = Job::closed().await;
    job.edit("DROP TABLE retry_errors; DELETE FROM counters WHERE name LIKE '%-millis'");
    std::fs::write(job.path().join("lock"), "4711\n").expect("written");
    let before = job.files();
    let status = read_status(&JobDir::existing(job.path()).expect("a job")).expect("a status");
    assert!(status.retry_errors.is_empty());
    assert_eq!(status.statistics.find(&Counter::LeastFinishedMillis), None);
    assert_eq!(job.files(), before);
    let crawl = job.crawl().await;
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.outcome(&request, retry_at(0), Effects::default())).await;
    let errors = crawl.store.errors(crawl.id, ErrorsOf::RetriedAttempts, 9).await.expect("errors");
    assert_eq!((errors.len(), errors[0].count), (1, 1));
}

#[tokio::test]
async fn errors_that_an_earlier_version_grouped_by_their_code_are_read_and_stay() {
    let job = Job::closed().await;
    job.edit(
        "INSERT INTO errors (crawl, code, count, url, message) SELECT id, 'timeout', 7, 'http://a.example/', 'late' FROM crawls",
    );
    let crawl = job.crawl().await;
    let request = crawl.queue("a.example").await.remove(0);
    let failed = Verdict::Failed { reason: reason("timeout"), final_url: None };
    crawl.apply(crawl.outcome(&request, failed, Effects::default())).await;
    let errors = crawl.store.errors(crawl.id, ErrorsOf::FailedRequests, 9).await.expect("errors");
    let seen: Vec<_> = errors.iter().map(|error| (error.code.as_str(), error.shape.as_deref(), error.count)).collect();
    assert_eq!(seen, [("timeout", None, 7), ("timeout", Some("timeout happened"), 1)]);
}
