//! Formatting elements: what the parser opens again after it was closed by force.
//!
//! Decision: opening again is only one more node with the same attributes. Where the standard would take apart what is there, the quick
//! way ends.

use super::build::Builder;
use super::foreign::Vocabulary;
use super::names::{Name, SPECIAL};
use super::scan::Tag;
use super::stack::{Format, Scope};
use super::{Bail, bail};

/// What opening an element again costs, in steps: it is memory that no tag pays for.
const COPY: usize = 64;

impl Builder<'_> {
    fn is_marker_or_open(&self, entry: &Format) -> bool {
        match entry {
            Format::Marker => true,
            Format::Element(node, _) => self.tape.nodes[*node as usize].open,
        }
    }

    /// Opens the formatting elements again that should be open.
    pub(super) fn reconstruct(&mut self) -> Result<(), Bail> {
        if self.formats.last().is_none_or(|entry| self.is_marker_or_open(entry)) {
            return Ok(());
        }
        let kept = self.formats.iter().rposition(|entry| self.is_marker_or_open(entry)).map_or(0, |at| at + 1);
        for at in kept..self.formats.len() {
            let Format::Element(node, name) = self.formats[at] else { return bail("a marker that was no marker") };
            self.spend(COPY)?;
            let first = self.tape.nodes[node as usize];
            let copy = self.append_node(name, 0, Vocabulary::Html, (first.from, first.to));
            self.tape.nodes[copy.node as usize].copy = true;
            self.push(copy)?;
            self.formats[at] = Format::Element(copy.node, name);
        }
        Ok(())
    }

    /// The entries up to the last marker, newest first, with their places.
    fn recent(&self) -> impl Iterator<Item = (usize, u32, Name)> + '_ {
        self.formats.iter().enumerate().rev().map_while(|(at, entry)| match *entry {
            Format::Marker => None,
            Format::Element(node, name) => Some((at, node, name)),
        })
    }

    pub(super) fn start_formatting(&mut self, tag: &Tag, first: usize) -> Result<(), Bail> {
        let open = self.recent().find(|&(_, _, name)| name == tag.name);
        if tag.name == Name::A
            && let Some((_, node, _)) = open
        {
            self.spend(self.formats.len())?;
            self.end_formatting(tag)?;
            self.formats.retain(|entry| !matches!(entry, Format::Element(other, _) if *other == node));
            self.remove(node);
        }
        self.reconstruct()?;
        if tag.name == Name::Nobr && self.has_named_in_scope(Scope::Default, Name::Nobr)? {
            return bail("nobr within nobr");
        }
        // Of those that are alike in every attribute, three are kept.
        if self.recent().filter(|&(_, _, name)| name == tag.name).count() >= 3 {
            return bail("formatting four times over");
        }
        let open = self.append(tag, Vocabulary::Html, first)?;
        self.push(open)?;
        self.formats.push(Format::Element(open.node, tag.name));
        Ok(())
    }

    pub(super) fn end_formatting(&mut self, tag: &Tag) -> Result<(), Bail> {
        let name = tag.name;
        if let Some(current) = self.current().filter(|current| current.is_html(name)) {
            let is_current = |entry: &Format| matches!(entry, Format::Element(node, _) if *node == current.node);
            let listed = self.formats.iter().rposition(is_current);
            self.spend(self.formats.len() - listed.unwrap_or(0))?;
            if listed.is_none() {
                self.pop();
                return Ok(());
            }
        }
        // The standard has up to eight rounds; all but the last find a block within, which ends the quick way.
        let Some((entry, node, _)) = self.recent().find(|&(_, _, other)| other == name) else {
            return self.end_other(tag);
        };
        let Some(place) = self.stack.iter().rposition(|open| open.node == node) else {
            self.formats.remove(entry);
            return Ok(());
        };
        if !self.has_in_scope(Scope::Default, |open| open.node == node)? {
            return Ok(());
        }
        if self.stack[place..].iter().any(|open| open.is(SPECIAL)) {
            return bail("a block within formatting");
        }
        self.truncate(place);
        self.formats.remove(entry);
        Ok(())
    }

    /// Forgets the formatting elements of a cell, a caption or an object.
    pub(super) fn clear_formats(&mut self) {
        while matches!(self.formats.pop(), Some(Format::Element(..))) {}
    }
}
