//! A page with what was parsed of it.
//!
//! Decision: one wrapper around the page that fills itself lazily, shared by all calls on that page. The tree is not `Sync`, so
//! that it sits behind a lock and is only touched within one host call; nothing awaits while it is held.

use super::stream::Scan;
use super::tree::Tree;
use super::watch::Watch;
use crate::fault::Fault;
use nephila_model::Page;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use url::Url;

/// A page, parsed at most once, and only as far as something asked.
pub struct ParsedPage {
    page: Arc<Page>,
    scan: OnceLock<Scan>,
    base: OnceLock<Url>,
    tree: Mutex<Slot>,
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
        Self { page, scan: OnceLock::new(), base: OnceLock::new(), tree: Mutex::new(Slot::Unparsed) }
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// The body as text.
    pub(crate) fn text(&self) -> Result<&str, Fault> {
        if self.page.charset.is_none() && !self.page.is_html() {
            let kind = self.page.content_type.as_ref().map_or("without a media type", |kind| &kind.essence);
            return Err(Fault::refused("not-text", format!("the page is {kind}, not text; take its `body` instead")));
        }
        Ok(self.page.decoded())
    }

    /// Links, title and base, by one streaming pass.
    pub(crate) fn scan(&self) -> Result<&Scan, Fault> {
        let text = self.text()?;
        Ok(self.scan.get_or_init(|| Scan::of(text)))
    }

    /// What relative references resolve against: the page's URL, and `<base href>` where there is one.
    pub(crate) fn base(&self) -> &Url {
        self.base.get_or_init(|| {
            let href = self.scan().ok().and_then(|scan| scan.base.as_deref());
            let base = href.and_then(|href| self.page.url.join(href).ok()).filter(|base| !base.cannot_be_a_base());
            base.unwrap_or_else(|| self.page.url.clone())
        })
    }

    /// Asks something of the tree, which is built if it was not.
    pub(crate) fn with_tree<T>(&self, watch: &Watch, ask: impl FnOnce(&Tree) -> Result<T, Fault>) -> Result<T, Fault> {
        let text = self.text()?;
        let mut slot = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*slot, Slot::Unparsed) {
            *slot = match Tree::parse(text, watch) {
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
                Err(Fault::refused("page-timeout", "parsing the page took too long before; take its `text` instead"))
            }
        }
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
