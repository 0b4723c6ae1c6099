//! The table of [`super::KnownKeys`]: buckets of fingerprints.
//!
//! Decision: buckets of 64 bytes with seven places, two buckets that a key may be in, and one move to make room, so that nine
//! places in ten are used before it doubles: from 256 KiB to 128 MiB, which holds twelve million keys. Doubling adds a half and
//! moves into it what belongs there; what is there stays where it is, so that no copy is ever made.

/// Bits of a fingerprint that choose a bucket while the table is small.
const BASE_BITS: u32 = 12;
const BASE_MASK: usize = (1 << BASE_BITS) - 1;

/// Places of a bucket.
const WAYS: usize = 7;

/// A key as the table sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Print {
    /// Never 0, which is an empty place.
    pub(super) tag: u64,
    /// Chooses the first bucket, with its lowest twelve bits.
    pub(super) base: u16,
}

const fn lower_bits(number: u64) -> usize {
    number as usize
}

/// 64 bytes: seven fingerprints, their depths, and the place to be given up next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    tags: [u64; WAYS],
    depths: [u8; WAYS],
    next: u8,
}

impl Bucket {
    fn place_of(&self, tag: u64) -> Option<usize> {
        self.tags.iter().position(|there| *there == tag)
    }

    fn free(&self) -> usize {
        self.tags.iter().filter(|there| **there == 0).count()
    }

    fn put(&mut self, place: usize, tag: u64, depth: u8) {
        (self.tags[place], self.depths[place]) = (tag, depth);
    }
}

/// The fingerprints.
#[derive(Debug)]
pub(super) struct Table {
    /// The first has the buckets of the smallest table; each further one as many as all before it.
    parts: Vec<Vec<Bucket>>,
    most_doublings: usize,
    has_forgotten: bool,
}

impl Table {
    /// An empty one, which may double so often.
    pub(super) fn new(most_doublings: usize) -> Self {
        Self { parts: vec![vec![Bucket::default(); 1 << BASE_BITS]], most_doublings, has_forgotten: false }
    }

    /// Whether it was full once, and what came later took the place of what was there.
    pub(super) const fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// The depth that is kept with a fingerprint; `None` if it is not here.
    pub(super) fn find(&self, print: Print) -> Option<u8> {
        self.homes(print).into_iter().find_map(|at| {
            let bucket = self.bucket(at);
            bucket.place_of(print.tag).map(|place| bucket.depths[place])
        })
    }

    /// Brings the buckets of fingerprints into the processor's cache. In a large table each is a wait for memory, and half of what it costs to
    /// take a fingerprint in; reads that do not depend on each other wait together.
    pub(super) fn fetch(&self, prints: impl Iterator<Item = Print>) {
        let tags = prints.flat_map(|print| self.homes(print)).map(|at| self.bucket(at).tags[0]);
        std::hint::black_box(tags.fold(0, |all, tag| all ^ tag));
    }

    /// Takes a fingerprint in, or lowers the depth of one that is here. `false` if it must grow first.
    pub(super) fn put(&mut self, print: Print, depth: u8) -> bool {
        let [first, second] = self.homes(print);
        for at in [first, second] {
            let bucket = self.bucket_mut(at);
            if let Some(place) = bucket.place_of(print.tag) {
                bucket.depths[place] = bucket.depths[place].min(depth);
                return true;
            }
        }
        let at = if self.bucket(first).free() >= self.bucket(second).free() { first } else { second };
        if self.fill(at, print.tag, depth) || self.make_room(first, print, depth) || self.make_room(second, print, depth) {
            return true;
        }
        if self.parts.len() <= self.most_doublings {
            return false;
        }
        self.has_forgotten = true;
        let bucket = self.bucket_mut(first);
        bucket.put(usize::from(bucket.next) % WAYS, print.tag, depth);
        bucket.next = bucket.next.wrapping_add(1);
        true
    }

    /// How many buckets there are.
    pub(super) const fn buckets(&self) -> usize {
        1 << (BASE_BITS as usize + self.parts.len() - 1)
    }

    /// The two buckets that a fingerprint may be in.
    fn homes(&self, print: Print) -> [usize; 2] {
        let first = usize::from(print.base) & BASE_MASK | (self.grown(print.tag) << BASE_BITS);
        [first, Self::other_home(first, print.tag)]
    }

    // From either of the two to the other: the upper bits of the bucket's number depend on the tag alone.
    fn other_home(home: usize, tag: u64) -> usize {
        home ^ (lower_bits(tag >> 52) & BASE_MASK | 1)
    }

    /// The bits of a tag that choose among the parts.
    fn grown(&self, tag: u64) -> usize {
        lower_bits(tag) & ((1 << (self.parts.len() - 1)) - 1)
    }

    fn bucket(&self, at: usize) -> &Bucket {
        let (part, at) = Self::address(at);
        &self.parts[part][at]
    }

    fn bucket_mut(&mut self, at: usize) -> &mut Bucket {
        let (part, at) = Self::address(at);
        &mut self.parts[part][at]
    }

    fn address(at: usize) -> (usize, usize) {
        match (at >> BASE_BITS).checked_ilog2() {
            None => (0, at),
            Some(doubling) => (doubling as usize + 1, at - (1 << (BASE_BITS + doubling))),
        }
    }

    fn fill(&mut self, at: usize, tag: u64, depth: u8) -> bool {
        let bucket = self.bucket_mut(at);
        let place = bucket.place_of(0);
        if let Some(place) = place {
            bucket.put(place, tag, depth);
        }
        place.is_some()
    }

    /// Moves one fingerprint of a full bucket to its other bucket, and takes its place.
    fn make_room(&mut self, at: usize, print: Print, depth: u8) -> bool {
        let bucket = *self.bucket(at);
        for (place, (tag, its_depth)) in bucket.tags.into_iter().zip(bucket.depths).enumerate() {
            if self.fill(Self::other_home(at, tag), tag, its_depth) {
                self.bucket_mut(at).put(place, print.tag, depth);
                return true;
            }
        }
        false
    }

    /// What [`Table::grow`] takes for a table of so many buckets; `None` if the system has not the memory.
    pub(super) fn half(buckets: usize) -> Option<Vec<Bucket>> {
        let mut half = Vec::new();
        half.try_reserve_exact(buckets).ok()?;
        half.resize(buckets, Bucket::default());
        Some(half)
    }

    /// Twice as large with this half; never larger without it. One that was made for another size is left.
    pub(super) fn grow(&mut self, half: Option<Vec<Bucket>>) {
        let doublings = self.parts.len() - 1;
        let Some(mut half) = half else {
            self.most_doublings = doublings;
            return;
        };
        if half.len() != self.buckets() {
            return;
        }
        for (new, old) in half.iter_mut().zip(self.parts.iter_mut().flatten()) {
            for place in 0..WAYS {
                // The tag's next bit says in which half it is from here on.
                if (old.tags[place] >> doublings) & 1 == 1 {
                    new.put(place, old.tags[place], old.depths[place]);
                    old.tags[place] = 0;
                }
            }
        }
        self.parts.push(half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_a_line_of_the_cache() {
        assert_eq!(size_of::<Bucket>(), 64);
    }
}
