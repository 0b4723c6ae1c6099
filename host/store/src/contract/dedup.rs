//! S1: exact dedup.

use super::Fixture;
use super::given::{Crawl, failed, page, pages, retry_at};
use nephila_model::{
    Counter, CrawlId, Effects, KeyStanding, RefusedReason, RequestState, Shallower, SkipReason, UniqueKey, Verdict,
};

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

pub async fn a_lesser_depth_counts_however_large_it_is(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let at = |depth| nephila_model::NewRequest { depth, ..page("1") };
    crawl.accept(vec![at(100_000)]).await;
    for (depth, least) in [(100_001, 100_000), (999, 999), (256, 256), (255, 255), (300, 255), (254, 254), (0, 0), (7, 0)] {
        let applied = crawl.apply(crawl.of_crawl(Effects { requests: vec![at(depth)], ..Effects::default() })).await;
        assert_eq!(applied.shallower.len(), usize::from(depth == least), "{depth}");
        assert_eq!(crawl.queue("a.example").await[0].depth, least);
    }
}

pub async fn a_key_is_known_when_its_outcome_is_committed_and_not_when_it_is_rejected(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    let key = page("new").unique_key;
    let known = async || crawl.store.known(crawl.id, &[key]).await.expect("answers")[0];
    let unseen = nephila_model::StateRead::Key { key: "k".into(), version: nephila_model::StateVersion(9) };
    let conflict = || {
        let effects = Effects { state_reads: vec![unseen.clone()], ..pages(&["new"]) };
        crawl.handled(&accepted[0], effects)
    };
    assert!(crawl.try_one(conflict()).await.is_err());
    assert!(!known().await);
    let results = crawl.commit(vec![conflict(), crawl.handled(&accepted[1], pages(&["new"])), conflict()]).await;
    assert!(results[0].is_err() && results[2].is_err());
    assert_eq!(results[1].as_ref().map(|applied| applied.accepted.len()), Ok(1));
    assert!(known().await);
}

pub async fn keys_are_known_to_their_own_crawl_alone_and_after_a_restart(fixture: &dyn Fixture) {
    let main = Crawl::new(fixture).await;
    let side = Crawl::open(main.store.clone(), super::given::spec("side")).await;
    let at = |depth| nephila_model::NewRequest { depth, ..page("1") };
    assert_eq!(main.accept(vec![at(5)]).await.len(), 1);
    let keys = [page("1").unique_key, page("2").unique_key];
    assert_eq!(side.store.known(side.id, &keys).await.expect("answers"), [false, false]);
    assert_eq!(side.accept(vec![at(3), page("2")]).await.len(), 2);
    assert_eq!(main.store.known(main.id, &keys).await.expect("answers"), [true, false]);
    if !fixture.keeps() {
        return;
    }
    let (main_spec, side_spec) = (main.spec.clone(), side.spec.clone());
    drop((main, side));
    let main = Crawl::open(fixture.open().await, main_spec).await;
    assert_eq!(main.store.known(main.id, &keys).await.expect("answers"), [true, false]);
    let side = Crawl::open(main.store.clone(), side_spec).await;
    assert_eq!(side.store.known(side.id, &keys).await.expect("answers"), [true, true]);
    // The depths are those of before.
    assert!(main.accept(vec![at(4)]).await.is_empty() && side.accept(vec![at(4)]).await.is_empty());
    assert_eq!((main.queue("a.example").await[0].depth, side.queue("a.example").await[0].depth), (4, 3));
}

pub async fn a_standing_is_never_settled_where_to_enqueue_once_more_would_change_something(fixture: &dyn Fixture) {
    // A key that was accepted may always be said to wait deeper, which costs a look at its row; the other two are promises.
    let assert_standings = async |crawl: &Crawl, path: &str, known: bool, pending: Option<u32>| {
        for depth in [0, 1, 3, 4, 5, 6, 99, 254, 255, 256, 299, 300, 301, u32::MAX] {
            let keys = [page("never").unique_key, page(path).unique_key, page(path).unique_key];
            let found = crawl.store.standing(crawl.id, &keys, depth).await.expect("answers");
            assert!(found.len() == 3 && found[0] == KeyStanding::New, "{path} at {depth}: {found:?}");
            for standing in &found[1..] {
                assert_eq!(standing.is_known(), known, "{path} at {depth}");
                let would_change = pending.is_some_and(|pending| depth < pending);
                assert!(!(would_change && *standing == KeyStanding::Settled), "{path} at {depth} waits at {pending:?}");
            }
        }
    };
    let assert_all = async |crawl: &Crawl| {
        for (path, pending) in [("near", 4), ("far", 300), ("root", 0), ("later", 5)] {
            assert_standings(crawl, path, true, Some(pending)).await;
        }
        for path in ["handled", "failed", "skipped"] {
            assert_standings(crawl, path, true, None).await;
        }
        assert_standings(crawl, "new", false, None).await;
    };
    let crawl = Crawl::new(fixture).await;
    let at = |path: &str, depth| nephila_model::NewRequest { depth, ..page(path) };
    let wanted = [("near", 6), ("far", 300), ("root", 0), ("later", 5), ("handled", 5), ("failed", 5), ("skipped", 5)];
    let rows = crawl.accept(wanted.map(|(path, depth)| at(path, depth)).to_vec()).await;
    assert_standings(&crawl, "near", true, Some(6)).await;
    // It comes nearer, and goes no further away.
    assert!(crawl.accept(vec![at("near", 4), at("near", 5)]).await.is_empty());
    let skip = Verdict::Skipped { reason: SkipReason::TooLarge, final_url: None };
    crawl.apply(crawl.outcome(&rows[3], retry_at(i64::MAX / 2), Effects::default())).await;
    crawl.apply(crawl.handled(&rows[4], Effects::default())).await;
    crawl.apply(crawl.outcome(&rows[5], failed(), Effects::default())).await;
    crawl.apply(crawl.outcome(&rows[6], skip, Effects::default())).await;
    assert_all(&crawl).await;
    // Whatever it is that was said to be settled: nothing comes of enqueueing it.
    for depth in [3, 4, 300] {
        let paths = wanted.map(|(path, _)| path);
        let keys = paths.map(|path| page(path).unique_key);
        let found = crawl.store.standing(crawl.id, &keys, depth).await.expect("answers");
        let settled = paths.iter().zip(found).filter(|(_, standing)| *standing == KeyStanding::Settled);
        let requests = settled.map(|(path, _)| at(path, depth)).collect();
        let applied = crawl.apply(crawl.of_crawl(Effects { requests, ..Effects::default() })).await;
        assert!(applied.accepted.is_empty() && applied.shallower.is_empty(), "{depth}: {applied:?}");
    }
    // Another crawl, and one that there is not, know nothing of it.
    let side = Crawl::open(crawl.store.clone(), super::given::spec("side")).await;
    for other in [side.id, CrawlId(i64::MAX)] {
        let found = crawl.store.standing(other, &[page("handled").unique_key], 0).await.expect("an answer");
        assert_eq!(found, [KeyStanding::New]);
    }
    assert!(crawl.store.standing(crawl.id, &[], 0).await.expect("no answers").is_empty());
    if fixture.keeps() {
        let spec = crawl.spec.clone();
        drop((crawl, side));
        assert_all(&Crawl::open(fixture.open().await, spec).await).await;
    }
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
