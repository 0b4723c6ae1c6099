//! What all the rules of the tree's construction work on, and the loop over the tokens.

use super::foreign::{self, Vocabulary};
use super::names::{Name, Names};
use super::scan::{Next, Scanner, Tag};
use super::stack::{Format, Open};
use super::tape::{ATTRIBUTES_OF_A_PAGE_MOST, Kind, NODES_MOST, NONE, Node, Tape, narrow};
use super::text::References;
use super::{Bail, bail};
use html5ever::LocalName;
use memchr::memchr;

/// Element names of a page that the rules do not know.
const MOST_NAMES: usize = 512;

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    AfterHead,
    InBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    AfterBody,
    AfterAfterBody,
}

/// Whether a table closes a paragraph that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quirks {
    No,
    Yes,
    /// The document type is not one of the common ones.
    Unknown,
}

/// The tree so far, and what decides where the next node goes.
pub(super) struct Builder<'a> {
    pub(super) scanner: Scanner<'a>,
    pub(super) tape: Tape,
    pub(super) stack: Vec<Open>,
    pub(super) formats: Vec<Format>,
    pub(super) mode: Mode,
    pub(super) quirks: Quirks,
    pub(super) head: u32,
    pub(super) form: Option<u32>,
    /// Whether a line end that comes next is dropped.
    pub(super) drop_line_end: bool,
    /// Paragraphs that are open.
    pub(super) paragraphs: u32,
    /// Whether there is a `\r` anywhere.
    pub(super) has_returns: bool,
    /// Steps up the stack that are left.
    pub(super) steps: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut tape = Tape {
            nodes: Vec::with_capacity((text.len() / 24 + 16).min(NODES_MOST)),
            attributes: Vec::with_capacity((text.len() / 48 + 16).min(ATTRIBUTES_OF_A_PAGE_MOST)),
            others: Vec::new(),
            names: Names::get(),
        };
        tape.nodes.push(Node {
            kind: Kind::Document,
            name: Name::Other,
            vocabulary: Vocabulary::Html,
            open: true,
            copy: false,
            other: 0,
            parent: NONE,
            end: 0,
            previous: NONE,
            last: NONE,
            from: 0,
            to: 0,
        });
        Self {
            scanner: Scanner::new(text),
            tape,
            stack: Vec::with_capacity(32),
            formats: Vec::new(),
            mode: Mode::Initial,
            quirks: Quirks::Yes,
            head: NONE,
            form: None,
            drop_line_end: false,
            paragraphs: 0,
            has_returns: memchr(b'\r', text.as_bytes()).is_some(),
            steps: 4_096 + 16 * text.len(),
        }
    }

    pub(super) fn run(mut self) -> Result<Tape, Bail> {
        loop {
            let (from, to, next) = self.scanner.text()?;
            if from < to {
                self.text(from, to)?;
            }
            if self.tape.nodes.len() > NODES_MOST || self.tape.attributes.len() > ATTRIBUTES_OF_A_PAGE_MOST {
                return bail("dense");
            }
            // It was for the text right behind the tag.
            self.drop_line_end = false;
            match next {
                Next::End => break,
                Next::Comment => self.scanner.comment()?,
                Next::Cdata if self.is_foreign() => return bail("a CDATA section"),
                Next::Cdata => {
                    self.scanner.pass_markup()?;
                }
                Next::Doctype => {
                    let written = self.scanner.pass_markup()?;
                    self.doctype(written);
                }
                Next::StartTag => {
                    let first = self.tape.attributes.len();
                    let tag = self.scanner.tag(&mut self.tape.attributes)?;
                    self.start_tag(&tag, first)?;
                }
                Next::EndTag => {
                    let first = self.tape.attributes.len();
                    let tag = self.scanner.tag(&mut self.tape.attributes)?;
                    self.tape.attributes.truncate(first);
                    self.end_tag(&tag)?;
                }
            }
        }
        if matches!(self.mode, Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead) {
            self.begin_body();
        }
        Ok(self.close())
    }

    /// Finds the ends of all subtrees.
    fn close(mut self) -> Tape {
        let nodes = &mut self.tape.nodes;
        for at in (0..nodes.len()).rev() {
            let end = nodes[at].end.max(narrow(at + 1));
            nodes[at].end = end;
            let parent = nodes[at].parent as usize;
            if let Some(parent) = nodes.get_mut(parent) {
                parent.end = parent.end.max(end);
            }
        }
        self.tape
    }

    pub(super) fn written(&self, tag: &Tag) -> &'a str {
        &self.scanner.text[tag.written.0..tag.written.1]
    }

    pub(super) fn current(&self) -> Option<Open> {
        self.stack.last().copied()
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.current().is_some_and(|open| open.vocabulary != Vocabulary::Html)
    }

    pub(super) fn is_current(&self, name: Name) -> bool {
        self.current().is_some_and(|open| open.is_html(name))
    }

    /// Appends an element to the current one. Its attributes are the last ones, from `first`.
    pub(super) fn append(&mut self, tag: &Tag, vocabulary: Vocabulary, first: usize) -> Result<Open, Bail> {
        let (name, other) = match tag.name {
            Name::AnnotationXml if vocabulary == Vocabulary::MathMl => return bail("annotation-xml"),
            Name::Other => (Name::Other, self.other(tag, vocabulary)?),
            // Of all the names that are known, this one has capitals in pictures.
            Name::ForeignObject if vocabulary == Vocabulary::Svg => (Name::ForeignObject, 0),
            Name::ForeignObject => (Name::Other, self.intern("foreignobject")?),
            name => (name, 0),
        };
        let to = narrow(self.tape.attributes.len());
        Ok(self.append_node(name, other, vocabulary, (narrow(first), to)))
    }

    /// Appends an element without a tag.
    pub(super) fn append_implied(&mut self, name: Name) {
        let open = self.append_node(name, 0, Vocabulary::Html, (0, 0));
        self.push_open(open);
    }

    pub(super) fn append_node(&mut self, name: Name, other: u32, vocabulary: Vocabulary, (from, to): (u32, u32)) -> Open {
        let parent = self.current().map_or(0, |open| open.node);
        let node = narrow(self.tape.nodes.len());
        let above = &mut self.tape.nodes[parent as usize];
        let previous = std::mem::replace(&mut above.last, node);
        self.tape.nodes.push(Node {
            kind: Kind::Element,
            name,
            vocabulary,
            open: false,
            copy: false,
            other,
            parent,
            end: 0,
            previous,
            last: NONE,
            from,
            to,
        });
        Open { node, name, vocabulary }
    }

    fn other(&mut self, tag: &Tag, vocabulary: Vocabulary) -> Result<u32, Bail> {
        let written = self.written(tag);
        if vocabulary == Vocabulary::Svg
            && let Some(name) = foreign::svg_element(written)
        {
            return self.intern(name);
        }
        let lower = if written.bytes().any(|byte| byte.is_ascii_uppercase()) {
            std::borrow::Cow::Owned(written.to_ascii_lowercase())
        } else {
            std::borrow::Cow::Borrowed(written)
        };
        self.intern(&lower)
    }

    fn intern(&mut self, name: &str) -> Result<u32, Bail> {
        // The newest first: pages repeat themselves.
        let found = self.tape.others.iter().rposition(|other| **other == *name);
        self.spend(self.tape.others.len() - found.unwrap_or(0))?;
        if let Some(at) = found {
            return Ok(narrow(at));
        }
        if self.tape.others.len() == MOST_NAMES {
            return bail("many names");
        }
        self.tape.others.push(LocalName::from(name));
        Ok(narrow(self.tape.others.len() - 1))
    }

    /// Appends an element and the raw text behind its tag, up to its end tag.
    pub(super) fn append_raw(&mut self, tag: &Tag, first: usize, references: References) -> Result<(), Bail> {
        let open = self.append(tag, Vocabulary::Html, first)?;
        self.push(open)?;
        let name = self.tape.names.atom(tag.name).clone();
        let (mut from, to) = self.scanner.raw_text(tag, &name)?;
        if tag.name == Name::Textarea {
            from = self.after_line_end(from, to)?;
        }
        self.append_text(from, to, references);
        self.pop();
        Ok(())
    }
}
