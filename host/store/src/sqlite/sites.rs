//! Sites: their rows, and the heads of their queues.
//!
//! Decision: what a claim needs to know of a site (whether some of its requests are ready, how high the first of them stands, whose turn it
//! is) is kept in the site's row and made true again at the end of every group, for the sites that the group touched. So a claim is a
//! read of an index that holds ready sites alone (S6). How many are ready is not kept: a site that only gains requests, none
//! of them higher than its head, stays as it is, and a page with links to twenty sites writes none of their rows. Where a request
//! went, one seek in the index of ready requests finds the new head.

use super::trouble::Done;
use crate::{SiteHead, SiteOrder};
use nephila_model::{CrawlId, SiteId, SiteKey, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, HashMap};

/// Site rows that are remembered at least, and half of those that are at most: about 4 MB (S9).
const REMEMBERED: usize = 16_384;

pub(crate) const READY_BY_HEAD: &str = "SELECT id, key, head_priority, next_allowed FROM sites
    WHERE crawl = ?1 AND ready > 0 ORDER BY head_priority DESC, turn, id LIMIT ?2";
pub(crate) const READY_BY_TURN: &str = "SELECT id, key, head_priority, next_allowed FROM sites
    WHERE crawl = ?1 AND ready > 0 ORDER BY turn, id LIMIT ?2";
pub(crate) const HEAD: &str = "SELECT priority FROM requests WHERE site = ?1 AND state = 0 AND not_before IS NULL
    ORDER BY priority DESC, rank LIMIT 1";

/// The rows of sites that were asked for lately.
#[derive(Debug, Default)]
pub(crate) struct SiteCache {
    recent: HashMap<(CrawlId, SiteKey), SiteId>,
    older: HashMap<(CrawlId, SiteKey), SiteId>,
}

impl SiteCache {
    /// Forgets all, since some may have been rolled back.
    pub(crate) fn clear(&mut self) {
        (self.recent, self.older) = (HashMap::new(), HashMap::new());
    }

    /// The row of a site; made if there is none.
    pub(crate) fn row(&mut self, connection: &Connection, crawl: CrawlId, key: &SiteKey) -> Done<SiteId> {
        // A key is cloned per look-up: cheaper than a seek, and the map stays plain.
        let entry = (crawl, key.clone());
        if let Some(id) = self.recent.get(&entry) {
            return Ok(*id);
        }
        let id = match self.older.get(&entry) {
            Some(id) => *id,
            None => find_or_make(connection, crawl, key)?,
        };
        if self.recent.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(entry, id);
        Ok(id)
    }
}

fn find_or_make(connection: &Connection, crawl: CrawlId, key: &SiteKey) -> Done<SiteId> {
    let find = "SELECT id FROM sites WHERE crawl = ?1 AND key = ?2";
    let found = connection.prepare_cached(find)?.query_row(params![crawl.0, key.as_str()], |row| row.get(0)).optional()?;
    Ok(SiteId(match found {
        Some(id) => id,
        None => {
            let make = "INSERT INTO sites (crawl, key, shard) VALUES (?1, ?2, ?3)";
            connection.prepare_cached(make)?.insert(params![crawl.0, key.as_str(), key.shard().number()])?
        }
    }))
}

/// What a group did to a site.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    /// The highest priority among ready requests that came.
    gained: Option<i32>,
    /// Some went, or who came is not known.
    look: bool,
    turn: Option<i64>,
    next_allowed: Option<Timestamp>,
}

/// What a group, or an outcome of one, did to sites.
#[derive(Debug, Default)]
pub(crate) struct Touched(BTreeMap<SiteId, Touch>);

impl Touched {
    /// A ready request of this priority came.
    pub(crate) fn gained(&mut self, site: SiteId, priority: i32) {
        let touch = self.0.entry(site).or_default();
        touch.gained = touch.gained.max(Some(priority));
    }

    /// Ready requests went, or others than [`Touched::gained`] says came.
    pub(crate) fn changed(&mut self, site: SiteId) {
        self.0.entry(site).or_default().look = true;
    }

    /// The site was served.
    pub(crate) fn served(&mut self, site: SiteId, turn: i64, next_allowed: Option<Timestamp>) {
        let touch = self.0.entry(site).or_default();
        touch.turn = touch.turn.max(Some(turn));
        touch.next_allowed = touch.next_allowed.max(next_allowed);
    }

    /// Adds what another one did.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        for (site, touch) in other.0 {
            let mine = self.0.entry(site).or_default();
            mine.gained = mine.gained.max(touch.gained);
            mine.look |= touch.look;
            mine.turn = mine.turn.max(touch.turn);
            mine.next_allowed = mine.next_allowed.max(touch.next_allowed);
        }
    }

    /// The sites.
    pub(crate) fn sites(&self) -> impl Iterator<Item = SiteId> {
        self.0.keys().copied()
    }

    /// Makes the rows of the touched sites true again.
    pub(crate) fn settle(&self, connection: &Connection) -> Done<()> {
        let mut gain = connection.prepare_cached(
            "UPDATE sites SET ready = 1, head_priority = ?2 WHERE id = ?1 AND (ready = 0 OR head_priority < ?2)",
        )?;
        let mut head = connection.prepare_cached(HEAD)?;
        let mut set = connection.prepare_cached(
            "UPDATE sites SET ready = ?2, head_priority = ?3, turn = ifnull(?4, turn),
                next_allowed = max(next_allowed, ifnull(?5, next_allowed))
            WHERE id = ?1",
        )?;
        for (site, touch) in &self.0 {
            match touch {
                Touch { gained: Some(priority), look: false, turn: None, next_allowed: None } => {
                    gain.execute(params![site.0, priority])?;
                }
                _ => {
                    let found: Option<i32> = head.query_row([site.0], |row| row.get(0)).optional()?;
                    let next_allowed = touch.next_allowed.map(Timestamp::as_millis);
                    set.execute(params![site.0, found.is_some(), found.unwrap_or(0), touch.turn, next_allowed])?;
                }
            }
        }
        Ok(())
    }
}

/// Sites that have ready requests, in order.
pub(crate) fn ready(connection: &Connection, crawl: CrawlId, order: SiteOrder, limit: usize) -> Done<Vec<SiteHead>> {
    let query = match order {
        SiteOrder::ByHead => READY_BY_HEAD,
        SiteOrder::ByTurn => READY_BY_TURN,
    };
    let mut statement = connection.prepare_cached(query)?;
    let heads = statement.query_map(params![crawl.0, super::sql_limit(limit)], head)?.collect::<Result<_, _>>()?;
    Ok(heads)
}

/// The head of one site.
pub(crate) fn head_of(connection: &Connection, site: SiteId) -> Done<SiteHead> {
    let query = "SELECT id, key, head_priority, next_allowed FROM sites WHERE id = ?1";
    Ok(connection.prepare_cached(query)?.query_row([site.0], head)?)
}

fn head(row: &Row<'_>) -> rusqlite::Result<SiteHead> {
    Ok(SiteHead {
        id: SiteId(row.get(0)?),
        key: SiteKey::from_stored(row.get(1)?),
        head_priority: row.get(2)?,
        next_allowed: Timestamp::from_millis(row.get(3)?),
    })
}
