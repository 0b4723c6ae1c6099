//! Whether a file may be written, and from where: the refusals, before anything is changed.
//!
//! Decision: everything that can be refused is found here, with the file locked but untouched, and all outputs are checked before the
//! first is taken. After a crash the bytes behind the offset are not cut but *recognised*: they must be the beginning of exactly what
//! we would write next, and then writing goes on in the middle of it. So no code path of a resume can destroy a byte; the price is
//! that those rows are rendered once more, and that a file to which anything was added by hand is refused.

use crate::batch::{Batcher, Line};
use crate::blocking::blocking;
use crate::mark::{Mark, Tail};
use crate::target::folder;
use crate::{Existing, OutputError, Rows};
use rustix::fs::{Access, access};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that may be written, still as it was found.
#[derive(Debug)]
pub(crate) struct Checked {
    pub path: PathBuf,
    /// Its name in the store.
    pub name: String,
    /// Open and locked; `None` if it does not exist yet.
    pub file: Option<Arc<File>>,
    pub start: Start,
}

/// From where a file is written.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// The cursor of the rows that are in it for good.
    pub cursor: i64,
    /// Where those end.
    pub offset: u64,
    /// Bytes behind the offset that are there already, and are what comes next.
    pub ahead: u64,
    /// Whether what comes next begins with a newline.
    pub newline: bool,
    /// The last bytes before the offset.
    pub tail: Tail,
    /// Whether the store has yet to hear of this beginning.
    pub fresh: bool,
    /// Whether to empty the file first.
    pub empty: bool,
}

/// Checks one file.
pub(crate) async fn check<R: Rows>(rows: &R, path: &Path, name: String, existing: Existing) -> Result<Checked, OutputError> {
    let found = look(path).await?;
    let start = match (rows.sink(&name).await?, &found) {
        (None, None) => Start { fresh: true, ..Start::default() },
        (None, Some(found)) => begin(path, found, existing).await?,
        (Some(record), None) => {
            let mark = Mark::read(&record)?;
            match existing {
                _ if mark.offset == 0 => Start { cursor: record.cursor, ..Start::default() },
                // Nothing is there to be lost, and every row is in the dataset.
                Existing::Overwrite => Start { fresh: true, ..Start::default() },
                Existing::Refuse | Existing::Append => {
                    return Err(OutputError::Gone { path: path.to_owned(), offset: mark.offset });
                }
            }
        }
        (Some(record), Some(found)) => go_on(rows, path, found, record.cursor, Mark::read(&record)?).await?,
    };
    Ok(Checked { path: path.to_owned(), name, file: found.map(|found| found.file), start })
}

/// A file that is there, open and locked.
struct Found {
    file: Arc<File>,
    length: u64,
}

/// Opens and locks a file if there is one; else looks whether it could be made, without making it.
async fn look(path: &Path) -> Result<Option<Found>, OutputError> {
    let (path, target) = (path.to_owned(), path.display().to_string());
    blocking(&target, move || {
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return match access(folder(&path), Access::WRITE_OK | Access::EXEC_OK) {
                    Ok(()) => Ok(None),
                    Err(cause) => Err(OutputError::Unusable { path, action: "make", cause: cause.into() }),
                };
            }
            Err(cause) if cause.kind() == io::ErrorKind::IsADirectory => return Err(OutputError::Folder { path }),
            Err(cause) => return Err(OutputError::Unusable { path, action: "open", cause }),
        };
        lock(&file, &path)?;
        match file.metadata() {
            Ok(data) if data.is_file() => Ok(Some(Found { file: Arc::new(file), length: data.len() })),
            Ok(_) => Err(OutputError::NotWritable { path }),
            Err(cause) => Err(OutputError::Unusable { path, action: "open", cause }),
        }
    })
    .await
}

/// The lock is the kernel's and goes with the process: a crash leaves none behind.
fn lock(file: &File, path: &Path) -> Result<(), OutputError> {
    let path = path.to_owned();
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(OutputError::InUse { path }),
        Err(TryLockError::Error(cause)) => Err(OutputError::Unusable { path, action: "lock", cause }),
    }
}

/// A file that this job has not written before.
async fn begin(path: &Path, found: &Found, existing: Existing) -> Result<Start, OutputError> {
    match existing {
        _ if found.length == 0 => Ok(Start { fresh: true, ..Start::default() }),
        Existing::Refuse => Err(OutputError::Exists { path: path.to_owned() }),
        Existing::Overwrite => Ok(Start { fresh: true, empty: true, ..Start::default() }),
        Existing::Append => {
            let tail = read_tail(path, found, found.length).await?;
            Ok(Start { offset: found.length, newline: !tail.ends_a_line(), tail, fresh: true, ..Start::default() })
        }
    }
}

/// The file of a job that goes on.
async fn go_on<R: Rows>(rows: &R, path: &Path, found: &Found, cursor: i64, mark: Mark) -> Result<Start, OutputError> {
    let changed = |difference| OutputError::Changed { path: path.to_owned(), difference, offset: mark.offset };
    if found.length < mark.offset {
        return Err(changed("it ends before"));
    }
    let tail = read_tail(path, found, mark.offset).await?;
    if tail.hash() != mark.tail {
        return Err(changed("it has other content before"));
    }
    if !is_what_comes_next(rows, path, found, cursor, &mark).await? {
        return Err(changed("it has content that is not ours after"));
    }
    let ahead = found.length - mark.offset;
    Ok(Start { cursor, offset: mark.offset, ahead, newline: mark.newline, tail, fresh: false, empty: false })
}

/// Whether the bytes behind the offset, to the end of the file, are a beginning of what we would write next.
async fn is_what_comes_next<R: Rows>(
    rows: &R,
    path: &Path,
    found: &Found,
    mut cursor: i64,
    mark: &Mark,
) -> Result<bool, OutputError> {
    let mut batcher = Batcher::new(Line::Plain, mark.newline);
    let mut at = mark.offset;
    while at < found.length {
        let Some(batch) = batcher.next(rows, cursor).await? else { return Ok(false) };
        cursor = batch.cursor;
        let (file, from, left) = (Arc::clone(&found.file), at, found.length - at);
        let (path, target) = (path.to_owned(), path.display().to_string());
        let compared = blocking(&target, move || {
            let mut expected = batch.bytes;
            expected.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            let mut there = vec![0; expected.len()];
            file.read_exact_at(&mut there, from).map_err(|cause| OutputError::Unusable { path, action: "read", cause })?;
            Ok((there == expected).then_some(there.len()))
        });
        match compared.await? {
            Some(same) => at += same as u64,
            None => return Ok(false),
        }
    }
    Ok(true)
}

async fn read_tail(path: &Path, found: &Found, offset: u64) -> Result<Tail, OutputError> {
    let (file, path, target) = (Arc::clone(&found.file), path.to_owned(), path.display().to_string());
    blocking(&target, move || Tail::read(&file, offset).map_err(|cause| OutputError::Unusable { path, action: "read", cause }))
        .await
}

/// Makes a file that was not there when it was checked, empty and locked. What another has made meanwhile is refused, not touched.
pub(crate) fn make(path: &Path) -> Result<File, OutputError> {
    let unusable = |action| move |cause| OutputError::Unusable { path: path.to_owned(), action, cause };
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(unusable("make"))?;
    lock(&file, path)?;
    if file.metadata().map_err(unusable("open"))?.len() > 0 {
        return Err(OutputError::Exists { path: path.to_owned() });
    }
    // The name must survive a loss of power as well as the rows do. A link's folder is not the file's.
    let real = fs::canonicalize(path).map_err(unusable("reach"))?;
    File::open(folder(&real)).and_then(|folder| folder.sync_all()).map_err(unusable("make"))?;
    Ok(file)
}
