//! Why a plugin cannot be loaded: each in one line, with the cause and the way out.

use crate::CallFailure;
use std::path::PathBuf;

/// Why a plugin cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no plugin at {}; check the path, or build it first", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("the plugin {} cannot be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// It is larger than the host allows.
    #[error("the plugin {} has {bytes} bytes, and {limit} are allowed; build it optimised for size, or raise the limit", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The host's limit.
        limit: u64,
    },
    /// It is no WebAssembly.
    #[error("{} is not a WebAssembly component: it {is}; {way_out}", path.display())]
    NotWasm {
        /// The file.
        path: PathBuf,
        /// What it is.
        is: &'static str,
        /// What to do.
        way_out: &'static str,
    },
    /// It ends too early.
    #[error("the plugin {} is truncated: it ends within a section; build or download it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// It is of a version of WebAssembly that this host does not know.
    #[error("the plugin {} is WebAssembly of another version ({version:02x?}); build it with a present toolchain", path.display())]
    WasmVersion {
        /// The file.
        path: PathBuf,
        /// The version's bytes.
        version: [u8; 4],
    },
    /// It is a core module.
    #[error("{} is a core module, not a component: {way_out}", path.display())]
    CoreModule {
        /// The file.
        path: PathBuf,
        /// What to do.
        way_out: &'static str,
    },
    /// It does not compile.
    #[error("the plugin {} does not compile: {cause}; build it again with a present toolchain", path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// What the compiler says.
        cause: String,
    },
    /// It is built with the asynchronous half of the component model.
    #[error(
        "the plugin {} is built with component-model async, and this host's contract is synchronous; build it without (componentize-qjs: `--sync`)",
        path.display()
    )]
    Async {
        /// The file.
        path: PathBuf,
    },
    /// It was made for a version of the contract that this host does not speak.
    #[error(
        "the plugin {} is made for nephila:crawler@{wanted}, and this host speaks {spoken}; build it for {spoken}, or use a host that speaks {wanted}",
        path.display()
    )]
    ContractVersion {
        /// The file.
        path: PathBuf,
        /// What it wants.
        wanted: String,
        /// What this host has.
        spoken: &'static str,
    },
    /// It imports what this host does not have.
    #[error("the plugin {} imports what this host does not give: {}; {way_out}", path.display(), imports.join(", "))]
    UnknownImports {
        /// The file.
        path: PathBuf,
        /// The imports.
        imports: Vec<String>,
        /// What to do.
        way_out: &'static str,
    },
    /// Its imports are of other types than this host's.
    #[error("the plugin {} does not fit this host's nephila:crawler@{spoken}: {cause}; build it with this host's wit folder", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What this host has.
        spoken: &'static str,
        /// What does not fit.
        cause: String,
    },
    /// It exports no handler, and no pipeline or listener either.
    #[error(
        "the plugin {} has no handler: it exports {exports}, and needs nephila:crawler/handler@{spoken} (or `pipeline` or `listener`, to take part in \
         others' crawls); build it for the world `plugin`",
        path.display()
    )]
    NoHandler {
        /// The file.
        path: PathBuf,
        /// What it exports.
        exports: String,
        /// What this host has.
        spoken: &'static str,
    },
    /// An entry point has other types than the contract's.
    #[error("the plugin {} has a `{entry_point}` of other types than nephila:crawler@{spoken}: {cause}; build it with this host's wit folder", path.display())]
    Mistyped {
        /// The file.
        path: PathBuf,
        /// Which.
        entry_point: &'static str,
        /// What this host has.
        spoken: &'static str,
        /// What does not fit.
        cause: String,
    },
    /// It needs more memories or tables than a sandbox may have.
    #[error("the plugin {} has {memories} memories and {tables} tables, more than a sandbox of this host may have; allow more sandboxes, or build it smaller", path.display())]
    TooDemanding {
        /// The file.
        path: PathBuf,
        /// Its memories.
        memories: u32,
        /// Its tables.
        tables: u32,
    },
    /// It begins with more memory, or more memories or tables, than the pool of sandboxes has for one.
    #[error(
        "the plugin {} needs more from the start than a sandbox of this host has: {cause}; {way_out}",
        path.display()
    )]
    BeginsTooLarge {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        cause: String,
        /// What to do.
        way_out: &'static str,
    },
    /// It cannot be started.
    #[error("the plugin {} cannot be started: {failure}", path.display())]
    Start {
        /// The file.
        path: PathBuf,
        /// How it ended.
        failure: CallFailure,
    },
    /// What it says of itself is not usable.
    #[error("the plugin {} describes itself wrongly: {cause}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        cause: String,
    },
}
