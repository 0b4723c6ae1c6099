//! The element names that parsing has rules for, and what kind of element each is.
//!
//! Decision: a name is a small number from the moment that it is read, found by one look into a table of its packed bytes, so that the
//! rules compare numbers, and an element of a known name costs no look into the table of all interned strings.

use html5ever::LocalName;
use std::sync::LazyLock;

/// Stops the search for an element to close.
pub(super) const SPECIAL: u8 = 1;
/// Bounds what is in scope.
pub(super) const SCOPE: u8 = 2;
/// Its end tag may be left out before those of others.
pub(super) const IMPLIED: u8 = 4;
/// Is opened again after it was closed by force.
pub(super) const FORMATTING: u8 = 8;
/// Closes a paragraph, and is closed by its own end tag.
pub(super) const BLOCK: u8 = 16;
/// `h1` to `h6`.
pub(super) const HEADING: u8 = 32;

macro_rules! names {
    ($($id:ident $name:literal $kind:expr,)*) => {
        /// An element's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Name { $($id,)* }

        const ALL: &[(Name, &str, u8)] = &[$((Name::$id, $name, $kind),)*];
    };
}

names! {
    Other "" 0,
    A "a" FORMATTING, Abbr "abbr" 0, Address "address" SPECIAL | BLOCK, AnnotationXml "annotation-xml" 0,
    Applet "applet" SPECIAL | SCOPE, Area "area" SPECIAL, Article "article" SPECIAL | BLOCK, Aside "aside" SPECIAL | BLOCK,
    Audio "audio" 0, B "b" FORMATTING, Base "base" SPECIAL, Basefont "basefont" SPECIAL, Bgsound "bgsound" SPECIAL,
    Big "big" FORMATTING, Blockquote "blockquote" SPECIAL | BLOCK, Body "body" SPECIAL, Br "br" SPECIAL,
    Button "button" SPECIAL, Canvas "canvas" 0, Caption "caption" SPECIAL | SCOPE, Center "center" SPECIAL | BLOCK,
    Circle "circle" 0, Cite "cite" 0, Code "code" FORMATTING, Col "col" SPECIAL, Colgroup "colgroup" SPECIAL,
    Dd "dd" SPECIAL | IMPLIED, Defs "defs" 0, Del "del" 0, Desc "desc" 0, Details "details" SPECIAL | BLOCK,
    Dialog "dialog" BLOCK, Dir "dir" SPECIAL | BLOCK, Div "div" SPECIAL | BLOCK, Dl "dl" SPECIAL | BLOCK,
    Dt "dt" SPECIAL | IMPLIED, Em "em" FORMATTING, Embed "embed" SPECIAL, Fieldset "fieldset" SPECIAL | BLOCK,
    Figcaption "figcaption" SPECIAL | BLOCK, Figure "figure" SPECIAL | BLOCK, Font "font" FORMATTING,
    Footer "footer" SPECIAL | BLOCK, ForeignObject "foreignobject" 0, Form "form" SPECIAL, Frame "frame" SPECIAL,
    Frameset "frameset" SPECIAL, G "g" 0, H1 "h1" SPECIAL | HEADING, H2 "h2" SPECIAL | HEADING, H3 "h3" SPECIAL | HEADING,
    H4 "h4" SPECIAL | HEADING, H5 "h5" SPECIAL | HEADING, H6 "h6" SPECIAL | HEADING, Head "head" SPECIAL,
    Header "header" SPECIAL | BLOCK, Hgroup "hgroup" SPECIAL | BLOCK, Hr "hr" SPECIAL, Html "html" SPECIAL | SCOPE,
    I "i" FORMATTING, Iframe "iframe" SPECIAL, Image "image" 0, Img "img" SPECIAL, Input "input" SPECIAL, Ins "ins" 0,
    Isindex "isindex" SPECIAL, Kbd "kbd" 0, Keygen "keygen" 0, Label "label" 0, Legend "legend" 0, Li "li" SPECIAL | IMPLIED, Line "line" 0,
    Link "link" SPECIAL, Listing "listing" SPECIAL, Main "main" SPECIAL | BLOCK, Malignmark "malignmark" 0, Mark "mark" 0,
    Marquee "marquee" SPECIAL | SCOPE, Math "math" 0, Menu "menu" SPECIAL | BLOCK, Meta "meta" SPECIAL, Mglyph "mglyph" 0,
    Mi "mi" 0, Mn "mn" 0, Mo "mo" 0, Mrow "mrow" 0, Ms "ms" 0, Mtext "mtext" 0, Nav "nav" SPECIAL | BLOCK,
    Nobr "nobr" FORMATTING, Noembed "noembed" SPECIAL, Noframes "noframes" SPECIAL, Noscript "noscript" SPECIAL,
    Object "object" SPECIAL | SCOPE, Ol "ol" SPECIAL | BLOCK, Optgroup "optgroup" IMPLIED, Opt "option" IMPLIED, Output "output" 0,
    P "p" SPECIAL | IMPLIED | BLOCK, Param "param" SPECIAL, Path "path" 0, Picture "picture" 0,
    Plaintext "plaintext" SPECIAL, Polygon "polygon" 0, Polyline "polyline" 0, Pre "pre" SPECIAL, Q "q" 0,
    Rb "rb" IMPLIED, Rect "rect" 0, Rp "rp" IMPLIED, Rt "rt" IMPLIED, Rtc "rtc" IMPLIED, Ruby "ruby" 0, S "s" FORMATTING,
    Samp "samp" 0, Script "script" SPECIAL, Search "search" BLOCK, Section "section" SPECIAL | BLOCK,
    Select "select" SPECIAL | SCOPE, Small "small" FORMATTING, Source "source" SPECIAL, Span "span" 0,
    Strike "strike" FORMATTING, Strong "strong" FORMATTING, Style "style" SPECIAL, Sub "sub" 0,
    Summary "summary" SPECIAL | BLOCK, Sup "sup" 0, Svg "svg" 0, Table "table" SPECIAL | SCOPE, Tbody "tbody" SPECIAL,
    Td "td" SPECIAL | SCOPE, Template "template" SPECIAL | SCOPE, Textarea "textarea" SPECIAL, Tfoot "tfoot" SPECIAL,
    Th "th" SPECIAL | SCOPE, Thead "thead" SPECIAL, Time "time" 0, Title "title" SPECIAL, Tr "tr" SPECIAL,
    Track "track" SPECIAL, Tt "tt" FORMATTING, U "u" FORMATTING, Ul "ul" SPECIAL | BLOCK, Use "use" 0, Var "var" 0,
    Video "video" 0, Wbr "wbr" SPECIAL, Xmp "xmp" SPECIAL,
}

impl Name {
    /// Whether an HTML element of this name is of one of these kinds.
    pub(super) fn is(self, kinds: u8) -> bool {
        ALL[self as usize].2 & kinds != 0
    }
}

/// Slots of the table; a power of two, several times the number of names.
const SLOTS: usize = 1_024;

/// The names by their packed bytes, and interned.
pub(super) struct Names {
    slots: Box<[(u128, Name)]>,
    atoms: Box<[LocalName]>,
}

/// A name's bytes in lower case, packed; 0 for a name that is too long to be known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Packed(u128);

impl Packed {
    /// With one more byte, in lower case.
    pub(super) fn push(self, byte: u8, length: usize) -> Self {
        if length < 16 { Self(self.0 << 8 | u128::from(byte)) } else { Self(0) }
    }

    fn slot(self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
        let folded = (self.0 as u64) ^ ((self.0 >> 64) as u64).rotate_left(29);
        usize::try_from(folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54).unwrap_or(0) % SLOTS
    }
}

impl Names {
    /// The one table.
    pub(super) fn get() -> &'static Self {
        static NAMES: LazyLock<Names> = LazyLock::new(|| {
            let mut slots = vec![(0, Name::Other); SLOTS].into_boxed_slice();
            for &(name, text, _) in &ALL[1..] {
                let packed = text.bytes().enumerate().fold(Packed::default(), |packed, (at, byte)| packed.push(byte, at));
                let mut slot = packed.slot();
                while slots[slot].0 != 0 {
                    slot = (slot + 1) % SLOTS;
                }
                slots[slot] = (packed.0, name);
            }
            // What has this name outside of pictures is kept with the unknown names.
            let atom = |name, text| LocalName::from(if name == Name::ForeignObject { "foreignObject" } else { text });
            Names { slots, atoms: ALL.iter().map(|&(name, text, _)| atom(name, text)).collect() }
        });
        &NAMES
    }

    /// The known name of these bytes.
    pub(super) fn find(&self, packed: Packed) -> Name {
        let mut slot = packed.slot();
        loop {
            let (key, name) = self.slots[slot];
            if key == packed.0 || key == 0 {
                return name;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// A known name as an interned string.
    pub(super) fn atom(&self, name: Name) -> &LocalName {
        &self.atoms[name as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        let names = Names::get();
        let find = |text: &str| names.find(text.bytes().enumerate().fold(Packed::default(), |p, (at, byte)| p.push(byte, at)));
        for &(name, text, _) in &ALL[1..] {
            assert_eq!(find(text), name, "{text}");
            assert!((**names.atom(name)).eq_ignore_ascii_case(text), "{text}");
        }
        for unknown in ["x", "divs", "di", "a-very-long-custom-element", "figcaptionfigcaption"] {
            assert_eq!(find(unknown), Name::Other, "{unknown}");
        }
    }
}
