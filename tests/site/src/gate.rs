//! The gate of a site that knows its visitors: gives each a cookie, counts what they ask by it, and blocks every so many answers.
//!
//! How many answers are blocked is known beforehand, which ones is not: the requests of a crawl come in any order.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "visitor";

/// What a gate has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateStats {
    /// Requests of each visitor, the one included that brought it its cookie.
    pub by_visitor: BTreeMap<String, u64>,
    /// Answers that were blocked.
    pub blocked: u64,
    /// Requests that came from a visitor after it was blocked.
    pub came_again: u64,
}

/// A gate.
pub(crate) struct Gate {
    block_every: Option<u64>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    asked: u64,
    visitors: u64,
    stats: GateStats,
    unwanted: BTreeSet<String>,
}

/// What the gate says to a request.
pub(crate) struct Ticket {
    /// Whose it is.
    pub visitor: String,
    /// The cookie that is new to the visitor.
    pub new_cookie: Option<String>,
    pub blocked: bool,
}

impl Gate {
    pub fn new(block_every: Option<u64>) -> Self {
        Self { block_every, book: Mutex::default() }
    }

    /// Lets a request in, or not; with the values of its `Cookie` fields.
    pub fn admit<'c>(&self, cookies: impl Iterator<Item = &'c str>) -> Ticket {
        let mut book = self.book();
        let known = cookies
            .flat_map(|field| field.split(';'))
            .find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
            .map(str::to_owned);
        let is_new = known.is_none();
        let visitor = known.unwrap_or_else(|| {
            book.visitors += 1;
            format!("v{}", book.visitors)
        });
        book.asked += 1;
        *book.stats.by_visitor.entry(visitor.clone()).or_default() += 1;
        book.stats.came_again += u64::from(book.unwanted.contains(&visitor));
        let blocked = self.block_every.is_some_and(|every| book.asked.is_multiple_of(every));
        if blocked {
            book.stats.blocked += 1;
            book.unwanted.insert(visitor.clone());
        }
        let new_cookie = is_new.then(|| format!("{COOKIE}={visitor}; Path=/; Max-Age=86400"));
        Ticket { visitor, new_cookie, blocked }
    }

    pub fn stats(&self) -> GateStats {
        self.book().stats.clone()
    }

    /// Forgets what was counted; visitors stay who they are.
    pub fn reset(&self) {
        let mut book = self.book();
        book.asked = 0;
        book.stats = GateStats::default();
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn visitors_are_told_apart_by_their_cookie_and_every_so_many_answers_are_blocked() {
        let gate = Gate::new(Some(3));
        let first = gate.admit(std::iter::empty());
        assert_eq!(first.new_cookie.as_deref(), Some("visitor=v1; Path=/; Max-Age=86400"));
        assert!(gate.admit(["a=b; visitor=v1"].into_iter()).new_cookie.is_none());
        assert!(gate.admit(std::iter::empty()).blocked);
        gate.admit(["visitor=v2"].into_iter());
        let stats = gate.stats();
        assert_eq!((stats.blocked, stats.came_again, stats.by_visitor["v1"], stats.by_visitor["v2"]), (1, 1, 2, 2));
    }
}
