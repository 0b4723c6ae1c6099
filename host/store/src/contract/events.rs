//! Events: each waits from the commit of the call that emitted it to that of what a listener made of it.

use super::Fixture;
use super::given::ending;
use super::given::{Crawl, items, page, retry_at, spec};
use crate::{Company, CrawlSpec, StoreError, StoredEvent};
use nephila_model::{
    CommitLimits, Counter, DatasetName, Effects, EmittedEvent, Epoch, EventId, Heard, Lease, Outcome, Rejection, Shard, Subject,
};

fn emitting(names: &[&str]) -> Effects {
    let event = |name: &&str| EmittedEvent { name: (*name).to_owned(), payload: format!("{{\"of\":\"{name}\"}}") };
    Effects { events: names.iter().map(event).collect(), ..Effects::default() }
}

fn heard(crawl: &Crawl, heard: Heard, effects: Effects) -> Outcome {
    Outcome { subject: Subject::Event(heard), ..crawl.of_crawl(effects) }
}

async fn waiting(crawl: &Crawl) -> Vec<StoredEvent> {
    crawl.store.events(crawl.id, EventId(0), 100).await.expect("events")
}

async fn names(crawl: &Crawl) -> Vec<String> {
    waiting(crawl).await.into_iter().map(|event| event.name).collect()
}

async fn handle(crawl: &Crawl, path: &str, effects: Effects) {
    let request = crawl.accept_one(path).await;
    crawl.apply(crawl.handled(&request, effects)).await;
}

pub async fn an_event_waits_until_it_was_heard_once(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    handle(&crawl, "1", emitting(&["first", "second"])).await;
    handle(&crawl, "2", emitting(&["third"])).await;
    let events = waiting(&crawl).await;
    assert_eq!(names(&crawl).await, ["first", "second", "third"]);
    assert_eq!(events[0].payload, r#"{"of":"first"}"#);
    assert!(events[0].emitted_at.as_millis() > 1_000_000_000_000);
    let behind = crawl.store.events(crawl.id, events[0].id, 1).await.expect("events");
    assert_eq!(behind, events[1..2]);

    let outcome = heard(&crawl, Heard::Stored(events[0].id), Effects { events: emitting(&["more"]).events, ..items(&["a"]) });
    let applied = crawl.apply(outcome.clone()).await;
    assert_eq!((applied.items, applied.default_items, applied.events), (1, 1, 1));
    assert_eq!(names(&crawl).await, ["second", "third", "more"]);
    assert_eq!(crawl.try_one(outcome).await, Err(Rejection::Decided));
    assert_eq!(names(&crawl).await, ["second", "third", "more"]);
}

pub async fn what_is_not_applied_emits_nothing(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    crawl.apply(crawl.outcome(&request, retry_at(1), emitting(&["retried"]))).await;
    let mut stale = crawl.handled(&request, emitting(&["stale"]));
    stale.lease.epoch.0 += 1;
    assert!(matches!(crawl.try_one(stale).await, Err(Rejection::Stale { .. })));
    assert_eq!(names(&crawl).await, Vec::<String>::new());
}

pub async fn what_is_done_on_a_passing_event_is_told_apart_each_time(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    for _ in 0..2 {
        crawl.apply(heard(&crawl, Heard::Passing, items(&["tick"]))).await;
    }
    let slice = crawl.store.dataset_slice(crawl.id, &DatasetName::Default, 0, 10, usize::MAX).await.expect("a slice");
    let [one, other] = slice.rows.as_slice() else { panic!("{slice:?}") };
    assert_ne!(one.id, other.id);
    assert_eq!(names(&crawl).await, Vec::<String>::new());
}

pub async fn an_event_is_heard_though_a_limit_is_reached(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    handle(&crawl, "1", Effects { events: emitting(&["last"]).events, ..items(&["a"]) }).await;
    let event = waiting(&crawl).await.remove(0);
    let limits = CommitLimits { max_items: Some(1), ..CommitLimits::default() };
    let outcome = heard(&crawl, Heard::Stored(event.id), Effects { requests: vec![page("2")], ..Effects::default() });
    let applied = crawl.commit_within(vec![outcome], limits).await.remove(0).expect("applied");
    assert_eq!(applied.accepted.len(), 1);
    assert_eq!(names(&crawl).await, Vec::<String>::new());
}

pub async fn events_outlive_an_opening_and_belong_to_their_crawl(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    handle(&crawl, "1", emitting(&["kept"])).await;
    let event = waiting(&crawl).await.remove(0);
    let other = Crawl::open(crawl.store.clone(), CrawlSpec { company: Company::Shared, ..spec("other") }).await;
    assert_eq!(names(&other).await, Vec::<String>::new());
    assert_eq!(other.try_one(heard(&other, Heard::Stored(event.id), Effects::default())).await, Err(Rejection::Decided));
    crawl.again().await;
    assert_eq!(waiting(&crawl).await, [event]);
}

pub async fn an_event_is_the_crawls_own_and_has_no_verdict(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let outcome = heard(&crawl, Heard::Passing, Effects::default());
    let of_a_site = Outcome { lease: crawl.lease(&request), ..outcome.clone() };
    let with_a_verdict = Outcome { verdict: Some(retry_at(1)), ..outcome };
    for outcome in [of_a_site, with_a_verdict] {
        assert!(matches!(crawl.try_one(outcome).await, Err(Rejection::Engine(_))));
    }
}

async fn mark(crawl: &Crawl, event: EventId) {
    crawl.store.mark_suspect_event(crawl.id, event, crawl.leases.of(Shard::CRAWL)).await.expect("marked");
}

async fn clear(crawl: &Crawl, event: EventId) {
    crawl.store.clear_suspect_event(crawl.id, event, crawl.leases.of(Shard::CRAWL)).await.expect("cleared");
}

pub async fn an_event_that_crashes_the_host_three_times_is_given_up(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    handle(&crawl, "1", emitting(&["poison", "good"])).await;
    let poison = waiting(&crawl).await.remove(0);
    for _ in 0..2 {
        mark(&crawl, poison.id).await;
        crawl.again().await;
        assert_eq!(names(&crawl).await, ["poison", "good"]);
    }
    mark(&crawl, poison.id).await;
    let good = waiting(&crawl).await[1].id;
    clear(&crawl, good).await;
    crawl.again().await;
    assert_eq!(names(&crawl).await, ["good"], "the mark of another event stayed");
    assert_eq!(crawl.try_one(heard(&crawl, Heard::Stored(poison.id), Effects::default())).await, Err(Rejection::Decided));
    assert_eq!(crawl.count(Counter::Error("listener-crashed-the-host".into())).await, 1);
    let errors = crawl.store.errors(crawl.id, crate::ErrorsOf::FailedRequests, 9).await.expect("errors");
    assert_eq!((errors[0].code.as_str(), errors[0].url.as_str()), ("listener-crashed-the-host", "event:poison"));
    assert!(errors[0].message.contains("3 times"), "{errors:?}");
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.handled, counts.failed), (1, 0), "no request has failed");
}

pub async fn only_a_crash_inside_its_mark_counts_against_an_event(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    handle(&crawl, "1", emitting(&["first", "second"])).await;
    let events = waiting(&crawl).await;
    let stale = Lease { epoch: Epoch(0), ..crawl.leases.of(Shard::CRAWL) };
    for _ in 0..4 {
        // No mark, a mark that another event has got since, one of a superseded owner, and one that a close has taken away.
        crawl.again().await;
        let refused = crawl.store.mark_suspect_event(crawl.id, events[0].id, stale).await;
        assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
        crawl.again().await;
        // One that was taken back, by the event's own number; a stale lease takes none back.
        mark(&crawl, events[0].id).await;
        let refused = crawl.store.clear_suspect_event(crawl.id, events[0].id, stale).await;
        assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
        clear(&crawl, events[0].id).await;
        crawl.again().await;
        mark(&crawl, events[0].id).await;
        crawl.store.close_crawl(crawl.id, &ending("PAUSED")).await.expect("closed");
        crawl.again().await;
        crawl.again().await;
    }
    assert_eq!(waiting(&crawl).await, events);
    // Counts outlive a close, and are each event's own.
    for _ in 0..2 {
        for event in &events {
            mark(&crawl, event.id).await;
            crawl.again().await;
            crawl.store.close_crawl(crawl.id, &ending("PAUSED")).await.expect("closed");
            crawl.again().await;
        }
    }
    assert_eq!(waiting(&crawl).await, events);
    // The mark is no business of another event's outcome.
    mark(&crawl, events[1].id).await;
    crawl.apply(heard(&crawl, Heard::Stored(events[0].id), Effects::default())).await;
    crawl.again().await;
    assert_eq!(names(&crawl).await, Vec::<String>::new());
}
