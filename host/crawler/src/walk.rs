//! A visit's walk: fetch, one hop at a time, then conclude.
//!
//! Decision: a redirect on the same site goes back to the scheduler and takes the site's next slot; one to another site is committed as a
//! move of the row. A visit whose site is slow to answer leaves the count of those that are served, so that slow sites cannot fill the
//! slots, and comes back into it as soon as there is an answer to be handled.

use crate::attempt::Attempt;
use crate::conclude::conclude;
use crate::landing::Landing;
use crate::line::Line;
use crate::pace::{Pace, Speed};
use crate::retry::Chance;
use crate::visit::{Visit, VisitEnd};
use nephila_fetch::{Exchange, FetchError, Fetched, Redirect, follow};
use nephila_model::{Counter, FailureCode, FailureReason, Hop, SiteKey, SkipReason, Step, Timestamp};
use nephila_plugin::ParsedPage;
use nephila_store::StoreError;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For one fetch at most, whatever a request asks for, unless the crawl's own setting is longer.
const LONGEST_FETCH: Duration = Duration::from_secs(600);

/// Walks a visit until it lands, or until it must wait for its site.
pub async fn walk(line: Arc<Line>, mut visit: Box<Visit>, pace: Pace) -> VisitEnd {
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

async fn fetch(line: &Line, visit: &mut Visit) -> Leg {
    let mut exchange = Exchange::of(&visit.url, &visit.spec);
    exchange.timeout = exchange.timeout.map(|asked| asked.min(LONGEST_FETCH.max(line.settings.request_timeout)));
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
            visit.stats.add(Counter::Status(page.status), 1);
            visit.stats.add(Counter::BodyBytes, i64::try_from(page.body.len()).unwrap_or(i64::MAX));
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

async fn hop(line: &Line, visit: &mut Visit, redirect: Redirect) -> Leg {
    visit.stats.add(Counter::Status(redirect.status), 1);
    visit.stats.add(Counter::BodyBytes, i64::try_from(redirect.body_bytes).unwrap_or(i64::MAX));
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
