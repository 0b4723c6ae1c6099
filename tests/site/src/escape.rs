//! How special characters are written in HTML.

use std::fmt::{Arguments, Write};

/// How special characters are written; a page keeps to one way.
#[derive(Clone, Copy)]
pub(crate) enum Escaping {
    /// Only what HTML demands.
    Plain,
    /// Named and numeric entities wherever there is one.
    Entities,
}

pub(crate) fn escape(text: &str, way: Escaping) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        let entity = match (c, way) {
            ('&', _) => "&amp;",
            ('<', _) => "&lt;",
            ('>', _) => "&gt;",
            ('"', _) => "&quot;",
            ('\'', Escaping::Entities) => "&#39;",
            ('é', Escaping::Entities) => "&eacute;",
            ('É', Escaping::Entities) => "&Eacute;",
            ('ü', Escaping::Entities) => "&#xFC;",
            ('—', Escaping::Entities) => "&mdash;",
            ('“', Escaping::Entities) => "&ldquo;",
            ('”', Escaping::Entities) => "&#8221;",
            _ => {
                escaped.push(c);
                continue;
            }
        };
        escaped.push_str(entity);
    }
    escaped
}

/// Writing to a `String` cannot fail.
pub(crate) fn put(html: &mut String, text: Arguments<'_>) {
    let _ = html.write_fmt(text);
}
