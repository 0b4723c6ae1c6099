//! What must be done in the store before a session can be used.
//!
//! Decision: a pool does no I/O. Where a use has to be durable before it begins, the pool hands out an errand; whoever asked carries it
//! out in the store, and tells the errand how it went. One at a time is on the way for uses of a session; whoever else wants some waits
//! for it, so that however many ask at once, no more is reserved than a few uses of each session. An errand that is dropped has not happened.

use crate::error::AddError;
use crate::pool::SessionPool;
use crate::roster::{Bound, Roster};
use crate::session_use::SessionUse;
use nephila_model::{SessionId, SessionRecord, Timestamp, UseRange};

/// What must be done in the store.
#[derive(Debug)]
pub enum Errand {
    /// A new session is to be written, with its first uses reserved.
    Create(Creation),
    /// More uses of a session are to be reserved.
    Reserve(Reservation),
}

/// A session on its way into the pool. Its place is kept for it.
#[derive(Debug)]
pub struct Creation {
    record: Box<SessionRecord>,
    place: Place,
    named_by: NamedBy,
    uses: u32,
}

/// Who gave a session its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// The pool made it up: another one is as good.
    Pool,
    /// Somebody who wants it to have this one.
    Others,
}

impl Creation {
    pub(crate) fn new(pool: SessionPool, record: SessionRecord, named_by: NamedBy, uses: u32) -> Self {
        Self { record: Box::new(record), place: Place(Some(pool)), named_by, uses }
    }

    /// The session to write.
    #[must_use]
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// The same, to fill in what it is to have from the beginning, such as user data that a plugin supplies.
    pub fn record_mut(&mut self) -> &mut SessionRecord {
        &mut self.record
    }

    /// The uses to reserve for it.
    #[must_use]
    pub const fn uses(&self) -> u32 {
        self.uses
    }

    /// It is written, with these uses: the first of them is the caller's, also if the session has reached its age by now, since a new one
    /// would do no better where it takes longer to make one than it lives. `None` if there are no uses: then ask the pool again.
    #[must_use]
    pub fn made(mut self, range: Option<UseRange>, now: Timestamp) -> Option<SessionUse> {
        let (pool, id) = (self.place.0.take()?, self.record.id.clone());
        let number = pool.with(|roster| roster.arrive_in_use(*self.record, range, now))?;
        Some(SessionUse::new(pool, id, number))
    }

    /// The store has a session of its name already, so that it does not come. `Ok`: the pool had made the name up; ask it again.
    ///
    /// # Errors
    /// [`AddError::Duplicate`] if somebody else gave it its name: to ask again would come to the same.
    pub fn name_taken(self) -> Result<(), AddError> {
        match self.named_by {
            NamedBy::Pool => Ok(()),
            NamedBy::Others => Err(AddError::Duplicate { id: self.record.id.clone() }),
        }
    }
}

/// A place in a pool that is kept free. Given back when it is dropped, unless the pool was taken out of it.
#[derive(Debug)]
struct Place(Option<SessionPool>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(pool) = &self.0 {
            pool.with(Roster::expect_no_more);
        }
    }
}

/// More uses of a session that are to be reserved.
#[derive(Debug)]
pub struct Reservation {
    // `None` once it is done.
    pool: Option<SessionPool>,
    id: SessionId,
    uses: u32,
}

impl Reservation {
    pub(crate) const fn new(pool: SessionPool, id: SessionId, uses: u32) -> Self {
        Self { pool: Some(pool), id, uses }
    }

    /// The session.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// How many uses to reserve.
    #[must_use]
    pub const fn uses(&self) -> u32 {
        self.uses
    }

    /// These are reserved; `None`: the session has none left, or is there no more. Gives the first that is free; `None` if others were
    /// quicker: then ask the pool again.
    #[must_use]
    pub fn granted(mut self, range: Option<UseRange>, now: Timestamp) -> Option<SessionUse> {
        let pool = self.pool.take()?;
        pool.with(|roster| {
            roster.granted(&self.id, range);
            roster.reserved(&self.id);
        });
        pool.begin(&self.id, now)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.with(|roster| roster.reserved(&self.id));
        }
    }
}

impl SessionPool {
    // The next use of a session that has just got some.
    fn begin(&self, id: &SessionId, now: Timestamp) -> Option<SessionUse> {
        let bound = self.with(|roster| {
            let bound = roster.bind(id, now);
            if bound == Bound::Reserve {
                // Whoever asks the pool again does that.
                roster.reserved(id);
            }
            bound
        });
        match bound {
            Bound::Use(number) => Some(SessionUse::new(self.clone(), id.clone(), number)),
            Bound::Reserve | Bound::Arriving | Bound::Gone | Bound::Unusable(_) | Bound::Busy => None,
        }
    }
}
