//! Joins links with what they lead to.
//!
//! Decision: URLs and fragments are kept as hashes of 64 bits in sorted lists, so that a site of 50,000 pages with 150 ids
//! each needs 60 MB; only URLs of which no page is known are kept as text, until the queue has told what became of them.
//! Two different texts of the same hash would hide one broken link: among a million, that happens once in thirty million crawls.

use std::collections::{BTreeMap, HashMap, HashSet};

use nephila_sdk::{RequestState, RequestStatus};
use serde::Serialize;

use crate::address;
use crate::fragment;
use crate::record::{Failed, Kind, LinkRow, PageRow, Problem};

/// Rows of the result at most; the host takes ten thousand items from one call.
const MOST_PROBLEMS: usize = 9_000;

/// What the finish tells in short.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// Pages and files that answered, each final URL once.
    pub(crate) pages: usize,
    /// Of these, pages of the site that could not be read, so that their links are missing here.
    pub(crate) unread_pages: usize,
    /// Links on them, each once per page.
    pub(crate) links: u64,
    /// Of these, those that were not checked: excluded, out of the site, or refused by a limit of the crawl.
    pub(crate) unchecked: u64,
    /// URLs that are broken.
    pub(crate) broken: usize,
    /// URLs with a fragment that their page does not have.
    pub(crate) missing_fragments: usize,
    /// Broken links and missing fragments on pages, for which there was no room in the result.
    pub(crate) not_listed: u64,
}

/// What a URL leads to.
#[derive(Debug, Clone, PartialEq)]
enum End {
    /// A page, by the hash of its final URL.
    Page(u64),
    /// Something that has no fragments of interest.
    Something,
    Broken(Failed),
    /// Nobody asked.
    Unchecked,
}

/// The join: first all pages, then all links to find the unknown ones, then their states, then all links once more.
#[derive(Debug, Default)]
pub(crate) struct Join {
    /// Final URLs.
    pages: Vec<u64>,
    /// Of these, those where any fragment will do.
    without_ids: HashSet<u64>,
    /// Final URLs with the ids on them.
    anchors: Vec<u64>,
    /// What URLs lead to that are no page's final URL.
    ends: HashMap<u64, End>,
    /// Those of which that is not known yet, and whether they are asked for by HEAD first.
    unknown: HashMap<String, bool>,
    problems: BTreeMap<(Kind, String), Held>,
    pages_per_row: usize,
    summary: Summary,
}

/// A problem, and who has it.
#[derive(Debug)]
struct Held {
    failed: Failed,
    pages: Vec<String>,
    page_count: u32,
    /// The page that was counted last. The rows of a page come one after another.
    last: u64,
}

impl Join {
    pub(crate) fn new(pages_per_row: usize) -> Self {
        Join { pages_per_row, ..Join::default() }
    }

    /// Takes a page.
    pub(crate) fn add_page(&mut self, row: &PageRow) {
        let page = hash(SEED, &row.url);
        self.pages.push(page);
        self.summary.unread_pages += usize::from(row.unread);
        match &row.ids {
            Some(ids) => self.anchors.extend(ids.iter().map(|id| anchor(page, id))),
            None => drop(self.without_ids.insert(page)),
        }
    }

    /// Says that all pages have been taken.
    pub(crate) fn end_of_pages(&mut self) {
        self.pages.sort_unstable();
        self.pages.dedup();
        self.anchors.sort_unstable();
        self.summary.pages = self.pages.len();
    }

    /// Notes which URLs lead to no page that is known by this name.
    pub(crate) fn note_unknown(&mut self, row: &LinkRow) {
        if let ([url], Some(failed)) = (&row.heads[..], &row.head_failed) {
            // A server that only refuses the method has not said anything of the URL.
            let end = if matches!(failed.status, Some(405 | 501)) { End::Unchecked } else { End::Broken(failed.clone()) };
            self.ends.insert(hash(SEED, url), end);
            self.unknown.remove(url);
            return;
        }
        let targets = row.to.iter().filter_map(|target| target.first()).map(|url| (url, false));
        for (url, by_head) in targets.chain(row.heads.iter().map(|url| (url, true))) {
            let target = hash(SEED, url);
            if self.pages.binary_search(&target).is_ok() || self.ends.contains_key(&target) {
                continue;
            }
            match self.unknown.get_mut(url) {
                Some(known) => *known |= by_head,
                None => drop(self.unknown.insert(url.clone(), by_head)),
            }
        }
    }

    /// The URLs that the queue must be asked about.
    pub(crate) fn take_unknown(&mut self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.unknown).into_iter().collect()
    }

    /// Takes what the queue knows of a URL.
    pub(crate) fn resolve(&mut self, url: &str, by_head: bool, status: Option<RequestStatus>) {
        let end = match status {
            // HEAD succeeded.
            None if by_head => End::Something,
            None => End::Unchecked,
            Some(status) => self.end_of(status),
        };
        self.ends.insert(hash(SEED, url), end);
    }

    fn end_of(&self, status: RequestStatus) -> End {
        let is_duplicate = status.reason.as_deref() == Some("duplicate-redirect");
        let goes_on_and_on = status.reason.as_deref() == Some("too-many-redirects");
        match status.state {
            RequestState::Handled => self.final_page(status.final_url),
            RequestState::Skipped if is_duplicate => self.final_page(status.final_url),
            // It answered, with more than the crawl wants to have.
            RequestState::Skipped if status.reason.as_deref() == Some("too-large") => End::Something,
            RequestState::Skipped | RequestState::Pending => End::Unchecked,
            // The page came, and it is the handler that failed. (A refresh that leads on and on comes with 200, too.)
            RequestState::Failed if matches!(status.status, Some(200..=299)) && !goes_on_and_on => End::Something,
            RequestState::Failed => {
                End::Broken(Failed { reason: status.reason.unwrap_or_else(|| "failed".to_owned()), status: status.status })
            }
        }
    }

    fn final_page(&self, url: Option<String>) -> End {
        let page = url.map(|url| hash(SEED, address::split_fragment(&url).0));
        page.filter(|page| self.pages.binary_search(page).is_ok()).map_or(End::Something, End::Page)
    }

    /// Checks the links of a page.
    pub(crate) fn check(&mut self, row: &LinkRow) {
        if row.head_failed.is_some() {
            return;
        }
        self.summary.links += u64::from(row.found);
        self.summary.unchecked += u64::from(row.unchecked);
        let heads = row.heads.iter().map(std::slice::from_ref);
        for target in row.to.iter().map(Vec::as_slice).chain(heads) {
            let [url, fragments @ ..] = target else { continue };
            let target = hash(SEED, url);
            let end = match self.ends.get(&target) {
                Some(end) => end.clone(),
                None => End::Page(target),
            };
            match end {
                End::Something => {}
                End::Unchecked => self.summary.unchecked += fragments.len().max(1) as u64,
                End::Broken(failed) => self.note(Kind::BrokenLink, url.clone(), &row.page, failed),
                End::Page(page) => {
                    for fragment in fragments.iter().filter(|fragment| !self.has(page, fragment)).collect::<Vec<_>>() {
                        let failed = Failed { reason: "no-such-id".to_owned(), status: None };
                        self.note(Kind::MissingFragment, format!("{url}#{fragment}"), &row.page, failed);
                    }
                }
            }
        }
    }

    fn has(&self, page: u64, fragment: &str) -> bool {
        self.without_ids.contains(&page)
            || fragment::is_found(fragment, |id| self.anchors.binary_search(&anchor(page, id)).is_ok())
    }

    fn note(&mut self, kind: Kind, url: String, page: &Option<String>, failed: Failed) {
        let key = (kind, url);
        if self.problems.len() >= MOST_PROBLEMS && !self.problems.contains_key(&key) {
            self.summary.not_listed += 1;
            return;
        }
        let held = self.problems.entry(key).or_insert(Held { failed, pages: Vec::new(), page_count: 0, last: 0 });
        let Some(page) = page else { return };
        let last = hash(SEED, page);
        if held.last == last {
            return;
        }
        (held.last, held.page_count) = (last, held.page_count + 1);
        // The first in order, not the first to come: a crawl gives them in any order.
        if let Err(place) = held.pages.binary_search(page)
            && place < self.pages_per_row
        {
            held.pages.insert(place, page.clone());
            held.pages.truncate(self.pages_per_row);
        }
    }

    /// What was found.
    pub(crate) fn result(mut self) -> (Summary, Vec<Problem>) {
        let count = |wanted: Kind| self.problems.keys().filter(|(kind, _)| *kind == wanted).count();
        self.summary.broken = count(Kind::BrokenLink);
        self.summary.missing_fragments = count(Kind::MissingFragment);
        let problem = |((kind, url), held): ((Kind, String), Held)| Problem {
            kind,
            url,
            status: held.failed.status,
            reason: held.failed.reason,
            pages: held.pages,
            page_count: held.page_count,
        };
        (self.summary, self.problems.into_iter().map(problem).collect())
    }
}

/// What FNV-1a begins with.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of 64 bits, going on from another text's.
fn hash(begun: u64, text: &str) -> u64 {
    text.bytes().fold(begun, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn anchor(page: u64, id: &str) -> u64 {
    hash(hash(page, "#"), id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "http://a.example/a";
    const B: &str = "http://a.example/b";

    fn page(url: &str, ids: Option<&[&str]>) -> PageRow {
        PageRow { url: url.to_owned(), ids: ids.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()), unread: false }
    }

    fn links(page: &str, to: &[&[&str]]) -> LinkRow {
        let to: Vec<Vec<String>> = to.iter().map(|target| target.iter().map(|text| (*text).to_owned()).collect()).collect();
        LinkRow { page: Some(page.to_owned()), found: to.len() as u32, to, ..LinkRow::default() }
    }

    fn status(state: RequestState, reason: Option<&str>, status: Option<u16>, final_url: Option<&str>) -> Option<RequestStatus> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Some(RequestStatus { state, final_url: owned(final_url), reason: owned(reason), status })
    }

    /// Joins, with a queue that knows these states.
    fn joined(pages: &[PageRow], rows: &[LinkRow], queue: &[(&str, Option<RequestStatus>)]) -> (Summary, Vec<Problem>) {
        let mut join = Join::new(2);
        pages.iter().for_each(|page| join.add_page(page));
        join.end_of_pages();
        rows.iter().for_each(|row| join.note_unknown(row));
        for (url, by_head) in join.take_unknown() {
            let known = queue.iter().find(|(known, _)| *known == url).and_then(|(_, status)| status.clone());
            join.resolve(&url, by_head, known);
        }
        rows.iter().for_each(|row| join.check(row));
        join.result()
    }

    fn shown(problems: &[Problem]) -> Vec<String> {
        problems
            .iter()
            .map(|problem| format!("{} {} {:?} {}", problem.url, problem.reason, problem.status, problem.page_count))
            .collect()
    }

    #[test]
    fn a_fragment_must_be_on_the_page_that_its_url_leads_to() {
        let moved = "http://a.example/moved";
        let pages = [page(A, Some(&["x", "grün"])), page(B, None)];
        let rows = [links(B, &[&[A, "x", "gr%C3%BCn", "y"], &[moved, "x", "z"], &[B, "any"]])];
        let (summary, problems) = joined(&pages, &rows, &[(moved, status(RequestState::Handled, None, Some(200), Some(A)))]);
        assert_eq!(shown(&problems), ["http://a.example/a#y no-such-id None 1", "http://a.example/moved#z no-such-id None 1"]);
        assert_eq!(summary, Summary { pages: 2, links: 3, missing_fragments: 2, ..Summary::default() });
    }

    #[test]
    fn the_loser_of_a_duplicate_redirect_leads_to_the_winners_page() {
        let pages = [page(A, Some(&["x"]))];
        let skipped = status(RequestState::Skipped, Some("duplicate-redirect"), None, Some(A));
        let (_, problems) = joined(&pages, &[links(A, &[&[B, "x", "y"]])], &[(B, skipped)]);
        assert_eq!(shown(&problems), ["http://a.example/b#y no-such-id None 1"]);
    }

    #[test]
    fn what_failed_is_broken_unless_the_page_itself_came() {
        let names = ["gone", "dead", "loop", "odd", "large", "robots", "never"];
        let [gone, dead, circle, odd, large, robots, never] = names.map(|name| format!("http://a.example/{name}"));
        let queue = [
            (gone.as_str(), status(RequestState::Failed, Some("status"), Some(404), None)),
            (dead.as_str(), status(RequestState::Failed, Some("connect"), None, None)),
            (circle.as_str(), status(RequestState::Failed, Some("too-many-redirects"), Some(200), None)),
            (odd.as_str(), status(RequestState::Failed, Some("trap"), Some(200), Some(&odd))),
            (large.as_str(), status(RequestState::Skipped, Some("too-large"), Some(200), None)),
            (robots.as_str(), status(RequestState::Skipped, Some("robots"), None, None)),
        ];
        let rows = [links(A, &[&[&gone, "x"], &[&dead], &[&circle], &[&odd], &[&large], &[&robots], &[&never, "x", "y"]])];
        let (summary, problems) = joined(&[page(A, None)], &rows, &queue);
        let expected = [
            "http://a.example/dead connect None 1",
            "http://a.example/gone status Some(404) 1",
            "http://a.example/loop too-many-redirects Some(200) 1",
        ];
        assert_eq!(shown(&problems), expected);
        assert_eq!((summary.broken, summary.unchecked), (3, 3));
    }

    #[test]
    fn of_heads_only_those_are_broken_whose_second_try_failed() {
        let [fine, gone, refused, dead] = ["fine", "gone", "refused", "dead"].map(|name| format!("http://b.example/{name}"));
        let heads = |page: Option<&str>, urls: &[&String], head_failed| LinkRow {
            page: page.map(str::to_owned),
            heads: urls.iter().map(|url| (*url).clone()).collect(),
            head_failed,
            ..LinkRow::default()
        };
        let failed = |reason: &str, status| Some(Failed { reason: reason.to_owned(), status });
        let rows = [
            heads(Some(A), &[&fine, &gone, &refused, &dead], None),
            heads(None, &[&refused], failed("status", Some(405))),
            heads(None, &[&dead], failed("dns", None)),
        ];
        let queue = [(gone.as_str(), status(RequestState::Failed, Some("status"), Some(410), None))];
        let (summary, problems) = joined(&[page(A, None)], &rows, &queue);
        assert_eq!(shown(&problems), ["http://b.example/dead dns None 1", "http://b.example/gone status Some(410) 1"]);
        assert_eq!(summary.unchecked, 1);
    }

    #[test]
    fn a_problem_names_the_first_pages_in_order_and_counts_all() {
        let pages: Vec<PageRow> = ["d", "c", "b", "a"].map(|name| page(&format!("http://a.example/{name}"), Some(&[]))).into();
        let rows: Vec<LinkRow> = pages.iter().map(|page| links(&page.url, &[&[A, "x"], &[A, "x"]])).collect();
        let (_, problems) = joined(&pages, &rows, &[]);
        assert_eq!(problems.len(), 1);
        assert_eq!((problems[0].pages.as_slice(), problems[0].page_count), (&[A.to_owned(), B.to_owned()][..], 4));
    }

    #[test]
    fn a_start_url_that_is_broken_is_held_by_no_page() {
        let rows = [LinkRow { to: vec![vec![A.to_owned()]], ..LinkRow::default() }];
        let (summary, problems) = joined(&[], &rows, &[(A, status(RequestState::Failed, Some("dns"), None, None))]);
        assert_eq!((shown(&problems), summary.broken), (vec!["http://a.example/a dns None 0".to_owned()], 1));
    }

    #[test]
    fn there_is_no_end_of_problems_but_of_rows() {
        let urls: Vec<String> = (0..MOST_PROBLEMS + 5).map(|n| n.to_string()).collect();
        let fragments: Vec<&str> = std::iter::once(A).chain(urls.iter().map(String::as_str)).collect();
        let (summary, problems) = joined(&[page(A, Some(&[]))], &[links(A, &[&fragments])], &[]);
        assert_eq!((problems.len(), summary.not_listed), (MOST_PROBLEMS, 5));
    }
}
