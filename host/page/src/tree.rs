//! The tree of a page.
//!
//! Decision: html5ever's tree as browsers build it, fed in pieces so that a clock can be read in between; a page may be made to
//! be slow. Matches come in document order, which scraper's own `select` does not promise where the parser moves elements.

use crate::document::{PageElement, PageTree, Written};
use crate::fault::PageFault;
use crate::watch::Watch;
use ego_tree::NodeRef;
use html5ever::driver::{self, ParseOpts};
use html5ever::tendril::TendrilSink;
use html5ever::{Namespace, QualName};
use scraper::selector::CssLocalName;
use scraper::{ElementRef, Html, HtmlTreeSink, Node};
use selectors::{Element, OpaqueElement};

/// Bytes between two looks at the clock. Small, since a tag may take time in proportion to the elements that are open.
const PIECE: usize = 4 << 10;

/// A parsed page.
pub(crate) struct Tree(pub(crate) Html);

impl Tree {
    pub(crate) fn parse(text: &str, watch: &Watch) -> Result<Self, PageFault> {
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
}

/// The first element among nodes. There may be a million comments before it.
fn first_element<'a>(nodes: impl Iterator<Item = NodeRef<'a, Node>>, watch: &Watch) -> Option<ElementRef<'a>> {
    nodes.take_while(|_| watch.work(0)).find_map(ElementRef::wrap)
}

/// Can write markup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WritesMarkup;

impl PageTree for Tree {
    type Element<'a> = ElementRef<'a>;
    type Writes = WritesMarkup;

    fn root(&self, watch: &Watch) -> Option<ElementRef<'_>> {
        first_element(self.0.tree.root().children(), watch)
    }

    fn nodes<'a>(&'a self, scope: Option<ElementRef<'a>>) -> impl Iterator<Item = Option<ElementRef<'a>>> {
        let top = scope.map_or_else(|| self.0.tree.root(), |scope| *scope);
        top.descendants().skip(1).map(ElementRef::wrap)
    }

    fn markup(&self, element: &ElementRef<'_>, _: WritesMarkup) -> String {
        element.inner_html()
    }
}

impl PageElement for ElementRef<'_> {
    fn opaque(&self) -> OpaqueElement {
        Element::opaque(self)
    }

    fn parent(&self) -> Option<Self> {
        Element::parent_element(self)
    }

    fn previous(&self, watch: &Watch) -> Option<Self> {
        first_element(self.prev_siblings(), watch)
    }

    fn next(&self, watch: &Watch) -> Option<Self> {
        first_element(self.next_siblings(), watch)
    }

    fn first_child(&self, watch: &Watch) -> Option<Self> {
        first_element(self.children(), watch)
    }

    fn is_bare(&self, watch: &Watch) -> bool {
        let mut children = self.children().take_while(|_| watch.work(0));
        !children.any(|child| child.value().is_element() || child.value().is_text())
    }

    fn is_top(&self) -> bool {
        Element::is_root(self)
    }

    fn is_html(&self) -> bool {
        Element::is_html_element_in_html_document(self)
    }

    fn is_named(&self, name: &CssLocalName) -> bool {
        Element::has_local_name(self, name)
    }

    fn is_in(&self, namespace: &Namespace) -> bool {
        Element::has_namespace(self, namespace)
    }

    fn is_alike(&self, other: &Self) -> bool {
        Element::is_same_type(self, other)
    }

    fn id(&self) -> Option<Written<'_>> {
        PageElement::attribute(self, "id")
    }

    // Not scraper's own: it keeps each class of each element interned.
    fn class(&self) -> Option<Written<'_>> {
        PageElement::attribute(self, "class")
    }

    fn attribute(&self, name: &str) -> Option<Written<'_>> {
        self.attr(name).map(Written::plain)
    }

    fn attributes(&self, namespace: Option<&Namespace>, local: &str) -> impl Iterator<Item = Written<'_>> {
        let is = move |name: &QualName| *name.local == *local && namespace.is_none_or(|namespace| *namespace == name.ns);
        self.value().attrs.iter().filter(move |(name, _)| is(name)).map(|(_, value)| Written::plain(value))
    }

    fn names_len(&self) -> usize {
        16 * self.value().attrs.len()
    }

    fn pieces(&self) -> impl Iterator<Item = Option<Written<'_>>> {
        self.descendants().skip(1).map(|node| node.value().as_text().map(|text| Written::plain(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selectors::SelectorCache;
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
        assert!(matches!(result, Err(PageFault { code: "selector-timeout", .. })), "{result:?}");
    }

    #[test]
    fn a_page_that_is_slow_to_parse_is_cut_short() {
        let attributes: String = (0..200_000).map(|n| format!(" a{n}=x")).collect();
        let result = Tree::parse(&format!("<div{attributes}>"), &watch(100));
        assert!(matches!(result, Err(PageFault { code: "page-timeout", .. })));
    }
}
