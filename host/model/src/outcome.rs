//! What becomes of a request, and what the store says to it.

use crate::{
    AutoSaved, Effects, EventId, Hop, Lease, QueuedRequest, RequestId, SessionDelta, SessionId, SessionRecord, SiteId, SiteKey,
    StateError, StatsDelta, Timestamp, UniqueKey, Unusable,
};
use std::borrow::Cow;
use url::Url;

/// Why a request was set aside. Nothing disappears silently: the reason is kept with the row and counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// Another request of the same label ended at the same final key.
    DuplicateRedirect,
    /// The body is larger than `max-body-size`.
    TooLarge,
    /// The handler said so; with its code.
    Handler(String),
}

impl SkipReason {
    /// A stable word.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::DuplicateRedirect => "duplicate-redirect",
            Self::TooLarge => "too-large",
            Self::Handler(code) => code,
        }
    }
}

/// A stable word for a kind of failure: `status`, `connect`, `timeout`, `trap`, …, or a handler's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FailureCode(pub Cow<'static, str>);

impl FailureCode {
    /// The host died three times while it handled the page (S10).
    pub const CRASHED_THE_HOST: Self = Self(Cow::Borrowed("crashed-the-host"));

    /// The process died repeatedly while a listener heard this event (S10). It is an event that was given up, and no request has failed.
    pub const LISTENER_CRASHED_THE_HOST: Self = Self(Cow::Borrowed("listener-crashed-the-host"));

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureReason {
    /// The kind, for grouping.
    pub code: FailureCode,
    /// A sentence for people.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Done: the handler ended without an error, with or without effects.
    Handled {
        /// The key of the URL that answered; the request's own if nothing redirected.
        final_key: UniqueKey,
        /// The URL that answered.
        final_url: Url,
        /// Its status.
        status: u16,
    },
    /// Back to pending, not before a time.
    Retry {
        /// When it may be tried again.
        not_before: Timestamp,
        /// Why.
        reason: FailureReason,
    },
    /// Given up.
    Failed {
        /// Why.
        reason: FailureReason,
        /// The URL that answered last, if one did.
        final_url: Option<Url>,
    },
    /// Set aside.
    Skipped {
        /// Why.
        reason: SkipReason,
        /// The URL that answered last, if one did.
        final_url: Option<Url>,
    },
    /// Redirected to another site: the same row goes to that site's queue, with its method and headers as they now are. Or back to its own
    /// site's queue, in its place of the order, because the site blocked its session: that is no retry.
    Moved {
        /// Where it goes on.
        url: Url,
        /// Whom it troubles now.
        site: SiteKey,
        /// The redirects so far, the last one included.
        chain: Vec<Hop>,
        /// The request as it goes on (a 303 makes a GET of a POST).
        spec: Box<crate::RequestSpec>,
        /// When it may be asked for there; `None`: as soon as it is its turn.
        not_before: Option<Timestamp>,
    },
}

/// What an outcome decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A request.
    Request(RequestId),
    /// The crawl's finish: its `finish` entry point has been called. Once per crawl, and never [`Rejection::Deferred`]: it comes when
    /// nothing is left that a limit could defer.
    Finish,
    /// The crawl as a whole: start requests, running time. It decides nothing, so it is never [`Rejection::Decided`] nor
    /// [`Rejection::Deferred`] and may come as often as its owner likes. Under [`crate::Shard::CRAWL`], like [`Subject::Finish`].
    Crawl,
    /// An event that the plugin's listener has heard. Under [`crate::Shard::CRAWL`], and never [`Rejection::Deferred`]: a listener that is
    /// not heard out would hear the same event for ever.
    Event(Heard),
}

/// Which event a listener has heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Heard {
    /// One that was emitted by a plugin and waits in the store. Once only: the outcome takes it away.
    Stored(EventId),
    /// One of the host's own, which is kept nowhere: if its outcome is not committed, it was not heard.
    Passing,
}

/// What one call, or one fetch without a call, came to. Applied whole or not at all (S3).
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it decides about.
    pub subject: Subject,
    /// The right to decide (S4).
    pub lease: Lease,
    /// The decision. `None` for all but requests.
    pub verdict: Option<Verdict>,
    /// What the plugin wants done. With a retry, a skip or a move only its reads and refusals count.
    pub effects: Effects,
    /// Durations, statuses, fetches: what the store cannot know. It counts requests, items and retries itself.
    pub stats: StatsDelta,
    /// When the site may be asked again, if the attempt asked it.
    pub site_next_allowed: Option<Timestamp>,
    /// What the attempt did to the session that it used, if it used one. It counts whatever the verdict: the use has happened. Of a
    /// [`Rejection::Deferred`] one, that it has happened, how it did, and whether it retires the session.
    pub session: Option<SessionDelta>,
}

/// Limits that a commit keeps: the outcome that crosses one is kept whole, what follows is deferred and stays pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitLimits {
    /// Items in the crawl's default dataset (`--max-items`).
    pub max_items: Option<u64>,
    /// Requests finished or failed (`--max-requests`).
    pub max_requests: Option<u64>,
}

/// Outcomes that are committed in one transaction, for speed. Each of them stands or falls alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The outcomes, in order.
    pub outcomes: Vec<Outcome>,
    /// The limits to keep.
    pub limits: CommitLimits,
}

/// How a verdict was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppliedVerdict {
    /// As it was given.
    AsGiven,
    /// It said handled, but another request of its label had ended at the same final key: skipped, without its effects.
    DuplicateRedirect,
}

/// What a commit did for one outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// How the verdict was applied.
    pub verdict: AppliedVerdict,
    /// The requests that were new, as rows.
    pub accepted: Vec<QueuedRequest>,
    /// Rows that were pending before and were found at a lesser depth. If a row is in it twice, the later one holds.
    pub shallower: Vec<Shallower>,
    /// For a moved request that waits for no time, its row at its new site.
    pub moved: Option<QueuedRequest>,
    /// Items that were written, to all datasets.
    pub items: u64,
    /// Those of them in the crawl's default dataset.
    pub default_items: u64,
    /// Events that wait for listeners now: those that were emitted, and that a session has ended.
    pub events: u64,
    /// Why the session is used no more, if this outcome ended that.
    pub session_ended: Option<Unusable>,
    /// Sessions that were added to pools.
    pub sessions: Vec<SessionRecord>,
}

/// A pending request that an outcome found at a lesser depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shallower {
    /// Whose queue it is in.
    pub site: SiteId,
    /// Its row.
    pub request: RequestId,
    /// Its depth from now on.
    pub depth: u32,
}

/// Why an outcome changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The shard has changed hands (S4). Drop the work.
    #[error("shard {shard} has passed from epoch {held} to {current}: another process owns it now")]
    Stale {
        /// The shard.
        shard: u16,
        /// The epoch that the outcome carried.
        held: i64,
        /// The present one.
        current: i64,
    },
    /// The request is no longer pending, or the finish was done already. Drop the work.
    #[error("it was decided already")]
    Decided,
    /// What the call saw of the state has changed. Run it again on the same page.
    #[error("state {} changed since it was read", AutoSaved::authors_key(.what))]
    StateConflict {
        /// The key, or "listing".
        what: String,
    },
    /// A session that the call adds has an id that another one has got meanwhile. Run it again on the same page: it is told so then.
    #[error("the pool has a session `{id}` by now")]
    SessionTaken {
        /// The id.
        id: SessionId,
    },
    /// A limit was reached before it. It stays pending. Its session was used all the same, and that it is over by that is told.
    #[error("a limit was reached before it")]
    Deferred,
    /// An effect cannot be applied to what is there. Fail the request with this.
    #[error(transparent)]
    State(#[from] StateError),
    /// The engine refused a value.
    #[error("the store refused it: {0}")]
    Engine(String),
}

/// The store's answer to one outcome.
pub type CommitResult = Result<Applied, Rejection>;
