//! Calls a listener for one event after another.
//!
//! Decision: an asynchronous listener is a task on the thread of events, a synchronous one has a thread of its own, and both know
//! in which listener they are, so that what is called from within can tell. After each event a task gives way to the others. What
//! a listener does wrong, an error or a panic, ends with its call: it is logged and counted, and the next event comes as usual.

use crate::progress::{Waiter, WaitsFor};
use crate::subscriber::{HouseId, Next, Subscriber, Waiting};
use crate::{Call, Event, EventName, EventSet, EventsError, Listener};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::runtime::Handle;

tokio::task_local! {
    /// The listener that is being called.
    static CALLED: Arc<Subscriber>;
}

/// Starts a worker for the listener.
///
/// # Errors
/// [`EventsError::Thread`] if a synchronous one gets no thread.
pub(crate) fn start(
    listener: Listener,
    wanted: EventSet,
    house: HouseId,
    capacity: NonZeroUsize,
    runtime: &Handle,
) -> Result<Arc<Subscriber>, EventsError> {
    let subscriber = Arc::new(Subscriber::new(listener.name.into(), listener.crawler, house, wanted, capacity));
    let worked_for = Arc::clone(&subscriber);
    match listener.call {
        Call::Asynchronous(call) => subscriber.set_abort(runtime.spawn(work(worked_for, call)).abort_handle()),
        Call::Synchronous(call) => {
            let runtime = runtime.clone();
            std::thread::Builder::new()
                .name("nephila-listener".to_owned())
                .spawn(move || block(&worked_for, call, &runtime))
                .map_err(|cause| EventsError::Thread { cause })?;
        }
    }
    Ok(subscriber)
}

async fn work(subscriber: Arc<Subscriber>, mut call: Box<dyn FnMut(Event) -> BoxFuture<'static, Result<(), String>> + Send>) {
    loop {
        let mut turn = match subscriber.take() {
            Next::Turn(turn) => turn,
            Next::Nothing => {
                subscriber.woken().await;
                continue;
            }
            Next::Removed => return,
        };
        if let Some(event) = turn.take_event() {
            let name = event.name();
            // The listener's future is made, polled and dropped inside, so that whatever panics is caught.
            let called = AssertUnwindSafe(async { call(event).await }).catch_unwind();
            let ended = CALLED.scope(Arc::clone(&subscriber), called).await;
            note(&subscriber, &name, ended);
        }
        drop(turn);
        tokio::task::yield_now().await;
    }
}

fn block(subscriber: &Arc<Subscriber>, mut call: Box<dyn FnMut(Event) -> Result<(), String> + Send>, runtime: &Handle) {
    // So that the listener can spawn tasks and block on futures.
    let _entered = runtime.enter();
    while let Next::Turn(mut turn) = subscriber.take_or_block() {
        if let Some(event) = turn.take_event() {
            let name = event.name();
            let called = || catch_unwind(AssertUnwindSafe(|| call(event)));
            let ended = CALLED.sync_scope(Arc::clone(subscriber), called);
            note(subscriber, &name, ended);
        }
    }
}

fn note(subscriber: &Subscriber, event: &EventName, ended: Result<Result<(), String>, Box<dyn Any + Send>>) {
    let result = ended.unwrap_or_else(|panic| Err(format!("it panicked: {}", text_of(&*panic))));
    subscriber.count(&result);
    if let Err(error) = result {
        tracing::error!(event = %event, listener = %subscriber.name, error, "a listener failed");
    }
}

/// What a panic says, if it says anything.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

/// The listener of this manager that the caller is in.
pub(crate) fn called(house: HouseId) -> Option<Arc<Subscriber>> {
    CALLED.try_with(Arc::clone).ok().filter(|subscriber| subscriber.house == house)
}

/// Who waits, and the mark of it if it is a listener; the mark is taken away when it is dropped.
pub(crate) fn begin_wait(house: HouseId, what: WaitsFor) -> (Waiter, Option<Waiting>) {
    match called(house) {
        Some(listener) => (Waiter::Listener, Some(listener.waits(what))),
        None => (Waiter::Outside, None),
    }
}
