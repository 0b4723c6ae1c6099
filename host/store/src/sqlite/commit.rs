//! The commit: a group of outcomes in one transaction, each of them whole or not at all (S3).
//!
//! Decision: an outcome is first *checked*, which only reads, and then *applied*. What can refuse an outcome (its lease, its subject, a limit,
//! what it saw of the state, what it would do to it) is asked in the check, so that nothing has to be undone but when the engine itself refuses
//! a value, which is as good as never. So a group is applied without savepoints, each of which would copy every page that its outcome
//! touches; if the engine does refuse something, all of the group is undone, and done once more with a savepoint for each
//! outcome ([`Guard`]). What a group counts, and what it does to sites, is added up and written once at its end.

use super::check::{Checked, Deed};
use super::datasets::Origin;
use super::errors::Happened;
use super::known::Fact;
use super::notes::Notes;
use super::requests::Subject;
use super::sites::Touched;
use super::trouble::Done;
use super::{counters, crawls, errors, events, requests, session_endings, sessions};
use crate::ErrorsOf;
use nephila_model::{
    Applied, AppliedVerdict, CommitLimits, CommitResult, Counter, CrawlId, EventId, FailureReason, Group, Heard, KvValue,
    Outcome, Rejection, RequestId, SessionDelta, SkipReason, StatsDelta, Subject as Decides, Timestamp, UniqueKey, Verdict,
};
use rusqlite::Connection;
use std::collections::HashSet;
use url::Url;

/// What becomes of a group of which the engine refuses a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The group is refused ([`super::trouble::Trouble::refused_value`]), and its transaction must be undone.
    None,
    /// The outcome with the value is refused, and the rest stands.
    EachOutcome,
}

/// Commits a group inside the transaction of `connection`.
pub(crate) fn group(
    connection: &Connection,
    notes: &mut Notes,
    crawl: CrawlId,
    group: &Group,
    guard: Guard,
) -> Done<Vec<CommitResult>> {
    let mut commit = Commit::begin(connection, notes, crawl, group.limits, guard)?;
    let results = group.outcomes.iter().map(|outcome| commit.outcome(outcome)).collect::<Done<_>>()?;
    commit.end()?;
    Ok(results)
}

/// A group on its way.
pub(super) struct Commit<'a> {
    pub(super) connection: &'a Connection,
    pub(super) notes: &'a mut Notes,
    guard: Guard,
    /// Keys that this transaction has accepted: no note of them is taken before it is committed.
    pub(super) fresh: HashSet<UniqueKey>,
    pub(super) crawl: crawls::Standing,
    pub(super) limits: CommitLimits,
    pub(super) items: u64,
    pub(super) ended: u64,
    pub(super) last_id: i64,
    turn: i64,
    pub(super) now: Timestamp,
    stats: StatsDelta,
    touched: Touched,
}

/// What one outcome counts and touches; forgotten if the outcome is rolled back.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) stats: StatsDelta,
    pub(super) touched: Touched,
    pub(super) accepted: i64,
    pub(super) items: u64,
    pub(super) fresh: Vec<UniqueKey>,
    learnt: Vec<Fact>,
    ended: u64,
}

impl<'a> Commit<'a> {
    fn begin(connection: &'a Connection, notes: &'a mut Notes, crawl: CrawlId, limits: CommitLimits, guard: Guard) -> Done<Self> {
        let count = |counter| counters::get(connection, crawl, &counter);
        let crawl_row = crawls::standing(connection, crawl)?;
        Ok(Self {
            connection,
            notes,
            guard,
            fresh: HashSet::new(),
            limits,
            items: if limits.max_items.is_some() { count(Counter::Items)? } else { 0 },
            ended: if limits.max_requests.is_some() { count(Counter::Finished)? + count(Counter::Failed)? } else { 0 },
            last_id: requests::last_id(connection)?,
            turn: crawl_row.turn,
            now: Timestamp::now(),
            crawl: crawl_row,
            stats: StatsDelta::default(),
            touched: Touched::default(),
        })
    }

    fn end(self) -> Done<()> {
        counters::add(self.connection, self.crawl.id, &self.stats)?;
        self.touched.settle(self.connection)?;
        if self.turn != self.crawl.turn {
            crawls::set_turn(self.connection, self.crawl.id, self.turn)?;
        }
        Ok(())
    }

    fn outcome(&mut self, outcome: &Outcome) -> Done<CommitResult> {
        let checked = match self.check(outcome)? {
            Ok(checked) => checked,
            Err(rejection) => {
                if rejection == Rejection::Deferred {
                    self.use_session_alone(outcome)?;
                }
                return Ok(Err(rejection));
            }
        };
        let mut change = Change::default();
        if self.guard == Guard::None {
            let applied = self.apply(outcome, checked, &mut change)?;
            self.absorb(change, outcome);
            return Ok(Ok(applied));
        }
        self.run("SAVEPOINT outcome")?;
        match self.apply(outcome, checked, &mut change) {
            Ok(applied) => {
                self.run("RELEASE outcome")?;
                self.absorb(change, outcome);
                Ok(Ok(applied))
            }
            Err(trouble) => {
                let Some(words) = trouble.refused_value() else { return Err(trouble) };
                self.run("ROLLBACK TO outcome")?;
                self.run("RELEASE outcome")?;
                // Some of the sites may never have been, and what was accepted was not.
                self.notes.sites.clear();
                for key in change.fresh {
                    self.fresh.remove(&key);
                }
                Ok(Err(Rejection::Engine(words)))
            }
        }
    }

    // What the engine refuses of it, refuses nothing else of the group: whoever was told `Deferred` does not ask again, and the use counts
    // when the pool is opened next.
    fn use_session_alone(&self, outcome: &Outcome) -> Done<()> {
        if self.guard == Guard::None {
            return self.use_session(outcome);
        }
        self.run("SAVEPOINT outcome")?;
        if let Err(trouble) = self.use_session(outcome) {
            if trouble.refused_value().is_none() {
                return Err(trouble);
            }
            self.run("ROLLBACK TO outcome")?;
        }
        self.run("RELEASE outcome")
    }

    // The attempt comes again and nothing of it is kept, but that its session has been used is true.
    fn use_session(&self, outcome: &Outcome) -> Done<()> {
        let Some(SessionDelta { pool, session, number, mark, retired, .. }) = &outcome.session else { return Ok(()) };
        let delta = SessionDelta { mark: *mark, retired: *retired, ..SessionDelta::of_use(*pool, session.clone(), *number) };
        match sessions::plan(self.connection, self.crawl.id, &delta, self.now)? {
            sessions::Found::Here(plan) => self.write_session(&plan, &delta).map(drop),
            sessions::Found::Gone | sessions::Found::NotOurs => Ok(()),
        }
    }

    // Says how many events came of it: that the session is over, if so, is told with what ended it.
    fn write_session(&self, plan: &sessions::Plan, delta: &SessionDelta) -> Done<u64> {
        plan.write(self.connection, delta)?;
        if plan.ends() { session_endings::tell(self.connection, &self.crawl, [delta.session.as_str()]) } else { Ok(0) }
    }

    fn run(&self, sql: &str) -> Done<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn absorb(&mut self, change: Change, outcome: &Outcome) {
        self.stats.merge(&change.stats);
        self.touched.merge(change.touched);
        self.notes.learnt.extend(change.learnt);
        self.last_id += change.accepted;
        self.items += change.items;
        self.ended += change.ended;
        self.turn += i64::from(matches!(outcome.subject, Decides::Request(_)));
        self.crawl.finish_done |= outcome.subject == Decides::Finish;
    }

    fn apply(&mut self, outcome: &Outcome, checked: Checked<'_>, change: &mut Change) -> Done<Applied> {
        let mut applied = Applied {
            verdict: AppliedVerdict::AsGiven,
            accepted: Vec::new(),
            shallower: Vec::new(),
            moved: None,
            items: 0,
            default_items: 0,
            events: 0,
            session_ended: None,
            sessions: Vec::new(),
        };
        let Checked { deed, state, session } = checked;
        count_what_the_caller_knows(&outcome.stats, &deed, &mut change.stats);
        if !matches!(deed, Deed::SkipDuplicate(..)) {
            for (reason, times) in &outcome.effects.refused {
                change.stats.add(Counter::Refused(reason.code().to_owned()), i64::from(*times));
            }
        }
        match deed {
            Deed::Crawl => self.effects(&outcome.effects, Origin::Finish, &state, change, &mut applied)?,
            Deed::Finish => {
                crawls::finish(self.connection, self.crawl.id)?;
                self.effects(&outcome.effects, Origin::Finish, &state, change, &mut applied)?;
            }
            Deed::Event(heard) => {
                let event = match heard {
                    Heard::Stored(event) => event,
                    // Only an item needs the number.
                    Heard::Passing if outcome.effects.items.is_empty() => EventId(0),
                    Heard::Passing => events::passing(self.connection, self.crawl.id, self.now)?,
                };
                self.effects(&outcome.effects, Origin::Event(event), &state, change, &mut applied)?;
                if matches!(heard, Heard::Stored(_)) {
                    events::heard(self.connection, event)?;
                }
            }
            Deed::Decide(subject, verdict) => {
                self.serve(&subject, outcome, change)?;
                self.decide(&subject, verdict, outcome.effects.error_snapshot.as_ref(), change, &mut applied)?;
                let origin_key = match verdict {
                    Verdict::Handled { final_key, .. } => Some(*final_key),
                    Verdict::Failed { .. } => Some(subject.key),
                    Verdict::Retry { .. } | Verdict::Skipped { .. } | Verdict::Moved { .. } => None,
                };
                if let Some(key) = origin_key {
                    let origin = Origin::Request(subject.label.as_deref(), key);
                    self.effects(&outcome.effects, origin, &state, change, &mut applied)?;
                }
            }
            Deed::SkipDuplicate(subject, final_url) => {
                self.serve(&subject, outcome, change)?;
                self.skip(subject.id, SkipReason::DuplicateRedirect.code(), Some(final_url), change)?;
                applied.verdict = AppliedVerdict::DuplicateRedirect;
            }
        }
        // Whatever the verdict: the use has happened.
        if let (Some(session), Some(delta)) = (session, &outcome.session) {
            applied.events += self.write_session(&session, delta)?;
            applied.session_ended = session.ended();
        }
        Ok(applied)
    }

    // What every verdict does: the request leaves the ready ones, its site has had its turn, and it is no suspect any more.
    fn serve(&self, subject: &Subject, outcome: &Outcome, change: &mut Change) -> Done<()> {
        change.touched.changed(subject.site);
        change.touched.served(subject.site, self.turn + 1, outcome.site_next_allowed);
        if self.crawl.suspect == Some(subject.id.0) {
            crawls::clear_suspect(self.connection, self.crawl.id, subject.id)?;
        }
        Ok(())
    }

    fn decide(
        &mut self,
        subject: &Subject,
        verdict: &Verdict,
        page: Option<&KvValue>,
        change: &mut Change,
        applied: &mut Applied,
    ) -> Done<()> {
        match verdict {
            Verdict::Handled { final_key, final_url, status } => {
                requests::handle(self.connection, subject, final_key, final_url, *status)?;
                change.stats.add(Counter::Finished, 1);
                change.end_of(subject);
            }
            Verdict::Failed { reason, final_url } => {
                requests::fail(self.connection, subject.id, reason, final_url.as_ref())?;
                change.stats.add(Counter::Failed, 1);
                change.end_of(subject);
                self.error(ErrorsOf::FailedRequests, reason, &Happened::of(&subject.url, reason, page), change)?;
            }
            Verdict::Retry { not_before, reason } => {
                requests::retry(self.connection, subject.id, *not_before, reason)?;
                change.stats.add(Counter::Retries, 1);
                self.error(ErrorsOf::RetriedAttempts, reason, &Happened::of(&subject.url, reason, None), change)?;
            }
            Verdict::Skipped { reason, final_url } => self.skip(subject.id, reason.code(), final_url.as_ref(), change)?,
            Verdict::Moved { url, site, chain, spec, not_before } => {
                let row = self.notes.sites.row(self.connection, self.crawl.id, site)?;
                let request = requests::relocate(self.connection, subject, row, url, chain, spec, *not_before)?;
                // What waits for a time is woken with all others that do.
                if not_before.is_none() {
                    change.touched.gained(row, subject.position.priority);
                    applied.moved = Some(request);
                }
            }
        }
        Ok(())
    }

    fn skip(&self, id: RequestId, reason: &str, final_url: Option<&Url>, change: &mut Change) -> Done<()> {
        requests::skip(self.connection, id, reason, final_url)?;
        change.stats.add(Counter::Skipped(reason.to_owned()), 1);
        Ok(())
    }

    fn error(&self, of: ErrorsOf, reason: &FailureReason, error: &Happened<'_>, change: &mut Change) -> Done<()> {
        change.stats.add(Counter::Error(reason.code.as_str().to_owned()), 1);
        errors::add(self.connection, self.crawl.id, of, error)
    }
}

impl Change {
    /// A row with this key is on the disk once this is committed; if it waits, it does so at this depth or a lesser one.
    pub(super) fn learn(&mut self, crawl: CrawlId, key: UniqueKey, depth: u32) {
        self.learnt.push(Fact { crawl, key, depth: Some(depth) });
    }

    fn end_of(&mut self, subject: &Subject) {
        self.stats.add(Counter::EndedAfterRetries(subject.retry_count), 1);
        self.ended += 1;
    }
}

// What says how many requests stand where is counted here alone, so that the counts can never disagree with the rows.
fn count_what_the_caller_knows(from: &StatsDelta, deed: &Deed<'_>, to: &mut StatsDelta) {
    let is_skipped = matches!(deed, Deed::SkipDuplicate(..));
    for (counter, by) in from.iter() {
        match counter {
            Counter::Requests | Counter::Finished | Counter::Failed | Counter::Skipped(_) => {}
            // The caller took it for handled.
            Counter::FinishedMillis if is_skipped => to.add(Counter::OtherAttemptMillis, by),
            Counter::LeastFinishedMillis | Counter::MostFinishedMillis if is_skipped => {}
            _ => to.add(counter.clone(), by),
        }
    }
}
