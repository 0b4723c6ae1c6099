//! What became of a session's uses, and the error score that follows from it.
//!
//! Decision: the score is a fold over the uses *in the order in which they began*, not in which their outcomes come in. A good use
//! takes something off and stops at zero, so that the sum alone would depend on the order of commits; the fold does not: it is as if
//! the uses had been one after another. What has no gap before it is folded at once and forgotten; what waits for an
//! earlier use is kept, one letter each. What it costs: at most [`UseLog::OPEN`] letters. A use that stays open for longer counts
//! as one that said nothing, and if its outcome comes after all, it is added at the end of what is folded.

use crate::UseNumber;
use std::collections::VecDeque;

/// What a use said about its session. Of two marks of one use the later in this list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum UseMark {
    /// Nothing.
    #[default]
    Neither,
    /// It did well (Crawlee: `mark_good`).
    Good,
    /// It did badly (Crawlee: `mark_bad`).
    Bad,
}

impl UseMark {
    const ALL: [Self; 3] = [Self::Neither, Self::Good, Self::Bad];

    // These letters are stored.
    const fn letter(self) -> char {
        match self {
            Self::Neither => '-',
            Self::Good => 'g',
            Self::Bad => 'b',
        }
    }

    fn act(self, score: f64, decrement: f64) -> f64 {
        match self {
            Self::Neither => score,
            Self::Good => (score - decrement).max(0.0),
            Self::Bad => score + 1.0,
        }
    }
}

/// The letter of a use of which nothing is known yet.
const UNKNOWN: char = '?';

/// What became of a session's uses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UseLog {
    // Uses up to this number are folded.
    settled: u32,
    // The score of these.
    score: f64,
    // The uses behind them. The first is always unknown, the last never is.
    tail: VecDeque<Option<UseMark>>,
}

impl UseLog {
    /// Uses between the oldest one that is open and the newest one that is not, at most.
    pub const OPEN: usize = 64;

    /// So many uses that came to this score.
    #[must_use]
    pub fn settled(uses: u32, score: f64) -> Self {
        Self { settled: uses, score, tail: VecDeque::new() }
    }

    /// From what was stored; `None` if that is nothing that was ever stored.
    #[must_use]
    pub fn from_stored(settled: u32, score: f64, tail: &str) -> Option<Self> {
        let read = |letter| match letter {
            UNKNOWN => Some(None),
            _ => UseMark::ALL.into_iter().find(|mark| mark.letter() == letter).map(Some),
        };
        Some(Self { settled, score, tail: tail.chars().map(read).collect::<Option<_>>()? })
    }

    /// To store it: the uses that are folded, their score, and the rest.
    #[must_use]
    pub fn to_stored(&self) -> (u32, f64, String) {
        let letter = |mark: &Option<UseMark>| mark.map_or(UNKNOWN, UseMark::letter);
        (self.settled, self.score, self.tail.iter().map(letter).collect())
    }

    /// Takes in what a use came to. Gives the highest score on the way through what is known: a session that reached its maximum is over,
    /// whatever later uses have taken off again, and whichever of them was told first.
    pub fn mark(&mut self, number: UseNumber, mark: UseMark, decrement: f64) -> f64 {
        let Some(at) = number.0.checked_sub(self.settled + 1).map(|at| at as usize) else {
            // It was given up before.
            self.score = mark.act(self.score, decrement);
            return self.peak(decrement);
        };
        if at >= Self::OPEN {
            let behind = u32::try_from(Self::OPEN).unwrap_or(u32::MAX);
            self.settle(number.0.saturating_sub(behind), decrement);
            return self.mark(number, mark, decrement);
        }
        if self.tail.len() <= at {
            self.tail.resize(at + 1, None);
        }
        if let Some(place) = self.tail.get_mut(at) {
            *place = (*place).max(Some(mark));
        }
        let peak = self.peak(decrement);
        self.fold(decrement);
        peak
    }

    // The highest score from the folded ones on.
    fn peak(&self, decrement: f64) -> f64 {
        let step = |(score, peak): (f64, f64), mark: &Option<UseMark>| {
            let score = mark.unwrap_or_default().act(score, decrement);
            (score, peak.max(score))
        };
        self.tail.iter().fold((self.score, self.score), step).1
    }

    /// Uses up to this number that are open are so no more: they said nothing. What a process that died had in hand.
    pub fn settle(&mut self, upto: u32, decrement: f64) {
        while self.settled < upto {
            match self.tail.pop_front() {
                Some(mark) => self.score = mark.unwrap_or_default().act(self.score, decrement),
                // Nothing is known of any of the rest.
                None => {
                    self.settled = upto;
                    return;
                }
            }
            self.settled += 1;
        }
        self.fold(decrement);
    }

    fn fold(&mut self, decrement: f64) {
        while let Some(Some(mark)) = self.tail.front().copied() {
            self.tail.pop_front();
            self.score = mark.act(self.score, decrement);
            self.settled += 1;
        }
    }

    /// The error score: of what is known, in the order in which the uses began.
    #[must_use]
    pub fn score(&self, decrement: f64) -> f64 {
        self.tail.iter().fold(self.score, |score, mark| mark.unwrap_or_default().act(score, decrement))
    }

    /// Uses that have ended, or count as such (Crawlee: `usageCount`).
    #[must_use]
    pub fn used(&self) -> u32 {
        let known = self.tail.iter().filter(|mark| mark.is_some()).count();
        self.settled.saturating_add(u32::try_from(known).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UseMark::{Bad, Good, Neither};

    const DECREMENT: f64 = 0.5;

    fn permutations(of: &[(u32, UseMark)]) -> Vec<Vec<(u32, UseMark)>> {
        if of.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (at, first) in of.iter().enumerate() {
            let mut rest = of.to_vec();
            rest.remove(at);
            all.extend(permutations(&rest).into_iter().map(|rest| [vec![*first], rest].concat()));
        }
        all
    }

    #[test]
    fn marks_give_the_same_score_in_every_order() {
        let marks = [(1, Good), (2, Bad), (3, Good), (4, Neither), (5, Bad), (6, Good)];
        for order in permutations(&marks) {
            let mut log = UseLog::default();
            for (known, (number, mark)) in order.iter().enumerate() {
                assert_eq!(log.used() as usize, known);
                log.mark(UseNumber(*number), *mark, DECREMENT);
                let (settled, score, tail) = log.to_stored();
                assert_eq!(UseLog::from_stored(settled, score, &tail), Some(log.clone()));
            }
            assert_eq!(log, UseLog::settled(6, 1.0), "{order:?}");
        }
    }

    #[test]
    fn the_score_is_that_of_what_is_known_so_far() {
        let mut log = UseLog::default();
        log.mark(UseNumber(2), Bad, DECREMENT);
        assert_eq!((log.score(DECREMENT), log.used()), (1.0, 1));
        log.mark(UseNumber(4), Good, DECREMENT);
        assert_eq!((log.score(DECREMENT), log.used()), (0.5, 2));
        log.mark(UseNumber(3), Good, DECREMENT);
        assert_eq!((log.score(DECREMENT), log.used()), (0.0, 3));
        log.mark(UseNumber(1), Bad, DECREMENT);
        assert_eq!(log, UseLog::settled(4, 1.0));
    }

    #[test]
    fn the_highest_score_on_the_way_is_told_in_every_order() {
        for order in permutations(&[(1, Bad), (2, Bad), (3, Bad), (4, Good)]) {
            let mut log = UseLog::default();
            let peaks = order.iter().map(|(number, mark)| log.mark(UseNumber(*number), *mark, DECREMENT));
            assert_eq!(peaks.fold(0.0, f64::max), 3.0, "{order:?}");
            assert_eq!(log, UseLog::settled(4, 2.5));
        }
    }

    #[test]
    fn what_a_dead_process_had_in_hand_counts_as_used() {
        let mut log = UseLog::default();
        log.mark(UseNumber(2), Bad, DECREMENT);
        log.settle(10, DECREMENT);
        assert_eq!(log, UseLog::settled(10, 1.0));
        log.settle(3, DECREMENT);
        assert_eq!(log.used(), 10);
        // Its outcome comes after all: it is not counted twice.
        log.mark(UseNumber(1), Bad, DECREMENT);
        assert_eq!(log, UseLog::settled(10, 2.0));
    }

    #[test]
    fn a_use_that_stays_open_does_not_let_the_log_grow() {
        let mut log = UseLog::default();
        for number in 2..=500 {
            log.mark(UseNumber(number), Bad, DECREMENT);
            assert!(log.to_stored().2.len() <= UseLog::OPEN);
        }
        assert_eq!(log, UseLog::settled(500, 499.0));
    }

    #[test]
    fn of_two_marks_of_one_use_the_worse_holds() {
        for order in [[Good, Bad], [Bad, Good]] {
            let mut log = UseLog::default();
            for mark in order {
                log.mark(UseNumber(2), mark, DECREMENT);
            }
            assert_eq!((log.score(DECREMENT), log.used()), (1.0, 1));
        }
    }

    #[test]
    fn what_was_never_stored_is_not_read() {
        assert_eq!(UseLog::from_stored(1, 0.0, "?x"), None);
    }
}
