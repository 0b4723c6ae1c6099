//! The run loop of a crawl: scheduler, visits, verdicts, commits, statistics, stop and resume.
//!
//! A page travels *claim → fetch → handle → commit*, and so do these files: `frontier` and `scheduler` say what is next, `visit`
//! fetches it, `conclude` hands it to the plugin and decides, `committer` makes it durable, `run` holds it all together. Export
//! follows the store by itself (crate `nephila-output`).

mod committer;
mod conclude;
mod control;
#[cfg(debug_assertions)]
mod crash_hook;
mod finish;
mod frontier;
mod line;
mod progress;
mod reads;
mod report;
mod retry;
mod run;
mod scheduler;
mod settings;
mod site_queue;
mod visit;

pub use control::{Progress, StopLevel, StopOrder, Stopper};
pub use report::{CrawlReport, CrawlStatus, FinishReason};
pub use run::{CrawlSetup, run};
pub use settings::{CrawlSettings, PowerLoss, Setting, SettingError, TABLE as SETTINGS, parse_duration};
