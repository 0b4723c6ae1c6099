//! What goes wrong inside the engine, sorted by whom it concerns.
//!
//! Decision: the code between a task and its answer uses one error type, and the sorting happens here: a value that the engine refuses
//! fails its outcome alone (S3); a full disk, a damaged file and everything else fail the whole group.

use crate::StoreError;
use rusqlite::{Error, ErrorCode, ffi};

/// What went wrong in a task.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The engine says so.
    Sql(Error),
    /// The store itself refuses.
    Store(StoreError),
    /// A row holds what no version of ours writes.
    Damaged(String),
}

/// The result of a task, or of a part of one.
pub(crate) type Done<T> = Result<T, Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Trouble {
    /// What the caller of the store is told. `what` is the file.
    pub(crate) fn into_error(self, action: &'static str, what: &str) -> StoreError {
        let what = || what.to_owned();
        match self {
            Self::Store(error) => error,
            Self::Damaged(cause) => StoreError::Damaged { what: what(), cause },
            Self::Sql(error) => match &error {
                Error::SqliteFailure(failure, _) => match failure.code {
                    _ if is_full(failure) => StoreError::DiskFull { what: what() },
                    ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                        StoreError::Damaged { what: what(), cause: error.to_string() }
                    }
                    _ => StoreError::Engine { action, cause: error.to_string() },
                },
                Error::FromSqlConversionFailure(..) | Error::IntegralValueOutOfRange(..) | Error::InvalidColumnType(..) => {
                    StoreError::Damaged { what: what(), cause: error.to_string() }
                }
                _ => StoreError::Engine { action, cause: error.to_string() },
            },
        }
    }

    /// Whether there was no room.
    pub(crate) fn is_full_disk(&self) -> bool {
        matches!(self, Self::Sql(Error::SqliteFailure(failure, _)) if is_full(failure))
    }

    /// The engine's words if it refused a value, so that only the outcome with that value fails.
    pub(crate) fn refused_value(&self) -> Option<String> {
        let Self::Sql(Error::SqliteFailure(failure, message)) = self else { return None };
        let refused = matches!(failure.code, ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch);
        refused.then(|| message.clone().unwrap_or_else(|| failure.to_string()))
    }
}

// The second: the file of the shared WAL index could not grow.
fn is_full(failure: &ffi::Error) -> bool {
    failure.code == ErrorCode::DiskFull || failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE
}
