//! Selectors matched under a clock.
//!
//! Decision: the elements that the matcher walks over are wrapped (`Watched`), and the wrapper counts each step from element to
//! element and each text that is looked through. When the time is over it has no more parents, siblings, children or attributes to
//! offer, so that even a selector which backtracks or searches whole subtrees for a single element comes to its end. The cost is a
//! counter per step, and that we name the types of the crate `selectors` which scraper uses.

use crate::document::PageElement;
use crate::selectors::Compiled;
use crate::watch::{DEEPEST, STEP, Watch};
use html5ever::Namespace;
use scraper::selector::{CssLocalName, CssString, NonTSPseudoClass, PseudoElement, Simple};
use selectors::attr::{AttrSelectorOperation, AttrSelectorOperator, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::SelectorCaches;
use selectors::matching::{
    ElementSelectorFlags, MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    matches_selector,
};
use selectors::parser::{Component, Selector};
use selectors::{Element, OpaqueElement};

/// What a byte of a selector makes a look at one element cost, in bytes looked through: it may be a list of a thousand names.
const SELECTOR: usize = 4;

/// Bytes of an attribute that are searched between two looks at the clock.
const PIECE: usize = 4 << 10;

/// What an element must have to match one selector of a list: a cheap look that spares most elements the matcher.
pub(crate) struct Hint {
    name: Option<CssLocalName>,
    id: Option<CssLocalName>,
    classes: Vec<CssLocalName>,
    /// Whether that is all that the selector asks for.
    complete: bool,
}

impl Hint {
    pub(crate) fn of(selector: &Selector<Simple>) -> Self {
        let mut hint = Self { name: None, id: None, classes: Vec::new(), complete: false };
        let mut told = 0;
        for component in selector.iter() {
            match component {
                // One in capitals is another name in a picture.
                Component::LocalName(name) if name.name == name.lower_name && hint.name.is_none() => {
                    hint.name = Some(name.name.clone());
                }
                Component::ID(id) if hint.id.is_none() => hint.id = Some(id.clone()),
                Component::Class(class) => hint.classes.push(class.clone()),
                _ => continue,
            }
            told += 1;
        }
        hint.complete = told == selector.iter_raw_match_order().count();
        hint
    }

    fn admits(&self, element: &impl Element<Impl = Simple>) -> bool {
        let case = CaseSensitivity::CaseSensitive;
        self.name.as_ref().is_none_or(|name| element.has_local_name(name))
            && self.id.as_ref().is_none_or(|id| element.has_id(id, case))
            && self.classes.iter().all(|class| element.has_class(class, case))
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
    pub(crate) fn new(selector: &'a Compiled, scope: Option<OpaqueElement>, watch: &'a Watch) -> Self {
        Self { selector, scope, caches: SelectorCaches::default(), watch }
    }

    /// Whether the element matches. An answer that the clock cut short is no answer: ask the watch afterwards.
    pub(crate) fn matches<E: PageElement>(&mut self, element: E) -> bool {
        let watched = Watched { element, watch: self.watch, look: SELECTOR * self.selector.length, depth: 0 };
        let selectors = || self.selector.list.slice().iter().zip(&self.selector.hints);
        if !self.watch.work(watched.look) || !selectors().any(|(_, hint)| hint.admits(&watched)) {
            return false;
        }
        if selectors().any(|(_, hint)| hint.complete && hint.admits(&watched)) {
            return true;
        }
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut self.caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        context.scope_element = self.scope;
        let mut candidates =
            self.selector.list.slice().iter().zip(&self.selector.hints).filter(|(_, hint)| hint.admits(&watched));
        candidates.any(|(selector, _)| matches_selector(selector, 0, None, &watched, &mut context))
    }
}

/// An element whose neighbours are only to be had while there is time, and whose children not too far down: the matcher calls itself
/// for each level that `:has()` searches, and a page may be made to exhaust the stack with that.
#[derive(Clone, Copy)]
struct Watched<'a, E> {
    element: E,
    watch: &'a Watch,
    /// What the selector makes a look at an element cost.
    look: usize,
    /// Levels below the element that the search began at.
    depth: u32,
}

impl<E: std::fmt::Debug> std::fmt::Debug for Watched<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.element.fmt(f)
    }
}

impl<E: PageElement> Watched<'_, E> {
    fn step(&self, to: impl FnOnce(&E, &Watch) -> Option<E>) -> Option<Self> {
        if !self.watch.work(STEP + self.look) {
            return None;
        }
        to(&self.element, self.watch).map(|element| Self { element, ..*self })
    }

    /// Whether an attribute's value is what is asked for.
    fn accepts(&self, operation: &AttrSelectorOperation<&CssString>, value: &str) -> bool {
        match operation {
            // The search without regard to case begins anew at each place, so that it takes length times length.
            AttrSelectorOperation::WithValue {
                operator: AttrSelectorOperator::Substring,
                case_sensitivity: CaseSensitivity::AsciiCaseInsensitive,
                value: wanted,
            } => {
                let (mut rest, wanted) = (value, wanted.as_ref().len());
                loop {
                    if !self.watch.work(rest.len().min(PIECE) * wanted) {
                        return false;
                    }
                    let piece = &rest[..rest.floor_char_boundary(PIECE + wanted)];
                    if operation.eval_str(piece) {
                        return true;
                    }
                    if piece.len() == rest.len() {
                        return false;
                    }
                    rest = &rest[rest.floor_char_boundary(PIECE)..];
                }
            }
            _ => operation.eval_str(value),
        }
    }
}

impl<E: PageElement> Element for Watched<'_, E> {
    type Impl = Simple;

    fn opaque(&self) -> OpaqueElement {
        self.element.opaque()
    }

    fn parent_element(&self) -> Option<Self> {
        let parent = self.step(|element, _| element.parent())?;
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
        self.step(E::previous)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.step(E::next)
    }

    fn first_element_child(&self) -> Option<Self> {
        let child = self.step(E::first_child)?;
        if self.depth == DEEPEST {
            self.watch.end_too_deep();
            return None;
        }
        Some(Self { depth: self.depth + 1, ..child })
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.element.is_html()
    }

    fn has_local_name(&self, name: &CssLocalName) -> bool {
        self.element.is_named(name)
    }

    fn has_namespace(&self, namespace: &Namespace) -> bool {
        self.element.is_in(namespace)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.element.is_alike(&other.element)
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&Namespace>,
        name: &CssLocalName,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        let namespace = match namespace {
            NamespaceConstraint::Any => None,
            NamespaceConstraint::Specific(namespace) => Some(*namespace),
        };
        if !self.watch.work(self.element.names_len()) {
            return false;
        }
        self.element.attributes(namespace, &name.0).any(|written| {
            matches!(operation, AttrSelectorOperation::Exists)
                || written.within(self.watch).is_some_and(|value| self.accepts(operation, &value))
        })
    }

    fn match_non_ts_pseudo_class(&self, _: &NonTSPseudoClass, _: &mut MatchingContext<'_, Simple>) -> bool {
        false
    }

    fn match_pseudo_element(&self, _: &PseudoElement, _: &mut MatchingContext<'_, Simple>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        false
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &CssLocalName, case: CaseSensitivity) -> bool {
        let own = self.element.id().and_then(|own| own.within(self.watch));
        own.is_some_and(|own| case.eq(id.0.as_bytes(), own.as_bytes()))
    }

    fn has_class(&self, name: &CssLocalName, case: CaseSensitivity) -> bool {
        let classes = self.element.class().and_then(|classes| classes.within(self.watch));
        let is = |class: &str| case.eq(class.as_bytes(), name.0.as_bytes());
        classes.is_some_and(|classes| classes.split_ascii_whitespace().any(is))
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
        self.element.is_bare(self.watch)
    }

    fn is_root(&self) -> bool {
        self.element.is_top()
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}
