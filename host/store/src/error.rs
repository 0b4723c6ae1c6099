//! What can go wrong with a store, each with the way out.

use std::path::PathBuf;

/// So many ids of crawlers are named in a message.
pub(crate) const SHOWN_IDS: usize = 20;

fn listed(ids: &[String]) -> String {
    let named: Vec<_> = ids.iter().take(SHOWN_IDS).map(|id| format!("`{id}`")).collect();
    named.join(", ") + if ids.len() > SHOWN_IDS { " and others" } else { "" }
}

/// A failure of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// S8: the job is open elsewhere.
    #[error("job {} is in use by {holder}; wait for it, stop it, or give this crawl another --job folder", .dir.display())]
    InUse {
        /// The job's folder.
        dir: PathBuf,
        /// Who holds it, as far as it said: `process 4711`, `another process`, or one that only reads it.
        holder: String,
    },
    /// S8: others may write to the folder.
    #[error("job folder {} may be written by others (mode {mode:03o}); run: chmod 700 {}", .dir.display(), .dir.display())]
    Exposed {
        /// The folder.
        dir: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// S8: the folder is somebody else's.
    #[error("job folder {} belongs to another user (uid {owner}); use a folder of your own", .dir.display())]
    ForeignOwner {
        /// The folder.
        dir: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The folder cannot be made or used.
    #[error("job folder {}: {cause}; use a folder that you can write to", .dir.display())]
    Folder {
        /// The folder.
        dir: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The folder holds other things.
    #[error("{} is not a job folder and is not empty; give a new folder to --job", .dir.display())]
    NotAJob {
        /// The folder.
        dir: PathBuf,
    },
    /// There is no job.
    #[error("there is no job in {}; `nephila run … --job {}` makes one", .dir.display(), .dir.display())]
    NoJob {
        /// The folder.
        dir: PathBuf,
    },
    /// The job has no crawl of this crawler.
    #[error(
        "the job in {} has no crawl with the id `{crawler}`; it has {}; give one of these, or leave --id out for the one that \
         was opened last",
        .dir.display(), listed(.known)
    )]
    NoCrawler {
        /// The folder.
        dir: PathBuf,
        /// The id.
        crawler: String,
        /// The ids that there are, those opened last first; one more than [`SHOWN_IDS`] stands for all others.
        known: Vec<String>,
    },
    /// S8: the job was made by another plugin.
    #[error(
        "this job was made by the plugin `{theirs}`, not `{ours}`; give `{ours}` another --job folder, or another --id in a shared store"
    )]
    OtherPlugin {
        /// The name in the job.
        theirs: String,
        /// The name of the plugin that was given.
        ours: String,
    },
    /// S11: what counts as a site is fixed.
    #[error(
        "this job counts a site by {theirs}, and {ours} was asked for; a job keeps its choice: leave the setting out, or use another --job folder"
    )]
    OtherSiteMode {
        /// The job's choice.
        theirs: String,
        /// What was asked for.
        ours: String,
    },
    /// S8: the job is of a newer format.
    #[error("this job has format {found}, and this version of Nephila knows up to {known}; use the newer version that made it")]
    NewerFormat {
        /// The format found.
        found: i64,
        /// The newest one known.
        known: i64,
    },
    /// S8: the job was made by an older version of Nephila.
    #[error("this job has format {found}, and this version of Nephila reads {known}; finish it with the version that made it")]
    OlderFormat {
        /// The format found.
        found: i64,
        /// The one known.
        known: i64,
    },
    /// The job's keys were made by other rules.
    #[error(
        "this job's unique keys follow normaliser version {found}, and this version of Nephila uses {known}; finish it with the version that made it"
    )]
    OtherNormaliser {
        /// The version found.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// No room.
    #[error("the disk that holds {what} is full; free some space and run the same command again, nothing is lost")]
    DiskFull {
        /// What was written to.
        what: String,
    },
    /// The file is damaged.
    #[error("{what} is damaged ({cause}); restore it from a copy, or start a new --job")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What the engine says.
        cause: String,
    },
    /// The lease is not held any more.
    #[error("another process has taken over; this one drops its work")]
    Stale,
    /// There is no such crawl.
    #[error("the store has no crawl {0}")]
    NoCrawl(i64),
    /// There is no such session pool.
    #[error("the store has no session pool {0}; open it first")]
    NoPool(i64),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Anything else that the engine says.
    #[error("the store failed to {action}: {cause}; run the same command again, what was committed is kept")]
    Engine {
        /// What was tried.
        action: &'static str,
        /// What the engine says.
        cause: String,
    },
}
