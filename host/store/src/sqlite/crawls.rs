//! Crawls: opening, closing, leases, and the durable mark of a suspect.
//!
//! Decision: a single process works in the file (the job's lock sees to it), so every shard, the crawl's pseudo-shard too, changes hands at
//! once: one epoch per crawl, in its row, which grows with each opening. Each outcome is still checked against it, as it will be
//! where shards change hands one by one (S4, S7).
//!
//! One request at a time is under the mark of a suspect (S10): a new mark replaces the old one, since then the process
//! has moved on to the other page.

use super::errors::Happened;
use super::sites::Touched;
use super::trouble::{Done, Trouble};
use super::{counters, errors, events, requests, tables};
use crate::error::SHOWN_IDS;
use crate::{
    Company, CrawlEnding, CrawlOrder, CrawlRecord, CrawlSpec, ErrorsOf, InHand, JobDir, Leases, LeftBehind, OpenedCrawl,
    StoreError,
};
use nephila_model::{
    Counter, CrawlId, CrawlerId, Epoch, EventId, FailureCode, FailureReason, Lease, NORMALISER_VERSION, RequestId, SiteBy,
    StatsDelta, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, params};

/// So often may a request, or an event, have crashed the host before it is given up.
pub(crate) const CRASHES: i64 = 3;

/// Milliseconds that a time which an earlier opening noted may lie ahead: a day.
const LONGEST_WAIT: i64 = 24 * 60 * 60 * 1_000;

/// What a commit needs to know of its crawl.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) id: CrawlId,
    pub(crate) crawler_id: String,
    pub(crate) epoch: Epoch,
    pub(crate) order: CrawlOrder,
    pub(crate) max_state_value: usize,
    pub(crate) finish_done: bool,
    pub(crate) turn: i64,
    pub(crate) suspect: Option<i64>,
}

/// The crawl as a commit sees it.
pub(crate) fn standing(connection: &Connection, crawl: CrawlId) -> Done<Standing> {
    let query = "SELECT crawler_id, epoch, request_order, max_state_value, finish_done, turn, suspect FROM crawls WHERE id = ?1";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Standing {
            id: crawl,
            crawler_id: row.get(0)?,
            epoch: Epoch(row.get(1)?),
            order: if row.get_ref(2)?.as_str()? == order_word(CrawlOrder::Lifo) { CrawlOrder::Lifo } else { CrawlOrder::Fifo },
            max_state_value: usize::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
            finish_done: row.get(4)?,
            turn: row.get(5)?,
            suspect: row.get(6)?,
        })
    };
    let found = connection.prepare_cached(query)?.query_row([crawl.0], read).optional()?;
    found.ok_or_else(|| StoreError::NoCrawl(crawl.0).into())
}

/// See [`crate::Store::open_crawl`]. Everything that may be refused is asked before anything is written.
pub(crate) fn open(connection: &Connection, spec: &CrawlSpec, now: Timestamp) -> Done<OpenedCrawl> {
    let found = find(connection, spec)?;
    tables::upgrade(connection)?;
    let Some(old) = found else { return make(connection, spec, now) };
    let left = match &old.ending {
        None => LeftBehind::Crash,
        Some(ending) => match ending.in_hand {
            InHand::Finished => LeftBehind::Nothing,
            InHand::Dropped => LeftBehind::DroppedFetches,
        },
    };
    let mut given_up = 0;
    if left == LeftBehind::Crash {
        given_up = count_crash(connection, old.id)?;
        events::count_crash(connection, old.id)?;
    }
    forget_far_times(connection, old.id, now)?;
    let update =
        "UPDATE crawls SET plugin_digest = ?2, request_order = ?3, max_state_value = ?4, opened_at = ?5, openings = openings + 1,
        epoch = epoch + 1, ending_status = NULL, ending_reason = NULL, ending_at = NULL, ending_in_hand = NULL, stop_reason = NULL, suspect = NULL
        WHERE id = ?1";
    let limit = i64::try_from(spec.max_state_value).unwrap_or(i64::MAX);
    connection.execute(update, params![old.id.0, spec.plugin_digest, order_word(spec.order), limit, now.as_millis()])?;
    Ok(OpenedCrawl {
        record: record(connection, old.id)?,
        leases: Leases::all_at(standing(connection, old.id)?.epoch),
        fresh: counters::get(connection, old.id, &Counter::Requests)? == 0,
        left,
        given_up,
        previous_ending: old.ending,
        upgraded_from: Some(old.plugin_digest).filter(|digest| *digest != spec.plugin_digest),
    })
}

/// The crawl that [`open`] opens; `None` if it makes a new one. Whatever refuses an opening is asked here.
pub(crate) fn find(connection: &Connection, spec: &CrawlSpec) -> Done<Option<CrawlRecord>> {
    check_normaliser(connection)?;
    let found = of_crawler(connection, &spec.crawler_id)?;
    check_plugin(connection, spec, found.as_ref())?;
    if let Some(found) = &found {
        check_sites(connection, spec, found.id)?;
    }
    Ok(found)
}

fn check_normaliser(connection: &Connection) -> Done<()> {
    let found: i64 = connection.query_row("SELECT value FROM meta WHERE name = 'normaliser'", [], |row| row.get(0))?;
    let known = i64::from(NORMALISER_VERSION);
    if found == known { Ok(()) } else { Err(StoreError::OtherNormaliser { found, known }.into()) }
}

fn check_plugin(connection: &Connection, spec: &CrawlSpec, old: Option<&CrawlRecord>) -> Done<()> {
    let theirs = match spec.company {
        Company::Shared => old.map(|record| record.plugin_name.clone()).filter(|name| *name != spec.plugin_name),
        Company::Alone => {
            let query = "SELECT plugin_name FROM crawls WHERE plugin_name <> ?1 LIMIT 1";
            connection.query_row(query, [&spec.plugin_name], |row| row.get(0)).optional()?
        }
    };
    match theirs {
        Some(theirs) => Err(StoreError::OtherPlugin { theirs, ours: spec.plugin_name.clone() }.into()),
        None => Ok(()),
    }
}

fn check_sites(connection: &Connection, spec: &CrawlSpec, crawl: CrawlId) -> Done<()> {
    let theirs: String = connection.query_row("SELECT site_by FROM crawls WHERE id = ?1", [crawl.0], |row| row.get(0))?;
    let ours = site_word(spec.site_by);
    if theirs == ours { Ok(()) } else { Err(StoreError::OtherSiteMode { theirs, ours: ours.to_owned() }.into()) }
}

fn make(connection: &Connection, spec: &CrawlSpec, now: Timestamp) -> Done<OpenedCrawl> {
    let insert =
        "INSERT INTO crawls (crawler_id, plugin_name, plugin_digest, site_by, request_order, max_state_value, created_at,
        opened_at, openings, epoch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, 1)";
    let limit = i64::try_from(spec.max_state_value).unwrap_or(i64::MAX);
    let id = connection.prepare(insert)?.insert(params![
        spec.crawler_id.as_str(),
        spec.plugin_name,
        spec.plugin_digest,
        site_word(spec.site_by),
        order_word(spec.order),
        limit,
        now.as_millis(),
    ])?;
    Ok(OpenedCrawl {
        record: record(connection, CrawlId(id))?,
        leases: Leases::all_at(Epoch(1)),
        fresh: true,
        left: LeftBehind::Nothing,
        given_up: 0,
        previous_ending: None,
        upgraded_from: None,
    })
}

// The clock may have been set back since these times were noted, by years if it was wrong before, and the crawl would wait as long. Nobody
// who waits more than a day is told from that: a wait of that length (a very long delay, or a site's own `Retry-After`) is over when the crawl
// is opened again. The sites are read whole, once per opening; the requests that wait have an index.
fn forget_far_times(connection: &Connection, crawl: CrawlId, now: Timestamp) -> Done<()> {
    let (now, far) = (now.as_millis(), now.as_millis().saturating_add(LONGEST_WAIT));
    for update in [
        "UPDATE sites SET next_allowed = ?2 WHERE crawl = ?1 AND next_allowed > ?3",
        "UPDATE requests SET not_before = ?2 WHERE crawl = ?1 AND state = 0 AND not_before IS NOT NULL AND not_before > ?3",
    ] {
        connection.execute(update, params![crawl.0, now, far])?;
    }
    Ok(())
}

// The process died inside the mark of a suspect: that counts against the page, and at the third time it is failed. Says how many
// were.
fn count_crash(connection: &Connection, crawl: CrawlId) -> Done<u64> {
    let Some(suspect) = standing(connection, crawl)?.suspect else { return Ok(0) };
    let Some(subject) = requests::pending(connection, crawl, RequestId(suspect))? else { return Ok(0) };
    let count = "UPDATE requests SET crashes = crashes + 1 WHERE id = ?1 RETURNING crashes";
    let crashes: i64 = connection.query_row(count, [suspect], |row| row.get(0))?;
    if crashes < CRASHES {
        return Ok(0);
    }
    let message = format!("the host died {crashes} times while it handled this page");
    let reason = FailureReason { code: FailureCode::CRASHED_THE_HOST, message, status: None };
    requests::fail(connection, subject.id, &reason, None)?;
    errors::add(connection, crawl, ErrorsOf::FailedRequests, &Happened::of(&subject.url, &reason, None))?;
    let mut delta = StatsDelta::default();
    delta.add(Counter::Failed, 1);
    delta.add(Counter::EndedAfterRetries(subject.retry_count), 1);
    delta.add(Counter::Error(reason.code.as_str().to_owned()), 1);
    counters::add(connection, crawl, &delta)?;
    let mut touched = Touched::default();
    touched.changed(subject.site);
    touched.settle(connection)?;
    Ok(1)
}

/// See [`crate::Store::close_crawl`].
pub(crate) fn close(connection: &Connection, crawl: CrawlId, ending: &CrawlEnding) -> Done<()> {
    let update = "UPDATE crawls SET ending_status = ?2, ending_reason = ?3, ending_at = ?4, ending_in_hand = ?5, suspect = NULL
        WHERE id = ?1";
    let (at, in_hand) = (ending.at.as_millis(), in_hand_word(ending.in_hand));
    match connection.execute(update, params![crawl.0, ending.status, ending.reason, at, in_hand])? {
        0 => Err(StoreError::NoCrawl(crawl.0).into()),
        _ => events::unmark(connection, crawl),
    }
}

/// See [`crate::Store::mark_suspect`].
pub(crate) fn mark_suspect(connection: &Connection, crawl: CrawlId, request: RequestId, lease: Lease) -> Done<()> {
    if standing(connection, crawl)?.epoch != lease.epoch {
        return Err(StoreError::Stale.into());
    }
    connection.prepare_cached("UPDATE crawls SET suspect = ?2 WHERE id = ?1")?.execute(params![crawl.0, request.0])?;
    Ok(())
}

/// See [`crate::Store::mark_suspect_event`].
pub(crate) fn mark_suspect_event(connection: &Connection, crawl: CrawlId, event: EventId, lease: Lease) -> Done<()> {
    if standing(connection, crawl)?.epoch != lease.epoch {
        return Err(StoreError::Stale.into());
    }
    events::mark(connection, crawl, event)
}

/// See [`crate::Store::clear_suspect_event`].
pub(crate) fn clear_suspect_event(connection: &Connection, crawl: CrawlId, event: EventId, lease: Lease) -> Done<()> {
    if standing(connection, crawl)?.epoch != lease.epoch {
        return Err(StoreError::Stale.into());
    }
    events::clear_mark(connection, crawl, event)
}

/// The mark of this request goes.
pub(crate) fn clear_suspect(connection: &Connection, crawl: CrawlId, request: RequestId) -> Done<()> {
    let update = "UPDATE crawls SET suspect = NULL WHERE id = ?1 AND suspect = ?2";
    connection.prepare_cached(update)?.execute(params![crawl.0, request.0])?;
    Ok(())
}

/// The finish has been called and is committed.
pub(crate) fn finish(connection: &Connection, crawl: CrawlId) -> Done<()> {
    connection.prepare_cached("UPDATE crawls SET finish_done = 1 WHERE id = ?1")?.execute([crawl.0])?;
    Ok(())
}

/// What a plugin tells about its crawl: the last message, and the first reason to stop.
pub(crate) fn say(connection: &Connection, crawl: CrawlId, message: Option<&str>, stop: Option<&str>) -> Done<()> {
    if message.is_some() || stop.is_some() {
        let update =
            "UPDATE crawls SET status_message = ifnull(?2, status_message), stop_reason = ifnull(stop_reason, ?3) WHERE id = ?1";
        connection.prepare_cached(update)?.execute(params![crawl.0, message, stop])?;
    }
    Ok(())
}

/// The number of the last turn that a site had.
pub(crate) fn set_turn(connection: &Connection, crawl: CrawlId, turn: i64) -> Done<()> {
    connection.prepare_cached("UPDATE crawls SET turn = ?2 WHERE id = ?1")?.execute(params![crawl.0, turn])?;
    Ok(())
}

/// The crawl that was opened last.
pub(crate) fn last_opened(connection: &Connection) -> Done<Option<CrawlRecord>> {
    let query = "SELECT id FROM crawls ORDER BY opened_at DESC, id DESC LIMIT 1";
    let id = connection.query_row(query, [], |row| row.get(0)).optional()?;
    id.map(|id| record(connection, CrawlId(id))).transpose()
}

/// A crawler's crawl.
pub(crate) fn of_crawler(connection: &Connection, crawler: &CrawlerId) -> Done<Option<CrawlRecord>> {
    let query = "SELECT id FROM crawls WHERE crawler_id = ?1";
    let id = connection.query_row(query, [crawler.as_str()], |row| row.get(0)).optional()?;
    id.map(|id| record(connection, CrawlId(id))).transpose()
}

/// Of several crawls in a job the one of this crawler, or else the one that was opened last.
pub(crate) fn chosen(connection: &Connection, dir: &JobDir, crawler: Option<&CrawlerId>) -> Done<CrawlRecord> {
    let no_job = || StoreError::NoJob { dir: dir.path().to_owned() };
    let Some(crawler) = crawler else { return Ok(last_opened(connection)?.ok_or_else(no_job)?) };
    if let Some(crawl) = of_crawler(connection, crawler)? {
        return Ok(crawl);
    }
    let mut statement = connection.prepare("SELECT crawler_id FROM crawls ORDER BY opened_at DESC, id DESC LIMIT ?1")?;
    let known = statement.query_map([super::sql_limit(SHOWN_IDS + 1)], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if known.is_empty() {
        return Err(no_job().into());
    }
    Err(StoreError::NoCrawler { dir: dir.path().to_owned(), crawler: crawler.to_string(), known }.into())
}

/// The crawl as it is now.
pub(crate) fn record(connection: &Connection, crawl: CrawlId) -> Done<CrawlRecord> {
    let query =
        "SELECT crawler_id, plugin_name, plugin_digest, created_at, opened_at, openings, ending_status, ending_reason, ending_at,
        ending_in_hand, finish_done, status_message, stop_reason FROM crawls WHERE id = ?1";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([crawl.0])?;
    let row = rows.next()?.ok_or(StoreError::NoCrawl(crawl.0))?;
    let crawler: String = row.get(0)?;
    let ending = match (row.get(6)?, row.get(7)?, row.get(8)?, row.get::<_, Option<String>>(9)?) {
        (Some(status), Some(reason), Some(at), Some(in_hand)) => {
            let in_hand = if in_hand == in_hand_word(InHand::Dropped) { InHand::Dropped } else { InHand::Finished };
            Some(CrawlEnding { status, reason, at: Timestamp::from_millis(at), in_hand })
        }
        _ => None,
    };
    Ok(CrawlRecord {
        id: crawl,
        crawler_id: CrawlerId::new(&crawler).ok_or_else(|| Trouble::Damaged(format!("`{crawler}` is no crawler id")))?,
        plugin_name: row.get(1)?,
        plugin_digest: row.get(2)?,
        created_at: Timestamp::from_millis(row.get(3)?),
        opened_at: Timestamp::from_millis(row.get(4)?),
        openings: u64::try_from(row.get::<_, i64>(5)?).unwrap_or(0),
        ending,
        finish_done: row.get(10)?,
        status_message: row.get(11)?,
        stop_reason: row.get(12)?,
    })
}

// These words are stored.
const fn order_word(order: CrawlOrder) -> &'static str {
    match order {
        CrawlOrder::Fifo => "fifo",
        CrawlOrder::Lifo => "lifo",
    }
}

const fn in_hand_word(in_hand: InHand) -> &'static str {
    match in_hand {
        InHand::Finished => "finished",
        InHand::Dropped => "dropped",
    }
}

const fn site_word(by: SiteBy) -> &'static str {
    match by {
        SiteBy::Hostname => "hostname",
        SiteBy::Domain => "domain",
    }
}
