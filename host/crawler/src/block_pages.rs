//! Pages that are no pages but blocks, told by what is on them (Crawlee: `retry_on_blocked`).
//!
//! Decision: an element that matches a selector of the operator's. Crawlee has a fixed list for the block pages of its day; which ones a
//! crawl meets, whoever runs it sees. It is looked for where the page is handled, after the mark of a suspect, since the page is
//! parsed for it; the handler finds it parsed. Costs nothing where it is not set.

use crate::settings::CrawlSettings;
use nephila_page::{SelectorCache, Watch, has_match};
use nephila_plugin::ParsedPage;
use std::time::Duration;

/// Tells pages that are blocks.
#[derive(Debug)]
pub struct BlockPages {
    selectors: String,
    compiled: SelectorCache,
    time: Duration,
}

impl BlockPages {
    /// As the settings have it; `None` if nothing is looked for.
    pub fn new(settings: &CrawlSettings) -> Option<Self> {
        let selectors = settings.sessions.block_selectors.clone()?;
        Some(Self { selectors, compiled: SelectorCache::new(), time: settings.query_timeout })
    }

    /// Why a page is a block, if it is one. A page without text, or one that takes too long to look at, is none.
    pub fn says(&self, page: &ParsedPage) -> Option<String> {
        let watch = Watch::new(self.time, 0);
        match has_match(page, &self.selectors, &self.compiled, &watch) {
            Ok(true) => Some(format!("the page has what `{}` matches", self.selectors)),
            Ok(false) => None,
            Err(fault) => {
                tracing::debug!(url = %page.page().url, code = fault.code, "the page was not looked through for a block");
                None
            }
        }
    }
}
