//! What goes into a pool and out of it: sessions that pages add, pages that end them, listeners that hear of that, crawls that share a pool.

use anyhow::{Context, Result, ensure};
use nephila_e2e::sessions::{count, crawl, hostile, items, kill_at, retired, uses, visitors};
use nephila_e2e::{Crawl, plugin, test_plugin};
use nephila_site::{Running, Site, SiteConfig, Switches};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pages of the bookshop.
const BOOKSHOP: u64 = 1_050;

fn login(site: &Running, folder: &Path) -> Result<Crawl> {
    let arguments = ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl", "--set", "session-pool=yes"];
    Ok(Crawl::new(folder, arguments)
        .with([test_plugin("hostile")?.as_os_str(), format!("{}?do=session-login", site.url()).as_ref()]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_page_adds_sessions_and_later_pages_are_fetched_with_them() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(5, 2, 500).with(visitors())).await?, tempfile::tempdir()?);
    let run = login(&site, folder.path())?;
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (31, 0), "{report}");
    let accounts = ["account-1", "account-2", "account-3"].map(|name| (name.to_owned(), 10));
    let seen: BTreeMap<String, u64> = accounts.into_iter().chain([("v1".to_owned(), 1)]).collect();
    assert_eq!(site.gate().by_visitor, seen, "each account has its cookie, and its pages");
    assert_eq!(uses(folder.path())?, seen);
    for item in items(folder.path())?.iter().filter(|item| item["page"].is_string()) {
        let account = item["data"]["account"].as_u64().context("an account")?;
        assert_eq!(item["session"], format!("account-{account}"), "{item}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_a_page_adds_are_there_after_kill_9_if_the_page_is_and_only_then() -> Result<()> {
    let switches = Switches { latency_ms: 5, ..visitors() };
    let site = Site::start(SiteConfig::mesh(5, 2, 500).with(switches)).await?;
    for requests in [1, 2, 9, 20] {
        site.reset();
        let folder = tempfile::tempdir()?;
        let run = login(&site, folder.path())?;
        kill_at(&site, &run, requests).await?;
        if folder.path().join("job/nephila.db").exists() {
            let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
            let number = |query: &str| rows.query_row(query, [], |row| row.get::<_, u32>(0));
            let logged_in = number("SELECT count(*) FROM requests WHERE url LIKE '%session-login' AND state = 1")?;
            assert_eq!(number("SELECT count(*) FROM sessions WHERE name LIKE 'account-%'")?, 3 * logged_in);
        }
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (31, 0), "{report}");
        let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
        let added = "SELECT count(*) FROM sessions WHERE name LIKE 'account-%'";
        assert_eq!(rows.query_row(added, [], |row| row.get::<_, u32>(0))?, 3);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_pages_that_want_to_add_one_session_one_does_and_the_others_are_told() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(60, 12, 500).with(visitors())).await?, tempfile::tempdir()?);
    let input = json!({ "pages": { "/": "session-add-once" } });
    let report = hostile(&site, folder.path(), "", &input, &["--set", "session-max-pool-size=4"])?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (60, 0), "{report}");
    let items = items(folder.path())?;
    assert_eq!(items.iter().filter(|item| item["added"] == "account-7").count(), 1);
    assert_eq!(items.iter().filter(|item| item["added"].is_null() && item["page"].is_string()).count(), 59);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_a_block_by_its_text_or_by_what_is_on_it_is_tried_by_another_session() -> Result<()> {
    for rule in ["session-block-text=captcha | Are you human?", "session-block-selectors=#no-such-thing, div#challenge"] {
        let switches = Switches { block_every: Some(20), soft_blocks: true, ..visitors() };
        let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
        let settings = ["--set", "session-max-pool-size=20", "--set", "session-exclusive=yes", "--set", rule];
        let run = crawl(&site, folder.path(), &plugin("books")?, &settings);
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        let (gate, seen) = (site.gate(), site.stats().requests);
        assert_eq!((gate.blocked, gate.came_again, seen), (55, 0, BOOKSHOP + 55), "{rule}");
        assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (BOOKSHOP, 0), "{rule}");
        assert_eq!(
            (count(&report, "requestsSessionRotations")?, count(&report, "requestsRetries")?),
            (gate.blocked, 0),
            "{rule}"
        );
        assert_eq!(count(&report, "items")?, 1_000, "no block was taken for a book");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_with_a_retiring_text_is_handled_and_its_sessions_last() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::mesh(30, 4, 500).with(visitors())).await?, tempfile::tempdir()?);
    let settings = ["--set", "session-max-pool-size=2", "--set", "session-exclusive=yes", "--set", "session-retire-text=<title>"];
    let report =
        hostile(&site, folder.path(), "", &json!({ "listen": ["sessionRetired"] }), &settings)?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsSessionRotations")?), (30, 0), "{report}");
    let gate = site.gate();
    assert_eq!((gate.by_visitor.len(), gate.by_visitor.values().max()), (30, Some(&1)), "{gate:?}");
    let told = retired(folder.path())?;
    assert_eq!((told.len(), told.values().max()), (30, Some(&1)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_hears_once_of_each_session_that_is_over_through_kills_too() -> Result<()> {
    let switches = Switches { block_every: Some(25), latency_ms: 1, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::mesh(600, 12, 500).with(switches)).await?, tempfile::tempdir()?);
    let input = json!({ "listen": ["sessionRetired"], "pages": { "/p/1": "retry-once" } });
    let arguments = ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl", "--set", "retry-delay=10ms"];
    let run = Crawl::new(folder.path(), arguments).with([test_plugin("hostile")?.as_os_str(), site.url().as_ref()]).with([
        "--set",
        "session-pool=yes",
        "--set",
        "session-max-pool-size=6",
        "--input",
        &input.to_string(),
    ]);
    for requests in [100, 250, 400] {
        kill_at(&site, &run, requests).await?;
    }
    let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
    assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (600, 0), "{report}");
    let rows = rusqlite::Connection::open(folder.path().join("job/nephila.db"))?;
    let mut statement = rows.prepare("SELECT name FROM sessions WHERE over = 1")?;
    let over: BTreeMap<String, u64> = statement.query_map([], |row| Ok((row.get(0)?, 1)))?.collect::<Result<_, _>>()?;
    assert!(over.len() >= 20, "one in twenty-five answers ends a session, and each fiftieth use: {over:?}");
    assert_eq!(retired(folder.path())?, over);
    assert_eq!(rows.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u32>(0))?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_makes_sessions_where_none_are_used_is_said_to_at_the_start() -> Result<()> {
    let site = Site::start(SiteConfig::mesh(2, 1, 500)).await?;
    for (pool, is_said) in [("session-pool=no", true), ("session-pool=yes", false)] {
        let folder = tempfile::tempdir()?;
        let ended = hostile(&site, folder.path(), "", &json!({}), &["--set", pool])?.expect_code(0)?;
        assert_eq!(ended.stderr.contains("give --set session-pool=yes"), is_said, "{pool}: {}", ended.stderr);
    }
    Ok(())
}

fn of_shared_store(site: &Running, folder: &Path, id: &str, more: &[&str]) -> Result<Crawl> {
    let shared = ["--store", "sqlite:shared", "--set", "session-pool=yes", "--set", "session-store=visitors"];
    Ok(Crawl::new(folder, ["run", "--delay", "0", "--json", "--id", id])
        .with([plugin("books")?.as_os_str(), site.url().as_ref()])
        .with(shared)
        .with(more.iter().copied()))
}

fn uses_in_shared_store(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let rows = rusqlite::Connection::open(folder.join("shared/nephila.db"))?;
    let query = "SELECT c.value, s.settled FROM sessions s JOIN session_cookies c ON c.session = s.id WHERE c.name = 'visitor'";
    let mut statement = rows.prepare(query)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, u64::from(row.get::<_, u32>(1)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_crawl_of_a_store_goes_on_with_the_sessions_of_the_first() -> Result<()> {
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(visitors())).await?, tempfile::tempdir()?);
    // Not a multiple of what is reserved at a time: what the first has left over, the second takes.
    let one = ["--set", "session-max-pool-size=1", "--set", "session-max-uses=1333", "--set", "session-exclusive=yes"];
    for id in ["one", "two"] {
        let run = of_shared_store(&site, folder.path(), id, &one)?;
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        assert_eq!((count(&report, "requestsFinished")?, count(&report, "fetches")?), (BOOKSHOP, BOOKSHOP), "{report}");
    }
    let seen = BTreeMap::from([("v1".to_owned(), 1_333), ("v2".to_owned(), 2 * BOOKSHOP - 1_333)]);
    assert_eq!(site.gate().by_visitor, seen, "its cookie, and its count of uses");
    assert_eq!(uses_in_shared_store(folder.path())?, seen);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_that_share_a_pool_pass_no_limit_together_and_a_second_process_is_refused_meanwhile() -> Result<()> {
    let switches = Switches { latency_ms: 1, ..visitors() };
    let (site, folder) = (Site::start(SiteConfig::bookshop().with(switches)).await?, tempfile::tempdir()?);
    let limits = ["--set", "session-max-pool-size=9", "--set", "session-max-uses=7"];
    let (one, two) =
        (of_shared_store(&site, folder.path(), "one", &limits)?, of_shared_store(&site, folder.path(), "two", &limits)?);
    let mut first = one.spawn()?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.stats().requests < 50 {
        ensure!(Instant::now() < deadline, "the crawl does not get on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The store is one process's at a time: the second one is refused, and changes nothing.
    let refused = tokio::task::block_in_place(|| two.run())?.expect_code(2)?;
    assert!(refused.stderr.contains("in use"), "{}", refused.stderr);
    first.kill()?;
    tokio::task::block_in_place(|| first.wait_with_output())?;
    for run in [&two, &one] {
        let report = tokio::task::block_in_place(|| run.run())?.expect_code(0)?.json()?;
        assert_eq!((count(&report, "requestsFinished")?, count(&report, "requestsFailed")?), (BOOKSHOP, 0), "{report}");
    }
    let gate = site.gate();
    assert!(gate.by_visitor.values().all(|uses| *uses <= 7), "{:?}", gate.by_visitor);
    // What a kill had in hand counts as used; so the store never knows of fewer than the site does.
    for (visitor, uses) in uses_in_shared_store(folder.path())? {
        assert!(uses >= gate.by_visitor[&visitor] && uses <= 7, "{visitor} {uses}");
    }
    Ok(())
}
