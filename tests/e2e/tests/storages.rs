//! Datasets and key-value stores with a name, and auto-saved values, through the whole house.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const PAGES: usize = 60;

async fn site() -> Result<Running> {
    Ok(Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?)
}

fn crawl(site: &Running, folder: &Path, word: &str, more: &[&str]) -> Result<Crawl> {
    let input = json!({ "pages": { "/p/": word } }).to_string();
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input])
        .with(more.iter().copied()))
}

fn run(crawl: &Crawl) -> Result<Ended> {
    tokio::task::block_in_place(|| crawl.run())
}

/// A record of a key-value store, as JSON.
fn record(folder: &Path, store: &str, key: &str) -> Result<Value> {
    let rows = rusqlite::Connection::open(folder.join("nephila.db"))?;
    let query = "SELECT value, content_type FROM key_values WHERE store = ?1 AND key = ?2 AND (store = '') = (scope > 0)";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?));
    let (bytes, content_type) = rows.query_row(query, [store, key], read).with_context(|| format!("no record {key}"))?;
    assert!(content_type.starts_with("application/json"), "{content_type}");
    Ok(serde_json::from_slice(&bytes)?)
}

fn set_of(urls: &Value) -> Result<BTreeSet<String>> {
    let urls = urls.as_array().context("a list")?;
    let set: BTreeSet<String> = urls.iter().filter_map(|url| url.as_str().map(str::to_owned)).collect();
    assert_eq!(set.len(), urls.len(), "each once");
    Ok(set)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auto_saved_value_loses_no_change_of_any_handler_and_is_shown_as_a_record() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    run(&crawl(&site, folder.path(), "store-auto-saved", &["--job", "job", "--id", "shop"])?)?.expect_code(0)?;
    let job = folder.path().join("job");
    assert_eq!(record(&job, "", "counts")?, json!({ "pages": PAGES - 1 }));
    assert_eq!(set_of(&record(&job, "shared", "seen")?)?.len(), PAGES - 1);
    assert_eq!(record(&job, "", "CRAWLEE_STATE_shop")?, json!({}), "it is no part of the state that is shown");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_fails_changes_no_auto_saved_value_and_no_state() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let report = run(&crawl(&site, folder.path(), "store-auto-saved-then-fatal", &["--job", "job"])?)?.expect_code(0)?.json()?;
    assert!(report["requestsFailed"].as_u64() > Some(0), "{report}");
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    assert_eq!(rows.query_row("SELECT count(*) FROM state", [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_loses_no_change_of_an_auto_saved_value_and_doubles_none() -> Result<()> {
    const MANY: u64 = 300;
    let config = SiteConfig::mesh(usize::try_from(MANY)?, 12, 500).with(Switches { latency_ms: 2, ..Switches::default() });
    let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
    let crawl = crawl(&site, folder.path(), "store-auto-saved", &["--job", "job"])?;
    for kill in 1..=6 {
        let mut child = crawl.spawn()?;
        // A different place in the crawl each time; a start that comes to its end before is as good.
        while site.stats().requests < kill * 45 && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill()?;
        child.wait()?;
    }
    let report = run(&crawl)?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFinished"].as_u64(), report["requestsFailed"].as_u64()), (Some(MANY), Some(0)));
    let job = folder.path().join("job");
    assert_eq!(record(&job, "", "counts")?, json!({ "pages": MANY - 1 }));
    assert_eq!(set_of(&record(&job, "shared", "seen")?)?.len() as u64, MANY - 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn named_storages_outlive_a_crawl_and_begin_the_auto_saved_values_of_the_next() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let store = folder.path().join("shop");
    let with = |word, id| crawl(&site, folder.path(), word, &["--store", "sqlite:shop", "--id", id]);
    run(&with("store-named", "one")?)?.expect_code(0)?;
    run(&with("store-auto-saved", "two")?)?.expect_code(0)?;
    let seen = set_of(&record(&store, "shared", "seen")?)?;
    let third = run(&with("store-auto-saved", "three")?)?.expect_code(0)?;
    assert!(!third.stderr.contains("run's folder"), "{}", third.stderr);
    let rows = rusqlite::Connection::open(store.join("nephila.db"))?;
    let count = |query: &str| anyhow::Ok(usize::try_from(rows.query_row(query, [], |row| row.get::<_, i64>(0))?)?);
    // What the first crawl has put under a name is there after two others, once.
    let items =
        count("SELECT count(*) FROM items JOIN datasets ON datasets.id = dataset WHERE scope = 0 AND name = 'price.list'")?;
    assert_eq!(items, PAGES - 1);
    assert_eq!(count("SELECT count(*) FROM key_values WHERE store = 'covers' AND scope = 0")?, 1);
    // The third began with the record that the second had left, and has added its own.
    let now = record(&store, "shared", "seen")?;
    let now = now.as_array().context("a list")?;
    assert_eq!((seen.len(), now.len()), (PAGES - 1, 2 * (PAGES - 1)));
    // In its own store each began anew.
    let counts = "SELECT count(DISTINCT scope) FROM key_values WHERE key = 'counts' AND CAST(value AS TEXT) LIKE '%59%'";
    assert_eq!(count(counts)?, 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_storage_that_goes_with_its_run_is_told_of_once_with_the_way_out() -> Result<()> {
    let site = site().await?;
    let told = |ended: &Ended| ended.stderr.matches("is kept in this run's folder").count();
    for (word, more, times) in [
        ("store-named", &[][..], 1),
        ("store-named", &["--job", "job"], 0),
        ("store-named", &["--store", "sqlite:shop"], 0),
        ("ok", &[], 0),
    ] {
        let folder = tempfile::tempdir()?;
        let ended = run(&crawl(&site, folder.path(), word, more)?)?.expect_code(0)?;
        assert_eq!(told(&ended), times, "{word} {more:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.contains("use --store sqlite:DIR"), times > 0, "{}", ended.stderr);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_crawl_with_an_id_that_is_at_work_is_refused_and_changes_nothing() -> Result<()> {
    let config = SiteConfig::mesh(PAGES, 6, 500).with(Switches { latency_ms: 20, ..Switches::default() });
    let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
    let crawl = crawl(&site, folder.path(), "ok", &["--store", "sqlite:shop", "--id", "shop", "-c", "1"])?;
    let mut first = crawl.spawn()?;
    while site.stats().requests < 5 && first.try_wait()?.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let second = run(&crawl)?.expect_code(2)?;
    assert!(second.stderr.contains("in use") && second.stderr.contains(&first.id().to_string()), "{}", second.stderr);
    let first = tokio::task::block_in_place(|| first.wait_with_output()).map(Ended::of)?.expect_code(0)?.json()?;
    assert_eq!(first["requestsFinished"].as_u64(), Some(PAGES as u64));
    assert_eq!(site.stats().requests, PAGES as u64, "each page was asked for once");
    Ok(())
}
