//! `nephila export`: a job in Crawlee's storage layout, which the real Crawlee for Python reads, and its items once more.

#[path = "../../../host/crawlee/tests/interop/venv.rs"]
mod venv;

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, sorted_lines, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PAGES: usize = 40;

async fn site() -> Result<Running> {
    Ok(Site::start(SiteConfig::mesh(PAGES, 6, 500)).await?)
}

/// A crawl with things of every kind; `/p/7` fails.
fn crawl(site: &Running, folder: &Path, more: &[&str]) -> Result<Crawl> {
    let input = json!({ "pages": { "/7": "fatal", "/p/": "store-named" } }).to_string();
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--job", "job", "--id", "shop", "-o", "out.jsonl"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--set", "session-pool=yes", "--input", &input])
        .with(more.iter().copied()))
}

fn run(crawl: &Crawl) -> Result<Ended> {
    tokio::task::block_in_place(|| crawl.run())
}

fn export(folder: &Path, arguments: &[&str]) -> Result<Ended> {
    run(&Crawl::new(folder, ["export", "job"]).with(arguments.iter().copied()))
}

fn json_of(path: &Path) -> Result<Value> {
    serde_json::from_slice(&fs::read(path).with_context(|| path.display().to_string())?).context("JSON")
}

/// All files of a folder, with what is in them.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder)?.display().to_string(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

fn in_folder(folder: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_job_is_exported_whole() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    let report = run(&crawl(&site, folder.path(), &[])?)?.expect_code(0)?.json()?;
    let job_before = files(&folder.path().join("job"))?;
    let said = export(folder.path(), &["-o", "crawlee:storage"])?.expect_code(0)?.stderr;
    assert!(said.contains("are in storage"), "{said}");
    assert_eq!(files(&folder.path().join("job"))?, job_before, "to look changes nothing");
    assert_eq!(in_folder(folder.path())?, ["job", "out.jsonl", "storage"], "nothing is left beside it");

    let storage = folder.path().join("storage");
    let (finished, failed) = (report["requestsFinished"].as_u64().context("a count")?, 1);
    assert_eq!(finished + failed, PAGES as u64);
    // The index, each page and what `finish` adds.
    let items = usize::try_from(report["items"].as_u64().context("a count")?)?;
    assert_eq!(in_folder(&storage.join("datasets"))?, ["default", "failures", "price-list"]);
    assert_eq!(in_folder(&storage.join("datasets/default"))?.len(), items + 1);
    assert_eq!(json_of(&storage.join("datasets/default/__metadata__.json"))?["item_count"], json!(items));
    assert!(json_of(&storage.join("datasets/price-list/000000001.json"))?["price"] == json!(1.5));

    let store = storage.join("key_value_stores/default");
    assert_eq!(json_of(&store.join("CRAWLEE_STATE_shop"))?, json!({ "counter": PAGES - 2 }));
    let statistics = json_of(&store.join("__CRAWLER_STATISTICS_shop"))?;
    assert_eq!((&statistics["requestsFinished"], &statistics["requestsFailed"]), (&json!(finished), &json!(failed)));
    assert!(statistics["crawlerFinishedAt"].is_string());
    assert!(!json_of(&store.join("CRAWLEE_SESSION_POOL_STATE"))?["sessions"].as_array().context("a list")?.is_empty());
    assert_eq!(json_of(&store.join("settings"))?, json!({ "currency": "GBP" }));
    assert_eq!(json_of(&store.join("counts"))?, json!(PAGES - 2));
    assert_eq!(fs::read(storage.join("key_value_stores/covers/a%20b%2F%C3%BC.jpg"))?, [0, 255, 10]);

    let queue = json_of(&store.join("__RQ_STATE_shop"))?;
    assert_eq!(queue["handled_requests"].as_array().context("a list")?.len(), PAGES);
    assert_eq!(queue["regular_requests"], json!({}));
    assert_eq!(in_folder(&storage.join("request_queues/default"))?.len(), PAGES + 1);
    let metadata = json_of(&storage.join("request_queues/default/__metadata__.json"))?;
    assert_eq!((&metadata["id"], &metadata["handled_request_count"]), (&json!("shop"), &json!(PAGES)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_folder_is_kept_or_replaced_as_it_was_said() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    run(&crawl(&site, folder.path(), &[])?)?.expect_code(0)?;
    let storage = folder.path().join("storage");
    // An empty one is as good as none.
    fs::create_dir(&storage)?;
    export(folder.path(), &["-o", "crawlee:storage"])?.expect_code(0)?;
    fs::write(storage.join("key_value_stores/default/mark"), "mine")?;
    let before = files(&storage)?;
    // Other people have datasets, too.
    let mine = folder.path().join("mine");
    fs::create_dir_all(mine.join("datasets/images"))?;
    fs::write(mine.join("datasets/images/1.png"), "mine")?;
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link)?;
    for (arguments, word) in [
        (&["-o", "crawlee:storage"][..], "add --overwrite"),
        (&["-o", "crawlee:storage", "--append"], "cannot be added to"),
        (&["-o", "crawlee:job", "--overwrite"], "holds other things"),
        (&["-o", "crawlee:out.jsonl", "--overwrite"], "is not a folder"),
        (&["-o", "crawlee:none/storage"], "none"),
        (&["-o", "crawlee:"], "give the folder"),
        (&["-o", "items.csv"], "crawlee:FOLDER"),
        (&["-o", "storage"], "crawlee:FOLDER"),
        (&["-o", "parquet:items"], "crawlee:FOLDER"),
        (&["-o", "crawlee:other", "--id", "nobody"], "leave --id out"),
        (&["-o", "crawlee:other", "--id", "nobody"], "it has `shop`"),
        (&["-o", "crawlee:.", "--overwrite"], "apart from the job"),
        (&["-o", "crawlee:job/storage"], "apart from the job"),
        (&["-o", "crawlee:mine", "--overwrite"], "holds other things"),
        (&["-o", "crawlee:/proc", "--overwrite"], "mount point"),
        (&["-o", "crawlee:link", "--overwrite"], "is a link to what is not there"),
        (&["-o", "out.jsonl"], "--overwrite"),
    ] {
        let said = export(folder.path(), arguments)?.expect_code(2)?.stderr;
        assert!(said.contains(word) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
    assert_eq!((files(&storage)?, files(&mine)?.len()), (before.clone(), 1));
    fs::remove_dir_all(mine)?;
    fs::remove_file(link)?;
    // The job itself, by another name.
    std::os::unix::fs::symlink("job/nephila.db", folder.path().join("link.jsonl"))?;
    let said = export(folder.path(), &["-o", "link.jsonl", "--overwrite"])?.expect_code(2)?.stderr;
    assert!(said.contains("a file of the job"), "{said}");
    fs::remove_file(folder.path().join("link.jsonl"))?;
    export(folder.path(), &["-o", "crawlee:storage", "--overwrite"])?.expect_code(0)?;
    assert!(!storage.join("key_value_stores/default/mark").exists());
    assert_eq!(files(&storage)?.len(), before.len() - 1);
    assert_eq!(in_folder(folder.path())?, ["job", "out.jsonl", "storage"]);
    let nowhere = run(&Crawl::new(folder.path(), ["export", "nowhere", "-o", "crawlee:x"]))?.expect_code(2)?.stderr;
    assert!(nowhere.contains("there is no job"), "{nowhere}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_items_are_written_once_more() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    run(&crawl(&site, folder.path(), &[])?)?.expect_code(0)?;
    export(folder.path(), &["-o", "items.jsonl"])?.expect_code(0)?;
    let (out, again) = (folder.path().join("out.jsonl"), folder.path().join("items.jsonl"));
    assert_eq!(fs::read(&again)?, fs::read(&out)?);
    export(folder.path(), &["-o", "items.jsonl", "--append"])?.expect_code(0)?;
    assert_eq!(sorted_lines(&again)?.len(), 2 * sorted_lines(&out)?.len());
    let piped = export(folder.path(), &["-o", "-"])?.expect_code(0)?;
    assert_eq!(piped.stdout.lines().count(), sorted_lines(&out)?.len());
    Ok(())
}

/// Whether a process has said what it does on Ctrl-C.
fn listens_to_ctrl_c(pid: u32) -> Result<bool> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).context("the signals that are caught")?;
    Ok(u64::from_str_radix(caught.trim(), 16)? & (1 << (Signal::SIGINT as i32 - 1)) != 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_nobody_reads_holds_up_no_crawl_and_ends_on_ctrl_c() -> Result<()> {
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    run(&crawl(&site, folder.path(), &["--max-requests", "5"])?)?.expect_code(0)?;
    nix::unistd::mkfifo(&folder.path().join("items.jsonl"), nix::sys::stat::Mode::S_IRWXU)?;
    let mut child = Crawl::new(folder.path(), ["export", "job", "-o", "items.jsonl"]).spawn()?;
    while !listens_to_ctrl_c(child.id())? {
        assert!(child.try_wait()?.is_none(), "it waits for a reader");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    run(&crawl(&site, folder.path(), &[])?)?.expect_code(0)?;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(child.id())?), Signal::SIGINT)?;
    let ended = tokio::task::block_in_place(|| child.wait_with_output())?;
    let said = Ended::of(ended).expect_code(3)?.stderr;
    assert!(said.contains("stopped"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_runs_or_was_killed_is_exported_as_one_moment_has_it() -> Result<()> {
    let config = SiteConfig::mesh(200, 12, 500).with(Switches { latency_ms: 3, ..Switches::default() });
    let (site, folder) = (Site::start(config).await?, tempfile::tempdir()?);
    let mut child = crawl(&site, folder.path(), &["-c", "4"])?.spawn()?;
    while site.stats().requests < 30 && child.try_wait()?.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // What was fetched is committed a little later.
    let finished = || {
        let status = run(&Crawl::new(folder.path(), ["status", "job", "--json"]))?.expect_code(0)?.json()?;
        status["requestsFinished"].as_u64().context("a count")
    };
    while finished()? < 10 {
        assert!(child.try_wait()?.is_none(), "it works on");
    }
    // Twice while it runs, and once after it was killed.
    for name in ["first", "second", "killed"] {
        if name == "killed" {
            child.kill()?;
            child.wait()?;
        }
        export(folder.path(), &["-o", &format!("crawlee:{name}")])?.expect_code(0)?;
        let storage = folder.path().join(name);
        let store = storage.join("key_value_stores/default");
        let statistics = json_of(&store.join("__CRAWLER_STATISTICS_shop"))?;
        let count = |field: &str| statistics[field].as_u64().context("a count");
        let (finished, failed) = (count("requestsFinished")?, count("requestsFailed")?);
        assert!(finished >= 10, "{statistics}");
        // Every part is of the same moment: each page that was handled is an item, a price but for the index, and a count.
        let items = json_of(&storage.join("datasets/default/__metadata__.json"))?["item_count"].as_u64();
        assert_eq!(items, Some(finished));
        let prices = json_of(&storage.join("datasets/price-list/__metadata__.json"))?["item_count"].as_u64();
        assert_eq!(prices, Some(finished - 1));
        assert_eq!(json_of(&store.join("CRAWLEE_STATE_shop"))?, json!({ "counter": finished - 1 }));
        assert_eq!(json_of(&store.join("counts"))?, json!(finished - 1));
        let queue = json_of(&store.join("__RQ_STATE_shop"))?;
        let handled = queue["handled_requests"].as_array().context("a list")?.len() as u64;
        assert_eq!(handled, finished + failed);
        let pending = queue["regular_requests"].as_object().context("a map")?.len();
        let requests = in_folder(&storage.join("request_queues/default"))?.len() - 1;
        assert_eq!(requests as u64, handled + pending as u64);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_crawlee_reads_what_was_exported_and_goes_on_with_it() -> Result<()> {
    let test = "the_real_crawlee_reads_what_was_exported_and_goes_on_with_it";
    let Some(python) = venv::python_with_crawlee(test)? else { return Ok(()) };
    let (site, folder) = (site().await?, tempfile::tempdir()?);
    // Some are left for Crawlee.
    let report = run(&crawl(&site, folder.path(), &["--max-requests", "25"])?)?.expect_code(0)?.json()?;
    let count = |field: &str| report[field].as_u64().context("a count");
    let (finished, failed, pending) = (count("requestsFinished")?, count("requestsFailed")?, count("requestsPending")?);
    assert!(pending > 0);
    export(folder.path(), &["-o", "crawlee:storage"])?.expect_code(0)?;

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/crawlee/tests/interop/theirs.py");
    let mut command = Command::new(python);
    command.arg(script).args(["exported".as_ref(), folder.path().join("storage").as_os_str(), "shop".as_ref()]);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CRAWLEE_") || name.starts_with("APIFY_")) {
            command.env_remove(name);
        }
    }
    let output = tokio::task::block_in_place(|| venv::run(&mut command))?;
    let seen: Value = serde_json::from_slice(&output.stdout).context("theirs.py printed no JSON")?;

    assert_eq!(seen["items"], report["items"]);
    let urls = seen["urls"].as_array().context("a list")?.len() as u64;
    assert_eq!(urls, finished);
    assert_eq!(seen["prices"], report["itemsByDataset"]["price.list"]);
    assert_eq!(seen["price"]["price"], json!(1.5));
    assert_eq!(seen["state"], json!({ "counter": seen["prices"] }));
    assert_eq!((&seen["finished"], &seen["failed"]), (&json!(finished), &json!(failed)));
    assert!(seen["sessions"].as_u64() > Some(0));
    assert_eq!((&seen["settings"], &seen["cover"]), (&json!({ "currency": "GBP" }), &json!({ "base64": "AP8K" })));
    assert_eq!(seen["auto_saved"], seen["prices"]);
    let queue = json!({ "handled": finished + failed, "pending": pending, "total": finished + failed + pending });
    assert_eq!(seen["queue"], queue);
    // All that waits comes, in our order, and nothing else; each key is the one that Crawlee itself would compute.
    assert_eq!(seen["fetched"].as_array().context("a list")?.len() as u64, pending);
    assert_eq!(seen["keys_agree"], json!(true));
    assert_eq!(seen["known_again"], json!(true), "a page that was handled is not accepted again");
    Ok(())
}
