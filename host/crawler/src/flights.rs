//! What is in flight: a task for each visit, and who of them is being served.
//!
//! Decision: `concurrency` bounds visits that are served. One that waits for a slow site leaves that count until its site
//! answers; the number of all of them is bounded by `max-sockets`.

use crate::line::Line;
use crate::pace::{Pace, Speed};
use crate::visit::{Visit, VisitEnd};
use crate::walk::walk;
use nephila_model::{Lease, RequestId, SiteId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};

/// Which request is in flight, and the right to decide about it.
#[derive(Debug, Clone, Copy)]
pub struct Flight {
    /// The request.
    pub request: RequestId,
    /// Its site.
    pub site: SiteId,
    /// The lease on its site's shard.
    pub lease: Lease,
    /// When this leg of it began.
    pub began: Instant,
    number: u64,
}

/// Something that happened in flight.
pub enum FlightEvent {
    /// A visit's walk has ended.
    Ended(Flight, Result<VisitEnd, JoinError>),
    /// A visit has left the count, or come back.
    Pace,
}

/// All that is in flight.
pub struct Flights {
    walks: JoinSet<VisitEnd>,
    flights: HashMap<Id, Flight>,
    slow: HashSet<u64>,
    launched: u64,
    sender: mpsc::UnboundedSender<(u64, Speed)>,
    news: mpsc::UnboundedReceiver<(u64, Speed)>,
}

impl Flights {
    /// Nothing yet.
    pub fn new() -> Self {
        let (sender, news) = mpsc::unbounded_channel();
        Self { walks: JoinSet::new(), flights: HashMap::new(), slow: HashSet::new(), launched: 0, sender, news }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.walks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.walks.is_empty()
    }

    /// How many of them are being served.
    pub fn served(&self) -> usize {
        self.walks.len() - self.slow.len().min(self.walks.len())
    }

    /// Lets a visit walk.
    pub fn launch(&mut self, line: &Arc<Line>, visit: Box<Visit>) {
        self.launched += 1;
        let request = &visit.claim.request;
        let flight = Flight {
            request: request.id,
            site: request.site,
            lease: visit.claim.lease,
            began: Instant::now(),
            number: self.launched,
        };
        let pace = Pace::new(flight.number, self.sender.clone());
        let task = self.walks.spawn(walk(Arc::clone(line), visit, pace));
        self.flights.insert(task.id(), flight);
    }

    /// Waits until something happens; for ever if nothing is in flight.
    pub async fn next(&mut self) -> FlightEvent {
        loop {
            tokio::select! {
                Some((number, speed)) = self.news.recv() => {
                    self.note(number, &speed);
                    return FlightEvent::Pace;
                }
                Some(ended) = self.walks.join_next_with_id() => {
                    if let Some(event) = self.ended(ended) {
                        return event;
                    }
                }
            }
        }
    }

    /// Something that has happened already.
    pub fn try_next(&mut self) -> Option<FlightEvent> {
        loop {
            let ended = self.walks.try_join_next_with_id()?;
            if let Some(event) = self.ended(ended) {
                return Some(event);
            }
        }
    }

    /// Ends all walks where they are.
    pub fn abort_all(&mut self) {
        self.walks.abort_all();
    }

    fn note(&mut self, number: u64, speed: &Speed) {
        match speed {
            // It may have landed while the news was on its way.
            Speed::Slow if self.flights.values().any(|flight| flight.number == number) => self.slow.insert(number),
            Speed::Slow => false,
            Speed::Served => self.slow.remove(&number),
        };
    }

    fn ended(&mut self, ended: Result<(Id, VisitEnd), JoinError>) -> Option<FlightEvent> {
        let (task, end) = match ended {
            Ok((task, end)) => (task, Ok(end)),
            Err(error) => (error.id(), Err(error)),
        };
        let flight = self.flights.remove(&task)?;
        self.slow.remove(&flight.number);
        Some(FlightEvent::Ended(flight, end))
    }
}
