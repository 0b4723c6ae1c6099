//! A job at one moment: whatever happens to it meanwhile.

use super::Job;
use crate::contract::{ending, items, spec};
use crate::{JobDir, JobSnapshot, RequestPart, StoreError};
use nephila_model::{
    AutoSaved, Counter, CrawlerId, DatasetName, Effects, KeyValueWrite, KvStoreName, KvValue, PoolPlace, RequestState, Shard,
    StateOp, Timestamp,
};

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

#[tokio::test]
async fn what_sqlite_itself_keeps_true_is_not_held() {
    let job = Job::killed().await;
    let moment = snapshot(&job);
    let crawl = job.crawl().await;
    let request = crawl.accept_one("3").await;
    crawl.apply(crawl.handled(&request, items(&["c"]))).await;
    assert_eq!(item_count(&moment), 1);
}

#[tokio::test]
async fn a_copy_without_its_lock_file_is_read_truly_though_a_crawl_begins_in_it() {
    let job = Job::closed().await;
    std::fs::remove_file(job.path().join("lock")).expect("removed");
    let moment = snapshot(&job);
    let crawl = job.crawl().await;
    let request = crawl.accept_one("3").await;
    crawl.apply(crawl.handled(&request, items(&["c"]))).await;
    assert_eq!((item_count(&moment), item_count(&snapshot(&job))), (1, 2));
    assert_eq!(paths(&moment, RequestPart::Pending), [("/2".to_owned(), RequestState::Pending)]);
}

#[tokio::test]
async fn an_id_that_nobody_has_is_answered_with_those_that_there_are() {
    let job = Job::closed().await;
    let dir = JobDir::existing(job.path()).expect("a job");
    let refused = JobSnapshot::open(&dir, Some(&CrawlerId::new("zzz").expect("an id"))).err().expect("refused").to_string();
    assert!(refused.contains("`zzz`") && refused.contains("it has `main`; give one of these"), "{refused}");
}

#[tokio::test]
async fn stores_are_those_with_records_auto_saved_values_or_sessions() {
    let job = Job::new();
    let crawl = job.crawl().await;
    let value = KvValue { content_type: "text/plain".into(), value: "x".into() };
    let write = KeyValueWrite { store: KvStoreName::Named("covers".into()), key: "a".into(), value: Some(value.clone()) };
    let saved = AutoSaved { store: KvStoreName::Named("counts".into()), key: "b".into() };
    let state_ops = vec![StateOp::Set { key: saved.state_key(), value: "1".into() }];
    let effects = Effects { key_values: vec![write], state_ops, ..Effects::default() };
    crawl.apply(crawl.of_crawl(effects)).await;
    let place = PoolPlace { store: KvStoreName::Named("people".into()), ..PoolPlace::default() };
    crawl.store.open_pool(crawl.id, crawl.leases.of(Shard::CRAWL), &place, Timestamp::now(), 9).await.expect("a pool");
    let moment = snapshot(&job);
    let names = ["counts", "covers", "people"].map(|name| KvStoreName::Named(name.into()));
    assert_eq!(moment.key_value_stores().expect("stores"), names);
    assert_eq!(moment.key_value(&names[1], "a").expect("a record"), Some(value));
    assert_eq!(moment.key_value(&names[1], "b").expect("no record"), None);
}
