//! What is decided about a visit, before it is committed.

use crate::failure_log::GivenUp;
use crate::hardship::Starved;
use crate::landing::CameTo;
use crate::visit::Visit;
use nephila_model::{Effects, FailureReason, StatsDelta, UseMark, Verdict};
use nephila_session::{TOO_MANY_REQUESTS, UseAsk};

/// The verdict, and what goes with it.
pub struct Decision {
    pub verdict: Verdict,
    pub effects: Effects,
    pub stats: StatsDelta,
    pub ask: UseAsk,
    pub starved: Option<Starved>,
}

impl Decision {
    pub fn of(verdict: Verdict, effects: Effects, stats: StatsDelta, ask: UseAsk) -> Self {
        Self { verdict, effects, stats, ask, starved: None }
    }

    pub fn bare(verdict: Verdict) -> Self {
        Self::of(verdict, Effects::default(), StatsDelta::default(), UseAsk::default())
    }

    // How the attempt's session did, unless the plugin says so.
    pub fn mark(&self) -> UseMark {
        match &self.verdict {
            // It is the crawl that asks too much, and no session is the worse for it.
            Verdict::Retry { reason, .. } | Verdict::Failed { reason, .. } if is_too_much(reason) => UseMark::Neither,
            Verdict::Handled { .. } => UseMark::Good,
            Verdict::Retry { .. } | Verdict::Failed { .. } => UseMark::Bad,
            Verdict::Skipped { .. } | Verdict::Moved { .. } => UseMark::Neither,
        }
    }

    pub fn comes_to(&self, visit: &Visit) -> CameTo {
        let request = &visit.claim.request;
        match &self.verdict {
            Verdict::Moved { not_before: Some(at), .. } => match &self.starved {
                Some(starved) => CameTo::Starved { not_before: *at, starved: starved.clone() },
                None => CameTo::Retry(*at),
            },
            Verdict::Handled { .. } => CameTo::Handled,
            Verdict::Failed { reason, .. } => {
                let (url, reason, attempts) = (request.url.clone(), reason.clone(), request.retry_count + 1);
                CameTo::Failed(Box::new(GivenUp { url, reason, attempts }))
            }
            Verdict::Skipped { .. } => CameTo::SetAside,
            Verdict::Moved { .. } => CameTo::Moved,
            Verdict::Retry { not_before, .. } => CameTo::Retry(*not_before),
        }
    }
}

/// Whether a site was asked too much.
pub fn is_too_much(reason: &FailureReason) -> bool {
    reason.status == Some(TOO_MANY_REQUESTS)
}
