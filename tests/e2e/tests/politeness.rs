//! The delay between two requests to one site, as the site saw it: with redirects, and across kills and stops.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const DELAY_MILLIS: u64 = 250;

/// Starts are spaced where the crawler claims, and counted where the site is asked: on a busy machine a task in between may be late, and
/// the next one not. A slot that is not kept shows as next to nothing.
const LEAST_MILLIS: u64 = DELAY_MILLIS / 2;

const PAGES: usize = 20;

async fn site() -> Result<Running> {
    let switches = Switches { redirect_ratio: 0.4, meta_refresh_ratio: 0.2, ..Switches::default() };
    Ok(Site::start(SiteConfig::mesh(PAGES, 6, 500).with(switches)).await?)
}

fn crawl(site: &Running, folder: &Path) -> Result<Crawl> {
    let delay = format!("{DELAY_MILLIS}ms");
    Ok(Crawl::new(folder, ["run", "--delay", &delay, "--json", "--job", "job"])
        .with([nephila_e2e::test_plugin("hostile")?.as_os_str(), site.url().as_ref()]))
}

fn gap(site: &Running) -> Result<u64> {
    site.stats().min_gap_millis.get("127.0.0.1").copied().context("two requests at least")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_never_asked_twice_within_its_delay_redirects_included() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let run = crawl(&site, folder.path())?;
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!(report["requestsFinished"], PAGES);
    assert!(report["fetches"].as_u64() > Some(PAGES as u64 + 3), "redirects were followed");
    assert_eq!(report["fetches"], site.stats().requests);
    assert!(gap(&site)? >= LEAST_MILLIS, "{} ms", gap(&site)?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_delay_is_kept_across_kills_and_stops() -> Result<()> {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let (site, folder) = (site().await?, tempfile::tempdir()?);
        let run = crawl(&site, folder.path())?;
        let mut report: Option<Value> = None;
        for round in 1..60_u64 {
            // A little later each time, so that the moments differ and the crawl gets on.
            let ended = tokio::task::block_in_place(|| run.run_until(Duration::from_millis(800 + 37 * round), signal))?;
            match ended.code {
                Some(0) => {
                    report = Some(ended.json()?);
                    break;
                }
                None | Some(3) => {}
                other => anyhow::bail!("exit code {other:?}: {}", ended.stderr),
            }
        }
        let report = report.context("it never ended")?;
        assert_eq!(report["requestsFinished"], PAGES, "{signal}");
        assert!(gap(&site)? >= LEAST_MILLIS, "{signal}: {} ms", gap(&site)?);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_are_asked_while_one_waits() -> Result<()> {
    let slow = Switches { latency_ms: 200, ..Switches::default() };
    let site = Site::start(SiteConfig::bookshop().with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let port = site.address().port();
    let starts: Vec<String> = (0..8).map(|n| format!("http://shop-{n}.localhost:{port}/")).collect();
    let run = Crawl::new(folder.path(), ["run", "--delay", "2", "--json", "--store", "memory:", "--max-requests", "16"])
        .with([plugin("books")?.as_os_str()])
        .with(&starts);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!(report["requestsFinished"], 16);
    assert!(site.stats().max_concurrent > 1, "one site waited for another");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_tasks_begin_than_a_minute_may_have() -> Result<()> {
    // Ten a second, of which a second's worth may be saved up.
    const PER_SECOND: u64 = 10;
    let site = Site::start(SiteConfig::mesh(40, 6, 500)).await?;
    let folder = tempfile::tempdir()?;
    let rate = format!("max-tasks-per-minute={}", 60 * PER_SECOND);
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--store", "memory:", "--set", &rate])
        .with([nephila_e2e::test_plugin("hostile")?.as_os_str(), site.url().as_ref()]);
    let began = std::time::Instant::now();
    let mut child = run.spawn()?;
    loop {
        let is_over = child.try_wait()?.is_some();
        // What the site has been asked began before, and the clock is read after: however slow the machine is, it is never more than this.
        let asked = site.stats().requests;
        let allowed = began.elapsed().as_secs_f64() * PER_SECOND as f64 + PER_SECOND as f64;
        assert!(asked as f64 <= allowed, "{asked} requests, where {allowed:.1} may have begun");
        if is_over {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let report = nephila_e2e::Ended::of(child.wait_with_output()?).expect_code(0)?.json()?;
    assert_eq!(report["requestsFinished"], 40);
    Ok(())
}
