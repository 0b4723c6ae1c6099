//! How a walk says that its site is slow, or has answered.

use tokio::sync::mpsc;

/// How fast a visit's site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// It has not answered for a while.
    Slow,
    /// It has answered.
    Served,
}

/// A walk's line to whoever counts.
#[derive(Debug)]
pub struct Pace {
    flight: u64,
    news: mpsc::UnboundedSender<(u64, Speed)>,
}

impl Pace {
    /// For the flight of this number.
    pub fn new(flight: u64, news: mpsc::UnboundedSender<(u64, Speed)>) -> Self {
        Self { flight, news }
    }

    /// Says it. Nobody listens any more once the crawl has ended, and then it does not matter.
    pub fn say(&self, speed: Speed) {
        let _ = self.news.send((self.flight, speed));
    }
}
