//! A use of a session: what one attempt at a request has of it, its redirects included.
//!
//! Decision: what a use learns (cookies, a score) counts in memory at once, since other requests of the session go on meanwhile, and
//! becomes durable with the outcome of its page: [`SessionUse::finish`] gives the delta for it. Where the outcome may be refused and made
//! anew, [`SessionUse::draft`] gives it before the end, and [`SessionUse::end`] comes behind the commit. Whether a session's score
//! retires it is found out where its uses come together, which is the store, and in memory only behind it: uses beside each other
//! know nothing of one another's marks. A use that is dropped without either frees its session and counts as used: it may have reached
//! the site; unless it was put aside ([`SessionUse::put_aside`]) and never taken up.

use crate::ask::{SessionSight, UseAsk, UseWord};
use crate::limits::{Full, forget_changes};
use crate::pool::SessionPool;
use crate::rules::{Answer, Judgement};
use crate::settings::{InvalidSetting, check_user_data};
use nephila_model::{Cookie, CookieChange, CookieKey, ProxyId, SessionDelta, SessionId, Timestamp, Unusable, UseMark, UseNumber};
use std::collections::BTreeMap;
use url::Url;

/// What a use came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// For the outcome of the page; or what was committed with it, if the use ended behind the commit.
    pub delta: SessionDelta,
    /// Why the session is used no more, if this use ended that (Crawlee: the event `sessionRetired`).
    pub ended: Option<Unusable>,
}

/// One use of a session.
#[derive(Debug)]
pub struct SessionUse {
    pool: SessionPool,
    delta: SessionDelta,
    marked: Option<UseMark>,
    changes: BTreeMap<CookieKey, CookieChange>,
    end: End,
}

/// What happens to the session when the use is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is freed, and the use counts.
    Open,
    /// The use goes back.
    Aside,
    /// Nothing: it has been done.
    Done,
}

impl SessionUse {
    pub(crate) fn new(pool: SessionPool, id: SessionId, number: UseNumber) -> Self {
        let delta = SessionDelta::of_use(pool.id(), id, number);
        Self { pool, delta, marked: None, changes: BTreeMap::new(), end: End::Open }
    }

    /// The session.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.delta.session
    }

    /// Which of its uses this is.
    #[must_use]
    pub const fn number(&self) -> UseNumber {
        self.delta.number
    }

    /// The value of the `Cookie` header field for a request to `url`; `None` if no cookie is for it. To be asked for at each hop.
    #[must_use]
    pub fn cookie_header(&self, url: &Url, now: Timestamp) -> Option<String> {
        self.pool.with(|roster| roster.get(self.id()).and_then(|entry| entry.jar.header(url, now)))
    }

    /// Takes in the `Set-Cookie` header fields of a response from `url`, in order. To be told of each hop.
    pub fn receive<'f>(&mut self, url: &Url, fields: impl IntoIterator<Item = &'f str>, now: Timestamp) {
        let (id, number) = (self.delta.session.clone(), self.delta.number);
        let changes = self
            .pool
            .with(|roster| roster.get_mut(&id).map(|entry| entry.jar.receive(url, fields, now, number)).unwrap_or_default());
        take_in(&mut self.changes, changes);
    }

    /// Takes a cookie out.
    pub fn remove_cookie(&mut self, key: &CookieKey, now: Timestamp) {
        let number = self.delta.number;
        let change = self.pool.with(|roster| roster.get_mut(&self.delta.session)?.jar.remove(key, now, number));
        take_in(&mut self.changes, change);
    }

    /// The session's cookies for all sites.
    #[must_use]
    pub fn cookies(&self, now: Timestamp) -> Vec<Cookie> {
        self.pool.with(|roster| roster.get(self.id()).map(|entry| entry.jar.cookies(now).cloned().collect()).unwrap_or_default())
    }

    /// The session's user data: a JSON object. What this use has set is seen by it at once, and by others when it has finished.
    #[must_use]
    pub fn user_data(&self) -> String {
        let own = self.delta.user_data.clone();
        own.unwrap_or_else(|| {
            let kept = self.pool.with(|roster| roster.get(self.id()).map(|entry| entry.record.user_data.value.clone()));
            kept.unwrap_or_else(|| "{}".to_owned())
        })
    }

    /// Sets the session's user data, all of them. Of two uses at the same time the one that began later holds.
    ///
    /// # Errors
    /// [`InvalidSetting::UserData`] if it is not a JSON object, [`InvalidSetting::UserDataTooLarge`].
    pub fn set_user_data(&mut self, json: String) -> Result<(), InvalidSetting> {
        check_user_data(&json)?;
        self.delta.user_data = Some(json);
        Ok(())
    }

    /// The session's proxy, once it has one.
    #[must_use]
    pub fn proxy(&self) -> Option<ProxyId> {
        self.delta.proxy.clone().or_else(|| self.pool.with(|roster| roster.get(self.id())?.record.proxy.value.clone()))
    }

    /// Gives the session its proxy, at once: other uses that begin from now on have it too.
    pub fn set_proxy(&mut self, proxy: ProxyId) {
        let number = self.delta.number;
        self.pool.with(|roster| {
            if let Some(entry) = roster.get_mut(&self.delta.session) {
                entry.record.proxy.write(Some(proxy.clone()), number);
            }
        });
        self.delta.proxy = Some(proxy);
    }

    /// What an answer means for the session. [`Judgement::Retire`] and [`Judgement::Blocked`] retire it.
    pub fn judge(&mut self, answer: &Answer<'_>) -> Judgement {
        let judgement = self.pool.judge(&self.delta.session, answer);
        if judgement != Judgement::Fine {
            self.retire();
        }
        judgement
    }

    /// It did well, or badly. The last word counts, and counts before what [`SessionUse::finish`] is told.
    pub const fn mark(&mut self, mark: UseMark) {
        self.marked = Some(mark);
    }

    /// The session is retired when this use has finished, for good.
    pub const fn retire(&mut self) {
        self.delta.retired = true;
    }

    /// Whether this use retires the session.
    #[must_use]
    pub const fn is_retiring(&self) -> bool {
        self.delta.retired
    }

    /// The session, to look at while the use goes on.
    #[must_use]
    pub fn sight(&self) -> SessionSight {
        SessionSight::new(self.pool.clone(), self.delta.session.clone())
    }

    /// What this use would give if it ended now, with what is asked of it: for an outcome, which may be refused and made anew.
    /// `otherwise` is how it did, unless somebody has said so. Nothing changes by it, and the session stays in hand. User data that are no
    /// JSON object, or too large, are passed over ([`check_user_data`]).
    #[must_use]
    pub fn draft(&self, otherwise: UseMark, ask: &UseAsk, now: Timestamp) -> SessionDelta {
        let mut delta = self.delta.clone();
        delta.mark = match ask.word {
            Some(UseWord::Good) => UseMark::Good,
            Some(UseWord::Bad) => UseMark::Bad,
            Some(UseWord::Retire) | None => self.marked.unwrap_or(otherwise),
        };
        delta.retired |= ask.word == Some(UseWord::Retire);
        if let Some(user_data) = ask.user_data.as_ref().filter(|json| check_user_data(json).is_ok()) {
            delta.user_data = Some(user_data.clone());
        }
        let mut changes = self.changes.clone();
        if !ask.set_cookies.is_empty() {
            // All that a plugin asks for is read with nobody waiting for it.
            let jar = self.pool.with(|roster| roster.get(&delta.session).map(|entry| entry.jar.clone()));
            if let Some(mut jar) = jar {
                for (url, field) in &ask.set_cookies {
                    take_in(&mut changes, jar.receive(url, [field.as_str()], now, delta.number));
                }
            }
        }
        delta.cookies = changes.into_values().collect();
        delta.cookies.sort_unstable_by_key(|change| change.version);
        delta
    }

    /// The use has ended with what it gave ([`SessionUse::draft`]), `retired` set if the store found that it retires the session. The session
    /// is free.
    pub fn end(mut self, mut delta: SessionDelta, now: Timestamp) -> Finished {
        self.end = End::Done;
        let ended = self.pool.with(|roster| {
            if let Some(entry) = roster.get_mut(&delta.session) {
                delta.cookies.iter().for_each(|change| entry.jar.apply(change));
            }
            roster.end(&mut delta, now)
        });
        Finished { delta, ended }
    }

    /// The use has ended: `otherwise` is how it did, unless somebody has said so ([`SessionUse::mark`]). The session is free.
    #[must_use]
    pub fn finish(self, otherwise: UseMark, now: Timestamp) -> Finished {
        let delta = self.draft(otherwise, &UseAsk::default(), now);
        self.end(delta, now)
    }

    /// Nothing is sent to any site by it yet: if it is dropped before it is taken up, it goes back.
    #[must_use]
    pub fn put_aside(mut self) -> Self {
        self.end = End::Aside;
        self
    }

    /// From now on it may have reached its site.
    pub fn take_up(&mut self) {
        self.end = End::Open;
    }

    /// The use has never begun: nothing was sent to any site. It may be taken by another request.
    pub fn give_back(mut self) {
        self.end = End::Done;
        self.pool.with(|roster| roster.give_back(&self.delta.session, self.delta.number));
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        match self.end {
            End::Open => {
                let mut delta = SessionDelta::of_use(self.delta.pool, self.delta.session.clone(), self.delta.number);
                delta.retired = self.delta.retired;
                self.pool.with(|roster| roster.end(&mut delta, Timestamp::EPOCH));
            }
            End::Aside => self.pool.with(|roster| roster.give_back(&self.delta.session, self.delta.number)),
            End::Done => {}
        }
    }
}

fn take_in(kept: &mut BTreeMap<CookieKey, CookieChange>, news: impl IntoIterator<Item = CookieChange>) {
    kept.extend(news.into_iter().map(|change| (change.key().clone(), change)));
    forget_changes(kept, &Full::JAR);
}

#[cfg(test)]
mod tests;
