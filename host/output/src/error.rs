//! What can go wrong with an output, each with the way out.
//!
//! Decision: two kinds, told apart by [`OutputError::is_resumable_stop`]. A *refusal* comes before the crawl begins and has changed
//! nothing; a *stop* comes during it and loses nothing, since the dataset has every row and the cursor says which ones are written.

use nephila_store::StoreError;
use std::io;
use std::path::PathBuf;

/// A failure of an output.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Nothing that we can write.
    #[error("cannot tell what to write to `{target}`; known endings: .jsonl, .ndjson, .jl, and - for standard output")]
    UnknownEnding {
        /// What was given.
        target: String,
    },
    /// A folder was given.
    #[error("{} is a folder; give a file in it, such as {}", .path.display(), .path.join("items.jsonl").display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A block device or a socket was given.
    #[error("{} is neither a file nor a pipe; use another -o", .path.display())]
    NotWritable {
        /// What was given.
        path: PathBuf,
    },
    /// The parent folder is missing.
    #[error("the folder {} does not exist, so {} cannot be written; make it first, or use another -o", .folder.display(), .path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder that is missing.
        folder: PathBuf,
    },
    /// It cannot be opened or made.
    #[error("cannot {action} {}: {cause}; correct that, or use another -o", .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// It has content, and this job did not write it.
    #[error("{} exists, and this job did not write it; add --append to keep it, --overwrite to replace it, or use another -o", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else writes it.
    #[error("{} is being written by another crawl, or by another -o of this one; wait for it, or use another -o", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The same output was given twice.
    #[error("`{target}` is given twice (`{first}` is the same); leave one out")]
    Twice {
        /// The second one.
        target: String,
        /// The first one.
        first: String,
    },
    /// The file of a job that goes on is not there.
    #[error("{} is gone, and this job had written it up to byte {offset}; put it back, use another -o, or add --overwrite to write all rows again", .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
        /// How much of it was written for good.
        offset: u64,
    },
    /// The file of a job that goes on is not as the job left it.
    #[error("{} is not as this job left it: {difference} byte {offset}; nothing was changed: move it away and add --overwrite to write all rows again, or use another -o", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// In what it differs; goes before `byte {offset}`.
        difference: &'static str,
        /// How much of it was written for good.
        offset: u64,
    },
    /// The store's note about the sink cannot be read.
    #[error(
        "what this job noted about the output `{target}` cannot be read ({cause}); use the version that wrote it, or another -o"
    )]
    Record {
        /// The sink.
        target: String,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// No room.
    #[error("no room to write `{target}`: {cause}; free some space and run the same command again, nothing is lost")]
    DiskFull {
        /// The output.
        target: String,
        /// What the system says: the disk is full, or a quota.
        cause: io::Error,
    },
    /// The other end of the pipe was closed.
    #[error("the reader of `{target}` has gone; the crawl can be resumed: run the same command again")]
    ReaderGone {
        /// The output.
        target: String,
    },
    /// Somebody else wrote, moved or removed the file while it was ours.
    #[error("{} was {what} while this crawl wrote it; what is committed is kept in the job: resume it with another -o", .path.display())]
    Meddled {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
    },
    /// Anything else that the system says while rows are written.
    #[error("cannot {action} `{target}`: {cause}; correct that and run the same command again, nothing is lost")]
    Io {
        /// The output.
        target: String,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OutputError {
    /// Whether it ended a crawl that can go on from here (exit 3), rather than kept one from beginning (exit 2).
    #[must_use]
    pub const fn is_resumable_stop(&self) -> bool {
        matches!(self, Self::DiskFull { .. } | Self::ReaderGone { .. } | Self::Meddled { .. } | Self::Io { .. } | Self::Store(_))
    }

    /// What the system says while rows are written, by its cause.
    pub(crate) fn writing(target: &str, action: &'static str, cause: io::Error) -> Self {
        let target = target.to_owned();
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { target, cause },
            io::ErrorKind::BrokenPipe => Self::ReaderGone { target },
            _ => Self::Io { target, action, cause },
        }
    }
}
