//! The event manager: who wants to know, and what happened.
//!
//! Decision: one manager per process, behind one access point ([`manager`]), with a thread of its own. It runs whether or not a
//! crawl runs, and no crawl can stop it for another, or clear another's listeners: holders count references, and the first `on`
//! or `emit` of all takes one of its own. What it costs: somebody has to close at the end. The host's [`run`] does; a process
//! that ends without it loses the last `persistState`. Nothing durable depends on that, since it is a notification: what a crawl
//! committed is in its store.
//!
//! ```
//! use nephila_events::{Event, EventName, Events, Listener, OwnName};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let events = Events::new(); // A program takes `nephila_events::manager()`.
//! let low = OwnName::new("stock-low")?;
//! events.run(async {
//!     let told = Listener::new(|event: Event| async move { println!("{} {}", event.name(), event.payload()) });
//!     events.on([EventName::from(low.clone()), EventName::Exit], told.named("stock keeper"))?;
//!     events.emit(Event::Named { name: low, payload: serde_json::json!({ "sku": 7 }) })
//! }).await??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look: who holds it and when it stops, `ownership.rs`; what a slow listener misses, `queue.rs`; who waits for whom,
//! `progress.rs`; what is sent when, `timers.rs`; what the environment sets, `config.rs`.

mod access;
mod closing;
mod config;
mod error;
mod event;
mod house;
mod listener;
mod local;
mod lock;
mod manager;
mod name;
mod owner;
mod ownership;
mod progress;
mod queue;
mod subscriber;
mod subscription;
mod system_info;
#[cfg(test)]
mod tests;
mod thread;
mod timers;
mod waits;
mod worker;

pub use access::Events;
pub use config::{EventConfig, Interval, InvalidInterval};
pub use error::{EventsError, Late};
pub use event::Event;
pub use listener::{Call, Ending, EventSet, Listener, ListenerId};
pub use local::LocalEventManager;
pub use manager::{EventManager, StartKind};
pub use name::{EventName, InvalidEventName, OwnName};
pub use owner::Owner;
pub use ownership::Leaving;
pub use subscription::{Subscription, SubscriptionStats};
pub use system_info::{CpuInfo, MemoryInfo, Sampler, SystemInfo};

use std::sync::LazyLock;

/// The process's.
static PROCESS: LazyLock<Events> = LazyLock::new(Events::new);

/// The access point to this process's event manager.
#[must_use]
pub fn manager() -> Events {
    PROCESS.clone()
}

/// Puts a manager in the place of the built-in one for this process: [`Events::install`].
///
/// # Errors
/// [`EventsError::AlreadyInUse`] after the first use, [`EventsError::AlreadyInstalled`] after another `install`.
pub fn install(manager: impl EventManager) -> Result<(), EventsError> {
    PROCESS.install(manager)
}

/// Runs a future with this process's event manager entered, and closes it afterwards: [`Events::run`].
///
/// # Errors
/// As [`Events::enter`]; then the future was not run.
pub async fn run<F: Future>(future: F) -> Result<F::Output, EventsError> {
    PROCESS.run(future).await
}
