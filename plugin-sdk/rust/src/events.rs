//! Events: what a listener hears, and what any call emits.
//!
//! A plugin with a listener says so (`plugin!(Shop: listener)`), names in [`Crawler::subscriptions`](crate::Crawler::subscriptions) what it
//! wants to hear, and hears it in [`Crawler::on_event`](crate::Crawler::on_event). Its one instance hears all events of a crawl, one after
//! another, and its memory lives on between them, until it traps or runs into a limit. What must not be lost belongs in
//! [`state`](crate::state).
//!
//! ```no_run
//! use nephila_sdk::prelude::*;
//! use std::cell::Cell;
//!
//! thread_local! {
//!     static OFFERS: Cell<u32> = const { Cell::new(0) };
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Offer {
//!     url: String,
//! }
//!
//! struct Shop;
//!
//! impl Crawler for Shop {
//!     fn manifest() -> Manifest {
//!         Manifest::new("shop", "1.0.0", "Tells of offers.")
//!     }
//!
//!     fn handle(call: &Call) -> HandlerResult {
//!         // Delivered once the page is committed; if the handler fails, never.
//!         events::emit("offer", &Offer { url: call.document()?.url() })
//!     }
//!
//!     fn subscriptions() -> Vec<String> {
//!         vec!["offer".into()]
//!     }
//!
//!     fn on_event(event: &Event) -> HandlerResult {
//!         match event.name() {
//!             "offer" => {
//!                 info!("{} is an offer", event.payload::<Offer>()?.url);
//!                 OFFERS.set(OFFERS.get() + 1);
//!                 if OFFERS.get() == 100 {
//!                     events::off("offer")?;
//!                     events::on("persistState")?;
//!                 }
//!                 Ok(())
//!             }
//!             _ => state::set("offers", &OFFERS.get()),
//!         }
//!     }
//! }
//!
//! nephila_sdk::plugin!(Shop: listener);
//! # fn main() {}
//! ```

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::events as wit;
use crate::bindings::listener::exports::nephila::crawler::listener;
use crate::{Error, json};

/// Hears an event from now on: one of the host's (`persistState`, `systemInfo`, `crawlerStatus`, `requestFailed` …) or one that a plugin
/// emits. Only from within [`Crawler::on_event`](crate::Crawler::on_event); elsewhere the code `not-a-listener`.
///
/// It is no effect: it holds at once, also if the call fails, and until the instance is gone.
pub fn on(event: &str) -> Result<(), Error> {
    Ok(wit::on(event)?)
}

/// Hears an event no more; what was not heard is no error. Otherwise like [`on`].
pub fn off(event: &str) -> Result<(), Error> {
    Ok(wit::off(event)?)
}

/// Emits an event. It is delivered after the call's commit.
///
/// Its name begins with a letter, goes on with letters, digits, `.`, `_`, `-`, `:` and `/`, and is none of the host's own.
pub fn emit<T: Serialize + ?Sized>(event: &str, payload: &T) -> Result<(), Error> {
    Ok(wit::emit(event, &json::write(&format!("the payload of the event `{event}`"), payload)?)?)
}

/// Something that happened.
pub struct Event {
    raw: listener::Event,
}

impl Event {
    pub(crate) fn new(raw: listener::Event) -> Self {
        Event { raw }
    }

    /// What tells it from all others of the crawl. An event that is heard once more, after a crash or a conflict, has the same one.
    pub fn id(&self) -> &str {
        &self.raw.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.raw.name
    }

    /// What is said about it.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Error> {
        json::read(&format!("the payload of the event `{}`", self.raw.name), &self.raw.payload)
    }

    /// When it was emitted, as RFC 3339 in UTC: `2026-12-01T12:34:56.789Z`.
    pub fn created_at(&self) -> &str {
        &self.raw.created_at
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("id", &self.raw.id).field("name", &self.raw.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_another_shape_is_named() {
        let raw = listener::Event {
            id: "1".into(),
            name: "offer".into(),
            payload: "{\"url\":1}".into(),
            created_at: "2026-12-01T00:00:00.000Z".into(),
            extra_json: None,
        };
        let event = Event::new(raw);
        assert_eq!(event.payload::<serde_json::Value>().map(|payload| payload["url"].clone()), Ok(1.into()));
        let error = event.payload::<Vec<u32>>().err().map(|error| (error.code().to_owned(), error.message().contains("`offer`")));
        assert_eq!(error, Some(("json".into(), true)));
    }
}
