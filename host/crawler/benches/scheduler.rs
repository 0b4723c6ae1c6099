//! What the scheduler costs per claim: `cargo bench -p nephila-crawler`.
#![allow(missing_docs, clippy::expect_used, reason = "a measurement ends at the first surprise")]

// The scheduler is no part of the crate's interface; it is compiled here once more, as it is.
#[allow(dead_code, unreachable_pub, reason = "a measurement uses a part of it")]
#[path = "../src/scheduler.rs"]
mod scheduler;
#[allow(dead_code, unreachable_pub, reason = "a measurement uses a part of it")]
#[path = "../src/site_queue.rs"]
mod site_queue;

use divan::{Bencher, black_box};
use nephila_model::{Position, QueuedRequest, RequestId, RequestSpec, SiteBy, SiteId, SiteKey, UniqueKey};
use nephila_store::SiteWindow;
use scheduler::Scheduler;
use site_queue::Next;
use std::time::{Duration, Instant};
use url::Url;

fn main() {
    divan::main();
}

fn row(site: i64, id: i64) -> QueuedRequest {
    let url = Url::parse(&format!("http://s{site}.example/{id}")).expect("a URL");
    QueuedRequest {
        id: RequestId(id),
        site: SiteId(site),
        position: Position { priority: 0, rank: id },
        unique_key: UniqueKey::explicit(url.as_str()),
        original_url: url.clone(),
        url,
        label: None,
        depth: 1,
        retry_count: 0,
        chain: Vec::new(),
        spec: RequestSpec::default(),
    }
}

// A crawl at work: every site in memory with some rows, and as many rows offered as are claimed.
#[divan::bench(args = [1, 32, 1_000])]
fn claim_land_and_offer(bencher: Bencher<'_, '_>, sites: i64) {
    let now = Instant::now();
    let mut scheduler: Scheduler<()> = Scheduler::new(Duration::ZERO);
    let mut next_id = 0;
    for site in 0..sites {
        let url = Url::parse(&format!("http://s{site}.example/")).expect("a URL");
        scheduler.admit(SiteId(site), SiteKey::of(&url, SiteBy::Hostname), now);
        let window = SiteWindow { requests: Vec::new(), complete: true, newest: RequestId(0) };
        scheduler.refill(SiteId(site), window, now);
        for _ in 0..32 {
            next_id += 1;
            scheduler.offer(row(site, next_id), now);
        }
    }
    bencher.bench_local(|| {
        let turn = scheduler.claim(now).expect("a claim");
        let Next::Queued(request) = black_box(turn.next) else { return };
        scheduler.land(request.site, request.id);
        next_id += 1;
        let again = QueuedRequest {
            id: RequestId(next_id),
            position: Position { rank: next_id, ..request.position },
            ..(*request).clone()
        };
        scheduler.offer(again, now);
    });
}
