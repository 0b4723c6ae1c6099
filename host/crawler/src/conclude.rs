//! From what an attempt came to, through the plugin's entry points, to a committed outcome.
//!
//! Decision: the verdict is made in one place and committed at once with everything that the plugin asked for. If something that
//! the call saw of the state has changed, the call is run again on the same page, alone under the crawl's state lock, so that it
//! always gets through. Re-runs cost processor time, never a fetch. What the attempt did to its session is committed with the
//! verdict, whatever it is, and the session is free only then. A page that the site keeps from a session goes back to the queue
//! for another session to ask, a few times, which is no retry.

use crate::attempt::Attempt;
use crate::call_cost::count_call;
use crate::decision::{Decision, is_too_much};
use crate::handling::Handling;
use crate::hardship::{Starved, postponed};
use crate::landing::{CameTo, Landing};
use crate::line::Line;
use crate::pipelines;
use crate::retry::{Chance, next_attempt, next_room, next_rotation};
use crate::session_desk::{Seen, asked};
use crate::visit::{Suspicion, Visit};
use nephila_model::{
    AnsweredPage, AppliedVerdict, Counter, FailureCode, FailureReason, Outcome, QueuedRequest, Rejection, RequestSpec,
    SessionDelta, SkipReason, StatsDelta, Subject, Timestamp, Unusable, Verdict,
};
use nephila_plugin::{Call, CallFailure, CallReport, ParsedPage, SessionView};
use nephila_session::UseAsk;
use nephila_store::StoreError;
use std::borrow::Cow;
use std::sync::Arc;
use url::Url;

/// Runs beside others before a call in conflict runs alone: what conflicts once is most often a key that all handlers want, and
/// each further run beside them would be for nothing (16 handlers that count on one key: a sixth of the throughput of those that
/// do not with four runs).
const RUNS_BESIDE_OTHERS: u32 = 1;

/// Decides about a visit and commits the decision.
pub async fn conclude(line: &Line, mut visit: Visit, attempt: Attempt) -> Landing {
    // A suspect is decoded and handled while nothing else is, so that a crash inside its mark is its own (S10).
    let _handling = match visit.suspicion {
        Suspicion::Suspect => {
            let alone = Handling::alone().await;
            let marked = line.store.mark_suspect(line.crawl, visit.claim.request.id, visit.claim.lease).await;
            match marked {
                Ok(()) => alone,
                Err(StoreError::Stale) => return Landing::Stale,
                Err(error) => return Landing::Lost(Arc::new(error)),
            }
        }
        Suspicion::None => Handling::beside_others().await,
    };
    let Ok(_permit) = line.handlers.acquire().await else { return Landing::Dropped };

    let attempt = look_for_block(line, &mut visit, attempt);
    let mut overruled: Option<Overruled> = None;
    let mut runs = 0;
    loop {
        let alone = if runs >= RUNS_BESIDE_OTHERS { Some(line.state.write().await) } else { None };
        let decision = match &overruled {
            None => decide(line, &visit, &attempt).await,
            Some(Overruled::Once(reason, ask)) => give_up(line, &visit, reason.clone(), attempt.page(), None, ask.clone()).await,
            Some(Overruled::Twice(reason, ask)) => {
                let verdict = Verdict::Failed { reason: reason.clone(), final_url: None };
                Decision { ask: ask.clone(), ..Decision::bare(verdict) }
            }
        };
        runs += 1;
        let beside = if alone.is_none() && decision.effects.may_conflict() { Some(line.state.read().await) } else { None };
        let (came_to, stop, ask) = (decision.comes_to(&visit), decision.effects.stop.clone(), decision.ask.clone());
        let session = visit.session.as_ref().map(|session| session.draft(decision.mark(), &decision.ask));
        let answer = line.commits.commit(outcome(line, &visit, decision, session.clone())).await;
        drop((alone, beside));
        match answer {
            Err(error) => return Landing::Lost(error),
            Ok(Ok(applied)) if applied.verdict == AppliedVerdict::DuplicateRedirect => {
                end_session(&mut visit, session, applied.session_ended);
                return Landing::Committed { applied: Box::new(applied), came_to: CameTo::SetAside, stop: None };
            }
            Ok(Ok(applied)) => {
                end_session(&mut visit, session, applied.session_ended);
                if let CameTo::Failed(failed) = &came_to {
                    line.failed_kinds.learn(&failed.reason, failed.url.as_str());
                    line.failure_log.note(failed);
                    line.bulletin.failed(&visit.url, &failed.reason);
                }
                return Landing::Committed { applied: Box::new(applied), came_to, stop };
            }
            Ok(Err(Rejection::Stale { .. })) => return Landing::Stale,
            Ok(Err(Rejection::Decided)) => return Landing::Dropped,
            Ok(Err(Rejection::Deferred)) => {
                defer_session(&mut visit, session);
                return Landing::Deferred;
            }
            Ok(Err(Rejection::StateConflict { what })) => {
                tracing::debug!(url = %visit.url, state = %what, runs, "what the handler saw has changed; it runs again");
            }
            Ok(Err(Rejection::SessionTaken { id })) => {
                tracing::debug!(url = %visit.url, session = %id, runs, "the id of a session that it adds is taken; it runs again");
            }
            Ok(Err(refused @ (Rejection::State(_) | Rejection::Engine(_)))) => {
                let code = if matches!(refused, Rejection::State(_)) { "state" } else { "refused-by-store" };
                let reason = FailureReason { code: FailureCode(Cow::Borrowed(code)), message: refused.to_string(), status: None };
                overruled = Some(match overruled {
                    None => Overruled::Once(reason, ask),
                    Some(Overruled::Once(..)) => Overruled::Twice(reason, ask),
                    // Nothing is left that could be refused.
                    Some(Overruled::Twice(..)) => {
                        let cause = reason.message;
                        return Landing::Lost(Arc::new(StoreError::Engine { action: "set a request aside", cause }));
                    }
                });
            }
        }
    }
}

// The store refused an effect, so the request fails: first with the effects of the failure entry point, then without. What was
// asked for the session stands: it is none of the effects.
enum Overruled {
    Once(FailureReason, UseAsk),
    Twice(FailureReason, UseAsk),
}

// A page that is a block came to nothing for its session, which is not to be used again.
fn look_for_block(line: &Line, visit: &mut Visit, attempt: Attempt) -> Attempt {
    let (Some(rules), Some(session), Attempt::Page(page)) = (&line.block_pages, &mut visit.session, &attempt) else {
        return attempt;
    };
    let Some(why) = rules.says(page) else { return attempt };
    session.retire();
    Attempt::blocked(page.page(), &why)
}

async fn decide(line: &Line, visit: &Visit, attempt: &Attempt) -> Decision {
    match attempt {
        Attempt::Page(page) => handle(line, visit, page).await,
        Attempt::Failed { reason, chance, final_url } => fail(line, visit, reason, *chance, final_url.as_ref()).await,
        Attempt::Blocked { reason, final_url } => match rotated(line, &visit.claim.request) {
            Some(spec) => rotate(line, visit, spec, reason),
            None => {
                // One that is bound to this session has no other to be tried with.
                let may_be_tried = is_too_much(reason) && visit.claim.request.spec.session_id.is_none();
                let chance = if may_be_tried { Chance::Transient } else { Chance::Permanent };
                fail(line, visit, reason, chance, final_url.as_ref()).await
            }
        },
        Attempt::Skipped { reason, final_url } => {
            Decision::bare(Verdict::Skipped { reason: reason.clone(), final_url: final_url.clone() })
        }
        Attempt::Moved { site } => Decision::bare(Verdict::Moved {
            url: visit.url.clone(),
            site: site.clone(),
            chain: visit.chain.clone(),
            spec: Box::new(RequestSpec { session_preferred: preferred(visit), ..visit.spec.clone() }),
            not_before: None,
        }),
    }
}

// Tried again, if there is a chance and a try is left.
async fn fail(line: &Line, visit: &Visit, reason: &FailureReason, chance: Chance, final_url: Option<&Url>) -> Decision {
    match next_attempt(&visit.claim.request, chance, &line.settings, Timestamp::now()) {
        Some(not_before) => Decision::bare(Verdict::Retry { not_before, reason: reason.clone() }),
        None => give_up(line, visit, reason.clone(), None, final_url.cloned(), UseAsk::default()).await,
    }
}

// The session that has the cookies with which the site sent it on.
fn preferred(visit: &Visit) -> Option<String> {
    let session = visit.session.as_ref().filter(|session| !session.is_retiring())?;
    Some(session.id().to_string())
}

// The request as another session is to ask for it, if one may.
fn rotated(line: &Line, request: &QueuedRequest) -> Option<RequestSpec> {
    let spec = &request.spec;
    // One that is bound to this session has no other.
    let may = spec.session_id.is_none() && spec.session_rotations < line.settings.sessions.max_rotations;
    may.then(|| RequestSpec { session_rotations: spec.session_rotations + 1, session_preferred: None, ..spec.clone() })
}

// From the beginning, as it was claimed: the redirects so far were made for the session that is blocked. Where a site says that
// it is asked too much, the next session does not ask at once.
fn rotate(line: &Line, visit: &Visit, spec: RequestSpec, reason: &FailureReason) -> Decision {
    let request = &visit.claim.request;
    tracing::debug!(url = %request.url, rotations = spec.session_rotations, reason = %reason.message, "another session is to try");
    let (url, site, chain) = (request.url.clone(), visit.site_key.clone(), request.chain.clone());
    let not_before = is_too_much(reason).then(|| next_rotation(request, &line.settings, Timestamp::now()));
    let mut decision = Decision::bare(Verdict::Moved { url, site, chain, spec: Box::new(spec), not_before });
    decision.stats.add(Counter::SessionRotations, 1);
    decision
}

// What the attempt gave is committed: its session is free. What the store says of it holds: there all that its uses gave comes
// together.
fn end_session(visit: &mut Visit, delta: Option<SessionDelta>, ended: Option<Unusable>) {
    let (Some(session), Some(mut delta)) = (visit.session.take(), delta) else { return };
    delta.retired |= matches!(ended, Some(Unusable::Retired | Unusable::Blocked { .. }));
    let finished = session.end(delta);
    note_if_ended(&finished.delta, ended);
}

// Nothing of the attempt is kept, but that the session was used, and how that went: as the store does it.
fn defer_session(visit: &mut Visit, delta: Option<SessionDelta>) {
    let (Some(session), Some(delta)) = (visit.session.take(), delta) else { return };
    let finished = session.end(SessionDelta { cookies: Vec::new(), user_data: None, ..delta });
    note_if_ended(&finished.delta, finished.ended);
}

// Those who listen are told by the store, with what ended it.
fn note_if_ended(delta: &SessionDelta, ended: Option<Unusable>) {
    if let Some(why) = ended {
        tracing::debug!(session = %delta.session, %why, "a session is used no more");
    }
}

async fn handle(line: &Line, visit: &Visit, page: &Arc<ParsedPage>) -> Decision {
    #[cfg(debug_assertions)]
    crate::crash_hook::at(&page.page().url);
    let call = call(line, visit, Some(Arc::clone(page)), UseAsk::default());
    let report = visit.plugin.handle(call.clone()).await;
    let mut stats = StatsDelta::default();
    count_call(line, &mut stats, &report);
    let report = pipelines::pass(line, &call, report, &mut stats).await;
    let CallReport { effects, ended, session, .. } = report;
    let ask = asked(session);
    let failure = match ended {
        Ok(()) => {
            let verdict = Verdict::Handled {
                final_key: visit.final_key(&page.page().url),
                final_url: page.page().url.clone(),
                status: page.page().status,
            };
            line.hardship.is_over();
            return Decision::of(verdict, effects, stats, ask);
        }
        Err(CallFailure::Machine { message }) => {
            let starved = line.hardship.note(message.clone());
            if !starved.is_its_own(&visit.claim.request) {
                return wait_for_memory(line, visit, starved, stats);
            }
            CallFailure::Machine { message }
        }
        Err(failure) => {
            line.hardship.is_over();
            failure
        }
    };
    if let CallFailure::Skip(info) = &failure {
        let verdict =
            Verdict::Skipped { reason: SkipReason::Handler(info.code.clone()), final_url: Some(page.page().url.clone()) };
        return Decision::of(verdict, effects, stats, ask);
    }
    let reason = FailureReason {
        code: FailureCode(Cow::Owned(failure.code().to_owned())),
        message: failure.to_string(),
        status: Some(page.page().status),
    };
    let chance = if failure.may_be_retried() { Chance::Transient } else { Chance::Permanent };
    match next_attempt(&visit.claim.request, chance, &line.settings, Timestamp::now()) {
        Some(not_before) => Decision::of(Verdict::Retry { not_before, reason }, effects, stats, ask),
        None => {
            let final_url = Some(page.page().url.clone());
            let mut decision = give_up(line, visit, reason, Some(Arc::clone(page)), final_url, ask).await;
            decision.effects.state_reads.extend(effects.state_reads);
            for (reason, count) in effects.refused {
                *decision.effects.refused.entry(reason).or_default() += count;
            }
            decision.stats.merge(&stats);
            decision
        }
    }
}

fn wait_for_memory(line: &Line, visit: &Visit, starved: Starved, stats: StatsDelta) -> Decision {
    let request = &visit.claim.request;
    tracing::warn!(url = %request.url, times = starved.times, cause = starved.cause, "a page waits for memory; that is none of its retries");
    let not_before = next_room(request, &line.settings, Timestamp::now());
    let verdict = postponed(request, &visit.site_key, not_before);
    Decision { starved: Some(starved), stats, ..Decision::bare(verdict) }
}

// The request fails for good: the plugin hears of it, and what it asks for commits with the failure. `ask` is what its handler
// asked for the session.
async fn give_up(
    line: &Line,
    visit: &Visit,
    reason: FailureReason,
    page: Option<Arc<ParsedPage>>,
    final_url: Option<Url>,
    ask: UseAsk,
) -> Decision {
    let verdict = Verdict::Failed { reason: reason.clone(), final_url };
    if !visit.plugin.entry_points().failure {
        return Decision { ask, ..Decision::bare(verdict) };
    }
    let attempts = visit.claim.request.retry_count + 1;
    let call = call(line, visit, page, ask.clone());
    let report = visit.plugin.failure(call.clone(), &reason, attempts).await;
    let mut stats = StatsDelta::default();
    count_call(line, &mut stats, &report);
    let report = pipelines::pass(line, &call, report, &mut stats).await;
    if let Err(CallFailure::Machine { message }) = report.ended {
        return wait_for_memory(line, visit, line.hardship.note(message), stats);
    }
    if let Err(failure) = report.ended {
        tracing::warn!(url = %visit.url, code = failure.code(), error = %failure, "the failure entry point failed");
        stats.add(Counter::Error(format!("failure-entry-point:{}", failure.code())), 1);
    }
    Decision::of(verdict, report.effects, stats, ask.then(asked(report.session)))
}

// `before` is what an earlier call of the attempt asked for its session.
fn call(line: &Line, visit: &Visit, page: Option<Arc<ParsedPage>>, before: UseAsk) -> Call {
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
    let session = visit.session.as_ref().map(|session| Arc::new(Seen::new(session.sight(), before)) as Arc<dyn SessionView>);
    Call { session, ..line.call(Some(request), page) }
}

fn outcome(line: &Line, visit: &Visit, decision: Decision, session: Option<SessionDelta>) -> Outcome {
    let mut stats = visit.stats.clone();
    stats.merge(&decision.stats);
    let mut effects = decision.effects;
    let millis = i64::try_from(visit.claimed_at.elapsed().as_millis()).unwrap_or(i64::MAX);
    match &decision.verdict {
        Verdict::Handled { .. } => {
            for counter in [Counter::FinishedMillis, Counter::LeastFinishedMillis, Counter::MostFinishedMillis] {
                stats.add(counter, millis);
            }
        }
        Verdict::Failed { reason, .. } => {
            stats.add(Counter::FailedMillis, millis);
            let url = visit.claim.request.url.as_str();
            let answered = visit.answered.as_ref().filter(|_| !line.failed_kinds.is_known(reason, url));
            effects.error_snapshot = answered.map(AnsweredPage::snapshot);
        }
        // Which is no attempt.
        Verdict::Moved { .. } if decision.starved.is_some() => {}
        Verdict::Retry { .. } | Verdict::Skipped { .. } | Verdict::Moved { .. } => {
            stats.add(Counter::OtherAttemptMillis, millis);
        }
    }
    Outcome {
        subject: Subject::Request(visit.claim.request.id),
        lease: visit.claim.lease,
        verdict: Some(decision.verdict),
        effects,
        stats,
        site_next_allowed: Some(visit.asked_at.plus(line.settings.delay)),
        session,
    }
}
