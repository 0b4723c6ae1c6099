//! The media type of a page, where the server names none.
//!
//! Decision: what a server declares is believed. Only without a usable declaration is the body looked at, and only as far as the crawler
//! cares: HTML, XML, other text, or not text. Guessing more would be guessing against the server.

use nephila_model::ContentType;

/// How far the body is looked at.
const LOOK: usize = 1_024;

/// The declared media type, or else what the body looks like; `None` for an empty body without one.
pub(crate) fn content_type(declared: Option<&str>, body: &[u8]) -> Option<ContentType> {
    // `*/*` and `unknown/unknown` are what servers send that do not know (MIME Sniffing, section 7).
    let declared = declared
        .and_then(ContentType::parse)
        .filter(|parsed| !matches!(parsed.essence.as_str(), "*/*" | "unknown/unknown" | "application/unknown"));
    if declared.is_some() || body.is_empty() {
        return declared;
    }
    Some(ContentType { essence: look(body).to_owned(), charset: None })
}

fn look(body: &[u8]) -> &'static str {
    let utf_16 = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let starts_with = |tag: &[u8]| start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    if [&b"<!doctype html"[..], b"<html", b"<head", b"<body", b"<!--"].iter().any(|tag| starts_with(tag)) {
        "text/html"
    } else if starts_with(b"<?xml") {
        "text/xml"
    } else if !utf_16 && body[..body.len().min(LOOK)].iter().any(|byte| is_binary(*byte)) {
        "application/octet-stream"
    } else {
        "text/plain"
    }
}

/// Bytes that no text has (MIME Sniffing, "binary data byte"); escape is one of ISO-2022-JP's.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_declared_is_believed_and_the_rest_looked_at() {
        let essence = |declared, body: &[u8]| content_type(declared, body).map(|found| found.essence);
        for (declared, body, expected) in [
            (Some("text/plain"), &b"<html>"[..], Some("text/plain")),
            (Some("Text/HTML; charset=x"), b"\0", Some("text/html")),
            (Some("nonsense"), b"<html>", Some("text/html")),
            (Some("*/*"), b"<html>", Some("text/html")),
            (None, b"<!DOCTYPE HTML PUBLIC", Some("text/html")),
            (None, b"\n\t <HtMl lang=de>", Some("text/html")),
            (None, b"\xef\xbb\xbf<head>", Some("text/html")),
            (None, b"<body>", Some("text/html")),
            (None, b"<!-- x -->", Some("text/html")),
            (None, b"<?xml version='1.0'?>", Some("text/xml")),
            (None, b"{\"a\": 1}", Some("text/plain")),
            (None, b"gr\xfcn", Some("text/plain")),
            (None, b"\xff\xfea\0b\0", Some("text/plain")),
            (None, b"\x89PNG\r\n\x1a\n\0\0", Some("application/octet-stream")),
            (None, b"", None),
        ] {
            assert_eq!(essence(declared, body).as_deref(), expected, "{declared:?} {body:?}");
        }
    }
}
