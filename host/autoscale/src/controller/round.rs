//! Which trials follow one another.
//!
//! Decision: a round goes one way while that is better, with strides that grow, and back by strides that shrink; only if nothing
//! was found there it turns the other way. It ends, since each trial either moves the concurrency on in one direction or uses a
//! stride up.

use super::trial::{Heading, Outcome, Stride};
use std::time::Instant;

/// Trials that are left to do.
#[derive(Debug)]
pub(super) struct Round {
    pub heading: Heading,
    pub stride: Stride,
    then: Option<Heading>,
    effort: Effort,
    search: Search,
    pub moved: bool,
    pub began: Instant,
}

/// How hard a round tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Nothing gives occasion to it: a stride too short to tell is enough.
    Light,
    /// Something is wrong: longer strides may tell, whatever they cost.
    Thorough,
}

/// What has been learnt of strides in one heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// Nothing.
    Open,
    /// One was too long.
    Narrowing,
    /// One was too short to tell.
    Widening,
}

impl Round {
    pub(super) fn new(began: Instant, heading: Heading, then: Heading, effort: Effort) -> Self {
        Self { heading, stride: Stride::Small, then: Some(then), effort, search: Search::Open, moved: false, began }
    }

    /// The other heading, if that is still to be tried.
    pub(super) fn turn(&mut self) -> bool {
        let Some(heading) = self.then.take() else { return false };
        (self.heading, self.stride, self.search) = (heading, Stride::Small, Search::Open);
        true
    }

    /// After a stride that was taken for good.
    pub(super) fn go_on(&mut self) {
        // What lies on the other side is worse: it was there.
        (self.moved, self.then) = (true, None);
        if self.search == Search::Open {
            self.stride = self.stride.longer().unwrap_or(self.stride);
        }
    }

    /// After one that was not. `false`: there is nothing left to try.
    pub(super) fn step_back(&mut self, outcome: Outcome) -> bool {
        let may_widen = self.effort == Effort::Thorough && !self.moved;
        let again = match (outcome, self.search) {
            (Outcome::Unclear, Search::Open | Search::Widening) if may_widen => self.stride.longer().zip(Some(Search::Widening)),
            (Outcome::Worse, Search::Open | Search::Narrowing) => self.stride.shorter().zip(Some(Search::Narrowing)),
            _ => None,
        };
        match again {
            Some((stride, search)) => {
                (self.stride, self.search) = (stride, search);
                true
            }
            None => self.turn(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(effort: Effort) -> Round {
        Round::new(Instant::now(), Heading::Fewer, Heading::More, effort)
    }

    #[test]
    fn strides_grow_while_they_are_better_and_shrink_after_one_that_was_too_long() {
        let mut round = round(Effort::Light);
        let mut strides = Vec::new();
        for better in [true, true, true, false, true, false] {
            strides.push(round.stride);
            if better {
                round.go_on();
            } else {
                assert!(round.step_back(Outcome::Worse));
            }
        }
        strides.push(round.stride);
        use Stride::{Large, Medium, Small};
        assert_eq!(strides, [Small, Medium, Large, Large, Medium, Medium, Small]);
        assert!(round.moved && !round.step_back(Outcome::Worse), "the other side was worse");
    }

    #[test]
    fn a_round_that_found_nothing_turns_once_and_ends() {
        let mut round = round(Effort::Light);
        assert!(round.step_back(Outcome::Worse));
        assert_eq!((round.heading, round.stride), (Heading::More, Stride::Small));
        assert!(!round.step_back(Outcome::Unclear) && !round.moved);
    }

    #[test]
    fn only_with_an_occasion_a_stride_too_short_to_tell_is_made_longer() {
        let mut light = round(Effort::Light);
        assert!(light.step_back(Outcome::Unclear));
        assert_eq!(light.heading, Heading::More);

        let mut thorough = round(Effort::Thorough);
        let strides: Vec<_> = (0..3).map(|_| (thorough.step_back(Outcome::Unclear), thorough.heading, thorough.stride)).collect();
        use Heading::{Fewer, More};
        assert_eq!(strides, [(true, Fewer, Stride::Medium), (true, Fewer, Stride::Large), (true, More, Stride::Small)]);
        let mut widened = round(Effort::Thorough);
        widened.step_back(Outcome::Unclear);
        widened.step_back(Outcome::Worse);
        assert_eq!(widened.heading, More, "shorter ones could not tell");
    }
}
