//! Which part of the profile the store has.
//!
//! Decision: the profile is committed with the running time, about once a second, and not with each page: eight more counters in every
//! group would cost more than most of what they measure. What is written to outputs after the crawl's end is noted by [`note_late_steps`].

use crate::report::{CrawlReport, FinishReason};
use nephila_model::{Counter, Effects, Group, Lease, Outcome, Profile, StatsDelta, Step, Subject};
use nephila_store::{Store, StoreError};
use std::sync::Arc;

/// A profile, and how much of it was committed.
#[derive(Debug, Clone)]
pub struct ProfileLog {
    profile: Arc<Profile>,
    // Microseconds per step.
    committed: [i64; Step::ALL.len()],
}

impl ProfileLog {
    /// Nothing of it was committed.
    #[must_use]
    pub const fn new(profile: Arc<Profile>) -> Self {
        Self { profile, committed: [0; Step::ALL.len()] }
    }

    /// What is to be committed next. It counts as committed once [`Self::note`] is told.
    #[must_use]
    pub fn news(&self) -> StatsDelta {
        let mut news = StatsDelta::default();
        for step in Step::ALL {
            let micros = i64::try_from(self.profile.get(step).as_micros()).unwrap_or(i64::MAX);
            news.add(Counter::StepMicros(step), micros - self.committed[step as usize]);
        }
        news
    }

    /// These news are committed.
    pub fn note(&mut self, news: &StatsDelta) {
        for (counter, by) in news.iter() {
            if let Counter::StepMicros(step) = counter {
                self.committed[*step as usize] += by;
            }
        }
    }
}

/// Commits what steps have taken since the crawl ended, and shows it in the report too. A start that did nothing, or whose crawl is
/// another's by now, has nothing to note.
///
/// # Errors
/// What the store says. Nothing but these figures is lost.
pub async fn note_late_steps(store: &dyn Store, lease: Lease, report: &mut CrawlReport) -> Result<(), StoreError> {
    let stats = report.profile.news();
    if stats.is_empty() || report.idle || report.reason == FinishReason::TakenOver {
        return Ok(());
    }
    let outcome = Outcome {
        subject: Subject::Crawl,
        lease,
        verdict: None,
        effects: Effects::default(),
        stats: stats.clone(),
        site_next_allowed: None,
        session: None,
    };
    let results = store.commit(report.record.id, Group { outcomes: vec![outcome], ..Group::default() }).await?;
    if results.iter().all(Result::is_ok) {
        report.profile.note(&stats);
        report.statistics.apply(&stats);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_committed_is_not_committed_again() {
        let profile = Arc::new(Profile::default());
        let mut log = ProfileLog::new(Arc::clone(&profile));
        assert!(log.news().is_empty());
        profile.add(Step::Commit, Duration::from_nanos(2_700));
        let news = log.news();
        assert_eq!(news.iter().collect::<Vec<_>>(), [(&Counter::StepMicros(Step::Commit), 2)]);
        assert_eq!(log.news(), news, "they were not committed yet");
        log.note(&news);
        assert!(log.news().is_empty());
        profile.add(Step::Commit, Duration::from_nanos(300));
        assert_eq!(log.news().iter().map(|(_, by)| by).sum::<i64>(), 1, "parts of microseconds add up");
    }
}
