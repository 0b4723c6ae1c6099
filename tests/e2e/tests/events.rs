//! Events through the whole house: what plugins emit and what the host tells reaches the plugin's listener, and nothing waits for
//! it.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, lines, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

const PAGES: usize = 60;

async fn site() -> Result<Running> {
    Ok(Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?)
}

fn crawl(site: &Running, folder: &Path, input: &Value, more: &[&str]) -> Result<Ended> {
    let arguments = ["run", "--delay", "0", "--json", "-o", "out.jsonl", "--job", "job", "--set", "retry-delay=10ms"];
    let crawl = Crawl::new(folder, arguments)
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .with(more.iter().copied());
    tokio::task::block_in_place(|| crawl.run())
}

/// What the listener pushed, in the order of the dataset: name, id, and how many its instance had heard.
fn heard(folder: &Path) -> Result<Vec<(String, String, u64)>> {
    let mut heard = Vec::new();
    for line in lines(&folder.join("out.jsonl"))? {
        let item: Value = serde_json::from_str(&line)?;
        if let Some(name) = item["name"].as_str() {
            let id = item["id"].as_str().context("an id")?;
            heard.push((name.to_owned(), id.to_owned(), item["heard"].as_u64().context("a count")?));
        }
    }
    Ok(heard)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_emit_is_heard_once_each_by_one_instance_in_order() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["page"], "pages": { "/p/1": "emit", "/p/2": "emit-then-fatal" } });
    let report = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?.json()?;
    assert_eq!(report["requestsFailed"].as_u64(), Some(11), "those whose path begins with /p/2: {report}");
    let heard = heard(folder.path())?;
    // Two of each page whose path begins with /p/1: 1 and 10 to 19.
    assert_eq!(heard.len(), 22);
    assert_eq!(heard.iter().map(|(_, id, _)| id).collect::<BTreeSet<_>>().len(), 22, "each has an id of its own");
    assert!(heard.iter().all(|(name, ..)| name == "page"));
    assert!(heard.iter().map(|(.., count)| *count).eq(1..=22), "{heard:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_own_events_are_heard_from_the_crawls_start_to_its_end() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let names = ["crawlStarted", "persistState", "systemInfo", "crawlerStatus", "requestFailed", "crawlFinished"];
    // A crawl that lasts until its listener has heard of everything: it is ended by a limit of time otherwise.
    let input = json!({ "listen": names, "pages": { "/p/7": "fatal" } });
    let settings = ["--set", "status-interval=100ms", "--set", "keep-alive=yes", "--max-time", "4s"];
    let report = crawl(&site, folder.path(), &input, &settings)?.expect_code(0)?.json()?;
    assert_eq!(report["finishReason"], "max-time");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let heard = heard(folder.path())?;
    for (name, ..) in &heard {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let names_heard: Vec<&str> = heard.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names_heard[..2], ["crawlStarted", "persistState"], "the first of all, whatever the manager told before");
    assert_eq!(names_heard[names_heard.len() - 2..], ["persistState", "crawlFinished"]);
    assert_eq!((counts["crawlStarted"], counts["crawlFinished"], counts["requestFailed"]), (1, 1, 1), "{counts:?}");
    assert!(names.iter().all(|name| counts.contains_key(*name)), "{counts:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_always_traps_harms_no_page() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["do=trap", "page"], "pages": { "/p/1": "emit" } });
    let ended = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?;
    let report = ended.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["requestsFailed"].as_u64()), (Some(60), Some(0)));
    assert_eq!(report["finishReason"], "finished");
    assert_eq!(heard(folder.path())?, []);
    assert!(ended.stderr.contains("the listener did not say what it wants to hear"), "{}", ended.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_traps_on_each_event_harms_no_page_and_hears_none_twice() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["page", "crawlStarted", "crawlFinished"], "hear": "trap", "pages": { "/p/1": "emit" } });
    let ended = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?;
    let report = ended.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["finishReason"].as_str()), (Some(60), Some("finished")));
    // Two events of each of eleven pages, the start, and the end.
    assert_eq!(ended.stderr.matches("the listener failed").count(), 24, "{}", ended.stderr);
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    assert_eq!(rows.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_sleeps_longer_than_until_the_next_event_keeps_no_crawl_from_its_end() -> Result<()> {
    // Some events come while there are pages.
    let slow = Switches { latency_ms: 10, ..Switches::default() };
    let (site, folder) = (Site::start(SiteConfig::mesh(PAGES, 6, 500).with(slow)).await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["systemInfo", "page"], "hear": "nap", "pages": { "/p/11": "emit-once" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "-c", "1", "--json", "-o", "out.jsonl", "--job", "job"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .env("NEPHILA_SYSTEM_INFO_INTERVAL_MILLIS", "50");
    let report = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["finishReason"].as_str()), (Some(60), Some("finished")));
    // What a page emitted is heard all the same.
    let names: Vec<String> = heard(folder.path())?.into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names.iter().filter(|name| *name == "page").count(), 1, "{names:?}");
    assert!(names.iter().any(|name| name == "systemInfo"), "{names:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_is_reached_with_the_last_page_leaves_out_no_finish_though_its_event_is_being_heard() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["page"], "hear": "nap", "pages": { "/p/59": "emit-once" } });
    let report = crawl(&site, folder.path(), &input, &["--max-requests", "60"])?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["finishReason"].as_str()), (Some(60), Some("max-requests")));
    let items = lines(&folder.path().join("out.jsonl"))?;
    assert!(items.iter().any(|item| item.contains("\"finish\":true")), "the hostile plugin's finish pushes that");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_loses_no_event_and_no_update_and_doubles_none() -> Result<()> {
    const MANY: u64 = 400;
    let config = SiteConfig::mesh(usize::try_from(MANY)?, 12, 500).with(Switches { latency_ms: 2, ..Switches::default() });
    let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["page"], "pages": { "/p/": "follow-count-and-emit" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "-o", "out.jsonl", "--job", "job"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()]);
    for kill in 1..=8 {
        let mut child = crawl.spawn()?;
        // A different place in the crawl each time; a start that comes to its end before is as good.
        while site.stats().requests < kill * 45 && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill()?;
        child.wait()?;
    }
    let report = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["requestsFailed"].as_u64()), (Some(MANY), Some(0)));
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let counter: String = rows.query_row("SELECT value FROM state WHERE key = 'counter'", [], |row| row.get(0))?;
    // All but the index, whose path has no `/p/`.
    assert_eq!(counter, (MANY - 1).to_string(), "each page has counted itself once");
    let heard = heard(folder.path())?;
    assert_eq!(heard.len() as u64, MANY - 1);
    assert_eq!(heard.iter().map(|(_, id, _)| id).collect::<BTreeSet<_>>().len() as u64, MANY - 1);
    assert_eq!(rows.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_and_handlers_that_count_on_one_key_lose_nothing() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(300, 12, 500)).await?, tempfile::tempdir()?);
    let input = json!({
        "listen": ["crawlStarted"], "hear": "count-after-on", "pages": { "/p/": "follow-count-and-emit" },
    });
    let report = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["requestsFailed"].as_u64()), (Some(300), Some(0)));
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let counter: String = rows.query_row("SELECT value FROM state WHERE key = 'counter'", [], |row| row.get(0))?;
    // Once by each page but the index, and once for what it emitted.
    assert_eq!(counter, (2 * 299).to_string());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_crawl_that_is_started_again_tells_its_listener_nothing() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["crawlStarted", "crawlFinished", "persistState"] });
    crawl(&site, folder.path(), &input, &[])?.expect_code(0)?;
    let first = heard(folder.path())?;
    assert!(first.len() >= 2, "{first:?}");
    let again = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?;
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    assert_eq!(heard(folder.path())?, first);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_listener_brings_at_the_end_leaves_a_finished_job_finished() -> Result<()> {
    for word in ["enqueue", "emit"] {
        let (site, folder) = (site().await?, tempfile::tempdir()?);
        let input = json!({ "listen": ["crawlFinished"], "hear": word });
        let report = crawl(&site, folder.path(), &input, &[])?.expect_code(0)?.json()?;
        assert_eq!((report["finishReason"].as_str(), report["requestsPending"].as_u64()), (Some("finished"), Some(0)), "{word}");
        let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
        assert_eq!(rows.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u32>(0))?, 0);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_listener_enqueues_when_the_last_page_fails_is_crawled_before_the_end() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["requestFailed"], "hear": "enqueue-root", "pages": { "/p/7": "fatal" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job"])
        .with([test_plugin("hostile")?.as_os_str(), format!("{}p/7", site.url()).as_ref()])
        .with(["--input", &input.to_string()]);
    let report = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?.json()?;
    let counts = ["requestsFinished", "requestsFailed", "requestsPending"].map(|name| report[name].as_u64());
    assert_eq!((report["finishReason"].as_str(), counts), (Some("finished"), [Some(59), Some(1), Some(0)]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_hand_and_a_busy_listener_have_one_grace_together() -> Result<()> {
    let slow = Switches { slow: vec![("/p/7".to_owned(), 60_000)], ..Switches::default() };
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let input = json!({ "listen": ["page"], "hear": "loop", "pages": { "/p/": "follow-count-and-emit" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job", "--set", "plugin-cpu=60s"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string(), "--set", "shutdown-grace=6s"]);
    let child = crawl.spawn()?;
    while site.stats().requests < 60 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let told = Instant::now();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().try_into()?), nix::sys::signal::Signal::SIGTERM)?;
    let ended = tokio::task::block_in_place(|| child.wait_with_output()).map(Ended::of)?.expect_code(3)?;
    // Twice the grace would be twelve.
    assert!(told.elapsed() < Duration::from_secs(12), "{:?}", told.elapsed());
    assert_eq!(ended.json()?["finishReason"], "signal-forced");
    assert_eq!(ended.stderr.matches("the listener is still at an event").count(), 1, "{}", ended.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_per_minute_are_kept_and_a_second_signal_ends_a_busy_listener() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let report = crawl(&site, folder.path(), &json!({}), &["--set", "max-tasks-per-minute=1200"])?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["finishReason"].as_str()), (Some(60), Some("finished")));
    // Twenty a second, of which a second's worth may be saved up.
    assert!(report["crawlerRuntimeMillis"].as_u64() >= Some(1_800), "{report}");

    let folder = tempfile::tempdir()?;
    let input = json!({ "listen": ["page"], "hear": "loop", "pages": { "/p/": "follow-count-and-emit" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job", "--set", "plugin-cpu=60s"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string(), "--set", "shutdown-grace=1h"]);
    let before = site.stats().requests;
    let child = crawl.spawn()?;
    while site.stats().requests < before + 60 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let pid = nix::unistd::Pid::from_raw(child.id().try_into()?);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM)?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM)?;
    // It would take an hour.
    tokio::task::block_in_place(|| child.wait_with_output()).map(Ended::of)?.expect_code(3)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_hear_that_the_process_is_asked_to_end() -> Result<()> {
    for (grace, names) in [("none", &["aborting"][..]), ("20s", &["migrating", "persistState", "aborting"])] {
        let config = SiteConfig::mesh(PAGES, 6, 500).with(Switches { latency_ms: 20, ..Switches::default() });
        let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
        let input = json!({ "listen": ["aborting", "migrating", "persistState"], "hear": "payload" });
        let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "-o", "out.jsonl", "--job", "job", "-c", "1"])
            .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
            .with(["--input", &input.to_string(), "--set", &format!("migration-grace={grace}")]);
        let child = crawl.spawn()?;
        while site.stats().requests < 5 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().try_into()?), nix::sys::signal::Signal::SIGTERM)?;
        let ended = tokio::task::block_in_place(|| child.wait_with_output()).map(Ended::of)?.expect_code(3)?;
        assert_eq!(ended.json()?["status"], "PAUSED");
        // The items of the last events are exported by the next start, if the outputs had been closed.
        tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?;
        let heard: Vec<String> = heard(folder.path())?.into_iter().map(|(name, ..)| name).collect();
        let count = |name: &str| heard.iter().filter(|other| *other == name).count();
        assert_eq!((count("aborting"), count("migrating")), (1, usize::from(names.contains(&"migrating"))), "{heard:?}");
        assert!(names.iter().all(|name| count(name) > 0), "{heard:?}");
        let payloads = |name: &str| -> Result<Vec<Value>> {
            let items =
                lines(&folder.path().join("out.jsonl"))?.into_iter().map(|line| Ok(serde_json::from_str::<Value>(&line)?));
            let items: Vec<Value> = items.collect::<Result<_>>()?;
            Ok(items.into_iter().filter(|item| item["name"] == name).map(|item| item["payload"].clone()).collect())
        };
        let migrating = names.contains(&"migrating");
        let left: Vec<Value> = if migrating { vec![json!({ "timeRemainingSecs": 20 })] } else { Vec::new() };
        assert_eq!(payloads("migrating")?, left);
        let persists = payloads("persistState")?;
        let because = persists.iter().filter(|payload| **payload == json!({ "isMigrating": true })).count();
        assert_eq!(because, usize::from(migrating), "{persists:?}");
        assert_eq!(payloads("aborting")?, [json!({})]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_kills_the_host_is_given_up_and_all_others_are_heard() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["page", "poison"], "pages": { "/p/7": "emit-poison", "/p/1": "emit-once" } });
    let crawl = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "-o", "out.jsonl", "--job", "job"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .env("NEPHILA_TEST_CRASH_ON_EVENT", "poison");
    // The first death is before any suspicion; three are inside the mark.
    for death in 1..=4 {
        let ended = tokio::task::block_in_place(|| crawl.run())?;
        assert_eq!(ended.code, None, "death {death}: {}", ended.stderr);
    }
    let ended = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?;
    assert!(ended.stderr.contains("the host died 3 times while the listener heard this event"), "{}", ended.stderr);
    let report = ended.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["requestsFailed"].as_u64()), (Some(60), Some(0)));
    let errors = report["errors"].as_array().context("errors")?;
    let given_up = errors.iter().find(|error| error["code"] == "listener-crashed-the-host").context("it is counted")?;
    assert_eq!((&given_up["count"], &given_up["url"]), (&json!(1), &json!("event:poison")));
    let heard = heard(folder.path())?;
    assert_eq!(heard.iter().filter(|(name, ..)| name == "page").count(), 11, "{heard:?}");
    assert!(heard.iter().all(|(name, ..)| name == "page"));
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    assert_eq!(rows.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u32>(0))?, 0);
    assert_eq!(rows.query_row("SELECT count(*) FROM meta", [], |row| row.get::<_, u32>(0))?, 1, "no count is left behind");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_key_value_store_shows_what_users_of_crawlee_look_for() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let input = json!({ "pages": { "/p/1": "increment", "/p/7": "fatal" } });
    crawl(&site, folder.path(), &input, &["--id", "shop"])?.expect_code(0)?;
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let record = |key: &str| -> Result<Value> {
        let bytes: Vec<u8> = rows.query_row("SELECT value FROM key_values WHERE key = ?1", [key], |row| row.get(0))?;
        Ok(serde_json::from_slice(&bytes)?)
    };
    let statistics = record("__CRAWLER_STATISTICS_shop")?;
    assert_eq!((statistics["requestsFinished"].as_u64(), statistics["requestsFailed"].as_u64()), (Some(59), Some(1)));
    assert_eq!(statistics["requestsWithStatusCode"]["200"].as_u64(), Some(60));
    assert_eq!(statistics["requestRetryHistogram"], json!([60]));
    assert_eq!(statistics["errors"]["asked"]["count"].as_u64(), Some(1));
    assert!(statistics["crawlerFinishedAt"].is_string() && statistics["crawlerRuntimeMillis"].as_u64() > Some(0));
    let state = record("CRAWLEE_STATE_shop")?;
    assert_eq!(state, json!({ "counter": 11 }));
    // And so does the command line.
    let status = |more: &[&str]| {
        let status = Crawl::new(folder.path(), ["status", "job", "--state"]).with(more.iter().copied());
        tokio::task::block_in_place(|| status.run())?.expect_code(0)
    };
    assert_eq!(status(&["--json"])?.json()?["state"], json!({ "counter": 11 }));
    let table = status(&[])?.stdout;
    assert!(table.ends_with("state {\n  \"counter\": 11\n}\n"), "{table}");
    Ok(())
}
