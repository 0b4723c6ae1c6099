//! Text: where it goes, by what is open and which rules apply.

use super::build::{Builder, Mode};
use super::foreign::Vocabulary;
use super::names::Name;
use super::scan::is_space;
use super::tape::{Kind, NONE, Node, narrow};
use super::{Bail, bail};
use memchr::{memchr, memchr2};

/// What character references in a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// The characters that they stand for.
    Decoded,
    /// Text like any other.
    AsTheyAre,
}

impl Builder<'_> {
    /// Appends text to the current element.
    pub(super) fn append_text(&mut self, from: usize, to: usize, references: References) {
        if from == to {
            return;
        }
        let bytes = &self.scanner.text.as_bytes()[from..to];
        let kind = match (references, self.has_returns) {
            (References::AsTheyAre, false) => Kind::Text,
            (References::AsTheyAre, true) => Kind::Raw,
            (References::Decoded, false) if memchr(b'&', bytes).is_none() => Kind::Text,
            (References::Decoded, true) if memchr2(b'&', b'\r', bytes).is_none() => Kind::Text,
            (References::Decoded, _) => Kind::Encoded,
        };
        let parent = self.current().map_or(0, |open| open.node);
        self.tape.nodes.push(Node {
            kind,
            name: Name::Other,
            vocabulary: Vocabulary::Html,
            open: false,
            copy: false,
            other: 0,
            parent,
            end: 0,
            previous: NONE,
            last: NONE,
            from: narrow(from),
            to: narrow(to),
        });
    }

    /// Passes over a line end that is to be dropped.
    pub(super) fn after_line_end(&self, from: usize, to: usize) -> Result<usize, Bail> {
        let bytes = &self.scanner.text.as_bytes()[from..to];
        match bytes {
            [b'\r', b'\n', ..] => Ok(from + 2),
            [b'\r' | b'\n', ..] => Ok(from + 1),
            [b'&', ..] if super::decode::text(&self.scanner.text[from..to]).starts_with('\n') => bail("a line end by reference"),
            _ => Ok(from),
        }
    }

    /// Text between tags.
    pub(super) fn text(&mut self, mut from: usize, to: usize) -> Result<(), Bail> {
        if std::mem::take(&mut self.drop_line_end) {
            from = self.after_line_end(from, to)?;
            if from == to {
                return Ok(());
            }
        }
        let bytes = &self.scanner.text.as_bytes()[from..to];
        match self.mode {
            Mode::InBody | Mode::InCell | Mode::InCaption => self.text_in_body(from, to),
            Mode::InTable | Mode::InTableBody | Mode::InRow | Mode::InColumnGroup => {
                let fits = match self.current() {
                    Some(open) if open.vocabulary == Vocabulary::Html => {
                        matches!(open.name, Name::Table | Name::Tbody | Name::Tfoot | Name::Thead | Name::Tr | Name::Colgroup)
                    }
                    _ => false,
                };
                if !fits || !bytes.iter().copied().all(is_space) {
                    return bail("text in a table");
                }
                self.append_text(from, to, References::Decoded);
                Ok(())
            }
            Mode::AfterBody | Mode::AfterAfterBody => {
                if !bytes.iter().copied().all(is_space) {
                    self.mode = Mode::InBody;
                }
                self.text_in_body(from, to)
            }
            Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead => {
                let first = bytes.iter().position(|&byte| !is_space(byte)).map_or(to, |at| from + at);
                if matches!(self.mode, Mode::InHead | Mode::AfterHead) {
                    self.append_text(from, first, References::Decoded);
                }
                if first == to {
                    return Ok(());
                }
                let is_reference = self.scanner.text.as_bytes()[first] == b'&';
                if is_reference
                    && super::decode::text(&self.scanner.text[first..to]).starts_with(|c: char| c.is_ascii_whitespace())
                {
                    return bail("white space by reference");
                }
                self.begin_body();
                self.text_in_body(first, to)
            }
        }
    }

    fn text_in_body(&mut self, from: usize, to: usize) -> Result<(), Bail> {
        if self.current().is_none_or(|open| open.vocabulary == Vocabulary::Html || open.is_integration_point()) {
            self.reconstruct()?;
        }
        self.append_text(from, to, References::Decoded);
        Ok(())
    }
}
