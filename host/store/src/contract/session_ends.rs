//! How sessions come into a pool with a page, and how it is told, once, that they are over.

use super::Fixture;
use super::given::{Crawl, items, page, pages, retry_at};
use super::sessions::{cookie, create, id, open, session, user};
use crate::StoredEvent;
use nephila_model::{
    AddedSession, CommitLimits, Effects, EventId, Heard, Outcome, PoolId, Rejection, SESSION_RETIRED, SessionDelta,
    SessionRecord, SessionSettings, Shard, Subject, Timestamp, UseMark, UseNumber, UseRange, Written,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn adding(pool: PoolId, names: &[&str]) -> Effects {
    let added = |name: &&str| AddedSession { pool, record: Box::new(session(name)) };
    Effects { sessions: names.iter().map(added).collect(), ..Effects::default() }
}

fn used(pool: PoolId, name: &str, number: u32, mark: UseMark) -> SessionDelta {
    SessionDelta { mark, ..SessionDelta::of_use(pool, id(name), UseNumber(number)) }
}

async fn names(crawl: &Crawl, pool: PoolId) -> Vec<String> {
    crawl.store.sessions(pool).await.expect("sessions").into_iter().map(|session| session.id.to_string()).collect()
}

async fn told(crawl: &Crawl) -> Vec<StoredEvent> {
    crawl.store.events(crawl.id, EventId(0), 100).await.expect("events")
}

async fn told_of(crawl: &Crawl) -> Vec<String> {
    let of = |event: StoredEvent| {
        assert_eq!(event.name, SESSION_RETIRED);
        let payload: serde_json::Value = serde_json::from_str(&event.payload).expect("JSON");
        assert_eq!(payload["crawlerId"], "main");
        payload["sessionId"].as_str().expect("a session").to_owned()
    };
    told(crawl).await.into_iter().map(of).collect()
}

pub async fn a_session_is_added_with_the_page_that_adds_it_or_not_at_all(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let requests = crawl.accept(vec![page("1"), page("2"), page("3"), page("4")]).await;
    let mut effects = adding(pool, &["a", "b"]);
    let with_cookies = SessionRecord {
        user_data: Written::first("{\"of\":1}".into()),
        cookies: vec![cookie("token", "1", 5, 0)],
        ..session("a")
    };
    *effects.sessions[0].record = with_cookies.clone();
    let applied = crawl.apply(crawl.handled(&requests[0], effects)).await;
    assert_eq!(applied.sessions, [with_cookies.clone(), session("b")]);
    assert_eq!(crawl.store.session(pool, &id("a")).await.expect("an answer"), Some(with_cookies));
    let range = crawl.store.reserve_uses(user(&crawl, pool), &id("b"), 5).await.expect("an answer");
    assert_eq!(range, Some(UseRange { first: UseNumber(1), last: UseNumber(5) }), "none was reserved");
    // What does not count adds nothing.
    crawl.apply(crawl.outcome(&requests[1], retry_at(1), adding(pool, &["retried"]))).await;
    let mut stale = crawl.handled(&requests[2], adding(pool, &["stale"]));
    stale.lease.epoch.0 += 1;
    assert!(matches!(crawl.try_one(stale).await, Err(Rejection::Stale { .. })));
    assert!(matches!(crawl.try_one(crawl.handled(&requests[0], adding(pool, &["late"]))).await, Err(Rejection::Decided)));
    let foreign = crawl.try_one(crawl.handled(&requests[2], adding(PoolId(99), &["x"]))).await;
    assert!(matches!(&foreign, Err(Rejection::Engine(words)) if words.contains("pool")), "{foreign:?}");
    assert_eq!(names(&crawl, pool).await, ["a", "b"]);
    // A listener and the finish may add, too.
    let heard = Outcome { subject: Subject::Event(Heard::Passing), ..crawl.of_crawl(adding(pool, &["c"])) };
    crawl.apply(heard).await;
    crawl.apply(crawl.finish(adding(pool, &["d"]))).await;
    assert_eq!(names(&crawl, pool).await, ["a", "b", "c", "d"]);
}

pub async fn an_id_that_is_taken_refuses_its_outcome_alone(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("old"), 1).await;
    crawl
        .apply(Outcome {
            session: Some(SessionDelta { retired: true, ..used(pool, "old", 1, UseMark::Good) }),
            ..crawl.of_crawl(Effects::default())
        })
        .await;
    let requests = crawl.accept((0..5).map(|path| page(&path.to_string())).collect()).await;
    let add = |at: usize, names: &[&str]| {
        let more = items(&[&at.to_string()]);
        crawl.handled(&requests[at], Effects { items: more.items, ..adding(pool, names) })
    };
    let group = vec![add(0, &["a"]), add(1, &["b", "a"]), add(2, &["c", "c"]), add(3, &["old"]), add(4, &["d"])];
    let results = crawl.commit(group).await;
    let taken = |name: &str| Err(Rejection::SessionTaken { id: id(name) });
    assert!(results[0].is_ok() && results[4].is_ok());
    assert_eq!(results[1..4], [taken("a"), taken("c"), taken("old")]);
    assert_eq!(names(&crawl, pool).await, ["old", "a", "d"]);
    assert_eq!(crawl.items(&nephila_model::DatasetName::Default).await.len(), 2, "nothing of the others was kept");
    // With another id it goes through.
    crawl.apply(add(1, &["b", "e"])).await;
    assert_eq!(names(&crawl, pool).await, ["old", "a", "d", "b", "e"]);
}

pub async fn that_a_session_is_over_is_told_once_whatever_ends_it(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    let two_uses = SessionSettings { max_uses: 2, ..SessionSettings::default() };
    for name in ["retired", "blocked", "aged"] {
        create(&crawl, pool, &session(name), 10).await;
    }
    for name in ["worn", "lost"] {
        create(&crawl, pool, &SessionRecord { settings: two_uses.clone(), ..session(name) }, 2).await;
    }
    let outcome = |delta: SessionDelta| Outcome { session: Some(delta), ..crawl.of_crawl(Effects::default()) };
    let applied = crawl.apply(outcome(used(pool, "retired", 1, UseMark::Good))).await;
    assert_eq!((applied.events, told(&crawl).await.len()), (0, 0));
    let retire = |number| SessionDelta { retired: true, ..used(pool, "retired", number, UseMark::Good) };
    assert_eq!(crawl.apply(outcome(retire(2))).await.events, 1);
    assert_eq!(crawl.apply(outcome(retire(3))).await.events, 0, "it was over");
    let mut group: Vec<Outcome> = (1..=4).map(|number| outcome(used(pool, "blocked", number, UseMark::Bad))).collect();
    group.extend((1..=2).map(|number| outcome(used(pool, "worn", number, UseMark::Good))));
    let events: Vec<u64> = crawl.commit(group).await.into_iter().map(|applied| applied.expect("applied").events).collect();
    assert_eq!(events, [0, 0, 1, 0, 0, 1]);
    assert_eq!(told_of(&crawl).await, ["retired", "blocked", "worn"]);
    // Of its age: once, whatever comes of it afterwards.
    let late = NOW.plus(SessionSettings::default().max_age);
    assert_eq!(crawl.store.end_aged_sessions(user(&crawl, pool), NOW, 9).await.expect("an answer"), 0);
    assert_eq!(crawl.store.end_aged_sessions(user(&crawl, pool), late, 1).await.expect("an answer"), 1);
    crawl.apply(outcome(used(pool, "aged", 1, UseMark::Bad))).await;
    crawl.apply(outcome(SessionDelta { retired: true, ..used(pool, "aged", 2, UseMark::Bad) })).await;
    // What a process that died had reserved counts as used, which ends the last one.
    open(&crawl).await;
    assert_eq!(told_of(&crawl).await, ["retired", "blocked", "worn", "aged", "lost"]);
    open(&crawl).await;
    assert_eq!(crawl.store.end_aged_sessions(user(&crawl, pool), late, 9).await.expect("an answer"), 0);
    assert_eq!(told(&crawl).await.len(), 5);
}

pub async fn an_outcome_that_is_refused_tells_of_no_session(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    let mut stale = Outcome {
        session: Some(SessionDelta { retired: true, ..used(pool, "s", 1, UseMark::Good) }),
        ..crawl.of_crawl(Effects::default())
    };
    stale.lease.epoch.0 += 1;
    assert!(matches!(crawl.try_one(stale).await, Err(Rejection::Stale { .. })));
    assert_eq!(told(&crawl).await, []);
}

pub async fn what_a_limit_defers_tells_that_its_session_is_over(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    for name in ["retired", "blocked", "goes on"] {
        create(&crawl, pool, &session(name), 10).await;
    }
    let requests = crawl.accept((0..7).map(|path| page(&path.to_string())).collect()).await;
    let deltas = [
        SessionDelta { retired: true, ..used(pool, "retired", 1, UseMark::Neither) },
        used(pool, "blocked", 1, UseMark::Bad),
        used(pool, "blocked", 2, UseMark::Bad),
        used(pool, "blocked", 3, UseMark::Bad),
        used(pool, "goes on", 1, UseMark::Bad),
        SessionDelta { retired: true, ..used(pool, "retired", 2, UseMark::Neither) },
    ];
    let mut group = vec![crawl.handled(&requests[0], Effects::default())];
    group.extend(
        deltas
            .into_iter()
            .zip(&requests[1..])
            .map(|(delta, request)| Outcome { session: Some(delta), ..crawl.handled(request, Effects::default()) }),
    );
    let results = crawl.commit_within(group, CommitLimits { max_items: None, max_requests: Some(1) }).await;
    assert!(results[1..].iter().all(|result| *result == Err(Rejection::Deferred)), "{results:?}");
    assert_eq!(told_of(&crawl).await, ["retired", "blocked"]);
}

pub async fn sessions_that_are_taken_away_for_their_age_are_told_of_before(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    for name in ["a", "b", "c"] {
        create(&crawl, pool, &session(name), 1).await;
    }
    let late = NOW.plus(SessionSettings::default().max_age);
    let mut taken = 0;
    while taken < 3 {
        taken += crawl.store.purge_sessions(user(&crawl, pool), late, 0, 2).await.expect("an answer");
    }
    assert_eq!((told_of(&crawl).await, names(&crawl, pool).await), (["a", "b", "c"].map(str::to_owned).to_vec(), Vec::new()));
}

pub async fn a_crawl_that_is_finished_is_told_of_no_session_any_more(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    create(&crawl, pool, &session("s"), 10).await;
    create(
        &crawl,
        pool,
        &SessionRecord { settings: SessionSettings { max_uses: 2, ..SessionSettings::default() }, ..session("t") },
        2,
    )
    .await;
    crawl.apply(crawl.finish(Effects::default())).await;
    let late = NOW.plus(SessionSettings::default().max_age);
    assert_eq!(
        crawl
            .store
            .open_pool(crawl.id, crawl.leases.of(Shard::CRAWL), &nephila_model::PoolPlace::default(), late, 9)
            .await
            .expect("a pool")
            .sessions,
        []
    );
    assert_eq!(told(&crawl).await, []);
}

pub async fn a_crawl_that_goes_on_after_its_finish_is_told_of_sessions(fixture: &dyn Fixture) {
    let crawl = Crawl::new(fixture).await;
    let pool = open(&crawl).await.id;
    for name in ["aged", "lost", "retired"] {
        let max_uses = if name == "lost" { 2 } else { 50 };
        let settings = SessionSettings { max_uses, ..SessionSettings::default() };
        create(&crawl, pool, &SessionRecord { settings, ..session(name) }, 2).await;
    }
    let applied = crawl.apply(crawl.finish(pages(&["last"]))).await;
    open(&crawl).await;
    assert_eq!(told_of(&crawl).await, ["lost"]);
    // The last page that there is.
    let retire = SessionDelta { retired: true, ..used(pool, "retired", 1, UseMark::Good) };
    let last = Outcome { session: Some(retire), ..crawl.handled(&applied.accepted[0], Effects::default()) };
    assert_eq!(crawl.apply(last).await.events, 1);
    assert_eq!(told_of(&crawl).await, ["lost", "retired"]);
    // Now it is over, until there is something to do again.
    let late = NOW.plus(SessionSettings::default().max_age);
    create(&crawl, pool, &session("aged too"), 1).await;
    assert_eq!(crawl.store.end_aged_sessions(user(&crawl, pool), late, 1).await.expect("an answer"), 1);
    assert_eq!(told(&crawl).await.len(), 2);
    crawl.accept_one("new").await;
    assert_eq!(crawl.store.end_aged_sessions(user(&crawl, pool), late, 1).await.expect("an answer"), 1);
    assert_eq!(told(&crawl).await.len(), 3);
}
