//! The guard of whoever has entered.
//!
//! Decision: closing takes time, and a destructor cannot wait. So a close is a call, and an owner that is merely dropped gives
//! its reference back without the last event, and says so in the log.

use crate::access::Shared;
use crate::{EventManager, Leaving};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A reference to a running event manager. Whoever has it closes it.
#[must_use = "an owner that is dropped gives its reference back without the last persistState; keep it, and close it"]
pub struct Owner {
    manager: Arc<dyn EventManager>,
    access: Arc<Shared>,
    reference: Reference,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reference {
    Held,
    GivenBack,
}

impl Owner {
    pub(crate) fn new(manager: Arc<dyn EventManager>, access: Arc<Shared>) -> Self {
        Self { manager, access, reference: Reference::Held }
    }

    /// Gives the reference back. The last owner's close sends the last `persistState`, waits for all listeners (as long as the
    /// configuration says), and stops the manager, which then has no listeners; unless somebody has entered meanwhile. Any
    /// other's close returns at once and changes nothing.
    ///
    /// May be called from within a listener, which then is not waited for, and gets no other event if the manager stops: not even
    /// that last one. Once polled, a close is carried through even if its future is dropped.
    pub async fn close(self) {
        self.leave(Leaving::Own).await;
    }

    pub(crate) async fn leave(mut self, leaving: Leaving) {
        self.reference = Reference::GivenBack;
        self.manager.leave(leaving).await;
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.access.owners.fetch_sub(1, Ordering::SeqCst);
        if self.reference == Reference::Held {
            tracing::warn!(
                "an owner of the event manager was dropped without a close: the last persistState is not sent for it; call close().await instead"
            );
            self.manager.abandon();
        }
    }
}

impl Debug for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owner").finish_non_exhaustive()
    }
}
