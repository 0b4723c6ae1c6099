//! The tree of a page.
//!
//! Decision: html5ever's tree as browsers build it, fed in pieces so that a clock can be read in between; a page may be made to
//! be slow. Matches come in document order, which scraper's own `select` does not promise where the parser moves elements.

use super::selectors::{Compiled, Matcher};
use super::watch::Watch;
use crate::fault::Fault;
use html5ever::driver::{self, ParseOpts};
use html5ever::tendril::TendrilSink;
use scraper::{ElementRef, Html, HtmlTreeSink};

/// Bytes between two looks at the clock. Small, since a tag may take time in proportion to the elements that are open.
const PIECE: usize = 4 << 10;

/// A parsed page.
pub(crate) struct Tree(Html);

impl Tree {
    pub(crate) fn parse(text: &str, watch: &Watch) -> Result<Self, Fault> {
        let sink = HtmlTreeSink::new(Html::new_document());
        let mut parser = driver::parse_document(sink, ParseOpts::default());
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            parser.process(piece.into());
            rest = after;
            watch.check("page-timeout", "parsing the page")?;
        }
        Ok(Self(parser.finish()))
    }

    /// The root element, which every HTML document has.
    pub(crate) fn root(&self) -> Option<ElementRef<'_>> {
        self.0.tree.root().children().find_map(ElementRef::wrap)
    }

    /// Gives the elements that match, in document order, until `each` has enough (`false`). With a scope, those within it.
    pub(crate) fn select<'a>(
        &'a self,
        scope: Option<ElementRef<'a>>,
        selector: &Compiled,
        watch: &Watch,
        mut each: impl FnMut(ElementRef<'a>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut matcher = Matcher::new(selector, scope, watch);
        let top = scope.map_or_else(|| self.0.tree.root(), |scope| *scope);
        for element in top.descendants().skip(1).filter_map(ElementRef::wrap) {
            let matches = matcher.matches(element);
            if !watch.step() {
                break;
            }
            if matches && !each(element)? {
                return Ok(());
            }
        }
        watch.check("selector-timeout", "matching the selector")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::selectors::SelectorCache;
    use std::time::Duration;

    fn watch(millis: u64) -> Watch {
        Watch::new(Duration::from_millis(millis), 1 << 20)
    }

    #[test]
    fn matches_come_in_document_order_and_within_their_scope() {
        // The parser moves the <b> before the table.
        let tree =
            Tree::parse("<i>1</i><table><tr><td><i>3</i></td></tr><i>2</i></table><i>4</i>", &watch(10_000)).expect("a tree");
        let cache = SelectorCache::new();
        let selector = cache.get("i").expect("compiles");
        let mut texts = Vec::new();
        tree.select(None, &selector, &watch(10_000), |element| {
            texts.push(element.text().collect::<String>());
            Ok(true)
        })
        .expect("no fault");
        assert_eq!(texts, ["1", "2", "3", "4"]);
        let cell = cache.get("td").expect("compiles");
        let mut within = 0;
        tree.select(None, &cell, &watch(10_000), |cell| {
            tree.select(Some(cell), &selector, &watch(10_000), |_| {
                within += 1;
                Ok(true)
            })?;
            Ok(true)
        })
        .expect("no fault");
        assert_eq!(within, 1);
    }

    #[test]
    fn a_selector_that_searches_everything_for_every_element_is_cut_short() {
        let wide = format!("{}{}", "<div>".repeat(400), "<p></p>".repeat(8_000));
        let tree = Tree::parse(&wide, &watch(60_000)).expect("a tree");
        let selector = SelectorCache::new().get(":has(* * * ~ * ~ * ~ nothing)").expect("compiles");
        let result = tree.select(None, &selector, &watch(100), |_| Ok(true));
        assert!(matches!(result, Err(Fault::Refused { code: "selector-timeout", .. })), "{result:?}");
    }

    #[test]
    fn a_page_that_is_slow_to_parse_is_cut_short() {
        let attributes: String = (0..200_000).map(|n| format!(" a{n}=x")).collect();
        let result = Tree::parse(&format!("<div{attributes}>"), &watch(100));
        assert!(matches!(result, Err(Fault::Refused { code: "page-timeout", .. })));
    }
}
