//! Sessions: what attempts did comes to the same in every order, and counts whatever becomes of the page.

use super::Fixture;
use super::given::{Crawl, failed, items, page, retry_at, spec};
use crate::{Company, CrawlSpec, OpenedPool, PoolUser, SessionCreated, Store, StoreError};
use nephila_model::{
    AppliedVerdict, CommitLimits, Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, Effects, Epoch,
    KvStoreName, Outcome, PoolId, PoolPlace, ProxyId, Rejection, SameSite, SessionDelta, SessionId, SessionRecord,
    SessionSettings, Shard, SiteKey, SkipReason, Timestamp, Unusable, UseLog, UseMark, UseNumber, UseRange, Verdict, Written,
};
use std::sync::Arc;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

pub fn id(name: &str) -> SessionId {
    SessionId::new(name).expect("a name")
}

pub fn session(name: &str) -> SessionRecord {
    SessionRecord::new(id(name), SessionSettings::default(), NOW)
}

pub fn with_uses(name: &str, max_uses: u32) -> SessionRecord {
    SessionRecord { settings: SessionSettings { max_uses, ..SessionSettings::default() }, ..session(name) }
}

pub fn range(first: u32, last: u32) -> UseRange {
    UseRange { first: UseNumber(first), last: UseNumber(last) }
}

pub fn cookie(name: &str, value: &str, at: i64, by: u32) -> CookieChange {
    let key = CookieKey { domain: "a.example".into(), path: "/".into(), name: name.into() };
    let at = Timestamp::from_millis(at);
    let deed = if value.is_empty() {
        CookieDeed::Remove(key)
    } else {
        CookieDeed::Set(Cookie {
            key,
            value: value.into(),
            reach: CookieReach::Domain,
            secure: true,
            http_only: false,
            same_site: Some(SameSite::Lax),
            expires_at: Some(Timestamp::from_millis(i64::MAX)),
            created_at: at,
        })
    };
    CookieChange { version: CookieVersion { at, by: UseNumber(by) }, deed }
}

pub async fn open(crawl: &Crawl) -> OpenedPool {
    crawl.store.open_pool(crawl.id, crawl.leases.of(Shard::CRAWL), &PoolPlace::default(), NOW, 1_000).await.expect("a pool")
}

pub fn user(crawl: &Crawl, pool: PoolId) -> PoolUser {
    PoolUser { pool, crawl: crawl.id, lease: crawl.leases.of(Shard::CRAWL) }
}

pub async fn create(crawl: &Crawl, pool: PoolId, record: &SessionRecord, uses: u32) -> Option<UseRange> {
    match crawl.store.create_session(user(crawl, pool), record, uses).await.expect("written") {
        SessionCreated::Made(range) => range,
        SessionCreated::NameTaken => panic!("`{}` is taken", record.id),
    }
}

pub async fn read(crawl: &Crawl, pool: PoolId, name: &str) -> SessionRecord {
    crawl.store.session(pool, &id(name)).await.expect("an answer").expect("a session")
}

pub fn delta(pool: PoolId, name: &str, number: u32, mark: UseMark) -> SessionDelta {
    SessionDelta { mark, ..SessionDelta::of_use(pool, id(name), UseNumber(number)) }
}

pub fn with(outcome: Outcome, delta: SessionDelta) -> Outcome {
    Outcome { session: Some(delta), ..outcome }
}

pub async fn a_session_comes_back_as_it_was_written(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await;
    assert!(pool.sessions.is_empty());
    let mut written = with_uses("käse 1", 12);
    written.settings.max_age = Duration::from_millis(123_456);
    written.settings.blocked_status_codes = [418].into();
    (written.settings.max_error_score, written.settings.error_score_decrement) = (2.5, 0.25);
    written.uses = UseLog::settled(3, 1.75);
    written.reserved = 3;
    written.user_data = Written::first("{\"token\":\"x\"}".into());
    written.proxy = Written::first(ProxyId::new("http://u:p@proxy.example:1"));
    written.cookies = vec![cookie("a", "1", 5, 0), cookie("b", "", 6, 0)];
    assert_eq!(create(&crawl, pool.id, &written, 5).await, Some(range(4, 8)));
    written.reserved = 8;
    assert_eq!(read(&crawl, pool.id, "käse 1").await, written);
    assert_eq!(crawl.store.sessions(pool.id).await.expect("sessions"), [written]);
    // Its name is taken, and nobody else's is.
    let again = crawl.store.create_session(user(&crawl, pool.id), &session("käse 1"), 5).await.expect("an answer");
    assert_eq!(again, SessionCreated::NameTaken);
    assert_eq!(crawl.store.session(pool.id, &id("käse")).await.expect("an answer"), None);
    assert_eq!(read(&crawl, pool.id, "käse 1").await.reserved, 8);
    let unknown = crawl.store.create_session(user(&crawl, PoolId(99)), &session("s"), 1).await;
    assert!(matches!(unknown, Err(StoreError::NoPool(99))));
    assert!(matches!(crawl.store.reserve_uses(user(&crawl, PoolId(99)), &id("s"), 1).await, Err(StoreError::NoPool(99))));
}

pub async fn deltas_come_to_the_same_in_every_order(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let deltas = |name: &str| {
        let mut deltas = vec![
            delta(pool, name, 1, UseMark::Good),
            delta(pool, name, 2, UseMark::Bad),
            delta(pool, name, 3, UseMark::Good),
            delta(pool, name, 4, UseMark::Bad),
        ];
        deltas[0].cookies = vec![cookie("a", "1", 10, 1), cookie("b", "1", 14, 1), cookie("c", "1", 11, 1)];
        deltas[1].cookies = vec![cookie("a", "2", 12, 2), cookie("c", "", 12, 2)];
        deltas[2].cookies = vec![cookie("a", "", 11, 3), cookie("b", "3", 14, 3)];
        (deltas[1].user_data, deltas[2].user_data) = (Some("{\"of\":2}".into()), Some("{\"of\":3}".into()));
        (deltas[3].proxy, deltas[0].proxy) = (ProxyId::new("four"), ProxyId::new("one"));
        deltas
    };
    let mut found = Vec::new();
    for (number, order) in orders(4).into_iter().enumerate() {
        let name = format!("s{number}");
        create(&crawl, pool, &session(&name), 10).await;
        let deltas = deltas(&name);
        let outcomes: Vec<Outcome> =
            order.iter().map(|at| with(crawl.of_crawl(Effects::default()), deltas[*at].clone())).collect();
        // In groups of all sizes.
        let (first, rest) = outcomes.split_at(number % 4);
        for group in [first, rest] {
            assert!(crawl.commit(group.to_vec()).await.iter().all(Result::is_ok));
        }
        found.push(SessionRecord { id: id("s"), ..read(&crawl, pool, &name).await });
    }
    let mut expected = session("s");
    (expected.reserved, expected.uses) = (10, UseLog::settled(4, 1.5));
    expected.user_data = Written { value: "{\"of\":3}".into(), by: UseNumber(3) };
    expected.proxy = Written { value: ProxyId::new("four"), by: UseNumber(4) };
    expected.cookies = vec![cookie("a", "2", 12, 2), cookie("b", "3", 14, 3), cookie("c", "", 12, 2)];
    assert!(found.len() == 24 && found.iter().all(|found| *found == expected), "{found:?}");
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: Vec<usize>| {
            (0..count).filter(|at| !order.contains(at)).map(|at| [order.clone(), vec![at]].concat()).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

pub async fn a_use_counts_whatever_the_verdict(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    let requests = crawl.accept((0..6).map(|path| page(&path.to_string())).collect()).await;
    let skip = Verdict::Skipped { reason: SkipReason::TooLarge, final_url: None };
    let moved = Verdict::Moved {
        url: "http://b.example/".parse().expect("a URL"),
        site: SiteKey::from_stored("b.example".into()),
        chain: Vec::new(),
        spec: Box::default(),
        not_before: None,
    };
    let taken = Verdict::Handled { final_key: requests[0].unique_key, final_url: requests[0].url.clone(), status: 200 };
    let verdicts = [(1, failed()), (2, retry_at(5)), (3, skip), (4, moved), (5, taken)];
    crawl.apply(with(crawl.handled(&requests[0], Effects::default()), delta(pool, "s", 1, UseMark::Good))).await;
    for (at, verdict) in verdicts {
        let number = u32::try_from(at).expect("a number") + 1;
        let outcome = crawl.outcome(&requests[at], verdict, Effects::default());
        let applied = crawl.apply(with(outcome, delta(pool, "s", number, UseMark::Neither))).await;
        assert_eq!(applied.verdict == AppliedVerdict::DuplicateRedirect, at == 5);
        assert_eq!(read(&crawl, pool, "s").await.uses.used(), number);
    }
    crawl.apply(with(crawl.finish(Effects::default()), delta(pool, "s", 7, UseMark::Bad))).await;
    assert_eq!(read(&crawl, pool, "s").await.uses, UseLog::settled(7, 1.0));
}

pub async fn an_outcome_that_changes_nothing_changes_no_session(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    let requests = crawl.accept(vec![page("1"), page("2")]).await;
    crawl.apply(crawl.handled(&requests[1], Effects::default())).await;
    let before = read(&crawl, pool, "s").await;
    let change = || SessionDelta {
        retired: true,
        cookies: vec![cookie("a", "1", 1, 1)],
        user_data: Some("{\"x\":1}".into()),
        ..delta(pool, "s", 1, UseMark::Bad)
    };
    let mut stale = with(crawl.handled(&requests[0], Effects::default()), change());
    stale.lease.epoch = Epoch(0);
    let decided = with(crawl.handled(&requests[1], Effects::default()), change());
    let malformed = with(Outcome { verdict: None, ..crawl.handled(&requests[0], items(&["x"])) }, change());
    let results = crawl.commit(vec![stale, decided, malformed]).await;
    assert!(matches!(results[0], Err(Rejection::Stale { .. })) && results[1] == Err(Rejection::Decided));
    assert!(matches!(results[2], Err(Rejection::Engine(_))));
    assert_eq!(read(&crawl, pool, "s").await, before);
    let late = with(crawl.handled(&requests[0], Effects::default()), change());
    crawl.again().await;
    assert!(matches!(crawl.try_one(late).await, Err(Rejection::Stale { .. })));
    assert_eq!(read(&crawl, pool, "s").await, before);
}

async fn beside(store: &Arc<dyn Store>, crawler: &str) -> Crawl {
    Crawl::open(store.clone(), CrawlSpec { company: Company::Shared, ..spec(crawler) }).await
}

pub async fn pools_are_told_apart_and_named_ones_are_shared(fixture: &dyn Fixture) {
    let store = fixture.open().await;
    let (one, two) = (beside(&store, "one").await, beside(&store, "two").await);
    let place = |store: KvStoreName, key: &str| PoolPlace { store, key: key.to_owned() };
    let places = [
        PoolPlace::default(),
        place(KvStoreName::Default, "other"),
        place(KvStoreName::Named("shared".into()), PoolPlace::KEY),
        place(KvStoreName::Named("shared".into()), "other"),
        place(KvStoreName::Named(String::new()), PoolPlace::KEY),
    ];
    let (mut ones, mut twos) = (Vec::new(), Vec::new());
    for place in &places {
        ones.push(store.open_pool(one.id, one.leases.of(Shard::CRAWL), place, NOW, 9).await.expect("a pool").id);
        twos.push(store.open_pool(two.id, two.leases.of(Shard::CRAWL), place, NOW, 9).await.expect("a pool").id);
    }
    assert_eq!(ones[2..], twos[2..]);
    let all: std::collections::BTreeSet<PoolId> = ones.iter().chain(&twos).copied().collect();
    assert_eq!(all.len(), 7);
    // The same name in each of them is another session.
    for (crawl, pools) in [(&one, &ones), (&two, &twos[..2].to_vec())] {
        for pool in pools {
            create(crawl, *pool, &session("s"), 5).await;
        }
    }
    let use_it = |crawl: &Crawl, pool| with(crawl.of_crawl(Effects::default()), delta(pool, "s", 1, UseMark::Bad));
    one.apply(use_it(&one, ones[0])).await;
    one.apply(use_it(&one, ones[2])).await;
    let second = SessionDelta { number: UseNumber(2), ..delta(ones[2], "s", 2, UseMark::Bad) };
    two.apply(with(two.of_crawl(Effects::default()), second)).await;
    let mut scores = Vec::new();
    for pool in &all {
        scores.push((*pool, read(&one, *pool, "s").await.score()));
    }
    let score_of = |pool| {
        if pool == ones[0] {
            1.0
        } else if pool == ones[2] {
            2.0
        } else {
            0.0
        }
    };
    assert!(scores.iter().all(|(pool, score)| *score == score_of(*pool)), "{scores:?}");
    // What is one crawl's own is not for the other to change.
    let foreign = two.try_one(use_it(&two, ones[0])).await;
    assert!(matches!(&foreign, Err(Rejection::Engine(words)) if words.contains("pool")), "{foreign:?}");
    assert!(matches!(one.try_one(use_it(&one, PoolId(99))).await, Err(Rejection::Engine(_))));
    assert_eq!(read(&one, ones[0], "s").await.score(), 1.0);
    let unknown = store.open_pool(nephila_model::CrawlId(99), one.leases.of(Shard::CRAWL), &PoolPlace::default(), NOW, 9).await;
    assert!(matches!(unknown, Err(StoreError::NoCrawl(99))));
}

pub async fn sessions_that_are_over_are_taken_away_in_pieces(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    for number in 0..10 {
        create(&crawl, pool, &with_uses(&number.to_string(), 3), 3).await;
    }
    let of_crawl = || crawl.of_crawl(Effects::default());
    let retired = SessionDelta { retired: true, ..delta(pool, "0", 1, UseMark::Neither) };
    let worn = |number| delta(pool, "2", number, UseMark::Good);
    let mut group = vec![with(of_crawl(), retired)];
    group.extend((1..=3).map(|number| with(of_crawl(), delta(pool, "1", number, UseMark::Bad))));
    group.extend((1..=3).map(|number| with(of_crawl(), worn(number))));
    group[0].session.as_mut().expect("a delta").cookies = vec![cookie("a", "1", 1, 1)];
    assert!(crawl.commit(group).await.iter().all(Result::is_ok));
    let names = async || {
        let sessions = crawl.store.sessions(pool).await.expect("sessions");
        sessions.into_iter().map(|session| session.id.to_string()).collect::<Vec<_>>().concat()
    };
    let purge =
        async |now, keep, limit| crawl.store.purge_sessions(user(&crawl, pool), now, keep, limit).await.expect("an answer");
    assert_eq!((purge(NOW, 3, 9).await, names().await.as_str()), (0, "0123456789"));
    assert_eq!((purge(NOW, 2, 9).await, names().await.as_str()), (1, "123456789"));
    assert_eq!((purge(NOW, 0, 1).await, purge(NOW, 0, 9).await, names().await.as_str()), (1, 1, "3456789"));
    let late = NOW.plus(SessionSettings::default().max_age);
    let mut taken = Vec::new();
    while names().await.as_str() != "" {
        taken.push(purge(late, 0, 3).await);
    }
    assert_eq!(taken, [3, 3, 1]);
    // A session of the same name has nothing of the one before.
    create(&crawl, pool, &session("0"), 1).await;
    assert_eq!(read(&crawl, pool, "0").await, SessionRecord { reserved: 1, ..session("0") });
}

pub async fn marks_that_reach_the_maximum_score_together_retire_a_session_for_good(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let blocked = Some(Unusable::Blocked { score: 3.0, max: 3.0 });
    for (name, order, whys) in [
        ("s", [1, 2, 3, 4], [None, None, blocked, None]),
        // The good one, which takes something off again, was begun last and is told before.
        ("t", [2, 4, 1, 3], [None, None, None, Some(Unusable::Retired)]),
    ] {
        // A commit knows what time it is, and one that is too old has ended before.
        create(&crawl, pool, &SessionRecord { created_at: Timestamp::now(), ..session(name) }, 10).await;
        for (number, why) in order.into_iter().zip(whys) {
            let mark = if number == 4 { UseMark::Good } else { UseMark::Bad };
            let applied = crawl.apply(with(crawl.of_crawl(Effects::default()), delta(pool, name, number, mark))).await;
            assert_eq!(applied.session_ended, why, "{name} {number}");
        }
        let found = read(&crawl, pool, name).await;
        assert_eq!((found.retired, found.score()), (true, 2.5));
    }
    assert!(open(&crawl).await.sessions.is_empty(), "they do not come back");
}

pub async fn the_session_of_an_outcome_that_a_limit_defers_was_used(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    create(&crawl, pool, &session("t"), 10).await;
    let requests = crawl.accept(vec![page("1"), page("2"), page("3")]).await;
    let limits = CommitLimits { max_items: None, max_requests: Some(1) };
    let bad = SessionDelta {
        cookies: vec![cookie("a", "1", 1, 1)],
        user_data: Some("{\"x\":1}".into()),
        ..delta(pool, "s", 1, UseMark::Bad)
    };
    let retired = SessionDelta { retired: true, ..delta(pool, "t", 1, UseMark::Neither) };
    let group = vec![
        crawl.handled(&requests[0], Effects::default()),
        with(crawl.handled(&requests[1], Effects::default()), bad),
        with(crawl.handled(&requests[2], Effects::default()), retired),
    ];
    assert_eq!(crawl.commit_within(group, limits).await[1..], [Err(Rejection::Deferred), Err(Rejection::Deferred)]);
    let expected = SessionRecord { reserved: 10, uses: UseLog::settled(1, 1.0), ..session("s") };
    assert_eq!(read(&crawl, pool, "s").await, expected, "what its handler asked for comes when it is handled");
    assert!(read(&crawl, pool, "t").await.retired);
}

pub async fn cookies_of_a_session_are_bounded_whatever_sites_send(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    let commit = async |number, cookies| {
        let delta = SessionDelta { cookies, ..delta(pool, "s", number, UseMark::Good) };
        crawl.apply(with(crawl.of_crawl(Effects::default()), delta)).await;
        read(&crawl, pool, "s").await.cookies
    };
    // What was removed is remembered for a hundred cookies; what has ended is gone with the next change.
    let gone = |at: i64| cookie(&format!("gone{at}"), "", at, 1);
    let mut ends = cookie("ends", "1", 1_001, 1);
    if let CookieDeed::Set(cookie) = &mut ends.deed {
        cookie.expires_at = Some(Timestamp::from_millis(1_100));
    }
    let there = commit(1, (1..=150).map(gone).chain([ends, cookie("stays", "1", 1_002, 1)]).collect()).await;
    assert_eq!(there.len(), 102);
    assert!(!there.contains(&gone(50)) && there.contains(&gone(51)));
    let there = commit(2, vec![cookie("later", "2", 1_100, 2)]).await;
    assert_eq!(there.len(), 102);
    assert!(!there.iter().any(|change| change.key().name == "ends"));
    // Of too many, or too large ones, the oldest go.
    let many = (0..3_100).map(|at| cookie(&format!("many{at}"), "x", 2_000 + at, 3)).collect();
    let there = commit(3, many).await;
    assert_eq!(there.len(), 3_100);
    assert!(there.contains(&cookie("many100", "x", 2_100, 3)) && !there.contains(&cookie("many99", "x", 2_099, 3)));
    let large = "x".repeat(4_000);
    let there = commit(4, (0..200).map(|at| cookie(&format!("large{at}"), &large, 9_000 + at, 4)).collect()).await;
    let set = there.iter().filter(|change| matches!(change.deed, CookieDeed::Set(_))).count();
    assert!((120..=131).contains(&set), "{set}");
    assert!(there.iter().any(|change| change.key().name == "large199"));
}

pub async fn a_session_that_is_gone_is_no_reason_to_refuse_an_outcome(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let request = crawl.accept_one("1").await;
    let gone = SessionDelta { cookies: vec![cookie("a", "1", 1, 1)], ..delta(pool, "gone", 1, UseMark::Good) };
    crawl.apply(with(crawl.handled(&request, items(&["kept"])), gone)).await;
    assert_eq!(crawl.store.session(pool, &id("gone")).await.expect("an answer"), None);
    assert_eq!(crawl.items(&nephila_model::DatasetName::Default).await.len(), 1);
}
