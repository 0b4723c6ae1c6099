//! A model of the store in plain maps: the oracle of the random walk.
//!
//! Decision: it says what must happen and nothing of how; it looks through everything it has for every question. Nothing of it is shared
//! with a store, but for what `nephila-model` says of a single state operation.

use crate::{Counts, CrawlOrder, SiteOrder};
use nephila_model::{
    AppliedVerdict, CommitLimits, CommitResult, CookieChange, CookieKey, Counter, DatasetName, Effects, NewRequest, Outcome,
    Place, Rejection, RequestState, SessionDelta, SessionId, SessionRecord, Shard, SiteKey, StateRead, StateVersion, Subject,
    Timestamp, UniqueKey, Verdict, apply,
};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// The limit of a state value, as [`super::given::spec`] sets it.
const STATE_LIMIT: usize = 1_000;

/// A request.
#[derive(Debug, Clone)]
pub struct Row {
    pub key: UniqueKey,
    pub site: SiteKey,
    pub url: Url,
    pub label: Option<String>,
    pub order: (i32, i64),
    pub not_before: Option<i64>,
    pub retries: u32,
    pub depth: u32,
    pub state: RequestState,
    pub reason: Option<String>,
}

impl Row {
    pub fn is_ready(&self) -> bool {
        self.state == RequestState::Pending && self.not_before.is_none()
    }
}

/// What an outcome must come to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Applied {
        verdict: AppliedVerdict,
        /// With their depths.
        accepted: Vec<(UniqueKey, u32)>,
        /// The row of each, and its depth.
        shallower: BTreeMap<i64, u32>,
        moved: Option<SiteKey>,
        items: u64,
        default_items: u64,
    },
    Rejected(&'static str),
}

impl Answer {
    /// What it did come to.
    pub fn of(result: &CommitResult) -> Self {
        match result {
            Ok(applied) => Self::Applied {
                verdict: applied.verdict.clone(),
                accepted: applied.accepted.iter().map(|request| (request.unique_key, request.depth)).collect(),
                shallower: applied.shallower.iter().map(|row| (row.request.0, row.depth)).collect::<BTreeMap<_, _>>(),
                moved: applied.moved.as_ref().map(|request| SiteKey::of(&request.url, nephila_model::SiteBy::Hostname)),
                items: applied.items,
                default_items: applied.default_items,
            },
            Err(Rejection::Stale { .. }) => Self::Rejected("stale"),
            Err(Rejection::Decided) => Self::Rejected("decided"),
            Err(Rejection::Deferred) => Self::Rejected("deferred"),
            Err(Rejection::StateConflict { .. } | Rejection::SessionTaken { .. }) => Self::Rejected("conflict"),
            Err(Rejection::State(_)) => Self::Rejected("state"),
            Err(Rejection::Engine(_)) => Self::Rejected("engine"),
        }
    }
}

/// The store, one crawl in it.
#[derive(Debug, Default)]
pub struct Model {
    pub epoch: i64,
    pub order: CrawlOrder,
    /// By id: the first has 1.
    pub rows: Vec<Row>,
    pub sites: Vec<SiteKey>,
    pub turns: BTreeMap<SiteKey, i64>,
    pub turn: i64,
    pub counters: BTreeMap<Counter, i64>,
    pub items: Vec<(DatasetName, String)>,
    pub state: BTreeMap<String, (String, StateVersion)>,
    pub last_version: i64,
    pub listing: i64,
    pub finish_done: bool,
    pub finals: BTreeSet<(String, UniqueKey)>,
    /// Without their cookies.
    pub sessions: BTreeMap<SessionId, SessionRecord>,
    pub cookies: BTreeMap<(SessionId, CookieKey), CookieChange>,
}

impl Model {
    pub fn commit(&mut self, outcome: &Outcome, limits: CommitLimits) -> Answer {
        match self.refusal(outcome, limits) {
            Some(why) => {
                // The use has happened all the same.
                if let Some(delta) = outcome.session.as_ref().filter(|_| why == "deferred") {
                    let SessionDelta { pool, session, number, mark, retired, .. } = delta.clone();
                    self.use_session(&SessionDelta { mark, retired, ..SessionDelta::of_use(pool, session, number) });
                }
                return Answer::Rejected(why);
            }
            None => self.turn += i64::from(matches!(outcome.subject, Subject::Request(_))),
        }
        let mut verdict = AppliedVerdict::AsGiven;
        let (mut accepted, mut shallower, mut moved) = (Vec::new(), BTreeMap::new(), None);
        let (mut items, mut default_items) = (0, 0);
        for (counter, by) in outcome.stats.iter() {
            self.count(counter.clone(), by);
        }
        let mut with_effects = true;
        if let Subject::Request(id) = outcome.subject {
            let at = usize::try_from(id.0 - 1).expect("an id");
            let site = self.rows[at].site.clone();
            self.turns.insert(site, self.turn);
            self.rows[at].not_before = None;
            let (retries, key) = (self.rows[at].retries, self.rows[at].key);
            match outcome.verdict.as_ref().expect("a verdict") {
                Verdict::Handled { final_key, .. } => {
                    let label = self.rows[at].label.clone().unwrap_or_default();
                    if self.finals.insert((label, *final_key)) {
                        self.end(at, RequestState::Handled, None);
                        self.count(Counter::Finished, 1);
                        self.count(Counter::EndedAfterRetries(retries), 1);
                    } else {
                        verdict = AppliedVerdict::DuplicateRedirect;
                        with_effects = false;
                        self.end(at, RequestState::Skipped, Some("duplicate-redirect"));
                        self.count(Counter::Skipped("duplicate-redirect".into()), 1);
                    }
                }
                Verdict::Failed { reason, .. } => {
                    self.end(at, RequestState::Failed, Some(reason.code.as_str()));
                    self.count(Counter::Failed, 1);
                    self.count(Counter::EndedAfterRetries(retries), 1);
                    self.count(Counter::Error(reason.code.as_str().into()), 1);
                }
                Verdict::Skipped { reason, .. } => {
                    with_effects = false;
                    self.end(at, RequestState::Skipped, Some(reason.code()));
                    self.count(Counter::Skipped(reason.code().into()), 1);
                }
                Verdict::Retry { not_before, reason } => {
                    with_effects = false;
                    self.rows[at].not_before = Some(not_before.as_millis());
                    self.rows[at].retries += 1;
                    self.count(Counter::Retries, 1);
                    self.count(Counter::Error(reason.code.as_str().into()), 1);
                }
                Verdict::Moved { url, site, not_before, .. } => {
                    with_effects = false;
                    self.know(site);
                    (self.rows[at].url, self.rows[at].site) = (url.clone(), site.clone());
                    self.rows[at].not_before = not_before.map(Timestamp::as_millis);
                    moved = not_before.is_none().then(|| site.clone());
                }
            }
            debug_assert_eq!(key, self.rows[at].key);
        }
        if let Some(delta) = &outcome.session {
            self.use_session(delta);
        }
        if verdict == AppliedVerdict::AsGiven {
            for (reason, times) in &outcome.effects.refused {
                self.count(Counter::Refused(reason.code().into()), i64::from(*times));
            }
        }
        if with_effects {
            self.finish_done |= outcome.subject == Subject::Finish;
            let (before, old) = (self.rows.len(), self.rows.iter().map(|row| row.depth).collect::<Vec<_>>());
            outcome.effects.requests.iter().for_each(|new| self.accept(new));
            accepted = self.rows[before..].iter().map(|row| (row.key, row.depth)).collect();
            shallower = (1..)
                .zip(old)
                .zip(&self.rows)
                .filter(|((_, old), row)| row.depth < *old)
                .map(|((id, _), row)| (id, row.depth))
                .collect();
            items = self.push(&outcome.effects);
            default_items = of_default(&outcome.effects);
            let (state, changed) = self.changed_state(&outcome.effects).expect("it was asked before");
            self.write(state, &changed);
        }
        Answer::Applied { verdict, accepted, shallower, moved, items, default_items }
    }

    fn refusal(&self, outcome: &Outcome, limits: CommitLimits) -> Option<&'static str> {
        if outcome.lease.epoch.0 != self.epoch {
            return Some("stale");
        }
        let mut writes = true;
        match outcome.subject {
            Subject::Request(id) => {
                let row = &self.rows[usize::try_from(id.0 - 1).expect("an id")];
                if row.state != RequestState::Pending || row.site.shard() != outcome.lease.shard {
                    return Some("decided");
                }
                writes = match &outcome.verdict {
                    Some(Verdict::Handled { final_key, .. }) => {
                        !self.finals.contains(&(row.label.clone().unwrap_or_default(), *final_key))
                    }
                    Some(Verdict::Failed { .. }) => true,
                    _ => false,
                };
            }
            Subject::Finish | Subject::Crawl | Subject::Event(_) if outcome.lease.shard != Shard::CRAWL => return Some("engine"),
            Subject::Finish if self.finish_done => return Some("decided"),
            Subject::Finish | Subject::Crawl | Subject::Event(_) => {}
        }
        let reached = |limit: Option<u64>, count: i64| limit.is_some_and(|limit| count >= i64::try_from(limit).expect("a limit"));
        let ended = self.counter(&Counter::Finished) + self.counter(&Counter::Failed);
        let full = reached(limits.max_items, self.counter(&Counter::Items)) || reached(limits.max_requests, ended);
        if full && outcome.subject != Subject::Crawl {
            return Some("deferred");
        }
        for read in &outcome.effects.state_reads {
            let holds = match read {
                StateRead::Key { key, version } => self.state.get(key).map_or(0, |(_, version)| version.0) == version.0,
                StateRead::Listing { version } => self.listing == version.0,
                // Nothing writes records here.
                StateRead::Record { value, .. } => value.is_none(),
            };
            if !holds {
                return Some("conflict");
            }
        }
        (writes && self.changed_state(&outcome.effects).is_none()).then_some("state")
    }

    fn use_session(&mut self, delta: &SessionDelta) {
        let Some(session) = self.sessions.get_mut(&delta.session) else { return };
        session.apply(delta);
        for change in &delta.cookies {
            let there = self.cookies.entry((delta.session.clone(), change.key().clone())).or_insert_with(|| change.clone());
            if there.version < change.version {
                *there = change.clone();
            }
        }
    }

    /// A session with its cookies.
    pub fn session(&self, id: &SessionId) -> SessionRecord {
        let cookies = self.cookies.iter().filter(|((of, _), _)| of == id).map(|(_, change)| change.clone()).collect();
        SessionRecord { cookies, ..self.sessions[id].clone() }
    }

    pub fn counter(&self, counter: &Counter) -> i64 {
        self.counters.get(counter).copied().unwrap_or(0)
    }

    fn count(&mut self, counter: Counter, by: i64) {
        *self.counters.entry(counter).or_default() += by;
    }

    fn end(&mut self, at: usize, state: RequestState, reason: Option<&str>) {
        self.rows[at].state = state;
        self.rows[at].reason = reason.map(str::to_owned);
    }

    fn know(&mut self, site: &SiteKey) {
        if !self.sites.contains(site) {
            self.sites.push(site.clone());
        }
    }

    fn accept(&mut self, new: &NewRequest) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.key == new.unique_key) {
            if row.state == RequestState::Pending {
                row.depth = row.depth.min(new.depth);
            }
            return;
        }
        self.know(&new.site);
        let id = i64::try_from(self.rows.len()).expect("a number") + 1;
        let rank = match (new.place, self.order) {
            (Place::Forefront, _) => i64::MIN / 4 - id,
            (Place::Queue, CrawlOrder::Fifo) => id,
            (Place::Queue, CrawlOrder::Lifo) => -id,
        };
        self.rows.push(Row {
            key: new.unique_key,
            site: new.site.clone(),
            url: new.url.clone(),
            label: new.label.clone(),
            order: (-new.priority, rank),
            not_before: None,
            retries: 0,
            depth: new.depth,
            state: RequestState::Pending,
            reason: None,
        });
        self.count(Counter::Requests, 1);
    }

    fn push(&mut self, effects: &Effects) -> u64 {
        for item in &effects.items {
            self.items.push((item.dataset.clone(), item.json.clone()));
            self.count(
                match &item.dataset {
                    DatasetName::Default => Counter::Items,
                    DatasetName::Named(name) => Counter::ItemsOf(name.clone()),
                },
                1,
            );
        }
        u64::try_from(effects.items.len()).expect("a number")
    }

    // The whole map afterwards, and the keys whose values are others; `None` if an operation does not fit.
    fn changed_state(&self, effects: &Effects) -> Option<(BTreeMap<String, String>, Vec<String>)> {
        let before: BTreeMap<String, String> = self.state.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect();
        let mut after = before.clone();
        for op in &effects.state_ops {
            match apply(after.get(op.key()).map(String::as_str), op, STATE_LIMIT).ok()? {
                Some(value) => after.insert(op.key().to_owned(), value),
                None => after.remove(op.key()),
            };
        }
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).cloned().collect();
        Some((after, changed))
    }

    fn write(&mut self, mut after: BTreeMap<String, String>, changed: &[String]) {
        if changed.is_empty() {
            return;
        }
        self.last_version += 1;
        if !self.state.keys().eq(after.keys()) {
            self.listing = self.last_version;
        }
        for key in changed {
            match after.remove(key) {
                Some(value) => self.state.insert(key.clone(), (value, StateVersion(self.last_version))),
                None => self.state.remove(key),
            };
        }
    }

    /// Makes due requests ready, the earliest first.
    pub fn wake(&mut self, now: i64, limit: usize) {
        let mut due: Vec<(i64, usize)> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            due.extend(row.not_before.filter(|time| *time <= now && row.state == RequestState::Pending).map(|time| (time, at)));
        }
        due.sort_unstable();
        for (_, at) in due.into_iter().take(limit) {
            self.rows[at].not_before = None;
        }
    }

    /// The ready requests of a site, in order.
    pub fn queue(&self, site: &SiteKey) -> Vec<&Row> {
        let mut queue: Vec<&Row> = self.rows.iter().filter(|row| row.is_ready() && row.site == *site).collect();
        queue.sort_by_key(|row| row.order);
        queue
    }

    /// Sites with ready requests, in order.
    pub fn ready(&self, order: SiteOrder) -> Vec<SiteKey> {
        let mut ready: Vec<(i32, i64, usize)> = Vec::new();
        for (at, site) in self.sites.iter().enumerate() {
            if let Some(head) = self.queue(site).first() {
                let priority = if order == SiteOrder::ByHead { head.order.0 } else { 0 };
                ready.push((priority, self.turns.get(site).copied().unwrap_or(0), at));
            }
        }
        ready.sort_unstable();
        ready.into_iter().map(|(_, _, at)| self.sites[at].clone()).collect()
    }

    /// How many requests stand where: counted, row by row.
    pub fn counts(&self) -> Counts {
        let of = |state| u64::try_from(self.rows.iter().filter(|row| row.state == state).count()).expect("a number");
        Counts {
            pending: of(RequestState::Pending),
            handled: of(RequestState::Handled),
            failed: of(RequestState::Failed),
            skipped: of(RequestState::Skipped),
        }
    }
}

fn of_default(effects: &Effects) -> u64 {
    let own = effects.items.iter().filter(|item| item.dataset == DatasetName::Default);
    u64::try_from(own.count()).expect("a number")
}
