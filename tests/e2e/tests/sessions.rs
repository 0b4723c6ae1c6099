//! Sessions over real HTTP: what a site sees of them, counted at the site by the cookie that it gives to each visitor.

use anyhow::{Context, Result, ensure};
use nephila_e2e::sessions::{count, crawl, hostile, items, retired, uses, visitors};
use nephila_e2e::{Crawl, plugin, test_plugin};
use nephila_site::{Site, SiteConfig, Switches};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Pages of the bookshop.
const BOOKSHOP: u64 = 1_050;

#[tokio::test(flavor = "multi_thread")]
async fn with_one_answer_in_twenty_blocked_no_session_passes_its_limit_and_the_counts_are_the_sites() -> Result<()> {
    let switches = Switches { block_every: Some(20), ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
    let settings = ["--set", "session-max-uses=10", "--set", "session-max-pool-size=20", "--set", "session-exclusive=yes"];
    let run = crawl(&site, folder.path(), &plugin("books")?, &settings);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;

    let (gate, seen) = (site.gate(), site.stats().requests);
    assert_eq!((gate.blocked, seen), (55, BOOKSHOP + 55), "each page once, and each blocked one once more");
    assert_eq!(gate.came_again, 0, "who was blocked does not come again");
    assert!(gate.by_visitor.values().all(|uses| *uses <= 10), "{:?}", gate.by_visitor);
    assert_eq!(count(&report, "requestsSessionRotations")?, gate.blocked);
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (BOOKSHOP, 0));
    assert_eq!((count(&report, "requestsRetries")?, count(&report, "fetches")?), (0, seen));
    assert_eq!(report["statusCodes"], json!({ "200": BOOKSHOP, "403": gate.blocked }));
    assert_eq!(uses(folder.path())?, gate.by_visitor, "what each session was used for");

    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let shown = "SELECT value FROM key_values WHERE key = 'CRAWLEE_SESSION_POOL_STATE'";
    let shown: Value = serde_json::from_slice(&rows.query_row(shown, [], |row| row.get::<_, Vec<u8>>(0))?)?;
    let sessions = shown["sessions"].as_array().context("sessions")?;
    assert!((1..=20).contains(&sessions.len()) && shown["maxPoolSize"] == 20, "{shown}");
    for session in sessions {
        let visitor = session["cookies"][0]["value"].as_str().context("a cookie")?;
        assert_eq!(session["usageCount"].as_u64(), gate.by_visitor.get(visitor).copied(), "{session}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_no_session_passes_its_limit() -> Result<()> {
    let switches = Switches { block_every: Some(20), latency_ms: 1, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
    let run =
        crawl(&site, folder.path(), &plugin("books")?, &["--set", "session-max-uses=7", "--set", "session-max-pool-size=9"]);
    let deadline = Instant::now() + Duration::from_secs(120);
    for kill_at in [150, 400, 650, 900] {
        let mut child = run.spawn()?;
        while site.stats().requests < kill_at && child.try_wait()?.is_none() {
            ensure!(Instant::now() < deadline, "the crawl does not get on");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        child.kill()?;
        tokio::task::block_in_place(|| child.wait_with_output())?;
    }
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    let gate = site.gate();
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (BOOKSHOP, 0));
    assert!(gate.by_visitor.values().all(|uses| *uses <= 7), "{:?}", gate.by_visitor);
    assert!(count(&report, "requestsSessionRotations")? <= gate.blocked);
    // What was in hand at a kill is counted by the site alone.
    assert!(count(&report, "fetches")? <= site.stats().requests);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_blocked_each_time_fails_once_its_rotations_are_over() -> Result<()> {
    let switches = Switches { block_every: Some(1), ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
    let run = crawl(&site, folder.path(), &plugin("books")?, &["--set", "max-session-rotations=3"]);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFailed")?, count(&report, "requestsRetries")?), (1, 0));
    assert_eq!((count(&report, "requestsSessionRotations")?, site.stats().requests), (3, 4));
    assert_eq!(report["errors"][0]["code"], "session-blocked");
    assert_eq!(site.gate().by_visitor.len(), 4, "each time another session");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_asked_too_much_is_asked_later_and_costs_one_session() -> Result<()> {
    // Each page but the first is refused three times over.
    let switches = Switches { fail_ratio: 1.0, fail_status: 429, heal_after: 3, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(12, 4, 500).with(switches)).await?, tempfile::tempdir()?);
    let settings = ["--set", "retry-delay=10ms", "--set", "session-reuse=until-failure"];
    let report = hostile(&site, folder.path(), "", &json!({}), &settings)?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (12, 0), "{report}");
    assert_eq!((count(&report, "requestsSessionRotations")?, count(&report, "requestsRetries")?), (1, 32), "{report}");
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let scores = "SELECT count(*), sum(retired), sum(score) FROM sessions";
    let scores: (u32, u32, f64) = rows.query_row(scores, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    assert_eq!(scores, (2, 1, 0.0), "those that were refused later are none the worse for it");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_always_too_much_has_its_retries_and_their_waits() -> Result<()> {
    let switches = Switches { status: vec![("/".to_owned(), 429)], ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(12, 4, 500).with(switches)).await?, tempfile::tempdir()?);
    let began = Instant::now();
    let report = hostile(&site, folder.path(), "", &json!({}), &["--set", "retry-delay=100ms"])?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFailed")?, count(&report, "requestsRetries")?), (1, 3), "{report}");
    assert_eq!((count(&report, "requestsSessionRotations")?, site.stats().requests), (1, 5));
    assert!(began.elapsed() >= Duration::from_millis(100 + 100 + 200 + 400), "{:?}", began.elapsed());
    assert_eq!(report["errors"][0]["code"], "status");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_another_site_goes_on_with_the_session_that_it_was_made_for() -> Result<()> {
    let switches = Switches { redirect_ratio: 1.0, off_site_redirects: true, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(12, 4, 500).with(switches)).await?, tempfile::tempdir()?);
    // Without a preference each leg would be made by a session of its own: the pool never fills.
    let report = hostile(&site, folder.path(), "", &json!({}), &["--allow-private"])?.expect_code(0)?.json()?;
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let sessions: u32 = rows.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
    let finished = count(&report, "requestsFinished")?;
    assert!(finished > 1, "{report}");
    assert_eq!(u64::from(sessions), finished, "one for each page, whatever sites it led over");
    let of_many = "SELECT count(*) FROM (SELECT session FROM session_cookies GROUP BY session HAVING count(DISTINCT domain) > 1)";
    let of_many: u32 = rows.query_row(of_many, [], |row| row.get(0))?;
    assert!(of_many > 0, "{report}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rotations_are_counted_over_all_starts() -> Result<()> {
    let switches = Switches { block_every: Some(1), ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
    // Slow enough to be killed between two rotations.
    let run = crawl(&site, folder.path(), &plugin("books")?, &["--set", "delay=300ms", "--set", "max-session-rotations=4"]);
    let mut child = run.spawn()?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.stats().requests < 3 {
        ensure!(Instant::now() < deadline, "the crawl does not get on");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    child.kill()?;
    tokio::task::block_in_place(|| child.wait_with_output())?;
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFailed")?, count(&report, "requestsSessionRotations")?), (1, 4));
    // The one that was in hand at the kill may be asked for once more.
    assert!((5..=6).contains(&site.stats().requests), "{:?}", site.stats());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_request_is_served_by_its_session_alone_and_waits_while_that_is_taken() -> Result<()> {
    let switches = Switches { latency_ms: 2, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(switches)).await?, tempfile::tempdir()?);
    let exclusive = ["--set", "session-exclusive=yes"];
    let report = hostile(&site, folder.path(), "?do=session-bind", &json!({}), &exclusive)?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (11, 0), "{report}");
    assert_eq!(site.gate().by_visitor, BTreeMap::from([("v1".to_owned(), 11)]));
    assert_eq!(site.stats().max_concurrent, 1, "it is exclusive");
    let items = items(folder.path())?;
    let sessions: BTreeSet<&str> = items.iter().filter_map(|item| item["session"].as_str()).collect();
    assert_eq!(sessions.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_bound_to_a_session_that_is_gone_fails_at_once() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(visitors())).await?, tempfile::tempdir()?);
    let report = hostile(&site, folder.path(), "?do=session-bind-gone", &json!({}), &[])?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (1, 10), "{report}");
    assert_eq!((count(&report, "requestsRetries")?, site.stats().requests), (0, 1));
    let error = &report["errors"][0];
    assert_eq!((&error["code"], &error["count"]), (&json!("session-gone"), &json!(10)));
    assert!(error["message"].as_str().is_some_and(|message| message.contains("no-such-session")), "{error}");

    // Without sessions there is none at all.
    let folder = tempfile::tempdir()?;
    let none = ["--set", "session-pool=no"];
    let report = hostile(&site, folder.path(), "?do=session-bind-gone", &json!({}), &none)?.expect_code(0)?.json()?;
    assert_eq!(count(&report, "requestsFailed")?, 10);
    let message = report["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("--set session-pool=yes"), "{report}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_plugin_retires_is_not_seen_again() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(30, 4, 500).with(visitors())).await?, tempfile::tempdir()?);
    let input = json!({ "pages": { "/": "session-retire" }, "listen": ["sessionRetired"] });
    let settings = ["--set", "session-max-pool-size=1", "--set", "session-exclusive=yes", "--set", "session-reuse=until-failure"];
    let report = hostile(&site, folder.path(), "", &input, &settings)?.expect_code(0)?.json()?;
    assert_eq!(count(&report, "requestsFinished")?, 30);
    let gate = site.gate();
    assert_eq!((gate.by_visitor.len(), gate.by_visitor.values().max()), (30, Some(&1)), "{gate:?}");
    let told = retired(folder.path())?;
    assert_eq!((told.len(), told.values().max()), (30, Some(&1)), "the listener hears of each once: {told:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_says_of_its_session_stands_though_its_effects_are_refused() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(visitors())).await?, tempfile::tempdir()?);
    let report = hostile(&site, folder.path(), "?do=session-then-bad-state", &json!({}), &[])?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFailed")?, &report["errors"][0]["code"]), (1, &json!("state")), "{report}");
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let retired: u32 = rows.query_row("SELECT sum(retired) FROM sessions", [], |row| row.get(0))?;
    assert_eq!(retired, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_plugin_makes_no_more_sessions_those_that_are_there_serve() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(30, 4, 500).with(visitors())).await?, tempfile::tempdir()?);
    let first = ["-c", "1", "--max-requests", "3"];
    hostile(&site, folder.path(), "", &json!({ "session": "made" }), &first)?.expect_code(0)?;
    let made = site.gate().by_visitor.len();
    assert_eq!(made, 3, "a pool grows before it uses a session again");
    let rest = hostile(&site, folder.path(), "", &json!({ "session": "fatal" }), &[])?.expect_code(0)?;
    assert!(rest.stderr.contains("no new session could be made"), "{}", rest.stderr);
    let report = rest.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (30, 0), "{report}");
    assert_eq!(site.gate().by_visitor.len(), made);

    // Where there is none either, it is told.
    let folder = tempfile::tempdir()?;
    let report = hostile(&site, folder.path(), "", &json!({ "session": "fatal" }), &[])?.expect_code(0)?.json()?;
    assert_eq!(report["errors"][0]["code"], "session-create", "{report}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_and_user_data_of_the_plugin_are_there_for_the_next_page() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(30, 4, 500).with(visitors())).await?, tempfile::tempdir()?);
    let input = json!({ "pages": { "/": "session-cookie" }, "session": "made" });
    let report = hostile(&site, folder.path(), "", &input, &["-c", "1", "--set", "session-max-pool-size=1"])?;
    assert_eq!(count(&report.expect_code(0)?.json()?, "requestsFinished")?, 30);
    assert_eq!(site.gate().by_visitor, BTreeMap::from([("v1".to_owned(), 1), ("planted".to_owned(), 29)]));
    let items = items(folder.path())?;
    let pages: Vec<&Value> = items.iter().filter(|item| item["page"].is_string()).collect();
    assert_eq!(pages[0]["data"], json!({ "word": "made" }), "what its entry point has made");
    for pair in pages.windows(2) {
        assert_eq!(pair[1]["data"]["seen"], pair[0]["page"]);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_beside_a_plugin_that_makes_sessions_are_refused_before_the_crawl() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(visitors())).await?, tempfile::tempdir()?);
    let limits = ["--set", "session-max-uses=5"];
    let ended = hostile(&site, folder.path(), "", &json!({}), &limits)?.expect_code(2)?;
    assert!(ended.stderr.contains("session-max-uses") && ended.stderr.contains("leave out"), "{}", ended.stderr);
    assert_eq!(site.stats().requests, 0);
    assert!(!folder.path().join("job").exists(), "nothing was written");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_too_old_when_they_are_made_serve_the_page_that_they_are_made_for() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(visitors())).await?, tempfile::tempdir()?);
    // To make one durable takes longer than it lives, or nearly so.
    let run = crawl(&site, folder.path(), &plugin("books")?, &["--set", "session-max-age=1ms"]);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (BOOKSHOP, 0), "{report}");
    assert_eq!(site.stats().requests, BOOKSHOP);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_where_no_pool_can_be_is_refused_before_the_crawl() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(visitors())).await?, tempfile::tempdir()?);
    for (setting, words) in [
        ("session-key=__CRAWLER_STATISTICS_hostile", "would overwrite; take another"),
        ("session-key=INPUT", "would overwrite; take another"),
        ("session-key=..", "session-key"),
        ("session-store=.", "session-store"),
        ("session-store=default", "`none`"),
        ("session-max-age=0.5ms", "no whole millisecond"),
    ] {
        let ended = hostile(&site, folder.path(), "", &json!({}), &["--set", setting])?.expect_code(2)?;
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert_eq!(site.stats().requests, 0);
    assert!(!folder.path().join("job").exists(), "nothing was written");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_outlive_a_restart() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(visitors())).await?, tempfile::tempdir()?);
    let settings = ["--set", "session-max-pool-size=1", "--set", "session-max-uses=5000"];
    let run = crawl(&site, folder.path(), &plugin("books")?, &settings);
    let first = run.clone().with(["--max-requests", "20"]);
    tokio::task::block_in_place(|| first.run())?.expect_code(0)?;
    tokio::task::block_in_place(|| run.run())?.expect_code(0)?;
    assert_eq!(site.gate().by_visitor, BTreeMap::from([("v1".to_owned(), BOOKSHOP)]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_the_only_session_and_waits_for_its_site_is_not_locked_out_by_those_who_wait_for_it() -> Result<()> {
    let switches = Switches { redirect_ratio: 1.0, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(12, 4, 500).with(switches)).await?, tempfile::tempdir()?);
    let settings = ["-c", "1", "--delay", "200ms", "--set", "session-max-pool-size=1", "--set", "session-exclusive=yes"];
    // While one waits for its site's next slot after a redirect, the next one is of another site, and has no session.
    let starts = ["a", "b", "c"].map(|host| format!("http://{host}.localhost:{}/", site.address().port()));
    let run = Crawl::new(folder.path(), ["run", "--json", "--job", "job", "--set", "session-pool=yes", "--max-time", "30s"])
        .with([test_plugin("hostile")?])
        .with(starts)
        .with(settings);
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((report["finishReason"].as_str(), count(&report, "requestsFinished")?), (Some("finished"), 36), "{report}");
    assert_eq!(site.stats().max_concurrent, 1, "it is exclusive");
    let gap = site.stats().min_gap_millis.values().min().copied().unwrap_or_default();
    // A slot counts from the claim, so that a busy machine takes some of it; one that is not kept leaves nothing.
    assert!(gap >= 140, "{gap} ms between two requests");
    Ok(())
}
