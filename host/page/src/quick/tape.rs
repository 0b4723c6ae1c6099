//! The quick tree: nodes in document order, flat.
//!
//! Decision: one vector of small plain nodes and one of attributes, both of ranges into the text, so that a page costs a handful of
//! allocations whatever its size. An element's subtree is the run of nodes behind it up to its `end`. The tape does not hold the
//! text; whoever asks brings it.

use super::decode;
use super::foreign::{self, Vocabulary};
use super::names::{Name, Names};
use crate::document::Written;
use html5ever::{LocalName, Namespace, ns};
use std::borrow::Cow;
use std::ops::Range;

/// Attributes of one element. Looking for one of a name twice takes time in proportion to their square.
pub(super) const ATTRIBUTES_MOST: usize = 64;

/// Nodes of a page, and attributes: ten megabytes of each, as a page that nobody queries costs no more than its links. Pages that people wrote
/// have a tenth of it.
pub(super) const NODES_MOST: usize = 250_000;
pub(super) const ATTRIBUTES_OF_A_PAGE_MOST: usize = 500_000;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Document,
    Element,
    /// Text without references.
    Text,
    /// Text with references or line ends to be decoded.
    Encoded,
    /// Text whose line ends are to be decoded, but that has no references.
    Raw,
}

/// A node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) name: Name,
    pub(super) vocabulary: Vocabulary,
    /// Whether it is open while the tree is built.
    pub(super) open: bool,
    /// Whether it was opened again by the parser: there is no tag of its own.
    pub(super) copy: bool,
    /// Where the name stands among the other names.
    pub(super) other: u32,
    pub(super) parent: u32,
    /// The node behind its subtree.
    pub(super) end: u32,
    /// The element before it within its parent.
    pub(super) previous: u32,
    /// The last element within it.
    pub(super) last: u32,
    /// Of an element, its attributes; of text, where it stands.
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Which attribute it is, of those that selectors ask for by signs of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum AttributeKind {
    Other,
    Id,
    Class,
}

/// An attribute, as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attribute {
    name: (u32, u32),
    value: (u32, u32),
    pub(super) kind: AttributeKind,
    encoded: bool,
}

/// Positions are 32 bits: longer texts are not read quickly (`LONGEST`).
pub(super) fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NONE)
}

impl Attribute {
    pub(super) fn new(kind: AttributeKind, name: (usize, usize), value: (usize, usize), encoded: bool) -> Self {
        Self { name: (narrow(name.0), narrow(name.1)), value: (narrow(value.0), narrow(value.1)), kind, encoded }
    }

    pub(super) fn name_range(&self) -> Range<usize> {
        self.name.0 as usize..self.name.1 as usize
    }

    pub(super) fn value_range(&self) -> Range<usize> {
        self.value.0 as usize..self.value.1 as usize
    }

    /// Whether the value is not what is written.
    #[cfg(test)]
    pub(super) fn is_encoded(&self) -> bool {
        self.encoded
    }

    pub(super) fn written<'a>(&self, text: &'a str) -> Written<'a> {
        let value = &text[self.value_range()];
        if self.encoded { Written::encoded(value, decode::attribute) } else { Written::plain(value) }
    }

    pub(super) fn value<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.written(text).decode()
    }

    /// Whether this is the attribute of a local name in a namespace (`None`: any) of an element.
    pub(super) fn is_named(&self, node: &Node, text: &str, namespace: Option<&Namespace>, local: &str) -> bool {
        let written = &text[self.name_range()];
        if node.vocabulary != Vocabulary::Html
            && let Some((own, name)) = foreign::attribute(node.vocabulary, written)
        {
            return name == local && namespace.is_none_or(|namespace| *namespace == own);
        }
        namespace.is_none_or(|namespace| *namespace == ns!())
            && written.len() == local.len()
            && written.bytes().zip(local.bytes()).all(|(written, local)| written.to_ascii_lowercase() == local)
    }
}

/// A page in document order; the first node is the document.
pub(crate) struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) others: Vec<LocalName>,
    pub(super) names: &'static Names,
}

impl Tape {
    pub(super) fn name(&self, node: &Node) -> &LocalName {
        if node.name == Name::Other { &self.others[node.other as usize] } else { self.names.atom(node.name) }
    }

    pub(super) fn attributes(&self, node: &Node) -> &[Attribute] {
        &self.attributes[node.from as usize..node.to as usize]
    }
}

impl Node {
    pub(super) fn is_element(&self) -> bool {
        self.kind == Kind::Element
    }

    /// A text node's text, as written.
    pub(super) fn written<'a>(&self, text: &'a str) -> Option<Written<'a>> {
        let written = || &text[self.from as usize..self.to as usize];
        match self.kind {
            Kind::Document | Kind::Element => None,
            Kind::Text => Some(Written::plain(written())),
            Kind::Encoded => Some(Written::encoded(written(), decode::text)),
            Kind::Raw => Some(Written::encoded(written(), decode::line_ends)),
        }
    }

    /// A text node's text.
    pub(super) fn text<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        self.written(text).map(Written::decode)
    }
}
