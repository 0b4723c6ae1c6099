//! The one wasmtime engine of a process, and its clock.
//!
//! Decision: one configuration for everything that compiles and everything that runs, so that what one wrote the other can load;
//! and one engine per process, since types and code of two must never meet (RUSTSEC-2026-0222). What the contract does not need is
//! off: no concurrency (a class of advisories goes with it), no threads, no garbage collection, no 64-bit memories. Sandboxes
//! come from a pool where the machine gives the address space, one by one where it does not.

use crate::{HostConfig, Metering};
use std::num::NonZeroUsize;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmBacktraceDetails};

/// The length of an epoch tick: how long a plugin computes before it gives way, and how exact its limits are.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Memories, tables and core instances that the pool has for each sandbox it is sized for. A component that needs more takes the
/// room of several sandboxes (see [`weight`]).
const MEMORIES: u32 = 2;
const TABLES: u32 = 8;
const CORE_INSTANCES: u32 = 32;

/// Bytes of stack that a plugin's own code may use: interpreters of scripts need more than wasmtime's default of 512 KiB.
const GUEST_STACK: usize = 1 << 20;

/// Bytes of the whole stack that a call runs on. A call of the host takes part of it at the depth that the plugin has reached, and may
/// call the plugin's allocator, which wasmtime gives [`GUEST_STACK`] anew: so twice that, and 1 MiB for the host's functions before
/// and after each. What overruns it kills the process. It is address space until it is used.
const CALL_STACK: usize = 2 * GUEST_STACK + 2 * HOST_STACK;

/// Bytes of stack that a host function may use; its tests run on so much.
pub(crate) const HOST_STACK: usize = 1 << 20;

/// How sandboxes get their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// From slots that are reserved once, for so many sandboxes, each of so many bytes and table elements.
    Pool { sandboxes: u32, memory: usize, table_elements: usize },
    /// Mapped for each and unmapped again; slower by some tens of microseconds.
    OnDemand,
}

/// The one configuration. What differs between allocations does not change the code that is compiled; to count fuel does.
pub(crate) fn config(allocation: Allocation, metering: Metering) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .consume_fuel(metering == Metering::Fuel)
        .concurrency_support(false)
        .wasm_component_model(true)
        // Off by the features that wasmtime is built with: threads and garbage collection. Multi-memory stays on: wasmtime's own
        // adapters between components need it, and compiling them without it panics.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .max_wasm_stack(GUEST_STACK)
        .async_stack_size(CALL_STACK)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .wasm_backtrace_max_frames(NonZeroUsize::new(20))
        .cranelift_opt_level(OptLevel::Speed)
        .parallel_compilation(true)
        // Script engines come with an initialised heap of tens of megabytes: copied on write, not for each sandbox.
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(64 << 20);
    match allocation {
        Allocation::Pool { sandboxes, memory, table_elements } => {
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(sandboxes, memory, table_elements)))
        }
        Allocation::OnDemand => config.allocation_strategy(InstanceAllocationStrategy::OnDemand),
    };
    config
}

fn pool(sandboxes: u32, memory: usize, table_elements: usize) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(sandboxes)
        .total_core_instances(sandboxes.saturating_mul(CORE_INSTANCES))
        .total_memories(sandboxes.saturating_mul(MEMORIES))
        .total_tables(sandboxes.saturating_mul(TABLES))
        // A call has one stack; a sandbox may be made while another call of its plugin runs.
        .total_stacks(sandboxes.saturating_mul(2))
        .max_component_instance_size(16 << 20)
        .max_core_instance_size(16 << 20)
        .max_core_instances_per_component(200)
        .max_memories_per_component(32)
        .max_tables_per_component(64)
        .max_memories_per_module(2)
        .max_tables_per_module(4)
        .table_elements(table_elements)
        .max_memory_size(memory)
        .max_unused_warm_slots(sandboxes.min(100))
        // So much of a memory is cleared in place; what is beyond it is given back to the machine, and the next call faults it in again,
        // which costs more than all else that a small plugin does. What the SDK builds is within it (`plugin-sdk/rust/src/heap.rs`).
        // `pagemap_scan` would spare the clearing of what was not touched, but as of wasmtime 48 it passes over dirty pages that were
        // swapped out (wasmtime #14357): a call would see what another has left.
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(16 << 10);
    pool
}

/// How many of the pool's sandboxes a component counts for.
pub(crate) fn weight(memories: u32, tables: u32) -> u32 {
    memories.div_ceil(MEMORIES).max(tables.div_ceil(TABLES)).max(1)
}

/// Makes the engine, with a pool if that is wanted and the machine can reserve it.
pub(crate) fn engine(wanted: &HostConfig) -> wasmtime::Result<(Engine, Allocation)> {
    let HostConfig { pool, sandboxes, limits, metering, .. } = *wanted;
    if pool {
        let allocation = Allocation::Pool { sandboxes, memory: limits.memory, table_elements: limits.table_elements };
        match Engine::new(&config(allocation, metering)) {
            Ok(engine) => return Ok((engine, allocation)),
            Err(error) => tracing::warn!(
                error = %error, sandboxes,
                "no pool of sandboxes: the machine does not reserve so much address space; each sandbox is mapped by itself, which is slower"
            ),
        }
    }
    Ok((Engine::new(&config(Allocation::OnDemand, metering))?, Allocation::OnDemand))
}

/// The thread that counts epochs; ends when it is dropped.
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let weak = engine.weak();
        let thread = std::thread::Builder::new().name("plugin-epochs".to_owned()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
                let Some(engine) = weak.upgrade() else { return };
                engine.increment_epoch();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use std::hash::{DefaultHasher, Hash, Hasher};
    use wasmtime::component::Component;

    const SMALLEST: &str = "(component (core module $m (memory 1) (func (export \"f\"))) (core instance (instantiate $m)))";

    #[test]
    fn what_one_allocation_compiles_the_other_can_load() {
        let Limits { memory, table_elements, .. } = Limits::default();
        let on_demand = Engine::new(&config(Allocation::OnDemand, Metering::Time)).expect("an engine");
        let Ok(pooled) = Engine::new(&config(Allocation::Pool { sandboxes: 2, memory, table_elements }, Metering::Time)) else {
            return; // This machine reserves no address space.
        };
        let hash = |engine: &Engine| {
            let mut hasher = DefaultHasher::new();
            engine.precompile_compatibility_hash().hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&on_demand), hash(&pooled));
        let compiled = on_demand.precompile_component(&wat::parse_str(SMALLEST).expect("a component")).expect("compiles");
        // SAFETY: the bytes were made by wasmtime a line above.
        unsafe { Component::deserialize(&pooled, &compiled) }.expect("loads");
    }

    #[test]
    fn what_the_contract_does_not_need_is_off() {
        let engine = Engine::new(&config(Allocation::OnDemand, Metering::Time)).expect("an engine");
        let refused = [
            "(component (core module (memory i64 1)))",
            "(component (core module (memory 1 1 shared)))",
            "(component (core module (type (struct))))",
            "(component (type (stream u8)))",
        ];
        for wat in refused {
            let bytes = wat::parse_str(wat).expect("well-formed");
            assert!(Component::new(&engine, &bytes).is_err(), "{wat}");
        }
        let two_memories = wat::parse_str("(component (core module (memory 1) (memory 1)))").expect("well-formed");
        assert!(Component::new(&engine, &two_memories).is_ok(), "adapters between components need it");
    }

    #[test]
    fn a_component_counts_for_as_many_sandboxes_as_its_parts_need() {
        assert_eq!([weight(0, 0), weight(2, 8), weight(3, 1), weight(1, 17)], [1, 1, 2, 3]);
    }

    #[test]
    fn the_ticker_ends_with_its_owner() {
        let engine = Engine::new(&config(Allocation::OnDemand, Metering::Time)).expect("an engine");
        let ticker = Ticker::start(&engine).expect("a thread");
        drop(ticker);
    }
}
