//! Sinks: where a crawl's items go besides its dataset.
//!
//! Decision: a sink is a *reader of the dataset* with a cursor of its own, not a part of the commit. A page's commit never waits for a
//! sink, a sink can be added to a job later and gets every row, and what a sink needs to go on after a crash is one small record in
//! the store. The price: each sink reads the dataset again, and a file stands up to a second behind.
//!
//! The way through: [`Target::parse`] (what `-o` says) → [`Exporter::prepare`] (every refusal, before the crawl begins) →
//! [`Exporter::run`] (beside the crawl).
//!
//! * **Regular files** ([`Target::File`]): exactly once. A row is the item's line. Kill -9 at any byte leaves a file that the next
//!   start completes without a line twice or broken. Bytes that are not ours are never cut.
//! * **A storage folder of Crawlee's** ([`export_storage`]): a whole job as one moment has it, also while a crawl works in
//!   it.
//! * **Pipes** ([`Target::Pipe`], [`Target::Stdout`]): at least once, since what a reader has got cannot be known. A row begins with
//!   the field `"_id"`, the row's id, the same for the same page whenever it is written, so that a reader can drop what it has.
//!   If the item has a field `_id` of its own, that stays as it is and ours is called `_row_id`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test a panic is the report"))]

mod batch;
mod beside;
mod blocking;
mod check;
mod error;
mod exporter;
mod halt;
mod jsonl;
mod mark;
mod mounts;
mod names;
mod pipe;
mod place;
mod rows;
mod storage;
mod storage_error;
mod target;

pub use error::OutputError;
pub use exporter::{Exporter, check_all, check_new};
pub use halt::Halt;
pub use names::Renamed;
pub use rows::{CrawlRows, Rows, SnapshotRows};
pub use storage::{Exported, export_storage};
pub use storage_error::StorageError;
pub use target::{Existing, Target};
