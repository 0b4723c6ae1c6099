//! S2: order, and S6: what waits for a time is not in the way.

use super::Fixture;
use super::given::{Crawl, page, retry_at, url};
use crate::{CrawlOrder, SiteOrder};
use nephila_model::{Effects, NewRequest, Outcome, Place, RequestSpec, SiteKey, Timestamp, Verdict};

fn urgent(path: &str, priority: i32) -> NewRequest {
    NewRequest { priority, ..page(path) }
}

fn front(path: &str) -> NewRequest {
    NewRequest { place: Place::Forefront, ..page(path) }
}

pub async fn within_a_site_priority_then_forefront_then_arrival(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    crawl.accept(vec![page("first"), page("second"), urgent("low", -3), front("front"), urgent("high", 9)]).await;
    crawl.accept(vec![page("third"), front("later-front"), urgent("also-high", 9)]).await;
    let expected = ["high", "also-high", "later-front", "front", "first", "second", "third", "low"];
    assert_eq!(crawl.paths("a.example").await, expected);
    // What the commit said is what is read, and positions order as the store does.
    let mut queue = crawl.queue("a.example").await;
    queue.reverse();
    queue.sort_by_key(|request| request.position);
    assert_eq!(queue, crawl.queue("a.example").await);
}

pub async fn last_in_first_out_by_setting(fixture: &dyn Fixture) {
    let mut spec = super::given::spec("main");
    spec.order = CrawlOrder::Lifo;
    let crawl = Crawl::open(fixture.open().await, spec).await;
    crawl.accept(vec![page("1"), page("2"), front("front"), page("3"), urgent("high", 1), front("later-front")]).await;
    assert_eq!(crawl.paths("a.example").await, ["high", "later-front", "front", "3", "2", "1"]);
}

pub async fn a_changed_order_acts_on_what_is_accepted_from_then_on(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    crawl.accept(vec![page("1"), page("2")]).await;
    crawl.spec.order = CrawlOrder::Lifo;
    crawl.again().await;
    crawl.accept(vec![page("3"), page("4")]).await;
    assert_eq!(crawl.paths("a.example").await, ["4", "3", "1", "2"]);
}

pub async fn a_window_says_whether_it_is_complete(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let site = crawl.accept(vec![page("1"), page("2"), page("3")]).await[0].site;
    for (limit, found, complete) in [(0, 0, false), (2, 2, false), (3, 3, true), (usize::MAX, 3, true)] {
        let window = crawl.store.site_window(crawl.id, site, limit).await.expect("a window");
        assert_eq!((window.requests.len(), window.complete), (found, complete), "limit {limit}");
    }
}

pub async fn ready_sites_come_by_head_and_by_turn(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let at = |host: &str, priority| urgent(&format!("http://{host}.example/{priority}"), priority);
    let accepted = crawl.accept(vec![at("a", 0), at("b", 0), at("b", 5), at("c", -1), at("a", 1), at("d", 0)]).await;
    assert_eq!(crawl.sites(SiteOrder::ByHead).await, ["b.example", "a.example", "d.example", "c.example"]);
    assert_eq!(crawl.sites(SiteOrder::ByTurn).await, ["a.example", "b.example", "c.example", "d.example"]);
    // The head of b is gone: it stands with its equals, behind them since it has been served.
    crawl.apply(crawl.handled(&accepted[2], Effects::default())).await;
    assert_eq!(crawl.sites(SiteOrder::ByHead).await, ["a.example", "d.example", "b.example", "c.example"]);
    assert_eq!(crawl.sites(SiteOrder::ByTurn).await, ["a.example", "c.example", "d.example", "b.example"]);
    // A site without ready requests is not there.
    crawl.apply(crawl.handled(&accepted[5], Effects::default())).await;
    assert_eq!(crawl.sites(SiteOrder::ByHead).await, ["a.example", "b.example", "c.example"]);
    let heads = crawl.store.ready_sites(crawl.id, SiteOrder::ByHead, 2).await.expect("sites");
    assert_eq!(heads.iter().map(|head| head.head_priority).collect::<Vec<_>>(), [1, 0]);
}

pub async fn every_ready_site_is_first_by_turn_before_one_is_so_again(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    for site in 0..5 {
        crawl.accept((0..4).map(|path| page(&format!("http://s{site}.example/{path}"))).collect()).await;
    }
    let mut served = Vec::new();
    for _ in 0..20 {
        let first = crawl.sites(SiteOrder::ByTurn).await.remove(0);
        let request = crawl.queue(&first).await.remove(0);
        crawl.apply(crawl.handled(&request, Effects::default())).await;
        served.push(first);
    }
    for round in served.chunks(5) {
        let mut round = round.to_vec();
        round.sort();
        round.dedup();
        assert_eq!(round.len(), 5, "{served:?}");
    }
}

pub async fn a_site_is_not_asked_before_its_time_whatever_comes_in_between(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2"), page("3")]).await;
    let at = |number: usize, millis| Outcome {
        site_next_allowed: Some(Timestamp::from_millis(millis)),
        ..crawl.handled(&accepted[number], Effects::default())
    };
    // A response that came earlier asked for a longer wait.
    crawl.commit(vec![at(0, 9_000), at(1, 2_000)]).await;
    let heads = crawl.store.ready_sites(crawl.id, SiteOrder::ByHead, 9).await.expect("sites");
    assert_eq!(heads[0].next_allowed, Timestamp::from_millis(9_000));
}

pub async fn an_undue_request_is_not_ready_until_it_is_woken(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2"), urgent("http://b.example/1", 4)]).await;
    crawl.apply(crawl.outcome(&accepted[0], retry_at(2_000), Effects::default())).await;
    crawl.apply(crawl.outcome(&accepted[2], retry_at(1_000), Effects::default())).await;
    assert_eq!((crawl.paths("a.example").await, crawl.sites(SiteOrder::ByHead).await.len()), (vec!["2".to_owned()], 1));
    let wake = async |millis| crawl.store.wake_due(crawl.id, Timestamp::from_millis(millis), 99).await.expect("woken");
    let early = wake(999).await;
    assert!(early.sites.is_empty() && early.next_due == Some(Timestamp::from_millis(1_000)));
    let some = wake(1_000).await;
    assert_eq!(some.sites.iter().map(|head| (head.key.as_str(), head.head_priority)).collect::<Vec<_>>(), [("b.example", 4)]);
    assert_eq!(some.next_due, Some(Timestamp::from_millis(2_000)));
    assert_eq!(crawl.sites(SiteOrder::ByHead).await, ["b.example", "a.example"]);
    let rest = wake(5_000).await;
    assert_eq!((rest.sites.len(), rest.next_due), (1, None));
    assert_eq!(crawl.paths("a.example").await, ["1", "2"]);
    assert_eq!(wake(9_000).await, crate::Woken::default());
}

pub async fn waking_is_cut_at_its_limit_and_says_so(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    for (request, millis) in crawl.accept(vec![page("1"), page("2"), page("3")]).await.iter().zip([30, 10, 20]) {
        crawl.apply(crawl.outcome(request, retry_at(millis), Effects::default())).await;
    }
    let now = Timestamp::from_millis(100);
    let woken = crawl.store.wake_due(crawl.id, now, 2).await.expect("woken");
    assert_eq!((woken.sites.len(), woken.next_due), (1, Some(Timestamp::from_millis(30))));
    assert_eq!(crawl.paths("a.example").await, ["2", "3"]);
    let nothing = crawl.store.wake_due(crawl.id, now, 0).await.expect("woken");
    assert_eq!((nothing.sites.len(), nothing.next_due), (0, Some(Timestamp::from_millis(30))));
}

pub async fn a_retried_and_a_moved_request_keep_their_rank(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2"), page("http://b.example/3")]).await;
    crawl.apply(crawl.outcome(&accepted[0], retry_at(0), Effects::default())).await;
    crawl.store.wake_due(crawl.id, Timestamp::now(), 9).await.expect("woken");
    assert_eq!(crawl.paths("a.example").await, ["1", "2"]);
    let to = url("http://b.example/moved");
    let site = SiteKey::of(&to, crawl.spec.site_by);
    let moved = Verdict::Moved { url: to, site, chain: Vec::new(), spec: Box::new(RequestSpec::default()), not_before: None };
    crawl.apply(crawl.outcome(&accepted[1], moved, Effects::default())).await;
    assert_eq!(crawl.paths("b.example").await, ["moved", "3"]);
    assert_eq!(crawl.queue("b.example").await[0].position, accepted[1].position);
}

pub async fn a_moved_request_may_have_to_wait_for_its_time(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let accepted = crawl.accept(vec![page("1"), page("2")]).await;
    let request = &accepted[0];
    let spec = RequestSpec { session_rotations: 1, ..RequestSpec::default() };
    let (chain, url, site) = (Vec::new(), request.url.clone(), SiteKey::of(&request.url, crawl.spec.site_by));
    let not_before = Some(Timestamp::from_millis(2_000));
    let moved = Verdict::Moved { url, site, chain, spec: Box::new(spec.clone()), not_before };
    let applied = crawl.apply(crawl.outcome(request, moved, Effects::default())).await;
    assert_eq!((applied.moved, crawl.paths("a.example").await), (None, vec!["2".to_owned()]));
    let wake = async |millis| crawl.store.wake_due(crawl.id, Timestamp::from_millis(millis), 9).await.expect("woken");
    assert_eq!(wake(1_999).await.next_due, not_before);
    assert_eq!(wake(2_000).await.sites.len(), 1);
    let queue = crawl.queue("a.example").await;
    assert_eq!((queue.len(), &queue[0].spec, queue[0].retry_count), (2, &spec, 0));
}
