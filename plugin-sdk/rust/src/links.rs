//! Which links of a page are followed, and how.

use serde::Serialize;

use crate::bindings::imports::nephila::crawler::queue::{LinkOptions, Strategy};
use crate::{Error, json};

/// Which links to enqueue; [`enqueue_links`](crate::enqueue_links) takes it.
///
/// If any globs or regular expressions are given, a URL must match one of them; one that an `exclude…` matches is refused,
/// whatever else matches.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// # fn handle(call: &Call) -> HandlerResult {
/// let summary = enqueue_links(Links::same_hostname().selector("article a").glob("**/catalogue/**").label("detail"))?;
/// info!("{} new of {}", summary.enqueued, summary.found);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Links {
    wit: LinkOptions,
    error: Option<Error>,
}

impl Links {
    /// Links to any host.
    pub fn all() -> Self {
        Self::with(Strategy::All)
    }

    /// Links to the page's registered domain, by the public suffix list.
    pub fn same_domain() -> Self {
        Self::with(Strategy::SameDomain)
    }

    /// Links to the page's hostname.
    pub fn same_hostname() -> Self {
        Self::with(Strategy::SameHostname)
    }

    /// Links to the page's scheme, hostname and port.
    pub fn same_origin() -> Self {
        Self::with(Strategy::SameOrigin)
    }

    fn with(strategy: Strategy) -> Self {
        Links {
            wit: LinkOptions {
                selector: None,
                strategy,
                globs: Vec::new(),
                regexes: Vec::new(),
                exclude_globs: Vec::new(),
                exclude_regexes: Vec::new(),
                label: None,
                user_data: None,
                priority: 0,
                forefront: false,
                limit: None,
                extra_json: None,
            },
            error: None,
        }
    }

    /// Only the `href`, or else `src`, of elements that this matches. Without it: `a[href]` and `area[href]`.
    pub fn selector(mut self, selector: impl Into<String>) -> Self {
        self.wit.selector = Some(selector.into());
        self
    }

    /// URLs that match this glob (`*`, `**`, `?`, `[…]`, `{a,b}`); may be called repeatedly.
    pub fn glob(mut self, glob: impl Into<String>) -> Self {
        self.wit.globs.push(glob.into());
        self
    }

    /// URLs that match this regular expression; may be called repeatedly.
    pub fn regex(mut self, regex: impl Into<String>) -> Self {
        self.wit.regexes.push(regex.into());
        self
    }

    /// No URLs that match this glob; may be called repeatedly.
    pub fn exclude_glob(mut self, glob: impl Into<String>) -> Self {
        self.wit.exclude_globs.push(glob.into());
        self
    }

    /// No URLs that match this regular expression; may be called repeatedly.
    pub fn exclude_regex(mut self, regex: impl Into<String>) -> Self {
        self.wit.exclude_regexes.push(regex.into());
        self
    }

    /// The label of the new requests.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.wit.label = Some(label.into());
        self
    }

    /// Data that comes back with each of them.
    pub fn user_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        match json::write("the user data of links", data) {
            Ok(text) => self.wit.user_data = Some(text),
            Err(error) => self.error = Some(error),
        }
        self
    }

    /// Their priority; higher goes first. Default 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.wit.priority = priority;
        self
    }

    /// Before every other request of the same site and priority.
    pub fn forefront(mut self) -> Self {
        self.wit.forefront = true;
        self
    }

    /// New requests at most; links that were known already do not count.
    pub fn limit(mut self, limit: u32) -> Self {
        self.wit.limit = Some(limit);
        self
    }

    pub(crate) fn into_wit(self) -> Result<LinkOptions, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.wit),
        }
    }
}
