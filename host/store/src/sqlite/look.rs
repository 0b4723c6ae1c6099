//! How a job is looked at from outside, so that what is read is true and nothing is left behind.
//!
//! Decision: a job at rest is read as a file that does not change, and to be sure of that its lock is held, shared, for as long
//! as the connection lives; a crawl that is started just then is refused. Everything else is read as SQLite reads it: then its
//! own locks keep what is read true, and ours is given back at once. Where the lock cannot be had although nobody works (a copy
//! without its lock file), a crawl might begin at any moment, so that is read in the second way too, which leaves an empty log
//! and its index behind; where nothing can be written, nobody can begin either.

use super::schema::{self, Found};
use crate::{JobDir, SharedHold, StoreError};
use rusqlite::Connection;

/// A connection that reads.
pub(super) struct Look {
    // Dropped first: the file may change when nobody holds it.
    pub(super) connection: Connection,
    pub(super) footing: Footing,
}

/// What keeps true what is read.
pub(super) enum Footing {
    /// The file does not change.
    AtRest { _hold: Option<SharedHold> },
    /// The engine's locks, in a job whose process died: the engine reads the whole log when it is looked at anew.
    Died,
    /// The engine's locks, beside a process that works, or may.
    Worked,
}

/// Looks at a job; `None` if no crawl was ever opened in it.
pub(super) fn look(dir: &JobDir) -> Result<Option<Look>, StoreError> {
    // Asked once, and before the first look at the file: whoever has it knows that nobody has worked since.
    let hold = dir.hold();
    let (open, footing): (fn(&JobDir) -> _, _) = match (schema::inspect(dir)?, hold) {
        (Found::Nothing | Found::Begun, _) => return Ok(None),
        (Found::AtRest, Some(hold)) => (schema::look_at_rest, Footing::AtRest { _hold: Some(hold) }),
        (Found::AtRest, None) if !dir.may_be_written() && !dir.in_use() => {
            (schema::look_at_rest, Footing::AtRest { _hold: None })
        }
        (Found::WithLog, Some(_)) => (schema::look_at_log, Footing::Died),
        (Found::AtRest | Found::WithLog, None) => (schema::look_at_log, Footing::Worked),
    };
    let what = || dir.database().display().to_string();
    let connection = open(dir).map_err(|trouble: super::trouble::Trouble| trouble.into_error("read the job", &what()))?;
    Ok(Some(Look { connection, footing }))
}
