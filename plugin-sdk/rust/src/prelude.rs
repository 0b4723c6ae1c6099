//! All that a plugin usually needs: `use nephila_sdk::prelude::*;`.

pub use serde::{Deserialize, Serialize};

pub use crate::{
    Call, Crawler, Document, Error, FailureReason, Fields, HandlerResult, Links, Manifest, NewRequest, Request, Router, Row,
    config, crawl, dataset, enqueue, enqueue_links, fatal, key_value, log, lookup, retry, skip, state, text,
};
pub use crate::{debug, error, info, trace, warn};
