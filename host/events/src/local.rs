//! The built-in event manager.

use crate::house::House;
use crate::thread::EventThread;
use crate::{Event, EventConfig, EventManager, EventSet, EventsError, Late, Leaving, Listener, ListenerId, Subscription};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;

/// The built-in event manager (Crawlee: `LocalEventManager`), with a thread of its own, `nephila-events`.
///
/// While it is started, it emits `persistState` and, if it was given a [`crate::Sampler`], `systemInfo` at their intervals.
/// Asynchronous listeners run on its thread, each synchronous one has its own.
pub struct LocalEventManager {
    house: Arc<House>,
    /// None where a test gave it a runtime.
    _thread: Option<EventThread>,
}

impl LocalEventManager {
    /// A stopped manager.
    ///
    /// # Errors
    /// [`EventsError::Thread`] if the system gives no thread.
    pub fn new(config: EventConfig) -> Result<Self, EventsError> {
        let (thread, runtime) = EventThread::start()?;
        Ok(Self { house: House::new(config, runtime), _thread: Some(thread) })
    }

    /// One that runs on this runtime, whose clock a test may have stopped.
    #[cfg(test)]
    pub(crate) fn on_runtime(config: EventConfig, runtime: tokio::runtime::Handle) -> Self {
        Self { house: House::new(config, runtime), _thread: None }
    }
}

impl Drop for LocalEventManager {
    fn drop(&mut self) {
        // Threads of listeners are told to end; tasks end with the thread of events.
        self.house.shut_down();
    }
}

#[async_trait]
impl EventManager for LocalEventManager {
    fn on(&self, events: EventSet, listener: Listener) -> Result<Subscription, EventsError> {
        self.house.on(events, listener)
    }

    fn also_on(&self, events: EventSet, listener: ListenerId) -> Result<(), EventsError> {
        self.house.also_on(&events, listener)
    }

    fn off(&self, events: EventSet, listener: Option<ListenerId>) -> usize {
        self.house.off(&events, listener)
    }

    fn emit(&self, event: Event) -> Result<(), EventsError> {
        self.house.emit(event);
        Ok(())
    }

    async fn enter(&self) -> Result<(), EventsError> {
        self.house.enter();
        Ok(())
    }

    async fn leave(&self, leaving: Leaving) {
        self.house.leave(leaving).await;
    }

    fn abandon(&self) {
        self.house.abandon();
    }

    async fn wait_for_listeners(&self, timeout: Option<Duration>) -> Result<(), Late> {
        self.house.wait_for_listeners(timeout).await
    }
}
