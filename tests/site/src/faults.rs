//! Which page makes which trouble: a pure function of the seed and the page's number, but for the count of tries.
//!
//! A page has at most one trouble (it fails or it breaks) and moves in at most one way (by redirect or by meta refresh), so
//! that ratios add up and a test can tell the numbers beforehand. The order of a visit: redirects, then trouble, then content.

use crate::charset::{CHARSETS, Charset};
use crate::config::Switches;
use crate::seed::Seed;
use std::sync::atomic::{AtomicU32, Ordering};

const REDIRECT_STATUS: [u16; 5] = [301, 302, 303, 307, 308];
/// `other-0.localhost` up to here.
const OTHER_HOSTS: usize = 4;

/// What a page does to its visitors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fate {
    pub trouble: Trouble,
    /// Trouble meets the visitor after the redirects, not before.
    pub trouble_at_end: bool,
    pub detour: Detour,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Trouble {
    None,
    Fails,
    Breaks,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Detour {
    None,
    Refresh,
    Redirect {
        status: u16,
        hops: u8,
        /// The last hop leads to this other page.
        converges: Option<usize>,
    },
}

impl Fate {
    const CALM: Self = Self { trouble: Trouble::None, trouble_at_end: false, detour: Detour::None };
}

/// The faults of one site.
pub(crate) struct Faults {
    switches: Switches,
    seed: Seed,
    pages: usize,
    /// Pages below this number (`/`, listings) are never redirected.
    first_redirectable: usize,
    calm: bool,
    /// Requests that each page has had at the place of its trouble.
    tries: Vec<AtomicU32>,
}

impl Faults {
    pub fn new(switches: Switches, pages: usize, first_redirectable: usize) -> Self {
        let calm = switches.fail_ratio == 0.0
            && switches.broken_ratio == 0.0
            && switches.redirect_ratio == 0.0
            && switches.meta_refresh_ratio == 0.0;
        let counted = if switches.fail_ratio + switches.broken_ratio > 0.0 { pages } else { 0 };
        let tries = (0..counted).map(|_| AtomicU32::new(0)).collect();
        Self { seed: Seed(switches.seed), switches, pages, first_redirectable, calm, tries }
    }

    /// What the page with this number does.
    pub fn fate(&self, id: usize) -> Fate {
        if self.calm || id == 0 {
            return Fate::CALM;
        }
        let trouble = self.seed.share("trouble", id as u64);
        let trouble = if trouble < self.switches.fail_ratio {
            Trouble::Fails
        } else if trouble < self.switches.fail_ratio + self.switches.broken_ratio {
            Trouble::Breaks
        } else {
            Trouble::None
        };
        let detour = self.detour(id);
        let own_end = matches!(detour, Detour::Redirect { converges: None, .. });
        Fate { trouble, trouble_at_end: own_end && self.seed.below("place", id as u64, 2) == 1, detour }
    }

    fn detour(&self, id: usize) -> Detour {
        if self.redirects(id) {
            return Detour::Redirect {
                status: REDIRECT_STATUS[self.seed.below("status", id as u64, REDIRECT_STATUS.len())],
                hops: 1 + self.seed.below("hops", id as u64, 2) as u8,
                converges: self.converges(id),
            };
        }
        // The upper end of the same interval: a page cannot be both.
        let refreshes = self.seed.share("detour", id as u64) >= 1.0 - self.switches.meta_refresh_ratio;
        if refreshes { Detour::Refresh } else { Detour::None }
    }

    fn redirects(&self, id: usize) -> bool {
        id >= self.first_redirectable && self.seed.share("detour", id as u64) < self.switches.redirect_ratio
    }

    /// Another page that does not redirect itself; none when chance finds none.
    fn converges(&self, id: usize) -> Option<usize> {
        if self.seed.share("converge", id as u64) >= self.switches.converge_ratio {
            return None;
        }
        let redirectable = self.pages.saturating_sub(self.first_redirectable);
        (0..64)
            .map(|attempt| self.first_redirectable + self.seed.below("target", id as u64 * 64 + attempt, redirectable))
            .find(|target| *target != id && *target < self.pages && !self.redirects(*target))
    }

    /// The other host that a hop leads to; `None` stays on the host. The last hop always leaves, where leaving is asked for.
    pub fn hop_host(&self, id: usize, hop: u8, last: bool) -> Option<String> {
        let n = id as u64 * 4 + u64::from(hop);
        let leaves = self.switches.off_site_redirects && (last || self.seed.below("leaves", n, 2) == 1);
        leaves.then(|| format!("other-{}.localhost", self.seed.below("other", n, OTHER_HOSTS)))
    }

    /// Counts a request to a page at the place of its trouble, and tells whether it is still in trouble.
    pub fn still_in_trouble(&self, id: usize) -> bool {
        let Some(tries) = self.tries.get(id) else { return false };
        let before = tries.fetch_add(1, Ordering::Relaxed);
        self.switches.heal_after == 0 || before < self.switches.heal_after
    }

    pub fn reset(&self) {
        self.tries.iter().for_each(|tries| tries.store(0, Ordering::Relaxed));
    }

    /// The charset of a page; `None` is UTF-8.
    pub fn charset(&self, id: usize) -> Option<&'static Charset> {
        let odd = id != 0 && self.seed.share("charset", id as u64) < self.switches.charset_ratio;
        odd.then(|| &CHARSETS[self.seed.below("which charset", id as u64, CHARSETS.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::{Detour, Fate, Faults, Trouble};
    use crate::config::Switches;

    fn faults(switches: Switches) -> Faults {
        Faults::new(switches, 2_000, 1)
    }

    fn count(faults: &Faults, wanted: impl Fn(Fate) -> bool) -> usize {
        (0..2_000).filter(|id| wanted(faults.fate(*id))).count()
    }

    #[test]
    fn ratios_are_kept_and_the_start_page_is_calm() {
        let all = faults(Switches { fail_ratio: 1.0, redirect_ratio: 1.0, charset_ratio: 1.0, ..Switches::default() });
        assert_eq!(all.fate(0), Fate::CALM);
        assert_eq!(all.charset(0), None);
        assert_eq!(count(&all, |fate| fate.trouble == Trouble::Fails), 1_999);

        let some = faults(Switches { broken_ratio: 0.2, meta_refresh_ratio: 0.3, ..Switches::default() });
        let broken = count(&some, |fate| fate.trouble == Trouble::Breaks);
        let refreshing = count(&some, |fate| fate.detour == Detour::Refresh);
        assert!((330..470).contains(&broken), "{broken}");
        assert!((520..680).contains(&refreshing), "{refreshing}");
    }

    #[test]
    fn trouble_heals_after_its_tries_or_never() {
        let heals = faults(Switches { fail_ratio: 1.0, heal_after: 2, ..Switches::default() });
        assert_eq!([(); 4].map(|()| heals.still_in_trouble(5)), [true, true, false, false]);
        heals.reset();
        assert!(heals.still_in_trouble(5));

        let never = faults(Switches { fail_ratio: 1.0, heal_after: 0, ..Switches::default() });
        assert!((0..100).all(|_| never.still_in_trouble(5)));
    }

    #[test]
    fn redirects_converge_only_when_asked_and_only_on_pages_that_stay() {
        let apart = faults(Switches { redirect_ratio: 0.5, ..Switches::default() });
        assert_eq!(count(&apart, |fate| matches!(fate.detour, Detour::Redirect { converges: Some(_), .. })), 0);

        let together = faults(Switches { redirect_ratio: 0.5, converge_ratio: 1.0, ..Switches::default() });
        for id in 0..2_000 {
            if let Detour::Redirect { converges, .. } = together.fate(id).detour {
                let target = converges.unwrap();
                assert!(target != id && target != 0 && !together.redirects(target));
            }
        }
    }
}
