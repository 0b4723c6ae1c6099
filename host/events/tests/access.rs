//! The access point: which manager a process has, and who may start it.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use async_trait::async_trait;
use nephila_events::{
    Event, EventConfig, EventManager, EventName, EventSet, Events, EventsError, Late, Leaving, Listener, ListenerId,
    LocalEventManager, StartKind, Subscription,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A manager of one's own, as most are: around the built-in one, with a start that is awaited.
struct Platform {
    inner: LocalEventManager,
    kind: StartKind,
    connected: Arc<AtomicUsize>,
}

impl Platform {
    fn new(kind: StartKind) -> (Self, Arc<AtomicUsize>) {
        let connected = Arc::default();
        let inner = LocalEventManager::new(EventConfig::default()).unwrap();
        (Self { inner, kind, connected: Arc::clone(&connected) }, connected)
    }
}

#[async_trait]
impl EventManager for Platform {
    fn start_kind(&self) -> StartKind {
        self.kind
    }

    fn on(&self, events: EventSet, listener: Listener) -> Result<Subscription, EventsError> {
        self.inner.on(events, listener)
    }

    fn also_on(&self, events: EventSet, listener: ListenerId) -> Result<(), EventsError> {
        self.inner.also_on(events, listener)
    }

    fn off(&self, events: EventSet, listener: Option<ListenerId>) -> usize {
        self.inner.off(events, listener)
    }

    fn emit(&self, event: Event) -> Result<(), EventsError> {
        self.inner.emit(event)
    }

    async fn enter(&self) -> Result<(), EventsError> {
        tokio::task::yield_now().await;
        self.connected.fetch_add(1, Ordering::SeqCst);
        self.inner.enter().await
    }

    async fn leave(&self, leaving: Leaving) {
        self.inner.leave(leaving).await;
        self.connected.fetch_sub(1, Ordering::SeqCst);
    }

    fn abandon(&self) {
        self.inner.abandon();
        self.connected.fetch_sub(1, Ordering::SeqCst);
    }

    async fn wait_for_listeners(&self, timeout: Option<Duration>) -> Result<(), Late> {
        self.inner.wait_for_listeners(timeout).await
    }
}

fn nothing() -> Listener {
    Listener::without_event(|| async {})
}

#[tokio::test]
async fn another_manager_is_installed_before_the_first_use_and_only_one() {
    let events = Events::new();
    // Neither of these is a use.
    assert_eq!(events.off(EventName::Exit, None), 0);
    events.wait_for_listeners(None).await.unwrap();
    let (platform, connected) = Platform::new(StartKind::Immediate);
    events.install(platform).unwrap();
    let refused = events.install(Platform::new(StartKind::Immediate).0).unwrap_err();
    assert!(matches!(refused, EventsError::AlreadyInstalled));
    let owner = events.enter().await.unwrap();
    assert_eq!(connected.load(Ordering::SeqCst), 1, "it is the one that is used");
    owner.close().await;
    assert_eq!(connected.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn after_the_first_use_another_manager_is_refused_with_the_way_out() {
    let first_uses: [fn(&Events); 2] =
        [|events| drop(events.on(EventName::Exit, nothing()).unwrap()), |events| events.emit(Event::Exit).unwrap()];
    for first_use in first_uses {
        let events = Events::new();
        first_use(&events);
        let refused = events.install(Platform::new(StartKind::Immediate).0).unwrap_err();
        assert!(matches!(refused, EventsError::AlreadyInUse));
        assert!(refused.to_string().contains("install yours before"));
    }
    let events = Events::new();
    events.enter().await.unwrap().close().await;
    assert!(matches!(events.install(Platform::new(StartKind::Immediate).0), Err(EventsError::AlreadyInUse)));
}

#[tokio::test]
async fn a_manager_with_an_asynchronous_start_refuses_the_lazy_way() {
    let events = Events::new();
    events.install(Platform::new(StartKind::Asynchronous).0).unwrap();
    let refused = events.on(EventName::Exit, nothing()).unwrap_err();
    assert!(matches!(refused, EventsError::NotEntered { call: "on" }));
    assert!(refused.to_string().contains("await `enter()`"), "{refused}");
    assert!(matches!(events.emit(Event::Exit), Err(EventsError::NotEntered { call: "emit" })));

    let owner = events.enter().await.unwrap();
    events.on(EventName::Exit, nothing()).unwrap();
    events.emit(Event::Exit).unwrap();
    owner.close().await;
    assert!(matches!(events.emit(Event::Exit), Err(EventsError::NotEntered { .. })));

    drop(events.enter().await.unwrap());
    assert!(matches!(events.emit(Event::Exit), Err(EventsError::NotEntered { .. })), "an owner that was dropped has left, too");
}

#[tokio::test]
async fn a_process_has_one_access_point() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let heard = Listener::new(move |event: Event| {
        sender.send(event).unwrap();
        async {}
    });
    let ended = nephila_events::run(async {
        nephila_events::manager().on(EventName::Aborting, heard).unwrap();
        nephila_events::manager().emit(Event::Aborting).unwrap();
        "ended"
    });
    assert_eq!(ended.await.unwrap(), "ended");
    assert_eq!(receiver.recv().await, Some(Event::Aborting));
    assert_eq!(receiver.recv().await, None, "the listener is gone");
    let late = nephila_events::install(Platform::new(StartKind::Immediate).0);
    assert!(matches!(late, Err(EventsError::AlreadyInUse)));
}

#[test]
fn it_works_without_a_runtime_of_the_callers() {
    let events = Events::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    let heard =
        Listener::blocking(move |event: Event| drop(sender.send((std::thread::current().name().map(str::to_owned), event))));
    events.on(EventName::Exit, heard).unwrap();
    let (sender, asynchronous) = std::sync::mpsc::channel();
    let heard = Listener::without_event(move || {
        drop(sender.send(std::thread::current().name().map(str::to_owned)));
        async {}
    });
    events.on(EventName::Exit, heard).unwrap();
    events.emit(Event::Exit).unwrap();
    assert_eq!(receiver.recv().unwrap(), (Some("nephila-listener".to_owned()), Event::Exit));
    assert_eq!(asynchronous.recv().unwrap(), Some("nephila-events".to_owned()));
    drop(events);
    assert!(receiver.recv().is_err(), "the listener's thread has ended");
    assert!(asynchronous.recv().is_err(), "and so has the thread of events");
}
