//! A job at one moment: whatever happens to it meanwhile.

use super::Job;
use crate::contract::{ending, items, spec};
use crate::{JobDir, JobSnapshot, RequestPart, StoreError};
use nephila_model::{Counter, CrawlerId, DatasetName, RequestState};

fn snapshot(job: &Job) -> JobSnapshot {
    JobSnapshot::open(&JobDir::existing(job.path()).expect("a job"), None).expect("a moment")
}

fn item_count(job: &JobSnapshot) -> usize {
    job.items(&DatasetName::Default, 0, 100, usize::MAX).expect("items").rows.len()
}

fn paths(job: &JobSnapshot, part: RequestPart) -> Vec<(String, RequestState)> {
    let read = |requests: crate::Pull<'_, crate::StoredRequest>| {
        requests.map(|stored| stored.map(|stored| (stored.request.url.path().to_owned(), stored.state))).collect()
    };
    let read: Result<Vec<_>, StoreError> = job.requests(part, read).expect("requests");
    read.expect("requests")
}

#[tokio::test]
async fn what_is_committed_meanwhile_is_not_seen() {
    let job = Job::new();
    let crawl = job.worked().await;
    let before = snapshot(&job);
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.handled(&request, items(&["b"]))).await;
    for (moment, done) in [(&before, 1), (&snapshot(&job), 2)] {
        assert_eq!(item_count(moment), done);
        assert_eq!(moment.statistics().expect("counters").get(&Counter::Finished), done as u64);
        assert_eq!((paths(moment, RequestPart::Ended).len(), paths(moment, RequestPart::Pending).len()), (done, 2 - done));
    }
    assert_eq!(paths(&before, RequestPart::Pending), [("/2".to_owned(), RequestState::Pending)]);
    assert_eq!(paths(&before, RequestPart::Ended), [("/1".to_owned(), RequestState::Handled)]);
}

#[tokio::test]
async fn a_job_at_rest_is_held_and_left_as_it_is() {
    let job = Job::closed().await;
    let before = job.files();
    let moment = snapshot(&job);
    let refused = JobDir::open_or_create(job.path()).expect_err("it is looked at");
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    assert_eq!(item_count(&moment), 1);
    // Others may look, too.
    assert_eq!(item_count(&snapshot(&job)), 1);
    drop(moment);
    assert_eq!(job.files(), before);
    job.crawl().await;
}

#[tokio::test]
async fn a_job_that_was_killed_shows_all_that_was_committed() {
    let job = Job::killed().await;
    let before = job.files();
    assert_eq!(item_count(&snapshot(&job)), 1);
    let after = job.files();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
}

#[tokio::test]
async fn a_job_of_an_older_format_is_read_without_what_it_lacks() {
    let job = super::formats::of_format_2().await;
    let before = job.files();
    let moment = snapshot(&job);
    assert_eq!((item_count(&moment), moment.session_pools().expect("pools").len()), (1, 0));
    drop(moment);
    assert_eq!(job.files(), before);
}

#[tokio::test]
async fn of_several_crawls_the_one_that_is_asked_for_is_read() {
    let job = Job::new();
    let one = job.worked().await;
    let other = crate::contract::Crawl::open(one.store.clone(), spec("other")).await;
    other.store.close_crawl(other.id, &ending("SUCCEEDED")).await.expect("closed");
    let dir = JobDir::existing(job.path()).expect("a job");
    let open = |crawler: &str| JobSnapshot::open(&dir, Some(&CrawlerId::new(crawler).expect("an id")));
    assert_eq!(item_count(&open("main").expect("a moment")), 1);
    assert_eq!(item_count(&open("other").expect("a moment")), 0);
    assert!(matches!(open("nobody").err(), Some(StoreError::NoCrawler { .. })));
}
