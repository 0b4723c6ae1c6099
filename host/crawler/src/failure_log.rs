//! A line of the log for each request that has failed for good.
//!
//! Decision: each is said, since nobody looks for what nobody mentions; but a site that answers nothing would write as many lines
//! as it has pages. So so many are said in a while, and of the others how many they were, with the way to see them all.

use nephila_model::FailureReason;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Lines in [`PERIOD`] at most.
const MOST: u32 = 100;

/// In which time they are counted.
const PERIOD: Duration = Duration::from_secs(10);

/// A request that has failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Its URL, as the store has it.
    pub url: Url,
    /// Why.
    pub reason: FailureReason,
    /// How often it was tried.
    pub attempts: u32,
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, reason, attempts } = self;
        let times = if *attempts == 1 { "attempt" } else { "attempts" };
        write!(f, "{url} failed after {attempts} {times} ({}: {})", reason.code.as_str(), reason.message)
    }
}

/// Says which requests have failed.
#[derive(Debug, Default)]
pub struct FailureLog(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    said: u32,
    left_out: u64,
}

impl FailureLog {
    /// This one has failed, and that is committed.
    pub fn note(&self, failed: &GivenUp) {
        let (is_said, left_out) = self.0.lock().unwrap_or_else(PoisonError::into_inner).admit(Instant::now());
        say_left_out(left_out);
        if is_said {
            let GivenUp { url, reason, attempts } = failed;
            // A message may be a web site's words, and what stands in a terminal is ours.
            let error = reason.message.replace(char::is_control, " ");
            tracing::warn!(%url, code = reason.code.as_str(), attempts, %error, "a request failed");
        }
    }

    /// No more will fail.
    pub fn end(&self) {
        say_left_out(std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).left_out));
    }
}

impl Window {
    // Whether one more is said now, and how many were left out that are to be mentioned before it.
    fn admit(&mut self, now: Instant) -> (bool, u64) {
        let mut left_out = 0;
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= PERIOD) {
            left_out = self.left_out;
            *self = Self { began: Some(now), said: 0, left_out: 0 };
        }
        let is_said = self.said < MOST;
        if is_said {
            self.said += 1;
        } else {
            self.left_out += 1;
        }
        (is_said, left_out)
    }
}

fn say_left_out(requests: u64) {
    if requests > 0 {
        tracing::warn!(
            requests,
            "more requests failed than are said one by one; `nephila status DIR --failed` lists all of a job"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_said_in_a_while_and_the_others_are_counted_once() {
        let (mut window, start) = (Window::default(), Instant::now());
        let said = (0..MOST + 7).filter(|_| window.admit(start).0).count();
        assert_eq!((said, window.left_out), (MOST as usize, 7));
        assert_eq!(window.admit(start + PERIOD / 2), (false, 0));
        assert_eq!(window.admit(start + PERIOD), (true, 8));
        assert_eq!(window.admit(start + PERIOD), (true, 0), "they were mentioned");
    }
}
