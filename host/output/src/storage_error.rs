//! What can go wrong when a job is written as a storage folder of Crawlee's, each with the way out.

use nephila_crawlee::CrawleeError;
use nephila_session::crawlee::ShapeError;
use nephila_store::StoreError;
use std::io;
use std::path::PathBuf;

/// A failure of an export as a storage folder.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// There is a storage already.
    #[error("{} is a storage folder with something in it; add --overwrite to replace it, or use another folder", .path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// It was to be added to a storage.
    #[error("{} cannot be added to, since a queue and records of two crawls do not fit into one; use another folder, or --overwrite to replace it", .path.display())]
    Append {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is something else.
    #[error("{} holds other things than a storage of Crawlee's (key_value_stores, datasets, request_queues); use another folder", .path.display())]
    NotAStorage {
        /// The folder.
        path: PathBuf,
    },
    /// There is something that is no folder.
    #[error("{} is not a folder; use another one", .path.display())]
    NotAFolder {
        /// What is there.
        path: PathBuf,
    },
    /// The folder has no name that it could be put under.
    #[error("{} has no name of its own; give a folder such as {}", .path.display(), .path.join("storage").display())]
    NoName {
        /// What was given.
        path: PathBuf,
    },
    /// The job would be replaced by its own export, or written into.
    #[error(
        "{} and the job {} are one inside the other; use a folder that is apart from the job",
        .path.display(), .job.display()
    )]
    Job {
        /// The folder.
        path: PathBuf,
        /// The job's folder.
        job: PathBuf,
    },
    /// A file system begins at the folder.
    #[error(
        "{} is a mount point, which nothing can be put in the place of; use a folder in it, such as {}",
        .path.display(), .path.join("storage").display()
    )]
    MountPoint {
        /// The folder.
        path: PathBuf,
    },
    /// Something is mounted in it, which would be emptied.
    #[error("{} has something mounted in it, at {}, which would be emptied with it; unmount that, or use another folder", .path.display(), .place.display())]
    MountWithin {
        /// The folder.
        path: PathBuf,
        /// What is mounted.
        place: PathBuf,
    },
    /// There is a link that leads nowhere.
    #[error(
        "{} is a link to what is not there; make the folder that it leads to, remove it, or use another folder",
        .path.display()
    )]
    LinkToNothing {
        /// The link.
        path: PathBuf,
    },
    /// The file system does not exchange folders.
    #[error(
        "{} cannot be replaced, since its file system does not exchange two folders in one step ({cause}); move it away and \
         leave --overwrite out, or use another folder",
        .path.display()
    )]
    NoExchange {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// What was in the place had become something else, and cannot be put back.
    #[error(
        "{} had become something else than a storage of Crawlee's when the export took its place, and cannot be put back \
         ({cause}); it is kept as {}: move it back yourself",
        .path.display(), .kept.display()
    )]
    PutAside {
        /// The folder.
        path: PathBuf,
        /// Where what was in it is now.
        kept: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// Somebody said so.
    #[error("the export was stopped, and what it had written was taken away; run the same command again")]
    Stopped,
    /// The system says no.
    #[error("cannot {action} {}: {cause}; correct that, or use another folder", .path.display())]
    Io {
        /// What it is about.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// A part of it could not be written.
    #[error(transparent)]
    Crawlee(#[from] CrawleeError),
    /// Sessions could not be written.
    #[error(transparent)]
    Sessions(#[from] ShapeError),
    /// The job could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
