//! What one call may spend.
//!
//! Decision: every limit is per call and per sandbox, so that a hostile plugin can spend only its own budget. What ends in a
//! host-error with the code `quota` leaves the choice to the plugin; what the sandbox itself runs into (memory, processor,
//! time, bytes per host call, handles) ends the call. The cost is a few additions per host call.

use crate::failure::machine_has_no_memory;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// What one call may spend. [`Limits::default`] has the documented defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, summed over all memories of the sandbox. Default 128 MiB. Growth beyond it is refused (the guest
    /// sees -1 and usually traps). The pooling allocator is sized by the host's own limits: more than those is never given.
    pub memory: usize,
    /// Elements of all tables together. Default 200,000; script engines need tens of thousands.
    pub table_elements: usize,
    /// Core instances in one sandbox. Default 200; script toolchains make tens.
    pub instances: usize,
    /// Time on a processor, host functions included, read at every epoch tick (10 ms). Default 5 s.
    pub cpu: Duration,
    /// Time on the wall, waiting included. Default 60 s.
    pub wall: Duration,
    /// Bytes that one host call may carry from the guest. Default 16 MiB.
    pub host_call_fuel: usize,
    /// Live handles. Default 1,000; at half of it the documents of a call are refused with `quota`.
    pub handles: usize,
    /// Entries of the table that WASI keeps its streams and pollables in. Default 1,000.
    pub resources: usize,
    /// Requests enqueued. Default 10,000.
    pub requests: usize,
    /// Items pushed. Default 10,000.
    pub items: usize,
    /// Bytes of one item. Default 1 MiB.
    pub item_bytes: usize,
    /// Bytes of all effects together. Default 64 MiB.
    pub effect_bytes: usize,
    /// Log lines; more are dropped and counted. Default 1,000.
    pub log_lines: usize,
    /// Bytes of all log lines together; more are dropped and counted. Default 64 KiB.
    pub log_bytes: usize,
    /// Events emitted. Default 1,000.
    pub events: usize,
    /// Bytes of one event's payload. Default 256 KiB.
    pub event_bytes: usize,
    /// Bytes of a session's user data. Default 64 KiB: a session is read and written with each of its pages.
    pub session_data_bytes: usize,
    /// Cookies set, and those of sessions that are added. Default 1,000.
    pub set_cookies: usize,
    /// Sessions added. Default 100.
    pub added_sessions: usize,
    /// State operations, and keys read. Default 10,000 each.
    pub state_keys: usize,
    /// Bytes of a state or key-value key. Default 256.
    pub key_length: usize,
    /// Bytes of a state value. Default 256 KiB.
    pub state_value_bytes: usize,
    /// Time for one page query. Epochs do not cover the host's own work, so a clock is read while it runs. Default 2 s.
    pub query: Duration,
    /// Bytes that one page query may answer with. Default 16 MiB.
    pub query_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 128 << 20,
            table_elements: 200_000,
            instances: 200,
            cpu: Duration::from_secs(5),
            wall: Duration::from_secs(60),
            host_call_fuel: 16 << 20,
            handles: 1_000,
            resources: 1_000,
            requests: 10_000,
            items: 10_000,
            item_bytes: 1 << 20,
            effect_bytes: 64 << 20,
            log_lines: 1_000,
            log_bytes: 64 << 10,
            events: 1_000,
            event_bytes: 256 << 10,
            session_data_bytes: 64 << 10,
            set_cookies: 1_000,
            added_sessions: 100,
            state_keys: 10_000,
            key_length: 256,
            state_value_bytes: 256 << 10,
            query: Duration::from_secs(2),
            query_bytes: 16 << 20,
        }
    }
}

/// Counts what a sandbox holds, over all its memories and tables; wasmtime's own `StoreLimits` counts each for itself.
#[derive(Debug)]
pub(crate) struct Holdings {
    limits: Limits,
    memory: usize,
    /// What the last growth asked for: given back if the machine then refused it.
    last_growth: usize,
    elements: usize,
    /// The most memory that it held.
    pub(crate) memory_peak: usize,
    /// Whether memory was refused since the call began: then a trap is most likely for that.
    pub(crate) memory_refused: bool,
    /// Whether table elements were refused since the call began.
    pub(crate) table_refused: bool,
    /// Whether the machine had no memory to give since the call began, though the limit would have let it.
    pub(crate) machine_refused: bool,
}

impl Holdings {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: 0,
            last_growth: 0,
            elements: 0,
            memory_peak: 0,
            memory_refused: false,
            table_refused: false,
            machine_refused: false,
        }
    }

    /// Begins another call in the same sandbox.
    pub(crate) fn begin(&mut self, limits: Limits) {
        self.limits = limits;
        self.memory_peak = self.memory;
        self.memory_refused = false;
        self.table_refused = false;
        self.machine_refused = false;
    }

    /// What the sandbox holds now.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }
}

impl ResourceLimiter for Holdings {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current);
        let total = self.memory.saturating_add(growth);
        if total > self.limits.memory {
            self.memory_refused = true;
            return Ok(false);
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.memory = total;
        self.last_growth = growth;
        self.memory_peak = self.memory_peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory = self.memory.saturating_sub(std::mem::take(&mut self.last_growth));
        // What is not the machine's refusal is the pool's: it has slots of one size.
        if machine_has_no_memory(&error) {
            self.machine_refused = true;
            tracing::debug!(error = %error, "the machine refused memory to a sandbox");
        } else {
            self.memory_refused = true;
        }
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.elements.saturating_add(desired.saturating_sub(current));
        if total > self.limits.table_elements {
            self.table_refused = true;
            return Ok(false);
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.instances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_summed_over_all_memories_and_refused_growth_costs_nothing() {
        let mut holdings = Holdings::new(Limits { memory: 100, ..Limits::default() });
        assert!(holdings.memory_growing(0, 60, None).expect("an answer"));
        assert!(!holdings.memory_growing(0, 60, None).expect("an answer"), "a second memory counts too");
        assert!(holdings.memory_refused);
        assert!(holdings.memory_growing(60, 100, None).expect("an answer"));
        assert_eq!((holdings.memory(), holdings.memory_peak), (100, 100));
        holdings.memory_grow_failed(wasmtime::Error::msg("no")).expect("no trap");
        assert_eq!(holdings.memory(), 60);
        assert!(!holdings.machine_refused);
        assert!(holdings.memory_growing(60, 100, None).expect("an answer"));
        holdings.memory_grow_failed(std::io::Error::from_raw_os_error(12).into()).expect("no trap");
        assert!(holdings.machine_refused && holdings.memory() == 60);
        holdings.begin(Limits::default());
        assert!(!holdings.memory_refused && holdings.memory_peak == 60);
        assert!(!holdings.memory_growing(60, 90, Some(80)).expect("an answer"));
        assert!(!holdings.memory_refused, "the module's own maximum is its own affair");
    }

    #[test]
    fn table_elements_are_summed_over_all_tables() {
        let mut holdings = Holdings::new(Limits { table_elements: 10, ..Limits::default() });
        assert!(holdings.table_growing(0, 6, None).expect("an answer"));
        assert!(!holdings.table_growing(0, 6, None).expect("an answer"));
        assert!(holdings.table_refused);
    }
}
