//! Short words for the tests: a crawl in a store, pages, and outcomes.

use super::Fixture;
use crate::{Company, CrawlEnding, CrawlOrder, CrawlSpec, InHand, Leases, OpenedCrawl, SiteOrder, Store};
use nephila_model::{
    Applied, CommitLimits, CommitResult, Counter, CrawlId, CrawlerId, DatasetName, Effects, FailureCode, FailureReason, Group,
    ItemPush, Lease, NewRequest, Outcome, QueuedRequest, RequestStatus, Shard, SiteBy, SiteKey, StateOp, StatsDelta, Subject,
    Timestamp, Verdict,
};
use std::sync::Arc;
use url::Url;

pub fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

/// A plain request for a page of `a.example`, or of any site if a whole URL is given.
pub fn page(path: &str) -> NewRequest {
    let text = if path.contains("://") { path.to_owned() } else { format!("http://a.example/{path}") };
    NewRequest::get(url(&text), SiteBy::Hostname)
}

pub fn pages(paths: &[&str]) -> Effects {
    Effects { requests: paths.iter().map(|path| page(path)).collect(), ..Effects::default() }
}

pub fn items(texts: &[&str]) -> Effects {
    let item = |text: &&str| ItemPush { dataset: DatasetName::Default, json: format!("{{\"item\":\"{text}\"}}") };
    Effects { items: texts.iter().map(item).collect(), ..Effects::default() }
}

pub fn set(key: &str, value: &str) -> StateOp {
    StateOp::Set { key: key.to_owned(), value: value.to_owned() }
}

pub fn increment(key: &str, by: i64) -> StateOp {
    StateOp::Increment { key: key.to_owned(), by }
}

pub fn ops(ops: &[StateOp]) -> Effects {
    Effects { state_ops: ops.to_vec(), ..Effects::default() }
}

pub fn reason(code: &str) -> FailureReason {
    FailureReason { code: FailureCode(code.to_owned().into()), message: format!("{code} happened"), status: None }
}

pub fn retry_at(millis: i64) -> Verdict {
    Verdict::Retry { not_before: Timestamp::from_millis(millis), reason: reason("timeout") }
}

pub fn failed() -> Verdict {
    Verdict::Failed { reason: reason("fatal"), final_url: None }
}

pub fn ending(status: &str) -> CrawlEnding {
    CrawlEnding {
        status: status.to_owned(),
        reason: "finished".to_owned(),
        at: Timestamp::from_millis(7),
        in_hand: InHand::Finished,
    }
}

pub fn spec(crawler: &str) -> CrawlSpec {
    CrawlSpec {
        company: Company::Alone,
        crawler_id: CrawlerId::new(crawler).expect("an id"),
        plugin_name: "books".to_owned(),
        plugin_digest: "d1".to_owned(),
        site_by: SiteBy::Hostname,
        order: CrawlOrder::Fifo,
        max_state_value: 1_000,
    }
}

/// An opened crawl in a store.
pub struct Crawl {
    pub store: Arc<dyn Store>,
    pub spec: CrawlSpec,
    pub id: CrawlId,
    pub leases: Leases,
}

impl Crawl {
    /// A new crawl in a new store.
    pub async fn new(fixture: &dyn Fixture) -> Self {
        Self::open(fixture.open().await, spec("main")).await
    }

    /// A crawl in a store.
    pub async fn open(store: Arc<dyn Store>, spec: CrawlSpec) -> Self {
        let opened = store.open_crawl(&spec).await.expect("opened");
        Self { store, spec, id: opened.record.id, leases: opened.leases }
    }

    /// Opens it again without having closed it, as after a kill.
    pub async fn again(&mut self) -> OpenedCrawl {
        let opened = self.store.open_crawl(&self.spec).await.expect("opened");
        self.leases = opened.leases.clone();
        opened
    }

    pub fn lease(&self, request: &QueuedRequest) -> Lease {
        self.leases.of(SiteKey::of(&request.url, self.spec.site_by).shard())
    }

    /// An outcome of the crawl itself.
    pub fn of_crawl(&self, effects: Effects) -> Outcome {
        let (lease, stats) = (self.leases.of(Shard::CRAWL), StatsDelta::default());
        Outcome { subject: Subject::Crawl, lease, verdict: None, effects, stats, site_next_allowed: None, session: None }
    }

    pub fn finish(&self, effects: Effects) -> Outcome {
        Outcome { subject: Subject::Finish, ..self.of_crawl(effects) }
    }

    pub fn outcome(&self, request: &QueuedRequest, verdict: Verdict, effects: Effects) -> Outcome {
        Outcome {
            subject: Subject::Request(request.id),
            lease: self.lease(request),
            verdict: Some(verdict),
            ..self.of_crawl(effects)
        }
    }

    pub fn handled(&self, request: &QueuedRequest, effects: Effects) -> Outcome {
        let (final_key, final_url) = (request.unique_key, request.url.clone());
        self.outcome(request, Verdict::Handled { final_key, final_url, status: 200 }, effects)
    }

    pub async fn accept(&self, requests: Vec<NewRequest>) -> Vec<QueuedRequest> {
        let applied = self.apply(self.of_crawl(Effects { requests, ..Effects::default() })).await;
        applied.accepted
    }

    pub async fn accept_one(&self, path: &str) -> QueuedRequest {
        self.accept(vec![page(path)]).await.pop().expect("it was new")
    }

    pub async fn commit(&self, outcomes: Vec<Outcome>) -> Vec<CommitResult> {
        self.commit_within(outcomes, CommitLimits::default()).await
    }

    pub async fn commit_within(&self, outcomes: Vec<Outcome>, limits: CommitLimits) -> Vec<CommitResult> {
        let asked = outcomes.len();
        let results = self.store.commit(self.id, Group { outcomes, limits }).await.expect("committed");
        assert_eq!(results.len(), asked, "one answer each");
        results
    }

    pub async fn try_one(&self, outcome: Outcome) -> CommitResult {
        self.commit(vec![outcome]).await.pop().expect("an answer")
    }

    pub async fn apply(&self, outcome: Outcome) -> Applied {
        self.try_one(outcome).await.expect("applied")
    }

    /// The ready requests of a site, in order.
    pub async fn queue(&self, host: &str) -> Vec<QueuedRequest> {
        let heads = self.store.ready_sites(self.id, SiteOrder::ByTurn, 1_000).await.expect("sites");
        let Some(head) = heads.iter().find(|head| head.key.as_str() == host) else { return Vec::new() };
        self.store.site_window(self.id, head.id, 1_000).await.expect("a window").requests
    }

    /// Their paths.
    pub async fn paths(&self, host: &str) -> Vec<String> {
        self.queue(host).await.iter().map(|request| request.url.path()[1..].to_owned()).collect()
    }

    pub async fn sites(&self, order: SiteOrder) -> Vec<String> {
        let heads = self.store.ready_sites(self.id, order, 1_000).await.expect("sites");
        heads.iter().map(|head| head.key.to_string()).collect()
    }

    pub async fn count(&self, counter: Counter) -> u64 {
        self.store.statistics(self.id).await.expect("statistics").get(&counter)
    }

    pub async fn status(&self, request: &QueuedRequest) -> RequestStatus {
        let found = self.store.lookup(self.id, &[request.unique_key]).await.expect("looked up").pop();
        found.expect("one answer").expect("it was accepted")
    }

    pub async fn state(&self, key: &str) -> Option<String> {
        self.store.state_get(&self.spec.crawler_id, key).await.expect("state").value
    }

    pub async fn items(&self, dataset: &DatasetName) -> Vec<String> {
        let slice = self.store.dataset_slice(self.id, dataset, 0, 10_000, usize::MAX).await.expect("a slice");
        slice.rows.into_iter().map(|row| row.json).collect()
    }
}
