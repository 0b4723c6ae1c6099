//! The benchmark: Nephila against the bare loop that a good engineer would write, on the same pages, side by side.
//!
//! Decision: what is compared is processor time per page, of whole processes, in pairs that run one right after the other.
//! Wall time depends on what else a machine does; processor time much less, and the ratio of a pair least. A run whose output
//! is not exactly right is no run: every one is compared with what the site knows about its own pages.
//!
//! The programs: `bench` (the harness), `bare_loop` (the yardstick), `measure` (runs one program and counts its cost), `known` (what a
//! page costs where many URLs are known), `languages` (what a page costs in each language that plugins are written in), `leash` (lets no program outlive the one that started it).
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test a panic is the report"))]

mod arguments;
mod compare;
mod cost;
mod exit;
mod fill;
mod known;
mod known_report;
mod languages;
mod languages_report;
mod leash;
mod machine;
mod programs;
mod report;
mod site;
mod summary;
mod targets;
mod verify;
mod work;
mod workload;

pub use arguments::nephila_arguments;
pub use compare::{Pair, compare};
pub use cost::Cost;
pub use exit::said;
pub use known::{KnownSize, measure_known};
pub use known_report::KnownReport;
pub use languages::{Language, Round, measure_languages};
pub use languages_report::LanguagesReport;
pub use leash::{follow, leashed};
pub use machine::Machine;
pub use programs::{Contestant, Programs};
pub use report::Report;
pub use summary::{Spread, Summary};
pub use targets::{FIGURES, KNOWN_FIGURES, LANGUAGE_FIGURES, Marks, Targets};
pub use work::WorkFolder;
pub use workload::Workload;
