//! A web server whose every answer is known in advance: the other side of the end-to-end tests, crash tests and benchmarks.
//!
//! A test of a crawler can say "exactly 1,050 requests, 1,000 items" only against a site that answers the same for ever.
//! So everything here, also the trouble (failures, redirects, cut bodies, odd charsets), is a pure function of the seed and
//! the page; the only state is the counters, and those can be read and zeroed. [`Running::plan`] tells what a crawl will meet.
//!
//! ```no_run
//! # async fn example() -> Result<(), nephila_site::SiteError> {
//! use nephila_site::{Site, SiteConfig};
//! let site = Site::start(SiteConfig::bookshop()).await?;
//! println!("{}", site.url());
//! let stats = site.stats();
//! site.stop().await;
//! # Ok(()) }
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "in a test a panic is the report"))]

mod answer;
mod body;
mod bookshop;
mod bookshop_html;
mod charset;
mod config;
mod downloads;
mod error;
mod escape;
mod facts;
mod faults;
mod files;
mod form;
mod gate;
mod heavy;
mod heavy_html;
mod heavy_text;
mod links;
mod mesh;
mod orders;
mod pages;
mod percent;
mod personal;
mod plan;
mod practice;
mod practice_html;
mod prepared;
mod quotes;
mod seed;
mod server;
mod stats;
mod words;

pub use bookshop::{Book, books};
pub use config::{Content, HeavyShape, MeshShape, SiteConfig, Switches};
pub use downloads::{Download, downloads};
pub use error::SiteError;
pub use facts::PageFacts;
pub use gate::GateStats;
pub use heavy::heavy_facts;
pub use mesh::mesh_facts;
pub use orders::{Order, orders};
pub use plan::PagePlan;
pub use quotes::{Author, Quote, authors, quotes};
pub use server::{Running, Site};
pub use stats::Stats;
