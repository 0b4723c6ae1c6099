//! From a file to a plugin: read, told apart, compiled or taken from the cache, linked, started once.
//!
//! Decision: everything that can be wrong with a plugin is found here and said in one line, before a crawl begins; the last step
//! is to start it once, without a crawl, which checks the types of its entry points and lets it describe itself. Compiling is
//! done on a thread of its own, so that neither its time nor a panic of the compiler hurts anyone.

use crate::engine::weight;
use crate::entry_points::{CONTRACT, Indices, contract_version, speaks};
use crate::failure::one_line;
use crate::host::{PluginHost, Runtime};
use crate::meter::Panicked;
use crate::plugin::{Parts, Plugin};
use crate::pool::Idle;
use crate::sniff::{self, Kind};
use crate::{LoadError, Manifest, wasi};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::{Component, InstancePre};

impl PluginHost {
    /// Loads a plugin.
    ///
    /// # Errors
    /// [`LoadError`] in one line, with the cause and the way out.
    pub async fn load(&self, path: impl AsRef<Path>) -> Result<Plugin, LoadError> {
        let path = path.as_ref().to_owned();
        let (runtime, file) = (self.0.clone(), path.clone());
        let made = tokio::task::spawn_blocking(move || make(&runtime, &file)).await;
        let parts = made.unwrap_or_else(|error| {
            let cause = match error.try_into_panic() {
                Ok(payload) => format!("the compiler panicked: {}", Panicked::of(payload.as_ref()).0),
                Err(error) => error.to_string(),
            };
            Err(LoadError::Compile { path: path.clone(), cause })
        })?;
        let plugin = Plugin::new(self.0.clone(), parts, Manifest::of_file(&path));
        plugin.started(&path).await
    }
}

fn make(runtime: &Runtime, path: &Path) -> Result<Parts, LoadError> {
    let bytes = read(path, runtime.config.plugin_bytes)?;
    check_kind(path, sniff::kind(&bytes))?;
    let digest = hex(&Sha256::digest(&bytes));
    let component = match runtime.cache.as_ref().and_then(|cache| cache.get(&runtime.engine, &digest)) {
        Some(component) => component,
        None => {
            let component =
                Component::new(&runtime.engine, &bytes).map_err(|error| does_not_compile(path, &format!("{error:#}")))?;
            if let Some(cache) = &runtime.cache {
                cache.put(&digest, &component);
            }
            component
        }
    };
    let (imports, exports) = names(runtime, &component);
    check_names(path, &imports, &exports)?;
    let pre = runtime.linker.instantiate_pre(&component).map_err(|error| LoadError::Mismatch {
        path: path.to_owned(),
        spoken: CONTRACT,
        cause: one_line(&format!("{error:#}"), 600),
    })?;
    let weight = check_size(runtime, path, &pre)?;
    let indices = Indices::new(&pre).map_err(|wrong| LoadError::Mistyped {
        path: path.to_owned(),
        entry_point: wrong.entry_point,
        spoken: CONTRACT,
        cause: wrong.cause,
    })?;
    let Some(indices) = indices else {
        let exports = if exports.is_empty() { "nothing".to_owned() } else { one_line(&exports.join(", "), 600) };
        return Err(LoadError::NoHandler { path: path.to_owned(), exports, spoken: CONTRACT });
    };
    Ok(Parts {
        pre,
        indices,
        digest,
        imports,
        size: bytes.len() as u64,
        weight,
        idle: Arc::new(Idle::new(runtime.config.instances)),
    })
}

fn does_not_compile(path: &Path, cause: &str) -> LoadError {
    // What the compiler calls the feature that `engine.rs` leaves off.
    if cause.contains("component model async") {
        return LoadError::Async { path: path.to_owned() };
    }
    if cause.contains("does not fit in pooling allocator requirements") {
        let cause = one_line(cause.rsplit(": ").next().unwrap_or(cause), 600);
        let way_out = if cause.contains("byte size") { "raise plugin-memory, or build it with less" } else { "build it smaller" };
        return LoadError::BeginsTooLarge { path: path.to_owned(), cause, way_out };
    }
    LoadError::Compile { path: path.to_owned(), cause: one_line(cause, 600) }
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => LoadError::Missing { path: path.to_owned() },
        _ => LoadError::Unreadable { path: path.to_owned(), cause: error.to_string() },
    };
    // A named pipe would be waited for.
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(LoadError::Unreadable { path: path.to_owned(), cause: "it is not a file".to_owned() });
    }
    let too_large = |bytes| LoadError::TooLarge { path: path.to_owned(), bytes, limit };
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

fn check_kind(path: &Path, kind: Kind) -> Result<(), LoadError> {
    let path = path.to_owned();
    let not_wasm = |is, way_out| Err(LoadError::NotWasm { path: path.clone(), is, way_out });
    match kind {
        Kind::Component => Ok(()),
        Kind::Empty => not_wasm("is empty", "build or download it again"),
        Kind::Native => not_wasm("is native code", "compiled code is never accepted; give the component that it was made of"),
        Kind::Other => not_wasm("does not begin with `\\0asm`", "give the .wasm file that the toolchain makes, not its source"),
        Kind::Truncated => Err(LoadError::Truncated { path }),
        Kind::OtherVersion(version) => Err(LoadError::WasmVersion { path, version }),
        Kind::CoreModule { component_type: true } => Err(LoadError::CoreModule {
            path,
            way_out: "its types are in it; run `wasm-tools component new IN.wasm -o OUT.wasm`, or build for wasm32-wasip2",
        }),
        Kind::CoreModule { component_type: false } => Err(LoadError::CoreModule {
            path,
            way_out: "build with `cargo build --target wasm32-wasip2`, `componentize-js`, `componentize-py` or `wasm-tools component new`",
        }),
    }
}

/// The names of what a component imports and exports.
fn names(runtime: &Runtime, component: &Component) -> (Vec<String>, Vec<String>) {
    let ty = component.component_type();
    let own = |(name, _): (&str, _)| one_line(name, 200);
    (ty.imports(&runtime.engine).map(own).collect(), ty.exports(&runtime.engine).map(own).collect())
}

fn check_names(path: &Path, imports: &[String], exports: &[String]) -> Result<(), LoadError> {
    let other = imports.iter().chain(exports).filter_map(|name| contract_version(name)).find(|version| !speaks(version));
    if let Some(wanted) = other {
        return Err(LoadError::ContractVersion { path: path.to_owned(), wanted: wanted.to_owned(), spoken: CONTRACT });
    }
    let unknown: Vec<String> =
        imports.iter().filter(|import| contract_version(import).is_none() && !wasi::provides(import)).cloned().collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let way_out = if unknown.iter().any(|import| import.starts_with("wasi:http/")) {
        "a plugin does not fetch, it enqueues requests; build it without HTTP (componentize-js: disable `http` and `fetch-event`)"
    } else if unknown.iter().all(|import| import.starts_with("wasi:")) {
        "this host has WASI 0.2 without http; build it for wasm32-wasip2"
    } else {
        "build it for the world `plugin` of nephila:crawler"
    };
    Err(LoadError::UnknownImports { path: path.to_owned(), imports: unknown, way_out })
}

/// How much room its sandboxes take.
fn check_size(runtime: &Runtime, path: &Path, pre: &InstancePre<crate::sandbox::Inside>) -> Result<u32, LoadError> {
    let needed = pre.component().resources_required();
    let (memories, tables) = needed.as_ref().map_or((1, 1), |needed| (needed.num_memories, needed.num_tables));
    let weight = weight(memories, tables);
    // Beyond half of the room, idle sandboxes of others could keep it waiting for ever.
    if weight > (runtime.config.sandboxes / 2).max(1) {
        return Err(LoadError::TooDemanding { path: path.to_owned(), memories, tables });
    }
    Ok(weight)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
