//! What the fetching of a request came to.

use crate::retry::Chance;
use nephila_model::{FailureCode, FailureReason, Page, SiteKey, SkipReason};
use nephila_plugin::ParsedPage;
use std::borrow::Cow;
use std::sync::Arc;
use url::Url;

/// What the fetching of a request came to.
pub enum Attempt {
    /// A page for the handler.
    Page(Arc<ParsedPage>),
    /// No page.
    Failed {
        /// Why.
        reason: FailureReason,
        /// Whether trying again may help.
        chance: Chance,
        /// The URL that answered last.
        final_url: Option<Url>,
    },
    /// Its site blocked the session that asked for it.
    Blocked {
        /// How that was told.
        reason: FailureReason,
        /// The URL that answered.
        final_url: Option<Url>,
    },
    /// Nothing went wrong, and there is nothing to handle.
    Skipped {
        /// Why.
        reason: SkipReason,
        /// The URL that answered last.
        final_url: Option<Url>,
    },
    /// It was redirected to another site.
    Moved {
        /// Which.
        site: SiteKey,
    },
}

impl Attempt {
    /// A page that its session was not given.
    pub fn blocked(page: &Page, why: &str) -> Self {
        let reason = FailureReason {
            code: FailureCode(Cow::Borrowed("session-blocked")),
            message: format!("{} was not given to this session: {why}", page.url),
            status: Some(page.status),
        };
        Self::Blocked { reason, final_url: Some(page.url.clone()) }
    }

    /// The page, if there is one.
    pub fn page(&self) -> Option<Arc<ParsedPage>> {
        match self {
            Self::Page(page) => Some(Arc::clone(page)),
            _ => None,
        }
    }
}
