//! The one way to the event manager of a process.
//!
//! Decision: a process has one manager, as Crawlee's issue 2242 asks: two would sample twice and tell half of the listeners each.
//! Which one is settled by its first use; until then another can be installed, afterwards that is an error. The process's access
//! point is [`crate::manager`], one value of this type; tests make their own.

use crate::lock::locked;
use crate::{
    Event, EventConfig, EventManager, EventSet, EventsError, Late, Leaving, Listener, ListenerId, LocalEventManager, Owner,
    StartKind, Subscription,
};
use futures_util::FutureExt;
use std::fmt::{Debug, Formatter};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An access point to an event manager. Clones are the same access point.
#[derive(Clone, Default)]
pub struct Events {
    shared: Arc<Shared>,
}

/// What clones of an access point share.
#[derive(Default)]
pub(crate) struct Shared {
    chosen: Mutex<Chosen>,
    /// Owners that have entered and not left.
    pub(crate) owners: AtomicUsize,
}

#[derive(Default)]
enum Chosen {
    /// The first use makes the built-in one.
    #[default]
    Nothing,
    /// The first use takes this.
    Installed(Arc<dyn EventManager>),
    InUse(Arc<dyn EventManager>),
}

impl Events {
    /// An access point that was not used yet. The host uses [`crate::manager`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a manager of one's own in the place of the built-in one, or the built-in one with a configuration of one's own. What
    /// counts as the first use is the first [`Events::on`], [`Events::emit`] or [`Events::enter`].
    ///
    /// # Errors
    /// [`EventsError::AlreadyInUse`] after the first use, [`EventsError::AlreadyInstalled`] after another `install`.
    pub fn install(&self, manager: impl EventManager) -> Result<(), EventsError> {
        let mut chosen = locked(&self.shared.chosen);
        match &*chosen {
            Chosen::Nothing => {
                *chosen = Chosen::Installed(Arc::new(manager));
                Ok(())
            }
            Chosen::Installed(_) => Err(EventsError::AlreadyInstalled),
            Chosen::InUse(_) => Err(EventsError::AlreadyInUse),
        }
    }

    /// Registers a listener for one event or several. It is called until it is taken off, or the last owner has closed the
    /// manager; a listener that is registered twice is called twice.
    ///
    /// Starts the manager if nobody has, and then holds it open until [`Events::run`] ends.
    ///
    /// # Errors
    /// [`EventsError::NotEntered`] if this manager has to be awaited first, [`EventsError::NoEvents`], [`EventsError::Thread`], and
    /// [`EventsError::Config`] if this is the first use and the environment sets what cannot be used.
    pub fn on(&self, events: impl Into<EventSet>, listener: Listener) -> Result<Subscription, EventsError> {
        self.started("on")?.on(events.into(), listener)
    }

    /// Adds events to those that a listener gets, in the same order and never overlapping.
    ///
    /// # Errors
    /// [`EventsError::NoSuchListener`] if it is not registered any more.
    pub fn also_on(&self, events: impl Into<EventSet>, listener: ListenerId) -> Result<(), EventsError> {
        match self.present() {
            Some(manager) => manager.also_on(events.into(), listener),
            None => Err(EventsError::NoSuchListener),
        }
    }

    /// Takes events from one listener, or from all. One that has none left is removed. Says how many lost events.
    ///
    /// When it returns, no call for such an event begins. A call that has begun (its event is out of the queue) goes on;
    /// [`Events::wait_for_listeners`] waits for it, too.
    pub fn off(&self, events: impl Into<EventSet>, listener: Option<ListenerId>) -> usize {
        self.present().map_or(0, |manager| manager.off(events.into(), listener))
    }

    /// Tells listeners what happened. Never blocks, and never waits for any of them.
    ///
    /// Starts the manager if nobody has, and then holds it open until [`Events::run`] ends.
    ///
    /// # Errors
    /// As [`Events::on`].
    pub fn emit(&self, event: Event) -> Result<(), EventsError> {
        self.started("emit")?.emit(event)
    }

    /// Enters: the manager runs until all that entered have closed. Whoever enters closes.
    ///
    /// # Errors
    /// [`EventsError::Config`], [`EventsError::Thread`] at the first use, or what a custom manager says.
    pub async fn enter(&self) -> Result<Owner, EventsError> {
        let manager = self.in_use()?;
        manager.enter().await?;
        self.shared.owners.fetch_add(1, Ordering::SeqCst);
        Ok(Owner::new(manager, Arc::clone(&self.shared)))
    }

    /// Waits until listeners are done with the events that they have been given so far; without a timeout, for as long as it
    /// takes.
    ///
    /// May be called from within a listener, which then does not wait for itself, nor for other listeners that wait. (It is
    /// recognised in its own task or thread; a task that it spawned is not it.)
    ///
    /// # Errors
    /// [`Late`] names the listeners that are not done in time. They go on.
    pub async fn wait_for_listeners(&self, timeout: Option<Duration>) -> Result<(), Late> {
        match self.present() {
            Some(manager) => manager.wait_for_listeners(timeout).await,
            None => Ok(()),
        }
    }

    /// Runs a future with the manager entered, and closes it afterwards, whatever became of the future: also the reference of
    /// a lazy start, which nobody else gives back. So the last `persistState` is sent, and all listeners are awaited.
    ///
    /// A future of this that is dropped before its end, or a process that ends without it, loses that last event.
    ///
    /// # Errors
    /// As [`Events::enter`]; then the future was not run.
    pub async fn run<F: Future>(&self, future: F) -> Result<F::Output, EventsError> {
        let owner = self.enter().await?;
        let ended = AssertUnwindSafe(future).catch_unwind().await;
        owner.leave(Leaving::OwnAndLazy).await;
        Ok(ended.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// The manager, which is in use from here on.
    fn in_use(&self) -> Result<Arc<dyn EventManager>, EventsError> {
        let mut chosen = locked(&self.shared.chosen);
        let manager = match &*chosen {
            Chosen::InUse(manager) => return Ok(Arc::clone(manager)),
            Chosen::Installed(manager) => Arc::clone(manager),
            Chosen::Nothing => {
                let of_process = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
                Arc::new(LocalEventManager::new(EventConfig::from_env(of_process)?)?)
            }
        };
        *chosen = Chosen::InUse(Arc::clone(&manager));
        Ok(manager)
    }

    /// The manager, for a call that may start it.
    fn started(&self, call: &'static str) -> Result<Arc<dyn EventManager>, EventsError> {
        let manager = self.in_use()?;
        let needs_owner = manager.start_kind() == StartKind::Asynchronous;
        if needs_owner && self.shared.owners.load(Ordering::SeqCst) == 0 {
            return Err(EventsError::NotEntered { call });
        }
        Ok(manager)
    }

    /// The manager, if it is in use.
    fn present(&self) -> Option<Arc<dyn EventManager>> {
        match &*locked(&self.shared.chosen) {
            Chosen::InUse(manager) => Some(Arc::clone(manager)),
            Chosen::Nothing | Chosen::Installed(_) => None,
        }
    }
}

impl Debug for Events {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let state = match &*locked(&self.shared.chosen) {
            Chosen::Nothing => "not used yet",
            Chosen::Installed(_) => "another manager installed",
            Chosen::InUse(_) => "in use",
        };
        f.debug_struct("Events").field("manager", &state).field("owners", &self.shared.owners).finish()
    }
}
