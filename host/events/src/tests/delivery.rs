//! Who gets what, in which order.

use super::*;
use crate::{EventsError, ListenerId};
use std::num::NonZeroUsize;
use std::sync::mpsc;

#[tokio::test(start_paused = true)]
async fn a_listener_gets_its_events_in_order_and_never_overlaps_itself() {
    let (events, log) = (events(quiet()), Arc::new(Mutex::new(Vec::new())));
    let listener = {
        let log = Arc::clone(&log);
        Listener::new(move |event: Event| {
            let log = Arc::clone(&log);
            async move {
                let number = event.payload().as_u64().unwrap();
                log.lock().unwrap().push(("begin", number));
                seconds(1.0).await;
                log.lock().unwrap().push(("end", number));
            }
        })
    };
    events.on(EventName::Named(low()), listener).unwrap();
    (0..5).for_each(|number| events.emit(numbered(number)).unwrap());
    all_done(&events).await;
    let expected: Vec<_> = (0..5).flat_map(|number| [("begin", number), ("end", number)]).collect();
    assert_eq!(*log.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_slow_listener_delays_neither_emit_nor_others() {
    let (events, slow, quick) = (events(quiet()), Diary::new(), Diary::new());
    let stuck = events.on(EventName::Named(low()), gated(&slow, &Arc::new(Semaphore::new(0)))).unwrap();
    events.on(EventName::Named(low()), quick.quick()).unwrap();
    (0..100).for_each(|number| events.emit(numbered(number)).unwrap());
    while quick.numbers().len() < 100 {
        tokio::task::yield_now().await;
    }
    assert_eq!((slow.numbers().len(), stuck.stats().handling, stuck.stats().waiting), (1, 1, 99));
}

#[tokio::test(start_paused = true)]
async fn what_is_over_the_bound_is_dropped_counted_and_said_once_in_a_burst() {
    let (log, _guard) = Log::begin();
    let config = EventConfig { queue_capacity: NonZeroUsize::new(10).unwrap(), ..quiet() };
    let (events, diary, gate) = (events(config), Diary::new(), Arc::new(Semaphore::new(0)));
    let listener = gated(&diary, &gate).named("the slow one");
    let subscription = events.on([EventName::Named(low()), EventName::Exit], listener).unwrap();
    events.emit(numbered(0)).unwrap();
    until_waiting(&subscription, 0).await;
    (1..=30).for_each(|number| events.emit(numbered(number)).unwrap());
    events.emit(Event::Exit).unwrap();
    assert_eq!((subscription.stats().dropped, subscription.stats().waiting), (20, 11));
    assert_eq!(log.lines_with("events for it are being dropped").len(), 1);
    assert!(log.lines_with("being dropped")[0].contains("the slow one"));

    gate.add_permits(12);
    all_done(&events).await;
    assert_eq!((subscription.stats().handling, subscription.stats().waiting), (0, 0));
    assert_eq!(diary.numbers(), (0..=10).collect::<Vec<_>>());
    assert_eq!(diary.names().last(), Some(&EventName::Exit), "a call to act is never dropped");

    (0..20).for_each(|number| events.emit(numbered(number)).unwrap());
    assert_eq!(log.lines_with("events for it are being dropped").len(), 2, "another burst");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_behind_gets_the_newest_status_only() {
    let (events, diary, gate) = (events(quiet()), Diary::new(), Arc::new(Semaphore::new(0)));
    let names = [EventName::Named(low()), EventName::CrawlerStatus];
    let subscription = events.on(names, gated(&diary, &gate)).unwrap();
    events.emit(numbered(0)).unwrap();
    until_waiting(&subscription, 0).await;
    let status = |message: &str| Event::CrawlerStatus {
        crawler_id: nephila_model::CrawlerId::new("shop").unwrap(),
        message: message.to_owned(),
    };
    ["one", "two", "three"].iter().for_each(|message| events.emit(status(message)).unwrap());
    gate.add_permits(9);
    all_done(&events).await;
    assert_eq!(diary.events(), [numbered(0), status("three")]);
    assert_eq!(subscription.stats().replaced, 2);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_or_panics_is_named_and_harms_nobody() {
    let (log, _guard) = Log::begin();
    let (events, diary) = (events(quiet()), Diary::new());
    let name = EventName::Named(low());
    let failing = Listener::without_event(|| async { Err("no bell") }).named("the failing one");
    let failing = events.on(&name, failing).unwrap();
    let wild = |event: Event| async move { assert!(event.name() == EventName::Exit, "wild") };
    let panicking = events.on(&name, Listener::new(wild).named("the wild one")).unwrap();
    let early = |_: Event| -> std::future::Ready<()> { panic!("before it has begun") };
    let early = events.on(&name, Listener::new(early).named("the early one")).unwrap();
    events.on(&name, diary.quick()).unwrap();
    (0..3).for_each(|number| events.emit(numbered(number)).unwrap());
    all_done(&events).await;
    assert_eq!(diary.numbers(), [0, 1, 2]);
    for subscription in [failing, panicking, early] {
        assert_eq!((subscription.stats().failed, subscription.stats().handled), (3, 0));
        let lines = log.lines_with(subscription.name());
        assert!(lines.len() == 3 && lines.iter().all(|line| line.contains("stock-low")), "{lines:?}");
    }
    assert!(log.lines_with("the failing one")[0].contains("no bell"));
    assert!(log.lines_with("the wild one")[0].contains("it panicked: wild"));
}

#[tokio::test]
async fn a_synchronous_listener_has_a_thread_of_its_own_and_may_block_it() {
    let (events, diary) = (events(quiet()), Diary::new());
    let (go, wait) = mpsc::channel::<()>();
    let (saw, seen) = tokio::sync::oneshot::channel();
    let mut saw = Some(saw);
    let blocking = Listener::blocking(move |event: Event| {
        wait.recv().unwrap();
        if let Some(saw) = saw.take() {
            saw.send((std::thread::current().id(), event)).unwrap();
        }
    });
    events.on(EventName::Named(low()), blocking).unwrap();
    events.on(EventName::Named(low()), diary.quick()).unwrap();
    events.emit(numbered(7)).unwrap();
    while diary.numbers().is_empty() {
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    let (thread, event) = seen.await.unwrap();
    assert_ne!(thread, std::thread::current().id());
    assert_eq!(event, numbered(7));
}

#[tokio::test]
async fn a_synchronous_listener_that_fails_or_panics_goes_on_with_the_next_event() {
    let events = events(quiet());
    let mut calls = 0;
    let listener = Listener::blocking_without_event(move || {
        calls += 1;
        assert_ne!(calls, 2, "the second one");
        if calls == 1 { Err("the first one") } else { Ok(()) }
    });
    let subscription = events.on(EventName::Named(low()), listener).unwrap();
    (0..4).for_each(|number| events.emit(numbered(number)).unwrap());
    all_done(&events).await;
    assert_eq!((subscription.stats().failed, subscription.stats().handled), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn what_is_registered_twice_is_called_twice_and_taken_off_one_by_one() {
    let (events, diary) = (events(quiet()), Diary::new());
    let first = events.on(EventName::Named(low()), diary.quick()).unwrap();
    let second = events.on(EventName::Named(low()), diary.quick()).unwrap();
    assert_ne!(first.id(), second.id());
    events.emit(numbered(1)).unwrap();
    all_done(&events).await;
    assert_eq!(diary.numbers(), [1, 1]);
    assert_eq!(events.off(EventName::Named(low()), Some(first.id())), 1);
    assert_eq!(events.off(EventName::Named(low()), Some(first.id())), 0);
    events.emit(numbered(2)).unwrap();
    all_done(&events).await;
    assert_eq!(diary.numbers(), [1, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn off_without_a_listener_takes_all_of_that_event_and_no_other() {
    let (events, diary) = (events(quiet()), Diary::new());
    events.on([EventName::Named(low()), EventName::Exit], diary.quick()).unwrap();
    events.on(EventName::Named(low()), diary.quick()).unwrap();
    assert_eq!(events.off(EventName::Named(low()), None), 2);
    events.emit(numbered(1)).unwrap();
    events.emit(Event::Exit).unwrap();
    all_done(&events).await;
    assert_eq!(diary.events(), [Event::Exit]);
}

#[tokio::test(start_paused = true)]
async fn after_off_no_call_begins_not_even_for_what_waits() {
    let (events, diary, gate) = (events(quiet()), Diary::new(), Arc::new(Semaphore::new(0)));
    let names = [EventName::Named(low()), EventName::Exit];
    let subscription = events.on(names, gated(&diary, &gate)).unwrap();
    events.emit(numbered(0)).unwrap();
    until_waiting(&subscription, 0).await;
    (1..9).for_each(|number| events.emit(numbered(number)).unwrap());
    events.emit(Event::Exit).unwrap();
    events.off(EventName::Named(low()), Some(subscription.id()));
    assert_eq!(subscription.stats().waiting, 1);
    gate.add_permits(9);
    all_done(&events).await;
    assert_eq!(diary.events(), [numbered(0), Event::Exit]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_also_waits_for_the_call_of_a_listener_that_was_taken_off() {
    let (events, diary) = (events(quiet()), Diary::new());
    let subscription = events.on(EventName::Exit, diary.listener(Duration::from_secs(5))).unwrap();
    events.emit(Event::Exit).unwrap();
    until_waiting(&subscription, 0).await;
    events.off(EventName::Exit, None);
    all_done(&events).await;
    assert_eq!(diary.began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_wait_names_who_is_late_and_leaves_them_at_work() {
    let (events, diary) = (events(quiet()), Diary::new());
    events.on(EventName::Exit, diary.listener(Duration::from_secs(9)).named("the slow one")).unwrap();
    events.on(EventName::Exit, diary.quick().named("the quick one")).unwrap();
    events.emit(Event::Exit).unwrap();
    let late = events.wait_for_listeners(Some(Duration::from_secs(3))).await.unwrap_err();
    assert_eq!(late.listeners, ["the slow one"]);
    assert!(late.to_string().contains("the slow one"));
    all_done(&events).await;
    assert_eq!(diary.began.elapsed(), Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn events_that_are_added_later_come_through_the_same_queue() {
    let (events, diary) = (events(quiet()), Diary::new());
    let subscription = events.on(EventName::Named(low()), diary.listener(Duration::from_secs(1))).unwrap();
    events.emit(Event::Exit).unwrap();
    events.also_on(EventName::Exit, subscription.id()).unwrap();
    events.emit(numbered(1)).unwrap();
    events.emit(Event::Exit).unwrap();
    events.emit(numbered(2)).unwrap();
    all_done(&events).await;
    assert_eq!(diary.events(), [numbered(1), Event::Exit, numbered(2)]);
    assert_eq!(diary.seconds(), [0.0, 1.0, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn a_listener_without_events_and_one_that_is_gone_are_refused() {
    let (events, diary) = (events(quiet()), Diary::new());
    assert!(matches!(events.on([], diary.quick()), Err(EventsError::NoEvents)));
    assert!(matches!(events.also_on(EventName::Exit, ListenerId::new()), Err(EventsError::NoSuchListener)));
    let subscription = events.on(EventName::Aborting, diary.quick()).unwrap();
    events.off(EventName::Aborting, None);
    assert!(matches!(events.also_on(EventName::Exit, subscription.id()), Err(EventsError::NoSuchListener)));
}

#[tokio::test(start_paused = true)]
async fn what_is_about_other_crawls_takes_no_place_in_the_queue_of_a_listener_of_one() {
    let (log, _guard) = Log::begin();
    let config = EventConfig { queue_capacity: NonZeroUsize::new(4).unwrap(), ..quiet() };
    let (events, diary, gate) = (events(config), Diary::new(), Arc::new(Semaphore::new(0)));
    let id = |name: &str| nephila_model::CrawlerId::new(name).unwrap();
    let started = |name: &str| Event::CrawlStarted { crawler_id: id(name) };
    let names = [EventName::Named(low()), EventName::CrawlStarted];
    let subscription = events.on(names, gated(&diary, &gate).of(id("shop"))).unwrap();
    events.emit(numbered(0)).unwrap();
    until_waiting(&subscription, 0).await;
    (0..30).for_each(|_| events.emit(started("other")).unwrap());
    assert_eq!((subscription.stats().dropped, subscription.stats().waiting), (0, 0));
    // Its own, and what is about no crawl.
    for event in [started("shop"), numbered(1), started("other"), started("shop")] {
        events.emit(event).unwrap();
    }
    assert_eq!((subscription.stats().dropped, subscription.stats().waiting), (0, 3));
    gate.add_permits(9);
    all_done(&events).await;
    let (own, started) = (EventName::Named(low()), EventName::CrawlStarted);
    assert_eq!(diary.names(), [own.clone(), started.clone(), own, started]);
    assert!(log.lines_with("being dropped").is_empty());
}
