//! All that a plugin usually needs: `use nephila_sdk::prelude::*;`.

pub use serde::{Deserialize, Serialize};

pub use crate::{
    Call, Crawler, Document, Error, Event, FailureReason, Fields, HandlerResult, Links, Manifest, NewRequest, NewSession,
    Request, Router, Row, config, crawl, dataset, enqueue, enqueue_links, events, fatal, key_value, log, lookup, retry, session,
    skip, state, text,
};
pub use crate::{debug, error, info, trace, warn};
