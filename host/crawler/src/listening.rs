//! Events on their way to the listeners of the crawl's plugins, beside the pages.
//!
//! Decision: a task of its own owns the listener, so that a slow or crashing one delays no page. What plugins emit comes from the
//! store, one event after another, each until its outcome is committed (exactly once with effect); the host's own events come
//! from the event manager and pass: its queue gives way for a listener that is behind. What outcomes bring for the queue goes to
//! the run loop as news. After a crash the first event of the store is a suspect, as pages are (S10): it is heard behind a
//! durable mark while nothing else is.

mod hearers;
mod hearing;
mod outcome;
mod wants;

use self::hearing::Hearing;
use crate::line::Line;
use nephila_events::{Event, Subscription};
use nephila_model::{Applied, EventId, Lease};
use nephila_store::{LeftBehind, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// News that wait for the run loop at most.
const NEWS: usize = 16;

/// How long an event is on its way from the event manager to a listener that is idle, and how often that is looked at.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How long an idle task takes to answer.
const ANSWER: Duration = Duration::from_millis(100);

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
    /// There is nothing to hear at the moment.
    Idle,
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
    /// Nothing is to be heard until the next order; to be answered when that is so. Whoever waits no longer for the answer has
    /// not said it.
    Hold(oneshot::Sender<()>),
    /// These are the last events; to be answered when they were heard.
    Last(Vec<Event>, Late, oneshot::Sender<()>),
}

/// What becomes of the requests and events that a listener brings on what it hears before the last events, when the crawl's
/// reason to end stands already. On the last ones they are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// They wait for the next start.
    Kept,
    /// They are left out: the crawl is over for good.
    LeftOut,
}

/// What the run loop sees of the task.
#[derive(Debug, Clone)]
struct Doing {
    at_work: AtWork,
    /// What it has registered with the event manager.
    registered: Option<Subscription>,
}

/// What is before the listener of a crawl that has nothing else to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// Nothing.
    Nothing,
    /// It is at an event, or one waits in the store or is on its way from the event manager: there will be news.
    News,
    /// Events of the store that it does not hear any more, because the host is at fault. The next start has it hear them.
    NextStart,
}

/// The run loop's side of it.
pub struct Listening {
    line: Arc<Line>,
    orders: mpsc::Sender<Order>,
    news: mpsc::Receiver<News>,
    task: JoinHandle<()>,
    pages: watch::Sender<Pages>,
    doing: watch::Receiver<Doing>,
    gone: Gone,
}

/// Whether the listener is at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AtWork {
    Yes,
    No,
    /// It hears nothing any more, because the host is at fault. Events of the store stay there.
    Never,
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
    working: watch::Sender<Doing>,
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
        let (working, doing) = watch::channel(Doing { at_work: AtWork::No, registered: None });
        let (pages, still) = watch::channel(Pages::GoOn);
        let hearing = Hearing::new(Arc::clone(line), lease, left, Sides { news: told, working, pages: still });
        let task = tokio::spawn(hearing.run(ordered));
        Self { line: Arc::clone(line), orders, news, task, pages, doing, gone: Gone::Untold }
    }

    /// There are pages to be done.
    pub fn pages_go_on(&self) {
        self.pages.send_if_modified(|pages| std::mem::replace(pages, Pages::GoOn) != Pages::GoOn);
    }

    /// There are none any more, unless the listener brings some: from here on it hears no more of how the system and the crawl
    /// stand, which would go on for ever.
    pub fn pages_are_done(&self) {
        self.pages.send_replace(Pages::Done);
    }

    /// The crawl has begun to work, or events were emitted and are committed.
    pub fn nudge(&self) {
        // If there is no room, it has been nudged and has not looked yet.
        let _ = self.orders.try_send(Order::Emitted);
    }

    /// What is before it.
    pub async fn ahead(&mut self) -> Result<Ahead, StoreError> {
        // What it does from here on is news.
        self.doing.mark_unchanged();
        let began = Instant::now();
        while self.is_on_its_way() && began.elapsed() < ON_ITS_WAY {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        if self.at_work() == AtWork::Yes || self.is_on_its_way() {
            return Ok(Ahead::News);
        }
        let waits = self.has_stored().await?;
        if self.at_work() == AtWork::Never {
            return Ok(if waits { Ahead::NextStart } else { Ahead::Nothing });
        }
        if waits {
            self.nudge();
        }
        // One that was begun in between has left the store, perhaps, and may have brought something.
        Ok(if waits || self.at_work() == AtWork::Yes { Ahead::News } else { Ahead::Nothing })
    }

    /// Whether an event of the store waits to be heard.
    pub async fn has_stored(&self) -> Result<bool, StoreError> {
        Ok(!self.line.store.events(self.line.crawl, EventId(0), 1).await?.is_empty())
    }

    /// Has it hear nothing until it is nudged or ended. `false` if it is at an event; then nothing has changed.
    pub async fn hold(&self) -> bool {
        let (done, mut held) = oneshot::channel();
        let answered = async {
            if self.orders.send(Order::Hold(done)).await.is_ok() {
                // An error means that it has ended.
                let _ = (&mut held).await;
            }
        };
        tokio::time::timeout(ANSWER, answered).await.is_ok() || is_said_late(held)
    }

    // Whether the event manager has something for it that it is not at yet.
    fn is_on_its_way(&self) -> bool {
        let doing = self.doing.borrow();
        let stats = doing.registered.as_ref().map(Subscription::stats).unwrap_or_default();
        doing.at_work == AtWork::No && stats.waiting + stats.handling > 0
    }

    fn at_work(&self) -> AtWork {
        self.doing.borrow().at_work
    }

    /// Waits for news.
    pub async fn next(&mut self) -> News {
        let Self { news, doing, gone, .. } = self;
        let idle = async {
            // An error means that the task has ended, which the other end tells.
            while doing.changed().await.is_ok() {
                if doing.borrow_and_update().at_work != AtWork::Yes {
                    return;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            told = news.recv() => match told {
                Some(news) => news,
                None if *gone == Gone::Told => std::future::pending().await,
                None => {
                    *gone = Gone::Told;
                    News::Gone
                }
            },
            () = idle => News::Idle,
        }
    }

    /// Lets the listener hear the last events, and ends. One that is still at an earlier event when patience is over does not
    /// hear them.
    pub async fn end(&mut self, last: Vec<Event>, late: Late, impatient: impl Future<Output = ()>) {
        let (done, heard) = oneshot::channel();
        let Self { orders, news, .. } = self;
        let ended = async {
            if orders.send(Order::Last(last, late, done)).await.is_ok() {
                let _ = heard.await;
            }
        };
        // News that nobody takes must not hold it.
        let thrown = async { while news.recv().await.is_some() {} };
        tokio::select! {
            _ = async { tokio::join!(ended, thrown) } => {}
            () = impatient => {
                if let Some(first) = self.line.listeners.first()
                    && self.at_work() == AtWork::Yes
                {
                    let (plugin, listeners) = (first.plugin.name(), self.line.listeners.len());
                    tracing::warn!(plugin, listeners, "the listener is still at an event; the crawl ends without it");
                }
            }
        }
        self.task.abort();
    }
}

// An answer may come in the very moment in which nobody waits any more, and it holds. From here on there can be none.
fn is_said_late(mut held: oneshot::Receiver<()>) -> bool {
    held.close();
    held.try_recv().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_last_moment_holds_and_none_comes_after_it() {
        let (done, held) = oneshot::channel();
        done.send(()).expect("somebody waits");
        assert!(is_said_late(held));
        let (done, held) = oneshot::channel();
        assert!(!is_said_late(held));
        assert!(done.send(()).is_err(), "whoever answers learns that it counts for nothing");
    }
}
