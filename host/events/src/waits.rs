//! Waiting for listeners.

use crate::progress::Waiter;
use crate::subscriber::{Place, Subscriber};
use std::sync::Arc;
use std::time::Duration;

/// Until the listeners are done with these places, or the time is over; then those that are not.
pub(crate) async fn wait_for(places: Vec<Place>, waiter: Waiter, timeout: Option<Duration>) -> Vec<Arc<Subscriber>> {
    let all = async {
        for place in &places {
            place.over(waiter).await;
        }
    };
    let Some(timeout) = timeout else {
        all.await;
        return Vec::new();
    };
    match tokio::time::timeout(timeout, all).await {
        Ok(()) => Vec::new(),
        Err(_) => places.into_iter().filter(|place| !place.is_over(waiter)).map(|place| place.subscriber).collect(),
    }
}

/// Their names, for people.
pub(crate) fn names(listeners: &[Arc<Subscriber>]) -> Vec<String> {
    listeners.iter().map(|listener| listener.name.to_string()).collect()
}
