//! All that a plugin usually needs: `use nephila_sdk::prelude::*;`.

pub use serde::{Deserialize, Serialize};

pub use crate::{
    Call, Crawler, Document, Error, Event, FailureReason, Fields, HandlerResult, Item, Links, Manifest, NewRequest, NewSession,
    Pipeline, Request, Router, Row, Verdict, config, crawl, dataset, enqueue, enqueue_links, events, fatal, key_value, log,
    lookup, retry, session, skip, state, text,
};
pub use crate::{debug, error, info, trace, warn};
