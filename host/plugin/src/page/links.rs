//! The links of a page as URLs.
//!
//! Decision: without a selector from the streaming pass, with one from the tree; either way in document order, resolved against
//! `<base href>` and the page, fragments kept. What is no `http` or `https` URL is left out: it cannot be requested.

use super::parsed::ParsedPage;
use super::selectors::SelectorCache;
use super::watch::Watch;
use crate::fault::Fault;
use url::Url;

/// A link.
pub(crate) struct Link {
    pub(crate) url: Url,
    pub(crate) href: String,
    pub(crate) rel: String,
}

/// The links of the page: of `a[href]` and `area[href]`, or the `href` or else `src` of what the selector matches.
pub(crate) fn links(
    page: &ParsedPage,
    selector: Option<&str>,
    selectors: &SelectorCache,
    watch: &Watch,
) -> Result<Vec<Link>, Fault> {
    let mut links = Vec::new();
    let mut add = |href: &str, rel: &str| {
        if !watch.step() {
            watch.check("page-timeout", "resolving the links")?;
        }
        if let Some(url) = target(page.base(), href) {
            watch.take(url.as_str().len() + href.len() + rel.len() + 72)?;
            links.push(Link { url, href: href.to_owned(), rel: rel.to_owned() });
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
            page.with_tree(watch, |tree| {
                tree.select(None, &selector, watch, |element| match element.attr("href").or_else(|| element.attr("src")) {
                    Some(href) => add(href, &element.attr("rel").unwrap_or_default().to_lowercase()),
                    None => Ok(true),
                })
            })?;
        }
    }
    Ok(links)
}

/// A reference as a URL that can be requested.
pub(crate) fn target(base: &Url, href: &str) -> Option<Url> {
    base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::parsed::html;
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
