//! Queries of a page: fields, rows, links, title.
//!
//! Decision: never parse twice, and build no tree that costs more than the question. What is asked of a page is answered from the
//! quick tree (`quick/`) where the page is tame, and from html5ever's (`tree.rs`) where it is not; links, title and base of such a page take
//! one streaming pass (`stream.rs`). All of it stays with the page, so that a re-run on the same page finds it. The cost is
//! that a parsed page holds its tree until it is dropped.
//!
//! Where to look: what may be asked, `field.rs`; how it is answered, `fields.rs` and `links.rs`; what it may spend, `watch.rs`.

mod clock;
mod document;
mod fault;
mod field;
mod fields;
#[cfg(test)]
mod hostile_pages;
mod links;
mod matcher;
mod parsed;
mod quick;
mod resolve;
mod selectors;
mod stream;
mod tree;
mod watch;
mod words;

pub use clock::thread_clock;
pub use fault::PageFault;
pub use field::{Field, FieldKind, FieldValue};
pub use fields::{extract, extract_each, has_match};
pub use links::{Link, links, targets};
pub use parsed::ParsedPage;
#[cfg(test)]
use parsed::html as html_page;
pub use selectors::SelectorCache;
pub use watch::Watch;

/// Bytes of stack that any query gets along with.
pub const STACK: usize = 1 << 20;
