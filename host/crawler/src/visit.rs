//! One request on its way along the line.
//!
//! Decision: a visit is a value that moves forward. It owns its claim from the scheduler to the commit; if the process dies
//! anywhere on the way, the row is pending still and nothing has happened.

use crate::landing::Landing;
use crate::session_desk::Held;
use nephila_model::{AnsweredPage, Claim, Hop, RequestSpec, SiteKey, StatsDelta, Timestamp, UniqueKey};
use nephila_plugin::Plugin;
use std::sync::Arc;
use std::time::Instant;
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
    /// What handles it, from the claim to the end, also if the crawl has another one meanwhile.
    pub plugin: Arc<Plugin>,
    /// Where to fetch next.
    pub url: Url,
    /// The request as the redirects so far have left it.
    pub spec: RequestSpec,
    /// The redirects so far.
    pub chain: Vec<Hop>,
    /// The session that it is fetched by, once it has one.
    pub session: Option<Held>,
    /// The page that answered, where one is to be kept if the request fails.
    pub answered: Option<AnsweredPage>,
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
    Landed(Landing),
}

impl Visit {
    /// A visit that begins.
    pub fn begin(claim: Claim, site_key: SiteKey, suspicion: Suspicion, plugin: Arc<Plugin>) -> Self {
        Self {
            url: claim.request.url.clone(),
            spec: claim.request.spec.clone(),
            chain: claim.request.chain.clone(),
            claim,
            site_key,
            suspicion,
            plugin,
            session: None,
            answered: None,
            stats: StatsDelta::default(),
            claimed_at: Instant::now(),
            asked_at: Timestamp::now(),
        }
    }

    /// Whether a redirect has led somewhere else since it was claimed.
    pub fn has_moved(&self) -> bool {
        self.chain.len() > self.claim.request.chain.len()
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
