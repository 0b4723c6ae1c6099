//! `use_state`: a map of keys to JSON values that all handlers of a crawler id share.
//!
//! It feels like a map of one's own, and is safe like one: if anything that a call read has changed by the time it
//! commits, the host runs the handler again on the same page. Writes without a read never conflict.
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! # fn handle() -> HandlerResult {
//! state::increment("pages", 1)?;                                                    // never conflicts
//! state::update("longest", |longest: Option<String>| longest.unwrap_or_default())?; // read, then write
//! # Ok(()) }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::state as wit;
use crate::{Error, json};

/// Reads a value. Sees the call's own writes.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Error> {
    match wit::get(key)? {
        Some(text) => json::read(&format!("the state's `{key}`"), &text).map(Some),
        None => Ok(None),
    }
}

/// Writes a value.
pub fn set<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), Error> {
    Ok(wit::set(key, &json::write(&format!("the state's `{key}`"), value)?)?)
}

/// Reads a value, changes it, and writes it: atomic, since the call runs again if another one was quicker.
pub fn update<T: Serialize + DeserializeOwned>(key: &str, change: impl FnOnce(Option<T>) -> T) -> Result<(), Error> {
    set(key, &change(get(key)?))
}

/// The keys that have a value, in order.
pub fn keys() -> Result<Vec<String>, Error> {
    Ok(wit::keys()?)
}

/// Removes a key.
pub fn remove(key: &str) -> Result<(), Error> {
    Ok(wit::remove(key)?)
}

/// Adds to a whole number; an absent key counts as 0. Returns nothing, so that it never conflicts.
pub fn increment(key: &str, by: i32) -> Result<(), Error> {
    Ok(wit::increment(key, by)?)
}

/// Appends a value to a list; an absent key counts as an empty one.
pub fn append<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), Error> {
    Ok(wit::append(key, &json::write(&format!("the state's `{key}`"), value)?)?)
}

/// Keeps the greater of what is there and `value`.
pub fn max(key: &str, value: f64) -> Result<(), Error> {
    Ok(wit::max(key, value)?)
}
