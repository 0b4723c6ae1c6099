//! Items on their way to their datasets: through pipelines in order, kept, changed, left out, or rejected together with their page.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, lines, plugin, sorted_lines, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

fn books(site: &Running, folder: &Path, input: &Value, more: &[&str]) -> Result<Crawl> {
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--input", &input.to_string()])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()])
        .with(more.iter().copied()))
}

fn hostile(site: &Running, folder: &Path, input: &Value, more: &[&str]) -> Result<Crawl> {
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl", "--set", "retry-delay=10ms"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", &input.to_string()])
        .with(more.iter().copied()))
}

fn items(file: &Path) -> Result<Vec<Value>> {
    lines(file)?.iter().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_pass_through_pipelines_in_the_operators_order() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::bookshop()).await?, tempfile::tempdir()?);
    let (fields, other) = (plugin("fields")?.display().to_string(), test_plugin("hostile")?.display().to_string());
    let shallow = ["--max-depth", "1", "--store", "memory:", "-o"];
    let run = |name: &str, input: Value, pipelines: &[&str]| -> Result<(Value, Vec<Value>)> {
        let more = [&shallow[..], &[name]].concat();
        let crawl = books(&site, folder.path(), &input, &more)?.with(pipelines.iter().flat_map(|given| ["--pipeline", given]));
        let report = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?.json()?;
        Ok((report, items(&folder.path().join(name))?))
    };
    let (_, whole) = run("whole.jsonl", Value::Null, &[])?;
    let good = whole.iter().filter(|book| book["rating"] == 5).count();
    assert!(good > 0 && good < whole.len(), "{good} of {}", whole.len());

    let told = json!({ "\"rating\":5": "drop", "\"title\"": "wrap" });
    let input = json!({ "fields": { "keep": ["title", "rating"] }, "items": told });
    let (report, found) = run("fields-first.jsonl", input, &[&fields, &other])?;
    assert_eq!((&report["items"], &report["itemsDropped"]), (&json!(whole.len() - good), &json!({ "asked": good })));
    assert_eq!(found.len(), whole.len() - good);
    for item in &found {
        let book = whole.iter().find(|book| book["title"] == item["was"]["title"] && book["url"] == item["of"]);
        let book = book.with_context(|| format!("{item} is of no book"))?;
        assert_eq!(item["was"], json!({ "title": book["title"], "rating": book["rating"] }));
    }

    let input = json!({ "fields": { "keep": ["was"], "require": ["of"] }, "items": { "\"title\"": "wrap" } });
    let (report, found) = run("fields-last.jsonl", input, &[&other, &fields])?;
    assert_eq!((&report["items"], &report["itemsDropped"]), (&json!(whole.len()), &json!({})));
    let books: BTreeSet<String> = found.iter().map(|item| item["was"].to_string()).collect();
    assert_eq!(books, whole.iter().map(Value::to_string).collect());
    assert!(found.iter().all(|item| item.as_object().is_some_and(|fields| fields.len() == 1)), "{found:?}");
    Ok(())
}

/// What a pipeline does with an item of a page, and the code that the page must fail with.
const MISDEEDS: &[(&str, &str)] = &[
    ("item-reject", "item-rejected"),
    ("item-count-and-reject", "item-rejected"),
    ("item-trap", "trap"),
    ("item-retry", "asked"),
    ("item-fatal", "asked"),
    ("item-push", "not-in-pipeline"),
    ("item-enqueue", "not-in-pipeline"),
    ("item-change-to-text", "bad-json"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_item_is_rejected_fails_and_nothing_of_it_is_kept() -> Result<()> {
    const PAGES: usize = 60;
    let (site, folder) = (Site::start(SiteConfig::mesh(PAGES, 8, 1_000)).await?, tempfile::tempdir()?);
    let mut pages: Map<String, Value> =
        MISDEEDS.iter().enumerate().map(|(index, (deed, _))| (format!("/p/{}", 41 + index), json!(deed))).collect();
    pages.insert("/p/50".into(), json!("item-drop"));
    pages.insert("/p/51".into(), json!("item-increment"));

    let crawl = hostile(&site, folder.path(), &json!({ "pages": pages }), &[])?;
    let ended = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?;
    let report = ended.json()?;

    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, code) in MISDEEDS {
        *expected.entry(code).or_default() += 1;
    }
    let errors = report["errors"].as_array().context("errors")?;
    // A code may have several kinds, by place and words.
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for error in errors {
        *found.entry(error["code"].as_str().context("a code")?).or_default() += error["count"].as_u64().context("a count")?;
    }
    assert_eq!(found, expected, "{errors:#?}");
    let rejected = errors.iter().find(|error| error["code"] == "item-rejected").context("an item was rejected")?;
    let said = rejected["message"].as_str().context("a message")?;
    assert!(said.contains("in the pipeline of hostile: item 1: the test asked for it"), "{said}");
    assert_eq!(report["retryErrors"][0]["count"], 3, "an error that asks for it is retried: {report:#}");
    assert_eq!(report["requestsFinished"], PAGES - MISDEEDS.len());
    assert_eq!(report["itemsByDataset"]["failures"], MISDEEDS.len(), "failure was called once for each");
    // Of the two pages that stand, one lost an item; both kept the rest.
    assert_eq!(report["itemsDropped"], json!({ "asked": 1 }));
    assert_eq!((&report["state"]["effects"], &report["state"]["items"]), (&json!(2), &json!(1)));
    let whole = items(&folder.path().join("out.jsonl"))?;
    let urls: BTreeSet<&str> = whole.iter().filter_map(|item| item["url"].as_str()?.split("/p/").nth(1)).collect();
    for index in 0..MISDEEDS.len() {
        assert!(!urls.contains((41 + index).to_string().as_str()), "a page that failed left an item");
    }
    assert!(urls.contains("50") && urls.contains("51"));
    assert_eq!(whole.iter().filter_map(|item| item["item"].as_str()).collect::<Vec<_>>(), ["increment"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_entry_points_push_passes_too() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(10, 4, 500)).await?;
    let folder = tempfile::tempdir()?;
    let input = json!({
        "listen": ["page"],
        "pages": { "/p/3": "emit-once", "/p/4": "fatal", "/p/5": "fatal" },
        "items": { "\"heard\"": "wrap", "/p/4\"": "reject" },
    });
    let crawl = hostile(&site, folder.path(), &input, &[])?;
    let ended = tokio::task::block_in_place(|| crawl.run())?.expect_code(0)?;
    let report = ended.json()?;
    let found = items(&folder.path().join("out.jsonl"))?;
    let heard = found.iter().find(|item| item["was"]["name"] == "page").context("what the listener pushed")?;
    assert_eq!((&heard["of"], &heard["to"]), (&Value::Null, &Value::Null));
    // What `failure` pushed for the one page was rejected, so that nothing of it is kept; the request has failed all the same.
    assert_eq!((&report["requestsFailed"], &report["itemsByDataset"]["failures"]), (&json!(2), &json!(1)));
    assert!(
        ended.stderr.contains("the failure entry point failed") && ended.stderr.contains("item-rejected"),
        "{}",
        ended.stderr
    );

    let (folder, input) = (tempfile::tempdir()?, json!({ "items": { "\"finish\"": "reject" } }));
    let crawl = hostile(&site, folder.path(), &input, &[])?;
    let report = tokio::task::block_in_place(|| crawl.run())?.expect_code(1)?.json()?;
    assert_eq!(report["finishReason"], "finish-failed");
    assert!(items(&folder.path().join("out.jsonl"))?.iter().all(|item| item["finish"].is_null()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_what_pipelines_do_counts_once() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop().with(Switches { latency_ms: 1, ..Switches::default() })).await?;
    let folder = tempfile::tempdir()?;
    let other = test_plugin("hostile")?.display().to_string();
    let fields = plugin("fields")?.display().to_string();
    // Some are left out, some are counted with a read that all others change, the rest are counted without.
    let told = json!({ "\"rating\":5": "drop", "\"rating\":4": "count", "\"title\"": "increment" });
    let input = json!({ "fields": { "keep": ["title", "rating", "upc"] }, "items": told });
    let run = |name: &str| -> Result<Crawl> {
        let output = format!("{name}.jsonl");
        let more = ["--job", name, "-o", &output, "--pipeline", &fields, "--pipeline", &other];
        books(&site, folder.path(), &input, &more)
    };
    let whole = tokio::task::block_in_place(|| run("whole")?.run())?.expect_code(0)?.json()?;

    let killed = run("killed")?;
    let mut ended = None;
    for kills in 1..=5_u64 {
        let mut child = killed.spawn()?;
        let (begun, patience) = (site.stats().requests, Instant::now() + Duration::from_secs(60));
        while site.stats().requests < begun + 50 * kills && Instant::now() < patience && child.try_wait()?.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if child.try_wait()?.is_none() {
            kill(Pid::from_raw(child.id().try_into()?), Signal::SIGKILL)?;
        }
        ended = Some(tokio::task::block_in_place(|| child.wait_with_output())?.status);
    }
    assert!(ended.is_some_and(|status| status.code().is_none()), "it was killed each time: {ended:?}");
    let report = tokio::task::block_in_place(|| killed.run())?.expect_code(0)?.json()?;

    let good = whole["itemsDropped"]["asked"].as_u64().context("some were left out")?;
    assert!(good > 0 && whole["items"].as_u64().is_some_and(|items| items + good == 1_000), "{whole:#}");
    assert_eq!(whole["state"]["items"], whole["items"], "each item that passed was counted");
    for name in ["items", "itemsDropped", "state", "requestsFinished", "requestsFailed"] {
        assert_eq!(report[name], whole[name], "{name}");
    }
    let file = |name: &str| sorted_lines(&folder.path().join(format!("{name}.jsonl")));
    assert_eq!(file("killed")?, file("whole")?);
    Ok(())
}
