//! Puts many requests into a job that was begun, as a crawl that has found them would have: through the store.
//!
//! Decision: the store's own commits, in groups that are far larger than a crawl's, and not SQL. The file is one that Nephila
//! could have written, whatever a version of it writes.

use anyhow::{Context, Result, bail, ensure};
use nephila_model::{CommitLimits, Effects, Group, NewRequest, Outcome, Shard, SiteBy, StatsDelta, Subject};
use nephila_store::{Company, CrawlOrder, CrawlSpec, Durability, JobDir, OpenedCrawl, SqliteStore, Store, read_status};
use std::ops::Range;
use std::path::Path;
use url::Url;

/// Requests of one group. Keys are spread over their whole index, so that every group writes nearly all of it: few and large ones.
const GROUP: usize = 500_000;

/// Requests of one outcome.
const OUTCOME: usize = 5_000;

/// The depth of what is put in. The crawl before it has found nothing deeper, and what is found after it is: so no link leads to a page
/// that waits at a greater depth and would have to be brought nearer. In a crawl that goes breadth first none does either.
const DEPTH: u32 = 2;

/// As the host opens a crawl without further arguments.
const MAX_STATE_VALUE: usize = 256 << 10;

/// The URL of a page of the mesh at `base`.
pub(crate) fn page(base: &Url, id: usize) -> Result<Url> {
    let path = if id == 0 { "/".to_owned() } else { format!("/p/{id}") };
    base.join(&path).with_context(|| format!("{path} is no page of {base}"))
}

/// Accepts requests for the first `pages` pages of the mesh at `base` into the job of the crawl that was begun there and has ended; those
/// that it has found itself are left as they are.
pub(crate) fn fill(job: &Path, base: &str, pages: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().context("no runtime")?;
    let base = Url::parse(base).with_context(|| format!("{base} is no URL"))?;
    runtime.block_on(fill_crawl(job, &base, pages)).with_context(|| format!("cannot fill the job in {}", job.display()))
}

async fn fill_crawl(job: &Path, base: &Url, pages: usize) -> Result<()> {
    let begun = read_status(&JobDir::existing(job)?)?.crawl;
    let (dir, lock) = JobDir::open_or_create(job)?;
    let store = SqliteStore::open(dir, lock, Durability::Kill)?;
    let spec = CrawlSpec {
        company: Company::Alone,
        crawler_id: begun.crawler_id,
        plugin_name: begun.plugin_name,
        plugin_digest: begun.plugin_digest,
        site_by: SiteBy::Hostname,
        order: CrawlOrder::Fifo,
        max_state_value: MAX_STATE_VALUE,
    };
    let opened = store.open_crawl(&spec).await?;
    let Some(ending) = opened.previous_ending.clone() else { bail!("the crawl in it has not ended") };
    for start in (0..pages).step_by(GROUP) {
        accept(&store, &opened, base, start..pages.min(start + GROUP)).await?;
    }
    store.close_crawl(opened.record.id, &ending).await?;
    store.close().await?;
    Ok(())
}

async fn accept(store: &SqliteStore, opened: &OpenedCrawl, base: &Url, ids: Range<usize>) -> Result<()> {
    let request =
        |id| -> Result<NewRequest> { Ok(NewRequest { depth: DEPTH, ..NewRequest::get(page(base, id)?, SiteBy::Hostname) }) };
    let mut requests = ids.map(request).collect::<Result<Vec<_>>>()?;
    // A crawl does not find pages in the order of their numbers either; and so a group walks through the index of keys once.
    requests.sort_unstable_by_key(|request| *request.unique_key.as_bytes());
    let mut outcomes = Vec::with_capacity(requests.len().div_ceil(OUTCOME));
    while !requests.is_empty() {
        let rest = requests.split_off(requests.len().min(OUTCOME));
        outcomes.push(Outcome {
            subject: Subject::Crawl,
            lease: opened.leases.of(Shard::CRAWL),
            verdict: None,
            effects: Effects { requests: std::mem::replace(&mut requests, rest), ..Effects::default() },
            stats: StatsDelta::default(),
            site_next_allowed: None,
            session: None,
        });
    }
    let results = store.commit(opened.record.id, Group { outcomes, limits: CommitLimits::default() }).await?;
    let refused = results.into_iter().find_map(Result::err);
    ensure!(refused.is_none(), "the store refused requests: {refused:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fill, page};
    use nephila_model::{Counter, CrawlerId, SiteBy, Timestamp};
    use nephila_store::{
        Company, CrawlEnding, CrawlOrder, CrawlSpec, Durability, InHand, JobDir, SqliteStore, Store, read_status,
    };
    use std::path::Path;
    use url::Url;

    const BASE: &str = "http://127.0.0.1:8000/";

    async fn begin(job: &Path, ended: bool) {
        let (dir, lock) = JobDir::open_or_create(job).unwrap();
        let store = SqliteStore::open(dir, lock, Durability::Kill).unwrap();
        let spec = CrawlSpec {
            company: Company::Alone,
            crawler_id: CrawlerId::new("bench").unwrap(),
            plugin_name: "bench".into(),
            plugin_digest: "0".into(),
            site_by: SiteBy::Hostname,
            order: CrawlOrder::Fifo,
            max_state_value: super::MAX_STATE_VALUE,
        };
        let crawl = store.open_crawl(&spec).await.unwrap().record.id;
        if ended {
            let (status, reason) = ("PAUSED".to_owned(), "max-requests".to_owned());
            let ending = CrawlEnding { status, reason, at: Timestamp::now(), in_hand: InHand::Finished };
            store.close_crawl(crawl, &ending).await.unwrap();
        }
        store.close().await.unwrap();
    }

    fn begun(job: &Path, ended: bool) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(begin(job, ended));
    }

    #[test]
    fn every_page_is_accepted_once_and_the_crawl_ended_as_before() {
        let folder = tempfile::tempdir().unwrap();
        begun(folder.path(), true);
        for pages in [7_000, 12_000] {
            fill(folder.path(), BASE, pages).unwrap();
            let status = read_status(&JobDir::existing(folder.path()).unwrap()).unwrap();
            assert_eq!(status.statistics.get(&Counter::Requests), pages as u64);
            assert_eq!(status.counts.pending, pages as u64);
            assert_eq!(status.crawl.ending.unwrap().reason, "max-requests");
        }
    }

    #[test]
    fn a_crawl_that_was_cut_off_is_not_filled() {
        let folder = tempfile::tempdir().unwrap();
        begun(folder.path(), false);
        assert!(format!("{:#}", fill(folder.path(), BASE, 10).unwrap_err()).contains("has not ended"));
    }

    #[test]
    fn pages_have_the_urls_that_the_site_links_to() {
        let base = Url::parse(BASE).unwrap();
        assert_eq!(page(&base, 0).unwrap().as_str(), BASE);
        assert_eq!(page(&base, 17).unwrap().as_str(), "http://127.0.0.1:8000/p/17");
    }
}
