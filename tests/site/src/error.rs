//! Why a site could not start. A site that runs has no errors of its own: whatever goes wrong is an HTTP answer.

use std::path::PathBuf;

/// Why a site could not start.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The port is taken, or the machine allows no more sockets.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port that was asked for; 0 means any.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder to serve is not there or may not be read.
    #[error("cannot serve the folder {}", path.display())]
    Folder {
        /// The folder that was asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Switches that contradict each other or are out of range.
    #[error("{0}")]
    Switches(String),
}
