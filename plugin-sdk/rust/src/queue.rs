//! The request queue. What is enqueued is accepted when the call's effects commit.

use crate::bindings::imports::nephila::crawler::queue;
use crate::{Error, Links, NewRequest};

pub use crate::bindings::imports::nephila::crawler::queue::{Enqueued, LinkSummary, RequestState, RequestStatus};

/// Enqueues requests; one answer each, in order.
pub fn enqueue(requests: impl IntoIterator<Item = NewRequest>) -> Result<Vec<Enqueued>, Error> {
    let requests = requests.into_iter().map(NewRequest::into_wit).collect::<Result<Vec<_>, _>>()?;
    Ok(queue::enqueue(&requests)?)
}

/// Enqueues links of the page in hand.
pub fn enqueue_links(links: Links) -> Result<LinkSummary, Error> {
    Ok(queue::enqueue_links(&links.into_wit()?)?)
}

/// What the queue knows of these URLs; one answer each, in order, none for one never accepted.
///
/// A look, not a promise: outside `finish` the answer may be old by the time it is read.
pub fn lookup<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> Result<Vec<Option<RequestStatus>>, Error> {
    let urls: Vec<String> = urls.into_iter().map(Into::into).collect();
    Ok(queue::lookup(&urls)?)
}
