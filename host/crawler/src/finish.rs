//! The end of a crawl: the plugin's `finish` entry point, called once when the queue is empty.
//!
//! Decision: it is committed like a page, under the crawl's pseudo-shard, together with the mark that it was called. If it fails, the mark
//! is not set: the crawl ends as failed, and the same command calls it again.

use crate::conclude::count_call;
use crate::line::Line;
use crate::pipelines;
use nephila_model::{Applied, Lease, Outcome, Rejection, StatsDelta, Subject};
use nephila_plugin::CallFailure;
use nephila_store::StoreError;
use std::sync::Arc;

/// Calls of the entry point at most, where it asks for another try or what it saw has changed.
const TRIES: u32 = 4;

/// How the finish went.
pub enum Finish {
    /// Called and committed.
    Done(Box<Applied>),
    /// It did not succeed; nothing of it was kept.
    Failed(String),
    /// Another process owns the crawl now.
    Stale,
    /// The store failed.
    Lost(Arc<StoreError>),
}

/// Calls the entry point and commits what it asks for.
pub async fn finish(line: &Line, lease: Lease) -> Finish {
    let mut last = "the plugin has no finish entry point".to_owned();
    for attempt in 1..=TRIES {
        let mut stats = StatsDelta::default();
        // A listener may be at work beside it: what was in conflict once runs alone.
        let _alone = if attempt > 1 { Some(line.state.write().await) } else { None };
        let plugin = line.plugin();
        let effects = if plugin.entry_points().finish {
            let call = line.call(None, None);
            let report = plugin.finish(call.clone()).await;
            count_call(line, &mut stats, &report);
            let report = pipelines::pass(line, &call, report, &mut stats).await;
            match report.ended {
                Ok(()) => report.effects,
                Err(failure) => {
                    tracing::warn!(attempt, code = failure.code(), error = %failure, "the finish entry point failed");
                    last = failure.to_string();
                    if failure.may_be_retried() && !matches!(failure, CallFailure::Skip(_)) {
                        continue;
                    }
                    break;
                }
            }
        } else {
            nephila_model::Effects::default()
        };
        let outcome =
            Outcome { subject: Subject::Finish, lease, verdict: None, effects, stats, site_next_allowed: None, session: None };
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
