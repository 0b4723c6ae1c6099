//! A thread that owns a connection and runs what it is sent, one after another.
//!
//! Decision: SQLite blocks, and a connection is used by one thread at a time; so each has a thread of its own, fed by a channel, and the
//! tasks of the asynchronous side wait for an answer without holding a worker of the runtime. What it costs: one hop between threads
//! per call (some microseconds). The channel needs no bound: it holds one task per waiting caller. A caller that goes
//! away does not undo its task.

use super::desk::Desk;
use super::trouble::Done;
use crate::StoreError;
use std::sync::mpsc::{self, RecvError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

enum Message {
    Work(Box<dyn FnOnce(&mut Desk) + Send>),
    Close(oneshot::Sender<Done<()>>),
}

// While nobody asks for anything, the desk's chore is done piece by piece.
fn next(receiver: &mpsc::Receiver<Message>, desk: &mut Desk) -> Result<Message, RecvError> {
    while desk.has_chore() {
        match receiver.try_recv() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Empty) => desk.do_chore(),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
        }
    }
    receiver.recv()
}

/// The asynchronous side of a [`Desk`].
pub(crate) struct Worker {
    sender: Mutex<Option<mpsc::Sender<Message>>>,
    thread: Option<JoinHandle<()>>,
    what: Arc<str>,
}

impl Worker {
    /// `what` is the file, for messages.
    pub(crate) fn start(name: &str, what: Arc<str>, mut desk: Desk) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let run = move || {
            while let Ok(message) = next(&receiver, &mut desk) {
                match message {
                    Message::Work(work) => work(&mut desk),
                    Message::Close(reply) => {
                        drop(reply.send(desk.close()));
                        return;
                    }
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("nephila-{name}"))
            .spawn(run)
            .map_err(|cause| StoreError::Engine { action: "start a thread", cause: cause.to_string() })?;
        Ok(Self { sender: Mutex::new(Some(sender)), thread: Some(thread), what })
    }

    /// Runs `work` on the thread and gives its answer. `action` is for messages: the store failed to …
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        action: &'static str,
        work: impl FnOnce(&mut Desk) -> Done<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let task = move |desk: &mut Desk| drop(reply.send(work(desk)));
        match self.sender.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(sender) => sender.send(Message::Work(Box::new(task))).map_err(|_| StoreError::Closed)?,
            None => return Err(StoreError::Closed),
        }
        let done = answer.await.map_err(|_| StoreError::Closed)?;
        done.map_err(|trouble| trouble.into_error(action, &self.what))
    }

    /// Whether it takes no more calls.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Closes the connection after what was sent before. Calls from here on fail; a second close does nothing.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let Some(sender) = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        let (reply, answer) = oneshot::channel();
        sender.send(Message::Close(reply)).map_err(|_| StoreError::Closed)?;
        let done = answer.await.map_err(|_| StoreError::Closed)?;
        done.map_err(|trouble| trouble.into_error("close the job", &self.what))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The connection is gone before the job's lock is: both are dropped in this order.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
