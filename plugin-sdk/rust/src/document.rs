//! The page in hand. The host keeps and parses it; a handler says in one call all that it wants from it.

use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::page::{self, FieldKind};
use crate::{Error, Row, json};

/// What is known of a page without looking into its body: final URL, status, headers, redirects, timings.
pub use crate::bindings::imports::nephila::crawler::types::PageMeta;

/// A link of a page.
pub use crate::bindings::imports::nephila::crawler::page::Link;

/// A fetched page.
#[derive(Debug)]
pub struct Document {
    raw: page::Document,
}

impl Document {
    pub(crate) fn new(raw: page::Document) -> Self {
        Document { raw }
    }

    /// Status, headers, charset, redirects and timings.
    pub fn meta(&self) -> PageMeta {
        self.raw.meta()
    }

    /// The URL that answered, without a fragment.
    pub fn url(&self) -> String {
        self.raw.meta().url
    }

    /// The text of `<title>`, if there is one.
    pub fn title(&self) -> Result<Option<String>, Error> {
        Ok(self.raw.title()?)
    }

    /// Takes many fields from the page in one call.
    pub fn extract(&self, fields: Fields) -> Result<Row, Error> {
        let found = self.raw.extract(&fields.fields)?;
        Ok(Row::new(&fields.fields, found))
    }

    /// Takes rows: for each element that `item` matches, the fields within it.
    pub fn extract_each(&self, item: &str, fields: Fields) -> Result<Vec<Row>, Error> {
        let rows = self.raw.extract_each(item, &fields.fields)?;
        Ok(rows.into_iter().map(|found| Row::new(&fields.fields, found)).collect())
    }

    /// The links of the page, as absolute URLs: all of them, or those of the elements that a selector matches.
    pub fn links(&self, selector: Option<&str>) -> Result<Vec<Link>, Error> {
        Ok(self.raw.links(selector)?)
    }

    /// The body as text, decoded by its charset. A copy of it enters the plugin's memory.
    pub fn text(&self) -> Result<String, Error> {
        Ok(self.raw.text()?)
    }

    /// The body as JSON. The code `json` if it is none, or of another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        json::read("the page", &self.text()?)
    }

    /// The decompressed body. A copy of it enters the plugin's memory.
    pub fn body(&self) -> Vec<u8> {
        self.raw.body()
    }
}

/// What to take from a page: named fields, each with a CSS selector and a kind.
///
/// An empty selector means the item itself in [`Document::extract_each`], and the root element in
/// [`Document::extract`]. The plural of a kind takes all matches, in the order of the page, instead of the first.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// # fn handle(call: &Call) -> HandlerResult {
/// let row = call.document()?.extract(
///     Fields::new().text("title", "h1").attr("language", "", "lang").urls("images", "img", "src"),
/// )?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fields {
    fields: Vec<page::Field>,
}

impl Fields {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of the first match and all below it, white space collapsed and trimmed.
    pub fn text(self, name: &str, selector: &str) -> Self {
        self.with(name, selector, FieldKind::Text, false)
    }

    /// The texts of all matches.
    pub fn texts(self, name: &str, selector: &str) -> Self {
        self.with(name, selector, FieldKind::Text, true)
    }

    /// The markup inside the first match.
    pub fn html(self, name: &str, selector: &str) -> Self {
        self.with(name, selector, FieldKind::Html, false)
    }

    /// The markup inside each match.
    pub fn htmls(self, name: &str, selector: &str) -> Self {
        self.with(name, selector, FieldKind::Html, true)
    }

    /// The value of an attribute, of the first match that has it.
    pub fn attr(self, name: &str, selector: &str, attribute: &str) -> Self {
        self.with(name, selector, FieldKind::Attr(attribute.into()), false)
    }

    /// The values of an attribute, of all matches that have it.
    pub fn attrs(self, name: &str, selector: &str, attribute: &str) -> Self {
        self.with(name, selector, FieldKind::Attr(attribute.into()), true)
    }

    /// The value of an attribute as an absolute URL, of the first match that has a valid one.
    pub fn url(self, name: &str, selector: &str, attribute: &str) -> Self {
        self.with(name, selector, FieldKind::Url(attribute.into()), false)
    }

    /// The values of an attribute as absolute URLs, of all matches that have a valid one.
    pub fn urls(self, name: &str, selector: &str, attribute: &str) -> Self {
        self.with(name, selector, FieldKind::Url(attribute.into()), true)
    }

    fn with(mut self, name: &str, selector: &str, kind: FieldKind, many: bool) -> Self {
        self.fields.push(page::Field { name: name.into(), selector: selector.into(), kind, many });
        self
    }
}
