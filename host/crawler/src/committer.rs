//! The one task that commits outcomes, in groups.
//!
//! Decision: when idle it commits at once; what arrives meanwhile forms the next group, bounded by count and bytes. So a lone outcome
//! waits for nothing, a busy crawl pays one transaction for many pages, and the bounded channel is the back-pressure. It never waits for a
//! re-run: an outcome in conflict goes back to its task with the reason.

use nephila_model::{CommitLimits, CommitResult, CrawlId, Group, Outcome};
use nephila_store::{Store, StoreError};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Outcomes in one transaction at most.
const GROUP: usize = 256;

/// Bytes of effects in one transaction, beyond which no further outcome joins it.
const GROUP_BYTES: usize = 16 << 20;

/// Outcomes that may wait for the committer.
const QUEUE: usize = 64;

type Letter = (Outcome, oneshot::Sender<Result<CommitResult, Arc<StoreError>>>);

/// How outcomes are handed to the committer. Cheap to clone; the committer ends when the last one is gone.
#[derive(Clone)]
pub struct Commits(mpsc::Sender<Letter>);

impl Commits {
    /// Starts the committer of a crawl.
    pub fn start(store: Arc<dyn Store>, crawl: CrawlId, limits: CommitLimits) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), tokio::spawn(run(store, crawl, limits, receiver)))
    }

    /// Commits an outcome, and says what the store did with it.
    ///
    /// # Errors
    /// What concerns the store as a whole, shared by all outcomes of the group: none of them was applied.
    pub async fn commit(&self, outcome: Outcome) -> Result<CommitResult, Arc<StoreError>> {
        let (reply, answer) = oneshot::channel();
        self.0.send((outcome, reply)).await.map_err(|_| Arc::new(StoreError::Closed))?;
        answer.await.map_err(|_| Arc::new(StoreError::Closed))?
    }
}

async fn run(store: Arc<dyn Store>, crawl: CrawlId, limits: CommitLimits, mut letters: mpsc::Receiver<Letter>) {
    while let Some(first) = letters.recv().await {
        let mut bytes = first.0.effects.weight();
        let mut batch = vec![first];
        while batch.len() < GROUP && bytes < GROUP_BYTES {
            let Ok(letter) = letters.try_recv() else { break };
            bytes += letter.0.effects.weight();
            batch.push(letter);
        }
        let (outcomes, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match store.commit(crawl, Group { outcomes, limits }).await {
            Ok(results) => {
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
