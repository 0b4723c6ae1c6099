//! The links of a page as URLs.
//!
//! Decision: without a selector from the one pass for all of them, with one from the tree; either way in document order, resolved against
//! `<base href>` and the page, fragments kept. What is no `http` or `https` URL is left out: it cannot be requested.

use crate::document::{PageElement, PageTree};
use crate::fault::PageFault;
use crate::parsed::ParsedPage;
use crate::resolve::Resolver;
use crate::selectors::{Compiled, SelectorCache};
use crate::watch::Watch;

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The absolute URL with its fragment.
    pub url: String,
    /// The attribute as the page has it, entities decoded.
    pub href: String,
    /// The `rel` attribute, in lower case; empty if there is none.
    pub rel: String,
}

/// The links of the page: of `a[href]` and `area[href]`, or the `href` or else `src` of what the selector matches.
///
/// # Errors
/// [`PageFault`]: no text, a bad selector, out of time, more bytes than the watch allows.
pub fn links(
    page: &ParsedPage,
    selector: Option<&str>,
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<Link>, PageFault> {
    let mut links = Vec::new();
    each(page, selector, selectors, watch, |url, href, rel| {
        links.push(Link { url, href: href.to_owned(), rel: rel.to_owned() });
    })?;
    Ok(links)
}

/// The URLs of [`links`], as the URL parser writes them, without what else is told of a link.
///
/// # Errors
/// As [`links`].
pub fn targets(
    page: &ParsedPage,
    selector: Option<&str>,
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<String>, PageFault> {
    let mut targets = Vec::new();
    each(page, selector, selectors, watch, |url, _, _| targets.push(url))?;
    Ok(targets)
}

/// Gives each link's URL, its attribute as the page has it, and its `rel`.
fn each(
    page: &ParsedPage,
    selector: Option<&str>,
    selectors: &SelectorCache,
    watch: &Watch,
    mut give: impl FnMut(String, &str, &str),
) -> Result<(), PageFault> {
    let resolver = Resolver::new(page.base());
    let mut add = |href: &str, rel: &str| {
        if !watch.work(resolver.cost(href)) {
            watch.check("page-timeout", "resolving the links")?;
        }
        if let Some(url) = resolver.target(href) {
            watch.take(url.len() + href.len() + rel.len() + 72)?;
            give(url, href, rel);
        }
        Ok(true)
    };
    match selector {
        None => {
            for link in &page.scan()?.links {
                add(&link.href, &link.rel)?;
            }
        }
        Some(selector) => {
            let selector = selectors.get(selector)?;
            match page.quick()? {
                Some(tree) => matching(&tree, &selector, watch, add)?,
                None => page.with_tree(watch, |tree| matching(tree, &selector, watch, add))?,
            }
        }
    }
    Ok(())
}

/// Adds what matches.
fn matching<T: PageTree>(
    tree: &T,
    selector: &Compiled,
    watch: &Watch,
    mut add: impl FnMut(&str, &str) -> Result<bool, PageFault>,
) -> Result<(), PageFault> {
    tree.select(None, selector, watch, |element| {
        let value = |name| element.attribute(name).and_then(|written| written.within(watch));
        let Some(href) = value("href").or_else(|| value("src")) else { return Ok(true) };
        add(&href, &value("rel").unwrap_or_default().to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::html;
    use std::time::Duration;

    fn urls(page: &ParsedPage, selector: Option<&str>) -> Vec<String> {
        let watch = Watch::new(Duration::from_secs(60), 1 << 20);
        let links = links(page, selector, &SelectorCache::new(), &watch).expect("links");
        links.into_iter().map(|link| format!("{} {} {}", link.url, link.href, link.rel)).collect()
    }

    #[test]
    fn links_are_resolved_and_what_cannot_be_requested_is_left_out() {
        let page = html(
            "http://example.com/a/b",
            "<a href=' ../c#d ' rel=Next>1</a><a href='mailto:x@y.z'>2</a><a href='javascript:void(0)'>3</a>\
             <a href='//other.example/'>4</a><a href='http://'>5</a><a href=''>6</a><img src=i.png>",
        );
        let expected =
            ["http://example.com/c#d  ../c#d  next", "http://other.example/ //other.example/ ", "http://example.com/a/b  "];
        assert_eq!(urls(&page, None), expected);
        assert_eq!(urls(&page, Some("a")), expected, "with a selector it is the same");
        assert_eq!(urls(&page, Some("img")), ["http://example.com/a/i.png i.png "]);
    }

    #[test]
    fn a_base_that_is_no_place_to_resolve_against_is_ignored() {
        let page = html("http://example.com/a/b", "<base href='data:,x'><a href=c>1</a>");
        assert_eq!(urls(&page, None), ["http://example.com/a/c c "]);
    }
}
