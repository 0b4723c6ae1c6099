//! A request as a handler gets it ([`Request`]), and as a handler asks for it ([`NewRequest`]).

use serde::Serialize;

use crate::bindings::imports::nephila::crawler::types;
use crate::{Error, json, text};

pub use crate::bindings::imports::nephila::crawler::types::{Header, Method, Renderer, Request, StatusRange};

/// Each of these begins a [`NewRequest`].
impl Request {
    /// A page to fetch: an absolute URL, or a reference that is resolved against the page in hand.
    pub fn get(url: impl Into<String>) -> NewRequest {
        NewRequest::new(Method::Get, url)
    }

    /// A POST with a body. It is part of the request's identity, like the URL and the method.
    pub fn post(url: impl Into<String>, payload: impl Into<Vec<u8>>) -> NewRequest {
        NewRequest::new(Method::Post, url).payload(payload)
    }

    /// What a browser sends for a form with `method="post"`: a POST with these fields, and the content type that says so.
    pub fn form<'a>(url: impl Into<String>, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> NewRequest {
        Self::post(url, text::form(fields)).header("content-type", "application/x-www-form-urlencoded")
    }
}

/// A request to be made; [`enqueue`](crate::enqueue) takes it.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// # fn handle(call: &Call) -> HandlerResult {
/// enqueue([Request::get("/catalogue/emma/").label("detail").priority(1).user_data(&"from the front page")])?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct NewRequest {
    wit: types::NewRequest,
    /// What went wrong in a builder's method is said by `enqueue`, so that a chain needs no `?` in its middle.
    error: Option<Error>,
}

impl NewRequest {
    /// A request with any method.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        NewRequest {
            wit: types::NewRequest {
                url: url.into(),
                method,
                headers: Vec::new(),
                payload: None,
                label: None,
                user_data: None,
                priority: 0,
                forefront: false,
                unique_key: None,
                session_id: None,
                renderer: Renderer::Http,
                accepted_statuses: Vec::new(),
                max_retries: None,
                no_retry: false,
                always_enqueue: false,
                timeout_millis: None,
                extra_json: None,
            },
            error: None,
        }
    }

    /// What the router dispatches on.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.wit.label = Some(label.into());
        self
    }

    /// Data that comes back with the request; [`Call::user_data`](crate::Call::user_data) reads it.
    pub fn user_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        match json::write("the user data of a request", data) {
            Ok(text) => self.wit.user_data = Some(text),
            Err(error) => self.error = Some(error),
        }
        self
    }

    /// Higher goes first. Default 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.wit.priority = priority;
        self
    }

    /// Before every other request of the same site and priority; last in, first out.
    pub fn forefront(mut self) -> Self {
        self.wit.forefront = true;
        self
    }

    /// An extra header field; it wins over the host's own.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.wit.headers.push(Header { name: name.into(), value: value.into() });
        self
    }

    /// The request body.
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.wit.payload = Some(payload.into());
        self
    }

    /// The request's identity, instead of the one that URL, method and payload give. Not together with
    /// [`always`](Self::always).
    pub fn unique_key(mut self, key: impl Into<String>) -> Self {
        self.wit.unique_key = Some(key.into());
        self
    }

    /// Accept the request even if its URL was seen.
    pub fn always(mut self) -> Self {
        self.wit.always_enqueue = true;
        self
    }

    /// The session that must serve the request.
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.wit.session_id = Some(id.into());
        self
    }

    /// Fetch the page with a browser. Refused with the code `unsupported-renderer` by hosts that have none.
    pub fn browser(mut self) -> Self {
        self.wit.renderer = Renderer::Browser;
        self
    }

    /// Statuses that reach the handler, both ends included; may be called repeatedly. Without it: 200 to 299.
    pub fn accept(mut self, first: u16, last: u16) -> Self {
        self.wit.accepted_statuses.push(StatusRange { first, last });
        self
    }

    /// Retries at most, instead of the crawl's setting.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.wit.max_retries = Some(retries);
        self
    }

    /// Fail at the first error.
    pub fn no_retry(mut self) -> Self {
        self.wit.no_retry = true;
        self
    }

    /// Milliseconds for the whole fetch, instead of the crawl's setting.
    pub fn timeout_millis(mut self, millis: u32) -> Self {
        self.wit.timeout_millis = Some(millis);
        self
    }

    pub(crate) fn into_wit(self) -> Result<types::NewRequest, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.wit),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_chain_says_what_is_asked_for() {
        let request = Request::get("/a").label("detail").priority(2).user_data(&[1, 2]).accept(404, 404).into_wit();
        let Ok(request) = request else { unreachable!("nothing can go wrong in it") };

        assert_eq!((request.url.as_str(), request.priority), ("/a", 2));
        assert_eq!((request.label.as_deref(), request.user_data.as_deref()), (Some("detail"), Some("[1,2]")));
        assert_eq!(request.accepted_statuses.len(), 1);
    }

    #[test]
    fn a_form_is_a_post_of_its_fields() {
        let request = Request::form("/login", [("user", "R. & S."), ("password", "a=b")]).into_wit();
        let Ok(request) = request else { unreachable!("nothing can go wrong in it") };

        assert_eq!((request.method, request.payload), (Method::Post, Some(b"user=R.+%26+S.&password=a%3Db".to_vec())));
        assert_eq!(request.headers[0].value, "application/x-www-form-urlencoded");
    }

    #[test]
    fn data_that_is_no_json_is_an_error_of_enqueue() {
        let no_json = BTreeMap::from([((1, 2), 3)]);
        let error = Request::get("/a").user_data(&no_json).into_wit();
        assert_eq!(error.map(|_| ()).map_err(|error| error.code().to_owned()), Err("json".into()));
    }
}
