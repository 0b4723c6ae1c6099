//! A regular file of JSON lines: each row exactly once, whenever the process dies.
//!
//! Decision: *write, sync, note*. A batch is appended, made durable, and only then does the cursor move, with the offset, in one record
//! of the store. Whatever a crash leaves behind the offset is then a beginning of the next rows, which [`crate::check`] recognises and
//! this file goes on from (`ahead`). The cost is one sync and one write to the store per batch, which is why the exporter drains files
//! about once a second only. A short look before and after each batch tells whether the file is still alone ours.

use crate::batch::{Batch, Batcher, Line};
use crate::blocking::blocking;
use crate::check::{Checked, make};
use crate::mark::{Mark, Tail};
use crate::{OutputError, Rows};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is ours to write.
#[derive(Debug)]
pub(crate) struct JsonlFile {
    path: PathBuf,
    /// Its name in the store.
    name: String,
    file: Arc<File>,
    cursor: i64,
    offset: u64,
    ahead: u64,
    tail: Tail,
    batcher: Batcher,
}

/// A file that is open and locked, and still as it was found, or was made empty.
#[derive(Debug)]
pub(crate) struct Opened {
    checked: Checked,
    file: Arc<File>,
    made: bool,
}

impl Opened {
    /// Makes the file if it is not there.
    pub(crate) async fn open(mut checked: Checked) -> Result<Self, OutputError> {
        if let Some(file) = checked.file.take() {
            return Ok(Self { checked, file, made: false });
        }
        let path = checked.path.clone();
        let file = blocking(&checked.name, move || make(&path)).await?;
        Ok(Self { checked, file: Arc::new(file), made: true })
    }

    /// Takes back what [`Self::open`] did, since another output was refused after it.
    pub(crate) fn undo(self) {
        if self.made
            && let Err(cause) = fs::canonicalize(&self.checked.path).and_then(fs::remove_file)
        {
            tracing::warn!(path = %self.checked.path.display(), %cause, "an empty output file stays behind");
        }
    }

    /// From here on the file is this job's: it is emptied if that was asked for, and the store hears of it before the first byte.
    pub(crate) async fn begin<R: Rows>(self, rows: &R) -> Result<JsonlFile, OutputError> {
        let Self { checked: Checked { path, name, start, .. }, file, .. } = self;
        if start.empty {
            let (file, path) = (Arc::clone(&file), path.clone());
            let emptied = move || {
                let done = file.set_len(0).and_then(|()| file.sync_all());
                done.map_err(|cause| OutputError::Unusable { path, action: "empty", cause })
            };
            blocking(&name, emptied).await?;
        }
        if start.fresh {
            let mark = Mark { offset: start.offset, newline: start.newline, tail: start.tail.hash() };
            rows.put_sink(&mark.record(&name, start.cursor)?).await?;
        }
        let batcher = Batcher::new(Line::Plain, start.newline);
        Ok(JsonlFile {
            path,
            name,
            file,
            cursor: start.cursor,
            offset: start.offset,
            ahead: start.ahead,
            tail: start.tail,
            batcher,
        })
    }
}

impl JsonlFile {
    /// Writes all rows that are committed now, and says how many those were.
    pub(crate) async fn drain<R: Rows>(&mut self, rows: &R) -> Result<u64, OutputError> {
        let mut written = 0;
        while let Some(batch) = self.batcher.next(rows, self.cursor).await? {
            let (count, more) = (batch.rows, batch.more);
            self.append(batch).await?;
            let mark = Mark { offset: self.offset, newline: false, tail: self.tail.hash() };
            rows.put_sink(&mark.record(&self.name, self.cursor)?).await?;
            written += count;
            if !more {
                break;
            }
        }
        Ok(written)
    }

    async fn append(&mut self, batch: Batch) -> Result<(), OutputError> {
        let there = self.ahead.min(batch.bytes.len() as u64);
        let length = self.offset + self.ahead;
        let (file, path) = (Arc::clone(&self.file), self.path.clone());
        let Batch { bytes, cursor, .. } = batch;
        let bytes = blocking(&self.path.display().to_string(), move || {
            let new = &bytes[usize::try_from(there).unwrap_or(usize::MAX)..];
            write(&file, &path, length, new)?;
            Ok(bytes)
        })
        .await?;
        self.cursor = cursor;
        self.offset += bytes.len() as u64;
        self.ahead -= there;
        self.tail.push(&bytes);
        Ok(())
    }
}

/// Appends to a file of a known length, for good.
fn write(mut file: &File, path: &Path, length: u64, bytes: &[u8]) -> Result<(), OutputError> {
    let failed = |action| move |cause: io::Error| OutputError::writing(&path.display().to_string(), action, cause);
    still_ours(file, path, length)?;
    file.write_all(bytes).map_err(failed("write to"))?;
    file.sync_data().map_err(failed("sync"))?;
    still_ours(file, path, length + bytes.len() as u64)
}

/// Whether the file is as long as we made it, and still the one that its name leads to.
fn still_ours(file: &File, path: &Path, length: u64) -> Result<(), OutputError> {
    let meddled = |what| Err(OutputError::Meddled { path: path.to_owned(), what });
    let ours = file.metadata().map_err(|cause| OutputError::writing(&path.display().to_string(), "look at", cause))?;
    if ours.len() != length {
        return meddled("written to by another process");
    }
    match fs::metadata(path) {
        Ok(named) if (named.dev(), named.ino()) == (ours.dev(), ours.ino()) => Ok(()),
        _ => meddled("moved or removed"),
    }
}
