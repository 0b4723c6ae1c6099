//! A way for tests to make a page, or an event, kill the host. Only in builds with debug assertions; the release build has no
//! such thing.

use std::sync::OnceLock;
use url::Url;

/// Ends the process if `NEPHILA_TEST_CRASH_ON` is set and the URL contains it.
pub fn at(url: &Url) {
    static NEEDLE: OnceLock<Option<String>> = OnceLock::new();
    let needle = NEEDLE.get_or_init(|| std::env::var("NEPHILA_TEST_CRASH_ON").ok().filter(|needle| !needle.is_empty()));
    if needle.as_ref().is_some_and(|needle| url.as_str().contains(needle)) {
        std::process::abort();
    }
}

/// Ends the process if `NEPHILA_TEST_CRASH_ON_EVENT` is set and is the name of the event that the listener is about to hear.
pub fn at_event(event: &str) {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    if NAME.get_or_init(|| std::env::var("NEPHILA_TEST_CRASH_ON_EVENT").ok()).as_deref() == Some(event) {
        std::process::abort();
    }
}
