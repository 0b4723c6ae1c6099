//! Key-value stores: small files by name. A call sees its own writes; they are kept when its effects commit.
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! # fn handle(call: &Call) -> HandlerResult {
//! key_value::set("settings", &serde_json::json!({ "currency": "GBP" }))?;
//! key_value::named("covers").set_bytes("emma.jpg", "image/jpeg", call.document()?.body())?;
//! # Ok(()) }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::key_value as wit;
use crate::{Error, json};

/// A value's bytes with their media type.
pub use crate::bindings::imports::nephila::crawler::key_value::Entry;

/// Reads a JSON value from the crawl's default store.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Error> {
    KeyValueStore::default().get(key)
}

/// Writes a value as JSON to the crawl's default store.
pub fn set<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), Error> {
    KeyValueStore::default().set(key, value)
}

/// Removes a value from the crawl's default store; removing what is not there is no error.
pub fn remove(key: &str) -> Result<(), Error> {
    KeyValueStore::default().remove(key)
}

/// A store by name; the crawls of one store share it.
pub fn named(name: impl Into<String>) -> KeyValueStore {
    KeyValueStore { name: Some(name.into()) }
}

/// A key-value store: a named one, or by default the crawl's own.
#[derive(Debug, Clone, Default)]
pub struct KeyValueStore {
    name: Option<String>,
}

impl KeyValueStore {
    /// Reads a JSON value.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        let Some(entry) = self.get_bytes(key)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&entry.value);
        json::read(&format!("the value of `{key}`"), &text).map(Some)
    }

    /// Writes a value as JSON.
    pub fn set<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<(), Error> {
        let text = json::write(&format!("the value of `{key}`"), value)?;
        self.set_bytes(key, "application/json", text)
    }

    /// Reads a value of any media type.
    pub fn get_bytes(&self, key: &str) -> Result<Option<Entry>, Error> {
        Ok(wit::get(self.name.as_deref(), key)?)
    }

    /// Writes a value of any media type.
    pub fn set_bytes(&self, key: &str, content_type: &str, value: impl Into<Vec<u8>>) -> Result<(), Error> {
        Ok(wit::set(self.name.as_deref(), key, &Entry { content_type: content_type.into(), value: value.into() })?)
    }

    /// Removes a value; removing what is not there is no error.
    pub fn remove(&self, key: &str) -> Result<(), Error> {
        Ok(wit::remove(self.name.as_deref(), key)?)
    }
}
