//! What a crawl says of itself when it is over, and while it stands: against what the site saw, over retries, redirects, stops and kills.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const PAGES: usize = 60;

fn crawl(site: &Running, folder: &Path, input: &Value, more: &[&str]) -> Result<Crawl> {
    let arguments = ["run", "--delay", "0", "--json", "--job", "job", "--set", "retry-delay=10ms"];
    Ok(Crawl::new(folder, arguments)
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .with(more.iter().copied()))
}

/// Runs to its end with this exit code, and gives what it reported.
fn report(run: &Crawl, code: i32) -> Result<Value> {
    tokio::task::block_in_place(|| run.run())?.expect_code(code)?.json()
}

fn status(folder: &Path) -> Result<Value> {
    report(&Crawl::new(folder, ["status", "--json", "job"]), 0)
}

/// A record of the crawl's default key-value store.
fn record(folder: &Path, key: &str) -> Result<Value> {
    let rows = rusqlite::Connection::open(folder.join("job/nephila.db"))?;
    let bytes: Vec<u8> = rows.query_row("SELECT value FROM key_values WHERE key = ?1", [key], |row| row.get(0))?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn number(report: &Value, name: &str) -> Result<u64> {
    report[name].as_u64().with_context(|| format!("{name} in {report:#}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn durations_rates_and_retries_are_those_that_the_crawl_had() -> Result<()> {
    const LATENCY: u64 = 20;
    let switches = Switches {
        fail_ratio: 0.3,
        fail_status: 503,
        latency_ms: LATENCY,
        slow: vec![("/p/5".to_owned(), 280)],
        ..Switches::default()
    };
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(switches)).await?;
    let folder = tempfile::tempdir()?;
    let report = report(&crawl(&site, folder.path(), &json!({}), &[])?, 0)?;

    let failing = site.plan().iter().filter(|page| page.fails).count() as u64;
    let (pages, asked) = (PAGES as u64, site.stats().requests);
    assert_eq!((number(&report, "requestsFinished")?, number(&report, "requestsFailed")?), (pages, 0));
    assert_eq!((number(&report, "requestsRetries")?, number(&report, "fetches")?), (failing, asked));
    assert_eq!((number(&report, "requestsAttempts")?, asked), (pages + failing, pages + failing));
    assert_eq!(report["retryHistogram"], json!([pages - failing, failing]));
    assert_eq!(report["statusCodes"], json!({ "200": pages, "503": failing }));
    assert_eq!(report["errors"], json!([]));
    let retried = &report["retryErrors"][0];
    assert_eq!((&retried["code"], &retried["count"]), (&json!("status"), &json!(failing)));

    // All lengths of time have a least one that the site gives, and the others follow from each other.
    let (least, most) = (number(&report, "requestMinDurationMillis")?, number(&report, "requestMaxDurationMillis")?);
    let (total, average) = (number(&report, "requestTotalDurationMillis")?, number(&report, "requestAvgFinishedDurationMillis")?);
    assert!(LATENCY <= least && least <= average && average <= most && LATENCY + 280 <= most, "{report:#}");
    assert!(total >= pages * LATENCY + 280 && average == total / pages, "{report:#}");
    let all = number(&report, "requestTotalAttemptsDurationMillis")?;
    assert!(all >= total + failing * LATENCY, "{report:#}");
    assert_eq!(number(&report, "requestAvgAttemptDurationMillis")?, all / asked);
    assert_eq!(report["requestAvgFailedDurationMillis"], Value::Null);
    let runtime = number(&report, "crawlerRuntimeMillis")?;
    assert!(runtime >= most, "{report:#}");
    assert_eq!(number(&report, "requestsFinishedPerMinute")?, pages * 60_000 / runtime);
    assert_eq!(number(&report, "requestsFailedPerMinute")?, 0);

    // Crawlee's record and a look from outside say the same.
    let (shown, status) = (record(folder.path(), "__CRAWLER_STATISTICS_hostile")?, status(folder.path())?);
    for name in [
        "requestsFinished",
        "requestsRetries",
        "requestsAttempts",
        "requestMinDurationMillis",
        "requestMaxDurationMillis",
        "requestTotalDurationMillis",
        "requestTotalAttemptsDurationMillis",
    ] {
        assert_eq!((&shown[name], &status[name]), (&report[name], &report[name]), "{name}");
    }
    assert_eq!((&shown["errors"], &shown["retryErrors"]["status"]), (&json!({}), retried));
    assert_eq!(status["retryErrors"], report["retryErrors"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_requests_have_durations_and_rates_of_their_own() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(Switches { latency_ms: 20, ..Switches::default() })).await?;
    let folder = tempfile::tempdir()?;
    let report = report(&crawl(&site, folder.path(), &json!({ "pages": { "/p/": "fatal" } }), &[])?, 0)?;
    let (failed, runtime) = (number(&report, "requestsFailed")?, number(&report, "crawlerRuntimeMillis")?);
    assert_eq!((number(&report, "requestsFinished")?, failed), (1, 6), "the index, and what it links to");
    assert!(number(&report, "requestAvgFailedDurationMillis")? >= 20, "{report:#}");
    assert_eq!(number(&report, "requestsFailedPerMinute")?, failed * 60_000 / runtime);
    assert_eq!(report["requestMinDurationMillis"], report["requestMaxDurationMillis"], "of requests that finished: one");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hop_of_a_redirect_counts_with_its_status() -> Result<()> {
    let switches = Switches { redirect_ratio: 0.5, ..Switches::default() };
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(switches)).await?;
    let folder = tempfile::tempdir()?;
    let report = report(&crawl(&site, folder.path(), &json!({}), &[])?, 0)?;
    let mut expected = BTreeMap::from([("200".to_owned(), PAGES as u64)]);
    for page in site.plan() {
        if let Some(status) = page.redirect_status {
            *expected.entry(status.to_string()).or_default() += u64::from(page.hops);
        }
    }
    assert!(expected.len() > 2, "{expected:?}");
    assert_eq!(report["statusCodes"], json!(expected));
    assert_eq!(number(&report, "fetches")?, expected.values().sum::<u64>());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_stops_and_kills_time_adds_up_and_the_extremes_stay() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(Switches { latency_ms: 20, ..Switches::default() })).await?;
    let folder = tempfile::tempdir()?;
    let limited = crawl(&site, folder.path(), &json!({}), &["-c", "2", "--max-requests", "10"])?;
    let mut before = report(&limited, 0)?;
    let started = record(folder.path(), "__CRAWLER_STATISTICS_hostile")?;
    let run = crawl(&site, folder.path(), &json!({}), &["-c", "2"])?;
    for kill in [20, 40] {
        let mut child = run.spawn()?;
        while site.stats().requests < kill && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill()?;
        child.wait()?;
        let now = status(folder.path())?;
        grown(&before, &now)?;
        // However short the start was: two requests at a time take half as long as both of them one after the other, at least. A
        // millisecond of each start may be cut off.
        let (worked, ran) = (number(&now, "requestTotalAttemptsDurationMillis")?, number(&now, "crawlerRuntimeMillis")?);
        assert!(worked <= 2 * (ran + 4), "{now:#}");
        before = now;
    }
    let last = report(&run, 0)?;
    grown(&before, &last)?;
    assert_eq!(number(&last, "requestsFinished")?, PAGES as u64);
    let ended = record(folder.path(), "__CRAWLER_STATISTICS_hostile")?;
    assert_eq!(ended["crawlerStartedAt"], started["crawlerStartedAt"]);
    assert!(ended["crawlerLastStartTimestamp"].as_str() > started["crawlerLastStartTimestamp"].as_str());
    assert!(ended["crawlerFinishedAt"].as_str() > started["crawlerFinishedAt"].as_str());
    // A start that finds nothing to do takes nothing back.
    grown(&last, &report(&run, 0)?)
}

/// Nothing that was counted is lost, and the extremes only move outwards.
fn grown(before: &Value, now: &Value) -> Result<()> {
    for name in ["requestsFinished", "crawlerRuntimeMillis", "requestTotalDurationMillis", "requestMaxDurationMillis"] {
        assert!(number(before, name)? <= number(now, name)?, "{name}: {before:#} {now:#}");
    }
    assert!(number(before, "requestMinDurationMillis")? >= number(now, "requestMinDurationMillis")?, "{before:#} {now:#}");
    let average = number(now, "requestAvgFinishedDurationMillis")?;
    assert!(
        number(now, "requestMinDurationMillis")? <= average && average <= number(now, "requestMaxDurationMillis")?,
        "{now:#}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_plugin_says_of_itself_stands_before_what_the_host_would_say() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?;
    let words = "these are the plugin's words";
    for (word, says) in [("ok", false), ("follow-and-say", true)] {
        let folder = tempfile::tempdir()?;
        let input = json!({ "pages": { "/": word } });
        let settings = ["--set", "status-interval=100ms", "--set", "keep-alive=yes", "--max-time", "3s"];
        let run = crawl(&site, folder.path(), &input, &settings)?.env("NEPHILA_LOG", "info");
        let ended = tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
        let said: Vec<&str> = ended.stderr.lines().filter(|line| line.contains(": status ")).collect();
        // The first may come before the first page has said anything.
        let last = said.last().with_context(|| format!("a status: {}", ended.stderr))?;
        assert_eq!((last.contains(words), last.contains("Crawled 60/60 pages")), (says, !says), "{said:#?}");
        assert_eq!(ended.json()?["statusMessage"].as_str(), says.then_some(words));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_the_first_failure_of_each_kind_is_kept_once() -> Result<()> {
    let switches = Switches { status: vec![("/p/30".to_owned(), 404)], ..Switches::default() };
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500).with(switches)).await?;
    let input = json!({ "pages": { "/p/1": "push-then-fatal", "/p/2": "trap", "/p/4": "retry-once" } });
    let plain = tempfile::tempdir()?;
    let without = report(&crawl(&site, plain.path(), &input, &[])?, 0)?;
    assert!(without["errors"].as_array().context("errors")?.iter().all(|error| error.get("snapshot").is_none()));
    assert_eq!(snapshots(plain.path())?, BTreeMap::new());

    let folder = tempfile::tempdir()?;
    let snapshot = ["--set", "error-snapshots=yes", "-c", "1"];
    let limited = crawl(&site, folder.path(), &input, &snapshot)?.with(["--max-requests", "20"]);
    report(&limited, 0)?;
    let early = snapshots(folder.path())?;
    let whole = report(&crawl(&site, folder.path(), &input, &snapshot)?, 0)?;
    let kept = snapshots(folder.path())?;
    assert!(early.iter().all(|(key, page)| kept.get(key) == Some(page)), "what was kept is kept");
    let errors = whole["errors"].as_array().context("errors")?;
    let codes: Vec<&str> = errors.iter().filter_map(|error| error["code"].as_str()).collect();
    assert_eq!((codes.len(), kept.len()), (3, 3), "{errors:#?} {:?}", kept.keys());
    for error in errors {
        let (key, url) = (error["snapshot"].as_str().context("a key")?, error["url"].as_str().context("a URL")?);
        assert!(key.starts_with("ERROR_SNAPSHOT_") && key.ends_with(error["code"].as_str().unwrap_or("?")), "{key}");
        let (media, page) = kept.get(key).context("its page")?;
        let answer = client()?.get(url).send().await?;
        assert_eq!(answer.headers().get("content-type").and_then(|value| value.to_str().ok()), Some(media.as_str()));
        assert_eq!(answer.bytes().await?, page, "{url}");
    }
    assert!(whole["retryErrors"][0].get("snapshot").is_none(), "what is retried keeps none");
    assert_eq!(status(folder.path())?["errors"], whole["errors"]);
    Ok(())
}

fn client() -> Result<reqwest::Client> {
    // Fails if somebody was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().no_proxy().build()?)
}

fn snapshots(folder: &Path) -> Result<BTreeMap<String, (String, Vec<u8>)>> {
    let rows = rusqlite::Connection::open(folder.join("job/nephila.db"))?;
    let mut query =
        rows.prepare("SELECT key, content_type, value FROM key_values WHERE key LIKE 'ERROR!_SNAPSHOT!_%' ESCAPE '!'")?;
    let found = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_is_shown_and_what_is_too_large_is_counted() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?;
    let folder = tempfile::tempdir()?;
    let input = json!({ "pages": { "/p/59": "state-large", "p/": "follow-and-increment" } });
    let whole = report(&crawl(&site, folder.path(), &input, &[])?, 0)?;
    // Neither the index nor the page with the large value counts.
    assert_eq!((&whole["state"], &whole["stateKeysLeftOut"]), (&json!({ "counter": PAGES - 2 }), &json!(1)));
    let status = status(folder.path())?;
    assert_eq!((&status["state"], &status["stateKeysLeftOut"]), (&whole["state"], &whole["stateKeysLeftOut"]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_fails_for_good_or_brings_no_json_changes_no_state() -> Result<()> {
    for (word, code) in [("push-then-fatal", "asked"), ("push-then-trap", "trap"), ("state-bad-json", "bad-json")] {
        let site = Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?;
        let folder = tempfile::tempdir()?;
        let report = report(&crawl(&site, folder.path(), &json!({ "pages": { "/p/1": word } }), &[])?, 0)?;
        assert!(number(&report, "requestsFailed")? > 0);
        assert_eq!(report["errors"][0]["code"], code, "{report:#}");
        assert_eq!((&report["state"], report.get("stateKeysLeftOut")), (&json!({}), None), "{word}");
        if word == "state-bad-json" {
            let message = report["errors"][0]["message"].as_str().unwrap_or_default();
            assert!(message.contains("JSON"), "{message}");
        }
    }
    Ok(())
}
