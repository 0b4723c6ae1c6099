//! The session that fetched the page in hand: what a call sees of it, and what it asks for it.
//!
//! Decision: sessions are the crawler's; this crate sees one through [`SessionView`], and what a plugin wants of it comes back as plain
//! data. It is kept apart from the effects since it counts also when the call fails: a handler that says `retire` and then gives up
//! means it. A call sees its own changes; for cookies the view is told of them, since only whoever has the jar knows what a URL
//! may set. The cost is that the lines are read once more for each question.

use crate::ReadError;
use async_trait::async_trait;
use nephila_model::{AddedSession, Cookie, CookieReach, SameSite as Kept, Timestamp};
use std::fmt;
use url::Url;

/// A session as a call sees it. Its methods do not wait.
pub trait SessionView: Send + Sync {
    /// Its id.
    fn id(&self) -> &str;

    /// What it keeps with it: a JSON object.
    fn user_data(&self) -> String;

    /// The cookies that it would send with a request for `url`, had it taken these `Set-Cookie` header fields, each from its URL, in order.
    fn cookies(&self, url: &Url, set: &[(Url, String)]) -> Vec<SessionCookie>;
}

/// The crawl's session pool, as a call that adds to it sees it.
#[async_trait]
pub trait SessionPoolView: Send + Sync {
    /// What an addition comes to: the session that is to be committed with the call, or why there cannot be one. Nothing changes by it.
    ///
    /// # Errors
    /// If the store failed.
    async fn prepare(&self, addition: SessionAddition) -> Result<Result<AddedSession, AdditionRefused>, ReadError>;
}

/// A session that a plugin adds.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionAddition {
    /// Its id; `None`: one is made up.
    pub id: Option<String>,
    /// What it keeps with it: a JSON object in one line, checked.
    pub user_data: String,
    /// `Set-Cookie` header fields, each as if its URL had answered with it, in order; as in [`SessionAsk`].
    pub set_cookies: Vec<(Url, String)>,
}

impl fmt::Debug for SessionAddition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAddition")
            .field("id", &self.id)
            .field("set_cookies", &self.set_cookies.len())
            .finish_non_exhaustive()
    }
}

/// Why a session is not added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdditionRefused {
    /// There is one of its id, or was.
    Taken,
    /// It cannot have this id.
    BadId,
    /// There are as many as there may be; with what to do.
    Full(String),
    /// It cannot be as it is; with what is wrong.
    Unusable(String),
}

/// The `SameSite` attribute of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameSite {
    /// `Strict`.
    Strict,
    /// `Lax`.
    Lax,
    /// `None`.
    None,
}

impl SameSite {
    /// The attribute's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// A cookie of a session.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionCookie {
    /// Its name.
    pub name: String,
    /// Its value. Often a secret: it is in no log line.
    pub value: String,
    /// The host that set it, or the domain that it was set for, without a leading dot.
    pub domain: String,
    /// Whether only that host gets it (RFC 6265: the host-only flag).
    pub host_only: bool,
    /// The path that it is for.
    pub path: String,
    /// Whether it is sent by `https` only.
    pub secure: bool,
    /// Whether scripts of a page do not see it.
    pub http_only: bool,
    /// When it ends; `None`: with its session.
    pub expires: Option<Timestamp>,
    /// Its `SameSite` attribute, if it had one.
    pub same_site: Option<SameSite>,
}

impl From<Cookie> for SessionCookie {
    fn from(cookie: Cookie) -> Self {
        Self {
            name: cookie.key.name,
            value: cookie.value,
            domain: cookie.key.domain,
            host_only: cookie.reach == CookieReach::Host,
            path: cookie.key.path,
            secure: cookie.secure,
            http_only: cookie.http_only,
            expires: cookie.expires_at,
            same_site: cookie.same_site.map(|same_site| match same_site {
                Kept::Strict => SameSite::Strict,
                Kept::Lax => SameSite::Lax,
                Kept::None => SameSite::None,
            }),
        }
    }
}

impl fmt::Debug for SessionCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, domain, path, .. } = self;
        write!(f, "SessionCookie({name} of {domain}{path}, {} bytes)", value.len())
    }
}

/// What a plugin says of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionMark {
    /// It did well (Crawlee: `mark_good`).
    Good,
    /// It did badly (Crawlee: `mark_bad`).
    Bad,
    /// It is not to be used again (Crawlee: `retire`).
    Retire,
}

/// What a call asks for its session. It counts also when the call fails.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SessionAsk {
    /// How the session did. `None`: the host judges by how the request ends.
    pub mark: Option<SessionMark>,
    /// Its user data from now on: a JSON object in one line, checked.
    pub user_data: Option<String>,
    /// `Set-Cookie` header fields to take, each as if its URL had answered with it, in order. Without control characters; otherwise
    /// as the plugin wrote them: what that URL may not set is to be passed over.
    pub set_cookies: Vec<(Url, String)>,
}

impl SessionAsk {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Notes what the plugin says. Retiring is final, otherwise the last word counts.
    pub(crate) fn mark(&mut self, mark: SessionMark) {
        if self.mark != Some(SessionMark::Retire) {
            self.mark = Some(mark);
        }
    }
}

impl fmt::Debug for SessionAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAsk")
            .field("mark", &self.mark)
            .field("user_data_bytes", &self.user_data.as_ref().map(String::len))
            .field("set_cookies", &self.set_cookies.len())
            .finish()
    }
}

/// What a plugin's `sessions` entry point makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// What the session keeps with it: a JSON object in one line, checked.
    pub user_data: String,
    /// JSON object for fields of later versions, checked.
    pub extra_json: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_good_and_bad_the_last_counts_and_retiring_is_final() {
        let mark = |marks: &[SessionMark]| {
            let mut ask = SessionAsk::default();
            marks.iter().for_each(|mark| ask.mark(*mark));
            ask.mark
        };
        use SessionMark::{Bad, Good, Retire};
        assert_eq!(mark(&[Bad, Good]), Some(Good));
        assert_eq!(mark(&[Good, Bad]), Some(Bad));
        assert_eq!(mark(&[Retire, Good, Bad]), Some(Retire));
        assert_eq!(mark(&[]), None);
    }

    #[test]
    fn secrets_are_not_shown() {
        let ask = SessionAsk { user_data: Some("{\"password\":1}".into()), ..SessionAsk::default() };
        assert!(!format!("{ask:?}").contains("password"));
        assert!(!ask.is_empty() && SessionAsk::default().is_empty());
    }
}
