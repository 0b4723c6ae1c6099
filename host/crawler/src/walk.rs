//! A visit's walk: take a session, fetch, one hop at a time, then conclude.
//!
//! Decision: a redirect on the same site goes back to the scheduler and takes the site's next slot; one to another site is
//! committed as a move of the row. A visit whose site is slow to answer leaves the count of those that are served, so that slow
//! sites cannot fill the slots, and comes back into it as soon as there is an answer to be handled. One that waited for its
//! session takes the site's next slot too, since others may have asked the site meanwhile.

use crate::attempt::Attempt;
use crate::conclude::conclude;
use crate::landing::Landing;
use crate::line::Line;
use crate::pace::{Pace, Speed};
use crate::retry::Chance;
use crate::session_desk::{NoSession, Wait, gone};
use crate::settings::ErrorSnapshots;
use crate::visit::{Visit, VisitEnd};
use nephila_fetch::{Exchange, FetchError, Fetched, Redirect, follow};
use nephila_model::{AnsweredPage, Counter, FailureCode, FailureReason, Hop, Page, SiteKey, SkipReason, Step, Timestamp};
use nephila_plugin::ParsedPage;
use nephila_session::{Answer, Judgement, StatusAccepted};
use nephila_store::StoreError;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For one fetch at most, whatever a request asks for, unless the crawl's own setting is longer.
const LONGEST_FETCH: Duration = Duration::from_secs(600);

/// After so long for its session, or a tenth of the delay if that is less, a visit is late for its site's slot: the next one
/// would come too soon after it. To write a session takes less.
const LATE: Duration = Duration::from_millis(50);

/// Walks a visit until it lands, or until it must wait for its site.
pub async fn walk(line: Arc<Line>, mut visit: Box<Visit>, pace: Pace) -> VisitEnd {
    match take_session(&line, &mut visit).await {
        Ok(Slot::Passed) => return VisitEnd::Continues(visit),
        Ok(Slot::Kept) => {}
        Err(NoSession::Lost(StoreError::Stale)) => return VisitEnd::Landed(Landing::Stale),
        Err(NoSession::Lost(error)) => return VisitEnd::Landed(Landing::Lost(Arc::new(error))),
        Err(NoSession::Failed(reason, chance)) => {
            let attempt = Attempt::Failed { reason, chance, final_url: None };
            return VisitEnd::Landed(conclude(&line, *visit, attempt).await);
        }
    }
    loop {
        visit.asked_at = Timestamp::now();
        let leg = {
            let mut fetching = pin!(fetch(&line, &mut visit));
            match tokio::time::timeout(line.settings.slow_after, &mut fetching).await {
                Ok(leg) => leg,
                Err(_) => {
                    pace.say(Speed::Slow);
                    let leg = fetching.await;
                    pace.say(Speed::Served);
                    leg
                }
            }
        };
        match leg {
            Leg::Done(attempt) => return VisitEnd::Landed(conclude(&line, *visit, attempt).await),
            Leg::Lost(error) => return VisitEnd::Landed(Landing::Lost(Arc::new(error))),
            Leg::Hop if line.settings.delay == Duration::ZERO => {}
            Leg::Hop => return VisitEnd::Continues(visit),
        }
    }
}

enum Leg {
    /// On the same site there is another address to ask.
    Hop,
    /// The fetching is over.
    Done(Attempt),
    /// The store failed.
    Lost(StoreError),
}

// What has become of the site's slot that the visit was claimed with.
enum Slot {
    Kept,
    Passed,
}

// One for the attempt as a whole: a visit that goes on has it already.
async fn take_session(line: &Line, visit: &mut Visit) -> Result<Slot, NoSession> {
    let bound = visit.claim.request.spec.session_id.as_deref();
    match (&line.sessions, bound) {
        (Some(desk), _) if visit.session.is_none() => {
            let (began, delay) = (Instant::now(), line.settings.delay);
            let (session, wait) = desk.take(line, &visit.claim.request.spec, &mut visit.stats).await?;
            visit.session = Some(session);
            let is_late = wait == Wait::ForOthers || began.elapsed() > LATE.min(delay / 10);
            if is_late && delay > Duration::ZERO {
                return Ok(Slot::Passed);
            }
        }
        (None, Some(id)) => {
            let message =
                format!("the request is bound to session {id:?}, and this crawl uses none; give --set session-pool=yes");
            return Err(gone(message));
        }
        _ => {}
    }
    Ok(Slot::Kept)
}

async fn fetch(line: &Line, visit: &mut Visit) -> Leg {
    let cookie = visit.session.as_mut().and_then(|session| session.ask(&visit.url, &visit.spec.headers));
    let mut exchange = Exchange::of(&visit.url, &visit.spec);
    exchange.timeout = exchange.timeout.map(|asked| asked.min(LONGEST_FETCH.max(line.settings.request_timeout)));
    exchange.cookie = cookie.as_deref();
    let began = Instant::now();
    let fetched = line.fetcher.fetch(&exchange).await;
    line.profile.since(Step::Fetch, began);
    visit.stats.add(Counter::Fetches, 1);
    match fetched {
        Err(FetchError::TooLarge { .. }) => {
            Leg::Done(Attempt::Skipped { reason: SkipReason::TooLarge, final_url: Some(visit.url.clone()) })
        }
        Err(error) => {
            let chance = if error.is_transient() { Chance::Transient } else { Chance::Permanent };
            let reason =
                FailureReason { code: FailureCode(Cow::Borrowed(error.code())), message: error.to_string(), status: None };
            Leg::Done(Attempt::Failed { reason, chance, final_url: None })
        }
        Ok(Fetched::Redirect(redirect)) => hop(line, visit, redirect).await,
        Ok(Fetched::Page(mut page)) => {
            line.profile.add(Step::Decode, page.timings.decode);
            if line.settings.error_snapshots == ErrorSnapshots::FirstOfEachKind {
                visit.answered = Some(AnsweredPage::of(&page));
            }
            visit.stats.add(Counter::Status(page.status), 1);
            visit.stats.add(Counter::BodyBytes, i64::try_from(page.body.len()).unwrap_or(i64::MAX));
            if let Some(blocked) = judge(line, visit, &page) {
                return Leg::Done(blocked);
            }
            if !visit.spec.accepts(page.status) {
                let reason = FailureReason {
                    code: FailureCode(Cow::Borrowed("status")),
                    message: format!("{} answered with status {}", page.url, page.status),
                    status: Some(page.status),
                };
                let chance = Chance::of_status(page.status);
                return Leg::Done(Attempt::Failed { reason, chance, final_url: Some(page.url) });
            }
            page.chain.clone_from(&visit.chain);
            Leg::Done(Attempt::Page(Arc::new(ParsedPage::new(Arc::new(page)))))
        }
    }
}

// What an answer does to the session that asked. Says so if it means that the site does not want it.
fn judge(line: &Line, visit: &mut Visit, page: &Page) -> Option<Attempt> {
    let session = visit.session.as_mut()?;
    let set = page.headers.iter().filter(|header| header.name == "set-cookie").map(|header| header.value.as_str());
    session.receive(&visit.url, set);
    let is_wanted = !visit.spec.accepted_statuses.is_empty() && visit.spec.accepts(page.status);
    let answer = Answer {
        status: page.status,
        headers: &page.headers,
        body: &page.body,
        accepted: if is_wanted { StatusAccepted::ByRequest } else { StatusAccepted::No },
        site: line.throttling.answered(&visit.site_key, page.status, Instant::now()),
    };
    let Judgement::Blocked(why) = session.judge(&answer) else { return None };
    Some(Attempt::blocked(page, &why))
}

async fn hop(line: &Line, visit: &mut Visit, redirect: Redirect) -> Leg {
    visit.stats.add(Counter::Status(redirect.status), 1);
    visit.stats.add(Counter::BodyBytes, i64::try_from(redirect.body_bytes).unwrap_or(i64::MAX));
    if let Some(session) = &mut visit.session {
        session.receive(&visit.url, redirect.set_cookies.iter().map(String::as_str));
    }
    if visit.chain.len() >= line.settings.max_redirects as usize {
        let message = format!(
            "{} was redirected {} times, which is max-redirects; the last one pointed to {}",
            visit.claim.request.url,
            visit.chain.len(),
            redirect.to
        );
        let reason =
            FailureReason { code: FailureCode(Cow::Borrowed("too-many-redirects")), message, status: Some(redirect.status) };
        return Leg::Done(Attempt::Failed { reason, chance: Chance::Permanent, final_url: Some(visit.url.clone()) });
    }
    visit.spec = follow(&visit.spec, &visit.url, &redirect);
    visit.chain.push(Hop { url: visit.url.clone(), status: redirect.status, kind: redirect.kind });
    visit.url = redirect.to;

    // Whoever ended there first has the page; fetching it again would only lose the race at the commit.
    let final_key = visit.final_key(&visit.url);
    let label = visit.claim.request.label.as_deref();
    match line.store.final_taken(line.crawl, label, final_key).await {
        Ok(false) => {}
        Ok(true) => {
            let final_url = Some(visit.url.clone());
            return Leg::Done(Attempt::Skipped { reason: SkipReason::DuplicateRedirect, final_url });
        }
        Err(error) => return Leg::Lost(error),
    }
    let site = SiteKey::of(&visit.url, line.settings.site_by);
    if site == visit.site_key { Leg::Hop } else { Leg::Done(Attempt::Moved { site }) }
}
