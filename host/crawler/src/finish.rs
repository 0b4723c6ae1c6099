//! The plugin's `finish` entry point, called once when the queue is empty.
//!
//! Decision: it is committed like a page, under the crawl's pseudo-shard, together with the mark that it was called. If it fails,
//! the mark is not set: the crawl ends as failed, and the same command calls it again.

use crate::call_cost::count_call;
use crate::handling::Handling;
use crate::line::Line;
use crate::pipelines;
use nephila_model::{Applied, Effects, Lease, Outcome, Rejection, StatsDelta, Subject};
use nephila_plugin::CallFailure;
use nephila_store::StoreError;
use std::sync::Arc;
use tokio::sync::RwLockWriteGuard;

/// Calls of the entry point at most, where it asks for another try or what it saw has changed.
const TRIES: u32 = 4;

/// How the finish went.
pub enum Finish {
    /// Called and committed.
    Done(Box<Applied>),
    /// It did not succeed; nothing of it was kept.
    Failed(String),
    /// The machine had no memory for it each time; nothing of it was kept.
    Starved(String),
    /// It took longer than whoever waits; nothing of it was kept.
    GivenUp,
    /// Another process owns the crawl now.
    Stale,
    /// The store failed.
    Lost(Arc<StoreError>),
}

/// What a call of the entry point came to, with the rights that it ran under: they are held until it is committed.
struct Called<'a> {
    ended: Result<Effects, CallFailure>,
    stats: StatsDelta,
    handling: Handling,
    alone: Option<RwLockWriteGuard<'a, ()>>,
}

/// Calls the entry point and commits what it asks for. A call that runs is given up with `impatient`; what is being committed is
/// not, since the store may have it already.
pub async fn finish(line: &Line, lease: Lease, impatient: impl Future<Output = ()>) -> Finish {
    let mut impatient = std::pin::pin!(impatient);
    let mut last = "the plugin has no finish entry point".to_owned();
    for attempt in 1..=TRIES {
        let called = tokio::select! {
            biased;
            called = call(line, attempt) => called,
            () = &mut impatient => return Finish::GivenUp,
        };
        let Called { ended, stats, handling: _handling, alone: _alone } = called;
        let effects = match ended {
            Ok(effects) => effects,
            Err(failure) => {
                tracing::warn!(attempt, code = failure.code(), error = %failure, "the finish entry point failed");
                last = failure.to_string();
                if matches!(failure, CallFailure::Machine { .. }) && attempt == TRIES {
                    return Finish::Starved(last);
                }
                if failure.may_be_retried() && !matches!(failure, CallFailure::Skip(_)) {
                    continue;
                }
                break;
            }
        };
        let subject = Subject::Finish;
        let outcome = Outcome { subject, lease, verdict: None, effects, stats, site_next_allowed: None, session: None };
        match line.commits.commit(outcome).await {
            Err(error) => return Finish::Lost(error),
            Ok(Ok(applied)) => return Finish::Done(Box::new(applied)),
            Ok(Err(Rejection::Stale { .. })) => return Finish::Stale,
            Ok(Err(rejection)) => {
                last = rejection.to_string();
                if !matches!(rejection, Rejection::StateConflict { .. } | Rejection::SessionTaken { .. }) {
                    break;
                }
            }
        }
    }
    Finish::Failed(last)
}

// A listener may be at work beside it: what was in conflict once runs alone.
async fn call(line: &Line, attempt: u32) -> Called<'_> {
    // Another crawl of this process may have suspects.
    let handling = Handling::beside_others().await;
    let alone = if attempt > 1 { Some(line.state.write().await) } else { None };
    let mut stats = StatsDelta::default();
    let plugin = line.plugin();
    let ended = if plugin.entry_points().finish {
        let call = line.call(None, None);
        let report = plugin.finish(call.clone()).await;
        count_call(line, &mut stats, &report);
        let report = pipelines::pass(line, &call, report, &mut stats).await;
        report.ended.map(|()| report.effects)
    } else {
        Ok(Effects::default())
    };
    Called { ended, stats, handling, alone }
}
