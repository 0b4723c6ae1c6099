//! S3: an outcome is applied whole or not at all. S4: a stale one not at all.

use super::Fixture;
use super::given::{Crawl, failed, increment, items, page, pages, set};
use crate::StoreError;
use nephila_model::{
    Counter, CrawlId, DatasetName, Effects, Epoch, Group, KeyValueWrite, KvStoreName, KvValue, Lease, Outcome, RefusedReason,
    Rejection, RequestState, Shard, StateError, StateRead, StateVersion, StatsDelta, Timestamp,
};

/// Effects of every kind.
fn everything(mark: &str) -> Effects {
    let value = KvValue { content_type: "text/plain".into(), value: mark.to_owned().into() };
    Effects {
        requests: vec![page(&format!("from-{mark}")), page(&format!("http://{mark}.example/"))],
        refused: [(RefusedReason::Filter, 1)].into(),
        key_values: vec![KeyValueWrite { store: KvStoreName::Default, key: mark.to_owned(), value: Some(value) }],
        state_ops: vec![set(mark, "1")],
        stop: Some(mark.to_owned()),
        status_message: Some(mark.to_owned()),
        ..items(&[mark])
    }
}

/// Nothing of [`everything`] is there.
async fn assert_nothing(crawl: &Crawl, mark: &str) {
    let keys = everything(mark).requests.iter().map(|request| request.unique_key).collect::<Vec<_>>();
    assert_eq!(crawl.store.known(crawl.id, &keys).await.expect("answers"), [false, false]);
    assert_eq!(crawl.store.kv_get(crawl.id, &KvStoreName::Default, mark).await.expect("an answer"), None);
    assert_eq!(crawl.state(mark).await, None);
    assert!(!crawl.items(&DatasetName::Default).await.iter().any(|json| json.contains(mark)));
    let record = crawl.store.crawl(crawl.id).await.expect("a record");
    assert!(record.stop_reason.as_deref() != Some(mark) && record.status_message.as_deref() != Some(mark));
    assert_eq!(crawl.queue(&format!("{mark}.example")).await, []);
}

pub async fn a_commit_with_a_stale_epoch_changes_nothing(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let mut stats = StatsDelta::default();
    stats.add(Counter::Fetches, 1);
    let late = Timestamp::from_millis(9_000);
    let of_request = Outcome { stats, site_next_allowed: Some(late), ..crawl.handled(&request, everything("x")) };
    let of_crawl = [crawl.finish(everything("y")), crawl.of_crawl(everything("z"))];
    let before = crawl.store.statistics(crawl.id).await.expect("statistics");
    // Another owner takes over; this one has not noticed.
    crawl.again().await;
    let mut group = vec![of_request];
    group.extend(of_crawl);
    for (result, shard) in crawl.commit(group).await.into_iter().zip([crawl.lease(&request).shard, Shard::CRAWL, Shard::CRAWL]) {
        assert_eq!(result, Err(Rejection::Stale { shard: shard.number(), held: 1, current: 2 }));
    }
    for mark in ["x", "y", "z"] {
        assert_nothing(&crawl, mark).await;
    }
    assert_eq!(crawl.store.statistics(crawl.id).await.expect("statistics"), before);
    assert_eq!(crawl.queue("a.example").await, std::slice::from_ref(&request));
    let heads = crawl.store.ready_sites(crawl.id, crate::SiteOrder::ByTurn, 9).await.expect("sites");
    assert_eq!(heads[0].next_allowed, Timestamp::EPOCH);
    assert!(!crawl.store.crawl(crawl.id).await.expect("a record").finish_done);
    // Nor does an epoch that was never given.
    let early = Lease { epoch: Epoch(3), ..crawl.lease(&request) };
    let result = crawl.try_one(Outcome { lease: early, ..crawl.handled(&request, everything("x")) }).await;
    assert!(matches!(result, Err(Rejection::Stale { held: 3, .. })));
    crawl.apply(crawl.handled(&request, Effects::default())).await;
}

pub async fn a_lease_on_another_shard_decides_nothing(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let other = crawl.leases.of(Shard::CRAWL);
    let result = crawl.try_one(Outcome { lease: other, ..crawl.handled(&request, everything("x")) }).await;
    assert_eq!(result, Err(Rejection::Decided));
    for outcome in [crawl.finish(everything("x")), crawl.of_crawl(pages(&["9"]))] {
        let result = crawl.try_one(Outcome { lease: crawl.lease(&request), ..outcome }).await;
        assert!(matches!(result, Err(Rejection::Engine(_))), "{result:?}");
    }
    assert_nothing(&crawl, "x").await;
}

pub async fn each_outcome_of_a_group_stands_or_falls_alone(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let requests = crawl.accept((0..8).map(|path| page(&path.to_string())).collect()).await;
    crawl.apply(crawl.of_crawl(Effects { state_ops: vec![set("text", "\"t\"")], ..Effects::default() })).await;
    crawl.apply(crawl.outcome(&requests[7], failed(), Effects::default())).await;

    let mut stale = crawl.handled(&requests[1], everything("stale"));
    stale.lease.epoch = Epoch(0);
    let decided = crawl.handled(&requests[7], everything("decided"));
    let unheld = StateRead::Key { key: "text".into(), version: StateVersion(99) };
    let conflict = crawl.handled(&requests[2], Effects { state_reads: vec![unheld], ..everything("conflict") });
    let mut ops = everything("mistyped");
    ops.state_ops.push(increment("text", 1));
    let mistyped = crawl.handled(&requests[3], ops);
    let shapeless = Outcome { verdict: None, ..crawl.handled(&requests[4], everything("shapeless")) };
    let group = vec![
        crawl.handled(&requests[0], everything("first")),
        stale,
        decided,
        conflict,
        mistyped,
        shapeless,
        crawl.outcome(&requests[5], failed(), everything("last")),
    ];
    let results = crawl.commit(group).await;

    assert!(results[0].is_ok() && results[6].is_ok());
    assert!(matches!(results[1], Err(Rejection::Stale { .. })));
    assert_eq!(results[2], Err(Rejection::Decided));
    assert_eq!(results[3], Err(Rejection::StateConflict { what: "text".into() }));
    assert!(matches!(results[4], Err(Rejection::State(StateError::Type { .. }))));
    assert!(matches!(results[5], Err(Rejection::Engine(_))));
    for mark in ["stale", "decided", "conflict", "mistyped", "shapeless"] {
        assert_nothing(&crawl, mark).await;
    }
    assert_eq!(crawl.items(&DatasetName::Default).await, ["{\"item\":\"first\"}", "{\"item\":\"last\"}"]);
    assert_eq!((crawl.state("first").await, crawl.state("last").await), (Some("1".into()), Some("1".into())));
    assert_eq!(crawl.paths("a.example").await, ["1", "2", "3", "4", "6", "from-first", "from-last"]);
    assert_eq!(crawl.count(Counter::Refused("filter".into())).await, 2);
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.handled, counts.failed, counts.skipped), (9, 1, 2, 0));
}

pub async fn a_decided_request_is_decided_for_ever(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let results = crawl.commit(vec![crawl.handled(&request, items(&["once"])), crawl.handled(&request, items(&["twice"]))]).await;
    assert!(results[0].is_ok());
    assert_eq!(results[1], Err(Rejection::Decided));
    crawl.again().await;
    assert_eq!(crawl.try_one(crawl.outcome(&request, failed(), items(&["thrice"]))).await, Err(Rejection::Decided));
    assert_eq!(crawl.items(&DatasetName::Default).await.len(), 1);
    assert_eq!(crawl.status(&request).await.state, RequestState::Handled);
}

pub async fn an_outcome_that_makes_no_sense_is_refused_alone(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let outcomes = vec![
        Outcome { verdict: None, ..crawl.handled(&request, everything("x")) },
        Outcome { verdict: Some(failed()), ..crawl.finish(everything("x")) },
        Outcome { verdict: Some(failed()), ..crawl.of_crawl(pages(&["9"])) },
        crawl.of_crawl(items(&["x"])),
    ];
    for result in crawl.commit(outcomes).await {
        assert!(matches!(result, Err(Rejection::Engine(_))), "{result:?}");
    }
    assert_nothing(&crawl, "x").await;
}

pub async fn an_empty_group_commits(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    assert!(crawl.commit(Vec::new()).await.is_empty());
}

pub async fn an_unknown_crawl_is_an_error_of_the_group(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let result = crawl.store.commit(CrawlId(99), Group::default()).await;
    assert!(matches!(result, Err(StoreError::NoCrawl(99))));
    assert!(matches!(crawl.store.crawl(CrawlId(99)).await, Err(StoreError::NoCrawl(99))));
    assert!(matches!(crawl.store.close_crawl(CrawlId(99), &super::given::ending("x")).await, Err(StoreError::NoCrawl(99))));
}
