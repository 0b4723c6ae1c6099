//! How a crawl is told to stop, and how it says where it stands.

use nephila_model::Statistics;
use nephila_store::Counts;
use std::time::Duration;
use tokio::sync::watch;

/// How urgently a crawl is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum StopLevel {
    /// Not at all.
    #[default]
    Run,
    /// Finish the pages in hand, for at most the grace.
    Graceful,
    /// At once. What was committed is kept.
    Now,
}

/// What a crawl has been told about stopping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopOrder {
    /// How urgent it is.
    pub level: StopLevel,
    /// What failed outside the crawl, if that is why; otherwise a signal is.
    pub failure: Option<String>,
    /// The first signal, if one came.
    pub signal: Option<Signal>,
}

/// A signal of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C, SIGINT.
    Interrupt,
    /// SIGTERM: what supervisors and clouds send.
    Terminate,
}

/// Tells a crawl to stop.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<StopOrder>);

impl Stopper {
    /// A stopper, and what the crawl listens to.
    #[must_use]
    pub fn new() -> (Self, watch::Receiver<StopOrder>) {
        let (sender, receiver) = watch::channel(StopOrder::default());
        (Self(sender), receiver)
    }

    /// Asks for a stop, unless a more urgent one was asked for.
    pub fn stop(&self, level: StopLevel) {
        self.order(level, None, None);
    }

    /// The same, because of a signal.
    pub fn stop_by(&self, signal: Signal, level: StopLevel) {
        self.order(level, None, Some(signal));
    }

    /// Asks for a graceful stop because something that the crawl needs has failed.
    pub fn fail(&self, failure: String) {
        self.order(StopLevel::Graceful, Some(failure), None);
    }

    fn order(&self, level: StopLevel, failure: Option<String>, signal: Option<Signal>) {
        self.0.send_if_modified(|current| {
            let news = level > current.level || (failure.is_some() && current.failure.is_none());
            current.level = current.level.max(level);
            current.failure = current.failure.take().or(failure);
            current.signal = current.signal.or(signal);
            news
        });
    }
}

/// Ready when whoever asked for a stop waits no longer: the grace after the first order is over, or there was a second one.
/// Never, if nobody asks.
pub async fn out_of_patience(mut stop: watch::Receiver<StopOrder>, grace: Duration) {
    // An error means that nobody can ask any more.
    if stop.wait_for(|order| order.level >= StopLevel::Graceful).await.is_err() {
        std::future::pending::<()>().await;
    }
    let now = async {
        if stop.wait_for(|order| order.level >= StopLevel::Now).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = now => {}
        () = tokio::time::sleep(grace) => {}
    }
}

/// Where a crawl stands, about once a second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Requests by state, as of the last commit.
    pub counts: Counts,
    /// Counters, as of the last commit.
    pub statistics: Statistics,
    /// Requests in flight.
    pub in_flight: usize,
    /// How long this start has run.
    pub elapsed: Duration,
    /// Requests finished per second, over the last few seconds.
    pub per_second: f64,
    /// What the plugin says.
    pub message: Option<String>,
}
