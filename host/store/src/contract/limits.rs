//! `--max-items` and `--max-requests`, and the bound of what a plugin can make up.

use super::Fixture;
use super::given::{Crawl, failed, items, page, reason, retry_at};
use crate::ErrorsOf;
use nephila_model::{CommitLimits, CommitResult, Counter, Effects, Rejection, SkipReason, Verdict};

fn applied(results: &[CommitResult]) -> Vec<bool> {
    let deferred = |result: &CommitResult| match result {
        Ok(_) => true,
        Err(rejection) => *rejection != Rejection::Deferred,
    };
    results.iter().map(deferred).collect()
}

pub async fn the_outcome_that_crosses_a_limit_is_kept_whole_and_the_rest_stays_pending(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..6).map(|path| page(&path.to_string())).collect()).await;
    let limits = CommitLimits { max_items: Some(3), max_requests: None };
    let mut group: Vec<_> = accepted[..4].iter().map(|request| crawl.handled(request, items(&["a", "b"]))).collect();
    group.push(crawl.outcome(&accepted[4], retry_at(0), Effects::default()));
    group.push(crawl.finish(Effects::default()));
    group.push(crawl.of_crawl(super::given::pages(&["9"])));
    let results = crawl.commit_within(group, limits).await;
    assert_eq!(applied(&results), [true, true, false, false, false, true, true]);
    assert_eq!(crawl.count(Counter::Items).await, 4);
    assert_eq!(crawl.paths("a.example").await, ["2", "3", "4", "5", "9"]);
    // A greater limit lets them through.
    let more = CommitLimits { max_items: Some(5), max_requests: None };
    let rest = crawl.commit_within(vec![crawl.handled(&accepted[2], items(&["c"]))], more).await;
    assert_eq!(applied(&rest), [true]);
}

pub async fn requests_are_limited_by_those_that_ended(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept((0..5).map(|path| page(&path.to_string())).collect()).await;
    let limits = CommitLimits { max_items: None, max_requests: Some(2) };
    let group = vec![
        crawl.outcome(&accepted[0], retry_at(0), Effects::default()),
        crawl.outcome(&accepted[1], failed(), Effects::default()),
        crawl.handled(&accepted[2], Effects::default()),
        crawl.handled(&accepted[3], Effects::default()),
    ];
    assert_eq!(applied(&crawl.commit_within(group, limits).await), [true, true, true, false]);
    // What was decided is decided, whatever the limit.
    let again = crawl.commit_within(vec![crawl.handled(&accepted[2], Effects::default())], limits).await;
    assert_eq!(again, [Err(Rejection::Decided)]);
}

pub async fn a_limit_counts_what_earlier_openings_did(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    crawl.apply(crawl.handled(&accepted[0], items(&["a"]))).await;
    crawl.again().await;
    for limits in
        [CommitLimits { max_items: Some(1), max_requests: None }, CommitLimits { max_items: None, max_requests: Some(1) }]
    {
        let results = crawl.commit_within(vec![crawl.handled(&accepted[1], Effects::default())], limits).await;
        assert_eq!(applied(&results), [false]);
    }
}

pub async fn made_up_codes_do_not_grow_without_end(fixture: &dyn Fixture) {
    const CODES: u64 = 1_200;
    let crawl = Crawl::new(fixture).await;
    let (failing, skipped): (Vec<_>, Vec<_>) =
        (0..CODES).map(|code| (page(&format!("f{code}")), page(&format!("s{code}")))).unzip();
    let (failing, skipped) = (crawl.accept(failing).await, crawl.accept(skipped).await);
    for (at, (failing, skipped)) in (0..).zip(failing.chunks(100).zip(skipped.chunks(100))) {
        let mut group = Vec::new();
        for (code, (failing, skipped)) in (at * 100..).zip(failing.iter().zip(skipped)) {
            let failed = Verdict::Failed { reason: reason(&format!("error-{code}")), final_url: None };
            let skip = Verdict::Skipped { reason: SkipReason::Handler(format!("skip-{code}")), final_url: None };
            group.push(crawl.outcome(failing, failed, Effects::default()));
            group.push(crawl.outcome(skipped, skip, Effects::default()));
        }
        assert!(crawl.commit(group).await.iter().all(Result::is_ok));
    }
    let statistics = crawl.store.statistics(crawl.id).await.expect("statistics");
    assert!(statistics.iter().count() <= 1_010, "{}", statistics.iter().count());
    let errors: u64 = statistics.iter().filter(|(counter, _)| matches!(counter, Counter::Error(_))).map(|(_, value)| value).sum();
    assert_eq!((errors, statistics.skipped(), statistics.get(&Counter::Failed)), (CODES, CODES, CODES));
    assert!(statistics.get(&Counter::Error("other".into())) > 0 && statistics.get(&Counter::Skipped("other".into())) > 0);
    assert_eq!(statistics.get(&Counter::Error("error-7".into())), 1);
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.failed, counts.skipped), (0, CODES, CODES));
    let samples = crawl.store.errors(crawl.id, ErrorsOf::FailedRequests, usize::MAX).await.expect("errors");
    assert!(samples.len() <= 1_010, "{}", samples.len());
    assert_eq!(samples.iter().map(|sample| sample.count).sum::<u64>(), CODES);
    assert_eq!(samples[0].code, "other");
    // A code that has a name keeps it, and the rest goes where the rest went.
    let more = crawl.accept(vec![page("1"), page("2")]).await;
    let again = |at: usize, code: &str| {
        let failed = Verdict::Failed { reason: reason(code), final_url: None };
        crawl.outcome(&more[at], failed, Effects::default())
    };
    assert!(crawl.commit(vec![again(0, "error-7"), again(1, "one-more")]).await.iter().all(Result::is_ok));
    let now = crawl.store.statistics(crawl.id).await.expect("statistics");
    assert_eq!((now.iter().count(), now.get(&Counter::Error("error-7".into()))), (statistics.iter().count(), 2));
    assert_eq!(now.get(&Counter::Error("other".into())), statistics.get(&Counter::Error("other".into())) + 1);
}
