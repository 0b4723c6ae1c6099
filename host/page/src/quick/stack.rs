//! The stack of open elements, and what is in scope.

use super::build::Builder;
use super::foreign::Vocabulary;
use super::names::{IMPLIED, Name, SCOPE};
use super::{Bail, bail};

/// Elements within each other. Beyond, looking through those that are open takes its time.
const DEEPEST: usize = 256;

/// An element that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) node: u32,
    pub(super) name: Name,
    pub(super) vocabulary: Vocabulary,
}

impl Open {
    /// Whether it is an HTML element of this name.
    pub(super) fn is_html(&self, name: Name) -> bool {
        self.name == name && self.vocabulary == Vocabulary::Html
    }

    /// Whether it is an HTML element of one of these kinds.
    pub(super) fn is(&self, kinds: u8) -> bool {
        self.vocabulary == Vocabulary::Html && self.name.is(kinds)
    }

    /// Whether HTML may stand within it although it is foreign.
    pub(super) fn is_integration_point(&self) -> bool {
        match self.vocabulary {
            Vocabulary::Html => false,
            Vocabulary::Svg => matches!(self.name, Name::ForeignObject | Name::Desc | Name::Title),
            Vocabulary::MathMl => self.is_math_text(),
        }
    }

    pub(super) fn is_math_text(&self) -> bool {
        self.vocabulary == Vocabulary::MathMl && matches!(self.name, Name::Mi | Name::Mo | Name::Mn | Name::Ms | Name::Mtext)
    }

    fn bounds_scope(&self) -> bool {
        self.is(SCOPE) || self.is_integration_point()
    }
}

/// An entry of the list of formatting elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Marker,
    Element(u32, Name),
}

/// How far up a search for an open element goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Default,
    ListItem,
    Button,
    Table,
}

impl Builder<'_> {
    pub(super) fn push(&mut self, open: Open) -> Result<(), Bail> {
        if self.stack.len() == DEEPEST {
            return bail("deep");
        }
        self.push_open(open);
        Ok(())
    }

    pub(super) fn push_open(&mut self, open: Open) {
        self.paragraphs += u32::from(open.is_html(Name::P));
        self.tape.nodes[open.node as usize].open = true;
        self.stack.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        let open = self.stack.pop()?;
        self.closed(open);
        Some(open)
    }

    fn closed(&mut self, open: Open) {
        self.paragraphs -= u32::from(open.is_html(Name::P));
        self.tape.nodes[open.node as usize].open = false;
    }

    pub(super) fn truncate(&mut self, length: usize) {
        while self.stack.len() > length {
            self.pop();
        }
    }

    /// Takes an element out of the stack, wherever it is.
    pub(super) fn remove(&mut self, node: u32) {
        if let Some(at) = self.stack.iter().rposition(|open| open.node == node) {
            let open = self.stack.remove(at);
            self.closed(open);
        }
    }

    /// Pops up to and with the next HTML element that is one of these.
    pub(super) fn pop_until(&mut self, wanted: impl Fn(Name) -> bool) {
        while let Some(open) = self.pop() {
            if open.vocabulary == Vocabulary::Html && wanted(open.name) {
                break;
            }
        }
    }

    /// Pops up to the next HTML element that is one of these.
    pub(super) fn pop_to(&mut self, wanted: impl Fn(Name) -> bool) {
        while self.current().is_some_and(|open| open.vocabulary != Vocabulary::Html || !wanted(open.name)) {
            self.pop();
        }
    }

    /// Closes the elements whose end tags may be left out, but for those of one name.
    pub(super) fn imply_end_tags(&mut self, except: Name) {
        while self.current().is_some_and(|open| open.is(IMPLIED) && open.name != except) {
            self.pop();
        }
    }

    /// Spends steps on a look through the stack, so that no page takes more than time in proportion to its length.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Bail> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => bail("repetitive"),
        }
    }

    /// Whether an open element is in scope.
    pub(super) fn has_in_scope(&mut self, scope: Scope, wanted: impl Fn(&Open) -> bool) -> Result<bool, Bail> {
        for (steps, open) in self.stack.iter().rev().enumerate() {
            let found = wanted(open);
            let bounded = match scope {
                Scope::Table => open.is_html(Name::Html) || open.is_html(Name::Table),
                Scope::Default => open.bounds_scope(),
                Scope::Button => open.bounds_scope() || open.is_html(Name::Button),
                Scope::ListItem => open.bounds_scope() || open.is_html(Name::Ol) || open.is_html(Name::Ul),
            };
            if found || bounded {
                self.spend(steps)?;
                return Ok(found);
            }
        }
        Ok(false)
    }

    pub(super) fn has_named_in_scope(&mut self, scope: Scope, name: Name) -> Result<bool, Bail> {
        self.has_in_scope(scope, |open| open.is_html(name))
    }

    /// Closes a paragraph, if there is one in scope.
    pub(super) fn close_paragraph(&mut self) -> Result<(), Bail> {
        if self.paragraphs > 0 && self.has_named_in_scope(Scope::Button, Name::P)? {
            self.imply_end_tags(Name::P);
            self.pop_until(|name| name == Name::P);
        }
        Ok(())
    }
}
