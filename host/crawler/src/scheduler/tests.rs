//! Which request goes next, told as claims one after another.

use super::*;
use nephila_model::{Method, Position, RequestSpec, UniqueKey};
use url::Url;

fn row(id: i64, site: i64, priority: i32) -> QueuedRequest {
    let url = Url::parse(&format!("http://s{site}.test/{id}")).expect("a URL");
    QueuedRequest {
        id: RequestId(id),
        site: SiteId(site),
        position: Position { priority, rank: id },
        unique_key: UniqueKey::of(&url, Method::Get, None),
        original_url: url.clone(),
        url,
        label: None,
        depth: 0,
        retry_count: 0,
        chain: Vec::new(),
        spec: RequestSpec::default(),
    }
}

fn scheduler(delay: Duration, sites: i64, now: Instant) -> Scheduler<i64> {
    let mut scheduler = Scheduler::new(delay);
    for site in 1..=sites {
        scheduler.admit(SiteId(site), SiteKey::from_stored(format!("s{site}.test")), now);
    }
    scheduler
}

fn window(requests: Vec<QueuedRequest>, complete: bool) -> SiteWindow {
    let newest = requests.iter().map(|row| row.id).max().unwrap_or(RequestId(0));
    SiteWindow { requests, complete, newest }
}

fn claimed(scheduler: &mut Scheduler<i64>, now: Instant) -> Option<i64> {
    scheduler.claim(now).map(|turn| match turn.next {
        Next::Queued(row) => row.id.0,
        Next::Continued(id) => -id,
    })
}

#[test]
fn a_site_is_asked_once_a_delay_and_others_meanwhile() {
    let (now, delay) = (Instant::now(), Duration::from_secs(1));
    let mut scheduler = scheduler(delay, 2, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0), row(2, 1, 0)], true), now);
    scheduler.refill(SiteId(2), window(vec![row(3, 2, 0)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    assert_eq!(claimed(&mut scheduler, now), Some(3));
    assert_eq!(claimed(&mut scheduler, now), None);
    assert_eq!(scheduler.next_slot(), Some(now + delay));
    assert_eq!(claimed(&mut scheduler, now + delay / 2), None);
    assert_eq!(claimed(&mut scheduler, now + delay), Some(2));
}

#[test]
fn the_highest_head_goes_first_and_a_new_one_is_seen_at_once() {
    let now = Instant::now();
    let mut scheduler = scheduler(Duration::ZERO, 2, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0), row(2, 1, 0)], true), now);
    scheduler.refill(SiteId(2), window(vec![row(3, 2, 5)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(3));
    assert!(scheduler.offer(row(4, 1, 9), now));
    assert_eq!(claimed(&mut scheduler, now), Some(4));
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    assert!(!scheduler.offer(row(5, 7, 9), now), "site 7 is not in memory");
}

#[test]
fn each_ready_site_is_served_within_k_claims() {
    let now = Instant::now();
    let mut scheduler = scheduler(Duration::ZERO, 5, now);
    for site in 1..=4 {
        let rows = (0..40).map(|i| row(site * 100 + i, site, 10)).collect();
        scheduler.refill(SiteId(site), window(rows, true), now);
    }
    scheduler.refill(SiteId(5), window(vec![row(999, 5, -10)], true), now);
    let order: Vec<i64> = std::iter::from_fn(|| claimed(&mut scheduler, now)).collect();
    let served = order.iter().position(|id| *id == 999).expect("served");
    assert!(served as u64 <= TURN_EVERY * 5, "served as claim {served}");
}

#[test]
fn what_is_in_flight_is_not_claimed_again_after_a_refill() {
    let now = Instant::now();
    let mut scheduler = scheduler(Duration::ZERO, 1, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0)], false), now);
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0), row(2, 1, 0)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(2));
    assert_eq!(claimed(&mut scheduler, now), None);
    scheduler.land(SiteId(1), RequestId(1));
    scheduler.distrust(SiteId(1), now);
    assert_eq!(scheduler.hungry().len(), 1);
}

#[test]
fn the_late_news_of_a_commit_brings_no_row_back_that_a_refill_has_seen() {
    let now = Instant::now();
    let mut scheduler = scheduler(Duration::ZERO, 1, now);
    scheduler.refill(SiteId(1), window(vec![row(7, 1, 0)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(7));
    scheduler.land(SiteId(1), RequestId(7));
    scheduler.offer(row(7, 1, 0), now);
    assert_eq!(claimed(&mut scheduler, now), None);
    scheduler.offer(row(8, 1, 0), now);
    assert_eq!(claimed(&mut scheduler, now), Some(8));
}

#[test]
fn a_redirect_on_the_same_site_takes_its_next_slot_before_the_queue() {
    let (now, delay) = (Instant::now(), Duration::from_secs(1));
    let mut scheduler = scheduler(delay, 1, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0), row(2, 1, 99)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(2));
    scheduler.put_back(SiteId(1), 2, now);
    assert_eq!(claimed(&mut scheduler, now), None);
    assert_eq!(claimed(&mut scheduler, now + delay), Some(-2));
    assert_eq!(claimed(&mut scheduler, now + delay * 2), Some(1));
}

#[test]
fn what_is_in_flight_can_be_claimed_alone() {
    let (now, delay) = (Instant::now(), Duration::from_secs(1));
    let mut scheduler = scheduler(delay, 2, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0), row(2, 1, 0)], true), now);
    scheduler.refill(SiteId(2), window(vec![row(3, 2, 9)], true), now);
    assert!(scheduler.claim_continued(now).is_none() && scheduler.next_continued().is_none());
    assert_eq!(claimed(&mut scheduler, now), Some(3));
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    scheduler.put_back(SiteId(1), 1, now);
    assert!(scheduler.claim_continued(now).is_none(), "its site must wait");
    assert_eq!(scheduler.next_continued(), Some(now + delay));
    let turn = scheduler.claim_continued(now + delay).expect("a claim");
    assert!(matches!(turn.next, Next::Continued(1)));
    assert_eq!(claimed(&mut scheduler, now + delay), None);
    assert_eq!(claimed(&mut scheduler, now + delay * 2), Some(2));
}

#[test]
fn the_window_of_a_site_is_bounded_and_what_falls_out_is_read_again() {
    let now = Instant::now();
    let mut scheduler = scheduler(Duration::ZERO, 1, now);
    scheduler.refill(SiteId(1), window(Vec::new(), true), now);
    let many = 10 * crate::site_queue::WINDOW as i64;
    for id in 1..=many {
        scheduler.offer(row(id, 1, 0), now);
    }
    let mut order = Vec::new();
    loop {
        for (site, limit) in scheduler.hungry() {
            let next = order.len() as i64 + 1;
            let rows: Vec<_> = (next..=many).take(limit).map(|id| row(id, 1, 0)).collect();
            let complete = rows.len() < limit;
            scheduler.refill(site, window(rows, complete), now);
        }
        let Some(id) = claimed(&mut scheduler, now) else { break };
        scheduler.land(SiteId(1), RequestId(id));
        order.push(id);
    }
    assert_eq!(order, (1..=many).collect::<Vec<_>>());
}

#[test]
fn sites_make_room_and_idle_ones_are_forgotten() {
    let (now, delay) = (Instant::now(), Duration::from_secs(1));
    let mut scheduler = scheduler(delay, 3, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0)], true), now);
    scheduler.refill(SiteId(2), window(vec![], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    scheduler.forget_idle();
    assert!(scheduler.has(SiteId(1)) && !scheduler.has(SiteId(2)) && scheduler.has(SiteId(3)));
    scheduler.evict(5, now);
    assert_eq!(scheduler.len(), 1, "only the site with something in flight is left");
    scheduler.land(SiteId(1), RequestId(1));
    scheduler.forget_idle();
    assert_eq!(scheduler.len(), 0);
}

#[test]
fn a_site_that_waits_stands_in_line_once_however_many_rows_come() {
    let (now, delay) = (Instant::now(), Duration::from_secs(1));
    let mut scheduler = scheduler(delay, 1, now);
    scheduler.refill(SiteId(1), window(vec![row(1, 1, 0)], true), now);
    assert_eq!(claimed(&mut scheduler, now), Some(1));
    for id in 2..1_000 {
        scheduler.offer(row(id, 1, 0), now);
    }
    assert_eq!(scheduler.waiting.len(), 1);
    assert_eq!(claimed(&mut scheduler, now + delay), Some(2));
}
