//! Events: each waits from the commit of the call that emitted it to that of what a listener made of it.

use super::Fixture;
use super::given::{Crawl, items, page, retry_at, spec};
use crate::{Company, CrawlSpec, StoredEvent};
use nephila_model::{CommitLimits, DatasetName, Effects, EmittedEvent, EventId, Heard, Outcome, Rejection, Subject};

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
