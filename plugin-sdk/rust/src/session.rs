//! The session that fetched the page in hand: an identity at a site, with its cookies and data. The code `no-session` where there is none.
//!
//! What a call asks for takes effect with its commit and, unlike its effects, also if it fails: a handler that says [`retire`] and
//! then gives up means it. A call sees its own changes.
//!
//! ```no_run
//! # use nephila_sdk::prelude::*;
//! # fn handle(call: &Call) -> HandlerResult {
//! if call.document()?.title()?.is_some_and(|title| title.contains("Are you human?")) {
//!     session::retire()?;
//!     return Err(retry("captcha", "the site asks who we are"));
//! }
//! if session::cookies()?.iter().all(|cookie| cookie.name != "currency") {
//!     session::set_cookies(["currency=GBP; Path=/"])?;
//! }
//! # Ok(()) }
//! ```
//!
//! A plugin that gives new sessions their user data (`plugin!(Shop: sessions)`) makes it in
//! [`Crawler::create_session`](crate::Crawler::create_session).

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::session as wit;
use crate::bindings::sessions::exports::nephila::crawler::sessions;
use crate::{Error, json};

/// A cookie of the session.
pub use crate::bindings::imports::nephila::crawler::session::Cookie;

/// Its id.
pub fn id() -> Result<String, Error> {
    Ok(wit::id()?)
}

/// What it keeps with it.
pub fn user_data<T: DeserializeOwned>() -> Result<T, Error> {
    json::read("the session's user data", &wit::user_data()?)
}

/// Replaces what it keeps with it by a value that becomes a JSON object, of at most 64 KiB.
pub fn set_user_data<T: Serialize + ?Sized>(data: &T) -> Result<(), Error> {
    Ok(wit::set_user_data(&json::write("the session's user data", data)?)?)
}

/// The cookies that it sends with a request for the page's URL.
pub fn cookies() -> Result<Vec<Cookie>, Error> {
    Ok(wit::cookies(None)?)
}

/// The cookies that it sends with a request for a URL: absolute, or resolved against the page in hand.
pub fn cookies_for(url: &str) -> Result<Vec<Cookie>, Error> {
    Ok(wit::cookies(Some(url))?)
}

/// Sets cookies as if the page had come with these `Set-Cookie` header fields: `"currency=GBP; Path=/"`.
pub fn set_cookies<S: Into<String>>(lines: impl IntoIterator<Item = S>) -> Result<(), Error> {
    set(None, lines)
}

/// Sets cookies as if a URL had answered with these `Set-Cookie` header fields. What it may not set is passed over.
pub fn set_cookies_for<S: Into<String>>(url: &str, lines: impl IntoIterator<Item = S>) -> Result<(), Error> {
    set(Some(url), lines)
}

fn set<S: Into<String>>(url: Option<&str>, lines: impl IntoIterator<Item = S>) -> Result<(), Error> {
    let lines: Vec<String> = lines.into_iter().map(Into::into).collect();
    Ok(wit::set_cookies(url, &lines)?)
}

/// It did well. Without a word from the plugin, the host judges by how the request ends.
pub fn good() -> Result<(), Error> {
    Ok(wit::good()?)
}

/// It did badly. Of [`good`] and `bad` the last one counts.
pub fn bad() -> Result<(), Error> {
    Ok(wit::bad()?)
}

/// It is not to be used again. Final.
pub fn retire() -> Result<(), Error> {
    Ok(wit::retire()?)
}

/// A session that is added to the pool ([`add`]).
///
/// ```
/// # use nephila_sdk::prelude::*;
/// # fn login(token: &str) -> HandlerResult {
/// let account = session::Addition::new(&serde_json::json!({ "account": 7 }))?
///     .id("account-7")
///     .cookies([format!("token={token}; Path=/")]);
/// let id = session::add(account)?;
/// enqueue([Request::get("/orders").session(id)])?;
/// # Ok(()) }
/// # use nephila_sdk::serde_json;
/// ```
#[derive(Debug, Clone)]
pub struct Addition {
    raw: wit::Addition,
}

impl Addition {
    /// One that keeps this, which must become a JSON object of at most 64 KiB. Its id is made up unless one is given.
    pub fn new<T: Serialize + ?Sized>(user_data: &T) -> Result<Self, Error> {
        let user_data = json::write("the session's user data", user_data)?;
        Ok(Addition { raw: wit::Addition { user_data, ..Self::default().raw } })
    }

    /// With this id: 1 to 128 bytes without control characters.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.raw.id = Some(id.into());
        self
    }

    /// With cookies as if the page had come with these `Set-Cookie` header fields: `"token=1; Path=/"`.
    #[must_use]
    pub fn cookies<S: Into<String>>(self, lines: impl IntoIterator<Item = S>) -> Self {
        self.with(None, lines)
    }

    /// With cookies as if a URL had answered with these `Set-Cookie` header fields. What it may not set is passed over.
    #[must_use]
    pub fn cookies_for<S: Into<String>>(self, url: impl Into<String>, lines: impl IntoIterator<Item = S>) -> Self {
        self.with(Some(url.into()), lines)
    }

    fn with<S: Into<String>>(mut self, url: Option<String>, lines: impl IntoIterator<Item = S>) -> Self {
        let set_cookie_lines = lines.into_iter().map(Into::into).collect();
        self.raw.cookies.push(wit::UrlCookies { url, set_cookie_lines });
        self
    }
}

impl Default for Addition {
    /// One that keeps nothing.
    fn default() -> Self {
        let raw = wit::Addition { id: None, user_data: "{}".into(), cookies: Vec::new(), extra_json: None };
        Addition { raw }
    }
}

/// Adds a session to the crawl's pool, for example one that a login page has given its cookies, and says its id.
///
/// An effect of the call: the session is there when the call is committed, and not if it fails. The requests that the call enqueues may be
/// bound to it ([`Request::session`](crate::Request::session)). It works in every entry point of a crawl, without a session of its own.
///
/// The code `no-session-pool` where the crawl uses no sessions, `session-exists` if the pool has, or had, one of its id. A call may add 100.
pub fn add(session: Addition) -> Result<String, Error> {
    Ok(wit::add(&session.raw)?)
}

/// What a new session is to be.
///
/// ```
/// # use nephila_sdk::prelude::*;
/// fn create_session() -> Result<NewSession, Error> {
///     NewSession::new(&serde_json::json!({ "language": "en" }))
/// }
/// # use nephila_sdk::serde_json;
/// # assert!(create_session().is_ok());
/// ```
#[derive(Debug, Clone)]
pub struct NewSession {
    raw: sessions::NewSession,
}

impl NewSession {
    /// One that keeps this, which must become a JSON object.
    pub fn new<T: Serialize + ?Sized>(user_data: &T) -> Result<Self, Error> {
        let user_data = json::write("the session's user data", user_data)?;
        Ok(NewSession { raw: sessions::NewSession { user_data, extra_json: None } })
    }

    pub(crate) fn into_wit(self) -> sessions::NewSession {
        self.raw
    }
}

impl Default for NewSession {
    /// One that keeps nothing.
    fn default() -> Self {
        NewSession { raw: sessions::NewSession { user_data: "{}".into(), extra_json: None } }
    }
}
