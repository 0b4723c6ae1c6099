//! Where visits get their sessions: asks the pool, does in the store what the pool says, and waits where nobody is free.
//!
//! Decision: a visit takes one use before it asks its site, and has it until its outcome is committed, redirects and waits for the site
//! included. So what a site sees of a session is never more than was reserved, and what a plugin asks for its session is committed with the
//! page. Who waits for a session keeps its place in flight, so that a crawl claims no more than its sessions can serve.

mod held;
mod seen;

pub use held::Held;
pub use seen::{Seen, asked};

use crate::retry::Chance;
use crate::session_settings::{SessionConfig, Sessions};
use nephila_crawlee::RecordKey;
use nephila_model::{
    CrawlId, FailureCode, FailureReason, KeyValueWrite, KvValue, Lease, PoolPlace, SessionId, Timestamp, Written,
};
use nephila_plugin::{CallFailure, CallSettings, Plugin};
use nephila_session::{BlockRule, BoundError, Checkout, CheckoutError, Errand, InvalidSetting, SessionPool, SessionUse, crawlee};
use nephila_store::{PoolUser, SessionCreated, Store, StoreError};
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Sessions that are over and are kept in the store to be looked at.
const KEPT: usize = 1_000;

/// Sessions that the end of a crawl takes away at most; more wait for the next one.
const PURGED: usize = 10_000;

/// Bytes of the record that shows the pool at most.
const SHOWN: usize = 16 << 20;

/// Why there is no session for a visit.
#[derive(Debug)]
pub enum NoSession {
    /// The request cannot have one.
    Failed(FailureReason, Chance),
    /// The store failed.
    Lost(StoreError),
}

/// What a visit had to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Nothing but the store.
    None,
    /// Others, until one of them was done with its session.
    ForOthers,
}

impl From<StoreError> for NoSession {
    fn from(error: StoreError) -> Self {
        Self::Lost(error)
    }
}

/// Gives sessions to the visits of a crawl.
pub struct SessionDesk {
    store: Arc<dyn Store>,
    plugin: Arc<Plugin>,
    call_settings: Arc<CallSettings>,
    pool: SessionPool,
    user: PoolUser,
    place: PoolPlace,
    freed: Arc<Notify>,
    waiting: AtomicUsize,
    wait_began: Notify,
}

// Somebody waits, as long as it is there.
struct Waits<'a>(&'a SessionDesk);

impl<'a> Waits<'a> {
    fn new(desk: &'a SessionDesk) -> Self {
        desk.waiting.fetch_add(1, Ordering::Relaxed);
        desk.wait_began.notify_one();
        Self(desk)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

enum Asked {
    Ready(SessionUse),
    Errand(Errand),
    Wait,
}

impl SessionDesk {
    /// Opens the crawl's pool, which it changes by its lease on itself; `None` if it uses no sessions.
    ///
    /// # Errors
    /// If the store fails, or the settings cannot work, which is refused before a crawl begins ([`SessionConfig::pool`]).
    pub async fn open(
        store: &Arc<dyn Store>,
        (crawl, lease): (CrawlId, Lease),
        config: &SessionConfig,
        rules: Vec<Arc<dyn BlockRule>>,
        (plugin, call_settings): (&Arc<Plugin>, &Arc<CallSettings>),
    ) -> Result<Option<Self>, StoreError> {
        if config.used == Sessions::None {
            return Ok(None);
        }
        let now = Timestamp::now();
        let opened = store.open_pool(crawl, &config.place, now).await?;
        let pool = SessionPool::new(opened.id, config.pool(rules), opened.sessions, fastrand::Rng::new(), now);
        let failed = |error: InvalidSetting| StoreError::Engine { action: "open the session pool", cause: error.to_string() };
        Ok(Some(Self {
            store: Arc::clone(store),
            plugin: Arc::clone(plugin),
            call_settings: Arc::clone(call_settings),
            pool: pool.map_err(failed)?,
            user: PoolUser { pool: opened.id, crawl, lease },
            place: config.place.clone(),
            freed: Arc::new(Notify::new()),
            waiting: AtomicUsize::new(0),
            wait_began: Notify::new(),
        }))
    }

    /// Gives a use of a session, of this one if the request is bound to it. Waits while none is free.
    ///
    /// # Errors
    /// [`NoSession`].
    pub async fn take(&self, bound: Option<&str>) -> Result<(Held, Wait), NoSession> {
        let mut waits = None;
        loop {
            // Listening begins before the question, so that nothing that becomes free in between is missed.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            let taken = match self.ask(bound)? {
                Asked::Ready(taken) => Some(taken),
                Asked::Errand(errand) => self.run(errand).await?,
                Asked::Wait => {
                    waits.get_or_insert_with(|| Waits::new(self));
                    freed.await;
                    None
                }
            };
            if let Some(taken) = taken {
                let wait = if waits.is_some() { Wait::ForOthers } else { Wait::None };
                return Ok((Held::new(taken, &self.freed), wait));
            }
        }
    }

    /// Whether visits wait for a session.
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Ready when a visit has begun to wait for a session since this was last asked.
    pub async fn wait_began(&self) {
        self.wait_began.notified().await;
    }

    /// The record that shows the pool to Crawlee's users, under the pool's own name.
    pub fn record(&self) -> Option<KeyValueWrite> {
        let text = match crawlee::write_pool(self.pool.settings().max_pool_size, &self.pool.sessions(), Timestamp::now()) {
            Ok(text) if text.len() <= SHOWN => text,
            Ok(text) => {
                let bytes = text.len();
                tracing::warn!(
                    bytes,
                    limit = SHOWN,
                    "the session pool is too large to be shown in the key-value store; it is kept all the same"
                );
                return None;
            }
            Err(error) => {
                tracing::warn!(%error, "the session pool could not be written as JSON");
                return None;
            }
        };
        // A key that no file could have shows nothing.
        let key = if self.place.key == PoolPlace::KEY { Ok(RecordKey::session_pool()) } else { RecordKey::new(&*self.place.key) };
        let key = key.map_err(|error| tracing::warn!(%error, "the session pool is not shown in the key-value store")).ok()?;
        let value = KvValue { content_type: "application/json; charset=utf-8".to_owned(), value: text.into_bytes().into() };
        Some(KeyValueWrite { store: self.place.store.clone(), key: key.as_str().to_owned(), value: Some(value) })
    }

    /// Gives back what was reserved and not used, and takes sessions away that have been over for long. Once nothing is in flight any more.
    pub async fn close(&self) {
        let unused = self.pool.take_unused();
        if let Err(error) = self.store.return_uses(self.user, &unused).await {
            tracing::warn!(%error, "uses of sessions that were not begun could not be given back; they count as used");
        }
        if let Err(error) = self.store.purge_sessions(self.user, Timestamp::now(), KEPT, PURGED).await {
            tracing::warn!(%error, "sessions that are over could not be taken away; they only take room");
        }
    }

    fn ask(&self, bound: Option<&str>) -> Result<Asked, NoSession> {
        let now = Timestamp::now();
        let checkout = match bound {
            None => match self.pool.checkout(now) {
                Ok(checkout) => checkout,
                Err(CheckoutError::NoneFree { .. } | CheckoutError::Arriving) => return Ok(Asked::Wait),
                Err(error @ CheckoutError::Create { .. }) => return Err(not_made(error.to_string(), Chance::Transient)),
            },
            Some(name) => {
                let Some(id) = SessionId::new(name) else {
                    return Err(gone(format!(
                        "the request is bound to session {name:?}, which is no name that a session can have"
                    )));
                };
                match self.pool.checkout_by_id(&id, now) {
                    Ok(checkout) => checkout,
                    Err(BoundError::Busy { .. }) => return Ok(Asked::Wait),
                    Err(error @ (BoundError::Gone { .. } | BoundError::Unusable { .. })) => return Err(gone(error.to_string())),
                }
            }
        };
        Ok(match checkout {
            Checkout::Ready(taken) => Asked::Ready(taken),
            Checkout::Errand(errand) => Asked::Errand(errand),
        })
    }

    // `None`: others were quicker.
    async fn run(&self, errand: Errand) -> Result<Option<SessionUse>, NoSession> {
        let done = self.carry_out(errand).await;
        // Others may wait for the session that has come, or for the place of one that has not.
        self.freed.notify_waiters();
        done
    }

    async fn carry_out(&self, errand: Errand) -> Result<Option<SessionUse>, NoSession> {
        match errand {
            Errand::Create(mut creation) => {
                let made = self.plugin.create_session(Arc::clone(&self.call_settings)).await;
                if let Some(new) = made.map_err(|failure| failed_to_make(&failure))? {
                    creation.record_mut().user_data = Written::first(new.user_data);
                }
                match self.store.create_session(self.user, creation.record(), creation.uses(), Timestamp::now()).await? {
                    SessionCreated::Made(range) => Ok(creation.made(range, Timestamp::now())),
                    SessionCreated::NameTaken => match creation.name_taken() {
                        Ok(()) => Ok(None),
                        Err(error) => Err(not_made(error.to_string(), Chance::Permanent)),
                    },
                }
            }
            Errand::Reserve(reservation) => {
                let range = self.store.reserve_uses(self.user, reservation.id(), reservation.uses()).await?;
                Ok(reservation.granted(range, Timestamp::now()))
            }
        }
    }
}

/// There is no such session (Crawlee: `RequestCollisionError`).
pub fn gone(message: String) -> NoSession {
    NoSession::Failed(
        FailureReason { code: FailureCode(Cow::Borrowed("session-gone")), message, status: None },
        Chance::Permanent,
    )
}

fn failed_to_make(failure: &CallFailure) -> NoSession {
    let chance = if failure.may_be_retried() { Chance::Transient } else { Chance::Permanent };
    not_made(format!("the plugin made no session for the request: {failure}"), chance)
}

fn not_made(message: String, chance: Chance) -> NoSession {
    NoSession::Failed(FailureReason { code: FailureCode(Cow::Borrowed("session-create")), message, status: None }, chance)
}
