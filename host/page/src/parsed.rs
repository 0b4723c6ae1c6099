//! A page with what was parsed of it.
//!
//! Decision: one wrapper around the page that fills itself lazily, shared by all calls on that page. The tree is not `Sync`, so
//! that it sits behind a lock and is only touched within one host call; nothing awaits while it is held.

use crate::fault::PageFault;
use crate::quick::{QuickTree, Tape};
use crate::stream::Scan;
use crate::tree::Tree;
use crate::watch::Watch;
use nephila_model::Page;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// A page, parsed at most once, and only as far as something asked.
pub struct ParsedPage {
    page: Arc<Page>,
    quick: OnceLock<Option<Tape>>,
    scan: OnceLock<Scan>,
    base: OnceLock<Url>,
    tree: Mutex<Slot>,
    // Nanoseconds.
    parsing: AtomicU64,
}

enum Slot {
    Unparsed,
    Parsed(Tree),
    /// It took too long: it is not tried again.
    TooSlow,
}

impl ParsedPage {
    /// Wraps a page; nothing is parsed yet.
    #[must_use]
    pub fn new(page: Arc<Page>) -> Self {
        Self {
            page,
            quick: OnceLock::new(),
            scan: OnceLock::new(),
            base: OnceLock::new(),
            tree: Mutex::new(Slot::Unparsed),
            parsing: AtomicU64::new(0),
        }
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// The time that was spent so far on parsing the page and on scanning it for links, over all calls on it.
    #[must_use]
    pub fn parse_time(&self) -> Duration {
        Duration::from_nanos(self.parsing.load(Ordering::Relaxed))
    }

    fn timed<T>(&self, parse: impl FnOnce() -> T) -> T {
        let _timer = Timer { began: Instant::now(), sum: &self.parsing };
        parse()
    }

    /// The body as text.
    ///
    /// # Errors
    /// [`PageFault`] `not-text`.
    pub fn text(&self) -> Result<&str, PageFault> {
        if self.page.charset.is_none() && !self.page.is_html() {
            let kind = self.page.content_type.as_ref().map_or("without a media type", |kind| &kind.essence);
            return Err(PageFault::new("not-text", format!("the page is {kind}, not text; take its `body` instead")));
        }
        Ok(self.page.decoded())
    }

    /// The quick tree, if the page is tame.
    pub(crate) fn quick(&self) -> Result<Option<QuickTree<'_>>, PageFault> {
        let text = self.text()?;
        let parse = || match Tape::parse(text) {
            Ok(tape) => Some(tape),
            Err(why) => {
                tracing::trace!(url = %self.page.url, why = why.0, "the page has no quick tree");
                None
            }
        };
        Ok(self.quick.get_or_init(|| self.timed(parse)).as_ref().map(|tape| tape.tree(text)))
    }

    /// Links, title and base: from the quick tree, or else by one streaming pass.
    pub(crate) fn scan(&self) -> Result<&Scan, PageFault> {
        // Taking the text again is not free: it is looked through for whether it is well-formed.
        if let Some(scan) = self.scan.get() {
            return Ok(scan);
        }
        let scan = match self.quick()?.and_then(|tree| self.timed(|| tree.scan())) {
            Some(scan) => scan,
            None => {
                let text = self.text()?;
                self.timed(|| Scan::of(text))
            }
        };
        Ok(self.scan.get_or_init(|| scan))
    }

    /// The text of the first `<title>`, white space collapsed; `None` without one.
    ///
    /// # Errors
    /// [`PageFault`] `not-text`.
    pub fn title(&self) -> Result<Option<String>, PageFault> {
        Ok(self.scan()?.title.clone())
    }

    /// What relative references resolve against: the page's URL, and `<base href>` where there is one.
    pub fn base(&self) -> &Url {
        self.base.get_or_init(|| {
            let href = self.scan().ok().and_then(|scan| scan.base.as_deref());
            let base = href.and_then(|href| self.page.url.join(href).ok()).filter(|base| !base.cannot_be_a_base());
            base.unwrap_or_else(|| self.page.url.clone())
        })
    }

    /// Asks something of the tree, which is built if it was not.
    pub(crate) fn with_tree<T>(&self, watch: &Watch, ask: impl FnOnce(&Tree) -> Result<T, PageFault>) -> Result<T, PageFault> {
        let text = self.text()?;
        let mut slot = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*slot, Slot::Unparsed) {
            *slot = match self.timed(|| Tree::parse(text, watch)) {
                Ok(tree) => Slot::Parsed(tree),
                Err(fault) => {
                    *slot = Slot::TooSlow;
                    return Err(fault);
                }
            };
        }
        match &*slot {
            Slot::Parsed(tree) => ask(tree),
            Slot::Unparsed | Slot::TooSlow => {
                Err(PageFault::new("page-timeout", "parsing the page took too long before; take its `text` instead"))
            }
        }
    }
}

/// Adds what has passed when it is dropped: parsing that panics took its time too.
struct Timer<'a> {
    began: Instant,
    sum: &'a AtomicU64,
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.sum.fetch_add(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl std::fmt::Debug for ParsedPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParsedPage").field("url", &self.page.url.as_str()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) fn html(url: &str, body: &str) -> ParsedPage {
    ParsedPage::new(Arc::new(Page {
        url: Url::parse(url).expect("a URL"),
        status: 200,
        headers: Vec::new(),
        content_type: nephila_model::ContentType::parse("text/html"),
        body: body.to_owned().into(),
        charset: Some("UTF-8"),
        chain: Vec::new(),
        timings: nephila_model::Timings::default(),
        text: OnceLock::new(),
    }))
}

#[cfg(test)]
mod tests {
    use super::html;
    use crate::watch::Watch;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    #[test]
    fn parsing_that_hits_its_limit_has_taken_its_time() {
        // Each tag is looked for among all that are open.
        let page = html("http://example.com/", &"<div>".repeat(200_000));
        let allowed = Duration::from_millis(30);
        let fault = page.with_tree(&Watch::new(allowed, 0), |_| Ok(())).expect_err("too slow");
        assert_eq!(fault.code, "page-timeout");
        assert!(page.parse_time() >= allowed, "{:?}", page.parse_time());
    }

    #[test]
    fn parsing_that_panics_has_taken_its_time() {
        let page = html("http://example.com/", "");
        let panics = || page.timed(|| panic!("for the test"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(page.parse_time() > Duration::ZERO);
    }
}
