//! Which sites have said of late that they are asked too much.
//!
//! Decision: a 429 may be meant for a session or for the crawl, and nothing in it tells which. So the first one counts against its session, and
//! for a while the others of its site do not: they are retried, later and later. A site that limits its visitors loses one session a minute;
//! one that is overloaded does not burn a pool by being asked at once with session after session (Crawlee's issue 2143).

use nephila_model::SiteKey;
use nephila_session::SiteState;
use nephila_session::TOO_MANY_REQUESTS;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long after a 429 that counted against a session, others of the same site count against nobody.
const WHILE: Duration = Duration::from_secs(60);

/// Sites that are remembered at most. Of more, some may lose a session too many.
const SITES: usize = 10_000;

/// The sites that have said so.
#[derive(Debug, Default)]
pub struct Throttling(Mutex<HashMap<SiteKey, Instant>>);

impl Throttling {
    /// How a site is asked, now that it has answered with this status: to be asked once for each answer.
    pub fn answered(&self, site: &SiteKey, status: u16, now: Instant) -> SiteState {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lasts = |began: &Instant| now.saturating_duration_since(*began) < WHILE;
        if since.get(site).is_some_and(lasts) {
            return SiteState::Throttled;
        }
        if status == TOO_MANY_REQUESTS {
            if since.len() >= SITES {
                since.retain(|_, began| lasts(began));
            }
            if since.len() < SITES {
                since.insert(site.clone(), now);
            }
        }
        SiteState::AsUsual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(name: &str) -> SiteKey {
        SiteKey::from_stored(name.to_owned())
    }

    #[test]
    fn of_a_sites_complaints_one_a_minute_is_about_a_session() {
        let (throttling, began) = (Throttling::default(), Instant::now());
        let ask = |name: &str, status, seconds| throttling.answered(&site(name), status, began + Duration::from_secs(seconds));
        assert_eq!(ask("a", 200, 0), SiteState::AsUsual);
        assert_eq!(ask("a", 429, 0), SiteState::AsUsual);
        for seconds in [0, 30, 59] {
            assert_eq!(ask("a", 429, seconds), SiteState::Throttled);
        }
        assert_eq!(ask("a", 403, 59), SiteState::Throttled);
        assert_eq!(ask("b", 429, 59), SiteState::AsUsual);
        assert_eq!(ask("a", 429, 60), SiteState::AsUsual);
        assert_eq!(ask("a", 429, 61), SiteState::Throttled);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (throttling, began) = (Throttling::default(), Instant::now());
        for number in 0..2 * SITES {
            throttling.answered(&site(&number.to_string()), 429, began);
        }
        assert_eq!(throttling.0.lock().expect("no panic").len(), SITES);
        throttling.answered(&site("later"), 429, began + WHILE);
        assert_eq!(throttling.0.lock().expect("no panic").len(), 1);
    }
}
