//! How a pool is set.
//!
//! Decision: what a pool gives a new session comes from settings or from a function, and never from both, since it would not be clear
//! which of them holds; and what cannot work is refused before there is a pool, with what would.

use crate::BlockRule;
use nephila_model::{ProxyId, SessionId, SessionSettings};
use std::fmt;
use std::sync::Arc;

/// So often may a request be tried with another session because a site blocked the one before, apart from its retries (Crawlee:
/// `max_session_rotations`). Who retries requests keeps to it.
pub const MAX_SESSION_ROTATIONS: u32 = 10;

/// Bytes that user data may have: a session is read and written with each of its pages.
pub const MAX_USER_DATA: usize = 64 * 1024;

/// Which session is taken next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReuseStrategy {
    /// Until the pool is full a new one, then any. The default, as in Crawlee.
    #[default]
    Random,
    /// Until the pool is full a new one, then the one whose turn was longest ago.
    RoundRobin,
    /// The same one until it is usable no more.
    UntilFailure,
}

/// How many requests may have a session at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// As many as there are. The default, as in Crawlee.
    #[default]
    Concurrent,
    /// One: a site never sees two requests of one visitor at once.
    Exclusive,
}

/// What a new session is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSeed {
    /// Its name; `None`: ten random letters and digits.
    pub id: Option<SessionId>,
    /// Its limits.
    pub settings: SessionSettings,
    /// Its user data: a JSON object.
    pub user_data: String,
    /// Its proxy, if it is to have this one.
    pub proxy: Option<ProxyId>,
}

impl Default for SessionSeed {
    fn default() -> Self {
        Self { id: None, settings: SessionSettings::default(), user_data: "{}".to_owned(), proxy: None }
    }
}

/// Makes new sessions (Crawlee: `create_session_function`). Where that takes asking a plugin, leave it out: who makes a session durable may
/// fill in its user data before it does ([`crate::Creation::record_mut`]).
pub type CreateSession = Arc<dyn Fn() -> Result<SessionSeed, String> + Send + Sync>;

/// How a pool is set.
#[derive(Clone)]
pub struct PoolSettings {
    /// Sessions at once that are usable. 1000. One that is not leaves its place at once, also while requests have it in hand.
    pub max_pool_size: usize,
    /// The limits of new sessions; `None`: [`SessionSettings::default`]. Not together with `create`.
    pub create_settings: Option<SessionSettings>,
    /// Makes new sessions. Not together with `create_settings`.
    pub create: Option<CreateSession>,
    /// Which session is taken next.
    pub strategy: ReuseStrategy,
    /// How many requests may have a session at once.
    pub sharing: Sharing,
    /// Uses that are reserved in the store at a time. 10. Fewer cost more writes; of more a crash loses more, since what is reserved counts as used.
    pub uses_per_reservation: u32,
    /// Rules for blocking and retiring, beside the sessions' blocked statuses.
    pub rules: Vec<Arc<dyn BlockRule>>,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            max_pool_size: 1_000,
            create_settings: None,
            create: None,
            strategy: ReuseStrategy::default(),
            sharing: Sharing::default(),
            uses_per_reservation: 10,
            rules: Vec::new(),
        }
    }
}

impl fmt::Debug for PoolSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolSettings")
            .field("max_pool_size", &self.max_pool_size)
            .field("create_settings", &self.create_settings)
            .field("create", &self.create.as_ref().map(|_| "a function"))
            .field("strategy", &self.strategy)
            .field("sharing", &self.sharing)
            .field("uses_per_reservation", &self.uses_per_reservation)
            .field("rules", &self.rules.len())
            .finish()
    }
}

/// Why a pool or a session cannot be as it is set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidSetting {
    /// Both ways to make sessions were given.
    #[error(
        "a session pool was given both create-settings and a create function; leave one out (the function may return the settings)"
    )]
    BothGiven,
    /// A value is out of range.
    #[error("session setting `{name}` is {value}, and must be {allowed}")]
    OutOfRange {
        /// The setting.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// User data are no object.
    #[error("user data of a session must be a JSON object, such as {{\"token\":\"…\"}}: {cause}")]
    UserData {
        /// What is wrong with them.
        cause: String,
    },
    /// User data are too large.
    #[error(
        "user data of a session would have {bytes} bytes, and {MAX_USER_DATA} are allowed; keep large values in a key-value store"
    )]
    UserDataTooLarge {
        /// How many they have.
        bytes: usize,
    },
}

impl PoolSettings {
    /// # Errors
    /// [`InvalidSetting`]: the first thing that cannot be.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        if self.create.is_some() && self.create_settings.is_some() {
            return Err(InvalidSetting::BothGiven);
        }
        if self.max_pool_size == 0 {
            return Err(out_of_range("max-pool-size", self.max_pool_size, "at least 1"));
        }
        if self.uses_per_reservation == 0 {
            return Err(out_of_range("uses-per-reservation", self.uses_per_reservation, "at least 1"));
        }
        self.create_settings.as_ref().map_or(Ok(()), check_session)
    }
}

/// Whether a session may have these limits.
///
/// # Errors
/// [`InvalidSetting`]: the first one that cannot be.
pub fn check_session(settings: &SessionSettings) -> Result<(), InvalidSetting> {
    let SessionSettings { max_age, max_uses, max_error_score, error_score_decrement, blocked_status_codes } = settings;
    // It is kept in milliseconds: of less nothing would be left.
    if max_age.as_millis() == 0 {
        return Err(out_of_range("max-age", format_args!("{max_age:?}"), "1 ms or more"));
    }
    if *max_uses == 0 {
        return Err(out_of_range("max-uses", max_uses, "at least 1"));
    }
    if !(max_error_score.is_finite() && *max_error_score > 0.0) {
        return Err(out_of_range("max-error-score", max_error_score, "a number above 0"));
    }
    if !(error_score_decrement.is_finite() && *error_score_decrement >= 0.0) {
        return Err(out_of_range("error-score-decrement", error_score_decrement, "0, or a number above it"));
    }
    match blocked_status_codes.iter().find(|code| !(100..600).contains(*code)) {
        Some(code) => Err(out_of_range("blocked-status-codes", code, "codes from 100 to 599")),
        None => Ok(()),
    }
}

/// Whether a session may have these user data.
///
/// # Errors
/// [`InvalidSetting::UserData`], [`InvalidSetting::UserDataTooLarge`].
pub fn check_user_data(json: &str) -> Result<(), InvalidSetting> {
    if json.len() > MAX_USER_DATA {
        return Err(InvalidSetting::UserDataTooLarge { bytes: json.len() });
    }
    let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(json);
    read.map(drop).map_err(|error| InvalidSetting::UserData { cause: error.to_string() })
}

// What is said of a value that cannot be.
fn out_of_range(name: &'static str, value: impl fmt::Display, allowed: &'static str) -> InvalidSetting {
    InvalidSetting::OutOfRange { name, value: value.to_string(), allowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_defaults_are_crawlees() {
        let (pool, session) = (PoolSettings::default(), SessionSettings::default());
        assert_eq!((pool.max_pool_size, pool.strategy, pool.sharing), (1_000, ReuseStrategy::Random, Sharing::Concurrent));
        assert_eq!((session.max_age, session.max_uses), (Duration::from_secs(3_000), 50));
        assert_eq!((session.max_error_score, session.error_score_decrement), (3.0, 0.5));
        assert_eq!(session.blocked_status_codes.into_iter().collect::<Vec<_>>(), [401, 403, 429]);
        assert_eq!(MAX_SESSION_ROTATIONS, 10);
        assert!(pool.check().is_ok());
    }

    #[test]
    fn both_ways_to_make_sessions_are_refused_with_the_way_out() {
        let both = PoolSettings {
            create_settings: Some(SessionSettings::default()),
            create: Some(Arc::new(|| Ok(SessionSeed::default()))),
            ..PoolSettings::default()
        };
        let error = both.check().expect_err("refused").to_string();
        assert!(error.contains("both") && error.contains("leave one out"), "{error}");
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        let good = SessionSettings::default;
        for (name, settings) in [
            ("max-age", SessionSettings { max_age: Duration::ZERO, ..good() }),
            ("max-age", SessionSettings { max_age: Duration::from_micros(999), ..good() }),
            ("max-uses", SessionSettings { max_uses: 0, ..good() }),
            ("max-error-score", SessionSettings { max_error_score: 0.0, ..good() }),
            ("max-error-score", SessionSettings { max_error_score: f64::NAN, ..good() }),
            ("error-score-decrement", SessionSettings { error_score_decrement: -0.5, ..good() }),
            ("blocked-status-codes", SessionSettings { blocked_status_codes: [403, 42].into(), ..good() }),
        ] {
            let pool = PoolSettings { create_settings: Some(settings), ..PoolSettings::default() };
            let error = pool.check().expect_err("refused").to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        assert!(PoolSettings { max_pool_size: 0, ..PoolSettings::default() }.check().is_err());
        assert!(PoolSettings { uses_per_reservation: 0, ..PoolSettings::default() }.check().is_err());
    }

    #[test]
    fn user_data_are_an_object() {
        assert!(check_user_data("{\"a\":[1]}").is_ok());
        for bad in ["", "1", "[]", "{", "{}x"] {
            assert!(matches!(check_user_data(bad), Err(InvalidSetting::UserData { .. })), "{bad}");
        }
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_USER_DATA));
        assert!(matches!(check_user_data(&large), Err(InvalidSetting::UserDataTooLarge { .. })));
    }
}
