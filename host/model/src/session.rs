//! A session as data: an identity at sites, with cookies, a score and a proxy, and where its pool is kept.
//!
//! Decision: a session's limits travel with it, since sessions of one pool may have different ones (Crawlee: `add_session`). Whether it
//! is usable follows from what is known of it and from the time; nothing says so in a second place that could disagree.

use crate::{CookieChange, KvStoreName, PoolId, SessionDelta, Timestamp, UseLog};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes 1 to 128 bytes without control characters; anything else gives `None`.
            #[must_use]
            pub fn new(name: &str) -> Option<Self> {
                let fits = (1..=128).contains(&name.len()) && !name.chars().any(char::is_control);
                fits.then(|| Self(name.to_owned()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

name!(
    /// A session's name within its pool (Crawlee: `Session.id`).
    SessionId
);
name!(
    /// What a session calls its proxy. Opaque: only who has the proxies knows what it means.
    ProxyId
);

/// The number of a use within its session: the first is 1. A use is a request's attempt, its redirects on the same site included: a site sees
/// up to one request more than there are `max-redirects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UseNumber(pub u32);

/// Uses that are reserved and not begun yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UseRange {
    /// The first.
    pub first: UseNumber,
    /// The last. If it is before the first, there are none.
    pub last: UseNumber,
}

impl UseRange {
    /// Takes the first one out.
    pub fn take(&mut self) -> Option<UseNumber> {
        let taken = (self.first <= self.last).then_some(self.first)?;
        self.first.0 += 1;
        Some(taken)
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u32 {
        (self.last.0 + 1).saturating_sub(self.first.0)
    }
}

/// Where a pool is kept: its identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PoolPlace {
    /// Whose it is: the crawl's own, or one that all crawls of the store share (Crawlee: `persist_state_kvs_name`).
    pub store: KvStoreName,
    /// Its name there (Crawlee: `persist_state_key`).
    pub key: String,
}

impl PoolPlace {
    /// The key unless another is set.
    pub const KEY: &'static str = "CRAWLEE_SESSION_POOL_STATE";
}

impl Default for PoolPlace {
    fn default() -> Self {
        Self { store: KvStoreName::Default, key: Self::KEY.to_owned() }
    }
}

/// Statuses by which a site says that it does not want this session any more, unless others are set: 401, 403, 429.
#[must_use]
pub fn default_blocked_status_codes() -> BTreeSet<u16> {
    BTreeSet::from([401, 403, 429])
}

/// A session's limits. The defaults are Crawlee's.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSettings {
    /// How long it lives. 50 minutes, through pauses too. A session that lives for longer loses cookies that a site wants back.
    pub max_age: Duration,
    /// How often it is used: requests, their redirects included. 50 (Crawlee: `max_usage_count`).
    pub max_uses: u32,
    /// The error score at which it counts as blocked. 3.
    pub max_error_score: f64,
    /// What a good use takes off the score, down to 0. A bad one adds 1. 0.5.
    pub error_score_decrement: f64,
    /// Statuses by which a site blocks it. 401, 403, 429.
    pub blocked_status_codes: BTreeSet<u16>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(50 * 60),
            max_uses: 50,
            max_error_score: 3.0,
            error_score_decrement: 0.5,
            blocked_status_codes: default_blocked_status_codes(),
        }
    }
}

/// A value that is replaced as a whole, and the use that wrote it: the later use holds, whichever is committed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// The value.
    pub value: T,
    /// Who wrote it; 0 for what it had from the beginning.
    pub by: UseNumber,
}

impl<T> Written<T> {
    /// What it has from the beginning.
    pub const fn first(value: T) -> Self {
        Self { value, by: UseNumber(0) }
    }

    /// Takes a value in, unless a later use has written.
    pub fn write(&mut self, value: T, by: UseNumber) {
        if by >= self.by {
            *self = Self { value, by };
        }
    }
}

/// The name of the event that tells of a session which is used no more (Crawlee: `Event.SESSION_RETIRED`). A store writes it with what ended
/// the session: `{crawlerId, sessionId}`.
pub const SESSION_RETIRED: &str = "sessionRetired";

/// Why a session is used no more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unusable {
    /// It was retired, for good.
    Retired,
    /// Its error score has reached its maximum.
    Blocked {
        /// The score.
        score: f64,
        /// The maximum.
        max: f64,
    },
    /// It is too old.
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// It was used as often as it may be.
    UsedUp {
        /// How often that is.
        max: u32,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retired => f.write_str("it was retired"),
            Self::Blocked { score, max } => write!(f, "its error score is {score}, and {max} is its end"),
            Self::Expired { .. } => f.write_str("it has reached its maximum age"),
            Self::UsedUp { max } => write!(f, "it was used {max} times, its maximum"),
        }
    }
}

/// A session as a store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Its name.
    pub id: SessionId,
    /// Its limits.
    pub settings: SessionSettings,
    /// When it was made.
    pub created_at: Timestamp,
    /// Uses that were ever reserved: the next one has the number behind this.
    pub reserved: u32,
    /// What became of them.
    pub uses: UseLog,
    /// Whether it was retired, which is for good.
    pub retired: bool,
    /// What its owner keeps with it: a JSON object.
    pub user_data: Written<String>,
    /// Its proxy, once it has one.
    pub proxy: Written<Option<ProxyId>>,
    /// Its cookies, each by its last change. Those that were removed are in it too.
    pub cookies: Vec<CookieChange>,
}

impl SessionRecord {
    /// A new one that was never used.
    #[must_use]
    pub fn new(id: SessionId, settings: SessionSettings, created_at: Timestamp) -> Self {
        Self {
            id,
            settings,
            created_at,
            reserved: 0,
            uses: UseLog::default(),
            retired: false,
            user_data: Written::first("{}".to_owned()),
            proxy: Written::first(None),
            cookies: Vec::new(),
        }
    }

    /// When it is too old.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(self.settings.max_age)
    }

    /// Its error score.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.uses.score(self.settings.error_score_decrement)
    }

    /// Why it is used no more; `None` while it may be. Uses in flight are no reason: whether one more may begin is for its pool to say.
    #[must_use]
    pub fn unusable(&self, now: Timestamp) -> Option<Unusable> {
        let (score, at) = (self.score(), self.expires_at());
        let SessionSettings { max_error_score, max_uses, .. } = self.settings;
        if self.retired {
            Some(Unusable::Retired)
        } else if score >= max_error_score {
            Some(Unusable::Blocked { score, max: max_error_score })
        } else if at <= now {
            Some(Unusable::Expired { at })
        } else if self.uses.used() >= max_uses {
            Some(Unusable::UsedUp { max: max_uses })
        } else {
            None
        }
    }

    /// Takes in what an attempt did, but for the cookies, which are kept apart. A score that reaches its maximum retires the session, for
    /// good: attempts that ran beside each other all saw a lesser one, so that none of them could have said so.
    pub fn apply(&mut self, delta: &SessionDelta) {
        let peak = self.uses.mark(delta.number, delta.mark, self.settings.error_score_decrement);
        self.retired |= delta.retired || peak >= self.settings.max_error_score;
        if let Some(user_data) = &delta.user_data {
            self.user_data.write(user_data.clone(), delta.number);
        }
        if let Some(proxy) = &delta.proxy {
            self.proxy.write(Some(proxy.clone()), delta.number);
        }
    }

    /// Takes in what an attempt did, as [`Self::apply`], and says why the session is used no more, if this has ended that.
    pub fn end_use(&mut self, delta: &SessionDelta, now: Timestamp) -> Option<Unusable> {
        let before = self.unusable(now);
        self.apply(delta);
        // A score that is too high is the reason, though it has retired the session by now.
        let (score, max) = (self.score(), self.settings.max_error_score);
        let after = if score >= max { Some(Unusable::Blocked { score, max }) } else { self.unusable(now) };
        after.filter(|_| before.is_none())
    }

    /// What was reserved and is not known to have ended counts as used: the process that had it may have asked the site.
    pub fn settle(&mut self) {
        self.uses.settle(self.reserved, self.settings.error_score_decrement);
    }
}

/// A session that a plugin adds to a pool (Crawlee: `SessionPool.add_session`). It is there when the call that adds it is committed.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedSession {
    /// The pool.
    pub pool: PoolId,
    /// The session, which was never used.
    pub record: Box<SessionRecord>,
}

impl AddedSession {
    /// About how many bytes it holds.
    #[must_use]
    pub fn weight(&self) -> usize {
        let cookies: usize = self.record.cookies.iter().map(CookieChange::weight).sum();
        512 + cookies + self.record.user_data.value.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UseMark;

    fn record() -> SessionRecord {
        let id = SessionId::new("s").expect("a name");
        SessionRecord::new(id, SessionSettings::default(), Timestamp::from_millis(1_000))
    }

    #[test]
    fn a_session_is_usable_within_its_limits_and_no_further() {
        let now = Timestamp::from_millis(1_000);
        let end = now.plus(Duration::from_secs(50 * 60));
        assert_eq!(record().unusable(now), None);
        assert_eq!(record().unusable(Timestamp::from_millis(end.as_millis() - 1)), None);
        assert_eq!(record().unusable(end), Some(Unusable::Expired { at: end }));
        let worn = SessionRecord { uses: UseLog::settled(50, 0.0), ..record() };
        assert_eq!(worn.unusable(now), Some(Unusable::UsedUp { max: 50 }));
        let mut blocked = record();
        for number in 1..=3 {
            assert_eq!(blocked.unusable(now), None);
            blocked.uses.mark(UseNumber(number), UseMark::Bad, 0.5);
        }
        assert_eq!(blocked.unusable(now), Some(Unusable::Blocked { score: 3.0, max: 3.0 }));
        assert_eq!(SessionRecord { retired: true, ..record() }.unusable(now), Some(Unusable::Retired));
    }

    #[test]
    fn the_use_that_reaches_the_maximum_score_retires_a_session_for_good() {
        let use_of =
            |number, mark| SessionDelta { mark, ..SessionDelta::of_use(crate::PoolId(1), record().id, UseNumber(number)) };
        let mut session = record();
        for (number, mark, retired) in [
            (2, UseMark::Bad, false),
            (4, UseMark::Good, false),
            (1, UseMark::Bad, false),
            (3, UseMark::Bad, true),
            (5, UseMark::Good, true),
        ] {
            session.apply(&use_of(number, mark));
            assert_eq!(session.retired, retired, "{number}");
        }
        assert_eq!(session.score(), 2.0);
    }

    #[test]
    fn of_what_is_replaced_as_a_whole_the_later_use_holds() {
        for order in [[1, 2], [2, 1]] {
            let mut written = Written::first(0);
            for by in order {
                written.write(by, UseNumber(by));
            }
            assert_eq!(written, Written { value: 2, by: UseNumber(2) });
        }
    }

    #[test]
    fn names_have_a_length_and_no_control_characters() {
        assert!(SessionId::new("käse 1@example.com").is_some());
        for bad in ["", "a\nb", &"x".repeat(129)] {
            assert_eq!(SessionId::new(bad), None);
        }
    }

    #[test]
    fn a_range_gives_each_number_once() {
        let mut range = UseRange { first: UseNumber(4), last: UseNumber(5) };
        assert_eq!(range.count(), 2);
        assert_eq!([range.take(), range.take(), range.take()], [Some(UseNumber(4)), Some(UseNumber(5)), None]);
        assert_eq!(range.count(), 0);
    }
}
