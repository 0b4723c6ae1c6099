//! JSON that comes from a plugin: checked, never rewritten more than it must be.
//!
//! Decision: what is stored is the plugin's own text, so that long numbers and the order of keys survive; it is checked to be
//! what every reader downstream will accept (depth, number ranges, surrogates), and put on one line where it is not. The
//! check builds no values.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Whether the text is JSON that `serde_json::Value` would take; if not, why not.
pub(crate) fn check(text: &str) -> Result<(), String> {
    serde_json::from_str::<Checked>(text).map(|_| ()).map_err(|error| error.to_string())
}

/// Whether the text is a JSON object; if not, why not.
pub(crate) fn check_object(text: &str) -> Result<(), String> {
    if !text.trim_start_matches(is_space).starts_with('{') {
        check(text)?;
        return Err("it is not an object; put it in one, as in {\"value\": …}".to_owned());
    }
    check(text)
}

/// Checked JSON in one line without white space around its tokens, if it has any line break; else as it is.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(is_space);
    if !text.contains(['\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if is_space(c) {
            continue;
        } else {
            in_string = c == '"';
        }
        line.push(c);
    }
    Cow::Owned(line)
}

/// The same of a text that need not be kept.
pub(crate) fn into_one_line(text: String) -> String {
    match one_line(&text) {
        Cow::Borrowed(same) if same.len() == text.len() => text,
        line => line.into_owned(),
    }
}

const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Checked, Checked>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_later_readers_would_refuse_is_refused_here() {
        for bad in ["", "{", "{\"a\":}", "nul", "1 2", "\"\\ud800\"", "1e999", "{a:1}", "\"\n\""] {
            assert!(check(bad).is_err(), "{bad}");
        }
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert!(check(&deep).is_err());
        for good in ["null", " {\"a\": [1, -2.5e3, true, \"\\u00e9\"]} ", "12345678901234567890123", "\"x\""] {
            assert_eq!(check(good), Ok(()), "{good}");
            assert!(serde_json::from_str::<serde_json::Value>(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn only_objects_are_items() {
        assert_eq!(check_object(" {\"a\":1}"), Ok(()));
        assert!(check_object("[1]").expect_err("an error").contains("not an object"));
        assert!(!check_object("[1").expect_err("an error").contains("not an object"));
    }

    #[test]
    fn json_comes_in_one_line_and_otherwise_unchanged() {
        assert_eq!(one_line(" {\"b\": 1.50, \"a\": 2}\n"), "{\"b\": 1.50, \"a\": 2}");
        assert_eq!(
            one_line("{\n  \"b \\\" \\\\\": \"x  y\",\r\n\t\"a\": 12345678901234567890}"),
            "{\"b \\\" \\\\\":\"x  y\",\"a\":12345678901234567890}"
        );
    }
}
