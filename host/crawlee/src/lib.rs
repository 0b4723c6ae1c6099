//! Crawlee's folder of key-values, and the shapes in which Crawlee keeps a crawler's state in it.
//!
//! Decision: the folder is a *show-case*, not the truth. What Nephila knows is in its store; here it is written out for people and
//! programs that know Crawlee, in files that Crawlee for Python opens as its own and that Crawlee for JavaScript reads where the two
//! agree. So nothing here is synced to the disk, a crash leaves the files of the last time, and nothing but an explicit resume *from*
//! a Crawlee folder ever reads it back. The price: whoever edits the files changes nothing in a running crawl.
//!
//! * [`KeyValueWriter`] and [`KeyValueReader`]: the folder `STORAGE/key_value_stores/NAME/`. They block: call them where that is
//!   allowed (`tokio::task::spawn_blocking`).
//! * [`CrawlerStatistics`], [`write_state`], [`read_state`], [`QueueState`]: Crawlee's shapes, from plain data; no files.
//! * [`RecordKey`]: the keys under which Crawlee looks for them, by the crawler's id.
//!
//! # What Crawlee's two implementations do differently
//!
//! | | Python (1.11) | JavaScript (3.18) | here |
//! |---|---|---|---|
//! | file of a value | the key, percent-encoded, without an ending | the key and an ending by its type | as Python; JavaScript finds it too, and takes it for text unless the metadata says JSON |
//! | metadata of a value | always: `key`, `content_type`, `size` | by setting: `key`, `contentType`, `extension` | both names of the type, so that both read it |
//! | times in states | ISO 8601 | ISO 8601, but a number for `crawlerLastStartTimestamp` | ISO 8601; both are read |
//! | `crawlerRuntimeMillis` | an ISO 8601 duration, whatever the name says; not read | a number | a number; both are read |
//! | key of the statistics | `__CRAWLER_STATISTICS_…` | `SDK_CRAWLER_STATISTICS_…` | as Python |

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test a panic is the report"))]

mod dataset;
mod error;
mod folder;
mod json;
mod key;
mod metadata;
mod name;
mod queue;
mod reader;
mod record;
mod request;
mod request_queue;
mod state;
mod statistics;
mod storage;
mod time;
mod writer;

pub use dataset::DatasetWriter;
pub use error::CrawleeError;
pub use key::{MAX_KEY_BYTES, RecordKey};
pub use name::StoreName;
pub use queue::{QueueCounts, QueueState};
pub use reader::{KeyValueReader, RecordInfo};
pub use record::{MediaType, Record, RecordValue};
pub use request::{ListedRequest, unique_key};
pub use request_queue::RequestQueueWriter;
pub use state::{read_state, write_state};
pub use statistics::CrawlerStatistics;
pub use storage::is_storage;
pub use writer::KeyValueWriter;
