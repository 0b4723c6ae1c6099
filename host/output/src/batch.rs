//! Rows that are written, made durable and noted together.
//!
//! Decision: a batch is one slice of the dataset, which the store cuts at [`MAX_ROWS`] and [`MAX_BYTES`]; its rows never wait for
//! more. One sync per batch is what bounds the speed of a file, and one batch is what is in memory.

use crate::Rows;
use nephila_store::{DatasetRow, StoreError};
use std::collections::BTreeMap;

/// Rows of a batch at most. Default 1000: a crash leaves at most so many rows to be compared.
const MAX_ROWS: usize = 1_000;
/// Bytes of the rows of a batch, but for a single row that is longer.
const MAX_BYTES: usize = 4 << 20;

/// How a row becomes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// The item as it is.
    Plain,
    /// The item with the row's id as its first field.
    WithId,
}

/// Lines of rows that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The lines.
    pub bytes: Vec<u8>,
    /// How many rows they are.
    pub rows: u64,
    /// The cursor after them.
    pub cursor: i64,
    /// Whether there are more rows behind.
    pub more: bool,
}

/// Makes batches.
#[derive(Debug)]
pub(crate) struct Batcher {
    line: Line,
    /// Whether the next batch begins with a newline.
    newline: bool,
}

impl Batcher {
    /// `newline`: the first batch begins with one, to end a line that is not ours.
    pub(crate) const fn new(line: Line, newline: bool) -> Self {
        Self { line, newline }
    }

    /// The next rows after a cursor; `None` if there are none. Not again for the same ones: a batch that was made is to be written.
    pub(crate) async fn next<R: Rows>(&mut self, rows: &R, after: i64) -> Result<Option<Batch>, StoreError> {
        let slice = rows.slice(after, MAX_ROWS, MAX_BYTES).await?;
        if slice.rows.is_empty() {
            return Ok(None);
        }
        let mut batch = Batch { cursor: after, more: slice.more, ..Batch::default() };
        if std::mem::take(&mut self.newline) {
            batch.bytes.push(b'\n');
        }
        for row in &slice.rows {
            self.line.render(row, &mut batch.bytes);
            batch.rows += 1;
            batch.cursor = row.sequence;
        }
        Ok(Some(batch))
    }
}

impl Line {
    fn render(self, row: &DatasetRow, out: &mut Vec<u8>) {
        match self {
            Self::Plain => out.extend_from_slice(row.json.as_bytes()),
            Self::WithId => with_id(row, out),
        }
        out.push(b'\n');
    }
}

/// The fields stay as they are and in their order: the object is not parsed and written again.
fn with_id(row: &DatasetRow, out: &mut Vec<u8>) {
    let json = row.json.trim_start();
    let fields = json.strip_prefix('{').unwrap_or(json);
    let name = if has_id(json) { "_row_id" } else { "_id" };
    out.extend_from_slice(format!("{{\"{name}\":\"{}\"", row.id).as_bytes());
    if !fields.trim_start().starts_with('}') {
        out.push(b',');
    }
    out.extend_from_slice(fields.as_bytes());
}

/// Whether the item has such a field of its own. Nearly never, and then it is looked at closely: it may be in a nested object or a text.
fn has_id(json: &str) -> bool {
    json.contains("\"_id\"")
        && serde_json::from_str::<BTreeMap<String, serde::de::IgnoredAny>>(json).is_ok_and(|fields| fields.contains_key("_id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: Line, json: &str) -> String {
        let mut out = Vec::new();
        line.render(&DatasetRow { sequence: 1, id: "00ff".to_owned(), json: json.to_owned() }, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_plain_line_is_the_item() {
        assert_eq!(line(Line::Plain, r#"{"b":1,"a":"ü"}"#), "{\"b\":1,\"a\":\"ü\"}\n");
    }

    #[test]
    fn the_id_is_the_first_field() {
        assert_eq!(line(Line::WithId, r#"{"b":1,"a":2}"#), "{\"_id\":\"00ff\",\"b\":1,\"a\":2}\n");
        assert_eq!(line(Line::WithId, "{}"), "{\"_id\":\"00ff\"}\n");
        assert_eq!(line(Line::WithId, "{ }"), "{\"_id\":\"00ff\" }\n");
    }

    #[test]
    fn an_id_of_the_item_itself_is_left_alone() {
        assert_eq!(line(Line::WithId, r#"{"_id":7}"#), "{\"_row_id\":\"00ff\",\"_id\":7}\n");
        assert_eq!(line(Line::WithId, r#"{"a":{"_id":7}}"#), "{\"_id\":\"00ff\",\"a\":{\"_id\":7}}\n");
        assert_eq!(line(Line::WithId, r#"{"a":"\"_id\""}"#), "{\"_id\":\"00ff\",\"a\":\"\\\"_id\\\"\"}\n");
    }
}
