//! The thread of events.
//!
//! Decision: a thread of its own with a small runtime, so that events keep their time whatever the crawl's runtime does, and
//! whether there is one or not. It is there for as long as its manager; while the manager is stopped, it sleeps.

use crate::EventsError;
use std::sync::mpsc;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// What blocks (samples, and tasks of listeners that ask for it) has threads of this name, that end when they are idle.
const BLOCKING: &str = "nephila-events-blocking";

/// The running thread. It ends when this is dropped, and with it whatever runs on it.
pub(crate) struct EventThread {
    _running: oneshot::Sender<()>,
}

impl EventThread {
    pub(crate) fn start() -> Result<(Self, Handle), EventsError> {
        let (running, ended) = oneshot::channel();
        let (sender, receiver) = mpsc::sync_channel(1);
        let run = move || {
            // Made here, as a runtime must not be dropped within another one, which it would be if the thread could not be
            // started.
            let runtime = match Builder::new_current_thread().enable_all().thread_name(BLOCKING).build() {
                Ok(runtime) => runtime,
                Err(cause) => return drop(sender.send(Err(cause))),
            };
            drop(sender.send(Ok(runtime.handle().clone())));
            // Either way, nobody needs it any more.
            drop(runtime.block_on(ended));
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("nephila-events".to_owned()).spawn(run);
        thread.map_err(|cause| EventsError::Thread { cause })?;
        let handle = receiver.recv().unwrap_or_else(|gone| Err(std::io::Error::other(gone)));
        Ok((Self { _running: running }, handle.map_err(|cause| EventsError::Thread { cause })?))
    }
}
