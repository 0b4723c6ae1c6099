//! The rules up to the body, and behind it; and which rules a tag falls under.

use super::build::{Builder, Mode, Quirks};
use super::foreign::Vocabulary;
use super::names::Name;
use super::scan::{Tag, is_space};
use super::text::References;
use super::{Bail, bail};

impl Builder<'_> {
    /// The document type decides one thing that shows in the tree: whether a table closes a paragraph.
    pub(super) fn doctype(&mut self, written: &str) {
        if self.mode != Mode::Initial {
            return;
        }
        self.mode = Mode::BeforeHtml;
        let name = written["<!doctype".len()..].trim_matches(|c: char| c.is_ascii_whitespace());
        let parts = name.split_once(|c: char| c.is_ascii_whitespace()).map(|(name, rest)| (name, rest.trim()));
        let is_html = |name: &str| name.eq_ignore_ascii_case("html");
        let separated = written.as_bytes().get("<!doctype".len()).copied().is_some_and(is_space);
        self.quirks = match parts {
            None if separated && is_html(name) => Quirks::No,
            Some((name, rest)) if separated && is_html(name) && is_standard(rest) => Quirks::No,
            _ => Quirks::Unknown,
        };
    }

    pub(super) fn start_tag(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        if self.is_foreign() && self.start_in_picture(tag, first)? {
            return Ok(());
        }
        loop {
            match self.mode {
                Mode::Initial => self.mode = Mode::BeforeHtml,
                Mode::BeforeHtml => {
                    self.mode = Mode::BeforeHead;
                    if tag.name == Name::Html {
                        return self.open(tag, first);
                    }
                    self.append_implied(Name::Html);
                }
                Mode::BeforeHead => match tag.name {
                    Name::Html => return self.second(first),
                    Name::Head => {
                        self.open(tag, first)?;
                        self.head = self.current().map_or(0, |head| head.node);
                        self.mode = Mode::InHead;
                        return Ok(());
                    }
                    _ => self.imply_head(),
                },
                Mode::InHead => match tag.name {
                    Name::Html => return self.second(first),
                    Name::Noscript => return self.append_raw(tag, first, References::AsTheyAre),
                    Name::Head => return self.ignore(first),
                    _ if is_metadata(tag.name) => return self.metadata(tag, first),
                    _ => {
                        self.pop();
                        self.mode = Mode::AfterHead;
                    }
                },
                Mode::AfterHead => match tag.name {
                    Name::Html => return self.second(first),
                    Name::Body => {
                        self.mode = Mode::InBody;
                        return self.open(tag, first);
                    }
                    Name::Frameset => return bail("frameset"),
                    Name::Head => return self.ignore(first),
                    _ if is_metadata(tag.name) => return self.late_metadata(tag, first),
                    _ => self.begin_body(),
                },
                Mode::InBody => return self.start_in_body(tag, first),
                Mode::AfterBody | Mode::AfterAfterBody => match tag.name {
                    Name::Html => return self.second(first),
                    _ => self.mode = Mode::InBody,
                },
                _ => {
                    if self.start_in_table(tag, first)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    pub(super) fn end_tag(&mut self, tag: &Tag) -> Result<(), Bail> {
        if self.is_foreign() && self.end_in_picture(tag)? {
            return Ok(());
        }
        let begins = matches!(tag.name, Name::Body | Name::Html | Name::Br);
        loop {
            match self.mode {
                Mode::Initial => self.mode = Mode::BeforeHtml,
                Mode::BeforeHtml if begins || tag.name == Name::Head => {
                    self.append_implied(Name::Html);
                    self.mode = Mode::BeforeHead;
                }
                Mode::BeforeHead if begins || tag.name == Name::Head => self.imply_head(),
                Mode::InHead if begins || tag.name == Name::Head => {
                    self.pop();
                    self.mode = Mode::AfterHead;
                    if tag.name == Name::Head {
                        return Ok(());
                    }
                }
                Mode::AfterHead if begins => self.begin_body(),
                Mode::BeforeHtml | Mode::BeforeHead | Mode::InHead | Mode::AfterHead => return Ok(()),
                Mode::InBody => return self.end_in_body(tag),
                Mode::AfterBody if tag.name == Name::Html => {
                    self.mode = Mode::AfterAfterBody;
                    return Ok(());
                }
                Mode::AfterBody | Mode::AfterAfterBody => self.mode = Mode::InBody,
                _ => {
                    if self.end_in_table(tag)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn imply_head(&mut self) {
        self.append_implied(Name::Head);
        self.head = self.current().map_or(0, |head| head.node);
        self.mode = Mode::InHead;
    }

    /// Implies whatever is missing before a body's content.
    pub(super) fn begin_body(&mut self) {
        loop {
            match self.mode {
                Mode::Initial => self.mode = Mode::BeforeHtml,
                Mode::BeforeHtml => {
                    self.append_implied(Name::Html);
                    self.mode = Mode::BeforeHead;
                }
                Mode::BeforeHead => self.imply_head(),
                Mode::InHead => {
                    self.pop();
                    self.mode = Mode::AfterHead;
                }
                _ => {
                    self.append_implied(Name::Body);
                    self.mode = Mode::InBody;
                    return;
                }
            }
        }
    }

    /// Appends an element that stays open.
    pub(super) fn open(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        let open = self.append(tag, Vocabulary::Html, first)?;
        self.push(open)
    }

    /// Drops a tag that has no place.
    pub(super) fn ignore(&mut self, first: usize) -> Result<(), Bail> {
        self.tape.attributes.truncate(first);
        Ok(())
    }

    /// A second `<html>` or `<body>`, whose attributes the first one would get.
    pub(super) fn second(&mut self, first: usize) -> Result<(), Bail> {
        if self.tape.attributes.len() > first { bail("attributes of a second html or body") } else { Ok(()) }
    }

    /// What belongs into a head, wherever it stands.
    pub(super) fn metadata(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        match tag.name {
            Name::Title => self.append_raw(tag, first, References::Decoded),
            Name::Noframes | Name::Style | Name::Script => self.append_raw(tag, first, References::AsTheyAre),
            Name::Template => bail("template"),
            _ => self.append(tag, Vocabulary::Html, first).map(drop),
        }
    }

    /// Metadata between head and body still goes into the head, which must be the last thing that there is.
    fn late_metadata(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        let mut last = self.tape.nodes.len() - 1;
        while last > self.head as usize {
            last = self.tape.nodes[last].parent as usize;
        }
        let Some(html) = self.current().filter(|_| last == self.head as usize) else {
            return bail("metadata behind the head");
        };
        let head = super::stack::Open { node: self.head, name: Name::Head, ..html };
        self.push(head)?;
        self.metadata(tag, first)?;
        self.remove(self.head);
        Ok(())
    }
}

/// What stands in a head, or is moved there.
pub(super) const fn is_metadata(name: Name) -> bool {
    matches!(
        name,
        Name::Base
            | Name::Basefont
            | Name::Bgsound
            | Name::Link
            | Name::Meta
            | Name::Noframes
            | Name::Script
            | Name::Style
            | Name::Template
            | Name::Title
    )
}

/// Whether the rest of a document type leaves the page without quirks, as far as one look tells.
fn is_standard(rest: &str) -> bool {
    const STANDARD: [&str; 6] = [
        "SYSTEM \"about:legacy-compat\"",
        "SYSTEM 'about:legacy-compat'",
        "PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\"",
        "PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"",
        "PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"http://www.w3.org/TR/html4/loose.dtd\"",
        "PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\"",
    ];
    let mut words = rest.split_ascii_whitespace();
    STANDARD.iter().any(|standard| words.clone().eq(standard.split_ascii_whitespace())) || words.next().is_none()
}
