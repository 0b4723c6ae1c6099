//! A session as a plugin's call sees it, and what the call asks for it.
//!
//! Decision: the words of the plugin's side and of the pool's side are apart, since neither crate may know the other; here, and only here, the
//! one becomes the other.

use nephila_model::Timestamp;
use nephila_plugin::{SessionAsk, SessionCookie, SessionMark, SessionView};
use nephila_session::{SessionSight, UseAsk, UseWord};
use url::Url;

/// A session as a call sees it: as it is, with what an earlier call of the same attempt asked for it.
pub struct Seen {
    sight: SessionSight,
    before: UseAsk,
}

impl Seen {
    /// With what was asked before.
    pub const fn new(sight: SessionSight, before: UseAsk) -> Self {
        Self { sight, before }
    }
}

impl SessionView for Seen {
    fn id(&self) -> &str {
        self.sight.id().as_str()
    }

    fn user_data(&self) -> String {
        self.before.user_data.clone().unwrap_or_else(|| self.sight.user_data())
    }

    fn cookies(&self, url: &Url, set: &[(Url, String)]) -> Vec<SessionCookie> {
        let set = self.before.set_cookies.iter().chain(set);
        self.sight.cookies_for(url, set, Timestamp::now()).into_iter().map(SessionCookie::from).collect()
    }
}

/// What a call asks, in the pool's words.
pub fn asked(ask: SessionAsk) -> UseAsk {
    UseAsk {
        word: ask.mark.map(|mark| match mark {
            SessionMark::Good => UseWord::Good,
            SessionMark::Bad => UseWord::Bad,
            SessionMark::Retire => UseWord::Retire,
        }),
        user_data: ask.user_data,
        set_cookies: ask.set_cookies,
    }
}
