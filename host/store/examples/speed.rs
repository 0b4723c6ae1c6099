//! Measures the SQLite store: `cargo run --release -p nephila-store --example speed -- [folder] [requests]`.
#![allow(clippy::expect_used, reason = "a measurement ends at the first surprise")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use nephila_model::{
    CommitLimits, CrawlerId, DatasetName, Effects, Group, ItemPush, NewRequest, Outcome, QueuedRequest, Shard, SiteBy, SiteKey,
    StatsDelta, Subject, Verdict,
};
use nephila_store::{Company, CrawlOrder, CrawlSpec, Durability, JobDir, SiteOrder, SqliteStore, Store};
use std::time::Instant;
use url::Url;

/// Requests, unless the command line says otherwise.
const ROWS: usize = 100_000;

fn page(number: usize) -> NewRequest {
    let text = format!("http://site{}.example/catalogue/category-{}/page-{number}.html", number % 200, number % 17);
    NewRequest::get(Url::parse(&text).expect("a URL"), SiteBy::Hostname)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let root = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let rows = std::env::args().nth(2).map_or(ROWS, |text| text.parse().expect("a number of requests"));
    for durability in [Durability::Kill, Durability::PowerLoss] {
        let folder = root.join(format!("nephila-speed-{}-{durability:?}", std::process::id()));
        let (dir, lock) = JobDir::open_or_create(&folder).expect("a job");
        let store = SqliteStore::open(dir, lock, durability).expect("a store");
        measure(&store, durability, rows).await;
        store.close().await.expect("closed");
        let bytes = std::fs::metadata(folder.join("nephila.db")).expect("a file").len();
        println!("{durability:?}: the file has {:.0} bytes per request", bytes as f64 / rows as f64);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}

async fn measure(store: &SqliteStore, durability: Durability, rows: usize) {
    let spec = CrawlSpec {
        company: Company::Alone,
        crawler_id: CrawlerId::new("speed").expect("an id"),
        plugin_name: "speed".into(),
        plugin_digest: "0".into(),
        site_by: SiteBy::Hostname,
        order: CrawlOrder::Fifo,
        max_state_value: 1_000_000,
    };
    let opened = store.open_crawl(&spec).await.expect("opened");
    let (crawl, leases) = (opened.record.id, opened.leases);
    let report = |what: &str, count: usize, started: Instant| {
        let seconds = started.elapsed().as_secs_f64();
        println!("{durability:?}: {what}: {:.0}/s ({count} in {seconds:.2} s)", count as f64 / seconds);
    };
    let of_crawl = |effects| Outcome {
        subject: Subject::Crawl,
        lease: leases.of(Shard::CRAWL),
        verdict: None,
        effects,
        stats: StatsDelta::default(),
        site_next_allowed: None,
    };
    let commit =
        async |outcomes| store.commit(crawl, Group { outcomes, limits: CommitLimits::default() }).await.expect("committed");

    for (what, twice) in [("new requests, 50 outcomes of 20 a group", false), ("known requests again", true)] {
        let started = Instant::now();
        for first in (0..rows).step_by(1_000) {
            let part = |at| of_crawl(Effects { requests: (at..at + 20).map(page).collect(), ..Effects::default() });
            let results = commit((first..first + 1_000).step_by(20).map(part).collect()).await;
            assert!(twice || results.iter().all(|result| result.as_ref().is_ok_and(|applied| applied.accepted.len() == 20)));
        }
        report(what, rows, started);
    }

    let started = Instant::now();
    let mut claimed: Vec<QueuedRequest> = Vec::new();
    for head in store.ready_sites(crawl, SiteOrder::ByHead, 200).await.expect("sites") {
        claimed.extend(store.site_window(crawl, head.id, 200).await.expect("a window").requests);
    }
    report("claimed, in windows of 200", claimed.len(), started);

    let known: Vec<NewRequest> = (0..20).map(page).collect();
    let handled = |request: &QueuedRequest| Outcome {
        subject: Subject::Request(request.id),
        lease: leases.of(SiteKey::of(&request.url, SiteBy::Hostname).shard()),
        verdict: Some(Verdict::Handled { final_key: request.unique_key, final_url: request.url.clone(), status: 200 }),
        ..of_crawl(Effects {
            requests: known.clone(),
            items: vec![ItemPush { dataset: DatasetName::Default, json: format!("{{\"url\":\"{}\"}}", request.url) }],
            ..Effects::default()
        })
    };
    for size in [1, 4, 16, 64] {
        let count = if size == 1 { 1_000 } else { 4_096 };
        let taken = claimed.split_off(claimed.len() - count);
        let started = Instant::now();
        for group in taken.chunks(size) {
            commit(group.iter().map(&handled).collect()).await;
        }
        report(&format!("pages (an item, 20 known links) in groups of {size}"), count, started);
    }
}
