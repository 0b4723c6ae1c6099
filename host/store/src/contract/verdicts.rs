//! The life of a request: what each verdict does, and which effects come with it.

use super::Fixture;
use super::given::{Crawl, failed, items, ops, page, pages, retry_at, set, url};
use crate::{ErrorSample, ErrorsOf};
use bytes::Bytes;
use nephila_model::{
    AppliedVerdict, Counter, DatasetName, Effects, Hop, HopKind, ItemPush, Method, NewRequest, Outcome, QueuedRequest,
    RefusedReason, Rejection, RequestSpec, RequestState, SiteKey, SkipReason, StatsDelta, Timestamp, UniqueKey, Verdict,
};

fn wanting(mark: &str) -> Effects {
    Effects { refused: [(RefusedReason::Depth, 1)].into(), requests: pages(&[mark]).requests, ..items(&[mark]) }
}

pub async fn a_handled_request_commits_all_its_effects(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let spec = RequestSpec {
        method: Method::Post,
        payload: Some(Bytes::from_static(b"\x00body")),
        user_data: Some("{\"a\":1}".into()),
        max_retries: Some(0),
        ..RequestSpec::default()
    };
    let new = NewRequest { label: Some("detail".into()), priority: -7, depth: 3, spec, ..page("2") };
    let named = ItemPush { dataset: DatasetName::Named("prices".into()), json: "{}".into() };
    let mut effects = items(&["a", "b"]);
    effects.items.push(named);
    effects.requests = vec![new.clone()];
    let mut stats = StatsDelta::default();
    stats.add(Counter::Fetches, 2);
    stats.add(Counter::Status(200), 1);
    let applied = crawl.apply(Outcome { stats, ..crawl.handled(&request, effects) }).await;

    assert_eq!((applied.verdict, applied.moved.is_none()), (AppliedVerdict::AsGiven, true));
    assert_eq!((applied.items, applied.default_items), (3, 2));
    let accepted = &applied.accepted[0];
    assert_eq!((accepted.site, &accepted.spec, accepted.depth), (request.site, &new.spec, 3));
    assert_eq!(crawl.queue("a.example").await, std::slice::from_ref(accepted));
    assert!(accepted.id > request.id);
    for (counter, value) in [
        (Counter::Requests, 2),
        (Counter::Finished, 1),
        (Counter::EndedAfterRetries(0), 1),
        (Counter::Items, 2),
        (Counter::ItemsOf("prices".into()), 1),
        (Counter::Fetches, 2),
        (Counter::Status(200), 1),
    ] {
        assert_eq!(crawl.count(counter.clone()).await, value, "{counter}");
    }
}

pub async fn a_failed_request_commits_its_effects_and_its_error(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2"), page("3")]).await;
    let mut reason = super::given::reason("status");
    reason.status = Some(503);
    crawl.apply(crawl.outcome(&accepted[0], failed(), wanting("4"))).await;
    let gone = Verdict::Failed { reason, final_url: Some(url("http://a.example/gone")) };
    crawl.apply(crawl.outcome(&accepted[1], gone, Effects::default())).await;
    crawl.apply(crawl.outcome(&accepted[2], failed(), Effects::default())).await;

    let status = crawl.status(&accepted[1]).await;
    assert_eq!((status.state, status.status, status.reason.as_deref()), (RequestState::Failed, Some(503), Some("status")));
    assert_eq!(status.final_url.as_deref(), Some("http://a.example/gone"));
    assert_eq!(crawl.paths("a.example").await, ["4"]);
    assert_eq!(crawl.items(&DatasetName::Default).await.len(), 1);
    assert_eq!((crawl.count(Counter::Failed).await, crawl.count(Counter::Error("fatal".into())).await), (3, 2));
    let sample = |code: &str, count, path: &str| ErrorSample {
        code: code.into(),
        position: None,
        shape: Some(format!("{code} happened")),
        count,
        url: format!("http://a.example/{path}"),
        message: format!("{code} happened"),
        snapshot: None,
    };
    let expected = [sample("fatal", 2, "1"), sample("status", 1, "2")];
    assert_eq!(crawl.store.errors(crawl.id, ErrorsOf::FailedRequests, 9).await.expect("errors"), expected);
    assert_eq!(crawl.store.errors(crawl.id, ErrorsOf::FailedRequests, 1).await.expect("errors").len(), 1);
}

pub async fn a_retry_keeps_only_refusals(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    for _ in 0..2 {
        let effects = Effects { state_ops: vec![set("k", "1")], ..wanting("2") };
        let applied = crawl.apply(crawl.outcome(&request, retry_at(0), effects)).await;
        assert!(applied.accepted.is_empty() && applied.items == 0);
        crawl.store.wake_due(crawl.id, Timestamp::from_millis(1), 9).await.expect("woken");
    }
    assert_eq!(crawl.queue("a.example").await, [QueuedRequest { retry_count: 2, ..request.clone() }]);
    assert_eq!(crawl.state("k").await, None);
    assert_eq!(crawl.count(Counter::Refused("depth".into())).await, 2);
    assert_eq!((crawl.count(Counter::Retries).await, crawl.count(Counter::Error("timeout".into())).await), (2, 2));
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.failed), (1, 0));
    crawl.apply(crawl.handled(&request, Effects::default())).await;
    assert_eq!(crawl.count(Counter::EndedAfterRetries(2)).await, 1);
    assert_eq!(crawl.status(&request).await.reason, None);
}

pub async fn a_skipped_request_keeps_its_reason(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let skip = Verdict::Skipped { reason: SkipReason::Handler("boring".into()), final_url: None };
    crawl.apply(crawl.outcome(&request, skip, Effects { state_ops: vec![set("k", "1")], ..wanting("2") })).await;
    let status = crawl.status(&request).await;
    assert_eq!((status.state, status.reason.as_deref()), (RequestState::Skipped, Some("boring")));
    assert_eq!(
        (crawl.count(Counter::Skipped("boring".into())).await, crawl.count(Counter::Refused("depth".into())).await),
        (1, 1)
    );
    assert!(crawl.items(&DatasetName::Default).await.is_empty() && crawl.state("k").await.is_none());
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.skipped), (0, 1));
}

pub async fn a_moved_request_is_the_same_row_at_its_new_site(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let new = NewRequest { label: Some("l".into()), priority: 3, depth: 2, ..page("1") };
    let request = crawl.accept(vec![new]).await.remove(0);
    let chain = vec![Hop { url: request.url.clone(), status: 302, kind: HopKind::HttpRedirect }];
    let spec = RequestSpec { user_data: Some("1".into()), payload: Some(Bytes::from_static(b"p")), ..RequestSpec::default() };
    let hop = |to: &str, chain: &[Hop], spec: &RequestSpec| Verdict::Moved {
        url: url(to),
        site: SiteKey::of(&url(to), crawl.spec.site_by),
        chain: chain.to_vec(),
        spec: Box::new(spec.clone()),
        not_before: None,
    };
    let moved = crawl.apply(crawl.outcome(&request, hop("http://b.example/x", &chain, &spec), wanting("2"))).await;

    let row = moved.moved.expect("a row");
    let expected = QueuedRequest { url: url("http://b.example/x"), site: row.site, chain, spec, ..request.clone() };
    assert_eq!(row, expected);
    assert_ne!(row.site, request.site);
    assert_eq!(crawl.queue("b.example").await, std::slice::from_ref(&row));
    assert_eq!((crawl.queue("a.example").await, moved.accepted.len()), (Vec::new(), 0));
    // Its first owner's claim is of a row that is no longer there.
    assert_eq!(crawl.try_one(crawl.handled(&request, Effects::default())).await, Err(Rejection::Decided));
    // And back again: it is what it was.
    let back =
        crawl.apply(crawl.outcome(&row, hop("http://a.example/1", &[], &RequestSpec::default()), Effects::default())).await;
    assert_eq!(back.moved.expect("a row"), request);
    assert_eq!(crawl.queue("a.example").await, [request]);
    assert_eq!(crawl.store.counts(crawl.id).await.expect("counts").pending, 1);
}

pub async fn the_second_request_of_a_label_to_end_at_a_page_is_skipped_without_effects(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let labelled = NewRequest { label: Some("other".into()), ..page("3") };
    let accepted = crawl.accept(vec![page("1"), page("2"), labelled, page("end")]).await;
    let end = page("end");
    let at_end = |number: usize, effects| {
        let ended = Verdict::Handled { final_key: end.unique_key, final_url: end.url.clone(), status: 200 };
        let mut stats = StatsDelta::default();
        stats.add(Counter::Fetches, 1);
        Outcome { stats, ..crawl.outcome(&accepted[number], ended, effects) }
    };
    assert!(!crawl.store.final_taken(crawl.id, None, end.unique_key).await.expect("an answer"));
    let results =
        crawl.commit(vec![at_end(0, items(&["first"])), at_end(1, wanting("second")), at_end(2, items(&["third"]))]).await;
    let verdicts: Vec<AppliedVerdict> = results.into_iter().map(|result| result.expect("applied").verdict).collect();
    assert_eq!(verdicts, [AppliedVerdict::AsGiven, AppliedVerdict::DuplicateRedirect, AppliedVerdict::AsGiven]);
    assert!(crawl.store.final_taken(crawl.id, None, end.unique_key).await.expect("an answer"));
    assert!(!crawl.store.final_taken(crawl.id, Some("third"), end.unique_key).await.expect("an answer"));
    // The page itself, reached directly, is that page too.
    assert_eq!(crawl.apply(at_end(3, items(&["fourth"]))).await.verdict, AppliedVerdict::DuplicateRedirect);
    let status = crawl.status(&accepted[1]).await;
    assert_eq!((status.state, status.reason.as_deref()), (RequestState::Skipped, Some("duplicate-redirect")));
    assert_eq!(crawl.items(&DatasetName::Default).await, ["{\"item\":\"first\"}", "{\"item\":\"third\"}"]);
    assert_eq!((crawl.count(Counter::Fetches).await, crawl.count(Counter::Refused("depth".into())).await), (4, 0));
    assert_eq!(crawl.count(Counter::Skipped("duplicate-redirect".into())).await, 2);
    assert!(!crawl.store.known(crawl.id, &[page("second").unique_key]).await.expect("answers")[0]);
}

pub async fn a_finish_is_committed_once(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let effects = Effects { state_ops: vec![set("done", "true")], ..wanting("summary") };
    let applied = crawl.apply(crawl.finish(effects.clone())).await;
    assert_eq!((applied.accepted.len(), applied.items), (1, 1));
    assert!(crawl.store.crawl(crawl.id).await.expect("a record").finish_done);
    assert_eq!(crawl.try_one(crawl.finish(effects.clone())).await, Err(Rejection::Decided));
    assert!(crawl.again().await.record.finish_done);
    let twice = crawl.commit(vec![crawl.finish(effects.clone()), crawl.finish(effects)]).await;
    assert_eq!(twice, [Err(Rejection::Decided), Err(Rejection::Decided)]);
    assert_eq!(crawl.count(Counter::Items).await, 1);
}

pub async fn the_crawl_as_a_whole_may_want_things_often(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    for _ in 0..2 {
        let mut stats = StatsDelta::default();
        stats.add(Counter::RuntimeMillis, 500);
        let effects = Effects { requests: pages(&["1", "2"]).requests, ..ops(&[super::given::increment("n", 1)]) };
        crawl.apply(Outcome { stats, ..crawl.of_crawl(effects) }).await;
    }
    assert_eq!((crawl.count(Counter::RuntimeMillis).await, crawl.count(Counter::Requests).await), (1_000, 2));
    assert_eq!(crawl.state("n").await.as_deref(), Some("2"));
}

pub async fn whoever_counts_for_the_store_is_not_believed(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let mut stats = StatsDelta::default();
    for counter in [Counter::Requests, Counter::Finished, Counter::Failed, Counter::Skipped("x".into())] {
        stats.add(counter, 9);
    }
    crawl.apply(Outcome { stats, ..crawl.handled(&request, Effects::default()) }).await;
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.handled, counts.failed, counts.skipped), (0, 1, 0, 0));
    assert_eq!(crawl.store.known(crawl.id, &[UniqueKey::explicit("x")]).await.expect("answers"), [false]);
}
