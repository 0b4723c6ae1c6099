//! What a document says of its own encoding.
//!
//! Decision: the HTML standard's "prescan a byte stream", by hand: it looks at 1,024 bytes, knows tags and comments but no scripts, and
//! must work before there is an encoding to parse with. A parser could not be right here, only slower.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far into a document its declaration must be.
const LOOK: usize = 1_024;

/// The encoding of the first `<meta charset>` or `<meta http-equiv="content-type">` that names one.
pub(crate) fn meta(body: &[u8]) -> Option<&'static Encoding> {
    let mut rest = &body[..body.len().min(LOOK)];
    loop {
        rest = &rest[memchr::memchr(b'<', rest)?..];
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            // `<!-->` is a whole comment.
            let end = memchr::memmem::find(&rest[2..], b"-->")?;
            rest = if end == 0 { &comment[1..] } else { &rest[2 + end + 3..] };
        } else if is_meta(rest) {
            let mut attributes = Attributes { rest: &rest[5..] };
            if let Some(encoding) = declared(&mut attributes) {
                return Some(encoding);
            }
            rest = attributes.rest;
        } else if rest.get(1).is_some_and(u8::is_ascii_alphabetic)
            || (rest.get(1) == Some(&b'/') && rest.get(2).is_some_and(u8::is_ascii_alphabetic))
        {
            let name = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
            let mut attributes = Attributes { rest: &rest[name..] };
            attributes.by_ref().for_each(drop);
            rest = attributes.rest;
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            rest = &rest[memchr::memchr(b'>', rest)?..];
        } else {
            rest = &rest[1..];
        }
    }
}

/// The encoding that an XML declaration names.
pub(crate) fn xml_declaration(body: &[u8]) -> Option<&'static Encoding> {
    let body = &body[..body.len().min(LOOK)];
    let declaration = body.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let value = &declaration[memchr::memmem::find(declaration, b"encoding")? + 8..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    labelled(&value[..memchr::memchr(*quote, value)?])
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

/// What one `<meta>` declares.
fn declared(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    let (mut charset, mut content, mut is_content_type) = (None, None, false);
    for (name, value) in attributes.by_ref() {
        if name.eq_ignore_ascii_case(b"charset") {
            charset = charset.or(Some(value));
        } else if name.eq_ignore_ascii_case(b"content") {
            content = content.or_else(|| of_content(value));
        } else if name.eq_ignore_ascii_case(b"http-equiv") {
            is_content_type |= value.eq_ignore_ascii_case(b"content-type");
        }
    }
    charset.or(content.filter(|_| is_content_type)).and_then(labelled)
}

/// The charset in `text/html; charset=…` ("extracting a character encoding from a meta element").
fn of_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let at = rest.windows(7).position(|window| window.eq_ignore_ascii_case(b"charset"))?;
        rest = &rest[at + 7..];
        if let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            return match value.split_first()? {
                (quote @ (b'"' | b'\''), value) => Some(&value[..memchr::memchr(*quote, value)?]),
                _ => Some(value.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next().unwrap_or(value)),
            };
        }
    }
}

/// A label that could be read is not in UTF-16, whatever it says.
fn labelled(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label_no_replacement(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding.name() == "x-user-defined" {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// The attributes of a tag whose name has been read. At the tag's end `rest` begins with `>`; where the look ends inside the tag, it is
/// empty, for nothing in there is a tag of its own.
struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    fn read(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        // A `=` at the beginning is part of the name.
        let end = 1 + self.rest[1..].iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/' | b'>'))?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { return Some((name, b"")) };
        let value = value.trim_ascii_start();
        match value.first()? {
            quote @ (b'"' | b'\'') => {
                let end = memchr::memchr(*quote, &value[1..])?;
                self.rest = &value[end + 2..];
                Some((name, &value[1..=end]))
            }
            _ => {
                let end = value.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
                self.rest = &value[end..];
                Some((name, &value[..end]))
            }
        }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/').unwrap_or(self.rest.len());
        self.rest = &self.rest[start..];
        if self.rest.first().is_none_or(|byte| *byte == b'>') {
            return None;
        }
        let read = self.read();
        if read.is_none() {
            self.rest = &[];
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Option<&'static str> {
        meta(html.as_bytes()).map(Encoding::name)
    }

    #[test]
    fn declarations_are_found_as_browsers_find_them() {
        for html in [
            "<meta charset=koi8-r>",
            "<META CHARSET = 'KOI8-R'/>",
            "<!doctype html><html lang='a>b'><head><title>x</title><meta charset=\"koi8-r\">",
            "<!-- <meta charset=utf-8> --><meta charset=koi8-r>",
            "<!--><meta charset=koi8-r>-->",
            "<meta name=a content='charset=utf-8'><meta charset=koi8-r>",
            "<meta content='text/html; charset=koi8-r' http-equiv=Content-Type>",
            "<meta http-equiv=\"content-type\" content=\"text/html; charset = 'koi8-r' \">",
            "<meta http-equiv='content-type' content='charset charset=koi8-r;x'>",
            "<meta charset=no-such><meta charset=koi8-r>",
            "<meta/charset=koi8-r>",
            "<? <meta charset=utf-8> <p title=\"<meta charset=utf-8>\"></p x='>'><meta charset=koi8-r>",
            "< a <3 <meta charset=koi8-r>",
        ] {
            assert_eq!(found(html), Some("KOI8-R"), "{html}");
        }
        assert_eq!(found("<meta charset=UTF-16BE>"), Some("UTF-8"));
        assert_eq!(found("<meta charset=x-user-defined>"), Some("windows-1252"));
    }

    #[test]
    fn where_there_is_none_none_is_found() {
        for html in [
            "",
            "<",
            "<meta",
            "<meta charset",
            "<meta charset=",
            "<meta charset='utf-8",
            "<metadata charset=utf-8>",
            "<!-- <meta charset=utf-8>",
            "<p title='<meta charset=utf-8>",
            "<meta content='text/html; charset=utf-8'>",
            "<meta http-equiv=refresh content='text/html; charset=utf-8'>",
        ] {
            assert_eq!(found(html), None, "{html}");
        }
        assert_eq!(found(&format!("{}<meta charset=utf-8>", " ".repeat(LOOK - 10))), None);
    }

    #[test]
    fn no_cut_of_a_document_makes_the_scan_fail() {
        let html =
            "<!doctype html><!-- a --><html a='b' c=\"d\" e = f><meta http-equiv='content-type' content='x; charset=y'></a >";
        for end in 0..=html.len() {
            for start in 0..end {
                assert_eq!(meta(&html.as_bytes()[start..end]), None);
            }
        }
        assert_eq!(xml_declaration(b"<?xml encoding"), None);
        assert_eq!(xml_declaration(b"<?xml encoding=\"utf-8>"), None);
    }
}
