//! Small tools for the text of pages. No regular expressions: those alone would outweigh most plugins.

use serde::{Deserialize, Deserializer};

/// The first number in a text: `£51.77` gives 51.77, `In stock (22 available)` gives 22, `-3` gives -3.
///
/// Commas between groups of three digits are passed over (`1,234.5` gives 1234.5); a comma is no decimal point.
///
/// ```
/// use nephila_sdk::text;
/// assert_eq!(text::number("£1,051.77 each"), Some(1051.77));
/// assert_eq!(text::number("none"), None);
/// ```
pub fn number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(u8::is_ascii_digit)?;
    let mut plain = String::new();
    if start > 0 && bytes[start - 1] == b'-' && !bytes[..start - 1].last().is_some_and(u8::is_ascii_alphanumeric) {
        plain.push('-');
    }
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut fraction = false;
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(digit) if digit.is_ascii_digit() => plain.push(char::from(*digit)),
            Some(b'.') if !fraction && digit_at(at + 1) => {
                fraction = true;
                plain.push('.');
            }
            Some(b',') if !fraction && (1..=3).all(|next| digit_at(at + next)) && !digit_at(at + 4) => {}
            _ => break,
        }
        at += 1;
    }
    plain.parse().ok()
}

/// For a field of a struct: `#[serde(deserialize_with = "text::first_number")]` reads it with [`number`].
///
/// A value that is a number already is taken as it is, so that the struct can be read back from a dataset.
pub fn first_number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Found {
        Number(f64),
        Text(String),
    }
    match Found::deserialize(from)? {
        Found::Number(value) => Ok(value),
        Found::Text(text) => number(&text).ok_or_else(|| serde::de::Error::custom(format!("there is no number in `{text}`"))),
    }
}

/// The part of a text between two others, trimmed: `between("In stock (22 available)", "(", "available")` gives `22`.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inner, _)| inner.trim())
}

/// Fields as a form or a query has them: `[("q", "R. & S.")]` gives `q=R.+%26+S.` ([`Request::form`](crate::Request::form) sends
/// them).
pub fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut written = String::new();
    for (name, value) in fields {
        if !written.is_empty() {
            written.push('&');
        }
        put_encoded(&mut written, name);
        written.push('=');
        put_encoded(&mut written, value);
    }
    written
}

/// As the URL standard has it for forms: a space is a plus, and what is no letter, no digit and none of four marks is encoded.
fn put_encoded(written: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b' ' => written.push('+'),
            b'*' | b'-' | b'.' | b'_' => written.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => written.push(char::from(byte)),
            _ => {
                let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]].map(char::from);
                written.push('%');
                written.extend(digits);
            }
        }
    }
}

/// A URL without its query and fragment.
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_text_is_found() {
        let cases = [
            ("£51.77", Some(51.77)),
            ("In stock (22 available)", Some(22.0)),
            ("-3 °C", Some(-3.0)),
            ("ISBN-10", Some(10.0)),
            ("1,234,567.5", Some(1_234_567.5)),
            ("1,2", Some(1.0)),
            ("7. place", Some(7.0)),
            ("1.2.3", Some(1.2)),
            ("none", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Priced {
        #[serde(deserialize_with = "first_number")]
        price: f64,
    }

    #[test]
    fn a_number_is_read_from_a_row_and_from_json() {
        let priced = Priced { price: 51.77 };
        assert_eq!(crate::Row::from([("price", "£51.77")]).into(), Ok(Priced { price: 51.77 }));
        assert_eq!(serde_json::from_str(r#"{"price": 51.77}"#).ok(), Some(priced));
    }

    #[test]
    fn a_form_is_written_as_a_browser_writes_it() {
        assert_eq!(form([("author", "É. O'N."), ("a&b", "c=d*-._~")]), "author=%C3%89.+O%27N.&a%26b=c%3Dd*-._%7E");
        assert_eq!(form([]), "");
    }

    #[test]
    fn parts_of_a_text_are_found() {
        assert_eq!(between("In stock (22 available)", "(", "available"), Some("22"));
        assert_eq!(between("In stock", "(", ")"), None);
        assert_eq!(without_query("http://a/b?c=1#d"), "http://a/b");
        assert_eq!(without_query("http://a/b#d?"), "http://a/b");
    }
}
