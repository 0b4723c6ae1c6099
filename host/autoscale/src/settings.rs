//! What autoscaling goes by, and the variables of the environment that change it.
//!
//! Decision: names and defaults are Crawlee's, so that what its users set goes on working; where both spellings of a variable are
//! set, ours wins. One default differs: in a container, what may be used is the container's limit and not a quarter of it, since
//! the limit is our share already. A value that cannot be is an error that names its variable: a limit that was meant and is not
//! in force costs a night.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// A share, greater than 0 and at most 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio(f64);

impl Ratio {
    /// All of it.
    pub const WHOLE: Self = Self(1.0);

    /// This share; `None` if it is not greater than 0 and at most 1.
    #[must_use]
    pub const fn new(share: f64) -> Option<Self> {
        if share > 0.0 && share <= 1.0 { Some(Self(share)) } else { None }
    }

    /// The share as a number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// This share of so many bytes.
    pub(crate) fn of(self, bytes: u64) -> u64 {
        (bytes as f64 * self.0) as u64
    }

    // For the defaults below, which are shares.
    const fn percent(percent: u8) -> Self {
        Self(percent as f64 / 100.0)
    }
}

/// Between which numbers of requests in flight the controller may choose: 1 ≤ least ≤ most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    least: NonZeroUsize,
    most: NonZeroUsize,
}

impl Bounds {
    /// From `least` (Crawlee: `min_concurrency`, 1) to `most` (Crawlee: `max_concurrency`; ours: `-c`), where the controller
    /// starts.
    ///
    /// # Errors
    /// [`SettingError::Crossed`] if `least` is greater than `most`.
    pub const fn new(least: NonZeroUsize, most: NonZeroUsize) -> Result<Self, SettingError> {
        if least.get() > most.get() {
            return Err(SettingError::Crossed { least: least.get(), most: most.get() });
        }
        Ok(Self { least, most })
    }

    /// From 1 to `most`.
    #[must_use]
    pub const fn up_to(most: NonZeroUsize) -> Self {
        Self { least: NonZeroUsize::MIN, most }
    }

    /// Never fewer than these.
    #[must_use]
    pub const fn least(self) -> usize {
        self.least.get()
    }

    /// Never more than these.
    #[must_use]
    pub const fn most(self) -> usize {
        self.most.get()
    }

    pub(crate) fn clamp(self, concurrency: usize) -> usize {
        concurrency.clamp(self.least(), self.most())
    }
}

/// What autoscaling goes by. [`Default`] gives Crawlee's values.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoscaleSettings {
    /// Bytes that this process and its children may use; none: by `available_memory_ratio`. A cgroup's limit that is less wins.
    /// Crawlee: `memory_mbytes`, in units of 1,048,576 bytes.
    pub memory: Option<u64>,
    /// Share of all memory that may be used. None, the default: a quarter of the machine's memory (Crawlee's 0.25) if nothing
    /// limits us, and the whole of a cgroup's limit otherwise. Crawlee: `available_memory_ratio`.
    pub available_memory_ratio: Option<Ratio>,
    /// Above it the processors count as overloaded. 0.95. Crawlee: `max_used_cpu_ratio`.
    pub max_used_cpu: Ratio,
    /// Above this share of what may be used, memory counts as overloaded. 0.9. Crawlee: `max_used_memory_ratio`.
    pub max_used_memory: Ratio,
    /// Above this share of all memory, used by whomever, memory counts as overloaded. 0.97. Crawlee: the same, fixed.
    pub max_system_memory: Ratio,
    /// Above this delay the event loop counts as overloaded. 50 ms. Crawlee: `max_event_loop_delay`.
    pub max_event_loop_delay: Duration,
    /// More errors of the storage than these from one sample to the next count as overload. 1. Crawlee: `max_client_errors`.
    pub max_client_errors: u64,
    /// How much of a window may be overloaded.
    pub tolerated: Tolerated,
    /// How far back samples are kept. 30 s. Crawlee: `snapshot_history`.
    pub history: Duration,
    /// How far back the present reaches, from the newest sample. 5 s. Crawlee: `current_history`.
    pub present: Duration,
}

/// How much of a window may be overloaded before the system counts as overloaded. Crawlee: the thresholds of its `SystemStatus`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerated {
    /// Of processors. 0.4.
    pub cpu: Ratio,
    /// Of memory. 0.2.
    pub memory: Ratio,
    /// Of the event loop. 0.6.
    pub event_loop: Ratio,
    /// Of the storage. 0.3.
    pub client: Ratio,
}

impl Default for Tolerated {
    fn default() -> Self {
        let percent = Ratio::percent;
        Self { cpu: percent(40), memory: percent(20), event_loop: percent(60), client: percent(30) }
    }
}

impl Default for AutoscaleSettings {
    fn default() -> Self {
        Self {
            memory: None,
            available_memory_ratio: None,
            max_used_cpu: Ratio::percent(95),
            max_used_memory: Ratio::percent(90),
            max_system_memory: Ratio::percent(97),
            max_event_loop_delay: Duration::from_millis(50),
            max_client_errors: 1,
            tolerated: Tolerated::default(),
            history: Duration::from_secs(30),
            present: Duration::from_secs(5),
        }
    }
}

/// Crawlee's share of the machine's memory, where nothing else limits us.
const QUARTER: Ratio = Ratio::percent(25);

impl AutoscaleSettings {
    /// The defaults, changed by what the environment says: `NEPHILA_MEMORY_MBYTES`, `NEPHILA_AVAILABLE_MEMORY_RATIO`,
    /// `NEPHILA_MAX_USED_CPU_RATIO`, `NEPHILA_MAX_USED_MEMORY_RATIO`, `NEPHILA_MAX_EVENT_LOOP_DELAY_MILLIS` and
    /// `NEPHILA_MAX_CLIENT_ERRORS`, or the same with `CRAWLEE_` in front. An empty value counts as not set.
    ///
    /// # Errors
    /// [`SettingError::Invalid`] for a value that cannot be.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let env = Environment { lookup };
        let mut settings = Self::default();
        env.read("MEMORY_MBYTES", "a whole number of megabytes greater than 0", megabytes, |bytes| {
            settings.memory = Some(bytes)
        })?;
        env.read("AVAILABLE_MEMORY_RATIO", RATIO, ratio, |share| settings.available_memory_ratio = Some(share))?;
        env.read("MAX_USED_CPU_RATIO", RATIO, ratio, |share| settings.max_used_cpu = share)?;
        env.read("MAX_USED_MEMORY_RATIO", RATIO, ratio, |share| settings.max_used_memory = share)?;
        env.read("MAX_EVENT_LOOP_DELAY_MILLIS", "a whole number of milliseconds greater than 0", millis, |delay| {
            settings.max_event_loop_delay = delay;
        })?;
        env.read("MAX_CLIENT_ERRORS", "a whole number", |text| text.parse().ok(), |errors| settings.max_client_errors = errors)?;
        Ok(settings)
    }

    /// Bytes that this process and its children may use, where the machine has `machine` and the tightest cgroup gives `cgroup`.
    #[must_use]
    pub fn memory_allowed(&self, machine: u64, cgroup: Option<u64>) -> u64 {
        let all = cgroup.map_or(machine, |limit| limit.min(machine));
        let by_ratio = match (self.available_memory_ratio, cgroup) {
            (Some(ratio), _) => ratio.of(all),
            (None, Some(_)) => all,
            (None, None) => QUARTER.of(all),
        };
        self.memory.map_or(by_ratio, |bytes| bytes.min(all))
    }
}

const RATIO: &str = "a number greater than 0 and at most 1";

struct Environment<L> {
    lookup: L,
}

impl<L: Fn(&str) -> Option<String>> Environment<L> {
    fn read<T>(
        &self,
        name: &str,
        allowed: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        set: impl FnOnce(T),
    ) -> Result<(), SettingError> {
        for prefix in ["NEPHILA_", "CRAWLEE_"] {
            let variable = format!("{prefix}{name}");
            let Some(value) = (self.lookup)(&variable).filter(|value| !value.trim().is_empty()) else { continue };
            let Some(parsed) = parse(value.trim()) else { return Err(SettingError::Invalid { variable, value, allowed }) };
            set(parsed);
            break;
        }
        Ok(())
    }
}

fn megabytes(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().and_then(|megabytes| megabytes.checked_mul(1 << 20)).filter(|bytes| *bytes > 0)
}

fn ratio(text: &str) -> Option<Ratio> {
    text.parse().ok().and_then(Ratio::new)
}

fn millis(text: &str) -> Option<Duration> {
    text.parse::<NonZeroU32>().ok().map(|millis| Duration::from_millis(u64::from(millis.get())))
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A variable of the environment.
    #[error("the variable {variable} is `{value}`, but must be {allowed}; correct it, or unset it for the default")]
    Invalid {
        /// Its name.
        variable: String,
        /// What it is set to.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// The bounds of concurrency.
    #[error("the least concurrency is {least} and the most is {most}; the least must not be greater")]
    Crossed {
        /// The lower bound.
        least: usize,
        /// The upper bound.
        most: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Result<AutoscaleSettings, SettingError> {
        AutoscaleSettings::from_env(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn without_variables_the_defaults_are_crawlees() {
        let settings = from(&[]).unwrap();
        assert_eq!(settings, AutoscaleSettings::default());
        assert_eq!((settings.max_used_cpu.get(), settings.max_used_memory.get()), (0.95, 0.9));
        assert_eq!((settings.max_event_loop_delay, settings.max_client_errors), (Duration::from_millis(50), 1));
    }

    #[test]
    fn crawlees_names_are_aliases_and_ours_win() {
        let settings = from(&[
            ("CRAWLEE_MEMORY_MBYTES", "512"),
            ("CRAWLEE_AVAILABLE_MEMORY_RATIO", "0.5"),
            ("CRAWLEE_MAX_USED_CPU_RATIO", "0.8"),
            ("CRAWLEE_MAX_USED_MEMORY_RATIO", " 0.7 "),
            ("CRAWLEE_MAX_EVENT_LOOP_DELAY_MILLIS", "20"),
            ("CRAWLEE_MAX_CLIENT_ERRORS", "5"),
            ("NEPHILA_MAX_CLIENT_ERRORS", "0"),
            ("NEPHILA_MEMORY_MBYTES", ""),
        ])
        .unwrap();
        assert_eq!(settings.memory, Some(512 << 20));
        assert_eq!(settings.available_memory_ratio, Ratio::new(0.5));
        assert_eq!((settings.max_used_cpu.get(), settings.max_used_memory.get()), (0.8, 0.7));
        assert_eq!((settings.max_event_loop_delay, settings.max_client_errors), (Duration::from_millis(20), 0));
    }

    #[test]
    fn an_invalid_value_is_an_error_that_names_the_variable_the_value_and_what_is_allowed() {
        for (variable, value) in [
            ("CRAWLEE_MEMORY_MBYTES", "lots"),
            ("NEPHILA_MEMORY_MBYTES", "0"),
            ("NEPHILA_MEMORY_MBYTES", "99999999999999999"),
            ("NEPHILA_AVAILABLE_MEMORY_RATIO", "25"),
            ("NEPHILA_MAX_USED_CPU_RATIO", "NaN"),
            ("CRAWLEE_MAX_USED_MEMORY_RATIO", "-0.1"),
            ("NEPHILA_MAX_EVENT_LOOP_DELAY_MILLIS", "0"),
            ("CRAWLEE_MAX_CLIENT_ERRORS", "-1"),
        ] {
            let message = from(&[(variable, value)]).unwrap_err().to_string();
            assert!(message.contains(variable) && message.contains(value) && message.contains("must be a"), "{message}");
        }
    }

    #[test]
    fn a_quarter_of_the_machine_may_be_used_but_the_whole_of_a_containers_limit() {
        let (machine, container) = (16 << 30, Some(512 << 20));
        let mut settings = AutoscaleSettings::default();
        assert_eq!(settings.memory_allowed(machine, None), 4 << 30);
        assert_eq!(settings.memory_allowed(machine, container), 512 << 20);
        settings.available_memory_ratio = Ratio::new(0.5);
        assert_eq!(settings.memory_allowed(machine, None), 8 << 30);
        assert_eq!(settings.memory_allowed(machine, container), 256 << 20);
        settings.memory = Some(1 << 30);
        assert_eq!(settings.memory_allowed(machine, None), 1 << 30);
        assert_eq!(settings.memory_allowed(machine, container), 512 << 20, "the kernel would not let it");
    }

    #[test]
    fn bounds_do_not_cross() {
        let (two, nine) = (NonZeroUsize::new(2).unwrap(), NonZeroUsize::new(9).unwrap());
        assert_eq!(Bounds::new(nine, two), Err(SettingError::Crossed { least: 9, most: 2 }));
        let bounds = Bounds::new(two, nine).unwrap();
        assert_eq!([0, 5, 99].map(|concurrency| bounds.clamp(concurrency)), [2, 5, 9]);
    }
}
