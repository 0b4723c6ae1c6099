//! Uses of sessions: reserved before they begin, never forgotten and never given out twice.

use super::Fixture;
use super::given::{Crawl, spec};
use super::sessions::{cookie, create, delta, id, open, range, read, session, user, with, with_uses};
use crate::StoreError;
use nephila_model::{Effects, SessionDelta, Timestamp, Unusable, UseLog, UseMark};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

pub async fn uses_are_given_out_once_and_never_more_than_there_may_be(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let mut given = vec![create(&crawl, pool, &with_uses("s", 25), 10).await.expect("uses")];
    while let Some(range) = crawl.store.reserve_uses(user(&crawl, pool), &id("s"), 7).await.expect("an answer") {
        given.push(range);
    }
    assert_eq!(given, [range(1, 10), range(11, 17), range(18, 24), range(25, 25)]);
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("other"), 7).await.expect("an answer"), None);
    // One that is retired has none any more, whatever is left.
    create(&crawl, pool, &session("r"), 1).await;
    let retired = SessionDelta { retired: true, ..delta(pool, "r", 1, UseMark::Neither) };
    crawl.apply(with(crawl.of_crawl(Effects::default()), retired)).await;
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("r"), 7).await.expect("an answer"), None);
    // Nor has one of which it was told that it is too old.
    create(&crawl, pool, &session("aged"), 1).await;
    crawl.store.end_aged_sessions(user(&crawl, pool), NOW.plus(session("aged").settings.max_age), 9).await.expect("ended");
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("aged"), 7).await.expect("an answer"), None);
}

pub async fn what_was_reserved_and_not_reported_counts_as_used_when_the_pool_is_opened_again(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    create(&crawl, pool, &with_uses("last", 10), 10).await;
    crawl.apply(with(crawl.of_crawl(Effects::default()), delta(pool, "s", 2, UseMark::Bad))).await;
    assert_eq!(read(&crawl, pool, "s").await.uses.used(), 1);
    let opened = open(&crawl).await;
    assert_eq!(opened.id, pool);
    // The other one is used up by that.
    assert_eq!(opened.sessions.len(), 1);
    assert_eq!((&opened.sessions[0].uses, opened.sessions[0].reserved), (&UseLog::settled(10, 1.0), 10));
    assert_eq!(read(&crawl, pool, "last").await.unusable(NOW), Some(Unusable::UsedUp { max: 10 }));
    // An outcome that comes after all is not counted twice, and its mark is not lost.
    crawl.apply(with(crawl.of_crawl(Effects::default()), delta(pool, "s", 1, UseMark::Bad))).await;
    assert_eq!(read(&crawl, pool, "s").await.uses, UseLog::settled(10, 2.0));
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("s"), 5).await.expect("an answer"), Some(range(11, 15)));
}

pub async fn a_kill_between_reserving_and_committing_forgets_no_use(fixture: &dyn Fixture) {
    if !fixture.keeps() {
        return;
    }
    let mut begun = 0;
    for round in 0.. {
        let crawl = Crawl::open(fixture.open().await, spec("main")).await;
        let opened = open(&crawl).await;
        if round == 0 {
            assert_eq!(create(&crawl, opened.id, &with_uses("s", 12), 5).await, Some(range(1, 5)));
            begun = 5;
        } else if let Some(session) = opened.sessions.first() {
            assert_eq!((session.uses.used(), session.reserved), (begun, begun));
            let range = crawl.store.reserve_uses(user(&crawl, opened.id), &id("s"), 5).await.expect("an answer").expect("uses");
            assert_eq!(range.first.0, begun + 1);
            begun = range.last.0;
        } else {
            break;
        }
        // Some of them are reported, and then the process is killed.
        let mut reported = delta(opened.id, "s", begun - 1, UseMark::Good);
        reported.cookies = vec![cookie("a", &begun.to_string(), i64::from(begun), begun)];
        crawl.apply(with(crawl.of_crawl(Effects::default()), reported)).await;
        drop(crawl);
    }
    assert_eq!(begun, 12);
    let crawl = Crawl::open(fixture.open().await, spec("main")).await;
    let pool = open(&crawl).await.id;
    let session = read(&crawl, pool, "s").await;
    assert_eq!((session.uses.used(), session.cookies), (12, vec![cookie("a", "12", 12, 12)]));
}

pub async fn uses_that_were_not_begun_are_taken_back(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    create(&crawl, pool, &session("t"), 10).await;
    crawl.apply(with(crawl.of_crawl(Effects::default()), delta(pool, "s", 1, UseMark::Good))).await;
    let unused = [(id("s"), range(3, 10)), (id("s"), range(2, 2)), (id("t"), range(2, 9)), (id("gone"), range(1, 9))];
    crawl.store.return_uses(user(&crawl, pool), &unused).await.expect("taken back");
    // Behind those of `t` one was begun: they are lost.
    let opened = open(&crawl).await;
    let used: Vec<_> = opened.sessions.iter().map(|session| (session.uses.used(), session.reserved)).collect();
    assert_eq!(used, [(1, 1), (10, 10)]);
    // What counted as used by now is nobody's to give back.
    crawl.store.return_uses(user(&crawl, pool), &[(id("t"), range(8, 10))]).await.expect("an answer");
    assert_eq!(read(&crawl, pool, "t").await.reserved, 10);
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("s"), 2).await.expect("an answer"), Some(range(2, 3)));
}

pub async fn whoever_lost_the_crawl_changes_nothing_in_its_pool(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    create(&crawl, pool, &with_uses("over", 1), 1).await;
    let old = user(&crawl, pool);
    crawl.again().await;
    open(&crawl).await;
    let before = crawl.store.sessions(pool).await.expect("sessions");
    let unused = [(id("s"), range(10, 10))];
    let late = NOW.plus(session("s").settings.max_age);
    let refused = [
        crawl.store.open_pool(crawl.id, old.lease, &nephila_model::PoolPlace::default(), late, 9).await.map(drop),
        crawl.store.create_session(old, &session("t"), 1).await.map(drop),
        crawl.store.reserve_uses(old, &id("s"), 1).await.map(drop),
        crawl.store.return_uses(old, &unused).await,
        crawl.store.end_aged_sessions(old, late, 9).await.map(drop),
        crawl.store.purge_sessions(old, NOW, 0, 9).await.map(drop),
    ];
    assert!(refused.iter().all(|answer| matches!(answer, Err(StoreError::Stale))), "{refused:?}");
    assert_eq!(crawl.store.sessions(pool).await.expect("sessions"), before);
    // Its successor may do all of that.
    assert_eq!(crawl.store.purge_sessions(user(&crawl, pool), NOW, 0, 9).await.expect("an answer"), 1);
    assert_eq!(crawl.store.reserve_uses(user(&crawl, pool), &id("s"), 1).await.expect("an answer"), Some(range(11, 11)));
}

pub async fn an_opening_settles_all_sessions_and_gives_the_newest(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    for number in 0..300 {
        create(&crawl, pool, &with_uses(&format!("s{number}"), 9), 2).await;
    }
    let lease = user(&crawl, pool).lease;
    let opened = crawl.store.open_pool(crawl.id, lease, &nephila_model::PoolPlace::default(), NOW, 2).await.expect("a pool");
    let names: Vec<&str> = opened.sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(names, ["s298", "s299"]);
    let all = crawl.store.sessions(pool).await.expect("sessions");
    assert!(all.len() == 300 && all.iter().all(|session| session.uses.used() == 2), "those that stay in the store too");
    for (most, counted) in [(0, 0), (299, 299), (1_000, 300)] {
        assert_eq!(crawl.store.usable_sessions(pool, most).await.expect("an answer"), counted);
    }
}
