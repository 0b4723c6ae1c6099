//! One request on its way along the line: fetch, handle, commit.
//!
//! Decision: a visit is a value that moves forward, and a plain async function walks it. It owns its claim from the scheduler to the
//! commit; if the process dies anywhere on the way, the row is pending still and nothing has happened. A redirect on the same site goes back to
//! the scheduler and takes the site's next slot; one to another site is committed as a move of the row.

use crate::conclude::{Attempt, Landing, conclude};
use crate::line::Line;
use crate::retry::Chance;
use nephila_fetch::{Exchange, FetchError, Fetched, Redirect, follow};
use nephila_model::{
    Claim, Counter, FailureCode, FailureReason, Hop, RequestId, RequestSpec, SiteId, SiteKey, SkipReason, StatsDelta, Timestamp,
    UniqueKey,
};
use nephila_plugin::ParsedPage;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Whether a request may have killed the process before (S10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspicion {
    /// No reason to think so.
    None,
    /// It was, or may have been, in hand when the process died.
    Suspect,
}

/// A request in flight, with what its fetches have come to so far.
#[derive(Debug)]
pub struct Visit {
    /// The row and the right to decide about it.
    pub claim: Claim,
    /// Its site.
    pub site_key: SiteKey,
    /// Whether it is handled alone, behind a mark.
    pub suspicion: Suspicion,
    /// Where to fetch next.
    pub url: Url,
    /// The request as the redirects so far have left it.
    pub spec: RequestSpec,
    /// The redirects so far.
    pub chain: Vec<Hop>,
    /// What was counted so far.
    pub stats: StatsDelta,
    /// When it was claimed.
    pub claimed_at: Instant,
    /// When its site was last asked for it.
    pub asked_at: Timestamp,
}

/// How a walk ended.
#[derive(Debug)]
pub enum VisitEnd {
    /// It waits for its site's next slot.
    Continues(Box<Visit>),
    /// It is no longer in flight.
    Landed {
        /// Which.
        id: RequestId,
        /// Whose.
        site: SiteId,
        /// What became of it.
        landing: Landing,
    },
}

impl Visit {
    /// A visit that begins.
    pub fn begin(claim: Claim, site_key: SiteKey, suspicion: Suspicion) -> Self {
        Self {
            url: claim.request.url.clone(),
            spec: claim.request.spec.clone(),
            chain: claim.request.chain.clone(),
            claim,
            site_key,
            suspicion,
            stats: StatsDelta::default(),
            claimed_at: Instant::now(),
            asked_at: Timestamp::now(),
        }
    }

    /// The key of the URL that answered; the request's own if nothing redirected.
    pub fn final_key(&self, url: &Url) -> UniqueKey {
        if self.chain.is_empty() {
            return self.claim.request.unique_key;
        }
        let key = UniqueKey::of(url, self.spec.method, self.spec.payload.as_deref());
        self.spec.salt.as_ref().map_or(key, |salt| key.salted(salt.as_bytes()))
    }
}

/// Walks a visit until it lands, or until it must wait for its site.
pub async fn walk(line: Arc<Line>, mut visit: Box<Visit>) -> VisitEnd {
    let attempt = loop {
        visit.asked_at = Timestamp::now();
        match fetch(&line, &mut visit).await {
            Step::Attempt(attempt) => break attempt,
            Step::Hop if line.settings.delay == Duration::ZERO => {}
            Step::Hop => return VisitEnd::Continues(visit),
        }
    };
    let (id, site) = (visit.claim.request.id, visit.claim.request.site);
    let landing = conclude(&line, *visit, attempt).await;
    VisitEnd::Landed { id, site, landing }
}

enum Step {
    /// On the same site there is another address to ask.
    Hop,
    /// The fetching is over.
    Attempt(Attempt),
}

async fn fetch(line: &Line, visit: &mut Visit) -> Step {
    let timeout = visit.spec.timeout_millis.map(|millis| Duration::from_millis(millis.into()));
    let exchange = Exchange {
        url: &visit.url,
        method: visit.spec.method,
        headers: &visit.spec.headers,
        payload: visit.spec.payload.as_ref(),
        timeout,
    };
    let fetched = line.fetcher.fetch(&exchange).await;
    visit.stats.add(Counter::Fetches, 1);
    match fetched {
        Err(FetchError::TooLarge { .. }) => {
            Step::Attempt(Attempt::Skipped { reason: SkipReason::TooLarge, final_url: Some(visit.url.clone()) })
        }
        Err(error) => {
            let chance = if error.is_transient() { Chance::Transient } else { Chance::Permanent };
            let reason =
                FailureReason { code: FailureCode(Cow::Borrowed(error.code())), message: error.to_string(), status: None };
            Step::Attempt(Attempt::Failed { reason, chance, final_url: None })
        }
        Ok(Fetched::Redirect(redirect)) => hop(line, visit, redirect).await,
        Ok(Fetched::Page(mut page)) => {
            visit.stats.add(Counter::Status(page.status), 1);
            visit.stats.add(Counter::BodyBytes, i64::try_from(page.body.len()).unwrap_or(i64::MAX));
            if !visit.spec.accepts(page.status) {
                return Step::Attempt(Attempt::Failed {
                    reason: FailureReason {
                        code: FailureCode(Cow::Borrowed("status")),
                        message: format!("{} answered with status {}", page.url, page.status),
                        status: Some(page.status),
                    },
                    chance: Chance::of_status(page.status),
                    final_url: Some(page.url),
                });
            }
            page.chain.clone_from(&visit.chain);
            Step::Attempt(Attempt::Page(Arc::new(ParsedPage::new(Arc::new(page)))))
        }
    }
}

async fn hop(line: &Line, visit: &mut Visit, redirect: Redirect) -> Step {
    visit.stats.add(Counter::Status(redirect.status), 1);
    visit.stats.add(Counter::BodyBytes, i64::try_from(redirect.body_bytes).unwrap_or(i64::MAX));
    if visit.chain.len() >= line.settings.max_redirects as usize {
        return Step::Attempt(Attempt::Failed {
            reason: FailureReason {
                code: FailureCode(Cow::Borrowed("too-many-redirects")),
                message: format!(
                    "{} was redirected {} times, which is max-redirects; the last one pointed to {}",
                    visit.claim.request.url,
                    visit.chain.len(),
                    redirect.to
                ),
                status: Some(redirect.status),
            },
            chance: Chance::Permanent,
            final_url: Some(visit.url.clone()),
        });
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
            return Step::Attempt(Attempt::Skipped { reason: SkipReason::DuplicateRedirect, final_url });
        }
        Err(error) => return Step::Attempt(Attempt::Lost(Arc::new(error))),
    }
    let site = SiteKey::of(&visit.url, line.settings.site_by);
    if site == visit.site_key { Step::Hop } else { Step::Attempt(Attempt::Moved { site }) }
}
