//! Taking in the keys of a job that was begun before: the rows are walked once, piece by piece, and taught to [`KnownKeys`].
//!
//! Decision: nothing waits for it, and nothing fails with it. Until it is done, or if it comes to nothing, keys that were not
//! taught are looked up on the disk, which is slower and as exact.

use super::known::{Doubts, KnownKeys};
use super::requests;
use super::trouble::Done;
use rusqlite::Connection;
use std::sync::Arc;

/// Rows whose keys are taken in at a time: some milliseconds, which is how long a reader may wait for a piece.
const KEYS_AT_A_TIME: usize = 4_096;

/// A walk over the rows, as far as it has come.
pub(crate) struct Learning {
    known: Arc<KnownKeys>,
    /// The id of the row that was read last.
    last: i64,
    began: Doubts,
}

impl Learning {
    /// To be begun before anything is read.
    pub(crate) fn new(known: Arc<KnownKeys>) -> Self {
        let began = known.doubts();
        Self { known, last: 0, began }
    }

    /// Takes in the next keys; says whether there are more to come.
    pub(crate) fn piece(&mut self, rows: &Connection) -> bool {
        self.try_piece(rows).unwrap_or_else(|trouble| {
            tracing::warn!(?trouble, "the keys of the job could not all be read; links are looked up on the disk instead");
            false
        })
    }

    fn try_piece(&mut self, rows: &Connection) -> Done<bool> {
        let facts = requests::keys_after(rows, self.last, KEYS_AT_A_TIME, |id| self.last = id)?;
        let was_last = facts.len() < KEYS_AT_A_TIME;
        self.known.learn(facts);
        if was_last {
            self.known.is_whole(self.began);
        }
        // A full table forgets keys that were taught since for each that is taken in here.
        Ok(!was_last && !self.known.has_forgotten())
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::Recall;
    use super::super::schema;
    use super::*;
    use nephila_model::{CrawlId, UniqueKey};

    const CRAWL: CrawlId = CrawlId(1);

    /// Keys are their ids, in 16 bytes.
    fn rows(count: usize) -> Connection {
        let connection = schema::open_in_memory().expect("a connection");
        let insert = format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
             INSERT INTO requests (id, crawl, key, site, priority, rank, depth, url)
             SELECT i, 1, CAST(printf('%016d', i) AS BLOB), 1, 0, i, 2, '' FROM n"
        );
        connection.execute_batch(&insert).expect("rows");
        connection
    }

    fn key(id: usize) -> UniqueKey {
        UniqueKey::from_bytes(format!("{id:016}").into_bytes().try_into().expect("16 bytes"))
    }

    #[test]
    fn all_keys_are_taken_in_and_a_miss_is_an_answer_after_the_last_piece() {
        let (known, rows) = (Arc::new(KnownKeys::new()), rows(2 * KEYS_AT_A_TIME));
        let mut learning = Learning::new(known.clone());
        for _ in 0..2 {
            assert!(learning.piece(&rows));
            assert_eq!(known.recall_one(CRAWL, &key(0)), Recall::Unsure);
        }
        assert!(!learning.piece(&rows));
        assert_eq!(known.recall_one(CRAWL, &key(0)), Recall::Never);
        assert!((1..=2 * KEYS_AT_A_TIME).all(|id| known.recall_one(CRAWL, &key(id)) == Recall::Known(Some(2))));
    }

    #[test]
    fn a_doubt_on_the_way_leaves_every_miss_to_the_disk() {
        let (known, rows) = (Arc::new(KnownKeys::new()), rows(KEYS_AT_A_TIME + 1));
        let mut learning = Learning::new(known.clone());
        assert!(learning.piece(&rows));
        known.doubt();
        assert!(!learning.piece(&rows));
        assert_eq!(known.recall_one(CRAWL, &key(0)), Recall::Unsure);
    }

    #[test]
    fn it_ends_when_the_table_is_full() {
        let pieces = 10;
        let (known, rows) = (Arc::new(KnownKeys::with_doublings(0)), rows(pieces * KEYS_AT_A_TIME));
        let mut learning = Learning::new(known.clone());
        let taken = (0..).take_while(|_| learning.piece(&rows)).count() + 1;
        assert!(known.has_forgotten() && taken < pieces, "{taken}");
        assert_eq!(known.recall_one(CRAWL, &key(0)), Recall::Unsure);
    }

    #[test]
    fn a_read_that_fails_ends_it_and_leaves_every_miss_to_the_disk() {
        let (known, rows) = (Arc::new(KnownKeys::new()), rows(3));
        rows.execute_batch("UPDATE requests SET key = 'text' WHERE id = 2").expect("edited");
        assert!(!Learning::new(known.clone()).piece(&rows));
        assert_eq!(known.recall_one(CRAWL, &key(0)), Recall::Unsure);
    }
}
