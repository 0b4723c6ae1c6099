//! From text to tags: the tokens of a tame page.
//!
//! Decision: everything stays a range of the text, found by `memchr` where that is possible; what is read is what the HTML
//! standard's tokenizer reads, errors that it recovers from in place included. What needs more than a look ahead ends the quick way.

use super::names::{Name, Names, Packed};
use super::tape::{ATTRIBUTES_MOST, Attribute, AttributeKind};
use super::{Bail, bail};
use memchr::{memchr, memchr2, memmem};

/// Bytes of the name of an element or an attribute: names are compared with those of everything around them.
const LONGEST_NAME: usize = 256;

/// Where the text is being read.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    names: &'static Names,
}

/// A start or an end tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    pub(super) name: Name,
    /// Where the name is written.
    pub(super) written: (usize, usize),
    pub(super) self_closing: bool,
}

/// What stands where text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    StartTag,
    EndTag,
    Doctype,
    /// A comment, or what is taken for one: nothing of it is kept.
    Comment,
    Cdata,
    End,
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | 0x0c)
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, names: Names::get() }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Reads text: from where it begins to where it ends, and what stands there.
    pub(super) fn text(&mut self) -> Result<(usize, usize, Next), Bail> {
        let start = self.at;
        let mut from = start;
        loop {
            let Some(found) = memchr(b'<', &self.bytes[from..]) else {
                self.at = self.bytes.len();
                return Ok((start, self.at, Next::End));
            };
            let open = from + found;
            let next = match self.byte(open + 1) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => Next::StartTag,
                Some(b'/') => match self.byte(open + 2) {
                    Some(b'a'..=b'z' | b'A'..=b'Z') => Next::EndTag,
                    // An empty end tag is no token, so that the text would go on behind it.
                    Some(b'>') | None => return bail("empty end tag"),
                    Some(_) => Next::Comment,
                },
                Some(b'!') => {
                    let rest = &self.bytes[open + 2..];
                    if rest.starts_with(b"[CDATA[") {
                        Next::Cdata
                    } else if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) {
                        Next::Doctype
                    } else {
                        Next::Comment
                    }
                }
                Some(b'?') => Next::Comment,
                // A sign of comparison, or an arrow.
                _ => {
                    from = open + 1;
                    continue;
                }
            };
            self.at = open;
            return Ok((start, open, next));
        }
    }

    /// Passes over a comment.
    pub(super) fn comment(&mut self) -> Result<(), Bail> {
        let rest = &self.bytes[self.at..];
        if !rest.starts_with(b"<!--") {
            return self.pass_markup().map(drop);
        }
        let body = &rest[4..];
        self.at += match body {
            [b'>', ..] => 5,
            [b'-', b'>', ..] => 6,
            _ => {
                let Some(end) = memmem::find(body, b"-->") else { return bail("open comment") };
                if memmem::find(&body[..end], b"--!>").is_some() {
                    return bail("comment with an odd end");
                }
                4 + end + 3
            }
        };
        Ok(())
    }

    /// Passes over what ends at the next bracket, and gives its text.
    pub(super) fn pass_markup(&mut self) -> Result<&'a str, Bail> {
        let Some(end) = memchr(b'>', &self.bytes[self.at..]) else { return bail("open markup") };
        let text = &self.text[self.at..self.at + end];
        self.at += end + 1;
        Ok(text)
    }

    /// Reads a tag; the bracket is in front. Its attributes are appended.
    pub(super) fn tag(&mut self, attributes: &mut Vec<Attribute>) -> Result<Tag, Bail> {
        self.at += if self.byte(self.at + 1) == Some(b'/') { 2 } else { 1 };
        let start = self.at;
        let mut packed = Packed::default();
        loop {
            match self.byte(self.at) {
                None => return bail("open tag"),
                Some(byte) if is_space(byte) || matches!(byte, b'/' | b'>') => break,
                Some(byte) => packed = packed.push(byte.to_ascii_lowercase(), self.at - start),
            }
            self.at += 1;
        }
        let written = (start, self.at);
        if self.at - start > LONGEST_NAME {
            return bail("a long name");
        }
        let name = if self.at - start > 16 { Name::Other } else { self.names.find(packed) };
        let self_closing = self.attributes(attributes)?;
        Ok(Tag { name, written, self_closing })
    }

    /// Reads attributes and the end of the tag; whether it closes itself.
    fn attributes(&mut self, attributes: &mut Vec<Attribute>) -> Result<bool, Bail> {
        let first = attributes.len();
        loop {
            match self.byte(self.at) {
                None => return bail("open tag"),
                Some(b'>') => {
                    self.at += 1;
                    return Ok(false);
                }
                Some(b'/') => {
                    self.at += 1;
                    if self.byte(self.at) == Some(b'>') {
                        self.at += 1;
                        return Ok(true);
                    }
                }
                Some(byte) if is_space(byte) => self.at += 1,
                Some(b'=') => return bail("odd attribute"),
                Some(_) => self.attribute(first, attributes)?,
            }
        }
    }

    fn attribute(&mut self, first: usize, attributes: &mut Vec<Attribute>) -> Result<(), Bail> {
        let start = self.at;
        while !self.byte(self.at).is_none_or(|byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'=')) {
            self.at += 1;
        }
        let name = &self.bytes[start..self.at];
        let name_end = self.at;
        if name.len() > LONGEST_NAME {
            return bail("a long name");
        }
        self.pass_space();
        let mut value = (self.at, self.at);
        if self.byte(self.at) == Some(b'=') {
            self.at += 1;
            self.pass_space();
            value = match self.byte(self.at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let from = self.at + 1;
                    let Some(length) = memchr(quote, &self.bytes[from..]) else { return bail("open tag") };
                    self.at = from + length + 1;
                    (from, from + length)
                }
                _ => {
                    let from = self.at;
                    while !self.byte(self.at).is_none_or(|byte| is_space(byte) || byte == b'>') {
                        self.at += 1;
                    }
                    (from, self.at)
                }
            };
        }
        let before = &attributes[first..];
        if before.len() == ATTRIBUTES_MOST {
            return bail("many attributes");
        }
        // The first of a name counts.
        if before.iter().any(|other| self.bytes[other.name_range()].eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let kind = match name.len() {
            2 if name.eq_ignore_ascii_case(b"id") => AttributeKind::Id,
            5 if name.eq_ignore_ascii_case(b"class") => AttributeKind::Class,
            _ => AttributeKind::Other,
        };
        let encoded = memchr2(b'&', b'\r', &self.bytes[value.0..value.1]).is_some();
        attributes.push(Attribute::new(kind, (start, name_end), value, encoded));
        Ok(())
    }

    fn pass_space(&mut self) {
        while self.byte(self.at).is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// Passes over raw text and its end tag; where the text begins and ends.
    pub(super) fn raw_text(&mut self, element: &Tag, name: &str) -> Result<(usize, usize), Bail> {
        let start = self.at;
        let mut from = start;
        let end = loop {
            let Some(found) = memmem::find(&self.bytes[from..], b"</") else { return bail("open raw text") };
            let close = from + found;
            let after = &self.bytes[close + 2..];
            let ends = after.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
                && after.get(name.len()).is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'));
            if ends {
                break close;
            }
            from = close + 2;
        };
        if element.name == Name::Script {
            let script = &self.bytes[start..end];
            // Within `<!--`, a script in the script hides the end of the outer one.
            if memmem::find(script, b"<!--").is_some_and(|comment| holds_script(&script[comment..])) {
                return bail("script within a script");
            }
        }
        self.at = end;
        let mut ignored = Vec::new();
        self.tag(&mut ignored)?;
        Ok((start, end))
    }
}

fn holds_script(script: &[u8]) -> bool {
    memchr::memchr_iter(b'<', script)
        .any(|at| script.get(at + 1..at + 7).is_some_and(|word| word.eq_ignore_ascii_case(b"script")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_the_standard_has_it() {
        let text = "<DIV  a=1 B = 'x>y' c d=\"&amp;\" a=2 / e/>rest";
        let mut scanner = Scanner::new(text);
        assert_eq!(scanner.text().ok(), Some((0, 0, Next::StartTag)));
        let mut attributes = Vec::new();
        let tag = scanner.tag(&mut attributes).expect("a tag");
        assert_eq!((tag.name, tag.self_closing, &text[scanner.at..]), (Name::Div, true, "rest"));
        let read: Vec<_> = attributes.iter().map(|a| (&text[a.name_range()], &text[a.value_range()], a.is_encoded())).collect();
        assert_eq!(read, [("a", "1", false), ("B", "x>y", false), ("c", "", false), ("d", "&amp;", true), ("e", "", false)]);
    }

    #[test]
    fn signs_that_begin_no_tag_are_text() {
        let mut scanner = Scanner::new("a < b <3 << c<!x>d");
        assert_eq!(scanner.text().ok(), Some((0, 13, Next::Comment)));
        assert!(scanner.comment().is_ok());
        assert_eq!(scanner.text().ok(), Some((17, 18, Next::End)));
    }

    #[test]
    fn raw_text_ends_at_its_own_end_tag() {
        let of = |text: &str| {
            let mut scanner = Scanner::new(text);
            let tag = scanner.tag(&mut Vec::new()).expect("a tag");
            scanner.raw_text(&tag, "script").ok().map(|(start, end)| text[start..end].to_owned())
        };
        assert_eq!(of("<script>a</scripts></SCRIPT >").as_deref(), Some("a</scripts>"));
        assert_eq!(of("<script><!-- a --></script>").as_deref(), Some("<!-- a -->"));
        assert_eq!(of("<script><!-- <script> </script>"), None);
        assert_eq!(of("<script>a"), None);
    }
}
