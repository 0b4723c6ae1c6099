//! Listeners of other plugins: each hears a crawl's events, by an instance of its own, with effect exactly once.

use anyhow::Result;
use nephila_e2e::{Crawl, lines, plugin, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

fn crawl(main: &Path, site: &Running, folder: &Path, input: &Value) -> Result<Crawl> {
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl"])
        .with([main.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .with(["--listener".as_ref(), test_plugin("hostile")?.as_os_str()]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_hears_the_events_of_a_crawl_that_is_not_its_own() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::bookshop()).await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["crawlStarted", "crawlFinished"] });
    let run = crawl(&plugin("books")?, &site, folder.path(), &input)?.with(["--max-depth", "1"]);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((&report["plugin"], &report["items"]), (&json!("books"), &json!(22)), "twenty books and two events");
    let mut heard = BTreeMap::new();
    for line in lines(&folder.path().join("out.jsonl"))? {
        let item: Value = serde_json::from_str(&line)?;
        if let (Some(name), Some(count)) = (item["name"].as_str(), item["heard"].as_u64()) {
            heard.insert(name.to_owned(), count);
        }
    }
    assert_eq!(heard, BTreeMap::from([("crawlStarted".to_owned(), 1), ("crawlFinished".to_owned(), 2)]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_each_listener_hears_each_event_with_effect_once() -> Result<()> {
    const PAGES: u64 = 120;
    let config = SiteConfig::mesh(PAGES as usize, 8, 500).with(Switches { latency_ms: 1, ..Switches::default() });
    let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
    // Each page, and each of the two listeners that hear of it, adds 1 to one key, which all of them read before.
    let input = json!({ "listen": ["page"], "hear": "read-modify-write", "pages": { "/": "follow-count-and-emit" } });
    let run = crawl(&test_plugin("hostile")?, &site, folder.path(), &input)?;
    for kills in 1..=3_u64 {
        let mut child = run.spawn()?;
        let (begun, patience) = (site.stats().requests, Instant::now() + Duration::from_secs(60));
        while site.stats().requests < begun + 10 * kills && Instant::now() < patience && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if child.try_wait()?.is_none() {
            kill(Pid::from_raw(child.id().try_into()?), Signal::SIGKILL)?;
        }
        let status = tokio::task::block_in_place(|| child.wait_with_output())?.status;
        assert_eq!(status.code(), None, "it was killed");
    }
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!(report["requestsFinished"], PAGES);
    assert_eq!(report["state"]["counter"], 3 * PAGES);
    Ok(())
}
