//! From what is written to what is meant: character references and line ends.

use std::borrow::Cow;

/// Text with `\r\n` and `\r` read as `\n`.
pub(super) fn line_ends(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\r') {
        decoded.push_str(before);
        decoded.push('\n');
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The text between tags. Line ends come first: a reference may stand for a `\r` that is to stay.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    match line_ends(text) {
        Cow::Borrowed(text) => htmlize::unescape(text),
        Cow::Owned(text) => Cow::Owned(htmlize::unescape(text).into_owned()),
    }
}

/// The value of an attribute, where some references are none.
pub(super) fn attribute(value: &str) -> Cow<'_, str> {
    match line_ends(value) {
        Cow::Borrowed(value) => htmlize::unescape_attribute(value),
        Cow::Owned(value) => Cow::Owned(htmlize::unescape_attribute(value).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_one_character() {
        assert_eq!(line_ends("a\r\nb\rc\r\r\n\nd\r"), "a\nb\nc\n\n\nd\n");
        assert_eq!(text("a\r\n&amp;&#13;"), "a\n&\r");
        assert_eq!(attribute("a&ampb=&amp;"), "a&ampb=&");
    }
}
