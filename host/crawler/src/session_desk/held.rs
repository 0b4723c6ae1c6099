//! A use of a session in a visit's hands.
//!
//! Decision: however it leaves them (ended, or dropped with its visit), those who wait for a session are told, and never before it is free. One
//! that is dropped before its site was asked has not happened, and goes back.

use nephila_model::{Header, SessionDelta, SessionId, Timestamp, UseMark};
use nephila_session::{Answer, Finished, Judgement, SessionSight, SessionUse, UseAsk};
use std::sync::Arc;
use tokio::sync::Notify;
use url::Url;

/// A use of a session in a visit's hands. Dropped, it counts as used, unless no site was asked by it.
#[derive(Debug)]
pub struct Held {
    // Fields are dropped in this order: first the session is free, then others are told.
    taken: SessionUse,
    freed: Freed,
}

/// Tells those who wait, when it is dropped.
#[derive(Debug)]
pub(super) struct Freed(pub(super) Arc<Notify>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl Held {
    /// In hand from now on; `freed` is told when it is no more.
    pub fn new(taken: SessionUse, freed: &Arc<Notify>) -> Self {
        Self { taken: taken.put_aside(), freed: Freed(Arc::clone(freed)) }
    }

    /// The session.
    pub const fn id(&self) -> &SessionId {
        self.taken.id()
    }

    /// Whether this use retires the session.
    pub const fn is_retiring(&self) -> bool {
        self.taken.is_retiring()
    }

    /// The cookies to send with a request for `url`, unless the request has a `Cookie` field of its own. From now on it counts: the site is
    /// asked.
    pub fn ask(&mut self, url: &Url, own: &[Header]) -> Option<String> {
        self.taken.take_up();
        let has_own = own.iter().any(|header| header.name.eq_ignore_ascii_case("cookie"));
        if has_own { None } else { self.taken.cookie_header(url, Timestamp::now()) }
    }

    /// Takes in the `Set-Cookie` fields of a response from `url`.
    pub fn receive<'f>(&mut self, url: &Url, fields: impl IntoIterator<Item = &'f str>) {
        self.taken.receive(url, fields, Timestamp::now());
    }

    /// What a response means for the session.
    pub fn judge(&mut self, answer: &Answer<'_>) -> Judgement {
        self.taken.judge(answer)
    }

    /// The session is not to be used again.
    pub const fn retire(&mut self) {
        self.taken.retire();
    }

    /// The session, for a plugin to look at.
    pub fn sight(&self) -> SessionSight {
        self.taken.sight()
    }

    /// What it would give to an outcome now.
    pub fn draft(&self, otherwise: UseMark, ask: &UseAsk) -> SessionDelta {
        self.taken.draft(otherwise, ask, Timestamp::now())
    }

    /// It has ended with what it gave, which is committed.
    pub fn end(self, delta: SessionDelta) -> Finished {
        let Self { taken, freed } = self;
        let finished = taken.end(delta, Timestamp::now());
        drop(freed);
        finished
    }
}
