//! The whole manager under many threads at once: whatever the order, nothing is lost, doubled or left over.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use nephila_events::{
    Event, EventConfig, EventName, Events, Interval, Listener, LocalEventManager, OwnName, Sampler, SystemInfo,
};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

const THREADS: usize = 8;
const ROUNDS: usize = 60;

/// Fails the test when two samples are taken at once.
struct Alone(Arc<AtomicUsize>);

impl Sampler for Alone {
    fn sample(&mut self) -> Option<SystemInfo> {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "another sample is being taken");
        std::thread::yield_now();
        self.0.fetch_sub(1, Ordering::SeqCst);
        None
    }
}

fn events() -> Events {
    let shortest = Interval::from_millis(1).unwrap();
    let config = EventConfig { system_info_interval: shortest, ..EventConfig::default() };
    let events = Events::new();
    events.install(LocalEventManager::new(config.with_sampler(Alone(Arc::default()))).unwrap()).unwrap();
    events
}

fn counting(counter: &Arc<AtomicUsize>) -> Listener {
    let counter = Arc::clone(counter);
    Listener::without_event(move || {
        counter.fetch_add(1, Ordering::SeqCst);
        async {}
    })
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Runs the same on all threads, from one moment on.
fn on_all_threads(run: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (run, barrier) = (&run, &barrier);
            scope.spawn(move || {
                barrier.wait();
                run(thread);
            });
        }
    });
}

#[test]
fn owners_that_come_and_go_at_once_lose_no_event_and_no_last_persist_state() {
    let events = events();
    on_all_threads(|thread| {
        block_on(async {
            for round in 0..ROUNDS {
                let name = OwnName::new(&format!("of-{thread}")).unwrap();
                let (persisted, heard) = (Arc::default(), Arc::default());
                let owner = events.enter().await.unwrap();
                events.on(EventName::PersistState, counting(&persisted)).unwrap();
                let mine = events.on(EventName::from(name.clone()), counting(&heard)).unwrap();
                events.emit(Event::Named { name: name.clone(), payload: json!(round) }).unwrap();
                events.wait_for_listeners(None).await.unwrap();
                assert_eq!(heard.load(Ordering::SeqCst), 1, "while it is owned, nothing is cleared");
                events.off(EventName::from(name), Some(mine.id()));
                owner.close().await;
            }
        });
    });
    let left = Arc::default();
    events.on(EventName::Exit, counting(&left)).unwrap();
    events.emit(Event::Exit).unwrap();
    block_on(events.wait_for_listeners(None)).unwrap();
    assert_eq!(left.load(Ordering::SeqCst), 1);
}

#[test]
fn the_listener_of_a_lazy_start_outlives_all_owners() {
    let events = events();
    let (persisted, heard) = (Arc::default(), Arc::default());
    events.on(EventName::PersistState, counting(&persisted)).unwrap();
    events.on(EventName::Exit, counting(&heard)).unwrap();
    on_all_threads(|_| {
        block_on(async {
            for _ in 0..ROUNDS {
                events.enter().await.unwrap().close().await;
            }
        });
    });
    block_on(events.wait_for_listeners(None)).unwrap();
    assert_eq!(persisted.load(Ordering::SeqCst), 1, "that of the start");
    events.emit(Event::Exit).unwrap();
    block_on(events.run(async {})).unwrap();
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    assert_eq!(persisted.load(Ordering::SeqCst), 2, "and the last one");
}

#[test]
fn closes_at_once_have_one_last_persist_state() {
    for _ in 0..ROUNDS {
        let events = events();
        let owners: Vec<_> = (0..THREADS).map(|_| Some(block_on(events.enter()).unwrap())).collect();
        let owners = std::sync::Mutex::new(owners);
        let persisted = Arc::default();
        events.on(EventName::PersistState, counting(&persisted)).unwrap();
        on_all_threads(|thread| {
            let owner = owners.lock().unwrap()[thread].take().unwrap();
            block_on(owner.close());
        });
        assert_eq!(persisted.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn events_from_many_threads_reach_every_listener_in_one_order() {
    let events = events();
    let owner = block_on(events.enter()).unwrap();
    let name = OwnName::new("numbered").unwrap();
    let lists: Vec<_> = (0..3).map(|_| Arc::new(std::sync::Mutex::new(Vec::new()))).collect();
    for (number, list) in lists.iter().enumerate() {
        let list = Arc::clone(list);
        let keep = move |event: Event| list.lock().unwrap().push(event.payload().to_string());
        let listener = if number == 0 {
            Listener::blocking(keep)
        } else {
            Listener::new(move |event| {
                keep(event);
                async {}
            })
        };
        events.on(EventName::from(name.clone()), listener).unwrap();
    }
    on_all_threads(|thread| {
        for number in 0..ROUNDS {
            events.emit(Event::Named { name: name.clone(), payload: json!([thread, number]) }).unwrap();
        }
    });
    block_on(owner.close());
    let lists: Vec<_> = lists.iter().map(|list| list.lock().unwrap().clone()).collect();
    assert_eq!(lists[0].len(), THREADS * ROUNDS);
    assert!(lists[0] == lists[1] && lists[1] == lists[2], "all agree about the order");
}
