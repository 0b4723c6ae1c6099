//! What end-to-end tests share: the built binary, the built plugins, a crawl as a child process.
//!
//! Decision: these tests use what users use, the real binary and real plugins against a real server on loopback. They find what
//! `cargo xtask build --dev` has built; where it has not, they fail and say so, they never pass silently.

mod crawl;
mod files;
mod ledger;
pub mod reach;
pub mod sessions;

pub use crawl::{Crawl, Ended};
pub use files::{binary, lines, plugin, sorted_lines, test_plugin};
pub use ledger::balance;
