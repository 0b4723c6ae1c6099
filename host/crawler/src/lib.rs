//! The run loop of a crawl: scheduler, visits, verdicts, commits, statistics, stop and resume.
//!
//! A page travels *claim → fetch → handle → commit*, and so do these files: `frontier` and `scheduler` say what is next, `walk`
//! fetches it, `conclude` hands it to the plugin and decides, `committer` makes it durable, `run` holds it all together. Export
//! follows the store by itself (crate `nephila-output`).

mod attempt;
mod autoscaled_pool;
mod block_pages;
mod bulletin;
mod call_cost;
mod committer;
mod companion;
mod conclude;
mod control;
#[cfg(debug_assertions)]
mod crash_hook;
mod decision;
mod failed_kinds;
mod failure_log;
mod finish;
mod flights;
mod foreign_names;
mod frontier;
mod handling;
mod hardship;
mod landing;
mod line;
mod listening;
mod named_storages;
mod pace;
mod persistence;
mod pipelines;
mod profile_log;
mod progress;
mod reads;
mod report;
mod retry;
mod run;
mod running_time;
mod scheduler;
mod session_desk;
mod session_settings;
mod setting_names;
mod setting_table;
mod settings;
mod setup;
mod site_queue;
mod status_message;
mod throttling;
mod units;
mod visit;
mod walk;

pub use autoscaled_pool::Load;
pub use companion::Companion;
pub use control::{Progress, Signal, StopLevel, StopOrder, Stopper, out_of_patience};
pub use foreign_names::{ForeignName, Ours, Whose};
pub use named_storages::NamedStorages;
pub use persistence::{ERRORS as SHOWN_ERRORS, ShownErrors, shown_statistics};
pub use profile_log::{ProfileLog, note_late_steps};
pub use report::{CrawlReport, CrawlStatus, FinishReason};
pub use run::run;
pub use session_settings::{SessionConfig, Sessions};
pub use setting_names::{MANIFEST_MEMORY, Near, SettingError};
pub use setting_table::{Setting, all as all_settings};
pub use settings::{CrawlSettings, PowerLoss, WhenIdle};
pub use setup::CrawlSetup;
