//! S1: exact dedup.

use super::Fixture;
use super::given::{Crawl, failed, page, pages, retry_at};
use nephila_model::{Counter, Effects, RefusedReason, RequestState, Shallower, SkipReason, UniqueKey, Verdict};

pub async fn a_request_is_accepted_once_per_key_for_ever(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    // In one outcome, and in the next.
    let accepted = crawl.accept(vec![page("1"), page("2"), page("1"), page("3"), page("4")]).await;
    assert_eq!(accepted.len(), 4);
    assert!(crawl.accept(vec![page("1")]).await.is_empty());
    // In one group.
    let results = crawl.commit(vec![crawl.of_crawl(pages(&["5"])), crawl.of_crawl(pages(&["5", "6"]))]).await;
    let counts: Vec<usize> = results.iter().map(|result| result.as_ref().map_or(0, |applied| applied.accepted.len())).collect();
    assert_eq!(counts, [1, 1]);
    // After it was handled, failed, skipped; by the same process, and by the next.
    let skip = Verdict::Skipped { reason: SkipReason::TooLarge, final_url: None };
    crawl.apply(crawl.handled(&accepted[0], pages(&["1"]))).await;
    crawl.apply(crawl.outcome(&accepted[1], failed(), pages(&["1", "2"]))).await;
    crawl.apply(crawl.outcome(&accepted[2], skip, Effects::default())).await;
    crawl.again().await;
    assert!(crawl.accept(vec![page("1"), page("2"), page("3"), page("4"), page("5"), page("6")]).await.is_empty());
    assert_eq!(crawl.count(Counter::Requests).await, 6);
    // The label is not part of a request's identity, and whoever gives a key of its own decides alone.
    let labelled = nephila_model::NewRequest { label: Some("other".into()), ..page("1") };
    let keyed = nephila_model::NewRequest { unique_key: UniqueKey::explicit("mine"), ..page("1") };
    assert_eq!(crawl.accept(vec![labelled, keyed.clone(), keyed]).await.len(), 1);
}

pub async fn a_pending_request_keeps_the_least_depth_that_it_was_found_at(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let at = |depth| nephila_model::NewRequest { depth, ..page("1") };
    crawl.accept(vec![at(5)]).await;
    for (depth, least) in [(3, 3), (4, 3), (1, 1)] {
        assert!(crawl.accept(vec![at(depth)]).await.is_empty());
        assert_eq!(crawl.queue("a.example").await[0].depth, least);
    }
}

pub async fn an_outcome_tells_which_pending_rows_it_found_at_a_lesser_depth(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let at = |path: &str, depth| nephila_model::NewRequest { depth, ..page(path) };
    let other = "http://b.example/other";
    let rows = crawl.accept(vec![at("ready", 5), at(other, 5), at("waits", 5), at("done", 5), at("source", 0)]).await;
    crawl.apply(crawl.outcome(&rows[2], retry_at(9_000), Effects::default())).await;
    crawl.apply(crawl.handled(&rows[3], Effects::default())).await;
    let found = vec![
        at("ready", 2),
        at("waits", 3),
        at(other, 5),
        at("done", 1),
        at("source", 0),
        at("new", 4),
        at("new", 1),
        at(other, 4),
        at(other, 3),
    ];
    let effects = Effects { requests: found, ..Effects::default() };
    let applied = crawl.apply(crawl.handled(&rows[4], effects.clone())).await;
    let lesser = |at: usize, depth| Shallower { site: rows[at].site, request: rows[at].id, depth };
    // In the order in which they were found. What the outcome accepted itself has its depth already.
    assert_eq!(applied.shallower, [lesser(0, 2), lesser(2, 3), lesser(1, 4), lesser(1, 3)]);
    assert_eq!(applied.accepted.iter().map(|row| row.depth).collect::<Vec<_>>(), [1]);
    assert_eq!(crawl.queue("a.example").await.iter().map(|row| row.depth).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(crawl.queue("b.example").await[0].depth, 3);
    // The second time there is nothing to tell; and an outcome without effects finds nothing.
    assert_eq!(crawl.apply(crawl.of_crawl(effects)).await.shallower, []);
    let skipped = crawl.outcome(&rows[0], retry_at(0), Effects { requests: vec![at(other, 0)], ..Effects::default() });
    assert_eq!(crawl.apply(skipped).await.shallower, []);
}

pub async fn a_refused_request_occupies_no_key_and_is_counted_by_reason(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let refused = Effects { refused: [(RefusedReason::Depth, 2), (RefusedReason::Scope, 1)].into(), ..Effects::default() };
    crawl.apply(crawl.of_crawl(refused)).await;
    assert_eq!(crawl.count(Counter::Refused("depth".into())).await, 2);
    assert_eq!(crawl.count(Counter::Refused("scope".into())).await, 1);
    assert_eq!(crawl.accept(vec![page("1")]).await.len(), 1);
}

pub async fn where_a_request_stands_can_be_asked_by_its_key(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    crawl.apply(crawl.handled(&accepted[1], Effects::default())).await;
    let keys = [accepted[1].unique_key, page("9").unique_key, accepted[0].unique_key];
    assert_eq!(crawl.store.known(crawl.id, &keys).await.expect("answers"), [true, false, true]);
    let found = crawl.store.lookup(crawl.id, &keys).await.expect("answers");
    let handled = found[0].clone().expect("it was accepted");
    assert_eq!((handled.state, handled.status), (RequestState::Handled, Some(200)));
    assert_eq!(handled.final_url.as_deref(), Some("http://a.example/2"));
    assert_eq!(found[1], None);
    let pending = found[2].clone().expect("it was accepted");
    assert_eq!((pending.state, pending.final_url, pending.reason), (RequestState::Pending, None, None));
    assert!(crawl.store.known(crawl.id, &[]).await.expect("answers").is_empty());
}
