//! Queries of the page in hand: the host keeps and parses it, plugins ask.
//!
//! Decision: never parse twice, and build a tree only when a query needs one. Links, title and base take one streaming pass
//! (`stream.rs`); fields and selectors take the tree (`tree.rs`). Both stay with the page, so that a re-run on the same page
//! finds them. The cost is that a parsed page holds its tree until it is dropped: about ten times the size of its body, and for a body of
//! nothing but tags some seventy times, as far as it can be parsed within `query-timeout`.

pub(crate) mod fields;
#[cfg(test)]
mod hostile_pages;
pub(crate) mod links;
mod parsed;
pub(crate) mod patterns;
pub(crate) mod selectors;
mod stream;
mod tree;
mod watch;

pub use parsed::ParsedPage;
#[cfg(test)]
pub(crate) use parsed::html as html_page;
pub(crate) use watch::Watch;
