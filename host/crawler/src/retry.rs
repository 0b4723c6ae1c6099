//! Whether a failed attempt is tried again, and when.
//!
//! Decision: waiting is a time on the row, exponential with jitter, so that no worker sleeps and pages that failed together do not
//! come back together. The jitter is a hash of the request and its try, so that a run can be repeated in tests.

use crate::settings::CrawlSettings;
use nephila_model::{QueuedRequest, RequestId, Timestamp};
use std::time::Duration;

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// It may: the network, a time-out, an overloaded server, a handler that asked for it.
    Transient,
    /// It will not.
    Permanent,
}

impl Chance {
    /// Of a status that the request does not accept. As in Crawlee and Scrapy, a server's errors and 408, 425 and 429 are transient, and
    /// other refusals are not.
    pub const fn of_status(status: u16) -> Self {
        match status {
            408 | 425 | 429 | 500..=599 => Self::Transient,
            _ => Self::Permanent,
        }
    }
}

/// Retries at most, whatever a request asks for, unless the crawl's own setting is more.
const MOST_RETRIES: u32 = 100;

/// When the next attempt may start; `None` if this one was the last.
pub fn next_attempt(request: &QueuedRequest, chance: Chance, settings: &CrawlSettings, now: Timestamp) -> Option<Timestamp> {
    let most = request.spec.max_retries.map_or(settings.max_retries, |asked| asked.min(MOST_RETRIES.max(settings.max_retries)));
    let again = chance == Chance::Transient && request.retry_count < most;
    again.then(|| now.plus(back_off(request.id, request.retry_count, settings)))
}

/// When a request that is tried with another session may start, where the site says that it is asked too much.
pub fn next_rotation(request: &QueuedRequest, settings: &CrawlSettings, now: Timestamp) -> Timestamp {
    now.plus(back_off(request.id, request.spec.session_rotations, settings))
}

/// When a request that the machine had no memory for may start.
pub fn next_room(request: &QueuedRequest, settings: &CrawlSettings, now: Timestamp) -> Timestamp {
    now.plus(back_off(request.id, request.spec.starvations / 4, settings))
}

// Between one and one and a half times the exponential delay, and never beyond the greatest one.
fn back_off(id: RequestId, retries: u32, settings: &CrawlSettings) -> Duration {
    let doubled = settings.retry_delay.checked_mul(1 << retries.min(30)).unwrap_or(settings.max_retry_delay);
    let share = mix(id.0.unsigned_abs() ^ (u64::from(retries) << 48)) % 1_000;
    // Near the bound jitter shortens, since it must not vanish: pages that failed together would come back together.
    let longest = settings.max_retry_delay.mul_f64(1.0 / 1.5);
    let delay = doubled.min(longest);
    delay + delay.mul_f64(share as f64 / 2_000.0)
}

// The finaliser of splitmix64: near ids give far numbers.
const fn mix(seed: u64) -> u64 {
    let a = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ (c >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_with_jitter_up_to_its_bound() {
        let settings = CrawlSettings::default();
        for (retries, least) in [(0, 1.0), (1, 2.0), (2, 4.0), (9, 40.0), (u32::MAX, 40.0)] {
            for id in 0..200 {
                let delay = back_off(RequestId(id), retries, &settings).as_secs_f64();
                assert!((least - 1e-6..=least * 1.5).contains(&delay), "{retries} {delay}");
            }
        }
        let spread: std::collections::HashSet<_> = (0..200).map(|id| back_off(RequestId(id), 0, &settings)).collect();
        assert!(spread.len() > 100);
    }

    #[test]
    fn statuses_that_may_heal_are_tried_again() {
        for status in [408, 429, 500, 503, 522] {
            assert_eq!(Chance::of_status(status), Chance::Transient);
        }
        for status in [304, 400, 401, 403, 404, 410, 451] {
            assert_eq!(Chance::of_status(status), Chance::Permanent);
        }
    }
}
