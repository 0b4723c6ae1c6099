//! The rules within tables.

use super::build::{Builder, Mode};
use super::foreign::Vocabulary;
use super::names::Name;
use super::scan::Tag;
use super::stack::{Format, Open, Scope};
use super::{Bail, bail};

/// What a table is made of, but for the table.
const fn is_part(name: Name) -> bool {
    is_row_group(name) || matches!(name, Name::Caption | Name::Col | Name::Colgroup | Name::Td | Name::Th | Name::Tr)
}

const fn is_row_group(name: Name) -> bool {
    matches!(name, Name::Tbody | Name::Tfoot | Name::Thead)
}

const fn is_cell(name: Name) -> bool {
    matches!(name, Name::Td | Name::Th)
}

impl Builder<'_> {
    /// A start tag within a table. `false`: once more, under the mode that is now.
    pub(super) fn start_in_table(&mut self, tag: &Tag, first: usize) -> Result<bool, Bail> {
        let name = tag.name;
        match self.mode {
            Mode::InCaption if is_part(name) => {
                if !self.has_named_in_scope(Scope::Table, Name::Caption)? {
                    return self.ignore(first).map(|()| true);
                }
                self.close_caption();
                return Ok(false);
            }
            Mode::InCell if is_part(name) => {
                if !self.has_in_scope(Scope::Table, |open| open.vocabulary == Vocabulary::Html && is_cell(open.name))? {
                    return self.ignore(first).map(|()| true);
                }
                self.close_cell();
                return Ok(false);
            }
            Mode::InCaption | Mode::InCell => self.start_in_body(tag, first)?,
            Mode::InColumnGroup => match name {
                Name::Html => self.second(first)?,
                Name::Col => {
                    self.append(tag, Vocabulary::Html, first)?;
                }
                Name::Template => return bail("template"),
                _ if self.is_current(Name::Colgroup) => {
                    self.pop();
                    self.mode = Mode::InTable;
                    return Ok(false);
                }
                _ => self.ignore(first)?,
            },
            Mode::InTableBody if name == Name::Tr => {
                self.pop_to(|name| is_row_group(name) || name == Name::Html);
                self.open(tag, first)?;
                self.mode = Mode::InRow;
            }
            Mode::InTableBody if is_cell(name) => {
                self.pop_to(|name| is_row_group(name) || name == Name::Html);
                self.append_implied(Name::Tr);
                self.mode = Mode::InRow;
                return Ok(false);
            }
            Mode::InTableBody if is_part(name) => {
                if self.close_row_group()? {
                    return Ok(false);
                }
                self.ignore(first)?;
            }
            Mode::InRow if is_cell(name) => {
                self.pop_to(|name| matches!(name, Name::Tr | Name::Html));
                self.open(tag, first)?;
                self.mode = Mode::InCell;
                self.formats.push(Format::Marker);
            }
            Mode::InRow if is_part(name) => {
                if self.close_row()? {
                    return Ok(false);
                }
                self.ignore(first)?;
            }
            _ => return self.start_between_rows(tag, first),
        }
        Ok(true)
    }

    /// A start tag right within the table.
    fn start_between_rows(&mut self, tag: &Tag, first: usize) -> Result<bool, Bail> {
        match tag.name {
            Name::Caption => {
                self.pop_to_table();
                self.formats.push(Format::Marker);
                self.open(tag, first)?;
                self.mode = Mode::InCaption;
            }
            Name::Colgroup => {
                self.pop_to_table();
                self.open(tag, first)?;
                self.mode = Mode::InColumnGroup;
            }
            Name::Col => {
                self.pop_to_table();
                self.append_implied(Name::Colgroup);
                self.mode = Mode::InColumnGroup;
                return Ok(false);
            }
            name if is_row_group(name) => {
                self.pop_to_table();
                self.open(tag, first)?;
                self.mode = Mode::InTableBody;
            }
            Name::Td | Name::Th | Name::Tr => {
                self.pop_to_table();
                self.append_implied(Name::Tbody);
                self.mode = Mode::InTableBody;
                return Ok(false);
            }
            Name::Table => {
                if self.has_named_in_scope(Scope::Table, Name::Table)? {
                    self.close_table()?;
                    return Ok(false);
                }
                self.ignore(first)?;
            }
            Name::Style | Name::Script => self.metadata(tag, first)?,
            Name::Input if self.is_hidden(first) => {
                self.append(tag, Vocabulary::Html, first)?;
            }
            Name::Form => {
                if self.form.is_some() {
                    self.ignore(first)?;
                } else {
                    self.form = Some(self.append(tag, Vocabulary::Html, first)?.node);
                }
            }
            _ => return bail("an element in a table"),
        }
        Ok(true)
    }

    fn is_hidden(&self, first: usize) -> bool {
        let text = self.scanner.text;
        self.tape.attributes[first..]
            .iter()
            .find(|attribute| text[attribute.name_range()].eq_ignore_ascii_case("type"))
            .is_some_and(|attribute| attribute.value(text).eq_ignore_ascii_case("hidden"))
    }

    /// An end tag within a table. `false`: once more, under the mode that is now.
    pub(super) fn end_in_table(&mut self, tag: &Tag) -> Result<bool, Bail> {
        let name = tag.name;
        match self.mode {
            Mode::InCaption if matches!(name, Name::Caption | Name::Table) => {
                if self.has_named_in_scope(Scope::Table, Name::Caption)? {
                    self.close_caption();
                    return Ok(name == Name::Caption);
                }
            }
            Mode::InCell if is_cell(name) => {
                if self.has_named_in_scope(Scope::Table, name)? {
                    self.imply_end_tags(Name::Other);
                    self.pop_until(|open| open == name);
                    self.clear_formats();
                    self.mode = Mode::InRow;
                }
            }
            Mode::InCell if is_row_group(name) || matches!(name, Name::Table | Name::Tr) => {
                if self.has_named_in_scope(Scope::Table, name)? {
                    self.close_cell();
                    return Ok(false);
                }
            }
            Mode::InCaption | Mode::InCell => {
                if !is_part(name) && !matches!(name, Name::Body | Name::Html) {
                    self.end_in_body(tag)?;
                }
            }
            Mode::InColumnGroup => match name {
                Name::Col | Name::Template => {}
                _ if self.is_current(Name::Colgroup) => {
                    self.pop();
                    self.mode = Mode::InTable;
                    return Ok(name == Name::Colgroup);
                }
                _ => {}
            },
            Mode::InTableBody if is_row_group(name) => {
                if self.has_named_in_scope(Scope::Table, name)? {
                    self.pop_to(|name| is_row_group(name) || name == Name::Html);
                    self.pop();
                    self.mode = Mode::InTable;
                }
            }
            Mode::InTableBody if name == Name::Table => return self.close_row_group().map(|closed| !closed),
            Mode::InRow if name == Name::Tr => {
                self.close_row()?;
            }
            Mode::InRow if name == Name::Table => return self.close_row().map(|closed| !closed),
            Mode::InRow if is_row_group(name) => {
                if self.has_named_in_scope(Scope::Table, name)? && self.close_row()? {
                    return Ok(false);
                }
            }
            _ => match name {
                Name::Table => {
                    if self.has_named_in_scope(Scope::Table, Name::Table)? {
                        self.close_table()?;
                    }
                }
                Name::Body | Name::Html | Name::Template => {}
                name if is_part(name) => {}
                // These two would put an element before the table.
                Name::P | Name::Br => return bail("an element in a table"),
                _ => self.end_in_body(tag)?,
            },
        }
        Ok(true)
    }

    fn pop_to_table(&mut self) {
        self.pop_to(|name| matches!(name, Name::Table | Name::Html));
    }

    fn close_caption(&mut self) {
        self.imply_end_tags(Name::Other);
        self.pop_until(|name| name == Name::Caption);
        self.clear_formats();
        self.mode = Mode::InTable;
    }

    fn close_cell(&mut self) {
        self.imply_end_tags(Name::Other);
        self.pop_until(is_cell);
        self.clear_formats();
        self.mode = Mode::InRow;
    }

    /// Whether there was a row to close.
    fn close_row(&mut self) -> Result<bool, Bail> {
        if !self.has_named_in_scope(Scope::Table, Name::Tr)? {
            return Ok(false);
        }
        self.pop_until(|name| name == Name::Tr);
        self.mode = Mode::InTableBody;
        Ok(true)
    }

    /// Whether there was a group of rows to close.
    fn close_row_group(&mut self) -> Result<bool, Bail> {
        let is_open = self.has_in_scope(Scope::Table, |open| {
            open.vocabulary == Vocabulary::Html && matches!(open.name, Name::Table | Name::Tbody | Name::Tfoot)
        })?;
        if is_open {
            self.pop_to(|name| is_row_group(name) || name == Name::Html);
            self.pop();
            self.mode = Mode::InTable;
        }
        Ok(is_open)
    }

    fn close_table(&mut self) -> Result<(), Bail> {
        self.pop_until(|name| name == Name::Table);
        let mode = |open: &Open| match open.name {
            _ if open.vocabulary != Vocabulary::Html => None,
            Name::Td | Name::Th => Some(Mode::InCell),
            Name::Tr => Some(Mode::InRow),
            name if is_row_group(name) => Some(Mode::InTableBody),
            Name::Caption => Some(Mode::InCaption),
            Name::Colgroup => Some(Mode::InColumnGroup),
            Name::Table => Some(Mode::InTable),
            Name::Body => Some(Mode::InBody),
            _ => None,
        };
        let found = self.stack.iter().rev().enumerate().find_map(|(steps, open)| mode(open).map(|mode| (steps, mode)));
        let (steps, mode) = found.unwrap_or((self.stack.len(), Mode::InBody));
        self.mode = mode;
        self.spend(steps)
    }
}
