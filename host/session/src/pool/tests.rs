//! What a pool promises, with a store that is a number per session.

use super::*;
use crate::SessionSeed;
use crate::error::AddError;
use crate::given::{Given, NOW, id, uses};
use crate::settings::Sharing;
use nephila_model::{ProxyId, SessionSettings, Unusable, UseMark, UseNumber};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

#[test]
fn a_pool_grows_when_it_is_asked_and_not_before() {
    for strategy in [ReuseStrategy::Random, ReuseStrategy::RoundRobin] {
        let mut given = Given::small(strategy, 3, uses(50));
        assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 0, usable: 0, ended: 0 });
        let mut seen = BTreeMap::new();
        for asked in 1..=30 {
            let (id, _) = given.finish(UseMark::Good);
            *seen.entry(id).or_insert(0) += 1;
            assert_eq!(given.pool.counts(NOW).sessions, asked.min(3));
        }
        assert!(seen.len() == 3 && seen.values().all(|times| *times > 3), "{seen:?}");
        if strategy == ReuseStrategy::RoundRobin {
            assert!(seen.values().all(|times| *times == 10), "{seen:?}");
        }
    }
}

#[test]
fn until_failure_one_session_is_used_until_it_is_usable_no_more() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 3, uses(50));
    let (first, _) = given.finish(UseMark::Good);
    for _ in 1..20 {
        assert_eq!(given.finish(UseMark::Good).0, first);
    }
    for _ in 0..3 {
        assert_eq!(given.finish(UseMark::Bad).0, first);
    }
    assert_ne!(given.finish(UseMark::Good).0, first);
    assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 1, usable: 1, ended: 1 });
}

#[test]
fn no_session_is_used_more_often_than_it_may_be_however_many_are_in_flight() {
    for strategy in [ReuseStrategy::Random, ReuseStrategy::RoundRobin, ReuseStrategy::UntilFailure] {
        let mut given = Given::small(strategy, 4, uses(7));
        let mut flying = Vec::new();
        let mut seen: BTreeMap<SessionId, Vec<u32>> = BTreeMap::new();
        for turn in 0..200 {
            let taken = given.take();
            seen.entry(taken.id().clone()).or_default().push(taken.number().0);
            flying.push(taken);
            if turn % 3 == 0 {
                drop(flying.swap_remove(0).finish(UseMark::Neither, NOW));
            }
        }
        for numbers in seen.values_mut() {
            numbers.sort_unstable();
            assert!(numbers.len() <= 7 && numbers.iter().zip(1..).all(|(number, expected)| *number == expected), "{numbers:?}");
        }
        assert!(given.ledger.0.values().all(|(reserved, _)| *reserved <= 7));
    }
}

#[test]
fn uses_are_reserved_in_blocks() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    for _ in 0..50 {
        given.finish(UseMark::Good);
    }
    assert_eq!((given.writes, given.ledger.0.len()), (5, 1));
    assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 0, usable: 0, ended: 1 });
}

#[test]
fn one_at_a_time_reserves_more_uses_of_a_session_and_the_others_wait() {
    for strategy in [ReuseStrategy::Random, ReuseStrategy::RoundRobin, ReuseStrategy::UntilFailure] {
        let mut given = Given::small(strategy, 1, uses(50));
        let flying: Vec<SessionUse> = (0..10).map(|_| given.take()).collect();
        let name = flying[0].id().clone();
        let Ok(Checkout::Errand(errand)) = given.pool.checkout(NOW) else { panic!("it needs more uses") };
        assert_eq!(given.pool.checkout(NOW).err(), Some(CheckoutError::Arriving), "{strategy:?}");
        assert_eq!(given.pool.checkout_by_id(&name, NOW).err(), Some(BoundError::Arriving { id: name.clone() }));
        // One that has not happened lets the next one try.
        drop(errand);
        let Ok(Checkout::Errand(errand)) = given.pool.checkout(NOW) else { panic!("it needs more uses") };
        let taken = given.run(errand).expect("a use");
        assert_eq!((taken.number(), given.take().number()), (UseNumber(11), UseNumber(12)));
        assert_eq!(given.ledger.0[&name], (20, 50));
    }
}

#[test]
fn what_was_not_begun_is_for_the_store_to_take_back() {
    let mut given = Given::small(ReuseStrategy::RoundRobin, 2, uses(50));
    let first = given.take();
    given.finish(UseMark::Good);
    given.take().give_back();
    let mut unused: Vec<_> = given.pool.take_unused().into_iter().map(|(_, range)| (range.first.0, range.last.0)).collect();
    unused.sort_unstable();
    // The use that was given back of one of them, and what was left of both blocks.
    assert_eq!(unused.iter().map(|(first, last)| last - first + 1).sum::<u32>(), 18);
    assert!(given.pool.take_unused().is_empty());
    assert_eq!(first.number(), UseNumber(1));
}

#[test]
fn an_exclusive_session_has_one_request_at_a_time() {
    for strategy in [ReuseStrategy::Random, ReuseStrategy::RoundRobin, ReuseStrategy::UntilFailure] {
        let settings = PoolSettings { strategy, sharing: Sharing::Exclusive, max_pool_size: 2, ..PoolSettings::default() };
        let mut given = Given::new(settings);
        let (one, two) = (given.take(), given.take());
        assert_ne!(one.id(), two.id());
        assert_eq!(given.try_take_at(NOW).expect_err("both are in hand"), CheckoutError::NoneFree { max: 2 });
        let name = one.id().clone();
        assert_eq!(given.bound(&name).expect_err("it is in hand"), BoundError::Busy { id: name.clone() });
        drop(one.finish(UseMark::Good, NOW));
        let again = given.take();
        assert_eq!(*again.id(), name);
        // Dropped on the way: free again.
        drop(again);
        assert_eq!(*given.bound(&name).expect("free").id(), name);
        assert_eq!(given.take().id(), &name);
    }
}

#[test]
fn good_and_bad_move_the_score_and_three_bad_ones_end_a_session_for_good() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 9, uses(50));
    let score = |given: &Given| given.pool.sessions()[0].score();
    for (mark, expected) in [
        (UseMark::Good, 0.0),
        (UseMark::Bad, 1.0),
        (UseMark::Neither, 1.0),
        (UseMark::Good, 0.5),
        (UseMark::Good, 0.0),
        (UseMark::Good, 0.0),
        (UseMark::Bad, 1.0),
        (UseMark::Bad, 2.0),
    ] {
        assert_eq!(given.finish(mark).1.ended, None);
        assert_eq!(score(&given), expected);
    }
    let late = given.take();
    let (_, last) = given.finish(UseMark::Bad);
    assert_eq!(last.ended, Some(Unusable::Blocked { score: 3.0, max: 3.0 }));
    assert!(last.delta.retired);
    // A use that was in flight does well: too late, and told once.
    let late = late.finish(UseMark::Good, NOW);
    assert_eq!((late.ended, late.delta.retired), (None, false));
    assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 0, usable: 0, ended: 1 });
}

#[test]
fn a_retired_session_is_never_taken_again() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 2, uses(50));
    let (mut one, other) = (given.take(), given.take());
    let name = one.id().clone();
    assert_eq!(*other.id(), name);
    one.retire();
    assert!(one.is_retiring());
    let finished = one.finish(UseMark::Good, NOW);
    assert_eq!((finished.ended, finished.delta.retired), (Some(Unusable::Retired), true));
    // The other request has it in hand still.
    let why = Unusable::Retired;
    assert_eq!(given.bound(&name).expect_err("retired"), BoundError::Unusable { id: name.clone(), why });
    assert_ne!(*given.take().id(), name);
    drop(other.finish(UseMark::Good, NOW));
    let gone = given.bound(&name).expect_err("gone");
    assert!(gone.to_string().contains("without a session id"), "{gone}");
    assert_eq!(gone, BoundError::Gone { id: name });
}

#[test]
fn a_session_expires_at_its_age() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(50));
    let (first, _) = given.finish(UseMark::Good);
    let end = NOW.plus(Duration::from_secs(50 * 60));
    let early = Timestamp::from_millis(end.as_millis() - 1);
    assert_eq!(given.try_take_at(early).expect("usable").finish(UseMark::Good, early).delta.session, first);
    let Ok(Checkout::Errand(Errand::Create(_))) = given.pool.checkout(end) else { panic!("its place is free") };
}

#[test]
fn the_use_that_a_session_was_made_for_begins_however_long_that_took() {
    for sharing in [Sharing::Concurrent, Sharing::Exclusive] {
        let short = SessionSettings { max_age: Duration::from_millis(1), ..uses(50) };
        let settings = PoolSettings { sharing, max_pool_size: 1, create_settings: Some(short), ..PoolSettings::default() };
        let mut given = Given::new(settings);
        let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is room") };
        let range = given.ledger.create(creation.record(), creation.uses());
        let late = NOW.plus(Duration::from_secs(1));
        let taken = creation.made(range, late).expect("a use");
        assert_eq!(taken.number(), UseNumber(1));
        // It serves nobody else, and its place is free at once.
        let name = taken.id().clone();
        let Err(BoundError::Unusable { why: Unusable::Expired { .. }, .. }) = given.pool.checkout_by_id(&name, late) else {
            panic!("it is too old")
        };
        let Ok(Checkout::Errand(Errand::Create(_))) = given.pool.checkout(late) else { panic!("there is room again") };
        assert_eq!(taken.finish(UseMark::Good, late).ended, None, "its age has ended it");
        assert!(given.pool.session(&name).is_none());
    }
}

#[test]
fn a_full_pool_makes_room_when_sessions_end() {
    let mut given = Given::small(ReuseStrategy::Random, 5, uses(3));
    for _ in 0..100 {
        given.finish(UseMark::Good);
        assert!(given.pool.counts(NOW).sessions <= 5);
    }
    assert!(given.ledger.0.len() >= 30);
}

#[test]
fn a_session_that_does_not_come_gives_its_place_back() {
    let mut given = Given::small(ReuseStrategy::Random, 1, uses(3));
    for _ in 0..3 {
        let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is room") };
        // While it is on its way, there is no other place.
        assert!(matches!(given.pool.checkout(NOW), Err(CheckoutError::NoneFree { max: 1 })));
        drop(creation);
    }
    given.take();
}

#[test]
fn until_failure_whoever_comes_while_a_session_is_made_waits_for_it() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 9, uses(50));
    let Ok(Checkout::Errand(creation)) = given.pool.checkout(NOW) else { panic!("there is room") };
    assert_eq!(given.try_take_at(NOW).expect_err("one is on its way"), CheckoutError::Arriving);
    let first = given.run(creation).expect("a use");
    assert_eq!(given.take().id(), first.id());
    // If it does not come, the next one makes another.
    let mut given = Given::small(ReuseStrategy::UntilFailure, 9, uses(50));
    drop(given.pool.checkout(NOW));
    given.take();
}

#[test]
fn in_turn_a_session_that_waits_for_uses_has_had_its_turn() {
    let mut given = Given::small(ReuseStrategy::RoundRobin, 3, uses(1_000));
    // So many that each session needs a new block at this very point.
    for _ in 0..30 {
        given.finish(UseMark::Good);
    }
    let errands: Vec<Errand> = (0..3)
        .map(|_| match given.pool.checkout(NOW) {
            Ok(Checkout::Errand(errand)) => errand,
            other => panic!("{other:?}"),
        })
        .collect();
    let taken: Vec<SessionUse> = errands.into_iter().filter_map(|errand| given.run(errand)).collect();
    let names: std::collections::BTreeSet<&SessionId> = taken.iter().map(SessionUse::id).collect();
    assert_eq!(names.len(), 3);
}

#[test]
fn a_name_that_is_taken_in_the_store_is_made_up_anew_unless_somebody_wants_it() {
    let given = Given::small(ReuseStrategy::Random, 1, uses(50));
    let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is room") };
    let name = creation.record().id.clone();
    assert_eq!(creation.name_taken(), Ok(()));
    let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is room") };
    assert_ne!(creation.record().id, name);
    let create: crate::CreateSession = Arc::new(|| Ok(SessionSeed { id: SessionId::new("mine"), ..SessionSeed::default() }));
    let given = Given::new(PoolSettings { create: Some(create), ..PoolSettings::default() });
    let Ok(Checkout::Errand(Errand::Create(creation))) = given.pool.checkout(NOW) else { panic!("there is room") };
    assert_eq!(creation.name_taken(), Err(AddError::Duplicate { id: id("mine") }));
}

#[test]
fn a_function_makes_sessions_and_what_it_makes_is_checked() {
    let made = std::sync::atomic::AtomicU32::new(0);
    let create: crate::CreateSession = Arc::new(move || match made.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => Ok(SessionSeed {
            id: SessionId::new("first"),
            user_data: "{\"token\":1}".into(),
            proxy: ProxyId::new("p1"),
            ..SessionSeed::default()
        }),
        1 => Ok(SessionSeed { id: SessionId::new("first"), ..SessionSeed::default() }),
        2 => Ok(SessionSeed { user_data: "[]".into(), ..SessionSeed::default() }),
        3 => Ok(SessionSeed { settings: uses(0), ..SessionSeed::default() }),
        4 => Err("no more accounts".into()),
        _ => Ok(SessionSeed::default()),
    });
    let mut given = Given::new(PoolSettings { create: Some(create), max_pool_size: 2, ..PoolSettings::default() });
    let first = given.take();
    assert_eq!((first.id(), first.user_data().as_str(), first.proxy()), (&id("first"), "{\"token\":1}", ProxyId::new("p1")));
    for words in ["one of that name", "JSON object", "max-uses", "no more accounts"] {
        let error = given.try_take_at(NOW).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    // None of them keeps a place.
    assert_eq!(given.take().id().as_str().len(), 10);
    let both = PoolSettings { create_settings: Some(uses(1)), ..given.pool.settings().clone() };
    let refused = SessionPool::new(PoolId(1), both, [], fastrand::Rng::new(), NOW).expect_err("both");
    assert_eq!(refused, InvalidSetting::BothGiven);
}

#[test]
fn a_pool_goes_on_with_the_sessions_that_the_store_has() {
    let mut given = Given::small(ReuseStrategy::RoundRobin, 3, uses(12));
    let url = Url::parse("http://a.example/").expect("a URL");
    let mut taken = given.take();
    taken.receive(&url, ["a=1; Max-Age=60"], NOW);
    drop(taken.finish(UseMark::Bad, NOW));
    let mut stored = given.pool.sessions();
    stored[0].settle();
    stored.push(SessionRecord { retired: true, ..SessionRecord::new(id("old"), uses(12), NOW) });
    let settings = given.pool.settings().clone();
    given.pool = SessionPool::new(PoolId(1), settings, stored, fastrand::Rng::with_seed(1), NOW).expect("a pool");
    assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 1, usable: 1, ended: 0 });
    let name = given.pool.sessions()[0].id.clone();
    let next = given.bound(&name).expect("usable");
    // Ten were reserved by the process before: they count.
    assert_eq!((next.number(), next.cookie_header(&url, NOW).as_deref()), (UseNumber(11), Some("a=1")));
    assert_eq!(next.cookie_header(&url, NOW.plus(Duration::from_secs(60))), None);
    assert_eq!(given.pool.sessions()[0].score(), 1.0);
}

#[test]
fn sessions_that_are_gone_leave_the_line_though_the_pool_never_fills() {
    for strategy in [ReuseStrategy::Random, ReuseStrategy::RoundRobin, ReuseStrategy::UntilFailure] {
        let mut given = Given::small(strategy, 1_000, uses(1));
        let mut longest = 0;
        for _ in 0..100_000 {
            given.finish(UseMark::Good);
            longest = longest.max(given.pool.with(|roster| roster.line_length()));
        }
        assert!(longest <= 64, "{longest}");
        assert_eq!(given.pool.counts(NOW), PoolCounts { sessions: 0, usable: 0, ended: 100_000 });
    }
}

#[test]
fn uses_of_a_session_are_reserved_by_one_for_all_who_wait() {
    let mut given = Given::small(ReuseStrategy::UntilFailure, 1, uses(1_000));
    let flying: Vec<SessionUse> = (0..10).map(|_| given.take()).collect();
    let Ok(Checkout::Errand(errand)) = given.pool.checkout(NOW) else { panic!("its uses are spent") };
    for _ in 0..256 {
        assert_eq!(given.pool.checkout(NOW).err(), Some(CheckoutError::Arriving));
    }
    let name = flying[0].id().clone();
    assert_eq!(given.pool.checkout_by_id(&name, NOW).err(), Some(BoundError::Arriving { id: name.clone() }));
    // One that is dropped has not happened, and the next one goes.
    drop(errand);
    let Ok(Checkout::Errand(errand)) = given.pool.checkout(NOW) else { panic!("nobody is on the way") };
    assert_eq!(given.run(errand).map(|taken| taken.number()), Some(UseNumber(11)));
    assert_eq!(given.ledger.0[&name].0, 20);
}

#[test]
fn a_pool_that_may_be_smaller_now_goes_on_with_its_newest_sessions() {
    let stored = (0..10_u32).map(|number| {
        let at = Timestamp::from_millis(NOW.as_millis() - i64::from(number));
        SessionRecord::new(id(&number.to_string()), uses(50), at)
    });
    let settings = PoolSettings { max_pool_size: 3, ..PoolSettings::default() };
    let pool = SessionPool::new(PoolId(1), settings, stored, fastrand::Rng::with_seed(1), NOW).expect("a pool");
    assert_eq!(pool.session_ids(), ["2", "1", "0"].map(id));
    assert!(pool.session(&id("3")).is_none() && pool.session(&id("2")).is_some());
    // It is full, and not more than that: those that are there are used.
    let Ok(Checkout::Errand(Errand::Reserve(_))) = pool.checkout(NOW) else { panic!("it is full") };
}

#[test]
fn where_no_new_session_can_be_made_those_that_are_there_serve() {
    let settings = PoolSettings { sharing: Sharing::Exclusive, max_pool_size: 5, ..PoolSettings::default() };
    let mut given = Given::new(settings);
    assert_eq!(given.pool.checkout_old(NOW).err(), Some(CheckoutError::Empty));
    let Ok(Checkout::Errand(creation)) = given.pool.checkout(NOW) else { panic!("there is room") };
    assert_eq!(given.pool.checkout_old(NOW).err(), Some(CheckoutError::NoneFree { max: 5 }));
    let first = given.run(creation).expect("a use");
    assert_eq!(given.pool.checkout_old(NOW).err(), Some(CheckoutError::NoneFree { max: 5 }));
    drop(first);
    assert!(matches!(given.pool.checkout_old(NOW), Ok(Checkout::Ready(_))));
}
