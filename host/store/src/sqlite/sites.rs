//! Sites: their rows, and the heads of their queues.
//!
//! Decision: what a claim needs to know of a site (how many of its requests are ready, how high the first of them stands, whose turn it
//! is) is kept in the site's row and made true again at the end of every group, for the sites that the group touched, with one
//! seek in the index of ready requests. So a claim is a read of an index that holds ready sites alone (S6). What it costs: a
//! write to the row of every touched site per group.

use super::trouble::Done;
use crate::{SiteHead, SiteOrder};
use nephila_model::{CrawlId, SiteId, SiteKey, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use std::collections::{BTreeMap, HashMap};

/// Site rows that are remembered; beyond it, all are forgotten (S9).
const REMEMBERED: usize = 4_096;

pub(crate) const READY_BY_HEAD: &str = "SELECT id, key, head_priority, next_allowed FROM sites
    WHERE crawl = ?1 AND ready > 0 ORDER BY head_priority DESC, turn, id LIMIT ?2";
pub(crate) const READY_BY_TURN: &str = "SELECT id, key, head_priority, next_allowed FROM sites
    WHERE crawl = ?1 AND ready > 0 ORDER BY turn, id LIMIT ?2";
pub(crate) const SETTLE: &str = "UPDATE sites SET
        ready = ready + :ready,
        head_priority = ifnull((SELECT priority FROM requests WHERE site = :id AND state = 0 AND not_before IS NULL
            ORDER BY priority DESC, rank LIMIT 1), 0),
        turn = ifnull(:turn, turn),
        next_allowed = max(next_allowed, ifnull(:next_allowed, next_allowed))
    WHERE id = :id";

/// The rows of sites that were asked for lately.
#[derive(Debug, Default)]
pub(crate) struct SiteCache(HashMap<(CrawlId, SiteKey), SiteId>);

impl SiteCache {
    /// Forgets all, since some may have been rolled back.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The row of a site; made if there is none.
    pub(crate) fn row(&mut self, connection: &Connection, crawl: CrawlId, key: &SiteKey) -> Done<SiteId> {
        // A key is cloned per look-up: cheaper than a seek, and the map stays plain.
        let entry = (crawl, key.clone());
        if let Some(id) = self.0.get(&entry) {
            return Ok(*id);
        }
        let find = "SELECT id FROM sites WHERE crawl = ?1 AND key = ?2";
        let found = connection.prepare_cached(find)?.query_row(params![crawl.0, key.as_str()], |row| row.get(0)).optional()?;
        let id = SiteId(match found {
            Some(id) => id,
            None => {
                let make = "INSERT INTO sites (crawl, key, shard) VALUES (?1, ?2, ?3)";
                connection.prepare_cached(make)?.insert(params![crawl.0, key.as_str(), key.shard().number()])?
            }
        });
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        self.0.insert(entry, id);
        Ok(id)
    }
}

/// What a group did to a site.
#[derive(Debug, Clone, Copy, Default)]
struct Touch {
    ready: i64,
    turn: Option<i64>,
    next_allowed: Option<Timestamp>,
}

/// What a group, or an outcome of one, did to sites.
#[derive(Debug, Default)]
pub(crate) struct Touched(BTreeMap<SiteId, Touch>);

impl Touched {
    /// Ready requests came (or went: negative), or the order of the present ones changed (0).
    pub(crate) fn ready(&mut self, site: SiteId, by: i64) {
        self.0.entry(site).or_default().ready += by;
    }

    /// The site was served.
    pub(crate) fn served(&mut self, site: SiteId, turn: i64, next_allowed: Option<Timestamp>) {
        let touch = self.0.entry(site).or_default();
        touch.turn = touch.turn.max(Some(turn));
        touch.next_allowed = touch.next_allowed.max(next_allowed);
    }

    /// Adds what another one did.
    pub(crate) fn merge(&mut self, other: Self) {
        for (site, touch) in other.0 {
            let mine = self.0.entry(site).or_default();
            mine.ready += touch.ready;
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
        let mut statement = connection.prepare_cached(SETTLE)?;
        for (site, touch) in &self.0 {
            statement.execute(named_params! {
                ":id": site.0,
                ":ready": touch.ready,
                ":turn": touch.turn,
                ":next_allowed": touch.next_allowed.map(Timestamp::as_millis),
            })?;
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
