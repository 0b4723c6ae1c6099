//! `use_state` is serialisable: every read of a call still holds when it is committed.

use super::Fixture;
use super::given::{Crawl, failed, increment, items, ops, page, retry_at, set};
use crate::CrawlSpec;
use nephila_model::{
    AutoSaved, CommitResult, Effects, KeyValueWrite, KvStoreName, KvValue, QueuedRequest, Rejection, SkipReason, StateError,
    StateOp, StateRead, StateVersion, Verdict,
};

async fn read(crawl: &Crawl, key: &str) -> StateRead {
    let version = crawl.store.state_get(&crawl.spec.crawler_id, key).await.expect("state").version;
    StateRead::Key { key: key.to_owned(), version }
}

async fn list(crawl: &Crawl) -> (Vec<String>, StateRead) {
    let (keys, version) = crawl.store.state_keys(&crawl.spec.crawler_id).await.expect("keys");
    (keys, StateRead::Listing { version })
}

fn having(read: &StateRead, state_ops: &[StateOp]) -> Effects {
    Effects { state_reads: vec![read.clone()], ..ops(state_ops) }
}

async fn write(crawl: &Crawl, state_ops: &[StateOp]) {
    crawl.apply(crawl.of_crawl(ops(state_ops))).await;
}

fn conflict(what: &str) -> CommitResult {
    Err(Rejection::StateConflict { what: what.to_owned() })
}

async fn requests(crawl: &Crawl, count: usize) -> Vec<QueuedRequest> {
    crawl.accept((0..count).map(|path| page(&path.to_string())).collect()).await
}

pub async fn operations_are_applied_in_order(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let append = |value: &str| StateOp::Append { key: "list".into(), value: value.into() };
    let max = |value| StateOp::Max { key: "max".into(), value };
    write(&crawl, &[set("n", "40"), increment("n", 1), increment("n", 1), append("1"), append("{}"), max(2.0), max(1.0)]).await;
    assert_eq!(crawl.state("n").await.as_deref(), Some("42"));
    assert_eq!(crawl.state("list").await.as_deref(), Some("[1,{}]"));
    assert_eq!(crawl.state("max").await.as_deref(), Some("2"));
    write(&crawl, &[StateOp::Remove { key: "n".into() }, set("list", "[]")]).await;
    assert_eq!(list(&crawl).await.0, ["list", "max"]);
    let gone = crawl.store.state_get(&crawl.spec.crawler_id, "n").await.expect("state");
    assert_eq!((gone.value, gone.version), (None, StateVersion(0)));
}

pub async fn an_operation_costs_what_it_brings_and_not_what_is_there(fixture: &dyn Fixture) {
    // Were the values copied or read for each operation, this would take minutes.
    const LONG: usize = 4 << 20;
    const TIMES: usize = 20_000;
    let spec = CrawlSpec { max_state_value: 2 * LONG, ..super::given::spec("main") };
    let crawl = Crawl::open(fixture.open().await, spec).await;
    let (list, number) = (format!("[\"{}\"]", "x".repeat(LONG)), format!("1.{}", "0".repeat(LONG)));
    write(&crawl, &[set("list", &list), set("number", &number)]).await;
    let pair = || {
        let append = StateOp::Append { key: "list".into(), value: "7".into() };
        [append, StateOp::Max { key: "number".into(), value: 0.5 }]
    };
    write(&crawl, &(0..TIMES).flat_map(|_| pair()).collect::<Vec<_>>()).await;
    let expected = format!("{}{}]", list.trim_end_matches(']'), ",7".repeat(TIMES));
    assert!(crawl.state("list").await.is_some_and(|found| found == expected));
    assert!(crawl.state("number").await.is_some_and(|found| found == number));
}

pub async fn a_read_of_a_key_that_changed_is_a_conflict_whatever_the_verdict(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 4).await;
    write(&crawl, &[set("k", "1"), set("other", "1")]).await;
    let seen = read(&crawl, "k").await;
    write(&crawl, &[set("other", "2")]).await;
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), having(&seen, &[]))).await;
    write(&crawl, &[set("k", "2")]).await;
    let skip = Verdict::Skipped { reason: SkipReason::TooLarge, final_url: None };
    for outcome in [
        crawl.handled(&accepted[1], having(&seen, &[])),
        crawl.outcome(&accepted[1], failed(), having(&seen, &[])),
        crawl.outcome(&accepted[1], retry_at(0), having(&seen, &[])),
        crawl.outcome(&accepted[1], skip, having(&seen, &[])),
        crawl.finish(having(&seen, &[])),
        crawl.of_crawl(having(&seen, &[])),
    ] {
        assert_eq!(crawl.try_one(outcome).await, conflict("k"));
    }
    // Run again on what is there now, it goes through.
    let seen = read(&crawl, "k").await;
    crawl.apply(crawl.handled(&accepted[1], having(&seen, &[set("k", "3")]))).await;
    assert_eq!(crawl.state("k").await.as_deref(), Some("3"));
}

pub async fn a_read_of_an_absent_key_conflicts_with_its_appearance(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 3).await;
    let absent = read(&crawl, "k").await;
    assert_eq!(absent, StateRead::Key { key: "k".into(), version: StateVersion(0) });
    crawl.apply(crawl.handled(&accepted[0], having(&absent, &[set("k", "1")]))).await;
    assert_eq!(crawl.try_one(crawl.handled(&accepted[1], having(&absent, &[]))).await, conflict("k"));
    let present = read(&crawl, "k").await;
    write(&crawl, &[StateOp::Remove { key: "k".into() }]).await;
    assert_eq!(crawl.try_one(crawl.handled(&accepted[1], having(&present, &[]))).await, conflict("k"));
    // A value that is there again is another one: who saw the first may not go on.
    write(&crawl, &[set("k", "1")]).await;
    assert_eq!(crawl.try_one(crawl.handled(&accepted[1], having(&present, &[]))).await, conflict("k"));
}

pub async fn a_listing_conflicts_with_keys_that_come_and_go_alone(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 2).await;
    let (keys, empty) = list(&crawl).await;
    assert_eq!((keys.len(), &empty), (0, &StateRead::Listing { version: StateVersion(0) }));
    write(&crawl, &[set("a", "1")]).await;
    assert_eq!(crawl.try_one(crawl.handled(&accepted[0], having(&empty, &[]))).await, conflict("listing"));
    let (_, one) = list(&crawl).await;
    // Another value of a key that is there, or a key that comes and goes in one call, leaves the listing as it was.
    write(&crawl, &[set("a", "2"), set("b", "1"), StateOp::Remove { key: "b".into() }]).await;
    crawl.apply(crawl.handled(&accepted[0], having(&one, &[]))).await;
    write(&crawl, &[StateOp::Remove { key: "a".into() }]).await;
    assert_eq!(crawl.try_one(crawl.handled(&accepted[1], having(&one, &[]))).await, conflict("listing"));
}

pub async fn writes_without_reads_never_conflict(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 20).await;
    let append = |value: usize| StateOp::Append { key: "all".into(), value: value.to_string() };
    let group = accepted.iter().enumerate().map(|(at, request)| {
        let state_ops = [set(&format!("page{at}"), "1"), increment("sum", 2), append(at), set("last", &at.to_string())];
        crawl.handled(request, ops(&state_ops))
    });
    assert!(crawl.commit(group.collect()).await.iter().all(Result::is_ok));
    assert_eq!((crawl.state("sum").await.as_deref(), crawl.state("last").await.as_deref()), (Some("40"), Some("19")));
    assert!(crawl.state("all").await.expect("a list").starts_with("[0,1,2,"));
    assert_eq!(list(&crawl).await.0.len(), 23);
}

pub async fn a_call_that_saw_what_a_lost_one_wrote_is_caught(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 3).await;
    write(&crawl, &[set("n", "1")]).await;
    let seen = read(&crawl, "n").await;
    // Three calls saw 1 and want it to be 2; in one group. One wins.
    let group = accepted.iter().map(|request| crawl.handled(request, having(&seen, &[set("n", "2")])));
    let results = crawl.commit(group.collect()).await;
    assert!(results[0].is_ok());
    assert_eq!(results[1..], [conflict("n"), conflict("n")]);
    assert_eq!(crawl.paths("a.example").await, ["1", "2"]);
}

pub async fn an_operation_that_does_not_fit_changes_nothing_of_its_outcome(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 1).await;
    write(&crawl, &[set("text", "\"t\"")]).await;
    let long = format!("\"{}\"", "x".repeat(1_000));
    for bad in [increment("text", 1), StateOp::Append { key: "text".into(), value: "1".into() }, set("long", &long)] {
        let effects = Effects { state_ops: vec![set("good", "1"), bad], ..items(&["x"]) };
        let result = crawl.try_one(crawl.handled(&accepted[0], effects)).await;
        assert!(matches!(result, Err(Rejection::State(StateError::Type { .. } | StateError::TooLarge { .. }))), "{result:?}");
    }
    assert_eq!(list(&crawl).await.0, ["text"]);
    // With a verdict that writes no state, it is not asked.
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), ops(&[increment("text", 1)]))).await;
}

pub async fn a_value_that_is_written_as_it_was_has_not_changed(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = requests(&crawl, 1).await;
    write(&crawl, &[set("k", "1")]).await;
    let seen = read(&crawl, "k").await;
    write(&crawl, &[set("k", "1"), increment("k", 0), StateOp::Max { key: "k".into(), value: 0.0 }]).await;
    crawl.apply(crawl.handled(&accepted[0], having(&seen, &[]))).await;
}

pub async fn auto_saved_values_are_checked_as_state_and_listed_apart(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let value = |store: KvStoreName| AutoSaved { store, key: "prices".to_owned() };
    let (own, named) = (value(KvStoreName::Default), value(KvStoreName::Named("shop".to_owned())));
    let (_, listing) = list(&crawl).await;
    let absent = read(&crawl, &own.state_key()).await;
    write(&crawl, &[set("plain", "1"), set(&own.state_key(), "{\"a\":1}"), set(&named.state_key(), "[]")]).await;
    assert_eq!(list(&crawl).await.0, ["plain"]);
    let (crawler, many) = (&crawl.spec.crawler_id, 1_000);
    let all = crawl.store.state_all(crawler, many).await.expect("state");
    assert_eq!(all, Some(vec![("plain".to_owned(), "1".to_owned())]));
    let saved = crawl.store.auto_saved(crawler, many).await.expect("values");
    assert_eq!(saved, Some(vec![(own.clone(), "{\"a\":1}".to_owned()), (named, "[]".to_owned())]));
    assert_eq!(crawl.store.auto_saved(crawler, 10).await.expect("values"), None, "more than is wanted");

    // A read of one is checked like any other; that one comes or goes changes no listing of the plugin's own keys.
    let again = |reads: &StateRead| crawl.of_crawl(having(reads, &[]));
    assert_eq!(crawl.try_one(again(&absent)).await, conflict(&own.state_key()));
    assert_eq!(crawl.try_one(again(&listing)).await, conflict("listing"), "`plain` has come");
    let (_, listing) = list(&crawl).await;
    write(&crawl, &[StateOp::Remove { key: own.state_key() }]).await;
    crawl.apply(again(&listing)).await;
}

pub async fn the_record_that_an_auto_saved_value_begins_with_is_checked(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let (key, other) = ("prices".to_owned(), KvStoreName::Named("shop".to_owned()));
    let value = |text: &'static str| KvValue { content_type: "application/json".to_owned(), value: text.into() };
    let put = async |store: &KvStoreName, value: Option<KvValue>| {
        let write = KeyValueWrite { store: store.clone(), key: key.clone(), value };
        crawl.apply(crawl.of_crawl(Effects { key_values: vec![write], ..Effects::default() })).await;
    };
    for store in [KvStoreName::Default, other] {
        let seen = |value| having(&StateRead::Record { store: store.clone(), key: key.clone(), value }, &[]);
        let (absent, first) = (crawl.of_crawl(seen(None)), crawl.of_crawl(seen(Some(value("{\"a\":1}")))));
        crawl.apply(absent.clone()).await;
        assert_eq!(crawl.try_one(first.clone()).await, conflict(&key));
        put(&store, Some(value("{\"a\":1}"))).await;
        crawl.apply(first.clone()).await;
        assert_eq!(crawl.try_one(absent.clone()).await, conflict(&key));
        put(&store, Some(value("{\"a\":2}"))).await;
        assert_eq!(crawl.try_one(first).await, conflict(&key));
        put(&store, None).await;
        crawl.apply(absent).await;
    }
}
