//! From what an attempt came to, through the plugin's entry points, to a committed outcome.
//!
//! Decision: the verdict is made in one place and committed at once with everything that the plugin asked for. If something that the
//! call saw of the state has changed, the call is run again on the same page, alone under the crawl's state lock, so that it always gets through. Re-runs cost processor time, never a fetch.

use crate::attempt::Attempt;
use crate::landing::{CameTo, Landing};
use crate::line::Line;
use crate::retry::{Chance, next_attempt};
use crate::visit::{Suspicion, Visit};
use nephila_model::{
    AppliedVerdict, Counter, Effects, FailureCode, FailureReason, Outcome, QueuedRequest, Rejection, SkipReason, StatsDelta,
    Step, Subject, Timestamp, Verdict,
};
use nephila_plugin::{Call, CallFailure, CallMetrics, CallReport, ParsedPage};
use nephila_store::StoreError;
use std::borrow::Cow;
use std::sync::Arc;
use url::Url;

/// Runs beside others before a call in conflict runs alone: what conflicts once is most often a key that all handlers want, and each further run
/// beside them would be for nothing (16 handlers that count on one key: a sixth of the throughput of those that do not with four runs).
const RUNS_BESIDE_OTHERS: u32 = 1;

/// Decides about a visit and commits the decision.
pub async fn conclude(line: &Line, visit: Visit, attempt: Attempt) -> Landing {
    // A suspect is decoded and handled while nothing else is, so that a crash inside its mark is its own (S10).
    let (_alone, _beside) = match visit.suspicion {
        Suspicion::Suspect => {
            let guard = line.handling.write().await;
            let marked = line.store.mark_suspect(line.crawl, visit.claim.request.id, visit.claim.lease).await;
            match marked {
                Ok(()) => (Some(guard), None),
                Err(StoreError::Stale) => return Landing::Stale,
                Err(error) => return Landing::Lost(Arc::new(error)),
            }
        }
        Suspicion::None => (None, Some(line.handling.read().await)),
    };
    let Ok(_permit) = line.handlers.acquire().await else { return Landing::Dropped };

    let mut overruled: Option<Overruled> = None;
    let mut runs = 0;
    loop {
        let alone = if runs >= RUNS_BESIDE_OTHERS { Some(line.state.write().await) } else { None };
        let decision = match &overruled {
            None => decide(line, &visit, &attempt).await,
            Some(Overruled::Once(reason)) => give_up(line, &visit, reason.clone(), attempt.page(), None).await,
            Some(Overruled::Twice(reason)) => Decision::bare(Verdict::Failed { reason: reason.clone(), final_url: None }),
        };
        runs += 1;
        let beside = if alone.is_none() && !decision.effects.state_ops.is_empty() { Some(line.state.read().await) } else { None };
        let (came_to, stop) = (decision.comes_to(), decision.effects.stop.clone());
        let given_up = decision.given_up();
        let answer = line.commits.commit(outcome(line, &visit, decision)).await;
        drop((alone, beside));
        match answer {
            Err(error) => return Landing::Lost(error),
            Ok(Ok(applied)) if applied.verdict == AppliedVerdict::DuplicateRedirect => {
                return Landing::Committed { applied: Box::new(applied), came_to: CameTo::SetAside, stop: None };
            }
            Ok(Ok(applied)) => {
                if let Some(reason) = given_up {
                    line.bulletin.failed(&visit.url, &reason);
                }
                return Landing::Committed { applied: Box::new(applied), came_to, stop };
            }
            Ok(Err(Rejection::Stale { .. })) => return Landing::Stale,
            Ok(Err(Rejection::Decided)) => return Landing::Dropped,
            Ok(Err(Rejection::Deferred)) => return Landing::Deferred,
            Ok(Err(Rejection::StateConflict { what })) => {
                tracing::debug!(url = %visit.url, state = %what, runs, "what the handler saw has changed; it runs again");
            }
            Ok(Err(refused @ (Rejection::State(_) | Rejection::Engine(_)))) => {
                let code = if matches!(refused, Rejection::State(_)) { "state" } else { "refused-by-store" };
                let reason = FailureReason { code: FailureCode(Cow::Borrowed(code)), message: refused.to_string(), status: None };
                overruled = Some(match overruled {
                    None => Overruled::Once(reason),
                    Some(Overruled::Once(_)) => Overruled::Twice(reason),
                    // Nothing is left that could be refused.
                    Some(Overruled::Twice(_)) => {
                        let cause = reason.message;
                        return Landing::Lost(Arc::new(StoreError::Engine { action: "set a request aside", cause }));
                    }
                });
            }
        }
    }
}

// The store refused an effect, so the request fails: first with the effects of the failure entry point, then without.
enum Overruled {
    Once(FailureReason),
    Twice(FailureReason),
}

struct Decision {
    verdict: Verdict,
    effects: Effects,
    stats: StatsDelta,
}

impl Decision {
    fn bare(verdict: Verdict) -> Self {
        Self { verdict, effects: Effects::default(), stats: StatsDelta::default() }
    }

    fn given_up(&self) -> Option<FailureReason> {
        match &self.verdict {
            Verdict::Failed { reason, .. } => Some(reason.clone()),
            _ => None,
        }
    }

    const fn comes_to(&self) -> CameTo {
        match self.verdict {
            Verdict::Handled { .. } => CameTo::Handled,
            Verdict::Failed { .. } => CameTo::Failed,
            Verdict::Skipped { .. } => CameTo::SetAside,
            Verdict::Moved { .. } => CameTo::Moved,
            Verdict::Retry { not_before, .. } => CameTo::Retry(not_before),
        }
    }
}

async fn decide(line: &Line, visit: &Visit, attempt: &Attempt) -> Decision {
    match attempt {
        Attempt::Page(page) => handle(line, visit, page).await,
        Attempt::Failed { reason, chance, final_url } => {
            let retry = next_attempt(&visit.claim.request, *chance, &line.settings, Timestamp::now());
            match retry {
                Some(not_before) => Decision::bare(Verdict::Retry { not_before, reason: reason.clone() }),
                None => give_up(line, visit, reason.clone(), None, final_url.clone()).await,
            }
        }
        Attempt::Skipped { reason, final_url } => {
            Decision::bare(Verdict::Skipped { reason: reason.clone(), final_url: final_url.clone() })
        }
        Attempt::Moved { site } => Decision::bare(Verdict::Moved {
            url: visit.url.clone(),
            site: site.clone(),
            chain: visit.chain.clone(),
            spec: Box::new(visit.spec.clone()),
        }),
    }
}

async fn handle(line: &Line, visit: &Visit, page: &Arc<ParsedPage>) -> Decision {
    #[cfg(debug_assertions)]
    crate::crash_hook::at(&page.page().url);
    let report = line.plugin.handle(call(line, visit, Some(Arc::clone(page)))).await;
    let mut stats = StatsDelta::default();
    count_call(line, &mut stats, &report);
    let CallReport { effects, ended, .. } = report;
    let failure = match ended {
        Ok(()) => {
            let verdict = Verdict::Handled {
                final_key: visit.final_key(&page.page().url),
                final_url: page.page().url.clone(),
                status: page.page().status,
            };
            return Decision { verdict, effects, stats };
        }
        Err(failure) => failure,
    };
    if let CallFailure::Skip(info) = &failure {
        let verdict =
            Verdict::Skipped { reason: SkipReason::Handler(info.code.clone()), final_url: Some(page.page().url.clone()) };
        return Decision { verdict, effects, stats };
    }
    let reason = FailureReason {
        code: FailureCode(Cow::Owned(failure.code().to_owned())),
        message: failure.to_string(),
        status: Some(page.page().status),
    };
    let chance = if failure.may_be_retried() { Chance::Transient } else { Chance::Permanent };
    match next_attempt(&visit.claim.request, chance, &line.settings, Timestamp::now()) {
        Some(not_before) => Decision { verdict: Verdict::Retry { not_before, reason }, effects, stats },
        None => {
            let mut decision = give_up(line, visit, reason, Some(Arc::clone(page)), Some(page.page().url.clone())).await;
            decision.effects.state_reads.extend(effects.state_reads);
            for (reason, count) in effects.refused {
                *decision.effects.refused.entry(reason).or_default() += count;
            }
            decision.stats.merge(&stats);
            decision
        }
    }
}

// The request fails for good: the plugin hears of it, and what it asks for commits with the failure.
async fn give_up(
    line: &Line,
    visit: &Visit,
    reason: FailureReason,
    page: Option<Arc<ParsedPage>>,
    final_url: Option<Url>,
) -> Decision {
    let verdict = Verdict::Failed { reason: reason.clone(), final_url };
    if !line.plugin.entry_points().failure {
        return Decision::bare(verdict);
    }
    let attempts = visit.claim.request.retry_count + 1;
    let report = line.plugin.failure(call(line, visit, page), &reason, attempts).await;
    let mut stats = StatsDelta::default();
    count_call(line, &mut stats, &report);
    if let Err(failure) = report.ended {
        tracing::warn!(url = %visit.url, code = failure.code(), error = %failure, "the failure entry point failed");
        stats.add(Counter::Error(format!("failure-entry-point:{}", failure.code())), 1);
    }
    Decision { verdict, effects: report.effects, stats }
}

fn call(line: &Line, visit: &Visit, page: Option<Arc<ParsedPage>>) -> Call {
    let request = if visit.has_moved() {
        Arc::new(QueuedRequest {
            url: visit.url.clone(),
            spec: visit.spec.clone(),
            chain: visit.chain.clone(),
            ..(*visit.claim.request).clone()
        })
    } else {
        Arc::clone(&visit.claim.request)
    };
    line.call(Some(request), page)
}

/// Counts what a call cost.
pub fn count_call(line: &Line, stats: &mut StatsDelta, report: &CallReport) {
    let CallMetrics { cpu, host, parse, .. } = report.metrics;
    line.profile.add(Step::Parse, parse);
    line.profile.add(Step::HostCalls, host);
    line.profile.add(Step::Sandbox, cpu.saturating_sub(host).saturating_sub(parse));
    stats.add(Counter::PluginMicros, i64::try_from(report.metrics.cpu.as_micros()).unwrap_or(i64::MAX));
}

fn outcome(line: &Line, visit: &Visit, decision: Decision) -> Outcome {
    let mut stats = visit.stats.clone();
    stats.merge(&decision.stats);
    let millis = i64::try_from(visit.claimed_at.elapsed().as_millis()).unwrap_or(i64::MAX);
    match decision.verdict {
        Verdict::Handled { .. } => stats.add(Counter::FinishedMillis, millis),
        Verdict::Failed { .. } => stats.add(Counter::FailedMillis, millis),
        _ => {}
    }
    Outcome {
        subject: Subject::Request(visit.claim.request.id),
        lease: visit.claim.lease,
        verdict: Some(decision.verdict),
        effects: decision.effects,
        stats,
        site_next_allowed: Some(visit.asked_at.plus(line.settings.delay)),
        session: None,
    }
}
