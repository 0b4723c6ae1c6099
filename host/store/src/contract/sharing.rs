//! S11: one store, many crawls.

use super::Fixture;
use super::given::{Crawl, ending, items, ops, page, retry_at, set, spec};
use crate::{Company, Counts, CrawlSpec, SinkRecord, SiteOrder, Store};
use nephila_model::{
    DatasetName, Effects, ItemPush, KeyValueWrite, KvStoreName, KvValue, Outcome, Rejection, RequestState, Timestamp,
};
use std::sync::Arc;

async fn crawl(store: &Arc<dyn Store>, crawler: &str, plugin: &str) -> Crawl {
    let spec = CrawlSpec { company: Company::Shared, plugin_name: plugin.into(), ..spec(crawler) };
    Crawl::open(store.clone(), spec).await
}

pub async fn crawls_share_named_things_and_nothing_else(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    let (one, two) = (crawl(&store, "one", "books").await, crawl(&store, "two", "news").await);
    assert_ne!(one.id, two.id);
    let (named, kv) = (DatasetName::Named("all".into()), KvStoreName::Named("all".into()));
    for (crawl, mark) in [(&one, "1"), (&two, "2")] {
        let request = crawl.accept_one("same").await;
        let value = |text: &str| Some(KvValue { content_type: "t".into(), value: text.to_owned().into() });
        let mut effects = Effects { state_ops: vec![set("k", mark)], ..items(&[mark]) };
        effects.items.push(ItemPush { dataset: named.clone(), json: format!("{{\"of\":{mark}}}") });
        effects.key_values = vec![
            KeyValueWrite { store: KvStoreName::Default, key: "k".into(), value: value(mark) },
            KeyValueWrite { store: kv.clone(), key: mark.into(), value: value(mark) },
        ];
        crawl.apply(crawl.handled(&request, effects)).await;
        let sink = SinkRecord { target: "out".into(), cursor: crawl.id.0, state: "{}".into() };
        store.put_sink(crawl.id, &sink).await.expect("noted");
    }
    for (crawl, mark) in [(&one, "1"), (&two, "2")] {
        assert_eq!(crawl.items(&named).await, ["{\"of\":1}", "{\"of\":2}"]);
        assert_eq!(crawl.items(&DatasetName::Default).await, [format!("{{\"item\":\"{mark}\"}}")]);
        for key in ["1", "2"] {
            assert!(store.kv_get(crawl.id, &kv, key).await.expect("an answer").is_some());
        }
        let own = store.kv_get(crawl.id, &KvStoreName::Default, "k").await.expect("an answer").expect("a value");
        assert_eq!(own.value.as_ref(), mark.as_bytes());
        assert_eq!(crawl.state("k").await.as_deref(), Some(mark));
        assert_eq!(store.sink(crawl.id, "out").await.expect("an answer").expect("a record").cursor, crawl.id.0);
        assert_eq!(crawl.count(nephila_model::Counter::Items).await, 1);
    }
    // State belongs to a crawler id; whoever knows it may read it.
    assert_eq!(store.state_get(&two.spec.crawler_id, "k").await.expect("state").value.as_deref(), Some("2"));
    let order: Vec<i64> = vec![one.id.0, two.id.0];
    assert!(order[0] < order[1]);
}

pub async fn crawls_of_one_store_do_not_touch_each_other(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    let (mut one, two) = (crawl(&store, "one", "books").await, crawl(&store, "two", "news").await);
    let mine = one.accept(vec![page("1"), page("2")]).await;
    let theirs = two.accept(vec![page("1"), page("2"), page("3")]).await;
    assert_eq!((mine.len(), theirs.len()), (2, 3));
    // A request of one is nobody's in the other, even with a lease of the same number.
    let foreign = Outcome { lease: two.lease(&mine[0]), ..two.handled(&mine[0], items(&["x"])) };
    assert_eq!(two.try_one(foreign).await, Err(Rejection::Decided));
    one.apply(one.outcome(&mine[0], retry_at(5), ops(&[]))).await;
    let woken = store.wake_due(two.id, Timestamp::from_millis(9), 9).await.expect("woken");
    assert_eq!((woken.sites.len(), woken.next_due), (0, None));
    assert!(store.site_window(two.id, mine[0].site, 9).await.expect("a window").requests.is_empty());
    two.apply(two.handled(&theirs[0], Effects::default())).await;
    assert_eq!(one.status(&mine[0]).await.state, RequestState::Pending);
    assert!(!store.final_taken(one.id, None, mine[0].unique_key).await.expect("an answer"));
    assert_eq!(store.counts(one.id).await.expect("counts"), Counts { pending: 2, ..Counts::default() });
    assert_eq!(store.counts(two.id).await.expect("counts"), Counts { pending: 2, handled: 1, ..Counts::default() });
    assert_eq!(one.sites(SiteOrder::ByHead).await.len(), 1);
    // Opening and closing one leaves the other's leases and mark alone.
    store.mark_suspect(two.id, theirs[1].id, two.lease(&theirs[1])).await.expect("marked");
    one.again().await;
    store.close_crawl(one.id, &ending("SUCCEEDED")).await.expect("closed");
    two.apply(two.handled(&theirs[1], Effects::default())).await;
    assert_eq!(store.crawl(two.id).await.expect("a record").ending, None);
}
