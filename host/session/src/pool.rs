//! A pool of sessions.
//!
//! Decision: a pool is a value that does no I/O, asks no clock and throws its own dice: it says what must be done in the store before
//! a session can be used ([`Errand`]), and is told how that went. It grows one session at a time, when one is asked for. What it costs: whoever
//! asks may have to ask twice. Crawls that share a pool share this value (clones are the same pool); two values of one stored pool keep
//! all limits too, since uses are reserved in the store, but each knows only its own requests in hand, so that a session
//! which is exclusive is so within each; and whoever opens the second one counts what the first has reserved as used, so that sessions may
//! end before they have had all their uses.

use crate::errand::{Creation, Errand, NamedBy, Reservation};
use crate::error::{BoundError, CheckoutError};
use crate::roster::{Bound, Pick, Roster};
use crate::rules::{Answer, Judgement, judge};
use crate::session_use::SessionUse;
use crate::settings::{InvalidSetting, PoolSettings, ReuseStrategy, SessionSeed, check_session, check_user_data};
use nephila_model::{PoolId, SessionId, SessionRecord, Timestamp, UseRange, Written};
use std::sync::{Arc, Mutex, PoisonError};

/// Characters of a session's name that a pool makes up, as in Crawlee.
const NAME_LENGTH: usize = 10;

/// A pool of sessions. Clones are the same pool.
#[derive(Debug, Clone)]
pub struct SessionPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    id: PoolId,
    settings: PoolSettings,
    roster: Mutex<Roster>,
}

/// What comes of asking for a session.
#[derive(Debug)]
pub enum Checkout {
    /// A use of one, reserved durably.
    Ready(SessionUse),
    /// Something must be done in the store first.
    Errand(Errand),
}

/// How many sessions a pool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolCounts {
    /// In memory, those included that are usable no more and in hand still (Crawlee: `sessionCount`).
    pub sessions: usize,
    /// Of these, the usable ones (Crawlee: `usableSessionCount`).
    pub usable: usize,
    /// That have become unusable since the pool was opened.
    pub ended: u64,
}

impl SessionPool {
    /// The pool `id` with the sessions that the store has of it, the newest ones of those that are usable, as many as it may have; the others
    /// stay in the store. `dice` choose sessions and make up names.
    ///
    /// # Errors
    /// [`InvalidSetting`]: the settings contradict each other, or cannot work.
    pub fn new(
        id: PoolId,
        settings: PoolSettings,
        sessions: impl IntoIterator<Item = SessionRecord>,
        dice: fastrand::Rng,
        now: Timestamp,
    ) -> Result<Self, InvalidSetting> {
        settings.check()?;
        let mut roster = Roster::new(settings.strategy, settings.sharing, dice);
        let mut usable: Vec<SessionRecord> = sessions.into_iter().filter(|record| record.unusable(now).is_none()).collect();
        usable.sort_by(by_age);
        // An older setting may have allowed for more.
        let too_many = usable.len().saturating_sub(settings.max_pool_size);
        for record in usable.into_iter().skip(too_many) {
            roster.expect();
            roster.arrive(record, None, now);
        }
        Ok(Self(Arc::new(Shared { id, settings, roster: Mutex::new(roster) })))
    }

    /// Its row in the store.
    #[must_use]
    pub fn id(&self) -> PoolId {
        self.0.id
    }

    /// How it is set.
    #[must_use]
    pub fn settings(&self) -> &PoolSettings {
        &self.0.settings
    }

    /// Asks for a session. After an errand, the use is what the errand gives, or else ask again.
    ///
    /// # Errors
    /// [`CheckoutError::NoneFree`], [`CheckoutError::Arriving`]: ask again when a use or an errand ends. [`CheckoutError::Create`]: the
    /// create function failed.
    pub fn checkout(&self, now: Timestamp) -> Result<Checkout, CheckoutError> {
        let max = self.0.settings.max_pool_size;
        let grows_first = self.0.settings.strategy != ReuseStrategy::UntilFailure;
        let pick = self.with(|roster| {
            let pick = if grows_first && roster.places() < max { Pick::Nobody } else { roster.pick(now) };
            match pick {
                Pick::Arriving => Err(CheckoutError::Arriving),
                Pick::Nobody if roster.is_worth_waiting() => Err(CheckoutError::Arriving),
                // A session that had ended may have made room.
                Pick::Nobody if roster.places() >= max => Err(CheckoutError::NoneFree { max }),
                Pick::Nobody => {
                    roster.expect();
                    Ok(pick)
                }
                _ => Ok(pick),
            }
        });
        match pick? {
            Pick::Use(id, number) => Ok(Checkout::Ready(SessionUse::new(self.clone(), id, number))),
            Pick::Reserve(id) => Ok(Checkout::Errand(self.reserve(id))),
            Pick::Nobody | Pick::Arriving => Ok(Checkout::Errand(Errand::Create(self.create(now)?))),
        }
    }

    /// Asks for a session that is there already, where no new one can be made just now.
    ///
    /// # Errors
    /// [`CheckoutError::NoneFree`], [`CheckoutError::Arriving`]: ask again when a use or an errand ends. [`CheckoutError::Empty`]: there is
    /// none to wait for.
    pub fn checkout_old(&self, now: Timestamp) -> Result<Checkout, CheckoutError> {
        let max = self.0.settings.max_pool_size;
        self.with(|roster| match roster.pick(now) {
            Pick::Use(id, number) => Ok(Ok((id, number))),
            Pick::Reserve(id) => Ok(Err(id)),
            Pick::Arriving => Err(CheckoutError::Arriving),
            Pick::Nobody if roster.has_hope(now) => Err(CheckoutError::NoneFree { max }),
            Pick::Nobody => Err(CheckoutError::Empty),
        })
        .map(|picked| match picked {
            Ok((id, number)) => Checkout::Ready(SessionUse::new(self.clone(), id, number)),
            Err(id) => Checkout::Errand(self.reserve(id)),
        })
    }

    /// Asks for the session that a request is bound to.
    ///
    /// # Errors
    /// [`BoundError`]: it is gone or unusable, and the request can only fail; or it is exclusive and in hand, and will be free; or more uses
    /// of it are on their way.
    pub fn checkout_by_id(&self, id: &SessionId, now: Timestamp) -> Result<Checkout, BoundError> {
        let id = id.clone();
        match self.with(|roster| roster.bind(&id, now)) {
            Bound::Use(number) => Ok(Checkout::Ready(SessionUse::new(self.clone(), id, number))),
            Bound::Reserve => Ok(Checkout::Errand(self.reserve(id))),
            Bound::Gone => Err(BoundError::Gone { id }),
            Bound::Unusable(why) => Err(BoundError::Unusable { id, why }),
            Bound::Busy => Err(BoundError::Busy { id }),
            Bound::Arriving => Err(BoundError::Arriving { id }),
        }
    }

    /// How many sessions there are.
    #[must_use]
    pub fn counts(&self, now: Timestamp) -> PoolCounts {
        self.with(|roster| PoolCounts {
            sessions: roster.iter().count(),
            usable: roster.iter().filter(|entry| entry.record.unusable(now).is_none()).count(),
            ended: roster.left(),
        })
    }

    /// All sessions as they are now, the oldest first.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionRecord> {
        let mut all: Vec<SessionRecord> = self.with(|roster| {
            roster.iter().map(|entry| SessionRecord { cookies: entry.jar.to_changes(), ..entry.record.clone() }).collect()
        });
        all.sort_by(by_age);
        all
    }

    /// The names of all sessions, the oldest first.
    #[must_use]
    pub fn session_ids(&self) -> Vec<SessionId> {
        let mut all: Vec<_> =
            self.with(|roster| roster.iter().map(|entry| (entry.record.created_at, entry.record.id.clone())).collect());
        all.sort_unstable();
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// A session as it is now; `None` if it is gone.
    #[must_use]
    pub fn session(&self, id: &SessionId) -> Option<SessionRecord> {
        let (record, jar) = self.with(|roster| roster.get(id).map(|entry| (entry.record.clone(), entry.jar.clone())))?;
        Some(SessionRecord { cookies: jar.to_changes(), ..record })
    }

    /// The uses that are reserved in the store and were not begun, for the store to take back when the crawl ends. From now on they
    /// are nobody's.
    #[must_use]
    pub fn take_unused(&self) -> Vec<(SessionId, UseRange)> {
        self.with(Roster::take_unused)
    }

    pub(crate) fn judge(&self, id: &SessionId, answer: &Answer<'_>) -> Judgement {
        let blocked = self.with(|roster| roster.get(id).map(|entry| entry.record.settings.blocked_status_codes.clone()));
        judge(&blocked.unwrap_or_default(), &self.0.settings.rules, answer)
    }

    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Roster) -> T) -> T {
        act(&mut self.0.roster.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn new_name(&self) -> Option<SessionId> {
        self.with(new_name)
    }

    fn reserve(&self, id: SessionId) -> Errand {
        Errand::Reserve(Reservation::new(self.clone(), id, self.0.settings.uses_per_reservation))
    }

    fn creation(&self, record: SessionRecord, named_by: NamedBy) -> Creation {
        let left = record.settings.max_uses.saturating_sub(record.reserved);
        let uses = self.0.settings.uses_per_reservation.min(left);
        Creation::new(self.clone(), record, named_by, uses)
    }

    // Its place is taken already, and is given back if there is no session.
    fn create(&self, now: Timestamp) -> Result<Creation, CheckoutError> {
        let failed = |cause: String| {
            self.with(Roster::expect_no_more);
            CheckoutError::Create { cause }
        };
        let seed = match (&self.0.settings.create, &self.0.settings.create_settings) {
            (Some(create), _) => create().map_err(failed)?,
            (None, Some(settings)) => SessionSeed { settings: settings.clone(), ..SessionSeed::default() },
            (None, None) => SessionSeed::default(),
        };
        let checked = check_session(&seed.settings).and_then(|()| check_user_data(&seed.user_data));
        checked.map_err(|error| failed(error.to_string()))?;
        let named_by = if seed.id.is_some() { NamedBy::Others } else { NamedBy::Pool };
        let id = match seed.id {
            Some(id) if self.with(|roster| roster.get(&id).is_some()) => {
                return Err(failed(format!("it made a session `{id}`, and there is one of that name")));
            }
            Some(id) => id,
            None => self.new_name().ok_or_else(|| failed("no name could be made up for it".to_owned()))?,
        };
        let mut record = SessionRecord::new(id, seed.settings, now);
        record.user_data = Written::first(seed.user_data);
        record.proxy = Written::first(seed.proxy);
        Ok(self.creation(record, named_by))
    }
}

// The oldest first.
fn by_age(a: &SessionRecord, b: &SessionRecord) -> std::cmp::Ordering {
    (a.created_at, &a.id).cmp(&(b.created_at, &b.id))
}

// Sixty bits at random: that a name is taken is as good as impossible, and is found out by the store, where others make names too.
fn new_name(roster: &mut Roster) -> Option<SessionId> {
    let name: String = (0..NAME_LENGTH).map(|_| roster.dice.alphanumeric()).collect();
    SessionId::new(&name)
}

#[cfg(test)]
mod tests;
