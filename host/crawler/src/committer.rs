//! The one task that commits outcomes, in groups.
//!
//! Decision: a group takes in whatever arrives without waiting for it: it lets the tasks that are ready to run have their turn,
//! [`ROUNDS`] times. So a lone outcome is committed at once, no timer is involved, and a busy crawl pays one transaction for many
//! pages. Groups are bounded by count and bytes, and the bounded channel is the back-pressure. The committer never waits for a
//! re-run: an outcome in conflict goes back to its task with the reason.

use crate::named_storages::{NamedStorages, Notice};
use crate::running_time::RunningTime;
use nephila_model::{CommitLimits, CommitResult, Counter, CrawlId, Group, Outcome, Profile, SessionDelta, Step};
use nephila_store::{Store, StoreError};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Outcomes in one transaction at most.
const GROUP: usize = 256;

/// Bytes of effects and of sessions' changes in one transaction, beyond which no further outcome joins it.
const GROUP_BYTES: usize = 16 << 20;

/// How often a group lets the tasks that are ready to run have their turn before it is committed. With plugins that compute, a
/// turn takes as long as their ticks. (To stop where a turn brought nothing costs 3 % of a page of 4 kB: the next turn brings
/// what the network woke.)
const ROUNDS: usize = 3;

/// Outcomes that may wait for the committer.
const QUEUE: usize = 64;

/// What a commit measures, and what it is measured by.
pub struct Clocks {
    /// How long the crawl has run: committed with each group.
    pub time: Arc<RunningTime>,
    /// Where the time goes.
    pub profile: Arc<Profile>,
}

type Letter = (Outcome, oneshot::Sender<Result<CommitResult, Arc<StoreError>>>);

/// How outcomes are handed to the committer. Cheap to clone; the committer ends when the last one is gone.
#[derive(Clone)]
pub struct Commits {
    letters: mpsc::Sender<Letter>,
    notice: Arc<Notice>,
}

impl Commits {
    /// Starts the committer of a crawl.
    pub fn start(
        store: Arc<dyn Store>,
        crawl: CrawlId,
        limits: CommitLimits,
        clocks: Clocks,
        named: NamedStorages,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (letters, receiver) = mpsc::channel(QUEUE);
        let notice = Arc::new(Notice::new(named));
        (Self { letters, notice }, tokio::spawn(run(store, crawl, limits, clocks, receiver)))
    }

    /// Commits an outcome, and says what the store did with it.
    ///
    /// # Errors
    /// What concerns the store as a whole, shared by all outcomes of the group: none of them was applied.
    pub async fn commit(&self, outcome: Outcome) -> Result<CommitResult, Arc<StoreError>> {
        let (reply, answer) = oneshot::channel();
        let named = self.notice.due(&outcome.effects);
        self.letters.send((outcome, reply)).await.map_err(|_| Arc::new(StoreError::Closed))?;
        let result = answer.await.map_err(|_| Arc::new(StoreError::Closed))??;
        if let (Some(named), Ok(_)) = (named, &result) {
            self.notice.say(&named);
        }
        Ok(result)
    }
}

fn weight(outcome: &Outcome) -> usize {
    outcome.effects.weight() + outcome.session.as_ref().map_or(0, SessionDelta::weight)
}

async fn gather(first: Letter, letters: &mut mpsc::Receiver<Letter>) -> Vec<Letter> {
    let mut bytes = weight(&first.0);
    let mut batch = vec![first];
    for round in 0..=ROUNDS {
        if round > 0 {
            tokio::task::yield_now().await;
        }
        while batch.len() < GROUP && bytes < GROUP_BYTES {
            let Ok(letter) = letters.try_recv() else { break };
            bytes += weight(&letter.0);
            batch.push(letter);
        }
        if batch.len() >= GROUP || bytes >= GROUP_BYTES {
            break;
        }
    }
    batch
}

async fn run(store: Arc<dyn Store>, crawl: CrawlId, limits: CommitLimits, clocks: Clocks, mut letters: mpsc::Receiver<Letter>) {
    while let Some(first) = letters.recv().await {
        let batch = gather(first, &mut letters).await;
        let (mut outcomes, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let millis = clocks.time.news();
        if let Some(first) = outcomes.first_mut() {
            first.stats.add(Counter::RuntimeMillis, i64::try_from(millis).unwrap_or(i64::MAX));
        }
        let began = Instant::now();
        let committed = store.commit(crawl, Group { outcomes, limits }).await;
        clocks.profile.since(Step::Commit, began);
        match committed {
            Ok(results) => {
                if results.first().is_some_and(Result::is_ok) {
                    clocks.time.note(millis);
                }
                for (reply, result) in replies.into_iter().zip(results) {
                    // A task that no longer listens was dropped; what was committed stays.
                    let _ = reply.send(Ok(result));
                }
            }
            Err(error) => {
                tracing::error!(%error, outcomes = replies.len(), "nothing of this group was committed");
                let error = Arc::new(error);
                for reply in replies {
                    let _ = reply.send(Err(Arc::clone(&error)));
                }
            }
        }
    }
}
