//! The benchmark: Nephila against the bare loop that a good engineer would write, on the same pages, side by side.
//!
//! Decision: what is compared is processor time per page, of whole processes, in pairs that run one right after the other.
//! Wall time depends on what else a machine does; processor time much less, and the ratio of a pair least. A run whose output
//! is not exactly right is no run: every one is compared with what the site knows about its own pages.
//!
//! The programs: `bench` (the harness), `bare_loop` (the yardstick), `measure` (runs one program and counts its cost), `known` (what a
//! page costs where many URLs are known).
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test a panic is the report"))]

mod compare;
mod cost;
mod fill;
mod known;
mod known_report;
mod machine;
mod programs;
mod report;
mod site;
mod summary;
mod verify;
mod workload;

pub use compare::{Pair, compare};
pub use cost::Cost;
pub use known::{KnownSize, measure_known};
pub use known_report::KnownReport;
pub use machine::Machine;
pub use programs::{Contestant, Programs};
pub use report::{FIGURES, KNOWN_FIGURES, Report, write_between_markers};
pub use summary::{Spread, Summary};
pub use workload::Workload;
