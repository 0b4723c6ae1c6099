//! A job at one moment: whatever happens to it meanwhile.

use super::Job;
use crate::contract::{Crawl, ending, items, reason, retry_at, spec};
use crate::sqlite::desk::Desk;
use crate::sqlite::{Backed, SqliteStore, list_crawls, read_status_of};
use crate::{Company, CrawlSpec, FailedRequest, JobDir, JobItems, JobSnapshot, RequestPart, Store, StoreError};
use nephila_model::{
    AutoSaved, Counter, CrawlerId, DatasetName, Effects, FailureReason, KeyValueWrite, KvStoreName, KvValue, PoolPlace,
    RequestState, Shard, StateOp, Timestamp, Verdict,
};
use std::sync::Arc;
use std::time::Duration;

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

#[tokio::test]
async fn failed_requests_are_listed_in_their_order_with_what_is_known_of_them() {
    let job = Job::new();
    let crawl = job.worked().await;
    let request = crawl.queue("a.example").await.remove(0);
    crawl.apply(crawl.outcome(&request, retry_at(0), Effects::default())).await;
    let reason = FailureReason { status: Some(503), ..reason("status") };
    let gone = Verdict::Failed { reason, final_url: None };
    crawl.apply(crawl.outcome(&request, gone, Effects::default())).await;
    let moment = snapshot(&job);
    let all = moment.failed(|failed| failed.collect::<Result<Vec<_>, _>>()).expect("read").expect("rows");
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
