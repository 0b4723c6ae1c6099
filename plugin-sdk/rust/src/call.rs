//! What a handler is called with: the request, and the page that was fetched for it.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::context;
use crate::{Document, Error, Request, json};

/// One call's view of the world.
#[derive(Debug)]
pub struct Call {
    raw: context::Call,
    request: OnceCell<Request>,
}

impl Call {
    pub(crate) fn new(raw: context::Call) -> Self {
        Call { raw, request: OnceCell::new() }
    }

    /// The request being handled.
    pub fn request(&self) -> &Request {
        self.request.get_or_init(|| self.raw.request())
    }

    /// What the request was enqueued with for a router to dispatch on.
    pub fn label(&self) -> Option<&str> {
        self.request().label.as_deref()
    }

    /// The data that was enqueued with the request. Where there may be none, ask for an `Option`.
    pub fn user_data<T: DeserializeOwned>(&self) -> Result<T, Error> {
        json::read("the request's user data", self.request().user_data.as_deref().unwrap_or("null"))
    }

    /// The page that was fetched. The code `no-page` where there is none (in `failure`, when no page came).
    pub fn document(&self) -> Result<Document, Error> {
        Ok(Document::new(self.raw.document()?))
    }
}
