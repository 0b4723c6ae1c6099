//! All chance of the site: a hash of (seed, what, number), never a generator with a state.
//!
//! A stateless hash makes each answer independent of the order of requests, which a stateful generator could not; the cost
//! is that every decision needs a name of its own.

/// The finaliser of splitmix64: a bijection on 64 bits, so that distinct inputs stay distinct.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(pub u64);

impl Seed {
    /// The hash of a named decision about the thing with this number; distinct numbers give distinct hashes.
    pub fn hash(self, what: &str, number: u64) -> u64 {
        let name = what.bytes().fold(mix(self.0), |hash, byte| mix(hash ^ u64::from(byte)));
        mix(name ^ number)
    }

    /// A number below `bound` (below 1 when `bound` is 0).
    pub fn below(self, what: &str, number: u64, bound: usize) -> usize {
        (self.hash(what, number) % bound.max(1) as u64) as usize
    }

    /// A share in `[0, 1)`. Compared with a ratio: a higher ratio only adds to what a lower one chose.
    pub fn share(self, what: &str, number: u64) -> f64 {
        (self.hash(what, number) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T: ?Sized>(self, what: &str, number: u64, list: &[&'a T]) -> &'a T {
        list[self.below(what, number, list.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Seed;
    use std::collections::HashSet;

    #[test]
    fn distinct_numbers_have_distinct_hashes() {
        let hashes: HashSet<u64> = (0..10_000).map(|n| Seed(7).hash("upc", n)).collect();
        assert_eq!(hashes.len(), 10_000);
    }

    #[test]
    fn shares_fill_the_unit_interval_evenly() {
        let below = (0..10_000).filter(|n| Seed(7).share("fail", *n) < 0.1).count();
        assert!((900..1_100).contains(&below), "{below}");
    }
}
