//! What can end a crawl from outside, and what may not hold it up.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, Ended, lines, plugin, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

fn send(child: &Child, signal: Signal) -> Result<()> {
    Ok(kill(Pid::from_raw(child.id().try_into()?), signal)?)
}

fn ended(child: Child) -> Result<Ended> {
    Ok(tokio::task::block_in_place(|| child.wait_with_output()).map(Ended::of)?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_drops_the_pages_in_hand_and_the_same_command_goes_on() -> Result<()> {
    let slow = Switches { slow: vec![("/catalogue/page-2.html".to_owned(), 60_000)], ..Switches::default() };
    let site = Site::start(SiteConfig::bookshop().with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let child = run.spawn()?;
    let deadline = Instant::now() + Duration::from_secs(60);
    // Page 2 hangs; what else there is, is done.
    while site.stats().requests < 22 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&child, Signal::SIGINT)?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    send(&child, Signal::SIGINT)?;
    let forced = ended(child)?.expect_code(3)?;
    assert_eq!(forced.json()?["finishReason"], "signal-forced");
    assert_eq!(forced.json()?["requestsPending"], 1, "{}", forced.stdout);
    assert!(!forced.stderr.contains("the listener is still"), "it has none: {}", forced.stderr);

    let status = Crawl::new(folder.path(), ["status", "--json", "job"]);
    let after = tokio::task::block_in_place(|| status.run())?.expect_code(0)?.json()?;
    assert_eq!((&after["status"], &after["requestsFinished"]), (&"PAUSED".into(), &21.into()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_who_stands_still_holds_up_nobody_who_was_told_to_stop() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    nix::unistd::mkfifo(&folder.path().join("items"), nix::sys::stat::Mode::S_IRWXU)?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--job", "job", "-o", "items", "--set", "shutdown-grace=1"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let child = run.spawn()?;
    let path = folder.path().join("items");
    // Opens the pipe, so that the crawl begins, and never reads.
    let reader = tokio::task::spawn_blocking(move || std::fs::File::open(path)).await??;
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.stats().requests < 1_050 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&child, Signal::SIGTERM)?;
    let stopped = ended(child)?.expect_code(3)?;
    assert!(stopped.stderr.contains("the same command"), "{}", stopped.stderr);
    drop(reader);

    let file = Crawl::new(folder.path(), ["run", "--delay", "0", "--job", "job", "-o", "all.jsonl"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    tokio::task::block_in_place(|| file.run())?.expect_code(0)?;
    assert_eq!(lines(&folder.path().join("all.jsonl"))?.len(), 1_000, "every row is in the dataset");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_output_stops_the_crawl_and_loses_nothing() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let full = run.clone().with(["-o", "/dev/full"]);
    let stopped = tokio::task::block_in_place(|| full.run())?.expect_code(3)?;
    assert!(stopped.stderr.contains("/dev/full"), "{}", stopped.stderr);
    let rest = run.with(["-o", "all.jsonl"]);
    let report = tokio::task::block_in_place(|| rest.run())?.expect_code(0)?.json()?;
    assert_eq!(report["items"], 1_000);
    assert_eq!(lines(&folder.path().join("all.jsonl"))?.len(), 1_000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_ends_the_crawl_and_the_same_command_goes_on() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(60, 5, 500)).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "100ms", "--json", "--job", "job", "--max-time", "1"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()]);
    let mut starts = 0;
    let report = loop {
        starts += 1;
        anyhow::ensure!(starts < 30, "it does not get on");
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        match report["finishReason"].as_str().context("a reason")? {
            "max-time" => assert!(report["requestsPending"].as_u64() > Some(0)),
            "finished" => break report,
            other => anyhow::bail!("it ended by {other}"),
        }
    };
    assert!(starts > 1, "a second is too short for sixty pages at ten a second");
    assert_eq!(report["requestsFinished"], 60);
    assert_eq!(report["fetches"], site.stats().requests, "nothing was fetched twice");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_output_gets_rows_with_ids_and_the_statistics_go_elsewhere() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "-o", "-"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let all = tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
    let ids: std::collections::BTreeSet<String> = all
        .stdout
        .lines()
        .map(|line| Ok(serde_json::from_str::<serde_json::Value>(line)?["_id"].as_str().context("an id")?.to_owned()))
        .collect::<Result<_>>()?;
    assert_eq!((ids.len(), all.stdout.lines().count()), (1_000, 1_000));
    assert!(all.stderr.contains("\"requestsFinished\":1050"), "{}", all.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_crawls_in_one_store_keep_apart() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    for id in ["one", "two"] {
        let output = format!("{id}.jsonl");
        let run =
            Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--store", "sqlite:shop", "--id", id, "-o", &output])
                .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        assert_eq!((&report["items"], &report["crawlerId"]), (&1_000.into(), &id.into()));
        assert_eq!(lines(&folder.path().join(output))?.len(), 1_000);
    }
    assert_eq!(site.stats().requests, 2_100);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_output_is_kept_or_replaced_as_it_was_said() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    for (option, count) in [("--append", 1_001), ("--overwrite", 1_000)] {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("out.jsonl"), "{\"mine\":true}")?;
        let run = Crawl::new(folder.path(), ["run", "--delay", "0", "-o", "out.jsonl", option])
            .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
        tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
        let found = lines(&folder.path().join("out.jsonl"))?;
        assert_eq!(found.len(), count, "{option}");
        assert_eq!(found[0] == "{\"mine\":true}", option == "--append");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_whose_messages_nobody_reads_still_hears_a_signal() -> Result<()> {
    let slow = Switches { latency_ms: 50, ..Switches::default() };
    let site = Site::start(SiteConfig::bookshop().with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let mut child = run.spawn()?;
    drop(child.stderr.take());
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.stats().requests < 10 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&child, Signal::SIGTERM)?;
    assert_eq!(ended(child)?.expect_code(3)?.json()?["finishReason"], "signal");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_while_a_pipe_waits_for_its_reader_is_a_stop_before_the_beginning() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop()).await?;
    let folder = tempfile::tempdir()?;
    nix::unistd::mkfifo(&folder.path().join("items"), nix::sys::stat::Mode::S_IRWXU)?;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--job", "job", "-o", "items"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()]);
    let child = run.spawn()?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path().join("job/nephila.db").exists() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&child, Signal::SIGTERM)?;
    let stopped = ended(child)?.expect_code(3)?;
    assert!(stopped.stderr.contains("before the crawl began"), "{}", stopped.stderr);
    assert_eq!(site.stats().requests, 0);
    Ok(())
}

fn aborting(folder: &Path, site: &Running, more: &[&str]) -> Result<Crawl> {
    let input = r#"{ "pages": { "/p/7": "fatal", "/p/9": "fatal" } }"#;
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--set", "abort-on-error=yes"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", input])
        .with(more.iter().copied()))
}

#[tokio::test(flavor = "multi_thread")]
async fn with_abort_on_error_the_first_failure_ends_the_crawl_and_the_same_command_goes_on() -> Result<()> {
    // In a job, and without one, where --resume goes on.
    for (first, again) in [(&["--job", "job", "-c", "1"][..], &[][..]), (&["-c", "1"], &["--resume"])] {
        let site = Site::start(SiteConfig::mesh(60, 6, 500)).await?;
        let folder = tempfile::tempdir()?;
        let run = aborting(folder.path(), &site, first)?;
        let ended = tokio::task::block_in_place(|| run.run())?.expect_code(1)?;
        let report = ended.json()?;
        assert_eq!((report["status"].as_str(), report["finishReason"].as_str()), (Some("FAILED"), Some("abort-on-error")));
        assert_eq!((report["requestsFailed"].as_u64(), report["items"].as_u64()), (Some(1), report["requestsFinished"].as_u64()));
        assert!(report["requestsPending"].as_u64() > Some(0), "{report:#}");
        assert!(ended.stderr.contains("abort-on-error is set") && ended.stderr.contains("to go on"), "{}", ended.stderr);
        let failed = report["errors"][0]["url"].as_str().context("a URL")?;
        assert!(ended.stderr.contains(&format!("nephila: {failed} failed after 1 attempt (")), "{failed}: {}", ended.stderr);

        // A request that failed before ends nothing: there is one more, and then the end.
        let run = run.with(again.iter().copied());
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(1)?.json()?;
        assert_eq!((report["requestsFailed"].as_u64(), report["finishReason"].as_str()), (Some(2), Some("abort-on-error")));
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        assert_eq!((report["requestsFailed"].as_u64(), report["requestsFinished"].as_u64()), (Some(2), Some(58)));
        assert_eq!(report["finishReason"], "finished");
        assert_eq!(site.stats().requests, 60, "nothing was dropped, and nothing fetched twice");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_abort_on_error_the_pages_in_hand_are_finished_and_a_kill_loses_nothing() -> Result<()> {
    let slow = Switches { latency_ms: 20, ..Switches::default() };
    let site = Site::start(SiteConfig::mesh(60, 6, 500).with(slow)).await?;
    let folder = tempfile::tempdir()?;
    let run = aborting(folder.path(), &site, &["--job", "job", "-c", "8"])?;
    let mut child = run.spawn()?;
    while site.stats().requests < 12 && child.try_wait()?.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    child.kill()?;
    child.wait()?;
    for start in 1.. {
        anyhow::ensure!(start <= 3, "each failure ends the crawl once at most");
        let asked = site.stats().requests;
        let ended = tokio::task::block_in_place(|| run.run())?;
        let report = ended.json()?;
        match ended.code {
            Some(0) => {
                assert_eq!((report["requestsFailed"].as_u64(), report["requestsFinished"].as_u64()), (Some(2), Some(58)));
                return Ok(());
            }
            Some(1) => {
                assert_eq!(report["finishReason"], "abort-on-error");
                let looked = Crawl::new(folder.path(), ["status", "--json", "job"]);
                let status = tokio::task::block_in_place(|| looked.run())?.expect_code(0)?.json()?;
                assert_eq!((&status["status"], &status["finishReason"]), (&report["status"], &report["finishReason"]));
                assert!(site.stats().requests > asked);
            }
            other => anyhow::bail!("exit code {other:?}: {}", ended.stderr),
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_abort_on_error_a_page_that_killed_the_host_three_times_ends_the_crawl_once() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(60, 6, 500)).await?, tempfile::tempdir()?);
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job", "--set", "abort-on-error=yes"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .env("NEPHILA_TEST_CRASH_ON", "/p/33");
    // The first death is before any suspicion; three are inside the mark.
    for death in 1..=4 {
        let ended = tokio::task::block_in_place(|| run.run())?;
        assert_eq!(ended.code, None, "death {death}: {}", ended.stderr);
    }
    let asked = site.stats().requests;
    let ended = tokio::task::block_in_place(|| run.run())?.expect_code(1)?;
    let report = ended.json()?;
    assert_eq!((report["status"].as_str(), report["finishReason"].as_str()), (Some("FAILED"), Some("abort-on-error")));
    assert_eq!((&report["requestsFailed"], &report["errors"][0]["code"]), (&1.into(), &"crashed-the-host".into()));
    assert!(report["requestsPending"].as_u64() > Some(0) && site.stats().requests == asked, "nothing was begun: {report:#}");
    assert!(ended.stderr.contains("abort-on-error is set") && ended.stderr.contains("to go on"), "{}", ended.stderr);

    // It has ended the crawl once: the same command goes on with the rest.
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((report["requestsFailed"].as_u64(), report["requestsFinished"].as_u64()), (Some(1), Some(59)));
    assert_eq!(report["finishReason"], "finished");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_have_taken_of_the_grace_is_not_missing_to_who_hears_of_the_end_at_a_limit() -> Result<()> {
    // It would be in hand for a minute, and is dropped when the grace is over.
    let slow = Switches { slow: vec![("/p/7".to_owned(), 60_000)], ..Switches::default() };
    let (site, folder) = (Site::start(SiteConfig::mesh(60, 6, 500).with(slow)).await?, tempfile::tempdir()?);
    let input = r#"{ "listen": ["crawlFinished"], "hear": "nap" }"#;
    let run = Crawl::new(folder.path(), ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl"])
        .with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()])
        .with(["--input", input, "-n", "50", "--set", "shutdown-grace=4s"]);
    let ended = tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
    assert_eq!(ended.json()?["finishReason"], "max-items");
    assert_eq!(ended.stderr.matches("the listener is still at an event").count(), 0, "{}", ended.stderr);
    // What it pushed then is written by the next start: the outputs had what the pages brought.
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let heard = "SELECT count(*) FROM items WHERE json LIKE '%crawlFinished%'";
    assert_eq!(rows.query_row(heard, [], |row| row.get::<_, u32>(0))?, 1);
    Ok(())
}
