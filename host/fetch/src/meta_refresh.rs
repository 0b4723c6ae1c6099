//! `<meta http-equiv="refresh">`: redirects that stand in the page.
//!
//! Decision: read as browsers with scripts do (HTML standard, "shared declarative refresh steps"): the first one counts, what is inside
//! comments, scripts, `<noscript>` and `<template>` does not, and a `<base>` only if it comes before. Longer delays than Scrapy's limit are
//! pages that reload, not redirects. A scan for a rare letter keeps the price for all other pages at less than that of a copy. A
//! target that cannot be followed leaves the page a page.

use lol_html::html_content::Element;
use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, MemorySettings, Settings, element};
use nephila_model::{Page, parse_target};
use std::cell::{Cell, RefCell};
use url::Url;

/// Seconds after which a refresh still counts as a redirect.
const MAX_DELAY: u64 = 100;

/// What the tokenizer may buffer.
const MAX_MEMORY: usize = 1 << 20;

/// Where a page leads by itself, if it does.
pub(crate) fn target(page: &Page) -> Option<Url> {
    if !(200..300).contains(&page.status) || !page.is_html() {
        return None;
    }
    let encoding = page.charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes())).unwrap_or(encoding_rs::UTF_8);
    // The tokenizer reads ASCII supersets; UTF-16 and ISO-2022-JP are decoded for it.
    let (encoding, html) = match AsciiCompatibleEncoding::new(encoding) {
        Some(encoding) => (encoding, &page.body[..]),
        None => (AsciiCompatibleEncoding::utf_8(), page.decoded().as_bytes()),
    };
    if !may_refresh(html) {
        return None;
    }
    let content = first_refresh(html, encoding, &page.url)?;
    (content != page.url).then_some(content)
}

/// Whether `http-equiv=refresh` occurs in some quoting. It is looked for by its rarest letter.
fn may_refresh(html: &[u8]) -> bool {
    memchr::memchr2_iter(b'q', b'Q', html).any(|q| {
        let Some(name) = q.checked_sub(6).and_then(|start| html.get(start..start + 10)) else { return false };
        let after = &html[q + 1..];
        name.eq_ignore_ascii_case(b"http-equiv")
            && after.get(3..).is_some_and(|after| {
                let after = after.trim_ascii_start();
                let Some(after) = after.strip_prefix(b"=") else { return false };
                let after = after.trim_ascii_start();
                let after = after.strip_prefix(b"\"").or_else(|| after.strip_prefix(b"'")).unwrap_or(after);
                after.get(..7).is_some_and(|value| value.eq_ignore_ascii_case(b"refresh"))
            })
    })
}

fn first_refresh(html: &[u8], encoding: AsciiCompatibleEncoding, url: &Url) -> Option<Url> {
    let base: RefCell<Option<Url>> = RefCell::new(None);
    let found: RefCell<Option<Url>> = RefCell::new(None);
    let in_template = Cell::new(false);

    let settings = Settings::new()
        .with_encoding(encoding)
        .with_strict(false)
        .with_memory_settings(
            MemorySettings::new().with_preallocated_parsing_buffer_size(0).with_max_allowed_memory_usage(MAX_MEMORY),
        )
        .append_element_content_handler(element!("template base, template meta", |_: &mut Element<'_, '_>| {
            in_template.set(true);
            Ok(())
        }))
        .append_element_content_handler(element!("base[href]", |element: &mut Element<'_, '_>| {
            if !in_template.take() && base.borrow().is_none() {
                *base.borrow_mut() = attribute(element, "href").and_then(|href| url.join(&href).ok());
            }
            Ok(())
        }))
        .append_element_content_handler(element!("meta", |element: &mut Element<'_, '_>| {
            if in_template.take() || !attribute(element, "http-equiv").is_some_and(|value| value.eq_ignore_ascii_case("refresh"))
            {
                return Ok(());
            }
            let Some(content) = attribute(element, "content") else { return Ok(()) };
            let Some((delay, target)) = parse(&content) else { return Ok(()) };
            if delay <= MAX_DELAY && !target.is_empty() {
                let base = base.borrow();
                *found.borrow_mut() = parse_target(target, Some(base.as_ref().unwrap_or(url))).ok();
            }
            // The first one counts, whatever it says: an error ends the pass.
            Err("seen".into())
        }));

    let mut pass = HtmlRewriter::new(settings, |_: &[u8]| {});
    // The error is ours, or the tokenizer's about its memory: then there is no refresh as far as it came.
    let _ = pass.write(html).and_then(|()| pass.end());
    found.into_inner()
}

fn attribute(element: &Element<'_, '_>, name: &str) -> Option<String> {
    element.get_attribute(name).map(|value| htmlize::unescape_attribute(value).into_owned())
}

/// Seconds and URL of a `content`; the URL is empty where there is none.
fn parse(content: &str) -> Option<(u64, &str)> {
    let content = content.trim_ascii_start();
    let digits = content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 && !content.starts_with('.') {
        return None;
    }
    // So many seconds that they do not fit are too many in any case.
    let delay = if digits == 0 { 0 } else { content[..digits].parse().unwrap_or(u64::MAX) };
    let rest = content[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.is_empty() && !rest.starts_with(|c: char| c == ';' || c == ',' || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let named = rest
        .get(..3)
        .filter(|word| word.eq_ignore_ascii_case("url"))
        .and_then(|_| rest[3..].trim_ascii_start().strip_prefix('='));
    let rest = named.map_or(rest, str::trim_ascii_start);
    let url = match rest.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => rest[1..].split(char::from(*quote)).next().unwrap_or_default(),
        _ => rest,
    };
    Some((delay, url.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use nephila_model::{ContentType, Timings};
    use std::sync::OnceLock;

    fn page(body: Vec<u8>, charset: &'static str) -> Page {
        Page {
            url: Url::parse("http://example.com/a/b").expect("a URL"),
            status: 200,
            headers: Vec::new(),
            content_type: ContentType::parse("text/html"),
            body: Bytes::from(body),
            charset: Some(charset),
            chain: Vec::new(),
            timings: Timings::default(),
            text: OnceLock::new(),
        }
    }

    fn leads_to(html: &str) -> Option<String> {
        target(&page(html.into(), "UTF-8")).map(String::from)
    }

    #[test]
    fn a_refresh_is_read_in_every_way_that_it_is_written() {
        for (html, expected) in [
            ("<meta http-equiv=refresh content='0;url=/x'>", "/x"),
            (r#"<META HTTP-EQUIV="Refresh" CONTENT="5; URL=/x">"#, "/x"),
            (r#"<meta content="0; url=/x" http-equiv="refresh"/>"#, "/x"),
            (r#"<meta http-equiv = 'REFRESH' content="0;URL='/x'">"#, "/x"),
            (r#"<meta http-equiv="refresh" content='0; url="/x" trailing'>"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0;/x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0 /x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0,url = /x ">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="1.5;url=/x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content=".5;url=/x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="100;url=/x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0;url=c?d=1&amp;e=2#f">"#, "/a/c?d=1&e=2"),
            (r#"<meta http-equiv="refresh" content="0;url=/x?a=1&copy=2">"#, "/x?a=1&copy=2"),
            (r#"<meta http-equiv="refresh" content="0;url=&#x2f;x">"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0;url=urlaub">"#, "/a/urlaub"),
            (r#"<meta http-equiv="refresh" content="0;url">"#, "/a/url"),
            (r#"<base href="/other/"><meta http-equiv="refresh" content="0;url=x">"#, "/other/x"),
            (r#"<meta http-equiv="refresh" content="0;url=x"><base href="/other/">"#, "/a/x"),
            (r#"<template><base href="/no/"></template><meta http-equiv=refresh content=0;url=x>"#, "/a/x"),
            (r#"<template><meta name=a></template><meta http-equiv=refresh content=0;url=x>"#, "/a/x"),
            (r#"<meta http-equiv="refresh"><meta http-equiv="refresh" content="0;url=/x">"#, "/x"),
            (r#"<body><p>Moved<div><meta http-equiv="refresh" content="0;url=/x"></div>"#, "/x"),
            (r#"<meta http-equiv="refresh" content="0;url=/x"><meta http-equiv="refresh" content="0;url=/y">"#, "/x"),
        ] {
            assert_eq!(leads_to(html), Some(format!("http://example.com{expected}")), "{html}");
        }
    }

    #[test]
    fn what_is_no_redirect_stays_a_page() {
        for html in [
            r#"<meta http-equiv="refresh" content="101;url=/x">"#,
            r#"<meta http-equiv="refresh" content="99999999999999999999999;url=/x">"#,
            r#"<meta http-equiv="refresh" content="30">"#,
            r#"<meta http-equiv="refresh" content="0;url=">"#,
            r#"<meta http-equiv="refresh" content="soon;url=/x">"#,
            r#"<meta http-equiv="refresh" content="0x;url=/x">"#,
            r#"<meta http-equiv="refresh" content="">"#,
            r#"<meta http-equiv="refresh" content="0;url=/a/b#top">"#,
            r#"<meta http-equiv="refresh" content="0;url=javascript:x()">"#,
            r#"<meta http-equiv="refresh" content="0;url=http://">"#,
            r#"<meta http-equiv="refresh" content="30"><meta http-equiv="refresh" content="0;url=/x">"#,
            r#"<!-- <meta http-equiv="refresh" content="0;url=/x"> -->"#,
            r#"<noscript><meta http-equiv="refresh" content="0;url=/x"></noscript>"#,
            r#"<template><p><meta http-equiv="refresh" content="0;url=/x"></p></template>"#,
            r#"<script>"<meta http-equiv='refresh' content='0;url=/x'>"</script>"#,
            r#"<title><meta http-equiv="refresh" content="0;url=/x"></title>"#,
            r#"<textarea><meta http-equiv="refresh" content="0;url=/x"></textarea>"#,
            r#"<style><meta http-equiv="refresh" content="0;url=/x"></style>"#,
            r#"<p title='<meta http-equiv="refresh" content="0;url=/x">'>"#,
            r#"<meta name="refresh" content="0;url=/x">"#,
            r#"<meta http-equiv="content-type" content="0;url=/x"> http-equiv=refresh"#,
            r#"&lt;meta http-equiv="refresh" content="0;url=/x"&gt;"#,
            "",
            "q http-equiv",
        ] {
            assert_eq!(leads_to(html), None, "{html}");
        }
    }

    #[test]
    fn only_successful_html_pages_are_searched_in_any_encoding() {
        let html = r#"<meta http-equiv="refresh" content="0;url=/grün">"#;
        let mut other = page(html.into(), "UTF-8");
        other.status = 404;
        assert_eq!(target(&other), None);
        other.status = 200;
        other.content_type = ContentType::parse("text/plain");
        assert_eq!(target(&other), None);

        let expected = Some("http://example.com/gr%C3%BCn".to_owned());
        let utf_16: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(target(&page(utf_16, "UTF-16LE")).map(String::from), expected);
        let latin_1: Vec<u8> = html.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
        assert_eq!(target(&page(latin_1, "windows-1252")).map(String::from), expected);
    }
}
