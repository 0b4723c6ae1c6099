//! What shrinks the concurrency at once, without trials: memory, and a storage that refuses.
//!
//! Decision: memory is the one resource whose end is the end of the process, so that it is acted upon with each sample: over its
//! limit a quarter goes, near its end half. One cut is given the time to take effect, unless memory still grows. What has been
//! cut comes back only while memory is roomy, never by more than memory would bear if all of it grew alike, and for ten minutes
//! only up to four fifths of what was too much; a time that doubles if it goes wrong again. Between tight and over nothing moves:
//! there it settles.

use super::{Observations, Reason};
use crate::settings::Bounds;
use crate::snapshotter::{MemoryLevel, MemoryState};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a cut for memory may take to show.
const TO_SHOW: Duration = Duration::from_secs(3);

/// How long one for the storage may.
const CLIENT_TO_SHOW: Duration = Duration::from_secs(10);

/// Samples that are kept at most, however fast they come.
const MOST: usize = 300;

/// Without growth after a cut.
const NO_GROWTH: Duration = Duration::from_secs(30);

/// How long it is remembered what was too much, the first time and at most.
const MEMORY: (Duration, Duration) = (Duration::from_secs(600), Duration::from_secs(7_200));

/// A rise of memory that is to be expected is so many times the largest one of late.
const SAFETY: f64 = 1.5;

/// What was too much is forgotten when it would use less of memory than its limit by this share.
const FAR: f64 = 0.25;

/// Memory that is less by this share of all from one sample to the next is falling, and not only trembling.
const FALL: f64 = 0.005;

/// What growth leaves free below memory's limit.
const SPARE: f64 = 0.1;

/// Growth goes by the most that was used for so long: one sample may be a lucky one.
const PEAK: Duration = Duration::from_secs(30);

/// Cuts, and when the last one was.
#[derive(Debug)]
pub(super) struct Brake {
    last: Option<Cut>,
    remembers: Duration,
    /// Samples of late; the newest is the one that was acted upon, or not, before.
    samples: VecDeque<MemoryState>,
}

#[derive(Debug, Clone, Copy)]
struct Cut {
    at: Instant,
    /// So many were too many.
    base: usize,
    until: Instant,
}

impl Cut {
    /// Whether what was too many then would be too many now, with `limit` in flight and memory as it is.
    fn still_holds(&self, now: Instant, limit: usize, memory: Option<MemoryState>) -> bool {
        // Whoever took the memory may have given it back.
        let would_use = |memory: MemoryState| memory.used * self.base as f64 / limit.max(1) as f64;
        now < self.until && memory.is_none_or(|memory| would_use(memory) > memory.limit - FAR)
    }
}

impl Brake {
    /// Nothing was cut yet.
    pub(super) fn new() -> Self {
        Self { last: None, remembers: MEMORY.0, samples: VecDeque::new() }
    }

    /// A concurrency less than `limit`, and why, if something must shrink now.
    pub(super) fn press(&mut self, now: Instant, limit: usize, seen: &Observations, bounds: Bounds) -> Option<(usize, Reason)> {
        // With fewer in flight than might be, a part of what might be is no cut.
        let in_flight = seen.work.mean_running.max(seen.work.running as f64).ceil() as usize;
        let base = limit.min(in_flight);
        let needed = self.needed(now, limit, base, seen);
        self.keep(seen.memory);
        let (to, reason) = needed?;
        self.note(now, base);
        let to = bounds.clamp(to);
        (to < limit).then_some((to, reason))
    }

    /// Whether the concurrency may grow again.
    pub(super) fn may_grow(&self, now: Instant) -> bool {
        self.last.is_none_or(|cut| cut.at + NO_GROWTH <= now)
    }

    /// The greatest concurrency up to `wanted` that can be borne, with `limit` in flight now.
    pub(super) fn bearable(&self, now: Instant, limit: usize, wanted: usize) -> usize {
        let memory = self.peak(now);
        let ceiling =
            self.last.filter(|cut| cut.still_holds(now, limit, memory)).map_or(usize::MAX, |cut| cut.base - cut.base.div_ceil(5));
        let wanted = wanted.min(ceiling.max(limit));
        let Some(memory) = memory else { return wanted };
        if memory.level > MemoryLevel::Roomy {
            return limit.min(wanted);
        }
        let growth = if memory.used > 0.0 { (memory.limit - SPARE) / memory.used } else { f64::INFINITY };
        // A float beyond the range becomes the greatest number.
        wanted.min((limit as f64 * growth) as usize).max(limit.min(wanted))
    }

    fn keep(&mut self, memory: Option<MemoryState>) {
        let Some(memory) = memory else { return };
        if self.samples.back().is_none_or(|before| memory.at > before.at) {
            self.samples.push_back(memory);
        }
        while self.samples.len() > MOST || self.samples.front().is_some_and(|oldest| memory.at - oldest.at > PEAK) {
            self.samples.pop_front();
        }
    }

    /// The fullest that memory was of late.
    fn peak(&self, now: Instant) -> Option<MemoryState> {
        let last_cut = self.last.map(|cut| cut.at);
        let late =
            self.samples.iter().filter(|sample| now.saturating_duration_since(sample.at) <= PEAK && Some(sample.at) > last_cut);
        let fullest = |a: MemoryState, b: MemoryState| MemoryState { level: a.level.max(b.level), used: a.used.max(b.used), ..b };
        late.copied().reduce(fullest).or(self.samples.back().copied())
    }

    /// The most that memory rose by from one sample to the next.
    fn largest_rise(&self) -> f64 {
        self.samples.iter().zip(self.samples.iter().skip(1)).map(|(before, after)| after.used - before.used).fold(0.0, f64::max)
    }

    fn needed(&self, now: Instant, limit: usize, base: usize, seen: &Observations) -> Option<(usize, Reason)> {
        let since = self.last.map_or(Duration::MAX, |cut| now.saturating_duration_since(cut.at));
        let before = self.samples.back();
        let is_new = |memory: &MemoryState| before.is_none_or(|before| memory.at > before.at);
        if let Some(memory) = seen.memory.filter(is_new) {
            let rise = before.map_or(0.0, |before| memory.used - before.used);
            let is_near_its_end = memory.level == MemoryLevel::Critical
                // One more such rise, and it is over before the next look.
                || (memory.level >= MemoryLevel::Tight && memory.used + rise >= 1.0);
            let falls = rise < -FALL;
            let has_shown = since >= TO_SHOW && seen.work.running <= limit;
            if is_near_its_end && (has_shown || !falls) {
                return Some((base / 2, Reason::MemoryCritical));
            }
            let is_over = memory.level >= MemoryLevel::Over && seen.current.memory.is_over();
            // It trembles so much that it may be over before the next look.
            let is_unsteady = memory.level >= MemoryLevel::Tight && memory.used + SAFETY * self.largest_rise() >= 1.0;
            if (is_over || is_unsteady) && has_shown && !falls {
                return Some((base - base.div_ceil(4), Reason::MemoryOver));
            }
        }
        (seen.current.client.is_over() && since >= CLIENT_TO_SHOW).then(|| (base - base.div_ceil(4), Reason::ClientErrors))
    }

    fn note(&mut self, now: Instant, base: usize) {
        if let Some(last) = self.last.filter(|last| last.until <= now) {
            let calm = now.saturating_duration_since(last.until);
            // As soon as it was forgotten it went wrong again.
            let again = calm < self.remembers;
            self.remembers = if again { self.remembers.saturating_mul(2).min(MEMORY.1) } else { MEMORY.0 };
        }
        self.last = Some(Cut { at: now, base, until: now + self.remembers });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::tests::{at, observations, over};

    fn bounds() -> Bounds {
        Bounds::new(2.try_into().unwrap(), 100.try_into().unwrap()).unwrap()
    }

    fn memory(start: Instant, second: u64, used: f64, level: MemoryLevel) -> Option<MemoryState> {
        Some(MemoryState { at: at(start, second), level, used, limit: 0.9 })
    }

    #[test]
    fn over_its_limit_a_quarter_goes_and_is_given_time_to_show() {
        let (start, mut brake) = (Instant::now(), Brake::new());
        let mut seen = observations(100, 100);
        seen.current.memory = over();
        seen.memory = memory(start, 0, 0.92, MemoryLevel::Over);
        assert_eq!(brake.press(at(start, 0), 100, &seen, bounds()), Some((75, Reason::MemoryOver)));
        // Those that were in flight end by and by.
        seen.work.running = 90;
        seen.memory = memory(start, 4, 0.93, MemoryLevel::Over);
        assert_eq!(brake.press(at(start, 4), 75, &seen, bounds()), None);
        seen.work.running = 75;
        seen.work.mean_running = 75.0;
        seen.memory = memory(start, 5, 0.91, MemoryLevel::Over);
        assert_eq!(brake.press(at(start, 5), 75, &seen, bounds()), None, "it falls");
        seen.memory = memory(start, 6, 0.91, MemoryLevel::Over);
        assert_eq!(brake.press(at(start, 6), 75, &seen, bounds()), Some((56, Reason::MemoryOver)));
    }

    #[test]
    fn memory_that_would_be_over_before_the_next_look_is_near_its_end_already() {
        let (start, mut brake) = (Instant::now(), Brake::new());
        let mut seen = observations(100, 100);
        seen.memory = memory(start, 0, 0.5, MemoryLevel::Roomy);
        assert_eq!(brake.press(at(start, 0), 100, &seen, bounds()), None);
        seen.memory = memory(start, 1, 0.8, MemoryLevel::Tight);
        assert_eq!(brake.press(at(start, 1), 100, &seen, bounds()), Some((50, Reason::MemoryCritical)));
    }

    #[test]
    fn near_the_end_half_goes_with_each_sample_that_is_no_better_but_never_below_the_least() {
        let (start, mut brake, mut limit) = (Instant::now(), Brake::new(), 100);
        let mut seen = observations(100, 100);
        seen.current.memory = over();
        let mut cuts = Vec::new();
        for second in 0..9 {
            seen.memory = memory(start, second, 0.96, MemoryLevel::Critical);
            // Twice with each sample: one is answered once.
            for _ in 0..2 {
                if let Some((to, reason)) = brake.press(at(start, second), limit, &seen, bounds()) {
                    assert_eq!(reason, Reason::MemoryCritical);
                    limit = to;
                    cuts.push(to);
                }
            }
        }
        assert_eq!(cuts, [50, 25, 12, 6, 3, 2]);
    }

    #[test]
    fn what_is_cut_is_what_is_in_flight() {
        let mut seen = observations(8, 8);
        seen.current.client = over();
        let cut = Brake::new().press(Instant::now(), 100, &seen, bounds());
        assert_eq!(cut, Some((6, Reason::ClientErrors)));
        assert_eq!(Brake::new().press(Instant::now(), 100, &observations(8, 8), bounds()), None);
    }

    #[test]
    fn growth_waits_and_what_was_too_much_is_remembered_longer_if_it_goes_wrong_again() {
        let (start, mut brake) = (Instant::now(), Brake::new());
        assert!(brake.may_grow(start));
        let mut seen = observations(100, 100);
        seen.current.client = over();
        let mut second = 0;
        let mut waits = Vec::new();
        for _ in 0..5 {
            brake.press(at(start, second), 100, &seen, bounds()).unwrap();
            assert!(!brake.may_grow(at(start, second + 29)) && brake.may_grow(at(start, second + 30)));
            assert_eq!(brake.bearable(at(start, second), 50, 100), 80);
            let wait = (0..).find(|wait| brake.bearable(at(start, second + wait), 50, 100) == 100).unwrap();
            waits.push(wait);
            second += wait + 1;
        }
        assert_eq!(waits, [600, 1_200, 2_400, 4_800, 7_200]);
        brake.press(at(start, second + 10_000), 100, &seen, bounds()).unwrap();
        assert_eq!(brake.bearable(at(start, second + 10_600), 50, 100), 100, "forgiven after a long calm");
    }

    #[test]
    fn what_was_too_much_is_forgotten_when_memory_is_given_back() {
        let (start, mut brake) = (Instant::now(), Brake::new());
        let mut seen = observations(100, 100);
        seen.memory = memory(start, 0, 0.97, MemoryLevel::Critical);
        assert!(brake.press(start, 100, &seen, bounds()).is_some());
        brake.keep(memory(start, 60, 0.35, MemoryLevel::Roomy));
        assert_eq!(brake.bearable(at(start, 60), 50, 100), 80, "100 would use 0.7");
        brake.keep(memory(start, 120, 0.3, MemoryLevel::Roomy));
        assert_eq!(brake.bearable(at(start, 120), 50, 100), 100, "100 would use 0.6");
    }

    #[test]
    fn growth_goes_no_further_than_memory_bears() {
        let start = Instant::now();
        let bearable = |limit, wanted, used, level| {
            let mut brake = Brake::new();
            // The fullest of them counts, but not what is long ago.
            for (second, used) in [(0, 0.89), (40, used), (41, 0.01)] {
                brake.keep(memory(start, second, used, if second == 40 { level } else { MemoryLevel::Roomy }));
            }
            brake.bearable(at(start, 42), limit, wanted)
        };
        assert_eq!(Brake::new().bearable(start, 10, 20), 20, "nothing is known");
        assert_eq!(bearable(10, 20, 0.1, MemoryLevel::Roomy), 20);
        assert_eq!(bearable(10, 20, 0.6, MemoryLevel::Roomy), 13);
        assert_eq!(bearable(10, 20, 0.0, MemoryLevel::Roomy), 20);
        assert_eq!(bearable(10, 20, 0.8, MemoryLevel::Tight), 10);
        assert_eq!(bearable(10, 5, 0.8, MemoryLevel::Tight), 5, "fewer are always borne");
    }
}
