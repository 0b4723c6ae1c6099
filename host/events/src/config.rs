//! How the built-in manager behaves, and how the environment sets that.
//!
//! Decision: a variable that is set is meant, so that a value which cannot be used is an error, not the default. The Crawlee
//! names are aliases; where both are set, ours wins and the other one is not even read.

use crate::Sampler;
use std::fmt::{Debug, Display, Formatter};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Between the starts of two things that happen again and again: 1 ms to 2,147,483,647 ms (24 days, what a timer of JavaScript
/// takes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval(Duration);

impl Interval {
    /// The shortest and the longest, in milliseconds.
    pub const MILLIS: std::ops::RangeInclusive<u64> = 1..=2_147_483_647;

    /// So many milliseconds; `None` if that is too short or too long.
    #[must_use]
    pub fn from_millis(millis: u64) -> Option<Self> {
        Self::MILLIS.contains(&millis).then_some(Self(Duration::from_millis(millis)))
    }

    /// As a duration.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }
}

/// How [`crate::LocalEventManager`] behaves.
pub struct EventConfig {
    /// Between two `persistState`, from start to start. 60 s (Crawlee: `persist_state_interval`).
    pub persist_state_interval: Interval,
    /// Between two `systemInfo`, from start to start. 1 s (Crawlee: `system_info_interval`).
    pub system_info_interval: Interval,
    /// How long the next timed `persistState` waits for listeners that still work on the last one. 30 s. Shorter loses the
    /// guarantee that there is one at a time for slow listeners, longer lets one that hangs keep it from the others.
    pub persist_state_timeout: Duration,
    /// How long the last owner's close waits for listeners. 30 s, since one that hangs must not keep a process from ending
    /// (Crawlee: `close_timeout`, without an end by default). A late one is then ended where it awaits; a synchronous one is left
    /// to itself.
    pub close_timeout: Duration,
    /// Events that wait for one listener at most, those of which one is never lost apart. 1,024.
    pub queue_capacity: NonZeroUsize,
    /// Who measures the system. None: no `systemInfo` is emitted.
    pub sampler: Option<Box<dyn Sampler>>,
}

/// The interval between two `persistState`.
const PERSIST_STATE: Variables =
    Variables { ours: "NEPHILA_PERSIST_STATE_INTERVAL_MILLIS", crawlee: "CRAWLEE_PERSIST_STATE_INTERVAL_MILLIS" };

/// The interval between two `systemInfo`.
const SYSTEM_INFO: Variables =
    Variables { ours: "NEPHILA_SYSTEM_INFO_INTERVAL_MILLIS", crawlee: "CRAWLEE_SYSTEM_INFO_INTERVAL_MILLIS" };

const QUEUE_CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

impl Default for EventConfig {
    fn default() -> Self {
        Self {
            persist_state_interval: Interval(Duration::from_secs(60)),
            system_info_interval: Interval(Duration::from_secs(1)),
            persist_state_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(30),
            queue_capacity: QUEUE_CAPACITY,
            sampler: None,
        }
    }
}

impl EventConfig {
    /// The defaults, but for what the environment sets: `NEPHILA_PERSIST_STATE_INTERVAL_MILLIS` and
    /// `NEPHILA_SYSTEM_INFO_INTERVAL_MILLIS`, or else the same with `CRAWLEE_`. `lookup` gives a variable's value if it is set.
    ///
    /// # Errors
    /// [`InvalidInterval`] if a value is not a whole number of milliseconds from 1 to 2,147,483,647.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, InvalidInterval> {
        let mut config = Self::default();
        if let Some(interval) = PERSIST_STATE.read(&lookup)? {
            config.persist_state_interval = interval;
        }
        if let Some(interval) = SYSTEM_INFO.read(&lookup)? {
            config.system_info_interval = interval;
        }
        Ok(config)
    }

    /// The same, with somebody who measures the system.
    #[must_use]
    pub fn with_sampler(self, sampler: impl Sampler) -> Self {
        Self { sampler: Some(Box::new(sampler)), ..self }
    }
}

/// The configuration without the sampler, for everybody to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) persist_state_interval: Duration,
    pub(crate) system_info_interval: Duration,
    pub(crate) persist_state_timeout: Duration,
    pub(crate) close_timeout: Duration,
    pub(crate) queue_capacity: NonZeroUsize,
}

impl From<&EventConfig> for Numbers {
    fn from(config: &EventConfig) -> Self {
        Self {
            persist_state_interval: config.persist_state_interval.get(),
            system_info_interval: config.system_info_interval.get(),
            persist_state_timeout: config.persist_state_timeout,
            close_timeout: config.close_timeout,
            queue_capacity: config.queue_capacity,
        }
    }
}

impl Debug for EventConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventConfig")
            .field("persist_state_interval", &self.persist_state_interval)
            .field("system_info_interval", &self.system_info_interval)
            .field("persist_state_timeout", &self.persist_state_timeout)
            .field("close_timeout", &self.close_timeout)
            .field("queue_capacity", &self.queue_capacity)
            .field("sampler", &self.sampler.as_ref().map(|_| "…"))
            .finish()
    }
}

/// The names of one setting in the environment.
struct Variables {
    ours: &'static str,
    crawlee: &'static str,
}

impl Variables {
    fn read(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Interval>, InvalidInterval> {
        let set = [self.ours, self.crawlee].into_iter().find_map(|variable| Some((variable, lookup(variable)?)));
        let Some((variable, value)) = set else { return Ok(None) };
        match value.trim().parse().ok().and_then(Interval::from_millis) {
            Some(interval) => Ok(Some(interval)),
            None => Err(InvalidInterval { variable, value }),
        }
    }
}

/// A variable of the environment whose value is no interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidInterval {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
}

impl std::error::Error for InvalidInterval {}

impl Display for InvalidInterval {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (variable, value) = (self.variable, self.value.chars().take(40).collect::<String>());
        let (least, most) = (Interval::MILLIS.start(), Interval::MILLIS.end());
        write!(
            f,
            "the variable {variable} is set to `{value}`, which is no interval; \
             set it to a whole number of milliseconds from {least} to {most}, or unset it"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<(u128, u128), InvalidInterval> {
        let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let config = EventConfig::from_env(lookup)?;
        Ok((config.persist_state_interval.get().as_millis(), config.system_info_interval.get().as_millis()))
    }

    #[test]
    fn defaults_are_crawlees_and_bounded() {
        assert_eq!(read(&[]), Ok((60_000, 1_000)));
        let config = EventConfig::default();
        assert_eq!(config.queue_capacity.get(), 1_024);
        assert_eq!((config.persist_state_timeout.as_secs(), config.close_timeout.as_secs()), (30, 30));
    }

    #[test]
    fn both_families_of_names_work_and_ours_wins() {
        assert_eq!(read(&[(PERSIST_STATE.ours, "5000"), (SYSTEM_INFO.ours, "1")]), Ok((5_000, 1)));
        assert_eq!(read(&[(PERSIST_STATE.crawlee, "7000"), (SYSTEM_INFO.crawlee, "2147483647")]), Ok((7_000, 2_147_483_647)));
        assert_eq!(read(&[(PERSIST_STATE.crawlee, "nonsense"), (PERSIST_STATE.ours, " 9 ")]), Ok((9, 1_000)));
    }

    #[test]
    fn what_is_no_interval_is_refused_with_its_variable_its_value_and_what_is_allowed() {
        for value in ["", "0", "-1", "1.5", "60s", "2147483648", "99999999999999999999"] {
            for variable in [PERSIST_STATE.ours, PERSIST_STATE.crawlee, SYSTEM_INFO.ours, SYSTEM_INFO.crawlee] {
                let refused = read(&[(variable, value)]).unwrap_err();
                assert_eq!(refused, InvalidInterval { variable, value: value.to_owned() });
                let text = refused.to_string();
                assert!(text.contains(variable) && text.contains(&format!("`{value}`")) && text.contains("from 1 to 2147483647"));
            }
        }
    }
}
