//! Events on their way to the plugin's listener, beside the pages.
//!
//! Decision: a task of its own owns the listener, so that a slow or crashing one delays no page. What plugins emit comes from the store, one
//! event after another, each until its outcome is committed (exactly once with effect); the host's own events come from the event
//! manager and pass: its queue gives way for a listener that is behind. What outcomes bring for the queue goes to the run loop as news.
//! After a crash the first event of the store is a suspect, as pages are (S10): it is heard behind a durable mark while nothing else is.

mod hearing;
mod outcome;

use self::hearing::Hearing;
use crate::line::Line;
use nephila_events::Event;
use nephila_model::{Applied, EventId, Lease};
use nephila_store::{LeftBehind, StoreError};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// News that wait for the run loop at most.
const NEWS: usize = 16;

/// What the run loop is told.
#[derive(Debug)]
pub enum News {
    /// An outcome was committed.
    Applied {
        /// What the store did.
        applied: Box<Applied>,
        /// The reason for which the listener stops the crawl, if it does.
        stop: Option<String>,
    },
    /// Another process owns the crawl now.
    Stale,
    /// The store failed.
    Lost(Arc<StoreError>),
    /// The task has ended by itself. Told once.
    Gone,
}

/// What the task is told.
enum Order {
    /// Events wait in the store.
    Emitted,
    /// These are the last events; to be answered when they were heard.
    Last(Vec<Event>, oneshot::Sender<()>),
}

/// The run loop's side of it.
pub struct Listening {
    line: Arc<Line>,
    orders: mpsc::Sender<Order>,
    news: mpsc::Receiver<News>,
    task: JoinHandle<()>,
    at_work: watch::Receiver<AtWork>,
    pages: watch::Sender<Pages>,
    gone: Gone,
}

/// Whether the listener is at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtWork {
    Yes,
    No,
}

/// Whether there are pages still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    /// There are, or there may be by themselves.
    GoOn,
    /// There are none, unless the listener brings some.
    Done,
}

/// The task's side of what it shares with the run loop.
struct Sides {
    news: mpsc::Sender<News>,
    working: watch::Sender<AtWork>,
    pages: watch::Receiver<Pages>,
}

/// Whether it was told that the task has ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    Untold,
    Told,
}

impl Listening {
    /// Listens from the first nudge on: a crawl that has nothing to do any more has nothing to tell.
    pub fn start(line: &Arc<Line>, lease: Lease, left: LeftBehind) -> Self {
        let (orders, ordered) = mpsc::channel(1);
        let (told, news) = mpsc::channel(NEWS);
        let (working, at_work) = watch::channel(AtWork::No);
        let (pages, still) = watch::channel(Pages::GoOn);
        let hearing = Hearing::new(Arc::clone(line), lease, left, Sides { news: told, working, pages: still });
        let task = tokio::spawn(hearing.run(ordered));
        Self { line: Arc::clone(line), orders, news, task, at_work, pages, gone: Gone::Untold }
    }

    /// There are pages to be done.
    pub fn pages_go_on(&self) {
        self.pages.send_if_modified(|pages| std::mem::replace(pages, Pages::GoOn) != Pages::GoOn);
    }

    /// There are none any more, unless the listener brings some: from here on it hears no more of how the system and the crawl stand,
    /// which would go on for ever.
    pub fn pages_are_done(&self) {
        self.pages.send_replace(Pages::Done);
    }

    /// The crawl has begun to work, or events were emitted and are committed.
    pub fn nudge(&self) {
        // If there is no room, it has been nudged and has not looked yet.
        let _ = self.orders.try_send(Order::Emitted);
    }

    /// Whether it is at an event, or one waits in the store: then there will be news.
    pub async fn is_at_work(&self) -> Result<bool, StoreError> {
        if *self.at_work.borrow() == AtWork::Yes {
            return Ok(true);
        }
        let waits = !self.line.store.events(self.line.crawl, EventId(0), 1).await?.is_empty();
        if waits {
            self.nudge();
        }
        // One that was begun in between has left the store, perhaps, and may have brought something.
        Ok(waits || *self.at_work.borrow() == AtWork::Yes)
    }

    /// Waits for news.
    pub async fn next(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            None if self.gone == Gone::Told => std::future::pending().await,
            None => {
                self.gone = Gone::Told;
                News::Gone
            }
        }
    }

    /// Lets the listener hear the last events, and ends. One that is still at an earlier event when patience is over does not hear them.
    pub async fn end(&mut self, last: Vec<Event>, impatient: impl Future<Output = ()>) {
        let (done, heard) = oneshot::channel();
        let Self { orders, news, .. } = self;
        let ended = async {
            if orders.send(Order::Last(last, done)).await.is_ok() {
                let _ = heard.await;
            }
        };
        // News that nobody takes must not hold it.
        let thrown = async { while news.recv().await.is_some() {} };
        tokio::select! {
            _ = async { tokio::join!(ended, thrown) } => {}
            () = impatient => {
                let plugin = self.line.plugin.name();
                tracing::warn!(plugin, "the listener is still at an earlier event; it does not hear the end of the crawl");
            }
        }
        self.task.abort();
    }
}
