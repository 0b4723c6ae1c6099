//! The record that shows a pool in the key-value store.
//!
//! Decision: it is written on a thread of its own, session by session, and given up as soon as it is too large: a pool may hold hundreds of
//! megabytes of cookies, and the crawl goes on while they are looked at. So each session is shown as it is at its moment.

use nephila_crawlee::RecordKey;
use nephila_model::{KeyValueWrite, KvValue, PoolPlace, Timestamp};
use nephila_session::{SessionPool, crawlee};
use std::io::{self, Write};

/// Bytes of the record at most.
const SHOWN: usize = 16 << 20;

/// The record of a pool that is kept in this place, under the pool's own name; `None` if it cannot be shown.
pub(super) fn record(pool: &SessionPool, place: &PoolPlace) -> Option<KeyValueWrite> {
    // A key that no file could have shows nothing.
    let key = if place.key == PoolPlace::KEY { Ok(RecordKey::session_pool()) } else { RecordKey::new(&*place.key) };
    let key = key.map_err(|error| tracing::warn!(%error, "the session pool is not shown in the key-value store")).ok()?;
    let mut text = UpTo { limit: SHOWN, text: Vec::new() };
    let sessions = pool.session_ids().into_iter().filter_map(|id| pool.session(&id));
    match crawlee::write_pool(&mut text, pool.settings().max_pool_size, sessions, Timestamp::now()) {
        Ok(()) => {}
        Err(crawlee::ShapeError::Json(error)) if error.is_io() => {
            tracing::warn!(
                limit = SHOWN,
                "the session pool is too large to be shown in the key-value store; it is kept all the same"
            );
            return None;
        }
        Err(error) => {
            tracing::warn!(%error, "the session pool could not be written as JSON");
            return None;
        }
    }
    let value = KvValue { content_type: "application/json; charset=utf-8".to_owned(), value: text.text.into() };
    Some(KeyValueWrite { store: place.store.clone(), key: key.as_str().to_owned(), value: Some(value) })
}

// Takes no more than so many bytes.
struct UpTo {
    limit: usize,
    text: Vec<u8>,
}

impl Write for UpTo {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused_at_the_limit() {
        let mut text = UpTo { limit: 4, text: Vec::new() };
        assert!(text.write_all(b"abcd").is_ok());
        assert!(text.write_all(b"e").is_err());
        assert_eq!(text.text, b"abcd");
    }
}
