//! The exit codes of docs/cli.md, and how an error is said.

use crate::voice::{self, note};
use nephila_build::BuildError;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, also when a limit that the user asked for was reached.
    Done,
    /// Done, but too many requests failed, or the plugin's finish failed.
    TooManyFailed,
    /// Usage, configuration, or anything refused before the crawl began.
    Refused,
    /// Stopped before the end; the same command resumes it.
    Stopped,
}

impl Exit {
    /// What the process exits with.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::TooManyFailed => 1,
            Self::Refused => 2,
            Self::Stopped => 3,
        })
    }
}

/// The command was told to stop before it had begun.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped before the crawl began; the same command starts it")
    }
}

impl std::error::Error for Interrupted {}

/// Says an error in one line, what failed, on what, and the way out, with the author's own lines below it where one is in a source, and gives what the process exits with.
pub fn refuse(error: &anyhow::Error) -> Exit {
    note!("{error:#}");
    if let Some(details) = error.downcast_ref::<BuildError>().and_then(BuildError::details) {
        voice::say(&voice::lines(&details));
    }
    if error.is::<Interrupted>() { Exit::Stopped } else { Exit::Refused }
}
