//! What a query needs of a page's tree, whichever of the two it is.
//!
//! Decision: the quick tree and html5ever's answer through one trait, and everything that is asked (selectors, fields, links) is written
//! once against it. What takes time in proportion to a page is either told in advance (`Written`) or done under the watch.

use crate::fault::PageFault;
use crate::matcher::Matcher;
use crate::selectors::Compiled;
use crate::stream::collapse_into;
use crate::watch::Watch;
use html5ever::Namespace;
use scraper::selector::CssLocalName;
use selectors::OpaqueElement;
use std::borrow::Cow;

/// Text as a tree has it, whose length is known before anything is spent on decoding it.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    text: &'a str,
    decode: Option<fn(&str) -> Cow<'_, str>>,
}

impl<'a> Written<'a> {
    /// Text that is what is written.
    pub(crate) const fn plain(text: &'a str) -> Self {
        Self { text, decode: None }
    }

    /// Text that is to be decoded.
    pub(crate) const fn encoded(text: &'a str, decode: fn(&str) -> Cow<'_, str>) -> Self {
        Self { text, decode: Some(decode) }
    }

    /// What is meant.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        self.decode.map_or(Cow::Borrowed(self.text), |decode| decode(self.text))
    }

    /// What is meant, if there is time to look at it.
    pub(crate) fn within(self, watch: &Watch) -> Option<Cow<'a, str>> {
        watch.work(self.text.len()).then(|| self.decode())
    }
}

/// An element of a page.
pub(crate) trait PageElement: Copy + std::fmt::Debug {
    /// What tells it from all others.
    fn opaque(&self) -> OpaqueElement;

    /// The element around it.
    fn parent(&self) -> Option<Self>;

    /// The element before it.
    fn previous(&self, watch: &Watch) -> Option<Self>;

    /// The element behind it.
    fn next(&self, watch: &Watch) -> Option<Self>;

    /// The first element within it.
    fn first_child(&self, watch: &Watch) -> Option<Self>;

    /// Whether neither elements nor text are within it.
    fn is_bare(&self, watch: &Watch) -> bool;

    /// Whether it is the root of the document.
    fn is_top(&self) -> bool;

    /// Whether it is one of HTML, and not of a picture.
    fn is_html(&self) -> bool;

    /// Whether it has a local name.
    fn is_named(&self, name: &CssLocalName) -> bool;

    /// Whether it is in a namespace.
    fn is_in(&self, namespace: &Namespace) -> bool;

    /// Whether it has the name of another, namespace included.
    fn is_alike(&self, other: &Self) -> bool;

    /// The attribute `id`.
    fn id(&self) -> Option<Written<'_>>;

    /// The attribute `class`.
    fn class(&self) -> Option<Written<'_>>;

    /// An attribute in no namespace.
    fn attribute(&self, name: &str) -> Option<Written<'_>>;

    /// The attributes of a local name, in a namespace or in any.
    fn attributes(&self, namespace: Option<&Namespace>, local: &str) -> impl Iterator<Item = Written<'_>>;

    /// What a look through the names of its attributes takes, in bytes.
    fn names_len(&self) -> usize;

    /// The nodes within it in document order: their text, or `None` for what is no text.
    fn pieces(&self) -> impl Iterator<Item = Option<Written<'_>>>;

    /// The text within it, white space collapsed. Every node counts for the clock: elements within elements are walked over once for each,
    /// and may hold no text at all.
    fn text(&self, watch: &Watch) -> Result<String, PageFault> {
        let (mut text, mut pending) = (String::new(), false);
        for piece in self.pieces() {
            if let Some(piece) = piece.unwrap_or(Written::plain("")).within(watch) {
                collapse_into(&piece, &mut text, &mut pending);
            } else {
                watch.check("selector-timeout", "taking the text")?;
            }
        }
        Ok(text)
    }
}

/// The tree of a page.
pub(crate) trait PageTree {
    /// Its elements.
    type Element<'a>: PageElement
    where
        Self: 'a;

    /// What shows that it can write markup: of a tree that cannot, there is none to be had.
    type Writes: Copy;

    /// The root element, which every HTML document has.
    fn root(&self, watch: &Watch) -> Option<Self::Element<'_>>;

    /// All nodes in document order, those that are no elements as `None`; with a scope, those within it.
    fn nodes<'a>(&'a self, scope: Option<Self::Element<'a>>) -> impl Iterator<Item = Option<Self::Element<'a>>>;

    /// The markup within an element.
    fn markup(&self, element: &Self::Element<'_>, writes: Self::Writes) -> String;

    /// Gives the elements that match, in document order, until `each` has enough (`false`). With a scope, those within it.
    fn select<'a>(
        &'a self,
        scope: Option<Self::Element<'a>>,
        selector: &Compiled,
        watch: &Watch,
        mut each: impl FnMut(Self::Element<'a>) -> Result<bool, PageFault>,
    ) -> Result<(), PageFault> {
        let mut matcher = Matcher::new(selector, scope.map(|scope| scope.opaque()), watch);
        for node in self.nodes(scope) {
            if !watch.work(0) {
                break;
            }
            let Some(element) = node else { continue };
            let matches = matcher.matches(element);
            if watch.is_over() {
                break;
            }
            if matches && !each(element)? {
                return Ok(());
            }
        }
        watch.settle("selector-timeout", "matching the selector")
    }
}
