//! Trying another concurrency, and what its outcome says.
//!
//! Decision: only a trial tells whether fewer requests in flight would do as much, or more of them more. What counts is the
//! elasticity: by which part of the change in concurrency the throughput changed. Below a system's knee it is 1, far above it 0
//! or less. Fewer stay if throughput fell by surely less than 0.4 of what concurrency did (and so latency fell by more than 0.6
//! of it); more stay if it rose by more than 0.6. Between the two, nothing moves: there it settles. In doubt nothing shrinks, and
//! growth is judged by what it looks like, since the most is what the user asked for.

use super::measure::{ENOUGH, Measure, Rate};
use crate::settings::Bounds;
use std::time::Duration;

/// Fewer must keep throughput up to this elasticity.
const FEWER: f64 = 0.4;

/// More must raise it by this elasticity.
const MORE: f64 = 0.6;

/// What a trial takes at most: this long, or so many times as long as a request takes.
const LONGEST: (Duration, u32) = (Duration::from_secs(60), 10);

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    /// Fewer in flight.
    Fewer,
    /// More in flight.
    More,
}

/// How far at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stride {
    /// A fifth fewer, a quarter more.
    Small,
    /// A third fewer, half more.
    Medium,
    /// Half, double.
    Large,
}

impl Stride {
    /// The next longer one.
    pub(super) fn longer(self) -> Option<Self> {
        match self {
            Self::Small => Some(Self::Medium),
            Self::Medium => Some(Self::Large),
            Self::Large => None,
        }
    }

    /// The next shorter one.
    pub(super) fn shorter(self) -> Option<Self> {
        match self {
            Self::Small => None,
            Self::Medium => Some(Self::Small),
            Self::Large => Some(Self::Medium),
        }
    }

    /// Where it leads from a concurrency; the same if there is nowhere to go.
    pub(super) fn target(self, from: usize, heading: Heading, bounds: Bounds) -> usize {
        let factor = match self {
            Self::Small => 1.25,
            Self::Medium => 1.5,
            Self::Large => 2.0,
        };
        let target = match heading {
            Heading::Fewer => ((from as f64 / factor) as usize).min(from.saturating_sub(1)),
            Heading::More => ((from as f64 * factor) as usize).max(from.saturating_add(1)),
        };
        bounds.clamp(target)
    }
}

/// Another concurrency, on trial.
#[derive(Debug)]
pub(super) struct Trial {
    /// The concurrency before.
    pub from: usize,
    /// The one on trial.
    pub to: usize,
    /// Which way that is.
    pub heading: Heading,
    /// How fast it was before.
    before: Rate,
    /// Batches to wait for before the next look.
    look_at: usize,
}

/// What a trial came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It goes on.
    Open,
    /// The new concurrency is better.
    Better,
    /// It is not.
    Worse,
    /// Its time is over and nobody knows.
    Unclear,
}

impl Trial {
    /// Of another concurrency than `from`, where it is this fast.
    pub(super) fn new(from: usize, to: usize, heading: Heading, before: Rate) -> Self {
        Self { from, to, heading, before, look_at: ENOUGH }
    }

    /// What has been measured at the new concurrency so far says this. It is looked at when there are 5 batches, 10, 20 and so
    /// on: who looks all the time sees what he hopes for.
    pub(super) fn outcome(&mut self, measure: &Measure) -> Outcome {
        let longest = measure.latency().map_or(LONGEST.0, |latency| LONGEST.0.max(latency * LONGEST.1));
        let is_over = measure.spent() >= longest;
        if measure.filled() < self.look_at && !is_over {
            return Outcome::Open;
        }
        self.look_at *= 2;
        let Some(rate) = measure.rate() else { return if is_over { Outcome::Unclear } else { Outcome::Open } };
        let change = rate.since(self.before);
        let step = (self.to as f64 / self.from as f64).ln();
        let elasticity = match self.heading {
            Heading::Fewer => FEWER,
            Heading::More => MORE,
        };
        if change.is_over(elasticity * step) {
            return Outcome::Better;
        }
        if change.is_under(elasticity * step) {
            return Outcome::Worse;
        }
        match self.heading {
            _ if !is_over => Outcome::Open,
            Heading::Fewer => Outcome::Unclear,
            Heading::More if change.log > step / 2.0 => Outcome::Better,
            Heading::More => Outcome::Worse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Work;

    fn measure(rates: &[u64]) -> Measure {
        let mut measure = Measure::default();
        let elapsed = Duration::from_secs(1);
        for completed in rates {
            let latency = Duration::from_millis(100) * u32::try_from(*completed).unwrap();
            let completed = *completed;
            measure.add(&Work { elapsed, running: 1, mean_running: 1.0, held_back: elapsed, completed, latency });
        }
        measure
    }

    fn outcome(heading: Heading, to: usize, rates: &[u64]) -> Outcome {
        let before = Rate { per_second: 1_000.0, doubt: 0.01 };
        Trial::new(100, to, heading, before).outcome(&measure(rates))
    }

    #[test]
    fn fewer_stay_if_they_do_nearly_as_much_and_more_if_they_do_surely_more() {
        assert_eq!(outcome(Heading::Fewer, 80, &[1_000; 5]), Outcome::Better, "flat");
        assert_eq!(outcome(Heading::Fewer, 80, &[1_200; 5]), Outcome::Better, "it had been too many");
        assert_eq!(outcome(Heading::Fewer, 80, &[800; 5]), Outcome::Worse, "all of them were needed");
        assert_eq!(outcome(Heading::Fewer, 80, &[890; 5]), Outcome::Worse, "half of the change is too much");
        assert_eq!(outcome(Heading::More, 125, &[1_250; 5]), Outcome::Better);
        assert_eq!(outcome(Heading::More, 125, &[1_000; 5]), Outcome::Worse);
        assert_eq!(outcome(Heading::More, 125, &[1_110; 5]), Outcome::Worse, "half of the change is too little");
    }

    #[test]
    fn in_doubt_nothing_shrinks_and_growth_is_judged_by_what_it_looks_like() {
        let scattered: Vec<u64> = (0..61).map(|second| if second % 2 == 0 { 400 } else { 1_600 }).collect();
        assert_eq!(outcome(Heading::Fewer, 80, &scattered[..20]), Outcome::Open);
        assert_eq!(outcome(Heading::Fewer, 80, &scattered), Outcome::Unclear);
        assert_eq!(outcome(Heading::More, 125, &scattered), Outcome::Worse);
        let faster: Vec<u64> = scattered.iter().map(|rate| rate * 6 / 5).collect();
        assert_eq!(outcome(Heading::More, 125, &faster), Outcome::Better);
        assert_eq!(outcome(Heading::More, 125, &[0; 61]), Outcome::Unclear, "nothing was completed");
    }

    #[test]
    fn a_stride_moves_by_one_at_least_and_stays_within_bounds() {
        let bounds = Bounds::new(2.try_into().unwrap(), 50.try_into().unwrap()).unwrap();
        let target =
            |from, heading| [Stride::Small, Stride::Medium, Stride::Large].map(|stride| stride.target(from, heading, bounds));
        assert_eq!(target(40, Heading::Fewer), [32, 26, 20]);
        assert_eq!(target(20, Heading::More), [25, 30, 40]);
        assert_eq!(target(3, Heading::Fewer), [2, 2, 2]);
        assert_eq!(target(2, Heading::Fewer), [2, 2, 2]);
        assert_eq!(target(3, Heading::More), [4, 4, 6]);
        assert_eq!(target(45, Heading::More), [50, 50, 50]);
    }
}
