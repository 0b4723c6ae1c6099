//! Datasets: append-only lists of items. What is pushed is kept when the call's effects commit.
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! #[derive(Serialize, Deserialize)]
//! struct Book {
//!     title: String,
//! }
//!
//! # fn handle() -> HandlerResult {
//! dataset::push(&Book { title: "Emma".into() })?;
//!
//! for book in dataset::read::<Book>() {
//!     info!("{}", book?.title);
//! }
//!
//! dataset::named("reviews").push(&serde_json::json!({ "stars": 5 }))?;
//! # Ok(()) }
//! ```

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::dataset as wit;
use crate::{Error, json};

/// Rows that a [`Reader`] asks for at a time.
const SLICE: u32 = 200;

/// Appends an item, which must become a JSON object, to the crawl's default dataset.
pub fn push<T: Serialize + ?Sized>(item: &T) -> Result<(), Error> {
    Dataset::default().push(item)
}

/// Appends many items in one call.
pub fn push_all<'a, T: Serialize + 'a>(items: impl IntoIterator<Item = &'a T>) -> Result<(), Error> {
    Dataset::default().push_all(items)
}

/// Reads the committed items of the crawl's default dataset, oldest first.
pub fn read<T: DeserializeOwned>() -> Reader<T> {
    Dataset::default().read()
}

/// A dataset by name; the crawls of one store share it.
pub fn named(name: impl Into<String>) -> Dataset {
    Dataset { name: Some(name.into()) }
}

/// A dataset: a named one, or by default the crawl's own.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    name: Option<String>,
}

impl Dataset {
    /// Appends an item, which must become a JSON object.
    pub fn push<T: Serialize + ?Sized>(&self, item: &T) -> Result<(), Error> {
        Ok(wit::push(self.name.as_deref(), &[json::write("an item", item)?])?)
    }

    /// Appends many items in one call.
    pub fn push_all<'a, T: Serialize + 'a>(&self, items: impl IntoIterator<Item = &'a T>) -> Result<(), Error> {
        let items = items.into_iter().map(|item| json::write("an item", item)).collect::<Result<Vec<_>, _>>()?;
        Ok(wit::push(self.name.as_deref(), &items)?)
    }

    /// Reads the committed items, oldest first.
    pub fn read<T: DeserializeOwned>(&self) -> Reader<T> {
        Reader { dataset: self.clone(), page: Vec::new().into_iter(), next: Next::Beginning, item: PhantomData }
    }
}

/// The committed items of a dataset, oldest first, fetched from the host in slices. Ends after the first error.
#[derive(Debug)]
pub struct Reader<T> {
    dataset: Dataset,
    page: std::vec::IntoIter<String>,
    next: Next,
    item: PhantomData<T>,
}

#[derive(Debug)]
enum Next {
    Beginning,
    Cursor(String),
    End,
}

impl<T: DeserializeOwned> Iterator for Reader<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.page.next() {
                let item = json::read("an item of the dataset", &item);
                if item.is_err() {
                    self.page = Vec::new().into_iter();
                    self.next = Next::End;
                }
                return Some(item);
            }
            let cursor = match std::mem::replace(&mut self.next, Next::End) {
                Next::Beginning => None,
                Next::Cursor(cursor) => Some(cursor),
                Next::End => return None,
            };
            match wit::read(self.dataset.name.as_deref(), cursor.as_deref(), SLICE) {
                Ok(slice) => {
                    self.page = slice.items.into_iter();
                    self.next = slice.next.map_or(Next::End, Next::Cursor);
                }
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}
