//! Standard output, named pipes and character devices: each row at least once.
//!
//! Decision: the cursor moves when the kernel has taken a batch. What the reader has got of it nobody can know, so after a crash, or when
//! the reader goes, the batch is sent again from its first row, and every row carries its id. A named pipe without a reader is waited for
//! before the crawl begins, as a shell would. A reader that is slow slows the outputs, not the crawl. A reader that outlives a crash of
//! the crawl may have half a line, with the whole one right behind it: bytes that a pipe has taken cannot be taken back.

use crate::batch::{Batcher, Line};
use crate::blocking::blocking;
use crate::{OutputError, Rows, Target};
use nephila_store::SinkRecord;
use rustix::fs::{Access, OFlags, access, fcntl_setfl};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often a named pipe is looked at while it has no reader.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A pipe that is open.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// What the user gave.
    target: String,
    /// Its name in the store.
    name: String,
    file: Arc<File>,
    cursor: i64,
    batcher: Batcher,
}

/// A pipe that may be written, not opened yet.
#[derive(Debug)]
pub(crate) struct Checked {
    target: String,
    name: String,
    /// `None` for standard output.
    path: Option<PathBuf>,
    cursor: i64,
}

/// Checks one pipe.
pub(crate) async fn check<R: Rows>(rows: &R, target: &Target, name: String) -> Result<Checked, OutputError> {
    let path = match target {
        Target::Stdout => None,
        Target::Pipe(path) | Target::File(path) => Some(path.clone()),
    };
    if let Some(path) = &path
        && let Err(cause) = access(path, Access::WRITE_OK)
    {
        return Err(OutputError::Unusable { path: path.clone(), action: "open", cause: cause.into() });
    }
    let cursor = rows.sink(&name).await?.map_or(0, |record| record.cursor);
    Ok(Checked { target: target.to_string(), name, path, cursor })
}

impl Checked {
    /// Opens it, once it has a reader.
    pub(crate) async fn open(self) -> Result<Pipe, OutputError> {
        let Self { target, name, path, cursor } = self;
        let file = match path {
            // A descriptor of our own, without the buffer of `std::io::stdout`: a batch is written whole or has failed.
            None => File::from(
                io::stdout().as_fd().try_clone_to_owned().map_err(|cause| OutputError::writing(&target, "open", cause))?,
            ),
            Some(path) => loop {
                match open(&path) {
                    Ok(file) => break file,
                    Err(cause) if cause.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                        tracing::debug!(%target, "waiting for a reader");
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    Err(cause) => return Err(OutputError::Unusable { path, action: "open", cause }),
                }
            },
        };
        Ok(Pipe { target, name, file: Arc::new(file), cursor, batcher: Batcher::new(Line::WithId, false) })
    }
}

/// Opens without waiting for a reader, which could not be interrupted, and then lets writes wait.
fn open(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

impl Pipe {
    /// Writes all rows that are committed now, and says how many those were.
    pub(crate) async fn drain<R: Rows>(&mut self, rows: &R) -> Result<u64, OutputError> {
        let mut written = 0;
        while let Some(batch) = self.batcher.next(rows, self.cursor).await? {
            let (file, target) = (Arc::clone(&self.file), self.target.clone());
            blocking(&self.target, move || {
                (&*file).write_all(&batch.bytes).map_err(|cause| OutputError::writing(&target, "write to", cause))
            })
            .await?;
            self.cursor = batch.cursor;
            let record = SinkRecord { target: self.name.clone(), cursor: self.cursor, state: "{}".to_owned() };
            rows.put_sink(&record).await?;
            written += batch.rows;
            if !batch.more {
                break;
            }
        }
        Ok(written)
    }
}
