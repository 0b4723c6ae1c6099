//! What the run loop takes in: where visits have landed, and what the listener brings.

use super::{Flight, Run};
use crate::landing::{CameTo, Landing};
use crate::listening::News;
use crate::report::FinishReason;
use nephila_model::Applied;
use nephila_store::InHand;

impl Run {
    pub(super) fn take_landing(&mut self, flight: &Flight, landing: Landing) {
        match landing {
            Landing::Committed { applied, came_to, stop } => {
                self.pool.landed();
                match came_to {
                    CameTo::Handled => {
                        self.ended += 1;
                        self.pool.completed(flight.began.elapsed());
                    }
                    CameTo::Failed(failed) => self.take_failure(&failed),
                    CameTo::Retry(not_before) => self.frontier.note_retry(flight.site, not_before),
                    CameTo::Starved { not_before, starved } => {
                        self.frontier.note_retry(flight.site, not_before);
                        if starved.is_the_end(self.flights.len()) {
                            self.end(FinishReason::NoMemory(starved.cause));
                        }
                    }
                    CameTo::SetAside | CameTo::Moved => {}
                }
                self.take_applied(*applied);
                if let Some(reason) = stop {
                    self.end(FinishReason::StoppedByPlugin(reason));
                }
                self.look_at_limits();
            }
            Landing::Deferred => {
                // It may have ended its session, which is told.
                self.listening.nudge();
                self.in_hand = InHand::Dropped;
                self.look_at_limits();
            }
            Landing::Dropped => {}
            Landing::Stale => self.end(FinishReason::TakenOver),
            Landing::Lost(error) => {
                self.in_hand = InHand::Dropped;
                self.end(FinishReason::StoreFailed(error.to_string()));
            }
        }
    }

    pub(super) fn take_applied(&mut self, mut applied: Applied) {
        self.items += applied.default_items;
        if applied.items > 0 {
            self.items_sender.send_modify(|items| *items += applied.items);
        }
        if applied.events > 0 {
            self.listening.nudge();
        }
        if let Some(sessions) = &self.line.sessions {
            sessions.adopt(std::mem::take(&mut applied.sessions));
        }
        self.frontier.take_in(applied);
    }

    pub(super) fn take_news(&mut self, news: News) {
        match news {
            News::Applied { applied, stop } => {
                self.take_applied(*applied);
                if let Some(reason) = stop {
                    self.end(FinishReason::StoppedByPlugin(reason));
                }
                self.look_at_limits();
            }
            // The loop looks again whether it is at rest.
            News::Idle => {}
            News::Stale => self.end(FinishReason::TakenOver),
            News::Lost(error) => self.end(FinishReason::StoreFailed(error.to_string())),
            News::Gone => {
                let gone = "what hears events has ended before the crawl; this is a defect, please report it";
                self.end(FinishReason::StoreFailed(gone.to_owned()));
            }
        }
    }
}
