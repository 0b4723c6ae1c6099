//! How busy the process and its machine are, and who finds out.
//!
//! Decision: this crate samples at its interval and tells whoever listens, but what a sample is made of (cgroups, `/proc`,
//! children) is the business of the crate that implements [`Sampler`]. Nobody else samples: every part of the host that wants to
//! know listens.

use nephila_model::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// Takes a sample of the system.
///
/// It is called at each interval, by one thread at a time, never on the thread that delivers events: it may block for a while.
/// While it does, no other sample is taken.
pub trait Sampler: Send + 'static {
    /// How things are now; `None` if that cannot be said, and then nothing is emitted.
    fn sample(&mut self) -> Option<SystemInfo>;
}

/// How busy the process, its children and the machine are (Crawlee: `EventSystemInfoData`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemInfo {
    /// The processors.
    pub cpu: CpuInfo,
    /// The memory.
    pub memory: MemoryInfo,
}

/// How busy the processors are (Crawlee: `CpuInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuInfo {
    /// The share in use, 0 to 1, of what this process may have.
    pub used_ratio: f64,
    /// When it was measured.
    #[serde(serialize_with = "as_rfc3339")]
    pub created_at: Timestamp,
}

/// How full the memory is, in bytes (Crawlee: `MemoryUsageInfo`, `MemoryInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryInfo {
    /// Used by this process and its children.
    pub current_size: u64,
    /// What this process may have, or the machine has.
    pub total_size: u64,
    /// Used by everything on the machine.
    pub system_wide_used_size: u64,
    /// When it was measured.
    #[serde(serialize_with = "as_rfc3339")]
    pub created_at: Timestamp,
}

impl SystemInfo {
    /// In Crawlee's shape.
    pub(crate) fn payload(&self) -> Value {
        json!({ "cpuInfo": self.cpu, "memoryInfo": self.memory })
    }
}

/// The time in UTC with milliseconds, as JavaScript's `toISOString` writes it. A time beyond all calendars is the epoch.
fn as_rfc3339<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    serializer.collect_str(&format_args!("{at:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(millis: i64) -> Value {
        serde_json::to_value(CpuInfo { used_ratio: 0.0, created_at: Timestamp::from_millis(millis) }).unwrap()["createdAt"]
            .clone()
    }

    #[test]
    fn times_are_utc_with_three_digits_whatever_they_are() {
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(951_827_696_007), "2000-02-29T12:34:56.007Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(written(i64::MAX), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_ratio_that_is_no_number_is_null_and_breaks_nothing() {
        let cpu = CpuInfo { used_ratio: f64::NAN, created_at: Timestamp::EPOCH };
        assert_eq!(serde_json::to_value(cpu).unwrap()["usedRatio"], Value::Null);
    }
}
