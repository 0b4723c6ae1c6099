//! Who runs a plugin's code beside whom.
//!
//! Decision: what may have killed the process is run alone (S10), so that another death is its own. A death is the whole
//! process's, with all the crawls in it, so the lock is the process's, too. The cost is that a crawl with suspects holds up its
//! neighbours for as long as each of these is handled, which is what it has cost within one crawl all along.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

static HANDLING: RwLock<()> = RwLock::const_new(());

/// The right to run a plugin's code, for as long as this lives.
#[derive(Debug)]
#[must_use = "it is given back when it is dropped"]
pub struct Handling {
    _guard: Guard,
}

#[derive(Debug)]
#[expect(dead_code, reason = "held, not read")]
enum Guard {
    Beside(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Handling {
    /// Beside others, and not beside a suspect.
    pub async fn beside_others() -> Self {
        Self { _guard: Guard::Beside(HANDLING.read().await) }
    }

    /// While nothing else is handled in this process.
    pub async fn alone() -> Self {
        Self { _guard: Guard::Alone(HANDLING.write().await) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn a_suspect_is_handled_while_no_other_crawl_of_the_process_handles_anything() {
        let suspect = Handling::alone().await;
        let (began, mut has_begun) = oneshot::channel();
        let other = tokio::spawn(async move {
            let _handling = Handling::beside_others().await;
            let _ = began.send(());
            pending::<()>().await;
        });
        // As often as it likes.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(has_begun.try_recv().is_err());
        drop(suspect);
        has_begun.await.expect("it goes on");
        other.abort();
    }
}
