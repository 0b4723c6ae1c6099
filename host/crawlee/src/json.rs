//! JSON text, laid out anew without being taken apart.
//!
//! Decision: a value of the state is checked and then copied token by token, so that what it holds comes out as it went in: the order
//! of its fields, numbers beyond 64 bits, a zero after the point. The price is a second layout of JSON beside serde's, of one page.

use serde::de::IgnoredAny;
use std::io::{self, Write};

/// What one level is set in by.
const INDENT: &str = "  ";

/// Writes JSON text in many lines, as a value at this depth of a document. Nothing is written if it is not JSON.
pub(crate) fn write_pretty(out: &mut dyn Write, json: &str, mut depth: usize) -> io::Result<()> {
    serde_json::from_str::<IgnoredAny>(json)?;
    let mut rest = json;
    while let Some((token, after)) = next_token(rest) {
        let next = next_token(after).map(|(next, _)| next);
        match token {
            "{" | "[" if matches!(next, Some("}" | "]")) => out.write_all(token.as_bytes())?,
            "{" | "[" => {
                depth += 1;
                out.write_all(token.as_bytes())?;
                line(out, depth)?;
            }
            "," => {
                out.write_all(b",")?;
                line(out, depth)?;
            }
            ":" => out.write_all(b": ")?,
            token => {
                out.write_all(token.as_bytes())?;
            }
        }
        // A closing bracket stands on a line of its own, unless it closes what is empty.
        if matches!(next, Some("}" | "]")) && !matches!(token, "{" | "[") {
            depth = depth.saturating_sub(1);
            line(out, depth)?;
        }
        rest = after;
    }
    Ok(())
}

/// The same JSON without space between its tokens. The text must be JSON.
pub(crate) fn compact(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((token, after)) = next_token(rest) {
        compact.push_str(token);
        rest = after;
    }
    compact
}

/// A new line at this depth.
pub(crate) fn line(out: &mut dyn Write, depth: usize) -> io::Result<()> {
    out.write_all(b"\n")?;
    (0..depth).try_for_each(|_| out.write_all(INDENT.as_bytes()))
}

/// The first token of JSON text and what is after it.
fn next_token(json: &str) -> Option<(&str, &str)> {
    let json = json.trim_start_matches([' ', '\t', '\n', '\r']);
    let length = match *json.as_bytes().first()? {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        b'"' => string_length(json),
        _ => json.find(['{', '}', '[', ']', ',', ':', ' ', '\t', '\n', '\r']).unwrap_or(json.len()),
    };
    Some(json.split_at(length))
}

fn string_length(json: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(json: &str) -> io::Result<String> {
        let mut out = Vec::new();
        write_pretty(&mut out, json, 0)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn it_looks_as_serdes() {
        for json in [
            "null",
            " 1 ",
            r#""a\"b\\""#,
            "{}",
            "[ ]",
            r#"{"a":[],"b":{},"c":[[],{"d":[1,2,{"e":null}]}],"f":"{[,:]}\\","g":true}"#,
            r#"[[[1],2],3,"ü\u00fc"]"#,
        ] {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            let (laid_out, compacted) = (pretty(json).unwrap(), compact(json));
            // What serde makes of it has no escapes that are not needed.
            if !json.contains("\\u") {
                assert_eq!(laid_out, serde_json::to_string_pretty(&value).unwrap());
                assert_eq!(compacted, serde_json::to_string(&value).unwrap());
            }
            assert_eq!(compact(&laid_out), compacted);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&laid_out).unwrap(), value);
        }
    }

    #[test]
    fn nothing_is_lost() {
        let json = r#"{"z":1.0,"a":123456789012345678901234567890,"m":1e400,"z":0.10}"#;
        assert_eq!(compact(&pretty(json).unwrap()), json);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for json in ["", "{", "[1,]", "1 2", "nul", r#""a"#, "NaN"] {
            assert_eq!(pretty(json).unwrap_err().kind(), serde_json_kind(json), "{json}");
        }
    }

    fn serde_json_kind(json: &str) -> io::ErrorKind {
        io::Error::from(serde_json::from_str::<IgnoredAny>(json).unwrap_err()).kind()
    }
}
