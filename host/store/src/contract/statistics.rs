//! What is counted, and what is kept as an example: with the outcome that it is of, once, whatever the order of outcomes.

use super::Fixture;
use super::given::{Crawl, failed, ops, page, reason, retry_at, set, spec, url};
use crate::{Company, CrawlSpec, ErrorSample, ErrorsOf, ExcerptSize};
use nephila_model::{
    Applied, AppliedVerdict, Counter, Effects, ErrorKind, FailureReason, KvStoreName, KvValue, Outcome, QueuedRequest, Rejection,
    StatsDelta, Verdict, error_snapshot_key,
};
use std::sync::Arc;

async fn samples(crawl: &Crawl, of: ErrorsOf) -> Vec<ErrorSample> {
    crawl.store.errors(crawl.id, of, 2_000).await.expect("errors")
}

async fn codes(crawl: &Crawl, of: ErrorsOf) -> Vec<(String, u64)> {
    samples(crawl, of).await.into_iter().map(|sample| (sample.code, sample.count)).collect()
}

fn with_page(text: &str) -> Effects {
    let error_snapshot = Some(KvValue { content_type: "text/html".into(), value: text.to_owned().into() });
    Effects { error_snapshot, ..Effects::default() }
}

// The key of the page of the kind that the tests' errors with this code are.
fn snapshot_key(code: &str) -> String {
    error_snapshot_key(&ErrorKind::of(&reason(code), "http://a.example/1").name())
}

async fn kept(crawl: &Crawl, code: &str) -> Option<String> {
    let value = crawl.store.kv_get(crawl.id, &KvStoreName::Default, &snapshot_key(code)).await.expect("a read");
    value.map(|value| String::from_utf8(value.value.to_vec()).expect("text"))
}

fn failing(crawl: &Crawl, request: &QueuedRequest, code: &str, text: &str) -> Outcome {
    crawl.outcome(request, Verdict::Failed { reason: reason(code), final_url: None }, with_page(text))
}

pub async fn errors_of_retried_attempts_are_told_apart_from_those_of_failed_requests(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), Effects::default())).await;
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), Effects::default())).await;
    crawl.apply(crawl.outcome(&accepted[1], failed(), Effects::default())).await;
    crawl.apply(failing(&crawl, &accepted[0], "timeout", "x")).await;
    let (failed, retried) = (ErrorsOf::FailedRequests, ErrorsOf::RetriedAttempts);
    assert_eq!(codes(&crawl, failed).await, [("fatal".into(), 1), ("timeout".into(), 1)]);
    assert_eq!(codes(&crawl, retried).await, [("timeout".into(), 2)]);
    let FailureReason { message, .. } = reason("timeout");
    let url = "http://a.example/1".to_owned();
    let (position, shape) = (None, Some(message.clone()));
    let sample = ErrorSample { code: "timeout".into(), position, shape, count: 2, url, message, snapshot: None };
    assert_eq!(samples(&crawl, retried).await, [sample]);
    assert_eq!(crawl.count(Counter::Error("timeout".into())).await, 3, "those of both");
}

pub async fn the_first_error_of_a_kind_keeps_its_page_and_no_later_one_does(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..5).map(|path| page(&path.to_string())).collect()).await;
    // What is retried keeps none.
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), with_page("retried"))).await;
    assert_eq!(kept(&crawl, "timeout").await, None);
    crawl.apply(failing(&crawl, &accepted[0], "trap", "first")).await;
    crawl.apply(failing(&crawl, &accepted[1], "trap", "second")).await;
    crawl.again().await;
    crawl.apply(failing(&crawl, &accepted[2], "trap", "after a kill")).await;
    // The first of its kind had none, and the sample is of the first.
    crawl.apply(crawl.outcome(&accepted[3], failed(), Effects::default())).await;
    crawl.apply(failing(&crawl, &accepted[4], "fatal", "late")).await;
    assert_eq!((kept(&crawl, "trap").await.as_deref(), kept(&crawl, "fatal").await), (Some("first"), None));
    let shown: Vec<_> = samples(&crawl, ErrorsOf::FailedRequests).await.into_iter().map(|e| (e.count, e.snapshot)).collect();
    assert_eq!(shown, [(3, Some(snapshot_key("trap"))), (2, None)]);
}

pub async fn what_is_not_applied_keeps_no_page(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let stale = failing(&crawl, &request, "trap", "stale");
    crawl.again().await;
    assert!(matches!(crawl.try_one(stale).await, Err(Rejection::Stale { .. })));
    assert_eq!((kept(&crawl, "trap").await, codes(&crawl, ErrorsOf::FailedRequests).await), (None, vec![]));
    crawl.apply(failing(&crawl, &request, "trap", "applied")).await;
    assert_eq!(kept(&crawl, "trap").await.as_deref(), Some("applied"));
}

pub async fn pages_are_kept_of_so_many_kinds_and_no_more(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..120).map(|path| page(&path.to_string())).collect()).await;
    let outcome = |(at, request)| failing(&crawl, request, &format!("code-{at}"), "x");
    let group = accepted.iter().enumerate().map(outcome).collect();
    assert!(crawl.commit(group).await.iter().all(Result::is_ok));
    let with_page = samples(&crawl, ErrorsOf::FailedRequests).await.iter().filter(|sample| sample.snapshot.is_some()).count();
    assert_eq!(with_page, 100);
}

fn saying(crawl: &Crawl, request: &QueuedRequest, message: &str) -> Outcome {
    let reason = FailureReason { message: message.to_owned(), ..reason("exception") };
    crawl.outcome(request, Verdict::Failed { reason, final_url: None }, with_page(message))
}

pub async fn errors_of_one_code_are_told_apart_by_place_and_words_and_not_by_what_varies(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..6).map(|path| page(&path.to_string())).collect()).await;
    crawl.apply(saying(&crawl, &accepted[0], "no price on 'Book 1' at crawler.js:13:5")).await;
    crawl.apply(saying(&crawl, &accepted[1], "no price on 'Book 2' at crawler.js:13:5")).await;
    crawl.again().await;
    crawl.apply(saying(&crawl, &accepted[2], "no price on 'Book 3' at crawler.js:13:5")).await;
    crawl.apply(saying(&crawl, &accepted[3], "no price on 'Book 4' at crawler.js:20:1")).await;
    crawl.apply(saying(&crawl, &accepted[4], "page 7 is empty")).await;
    crawl.apply(saying(&crawl, &accepted[5], "page 8 is empty")).await;
    let samples = samples(&crawl, ErrorsOf::FailedRequests).await;
    let kinds: Vec<_> = samples.iter().map(|one| (one.count, one.position.as_deref(), one.shape.as_deref())).collect();
    let no_price = Some("no price on <text>");
    let expected = [
        (3, Some("crawler.js:13:5"), no_price),
        (2, None, Some("page <number> is empty")),
        (1, Some("crawler.js:20:1"), no_price),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(samples[0].message, "no price on 'Book 1' at crawler.js:13:5", "the first is the sample");
    assert!(samples.iter().all(|sample| sample.code == "exception"));
    let keys: std::collections::BTreeSet<_> = samples.iter().filter_map(|sample| sample.snapshot.as_ref()).collect();
    assert_eq!(keys.len(), 3, "a page of each kind");
    assert_eq!(crawl.count(Counter::Error("exception".into())).await, 6);
}

pub async fn what_one_code_says_leaves_room_for_the_others(fixture: &dyn Fixture) {
    const WORDS: u64 = 130;
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..=WORDS).map(|path| page(&path.to_string())).collect()).await;
    let word = |at: u64| format!("nothing like {}", "x".repeat(usize::try_from(at + 1).expect("a length")));
    let group = (0..WORDS).zip(&accepted).map(|(at, request)| saying(&crawl, request, &word(at))).collect();
    assert!(crawl.commit(group).await.iter().all(Result::is_ok));
    crawl.apply(failing(&crawl, &accepted[130], "trap", "x")).await;
    let samples = samples(&crawl, ErrorsOf::FailedRequests).await;
    assert_eq!((samples.len(), samples.iter().map(|sample| sample.count).sum::<u64>()), (102, WORDS + 1));
    let others = samples.iter().find(|sample| sample.shape.is_none()).expect("the rest of the code");
    assert_eq!((others.code.as_str(), others.count, others.snapshot.as_ref()), ("exception", WORDS - 100, None));
    assert!(samples.iter().any(|sample| sample.code == "trap" && sample.shape.is_some()));
}

fn taking(outcome: Outcome, millis: i64) -> Outcome {
    let mut stats = StatsDelta::default();
    for counter in [Counter::FinishedMillis, Counter::LeastFinishedMillis, Counter::MostFinishedMillis] {
        stats.add(counter, millis);
    }
    Outcome { stats, ..outcome }
}

pub async fn the_least_and_the_most_are_those_of_all_outcomes_in_any_order(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    for (number, order) in (0..).zip([[50, 7, 0, 90], [0, 90, 50, 7], [90, 50, 7, 0]]) {
        let spec = CrawlSpec { company: Company::Shared, ..spec(&format!("crawl-{number}")) };
        let mut crawl = Crawl::open(Arc::clone(&store), spec).await;
        let accepted = crawl.accept((0..4).map(|path| page(&path.to_string())).collect()).await;
        assert_eq!(crawl.store.statistics(crawl.id).await.expect("statistics").find(&Counter::LeastFinishedMillis), None);
        let outcome = |crawl: &Crawl, at: usize| taking(crawl.handled(&accepted[at], Effects::default()), order[at]);
        // Two in one group, and one each before and after a kill.
        assert!(crawl.commit(vec![outcome(&crawl, 0), outcome(&crawl, 1)]).await.iter().all(Result::is_ok));
        crawl.apply(outcome(&crawl, 2)).await;
        crawl.again().await;
        crawl.apply(outcome(&crawl, 3)).await;
        let statistics = crawl.store.statistics(crawl.id).await.expect("statistics");
        let found = [Counter::LeastFinishedMillis, Counter::MostFinishedMillis, Counter::FinishedMillis];
        assert_eq!(found.map(|counter| statistics.find(&counter)), [Some(0), Some(90), Some(147)]);
    }
}

pub async fn the_time_of_a_duplicate_is_that_of_an_attempt_which_finished_nothing(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    let ended_at = |request: &QueuedRequest| {
        let handled = Verdict::Handled { final_key: accepted[0].unique_key, final_url: url("http://a.example/1"), status: 200 };
        crawl.outcome(request, handled, Effects::default())
    };
    crawl.apply(taking(ended_at(&accepted[0]), 20)).await;
    let Applied { verdict, .. } = crawl.apply(taking(ended_at(&accepted[1]), 3)).await;
    assert_eq!(verdict, AppliedVerdict::DuplicateRedirect);
    let statistics = crawl.store.statistics(crawl.id).await.expect("statistics");
    assert_eq!((statistics.get(&Counter::FinishedMillis), statistics.get(&Counter::OtherAttemptMillis)), (20, 3));
    assert_eq!((statistics.find(&Counter::LeastFinishedMillis), statistics.attempts()), (Some(20), 2));
    assert_eq!(statistics.attempt_millis(), 23);
}

pub async fn the_state_is_shown_as_far_as_there_is_room(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    let long = format!("\"{}\"", "x".repeat(60));
    let writes = [set("a", "1"), set("b", &long), set("c", "[2]"), set("d", "3"), set("e", "4")];
    crawl.apply(crawl.handled(&request, ops(&writes))).await;
    let shown = async |value, all| {
        let excerpt = crawl.store.state_excerpt(&crawl.spec.crawler_id, ExcerptSize { value, all }).await.expect("state");
        let keys: String = excerpt.values.iter().map(|(key, _)| key.as_str()).collect();
        (keys, excerpt.left_out)
    };
    assert_eq!(shown(100, 1_000).await, ("abcde".to_owned(), 0));
    assert_eq!(shown(10, 1_000).await, ("acde".to_owned(), 1), "the large value is left out");
    assert_eq!(shown(10, 8).await, ("acd".to_owned(), 2), "and what has no room");
    assert_eq!(shown(0, 0).await, (String::new(), 5));
    let nobody = spec("nobody").crawler_id;
    let excerpt = crawl.store.state_excerpt(&nobody, ExcerptSize::default()).await.expect("state");
    assert_eq!((excerpt.values.len(), excerpt.left_out), (0, 0));
}
