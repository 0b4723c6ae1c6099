//! Stopping and going on: limits, signals, finished jobs, runs without a job folder.

use anyhow::{Context, Result};
use nephila_e2e::{Crawl, lines, plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use nix::sys::signal::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

fn books(folder: &Path, site: &Running, more: &[&str]) -> Result<Crawl> {
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json"])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()])
        .with(more.iter().copied()))
}

async fn shop() -> Result<Running> {
    Ok(Site::start(SiteConfig::bookshop().with(Switches { latency_ms: 2, ..Switches::default() })).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_keeps_the_outcome_that_crosses_it_and_a_higher_one_goes_on() -> Result<()> {
    let (site, folder) = (shop().await?, tempfile::tempdir()?);
    let with_limit = |n: &'static str| books(folder.path(), &site, &["--job", "job", "-o", "out.jsonl", "-n", n]);

    let first = tokio::task::block_in_place(|| with_limit("10")?.run())?.expect_code(0)?.json()?;
    assert_eq!((&first["items"], &first["finishReason"]), (&10.into(), &"max-items".into()));
    assert!(first["requestsPending"].as_u64().context("a count")? > 0);
    assert_eq!(lines(&folder.path().join("out.jsonl"))?.len(), 10);

    // The same limit again: nothing to do.
    let seen = site.stats().requests;
    let again = tokio::task::block_in_place(|| with_limit("10")?.run())?.expect_code(0)?.json()?;
    assert_eq!((&again["items"], site.stats().requests), (&10.into(), seen));

    let more = tokio::task::block_in_place(|| with_limit("25")?.run())?.expect_code(0)?.json()?;
    assert_eq!(more["items"], 25);
    assert_eq!(lines(&folder.path().join("out.jsonl"))?.len(), 25);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn max_requests_and_max_depth_are_kept() -> Result<()> {
    let (site, folder) = (shop().await?, tempfile::tempdir()?);
    let limited = books(folder.path(), &site, &["--job", "requests", "--max-requests", "7"])?;
    let report = tokio::task::block_in_place(|| limited.run())?.expect_code(0)?.json()?;
    assert_eq!((&report["requestsFinished"], &report["finishReason"]), (&7.into(), &"max-requests".into()));
    assert_eq!(site.stats().requests, 7, "no page was fetched in vain");

    // The first listing page, its twenty books and the second listing page; what is deeper is refused.
    let shallow = books(folder.path(), &site, &["--job", "depth", "--max-depth", "1"])?;
    let report = tokio::task::block_in_place(|| shallow.run())?.expect_code(0)?.json()?;
    assert_eq!((&report["requestsFinished"], &report["items"]), (&22.into(), &20.into()));
    assert!(report["requestsRefused"]["depth"].as_u64().context("refused by depth")? > 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_job_is_left_alone_and_says_so() -> Result<()> {
    let (site, folder) = (shop().await?, tempfile::tempdir()?);
    let run = books(folder.path(), &site, &["--job", "job", "-o", "out.jsonl"])?;
    tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
    let (seen, output) = (site.stats().requests, lines(&folder.path().join("out.jsonl"))?);

    let again = tokio::task::block_in_place(|| run.run())?.expect_code(0)?;

    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    assert_eq!(site.stats().requests, seen);
    assert_eq!(lines(&folder.path().join("out.jsonl"))?, output);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_finishes_the_pages_in_hand_and_says_how_to_go_on() -> Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let (site, folder) = (shop().await?, tempfile::tempdir()?);
        let run = books(folder.path(), &site, &[])?;
        let child = run.spawn()?;
        let deadline = Instant::now() + Duration::from_secs(60);
        while site.stats().requests < 50 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().try_into()?), signal)?;
        let ended = tokio::task::block_in_place(|| child.wait_with_output()).map(nephila_e2e::Ended::of)?.expect_code(3)?;
        assert!(ended.stderr.contains("--resume"), "{}", ended.stderr);
        assert_eq!(ended.json()?["status"], "PAUSED");
        assert_eq!(ended.json()?["fetches"], site.stats().requests);

        let resumed = run.with(["--resume"]);
        let report = tokio::task::block_in_place(|| resumed.run())?.expect_code(0)?.json()?;
        assert_eq!((&report["requestsFinished"], &report["items"]), (&1_050.into(), &1_000.into()));
        assert_eq!(site.stats().requests, 1_050, "nothing was fetched twice");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_job_says_how_its_outputs_are_completed_and_which_run_was_taken() -> Result<()> {
    let (site, folder) = (shop().await?, tempfile::tempdir()?);
    nix::unistd::mkfifo(&folder.path().join("items"), nix::sys::stat::Mode::S_IRWXU)?;
    let run = books(folder.path(), &site, &["--set", "shutdown-grace=1"])?;
    let child = run.clone().with(["-o", "items"]).spawn()?;
    let path = folder.path().join("items");
    // Opens the pipe, so that the crawl begins, and never reads.
    let reader = tokio::task::spawn_blocking(move || std::fs::File::open(path)).await??;
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.stats().requests < 800 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().try_into()?), Signal::SIGTERM)?;
    let ended = tokio::task::block_in_place(|| child.wait_with_output()).map(nephila_e2e::Ended::of)?.expect_code(3)?;
    drop(reader);
    let said = &ended.stderr;
    assert!(said.contains("the outputs are behind the dataset") && said.contains("it has no --job, with --resume"), "{said}");

    std::fs::write(folder.path().join("mine.jsonl"), "{}\n")?;
    let refused = run.with(["--resume", "-o", "mine.jsonl"]);
    let said = tokio::task::block_in_place(|| refused.run())?.expect_code(2)?.stderr;
    let kept = std::fs::read_dir(folder.path().join("storage/runs"))?.next().context("a run")??.file_name();
    let kept = kept.to_str().context("a name")?;
    assert!(said.contains(&format!("--resume took storage/runs/{kept}")) && said.contains("mine.jsonl exists"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_five_runs_are_kept() -> Result<()> {
    let (site, folder) = (shop().await?, tempfile::tempdir()?);
    for _ in 0..7 {
        let run = books(folder.path(), &site, &["--max-requests", "1"])?;
        tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
    }
    assert_eq!(std::fs::read_dir(folder.path().join("storage/runs"))?.count(), 5);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn status_tells_where_a_job_stands_while_it_runs_and_after() -> Result<()> {
    let site = Site::start(SiteConfig::bookshop().with(Switches { latency_ms: 20, ..Switches::default() })).await?;
    let folder = tempfile::tempdir()?;
    let child = books(folder.path(), &site, &["--job", "job"])?.spawn()?;
    let status = Crawl::new(folder.path(), ["status", "--json", "job"]);
    let deadline = Instant::now() + Duration::from_secs(60);
    let running = loop {
        anyhow::ensure!(Instant::now() < deadline, "the crawl never showed as running");
        let ended = tokio::task::block_in_place(|| status.run())?;
        if let Ok(report) = ended.json()
            && report["requestsFinished"].as_u64() > Some(0)
        {
            break report;
        }
    };
    assert_eq!(running["status"], "RUNNING");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().try_into()?), Signal::SIGKILL)?;
    tokio::task::block_in_place(|| child.wait_with_output())?;
    let died = tokio::task::block_in_place(|| status.run())?.expect_code(0)?.json()?;
    assert_eq!((&died["status"], &died["finishReason"]), (&"PAUSED".into(), &"died".into()));
    Ok(())
}
