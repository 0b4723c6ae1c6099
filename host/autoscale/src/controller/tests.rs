//! Rules of the controller, one at a time. How it does in a whole system is in `tests/simulation.rs`.

use super::*;
use crate::snapshotter::MemoryLevel;
use crate::status::Share;

pub(super) fn at(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds)
}

pub(super) fn over() -> Share {
    Share { overloaded: 1.0, tolerated: 0.2 }
}

fn idle() -> SystemStatus {
    let fine = Share { overloaded: 0.0, tolerated: 0.2 };
    SystemStatus { cpu: fine, memory: fine, event_loop: fine, client: fine }
}

/// A calm second with so many in flight and so many completed, and demand for more.
pub(super) fn observations(running: usize, completed: u64) -> Observations {
    let elapsed = Duration::from_secs(1);
    let latency = Duration::from_millis(100 * completed);
    let work = Work { elapsed, running, mean_running: running as f64, held_back: elapsed, completed, latency };
    Observations { work, current: idle(), historical: idle(), memory: None }
}

/// A system whose throughput depends on the concurrency alone, second by second.
pub(super) struct Plain {
    start: Instant,
    second: u64,
    controller: Controller,
}

impl Plain {
    fn new(least: usize, most: usize) -> Self {
        let start = Instant::now();
        let bounds = Bounds::new(least.try_into().unwrap(), most.try_into().unwrap()).unwrap();
        Self { start, second: 0, controller: Controller::new(bounds, start) }
    }

    pub(super) fn starting_with(least: usize, most: usize, first: usize) -> Self {
        let mut plain = Self::new(least, most);
        plain.controller = Controller::starting_with(plain.controller.bounds, first, plain.start);
        plain
    }

    pub(super) fn now(&self) -> Instant {
        at(self.start, self.second)
    }

    pub(super) fn decision(&self) -> (usize, Reason) {
        let Decision { concurrency, reason } = self.controller.decision();
        (concurrency, reason)
    }

    /// Lets a second pass in which this was seen, and says how many may be in flight then.
    pub(super) fn second(&mut self, seen: &Observations) -> usize {
        self.second += 1;
        self.controller.tick(self.now(), seen).concurrency
    }

    /// Lets seconds pass and says what was decided in each.
    fn pass(&mut self, seconds: u64, mut seen: impl FnMut(usize) -> Observations) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for _ in 0..seconds {
            self.second += 1;
            let seen = seen(self.controller.decision().concurrency);
            decisions.push(self.controller.tick(at(self.start, self.second), &seen));
        }
        decisions
    }
}

fn changes(decisions: &[Decision]) -> usize {
    decisions.windows(2).filter(|pair| pair[0].concurrency != pair[1].concurrency).count()
}

#[test]
fn it_starts_at_the_most_and_stays_while_all_are_needed() {
    let mut system = Plain::new(1, 64);
    assert_eq!(system.controller.decision(), Decision { concurrency: 64, reason: Reason::Start });
    let decisions = system.pass(3_600, |limit| observations(limit, 10 * limit as u64));
    let lost: f64 = decisions.iter().map(|decision| 1.0 - decision.concurrency as f64 / 64.0).sum::<f64>() / 3_600.0;
    assert!(lost < 0.005, "{lost}");
    assert!(changes(&decisions) <= 16, "{}", changes(&decisions));
    assert_eq!(decisions.last().unwrap().concurrency, 64);
}

#[test]
fn a_busy_processor_is_an_occasion_to_try_and_no_reason_to_shrink() {
    let mut system = Plain::new(1, 64);
    let decisions = system.pass(600, |limit| {
        let mut seen = observations(limit, 10 * limit as u64);
        seen.current.cpu = over();
        seen.historical.cpu = over();
        seen
    });
    assert!(decisions.iter().take(60).any(|decision| decision.reason == Reason::TryingFewer), "sooner than without");
    assert_eq!(decisions.last().unwrap().concurrency, 64);
    assert!(decisions.iter().all(|decision| decision.concurrency >= 51));
}

#[test]
fn fewer_that_do_as_much_stay() {
    let mut system = Plain::new(1, 64);
    let decisions = system.pass(600, |limit| observations(limit, 100 * limit.min(16) as u64));
    let settled = decisions.last().unwrap().concurrency;
    assert!((14..=20).contains(&settled), "{settled}");
    assert!(changes(&decisions[300..]) <= 6, "{:?}", &decisions[300..]);
}

#[test]
fn with_demand_met_nothing_is_tried() {
    let mut system = Plain::new(1, 64);
    let decisions = system.pass(3_600, |_| {
        let mut seen = observations(3, 3);
        seen.work.held_back = Duration::from_millis(300);
        seen
    });
    assert_eq!(changes(&decisions), 0);
    assert_eq!(decisions.last().unwrap().concurrency, 64);
}

#[test]
fn a_trial_is_given_up_when_demand_ends() {
    let mut system = Plain::new(1, 64);
    let busy = |limit: usize| observations(limit, 10 * limit as u64);
    while system.controller.trial.is_none() {
        system.pass(1, busy);
    }
    assert_eq!(system.controller.decision(), Decision { concurrency: 51, reason: Reason::TryingFewer });
    system.pass(40, |_| {
        let mut seen = observations(1, 1);
        seen.work.held_back = Duration::ZERO;
        seen
    });
    assert_eq!(system.controller.decision(), Decision { concurrency: 64, reason: Reason::TrialUnclear });
}

#[test]
fn overload_never_goes_below_the_least_and_what_was_cut_comes_back() {
    let mut system = Plain::new(2, 64);
    let start = system.start;
    let mut second = 0;
    let mut sick = |limit: usize| {
        second += 1;
        let mut seen = observations(limit, 10 * limit as u64);
        seen.current = SystemStatus { cpu: over(), memory: over(), event_loop: over(), client: over() };
        seen.historical = seen.current;
        seen.memory = Some(MemoryState { at: at(start, second), level: MemoryLevel::Critical, used: 0.99, limit: 0.9 });
        seen
    };
    let decisions = system.pass(300, &mut sick);
    assert!(decisions.iter().all(|decision| decision.concurrency >= 2));
    assert_eq!(*decisions.last().unwrap(), Decision { concurrency: 2, reason: Reason::MemoryCritical });
    assert_eq!(decisions[6].concurrency, 2, "within seconds: {:?}", &decisions[..8]);

    // The same load, but memory is there again.
    let mut second = 300;
    let decisions = system.pass(600, |limit| {
        second += 1;
        let mut seen = observations(limit, 10 * limit as u64);
        seen.memory =
            Some(MemoryState { at: at(start, second), level: MemoryLevel::Roomy, used: limit as f64 / 200.0, limit: 0.9 });
        seen
    });
    assert_eq!(decisions.last().unwrap().concurrency, 64);
}

#[test]
fn a_round_whose_trials_tell_nothing_ends() {
    let mut system = Plain::new(1, 64);
    let mut second = 0_u64;
    let decisions = system.pass(3_600, |limit| {
        second += 1;
        // So scattered that no stride can tell.
        observations(limit, if second.is_multiple_of(7) { 400 } else { second % 5 })
    });
    assert!(changes(&decisions) <= 30, "{}", changes(&decisions));
    assert!(decisions.iter().filter(|decision| decision.concurrency == 64).count() > 2_400);
}
