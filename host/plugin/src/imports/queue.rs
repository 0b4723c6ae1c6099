//! `queue`: new requests, and what is known of old ones.
//!
//! Decision: whether a request is new is asked of the store once per batch; the answer is advice, the commit decides. A request
//! that was known already is sent along all the same (unless the crawl says otherwise), since it may have been found nearer.

use super::context::no_page;
use super::requests::{Origin, extra, user_data};
use crate::bindings::nephila::crawler::{queue, types};
use crate::fault::Fault;
use crate::page::links::links;
use crate::page::patterns::PatternTexts;
use crate::sandbox::Inside;
use nephila_model::{Method, NewRequest, Place, RefusedReason, RequestSpec, RequestState, Strategy, UniqueKey};
use std::collections::HashSet;

/// URLs of one lookup.
const MOST_LOOKUPS: usize = 10_000;

impl queue::Host for Inside {
    async fn enqueue(&mut self, asked: Vec<types::NewRequest>) -> Result<Vec<queue::Enqueued>, Fault> {
        self.check_time()?;
        let present = self.present()?;
        if asked.len() > present.draft.requests_left() {
            let allowed = present.call.settings.limits.requests;
            return Err(Fault::quota(format!("one call may enqueue {allowed} requests; enqueue the rest from another page")));
        }
        let first = present.call.settings.limits.requests - present.draft.requests_left();
        let origin = Origin::of(&present.call);
        let checked = asked
            .into_iter()
            .enumerate()
            .map(|(place, asked)| origin.check(asked, first + place))
            .collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<UniqueKey> = checked.iter().flatten().map(|request| request.unique_key).collect();
        let mut known = self.known(&keys).await?.into_iter();
        let present = self.present()?;
        let keep_known = present.call.settings.keep_known;
        let mut answers = Vec::with_capacity(checked.len());
        for checked in checked {
            answers.push(match checked {
                Err(reason) => {
                    present.draft.refuse(reason);
                    queue::Enqueued { unique_key: String::new(), already_known: false, refused: Some(reason.code().to_owned()) }
                }
                Ok(request) => {
                    let already_known = known.next().unwrap_or(false) || present.draft.has(&request.unique_key);
                    let unique_key = request.unique_key.to_string();
                    if !already_known || keep_known {
                        present.draft.enqueue(request)?;
                    }
                    queue::Enqueued { unique_key, already_known, refused: None }
                }
            });
        }
        Ok(answers)
    }

    async fn enqueue_links(&mut self, options: queue::LinkOptions) -> Result<queue::LinkSummary, Fault> {
        let page = self.present()?.call.page.clone().ok_or_else(no_page)?;
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
        let found = links(&page, options.selector.as_deref(), &shared.selectors, &watch)?;
        let present = self.present()?;
        let origin = Origin::of(&present.call);
        let (mut seen, mut candidates, mut refused) = (HashSet::new(), Vec::<NewRequest>::new(), Vec::new());
        for link in found {
            let mut url = link.url;
            url.set_fragment(None);
            if !watch.step() {
                watch.check("page-timeout", "enqueueing the links")?;
            }
            if !seen.insert(url.as_str().to_owned()) {
                continue;
            }
            summary.found += 1;
            let reason = if !strategy.admits(&page.page().url, &url) {
                RefusedReason::Scope
            } else if !patterns.admit(url.as_str()) {
                RefusedReason::Filter
            } else if origin.too_deep() {
                RefusedReason::Depth
            } else if origin.too_long(&url) {
                RefusedReason::TooLong
            } else {
                let key = UniqueKey::of(&url, Method::Get, None);
                let mut request = origin.request(url, spec.clone(), key);
                request.label.clone_from(&options.label);
                (request.priority, request.place) = (options.priority, place);
                candidates.push(request);
                continue;
            };
            refused.push(reason);
        }
        let keys: Vec<UniqueKey> = candidates.iter().map(|request| request.unique_key).collect();
        let known = self.known(&keys).await?;
        let present = self.present()?;
        let keep_known = present.call.settings.keep_known;
        for (request, known) in candidates.into_iter().zip(known) {
            let already_known = known || present.draft.has(&request.unique_key);
            let over = options.limit.is_some_and(|limit| summary.enqueued >= limit) || present.draft.requests_left() == 0;
            if already_known {
                summary.already_known += 1;
                if keep_known && present.draft.requests_left() > 0 {
                    present.draft.enqueue(request)?;
                }
            } else if over {
                refused.push(RefusedReason::Limit);
            } else {
                present.draft.enqueue(request)?;
                summary.enqueued += 1;
            }
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
        let origin = Origin::of(&present.call);
        let keys: Vec<Option<UniqueKey>> =
            urls.iter().map(|url| origin.target(url).ok().map(|url| UniqueKey::of(&url, Method::Get, None))).collect();
        let asked: Vec<UniqueKey> = keys.iter().flatten().copied().collect();
        let reads = present.call.reads.clone();
        let mut found = self.wait(reads.lookup(&asked)).await?.into_iter();
        Ok(keys.into_iter().map(|key| key.and_then(|_| found.next().flatten()).map(status)).collect())
    }
}

impl Inside {
    /// Which requests the queue knows. A store that answers short is read as "not known": the commit decides.
    async fn known(&mut self, keys: &[UniqueKey]) -> Result<Vec<bool>, Fault> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let reads = self.present()?.call.reads.clone();
        let mut known = self.wait(reads.known(keys)).await?;
        known.resize(keys.len(), false);
        Ok(known)
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
