//! Where visits get their sessions: asks the pool, does in the store what the pool says, and waits where nobody is free.
//!
//! Decision: a visit takes one use before it asks its site, and has it until its outcome is committed, redirects and waits for the site
//! included: a use is a request, with all redirects on its site. So no session serves more requests than were reserved, and what a plugin
//! asks for its session is committed with the page. What is written for a visit is written to its end, whatever becomes of the visit. Who waits for
//! a session keeps its place in flight, so that a crawl claims no more than its sessions can serve.

mod additions;
mod errands;
mod held;
mod seen;
mod shown;

pub use held::Held;
pub use seen::{Seen, asked};

use self::additions::{Additions, Looked};
use crate::line::Line;
use crate::retry::Chance;
use crate::session_settings::{SessionConfig, Sessions};
use nephila_model::{
    CrawlId, FailureCode, FailureReason, KeyValueWrite, Lease, PoolPlace, RequestSpec, SessionId, StatsDelta, Timestamp,
};
use nephila_session::{BlockRule, BoundError, Checkout, CheckoutError, Errand, InvalidSetting, SessionPool, SessionUse};
use nephila_store::{KEPT_SESSIONS, PoolUser, Store, StoreError};
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::{Notify, RwLock};

/// Sessions that the end of a crawl takes away at most; more wait for the next one.
const PURGED: usize = 10_000;

/// Sessions that are ended for their age at a time.
const ENDED_AT_A_TIME: usize = 1_000;

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

/// Whether sessions have reached their age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aged {
    /// None has.
    None,
    /// Some have.
    Some,
}

impl From<StoreError> for NoSession {
    fn from(error: StoreError) -> Self {
        Self::Lost(error)
    }
}

/// Gives sessions to the visits of a crawl.
pub struct SessionDesk {
    store: Arc<dyn Store>,
    pool: SessionPool,
    additions: Arc<Additions>,
    user: PoolUser,
    place: PoolPlace,
    freed: Arc<Notify>,
    waiting: AtomicUsize,
    wait_began: Notify,
    // Held by all that is being written, and waited for at the end.
    writes: Arc<RwLock<()>>,
    has_warned: AtomicBool,
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

// Which session a visit is to have.
#[derive(Debug, PartialEq)]
enum Wish {
    // This one and no other.
    Bound(SessionId),
    // This one, or any.
    Preferred(SessionId),
    Any,
    // One that is there already: no new one could be made, for this reason.
    Old(FailureReason, Chance),
}

impl Wish {
    fn of(spec: &RequestSpec) -> Result<Self, NoSession> {
        if let Some(bound) = &spec.session_id {
            return SessionId::new(bound).map(Self::Bound).ok_or_else(|| {
                gone(format!("the request is bound to session {bound:?}, which is no name that a session can have"))
            });
        }
        let preferred = spec.session_preferred.as_deref().and_then(SessionId::new);
        Ok(preferred.map_or(Self::Any, Self::Preferred))
    }
}

enum Asked {
    Ready(SessionUse),
    Errand(Errand),
    // Somebody's errand brings something in a moment.
    Soon,
    // Others must be done with theirs first.
    Wait,
    // The preferred one is not to be had.
    Other,
    // The one that it is bound to is not in memory.
    Unknown(SessionId),
    // There is no new one.
    Failed(FailureReason, Chance),
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
    ) -> Result<Option<Self>, StoreError> {
        if config.used == Sessions::None {
            return Ok(None);
        }
        let now = Timestamp::now();
        let opened = store.open_pool(crawl, lease, &config.place, now, config.max_pool_size).await?;
        let pool = SessionPool::new(opened.id, config.pool(rules), opened.sessions, fastrand::Rng::new(), now);
        let failed = |error: InvalidSetting| StoreError::Engine { action: "open the session pool", cause: error.to_string() };
        let pool = pool.map_err(failed)?;
        Ok(Some(Self {
            store: Arc::clone(store),
            additions: Arc::new(Additions { store: Arc::clone(store), pool: pool.clone() }),
            pool,
            user: PoolUser { pool: opened.id, crawl, lease },
            place: config.place.clone(),
            freed: Arc::new(Notify::new()),
            waiting: AtomicUsize::new(0),
            wait_began: Notify::new(),
            writes: Arc::default(),
            has_warned: AtomicBool::new(false),
        }))
    }

    /// Gives a use of a session: of the one that the request is bound to, or of the one that it prefers if that may be had at once, or
    /// of any. Waits while none is free. What the plugin spends on making one is counted to `stats`.
    ///
    /// # Errors
    /// [`NoSession`].
    pub async fn take(&self, line: &Line, spec: &RequestSpec, stats: &mut StatsDelta) -> Result<(Held, Wait), NoSession> {
        let mut wish = Wish::of(spec)?;
        let mut waits = None;
        loop {
            // Listening begins before the question, so that nothing that becomes free in between is missed.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            let taken = match self.ask(&wish)? {
                Asked::Ready(taken) => Some(Held::new(taken, &self.freed)),
                Asked::Errand(errand) => match self.run(line, errand, stats).await {
                    Ok(taken) => taken,
                    // Those that are there serve as well, however long one has to wait for them.
                    Err(NoSession::Failed(reason, chance)) if wish == Wish::Any => {
                        self.warn_once(&reason);
                        wish = Wish::Old(reason, chance);
                        None
                    }
                    Err(error) => return Err(error),
                },
                Asked::Failed(reason, chance) => {
                    self.warn_once(&reason);
                    wish = Wish::Old(reason, chance);
                    None
                }
                Asked::Other => {
                    wish = Wish::Any;
                    None
                }
                Asked::Soon => {
                    freed.await;
                    None
                }
                Asked::Wait => {
                    waits.get_or_insert_with(|| Waits::new(self));
                    freed.await;
                    None
                }
                Asked::Unknown(id) => match self.look_for(&id).await? {
                    Looked::Here => None,
                    Looked::Gone => return Err(gone(BoundError::Gone { id }.to_string())),
                    Looked::Unusable(why) => return Err(gone(BoundError::Unusable { id, why }.to_string())),
                },
            };
            if let Some(taken) = taken {
                let wait = if waits.is_some() { Wait::ForOthers } else { Wait::None };
                return Ok((taken, wait));
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

    /// The record that shows the pool to Crawlee's users; `None` if it cannot be shown.
    pub async fn record(&self) -> Option<KeyValueWrite> {
        let (pool, place) = (self.pool.clone(), self.place.clone());
        let written = tokio::task::spawn_blocking(move || shown::record(&pool, &place)).await;
        written.unwrap_or_else(|error| {
            tracing::warn!(%error, "the session pool could not be written as JSON");
            None
        })
    }

    /// Ends sessions that have reached their age; says whether there were any, which is told as an event of the store.
    pub async fn end_aged(&self) -> Aged {
        match self.store.end_aged_sessions(self.user, Timestamp::now(), ENDED_AT_A_TIME).await {
            Ok(0) => Aged::None,
            Ok(_) => Aged::Some,
            Err(error) => {
                tracing::warn!(%error, "sessions that are too old could not be ended in the store; they are not used all the same");
                Aged::None
            }
        }
    }

    /// Gives back what was reserved and not used, and takes sessions away that have been over for long. Once nothing is in flight any more.
    pub async fn close(&self) {
        // What is being written for visits that were dropped is known when it is.
        let _all_written = self.writes.write().await;
        let unused = self.pool.take_unused();
        if let Err(error) = self.store.return_uses(self.user, &unused).await {
            tracing::warn!(%error, "uses of sessions that were not begun could not be given back; they count as used");
        }
        if let Err(error) = self.store.purge_sessions(self.user, Timestamp::now(), KEPT_SESSIONS, PURGED).await {
            tracing::warn!(%error, "sessions that are over could not be taken away; they only take room");
        }
    }

    fn ask(&self, wish: &Wish) -> Result<Asked, NoSession> {
        let now = Timestamp::now();
        let any = |checkout| match checkout {
            Ok(Checkout::Ready(taken)) => Asked::Ready(taken),
            Ok(Checkout::Errand(errand)) => Asked::Errand(errand),
            Err(CheckoutError::Arriving) => Asked::Soon,
            Err(CheckoutError::NoneFree { .. }) => Asked::Wait,
            Err(error @ (CheckoutError::Create { .. } | CheckoutError::Empty)) => {
                let (reason, chance) = not_made(error.to_string(), Chance::Transient);
                Asked::Failed(reason, chance)
            }
        };
        match wish {
            Wish::Any => Ok(any(self.pool.checkout(now))),
            Wish::Old(reason, chance) => match any(self.pool.checkout_old(now)) {
                Asked::Failed(..) => Err(NoSession::Failed(reason.clone(), *chance)),
                asked => Ok(asked),
            },
            Wish::Bound(id) | Wish::Preferred(id) => match self.pool.checkout_by_id(id, now) {
                Ok(Checkout::Ready(taken)) => Ok(Asked::Ready(taken)),
                Ok(Checkout::Errand(errand)) => Ok(Asked::Errand(errand)),
                Err(BoundError::Arriving { .. }) => Ok(Asked::Soon),
                Err(_) if matches!(wish, Wish::Preferred(_)) => Ok(Asked::Other),
                Err(BoundError::Busy { .. }) => Ok(Asked::Wait),
                Err(BoundError::Gone { id }) => Ok(Asked::Unknown(id)),
                Err(error @ BoundError::Unusable { .. }) => Err(gone(error.to_string())),
            },
        }
    }

    // Each request that finds no new session would say so.
    fn warn_once(&self, reason: &FailureReason) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(reason = %reason.message, "no new session could be made; those that are there serve as far as they last");
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

const fn not_made(message: String, chance: Chance) -> (FailureReason, Chance) {
    (FailureReason { code: FailureCode(Cow::Borrowed("session-create")), message, status: None }, chance)
}
