//! Whether the books of the plugin `ledger` balance: what it noted in its items and in the state, what the store counted, and what the site saw of
//! each session must say the same of the work that is committed, however often the crawl was killed.

use crate::{Ended, lines};
use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A session as the job has it.
struct Session {
    uses: u64,
    max_uses: u64,
    /// As many as it had bad uses: the crawl is to take nothing off for good ones.
    score: f64,
    max_score: f64,
    retired: bool,
    over: bool,
}

/// What the items say.
#[derive(Default)]
struct Noted {
    handled: BTreeMap<String, u64>,
    failed: u64,
    retired: BTreeMap<String, u64>,
}

/// Checks a crawl that has ended: its job, its output, its report, and how often the site saw each visitor. It was to run with
/// `session-error-score-decrement=0`.
///
/// # Errors
/// The first thing that does not balance.
pub fn balance(job: &Path, output: &Path, ended: &Ended, seen: &BTreeMap<String, u64>) -> Result<()> {
    let rows = Connection::open(job.join("nephila.db"))?;
    let (report, noted, sessions, state) = (ended.json()?, noted(output)?, sessions(&rows)?, state(&rows)?);
    let told = |name: &str| report[name].as_u64().with_context(|| format!("no {name} in the report"));
    let in_state = |key: &str| state.get(key).copied().unwrap_or(0);
    let in_rows =
        |state: u32| rows.query_row("SELECT count(*) FROM requests WHERE state = ?1", [state], |row| row.get::<_, u32>(0));

    let handled: u64 = noted.handled.values().sum();
    let by_session: u64 = state.iter().filter(|(key, _)| key.starts_with("by ")).map(|(_, count)| count).sum();
    equal("handled pages", &[told("requestsFinished")?, in_rows(1)?.into(), handled, in_state("handled"), by_session])?;
    equal("failed pages", &[told("requestsFailed")?, in_rows(2)?.into(), noted.failed, in_state("failed")])?;
    for (session, count) in &noted.handled {
        equal(&format!("pages of session {session}"), &[*count, in_state(&format!("by {session}"))])?;
    }

    let over: BTreeMap<String, u64> =
        sessions.iter().filter(|(_, session)| session.over).map(|(name, _)| (name.clone(), 1)).collect();
    ensure!(noted.retired == over, "the listener heard of {:?}, and {over:?} are over", noted.retired);
    equal("sessions that are over", &[over.len() as u64, in_state("retired")])?;

    for (name, session) in &sessions {
        let good = noted.handled.get(name).copied().unwrap_or(0);
        let known = good as f64 + session.score;
        ensure!(known <= session.uses as f64, "session {name} has {} uses, and {known} are known to have ended", session.uses);
        ensure!(session.uses <= session.max_uses, "session {name} was used {} times", session.uses);
        let is_worn = session.uses == session.max_uses;
        ensure!(session.over == (session.retired || is_worn), "session {name} is over, or is not, without a reason");
        ensure!(session.retired || session.score < session.max_score, "session {name} has a score of {}", session.score);
    }
    // Each retry and each failure was one bad use, and nothing else was.
    let bad: f64 = sessions.values().map(|session| session.score).sum();
    let expected = (told("requestsRetries")? + told("requestsFailed")?) as f64;
    ensure!(bad == expected, "the sessions' scores come to {bad}, and {expected} attempts ended badly");
    let uses: u64 = sessions.values().map(|session| session.uses).sum();
    ensure!(uses >= told("fetches")?, "{uses} uses for {} fetches", told("fetches")?);
    let most = sessions.values().map(|session| session.max_uses).max().unwrap_or(0);
    ensure!(seen.values().all(|times| *times <= most), "the site saw a visitor more than {most} times: {seen:?}");
    Ok(())
}

fn equal(what: &str, numbers: &[u64]) -> Result<()> {
    ensure!(numbers.windows(2).all(|pair| pair[0] == pair[1]), "{what} do not balance: {numbers:?}");
    Ok(())
}

fn noted(output: &Path) -> Result<Noted> {
    let mut noted = Noted::default();
    for line in lines(output)? {
        let item: Value = serde_json::from_str(&line).with_context(|| format!("a broken line: {line}"))?;
        if let Some(session) = item["retired"].as_str() {
            *noted.retired.entry(session.to_owned()).or_default() += 1;
        } else if item["page"].is_string() {
            *noted.handled.entry(item["session"].as_str().context("a session")?.to_owned()).or_default() += 1;
        } else {
            noted.failed += 1;
        }
    }
    Ok(noted)
}

fn sessions(rows: &Connection) -> Result<BTreeMap<String, Session>> {
    let query = "SELECT name, settled, max_uses, score, max_error_score, retired, over, open_uses FROM sessions";
    let mut statement = rows.prepare(query)?;
    let read = statement.query_map([], |row| {
        // Uses that wait for an earlier one: a letter each.
        let open: String = row.get(7)?;
        let known = open.chars().filter(|letter| *letter != '?').count() as u64;
        let bad = open.chars().filter(|letter| *letter == 'b').count() as f64;
        let session = Session {
            uses: u64::from(row.get::<_, u32>(1)?) + known,
            max_uses: row.get::<_, u32>(2)?.into(),
            score: row.get::<_, f64>(3)? + bad,
            max_score: row.get(4)?,
            retired: row.get(5)?,
            over: row.get(6)?,
        };
        Ok((row.get(0)?, session))
    })?;
    Ok(read.collect::<Result<_, _>>()?)
}

fn state(rows: &Connection) -> Result<BTreeMap<String, u64>> {
    let mut statement = rows.prepare("SELECT key, value FROM state WHERE value IS NOT NULL")?;
    let mut all = BTreeMap::new();
    for row in statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))? {
        let (key, value) = row?;
        let count = value.parse().with_context(|| format!("the state `{key}` is {value}"))?;
        all.insert(key, count);
    }
    Ok(all)
}
