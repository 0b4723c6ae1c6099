//! Opening and closing: S7, S8, and S10 (no poison).

use super::Fixture;
use super::given::{Crawl, ending, page, retry_at, spec};
use crate::{Company, CrawlEnding, CrawlOrder, CrawlSpec, ErrorsOf, InHand, LeftBehind, OpenedCrawl, StoreError};
use nephila_model::{Counter, Effects, Epoch, Lease, QueuedRequest, RequestState, SiteBy, Verdict};

pub async fn a_new_crawl_is_fresh_and_clean(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    let opened = store.open_crawl(&spec("main")).await.expect("opened");
    assert!(
        opened.fresh && opened.left == LeftBehind::Nothing && opened.previous_ending.is_none() && opened.upgraded_from.is_none()
    );
    let record = &opened.record;
    assert_eq!((record.crawler_id.as_str(), record.plugin_name.as_str(), record.openings), ("main", "books", 1));
    assert!(!record.finish_done && record.ending.is_none() && record.created_at == record.opened_at);
    assert_eq!(store.crawl(record.id).await.expect("a record"), *record);
    assert_eq!(store.counts(record.id).await.expect("counts"), crate::Counts::default());
}

pub async fn a_crawl_that_was_not_closed_has_crashed(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let opened = crawl.again().await;
    assert!(opened.left == LeftBehind::Crash && opened.fresh && opened.previous_ending.is_none());
    assert_eq!((opened.record.id, opened.record.openings), (crawl.id, 2));
    crawl.accept_one("1").await;
    let opened = crawl.again().await;
    assert!(opened.left == LeftBehind::Crash && !opened.fresh);
}

pub async fn a_closed_crawl_tells_how_it_ended(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let stop = Effects { stop: Some("enough".into()), ..Effects::default() };
    crawl.apply(crawl.of_crawl(stop)).await;
    crawl.store.close_crawl(crawl.id, &ending("ABORTED")).await.expect("closed");
    let record = crawl.store.crawl(crawl.id).await.expect("a record");
    assert_eq!((record.ending, record.stop_reason.as_deref()), (Some(ending("ABORTED")), Some("enough")));
    let opened = crawl.again().await;
    assert_eq!((opened.left, opened.previous_ending), (LeftBehind::Nothing, Some(ending("ABORTED"))));
    assert_eq!((opened.record.ending, opened.record.stop_reason), (None, None));
}

pub async fn a_crawl_that_dropped_fetches_says_so_until_it_is_closed_without(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let dropped = CrawlEnding { in_hand: InHand::Dropped, ..ending("ABORTED") };
    for (closing, left) in [
        (Some(&dropped), LeftBehind::DroppedFetches),
        (Some(&dropped), LeftBehind::DroppedFetches),
        (Some(&ending("ABORTED")), LeftBehind::Nothing),
        (Some(&dropped), LeftBehind::DroppedFetches),
        (None, LeftBehind::Crash),
        (None, LeftBehind::Crash),
        (Some(&ending("SUCCEEDED")), LeftBehind::Nothing),
    ] {
        if let Some(ending) = closing {
            crawl.store.close_crawl(crawl.id, ending).await.expect("closed");
            assert_eq!(crawl.store.crawl(crawl.id).await.expect("a record").ending.as_ref(), Some(ending));
        }
        let opened = crawl.again().await;
        assert_eq!((opened.left, opened.previous_ending.as_ref()), (left, closing));
        assert_eq!(opened.record.ending, None);
    }
}

pub async fn looking_for_a_crawl_refuses_as_opening_does_and_changes_nothing(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    // Nothing is there yet, and looking makes nothing.
    for _ in 0..2 {
        assert_eq!(store.find_crawl(&spec("main")).await.expect("an answer"), None);
    }
    let crawl = Crawl::open(store.clone(), spec("main")).await;
    let request = crawl.accept_one("1").await;
    crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(&request)).await.expect("marked");
    let before = store.crawl(crawl.id).await.expect("a record");
    let news = |crawler: &str, company| CrawlSpec { plugin_name: "news".into(), company, ..spec(crawler) };
    let domain = CrawlSpec { site_by: SiteBy::Domain, ..spec("main") };
    let upgrade = CrawlSpec { plugin_digest: "d2".into(), order: CrawlOrder::Lifo, max_state_value: 1, ..spec("main") };
    let specs = [
        news("main", Company::Alone),
        news("side", Company::Alone),
        news("main", Company::Shared),
        domain,
        spec("main"),
        upgrade,
        spec("side"),
        news("other", Company::Shared),
    ];
    let mut found = Vec::new();
    for spec in &specs {
        found.push(store.find_crawl(spec).await.map_err(|error| error.to_string()));
    }
    assert_eq!(store.crawl(crawl.id).await.expect("a record"), before);
    // The owner is the owner still.
    crawl.apply(crawl.outcome(&request, retry_at(0), Effects::default())).await;
    assert!(found[..4].iter().all(Result::is_err), "{found:?}");
    assert_eq!(found[4..], [Ok(Some(crawl.id)), Ok(Some(crawl.id)), Ok(None), Ok(None)]);
    // Opening says the same.
    for (spec, found) in specs.iter().zip(found) {
        match (store.open_crawl(spec).await, found) {
            (Err(refusal), Err(found)) => assert_eq!(refusal.to_string(), found),
            (Ok(opened), Ok(Some(found))) => assert_eq!(opened.record.id, found),
            (Ok(opened), Ok(None)) => assert!(opened.fresh && opened.record.openings == 1),
            (opened, found) => panic!("{spec:?}: {opened:?}, and it was {found:?}"),
        }
    }
}

pub async fn another_plugin_is_refused_and_another_digest_is_an_upgrade(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let store = crawl.store.clone();
    let other = |crawler: &str, company| CrawlSpec { plugin_name: "news".into(), company, ..spec(crawler) };
    for refused in [other("main", Company::Alone), other("side", Company::Alone), other("main", Company::Shared)] {
        let error = store.open_crawl(&refused).await.expect_err("another plugin");
        assert!(matches!(&error, StoreError::OtherPlugin { theirs, ours } if theirs == "books" && ours == "news"), "{error}");
    }
    store.open_crawl(&other("side", Company::Shared)).await.expect("a crawl beside it");
    crawl.spec.company = Company::Shared;
    crawl.spec.plugin_digest = "d2".into();
    let opened = crawl.again().await;
    assert_eq!((opened.upgraded_from.as_deref(), opened.record.plugin_digest.as_str()), (Some("d1"), "d2"));
    assert_eq!(crawl.again().await.upgraded_from, None);
}

pub async fn another_choice_of_site_is_refused(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let error = crawl.store.open_crawl(&CrawlSpec { site_by: SiteBy::Domain, ..spec("main") }).await.expect_err("another choice");
    assert!(matches!(&error, StoreError::OtherSiteMode { theirs, ours } if theirs == "hostname" && ours == "domain"), "{error}");
}

pub async fn a_refused_opening_changes_nothing(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(&request)).await.expect("marked");
    let before = crawl.store.crawl(crawl.id).await.expect("a record");
    let other_name = CrawlSpec { plugin_name: "news".into(), plugin_digest: "d2".into(), ..spec("main") };
    let other_site = CrawlSpec { site_by: SiteBy::Domain, plugin_digest: "d2".into(), ..spec("main") };
    for refused in [other_name, other_site] {
        crawl.store.open_crawl(&refused).await.expect_err("refused");
    }
    assert_eq!(crawl.store.crawl(crawl.id).await.expect("a record"), before);
    // The owner is the owner still.
    crawl.apply(crawl.handled(&request, Effects::default())).await;
}

async fn crash_while_handling(crawl: &mut Crawl, request: &QueuedRequest) -> OpenedCrawl {
    crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(request)).await.expect("marked");
    crawl.again().await
}

pub async fn a_suspect_that_crashes_the_host_three_times_is_failed(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("poison"), page("good")]).await;
    for _ in 0..2 {
        let opened = crash_while_handling(&mut crawl, &accepted[0]).await;
        assert_eq!((opened.left, opened.given_up), (LeftBehind::Crash, 0));
        assert_eq!(crawl.paths("a.example").await, ["poison", "good"]);
    }
    assert_eq!(crash_while_handling(&mut crawl, &accepted[0]).await.given_up, 1);
    assert_eq!(crawl.paths("a.example").await, ["good"]);
    let status = crawl.status(&accepted[0]).await;
    assert_eq!((status.state, status.reason.as_deref()), (RequestState::Failed, Some("crashed-the-host")));
    let counts = crawl.store.counts(crawl.id).await.expect("counts");
    assert_eq!((counts.pending, counts.failed), (1, 1));
    assert_eq!(crawl.count(Counter::EndedAfterRetries(0)).await, 1);
    assert_eq!(crawl.count(Counter::Error("crashed-the-host".into())).await, 1);
    let errors = crawl.store.errors(crawl.id, ErrorsOf::FailedRequests, 9).await.expect("errors");
    assert_eq!((errors[0].code.as_str(), errors[0].url.as_str()), ("crashed-the-host", "http://a.example/poison"));
}

pub async fn a_request_without_a_mark_is_never_counted(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("fetched"), page("handled")]).await;
    // Both are in flight each time the process is killed; one is under the mark, and then the mark is on the other.
    for _ in 0..2 {
        crash_while_handling(&mut crawl, &accepted[1]).await;
    }
    for _ in 0..5 {
        crawl.again().await;
    }
    crash_while_handling(&mut crawl, &accepted[0]).await;
    assert_eq!(crawl.paths("a.example").await, ["fetched", "handled"]);
}

pub async fn a_mark_goes_with_the_outcome_and_with_a_close_of_either_kind(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    for _ in 0..4 {
        crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(&request)).await.expect("marked");
        crawl.apply(crawl.outcome(&request, retry_at(0), Effects::default())).await;
        crawl.again().await;
    }
    for (in_hand, left) in
        [(InHand::Finished, LeftBehind::Nothing), (InHand::Dropped, LeftBehind::DroppedFetches)].into_iter().cycle().take(8)
    {
        crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(&request)).await.expect("marked");
        crawl.store.close_crawl(crawl.id, &CrawlEnding { in_hand, ..ending("ABORTED") }).await.expect("closed");
        assert_eq!(crawl.again().await.left, left);
    }
    // It is gone for good: a crash that comes before the next mark counts against nobody.
    for _ in 0..4 {
        crawl.again().await;
    }
    assert_eq!(crawl.status(&request).await.state, RequestState::Pending);
    // An outcome of another request leaves the mark where it is.
    let other = crawl.accept_one("2").await;
    for _ in 0..3 {
        crawl.store.mark_suspect(crawl.id, request.id, crawl.lease(&request)).await.expect("marked");
        crawl.apply(crawl.outcome(&other, retry_at(0), Effects::default())).await;
        crawl.again().await;
    }
    assert_eq!(crawl.status(&request).await.state, RequestState::Failed);
}

pub async fn a_stale_lease_marks_nobody(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let request = crawl.accept_one("1").await;
    for _ in 0..4 {
        let stale = Lease { epoch: Epoch(0), ..crawl.lease(&request) };
        let result = crawl.store.mark_suspect(crawl.id, request.id, stale).await;
        assert!(matches!(result, Err(StoreError::Stale)));
        crawl.again().await;
    }
    assert_eq!(crawl.status(&request).await.state, RequestState::Pending);
}

pub async fn what_a_plugin_says_of_its_crawl_is_kept(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2"), page("3")]).await;
    let say = |message: &str, stop: Option<&str>| Effects {
        status_message: Some(message.into()),
        stop: stop.map(Into::into),
        ..Effects::default()
    };
    let skip = Verdict::Skipped { reason: nephila_model::SkipReason::TooLarge, final_url: None };
    let group = vec![
        crawl.handled(&accepted[0], say("half", Some("first"))),
        crawl.handled(&accepted[1], say("done", Some("second"))),
        crawl.outcome(&accepted[2], skip, say("unheard", None)),
    ];
    crawl.commit(group).await;
    let record = crawl.store.crawl(crawl.id).await.expect("a record");
    assert_eq!((record.status_message.as_deref(), record.stop_reason.as_deref()), (Some("done"), Some("first")));
}
