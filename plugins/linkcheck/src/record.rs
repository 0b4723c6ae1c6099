//! What the pages leave for the finish, in two named datasets, and what the finish reports.
//!
//! Decision: a page's ids and its links are rows of their own, since the finish reads the first once and the second twice.
//! Long lists are cut into several rows, which the finish takes as one.

use nephila_sdk::prelude::*;
use serde::{Deserialize, Serialize};

/// The dataset of [`PageRow`].
pub(crate) const PAGES: &str = "linkcheck-pages";

/// The dataset of [`LinkRow`].
pub(crate) const LINKS: &str = "linkcheck-links";

/// Bytes of strings in one row; the host takes a megabyte with all that JSON adds.
const ROW_BYTES: usize = 200_000;

/// A page that answered, by its final URL.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageRow {
    pub(crate) url: String,
    /// What fragments can name; none if any fragment is as good as another (no HTML, or not our site).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ids: Option<Vec<String>>,
    /// Whether it should have been read, and could not be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
}

/// Links of a page.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinkRow {
    /// The final URL of the page that holds them; none for a start URL, which nothing needs to link to.
    pub(crate) page: Option<String>,
    /// URLs without fragments, each followed by the fragments that the page asks of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) to: Vec<Vec<String>>,
    /// URLs that are asked for by HEAD first; the queue's answer to GET is about the second try.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) heads: Vec<String>,
    /// What HEAD failed with, where no second try was possible: its URL is the only one in `heads`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head_failed: Option<Failed>,
    /// Links that were found on the page, for the summary: each URL with fragment once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) found: u32,
    /// Of these, those that nobody asked to check.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) unchecked: u32,
}

/// Why a URL is broken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) reason: String,
    pub(crate) status: Option<u16>,
}

/// A row of the result.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    pub(crate) url: String,
    pub(crate) status: Option<u16>,
    pub(crate) reason: String,
    /// Pages that hold it: the first few, in order.
    pub(crate) pages: Vec<String>,
    /// How many there are in all.
    pub(crate) page_count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    BrokenLink,
    MissingFragment,
}

/// A row for a page, where the input asks for it.
#[derive(Debug, Serialize)]
pub(crate) struct ListedPage<'a> {
    pub(crate) kind: &'static str,
    pub(crate) url: &'a str,
    pub(crate) status: u16,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl PageRow {
    /// A page with its ids, in as many rows as it needs.
    pub(crate) fn push(url: &str, ids: impl IntoIterator<Item = String>) -> HandlerResult {
        let row = |ids| PageRow { url: url.to_owned(), ids: Some(ids), unread: false };
        cut(ids.into_iter().collect(), String::len).into_iter().try_for_each(|ids| dataset::named(PAGES).push(&row(ids)))
    }

    /// A page on which nothing is looked for.
    pub(crate) fn push_unread(url: &str, unread: bool) -> HandlerResult {
        dataset::named(PAGES).push(&PageRow { url: url.to_owned(), ids: None, unread })
    }
}

impl LinkRow {
    /// Pushes the links of a page, in as many rows as they need.
    pub(crate) fn push(self) -> HandlerResult {
        let dataset = dataset::named(LINKS);
        self.rows().iter().try_for_each(|row| dataset.push(row))
    }

    /// Usually one; what counts once stands in the last.
    fn rows(self) -> Vec<LinkRow> {
        let (page, found) = (self.page, self.found);
        let mut to = cut(self.to, |target| target.iter().map(String::len).sum());
        let mut heads = cut(self.heads, String::len);
        let (last_to, last_heads) = (to.pop().unwrap_or_default(), heads.pop().unwrap_or_default());
        let of = |to, heads| LinkRow { page: page.clone(), to, heads, ..LinkRow::default() };
        let mut rows: Vec<LinkRow> = to.into_iter().map(|to| of(to, Vec::new())).collect();
        rows.extend(heads.into_iter().map(|heads| of(Vec::new(), heads)));
        if found > 0 || !last_to.is_empty() || !last_heads.is_empty() {
            rows.push(LinkRow { found, unchecked: self.unchecked, head_failed: self.head_failed, ..of(last_to, last_heads) });
        }
        rows
    }
}

/// Cuts a list into rows; always at least one.
fn cut<T>(list: Vec<T>, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut rows = vec![Vec::new()];
    let mut bytes = 0;
    for item in list {
        bytes += size(&item);
        if bytes > ROW_BYTES {
            bytes = size(&item);
            rows.push(Vec::new());
        }
        if let Some(row) = rows.last_mut() {
            row.push(item);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_nothing_is_lost() {
        let list: Vec<String> = (0..5).map(|n| n.to_string().repeat(90_000)).collect();
        let rows = cut(list.clone(), String::len);
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(rows.concat(), list);
        assert_eq!(cut(Vec::<String>::new(), String::len), [Vec::<String>::new()]);
    }

    #[test]
    fn links_are_one_row_where_they_fit_and_counts_stand_in_one() {
        let long = |n: usize| vec!["x".repeat(n)];
        let row = |to: Vec<Vec<String>>, heads: Vec<String>, found| LinkRow { to, heads, found, ..LinkRow::default() };
        assert_eq!(row(vec![long(5)], long(5), 2).rows(), [row(vec![long(5)], long(5), 2)]);
        let many = row(vec![long(150_000), long(150_000)], [long(150_000), long(150_000)].concat(), 4).rows();
        let shape = |row: &LinkRow| (row.to.len(), row.heads.len(), row.found);
        assert_eq!(many.iter().map(shape).collect::<Vec<_>>(), [(1, 0, 0), (0, 1, 0), (1, 1, 4)]);
        assert_eq!(row(Vec::new(), Vec::new(), 0).rows(), []);
    }
}
