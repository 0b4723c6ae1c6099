//! `--max-items` and `--max-requests`.

use super::Fixture;
use super::given::{Crawl, failed, items, page, retry_at};
use nephila_model::{CommitLimits, CommitResult, Counter, Effects, Rejection};

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
