//! What became of a request that is no longer in flight.

use crate::failure_log::GivenUp;
use crate::hardship::Starved;
use nephila_model::{Applied, Timestamp};
use nephila_store::StoreError;
use std::sync::Arc;

/// What a request came to, as it was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameTo {
    /// Handled: its end.
    Handled,
    /// Given up: its end.
    Failed(Box<GivenUp>),
    /// Skipped.
    SetAside,
    /// It goes on at another site.
    Moved,
    /// It is tried again.
    Retry(Timestamp),
    /// The machine had no memory for its sandbox; it is tried again.
    Starved {
        /// When.
        not_before: Timestamp,
        /// How bad it is.
        starved: Starved,
    },
}

/// What became of a request that is no longer in flight.
#[derive(Debug)]
pub enum Landing {
    /// Its outcome was committed.
    Committed {
        /// What the store did.
        applied: Box<Applied>,
        /// What the request came to.
        came_to: CameTo,
        /// The reason for which the plugin stops the crawl, if it does.
        stop: Option<String>,
    },
    /// It was decided already: nothing was changed.
    Dropped,
    /// A limit was reached before it: it stays pending.
    Deferred,
    /// Another process owns its site now.
    Stale,
    /// The store failed; the request stays pending.
    Lost(Arc<StoreError>),
}
