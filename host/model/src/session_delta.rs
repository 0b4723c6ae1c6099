//! What one attempt did to its session.
//!
//! Decision: a delta, never a snapshot. Deltas of attempts that ran at the same time are committed in any order and come to the same
//! session: uses are told apart by their numbers, the score is a fold in the order of these numbers ([`crate::UseLog`]), retiring is
//! for good, and of cookies, user data and proxy the later version holds. An outcome carries the delta, and the store applies it in the
//! transaction of the outcome (S3).

use crate::{CookieChange, PoolId, ProxyId, SessionId, UseMark, UseNumber};

/// What one attempt did to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDelta {
    /// The session's pool.
    pub pool: PoolId,
    /// The session. One that is there no more is changed no more.
    pub session: SessionId,
    /// The use that the attempt was.
    pub number: UseNumber,
    /// How it did.
    pub mark: UseMark,
    /// Whether the session is retired by it: a rule or a handler said so. Whether its score retires it is found out where it is applied.
    pub retired: bool,
    /// Cookies that it set and removed, in order.
    pub cookies: Vec<CookieChange>,
    /// The user data from now on, if it set them: a JSON object.
    pub user_data: Option<String>,
    /// The session's proxy from now on, if it gave it one.
    pub proxy: Option<ProxyId>,
}

impl SessionDelta {
    /// A use that changes nothing but that it has happened.
    #[must_use]
    pub const fn of_use(pool: PoolId, session: SessionId, number: UseNumber) -> Self {
        let mark = UseMark::Neither;
        Self { pool, session, number, mark, retired: false, cookies: Vec::new(), user_data: None, proxy: None }
    }

    /// About how many bytes it holds, for bounding how many are kept at a time.
    #[must_use]
    pub fn weight(&self) -> usize {
        let cookies: usize = self.cookies.iter().map(CookieChange::weight).sum();
        256 + cookies + self.user_data.as_ref().map_or(0, String::len)
    }
}
