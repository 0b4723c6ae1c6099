//! Other charsets than UTF-8, each declared in one of the ways that the Encoding and HTML standards know.
//!
//! What a charset cannot express becomes a numeric character reference, so that the text of a page is the same in all of
//! them. UTF-16 cannot be declared in a meta element (the standard ignores it there), hence the byte order mark.

/// The declaration that every page is built with.
const UTF8_META: &str = "<meta charset=\"utf-8\">";

/// One charset with one way to declare it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Charset {
    pub label: &'static str,
    pub content_type: &'static str,
    declared: Declared,
}

#[derive(Debug, PartialEq, Eq)]
enum Declared {
    Header,
    Meta,
    ByteOrderMark,
}

const fn charset(label: &'static str, content_type: &'static str, declared: Declared) -> Charset {
    Charset { label, content_type, declared }
}

/// What `--charset-ratio` chooses from.
pub(crate) static CHARSETS: [Charset; 12] = [
    charset("windows-1252", "text/html; charset=windows-1252", Declared::Header),
    charset("windows-1252", "text/html", Declared::Meta),
    charset("iso-8859-15", "text/html; charset=\"ISO-8859-15\"", Declared::Header),
    charset("iso-8859-15", "text/html", Declared::Meta),
    charset("shift_jis", "text/html; charset=Shift_JIS", Declared::Header),
    charset("shift_jis", "text/html", Declared::Meta),
    charset("euc-kr", "text/html;charset=euc-kr", Declared::Header),
    charset("euc-kr", "text/html", Declared::Meta),
    charset("utf-16le", "text/html; charset=utf-16le", Declared::Header),
    charset("utf-16le", "text/html", Declared::ByteOrderMark),
    charset("utf-16be", "text/html; charset=UTF-16BE", Declared::Header),
    charset("utf-16be", "text/html", Declared::ByteOrderMark),
];

impl Charset {
    pub fn encode(&self, html: &str) -> Vec<u8> {
        let html = match self.declared {
            Declared::Meta => html.replacen(UTF8_META, &format!("<meta charset=\"{}\">", self.label), 1),
            Declared::Header => html.replacen(UTF8_META, "", 1),
            Declared::ByteOrderMark => html.replacen(UTF8_META, "", 1).replacen('<', "\u{feff}<", 1),
        };
        match self.label {
            "utf-16le" => html.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "utf-16be" => html.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            // The table holds known labels only (a test sees to it); UTF-8 would be the harmless way out.
            label => match encoding_rs::Encoding::for_label(label.as_bytes()) {
                Some(encoding) => encoding.encode(&html).0.into_owned(),
                None => html.into_bytes(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHARSETS, UTF8_META};

    const PAGE: &str = "<!DOCTYPE html><meta charset=\"utf-8\"><p>café £5, naïve</p>";

    #[test]
    fn every_charset_decodes_to_the_same_text() {
        for charset in &CHARSETS {
            let encoding = encoding_rs::Encoding::for_label(charset.label.as_bytes()).unwrap();
            let bytes = charset.encode(PAGE);
            let (text, _, errors) = encoding.decode(&bytes);
            assert!(!errors, "{}", charset.label);
            let text = text.replace("&#233;", "é").replace("&#239;", "ï").replace("&#163;", "£");
            assert!(text.ends_with("<p>café £5, naïve</p>"), "{}: {text}", charset.label);
            assert!(!text.contains(UTF8_META));
        }
    }
}
