//! The host of plugins: one per process.
//!
//! Decision: engine, linker, caches and the room for sandboxes are made once and shared by all plugins, through every clone of
//! [`PluginHost`] and every [`Plugin`](crate::Plugin). The number of live sandboxes is bounded, and a call waits for room: a pool
//! that is empty must not fail a page.

use crate::bindings::EveryEntryPoint;
use crate::cache::Cache;
use crate::engine::{self, Ticker};
use crate::patterns::PatternCache;
use crate::sandbox::{Inside, Shared};
use crate::{InstancePolicy, Limits, wasi};
use nephila_page::SelectorCache;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};

/// What a host counts of the work of plugins. Each way has compiled code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metering {
    /// The time that it takes.
    #[default]
    Time,
    /// Also its steps, which are the same on every machine: wasmtime's fuel, about one a WebAssembly instruction. Plugins are some
    /// percent slower by it.
    Fuel,
}

/// How plugins are hosted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostConfig {
    /// Where compiled plugins are kept: a folder of mode 0700 that is ours. `None`, the default: each start compiles them again,
    /// 0.1 s for a Rust plugin, 20 s for a script engine.
    pub cache_dir: Option<PathBuf>,
    /// Bytes of compiled plugins; those that were used last stay. Default 2 GiB.
    pub cache_bytes: u64,
    /// Bytes of a plugin's file. Default 64 MiB. Compiling takes time and memory in proportion.
    pub plugin_bytes: u64,
    /// Sandboxes that live at a time, over all plugins; further calls wait. Default 128, of which listeners take half at most. A
    /// component with many memories counts for several.
    pub sandboxes: u32,
    /// Whether sandboxes come from a pool that is reserved at the start (address space, not memory). Default yes; where the
    /// machine refuses it, they are made one by one, with a warning.
    pub pool: bool,
    /// Whether a sandbox serves one call or several, of each plugin by itself. Default fresh.
    pub instances: InstancePolicy,
    /// What is counted of their work. Default time.
    pub metering: Metering,
    /// What starting a plugin and describing itself may spend; and what the pool is sized for, so that no call gets more memory or
    /// table elements than these.
    pub limits: Limits,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            cache_dir: None,
            cache_bytes: 2 << 30,
            plugin_bytes: 64 << 20,
            sandboxes: 128,
            pool: true,
            instances: InstancePolicy::Fresh,
            metering: Metering::Time,
            limits: Limits::default(),
        }
    }
}

/// Why plugins cannot be hosted at all.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The engine could not be made.
    #[error("the WebAssembly engine cannot be started: {0}; this processor or system may lack what it needs")]
    Engine(String),
    /// There is no thread for its clock.
    #[error("the clock of the WebAssembly engine cannot be started: {0}")]
    Clock(#[from] std::io::Error),
}

/// Loads plugins. Make one per process and clone it: types and compiled code of two engines must never meet, and each reserves
/// its own address space.
#[derive(Clone)]
pub struct PluginHost(pub(crate) Arc<Runtime>);

/// What all plugins of a process share.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<Inside>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) cache: Option<Cache>,
    pub(crate) room: Arc<Semaphore>,
    /// What listeners may take of the room, since they keep it: half.
    pub(crate) listeners: Arc<Semaphore>,
    pub(crate) config: HostConfig,
    _ticker: Ticker,
}

impl PluginHost {
    /// Starts the engine and its clock, a thread that ends with the last plugin.
    ///
    /// # Errors
    /// [`PluginError`] if this machine cannot run WebAssembly.
    pub fn new(config: HostConfig) -> Result<Self, PluginError> {
        let engine_error = |error: wasmtime::Error| PluginError::Engine(format!("{error:#}"));
        let config = HostConfig { sandboxes: config.sandboxes.max(2), ..config };
        let (engine, allocation) = engine::engine(&config).map_err(engine_error)?;
        tracing::debug!(?allocation, "the WebAssembly engine is ready");
        let mut linker = Linker::<Inside>::new(&engine);
        EveryEntryPoint::add_to_linker::<_, HasSelf<_>>(&mut linker, |inside| inside).map_err(engine_error)?;
        wasi::link(&mut linker).map_err(engine_error)?;
        let cache = config.cache_dir.as_deref().and_then(|folder| Cache::open(folder, config.cache_bytes, &engine));
        let ticker = Ticker::start(&engine)?;
        Ok(Self(Arc::new(Runtime {
            engine,
            linker,
            shared: Arc::new(Shared { selectors: SelectorCache::new(), patterns: PatternCache::new() }),
            cache,
            room: Arc::new(Semaphore::new(config.sandboxes as usize)),
            listeners: Arc::new(Semaphore::new((config.sandboxes / 2) as usize)),
            config,
            _ticker: ticker,
        })))
    }

    /// Whether compiled plugins are kept.
    #[must_use]
    pub fn has_cache(&self) -> bool {
        self.0.cache.is_some()
    }
}

impl std::fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHost").field("config", &self.0.config).finish_non_exhaustive()
    }
}
