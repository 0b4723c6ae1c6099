//! Write Nephila plugins in Rust.
//!
//! A plugin is a function from *(request, page, state)* to *effects*. The host fetches the page and keeps it; the plugin
//! asks it for what it needs, pushes items and enqueues requests. All effects of a call are committed together, or none.
//!
//! ```no_run
//! use nephila_sdk::prelude::*;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Quote {
//!     text: String,
//!     author: String,
//!     tags: Vec<String>,
//! }
//!
//! struct Quotes;
//!
//! impl Crawler for Quotes {
//!     fn manifest() -> Manifest {
//!         Manifest::new("quotes", env!("CARGO_PKG_VERSION"), "Collects quotes with their authors and tags.")
//!     }
//!
//!     fn handle(call: &Call) -> HandlerResult {
//!         let fields = Fields::new().text("text", ".text").text("author", ".author").texts("tags", ".tag");
//!         for row in call.document()?.extract_each(".quote", fields)? {
//!             dataset::push(&row.into::<Quote>()?)?;
//!         }
//!         enqueue_links(Links::same_hostname().selector("li.next a"))?;
//!         Ok(())
//!     }
//! }
//!
//! nephila_sdk::plugin!(Quotes);
//! # fn main() {}
//! ```
//!
//! The crate of a plugin has `crate-type = ["cdylib", "rlib"]`, is compiled for `wasm32-unknown-unknown`, and the result is
//! encoded as a component; `cargo xtask plugins` does both. On any other target the crate compiles too, so
//! that a plugin's pure functions can be tested with `cargo test`; there is no host there, and calling one panics.
//!
//! Every call but a listener's begins in fresh memory, so that what a plugin's memory holds at its start is what each page costs. `cargo xtask plugins` therefore
//! links a stack of 128 KiB (rustc's default is 1 MiB; with cargo alone, `-Clink-arg=-zstack-size=131072` in `RUSTFLAGS` does the same),
//! and the feature `heap`, on by default, allocates from a small piece of that first memory. A handler that recurses deeply traps with that stack:
//! link a larger one, or recurse less. Large static data costs every page, too.
//!
//! | what | where |
//! |---|---|
//! | the plugin itself | [`Crawler`], [`plugin!`], [`Manifest`], [`Router`] |
//! | the page in hand | [`Call`], [`Document`], [`Fields`], [`Row`] |
//! | more pages | [`enqueue`], [`enqueue_links`], [`lookup`], [`NewRequest`], [`Links`] |
//! | results | [`dataset`], [`key_value`] |
//! | what all handlers share | [`state`] |
//! | what happens | [`events`], [`Event`] |
//! | items on their way | [`Item`], [`Verdict`], [`Pipeline`] |
//! | who we are to a site | [`session`], [`NewSession`] |
//! | the run | [`config`], [`crawl`], [`log`] |
//! | giving up | [`Error`], [`retry`], [`skip`], [`fatal`] |

#[doc(hidden)]
pub mod bindings;
mod call;
pub mod config;
pub mod crawl;
pub mod dataset;
mod document;
mod error;
pub mod events;
#[cfg(any(test, all(target_arch = "wasm32", not(target_feature = "atomics"), feature = "heap")))]
mod heap;
mod json;
pub mod key_value;
mod links;
pub mod log;
mod manifest;
mod panic;
mod pipeline;
mod plugin;
pub mod prelude;
mod queue;
mod request;
mod router;
mod row;
pub mod session;
pub mod state;
pub mod text;

pub use call::Call;
pub use document::{Document, Fields};
pub use error::{Error, HandlerResult, fatal, retry, skip};
pub use events::Event;
pub use links::Links;
pub use manifest::Manifest;
pub use pipeline::{Item, Pipeline, Verdict};
pub use plugin::{Crawler, FailureReason};
pub use queue::{Enqueued, LinkSummary, RequestState, RequestStatus, enqueue, enqueue_links, lookup};
pub use request::{Header, Method, NewRequest, Renderer, Request, StatusRange};
pub use router::{Handler, Router};
pub use row::Row;
pub use session::NewSession;

pub use serde;
pub use serde_json;

/// Every plugin's, unless it switches the feature `heap` off to bring its own.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics"), feature = "heap"))]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// The generated bindings, for what this crate has no words for (yet).
pub mod raw {
    pub use crate::bindings::imports::nephila::crawler::*;
}
