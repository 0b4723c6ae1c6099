//! CSS selectors: compiled once, and matched under a clock.
//!
//! Decision: the elements that the matcher walks over are wrapped (`Watched`), and the wrapper counts each step from element to
//! element. When the time is over it has no more parents, siblings or children to offer, so that even a selector which
//! backtracks or searches whole subtrees for a single element comes to its end. The cost is a counter per step, and that we
//! name the types of the crate `selectors` which scraper uses.

use super::watch::Watch;
use crate::failure::one_line;
use crate::fault::Fault;
use lru::LruCache;
use scraper::ElementRef;
use scraper::selector::{CssLocalName, CssString, NonTSPseudoClass, PseudoElement, Simple};
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::SelectorCaches;
use selectors::matching::{
    ElementSelectorFlags, MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    matches_selector,
};
use selectors::parser::{ParseRelative, Parser, SelectorImpl, SelectorList, SelectorParseErrorKind};
use selectors::{Element, OpaqueElement};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a selector.
const LONGEST: usize = 4_096;

/// Selectors that are kept compiled.
const KEPT: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

type Namespace = <Simple as SelectorImpl>::NamespaceUrl;

/// What selectors may have: everything that needs no browser behind it.
struct Syntax;

impl Parser<'_> for Syntax {
    type Impl = Simple;
    type Error = SelectorParseErrorKind;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }
}

/// A compiled selector.
pub(crate) struct Compiled(SelectorList<Simple>);

/// The selectors of all plugins of a host, by their text.
pub(crate) struct SelectorCache(Mutex<LruCache<String, Arc<Compiled>>>);

impl SelectorCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LruCache::new(KEPT)))
    }

    /// Compiles a selector, or takes the compiled one.
    pub(crate) fn get(&self, selector: &str) -> Result<Arc<Compiled>, Fault> {
        if selector.len() > LONGEST {
            let message = format!("a selector has {} bytes, and {LONGEST} are allowed; split it", selector.len());
            return Err(Fault::refused("bad-selector", message));
        }
        if let Some(compiled) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(selector) {
            return Ok(compiled.clone());
        }
        let list = SelectorList::parse(&Syntax, &mut cssparser::Parser::new(selector), ParseRelative::No).map_err(|error| {
            let cause = scraper::error::SelectorErrorKind::from(error);
            let message = format!("`{}` is not a CSS selector that this host knows: {cause}", one_line(selector, 200));
            Fault::refused("bad-selector", message)
        })?;
        let compiled = Arc::new(Compiled(list));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(selector.to_owned(), compiled.clone());
        Ok(compiled)
    }
}

/// Matches one selector against many elements.
pub(crate) struct Matcher<'a> {
    selector: &'a Compiled,
    scope: Option<OpaqueElement>,
    caches: SelectorCaches,
    watch: &'a Watch,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(selector: &'a Compiled, scope: Option<ElementRef<'_>>, watch: &'a Watch) -> Self {
        Self { selector, scope: scope.map(|scope| scope.opaque()), caches: SelectorCaches::default(), watch }
    }

    /// Whether the element matches. An answer that the clock cut short is no answer: ask the watch afterwards.
    pub(crate) fn matches(&mut self, element: ElementRef<'_>) -> bool {
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut self.caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        context.scope_element = self.scope;
        let watched = Watched { element, watch: self.watch };
        self.selector.0.slice().iter().any(|selector| matches_selector(selector, 0, None, &watched, &mut context))
    }
}

/// An element whose neighbours are only to be had while there is time.
#[derive(Clone, Copy)]
struct Watched<'a> {
    element: ElementRef<'a>,
    watch: &'a Watch,
}

impl std::fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.element.value().name())
    }
}

impl<'a> Watched<'a> {
    fn step(&self, to: impl FnOnce(&ElementRef<'a>) -> Option<ElementRef<'a>>) -> Option<Self> {
        if !self.watch.step() {
            return None;
        }
        to(&self.element).map(|element| Self { element, watch: self.watch })
    }
}

impl Element for Watched<'_> {
    type Impl = Simple;

    fn opaque(&self) -> OpaqueElement {
        self.element.opaque()
    }

    fn parent_element(&self) -> Option<Self> {
        self.step(Element::parent_element)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.step(Element::prev_sibling_element)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.step(Element::next_sibling_element)
    }

    fn first_element_child(&self) -> Option<Self> {
        self.step(Element::first_element_child)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.element.is_html_element_in_html_document()
    }

    fn has_local_name(&self, name: &CssLocalName) -> bool {
        self.element.has_local_name(name)
    }

    fn has_namespace(&self, namespace: &Namespace) -> bool {
        self.element.has_namespace(namespace)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.element.is_same_type(&other.element)
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&Namespace>,
        name: &CssLocalName,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        self.element.attr_matches(namespace, name, operation)
    }

    fn match_non_ts_pseudo_class(&self, _: &NonTSPseudoClass, _: &mut MatchingContext<'_, Simple>) -> bool {
        false
    }

    fn match_pseudo_element(&self, _: &PseudoElement, _: &mut MatchingContext<'_, Simple>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        matches!(self.element.value().name(), "a" | "area") && self.element.attr("href").is_some()
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &CssLocalName, case: CaseSensitivity) -> bool {
        self.element.has_id(id, case)
    }

    fn has_class(&self, name: &CssLocalName, case: CaseSensitivity) -> bool {
        self.element.has_class(name, case)
    }

    fn has_custom_state(&self, _: &CssLocalName) -> bool {
        false
    }

    fn imported_part(&self, _: &CssLocalName) -> Option<CssLocalName> {
        None
    }

    fn is_part(&self, _: &CssLocalName) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        self.element.is_empty()
    }

    fn is_root(&self) -> bool {
        self.element.is_root()
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_selector_is_named_with_its_cause() {
        let cache = SelectorCache::new();
        for bad in ["p[[", "", "a:hover", "::before", "a >", &"a".repeat(5_000)] {
            let Err(Fault::Refused { code, message }) = cache.get(bad) else { panic!("{bad} compiled") };
            assert_eq!(code, "bad-selector");
            assert!(bad.len() > 200 || message.contains(bad), "{message}");
        }
        for good in ["a", "div > p:nth-child(2n+1 of .x), [href^='/a' i]", "li:has(> a):not(.b)", ":is(h1, h2)", ":scope > a"] {
            assert!(cache.get(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_selector_is_compiled_once() {
        let cache = SelectorCache::new();
        let (first, second) = (cache.get("a b").expect("compiles"), cache.get("a b").expect("compiles"));
        assert!(Arc::ptr_eq(&first, &second));
    }
}
