//! What the process has cost so far.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Processor time and memory of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resources {
    /// The most memory that it had, in bytes.
    pub peak_memory_bytes: u64,
    /// Seconds on a processor, user and system.
    pub cpu_seconds: f64,
}

/// Asks the system. Zeros where it does not say.
pub fn used() -> Resources {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Resources::default() };
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts in units of 1,024 bytes.
    let peak = u64::try_from(usage.max_rss()).unwrap_or(0).saturating_mul(1_024);
    Resources { peak_memory_bytes: peak, cpu_seconds: micros as f64 / 1e6 }
}
