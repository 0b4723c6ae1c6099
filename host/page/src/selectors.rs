//! CSS selectors: what is understood of them, compiled once.
//!
//! Decision: the syntax and the types are those of the crate `selectors` which scraper uses, so that both trees are asked alike; how they are
//! matched under a clock is in `matcher.rs`. A selector's length and nesting are bounded here, since the matcher calls itself.

use crate::fault::PageFault;
use crate::matcher::Hint;
use crate::words::one_line;
use cssparser::{BasicParseErrorKind, ParseErrorKind};
use lru::LruCache;
use scraper::selector::Simple;
use selectors::parser::{Component, ParseRelative, Parser, Selector, SelectorList, SelectorParseErrorKind};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a selector.
const LONGEST: usize = 4_096;

/// Combinators on the longest way through a selector, those of nested selectors included: the matcher calls itself for each.
const MOST_COMBINATORS: usize = 256;

/// Selectors that are kept compiled.
const KEPT: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

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
pub(crate) struct Compiled {
    pub(crate) list: SelectorList<Simple>,
    /// One for each selector of the list.
    pub(crate) hints: Vec<Hint>,
    /// Bytes of all of it.
    pub(crate) length: usize,
}

/// The selectors of all plugins of a host, by their text.
pub struct SelectorCache(Mutex<LruCache<String, Arc<Compiled>>>);

impl SelectorCache {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self(Mutex::new(LruCache::new(KEPT)))
    }

    /// Whether this is a selector, or a list of them, that is understood.
    ///
    /// # Errors
    /// [`PageFault`] `bad-selector`.
    pub fn check(&self, selector: &str) -> Result<(), PageFault> {
        self.get(selector).map(drop)
    }

    /// Compiles a selector, or takes the compiled one.
    pub(crate) fn get(&self, selector: &str) -> Result<Arc<Compiled>, PageFault> {
        if selector.len() > LONGEST {
            let message = format!("a selector has {} bytes, and {LONGEST} are allowed; split it", selector.len());
            return Err(PageFault::new("bad-selector", message));
        }
        if let Some(compiled) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(selector) {
            return Ok(compiled.clone());
        }
        let list = SelectorList::parse(&Syntax, &mut cssparser::Parser::new(selector), ParseRelative::No).map_err(|error| {
            let (selector, cause) = (one_line(selector, 200), of_scrapy(selector).unwrap_or_else(|| cause(&error.kind)));
            let message = format!("`{selector}` is not a CSS selector that this host knows: {cause}");
            PageFault::new("bad-selector", message)
        })?;
        let combinators = combinators(list.slice());
        if combinators > MOST_COMBINATORS {
            let message =
                format!("a selector has {combinators} combinators in a row, and {MOST_COMBINATORS} are allowed; shorten it");
            return Err(PageFault::new("bad-selector", message));
        }
        let hints = list.slice().iter().map(Hint::of).collect();
        let compiled = Arc::new(Compiled { list, hints, length: selector.len() });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(selector.to_owned(), compiled.clone());
        Ok(compiled)
    }
}

impl Default for SelectorCache {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SelectorCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelectorCache").finish_non_exhaustive()
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

/// Scrapy's way to say what is taken of an element, which no CSS has.
fn of_scrapy(selector: &str) -> Option<&'static str> {
    if selector.contains("::text") {
        Some("`::text` is Scrapy's; a selector alone takes the text")
    } else if selector.contains("::attr(") {
        Some("`::attr(…)` is Scrapy's; for an attribute use a field of that kind, such as attr(selector, name)")
    } else {
        None
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_selector_is_named_with_its_cause() {
        let cache = SelectorCache::new();
        for bad in ["p[[", "", "!!", "a:hover", "::before", "a >", "[a=]", "a:", "a.", "x|a", "a,", &"a".repeat(5_000)] {
            let Err(PageFault { code, message }) = cache.get(bad) else { panic!("{bad} compiled") };
            assert_eq!(code, "bad-selector");
            assert!(bad.len() > 200 || message.contains(bad), "{message}");
            assert!(!message.contains('\n') && !message.contains("rror"), "{message}");
        }
        let Err(PageFault { message, .. }) = cache.get("!!") else { panic!("it compiled") };
        assert_eq!(message, "`!!` is not a CSS selector that this host knows: there is no selector where one must stand");
        for (bad, words) in [("h1::text", "a selector alone takes the text"), ("a::attr(href)", "attr(selector, name)")] {
            let Err(PageFault { message, .. }) = cache.get(bad) else { panic!("{bad} compiled") };
            assert!(message.contains(bad) && message.contains(words), "{message}");
        }
        assert!(cache.get("[title='::text']").is_ok());
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
