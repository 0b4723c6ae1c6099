//! S5: what a commit acknowledged is there afterwards.

use super::Fixture;
use super::given::{Crawl, ending, items, ops, page, retry_at, set};
use crate::{LeftBehind, SinkRecord, StoreError};
use nephila_model::{Counter, DatasetName, Effects, Group, NewRequest, RequestState, Timestamp};

pub async fn what_was_committed_is_there_after_a_kill(fixture: &dyn Fixture) {
    if !fixture.keeps() {
        return;
    }
    let crawl = Crawl::new(fixture).await;
    let labelled = NewRequest { label: Some("l".into()), priority: 2, ..page("2") };
    let accepted = crawl.accept(vec![page("1"), labelled, page("3"), page("4")]).await;
    crawl.apply(crawl.handled(&accepted[0], items(&["a"]))).await;
    crawl.apply(crawl.outcome(&accepted[2], retry_at(5_000), Effects::default())).await;
    crawl.apply(crawl.of_crawl(ops(&[set("k", "1")]))).await;
    let sink = SinkRecord { target: "out".into(), cursor: 1, state: "{}".into() };
    crawl.store.put_sink(crawl.id, &sink).await.expect("noted");
    crawl.store.mark_suspect(crawl.id, accepted[3].id, crawl.lease(&accepted[3])).await.expect("marked");
    let before = (crawl.queue("a.example").await, crawl.store.statistics(crawl.id).await.expect("statistics"));
    let Crawl { store, spec, id, .. } = crawl;
    drop(store);

    let store = fixture.open().await;
    let opened = store.open_crawl(&spec).await.expect("opened");
    assert!(opened.left == LeftBehind::Crash && !opened.fresh);
    let crawl = Crawl { store, spec, id, leases: opened.leases };
    let after = (crawl.queue("a.example").await, crawl.store.statistics(crawl.id).await.expect("statistics"));
    assert_eq!(after, before);
    assert_eq!(crawl.status(&accepted[0]).await.state, RequestState::Handled);
    assert_eq!(crawl.items(&DatasetName::Default).await.len(), 1);
    assert_eq!(crawl.state("k").await.as_deref(), Some("1"));
    assert_eq!(crawl.store.sink(id, "out").await.expect("an answer"), Some(sink));
    let woken = crawl.store.wake_due(id, Timestamp::from_millis(5_000), 9).await.expect("woken");
    assert_eq!(woken.sites.len(), 1);
    // Later requests are later still.
    assert!(crawl.accept_one("5").await.id > accepted[3].id);
}

pub async fn what_was_closed_is_there_and_clean(fixture: &dyn Fixture) {
    if !fixture.keeps() {
        return;
    }
    let crawl = Crawl::new(fixture).await;
    crawl.accept_one("1").await;
    crawl.store.close_crawl(crawl.id, &ending("ABORTED")).await.expect("closed");
    crawl.store.close().await.expect("closed");
    let Crawl { store, spec, .. } = crawl;
    // A closed store has let go of its place, though its value is still there.
    let next = fixture.open().await;
    let opened = next.open_crawl(&spec).await.expect("opened");
    assert_eq!((opened.left, opened.previous_ending), (LeftBehind::Nothing, Some(ending("ABORTED"))));
    assert_eq!(next.statistics(opened.record.id).await.expect("statistics").get(&Counter::Requests), 1);
    drop(store);
}

pub async fn a_closed_store_says_so(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    crawl.store.close().await.expect("closed");
    assert!(matches!(crawl.store.counts(crawl.id).await, Err(StoreError::Closed)));
    assert!(matches!(crawl.store.commit(crawl.id, Group::default()).await, Err(StoreError::Closed)));
    crawl.store.close().await.expect("closed once more");
}
