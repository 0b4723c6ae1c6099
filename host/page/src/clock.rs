//! The processor time of the present thread.
//!
//! Decision: what is charged to a plugin, and what a query of a page may take, is time on a processor: a busy machine must not make
//! either look slow.

/// Nanoseconds that this thread has spent on a processor.
#[cfg(unix)]
#[must_use]
pub fn thread_clock() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Where threads have no such clock, the wall's nanoseconds: a busy machine is then charged to the plugin.
#[cfg(not(unix))]
#[must_use]
pub fn thread_clock() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(std::time::Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
