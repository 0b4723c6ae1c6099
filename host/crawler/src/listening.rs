//! Events on their way to the plugin's listener, beside the pages.
//!
//! Decision: a task of its own owns the listener, so that a slow or crashing one delays no page. What plugins emit comes from the store, one
//! event after another, each until its outcome is committed (exactly once with effect); the host's own events come from the event
//! manager and pass: its queue gives way for a listener that is behind. What outcomes bring for the queue goes to the run loop as news.

mod hearing;

use self::hearing::Hearing;
use crate::line::Line;
use nephila_events::Event;
use nephila_model::{Applied, EventId, Lease};
use nephila_store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
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
}

impl Listening {
    /// Listens from now on, to what an earlier start has left in the store first.
    pub fn start(line: &Arc<Line>, lease: Lease) -> Self {
        let (orders, ordered) = mpsc::channel(1);
        let (told, news) = mpsc::channel(NEWS);
        let hearing = Hearing::new(Arc::clone(line), lease, told);
        Self { line: Arc::clone(line), orders, news, task: tokio::spawn(hearing.run(ordered)) }
    }

    /// Events were emitted and are committed.
    pub fn nudge(&self) {
        // If there is no room, it has been nudged and has not looked yet.
        let _ = self.orders.try_send(Order::Emitted);
    }

    /// Whether events wait in the store.
    pub async fn has_waiting(&self) -> Result<bool, StoreError> {
        let waits = !self.line.store.events(self.line.crawl, EventId(0), 1).await?.is_empty();
        if waits {
            self.nudge();
        }
        Ok(waits)
    }

    /// Waits for news; for ever if there will be none.
    pub async fn next(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    /// Lets the listener hear the last events, and ends. Whoever is still at an earlier event after `patience` does not hear them.
    pub async fn end(mut self, last: Vec<Event>, patience: Duration) {
        let (done, heard) = oneshot::channel();
        let ended = async {
            if self.orders.send(Order::Last(last, done)).await.is_ok() {
                let _ = heard.await;
            }
        };
        // News that nobody takes must not hold it.
        let thrown = async { while self.news.recv().await.is_some() {} };
        let both = async { tokio::join!(ended, thrown) };
        if tokio::time::timeout(patience, both).await.is_err() {
            let plugin = self.line.plugin.name();
            tracing::warn!(plugin, ?patience, "the listener is still at an earlier event; it does not hear the end of the crawl");
        }
        self.task.abort();
    }
}
