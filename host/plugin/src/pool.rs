//! Fresh sandboxes, and live ones for the impatient.
//!
//! Decision: a fresh sandbox for every call; what a call did is gone with it. Reuse is opt-in, per plugin: a sandbox whose call ended
//! by itself may serve another, until it has served enough or grown too much; after a trap, a limit or a time-out it is thrown
//! away. Script engines leak over many calls, which is what both bounds are for. The cost of fresh is an instance per page: some
//! 10 to 20 µs for a Rust plugin built with the SDK (`benches/calls.rs`), 1 to 2 ms for scripts.

use crate::bindings::exports::nephila::crawler::handler;
use crate::sandbox::Inside;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::Instance;

/// Whether a sandbox serves one call or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InstancePolicy {
    /// Every call gets its own.
    #[default]
    Fresh,
    /// A sandbox goes on while its calls end by themselves, until it has served or holds too much.
    Reuse {
        /// Calls that one sandbox serves at most.
        max_calls: u32,
        /// Bytes of memory that it may hold between two calls.
        max_memory: usize,
    },
}

/// A sandbox with its instance.
pub(crate) struct Sandbox {
    pub(crate) store: Store<Inside>,
    /// None until it is instantiated.
    pub(crate) instance: Option<Instance>,
    /// None until it was called.
    pub(crate) handler: Option<handler::Guest>,
    pub(crate) calls: u32,
    /// Its room in the host. Released with it.
    pub(crate) _room: OwnedSemaphorePermit,
}

/// Live sandboxes of one plugin that wait for a call.
pub(crate) struct Idle {
    policy: InstancePolicy,
    sandboxes: Mutex<Vec<Sandbox>>,
}

impl Idle {
    pub(crate) fn new(policy: InstancePolicy) -> Self {
        Self { policy, sandboxes: Mutex::new(Vec::new()) }
    }

    /// The one that was used last.
    pub(crate) fn take(&self) -> Option<Sandbox> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a sandbox whose call ended by itself, if the policy lets it go on. `crowded`: others may be waiting for its room.
    pub(crate) fn keep(&self, sandbox: Sandbox, crowded: bool) {
        let InstancePolicy::Reuse { max_calls, max_memory } = self.policy else { return };
        if !crowded && sandbox.calls < max_calls && sandbox.store.data().holdings.memory() <= max_memory {
            self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox);
        }
    }
}
