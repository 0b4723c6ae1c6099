//! Which keys were accepted, in memory: a table of fingerprints that is asked before the disk.
//!
//! Decision: nearly every link of a page is known already, and the index of keys on the disk, whose order is that of a hash, has
//! no locality: among ten million keys each question is a page that is in no cache. So every key that is known to be committed
//! leaves a fingerprint here, nine bytes of the row: 64 bits of hash and the depth. A hit says "accepted" without the disk. As
//! long as the table holds *every* key of the store ([`Recall::Never`]), a miss says "never accepted" as surely; where it had to
//! forget some, a miss says nothing, and the disk is asked.
//!
//! What a hit is worth: two keys are taken for one if their 64 bits agree and so do the twelve bits that choose their buckets: a
//! chance of 2⁻⁷⁵ for a pair, 1e-9 for a crawl of ten million requests to lose one link. All 76 bits are hashes with secrets of
//! the process (multiply and add, strongly universal; one secret for the 64, another for the twelve), so that the chance is the
//! same for keys that somebody chose: no site can make two that agree, nor a few that fill a bucket and make the table double
//! early.
//!
//! Size: from 256 KiB to 128 MiB, which holds twelve million keys ([`Table`]). To double takes as long as to walk through all of
//! it, some tens of milliseconds the last of nine times, and whoever asks waits for that; the new half's memory is made before,
//! while nobody waits.
//!
//! What learning costs: once per opening all rows are walked in the order of their ids, about a third of a microsecond each, in pieces,
//! while nobody asks the reading side for anything. Until that is done, and for good if a read fails, a miss says nothing. It
//! ends early when the table is full: what it would go on to read would only take the place of keys that were taught since, and a
//! miss says nothing any more either way.
//!
//! Depths: a pending row takes the least depth that it was found at, so that a known key needs no look at its row only if the row
//! is as shallow already. The depth kept here is never less than that of a row that waits (0 if it waits no more), since a row's
//! depth only falls.

mod table;

use nephila_model::{CrawlId, UniqueKey};
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use table::{Print, Table};

/// So often may the table double: to 2²¹ buckets, 128 MiB.
const DOUBLINGS: usize = 9;

/// So many facts have their buckets fetched together: enough for the processor to wait for many at a time.
const TOGETHER: usize = 32;

/// A depth that is not known, or too large to be kept.
const ANY_DEPTH: u8 = u8::MAX;

/// What is remembered of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recall {
    /// It was accepted. If its row still waits, it does so at no more than this depth; `None` if that is not known.
    Known(Option<u32>),
    /// It was not accepted by a transaction that is committed.
    Never,
    /// The disk knows.
    Unsure,
}

/// A key that is on the disk, committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) crawl: CrawlId,
    pub(crate) key: UniqueKey,
    /// As in [`Recall::Known`].
    pub(crate) depth: Option<u32>,
}

/// How often there was doubt, when somebody began to teach all keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doubts(u64);

/// The keys of a store. Asked and taught from any thread.
#[derive(Debug)]
pub(crate) struct KnownKeys {
    secret: Secret,
    kept: RwLock<Kept>,
}

#[derive(Debug)]
struct Kept {
    table: Table,
    /// Whether every key on the disk was taught.
    all_taught: bool,
    doubts: Doubts,
}

impl KnownKeys {
    /// Nothing is known, and what is on the disk is not known to be all.
    pub(crate) fn new() -> Self {
        Self::with_doublings(DOUBLINGS)
    }

    /// The same, with another bound of its size.
    pub(crate) fn with_doublings(most: usize) -> Self {
        let kept = Kept { table: Table::new(most), all_taught: false, doubts: Doubts(0) };
        Self { secret: Secret::new(), kept: RwLock::new(kept) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of these keys, in order.
    pub(crate) fn recall(&self, crawl: CrawlId, keys: &[UniqueKey]) -> Vec<Recall> {
        let kept = self.read();
        keys.iter().map(|key| kept.recall(self.secret.print(crawl, key))).collect()
    }

    /// What is remembered of one key.
    pub(crate) fn recall_one(&self, crawl: CrawlId, key: &UniqueKey) -> Recall {
        self.read().recall(self.secret.print(crawl, key))
    }

    /// Takes in what is committed. Nothing else may come here: what a transaction has written may yet be rolled back.
    pub(crate) fn learn(&self, facts: impl IntoIterator<Item = Fact>) {
        let mut kept = self.write();
        let mut facts = facts.into_iter().map(|fact| {
            let depth = fact.depth.and_then(|depth| u8::try_from(depth).ok()).unwrap_or(ANY_DEPTH);
            (self.secret.print(fact.crawl, &fact.key), depth)
        });
        let mut some = Vec::with_capacity(TOGETHER);
        loop {
            some.extend(facts.by_ref().take(TOGETHER));
            if some.is_empty() {
                return;
            }
            kept.table.fetch(some.iter().map(|(print, _)| *print));
            for (print, depth) in some.drain(..) {
                while !kept.table.put(print, depth) {
                    // Most of what growing costs is memory that is used for the first time: not while others wait.
                    let buckets = kept.table.buckets();
                    drop(kept);
                    let half = Table::half(buckets);
                    kept = self.write();
                    kept.table.grow(half);
                }
            }
        }
    }

    /// To be asked for before the first key on the disk is read by whoever will say that [`Self::is_whole`].
    pub(crate) fn doubts(&self) -> Doubts {
        self.read().doubts
    }

    /// Every key of the store was taught since `before`, or is being taught before its transaction is answered: from here on a
    /// miss is an answer, unless there was a doubt in between (what it was about may not have been read), or the table had to
    /// forget something.
    pub(crate) fn is_whole(&self, before: Doubts) {
        let mut kept = self.write();
        kept.all_taught = kept.doubts == before;
    }

    /// Something may be on the disk that was not taught.
    pub(crate) fn doubt(&self) {
        let mut kept = self.write();
        kept.all_taught = false;
        kept.doubts.0 += 1;
    }

    /// Whether a miss will never be an answer again, since the table is as large as it may be, and full.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.read().table.has_forgotten()
    }
}

impl Kept {
    fn recall(&self, print: Print) -> Recall {
        match self.table.find(print) {
            Some(ANY_DEPTH) => Recall::Known(None),
            Some(depth) => Recall::Known(Some(u32::from(depth))),
            None if self.all_taught && !self.table.has_forgotten() => Recall::Never,
            None => Recall::Unsure,
        }
    }
}

/// What only this process knows: numbers for two hashes.
#[derive(Debug)]
struct Secret {
    tag: Hash,
    base: Hash,
}

impl Secret {
    fn new() -> Self {
        // The standard library's seeds come from the system's randomness.
        Self::drawn(&RandomState::new())
    }

    fn drawn(random: &impl BuildHasher) -> Self {
        Self { tag: Hash::from(random, 0), base: Hash::from(random, 1) }
    }

    fn print(&self, crawl: CrawlId, key: &UniqueKey) -> Print {
        let whole = u128::from_be_bytes(*key.as_bytes());
        let words = [whole >> 64, whole & u128::from(u64::MAX), u128::from(crawl.0.cast_unsigned())];
        let [upper, lower, ..] = self.base.of(words).to_be_bytes();
        Print { tag: self.tag.of(words).max(1), base: u16::from_be_bytes([upper, lower]) }
    }
}

/// One factor for each of three words of 64 bits, and what is added.
#[derive(Debug)]
struct Hash([u128; 4]);

impl Hash {
    fn from(random: &impl BuildHasher, which: u8) -> Self {
        let word = |number: u8| u128::from(random.hash_one((which, number)));
        Self([0, 1, 2, 3].map(|number| (word(2 * number) << 64) | word(2 * number + 1)))
    }

    fn of(&self, words: [u128; 3]) -> u64 {
        let [factors @ .., add] = &self.0;
        let sum = factors.iter().zip(words).fold(*add, |sum, (factor, word)| sum.wrapping_add(factor.wrapping_mul(word)));
        upper_half(sum)
    }
}

const fn upper_half(number: u128) -> u64 {
    (number >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hasher};

    const CRAWL: CrawlId = CrawlId(1);

    /// Secrets that are the same in each run.
    struct Seeded(u64);

    impl BuildHasher for Seeded {
        type Hasher = DefaultHasher;

        fn build_hasher(&self) -> DefaultHasher {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(self.0);
            hasher
        }
    }

    /// Where keys find their places is chance in a host, and the same in each run here.
    fn seeded(seed: u64, doublings: usize) -> KnownKeys {
        KnownKeys { secret: Secret::drawn(&Seeded(seed)), ..KnownKeys::with_doublings(doublings) }
    }

    fn key(number: usize) -> UniqueKey {
        UniqueKey::explicit(&number.to_string())
    }

    fn facts(numbers: std::ops::Range<usize>) -> impl Iterator<Item = Fact> {
        numbers.map(|number| Fact { crawl: CRAWL, key: key(number), depth: Some(3) })
    }

    /// Of the smallest table.
    const FEWEST_PLACES: usize = 7 << 12;

    fn places(keys: &KnownKeys) -> usize {
        7 * keys.read().table.buckets()
    }

    #[test]
    fn what_was_taught_is_known_and_nothing_else_in_every_size() {
        const MOST: usize = 100_000;
        let keys = seeded(0, DOUBLINGS);
        keys.is_whole(keys.doubts());
        let all: Vec<UniqueKey> = (0..MOST + 1_000).map(key).collect();
        let mut taught = 0;
        for size in [10_000, 24_000, 40_000, MOST] {
            keys.learn(all[taught..size].iter().map(|key| Fact { crawl: CRAWL, key: *key, depth: Some(3) }));
            taught = size;
            assert!(keys.recall(CRAWL, &all[..size]).into_iter().all(|found| found == Recall::Known(Some(3))), "{size}");
            assert!(keys.recall(CRAWL, &all[MOST..]).into_iter().all(|found| found == Recall::Never), "{size}");
        }
        assert_eq!(places(&keys), 4 * FEWEST_PLACES);
    }

    #[test]
    fn nearly_nine_places_in_ten_are_used_before_it_doubles() {
        const MOST: usize = 100_000;
        let all: Vec<UniqueKey> = (0..MOST).map(key).collect();
        let early = (0..60).filter(|seed| {
            let keys = seeded(*seed, DOUBLINGS);
            keys.learn(all.iter().map(|key| Fact { crawl: CRAWL, key: *key, depth: None }));
            places(&keys) != 4 * FEWEST_PLACES
        });
        let early = early.count();
        assert!(early <= 3, "{early} secrets of sixty");
    }

    #[test]
    fn a_miss_is_an_answer_only_where_every_key_was_taught_and_none_forgotten() {
        let keys = KnownKeys::new();
        keys.learn(facts(0..1));
        assert_eq!(keys.recall_one(CRAWL, &key(0)), Recall::Known(Some(3)));
        assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Unsure);
        keys.is_whole(keys.doubts());
        assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Never);
        keys.doubt();
        assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Unsure);
    }

    #[test]
    fn a_doubt_that_comes_while_all_keys_are_taught_is_not_forgotten() {
        let keys = KnownKeys::new();
        let before = keys.doubts();
        keys.learn(facts(0..1));
        keys.doubt();
        keys.is_whole(before);
        assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Unsure);
        // Whoever begins after it may read what it was about.
        keys.is_whole(keys.doubts());
        assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Never);
    }

    #[test]
    fn a_full_table_forgets_and_says_so() {
        let keys = seeded(0, 1);
        keys.is_whole(keys.doubts());
        let places = 2 * FEWEST_PLACES;
        assert!(!keys.has_forgotten());
        keys.learn(facts(0..2 * places));
        assert!(keys.has_forgotten());
        let all: Vec<UniqueKey> = (0..2 * places).map(key).collect();
        let known = keys.recall(CRAWL, &all).into_iter().filter(|found| *found != Recall::Unsure).count();
        assert!(known > places * 9 / 10 && known <= places, "{known} of {places}");
        // What came last is there.
        assert_eq!(keys.recall_one(CRAWL, &key(2 * places - 1)), Recall::Known(Some(3)));
        assert_eq!(keys.recall_one(CRAWL, &key(9_999_999)), Recall::Unsure);
    }

    #[test]
    fn the_least_depth_is_kept_and_one_that_is_too_large_is_none() {
        let keys = KnownKeys::new();
        for (depth, kept) in
            [(None, None), (Some(300), None), (Some(254), Some(254)), (Some(7), Some(7)), (Some(9), Some(7)), (None, Some(7))]
        {
            keys.learn([Fact { crawl: CRAWL, key: key(1), depth }]);
            assert_eq!(keys.recall_one(CRAWL, &key(1)), Recall::Known(kept), "{depth:?}");
        }
    }

    #[test]
    fn crawls_are_told_apart() {
        let keys = KnownKeys::new();
        keys.learn(facts(0..100));
        assert!((0..100).all(|number| keys.recall_one(CrawlId(2), &key(number)) == Recall::Unsure));
    }

    #[test]
    fn every_process_has_secrets_of_its_own() {
        let (one, other) = (Secret::new(), Secret::new());
        let prints = |secret: &Secret| (0..9).map(|number| secret.print(CRAWL, &key(number))).collect::<Vec<_>>();
        let bases = |prints: &[Print]| prints.iter().map(|print| print.base).collect::<Vec<_>>();
        let (ones, others) = (prints(&one), prints(&other));
        assert!(ones.iter().zip(&others).all(|(one, other)| one.tag != other.tag));
        assert_ne!(bases(&ones), bases(&others));
    }

    #[test]
    fn keys_that_were_chosen_to_look_alike_do_not_make_it_double_early() {
        // Three places in four, by keys that agree in their upper or their lower half. About one secret in a hundred finds no room for so
        // many keys; if they could be chosen, nearly all would. The secrets are the same in each run.
        let number = |at: u64| (0x6e65_7068_696c_6100, at);
        for lower in [false, true] {
            let chosen = |at: u64| {
                // Spread over the half that is free, as a search for URLs with such keys would spread them.
                let (fixed, free) = number(at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17));
                let (upper, below) = if lower { (free, fixed) } else { (fixed, free) };
                let key = UniqueKey::from_bytes(((u128::from(upper) << 64) | u128::from(below)).to_be_bytes());
                Fact { crawl: CRAWL, key, depth: None }
            };
            let doubles = |seed: &u64| {
                let keys = seeded(*seed, DOUBLINGS);
                keys.learn((0..FEWEST_PLACES as u64 * 3 / 4).map(chosen));
                places(&keys) != FEWEST_PLACES
            };
            let early = (0..100).filter(doubles).count();
            assert!(early <= 3, "{lower}: {early} secrets of a hundred");
        }
    }
}
