//! `CRAWLEE_STATE_<id>`: the map that `use_state` gives.
//!
//! Decision: written entry by entry, from JSON texts, so that the whole state is never in memory a second time and every value comes
//! out as it is stored. Crawlee reads it as a map of texts to JSON.

use crate::json::{compact, line, write_pretty};
use crate::{CrawleeError, MediaType, Record};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a state should be, for people.
const WANTED: &str = "a map as `use_state` keeps it";

/// Writes a state: keys, each once, and their values as JSON text.
///
/// # Errors
/// What `out` fails with, and [`io::ErrorKind::InvalidData`] or [`io::ErrorKind::UnexpectedEof`] for a value that is not JSON.
pub fn write_state<K: AsRef<str>, V: AsRef<str>>(
    out: &mut dyn Write,
    entries: impl IntoIterator<Item = (K, V)>,
) -> io::Result<()> {
    let mut separator: &[u8] = b"";
    out.write_all(b"{")?;
    for (key, value) in entries {
        out.write_all(separator)?;
        separator = b",";
        line(out, 1)?;
        serde_json::to_writer(&mut *out, key.as_ref())?;
        out.write_all(b": ")?;
        write_pretty(out, value.as_ref(), 1)?;
    }
    if !separator.is_empty() {
        line(out, 0)?;
    }
    out.write_all(b"}")
}

/// Reads a state: keys and their values as JSON text without spaces. `None` if it was reset, so that the initial value counts.
///
/// # Errors
/// [`CrawleeError::Shape`] if it is no map.
pub fn read_state(record: &Record) -> Result<Option<BTreeMap<String, String>>, CrawleeError> {
    if is_reset(record) {
        return Ok(None);
    }
    match serde_json::from_slice::<Option<BTreeMap<String, Box<RawValue>>>>(&record.bytes) {
        Ok(state) => Ok(state.map(|state| state.into_iter().map(|(key, value)| (key, compact(value.get()))).collect())),
        Err(cause) => Err(CrawleeError::Shape { key: record.key.to_string(), wanted: WANTED, cause }),
    }
}

/// Whether Crawlee put `None` there, as its `reset` does.
pub(crate) fn is_reset(record: &Record) -> bool {
    record.media_type == MediaType::none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordKey;

    fn written(entries: &[(&str, &str)]) -> io::Result<String> {
        let mut out = Vec::new();
        write_state(&mut out, entries.iter().copied())?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn record(media_type: MediaType, text: &str) -> Record {
        Record { key: RecordKey::new("CRAWLEE_STATE_a").unwrap(), media_type, bytes: text.as_bytes().to_owned() }
    }

    #[test]
    fn a_state_is_readable_json_and_comes_back() {
        let entries = [("a \"b\"", "1.0"), ("list", r#"[1,{"x":null}]"#), ("z", "{}")];
        let text = written(&entries).unwrap();
        assert_eq!(
            text,
            "{\n  \"a \\\"b\\\"\": 1.0,\n  \"list\": [\n    1,\n    {\n      \"x\": null\n    }\n  ],\n  \"z\": {}\n}"
        );
        let state = read_state(&record(MediaType::json(), &text)).unwrap().unwrap();
        assert_eq!(state, entries.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn an_empty_state_and_none_at_all_are_told_apart() {
        assert_eq!(written(&[]).unwrap(), "{}");
        assert_eq!(read_state(&record(MediaType::json(), "{}")).unwrap(), Some(BTreeMap::new()));
        assert_eq!(read_state(&record(MediaType::json(), "null")).unwrap(), None);
        assert_eq!(read_state(&record(MediaType::none(), "")).unwrap(), None);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        assert!(written(&[("a", "{")]).is_err());
        let error = read_state(&record(MediaType::json(), "[1]")).unwrap_err();
        assert!(error.to_string().contains("`CRAWLEE_STATE_a` is not a map as `use_state` keeps it"), "{error}");
    }
}
