//! How a crawl uses sessions, as values.
//!
//! Decision: the limits of sessions have values always, and what differs from the defaults counts as given. Crawlee's pool is on unless
//! it is switched off; here it is off unless it is asked for, since a session costs a crawl a write to its row with each page.

use nephila_model::{PoolPlace, SessionSettings};
use nephila_session::{BlockRule, MAX_SESSION_ROTATIONS, PoolSettings, ReuseStrategy, Sharing, TextMeans, TextRule};
use std::sync::Arc;

/// Whether pages are fetched by sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sessions {
    /// They are not. The default.
    #[default]
    None,
    /// They are.
    Used,
}

/// How a crawl uses sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionConfig {
    /// Whether it does.
    pub used: Sessions,
    /// Usable sessions at once at most. 1000.
    pub max_pool_size: usize,
    /// The limits of new sessions. Crawlee's. Not together with a plugin that makes sessions.
    pub limits: SessionSettings,
    /// Which session is next. Random.
    pub strategy: ReuseStrategy,
    /// How many requests may have a session at once. Concurrent.
    pub sharing: Sharing,
    /// Tries of a request with another session at most, where a site blocks. 10.
    pub max_rotations: u32,
    /// Texts by which a page is a block. None.
    pub block_text: Vec<String>,
    /// CSS selectors by which a page is a block. None.
    pub block_selectors: Option<String>,
    /// Texts by which a page is its session's last. None.
    pub retire_text: Vec<String>,
    /// Where the pool is kept. The crawl's own.
    pub place: PoolPlace,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            used: Sessions::default(),
            max_pool_size: PoolSettings::default().max_pool_size,
            limits: SessionSettings::default(),
            strategy: ReuseStrategy::default(),
            sharing: Sharing::default(),
            max_rotations: MAX_SESSION_ROTATIONS,
            block_text: Vec::new(),
            block_selectors: None,
            retire_text: Vec::new(),
            place: PoolPlace::default(),
        }
    }
}

impl SessionConfig {
    /// Whether limits were given that are not the defaults.
    #[must_use]
    pub fn has_limits(&self) -> bool {
        self.limits != SessionSettings::default()
    }

    /// The pool's settings, with rules for blocking beside the statuses and the texts.
    #[must_use]
    pub fn pool(&self, mut rules: Vec<Arc<dyn BlockRule>>) -> PoolSettings {
        let texts = [(&self.block_text, TextMeans::Blocked), (&self.retire_text, TextMeans::Retire)];
        let texts = texts.into_iter().filter_map(|(texts, means)| TextRule::new(texts, means));
        rules.extend(texts.map(|rule| Arc::new(rule) as Arc<dyn BlockRule>));
        PoolSettings {
            max_pool_size: self.max_pool_size,
            create_settings: Some(self.limits.clone()),
            strategy: self.strategy,
            sharing: self.sharing,
            rules,
            ..PoolSettings::default()
        }
    }
}
