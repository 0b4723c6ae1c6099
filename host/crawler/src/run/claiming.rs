//! What may begin now, and what of it is begun.
//!
//! Decision: a claim is a free slot and nothing that forbids it; both are asked anew each time round the loop. While nothing new
//! may be claimed because others must get on first, what is in flight already and waits for its site is claimed all the same, or
//! it would be waited for for ever.

use super::Run;
use crate::session_desk::SessionDesk;
use crate::site_queue::Next;
use crate::visit::{Suspicion, Visit};
use nephila_autoscale::Demand;
use nephila_model::{RequestId, Step};
use nephila_store::StoreError;
use std::time::Instant;

impl Run {
    // Whether there is room in flight, and nothing else forbids a claim.
    pub(super) fn may_claim(&self) -> bool {
        let settings = &self.line.settings;
        let has_room = self.flights.served() < self.pool.concurrency()
            && self.flights.len() < settings.max_sockets.max(settings.concurrency);
        // While an end is near, only what is in flight already is claimed again.
        let reserved = settings.max_requests.is_some_and(|most| self.ended + self.flights.len() as u64 >= most);
        // The suspects come first, alone: a page that kills the host must not hide among those behind them.
        has_room && (self.ending.is_some() || !(reserved || self.awaits_suspects()))
    }

    // When something may be claimed that may not be now.
    pub(super) fn next_claim(&mut self) -> Option<Instant> {
        let rate = self.pool.wait(Instant::now());
        // What is ready and was not claimed is held back by the tasks that a minute may have.
        if rate.is_some() && self.frontier.has_ready() {
            rate
        } else {
            self.frontier.next_event().map(|at| rate.map_or(at, |rate| at.max(rate)))
        }
    }

    fn awaits_suspects(&self) -> bool {
        self.suspects_left == 0 && !self.suspects_out.is_empty()
    }

    // Whether nothing new may be claimed before some of what is in flight has got on: those that wait for a session that one of
    // them has, or suspects. What waits for its site must be claimed again then, room or not; it had its room when it began.
    pub(super) fn others_wait_for_some(&self) -> bool {
        self.awaits_suspects() || self.line.sessions.as_ref().is_some_and(SessionDesk::has_waiting)
    }

    pub(super) async fn start_visits(&mut self) -> Result<(), StoreError> {
        let began = Instant::now();
        let started = self.start_what_may_be().await;
        let is_full = self.ending.is_none() && self.flights.served() >= self.pool.concurrency();
        let demand = if is_full && self.frontier.has_ready() { Demand::HeldBack } else { Demand::Met };
        self.pool.note(Instant::now(), self.flights.served(), demand);
        self.line.profile.since(Step::Claim, began);
        started
    }

    async fn start_what_may_be(&mut self) -> Result<(), StoreError> {
        self.frontier.refill().await?;
        while self.may_claim() {
            let now = Instant::now();
            if self.pool.wait(now).is_some() {
                break;
            }
            let Some(turn) = self.frontier.claim() else { break };
            let visit = match turn.next {
                Next::Continued(visit) => visit,
                Next::Queued(request) => {
                    let suspicion = self.suspicion(request.id);
                    self.claims += 1;
                    // A task is a request: its redirects and its waits for its site are part of it.
                    self.pool.begin(now);
                    if self.claims == 1 {
                        self.listening.nudge();
                    }
                    let claim = self.frontier.claim_of(request, &turn.key);
                    Box::new(Visit::begin(claim, turn.key, suspicion, self.line.plugin()))
                }
            };
            self.flights.launch(&self.line, visit);
            // The window may have run dry in between.
            self.frontier.refill().await?;
        }
        while !self.may_claim() && self.others_wait_for_some() {
            let Some(turn) = self.frontier.claim_continued() else { break };
            if let Next::Continued(visit) = turn.next {
                self.flights.launch(&self.line, visit);
            }
        }
        Ok(())
    }

    fn suspicion(&mut self, request: RequestId) -> Suspicion {
        if self.suspects_left == 0 {
            return Suspicion::None;
        }
        self.suspects_left -= 1;
        self.suspects_out.insert(request);
        Suspicion::Suspect
    }
}

// Then something else may be claimed than before.
pub(super) async fn wait_for_session_began(sessions: Option<&SessionDesk>) {
    match sessions {
        Some(sessions) => sessions.wait_began().await,
        None => std::future::pending().await,
    }
}
