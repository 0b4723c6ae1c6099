//! Key-value stores: small files by name. A call sees its own writes; they are kept when its effects commit.
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! # fn handle(call: &Call) -> HandlerResult {
//! key_value::set("settings", &serde_json::json!({ "currency": "GBP" }))?;
//! key_value::named("covers").set_bytes("emma.jpg", "image/jpeg", call.document()?.body())?;
//! # Ok(()) }
//! ```
//!
//! An *auto-saved* value is one that all handlers share and change, as safely as [`state`](crate::state), and that the host shows as a record
//! of its store now and then and at the end:
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! # use std::collections::BTreeMap;
//! # fn handle() -> HandlerResult {
//! key_value::auto_saved("books-by-price", BTreeMap::new()).update(|books: &mut BTreeMap<String, u32>| {
//!     *books.entry("under 20".to_owned()).or_default() += 1;
//! })
//! # }
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

/// An auto-saved value of the crawl's default store (Crawlee: `get_auto_saved_value(key, default)`).
pub fn auto_saved<T: Serialize + DeserializeOwned>(key: impl Into<String>, default: T) -> AutoSaved<T> {
    KeyValueStore::default().auto_saved(key, default)
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

    /// An auto-saved value (Crawlee: `get_auto_saved_value(key, default)`). Nothing is read or written before it is asked.
    pub fn auto_saved<T: Serialize + DeserializeOwned>(&self, key: impl Into<String>, default: T) -> AutoSaved<T> {
        AutoSaved { store: self.name.clone(), key: key.into(), default }
    }
}

/// A value that all handlers of the crawler id share, shown as a record of its store at each `persistState` and at the end.
///
/// It is safe as [`state`](crate::state) is: if it has changed by the time that a call which read it commits, the host runs the handler again on
/// the same page. Its first value is the record that the store has under its key, or else the default.
#[derive(Debug, Clone)]
pub struct AutoSaved<T> {
    store: Option<String>,
    key: String,
    default: T,
}

impl<T: Serialize + DeserializeOwned> AutoSaved<T> {
    /// The value now, the call's own changes included.
    pub fn get(self) -> Result<T, Error> {
        match wit::get_auto_saved(self.store.as_deref(), &self.key)? {
            Some(text) => json::read(&self.what(), &text),
            None => Ok(self.default),
        }
    }

    /// Replaces the value, whatever it is: that never conflicts.
    pub fn set(&self, value: &T) -> Result<(), Error> {
        Ok(wit::set_auto_saved(self.store.as_deref(), &self.key, &json::write(&self.what(), value)?)?)
    }

    /// Changes the value: atomic, since the call runs again if another one was quicker.
    pub fn update(self, change: impl FnOnce(&mut T)) -> Result<(), Error> {
        let (store, key, what) = (self.store.clone(), self.key.clone(), self.what());
        let mut value = self.get()?;
        change(&mut value);
        Ok(wit::set_auto_saved(store.as_deref(), &key, &json::write(&what, &value)?)?)
    }

    fn what(&self) -> String {
        format!("the auto-saved value `{}`", self.key)
    }
}
