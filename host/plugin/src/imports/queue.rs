//! `queue`: new requests, and what is known of old ones.
//!
//! Decision: whether a request is new is asked of the store once per batch; the answer is advice, the commit decides. A request that was
//! known already is sent along all the same if it may have been found nearer. Links are most of what a crawl handles, and nearly all of them
//! are known: what is neither new nor nearer is never made into a request, and its URL is not even parsed if its text says enough.

use super::context::no_page;
use super::requests::{Origin, extra, user_data};
use crate::bindings::nephila::crawler::{queue, types};
use crate::fault::Fault;
use crate::patterns::PatternTexts;
use crate::sandbox::Inside;
use nephila_model::{KeyStanding, Method, Place, RefusedReason, RequestSpec, RequestState, Strategy, UniqueKey};
use nephila_page::targets;
use std::collections::HashSet;
use url::{Position, Url};

/// URLs of one lookup.
const MOST_LOOKUPS: usize = 10_000;

/// Links of one page for which room is made at once.
const USUAL: usize = 1_000;

impl queue::Host for Inside {
    async fn enqueue(&mut self, asked: Vec<types::NewRequest>) -> Result<Vec<queue::Enqueued>, Fault> {
        self.check_time()?;
        let present = self.acting()?;
        if asked.len() > present.draft.requests_left() {
            let allowed = present.call.settings.limits.requests;
            return Err(Fault::quota(format!("one call may enqueue {allowed} requests; enqueue the rest from another page")));
        }
        let first = present.draft.ask(asked.len());
        let origin = Origin::of(&present.call, present.event.as_deref());
        let checked = asked
            .into_iter()
            .enumerate()
            .map(|(place, asked)| origin.check(asked, first + place))
            .collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<UniqueKey> = checked.iter().flatten().map(|request| request.unique_key).collect();
        let depth = origin.depth();
        let mut standings = self.standing(&keys, depth).await?.into_iter();
        let present = self.present()?;
        present.draft.make_room(keys.len());
        let mut answers = Vec::with_capacity(checked.len());
        for checked in checked {
            answers.push(match checked {
                Err(reason) => {
                    present.draft.refuse(reason);
                    queue::Enqueued { unique_key: String::new(), already_known: false, refused: Some(reason.code().to_owned()) }
                }
                Ok(request) => {
                    let standing = standings.next().unwrap_or(KeyStanding::New);
                    let already_known = standing.is_known() || present.draft.has(&request.unique_key);
                    let unique_key = request.unique_key.to_string();
                    if standing != KeyStanding::Settled {
                        present.draft.enqueue(request)?;
                    }
                    queue::Enqueued { unique_key, already_known, refused: None }
                }
            });
        }
        Ok(answers)
    }

    async fn enqueue_links(&mut self, options: queue::LinkOptions) -> Result<queue::LinkSummary, Fault> {
        let page = self.acting()?.call.page.clone().ok_or_else(no_page)?;
        let (page, watch, shared) = self.query(page)?;
        let patterns = shared.patterns.get(PatternTexts {
            globs: options.globs,
            regexes: options.regexes,
            exclude_globs: options.exclude_globs,
            exclude_regexes: options.exclude_regexes,
        })?;
        if let Some(label) = &options.label {
            crate::names::short("label", label, 512)?;
        }
        extra(options.extra_json.as_deref())?;
        let spec = RequestSpec { user_data: user_data(options.user_data.as_deref())?, ..RequestSpec::default() };
        let strategy = strategy(options.strategy);
        let place = if options.forefront { Place::Forefront } else { Place::Queue };

        let mut summary = queue::LinkSummary { found: 0, enqueued: 0, already_known: 0, refused: 0 };
        let found = targets(&page, options.selector.as_deref(), &shared.selectors, &watch)?;
        let present = self.present()?;
        let (origin, home) = (Origin::of(&present.call, present.event.as_deref()), Home::of(&page.page().url));
        let room = found.len().min(USUAL);
        let (mut seen, mut candidates) = (HashSet::with_capacity(room), Vec::<Candidate>::with_capacity(room));
        let mut refused = Vec::new();
        for mut text in found {
            if !watch.step() {
                watch.check("page-timeout", "enqueueing the links")?;
            }
            // Before it is parsed: pages repeat their links.
            text.truncate(text.find('#').unwrap_or(text.len()));
            if seen.contains(&text) {
                continue;
            }
            seen.insert(text.clone());
            let url = if home.has(&text) { None } else { Some(Url::parse(&text)) };
            if matches!(url, Some(Err(_))) {
                continue;
            }
            let url = url.and_then(Result::ok);
            summary.found += 1;
            let reason = if url.as_ref().is_some_and(|url| !strategy.admits(&page.page().url, url)) {
                RefusedReason::Scope
            } else if !patterns.admit(&text) {
                RefusedReason::Filter
            } else if origin.too_deep() {
                RefusedReason::Depth
            } else if origin.too_long(&text) {
                RefusedReason::TooLong
            } else {
                candidates.extend(Candidate::new(text, url));
                continue;
            };
            refused.push(reason);
        }
        let keys: Vec<UniqueKey> = candidates.iter().map(|candidate| candidate.key).collect();
        let depth = origin.depth();
        let standings = self.standing(&keys, depth).await?;
        let present = self.present()?;
        present.draft.make_room(standings.iter().filter(|standing| **standing != KeyStanding::Settled).count());
        for (candidate, standing) in candidates.into_iter().zip(standings) {
            let already_known = standing.is_known() || present.draft.has(&candidate.key);
            summary.already_known += u32::from(already_known);
            let over = options.limit.is_some_and(|limit| summary.enqueued >= limit) || present.draft.requests_left() == 0;
            if standing == KeyStanding::Settled || (already_known && present.draft.requests_left() == 0) {
                continue;
            }
            if !already_known && over {
                refused.push(RefusedReason::Limit);
                continue;
            }
            let key = candidate.key;
            let Some(url) = candidate.into_url() else {
                refused.push(RefusedReason::BadUrl);
                continue;
            };
            let mut request = Origin::of(&present.call, present.event.as_deref()).request(url, spec.clone(), key);
            request.label.clone_from(&options.label);
            (request.priority, request.place) = (options.priority, place);
            present.draft.enqueue(request)?;
            summary.enqueued += u32::from(!already_known);
        }
        summary.refused = u32::try_from(refused.len()).unwrap_or(u32::MAX);
        refused.into_iter().for_each(|reason| present.draft.refuse(reason));
        Ok(summary)
    }

    async fn lookup(&mut self, urls: Vec<String>) -> Result<Vec<Option<queue::RequestStatus>>, Fault> {
        self.check_time()?;
        let present = self.present()?;
        if urls.len() > MOST_LOOKUPS {
            return Err(Fault::quota(format!("{} URLs are looked up at once, and {MOST_LOOKUPS} are allowed", urls.len())));
        }
        let origin = Origin::of(&present.call, present.event.as_deref());
        let keys: Vec<Option<UniqueKey>> =
            urls.iter().map(|url| origin.target(url).ok().map(|url| UniqueKey::of(&url, Method::Get, None))).collect();
        let asked: Vec<UniqueKey> = keys.iter().flatten().copied().collect();
        let reads = present.call.reads.clone();
        let mut found = self.wait(reads.lookup(&asked)).await?.into_iter();
        Ok(keys.into_iter().map(|key| key.and_then(|_| found.next().flatten()).map(status)).collect())
    }
}

impl Inside {
    /// What the queue knows of requests that are found at this depth. A store that answers short is read as "new": the commit decides.
    async fn standing(&mut self, keys: &[UniqueKey], depth: u32) -> Result<Vec<KeyStanding>, Fault> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let reads = self.present()?.call.reads.clone();
        let mut standings = self.wait(reads.standing(keys, depth)).await?;
        standings.resize(keys.len(), KeyStanding::New);
        Ok(standings)
    }
}

/// Where a page is: what begins like it and goes on with a path is on the same origin, so that every strategy admits it, unparsed.
struct Home<'a>(&'a str);

impl<'a> Home<'a> {
    fn of(page: &'a Url) -> Self {
        Self(&page[..Position::BeforePath])
    }

    fn has(&self, url: &str) -> bool {
        url.strip_prefix(self.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// A link that may be enqueued.
struct Candidate {
    key: UniqueKey,
    /// As the URL parser writes it.
    text: String,
    /// If it had to be parsed.
    url: Option<Url>,
}

impl Candidate {
    /// `None` for what is no URL.
    fn new(text: String, url: Option<Url>) -> Option<Self> {
        if let Some(key) = UniqueKey::of_serialised(&text) {
            return Some(Self { key, text, url });
        }
        let url = url.or_else(|| Url::parse(&text).ok())?;
        Some(Self { key: UniqueKey::of(&url, Method::Get, None), text, url: Some(url) })
    }

    fn into_url(self) -> Option<Url> {
        self.url.or_else(|| Url::parse(&self.text).ok())
    }
}

const fn strategy(strategy: queue::Strategy) -> Strategy {
    match strategy {
        queue::Strategy::All => Strategy::All,
        queue::Strategy::SameDomain => Strategy::SameDomain,
        queue::Strategy::SameHostname => Strategy::SameHostname,
        queue::Strategy::SameOrigin => Strategy::SameOrigin,
    }
}

fn status(status: nephila_model::RequestStatus) -> queue::RequestStatus {
    queue::RequestStatus {
        state: match status.state {
            RequestState::Pending => queue::RequestState::Pending,
            RequestState::Handled => queue::RequestState::Handled,
            RequestState::Failed => queue::RequestState::Failed,
            RequestState::Skipped => queue::RequestState::Skipped,
        },
        final_url: status.final_url,
        reason: status.reason,
        status: status.status,
    }
}
