//! Crawls with sessions, and what is to be read of them.

use crate::{Crawl, Ended, lines, test_plugin};
use anyhow::{Context, Result, ensure};
use nephila_site::{Running, Switches};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// A site that gives each visitor a cookie, and counts by it.
pub fn visitors() -> Switches {
    Switches { visitors: true, ..Switches::default() }
}

/// A crawl of a site with sessions, in the job `job` of the folder, its report as JSON.
pub fn crawl(site: &Running, folder: &Path, plugin: &Path, more: &[&str]) -> Crawl {
    let arguments = ["run", "--set", "delay=0", "--json", "--job", "job", "--set", "session-pool=yes"];
    Crawl::new(folder, arguments).with([plugin.as_os_str(), site.url().as_ref()]).with(more.iter().copied())
}

/// Runs such a crawl with the hostile plugin, which does as its input says.
pub fn hostile(site: &Running, folder: &Path, path: &str, input: &Value, more: &[&str]) -> Result<Ended> {
    let arguments = ["run", "--delay", "0", "--json", "--job", "job", "-o", "out.jsonl", "--set", "retry-delay=10ms"];
    let crawl = Crawl::new(folder, arguments)
        .with([test_plugin("hostile")?.as_os_str(), format!("{}{path}", site.url()).as_ref()])
        .with(["--set", "session-pool=yes", "--input", &input.to_string()])
        .with(more.iter().copied());
    tokio::task::block_in_place(|| crawl.run())
}

/// What it wrote.
pub fn items(folder: &Path) -> Result<Vec<Value>> {
    lines(&folder.join("out.jsonl"))?.iter().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// A number of the report.
pub fn count(report: &Value, name: &str) -> Result<u64> {
    report[name].as_u64().with_context(|| format!("{name} in {report}"))
}

/// How often each session was used, by the cookie that the site gave it, as the job has it.
pub fn uses(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let rows = rusqlite::Connection::open(folder.join("job/nephila.db"))?;
    let query = "SELECT c.value, s.settled FROM sessions s JOIN session_cookies c ON c.session = s.id WHERE c.name = 'visitor'";
    let mut statement = rows.prepare(query)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, u64::from(row.get::<_, u32>(1)?))))?.collect::<Result<_, _>>()?;
    Ok(found)
}

/// How often the listener heard that a session is over, by the session.
pub fn retired(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let mut told = BTreeMap::new();
    for item in items(folder)?.iter().filter(|item| item["name"] == "sessionRetired") {
        *told.entry(item["session"].as_str().context("a session")?.to_owned()).or_default() += 1;
    }
    Ok(told)
}

/// Kills the crawl once the site has seen so many requests.
pub async fn kill_at(site: &Running, run: &Crawl, requests: u64) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut child = run.spawn()?;
    while site.stats().requests < requests && child.try_wait()?.is_none() {
        ensure!(Instant::now() < deadline, "the crawl does not get on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    child.kill()?;
    tokio::task::block_in_place(|| child.wait_with_output())?;
    Ok(())
}
