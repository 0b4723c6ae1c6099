//! Sessions that plugins add to the pool.
//!
//! Decision: a call is told at once what can be known then: that an id is taken, in memory or in the store. What it adds is an effect, and
//! the pool takes it in when it is committed; where somebody looks for it sooner, or where another crawl added it, the store is asked.

use super::SessionDesk;
use async_trait::async_trait;
use nephila_model::{AddedSession, SessionId, SessionRecord, Timestamp};
use nephila_plugin::{AdditionRefused, ReadError, SessionAddition, SessionPoolView};
use nephila_session::{AddError, Addition, SessionPool};
use nephila_store::{Store, StoreError};
use std::sync::Arc;

/// The pool, as calls that add to it see it.
pub struct Additions {
    pub(super) store: Arc<dyn Store>,
    pub(super) pool: SessionPool,
}

#[async_trait]
impl SessionPoolView for Additions {
    async fn prepare(&self, addition: SessionAddition) -> Result<Result<AddedSession, AdditionRefused>, ReadError> {
        let id = match addition.id.as_deref().map(SessionId::new) {
            Some(None) => return Ok(Err(AdditionRefused::BadId)),
            id => id.flatten(),
        };
        if let Some(id) = &id {
            // Those that are over are not in memory.
            let there = self.store.session(self.pool.id(), id).await.map_err(|error| ReadError::Store(error.to_string()))?;
            if there.is_some() {
                return Ok(Err(AdditionRefused::Taken));
            }
        }
        // What an earlier process had may be in the store alone.
        let most = self.pool.most_sessions();
        let kept = self.store.usable_sessions(self.pool.id(), most).await.map_err(|error| ReadError::Store(error.to_string()))?;
        if kept >= most {
            return Ok(Err(AdditionRefused::Full(AddError::Full { most }.to_string())));
        }
        let SessionAddition { user_data, set_cookies, .. } = addition;
        let prepared = self.pool.prepare(Addition { id, user_data, set_cookies }, Timestamp::now());
        Ok(prepared.map_err(|error| match error {
            AddError::Duplicate { .. } => AdditionRefused::Taken,
            AddError::Full { .. } => AdditionRefused::Full(error.to_string()),
            AddError::NoName | AddError::Invalid { .. } => AdditionRefused::Unusable(error.to_string()),
        }))
    }
}

impl SessionDesk {
    /// The pool, for calls that add to it.
    pub fn additions(&self) -> Arc<dyn SessionPoolView> {
        Arc::clone(&self.additions) as Arc<dyn SessionPoolView>
    }

    /// Takes in sessions that were added, and that is committed.
    pub fn adopt(&self, sessions: Vec<SessionRecord>) {
        if sessions.is_empty() {
            return;
        }
        for session in sessions {
            self.pool.adopt(session, Timestamp::now());
        }
        self.freed.notify_waiters();
    }

    /// Takes in a session that is not in memory, if the store has it and it may be used; otherwise says what the store has.
    pub(super) async fn look_for(&self, id: &SessionId) -> Result<Looked, StoreError> {
        let Some(record) = self.store.session(self.pool.id(), id).await? else { return Ok(Looked::Gone) };
        let now = Timestamp::now();
        if let Some(why) = record.unusable(now) {
            return Ok(Looked::Unusable(why));
        }
        self.pool.adopt(record, now);
        Ok(Looked::Here)
    }
}

/// What became of a session that was looked for.
pub(super) enum Looked {
    /// It is in memory now.
    Here,
    /// There is none.
    Gone,
    /// It may not be used any more.
    Unusable(nephila_model::Unusable),
}
