//! What can be seen of crawls from outside: which requests failed, what is in a folder of runs or a store of several, how it gets
//! on.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, plugin, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

fn hostile(folder: &Path, site: &Running, more: &[&str]) -> Result<Crawl> {
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(more.iter().copied()))
}

fn run(crawl: &Crawl, code: i32) -> Result<Ended> {
    tokio::task::block_in_place(|| crawl.run())?.expect_code(code)
}

fn status(folder: &Path, arguments: &[&str], code: i32) -> Result<Ended> {
    run(&Crawl::new(folder, ["status"]).with(arguments), code)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_request_that_fails_is_logged_and_listed_and_kinds_are_told_apart() -> Result<()> {
    let switches = Switches { status: vec![("/p/3".to_owned(), 404), ("/p/5".to_owned(), 410)], ..Switches::default() };
    let site = Site::start(SiteConfig::mesh(20, 6, 500).with(switches)).await?;
    let folder = tempfile::tempdir()?;
    let ended = run(&hostile(folder.path(), &site, &["--job", "job"])?, 0)?;
    let report = ended.json()?;
    let (gone, lost) = (format!("{}p/3", site.url()), format!("{}p/5", site.url()));
    for (url, status) in [(&gone, 404), (&lost, 410)] {
        let line = ended.stderr.lines().find(|line| line.contains(&format!("url={url} "))).context("a line of the log")?;
        let said = format!("answered with status {status}");
        for part in ["WARN", "a request failed", "code=\"status\"", "attempts=1", &said] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    let shapes: Vec<_> = report["errors"].as_array().context("errors")?.iter().map(|error| &error["shape"]).collect();
    assert_eq!(shapes.len(), 2, "{report:#}");
    assert!(shapes.contains(&&json!("<url> answered with status 404")), "{shapes:?}");

    let text = status(folder.path(), &["job", "--failed"], 0)?.stdout;
    let expected = format!("{gone} status after 1 attempt: {gone} answered with status 404");
    assert_eq!((text.lines().count(), text.lines().any(|line| line == expected)), (2, true), "{text}");
    let lines = status(folder.path(), &["job", "--failed", "--json"], 0)?.stdout;
    let listed = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().any(|one| one["url"] == lost.as_str() && one["status"] == 410 && one["attempts"] == 1), "{lines}");

    // What has not failed is not listed.
    let quiet = Site::start(SiteConfig::mesh(3, 2, 500)).await?;
    run(&hostile(folder.path(), &quiet, &["--job", "fine"])?, 0)?;
    let fine = status(folder.path(), &["fine", "--failed"], 0)?;
    assert_eq!((fine.stdout.as_str(), fine.stderr.contains("no request of this crawl has failed")), ("", true));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_runs_is_listed_and_no_job_is_made_up_where_there_is_none() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(5, 2, 500)).await?;
    let folder = tempfile::tempdir()?;
    for limit in ["1", "9"] {
        run(&hostile(folder.path(), &site, &["--max-requests", limit])?, 0)?;
    }
    let text = status(folder.path(), &["storage/runs"], 0)?.stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains("SUCCEEDED (finished)") && lines[0].contains("5 finished, 0 failed, 0 skipped, 0 pending"),
        "{text}"
    );
    assert!(lines[1].contains("max-requests") && lines[1].contains("1 finished") && lines[1].contains("storage/runs/"), "{text}");
    let json = status(folder.path(), &["storage/runs", "--json"], 0)?.json()?;
    let runs = json["runs"].as_array().context("runs")?;
    assert_eq!((runs.len(), &runs[0]["requestsFinished"], &runs[0]["status"]), (2, &json!(5), &json!("SUCCEEDED")));
    // What is listed can be looked at.
    let of_one = status(folder.path(), &[runs[0]["folder"].as_str().context("a folder")?, "--json"], 0)?.json()?;
    assert_eq!((&of_one["requestsFinished"], of_one.get("crawls")), (&json!(5), None));
    let refused = status(folder.path(), &["storage/runs", "--failed"], 2)?.stderr;
    assert!(refused.contains("give the folder of one, as in: nephila status storage/runs/"), "{refused}");
    let refused = status(folder.path(), &["storage"], 2)?.stderr;
    assert!(refused.contains("no job in storage, nor in a folder in it") && !refused.contains("makes one"), "{refused}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_crawls_of_a_store_are_listed_and_one_of_them_is_picked_by_its_id() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(5, 2, 500)).await?;
    let folder = tempfile::tempdir()?;
    for (id, limit) in [("first", "1"), ("second", "9")] {
        run(&hostile(folder.path(), &site, &["--store", "sqlite:store", "--id", id, "--max-requests", limit])?, 0)?;
    }
    let text = status(folder.path(), &["store"], 0)?.stdout;
    assert!(
        text.contains("has 2 crawls") && text.contains("first (plugin hostile)") && text.contains("second (plugin "),
        "{text}"
    );
    let first = status(folder.path(), &["store", "--id", "first", "--json"], 0)?.json()?;
    assert_eq!((&first["crawlerId"], &first["requestsFinished"], first.get("crawls")), (&json!("first"), &json!(1), None));
    let last = status(folder.path(), &["store", "--json"], 0)?.json()?;
    assert_eq!((&last["crawlerId"], last["crawls"].as_array().map(Vec::len)), (&json!("second"), Some(2)));
    let refused = status(folder.path(), &["store", "--id", "third"], 2)?.stderr;
    assert!(refused.contains("no crawl with the id `third`; it has `second`, `first`"), "{refused}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_interval_below_a_second_is_kept() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(5, 2, 500)).await?;
    let folder = tempfile::tempdir()?;
    let settings = ["--set", "status-interval=100ms", "--set", "keep-alive=yes"];
    let mut child = hostile(folder.path(), &site, &settings)?.env("NEPHILA_LOG", "info").spawn()?;
    let lines = BufReader::new(child.stderr.take().context("standard error")?).lines();
    let (deadline, mut last) = (Instant::now() + Duration::from_secs(60), None::<Instant>);
    let mut was_quick = false;
    for line in lines.map_while(Result::ok).filter(|line| line.contains(": status ")) {
        // Once a second would be never as close as this.
        was_quick = last.is_some_and(|last| last.elapsed() < Duration::from_millis(700));
        last = Some(Instant::now());
        if was_quick || Instant::now() > deadline {
            eprintln!("{line}");
            break;
        }
    }
    child.kill()?;
    child.wait()?;
    assert!(was_quick, "two messages within a second");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_there_and_a_setting_of_others_are_refused_with_the_way_out() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let refused = run(&Crawl::new(folder.path(), ["run", "nosuchdir/", "http://127.0.0.1:9/"]), 2)?.stderr;
    assert!(refused.contains("there is no file or folder `nosuchdir/`; looked for"), "{refused}");
    let books = plugin("books")?;
    let set = ["--set", "maxRequestsPerCrawl=9"];
    let refused = run(&Crawl::new(folder.path(), ["run"]).with([books.as_os_str()]).with(set), 2)?.stderr;
    assert!(refused.contains("did you mean `max-requests` (Crawlee's maxRequestsPerCrawl)?"), "{refused}");
    Ok(())
}
