//! An element of the quick tree, as selectors see it.

use super::foreign::Vocabulary;
use super::tape::{Attribute, AttributeKind, Kind, NONE, Node, Tape};
use crate::document::{PageElement, PageTree, Written};
use crate::watch::Watch;
use html5ever::{LocalName, Namespace};
use scraper::selector::CssLocalName;
use selectors::OpaqueElement;
use std::convert::Infallible;

/// An element of a tape, with the text that the tape is of.
#[derive(Clone, Copy)]
pub(crate) struct TapeElement<'a> {
    tape: &'a Tape,
    text: &'a str,
    at: u32,
}

impl std::fmt::Debug for TapeElement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tape.name(self.node()))
    }
}

/// A tape with the text that it is of.
#[derive(Clone, Copy)]
pub(crate) struct QuickTree<'t> {
    pub(super) tape: &'t Tape,
    pub(super) text: &'t str,
}

impl Tape {
    /// The tree, given the text that it was made of.
    pub(crate) fn tree<'t>(&'t self, text: &'t str) -> QuickTree<'t> {
        QuickTree { tape: self, text }
    }
}

impl PageTree for QuickTree<'_> {
    type Element<'a>
        = TapeElement<'a>
    where
        Self: 'a;

    // Comments are not kept, and what else was written of an element is not either.
    type Writes = Infallible;

    fn root(&self, watch: &Watch) -> Option<TapeElement<'_>> {
        TapeElement { tape: self.tape, text: self.text, at: 0 }.first_child(watch)
    }

    fn nodes<'a>(&'a self, scope: Option<TapeElement<'a>>) -> impl Iterator<Item = Option<TapeElement<'a>>> {
        let range = scope.map_or(1..self.tape.nodes.len(), |scope| scope.at as usize + 1..scope.node().end as usize);
        let first = super::tape::narrow(range.start);
        let nodes = (first..).zip(&self.tape.nodes[range]);
        nodes.map(move |(at, node)| node.is_element().then_some(TapeElement { tape: self.tape, text: self.text, at }))
    }

    fn markup(&self, _: &TapeElement<'_>, writes: Infallible) -> String {
        match writes {}
    }
}

impl<'a> TapeElement<'a> {
    pub(super) fn node(&self) -> &'a Node {
        &self.tape.nodes[self.at as usize]
    }

    fn at(&self, at: u32) -> Option<Self> {
        (at != NONE && at != 0).then_some(Self { at, ..*self })
    }

    /// The first element from one place up to another. What is no element is passed over with all within it.
    fn first_from(&self, mut at: u32, end: u32, watch: &Watch) -> Option<Self> {
        while at < end && watch.work(0) {
            let node = &self.tape.nodes[at as usize];
            if node.is_element() {
                return self.at(at);
            }
            at = node.end;
        }
        None
    }

    /// The element's local name.
    pub(super) fn name(&self) -> &'a LocalName {
        self.tape.name(self.node())
    }

    fn kept(&self, kind: AttributeKind) -> Option<Written<'a>> {
        let attribute = self.tape.attributes(self.node()).iter().find(|attribute| attribute.kind == kind);
        attribute.map(|attribute| attribute.written(self.text))
    }
}

impl PageElement for TapeElement<'_> {
    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.node())
    }

    fn parent(&self) -> Option<Self> {
        self.at(self.node().parent)
    }

    fn previous(&self, _: &Watch) -> Option<Self> {
        self.at(self.node().previous)
    }

    fn next(&self, watch: &Watch) -> Option<Self> {
        self.first_from(self.node().end, self.tape.nodes[self.node().parent as usize].end, watch)
    }

    fn first_child(&self, watch: &Watch) -> Option<Self> {
        self.first_from(self.at + 1, self.node().end, watch)
    }

    fn is_bare(&self, _: &Watch) -> bool {
        self.node().end == self.at + 1
    }

    fn is_top(&self) -> bool {
        self.tape.nodes.get(self.node().parent as usize).is_some_and(|parent| parent.kind == Kind::Document)
    }

    fn is_html(&self) -> bool {
        self.node().vocabulary == Vocabulary::Html
    }

    fn is_named(&self, name: &CssLocalName) -> bool {
        *self.name() == name.0
    }

    fn is_in(&self, namespace: &Namespace) -> bool {
        self.node().vocabulary.namespace() == *namespace
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.node().vocabulary == other.node().vocabulary && self.name() == other.name()
    }

    fn id(&self) -> Option<Written<'_>> {
        self.kept(AttributeKind::Id)
    }

    fn class(&self) -> Option<Written<'_>> {
        self.kept(AttributeKind::Class)
    }

    fn attribute(&self, name: &str) -> Option<Written<'_>> {
        self.attributes(Some(&html5ever::ns!()), name).next()
    }

    fn attributes(&self, namespace: Option<&Namespace>, local: &str) -> impl Iterator<Item = Written<'_>> {
        let is = move |attribute: &&Attribute| attribute.is_named(self.node(), self.text, namespace, local);
        self.tape.attributes(self.node()).iter().filter(is).map(|attribute| attribute.written(self.text))
    }

    fn names_len(&self) -> usize {
        let attributes = self.tape.attributes(self.node());
        // In a picture, each is compared with all the names that have capitals or a namespace.
        let each = if self.is_html() { 16 } else { 256 };
        attributes.iter().map(|attribute| attribute.name_range().len() + each).sum()
    }

    fn pieces(&self) -> impl Iterator<Item = Option<Written<'_>>> {
        let within = self.at as usize + 1..self.node().end as usize;
        self.tape.nodes[within].iter().map(|node| node.written(self.text))
    }
}
