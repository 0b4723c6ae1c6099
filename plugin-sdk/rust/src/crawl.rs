//! The crawl as a whole.

use crate::bindings::imports::nephila::crawler::crawl as wit;

/// Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit.
pub fn stop(reason: &str) {
    wit::stop(reason);
}

/// Sets the status message that people see. Takes effect with the call's commit.
pub fn status_message(message: &str) {
    wit::status_message(message);
}
