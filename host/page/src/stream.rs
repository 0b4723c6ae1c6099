//! What one pass over a page's tags gives: links, title, base.
//!
//! Decision: `lol_html`, which tokenises as browsers do and builds no tree; a seventh of what parsing costs. It leaves entities
//! as they are, so that they are decoded here. The cost is that it sees tags, not elements: a link that the tree builder would
//! move or drop is found where it stands.

use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};
use std::cell::RefCell;

/// Links that are kept of one page; what a page has beyond is left out, and said.
pub(crate) const MOST_LINKS: usize = 100_000;

/// Bytes of a title; what is longer is cut.
pub(crate) const TITLE: usize = 64 << 10;

/// A link as the page has it, entities decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawLink {
    pub(crate) href: String,
    pub(crate) rel: String,
}

/// What the pass found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Of `a[href]` and `area[href]`, in order.
    pub(crate) links: Vec<RawLink>,
    /// The text of the first `<title>`, white space collapsed.
    pub(crate) title: Option<String>,
    /// The `href` of the first `<base>` that has one.
    pub(crate) base: Option<String>,
}

/// Titles that are looked at; the page's own comes first but for a few pictures.
const MOST_TITLES: usize = 64;

/// The first titles, in order.
#[derive(Default)]
struct Titles {
    /// Where each begins, and its text.
    found: Vec<(usize, String)>,
    /// Where those of pictures begin.
    of_pictures: Vec<usize>,
    /// Whether text belongs to the last of them.
    open: bool,
}

impl Scan {
    pub(crate) fn of(text: &str) -> Self {
        let found = RefCell::new(Self::default());
        let titles = RefCell::new(Titles::default());
        let attribute = |value: String| htmlize::unescape_attribute(value).into_owned();
        let settings = Settings::new()
            .append_element_content_handler(element!("a[href], area[href]", |link| {
                let mut found = found.borrow_mut();
                if found.links.len() < MOST_LINKS {
                    let href = attribute(link.get_attribute("href").unwrap_or_default());
                    let rel = link.get_attribute("rel").map(attribute).unwrap_or_default().to_lowercase();
                    found.links.push(RawLink { href, rel });
                }
                Ok(())
            }))
            .append_element_content_handler(element!("base[href]", |base| {
                let mut found = found.borrow_mut();
                if found.base.is_none() {
                    found.base = base.get_attribute("href").map(attribute);
                }
                Ok(())
            }))
            .append_element_content_handler(element!("svg title, math title", |title| {
                let mut titles = titles.borrow_mut();
                if titles.of_pictures.len() < MOST_TITLES {
                    titles.of_pictures.push(title.source_location().bytes().start);
                }
                Ok(())
            }))
            .append_element_content_handler(element!("title", |title| {
                let mut titles = titles.borrow_mut();
                titles.open = titles.found.len() < MOST_TITLES;
                if titles.open {
                    titles.found.push((title.source_location().bytes().start, String::new()));
                }
                Ok(())
            }))
            .append_element_content_handler(text!("title", |chunk| {
                let mut titles = titles.borrow_mut();
                if titles.open
                    && let Some((_, text)) = titles.found.last_mut()
                    && text.len() < TITLE
                {
                    text.push_str(chunk.as_str());
                }
                Ok(())
            }))
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(16 << 20))
            .with_strict(false);
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        // What was found up to an error counts: a tag too large to be buffered is no page that anyone wrote.
        let ended = rewriter.write(text.as_bytes()).and_then(|()| rewriter.end());
        if let Err(error) = ended {
            tracing::debug!(error = %error, "a page was not scanned to its end");
        }
        let mut found = found.into_inner();
        if found.links.len() == MOST_LINKS {
            tracing::warn!(kept = MOST_LINKS, "a page has more links than are kept");
        }
        let Titles { found: titles, of_pictures, .. } = titles.into_inner();
        let title = titles.into_iter().find(|(start, _)| !of_pictures.contains(start));
        found.title = title.map(|(_, text)| collapse(&htmlize::unescape(text)));
        found
    }
}

/// Text with its white space collapsed and trimmed.
pub(crate) fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    collapse_into(text, &mut collapsed, &mut false);
    collapsed
}

/// Appends text with its white space collapsed; `pending` says whether white space stands between what was and what comes.
pub(crate) fn collapse_into(text: &str, into: &mut String, pending: &mut bool) {
    let bytes = text.as_bytes();
    let mut add = |word: &str, pending: &mut bool| {
        if !word.is_empty() {
            if *pending && !into.is_empty() {
                into.push(' ');
            }
            into.push_str(word);
            *pending = false;
        }
    };
    let (mut word, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let (is_space, width) = if byte.is_ascii() {
            (matches!(byte, b'\t'..=b'\r' | b' '), 1)
        } else {
            text[at..].chars().next().map_or((false, 1), |c| (c.is_whitespace(), c.len_utf8()))
        };
        if is_space {
            add(&text[word..at], pending);
            *pending = true;
            word = at + width;
        }
        at += width;
    }
    add(&text[word..], pending);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pass_finds_links_title_and_base_with_entities_decoded() {
        let scan = Scan::of(
            "<svg><title>icon</title></svg><title> A &amp;\n B </title><title>second</title>\
             <base target=_top><base href='/x/'><base href='/y/'>\
             <a href='a?b=1&amp;c=2' rel='NOFOLLOW ugc'>x</a><a name=z>no</a><AREA HREF=area>\
             <!-- <a href=comment> --><script>'<a href=script>'</script><textarea><a href=text></textarea>\
             <select><xmp></select><a href='after'",
        );
        let hrefs: Vec<_> = scan.links.iter().map(|link| (link.href.as_str(), link.rel.as_str())).collect();
        assert_eq!(hrefs[..2], [("a?b=1&c=2", "nofollow ugc"), ("area", "")]);
        assert!(!hrefs.iter().any(|(href, _)| ["comment", "script", "text"].contains(href)), "{hrefs:?}");
        assert_eq!(scan.title.as_deref(), Some("A & B"));
        assert_eq!(scan.base.as_deref(), Some("/x/"));
        let nothing = Scan::of("{\"json\": 1}");
        assert_eq!((nothing.links.len(), nothing.title, nothing.base), (0, None, None));
    }

    #[test]
    fn white_space_is_collapsed_across_pieces() {
        let (mut text, mut pending) = (String::new(), false);
        for piece in ["  a", "b ", "\u{a0}\n", "c  d", " "] {
            collapse_into(piece, &mut text, &mut pending);
        }
        assert_eq!(text, "ab c d");
        assert_eq!(collapse(" \n "), "");
    }
}
