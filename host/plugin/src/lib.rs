//! Runs plugins: sandboxed WebAssembly components that understand a site.
//!
//! Decision: a call of a plugin is a message. A [`Call`] (request, page, a reader of what is committed) goes in, a [`CallReport`]
//! (effects, or a typed failure, and what it cost) comes out; the plugin itself writes nothing, anywhere. No type of wasmtime
//! leaves this crate, so that a call may cross a process border one day. By default every call gets a fresh sandbox; what that
//! costs is in `pool.rs`.
//!
//! Where to look: what is loaded and what is refused, `load.rs`; what a call may spend, `limits.rs`; what a plugin may call, `imports/`;
//! what is asked of pages, the crate `nephila-page`; how calls run and end, `run.rs` and `failure.rs`; the instance that
//! outlives its calls, `listener.rs`; what becomes of items on their way, `pipeline.rs`.

mod bindings;
mod cache;
mod call;
mod draft;
mod engine;
mod entry_points;
mod failure;
mod fault;
mod fuel;
mod guest_stack;
mod host;
mod host_time;
mod imports;
mod json;
mod limits;
mod listener;
mod load;
mod load_error;
mod logs;
mod manifest;
mod message;
mod meter;
mod names;
mod patterns;
mod pipeline;
mod plugin;
mod pool;
mod reads;
mod run;
mod sandbox;
mod session;
mod sniff;
mod state_view;
mod time;
mod wasi;

pub use call::{Call, CallMetrics, CallReport, CallSettings};
pub use entry_points::EntryPoints;
pub use failure::{CallFailure, ErrorInfo, LimitKind};
pub use host::{HostConfig, Metering, PluginError, PluginHost};
pub use limits::Limits;
pub use listener::{Listener, ListenerEvent, ListenerReport};
pub use load_error::LoadError;
pub use manifest::Manifest;
pub use nephila_page::ParsedPage;
pub use pipeline::PipelineReport;
pub use plugin::Plugin;
pub use pool::InstancePolicy;
pub use reads::{DatasetSlice, ReadError, Reads};
pub use session::{
    AdditionRefused, NewSession, SameSite, SessionAddition, SessionAsk, SessionCookie, SessionMark, SessionPoolView, SessionView,
};
