//! A random walk of commits, wakings and restarts over a store and over the model: they must agree at every step.

use super::Fixture;
use super::given::{Crawl, failed, page, reason};
use super::model::{Answer, Model};
use super::sessions;
use crate::{CrawlOrder, SiteOrder};
use nephila_model::{
    CommitLimits, Counter, DatasetName, Effects, Epoch, ItemPush, Lease, NewRequest, Outcome, Place, PoolId, ProxyId,
    RefusedReason, RequestId, RequestState, SessionDelta, SessionRecord, SessionSettings, Shard, SiteKey, SkipReason, StateOp,
    StateRead, StateVersion, StatsDelta, Subject, Timestamp, UseMark, UseNumber, Verdict,
};

const STEPS: u64 = 700;
const SITES: u64 = 7;
const PATHS: u64 = 150;
const SESSIONS: [&str; 2] = ["often", "seldom"];
/// Uses of a session between two restarts; more than its log keeps open.
const BLOCK: u32 = 100;

// SplitMix64: the same walk everywhere.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.throw(100) < chance
    }

    fn small(&mut self, sides: u64) -> i64 {
        i64::try_from(self.throw(sides)).expect("a small number")
    }
}

pub async fn a_random_walk_agrees_with_a_model_in_maps(fixture: &dyn Fixture) {
    let mut crawl = Crawl::new(fixture).await;
    let (mut dice, mut model, mut now) = (Dice(11), Model { epoch: 1, ..Model::default() }, 0);
    // Sessions have dice of their own, so that the rest of the walk does not hang on them.
    let (mut others, pool) = (Dice(13), sessions::open(&crawl).await.id);
    for name in SESSIONS {
        // More uses than the walk makes, so that it is never over.
        let settings = SessionSettings { max_uses: 100_000, max_error_score: 1e9, ..SessionSettings::default() };
        let session = SessionRecord { settings, reserved: BLOCK, ..sessions::session(name) };
        sessions::create(&crawl, pool, &SessionRecord { reserved: 0, ..session.clone() }, BLOCK).await;
        model.sessions.insert(session.id.clone(), session);
    }
    let mut seen = std::collections::BTreeMap::new();
    for step in 0..STEPS {
        now += dice.small(40);
        let mut outcomes: Vec<Outcome> = (0..=dice.throw(6)).map(|_| outcome(&mut dice, &model, &crawl, now)).collect();
        for outcome in &mut outcomes {
            outcome.session = others.percent(50).then(|| session(&mut others, &model, pool, now));
        }
        let limits = limits(&mut dice, &model);
        let expected: Vec<Answer> = outcomes.iter().map(|outcome| model.commit(outcome, limits)).collect();
        let results = crawl.commit_within(outcomes.clone(), limits).await;
        for ((result, expected), outcome) in results.iter().zip(&expected).zip(&outcomes) {
            assert_eq!(Answer::of(result), *expected, "step {step}: {outcome:?} gave {result:?}");
            let kind = match expected {
                Answer::Applied { .. } => "applied",
                Answer::Rejected(why) => why,
            };
            *seen.entry(kind).or_insert(0) += 1;
        }
        if dice.percent(30) {
            let limit = usize::try_from(dice.throw(5)).expect("a small number");
            model.wake(now, limit);
            crawl.store.wake_due(crawl.id, Timestamp::from_millis(now), limit).await.expect("woken");
        }
        if dice.percent(3) {
            crawl.spec.order = if dice.percent(50) { CrawlOrder::Lifo } else { CrawlOrder::Fifo };
            crawl.again().await;
            (model.order, model.epoch) = (crawl.spec.order, model.epoch + 1);
            sessions::open(&crawl).await;
            for (id, session) in &mut model.sessions {
                session.settle();
                crawl.store.reserve_uses(sessions::user(&crawl, pool), id, BLOCK).await.expect("an answer").expect("uses");
                session.reserved += BLOCK;
            }
        }
        if step % 10 == 0 || step == STEPS - 1 {
            compare(&crawl, &model, pool).await;
        }
    }
    for kind in ["applied", "stale", "decided", "deferred", "conflict", "state", "engine"] {
        assert!(seen.get(kind).is_some_and(|times| *times > 5), "the walk met too little of it: {kind}, {seen:?}");
    }
}

fn limits(dice: &mut Dice, model: &Model) -> CommitLimits {
    let mut near = |counter: &Counter| {
        let value = u64::try_from(model.counter(counter)).expect("a count");
        dice.percent(4).then(|| value + dice.throw(4))
    };
    CommitLimits { max_items: near(&Counter::Items), max_requests: near(&Counter::Finished) }
}

fn outcome(dice: &mut Dice, model: &Model, crawl: &Crawl, now: i64) -> Outcome {
    let mut of_crawl = crawl.of_crawl(effects(dice, model));
    of_crawl.stats = StatsDelta::default();
    of_crawl.stats.add(Counter::Fetches, dice.small(3));
    let mut outcome = match dice.throw(100) {
        _ if model.rows.is_empty() => without_items(of_crawl),
        0..=7 => without_items(of_crawl),
        8 => Outcome { subject: Subject::Finish, ..of_crawl },
        _ => {
            let at = pick(dice, model);
            let lease = crawl.leases.of(model.rows[at].site.shard());
            let id = RequestId(i64::try_from(at).expect("a number") + 1);
            let verdict = Some(verdict(dice, model, at, now));
            Outcome { subject: Subject::Request(id), lease, verdict, ..of_crawl }
        }
    };
    match dice.throw(100) {
        0..=2 => outcome.lease.epoch = Epoch(outcome.lease.epoch.0 - 1),
        3..=5 => outcome.lease = Lease { shard: Shard::of_hash(3), ..outcome.lease },
        _ => {}
    }
    outcome
}

// Of one of the last uses that were reserved: some come twice, some never.
fn session(dice: &mut Dice, model: &Model, pool: PoolId, now: i64) -> SessionDelta {
    let small = |dice: &mut Dice, sides| u32::try_from(dice.throw(sides)).expect("a small number");
    let id = sessions::id(if dice.percent(80) { SESSIONS[0] } else { SESSIONS[1] });
    let number = UseNumber(model.sessions[&id].reserved - small(dice, u64::from(BLOCK)));
    let mark = [UseMark::Neither, UseMark::Good, UseMark::Bad][usize::try_from(dice.throw(3)).expect("a small number")];
    let change = |dice: &mut Dice| {
        let value = if dice.percent(30) { String::new() } else { dice.throw(9).to_string() };
        sessions::cookie(&format!("c{}", dice.throw(5)), &value, now - dice.small(50), small(dice, 9))
    };
    SessionDelta {
        mark,
        cookies: (0..dice.throw(3)).map(|_| change(dice)).collect(),
        user_data: dice.percent(20).then(|| format!("{{\"n\":{}}}", dice.throw(9))),
        proxy: if dice.percent(20) { ProxyId::new(&dice.throw(9).to_string()) } else { None },
        ..SessionDelta::of_use(pool, id, number)
    }
}

fn without_items(mut outcome: Outcome) -> Outcome {
    outcome.effects.items.clear();
    outcome
}

// Mostly a pending one.
fn pick(dice: &mut Dice, model: &Model) -> usize {
    let count = u64::try_from(model.rows.len()).expect("a number");
    let mut at = 0;
    for _ in 0..8 {
        at = usize::try_from(dice.throw(count)).expect("a number");
        if model.rows[at].state == RequestState::Pending {
            break;
        }
    }
    at
}

fn verdict(dice: &mut Dice, model: &Model, at: usize, now: i64) -> Verdict {
    let row = &model.rows[at];
    match dice.throw(10) {
        0..=3 => {
            let end = if dice.percent(70) { row } else { &model.rows[pick(dice, model)] };
            Verdict::Handled { final_key: end.key, final_url: end.url.clone(), status: 200 }
        }
        4 => failed(),
        5 => Verdict::Skipped { reason: SkipReason::TooLarge, final_url: None },
        6..=7 => Verdict::Retry { not_before: Timestamp::from_millis(now + dice.small(300)), reason: reason("timeout") },
        _ => {
            let url = request(dice).url;
            let site = SiteKey::of(&url, nephila_model::SiteBy::Hostname);
            let not_before = dice.percent(25).then(|| Timestamp::from_millis(now + dice.small(300)));
            Verdict::Moved { url, site, chain: Vec::new(), spec: Box::default(), not_before }
        }
    }
}

fn request(dice: &mut Dice) -> NewRequest {
    NewRequest {
        label: dice.percent(30).then(|| "detail".to_owned()),
        priority: i32::try_from(dice.small(3)).expect("a small number") - 1,
        place: if dice.percent(15) { Place::Forefront } else { Place::Queue },
        depth: u32::try_from(dice.throw(5)).expect("a small number"),
        ..page(&format!("http://s{}.example/{}", dice.throw(SITES), dice.throw(PATHS)))
    }
}

fn effects(dice: &mut Dice, model: &Model) -> Effects {
    let mut effects = Effects::default();
    effects.requests.extend((0..dice.throw(4)).map(|_| request(dice)));
    for item in 0..dice.throw(3) {
        let dataset = if dice.percent(70) { DatasetName::Default } else { DatasetName::Named("n".into()) };
        effects.items.push(ItemPush { dataset, json: format!("{{\"item\":{item},\"of\":{}}}", dice.throw(1_000)) });
    }
    effects.state_ops.extend((0..dice.throw(3)).map(|_| operation(dice)));
    if dice.percent(30) {
        let key = format!("k{}", dice.throw(4));
        let current = model.state.get(&key).map_or(0, |(_, version)| version.0);
        let version = StateVersion(if dice.percent(85) { current } else { dice.small(50) });
        effects.state_reads.push(StateRead::Key { key, version });
    }
    if dice.percent(5) {
        effects.state_reads.push(StateRead::Listing { version: StateVersion(model.listing) });
    }
    if dice.percent(10) {
        effects.refused.insert(RefusedReason::Scope, 2);
    }
    effects
}

fn operation(dice: &mut Dice) -> StateOp {
    let key = format!("k{}", dice.throw(4));
    match dice.throw(20) {
        0 => StateOp::Set { key, value: "\"text\"".into() },
        1..=5 => StateOp::Set { key, value: dice.throw(3).to_string() },
        6..=8 => StateOp::Remove { key },
        9 => StateOp::Append { key, value: "1".into() },
        10..=12 => StateOp::Max { key, value: 2.0 },
        _ => StateOp::Increment { key, by: dice.small(3) },
    }
}

async fn compare(crawl: &Crawl, model: &Model, pool: PoolId) {
    let store = &crawl.store;
    let statistics = store.statistics(crawl.id).await.expect("statistics");
    let counted: Vec<(Counter, i64)> = model.counters.iter().map(|(counter, value)| (counter.clone(), *value)).collect();
    assert_eq!(statistics, nephila_model::Statistics::from_counters(counted.into_iter().filter(|(_, value)| *value != 0)));
    assert_eq!(store.counts(crawl.id).await.expect("counts"), model.counts());
    for order in [SiteOrder::ByHead, SiteOrder::ByTurn] {
        let heads = store.ready_sites(crawl.id, order, 99).await.expect("sites");
        assert_eq!(heads.iter().map(|head| head.key.clone()).collect::<Vec<_>>(), model.ready(order));
        for head in heads {
            let window = store.site_window(crawl.id, head.id, 9_999).await.expect("a window").requests;
            let queue = model.queue(&head.key);
            assert_eq!(head.head_priority, window[0].position.priority);
            assert_eq!(window.len(), queue.len());
            for (found, row) in window.iter().zip(queue) {
                assert_eq!((found.unique_key, found.depth, found.retry_count), (row.key, row.depth, row.retries));
                assert_eq!((&found.url, &found.label), (&row.url, &row.label));
            }
        }
    }
    let keys: Vec<_> = model.rows.iter().map(|row| row.key).collect();
    for (found, row) in store.lookup(crawl.id, &keys).await.expect("answers").into_iter().zip(&model.rows) {
        let found = found.expect("it was accepted");
        assert_eq!((found.state, found.reason), (row.state, row.reason.clone()));
    }
    for dataset in [DatasetName::Default, DatasetName::Named("n".into())] {
        let pushed: Vec<&String> = model.items.iter().filter(|(of, _)| *of == dataset).map(|(_, json)| json).collect();
        assert_eq!(crawl.items(&dataset).await.iter().collect::<Vec<_>>(), pushed);
    }
    let (keys, listing) = store.state_keys(&crawl.spec.crawler_id).await.expect("keys");
    assert_eq!((keys, listing.0), (model.state.keys().cloned().collect(), model.listing));
    for (key, (value, version)) in &model.state {
        let found = store.state_get(&crawl.spec.crawler_id, key).await.expect("state");
        assert_eq!((found.value.as_ref(), found.version), (Some(value), *version));
    }
    for name in SESSIONS {
        let id = sessions::id(name);
        assert_eq!(store.session(pool, &id).await.expect("an answer"), Some(model.session(&id)));
    }
}
