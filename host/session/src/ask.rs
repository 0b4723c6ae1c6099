//! What a plugin sees of the session that serves it, and what it asks for it.
//!
//! Decision: a call of a plugin may be run again, or come to nothing, so that what it asks for is plain data ([`UseAsk`]) that changes
//! nothing before it is committed. What it sees ([`SessionSight`]) is the session as it is now, with what it has asked for itself laid over
//! it; the cost is a copy of the jar for each question about cookies after it has set some.

use crate::jar::CookieJar;
use crate::pool::SessionPool;
use nephila_model::{Cookie, SessionId, Timestamp, UseNumber};
use std::fmt;
use url::Url;

/// What is said of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseWord {
    /// It did well (Crawlee: `mark_good`).
    Good,
    /// It did badly (Crawlee: `mark_bad`).
    Bad,
    /// It is not to be used again (Crawlee: `retire`).
    Retire,
}

/// What is asked for the session of a use, beside what the use has learnt by itself.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct UseAsk {
    /// What is said of it.
    pub word: Option<UseWord>,
    /// Its user data from now on: a JSON object.
    pub user_data: Option<String>,
    /// `Set-Cookie` header fields, each as if its URL had answered with it, in order.
    pub set_cookies: Vec<(Url, String)>,
}

impl UseAsk {
    /// Takes in what was asked later. Retiring is final; otherwise the last word counts.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        if self.word != Some(UseWord::Retire) {
            self.word = later.word.or(self.word);
        }
        self.user_data = later.user_data.or(self.user_data);
        self.set_cookies.extend(later.set_cookies);
        self
    }
}

impl fmt::Debug for UseAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cookies and user data are secrets.
        f.debug_struct("UseAsk").field("word", &self.word).field("set_cookies", &self.set_cookies.len()).finish_non_exhaustive()
    }
}

/// A session in hand, to look at.
#[derive(Debug, Clone)]
pub struct SessionSight {
    pool: SessionPool,
    id: SessionId,
}

impl SessionSight {
    pub(crate) const fn new(pool: SessionPool, id: SessionId) -> Self {
        Self { pool, id }
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its user data: a JSON object.
    #[must_use]
    pub fn user_data(&self) -> String {
        let kept = self.pool.with(|roster| roster.get(&self.id).map(|entry| entry.record.user_data.value.clone()));
        kept.unwrap_or_else(|| "{}".to_owned())
    }

    /// The cookies that it would send with a request for `url`, had it taken these `Set-Cookie` header fields, each from its URL, in order.
    #[must_use]
    pub fn cookies_for<'f>(&self, url: &Url, set: impl IntoIterator<Item = &'f (Url, String)>, now: Timestamp) -> Vec<Cookie> {
        let mut set = set.into_iter().peekable();
        if set.peek().is_none() {
            let cookies = |jar: &CookieJar| jar.cookies_for(url, now).into_iter().cloned().collect();
            return self.pool.with(|roster| roster.get(&self.id).map(|entry| cookies(&entry.jar)).unwrap_or_default());
        }
        // All that a plugin has set is read with nobody waiting for it.
        let Some(mut jar) = self.pool.with(|roster| roster.get(&self.id).map(|entry| entry.jar.clone())) else {
            return Vec::new();
        };
        for (from, field) in set {
            // Nobody sees these changes: the number is of no interest.
            jar.receive(from, [field.as_str()], now, UseNumber(0));
        }
        jar.cookies_for(url, now).into_iter().cloned().collect()
    }
}
