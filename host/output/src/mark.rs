//! What the store remembers of a file: how far it is written for good, and by which bytes it is known again.
//!
//! Decision: a file is known by its content, the hash of the last [`TAIL`] bytes before the offset, and not by its inode: a job folder
//! that was copied to another disk, with its output, goes on. The price: a file that differs only further up is taken for ours.

use crate::OutputError;
use nephila_store::SinkRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes before the offset that must be the same when a file is taken up again.
const TAIL: usize = 4 << 10;

/// The state of a file's sink record, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// What is before it is written for good. Always after a whole line of ours, or at the end of what we append to.
    pub offset: u64,
    /// Whether what we append to lacks the newline at its end: then ours begins with one.
    pub newline: bool,
    /// SHA-256 of the last bytes before the offset, in hexadecimal.
    pub tail: String,
}

impl Mark {
    pub(crate) fn read(record: &SinkRecord) -> Result<Self, OutputError> {
        serde_json::from_str(&record.state).map_err(|cause| OutputError::Record { target: record.target.clone(), cause })
    }

    pub(crate) fn record(&self, target: &str, cursor: i64) -> Result<SinkRecord, OutputError> {
        let target = target.to_owned();
        match serde_json::to_string(self) {
            Ok(state) => Ok(SinkRecord { target, cursor, state }),
            Err(cause) => Err(OutputError::Record { target, cause }),
        }
    }
}

/// The last bytes before an offset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Those of a file.
    pub(crate) fn read(file: &File, offset: u64) -> io::Result<Self> {
        let from = offset.saturating_sub(TAIL as u64);
        let mut bytes = vec![0; usize::try_from(offset - from).unwrap_or(TAIL)];
        file.read_exact_at(&mut bytes, from)?;
        Ok(Self(bytes))
    }

    /// Those after more was written.
    pub(crate) fn push(&mut self, written: &[u8]) {
        let kept = TAIL.saturating_sub(written.len()).min(self.0.len());
        self.0.drain(..self.0.len() - kept);
        self.0.extend_from_slice(&written[written.len().saturating_sub(TAIL)..]);
    }

    pub(crate) fn ends_a_line(&self) -> bool {
        self.0.last().is_none_or(|last| *last == b'\n')
    }

    pub(crate) fn hash(&self) -> String {
        format!("{:x}", Sha256::digest(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_tail_that_grows_is_the_tail_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let mut tail = Tail::default();
        let mut length = 0;
        for size in [0_usize, 1, 10, TAIL - 1, TAIL, TAIL + 1, 3, 3 * TAIL, 7] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            file.write_all(&bytes).unwrap();
            length += size as u64;
            tail.push(&bytes);
            assert_eq!(tail, Tail::read(&file, length).unwrap(), "after {size} more");
        }
    }

    #[test]
    fn a_mark_comes_back_from_its_record() {
        let mark = Mark { offset: 7, newline: true, tail: Tail(b"abc".to_vec()).hash() };
        let record = mark.record("jsonl:/a", 3).unwrap();
        assert_eq!((record.target.as_str(), record.cursor), ("jsonl:/a", 3));
        assert_eq!(Mark::read(&record).unwrap(), mark);
        let newer = SinkRecord { state: r#"{"member":1}"#.to_owned(), ..record };
        assert!(matches!(Mark::read(&newer), Err(OutputError::Record { .. })));
    }
}
