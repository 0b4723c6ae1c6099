//! Which encoding a body is in.
//!
//! Decision: byte order mark, then header, then what the document says of itself in its first 1,024 bytes, then a guess: the order of
//! the HTML standard. UTF-8 that declares nothing is recognised by being valid, which is nearly certain and one fast pass; only what is
//! neither is given to chardetng, of which a look at 64 KiB around the first foreign byte is enough.

use crate::prescan;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use nephila_model::{ContentType, Page};
use url::{Host, Url};

/// How much of a body is guessed from, and how much of that before the first byte that is not ASCII.
const GUESSED: usize = 64 << 10;
const BEFORE: usize = 1 << 10;

/// The encoding of a body; `None` for media types that are not text. `top_level_domain` helps the guess (`jp`).
#[must_use]
pub fn detect(content_type: Option<&ContentType>, body: &[u8], top_level_domain: Option<&str>) -> Option<&'static Encoding> {
    let kind = Kind::of(content_type)?;
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return Some(encoding);
    }
    let label = content_type.and_then(|declared| declared.charset.as_deref());
    if let Some(encoding) = label.and_then(|label| Encoding::for_label_no_replacement(label.trim().as_bytes())) {
        return Some(encoding);
    }
    let declared = match kind {
        Kind::Html => prescan::xml_declaration(body).or_else(|| prescan::meta(body)),
        Kind::Xml => prescan::xml_declaration(body),
        // RFC 8259: JSON is UTF-8.
        Kind::Json => Some(UTF_8),
        Kind::Other => None,
    };
    Some(declared.unwrap_or_else(|| guess(body, top_level_domain)))
}

/// A page's text, decoded once and only when somebody asks; what cannot be decoded becomes U+FFFD.
#[must_use]
pub fn text(page: &Page) -> &str {
    page.decoded()
}

/// The last label of a URL's hostname.
pub(crate) fn top_level_domain(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(name) => name.trim_end_matches('.').rsplit('.').next().filter(|label| !label.is_empty()),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

enum Kind {
    Html,
    Xml,
    Json,
    Other,
}

impl Kind {
    /// `None` for what is not text. A page without a media type is text: [`crate::sniff`] has looked at it.
    fn of(content_type: Option<&ContentType>) -> Option<Self> {
        let Some(content_type) = content_type else { return Some(Self::Other) };
        let essence = content_type.essence.as_str();
        if content_type.is_html() {
            return Some(Self::Html);
        }
        if essence.ends_with("/xml") || essence.ends_with("+xml") {
            return Some(Self::Xml);
        }
        if essence.ends_with("/json") || essence.ends_with("+json") {
            return Some(Self::Json);
        }
        let (family, subtype) = essence.split_once('/').unwrap_or((essence, ""));
        let is_text = match family {
            "text" => true,
            "application" => {
                subtype.contains("javascript")
                    || subtype.contains("ecmascript")
                    || matches!(
                        subtype,
                        "x-www-form-urlencoded" | "x-ndjson" | "jsonl" | "x-yaml" | "yaml" | "toml" | "sql" | "x-sh"
                    )
                    || (content_type.charset.is_some() && !matches!(subtype, "octet-stream" | "pdf" | "zip" | "gzip" | "wasm"))
            }
            _ => false,
        };
        is_text.then_some(Self::Other)
    }
}

fn guess(body: &[u8], top_level_domain: Option<&str>) -> &'static Encoding {
    let ascii = Encoding::ascii_valid_up_to(body);
    // In ISO-2022-JP escapes announce what looks like ASCII.
    let foreign = memchr::memchr(0x1b, &body[..ascii]).unwrap_or(ascii);
    if foreign == ascii && Encoding::utf8_valid_up_to(&body[ascii..]) == body.len() - ascii {
        return UTF_8;
    }
    if let Some(encoding) = utf_16_markup(body) {
        return encoding;
    }
    let start = foreign.saturating_sub(BEFORE);
    let end = body.len().min(start + GUESSED);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&body[start..end], end == body.len());
    // The detector panics on labels that are not lower-case ASCII.
    let label =
        top_level_domain.map(str::as_bytes).filter(|label| label.iter().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')));
    detector.guess(label, Utf8Detection::Allow)
}

/// XML's rule for UTF-16 without a byte order mark: it starts with `<?`.
fn utf_16_markup(body: &[u8]) -> Option<&'static Encoding> {
    if body.starts_with(b"<\0?\0") {
        Some(UTF_16LE)
    } else if body.starts_with(b"\0<\0?") {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_JP, GBK, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    fn detected(content_type: &str, body: &[u8], top_level_domain: Option<&str>) -> Option<&'static str> {
        detect(ContentType::parse(content_type).as_ref(), body, top_level_domain).map(|encoding| encoding.name())
    }

    fn in_encoding(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn mark_then_header_then_document_then_guess() {
        for (content_type, body, expected) in [
            ("text/html; charset=utf-8", &b"\xff\xfea\0"[..], "UTF-16LE"),
            ("text/html; charset=windows-1252", b"\xef\xbb\xbfx", "UTF-8"),
            ("text/html; charset=Shift_JIS", b"<meta charset=utf-8>", "Shift_JIS"),
            ("text/html; charset=latin1", b"<meta charset=utf-8>", "windows-1252"),
            ("text/html; charset=no-such", b"<meta charset=euc-kr>", "EUC-KR"),
            ("text/html; charset=iso-2022-kr", b"<meta charset=koi8-r>", "KOI8-R"),
            ("text/html", b"<meta charset=\"GBK\">", "GBK"),
            ("text/html", b"<meta http-equiv=Content-Type content='text/html; charset=big5'>", "Big5"),
            ("text/html", b"<meta charset=utf-16>", "UTF-8"),
            ("text/html", b"<?xml version='1.0' encoding='EUC-JP'?><html>", "EUC-JP"),
            ("application/xml", b"<?xml version=\"1.0\" encoding=\"ISO-8859-2\"?><a/>", "ISO-8859-2"),
            ("application/rss+xml", b"<?xml version=\"1.0\"?><a>gr\xc3\xbcn</a>", "UTF-8"),
            ("text/xml", b"<\0?\0x\0m\0l\0 \xfc\0", "UTF-16LE"),
            ("text/plain", b"<meta charset=gbk> ascii", "UTF-8"),
            ("text/plain", "grün".as_bytes(), "UTF-8"),
            ("application/json", b"{\"a\":\"\xfc\"}", "UTF-8"),
            ("application/ld+json", b"{}", "UTF-8"),
            ("application/javascript", b"x", "UTF-8"),
            ("application/vnd.x; charset=windows-1251", b"x", "windows-1251"),
            ("text/html", b"", "UTF-8"),
        ] {
            assert_eq!(detected(content_type, body, None), Some(expected), "{content_type} {}", body.escape_ascii());
        }
    }

    #[test]
    fn what_declares_nothing_is_guessed() {
        let russian = "Съешь же ещё этих мягких французских булок, да выпей чаю. ";
        let japanese = "これは日本語のページです。文字コードを自動的に判別するために、ふつうの文章が書いてあります。";
        let chinese = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏";
        let taiwanese = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏";
        for (encoding, text, top_level_domain) in [
            (WINDOWS_1251, russian, None),
            (SHIFT_JIS, japanese, None),
            (EUC_JP, japanese, Some("jp")),
            (ISO_2022_JP, japanese, None),
            (GBK, chinese, Some("cn")),
            (BIG5, taiwanese, Some("tw")),
            (WINDOWS_1252, "Falsches Üben von Xylophonmusik quält jeden größeren Zwerg", Some("de")),
        ] {
            let body = in_encoding(encoding, text);
            assert_eq!(detected("text/html", &body, top_level_domain), Some(encoding.name()), "{text}");
            // The first foreign byte may come late.
            let late = [&vec![b'x'; 200_000][..], &body].concat();
            assert_eq!(detected("text/html", &late, top_level_domain), Some(encoding.name()), "late: {text}");
        }
        // Labels that the detector would not take do no harm.
        for label in ["DE", "d.e", "é", ""] {
            assert!(detected("text/html", b"gr\xfcn", Some(label)).is_some());
        }
    }

    #[test]
    fn what_is_not_text_has_no_encoding() {
        for content_type in [
            "image/png",
            "application/octet-stream",
            "application/pdf",
            "video/mp4",
            "font/woff2",
            "application/octet-stream; charset=utf-8",
            "application/zip",
        ] {
            assert_eq!(detected(content_type, b"\xef\xbb\xbfabc", None), None, "{content_type}");
        }
        assert_eq!(detected("image/svg+xml", b"<svg/>", None), Some("UTF-8"));
    }

    #[test]
    fn the_top_level_domain_is_the_last_label_of_a_name() {
        for (url, expected) in [
            ("http://example.co.jp/", Some("jp")),
            ("http://example.de./", Some("de")),
            ("http://localhost/", Some("localhost")),
            ("http://127.0.0.1/", None),
            ("http://[::1]/", None),
            ("http://пример.рф/", Some("xn--p1ai")),
        ] {
            assert_eq!(top_level_domain(&Url::parse(url).expect("a URL")), expected);
        }
    }
}
