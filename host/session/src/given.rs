//! Short words for tests: a pool whose store is a number per session.

use crate::{BoundError, Checkout, CheckoutError, Errand, Finished, PoolSettings, ReuseStrategy, SessionPool, SessionUse};
use nephila_model::{PoolId, SessionId, SessionRecord, SessionSettings, Timestamp, UseMark, UseNumber, UseRange};
use std::collections::BTreeMap;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// What a store keeps of reservations.
#[derive(Default)]
pub(crate) struct Ledger(pub(crate) BTreeMap<SessionId, (u32, u32)>);

impl Ledger {
    pub(crate) fn create(&mut self, record: &SessionRecord, uses: u32) -> Option<UseRange> {
        self.0.insert(record.id.clone(), (record.reserved, record.settings.max_uses));
        self.reserve(&record.id, uses)
    }

    pub(crate) fn reserve(&mut self, id: &SessionId, uses: u32) -> Option<UseRange> {
        let (reserved, max) = self.0.get_mut(id)?;
        let first = *reserved + 1;
        *reserved = (*reserved + uses).min(*max);
        (first <= *reserved).then_some(UseRange { first: UseNumber(first), last: UseNumber(*reserved) })
    }
}

/// A pool, and what its store keeps.
pub(crate) struct Given {
    pub(crate) pool: SessionPool,
    pub(crate) ledger: Ledger,
    pub(crate) writes: usize,
}

impl Given {
    pub(crate) fn new(settings: PoolSettings) -> Self {
        let pool = SessionPool::new(PoolId(1), settings, [], fastrand::Rng::with_seed(7), NOW).expect("a pool");
        Self { pool, ledger: Ledger::default(), writes: 0 }
    }

    pub(crate) fn small(strategy: ReuseStrategy, size: usize, session: SessionSettings) -> Self {
        Self::new(PoolSettings { strategy, max_pool_size: size, create_settings: Some(session), ..PoolSettings::default() })
    }

    pub(crate) fn run(&mut self, errand: Errand) -> Option<SessionUse> {
        self.writes += 1;
        match errand {
            Errand::Create(creation) => {
                let range = self.ledger.create(creation.record(), creation.uses());
                creation.made(range, NOW)
            }
            Errand::Reserve(reservation) => {
                let range = self.ledger.reserve(reservation.id(), reservation.uses());
                reservation.granted(range, NOW)
            }
        }
    }

    pub(crate) fn try_take_at(&mut self, now: Timestamp) -> Result<SessionUse, CheckoutError> {
        loop {
            match self.pool.checkout(now)? {
                Checkout::Ready(taken) => return Ok(taken),
                Checkout::Errand(errand) => {
                    if let Some(taken) = self.run(errand) {
                        return Ok(taken);
                    }
                }
            }
        }
    }

    pub(crate) fn take(&mut self) -> SessionUse {
        self.try_take_at(NOW).expect("a session")
    }

    pub(crate) fn bound(&mut self, id: &SessionId) -> Result<SessionUse, BoundError> {
        match self.pool.checkout_by_id(id, NOW)? {
            Checkout::Ready(taken) => Ok(taken),
            Checkout::Errand(errand) => Ok(self.run(errand).expect("a use")),
        }
    }

    pub(crate) fn finish(&mut self, mark: UseMark) -> (SessionId, Finished) {
        let taken = self.take();
        (taken.id().clone(), taken.finish(mark, NOW))
    }
}

pub(crate) fn uses(max_uses: u32) -> SessionSettings {
    SessionSettings { max_uses, ..SessionSettings::default() }
}

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::new(name).expect("a name")
}
