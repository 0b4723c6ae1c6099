//! Names that a plugin gives to things: what is allowed, and what is said of the rest.

use crate::failure::one_line;
use crate::fault::Fault;
use nephila_model::{DatasetName, KvStoreName};

/// A key of the state or of a key-value store: 1 to `most` bytes, no control characters.
pub(crate) fn key(kind: &str, key: &str, most: usize) -> Result<(), Fault> {
    let cause = if key.is_empty() {
        "it is empty".to_owned()
    } else if key.len() > most {
        format!("it has {} bytes, and {most} are allowed", key.len())
    } else if key.contains(char::is_control) {
        "it has control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(Fault::refused("bad-key", format!("`{}` cannot be a {kind} key: {cause}", one_line(key, 80))))
}

/// The name of a dataset; none is the crawl's own.
pub(crate) fn dataset(name: Option<String>) -> Result<DatasetName, Fault> {
    name.map_or(Ok(DatasetName::Default), |name| named("dataset", name).map(DatasetName::Named))
}

/// The name of a key-value store; none is the crawl's own.
pub(crate) fn store(name: Option<String>) -> Result<KvStoreName, Fault> {
    name.map_or(Ok(KvStoreName::Default), |name| named("key-value store", name).map(KvStoreName::Named))
}

fn named(kind: &str, name: String) -> Result<String, Fault> {
    let fits = (1..=128).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if fits {
        return Ok(name);
    }
    let message = format!("`{}` cannot name a {kind}; use 1 to 128 letters, digits, `.`, `_` and `-`", one_line(&name, 80));
    Err(Fault::refused("bad-name", message))
}

/// The names of the host's own events; all but the last three are Crawlee's.
const HOST_EVENTS: [&str; 15] = [
    "persistState",
    "systemInfo",
    "crawlerStatus",
    "migrating",
    "aborting",
    "exit",
    "sessionRetired",
    "browserLaunched",
    "browserRetired",
    "browserClosed",
    "pageCreated",
    "pageClosed",
    "crawlStarted",
    "crawlFinished",
    "requestFailed",
];

/// Bytes of an event's name.
const LONGEST_EVENT: usize = 128;

/// An event that can be heard: one of the host's, or a plugin's own.
pub(crate) fn event(name: &str) -> Result<(), Fault> {
    if HOST_EVENTS.contains(&name) { Ok(()) } else { own_event(name) }
}

/// An event that a plugin may emit. None of the host's in whatever case: whoever listened to `persiststate` would wait for ever.
pub(crate) fn own_event(name: &str) -> Result<(), Fault> {
    let shown = one_line(name, 80);
    if let Some(ours) = HOST_EVENTS.into_iter().find(|ours| ours.eq_ignore_ascii_case(name)) {
        let message =
            format!("`{shown}` is too near to the host's own event `{ours}`; write that one to hear it, and emit another one");
        return Err(Fault::refused("bad-event", message));
    }
    let fits = name.len() <= LONGEST_EVENT
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:/".contains(&b));
    if fits {
        return Ok(());
    }
    let message = format!(
        "`{shown}` cannot name an event; use a letter, then at most {} letters, digits, `.`, `_`, `-`, `:` and `/`",
        LONGEST_EVENT - 1
    );
    Err(Fault::refused("bad-event", message))
}

/// A short text that travels with a request: no control characters, at most `most` bytes.
pub(crate) fn short(what: &str, text: &str, most: usize) -> Result<(), Fault> {
    if text.len() <= most && !text.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("the {what} `{}` has control characters or more than {most} bytes", one_line(text, 80));
    Err(Fault::refused("bad-request", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_names_of_their_own() {
        for own in ["a", "price-drop", "shop:new/2.0_x", &"x".repeat(128)] {
            assert!(event(own).is_ok() && own_event(own).is_ok(), "{own}");
        }
        for bad in ["", "1a", "-a", "a b", "ä", "a\n", "persiststate", "EXIT", &"x".repeat(129)] {
            assert!(event(bad).is_err() && own_event(bad).is_err(), "{bad}");
        }
        for ours in HOST_EVENTS {
            assert!(event(ours).is_ok() && own_event(ours).is_err(), "{ours}");
        }
    }

    #[test]
    fn the_hosts_events_are_those_of_the_contract() {
        let wit = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/imports.wit")).expect("the contract");
        for ours in HOST_EVENTS {
            assert!(wit.contains(&format!("`{ours}`")), "{ours}");
        }
    }

    #[test]
    fn names_that_would_make_trouble_later_are_refused() {
        for bad in ["", "a/b", "../x", "ä", &"x".repeat(129)] {
            assert!(dataset(Some(bad.to_owned())).is_err() && store(Some(bad.to_owned())).is_err(), "{bad}");
        }
        assert_eq!(dataset(None).expect("a name"), DatasetName::Default);
        assert_eq!(store(Some("a-b.c_1".into())).expect("a name"), KvStoreName::Named("a-b.c_1".into()));
        assert!(key("state", "a/b: ü", 256).is_ok());
        for bad in ["", "a\nb", &"x".repeat(257)] {
            assert!(key("state", bad, 256).is_err(), "{bad}");
        }
    }
}
