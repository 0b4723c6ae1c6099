//! From the costs of runs to the figures that are told: medians, with the least and the most beside them.

use crate::compare::Pair;
use crate::cost::Cost;
use crate::programs::Contestant;
use crate::workload::Workload;
use serde::Serialize;

/// The middle of some numbers, and how far they spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The middle one; of an even number of them the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of some numbers; of none, nothing but zeros.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = numbers.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
            return Self { median: 0.0, min: 0.0, max: 0.0 };
        };
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) };
        Self { median, min: *min, max: *max }
    }
}

/// The figures of one program.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Processor time for a page, user and system, start-up included.
    pub cpu_millis_per_page: Spread,
    /// Of it, in the kernel.
    pub system_millis_per_page: Spread,
    /// Pages in a second of wall time.
    pub pages_per_second: Spread,
    /// The most resident memory.
    pub peak_megabytes: Spread,
}

impl Figures {
    fn of(costs: &[Cost], pages: f64) -> Self {
        let spread = |figure: &dyn Fn(&Cost) -> f64| Spread::of(costs.iter().map(figure));
        Self {
            cpu_millis_per_page: spread(&|cost| cost.cpu_seconds() * 1e3 / pages),
            system_millis_per_page: spread(&|cost| cost.system_seconds * 1e3 / pages),
            pages_per_second: spread(&|cost| pages / cost.wall_seconds),
            peak_megabytes: spread(&|cost| cost.peak_bytes as f64 / 1e6),
        }
    }
}

/// The figures of one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// What was crawled.
    pub workload: Workload,
    /// The yardstick's.
    pub bare_loop: Figures,
    /// Nephila's.
    pub nephila: Figures,
    /// How many times as much processor time Nephila takes: of the ratios of the pairs.
    pub cpu_ratio: Spread,
    /// How many times as many pages in a second it crawls.
    pub speed_ratio: Spread,
    /// How many times as much memory it takes.
    pub memory_ratio: Spread,
    /// Every single run.
    pub pairs: Vec<Pair>,
}

impl Summary {
    /// From what the pairs cost.
    #[must_use]
    pub fn of(workload: Workload, pairs: Vec<Pair>) -> Self {
        let pages = workload.pages() as f64;
        let figures = |contestant| Figures::of(&pairs.iter().map(|pair: &Pair| pair.of(contestant)).collect::<Vec<_>>(), pages);
        let ratio =
            |figure: &dyn Fn(Cost) -> f64| Spread::of(pairs.iter().map(|pair| figure(pair.nephila) / figure(pair.bare_loop)));
        Self {
            workload,
            bare_loop: figures(Contestant::BareLoop),
            nephila: figures(Contestant::Nephila),
            cpu_ratio: ratio(&|cost| cost.cpu_seconds()),
            speed_ratio: ratio(&|cost| 1.0 / cost.wall_seconds),
            memory_ratio: ratio(&|cost| cost.peak_bytes as f64),
            pairs,
        }
    }

    /// The figures of one program.
    #[must_use]
    pub fn figures(&self, contestant: Contestant) -> &Figures {
        match contestant {
            Contestant::BareLoop => &self.bare_loop,
            Contestant::Nephila => &self.nephila,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spread, Summary};
    use crate::{Cost, Pair, Workload};

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(Spread::of([3.0, 1.0, 20.0]), Spread { median: 3.0, min: 1.0, max: 20.0 });
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 9.0]).median, 3.0);
        assert_eq!(Spread::of([]).median, 0.0);
    }

    #[test]
    fn ratios_are_those_of_the_pairs_and_not_of_the_medians() {
        let cost = |cpu: f64| Cost { user_seconds: cpu, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 1_000_000 };
        let pairs = [(1.0, 2.0), (10.0, 30.0), (2.0, 8.0)];
        let pairs = pairs.map(|(bare_loop, nephila)| Pair { bare_loop: cost(bare_loop), nephila: cost(nephila) });

        let summary = Summary::of(Workload::mesh(Some(1_000)), pairs.to_vec());

        assert_eq!(summary.cpu_ratio, Spread { median: 3.0, min: 2.0, max: 4.0 });
        assert_eq!(summary.nephila.cpu_millis_per_page.median, 8.0);
        assert_eq!(summary.bare_loop.pages_per_second.median, 1_000.0);
        assert_eq!(summary.nephila.peak_megabytes.median, 1.0);
    }
}
