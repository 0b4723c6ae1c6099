//! Items on their way to their datasets.
//!
//! A plugin with a pipeline says so (`plugin!(Shop: pipeline)`) and decides about each item in
//! [`Crawler::process_item`](crate::Crawler::process_item), in its own crawls and in those that are started with it
//! (`nephila run OTHER --pipeline SHOP`). One that does nothing else is a [`Pipeline`], made into a component by
//! [`pipeline!`](crate::pipeline!).
//!
//! It is called after the handler has ended, and before anything is committed. It may read what a handler may, but for the page and the
//! session, keep [`state`](crate::state) and write to the [`log`](crate::log); everything else that has an effect is refused with the
//! code `not-in-pipeline`, but for what it says about the [`crawl`](crate::crawl). All items of one page are seen by one instance, in order.
//!
//! ```no_run
//! use nephila_sdk::prelude::*;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Book {
//!     title: String,
//!     price: Option<f64>,
//! }
//!
//! struct Tidy;
//!
//! impl Pipeline for Tidy {
//!     fn manifest() -> Manifest {
//!         Manifest::new("tidy", "1.0.0", "Keeps each book once, and none without a price.")
//!     }
//!
//!     fn process_item(item: &Item) -> Result<Verdict, Error> {
//!         let mut book = item.read::<Book>()?;
//!         if book.price.is_none() {
//!             return Ok(Verdict::drop("no-price"));
//!         }
//!         let seen = format!("seen:{}", book.title);
//!         if state::get::<bool>(&seen)?.is_some() {
//!             return Ok(Verdict::drop("duplicate"));
//!         }
//!         state::set(&seen, &true)?;
//!         book.title = book.title.trim().to_owned();
//!         Verdict::change(&book)
//!     }
//! }
//!
//! nephila_sdk::pipeline!(Tidy);
//! # fn main() {}
//! ```

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::pipeline::exports::nephila::crawler::pipeline as wit;
use crate::{Error, Manifest, json};

/// A plugin that only looks at items. One that also handles pages is a [`Crawler`](crate::Crawler).
pub trait Pipeline {
    /// Says what the plugin is. Called once when it is loaded, without access to any crawl.
    fn manifest() -> Manifest;

    /// Called once per item. An error fails the page that pushed it, as its handler's own would.
    fn process_item(item: &Item) -> Result<Verdict, Error>;
}

/// An item on its way.
pub struct Item {
    raw: wit::Item,
}

impl Item {
    pub(crate) fn new(raw: wit::Item) -> Self {
        Item { raw }
    }

    /// The dataset that it was pushed to; none for the crawl's own.
    pub fn dataset(&self) -> Option<&str> {
        self.raw.dataset.as_deref()
    }

    /// The item as JSON: an object in one line.
    pub fn json(&self) -> &str {
        &self.raw.json
    }

    /// The item. The code `json` if it is of another shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        json::read("the item", &self.raw.json)
    }

    /// The URL of the page in hand, or of the request that was given up; none for what `finish` or a listener pushed.
    pub fn url(&self) -> Option<&str> {
        self.raw.url.as_deref()
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("dataset", &self.raw.dataset).field("json", &self.raw.json).finish_non_exhaustive()
    }
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It passes as it is.
    Keep,
    /// It passes as this JSON object.
    Change(String),
    /// It is left out, and counted under this reason.
    Drop(String),
    /// The page that pushed it fails for good, with the code `item-rejected` and this sentence; nothing of it is kept.
    Reject(String),
}

impl Verdict {
    /// It passes as this one. The code `json` if that cannot be written.
    pub fn change<T: Serialize + ?Sized>(item: &T) -> Result<Self, Error> {
        json::write("the changed item", item).map(Verdict::Change)
    }

    /// It is left out, and counted under this reason: a word or two, at most 64 bytes, since statistics group by it.
    pub fn drop(reason: impl Into<String>) -> Self {
        Verdict::Drop(reason.into())
    }

    /// The page that pushed it fails for good, with the code `item-rejected` and this sentence.
    pub fn reject(reason: impl Into<String>) -> Self {
        Verdict::Reject(reason.into())
    }

    pub(crate) fn into_wit(self) -> wit::Verdict {
        match self {
            Verdict::Keep => wit::Verdict::Keep,
            Verdict::Change(json) => wit::Verdict::Change(json),
            Verdict::Drop(reason) => wit::Verdict::Drop(reason),
            Verdict::Reject(reason) => wit::Verdict::Reject(reason),
        }
    }
}

/// Makes a component of a [`Pipeline`]. Once per crate, at its root.
#[macro_export]
macro_rules! pipeline {
    ($pipeline:ident) => {
        #[allow(dead_code, reason = "only a component calls it")]
        const _: () = {
            struct Alone;

            impl $crate::Crawler for Alone {
                fn manifest() -> $crate::Manifest {
                    <$pipeline as $crate::Pipeline>::manifest()
                }

                fn handle(_: &$crate::Call) -> $crate::HandlerResult {
                    // It is not exported, so that no host calls it.
                    Err($crate::fatal("no-handler", "this plugin is a pipeline and handles no pages"))
                }

                fn process_item(item: &$crate::Item) -> Result<$crate::Verdict, $crate::Error> {
                    <$pipeline as $crate::Pipeline>::process_item(item)
                }
            }

            #[cfg(target_arch = "wasm32")]
            const _: () = {
        $crate::bindings::manifest::export_manifest!(Alone with_types_in $crate::bindings::manifest);
        $crate::bindings::pipeline::export_pipeline!(Alone with_types_in $crate::bindings::pipeline);
            };
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_of_another_shape_is_named() {
        let raw = wit::Item { dataset: None, json: "{\"price\":1}".into(), url: None, extra_json: None };
        let item = Item::new(raw);
        assert_eq!(item.read::<serde_json::Value>().map(|item| item["price"].clone()), Ok(1.into()));
        assert_eq!(item.read::<Vec<u32>>().err().map(|error| error.code().to_owned()), Some("json".into()));
        assert_eq!(Verdict::change(&[1]), Ok(Verdict::Change("[1]".into())));
    }
}
