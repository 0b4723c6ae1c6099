//! What an event manager does.
//!
//! Decision: a trait of plain operations. Who may call them when, the guards, the lazy start and "one per process" are the access
//! point's business ([`crate::Events`]), so that a manager of one's own, which mostly wraps [`crate::LocalEventManager`] and adds
//! a source of events, has little to get wrong.

use crate::{Event, EventSet, EventsError, Late, Leaving, Listener, ListenerId, Subscription};
use async_trait::async_trait;
use std::time::Duration;

/// What has listeners and tells them what happens (Crawlee: `EventManager`).
///
/// Called through [`crate::Events`], which counts who has entered.
#[async_trait]
pub trait EventManager: Send + Sync + 'static {
    /// Whether it can be started by the first `on` or `emit`.
    fn start_kind(&self) -> StartKind {
        StartKind::Immediate
    }

    /// Registers a listener for these events, and starts the manager if it is stopped. Every registration is called, also of a
    /// listener that is registered already.
    ///
    /// # Errors
    /// [`EventsError::NoEvents`], [`EventsError::Thread`].
    fn on(&self, events: EventSet, listener: Listener) -> Result<Subscription, EventsError>;

    /// Adds events to those that a listener gets, in the same queue.
    ///
    /// # Errors
    /// [`EventsError::NoSuchListener`].
    fn also_on(&self, events: EventSet, listener: ListenerId) -> Result<(), EventsError>;

    /// Takes these events from one listener, or from all. One that has no events left is removed. Says how many lost events.
    /// When it returns, no call for such an event begins; one that has begun goes on.
    fn off(&self, events: EventSet, listener: Option<ListenerId>) -> usize;

    /// Tells listeners what happened, and starts the manager if it is stopped. Never blocks.
    ///
    /// # Errors
    /// What a custom manager says.
    fn emit(&self, event: Event) -> Result<(), EventsError>;

    /// Gives the caller a reference, and starts the manager if it is stopped.
    ///
    /// # Errors
    /// What a custom manager says; then there is no reference.
    async fn enter(&self) -> Result<(), EventsError>;

    /// Takes a reference back. If it was the last: sends the last `persistState` and waits for all listeners; then stops, unless
    /// somebody has entered meanwhile. The reference is taken back when this is first polled, whatever becomes of the future.
    async fn leave(&self, leaving: Leaving);

    /// Takes a reference back without a last `persistState`, and without waiting.
    fn abandon(&self);

    /// Waits until listeners are done with the events that they have been given so far.
    ///
    /// # Errors
    /// [`Late`] names those that are not done in time.
    async fn wait_for_listeners(&self, timeout: Option<Duration>) -> Result<(), Late>;
}

/// Whether a manager can be started by whoever uses it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartKind {
    /// It starts at once: `on` and `emit` start it.
    Immediate,
    /// Its start has to be awaited: before somebody has entered, `on` and `emit` are refused.
    Asynchronous,
}
