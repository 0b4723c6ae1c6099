//! The rules within pictures (SVG) and formulas (MathML).

use super::build::Builder;
use super::foreign::Vocabulary;
use super::names::Name;
use super::scan::Tag;
use super::{Bail, bail};

/// HTML that ends any picture around it.
const fn breaks_out(name: Name) -> bool {
    use Name::{
        B, Big, Blockquote, Body, Br, Center, Code, Dd, Div, Dl, Dt, Em, Embed, H1, H2, H3, H4, H5, H6, Head, Hr, I, Img, Li,
        Listing, Menu, Meta, Nobr, Ol, P, Pre, Ruby, S, Small, Span, Strike, Strong, Sub, Sup, Table, Tt, U, Ul, Var,
    };
    matches!(
        name,
        B | Big
            | Blockquote
            | Body
            | Br
            | Center
            | Code
            | Dd
            | Div
            | Dl
            | Dt
            | Em
            | Embed
            | H1
            | H2
            | H3
            | H4
            | H5
            | H6
            | Head
            | Hr
            | I
            | Img
            | Li
            | Listing
            | Menu
            | Meta
            | Nobr
            | Ol
            | P
            | Pre
            | Ruby
            | S
            | Small
            | Span
            | Strike
            | Strong
            | Sub
            | Sup
            | Table
            | Tt
            | U
            | Ul
            | Var
    )
}

impl Builder<'_> {
    /// `<svg>` or `<math>` within HTML.
    pub(super) fn enter_picture(&mut self, tag: &Tag, first: usize, vocabulary: Vocabulary) -> Result<(), Bail> {
        self.reconstruct()?;
        self.append_foreign(tag, first, vocabulary)
    }

    fn append_foreign(&mut self, tag: &Tag, first: usize, vocabulary: Vocabulary) -> Result<(), Bail> {
        let open = self.append(tag, vocabulary, first)?;
        if tag.self_closing { Ok(()) } else { self.push(open) }
    }

    /// A start tag while the current element is foreign. `false` if it falls under the rules of HTML.
    pub(super) fn start_in_picture(&mut self, tag: &Tag, first: usize) -> Result<bool, Bail> {
        let Some(current) = self.current() else { return Ok(false) };
        let is_html = if current.is_math_text() {
            !matches!(tag.name, Name::Mglyph | Name::Malignmark)
        } else {
            current.is_integration_point()
        };
        if is_html {
            return Ok(false);
        }
        if tag.name == Name::Font {
            return bail("font in a picture");
        }
        if breaks_out(tag.name) {
            self.leave_picture();
            return Ok(false);
        }
        self.append_foreign(tag, first, current.vocabulary)?;
        Ok(true)
    }

    fn leave_picture(&mut self) {
        while self.current().is_some_and(|open| open.vocabulary != Vocabulary::Html && !open.is_integration_point()) {
            self.pop();
        }
    }

    /// An end tag while the current element is foreign. `false` if it falls under the rules of HTML.
    pub(super) fn end_in_picture(&mut self, tag: &Tag) -> Result<bool, Bail> {
        if matches!(tag.name, Name::Br | Name::P) {
            self.leave_picture();
            return Ok(false);
        }
        let mut first = true;
        for at in (1..self.stack.len()).rev() {
            let open = self.stack[at];
            if !first && open.vocabulary == Vocabulary::Html {
                return Ok(false);
            }
            if self.is_named(open.node, tag) {
                self.truncate(at);
                break;
            }
            self.spend(1)?;
            first = false;
        }
        Ok(true)
    }
}
