//! Events on a clock that tests move: what is sent when, to whom, in which order, and what a listener may do from within.

mod closing;
mod delivery;
mod timing;
mod two_crawls;
mod within;

use crate::{
    CpuInfo, Event, EventConfig, EventName, Events, Interval, Listener, LocalEventManager, MemoryInfo, OwnName, Sampler,
    Subscription, SystemInfo,
};
use nephila_model::Timestamp;
use serde_json::json;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing_subscriber::fmt::MakeWriter;

/// An access point whose manager lives by the test's clock.
fn events(config: EventConfig) -> Events {
    let events = Events::new();
    events.install(LocalEventManager::on_runtime(config, Handle::current())).unwrap();
    events
}

/// Intervals so long that no timer disturbs.
fn quiet() -> EventConfig {
    let long = Interval::from_millis(*Interval::MILLIS.end()).unwrap();
    EventConfig { persist_state_interval: long, system_info_interval: long, ..EventConfig::default() }
}

fn low() -> OwnName {
    OwnName::new("stock-low").unwrap()
}

fn numbered(number: u64) -> Event {
    Event::Named { name: low(), payload: json!(number) }
}

fn persist() -> Event {
    Event::PersistState { is_migrating: false }
}

/// What a listener was called with, and when by the test's clock.
#[derive(Clone)]
struct Diary {
    began: Instant,
    entries: Arc<Mutex<Vec<(u64, Event)>>>,
}

impl Diary {
    fn new() -> Self {
        Self { began: Instant::now(), entries: Arc::default() }
    }

    fn write(&self, event: Event) {
        let seconds = self.began.elapsed().as_millis();
        self.entries.lock().unwrap().push((u64::try_from(seconds).unwrap(), event));
    }

    /// A listener that writes, then takes so long.
    fn listener(&self, takes: Duration) -> Listener {
        let diary = self.clone();
        Listener::new(move |event| {
            diary.write(event);
            tokio::time::sleep(takes)
        })
    }

    fn quick(&self) -> Listener {
        self.listener(Duration::ZERO)
    }

    fn events(&self) -> Vec<Event> {
        self.entries.lock().unwrap().iter().map(|(_, event)| event.clone()).collect()
    }

    fn names(&self) -> Vec<EventName> {
        self.events().iter().map(Event::name).collect()
    }

    fn count(&self, name: &EventName) -> usize {
        self.names().iter().filter(|found| *found == name).count()
    }

    /// The numbers of numbered events.
    fn numbers(&self) -> Vec<u64> {
        self.events().iter().filter_map(|event| event.payload().as_u64()).collect()
    }

    /// Seconds since it was opened.
    fn seconds(&self) -> Vec<f64> {
        self.entries.lock().unwrap().iter().map(|(millis, _)| *millis as f64 / 1_000.0).collect()
    }
}

/// Counts samples, and how many are taken at once.
#[derive(Clone, Default)]
struct Counted {
    samples: Arc<AtomicUsize>,
}

impl Counted {
    fn samples(&self) -> usize {
        self.samples.load(Ordering::SeqCst)
    }
}

impl Sampler for Counted {
    fn sample(&mut self) -> Option<SystemInfo> {
        let current_size = self.samples.fetch_add(1, Ordering::SeqCst) as u64 + 1;
        let created_at = Timestamp::EPOCH;
        let memory = MemoryInfo { current_size, total_size: 9, system_wide_used_size: 9, created_at };
        Some(SystemInfo { cpu: CpuInfo { used_ratio: 0.5, created_at }, memory })
    }
}

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

/// What is logged on this thread while it lives.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// A listener that writes and then waits at a gate, which lets one through for each permit.
fn gated(diary: &Diary, gate: &Arc<Semaphore>) -> Listener {
    let (diary, gate) = (diary.clone(), Arc::clone(gate));
    Listener::new(move |event| {
        diary.write(event);
        let gate = Arc::clone(&gate);
        async move { gate.acquire().await.unwrap().forget() }
    })
}

/// Until the listeners have nothing to do.
async fn all_done(events: &Events) {
    events.wait_for_listeners(None).await.unwrap();
}

/// Until the worker of this listener has taken this many events out of its queue.
async fn until_waiting(subscription: &Subscription, waiting: usize) {
    while subscription.stats().waiting != waiting {
        tokio::task::yield_now().await;
    }
}
