//! What claiming and committing cost in a SQLite job: `cargo bench -p nephila-store`. How both grow with the job is what
//! `examples/scale.rs` measures.
#![allow(missing_docs, clippy::expect_used, reason = "a measurement ends at the first surprise")]

use divan::Bencher;
use divan::counter::ItemsCount;
use nephila_model::{
    CommitLimits, CrawlerId, DatasetName, Effects, Group, ItemPush, NewRequest, Outcome, QueuedRequest, Shard, SiteBy, SiteKey,
    StatsDelta, Subject, Verdict,
};
use nephila_store::{Company, CrawlOrder, CrawlSpec, Durability, JobDir, OpenedCrawl, SiteOrder, SqliteStore, Store};
use std::cell::RefCell;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use url::Url;

/// Links of a page; all but one are known.
const LINKS: usize = 20;

/// Rows of a window, as the crawler reads them.
const WINDOW: usize = 64;

fn main() {
    divan::main();
}

fn page(number: usize) -> NewRequest {
    let url = Url::parse(&format!("http://shop.example/catalogue/page-{number}.html")).expect("a URL");
    NewRequest::get(url, SiteBy::Hostname)
}

/// A job with some pages in its queue.
struct Job {
    runtime: Runtime,
    store: SqliteStore,
    opened: OpenedCrawl,
    known: usize,
    _folder: TempDir,
}

impl Job {
    fn with(pages: usize) -> Self {
        let folder = TempDir::new().expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (dir, lock) = JobDir::open_or_create(folder.path().join("job")).expect("a job");
        let store = SqliteStore::open(dir, lock, Durability::Kill).expect("a store");
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("bench").expect("an id"),
            plugin_name: "bench".into(),
            plugin_digest: "0".into(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: 1_000_000,
        };
        let opened = runtime.block_on(store.open_crawl(&spec)).expect("opened");
        let job = Self { runtime, store, opened, known: pages, _folder: folder };
        job.commit(vec![job.of_crawl(Effects { requests: (0..pages).map(page).collect(), ..Effects::default() })]);
        job
    }

    fn of_crawl(&self, effects: Effects) -> Outcome {
        Outcome {
            subject: Subject::Crawl,
            lease: self.opened.leases.of(Shard::CRAWL),
            verdict: None,
            effects,
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: None,
        }
    }

    fn commit(&self, outcomes: Vec<Outcome>) {
        let group = Group { outcomes, limits: CommitLimits::default() };
        let results = self.runtime.block_on(self.store.commit(self.opened.record.id, group)).expect("committed");
        assert!(results.iter().all(Result::is_ok));
    }

    fn claim(&self, most: usize) -> Vec<QueuedRequest> {
        self.runtime.block_on(async {
            let crawl = self.opened.record.id;
            let sites = self.store.ready_sites(crawl, SiteOrder::ByHead, 1).await.expect("sites");
            self.store.site_window(crawl, sites[0].id, most).await.expect("a window").requests
        })
    }

    fn handled(&mut self, request: &QueuedRequest) -> Outcome {
        let mut requests: Vec<NewRequest> = (0..LINKS - 1).map(|link| page(link * 7 % self.known)).collect();
        requests.push(page(self.known));
        self.known += 1;
        let json = format!("{{\"url\":\"{}\"}}", request.url);
        Outcome {
            subject: Subject::Request(request.id),
            lease: self.opened.leases.of(SiteKey::of(&request.url, SiteBy::Hostname).shard()),
            verdict: Some(Verdict::Handled { final_key: request.unique_key, final_url: request.url.clone(), status: 200 }),
            ..self.of_crawl(Effects {
                requests,
                items: vec![ItemPush { dataset: DatasetName::Default, json }],
                ..Effects::default()
            })
        }
    }
}

#[divan::bench]
fn claim_a_window(bencher: Bencher<'_, '_>) {
    let job = Job::with(10_000);
    bencher.counter(ItemsCount::new(WINDOW)).bench_local(|| job.claim(WINDOW));
}

// A page each: an item, nineteen known links and a new one. One run a sample, since what is claimed must be committed before more
// is.
#[divan::bench(args = [1, 4, 16, 64], sample_count = 50, sample_size = 1)]
fn commit_a_group(bencher: Bencher<'_, '_>, pages: usize) {
    let job = RefCell::new(Job::with(20_000));
    bencher
        .counter(ItemsCount::new(pages))
        .with_inputs(|| {
            let mut job = job.borrow_mut();
            let claimed = job.claim(pages);
            claimed.iter().map(|request| job.handled(request)).collect::<Vec<_>>()
        })
        .bench_local_values(|outcomes| job.borrow().commit(outcomes));
}

// What a seed costs for each request.
#[divan::bench(args = [1_000], sample_count = 20, sample_size = 1)]
fn accept_new_requests(bencher: Bencher<'_, '_>, requests: usize) {
    let job = RefCell::new(Job::with(1_000));
    bencher
        .counter(ItemsCount::new(requests))
        .with_inputs(|| {
            let mut job = job.borrow_mut();
            let first = job.known;
            job.known += requests;
            job.of_crawl(Effects { requests: (first..first + requests).map(page).collect(), ..Effects::default() })
        })
        .bench_local_values(|outcome| job.borrow().commit(vec![outcome]));
}
