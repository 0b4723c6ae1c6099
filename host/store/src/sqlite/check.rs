//! What may refuse an outcome, asked before anything of it is written.
//!
//! Decision: the order of the checks is the order in which [`Rejection`] lists them: whoever lost the lease learns nothing else. What is
//! found out here is handed on, so that to apply an outcome asks nothing again.

use super::commit::Commit;
use super::requests::Subject;
use super::trouble::Done;
use super::{events, requests, sessions, state};
use nephila_model::{AddedSession, Heard, Outcome, Rejection, Shard, Subject as Decides, Verdict};
use url::Url;

/// An outcome that may be applied.
pub(super) struct Checked<'a> {
    pub(super) deed: Deed<'a>,
    pub(super) state: state::Plan,
    /// What the attempt's session comes to; `None` if it used none, or one that is there no more.
    pub(super) session: Option<sessions::Plan>,
}

/// What it does.
pub(super) enum Deed<'a> {
    /// The crawl as a whole wants something done.
    Crawl,
    /// The finish of the crawl.
    Finish,
    /// A listener has heard an event.
    Event(Heard),
    /// Something becomes of a request.
    Decide(Subject, &'a Verdict),
    /// It was handled, but its page has been handled under another address.
    SkipDuplicate(Subject, &'a Url),
}

impl Commit<'_> {
    /// What it comes to, if nothing refuses it. Reads alone.
    pub(super) fn check<'o>(&self, outcome: &'o Outcome) -> Done<Result<Checked<'o>, Rejection>> {
        let lease = outcome.lease;
        if lease.epoch != self.crawl.epoch {
            let (held, current) = (lease.epoch.0, self.crawl.epoch.0);
            return Ok(Err(Rejection::Stale { shard: lease.shard.number(), held, current }));
        }
        let mut deed = match (outcome.subject, &outcome.verdict) {
            (Decides::Finish | Decides::Crawl | Decides::Event(_), Some(_)) => {
                return Ok(Err(malformed("only a request has a verdict")));
            }
            (Decides::Finish | Decides::Crawl | Decides::Event(_), None) if lease.shard != Shard::CRAWL => {
                return Ok(Err(malformed("the crawl's own outcomes need the lease on the crawl itself")));
            }
            // It may come often, and nothing would tell the items of one time from those of another.
            (Decides::Crawl, None) if !outcome.effects.items.is_empty() => return Ok(Err(malformed("an item needs a page"))),
            (Decides::Crawl, None) => Deed::Crawl,
            (Decides::Finish, None) => Deed::Finish,
            (Decides::Event(heard), None) => Deed::Event(heard),
            (Decides::Request(_), None) => return Ok(Err(malformed("a request needs a verdict"))),
            // A row that has moved to a site of another shard since is no longer this claim's.
            (Decides::Request(id), Some(verdict)) => match requests::pending(self.connection, self.crawl.id, id)? {
                Some(subject) if subject.shard == lease.shard.number() => Deed::Decide(subject, verdict),
                _ => return Ok(Err(Rejection::Decided)),
            },
        };
        if matches!(deed, Deed::Finish) && self.crawl.finish_done {
            return Ok(Err(Rejection::Decided));
        }
        if let Deed::Event(Heard::Stored(event)) = deed
            && !events::waits(self.connection, self.crawl.id, event)?
        {
            return Ok(Err(Rejection::Decided));
        }
        let reached = |limit: Option<u64>, count| limit.is_some_and(|limit| count >= limit);
        let full = reached(self.limits.max_items, self.items) || reached(self.limits.max_requests, self.ended);
        // The finish comes when nothing is left to defer, and an event would come again for ever.
        if full && !matches!(deed, Deed::Crawl | Deed::Finish | Deed::Event(_)) {
            return Ok(Err(Rejection::Deferred));
        }
        let (crawler, effects) = (self.crawl.crawler_id.as_str(), &outcome.effects);
        if let Some(what) = state::changed_since(self.connection, (self.crawl.id, crawler), &effects.state_reads)? {
            return Ok(Err(Rejection::StateConflict { what }));
        }
        if let Deed::Decide(subject, Verdict::Handled { final_key, final_url, .. }) = deed {
            let taken = requests::final_taken_before(self.connection, self.crawl.id, &subject, final_key)?;
            deed = match &outcome.verdict {
                Some(verdict) if !taken => Deed::Decide(subject, verdict),
                _ => Deed::SkipDuplicate(subject, final_url),
            };
        }
        let (writes, added) = match deed {
            Deed::Crawl | Deed::Finish | Deed::Event(_) | Deed::Decide(_, Verdict::Handled { .. } | Verdict::Failed { .. }) => {
                (effects.state_ops.as_slice(), effects.sessions.as_slice())
            }
            _ => (&[][..], &[][..]),
        };
        if let Some(rejection) = self.refuses(added)? {
            return Ok(Err(rejection));
        }
        let state = match state::plan(self.connection, crawler, writes, self.crawl.max_state_value)? {
            Ok(state) => state,
            Err(error) => return Ok(Err(Rejection::State(error))),
        };
        let session = match &outcome.session {
            None => None,
            Some(delta) => match sessions::plan(self.connection, self.crawl.id, delta, self.now)? {
                sessions::Found::Here(plan) => Some(*plan),
                sessions::Found::Gone => None,
                sessions::Found::NotOurs => return Ok(Err(malformed("the session is of a pool that is not this crawl's"))),
            },
        };
        Ok(Ok(Checked { deed, state, session }))
    }

    // Why sessions cannot be added, if they cannot.
    fn refuses(&self, added: &[AddedSession]) -> Done<Option<Rejection>> {
        for (at, session) in added.iter().enumerate() {
            let id = &session.record.id;
            let is_twice = added[..at].iter().any(|other| other.pool == session.pool && other.record.id == *id);
            match sessions::look(self.connection, self.crawl.id, session)? {
                sessions::Addition::NotOurs => {
                    return Ok(Some(malformed("a session is added to a pool that is not this crawl's")));
                }
                sessions::Addition::Possible if !is_twice => {}
                _ => return Ok(Some(Rejection::SessionTaken { id: id.clone() })),
            }
        }
        Ok(None)
    }
}

fn malformed(words: &str) -> Rejection {
    Rejection::Engine(words.to_owned())
}
