//! Data and pure functions that every room of the house shares: requests, pages, effects, outcomes, ids, keys.
//!
//! Decision: what crosses a crate's border is plain data of this crate, so that any step of the line *claim → fetch →
//! handle → commit → export* can be tested, replaced or moved to another process without the others. The price is some
//! copying between these types and those of the wire, of SQL and of WebAssembly. Nothing in here does I/O or looks at a clock
//! (but for [`Timestamp::now`], so that there is one place which does).

mod auto_saved;
mod cookie;
mod effects;
mod error_kind;
mod error_snapshot;
mod ids;
mod outcome;
mod page;
mod profile;
mod request;
mod scope;
mod session;
mod session_delta;
mod site;
mod state;
mod statistics;
mod time;
mod unique_key;
mod use_log;

pub use auto_saved::AutoSaved;
pub use cookie::{Cookie, CookieChange, CookieDeed, CookieKey, CookieReach, CookieVersion, SameSite};
pub use effects::{DatasetName, Effects, EmittedEvent, ItemPush, KeyValueWrite, KvStoreName, KvValue, RefusedReason};
pub use error_kind::ErrorKind;
pub use error_snapshot::{AnsweredPage, SNAPSHOT_BYTES, error_snapshot_key};
pub use ids::{CrawlId, CrawlerId, Epoch, EventId, Lease, PoolId, RequestId, Shard, SiteId};
pub use outcome::{
    Applied, AppliedVerdict, CommitLimits, CommitResult, FailureCode, FailureReason, Group, Heard, Outcome, Rejection, Shallower,
    SkipReason, Subject, Verdict,
};
pub use page::{ContentType, Hop, HopKind, Page, Timings};
pub use profile::{Profile, Step};
pub use request::{
    Claim, Header, InvalidRequest, KeyStanding, Method, NewRequest, Place, Position, QueuedRequest, Renderer, RequestSpec,
    RequestState, RequestStatus, StatusRange, parse_target,
};
pub use scope::Strategy;
pub use session::{
    AddedSession, PoolPlace, ProxyId, SESSION_RETIRED, SessionId, SessionRecord, SessionSettings, Unusable, UseNumber, UseRange,
    Written, default_blocked_status_codes,
};
pub use session_delta::SessionDelta;
pub use site::{SiteBy, SiteKey};
pub use state::{StateError, StateOp, StateRead, StateValue, StateVersion, apply};
pub use statistics::{Counter, Fold, Statistics, StatsDelta};
pub use time::Timestamp;
pub use unique_key::{NORMALISER_VERSION, UniqueKey, normalise};
pub use use_log::{UseLog, UseMark};
