//! How many requests may be in flight. Crawlee: the decisions of its `AutoscaledPool`.
//!
//! Decision: it starts at the most, which is what the user asked for (or below, where memory might not bear it: `warm_up`), and
//! shrinks only for a reason. Memory and a storage that refuses are reasons at once (`brake`). For all else it asks the only
//! question that matters: would fewer do as much, or more do more? It tries, one stride at a time, and compares throughput; a
//! busy processor, a late event loop, or a throughput that is no longer what it was (which, with the same number in flight, is a
//! latency that has risen or fallen) are occasions to try, not reasons to shrink. A round of trials that changes nothing doubles
//! the time to the next one, so that it settles. Crawlee adds or takes 5 % each 10 s by load alone, so that it never stands
//! still, and freezes at nothing under load.
//!
//! The cost: with nothing to find, it is a fifth below the best for some seconds, six times in the first hour. Requests that
//! others hold back (politeness, an empty queue) say nothing about concurrency, and then nothing is tried.
//!
//! It is pure: no clock, no task, no lock. It never answers with less than the least concurrency, which is at least 1.

mod brake;
mod measure;
mod round;
#[cfg(test)]
mod tests;
mod trial;
mod warm_up;

pub use self::warm_up::first_concurrency;

use self::brake::Brake;
use self::measure::{LATE, Measure, Rate};
use self::round::{Effort, Round};
use self::trial::{Heading, Outcome, Trial};
use self::warm_up::{Step, WarmUp};
use crate::decision::{Decision, Reason};
use crate::settings::Bounds;
use crate::snapshotter::{MemoryState, Snapshotter};
use crate::status::SystemStatus;
use crate::workload::Work;
use std::time::{Duration, Instant};

/// Before the first round, if nothing gives occasion to an earlier one.
const FIRST_ROUND: Duration = Duration::from_secs(60);

/// Between two rounds, to begin with; doubled by a round that changes nothing.
const REST: Duration = Duration::from_secs(30);

/// Between two rounds at most, while the concurrency is at its most.
const LONGEST_REST: Duration = Duration::from_secs(1_800);

/// And while it is below: what held it down may have gone without a sign.
const LONGEST_REST_BELOW: Duration = Duration::from_secs(300);

/// And at least so many times as long as the round took: where trials take long, they are rare.
const SHARE: u32 = 4;

/// After an occasion, a round begins no sooner after the one before, whatever the rest.
const OCCASION_REST: Duration = Duration::from_secs(120);

/// What is started before a change is on its way for so long; twice as long as a request takes, within these bounds.
const SETTLING: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// The part of the time in which the concurrency must have held requests back.
const HELD_BACK: f64 = 0.7;

/// So long without it, what was measured is of another time.
const STALE: Duration = Duration::from_secs(30);

/// A throughput that differs by this, as a logarithm, is another one.
const ANOTHER: f64 = 0.2;

/// What the controller goes by.
#[derive(Debug, Clone, Copy)]
pub struct Observations {
    /// What the dispatcher did since the last tick.
    pub work: Work,
    /// The present.
    pub current: SystemStatus,
    /// The last half minute.
    pub historical: SystemStatus,
    /// The newest sample of memory.
    pub memory: Option<MemoryState>,
}

impl Observations {
    /// Of a dispatcher and of the system.
    #[must_use]
    pub fn new(work: Work, snapshots: &Snapshotter) -> Self {
        Self { work, current: snapshots.current(), historical: snapshots.historical(), memory: snapshots.memory() }
    }

    fn are_held_back(&self) -> bool {
        self.work.held_back.as_secs_f64() >= self.work.elapsed.as_secs_f64() * HELD_BACK && !self.work.elapsed.is_zero()
    }
}

/// Decides how many requests may be in flight.
#[derive(Debug)]
pub struct Controller {
    bounds: Bounds,
    limit: usize,
    reason: Reason,
    brake: Brake,
    /// As long as it has not come to the most, or to what memory bears.
    warm_up: Option<WarmUp>,
    /// Until then, what was begun at another concurrency is still on its way.
    settling: Option<Instant>,
    measure: Measure,
    /// How fast it was when a round had ended.
    usual: Option<Rate>,
    trial: Option<Trial>,
    round: Option<Round>,
    rest: Duration,
    round_ended: Instant,
    next_round: Instant,
    strained: bool,
    met_for: Duration,
}

impl Controller {
    /// Starts at the most that `bounds` allow.
    #[must_use]
    pub fn new(bounds: Bounds, now: Instant) -> Self {
        Self::starting_with(bounds, bounds.most(), now)
    }

    /// Starts with `first` (see [`first_concurrency`]), or with what is nearest to it within `bounds`, and goes up to the most as
    /// samples of memory show that there is room.
    #[must_use]
    pub fn starting_with(bounds: Bounds, first: usize, now: Instant) -> Self {
        let limit = bounds.clamp(first);
        Self {
            bounds,
            limit,
            reason: Reason::Start,
            brake: Brake::new(),
            warm_up: (limit < bounds.most()).then(WarmUp::default),
            settling: Some(now + SETTLING.0),
            measure: Measure::default(),
            usual: None,
            trial: None,
            round: None,
            rest: REST,
            round_ended: now,
            next_round: now + FIRST_ROUND,
            strained: false,
            met_for: Duration::ZERO,
        }
    }

    /// What holds without looking again.
    #[must_use]
    pub fn decision(&self) -> Decision {
        Decision { concurrency: self.limit, reason: self.reason }
    }

    /// Looks again. To be called about once a second, and whenever there is a new sample of memory.
    pub fn tick(&mut self, now: Instant, seen: &Observations) -> Decision {
        if let Some((limit, reason)) = self.brake.press(now, self.limit, seen, self.bounds) {
            (self.trial, self.round, self.warm_up) = (None, None, None);
            self.rest = REST;
            self.next_round = now + REST;
            self.change(now, limit, reason);
        } else if self.has_settled(now, seen) {
            match &mut self.warm_up {
                Some(warm_up) => {
                    let step = warm_up.step(now, self.limit, seen, &self.brake);
                    self.warm(now, seen, step);
                }
                None => self.look(now, seen),
            }
        }
        self.decision()
    }

    fn warm(&mut self, now: Instant, seen: &Observations, step: Step) {
        self.measure.add(&seen.work);
        if let Step::To(limit) = step {
            self.change(now, self.bounds.clamp(limit), Reason::WarmingUp);
        }
        if step == Step::End || self.limit == self.bounds.most() {
            self.warm_up = None;
            // What was looked for in the meantime was not measured.
            self.next_round = self.next_round.max(now + REST);
        }
    }

    fn change(&mut self, now: Instant, limit: usize, reason: Reason) {
        let latency = self.measure.latency().unwrap_or_default();
        (self.limit, self.reason) = (limit, reason);
        self.settling = Some(now + (latency * 2).clamp(SETTLING.0, SETTLING.1));
        self.usual = None;
    }

    fn has_settled(&mut self, now: Instant, seen: &Observations) -> bool {
        let Some(until) = self.settling else { return true };
        // Those above a lowered limit must have ended; but some may hang.
        if now < until || (seen.work.running > self.limit && now < until + SETTLING.1) {
            return false;
        }
        self.settling = None;
        self.measure.restart();
        false
    }

    fn look(&mut self, now: Instant, seen: &Observations) {
        if !seen.are_held_back() {
            self.met_for += seen.work.elapsed;
            if self.met_for >= STALE {
                self.give_up(now);
            }
            return;
        }
        self.met_for = Duration::ZERO;
        self.measure.add(&seen.work);
        if self.trial.is_some() {
            self.judge(now);
        } else if self.round.is_none() {
            self.look_for_occasions(now, seen);
        } else if self.measure.filled() >= LATE {
            self.next_trial(now);
        }
    }

    // Demand is met: what was measured says nothing any more.
    fn give_up(&mut self, now: Instant) {
        self.met_for = Duration::ZERO;
        self.measure.restart();
        self.usual = None;
        self.round = None;
        if let Some(trial) = self.trial.take() {
            self.reason = Reason::TrialUnclear;
            // More that are enough for all that there is to do may stay.
            if trial.heading == Heading::Fewer {
                self.change(now, trial.from, Reason::TrialUnclear);
            }
            self.next_round = now + self.rest;
        }
    }

    fn look_for_occasions(&mut self, now: Instant, seen: &Observations) {
        let Some(rate) = self.measure.of_late() else { return };
        let strained = seen.historical.is_strained();
        let is_new_strain = strained && !self.strained;
        self.strained = strained;
        let change = rate.since(*self.usual.get_or_insert(rate));
        let occasion = is_new_strain || change.is_over(ANOTHER) || change.is_under(-ANOTHER);
        if occasion {
            let soonest = self.round_ended + self.rest.min(OCCASION_REST);
            if soonest < self.next_round {
                tracing::debug!(strained, change = change.log, "conditions have changed; the concurrency will be looked at");
                self.next_round = soonest;
            }
        }
        if now >= self.next_round {
            let fewer_first = strained || self.limit == self.bounds.most();
            let (heading, then) = if fewer_first { (Heading::Fewer, Heading::More) } else { (Heading::More, Heading::Fewer) };
            let effort = if occasion || strained { Effort::Thorough } else { Effort::Light };
            self.round = Some(Round::new(now, heading, then, effort));
            // What it is compared with is measured just before.
            self.measure.restart();
        }
    }

    /// Begins the trial that is next in the round, once it is known how fast it is without.
    fn next_trial(&mut self, now: Instant) {
        let (Some(before), Some(round)) = (self.measure.rate(), self.round.as_mut()) else { return };
        loop {
            let to = match round.heading {
                Heading::More if !self.brake.may_grow(now) => self.limit,
                heading => {
                    let wanted = round.stride.target(self.limit, heading, self.bounds);
                    self.brake.bearable(now, self.limit, wanted)
                }
            };
            if to != self.limit {
                let heading = round.heading;
                let reason = if heading == Heading::Fewer { Reason::TryingFewer } else { Reason::TryingMore };
                self.trial = Some(Trial::new(self.limit, to, heading, before));
                self.change(now, to, reason);
                return;
            }
            if !round.turn() {
                break;
            }
        }
        self.end_round(now);
    }

    fn judge(&mut self, now: Instant) {
        let Some(trial) = &mut self.trial else { return };
        let outcome = trial.outcome(&self.measure);
        if outcome == Outcome::Open {
            return;
        }
        let (from, heading) = (trial.from, trial.heading);
        tracing::debug!(from, to = self.limit, ?outcome, "a trial has ended");
        self.trial = None;
        let Some(round) = self.round.as_mut() else { return };
        if outcome == Outcome::Better {
            round.go_on();
            self.reason = if heading == Heading::Fewer { Reason::FewerDoAsMuch } else { Reason::MoreDoMore };
            self.next_trial(now);
            return;
        }
        let goes_on = round.step_back(outcome);
        let reason = match (outcome, heading) {
            (Outcome::Unclear, _) => Reason::TrialUnclear,
            (_, Heading::Fewer) => Reason::FewerDoLess,
            (_, Heading::More) => Reason::MoreDoNoMore,
        };
        self.change(now, from, reason);
        if !goes_on {
            self.end_round(now);
        }
    }

    fn end_round(&mut self, now: Instant) {
        let longest = if self.limit == self.bounds.most() { LONGEST_REST } else { LONGEST_REST_BELOW };
        // One that has moved may have more to find.
        if let Some(round) = self.round.take().filter(|round| !round.moved) {
            let share = now.saturating_duration_since(round.began) * SHARE;
            self.rest = self.rest.saturating_mul(2).max(share).min(longest);
        }
        (self.round_ended, self.next_round) = (now, now + self.rest);
        self.usual = None;
    }
}
