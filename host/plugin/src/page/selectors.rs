//! CSS selectors: compiled once, and matched under a clock.
//!
//! Decision: the elements that the matcher walks over are wrapped (`Watched`), and the wrapper counts each step from element to
//! element. When the time is over it has no more parents, siblings or children to offer, so that even a selector which
//! backtracks or searches whole subtrees for a single element comes to its end. The cost is a counter per step, and that we
//! name the types of the crate `selectors` which scraper uses.

use super::watch::{DEEPEST, Watch};
use crate::failure::one_line;
use crate::fault::Fault;
use cssparser::{BasicParseErrorKind, ParseErrorKind};
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
use selectors::parser::{Component, ParseRelative, Parser, Selector, SelectorImpl, SelectorList, SelectorParseErrorKind};
use selectors::{Element, OpaqueElement};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a selector.
const LONGEST: usize = 4_096;

/// Combinators on the longest way through a selector, those of nested selectors included: the matcher calls itself for each.
const MOST_COMBINATORS: usize = 256;

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
            let (selector, cause) = (one_line(selector, 200), cause(&error.kind));
            let message = format!("`{selector}` is not a CSS selector that this host knows: {cause}");
            Fault::refused("bad-selector", message)
        })?;
        let combinators = combinators(list.slice());
        if combinators > MOST_COMBINATORS {
            let message =
                format!("a selector has {combinators} combinators in a row, and {MOST_COMBINATORS} are allowed; shorten it");
            return Err(Fault::refused("bad-selector", message));
        }
        let compiled = Arc::new(Compiled(list));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(selector.to_owned(), compiled.clone());
        Ok(compiled)
    }
}

/// Combinators on the longest way through any of the selectors. Nesting is bounded by the parser (75 brackets).
fn combinators(selectors: &[Selector<Simple>]) -> usize {
    let nested = |component: &Component<Simple>| match component {
        Component::Is(list) | Component::Where(list) | Component::Negation(list) => combinators(list.slice()),
        Component::NthOf(data) => combinators(data.selectors()),
        Component::Has(list) => {
            list.iter().map(|relative| combinators(std::slice::from_ref(&relative.selector))).max().unwrap_or(0)
        }
        _ => 0,
    };
    let of = |selector: &Selector<Simple>| {
        let own = selector.iter_raw_match_order().filter(|component| component.is_combinator()).count();
        own + selector.iter_raw_match_order().map(nested).max().unwrap_or(0)
    };
    selectors.iter().map(of).max().unwrap_or(0)
}

/// What is wrong with a selector, in words.
fn cause(kind: &ParseErrorKind<SelectorParseErrorKind>) -> &'static str {
    use BasicParseErrorKind as Basic;
    use SelectorParseErrorKind as Kind;
    match kind {
        ParseErrorKind::Basic(Basic::UnexpectedToken) => "a part of it has no place where it stands",
        ParseErrorKind::Basic(Basic::EndOfInput) => "it ends too early",
        ParseErrorKind::Basic(Basic::TooManyNestedBlocks) => "its brackets are nested too deep",
        ParseErrorKind::Basic(Basic::AtRuleInvalid | Basic::AtRuleBodyInvalid | Basic::QualifiedRuleInvalid) => {
            "it is a rule of a style sheet, not a selector"
        }
        ParseErrorKind::Custom(kind) => match kind {
            Kind::EmptySelector => "there is no selector where one must stand",
            Kind::DanglingCombinator => "a combinator has nothing on one of its sides",
            Kind::NonCompoundSelector => "spaces and combinators may not stand there",
            Kind::InvalidState => "a part of it has no place behind what stands before it",
            Kind::UnexpectedIdent => "a name has no place where it stands",
            Kind::ClassNeedsIdent => "a dot is not followed by the name of a class",
            Kind::NoIdentForPseudo => "a colon is not followed by the name of a pseudo-class",
            Kind::UnsupportedPseudoClassOrElement
            | Kind::NonPseudoElementAfterSlotted
            | Kind::InvalidPseudoElementAfterSlotted
            | Kind::InvalidPseudoElementInsideWhere
            | Kind::PseudoElementExpectedColon
            | Kind::PseudoElementExpectedIdent => "it has a pseudo-class or pseudo-element that is not known without a browser",
            Kind::NoQualifiedNameInAttributeSelector
            | Kind::UnexpectedTokenInAttributeSelector
            | Kind::ExpectedBarInAttr
            | Kind::BadValueInAttr
            | Kind::InvalidQualNameInAttr => "an attribute is not written as `[name]` or `[name=\"value\"]`",
            Kind::ExpectedNamespace | Kind::ExplicitNamespaceUnexpectedToken => "it names a namespace, and none are known here",
        },
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
        let watched = Watched { element, watch: self.watch, depth: 0 };
        self.selector.0.slice().iter().any(|selector| matches_selector(selector, 0, None, &watched, &mut context))
    }
}

/// An element whose neighbours are only to be had while there is time, and whose children not too far down: the matcher calls itself
/// for each level that `:has()` searches, and a page may be made to exhaust the stack with that.
#[derive(Clone, Copy)]
struct Watched<'a> {
    element: ElementRef<'a>,
    watch: &'a Watch,
    /// Levels below the element that the search began at.
    depth: u32,
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
        to(&self.element).map(|element| Self { element, ..*self })
    }
}

impl Element for Watched<'_> {
    type Impl = Simple;

    fn opaque(&self) -> OpaqueElement {
        self.element.opaque()
    }

    fn parent_element(&self) -> Option<Self> {
        let parent = self.step(Element::parent_element)?;
        Some(Self { depth: self.depth.saturating_sub(1), ..parent })
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
        let child = self.step(Element::first_element_child)?;
        if self.depth == DEEPEST {
            self.watch.end_too_deep();
            return None;
        }
        Some(Self { depth: self.depth + 1, ..child })
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
        for bad in ["p[[", "", "!!", "a:hover", "::before", "a >", "[a=]", "a:", "a.", "x|a", "a,", &"a".repeat(5_000)] {
            let Err(Fault::Refused { code, message }) = cache.get(bad) else { panic!("{bad} compiled") };
            assert_eq!(code, "bad-selector");
            assert!(bad.len() > 200 || message.contains(bad), "{message}");
            assert!(!message.contains('\n') && !message.contains("rror"), "{message}");
        }
        let Err(Fault::Refused { message, .. }) = cache.get("!!") else { panic!("it compiled") };
        assert_eq!(message, "`!!` is not a CSS selector that this host knows: there is no selector where one must stand");
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
