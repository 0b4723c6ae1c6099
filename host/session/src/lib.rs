//! Sessions: identities at web sites, each with cookies, a score, a number of uses and a proxy, and pools of them.
//!
//! Decision: no I/O, no clock. A [`SessionPool`] hands out uses of sessions ([`SessionUse`]); what a use did comes out of it as a
//! [`nephila_model::SessionDelta`] for the outcome of its page; uses are reserved in the store in blocks before they begin
//! ([`Errand`]), so that a process that dies forgets none. Times are passed in, and dice are given to the pool, so that every
//! rule can be tested as it is.
//!
//! ```
//! use nephila_model::{PoolId, Timestamp, UseMark, UseNumber, UseRange};
//! use nephila_session::{Checkout, Errand, PoolSettings, SessionPool};
//!
//! let now = Timestamp::from_millis(1_000);
//! let pool = SessionPool::new(PoolId(1), PoolSettings::default(), [], fastrand::Rng::new(), now)?;
//! let Checkout::Errand(Errand::Create(creation)) = pool.checkout(now)? else { unreachable!("the pool is empty") };
//! // The store writes `creation.record()` and reserves `creation.uses()` uses.
//! let reserved = UseRange { first: UseNumber(1), last: UseNumber(creation.uses()) };
//! let mut session = creation.made(Some(reserved), now).ok_or("nothing was reserved")?;
//! let url = "https://example.com/".parse()?;
//! session.receive(&url, ["id=7; Path=/"], now);
//! assert_eq!(session.cookie_header(&url, now).as_deref(), Some("id=7"));
//! let finished = session.finish(UseMark::Good, now);
//! assert_eq!(finished.delta.cookies.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addition;
mod ask;
mod cookie_date;
pub mod crawlee;
mod errand;
mod error;
#[cfg(test)]
mod given;
mod jar;
mod limits;
mod pool;
mod roster;
mod rules;
mod session_use;
mod set_cookie;
mod settings;

pub use addition::Addition;
pub use ask::{SessionSight, UseAsk, UseWord};
pub use errand::{Creation, Errand, Reservation};
pub use error::{AddError, BoundError, CheckoutError};
pub use jar::CookieJar;
pub use pool::{Checkout, PoolCounts, SessionPool};
pub use rules::{Answer, BlockRule, Judgement, SiteState, StatusAccepted, TOO_MANY_REQUESTS, TextMeans, TextRule};
pub use session_use::{Finished, SessionUse};
pub use settings::{
    CreateSession, InvalidSetting, MAX_SESSION_ROTATIONS, MAX_USER_DATA, PoolSettings, ReuseStrategy, SessionSeed, Sharing,
    check_session, check_user_data,
};
