//! What can go wrong with a Crawlee folder, each with the way out.
//!
//! Decision: one enum for reading and writing, since the same folder is refused for the same reasons in both. Every variant of the
//! first half is found before anything is changed.

use std::io;
use std::path::{Path, PathBuf};

/// A failure with a Crawlee folder.
#[derive(Debug, thiserror::Error)]
pub enum CrawleeError {
    /// The name would not be one that Crawlee opens.
    #[error(
        "`{name}` cannot name a key-value store of Crawlee's; use up to 128 letters, digits and inner hyphens, and not `default`, which is the one without a name"
    )]
    StoreName {
        /// What was given.
        name: String,
    },
    /// The key cannot be a file's name.
    #[error("the key `{key}` cannot be kept in a Crawlee folder: {reason}; use another key")]
    Key {
        /// The key, shortened.
        key: String,
        /// Why not.
        reason: &'static str,
    },
    /// The key's file would have too long a name.
    #[error(
        "the key `{key}…` takes {bytes} bytes as the name of a file, and {limit} are allowed; use a shorter one (letters, digits and -_.~ take one byte each, other bytes three)"
    )]
    KeyTooLong {
        /// How it begins.
        key: String,
        /// Bytes of the encoded key.
        bytes: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Not a media type.
    #[error("`{given}` is no media type; use one such as `application/json` or `text/plain; charset=utf-8`")]
    MediaType {
        /// What was given.
        given: String,
    },
    /// A link, a file or something else is where a folder should be.
    #[error("{} is not a folder (links are not followed); move it away, or use another storage folder", .path.display())]
    NotAFolder {
        /// Where.
        path: PathBuf,
    },
    /// The folder holds other things.
    #[error(
        "{} is not empty and has no `__metadata__.json` of a Crawlee key-value store; move it away, or use another storage folder or name",
        .path.display()
    )]
    NotAStore {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is to be made anew, and is there.
    #[error("{} is not empty; use another storage folder", .path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// There is no such store.
    #[error("there is no Crawlee key-value store in {}; give the folder that has `key_value_stores` in it, and the store's name", .path.display())]
    NoStore {
        /// Where it would be.
        path: PathBuf,
    },
    /// A link, a pipe, a folder or something else has a record's name.
    #[error("{} is not a regular file (links are not followed); move it away", .path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
    },
    /// Larger than the reader wants.
    #[error("{} has {bytes} bytes, and {limit} are allowed; raise the limit, or take the file away", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The file is not what its name says.
    #[error("{} cannot be understood ({cause}); correct it, or take it away", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// A record is not what was looked for under its key.
    #[error("what is kept under `{key}` is not {wanted} ({cause}); correct it, or take the record away to begin without it")]
    Shape {
        /// The key, or what it stands for.
        key: String,
        /// What it should be.
        wanted: &'static str,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// A record of text is not UTF-8.
    #[error("what is kept under `{key}` is said to be text and is not UTF-8; write it again, or give it another content type")]
    NotText {
        /// The key.
        key: String,
    },
    /// No room.
    #[error("no room to write {}: {cause}; free some space, the crawl itself has lost nothing", .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// Anything else that the system says.
    #[error("cannot {action} {}: {cause}; correct that, or use another storage folder", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        cause: io::Error,
    },
}

impl CrawleeError {
    /// What the system says, by its cause.
    pub(crate) fn io(path: &Path, action: &'static str, cause: impl Into<io::Error>) -> Self {
        let (path, cause) = (path.to_owned(), cause.into());
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, cause },
            _ => Self::Io { path, action, cause },
        }
    }
}
