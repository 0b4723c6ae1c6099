//! The rules within the body.

use super::build::{Builder, Mode, Quirks};
use super::foreign::Vocabulary;
use super::head::is_metadata;
use super::names::{BLOCK, FORMATTING, HEADING, Name, SPECIAL};
use super::scan::Tag;
use super::stack::{Format, Scope};
use super::tape::Kind;
use super::text::References;
use super::{Bail, bail};

impl Builder<'_> {
    pub(super) fn start_in_body(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        match tag.name {
            Name::Html | Name::Body => return self.second(first),
            Name::Frameset | Name::Plaintext | Name::Image => return bail("a tag with rules of its own"),
            name if is_metadata(name) => return self.metadata(tag, first),
            name if name.is(BLOCK) => self.close_paragraph()?,
            name if name.is(HEADING) => {
                self.close_paragraph()?;
                if self.current().is_some_and(|open| open.is(HEADING)) {
                    self.pop();
                }
            }
            Name::Pre | Name::Listing => {
                self.close_paragraph()?;
                self.drop_line_end = true;
            }
            Name::Form => {
                if self.form.is_some() {
                    return self.ignore(first);
                }
                self.close_paragraph()?;
                let form = self.append(tag, Vocabulary::Html, first)?;
                self.form = Some(form.node);
                return self.push(form);
            }
            Name::Li | Name::Dd | Name::Dt => self.close_item(tag.name)?,
            Name::Button => {
                if self.has_named_in_scope(Scope::Default, Name::Button)? {
                    self.imply_end_tags(Name::Other);
                    self.pop_until(|name| name == Name::Button);
                }
                self.reconstruct()?;
            }
            name if name.is(FORMATTING) => return self.start_formatting(tag, first),
            Name::Applet | Name::Marquee | Name::Object => {
                self.reconstruct()?;
                self.open(tag, first)?;
                self.formats.push(Format::Marker);
                return Ok(());
            }
            Name::Table => {
                if self.quirks == Quirks::Unknown && self.has_named_in_scope(Scope::Button, Name::P)? {
                    return bail("a table in a paragraph");
                }
                if self.quirks == Quirks::No {
                    self.close_paragraph()?;
                }
                self.mode = Mode::InTable;
            }
            Name::Area | Name::Br | Name::Embed | Name::Img | Name::Keygen | Name::Wbr => {
                self.reconstruct()?;
                return self.append(tag, Vocabulary::Html, first).map(drop);
            }
            Name::Input => {
                if self.has_named_in_scope(Scope::Default, Name::Select)? {
                    self.pop_until(|name| name == Name::Select);
                }
                self.reconstruct()?;
                return self.append(tag, Vocabulary::Html, first).map(drop);
            }
            Name::Param | Name::Source | Name::Track => return self.append(tag, Vocabulary::Html, first).map(drop),
            Name::Hr => {
                self.close_paragraph()?;
                if self.has_named_in_scope(Scope::Default, Name::Select)? {
                    self.imply_end_tags(Name::Other);
                }
                return self.append(tag, Vocabulary::Html, first).map(drop);
            }
            Name::Textarea => return self.append_raw(tag, first, References::Decoded),
            Name::Xmp => {
                self.close_paragraph()?;
                self.reconstruct()?;
                return self.append_raw(tag, first, References::AsTheyAre);
            }
            Name::Iframe | Name::Noembed | Name::Noscript => return self.append_raw(tag, first, References::AsTheyAre),
            Name::Select => {
                if self.has_named_in_scope(Scope::Default, Name::Select)? {
                    self.pop_until(|name| name == Name::Select);
                    return self.ignore(first);
                }
                self.reconstruct()?;
            }
            Name::Opt | Name::Optgroup => {
                if self.has_named_in_scope(Scope::Default, Name::Select)? {
                    self.imply_end_tags(if tag.name == Name::Opt { Name::Optgroup } else { Name::Other });
                } else if self.is_current(Name::Opt) {
                    self.pop();
                }
                self.reconstruct()?;
            }
            Name::Rb | Name::Rtc | Name::Rp | Name::Rt => {
                if self.has_named_in_scope(Scope::Default, Name::Ruby)? {
                    let except = if matches!(tag.name, Name::Rp | Name::Rt) { Name::Rtc } else { Name::Other };
                    self.imply_end_tags(except);
                }
            }
            Name::Math => return self.enter_picture(tag, first, Vocabulary::MathMl),
            Name::Svg => return self.enter_picture(tag, first, Vocabulary::Svg),
            Name::Caption
            | Name::Col
            | Name::Colgroup
            | Name::Frame
            | Name::Head
            | Name::Tbody
            | Name::Td
            | Name::Tfoot
            | Name::Th
            | Name::Thead
            | Name::Tr => return self.ignore(first),
            _ => self.reconstruct()?,
        }
        self.open(tag, first)
    }

    /// Closes the item that a new item of the same list ends, and a paragraph.
    fn close_item(&mut self, name: Name) -> Result<(), Bail> {
        let (mut close, mut steps) = (None, 0);
        for open in self.stack.iter().rev() {
            steps += 1;
            let same = if name == Name::Li { open.name == Name::Li } else { matches!(open.name, Name::Dd | Name::Dt) };
            if same && open.vocabulary == Vocabulary::Html {
                close = Some(open.name);
                break;
            }
            if open.is(SPECIAL) && !matches!(open.name, Name::Address | Name::Div | Name::P) {
                break;
            }
        }
        self.spend(steps)?;
        if let Some(name) = close {
            self.imply_end_tags(name);
            self.pop_until(|open| open == name);
        }
        self.close_paragraph()
    }

    pub(super) fn end_in_body(&mut self, tag: &Tag) -> Result<(), Bail> {
        match tag.name {
            Name::Body | Name::Html => {
                if self.has_named_in_scope(Scope::Default, Name::Body)? {
                    self.mode = if tag.name == Name::Body { Mode::AfterBody } else { Mode::AfterAfterBody };
                }
            }
            Name::P => {
                if !self.has_named_in_scope(Scope::Button, Name::P)? {
                    self.append_implied(Name::P);
                }
                self.close_paragraph()?;
            }
            name if name.is(BLOCK) || matches!(name, Name::Button | Name::Listing | Name::Pre | Name::Select) => {
                if self.has_named_in_scope(Scope::Default, name)? {
                    self.imply_end_tags(Name::Other);
                    self.pop_until(|open| open == name);
                }
            }
            Name::Form => {
                let Some(form) = self.form.take() else { return Ok(()) };
                if self.has_in_scope(Scope::Default, |open| open.node == form)? {
                    self.imply_end_tags(Name::Other);
                    self.remove(form);
                }
            }
            name @ (Name::Li | Name::Dd | Name::Dt) => {
                let scope = if name == Name::Li { Scope::ListItem } else { Scope::Default };
                if self.has_named_in_scope(scope, name)? {
                    self.imply_end_tags(name);
                    self.pop_until(|open| open == name);
                }
            }
            name if name.is(HEADING) => {
                if self.has_in_scope(Scope::Default, |open| open.is(HEADING))? {
                    self.imply_end_tags(Name::Other);
                    self.pop_until(|open| open.is(HEADING));
                }
            }
            name if name.is(FORMATTING) => return self.end_formatting(tag),
            name @ (Name::Applet | Name::Marquee | Name::Object) => {
                if self.has_named_in_scope(Scope::Default, name)? {
                    self.imply_end_tags(Name::Other);
                    self.pop_until(|open| open == name);
                    self.clear_formats();
                }
            }
            Name::Br => {
                self.reconstruct()?;
                self.append_node(Name::Br, 0, Vocabulary::Html, (0, 0));
            }
            Name::Template => {}
            _ => return self.end_other(tag),
        }
        Ok(())
    }

    /// An end tag without rules of its own: closes the nearest element of its name, unless there is a special one before.
    pub(super) fn end_other(&mut self, tag: &Tag) -> Result<(), Bail> {
        let mut found = None;
        for (at, open) in self.stack.iter().enumerate().rev() {
            if open.vocabulary == Vocabulary::Html && self.is_named(open.node, tag) {
                found = Some(at);
                break;
            }
            if open.is(SPECIAL) {
                let steps = self.stack.len() - at;
                return self.spend(steps);
            }
        }
        let Some(at) = found else { return Ok(()) };
        self.spend(self.stack.len() - at)?;
        self.imply_end_tags(tag.name);
        self.truncate(at);
        Ok(())
    }

    /// Whether an element has the name of a tag, in any case of letters.
    pub(super) fn is_named(&self, node: u32, tag: &Tag) -> bool {
        let node = &self.tape.nodes[node as usize];
        debug_assert_eq!(node.kind, Kind::Element);
        match (node.name, tag.name) {
            (Name::Other, _) | (_, Name::Other) | (Name::ForeignObject, _) | (_, Name::ForeignObject) => {
                (**self.tape.name(node)).eq_ignore_ascii_case(self.written(tag))
            }
            (own, name) => own == name,
        }
    }
}
